//! Observations: tables that a run records beside its counters.
//!
//! A table that is not requested costs one predictable branch.

mod flow_samples;

use crate::ids::FlowId;
use crate::units::{Span, Time};

pub use flow_samples::FlowSamples;

/// Which tables are recorded event by event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// cwnd after every acknowledgement and timeout.
    pub windows: bool,
    /// Every RTT sample.
    pub rtts: bool,
    /// Every change of a sender's state.
    pub states: bool,
    /// Every drop.
    pub drops: bool,
    /// Every arrival at and departure from a queue.
    pub packets: bool,
    /// Every change of a receiver's layers.
    pub layers: bool,
}

/// A row of the `windows` table, written after every acknowledgement and timeout when recorded exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRow {
    /// Time of the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// cwnd in segments.
    pub cwnd: f64,
    /// ssthresh in segments.
    pub ssthresh: f64,
    /// Segments in flight.
    pub in_flight: u32,
    /// Next expected segment at the receiver, as acknowledged.
    pub acked: u32,
}

/// A sender's change of state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateRow {
    /// Time of the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// The state entered: `slow-start`, `avoidance`, `recovery`, `loss`, `idle`, `done`, or a state of the control.
    pub state: &'static str,
}

/// A flow at a sampling time. Each of its two ends fills in the fields that it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowSample {
    /// cwnd in segments.
    pub cwnd: f32,
    /// ssthresh in segments.
    pub ssthresh: f32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Smoothed RTT in seconds.
    pub srtt_s: f32,
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Payload bytes received, each once: those delivered and those that wait for a lost packet. An end that
    /// leaves it out holds nothing back.
    pub received_bytes: u64,
    /// Data packets sent.
    pub sent_packets: u64,
    /// Of them retransmissions.
    pub retransmits: u32,
}

/// An RTT sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttRow {
    /// Time of the event.
    pub at: Time,
    /// The flow.
    pub flow: FlowId,
    /// The sample.
    pub rtt: Span,
}

/// A change of the layers that a receiver of a multicast group holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayersRow {
    /// Time of the event.
    pub at: Time,
    /// The flow whose packets reach the receiver.
    pub flow: FlowId,
    /// Layers held from now on.
    pub layers: u32,
}

/// Collects the rows of one run.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The requested tables.
    pub wanted: Wanted,
    /// By flow, whether its rows are kept; flows beyond the list are kept.
    pub keep: Vec<bool>,
    /// Table `windows`.
    pub windows: Vec<WindowRow>,
    /// Table `rtts`.
    pub rtts: Vec<RttRow>,
    /// Table `states`.
    pub states: Vec<StateRow>,
    /// Table `layers`.
    pub layers: Vec<LayersRow>,
}

impl Recorder {
    fn keeps(&self, flow: FlowId) -> bool {
        self.keep.get(flow.index()).copied().unwrap_or(true)
    }

    /// Records a window if wanted.
    #[inline]
    pub fn window(&mut self, row: impl FnOnce() -> WindowRow) {
        if self.wanted.windows {
            let row = row();
            if self.keeps(row.flow) {
                self.windows.push(row);
            }
        }
    }

    /// Records an RTT sample if wanted.
    #[inline]
    pub fn rtt(&mut self, at: Time, flow: FlowId, rtt: Span) {
        if self.wanted.rtts && self.keeps(flow) {
            self.rtts.push(RttRow { at, flow, rtt });
        }
    }

    /// Records a change of a receiver's layers if wanted.
    pub fn layers(&mut self, row: impl FnOnce() -> LayersRow) {
        if self.wanted.layers {
            let row = row();
            if self.keeps(row.flow) {
                self.layers.push(row);
            }
        }
    }

    /// Records a change of state if wanted.
    #[inline]
    pub fn state(&mut self, at: Time, flow: FlowId, state: &'static str) {
        if self.wanted.states && self.keeps(flow) {
            self.states.push(StateRow { at, flow, state });
        }
    }
}
