"""What a control or an AQM written in Python costs beside the built-in ones.

``python benchmarks/own.py`` runs four flows over 100 Mbit/s and 40 ms, every packet acknowledged,
with a built-in control and with the same one in Python at each cadence, in turns; CPU seconds are
those of the run, medians over the turns. A control called once per round trip is to cost at most
four times a built-in one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any

from measure import machine

import ackclock as ac

GOAL = 4.0
FLOWS = 4


class Aimd:
    """AIMD(1, 1/2), by the acknowledgements that came since the last call."""

    def on_ack(self, window: Any, ack: Any) -> None:
        """Add a segment per window of acknowledged segments."""
        window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, window: Any, event: Any) -> None:
        """Halve what was in use."""
        window.cwnd = 0.5 * event.in_use


class ByAck(Aimd):
    """Called for every acknowledgement."""


class ByRound(Aimd):
    """Called once per round trip."""


class ByClock(Aimd):
    """Called at an interval."""


@ac.aqm
class Open:
    """Lets everything pass."""

    def on_enqueue(self, packet: Any, queue: Any) -> Any:
        """Pass."""
        return ac.Pass


CASES: dict[str, tuple[Any, Any]] = {
    "built-in aimd": ("aimd", "fifo"),
    'own, cadence "ack"': (ac.control(cadence="ack")(ByAck), "fifo"),
    'own, cadence "round"': (ac.control(cadence="round")(ByRound), "fifo"),
    'own, cadence "100 ms"': (ac.control(cadence="100 ms")(ByClock), "fifo"),
    "built-in aimd, built-in codel": ("aimd", "codel"),
    "built-in aimd, own AQM that always passes": ("aimd", Open),
}


def cost(control: Any, queue: Any, seconds: float) -> tuple[float, int]:
    """CPU seconds of a run, and the data packets that it delivered."""
    net = ac.topology.Dumbbell(
        pairs=FLOWS, rate="100 Mbps", rtt="40 ms", buffer="1 bdp", qdisc=queue
    )
    flows = [ac.Flow(pair=i, cc=control, start=0.1 * i) for i in range(FLOWS)]
    run = ac.Scenario(net, flows, seconds, tcp={"delayed_ack": 1}).run()
    delivered = sum(flow["delivered_packets"] for flow in run.summary["flows"])
    return run.summary["totals"]["cpu_s"], delivered


def main() -> int:
    """Measure, print, and fail where a control called once per round trip costs too much."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=121.0, help="simulated time")
    parser.add_argument("--turns", type=int, default=3, help="each case runs once in each")
    options = parser.parse_args()
    turns = [
        {name: cost(*case, options.seconds) for name, case in CASES.items()}
        for _ in range(options.turns)
    ]
    print(f"{machine()}; {FLOWS} flows, {options.seconds:g} s, median of {options.turns} turns\n")
    for name in CASES:
        cpu_s = statistics.median(turn[name][0] for turn in turns)
        packets = turns[0][name][1]
        print(f"{name:42} {cpu_s:6.2f} s  {packets / cpu_s / 1e6:5.2f} million packets a second")
    ratio = statistics.median(
        turn['own, cadence "round"'][0] / turn["built-in aimd"][0] for turn in turns
    )
    print(f"\nonce per round trip: {ratio:.2f} times the built-in control (at most {GOAL:g})")
    return 0 if ratio <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
