"""The examples of data centres: shares, queues and marks at rest."""

from pathlib import Path

import pytest

from ackclock.scenario.load import load

FOLDER = Path(__file__).resolve().parents[2] / "examples/data-centre"
EXAMPLES = sorted(FOLDER.glob("*.toml"))


def bottleneck(run):
    return next(link for link in run.summary["links"] if link["id"] == "r0->r1")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_uses_its_bottleneck_and_drops_nothing(file):
    run = load(file).run()
    link = bottleneck(run)
    assert link["drops"] == 0
    assert link["utilisation"] > 0.8


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_over_quic_every_control_finishes_a_transfer(file):
    scenario = load(file)
    flow = dict(scenario.to_dict()["flows"][0], transport="quic", size="200 kB", count=1)
    run = scenario.replace(flows=[flow]).run()
    assert run.summary["flows"][0]["completed_after_s"] is not None
