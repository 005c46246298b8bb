"""Runs a scenario in the core: in memory, or into a folder while the run lasts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ackclock import _core
from ackclock.case import ONE_THREAD
from ackclock.catalogue.network_kinds import kind_of
from ackclock.errors import AlgorithmError
from ackclock.results.packet_case import PacketCase
from ackclock.scenario.document import locate_problems, read_problems
from ackclock.scenario.threads import is_forced
from ackclock.scenario.time_limit import most_cpu_s
from ackclock.scenario.user_code import contain_exits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ackclock._util.arrow import Tables
    from ackclock._util.table_type import Table
    from ackclock.case import ThreadCount
    from ackclock.results.run import Run
    from ackclock.results.table_files import TableFiles
    from ackclock.scenario.core_input import CoreInput

    Progress = Callable[[float, float], object]

__all__ = ["run_into", "simulate"]

PROGRESS_S = 0.2
"""Least time between two calls of a run's ``progress`` [s]."""


class RunnableCase(PacketCase, Protocol):
    """A case that the core runs. `ackclock.Scenario` is one."""

    @property
    def file(self) -> Path | None:
        """Where it was read from; None if it was made by a program."""

    @property
    def core_input(self) -> CoreInput:
        """What the core gets of it."""


def simulate(
    scenario: RunnableCase,
    progress: Progress | None,
    files: TableFiles | None = None,
    folder: Path | None = None,
    *,
    threads: ThreadCount = ONE_THREAD,
    is_noted: bool = True,
) -> Run:
    """Let the core run.

    Parameters
    ----------
    scenario
        What is run; its memory is checked if it records tables, and the rest by the core.
    progress
        As of `Scenario.run`.
    files, folder
        Where recorded tables go, and the folder in which these files will be; left out: memory.
    threads
        Threads that share the run.
    is_noted
        Whether the summary says how many threads ran; without, it is the same on any machine.

    Raises
    ------
    ScenarioError
        With every problem.
    AlgorithmError
        An algorithm broke its contract.
    """
    from ackclock.catalogue.class_loading import before_run
    from ackclock.results.run import Run
    from ackclock.results.table_files import ROWS

    before_run()
    core_input = scenario.core_input
    if core_input.recorded_tables:
        # Tables may outgrow the memory; without them a run takes little.
        scenario.cost(spills=files is not None and threads == ONE_THREAD)
    # The core checks what it runs; to check here too would compile a scenario twice.
    text, workshop = core_input.checked_text()
    try:
        clock = time.thread_time if threads == ONE_THREAD else time.process_time
        began, wall_began = clock(), time.monotonic()
        with contain_exits(workshop):
            output = _core.run(
                text,
                progress,
                workshop,
                interval_s=PROGRESS_S,
                take=None if files is None else files.take,
                rows=ROWS,
                threads=0 if threads.is_chosen else threads.most,
                most=threads.most,
                most_cpu_s=most_cpu_s(),
                always=is_forced(),
            )
        # Other runs of this process may have gone on meanwhile.
        most_s = output["threads"] * (time.monotonic() - wall_began)
        cpu_s = min(clock() - began, most_s)
        if not is_noted:
            output = {**output, "threads": 1, "reason": None}
    except _core.InputError as error:
        problems = read_problems(str(error))
        if not problems:
            raise
        raise locate_problems(problems, scenario.file) from None
    except _core.AlgorithmFailure as error:
        raise AlgorithmError(str(error)) from None

    def add_recorded(tables: Tables) -> None:
        if files is not None and folder is not None:
            files.put_into(tables, folder)
            tables.arrange(core_input.recorded_tables)

    run = Run.from_core(scenario, output, cpu_s, add_recorded)
    kind = kind_of(core_input.data["net"])
    if kind is not None and kind.annotate is not None:
        kind.annotate(run, core_input.data)
    if workshop is not None:
        run.summary.update(workshop.summary())
    return run


def run_into(
    scenario: RunnableCase,
    out: str | Path,
    *,
    progress: Progress | None = None,
    command: str | None = None,
    on_finish: Callable[[Run], object] | None = None,
    threads: ThreadCount = ONE_THREAD,
) -> Run:
    """Simulate into a run bundle, as `Scenario.run` with ``out``.

    Parameters
    ----------
    scenario
        What is run.
    out, progress
        As of `Scenario.run`.
    command
        What the user typed, for the provenance.
    on_finish
        Called with the finished run before its bundle is complete: also where the folder cannot be
        written, as on a disk that is full.
    threads
        Tables of a run on several threads are in memory until its end.

    Raises
    ------
    ScenarioError, AlgorithmError, AckclockError
        As of `Scenario.run`.
    """
    from ackclock.results.bundle import fill_bundle
    from ackclock.results.table_files import TableFiles

    folder = Path(out)
    finished: list[Run] = []

    def run_case(target: Path) -> tuple[dict[str, Any], Mapping[str, Table]]:
        with TableFiles(target) as files:
            run = simulate(scenario, progress, files, folder, threads=threads)
        finished.append(run)
        if on_finish is not None:
            on_finish(run)
        if files.error is not None:
            raise files.error
        return run.summary, run.tables

    def write_case(target: Path) -> None:
        text = scenario.with_code_in(target).to_toml()
        (target / "scenario.toml").write_text(text, encoding="utf-8")

    fill_bundle(folder, write_case, run_case, command)
    return finished[0]
