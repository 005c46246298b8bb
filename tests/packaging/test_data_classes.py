"""Records are not changed once they are made: what was planned or found stays as it is."""

import dataclasses
import importlib
import inspect
import pkgutil

import pytest

CHANGE = {"Collected", "Filter", "Stamp", "_Suspect"}
"""Those that are filled as something is done."""


def modules(package):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.rpartition(".")[2].startswith("__main__"):
            yield found.name


@pytest.mark.parametrize(
    "name",
    [
        "analysis",
        "experiments",
        "reproduce",
        "results",
        "studies.evaluate_control",
        "studies.evaluate_queue",
    ],
)
def test_a_record_cannot_be_changed(name):
    package = importlib.import_module(f"ackclock.{name}")
    made = [
        kind
        for module in [package.__name__, *modules(package)]
        for kind in vars(importlib.import_module(module)).values()
        if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and kind.__module__ == module
    ]
    wrong = [
        f"{kind.__module__}.{kind.__name__}"
        for kind in made
        if kind.__name__ not in CHANGE and not kind.__dataclass_params__.frozen
    ]
    assert wrong == []
