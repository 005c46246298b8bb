//! The timers of a run, and what each kind costs: those of queues, controls, applications, sources and wires.

use std::sync::Arc;

use super::Passages;
use crate::cc;
use crate::compile::plan::{LinkSettings, Plan, PlanFlow, PlanGroup, PlanSender, Schedule};
use crate::ids::LinkId;
use crate::qdisc::{self, QdiscEnv, QueueDisc};
use crate::record::Table;
use crate::tcp::Supply;
use crate::units::{Bytes, Span};

/// Interval of sampled tables where none is given [s].
const INTERVAL_S: f64 = 0.1;

/// Timers that one key of the scenario causes.
#[derive(Clone, Debug)]
pub(crate) struct Timers {
    /// The key.
    pub(crate) path: String,
    /// How often they run out.
    pub(crate) count: f64,
    /// Whether each is an event of the engine; samples of tables are not.
    pub(crate) are_events: bool,
}

/// All timers of a run, by key.
pub(crate) fn timers(plan: &Plan, passages: &Passages) -> Vec<Timers> {
    let mut all = Vec::new();
    of_links(plan, passages, &mut all);
    let mut last: Option<&Arc<str>> = None;
    let mut interval = None;
    for ((flow, sent), repeats) in plan.flows.iter().zip(&passages.sent).zip(&passages.repeats) {
        if !last.is_some_and(|last| Arc::ptr_eq(last, &flow.path)) {
            interval = interval_of_control(plan, flow);
        }
        let (key, count) = of_flow(plan, flow, *sent, interval);
        let count = count + repeats;
        // Flows of one definition follow each other.
        match all.last_mut() {
            Some(timers) if last.is_some_and(|last| Arc::ptr_eq(last, &flow.path)) => {
                timers.count += count;
            }
            _ => all.push(Timers { path: format!("{}{key}", flow.path), count, are_events: true }),
        }
        last = Some(&flow.path);
    }
    for (i, group) in plan.groups.iter().enumerate() {
        let path = format!("groups[{i}].layers");
        all.push(Timers { path, count: emissions(plan, group), are_events: true });
    }
    all.push(samples(plan));
    all
}

/// Timers of disciplines, ends of transmissions of all but computed FIFOs, releases of impairments, changes of rates.
fn of_links(plan: &Plan, passages: &Passages, all: &mut Vec<Timers>) {
    let duration_s = plan.duration.seconds();
    let mut last_discipline: Option<(&Arc<LinkSettings>, Events)> = None;
    let is_watched = plan.is_watched();
    let [mut timers, mut ends] = [Timers::none("net.qdisc"), Timers::none("net.qdisc")];
    let mut holds = Timers::none("links");
    for (link, &packets) in plan.links.iter().zip(&passages.links) {
        let settings = &link.settings;
        let is_impaired = settings.is_impaired();
        if plan.has_queue(settings) {
            let events = match last_discipline {
                Some((last, events)) if Arc::ptr_eq(last, settings) => events,
                _ => events_of(plan, settings),
            };
            last_discipline = Some((settings, events));
            if !events.can_judge || is_impaired || is_watched {
                ends.count += packets;
                ends.path.clone_from(&settings.qdisc_path);
            }
            if let Some(interval) = events.interval {
                timers.count += duration_s / interval.seconds().max(1e-12);
                timers.path = format!("{}.update", settings.qdisc_path);
            }
        }
        if is_impaired {
            holds.count += packets * settings.impairments.len().max(1) as f64;
            if !settings.impairments.is_empty() {
                holds.path.clone_from(&settings.impairments_path);
            }
        }
        if let Some(Schedule::Steps(steps)) = &settings.schedule {
            holds.count += steps.iter().filter(|step| step.0 <= plan.duration).count() as f64;
        }
    }
    all.extend([timers, ends, holds].into_iter().filter(|timers| timers.count > 0.0));
}

impl Timers {
    fn none(path: &str) -> Self {
        Self { path: path.to_owned(), count: 0.0, are_events: true }
    }
}

/// What events a discipline causes, which does not depend on its link.
#[derive(Clone, Copy, Default)]
struct Events {
    /// Interval of its timer.
    interval: Option<Span>,
    /// Whether departures are computed on arrival, but for long waits.
    can_judge: bool,
}

fn events_of(plan: &Plan, settings: &LinkSettings) -> Events {
    let env = QdiscEnv {
        rate: crate::units::BitRate(1_000_000),
        delay: Span::from_millis(1),
        limit: qdisc::Limit { packets: 100, bytes: 150_000 },
        mean_packet: 1500,
        keys: 2,
        passing: Arc::new([0, 1]),
        flows: 1,
        round_trips: Arc::new([Span::from_millis(1)]),
        facts: Arc::default(),
        era: plan.era,
    };
    let built: Result<Box<dyn QueueDisc>, _> =
        qdisc::build(&settings.qdisc, &env, &settings.qdisc_path);
    built.map_or(Events::default(), |disc| Events {
        interval: disc.timer_interval(),
        can_judge: disc.can_judge(),
    })
}

/// The interval of the timer of a flow's control, if it has one.
fn interval_of_control(plan: &Plan, flow: &PlanFlow) -> Option<Span> {
    let (PlanSender::Tcp { cc, .. } | PlanSender::Quic { cc, .. }) = &*flow.sender else {
        return None;
    };
    let env = plan.control_env(flow, flow.tcp.wire_size(), plan.era);
    cc::build(cc, &env, "").ok().and_then(|control| control.interval_after(plan.round_trip(flow)))
}

/// Timers of a flow that sends so many packets, and the key of its description that causes most; `interval` is of its
/// control.
fn of_flow(plan: &Plan, flow: &PlanFlow, sent: f64, interval: Option<Span>) -> (&'static str, f64) {
    let until = flow.stop.unwrap_or(plan.duration).min(plan.duration);
    let active_s = until.since(flow.start.min(until)).seconds();
    let (mut key, mut count) = match flow.supply.as_deref() {
        Some(Supply::Bursts(_, every)) => (".every", active_s / every.seconds().max(1e-12)),
        Some(Supply::Media(media, ..)) => (".media", active_s * media.fps),
        Some(Supply::Steps(_)) => (".app", sent),
        Some(Supply::Turns(turns)) => ("", turns.len() as f64),
        None => ("", 0.0),
    };
    match &*flow.sender {
        // Each packet of a source leaves by a timer; so do those of a connection that paces.
        PlanSender::Source { .. } => (key, count) = (".source", count + sent),
        PlanSender::Quic { streams, .. } => {
            let frames = streams.iter().flat_map(|streams| streams.iter());
            let frames = frames.map(|stream| active_s * stream.fps).sum::<f64>();
            if frames > 0.0 {
                key = ".streams";
            }
            count += frames + sent;
        }
        PlanSender::Tcp { control, .. } if PACED.contains(&&**control) => count += sent,
        PlanSender::Tcp { .. } | PlanSender::Branch { .. } => {}
    }
    if let Some(interval) = interval {
        // It runs as long as the flow does, a finite one at least as long as its bytes take at the rate of its links.
        let rate = |link: &LinkId| plan.links[link.index()].rate.bps();
        let narrowest_bps = flow.route.iter().map(rate).fold(f64::INFINITY, f64::min);
        let sending_s = 8.0 * f64::from(flow.tcp.wire_size()) * sent / narrowest_bps;
        let lasts_s = sending_s + plan.round_trip(flow).seconds();
        let lasts_s = if flow.size.is_some() { lasts_s.min(active_s) } else { active_s };
        count += lasts_s / interval.seconds().max(1e-12);
    }
    // Its start, and the timeouts of its acknowledgements.
    (key, count + 1.0)
}

/// Controls that pace over TCP.
const PACED: [&str; 13] = [
    "bbr", "bbr2", "bbr3", "c4", "c4-02", "copa", "dcqcn", "hpcc", "nscc", "prague", "scream",
    "timely", "vivace",
];

/// Times at which the source of a multicast group sends, whether a receiver holds the layer or not, at most.
fn emissions(plan: &Plan, group: &PlanGroup) -> f64 {
    let until = group.stop.unwrap_or(plan.duration).min(plan.duration);
    let active_s = until.since(group.start.min(until)).seconds();
    let bps: f64 = group.layers.iter().map(|layer| layer.bps()).sum();
    bps * active_s / (8.0 * f64::from(group.packet.max(1)))
}

/// Samples of tables.
fn samples(plan: &Plan) -> Timers {
    let record = &plan.record;
    let times = plan.duration.seconds() / record.interval.map_or(INTERVAL_S, Span::seconds);
    let count = |table: &Table| match table {
        Table::FlowSamples => times * plan.flows.len() as f64,
        Table::LinkSamples => times * plan.links.len() as f64,
        _ => 0.0,
    };
    let count = record.tables.iter().map(count).sum();
    Timers { path: "record.interval".to_owned(), count, are_events: false }
}

/// Packets that all flows have under way at most, each of which sends so many: what it sends at once, and its part of
/// twice what its links and the queue before the narrowest of them hold, which the flows share that it holds back.
pub(crate) fn under_way(plan: &Plan, sent: &[f64]) -> f64 {
    let narrowest = |flow: &PlanFlow| {
        let links = flow.route.iter().map(|link| link.index());
        links.min_by_key(|&link| plan.links[link].rate.0)
    };
    let mut sharers = vec![0u32; plan.links.len()];
    for link in plan.flows.iter().filter_map(narrowest) {
        sharers[link] += 1;
    }
    let of_flow = |(flow, &sent): (&PlanFlow, &f64)| {
        let Some(link) = narrowest(flow) else { return 0.0 };
        let (narrowest, sharers) = (&plan.links[link], f64::from(sharers[link]));
        let wire = flow.tcp.wire_size().max(1);
        let delays = flow.route.iter().map(|link| plan.links[link.index()].delay.seconds());
        let on_wires = narrowest.rate.bps() / 8.0 * delays.sum::<f64>() / f64::from(wire);
        let queued = narrowest.limit.in_packets(wire).unwrap_or(f64::INFINITY);
        let first = f64::from(flow.tcp.initial_window);
        let window = f64::from(flow.tcp.receiver_window);
        let mss = f64::from(flow.tcp.mss);
        let segments_of_size =
            flow.size.map_or(f64::INFINITY, |Bytes(size)| (size as f64 / mss).ceil());
        (2.0 * (on_wires + queued) / sharers).max(first).min(window).min(segments_of_size).min(sent)
    };
    plan.flows.iter().zip(sent).map(of_flow).sum()
}
