"""Every algorithm of every room, as a Python class."""

import ast
import inspect
import pickle
import tomllib
from pathlib import Path, PurePath

import pytest

import ackclock as ac
import write_stubs
from ackclock.catalogue import records, schema

ROOT = Path(__file__).resolve().parents[2]
EVERY = [(room, name) for room in schema.ROOMS for name in schema.catalogue()[room]]


def made(room, name):
    return getattr(getattr(ac, room), records.class_name(name))


@pytest.mark.parametrize("room", schema.ROOMS)
def test_every_room_has_algorithms_and_lists_them(room):
    names = {records.class_name(name) for name in schema.catalogue()[room]}
    assert names
    assert set(dir(getattr(ac, room))) == names
    others = {other for entry in schema.catalogue()[room].values() for other in entry["also"]}
    found = [hasattr(getattr(ac, room), records.class_name(other)) for other in others]
    assert all(found)


@pytest.mark.parametrize(("room", "name"), EVERY)
def test_an_algorithm_builds_from_defaults_and_equals_itself(room, name):
    cls = made(room, name)
    required = schema.catalogue()[room][name]["params"].get("required", [])
    if required:
        pytest.skip(f"needs {required}")
    value = cls()
    assert value == cls()
    assert hash(value) == hash(cls())
    assert value.to_data() == name
    assert records.from_data(room, name) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert repr(value) == f"{cls.__name__}()"
    assert "References" in (cls.__doc__ or "")


@pytest.mark.parametrize(("room", "name"), EVERY)
def test_fields_go_by_position_in_the_order_of_the_signature(room, name):
    cls = made(room, name)
    signature = inspect.signature(cls).parameters
    names = list(signature)
    defaults = {n: p.default for n, p in signature.items() if p.default not in (None, p.empty)}
    assert names == list(schema.catalogue()[room][name]["params"].get("properties", {}))
    if list(defaults) == names and names:
        value = cls(*defaults.values())
        assert value == cls(**defaults)
        assert value.to_data() == {"kind": name, **defaults}


@pytest.mark.parametrize(("room", "name"), EVERY)
def test_a_misspelt_parameter_is_refused_by_name(room, name):
    with pytest.raises(ac.ScenarioError, match="zzz_unknown"):
        made(room, name)(zzz_unknown=1)


def test_an_unknown_algorithm_suggests_the_nearest():
    with pytest.raises(AttributeError, match='did you mean "Vegas"'):
        _ = ac.cc.Vegass


def test_values_are_frozen_and_replaced_by_copies():
    net = ac.topology.Dumbbell(pairs=2, rate="10 Mbps")
    with pytest.raises(AttributeError, match="replace"):
        net.pairs = 3
    assert net.replace(pairs=3).pairs == 3
    assert net.pairs == 2


def test_all_problems_of_a_value_are_reported_together():
    with pytest.raises(ac.ScenarioError) as caught:
        ac.topology.Dumbbell(pairs="two", rate="10 ms", bufer="1 bdp")
    assert {p.path for p in caught.value.problems} == {"pairs", "rate", "bufer"}


def test_the_wheel_includes_every_stub():
    """maturin packs nothing that git ignores, unless `include` names it."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    patterns = [entry["path"] for entry in build["include"]]
    for name in write_stubs.stubs():
        path = PurePath("python/ackclock", name)
        assert any(path.match(pattern) for pattern in patterns), name


def test_stubs_show_names_defaults_and_ranges():
    control = next(
        text
        for text in write_stubs.stubs()["catalogue/rooms/cc.pyi"].split("\n\nclass ")
        if "Aimd(Record)" in text
    )
    assert '    r"""Additive increase, multiplicative decrease.\n' in control
    assert "\n    b: Factor kept after a loss. Range: more than 0 and less than 1.\n" in control
    assert "\n        b: float | None = 0.5,\n" in control
    assert '\n        count: Literal["acks", "segments", "whole"] | None = ...,\n' in control


def test_stubs_are_python_and_each_parameter_has_one_line():
    for name, text in write_stubs.stubs().items():
        for node in ast.parse(text, name).body:
            if isinstance(node, ast.ClassDef) and node.bases != []:
                if isinstance(node.bases[0], ast.Name) and node.bases[0].id != "Record":
                    assert ast.get_docstring(node) == f"Another name of `{node.bases[0].id}`."
                    continue
                (new,) = (item for item in node.body if isinstance(item, ast.FunctionDef))
                fields = [argument.arg for argument in new.args.args[1:]]
                title, *lines = (ast.get_docstring(node) or "").splitlines()
                assert title
                assert [line.split(": ")[0] for line in lines if line] == fields


def test_every_public_name_is_there_whatever_was_imported_before():
    import importlib
    import pkgutil

    for module in pkgutil.iter_modules(ac.__path__):
        if module.name not in ("__main__", "_core"):
            importlib.import_module(f"ackclock.{module.name}")
    for name in ac.__all__:
        assert getattr(ac, name) is not None
    assert callable(ac.replicate)
    assert callable(ac.load)


@pytest.mark.parametrize(
    ("room", "name", "registry_name"),
    [
        ("cc", "reno", "aimd"),
        ("cc", "bbrv3", "bbr3"),
        ("qdisc", "droptail", "fifo"),
        ("qdisc", "pfifo", "fifo"),
        ("qdisc", "fq_codel", "fq-codel"),
        ("recovery", "reno", "reno"),
    ],
)
def test_a_name_of_the_field_is_the_registry_s_algorithm(room, name, registry_name):
    assert schema.registry_name(room, name) == registry_name
    assert schema.entry(room, name) is schema.entry(room, registry_name)


def test_a_run_by_other_names_is_the_same_run_and_says_the_name_that_was_written():
    def run(cc, qdisc):
        net = ac.topology.Dumbbell(
            pairs=2, rate="10 Mbps", rtt="40 ms", buffer="20 pkt", qdisc=qdisc
        )
        flows = [ac.Flow(pair=0, cc=cc), ac.Flow(pair=1, cc="cubic")]
        return ac.Scenario(net, flows, duration="3 s").run()

    plain, named = run("aimd", "fifo"), run("reno", "drop-tail")
    assert named.summary["digest"] == plain.summary["digest"]
    assert [flow["cc"] for flow in named.summary["flows"]] == ["reno", "cubic"]
    assert named.summary["links"][0]["qdisc"] == "fifo"
    assert run(ac.cc.Reno(b=0.7), "fifo").summary["digest"] != plain.summary["digest"]
