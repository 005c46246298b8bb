//! What a scenario amounts to, before it runs: routes, buffers, defaults, and the work it will be.

use std::sync::Arc;

use serde::Serialize;

use super::plan::{PYTHON, Plan, PlanFlow, PlanLink, PlanSender};
use super::work::Passages;
use super::work::timers::Timers;
use crate::error::Problem;
use crate::quic::QuicConfig;
use crate::registry::Spec;
use crate::scenario::{QuicOptions, Scenario};
use crate::tcp::{Supply, TcpConfig};

/// What things cost on one core of an ordinary server [s], with few flows (`benchmarks/predict/runs.py`).
mod cost {
    /// A packet at a plain FIFO, at another discipline, at an end of a flow.
    pub(super) const FIFO: f64 = 25e-9;
    pub(super) const DISCIPLINE: f64 = 90e-9;
    pub(super) const END: f64 = 60e-9;
    /// A timer.
    pub(super) const TIMER: f64 = 50e-9;
    /// A flow and a link: compiled, built, and reported.
    pub(super) const FLOW: f64 = 6e-6;
    pub(super) const LINK: f64 = 1.5e-6;
    /// A flow whose class a discipline with classes finds when it is built.
    pub(super) const CLASSIFY: f64 = 35e-9;
    /// A recorded row.
    pub(super) const ROW: f64 = 60e-9;
    /// A packet that is handed to a guest, with what a light stack does then (a heavy one takes three times as long), and
    /// what starting its two programs takes.
    pub(super) const GUEST: f64 = 10e-6;
    pub(super) const GUESTS: f64 = 0.05;
    /// An acknowledgement that a control in Python reads, a packet at a queue in Python; what their code computes is little.
    pub(super) const CALL: f64 = 1.3e-6;
    /// A run.
    pub(super) const RUN: f64 = 150e-6;
    /// Flows whose state fills the caches; beyond, everything takes up to so many times as long.
    pub(super) const CACHED_FLOWS: f64 = 2000.0;
    pub(super) const UNCACHED: f64 = 3.0;
}

/// A scenario, explained.
#[derive(Debug, Serialize)]
pub struct Explained {
    /// Whose defaults apply.
    pub era: &'static str,
    /// Simulated time.
    pub duration_s: f64,
    /// Flows with their routes.
    pub flows: Vec<FlowLine>,
    /// Links with their flows.
    pub links: Vec<LinkLine>,
    /// Values that the scenario left out.
    pub defaults: Vec<DefaultLine>,
    /// What the run will cost.
    pub predicted: Predicted,
    /// What can be said against it before it runs.
    pub warnings: Vec<String>,
}

/// A flow as it will run.
#[derive(Debug, Serialize)]
pub struct FlowLine {
    /// Name.
    pub id: String,
    /// Sender.
    pub src: String,
    /// Receiver.
    pub dst: String,
    /// Congestion control, or the unresponsive source.
    pub cc: String,
    /// Loss recovery; empty for an unresponsive source.
    pub recovery: String,
    /// Slow start rule; empty for an unresponsive source.
    pub slow_start: String,
    /// Nodes that the data passes.
    pub route: Vec<String>,
    /// Round-trip propagation time.
    pub rtt_s: f64,
    /// Rate of the narrowest link.
    pub bottleneck_bps: f64,
    /// Name of the narrowest link.
    pub bottleneck: String,
    /// Rate of the narrowest link times round-trip time.
    pub bdp_bytes: f64,
    /// The same in full segments.
    pub bdp_segments: f64,
    /// Payload of a full segment, in bytes.
    pub mss_bytes: u32,
    /// An equal share of every link on the way, at most.
    pub equal_share_bps: f64,
    /// Start.
    pub start_s: f64,
}

/// A link as it will run.
#[derive(Debug, Serialize)]
pub struct LinkLine {
    /// Name.
    pub id: String,
    /// Node that sends into it.
    pub src: String,
    /// Node at its far end.
    pub dst: String,
    /// Rate.
    pub rate_bps: f64,
    /// Propagation delay.
    pub delay_s: f64,
    /// Buffer in packets; null where it is limited in bytes alone or not at all.
    pub buffer_packets: Option<u32>,
    /// Buffer in bytes.
    pub buffer_bytes: Option<u64>,
    /// Time to empty a full buffer.
    pub buffer_s: Option<f64>,
    /// Queue discipline.
    pub qdisc: String,
    /// Whether its rate changes over time.
    pub varies: bool,
    /// Flows whose data crosses it.
    pub flows: u32,
}

/// A default that applies.
#[derive(Debug, Serialize)]
pub struct DefaultLine {
    /// Path in the scenario.
    pub path: String,
    /// Value.
    pub value: String,
    /// Where it comes from.
    pub source: String,
}

/// Predicted work.
#[derive(Clone, Debug, Serialize)]
pub struct Predicted {
    /// One packet on one link, so many times.
    pub packet_hops: f64,
    /// Events.
    pub events: f64,
    /// CPU seconds on one core.
    pub cpu_s: f64,
    /// Rows of recorded tables.
    pub recorded_rows: f64,
    /// Memory of the recorded tables, if they stay there.
    pub table_bytes: f64,
    /// Memory of the run, recorded tables with it.
    pub memory_bytes: f64,
    /// The key of the scenario that causes most of the time.
    pub dearest: String,
    /// Its share of the time.
    pub dearest_share: f64,
    /// Of the CPU seconds, those that do not depend on what the run does.
    #[serde(skip)]
    pub fixed_s: f64,
}

/// Flows whose data crosses each link.
fn crossing(plan: &Plan) -> Vec<u32> {
    let mut crossing = vec![0u32; plan.links.len()];
    for flow in &plan.flows {
        for link in &flow.route {
            crossing[link.index()] += 1;
        }
    }
    crossing
}

/// An equal share of each link [bit/s] for the flows that cross it, at its mean rate.
fn shares_bps(plan: &Plan, crossing: &[u32]) -> Vec<f64> {
    let share = |(link, &flows): (&PlanLink, &u32)| {
        let nominal = link.rate.bps();
        let schedule = link.settings.schedule.as_ref();
        let rate = schedule.map_or(nominal, |schedule| schedule.mean_bps(nominal, plan.duration));
        rate / f64::from(flows.max(1))
    };
    plan.links.iter().zip(crossing).map(share).collect()
}

/// An equal share of every link on a flow's way, at most [bit/s].
fn equal_share_bps(flow: &PlanFlow, shares: &[f64]) -> f64 {
    flow.route.iter().map(|l| shares[l.index()]).fold(f64::INFINITY, f64::min)
}

impl Predicted {
    /// The problem that the run takes more than so many CPU seconds, at the key that causes most of it.
    pub fn excess(&self, most_cpu_s: f64) -> Option<Problem> {
        (self.cpu_s > most_cpu_s).then(|| {
            let message = format!(
                "the run is predicted to take {:.3e} events and {} of one core, {:.0} % of it by this; expected at \
                 most {} (--no-limit)",
                self.events,
                duration(self.cpu_s),
                100.0 * self.dearest_share,
                duration(most_cpu_s)
            );
            Problem::new(self.dearest.clone(), message)
        })
    }
}

/// A time for people.
fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] =
        [(365.25 * 86_400.0, "years"), (86_400.0, "days"), (3600.0, "h"), (60.0, "min")];
    let unit = UNITS.iter().find(|unit| seconds >= unit.0);
    let (length, name) = unit.copied().unwrap_or((1.0, "s"));
    let count = seconds / length;
    if count < 1000.0 { format!("{count:.3} {name}") } else { format!("{count:.1e} {name}") }
}

/// Predicts the work of a plan, at a price that is small beside compiling it.
pub fn predict(plan: &Plan) -> Predicted {
    let passages = super::work::passages(plan);
    let timers = super::work::timers::timers(plan, &passages);
    let packet_hops: f64 = passages.links.iter().sum();
    let [recorded_rows, table_bytes, memory_bytes] =
        super::memory::predict(plan, packet_hops, &passages);
    let hop_s = |(link, packets): (&PlanLink, &f64)| {
        let settings = &link.settings;
        let call = if settings.qdisc.kind().starts_with(PYTHON) { cost::CALL } else { 0.0 };
        packets * (call + if plan.has_queue(settings) { cost::DISCIPLINE } else { cost::FIFO })
    };
    let hops_s: f64 = plan.links.iter().zip(&passages.links).map(hop_s).sum();
    let ends: f64 = passages.ends.iter().flatten().sum();
    let classified = plan.links.iter().filter(|link| link.settings.has_classes()).count();
    let flow_s = cost::FLOW + classified as f64 * cost::CLASSIFY;
    let flows_s = plan.flows.len() as f64 * flow_s;
    let fixed_s = flows_s + plan.links.len() as f64 * cost::LINK + cost::RUN;
    let timers_s = |of: &Timers| of.count * if of.are_events { cost::TIMER } else { cost::ROW };
    let ticks_s: f64 = timers.iter().map(timers_s).sum();
    let fill = plan.flows.len() as f64 / cost::CACHED_FLOWS;
    let slower = 1.0 + (cost::UNCACHED - 1.0) * fill / (1.0 + fill);
    let packets_s = hops_s + ends * cost::END;
    let code_s: f64 = (0..plan.flows.len()).map(|f| code_s(plan, &passages, f)).sum();
    let cpu_s = slower * (packets_s + ticks_s) + code_s + recorded_rows * cost::ROW + fixed_s;
    let (dearest, dearest_s) = dearest(plan, &passages, &timers, packets_s);
    Predicted {
        packet_hops,
        events: packet_hops
            + timers.iter().filter(|of| of.are_events).map(|of| of.count).sum::<f64>(),
        cpu_s,
        recorded_rows,
        table_bytes,
        memory_bytes,
        dearest,
        dearest_share: (slower * dearest_s / cpu_s).min(1.0),
        fixed_s,
    }
}

/// What a flow takes because a program is both its ends, or its control is a class of Python [s]. How often such a class is
/// called only it knows: at most for each acknowledgement.
fn code_s(plan: &Plan, passages: &Passages, f: usize) -> f64 {
    let flow = &plan.flows[f];
    if flow.has_guest() {
        return cost::GUESTS + passages.ends[f].iter().sum::<f64>() * cost::GUEST;
    }
    match &*flow.sender {
        PlanSender::Tcp { cc, .. } | PlanSender::Quic { cc, .. }
            if cc.kind().starts_with(PYTHON) =>
        {
            passages.ends[f][1] * cost::CALL
        }
        _ => 0.0,
    }
}

/// The key that causes most of the time, and how much [s]; `packets_s` is that of all packets.
fn dearest(plan: &Plan, passages: &Passages, timers: &[Timers], packets_s: f64) -> (String, f64) {
    let mut most = ("duration".to_owned(), 0.0);
    let mut take = |path: &str, key: &str, seconds: f64| {
        if seconds > most.1 {
            most = (format!("{path}{key}"), seconds);
        }
    };
    for of in timers {
        take(&of.path, "", of.count * if of.are_events { cost::TIMER } else { cost::ROW });
    }
    // Flows of one definition follow each other.
    let passed = |(flow, sent): (&PlanFlow, &f64)| {
        sent * (flow.route.len() + flow.ack_route.len() + 2) as f64
    };
    let all: f64 = plan.flows.iter().zip(&passages.sent).map(passed).sum();
    let mut begin = 0;
    while let Some(first) = plan.flows.get(begin) {
        let same = plan.flows[begin..].iter().take_while(|f| Arc::ptr_eq(&f.path, &first.path));
        let end = begin + same.count();
        let of: f64 =
            plan.flows[begin..end].iter().zip(&passages.sent[begin..end]).map(passed).sum();
        let key = match (&*first.sender, first.supply.as_deref()) {
            (PlanSender::Source { .. }, _) => ".source",
            (_, Some(Supply::Bursts(..))) => ".every",
            (_, Some(Supply::Media(..))) => ".media",
            (_, Some(Supply::Steps(..))) => ".app",
            _ if first.size.is_some() => ".size",
            _ => "",
        };
        take(&first.path, key, if all > 0.0 { packets_s * of / all } else { 0.0 });
        let key = if first.has_guest() { ".guest" } else { ".cc" };
        take(&first.path, key, (begin..end).map(|f| code_s(plan, passages, f)).sum());
        begin = end;
    }
    most
}

/// Explains a compiled scenario.
pub fn explain(scenario: &Scenario, plan: &Plan) -> Explained {
    let crossing = crossing(plan);
    let shares = shares_bps(plan, &crossing);
    let node = |i: crate::ids::NodeId| plan.nodes[i.index()].clone();
    let flows = plan
        .flows
        .iter()
        .map(|flow| {
            let rtt_s: f64 = flow
                .route
                .iter()
                .chain(&flow.ack_route)
                .map(|l| plan.links[l.index()].delay.seconds())
                .sum();
            let narrow = flow
                .route
                .iter()
                .min_by_key(|l| plan.links[l.index()].rate.0)
                .map_or(0, |l| l.index());
            let bottleneck_bps = plan.links[narrow].rate.bps();
            let [cc, recovery, slow_start] = match &*flow.sender {
                PlanSender::Tcp { cc, recovery, slow_start, control, credits, .. } => {
                    let mut control = label_as(control, cc);
                    if let Some(credits) = credits {
                        control = format!("{control} + {}", label(credits));
                    }
                    [control, label(recovery), label(slow_start)]
                }
                PlanSender::Quic { cc, slow_start, control, .. } => {
                    [label_as(control, cc), "quic".to_owned(), label(slow_start)]
                }
                PlanSender::Source { source: spec, .. }
                | PlanSender::Branch { control: spec, .. } => {
                    [label(spec), String::new(), String::new()]
                }
            };
            let wire = f64::from(flow.tcp.wire_size());
            FlowLine {
                id: flow.name.to_string(),
                src: node(flow.src),
                dst: node(flow.dst),
                cc,
                recovery,
                slow_start,
                route: std::iter::once(node(flow.src))
                    .chain(flow.route.iter().map(|l| node(plan.links[l.index()].to)))
                    .collect(),
                rtt_s,
                bottleneck_bps,
                bottleneck: plan.links[narrow].name(&plan.nodes),
                bdp_bytes: bottleneck_bps * rtt_s / 8.0,
                bdp_segments: bottleneck_bps * rtt_s / 8.0 / wire,
                mss_bytes: flow.tcp.mss,
                equal_share_bps: equal_share_bps(flow, &shares),
                start_s: flow.start.seconds(),
            }
        })
        .collect();
    let links = plan
        .links
        .iter()
        .zip(&crossing)
        .map(|(link, &flows)| {
            let packets = (link.limit.packets != u32::MAX).then_some(link.limit.packets);
            let bytes = (link.limit.bytes != u64::MAX).then_some(link.limit.bytes);
            let full = bytes.or(packets.map(|p| u64::from(p) * u64::from(link.mean_packet)));
            LinkLine {
                id: link.name(&plan.nodes),
                src: plan.nodes[link.from.index()].clone(),
                dst: plan.nodes[link.to.index()].clone(),
                rate_bps: link.rate.bps(),
                delay_s: link.delay.seconds(),
                buffer_packets: packets,
                buffer_bytes: bytes,
                buffer_s: full.map(|b| b as f64 * 8.0 / link.rate.bps()),
                qdisc: label(&link.settings.qdisc),
                varies: link.settings.schedule.is_some(),
                flows,
            }
        })
        .collect();
    Explained {
        era: plan.era_name,
        duration_s: plan.duration.seconds(),
        flows,
        links,
        defaults: defaults(scenario, plan),
        predicted: predict(plan),
        warnings: super::warnings(plan),
    }
}

fn label(spec: &Spec) -> String {
    label_as(spec.kind(), spec)
}

/// An algorithm's name as the scenario has it, with its parameters.
fn label_as(name: &str, spec: &Spec) -> String {
    let params = spec.params();
    let list: Vec<String> = params.iter().map(|(k, v)| format!("{k}={v}")).collect();
    if list.is_empty() { name.to_owned() } else { format!("{name}({})", list.join(", ")) }
}

/// A window in words; 2^31 - 1 segments and more are no limit.
fn segments(window: f64) -> String {
    if window >= f64::from(i32::MAX) {
        "unlimited".to_owned()
    } else {
        format!("{window} segments")
    }
}

/// QUIC settings that the scenario does not give, where a flow uses QUIC.
fn quic_defaults(scenario: &Scenario, plan: &Plan) -> Vec<DefaultLine> {
    if !plan.flows.iter().any(|flow| matches!(*flow.sender, PlanSender::Quic { .. })) {
        return Vec::new();
    }
    let config = QuicConfig::of(&QuicOptions::default());
    let set_keys = serde_json::to_value(&scenario.quic).unwrap_or_default();
    let seconds = |s: crate::units::Span| format!("{} s", s.seconds());
    let all = [
        ("max_datagram", format!("{} B", config.max_datagram)),
        ("initial_window", format!("{} packets", config.initial_window)),
        ("handshake", config.handshake.to_string()),
        ("max_ack_delay", seconds(config.max_ack_delay)),
        ("ack_eliciting_threshold", format!("{} packets", config.ack_eliciting_threshold)),
        ("packet_threshold", format!("{} packets", config.packet_threshold)),
        ("time_threshold", format!("{} round trips", config.time_threshold)),
        ("granularity", seconds(config.granularity)),
        ("initial_rtt", seconds(config.initial_rtt)),
        ("persistent_congestion_threshold", config.persistent_congestion_threshold.to_string()),
        ("pacing_factor", config.pacing_factor.to_string()),
        ("pacing_burst", format!("{} packets", config.pacing_burst)),
        ("ecn", config.ecn.to_string()),
    ];
    all.into_iter()
        .filter(|(key, _)| set_keys.get(key).is_none())
        .map(|(key, value)| DefaultLine {
            path: format!("quic.{key}"),
            value,
            source: "RFC 9000, RFC 9002".to_owned(),
        })
        .collect()
}

/// TCP settings that neither the scenario nor a flow gives, with the era they come from.
fn defaults(scenario: &Scenario, plan: &Plan) -> Vec<DefaultLine> {
    let config = TcpConfig::of_era(scenario.era);
    let source = format!("era {}", scenario.era.name());
    let set_keys = serde_json::to_value(&scenario.tcp).unwrap_or_default();
    let seconds = |s: crate::units::Span| format!("{} s", s.seconds());
    let all = [
        ("mss", format!("{} B", config.mss)),
        ("header", format!("{} B", config.header)),
        ("ack_size", format!("{} B", config.ack_size)),
        ("initial_window", format!("{} segments", config.initial_window)),
        ("initial_ssthresh", segments(config.initial_ssthresh)),
        ("receiver_window", segments(f64::from(config.receiver_window))),
        ("window_autotuning", config.window_autotuning.to_string()),
        ("delayed_ack", format!("{} packets", config.delayed_ack)),
        ("delayed_ack_timeout", seconds(config.delayed_ack_timeout)),
        ("syn", config.syn.to_string()),
        ("timestamps", config.timestamps.to_string()),
        ("ecn", config.ecn.to_string()),
        ("limited_transmit", config.limited_transmit.to_string()),
        ("idle_restart", config.idle_restart.to_string()),
        ("min_rto", seconds(config.min_rto)),
        ("max_rto", seconds(config.max_rto)),
        ("initial_rto", seconds(config.initial_rto)),
        ("tick", seconds(config.tick)),
        ("quick_acks", format!("{} packets", config.quick_acks)),
        ("sack_delay", seconds(config.sack_delay)),
        ("offload", config.offload.to_string()),
    ];
    all.into_iter()
        .filter(|(key, _)| set_keys.get(key).is_none())
        .map(|(key, value)| DefaultLine {
            path: format!("tcp.{key}"),
            value,
            source: source.clone(),
        })
        .chain(quic_defaults(scenario, plan))
        .collect()
}
