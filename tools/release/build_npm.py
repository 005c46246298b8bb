"""Packs the WebAssembly module of the lab as an npm package into ``dist``; `make npm` runs it.

Needs the module, which ``tools/build_web.py`` builds, and npm. The package's name, description and
types are in ``web/npm``; version and addresses come from Cargo.toml.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from release.metadata import ROOT, read_project

__all__ = ["fill", "main"]

OF_CHECKOUT = ("LICENSE", "web/src/core.js")


def fill(folder: Path, module: bytes) -> None:
    """Put the files of the package into a folder.

    Parameters
    ----------
    folder
        An empty folder.
    module
        The module.
    """
    shutil.copytree(ROOT / "web/npm", folder, dirs_exist_ok=True)
    for name in OF_CHECKOUT:
        shutil.copy2(ROOT / name, folder)
    (folder / "ackclock.wasm").write_bytes(module)
    project = read_project((ROOT / "Cargo.toml").read_text("utf-8"))
    package = json.loads((folder / "package.json").read_text("utf-8"))
    package |= {
        "version": project.version,
        "homepage": project.site,
        "repository": {"type": "git", "url": f"git+{project.repository}.git"},
        "bugs": f"{project.repository}/issues",
    }
    (folder / "package.json").write_text(json.dumps(package, indent=2) + "\n", "utf-8")


def main() -> int:
    """Pack the package."""
    from build_web import build_core, missing

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder of the archive")
    out = parser.parse_args().out
    if lacking := missing():
        sys.exit("the package cannot be built; missing are\n" + "\n".join(lacking))
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder, build_core())
        command = ["npm", "pack", str(folder), "--pack-destination", str(out.resolve())]
        done = subprocess.run([*command, "--loglevel=error"], check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
