//! The wire of a link with impairments. Packets that have been transmitted are held here until their
//! release, in order of release; from then on they take the link's propagation delay. The lookahead of such
//! a link is therefore its propagation delay alone.

use crate::packet::storage::ticket::Ticket;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::ids::FlowId;
use crate::impairment::{Fate, Impairment};
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Packet};

/// A packet that an impairment holds.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) ticket: Ticket,
    pub(crate) flow: FlowId,
    /// Why it is dropped at its release, if it is.
    pub(crate) lost: Option<DropReason>,
}

/// The impairments of a link, and the packets that they hold.
pub(crate) struct Impaired {
    chain: Vec<Box<dyn Impairment>>,
    rng: Stream,
    /// Release as a word of the clock, number in order of transmission, slot.
    order: BinaryHeap<Reverse<(u64, u64, u32)>>,
    slots: Vec<Option<Held>>,
    free: Vec<u32>,
    /// By flow, the slot of its newest acknowledgement that may still be replaced.
    acks: FxHashMap<FlowId, u32>,
    count: u64,
    /// When the latest packet reaches the far end.
    last: u64,
    /// Packets lost here, which have departed as well.
    pub(crate) lost: u64,
    /// Copies made.
    pub(crate) copies: u64,
}

impl Impaired {
    pub(crate) fn new(chain: Vec<Box<dyn Impairment>>, rng: Stream) -> Self {
        Self {
            chain,
            rng,
            order: BinaryHeap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            acks: FxHashMap::default(),
            count: 0,
            last: 0,
            lost: 0,
            copies: 0,
        }
    }

    /// Decides the fate of a packet whose transmission ends at `sent`.
    pub(crate) fn decide(&mut self, packet: &Packet, sent: Time) -> Fate {
        let mut fate = Fate::at(sent);
        for impairment in &mut self.chain {
            impairment.pass(packet, &mut fate, &mut self.rng);
            if fate.is_lost {
                fate.copies = 0;
                break;
            }
        }
        fate
    }

    /// Holds a packet until `release`, a word of the clock. If it `replaces` an acknowledgement of its flow
    /// that is held, the older one is dropped at its release.
    pub(crate) fn hold(&mut self, release: u64, packet: Held, replaces: bool) {
        let flow = packet.flow;
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(packet);
            slot
        } else {
            self.slots.push(Some(packet));
            self.slots.len() as u32 - 1
        };
        if replaces
            && let Some(older) = self.acks.insert(flow, slot)
            && let Some(older) = &mut self.slots[older as usize]
        {
            older.lost = Some(DropReason::Thinned);
        }
        self.order.push(Reverse((release, self.count, slot)));
        self.count += 1;
    }

    /// Removes and returns the packet that is released next.
    pub(crate) fn release(&mut self) -> Option<Held> {
        let Reverse((_, _, slot)) = self.order.pop()?;
        let packet = self.slots[slot as usize].take()?;
        self.free.push(slot);
        if self.acks.get(&packet.flow) == Some(&slot) {
            self.acks.remove(&packet.flow);
        }
        Some(packet)
    }

    /// When a packet that would arrive at the far end at `arrival` does so. Packets of one link never arrive at the
    /// same time, which would leave their order open: one is a unit of the clock behind the other.
    pub(crate) fn space_arrival(&mut self, arrival: u64) -> u64 {
        self.last = arrival.max(self.last.saturating_add(1));
        self.last
    }

    /// Packets held.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }
}

impl fmt::Debug for Impaired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} impairments, {} packets held", self.chain.len(), self.len())
    }
}
