"""Era `linux` against recordings of a real kernel (`tools/record_linux.py`)."""

from pathlib import Path

import pytest

from linux_link import files
from linux_link.compare import compare, probes_of, run

FOLDER = Path(__file__).parent.parent / "data" / "linux"
NAMES = sorted(path.stem for path in FOLDER.glob("*.parquet"))
#: Numbers that are known to be apart; `docs/explanation/linux.md` says why.
APART = {
    ("bbr-1x100M-333pkt", "queue_mean_packets"),
    ("cubic-10x100M-167pkt", "cwnd_min"),
    ("cubic-10x100M-333pkt", "cwnd_max"),
    ("cubic-1x100M-333pkt", "drops"),
    ("cubic-1x100M-667pkt", "drops"),
    ("cubic-2x100M-333pkt", "cwnd_min"),
    ("cubic-2x100M-667pkt", "cwnd_min"),
    ("cubic-2x20M-33pkt", "cwnd_min"),
    ("cubic-2x20M-67pkt", "cwnd_max"),
    ("reno-10x20M-133pkt", "cwnd_max"),
    ("reno-10x20M-33pkt", "cwnd_min"),
    ("reno-10x20M-67pkt", "cwnd_min"),
    ("reno-1x20M-33pkt", "drops"),
    ("reno-2x100M-167pkt", "cwnd_max"),
    ("reno-2x100M-167pkt", "cwnd_mean"),
    ("reno-2x100M-167pkt", "cwnd_min"),
    ("reno-2x100M-167pkt", "drops"),
    ("reno-2x100M-167pkt", "goodput_bps"),
    ("reno-2x100M-333pkt", "cwnd_max"),
    ("reno-2x100M-333pkt", "cwnd_min"),
    ("reno-2x100M-667pkt", "cwnd_max"),
    ("reno-2x100M-667pkt", "cwnd_mean"),
    ("reno-2x100M-667pkt", "cwnd_min"),
    ("reno-2x100M-667pkt", "drops"),
}


def apart(name):
    _, about = files.read(FOLDER / f"{name}.parquet")
    return {(name, v.quantity) for v in compare(about) if not v.agrees}


def expected(name):
    return {pair for pair in APART if pair[0] == name}


def test_all_cases_are_recorded_and_every_file_is_small_and_valid():
    paths = [FOLDER / f"{name}.parquet" for name in NAMES]
    controls = [path.stem.split("-")[:2] for path in paths]
    assert len([c for c in controls if c[0] in {"reno", "cubic"}]) == 36
    assert len([c for c in controls if c[0] == "bbr"]) == 6
    for path in paths:
        _, about = files.read(path)
        assert path.stat().st_size < 50_000
        assert all(repeat["provenance"]["valid"] for repeat in about["repeats"])
        assert all(repeat["provenance"]["lateness_p99_s"] <= 2e-4 for repeat in about["repeats"])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in NAMES if n.split("-")[1].startswith("1x")])
def test_one_flow_does_what_the_kernel_does(name):
    assert apart(name) == expected(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in NAMES if not n.split("-")[1].startswith("1x")])
def test_several_flows_are_inside_the_band_of_the_kernel(name):
    assert apart(name) == expected(name)


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("bbr")])
def test_bbr_probes_for_the_round_trip_when_the_kernel_does(name):
    table, about = files.read(FOLDER / f"{name}.parquet")
    case = about["case"]
    kernel = probes_of(table["t_s"], table["cwnd"])
    samples = run(case, 0).flow_samples
    here = probes_of(samples["time_s"], samples["cwnd_segments"])
    # Ten seconds after the smallest round trip, which the kernel sees up to 1 s later: of noise.
    for first, second in (kernel, here):
        assert 10 <= first < 11
        assert 10 <= second - first < 10.7
