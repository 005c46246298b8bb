"""What ``ackclock read`` gives: a summary, tables, figures and a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock._util.number_text import engineering, number, percent
from ackclock._util.page import inline, render
from ackclock._util.text_table import table
from ackclock.captures.read.measures import measure
from ackclock.captures.read.read import read_trace
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.captures.trace import Trace

__all__ = ["Reading", "read"]

_TITLES = {
    "goodput": "Goodput over time",
    "rtt": "Round trips",
    "flight": "Bytes in flight",
    "window": "Congestion window",
    "sequence": "Time sequence",
}


class Reading(StudyOutcome):
    """A file that was read. Printing it gives its summary.

    Parameters
    ----------
    trace
        What it shows.
    name
        Name of the file.
    csv
        Whether tables are also written as CSV.
    """

    MARKER: ClassVar[str] = "read.json"
    PAGE: ClassVar[str] = "read.html"

    def __init__(self, trace: Trace, name: str, *, csv: bool = False) -> None:
        self.trace, self.name, self.csv = trace, name, csv
        self.flows = [measure(flow) for flow in trace.flows]
        """Figures of each flow."""

    @property
    def tables(self) -> dict[str, Any]:
        """The tables ``flows``, ``events``, ``rtts`` and ``samples``."""
        from ackclock.captures.read.tables import tables_of

        return tables_of(self.trace)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the tables as plain data."""
        from ackclock import _core

        return {
            "version": _core.version(),
            "file": self.name,
            "format": self.trace.form,
            "start_s": self.trace.start_s,
            **self.trace.facts,
            "doubts": self.trace.doubts,
            "flows": self.flows,
        }

    def __str__(self) -> str:
        trace = self.trace
        count = len(trace.flows)
        facts = [f"{value:,} {name}" for name, value in trace.facts.items() if value != 1]
        line = f"{self.name}: {trace.form}, " + ", ".join(
            [*facts, f"{count:,} flow{'s' * (count != 1)}"]
        )
        return "\n".join([line, "", *_flow_lines(self.flows), "", *self._doubt_lines()])

    def _doubt_lines(self) -> list[str]:
        sentences = [f"- {doubt}" for doubt in self.trace.doubts]
        by_doubt: dict[str, list[str]] = {}
        for flow in self.flows:
            for doubt in flow["doubts"]:
                by_doubt.setdefault(doubt, []).append(str(flow["id"]))
        for doubt, names in by_doubt.items():
            names_text = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if names[8:] else "")
            sentences.append(f"- flow{'s' * (len(names) > 1)} {names_text}: {doubt}")
        if not sentences:
            return ["nothing that the file should show is missing"]
        return ["what the file cannot show:", *sentences]

    def pages(self, command: str) -> Mapping[str, str]:
        """The page ``read.html``."""
        from ackclock.captures.read.figures import draw_all

        pictures = {
            name: {"title": _TITLES[name], "svg": inline(picture, name)}
            for name, picture in draw_all(self.trace).items()
        }
        head, rows = _cells(self.flows[:200])
        page = render(
            Path(__file__).with_name("read.html"),
            name=self.name,
            form=self.trace.form,
            head=head,
            rows=rows,
            doubts=self._doubt_lines(),
            pictures=pictures,
            command=command,
        )
        return {self.PAGE: page, "summary.txt": str(self)}

    def write_files(self, folder: Path, command: str) -> None:
        """Write tables and figures."""
        from ackclock._util.output_folder import write_tables
        from ackclock.captures.read.figures import draw_all
        from ackclock.plot.style import save

        tables = self.tables
        write_tables(folder, tables)
        if self.csv:
            import pyarrow.csv as pa_csv

            for name, rows in tables.items():
                pa_csv.write_csv(_plain(rows), folder / f"{name}.csv")
        for name, picture in draw_all(self.trace).items():
            save(picture, folder / f"{name}.svg", command=command)


def _plain(rows: Any) -> Any:
    """The table with text in place of dictionaries, which CSV does not have."""
    import pyarrow as pa

    for index, column in enumerate(rows.schema):
        if pa.types.is_dictionary(column.type):
            rows = rows.set_column(index, column.name, rows.column(index).cast(pa.string()))
    return rows


def _cells(flows: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    has_ends = any(flow["ends"] for flow in flows)
    head = [
        "flow", *(["ends"] if has_ends else []), "protocol", "cc", "bytes", "time", "goodput",
        "round trip", "median", "p95", "flight", "packets", "again", "lost", "spurious",
        "reordered", "marked",
    ]  # fmt: skip
    rows = []
    for flow in flows:
        lost, sent = flow["lost_packets"], flow["sent_packets"]
        share = f" ({percent(lost / sent, 2)})" if lost and sent else ""
        ends = [" -> ".join(flow["ends"]) if flow["ends"] else "-"] if has_ends else []
        rows.append([
            str(flow["id"]), *ends, flow["protocol"], flow["cc"] or "-",
            engineering(flow["delivered_bytes"], "B"), engineering(flow["duration_s"], "s"),
            engineering(flow["goodput_bps"], "bit/s"), engineering(flow["rtt_min_s"], "s"),
            engineering(flow["rtt_p50_s"], "s"), engineering(flow["rtt_p95_s"], "s"),
            engineering(flow["flight_p50_bytes"], "B"), number(sent),
            number(flow["retransmitted_packets"]), number(lost) + share,
            number(flow["spurious_retransmissions"]), number(flow["reordered_packets"]),
            number(flow["marked_packets"]),
        ])  # fmt: skip
    return head, rows


def _flow_lines(flows: list[dict[str, Any]]) -> list[str]:
    head, rows = _cells(flows)
    return [table(head, rows)]


def read(
    path: str | Path,
    *,
    interface: int | None = None,
    interval_s: float = 1.0,
    keep_addresses: bool = False,
    csv: bool = False,
) -> Reading:
    """Read a capture or a log.

    Parameters
    ----------
    path
        A file of pcap, pcapng, qlog, ``ss -tin``, iperf3, Flent, ndt7, tcp-info or ns-2.
    interface
        Number of the interface of a capture; left out: where packets were seen first.
    interval_s
        Time between two outputs of ``ss`` where the log has no times [s].
    keep_addresses
        Whether addresses are printed.
    csv
        Whether `Reading.save` writes the tables as CSV too.
    """
    trace = read_trace(
        path, interface=interface, interval_s=interval_s, keep_addresses=keep_addresses
    )
    return Reading(trace, Path(path).name, csv=csv)
