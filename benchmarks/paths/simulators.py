"""How near calibrated paths are to those of ns-2 and ns-3: their traces and captures alone.

Draws a path and a control of the simulator from each seed, runs one flow there (`peers/ns2` and
`peers/ns3` have the programs), and gives its file to `ackclock calibrate` without naming anything.
Prints errors of rate, base round trip and buffer, the kind of queue, the sender and the replay.

Exit status: 0, or 2 if a simulator is missing.
"""

from __future__ import annotations

import argparse
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ackclock.captures.calibrate.calibration import Calibration, calibrate

PEERS = Path(__file__).parents[1] / "peers"
GOALS = {"rate": 0.03, "base": 0.02, "buffer": 0.15}
NS2 = {
    "Sack1": "aimd", "Newreno": "aimd", "Vegas": "vegas", "Linux cubic": "cubic",
    "Linux bic": "bic", "Linux htcp": "htcp", "Linux westwood": "westwood",
    "Linux illinois": "illinois",
}  # fmt: skip
NS3 = {
    "TcpLinuxReno": "aimd", "TcpCubic": "cubic", "TcpBbr": "bbr", "TcpBic": "bic",
    "TcpHtcp": "htcp", "TcpIllinois": "illinois", "TcpVegas": "vegas", "TcpVeno": "veno",
}  # fmt: skip
"""Controls of the simulator, and what they are called here."""

NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
SIZES = {"ns2": 1488, "ns3": 1502}
"""Bytes of a full packet at the bottleneck."""


def draw_path(seed: int, simulator: str) -> dict[str, Any]:
    """Draw a path and a control.

    Parameters
    ----------
    seed
        Of the draw.
    simulator
        ``ns2`` or ``ns3``.
    """
    rng = random.Random(f"{simulator} {seed}")
    rate = math.exp(rng.uniform(math.log(2e6), math.log(20e6)))
    rtt = math.exp(rng.uniform(math.log(0.01), math.log(0.12)))
    packets = rate * rtt / 8 / 1500
    controls = list(NS2 if simulator == "ns2" else NS3)
    return {
        "rate": rate, "rtt": rtt, "buffer": max(10, round(rng.uniform(0.5, 2.5) * packets)),
        "control": controls[seed % len(controls)], "seconds": min(40.0, max(20.0, 250 * rtt)),
    }  # fmt: skip


def build_ns3(folder: Path) -> Path:
    """Compile the program of ns-3.

    Parameters
    ----------
    folder
        Where it is put.
    """
    program = folder / "captured"
    libraries = [f"-lns3-{module}" for module in NS3_MODULES]
    source = PEERS / "ns3" / "captured.cc"
    command = ["c++", "-std=c++17", "-O2", "-o", str(program), str(source), *libraries]
    subprocess.run(command, check=True)
    return program


def run_path(path: dict[str, Any], folder: Path, program: Path | None) -> Path:
    """Run a flow; return its trace or capture.

    Parameters
    ----------
    path
        As `draw_path` gives it.
    folder
        Where the file is put.
    program
        That of ns-3; None for ns-2.
    """
    rate, rtt, buffer, seconds = (
        str(path[name]) for name in ("rate", "rtt", "buffer", "seconds")
    )  # fmt: skip
    if program is None:
        agent, _, control = path["control"].partition(" ")
        file = folder / "flow.tr"
        arguments = [agent, control or "-", rate, rtt, buffer, seconds, str(file)]
        command = ["ns", str(PEERS / "ns2" / "traced.tcl"), *arguments]
    else:
        file = folder / "flow.pcap"
        command = [
            str(program), f"--cc={path['control']}", f"--rate={rate}", f"--rtt={rtt}",
            f"--buffer={buffer}", f"--seconds={seconds}", f"--out={file}",
        ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return file


def errors_of(result: Calibration, path: dict[str, Any], size: int) -> dict[str, float | None]:
    """Relative errors of what was estimated; None where it is not known.

    Parameters
    ----------
    result
        The calibrated path.
    path
        The real one.
    size
        Bytes of a full packet.
    """
    truth = {"rate": path["rate"], "base": path["rtt"], "buffer": path["buffer"] * size}
    guess = result.path
    # Packets of ns-3 have two bytes at its links that no capture counts.
    values = {"rate": guess.rate_bps, "base": guess.base_s, "buffer": guess.buffer_bytes}
    return {
        name: None if value is None else value.value / truth[name] - 1
        for name, value in values.items()
    }


def cell(error: float | None, goal: float) -> str:
    """Write an error."""
    if error is None:
        return "not known"
    return f"{error:+.1%}{'' if abs(error) <= goal else ' (far)'}"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("simulator", choices=("ns2", "ns3"))
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--count", type=int, default=12, help="paths")
    arguments = parser.parse_args()
    if shutil.which("ns" if arguments.simulator == "ns2" else "c++") is None:
        print("ns, or for ns-3 a C++ compiler, is not installed", file=sys.stderr)
        return 2
    names = NS2 if arguments.simulator == "ns2" else NS3
    print("| control | path | rate | base | buffer | queue | sent by | replay is far in |")
    print("| --- | --- | ---: | ---: | ---: | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        program = build_ns3(Path(folder)) if arguments.simulator == "ns3" else None
        for seed in range(arguments.first, arguments.first + arguments.count):
            path = draw_path(seed, arguments.simulator)
            result = calibrate(run_path(path, Path(folder), program))
            errors = errors_of(result, path, SIZES[arguments.simulator])
            answer = result.identified
            shares = answer.probabilities if answer else {}
            name = answer.answer if answer else "-"
            sender = f"{name} {max(shares.values(), default=0.0):.2f}"
            if name in names.values() and name != names[path["control"]]:
                sender += " (wrong)"
            queue = result.fit.kind
            share = result.fit.kinds.get(queue)
            cells = [
                path["control"],
                f"{path['rate'] / 1e6:.1f} Mbit/s, {path['rtt'] * 1e3:.0f} ms,"
                f" {path['buffer']} pkt",
                *(cell(errors[key], goal) for key, goal in GOALS.items()),
                queue if share is None else f"{queue} {share:.2f}",
                sender,
                ", ".join(d.name for d in result.distances if d.is_near is False) or "nothing",
            ]
            print(f"| {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
