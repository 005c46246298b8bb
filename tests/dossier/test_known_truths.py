"""Profiles find what is known of controls: slices of the profile rfc9743, few seeds."""

from pathlib import Path

import pytest

from ackclock.dossier.bind import BoundControl, bound, read_control
from ackclock.dossier.read import read
from ackclock.dossier.run import DossierTask, evaluate
from ackclock.errors import AckclockError, Problem, ScenarioError
from ackclock.reproduce.run.studies import RunOptions

FILE = f"{Path(__file__).with_name('dossier_controls.py')}"
QUIET = RunOptions(workers=1, store=False, progress=False)


@pytest.fixture(scope="module")
def rows():
    profile = read("rfc9743")
    known = {}

    def find(control, *only, reps=3, others=None):
        key = control, only
        if key not in known:
            beside = {"Reno": "aimd"} if others is None else others
            task = DossierTask(profile, read_control(control, Path()), beside, only=only, reps=reps)
            done = evaluate(task, QUIET)
            known[key] = {row.requirement.id: row for row in done.rows}
        return known[key]

    return find


def numbers(row, check=""):
    return {n.name: n.result for n in row.numbers if n.check == check}


@pytest.mark.parametrize("control", ["aimd", "cubic"])
def test_reno_and_cubic_back_off_and_keep_the_network_useful(rows, control):
    found = rows(control, "5.1.1-backoff", "5.1.1-collapse")
    assert {row.verdict for row in found.values()} == {"met"}


@pytest.mark.slow
def test_bbr1_loses_too_much_below_one_and_a_half_bdp_and_not_above(rows):
    row = rows("bbr", "5.1.3-loss", reps=8)["5.1.3-loss"]
    assert row.verdict == "not met"
    found = numbers(row)
    assert all(found[f"{bdp} BDP"].measured > 4 for bdp in ("0.5", "1.0"))
    assert all(found[f"{bdp} BDP"].measured < 1 for bdp in ("2.0", "4.0", "8.0"))


def test_reno_loses_little_at_every_buffer(rows):
    assert rows("aimd", "5.1.3-loss")["5.1.3-loss"].verdict == "met"


@pytest.mark.slow
def test_bbr1_harms_reno_in_a_shallow_buffer(rows):
    row = rows("bbr", "5.2-share", "5.2-loss", reps=8)["5.2-share"]
    assert row.verdict == "not met"
    shallow = numbers(row)["Reno, 0.5 BDP"]
    # Reno keeps a tenth of what it has beside its own kind, as Hock et al. (2017) found.
    assert shallow.low > 0.3


def test_reno_does_no_more_harm_than_reno(rows):
    assert rows("aimd", "5.2-share", reps=8)["5.2-share"].verdict == "met"


@pytest.mark.parametrize("control", ["vegas", "ledbat"])
def test_delay_based_controls_starve_beside_cubic(rows, control):
    row = rows(control, "5.2-starved", others={"CUBIC": "cubic"})["5.2-starved"]
    deep = numbers(row)["CUBIC, 4.0 BDP"]
    # CUBIC beside CUBIC has 1 of its fair share.
    assert deep.measured < 0.2


@pytest.mark.slow
def test_fair_queueing_protects_cubic_from_bbr1(rows):
    found = numbers(rows("bbr", "7.1-share")["7.1-share"])
    assert min(found["fq-codel"].values) > 0.95
    assert max(found["codel"].values) < 0.5


@pytest.mark.slow
def test_a_control_that_ignores_loss_fails_backoff_and_starves_others(rows):
    found = rows(f"{FILE}:IgnoresLoss", "5.1.1-backoff", "5.2-feedback", "5.2-starve")
    assert {row.verdict for row in found.values()} == {"not met"}


def test_a_control_that_halves_on_every_ack_uses_too_little(rows):
    row = rows(f"{FILE}:Halves", "5.1.2-queue")["5.1.2-queue"]
    assert row.verdict == "not met"
    assert {part.outcome for part in numbers(row, "queue").values()} == {"met"}
    assert {part.outcome for part in numbers(row, "use").values()} == {"missed"}


def test_prague_has_ecn_on_its_flows_and_meets_what_a_tunnel_requires(rows):
    found = rows("prague", "6.2-tunnel", "7.1-ecn", reps=2)
    assert {row.verdict for row in found.values()} == {"met"}


def test_a_control_that_needs_ecn_is_run_with_it_and_never_without():
    profile = read("rfc9743")
    for name, has_ecn in (("dctcp", True), ("cubic", False)):
        data = bound(profile, read_control(name, Path()), profile.against)
        flow = data.studies["wired"].document["scenario"]["flows"][0]
        assert flow.get("tcp", {}).get("accecn", False) == has_ecn
        paths = set(data.studies["marks"].document["over"]["path"]["values"])
        assert paths == {"marks", "tunnel"} | (set() if has_ecn else {"drops"})
        victim = data.studies["beside"].document["scenario"]["flows"][0]
        assert "tcp" not in victim


def test_flows_of_a_released_library_find_again_what_is_lost_twice():
    # Whether the build has the library or not: only the studies are made.
    profile = read("rfc9743")
    data = bound(profile, BoundControl("s2n/bbr2", "s2n/bbr2"), profile.against)
    victim, other = data.studies["beside"].document["scenario"]["flows"]
    assert (other["cc"], other["recovery"]) == ("s2n/bbr2", "rack")
    assert "recovery" not in victim
    for control in ("cubic", {"class": "/a/b.py:Mine"}, "/a/b.py:Mine"):
        assert BoundControl("it", control).flow == {}


def test_a_whole_connection_is_refused_in_a_sentence(monkeypatch):
    def refuse(*_):
        message = 'it is a whole connection of QUIC; expected transport = "quic" beside it'
        raise ScenarioError([Problem("", message, "quinn/cubic")])

    monkeypatch.setattr("ackclock.dossier.bind.read_subject", refuse)
    with pytest.raises(AckclockError, match="studies of profiles are over TCP; expected a control"):
        read_control("quinn/cubic", Path())


def test_dctcp_takes_more_than_its_share_beside_cubic_in_one_queue(rows):
    # RFC 8257, section 5: it must not be used beside controls that answer marks and drops alike.
    found = numbers(rows("dctcp", "7.1-share")["7.1-share"])
    assert found["dualpi2"].high < 0.25
    assert found["fq-codel"].low > 0.9


def test_a_control_that_grows_without_bound_is_held_by_the_receivers_window(rows):
    # Hybla grows by up to 2^16 an ACK; beside a receiver that hides losses it took gigabytes.
    profile = read("rfc9743")
    for name in ("delays", "satellite", "misbehaving"):
        flow = profile.data.studies[name].document["scenario"]["flows"][-1]
        assert flow["tcp"]["receiver_window"] == 20_000
    found = rows("hybla", "7.6-misbehaving", reps=2)["7.6-misbehaving"]
    assert found.verdict in ("met", "not met", "undecided")
    assert {n.name for n in found.numbers} == {
        "hides-loss",
        "hides-marks",
        "optimistic",
        "withholds",
    }


def test_vivace_does_not_speed_up_where_half_of_all_packets_are_lost(rows):
    # Its start doubled at intervals from which nothing came back, up to 2^32 segments of window.
    # Its least rate is four packets a round trip, whatever is lost.
    row = rows("vivace", "5.1.1-backoff", reps=2)["5.1.1-backoff"]
    (half,) = numbers(row, "half lost").values()
    assert all(packets <= 4 for packets in half.values)
