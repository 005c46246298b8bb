"""What is wrong with the files of a paper."""

import pytest

from ackclock.reproduce.read.folder import PaperError, read


def wrong(folder):
    """Read a paper that has faults: its problems, without the folder."""
    with pytest.raises(PaperError) as caught:
        read(folder)
    return [str(problem).removeprefix(f"{folder}/") for problem in caught.value.problems]
