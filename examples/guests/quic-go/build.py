"""Builds quic-go as a guest: ``build.py OUT``. Needs Go 1.26 and quic-go's modules.

quic-go reads the clock, starts goroutines and draws random numbers. None of its files is changed:
the program runs in a bubble of Go's testing/synctest, where the clock stops until all goroutines
wait, and four lines of Go's runtime are replaced in this build (``go build -overlay``). So the
runtime's random numbers follow the seed, no goroutine is put aside because the wall's clock says
so, and the program knows when the next timer is due.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

DRAW = "\n\tif getg().bubble != nil {\n\t\treturn %s(guestDraw())\n\t}"
CHANGES = {
    "runtime/rand.go": [
        ("globalRand.state.Init(*seed)", "*seed = [32]byte{1}\n\tglobalRand.state.Init(*seed)"),
        ("func rand() uint64 {", "func rand() uint64 {" + DRAW % "uint64"),
        ("func cheaprand() uint32 {", "func cheaprand() uint32 {" + DRAW % "uint32"),
    ],
    "runtime/proc.go": [("forcePreemptNS = 10 * 1000 * 1000", "forcePreemptNS = 1 << 60")],
}
"""Of each file of Go's library what is replaced, and by what."""


def overlay(root: Path, folder: Path) -> dict[str, str]:
    """Write the changed files into a folder and say which file each stands for."""
    replaced = {
        str(root / "src/runtime/virtual.go"): str(HERE / "runtime/virtual.go"),
        str(HERE / "frames.go"): str(HERE.parent / "go/frames.go"),
    }
    for name, changes in CHANGES.items():
        text = (root / "src" / name).read_text("utf-8")
        for old, new in changes:
            if text.count(old) != 1:
                sys.exit(f"{root}/src/{name} is not that of Go 1.26: it has no line {old!r}")
            text = text.replace(old, new)
        changed = folder / Path(name).name
        changed.write_text(text, "utf-8")
        replaced[str(root / "src" / name)] = str(changed)
    return replaced


def build(out: Path) -> None:
    """Build the program."""
    root = Path(subprocess.check_output(["go", "env", "GOROOT"], cwd=HERE, text=True).strip())
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "overlay.json"
        files.write_text(json.dumps({"Replace": overlay(root, Path(folder))}), "utf-8")
        command = ["go", "build", "-trimpath", "-p=1", f"-overlay={files}"]
        command += ["-ldflags=-checklinkname=0 -s -w", "-o", str(out), "."]
        sys.exit(subprocess.run(command, cwd=HERE, check=False).returncode)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("build.py takes one argument: the program that is written")
    build(Path(sys.argv[1]).resolve())
