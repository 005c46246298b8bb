"""Packs a reproduction with all that is needed to make it again, byte for byte."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import platform
import re
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.json_text import json_text

if TYPE_CHECKING:
    from ackclock.reproduce.paper import PaperData
    from ackclock.reproduce.run.reproduction import Reproduction
    from ackclock.reproduce.run.studies import RunOptions

__all__ = ["pack"]

RERUN = """\
#!/bin/sh
# Makes the results again in rerun/ and compares them byte for byte with results/.
# ACKCLOCK names the command if it is not "ackclock"; requirements.txt names the versions.
set -eu
cd "$(dirname "$0")"
ackclock=${{ACKCLOCK:-ackclock}}
found=$($ackclock version)
if [ "$found" != "{version}" ]; then
  echo "ackclock $found is here, the results are of {version}: they may differ" >&2
fi
rm -rf rerun
$ackclock reproduce paper/{name} --tier {tier} --out rerun --store rerun-store --quiet
if command -v sha256sum >/dev/null; then sum="sha256sum"; else sum="shasum -a 256"; fi
(cd rerun && $sum --check --quiet ../SHA256SUMS)
echo "every file of results/ was made again, byte for byte"
"""

README = """\
{title}

A reproduction by ackclock {version}, tier {tier}: {counts}.

paper/            scenarios, claims, figures, unstated parameters: the input, all of it
results/          report.html, claims.json, figures with their data
seeds.csv         every run: study, its place in the grid, replicate, seed
environment.json  versions of everything that was used
requirements.txt  the same for pip
rerun.sh          makes results/ again and compares
SHA256SUMS        of results/
"""


def pack(paper: PaperData, file: Path, *, tier: str, options: RunOptions) -> Path:
    """Reproduce a paper and pack everything into one archive.

    The same inputs give the same archive, bit for bit.

    Parameters
    ----------
    paper
        The paper.
    file
        The archive, ending in ``.tar.gz``.
    tier
        ``fast`` or ``full``.
    options
        Where and how studies run.

    Returns
    -------
    Path
        The archive; it appears when it is whole.

    Raises
    ------
    AckclockError
        The name of the archive is wrong, or a study is.
    """
    from ackclock import _core
    from ackclock.errors import AckclockError
    from ackclock.reproduce.run.reproduction import reproduce
    from ackclock.reproduce.run.standing import STANDINGS
    from ackclock.reproduce.write.folder import write

    if not file.name.endswith(".tar.gz") or not file.parent.is_dir():
        message = f"{file} is not a name for an archive; expected FILE.tar.gz in a folder that is"
        raise AckclockError(message)
    reproduction = reproduce(paper, tier=tier, options=options)
    name = file.name.removesuffix(".tar.gz")
    with tempfile.TemporaryDirectory(prefix="ackclock-") as scratch:
        folder = Path(scratch) / name
        folder.mkdir()
        ignored = shutil.ignore_patterns(".*", "__pycache__")
        shutil.copytree(paper.folder, folder / "paper" / paper.name, ignore=ignored)
        write(reproduction, folder / "results")
        _seeds(reproduction, folder / "seeds.csv")
        versions = _versions()
        environment = {
            "python": platform.python_version(),
            "system": platform.system(),
            "machine": platform.machine(),
            "packages": versions,
        }
        text = json_text(environment, indent=2) + "\n"
        (folder / "environment.json").write_text(text, encoding="utf-8")
        lock = "".join(f"{package}=={version}\n" for package, version in versions.items())
        (folder / "requirements.txt").write_text(lock, encoding="utf-8")
        (folder / "SHA256SUMS").write_text(_sums(folder / "results"), encoding="utf-8")
        counted = [
            f"{many} {name}" for name in STANDINGS if (many := reproduction.count_standing(name))
        ]
        fields = {
            "title": paper.about["title"],
            "name": paper.name,
            "tier": tier,
            "version": _core.version(),
            "counts": ", ".join(counted),
        }
        (folder / "README").write_text(README.format(**fields), encoding="utf-8")
        (folder / "rerun.sh").write_text(RERUN.format(**fields), encoding="utf-8")
        beside = file.with_name(f".{file.name}.part")
        try:
            beside.write_bytes(_archive(folder))
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)
    return file


def _seeds(done: Reproduction, path: Path) -> None:
    rows: list[dict[str, Any]] = []
    for name, study in done.studies.items():
        rows += [{"study": name, **row} for row in study.tables["runs"].to_pylist()]
    names = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _versions() -> dict[str, str]:
    """Versions of ackclock and of what it needs, and what those need."""
    from importlib.metadata import PackageNotFoundError, requires, version

    from ackclock import _core

    versions = {"ackclock": _core.version()}
    waiting = ["ackclock"]
    while waiting:
        try:
            needs = requires(waiting.pop()) or []
        except PackageNotFoundError:
            continue
        for need in needs:
            name = re.split(r"[^A-Za-z0-9._-]", need, maxsplit=1)[0]
            if "extra ==" in need or name in versions:
                continue
            try:
                versions[name] = version(name)
            except PackageNotFoundError:
                continue
            waiting.append(name)
    return dict(sorted(versions.items()))


def _sums(folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in files
    )


def _archive(folder: Path) -> bytes:
    """The folder as tar.gz without times, owners or an order of the disk's own."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for path in sorted(folder.rglob("*")):
            info = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
            if path.is_dir():
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(info)
                continue
            content = path.read_bytes()
            info.size = len(content)
            info.mode = 0o755 if path.suffix == ".sh" else 0o644
            tar.addfile(info, io.BytesIO(content))
    return buffer.getvalue()
