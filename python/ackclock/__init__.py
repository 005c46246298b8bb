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
        fluid,
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
    from ackclock.errors import (
        AckclockError,
        AlgorithmError,
        ConvergenceError,
        Problem,
        ScenarioError,
        UnsupportedError,
    )
    from ackclock.experiments import Axis, Precision, Sweep, SweepResult, sweep
    from ackclock.flows import Flow, LinkChange, TcpOptions, Traffic
    from ackclock.replication import Replication, replicate
    from ackclock.run import Run, load_run
    from ackclock.scenario import Scenario, load
    from ackclock.usercode import (
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
    "BitsPerSecond": "usercode",
    "Bytes": "usercode",
    "ConvergenceError": "errors",
    "DefinitionError": "usercode",
    "Drop": "usercode",
    "Flow": "flows",
    "LinkChange": "flows",
    "Mark": "usercode",
    "Pass": "usercode",
    "Precision": "experiments",
    "Problem": "errors",
    "Replication": "replication",
    "Run": "run",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "Seconds": "usercode",
    "Sweep": "experiments",
    "SweepResult": "experiments",
    "TcpOptions": "flows",
    "Traffic": "flows",
    "UnsupportedError": "errors",
    "aqm": "usercode",
    "control": "usercode",
    "load": "scenario",
    "load_run": "run",
    "replicate": "replication",
    "sweep": "experiments",
}
_MODULES = (
    "arrivals",
    "cc",
    "fluid",
    "pattern",
    "plot",
    "policy",
    "qdisc",
    "recovery",
    "sharing",
    "slow_start",
    "source",
    "topology",
)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("ackclock._core").version()
    if name in _HOME:
        # Kept, so that the next look finds it at once: an AQM looks for its verdicts per packet.
        globals()[name] = found = getattr(importlib.import_module(f"ackclock.{_HOME[name]}"), name)
        return found
    if name in _MODULES:
        return importlib.import_module(f"ackclock.{name}")
    message = f"module 'ackclock' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted(__all__)
