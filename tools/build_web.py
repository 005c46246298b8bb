#!/usr/bin/env python3
"""Builds the lab: one HTML file that holds the core as WebAssembly, the program and the lessons.

Needs cargo with the target wasm32-unknown-unknown, Node with npm, and pyarrow for its zstd. A
compiler without that target, as that of Debian's packages rustc-web, cargo-web, rust-web-src and
lld-22, compiles the standard library first. Writes ``python/ackclock/lab/lab.html``, which
``ackclock lab`` serves and which opens from disk.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import html
import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
TARGET = "wasm32-unknown-unknown"
PAGE = ROOT / "python/ackclock/lab/lab.html"
# The bound on the page, as a file.
MOST_BYTES = 2_000_000
# 91 letters, none of which ends an element or an attribute; two hold 13 bits, where base64 has 12.
ALPHABET = "".join(chr(code) for code in range(33, 127) if chr(code) not in "<&'")
BITS = 13


class Compiler(NamedTuple):
    """A folder with cargo and rustc, and whether the standard library is compiled first."""

    folder: Path
    is_from_source: bool


def find_compiler() -> Compiler | None:
    """The first compiler on the path that has the target, else the first that can compile it."""
    from_source = None
    for folder in dict.fromkeys(os.environ["PATH"].split(os.pathsep)):
        rustc = Path(folder) / "rustc"
        if not (rustc.is_file() and (Path(folder) / "cargo").is_file()):
            continue
        if (place := printed_folder(rustc, "target-libdir", "--target", TARGET)).is_dir():
            return Compiler(Path(folder), is_from_source=False)
        source = place.parents[1] / "src/rust/library/std/Cargo.toml"
        if from_source is None and source.is_file():
            from_source = Compiler(Path(folder), is_from_source=True)
    return from_source


def printed_folder(rustc: Path, what: str, *options: str) -> Path:
    """A folder that a compiler names."""
    show = [str(rustc), "--print", what, *options]
    return Path(subprocess.run(show, capture_output=True, text=True, check=False).stdout.strip())


def build_core() -> bytes:
    """The core as a WebAssembly module."""
    compiler = find_compiler()
    assert compiler is not None
    # The core draws random numbers from its seeds only: no source of entropy is linked.
    flags = '--cfg getrandom_backend="unsupported"'
    environment = {**os.environ, "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS": flags}
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    if compiler.is_from_source:
        folder /= "web-source"
        environment |= {"RUSTC": str(compiler.folder / "rustc"), "RUSTC_BOOTSTRAP": "1"}
        environment |= {"CARGO_UNSTABLE_BUILD_STD": "std,panic_abort"}
    environment |= {"CARGO_TARGET_DIR": str(folder)}
    command = [str(compiler.folder / "cargo"), "build", "--locked", "--package", "ackclock-web"]
    run([*command, "--target", TARGET, "--profile", "web"], environment)
    return (folder / TARGET / "web" / "ackclock_web.wasm").read_bytes()


def pack(core: bytes) -> bytes:
    """The module by zstd, which sees repeats megabytes apart: two thirds of what gzip needs."""
    import pyarrow as pa

    packed: bytes = pa.Codec("zstd", compression_level=22).compress(core, asbytes=True)
    return packed


def to_letters(data: bytes) -> str:
    """Write bytes as letters; up to five bits at the end are one letter."""
    pairs = [a + b for a in ALPHABET for b in ALPHABET]
    letters, bits, count = [], 0, 0
    for byte in data:
        bits |= byte << count
        count += 8
        if count >= BITS:
            letters.append(pairs[bits & 8191])
            bits >>= BITS
            count -= BITS
    if count > BITS - 8:
        letters.append(pairs[bits])
    elif count:
        # A pair would hold a byte more than there is.
        letters.append(ALPHABET[bits])
    return "".join(letters)


def from_letters(text: str) -> bytes:
    """Read what `to_letters` wrote."""
    value = {letter: index for index, letter in enumerate(ALPHABET)}
    data, bits, count = bytearray(), 0, 0
    even = len(text) // 2 * 2
    for index in range(0, even, 2):
        bits |= (value[text[index]] * len(ALPHABET) + value[text[index + 1]]) << count
        count += BITS
        while count >= 8:
            data.append(bits & 255)
            bits >>= 8
            count -= 8
    if even < len(text):
        data.append(bits | value[text[-1]] << count)
    return bytes(data)


def bundle(entry: str, kind: str) -> str:
    """A program with its modules as one classic script, or styles as one sheet."""
    command = [str(WEB / "node_modules/.bin/esbuild"), str(WEB / "src" / entry), "--bundle"]
    command += ["--minify", "--log-level=warning", "--charset=utf8"]
    command += ["--format=iife", "--target=es2022"] if kind == "js" else []
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def lessons() -> str:
    """The lessons with their scenarios, as JSON."""
    folder = WEB / "lessons"
    listed = tomllib.loads((folder / "lessons.toml").read_text("utf-8"))["lessons"]
    for lesson in listed:
        file = folder / lesson.pop("file")
        lesson |= {"name": file.stem, "text": file.read_text("utf-8")}
    return json.dumps(listed, ensure_ascii=False)


def sheets() -> str:
    """The lab sheets that need no code, without their keys, as JSON."""
    entries = []
    for file in sorted((ROOT / "python/ackclock/course/sheets").glob("*/sheet.toml")):
        sheet = tomllib.loads(file.read_text("utf-8"))
        if "task" in sheet:
            continue
        runs = [
            {
                "id": run["id"],
                "text": (file.parent / run["file"]).read_text("utf-8"),
                "set": run.get("set", {}),
            }
            for run in sheet["runs"]
        ]
        questions = [
            {
                "id": question["id"],
                "text": question["text"],
                "points": question["points"],
                "answers": question.get("answers", []),
                "unit": question.get("unit"),
                "runs": question["runs"],
                "figure": question.get("figure", {}).get("kind"),
                "flow": question.get("figure", {}).get("flow"),
            }
            for question in sheet["questions"]
        ]
        about = " ".join(sheet["about"].split())
        entry = {"name": file.parent.name, "title": sheet["title"], "about": about}
        entries.append({**entry, "questions": questions, "runs": runs})
    return json.dumps(entries, ensure_ascii=False)


def run(command: list[str], environment: dict[str, str] | None = None) -> None:
    """Runs a command; its failure ends this program."""
    if subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode:
        sys.exit(f"failed: {' '.join(command)}")


def missing() -> list[str]:
    """What has to be installed first."""
    absent = []
    if not shutil.which("cargo"):
        absent.append("cargo: install Rust by rustup")
    elif find_compiler() is None:
        absent.append(
            f"the target {TARGET}: rustup target add {TARGET}"
            " (Debian: rustc-web, cargo-web, rust-web-src, lld-22)"
        )
    if not shutil.which("npm"):
        absent.append("npm: install Node 20 or later (Debian: nodejs, npm)")
    return absent


def assemble(core: bytes) -> str:
    """The page."""
    page = bundle("page.js", "js")
    digest = base64.b64encode(hashlib.sha256(page.encode()).digest()).decode()
    # Nothing is loaded and nothing sent; the one script is named by its hash, the worker is made of
    # text in the page.
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}' 'wasm-unsafe-eval' blob:; "
        "worker-src blob:; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'"
    )
    uplot = (WEB / "node_modules/uplot/dist/uPlot.min.css").read_text("utf-8")
    parts = {
        "@POLICY@": html.escape(policy, quote=True),
        "@STYLE@": uplot + bundle("page.css", "css"),
        "@LESSONS@": data(lessons()),
        "@SHEETS@": data(sheets()),
        "@WORKER@": data(json.dumps(bundle("worker.js", "js"))),
        "@CORE@": to_letters(pack(core)),
        "@PAGE@": page,
    }
    text = (WEB / "index.html").read_text("utf-8")
    before = text
    pieces: list[str] = []
    for mark, part in parts.items():
        left, before = before.split(mark)
        pieces += [left, part]
    return "".join([*pieces, before])


def data(text: str) -> str:
    """JSON that cannot end the element that holds it."""
    return text.replace("<", "\\u003c")


def main() -> None:
    """Builds and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is missing")
    is_check = parser.parse_args().check
    if absent := missing():
        lines = "\n".join(f"  {name}" for name in absent)
        sys.exit(f"the lab cannot be built; missing are\n{lines}")
    if is_check:
        return
    if not (WEB / "node_modules/.bin/esbuild").exists():
        run(["npm", "ci", "--prefix", str(WEB), "--no-fund", "--no-audit", "--loglevel=error"])
    page = assemble(build_core())
    size, packed = len(page.encode()), len(gzip.compress(page.encode(), 6))
    if size > MOST_BYTES:
        sys.exit(f"the page has {size:,} bytes; expected at most {MOST_BYTES:,}")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page, "utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {size:,} bytes, {packed:,} compressed")


if __name__ == "__main__":
    main()
