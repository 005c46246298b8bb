//! Results as tables of columns: those that every run has.

use super::{Column, Columns};
use crate::compile::{self, Plan, PlanSender};
use crate::packet::{self, Results};
use crate::percentiles::Percentiles;
use crate::units::Span;
use crate::wire::DropReason;

macro_rules! columns_of {
    ($rows:expr, { $($name:literal: $kind:ident = $get:expr),+ $(,)? }) => {
        vec![$(($name, Column::$kind($rows.iter().map($get).collect()))),+]
    };
}

/// One row per flow.
pub(super) fn flows(plan: &Plan, results: &Results) -> Columns {
    let flow_results = &results.flows;
    let f =
        |g: &dyn Fn(&packet::FlowResult) -> f64| Column::F64(flow_results.iter().map(g).collect());
    let n =
        |g: &dyn Fn(&packet::FlowResult) -> u64| Column::U64(flow_results.iter().map(g).collect());
    let text = |g: &dyn Fn(&compile::PlanFlow) -> String| {
        Column::Names(plan.flows.iter().map(g).collect())
    };
    let rtt = |s: &packet::FlowResult| {
        let count = s.sender.rtt_count - s.sender_at_warmup.rtt_count;
        if count == 0 {
            f64::NAN
        } else {
            (s.sender.rtt_sum_s - s.sender_at_warmup.rtt_sum_s) / count as f64
        }
    };
    let lost_share = |s: &packet::FlowResult| {
        let sent = s.sender.sent_packets - s.sender_at_warmup.sent_packets;
        if sent == 0 { f64::NAN } else { s.window_lost_data as f64 / sent as f64 }
    };
    let limits = plan
        .flows
        .iter()
        .zip(flow_results)
        .map(|(flow, s)| {
            let is_full = fills_receiver_window(plan, flow, s, rtt(s));
            if is_full { "receiver window".to_owned() } else { String::new() }
        })
        .collect();
    let starts: Vec<f64> = flow_results.iter().map(|s| s.start_s).collect();
    let delays: Vec<Delays> =
        (0..flow_results.len()).map(|f| Delays::of(plan, results, f)).collect();
    let d = |g: &dyn Fn(&Delays) -> f64| Column::F64(delays.iter().map(g).collect());
    let ideals: Vec<f64> = plan
        .flows
        .iter()
        .map(|flow| plan.ideal_completion(flow).map_or(f64::NAN, Span::seconds))
        .collect();
    let completion: Vec<f64> = flow_results
        .iter()
        .zip(&starts)
        .map(
            |(s, start)| {
                if s.sender.completed_s > 0.0 { s.sender.completed_s - start } else { f64::NAN }
            },
        )
        .collect();
    let slowdowns = completion.iter().zip(&ideals).map(|(took, ideal)| took / ideal).collect();
    let mut table = vec![
        ("id", text(&|f| f.name.to_string())),
        ("src", text(&|f| plan.nodes[f.src.index()].clone())),
        ("dst", text(&|f| plan.nodes[f.dst.index()].clone())),
        ("cc", text(&|f| super::names(&f.sender).0)),
        ("recovery", text(&|f| super::names(&f.sender).1)),
        ("start_s", Column::F64(starts)),
        ("completed_after_s", Column::F64(completion)),
        ("ideal_s", Column::F64(ideals)),
        ("slowdown", Column::F64(slowdowns)),
        ("goodput_bps", f(&|s| super::goodput(results, s))),
        ("delivered_bytes", n(&|s| s.receiver.delivered_bytes)),
        ("window_delivered_bytes", n(&|s| s.window_delivered_bytes())),
        ("delivered_packets", n(&|s| s.receiver.delivered_packets)),
        ("sent_packets", n(&|s| s.sender.sent_packets)),
        ("retransmits", n(&|s| s.sender.retransmits)),
        ("timeouts", n(&|s| s.sender.timeouts)),
        ("recoveries", n(&|s| s.sender.recoveries)),
        ("ecn_reductions", n(&|s| s.sender.ecn_reductions)),
        ("lost_data_packets", n(&|s| s.lost_data)),
        ("lost_ack_packets", n(&|s| s.lost_acks)),
        ("data_under_way", n(&|s| s.under_way[0])),
        ("acks_under_way", n(&|s| s.under_way[1])),
        ("window_sent_packets", n(&|s| s.sender.sent_packets - s.sender_at_warmup.sent_packets)),
        ("window_lost_data_packets", n(&|s| s.window_lost_data)),
        ("loss_ratio", f(&lost_share)),
        ("limited_by", Column::Names(limits)),
        ("srtt_mean_s", f(&rtt)),
        ("rtt_min_s", f(&|s| if s.sender.rtt_count > 0 { s.sender.rtt_min_s } else { f64::NAN })),
        ("rtt_p50_s", d(&|d| d.round_trips(0.5))),
        ("rtt_p95_s", d(&|d| d.round_trips(0.95))),
        ("rtt_p99_s", d(&|d| d.round_trips(0.99))),
        ("one_way_mean_s", d(&|d| if d.is_one_way { d.mean_s } else { f64::NAN })),
        ("one_way_p50_s", d(&|d| d.ways(0.5))),
        ("one_way_p95_s", d(&|d| d.ways(0.95))),
        ("one_way_p99_s", d(&|d| d.ways(0.99))),
        ("queueing_p50_s", d(&|d| d.queueing(0.5))),
        ("queueing_p95_s", d(&|d| d.queueing(0.95))),
        ("queueing_p99_s", d(&|d| d.queueing(0.99))),
        ("cwnd_segments", f(&|s| s.sender.cwnd)),
    ];
    if !plan.jobs.is_empty() {
        let mut names = vec![String::new(); plan.flows.len()];
        for job in &plan.jobs {
            job.flows.clone().for_each(|flow| names[flow as usize] = job.name.to_string());
        }
        table.push(("job", Column::Names(names)));
    }
    if !plan.connections.is_empty() {
        let mut names = vec![String::new(); plan.flows.len()];
        for connection in &plan.connections {
            let name = |flow: u32| names[flow as usize] = connection.name.to_string();
            connection.flows.clone().for_each(name);
        }
        table.push(("connection", Column::Names(names)));
    }
    table
}

/// One row per connection over several paths.
pub(super) fn connections(plan: &Plan, results: &Results) -> Columns {
    let subflows = |connection: &compile::PlanConnection| {
        &results.flows[connection.flows.start as usize..connection.flows.end as usize]
    };
    let rows: Vec<_> = plan.connections.iter().map(|all| (all, subflows(all))).collect();
    let sum = |flows: &[packet::FlowResult], of: fn(&packet::FlowResult) -> u64| {
        flows.iter().map(of).sum::<u64>()
    };
    let completed_after = |flows: &[packet::FlowResult]| {
        let completed_s = packet::connection_completed_s(flows);
        let start_s = flows.iter().map(|flow| flow.start_s).fold(f64::INFINITY, f64::min);
        if completed_s > 0.0 { completed_s - start_s } else { f64::NAN }
    };
    columns_of!(rows, {
        "id": Names = |r| r.0.name.to_string(),
        "src": Names = |r| plan.nodes[plan.flows[r.0.flows.start as usize].src.index()].clone(),
        "dst": Names = |r| plan.nodes[plan.flows[r.0.flows.start as usize].dst.index()].clone(),
        "scheduler": Names = |r| r.0.scheduler.to_string(),
        "subflows": U64 = |r| r.1.len() as u64,
        "start_s": F64 = |r| r.1.iter().map(|flow| flow.start_s).fold(f64::INFINITY, f64::min),
        "completed_after_s": F64 = |r| completed_after(r.1),
        "goodput_bps": F64 = |r| r.1.iter().map(|flow| super::goodput(results, flow)).sum::<f64>(),
        "delivered_bytes": U64 = |r| sum(r.1, |flow| flow.receiver.delivered_bytes),
        "waiting_bytes": U64 = |r| sum(r.1, |flow| flow.receiver.held_bytes),
        "sent_packets": U64 = |r| sum(r.1, |flow| flow.sender.sent_packets),
        "retransmits": U64 = |r| sum(r.1, |flow| flow.sender.retransmits),
        "duplicate_packets": U64 = |r| sum(r.1, |flow| flow.receiver.duplicate_packets),
    })
}

/// One row per job.
pub(super) fn jobs(plan: &Plan, results: &Results) -> Columns {
    let rows: Vec<Job<'_>> = plan.jobs.iter().map(|job| Job::of(job, plan, results)).collect();
    columns_of!(rows, {
        "id": Names = |r| r.name.to_owned(),
        "hosts": U64 = |r| r.hosts,
        "transfers": U64 = |r| r.transfers,
        "arrived_transfers": U64 = |r| r.arrived,
        "bytes": U64 = |r| r.bytes,
        "start_s": F64 = |r| r.start_s,
        "completed_after_s": F64 = |r| r.completed_after_s,
        "ideal_s": F64 = |r| r.ideal_s,
        "slowdown": F64 = |r| r.completed_after_s / r.ideal_s,
    })
}

/// What became of a job.
struct Job<'a> {
    name: &'a str,
    hosts: u64,
    transfers: u64,
    arrived: u64,
    bytes: u64,
    start_s: f64,
    /// From the first start to the last arrival; NaN if not all has arrived.
    completed_after_s: f64,
    /// The same, if each transfer were alone on its path.
    ideal_s: f64,
}

impl<'a> Job<'a> {
    fn of(job: &'a compile::PlanJob, plan: &Plan, results: &Results) -> Self {
        let range = job.flows.start as usize..job.flows.end as usize;
        let (flows, flow_results) = (&plan.flows[range.clone()], &results.flows[range]);
        let mut nodes: Vec<_> = flows.iter().flat_map(|flow| [flow.src, flow.dst]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let arrived = flow_results.iter().filter(|s| !s.arrived_s.is_nan()).count();
        let first = |starts: &mut dyn Iterator<Item = f64>| starts.fold(f64::INFINITY, f64::min);
        let start_s = first(&mut flow_results.iter().map(|s| s.start_s));
        let end_s = flow_results.iter().map(|s| s.arrived_s).fold(0.0, f64::max);
        let earliest = first(&mut flows.iter().map(|flow| flow.start.seconds()));
        let ideal_end = flows.iter().map(|flow| {
            let arrival = plan.ideal_arrival(flow).unwrap_or(Span::ZERO);
            (Span(flow.start.0) + arrival).seconds()
        });
        let is_complete = arrived == flows.len();
        Self {
            name: &job.name,
            hosts: nodes.len() as u64,
            transfers: flows.len() as u64,
            arrived: arrived as u64,
            bytes: flows.iter().filter_map(|flow| flow.size).map(|size| size.0).sum(),
            start_s: if start_s.is_finite() { start_s } else { f64::NAN },
            completed_after_s: if is_complete { end_s - start_s } else { f64::NAN },
            ideal_s: ideal_end.fold(0.0, f64::max) - earliest,
        }
    }
}

/// Delays of a flow in the measured time: of round trips or, without TCP or QUIC, of one way.
struct Delays<'a> {
    beyond: Option<&'a Percentiles>,
    propagation_s: f64,
    /// What sending takes at least, without a queue.
    transmission_s: f64,
    /// Of the one way.
    mean_s: f64,
    is_one_way: bool,
    /// Whether a part of the delay is the wait in queues; not where what is acknowledged has not arrived.
    has_queueing: bool,
}

impl<'a> Delays<'a> {
    fn of(plan: &Plan, results: &'a Results, flow: usize) -> Self {
        let delays = results.delays.get(flow).filter(|delays| delays.beyond.count() > 0);
        let propagation_s = delays.map_or(0.0, |delays| delays.propagation.seconds());
        let flow = &plan.flows[flow];
        let is_one_way =
            matches!(*flow.sender, PlanSender::Source { .. } | PlanSender::Branch { .. });
        let [data, mut answer] = flow.packet_sizes();
        // Only its first answer is as large as data.
        if matches!(*flow.sender, PlanSender::Quic { .. }) {
            answer = flow.tcp.ack_size;
        }
        let mut transmission_s = plan.transmissions(&flow.route, data).seconds();
        if !is_one_way {
            transmission_s += plan.transmissions(&flow.ack_route, answer).seconds();
        }
        Self {
            beyond: delays.map(|delays| &delays.beyond),
            propagation_s,
            transmission_s,
            mean_s: delays.map_or(f64::NAN, |delays| propagation_s + delays.beyond.mean_s()),
            is_one_way,
            has_queueing: flow.tcp.optimistic_acks.is_none_or(|ahead| ahead == 0),
        }
    }

    fn beyond(&self, rank: f64) -> f64 {
        self.beyond.map_or(f64::NAN, |beyond| beyond.at_s(rank))
    }

    fn round_trips(&self, rank: f64) -> f64 {
        if self.is_one_way { f64::NAN } else { self.propagation_s + self.beyond(rank) }
    }

    fn ways(&self, rank: f64) -> f64 {
        if self.is_one_way { self.propagation_s + self.beyond(rank) } else { f64::NAN }
    }

    fn queueing(&self, rank: f64) -> f64 {
        let delay = self.beyond(rank);
        // Written so that NaN stays.
        let waits = if delay < self.transmission_s { 0.0 } else { delay - self.transmission_s };
        if self.has_queueing { waits } else { f64::NAN }
    }
}

/// One row per queue that the discipline of a link distinguishes.
pub(super) fn link_queues(results: &Results) -> Columns {
    let links = results.links.iter().enumerate();
    let rows: Vec<_> = links
        .flat_map(|(l, link)| link.queues.iter().map(move |queue| (l as u32, queue)))
        .collect();
    columns_of!(rows, {
        "link": U32 = |r| r.0,
        "queue": Names = |r| r.1.name.to_string(),
        "arrived_packets": U64 = |r| r.1.arrived,
        "departed_packets": U64 = |r| r.1.departed,
        "departed_bytes": U64 = |r| r.1.departed_bytes,
        "drops": U64 = |r| r.1.drops,
        "marks": U64 = |r| r.1.marks,
        "delay_mean_s": F64 = |r| r.1.waits.mean_s(),
        "delay_p50_s": F64 = |r| r.1.waits.at_s(0.5),
        "delay_p95_s": F64 = |r| r.1.waits.at_s(0.95),
        "delay_p99_s": F64 = |r| r.1.waits.at_s(0.99),
    })
}

/// Whether what a flow had under way in the measured time, on average (Little's law: packets per second times the
/// round trip), was its receiver's window, up to a twentieth.
fn fills_receiver_window(
    plan: &Plan,
    flow: &compile::PlanFlow,
    flow_result: &packet::FlowResult,
    rtt_s: f64,
) -> bool {
    if !matches!(*flow.sender, PlanSender::Tcp { .. }) {
        return false;
    }
    let end = if flow_result.sender.completed_s > 0.0 {
        flow_result.sender.completed_s
    } else {
        plan.duration.seconds()
    };
    let active = end - flow_result.start_s.max(plan.warmup.seconds());
    let packets =
        flow_result.receiver.delivered_packets - flow_result.receiver_at_warmup.delivered_packets;
    active > 0.0 && packets as f64 / active * rtt_s >= 0.95 * f64::from(flow.tcp.receiver_window)
}

/// One row per receiver of a multicast group.
pub(super) fn receivers(plan: &Plan, results: &Results) -> Columns {
    let all = plan.groups.iter().flat_map(|g| g.receivers.iter().map(move |&flow| (g, flow)));
    let rows: Vec<_> = all.map(|(g, flow)| (g, flow, &results.flows[flow as usize])).collect();
    let loss = |flow_result: &packet::FlowResult| {
        let (now, then) = (&flow_result.receiver, &flow_result.receiver_at_warmup);
        let lost = now.missing_packets.saturating_sub(then.missing_packets) as f64;
        let all = lost + (now.delivered_packets - then.delivered_packets) as f64;
        if all > 0.0 { lost / all } else { 0.0 }
    };
    columns_of!(rows, {
        "group": Names = |r| r.0.name.to_string(),
        "receiver": Names = |r| plan.nodes[plan.flows[r.1 as usize].dst.index()].clone(),
        "flow": U32 = |r| r.1,
        "control": Names = |r| r.0.control.kind().to_owned(),
        "joined_s": F64 = |r| plan.flows[r.1 as usize].start.seconds(),
        "layers": U32 = |r| r.2.receiver.layers,
        "goodput_bps": F64 = |r| super::goodput(results, r.2),
        "delivered_packets": U64 = |r| r.2.receiver.delivered_packets,
        "lost_packets": U64 = |r| r.2.receiver.missing_packets,
        "loss_ratio": F64 = |r| loss(r.2),
        "layer_joins": U64 = |r| r.2.receiver.layer_joins,
        "layer_leaves": U64 = |r| r.2.receiver.layer_leaves,
    })
}

/// One row per link and direction.
pub(super) fn links(plan: &Plan, results: &Results) -> Columns {
    let link_results = &results.links;
    let f =
        |g: &dyn Fn(&packet::LinkResult) -> f64| Column::F64(link_results.iter().map(g).collect());
    let n =
        |g: &dyn Fn(&packet::LinkResult) -> u64| Column::U64(link_results.iter().map(g).collect());
    let text = |g: &dyn Fn(&compile::PlanLink) -> String| {
        Column::Names(plan.links.iter().map(g).collect())
    };
    let mut table = vec![
        ("id", text(&|l| l.name(&plan.nodes))),
        ("src", text(&|l| plan.nodes[l.from.index()].clone())),
        ("dst", text(&|l| plan.nodes[l.to.index()].clone())),
        ("rate_bps", Column::F64(plan.links.iter().map(|l| l.rate.bps()).collect())),
        ("propagation_s", Column::F64(plan.links.iter().map(|l| l.delay.seconds()).collect())),
        ("qdisc", text(&|l| l.settings.qdisc.kind().to_owned())),
        ("utilisation", f(&|l| l.utilisation)),
        ("arrived_packets", n(&|l| l.arrived)),
        ("departed_packets", n(&|l| l.departed)),
        ("departed_bytes", n(&|l| l.departed_bytes)),
        ("drops", n(&|l| l.drops)),
        ("ack_drops", n(&|l| l.ack_drops)),
        ("window_arrived_packets", n(&|l| l.window_arrived)),
        ("window_drops", n(&|l| l.window_drops)),
        ("marks", n(&|l| l.marks)),
        ("queue_mean_packets", f(&|l| l.queue_mean)),
        ("queue_p99_packets", f(&|l| l.queue_p99)),
        ("delay_mean_s", f(&|l| l.delay_mean_s)),
        ("waiting_packets", n(&|l| l.waiting)),
        ("loss_ratio", f(&loss_ratio)),
        ("state_flows", n(&|l| l.state.flows)),
        ("state_bytes", n(&|l| l.state.bytes)),
    ];
    let trims = |link: &compile::PlanLink| link.settings.qdisc.kind() == "trim";
    if plan.links.iter().any(trims) {
        table.push(("trimmed_packets", n(&|l| l.trims)));
    }
    let pfc = &results.pfc;
    if !pfc.is_empty() {
        let n = |g: fn(&packet::PfcResult) -> u64| Column::U64(pfc.iter().map(g).collect());
        table.extend([
            ("pauses", n(|l| l.pauses)),
            ("pause_frames", n(|l| l.frames)),
            ("paused_s", Column::F64(pfc.iter().map(|l| l.paused_s).collect())),
            ("ingress_max_bytes", n(|l| l.most_bytes)),
            ("headroom_max_bytes", n(|l| l.most_headroom)),
            ("headroom_bytes", n(|l| l.headroom)),
            ("headroom_drops", n(|l| l.drops)),
        ]);
    }
    let fails = plan.links.iter().any(|link| !link.settings.failures.times.is_empty());
    let reasons = DropReason::ALL.into_iter().filter(|&reason| fails || reason != DropReason::Down);
    table.extend(
        reasons.map(|reason| (column_of(reason), n(&|l| l.drops_by_reason[reason as usize]))),
    );
    table
}

/// What was dropped of what arrived, both after the warm-up.
fn loss_ratio(link: &packet::LinkResult) -> f64 {
    if link.window_arrived == 0 {
        return 0.0;
    }
    link.window_drops as f64 / link.window_arrived as f64
}

/// Name of the column of the packets that a link dropped for a reason.
fn column_of(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Overflow => "drops_overflow",
        DropReason::PushedOut => "drops_pushed_out",
        DropReason::Early => "drops_early",
        DropReason::Forced => "drops_forced",
        DropReason::Random => "drops_random",
        DropReason::Listed => "drops_listed",
        DropReason::Unmarkable => "drops_unmarkable",
        DropReason::TooBig => "drops_too_big",
        DropReason::Wire => "drops_wire",
        DropReason::Thinned => "drops_thinned",
        DropReason::Policed => "drops_policed",
        DropReason::Down => "drops_down",
        DropReason::Trimmed => "trimmed_packets",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_and_its_column_have_one_name() {
        for reason in DropReason::ALL {
            assert_eq!(column_of(reason), format!("drops_{}", reason.name().replace('-', "_")));
        }
    }
}
