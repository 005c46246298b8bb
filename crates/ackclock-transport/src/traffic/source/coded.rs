//! Erasure-coded sender: each packet of a source carries a new combination of a block, and nothing is sent again.
//!
//! A rateless code makes any number of different packets of a block; the receiver decodes the block from a few
//! more than the block has, whichever they are. Losses cost rate, never a retransmission. The source (`source`)
//! alone decides when packets leave; goodput counts the data of decoded blocks.
//!
//! **Source**: J. McCullough, B. Raghavan, A. C. Snoeren, "The Role of End-to-End Congestion Control in Networks
//! with Fairness-Enforcing Routers", 2010, section 3.3 (rateless codes; Achoo's Online codes with an overhead
//! of 3 %); P. Maymounkov, D. Mazieres, "Rateless Codes and Big Downloads", IPTPS 2003.
//!
//! **Rule** (k: `block`, epsilon: `overhead`)
//! ```text
//! a block of k data packets is decoded when ceil(k (1 + epsilon)) different packets have arrived
//! delivered: k packets, and k / ceil(k (1 + epsilon)) of the bytes that arrived, per decoded block
//! a packet that arrives twice counts once (it is remembered for 4096 packets)
//! ```
//! Deviations: an arrival always serves the oldest block that is not decoded: the sender is taken to know which
//! one that is, or to spread its packets over blocks, so that none is wasted on a decoded block. A block of a real
//! code fails with some probability, here never.
//!
//! Defaults by era: the same in all; a fire-hose, blocks of 1000 packets, an overhead of 3 %.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Offer, PacketSizes, Source, SourceEnv};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::error::Problem;
use crate::record::FlowSample;
use crate::registry::{About, Info, Spec, Status};
use crate::units::Span;
use crate::wire::Packet;

/// Packets for which the receiver remembers whether they have arrived.
const REMEMBERED: u32 = 4096;

/// Parameters of the erasure-coded sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodedParams {
    /// The source whose packets are coded, by name or as a table with its parameters; not `coded`.
    #[schemars(extend("x-room" = "source"))]
    pub source: Spec,
    /// Data packets of a block.
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub block: u32,
    /// Fraction by which more packets than the block has must arrive.
    #[schemars(range(min = 0))]
    pub overhead: f64,
}

impl Default for CodedParams {
    fn default() -> Self {
        Self { source: Spec::from("fire-hose"), block: 1000, overhead: 0.03 }
    }
}

/// The sender of coded packets: its source.
pub struct Coded {
    source: Box<dyn Source>,
    block: u64,
    needed: u64,
}

impl About<SourceEnv> for Coded {
    type Params = CodedParams;
    const INFO: Info = Info {
        name: "coded",
        title: "Erasure-coded sender",
        source: "McCullough et al. 2010, section 3.3; Maymounkov and Mazieres, IPTPS 2003",
        status: Status::Specified,
    };

    fn new(params: CodedParams, env: &SourceEnv) -> Result<Self, Vec<Problem>> {
        if params.source.kind() == Self::INFO.name {
            let message = "is itself coded; expected a source without a code";
            return Err(Problem::new("source", message).into());
        }
        let source = super::build(&params.source, env, "source")?;
        let block = u64::from(params.block);
        // A product that is whole but for rounding is that number.
        let needed = (f64::from(params.block) * (1.0 + params.overhead) - 1e-6).ceil();
        if needed > f64::from(u32::MAX) {
            let range = "so small that a block needs fewer than 4294967296 packets";
            return Err(Problem::out_of_range("overhead", params.overhead, range).into());
        }
        Ok(Self { source, block, needed: needed as u64 })
    }
}

impl Source for Coded {
    fn packet_sizes(&self) -> PacketSizes {
        self.source.packet_sizes()
    }

    fn offers(&self, active: Span) -> Offer {
        self.source.offers(active)
    }

    fn standing(&self) -> f64 {
        self.source.standing()
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(Decoder::new(self.source.receiver(), self.block, self.needed))
    }
}

impl Endpoint for Coded {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.source.start(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        self.source.on_packet(packet, ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.source.on_timer(ctx);
    }

    fn deadline(&self) -> Deadline {
        self.source.deadline()
    }

    fn snapshot(&self) -> Snapshot {
        self.source.snapshot()
    }

    fn sample(&self, row: &mut FlowSample) {
        self.source.sample(row);
    }
}

/// Which of the last packets have arrived.
struct Memory {
    /// One past the highest number that has arrived.
    next: u32,
    seen: Box<[bool]>,
}

impl Memory {
    fn new() -> Self {
        Self { next: 0, seen: vec![false; REMEMBERED as usize].into() }
    }

    /// Notes an arrival; false if it has been here before. Numbers wrap after 2^32 packets.
    fn note(&mut self, seq: u32) -> bool {
        let ahead = seq.wrapping_sub(self.next);
        if ahead < 1 << 31 {
            // The places of the numbers skipped, and of this one, are those of older packets.
            for skipped in 0..ahead.min(REMEMBERED) {
                self.seen[(self.next.wrapping_add(skipped) % REMEMBERED) as usize] = false;
            }
            self.next = seq.wrapping_add(1);
        } else if self.next.wrapping_sub(seq) <= REMEMBERED {
            return !std::mem::replace(&mut self.seen[(seq % REMEMBERED) as usize], true);
        } else {
            return true;
        }
        self.seen[(seq % REMEMBERED) as usize] = true;
        true
    }
}

/// Counts the blocks that can be decoded, and passes packets on to the source's receiver.
struct Decoder {
    receiver: Box<dyn Endpoint>,
    block: u64,
    needed: u64,
    memory: Memory,
    /// Different packets of the present block, and their bytes.
    packets: u64,
    bytes: u64,
    decoded: u64,
    decoded_bytes: u64,
    duplicates: u64,
}

impl Decoder {
    fn new(receiver: Box<dyn Endpoint>, block: u64, needed: u64) -> Self {
        Self {
            receiver,
            block,
            needed,
            memory: Memory::new(),
            packets: 0,
            bytes: 0,
            decoded: 0,
            decoded_bytes: 0,
            duplicates: 0,
        }
    }

    /// The share of data in the packets of the present block [bytes].
    fn data(&self) -> u64 {
        // No more than 65535 B a packet and 2^32 packets a block: the product fits in 80 bits.
        (u128::from(self.bytes) * u128::from(self.block) / u128::from(self.needed)) as u64
    }

    fn count(&mut self, packet: &Packet) {
        if !self.memory.note(packet.seq) {
            self.duplicates += 1;
            return;
        }
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        if self.packets == self.needed {
            self.decoded += 1;
            self.decoded_bytes += self.data();
            (self.packets, self.bytes) = (0, 0);
        }
    }
}

impl Endpoint for Decoder {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.receiver.start(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        self.count(&packet);
        self.receiver.on_packet(packet, ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.receiver.on_timer(ctx);
    }

    fn deadline(&self) -> Deadline {
        self.receiver.deadline()
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered_bytes: self.decoded_bytes,
            held_bytes: self.data(),
            delivered_packets: self.decoded * self.block,
            duplicate_packets: self.duplicates,
            ..self.receiver.snapshot()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.delivered_bytes = self.decoded_bytes;
    }
}

#[cfg(test)]
mod tests;
