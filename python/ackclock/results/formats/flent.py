"""Writes a run as a data file of Flent: goodput by interval, RTT and window of each flow.

The file is of Flent's test ``tcp_nup``, with a stream per flow: ``TCP upload::1`` and so on in
[Mbit/s], their sum, mean and Jain's index. RTT [ms] and window [segments] are the raw values
``tcp_rtt`` and ``tcp_cwnd`` of a stream, as Flent has them from a socket. No ping is simulated, so
there is none.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis import jain
from ackclock.errors import UnsupportedError
from ackclock.results.formats.recorded import rows_by, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.results.formats.recorded import Recorded

__all__ = ["write"]

_VERSION = 4
"""Version of Flent's file format."""
_EPOCH = "1970-01-01T00:00:00.000000Z"
"""Simulated time begins here: a file of the same run is the same, byte for byte."""


def write(run: Recorded, path: Path, link: str | None = None) -> Path:
    """Write a data file of Flent.

    Parameters
    ----------
    run
        Its table ``flow_samples`` must have been recorded.
    path
        File to write, packed by gzip.
    link
        Must be None: the file is of flows.
    """
    del link
    samples = rows_by(run.table("flow_samples"), "flow")
    flows = [flow for flow in run.summary["flows"] if str(flow["id"]) in samples]
    times = np.unique(np.concatenate([rows["time_s"] for rows in samples.values()]))
    if len(times) < 2:
        raise UnsupportedError("fewer than two samples were recorded; choose a shorter interval")
    ends = times[1:]
    results: dict[str, Any] = {}
    raw: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    for number, flow in enumerate(flows, 1):
        name = f"TCP upload::{number}"
        rows = samples[str(flow["id"])]
        rates = _rates(rows, times)
        results[name] = [_to_optional(rate) for rate in rates]
        raw[name] = _raw(rows, times, rates)
        meta[name] = {
            "FLOW": str(flow["id"]),
            "CONG_CONTROL": str(flow.get("cc") or ""),
            "MEAN_VALUE": float(flow["goodput_bps"]) / 1e6,
            "UNITS": "Mbits/s",
        }
    both = np.array(
        [[np.nan if rate is None else rate for rate in row] for row in results.values()]
    )
    present_rates = [column[~np.isnan(column)] for column in both.T]
    results["TCP upload avg"] = [float(k.mean()) if len(k) else None for k in present_rates]
    results["TCP upload sum"] = [float(k.sum()) if len(k) else None for k in present_rates]
    results["TCP upload fairness"] = [float(jain(k)) if k.any() else None for k in present_rates]
    for name in ("avg", "sum", "fairness"):
        meta[f"TCP upload {name}"] = {"UNITS": "Idx" if name == "fairness" else "Mbits/s"}
    document = {
        "metadata": _metadata(run, float(ends[-1]), float(np.diff(times).min()), len(flows), meta),
        "version": _VERSION,
        "x_values": ends.tolist(),
        "results": results,
        "raw_values": raw,
    }
    text = json.dumps(document, allow_nan=False, sort_keys=True)
    return write_whole(path, gzip.compress(text.encode(), mtime=0))


def _rates(rows: dict[str, Any], times: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rate at which data arrived between the samples [Mbit/s]; NaN where the flow has none.

    Data behind a hole counts when it arrives: counted when the hole is filled, a burst would be
    faster than any link.
    """
    delivered = np.full(len(times), np.nan)
    arrived = rows["received_bytes"] if "received_bytes" in rows else rows["delivered_bytes"]
    delivered[np.searchsorted(times, rows["time_s"])] = arrived
    rates: npt.NDArray[np.float64] = np.diff(delivered) * 8 / np.diff(times) / 1e6
    return rates


def _to_optional(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _raw(
    rows: dict[str, Any], times: npt.NDArray[np.float64], rates: npt.NDArray[np.float64]
) -> list[dict[str, float]]:
    rate_at = dict(zip(times[1:].tolist(), rates.tolist(), strict=True))
    columns = (rows[name].tolist() for name in ("time_s", "cwnd_segments", "srtt_s"))
    points = []
    for time, cwnd, srtt in zip(*columns, strict=True):
        if time not in rate_at or np.isnan(rate_at[time]):
            continue
        entry = {"t": time, "val": rate_at[time], "tcp_cwnd": cwnd}
        points.append({**entry, "tcp_rtt": srtt * 1e3} if srtt > 0 else entry)
    return points


def _metadata(
    run: Recorded, length: float, step: float, streams: int, series: dict[str, Any]
) -> dict[str, Any]:
    summary = run.summary
    return {
        "NAME": "tcp_nup",
        "TITLE": run.scenario.name or "ackclock",
        "NOTE": f"ackclock scenario {summary['scenario_hash']}, seed {summary['seed']}",
        "TIME": _EPOCH,
        "T0": _EPOCH,
        "HOST": "simulated",
        "HOSTS": [],
        "LOCAL_HOST": "ackclock",
        "LENGTH": length,
        "TOTAL_LENGTH": length,
        "STEP_SIZE": step,
        "IP_VERSION": 4,
        "TEST_PARAMETERS": {"upload_streams": str(streams)},
        "FLENT_VERSION": f"ackclock {summary['version']}",
        "BATCH_NAME": None,
        "BATCH_TIME": None,
        "BATCH_TITLE": None,
        "BATCH_UUID": None,
        "DATA_FILENAME": "ackclock.flent.gz",
        "HTTP_GETTER_URLLIST": None,
        "HTTP_GETTER_DNS": None,
        "HTTP_GETTER_WORKERS": None,
        "SERIES_META": series,
    }
