"""Writes ``dist/SHA256SUMS`` of all artefacts and prints their sizes; the end of `make release`."""

from __future__ import annotations

import hashlib
import sys

from release.metadata import ROOT

__all__ = ["main"]

FOLDERS = ("", "npm", "crates", "sbom", "recipes")


def main() -> int:
    """Write the sums, and print a line for each artefact."""
    dist = ROOT / "dist"
    files = [
        file
        for folder in FOLDERS
        for file in sorted((dist / folder).glob("*"))
        if file.is_file() and file.name != "SHA256SUMS"
    ]
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {_name(file)}\n" for file in files]
    (dist / "SHA256SUMS").write_text("".join(sums), "utf-8")
    pages = [file for file in (dist / "site").rglob("*") if file.is_file()]
    sizes = {_name(file): file.stat().st_size for file in files}
    sizes[f"site ({len(pages)} files)"] = sum(file.stat().st_size for file in pages)
    for name, size in sizes.items():
        sys.stdout.write(f"{size:>12,}  {name}\n")
    return 0


def _name(file: object) -> str:
    return str(file).removeprefix(f"{ROOT / 'dist'}/")


if __name__ == "__main__":
    sys.exit(main())
