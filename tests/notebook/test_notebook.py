"""A notebook of a stranger: executed as Jupyter does, it shows tables and figures by themselves."""

import base64

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import ackclock as ac
from conftest import SMALL

CELLS = [
    """
import ackclock as ac

@ac.control
class Halved:
    def on_ack(self, window, ack):
        window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, window, event):
        window.cwnd = event.in_use / 2

net = ac.topology.Dumbbell(pairs=2, rate="5 Mbps", rtt="40 ms", buffer="20 pkt")
case = ac.Scenario(
    net,
    [ac.Flow(id="<own>", pair=0, cc=Halved()), ac.Flow(pair=1, cc="vegas")],
    duration="4 s",
    record=["windows", "flow_samples"],
)
case
""",
    "run = case.run()\nrun",
    "run.windows",
    'ac.plot.draw("cwnd", run)',
    "import matplotlib.pyplot\nac.plot.throughput(run)",
    """
grid = ac.sweep(
    case.replace(record=None), {"net.buffer": ["5 pkt", "20 pkt"], "net.rtt": ["40 ms", "9 ms"]},
    reps=2, metrics=["mean(flows.goodput_bps)"],
)
grid
""",
    "result = grid.run(store=False, progress=False)\nresult",
    "result.to_pandas()",
    "result.to_xarray()",
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What each cell shows, by type."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    folder = str(tmp_path_factory.mktemp("notebook"))
    NotebookClient(
        book, timeout=None, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    found = []
    for cell in book.cells:
        results = [out for out in cell.outputs if out.output_type == "execute_result"]
        streams = [out.text for out in cell.outputs if out.output_type == "stream"]
        assert (len(results), streams) == (1, []), cell.source
        found.append(results[0].data)
    return found


@pytest.mark.slow
def test_scenario_run_and_sweep_are_shown_as_tables(shown):
    for data in (shown[0], shown[1], shown[5], shown[6]):
        html = data["text/html"]
        assert html.count("<table>") == html.count("</table>") >= 1
        assert "<script" not in html
    assert "&lt;own&gt;" in shown[0]["text/html"]
    assert "<own>" not in shown[0]["text/html"] + shown[1]["text/html"]
    assert "<th>goodput</th>" in shown[1]["text/html"]
    assert "<td>5 pkt, 20 pkt</td>" in shown[5]["text/html"]
    assert "mean(flows.goodput_bps)" in shown[6]["text/html"]


@pytest.mark.slow
def test_an_arrow_table_is_shown_by_its_first_rows(shown):
    html = shown[2]["text/html"]
    assert "<th>cwnd_segments</th>" in html
    assert "of which the first 20 are shown" in html
    assert html.count("<tr>") == 21


@pytest.mark.slow
def test_figures_show_themselves_with_and_without_pyplot(shown):
    for data in shown[3:5]:
        assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")


@pytest.mark.slow
def test_pandas_and_xarray_are_shown(shown):
    assert "net.buffer" in shown[7]["text/html"]
    assert "xarray.Dataset" in shown[8]["text/html"]


def test_a_frame_and_a_grid_have_the_values_of_the_runs():
    case = ac.load(SMALL).replace(duration="3 s", record=None)
    over = {"net.buffer": ["5 pkt", "20 pkt"], "flows[1].cc": ["vegas", "cubic", "aimd"]}
    metric = "mean(flows.goodput_bps)"
    result = ac.sweep(case, over, reps=2, metrics=[metric]).run(store=False, progress=False)
    frame = result.to_pandas()
    assert list(frame.columns) == ["net.buffer", "flows[1].cc", "seed", "replicate", metric]
    assert frame[metric].tolist() == result.per_run(metric).tolist()
    grid = result.to_xarray()
    assert dict(grid.sizes) == {"net.buffer": 2, "flows[1].cc": 3, "replicate": 2}
    # In the order of the sweep, not of the alphabet.
    assert grid["net.buffer"].values.tolist() == ["5 pkt", "20 pkt"]
    assert grid["flows[1].cc"].values.tolist() == ["vegas", "cubic", "aimd"]
    for row in result.values(metric).to_pylist():
        place = {name: row[name] for name in ("net.buffer", "flows[1].cc", "replicate")}
        assert grid[metric].sel(place).item() == row["value"]
        assert grid["seed"].sel(place).item() == row["seed"]
    other = result.to_pandas(["max(links.utilisation)"])
    assert other.columns[-1] == "max(links.utilisation)"


def test_points_without_runs_are_nan():
    case = ac.load(SMALL).replace(duration="3 s", record=None)
    listed = [
        {"net.buffer": "5 pkt", "net.rtt": "40 ms"},
        {"net.buffer": "20 pkt", "net.rtt": "20 ms"},
    ]
    metric = "mean(flows.goodput_bps)"
    result = ac.sweep(case, listed=listed, metrics=[metric]).run(store=False, progress=False)
    values = result.to_xarray()[metric]
    assert np.isnan(values.values).sum() == values.size - 2


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("xarray", "to_xarray")])
def test_a_missing_package_is_named(monkeypatch, package, method):
    case = ac.load(SMALL).replace(duration="3 s", record=None)
    result = ac.sweep(case, {"net.buffer": ["5 pkt"]}).run(store=False, progress=False)
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(ac.AckclockError, match=rf'pip install "\.\[{package}\]"'):
        getattr(result, method)()
