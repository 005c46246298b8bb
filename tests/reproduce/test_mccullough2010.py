"""The reproduction of McCullough et al. 2010: its networks, and its exact claims."""

import tomllib

import numpy as np
import pytest

from ackclock.engines.fluid import FluidCase
from ackclock.engines.fluid import document as fluid_document
from ackclock.engines.fluid.patterns import hosts_of
from ackclock.experiments.file_form import load_sweep
from ackclock.reproduce.read.folder import PAPERS

STUDIES = PAPERS / "mccullough2010" / "scenarios"


def document(study):
    return tomllib.loads((STUDIES / f"{study}.toml").read_text())


def nets(study):
    axis = document(study)["over"]["graph"]
    return dict(zip(axis["labels"], axis["values"], strict=True))


@pytest.mark.parametrize("study", ["flows", "skew", "skew_zipf", "skew_lossload"])
def test_the_networks_have_the_printed_counts(study):
    # Section 6.3; HOT has one link less than section 6.1 says.
    printed = {"Erdos-Renyi": (847, 1175), "HOT": (939, 988), "Barabasi": (847, 857)}
    for name, net in nets(study).items():
        traffic = {"kind": "pattern", "between": "uniform-pairs"}
        graph = FluidCase({"net": net, "traffic": traffic}).graph()
        assert (len(graph.nodes), len(graph.src) // 2) == printed[name]
        assert len(hosts_of(graph)[0]) == 768
        assert graph.capacity.min() == 1


def test_every_study_is_a_sweep_in_both_tiers():
    for file in sorted(STUDIES.glob("*.toml")):
        tiers = document(file.stem).get("tiers", {})
        fast = load_sweep(file, tier="fast" if "fast" in tiers else None)
        assert 1 <= len(fast.points) <= len(load_sweep(file).points)


def test_leaves_of_geant_have_the_capacity_of_its_links():
    net = document("geant")["scenario"]["net"]
    graph = fluid_document.graph(net, STUDIES)
    leaf = np.array([">" in name for name in graph.nodes])
    # 36 links of 10 Gbit/s: every direction leaves one node.
    assert graph.capacity[leaf[graph.src]].sum() == pytest.approx(720e9)


def test_places_of_the_maps_are_those_of_the_networks_nodes():
    lines = (PAPERS / "mccullough2010" / "expected" / "places.csv").read_text().splitlines()[2:]
    places = {tuple(line.split(",")[:2]) for line in lines}
    for name, net in nets("flows").items():
        traffic = {"kind": "pattern", "between": "uniform-pairs"}
        graph = FluidCase({"net": net, "traffic": traffic}).graph()
        assert {node for which, node in places if which == name} == set(graph.nodes)
