"""What a run leaves: a summary and tables, and the folder that keeps them."""

from __future__ import annotations

import json
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.output_folder import may_replace, whole_folder
from ackclock._util.text_table import engineering, table, working_time
from ackclock.errors import AckclockError, UnsupportedError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa

    from ackclock._core import Output
    from ackclock.scenario.scenario import Scenario

__all__ = ["BUNDLE_VERSION", "Run", "load_run", "may_replace", "whole_folder", "write_bundle"]

BUNDLE_VERSION = 1
"""Version of the run bundle's layout; raised when an old reader would misread a new bundle."""

TABLES = (
    "windows",
    "rtts",
    "states",
    "drops",
    "queues",
    "packets",
    "flow_samples",
    "link_samples",
    "probes",
)


class Run:
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
        scenario: Scenario,
        summary: dict[str, Any] | str,
        tables: Mapping[str, pa.Table],
    ) -> None:
        self.scenario = scenario
        self._summary = summary
        self.tables = tables

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
    def from_core(cls, scenario: Scenario, output: Output, cpu_s: float) -> Run:
        """Take over the core's output and join the names of flows and links.

        Parameters
        ----------
        scenario
            What was run.
        output
            What the core returned.
        cpu_s
            CPU time that the run took [s].
        """
        from ackclock._util.arrow import Tables

        # As text, for a sweep that only keeps it would read and write it for nothing. A quote
        # inside of text follows a backslash, so this is a key, and the only one.
        text = output["summary"]
        head, key, rest = text.rpartition('"totals":{')
        assert text[:1] == "{" and key, text[:60]
        whole = f'{{"scenario_hash":"{scenario.fingerprint}",{head[1:]}{key}"cpu_s":{cpu_s},{rest}'
        raw = output["tables"]
        names = {kind: list(raw[f"{kind}s"]["id"]) for kind in ("flow", "link")}
        return cls(scenario, whole, Tables(raw, names))

    def table(self, name: str) -> pa.Table:
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
        if name in TABLES:
            message = (
                f'the table "{name}" was not recorded; run with record.tables = ["{name}"] in the'
                f' scenario file, or record=["{name}"] in Python'
            )
        else:
            message = f'there is no table "{name}"; {suggestion(name, ("flows", "links", *TABLES))}'
        raise UnsupportedError(message)

    def __getattr__(self, name: str) -> pa.Table:
        if name in TABLES:
            return self.table(name)
        raise AttributeError(name)

    @property
    def flows(self) -> pa.Table:
        """One row per flow."""
        return self.table("flows")

    @property
    def links(self) -> pa.Table:
        """One row per link and direction."""
        return self.table("links")

    def __repr__(self) -> str:
        s = self.summary
        return f"Run({self.scenario!r}, seed={s['seed']}, tables={sorted(self.tables)})"

    def __str__(self) -> str:
        s = self.summary
        begin, end = s["duration_s"] - s["window_s"], s["duration_s"]
        title = self.scenario.name or "scenario"
        head = (
            f"{title}: {s['engine']} engine, era {s['era']}, seed {s['seed']},"
            f" {s['duration_s']:g} s simulated, measured from {begin:g} s to {end:g} s"
        )
        flows = [
            [
                str(flow["id"]),
                f"{flow['src']} -> {flow['dst']}",
                str(flow.get("cc") or "-"),
                str(flow.get("recovery") or "-"),
                engineering(flow["goodput_bps"], "bit/s"),
                f"{flow['retransmits']}",
                f"{flow['timeouts']}",
                engineering(flow.get("srtt_mean_s"), "s"),
            ]
            for flow in s["flows"]
        ]
        links = [
            [
                str(link["id"]),
                f"{100 * link['utilisation']:.1f} %",
                f"{link['drops']}",
                f"{link['marks']}",
                f"{link['queue_mean_packets']:.1f}",
                f"{link['queue_p99_packets']:.0f}",
                engineering(link["delay_mean_s"], "s"),
            ]
            for link in sorted(s["links"], key=lambda link: -link["utilisation"])
        ]
        totals = s["totals"]
        cpu = working_time(totals.get("cpu_s"))
        count = f"{totals['packet_hops']:,} packet hops, {totals['events']:,} events"
        flow_head = ["flow", "ends", "cc", "recovery", "goodput", "retransmits", "timeouts", "srtt"]
        link_head = ["link", "used", "drops", "marks", "queue pkt", "p99 pkt", "queueing delay"]
        parts = [head, table(flow_head, flows), table(link_head, links)]
        if s.get("warnings"):
            parts.append("\n".join(f"warning: {warning}" for warning in s["warnings"]))
        return "\n\n".join([*parts, f"{count}, {cpu} of one core"])

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
            (at / "scenario.toml").write_text(self.scenario.kept(at).to_toml(), encoding="utf-8")

        return write_bundle(Path(folder), write_case, self.summary, self.tables, command)

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
        from ackclock.results.pcapng import write

        return write(self, Path(path), link)


def write_bundle(
    folder: Path,
    write_case: Callable[[Path], object],
    summary: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    command: str | None,
) -> Path:
    """Write a run bundle; it appears only when it is whole.

    Parameters
    ----------
    folder
        Is made, or replaced if it is a run bundle.
    write_case
        Writes ``scenario.toml``, and what it names, into a folder.
    summary, tables
        Of the run.
    command
        What the user typed, for the provenance.

    Returns
    -------
    Path
        The folder.
    """
    import pyarrow.parquet as pq

    def fill(at: Path) -> None:
        write_case(at)
        _write_json(at / "summary.json", summary)
        for name, rows in tables.items():
            pq.write_table(rows, at / f"{name}.parquet", compression="zstd")
        _write_json(at / "provenance.json", _provenance(summary, command))

    return whole_folder(folder, fill, marker="provenance.json")


def _provenance(summary: Mapping[str, Any], command: str | None) -> dict[str, Any]:
    from importlib.metadata import version

    return {
        "bundle": "ackclock run",
        "bundle_version": BUNDLE_VERSION,
        "scenario_hash": summary.get("scenario_hash"),
        "seed": summary.get("seed"),
        "digest": summary.get("digest"),
        "versions": {
            "ackclock": summary.get("version"),
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "pyarrow": version("pyarrow"),
        },
        "host": {"system": platform.system(), "machine": platform.machine()},
        "command": command,
        "user_code": summary.get("user_code"),
        "user_code_hash": summary.get("user_code_hash"),
        "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _write_json(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")


def load_run(folder: str | Path) -> Run:
    """Read a run bundle.

    Parameters
    ----------
    folder
        What `Run.save` or ``ackclock run --out`` wrote.

    Returns
    -------
    Run
        Equal in summary and tables to the one written.

    Raises
    ------
    AckclockError
        It is not a run bundle, or one of another version.
    """
    import pyarrow.parquet as pq

    from ackclock.scenario.scenario import load

    at = Path(folder)
    try:
        provenance = json.loads((at / "provenance.json").read_text(encoding="utf-8"))
        version = provenance["bundle_version"]
        if provenance["bundle"] != "ackclock run":
            raise KeyError("bundle")
    except (OSError, ValueError, KeyError, TypeError):
        message = f"{at} is not a run bundle: it has no readable provenance.json of one"
        raise AckclockError(message) from None
    if version != BUNDLE_VERSION:
        message = (
            f"{at} is a run bundle of version {version}; this ackclock reads {BUNDLE_VERSION}:"
            " run the scenario again, or use the ackclock that provenance.json names"
        )
        raise AckclockError(message)
    try:
        summary = json.loads((at / "summary.json").read_text(encoding="utf-8"))
        tables = {file.stem: pq.read_table(file) for file in sorted(at.glob("*.parquet"))}
        return Run(load(at / "scenario.toml"), summary, tables)
    except (OSError, ValueError) as error:
        message = f"{at} is a damaged run bundle: {error}"
        raise AckclockError(message) from None


def command_line(arguments: Iterable[str] | None = None) -> str:
    """Give the command as one would type it.

    Parameters
    ----------
    arguments
        Left out: those of this process.
    """
    import shlex

    given = list(sys.argv[1:] if arguments is None else arguments)
    return shlex.join(["ackclock", *given])
