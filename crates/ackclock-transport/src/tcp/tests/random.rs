//! Random loss, reordering and duplication of data and acknowledgements.

use proptest::prelude::*;
use serde_json::json;

use super::wire::{Fate, Left, Setup};
use super::{at, ms};
use crate::cc::{self, CcEnv};
use crate::endpoint::Endpoint;
use crate::era::Era;
use crate::registry::Spec;
use crate::tcp::Sender;
use crate::units::{BitRate, Bytes};
use crate::wire::Flags;

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        10 => Just(Fate::Deliver),
        3 => Just(Fate::Drop),
        2 => (1u64..400).prop_map(|n| Fate::Late(ms(n))),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Mark),
    ]
}

fn spec() -> impl Strategy<Value = Spec> {
    prop_oneof![
        Just(json!("tahoe")),
        Just(json!({"kind": "tahoe", "guard": false})),
        Just(json!("reno")),
        Just(json!({"kind": "reno", "guard": false})),
        Just(json!("newreno")),
        Just(json!({"kind": "newreno", "impatient": false, "avoid_burst": true})),
        Just(json!("sack")),
        Just(json!({"kind": "sack", "prr": true})),
        Just(json!("rack")),
        Just(json!({"kind": "rack", "tlp": false, "prr": false})),
    ]
    .prop_map(|value| serde_json::from_value(value).unwrap())
}

/// What must hold after every event.
fn invariants(sender: &Sender, left: &[Left]) {
    let board = sender.scoreboard();
    assert_eq!(board.pipe(), board.pipe_by_definition(board.written_off()));
    assert!(board.una() <= board.rxt() && board.rxt() <= board.nxt().max(board.una()));
    for packet in left.iter().filter(|p| p.flags.has(Flags::RETX)) {
        assert!(packet.seq >= board.una() && packet.seq < board.nxt());
        assert!(!board.is_sacked(packet.seq), "segment {} was SACKed", packet.seq);
    }
    let now = sender.snapshot();
    assert!(now.cwnd >= 1.0 && now.ssthresh >= 1.0);
    assert_eq!(now.sent_packets - now.retransmits, u64::from(board.nxt()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_schedule_completes_a_finite_transfer(
        recovery in spec(),
        data in prop::collection::vec(fate(), 0..150),
        acks in prop::collection::vec(fate(), 0..150),
        bytes in 1u64..120_000,
        control in prop_oneof![2 => Just(None), 1 => Just(Some("bbr")), 1 => Just(Some("bbr3"))],
        undo in (any::<bool>(), any::<bool>(), any::<bool>()),
        options in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 1u32..4, 1u32..12),
    ) {
        let (syn, timestamps, ecn, limited, delayed_ack, window) = options;
        let mut setup = Setup::new("sack").config(|c| {
            c.syn = syn;
            c.timestamps = timestamps;
            c.ecn = ecn;
            c.limited_transmit = limited;
            c.delayed_ack = delayed_ack;
            c.initial_window = window;
            (c.dsack, c.eifel, c.frto) = (undo.0, undo.1 && timestamps, undo.2);
        });
        setup.cc = control.map(|name| {
            let env = CcEnv { mss: 1000, wire_size: 1040, line_rate: BitRate(10_000_000_000), round_trip: crate::units::Span::from_micros(20), era: Era::Rfc };
            cc::build(&Spec::from(name), &env, "cc").unwrap()
        });
        setup.recovery = recovery;
        setup.size = Some(Bytes(bytes));
        setup = setup.script(move |packet, number| {
            let fates = if packet.is_ack() { &acks } else { &data };
            fates.get(number as usize).copied().unwrap_or(Fate::Deliver)
        });
        let mut wire = setup.build().started();
        wire.check = invariants;
        // 150 losses in a row are 150 timeouts of a minute at most.
        wire.run(at(2 * 150 * 61_000));

        let sent = wire.sender.snapshot();
        let got = wire.receiver.snapshot();
        prop_assert!(sent.completed_s > 0.0, "{:?}", sent);
        prop_assert!(wire.receiver.is_complete());
        prop_assert_eq!(got.delivered_bytes, bytes);
        let segments = bytes.div_ceil(1000);
        prop_assert_eq!(got.delivered_packets, segments);
        prop_assert_eq!(got.received_packets, segments + got.duplicate_packets);
        prop_assert_eq!(sent.sent_packets, segments + sent.retransmits);
        let requests = wire.left.iter().filter(|p| p.flags.has(Flags::SYN)).count() as u64;
        prop_assert_eq!(wire.counts[0], sent.sent_packets + requests);
        prop_assert_eq!(wire.counts[1], got.acks_sent);
        prop_assert!(sent.recoveries <= sent.retransmits + 1);
    }
}

/// A long transfer with one packet in 97 lost: a recovery that sends much more than was lost is wrong.
#[test]
fn what_is_sent_again_is_what_was_lost() {
    for recovery in ["tahoe", "reno", "newreno", "sack", "rack"] {
        let mut wire =
            Setup::new(recovery)
                .segments(20_000)
                .script(|packet, number| {
                    if !packet.is_ack() && number % 97 == 96 { Fate::Drop } else { Fate::Deliver }
                })
                .build()
                .started();
        wire.check = invariants;
        wire.run(at(10_000_000));
        let (end, lost) = (wire.sender.snapshot(), wire.dropped[0]);
        // Tahoe may send again what had arrived; the others know or wait.
        let excess = end.retransmits - lost;
        assert!(excess <= if recovery == "tahoe" { 10 } else { 0 }, "{recovery}: {excess}");
        assert_eq!(end.timeouts, 0, "{recovery}");
        assert!(end.completed_s > 0.0);
    }
}
