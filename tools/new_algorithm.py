"""Begins a new algorithm: `make new ROOM=cc NAME=my-rule`.

Writes one file with all parts in their order and a rule that is valid but plain, and
adds two lines: the module to the `mod.rs` beside it, and the entry to the room's registry. What the
new file builds, runs in a scenario and passes its test at once; every part that is marked `<...>`
is the author's to say.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ROOT / "crates"
TEMPLATES = Path(__file__).resolve().parent / "templates"
ROOMS = {
    "cc": ("controls", "cc", "cc", "{module}::{title}"),
    "qdisc": ("queues", "qdisc", "qdisc", "{module}::{title}"),
    "aqm": ("queues", "qdisc/aqm", "qdisc", "managed::Managed<aqm::{module}::{title}>"),
    "recovery": ("controls", "recovery", "recovery", "{module}::{title}"),
    "slow_start": ("controls", "slow_start", "slow_start", "{module}::{title}"),
    "sharing": ("fluid", "sharing", "sharing", "{module}::{title}"),
    "policy": ("fluid", "policy", "policy", "{module}::{title}"),
}
"""For each kind of algorithm its crate, below the crate's `src` the folder of the new file and the
folder whose `mod.rs` has the registry, and the type that is registered."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def begin(crates: Path, room: str, name: str) -> Path:
    """Write the algorithm's file and its lines in the room.

    Parameters
    ----------
    crates
        The folder of the crates.
    room
        One of `ROOMS`.
    name
        Registry name in kebab-case.

    Returns
    -------
    Path
        The new file.

    Raises
    ------
    ValueError
        The room or the name cannot be; one sentence.
    """
    if room not in ROOMS:
        message = f'there is no room "{room}"; expected one of: {", ".join(ROOMS)}'
        raise ValueError(message)
    if not _NAME.fullmatch(name):
        message = f'"{name}" is not a registry name; expected small letters and hyphens: my-rule'
        raise ValueError(message)
    module, title = name.replace("-", "_"), "".join(p.capitalize() for p in name.split("-"))
    crate, folder, registry, entry = ROOMS[room]
    source = crates / f"ackclock-{crate}" / "src"
    path = source / folder / f"{module}.rs"
    if path.exists():
        message = f"{path} exists already; choose another name"
        raise ValueError(message)
    text = (TEMPLATES / f"{room}.rs").read_text(encoding="utf-8")
    for old, new in (("{{name}}", name), ("{{Name}}", title), ("{{module}}", module)):
        text = text.replace(old, new)
    line = f'"{folder}/{module}.rs" => {entry.format(module=module, title=title)},'
    changed = {source / folder / "mod.rs": "", source / registry / "mod.rs": ""}
    for home in changed:
        changed[home] = home.read_text(encoding="utf-8")
    changed[source / folder / "mod.rs"] = _with_module(changed[source / folder / "mod.rs"], module)
    home = source / registry / "mod.rs"
    changed[home] = _with_entry(changed[home], registry, line)
    path.write_text(text, encoding="utf-8")
    for home, content in changed.items():
        home.write_text(content, encoding="utf-8")
    return path


def _with_module(text: str, module: str) -> str:
    """Insert `pub mod` where the alphabet has it."""
    modules = list(re.finditer(r"^(?:pub )?mod (\w+);\n", text, re.MULTILINE))
    first_block = modules[:1]
    for one in modules[1:]:
        if one.start() == first_block[-1].end():
            first_block.append(one)
    later = [one for one in first_block if one.group(1) > module]
    at = later[0].start() if later else first_block[-1].end()
    return f"{text[:at]}pub mod {module};\n{text[at:]}"


def _with_entry(text: str, registry: str, line: str) -> str:
    """Insert the registry's line at its end."""
    entry = list(re.finditer(rf'^( *)"{registry}/[\w/]+\.rs" => .*,\n', text, re.MULTILINE))[-1]
    return f"{text[: entry.end()]}{entry.group(1)}{line}\n{text[entry.end() :]}"


def main(arguments: list[str]) -> int:
    """Run the tool.

    Parameters
    ----------
    arguments
        Room and name.
    """
    if len(arguments) != 2:
        sys.stderr.write(
            f"expected: make new ROOM=ROOM NAME=NAME, ROOM one of: {', '.join(ROOMS)}\n"
        )
        return 2
    try:
        path = begin(CRATES, *arguments)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    crate, _, registry, _ = ROOMS[arguments[0]]
    sys.stdout.write(
        f"wrote {path.relative_to(ROOT)} and its lines in {registry}\n"
        f"next: fill in what is marked <...>, then cargo test -p ackclock-{crate} {path.stem}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
