"""The audit of late-comers: its ratios, its verdicts, its pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ackclock.cli.main import main
from ackclock.errors import ScenarioError
from ackclock.studies.algorithm_argument import Subject
from ackclock.studies.evaluate_control.grid import read_control
from ackclock.studies.late_comer import audit, rows, situations

SMALL = situations.LateComerTier((3,), (4,), (20,), ("2000 pkt",), 1, 8.0)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(situations.TIERS, "fast", SMALL)


def row(found: audit.Audit, situation: str) -> rows.LateComerRow:
    return next(r for r in found.rows if r.situation == situation)


def test_fast_shows_persistent_congestion_and_the_correction_mends_it(small: None):
    fast = audit.audit(Subject("fast", {"kind": "fast", "alpha": 50.0}))
    # Equation (15): (n + 1 + a) / (1 + a) with a = (sqrt(17) - 1) / 2 for n = 4.
    joined = row(fast, "joining")
    assert joined.predicted == pytest.approx(2.562, abs=5e-4)
    assert joined.ratio == pytest.approx(joined.predicted, rel=0.1)
    # Equation (11) for three flows: 0.5047 / 0.2174.
    assert row(fast, "sequential").ratio == pytest.approx(0.5047 / 0.2174, rel=0.1)
    assert "suffers from persistent congestion" in fast.answer
    mended = audit.audit(Subject("fast-corrected", {"kind": "fast-corrected", "alpha": 50.0}))
    # Flows that start together measure together, which the method does not provide for.
    assert row(mended, "sequential").ratio == pytest.approx(1, abs=0.15)
    assert row(mended, "sequential").verdict == "fair"
    # Shares: equation (11) for three flows, oldest first, and a fifth each beside four.
    assert row(fast, "sequential").shares == pytest.approx([0.2174, 0.2778, 0.5047], rel=0.05)
    assert joined.share == pytest.approx(0.3904, rel=0.05)
    assert (joined.share_fair, joined.share_predicted) == pytest.approx((0.2, 0.3904), abs=5e-4)
    assert all(r.at_rest for r in fast.rows if r.situation in ("sequential", "joining"))


def test_every_situation_has_a_flow_that_is_looked_at_and_others_to_compare_with():
    seen = set()
    for situation, flows, document in situations.documents("vegas", SMALL):
        seen.add(situation)
        names = [flow["id"] for flow in document["flows"]]
        assert names.count("new") == 1 and any(n.startswith("old") for n in names)
        assert flows >= 1
        late = next(f for f in document["flows"] if f["id"] == "new")
        own = [f for f in document["flows"] if f.get("cc") == "vegas"]
        assert late["start"] == max(f.get("start", 0) for f in own)
    assert seen == set(situations.SITUATIONS)


def test_a_control_that_still_moves_is_reported_to_need_more_time(monkeypatch: pytest.MonkeyPatch):
    # LEDBAT grows by a segment per round trip: over 80 ms a queue of 100 ms takes it a minute.
    short = situations.LateComerTier((2,), (1,), (80,), ("4000 pkt",), 1, 15.0)
    monkeypatch.setitem(situations.TIERS, "fast", short)
    found = audit.audit(Subject("ledbat", "ledbat"))
    sequential = row(found, "sequential")
    assert not sequential.at_rest and sequential.verdict.startswith("not at rest")
    assert "had not come to rest" in found.answer and "--gap 60" in found.answer
    # What is not at rest is no ground for a judgement.
    if not any(r.at_rest for r in found.rows if r.situation in ("sequential", "joining")):
        assert "No judgement of ledbat" in found.answer


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
    found = rows.verdict(ratio, model)
    assert expected in found
    assert ("persistent" in found) == ("persistent" in expected)


def test_the_page_is_self_contained_and_its_numbers_are_json(tmp_path: Path):
    def made(situation: str, n: int, ratio: float, **other: Any) -> rows.LateComerRow:
        model = rows.predict_ratio(situation, n)
        assert model is not None
        shares = (1 / (1 + ratio), 1 - 1 / (1 + ratio)) if n == 2 else (0.0, 1.0)
        known = {
            "situation": situation, "flows": n, "overflows": False, "ratio": ratio, "low": 1.0,
            "high": ratio, "predicted": model.ratio, "share": shares[-1],
            "share_predicted": model.shares[-1], "share_fair": 0.5, "shares": shares,
            "at_rest": True, "worst": "20 ms, 1 bdp", "utilisation": 0.99, "verdict": "x",
        }  # fmt: skip
        return rows.LateComerRow(**{**known, **other})

    measured = (made("sequential", 2, 1.6), made("joining", 1, float("inf"), overflows=True))
    found = audit.Audit("mine", "fast", 20.0, 4, measured)
    at = found.save(tmp_path / "audit", command="ackclock audit latecomer mine")
    html = (at / "index.html").read_text()
    assert "<svg" in html and "mine" in html
    assert "src=" not in html and "<link" not in html and "<script" not in html
    data = json.loads((at / found.MARKER).read_text())
    assert data["rows"][1]["ratio"] is None and data["rows"][0]["ratio"] == 1.6
    assert "1.62" in str(found)


def test_wrong_input_is_reported_in_a_sentence(capsys: pytest.CaptureFixture[str]):
    assert main(["audit", "latecomer", "fasst"]) == 2
    assert '"fast"' in capsys.readouterr().err
    assert main(["audit", "latecomer", "fast", "--tier", "quick"]) == 2
    assert "'fast', 'full'" in capsys.readouterr().err
    for wrong, named in (
        ('{kind = "fast-corrected", theta = 0.0}', "theta: 0 is out of range"),
        ('{kind = "fast", alpha = -1.0}', r"alpha: -1\.0 is out of range; expected more than 0"),
        ('{kind = "fast", gamma = 2.0}', r"gamma: 2\.0 is out of range"),
    ):
        with pytest.raises(ScenarioError, match=named):
            read_control(wrong, Path())


def test_a_buffer_that_is_too_small_is_reported_with_the_size_needed():
    import ackclock as ac

    def warnings(buffer: str) -> list[str]:
        net = {"kind": "dumbbell", "pairs": 3, "rate": "100 Mbps", "rtt": "20 ms", "buffer": buffer}
        flow = {"pair": 0, "count": 3, "cc": {"kind": "fast", "alpha": 50.0}}
        made = ac.Scenario.from_data({"net": net, "flows": [flow], "duration": "1 s"})
        return list(made.explain().data["warnings"])

    # Three flows one after another keep 230.0 packets queued, so 231 hold them.
    (reported,) = warnings("200 pkt")
    assert "holds 200 packets" in reported and "buffer of 230 packets or more" in reported
    assert warnings("231 pkt") == []


def test_check_warns_of_a_buffer_that_is_too_small(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "small.toml"
    text = """duration = "1 s"
[net]
kind = "dumbbell"
pairs = 2
rate = "100 Mbps"
rtt = "20 ms"
buffer = "BUFFER"
[[flows]]
pair = 0
count = 2
cc = { kind = "CONTROL" }
"""

    def warnings_of(control: str, buffer: str) -> str:
        file.write_text(text.replace("CONTROL", control).replace("BUFFER", buffer))
        assert main(["check", str(file)]) == 0
        return capsys.readouterr().out

    # Two flows of alpha = 100 keep 100 (2 + 0.618) = 261.8 packets queued.
    assert "expected a buffer of 262 packets or more" in warnings_of("fast", "200 pkt")
    assert "warning" not in warnings_of("fast", "262 pkt")
    # Vegas keeps up to 4: 4 x 2.618 = 10.5.
    assert "expected a buffer of 11 packets or more" in warnings_of("vegas", "10 pkt")


def test_a_model_out_of_its_range_is_the_users_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "model.toml"
    file.write_text("""name = "wrong"
[scenario]
engine = "model"
model = "fast_joining"
[scenario.params]
flows = [4]
alpha_packets = -3.0
""")
    assert main(["sweep", str(file), "--store", str(tmp_path / "store")]) == 2
    assert "alpha_packets: -3 is out of range; expected more than 0" in capsys.readouterr().err
