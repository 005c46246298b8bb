"""A paper in which tests put faults."""

import shutil
from pathlib import Path

import pytest

from ackclock.reproduce.read.folder import PAPERS


@pytest.fixture
def paper(tmp_path):
    """A copy of the example."""
    return Path(shutil.copytree(PAPERS / "example", tmp_path / "mine"))
