"""Numbers at axes are drawn as numbers, whatever the scale; names are drawn as they are."""

import pytest

from ackclock.plot.notebook import NotebookFigure


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
