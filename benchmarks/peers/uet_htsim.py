"""Runs what uet-htsim ships outputs of, and prints its completion times beside ours.

    python benchmarks/peers/uet_htsim.py HTSIM [--seeds 3] [--only TEXT]

HTSIM is a checkout of ultraethernet/uet-htsim (the outputs are those of commit 40ccb05). Of the
experiments in `validate_outputs` those with Ultra Ethernet's control at the sender, at the receiver
or both are run, with the network, queues, marks and timers that its `main_uec.cpp` gives them, as a
table in Markdown: when the last transfer ends and how many packets are sent again, published and
here (the mean over seeds, and the least and the most). There a flow has so many entropy values,
which switches hash; here all paths are equally likely, as CHOICES says. Left out are oversubscribed
networks with the receiver alone: there the simulator adds a control of rates that is no part of
Ultra Ethernet (`oversubscribed_cc.cpp`).
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterable

DATACENTER = Path("htsim/sim/datacenter")
OUTPUTS = ("uec_sender", "uec_rcv", "uec_both", "load_balancing_snd", "load_balancing_failed_snd")
RATE, PACKET, HEADER = 100e9, 4150, 64
CHOICES = {"oblivious": "spray", "reps": "reps", "bitmap": "reps", "mixed": "reps"}
"""What is run for each of its names of path choices; `mixed` is its default."""


class Experiment(NamedTuple):
    """A shipped experiment: its options, and what its output says."""

    options: dict[str, str]
    last_us: float
    repeats: int

    @property
    def command(self) -> str:
        """The matrix, and the options that change what is compared."""
        matrix = Path(self.options["tm"]).name
        passed_over = ("tm", "end", "sender_cc_only")
        rest = {key: value for key, value in self.options.items() if key not in passed_over}
        return " ".join(
            [f"`{matrix}`", *(f"-{key} {Path(rest[key]).name}".strip() for key in rest)]
        )


def read_experiments(folder: Path) -> list[Experiment]:
    """Read the experiments of all outputs.

    Parameters
    ----------
    folder
        Of data centres in a checkout.
    """
    experiments = []
    for name in OUTPUTS:
        text = (folder / "validate_outputs" / f"validate_{name}.out").read_text("utf-8")
        for part in text.split("Experiment: ")[1:]:
            command = _search(r"Running \./htsim_uec (.*)", part)
            options = dict(re.findall(r"-(\w+)(?: ([^-\s]\S*))?", command))
            last_us = float(_search(r"FCT Spread \S+ -> (\S+)", part))
            repeats = int(_search(r"Rtx: (\d+)", part))
            if "receiver_cc_only" not in options or "topo" not in options:
                experiments.append(Experiment(options, last_us, repeats))
    return experiments


def _search(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if match is None:
        sys.exit(f"uet_htsim: an output has no {pattern!r}")
    return match[1]


class Sizes(NamedTuple):
    """What `main_uec.cpp` computes of a network: bytes and seconds."""

    rtt_s: float
    queue: int
    mark_min: int
    mark_max: int
    timer_s: float


def sizes_of(hops: int, queue_packets: int | None = None) -> Sizes:
    """Compute sizes of queues and timers.

    Parameters
    ----------
    hops
        Links of the longest path.
    queue_packets
        Size of a queue; left out: the product of bandwidth and round trip.
    """
    rtt_s = 2 * hops * 1e-6 + (PACKET + HEADER) * 8 / RATE * hops
    bdp = math.ceil(rtt_s * RATE / 8 / PACKET)
    queue = (queue_packets or bdp) * PACKET
    low, high = (math.ceil(share * bdp) * PACKET for share in (0.2, 0.8))
    return Sizes(rtt_s, queue, low, high, 15e-6 + queue * 48 / RATE)


def settings_of(sizes: Sizes, delayed_ack: int = 4) -> dict[str, Any]:
    """Make what all scenarios have: queues of switches (in ``net``) and hosts, and the transport.

    Parameters
    ----------
    sizes
        Of `sizes_of`.
    delayed_ack
        Packets that an acknowledgement waits for.
    """
    marks = {"mark_min": sizes.mark_min, "mark_max": sizes.mark_max}
    card = {"kind": "priority", "classes": [{"takes": {"acks": True}}, {}]}
    return {
        "net": {
            "rate": RATE,
            "delay": "1 us",
            "buffer": f"{3 * sizes.queue} B",
            "qdisc": {"kind": "trim", "data": 1 / 3, **marks},
        },
        "links": [{"link": "h*->*", "buffer": "unlimited", "qdisc": card}],
        "tcp": {
            "mss": PACKET - HEADER,
            "header": HEADER,
            "ack_size": HEADER,
            "delayed_ack": delayed_ack,
            "delayed_ack_timeout": "5 us",
            "syn": False,
            "trimming": True,
            "min_rto": sizes.timer_s,
            "max_rto": sizes.timer_s,
            "tick": "1 us",
        },
    }


def slow_links(settings: dict[str, Any], sizes: Sizes, links: Iterable[str]) -> None:
    """Give links a quarter of the rate, with queues and marks in proportion.

    Parameters
    ----------
    settings
        Of `settings_of`; they get the links.
    sizes
        Of the network.
    links
        Names.
    """
    marks = {"mark_min": sizes.mark_min // 4, "mark_max": sizes.mark_max // 4}
    slow = {"rate": RATE / 4, "buffer": f"{sizes.queue * 3 // 4} B"}
    queue = settings["net"]["qdisc"] | marks
    settings["links"] += [{"link": link, "qdisc": queue, **slow} for link in links]


def scenario_of(experiment: Experiment, folder: Path, seed: int) -> dict[str, Any]:
    """Make the scenario of an experiment, as a document.

    Parameters
    ----------
    experiment
        Of `read_experiments`.
    folder
        Of data centres in the checkout.
    seed
        Of our run.
    """
    options = experiment.options
    matrix = folder / options["tm"]
    text = matrix.read_text("utf-8")
    hosts = int(_search(r"Nodes (\d+)", text))
    # There each packet has a timer, which begins as the card sends it; here it has waited for the
    # other flows of its host by then.
    flows_of_a_host = max(Counter(re.findall(r"^(\d+)->", text, re.MULTILINE)).values())
    topology = folder / options["topo"] if "topo" in options else None
    sizes = sizes_of(4 if topology else 6, int(options["q"]) if "q" in options else None)
    settings = settings_of(sizes, 1 if options.get("sack_threshold") == "4000" else 4)
    if topology:
        text = topology.read_text("utf-8")
        leaf, up = (int(_search(rf"Radix_{way} (\d+)", text)) for way in ("Down", "Up"))
        settings["net"] |= {"kind": "leaf-spine", "leaves": hosts // leaf, "spines": up}
        settings["net"] |= {"hosts": leaf, "switch_rate": RATE}
    else:
        settings["net"] |= {"kind": "fat-tree", "k": round((4 * hosts) ** (1 / 3))}
    slow_links(settings, sizes, (f"c{core}->a0" for core in range(int(options.get("failed", 0)))))
    control: dict[str, Any] = {"kind": "nscc", "network_rtt": sizes.rtt_s}
    if "cwnd" in options:
        control["initial_window"] = int(options["cwnd"])
    wait_s = sizes.timer_s * flows_of_a_host
    flow: dict[str, Any] = {
        "between": {"kind": "listed", "file": str(matrix)},
        "cc": control,
        "recovery": {"kind": "rack", "tlp": False, "reo_wnd": wait_s},
    }
    if "receiver_cc" in options or "receiver_cc_only" in options:
        flow["credits"] = "rccc"
        settings["tcp"] |= {"min_rto": wait_s, "max_rto": wait_s}
    if "receiver_cc_only" in options:
        del flow["cc"]
    choice = CHOICES[options.get("load_balancing_algo", "mixed")]
    return settings | {
        "flows": [flow],
        "equal_paths": "hash" if options.get("paths") == "1" else choice,
        "seed": seed,
        "duration": float(options["end"]) * 1e-6,
    }


def run(experiment: Experiment, folder: Path, seed: int) -> tuple[float, int]:
    """Run it here; returns the last completion time in microseconds, and packets sent again."""
    flows = Scenario.from_data(scenario_of(experiment, folder, seed)).run().summary["flows"]
    if unfinished := sum(flow["completed_after_s"] is None for flow in flows):
        print(f"  {unfinished} transfers did not end", file=sys.stderr)
    last_s = max(flow["completed_after_s"] or math.inf for flow in flows)
    return last_s * 1e6, sum(flow["retransmits"] for flow in flows)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("htsim", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="rows whose first column has this")
    arguments = parser.parse_args()
    folder = arguments.htsim / DATACENTER
    print("| matrix, options | published, us | here, us | | again, published | again, here |")
    print("| --- | --- | --- | --- | --- | --- |")
    for experiment in read_experiments(folder):
        if arguments.only not in experiment.command:
            continue
        rows = [run(experiment, folder, seed) for seed in range(1, arguments.seeds + 1)]
        lasts, repeats = ([row[column] for row in rows] for column in (0, 1))
        apart = mean(lasts) / experiment.last_us - 1
        here = f"{mean(lasts):.1f} ({min(lasts):.1f} to {max(lasts):.1f}) | {apart:+.1%}"
        again = f"{experiment.repeats:,} | {min(repeats):,} to {max(repeats):,}"
        print(f"| {experiment.command} | {experiment.last_us:.1f} | {here} | {again} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
