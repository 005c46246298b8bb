from . import (
    arrivals,
    cc,
    credits,  # noqa: A004
    impairment,
    multicast,
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
from ._util.core import (
    __version__,
)
from ._util.table_type import (
    Table,
)
from .catalogue.flows import (
    Flow,
    Group,
    LinkChange,
    QuicOptions,
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
from .catalogue.user_types import (
    Ack,
    Aqm,
    Congestion,
    Control,
    Lost,
    Packet,
    Queue,
    Verdict,
    Window,
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
from .peers.emulate.emulate import (
    emulate,
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
    "Ack",
    "AckclockError",
    "AlgorithmError",
    "Aqm",
    "Axis",
    "BitsPerSecond",
    "Bytes",
    "Congestion",
    "Control",
    "ConvergenceError",
    "DefinitionError",
    "Drop",
    "Flow",
    "Group",
    "LinkChange",
    "Lost",
    "Mark",
    "Packet",
    "Pass",
    "Precision",
    "Problem",
    "Queue",
    "QuicOptions",
    "Replication",
    "Run",
    "Scenario",
    "ScenarioError",
    "Seconds",
    "Sweep",
    "SweepResult",
    "Table",
    "TcpOptions",
    "Traffic",
    "UnsupportedError",
    "Verdict",
    "Window",
    "__version__",
    "aqm",
    "arrivals",
    "cc",
    "control",
    "credits",
    "emulate",
    "fluid",
    "impairment",
    "load",
    "load_run",
    "multicast",
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
