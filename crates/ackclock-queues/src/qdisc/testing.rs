//! A bench for tests: one discipline, its clock, its random stream, its dropped packets.

use std::sync::Arc;

use super::{FlowFacts, Judgement, Limit, QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::dscp::Dscp;
use crate::era::Era;
use crate::ids::FlowId;
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};
use crate::wire::{DropReason, Flags, Packet, Timed};

/// A 10 Mbit/s link for 1000-byte packets with room for everything.
pub(crate) fn env() -> QdiscEnv {
    QdiscEnv {
        rate: BitRate(10_000_000),
        delay: Span::from_millis(10),
        limit: Limit::NONE,
        mean_packet: 1000,
        keys: 8,
        passing: [].into(),
        flows: 8,
        round_trips: (1..=8).map(|i| Span::from_millis(50 * i)).collect(),
        facts: [].into(),
        era: Era::Rfc,
    }
}

/// Flows of these names and code points, as a router knows them.
pub(crate) fn marked(flows: &[(&str, u64)]) -> Arc<[FlowFacts]> {
    let facts = |&(id, dscp): &(&str, u64)| FlowFacts {
        id: id.into(),
        src: "a".into(),
        dst: "b".into(),
        pair: None,
        dscp: Dscp::new(dscp).unwrap(),
        sender: "tcp".into(),
        control: None,
    };
    flows.iter().map(facts).collect()
}

/// A discipline under test. Flow number and class key are the same.
pub(crate) struct Bench<Q> {
    pub(crate) qdisc: Q,
    pub(crate) now: Time,
    pub(crate) dropped: Vec<(Packet, DropReason)>,
    pub(crate) marks: u64,
    pub(crate) rng: Stream,
    keys: Vec<[u32; 2]>,
    seq: u32,
}

impl<Q: QueueDisc> Bench<Q> {
    pub(crate) fn new(qdisc: Q) -> Self {
        Self {
            qdisc,
            now: Time::ZERO,
            dropped: Vec::new(),
            marks: 0,
            rng: Stream::new(1, Purpose::Qdisc, 0),
            keys: (0..4096).map(|k| [k, k]).collect(),
            seq: 0,
        }
    }

    fn with<R>(&mut self, call: impl FnOnce(&mut Q, &mut QdiscCtx<'_>) -> R) -> R {
        let mut ctx =
            QdiscCtx::new(self.now, None, &mut self.rng, &self.keys, &mut self.dropped, &mut []);
        let result = call(&mut self.qdisc, &mut ctx);
        self.marks += ctx.marks;
        result
    }

    /// A packet arrives; returns its number.
    pub(crate) fn arrive(&mut self, key: u32, size: u16) -> u32 {
        self.arrive_with(key, size, Flags::default())
    }

    pub(crate) fn arrive_with(&mut self, key: u32, size: u16, flags: Flags) -> u32 {
        self.arrive_echoing(key, size, flags, 0)
    }

    /// As `arrive_with`, with the receiver's clock in its timestamp option.
    pub(crate) fn arrive_echoing(&mut self, key: u32, size: u16, flags: Flags, echo: u32) -> u32 {
        let seq = self.seq;
        self.seq += 1;
        let mut packet = Packet::new(FlowId(key), seq, size, flags);
        packet.options.tcp_mut().timestamps =
            Some(crate::wire::Timestamps { sender: 0, receiver: echo });
        self.pass(packet);
        seq
    }

    /// A packet arrives that has left another bench.
    pub(crate) fn pass(&mut self, packet: Packet) {
        self.with(|q, ctx| q.enqueue(packet, ctx));
    }

    pub(crate) fn depart(&mut self) -> Option<Timed> {
        self.with(Q::dequeue)
    }

    pub(crate) fn tick(&mut self) {
        self.with(Q::on_timer);
    }

    pub(crate) fn after(&mut self, span: Span) {
        self.now += span;
    }

    pub(crate) fn probe(&self, name: &str) -> f64 {
        let mut value = None;
        self.qdisc.probes(&mut |n, v| {
            if n == name {
                value = Some(v);
            }
        });
        value.unwrap_or_else(|| panic!("no probe {name}"))
    }

    pub(crate) fn qdisc_len(&self) -> usize {
        self.qdisc.len()
    }

    /// Numbers of the dropped packets with the reasons, in order; forgets them.
    pub(crate) fn drops(&mut self) -> Vec<(u32, DropReason)> {
        self.dropped.drain(..).map(|(p, r)| (p.seq, r)).collect()
    }
}

impl QueueDisc for Box<dyn QueueDisc> {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        (**self).enqueue(packet, ctx);
    }
    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        (**self).dequeue(ctx)
    }
    fn ready_at(&self) -> Option<Time> {
        (**self).ready_at()
    }
    fn len(&self) -> usize {
        (**self).len()
    }
    fn backlog(&self) -> crate::units::Bytes {
        (**self).backlog()
    }
    fn timer_interval(&self) -> Option<Span> {
        (**self).timer_interval()
    }
    fn on_timer(&mut self, ctx: &mut QdiscCtx<'_>) {
        (**self).on_timer(ctx);
    }
    fn on_rate(&mut self, now: Time, rate: BitRate) {
        (**self).on_rate(now, rate);
    }
    fn state(&self) -> State {
        (**self).state()
    }
    fn can_judge(&self) -> bool {
        (**self).can_judge()
    }
    fn judge(&mut self, packet: &Packet, wait: Span, ctx: &mut QdiscCtx<'_>) -> Judgement {
        (**self).judge(packet, wait, ctx)
    }
    fn note_idle(&mut self, since: Time, seconds: Option<f64>) {
        (**self).note_idle(since, seconds);
    }
    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        (**self).probes(out);
    }
}
