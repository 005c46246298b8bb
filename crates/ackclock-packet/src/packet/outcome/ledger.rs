//! The ledger of a run: conservation of packets, the digest, and the results of links and flows.

use crate::compile::{Plan, PlanLink, Schedule};
use crate::packet::network::counts::Counts;
use crate::packet::network::end::{End, Flows};
use crate::packet::network::link::Link;
use crate::packet::outcome::fabric::PfcResult;
use crate::packet::outcome::observe::Baseline;
use crate::packet::outcome::results::{FlowResult, LinkResult};
use crate::packet::process::clock::Clock;
use crate::qdisc::State;
use crate::units::{PS_PER_S, Time};

/// The ledger of a run: every packet sent was received or dropped, or is under way.
#[derive(Default)]
pub(crate) struct Ledger {
    sent: u64,
    /// Copies that impairments made.
    copied: u64,
    received: u64,
    dropped: u64,
    on_wires: u64,
    in_queues: u64,
    pub(crate) digest: u64,
}

impl Ledger {
    /// The ledger of a run with so many packets on wires.
    pub(crate) fn new(on_wires: u64) -> Self {
        Self { on_wires, ..Self::default() }
    }

    /// Adds a value to the digest, as FNV-1a over 64-bit words.
    fn add_to_digest(&mut self, value: u64) {
        self.digest =
            (self.digest ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17) ^ value;
    }

    /// Enters link `l` at `end` and returns its result.
    ///
    /// # Errors
    /// If its counts do not balance.
    pub(crate) fn add_link<C: Clock>(
        &mut self,
        link: &Link<C>,
        l: usize,
        end: u64,
        base: &Baseline,
        plan: &Plan,
    ) -> Result<LinkResult, String> {
        let counts = link.counts();
        let bits_at_warmup = base.bits_in_service.get(l).copied().unwrap_or_default();
        let base = base.links.get(l).copied().unwrap_or_default();
        let (drops, marks) = (link.drops(), link.marks());
        let (waiting, _) = link.waiting();
        // A packet lost on the wire has departed before.
        let (wire_lost, copies) = link.impaired().map_or((0, 0), |i| (i.lost, i.copies));
        if counts.arrived_packets + wire_lost
            != counts.departed_packets + counts.dropped_packets + waiting as u64
        {
            let name = plan.links[l].name(&plan.nodes);
            return Err(format!("link {name}: {counts:?}, {waiting} waiting"));
        }
        self.in_queues += link.held() as u64;
        self.dropped += counts.dropped_packets;
        self.copied += copies;
        for value in [
            counts.arrived_packets,
            counts.departed_bytes,
            counts.dropped_packets,
            marks,
            counts.wait_ps as u64,
        ] {
            self.add_to_digest(value);
        }
        let bits = (counts.departed_bytes - base.departed_bytes) as f64 * 8.0 + bits_at_warmup
            - link.bits_in_service(end);
        let capacity = link.rate.capacity_bits(plan.warmup.0, plan.duration.0);
        // With delivery opportunities the packet at an edge of the window may have been sent in two parts, of
        // which only the last is known: up to one packet too many.
        let split = matches!(plan.links[l].settings.schedule, Some(Schedule::Mahimahi(_)));
        let most = if split { 1.0 } else { f64::INFINITY };
        let used = if capacity > 0.0 { (bits / capacity).min(most) } else { 0.0 };
        let sent = counts.departed_packets - base.departed_packets;
        let rounding = rounding_share(sent, &plan.links[l], capacity);
        let (queue_mean, queue_p99) = link.occupancy(end);
        let departed = counts.departed_packets - base.departed_packets;
        Ok(LinkResult {
            utilisation: without_rounding(used, rounding),
            capacity_bits: capacity,
            arrived: counts.arrived_packets,
            departed: counts.departed_packets,
            departed_bytes: counts.departed_bytes,
            drops: counts.dropped_packets,
            ack_drops: drops.acks,
            window_drops: counts.dropped_packets - base.dropped_packets,
            window_arrived: counts.arrived_packets - base.arrived_packets,
            drops_by_reason: drops.by_reason,
            marks,
            trims: link.trims(),
            waiting: waiting as u64,
            queue_mean,
            queue_p99,
            delay_mean_s: mean_wait(&counts, &base, departed),
            queues: link.queues().to_vec(),
            state: link.disc.as_ref().map_or(State::default(), |managed| managed.disc.state()),
        })
    }

    /// Enters flow `f` and returns its result.
    pub(crate) fn add_flow<C: Clock>(
        &mut self,
        flows: &Flows<C>,
        f: usize,
        base: &Baseline,
    ) -> FlowResult {
        let ends = &flows.ends;
        let snapshot = |e: usize| ends[e].snapshot(e.is_multiple_of(2));
        let mut under_way = [0; 2];
        let lost = flows.losses[f];
        let copies = lost.copies;
        for (e, lost) in [(2 * f, lost.data + lost.requests), (2 * f + 1, lost.acks)] {
            // Disciplines do not report whose packets wait; `balance` counts them for all flows.
            let accounted = ends[e ^ 1].received + lost;
            under_way[e % 2] = (ends[e].sent + copies[e % 2]).saturating_sub(accounted);
            self.sent += ends[e].sent;
            self.received += ends[e].received;
            self.add_to_digest(ends[e].sent);
            self.add_to_digest(ends[e].received);
            self.add_to_digest(lost);
        }
        let seconds = |end: &End| {
            let has_come = end.moment != End::NEVER;
            if has_come { Time(C::ps(end.moment)).seconds() } else { f64::NAN }
        };
        let sender = snapshot(2 * f);
        self.add_to_digest(sender.cwnd.to_bits());
        self.add_to_digest(sender.rtt_sum_s.to_bits());
        FlowResult {
            sender,
            receiver: snapshot(2 * f + 1),
            sender_at_warmup: base.end(2 * f),
            receiver_at_warmup: base.end(2 * f + 1),
            lost_data: lost.data,
            lost_acks: lost.acks,
            window_lost_data: lost.window_data,
            under_way,
            copies,
            start_s: seconds(&ends[2 * f]),
            arrived_s: seconds(&ends[2 * f + 1]),
        }
    }

    /// Enters what flow control did.
    pub(crate) fn add_pauses(&mut self, pfc: &[PfcResult]) {
        for link in pfc {
            for value in [link.frames, link.paused_s.to_bits(), link.most_bytes] {
                self.add_to_digest(value);
            }
        }
    }

    /// Checks that packets were conserved.
    ///
    /// # Errors
    /// If they were not: the counts.
    pub(crate) fn balance(&self) -> Result<(), String> {
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

/// Rounding of the bits in service at the edges of the window, as a share of the window's capacity: far above
/// it, far below any real excess.
const ROUNDING: f64 = 1e-9;

/// The share of a capacity that rounding of transmission times can amount to: half a picosecond for each of so
/// many packets, and for those at the edges of the window.
pub(crate) fn rounding_share(packets: u64, link: &PlanLink, capacity: f64) -> f64 {
    let top = match &link.settings.schedule {
        Some(Schedule::Steps(steps)) => steps.iter().map(|step| step.1).max().unwrap_or(link.rate),
        _ => link.rate,
    };
    let bits = (packets + 2) as f64 * top.max(link.rate).bps() * 0.5 / PS_PER_S as f64;
    ROUNDING + if capacity > 0.0 { bits / capacity } else { 0.0 }
}

/// A share without the rounding that leads out of [0, 1]; what is further outside is a fault, and stays to be
/// reported.
fn without_rounding(share: f64, rounding: f64) -> f64 {
    if (-rounding..=1.0 + rounding).contains(&share) { share.clamp(0.0, 1.0) } else { share }
}
