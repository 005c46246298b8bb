"""Numbers at axes are drawn as numbers, whatever the scale; names are drawn as they are."""

import pytest

from ackclock.plot.log_axis import make_logarithmic
from ackclock.plot.notebook import NotebookFigure


@pytest.mark.slow
@pytest.mark.parametrize("drawings", [1, 2])
def test_powers_of_ten_at_a_logarithmic_axis_are_formulas_in_each_drawing(tmp_path, drawings):
    figure = NotebookFigure(layout="constrained")
    axes = figure.subplots()
    axes.plot([1, 1000], [1e-4, 1e3], label="$x$")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend()
    for number in range(drawings):
        figure.savefig(tmp_path / f"{number}.svg")
    for axis in axes.xaxis, axes.yaxis:
        labels = [tick.label1 for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]]
        powers = [label for label in labels if "mathdefault" in label.get_text()]
        assert len(powers) >= 4
        assert all(label.get_parse_math() for label in powers)
    legend = axes.get_legend()
    assert legend is not None
    assert not legend.get_texts()[0].get_parse_math()


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (10, 80, ["10", "20", "50"]),
        (0.25, 4, ["0.5", "1", "2"]),
        (1e-3, 1e3, ["0.001", "0.01", "0.1", "1", "10", "100", "1000"]),
    ],
)
def test_a_logarithmic_axis_has_plain_numbers(low, high, labels):
    figure = NotebookFigure(layout="constrained")
    axes = figure.subplots()
    axes.plot([low, high], [1, 2])
    make_logarithmic(axes, "x")
    figure.draw_without_rendering()
    shown = [tick.label1.get_text() for tick in axes.xaxis.get_major_ticks()]
    assert set(labels) <= set(shown)
    assert not any("math" in text for text in shown)
    assert not any(tick.label1.get_text() for tick in axes.xaxis.get_minor_ticks())


def test_a_logarithmic_axis_has_powers_where_numbers_are_tiny():
    figure = NotebookFigure(layout="constrained")
    axes = figure.subplots()
    axes.plot([1e-9, 1], [1, 2])
    make_logarithmic(axes, "x")
    figure.draw_without_rendering()
    shown = [tick.label1.get_text() for tick in axes.xaxis.get_major_ticks()]
    assert any("10^{-8}" in text or "10^{-7}" in text for text in shown)
    assert "1" in shown
