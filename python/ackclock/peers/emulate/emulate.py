"""Emulates a scenario: its links in this process, its hosts in namespaces, in real time."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ackclock.errors import ScenarioError, UnsupportedError
from ackclock.peers.emulate import controls
from ackclock.peers.emulate.end import RECEIVED, SAMPLED
from ackclock.peers.emulate.hosts import Host, soon
from ackclock.peers.emulate.measurements import EmulatedMeasurements
from ackclock.peers.emulate.namespaces import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ackclock._core import Emulator
    from ackclock.errors import Problem
    from ackclock.peers.emulate.run import EmulatedRun
    from ackclock.scenario.scenario import Scenario

__all__ = ["LIMIT_S", "check", "emulate"]

LIMIT_S = 0.0005
"""A run is invalid if more than one packet in a hundred was handed over later than this [s]."""
STALL = 0.1
"""... or if any packet was later than this share of the shortest round trip: after a stall packets
arrive in a burst, which may overflow a buffer."""
INTERVAL_S = 0.01
"""Interval of samples where the scenario has none [s]."""
DELAY_S = 0.2
"""From the moment when all is ready to the beginning [s]."""
LOOK_S = 0.1


def check(scenario: Scenario) -> None:
    """Check that a scenario can be emulated here.

    Parameters
    ----------
    scenario
        The scenario.

    Raises
    ------
    ScenarioError
        Every problem of the scenario at once.
    UnsupportedError
        This machine cannot emulate.
    """
    _prepare(scenario, {})


def emulate(
    scenario: Scenario,
    *,
    limit_s: float = LIMIT_S,
    captures: bool = False,
    known_as: Mapping[str, str] | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> EmulatedRun:
    """Run a scenario in real time: our links, the kernel's TCP.

    Takes as long as the scenario, and some tenths of a second.

    Parameters
    ----------
    scenario
        The scenario. Rates, queue disciplines and delays of its links are carried out; its flows
        are connections of the kernel, with the kernel's rules.
    limit_s
        The run is marked invalid if one packet in a hundred was handed over later than this [s],
        or any later than a tenth of the shortest round trip without queues.
    captures
        Keep the headers of all packets, for `EmulatedRun.to_pcapng`.
    known_as
        Names of the kernel's controls for names of ours, beside those of `controls.KERNEL`: of a
        module that is loaded, or of a program in BPF (struct_ops).
    progress
        Called ten times a second with the fraction done and the time [s]; what it raises stops the
        emulation.

    Raises
    ------
    ScenarioError
        The scenario is wrong or cannot be emulated; every problem is reported.
    UnsupportedError
        This machine does not allow what it takes: namespaces, TUN devices.
    """
    from ackclock._core import MachineError
    from ackclock.peers.emulate.run import build_run

    emulator, task = _prepare(scenario, known_as or {})
    try:
        observed = _carried_out(emulator, task, progress, captures=captures)
    except RefusedError as error:
        raise UnsupportedError(str(error)) from None
    except MachineError as error:
        raise UnsupportedError(str(error)) from None
    return build_run(scenario, observed, limit_s)


def _prepare(scenario: Scenario, known_as: Mapping[str, str]) -> tuple[Emulator, dict[str, Any]]:
    """The emulator of a scenario, and what its hosts have to do."""
    if sys.platform != "linux":
        message = f"emulation needs the network namespaces of Linux; this is {sys.platform}"
        raise UnsupportedError(message)
    from ackclock import _core
    from ackclock.scenario.document import read_problems

    scenario.check()
    if scenario.holds_lock:
        message = "algorithms written in Python and guests do not run in real time; leave them out"
        raise UnsupportedError(message)
    try:
        emulator = _core.Emulator(scenario.core_json())
    except _core.InputError as error:
        raise _add_file(scenario, read_problems(str(error))) from None
    task = json.loads(emulator.describe())
    names = {**controls.KERNEL, **known_as}
    problems = controls.find_problems(task["flows"], controls.available(), names)
    if problems:
        raise _add_file(scenario, problems)
    for flow in task["flows"]:
        flow["control"] = names[flow["cc"]["kind"]]
        # The kernel counts the option of timestamps as payload here.
        flow["maxseg"] = flow["mss_bytes"] + (12 if flow["timestamps"] else 0)
    task["mtu"] = max(flow["maxseg"] for flow in task["flows"]) + 40
    explained = json.loads(_core.explain(scenario.core_json()))
    task["stall_s"] = STALL * min(flow["rtt_s"] for flow in explained["flows"])
    task["interval_s"] = task["interval_s"] or INTERVAL_S
    # 50 ms at the bottleneck's rate, and at least what an application hands over at a time.
    task["unsent_bytes"] = max(1 << 16, round(task["rate_bps"] / 8 * 0.05))
    return emulator, task


def _add_file(scenario: Scenario, problems: list[Problem]) -> ScenarioError:
    file = None if scenario.file is None else str(scenario.file)
    return ScenarioError([replace(problem, file=file) for problem in problems])


def _carried_out(
    emulator: Emulator,
    task: dict[str, Any],
    progress: Callable[[float, float], object] | None,
    *,
    captures: bool,
) -> EmulatedMeasurements:
    with ExitStack() as stack:
        sender, receiver = (
            stack.enter_context(Host({**task, "side": side})) for side in ("sender", "receiver")
        )
        devices = sender.wait_until_ready(), receiver.wait_until_ready()
        origin_ns = soon(DELAY_S)
        # Whatever happens, the thread ends before the devices are closed.
        stack.callback(emulator.stop)
        thread = emulator.start(*devices, origin_ns, captures)
        is_real_time = False
        with suppress(OSError):
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(20))
            is_real_time = True
        for host in (receiver, sender):
            host.begin(origin_ns)
        while not emulator.wait(LOOK_S):
            now_s = max((soon(0) - origin_ns) / 1e9, 0)
            if progress is not None:
                progress(min(now_s / task["duration_s"], 1.0), now_s)
            for host in (sender, receiver):
                # Before the end it has only one thing to say: why it cannot go on.
                if now_s < task["duration_s"] and host.is_done():
                    host.results(())
        about, sent = sender.results(SAMPLED)
        _, received = receiver.results(RECEIVED)
        links = emulator.finish()
    return EmulatedMeasurements(
        task=task,
        links=links,
        sent=sent,
        received=received,
        completed={int(number): time_s for number, time_s in about["completed"].items()},
        failed=about["failed"],
        real_time=is_real_time and sender.about["real_time"] and receiver.about["real_time"],
        unset=sorted({*sender.about["unset"], *receiver.about["unset"]}),
    )
