"""Writes docs/reference/dossiers.md: the dossier of every control of the registry.

``python tools/dossiers/write_dossiers.py --run`` evaluates every control by the profile rfc9743,
tier fast (half an hour of one core), and keeps what it found in docs/reference/dossiers.json; names
of controls after ``--run`` evaluate these again and keep the others, and ``--only ID`` only a
requirement, with all other rows kept. Without ``--run`` the page is written from that file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.dossier.read import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["page", "run"]

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"
DATA, PAGE = DOCS / "dossiers.json", DOCS / "dossiers.md"
PROFILE, TIER = "rfc9743", "fast"
LEFT_OUT: dict[str, str] = {}
"""Controls that the profile cannot run, and why."""
Data = dict[str, Any]

HEAD = """\
# Dossiers of the registry

Every control of the registry, with its defaults, by the profile `{profile}`, tier {tier}: made by
ackclock {version} at {commits}, {cpu} CPU seconds. `tools/dossiers/write_dossiers.py` writes
this page from `dossiers.json` beside it.

A cell of the table says how many of the requirements of a family that are measured are met, and of
how many; it is bold where one is not met. The head of a column sorts by it. The thresholds are
ackclock's, for the RFC has none ([more](../howto/dossier.md)). A requirement that is not met does
not refuse a control: some controls give way on purpose, and many were made for other networks. A
control that needs counts of ECN marks has ECN on its flows; all others run without.

Which rows agree with what is known: BBRv1 loses too much in buffers below about 1.5 BDP (5.1.3) and
harms Reno there (5.2); Vegas and LEDBAT++ starve beside loss-based controls (5.2), LEDBAT does in
buffers that are deeper than its target; DCTCP takes nearly all from CUBIC in one queue (7.1); Reno
and CUBIC back off fully (5.1.1), and fill every buffer (5.1.2). TIMELY, Swift, DCQCN, HPCC and NSCC
were made for networks of one data centre, lossless ones among them, and are no controls for others:
DCQCN and NSCC begin at the rate of their host's link, and meet 9 each.
`tests/dossier/test_known_truths.py` holds these and others.
"""


def _data_text(data: Any, indent: str = "") -> str:
    """Write data as JSON in which what holds no table or list is one line."""
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    if not any(isinstance(value, dict | list) for value in inner):
        return json.dumps(data, ensure_ascii=False)
    deeper = indent + " "
    if isinstance(data, list):
        items = [_data_text(value, deeper) for value in data]
        return "[" + ",".join(f"\n{deeper}{item}" for item in items) + f"\n{indent}]"
    pairs = [
        f"{json.dumps(key, ensure_ascii=False)}: {_data_text(value, deeper)}"
        for key, value in data.items()
    ]
    return "{" + ",".join(f"\n{deeper}{pair}" for pair in pairs) + f"\n{indent}}}"


def run(names: Sequence[str], store: str | None, only: str | None = None) -> None:
    """Evaluate controls and keep what was found.

    Parameters
    ----------
    names
        Of the registry; none: all but those of `LEFT_OUT`, or with `only` all that have a dossier.
    store
        Folder of runs; None: the default one.
    only
        The requirement that is judged anew; None: all.
    """
    from ackclock import _core
    from ackclock.catalogue.schema import catalogue
    from ackclock.dossier.bind import read_control
    from ackclock.dossier.run import DossierTask, evaluate
    from ackclock.reproduce.run.studies import RunOptions

    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    profile = read(PROFILE)
    every = list(catalogue()["cc"])
    keeps = (names or only) and DATA.is_file()
    found: Data = json.loads(DATA.read_text(encoding="utf-8")) if keeps else {}
    controls: Data = found.get("controls", {})
    possible = [name for name in every if name not in LEFT_OUT]
    for name in names or (list(controls) if only else possible):
        task = DossierTask(
            profile,
            read_control(name, Path()),
            profile.against,
            tier=TIER,
            with_audits=False,
            only=(only,) if only else (),
        )
        results = evaluate(task, RunOptions(store=store, progress=False))
        rows = {}
        for row in results.rows:
            one = row.decisive
            rows[row.requirement.id] = {
                "verdict": row.verdict,
                "measured": one.result.measured if one else None,
                "unit": one.unit if one else "",
                "at": one.title if one else "",
                "distance": one.distance if one else None,
            }
        if only:
            controls[name]["rows"] |= {id_: row | {"commit": commit} for id_, row in rows.items()}
        else:
            controls[name] = {
                "commit": commit,
                "tcp": dict(task.control.tcp),
                "cpu_s": results.cpu_s,
                "rows": rows,
            }
        print(name, {v: results.count(v) for v in ("met", "not met", "undecided")}, flush=True)
    data: Data = {
        "profile": PROFILE,
        "tier": TIER,
        "version": _core.version(),
        "families": [
            {"id": family["id"], "title": family["title"]}
            for family in profile.families
            if any(one.family == family["id"] for one in profile.requirements.values())
        ],
        "requirements": {
            one.id: {
                "section": one.section,
                "title": one.title,
                "level": one.level,
                "family": one.family,
            }
            for one in profile.requirements.values()
        },
        "left_out": LEFT_OUT,
        "controls": {name: controls[name] for name in every if name in controls},
    }
    DATA.write_text(_data_text(data) + "\n", encoding="utf-8")


def page(data: Data) -> str:
    """Write the page.

    Parameters
    ----------
    data
        What ``dossiers.json`` has.
    """
    known = {key: data[key] for key in ("profile", "tier", "version")}
    cpu_s = sum(control["cpu_s"] for control in data["controls"].values())
    rows = [row for control in data["controls"].values() for row in control["rows"].values()]
    made_at = dict.fromkeys(
        part["commit"] for part in (*data["controls"].values(), *rows) if "commit" in part
    )
    commits = f"commit{'s' if len(made_at) > 1 else ''} {', '.join(made_at)}"
    head = HEAD.format(**known, commits=commits, cpu=round(cpu_s))
    for name, reason in data["left_out"].items():
        head += f"\n`{name}` is left out: {reason}.\n"
    parts = [head.rstrip(), _overview(data), "## By control"]
    parts += [_control(name, control, data) for name, control in data["controls"].items()]
    parts += [
        "## By requirement",
        "What each requires, how many controls meet it, and the one that is furthest beyond its"
        " threshold, or nearest to it.",
    ]
    statements = {one.id: one.statement for one in read(data["profile"]).requirements.values()}
    for id_, about in data["requirements"].items():
        parts += _requirement(id_, about, data, statements.get(id_, ""))
    return "\n\n".join(parts) + "\n"


def _overview(data: Data) -> str:
    """The table of all controls by families."""
    measured = [f for f in data["families"] if any(True for _ in _judged(data, f["id"]))]
    rows = []
    for name, control in data["controls"].items():
        cells = []
        for family in measured:
            verdicts = [control["rows"][id_]["verdict"] for id_ in _judged(data, family["id"])]
            met = f"{verdicts.count('met')}/{len(verdicts)}"
            cells.append(f"**{met}**" if "not met" in verdicts else met)
        counts = [len(_of(control, verdict)) for verdict in ("not met", "undecided")]
        rows.append([f"[`{name}`](#dossier-{_anchor(name)})", *map(str, counts), *cells])
    heads = ["control", "not met", "undecided", *(f["id"] for f in measured)]
    names = "; ".join(f"*{f['id']}*: {f['title']}" for f in measured)
    table = _table(heads, rows)
    return f":::{{table}}\n:class: sorted\n\n{table}\n:::\n\nColumns: {names}."


def _control(name: str, control: Data, data: Data) -> str:
    """The dossier of a control: what is not met, then what is undecided."""
    lines = [f"(dossier-{_anchor(name)})=\n### {name}"]
    missed = []
    for id_ in _of(control, "not met"):
        row, title = control["rows"][id_], data["requirements"][id_]["title"]
        number = (
            "" if row["measured"] is None else f": {row['measured']:.3g} {row['unit']}".rstrip()
        )
        where = f" ({row['at']})" if row["at"] else ""
        missed.append(f"- [{id_}](#requirement-{_anchor(id_)}) {title}{number}{where}")
    lines.append("Not met:\n\n" + "\n".join(missed) if missed else "Nothing is not met.")
    open_ = ", ".join(f"[{id_}](#requirement-{_anchor(id_)})" for id_ in _of(control, "undecided"))
    met = len(_of(control, "met"))
    undecided = f" Undecided: {open_}." if open_ else ""
    lines.append(
        f"Met: {met}.{undecided} [What it is](#cc-{_anchor(name)}); `ackclock dossier {name}` makes"
        " the whole dossier."
    )
    return "\n\n".join(lines)


def _requirement(id_: str, about: Data, data: Data, statement: str) -> Iterator[str]:
    at = [(name, control["rows"][id_]) for name, control in data["controls"].items()]
    counts = [sum(row["verdict"] == v for _, row in at) for v in ("met", "not met")]
    if not any(counts) and all(row["verdict"] != "undecided" for _, row in at):
        return
    worst = min(
        (x for x in at if x[1]["distance"] is not None),
        key=lambda x: x[1]["distance"],
        default=None,
    )
    furthest = f" Furthest: {_worst(worst)}." if worst else ""
    yield f"(requirement-{_anchor(id_)})=\n### {id_}: {about['title']}"
    yield statement
    yield (
        f"Section {about['section']}, {about['level']}. Met by {counts[0]} controls, not met by"
        f" {counts[1]}.{furthest}"
    )


def _of(control: Data, verdict: str) -> list[str]:
    return [id_ for id_, row in control["rows"].items() if row["verdict"] == verdict]


def _anchor(text: str) -> str:
    words = text.replace("+", " plus ").lower()
    return "-".join(re.findall(r"[a-z0-9]+", words))


def _worst(found: tuple[str, Data]) -> str:
    name, row = found
    where = f" ({row['at']})" if row["at"] else ""
    return f"`{name}`: {row['measured']:.3g} {row['unit']}{where}"


def _judged(data: Data, family: str) -> Iterator[str]:
    """Requirements of a family that are measured."""
    for id_, about in data["requirements"].items():
        verdicts = {control["rows"][id_]["verdict"] for control in data["controls"].values()}
        if about["family"] == family and verdicts & {"met", "not met", "undecided"}:
            yield id_


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join(line(cells) for cells in [head, ["---"] * len(head), *rows])


def main() -> int:
    """Run the program with the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="tools/dossiers/write_dossiers.py")
    parser.add_argument(
        "--run", nargs="*", metavar="CONTROL", help="evaluate; all if none is named"
    )
    parser.add_argument("--only", metavar="ID", help="only this requirement, all other rows kept")
    parser.add_argument("--store", metavar="DIR", help="folder of runs; left out: the default one")
    options = parser.parse_args()
    if options.run is not None:
        run(options.run, options.store, options.only)
    PAGE.write_text(page(json.loads(DATA.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
