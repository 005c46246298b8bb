"""The scenario: what the user says. Frozen plain data with a file form that it equals exactly."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Literal

from ackclock import _core
from ackclock.case import ONE_THREAD, Cost, Parcel
from ackclock.errors import ScenarioError, UnsupportedError
from ackclock.scenario.core_input import CoreInput
from ackclock.scenario.document import DocumentCase, cell_text, paths_of_plain, read_problems
from ackclock.scenario.execution import run_into, simulate
from ackclock.scenario.parcels import pack_code
from ackclock.scenario.threads import count_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from ackclock.case import Spill, ThreadCount
    from ackclock.catalogue.records import Record
    from ackclock.results.run import Run
    from ackclock.scenario.explanation import Explanation
    from ackclock.scenario.parallelism import Parallelism

__all__ = ["Scenario"]

Era = Literal["rfc", "quic", "linux", "1999", "2002", "2007", "ns2"]


class Scenario(DocumentCase):
    """A simulation: a network, the flows on it, and how long it runs.

    Parameters
    ----------
    net
        The network, as in `ackclock.topology`.
    links
        What is different at single directions of its links, as `ackclock.LinkChange`.
    flows
        Flows named one by one, as `ackclock.Flow`.
    duration
        Simulated time [s].
    traffic, groups
        Generators of flows, as `ackclock.Traffic`; multicast groups, as `ackclock.Group`.
    switches
        Memory and flow control of switches: the table ``switches`` of a scenario file.
    warmup
        Time before measurement begins [s]; rates and means are over ``warmup`` to ``duration``.
    seed
        Seed of every random number of the run.
    era
        Whose defaults apply where a value is left out.
    tcp, quic
        Settings of each flow without its own, as `ackclock.TcpOptions` and `ackclock.QuicOptions`.
    routing
        What routes minimise: ``hops``, ``delay`` or ``weight``.
    equal_paths
        Which of equal paths a flow takes: ``first``, by ``hash`` (ECMP), or each packet: ``spray``,
        ``reps``. Left out: ``hash`` in `FatTree` and `LeafSpine`, else ``first``.
    reroute_after
        How long after links fail or come back routes follow, as text or [s]; left out: never.
    classes
        What fair queues keep apart: ``stream``, ``flow``, ``source`` or ``pair``.
    record
        Tables to record, or the table ``record`` of a scenario file.
    name
        A name for titles and file names.

    Raises
    ------
    ScenarioError
        With every problem of form at once. What needs the whole network is found by `check`.
    """

    __slots__ = ("_core", "_cost")
    _core: CoreInput
    _cost: Cost | None

    engine = "packet"
    is_random = True
    """Results depend on the seed."""

    def __init__(
        self,
        net: Record | dict[str, Any],
        flows: Iterable[Record | dict[str, Any]] = (),
        duration: float | str = 60,
        *,
        links: Iterable[Record | dict[str, Any]] = (),
        traffic: Iterable[Record | dict[str, Any]] = (),
        groups: Iterable[Record | dict[str, Any]] = (),
        switches: Record | dict[str, Any] | None = None,
        warmup: float | str | None = None,
        seed: int | None = None,
        era: Era | None = None,
        tcp: Record | dict[str, Any] | None = None,
        quic: Record | dict[str, Any] | None = None,
        routing: str | None = None,
        equal_paths: str | None = None,
        reroute_after: float | str | None = None,
        classes: str | None = None,
        record: Iterable[str] | dict[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        from ackclock.catalogue.records import plain

        if record is not None and not isinstance(record, dict):
            record = {"tables": list(record)}
        given = {
            "name": name,
            "duration": duration,
            "warmup": warmup,
            "seed": seed,
            "era": era,
            "routing": routing,
            "equal_paths": equal_paths,
            "reroute_after": reroute_after,
            "classes": classes,
            "record": record,
            "tcp": tcp,
            "quic": quic,
            "net": net,
            "links": list(links) or None,
            "switches": switches,
            "flows": list(flows) or None,
            "traffic": list(traffic) or None,
            "groups": list(groups) or None,
        }
        # Classes have checked what they were given, and a network of a file has plain numbers.
        typed = list(paths_of_plain(given))
        self._fill(plain(given), None, typed)

    def _fill(
        self, data: dict[str, Any], file: Path | None, typed: Iterable[str] | None = None
    ) -> None:
        from ackclock.catalogue.form import problems

        name = None if file is None else str(file)
        core = CoreInput(data, file)
        form_problems = problems(data, name, typed=typed, probe=core.find_first_problems)
        if form_problems:
            raise ScenarioError(form_problems)
        self._freeze(_data=data, _file=file, _core=core, _cost=None)

    def __repr__(self) -> str:
        net, count = self._data["net"]["kind"], len(self._data.get("flows", ()))
        name = self._data.get("name")
        title = f"{name!r}: " if name else ""
        return f"Scenario({title}{net}, flows={count}, duration={self._data['duration']!r})"

    def _repr_html_(self) -> str:
        from ackclock._util.html_table import fragment, html_table

        flows = self._data.get("flows", [])
        names = list(dict.fromkeys(key for flow in flows for key in flow))
        rows = [[cell_text(flow.get(name, "")) for name in names] for flow in flows]
        net = [[key, cell_text(value)] for key, value in self._data["net"].items()]
        given = [[k, cell_text(v)] for k, v in self._data.items() if k not in ("net", "flows")]
        parts = [html_table(["network", ""], net), html_table(["run", ""], given)]
        return fragment(repr(self), *parts, *([html_table(names, rows)] if rows else []))

    @property
    def net(self) -> Record:
        """The network."""
        from ackclock.catalogue.records import class_name, shape

        net = self._data["net"]
        fields = {key: value for key, value in net.items() if key != "kind"}
        return shape()[class_name(net["kind"])].of_program(fields)

    @property
    def flows(self) -> tuple[Record, ...]:
        """The flows named one by one."""
        from ackclock.catalogue.records import record

        return tuple(record("Flow").of_program(flow) for flow in self._data.get("flows", ()))

    def to_json(self) -> str:
        """Write as JSON; `load` gives an equal scenario back."""
        return json.dumps(self._data, indent=2, allow_nan=False)

    def to_toml(self) -> str:
        """Write as TOML; `load` gives an equal scenario back.

        Plain numbers of a program's scenario get their units.
        """
        import tomli_w

        from ackclock.catalogue.form import with_units

        return tomli_w.dumps(with_units(self._data))

    def resolve_files(self) -> Scenario:
        """Copy with imported networks as graphs and trace files as lists; needs no other file."""
        return Scenario.from_data(self._core.without_files(), self._file)

    def with_code_in(self, target: Path) -> Scenario:
        """Copy as `resolve_files` does, whose user-defined classes are in files of a folder.

        Parameters
        ----------
        target
            The folder, which gets these files; the copy's paths are relative to it.
        """
        from ackclock.catalogue.guest_programs import name_everywhere
        from ackclock.catalogue.python_source import copy_code

        data = copy_code(self._core.without_files(), self._core.classes, target)
        data = name_everywhere(data, self.folder)
        return Scenario.from_data(data, target / "scenario.toml")

    @property
    def core_input(self) -> CoreInput:
        """What the core gets of it."""
        return self._core

    def core_json(self) -> str:
        """The JSON that the core gets: everything that names a file expanded."""
        return self._core.text()[0]

    @property
    def fingerprint(self) -> str:
        """SHA-256 [hex] of what is simulated, in the core's own words.

        Two scenarios that say the same differently ("10 Mbps" or 1e7, "reno" or "aimd") have the
        same; name, seed and recorded tables do not count.
        """
        return self._core.fingerprint

    @property
    def holds_lock(self) -> bool:
        """Whether user-defined Python code or guests run inside the engine."""
        return self._core.has_user_code()

    @property
    def recorded(self) -> str:
        """What is recorded, as canonical text."""
        return json.dumps(self._data.get("record", {}), sort_keys=True, separators=(",", ":"))

    def with_seed(self, seed: int) -> Scenario:
        """Copy with another seed; all else is valid already and is not checked again.

        Parameters
        ----------
        seed
            Seed of every random number of the run.
        """
        copied = Scenario.__new__(Scenario)
        data = {**self._data, "seed": seed}
        core = self._core.with_seed(data)
        copied._freeze(_data=data, _file=self._file, _core=core, _cost=self._cost)
        return copied

    def to_document(self) -> dict[str, Any]:
        """Plain data that needs no other file, but for user-defined classes."""
        return {"engine": self.engine, **copy.deepcopy(self._core.without_files())}

    def parcel(self) -> Parcel:
        """The document with the code of user-defined classes.

        Raises
        ------
        UnsupportedError
            A class was defined in an interactive session, so its file is not to be had.
        """
        if not self.holds_lock:
            return Parcel(self.to_document(), {})
        return pack_code(self.engine, self._data, lambda folder: self.with_code_in(folder).data)

    def cost(self, *, spills: bool = False, is_rough: bool = False) -> Cost:
        """Predict events, time and memory.

        Parameters
        ----------
        spills
            Whether recorded tables that become large go to disk, as in a sweep.
        is_rough
            Whether it is one of many: found ten times as fast, and less exact.

        Raises
        ------
        ScenarioError
            With every problem at once; a run that needs more memory than it may have.
        """
        from ackclock.scenario.memory import memory_problem

        # One compilation checks and predicts; grids of thousands of points need both.
        if self._cost is None:
            self._keep_cost(self._core.query(_core.estimate if is_rough else _core.predict))
        assert self._cost is not None
        if problem := memory_problem(self._cost, self._core.recorded_tables, spills=spills):
            raise self.locate_problems([problem])
        return self._cost

    def _keep_cost(self, predicted: Mapping[str, Any]) -> None:
        named = ("events", "cpu_s", "memory_bytes", "table_bytes", "recorded_rows")
        cost = Cost(*(float(predicted[name]) for name in named))
        object.__setattr__(self, "_cost", cost)

    def warnings(self) -> list[str]:
        """Check as `check` does, and list what is possible but hardly meant: a sentence each.

        Raises
        ------
        ScenarioError
            With every problem at once.
        """
        predicted, warnings = self._core.query(_core.review)
        self._keep_cost(predicted)
        self.cost()
        return list(warnings)

    def execute(
        self,
        progress: Callable[[float, float], object] | None = None,
        spill: Spill | None = None,
    ) -> Run:
        """Simulate, as `run`.

        Parameters
        ----------
        progress
            As of `run`.
        spill
            Where recorded tables of more than some 10^5 rows go; left out: all is in memory.

        Raises
        ------
        AckclockError
            As of `run`; the tables cannot be written.
        """
        return self.execute_on(ONE_THREAD, progress, spill)

    def execute_on(
        self,
        threads: ThreadCount,
        progress: Callable[[float, float], object] | None = None,
        spill: Spill | None = None,
    ) -> Run:
        """Simulate, as `execute`, on several threads.

        If they are chosen by prediction, the summary does not mention them: it is the same on any
        machine. Tables of a run on several threads are in memory until its end, so that one that
        may write some to disk uses one thread, unless a count is given.
        """
        if (
            spill is None
            or not self._core.recorded_tables
            or (threads.most > 1 and not threads.is_chosen)
        ):
            return simulate(self, progress, threads=threads, is_noted=not threads.is_chosen)
        from ackclock.results.table_files import SpilledTables

        with SpilledTables(spill) as files:
            return simulate(self, progress, files, spill.folder)

    def check(self, *, spills: bool = False) -> None:
        """Check meaning as well as form: names, routes, parameters; and the memory needed.

        Parameters
        ----------
        spills
            As of `cost`.

        Raises
        ------
        ScenarioError
            With every problem at once.
        """
        self.cost(spills=spills)

    def explain(self) -> Explanation:
        """Say what would run: routes, bandwidth-delay products, defaults used, predicted cost.

        Returns
        -------
        Explanation
            Text when printed; ``.data`` has all of it.
        """
        from ackclock.scenario.explanation import Explanation, left_out

        self.check()
        try:
            data = json.loads(_core.explain(self.core_json()))
        except _core.InputError as error:
            if problems := read_problems(str(error)):
                raise self.locate_problems(problems) from None
            raise
        data["defaults"] = [*left_out(self._data), *data["defaults"]]
        return Explanation(self.name, data)

    def parallelism(self) -> Parallelism:
        """Measure how much of a run could happen at once, from a short stretch of it.

        Raises
        ------
        UnsupportedError
            The scenario names algorithms written in Python: the interpreter runs one at a time.
        """
        from ackclock.scenario.parallelism import measure

        return measure(self)

    def lab(self, *, height: int = 760) -> Any:
        """Show the lab in a notebook: the scenario runs in the page, packet by packet.

        Parameters
        ----------
        height
            Of the page [px].

        Returns
        -------
        anywidget.AnyWidget
            Is shown as the value of a cell.

        Raises
        ------
        AckclockError
            anywidget is not installed (``ackclock[notebook]``), or the page has not been built.
        UnsupportedError
            The scenario names algorithms written in Python, which do not run in the page.
        """
        from ackclock.lab.widget import lab_widget

        self.check()
        if self.holds_lock:
            raise UnsupportedError("algorithms written in Python and guests do not run in the lab")
        return lab_widget(self.resolve_files().to_toml(), height)

    def run(
        self,
        engine: str = "packet",
        *,
        record: Iterable[str] | None = None,
        interval: float | str | None = None,
        seed: int | None = None,
        progress: Callable[[float, float], object] | None = None,
        out: str | Path | None = None,
        threads: int | str = 1,
    ) -> Run:
        """Simulate.

        Parameters
        ----------
        engine
            ``packet``.
        record
            Tables to record besides the summary: ``windows``, ``rtts``, ``states``, ``drops``,
            ``queues``, ``packets``, ``flow_samples``, ``link_samples``. Left out: as the scenario
            says.
        interval
            Interval of the sampled tables [s]; 0.1 if neither is given.
        seed
            Replaces the scenario's seed.
        progress
            Called a few times a second with the fraction done and the simulated time [s]; what it
            raises stops the run.
        out
            Folder for the run bundle, as of `Run.save`, written while the run lasts: recorded
            tables go to its files in parts, so that memory does not grow with the length of the
            run, and are read from there when they are used. Left out: all is in memory.
        threads
            Threads that share the run, or ``"auto"``: as many as are predicted to be fastest, one a
            core at most. The results are the same bits. What cannot be shared runs on one thread,
            and ``summary["totals"]`` says why.

        Returns
        -------
        Run
            Summary and tables.

        Raises
        ------
        ScenarioError
            The scenario is wrong; every problem is reported.
        AlgorithmError
            An algorithm broke its contract.
        AckclockError
            The folder may not be replaced, or cannot be written.
        """
        self.check_engine(engine)
        changes: dict[str, Any] = {}
        if record is not None:
            changes["record.tables"] = list(record)
        if interval is not None:
            changes["record.interval"] = interval
        if seed is not None:
            changes["seed"] = seed
        if changes:
            return self.replace(**changes).run(progress=progress, out=out, threads=threads)
        count = count_threads(threads)
        if out is not None:
            return run_into(self, out, progress=progress, threads=count)
        return simulate(self, progress, threads=count)
