"""Reads a profile's folder and finds everything that is wrong with it, all at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.dossier import form
from ackclock.dossier.profile import Profile, Requirement, Threshold
from ackclock.dossier.rows import NO_BOUND
from ackclock.errors import UnsupportedError, suggestion
from ackclock.reproduce.check import crosscheck
from ackclock.reproduce.paper import PaperData
from ackclock.reproduce.read.claims import make_claim
from ackclock.reproduce.read.folder import FolderReader, PaperError
from ackclock.reproduce.read.form import FIGURES
from ackclock.reproduce.read.shipped import find_folder, list_bundled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.reproduce.paper import Claim, Study

__all__ = ["PROFILES", "names", "read"]

PROFILES = Path(__file__).resolve().parents[1] / "profiles"
"""Where the profiles are that ship with ackclock."""

_FILE = "profile.toml"


def names() -> list[str]:
    """Names of the profiles that ship with ackclock."""
    return list_bundled(PROFILES, _FILE)


def read(profile: str | Path) -> Profile:
    """Read a profile's folder.

    Parameters
    ----------
    profile
        Name of a profile that ships with ackclock, or the path of a folder.

    Raises
    ------
    UnsupportedError
        There is no such profile.
    PaperError
        Its files are wrong; every problem is reported.
    """
    return _Reader(find_folder(profile, "profile", PROFILES, _FILE)).profile()


class _Reader(FolderReader):
    """Reads one folder."""

    KIND = "profile"
    MAY_NAME_CODE = False
    TOP = (_FILE, "requirements.toml", "figures.toml", "views.toml", "README.md")
    FOLDERS = ("scenarios",)

    def profile(self) -> Profile:
        """Read everything.

        Raises
        ------
        PaperError
            With every problem.
        """
        self.look_around()
        about = self.document(_FILE, form.PROFILE)
        base = self._base(about)
        figures = self.document("figures.toml", FIGURES, needed=False)
        needed = base is None
        entries = self.document("requirements.toml", form.REQUIREMENTS, needed=needed)
        file = self.folder / "requirements.toml"
        claims: dict[str, Claim] = {}
        requirements: dict[str, Requirement] = {}
        rows = [row for row in entries.get("requirement", ()) if isinstance(row, dict)]
        self.unique(file, "requirement", rows)
        for row in rows:
            if {"id", "section", "title", "statement", "level", "family"} <= set(row):
                claims[row["id"]] = self._claim(file, row)
                requirements[row["id"]] = _requirement(row, claims[row["id"]])
        data = PaperData(
            name=self.folder.name,
            folder=self.folder,
            about=about,
            studies=self.studies(),
            expected={},
            figures=self.figures(figures),
            claims=claims,
            parameters={},
        )
        if base is not None:
            data, requirements = self._join(about, base, data, requirements)
        self.problems += crosscheck.problems(data)
        self._references(file, requirements, data)
        if self.problems:
            raise PaperError(list(dict.fromkeys(self.problems)))
        return Profile(data, requirements, data.about.get("against", {}))

    def _base(self, about: Mapping[str, Any]) -> Profile | None:
        if "base" not in about:
            return None
        try:
            return read(about["base"])
        except UnsupportedError as error:
            self.report(self.folder / _FILE, "base", str(error))
            return None

    def _join(
        self,
        about: Mapping[str, Any],
        base: Profile,
        data: PaperData,
        found: Mapping[str, Requirement],
    ) -> tuple[PaperData, dict[str, Requirement]]:
        """Put what is taken of the base before what the profile has itself."""
        file = self.folder / _FILE
        taken = about.get("take", list(base.requirements))
        for name in taken:
            if name not in base.requirements:
                hint = suggestion(name, base.requirements)
                self.report(file, "take", f'{base.name} has no requirement "{name}"; {hint}')
        sizes = about.get("sizes", {})
        for tier, studies in sizes.items():
            for name in studies:
                if name not in base.data.studies:
                    hint = suggestion(name, base.data.studies)
                    message = f'{base.name} has no study "{name}"; {hint}'
                    self.report(file, f"sizes.{tier}.{name}", message)
        taken_ids = [name for name in taken if name in base.requirements]
        joined = replace(
            data,
            studies={
                **{n: _resize_study(s, sizes) for n, s in base.data.studies.items()},
                **data.studies,
            },
            figures={**base.data.figures, **data.figures},
            claims={**{name: base.data.claims[name] for name in taken_ids}, **data.claims},
            about={**{"family": base.families, "against": dict(base.against)}, **about},
        )
        return joined, {**{name: base.requirements[name] for name in taken_ids}, **found}

    def _claim(self, file: Path, row: dict[str, Any]) -> Claim:
        """The claim that is judged: that what is required holds."""
        place = f"requirement[{row['id']}]"
        given = [check for check in row.get("check", ()) if isinstance(check, dict)]
        for check in given:
            if "expect" in check and not {"reason", "trade"} <= set(check):
                self.report(file, place, "has a check with expect, which needs reason and trade")
        bounded = [check for check in given if "expect" in check]
        # What is only shown is a claim where nothing else is measured.
        only_shown = all("shown" in check for check in bounded)
        checks = [
            {key: value for key, value in check.items() if key not in ("source", "trade", "shown")}
            | ({"ours": check["shown"]} if "shown" in check and not only_shown else {})
            | ({} if "expect" in check else {"expect": {"between": NO_BOUND}})
            for check in given
        ]
        if (
            only_shown
            and len(bounded) == len(given)
            and not {"question", "inapplicable"} & set(row)
        ):
            message = "needs a check that decides, a question, or inapplicable"
            self.report(file, place, message)
        entry: dict[str, Any] = {
            "id": row["id"],
            "statement": row["statement"],
            "kind": "Q",
            "where": row["section"],
        }
        why_not = row.get("question", row.get("inapplicable", ""))
        entry |= {"check": checks} if checks else {"not_checkable": why_not}
        return make_claim(self, file, entry)

    def _references(self, file: Path, found: dict[str, Requirement], data: PaperData) -> None:
        families = [family.get("id") for family in data.about.get("family", ())]
        for one in found.values():
            place = f"requirement[{one.id}]"
            if one.family not in families:
                hint = suggestion(one.family, [str(name) for name in families])
                self.report(file, f"{place}.family", f'there is no family "{one.family}"; {hint}')
            for figure in one.figures:
                if figure not in data.figures:
                    hint = suggestion(figure, data.figures)
                    self.report(file, f"{place}.figures", f'there is no figure "{figure}"; {hint}')


def _resize_study(study: Study, sizes: Mapping[str, Mapping[str, Any]]) -> Study:
    """A study of the base with the sizes that the profile gives its tiers."""
    tiers = dict(study.document.get("tiers", {}))
    for tier, by_study in sizes.items():
        if study.name in by_study:
            tiers[tier] = by_study[study.name]
    return replace(study, document={**study.document, "tiers": tiers})


def _requirement(row: dict[str, Any], claim: Claim) -> Requirement:
    checks = [check for check in row.get("check", ()) if isinstance(check, dict)]
    why = tuple(
        Threshold(made.name, one.get("reason", ""), one.get("source", "ours"), one.get("trade", ""))
        for made, one in zip(claim.checks, checks, strict=False)
        if "expect" in one
    )
    rest = {key: value for key, value in row.items() if key not in ("check", "figures")}
    return Requirement(
        figures=tuple(row.get("figures", ())),
        thresholds=why,
        is_text=all("shown" in check for check in checks) and (bool(checks) or "question" in row),
        is_reported=bool(checks) and not any("expect" in check for check in checks),
        **rest,
    )
