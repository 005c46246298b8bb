//! What an end of a flow is: an endpoint, its deadline, its state.

use crate::outbox::Outbox;
use crate::record::{FlowSample, Recorder};
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{NO_RECORDS, Packet, PathRecords};

/// When an endpoint is due to be called, and when it decided so.
///
/// Events at one time run in the order in which they were scheduled, so the engine needs both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When [`Endpoint::on_timer`] is due; [`Time::MAX`] = never.
    pub at: Time,
    /// When this deadline was set.
    pub armed: Time,
}

impl Deadline {
    /// No deadline.
    pub const NEVER: Self = Self { at: Time::MAX, armed: Time::ZERO };
    /// No deadline, and [`Endpoint::failure`] says why the run must stop.
    pub const FAILED: Self = Self { at: Time::MAX, armed: Time::MAX };
}

/// What an endpoint may use during a call.
pub struct EndpointCtx<'a> {
    /// The present.
    pub now: Time,
    /// Where packets are sent; the engine puts them into the host's outgoing queue at once.
    pub out: &'a mut Outbox,
    /// Random numbers of this endpoint.
    pub rng: &'a mut Stream,
    /// Where observations go.
    pub record: &'a mut Recorder,
    /// What switches noted of packets.
    pub ports: &'a PathRecords,
}

impl<'a> EndpointCtx<'a> {
    /// A context in which no switch notes anything.
    pub fn new(
        now: Time,
        out: &'a mut Outbox,
        rng: &'a mut Stream,
        record: &'a mut Recorder,
    ) -> Self {
        Self { now, out, rng, record, ports: &NO_RECORDS }
    }
}

/// One end of a flow. Never reads a clock; has at most one deadline at a time.
pub trait Endpoint: Send {
    /// The flow's start time has come (senders), or the run begins (receivers).
    fn start(&mut self, ctx: &mut EndpointCtx<'_>);
    /// A packet of this flow arrived at this end.
    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>);
    /// The time of [`Self::deadline`] has come.
    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>);
    /// The earliest of this endpoint's own timers.
    fn deadline(&self) -> Deadline;
    /// Whether a transfer of given size is over at this end: all acknowledged (senders), all delivered (receivers).
    fn is_complete(&self) -> bool {
        false
    }
    /// Prefetches what a packet that arrives soon will touch outside of the endpoint itself.
    fn prefetch(&self) {}
    /// State now, for the summary.
    fn snapshot(&self) -> Snapshot;
    /// Fills in what this end knows of its flow's state now.
    fn sample(&self, row: &mut FlowSample);
    /// Packets of which it reads what switches noted ([`EndpointCtx::ports`]); 0: it reads nothing of it.
    fn reported_packets(&self) -> u32 {
        0
    }
    /// A message if this endpoint's control has failed and the run must stop.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// State and counters of an endpoint. A sender fills the sender's fields, a receiver the receiver's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Sender: cwnd in segments.
    pub cwnd: f64,
    /// Sender: ssthresh in segments.
    pub ssthresh: f64,
    /// Sender: segments in flight.
    pub in_flight: u32,
    /// Sender: smoothed RTT in seconds (0 before the first sample).
    pub srtt_s: f64,
    /// Sender: retransmission timeout in seconds.
    pub rto_s: f64,
    /// Sender: data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Sender: data bytes sent on the wire.
    pub sent_bytes: u64,
    /// Sender: retransmitted packets.
    pub retransmits: u64,
    /// Sender: retransmission timeouts.
    pub timeouts: u64,
    /// Sender: reductions of the window by loss recovery.
    pub recoveries: u64,
    /// Sender: reductions of the window by ECN.
    pub ecn_reductions: u64,
    /// Sender: times at which the validation of ECN failed and ended it (QUIC).
    pub ecn_failures: u64,
    /// Sender: reductions taken back, because nothing had been lost.
    pub spurious: u64,
    /// Sender: acknowledgements that arrived.
    pub acks_received: u64,
    /// Sender: sum of RTT samples in seconds.
    pub rtt_sum_s: f64,
    /// Sender: number of RTT samples.
    pub rtt_count: u64,
    /// Sender: smallest RTT sample in seconds (0 before the first).
    pub rtt_min_s: f64,
    /// Sender: inner state of the control, names and values.
    pub probes: Vec<(&'static str, f64)>,
    /// Sender: when all data was acknowledged, in seconds; 0 while it is not.
    pub completed_s: f64,
    /// Sender of a subflow: when all data of its connection was acknowledged, in seconds; 0 while it is not.
    pub connection_completed_s: f64,
    /// Receiver: payload bytes delivered in order (datagrams: bytes received).
    pub delivered_bytes: u64,
    /// Receiver: payload bytes that have arrived and wait for others before they are delivered.
    pub held_bytes: u64,
    /// Receiver: data packets delivered in order (datagrams: packets received).
    pub delivered_packets: u64,
    /// Receiver: data packets that arrived, duplicates included.
    pub received_packets: u64,
    /// Receiver: data packets that arrived and had been received before.
    pub duplicate_packets: u64,
    /// Receiver: headers that arrived without their payload, which a switch had cut off.
    pub trimmed_packets: u64,
    /// Receiver: acknowledgements sent (multicast: membership messages and announcements).
    pub acks_sent: u64,
    /// Receiver of a multicast group: layers held.
    pub layers: u32,
    /// Receiver of a multicast group: layers joined and left so far, each counted.
    pub layer_joins: u64,
    /// See [`Self::layer_joins`].
    pub layer_leaves: u64,
    /// Receiver of a multicast group: packets of held layers that are missing.
    pub missing_packets: u64,
}

impl Snapshot {
    /// Fills in a sample as a sender.
    pub fn sample_sender(&self, row: &mut FlowSample) {
        row.cwnd = self.cwnd as f32;
        row.ssthresh = self.ssthresh as f32;
        row.in_flight = self.in_flight;
        row.srtt_s = self.srtt_s as f32;
        row.sent_packets = self.sent_packets;
        row.retransmits = self.retransmits as u32;
    }
}
