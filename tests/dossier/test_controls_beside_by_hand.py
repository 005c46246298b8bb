"""Controls that a dossier names: what their flows need, and which are refused."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.dossier import bind
from ackclock.dossier.bind import ECN, BoundControl, read_control, read_others
from ackclock.errors import AckclockError, Problem, ScenarioError

PROFILE = SimpleNamespace(against={"CUBIC": "cubic"})


def test_the_others_are_those_of_the_profile_or_the_named_ones_by_label():
    others = read_others([], PROFILE, Path())
    assert others == {"CUBIC": "cubic"}
    assert others is not PROFILE.against
    named = read_others(["vegas", '{kind = "aimd", b = 0.7}'], PROFILE, Path())
    assert len(named) == 2
    assert named["vegas"] == "vegas"
    assert {"kind": "aimd", "b": 0.7} in named.values()


def test_two_of_one_label_and_those_that_need_ecn_are_refused():
    with pytest.raises(AckclockError) as caught:
        read_others(["vegas", "cubic", "vegas"], PROFILE, Path())
    assert str(caught.value) == "--against names two controls vegas; expected one of each"
    with pytest.raises(AckclockError) as caught:
        read_others(["dctcp"], PROFILE, Path())
    assert str(caught.value) == (
        "--against names dctcp, which cannot run without ECN; expected a control that can"
    )


def test_a_control_has_ecn_only_if_it_cannot_do_without():
    assert read_control("vegas", Path()).tcp == {}
    assert read_control("dctcp", Path()).tcp == ECN
    with pytest.raises(ScenarioError, match="cubik"):
        read_control("cubik", Path())


def test_a_whole_connection_is_refused_with_what_to_name(monkeypatch):
    problem = Problem("flows[0].cc", 'expected transport = "quic"')

    def refuse(*_):
        raise ScenarioError([problem])

    monkeypatch.setattr(bind, "read_subject", refuse)
    with pytest.raises(AckclockError) as caught:
        read_control("quinn", Path())
    assert str(caught.value) == (
        "quinn is a whole connection over QUIC; studies of profiles are over TCP; expected a"
        " control, as s2n/cubic"
    )
    # Of several problems, not all of ECN, none is tried again.
    problems = [Problem("flows[0].tcp.accecn", "x"), Problem("flows[0].cc", "y")]
    monkeypatch.setattr(
        bind, "read_subject", lambda *_: (_ for _ in ()).throw(ScenarioError(problems))
    )
    with pytest.raises(ScenarioError) as wrong:
        read_control("mine", Path())
    assert wrong.value.problems == tuple(problems)


@pytest.mark.parametrize(
    ("value", "flow"),
    [
        ("s2n/cubic", {"recovery": "rack"}), ("cubic", {}), ("folder/mine.py:Mine", {}),
        ({"kind": "aimd"}, {}),
    ],
)  # fmt: skip
def test_flows_of_a_library_find_what_is_lost_again(value, flow):
    assert BoundControl("x", value).flow == flow
    assert BoundControl("x", value, {"ecn": True}).settings == {**flow, "tcp": {"ecn": True}}
