"""The scenario: what the user says. Frozen plain data with a file form that it equals exactly."""

from __future__ import annotations

import copy
import dataclasses
import json
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock._util.documents import Typed
from ackclock.case import ONE_THREAD, Cost, Parcel, rest_of
from ackclock.catalogue.network_kinds import expand, kind_of
from ackclock.errors import Problem, ScenarioError, UnsupportedError
from ackclock.scenario.document import Frozen, cell_text, paths_of_plain, read_problems
from ackclock.scenario.parcels import pack_code
from ackclock.scenario.threads import count_threads, is_forced
from ackclock.scenario.user_code import bind_classes, contain_exits, open_workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ackclock._util.arrow import Tables
    from ackclock._util.table_type import Table
    from ackclock.case import Spill, ThreadCount
    from ackclock.catalogue.python_class import Definition
    from ackclock.catalogue.python_source import Workshop
    from ackclock.catalogue.records import Record
    from ackclock.results.run import Run
    from ackclock.results.table_files import TableFiles
    from ackclock.scenario.explanation import Explanation
    from ackclock.scenario.parallelism import Parallelism

__all__ = ["Scenario"]

Era = Literal["rfc", "quic", "linux", "1999", "2002", "2007", "ns2"]

PROGRESS_S = 0.2
"""Least time between two calls of a run's ``progress`` [s]."""


class Scenario(Frozen):
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
        Which of equal paths a flow takes: ``first``, by ``hash`` (ECMP), or each packet: ``spray``.
        Left out: ``hash`` in `FatTree` and `LeafSpine`, else ``first``.
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

    __slots__ = ("_but_seed", "_classes", "_cost", "_full", "_hash")
    # What is known of it, found on first use: with files read, its fingerprint, checked,
    # and the core's text from after the seed on (empty where more than the seed depends on it).
    _full: dict[str, Any] | None
    _classes: dict[str, Definition]
    _hash: str | None
    _cost: Cost | None
    _but_seed: str | None

    engine = "packet"
    """Who answers; see `ackclock.engines.registry`."""
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
        found = problems(data, name, typed=typed, probe=partial(_first_problems, file=file))
        if found:
            raise ScenarioError(found)
        nothing = dict.fromkeys(Scenario.__slots__)
        self._freeze(_data=data, _file=file, **nothing)

    @classmethod
    def from_data(cls, data: dict[str, Any], file: Path | None = None) -> Scenario:
        """Make a scenario of plain data, as parsed from TOML or JSON.

        Parameters
        ----------
        data
            The tables of the file. Plain numbers are of SI units; but of what `load` reads from
            TOML, as of all that people type, rates, sizes and delays need their units.
        file
            Where they came from: relative paths inside are relative to it, messages name it.

        Raises
        ------
        ScenarioError
            With every problem of form at once.
        """
        from ackclock.catalogue.records import plain

        self = cls.__new__(cls)
        # A null of JSON says the same as a key left out, and TOML has none.
        self._fill(plain(data), file, ("",) if isinstance(data, Typed) else None)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (Scenario.from_data, (self._data, self._file))

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

    def replace(self, **changes: Any) -> Scenario:
        """Copy with values changed.

        Parameters
        ----------
        **changes
            New values by path, as in ``**{"net.buffer": "2 bdp", "flows[*].cc": ac.cc.Vegas()}``;
            None takes the default.

        Returns
        -------
        Scenario
            The changed scenario.
        """
        return self._replace_values(changes)

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
        return Scenario.from_data(self._without_files(), self._file)

    def with_code_in(self, target: Path) -> Scenario:
        """Copy as `resolve_files` does, whose user-defined classes are in files of a folder.

        Parameters
        ----------
        target
            The folder, which gets these files; the copy's paths are relative to it.
        """
        from ackclock.catalogue.guest_programs import name_everywhere
        from ackclock.catalogue.python_source import copy_code

        data = copy_code(self._without_files(), self._classes, target)
        data = name_everywhere(data, self._folder)
        return Scenario.from_data(data, target / "scenario.toml")

    @property
    def _folder(self) -> Path:
        """What file names are relative to."""
        return Path() if self._file is None else self._file.parent

    def _resolve(self) -> dict[str, Any]:
        if self._full is None:
            from ackclock.scenario.resolve_files import resolve

            folder = self._folder
            try:
                full = resolve(self._data, folder)
            except ScenarioError as error:
                raise self._add_file(error.problems) from None
            # What the files say now: an edit later makes no other run of this scenario.
            named = {**full, "net": self._data["net"]}
            object.__setattr__(self, "_classes", bind_classes(named, folder))
            object.__setattr__(self, "_full", full)
        assert self._full is not None
        return self._full

    def _without_files(self) -> dict[str, Any]:
        """As `_expanded`, with tables where that has rows."""
        from ackclock.scenario.traces import to_tables

        return to_tables(self._resolve())

    def core_json(self) -> str:
        """The JSON that the core gets: everything that names a file expanded."""
        return self._core_text()[0]

    def _core_text(self) -> tuple[str, Workshop | None]:
        """What the core gets: the text, and the maker of user-defined algorithms if any."""
        if self._but_seed:
            return f'{{"seed": {self.seed}{self._but_seed}', None
        data, workshop = self._core_form()
        return json.dumps(data, allow_nan=False), workshop

    def _checked_text(self) -> tuple[str, Workshop | None]:
        """As `_core_text`; a file that cannot be read is reported with all else that is wrong."""
        try:
            return self._core_text()
        except ScenarioError as error:
            from ackclock.catalogue.form import hidden_problems

            places = [problem.path for problem in error.problems]
            probe = partial(_first_problems, file=self._file)
            hidden = hidden_problems(self._data, places, probe)
            raise self._add_file([*error.problems, *hidden]) from None

    def _text_but_seed(self) -> str:
        """The core's text from after the seed on, the same for every seed; empty if it is not."""
        if self._draws_network or self._workshop() is not None:
            return ""
        rest = {key: value for key, value in self._resolve().items() if key != "seed"}
        return f", {json.dumps(rest, allow_nan=False)[1:]}"

    @property
    def fingerprint(self) -> str:
        """SHA-256 [hex] of what is simulated, in the core's own words.

        Two scenarios that say the same differently ("10 Mbps" or 1e7, "reno" or "aimd") have the
        same; name, seed and recorded tables do not count.
        """
        if self._hash is None:
            import hashlib

            from ackclock import _core
            from ackclock.scenario.traces import to_tables

            # What an environment draws from the seed is compared under one seed.
            one = self if self.seed == 1 else self._under_seed_one()
            # The same whether traces are in files, and so rows, or not.
            text = json.dumps(to_tables(one._core_form()[0]), allow_nan=False)
            data = json.loads(_core.canonical(text))
            for key in ("name", "seed", "record"):
                data.pop(key, None)
            text = json.dumps(data, sort_keys=True, separators=(",", ":"))
            object.__setattr__(self, "_hash", hashlib.sha256(text.encode()).hexdigest())
        assert self._hash is not None
        return self._hash

    @property
    def holds_lock(self) -> bool:
        """Whether user-defined Python code or guests run inside the engine."""
        return self._workshop() is not None

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
        # Sweeps do this for every run: what the core gets is written once for all of them.
        if self._but_seed is None and self._full is not None:
            object.__setattr__(self, "_but_seed", self._text_but_seed())
        copied = Scenario.__new__(Scenario)
        full = None if self._full is None else {**self._full, "seed": seed}
        object.__setattr__(copied, "_data", {**self._data, "seed": seed})
        object.__setattr__(copied, "_file", self._file)
        object.__setattr__(copied, "_full", full)
        object.__setattr__(copied, "_classes", self._classes)
        object.__setattr__(copied, "_hash", self._hash)
        object.__setattr__(copied, "_cost", self._cost)
        object.__setattr__(copied, "_but_seed", self._but_seed)
        return copied

    def to_document(self) -> dict[str, Any]:
        """Plain data that needs no other file, but for user-defined classes."""
        return {"engine": self.engine, **copy.deepcopy(self._without_files())}

    def parcel(self) -> Parcel:
        """The document with the code of user-defined classes.

        Raises
        ------
        UnsupportedError
            A class was defined in an interactive session, so its file is not to be had.
        """
        if self._workshop() is None:
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
            from ackclock import _core

            self._keep_cost(self._query_core(_core.estimate if is_rough else _core.predict))
        assert self._cost is not None
        if found := memory_problem(self._cost, self._recorded_tables, spills=spills):
            raise self._add_file([found])
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
        from ackclock import _core

        predicted, warnings = self._query_core(_core.review)
        self._keep_cost(predicted)
        self.cost()
        return list(warnings)

    def _query_core(self, function: Callable[[str, Workshop | None, float | None], str]) -> Any:
        """What a function of the core finds out about the scenario; with every problem."""
        from ackclock import _core
        from ackclock.scenario.time_limit import most_cpu_s

        text, workshop = self._checked_text()
        try:
            with contain_exits(workshop):
                return json.loads(function(text, workshop, most_cpu_s()))
        except _core.InputError as error:
            raise self._add_file(read_problems(str(error))) from None

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
            or not self._recorded_tables
            or (threads.most > 1 and not threads.is_chosen)
        ):
            return self._simulate(progress, threads=threads, is_noted=not threads.is_chosen)
        from ackclock.results.table_files import SpilledTables

        with SpilledTables(spill) as files:
            return self._simulate(progress, files, spill.folder)

    @property
    def _recorded_tables(self) -> list[str]:
        return list(self._data.get("record", {}).get("tables", ()))

    @property
    def _draws_network(self) -> bool:
        """Whether the core's network depends on the seed."""
        kind = kind_of(self._data["net"])
        return kind is not None and kind.expand is not None

    def _under_seed_one(self) -> Scenario:
        return self.replace(seed=1) if self._draws_network else self

    def _workshop(self) -> Workshop | None:
        return self._core_form()[1]

    def _core_form(self) -> tuple[dict[str, Any], Workshop | None]:
        """The scenario as the core takes it, and the maker of user-defined algorithms if any."""
        full = expand(self._resolve())
        workshop = open_workshop(full, self.seed, self._classes, self._folder)
        return (full if workshop is None else workshop.core_form()), workshop

    def _add_file(self, problems: Iterable[Problem]) -> ScenarioError:
        file = None if self._file is None else str(self._file)
        return ScenarioError([dataclasses.replace(problem, file=file) for problem in problems])

    def _raise_input(self, text: str) -> None:
        found = read_problems(text)
        if found:
            raise self._add_file(found)

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
        from ackclock import _core
        from ackclock.scenario.explanation import Explanation, left_out

        self.check()
        try:
            data = json.loads(_core.explain(self.core_json()))
        except _core.InputError as error:
            self._raise_input(str(error))
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
        rest_of({"engine": engine}, Scenario)
        changes: dict[str, Any] = {}
        if record is not None:
            changes["record.tables"] = list(record)
        if interval is not None:
            changes["record.interval"] = interval
        if seed is not None:
            changes["seed"] = seed
        if changes:
            return self.replace(**changes).run(progress=progress, out=out, threads=threads)
        if out is not None:
            return self.run_into(out, progress=progress, threads=threads)
        return self._simulate(progress, threads=count_threads(threads))

    def run_into(
        self,
        out: str | Path,
        *,
        progress: Callable[[float, float], object] | None = None,
        command: str | None = None,
        on_finish: Callable[[Run], object] | None = None,
        threads: int | str = 1,
    ) -> Run:
        """Simulate into a run bundle, as `run` with ``out``.

        Parameters
        ----------
        out, progress, threads
            As of `run`; tables of a run on several threads are in memory until its end.
        command
            What the user typed, for the provenance.
        on_finish
            Called with the finished run before its bundle is complete: also where the folder cannot
            be written, as on a disk that is full.

        Raises
        ------
        ScenarioError, AlgorithmError, AckclockError
            As of `run`.
        """
        from ackclock.results.bundle import fill_bundle
        from ackclock.results.table_files import TableFiles

        folder = Path(out)
        finished: list[Run] = []

        def simulate(at: Path) -> tuple[dict[str, Any], Mapping[str, Table]]:
            with TableFiles(at) as files:
                done = self._simulate(progress, files, folder, threads=count_threads(threads))
            finished.append(done)
            if on_finish is not None:
                on_finish(done)
            if files.error is not None:
                raise files.error
            return done.summary, done.tables

        def write_case(at: Path) -> None:
            (at / "scenario.toml").write_text(self.with_code_in(at).to_toml(), encoding="utf-8")

        fill_bundle(folder, write_case, simulate, command)
        return finished[0]

    def _simulate(
        self,
        progress: Callable[[float, float], object] | None,
        files: TableFiles | None = None,
        folder: Path | None = None,
        *,
        threads: ThreadCount = ONE_THREAD,
        is_noted: bool = True,
    ) -> Run:
        """Let the core run; recorded tables go to files, which will be in the folder, if given."""
        from ackclock import _core
        from ackclock.catalogue.class_loading import before_run
        from ackclock.errors import AlgorithmError
        from ackclock.results.run import Run
        from ackclock.results.table_files import ROWS
        from ackclock.scenario.time_limit import most_cpu_s

        before_run()
        if self._recorded_tables:
            # Tables may outgrow the memory; without them a run takes little.
            self.cost(spills=files is not None and threads == ONE_THREAD)
        # The core checks what it runs; to check here too would compile a scenario twice.
        text, workshop = self._checked_text()
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
            self._raise_input(str(error))
            raise
        except _core.AlgorithmFailure as error:
            raise AlgorithmError(str(error)) from None

        def add_recorded(tables: Tables) -> None:
            if files is not None and folder is not None:
                files.put_into(tables, folder)
                tables.arrange(self._recorded_tables)

        done = Run.from_core(self, output, cpu_s, add_recorded)
        kind = kind_of(self._data["net"])
        if kind is not None and kind.annotate is not None:
            kind.annotate(done, self._data)
        if workshop is not None:
            done.summary.update(workshop.summary())
        return done


def _first_problems(data: dict[str, Any], file: Path | None) -> list[Problem]:
    """What is wrong at first sight with a scenario of valid form."""
    from ackclock import _core

    try:
        text, workshop = Scenario.from_data(data, file)._core_text()
    except ScenarioError as error:
        return list(error.problems)
    with contain_exits(workshop):
        return read_problems(_core.first_problems(text, workshop))
