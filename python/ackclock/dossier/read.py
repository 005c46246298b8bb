"""Reads a profile's folder and finds everything that is wrong with it, all at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.catalogue.entries import read_entry
from ackclock.dossier.profile import (
    AboutProfile,
    Profile,
    Requirement,
    RequirementCheck,
    RequirementsFile,
)
from ackclock.dossier.rows import NO_BOUND
from ackclock.errors import UnsupportedError, suggestion
from ackclock.reproduce.check import crosscheck
from ackclock.reproduce.figure import FiguresFile
from ackclock.reproduce.paper import Check, Claim, PaperData
from ackclock.reproduce.read.claims import name_checks, report_check
from ackclock.reproduce.read.folder import FolderReader, PaperError
from ackclock.reproduce.read.shipped import find_folder, list_bundled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.reproduce.paper import Study

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
        about = self.document(_FILE, AboutProfile)
        base = self._base(about)
        figures = self.document("figures.toml", FiguresFile, needed=False)
        needed = base is None
        entries = self.document("requirements.toml", RequirementsFile, needed=needed)
        file = self.folder / "requirements.toml"
        claims: dict[str, Claim] = {}
        requirements: dict[str, Requirement] = {}
        for row in self.tables(file, "requirement", entries):
            requirement = _requirement(row)
            if requirement is not None:
                if len(requirement.checks) == len(row.get("check", ())):
                    self._report_open(file, requirement)
                claims[requirement.id] = self._claim(file, requirement)
                requirements[requirement.id] = requirement
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
        # A name that was no text is reported and None.
        taken = [name for name in about.get("take", base.requirements) if name is not None]
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

    def _report_open(self, file: Path, requirement: Requirement) -> None:
        """Report a requirement that neither a check nor a text decides."""
        place, bounded = f"requirement[{requirement.id}]", requirement.thresholds
        for check in bounded:
            if not (check.reason and check.trade):
                self.report(file, place, "has a check with expect, which needs reason and trade")
        is_text = bool(requirement.question or requirement.inapplicable)
        only_shown = all(check.shown for check in bounded)
        if only_shown and len(bounded) == len(requirement.checks) and not is_text:
            message = "needs a check that decides, a question, or inapplicable"
            self.report(file, place, message)

    def _claim(self, file: Path, requirement: Requirement) -> Claim:
        """The claim that is judged: that what is required holds."""
        # What is only shown is a claim where nothing else is measured.
        only_shown = all(check.shown for check in requirement.thresholds)
        claim = Claim(
            id=requirement.id,
            statement=requirement.statement,
            kind="Q",
            where=requirement.section,
            file=file,
            checks=tuple(
                Check(
                    path=f"claim[{requirement.id}].check[{number}]",
                    name=check.name,
                    measure=check.measure,
                    expect={"between": list(NO_BOUND)} if check.expect is None else check.expect,
                    reason=check.reason,
                    unit=check.unit,
                    interval=check.interval,
                    ours="" if only_shown else check.shown,
                )
                for number, check in enumerate(requirement.checks)
            ),
            not_checkable=(
                "" if requirement.checks else requirement.question or requirement.inapplicable
            ),
        )
        for claim_check in claim.checks:
            report_check(self, file, claim_check)
        return claim

    def _references(self, file: Path, found: dict[str, Requirement], data: PaperData) -> None:
        families = [family.get("id") for family in data.about.get("family", ()) if family]
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


def _requirement(row: Mapping[str, Any]) -> Requirement | None:
    tables = [table for table in row.get("check", ()) if isinstance(table, dict)]
    checks = [read_entry(RequirementCheck, table) for table in name_checks(tables)]
    checks_read = tuple(check for check in checks if check is not None)
    return read_entry(Requirement, row, checks=checks_read)
