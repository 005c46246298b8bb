"""The files of a paper: what is refused, and in which words."""

from pathlib import Path

import pytest
from paper_faults import wrong

from ackclock.errors import UnsupportedError
from ackclock.reproduce.read.folder import names, read
from ackclock.reproduce.run.inference import load


def append(folder, name, text):
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(text)


LARGEST = {"akella2002", "mccullough2010"}
CLAIM = '\n[[claim]]\nid = "X"\nstatement = "s"\nkind = "N"\nwhere = "1"\n'


@pytest.mark.parametrize("name", names())
def test_a_shipped_paper_reads_without_a_problem(name):
    assert read(name).claims


@pytest.mark.parametrize("name", names())
def test_a_shipped_search_is_of_the_paper_as_it_is(name):
    paper = read(name)
    search = load(paper)
    if search is not None:
        assert set(search.claims) <= set(paper.claims)


@pytest.mark.parametrize("name", names())
def test_every_study_of_a_shipped_paper_is_a_sweep_in_both_tiers(name):
    from ackclock.reproduce.run.studies import sweep_of

    paper = read(name)
    for study in paper.studies.values():
        for tier in ("fast", "full"):
            assert sweep_of(paper, study, tier, {}).points


def test_values_to_try_are_those_listed_or_ends_and_middle_of_a_range():
    from ackclock.reproduce.paper import Parameter
    from ackclock.reproduce.run.sensitivity import plausible

    given = {"id": "x", "what": "", "reason": "", "file": Path("unstated.toml")}
    assert plausible(Parameter(**given, values=(3, 1, 2))) == [3, 1, 2]
    assert len({*map(str, plausible(Parameter(**given, range={"from": 1, "to": 9})))}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LARGEST else ()) for name in names()],
)
def test_every_value_of_an_unstated_parameter_can_be_run(name):
    """Each shipped paper; the two with the largest networks among the slow tests."""
    from ackclock.reproduce.run.sensitivity import plausible
    from ackclock.reproduce.run.studies import sweep_of

    paper = read(name)
    for parameter in paper.parameters.values():
        for target in parameter.sets:
            for value in plausible(parameter):
                study = paper.studies[target.study]
                sweep = sweep_of(paper, study, "full", {target.path: target.value(value)})
                assert sweep.case_at(sweep.points[0]).cost().cpu_s >= 0


def test_a_verdict_that_is_written_down_is_refused(paper):
    append(paper, "claims.toml", CLAIM + 'not_checkable = "no"\nverdict = "reproduced"\n')
    assert wrong(paper)[0] == (
        "claims.toml: claim[X].verdict: verdicts are computed from measurements, never written;"
        " leave it out"
    )


def test_all_problems_of_all_files_are_reported_together(paper):
    append(paper, "claims.toml", CLAIM + 'not_checkable = "no"\nunstated = ["recoveri"]\n')
    append(paper, "figures.toml", '\n[[figure]]\nid = "9"\ntitle = "t"\nkind = "pie"\ndata = 3\n')
    append(paper, "unstated.toml", '\n[[parameter]]\nid = "p"\nwhat = "w"\nreason = "r"\n')
    (paper / "notes.txt").write_text("x")
    found = wrong(paper)
    assert len(found) == 6
    assert 'claims.toml: claim[X].unstated: there is no parameter "recoveri"' in "\n".join(found)
    assert "figures.toml: figure[9].data: 3 is not text" in found
    assert any("figure[9].kind: " in line and "matrix" in line for line in found)
    assert any(line.startswith("unstated.toml: parameter[p]: needs either sets") for line in found)
    assert any(line.startswith("notes.txt: is not part of a paper") for line in found)


def test_a_parameter_that_sets_nothing_for_a_claim_is_no_part_of_it(paper):
    check = '[[claim.check]]\nmeasure = "SELECT 1 AS value FROM {}.flows"\n'
    check += "expect = {{ at_least = 1 }}\n"
    append(paper, "claims.toml", CLAIM + 'unstated = ["recovery"]\n\n' + check.format("law"))
    assert wrong(paper) == [
        'claims.toml: claim[X].unstated: "recovery" sets nothing in this claim\'s studies (law);'
        " let it set something there in unstated.toml, or leave it out"
    ]
    # One of two studies is enough.
    append(paper, "claims.toml", "\n" + check.format("loss"))
    assert read(paper).claims["X"].unstated == ("recovery",)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (
            'measure = "SELECT 1 AS value FROM los.flows"\nexpect = { equals = 1, tolerance = 0 }',
            'claim[X].check[0].measure: there is no study "los"; did you mean "loss"?',
        ),
        (
            'measure = "SELECT 1 AS value FROM expected.x"\nexpect = { at_least = 1 }',
            'claim[X].check[0].measure: there is no file "expected/x.csv"; '
            "expected one of: constants",
        ),
        (
            'measure = "SELECT 1 AS value FROM flows"\nexpect = { at_least = 1 }',
            'claim[X].check[0].measure: the table "flows" names no study; expected STUDY.flows',
        ),
        (
            'measure = "SELEC 1"\nexpect = { at_least = 1 }',
            "claim[X].check[0].measure: the query is not one SELECT: syntax error",
        ),
        (
            'measure = "DROP TABLE x"\nexpect = { at_least = 1 }',
            "claim[X].check[0].measure: the query is not one SELECT",
        ),
        (
            'measure = "SELECT 1 AS value"\nexpect = { at_least = 1, at_most = 2 }',
            "claim[X].check[0].expect: has at_least and at_most; expected exactly one of",
        ),
        (
            'measure = "SELECT 1 AS value"\nexpect = { equals = 1 }',
            "claim[X].check[0].expect: equals needs a tolerance, 0 if it is exact",
        ),
        (
            'measure = "SELECT 1 AS value"\nexpect = { equals = 1, tolerance = 0.1 }',
            "claim[X].check[0].reason: is missing: why this tolerance and no other?",
        ),
        (
            'measure = "SELECT 1 AS value"\nexpect = { equals = 1, tolerance = "some" }\n'
            'reason = "r"',
            'claim[X].check[0].expect.tolerance: "some" is not a tolerance',
        ),
        (
            'measure = "SELECT 1 AS value"\nexpect = { between = [2, 1] }',
            "claim[X].check[0].expect.between: has its ends in the wrong order",
        ),
        (
            'measure = "SELECT 1 AS value"\nexpects = { at_least = 1 }',
            'claim[X].check[0].expects: "expects" is not a key here; did you mean "expect"?',
        ),
    ],
)
def test_a_wrong_check_is_reported_in_one_sentence(paper, check, message):
    append(paper, "claims.toml", CLAIM + f"\n[[claim.check]]\n{check}\n")
    assert any(line.startswith(f"claims.toml: {message}") for line in wrong(paper)), wrong(paper)


@pytest.mark.parametrize(
    ("name", "entry", "place"),
    [
        ("claims", CLAIM + 'not_checkable = "no"\nunstated = [3]\n', "claim[X].unstated[0]"),
        ("errata", CLAIM.replace('"N"', '"E"') + 'same_as = ["S-1", 3]\n', "claim[X].same_as[1]"),
        (
            "unstated",
            '[[parameter]]\nid = "p"\nwhat = "w"\nreason = "r"\ndefault = 1\nvalues = [1]\n'
            'sets = [{ study = ["law", 3], path = "seed" }]\n',
            "parameter[p].sets[0].study[1]",
        ),
    ],
)
def test_a_wrong_item_of_a_list_is_reported_alone(paper, name, entry, place):
    append(paper, f"{name}.toml", entry)
    (line,) = wrong(paper)
    assert line.startswith(f"{name}.toml: {place}: ")


def test_a_claim_is_checked_or_says_why_not(paper):
    append(paper, "claims.toml", CLAIM)
    message = (
        "claims.toml: claim[X]: needs a check, not_checkable with the reason, or same_as with other"
        " claims"
    )
    assert wrong(paper) == [message]


def test_an_erratum_has_its_own_file(paper):
    append(paper, "claims.toml", CLAIM.replace('"N"', '"E"') + 'not_checkable = "no"\n')
    assert wrong(paper) == [
        'claims.toml: claim[X].kind: errata, and only they, have kind "E" and are in errata.toml'
    ]


def test_expected_values_name_their_source(paper):
    (paper / "expected" / "bare.csv").write_text("a,b\n1,2\n")
    assert "expected/bare.csv: has no source of its values" in wrong(paper)[0]


def test_claims_are_made_from_the_rows_of_a_file(paper):
    entry = '[[claims_from]]\nfile = "constants.csv"\nid = "C-{losses}-{per_ack}"\nkind = "N"\n'
    entry += 'statement = "C = {constant}"\nwhere = "table"\nnot_checkable = "no"\n'
    append(paper, "claims.toml", entry)
    made = read(paper).claims
    assert made["C-random-2"].statement == "C = 0.9262"
    assert len([name for name in made if name.startswith("C-")]) == 4
    append(paper, "claims.toml", entry.replace("{per_ack}", "{ack}"))
    assert "claims_from[1]: constants.csv has no column 'ack'" in wrong(paper)[0]


def test_a_paper_that_is_not_there_has_a_near_one():
    with pytest.raises(UnsupportedError, match='did you mean "example"'):
        read("exmaple")


def test_a_view_replaces_its_name_also_in_other_views(paper):
    views = '[view]\nall = "SELECT 1 AS one"\ntwo = "SELECT one FROM views.all"\n'
    (paper / "views.toml").write_text(views)
    check = '[[claim.check]]\nmeasure = "SELECT one AS value FROM views.two AS t"\n'
    append(paper, "claims.toml", CLAIM + check + "expect = { equals = 1, tolerance = 0 }\n")
    assert read(paper).claims["X"].checks[0].measure == (
        "SELECT one AS value FROM (SELECT one FROM (SELECT 1 AS one)) AS t"
    )


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (
            "al = 'SELECT 1'",
            'claims.toml: claim[X].check[0].measure: there is no view "all" in views.toml;'
            ' did you mean "al"?',
        ),
        (
            "all = 'FROM views.all'",
            'views.toml: view.all: the view "all" of views.toml is made of itself',
        ),
        (
            "all = 'FROM views.one'\none = 'FROM views.all'",
            'views.toml: view.one: the view "all" of views.toml is made of itself',
        ),
        (
            "all = 'FROM views.one'",
            'views.toml: view.all: there is no view "one" in views.toml; none is allowed here',
        ),
    ],
)
def test_a_view_that_is_wrong_is_reported_once(paper, views, message):
    (paper / "views.toml").write_text(f"[view]\n{views}\n")
    check = '[[claim.check]]\nmeasure = "SELECT 1 AS value FROM views.all"\n'
    append(paper, "claims.toml", CLAIM + check + "expect = { at_least = 1 }\n")
    assert wrong(paper) == [message]


@pytest.mark.parametrize("name", names())
def test_every_figure_that_is_drawn_has_a_caption(name):
    drawn = [one for one in read(name).figures.values() if not one.not_drawable]
    assert [one.id for one in drawn if not one.entry.get("caption")] == []
