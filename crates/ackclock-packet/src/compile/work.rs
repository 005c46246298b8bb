//! Predicts the work of a run: the packets of each flow and the links that they pass.
//!
//! Each flow would send a volume: its transfer, what its application hands over, what its source makes, or as
//! much as its narrowest link, its windows and its slow start let through while it is active. Where the flows of a
//! link want more than it can carry while they are there, it is shared so that each gets the same rate or all
//! that it wants (max-min fairness, by the iteration of Charny, Clark and Jain, ICC 1995). Many short transfers
//! one after another get what they want each; many endless flows get equal shares.
//!
//! Besides packets there are timers (`work/timers.rs`): of queues, of controls, of applications and sources, of what
//! holds packets back. Losses and retransmissions are predicted for links with random loss alone; what other losses
//! and the algorithms' parameters do shows in a trial (`packet/setup/trial.rs`).

use super::plan::{Plan, PlanConnection, PlanFlow, PlanLink, PlanSender};
use crate::credits;
use crate::ids::{FlowId, LinkId};
use crate::scenario::{FrameStream, Scheduler};
use crate::tcp::Supply;
use crate::traffic::source::{self, Bundles, Offer, SourceEnv};
use crate::units::{Bytes, Span, Time};

/// Rounds of the iteration at most; each fixes the level of a link at least, and most fix nearly all.
const ROUNDS: usize = 16;
/// Change of a level below which the iteration ends.
const TOLERANCE: f64 = 0.01;

/// What a flow would send if its links were its own.
struct Want {
    /// On the wire [bytes].
    bytes: f64,
    /// Size of a packet on the wire [bytes].
    packet_bytes: f64,
    /// How long it sends [s].
    active_s: f64,
    /// Packets back for each packet that arrives.
    answers: f64,
    /// Packets of a connection's setup, one each way.
    setup: f64,
    /// Whether it sends less when the network carries less.
    responds: bool,
    /// Its round trip without queues [s].
    rtt_s: f64,
    /// Packets that its timer sends again, whatever the network carries.
    repeats: f64,
    /// What it sends before anything is acknowledged, whatever its links carry [bytes].
    first: f64,
}

/// Packets that are predicted at each place of a network.
#[derive(Clone, Debug, Default)]
pub struct Passages {
    /// By link, those that arrive.
    pub links: Vec<f64>,
    /// By flow, those that reach its receiver and its sender.
    pub ends: Vec<[f64; 2]>,
    /// By flow, those that its sender sends.
    pub sent: Vec<f64>,
    /// By flow, those of them that a timer sends again.
    pub repeats: Vec<f64>,
}

/// Predicts how many packets arrive at each link and at each end of a flow.
pub fn passages(plan: &Plan) -> Passages {
    let rates = rates(plan);
    let wants = wants(plan, &rates);
    let levels = levels(plan, &wants, &rates);
    let mut links = vec![0.0; plan.links.len()];
    let mut sent = Vec::with_capacity(plan.flows.len());
    let mut pass = |(flow, want): (&PlanFlow, &Want)| {
        let most = |link: usize| levels[link] * want.active_s;
        let narrowest = flow.route.iter().map(|l| most(l.index())).fold(f64::INFINITY, f64::min);
        let mut bytes = if want.responds { want.bytes.min(narrowest) } else { want.bytes };
        bytes = bytes.max(want.first);
        bytes += want.repeats * want.packet_bytes;
        let apart = want.packet_bytes;
        sent.push(bytes / apart + want.setup);
        // What is under way at the end has not passed all links: those far away are reached later.
        let late = |since: f64| (1.0 - since / want.active_s.max(f64::MIN_POSITIVE)).max(0.0);
        let setup = |since: f64| if since <= want.active_s { want.setup } else { 0.0 };
        let arriving = |bytes: f64, begun: f64| {
            // The first window leaves at one instant.
            let at_once = if begun <= want.active_s { bytes.min(want.first) } else { 0.0 };
            (bytes * late(begun)).max(at_once) / apart
        };
        let mut since = 0.0;
        let mut begun = want.setup * want.rtt_s;
        for link in &flow.route {
            let l = link.index();
            links[l] += arriving(bytes, begun) + setup(since);
            let carried = bytes.min(most(l)).min(rates[l] * want.active_s);
            bytes = carried * (1.0 - plan.links[l].settings.loss);
            let once = plan.links[l].delay.seconds();
            (since, begun) = (since + once, begun + once);
        }
        let there = bytes / apart * late(begun) + setup(since);
        // The last packet is acknowledged even where fewer than one acknowledgement waits for have come.
        let mut answers = there * want.answers;
        if want.answers > 0.0 && there > want.setup {
            answers = answers.max(1.0);
        }
        let mut back = answers;
        for link in &flow.ack_route {
            let l = link.index();
            links[l] += answers * late(begun) + setup(since);
            let once = plan.links[l].delay.seconds();
            (since, begun) = (since + once, begun + once);
            back = answers * late(begun) + setup(since);
        }
        [there, back]
    };
    let ends = plan.flows.iter().zip(&wants).map(&mut pass).collect();
    let repeats = wants.iter().map(|want| want.repeats).collect();
    Passages { links, ends, sent, repeats }
}

/// The rates of all links [B/s].
fn rates(plan: &Plan) -> Vec<f64> {
    let rate = |link: &PlanLink| {
        let nominal = link.rate.bps();
        let schedule = link.settings.schedule.as_ref();
        schedule.map_or(nominal, |schedule| schedule.mean_bps(nominal, plan.duration)) / 8.0
    };
    plan.links.iter().map(rate).collect()
}

/// What all flows would send; `rates` are of links [B/s].
fn wants(plan: &Plan, rates: &[f64]) -> Vec<Want> {
    // The sources of a host share its link, so each must know of the others before it is queried.
    let bundles = Bundles::default();
    let sources: Vec<_> = (0..plan.flows.len()).map(|f| source(plan, f, &bundles)).collect();
    let shares = connection_shares(plan, rates);
    let want = |f: usize| {
        let (flow, source) = (&plan.flows[f], &sources[f]);
        let until = flow.stop.unwrap_or(plan.duration).min(plan.duration);
        let active = until.since(flow.start.min(until));
        let active_s = active.seconds();
        let narrow = flow.route.iter().map(|l| rates[l.index()]).fold(f64::INFINITY, f64::min);
        let narrow = if narrow.is_finite() { narrow } else { 0.0 };
        let wire = f64::from(flow.tcp.wire_size());
        let mut want = Want {
            bytes: narrow * active_s,
            packet_bytes: wire,
            active_s,
            answers: 0.0,
            setup: 0.0,
            responds: true,
            rtt_s: 0.0,
            repeats: 0.0,
            first: 0.0,
        };
        match &*flow.sender {
            PlanSender::Tcp { .. } | PlanSender::Quic { .. } => {
                want.answers = 1.0 / f64::from(flow.tcp.delayed_ack.max(1)) + grants(plan, flow);
                want.setup = if flow.tcp.syn && active_s > 0.0 { 1.0 } else { 0.0 };
                let sizes = [flow.tcp.wire_size(), flow.tcp.ack_size].map(f64::from);
                want.rtt_s = round_trip(plan, flow, rates, sizes);
                let mut segments = segments(flow, until);
                segments = segments.min(windows(flow, want.rtt_s, active_s));
                if let Some(&share) = shares.get(f) {
                    segments = segments.min(share);
                }
                // What no link holds back leaves at once and is in the queue of the first, or lost there.
                let first = segments.min(f64::from(flow.tcp.first_window()));
                segments = segments.min(lossy(plan, flow, want.rtt_s, active_s).max(first));
                want.bytes = want.bytes.max(first * wire).min(segments.ceil() * wire);
                want.first = first * wire;
                want.repeats = repeats(flow, &want);
            }
            PlanSender::Branch { layers, .. } => {
                let rate: f64 = layers.iter().map(|layer| layer.bps() / 8.0).sum();
                want.bytes = want.bytes.min(rate * active_s);
            }
            PlanSender::Source { .. } => {
                if let Some(source) = source {
                    let Offer { packets, packet_bytes, answers } = source.offers(active);
                    (want.packet_bytes, want.answers) = (packet_bytes.max(1.0), answers);
                    let takes = want.bytes;
                    want.bytes = if packets.is_finite() {
                        packets * packet_bytes
                    } else {
                        pressed(plan, flow, rates, source.standing(), &want)
                    };
                    want.responds = !packets.is_finite() && want.bytes <= takes;
                }
            }
        }
        want
    };
    (0..plan.flows.len()).map(want).collect()
}

/// Grants for each packet of a flow whose receiver gives credit; none if the rule's parameters are wrong, which the check reports.
fn grants(plan: &Plan, flow: &PlanFlow) -> f64 {
    let PlanSender::Tcp { credits: Some(spec), .. } = &*flow.sender else { return 0.0 };
    let env = plan.credit_env(flow, flow.tcp.wire_size());
    credits::build(spec, &env, &flow.path).map_or(0.0, |rule| rule.grants_per_packet())
}

/// By flow, the segments of its connection that a subflow sends at most: of a finite one, as fast as its narrowest link lets it
/// beside its siblings; of all, what the window that they share lets through. Infinite for other flows, empty where there are no
/// connections.
fn connection_shares(plan: &Plan, rates: &[f64]) -> Vec<f64> {
    if plan.connections.is_empty() {
        return Vec::new();
    }
    let mut shares = vec![f64::INFINITY; plan.flows.len()];
    for connection in &plan.connections {
        let range = connection.flows.start as usize..connection.flows.end as usize;
        for (f, segments) in range.clone().zip(shared_windows(plan, connection, rates)) {
            shares[f] = segments;
        }
        let Some(size) = connection.size else { continue };
        let narrowest = |flow: &PlanFlow| {
            flow.route.iter().map(|link| rates[link.index()]).fold(f64::INFINITY, f64::min)
        };
        let all: f64 = plan.flows[range.clone()].iter().map(narrowest).sum();
        for f in range {
            let flow = &plan.flows[f];
            let segments = (size.0 as f64 / f64::from(flow.tcp.mss.max(1))).ceil();
            let part = match connection.scheduler {
                Scheduler::Redundant => 1.0,
                _ if all > 0.0 => narrowest(flow) / all,
                _ => 1.0,
            };
            shares[f] = shares[f].min((segments * part).ceil());
        }
    }
    shares
}

/// Segments that each subflow of a connection sends at most in the window of the receiver, which is one for all. In turns each
/// has an equal part of it, which moves on when the slowest has sent its own; else those with short round trips have more of
/// it, as they come back for more sooner. Where all send all data, each has the whole.
fn shared_windows(plan: &Plan, connection: &PlanConnection, rates: &[f64]) -> Vec<f64> {
    let flows = &plan.flows[connection.flows.start as usize..connection.flows.end as usize];
    let round_s: Vec<f64> = flows
        .iter()
        .map(|flow| {
            let sizes = [flow.tcp.wire_size(), flow.tcp.ack_size].map(f64::from);
            round_trip(plan, flow, rates, sizes).max(f64::MIN_POSITIVE)
        })
        .collect();
    let often: f64 = round_s.iter().map(|round| 1.0 / round).sum();
    let longest = round_s.iter().copied().fold(0.0, f64::max);
    let segments = |(flow, &own): (&PlanFlow, &f64)| {
        let until = flow.stop.unwrap_or(plan.duration).min(plan.duration);
        let active_s = until.since(flow.start.min(until)).seconds();
        let (part, round) = match connection.scheduler {
            Scheduler::Redundant => (1.0, own),
            Scheduler::RoundRobin => (1.0 / flows.len() as f64, longest),
            Scheduler::LowestRtt => (1.0 / own / often, own),
        };
        let in_round = f64::from(flow.tcp.receiver_window) * part;
        in_round * (active_s / round + 1.0)
    };
    flows.iter().zip(&round_s).map(segments).collect()
}

/// The source of a flow without TCP; none if its parameters are wrong, which the check reports.
fn source(plan: &Plan, f: usize, bundles: &Bundles) -> Option<Box<dyn source::Source>> {
    let flow = &plan.flows[f];
    let PlanSender::Source { source: spec, .. } = &*flow.sender else { return None };
    let first_link = flow.route.first().copied();
    let env = SourceEnv {
        flow: FlowId(f as u32),
        start: Span(flow.start.0),
        stop: flow.stop.map(|stop| Span(stop.0)),
        era: plan.era,
        first_link,
        access: first_link.map(|link| plan.links[link.index()].rate),
        peak: first_link.and_then(|link| plan.links[link.index()].peak()),
        bundles: bundles.clone(),
    };
    source::build(spec, &env, &flow.path).ok()
}

/// Segments that a flow's application hands over until a time: the parts of a transfer are of whole segments each.
fn segments(flow: &PlanFlow, until: Time) -> f64 {
    let mss = f64::from(flow.tcp.mss);
    let size = flow.size.map_or(f64::INFINITY, |size| (size.0 as f64 / mss).ceil());
    let active_s = until.since(flow.start).seconds();
    let handed_over = match flow.supply.as_deref() {
        None => match &*flow.sender {
            PlanSender::Quic { streams: Some(streams), .. } => {
                let of = |stream: &FrameStream| {
                    let frames = (stream.fps * active_s).ceil();
                    frames * (stream.size.0 as f64 / mss).ceil()
                };
                streams.iter().map(of).sum()
            }
            _ => f64::INFINITY,
        },
        Some(Supply::Bursts(size, every)) => {
            (size.0 as f64 / mss).ceil() * (active_s / every.seconds()).ceil()
        }
        // The first frame is there at the beginning. Beyond whole segments frames wait for more.
        Some(Supply::Media(media, ..)) => {
            let of_frame = media.max.bps() / 8.0 / media.fps / mss;
            (active_s * media.fps).ceil() * of_frame + 1.0
        }
        Some(Supply::Turns(turns)) => {
            // A turn follows the pause after the one before it.
            let mut left = active_s;
            let fits = |turn: &&(Bytes, Span)| {
                left -= turn.1.seconds();
                left + turn.1.seconds() > 0.0
            };
            let all = turns.iter().take_while(fits);
            all.map(|turn| (turn.0.0 as f64 / mss).ceil()).sum()
        }
        Some(Supply::Steps(steps)) => {
            // Before the first step all is there.
            let begins = [(flow.start, None)].into_iter().chain(steps.iter().copied());
            let ends = steps.iter().map(|step| step.0).chain([until]);
            let segments_of_steps = begins.zip(ends).map(|((begin, rate), end)| {
                let active = end.min(until).since(begin.max(flow.start)).seconds();
                let rate = rate.map_or(f64::INFINITY, |rate| rate.bps() / 8.0 / mss);
                if active > 0.0 { active * rate } else { 0.0 }
            });
            segments_of_steps.sum()
        }
    };
    size.min(handed_over)
}

/// Segments that a flow sends at most where its links lose packets at random: the rate of Reno, Padhye, Firoiu, Towsley,
/// Kurose, ACM SIGCOMM 1998, doi:10.1145/285243.285291, equation 32, or of CUBIC (RFC 9438 section 5), if that is more.
/// Controls that do not respond to losses send what they would without.
fn lossy(plan: &Plan, flow: &PlanFlow, rtt_s: f64, active_s: f64) -> f64 {
    const IGNORE: [&str; 8] = ["bbr", "bbr2", "bbr3", "c4", "c4-02", "vivace", "copa", "fast"];
    let passed = flow.route.iter().map(|l| 1.0 - plan.links[l.index()].settings.loss);
    let p = 1.0 - passed.product::<f64>();
    let name = match &*flow.sender {
        PlanSender::Tcp { control, .. } | PlanSender::Quic { control, .. } => &**control,
        _ => "",
    };
    if p <= 0.0 || rtt_s <= 0.0 || IGNORE.contains(&name) {
        return f64::INFINITY;
    }
    let b = f64::from(flow.tcp.delayed_ack.max(1));
    let rto_s = flow.tcp.min_rto.seconds().max(2.0 * rtt_s);
    let timeouts = rto_s * (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    let reno = 1.0 / (rtt_s * (2.0 * b * p / 3.0).sqrt() + timeouts);
    let cubic = 1.054 * (rtt_s / p).powf(0.75) / rtt_s;
    reno.max(if p < 0.05 { cubic } else { 0.0 }) * active_s
}

/// Bytes that a source sends which keeps `standing` packets in queues: what is missing in the queue of the narrowest
/// link is sent in each round trip and dropped there, unless a queue before it is long enough for all.
fn pressed(plan: &Plan, flow: &PlanFlow, rates: &[f64], standing: f64, want: &Want) -> f64 {
    let rtt = round_trip(plan, flow, rates, [want.packet_bytes, f64::from(flow.tcp.ack_size)]);
    let least = |a: &&LinkId, b: &&LinkId| rates[a.index()].total_cmp(&rates[b.index()]);
    let Some(narrowest) = flow.route.iter().min_by(least).filter(|_| rtt > 0.0) else {
        return want.bytes;
    };
    let room = |link: &LinkId| {
        let limit = plan.links[link.index()].limit.in_packets(want.packet_bytes as u32);
        limit.unwrap_or(f64::INFINITY)
    };
    let missing = (standing - room(narrowest)).max(0.0) * (want.active_s / rtt).floor();
    let passes = |link: &LinkId| rates[link.index()] * want.active_s + standing * want.packet_bytes;
    let long = flow.route.iter().filter(|link| room(link) >= standing);
    let most = long.map(passes).fold(f64::INFINITY, f64::min);
    (want.bytes + missing * want.packet_bytes).min(most.max(want.bytes))
}

/// Segments that TCP sends again before their acknowledgements can be there: its timer waits no longer than its most.
fn repeats(flow: &PlanFlow, want: &Want) -> f64 {
    let most_s = flow.tcp.max_rto.seconds();
    let is_tcp = matches!(&*flow.sender, PlanSender::Tcp { .. });
    if is_tcp && want.rtt_s > most_s && want.bytes > 0.0 { want.active_s / most_s } else { 0.0 }
}

/// Segments that slow start from the initial window, and the receiver's window, let a flow send at most.
fn windows(flow: &PlanFlow, rtt: f64, active_s: f64) -> f64 {
    let rounds = if rtt > 0.0 { active_s / rtt } else { f64::INFINITY };
    let rounds = rounds - f64::from(u8::from(flow.tcp.syn));
    // The request is under way.
    if rounds < 0.0 {
        return 0.0;
    }
    let initial = f64::from(flow.tcp.initial_window);
    // A window W grows by one segment for each of its W / d acknowledgements: by g = 1 + 1 / d in a round.
    // In n whole rounds and the one begun, W (1 + g + ... + g^n) are sent.
    let growth = 1.0 / f64::from(flow.tcp.delayed_ack.max(1));
    let slow_start = initial * ((1.0 + growth).powf(rounds.floor() + 1.0) - 1.0) / growth;
    let receiver = f64::from(flow.tcp.receiver_window) * (rounds + 1.0);
    slow_start.min(receiver)
}

/// Time over a flow's links without queues, there and back, of packets of two sizes [bytes], in s.
fn round_trip(plan: &Plan, flow: &PlanFlow, rates: &[f64], sizes: [f64; 2]) -> f64 {
    let pass = |(route, bytes): (&[LinkId], f64)| -> f64 {
        let once = |l: usize| plan.links[l].delay.seconds() + bytes / rates[l];
        route.iter().map(|link| once(link.index())).sum()
    };
    [&*flow.route, &*flow.ack_route].into_iter().zip(sizes).map(pass).sum()
}

/// The rate [B/s] at which each link cuts the flows that want more; infinite where none is cut.
fn levels(plan: &Plan, wants: &[Want], rates: &[f64]) -> Vec<f64> {
    #[derive(Clone, Copy)]
    struct Sum {
        /// While any of its flows is active.
        begin: f64,
        end: f64,
        /// What flows cut elsewhere, or not at all, send.
        bytes: f64,
        /// Activity of the others [s].
        active_s: f64,
    }
    let none = Sum { begin: f64::INFINITY, end: 0.0, bytes: 0.0, active_s: 0.0 };
    let mut sums = vec![none; rates.len()];
    for (flow, want) in plan.flows.iter().zip(wants) {
        let start = flow.start.seconds();
        for link in &flow.route {
            let sum = &mut sums[link.index()];
            sum.begin = sum.begin.min(start);
            sum.end = sum.end.max(start + want.active_s);
            sum.active_s += want.active_s;
        }
    }
    let room: Vec<f64> =
        sums.iter().zip(rates).map(|(sum, rate)| (sum.end - sum.begin).max(0.0) * rate).collect();
    let equal = |l: usize, active_s: f64| if active_s > 0.0 { room[l] / active_s } else { 0.0 };
    let least: Vec<f64> = sums.iter().enumerate().map(|(l, sum)| equal(l, sum.active_s)).collect();
    let mut levels = least.clone();
    for _ in 0..ROUNDS {
        for sum in &mut sums {
            (sum.bytes, sum.active_s) = (0.0, 0.0);
        }
        for (flow, want) in plan.flows.iter().zip(wants) {
            let rate = |link: &LinkId| levels[link.index()];
            let cuts = flow.route.iter().map(rate);
            let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
            for cut in cuts {
                (first, second) = if cut < first { (cut, first) } else { (first, second.min(cut)) };
            }
            for link in &flow.route {
                let level = levels[link.index()];
                let elsewhere = if level > first { first } else { second };
                let demand = want.bytes.min(elsewhere * want.active_s);
                let sum = &mut sums[link.index()];
                if demand <= level * want.active_s {
                    sum.bytes += demand;
                } else {
                    sum.active_s += want.active_s;
                }
            }
        }
        let mut moved = false;
        for (l, sum) in sums.iter().enumerate() {
            let left = room[l] - sum.bytes;
            let level = if sum.active_s > 0.0 {
                (left / sum.active_s).max(least[l])
            } else if left >= 0.0 {
                f64::INFINITY
            } else {
                least[l]
            };
            let before = std::mem::replace(&mut levels[l], level);
            moved |= level != before && (level / before - 1.0).abs() >= TOLERANCE;
        }
        if !moved {
            break;
        }
    }
    levels
}

pub(super) mod timers;

#[cfg(test)]
mod connection_tests;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;
