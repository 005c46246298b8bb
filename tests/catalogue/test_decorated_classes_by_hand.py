"""Decorated classes: what is a parameter, what an instance has, what is refused, by hand."""

import dataclasses
import hashlib
from pathlib import Path
from typing import ClassVar

import pytest

import ackclock as ac
from ackclock.catalogue.python_class import to_data

HERE = Path(__file__)


def make(annotations=(), room="cc", **members):
    """Make a class of no file: annotations are pairs of name and type."""

    def on_ack(self, window, ack):
        pass

    def on_congestion(self, window, event):
        pass

    def on_enqueue(self, packet, queue):
        return ac.Pass

    methods = (
        {"on_ack": on_ack, "on_congestion": on_congestion}
        if room == "cc"
        else {"on_enqueue": on_enqueue}
    )
    body = {**methods, "__annotations__": dict(annotations), **members}
    lacking = [name for name in methods if body[name] is None]
    return type("Mine", (), {key: value for key, value in body.items() if key not in lacking})


def messages_of(make_instance):
    with pytest.raises(ac.ScenarioError) as caught:
        make_instance()
    return [(problem.path, problem.message) for problem in caught.value.problems]


# -- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "default", "valid", "wrong", "expected"),
    [
        (float, 1.0, [0, 2.5, -1], [True, "x", None], "a number"),
        (int, 1, [0, -7], [1.5, False, "1"], "a whole number"),
        (bool, True, [True, False], [0, 1, "true"], "true or false"),
        (str, "a", ["", "b"], [1, True, None], "text"),
        (float | bool, 1.0, [True, 2], ["x"], "a number or true or false"),
        (int | str | None, None, [None, 3, "x"], [True, 0.5], "a whole number or text"),
        (str | int | float, 1, [1, 1.5, "x"], [False], "text or a whole number or a number"),
    ],
    ids=str,
)
def test_a_parameter_takes_values_of_its_kinds_and_names_them_all_if_it_is_none(
    kind, default, valid, wrong, expected
):
    cls = ac.control(make([("a", kind)], a=default))
    for value in valid:
        assert cls(a=value).a == value
    for value in wrong:
        assert messages_of(lambda value=value: cls(a=value)) == [
            ("a", f"{value!r} is not {expected}")
        ]


def test_a_whole_number_becomes_a_number_where_only_such_are_expected():
    cls = ac.control(
        make(
            [("a", float), ("b", int), ("c", float | int), ("d", bool), ("e", float | bool)],
            a=1, b=1, c=1, d=True, e=True,
        )
    )  # fmt: skip
    own = cls(a=2, b=3, c=4, d=False, e=False)
    assert [type(v) for v in (own.a, own.b, own.c, own.d, own.e)] == [float, int, int, bool, bool]
    # So does the default.
    assert [type(value) for value in (cls().a, cls().b, cls().e)] == [float, int, bool]


def test_quantities_are_in_si_units_whether_default_or_written():
    cls = ac.control(
        make(
            [("a", ac.Seconds), ("b", ac.BitsPerSecond), ("c", ac.Bytes), ("d", ac.Seconds | None)],
            a="5 ms", b="10 Mbps", c="64 kB", d=None,
        )
    )  # fmt: skip
    own = cls()
    assert (own.a, own.b, own.c, own.d) == (0.005, 1e7, 64_000.0, None)
    own = cls("2 s", 3, "1 MB", "1 min")
    assert (own.a, own.b, own.c, own.d) == (2.0, 3.0, 1e6, 60.0)
    assert type(own.b) is float
    wrong = messages_of(lambda: cls(a="5 km", b="1 kB"))
    assert [path for path, _ in wrong] == ["a", "b"]
    assert all("expected" in message or "is not" in message for _, message in wrong)


def test_all_wrong_values_of_an_instance_are_reported_in_the_order_in_which_they_are_written():
    cls = ac.control(make([("a", float), ("b", int)], a=1.0, b=1))
    assert messages_of(lambda: cls("x", b=0.5)) == [
        ("a", "'x' is not a number"),
        ("b", "0.5 is not a whole number"),
    ]
    with pytest.raises(TypeError, match="'c'"):
        cls(c=1)


def test_a_parameter_that_a_class_lacks_is_reported_with_the_nearest():
    definition = ac.control(make([("gain", float)], gain=1.0)).__ackclock__
    (problem,) = definition.problems({"gian": 1.0})
    assert problem.path == "gian"
    assert problem.message == 'Mine has no parameter "gian"; did you mean "gain"?'
    assert definition.problems({"gain": 2}) == []


def test_fields_that_are_no_argument_are_no_parameters():
    @ac.control
    class Counted:
        gain: float = 0.5
        table: ClassVar[dict] = {}
        calls: int = dataclasses.field(init=False, default=0)
        step: int = dataclasses.field(default_factory=lambda: 3)

        def on_ack(self, window, ack):
            pass

        def on_congestion(self, window, event):
            pass

    assert list(Counted.__ackclock__.parameters) == ["gain", "step"]
    assert Counted.__ackclock__.parameters["step"].default == 3
    assert (Counted().step, Counted().calls) == (3, 0)


def test_a_class_that_is_a_dataclass_stays_as_it_is():
    @ac.control
    @dataclasses.dataclass(frozen=True)
    class Frozen:
        gain: float = 0.5

        def on_ack(self, window, ack):
            pass

        def on_congestion(self, window, event):
            pass

    with pytest.raises(dataclasses.FrozenInstanceError):
        Frozen().gain = 1.0


def test_parameters_of_a_class_that_one_inherits_from_are_its_own_too():
    base = ac.control(make([("gain", float)], gain=1.0))

    @ac.control
    class Derived(base):
        loss: float = 0.5

    assert list(Derived.__ackclock__.parameters) == ["gain", "loss"]
    assert (Derived(2).gain, Derived(2).loss) == (2.0, 0.5)


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("room", "members", "message"),
    [
        ("cc", {"on_ack": None},
         "Mine has no method on_ack; a congestion control needs def on_ack(self, window, ack)"),
        ("cc", {"on_congestion": None, "on_congestoin": lambda self, window, event: None},
         'Mine has no method on_congestion (did you mean that by "on_congestoin"?); a congestion'
         " control needs def on_congestion(self, window, event)"),
        ("cc", {"on_ack": lambda self: None},
         "Mine.on_ack(self) has the wrong arguments; expected def on_ack(self, window, ack)"),
        ("cc", {"on_ack": 3},
         "Mine.on_ack has the wrong arguments; expected def on_ack(self, window, ack)"),
        ("cc", {"on_timeout": lambda self, window: None},
         "Mine.on_timeout(self, window) has the wrong arguments; expected def on_timeout(self,"
         " window, event)"),
        ("cc", {"on_lost": lambda self: None},
         "Mine.on_lost(self) has the wrong arguments; expected def on_lost(self, window, lost)"),
        ("cc", {"phase": lambda self, window: None},
         "Mine.phase(self, window) has the wrong arguments; expected def phase(self)"),
        ("cc", {"probes": lambda: None},
         "Mine.probes() has the wrong arguments; expected def probes(self)"),
        ("qdisc", {"on_enqueue": None},
         "Mine has no method on_enqueue; an AQM needs def on_enqueue(self, packet, queue)"),
        ("qdisc", {"on_dequeue": lambda self, packet: None},
         "Mine.on_dequeue(self, packet) has the wrong arguments; expected def on_dequeue(self,"
         " packet, queue)"),
        ("qdisc", {"on_timer": lambda self, queue, time: None},
         "Mine.on_timer(self, queue, time) has the wrong arguments; expected def on_timer(self,"
         " queue)"),
    ],
)  # fmt: skip
def test_a_method_that_is_missing_or_takes_something_else_is_named(room, members, message):
    decorate = ac.control if room == "cc" else ac.aqm
    with pytest.raises(ac.DefinitionError) as caught:
        decorate(make(room=room, **members))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("annotations", "values", "message"),
    [
        ([("kind", str)], {"kind": "a"},
         "Mine.kind cannot be a parameter; the name is reserved"),
        ([("rng", int)], {"rng": 1}, "Mine.rng cannot be a parameter; the name is reserved"),
        ([("a", float)], {}, "Mine.a has no default; expected one, as in a: float = 1.0"),
        ([("a", float)], {"a": "x"}, "Mine.a: the default 'x' is not a number"),
        ([("a", "Nowhere")], {"a": 1}, "Mine: the annotation Nowhere is not known"),
        ([("a", float | list)], {"a": 1.0},
         "Mine.a is annotated float | list; a parameter is float, int, bool, str, or one of"
         " ackclock.Seconds, BitsPerSecond, Bytes; state of a run belongs into __post_init__"),
        ([("a", float), ("b", float)], {"a": 1.0},
         "Mine: non-default argument 'b' follows default argument"),
        ([("a", list)], {"a": []},
         "Mine: mutable default <class 'list'> for field a is not allowed: use default_factory"),
    ],
)  # fmt: skip
def test_a_field_that_can_be_no_parameter_is_named(annotations, values, message):
    with pytest.raises(ac.DefinitionError) as caught:
        ac.control(make(annotations, **values))
    assert str(caught.value) == message


def test_what_is_no_class_is_refused():
    with pytest.raises(ac.DefinitionError) as caught:
        ac.control(3)
    assert str(caught.value) == "3 is not a class; a congestion control is a decorated class"
    with pytest.raises(ac.DefinitionError, match=r"None is not a class; an AQM is a decorated"):
        ac.aqm()(None)


def test_a_cadence_is_a_word_of_the_room_or_an_interval():
    def cadence(decorate, room, value, **members):
        return decorate(cadence=value)(make(room=room, **members)).__ackclock__.cadence

    def on_timer(self, queue):
        pass

    assert cadence(ac.control, "cc", "round") == "round"
    assert cadence(ac.control, "cc", "100 ms") == 0.1
    assert cadence(ac.control, "cc", 2) == 2.0
    assert cadence(ac.aqm, "qdisc", "packet") == "packet"
    assert cadence(ac.aqm, "qdisc", "15 ms", on_timer=on_timer) == 0.015
    for decorate, room, words in (
        (ac.control, "cc", '"ack", "round"'), (ac.aqm, "qdisc", '"packet"'),
    ):  # fmt: skip
        other = "packet" if room == "cc" else "ack"
        with pytest.raises(ac.DefinitionError) as caught:
            cadence(decorate, room, other)
        message = f"Mine: the cadence is '{other}'; expected {words} or \"100 ms\""
        assert str(caught.value) == message
    for nothing in (0, "0 s", -1):
        with pytest.raises(ac.DefinitionError, match="the cadence is"):
            cadence(ac.control, "cc", nothing)


def test_an_aqm_with_an_interval_needs_a_method_for_it_and_none_without():
    with pytest.raises(ac.DefinitionError) as caught:
        ac.aqm(cadence="15 ms")(make(room="qdisc"))
    assert str(caught.value) == (
        "Mine has no method on_timer; an AQM needs def on_timer(self, queue)"
    )
    assert ac.aqm(make(room="qdisc")).__ackclock__.cadence == "packet"


# -- the definition -----------------------------------------------------------------------------


def test_a_definition_says_the_room_and_what_grows_the_window():
    plain = ac.control(make()).__ackclock__
    assert (plain.room, plain.word, plain.cadence, plain.slow_start) == (
        "cc", "a congestion control", "ack", True,
    )  # fmt: skip
    assert ac.control(slow_start=False)(make()).__ackclock__.slow_start is False
    assert ac.control()(make()).__ackclock__.slow_start is True
    queue = ac.aqm(make(room="qdisc")).__ackclock__
    assert (queue.room, queue.word, queue.slow_start) == ("qdisc", "an AQM", True)


@ac.control
class AtTopLevel:
    """Is named by this file."""

    gain: float = 1.0
    delay: ac.Seconds = "5 ms"

    def on_ack(self, window, ack):
        """Do nothing."""

    def on_congestion(self, window, event):
        """Do nothing."""


def test_a_class_at_the_top_level_of_a_file_is_named_by_it_and_has_its_hash():
    definition = AtTopLevel.__ackclock__
    assert definition.reference == f"{HERE}:AtTopLevel"
    assert definition.file == HERE
    assert definition.text == HERE.read_text(encoding="utf-8")
    assert definition.sha256 == hashlib.sha256(HERE.read_bytes()).hexdigest()


def test_classes_of_a_session_are_numbered_where_they_share_a_name():
    def define(name):
        cls = make()
        cls.__name__, cls.__qualname__ = name, f"define.<locals>.{name}"
        return ac.control(cls).__ackclock__

    first, second, third = define("Twin"), define("Twin"), define("Twin")
    names = [definition.reference for definition in (first, second, third)]
    assert names == ["session:Twin", "session:Twin#2", "session:Twin#3"]
    # A name that begins with another is not that.
    assert define("Twins").reference == "session:Twins"
    assert define("Twin").reference == "session:Twin#4"


def defined_by(text, name="Typed"):
    """Execute a class body that has no file."""
    space = {"ac": ac, "__name__": "__nowhere__"}
    exec(f"@ac.control\nclass {name}:\n{text}", space)
    return space[name].__ackclock__


BODY = """
    def on_ack(self, window, ack):
        window.cwnd += {a}
    def on_congestion(self, window, event):
        window.{b} = 2
"""


def test_without_source_the_hash_is_of_the_compiled_code():
    first = defined_by(BODY.format(a=1, b="cwnd"))
    assert first.text == ""
    assert first.file is None
    assert first.sha256 == defined_by(BODY.format(a=1, b="cwnd")).sha256
    assert first.sha256 == defined_by(BODY.format(a=1, b="cwnd"), "Other").sha256
    nested = BODY.replace("{a}", "(lambda x: x + {a})(0)")
    others = [
        defined_by(BODY.format(a=2, b="cwnd")),
        defined_by(BODY.format(a=1, b="ssthresh")),
        defined_by(BODY.format(a=1, b="cwnd") + "    def phase(self):\n        return 'up'\n"),
        defined_by(BODY.format(a=1, b="cwnd").replace("on_ack", "on_lost") + BODY.format(
            a=1, b="cwnd").partition("    def on_congestion")[0]),
        defined_by(nested.format(a=1, b="cwnd")),
        defined_by(nested.format(a=2, b="cwnd")),
    ]  # fmt: skip
    assert len({first.sha256, *(other.sha256 for other in others)}) == 7


# -- as data ------------------------------------------------------------------------------------


def test_data_of_a_class_name_it_and_what_an_instance_changes():
    plain = {"kind": "python", "class": f"{HERE}:AtTopLevel"}
    assert to_data(AtTopLevel) == plain
    assert to_data(AtTopLevel()) == plain
    assert to_data(AtTopLevel(1, 0.005)) == plain
    assert to_data(AtTopLevel(gain=2)) == {**plain, "gain": 2.0}
    assert to_data(AtTopLevel(delay="6 ms")) == {**plain, "delay": 0.006}


def test_a_class_that_only_inherits_from_a_decorated_class_is_refused():
    class Undecorated(AtTopLevel):
        pass

    for value in (Undecorated, Undecorated()):
        with pytest.raises(ac.DefinitionError) as caught:
            to_data(value)
        assert str(caught.value) == (
            "Undecorated is not decorated itself, only a class that it inherits from"
        )
