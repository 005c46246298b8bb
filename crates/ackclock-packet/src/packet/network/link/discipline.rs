//! Calls to the queue discipline of a link.

use super::{Link, Service};
use crate::packet::network::rare::Managed;
use crate::packet::process::clock::Clock;
use crate::qdisc::QdiscCtx;
use crate::units::{Bytes, Span, Time};
use crate::wire::{DropReason, Flags, Packet, Timed};

impl<C: Clock> Link<C> {
    /// Settles the FIFO of packets that the discipline has judged, where it judges any.
    #[inline(always)]
    fn settle_before(&mut self, now: u64) {
        if self.waiting.next < now {
            self.settle_judged(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_judged(&mut self, now: u64) {
        self.settle(now);
    }

    /// Gives a packet to the discipline.
    pub(crate) fn enqueue(
        &mut self,
        packet: Packet,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        self.settle_before(now);
        let Some(managed) = &mut self.disc else { return };
        let present = C::ps(now);
        managed.report_rate(&self.rate, present);
        let Managed { disc, rng, queues, .. } = &mut **managed;
        let (time, seconds) = (Time(present), C::seconds(now));
        let mut ctx = QdiscCtx::new(time, seconds, rng, keys, dropped, queues);
        ctx.before = (self.waiting.len(), Bytes(self.waiting.backlog()));
        disc.enqueue(packet, &mut ctx);
        let marks = ctx.marks;
        self.occupancy.set(present, disc.len(), self.waiting.len());
        self.count_marks(marks);
    }

    /// Begins the transmission of the next packet of the discipline; returns the packet with the time of its
    /// arrival at the far end, a word of the clock.
    #[inline(always)]
    pub(crate) fn transmit(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) -> Option<Timed> {
        self.settle_before(now);
        let Some(managed) = &mut self.disc else { return None };
        let present = C::ps(now);
        managed.report_rate(&self.rate, present);
        let Managed { disc, rng, queues, .. } = &mut **managed;
        let (time, seconds) = (Time(present), C::seconds(now));
        let mut ctx = QdiscCtx::new(time, seconds, rng, keys, dropped, queues);
        let mut next = disc.dequeue(&mut ctx);
        let (marks, queue) = (ctx.marks, ctx.queue);
        self.occupancy.set(present, disc.len(), self.waiting.len());
        if let Some(Timed { at: arrived_at, packet }) = &mut next {
            let size = packet.size;
            let waited = present - arrived_at.0;
            self.wait_ps += u128::from(waited);
            if let Some(counts) = queues.get_mut(queue) {
                counts.depart(size, Span(waited));
            }
            if packet.flags.has(Flags::AQT) {
                packet.add_queued(Span(waited));
            }
            self.departed_packets += 1;
            self.departed_bytes += u64::from(size);
            let (end, arrival) = self.send(now, size);
            self.service = Service { start: now, end };
            self.serving = size;
            // The packet is changed in place: moving it right after it was written stalls.
            *arrived_at = Time(arrival);
        }
        self.count_marks(marks);
        next
    }

    /// After a [`Self::transmit`] that sent nothing: when the discipline sends what it holds back, a word of
    /// the clock later than `now`. `None` if nothing waits.
    #[inline(always)]
    pub(crate) fn held_until(&self, now: u64) -> Option<u64> {
        if self.occupancy.holds_nothing() { None } else { self.next_release(now) }
    }

    #[cold]
    #[inline(never)]
    fn next_release(&self, now: u64) -> Option<u64> {
        let ready = self.disc.as_ref()?.disc.ready_at()?.0;
        let word = C::word_after(now, ready);
        // A clock that rounds must neither stop nor be early.
        if word > now && C::ps(word) >= ready {
            return Some(word);
        }
        Some(C::after(word.max(now), C::word(1000)))
    }

    /// The transmitter rests from `now` until `end`, when the discipline may send again.
    pub(crate) fn rest_until(&mut self, end: u64) {
        // Nothing is in service before `end`.
        self.service = Service { start: end, end };
    }

    /// Runs the discipline's timer.
    pub(crate) fn run_timer(
        &mut self,
        now: u64,
        keys: &[[u32; 2]],
        dropped: &mut Vec<(Packet, DropReason)>,
    ) {
        if let Some(managed) = &mut self.disc {
            let present = C::ps(now);
            managed.report_rate(&self.rate, present);
            let Managed { disc, rng, queues, .. } = &mut **managed;
            let (time, seconds) = (Time(present), C::seconds(now));
            let mut ctx = QdiscCtx::new(time, seconds, rng, keys, dropped, queues);
            disc.on_timer(&mut ctx);
            let marks = ctx.marks;
            self.occupancy.set(present, disc.len(), self.waiting.len());
            self.count_marks(marks);
        }
    }
}
