//! A first-in first-out store of packets with its byte count: what a single-queue discipline holds.

use std::collections::VecDeque;

use super::QueueState;
use crate::memory::make_room_in_queue;
use crate::units::{Bytes, Time};
use crate::wire::{Packet, Timed};

/// Waiting packets in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Store {
    packets: VecDeque<Timed>,
    bytes: u64,
}

impl Store {
    /// Appends a packet that arrives at `now`.
    #[inline]
    pub(super) fn push(&mut self, now: Time, packet: Packet) {
        self.bytes += u64::from(packet.size);
        make_room_in_queue(&mut self.packets);
        self.packets.push_back(Timed { at: now, packet });
    }

    /// Removes the oldest packet.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Timed> {
        let oldest = self.packets.pop_front()?;
        self.bytes -= u64::from(oldest.packet.size);
        Some(oldest)
    }

    /// The packet that came last.
    pub(super) fn newest(&self) -> Option<&Packet> {
        self.packets.back().map(|last| &last.packet)
    }

    /// Removes the packet that came last.
    pub(super) fn pop_newest(&mut self) -> Option<Timed> {
        let newest = self.packets.pop_back()?;
        self.bytes -= u64::from(newest.packet.size);
        Some(newest)
    }

    /// Arrival of the oldest packet.
    #[inline]
    pub(super) fn oldest(&self) -> Option<Time> {
        self.packets.front().map(|first| first.at)
    }

    /// Packets held.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Bytes held.
    #[inline]
    pub(super) fn backlog(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// What an AQM is shown of this store when it decides about a packet of class `key`.
    #[inline]
    pub(super) fn state(&self, now: Time, key: u32) -> QueueState {
        QueueState { now, packets: self.len(), bytes: self.backlog(), key }
    }
}
