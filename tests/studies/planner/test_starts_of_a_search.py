"""Where a search for weights begins, and what it is compared with."""

import numpy as np
import pytest

from ackclock.studies.planner.situation import read_situation
from ackclock.studies.planner.weights import search

# By one weight all takes the slow direct link; by inverse capacity the detour of fast ones.
NET = """source,target,capacity_bps,weight
a,b,1 Gbps,9
a,c,10 Gbps,5
c,b,10 Gbps,5
"""


def test_a_search_begins_at_the_best_of_the_usual_weights(tmp_path):
    (tmp_path / "net.csv").write_text(NET)
    (tmp_path / "d.csv").write_text("source,target,demand_bps\na,b,0.5 Gbps\n")
    situation = read_situation(tmp_path / "net.csv", demands=tmp_path / "d.csv")
    said = []
    found = search(situation, tries=1, seed=1, progress=said.append)
    assert found.baselines == pytest.approx(
        {"as given": 0.5, "hops": 0.5, "inverse capacity": 0.05}
    )
    assert found.utilisation <= 0.05 + 1e-12
    assert found.tries == 1
    # Half of the demand on each way would be 0.25 of the slow link: all on the fast ones is best,
    # but for the twenty-first part.
    assert found.bound == pytest.approx(0.5 / 11)
    assert np.array_equal(situation.with_cost(found.cost).utilisation.max(), found.utilisation)
    assert not said or 0 < max(said) <= 1
