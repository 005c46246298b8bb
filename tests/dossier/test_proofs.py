"""The table of proofs in a dossier."""

import json

import pytest

from ackclock.dossier import proofs
from ackclock.dossier.proofs import CLAIMS, prove_control

pytest.importorskip("z3")
pytest.importorskip("cvc5")


@pytest.mark.slow
def test_a_control_has_a_row_for_each_claim(tmp_path):
    found = prove_control("Copa", {"kind": "copa", "delta": 0.25}, 2)
    rows = {row["property"]: row for row in found.to_dict()["proofs"]}
    assert set(rows) == {claim for claim, _ in CLAIMS}
    assert rows["utilisation=0.1"]["verdict"] == "refuted"
    assert rows["utilisation=0.1"]["replayed"]
    assert rows["no-deadlock=4"]["verdict"] == "proved"
    assert "utilisation=0.1: refuted, replayed." in found.answer
    found.save(tmp_path / "out")
    assert len(json.loads((tmp_path / "out/proofs.json").read_text())["proofs"]) == len(CLAIMS)
    assert (tmp_path / "out/utilisation-0.1/scenario.toml").is_file()


def test_another_name_of_a_control_has_its_relation():
    """As for the name that the registry has."""
    reason = prove_control("x", {"kind": "reno", "beta": 0.5}, 2).reason
    assert reason == "Its relation has no beta: nothing was proved."


@pytest.mark.parametrize(
    ("control", "reason"),
    [
        ("vivace", "There is no relation"),
        ({"kind": "copa", "mode_switching": False}, "has no mode_switching"),
        ("my.py:Control", "There is no relation"),
    ],
)
def test_what_has_no_relation_says_so(control, reason):
    found = prove_control("x", control, 2)
    assert found.proofs == ()
    assert reason in found.answer


def test_a_missing_solver_is_said(monkeypatch):
    monkeypatch.setattr(proofs, "find_spec", lambda _: None)
    assert "extra prove" in prove_control("x", "aimd", 2).answer
