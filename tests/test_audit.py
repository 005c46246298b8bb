"""The audit of late-comers: its ratios, its verdicts, its pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ackclock.audit import latecomer, page
from ackclock.cli import main
from ackclock.errors import ScenarioError
from ackclock.evaluate.grid import asked
from ackclock.subject import Subject

SMALL = latecomer.Tier((3,), (4,), (20,), ("2000 pkt",), 1, 8.0)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(latecomer.TIERS, "fast", SMALL)


def row(found: latecomer.Audit, situation: str) -> latecomer.Row:
    return next(r for r in found.rows if r.situation == situation)


def test_fast_shows_persistent_congestion_and_the_correction_mends_it(small: None):
    fast = latecomer.audit(Subject("fast", {"kind": "fast", "alpha": 50.0}))
    # Equation (15): (n + 1 + a) / (1 + a) with a = (sqrt(17) - 1) / 2 for n = 4.
    joined = row(fast, "joining")
    assert joined.predicted == pytest.approx(2.562, abs=5e-4)
    assert joined.ratio == pytest.approx(joined.predicted, rel=0.1)
    # Equation (11) for three flows: 0.5047 / 0.2174.
    assert row(fast, "sequential").ratio == pytest.approx(0.5047 / 0.2174, rel=0.1)
    assert "suffers from persistent congestion" in fast.answer
    mended = latecomer.audit(Subject("fast-corrected", {"kind": "fast-corrected", "alpha": 50.0}))
    # Flows that start together measure together, which the method does not provide for.
    assert row(mended, "sequential").ratio == pytest.approx(1, abs=0.15)
    assert row(mended, "sequential").verdict == "fair"


def test_every_situation_has_a_flow_that_is_looked_at_and_others_to_compare_with():
    seen = set()
    for situation, flows, document in latecomer.documents("vegas", SMALL):
        seen.add(situation)
        names = [flow["id"] for flow in document["flows"]]
        assert names.count("new") == 1 and any(n.startswith("old") for n in names)
        assert flows >= 1
        late = next(f for f in document["flows"] if f["id"] == "new")
        own = [f for f in document["flows"] if f.get("cc") == "vegas"]
        assert late["start"] == max(f.get("start", 0) for f in own)
    assert seen == set(latecomer.SITUATIONS)


@pytest.mark.parametrize(
    ("ratio", "model", "expected"),
    [
        (1.0, 2.5, "fair"),
        (1.2, None, "fair"),
        (0.5, 2.5, "starved"),
        (2.4, 2.5, "persistent congestion"),
        (1.6, 2.5, "favoured"),
        (float("inf"), 2.5, "favoured"),
    ],
)
def test_verdicts(ratio: float, model: float | None, expected: str):
    found = latecomer.verdict(ratio, model)
    assert expected in found
    assert ("persistent" in found) == ("persistent" in expected)


def test_the_page_stands_alone_and_its_numbers_are_json(tmp_path: Path):
    rows = (
        latecomer.Row("sequential", 2, False, 1.6, 1.5, 1.7, 1.618, "20 ms, 1 bdp", 0.99, "x"),
        latecomer.Row("joining", 1, True, float("inf"), 1.0, float("inf"), 1.618, "-", 0.9, "y"),
    )
    found = latecomer.Audit("mine", "fast", 20.0, 4, rows)
    at = found.save(tmp_path / "audit", "ackclock audit latecomer mine")
    html = (at / "index.html").read_text()
    assert "<svg" in html and "mine" in html
    assert "src=" not in html and "<link" not in html and "<script" not in html
    data = json.loads((at / page.MARKER).read_text())
    assert data["rows"][1]["ratio"] is None and data["rows"][0]["ratio"] == 1.6
    assert "1.62" in page.text(found)


def test_wrong_input_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]):
    assert main(["audit", "latecomer", "fasst"]) == 2
    assert '"fast"' in capsys.readouterr().err
    assert main(["audit", "latecomer", "fast", "--tier", "quick"]) == 2
    assert "'fast', 'full'" in capsys.readouterr().err
    for wrong, named in (
        ('{kind = "fast-corrected", theta = 0.0}', "theta is 0"),
        ('{kind = "fast", alpha = -1.0}', "alpha is -1"),
        ('{kind = "fast", gamma = 2.0}', "gamma is 2"),
    ):
        with pytest.raises(ScenarioError, match=named):
            asked(wrong, Path())


def test_a_buffer_that_is_too_small_is_told_with_the_size_needed():
    import ackclock as ac

    def warnings(buffer: str) -> list[str]:
        net = {"kind": "dumbbell", "pairs": 3, "rate": "100 Mbps", "rtt": "20 ms", "buffer": buffer}
        flow = {"pair": 0, "count": 3, "cc": {"kind": "fast", "alpha": 50.0}}
        made = ac.Scenario.from_data({"net": net, "flows": [flow], "duration": "1 s"})
        return list(made.explain().data["warnings"])

    # Three flows one after another keep 230.0 packets queued, so 231 hold them.
    (told,) = warnings("200 pkt")
    assert "holds 200 packets" in told and "buffer of 230 packets or more" in told
    assert warnings("231 pkt") == []
