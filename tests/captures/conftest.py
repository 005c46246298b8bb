"""What tests of captures share: captures of runs."""

from __future__ import annotations

import pytest

import ackclock as ac


@pytest.fixture(scope="session")
def run_of_cubic(tmp_path_factory):
    """A run of CUBIC at 20 Mbit/s and 40 ms with timestamps off, and the capture at its sender."""
    net = ac.topology.Dumbbell(pairs=1, rate="20 Mbps", rtt="40 ms", buffer="1 bdp")
    scenario = ac.Scenario(net, [ac.Flow(id="f", pair=0, cc="cubic")], duration="5 s")
    run = scenario.run(record=["packets", "rtts", "windows", "drops", "flow_samples"])
    path = tmp_path_factory.mktemp("captures") / "cubic.pcapng"
    run.to_pcapng(path, link="s0->r0")
    return run, path
