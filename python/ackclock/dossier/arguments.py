"""Reads what the author of a control argues, requirement by requirement.

RFC 9743 lets some of its criteria be argued and wants others measured. The author's text is a
Markdown file that is kept beside the control: a heading ``## ID`` or ``## SECTION`` for each
requirement, then the text. It decides no verdict; it is printed under what was measured.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ackclock._util.foreign_files import read_text
from ackclock.errors import AckclockError, suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.dossier.profile import Profile

__all__ = ["ArgumentError", "read_arguments"]

MOST_CHARACTERS = 20_000
"""Longest text of one requirement: some eight pages."""

_HEADING = re.compile(r"##\s+(?:section\s+)?(\S+?):?(?:\s.*)?", re.IGNORECASE)
_FENCE = re.compile(r"\s*(```|~~~)")


class ArgumentError(AckclockError):
    """A file of arguments is wrong; every problem has its line."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def read_arguments(path: Path, profile: Profile) -> dict[str, str]:
    """Read the author's texts.

    Parameters
    ----------
    path
        The Markdown file. What comes before the first ``##`` is not read: a title, notes.
    profile
        Whose requirements the headings name, by id, or by section where it has only one.

    Returns
    -------
    dict of str
        Text by id of a requirement, without its heading.

    Raises
    ------
    ArgumentError
        A heading names no requirement, several, or one twice; a text is empty or too long; there
        is no heading.
    ForeignFileError
        It is not a regular file of UTF-8 text.
    OSError
        It cannot be read.
    """
    problems: list[str] = []
    texts: dict[str, str] = {}
    for line, name, text in _sections(read_text(path, links=True)):
        where = f"{path}, line {line}"
        try:
            requirement = _find_requirement(name, profile)
        except AckclockError as error:
            problems.append(f"{where}: {error}")
            continue
        if requirement in texts:
            problems.append(f"{where}: {requirement} is argued twice; expected one heading of it")
        elif not text:
            problems.append(f"{where}: {requirement} has no text; expected what the author argues")
        elif len(text) > MOST_CHARACTERS:
            problems.append(
                f"{where}: {requirement} has {len(text):,} characters; expected at most"
                f" {MOST_CHARACTERS:,}"
            )
        else:
            texts[requirement] = text
    if not texts and not problems:
        example = next(iter(profile.requirements), "ID")
        problems.append(f'{path}: argues nothing; expected headings as "## {example}", each a text')
    if problems:
        raise ArgumentError(problems)
    return texts


def _sections(text: str) -> list[tuple[int, str, str]]:
    """Split at headings of the second level: line, first word of the heading, text."""
    sections: list[tuple[int, str, list[str]]] = []
    is_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        is_code ^= bool(_FENCE.match(line))
        heading = None if is_code else _HEADING.fullmatch(line)
        if heading:
            sections.append((number, heading[1], []))
        elif sections:
            sections[-1][2].append(line)
    return [(number, name, "\n".join(lines).strip()) for number, name, lines in sections]


def _find_requirement(name: str, profile: Profile) -> str:
    """Find the id that a heading means."""
    if name in profile.requirements:
        return name
    sections = {requirement: entry.section for requirement, entry in profile.requirements.items()}
    ids = [requirement for requirement, section in sections.items() if section == name]
    if len(ids) == 1:
        return ids[0]
    if ids:
        message = f"section {name} has {len(ids)} requirements; expected {', '.join(ids)}"
        raise AckclockError(message)
    hint = suggestion(name, [*sections, *sections.values()])
    raise AckclockError(f'{profile.name} has no requirement "{name}"; {hint}')
