"""Networks in CSV files: read by column they are what they are read by row."""

import pytest

import ackclock as ac


def write(folder, nodes, edges):
    (folder / "nodes.csv").write_text(nodes, encoding="utf-8", newline="")
    (folder / "edges.csv").write_text(edges, encoding="utf-8", newline="")
    return folder


def _by(folder, least_bytes, monkeypatch, **options):
    """The network of a folder, or what is wrong with it; with columns from so many bytes on."""
    from ackclock.scenario import plain_csv

    monkeypatch.setattr(plain_csv, "LEAST_BYTES", least_bytes)
    try:
        net = ac.topology.from_csv(folder, **{"rate": "9 Mbps", **options})
        return repr((net.nodes, net.links))
    except ac.ScenarioError as error:
        return str(error)


LINES = [f"n{i % 20},n{(7 * i + 3) % 20},{'' if i % 3 else 1e6 + i / 7},," for i in range(60)]
LINES = [line + ("" if i % 2 else f"{i / 7:.4f}") for i, line in enumerate(LINES)]
LARGE = (
    "id,name,lat,lon\n" + "".join(f"n{i},,{i * 3.3 - 30:.2f},{-7 * i}\n" for i in range(20)),
    "source,target,capacity_bps,delay_s,length_km\n" + "\n".join(LINES) + "\n",
)


def weighed(nodes, edges, weights):
    head, *lines = edges.splitlines()
    given = [f"{line},{weights[i % len(weights)]}" for i, line in enumerate(lines)]
    return nodes, "\n".join([f"{head},weight", *given]) + "\n"


@pytest.mark.parametrize(
    "change",
    [
        lambda nodes, edges: (nodes, edges),
        lambda nodes, edges: (nodes.replace(",,", ",same,"), edges + "n1,n2,,0.5,9\nn2,n1,7e6,,\n"),
        lambda nodes, edges: (
            "".join(n.replace(",,", f",x{i},") for i, n in enumerate(nodes.splitlines(True))),
            edges,
        ),
        lambda nodes, edges: (nodes.replace("\n", "\r\n"), "\ufeff" + edges.replace("\n", "\r\n")),
        lambda nodes, edges: (nodes.replace("n3,,-20.10,", "n3,,,"), edges),
        lambda nodes, edges: (nodes + "n3,,1,1\n", edges),
        lambda nodes, edges: (nodes, edges + "n1,m9,1e6,1,1\n"),
        lambda nodes, edges: (nodes, edges + "n1,n2,1e6,,-4\n"),
        lambda nodes, edges: (nodes, edges + "n1,n2,0.5,,4\n"),
        lambda nodes, edges: (nodes, edges + "n1,n2,nan,,4\n"),
        lambda nodes, edges: (nodes, edges + 'n1,"n2",2e6,,4\n'),
        lambda nodes, edges: (nodes, edges + "n1,n2\n"),
        lambda nodes, edges: (nodes, edges.replace("capacity_bps", "weight")),
        lambda nodes, edges: (nodes, edges.splitlines()[0] + "\nn1,n1,1e6,0,0\n"),
        lambda nodes, edges: (nodes.replace("id", "node"), edges),
        lambda nodes, edges: weighed(nodes, edges, ["", "2.5", "7"]),
        lambda nodes, edges: weighed(nodes, edges, ["1", "2", "0"]),
        lambda nodes, edges: weighed(nodes, edges, ["1", "-2"]),
        lambda nodes, edges: weighed(nodes, edges, ["1", "x"]),
    ],
)
def test_columns_of_a_network_say_what_rows_say(tmp_path, monkeypatch, change):
    made = write(tmp_path, *change(*LARGE))
    for options in ({}, {"rate": None}, {"scale": 0.3, "signal_speed": 1.9e8}, {"weight": "w"}):
        by_row = _by(made, 10**9, monkeypatch, **options)
        assert _by(made, 0, monkeypatch, **options) == by_row


def test_a_plain_network_is_read_by_column(tmp_path, monkeypatch):
    from ackclock.scenario.networks import graph_import

    monkeypatch.setattr(graph_import, "_rows", None)
    assert "'n1'" in _by(write(tmp_path, *LARGE), 0, monkeypatch)
    made = write(tmp_path, *weighed(*LARGE, ["", "2.5"]))
    assert "'weight': 2.5" in _by(made, 0, monkeypatch)


def test_a_column_of_weights_that_is_not_there_is_missed_by_column_too(tmp_path, monkeypatch):
    made = write(tmp_path, *LARGE)
    assert "metric" in _by(made, 0, monkeypatch, weight="metric")
