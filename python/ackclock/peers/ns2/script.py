"""A scenario as a Tcl script for ns-2.35.

Names from the scenario are in comments only, percent-encoded: the script itself has numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.peers.ns2.agents import agent_lines, settle_senders, traffic_lines
from ackclock.peers.ns2.queues import (
    node_numbers,
    queue_class,
    queue_lines,
    replayed_seeds,
    replayed_skips,
    settle_links,
)
from ackclock.peers.routes import find_routes
from ackclock.peers.written import (
    SimulatorLimits,
    Written,
    comment_text,
    number_text,
    sentence_text,
)

if TYPE_CHECKING:
    from ackclock.peers.plan import SimulatorLink, SimulatorPlan

__all__ = ["EVENTS", "TOTALS", "WINDOWS", "write"]

EVENTS, WINDOWS, TOTALS = "events.tr", "windows.tr", "totals.csv"
"""Files that the script writes: packets at links, traced variables, counts of flows."""

LARGEST_SEED = 2**31 - 2

HEAD = """\
set dir [expr {$argc > 0 ? [lindex $argv 0] : "."}]
remove-all-packet-headers
add-packet-header IP TCP Flags RTP
set ns [new Simulator]
$ns rtproto Manual
set events [open $dir/events.tr w]
set windows [open $dir/windows.tr w]
set totals [open $dir/totals.csv w]
puts $totals "flow,address,port,bytes,sent,retransmitted,timeouts"

# A direction of a link; its queue is $q afterwards.
proc one_way {from to rate delay kind} {
    global ns n q
    $ns simplex-link $n($from) $n($to) $rate $delay $kind
    set q [[$ns link $n($from) $n($to)] queue]
}

# Loses packets before the queue; a line of the trace for each, as for those that the queue drops.
proc lose {model from to} {
    global ns n events
    $ns lossmodel $model $n($from) $n($to)
    set trace [new Trace/Drop]
    $trace set src_ [$n($from) id]
    $trace set dst_ [$n($to) id]
    $trace attach $events
    $trace target [$ns set nullAgent_]
    $model drop-target $trace
}

# The first link of packets from a node to a destination.
proc route {at to next} {
    global ns n
    $n($at) add-route [$n($to) id] [[$ns link $n($at) $n($next)] head]
}

# Sets variables of an object, named without the underscore at their ends.
proc put {object values} {
    foreach {name value} $values {
        $object set ${name}_ $value
    }
}

proc attach {i from to} {
    global ns n t k
    $ns attach-agent $n($from) $t($i)
    $ns attach-agent $n($to) $k($i)
    $ns connect $t($i) $k($i)
    $t($i) set fid_ $i
    $k($i) set fid_ $i
}

proc watch {i} {
    global t windows
    $t($i) trace cwnd_
    $t($i) attach $windows
}

# Nothing new is sent any more; what was sent may be sent again.
proc fall_silent {i} {
    global t
    $t($i) advance [expr {[$t($i) set maxseq_] + 1}]
}

# At time 0: the clock of RTT samples has the phase that the scenario says, in place of a random
# one. An agent draws its phase in [0, tick) when it is reset; the draw u is known beforehand.
proc settle {i phase tick threshold} {
    global t defaultRNG
    set kept [list [$t($i) set srtt_init_] [$t($i) set rttvar_init_]]
    $t($i) set srtt_init_ 0
    $t($i) set rttvar_init_ 0
    $defaultRNG seed 1
    set u [$defaultRNG uniform 0.0 1.0]
    $defaultRNG seed 1
    $t($i) set tcpTick_ [expr {$phase > 0 ? $phase / $u : 1e-30}]
    $t($i) reset
    $t($i) set tcpTick_ $tick
    $t($i) set srtt_init_ [lindex $kept 0]
    $t($i) set rttvar_init_ [lindex $kept 1]
    if {$threshold > 0} {
        $t($i) set ssthresh_ $threshold
    }
}
"""

COUNT = """\
proc count {} {
    global t k totals flows
    for {set i 0} {$i < $flows} {incr i} {
        set row [list $i [$t($i) set agent_addr_] [$t($i) set agent_port_] [$k($i) set bytes_]]
        foreach name {ndatapack_ nrexmitpack_ nrexmit_} {
            if {[catch {lappend row [$t($i) set $name]}]} {
                lappend row 0
            }
        }
        puts $totals [join $row ,]
    }
}

proc finish {} {
    global ns events windows totals
    count
    $ns flush-trace
    close $events
    close $windows
    close $totals
    exit 0
}
"""


def write(plan: SimulatorPlan) -> Written:
    """Write a plan as a script.

    Parameters
    ----------
    plan
        The compiled scenario.

    Raises
    ------
    ScenarioError
        It has what ns-2 cannot express: every reason at once.
    """
    limits = SimulatorLimits("ns-2")
    settle_senders(plan, limits)
    settle_links(plan, limits)
    routes = find_routes(
        plan, limits, lambda flow, are_acks: flow.source if are_acks else flow.target
    )
    limits.raise_refused()
    numbers = node_numbers(plan)
    lines = [*_title(plan, limits, numbers), HEAD]
    lines.append(f"for {{set i 0}} {{$i <= {numbers[-1]}}} {{incr i}} {{set n($i) [$ns node]}}")
    for link in plan.links:
        if link.number in plan.used:
            lines += _link_lines(plan, link, numbers)
    lines += [
        f"route {numbers[node]} {numbers[to]} {numbers[following]}"
        for (node, to), (_, following) in routes.items()
    ]
    for flow in plan.flows:
        lines += ["", f"# {comment_text(flow.id)}", *agent_lines(plan, flow, numbers)]
    # After the phases are settled: what ns-2 draws from here on.
    lines += ["", f'$ns at 0 "$defaultRNG seed {_seed(plan)}"']
    if skipped := max(replayed_skips(plan), default=0):
        draw = "$defaultRNG uniform 0.0 1.0"
        lines.append(f"$ns at 0 {{ for {{set i 0}} {{$i < {skipped}}} {{incr i}} {{ {draw} }} }}")
    for flow in plan.flows:
        lines += traffic_lines(plan, flow)
    lines += [
        "",
        f"set flows {len(plan.flows)}",
        COUNT,
        f'$ns at {number_text(plan.warmup_s)} "count"',
        f'$ns at {number_text(plan.duration_s)} "finish"',
        "$ns run",
    ]
    return limits.settle("\n".join(lines) + "\n")


def _seed(plan: SimulatorPlan) -> int:
    """Seed of what ns-2 draws: the one that a RED queue replays, or by the scenario's."""
    replayed = replayed_seeds(plan)
    return min(replayed) if replayed else 1 + plan.seed % LARGEST_SEED


def _title(plan: SimulatorPlan, limits: SimulatorLimits, numbers: tuple[int, ...]) -> list[str]:
    lines = [
        f"# {comment_text(plan.name)}, for ns-2.35: ns FILE.tcl [DIR]",
        "# writes into DIR: events.tr (packets at links), windows.tr (cwnd), totals.csv (flows).",
        "# Written by ackclock; names are percent-encoded.",
    ]
    for note in limits.named:
        lines.append(f"# Different: {sentence_text(note.path)}: {sentence_text(note.message)}")
    for name, number in zip(plan.nodes, numbers, strict=True):
        lines.append(f"# node {number}: {comment_text(name)}")
    return lines


def _link_lines(plan: SimulatorPlan, link: SimulatorLink, numbers: tuple[int, ...]) -> list[str]:
    source, target = numbers[link.source], numbers[link.target]
    ends = f"$n({source}) $n({target})"
    rate, delay = number_text(link.rate_bps), number_text(link.delay_s)
    lines = [
        "",
        f"# {comment_text(link.id)}",
        f"one_way {source} {target} {rate} {delay} {queue_class(link)}",
        queue_lines(plan, link),
    ]
    if link in plan.bottlenecks:
        lines.append(f"$ns trace-queue {ends} $events")
    # The model that is put in last comes first.
    if link.loses:
        lines += [
            "set e [new ErrorModel]",
            f"$e unit pkt; $e set rate_ {number_text(link.loss)}",
            f"lose $e {source} {target}",
        ]
        lines += [
            f'$ns at {number_text(time_s)} "$e set rate_ {number_text(ratio)}"'
            for time_s, ratio in link.losses
        ]
    if link.drops:
        numbered = " ".join(str(number) for number in link.drops)
        lines += [
            f"set e [new ErrorModel/List]; $e droplist {{{numbered}}}",
            f"lose $e {source} {target}",
        ]
    for time_s, rate_bps in link.steps:
        wire = f"[[$ns link {ends}] link]"
        lines.append(
            f'$ns at {number_text(time_s)} "{wire} set bandwidth_ {number_text(rate_bps)}"'
        )
    return lines
