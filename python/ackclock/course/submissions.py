"""Finds what students handed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Submission", "find_submissions"]


@dataclass(frozen=True)
class Submission:
    """Files of one student."""

    student: str
    answers: Path | None
    code: Path | None


def find_submissions(place: Path, code_name: str | None) -> list[Submission]:
    """Find the files of all students, in the order of their names.

    Parameters
    ----------
    place
        A folder with a folder for each student, or with ``NAME.toml`` and ``NAME.py``; or one
        student's folder or file.
    code_name
        Name of the file with code in a student's folder; None: the sheet has no code.

    Raises
    ------
    AckclockError
        There is nothing.
    """
    if not place.exists():
        raise AckclockError(f"{place}: there is no such file or folder")
    if place.is_file():
        found = [_of_files(place.stem, [place])]
    elif (place / "answers.toml").is_file() or (code_name and (place / code_name).is_file()):
        found = [_of_folder(place, code_name)]
    else:
        entries = [entry for entry in sorted(place.iterdir()) if not entry.name.startswith(".")]
        found = [_of_folder(entry, code_name) for entry in entries if entry.is_dir()]
        files: dict[str, list[Path]] = {}
        for entry in entries:
            if entry.is_file() and entry.suffix in (".py", ".toml"):
                files.setdefault(entry.stem, []).append(entry)
        found += [_of_files(stem, paths) for stem, paths in files.items()]
    usable = [one for one in found if one.answers is not None or one.code is not None]
    if not usable:
        code = f" or {code_name}" if code_name else ""
        raise AckclockError(
            f"{place}: no submission; expected a folder for each student, with answers.toml{code},"
            " or files NAME.toml and NAME.py"
        )
    return sorted(found, key=lambda one: one.student)


def _of_folder(folder: Path, code_name: str | None) -> Submission:
    answers, code = folder / "answers.toml", folder / (code_name or "\0")
    others = sorted(folder.glob("*.py")) if code_name else []
    if code_name and not code.is_file() and len(others) == 1:
        code = others[0]
    return Submission(
        folder.resolve().name,
        answers if answers.is_file() else None,
        code if code_name and code.is_file() else None,
    )


def _of_files(student: str, files: list[Path]) -> Submission:
    by_suffix = {file.suffix: file for file in files}
    return Submission(student, by_suffix.get(".toml"), by_suffix.get(".py"))
