"""Trace files: what they say is what a list would, and what is wrong is reported with its line."""

import pytest

import ackclock as ac

TEXT = """
duration = "5 s"
net = { kind = "dumbbell", pairs = 2, rate = "5 Mbps", rtt = "20 ms" }
[[traffic]]
generator = { kind = "trace", ARRIVALS }
[[flows]]
pair = 1
source = { kind = "trace", packet = "600 B", PACKETS }
"""
LISTS = TEXT.replace(
    "ARRIVALS",
    'arrivals = [{ at = 0.5, size = "10 kB", pair = 0 }, { at = 1, pair = 1 }, { at = "1.5 s" }]',
).replace("PACKETS", 'packets = [{ at = 0, size = "500 B" }, { at = 0.01, size = "3 kB" }]')
FILES = TEXT.replace("ARRIVALS", 'file = "arrivals.csv"').replace("PACKETS", 'file = "packets.csv"')
ARRIVALS = "at,pair,size,note\n500 ms,0,10 kB,a\n1,1,,b\n1.5,,,\n"
PACKETS = "at,size\n0,500\n10 ms,3000\n"


@pytest.fixture
def load(tmp_path):
    def load(text=FILES, arrivals=ARRIVALS, packets=PACKETS):
        (tmp_path / "arrivals.csv").write_text(arrivals, encoding="utf-8")
        (tmp_path / "packets.csv").write_text(packets, encoding="utf-8")
        (tmp_path / "s.toml").write_text(text, encoding="utf-8")
        return ac.load(tmp_path / "s.toml")

    return load


def test_a_file_says_what_a_list_would(load):
    scenario = load()
    listed = ac.load(LISTS).run()
    assert scenario.run().summary["digest"] == listed.summary["digest"]
    assert scenario.resolve_files().run().summary["flows"] == listed.summary["flows"]
    assert len(scenario.run().summary["flows"]) == 4


def test_a_file_may_be_a_spreadsheets(load):
    packets = "at [ms];Size\n0,0;500 B\n10,0;3 kB\n;\n"
    arrivals = "at [ms];pair;size;note\n500;0;10 kB;a\n1000;1;;b\n1,5 s;;;\n"
    listed = ac.load(LISTS).run().summary["digest"]
    assert load(packets=packets, arrivals=arrivals).run().summary["digest"] == listed


def test_a_source_of_a_generators_flows_may_be_a_file(load):
    text = FILES.replace("generator = { kind", "generator = { count = 1, kind")
    text = text.replace("[[flows]]\npair = 1\n", "[traffic.flow]\nstart = 0\n")
    # One arrival; what it sends is in the other file.
    run = load(text, arrivals="at\n0.5\n").run()
    assert [flow["delivered_bytes"] for flow in run.summary["flows"]] == [3500]


def test_objects_name_files_too(tmp_path):
    (tmp_path / "p.csv").write_text(PACKETS, encoding="utf-8")
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="20 ms")
    flow = ac.Flow(pair=0, source=ac.source.Trace(file=str(tmp_path / "p.csv")))
    assert ac.Scenario(net, [flow], 1).run().summary["flows"][0]["delivered_bytes"] == 3500


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"packets": "at\n0\n"}, "flows[0].source.file: PATH, line 1: there is no column size"),
        ({"packets": "at,size\n0\n"}, "PATH, line 2: expected 2 values"),
        ({"packets": "at,size\n-1,5\n"}, "PATH, line 2: at: -1 is not a duration"),
        ({"packets": "at,size\n1,5\n0.5,5\n"}, "PATH, line 3: at: 0.5 is before the line above"),
        ({"packets": "at,size\n,5\n"}, "PATH, line 2: at: is empty"),
        ({"arrivals": "at,size\n0,5 kg\n"}, 'PATH, line 2: size: "kg" in "5 kg" is not a unit'),
        ({"arrivals": "at,pair\n0,x\n"}, 'PATH, line 2: pair: "x" is not a whole number'),
        ({"arrivals": "at,pair\n0,7\n"}, "traffic[0].generator: names pair 7, expected 0 to 1"),
        (
            {"text": FILES.replace('"packets.csv"', '"none.csv"')},
            "none.csv: cannot be read: No such file",
        ),
        (
            {"text": FILES.replace('packet = "600 B"', "packets = []")},
            "flows[0].source.file: names a list beside packets; expected one of them",
        ),
        ({"text": FILES.replace('"packets.csv"', "3")}, "flows[0].source.file: 3 is not text"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(load, tmp_path, changes, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        load(**changes).check()
    name = next(iter(changes))
    path = str(tmp_path / f"{name}.csv")
    message = str(caught.value).replace(path, "PATH")
    assert reported in message
    assert len(caught.value.problems) == 1


def test_all_that_is_wrong_with_a_file_and_behind_it_is_reported(load):
    text = FILES.replace('rtt = "20 ms"', 'rtt = "20 ms", loss = 2')
    with pytest.raises(ac.ScenarioError) as caught:
        load(text, arrivals="at\nx\ny\n", packets="at\n1\n").check()
    assert sorted(problem.path for problem in caught.value.problems) == [
        "flows[0].source.file",
        "net.loss",
        "traffic[0].generator.file",
        "traffic[0].generator.file",
    ]


def test_a_time_of_more_digits_than_any_has_is_reported(tmp_path):
    text = """
duration = 1
net = { kind = "dumbbell", pairs = 1, rate = 1e6, rtt = 0.1, schedule = { mahimahi_file = "up" } }
flows = [{ pair = 0 }]
"""
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    (tmp_path / "up").write_text(f"5\n{'9' * 5000}\n", encoding="utf-8")
    with pytest.raises(ac.ScenarioError, match=r"line 2: .* is out of range; expected at most"):
        ac.load(tmp_path / "s.toml").check()


def _read(path, monkeypatch, least_bytes):
    """What a file of packets says, or what is wrong with it; with columns from so many bytes on."""
    from ackclock.scenario import plain_csv
    from ackclock.scenario.traces import resolve_replayed, to_tables

    monkeypatch.setattr(plain_csv, "LEAST_BYTES", least_bytes)
    try:
        spec = {"kind": "trace", "file": path.name}
        made = resolve_replayed("source", spec, path.parent, "source")
        return repr(to_tables({"flows": [{"source": made}]}))
    except ac.ScenarioError as error:
        return str(error)


@pytest.mark.parametrize(
    "text",
    [
        b"at,size\n0,40\n0.1,1500\n0.30000000000000004,2\n",
        b"\xef\xbb\xbfat,size\r\n0,40\r\n1,2.5\r\n",
        b"size,note,at\n7,0,.5\n3.5,1,1.\n",
        b"at,size\n\n0,40\n\n1,41\n",
        b"at,size\n0,9007199254740993\n",
        b"at,size\n0,40\n1,\n",
        b"at,size\n1,40\n0,40\n",
        b"at,size\n0,40,1\n",
        b"at,size\n0,1.2.3\n",
        b"at,size\n0,.\n",
        b"at,size\n0,40\r1,41\n",
        b"at,at,size\n0,1,40\n",
        b'at,"size"\n0,40\n',
        b"at,size\n",
        b"at,size",
        b"",
        b"at,size\n0,1" + b"0" * 400 + b"\n",
    ],
)
def test_columns_say_what_rows_say(tmp_path, monkeypatch, text):
    path = tmp_path / "p.csv"
    path.write_bytes(text)
    by_row = _read(path, monkeypatch, 10**9)
    assert _read(path, monkeypatch, 0) == by_row
    assert "packets" in by_row or str(path) in by_row


def test_a_plain_file_is_read_by_column(tmp_path, monkeypatch):
    from ackclock.scenario import plain_csv, traces

    path = tmp_path / "p.csv"
    path.write_text("at,size\n0,40\n0.25,1500\n", encoding="utf-8")
    monkeypatch.setattr(plain_csv, "LEAST_BYTES", 0)
    monkeypatch.setattr(traces.csv_rows, "rows", None)
    spec = {"kind": "trace", "file": "p.csv"}
    made = traces.resolve_replayed("source", spec, tmp_path, "source")["packets"]
    assert made == [(0.0, 40), (0.25, 1500)]
    assert made.tables() == [{"at": 0.0, "size": 40}, {"at": 0.25, "size": 1500}]


@pytest.mark.parametrize(
    ("arrivals", "second"),
    [
        ("at,size\n0.5,4000\n0.75,5000\n", {"at": 0.75, "size": 5000}),
        # The key that is left out is between two others.
        ("pair,at\n0,0.5\n1,0.75\n", {"at": 0.75, "pair": 1}),
    ],
)
def test_what_is_read_by_column_is_the_same_scenario(load, monkeypatch, arrivals, second):
    from ackclock.scenario import plain_csv

    def seen():
        scenario = load(arrivals=arrivals, packets="at,size\n0,500\n0.01,3000\n")
        return (
            scenario.fingerprint,
            scenario.run().summary["digest"],
            scenario.with_seed(9).run().summary["digest"],
            scenario.resolve_files().to_toml(),
            scenario.to_document(),
        )

    by_row = seen()
    assert by_row[-1]["traffic"][0]["generator"]["arrivals"][1] == second
    monkeypatch.setattr(plain_csv, "LEAST_BYTES", 0)
    assert seen() == by_row
