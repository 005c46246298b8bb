"""Signatures of classes that are made from the registry."""

import inspect

import pytest

import ackclock as ac


@pytest.mark.parametrize("cls", [ac.cc.Vegas, ac.qdisc.Red, ac.Flow, ac.topology.Dumbbell])
def test_fields_may_be_given_by_place_and_by_name(cls):
    parameters = inspect.signature(cls).parameters.values()
    assert parameters
    assert {one.kind for one in parameters} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    # What has no default comes first, as Python has it.
    has_default = [one.default is not inspect.Parameter.empty for one in parameters]
    assert has_default == sorted(has_default)


def test_the_signature_has_the_defaults_that_the_class_takes():
    parameters = inspect.signature(ac.cc.Vegas).parameters
    plain = ac.cc.Vegas()
    assert next(iter(parameters)) == "alpha"
    assert parameters["alpha"].default == plain.alpha
    assert ac.cc.Vegas(3.0) == ac.cc.Vegas(alpha=3.0) != plain
