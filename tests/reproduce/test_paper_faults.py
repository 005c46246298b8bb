"""Faults of a paper's files, one at a time, and what is read of files without one."""

from __future__ import annotations

import shutil

import pytest
from paper_faults import wrong

from ackclock.reproduce.read.claims import csv_rows
from ackclock.reproduce.read.folder import read
from ackclock.reproduce.run.studies import sweep_of


def append(folder, name, text):
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def claim(check="", **keys):
    """An entry of ``claims.toml`` with one check, which is valid but for what is given."""
    given = {"id": "X", "statement": "s", "kind": "N", "where": "1", **keys}
    lines = ["[[claim]]", *(f'{key} = {value if isinstance(value, list) else repr(value)}'
             for key, value in given.items())]  # fmt: skip
    return "\n".join([*lines, *(["[[claim.check]]", check] if check else [])])


ONE = 'measure = "SELECT 1 AS value"\n'
PLACE = "claims.toml: claim[X].check[0]"


@pytest.mark.parametrize(
    ("check", "messages"),
    [
        (f"{ONE}expect = {{ at_least = 1 }}", []),
        (f"{ONE}expect = {{ equals = 1, tolerance = 0 }}", []),
        (f'{ONE}expect = {{ equals = 1, tolerance = "0 %" }}', []),
        (f'{ONE}expect = {{ equals = 1, tolerance = "2.5 %" }}\nreason = "r"', []),
        (f'{ONE}expect = {{ equals = 1, tolerance = "5%" }}\nreason = "r"', []),
        (f"{ONE}expect = {{ between = [1, 1] }}", []),
        (f'{ONE}expect = {{ holds = "always" }}', []),
        (f"{ONE}expect = {{ equals = 1, tolerance = 0 }}\nran = 3", []),
        (
            f"{ONE}expect = {{ at_least = 1, tolerance = 0 }}",
            [".expect: equals needs a tolerance, 0 if it is exact; only equals has one"],
        ),
        (
            f"{ONE}expect = {{ equals = 1, tolerance = -1 }}",
            [".expect.tolerance: -1 is negative; expected a distance, at least 0"],
        ),
        (
            f'{ONE}expect = {{ equals = 1, tolerance = "5" }}\nreason = "r"',
            ['.expect.tolerance: "5" is not a tolerance; expected a number or something'],
        ),
        (
            f'{ONE}expect = {{ equals = 1, tolerance = "5 %" }}',
            [".reason: is missing: why this tolerance and no other?"],
        ),
        (
            f"{ONE}expect = {{ at_least = 1 }}\nran = 3",
            [".ran: goes with equals, the printed number, or with statistic half-width"],
        ),
        (
            f'{ONE}expect = {{ at_least = 1 }}\nstatistic = "half-width"',
            [".ran: is missing: of how many runs is the interval?"],
        ),
        (f'{ONE}expect = {{ at_least = 1 }}\nstatistic = "half-width"\nran = 5', []),
        (
            f'{ONE}expect = {{ holds = "always" }}\nstatistic = "spearman"',
            [".statistic: spearman is a number; holds is for truth values"],
        ),
        (
            f'{ONE}expect = {{ at_least = "margin.tiny" }}',
            ['.expect: there is no margin "tiny"'],
        ),
    ],
)
def test_a_check_is_right_or_has_its_fault(paper, check, messages):
    append(paper, "claims.toml", claim(check))
    if not messages:
        assert read(paper).claims["X"].checks
        return
    found = wrong(paper)
    assert len(found) == len(messages), found
    for line, message in zip(found, messages, strict=True):
        assert line.startswith(f"{PLACE}{message}")


def test_an_expectation_says_something(paper):
    append(paper, "claims.toml", claim(f"{ONE}expect = {{}}"))
    assert any("says nothing; expected exactly one of" in line for line in wrong(paper))


def test_a_claim_is_not_checked_and_excused_at_once(paper):
    append(paper, "claims.toml", claim(f"{ONE}expect = {{ at_least = 1 }}", not_checkable="no"))
    assert wrong(paper) == [
        "claims.toml: claim[X]: has check and also not_checkable; expected one of them"
    ]


def test_what_a_claim_names_is_there(paper):
    append(paper, "errata.toml", claim(f"{ONE}expect = {{ at_least = 1 }}", id="E9", kind="E"))
    append(paper, "claims.toml", claim(f"{ONE}expect = {{ at_least = 1 }}", refuted_by=["E9"]))
    assert read(paper).claims["X"].refuted_by == ("E9",)
    append(
        paper, "claims.toml", claim(f"{ONE}expect = {{ at_least = 1 }}", id="Y", refuted_by=["X"])
    )
    (line,) = wrong(paper)
    assert line.startswith(
        'claims.toml: claim[Y].refuted_by: there is no erratum "X" in errata.toml'
    )
    assert "E9" in line


def test_ids_are_there_once(paper):
    for _ in range(2):
        append(paper, "claims.toml", claim(f"{ONE}expect = {{ at_least = 1 }}"))
    assert wrong(paper) == ["claims.toml: claim[X].id: is there more than once"]


def test_checks_of_a_claim_are_numbered_unless_they_have_names(paper):
    check = f"{ONE}expect = {{ at_least = 1 }}"
    append(paper, "claims.toml", claim(check))
    append(paper, "claims.toml", claim(f'{check}\n[[claim.check]]\n{check}\nname = "n"', id="Y"))
    made = read(paper).claims
    assert [one.name for one in made["X"].checks] == [""]
    assert [one.name for one in made["Y"].checks] == ["1", "n"]
    assert [one.path for one in made["Y"].checks] == ["claim[Y].check[0]", "claim[Y].check[1]"]


def test_a_margin_is_a_bound_with_a_reason(paper):
    append(
        paper, "claims.toml", '[[margin]]\nid = "tiny"\nvalue = 0.25\nunit = "s"\nreason = "small"'
    )
    append(
        paper, "claims.toml", claim(f'{ONE}expect = {{ equals = 1, tolerance = "margin.tiny" }}')
    )
    check = read(paper).claims["X"].checks[0]
    assert check.expect == {"equals": 1, "tolerance": 0.25}
    assert check.reason == "margin tiny: small"


def parameter(**keys):
    given = {"id": "'p'", "what": "'w'", "reason": "'r'", **keys}
    return "\n".join(["[[parameter]]", *(f"{key} = {value}" for key, value in given.items())])


SETS = "[{ study = 'loss', path = 'net.extra' }]"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"not_settable": "'no'"}, ""),
        ({"sets": SETS, "default": "'9 s'", "values": "['9 s']"}, ""),
        ({"sets": SETS, "default": "9", "range": "{ from = 1, to = 2 }"}, ""),
        ({"sets": SETS, "default": "9", "range": "{ from = 1, to = 2, scale = 'log' }"}, ""),
        (
            {"sets": SETS, "not_settable": "'no'", "default": "1", "values": "[1]"},
            ": needs either sets, or not_settable with the reason",
        ),
        ({"sets": SETS, "values": "[1]"}, ": needs default, and values or range, beside sets"),
        ({"sets": SETS, "default": "1"}, ": needs default, and values or range, beside sets"),
        (
            {"sets": SETS, "default": "1", "values": "[1]", "range": "{ from = 1, to = 2 }"},
            ": needs default, and values or range, beside sets",
        ),
        (
            {"sets": SETS, "default": "9", "range": "{ from = 2, to = 2 }"},
            ".range: needs from below to; on a log scale both above 0",
        ),
        (
            {"sets": SETS, "default": "9", "range": "{ from = 0, to = 2, scale = 'log' }"},
            ".range: needs from below to; on a log scale both above 0",
        ),
        (
            {
                "sets": "[{ study = 'loss', path = 'net.extra', values = { a = '1 s' } }]",
                "default": "'a'",
                "values": "['a', 'b']",
            },
            '.sets[0].values: does not say what the value "b" sets',
        ),
        (
            {
                "sets": "[{ study = 'loss', path = 'net.extra', values = { a = '1 s' } }]",
                "default": "'c'",
                "values": "['a']",
            },
            '.sets[0].values: does not say what the value "c" sets',
        ),
    ],
)
def test_a_parameter_is_right_or_has_its_fault(paper, entry, message):
    append(paper, "unstated.toml", parameter(**entry))
    if message:
        assert wrong(paper) == [f"unstated.toml: parameter[p]{message}"]
    else:
        assert read(paper).parameters["p"].reason == "r"


def test_a_parameter_may_set_several_studies(paper):
    shutil.copy(paper / "scenarios" / "loss.toml", paper / "scenarios" / "again.toml")
    sets = "[{ study = ['loss', 'again'], path = 'net.extra' }]"
    append(paper, "unstated.toml", parameter(sets=sets, default="'9 s'", values="['8 s', '9 s']"))
    data = read(paper)
    assert [(one.study, one.path) for one in data.parameters["p"].sets] == [
        ("loss", "net.extra"),
        ("again", "net.extra"),
    ]
    assert data.parameters["p"].changes("again", "8 s") == {"net.extra": "8 s"}
    assert data.defaults("loss")["net.extra"] == "9 s"


def test_files_that_are_no_part_of_a_paper_are_reported(paper, tmp_path):
    for name in (".hidden", "__pycache__"):
        (paper / name).mkdir()
    read(paper)
    (paper / "scenarios" / "x.txt").write_text("")
    (paper / "scenarios" / "Upper.toml").write_text("")
    (paper / "scenarios" / "expected.toml").write_text("")
    (paper / "expected" / "x.toml").write_text("")
    (paper / "figure.toml").write_text("")
    found = wrong(paper)
    assert "scenarios/x.txt: is not a .toml file" in found
    assert "expected/x.toml: is not a .csv file" in found
    for name in ("Upper", "expected"):
        assert any(line.startswith(f'scenarios/{name}.toml: "{name}" cannot be used in queries; ex')
                   for line in found)  # fmt: skip
    assert 'figure.toml: is not part of a paper; did you mean "figures.toml"?' in found
    assert len(found) == 5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "claims.toml: there is no such file; every paper has one"),
        (b"\xff\xfe", "claims.toml: it is not UTF-8 text"),
        (b"a = [", "claims.toml: not valid TOML: "),
    ],
)
def test_a_file_that_cannot_be_read_says_why(paper, content, message):
    if content is None:
        (paper / "claims.toml").unlink()
    else:
        (paper / "claims.toml").write_bytes(content)
    assert wrong(paper)[0].startswith(message)


def test_a_study_that_is_no_toml_and_tiers_that_are_not_there_are_reported(paper):
    (paper / "scenarios" / "bad.toml").write_text("= 1")
    append(paper, "scenarios/loss.toml", "[tiers.fats]\nreps = 1")
    found = wrong(paper)
    assert any(line.startswith("scenarios/bad.toml: not valid TOML: ") for line in found)
    assert any(
        line.startswith(
            'scenarios/loss.toml: tiers.fats: there is no tier "fats"; did you mean "fast"'
        )
        for line in found
    )


def test_what_the_fast_tier_leaves_out_is_left_out_first_too(paper):
    text = (paper / "scenarios" / "loss.toml").read_text()
    (paper / "scenarios" / "skipped.toml").write_text(
        text.split("[tiers")[0] + '\n[tiers.fast]\nskip = "long"\n'
    )
    assert read(paper).studies["skipped"].skipped == {"fast": "long", "first": "long"}
    append(paper, "scenarios/skipped.toml", "[tiers.first]\nreps = 1")
    data = read(paper)
    assert data.studies["skipped"].skipped == {"fast": "long"}
    assert sweep_of(data, data.studies["skipped"], "first").replicates.reps == 1


def test_expected_values_have_the_source_of_their_first_lines(paper):
    file = paper / "expected" / "two.csv"
    file.write_text("# Source: table 2,\n#  last row\na,b\n1,2\n# a comment\n3,4\n")
    assert read(paper).expected["two"].source == "table 2, last row"
    assert list(csv_rows(file)) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_sweeps_of_studies_take_changes_and_replicates(paper):
    data = read(paper)
    study = data.studies["loss"]
    whole = sweep_of(data, study, "fast")
    assert sweep_of(data, study, "fast", reps=3).replicates.reps == 3
    # There is no first tier: it is the fast one.
    assert sweep_of(data, study, "first").replicates == whole.replicates
    other = sweep_of(data, study, "fast", {"seed": 99})
    assert other.case.seed == 99 != whole.case.seed
