"""``ackclock run`` with replications and formats: what is kept where something cannot be."""

import json
from types import SimpleNamespace

import pytest

from ackclock.cli import main as cli
from ackclock.cli import run as command
from ackclock.errors import AckclockError


def runs(small_file, out, *more):
    short = ["--set", "duration=3 s", "--set", "warmup=1 s", "--reps", "3", "--workers", "1"]
    return cli.main(["run", str(small_file), "--out", str(out), *short, *more])


def test_means_are_printed_though_a_run_could_not_be_written(
    small_file, tmp_path, capsys, monkeypatch
):
    tried = []
    save = command._save

    def fail_second(result, folder):
        tried.append(folder.name)
        if len(tried) == 2:
            raise AckclockError("the disk is full")
        save(result, folder)

    monkeypatch.setattr(command, "_save", fail_second)
    assert runs(small_file, tmp_path / "out", "--json", "--quiet") == 2
    said = capsys.readouterr()
    assert "the disk is full" in said.err
    assert json.loads(said.out)["seeds"] == [3, 4, 5]
    # Nothing more is tried, and there are no means beside runs that lack one.
    assert len(tried) == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == tried[:1]


def test_an_interrupt_keeps_what_had_finished_and_says_so(
    small_file, tmp_path, capsys, monkeypatch
):
    class Interrupted:
        interrupted = True
        runs = (1, 2)
        means = observations = None

        def to_dict(self):
            return {"seeds": [3, 4]}

        def __str__(self):
            return "the means"

    from ackclock._util import output_folder
    from ackclock.experiments import replication

    monkeypatch.setattr(replication, "replicate", lambda *_, **__: Interrupted())
    monkeypatch.setattr(output_folder, "write_tables", lambda *_: None)
    assert runs(small_file, tmp_path / "out") == 3
    said = capsys.readouterr()
    assert said.out == "the means\n"
    assert f"2 of 3 replications are kept in {tmp_path / 'out'}" in said.err
    assert cli.main(["run", str(small_file), "--reps", "3", "--quiet"]) == 3
    said = capsys.readouterr()
    assert "2 of 3 replications are finished" in said.err
    assert said.out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pcapng", "x", "--reps", "2"],
         "--pcapng writes the packets of one run; leave --reps out"),
        (["--qlog", "x", "--reps", "2"], "--qlog writes one run; leave --reps out"),
        (["--twin", "--reps", "2"], "--twin compares one run; leave --reps out"),
        (["--link", "l"], "--link goes with --pcapng FILE"),
        (["--qlog", "x", "--link", "l"], "--link goes with --pcapng FILE"),
        (["--record", "drps"], '--record: there is no table "drps"; did you mean "drops"?'),
        (["--qlog", "nowhere/x"], "--qlog: there is no folder nowhere"),
        (["--qlog", "."], "--qlog: . is a folder; expected a file"),
        (["--pcapng", "x", "--link", "r0-r1"], '--link: there is no link "r0-r1"; did you mean'),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_refused_before_the_run(
    small_file, tmp_path, capsys, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "_run_one", lambda *_: pytest.fail("it ran"))
    assert cli.main(["run", str(small_file), *options]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--qlog", "x"], "--qlog is for packets; fluid cases have none"),
        (["--twin"], "--twin is for packets; fluid cases are theory"),
        (["--reps", "2"], "--reps is for packets; replications of fluid cases need a sweep"),
        (["--threads", "2"], "--threads is for packets; fluid cases use one thread"),
    ],
)
def test_what_is_of_packets_is_refused_for_other_engines(tmp_path, capsys, options, message):
    file = tmp_path / "fluid.toml"
    file.write_text(
        'engine = "fluid"\nunit = "pkt/s"\nnet = { kind = "links", links = [["a", "b", 1]] }\n'
        'traffic = { kind = "listed", flows = [["a", "b"]] }\n'
    )
    assert cli.main(["run", str(file), *options]) == 2
    assert message in capsys.readouterr().err
    assert cli.main(["run", str(file), "--threads", "1", "--quiet"]) == 0


def test_tables_are_recorded_once_beside_those_of_the_scenario():
    seen = {}
    scenario = SimpleNamespace(
        data={"record": {"tables": ["drops"]}}, replace=lambda **changes: seen.update(changes)
    )
    assert command._recording(scenario, []) is scenario
    command._recording(scenario, ["rtts", "drops", "rtts"])
    assert seen == {"record.tables": ["drops", "rtts"]}
