"""Each option of ``ackclock plan`` goes where its help says, in the unit that it names."""

import json
from pathlib import Path

import pytest

from ackclock.cli import main as cli
from ackclock.studies.planner import (
    answers,
    enforcement,
    failures,
    overview,
    page,
    sampling,
    situation,
    upgrades,
    utilisation,
    weights,
)


class Answer:
    """Stands for what a study found."""

    def to_data(self):
        return {"answer": 42}


WHERE = {
    "report": (overview, "overview"),
    "load": (utilisation, "utilisation"),
    "failures": (failures, "survey"),
    "upgrades": (upgrades, "upgrades"),
    "weights": (weights, "search"),
    "enforce": (enforcement, "enforcement"),
}
"""By command the function that answers."""


@pytest.fixture
def seen(monkeypatch):
    """What studies are called with, and how the network is read."""
    calls = {}

    def read(network, **options):
        calls["read"] = {"network": network, **options}
        return "the situation"

    def answer(name):
        def work(*positional, progress=None, **options):
            assert positional[0] == "the situation"
            progress = progress or next((a for a in positional[1:] if callable(a)), None)
            progress(0.5)
            rest = [a for a in positional[1:] if not callable(a)]
            calls[name] = {**options, **({"positional": rest} if rest else {})}
            return Answer()

        return work

    monkeypatch.setattr(situation, "read_situation", read)
    for name, (module, function) in WHERE.items():
        monkeypatch.setattr(module, function, answer(name))
    monkeypatch.setattr(failures, "failure_from_names", lambda _, names: ("failed", *names))
    monkeypatch.setattr(answers, "text", lambda answer: "the text")
    return calls


def plan(*arguments):
    return cli.main(["plan", *arguments])


READ = {
    "network": "net.csv", "demands": None, "gravity_file": None, "time": None, "metric": "weight",
    "rate": None, "merge_parallel": False, "scale": 1.0, "hashing": None, "paths": None,
    "reference": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ([], {}),
        (["--demands", "d.csv"], {"demands": Path("d.csv")}),
        (["--gravity", "g.csv"], {"gravity_file": Path("g.csv")}),
        (["--metric", "hops"], {"metric": "hops"}),
        (["--reference-bandwidth", "1 Gbps"], {"reference": "1 Gbps"}),
        (["--rate", "2 Gbps"], {"rate": "2 Gbps"}),
        (["--merge-parallel"], {"merge_parallel": True}),
        (["--scale", "2.5"], {"scale": 2.5}),
        (["--paths", "p.csv"], {"paths": Path("p.csv")}),
        (["--at", "20:00"], {"time": "20:00"}),
    ],
)
def test_network_and_demands_are_read_as_the_options_say(seen, options, changes):
    assert plan("failures", "net.csv", *options) == 0
    assert seen["read"] == {**READ, **changes}


def test_flows_are_hashed_at_the_rate_and_seed_of_the_options(seen):
    assert plan("load", "net.csv", "--ecmp", "hash") == 0
    hashing = seen["read"]["hashing"]
    assert (hashing.flow_bps, hashing.seed, hashing.same) == (1e7, 1, False)
    options = ["--flow-rate", "2 Mbps", "--hash-seed", "5", "--same-hash"]
    assert plan("enforce", "net.csv", "--ecmp", "hash", *options) == 0
    hashing = seen["read"]["hashing"]
    assert (hashing.flow_bps, hashing.seed, hashing.same) == (2e6, 5, True)
    # Without --ecmp hash they have no effect, however wrong.
    assert plan("load", "net.csv", "--flow-rate", "nothing") == 0
    assert seen["read"]["hashing"] is None


@pytest.mark.parametrize("rate", ["0", "-1", "inf", "nothing", "5 km"])
def test_a_rate_of_flows_is_above_0_and_finite(seen, capsys, rate):
    assert plan("load", "net.csv", "--ecmp", "hash", "--flow-rate", rate) == 2
    message = f'--flow-rate: is "{rate}"; expected a rate above 0, such as 10 Mbps'
    assert message in capsys.readouterr().err
    assert "load" not in seen


MIB = 2**20


@pytest.mark.parametrize(
    ("command", "options", "expected"),
    [
        ("report", [], {"count": 2, "factor": 2.0, "tries": 2000, "seed": 1, "memory": 1024 * MIB}),
        ("report",
         ["--count", "3", "--factor", "4", "--tries", "5", "--seed", "6", "--memory", "7"],
         {"count": 3, "factor": 4.0, "tries": 5, "seed": 6, "memory": 7 * MIB}),
        ("load", [], {"hashes": 1}),
        ("load", ["--hashes", "9"], {"hashes": 9}),
        ("failures", [], {"positional": ["links"], "failed": None, "memory": 1024 * MIB,
                          "hashes": 1, "resume": None}),
        ("failures", ["--of", "pairs", "--fail", "a", "--fail", "b - c", "--memory", "3",
                      "--hashes", "4", "--resume", "kept"],
         {"positional": ["pairs"], "failed": [("failed", "a", "b - c")], "memory": 3 * MIB,
          "hashes": 4, "resume": Path("kept")}),
        ("upgrades", [], {"positional": ["failure"], "count": 2, "factor": 2.0,
                          "memory": 1024 * MIB, "resume": None}),
        ("upgrades", ["--goal", "total", "--count", "5", "--factor", "1.5", "--memory", "2",
                      "--resume", "kept"],
         {"positional": ["total"], "count": 5, "factor": 1.5, "memory": 2 * MIB,
          "resume": Path("kept")}),
        ("weights", [], {"tries": 2000, "most": 20, "seed": 1}),
        ("weights", ["--tries", "7", "--most", "8", "--seed", "9"],
         {"tries": 7, "most": 8, "seed": 9}),
        ("enforce", [], {"count": 1, "share": 0.5, "push": 3.0, "draws": 10, "seed": 1}),
        ("enforce", ["--count", "2", "--hoses", "0.25", "--push", "4", "--draws", "5", "--seed",
                     "6"],
         {"count": 2, "share": 0.25, "push": 4.0, "draws": 5, "seed": 6}),
    ],
)  # fmt: skip
def test_a_question_is_answered_as_the_options_say(seen, capsys, command, options, expected):
    assert plan(command, "net.csv", *options) == 0
    assert seen[command] == expected
    assert capsys.readouterr().out == "the text\n"


def test_an_answer_is_printed_as_text_or_data_or_not_at_all(seen, capsys):
    assert plan("load", "net.csv", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"answer": 42}
    assert plan("load", "net.csv", "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_a_map_and_a_page_are_written_where_they_are_wanted(seen, capsys, monkeypatch, tmp_path):
    saved = {}
    monkeypatch.setattr(page, "picture", lambda answer: "the figure")
    monkeypatch.setattr(
        "ackclock.plot.style.save", lambda figure, file, *, command: saved.update({file: figure})
    )

    class Report:
        MARKER = "plan.json"

        def __init__(self, answer):
            self.answer = answer

        def save(self, folder, *, command):
            saved[folder] = self.answer
            return folder / "index.html"

    monkeypatch.setattr(page, "Report", Report)
    for suffix in ("svg", "png", "pdf"):
        file = tmp_path / f"map.{suffix}"
        assert plan("load", "net.csv", "--map", str(file)) == 0
        assert saved[file] == "the figure"
    capsys.readouterr()
    out = tmp_path / "out"
    assert plan("load", "net.csv", "--out", str(out)) == 0
    assert isinstance(saved[out], Answer)
    assert capsys.readouterr().out == f"the text\n\npage: {out / 'index.html'}\n"
    assert plan("load", "net.csv", "--out", str(out), "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"answer": 42}
    # What cannot be drawn is refused before anything is read.
    seen.clear()
    assert plan("load", "net.csv", "--map", "map.gif") == 2
    assert '--map: "map.gif" should end in .svg, .png or .pdf' in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    assert plan("load", "net.csv", "--out", str(tmp_path / "full")) == 2
    assert seen == {}


@pytest.mark.parametrize(
    "options",
    [
        ["load", "--hashes", "0"], ["load", "--scale", "0"], ["failures", "--of", "cables"],
        ["failures", "--memory", "0"], ["upgrades", "--factor", "1"], ["upgrades", "--count", "0"],
        ["weights", "--most", "0"], ["weights", "--most", "65536"], ["weights", "--tries", "0"],
        ["enforce", "--hoses", "1"], ["enforce", "--push", "0.5"], ["enforce", "--draws", "0"],
        ["report", "--seed", "-1"], ["load", "--metric", "delay"], ["load", "--hash-seed", "-1"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_values_out_of_range_are_refused(seen, capsys, options):
    assert plan(options[0], "net.csv", *options[1:]) == 2
    assert options[1] in capsys.readouterr().err
    assert seen == {}


@pytest.fixture
def sampled(seen, monkeypatch):
    class Sample(Answer):
        pass

    def work(read, sizes, **options):
        seen["sample"] = {"read": read, "sizes": sizes, **options}
        return Sample()

    def write(series, file):
        seen["written"] = type(series).__name__, file

    monkeypatch.setattr(sampling, "sample", work)
    monkeypatch.setattr(sampling, "write_series", write)
    return seen


SIZES = '{kind = "pareto", mean = "10 MB", shape = 1.3}'


def test_a_sample_is_drawn_and_written_as_the_options_say(sampled, capsys):
    to = ["--sizes", SIZES, "--series", "s.csv"]
    assert plan("sample", "net.csv", *to) == 0
    drawn = sampled["sample"]
    sizes = drawn.pop("sizes")
    assert sizes["kind"] == "pareto"
    assert drawn == {
        "read": "the situation", "rate_bps": float("inf"), "bin_s": 300.0, "bins": 288, "seed": 1,
    }  # fmt: skip
    assert sampled["written"] == ("Sample", Path("s.csv"))
    assert capsys.readouterr().out == "the text\n\nseries: s.csv\n"
    more = ["--flow-rate", "4 Mbps", "--bin", "2 s", "--bins", "7", "--seed", "3", "--quiet"]
    assert plan("sample", "net.csv", *to, *more) == 0
    drawn = sampled["sample"]
    assert (drawn["rate_bps"], drawn["bin_s"], drawn["bins"], drawn["seed"]) == (4e6, 2.0, 7, 3)
    assert capsys.readouterr().out == ""
    assert plan("sample", "net.csv", *to, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"answer": 42}


def test_all_that_is_wrong_with_a_sample_is_reported_together(sampled, capsys):
    wrong = ["--sizes", '{kind = "parato"}', "--flow-rate", "0", "--bin", "0 s"]
    assert plan("sample", "net.csv", *wrong, "--series", "s.csv") == 2
    said = capsys.readouterr().err
    assert '--flow-rate: is "0"; expected a rate above 0, such as 10 Mbps' in said
    assert '--bin: is "0 s"; expected a time above 0' in said
    assert "--sizes" in said
    assert '"pareto"' in said
    assert "sample" not in sampled
    assert plan("sample", "net.csv", "--sizes", SIZES, "--bin", "5 km", "--series", "s.csv") == 2
    assert "--bin: " in capsys.readouterr().err
