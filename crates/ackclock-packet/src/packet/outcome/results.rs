//! The results of a run.

use std::sync::Arc;

use crate::endpoint::Snapshot;
use crate::packet::outcome::beginning::FoundWarmUp;
use crate::packet::outcome::fabric::PfcResult;
use crate::packet::outcome::link_sample::LinkSample;
use crate::qdisc::{QueueCounts, State};
use crate::record::{EventTables, FlowDelays, FlowSamples};

/// What a flow did. Counts are over the whole run, rates and means over the measurement window.
#[derive(Clone, Debug)]
pub struct FlowResult {
    /// State of the sender at the end.
    pub sender: Snapshot,
    /// State of the receiver at the end.
    pub receiver: Snapshot,
    /// State of the sender at the end of the warm-up. Without a warm-up, all flows share an empty one.
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
    /// Copies that impairments made: of data, of acknowledgements.
    pub copies: [u64; 2],
    /// When it started, in seconds; NaN if it waited for others until the end.
    pub start_s: f64,
    /// When all had arrived, in seconds, of a flow of a job or one that others wait for; otherwise NaN.
    pub arrived_s: f64,
}

impl FlowResult {
    /// Payload bytes that were delivered in the measurement window and arrived in it. What had arrived by the end of
    /// the warm-up and waited for a lost packet is of the time before, though its delivery is of the window: no link
    /// carried it there.
    pub fn window_bytes(&self) -> u64 {
        self.window_delivered_bytes().saturating_sub(self.receiver_at_warmup.held_bytes)
    }

    /// Payload bytes that were delivered in the measurement window, whenever they arrived.
    pub fn window_delivered_bytes(&self) -> u64 {
        self.receiver.delivered_bytes.saturating_sub(self.receiver_at_warmup.delivered_bytes)
    }
}

/// When all data of a connection was acknowledged, in seconds, of its subflows; 0: not yet.
pub(crate) fn connection_completed_s(subflows: &[FlowResult]) -> f64 {
    subflows.iter().map(|flow| flow.sender.connection_completed_s).fold(0.0, f64::max)
}

/// What passed a link. Counts are over the whole run, ratios and means over the measurement window.
#[derive(Clone, Debug)]
pub struct LinkResult {
    /// Share of the capacity used.
    pub utilisation: f64,
    /// Bits that it could send in the window.
    pub capacity_bits: f64,
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
    /// Packets whose payload was cut off.
    pub trims: u64,
    /// Packets waiting at the end.
    pub waiting: u64,
    /// Time average of the packets waiting.
    pub queue_mean: f64,
    /// 99th percentile over time of the packets waiting.
    pub queue_p99: f64,
    /// Mean waiting time of the packets that left, in seconds.
    pub delay_mean_s: f64,
    /// What passed the queues that its discipline distinguishes, in the measurement window.
    pub queues: Vec<QueueCounts>,
    /// What its discipline keeps at the end besides packets.
    pub state: State,
}

/// The results of a run.
#[derive(Debug)]
pub struct Results {
    /// By flow.
    pub flows: Vec<FlowResult>,
    /// By directed link.
    pub links: Vec<LinkResult>,
    /// What flow control did, by directed link; empty without switches.
    pub pfc: Vec<PfcResult>,
    /// Tables of events, in order of time.
    pub tables: EventTables,
    /// By flow, its delays; empty where there are too many flows.
    pub delays: Vec<FlowDelays>,
    /// Samples of flows.
    pub flow_samples: FlowSamples,
    /// Samples of links, interval by interval.
    pub link_samples: Vec<LinkSample>,
    /// The most recorded rows that were held when a piece was handed on; 0 if all stayed in memory.
    pub most_held_rows: usize,
    /// Length of the measurement window in seconds.
    pub window_s: f64,
    /// Packets times links: the arrivals at all links.
    pub packet_hops: u64,
    /// Events handled: packet hops, timers, ends of transmission.
    pub events: u64,
    /// Batches in which they were handled.
    pub activations: u64,
    /// Impossible outcomes, and outcomes that suggest a mistake in the scenario.
    pub warnings: Vec<String>,
    /// Warm-ups that were measured; none is looked for where the scenario names one.
    pub warm_ups: Vec<FoundWarmUp>,
    /// A fingerprint of every count and sum of the run: equal runs have equal digests.
    pub digest: u64,
}
