from . import (
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
from ._util.version import (
    __version__,
)
from .catalogue.flows import (
    Flow,
    LinkChange,
    TcpOptions,
    Traffic,
)
from .catalogue.python_class import (
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
from .engines import (
    fluid,
)
from .errors import (
    AckclockError,
    AlgorithmError,
    ConvergenceError,
    Problem,
    ScenarioError,
    UnsupportedError,
)
from .experiments.grid import (
    Axis,
)
from .experiments.replication import (
    Replication,
    replicate,
)
from .experiments.result import (
    SweepResult,
)
from .experiments.statistics import (
    Precision,
)
from .experiments.sweeps import (
    Sweep,
    sweep,
)
from .results.run import (
    Run,
)
from .scenario.load import (
    load,
    load_run,
)
from .scenario.scenario import (
    Scenario,
)

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
    "__version__",
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
