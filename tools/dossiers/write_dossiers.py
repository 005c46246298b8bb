"""Writes docs/reference/dossiers.md: the dossier of every control of the registry.

``python tools/dossiers/write_dossiers.py --run`` evaluates every control by the profile rfc9743,
tier fast (half an hour of one core), and keeps what it found in docs/reference/dossiers.json; names
of controls after ``--run`` evaluate these again and keep the others. Without ``--run`` the page is
written from that file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

Columns are the families of the profile. A cell says how many of the requirements that are measured
are met, and of how many. The thresholds are ackclock's, for the RFC has none
([more](../howto/dossier.md)). A requirement that is not met does not refuse a control: some
controls give way on purpose, and many were made for other networks. A control that needs counts of
ECN marks has ECN on its flows; all others run without.

Which rows agree with what is known: BBRv1 loses too much in buffers below about 1.5 BDP (5.1.3) and
harms Reno there (5.2); Vegas and LEDBAT++ starve beside loss-based controls (5.2), LEDBAT does in
buffers that are deeper than its target; DCTCP takes nearly all from CUBIC in one queue (7.1); Reno
and CUBIC back off fully (5.1.1), and fill every buffer (5.1.2).
`tests/dossier/test_known_truths.py` holds these and others.
"""


def run(names: Sequence[str], store: str | None) -> None:
    """Evaluate controls and keep what was found.

    Parameters
    ----------
    names
        Of the registry; none: all but those of `LEFT_OUT`.
    store
        Folder of runs; None: the default one.
    """
    from ackclock import _core
    from ackclock.catalogue.schema import catalogue
    from ackclock.dossier.bind import read_control
    from ackclock.dossier.read import read
    from ackclock.dossier.run import Task, evaluate
    from ackclock.reproduce.run.studies import Means

    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    profile = read(PROFILE)
    every = list(catalogue()["cc"])
    found: Data = json.loads(DATA.read_text(encoding="utf-8")) if names and DATA.is_file() else {}
    controls: Data = found.get("controls", {})
    for name in names or (name for name in every if name not in LEFT_OUT):
        task = Task(
            profile, read_control(name, Path()), profile.against, tier=TIER, with_audits=False
        )
        results = evaluate(task, Means(store=store, progress=False))
        rows = {}
        for row in results.rows:
            one = row.decisive
            rows[row.requirement.id] = {
                "verdict": row.verdict,
                "measured": one.part.measured if one else None,
                "unit": one.unit if one else "",
                "at": one.title if one else "",
                "distance": one.distance if one else None,
            }
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
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def page(data: Data) -> str:
    """Write the page.

    Parameters
    ----------
    data
        What ``dossiers.json`` has.
    """
    known = {key: data[key] for key in ("profile", "tier", "version")}
    cpu_s = sum(control["cpu_s"] for control in data["controls"].values())
    made_at = dict.fromkeys(control["commit"] for control in data["controls"].values())
    commits = f"commit{'s' if len(made_at) > 1 else ''} {', '.join(made_at)}"
    head = HEAD.format(**known, commits=commits, cpu=round(cpu_s))
    measured = [f for f in data["families"] if any(True for _ in _judged(data, f["id"]))]
    columns = [f["title"] for f in measured]
    rows = []
    for name, control in data["controls"].items():
        cells = []
        for family in measured:
            verdicts = [control["rows"][id_]["verdict"] for id_ in _judged(data, family["id"])]
            cells.append(f"{verdicts.count('met')}/{len(verdicts)}")
        missed, open_ = (
            ", ".join(id_ for id_, row in control["rows"].items() if row["verdict"] == verdict)
            for verdict in ("not met", "undecided")
        )
        rows.append([f"`{name}`", *cells, missed or "-", open_ or "-"])
    for name, reason in data["left_out"].items():
        head += f"\n`{name}` is left out: {reason}.\n"
    text = f"{head}\n{_table(['control', *columns, 'not met', 'undecided'], rows)}\n"
    rows = []
    for id_, about in data["requirements"].items():
        at = [(name, control["rows"][id_]) for name, control in data["controls"].items()]
        counts = [sum(row["verdict"] == v for _, row in at) for v in ("met", "not met")]
        if not any(counts):
            continue
        worst = min(
            (x for x in at if x[1]["distance"] is not None),
            key=lambda x: x[1]["distance"],
            default=None,
        )
        rows.append(
            [id_, about["title"], about["level"], *map(str, counts), _worst(worst) if worst else ""]
        )
    heads = ["requirement", "title", "level", "met", "not met", "furthest from its threshold"]
    return (
        f"{text}\n## By requirement\n\nControls that meet each requirement, and the one that is"
        f" furthest beyond its threshold, or nearest to it.\n\n{_table(heads, rows)}\n"
    )


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


def main(arguments: list[str]) -> int:
    """Run the program.

    Parameters
    ----------
    arguments
        As above; ``--store DIR`` keeps runs there.
    """
    store = None
    if "--store" in arguments:
        at = arguments.index("--store")
        store = arguments[at + 1]
        del arguments[at : at + 2]
    if arguments[:1] == ["--run"]:
        run(arguments[1:], store)
    elif arguments:
        print("usage: python tools/dossiers/write_dossiers.py [--run [CONTROL ...] [--store DIR]]")
        return 2
    PAGE.write_text(page(json.loads(DATA.read_text(encoding="utf-8"))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
