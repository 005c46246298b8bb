//! Packet pair: sends pairs, reads its share of the bottleneck from the spacing of their acknowledgements, and keeps
//! a set number of packets in the queue.
//!
//! A fair queue serves one packet of each flow per round. The packets of a pair leave it one round apart,
//! whatever the others send, so that the spacing is the inverse of the flow's share. From the share, the
//! propagation time and what is under way the sender predicts its queue, and corrects it within a round trip. Over
//! FIFO a pair leaves together: the spacing then shows the link's rate, not a share of it.
//!
//! **Source**: S. Keshav, "A Control-Theoretic Approach to Flow Control", SIGCOMM 1991, doi:10.1145/115992.115995;
//! S. Keshav, "Packet-Pair Flow Control", 1994. Reconstructed from their abstracts and from the law as textbooks
//! give it; the texts were not to be had.
//!
//! **Rule** (S: packets sent and neither acknowledged nor lost, R: smallest round trip, F: mean round trip)
//! ```text
//! pair acknowledged at t1 < t2:  mu <- (1 - gain) mu + gain / (t2 - t1)
//! each acknowledgement:          x = S - mu R,   lambda = mu + (set_point - x) / F,  at least a pair per F
//! a pair leaves every 2 / lambda; before the first estimate there is one pair
//! lost: three later packets are acknowledged;  no acknowledgement for 4 F (first 1 s): all are lost, one pair
//! ```
//! x is the queue when the last packet sent arrives there: the packets that are on their way reach it, while
//! mu R are served. It is at the set point just before a pair leaves, and on average a packet above.
//!
//! Deviations: the estimator of mu is an exponential mean in place of the source's, of
//! fuzzy logic; acknowledgements that come closer together than packets leave the host count as if they came so
//! far apart (the network may gather them, as Wi-Fi does); the set point is fixed; losses are not repaired (`coded` makes good for them).
//!
//! Defaults by era: the same in all.

mod echo;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::echo::Echo;
use super::{Offer, Outlet, PacketSizes, Source, SourceEnv};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::error::Problem;
use crate::record::FlowSample;
use crate::registry::{About, Info, Status};
use crate::traffic::packet_size;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::Packet;

/// Later packets that are acknowledged before one is taken for lost.
const LATER: usize = 3;
/// Time without an acknowledgement before the first round trip is known [s].
const FIRST_PATIENCE: f64 = 1.0;
/// Round trips without an acknowledgement after which all packets are taken for lost.
const PATIENCE: f64 = 4.0;
/// Packets under way at most, as of TCP.
const MOST_UNDER_WAY: u32 = 1 << 23;
/// Weight of a sample in the mean round trip.
const RTT_WEIGHT: f64 = 0.125;

/// Parameters of packet pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PacketPairParams {
    /// Packet size on the wire.
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
    /// Packets to keep in the queue of the bottleneck.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "packets"))]
    pub set_point: f64,
    /// Weight of the newest spacing in the estimate of the service rate.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub gain: f64,
}

impl Default for PacketPairParams {
    fn default() -> Self {
        Self { packet: Bytes(1000), set_point: 5.0, gain: 0.1 }
    }
}

/// A packet that is under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    acked: bool,
}

/// The sender of packet pairs.
pub struct PacketPair {
    outlet: Outlet,
    size: u16,
    set_point: f64,
    gain: f64,
    /// Packets leave the host at most so fast [packets/s].
    fastest: f64,
    /// Packets from number `first` on, the first neither acknowledged nor lost.
    sent: VecDeque<Sent>,
    first: u32,
    outstanding: u32,
    /// One past the highest number acknowledged, counted from `first`.
    reached: usize,
    /// The first packet of a pair and when it was acknowledged.
    half: Option<(u32, Time)>,
    /// Service rate [packets/s], smallest and mean round trip [s].
    service: Option<f64>,
    least_rtt: f64,
    rtt: Option<f64>,
    /// Rate [packets/s] and the queue predicted.
    rate: f64,
    queue: f64,
    /// When the last pair left, when the next one does, and until when an acknowledgement must come.
    last: Time,
    next: Deadline,
    silence: Deadline,
    acks: u64,
    lost: u64,
    timeouts: u64,
}

impl About<SourceEnv> for PacketPair {
    type Params = PacketPairParams;
    const INFO: Info = Info {
        name: "packet-pair",
        title: "Packet-pair flow control",
        source: "Keshav, A Control-Theoretic Approach to Flow Control, SIGCOMM 1991, \
                 doi:10.1145/115992.115995",
        status: Status::Reconstructed,
    };

    fn new(params: PacketPairParams, env: &SourceEnv) -> Result<Self, Vec<Problem>> {
        let size = packet_size(params.packet);
        let apart = |peak: BitRate| peak.transmission(Bytes(u64::from(size))).seconds();
        Ok(Self {
            outlet: Outlet::new(env),
            size,
            fastest: env.peak.map_or(f64::INFINITY, |peak| apart(peak).recip()),
            set_point: params.set_point,
            gain: params.gain,
            sent: VecDeque::with_capacity(64),
            first: 0,
            outstanding: 0,
            reached: 0,
            half: None,
            service: None,
            least_rtt: f64::INFINITY,
            rtt: None,
            rate: 0.0,
            queue: 0.0,
            last: Time::ZERO,
            next: Deadline::NEVER,
            silence: Deadline::NEVER,
            acks: 0,
            lost: 0,
            timeouts: 0,
        })
    }
}

impl PacketPair {
    fn send_pair(&mut self, ctx: &mut EndpointCtx<'_>) {
        for _ in 0..2 {
            self.outlet.send(self.size, ctx);
            self.sent.push_back(Sent { at: ctx.now, acked: false });
            self.outstanding += 1;
        }
        if self.silence == Deadline::NEVER {
            self.await_ack(ctx.now);
        }
    }

    fn await_ack(&mut self, now: Time) {
        let patience = self.rtt.map_or(FIRST_PATIENCE, |rtt| PATIENCE * rtt);
        self.silence = Deadline { at: now + Span::from_seconds(patience), armed: now };
    }

    /// Takes the packet of this number off the list; false if it is not there.
    fn take(&mut self, number: u32, now: Time) -> bool {
        let index = number.wrapping_sub(self.first) as usize;
        let Some(sent) = self.sent.get_mut(index).filter(|sent| !sent.acked) else { return false };
        sent.acked = true;
        self.outstanding -= 1;
        let sample = now.since(sent.at).seconds();
        self.least_rtt = self.least_rtt.min(sample);
        self.rtt = Some(self.rtt.map_or(sample, |mean| mean + RTT_WEIGHT * (sample - mean)));
        self.reached = self.reached.max(index + 1);
        while let Some(front) = self.sent.front() {
            if !front.acked {
                if self.reached <= LATER {
                    break;
                }
                self.lost += 1;
                self.outstanding -= 1;
            }
            self.sent.pop_front();
            self.first = self.first.wrapping_add(1);
            self.reached = self.reached.saturating_sub(1);
        }
        true
    }

    /// Takes the spacing of a pair into the estimate.
    fn measure(&mut self, number: u32, now: Time) {
        if number.is_multiple_of(2) {
            self.half = Some((number, now));
            return;
        }
        let Some((first, first_at)) = self.half.take() else { return };
        let spacing = now.since(first_at).seconds();
        if first.wrapping_add(1) == number && spacing > 0.0 {
            let sample = spacing.recip().min(self.fastest);
            let mean = self.service.unwrap_or(sample);
            self.service = Some(mean + self.gain * (sample - mean));
        }
    }

    /// The control law.
    fn control(&mut self, now: Time) {
        let (Some(service), Some(rtt)) = (self.service, self.rtt) else { return };
        self.queue = f64::from(self.outstanding) - service * self.least_rtt;
        self.rate = (service + (self.set_point - self.queue) / rtt).max(2.0 / rtt);
        let due = self.last + Span::from_seconds(2.0 / self.rate).max(Span(1));
        // Pairs that leave at one time, as a huge set point requests, would fill the memory.
        let has_room = self.outstanding < MOST_UNDER_WAY;
        self.next =
            if has_room { Deadline { at: due.max(now), armed: now } } else { Deadline::NEVER };
    }
}

impl Source for PacketPair {
    fn packet_sizes(&self) -> PacketSizes {
        PacketSizes::equal(self.size, echo::ACK_SIZE)
    }

    fn offers(&self, _active: Span) -> Offer {
        Offer { packets: f64::INFINITY, packet_bytes: f64::from(self.size), answers: 1.0 }
    }

    fn standing(&self) -> f64 {
        self.set_point.min(f64::from(MOST_UNDER_WAY))
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(Echo::new(self.outlet.flow))
    }
}

impl Endpoint for PacketPair {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        if ctx.now < self.outlet.stop {
            self.last = ctx.now;
            self.send_pair(ctx);
        }
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if !packet.is_ack() || ctx.now >= self.outlet.stop || !self.take(packet.seq, ctx.now) {
            return;
        }
        self.acks += 1;
        self.measure(packet.seq, ctx.now);
        self.await_ack(ctx.now);
        self.control(ctx.now);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        if self.silence.at <= now {
            self.timeouts += 1;
            self.lost += u64::from(self.outstanding);
            self.first = self.first.wrapping_add(self.sent.len() as u32);
            self.sent.clear();
            (self.outstanding, self.reached, self.half) = (0, 0, None);
            self.silence = Deadline::NEVER;
            (self.last, self.next) = (now, Deadline::NEVER);
            self.send_pair(ctx);
        } else if self.next.at <= now {
            // Places follow each other without the rounding of the clock; a late one is not made up for.
            self.last = self.next.at;
            self.send_pair(ctx);
            self.control(now);
        }
    }

    fn deadline(&self) -> Deadline {
        let first = if self.silence.at < self.next.at { self.silence } else { self.next };
        if first.at < self.outlet.stop { first } else { Deadline::NEVER }
    }

    fn snapshot(&self) -> Snapshot {
        let bits = 8.0 * f64::from(self.size);
        Snapshot {
            in_flight: self.outstanding,
            srtt_s: self.rtt.unwrap_or(0.0),
            rtt_min_s: if self.least_rtt.is_finite() { self.least_rtt } else { 0.0 },
            timeouts: self.timeouts,
            acks_received: self.acks,
            probes: vec![
                ("service_rate_bps", bits * self.service.unwrap_or(0.0)),
                ("rate_bps", bits * self.rate),
                ("queue_packets", self.queue),
                ("lost_packets", self.lost as f64),
            ],
            ..self.outlet.snapshot()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        self.snapshot().sample_sender(row);
    }
}

#[cfg(test)]
mod tests;
