"""What a person meant is said, once and briefly."""

from types import SimpleNamespace

import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.scenario import memory

TEXT = """
duration = "2 s"
net = { kind = "dumbbell", pairs = 1, rate = "2 Mbps", rtt = "20 ms", buffer = "20 pkt", MORE }
flows = [{ pair = 0, cc = "CC" }]
"""


def check(tmp_path, capsys, more="", cc="cubic"):
    (tmp_path / "s.toml").write_text(TEXT.replace(", MORE", more).replace("CC", cc))
    code = cli.main(["check", str(tmp_path / "s.toml")])
    return code, capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(
    ("written", "where", "meant"),
    [
        ("steps = [{ at = 1, delay = 0.003 }]", "steps[0].delay", "extra"),
        ('delay = "3 ms"', "delay", "steps"),
    ],
)
def test_a_key_that_a_description_names_is_said_to_be_that(tmp_path, capsys, written, where, meant):
    more = f', impairments = [{{ kind = "delay-steps", {written} }}]'
    code, lines = check(tmp_path, capsys, more)
    assert code == 2
    expected = f'net.impairments[0].{where}: "delay" is not a key here; did you mean "{meant}"?'
    assert lines[0].endswith(expected)


@pytest.mark.parametrize(
    ("line", "tables"),
    [
        ("start_jitter = 1", "flows[]"),
        ("mss = 1000", "tcp"),
        ("initial_window = 3", "tcp and quic"),
    ],
)
def test_a_key_of_another_table_is_said_to_be_of_that(tmp_path, capsys, line, tables):
    (tmp_path / "s.toml").write_text(line + TEXT.replace(", MORE", "").replace("CC", "cubic"))
    assert cli.main(["check", str(tmp_path / "s.toml")]) == 2
    key = line.partition(" ")[0]
    expected = f's.toml: {key}: "{key}" is not a key here, but of {tables}\n'
    assert capsys.readouterr().err.endswith(expected)


def test_a_file_in_place_of_a_list_is_said_to_have_another_key(tmp_path, capsys):
    more = ', schedule = { mahimahi = "lte.trace" }'
    code, lines = check(tmp_path, capsys, more)
    assert code == 2
    expected = '"lte.trace" is not a list; a file is given by mahimahi_file = "lte.trace"'
    assert lines[0].endswith(f"net.schedule.mahimahi: {expected}")


def test_a_file_without_its_class_is_said_once(tmp_path, capsys):
    (tmp_path / "mine.py").write_text("")
    code, lines = check(tmp_path, capsys, cc="mine.py")
    expected = 'flows[0].cc: "mine.py" names a file without its class; expected "mine.py:CLASS"'
    assert (code, len(lines)) == (2, 1)
    assert lines[0].endswith(expected)


@pytest.mark.parametrize(("rows", "said"), [(1e9, "times as long"), (1e15, "far less often")])
def test_a_factor_that_nobody_writes_is_no_advice(rows, said, monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 2**30)
    cost = SimpleNamespace(needed_bytes=lambda spills: 30 * rows, recorded_rows=rows)
    problem = memory.memory_problem(cost, ["flow_samples"], spills=False)
    assert said in problem.message


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("dualpi2", "identifier : ect1 or any-ect, default 'ect1'"),
        ("dualpi2", "scheduler : wrr or time-shifted, default 'wrr'"),
    ],
)
def test_show_names_the_choices_of_a_parameter(name, line, capsys):
    assert cli.main(["show", name]) == 0
    assert line in capsys.readouterr().out.splitlines()


def test_no_parameter_of_any_algorithm_has_the_name_of_a_type_for_its_choices(capsys):
    from ackclock.catalogue import schema
    from ackclock.catalogue.records import documentation

    for room in schema.ROOMS:
        for entry in schema.list_offered(room).values():
            text = documentation("x", "", "", entry["params"])
            for name, rules in entry["params"].get("$defs", {}).items():
                if name != "Spec" and all("const" in one for one in rules.get("oneOf", [{}])):
                    assert f" : {name}" not in text, (room, entry["name"], name)


def test_an_explanation_in_a_notebook_shows_what_it_explains():
    text = TEXT.replace(", MORE", "").replace("CC", "cubic")
    explained = ac.load(text).explain()
    page = explained._repr_html_()
    printed = str(explained)
    for said in ("1 flow,", "r0-&gt;r1", "default used", "predicted: "):
        assert said in page
        assert said.replace("&gt;", ">") in printed
    assert page.count("<table") == 4
