"""Problems of form, what they hide, ranges as text, units that are written, by hand."""

import pytest

from ackclock.catalogue import form
from ackclock.errors import Problem


def scenario(cc="cubic", pair=0, **more):
    return {
        "net": {"kind": "dumbbell", "pairs": 1, "rate": 1e6, "rtt": "100 ms", "buffer": "5 pkt"},
        "flows": [{"pair": 0, "cc": cc}, {"pair": pair}],
        "duration": 5,
        **more,
    }


class Probe:
    """Finds a pair that is not there, and that the duration is short, once both are of a form."""

    def __init__(self):
        self.seen = []

    def __call__(self, data):
        self.seen.append(data)
        problems = []
        if any(flow.get("pair", 0) > 0 for flow in data["flows"]):
            problems.append(Problem("flows[1].pair", "no such pair", value="7", range="0"))
        if data["duration"] == 5:
            problems.append(Problem("duration", "too short", nearest="6 s"))
        return problems


HIDDEN = [
    Problem("flows[1].pair", "no such pair", value="7", range="0"),
    Problem("duration", "too short", nearest="6 s"),
]
UNKNOWN = Problem("flows[0].cc", 'there is no cc "cubik"; did you mean "cubic"?', value="cubik",
                  nearest="cubic")  # fmt: skip


def test_what_a_problem_hides_is_reported_with_all_that_is_known_of_it():
    probe = Probe()
    data = scenario("cubik", 7)
    assert form.hidden_problems(data, ["flows[0].cc"], probe) == HIDDEN
    # What is wrong is left out of what the probe sees, and the rest is as it was.
    assert probe.seen[0]["flows"] == [{"pair": 0}, {"pair": 7}]
    assert probe.seen[0]["net"] == data["net"]
    assert form.hidden_problems(data, [], Probe()) == []
    assert form.hidden_problems(data, ["duration"], lambda data: []) == []


def test_problems_of_form_are_reported_with_those_that_they_hide_if_that_is_wanted():
    data = scenario("cubik", 7)
    assert form.problems(data) == [UNKNOWN]
    assert form.problems(data, probe=Probe()) == [UNKNOWN, *HIDDEN]
    # A valid form hides nothing: the probe is for later.
    assert form.problems(scenario(pair=7), probe=Probe()) == []


def test_a_problem_names_the_file():
    (problem,) = form.problems(scenario("cubik"), "case.toml")
    assert (problem.file, problem.path) == ("case.toml", "flows[0].cc")
    assert str(problem).startswith("case.toml: flows[0].cc: there is no cc")
    assert form.problems(scenario("cubik"))[0].file is None


def test_a_number_needs_its_unit_only_where_a_person_typed_it():
    data = scenario()
    assert form.problems(data) == []
    assert [p.path for p in form.problems(data, typed=["net.rate"])] == ["net.rate"]
    assert [p.path for p in form.problems(data, typed=["net"])] == ["net.rate"]
    assert [p.path for p in form.problems(data, typed=[""])] == ["net.rate"]
    assert form.problems(data, typed=["flows"]) == []


def test_units_are_written_to_numbers_that_have_one_in_a_copy():
    data = scenario()
    written = form.with_units(data)
    assert written["net"]["rate"] == "1000000.0 bit/s"
    # A duration may be plain seconds.
    assert written["duration"] == 5
    assert written["net"]["rtt"] == "100 ms"
    assert written["net"]["pairs"] == 1
    assert (data["duration"], data["net"]["rate"]) == (5, 1e6)
    assert form.problems(written, typed=[""]) == []


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({"minimum": 0}, "at least 0"),
        ({"maximum": 5}, "at most 5"),
        ({"minimum": 0, "maximum": 1}, "from 0 to 1"),
        ({"exclusiveMaximum": 3, "type": "number"}, "less than 3"),
        ({"exclusiveMinimum": 0, "x-unit": "s"}, "more than 0 (s)"),
        ({"type": "number"}, None),
        ({}, None),
    ],
    ids=str,
)
def test_a_range_is_written_as_text(rules, expected):
    assert form.range_words(rules) == expected


RULES = {
    "type": "object",
    "properties": {"share": {"type": "number", "maximum": 1}, "wait": {"x-quantity": "duration"}},
    "additionalProperties": False,
}


def test_rules_of_any_document_are_checked():
    assert form.parameter_problems(RULES, {"share": 0.5, "wait": 3}) == []
    problems = form.parameter_problems(RULES, {"share": 2, "wait": "x", "shar": 1})
    assert sorted(problem.path for problem in problems) == ["shar", "share", "wait"]
    typed = form.parameter_problems(RULES, {"share": 0.5, "wait": 3}, typed=["wait"])
    assert [problem.path for problem in typed] == ["wait"]


def test_rules_may_refer_to_those_of_scenarios_and_to_their_own():
    of_scenario = {"properties": {"flow": {"$ref": "#/$defs/Flow"}}}
    problems = form.parameter_problems(of_scenario, {"flow": {"cc": "cubik"}})
    assert "flow.cc" in [problem.path for problem in problems]
    own = {"properties": {"n": {"$ref": "#/$defs/Few"}}, "$defs": {"Few": {"maximum": 3}}}
    assert [p.path for p in form.parameter_problems(own, {"n": 4})] == ["n"]
    assert form.parameter_problems(own, {"n": 3}) == []
