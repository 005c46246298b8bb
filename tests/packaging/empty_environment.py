"""Environments that know nothing of this checkout, and what `make release` built for them."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]


def built(pattern: str) -> list[Path]:
    """What is in `dist`, the newest last."""
    return sorted(DIST.glob(pattern), key=lambda file: file.stat().st_mtime)


WHEELS = built("ackclock-*.whl")
ARCHIVES = built("ackclock-*.tar.gz")


UV = str(Path(sys.executable).with_name("uv"))


class Environment:
    """A virtual environment that knows nothing of this checkout."""

    def __init__(self, folder: Path, *packages: str) -> None:
        self.folder = folder
        uv = UV
        python = folder / "bin/python"
        run(uv, "venv", "--quiet", "--python", sys.executable, str(folder))
        # As pip does, with the bytecode.
        run(
            uv,
            "pip",
            "install",
            "--quiet",
            "--compile-bytecode",
            "--python",
            str(python),
            *packages,
        )

    def ackclock(self, *arguments: str, cwd: Path, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [str(self.folder / "bin/ackclock"), *arguments],
            cwd=cwd,
            env=clean(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    def size(self) -> int:
        """Bytes of the installed files."""
        files = (self.folder / "lib").rglob("*")
        return sum(
            file.stat().st_size for file in files if file.is_file() and not file.is_symlink()
        )


def clean() -> dict[str, str]:
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "ACKCLOCK_DATA")
    return {key: value for key, value in os.environ.items() if key not in hidden}


def run(*command: str, cwd: Path | None = None, **variables: str) -> str:
    environment = clean() | variables
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
