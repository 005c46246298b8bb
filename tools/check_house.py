"""Checks the rules that keep the house in order; `make lint` runs it.

1. Files stay small: a warning above 400 lines, an error above 800. Folders hold at most 20 files of
   code.
2. No words that a finished file does not need, no paths of one machine.
3. Every file that a registry names exists and opens with a title, a source and a rule.
4. Folders in `PLAIN` use the vocabulary of CONTRIBUTING (table `WORDS`).
5. Tests have names that no other test has: they are modules without packages, of which Python
   loads one of each name.

That imports go one way is not checked here: the layers of the core are crates, which cannot depend
on each other in a circle, and those of the package are contracts in `pyproject.toml`, which
import-linter checks.

`python tools/check_house.py` prints what is wrong and exits with 1 if anything is.
`python tools/check_house.py --words` counts the words of `WORDS` by folder, in and outside `PLAIN`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
CRATES = ROOT / "crates"

ALGORITHMS = ("ackclock-controls", "ackclock-queues", "ackclock-fluid", "ackclock-transport")
"""The crates with rooms, in whose registries are algorithms written here."""

SOFT_LINES, HARD_LINES = 400, 800
MOST_FILES = 20

UNWANTED = {
    r"\b(TODO|FIXME|XXX|HACK)\b": "finish it, or say in the documentation what is missing",
    r"\bunimplemented!|\btodo!": "finish it",
    r"(?i)\bsimplified\b": "say what is left out, as a deviation",
    r"(?<![\w.])/(?:work|home|root|Users)/\w": "a path of one machine",
}
"""Patterns that no file may contain, and what to do about them."""

WORDS = {
    r"tell|tells|told|telling": "report, state, show; distinguish",
    r"ask|asks|asked|asking": "request, query, require",
    r"calls? up|called up|calling up": "prefetch",
    r"(?:a user|the user|one)'s own|of (?:its|their|my|our) own(?! kind)": "separate",
    r"whoever|whence|thereof|seldom|heeds?|amiss|nought|hearkens?": "a plain word",
    r"speaks?|spoken": "use, name, describe",
    r"wants (?:a|an|the|to)": "expects, needs, must be",
    r"stands?(?! for\b| in for\b|-)": "is, is placed, is written",
    r"is right|are right": "is correct, is valid, OK",
    r"in words of": "in terms of",
}
"""Words that say too little, and what to write in their place; CONTRIBUTING has the reasons."""

PLAIN = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "benchmarks",
    "crates/ackclock-base",
    "crates/ackclock-bench",
    "crates/ackclock-controls",
    "crates/ackclock-core",
    "crates/ackclock-endpoint",
    "crates/ackclock-fluid",
    "crates/ackclock-fuzz",
    "crates/ackclock-packet",
    "crates/ackclock-py",
    "crates/ackclock-queues",
    "crates/ackclock-scenario",
    "crates/ackclock-transport",
    "Cargo.toml",
    "docs",
    "examples",
    "pyproject.toml",
    "python",
    "tests",
    "tools",
)
"""Files and folders, relative to the repository, that must be free of the words of `WORDS`."""

PAGES = {"ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "benchmarks/README.md"}
"""Pages, besides those of `docs`, on which every path of code must exist."""

CODE = ("crates/", "python/", "tools/", "tests/", "benchmarks/", "web/")
"""How paths of code begin; others are known by their ending."""

EXAMPLES = {"mine", "FILE", "script"}
"""Names of files that a reader is to write."""

TEXT = {".rs", ".py", ".pyi", ".toml", ".md", ".cff", ".html", ".yml", ".yaml"}

GENERATED = {"uv.lock", "Cargo.lock", "LICENSE"}


class Fault(NamedTuple):
    """One thing that is wrong."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.message}"


def tracked() -> list[Path]:
    """Files of the repository, new ones included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = (ROOT / name for name in names.splitlines())
    return [path for path in paths if path.is_file() and path.name not in GENERATED]


def sizes(files: list[Path]) -> Iterator[tuple[Fault, bool]]:
    """Files that are long, and whether they are too long."""
    for path in files:
        if path.suffix in (".rs", ".py"):
            count = len(path.read_text(encoding="utf-8").splitlines())
            if count > SOFT_LINES:
                limit = HARD_LINES if count > HARD_LINES else SOFT_LINES
                fault = Fault(path, count, f"{count} lines; the limit is {limit}")
                yield fault, count > HARD_LINES


def crowded(files: list[Path]) -> Iterator[Fault]:
    """Folders with too many files of code."""
    counts = Counter(path.parent for path in files if path.suffix in (".rs", ".py", ".pyi"))
    for folder, count in sorted(counts.items()):
        if count > MOST_FILES:
            yield Fault(folder, 1, f"{count} files of code; the limit is {MOST_FILES}")


def repeated(files: list[Path]) -> Iterator[Fault]:
    """Files of tests that have the name of another, in whichever folder."""
    first: dict[str, Path] = {}
    for path in sorted(files):
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] == "tests":
            other = first.setdefault(path.name, path)
            if other != path:
                yield Fault(path, 1, f"{other.relative_to(ROOT)} has this name; find another")


def unwanted(files: list[Path]) -> Iterator[Fault]:
    """Words and paths that do not belong."""
    for path in files:
        if path.suffix not in TEXT or path == Path(__file__).resolve():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for pattern, advice in UNWANTED.items():
                match = re.search(pattern, line)
                if match:
                    yield Fault(path, number, f'"{match.group()}": {advice}')


def words(files: list[Path]) -> Iterator[Fault]:
    """Find words that are outside the vocabulary, in comments, text and names."""
    found = {
        re.compile(rf"(?i)(?<![A-Za-z])(?:{pattern})(?![A-Za-z])"): advice
        for pattern, advice in WORDS.items()
    }
    for path in files:
        if path.suffix not in TEXT or path.name in ("check_house.py", "test_house.py"):
            continue
        section = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            section = line if line.startswith("## ") else section
            if path.name == "CONTRIBUTING.md" and section == "## Vocabulary":
                continue
            for pattern, advice in found.items():
                for match in pattern.finditer(line):
                    yield Fault(path, number, f'"{match.group()}": write {advice}')


def missing_paths(files: list[Path]) -> Iterator[Fault]:
    """Find paths of code, in backticks on a page, that the repository does not have."""
    known = {path.relative_to(ROOT) for path in files}
    known |= {folder for path in known for folder in path.parents}
    names = {f"/{path.as_posix()}" for path in known}
    endings = {name[at:] for name in names for at, sign in enumerate(name) if sign == "/"}
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        if path.suffix != ".md" or not (name in PAGES or name.startswith("docs/")):
            continue
        is_program = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            is_program ^= line.lstrip().startswith("```")
            for token in [] if is_program else re.findall(r"`([\w./-]+)`", line):
                is_code = token.endswith((".rs", ".py")) or token.startswith(CODE)
                example = Path(token).stem in EXAMPLES
                if is_code and not example and f"/{token.rstrip('/')}" not in endings:
                    yield Fault(path, number, f"there is no {token} in the repository")


def print_counts(faults: Iterable[Fault]) -> None:
    """Print how many words outside the vocabulary each folder has."""
    counts: Counter[str] = Counter()
    for fault in faults:
        parts = fault.path.relative_to(ROOT).parts
        depth = 4 if parts[0] == "crates" else 3 if parts[0] == "python" else 1
        counts["/".join(parts[:depth])] += 1
    for place, count in sorted(counts.items()):
        sys.stdout.write(f"{count:5} {place}\n")


def is_plain(path: Path) -> bool:
    """Whether a file is in `PLAIN`."""
    name = path.relative_to(ROOT).as_posix()
    return any(name == place or name.startswith(f"{place}/") for place in PLAIN)


def registered(files: list[Path]) -> Iterator[tuple[Path, int, Path]]:
    """Files that registries name: where it is said, the line, the file below `src` of its crate."""
    for path in files:
        crate = next((CRATES / name for name in ALGORITHMS if CRATES / name in path.parents), None)
        if path.suffix != ".rs" or crate is None:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = re.match(r'\s*"([\w/]+\.rs)" => ', line)
            if match:
                yield path, number, crate / "src" / match[1]


def headers(files: list[Path]) -> Iterator[Fault]:
    """Algorithms whose file does not say what it is, where it comes from and what its rule is."""
    for registry, number, path in registered(files):
        if not path.is_file():
            yield Fault(registry, number, f"there is no file {path.relative_to(CRATES)}")
            continue
        text = path.read_text(encoding="utf-8")
        head = [line for line in text.splitlines() if line.startswith("//!")]
        title = text.split("\n//!\n", 1)[0]
        if not text.startswith("//! ") or not title.endswith("."):
            yield Fault(path, 1, "does not open with a title sentence and an empty `//!` line")
        places = [
            next((i for i, line in enumerate(head) if line.startswith(f"//! **{part}**")), None)
            for part in ("Source", "Rule")
        ]
        if None in places:
            yield Fault(path, 1, "its `//!` header lacks a **Source** or a **Rule** section")
        elif places != sorted(places, key=lambda place: place or 0):
            yield Fault(path, 1, "in its `//!` header **Source** comes before **Rule**")


def main() -> int:
    """Check everything; 1 if anything is wrong."""
    files = tracked()
    if "--words" in sys.argv[1:]:
        print_counts(words(files))
        return 0
    faults = [*unwanted(files), *crowded(files), *repeated(files)]
    faults += words([path for path in files if is_plain(path)])
    faults += missing_paths(files)
    faults += dict.fromkeys(headers(files))
    for fault, too_long in sizes(files):
        if too_long:
            faults.append(fault)
        else:
            sys.stdout.write(f"warning: {fault}\n")
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
