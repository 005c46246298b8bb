"""Examples and papers on two threads: digests and tables are those of one."""

import runpy
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "threads" / "compare_threads.py"


@pytest.mark.slow
def test_examples_and_a_sample_of_each_paper_are_the_same_on_two_threads(capsys):
    main = runpy.run_path(str(TOOL))["main"]
    assert main(["--most-s", "1"]) == 0
    found = capsys.readouterr().out
    equal = int(found.split()[0])
    assert equal >= 3, found
