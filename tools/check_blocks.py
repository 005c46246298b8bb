"""Runs the code blocks of Markdown pages and compares what they print with what the page says.

In a page, top to bottom, in one empty folder:

- a fenced block with a `:caption:` is a file of that name;
- a `python` block is run; blocks of a page share their variables, and a `text` block right after
  one is its output;
- in a `console` block, lines that begin with `$ ` are run by the shell, the lines after each are
  its output.

CPU times are not compared. `python tools/check_blocks.py PATHS` checks pages and folders of
pages; with `--update` it writes what was printed into the pages, and puts SVG files that the
commands wrote and the page shows into docs/images.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"

FENCE = re.compile(
    r"^```(?P<kind>\{code-block\} \w+|\w+)\n(?P<options>(?::[^\n]*\n)*)(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
PROGRESS = re.compile(r", (about )?(\d+ days? )?[\d:]+( s)? left$")
CPU = re.compile(r"(?:[\d.]+ [mµn]?s|[\d:]+) of one core")


class Block(NamedTuple):
    """A fenced block: its language, its caption, its text, and where the text is in the page."""

    kind: str
    caption: str | None
    body: str
    start: int
    end: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    for match in FENCE.finditer(page):
        caption = re.search(r"^:caption: (.+)$", match["options"], re.MULTILINE)
        kind = match["kind"].removeprefix("{code-block} ")
        name = caption[1].strip() if caption else None
        found.append(Block(kind, name, match["body"], match.start("body"), match.end("body")))
    return found


def same(said: str, printed: str) -> bool:
    """Whether two outputs agree but for CPU times and space at line ends."""
    return _plain(said) == _plain(printed)


def _plain(text: str) -> list[str]:
    return [CPU.sub("? of one core", line).rstrip() for line in text.strip("\n").splitlines()]


def _shell(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    # How far long work was is of its moment, and no part of the page.
    kept = [line for line in done.stderr.splitlines(keepends=True) if not PROGRESS.search(line)]
    return done.stdout + "".join(kept)


def _console(body: str, folder: Path) -> str:
    lines = []
    for line in body.splitlines():
        if line.startswith("$ "):
            lines.append(line + "\n")
            lines.append(_shell(line[2:], folder))
    return "".join(lines)


def _python(body: str, folder: Path, names: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out):
        exec(compile(body, "<page>", "exec"), names)
    return out.getvalue()


def checked(path: Path) -> tuple[str, list[str]]:
    """The page with the outputs that its blocks gave now, and how it differs from what it was."""
    page = path.read_text(encoding="utf-8")
    fixed = page
    differences: list[str] = []
    shift = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "examples").symlink_to(ROOT / "examples")
        names: dict[str, object] = {"__name__": "page"}
        printed: str | None = None
        for block in blocks(page):
            output = None
            if block.caption is not None:
                (folder / block.caption).write_text(block.body, encoding="utf-8")
            elif block.kind == "python":
                printed = _python(block.body, folder, names)
                continue
            elif block.kind == "text" and printed is not None:
                output = printed
            elif block.kind == "console":
                output = _console(block.body, folder)
            printed = None
            if output is not None and not same(block.body, output):
                text = "\n".join(line.rstrip() for line in output.strip("\n").splitlines()) + "\n"
                differences += difflib.unified_diff(
                    block.body.splitlines(), text.splitlines(), "said", "printed", lineterm=""
                )
                fixed = fixed[: block.start + shift] + text + fixed[block.end + shift :]
                shift += len(text) - (block.end - block.start)
        if "--update" in sys.argv:
            for image in folder.glob("*.svg"):
                if f"images/{image.name}" in page:
                    shutil.copyfile(image, IMAGES / image.name)
    return fixed, differences


def pages(given: list[str]) -> list[Path]:
    """Pages named, and those of folders named; what is generated is not read."""
    found: list[Path] = []
    for path in map(Path, given):
        found += sorted(path.rglob("*.md")) if path.is_dir() else [path]
    return [path for path in found if not {"generated", "_build"} & set(path.parts)]


def main() -> int:
    """Check or update the pages of the command line; 1 if one was wrong."""
    update = "--update" in sys.argv
    wrong = 0
    for path in pages([name for name in sys.argv[1:] if name != "--update"]):
        try:
            fixed, differences = checked(path)
        except (
            Exception
        ) as error:  # a page's program failed: report it and continue with the next page
            sys.stdout.write(f"{path}: a block failed: {type(error).__name__}: {error}\n")
            wrong += 1
            continue
        if differences:
            sys.stdout.write(f"{path}: {'updated' if update else 'prints something else'}\n")
            sys.stdout.write("\n".join(differences) + "\n")
            if update:
                path.write_text(fixed, encoding="utf-8")
            else:
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
