//! For tests: slow references of queue disciplines, written from their specifications with plain lists, and
//! random events on which a discipline must do what its reference does, packet by packet.
//!
//! The link is that of the engine: an arrival at an idle link is followed by a departure, and the link is
//! idle once a departure found nothing. Rates change, buffers overflow, timers run.

mod afd;
mod cake;
mod cobalt;
mod codel;
mod decbit;
mod drr;
mod dualpi2;
mod fair_codel;
mod fq;
mod fq_pie;
mod fred;
mod green;
mod pie;
mod price;
mod red;
mod rio;
mod sred;

use std::collections::VecDeque;

use proptest::prelude::*;

use super::testing::{Bench, env};
use super::{Limit, QdiscEnv, QueueDisc, build};
use crate::registry::Spec;
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};
use crate::wire::Flags;

/// What happens at a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Arrive {
        key: u32,
        size: u16,
        ect: bool,
    },
    /// A transmission ends.
    Depart,
    Wait {
        us: u64,
    },
    /// The link's rate changes.
    Rate {
        kbps: u64,
    },
}

/// A packet in a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) seq: u32,
    pub(crate) key: u32,
    pub(crate) size: u16,
    pub(crate) ect: bool,
    pub(crate) ce: bool,
    pub(crate) at: Time,
}

impl Waiting {
    /// Marks a packet that the discipline would drop, where it marks and the packet may be marked; whether it did.
    pub(crate) fn mark(&mut self, marks: bool) -> bool {
        let marked = marks && self.ect;
        self.ce |= marked;
        marked
    }
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Sent { seq: u32, ce: bool },
    Dropped { seq: u32 },
}

/// What a reference does; it adds what becomes of packets to `fates`, in order.
pub(crate) trait Reference {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>);
    /// A packet is to leave. `sent` is the one that the discipline sent: a reference may follow it where
    /// rounding alone decides.
    fn depart(&mut self, now: Time, sent: Option<u32>, fates: &mut Vec<Fate>);
    /// What the header of the packet that is about to arrive says besides: whether it is a connection request, and
    /// the receiver's clock in the timestamp option, 0 for none.
    fn header(&mut self, _key: u32, _now: Time) -> (bool, u32) {
        (false, 0)
    }
    fn tick(&mut self, _now: Time) {}
    fn rate(&mut self, _now: Time, _rate: BitRate) {}
    /// Probes of the discipline that must be near these.
    fn probes(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

/// A plain queue, and whether one more fits.
#[derive(Debug, Default)]
pub(crate) struct Line(pub(crate) VecDeque<Waiting>);

impl Line {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|packet| u64::from(packet.size)).sum()
    }

    pub(crate) fn admits(&self, limit: Limit, size: u16) -> bool {
        (self.0.len() as u64) < u64::from(limit.packets)
            && self.bytes() + u64::from(size) <= limit.bytes
    }

    /// The first packet leaves; whether there was one.
    pub(crate) fn send(&mut self, fates: &mut Vec<Fate>) -> bool {
        let first = self.0.pop_front();
        fates.extend(first.map(|packet| Fate::Sent { seq: packet.seq, ce: packet.ce }));
        first.is_some()
    }
}

/// Whether a packet is ECT(1): the capable ones of every other key.
pub(crate) fn is_ect_1(ect: bool, key: u32) -> bool {
    ect && key % 2 == 1
}

/// The random numbers of a reference: those of the discipline.
pub(crate) fn draws() -> Stream {
    Stream::new(1, Purpose::Qdisc, 0)
}

pub(crate) fn spec(json: serde_json::Value) -> Spec {
    serde_json::from_value(json).unwrap()
}

/// Few keys, two sizes and others; waits of the order of what packets take at 10 Mbit/s, and some long ones.
pub(crate) fn events() -> impl Strategy<Value = Vec<Event>> {
    let size = prop_oneof![Just(1000u16), Just(40), 41u16..1600];
    let event = prop_oneof![
        9 => (0u32..5, size, any::<bool>()).prop_map(|(key, size, ect)| Event::Arrive { key, size, ect }),
        6 => Just(Event::Depart),
        4 => (1u64..4000).prop_map(|us| Event::Wait { us }),
        1 => (4000u64..400_000).prop_map(|us| Event::Wait { us }),
        1 => prop::sample::select(vec![500u64, 2000, 10_000, 40_000])
            .prop_map(|kbps| Event::Rate { kbps }),
    ];
    prop::collection::vec(event, 1..400)
}

/// First many arrivals in short times: queues that stay.
pub(crate) fn busy() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        12 => (0u32..5, 40u16..1500, any::<bool>())
            .prop_map(|(key, size, ect)| Event::Arrive { key, size, ect }),
        10 => Just(Event::Depart),
        5 => (1u64..2000).prop_map(|us| Event::Wait { us }),
    ];
    (prop::collection::vec(event, 1..600), events())
        .prop_map(|(first, second)| first.into_iter().chain(second).collect())
}

pub(crate) fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        Just(Limit::NONE),
        (1u32..30).prop_map(|packets| Limit { packets, bytes: u64::MAX }),
        (1600u64..20_000).prop_map(|bytes| Limit { packets: u32::MAX, bytes }),
    ]
}

/// Checks a discipline of the registry against its reference.
pub(crate) fn agree(
    spec: &Spec,
    env: &QdiscEnv,
    reference: &mut dyn Reference,
    events: &[Event],
) -> Result<(), TestCaseError> {
    check(&mut Bench::new(build(spec, env, "qdisc").unwrap()), reference, events)
}

/// The environment of [`env`] with a buffer.
pub(crate) fn bounded(limit: Limit) -> QdiscEnv {
    QdiscEnv { limit, ..env() }
}

/// Checks a discipline against its reference.
pub(crate) fn check<Q: QueueDisc>(
    bench: &mut Bench<Q>,
    reference: &mut dyn Reference,
    events: &[Event],
) -> Result<(), TestCaseError> {
    let interval = bench.qdisc.timer_interval();
    let mut ticks = 0;
    let mut is_idle = true;
    for (step, &event) in events.iter().enumerate() {
        match event {
            Event::Arrive { key, size, ect } => {
                let mut flags = if ect { Flags::ECT } else { Flags(0) };
                if is_ect_1(ect, key) {
                    flags.set(Flags::ECT_1);
                }
                // Only RIO looks at it.
                let profile = if key % 2 == 1 { Flags::OUT } else { Flags(0) };
                let (is_request, echo) = reference.header(key, bench.now);
                if is_request {
                    flags.set(Flags::SYN);
                }
                let seq = bench.arrive_echoing(key, size, flags | profile, echo);
                let mut expected = Vec::new();
                let packet = Waiting { seq, key, size, ect, ce: false, at: bench.now };
                reference.arrive(packet, &mut expected);
                prop_assert_eq!(take_drops(bench), expected, "event {}, {:?}", step, event);
                if is_idle {
                    is_idle = !depart(bench, reference, step)?;
                }
            }
            Event::Depart if !is_idle => is_idle = !depart(bench, reference, step)?,
            Event::Depart => {}
            Event::Wait { us } => {
                let end = bench.now + Span::from_micros(us);
                while let Some(interval) = interval
                    && Time::ZERO + interval * (ticks + 1) <= end
                {
                    ticks += 1;
                    bench.now = Time::ZERO + interval * ticks;
                    bench.tick();
                    reference.tick(bench.now);
                }
                bench.now = end;
            }
            Event::Rate { kbps } => {
                bench.qdisc.on_rate(bench.now, BitRate(kbps * 1000));
                reference.rate(bench.now, BitRate(kbps * 1000));
            }
        }
        for (name, expected) in reference.probes() {
            let value = bench.probe(name);
            let near = (value - expected).abs() <= 1e-9 * (1.0 + expected.abs());
            prop_assert!(near, "event {}: {} is {}, not {}", step, name, value, expected);
        }
    }
    Ok(())
}

fn take_drops<Q: QueueDisc>(bench: &mut Bench<Q>) -> Vec<Fate> {
    bench.drops().into_iter().map(|(seq, _)| Fate::Dropped { seq }).collect()
}

/// A departure; whether a packet left.
fn depart<Q: QueueDisc>(
    bench: &mut Bench<Q>,
    reference: &mut dyn Reference,
    step: usize,
) -> Result<bool, TestCaseError> {
    let sent = bench.depart();
    let mut fates_here = take_drops(bench);
    if let Some(sent) = &sent {
        let ce = sent.packet.flags.has(Flags::CE);
        fates_here.push(Fate::Sent { seq: sent.packet.seq, ce });
    }
    let mut expected = Vec::new();
    reference.depart(bench.now, sent.as_ref().map(|sent| sent.packet.seq), &mut expected);
    prop_assert_eq!(fates_here, expected, "departure at event {}", step);
    Ok(sent.is_some())
}
