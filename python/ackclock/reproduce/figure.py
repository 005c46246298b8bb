"""What ``figures.toml`` says: one entry a figure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Required, TypedDict

from ackclock.catalogue.entries import Key

__all__ = ["SQL", "Figure", "FiguresFile"]

SQL = "One SELECT over the studies' tables and expected.NAME."


class FigureAxis(TypedDict, total=False):
    """An axis, or the scale of nodes or links of a map."""

    label: Annotated[str, "The paper's label."]
    unit: Annotated[str, "Unit, shown in brackets."]
    scale: Annotated[Literal["linear", "log"], "Scale of the axis."]
    limits: Annotated[list[float], "Least and greatest value.", Key(minItems=2, maxItems=2)]
    factor: Annotated[float, "Values are multiplied by this before they are drawn."]
    order: Annotated[list[Any], "Values of a categorical axis, in their order."]


class Series(TypedDict, total=False):
    """A series of a figure."""

    key: Required[Annotated[Any, "Value of the column series."]]
    label: Annotated[str, "Shown in the legend."]


class Panel(TypedDict, total=False):
    """A panel of a figure."""

    key: Required[Annotated[Any, "Value of the column panel."]]
    title: Annotated[str, "Above the panel."]
    x: Annotated[FigureAxis, "Its horizontal axis."]
    y: Annotated[FigureAxis, "Its vertical axis."]


class FigureEntry(TypedDict, total=False):
    """A figure of the paper."""

    id: Required[Annotated[str, "As in the paper: 8, 13a, T2."]]
    title: Required[Annotated[str, "Title, in your own words."]]
    caption: Annotated[str, "What to see in it."]
    kind: Annotated[
        Literal["line", "scatter", "bar", "matrix", "map", "table"], "How the rows are drawn."
    ]
    data: Annotated[str, f"{SQL} Columns x, y; further series, panel, replicate, low, high."]
    printed: Annotated[str, "A SELECT with the same columns: the paper's values, hollow marks."]
    model: Annotated[str, "A SELECT with the same columns: curves of a model, thin lines."]
    x: Annotated[FigureAxis, "The horizontal axis."]
    y: Annotated[FigureAxis, "The vertical axis."]
    value: Annotated[FigureAxis, "Scale of a matrix, or of the nodes of a map."]
    links: Annotated[FigureAxis, "Scale of the links of a map."]
    steps: Annotated[bool, "Draw lines as steps."]
    band: Annotated[bool, "Draw the interval over replicates; true if left out."]
    overlay: Annotated[
        bool,
        "Draw the panels of lines in one axis, each dashed in its way, named at its last point.",
    ]
    underline: Annotated[
        str, "Of a table: the column, not drawn, that names with commas the columns to underline."
    ]
    series: Annotated[list[Series], "Order and labels of the series; those not named follow."]
    panel: Annotated[list[Panel], "Order, titles and axes of the panels; those not named follow."]
    columns: Annotated[int, "Panels beside each other.", Key(minimum=1, maximum=4)]
    not_drawable: Annotated[str, "Why it is not drawn; in place of kind and data."]


class FiguresFile(TypedDict, total=False):
    """``figures.toml``: what is drawn."""

    figure: Annotated[list[FigureEntry], "One entry a figure."]


@dataclass(frozen=True)
class Figure:
    """One figure of the paper; ``entry`` is a `FigureEntry`."""

    id: str
    title: str
    file: Path
    entry: Mapping[str, Any] = field(default_factory=dict)

    @property
    def not_drawable(self) -> str:
        """Why it is not drawn; empty if it is."""
        return str(self.entry.get("not_drawable", ""))

    @property
    def queries(self) -> dict[str, str]:
        """Its queries by key."""
        return {key: self.entry[key] for key in ("data", "printed", "model") if key in self.entry}
