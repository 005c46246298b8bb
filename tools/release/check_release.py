"""Checks that what is in the checkout can become a release; `make release` runs it first.

1. Version and addresses are the same wherever they are written (`metadata.py`).
2. CHANGELOG.md has a part of this version, or an "Unreleased" part that says "To be VERSION".
3. `docs/releases/VERSION.md` has the text of the release for users, and the documentation lists it.
4. Nothing in the checkout differs from its last commit.

``--publish`` is stricter, for the workflow that uploads: the part of CHANGELOG.md has a date, which
CITATION.cff has too, the commit has the version's tag, and the addresses are no placeholders.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from release import metadata
from release.metadata import ROOT, Project, read_project

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["changelog_faults", "main", "publish_faults"]


def changelog_faults(text: str, version: str) -> Iterator[str]:
    """Say what CHANGELOG.md lacks of a version.

    Parameters
    ----------
    text
        The file.
    version
        The version.
    """
    if f"\n## [{version}] - " in text:
        return
    unreleased = text.partition(f"\n{metadata.UNRELEASED}\n")[2].partition("\n## [")[0]
    if not re.search(rf"(?m)^To be {re.escape(version)}(?!\.?\w)", unreleased):
        yield (
            f"CHANGELOG.md: expected a part [{version}], or a line"
            f' "To be {version}" under {metadata.UNRELEASED}'
        )


def publish_faults(project: Project, changelog: str, citation: str, tags: list[str]) -> list[str]:
    """Say what a version lacks that must not lack it when it is published.

    Parameters
    ----------
    project
        Version and addresses.
    changelog, citation
        CHANGELOG.md and CITATION.cff.
    tags
        Tags of the commit.
    """
    faults = []
    version = project.version
    cut = re.search(rf"(?m)^## \[{re.escape(version)}\] - (\d{{4}}-\d\d-\d\d)$", changelog)
    if cut is None:
        faults.append(f"CHANGELOG.md: [{version}] has no date; make cut DATE=YYYY-MM-DD")
    elif f"date-released: {cut[1]}\n" not in citation:
        faults.append(f"CITATION.cff: date-released is not {cut[1]}, as in CHANGELOG.md")
    if f"v{version}" not in tags:
        faults.append(f"the commit has no tag v{version}")
    if not project.is_addressed:
        faults.append(
            f"Cargo.toml: {project.repository} and {project.site} are placeholders;"
            " make cut REPOSITORY=URL SITE=URL"
        )
    return faults


def _git(*arguments: str) -> list[str]:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def main(arguments: list[str] | None = None) -> int:
    """Check, and print what is wrong.

    Parameters
    ----------
    arguments
        Left out: those of this process.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--publish", action="store_true", help="check what an upload needs too")
    parser.add_argument("--dirty", action="store_true", help="allow changes without a commit")
    options = parser.parse_args(arguments)
    code = metadata.main(["--check"])
    project = read_project((ROOT / "Cargo.toml").read_text("utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    faults = list(changelog_faults(changelog, project.version))
    page = f"docs/releases/{project.version}.md"
    listed = (ROOT / "docs/releases/index.md").read_text("utf-8")
    if not (ROOT / page).is_file() or f"\n{project.version}\n" not in listed:
        faults.append(f"{page} is missing, or docs/releases/index.md does not list it")
    if not options.dirty and (changed := _git("status", "--porcelain")):
        faults.append(f"{len(changed)} files differ from the last commit, as {changed[0].strip()}")
    if options.publish:
        citation = (ROOT / "CITATION.cff").read_text("utf-8")
        tags = _git("tag", "--points-at", "HEAD")
        faults += publish_faults(project, changelog, citation, tags)
    elif not project.is_addressed:
        sys.stdout.write("note: the project's addresses are placeholders (docs/releasing.md)\n")
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return 1 if faults else code


if __name__ == "__main__":
    sys.exit(main())
