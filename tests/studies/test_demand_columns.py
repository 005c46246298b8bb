"""Traffic matrices in CSV: read by column they are what they are read by row."""

import numpy as np
import pytest

import ackclock as ac
from ackclock.engines.fluid import FluidCase
from ackclock.scenario import memory, plain_csv
from ackclock.studies.bottlenecks.demands import gravity, read_series
from ackclock.studies.bottlenecks.operators import read_network

NODES = "id,name\n" + "".join(f"{i},n{i}\n" for i in range(12))
EDGES = "source,target,capacity_bps\n" + "".join(f"{i},{(i + 1) % 12},1e9\n" for i in range(12))

ROWS = [f"n{i % 12},n{(5 * i + 1) % 12},{1e6 + i / 7}" for i in range(12)]
MATRIX = "source,target,demand_bps\n" + "\n".join(ROWS) + "\n"
TIMES = [f"10:{10 * (i % 3):02},{ROWS[i // 3]}" for i in range(36)]
SERIES = "time,source,target,demand_bps\n" + "\n".join(TIMES) + "\n"


@pytest.fixture
def network(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "edges.csv").write_text(EDGES)
    return read_network(tmp_path)


def shown(found):
    """All of a result, arrays as lists with their types."""
    if isinstance(found, ac.ScenarioError):
        return str(found)
    return [
        (str(value.dtype), value.tolist()) if isinstance(value, np.ndarray) else value
        for value in vars(found).values()
    ]


def by(read, least_bytes, monkeypatch):
    monkeypatch.setattr(plain_csv, "LEAST_BYTES", least_bytes)
    try:
        return shown(read())
    except ac.ScenarioError as error:
        return shown(error)


CHANGES = [
    lambda text: text,
    lambda text: text + "n1,n1,0\n",
    lambda text: text + "n1,n1,0\nn1,n1,0\n",
    lambda text: text + "n1,n1,5\n",
    lambda text: text + "n3,n9,0\n",
    lambda text: text + "n0,n1,7\n",
    lambda text: text + "n1, n2,7\n",
    lambda text: text + "n1,n2x,7\n",
    lambda text: text + "2,n10,7\n",
    lambda text: text + "n1,n3,-1\n",
    lambda text: text + "n1,n3,nan\n",
    lambda text: text + "n1,n3,2 Mbps\n",
    lambda text: text + "n1,n3,\n",
    lambda text: text + "n1,n3\n",
    lambda text: text + "n1,n3,1,2\n",
    lambda text: text + '"n1",n3,1\n',
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\ufeff" + text,
    lambda text: text.replace("demand_bps", "demand").replace("source", "from"),
    lambda text: text.replace("demand_bps", "volume"),
    lambda text: text.splitlines()[0] + "\nn1,n2,0\n",
    lambda text: text.splitlines()[0] + "\n",
]


@pytest.mark.parametrize("change", CHANGES)
def test_columns_of_a_matrix_say_what_rows_say(network, tmp_path, monkeypatch, change):
    file = tmp_path / "demands.csv"
    file.write_text(change(MATRIX), encoding="utf-8", newline="")

    def survey():
        return read_series(network, file, scale=0.3).traffic(0)

    def case():
        links = [[f"n{i}", f"n{(i + 1) % 12}", "1 Gbps"] for i in range(12)]
        traffic = {"kind": "matrix", "file": str(file), "scale": 0.3}
        net = {"kind": "links", "links": links}
        return FluidCase({"net": net, "traffic": traffic, "allocation": "max-min"}).traffic()

    for read in (survey, lambda: read_series(network, file, scale=0.3), case):
        assert by(read, 0, monkeypatch) == by(read, 10**9, monkeypatch)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text + "11:00,n1,n1,0\n",
        lambda text: text + "10:10,n0,n1,7\n",
        lambda text: text + "11:00,n0,n1,7\n",
        lambda text: text.replace("10:20", ""),
        lambda text: text.replace("time,", "time_utc,"),
    ],
)
def test_columns_of_matrices_over_time_say_what_rows_say(network, tmp_path, monkeypatch, change):
    file = tmp_path / "demands.csv"
    file.write_text(change(SERIES))

    def read():
        return read_series(network, file, scale=0.3)

    assert by(read, 0, monkeypatch) == by(read, 10**9, monkeypatch)


def test_a_large_matrix_is_read_by_column(network, tmp_path, monkeypatch):
    file = tmp_path / "demands.csv"
    file.write_text(SERIES)
    monkeypatch.setattr("ackclock.studies.bottlenecks.demands._rows", None)
    monkeypatch.setattr(plain_csv, "LEAST_BYTES", 0)
    made = read_series(network, file)
    assert made.times == ("10:00", "10:10", "10:20")
    assert made.volume.shape == (3, 12)


def test_a_table_of_times_and_pairs_that_does_not_fit_is_refused(network, tmp_path, monkeypatch):
    # Each line has another time and another pair, so that the table is their square.
    file = tmp_path / "demands.csv"
    lines = [f"{i},n{i % 12},n{(i // 12 + i + 1) % 12},1" for i in range(132)]
    file.write_text("time,source,target,demand_bps\n" + "\n".join(lines) + "\n")
    monkeypatch.setattr(memory, "machine_bytes", lambda: 10**5)
    for least_bytes in (0, 10**9):
        said = by(lambda: read_series(network, file), least_bytes, monkeypatch)
        assert "132 times and 132 pairs" in said
        assert "fewer times or pairs" in said
    monkeypatch.setattr(memory, "machine_bytes", lambda: 10**6)
    assert read_series(network, file).volume.shape == (132, 132)
    (tmp_path / "gravity.csv").write_text("node,out_bps\n" + "n1,1\nn2,2\nn3,3\n")
    assert len(gravity(network, tmp_path / "gravity.csv").source) == 6
    monkeypatch.setattr(memory, "machine_bytes", lambda: 100)
    with pytest.raises(ac.ScenarioError, match="9 pairs"):
        gravity(network, tmp_path / "gravity.csv")
