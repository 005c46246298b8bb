"""The results of an emulation, as those of any other run."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.json_text import json_text
from ackclock._util.number_text import number
from ackclock._util.text_table import printable
from ackclock.errors import UnsupportedError
from ackclock.peers.emulate import controls
from ackclock.results.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.peers.emulate.measurements import Captured, EmulatedMeasurements
    from ackclock.scenario.scenario import Scenario

    Floats = np.ndarray[Any, np.dtype[np.float64]]

__all__ = ["EmulatedRun", "build_run"]

STRANGERS = 20
"""Packets that belong to no flow are the kernel's announcements; more of them are a warning."""
WINDOW_LIMITED = 0.01
"""Share of the time that a flow may be limited by a window or buffer without a warning."""


_CLOCK_S = 1e-9
"""What the kernel's clock counts."""


class EmulatedRun(Run):
    """A run of the kernel's TCP over our links, in real time.

    Its tables are those of a run as far as they exist: ``flows``, ``links``, and of those recorded
    ``windows``, ``flow_samples``, ``link_samples``, ``drops``, ``queues`` and ``packets``. What the
    kernel does not say is null. ``summary["emulation"]`` says how late packets were, and whether
    the run is valid.
    """

    captured: list[Captured]
    """Packets at the devices, if they were captured."""

    @property
    def is_valid(self) -> bool:
        """Whether packets were handed over in time."""
        return bool(self.summary["emulation"]["valid"])

    def _head(self) -> str:
        s = self.summary
        begin, end = s["duration_s"] - s["window_s"], s["duration_s"]
        title = printable(self.scenario.name) or "scenario"
        return (
            f"{title}: emulated with TCP of Linux {s['emulation']['kernel']}, seed {s['seed']},"
            f" {number(s['duration_s'])} s in real time, measured from {number(begin)} s to"
            f" {number(end)} s"
        )

    def _link_rows(self) -> tuple[list[str], list[list[str]]]:
        head, rows = super()._link_rows()
        waits = {str(link["id"]): link["delay_mean_s"] for link in self.summary["links"]}
        # Shorter than the clock of the kernel counts: rounding of times, no waiting.
        for row in rows:
            if abs(waits[row[0]] or 0.0) < _CLOCK_S:
                row[-1] = "0 s"
        return head, rows

    def _foot(self) -> str:
        return lateness_text(self.summary["emulation"])

    def to_pcapng(self, path: str | Path, *, link: str | None = None) -> Path:
        """Write the headers of all packets at the devices of both sides, as the kernel made them.

        Parameters
        ----------
        path
            File to write.
        link
            None: the capture is of the two devices.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UnsupportedError
            The packets were not captured, or a link is named.
        """
        from ackclock.peers.emulate.capture import write

        if link is not None:
            message = "an emulation is captured at the devices of both sides; leave the link out"
            raise UnsupportedError(message)
        return write(self.summary, self.captured, Path(path))


def lateness_text(emulation: Mapping[str, Any]) -> str:
    """Say how late packets were, and what follows from it.

    Parameters
    ----------
    emulation
        That part of the summary.
    """
    late, limit = emulation["lateness"], emulation["limit_s"]
    how = (
        f"{late['packets']:,} packets were handed over {_ms(late['p50_s'])} late (median),"
        f" {_ms(late['p99_s'])} (p99), {_ms(late['max_s'])} (most)"
    )
    stall = emulation["stall_limit_s"]
    limits = f"the limits are {_ms(limit)} for p99 and {_ms(stall)} for all"
    if emulation["valid"]:
        return f"{how}: valid, {limits}"
    return f"{how}: INVALID, {limits}; the machine was too busy"


def _ms(seconds: float) -> str:
    return f"{number(1e3 * seconds, 3)} ms"


def build_run(scenario: Scenario, observed: EmulatedMeasurements, limit_s: float) -> EmulatedRun:
    """Make the run of what hosts and links saw.

    Parameters
    ----------
    scenario
        What was emulated.
    observed
        What came of it.
    limit_s
        Of the lateness of 99 % of the packets.
    """
    from ackclock import _core
    from ackclock._util.arrow import Tables

    task, links = observed.task, observed.links
    late = links["lateness"]
    stall = task["stall_s"]
    is_on_time = late["p99_s"] <= limit_s and late["max_s"] <= max(stall, limit_s)
    is_valid = bool(late["packets"]) and is_on_time
    emulation = {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "real_time": observed.real_time,
        "lateness": late,
        "limit_s": limit_s,
        "stall_limit_s": max(stall, limit_s),
        "valid": is_valid,
        "bottleneck": task["bottleneck"],
        "interval_s": task["interval_s"],
        "strangers": links["strangers"],
        "not_taken": links["refused"],
    }
    ids = [flow["id"] for flow in task["flows"]]
    raw = {"flows": _flows(observed), **links["tables"]}
    tables_requested = list(scenario.data.get("record", {}).get("tables", ()))
    raw |= {name: table(observed) for name, table in TABLES.items() if name in tables_requested}
    names = {"flow": ids, "link": list(raw["links"]["id"])}
    summary = {
        "scenario_hash": scenario.fingerprint,
        "seed": scenario.seed,
        "version": _core.version(),
        "engine": "emulation",
        "era": "linux",
        "duration_s": task["duration_s"],
        "window_s": task["duration_s"] - task["warmup_s"],
        "flows": None,
        "links": None,
        "totals": {"packet_hops": links["packet_hops"], "events": links["events"]},
        "digest": None,
        "warnings": _warnings(scenario, observed, tables_requested),
        "emulation": emulation,
    }
    run = EmulatedRun(scenario, json_text(summary), Tables(raw, names))
    run.captured = links["captured"]
    return run


def _of_flow(samples: Mapping[str, Floats], number: int) -> dict[str, Floats]:
    here = samples["flow"] == number
    return {name: column[here] for name, column in samples.items()}


def _last(values: Floats, default: float = np.nan) -> float:
    return float(values[-1]) if len(values) else default


def _flows(observed: EmulatedMeasurements) -> dict[str, Any]:
    """The table `flows`, of each flow the last that was seen of it."""
    task, passed = observed.task, observed.links["flows"]
    warmup, end = task["warmup_s"], task["duration_s"]
    rows = []
    for number_, flow in enumerate(task["flows"]):
        sent, got = _of_flow(observed.sent, number_), _of_flow(observed.received, number_)
        inside = sent["time_s"] >= warmup
        # Where nothing is acknowledged, the kernel still has its last round trip.
        acked = np.diff(sent["bytes_acked"], prepend=0) > 0
        measured = inside & acked & (sent["rtt_us"] > 0)
        srtt = sent["rtt_us"][measured]
        delivered = int(_last(got["received_bytes"], 0))
        completed_s = observed.completed.get(number_)
        rows.append(
            {
                "id": flow["id"],
                "src": flow["src"],
                "dst": flow["dst"],
                "cc": controls.PREFIX + flow["control"],
                "recovery": "linux",
                "start_s": flow["start_s"],
                "completed_after_s": np.nan
                if completed_s is None
                else completed_s - flow["start_s"],
                "goodput_bps": _rate(got, warmup, end),
                "delivered_bytes": delivered,
                "delivered_packets": -(-delivered // flow["mss_bytes"]),
                "sent_packets": int(_last(sent["data_segs_out"], 0)),
                "retransmits": int(_last(sent["total_retrans"], 0)),
                "timeouts": int(_last(sent["total_rto"], 0)),
                "recoveries": np.nan,
                "ecn_reductions": np.nan,
                "srtt_mean_s": float(srtt.mean()) / 1e6 if len(srtt) else np.nan,
                "rtt_min_s": _last(sent["min_rtt_us"][sent["rtt_us"] > 0]) / 1e6,
                "cwnd_segments": _last(sent["cwnd"]),
            }
        )
    columns: dict[str, Any] = {
        name: [row[name] for row in rows]
        if isinstance(rows[0][name], str)
        else np.array([row[name] for row in rows])
        for name in rows[0]
    }
    entered, arrived, lost = (
        [passed[f"{kind}_{fate}"] for kind in ("data", "acks")]
        for fate in ("entered", "arrived", "lost")
    )
    columns |= {
        "lost_data_packets": lost[0],
        "lost_ack_packets": lost[1],
        "data_under_way": entered[0] - arrived[0] - lost[0],
        "acks_under_way": entered[1] - arrived[1] - lost[1],
        "window_sent_packets": passed["window_entered"],
        "window_lost_data_packets": passed["window_lost"],
        "loss_ratio": np.divide(
            passed["window_lost"],
            passed["window_entered"],
            out=np.full(len(rows), np.nan),
            where=np.asarray(passed["window_entered"]) > 0,
        ),
    }
    return columns


def _rate(got: Mapping[str, Floats], warmup: float, end: float) -> float:
    """The goodput from the warm-up to the end, by the first samples from each on."""
    at, count = got["time_s"], got["received_bytes"]
    first, last = (int(np.searchsorted(at, when)) for when in (warmup, end))
    if last >= len(at) or last == first:
        return 0.0
    return float(8 * (count[last] - count[first]) / (at[last] - at[first]))


def _windows(observed: EmulatedMeasurements) -> dict[str, Any]:
    """The table `windows`: samples in which something has changed."""
    sent = observed.sent
    mss = np.array([flow["mss_bytes"] for flow in observed.task["flows"]])
    flow = sent["flow"].astype(np.uint32)
    acked = np.maximum(sent["bytes_acked"] - 1, 0) // mss[flow]
    ssthresh = np.where(sent["ssthresh"] >= 0x7FFFFFFF, np.inf, sent["ssthresh"])
    changes = np.ones(len(flow), dtype=np.bool_)
    for number_ in range(len(mss)):
        here = np.flatnonzero(flow == number_)
        same = (np.diff(sent["cwnd"][here]) == 0) & (np.diff(acked[here]) == 0)
        changes[here[1:][same]] = False
    columns = {
        "time_s": sent["time_s"],
        "flow": flow,
        "cwnd_segments": sent["cwnd"],
        "ssthresh_segments": ssthresh,
        "in_flight_segments": sent["unacked"].astype(np.uint32),
        "acked": acked.astype(np.uint32),
    }
    return {name: column[changes] for name, column in columns.items()}


def _flow_samples(observed: EmulatedMeasurements) -> dict[str, Any]:
    """The table `flow_samples`; what its receiver has delivered is that of its latest sample."""
    sent = observed.sent
    delivered = np.zeros(len(sent["flow"]), dtype=np.uint64)
    for number_ in range(len(observed.task["flows"])):
        got, here = _of_flow(observed.received, number_), sent["flow"] == number_
        latest = np.searchsorted(got["time_s"], sent["time_s"][here], side="right") - 1
        counts = got["received_bytes"][np.maximum(latest, 0)]
        delivered[here] = np.where(latest < 0, 0, counts).astype(np.uint64)
    return {
        "time_s": sent["time_s"],
        "flow": sent["flow"].astype(np.uint32),
        "cwnd_segments": sent["cwnd"],
        "ssthresh_segments": np.where(sent["ssthresh"] >= 0x7FFFFFFF, np.inf, sent["ssthresh"]),
        "in_flight_segments": sent["unacked"].astype(np.uint32),
        "srtt_s": sent["rtt_us"] / 1e6,
        "delivered_bytes": delivered,
        "received_bytes": delivered,
        "sent_packets": sent["data_segs_out"].astype(np.uint64),
        "retransmits": sent["total_retrans"].astype(np.uint32),
    }


TABLES = {"windows": _windows, "flow_samples": _flow_samples}
"""Tables of what hosts saw; those of links are the core's."""


def _warnings(
    scenario: Scenario, observed: EmulatedMeasurements, tables_requested: list[str]
) -> list[str]:
    data = scenario.data
    warnings = []
    ignored = sorted(
        {
            *(f"flows: {key}" for flow in data.get("flows", ()) for key in OF_OURS & set(flow)),
            *(
                f"tcp: {key}"
                for table in (data, *data.get("flows", ()))
                for key in set(table.get("tcp", {})) - TAKEN_OVER
            ),
        }
    )
    if ignored:
        warnings.append(f"the kernel has its own rules in place of {', '.join(ignored)}")
    recordable = {*TABLES, "link_samples", "drops", "queues", "packets"}
    if missing := [name for name in tables_requested if name not in recordable]:
        warnings.append(f"emulation does not record {', '.join(missing)}")
    for number_ in observed.failed:
        warnings.append(f"flow {observed.task['flows'][number_]['id']}: its connection failed")
    if observed.unset:
        warnings.append(f"the kernel does not let us set {', '.join(observed.unset)}")
    if sum(observed.links["strangers"]) > STRANGERS:
        counts = " and ".join(map(str, observed.links["strangers"]))
        warnings.append(f"{counts} packets of sender and receiver belong to no flow")
    for number_, flow in enumerate(observed.task["flows"]):
        sent = _of_flow(observed.sent, number_)
        for limit_text, name in (("receiver's window", "rwnd"), ("socket's buffer", "sndbuf")):
            share = _last(sent[f"{name}_limited_us"], 0) / 1e6 / observed.task["duration_s"]
            if share > WINDOW_LIMITED:
                percent = f"{100 * share:.0f} % of the time"
                warnings.append(f"flow {flow['id']}: limited by the {limit_text} for {percent}")
    return warnings


OF_OURS = {"recovery", "slow_start"}
"""Keys of flows for which the kernel has its own rules."""
TAKEN_OVER = {"mss", "ecn", "timestamps", "ns2"}
"""Settings of TCP that a host follows."""
