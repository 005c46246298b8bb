"""Sentences, tables and pictures of reproductions and searches that are written out by hand."""

from __future__ import annotations

import csv
import json
import math
import tarfile
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.reproduce.paper import Parameter
from ackclock.reproduce.run.judge import ExpectedRange, Part
from ackclock.reproduce.run.measure import ClaimResult
from ackclock.reproduce.run.reproduction import Reproduction, _next_replicates
from ackclock.reproduce.run.sensitivity import Sensitivity, Trial
from ackclock.reproduce.run.standing import STANDINGS, Standing
from ackclock.reproduce.search.search import PointJudgement, SearchResult, Tried
from ackclock.reproduce.search.surrogate import Surrogate
from ackclock.reproduce.write import artifact, sensitivity, space_plots
from ackclock.reproduce.write.folder import as_data, provenance
from ackclock.reproduce.write.forensics import summary as search_summary
from ackclock.reproduce.write.html import figure_on_page, index_page
from ackclock.reproduce.write.opening import sentences
from ackclock.reproduce.write.text import summary


def part(value=2.0, outcome="met", low=None, high=None, **more):
    given = {"name": "", "count": 4, "expected": "1 to 3", "why": "w", **more}
    return Part(measured=value, low=low, high=high, outcome=outcome, **given)


def claim(id_, standing, verdict="reproduced", *, kind="N", made_from="", parts=(), **more):
    decides = more.pop("decides", ())
    share = more.pop("share", None)
    entry = SimpleNamespace(
        id=id_, kind=kind, made_from=made_from, statement=more.pop("statement", f"says {id_}"),
        checks=more.pop("checks", ()), unstated=(), paper="",
        known_deviation="why" if more.pop("is_known_deviation", False) else "",
    )  # fmt: skip
    made = Standing(standing, "r", share, decides)
    return ClaimResult(entry, tuple(parts), verdict, "r", more.get("outcome", "met"), standing=made)


def reproduction(claims, figures=(), **more):
    studies = {
        name: SimpleNamespace(provenance={"runs": runs, "seeds": [1, 2]}, is_random=True)
        for name, runs in (("s", 1000), ("t", 234))
    }
    paper = SimpleNamespace(name="mine", about={"title": "Title"})
    return Reproduction(paper, "fast", tuple(claims), tuple(figures), studies, **more)


def test_a_report_opens_with_counts_of_every_class():
    check = SimpleNamespace(unit="ms")
    done = reproduction(
        [
            claim(
                "a",
                "holds",
                parts=(part(5.0, low=4.5, high=5.5), part(7.0, "undecided")),
                checks=(check,),
            ),
            claim("b", "holds", kind="S"),
            claim("c", "holds-inferred", "deviates"),
            claim("d", "undetermined", "deviates", share=0.25, decides=("p", "q")),
            claim("d2", "undetermined", "deviates", share=0.5),
            claim("d3", "undetermined", "deviates"),
            claim("e", "paper-error", "deviates"),
            claim("f", "not-public", "deviates"),
            claim(
                "g",
                "open",
                "deviates",
                parts=(part(None, "undecided"), part(1.0, ours=True), part(9.0, "missed")),
            ),
            claim("h", "not-judged", "not-checkable", outcome=None),
            claim("i", "repeats", "not-checkable", outcome=None),
            claim("E1", "erratum", kind="E"),
            claim("E2", "open", "deviates", kind="E"),
        ]
    )
    assert sentences(done) == [
        "11 claims of the paper are listed here (1 repeats others), of which 9 were judged in tier"
        " fast, from 1,234 runs of 2 studies: 1 of 4 numbers met, 1 missed, 2 undecided.",
        "2 hold at the default settings (a, b).",
        "For instance, a, \u201csays a\u201d: measured 7 ms, expected 1 to 3.",
        "1 holds at the settings inferred from the paper's own numbers, on seeds that the search"
        " did not see (c).",
        "3 are not determined by what the paper states: met in a part of the plausible settings, d"
        " in 25% (p, q decide), d2 in 50%, d3 at the best one alone.",
        "1 is shown to be the paper's own error by arithmetic, a closed form or a bound (e).",
        "1 rests on data that nobody outside had, and is not met with a substitute (f).",
        "1 is open: not met, and why is not known (g).",
        "Of the open ones, g, \u201csays g\u201d: measured 9, expected 1 to 3.",
        "1 error was found in the paper itself (E1).",
    ]
    none = sentences(reproduction([claim("a", "open", "deviates", kind="S")]))
    assert none[1] == "0 hold at the default settings."
    assert len(none) == 3


def test_a_report_opens_with_no_more_names_than_find_room():
    many = [claim(f"c{i}", "holds", kind="S") for i in range(13)]
    rows = [claim(f"r{i}", "holds", kind="S", made_from="t.csv") for i in range(3)]
    text = sentences(reproduction([*many, *rows]))[1]
    assert text.endswith("c10, c11, 1 more, 3 rows of a table).")
    text = sentences(reproduction(many[:12]))[1]
    assert text.endswith("c10, c11).")
    shares = [claim(f"u{i}", "undetermined", "deviates", share=0.5) for i in range(10)]
    (text,) = [t for t in sentences(reproduction(shares)) if "determined" in t]
    assert text.endswith("u7 in 50%, and 2 more.")
    (text,) = [t for t in sentences(reproduction(shares[:8])) if "determined" in t]
    assert text.endswith("u7 in 50%.")
    for length, end in ((220, "x" * 220 + "\u201d"), (221, "x" * 220 + "...\u201d")):
        quoted = claim("a", "holds", parts=(part(),), statement="x" * length)
        assert end in sentences(reproduction([quoted]))[2]


def test_the_summary_counts_verdicts_standings_figures_and_rows_of_files():
    figure = SimpleNamespace(figure=SimpleNamespace(id="F1", title="t"), missing="")
    lost = SimpleNamespace(figure=SimpleNamespace(id="F2", title="u"), missing="why")
    rows = [claim(f"r{i}", "holds", made_from="t.csv") for i in range(13)]
    few = [
        claim(f"q{i}", "open", "deviates", made_from="u.csv", parts=(part(3.0, "missed"),))
        for i in range(12)
    ]
    long = claim("a", "holds", parts=(part(),), statement="y" * 61)
    known = claim("k", "open", "deviates", is_known_deviation=True, statement="z" * 60)
    text = summary(reproduction([long, known, *rows, *few], [figure, lost]))
    parts = text.split("\n\n")
    assert parts[0] == "mine, tier fast: 27 claims; 1 of 13 numbers met, 12 missed"
    lines = [" ".join(line.split()) for line in parts[1].splitlines()]
    assert lines[1] == "a holds 2 " + "y" * 57 + "..."
    assert lines[2] == "k open (known) - " + "z" * 60
    # Twelve rows of a file are listed, of more the number.
    assert len(lines) == 1 + 2 + 12
    assert parts[2] == "13 claims of t.csv: 13 holds"
    assert parts[3] == "standings: 14 holds, 13 open"
    assert parts[4] == "figures: F1; 1 not drawn"
    assert summary(reproduction([long], [lost])).endswith("figures: none; 1 not drawn")
    assert summary(reproduction([long], [figure])).endswith("figures: F1")
    assert summary(reproduction([long])).endswith("standings: 1 holds")


def test_provenance_counts_and_names_what_nobody_expected():
    known = claim("k", "open", "deviates", is_known_deviation=True)
    done = reproduction(
        [
            claim("a", "holds"),
            claim("b", "open", "deviates"),
            known,
            claim("c", "not-judged", "not-checkable"),
        ],
        arguments=("--figure=F 1",),
        reading={"n": "x"},
    )
    found = provenance(done)
    assert found["counts"] == {"reproduced": 1, "deviates": 2, "not-checkable": 1}
    assert found["standings"] == {
        **dict.fromkeys(STANDINGS, 0),
        "holds": 1,
        "open": 2,
        "not-judged": 1,
    }
    assert found["unexpected"] == ["b"]
    assert found["command"] == "ackclock reproduce mine '--figure=F 1' --tier fast"
    assert (found["reproduction"], found["title"], found["reading"]) == (1, "Title", {"n": "x"})
    assert found["studies"]["t"] == {"runs": 234, "seeds": [1, 2]}
    assert [result.claim.id for result in done.deviations] == ["b"]
    lost = SimpleNamespace(figure=SimpleNamespace(id="F2", title="u"), missing="why")
    drawn = SimpleNamespace(figure=SimpleNamespace(id="F1", title="t"), missing="")
    data = as_data(reproduction(done.claims, [lost, drawn]))
    assert data["figures"][0] == {"id": "F2", "title": "u", "missing": "why", "files": None}
    assert data["figures"][1]["missing"] is None
    assert set(data["figures"][1]["files"]) >= {"svg", "png", "csv"}
    assert len(data["claims"]) == 4


def test_undecided_claims_get_twice_as_many_replicates_up_to_the_limit():
    def following(first, limit, until=None):
        sweep = SimpleNamespace(replicates=SimpleNamespace(at_first=first, until=until))
        return _next_replicates(sweep, limit)

    assert [following(n, 20) for n in (1, 3, 12, 20, 25)] == [2, 6, 20, 0, 0]
    assert following(2, 20, until="x") == 0
    assert following(2, 0) == 0


def trial(verdict, *parts, **values):
    return Trial(values, claim("c", "holds", verdict, parts=parts))


TO_3 = ExpectedRange(1, 3, is_open=False, text="1 to 3")


@pytest.fixture
def varied():
    one = Parameter("p", "w", "r", Path(), values=(1, 2), default=1)
    other = Parameter("q", "w", "r", Path(), values=("x", "y"), default="z")
    trials = (
        trial("reproduced", part(2.0, low=1.5, high=2.5, goal=TO_3)),
        trial("deviates", part(4.0, "missed", low=3.5, high=4.5, goal=TO_3), p=2),
        trial("reproduced", part(2.5, goal=TO_3), q="x"),
        trial("not-checkable", part(None, "undecided", goal=TO_3), q="y"),
    )
    return Sensitivity(
        SimpleNamespace(name="mine"), SimpleNamespace(id="c", statement="says"), "fast", trials,
        (one, other), {"r": "because"},
    )  # fmt: skip


def test_sensitivity_says_where_a_claim_holds(varied):
    assert varied.region == {
        "p": {"reproduced": [1], "deviates": [2]},
        "q": {"reproduced": ["z", "x"], "not-checkable": ["y"]},
    }
    text = str(varied)
    assert text.startswith("mine c, tier fast: says\n")
    assert "holds for p: 1\n" in text
    assert "holds for q: z, x\n" in text
    assert text.endswith("not varied, r: because")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "defaults reproduced 2 [1.5, 2.5]" in lines
    assert "p = 2 deviates 4 [3.5, 4.5]" in lines
    every = Sensitivity(
        varied.paper, varied.claim, "fast", varied.trials[:1], varied.parameters, {}
    )
    assert "holds for p: every value tried" in str(every)
    failed = (trial("deviates", part(9.0, "missed")),)
    none = Sensitivity(varied.paper, varied.claim, "fast", failed, varied.parameters, {})
    assert "holds for p: no value tried" in str(none)
    data = varied.to_dict()
    assert data["trials"][1] == {
        "values": {"p": 2}, "measured": 4.0, "ci_low": 3.5, "ci_high": 4.5, "verdict": "deviates",
        "reason": "r",
    }  # fmt: skip
    assert (data["paper"], data["claim"], data["tier"], data["fixed"]) == (
        "mine", "c", "fast", {"r": "because"},
    )  # fmt: skip


def test_sensitivity_is_written_as_rows_and_drawn_with_what_is_expected(varied, tmp_path):
    sensitivity._csv(varied, tmp_path / "x.csv")
    rows = list(csv.reader((tmp_path / "x.csv").read_text().splitlines()))
    assert rows == [
        ["p", "q", "part", "measured", "ci_low", "ci_high", "expected", "outcome", "verdict"],
        ["1", "z", "", "2.0", "1.5", "2.5", "1 to 3", "met", "reproduced"],
        ["2", "z", "", "4.0", "3.5", "4.5", "1 to 3", "missed", "deviates"],
        ["1", "x", "", "2.5", "", "", "1 to 3", "met", "reproduced"],
        ["1", "y", "", "", "", "", "1 to 3", "undecided", "not-checkable"],
    ]
    canvas = sensitivity.draw(varied)
    (axes,) = canvas.axes
    assert tuple(canvas.get_size_inches()) == pytest.approx((6.6, 1.6 + 4 * 0.32))
    drawn = [
        (
            line.get_xdata().tolist()
            if hasattr(line.get_xdata(), "tolist")
            else list(line.get_xdata()),
            list(line.get_ydata()),
        )
        for line in axes.lines
    ]
    assert drawn == [
        ([1.5, 2.5], [0, 0]), ([2.0], [0]), ([3.5, 4.5], [1, 1]), ([4.0], [1]), ([2.5], [2]),
    ]  # fmt: skip
    colours = [line.get_color() for line in axes.lines]
    assert colours[0] == colours[1] == colours[4] != colours[2] == colours[3]
    (shade,) = axes.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (1, 3)
    assert axes.get_xlim()[0] <= 1
    assert axes.get_xlim()[1] >= 4.5
    assert axes.get_ylim() == (3.6, -0.6)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "defaults",
        "p = 2",
        "q = x",
        "q = y",
    ]
    assert axes.get_xlabel() == "measured; shaded: expected"
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == [
        "reproduced",
        "deviates",
        "not-checkable",
    ]


def test_sensitivity_is_kept_in_a_folder(varied, tmp_path):
    sensitivity.write(varied, tmp_path / "out")
    names = sorted(file.name for file in (tmp_path / "out").iterdir())
    assert names == [f"sensitivity.{ending}" for ending in ("csv", "json", "png", "svg", "txt")]
    data = json.loads((tmp_path / "out" / "sensitivity.json").read_text())
    assert data["region"]["p"] == {"reproduced": [1], "deviates": [2]}
    text = (tmp_path / "out" / "sensitivity.txt").read_text()
    assert text.removesuffix("\n") == str(varied)
    picture = (tmp_path / "out" / "sensitivity.svg").read_text()
    assert "ackclock reproduce mine --sensitivity c --tier fast" in picture


def test_sensitivity_of_many_numbers_has_four_panels(varied):
    parts = tuple(
        part(float(i), name=f"n{i}", goal=ExpectedRange(i, math.inf, False, "t")) for i in range(5)
    )
    many = Sensitivity(
        varied.paper, varied.claim, "fast", (trial("reproduced", *parts),), varied.parameters, {}
    )  # fmt: skip
    canvas = sensitivity.draw(many)
    assert [axes.get_xlabel() for axes in canvas.axes] == ["n0", "n1", "n2", "n3"]
    assert canvas.get_size_inches()[0] == pytest.approx(3.2 + 4 * 3.4)
    assert canvas.axes[2].get_xlim()[0] < 2
    # The shade of what is at least 2 goes to the end of the axis.
    shade = canvas.axes[2].patches[0]
    assert shade.get_x() == 2
    assert shade.get_x() + shade.get_width() == pytest.approx(canvas.axes[2].get_xlim()[1])


# Pictures of searches

LINE = Parameter("n", "w", "r", Path(), range={"from": 1, "to": 100, "scale": "log", "unit": "ms"})
NAMES = Parameter("k", "w", "r", Path(), values=("x", "y"), default="z")


def searched(best=0):
    claims = (SimpleNamespace(id="a", made_from=""), SimpleNamespace(id="b", made_from=""))
    space = SimpleNamespace(
        parameters=(LINE, NAMES), claims=claims, defaults={"n": "1 ms", "k": "z"},
        paper=SimpleNamespace(name="mine"),
    )  # fmt: skip

    def tried(n, k, vote, wrong=""):
        return Tried({"n": n, "k": k}, () if wrong else ({"a": vote, "b": 0.5},), wrong)

    points = (tried("10 ms", "x", 1.0), tried("100 ms", "y", 0.0), tried("1 ms", "x", 0.0, "wrong"))
    return SearchResult(
        space,
        "fast",
        1.0,
        Tried(space.defaults, ({"a": 0.25, "b": 1.0},)),
        points,
        ("a",),
        ("b",),
        best,
        PointJudgement({"a": 1.0}, {}),
        PointJudgement({"a": 0.0}, {}),
        (0,),
        Surrogate(None, 0.5, {"k": 0.4}),
        None,
        {},
        (),
    )


def test_points_are_drawn_at_their_places_between_0_and_1():
    heights = space_plots._heights
    assert heights([LINE], {"n": "10 ms"}, 3) == [0.5]
    assert heights([LINE], {"n": "100 ms"}, None) == [1.0]
    plain = Parameter("n", "w", "r", Path(), range={"from": 10, "to": 30})
    assert heights([plain], {"n": 15}, None) == [0.25]
    # Of x, y and the default z each has a third; points lie within half of it.
    assert heights([NAMES], {"k": "x"}, None) == [pytest.approx(1 / 6)]
    assert heights([NAMES], {"k": "z"}, None) == [pytest.approx(5 / 6)]
    spread = [heights([NAMES], {"k": "y"}, place)[0] for place in range(50)]
    assert len(set(spread)) == 50
    assert min(spread) == pytest.approx((1.5 - 0.25) / 3)
    assert (1.5 + 0.2) / 3 < max(spread) < (1.5 + 0.25) / 3
    assert space_plots._ticks(LINE) == [(0.0, "1 ms"), (1.0, "100 ms")]
    assert space_plots._ticks(NAMES) == [
        (pytest.approx(1 / 6), "x"), (0.5, "y"), (pytest.approx(5 / 6), "z"),
    ]  # fmt: skip
    wide = Parameter("k", "w", "r", Path(), values=("v" * 30,), default="v" * 30)
    assert space_plots._ticks(wide) == [(0.5, "v" * 18)]


def test_parallel_coordinates_have_a_line_a_point_and_the_best_on_top():
    canvas = space_plots.draw_parallel(searched())
    (axes,) = canvas.axes
    assert tuple(canvas.get_size_inches()) == (5.0, 4.2)
    tried, best, defaults = axes.lines[:2], axes.lines[2], axes.lines[3]
    assert tried[0].get_ydata()[0] == 0.5
    assert best.get_ydata().tolist() == pytest.approx([0.5, 1 / 6])
    assert defaults.get_ydata().tolist() == pytest.approx([0.0, 5 / 6])
    orders = [line.get_zorder() for line in (tried[1], tried[0], defaults, best)]
    assert orders == sorted(orders)
    assert len(set(orders)) == 4
    widths = [line.get_linewidth() for line in (tried[1], tried[0], defaults, best)]
    assert widths == sorted(widths)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["n", "k"]
    assert axes.get_xlim() == (-0.2, 1.6)
    assert [text.get_text() for text in axes.texts] == ["1 ms", "100 ms", "x", "y", "z"]
    assert [text.xy for text in axes.texts][:2] == [(0, 0.0), (0, 1.0)]


def test_pairs_begin_with_what_decides_and_show_the_score_on_the_diagonal():
    canvas = space_plots.draw_pairs(searched())
    grid = [axes for axes in canvas.axes if axes.get_label() != "<colorbar>"]
    assert tuple(canvas.get_size_inches()) == pytest.approx((1.4 + 2 * 2.1, 0.8 + 2 * 2.0))
    assert [axes.axison for axes in grid] == [True, False, True, True]
    assert [(grid[i].get_xlabel(), grid[i].get_ylabel()) for i in (0, 2, 3)] == [
        ("k", "mean vote"), ("k", "n"), ("n", "mean vote"),
    ]  # fmt: skip
    last = grid[3].collections[0]
    # Round trips of 10 and 100 ms, with votes 1 and 0.
    assert last.get_offsets().tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert last.get_array().tolist() == [1.0, 0.0]
    assert grid[2].collections[0].get_offsets()[:, 1].tolist() == [0.5, 1.0]


def test_the_summary_of_a_search_has_shares_scores_and_conflicts():
    def quoted(**changes):
        inferred = {"values": {"n": "10 ms"}, "score_fitted": 0.875, "score_held_out": 0.5,
                    "is_default": False, "is_clear": True, **changes}  # fmt: skip
        return search_summary(
            {
                "paper": "mine", "tier": "fast", "points": 64, "inferred": inferred,
                "defaults": {"values": {"n": 5}, "score_fitted": 0.25, "score_held_out": 0.125},
                "accepted": {"share": 0.25, "low": 0.1, "high": 0.5},
                "parameters": [{"id": "n", "is_pinned": True, "importance": 0.456}],
                "claims": [
                    {"id": "a", "half": "fitted", "share": 0.5, "verdict_defaults": "deviates",
                     "verdict_inferred": "reproduced", "decides": ["n", "k"]},
                    {"id": "b", "half": "held out", "share": None, "verdict_defaults": None,
                     "verdict_inferred": None, "decides": []},
                ],
                "agreement": [{"text": "alike"}],
                "conflicts": [{"claims": ["a", "b"], "misses": {"a": "2, expected 1"}}],
            }
        )  # fmt: skip

    lines = [" ".join(line.split()) for line in quoted().splitlines()]
    assert lines[0] == "mine, tier fast: 64 points of 1 parameters, 2 claims"
    assert "n 5 10 ms yes 0.46" in lines
    assert "a fitted 50% deviates reproduced n, k" in lines
    assert "b held out - - -" in lines
    assert lines[-5:] == [
        "accepted: 25% of the design [10%, 50%]",
        "score of claims fitted and held out, on fresh seeds: inferred 0.88 and 0.50, defaults 0.25"
        " and 0.12",
        "the inferred point is clear: better than the defaults by a vote or more, and above chance,"
        " on claims it was not fitted to",
        "alike",
        "conflict: a and b are met nowhere together; nearest miss: a: 2, expected 1",
    ]
    assert "is not clear: not a vote better than the defaults" in quoted(is_clear=False)
    assert "is the defaults: no point fits better" in quoted(is_default=True)


# Files


def test_an_archive_is_the_same_for_the_same_files_and_has_no_owner_or_time(tmp_path):
    for name in ("one", "two"):
        at = tmp_path / name / "top"
        (at / "sub").mkdir(parents=True)
        (at / "sub" / "b.txt").write_text("b")
        (at / "rerun.sh").write_text("echo")
    one, two = (artifact._archive(tmp_path / name / "top") for name in ("one", "two"))
    assert one == two
    with tarfile.open(fileobj=BytesIO(one), mode="r:gz") as tar:
        found = {i.name: (i.mode, i.mtime, i.uid, i.isdir()) for i in tar.getmembers()}
        assert tar.extractfile("top/sub/b.txt").read() == b"b"
    assert found == {
        "top/rerun.sh": (0o755, 0, 0, False), "top/sub": (0o755, 0, 0, True),
        "top/sub/b.txt": (0o644, 0, 0, False),
    }  # fmt: skip
    # SHA-256 of "echo" and of "b", from any program for it.
    assert artifact._sums(tmp_path / "one" / "top") == (
        "092c79e8f80e559e404bcf660c48f3522b67aba9ff1484b0367e1a4ddef7431d  rerun.sh\n"
        "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  sub/b.txt\n"
    )
    versions = artifact._versions()
    assert {"ackclock", "numpy", "pyarrow"} <= set(versions)
    assert list(versions) == sorted(versions)
    assert "pytest" not in versions


def test_a_page_has_its_pictures_inside_and_an_index_of_its_neighbours(tmp_path):
    (tmp_path / "figures").mkdir()
    figure = SimpleNamespace(id="F1", title="t", entry={"caption": "c"})
    drawn = SimpleNamespace(figure=figure, missing="why")
    found = figure_on_page(drawn, tmp_path)
    assert (found["picture"], found["missing"], found["caption"]) == ("", "why", "c")
    (tmp_path / found["files"]["svg"]).write_bytes(b"<svg/>")
    drawn.missing = ""
    assert figure_on_page(drawn, tmp_path)["picture"] == "PHN2Zy8+"
    done = reproduction([claim("a", "holds")])
    (tmp_path / "mine").mkdir()
    from ackclock.reproduce.write.files import MARKER

    (tmp_path / "mine" / MARKER).write_text(json.dumps(provenance(done)))
    assert "mine/report.html" in index_page(tmp_path)
