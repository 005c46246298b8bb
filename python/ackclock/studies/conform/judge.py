"""Judges the checks of a case: what they measure in the tables of its run."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.confined_sql import connect, fetch
from ackclock._util.number_text import number
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.studies.conform.stages import Staged
    from ackclock.studies.conform.suite import CaseCheck, ConformanceCase, Suite

__all__ = ["FAIL", "INEXPRESSIBLE", "PASS", "UNDECIDED", "ConformanceRow", "judge"]

PASS, FAIL, INEXPRESSIBLE = "pass", "fail", "not expressible"
UNDECIDED = "undecided"
"""It fails, and so does our control that it is measured beside: the version or our engine may be
the reason."""

NEVER = 1e9
"""When an event was that did not happen [s]: later than any run."""

# A state holds until the next one; a variable, too.
_VIEWS = """
CREATE VIEW states AS
  SELECT time_s, coalesce(lead(time_s) OVER (ORDER BY i), (SELECT duration_s FROM path)) AS until_s,
         state, i
  FROM (SELECT time_s, state::VARCHAR AS state, row_number() OVER () AS i FROM raw_states);
CREATE VIEW probes AS
  SELECT time_s, lead(time_s) OVER (PARTITION BY probe ORDER BY i) AS until_s, probe, value, i
  FROM (SELECT time_s, probe::VARCHAR AS probe, CASE WHEN isnan(value) THEN NULL ELSE value END
          AS value, row_number() OVER () AS i FROM raw_probes);
CREATE MACRO probe(named, since) AS
  (SELECT p.value FROM probes AS p WHERE p.probe = named AND p.time_s <= since
   ORDER BY p.i DESC LIMIT 1);
CREATE MACRO state(since) AS
  (SELECT s.state FROM states AS s WHERE s.time_s <= since ORDER BY s.i DESC LIMIT 1);
CREATE MACRO next_state(since) AS
  (SELECT s.state FROM states AS s WHERE s.time_s > since ORDER BY s.i LIMIT 1);
CREATE MACRO left_at(since) AS
  (SELECT s.until_s FROM states AS s WHERE s.time_s <= since ORDER BY s.i DESC LIMIT 1);
CREATE MACRO entered(named, since) AS
  (SELECT min(s.time_s) FROM states AS s WHERE s.state = named AND s.time_s > since);
CREATE MACRO event(named) AS (SELECT e.time_s FROM events AS e WHERE e.event = named);
CREATE MACRO rate() AS (SELECT payload_bps FROM path);
CREATE MACRO delivered(since, upto) AS
  (SELECT (max(w.acked) - min(w.acked)) * (SELECT mss_bits FROM path) FROM windows AS w
   WHERE w.time_s BETWEEN since AND upto);
"""


@dataclass(frozen=True)
class ConformanceRow:
    """One check and its verdict.

    Parameters
    ----------
    case, title
        Key and title of the case.
    step, text
        Step of the case and what is checked.
    expected, measured
        As text.
    value
        What was measured, if anything.
    verdict
        `PASS`, `FAIL`, `INEXPRESSIBLE` or `UNDECIDED`.
    why
        Reason of the bound, or why nothing was measured.
    since_s
        When what was measured begins [s]; None: it has no begin.
    packet
        Number of the sender's last packet until then, from 1; None: not known.
    advice
        What a control that fails does, to act on.
    ours
        What was measured of our control beside it, as text; empty: there is none.
    """

    case: str
    title: str
    step: int
    text: str
    expected: str
    measured: str
    value: float | str | None
    verdict: str
    why: str
    since_s: float | None = None
    packet: int | None = None
    advice: str = ""
    ours: str = ""

    @property
    def place(self) -> str:
        """Where what was measured begins; empty if it has no begin."""
        if self.since_s is None:
            return ""
        packet = "" if self.packet is None else f", packet {self.packet:,}"
        return f"from {self.since_s:.3f} s{packet}"

    @property
    def sentence(self) -> str:
        """What is wrong, for who maintains the control."""
        beside = f" (ours {self.ours})" if self.ours else ""
        place = f", {self.place}" if self.place else ""
        said = f"{self.text}: {self.measured}, expected {self.expected}{beside}{place}."
        tail = f" {self.advice[0].upper()}{self.advice[1:]}." if self.advice else ""
        because = f" Bound: {self.why}." if self.why else ""
        return f"{self.case}.{self.step}: {said}{tail}{because}"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


def judge(
    suite: Suite, case: ConformanceCase, staged: Staged, path: Mapping[str, float]
) -> list[ConformanceRow]:
    """Judge the checks of a case.

    Parameters
    ----------
    suite
        Says which names a control must record.
    case
        The case.
    staged
        Its run.
    path
        Facts of the path by name: `rate_bps`, `payload_bps`, `rtt_s`, `mss_bits`, `duration_s`.

    Raises
    ------
    AckclockError
        A query is wrong.
    """
    run = staged.run
    with connect(threads=1) as base:
        tables = {
            "raw_states": run.table("states"),
            "raw_probes": run.table("probe_series"),
            "windows": run.table("windows"),
            "drops": run.table("drops"),
            "rtts": run.table("rtts"),
            "packets": run.table("packets"),
        }
        for name, table in tables.items():
            base.register(f"arrow_{name}", table)
            base.execute(f"CREATE VIEW {name} AS FROM arrow_{name}")
        keys = ", ".join(f"{value!r}::DOUBLE AS {key}" for key, value in path.items())
        base.execute(f"CREATE TABLE path AS SELECT {keys}")
        base.execute("CREATE TABLE events (event VARCHAR, time_s DOUBLE)")
        for name, time in staged.events.items():
            base.execute("INSERT INTO events VALUES ($1, $2)", [name, time])
        base.execute(_VIEWS)
        _add_views(suite, base)
        reported = set(tables["raw_states"]["state"].to_pylist())
        reported |= set(tables["raw_probes"]["probe"].to_pylist())
        return [_judge_check(suite, case, check, staged, base, reported) for check in case.checks]


def _add_views(suite: Suite, base: Any) -> None:
    import duckdb

    if not suite.views:
        return
    try:
        base.execute(suite.views)
    except duckdb.Error as error:
        raise AckclockError(f"{suite.name}: views: {str(error).splitlines()[0]}") from None


def _judge_check(
    suite: Suite,
    case: ConformanceCase,
    check: CaseCheck,
    staged: Staged,
    base: Any,
    reported: set[str],
) -> ConformanceRow:
    import duckdb

    def row(
        measured: str,
        value: float | str | None,
        verdict: str,
        why: str,
        begin: tuple[float | None, int | None] = (None, None),
    ) -> ConformanceRow:
        return ConformanceRow(
            case.key, case.title, check.step, check.text, expectation(check), measured, value,
            verdict, why, *begin, check.advice,
        )  # fmt: skip

    named = re.findall(r"'([^']*)'", check.value)
    missing = [trigger for trigger in staged.missing if trigger.event in named]
    unsaid = [n for n in named if (n in suite.probes or n in suite.states) and n not in reported]
    if missing:
        state = " or ".join(staged.missing[0].states)
        return row(
            f"never in {state}",
            None,
            FAIL,
            f'the control does not enter "{state}" as the case needs',
        )
    try:
        result_table = fetch(base, check.value)
    except duckdb.Error as error:
        message = str(error).splitlines()[0]
        raise AckclockError(f"{case.file}: step {check.step}: {message}") from None
    values = result_table["value"].to_pylist() if "value" in result_table.column_names else None
    if values is None or len(values) > 1:
        raise AckclockError(
            f"{case.file}: step {check.step}: the query gives {result_table.num_rows} rows of"
            f" {result_table.column_names}; expected one with the column value"
        )
    value = values[0] if values else None
    if value is None:
        if unsaid:
            names = ", ".join(dict.fromkeys(unsaid))
            return row(f"no {names}", None, FAIL, f"the control does not record {names}")
        return row("nothing", None, FAIL, check.reason, _begin(result_table, base))
    value = value if isinstance(value, str) else float(value)
    verdict = PASS if meets(check.goal, value) else FAIL
    text = value if isinstance(value, str) else f"{number(value)} {check.unit}".strip()
    return row(text, value, verdict, check.reason, _begin(result_table, base))


def _begin(result_table: Any, base: Any) -> tuple[float | None, int | None]:
    """When what a query measured begins, and the sender's packet by then."""
    rows = result_table.to_pylist()
    if not rows or rows[0].get("since_s") is None:
        return None, None
    since_s = float(rows[0]["since_s"])
    first = """
        SELECT count(*) AS packet FROM packets
        WHERE event = 'arrival' AND time_s <= $1
          AND link = (SELECT link FROM packets WHERE event = 'arrival' ORDER BY time_s LIMIT 1)"""
    (packet,) = base.execute(first, [since_s]).fetchall()[0]
    return since_s, int(packet) or None


def meets(goal: Mapping[str, Any], value: float | str) -> bool:
    """Whether a value is what must be.

    Parameters
    ----------
    goal
        Of a check.
    value
        What was measured.
    """
    if "is" in goal:
        allowed = goal["is"] if isinstance(goal["is"], list) else [goal["is"]]
        return value in [w if isinstance(w, str) else float(w) for w in allowed]
    if isinstance(value, str):
        return False
    low, high = bounds(goal)
    if "above" in goal:
        return value > low
    if "below" in goal:
        return value < high
    return low <= value <= high


def bounds(goal: Mapping[str, Any]) -> tuple[float, float]:
    """Least and largest value that a goal allows.

    Parameters
    ----------
    goal
        Of a check; not with `is`.
    """
    if "between" in goal:
        low, high = goal["between"]
        return float(low), float(high)
    if "equals" in goal:
        centre, tolerance = float(goal["equals"]), goal["tolerance"]
        if isinstance(tolerance, str):
            tolerance = float(tolerance.removesuffix("%")) / 100 * abs(centre)
        return centre - tolerance, centre + tolerance
    low = goal.get("at_least", goal.get("above", float("-inf")))
    high = goal.get("at_most", goal.get("below", float("inf")))
    return float(low), float(high)


def expectation(check: CaseCheck) -> str:
    """What must be, as text.

    Parameters
    ----------
    check
        The check.
    """
    goal = check.goal
    unit = f" {check.unit}" if check.unit else ""
    if "is" in goal:
        allowed: Sequence[Any] = goal["is"] if isinstance(goal["is"], list) else [goal["is"]]
        return " or ".join(str(allowed_value) for allowed_value in allowed)
    if "between" in goal or "equals" in goal:
        low, high = bounds(goal)
        return f"{number(low)} to {number(high)}{unit}"
    signs = {"at_least": ">=", "at_most": "<=", "above": ">", "below": "<"}
    key = next(key for key in signs if key in goal)
    return f"{signs[key]} {number(float(goal[key]))}{unit}"
