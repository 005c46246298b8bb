"""What a run leaves: a summary and tables, and the folder that keeps them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.html_table import fragment, html_table, show_tables
from ackclock._util.number_text import decimals, engineering, number, percent, working_time
from ackclock._util.text_table import printable, table
from ackclock.errors import UnsupportedError, suggestion
from ackclock.results.bundle import write_bundle
from ackclock.results.recorded import RecordedTables, recorded_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ackclock._core import Output
    from ackclock._util.arrow import Tables
    from ackclock._util.table_type import Table
    from ackclock.results.packet_case import PacketCase

__all__ = ["FEW_LINKS", "TABLES", "Run", "count_idle", "is_busy"]

TABLES = tuple(recorded_tables())


class Run(RecordedTables):
    """A finished run. Printing it gives the summary; its tables are Arrow tables.

    Column names end in their units: ``_s`` seconds, ``_bps`` bits per second, ``_bytes``,
    ``_packets``, ``_segments``. Counts and means are over the window from warmup to the end.

    Parameters
    ----------
    scenario
        What was run.
    summary
        What ``ackclock run --json`` prints, as data or as text.
    tables
        The recorded tables by name.
    """

    def __init__(
        self,
        scenario: PacketCase,
        summary: dict[str, Any] | str,
        tables: Mapping[str, Table],
    ) -> None:
        self.scenario = scenario
        self._summary = summary
        self.tables = tables
        show_tables()

    @property
    def summary(self) -> dict[str, Any]:
        """What ``ackclock run --json`` prints."""
        if isinstance(self._summary, str):
            from ackclock.results.summary import read

            self._summary = read(self._summary, self.tables)
        return self._summary

    @property
    def summary_json(self) -> str:
        """The summary as JSON but for what the tables hold; see `ackclock.results.summary`."""
        if isinstance(self._summary, str):
            return self._summary
        from ackclock.results.summary import beside_tables

        return beside_tables(self._summary)

    @classmethod
    def from_core(
        cls,
        scenario: PacketCase,
        output: Output,
        cpu_s: float,
        recorded: Callable[[Tables], object] | None = None,
    ) -> Run:
        """Take over the core's output and join the names of flows and links.

        Parameters
        ----------
        scenario
            What was run.
        output
            What the core returned.
        cpu_s
            CPU time that the run took [s].
        recorded
            Adds the tables that are not in the output.
        """
        from ackclock._util import arrow

        # As text, for a sweep that only keeps it would read and write it for nothing. A quote
        # inside of text follows a backslash, so this is a key, and the only one.
        text = output["summary"]
        head, key, tail = text.rpartition('"totals":{')
        assert text[:1] == "{" and key, text[:60]
        cost_text = f'"cpu_s":{cpu_s},'
        if output["threads"] > 1 or output["reason"] is not None:
            cost_text += (
                f'"threads":{output["threads"]},"threads_reason":{json.dumps(output["reason"])},'
            )
        summary_text = (
            f'{{"scenario_hash":"{scenario.fingerprint}",{head[1:]}{key}{cost_text}{tail}'
        )
        raw = output["tables"]
        names = {kind: list(raw[f"{kind}s"]["id"]) for kind in ("flow", "link")}
        tables = arrow.Tables(raw, names)
        if recorded is not None:
            recorded(tables)
        return cls(scenario, summary_text, tables)

    def table(self, name: str) -> Table:
        """Fetch a table.

        Parameters
        ----------
        name
            ``flows``, ``links`` or a recorded table.

        Raises
        ------
        UnsupportedError
            It was not recorded.
        """
        if name in self.tables:
            return self.tables[name]
        if name == "link_queues":
            message = (
                "no link of the run has a discipline that distinguishes queues, such as dualpi2,"
                " priority, wrr, hpfq with several classes or cake with several tins"
            )
        elif name == "jobs":
            message = "the run has no job: a flow between whose hosts a collective operation runs"
        elif name == "connections":
            message = "the run has no connection over several paths: a flow with multipath"
        elif name in TABLES:
            message = (
                f'the table "{name}" was not recorded; run with record.tables = ["{name}"] in the'
                f' scenario file, or record=["{name}"] in Python'
            )
        else:
            message = f'there is no table "{name}"; {suggestion(name, ("flows", "links", *TABLES))}'
        raise UnsupportedError(message)

    @property
    def flows(self) -> Table:
        """One row per flow."""
        return self.table("flows")

    @property
    def links(self) -> Table:
        """One row per link and direction."""
        return self.table("links")

    @property
    def jobs(self) -> Table:
        """One row per job: a collective operation, or a file of transfers that wait for others."""
        return self.table("jobs")

    @property
    def connections(self) -> Table:
        """One row per connection over several paths, whose subflows are rows of `flows`."""
        return self.table("connections")

    @property
    def link_queues(self) -> Table:
        """One row per queue of the links whose disciplines distinguish several."""
        return self.table("link_queues")

    @property
    def receivers(self) -> Table:
        """One row per receiver of a multicast group."""
        return self.table("receivers")

    def __repr__(self) -> str:
        s = self.summary
        return f"Run({self.scenario!r}, seed={s['seed']}, tables={sorted(self.tables)})"

    def _head(self) -> str:
        s = self.summary
        begin, end = s["duration_s"] - s["window_s"], s["duration_s"]
        title = printable(self.scenario.name) or "scenario"
        return (
            f"{title}: {s['engine']} engine, era {s['era']}, seed {s['seed']},"
            f" {number(s['duration_s'])} s simulated, measured from {number(begin)} s to"
            f" {number(end)} s"
        )

    def _flow_rows(self) -> tuple[list[str], list[list[str]]]:
        head = ["flow", "ends", "cc", "recovery", "goodput", "loss", "retransmits", "timeouts"]
        head += ["delay", "queueing p95"]
        return head, [
            [
                str(flow["id"]),
                f"{flow['src']} -> {flow['dst']}",
                str(flow.get("cc") or "-"),
                str(flow.get("recovery") or "-"),
                engineering(flow["goodput_bps"], "bit/s"),
                _share(flow.get("loss_ratio")),
                f"{flow['retransmits']}",
                f"{flow['timeouts']}",
                _delay(flow),
                engineering(flow.get("queueing_p95_s"), "s"),
            ]
            for flow in self.summary["flows"]
            if not flow.get("job")
        ]

    def _job_rows(self) -> tuple[list[str], list[list[str]]]:
        head = ["job", "hosts", "transfers", "bytes", "completed after", "slowdown"]
        jobs = self.tables["jobs"].to_pylist() if "jobs" in self.tables else []
        return head, [
            [
                printable(job["id"]),
                f"{job['hosts']}",
                _count_arrived(job),
                f"{job['bytes']:,}",
                engineering(job["completed_after_s"], "s"),
                decimals(job["slowdown"], 3),
            ]
            for job in jobs
        ]

    def _connection_rows(self) -> tuple[list[str], list[list[str]]]:
        head = ["connection", "ends", "subflows", "scheduler", "goodput", "completed after"]
        connections = self.tables.get("connections")
        return head, [
            [
                printable(row["id"]),
                printable(f"{row['src']} -> {row['dst']}"),
                f"{row['subflows']}",
                row["scheduler"],
                engineering(row["goodput_bps"], "bit/s"),
                engineering(row["completed_after_s"], "s"),
            ]
            for row in (connections.to_pylist() if connections is not None else [])
        ]

    def _link_rows(self) -> tuple[list[str], list[list[str]]]:
        head = ["link", "used", "drops", "marks", "queue pkt", "p99 pkt", "queueing delay"]
        ordered = sorted(self.summary["links"], key=lambda link: -link["utilisation"])
        pauses = bool(ordered) and "pauses" in ordered[0]
        head += ["pauses", "paused"] if pauses else []
        return head, [
            [
                str(link["id"]),
                percent(link["utilisation"]),
                f"{link['drops']}",
                f"{link['marks']}",
                decimals(link["queue_mean_packets"], 1),
                decimals(link["queue_p99_packets"], 0),
                engineering(link["delay_mean_s"], "s"),
                *([f"{link['pauses']}", engineering(link["paused_s"], "s")] if pauses else []),
            ]
            for link in ordered
            if len(ordered) <= FEW_LINKS or is_busy(link)
        ]

    def _queue_rows(self) -> tuple[list[str], list[list[str]]]:
        """Of disciplines that distinguish queues, those that sent or dropped something."""
        head = ["link", "queue", "packets", "drops", "marks", "delay", "p95", "p99"]
        columns = ("delay_mean_s", "delay_p95_s", "delay_p99_s")
        return head, [
            [
                str(link["id"]),
                printable(queue["queue"]),
                f"{queue['departed_packets']}",
                f"{queue['drops']}",
                f"{queue['marks']}",
                *(engineering(queue[name], "s") for name in columns),
            ]
            for link in self.summary["links"]
            for queue in link.get("queues", ())
            if is_busy(link) and (queue["departed_packets"] or queue["drops"])
        ]

    def _idle_links(self) -> list[str]:
        """Say how many links the table leaves out, and where they are."""
        idle = len(self.summary["links"]) - len(self._link_rows()[1])
        if not idle:
            return []
        return [f'{count_idle(idle)}; --json and run.summary["links"] have all']

    def _describe_measured(self) -> list[str]:
        """Say what is not over the measured time: counts, and the lives of late flows."""
        s = self.summary
        begin, notes = s["duration_s"] - s["window_s"], []
        if begin > 0:
            notes.append(
                "retransmits, timeouts, and drops and marks of links are counted over the whole run"
            )
        full = [str(f["id"]) for f in s["flows"] if f.get("limited_by") == "receiver window"]
        if full:
            more = f" and {len(full) - _FEW_LATE} more" if len(full) > _FEW_LATE else ""
            who = "its receiver's window limits it"
            who = who if len(full) == 1 else "their receivers' windows limit them"
            notes.append(f"{', '.join(full[:_FEW_LATE])}{more}: {who}")
        apart = [flow for flow in s["flows"] if not flow.get("job")]
        if of_jobs := len(s["flows"]) - len(apart):
            notes.append(f"{of_jobs} transfers of jobs; --json and run.flows have them one by one")
        late = [(flow, life) for flow in apart if (life := _life_s(flow, s, begin))]
        for flow, life in late[:_FEW_LATE]:
            goodput = engineering(8 * flow["window_delivered_bytes"] / life, "bit/s")
            start, completion = flow["start_s"], flow["completed_after_s"]
            when = f"began at {number(start)} s: {goodput} from then on"
            if completion is not None:
                when = (
                    f"sent from {number(start)} s to {number(start + completion)} s: {goodput} then"
                )
            notes.append(f"{flow['id']} {when}; its goodput above is over the measured time")
        if len(late) > _FEW_LATE:
            more = f"{len(late) - _FEW_LATE} more flows did not send in all of the measured time"
            notes.append(f"{more}, over which their goodput is")
        return notes

    def _foot(self) -> str:
        totals = self.summary["totals"]
        cpu = working_time(totals.get("cpu_s"))
        count = f"{totals['packet_hops']:,} packet hops, {totals['events']:,} events"
        threads = totals.get("threads", 1)
        if threads > 1:
            cost_text = f"{count}, {cpu} of {threads} threads together"
        else:
            cost_text = f"{count}, {cpu} of one core"
        reason = totals.get("threads_reason")
        many = "one thread" if threads == 1 else f"{threads} threads"
        return cost_text if reason is None else f"{cost_text}\nrun on {many}: {reason}"

    @property
    def warnings(self) -> list[str]:
        """What the run may mislead about: what the engine says, and a warm-up that was left in.

        A warm-up is looked for, by `ackclock.analysis.find_warm_up`, where measurement begins at
        0 s.
        """
        from ackclock.results.warm_up import describe_warm_up

        return [*(self.summary.get("warnings") or ()), *describe_warm_up(self.summary)]

    def _warnings(self) -> list[str]:
        return [f"warning: {warning}" for warning in self.warnings]

    def _tables_of_rows(self) -> list[tuple[list[str], list[list[str]]]]:
        return [
            self._flow_rows(),
            self._connection_rows(),
            self._job_rows(),
            self._link_rows(),
            self._queue_rows(),
        ]

    def __str__(self) -> str:
        tables = self._tables_of_rows()
        parts = [self._head(), *(table(*rows) for rows in tables if rows[1])]
        if more := [*self._idle_links(), *self._describe_measured()]:
            parts.append("\n".join(more))
        if notes := self._warnings():
            parts.append("\n".join(notes))
        return "\n\n".join([*parts, self._foot()])

    def _repr_html_(self) -> str:
        tables = self._tables_of_rows()
        said = [*self._idle_links(), *self._describe_measured()]
        notes = [("notes", said), ("warnings", self._warnings())]
        more = [html_table([head], [[line] for line in lines]) for head, lines in notes if lines]
        shown = [html_table(head, rows) for head, rows in tables if rows]
        return fragment(self._head(), *shown, *more)

    def save(self, folder: str | Path, *, command: str | None = None) -> Path:
        """Write the run bundle: scenario, summary, one Parquet file per table, provenance.

        Parameters
        ----------
        folder
            Is made, or replaced if it is a run bundle. It appears only when it is whole.
        command
            What the user typed, for the provenance.

        Returns
        -------
        Path
            The folder.
        """

        def write_case(at: Path) -> None:
            (at / "scenario.toml").write_text(
                self.scenario.with_code_in(at).to_toml(), encoding="utf-8"
            )

        return write_bundle(Path(folder), write_case, self.summary, self.tables, command)

    def lab(self, *, height: int = 760) -> Any:
        """Show the lab in a notebook with the scenario of this run, which gives the same run there.

        Parameters
        ----------
        height
            As of `Scenario.lab`, as are the value and the errors.
        """
        return self.scenario.lab(height=height)

    def export(self, form: str, path: str | Path, *, link: str | None = None) -> Path:
        """Write the run as a file of another tool.

        Parameters
        ----------
        form
            ``pcapng``, ``qlog``, ``flent`` or ``perfetto``.
        path
            File to write.
        link
            Which link, where the format is of one.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UnsupportedError
            There is no such format, or the tables that it needs were not recorded.
        """
        from ackclock.results.formats.registry import export

        return export(self, form, Path(path), link)

    def to_pcapng(self, path: str | Path, *, link: str | None = None) -> Path:
        """Write the recorded packets as a capture file that Wireshark and tshark read.

        Parameters
        ----------
        path
            File to write.
        link
            Where to listen: both directions of this link. Left out: the link that carried most.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UnsupportedError
            The table ``packets`` was not recorded.
        """
        return self.export("pcapng", path, link=link)

    def to_qlog(self, path: str | Path) -> Path:
        """Write flows as a qlog (draft-ietf-quic-qlog-main-schema-02, JSON), which qvis opens.

        Each flow is a trace seen from its sender. Uses those of the tables ``windows``, ``rtts``,
        ``states``, ``packets`` and ``flow_samples`` that were recorded.

        Parameters
        ----------
        path
            File to write.

        Raises
        ------
        UnsupportedError
            None of these tables was recorded.
        """
        return self.export("qlog", path)

    def to_flent(self, path: str | Path) -> Path:
        """Write goodput, RTT and window of flows as a data file of Flent, test ``tcp_nup``.

        Parameters
        ----------
        path
            File to write; Flent expects a name that ends in ``.flent.gz``.

        Raises
        ------
        UnsupportedError
            The table ``flow_samples`` was not recorded.
        """
        return self.export("flent", path)

    def to_perfetto(self, path: str | Path) -> Path:
        """Write a Perfetto trace: a track of states and counters for each flow and link.

        Uses those of the tables ``windows``, ``rtts``, ``states``, ``drops``, ``queues``,
        ``flow_samples`` and ``link_samples`` that were recorded. Needs ``ackclock[perfetto]``.

        Parameters
        ----------
        path
            File to write.

        Raises
        ------
        UnsupportedError
            None of these tables was recorded.
        AckclockError
            The package perfetto is not installed.
        """
        return self.export("perfetto", path)


FEW_LINKS = 8
"""So many links are all shown; of more, those that carry, queue, mark or drop something."""
_IDLE = 0.005
"""Utilisation below which a link carries next to nothing."""


_FEW_LATE = 4
"""Flows of part of the measured time that are listed one by one."""
_WHOLE = 0.95
"""Part of the measured time that counts as all of it."""


def _life_s(flow: dict[str, Any], summary: dict[str, Any], begin: float) -> float | None:
    """Part of the measured time [s] in which a flow sent; None where that is nearly all or none."""
    start, completion = flow.get("start_s"), flow.get("completed_after_s")
    if start is None or "window_delivered_bytes" not in flow:
        return None
    end = summary["duration_s"] if completion is None else start + completion
    life = min(end, summary["duration_s"]) - max(start, begin)
    return float(life) if 0 < life < _WHOLE * summary["window_s"] else None


def _count_arrived(job: dict[str, Any]) -> str:
    """The number of a job's transfers and, where it is not complete, how many have arrived."""
    count, arrived = job["transfers"], job["arrived_transfers"]
    return f"{count}" if arrived == count else f"{arrived} of {count}"


def _share(ratio: float | None) -> str:
    """A ratio in percent, with digits where it is small."""
    if not ratio:
        return "-" if ratio is None else "0 %"
    return percent(ratio) if ratio >= 0.001 else f"{100 * ratio:.2g} %"


def _delay(flow: dict[str, Any]) -> str:
    """The mean round trip of a flow, or the mean way of one that nothing acknowledges."""
    if flow.get("one_way_mean_s") is not None:
        return f"{engineering(flow['one_way_mean_s'], 's')} one way"
    return engineering(flow.get("srtt_mean_s"), "s")


def count_idle(count: int) -> str:
    """Say how many links a text leaves out, and why.

    Parameters
    ----------
    count
        Of links.
    """
    links = "1 link carries" if count == 1 else f"{count} links carry"
    return f"{links} less than {percent(_IDLE)} and queue nothing"


def is_busy(link: dict[str, Any]) -> bool:
    """Whether a link carries, queues, drops or marks more than next to nothing.

    Parameters
    ----------
    link
        Its row of a summary.
    """
    return (
        link["utilisation"] >= _IDLE
        or link["drops"] > 0
        or link["marks"] > 0
        or link.get("pauses", 0) > 0
        or (link["queue_mean_packets"] or 0) >= _QUEUED
    )


_QUEUED = 0.05
"""Packets waiting on average that the table shows."""
