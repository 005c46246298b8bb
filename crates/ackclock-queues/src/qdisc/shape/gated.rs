//! A token bucket at a queue discipline: what policer and shaper have in common.

use crate::error::{Problem, inside};
use crate::qdisc::shape::bucket::Bucket;
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State, build};
use crate::registry::Spec;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// The bucket and the discipline of what it lets pass, or what waits for it.
pub struct Parts {
    pub(super) bucket: Bucket,
    pub(super) queue: Box<dyn QueueDisc>,
}

/// Where the bucket is: what it does to packets that arrive and that are to leave.
pub trait Gate: Send {
    /// A packet arrives.
    fn enqueue(&mut self, state: &mut Parts, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        state.queue.enqueue(packet, ctx);
    }

    /// The link could send a packet.
    fn dequeue(&mut self, state: &mut Parts, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        state.queue.dequeue(ctx)
    }

    /// The packet that is out of the queue and waits for tokens.
    fn head(&self) -> Option<&Timed> {
        None
    }

    /// The rate at which the queue is emptied if that of the link is `rate`.
    fn passes(&self, rate: BitRate) -> BitRate {
        rate
    }
}

/// A queue discipline with a token bucket before or behind it.
pub struct Gated<G> {
    parts: Parts,
    gate: G,
}

impl<G> Gated<G> {
    /// With the queue discipline `spec`, left out plain FIFO, as on a link of `env`.
    pub(super) fn build(
        gate: G,
        bucket: Bucket,
        spec: Option<Spec>,
        env: &QdiscEnv,
    ) -> Result<Self, Vec<Problem>> {
        let spec = spec.unwrap_or_else(|| Spec::from("fifo"));
        let queue = build(&spec, env, "").map_err(|problems| inside("qdisc", problems))?;
        Ok(Self { parts: Parts { bucket, queue }, gate })
    }
}

impl<G: Gate> QueueDisc for Gated<G> {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        self.gate.enqueue(&mut self.parts, packet, ctx);
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.gate.dequeue(&mut self.parts, ctx)
    }

    fn ready_at(&self) -> Option<Time> {
        match self.gate.head() {
            Some(head) => Some(self.parts.bucket.ready_at(head.packet.size)),
            None => self.parts.queue.ready_at(),
        }
    }

    fn len(&self) -> usize {
        self.parts.queue.len() + usize::from(self.gate.head().is_some())
    }

    fn backlog(&self) -> Bytes {
        let head = self.gate.head().map_or(0, |head| u64::from(head.packet.size));
        Bytes(self.parts.queue.backlog().0 + head)
    }

    fn timer_interval(&self) -> Option<Span> {
        self.parts.queue.timer_interval()
    }

    fn on_timer(&mut self, ctx: &mut QdiscCtx<'_>) {
        self.parts.queue.on_timer(ctx);
    }

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.parts.queue.on_rate(now, self.gate.passes(rate));
    }

    fn state(&self) -> State {
        let queue = self.parts.queue.state();
        State { flows: queue.flows, bytes: queue.bytes + size_of::<Self>() as u64 }
    }

    fn queues(&self) -> Vec<String> {
        self.parts.queue.queues()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("tokens_bytes", self.parts.bucket.bytes());
        self.parts.queue.probes(out);
    }
}
