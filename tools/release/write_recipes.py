"""Fills the recipe for conda and the formula for Homebrew; `make recipes` runs it.

Both are in ``packaging`` and build from the source archive: its address and SHA-256 are put in, and
the results are in ``dist/recipes``. ``--address`` names where the archive can be downloaded.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

from release.metadata import ROOT, read_project

__all__ = ["fill", "main"]

RECIPES = {
    "packaging/conda/recipe.yaml": "recipe.yaml",
    "packaging/homebrew/ackclock.rb": "ackclock.rb",
}


def fill(text: str, values: dict[str, str]) -> str:
    """Put values in the place of their marks.

    Parameters
    ----------
    text
        With marks such as ``@VERSION@``.
    values
        By mark.

    Raises
    ------
    ValueError
        A mark is not in the text.
    """
    for mark, value in values.items():
        if f"@{mark}@" not in text:
            message = f"there is no @{mark}@"
            raise ValueError(message)
        text = text.replace(f"@{mark}@", value)
    return text


def main() -> int:
    """Fill and write both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist/recipes", help="their folder")
    parser.add_argument("--address", help="of the archive; left out: the file in dist")
    options = parser.parse_args()
    project = read_project((ROOT / "Cargo.toml").read_text("utf-8"))
    archive = ROOT / f"dist/ackclock-{project.version}.tar.gz"
    if not archive.is_file():
        sys.exit("dist has no source archive: make wheels")
    values = {
        "VERSION": project.version,
        "ADDRESS": options.address or archive.as_uri(),
        "SHA256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "SITE": project.site,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    for source, name in RECIPES.items():
        text = fill((ROOT / source).read_text("utf-8"), values)
        (options.out / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
