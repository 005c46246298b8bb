"""What a hybrid run leaves: the summary of the packets, and what the background did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from ackclock._util.table_type import Table
    from ackclock.case import Case
    from ackclock.engines.hybrid.solve import Solved

__all__ = ["HybridRun", "outcome"]


class HybridRun:
    """A finished hybrid case. Printing it gives the summary; its tables are Arrow tables.

    Parameters
    ----------
    case
        The question.
    summary
        That of the packets, whose ``flows`` begin with the scenario's own; ``background`` says what
        the rates did.
    tables
        Those of the packets, and ``background`` with a row for each link.
    """

    def __init__(self, case: Case, summary: dict[str, Any], tables: Mapping[str, Table]) -> None:
        self.case = case
        self.summary = summary
        self.tables = tables

    def __repr__(self) -> str:
        return f"HybridRun({self.case!r}, seed={self.summary['seed']})"

    def __str__(self) -> str:
        from ackclock._util.number_text import engineering, number, percent, working_time
        from ackclock._util.text_table import printable, table

        s = self.summary
        background = s["background"]
        begin, end = s["duration_s"] - s["window_s"], s["duration_s"]
        head = (
            f"{printable(self.case.name) or 'case'}: hybrid engine, era {s['era']},"
            f" seed {s['seed']}, {number(end)} s simulated, measured from {number(begin)} s to"
            f" {number(end)} s\n{background['flows']:,} flows: {background['own']} of the"
            f" scenario and {background['as_packets']:,} of the background as packets,"
            f" {background['as_rates']:,} as rates"
        )
        flows = [
            [
                str(flow["id"]),
                f"{flow['src']} -> {flow['dst']}",
                str(flow.get("cc") or "-"),
                engineering(flow["goodput_bps"], "bit/s"),
                f"{flow['retransmits']}",
                f"{flow['timeouts']}",
                engineering(flow.get("srtt_mean_s"), "s"),
            ]
            for flow in s["flows"][: background["own"]]
        ]
        names = ["flow", "ends", "cc", "goodput", "retransmits", "timeouts", "srtt"]
        links = [
            [
                row["link"],
                engineering(row["capacity_bps"], "bit/s"),
                percent(row["used"]),
                percent(row["background_bps"] / row["capacity_bps"]),
                f"{row['flows_as_packets']}",
                engineering(row["delay_mean_s"], "s"),
            ]
            for row in self.tables["background"].sort_by([("used", "descending")]).to_pylist()
            if row["flows_as_packets"]
        ]
        columns = ["link", "capacity", "used", "by rates", "packet flows", "queueing delay"]
        blocks = [head, table(names, flows), table(columns, links[:20]), _bias_text(background)]
        blocks += ["\n".join(f"warning: {line}" for line in s["warnings"])] if s["warnings"] else []
        cpu = working_time(s["totals"]["cpu_s"])
        passes = background["passes"]
        hops = f"{s['totals']['packet_hops']:,} packet hops in the last of {passes} passes"
        return "\n\n".join([*blocks, f"{hops}, {cpu} of one core in all"])


def _bias_text(said: Mapping[str, Any]) -> str:
    from ackclock._util.number_text import number

    if said["missing"] is None and not (said["bias"]["rtt"] or said["bias"]["links"]):
        return "round-trip times and full links at one bottleneck do not differ: flows share evenly"
    exponents = "; ".join(
        f"{name} to the minus {number(said['bias'][key])}{_missing(said, key)}"
        for key, name in (("rtt", "round-trip time"), ("links", "full links crossed"))
    )
    return f"shares of a bottleneck go with {exponents}"


def _missing(said: Mapping[str, Any], key: str) -> str:
    from ackclock._util.number_text import number

    if said["missing"] is None:
        return ""
    missing, error = number(-said["missing"][key]), number(said["error"][key])
    return f" (missing by the last pass: {missing} +- {error})"


def outcome(case: Case, solved: Solved, cpu_s: float) -> HybridRun:
    """Make the outcome.

    Parameters
    ----------
    case
        The question.
    solved
        What was found.
    cpu_s
        CPU time that it took [s].
    """
    from ackclock.engines.hybrid.packets import find_crossed_links

    run, mixture, left = solved.run, solved.mixture, solved.packets.left
    own_count, packet_count = len(mixture.foreground), int(left.as_packets.sum())
    pairs = mixture.n_pairs * mixture.per_pair
    if solved.transfers is not None:
        pairs = solved.transfers
    slopes = solved.slopes
    summary = dict(run.summary)
    summary |= {
        "scenario_hash": case.fingerprint,
        "engine": case.engine,
        "totals": {**summary["totals"], "cpu_s": cpu_s},
        "warnings": [*(summary.get("warnings") or ()), *solved.packets.warnings],
        "background": {
            "flows": own_count + pairs,
            "own": own_count,
            "as_packets": packet_count,
            "as_rates": pairs - packet_count,
            "bias": solved.used._asdict(),
            "missing": None if slopes is None else slopes.value._asdict(),
            "error": None if slopes is None else slopes.error._asdict(),
            "passes": solved.passes,
        },
    }
    tables = {name: run.tables[name] for name in run.tables}
    tables["background"] = _links(case, solved, find_crossed_links(mixture, left))
    return HybridRun(case, summary, tables)


def _links(case: Case, solved: Solved, crossed: Any) -> pa.Table:
    from ackclock._util.arrow import array, table

    mixture, left, run = solved.mixture, solved.packets.left, solved.run
    names, capacity = mixture.graph.link_names(), mixture.graph.capacity
    end = float(run.summary["duration_s"])
    background = left.mean_over(left.taken, end)
    measured = {str(link["id"]): link for link in run.summary["links"]}
    used, waits = background / capacity, np.zeros(len(names))
    flows = np.zeros(len(names), dtype=np.uint32)
    for own_flow in mixture.foreground:
        flows[list(own_flow.route)] += 1
    for pair in np.flatnonzero(left.as_packets):
        flows[mixture.pairs.route(int(pair))] += np.uint32(left.as_packets[pair])
    left_bps = left.mean_over(left.left(capacity), end)
    for i, name in enumerate(names):
        link = measured.get(name)
        if link is not None and crossed[i]:
            rate = left_bps[i] if background[i] > 0 else capacity[i]
            used[i] += link["utilisation"] * rate / capacity[i]
            waits[i] = link["delay_mean_s"] or 0.0
    return table(
        {
            "link": array(names),
            "capacity_bps": array(capacity),
            "background_bps": array(background),
            "left_bps": array(left_bps),
            "used": array(np.minimum(used, 1.0)),
            "full": array(left.full),
            "flows_as_packets": array(flows),
            "delay_mean_s": array(waits),
        }
    )
