"""Wrong input of many kinds: one sentence each with file, path, value and what was expected."""

import errno

import pytest

import ackclock as ac
from ackclock.cli import main as cli

GOOD = """
duration = "5 s"
[net]
kind = "dumbbell"
pairs = 2
rate = "5 Mbps"
rtt = "40 ms"
buffer = "20 pkt"
[[flows]]
id = "a"
pair = 0
cc = "aimd"
[[flows]]
id = "b"
pair = 1
"""
ISLANDS = """
duration = "5 s"
[net]
kind = "graph"
links = [
    { a = "x", b = "y", rate = "1 Mbps", delay = "1 ms" },
    { a = "p", b = "q", rate = "1 Mbps", delay = "1 ms" },
]
[[flows]]
src = "x"
dst = "q"
"""
IMPORTED = """
duration = "5 s"
[net]
kind = "graphml"
file = "net.graphml"
rate = "1 Mbps"
[[flows]]
src = "x"
dst = "q"
"""
TRACED = GOOD.replace("pairs = 2", 'pairs = 2\nschedule = { mahimahi_file = "x.up" }')


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


CASES = [
    (changed("buffer", "bufer"), ['net.bufer: "bufer"', 'did you mean "buffer"']),
    (changed('"5 Mbps"', '"5 ms"'), ['net.rate: "ms" in "5 ms"', "Mbps"]),
    (changed('"5 Mbps"', "-5"), ["net.rate: -5", "not negative"]),
    (changed('"5 Mbps"', "0"), ["net.rate: 0 bit/s is out of range", "more than 0"]),
    (changed('"20 pkt"', '"0 pkt"'), ['net.buffer: "0 pkt"', "more than zero"]),
    (changed('"20 pkt"', "20"), ["net.buffer: 20", "name its unit"]),
    (changed('id = "b"', 'id = "a"'), ['flows[1].id: "a"', "is the name of an earlier flow"]),
    (changed("pair = 1", "pair = 7"), ["flows[1].pair: is 7", "expected 0 to 1"]),
    (changed("pair = 1", "pair = 1\ncount = 4000000000"), ["flows[1].count: is 4000000000"]),
    (changed("pair = 1", "pair = 1\ncount = 1000000000000"), ["flows[1].count: 1000000000000"]),
    (
        changed('"aimd"', '{ kind = "aimd", a = -1 }'),
        ["flows[0].cc.a: -1 is out of range; expected more than 0"],
    ),
    (
        changed('"aimd"', '"newreno"'),
        [
            'flows[0].cc: "newreno" is a loss recovery: recovery = "newreno"',
            'as a congestion control there is "reno"',
        ],
    ),
    (changed('"aimd"', '"droptail"'), ['"droptail" is a queue discipline: qdisc = "droptail"']),
    (changed('"aimd"', '"renoo"'), ['there is no cc "renoo"', 'did you mean "reno"']),
    (changed('"aimd"', '"vegsa"'), ['flows[0].cc: there is no cc "vegsa"', 'did you mean "vegas"']),
    (changed('"5 s"', '"1e30 s"'), ["duration: 1e30 s", "at most 9000000 s"]),
    (changed('"5 s"', '"5 s"\nseed = 99999999999999999999'), ["seed: 99999999999999999999"]),
    (ISLANDS, ['flows[0]: there is no way from "x" to "q"']),
    (IMPORTED, ["net: ", "net.graphml, line 1", "well-formed"]),
    (TRACED, ["net.schedule: ", "x.up, line 3", '"z"', "milliseconds"]),
    ('duration = "5 s"\n[net\n', ["not valid TOML", "line 2"]),
    ("", ['"net" is missing', '"duration" is missing']),
]


@pytest.mark.parametrize(("text", "reported"), CASES, ids=lambda case: str(case)[:30] or "empty")
def test_wrong_input_is_reported_and_nothing_is_written(text, reported, tmp_path, capsys):
    (tmp_path / "net.graphml").write_text("<graphml><node")
    (tmp_path / "x.up").write_text("1\n2\nz\n")
    file = tmp_path / "bad.toml"
    file.write_text(text)
    before = sorted(tmp_path.iterdir())
    assert cli.main(["run", str(file), "--json", "--out", str(tmp_path / "out")]) == cli.EXIT_INPUT
    seen = capsys.readouterr()
    assert seen.out == ""
    lines = seen.err.splitlines()
    assert all(line.startswith(f"{file}: ") for line in lines)
    for word in reported:
        assert word in seen.err
    assert len(lines) == (2 if text == "" else 1)
    assert sorted(tmp_path.iterdir()) == before


def test_problems_of_form_and_of_meaning_are_reported_together():
    text = GOOD.replace("buffer", "bufer").replace("pair = 1", "pair = 7").replace("5 s", "0 s")
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(text)
    assert {p.path for p in caught.value.problems} == {"net.bufer", "duration", "flows[1].pair"}


def test_what_follows_from_a_wrong_value_is_not_reported():
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(GOOD.replace("pair = 1", 'pair = "one"'))
    assert [p.path for p in caught.value.problems] == ["flows[1].pair"]


def test_a_flow_that_is_wrong_does_not_rename_those_after_it():
    text = ISLANDS + '[[flows]]\nsrc = "x"\ndst = "y"\n[[flows]]\nsrc = "p"\ndst = "q"\n'
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(text).check()
    assert [p.path for p in caught.value.problems] == ["flows[0]"]


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("file", "is a file"),
        ("full", "choose another"),
        ("file/sub", "file is a file; expected a folder"),
        ("file/sub/sub", "file is a file; expected a folder"),
        ("/proc/nope", "/proc/nope cannot be written"),
    ],
)
@pytest.mark.parametrize("reps", [1, 2])
def test_a_folder_that_may_not_be_replaced_is_reported_before_the_run(
    name, reported, reps, tmp_path, capsys
):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    file = tmp_path / "good.toml"
    # Had this run begun, the test would not end.
    file.write_text(GOOD.replace('"5 s"', '"8000000 s"'))
    run = ["run", str(file), "--reps", str(reps), "--out", str(tmp_path / name)]
    before = sorted(tmp_path.rglob("*"))
    assert cli.main(run) == cli.EXIT_INPUT
    seen = capsys.readouterr().err
    assert seen.startswith(str(tmp_path / name))
    assert reported in seen
    assert len(seen.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "full" / "mine.txt").read_text() == "mine"


HUGE = "1" + 400 * "0"
SMALL_JSON = """{
  "duration": "1 s",
  "net": {"kind": "dumbbell", "pairs": 1, "rate": "1 Mbps", "rtt": "40 ms", "loss": 0},
  "flows": [{"id": "a", "pair": 0}]
}"""


def with_json(old, new):
    assert old in SMALL_JSON
    return SMALL_JSON.replace(old, new)


@pytest.mark.parametrize(
    ("name", "text", "reported"),
    [
        ("x.json", with_json('"1 Mbps"', HUGE), "net.rate: 1000"),
        ("x.json", with_json('"loss": 0', f'"loss": {HUGE}'), "net.loss: 1000"),
        ("x.toml", changed('"5 Mbps"', HUGE), "net.rate: 1000"),
        ("x.json", with_json('"1 Mbps"', 3000 * "[" + 3000 * "]"), "more than 100 levels deep"),
        ("x.json", with_json('"1 Mbps"', 400 * "[" + 400 * "]"), "more than 100 levels deep"),
        ("x.toml", changed('"5 Mbps"', 3000 * "[" + 3000 * "]"), "more than 100 levels deep"),
        ("x.json", with_json('"pairs": 1', '"pairs": 1, "pairs": 2'), "net.pairs: is given twice"),
        ("x.json", with_json('"pair": 0', '"pair": 1, "pair": 0'), "flows[0].pair: is given twice"),
        ("x.json", f"[{SMALL_JSON}]", "holds a list of JSON; expected an object"),
        ("x.json", "7", "holds the value 7 of JSON; expected an object"),
        ("x.json", f"// mine\n{SMALL_JSON}", "not valid JSON: Expecting value: line 1"),
        ("x.toml", f'engine = "pakcet"\n{GOOD}', 'engine "pakcet"; did you mean "packet"?'),
        ("x.toml", f"engine = [1]\n{GOOD}", "engine: there is no engine"),
    ],
    ids=lambda case: str(case)[-25:],
)
def test_an_impossible_document_gets_one_sentence(name, text, reported, tmp_path, capsys):
    file = tmp_path / name
    file.write_text(text)
    assert cli.main(["run", str(file)]) == cli.EXIT_INPUT
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith(f"{file}: ")
    assert reported in seen.err
    assert len(seen.err.splitlines()) == 1
    assert len(seen.err) < 300


@pytest.mark.parametrize(("name", "text"), [("x.toml", GOOD), ("x.json", SMALL_JSON)])
def test_a_byte_order_mark_changes_nothing(name, text, tmp_path):
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert ac.load(tmp_path / name) == ac.load(text)
    assert ac.load(f"\ufeff{text}") == ac.load(text)


def test_an_output_that_cannot_be_written_is_not_our_fault(capsys, monkeypatch):
    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ackclock._util.text_table.table", full)
    assert cli.main(["list"]) == cli.EXIT_INPUT
    reported = "the output could not be written: No space left on device\n"
    assert capsys.readouterr().err == reported


@pytest.mark.parametrize("reps", [1, 2])
def test_a_disk_that_fills_up_takes_the_folder_but_not_the_summary(
    reps, tmp_path, capsys, monkeypatch
):
    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    file = tmp_path / "good.toml"
    file.write_text(GOOD)
    out = tmp_path / "out"
    assert cli.main(["run", str(file), "--reps", str(reps), "--out", str(out)]) == cli.EXIT_INPUT
    seen = capsys.readouterr()
    assert "goodput" in seen.out
    assert f"{out}" in seen.err
    assert "cannot be written: No space left on device" in seen.err
    assert not list(tmp_path.rglob("*.json"))


def test_names_that_look_like_numbers_may_be_set(tmp_path, capsys):
    file = tmp_path / "good.toml"
    file.write_text(GOOD)
    changes = ["--set", "era=2002", "--set", "flows[0].id=7", "--set", "duration=2"]
    assert cli.main(["run", str(file), "--json", *changes]) == 0
    assert '"era": "2002"' in capsys.readouterr().out


def test_packets_that_vanish_are_our_fault(tmp_path, capsys, monkeypatch):
    def broken(*_args, **_options):
        raise RuntimeError("packets were not conserved: 3 packets sent, but 2 received")

    monkeypatch.setattr("ackclock._core.run", broken)
    file = tmp_path / "good.toml"
    file.write_text(GOOD)
    assert cli.main(["run", str(file), "--out", str(tmp_path / "out")]) == cli.EXIT_INTERNAL
    assert "not conserved" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
