"""Writes what a search of unstated parameters found: data, a page, a summary."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.page import inline, render, save_report
from ackclock._util.text_table import table
from ackclock.reproduce.run.inference import FILE, claim_hash, paper_hash
from ackclock.reproduce.run.sensitivity import write_value
from ackclock.reproduce.search.agreement import compare_rungs
from ackclock.reproduce.search.pins import find_pin
from ackclock.reproduce.search.search import score

if TYPE_CHECKING:
    from ackclock.reproduce.search.search import PointJudgement, SearchResult

__all__ = ["as_data", "summary", "write"]

PINNED = 0.01
"""A parameter is pinned down if chance would do as much less often than this."""


def as_data(result: SearchResult, command: str) -> dict[str, Any]:
    """The content of ``forensics.json``.

    Parameters
    ----------
    result
        What was found.
    command
        What gives it again.
    """
    from scipy.stats import binomtest

    from ackclock import _core

    space, valid = result.space, result.valid
    points = [result.tried[index].values for index in valid]
    inside = [index in result.accepted for index in valid]
    low, high = binomtest(sum(inside), len(inside)).proportion_ci(0.95, method="exact")
    pins = {p.id: find_pin(p, points, inside) for p in space.parameters}
    return {
        "forensics": 1,
        "paper": space.paper.name,
        "paper_hash": paper_hash(space.paper),
        "tier": result.tier,
        "version": _core.version(),
        "command": command,
        "points": len(result.tried),
        "refused": len(result.tried) - len(valid),
        "predicted_cpu_s": round(result.predicted_s, 1),
        "agreement": [
            {**agreement.to_dict(), "text": str(agreement)} for agreement in compare_rungs(result)
        ],
        "fitted": list(result.fitted),
        "held_out": list(result.held_out),
        "accepted": {
            "points": sum(inside),
            "share": sum(inside) / len(inside),
            "low": float(low),
            "high": float(high),
            "surrogate_share": result.surrogate_share,
            "surrogate_quality": result.surrogate.quality,
        },
        "inferred": {
            "values": result.values,
            "is_default": result.best < 0,
            "is_clear": result.is_clear,
            "p_value": result.p_value,
            **_scores(result, result.fresh_best),
        },
        "defaults": {"values": space.defaults, **_scores(result, result.fresh_defaults)},
        "parameters": [
            {
                "id": p.id,
                "accepted_by_value": pins[p.id].shares,
                "p": pins[p.id].p,
                "is_pinned": pins[p.id].p < PINNED,
                "importance": result.surrogate.decides.get(p.id, 0.0),
            }
            for p in space.parameters
        ],
        "fixed": dict(space.fixed),
        "claims": [
            {
                "id": claim.id,
                "half": "fitted" if (claim.made_from or claim.id) in result.fitted else "held out",
                "share": result.share(claim.id),
                "met_at_defaults": result.met_at_defaults(claim.id),
                "decides": list(result.decides.get(claim.id, ())),
                "verdict_defaults": result.fresh_defaults.verdicts.get(claim.id),
                "verdict_inferred": result.fresh_best.verdicts.get(claim.id),
                "holds_inferred": result.holds_inferred(claim.id),
                "claim_hash": claim_hash(space.paper, claim),
            }
            for claim in space.claims
        ],
        "conflicts": [
            conflict.to_dict(
                [*points, space.defaults],
                [*(result.tried[index].misses for index in valid), result.defaults.misses],
            )
            for conflict in result.conflicts
        ],
    }  # fmt: skip


def _scores(found: SearchResult, judged: PointJudgement) -> dict[str, Any]:
    votes = found.join_files(judged.votes)
    return {
        "score_fitted": score(votes, found.fitted),
        "score_held_out": score(votes, found.held_out),
        "reproduced": sum(verdict == "reproduced" for verdict in judged.verdicts.values()),
    }


def summary(data: dict[str, Any]) -> str:
    """Write what was found as text.

    Parameters
    ----------
    data
        As of `as_data`.
    """
    accepted, ours, theirs = data["accepted"], data["inferred"], data["defaults"]
    head = (
        f"{data['paper']}, tier {data['tier']}: {data['points']} points of"
        f" {len(data['parameters'])} parameters, {len(data['claims'])} claims"
    )
    rows = [
        [parameter["id"], write_value(theirs["values"][parameter["id"]]),
         write_value(ours["values"][parameter["id"]]), "yes" if parameter["is_pinned"] else "no",
         f"{parameter['importance']:.2f}"]
        for parameter in data["parameters"]
    ]  # fmt: skip
    claims = [
        [claim["id"], claim["half"], "-" if claim["share"] is None else f"{claim['share']:.0%}",
         claim["verdict_defaults"] or "-", claim["verdict_inferred"] or "-",
         ", ".join(claim["decides"])]
        for claim in data["claims"]
    ]  # fmt: skip
    clear = (
        "is clear: better than the defaults by a vote or more, and above chance, on claims it was"
        " not fitted to"
    )
    if ours["is_default"]:
        clear = "is the defaults: no point fits better"
    elif not ours["is_clear"]:
        clear = (
            "is not clear: not a vote better than the defaults, or not above chance, on claims it"
            " was not fitted to"
        )
    lines = [
        f"accepted: {accepted['share']:.0%} of the design [{accepted['low']:.0%},"
        f" {accepted['high']:.0%}]",
        f"score of claims fitted and held out, on fresh seeds: inferred"
        f" {ours['score_fitted']:.2f} and {ours['score_held_out']:.2f}, defaults"
        f" {theirs['score_fitted']:.2f} and {theirs['score_held_out']:.2f}",
        f"the inferred point {clear}",
        *(agreement["text"] for agreement in data["agreement"]),
        *(_conflict_text(conflict) for conflict in data["conflicts"]),
    ]
    return "\n\n".join([
        head,
        table(["parameter", "default", "inferred", "pinned", "importance"], rows, most=1000),
        table(["claim", "half", "met in", "defaults", "inferred", "decided by"], claims, most=1000),
        "\n".join(lines),
    ])  # fmt: skip


def _conflict_text(conflict: dict[str, Any]) -> str:
    names = " and ".join(conflict["claims"])
    near = "; ".join(f"{name}: {text}" for name, text in conflict["misses"].items())
    return f"conflict: {names} are met nowhere together; nearest miss: {near}"


def write(result: SearchResult, folder: str | Path, command: str) -> dict[str, Any]:
    """Write ``forensics.json``, ``.html``, ``.txt`` and ``design.csv``.

    Parameters
    ----------
    result
        What was found.
    folder
        Is made, or replaced if it is such a folder.
    command
        What gives it again.

    Returns
    -------
    dict
        The content of ``forensics.json``.
    """
    from ackclock.reproduce.write.space_plots import draw_pairs, draw_parallel

    data = as_data(result, command)
    page = render(
        Path(__file__).with_name("forensics.html"),
        paper=result.space.paper,
        data=data,
        shown=write_value,
        refused=[point.wrong for point in result.tried if point.wrong][:3],
        parallel=inline(draw_parallel(result), "parallel"),
        pairs=inline(draw_pairs(result), "pairs"),
    )
    pages = {"forensics.html": page, "forensics.txt": summary(data)}
    save_report(Path(folder), FILE, data, pages, lambda at: _design(result, at / "design.csv"))
    return data


def _design(result: SearchResult, file: Path) -> None:
    names = [parameter.id for parameter in result.space.parameters]
    claims = [claim.id for claim in result.space.claims]
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["point", "rungs", "accepted", *names, *claims])
        for index, point in enumerate((result.defaults, *result.tried), start=-1):
            name = "defaults" if index < 0 else index
            votes = point.rungs[-1] if point.rungs else {}
            writer.writerow(
                [name, len(point.rungs), index in result.accepted,
                 *(write_value(point.values[n]) for n in names),
                 *(votes.get(claim, "") for claim in claims)]
            )  # fmt: skip
