"""Measures how often intervals and verdicts err, on drawn data, and writes the rates into pages.

A page has a table between the comments ``rates: NAME`` and ``end of rates``. Seeds are fixed, so
that the same code gives the same rates. `python tools/calibration/measure_rates.py [NAME ...]`
writes tables; with `--check` it compares them with the pages and exits with 1 where they differ.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ackclock.dossier import baseline
from ackclock.experiments.comparison import compare
from ackclock.experiments.groups import RunMetric
from ackclock.experiments.statistics import Method, Precision, interval
from ackclock.reproduce.run.estimates import half_width
from ackclock.reproduce.run.family import control_family
from ackclock.reproduce.run.judge import Part, judge
from ackclock.reproduce.run.measure import Evaluated
from ackclock.studies.algorithm_argument import Subject
from ackclock.studies.differ.measure import judge as judge_difference
from ackclock.studies.evaluate_control.judge import METRICS, judge_results

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = ROOT / "docs" / "explanation" / "verdicts.md"
SWEEPS = ROOT / "docs" / "howto" / "sweeps.md"

DRAWS = 2000
"""Experiments behind a rate in the pages: its standard error is at most 1.1 %."""

LOOKS = (4, 8, 16, 32)
"""Replicates at each look of a study that is doubled."""

Draw = Callable[[np.random.Generator, int], "np.ndarray[Any, np.dtype[np.float64]]"]


class Table(NamedTuple):
    """Rates by row and column, as shares; None: not measured."""

    head: tuple[str, ...]
    rows: Mapping[str, tuple[float | None, ...]]

    def text(self) -> str:
        """As Markdown, in per cent."""
        lines = ["| " + " | ".join(self.head) + " |", "| --- " * len(self.head) + "|"]
        for name, rates in self.rows.items():
            cells = ["-" if rate is None else f"{100 * rate:.1f} %" for rate in rates]
            lines.append("| " + " | ".join([name, *cells]) + " |")
        return "\n".join(lines)


def _normal(generator: np.random.Generator, count: int) -> Any:
    return generator.normal(1.0, 0.05, count)


def _lognormal(generator: np.random.Generator, count: int) -> Any:
    return generator.lognormal(0.0, 1.0, count)


def _rare(generator: np.random.Generator, count: int) -> Any:
    return (generator.random(count) < 0.1).astype(float)


def _two_states(generator: np.random.Generator, count: int) -> Any:
    return np.where(generator.random(count) < 0.8, 1.0, 0.5) + generator.normal(0, 0.01, count)


def _rare_state(generator: np.random.Generator, count: int) -> Any:
    return np.where(generator.random(count) < 0.95, 1.0, 0.5) + generator.normal(0, 0.01, count)


KINDS: dict[str, tuple[Draw, float]] = {
    "normal": (_normal, 1.0),
    "skewed (lognormal, deviation 1)": (_lognormal, float(np.exp(0.5))),
    "rare event (1 in a tenth of runs)": (_rare, 0.1),
    "two states (1, and 0.5 in a fifth of runs)": (_two_states, 0.9),
    "two states (1, and 0.5 in a twentieth of runs)": (_rare_state, 0.975),
}
"""Data and their mean."""


def _share(hits: Iterable[bool]) -> float:
    return float(np.mean([bool(hit) for hit in hits]))


def measure_coverage(draws: int = DRAWS) -> Table:
    """How often 95 % intervals hold the mean, Student's t and BCa."""
    columns: list[tuple[Method, int]] = [("t", n) for n in (3, 5, 10, 30)]
    columns += [("bootstrap", n) for n in (5, 10, 30)]
    rows = {}
    for name, (draw, mean) in KINDS.items():
        generator = np.random.default_rng(1)
        rates = []
        for method, count in columns:
            # The bootstrap takes a thousand times as long.
            many = draws if method == "t" else max(draws // 10, 20)
            found = (interval(draw(generator, count).tolist(), 0.95, method) for _ in range(many))
            rates.append(_share(low <= mean <= high for _, low, high in found))
        rows[name] = tuple(rates)
    head = ("data", *(f"{'t' if method == 't' else 'BCa'}, {n} values" for method, n in columns))
    return Table(head, rows)


def measure_stopping(draws: int = DRAWS) -> Table:
    """How often the interval after ``until`` holds the mean, by ``at_least``."""
    rows = {}
    for name, (draw, mean) in KINDS.items():
        if "event" in name or "skewed" in name:
            continue
        generator = np.random.default_rng(2)
        rates: list[float | None] = []
        for least in (5, 10, 20):
            until = Precision("x", half_width=0.02, at_most=50, at_least=least)
            covered = []
            for _ in range(draws // 2):
                values = draw(generator, 50).tolist()
                count = 0
                while (wanted := until.count_replicates(values[:count])) > count:
                    count = wanted
                _, low, high = interval(values[:count])
                covered.append(low <= mean <= high)
            rates.append(_share(covered))
        rows[name] = tuple(rates)
    return Table(("data", "`at_least` 5", "10 (default)", "20"), rows)


def _look(values: Sequence[float], expect: dict[str, float], **more: Any) -> Part:
    return judge("", list(values), expect, {}, is_exact=False, **more)


def _doubled(values: Sequence[float], expect: dict[str, float], *, looks: int) -> str:
    """The outcome after doublings, as long as it is undecided."""
    outcome = "undecided"
    for count in LOOKS:
        outcome = _look(values[:count], expect, looks=looks).outcome
        if outcome != "undecided":
            break
    return outcome


def measure_verdicts(draws: int = DRAWS) -> Table:
    """How often one number is met and missed, by where the truth is."""
    places = {
        "at the bound": 0.0,
        "0.2 deviations inside": 0.2,
        "0.5 deviations inside": 0.5,
        "1 deviation inside": 1.0,
        "0.5 deviations outside": -0.5,
        "1 deviation outside": -1.0,
    }
    rows = {}
    for name, mean in places.items():
        generator = np.random.default_rng(3)
        found: dict[str, list[str]] = {"five": [], "ten": [], "looks": [], "naive": []}
        for _ in range(draws):
            values = generator.normal(mean, 1.0, LOOKS[-1]).tolist()
            expect = {"at_least": 0.0}
            found["five"].append(_look(values[:5], expect).outcome)
            found["ten"].append(_look(values[:10], expect).outcome)
            found["looks"].append(_doubled(values, expect, looks=len(LOOKS)))
            found["naive"].append(_doubled(values, expect, looks=1))
        rows[name] = tuple(
            of.count(word) / draws for of in found.values() for word in ("met", "missed")
        )
    head = ["truth"]
    for kind in ("5 values", "10 values", "4 to 32 values", "the same without division"):
        head += [f"{kind}: met", "missed"]
    return Table(tuple(head), rows)


def measure_hard_data(draws: int = DRAWS) -> Table:
    """How often a number is met though it is not, where data are not normal."""
    cases: dict[str, tuple[Draw, dict[str, float]]] = {
        "an event in a tenth of runs is at most 0.05": (_rare, {"at_most": 0.05}),
        "two states, 0.5 in a fifth of runs: at least 0.95": (_two_states, {"at_least": 0.95}),
        "lognormal, at most 0.8 of its mean": (
            _lognormal,
            {"at_most": 0.8 * float(np.exp(0.5))},
        ),
    }
    rows = {}
    for name, (draw, expect) in cases.items():
        generator = np.random.default_rng(4)
        drawn = [draw(generator, LOOKS[-1]).tolist() for _ in range(draws)]
        rates = [
            _share(_look(v[:n], expect).outcome == "met" for v in drawn) for n in (5, 6, 10, 30)
        ]
        rates.append(_share(_doubled(v, expect, looks=len(LOOKS)) == "met" for v in drawn))
        rows[name] = tuple(rates)
    return Table(("not met in truth", "5 values", "6", "10", "30", "4 to 32"), rows)


def _together(parts: Sequence[Part]) -> list[str]:
    """Outcomes of numbers that are judged together."""
    check = SimpleNamespace(counts=lambda _: True)
    claim: Any = SimpleNamespace(id="", readings=())
    one = Evaluated(claim, ((check, tuple(parts)),))  # type: ignore[arg-type]
    return [part.outcome for part in control_family([one], {})[0].parts({})]


def measure_families(draws: int = DRAWS) -> Table:
    """How often any of several numbers is missed that hold, and one that does not."""
    rows = {}
    for size in (1, 5, 20, 60):
        generator = np.random.default_rng(5)
        many = max(draws // size, min(draws, 400))
        wrong, right = [], []
        for _ in range(many):
            values = generator.normal(0.0, 1.0, (size, 10))
            parts = [_look(row.tolist(), {"at_least": 0.0}) for row in values]
            wrong.append(("missed" in [p.outcome for p in parts], "missed" in _together(parts)))
            off = []
            for shift in (1.0, 2.0):
                first = _look((values[0] - shift).tolist(), {"at_least": 0.0})
                off += [first.outcome == "missed", _together([first, *parts[1:]])[0] == "missed"]
            right.append(off)
        rows[f"{size}"] = (*np.mean(wrong, axis=0).tolist(), *np.mean(right, axis=0).tolist())
    head = (
        "numbers, all at the bound, 10 values", "any missed, each alone", "together",
        "one is 1 deviation out: missed, alone", "together", "2 deviations, alone", "together",
    )  # fmt: skip
    return Table(head, rows)


def measure_printed(draws: int = DRAWS) -> Table:
    """How often a paper whose numbers are all right deviates."""
    rows = {}
    for size in (1, 5, 20):
        many = max(draws // size, min(draws, 400))
        rates = []
        for ran in (1, 5):
            generator = np.random.default_rng(6)
            found = []
            for _ in range(many):
                parts = []
                for _ in range(size):
                    printed = float(generator.normal(0, 1, ran).mean())
                    values = generator.normal(0, 1, 10).tolist()
                    parts.append(_look(values, {"equals": printed, "tolerance": 0.0}, ran=ran))
                alone = "missed" in [part.outcome for part in parts]
                found.append((alone, "missed" in _together(parts)))
            rates += np.mean(found, axis=0).tolist()
        rows[f"{size}"] = tuple(rates)
    head = ("printed numbers, all right", "one run: any missed, each alone", "together",
            "mean of five: each alone", "together")  # fmt: skip
    return Table(head, rows)


def _dossier(values: Any) -> dict[str, Any]:
    bounds = {"check": "", "unit": "", "at_least": None, "at_most": 2.0}
    numbers = [
        {**bounds, "part": str(i), "values": row.tolist(), "decides": True, "outcome": "met"}
        for i, row in enumerate(values)
    ]
    row = {"id": "r", "section": "", "title": "", "verdict": "met", "numbers": numbers}
    return {"studies": {}, "rows": [row]}


def measure_gate(draws: int = DRAWS) -> Table:
    """How often a baseline fails: by draws alone, and by a change of one of sixty numbers."""
    rows = {}
    for count in (4, 8, 20):
        generator = np.random.default_rng(7)
        found = []
        for _ in range(max(draws // 10, 20)):
            before, after = generator.normal(1.0, 0.1, (2, 60, count))
            outcomes = []
            for shift in (0.0, 0.2, 0.5):
                changed = after.copy()
                changed[0] += shift
                changes = baseline.changes(_dossier(before), _dossier(changed))
                worse = [change.is_worse for change in changes]
                outcomes.append(any(worse) if shift == 0 else worse[0])
            found.append(outcomes)
        rows[f"{count}"] = tuple(np.mean(found, axis=0).tolist())
    head = ("seeds", "nothing changed but draws: any worse", "one number 20 % worse: found",
            "50 % worse: found")  # fmt: skip
    return Table(head, rows)


def measure_pairs(draws: int = DRAWS) -> Table:
    """How often any pair of equal labels is clear, and one that differs."""
    rows = {}
    for size in (2, 4, 10):
        generator = np.random.default_rng(8)
        found = []
        for _ in range(max(draws // size, min(draws, 400))):
            values = generator.normal(0.0, 1.0, (size, 10))
            shifted = values.copy()
            shifted[0] += 2.0
            outcomes = []
            for of in (values, shifted):
                groups = {
                    (i,): {(): {r: RunMetric(v) for r, v in enumerate(row.tolist())}}
                    for i, row in enumerate(of)
                }
                pairs = compare(groups, "x", [], 0.95, "t", is_random=True).pairs
                alone = [pair.low > 0 or pair.high < 0 for pair in pairs]
                clear = [pair.clear for pair in pairs]
                outcomes += [any(alone), any(clear)] if of is values else [alone[0], clear[0]]
            found.append(outcomes)
        rows[f"{size}"] = tuple(np.mean(found, axis=0).tolist())
    head = ("equal labels, 10 replicates", "any pair, each alone", "together",
            "a pair that is 2 deviations apart, alone", "together")  # fmt: skip
    return Table(head, rows)


def measure_differences(draws: int = DRAWS) -> Table:
    """How often a peer is inside a band of 5 % and apart, runs varying by 5 %."""
    rows = {}
    for count in (3, 10, 30):
        generator = np.random.default_rng(9)
        found = []
        for _ in range(draws // 2):
            ours, theirs = generator.normal(1.0, 0.05, (2, count))
            verdicts = [
                judge_difference(ours.tolist(), (theirs + shift).tolist(), 0.05)
                for shift in (0.0, 0.05, 0.2)
            ]
            found.append([verdict == word for verdict in verdicts for word in ("inside", "apart")])
        rows[f"{count}"] = tuple(np.mean(found, axis=0).tolist())
    head = ["seeds"]
    for shift in ("equal", "5 % apart", "20 % apart"):
        head += [f"{shift}: inside", "apart"]
    return Table(tuple(head), rows)


def measure_selected(draws: int = DRAWS) -> Table:
    """How often D of eight controls in five environments says too much, and the worst of these."""
    controls, environments = [f"c{i}" for i in range(8)], [f"e{i}" for i in range(5)]
    subject = Subject("c0", "c0")
    empty = _result([])
    rows = {}
    for count in (3, 5, 10):
        generator = np.random.default_rng(10)
        found = []
        for _ in range(max(draws // 2, 20)):
            values = generator.normal(0.5, 0.1, (8, 5, count))
            outcomes = []
            for shift in (0.0, 0.1):
                values[1] += shift
                goodput = [
                    {"setting": "SACK", "control": c, "environment": e, "replicate": r}
                    | dict.fromkeys(METRICS, values[i, j, r])
                    for i, c in enumerate(controls)
                    for j, e in enumerate(environments)
                    for r in range(count)
                ]
                judgement = judge_results(subject, _result(goodput), empty)
                d = judgement.rank_d["SACK", "c0"]
                best = judgement.rank_d["SACK", "c1"]
                _, gap, _ = judgement.worst["SACK"]
                outcomes += [d.low > shift, d.high < shift, gap.low > shift, best.low > 0]
            found.append([*outcomes[:3], *outcomes[4:6], outcomes[7]])
        rows[f"{count}"] = tuple(np.mean(found, axis=0).tolist())
    head = (
        "seeds", "equal controls: D above 0 beyond its interval", "below",
        "worst environment above 0", "one other is 1 deviation better: D above that",
        "below that", "D of the better one above 0",
    )  # fmt: skip
    return Table(head, rows)


def measure_widths(draws: int = DRAWS) -> Table:
    """How often the interval of a half width holds the truth, by the kind of data."""
    cases: dict[str, tuple[Draw, float]] = {
        "normal": (lambda generator, n: generator.normal(0.0, 1.0, n), 1.0),
        "Student's t of 3 degrees": (lambda generator, n: generator.standard_t(3, n), 3**0.5),
        "lognormal, deviation 1": (_lognormal, ((math.e - 1) * math.e) ** 0.5),
    }
    rows = {}
    for name, (draw, deviation) in cases.items():
        generator = np.random.default_rng(11)
        # Half the interval of ten runs, whose deviation is known.
        truth = half_width([-1.0, 1.0], 10, 0.95, is_sample=False).value / 2**0.5 * deviation
        rates = []
        for count in (5, 10, 30):
            found = [half_width(draw(generator, count).tolist(), 10, 0.95) for _ in range(draws)]
            rates.append(_share(one.low <= truth <= one.high for one in found))
        rows[name] = tuple(rates)
    return Table(("data", "5 values", "10", "30"), rows)


def _result(goodput: list[dict[str, Any]]) -> Any:
    """A sweep's result with these scores and no flows."""
    import pyarrow as pa

    tables = {"environment": pa.Table.from_pylist(goodput), "flows": pa.Table.from_pylist([])}
    summaries = {"": {"totals": {"cpu_s": 0.0}}}
    return SimpleNamespace(
        tables=tables, summaries=summaries, slots=[], digests={}, interrupted=False
    )


MEASURED: dict[str, tuple[Path, Callable[[int], Table]]] = {
    "coverage": (SWEEPS, measure_coverage),
    "stopping": (SWEEPS, measure_stopping),
    "pairs": (SWEEPS, measure_pairs),
    "verdicts": (VERDICTS, measure_verdicts),
    "hard-data": (VERDICTS, measure_hard_data),
    "families": (VERDICTS, measure_families),
    "printed": (VERDICTS, measure_printed),
    "gate": (VERDICTS, measure_gate),
    "differences": (VERDICTS, measure_differences),
    "selected": (VERDICTS, measure_selected),
    "widths": (VERDICTS, measure_widths),
}
"""Tables by the name that pages call them."""


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- rates: {name} -->\n).*?(\n<!-- end of rates -->)", re.DOTALL)


def read_table(name: str) -> dict[str, tuple[float | None, ...]]:
    """Read the rates that a page prints, as shares.

    Parameters
    ----------
    name
        Of the table.
    """
    page, _ = MEASURED[name]
    found = _pattern(name).search(page.read_text(encoding="utf-8"))
    assert found is not None, f"{page} has no table {name}"
    _, _, *lines = found[0].splitlines()[1:-1]
    rows = {}
    for line in lines:
        first, *cells = (cell.strip() for cell in line.strip("| ").split(" | "))
        rows[first] = tuple(None if c == "-" else float(c.rstrip("% ")) / 100 for c in cells)
    return rows


def main() -> None:
    """Write or check the tables of all pages, or of those named."""
    names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(MEASURED)
    differing = []
    for name in names:
        page, measure = MEASURED[name]
        table = measure(DRAWS).text()
        text = page.read_text(encoding="utf-8")
        written = _pattern(name).sub(rf"\g<1>{table}\g<2>", text)
        if written != text and "--check" in sys.argv:
            differing.append(name)
        elif written != text:
            page.write_text(written, encoding="utf-8")
        print(f"{name}:\n{table}\n")
    if differing:
        sys.exit(f"the pages print other rates of {', '.join(differing)}")


if __name__ == "__main__":
    main()
