"""Our queue disciplines and the kernel's under the same arrivals (`linux_link/record_qdiscs.py`).

The recorded kernel has pfifo and tbf; codel, fq_codel and red are not built into it.
"""

from pathlib import Path

import numpy as np
import pytest

import ackclock as ac
from linux_link import files

FOLDER = Path(__file__).parent.parent / "data" / "linux" / "qdiscs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.parquet"))


def run_here(table, ours):
    """Run the recorded arrivals through our shaper; when each packet left, NaN if dropped."""
    at, sizes = table["at_us"].to_numpy() / 1e6, table["size_bytes"].to_numpy()
    link = {
        "a": "a",
        "b": "b",
        "rate": "100 Gbps",
        "delay": "0 s",
        # The packet that waits for tokens is beside our buffer; the kernel's limit counts it.
        "buffer": f"{ours['packets'] - 1} pkt",
        "qdisc": {"kind": "shaper", "rate": ours["rate_bps"], "burst": ours["burst"]},
    }
    packets = [{"at": float(a), "size": int(s)} for a, s in zip(at, sizes, strict=True)]
    scenario = ac.Scenario.from_data(
        {
            "duration": float(at[-1]) + 1,
            "net": {"kind": "graph", "links": [link]},
            "flows": [{"src": "a", "dst": "b", "source": {"kind": "trace", "packets": packets}}],
            "record": {"tables": ["packets"]},
        }
    )
    left = np.full(len(at), np.nan)
    for row in scenario.run().tables["packets"].to_pylist():
        if row["event"] == "departure":
            left[row["seq"]] = row["time_s"]
    return left


def test_what_the_kernel_has_is_recorded():
    assert NAMES == ["pfifo-10", "pfifo-40-burst"]


@pytest.mark.parametrize("name", NAMES)
def test_a_shaped_queue_drops_and_delays_as_the_kernels(name):
    table, about = files.read(FOLDER / f"{name}.parquet")
    left = table["left_us"].to_numpy()
    kernel, here = np.where(left < 0, np.nan, left / 1e6), run_here(table, about["ours"])
    lost_there, lost_here = np.isnan(kernel), np.isnan(here)
    assert lost_there.sum() > 300
    # As many are dropped. Which of two that arrive some microseconds around a departure is chance.
    assert abs(int(lost_there.sum()) - int(lost_here.sum())) <= 0.01 * lost_there.sum()
    assert np.mean(lost_there != lost_here) < 0.05
    both = ~lost_there & ~lost_here
    late = kernel[both] - here[both]
    # The kernel's timer is late, by less than a tenth of a packet's time; where one took another's
    # place, a packet's time is 1 ms.
    assert 0 <= np.median(late) < 1e-4
    assert np.quantile(np.abs(late), 0.9) < 1.1e-3
