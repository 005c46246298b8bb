//! A queue discipline whose transmitter can be paused.

use crate::qdisc::{QdiscCtx, QueueDisc, State};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// A discipline that sends nothing while it is held back: it then has no packet for the link, which is idle until it is
/// called again.
pub(crate) struct Pausable {
    inner: Box<dyn QueueDisc>,
    /// Whether the discipline holds back single queues itself.
    is_by_queue: bool,
    is_held: bool,
}

impl Pausable {
    /// Everything is held back, whatever the discipline can.
    pub(crate) const ALL: u32 = u32::MAX;

    pub(crate) fn new(mut inner: Box<dyn QueueDisc>) -> Self {
        let is_by_queue = inner.hold(0);
        Self { inner, is_by_queue, is_held: false }
    }
}

impl QueueDisc for Pausable {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        self.inner.enqueue(packet, ctx);
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        if self.is_held { None } else { self.inner.dequeue(ctx) }
    }

    fn ready_at(&self) -> Option<Time> {
        if self.is_held { None } else { self.inner.ready_at() }
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn backlog(&self) -> Bytes {
        self.inner.backlog()
    }

    fn timer_interval(&self) -> Option<Span> {
        self.inner.timer_interval()
    }

    fn on_timer(&mut self, ctx: &mut QdiscCtx<'_>) {
        self.inner.on_timer(ctx);
    }

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.inner.on_rate(now, rate);
    }

    fn state(&self) -> State {
        self.inner.state()
    }

    fn queues(&self) -> Vec<String> {
        self.inner.queues()
    }

    fn queue_of(&self, packet: &Packet) -> usize {
        self.inner.queue_of(packet)
    }

    fn hold(&mut self, queues: u32) -> bool {
        self.is_held = queues == Self::ALL || queues != 0 && !self.is_by_queue;
        if self.is_by_queue {
            self.inner.hold(queues);
        }
        self.is_by_queue
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.inner.probes(out);
    }
}
