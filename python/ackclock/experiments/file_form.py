"""The file form of a sweep: a scenario, a grid, replications; TOML or JSON.

base = "dumbbell.toml"          # or a table [scenario]
reps = 10                       # or [until] metric, half_width, at_most
metrics = ["mean(flows.goodput_bps)"]

[over]
"net.buffer" = ["0.5 bdp", "1 bdp"]
cc = { path = "flows[*].cc", values = { Reno = "aimd", Vegas = "vegas" } }

[[zip]]                         # axes that move together
"net.rate" = ["1 Mbps", "10 Mbps"]
duration = ["600 s", "60 s"]

[[list]]                        # points one by one
"net.rtt" = "10 ms"

[tiers.fast]                    # what --tier fast changes
reps = 2
set = { duration = "10 s" }
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict

from ackclock.catalogue.entries import Key, schema_of
from ackclock.errors import AckclockError, Problem, ScenarioError, suggestion
from ackclock.experiments.design import Replicates
from ackclock.experiments.grid import SweepError, blocks
from ackclock.experiments.statistics import Precision
from ackclock.experiments.sweeps import Sweep

if TYPE_CHECKING:
    from ackclock.case import Case

__all__ = ["SweepFile", "SweepTier", "Until", "from_document", "load_sweep"]


class AxisTable(TypedDict, total=False):
    """An axis that is a table."""

    path: Annotated[str | list[str], "What the values are set on, or a list of such paths."]
    paths: Annotated[list[str], "As path."]
    values: Required[
        Annotated[
            Any,
            Key(type=["array", "object"], minItems=1, minProperties=1),
            "The values in order, or by label.",
        ]
    ]
    labels: Annotated[list[Any], "Labels in the order of the values."]


Points = list[Mapping[str, Any]]
Axes = Mapping[str, Annotated[list[Any], Key(minItems=1)] | AxisTable]
Groups = list[Axes]


class Until(TypedDict, total=False):
    """Replications until the interval of a metric is narrow."""

    metric: Required[Annotated[str, "The metric that decides; one number per run."]]
    half_width: Annotated[
        float,
        "Relative half-width of the mean's interval that is requested.",
        Key(exclusiveMinimum=0, default=Precision.half_width),
    ]
    at_most: Annotated[float, "Most replications of a point.", Key(default=Precision.at_most)]
    at_least: Annotated[
        float,
        "Replications that every point gets.",
        Key(minimum=2, default=Precision.at_least),
    ]
    confidence: Annotated[
        float,
        "Level of the interval.",
        Key(exclusiveMinimum=0, exclusiveMaximum=1, default=Precision.confidence),
    ]


class SweepTier(TypedDict, total=False):
    """What a tier of a sweep changes."""

    set: Annotated[Mapping[str, Any], "Values of the scenario by path."]
    over: Annotated[Axes, "Axes that multiply: values by path, or by a short name."]
    zip: Annotated[Groups, "Groups of axes of equal length that move together."]
    list: Annotated[Points, "Points one by one: values by path, and label."]
    reps: Annotated[int, "Replications of each point.", Key(minimum=1)]
    until: Annotated[Until, "Replications until the interval of a metric is narrow; excludes reps."]


class SweptCase(TypedDict, total=False):
    """What is swept."""

    name: Annotated[str, "A name for titles and file names."]
    base: Annotated[str, "The scenario's file, relative to this one; excludes scenario."]
    scenario: Annotated[Mapping[str, Any], "The scenario; excludes base."]


class SweepFile(SweptCase, SweepTier, total=False):
    """A sweep: a scenario, a grid of changes, replications."""

    metrics: Annotated[list[str], "Metrics that reports show, as in mean(flows.goodput_bps)."]
    tiers: Annotated[Mapping[str, SweepTier], "What --tier NAME changes."]


def load_sweep(
    file: str | Path,
    *,
    tier: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Sweep:
    """Read a sweep file.

    Parameters
    ----------
    file
        TOML, or JSON.
    tier
        Name of one of the file's tiers; left out: the file as it is.
    changes
        Values of the scenario by path, in place of the file's.

    Raises
    ------
    ScenarioError, SweepError
        The file cannot be read, or is wrong.
    """
    from ackclock._util.documents import read_document

    path = Path(file)
    return from_document(read_document(path), path, tier=tier, changes=changes)


def from_document(
    document: Mapping[str, Any],
    file: Path | None = None,
    *,
    tier: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Sweep:
    """Make a sweep of plain data.

    Parameters
    ----------
    document
        The tables of the file.
    file
        Where they came from: ``base`` and paths inside are relative to its folder.
    tier
        Name of one of the tiers.
    changes
        Values of the scenario by path, in place of the document's.

    Raises
    ------
    ScenarioError, SweepError
        The document is wrong.
    """
    try:
        return _make_sweep(document, file, tier, changes or {})
    except ScenarioError:
        raise
    except AckclockError as error:
        where = f"{file}: " if file is not None and str(file) not in str(error) else ""
        raise SweepError(f"{where}{error}") from None


def _make_sweep(
    document: Mapping[str, Any], file: Path | None, tier: str | None, changes: Mapping[str, Any]
) -> Sweep:
    _keys(document, SweepFile, "")
    settings = dict(document)
    tiers = settings.pop("tiers", {})
    if tier is not None:
        if tier not in tiers:
            raise SweepError(f'tiers: there is no tier "{tier}"; {suggestion(tier, tiers)}')
        _keys(tiers[tier], SweepTier, f"tiers.{tier}.")
        settings = _over(settings, tiers[tier])
    case = _case(settings, file)
    changed_values = {**settings.get("set", {}), **changes}
    if changed_values:
        try:
            case = case.replace(**changed_values)
        except ScenarioError as error:
            raise _name_file(error, file) from None
    until = _until(settings.get("until"))
    reps = settings.get("reps")
    if reps is not None and until is not None:
        raise SweepError("both reps and until are given; expected one of them")
    grid = blocks(_table(settings, "over"), _tables(settings, "zip"), _tables(settings, "list"))
    metrics = settings.get("metrics", [])
    if not isinstance(metrics, list):
        raise SweepError(f"metrics: {metrics!r} is not a list")
    from ackclock.experiments.metrics import parse

    for metric in metrics:
        parse(str(metric))
    return Sweep(
        case,
        grid,
        Replicates(1 if reps is None else reps, until),
        name=settings.get("name", ""),
        metrics=metrics,
        file=file,
    )


def _over(settings: dict[str, Any], tier: Mapping[str, Any]) -> dict[str, Any]:
    """The file's settings with a tier's; one axis of a tier takes the place of the file's."""
    merged = {**settings, **tier}
    for key in ("set", "over"):
        if key in settings and key in tier:
            merged[key] = {**settings[key], **tier[key]}
    if "reps" in tier:
        merged.pop("until", None)
    if "until" in tier:
        merged.pop("reps", None)
    return merged


def _keys(table: Any, form: type, where: str) -> None:
    if not isinstance(table, dict):
        raise SweepError(f"{where.rstrip('.')}: {table!r} is not a table")
    allowed = schema_of(form)["properties"]
    for key in table:
        if key not in allowed:
            raise SweepError(f'{where}{key}: "{key}" is not a key here; {suggestion(key, allowed)}')


def _table(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = settings.get(key, {})
    if not isinstance(value, dict):
        raise SweepError(f"{key}: {value!r} is not a table of axes")
    return value


def _tables(settings: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = settings.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise SweepError(f"{key}: expected tables, written [[{key}]]")
    return value


def _case(settings: Mapping[str, Any], file: Path | None) -> Case:
    from ackclock.engines import registry

    has = [key for key in ("base", "scenario") if key in settings]
    if len(has) != 1:
        trouble = "has neither" if not has else "has both"
        raise SweepError(f'{trouble}: expected base = "FILE.toml" or a table [scenario]')
    if has == ["base"]:
        base = settings["base"]
        if not isinstance(base, str):
            raise SweepError("base: expected the name of a file; a table is [scenario]")
        folder = Path() if file is None else file.parent
        return registry.load_case(folder / base)
    _table(settings, "scenario")
    try:
        return registry.case(settings["scenario"], file)
    except ScenarioError as error:
        raise _name_file(error, file, "scenario.") from None


def _name_file(error: ScenarioError, file: Path | None, before: str = "") -> ScenarioError:
    name = None if file is None else str(file)
    return ScenarioError(
        [Problem(f"{before}{p.path}".rstrip("."), p.message, name) for p in error.problems]
    )


def _until(table: Any) -> Precision | None:
    if table is None:
        return None
    _keys(table, Until, "until.")
    if "metric" not in table:
        raise SweepError('until: "metric" is missing, as in metric = "mean(flows.goodput_bps)"')
    from ackclock.experiments.metrics import parse

    parse(str(table["metric"]))
    for key, value in table.items():
        if key != "metric" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise SweepError(f"until.{key}: {value!r} is not a number")
    return Precision(**table)
