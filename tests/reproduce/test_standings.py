"""Readings, standings, labelled values: on a paper without runs, made of arithmetic."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ackclock.errors import AckclockError
from ackclock.reproduce.read.folder import PAPERS, PaperError, read
from ackclock.reproduce.run.classify import _is_proof
from ackclock.reproduce.run.inference import (
    ClaimFound,
    Inference,
    claim_hash,
    load,
    paper_hash,
)
from ackclock.reproduce.run.reproduction import reproduce
from ackclock.reproduce.run.studies import RunOptions, sweep_of

QUIET = RunOptions(store=False, progress=False)

HEAD = """
[[reading]]
id = "unit"
what = "what is counted"
options = { bytes = "bytes", packets = "packets" }

[[margin]]
id = "size"
value = 2
reason = "the paper prints even numbers"
"""


def claim(name, value, expect, *lines, reading=""):
    chosen = f"reading = {reading}\n" if reading else ""
    head = "\n".join(lines)
    return f"""
[[claim]]
id = "{name}"
statement = "s"
kind = "{"E" if name.startswith("E") else "N"}"
where = "1"
{head}
""" + "".join(
        f"""
[[claim.check]]
name = "{number}"
measure = "SELECT {one} AS value"
expect = {expect}
{chosen.replace("OPTION", option)}"""
        for number, (one, option) in enumerate(zip(value, ("bytes", "packets"), strict=False))
    )


@pytest.fixture
def paper(tmp_path):
    def make(claims, errata="", unstated=""):
        at = tmp_path / "mine"
        (at / "scenarios").mkdir(parents=True, exist_ok=True)
        about = 'title = "T"\nauthors = ["A"]\nyear = 2000\nvenue = "V"\nabstract = "A"\n'
        texts = {"paper.toml": about, "figures.toml": "", "README.md": "x", "claims.toml": claims,
                 "errata.toml": errata, "unstated.toml": unstated}  # fmt: skip
        for name, text in texts.items():
            (at / name).write_text(text)
        return Path(at)

    return make


def results(folder, **more):
    done = reproduce(read(folder), options=QUIET, **more)
    return {result.claim.id: result for result in done.claims}


READ = '{ unit = "OPTION" }'


def test_a_reading_is_chosen_once_for_all_claims(paper):
    folder = paper(
        HEAD
        + claim("1", (5, 9), "{ at_least = 8 }", reading=READ)
        + claim("2", (1, 10), "{ at_least = 8 }", reading=READ)
        + claim("3", (8, 2), "{ at_least = 8 }", reading=READ)
    )
    found = results(folder)
    verdicts = [found[name].verdict for name in "123"]
    # Under bytes only claim 3 would hold, under packets the other two.
    assert verdicts == ["reproduced", "reproduced", "deviates"]
    assert {found[name].reading["unit"] for name in "123"} == {"packets"}
    assert [len(found[name].results) for name in "123"] == [1, 1, 1]
    assert "unit read as packets" in found["1"].standing.reason


def test_a_reading_that_measures_nothing_is_chosen_over_none(paper):
    text = claim("1", (5, "1 WHERE false"), "{ at_least = 8 }", reading=READ)
    nothing = text.replace("1 WHERE false AS value", "1 AS value WHERE false")
    found = results(paper(HEAD + nothing))["1"]
    # Missed under bytes, nothing under packets: what is not measured does not save the claim.
    assert (found.verdict, found.reading) == ("deviates", {"unit": "bytes"})
    found = results(paper(HEAD + nothing.replace("SELECT 5", "SELECT 9")))["1"]
    assert found.verdict == "reproduced"
    neither = nothing.replace("SELECT 5 AS value", "SELECT 5 AS value WHERE false")
    assert "measured nothing" in results(paper(HEAD + neither))["1"].reason


def test_checks_of_our_own_are_shown_and_do_not_decide(paper):
    text = claim("1", (5, 1), "{ at_least = 4 }")
    folder = paper(text)
    assert results(folder)["1"].verdict == "deviates"
    at = text.rindex("[[claim.check]]")
    folder = paper(text[:at] + text[at:] + 'ours = "the paper gives no bound"\n')
    found = results(folder)["1"]
    assert found.verdict == "reproduced"
    assert [part.ours for part in found.results] == [False, True]


def test_margins_are_named_by_bounds(paper):
    folder = paper(
        HEAD
        + claim("1", (2,), '{ equals = 0, tolerance = "margin.size" }')
        + claim("2", (3,), '{ equals = 0, tolerance = "margin.size" }')
    )
    found = results(folder)
    assert (found["1"].verdict, found["2"].verdict) == ("reproduced", "deviates")
    with pytest.raises(PaperError, match=r'no margin "sise"; did you mean "size"'):
        read(paper(HEAD + claim("1", (2,), '{ at_most = "margin.sise" }')))


def test_an_exact_erratum_proves_a_claim_wrong(paper):
    claims = claim("1", (5,), "{ at_least = 8 }", 'refuted_by = ["E1"]')
    assert results(paper(claims, claim("E1", (5,), "{ below = 8 }")))["1"].standing.name == (
        "paper-error"
    )
    assert results(paper(claims, claim("E1", (9,), "{ below = 8 }")))["1"].standing.name == "open"
    # One of random runs may be met by chance.
    erratum = results(paper(claims, claim("E1", (5,), "{ below = 8 }")))["E1"]
    assert _is_proof(erratum)
    assert not _is_proof(replace(erratum, is_exact=False))
    with pytest.raises(PaperError, match='no erratum "E1"'):
        read(paper(claims))


def test_standings_follow_from_verdict_data_tier_and_search(paper):
    folder = paper(
        claim("holds", (9,), "{ at_least = 8 }")
        + claim("data", (5,), "{ at_least = 8 }", 'not_public = "a map of 2009"')
        + claim("long", (5,), "{ at_least = 8 }", 'full_only = "needs 50 s"')
        + claim("part", (5,), "{ at_least = 8 }")
        + claim("best", (5,), "{ at_least = 8 }")
        + claim("none", (5,), "{ at_least = 8 }")
        + claim("fresh", (5,), "{ at_least = 8 }")
        + claim("only-full", (5,), "{ at_least = 8 }")
    )
    search = Inference(
        {"x": 1},
        {
            "part": ClaimFound(0.25, is_inferred=False, decides=("x",), points=64, alike=1.0),
            "best": ClaimFound(0.5, is_inferred=True, decides=("x",)),
            "none": ClaimFound(0.0, is_inferred=False, decides=()),
            "fresh": ClaimFound(None, is_inferred=False, decides=(), is_met_at_best=True),
            "only-full": ClaimFound(None, is_inferred=False, decides=()),
        },
        "fast",
    )
    found = {name: r.standing.name for name, r in results(folder, inference=search).items()}
    assert found == {
        "holds": "holds", "data": "not-public", "long": "not-judged",
        "part": "undetermined", "best": "holds-inferred", "none": "open",
        "fresh": "undetermined", "only-full": "open",
    }  # fmt: skip
    reason = results(folder, inference=search)["part"].standing.reason
    assert "25%" in reason
    assert "x decide" in reason
    long = results(folder)["long"]
    assert long.reason == "not judged in this tier: needs 50 s"
    full = reproduce(read(folder), tier="full", options=QUIET)
    assert next(r for r in full.claims if r.claim.id == "long").verdict == "deviates"


def test_a_search_of_other_claims_is_refused(paper):
    folder = paper(claim("1", (5,), "{ at_least = 8 }"))
    entry = {"id": "1", "share": 0.5, "holds_inferred": True, "decides": []}
    full = entry | {
        "id": "2",
        "share": None,
        "holds_inferred": False,
        "verdict_inferred": "reproduced",
    }
    data = {"paper_hash": paper_hash(read(folder)), "inferred": {"values": {}}}
    file = folder.parent / "forensics.json"
    file.write_text(json.dumps(data | {"claims": [entry, full]}))
    assert load(read(folder), file).claims["1"] == ClaimFound(0.5, True, ())
    assert load(read(folder), file).claims["2"] == ClaimFound(None, False, (), True)
    claims = folder / "claims.toml"
    claims.write_text("# A remark.\n" + claims.read_text().replace("kind =", 'note = "n"\nkind ='))
    assert load(read(folder), file).claims["1"].share == 0.5
    paper(claim("1", (5,), "{ at_least = 7 }"))
    with pytest.raises(AckclockError, match="were changed since this search"):
        load(read(folder), file)
    file.write_text("{}")
    with pytest.raises(AckclockError, match="is not the result of a search"):
        load(read(folder), file)


def test_an_option_without_a_deciding_check_is_refused(paper):
    text = HEAD + claim("1", (5,), "{ at_least = 8 }", reading=READ)
    with pytest.raises(PaperError, match='no check that counts where "unit" is read as "packets"'):
        read(paper(text))


STUDY = """
[scenario]
engine = "model"
model = "square_root_law"

[scenario.params]
loss_ratio = [0.01]

[over.rtt]
values = { near = { "params.rtt_s" = 0.01 }, far = { "params.rtt_s" = 0.2 } }
"""

LABELLED = """
[[parameter]]
id = "p"
what = "w"
reason = "r"
default = "low"
values = ["low", "high"]

[[parameter.sets]]
study = "law"
path = 'over.rtt.values.far["params.rtt_s"]'
values = { low = 0.2, high = 0.4 }
"""


def test_a_parameter_sets_a_value_inside_an_axis(paper):
    measure = (
        "SELECT a.rate_bps / b.rate_bps AS value FROM law.points AS a, law.points AS b"
        " WHERE a.rtt = 'near' AND b.rtt = 'far'"
    )
    text = f'''
[[claim]]
id = "1"
statement = "s"
kind = "N"
where = "1"
unstated = ["p"]

[[claim.check]]
measure = """{measure}"""
expect = {{ equals = 20, tolerance = 0.000001 }}
reason = "rounding"
'''
    folder = paper(text, unstated=LABELLED)
    (folder / "scenarios" / "law.toml").write_text(STUDY)
    # The rate falls with the round-trip time: 0.2 s over 0.01 s.
    assert results(folder)["1"].verdict == "reproduced"
    data = read(folder)
    sweep = sweep_of(data, data.studies["law"], "full", data.changes("law", {"p": "high"}))
    assert [point.changes["params.rtt_s"] for point in sweep.points] == [0.01, 0.4]
    (folder / "unstated.toml").write_text(LABELLED.replace('"high"]', '"high", "higher"]'))
    with pytest.raises(PaperError, match='does not say what the value "higher" sets'):
        read(folder)
    (folder / "unstated.toml").write_text(LABELLED.replace("over.rtt", "over.rtl"))
    with pytest.raises(PaperError, match="leads nowhere in the study's file"):
        reproduce(read(folder), options=QUIET)


def test_a_value_that_an_unstated_parameter_replaces_is_refused(paper):
    folder = paper(claim("1", (5,), "{ at_least = 8 }"), unstated=LABELLED)
    study = folder / "scenarios" / "law.toml"
    study.write_text(STUDY)
    read(folder)
    study.write_text(STUDY.replace("= 0.2 }", "= 0.3 }"))
    with pytest.raises(PaperError, match=r'is 0.3, which does nothing: the parameter "p" of'):
        read(folder)
    # In a tier too, and of the scenario; 0.20 and 0.2 are one number.
    study.write_text(STUDY.replace("= 0.2 }", "= 0.20 }"))
    read(folder)
    other = LABELLED.replace("'over.rtt.values.far[\"params.rtt_s\"]'", '"params.loss_ratio[0]"')
    (folder / "unstated.toml").write_text(other)
    with pytest.raises(PaperError, match=r"scenario.params.loss_ratio\[0\]: is 0.01"):
        read(folder)
    study.write_text(STUDY.replace("[0.01]", "[0.2]"))
    read(folder)
    tier = '\n[tiers.fast]\nset = { "params.loss_ratio[0]" = 0.5 }\n'
    study.write_text(STUDY.replace("[0.01]", "[0.2]") + tier)
    with pytest.raises(PaperError, match=r"tiers.fast.set.*is 0.5, which does nothing"):
        read(folder)


def test_a_fact_is_judged_once_and_others_refer_to_it(paper):
    again = """
[[claim]]
id = "2"
statement = "as before"
kind = "N"
where = "6"
same_as = ["1"]
"""
    folder = paper(claim("1", (5,), "{ at_least = 8 }") + again)
    done = reproduce(read(folder), options=QUIET, claims=["2"])
    found = {result.claim.id: result for result in done.claims}
    # A request for what repeats judges what it repeats.
    assert found["1"].outcome == "missed"
    assert (found["2"].standing.name, found["2"].results) == ("repeats", ())
    assert (done.count_standing("open"), done.count_standing("repeats")) == (1, 1)
    assert done.orders == {"met": 0, "missed": 1, "undecided": 0, "right": 0}
    with pytest.raises(PaperError, match='no claim "3" that is judged'):
        read(paper(claim("1", (5,), "{ at_least = 8 }") + again.replace('["1"]', '["3"]')))
    with pytest.raises(PaperError, match='no claim "2" that is judged'):
        read(paper(claim("1", (5,), "{ at_least = 8 }") + again.replace('["1"]', '["2"]')))
    both = again + 'not_checkable = "why"\n'
    with pytest.raises(PaperError, match="has not_checkable and also same_as"):
        read(paper(claim("1", (5,), "{ at_least = 8 }") + both))


def test_errata_are_counted_beside_claims(paper):
    folder = paper(claim("1", (9,), "{ at_least = 8 }"), claim("E1", (5,), "{ below = 8 }"))
    done = reproduce(read(folder), options=QUIET)
    assert (done.count_standing("holds"), done.count_standing("erratum")) == (1, 1)
    assert done.orders["met"] == 1


def test_a_search_counts_for_the_claims_that_are_as_they_were(paper):
    text = claim("1", (5,), "{ at_least = 8 }") + claim("2", (5,), "{ at_least = 8 }")
    folder = paper(text)
    data = read(folder)
    entries = [
        {"id": name, "share": 0.5, "holds_inferred": True, "decides": [],
         "verdict_inferred": "reproduced", "claim_hash": claim_hash(data, data.claims[name])}
        for name in "12"
    ]  # fmt: skip
    file = folder.parent / "forensics.json"
    content = {"paper_hash": paper_hash(data), "inferred": {"values": {"x": 1}}, "tier": "fast",
               "points": 70, "refused": 6, "agreement": [{"alike": 0.75}],
               "claims": entries}  # fmt: skip
    file.write_text(json.dumps(content))
    whole = load(read(folder), file)
    assert whole.claims["1"] == ClaimFound(0.5, True, (), True, points=64, alike=0.75)
    assert whole.changed == ()
    # Another claim's rule, and an inference no more: it was fitted to what is gone.
    folder = paper(claim("1", (5,), "{ at_least = 7 }") + claim("2", (5,), "{ at_least = 8 }"))
    found = load(read(folder), file)
    assert (set(found.claims), found.changed) == ({"2"}, ("1",))
    assert not found.claims["2"].is_inferred
    assert found.claims["2"].is_met_at_best


@pytest.mark.slow
def test_a_rank_correlation_of_random_runs_is_judged(tmp_path):
    """Its rows have places and pairs, and no column value."""
    at = Path(shutil.copytree(PAPERS / "example", tmp_path / "mine"))
    study = at / "scenarios" / "loss.toml"
    study.write_text(study.read_text().replace('"120 s"', '"30 s"'))
    with (at / "claims.toml").open("a") as file:
        file.write("""
[[claim]]
id = "rank"
statement = "less with more loss"
kind = "O"
where = "1"

[[claim.check]]
statistic = "spearman"
measure = '''SELECT replicate, loss AS at, loss AS x, avg(goodput_bps) AS y
FROM loss.flows GROUP BY replicate, loss'''
expect = { below = 0 }
""")
    done = reproduce(read(at), options=QUIET, claims=["rank"])
    found = {result.claim.id: result for result in done.claims}["rank"]
    assert found.verdict == "reproduced"
    assert found.results[0].measured == -1
