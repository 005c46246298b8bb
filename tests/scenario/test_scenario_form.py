"""The form of scenarios: all problems at once, exact inverses, changes by path."""

import pickle
from pathlib import Path

import pytest

import ackclock as ac
from ackclock._util import paths

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
GOOD = """
duration = "60 s"
[net]
kind = "dumbbell"
pairs = 2
rate = "10 Mbps"
rtt = "100 ms"
[[flows]]
pair = 0
[[flows]]
pair = 1
start = "5 s"
"""
BAD = """
duration = -1
nam = "x"
record.tables = ["window"]
[net]
kind = "dumbbell"
pairs = 2.5
rate = "10 mpbs"
buffer = 100
qdsc = "fifo"
[[flows]]
pair = "x"
cc = "no-such-control"
tcp.mss = -1
"""


@pytest.fixture
def scenario():
    return ac.load(GOOD)


def test_every_problem_is_reported_together_with_its_path():
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(BAD)
    reported = {problem.path: problem.message for problem in caught.value.problems}
    assert set(reported) == {
        "duration",
        "nam",
        "record.tables[0]",
        "net.pairs",
        "net.rate",
        "net.buffer",
        "net.qdsc",
        "flows[0].pair",
        "flows[0].cc",
        "flows[0].tcp.mss",
    }
    assert 'did you mean "name"' in reported["nam"]
    assert 'did you mean "windows"' in reported["record.tables[0]"]
    assert 'did you mean "Mbps"' in reported["net.rate"]
    assert "name its unit" in reported["net.buffer"]
    assert 'did you mean "qdisc"' in reported["net.qdsc"]


def _paths(text):
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(text).check()
    return [problem.path for problem in caught.value.problems]


def test_what_is_wrong_hides_nothing_else_that_is():
    text = GOOD.replace('rtt = "100 ms"', "rtt = 0\nloss = 3\naccess_rate = 0\npairs = 2")
    text = text.replace("pairs = 2\n", "", 1).replace("pair = 0", 'pair = 5\ncc = "nope"')
    assert sorted(_paths(text)) == [
        "flows[0].cc",
        "flows[0].pair",
        "net.access_rate",
        "net.loss",
        "net.rtt",
    ]
    # Parameters of algorithms, of a flow that leads nowhere too, beside a time that is none.
    text = GOOD.replace("pair = 0", 'pair = 5\ncc = { kind = "aimd", b = 2 }') + "size = 0"
    text = text.replace('duration = "60 s"', "duration = 0\nwarmup = 0")
    assert sorted(_paths(text)) == ["duration", "flows[0].cc.b", "flows[0].pair", "flows[1].size"]


def test_a_key_that_is_missing_hides_nothing_and_what_hangs_on_it_is_not_reported():
    text = GOOD.replace('rate = "10 Mbps"', "loss = 2").replace("pair = 0", "size = 0\npair = 2")
    text = text.replace('duration = "60 s"', 'warmup = "10 s"')
    # Whether the warm-up is too long depends on the duration; that there is no pair 2 on nothing.
    assert sorted(_paths(text)) == ["", "flows[0].pair", "flows[0].size", "net", "net.loss"]
    text = GOOD.replace("pairs = 2", "loss = 2").replace("pair = 1", "pair = 90")
    assert sorted(_paths(text)) == ["net", "net.loss"]


@pytest.mark.parametrize("size", ["0", '"5 kx"', "-3"])
def test_what_follows_from_leaving_a_wrong_value_out_is_not_reported(size):
    # Without a size, `every` would have nothing to hand over.
    text = GOOD.replace("pair = 0", f"size = {size}\nevery = '1 s'\npair = 0")
    assert _paths(text) == ["flows[0].size"]


def test_a_trace_file_that_cannot_be_read_hides_nothing(tmp_path):
    file = tmp_path / "s.toml"
    schedule = "schedule = { mahimahi_file = 'none' }\nloss = 2"
    file.write_text(GOOD.replace("pairs = 2", f"{schedule}\npairs = 2"), encoding="utf-8")
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(file).check()
    assert {problem.path for problem in caught.value.problems} == {"net.schedule", "net.loss"}


def test_changes_of_links_are_for_networks_of_every_kind(tmp_path):
    (tmp_path / "up").write_text("10\n20\n", encoding="utf-8")
    file = tmp_path / "s.toml"
    text = """
duration = "2 s"
net = { kind = "topohub", name = "topozoo/Geant2009", rate = "50 Mbps" }
[[links]]
link = ["NL->*", "*->NL"]
mtu = "1500 B"
loss = 0.001
[[links]]
link = "NL->BE"
schedule = { mahimahi_file = "up" }
[[flows]]
src = "NL"
dst = "BE"
"""
    file.write_text(text, encoding="utf-8")
    scenario = ac.load(file)
    assert ac.load(scenario.to_toml()) == ac.Scenario.from_data(scenario.data)
    reported = {link["id"]: link for link in scenario.explain().data["links"]}
    assert [name for name, link in reported.items() if link["varies"]] == ["NL->BE"]
    # Two opportunities of 1500 bytes in 20 ms.
    run = scenario.run()
    assert 0.5e6 < run.summary["flows"][0]["goodput_bps"] < 1.2e6


def test_changes_of_links_are_objects_too():
    net = ac.topology.Star(hosts=3, rate="10 Mbps", delay="5 ms", buffer="1 MB")
    change = ac.LinkChange(link="h0->r", loss=0.01)
    scenario = ac.Scenario(net, [ac.Flow(pair=0)], 5, links=[change])
    text = """
duration = 5
net = { kind = "star", hosts = 3, rate = "10 Mbps", delay = "5 ms", buffer = "1 MB" }
flows = [{ pair = 0 }]
links = [{ link = "h0->r", loss = 0.01 }]
"""
    assert scenario.fingerprint == ac.load(text).fingerprint
    assert scenario.run().summary["links"][0]["drop_reasons"]["random"] > 0
    without = scenario.replace(**{"links[0].loss": 0.0}).run()
    assert "random" not in without.summary["links"][0]["drop_reasons"]


@pytest.mark.parametrize(
    ("text", "path", "reported"),
    [
        ("duration = 1", "", '"net" is missing'),
        ("duration = 1\nnet = { kind = 'dumbel' }", "net.kind", 'did you mean "dumbbell"'),
        ("duration = 1\nnet = { pairs = 1 }", "net", '"kind" is missing'),
        (GOOD + "schedule = { mahimai = [1] }", "flows[1].schedule", "not a key"),
        (
            GOOD.replace("pairs = 2", "schedule = { mahimai = [1] }\npairs=2"),
            "net.schedule.mahimai",
            'did you mean "mahimahi"',
        ),
        ("duration = \n", "", "not valid TOML"),
        ("{", "", "not valid JSON"),
    ],
)
def test_a_problem_names_its_place_and_what_was_meant(text, path, reported):
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(text + "\n")
    assert any(p.path == path and reported in p.message for p in caught.value.problems)


def test_a_problem_in_a_file_names_the_file(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(BAD)
    with pytest.raises(ac.ScenarioError) as caught:
        ac.load(file)
    assert str(caught.value).count(str(file)) == len(caught.value.problems)
    with pytest.raises(ac.ScenarioError, match="cannot be read"):
        ac.load(tmp_path / "none.toml")


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_what_is_written_reads_back_equal(file):
    scenario = ac.load(file)
    assert ac.load(scenario.to_toml()) == scenario
    assert ac.load(scenario.to_json()) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert hash(ac.load(scenario.to_toml())) == hash(scenario)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_examples_begin_with_their_question(file):
    schema, question, *_ = file.read_text().splitlines()
    assert schema.startswith("#:schema ")
    assert question.startswith("# ")


def test_objects_and_text_give_the_same_scenario(scenario):
    net = ac.topology.Dumbbell(pairs=2, rate="10 Mbps", rtt="100 ms")
    flows = [ac.Flow(pair=0), ac.Flow(pair=1, start="5 s")]
    built = ac.Scenario(net, flows, duration="60 s")
    assert built == scenario
    assert built.net == net
    assert list(built.flows) == flows


def test_replace_changes_a_copy_only(scenario):
    before = scenario.to_toml()
    changed = scenario.replace(**{"net.buffer": "2 bdp", "flows[*].start": 1, "seed": 7})
    assert scenario.to_toml() == before
    assert changed.data["net"]["buffer"] == "2 bdp"
    assert [flow["start"] for flow in changed.data["flows"]] == [1, 1]
    assert changed.seed == 7
    assert changed.replace(**{"net.buffer": None, "flows[*].start": None}) != changed


def test_a_parameter_may_be_set_on_an_algorithm_given_by_name(scenario):
    data = paths.replace_values({"flows": [{"cc": "x"}]}, {"flows[0].cc.alpha": 3})
    assert data == {"flows": [{"cc": {"kind": "x", "alpha": 3}}]}


def test_a_parameter_may_be_set_on_a_class_given_by_name():
    data = paths.replace_values({"flows": [{"cc": "mine.py:Mine"}]}, {"flows[0].cc.target": "3ms"})
    assert data["flows"][0]["cc"] == {"kind": "python", "class": "mine.py:Mine", "target": "3ms"}


def test_a_path_names_an_entry_by_its_id():
    data = {"flows": [{"id": "a"}, {"id": "1", "cc": "cubic"}, {"pair": 3}]}
    changed = paths.replace_values(
        data, {"flows[a].start": 2, 'flows["1"].cc.beta': 0.5, "flows[1].x": 0}
    )
    assert changed["flows"] == [
        {"id": "a", "start": 2},
        {"id": "1", "cc": {"kind": "cubic", "beta": 0.5}, "x": 0},
        {"pair": 3},
    ]
    with pytest.raises(
        ac.ScenarioError, match=r'flows has no entry with id "ab"; did you mean "a"'
    ):
        paths.replace_values(data, {"flows[ab].start": 2})
    with pytest.raises(ac.ScenarioError, match="no entry has an id; number them from 0"):
        paths.replace_values({"flows": [{"pair": 0}]}, {"flows[a].start": 2})


@pytest.mark.parametrize(
    ("path", "reported"),
    [
        ("net.bufer", 'did you mean "buffer"'),
        ("flow[*].cc", 'did you mean "flows"'),
        ("flows[9].start", "2 entries"),
        ("net[0]", "not a list|no list"),
        ("", "is not a path"),
        ("a..b", "is not a path"),
        ("[a].b", "is not a path"),
        ("flows[].b", "is not a path"),
    ],
)
def test_a_path_that_leads_nowhere_is_reported(scenario, path, reported):
    with pytest.raises(ac.ScenarioError, match=reported):
        scenario.replace(**{path: 1})


def test_scenarios_are_frozen(scenario):
    with pytest.raises(AttributeError, match="replace"):
        scenario.seed = 3
    scenario.data["net"]["pairs"] = 99
    assert scenario.data["net"]["pairs"] == 2


@pytest.mark.parametrize(
    "path", ["net.buffer", "flows[3].start", "flows[*].cc", "a.b[0].c-d", "f[x y].z", 'f["7"].z']
)
def test_paths_are_written_as_they_were_read(path):
    assert paths.text(paths.split(path)) == path


def test_the_constructor_knows_every_key_of_the_schema():
    import inspect

    from ackclock.catalogue import schema

    assert set(inspect.signature(ac.Scenario).parameters) == set(schema.scenario()["properties"])


def test_an_unknown_engine_is_unsupported(scenario):
    with pytest.raises(ac.UnsupportedError, match="packet"):
        scenario.run(engine="magic")


def test_a_null_of_json_is_a_key_left_out(scenario):
    text = scenario.to_json().replace('"duration"', '"warmup": null, "duration"')
    assert ac.load(text) == scenario
    assert "warmup" not in ac.load(text).to_toml()


def test_defaults_that_depend_on_the_era_stay_out_of_files(scenario):
    from ackclock.catalogue import records, schema

    for room, key in (("cc", "flows[0].cc"), ("qdisc", "net.qdisc")):
        for cls in records.room(room).values():
            if not cls._rules.get("required"):
                changed = scenario.replace(**{key: cls()})
                assert ac.load(changed.to_toml()) == changed
    assert any(
        rules.get("default", 0) is None
        for entry in schema.catalogue()["qdisc"].values()
        for rules in entry["params"].get("properties", {}).values()
    )


def test_the_fingerprint_is_of_what_is_simulated(scenario):
    same = scenario.replace(**{"net.rate": "1e4 kbps", "seed": 9, "name": "other"})
    assert same.fingerprint == scenario.fingerprint
    assert scenario.replace(**{"net.rate": "11 Mbps"}).fingerprint != scenario.fingerprint


def test_every_value_that_is_left_out_is_explained():
    text = """
era = "1999"
duration = "2 s"
[net]
kind = "dumbbell"
pairs = 4
rate = "10 Mbps"
rtt = "40 ms"
[[flows]]
pair = 0
[[flows]]
pair = 1
cc = "vegas"
[[flows]]
pair = 2
[[flows]]
pair = 3
source = { kind = "cbr", rate = "1 Mbps" }
"""
    reported = ac.load(text).explain()
    lines = {line["path"]: (line["value"], line["source"]) for line in reported.data["defaults"]}
    assert lines["flows[*].cc"] == ("aimd (2 of 4)", "era 1999")
    assert lines["flows[*].recovery"] == ("reno (3 of 4)", "era 1999")
    assert lines["net.buffer"] == ("1 bdp", "every era")
    assert lines["net.qdisc"] == ("fifo", "every era")
    assert lines["net.access_delay"] == ("0.001 s", "every era")
    assert lines["net.access_rate"][0] == "ten times the bottleneck"
    assert lines["tcp.mss"][1] == "era 1999"
    assert not {"era", "duration", "net.rate", "net.rtt"} & set(lines)
    assert "net.access_rate" in str(reported)
    given = ac.load(text).replace(**{"net.qdisc": "red", "flows[0].cc": "cubic"}).explain().data
    paths_of = {line["path"] for line in given["defaults"]}
    assert "flows[2].cc" in paths_of
    assert not {"net.qdisc", "flows[*].cc"} & paths_of


def test_traffic_without_a_template_is_explained():
    reported = ac.load("""
duration = "2 s"
net = { kind = "dumbbell", pairs = 2, rate = "10 Mbps" }
traffic = [{ generator = "poisson" }]
""").explain()
    lines = {line["path"]: line["value"] for line in reported.data["defaults"]}
    assert lines["traffic[0].flow.cc"] == "cubic"


def test_what_every_link_leaves_out_is_one_line():
    text = """
duration = "2 s"
[net]
kind = "graph"
links = [
    { a = "x", b = "y", rate = "1 Mbps", delay = "1 ms" },
    { a = "y", b = "z", rate = "1 Mbps", delay = "1 ms", qdisc = "red" },
]
[[flows]]
src = "x"
dst = "z"
"""
    lines = {line["path"]: line["value"] for line in ac.load(text).explain().data["defaults"]}
    assert lines["net.links[*].buffer"] == "1 bdp"
    assert lines["net.links[0].qdisc"] == "fifo"
    assert lines["flows[0].cc"] == "cubic"


def test_documents_of_programs_hold_plain_si_numbers():
    """Programs that write scenarios pass bit/s, s and B; units are for what people type."""
    data = {
        "duration": 1,
        "net": {
            "kind": "graph",
            "links": [{"a": "s", "b": "d", "rate": 5_000_000, "delay": 0.01, "buffer": "20 pkt"}],
        },
        "flows": [{"src": "s", "dst": "d", "start": 0.1}],
    }
    (flow,) = ac.Scenario.from_data(data).run().summary["flows"]
    assert 0 < flow["goodput_bps"] < 5e6
