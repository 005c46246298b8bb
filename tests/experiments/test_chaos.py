"""The sweep under faults of `make chaos`, in small."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]


def test_a_changed_bit_a_missing_run_and_a_run_kept_twice_are_differences(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import chaos

    def store(values, keys=("a", "b")):
        return {"runs": pa.table({"key": list(keys), "x": values})}

    good = store([0.0, float("nan")])
    assert chaos.differences(good, store([0.0, float("nan")]), 2) == []
    assert chaos.differences(good, store([-0.0, float("nan")]), 2) == ["runs.x differs"]
    assert "1 runs are kept" in chaos.differences(good, store([0.0], "a"), 2)[0]
    twice = chaos.differences(store([1.0, 1.0], "aa"), store([1.0, 1.0], "aa"), 2)
    assert twice == ["2 runs are kept, expected each of 2 once"]
    assert "tables" in chaos.differences(good, {**good, "flows": good["runs"]}, 2)[0]


@pytest.mark.slow
def test_a_sweep_under_faults_keeps_each_run_once_with_the_same_bits():
    command = [sys.executable, ROOT / "tools" / "chaos.py", "--runs", "60", "--rounds", "12"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "drive killed" in done.stdout
    assert "Dask scheduler killed" in done.stdout
