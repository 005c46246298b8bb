"""What a search of a paper's unstated parameters found, as ``forensics.json`` has it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.foreign_files import read_bytes, read_json
from ackclock.errors import AckclockError
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.check.queries import reads
from ackclock.results.old_columns import with_old_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ackclock.reproduce.paper import Claim, PaperData

__all__ = ["FILE", "ClaimFound", "Inference", "claim_hash", "load", "paper_hash"]

FILE = "forensics.json"
"""Name of the file that a search writes."""

NOT_SEARCHED = {
    "known_deviation",
    "matters",
    "note",
    "ours",
    "reason",
    "source",
    "statement",
    "unstated",
    "what",
    "where",
}
"""Keys in entries of claims, errata and parameters, and in checks, that no search uses: texts for
readers, and the parameters that a claim names, as a search varies them all."""

SOURCES = ("claims.toml", "errata.toml", "unstated.toml", "views.toml", "scenarios", "expected")
"""Parts of a paper's folder on which the result of a search depends."""


CHANCE = 0.05
"""Share of settings in which a one-sided test meets what is nowhere so."""

LEVEL = 0.05
"""Level at which a share must exceed `CHANCE`."""

FEWEST_ALIKE = 0.8
"""Share of votes that must be the same in the cheapest runs and the next ones."""


@dataclass(frozen=True)
class ClaimFound:
    """What a search says of one claim.

    Parameters
    ----------
    share
        Share of the points of the design at which it is met; None if runs as cheap as those of
        the design do not judge it.
    is_inferred
        Whether it is met at the inferred settings on seeds that the search did not see.
    decides
        Parameters that decide, the most important first.
    is_met_at_best
        Whether it is met on fresh seeds at the best settings found, which may be no clear
        inference.
    is_met_cheaply
        Whether it is met at the defaults in the search's cheapest runs, on which `share` rests.
    points
        Points of the design at which it was judged.
    alike
        Share of votes that are the same in the cheapest runs and the next ones; None if not known.
    """

    share: float | None
    is_inferred: bool
    decides: tuple[str, ...]
    is_met_at_best: bool = False
    is_met_cheaply: bool = False
    points: int = 0
    alike: float | None = None

    @property
    def is_shown_by_share(self) -> bool:
        """Whether the share is more than chance, of votes that dearer runs repeat.

        The lower bound of the share (Clopper and Pearson, one-sided, 95 %) exceeds the 5 % that a
        one-sided test lets pass, and at least four of five votes are the same in the next rung.
        """
        from scipy.stats import binomtest

        if not self.share or self.alike is None or self.alike < FEWEST_ALIKE:
            return False
        met = round(self.share * self.points)
        return float(binomtest(met, self.points, CHANCE, "greater").pvalue) < LEVEL


@dataclass(frozen=True)
class Inference:
    """A search's result.

    Parameters
    ----------
    point
        The inferred settings: values by parameter.
    claims
        By id; without those that were changed since.
    tier
        In which the best point was judged; empty if not known.
    changed
        Claims that the search judged by other rules or runs than today's.
    """

    point: Mapping[str, Any]
    claims: Mapping[str, ClaimFound]
    tier: str = ""
    changed: tuple[str, ...] = ()

    @property
    def point_text(self) -> str:
        """The inferred settings, written out."""
        return ", ".join(f"{name} = {value}" for name, value in self.point.items())


def paper_hash(paper: PaperData) -> str:
    """Hash the parts of a paper on which a search depends, without comments and texts for readers.

    Parameters
    ----------
    paper
        The paper.
    """
    digest = hashlib.sha256()
    for name in SOURCES:
        source = paper.folder / name
        for file in sorted(source.glob("*")) if source.is_dir() else [source]:
            if file.is_file():
                content: Any = read_bytes(file)
                if file.suffix == ".toml":
                    table = tomllib.loads(content.decode())
                    rules = table if source.is_dir() else _rules(table)
                    text = json.dumps(rules, sort_keys=True, default=str)
                    # Another name of a column makes no search stale.
                    content = with_old_names(text).encode()
                digest.update(f"{file.relative_to(paper.folder).as_posix()}\0".encode())
                digest.update(content)
    return digest.hexdigest()


def claim_hash(paper: PaperData, claim: Claim) -> str:
    """Hash what a search's judgement of one claim rests on.

    That is its deciding checks, the studies and printed values that they read, the parameters that
    set something there, and the readings.

    Parameters
    ----------
    paper
        The paper.
    claim
        One of its claims.
    """
    checks = [check for check in claim.checks if not check.ours]
    queries = [check.measure for check in checks]
    studies = studies_of(paper, *queries)
    tables_by_query = [
        query_tables for query in queries if not isinstance(query_tables := reads(query), str)
    ]
    tables = {table for query_tables in tables_by_query for table in query_tables}
    printed = sorted(table for schema, table in tables if schema == "expected")
    rules = {
        "full_only": bool(claim.full_only),
        "checks": [
            [c.measure, dict(c.expect), c.interval, c.statistic, c.ran, dict(c.reading)]
            for c in checks
        ],
        "studies": {name: paper.studies[name].document for name in studies},
        "printed": {
            name: read_bytes(paper.expected[name].file).decode()
            for name in printed
            if name in paper.expected
        },
        "parameters": {
            parameter.id: [
                parameter.default,
                list(parameter.values),
                dict(parameter.range),
                [[t.study, t.path, dict(t.values)] for t in parameter.sets if t.study in studies],
            ]
            for parameter in paper.parameters.values()
            if any(target.study in studies for target in parameter.sets)
        },
        "readings": {name: list(paper.readings[name].options) for name in claim.readings},
    }
    text = with_old_names(json.dumps(rules, sort_keys=True, default=str))
    return hashlib.sha256(text.encode()).hexdigest()


def _rules(table: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a file and their checks without what no search uses."""
    return {
        kind: [_bare(entry) for entry in entries] if isinstance(entries, list) else entries
        for kind, entries in table.items()
    }


def _bare(entry: Mapping[str, Any]) -> dict[str, Any]:
    bare = {key: value for key, value in entry.items() if key not in NOT_SEARCHED}
    return bare | {"check": [_bare(check) for check in entry.get("check", ())]}


def load(paper: PaperData, file: Path | None = None) -> Inference | None:
    """Read the result of a search.

    Parameters
    ----------
    paper
        The paper that it must be of.
    file
        The file, or the folder that has it; left out: that of the paper's folder, if it has one.

    Raises
    ------
    AckclockError
        There is no such file, it is none of a search, or no claim is as it was then. Of a paper
        that was changed in part, claims whose rules, studies and parameters are as they were count.
    """
    path = paper.folder / FILE if file is None else file / FILE if file.is_dir() else file
    if file is None and not path.is_file():
        return None
    try:
        data = read_json(path, links=True)
        searched_hash, point, claims = (
            data["paper_hash"],
            data["inferred"]["values"],
            data["claims"],
        )
        is_whole = searched_hash == paper_hash(paper)
        valid = data["points"] - data["refused"] if "points" in data else 0
        alike = next((float(agreement["alike"]) for agreement in data.get("agreement", ())), None)
        results = {
            entry["id"]: ClaimFound(
                None if entry["share"] is None else float(entry["share"]),
                is_whole and bool(entry["holds_inferred"]),
                tuple(entry["decides"]),
                entry.get("verdict_inferred") == "reproduced",
                entry.get("met_at_defaults") is True,
                int(valid),
                alike if entry.get("alike") is None else float(entry["alike"]),
            )
            for entry in claims
        }
        hashes = {entry["id"]: entry.get("claim_hash") for entry in claims}
        tier = str(data.get("tier", ""))
    except OSError as error:
        raise AckclockError(f"{path}: {error.strerror}; expected a {FILE}") from None
    except (ValueError, KeyError, TypeError):
        message = f"{path} is not the result of a search; expected a {FILE} of ackclock forensics"
        raise AckclockError(message) from None
    valid_now = {
        name
        for name in results
        if is_whole
        or (name in paper.claims and hashes[name] == claim_hash(paper, paper.claims[name]))
    }
    if not is_whole and not valid_now:
        message = (
            f"{path}: the paper's claims, parameters or studies were changed since this search;"
            f" run ackclock forensics {paper.name} again, or delete the file"
        )
        raise AckclockError(message)
    unchanged = {name: claim for name, claim in results.items() if name in valid_now}
    return Inference(
        point, unchanged, tier, tuple(name for name in results if name not in valid_now)
    )
