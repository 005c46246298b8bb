"""ackclock: a laboratory for congestion control.

Everything is imported when it is first used, so that ``import ackclock`` costs nothing::

    import ackclock as ac

    net = ac.topology.Dumbbell(pairs=2, rate="10 Mbps", rtt="40 ms")
    flows = [ac.Flow(pair=0, cc=ac.cc.Aimd()), ac.Flow(pair=1, cc=ac.cc.Vegas())]
    print(ac.Scenario(net, flows, duration="30 s").run())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock import (
        arrivals,
        cc,
        impairment,
        pattern,
        plot,
        policy,
        qdisc,
        recovery,
        sharing,
        slow_start,
        source,
        topology,
    )
    from ackclock.catalogue.flows import Flow, LinkChange, TcpOptions, Traffic
    from ackclock.catalogue.python_class import (
        BitsPerSecond,
        Bytes,
        DefinitionError,
        Drop,
        Mark,
        Pass,
        Seconds,
        aqm,
        control,
    )
    from ackclock.engines import fluid
    from ackclock.errors import (
        AckclockError,
        AlgorithmError,
        ConvergenceError,
        Problem,
        ScenarioError,
        UnsupportedError,
    )
    from ackclock.experiments import Axis, Precision, Sweep, SweepResult, sweep
    from ackclock.experiments.replication import Replication, replicate
    from ackclock.results.run import Run
    from ackclock.scenario.load import load, load_run
    from ackclock.scenario.scenario import Scenario

    __version__: str

__all__ = [
    "AckclockError",
    "AlgorithmError",
    "Axis",
    "BitsPerSecond",
    "Bytes",
    "ConvergenceError",
    "DefinitionError",
    "Drop",
    "Flow",
    "LinkChange",
    "Mark",
    "Pass",
    "Precision",
    "Problem",
    "Replication",
    "Run",
    "Scenario",
    "ScenarioError",
    "Seconds",
    "Sweep",
    "SweepResult",
    "TcpOptions",
    "Traffic",
    "UnsupportedError",
    "aqm",
    "arrivals",
    "cc",
    "control",
    "fluid",
    "impairment",
    "load",
    "load_run",
    "pattern",
    "plot",
    "policy",
    "qdisc",
    "recovery",
    "replicate",
    "sharing",
    "slow_start",
    "source",
    "sweep",
    "topology",
]

_HOME = {
    "AckclockError": "errors",
    "AlgorithmError": "errors",
    "Axis": "experiments",
    "BitsPerSecond": "catalogue.python_class",
    "Bytes": "catalogue.python_class",
    "ConvergenceError": "errors",
    "DefinitionError": "catalogue.python_class",
    "Drop": "catalogue.python_class",
    "Flow": "catalogue.flows",
    "LinkChange": "catalogue.flows",
    "Mark": "catalogue.python_class",
    "Pass": "catalogue.python_class",
    "Precision": "experiments",
    "Problem": "errors",
    "Replication": "experiments.replication",
    "Run": "results.run",
    "Scenario": "scenario.scenario",
    "ScenarioError": "errors",
    "Seconds": "catalogue.python_class",
    "Sweep": "experiments",
    "SweepResult": "experiments",
    "TcpOptions": "catalogue.flows",
    "Traffic": "catalogue.flows",
    "UnsupportedError": "errors",
    "aqm": "catalogue.python_class",
    "control": "catalogue.python_class",
    "load": "scenario.load",
    "load_run": "scenario.load",
    "replicate": "experiments.replication",
    "sweep": "experiments",
}
_MODULES = {
    "arrivals": "arrivals",
    "cc": "cc",
    "fluid": "engines.fluid",
    "impairment": "impairment",
    "pattern": "pattern",
    "plot": "plot",
    "policy": "policy",
    "qdisc": "qdisc",
    "recovery": "recovery",
    "sharing": "sharing",
    "slow_start": "slow_start",
    "source": "source",
    "topology": "topology",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("ackclock._core").version()
    if name in _HOME:
        # Kept, so that the next look finds it at once: an AQM looks for its verdicts per packet.
        globals()[name] = found = getattr(importlib.import_module(f"ackclock.{_HOME[name]}"), name)
        return found
    if name in _MODULES:
        return importlib.import_module(f"ackclock.{_MODULES[name]}")
    message = f"module 'ackclock' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)
