"""IDMaps' virtual links, what tracers exchange, and the nearest mirror."""

import itertools
import os
from pathlib import Path

import numpy as np
import pytest

from ackclock.errors import AckclockError
from ackclock.studies import idmaps
from ackclock.studies.idmaps import Distances, VirtualLinks, nearest_mirror, spanner

SHARED = Path(os.environ.get("ACKCLOCK_DATA", "") or Path(__file__).parents[3] / "shared")
DATA = SHARED / "data" if (SHARED / "data").is_dir() else SHARED


def line(*at):
    """Hosts on a line, by their places [ms]."""
    place = np.array(at, dtype=float) / 1e3
    rtt = np.abs(place[:, None] - place[None, :])
    return Distances(rtt, tuple(map(str, at)), None, "a line")


def ways(distance, links):
    """Floyd and Warshall, by hand."""
    count = len(distance)
    way = np.full((count, count), np.inf)
    np.fill_diagonal(way, 0)
    for i, j in links:
        way[i, j] = way[j, i] = distance[i, j]
    for k, i, j in itertools.product(range(count), repeat=3):
        way[i, j] = min(way[i, j], way[i, k] + way[k, j])
    return way


@pytest.mark.parametrize("stretch", [1.0, 1.5, 2.0, 5.0, np.inf])
def test_no_way_over_a_spanner_is_longer_than_its_stretch(stretch):
    internet = idmaps.internetwork("waxman", nodes=40, seed=3)
    links = spanner(internet.rtt_s, stretch)
    way = ways(internet.rtt_s, links)
    assert np.isfinite(way).all()
    if np.isfinite(stretch):
        assert (way <= stretch * internet.rtt_s * (1 + 1e-9)).all()
    else:
        assert len(links) == 39  # a spanning tree
    assert len(links) <= len(spanner(internet.rtt_s, 1.0))


def test_tracers_on_a_line_need_links_to_neighbours_only():
    hosts = line(0, 10, 30, 60)
    service = VirtualLinks(hosts, [0, 1, 2, 3])
    assert service.links.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert service.rtt_s([0], [3]) == pytest.approx([0.06])
    assert service.rounds == 3
    # Four lists over three links: each crosses each once. 4 x (2 x 3 - 3).
    assert service.messages == 12
    assert service.state == 3 + 4


def test_a_tracer_learns_the_map_hop_by_hop():
    hosts = line(0, 10, 30, 60)
    views = [VirtualLinks(hosts, [0, 1, 2, 3], rounds=r).rtt_s([0, 0, 0], [1, 2, 3])
             for r in range(3)]  # fmt: skip
    assert views[0] == pytest.approx([0.01, np.inf, np.inf])
    assert views[1] == pytest.approx([0.01, 0.03, np.inf])
    assert views[2] == pytest.approx([0.01, 0.03, 0.06])


def test_with_shortest_paths_a_stretch_of_one_changes_no_estimate():
    internet = idmaps.internetwork("as", nodes=120, seed=2)
    tracers = idmaps.place(internet, 12, "k-median")
    a, b = np.triu_indices(120, 1)
    full, thin = idmaps.IDMaps(internet, tracers), VirtualLinks(internet, tracers)
    assert thin.rtt_s(a, b) == pytest.approx(full.rtt_s(a, b))
    assert thin.state < full.state
    # Thinner maps are longer, and by no more than the stretch.
    wide = VirtualLinks(internet, tracers, stretch=3).rtt_s(a, b)
    assert (wide >= full.rtt_s(a, b) - 1e-12).all()
    assert (wide <= 3 * full.rtt_s(a, b) + 1e-12).all()


def test_the_nearest_mirror_by_hand():
    # Tracers at 0 and 100. The host at 45 is nearer to the mirror at 60, but its tracer is at 0.
    hosts = line(0, 100, 45, 60, 20)
    service = idmaps.IDMaps(hosts, [0, 1])
    found = nearest_mirror(hosts, service, [3, 4])
    assert found.clients.tolist() == [0, 1, 2]
    assert found.choices.tolist() == [4, 3, 4]
    # 25 ms in place of 15 is within twice the nearest.
    assert found.chosen_s == pytest.approx([0.020, 0.040, 0.025])
    assert (found.nearest, found.correct) == (pytest.approx(2 / 3), 1.0)
    assert found.excess_s == pytest.approx(0.010 / 3)
    # Means over both mirrors: 40, 60 and 20 ms; the nearest: 20, 40, 15.
    assert found.random_excess_s == pytest.approx((0.020 + 0.020 + 0.005) / 3)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"stretch": 0.5}, "stretch is 0.5; expected at least 1"),
        ({"viewer": 2}, "viewer is 2; expected 0 to 1"),
        ({"rounds": -1}, "rounds is -1; expected at least 0"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    with pytest.raises(AckclockError, match=words):
        VirtualLinks(line(0, 1), [0, 1], **settings)
    with pytest.raises(AckclockError, match="2 of 2 hosts are mirrors"):
        nearest_mirror(line(0, 1), idmaps.IDMaps(line(0, 1), [0]), [0, 1])


@pytest.mark.skipif(not (DATA / "rtt").is_dir(), reason="no measured matrices: ACKCLOCK_DATA")
@pytest.mark.parametrize("name", ("planetlab", "wonderproxy"))
def test_over_measured_distances(name):
    distances = idmaps.matrix(name, DATA)
    tracers = idmaps.place(distances, 20, "k-median")
    full, thin = (VirtualLinks(distances, tracers, stretch=t) for t in (1.0, 2.0))
    # Twice as long ways at most need less than half of the links, and cost little accuracy.
    assert len(thin.links) < len(full.links) / 2
    good = idmaps.accuracy(distances, full).within_two
    assert idmaps.accuracy(distances, thin).within_two > good - 0.2
    mirrors = idmaps.place(distances, 10, "random", seed=5)
    choice = nearest_mirror(distances, full, mirrors)
    assert choice.correct > 0.6
    assert choice.excess_s < 0.5 * choice.random_excess_s
