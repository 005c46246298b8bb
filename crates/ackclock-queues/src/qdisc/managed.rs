//! One FIFO store under an AQM: every discipline that has one queue, from drop-tail to SFB.
//!
//! The AQM decides about arrivals and departures; this discipline stores, marks and drops. An
//! arrival that finds no room is dropped before the AQM is consulted, unless the AQM's source makes the
//! limit part of its rule (see [`Plain::limit`]).

use super::aqm::Prototype;
use super::store::Store;
use super::{Aqm, Judgement, Limit, QdiscCtx, QdiscEnv, QueueDisc, QueueState, State, Verdict};
use crate::error::Problem;
use crate::registry::{About, Fact, Info};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{DropReason, Flags, Packet, Timed};

/// An AQM that can be a link's discipline on its own.
pub trait Plain: Aqm + About<QdiscEnv> {
    /// The limit of the store around this AQM. [`Limit::NONE`] if the AQM itself refuses arrivals
    /// that find the buffer full.
    fn limit(env: &QdiscEnv) -> Limit {
        env.limit
    }
}

/// A FIFO store under the AQM `A`, registered under the AQM's own name.
#[derive(Debug)]
pub struct Managed<A> {
    store: Store,
    limit: Limit,
    pub(super) aqm: A,
}

impl<A: Plain> About<QdiscEnv> for Managed<A> {
    type Params = A::Params;
    const INFO: Info = A::INFO;
    const ALSO: &'static [&'static str] = A::ALSO;
    const FACTS: &'static [Fact] = A::FACTS;

    fn new(params: A::Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { store: Store::default(), limit: A::limit(env), aqm: A::new(params, env)? })
    }
}

impl<A: Aqm> Managed<A> {
    /// A store of at most `limit` under an AQM that is not in the registry.
    pub fn over(aqm: A, limit: Limit) -> Self {
        Self { store: Store::default(), limit, aqm }
    }

    /// Decides about an arriving packet.
    #[inline]
    fn decide(&mut self, packet: &Packet, ctx: &mut QdiscCtx<'_>) -> Verdict {
        let (packets, bytes) = ctx.before;
        let packets = packets + self.store.len();
        let bytes = Bytes(bytes.0 + self.store.backlog().0);
        if !self.limit.admits(packets, bytes, packet.size) {
            self.aqm.on_overflow();
            return Verdict::Drop(DropReason::Overflow);
        }
        if let Some(seconds) = ctx.seconds {
            self.aqm.on_clock(seconds);
        }
        let state = QueueState { now: ctx.now, packets, bytes, key: ctx.key(packet) };
        self.aqm.on_enqueue(packet, &state, ctx.rng)
    }
}

/// Carries out a verdict: the packet if it may go on, `None` if it was dropped.
#[inline]
pub(super) fn execute(
    verdict: Verdict,
    mut packet: Packet,
    ctx: &mut QdiscCtx<'_>,
) -> Option<Packet> {
    let reason = match verdict {
        Verdict::Pass => return Some(packet),
        Verdict::MarkElseDrop(reason) => {
            if ctx.mark(&mut packet) {
                return Some(packet);
            }
            reason
        }
        Verdict::Drop(reason) => reason,
    };
    ctx.drop(packet, reason);
    None
}

impl<A: Aqm> QueueDisc for Managed<A> {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let verdict = self.decide(&packet, ctx);
        if let Some(packet) = execute(verdict, packet, ctx) {
            self.store.push(ctx.now, packet);
        }
    }

    fn can_judge(&self) -> bool {
        self.aqm.can_foresee() && self.aqm.timer_interval().is_none()
    }

    fn judge(&mut self, packet: &Packet, wait: Span, ctx: &mut QdiscCtx<'_>) -> Judgement {
        let at_departure = match self.aqm.foresee(packet, wait) {
            Some(Verdict::Pass) => Judgement::Pass,
            Some(Verdict::MarkElseDrop(_)) if packet.flags.has(Flags::ECT) => {
                Judgement::MarkAtDeparture
            }
            _ => return Judgement::Unknown,
        };
        match self.decide(packet, ctx) {
            Verdict::Pass => at_departure,
            Verdict::MarkElseDrop(_) if packet.flags.has(Flags::ECT) => Judgement::MarkNow,
            Verdict::MarkElseDrop(reason) | Verdict::Drop(reason) => Judgement::Drop(reason),
        }
    }

    fn note_idle(&mut self, at: Time, seconds: Option<f64>) {
        if let Some(seconds) = seconds {
            self.aqm.on_clock(seconds);
        }
        self.aqm.on_idle(at);
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        while let Some(Timed { at: arrived_at, packet }) = self.store.pop() {
            let state = self.store.state(ctx.now, ctx.key(&packet));
            let verdict = self.aqm.on_dequeue(&packet, arrived_at, &state, ctx.rng);
            if let Some(packet) = execute(verdict, packet, ctx) {
                return Some(Timed { at: arrived_at, packet });
            }
        }
        self.note_idle(ctx.now, ctx.seconds);
        None
    }

    fn len(&self) -> usize {
        self.store.len()
    }

    fn backlog(&self) -> Bytes {
        self.store.backlog()
    }

    fn timer_interval(&self) -> Option<Span> {
        self.aqm.timer_interval()
    }

    fn on_timer(&mut self, ctx: &mut QdiscCtx<'_>) {
        self.aqm.on_timer(&self.store.state(ctx.now, QueueState::NOBODY));
    }

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.aqm.on_rate(now, rate);
    }

    fn state(&self) -> State {
        self.aqm.state()
    }

    fn into_prototype(self: Box<Self>) -> Option<Box<dyn Prototype>> {
        self.aqm.into_prototype()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.aqm.probes(out);
    }
}
