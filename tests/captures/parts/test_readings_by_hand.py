"""Tables and files of what was read, and what commands of captures do with their options."""

import json
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from ackclock.captures.calibrate import calibration
from ackclock.captures.calibrate.fitting import USUAL, describe_sender
from ackclock.captures.calibrate.search import CandidateSender
from ackclock.captures.identify import identification
from ackclock.captures.identify.identification import SURE, Identification
from ackclock.captures.read import figures, reading
from ackclock.captures.read.reading import Reading
from ackclock.captures.read.tables import tables_of
from ackclock.captures.trace import EVENTS, KINDS, SAMPLES, FlowTrace, Trace, columns
from ackclock.cli import main as cli

NAN = math.nan


def flow(name, events, **more):
    rows = [
        (time_s, KINDS.index(kind), start, start + 1000, 1040) for time_s, kind, start in events
    ]
    samples = columns(
        [(0.5, 1000, 2000, 2000, NAN, NAN, NAN, 0), (1.0, 3000, 0, 0, 9000, 0.02, 0.01, 1)],
        dict.fromkeys(SAMPLES, np.float64),
    )
    trips = columns([(0.6, 0.02)], {"time_s": np.float64, "rtt_s": np.float64})
    return FlowTrace(name, "tcp", events=columns(rows, EVENTS), samples=samples, rtts=trips, **more)


def trace():
    first = flow("1", [(0.0, "sent", 0), (0.1, "sent", 1000), (0.2, "lost", 0),
                       (0.3, "retransmitted", 0), (0.6, "acknowledged", 1000)],
                 ends=("10.0.0.1:5", "10.0.0.2:80"), doubts=["no clock", "no end"])  # fmt: skip
    second = flow("2", [(0.0, "sent", 0), (0.4, "reordered", 500)])
    return Trace("pcap", [first, second], None, ["cut off"], {"packets": 7})


def test_tables_have_the_rows_of_all_flows_with_their_names():
    tables = tables_of(trace())
    assert set(tables) == {"flows", "events", "rtts", "samples"}
    rows = tables["flows"].to_pylist()
    assert [row["id"] for row in rows] == ["1", "2"]
    assert (rows[0]["ends"], rows[1]["ends"]) == ("10.0.0.1:5 -> 10.0.0.2:80", None)
    assert (rows[0]["doubts"], rows[1]["doubts"]) == ("no clock; no end", "")
    events = tables["events"].to_pylist()
    assert [(row["flow"], row["event"], row["start"]) for row in events] == [
        ("1", "sent", 0), ("1", "sent", 1000), ("1", "lost", 0), ("1", "retransmitted", 0),
        ("1", "acknowledged", 1000), ("2", "sent", 0), ("2", "reordered", 500),
    ]  # fmt: skip
    assert events[1]["end"] == 2000
    assert events[1]["size_bytes"] == 1040
    assert tables["rtts"].to_pydict() == {
        "time_s": [0.6, 0.6], "flow": ["1", "2"], "rtt_s": [0.02, 0.02],
    }  # fmt: skip
    samples = tables["samples"].to_pydict()
    assert samples["flow"] == ["1", "1", "2", "2"]
    assert samples["delivered_bytes"] == [1000, 3000] * 2
    # What a file does not have is not known.
    assert samples["cwnd_bytes"] == [None, 9000] * 2


def test_a_reading_is_written_with_tables_figures_and_page(tmp_path, monkeypatch):
    read = Reading(trace(), "x.pcap")
    read.save(tmp_path / "out", command="ackclock read x.pcap")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"read.html", "read.json", "summary.txt", "sequence.svg", "rtt.svg"} <= names
    assert not [name for name in names if name.endswith(".csv")]
    assert pq.read_table(tmp_path / "out/events.parquet").num_rows == 7
    data = json.loads((tmp_path / "out/read.json").read_text())
    assert (data["file"], data["format"], data["packets"]) == ("x.pcap", "pcap", 7)
    assert (data["doubts"], len(data["flows"])) == (["cut off"], 2)
    assert (tmp_path / "out/summary.txt").read_text().strip() == str(read).strip()
    monkeypatch.setattr(figures, "draw_all", lambda trace: {})
    Reading(trace(), "x.pcap", csv=True).save(tmp_path / "csv", command="")
    written = pa_csv.read_csv(tmp_path / "csv/events.csv")
    assert written["event"].to_pylist()[2:4] == ["lost", "retransmitted"]
    assert written["flow"].to_pylist() == [1] * 5 + [2] * 2


def test_a_reading_says_how_much_was_read_and_what_the_file_cannot_show():
    lines = str(Reading(trace(), "x.pcap")).splitlines()
    assert lines[0] == "x.pcap: pcap, 7 packets, 2 flows"
    assert lines[-4:] == [
        "what the file cannot show:", "- cut off", "- flow 1: no clock", "- flow 1: no end",
    ]  # fmt: skip
    plain = trace()
    plain.doubts, plain.flows = [], plain.flows[1:]
    plain.facts = {"packets": 1}
    lines = str(Reading(plain, "y")).splitlines()
    assert lines[0] == "y: pcap, 1 flow"
    assert lines[-1] == "nothing that the file should show is missing"
    plain.flows = [flow(str(i), [(0.0, "sent", 0)], doubts=["d"]) for i in range(10)]
    lines = str(Reading(plain, "y")).splitlines()
    assert lines[-1] == "- flows 0, 1, 2, 3, 4, 5, 6, 7 and 2 more: d"


def test_cells_have_shares_of_losses_and_ends_where_there_are_such():
    read = Reading(trace(), "x")
    head, rows = reading._cells(read.flows)
    assert head[:4] == ["flow", "ends", "protocol", "cc"]
    assert rows[0][1:4] == ["10.0.0.1:5 -> 10.0.0.2:80", "tcp", "-"]
    assert rows[1][1] == "-"
    # One of three packets.
    assert rows[0][head.index("lost")] == "1 (33.33 %)"
    assert rows[1][head.index("lost")] == "0"
    assert rows[1][head.index("reordered")] == "1"
    head, rows = reading._cells(read.flows[1:])
    assert head[:2] == ["flow", "protocol"]
    assert len(rows[0]) == len(head)


def test_a_time_sequence_has_bytes_of_the_stream_or_numbers_of_packets():
    picture = figures._sequence(trace().flows[0])
    axes = picture.axes[0]
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert set(lines) == {"sent", "retransmitted", "lost", "acknowledged"}
    assert axes.get_ylabel() == "byte of the stream [kB]"
    assert list(lines["sent"].get_ydata()) == [0, 1]
    assert list(lines["retransmitted"].get_xdata()) == [0.3]
    # What is acknowledged counts to its end.
    assert list(lines["acknowledged"].get_ydata()) == [2]
    packets = flow("3", [(0.0, "sent", 5)], facts={"numbers_are_packets": True})
    axes = figures._sequence(packets).axes[0]
    assert axes.get_ylabel() == "packet"
    assert list(axes.get_lines()[0].get_ydata()) == [5]
    assert figures._sequence(replace(packets, protocol="udp")) is None
    assert figures._sequence(flow("4", [])) is None


@pytest.mark.parametrize(
    ("control", "probabilities", "sender", "text"),
    [
        ("vegas", {"bbr": 1.0}, "cubic", "vegas (named)"),
        (None, {"bbr": SURE, "cubic": 1 - SURE}, "cubic", f"bbr ({SURE:.2f})"),
        (None, {"bbr": 0.4, "cubic": 0.3, "aimd": 0.2, "vegas": 0.1}, "cubic",
         "not known (bbr 0.40, cubic 0.30, aimd 0.20); of cubic, aimd, bbr the nearest is cubic"),
        (None, {"bbr": 0.4}, None, "not known (bbr 0.40)"),
        (None, {}, "aimd", "not known; of cubic, aimd, bbr the nearest is aimd"),
    ],
)  # fmt: skip
def test_a_sender_is_named_identified_or_not_known(control, probabilities, sender, text):
    answer = Identification("x", FlowTrace("1", "tcp"), probabilities)
    nearest = None if sender is None else CandidateSender(sender, "linux")
    assert describe_sender(nearest, control, answer) == text
    assert USUAL == ("cubic", "aimd", "bbr")


def test_without_an_answer_a_sender_is_the_nearest():
    assert describe_sender(None, None, None) == "not known"
    assert describe_sender(CandidateSender("bbr", "rfc"), None, None) == (
        "not known; of cubic, aimd, bbr the nearest is bbr"
    )


# -- commands -------------------------------------------------------------------------------------


@pytest.fixture
def seen(monkeypatch):
    calls = {}
    answer = SimpleNamespace(to_dict=lambda: {"answer": 42})

    def work(name):
        def run(file, **options):
            progress = options.pop("progress", None)
            if progress is not None:
                progress(0.5)
            calls[name] = {"file": file, **options}
            return answer

        return run

    monkeypatch.setattr(reading, "read", work("read"))
    monkeypatch.setattr(calibration, "calibrate", work("calibrate"))
    monkeypatch.setattr(identification, "identify", work("identify"))
    return calls


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["read"], {"interface": None, "interval_s": 1.0, "keep_addresses": False, "csv": False}),
        (["read", "--interface", "2", "--interval", "0.5", "--keep-addresses", "--csv"],
         {"interface": 2, "interval_s": 0.5, "keep_addresses": True, "csv": True}),
        (["calibrate"],
         {"flow": 1, "control": None, "alternatives": ["cubic", "aimd", "bbr", "vegas"],
          "qdiscs": [], "draws": 20, "workers": None, "interface": None, "interval_s": 1.0}),
        (["calibrate", "--flow", "3", "--cc", "bbr3", "--try", "copa, aimd", "--qdisc", "fq-codel",
          "--draws", "5", "--workers", "2", "--interface", "1"],
         {"flow": 3, "control": "bbr3", "alternatives": ["copa", "aimd"], "qdiscs": ["fq-codel"],
          "draws": 5, "workers": 2, "interface": 1, "interval_s": 1.0}),
        (["calibrate", "--try", ""],
         {"flow": 1, "control": None, "alternatives": [], "qdiscs": [], "draws": 20,
          "workers": None, "interface": None, "interval_s": 1.0}),
        (["identify"], {"flow": 1, "among": [], "interface": None}),
        (["identify", "--flow", "2", "--among", "aimd,cubic", "--interface", "4"],
         {"flow": 2, "among": ["aimd", "cubic"], "interface": 4}),
    ],
)  # fmt: skip
def test_commands_of_captures_pass_their_options_on(seen, capsys, arguments, expected):
    name, *options = arguments
    assert cli.main([name, "x.pcap", *options, "--json"]) == 0
    assert seen == {name: {"file": Path("x.pcap"), **expected}}
    assert json.loads(capsys.readouterr().out) == {"answer": 42}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["calibrate", "--try", "cubik"], '--try: there is no cc "cubik"; did you mean "cubic"?'),
        (["calibrate", "--cc", "cubik"], '--cc: there is no cc "cubik"; did you mean "cubic"?'),
        (["calibrate", "--qdisc", "fq-codle"],
         '--qdisc: there is no qdisc "fq-codle"; did you mean "fq-codel"?'),
        (["identify", "--among", "aimd,cubik"], '--among: there is no cc "cubik"; did you mean'),
        (["calibrate", "--draws", "1"], "--draws"),
        (["calibrate", "--flow", "0"], "--flow"),
    ],
)  # fmt: skip
def test_wrong_names_of_captures_are_refused_before_anything_is_read(
    seen, capsys, arguments, message
):
    name, *options = arguments
    assert cli.main([name, "x.pcap", *options]) == 2
    assert message in capsys.readouterr().err
    assert seen == {}


@pytest.mark.parametrize("name", ["read", "calibrate", "identify"])
def test_a_folder_of_others_is_refused_before_anything_is_read(seen, tmp_path, name):
    (tmp_path / "mine.txt").write_text("x")
    assert cli.main([name, "x.pcap", "--out", str(tmp_path)]) == 2
    assert seen == {}


def test_a_classifier_of_other_features_is_not_used(monkeypatch):
    from ackclock.captures.identify import classifier

    classifier.load_classifier.cache_clear()
    names = classifier.NAMES
    monkeypatch.setattr(classifier, "NAMES", names[:-1])
    message = f"^{classifier.DATA.name} has {len(names)} features of {len(names) - 1}; write it"
    with pytest.raises(ValueError, match=message):
        classifier.load_classifier()
    monkeypatch.undo()
    assert classifier.load_classifier().names
