"""IDMaps on four hosts on a line, whose distances are known by heart."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from ackclock.errors import AckclockError
from ackclock.studies.idmaps import distances as true_distances
from ackclock.studies.idmaps.accuracy import Accuracy, accuracy
from ackclock.studies.idmaps.distances import Distances
from ackclock.studies.idmaps.feed import green
from ackclock.studies.idmaps.mirrors import nearest_mirror
from ackclock.studies.idmaps.placement import place
from ackclock.studies.idmaps.service import IDMaps, prefixes

PLACES = np.array([0.0, 1.0, 3.0, 7.0])
LINE = Distances(abs(PLACES[:, None] - PLACES), ("a", "b", "c", "d"), (1, 2, 2, 1), "a line")


def test_an_estimate_goes_over_the_nearest_tracers_of_both():
    service = IDMaps(LINE, [1, 3])
    # Host 2 is 2 from tracer 1 and 4 from tracer 3.
    assert [service.nearest(host) for host in range(4)] == [1, 1, 1, 3]
    # From 0 to 2: 1 to the tracer, none between, 2 from it; from 0 to 3: 1 + 6 + 0.
    assert service.rtt_s([0, 0, 2, 3], [2, 3, 3, 3]).tolist() == [3.0, 7.0, 8.0, 0.0]
    # One distance between tracers, and one for each of four prefixes.
    assert service.state == 5
    assert IDMaps(LINE, [1]).state == 4
    with pytest.raises(AckclockError, match=r"^tracers is empty; expected at least one host$"):
        IDMaps(LINE, [])


def test_a_prefix_has_all_within_its_radius_of_its_first_host():
    assert prefixes(LINE).tolist() == [0, 1, 2, 3]
    assert prefixes(LINE, 1.0).tolist() == [0, 0, 2, 3]
    assert prefixes(LINE, 0.999).tolist() == [0, 1, 2, 3]
    # Host 2 is within 3 of host 0; host 3 is within 4 of host 2, but that is no first host.
    assert prefixes(LINE, 4.0).tolist() == [0, 0, 0, 3]


def test_hosts_of_a_prefix_have_the_estimate_of_its_first():
    service = IDMaps(LINE, [3], prefixes(LINE, 1.0))
    assert service.rtt_s([1], [3]).tolist() == [7.0]
    assert service.state == 3


def test_factors_of_pairs_are_estimate_over_truth_in_order():
    # 0-2: 3/3, 0-1: 1/1, 0-3: 7/7, 1-2: 2/2, 2-3: 8/4; 1-3 are two tracers.
    measured = accuracy(LINE, IDMaps(LINE, [1, 3]))
    assert measured.factors.tolist() == [1, 1, 1, 1, 2]
    # Of host 2: 3/3, 2/2, 8/4.
    assert accuracy(LINE, IDMaps(LINE, [1, 3]), host=2).factors.tolist() == [1, 1, 2]
    with pytest.raises(AckclockError) as error:
        accuracy(LINE, IDMaps(LINE, [0, 1, 2, 3]))
    assert str(error.value) == (
        "every pair of hosts is of two tracers; expected hosts that are none"
    )


def test_shares_of_factors_include_their_ends():
    measured = Accuracy(np.array([0.5, 1.0, 2.0, 2.1]))
    assert (measured.within_two, measured.in_paper_range) == (0.75, 0.5)
    # (0.5 + 1 + 2 + 2.1) / 4
    assert measured.load == pytest.approx(1.4)
    # 5.6^2 / (4 (0.25 + 1 + 4 + 4.41))
    assert measured.jain_bound == pytest.approx(31.36 / 38.64)
    # At 1 half of the values are reached, and nothing of the uniform distribution.
    assert measured.from_uniform == pytest.approx(0.5)
    assert Accuracy(np.array([1.25, 1.75])).from_uniform == pytest.approx(0.25)
    assert measured.quantile(0) == 0.5
    assert str(Accuracy(np.array([1.0, 2.0, 3.0]))) == (
        "factor 1.20 / 2.00 / 2.80 (10, 50, 90 %), 67 % within a factor of two, Jain bound 0.857,"
        " load 2.00"
    )


def test_a_client_chooses_the_mirror_of_the_least_estimate():
    # Mirrors 0 and 3; the tracer is 3, so that both clients think 3 the nearer one.
    choice = nearest_mirror(LINE, IDMaps(LINE, [3]), [0, 3])
    assert choice.clients.tolist() == [1, 2]
    assert choice.choices.tolist() == [3, 3]
    assert choice.chosen_s.tolist() == [6.0, 4.0]
    assert choice.nearest_s.tolist() == [1.0, 3.0]
    assert choice.random_s.tolist() == [3.5, 3.5]
    assert (choice.nearest, choice.correct) == (0.0, 0.5)
    assert (choice.excess_s, choice.random_excess_s) == (3.0, 1.5)
    assert str(choice) == (
        "nearest 0 %, within twice 50 %, 3000.0 ms too far (random 1500.0 ms)"
    )  # fmt: skip


def test_twice_as_far_is_correct_and_as_far_is_nearest():
    twice = Distances(np.array([[0.0, 1, 2], [1, 0, 3], [2, 3, 0]]), ("a", "b", "c"), None, "t")
    # From host 0 mirror 1 is at 1 and mirror 2 at 2; the tracer at 2 makes 2 the choice.
    choice = nearest_mirror(twice, IDMaps(twice, [2]), [1, 2])
    assert (choice.nearest, choice.correct) == (0.0, 1.0)
    choice = nearest_mirror(twice, IDMaps(twice, [1]), [1, 2])
    assert (choice.nearest, choice.correct) == (1.0, 1.0)


@pytest.mark.parametrize("mirrors", [[], [0, 1, 2, 3]])
def test_all_or_no_hosts_as_mirrors_are_refused(mirrors):
    with pytest.raises(AckclockError) as error:
        nearest_mirror(LINE, IDMaps(LINE, [0]), mirrors)
    assert str(error.value) == (
        f"{len(mirrors)} of 4 hosts are mirrors; expected at least one, not all"
    )


def test_placements_of_a_line():
    # The median with the least sum of distances: host 1 has 1 + 2 + 6 = 9, host 2 3 + 2 + 4 = 9;
    # the first of both. Then host 3 takes 6 off.
    assert place(LINE, 2, "k-median") == [1, 3]
    assert place(LINE, 4, "k-median") == [1, 3, 2, 0]
    assert place(LINE, 3, "transit") == [1, 2, 0]
    assert sorted(place(LINE, 2, "stub")) == [0, 3]
    assert place(LINE, 3, "stub")[2:] == [1]
    assert place(LINE, 3, "mixed")[:2] == [1, 2]
    assert sorted(place(LINE, 4, "mixed")) == [0, 1, 2, 3]
    for how in ("random", "k-centre", "k-hst"):
        assert sorted(place(LINE, 4, how)) == [0, 1, 2, 3]
        assert place(LINE, 2, how) == place(LINE, 4, how)[:2] or how == "k-hst"


@pytest.mark.parametrize("seed", range(4))
def test_the_second_centre_is_the_farthest_from_the_first(seed):
    first, second = place(LINE, 2, "k-centre", seed)
    assert second == {0: 3, 1: 3, 2: 3 if first == 2 else 0, 3: 0}[first]


def test_what_cannot_be_placed_is_refused():
    for tracers in (0, 5):
        with pytest.raises(AckclockError) as error:
            place(LINE, tracers)
        assert str(error.value) == f"tracers is {tracers}; expected 1 to 4"
    bare = Distances(LINE.rtt_s, LINE.names, None, "a matrix")
    with pytest.raises(AckclockError) as error:
        place(bare, 1, "stub")
    assert str(error.value) == ('placement "stub" needs a graph; a matrix is a matrix of distances')
    with pytest.raises(AckclockError) as error:
        place(LINE, 1, "stubs")
    assert str(error.value) == 'there is no placement "stubs"; did you mean "stub"?'


def test_a_detour_that_is_shorter_is_a_violation():
    assert LINE.violations() == 0.0
    # Of the three pairs of a triangle one has a shorter way over the third host.
    bent = Distances(np.array([[0.0, 9, 1], [9, 0, 1], [1, 1, 0]]), ("a", "b", "c"), None, "bent")
    assert bent.violations() == pytest.approx(1 / 3, abs=0.01)


def test_green_has_the_estimates_of_its_router_with_their_unit():
    assert green(IDMaps(LINE, [1, 3]), 0, [2, 3], capacity=1) == {
        "kind": "green", "rtt": "table", "table": ["3.0 s", "7.0 s"], "capacity": 1,
    }  # fmt: skip


def write_servers(folder):
    (folder / "rtt").mkdir()
    (folder / "rtt" / "wonderproxy_servers.csv").write_text(
        "id,title\n5,Oslo\n7,LaCeiba\n9,Rome\n11,Lima\n"
    )
    (folder / "rtt" / "wonderproxy_rtt.csv").write_text(
        "source,destination,min,avg\n5,9,30,99\n9,5,40,99\n5,7,1,1\n7,9,1,1\n5,11,80,99\n"
    )


def test_of_measured_cities_the_smaller_way_counts_and_gaps_are_cut(tmp_path):
    write_servers(tmp_path)
    cities = true_distances.matrix("wonderproxy", tmp_path)
    # Between Rome and Lima there is no ping; both lack one, and the first of them goes.
    assert cities.names == ("Oslo", "Lima")
    assert cities.rtt_s.tolist() == [[0.0, 0.08], [0.08, 0.0]]
    assert (cities.title, cities.degree, len(cities)) == ("WonderProxy, 2 cities", None, 2)
    with (tmp_path / "rtt" / "wonderproxy_rtt.csv").open("a") as file:
        file.write("11,9,60,99\n")
    cities = true_distances.matrix("wonderproxy", tmp_path)
    assert cities.names == ("Oslo", "Rome", "Lima")
    assert cities.rtt_s[0].tolist() == [0.0, 0.03, 0.08]
    assert cities.rtt_s[1, 2] == 0.06


def test_a_matrix_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(AckclockError) as error:
        true_distances.matrix("planetlab", tmp_path)
    assert str(error.value) == (
        f"{tmp_path}/rtt/planetlab490_slice1_ms.csv is not there; expected the folder of data in"
        " ACKCLOCK_DATA"
    )
    with pytest.raises(AckclockError, match=r'^there is no matrix "planet"; '):
        true_distances.matrix("planet", tmp_path)


def test_an_internetwork_has_ten_nodes_or_more(monkeypatch):
    monkeypatch.setattr(
        true_distances, "_measure_distances", lambda graph, *rest: (len(graph), *rest)
    )
    assert true_distances.internetwork("barabasi-albert", 10, 3) == (10, 3, 0.2, "barabasi-albert")
    with pytest.raises(AckclockError, match=r"^nodes is 9; expected at least 10$"):
        true_distances.internetwork("as", 9)


def test_links_of_an_internetwork_take_time_by_length_and_islands_join_the_mainland():
    """Over the square's diagonal it is the widest round trip, over each link a millisecond more."""
    graph = nx.Graph([(0, 1), (1, 2)])
    nx.set_node_attributes(graph, {0: (0, 0), 1: (1, 1), 2: (1, 0.5), 3: (0.5, 1)}, "pos")
    graph.add_node(3, pos=(0.5, 1))
    drawn = true_distances._measure_distances(graph, 1, 0.2, "waxman")
    half = 0.2 / 2 / 2**0.5
    # 3 is as near to 1 as 2 is: half a side.
    by_hand = {(0, 1): 0.201, (1, 2): half + 1e-3, (1, 3): half + 1e-3, (0, 2): 0.202 + half,
               (2, 3): 2 * half + 2e-3}  # fmt: skip
    for (a, b), rtt_s in by_hand.items():
        assert drawn.rtt_s[a, b] == drawn.rtt_s[b, a] == pytest.approx(rtt_s)
    assert (drawn.degree, drawn.names) == ((1, 3, 1, 1), ("h0", "h1", "h2", "h3"))
