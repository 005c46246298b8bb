"""Writes the reference pages of the documentation from the core and the command line.

``python tools/write_reference.py FOLDER`` writes Markdown. Nothing in it is kept by hand: scenario
files come from the core's schema, algorithms from its catalogue and from the headers of their Rust
files, eras from what `Scenario.explain` says, tables from a run, commands from their help,
documents of papers and profiles from the classes that hold them. A new algorithm is therefore in
the reference as soon as it is in its room's registry.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.catalogue import records, schema
from ackclock.results.recorded import recorded_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click

__all__ = ["header", "linked", "main", "pages", "parameters"]

CRATES = Path(__file__).resolve().parents[1] / "crates"
"""The Rust sources of a checkout; an installed package has none."""

DOSSIERS = Path(__file__).resolve().parents[1] / "docs" / "reference" / "dossiers.json"
"""What the dossiers of the registry's controls found."""

ROOM_TITLES = {
    "cc": "Congestion controls",
    "recovery": "Loss recoveries",
    "slow_start": "Slow start rules",
    "credits": "Credits of receivers",
    "qdisc": "Queue disciplines",
    "source": "Unresponsive sources",
    "arrivals": "Generators of transfers",
    "pattern": "Traffic patterns",
    "multicast": "Layer controls of multicast receivers",
    "impairment": "Impairments of a link's wire",
    "sharing": "Sharing rules of fluid links",
    "policy": "Sender policies of the fluid engine",
}

ROOM_KEYS = {
    "cc": 'in a flow: `cc = "{}"`',
    "recovery": 'in a flow: `recovery = "{}"`',
    "slow_start": 'in a flow: `slow_start = "{}"`',
    "credits": 'in a flow: `credits = "{}"`',
    "qdisc": 'in a network or a link: `qdisc = "{}"`',
    "source": 'in a flow: `source = "{}"`',
    "arrivals": 'in `[[traffic]]`: `generator = "{}"`',
    "pattern": 'in a flow: `between = "{}"`',
    "multicast": 'in `[[groups]]`: `control = "{}"`',
    "impairment": 'in a link: `impairments = ["{}"]`',
    "sharing": 'in a fluid case: `routers = {{ sharing = "{}" }}`',
    "policy": 'in a fluid case: `sender = "{}"`',
}

STATUSES = {
    "specified": "follows the published specification",
    "reconstructed": "the original text was not to be had; rebuilt from the sources named",
    "variant": "deviates on purpose, as described",
    "shipped": "the code of a released library",
}

DEFINITIONS = (
    "LinkChange",
    "Flow",
    "Traffic",
    "Group",
    "TcpOptions",
    "QuicOptions",
    "Transport",
    "Record",
    "Table",
    "Era",
    "Routing",
    "Classes",
)
"""Named types of a scenario in the order in which a reader needs them."""

EXAMPLE = """
duration = "2 s"
net = { kind = "dumbbell", pairs = 1, rate = "2 Mbps", rtt = "40 ms", buffer = "5 pkt" }
flows = [{ pair = 0 }]
"""

GROUP_EXAMPLE = """
duration = "2 s"
net = { kind = "dumbbell", pairs = 2, rate = "2 Mbps", rtt = "40 ms", buffer = "5 pkt" }
groups = [{ src = "s0", receivers = ["d0", "d1"], layers = ["100 kbps"] }]
"""

QUEUES_EXAMPLE = """
duration = "2 s"
net = { kind = "dumbbell", pairs = 1, rate = "2 Mbps", rtt = "40 ms", qdisc = "dualpi2" }
flows = [{ pair = 0 }]
"""


def linked(text: str) -> str:
    """RFCs and DOIs become links; Rust's links become code.

    Parameters
    ----------
    text
        Markdown as in a Rust file.
    """
    text = re.sub(r"\[`([^`]+)`\](?!\()", r"`\1`", text)
    text = re.sub(r"\[`([^`]+)`\]\((?!#)[^)]*\)", r"`\1`", text)
    text = re.sub(r"doi:(10\.\d+/[^\s,;]+)", _doi, text)
    return re.sub(r"\bRFC (\d+)", r"[RFC \1](https://www.rfc-editor.org/rfc/rfc\1)", text)


def _doi(match: re.Match[str]) -> str:
    """A link; a full stop or a bracket that belongs to the sentence stays outside."""
    doi, rest = match[1], ""
    while doi.endswith(".") or (doi.endswith(")") and doi.count(")") > doi.count("(")):
        doi, rest = doi[:-1], doi[-1] + rest
    return f"[doi:{doi}](<https://doi.org/{doi}>){rest}"


def _cell(text: object) -> str:
    return " ".join(linked(str(text)).split()).replace("|", "\\|")


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    names = list(head)
    lines = [f"| {' | '.join(names)} |", "|" + " --- |" * len(names)]
    lines += [f"| {' | '.join(_cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines)


def _anchor(*parts: str) -> str:
    words = " ".join(parts).replace("+", " plus ").lower()
    return "-".join(re.findall(r"[a-z0-9]+", words))


def _named(rules: schema.Data) -> str | None:
    for option in (rules, *rules.get("anyOf", ())):
        if "$ref" in option:
            return str(option["$ref"]).rsplit("/", 1)[-1]
    return None


def _type(rules: schema.Data, links: frozenset[str] = frozenset()) -> str:
    """What may be given for a field, in words."""
    name = _named(rules)
    if name is not None and name != "Spec":
        return f"[{name}](#scenario-{_anchor(name)})" if name in links else name
    if "anyOf" in rules and name is None:
        return " or ".join(_type(branch, links) for branch in rules["anyOf"])
    kinds = rules.get("type", ())
    if "items" in rules and "array" in ([kinds] if isinstance(kinds, str) else kinds):
        return f"list of {_type(rules['items'], links)}"
    return records.type_words(rules)


def _value(value: object) -> str:
    if value is None or value in ({}, []):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, dict):
        inside = ", ".join(f"{k} = {_plain(v)}" for k, v in value.items() if v is not None)
        return f"`{{ {inside} }}`"
    return f"`{_plain(value)}`"


def _plain(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _bounds(rules: schema.Data) -> str:
    if str(rules.get("format", "")).startswith("uint") and rules.get("minimum") == 0:
        return ""  # the type says it: a count
    signs = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
    known = [f"{sign} {rules[key]:g}" for key, sign in signs.items() if key in rules]
    return f" Range: {', '.join(known)}." if known else ""


def _fields(rules: schema.Data, links: frozenset[str] = frozenset()) -> str:
    """A table of the fields of a schema."""
    required = set(rules.get("required", ()))
    rows = []
    for name, field in rules.get("properties", {}).items():
        if name == "kind" and "const" in field:
            continue
        default = (
            "required"
            if name in required
            else _value(records.with_default_typed(field, rules).get("default"))
        )
        text = str(field.get("description", "")) + _bounds(field)
        rows.append((f"`{name}`", _type(field, links), default, text))
    return _table(("field", "type [unit]", "default", "meaning"), rows) if rows else "No fields."


def parameters(rules: schema.Data) -> str:
    """Tables of the parameters of an algorithm and of the types that they name.

    Parameters
    ----------
    rules
        Schema of the parameters, from the catalogue.
    """
    parts = [_fields(rules)]
    for definition, inner in rules.get("$defs", {}).items():
        if "properties" in inner or "oneOf" in inner or "enum" in inner:
            parts.append(f"`{definition}`: " + linked(str(inner.get("description", ""))))
            parts.append(_choices(inner) if "properties" not in inner else _fields(inner))
    return "\n\n".join(parts)


def header(file: str) -> str:
    """The documentation at the head of a Rust file as Markdown; empty if there is no checkout.

    Parameters
    ----------
    file
        Its path below `src` of the crate that has it.
    """
    path = next(CRATES.glob(f"*/src/{file}"), None)
    if path is None:
        return ""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//!"):
            break
        lines.append(line[3:].removeprefix(" "))
    parts = re.split(r"(?ms)(^```.*?^```$)", "\n".join(lines))
    return "".join(part if part.startswith("```") else linked(part) for part in parts)


def _generated(by: str) -> str:
    return f"<!-- Written by python tools/write_reference.py from {by}; do not edit. -->\n"


def _room_page(room: str) -> str:
    entries = list(schema.catalogue()[room].values())
    title = ROOM_TITLES.get(room, room)
    parts = [_generated("the core's catalogue"), f"# {title}"]
    head = header(f"{Path(entries[0]['file']).parent.as_posix()}/mod.rs")
    if head:
        parts.append(head.split("\n\n", 1)[0].partition(". ")[2])
    parts.append(
        _table(
            ("name", "title", "status"),
            ([f"[`{e['name']}`](#{_anchor(room, e['name'])})", e["title"], e["status"]]
             for e in entries),
        )
    )  # fmt: skip
    used = sorted({entry["status"] for entry in entries})
    parts.append("; ".join(f"*{name}*: {STATUSES.get(name, name)}" for name in used) + ".")
    files = "\n".join(f"{room}/{_file_of(entry['name'])}" for entry in entries)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{files}\n```")
    return "\n\n".join(parts) + "\n"


def _file_of(name: str) -> str:
    return name.replace("+", "plus")


def _algorithm_pages(room: str) -> Iterator[tuple[str, str]]:
    """The page of each algorithm of a room, with its path."""
    written: dict[str, str] = {}
    for entry in schema.catalogue()[room].values():
        parts = [_generated("the core's catalogue"), *_algorithm(room, entry, written)]
        yield f"algorithms/{room}/{_file_of(entry['name'])}.md", "\n\n".join(parts) + "\n"


def _algorithm(room: str, entry: schema.Data, written: dict[str, str]) -> Iterator[str]:
    name, file = entry["name"], entry["file"]
    anchor = _anchor(room, name)
    python = f"ackclock.{room}.{records.class_name(name)}"
    use = ROOM_KEYS.get(room, "`{}`").format(name)
    yield f"({anchor})=\n# {name}"
    also = ", ".join(f"`{other}`" for other in entry["also"])
    other_names = f" Other names: {also}." if also else ""
    yield f"{linked(entry['title'])}. Use it {use}, or in Python `{python}()`.{other_names}"
    yield f"Source: {linked(entry['source'])} ({entry['status']}). File: `{file}`."
    if room == "cc":
        yield from _dossier_of(name)
    yield "## Parameters"
    yield parameters(entry["params"])
    head = header(file)
    if not head:
        return
    if file in written:
        first = f"[{written[file]}](#{_anchor(room, written[file])})"
        yield f"Rule, deviations and eras: as described under {first}."
        return
    written[file] = name
    yield f"## What {Path(file).name} says\n\n{_below(head)}"


def _below(head: str) -> str:
    """Headings of a file's head one level below that of its part of the page."""
    return re.sub(r"(?m)^#+ ", "### ", head)


def _dossier_of(name: str) -> Iterator[str]:
    """What the dossier of a control found first: what is not met."""
    data = json.loads(DOSSIERS.read_text(encoding="utf-8"))
    control = data["controls"].get(name)
    if control is None:
        return
    by_verdict: dict[str, list[str]] = {}
    for id_, row in control["rows"].items():
        by_verdict.setdefault(row["verdict"], []).append(id_)
    missed, met = by_verdict.get("not met", []), by_verdict.get("met", [])
    links = ", ".join(f"[{id_}](#requirement-{_anchor(id_)})" for id_ in missed)
    said = f"not met are {links}" if missed else "none is not met"
    yield (
        f"By RFC 9743, tier {data['tier']} ([dossier](#dossier-{_anchor(name)})): {said}; met are"
        f" {len(met)}, undecided {len(by_verdict.get('undecided', []))}."
        f" `ackclock dossier {name}` makes it."
    )


def _choices(rules: schema.Data, links: frozenset[str] = frozenset()) -> str:
    """A table of the values of an enumeration, or of its branches."""
    if "enum" in rules:
        return _table(("value",), ([f"`{_plain(value)}`"] for value in rules["enum"]))
    rows, tables = [], []
    for branch in rules.get("oneOf") or rules["anyOf"]:
        text = str(branch.get("description", ""))
        fields = branch.get("properties", {})
        if "const" in branch:
            rows.append((f"`{_plain(branch['const'])}`", text))
        elif "kind" in fields:
            rows.append((f'`kind = "{fields["kind"]["const"]}"`', text))
            tables.append(_fields(branch, links) if len(fields) > 1 else "")
        elif fields:
            (key, value), *_ = fields.items()
            rows.append((f"`{key}`: {_type(value, links)}", text))
        elif "type" in branch and "enum" not in branch:
            rows.append((_type(branch, links), text))
        else:
            rows += [(f"`{_plain(value)}`", text) for value in branch.get("enum", ())]
    found = [text for text in tables if text]
    return "\n\n".join([_table(("value", "meaning"), rows), *found])


def _scenario_page() -> str:
    rules = schema.scenario()
    known = rules["$defs"]
    links = frozenset(name for name in known if name != "Spec")
    parts = [
        _generated("the core's schema"),
        "# Scenario file",
        "TOML, JSON and Python say the same thing with the same names. Where a default is empty and"
        " the field is not required, the era or another field decides, as its meaning says.",
        "(units)=\n## Units",
        "A quantity is text with a unit, as in `\"10 Mbps\"`, `\"30 ms\"`, `\"1500 B\"`; prefixes"
        " are decimal. In TOML, in `--set` and in the Python classes a rate, a size or a duration"
        " without unit is refused, unless it is 0. Points of a run's time may be plain numbers, in"
        " seconds: the fields whose type says \"or number [s]\", such as `duration = 60` and"
        " `start = 2.5`. In a fluid case whose `unit` is not bit/s, rates are plain numbers of that"
        " unit. Documents of programs, which are JSON or the data of `Scenario.from_data`, may have"
        " plain numbers of SI units (s, bit/s, B) everywhere but for buffers; `Scenario.to_toml`"
        " writes their units.",
        "## Fields",
        _fields(rules, links),
        "An *algorithm* is a name, as in `\"red\"`, or a table with `kind` and parameters, as in"
        " `{ kind = \"red\", ecn = true }`. The [algorithms](algorithms/index.md) have pages of"
        " their own.",
        "(scenario-net)=\n## Networks\n\n`[net]` has a `kind`, and fields by kind.",
    ]  # fmt: skip
    for kind, shape in schema.net_kinds().items():
        text = linked(str(shape.get("description", "")))
        parts += [f"(net-{_anchor(kind)})=\n### {kind}", text, _fields(shape, links)]
    rest = [name for name in known if name not in (*DEFINITIONS, "Spec", "Net")]
    for name in (*DEFINITIONS, *rest):
        if name not in known:
            continue
        inner = known[name]
        parts.append(f"(scenario-{_anchor(name)})=\n## {name}")
        parts.append(linked(str(inner.get("description", ""))))
        choice = "properties" not in inner
        parts.append(_choices(inner, links) if choice else _fields(inner, links))
    return "\n\n".join(parts) + "\n"


def _eras() -> list[str]:
    return [str(branch["const"]) for branch in schema.definition("Era")["oneOf"]]


def _eras_page() -> str:
    from ackclock.scenario.load import load

    eras = _eras()
    table: dict[str, dict[str, str]] = {}
    for era in eras:
        explained = load(EXAMPLE).replace(era=era).explain().data
        for key in ("cc", "recovery"):
            table.setdefault(f"flows[*].{key}", {})[era] = f"`{explained['flows'][0][key]}`"
        for line in explained["defaults"]:
            if line["path"].startswith(("tcp.", "quic.")):
                table.setdefault(line["path"], {})[era] = line["value"]
    rows = ([f"`{path}`", *(values.get(era, "") for era in eras)] for path, values in table.items())
    parts = [
        _generated("what the core says of each era"),
        "# Defaults by era",
        "What applies where a scenario is silent. `inf` is no bound. Fields of `[tcp]` and their"
        " meaning: [TcpOptions](scenario.md#scenario-tcpoptions). Defaults of algorithms that"
        " depend on the era are on the [algorithms' pages](algorithms/index.md).",
        _choices(schema.definition("Era")),
        _table(["field", *(f"`{era}`" for era in eras)], rows),
    ]
    return "\n\n".join(parts) + "\n"


def _tables_page() -> str:
    from ackclock.scenario.load import load

    recorded = recorded_tables()
    names = list(recorded)
    meaning = {name: table["description"] for name, table in recorded.items()}
    meaning |= {"flows": "One row per flow.", "links": "One row per link and direction."}
    changes = {"record.tables": names, "record.interval": "1 s"}
    run = load(EXAMPLE).replace(**changes).run()
    parts = [
        _generated("a run"),
        "# Tables of a run",
        "Arrow tables of a `Run`, Parquet files of a run bundle. Names of columns end in their"
        " units. `flows` and `links` are always there; the others on request by `record.tables`.",
    ]
    group = load(GROUP_EXAMPLE).run()
    meaning["receivers"] = "One row per receiver of a multicast group, in every run with groups."
    meaning["link_queues"] = (
        "One row per queue of the links whose disciplines distinguish several: `dualpi2`, classes"
        " of `priority`, `wrr` and `hpfq`, tins of `cake`. All of it in the measured time."
    )
    others = {"receivers": group, "link_queues": load(QUEUES_EXAMPLE).run()}
    for name in ("flows", "links", "link_queues", "receivers", *names):
        columns = others.get(name, run).table(name).schema
        rows = [[f"`{field.name}`", _arrow(field.type)] for field in columns]
        head = ["column", "type"]
        if name in recorded:
            head.append("what it is")
            about = {c["name"]: c["description"] for c in recorded[name]["columns"]}
            rows = [[*row, about[field.name]] for row, field in zip(rows, columns, strict=True)]
        parts += [f"## {name}", meaning[name], _table(head, rows)]
    return "\n\n".join(parts) + "\n"


def _arrow(kind: Any) -> str:
    return "name" if "dictionary" in str(kind) or str(kind) == "string" else str(kind)


def _cli_page() -> str:
    import click

    from ackclock.cli.main import cli

    top = click.Context(cli, info_name="ackclock", terminal_width=80)
    parts = [
        _generated("the commands' own help"),
        "# Command line",
        "Exit codes: 0 done, 1 a check failed, 2 the input is wrong, 3 interrupted (what had"
        " finished is kept), 70 ackclock's own fault.",
        f"```text\n{cli.get_help(top)}\n```",
    ]
    return "\n\n".join([*parts, *_commands(cli, top, "##")]) + "\n"


def _commands(group: click.Group, context: click.Context, level: str) -> Iterator[str]:
    """Help of every command of a group, and of the groups inside."""
    import click

    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        inside = click.Context(command, info_name=name, parent=context, terminal_width=80)
        path = inside.command_path.removeprefix("ackclock ")
        yield f"{level} {path}"
        yield f"```text\n{command.get_help(inside)}\n```"
        if isinstance(command, click.Group):
            yield from _commands(command, inside, f"{level}#")


def _algorithms_index() -> str:
    rooms = schema.catalogue()
    counts = ([f"[{ROOM_TITLES.get(r, r)}]({r}.md)", f"`{r}`", len(rooms[r])] for r in rooms)
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *rooms, "```"])
    parts = [
        _generated("the core's catalogue"),
        "# Algorithms",
        "One page for each. An algorithm has its source, its parameters with defaults, and what"
        " the head of its Rust file says: rule, deviations, defaults by era.",
        _table(("room", "name", "algorithms"), counts),
        toctree,
    ]
    return "\n\n".join(parts) + "\n"


def _margins_page() -> str:
    from ackclock.reproduce.read.folder import names, read

    rows = [
        f"| {name} | `{margin.id}` | {margin.value:g} {margin.unit} | {margin.reason} |"
        for name in names()
        for margin in read(name).margins.values()
    ]
    parts = [
        _generated("the papers"),
        "# Margins and tolerances of the papers",
        "Margins are distances that count as none where a paper says identical or similar."
        " They were fixed before any search, from printed digits, axes, or what the same paper"
        " calls a difference.",
        "\n".join(["| paper | margin | distance | reason |", "| --- | --- | --- | --- |", *rows]),
        "## Tolerances",
        "How far a measure may be from what its claim says, of checks that decide. Of a curve that"
        " is an image a fiftieth of the greatest value that it shows can be read:"
        " [one rule](../../explanation/verdicts.md) for all figures.",
        "\n".join(
            ["| paper | tolerance | reason | claims |", "| --- | --- | --- | --- |", *_tolerances()]
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _tolerances() -> Iterator[str]:
    """A row for each tolerance of a paper and reason, with the claims that have it."""
    from ackclock.reproduce.read.folder import names, read

    for name in names():
        found: dict[tuple[str, str], dict[str, None]] = {}
        for claim in read(name).claims.values():
            for check in claim.checks:
                if "tolerance" in check.expect and not check.ours:
                    key = (f"{check.expect['tolerance']} {check.unit}".strip(), check.reason)
                    found.setdefault(key, {})[claim.id] = None
        for (tolerance, reason), claims in found.items():
            ids = [f"`{id_}`" for id_ in claims]
            text = ", ".join(ids) if len(ids) < 10 else f"{len(ids)}, {ids[0]} to {ids[-1]}"
            yield f"| {name} | {tolerance} | {reason} | {text} |"


def _documents_page() -> str:
    from ackclock.catalogue.entries import schema_of
    from ackclock.document_schemas import FORMS
    from ackclock.engines.fluid import document as fluid
    from ackclock.engines.hybrid.document import Background
    from ackclock.experiments.file_form import SweepFile

    parts = [
        _generated("the classes that hold documents"),
        "# Documents beside scenarios",
        "Sweeps, fluid and hybrid cases, games, the files of papers and profiles, and what dossiers"
        " and comparisons write. `claim[].check[]` is a table of the list `check` in a table of the"
        " list `claim`, in TOML `[[claim.check]]`. What keys mean together is said on the page of"
        " [papers](../papers.md) and in [the dossier of a control](../../howto/dossier.md). A fluid"
        " case may have each [network](scenario.md#scenario-net) of a packet scenario too."
        " `ackclock schema NAME` prints the form of a document as JSON Schema.",
    ]
    forms = {
        "sweep": ("FILE.toml of a sweep", schema_of(SweepFile)),
        "fluid": ("FILE.toml of a fluid case", fluid.rules()),
        "background": ("[background] of a hybrid case", schema_of(Background)),
        **{name: (title, schema_of(form)) for name, (form, title) in FORMS.items()},
    }
    for name, (title, rules) in forms.items():
        file, _, rest = title.partition(" ")
        parts.append(f"(document-{name})=\n## `{file}` {rest}")
        parts += _tables_of("", rules, {})
    return "\n\n".join(parts) + "\n"


def _tables_of(place: str, rules: schema.Data, written: dict[str, str]) -> Iterator[str]:
    """The keys of a table and of those in it; one that was written before is only named."""
    from ackclock.engines.fluid.generators import NETS

    heading = [f"### `{place}`"] if place else []
    known = json.dumps([rules["properties"], rules["required"]])
    if known in written:
        yield "\n\n".join([*heading, f"As `{written[known]}`."])
        return
    written[known] = place
    yield "\n\n".join([*heading, linked(rules["description"]), _fields(rules)])
    for key, inner in rules["properties"].items():
        path = f"{place.partition(',')[0]}.{key}" if place else key
        if "properties" in inner:
            yield from _tables_of(path, inner, written)
        elif "properties" in inner.get("items", ()):
            yield from _tables_of(f"{path}[]", inner["items"], written)
        for branch in inner.get("oneOf", ()):
            kind = branch["properties"]["kind"]["const"]
            if key != "net" or kind in NETS:
                yield from _tables_of(f'{path}, kind = "{kind}"', branch, written)


def pages() -> dict[str, str]:
    """Every page's text by its path."""
    rooms = {f"algorithms/{room}.md": _room_page(room) for room in schema.catalogue()}
    rooms |= {path: text for room in schema.catalogue() for path, text in _algorithm_pages(room)}
    return {
        "scenario.md": _scenario_page(),
        "eras.md": _eras_page(),
        "tables.md": _tables_page(),
        "cli.md": _cli_page(),
        "margins.md": _margins_page(),
        "documents.md": _documents_page(),
        "algorithms/index.md": _algorithms_index(),
        **rooms,
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the pages into a folder.

    Parameters
    ----------
    arguments
        The folder; left out: those of this process.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1 or given[0].startswith("-"):
        sys.stderr.write("usage: python tools/write_reference.py FOLDER\n")
        return 2
    for name, text in pages().items():
        path = Path(given[0]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
