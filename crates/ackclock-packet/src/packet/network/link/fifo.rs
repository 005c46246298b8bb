//! Transmission of packets, and the computed FIFO of a link.

use super::Link;
use crate::packet::network::computed_fifo::{IS_LONG, IS_MARKED, LONG, Waiting};
use crate::packet::network::rate::Rate;
use crate::packet::process::clock::Clock;

impl<C: Clock> Link<C> {
    /// Removes the packets whose transmission began before `now` from the computed FIFO; returns whether a
    /// transmission begins exactly at `now`.
    #[inline(always)]
    pub(crate) fn settle(&mut self, now: u64) -> bool {
        if self.waiting.next < now {
            self.waiting.note_length();
            while self.waiting.next < now {
                self.begin_next();
            }
        }
        self.waiting.next == now
    }

    /// Begins the transmissions of the computed FIFO at `now` that were scheduled (the transmission before
    /// them began) earlier than `ahead` picoseconds before `now`.
    pub(crate) fn settle_tie(&mut self, now: u64, ahead: u64) {
        let sent = C::ps(now).saturating_sub(ahead);
        while self.waiting.next == now && C::ps(self.service.start) < sent {
            self.begin_next();
        }
    }

    /// Begins the transmission of the first packet that waits.
    #[inline(always)]
    pub(super) fn begin_next(&mut self) {
        let notes;
        (self.service.start, self.serving, notes) = self.waiting.begin::<C>(&mut self.occupancy);
        if notes != 0 {
            self.begin_noted(notes);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_noted(&mut self, notes: u64) {
        let rare = self.rare.get_or_insert_default();
        if notes & IS_LONG != 0 {
            rare.long_waits.pop_front();
        }
        rare.marks += u64::from(notes & IS_MARKED != 0);
    }

    /// Whether the settled computed FIFO accepts one more packet.
    #[inline(always)]
    fn has_room(&self, size: u16) -> bool {
        self.waiting.len() < self.limit_packets as usize
            && !(self.limits_bytes && self.waiting.backlog() + u64::from(size) > self.limit_bytes)
    }

    /// Offers a packet to the settled FIFO; returns the time of its arrival at the far end, or `None` if
    /// there is no room.
    #[inline(always)]
    pub(crate) fn admit(&mut self, now: u64, size: u16) -> Option<u64> {
        if !self.has_room(size) {
            return None;
        }
        Some(self.place(now, size, self.is_sending(now), 0))
    }

    /// Whether something is being sent at `now`; the FIFO is settled.
    #[inline(always)]
    pub(super) fn is_sending(&self, now: u64) -> bool {
        self.service.end > now || self.waiting.next != Waiting::NONE
    }

    /// Sends a packet after those that wait in the settled FIFO, or at once; returns the time of its arrival at the far
    /// end. `note` is 0 or [`IS_MARKED`].
    #[inline(always)]
    pub(super) fn place(&mut self, now: u64, size: u16, waits: bool, note: u64) -> u64 {
        self.departed_packets += 1;
        self.departed_bytes += u64::from(size);
        // `service.end` is when the last accepted packet has left.
        let free = self.service.end;
        let start = if waits {
            let present = C::ps(now);
            let wait = C::ps(free) - present;
            self.wait_ps += u128::from(wait);
            if wait >= LONG {
                self.note_long_wait(wait);
            }
            self.waiting.push(present, wait, free, size, note, &mut self.occupancy);
            free
        } else {
            self.service.start = now;
            self.serving = size;
            now
        };
        let (end, arrival) = self.send(start, size);
        self.service.end = end;
        arrival
    }

    #[cold]
    #[inline(never)]
    fn note_long_wait(&mut self, wait: u64) {
        self.rare.get_or_insert_default().long_waits.push_back(wait);
    }

    /// When a transmission that starts at `start` ends, and when its packet arrives at the far end.
    #[inline(always)]
    pub(super) fn send(&mut self, start: u64, size: u16) -> (u64, u64) {
        let transmission = if self.pace.is_constant() {
            self.pace.transmission(size)
        } else {
            self.transmission_at(start, size)
        };
        (C::after(start, transmission), C::arrival(start, transmission, self.delay))
    }

    /// The transmission time of a packet whose transmission starts at `start`, as a word of the clock.
    #[inline(never)]
    fn transmission_at(&mut self, start: u64, size: u16) -> u64 {
        if let Rate::Constant(rate) = self.rate {
            return C::transmission(rate, size);
        }
        let from = C::ps(start);
        let end = self.rate.end(from, size);
        C::word(end.saturating_sub(from))
    }

    /// When the transmission of the packet that the FIFO admitted last begins.
    pub(crate) fn latest_start(&self) -> u64 {
        self.waiting.last_start().unwrap_or(self.service.start)
    }
}
