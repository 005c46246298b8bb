//! Any order of operations: each discipline returns or drops each packet once, its counts are those of the packets
//! that it holds, and the same operations give the same fates.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ackclock_core::dscp::Dscp;
use ackclock_core::ids::FlowId;
use ackclock_core::qdisc::{self, FlowFacts, Limit, QdiscCtx, QdiscEnv};
use ackclock_core::registry::{Entry, Spec};
use ackclock_core::rng::{Purpose, Stream};
use ackclock_core::units::{BitRate, Span, Time};
use ackclock_core::wire::{DropReason, Flags, Options, Packet};

use crate::controls::ERAS;
use crate::input::Input;
use crate::schema::spec;

static DISCIPLINES: LazyLock<Vec<Entry>> = LazyLock::new(qdisc::catalogue);

const FLOWS: u32 = 6;
const MOST: usize = 400;

/// What a packet became: sent or dropped, its number, and whether it was marked or why it was dropped.
type Fate = (bool, u32, u8);

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let era = *input.pick(&ERAS);
    let limit = match input.below(4) {
        0 => Limit::NONE,
        1 => Limit { packets: u32::from(input.byte()), bytes: u64::MAX },
        2 => Limit { packets: u32::MAX, bytes: u64::from(input.word() % 60_000) },
        _ => Limit {
            packets: 1 + u32::from(input.byte() % 40),
            bytes: 1500 + u64::from(input.word() % 30_000),
        },
    };
    let facts = |f: u32| FlowFacts {
        id: format!("f{f}").into(),
        src: "a".into(),
        dst: "b".into(),
        pair: None,
        dscp: Dscp::new(if f % 3 == 1 { 46 } else { 0 }).unwrap_or_default(),
        sender: "tcp".into(),
        control: None,
    };
    let env = QdiscEnv {
        rate: BitRate(1 + u64::from(input.word() % 100_000_000)),
        delay: Span::from_micros(u64::from(input.byte()) * 100),
        limit,
        mean_packet: 1 + input.word() % 9000,
        keys: FLOWS,
        passing: (0..FLOWS).collect(),
        flows: FLOWS,
        round_trips: (1..=u64::from(FLOWS)).map(|i| Span::from_millis(50 * i)).collect(),
        facts: (0..FLOWS).map(facts).collect(),
        era,
    };
    let spec = spec(&mut input, &DISCIPLINES);
    let operations: Vec<[u8; 2]> =
        std::iter::from_fn(|| (!input.is_used_up()).then(|| [input.byte(), input.byte()]))
            .take(MOST)
            .collect();
    assert_eq!(operate(&spec, &env, &operations), operate(&spec, &env, &operations), "{spec:?}");
}

fn operate(spec: &Spec, env: &QdiscEnv, operations: &[[u8; 2]]) -> Vec<Fate> {
    let Ok(mut queue) = qdisc::build(spec, env, "qdisc") else { return Vec::new() };
    let keys: Vec<[u32; 2]> = (0..FLOWS).map(|f| [f, f]).collect();
    let mut rng = Stream::new(1, Purpose::Qdisc, 0);
    let mut waiting: BTreeMap<u32, (u16, Time)> = BTreeMap::new();
    let (mut now, mut number, mut fates) = (Time::ZERO, 0u32, Vec::new());
    let mut dropped: Vec<(Packet, DropReason)> = Vec::new();
    // At the end all leave: each may be held back once before it does.
    let drain = std::iter::repeat_n([9, 0], 2 * operations.len() + 1);
    for (i, [operation, a]) in operations.iter().copied().chain(drain).enumerate() {
        let mut ctx = QdiscCtx::new(now, None, &mut rng, &keys, &mut dropped, &mut []);
        match operation % 16 {
            0..8 => {
                let size = [40, 1000, 1500, 1 + u16::from(a) * 30][usize::from(a % 4)];
                let flags = [Flags::default(), Flags::ECT, Flags::OUT, Flags::ACK]
                    [usize::from(operation / 16 % 4)];
                let mut packet = Packet::new(FlowId(u32::from(a) % FLOWS), number, size, flags);
                if a % 11 == 0 {
                    packet.flags.set(Flags::SYN);
                }
                packet.options = Options::Place(u32::from(a));
                waiting.insert(number, (size, now));
                number += 1;
                queue.enqueue(packet, &mut ctx);
            }
            8..12 => {
                let before = waiting.len();
                match queue.dequeue(&mut ctx) {
                    Some(sent) => {
                        let expected = waiting.remove(&sent.packet.seq);
                        assert_eq!(
                            expected,
                            Some((sent.packet.size, sent.at)),
                            "{spec:?}: sent twice or changed"
                        );
                        let marked = sent.packet.flags.has(Flags::CE);
                        assert!(
                            !marked || sent.packet.flags.has(Flags::ECT),
                            "{spec:?}: marked without ECT"
                        );
                        fates.push((true, sent.packet.seq, u8::from(marked)));
                    }
                    // Nothing waits, or what waits is held back until later.
                    None if dropped.len() < before => match queue.ready_at() {
                        Some(later) => {
                            assert!(
                                later > now || later == Time::MAX,
                                "{spec:?}: held back until {later:?}"
                            );
                            if i >= operations.len() {
                                now = later;
                            }
                        }
                        None => panic!("{spec:?}: idle with packets waiting"),
                    },
                    None => assert_eq!(dropped.len(), before, "{spec:?}"),
                }
            }
            12 | 13 => now += Span::from_micros(u64::from(a) * u64::from(a)),
            14 if queue.timer_interval().is_some() => queue.on_timer(&mut ctx),
            15 => queue.on_rate(now, BitRate(u64::from(a) * 100_000)),
            _ => {}
        }
        for (packet, reason) in dropped.drain(..) {
            assert!(
                waiting.remove(&packet.seq).is_some(),
                "{spec:?}: dropped twice or never given"
            );
            fates.push((false, packet.seq, reason as u8));
        }
        assert_eq!(queue.len(), waiting.len(), "{spec:?}");
        let bytes: u64 = waiting.values().map(|&(size, _)| u64::from(size)).sum();
        assert_eq!(queue.backlog().0, bytes, "{spec:?}");
        // The packet that a shaper holds back is beside the buffer, as one in transmission is.
        let most = u64::from(env.limit.packets).max(1) + u64::from(queue.ready_at().is_some());
        // ns-2's RED counts the buffer of some eras in bytes.
        assert!(env.era.is_ns2() || queue.len() as u64 <= most, "{spec:?}: more than the buffer");
    }
    // A shaper of a bit in a thousand years holds packets back until the clock ends.
    let is_kept = now < Time::MAX && !waiting.is_empty();
    assert!(!is_kept, "{spec:?}: kept for ever: {waiting:?}");
    queue.probes(&mut |name, value| assert!(value.is_finite(), "{spec:?}: {name} is {value}"));
    let _ = queue.state();
    fates
}
