//! What a list says: at given times given numbers of bytes.
//!
//! **Source**: none; a replay.
//!
//! **Rule**
//! ```text
//! each entry leaves at its time after the flow's start; one larger than `packet` leaves as
//! several packets back to back, all of `packet` bytes but the last
//! ```
//! Deviations: none. Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Offer, Outlet, PacketSizes, Source, SourceEnv};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::error::Problem;
use crate::record::FlowSample;
use crate::registry::{About, Info, Status};
use crate::traffic::packet_size;
use crate::units::{Bytes, Span, Time};
use crate::wire::Packet;

/// Parameters of the replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceParams {
    /// What leaves when, in order of time.
    #[schemars(extend("x-file" = true))]
    pub packets: Vec<TraceEntry>,
    /// Largest packet on the wire.
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
}

/// An entry of the list.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceEntry {
    /// When, counted from the flow's start.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// How many bytes on the wire.
    #[schemars(range(min = 1))]
    pub size: Bytes,
}

impl Default for TraceParams {
    fn default() -> Self {
        Self { packets: Vec::new(), packet: Bytes(1500) }
    }
}

/// The replay.
pub struct Trace {
    outlet: Outlet,
    packet: u16,
    entries: Vec<TraceEntry>,
    next: usize,
    origin: Time,
}

impl About<SourceEnv> for Trace {
    type Params = TraceParams;
    const INFO: Info = Info {
        name: "trace",
        title: "Replay of a list of packets",
        source: "none; a replay",
        status: Status::Variant,
    };

    fn new(params: TraceParams, env: &SourceEnv) -> Result<Self, Vec<Problem>> {
        let packet = packet_size(params.packet);
        if !params.packets.is_sorted_by_key(|e| e.at) {
            return Err(Problem::new("packets", "are not in order of time").into());
        }
        let entries = params.packets;
        Ok(Self { outlet: Outlet::new(env), packet, entries, next: 0, origin: Time::ZERO })
    }
}

impl Trace {
    fn arm_next(&mut self, now: Time) {
        let due = self.entries.get(self.next).map(|e| self.origin + e.at);
        self.outlet.arm(due, now);
    }
}

impl Source for Trace {
    fn packet_sizes(&self) -> PacketSizes {
        let most = u64::from(self.packet);
        // Each entry is full packets, and what is left over.
        let (smallest, largest) = self.entries.iter().fold((most, 0), |(small, large), entry| {
            (small.min((entry.size.0.max(1) - 1) % most + 1), large.max(entry.size.0.min(most)))
        });
        let largest = if self.entries.is_empty() { most } else { largest };
        PacketSizes { smallest: smallest as u16, largest: largest as u16, answer: 0 }
    }

    fn offers(&self, active: Span) -> Offer {
        let within = self.entries.iter().take_while(|entry| entry.at < active);
        let (packets, bytes) = within.fold((0, 0), |(packets, bytes), entry| {
            (packets + entry.size.0.div_ceil(u64::from(self.packet)), bytes + entry.size.0)
        });
        let packet_bytes = bytes as f64 / packets.max(1) as f64;
        Offer { packets: packets as f64, packet_bytes, answers: 0.0 }
    }
}

impl Endpoint for Trace {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.origin = ctx.now;
        self.arm_next(ctx.now);
    }

    fn on_packet(&mut self, _packet: Packet, _ctx: &mut EndpointCtx<'_>) {}

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if let Some(entry) = self.entries.get(self.next) {
            let mut left = entry.size.0;
            while left > 0 {
                let size = left.min(u64::from(self.packet));
                self.outlet.send(size as u16, ctx);
                left -= size;
            }
            self.next += 1;
        }
        self.arm_next(ctx.now);
    }

    fn deadline(&self) -> Deadline {
        self.outlet.deadline
    }

    fn snapshot(&self) -> Snapshot {
        self.outlet.snapshot()
    }

    fn sample(&self, row: &mut FlowSample) {
        self.snapshot().sample_sender(row);
    }
}
