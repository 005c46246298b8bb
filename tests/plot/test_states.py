"""The figure of senders' states shows each interval of each state, and no other."""

from itertools import pairwise

import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.plot.states import intervals
from conftest import SMALL


@pytest.fixture(scope="module")
def run():
    case = ac.load(SMALL).replace(**{"duration": "14 s", "flows[0].cc": "bbr"})
    return case.run(record=["states", "windows"])


def test_the_intervals_of_a_flow_follow_each_other_without_a_gap(run):
    for flow in run.summary["flows"]:
        found = intervals(run, str(flow["id"]))
        assert found[-1][1] == run.summary["duration_s"]
        for (_, end, state), (start, _, following) in pairwise(found):
            assert start == end
            assert state != following


def test_bbr_goes_through_its_phases_in_their_order(run):
    states = [state for *_, state in intervals(run, str(run.summary["flows"][0]["id"]))]
    wanted = ["startup", "drain", "probe-bw"]
    begin = states.index("startup")
    assert states[begin : begin + 3] == wanted
    assert "probe-rtt" in states


def test_the_bands_cover_the_time_of_their_state(run):
    name = str(run.summary["flows"][0]["id"])
    figure = ac.plot.states(run, flows=[name])
    (axes,) = figure.axes
    drawn = {
        bands.get_label(): sum(path.get_extents().width for path in bands.get_paths())
        for bands in axes.collections
    }
    spans = {}
    for start, end, state in intervals(run, name):
        spans[state] = spans.get(state, 0.0) + end - start
    assert drawn == pytest.approx(spans)
    assert len(axes.get_lines()[0].get_xdata()) == sum(
        str(flow) == name for flow in run.table("windows")["flow"].to_pylist()
    )


def test_the_command_draws_it(run, tmp_path, capsys):
    run.save(tmp_path / "bundle")
    out = tmp_path / "states.svg"
    assert main(["plot", str(tmp_path / "bundle"), "--kind", "states", "--out", str(out)]) == 0
    assert "probe-bw" in out.read_text()
    assert f"wrote {out}" in capsys.readouterr().out
