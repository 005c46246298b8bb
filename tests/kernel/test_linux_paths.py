"""Era `linux` against the kernel over paths of each kind (`tools/linux_link/record_paths.py`)."""

from pathlib import Path

import pytest

from linux_link import files, paths

FOLDER = Path(__file__).parent.parent / "data" / "linux" / "held"
#: Of nine quantities on eight paths, how many agree: control, flows.
AGREE = {
    ("reno", 1): 65,
    ("reno", 2): 67,
    ("reno", 10): 69,
    ("cubic", 1): 67,
    ("cubic", 2): 71,
    ("cubic", 10): 66,
    ("bbr", 1): 65,
    ("bbr", 2): 57,
    ("bbr", 10): 44,
}


def count(cc, flows):
    agree = 0
    for cell in paths.cells("held"):
        if (cell.cc, cell.flows) == (cc, flows):
            _, about = files.read(FOLDER / f"{cell.name}.parquet")
            there = [repeat["quantities"] for repeat in about["repeats"]]
            here = [paths.quantities(paths.run_here(cell, r["seed"])) for r in about["repeats"]]
            agree += sum(one.agrees for one in paths.verdicts(cell, there, here))
    return agree


def test_every_case_is_recorded_and_was_in_time():
    for cell in paths.cells("held"):
        path = FOLDER / f"{cell.name}.parquet"
        _, about = files.read(path)
        assert about["case"] == paths.document(cell)
        assert tuple(r["seed"] for r in about["repeats"]) == paths.SETTINGS["held"].seeds
        assert all(r["lateness_p99_s"] <= 5e-4 for r in about["repeats"])
        assert path.stat().st_size < 50_000


@pytest.mark.parametrize("cc", ["reno", "cubic", "bbr"])
def test_one_flow_agrees_with_the_kernel_in_as_much_as_it_did(cc):
    assert count(cc, 1) == AGREE[cc, 1]


@pytest.mark.slow
@pytest.mark.parametrize("flows", [2, 10])
@pytest.mark.parametrize("cc", ["reno", "cubic", "bbr"])
def test_several_flows_agree_with_the_kernel_in_as_much_as_they_did(cc, flows):
    assert count(cc, flows) == AGREE[cc, flows]
