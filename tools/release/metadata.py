"""Copies the version and the project's addresses from Cargo.toml to where else they are written.

``python tools/release/metadata.py`` writes the copies; with ``--check`` it only reports which are
not current. ``--version``, ``--repository`` and ``--site`` change Cargo.toml first. ``--date`` cuts
the release: CHANGELOG's part "Unreleased" becomes that of the version, CITATION.cff gets the date.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "LIBRARIES",
    "PLACEHOLDER",
    "Copy",
    "Project",
    "copies",
    "cut_changelog",
    "main",
    "read_project",
]

ROOT = Path(__file__).resolve().parents[2]

LIBRARIES = (
    "ackclock-base",
    "ackclock-endpoint",
    "ackclock-scenario",
    "ackclock-controls",
    "ackclock-queues",
    "ackclock-fluid",
    "ackclock-transport",
    "ackclock-packet",
    "ackclock-core",
    "ackclock-emulate",
)
"""The crates that are published, each after those that it needs."""

PLACEHOLDER = "https://example.org/"
"""How addresses begin that nobody has set: a domain reserved for examples (RFC 2606)."""

UNRELEASED = "## [Unreleased]"


class Project(NamedTuple):
    """What Cargo.toml says of the project."""

    version: str
    repository: str
    site: str

    @property
    def is_addressed(self) -> bool:
        """Whether its addresses were set."""
        return not any(address.startswith(PLACEHOLDER) for address in self[1:])


class Copy(NamedTuple):
    """A value that a file repeats: what is around it, as a pattern of two groups, and the value."""

    file: str
    pattern: str
    value: str

    def written(self, text: str) -> str:
        """The file's text with the value.

        Parameters
        ----------
        text
            The file as it is.

        Raises
        ------
        ValueError
            The place is not in the file.
        """
        pattern = re.compile(self.pattern, re.MULTILINE)
        if not pattern.search(text):
            message = f"{self.file}: there is no place like {self.pattern}"
            raise ValueError(message)
        return pattern.sub(lambda match: f"{match[1]}{self.value}{match[2]}", text)


def read_project(text: str) -> Project:
    """Read the version and the addresses.

    Parameters
    ----------
    text
        Cargo.toml of the workspace.
    """
    package = tomllib.loads(text)["workspace"]["package"]
    return Project(package["version"], package["repository"], package["homepage"])


def copies(project: Project) -> list[Copy]:
    """List every place that repeats the version or an address.

    Parameters
    ----------
    project
        The values.
    """
    version, repository, site = project
    addresses = {
        "Homepage": site,
        "Documentation": f"{site}/{version}/",
        "Source": repository,
        "Issues": f"{repository}/issues",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
    }
    here = [
        Copy("Cargo.toml", rf'^({crate} = .*version = ")[^"]*(")', version) for crate in LIBRARIES
    ]
    here += [
        Copy("pyproject.toml", r'^(version = ")[^"]*(")', version),
        *(
            Copy("pyproject.toml", rf'^({name} = ")[^"]*(")', address)
            for name, address in addresses.items()
        ),
        Copy("web/package.json", r'^(  "version": ")[^"]*(")', version),
        Copy("uv.lock", r'^(name = "ackclock"\nversion = ")[^"]*(")', version),
        Copy("CITATION.cff", r"^(version: ).*($)", version),
        Copy("CITATION.cff", r"^(repository-code: ).*($)", repository),
        Copy("CITATION.cff", r"^(url: ).*($)", site),
        # A release is on the indices once the addresses are no placeholders.
        Copy(
            "python/ackclock/errors.py",
            r"^(IS_ON_INDEX = ).*($)",
            str("://example.org/" not in repository),
        ),
        Copy(".github/ISSUE_TEMPLATE/config.yml", r"^(    url: ).*($)", f"{site}/{version}/"),
    ]
    here += [
        Copy(f"crates/ackclock-stacks/{file}", r'^(version = ")[^"]*("\nedition)', version)
        for file in ("Cargo.toml", "py/Cargo.toml")
    ]
    here += [
        Copy(f"{folder}/README.md", r"(\[ackclock\]\()[^)]*(\))", site)
        for folder in (*(f"crates/{crate}" for crate in LIBRARIES), "web/npm")
    ]
    return here


def cut_changelog(text: str, version: str, day: str) -> str:
    """Make the part "Unreleased" that of a version, and begin a new one.

    Parameters
    ----------
    text
        CHANGELOG.md.
    version
        The version.
    day
        Its date, YYYY-MM-DD.

    Raises
    ------
    ValueError
        The date is none, there is no such part, or the version has one already.
    """
    date.fromisoformat(day)
    if text.count(UNRELEASED) != 1:
        message = f"CHANGELOG.md: expected one line {UNRELEASED}"
        raise ValueError(message)
    if f"## [{version}]" in text:
        message = f"CHANGELOG.md has a part of {version} already"
        raise ValueError(message)
    text = re.sub(r"(?m)^To be \d.*\n\n?", "", text)
    return text.replace(UNRELEASED, f"{UNRELEASED}\n\n## [{version}] - {day}")


def write_sources(options: argparse.Namespace) -> None:
    """Change Cargo.toml, and cut the release, as the options say.

    Parameters
    ----------
    options
        Those of the command line.

    Raises
    ------
    ValueError
        A release is to be cut whose addresses are placeholders; nothing is written.
    """
    cargo = ROOT / "Cargo.toml"
    text = cargo.read_text("utf-8")
    new = {"version": options.version, "repository": options.repository, "homepage": options.site}
    for key, value in new.items():
        if value is not None:
            place = Copy("Cargo.toml", rf'^({key} = ")[^"]*(")', value.rstrip("/"))
            text = place.written(text)
    if options.date is not None:
        if not read_project(text).is_addressed:
            message = f"{PLACEHOLDER} is no address: make cut REPOSITORY=URL SITE=URL"
            raise ValueError(message)
        changelog, citation = ROOT / "CHANGELOG.md", ROOT / "CITATION.cff"
        log = cut_changelog(changelog.read_text("utf-8"), read_project(text).version, options.date)
        cited = re.sub(r"(?m)^date-released: .*\n", "", citation.read_text("utf-8"))
        cited = re.sub(r"(?m)^(version: .*)$", rf"\1\ndate-released: {options.date}", cited)
        changelog.write_text(log, "utf-8")
        citation.write_text(cited, "utf-8")
    cargo.write_text(text, "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Write the copies, or check them.

    Parameters
    ----------
    arguments
        Left out: those of this process.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--version", help="the new version")
    parser.add_argument("--repository", metavar="URL", help="where the source is")
    parser.add_argument("--site", metavar="URL", help="where `make site` is put")
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="cut the release")
    options = parser.parse_args(arguments)
    try:
        if not options.check:
            write_sources(options)
        project = read_project((ROOT / "Cargo.toml").read_text("utf-8"))
        texts: dict[str, str] = {}
        for copy in copies(project):
            old = texts.get(copy.file) or (ROOT / copy.file).read_text("utf-8")
            texts[copy.file] = copy.written(old)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    stale = [name for name, text in texts.items() if text != (ROOT / name).read_text("utf-8")]
    if options.check and stale:
        names = ", ".join(stale)
        sys.stderr.write(f"not current: {names}; run python tools/release/metadata.py\n")
        return 1
    for name in stale:
        (ROOT / name).write_text(texts[name], "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
