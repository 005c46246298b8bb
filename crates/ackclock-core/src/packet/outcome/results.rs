//! From the last state of a run to its results, with the books balanced.

use std::sync::Arc;

use crate::compile::{Plan, Schedule};
use crate::packet::network::counts::Counts;
use crate::packet::network::link::Link;
use crate::packet::outcome::observe::{DropRow, Event, LinkSample, PacketRow};
use crate::packet::turn::simulator::Sim;
use crate::record::{FlowSamples, Recorder};
use crate::tcp::Snapshot;
use crate::units::{PS_PER_S, Span};

/// What a flow did. Counts are over the whole run, rates and means over the measurement window.
#[derive(Clone, Debug)]
pub struct FlowResult {
    /// State of the sender at the end.
    pub sender: Snapshot,
    /// State of the receiver at the end.
    pub receiver: Snapshot,
    /// State of the sender at the end of the warm-up. Without one, all flows share that of none.
    pub sender_at_warmup: Arc<Snapshot>,
    /// State of the receiver at the end of the warm-up.
    pub receiver_at_warmup: Arc<Snapshot>,
    /// Data packets dropped; connection requests are none.
    pub lost_data: u64,
    /// Acknowledgements dropped.
    pub lost_acks: u64,
    /// Data packets dropped in the window.
    pub window_lost_data: u64,
    /// Packets still under way at the end: data, acknowledgements.
    pub under_way: [u64; 2],
}

/// What passed a link. Counts are over the whole run, ratios and means over the measurement window.
#[derive(Clone, Debug)]
pub struct LinkResult {
    /// Share of the capacity used.
    pub utilisation: f64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets whose transmission began.
    pub departed: u64,
    /// Bytes whose transmission began.
    pub departed_bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Acknowledgements among them.
    pub ack_drops: u64,
    /// Packets dropped in the window.
    pub window_drops: u64,
    /// Packets that arrived in the window.
    pub window_arrived: u64,
    /// Drops by reason.
    pub drops_by_reason: [u64; crate::wire::DropReason::COUNT],
    /// Packets marked.
    pub marks: u64,
    /// Packets waiting at the end.
    pub waiting: u64,
    /// Time average of the packets waiting.
    pub queue_mean: f64,
    /// 99th percentile over time of the packets waiting.
    pub queue_p99: f64,
    /// Mean waiting time of the packets that left, in seconds.
    pub delay_mean_s: f64,
}

/// Everything that a run leaves.
#[derive(Debug)]
pub struct Results {
    /// By flow.
    pub flows: Vec<FlowResult>,
    /// By directed link.
    pub links: Vec<LinkResult>,
    /// Event tables of the endpoints.
    pub recorder: Recorder,
    /// Table `packets` in order of time.
    pub packets: Vec<PacketRow>,
    /// Table `drops` in order of time.
    pub drops: Vec<DropRow>,
    /// Samples of flows.
    pub flow_samples: FlowSamples,
    /// Samples of links, interval by interval.
    pub link_samples: Vec<LinkSample>,
    /// Length of the measurement window in seconds.
    pub window_s: f64,
    /// One packet on one link, so many times.
    pub packet_hops: u64,
    /// Events handled: packet hops, timers, ends of transmission.
    pub events: u64,
    /// Batches in which they were handled.
    pub activations: u64,
    /// Outcomes that cannot be true or hint at a mistake in the scenario.
    pub warnings: Vec<String>,
    /// A fingerprint of every count and sum of the run: equal runs have equal digests.
    pub digest: u64,
}

pub(in crate::packet) fn finish(mut sim: Sim, plan: &Plan) -> Result<Results, String> {
    let end = sim.end;
    for p in 0..sim.processes.len() {
        sim.mark_ends(p, end);
    }
    for l in 0..sim.links.len() {
        sim.mark_link(l, end);
    }
    for link in &mut sim.links {
        link.settle_any(end + 1);
    }
    let window = Span(plan.duration.0 - plan.warmup.0);
    let mut books = Books { on_wires: sim.on_wires(), ..Books::default() };
    let mut links = Vec::with_capacity(plan.links.len());
    for l in 0..plan.links.len() {
        links.push(books.link(&mut sim, l, plan)?);
    }
    let mut flows = Vec::with_capacity(plan.flows.len());
    for f in 0..plan.flows.len() {
        flows.push(books.flow(&sim, f));
    }
    books.balance()?;

    let hops = sim.links.iter().map(Link::arrived).sum();
    let mut results = Results {
        window_s: window.seconds(),
        packet_hops: hops,
        events: hops + sim.events,
        activations: sim.activations,
        flows,
        links,
        warnings: Vec::new(),
        digest: books.digest,
        recorder: sim.observer.recorder,
        packets: sim.observer.packets,
        drops: sim.observer.drops,
        flow_samples: sim.observer.flow_samples.unwrap_or_default(),
        link_samples: sim.observer.link_samples.unwrap_or_default(),
    };
    // Processes ran out of step with each other; the tables are in order of time.
    results.packets.retain(|r| r.at <= plan.duration);
    results.packets.sort_by_key(|r| (r.at, r.event == Event::Departure, r.link));
    results.drops.sort_by_key(|r| (r.at, r.link));
    results.recorder.windows.sort_by_key(|r| (r.at, r.flow));
    results.recorder.rtts.sort_by_key(|r| (r.at, r.flow));
    results.recorder.states.sort_by_key(|r| (r.at, r.flow));
    results.warnings = warnings(&results, plan);
    Ok(results)
}

/// The books of the run: what was sent must have arrived, been dropped, or be under way.
#[derive(Default)]
struct Books {
    sent: u64,
    /// Copies that impairments made.
    copied: u64,
    received: u64,
    dropped: u64,
    on_wires: u64,
    in_queues: u64,
    digest: u64,
}

impl Books {
    fn note(&mut self, value: u64) {
        // FNV-1a over 64-bit words.
        self.digest =
            (self.digest ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17) ^ value;
    }

    fn link(&mut self, sim: &mut Sim, l: usize, plan: &Plan) -> Result<LinkResult, String> {
        let end = sim.end;
        let link = &mut sim.links[l];
        let counts = link.counts();
        let base = sim.observer.base.links.get(l).copied().unwrap_or_default();
        let (drops, marks) = (link.drops(), link.marks());
        let (waiting, _) = link.waiting();
        // What is lost on the wire has departed before.
        let (wire_lost, copies) = link.impaired().map_or((0, 0), |i| (i.lost, i.copies));
        if counts.arrived_packets + wire_lost
            != counts.departed_packets + counts.dropped_packets + waiting as u64
        {
            let name = plan.links[l].name(&plan.nodes);
            return Err(format!("link {name}: {counts:?}, {waiting} waiting"));
        }
        if link.disc.is_some() {
            self.in_queues += waiting as u64;
        }
        self.dropped += counts.dropped_packets;
        self.copied += copies;
        for value in [
            counts.arrived_packets,
            counts.departed_bytes,
            counts.dropped_packets,
            marks,
            counts.wait_ps as u64,
        ] {
            self.note(value);
        }
        let bits = (counts.departed_bytes - base.departed_bytes) as f64 * 8.0
            + sim.observer.base.bits_in_service.get(l).copied().unwrap_or_default()
            - link.bits_in_service(end);
        let capacity = link.rate.capacity_bits(plan.warmup.0, plan.duration.0);
        // At delivery opportunities the packet at an edge of the window may have gone in two parts, of
        // which only the last is known: up to a packet too many.
        let split = matches!(plan.links[l].settings.schedule, Some(Schedule::Mahimahi(_)));
        let most = if split { 1.0 } else { f64::INFINITY };
        let (queue_mean, queue_p99) = link.occupancy(end);
        let departed = counts.departed_packets - base.departed_packets;
        Ok(LinkResult {
            utilisation: if capacity > 0.0 { (bits / capacity).min(most) } else { 0.0 },
            arrived: counts.arrived_packets,
            departed: counts.departed_packets,
            departed_bytes: counts.departed_bytes,
            drops: counts.dropped_packets,
            ack_drops: drops.acks,
            window_drops: counts.dropped_packets - base.dropped_packets,
            window_arrived: counts.arrived_packets - base.arrived_packets,
            drops_by_reason: drops.by_reason,
            marks,
            waiting: waiting as u64,
            queue_mean,
            queue_p99,
            delay_mean_s: mean_wait(&counts, &base, departed),
        })
    }

    fn flow(&mut self, sim: &Sim, f: usize) -> FlowResult {
        let snapshot =
            |e: usize| sim.ends[e].endpoint.as_ref().map(|x| x.snapshot()).unwrap_or_default();
        let mut under_way = [0; 2];
        let lost = sim.losses[f];
        let copies = lost.copies;
        for (e, lost) in [(2 * f, lost.data + lost.requests), (2 * f + 1, lost.acks)] {
            // Disciplines do not tell whose packets wait; `balance` counts them all together.
            let done = sim.ends[e ^ 1].received + lost;
            under_way[e % 2] = (sim.ends[e].sent + copies[e % 2]).saturating_sub(done);
            self.sent += sim.ends[e].sent;
            self.received += sim.ends[e].received;
            self.note(sim.ends[e].sent);
            self.note(sim.ends[e].received);
            self.note(lost);
        }
        let sender = snapshot(2 * f);
        self.note(sender.cwnd.to_bits());
        self.note(sender.rtt_sum_s.to_bits());
        FlowResult {
            sender,
            receiver: snapshot(2 * f + 1),
            sender_at_warmup: sim.observer.base.end(2 * f),
            receiver_at_warmup: sim.observer.base.end(2 * f + 1),
            lost_data: lost.data,
            lost_acks: lost.acks,
            window_lost_data: lost.window_data,
            under_way,
        }
    }

    fn balance(&self) -> Result<(), String> {
        let Self { sent, copied, received, dropped, on_wires, in_queues, .. } = self;
        if sent + copied == received + dropped + on_wires + in_queues {
            return Ok(());
        }
        Err(format!(
            "{sent} packets sent and {copied} copied, but {received} received, {dropped} dropped, {on_wires} on wires and {in_queues} in queues"
        ))
    }
}

fn mean_wait(counts: &Counts, base: &Counts, departed: u64) -> f64 {
    if departed == 0 {
        0.0
    } else {
        (counts.wait_ps - base.wait_ps) as f64 / PS_PER_S as f64 / departed as f64
    }
}

/// Outcomes that are impossible, or so unlikely that the scenario should be looked at.
fn warnings(results: &Results, plan: &Plan) -> Vec<String> {
    let mut warnings = Vec::new();
    for (link, seen) in plan.links.iter().zip(&results.links) {
        if seen.utilisation > 1.0 + 1e-6 {
            warnings.push(format!(
                "link {}: utilisation {:.6} is above 1",
                link.name(&plan.nodes),
                seen.utilisation
            ));
        }
    }
    for (flow, seen) in plan.flows.iter().zip(&results.flows) {
        let narrow = flow
            .route
            .iter()
            .map(|l| plan.links[l.index()].rate.bps())
            .fold(f64::INFINITY, f64::min);
        let bits =
            (seen.receiver.delivered_bytes - seen.receiver_at_warmup.delivered_bytes) as f64 * 8.0;
        let scheduled =
            flow.route.iter().any(|l| plan.links[l.index()].settings.schedule.is_some());
        let end = flow.stop.map_or(plan.duration, |stop| stop.min(plan.duration));
        let active = Span(end.0.saturating_sub(flow.start.0.max(plan.warmup.0))).seconds();
        // A packet that was on its way when the window began is no wonder.
        let most = narrow * results.window_s * 1.001 + 8.0 * 65_536.0;
        // What had come out of order by then, and was delivered later.
        let before = &seen.receiver_at_warmup;
        let early = before
            .received_packets
            .saturating_sub(before.duplicate_packets + before.delivered_packets);
        let early = early * u64::from(flow.tcp.mss);
        if !scheduled && bits > most {
            let excess = "goodput is above the rate of its narrowest link";
            let reason = if bits > most + early as f64 * 8.0 {
                String::new()
            } else {
                format!(
                    ", as {early} B that had come by the end of the warm-up waited for a lost packet \
                     until later"
                )
            };
            warnings.push(format!("flow {}: {excess}{reason}", flow.name));
        }
        if active > 5.0 && seen.receiver.delivered_packets == 0 {
            warnings.push(format!("flow {}: nothing was delivered in {active:.1} s", flow.name));
        }
    }
    warnings.truncate(100);
    warnings
}
