"""The profiles that ship with ackclock, both tiers, without a run."""

import re

import pytest

from ackclock.dossier.read import names, read


def axes(study):
    """Names of the axes of a study in either tier."""
    tiers = study.document.get("tiers", {}).values()
    return {name for place in (study.document, *tiers) for name in place.get("over", {})}


@pytest.mark.parametrize("profile", names())
def test_a_query_distinguishes_the_points_of_its_studies_in_both_tiers(profile):
    # Else a replicate has several rows, one for each point, and the tier with the axis stops.
    data = read(profile).data
    queries = {
        f"{claim.id} {check.name}": check.measure
        for claim in data.claims.values()
        for check in claim.checks
    }
    queries |= {name: figure.queries["data"] for name, figure in data.figures.items()}
    for place, query in queries.items():
        for name in set(re.findall(r"(\w+)\.\w+", query)) & set(data.studies):
            words = set(re.findall(r"\w+", re.sub(rf"\b{name}\.\w+", "", query)))
            missing = axes(data.studies[name]) - words
            assert not missing, f"{place}: {missing} of {name}"


@pytest.mark.parametrize("profile", names())
def test_every_requirement_that_is_measured_has_a_figure(profile):
    requirements = read(profile).requirements.values()
    assert not [one.id for one in requirements if one.thresholds and not one.figures]
