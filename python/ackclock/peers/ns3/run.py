"""ns-3 as a peer: compiles and runs the program of a scenario, and reads what it wrote as a run."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import AckclockError, UnsupportedError
from ackclock.peers.ns3.program import FLOWS, LINKS, WINDOWS, write
from ackclock.peers.ns3.sockets import segment_bytes
from ackclock.peers.plan import plan_of
from ackclock.peers.program import find, run_program
from ackclock.peers.registry import PreparedPeer

if TYPE_CHECKING:
    from ackclock.peers.plan import Flow, SimulatorPlan
    from ackclock.peers.registry import Options
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["flags_of", "ns3"]

MODULES = ("point-to-point", "flow-monitor", "internet", "traffic-control", "network", "core")

COST = 200.0
"""How long a run takes, relative to ours; of a short one most is the building."""


def flags_of(prefix: Path) -> list[str]:
    """List what the compiler needs to find ns-3.

    Parameters
    ----------
    prefix
        Where it is installed: has ``include/ns3`` and ``lib``.

    Raises
    ------
    UnsupportedError
        It is not there.
    """
    if (
        not (prefix / "include" / "ns3" / "core-config.h").is_file()
        and not (prefix / "include" / "ns3" / "simulator.h").is_file()
    ):
        raise UnsupportedError(
            f"ns3 is not installed (no {prefix}/include/ns3); install Debian's package libns3-dev,"
            " or name its prefix with --path ns3=DIR"
        )
    search_options = [] if prefix == Path("/usr") else [f"-I{prefix}/include", f"-L{prefix}/lib"]
    rpath = [] if prefix == Path("/usr") else [f"-Wl,-rpath,{prefix}/lib"]
    return [*search_options, *rpath, *(f"-lns3-{module}" for module in MODULES)]


def ns3(scenario: Scenario, options: Options) -> PreparedPeer:
    """Prepare a scenario for ns-3.

    Parameters
    ----------
    scenario
        The scenario.
    options
        Where ns-3 is, and how long it may take.

    Raises
    ------
    UnsupportedError
        ns-3, or a compiler, is not installed.
    ScenarioError
        The scenario has what ns-3 cannot express: every reason at once.
    """
    plan = plan_of(scenario)
    written = write(plan)
    flags = flags_of(Path(options.paths.get("ns3", Path("/usr"))))
    compiler = find("ns3", "g++", {}, "a C++ compiler")

    built: dict[str, bytes] = {}

    def build(text: str) -> bytes:
        """Compile a program once; seeds are an argument of it, so that mostly one serves all."""
        if text not in built:
            with tempfile.TemporaryDirectory(prefix="ackclock-ns3-") as name:
                folder = Path(name)
                (folder / "net.cc").write_text(text, encoding="ascii")
                command: list[str | Path] = [
                    compiler,
                    "-std=c++17",
                    "-O1",
                    "net.cc",
                    "-o",
                    "net",
                    *flags,
                ]
                run_program(command, folder, options.time_limit_s, "the compiler for ns-3")
                built[text] = (folder / "net").read_bytes()
        return built[text]

    def run(seed: int) -> Run:
        case = scenario.with_seed(seed)
        mine = plan_of(case)
        program = build(write(mine).text)
        with tempfile.TemporaryDirectory(prefix="ackclock-ns3-") as name:
            folder = Path(name)
            (folder / "net").write_bytes(program)
            (folder / "net").chmod(0o700)
            order: list[str | Path] = [folder / "net", ".", str(1 + seed)]
            run_program(order, folder, options.time_limit_s, "ns-3")
            return _read(case, mine, folder)

    return PreparedPeer(
        ours=scenario,
        run=run,
        flows=lambda _: list(range(len(plan.flows))),
        release=lambda _: "ns-3",
        cost=COST,
        links=tuple(link.id for link in plan.bottlenecks),
        notes=tuple(str(note) for note in written.notes),
    )


def _read(scenario: Scenario, plan: SimulatorPlan, folder: Path) -> Run:
    """Read what a program wrote."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    from ackclock.results.run import Run

    try:
        flows = {int(row["flow"]): row for row in _rows(folder / FLOWS)}
        links = {int(row["link"]): row for row in _rows(folder / LINKS)}
        windows = arrow_csv.read_csv(folder / WINDOWS)
        summary = {
            "seed": plan.seed,
            "engine": "ns-3",
            "duration_s": plan.duration_s,
            "window_s": plan.duration_s - plan.warmup_s,
            "flows": [_flow(plan, flow, flows[flow.number]) for flow in plan.flows],
            "links": [
                {"id": link.id, **(_link(links[link.number]) if link.number in links else {})}
                for link in plan.links
            ],
        }
        names = np.array([flow.id for flow in plan.flows])
        times = windows["time_s"].to_numpy().astype(float)
        table = pa.table(
            {
                "time_s": times,
                "flow": names[windows["flow"].to_numpy().astype(int)],
                "cwnd_segments": windows["cwnd_segments"].to_numpy().astype(float),
                "acked": np.full(len(times), np.nan),
            }
        )
    except (OSError, ValueError, KeyError, pa.ArrowInvalid) as error:
        raise AckclockError(f"ns-3 left files that cannot be read: {error}") from None
    return Run(scenario, summary, {"windows": table})


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="ascii") as file:
        return list(csv.DictReader(file))


def _flow(plan: SimulatorPlan, flow: Flow, row: dict[str, str]) -> dict[str, Any]:
    # Segments are smaller by ns-3's frame; as many of them are as much payload here.
    size = flow.tcp["mss"] / segment_bytes(flow) if flow.kind == "tcp" else _share(flow)
    return {
        "id": flow.id,
        "cc": flow.control,
        "goodput_bps": float(row["bytes"]) * size * 8 / (plan.duration_s - plan.warmup_s),
        "window_sent_packets": int(row["sent"]),
        "window_lost_data_packets": int(row["lost"]),
        "srtt_mean_s": None,
    }


def _share(flow: Flow) -> float:
    """The size of a datagram on the wire, relative to its payload in ns-3."""
    from ackclock.peers.ns3.sockets import PPP_BYTES, UDP_BYTES

    packet = flow.sender["source"].number("packet", 1000, "size")
    return packet / (packet - UDP_BYTES - PPP_BYTES)


def _link(row: dict[str, str]) -> dict[str, Any]:
    return {
        "window_drops": int(row["dropped"]),
        "window_arrived_packets": int(row["arrived"]),
        "delay_mean_s": float(row["wait_s"]),
    }
