"""What is said of a node that is not there: all names of a small network, a few of a large one."""

import pytest

import ackclock as ac
from ackclock.errors import ScenarioError


def said(hosts, name):
    """A star has a node beside its hosts."""
    scenario = ac.Scenario.from_data({
        "net": {"kind": "star", "hosts": hosts, "rate": "1 Mbps", "delay": "1 ms"},
        "flows": [{"src": "h0", "dst": name}], "duration": 1,
    })  # fmt: skip
    with pytest.raises(ScenarioError) as error:
        scenario.check()
    (problem,) = error.value.problems
    assert problem.path == "flows[0].dst"
    return problem.message


def test_up_to_twelve_nodes_are_all_named():
    names = ", ".join(["r", *(f"h{i}" for i in range(11))])
    assert said(11, "zz") == f'there is no node "zz"; expected one of: {names}'


def test_of_more_nodes_their_number_is_said():
    assert said(12, "zz").startswith('there is no node "zz"; the network has 13 nodes, among them ')


@pytest.mark.parametrize("hosts", [11, 12, 300])
def test_a_name_that_is_near_is_proposed_in_any_network(hosts):
    assert 'did you mean "h9"' in said(hosts, "h 9")
