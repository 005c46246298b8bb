//! Random loss, reordering, duplication and marks of data and acknowledgements.

use proptest::prelude::*;

use super::wire::{Fate, Setup};
use super::{at, ms};
use crate::cc;
use crate::cc::test_support::env;
use crate::endpoint::Endpoint;
use crate::era::Era;
use crate::registry::Spec;
use crate::slow_start;
use crate::units::{Bytes, Time};

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        10 => Just(Fate::Deliver),
        3 => Just(Fate::Drop),
        2 => (1u64..400).prop_map(|n| Fate::Late(ms(n))),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Mark),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn any_schedule_completes_a_finite_transfer(
        data in prop::collection::vec(fate(), 0..150),
        acks in prop::collection::vec(fate(), 0..150),
        bytes in 1u64..120_000,
        control in prop_oneof![3 => Just(None), 1 => Just(Some("cubic")), 1 => Just(Some("bbr3")), 1 => Just(Some("prague"))],
        options in (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..4, 0u32..5, 2u32..12),
    ) {
        let (handshake, ecn, paced, threshold, reordering, window) = options;
        let mut setup = Setup::new().config(|c| {
            c.handshake = handshake;
            c.ecn = ecn || control == Some("prague");
            c.pacing_factor = if paced { 1.25 } else { 0.0 };
            c.ack_eliciting_threshold = threshold;
            c.reordering_threshold = (reordering < 4).then_some(reordering);
            c.initial_window = window;
        });
        setup.samples = true;
        setup.cc = control.map(|name| {
            cc::build(&Spec::from(name), &env(Era::Rfc), "cc").unwrap()
        });
        setup.slow_start =
            slow_start::build(&Spec::from("standard"), &env(Era::Rfc), "slow_start").unwrap();
        setup.size = Some(Bytes(bytes));
        let (mut sent, mut answered) = (0, 0);
        let mut wire = setup.script(move |packet, _| {
            let (fates, number) = if packet.is_ack() { (&acks, &mut answered) } else { (&data, &mut sent) };
            *number += 1;
            fates.get(*number - 1).copied().unwrap_or(Fate::Deliver)
        }).start();
        wire.run(Time(u64::MAX - 1));

        let segment = 1161;
        let segments = bytes.div_ceil(segment);
        let (left, got) = (wire.sender.snapshot(), wire.receiver.snapshot());
        prop_assert!(left.completed_s > 0.0, "{left:?}");
        prop_assert!(wire.receiver.is_complete());
        prop_assert_eq!(got.delivered_bytes, bytes);
        prop_assert_eq!(got.delivered_packets, segments);
        prop_assert_eq!(got.received_packets, segments + got.duplicate_packets);
        prop_assert_eq!(left.sent_packets, segments + left.retransmits);
        // No number is used twice, none is left out.
        let numbers: Vec<u32> = wire.data().map(|p| p.seq).collect();
        prop_assert_eq!(numbers, (0..left.sent_packets as u32).collect::<Vec<_>>());
        // No packet is declared lost twice, and they are in the order of their numbers.
        let log = wire.log.lock().unwrap();
        prop_assert!(log.lost.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", log.lost);
        prop_assert!(left.cwnd >= 2.0);
    }
}

/// One packet in 97 is lost, for good: as many are sent again, and none by a probe.
#[test]
fn what_is_sent_again_is_what_was_lost() {
    let mut setup = Setup::new().segments(20_000);
    setup.samples = false;
    let (mut data, mut dropped) = (0u64, 0u64);
    let count = std::rc::Rc::new(std::cell::Cell::new(0));
    let dropped_so_far = std::rc::Rc::clone(&count);
    let mut wire = setup
        .script(move |packet, _| {
            data += u64::from(!packet.is_ack());
            if !packet.is_ack() && data % 97 == 96 {
                dropped += 1;
                dropped_so_far.set(dropped);
                return Fate::Drop;
            }
            Fate::Deliver
        })
        .start();
    wire.run(at(10_000_000));
    let end = wire.sender.snapshot();
    assert!(end.completed_s > 0.0);
    assert_eq!((end.retransmits, end.timeouts), (count.get(), 0));
}
