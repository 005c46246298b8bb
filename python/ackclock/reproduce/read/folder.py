"""Reads a paper's folder and finds everything that is wrong with it, all at once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ackclock._util.documents import parse_document
from ackclock._util.foreign_files import ForeignFileError, check_folder, read_text
from ackclock.catalogue.entries import read_entry, schema_of
from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.reproduce.figure import Figure, FiguresFile
from ackclock.reproduce.paper import (
    FIRST,
    TIERS,
    AboutPaper,
    ClaimsFile,
    Expected,
    Margin,
    PaperData,
    PaperReading,
    Study,
    UnstatedFile,
    ViewsFile,
)
from ackclock.reproduce.read import views
from ackclock.reproduce.read.shipped import find_folder, list_bundled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

__all__ = ["PAPERS", "FolderReader", "PaperError", "names", "read"]

PAPERS = Path(__file__).resolve().parents[2] / "papers"
"""Where the papers are that ship with ackclock."""

Entry = TypeVar("Entry")

_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""Studies and expected files are schemas and tables of queries."""

TOP = {
    "paper.toml",
    "figures.toml",
    "claims.toml",
    "errata.toml",
    "unstated.toml",
    "views.toml",
    "forensics.json",
    "README.md",
}
FOLDERS = {"scenarios", "expected"}


class PaperError(ScenarioError):
    """A paper's folder is wrong. All problems are reported together."""


def names() -> list[str]:
    """Names of the papers that ship with ackclock."""
    return list_bundled(PAPERS, "paper.toml")


def read(paper: str | Path) -> PaperData:
    """Read a paper's folder.

    Parameters
    ----------
    paper
        Name of a paper that ships with ackclock, or the path of a folder.

    Raises
    ------
    UnsupportedError
        There is no such paper.
    PaperError
        Its files are wrong; every problem is reported.
    """
    return FolderReader(find_folder(paper, "paper", PAPERS, "paper.toml")).paper()


class FolderReader:
    """Reads one folder of claims over studies; problems gather in ``found``.

    Parameters
    ----------
    folder
        The folder.

    Attributes
    ----------
    KIND
        What the folder is.
    TOP, FOLDERS
        What it may hold.
    MAY_NAME_CODE
        Whether its studies may name Python classes.
    """

    KIND = "paper"
    TOP: Collection[str] = TOP
    FOLDERS: Collection[str] = FOLDERS
    MAY_NAME_CODE = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems: list[Problem] = []
        self._views: Mapping[str, str] = {}

    def report(self, file: Path, path: str, message: str) -> None:
        """Note a problem.

        Parameters
        ----------
        file, path, message
            Where, and one sentence.
        """
        self.problems.append(Problem(path, message, str(file)))

    def paper(self) -> PaperData:
        """Read everything.

        Raises
        ------
        PaperError
            With every problem.
        """
        from ackclock.reproduce.check import crosscheck
        from ackclock.reproduce.read.claims import claims
        from ackclock.reproduce.read.unstated import parameters

        self.look_around()
        about = self.document("paper.toml", AboutPaper)
        figures = self.document("figures.toml", FiguresFile)
        unstated = self.document("unstated.toml", UnstatedFile)
        expected = self._read_expected()
        studies = self.studies()
        lists = self.document("claims.toml", ClaimsFile)
        margins = self._read_list("margin", Margin, lists)
        paper = PaperData(
            name=self.folder.name,
            folder=self.folder,
            about=about,
            studies=studies,
            expected=expected,
            figures=self.figures(figures),
            claims=claims(self, expected, margins),
            parameters=parameters(self, unstated),
            readings=self._read_list("reading", PaperReading, lists),
            margins=margins,
        )
        # References are looked at even where other entries are wrong: all is reported together.
        self.problems += crosscheck.problems(paper)
        if self.problems:
            raise PaperError(list(dict.fromkeys(self.problems)))
        return paper

    def document(self, name: str, form: type, *, needed: bool = True) -> Any:
        """Read a TOML file and check its form.

        Parameters
        ----------
        name
            In the folder.
        form
            The class of its tables.
        needed
            Whether it must be there.

        Returns
        -------
        dict
            Only what has the right form; the rest is reported.
        """
        from ackclock.catalogue.form import parameter_problems

        file = self.folder / name
        if not file.exists():
            if needed:
                self.report(file, "", f"there is no such file; every {self.KIND} has one")
            return {}
        data = self._toml(file)
        if data is None:
            return {}
        wrong = [*self._verdicts(data), *parameter_problems(schema_of(form), data)]
        for problem in wrong:
            self.report(file, _by_id(problem.path, data), problem.message)
        data = _without(data, [problem.path for problem in wrong])
        if name == views.FILE:
            return data

        def report(path: str, message: str) -> None:
            self.report(file, _by_id(path, data), message)

        return views.insert_queries(data, self._views, report)

    def _toml(self, file: Path) -> dict[str, Any] | None:
        """Read a TOML file; None if it cannot be read, which is reported."""
        try:
            return parse_document(read_text(file))
        except OSError as error:
            self.report(file, "", f"cannot be read: {error.strerror}")
        except ForeignFileError as error:
            self.report(file, "", error.reason)
        except ScenarioError as error:
            for problem in error.problems:
                self.report(file, problem.path, problem.message)
        return None

    @staticmethod
    def _verdicts(data: Any) -> list[Problem]:
        message = "verdicts are computed from measurements, never written; leave it out"
        return [
            Problem(f"{kind}[{i}].verdict", message)
            for kind in ("claim", "claims_from")
            for i, entry in enumerate(_dicts(data.get(kind)))
            if "verdict" in entry
        ]

    def look_around(self) -> None:
        """Report files that do not belong there, and read the views that queries begin with."""
        self._unknown_files()
        named = self.document(views.FILE, ViewsFile, needed=False).get("view", {})
        self._views = views.join_views(
            named, lambda path, message: self.report(self.folder / views.FILE, path, message)
        )

    def _unknown_files(self) -> None:
        try:
            check_folder(self.folder)
        except ForeignFileError as error:
            # Before any of it is read.
            raise PaperError([Problem("", error.reason, str(error.path))]) from None
        for path in sorted(self.folder.iterdir()):
            expected_names = self.FOLDERS if path.is_dir() else self.TOP
            if path.name not in expected_names and not path.name.startswith((".", "__")):
                message = f"is not part of a {self.KIND}; {suggestion(path.name, expected_names)}"
                self.report(path, "", message)

    def _list_files(self, kind: str, ending: str) -> Iterable[Path]:
        for file in sorted((self.folder / kind).glob("*")):
            if file.suffix != ending:
                self.report(file, "", f"is not a {ending} file")
            elif not _NAME.fullmatch(file.stem) or file.stem == "expected":
                message = (
                    f'"{file.stem}" cannot be used in queries; expected lower-case letters,'
                    " digits and _, beginning with a letter"
                )
                self.report(file, "", message)
            else:
                yield file

    def _read_expected(self) -> dict[str, Expected]:
        tables = {}
        for file in self._list_files("expected", ".csv"):
            head = []
            try:
                lines = read_text(file).splitlines()
            except ForeignFileError as error:
                self.report(file, "", error.reason)
                continue
            for line in lines:
                if not line.startswith("#"):
                    break
                head.append(line.lstrip("# ").strip())
            source = " ".join(head)
            if not source:
                message = "has no source of its values; expected a first line # Source: ..."
                self.report(file, "", message)
            tables[file.stem] = Expected(file.stem, file, source.removeprefix("Source: "))
        return tables

    def studies(self) -> dict[str, Study]:
        """Read the sweep files of ``scenarios``."""
        studies = {}
        for file in self._list_files("scenarios", ".toml"):
            document = self._toml(file)
            if document is None:
                continue
            if not self.MAY_NAME_CODE and (named := _code_in(document)):
                message = f'names "{named}"; a {self.KIND} brings no Python code'
                self.report(file, "", message)
            tiers = document.get("tiers", {})
            skipped = {}
            for tier, settings in tiers.items() if isinstance(tiers, dict) else ():
                if tier not in (*TIERS, FIRST):
                    hint = suggestion(tier, (*TIERS, FIRST))
                    self.report(file, f"tiers.{tier}", f'there is no tier "{tier}"; {hint}')
                if isinstance(settings, dict) and "skip" in settings:
                    skipped[tier] = str(settings["skip"])
            if "fast" in skipped and FIRST not in tiers:
                skipped[FIRST] = skipped["fast"]
            studies[file.stem] = Study(file.stem, file, document, skipped)
        return studies

    def figures(self, data: Mapping[str, Any]) -> dict[str, Figure]:
        """Read the entries of ``figures.toml``.

        Parameters
        ----------
        data
            Its content.
        """
        file = self.folder / "figures.toml"
        return {
            entry["id"]: Figure(entry["id"], entry.get("title", ""), file, entry)
            for entry in self.tables(file, "figure", data)
            if "id" in entry
        }

    def tables(self, file: Path, kind: str, data: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Give the tables of a list, and report ids that are there twice.

        Parameters
        ----------
        file, kind
            The file, and its list.
        data
            Its content.
        """
        tables = _dicts(data.get(kind))
        ids = Counter(table["id"] for table in tables if "id" in table)
        for name, count in ids.items():
            if count > 1:
                self.report(file, f"{kind}[{name}].id", "is there more than once")
        return tables

    def _read_list(
        self, kind: str, entry: type[Entry], data: Mapping[str, Any]
    ) -> dict[str, Entry]:
        """Read the entries of a list of ``claims.toml`` by id."""
        tables = self.tables(self.folder / "claims.toml", kind, data)
        entries = {table.get("id"): read_entry(entry, table) for table in tables}
        return {str(name): item for name, item in entries.items() if item is not None}


def _code_in(data: Any) -> str | None:
    """The first class of a Python file that a document names; None if there is none."""
    if isinstance(data, str):
        return data if ".py:" in data else None
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return next((found for item in inner if (found := _code_in(item))), None)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _by_id(path: str, data: Any) -> str:
    """Write ``claim[12].kind`` as ``claim[M-3].kind``, if the entry says its id."""
    match = re.match(r"(\w+)\[(\d+)\]", path)
    if match is None:
        return path
    entry = data[match[1]][int(match[2])]
    name = entry.get("id") if isinstance(entry, dict) else None
    return f"{match[1]}[{name}]{path[match.end() :]}" if isinstance(name, str) else path


def _without(data: Any, wrong: Iterable[str]) -> Any:
    """The document without values of wrong form; lists keep their lengths."""
    from ackclock._util import paths

    for path in wrong:
        if not path:
            return {}
        holder, steps = data, paths.split(path)
        for step in steps[:-1]:
            holder = holder[step] if step is not None and not isinstance(holder, str) else {}
        if isinstance(holder, dict):
            holder.pop(steps[-1], None)
        elif isinstance(holder, list) and isinstance(steps[-1], int):
            holder[steps[-1]] = None
    return data
