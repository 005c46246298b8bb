//! A discipline that judges packets on arrival says of each what it would have done with it packet by packet.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::{ERAS, env, limits, specs};
use crate::ids::FlowId;
use crate::qdisc::{Judgement, QdiscCtx, QdiscEnv, QueueDisc, build};
use crate::registry::Spec;
use crate::rng::{Purpose, Stream};
use crate::units::{Bytes, Span, Time};
use crate::wire::{DropReason, Flags, Packet};

/// A link sends a byte in a microsecond.
const BYTE: u64 = 1_000_000;

/// What became of a packet: when it began to leave, or why it was dropped, and whether it was marked.
type Fate = Result<(u64, bool), DropReason>;

/// A link of one discipline, with its random stream.
struct Port {
    disc: Box<dyn QueueDisc>,
    rng: Stream,
    fates: Vec<Option<Fate>>,
}

impl Port {
    fn new(spec: &Spec, env: &QdiscEnv, packets: usize) -> Self {
        let disc = build(spec, env, "qdisc").unwrap();
        Self { disc, rng: Stream::new(1, Purpose::Qdisc, 0), fates: vec![None; packets] }
    }

    /// Calls the discipline at `now`, and notes what it drops.
    fn call<R>(
        &mut self,
        now: u64,
        f: impl FnOnce(&mut dyn QueueDisc, &mut QdiscCtx<'_>) -> R,
    ) -> R {
        let (keys, mut dropped) = ([[0, 0]; 6], Vec::new());
        let mut ctx = QdiscCtx::new(Time(now), None, &mut self.rng, &keys, &mut dropped, &mut []);
        let result = f(self.disc.as_mut(), &mut ctx);
        for (packet, reason) in dropped {
            self.fates[packet.seq as usize] = Some(Err(reason));
        }
        result
    }

    /// Requests packets from `free` on, whenever one has left, until none is there or the next would begin after
    /// `until`; returns when the link is free, and whether the discipline found nothing.
    fn drain(&mut self, mut free: u64, until: u64) -> (u64, bool) {
        while free < until {
            let Some(next) = self.call(free, |disc, ctx| disc.dequeue(ctx)) else {
                return (free, true);
            };
            let marked = next.packet.flags.has(Flags::CE);
            self.fates[next.packet.seq as usize] = Some(Ok((free, marked)));
            free += u64::from(next.packet.size) * BYTE;
        }
        (free, false)
    }
}

/// Packets with the times at which they arrive; no packet begins to leave when another arrives.
fn arrivals() -> impl Strategy<Value = Vec<(u64, Packet)>> {
    let flags = prop::sample::select(vec![0, Flags::ECT.0, Flags::ECT.0 | Flags::ECT_1.0]);
    let each = (0u64..2500, 40u16..1500, 0u32..6, flags);
    prop::collection::vec(each, 1..200).prop_map(|each| {
        let mut us = 0;
        let packet = |(i, (wait, size, flow, flags)): (usize, (u64, u16, u32, u16))| {
            us += wait;
            // Each arrival has its own remainder of a microsecond, that of what leaves is of an earlier one.
            (us * BYTE + 7 * i as u64 + 1, Packet::new(FlowId(flow), i as u32, size, Flags(flags)))
        };
        each.into_iter().enumerate().map(packet).collect()
    })
}

fn twin(packet: &Packet) -> Packet {
    Packet { ..*packet }
}

/// Packet by packet.
fn run_queue(spec: &Spec, env: &QdiscEnv, packets: &[(u64, Packet)]) -> Vec<Option<Fate>> {
    let mut port = Port::new(spec, env, packets.len());
    let (mut free, mut is_idle) = (0, true);
    for (now, packet) in packets {
        if !is_idle {
            (free, is_idle) = port.drain(free, *now);
        }
        port.call(*now, |disc, ctx| disc.enqueue(twin(packet), ctx));
        if is_idle {
            (free, is_idle) = port.drain(*now, now + 1);
        }
    }
    port.drain(free, u64::MAX);
    port.fates
}

/// By judgements on arrival, as long as there are any; returns how many there were, too.
fn run_judged(
    spec: &Spec,
    env: &QdiscEnv,
    packets: &[(u64, Packet)],
) -> (Vec<Option<Fate>>, usize) {
    let mut port = Port::new(spec, env, packets.len());
    // Beginnings and sizes of the packets that wait although their departure is known.
    let mut waiting: VecDeque<(u64, u16)> = VecDeque::new();
    let (mut free, mut judges, mut is_known_idle, mut count) = (0, true, true, 0);
    for (now, packet) in packets {
        while waiting.front().is_some_and(|first| first.0 < *now) {
            waiting.pop_front();
        }
        if !judges {
            let (end, is_idle) = port.drain(free, *now);
            (free, judges, is_known_idle) = (end, is_idle, is_idle);
        }
        let before = (waiting.len(), Bytes(waiting.iter().map(|w| u64::from(w.1)).sum()));
        let is_busy = free > *now;
        if judges && !is_busy && !is_known_idle {
            port.disc.note_idle(Time(free), None);
            is_known_idle = true;
        }
        let judgement = if judges {
            let wait = Span(free.saturating_sub(*now));
            port.call(*now, |disc, ctx| {
                ctx.before = before;
                disc.judge(packet, wait, ctx)
            })
        } else {
            Judgement::Unknown
        };
        count += usize::from(judgement != Judgement::Unknown);
        match judgement {
            Judgement::Drop(reason) => {
                port.fates[packet.seq as usize] = Some(Err(reason));
                if !is_busy {
                    port.disc.note_idle(Time(*now), None);
                }
            }
            Judgement::Unknown => {
                judges = false;
                port.call(*now, |disc, ctx| {
                    ctx.before = before;
                    disc.enqueue(twin(packet), ctx);
                });
                if !is_busy {
                    (free, judges) = port.drain(*now, now + 1);
                }
            }
            Judgement::Pass | Judgement::MarkNow | Judgement::MarkAtDeparture => {
                let begin = free.max(*now);
                port.fates[packet.seq as usize] = Some(Ok((begin, judgement != Judgement::Pass)));
                if is_busy {
                    waiting.push_back((begin, packet.size));
                }
                free = begin + u64::from(packet.size) * BYTE;
                is_known_idle = false;
            }
        }
    }
    if !judges {
        port.drain(free, u64::MAX);
    }
    (port.fates, count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn judgements_are_what_the_queue_does(packets in arrivals(), limit in limits()) {
        for spec in specs() {
            for era in ERAS {
                let env = QdiscEnv { limit, era, ..env() };
                let Ok(disc) = build(&spec, &env, "qdisc") else { continue };
                if !disc.can_judge() {
                    continue;
                }
                let (judged, count) = run_judged(&spec, &env, &packets);
                prop_assert_eq!(&judged, &run_queue(&spec, &env, &packets), "{:?} {:?}", spec, era);
                prop_assert!(count > 0);
            }
        }
    }
}

/// What is known on arrival is computed: of short waits these disciplines say what becomes of each packet.
#[test]
fn disciplines_of_one_queue_that_decide_on_arrival_judge_packets() {
    for (kind, judges) in [
        ("red", true),
        ("green", true),
        ("blue", true),
        ("sred", true),
        ("codel", true),
        ("pie", false),
        ("fred", false),
        ("fq", false),
    ] {
        assert_eq!(
            build(&Spec::from(kind), &env(), "qdisc").unwrap().can_judge(),
            judges,
            "{kind}"
        );
    }
}
