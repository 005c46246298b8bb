"""What grading a class costs: 60 different controls over the five hidden traces of the contest.

``python benchmarks/course.py`` writes the controls (twelve rules, five constants each; the last one
never ends), grades them as ``ackclock course grade contest`` does, writes the report, and prints
the CPU seconds of the grader and of the students' processes.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from ackclock.course import find_sheet, grade


class Rule(NamedTuple):
    """What a control does on an ACK, with a constant ``{c}``."""

    cadence: str
    slow_start: bool
    on_ack: str
    constants: tuple[float, ...]
    on_loss: str = "event.in_use / 2"


FAST = "0.5 * window.cwnd + 0.5 * (window.cwnd * ack.min_rtt_s / rtt + {c})"
FOLLOWER = """if waiting < {c}:
            window.cwnd += 2.0 * ack.acked / window.cwnd
        else:
            window.cwnd = min(window.cwnd, ack.delivery_rate * (ack.min_rtt_s + {c}))"""
VEGAS = """queued = window.cwnd * waiting / rtt
        window.cwnd += (queued < {c}) - (queued > 2 * {c})"""
COPA = """target = ack.min_rtt_s * 1500 / ({c} * max(waiting, 0.0005))
        step = 2 * ack.acked / window.cwnd
        window.cwnd += step if window.cwnd * rtt < target else -step"""

RULES = {
    "additive": Rule(
        "round", slow_start=True, on_ack="window.cwnd += {c}", constants=(0.5, 1, 2, 4, 8)
    ),
    "gentle": Rule(
        "round",
        slow_start=True,
        on_ack="window.cwnd += 1.0",
        constants=(0.5, 0.6, 0.7, 0.8, 0.9),
        on_loss="{c} * event.in_use",
    ),
    "multiplicative": Rule(
        "round",
        slow_start=True,
        on_ack="window.cwnd *= 1 + {c}",
        constants=(0.01, 0.02, 0.05, 0.1, 0.2),
    ),
    "binomial": Rule(
        "round",
        slow_start=True,
        on_ack="window.cwnd += window.cwnd ** -{c}",
        constants=(0.1, 0.3, 0.5, 0.7, 0.9),
    ),
    "patient": Rule(
        "round",
        slow_start=False,
        on_ack="window.cwnd = window.cwnd + 1 if waiting < {c} else 0.9 * window.cwnd",
        constants=(0.005, 0.01, 0.02, 0.04, 0.08),
    ),
    "vegas": Rule("round", slow_start=True, on_ack=VEGAS, constants=(1, 2, 3, 6, 10)),
    "fast": Rule(
        "round",
        slow_start=False,
        on_ack=f"window.cwnd = min(2 * window.cwnd, {FAST})",
        constants=(4, 8, 12, 20, 30),
    ),
    "timid": Rule(
        "ack",
        slow_start=True,
        on_ack="window.cwnd += ack.acked / window.cwnd if waiting < {c} else 0.0",
        constants=(0.01, 0.02, 0.05, 0.1, 0.2),
    ),
    "follower": Rule(
        "ack", slow_start=False, on_ack=FOLLOWER, constants=(0.005, 0.01, 0.02, 0.03, 0.05)
    ),
    "by-ack": Rule(
        "ack",
        slow_start=True,
        on_ack="window.cwnd += {c} * ack.acked / window.cwnd",
        constants=(0.5, 1, 2, 3, 4),
    ),
    "curved": Rule(
        "ack",
        slow_start=True,
        on_ack="window.cwnd += {c} * ack.acked / (1.0 + 10.0 * waiting) / window.cwnd",
        constants=(0.5, 1, 2, 4, 8),
        on_loss="0.7 * event.in_use",
    ),
    "copa": Rule("ack", slow_start=False, on_ack=COPA, constants=(0.5, 1, 2, 4, 8)),
}

CONTROL = """import ackclock as ac


@ac.control(cadence="{cadence}", slow_start={slow_start})
class Mine:
    def on_ack(self, window, ack):
        rtt = {rtt}
        if rtt is None or ack.min_rtt_s is None:
            return
        waiting = rtt - ack.min_rtt_s
        {on_ack}
        window.cwnd = max(2.0, window.cwnd)

    def on_congestion(self, window, event):
        window.cwnd = max(2.0, {on_loss})
"""


def write_class(folder: Path) -> None:
    """Write the controls of 60 students, the last of which never ends."""
    students = [(name, rule, c) for name, rule in RULES.items() for c in rule.constants]
    for number, (name, rule, constant) in enumerate(students, start=1):
        text = CONTROL.format(
            cadence=rule.cadence,
            slow_start=rule.slow_start,
            rtt="ack.rtt_low_s" if rule.cadence == "round" else "ack.rtt_s",
            on_ack="while True: pass" if number == 60 else rule.on_ack.format(c=constant),
            on_loss=rule.on_loss.format(c=constant),
        )
        (folder / f"{number:02d}-{name}-{constant}.py").write_text(text, encoding="utf-8")


def main() -> None:
    """Grade the class and print what it cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the hidden traces")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary) / "class"
        place.mkdir()
        write_class(place)
        grading = grade(find_sheet("contest"), place, seed=options.seed)
        grading.save(Path(temporary) / "marks", command="python benchmarks/course.py")
    used = os.times()
    grader, students = used.user + used.system, used.children_user + used.children_system
    print(f"{len(grading.graded)} controls over {len(grading.items)} traces")
    for graded in grading.graded:
        for problem in graded.problems:
            print(problem)
    print(f"CPU seconds: {grader + students:.1f}, of which the grader {grader:.1f}")


if __name__ == "__main__":
    main()
