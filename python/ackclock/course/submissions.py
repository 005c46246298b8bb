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


def find_submissions(path: Path, code_name: str | None) -> list[Submission]:
    """Find the files of all students, in the order of their names.

    Parameters
    ----------
    path
        A folder with a folder for each student, or with ``NAME.toml`` and ``NAME.py``; or one
        student's folder or file.
    code_name
        Name of the file with code in a student's folder; None: the sheet has no code.

    Raises
    ------
    AckclockError
        There is nothing.
    """
    if not path.exists():
        raise AckclockError(f"{path}: there is no such file or folder")
    if path.is_file():
        submissions = [_of_files(path.stem, [path])]
    elif (path / "answers.toml").is_file() or (code_name and (path / code_name).is_file()):
        submissions = [_of_folder(path, code_name)]
    else:
        entries = [entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")]
        submissions = [_of_folder(entry, code_name) for entry in entries if entry.is_dir()]
        files: dict[str, list[Path]] = {}
        for entry in entries:
            if entry.is_file() and entry.suffix in (".py", ".toml"):
                files.setdefault(entry.stem, []).append(entry)
        submissions += [_of_files(stem, paths) for stem, paths in files.items()]
    usable = [
        submission
        for submission in submissions
        if submission.answers is not None or submission.code is not None
    ]
    if not usable:
        code = f" or {code_name}" if code_name else ""
        raise AckclockError(
            f"{path}: no submission; expected a folder for each student, with answers.toml{code},"
            " or files NAME.toml and NAME.py"
        )
    return sorted(submissions, key=lambda submission: submission.student)


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
