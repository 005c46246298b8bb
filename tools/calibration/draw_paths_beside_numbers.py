"""Draws each named path beside published numbers: the figure of docs/howto/paths.md.

``python tools/calibration/draw_paths_beside_numbers.py OUT.png``. The numbers and their sources are
in published.toml. Also prints the rows of the page's table.
"""

from __future__ import annotations

import random
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

import ackclock as ac
from ackclock.plot import style
from ackclock.scenario.paths.models import PATHS, REALLOCATION_S

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBERS = Path(__file__).with_name("published.toml")
DRAWS = 20
"""Seeds over which a model's rates are drawn."""
DRAWN_S = 120.0
FIRST_S = 1.0
"""Beginning of a satellite's interval."""

Data = dict[str, Any]


class Quantity(NamedTuple):
    """What a path is shown by."""

    path: str
    label: str
    """Of the axis, with the unit."""
    model: dict[str, np.ndarray]
    """Samples of the model, by the entry beside which they are drawn."""
    most: float
    """End of the axis."""
    legend: Literal["lower right", "upper left", "center"] = "lower right"


def round_trips(path: str, flows: list[Data], duration: str) -> tuple[np.ndarray, np.ndarray]:
    """Measure round trips of small probes over a path.

    Parameters
    ----------
    path
        Name of the path.
    flows
        Flows beside the probes.
    duration
        Of the run.

    Returns
    -------
    tuple
        Times [s] and round trips [ms].
    """
    probe: Data = {"id": "ping", "pair": 0, "size": "64 B", "every": "20 ms"}
    probe |= {"tcp": {"mss": 64, "delayed_ack": 1}}
    net = {"kind": "path", "path": path}
    run = ac.Scenario(net=net, flows=[probe, *flows], duration=duration).run(record=["rtts"])
    rows = run.tables["rtts"]
    is_probe = np.asarray(rows["flow"]) == "ping"
    return np.asarray(rows["time_s"])[is_probe], 1e3 * np.asarray(rows["rtt_s"])[is_probe]


def starlink() -> Quantity:
    """Measure round trips beyond the least of their interval [ms]."""
    times, trips = round_trips("starlink-2025", [], "600 s")
    number = (times // REALLOCATION_S).astype(int)
    least = np.array([trips[number == i].min() for i in range(number.max() + 1)])
    beyond, early = trips - least[number], times % REALLOCATION_S < FIRST_S
    model = {"after-first-second": beyond[~early], "first-second": beyond[early]}
    return Quantity("starlink-2025", "round trip beyond the interval's least [ms]", model, 170)


def lte() -> Quantity:
    """Draw rates of seconds [Mbit/s]."""
    rates = []
    for seed in range(DRAWS):
        times = PATHS["lte-driving"].make(random.Random(seed), DRAWN_S)["schedule"]["mahimahi"]
        counts, _ = np.histogram(times, bins=np.arange(0, 1000 * DRAWN_S + 1, 1000))
        rates.append(counts * 12e3 / 1e6)
    model = {"att": np.concatenate(rates)}
    return Quantity("lte-driving", "rate of a second [Mbit/s]", model, 32)


def mmwave() -> Quantity:
    """Draw rates in sight and blocked [Mbit/s]."""
    steps = [
        step["rate"] / 1e6
        for seed in range(DRAWS)
        for step in PATHS["5g-mmwave"].make(random.Random(seed), DRAWN_S)["schedule"]["steps"]
    ]
    rates = np.array(steps)
    clear = rates > rates.min()
    model = {"in-sight": rates[clear], "blocked": rates[~clear]}
    return Quantity("5g-mmwave", "rate [Mbit/s]", model, 2200, "center")


def wifi() -> Quantity:
    """Measure the delay of the link beyond the path without it [ms]."""
    _, trips = round_trips("wifi-busy", [], "300 s")
    return Quantity("wifi-busy", "delay of the Wi-Fi hop [ms]", {"campus": trips - 20}, 150)


def cable() -> Quantity:
    """Measure round trips beside an upload [ms]."""
    upload = {"src": "d0", "dst": "s0", "cc": "cubic"}
    times, trips = round_trips("cable-docsis", [upload], "60 s")
    model = {"with-aqm": trips[times > 5.0]}
    return Quantity("cable-docsis", "round trip beside an upload [ms]", model, 270)


def geo() -> Quantity:
    """Measure round trips without other traffic [ms]."""
    _, trips = round_trips("geo", [], "60 s")
    return Quantity("geo", "round trip [ms]", {"least": trips}, 800, "upper left")


def draw(axes: Axes, quantity: Quantity, numbers: Data) -> None:
    """Draw a path's quantity, and the published numbers as points, lines or a band.

    Parameters
    ----------
    axes
        Where.
    quantity
        Samples of the model.
    numbers
        Entries of published.toml for the path.
    """
    for number, (key, samples) in enumerate(quantity.model.items()):
        words = f"model, {numbers[key]['what']}" if len(quantity.model) > 1 else "model"
        axes.ecdf(samples, color=f"C{number}", label=words)
    for number, entry in enumerate(numbers.values()):
        colour = f"C{number % len(quantity.model) if len(quantity.model) > 1 else number + 1}"
        if "share" in entry:
            axes.plot(
                entry["value"], entry["share"], "o", ms=4, mfc="none", color=colour,
                label=entry["what"], clip_on=False,
            )  # fmt: skip
        elif "at" in entry:
            axes.axvline(entry["at"], color=colour, ls=":", label=entry["what"])
        else:
            axes.axvspan(
                entry["least"], entry["most"], color=colour, alpha=0.2, label=entry["what"]
            )
    axes.set(title=quantity.path, xlabel=quantity.label, xlim=(0, quantity.most), ylim=(0, 1.02))
    axes.legend(loc=quantity.legend, fontsize="x-small")


def main(out: str) -> None:
    """Draw the figure and print the model's numbers.

    Parameters
    ----------
    out
        File to write.
    """
    numbers = tomllib.loads(NUMBERS.read_text(encoding="utf-8"))
    figure = style.figure(None, width=10.0, height=6.4)
    panels = figure.subplots(2, 3, sharey=True)
    makers = (starlink, lte, mmwave, wifi, cable, geo)
    for axes, make in zip(panels.flat, makers, strict=True):
        quantity = make()
        draw(axes, quantity, numbers[quantity.path])
        for key, samples in quantity.model.items():
            quantiles = np.quantile(samples, (0.1, 0.25, 0.5, 0.75, 0.9))
            texts = ", ".join(f"{value:.4g}" for value in quantiles)
            print(f"{quantity.path}, {key}: 10, 25, 50, 75, 90 %: {texts}; {quantity.label}")
    for axes in panels[:, 0]:
        axes.set_ylabel("share below")
    figure.savefig(out)


if __name__ == "__main__":
    main(*sys.argv[1:2])
