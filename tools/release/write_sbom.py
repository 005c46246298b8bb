"""Writes what the release is made of, as CycloneDX, into ``dist/sbom``; `make sbom` runs it.

- ``rust.cyclonedx.json``: the crates that are compiled into the wheel, as maturin lists them in it.
- ``python.cyclonedx.json``: dependencies and extras as uv.lock has them, written by uv.
- ``web.cyclonedx.json``: what is in the lab's page besides, written by npm.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from pathlib import Path

from release.metadata import ROOT

__all__ = ["main", "of_wheel"]

NOT_FOR_USERS = ("dev", "docs", "web")
"""Extras of those who work on the project."""


def of_wheel(wheel: Path) -> bytes:
    """Read the list of crates that maturin put into a wheel.

    Parameters
    ----------
    wheel
        The wheel.

    Raises
    ------
    ValueError
        It has none, or several.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/sboms/ackclock-py" in name]
        if len(names) != 1:
            message = f"{wheel.name}: expected one list of crates, found {len(names)}"
            raise ValueError(message)
        # Of the folder that it was built in, only what is within it says anything.
        return archive.read(names[0]).replace(ROOT.as_uri().encode(), b"file:///ackclock")


def _printed(*command: str, cwd: Path = ROOT) -> bytes:
    return subprocess.run(command, cwd=cwd, capture_output=True, check=True).stdout


def main() -> int:
    """Write the three lists."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist/sbom", help="folder of the lists")
    out = parser.parse_args().out
    wheels = sorted((ROOT / "dist").glob("ackclock-*.whl"), key=lambda file: file.stat().st_mtime)
    if not wheels:
        sys.exit("dist has no wheel: make wheels")
    uv = str(Path(sys.executable).with_name("uv"))
    left_out = [f"--no-extra={extra}" for extra in NOT_FOR_USERS]
    export = ["export", "--quiet", "--frozen", "--no-dev", "--format=cyclonedx1.5", "--all-extras"]
    lists = {
        "rust": of_wheel(wheels[-1]),
        "python": _printed(uv, *export, *left_out, "--preview-features=sbom-export"),
        "web": _printed("npm", "sbom", "--sbom-format=cyclonedx", "--omit=dev", cwd=ROOT / "web"),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, text in lists.items():
        count = len(json.loads(text)["components"])
        (out / f"{name}.cyclonedx.json").write_bytes(text)
        sys.stdout.write(f"{name}.cyclonedx.json: {count} components\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
