//! The plan as plain data, from which scenarios are written for other simulators.

use serde::Serialize;

use super::plan::{Plan, PlanFlow, PlanLink, PlanSender, Schedule};
use crate::registry::Spec;
use crate::scenario::Classes;
use crate::tcp::TcpConfig;
use crate::units::RateStep;

/// A plan with every name resolved and every default filled in. Nodes and links are referred to by number.
#[derive(Debug, Serialize)]
pub struct SpelledOut<'a> {
    era: &'static str,
    duration_s: f64,
    warmup_s: f64,
    seed: u64,
    classes: Classes,
    nodes: &'a [String],
    links: Vec<Link<'a>>,
    flows: Vec<Flow<'a>>,
    /// Multicast groups.
    groups: usize,
    /// Whether flows are subflows of connections.
    connections: bool,
    /// Whether flows wait for others.
    waits: bool,
    /// Whether switches have a memory or flow control.
    switches: bool,
}

/// One direction of a link.
#[derive(Debug, Serialize)]
struct Link<'a> {
    id: String,
    from: u32,
    to: u32,
    rate_bps: f64,
    delay_s: f64,
    /// Null: no limit.
    buffer_packets: Option<u32>,
    buffer_bytes: Option<u64>,
    mean_packet: u32,
    mtu: u16,
    qdisc: &'a Spec,
    qdisc_path: &'a str,
    loss: f64,
    /// Loss ratios from given times [s] on.
    losses: Vec<(f64, f64)>,
    drop: &'a [u64],
    impairments: &'a [Spec],
    /// Whether it fails at times.
    fails: bool,
    /// Null: the rate stays, or changes by delivery opportunities (`opportunities`).
    steps: Option<Vec<RateStep>>,
    opportunities: bool,
}

/// One flow.
#[derive(Debug, Serialize)]
struct Flow<'a> {
    id: &'a str,
    /// Where the scenario defines it.
    path: &'a str,
    src: u32,
    dst: u32,
    start_s: f64,
    stop_s: Option<f64>,
    size_bytes: Option<u64>,
    /// Whether its application hands over data over time.
    supplied: bool,
    dscp: u8,
    sender: Sender<'a>,
    tcp: &'a TcpConfig,
    route: Vec<u32>,
    ack_route: Vec<u32>,
    /// Whether its routes change.
    moves: bool,
}

/// What sends.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Sender<'a> {
    Tcp {
        cc: &'a Spec,
        recovery: &'a Spec,
        slow_start: &'a Spec,
        #[serde(skip_serializing_if = "Option::is_none")]
        credits: &'a Option<Spec>,
        ns2: &'a Option<serde_json::Map<String, serde_json::Value>>,
    },
    Quic {
        cc: &'a Spec,
        slow_start: &'a Spec,
    },
    Source {
        source: &'a Spec,
    },
    Branch,
}

/// Spells out a compiled scenario; `classes` are what its fair queues keep apart.
pub fn spell_out(plan: &Plan, classes: Classes) -> SpelledOut<'_> {
    SpelledOut {
        era: plan.era_name,
        duration_s: plan.duration.seconds(),
        warmup_s: plan.warmup.seconds(),
        seed: plan.seed,
        classes,
        nodes: &plan.nodes,
        links: plan.links.iter().map(|link| spell_link(link, &plan.nodes)).collect(),
        flows: plan.flows.iter().map(spell_flow).collect(),
        groups: plan.groups.len(),
        connections: !plan.connections.is_empty(),
        waits: !plan.waits.is_empty(),
        switches: plan.switches.is_some(),
    }
}

fn spell_link<'a>(link: &'a PlanLink, nodes: &[String]) -> Link<'a> {
    let settings = &*link.settings;
    let steps = match &settings.schedule {
        Some(Schedule::Steps(steps)) => {
            let step = |&(time, rate): &(crate::units::Time, _)| RateStep {
                at: crate::units::Span(time.0),
                rate,
            };
            Some(steps.iter().map(step).collect())
        }
        _ => None,
    };
    Link {
        id: link.name(nodes),
        from: link.from.0,
        to: link.to.0,
        rate_bps: link.rate.bps(),
        delay_s: link.delay.seconds(),
        buffer_packets: (link.limit.packets != u32::MAX).then_some(link.limit.packets),
        buffer_bytes: (link.limit.bytes != u64::MAX).then_some(link.limit.bytes),
        mean_packet: link.mean_packet,
        mtu: settings.mtu,
        qdisc: &settings.qdisc,
        qdisc_path: &settings.qdisc_path,
        loss: settings.loss,
        losses: settings.losses.iter().map(|&(time, ratio)| (time.seconds(), ratio)).collect(),
        drop: &settings.drop,
        impairments: &settings.impairments,
        fails: !settings.failures.times.is_empty(),
        steps,
        opportunities: matches!(settings.schedule, Some(Schedule::Mahimahi(_))),
    }
}

fn spell_flow(flow: &PlanFlow) -> Flow<'_> {
    let sender = match &*flow.sender {
        PlanSender::Tcp { cc, recovery, slow_start, credits, ns2, .. } => {
            Sender::Tcp { cc, recovery, slow_start, credits, ns2 }
        }
        PlanSender::Quic { cc, slow_start, .. } => Sender::Quic { cc, slow_start },
        PlanSender::Source { source, .. } => Sender::Source { source },
        PlanSender::Branch { .. } => Sender::Branch,
    };
    let numbers = |route: &[crate::ids::LinkId]| route.iter().map(|link| link.0).collect();
    Flow {
        id: &flow.name,
        path: &flow.path,
        src: flow.src.0,
        dst: flow.dst.0,
        start_s: flow.start.seconds(),
        stop_s: flow.stop.map(crate::units::Time::seconds),
        size_bytes: flow.size.map(|size| size.0),
        supplied: flow.supply.is_some(),
        dscp: flow.dscp.value(),
        sender,
        tcp: &flow.tcp,
        route: numbers(&flow.route),
        ack_route: numbers(&flow.ack_route),
        moves: flow.further.is_some() && !flow.is_sprayed(),
    }
}
