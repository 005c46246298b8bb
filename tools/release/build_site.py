"""Puts the documentation and the lab into one folder for any static host; `make site` runs it.

Needs ``docs/_build/html`` (`make docs`) and the lab's page (`make web`). Writes::

    index.html        leads to the newest version
    versions.json     the versions, newest first
    VERSION/          the documentation
    VERSION/lab/      the lab

Folders of other versions that are in the output already stay, so that a host's folder can be
continued. All links are relative.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import sys
from pathlib import Path

from release.metadata import ROOT, read_project

__all__ = ["main", "put_together", "versions_in"]

_FRONT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>ackclock</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<link rel="canonical" href="{newest}/index.html">
<h1>ackclock</h1>
<p>A laboratory for congestion control. Documentation by version:</p>
<ul>
{items}
</ul>
</html>
"""


def versions_in(folder: Path) -> list[str]:
    """List the versions that a site has, newest first.

    Parameters
    ----------
    folder
        The site.
    """
    names = [entry.name for entry in folder.iterdir() if (entry / "lab/index.html").is_file()]
    numbered = [name for name in names if re.fullmatch(r"\d+(\.\d+)*([.-]?[a-z]+\.?\d*)?", name)]
    # A pre-release, as 1.0.0rc1, is before its release.
    return sorted(numbered, key=_order, reverse=True)


def _order(version: str) -> tuple[list[int], bool, str]:
    numbers, sign, rest = re.match(r"([\d.]*\d)([.-]?)(.*)", version).groups()  # type: ignore[union-attr]
    return [int(number) for number in numbers.split(".")], not sign + rest, rest


def put_together(docs: Path, lab: Path, out: Path, version: str) -> None:
    """Write the site.

    Parameters
    ----------
    docs
        The built documentation.
    lab
        The lab's page.
    out
        The site's folder; versions that it has stay.
    version
        Of what is put into it.
    """
    place = out / version
    if place.exists():
        shutil.rmtree(place)
    hidden = shutil.ignore_patterns(".doctrees", ".buildinfo*", "objects.inv.txt")
    shutil.copytree(docs, place, ignore=hidden)
    (place / "lab").mkdir()
    shutil.copyfile(lab, place / "lab/index.html")
    versions = versions_in(out)
    items = "\n".join(
        f'<li><a href="{name}/index.html">{name}</a>, <a href="{name}/lab/index.html">lab</a></li>'
        for name in map(html.escape, versions)
    )
    (out / "index.html").write_text(_FRONT.format(newest=versions[0], items=items), "utf-8")
    (out / "versions.json").write_text(json.dumps(versions) + "\n", "utf-8")
    # GitHub's pages would leave out folders that begin with an underscore.
    (out / ".nojekyll").touch()


def main() -> int:
    """Write the site, and print its size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist/site", help="the site's folder")
    out = parser.parse_args().out
    docs, lab = ROOT / "docs/_build/html", ROOT / "python/ackclock/lab/lab.html"
    for needed, target in ((docs / "index.html", "docs"), (lab, "web")):
        if not needed.is_file():
            sys.exit(f"{needed.relative_to(ROOT)} is missing: make {target}")
    version = read_project((ROOT / "Cargo.toml").read_text("utf-8")).version
    out.mkdir(parents=True, exist_ok=True)
    put_together(docs, lab, out, version)
    files = [file for file in (out / version).rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    sys.stdout.write(f"{out / version}: {len(files)} files, {size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
