//! Counts of marked packets (AccECN), and what controls make of them.

use std::sync::{Arc, Mutex};

use super::at;
use super::wire::{Fate, Left, Setup};
use crate::cc::{self, Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Window};
use crate::endpoint::Endpoint;
use crate::era::Era;
use crate::registry::Spec;
use crate::wire::Flags;

#[derive(Default)]
struct Counting {
    counts: Arc<Mutex<Vec<EcnCounts>>>,
}

impl CongestionControl for Counting {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn on_ecn_counts(&mut self, _window: &mut Window, counts: &EcnCounts) {
        self.counts.lock().unwrap().push(*counts);
    }
    fn uses_slow_start(&self) -> bool {
        false
    }
}

fn accurate(delayed_ack: u32) -> Setup {
    Setup::new("sack").config(|c| {
        (c.ecn, c.accecn) = (true, true);
        c.initial_window = 20;
        c.delayed_ack = delayed_ack;
    })
}

/// Every mark is reported once, also where an ACK covers several packets and where ACKs are lost.
#[test]
fn the_marks_of_all_packets_are_counted() {
    for delayed_ack in [1, 2, 4] {
        let counting = Counting::default();
        let counts = Arc::clone(&counting.counts);
        let mut setup = accurate(delayed_ack).segments(400).script(|packet, n| {
            let marked = !packet.is_ack() && packet.seq % 3 == 0;
            let lost = packet.is_ack() && n % 5 == 4;
            if marked {
                Fate::Mark
            } else if lost {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        setup.cc = Some(Box::new(counting));
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        let counts = counts.lock().unwrap();
        let marked: u32 = counts.iter().map(|counts| counts.marked).sum();
        let acked: u32 = counts.iter().map(|counts| counts.acked).sum();
        // Segments 0, 3, .. 399.
        assert_eq!((marked, acked), (134, 400), "delayed_ack {delayed_ack}");
        assert!(wire.acks.iter().all(|ack| !ack.2.has(Flags::ECE)));
    }
}

/// Twelve packets and one ACK, all marked: the field of three bits says 4, and as the ACK covers twelve the count is
/// taken for 12.
#[test]
fn a_count_that_has_wrapped_is_taken_for_the_most_it_may_be() {
    let counting = Counting::default();
    let counts = Arc::clone(&counting.counts);
    let mut setup = accurate(1).segments(12).script(|packet, n| {
        if !packet.is_ack() {
            Fate::Mark
        } else if n < 11 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    setup.cc = Some(Box::new(counting));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let counts = counts.lock().unwrap();
    assert_eq!((counts[0].acked, counts[0].marked), (12, 12));
}

/// One packet in ten is marked, whatever the window: alpha tends to 0.1.
#[test]
fn dctcp_finds_the_share_of_marked_packets() {
    let env = CcEnv {
        mss: 1000,
        wire_size: 1040,
        line_rate: crate::units::BitRate(10_000_000_000),
        round_trip: crate::units::Span::from_micros(20),
        era: Era::Rfc,
    };
    let mut setup = accurate(2).script(|packet, _| {
        if !packet.is_ack() && packet.seq % 10 == 7 { Fate::Mark } else { Fate::Deliver }
    });
    setup.cc = Some(cc::build(&Spec::from("dctcp"), &env, "cc").unwrap());
    setup.config.initial_ssthresh = 20.0;
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let probes = wire.sender.snapshot().probes;
    let alpha = probes.iter().find(|(name, _)| *name == "alpha").unwrap().1;
    assert!((alpha - 0.1).abs() < 0.01, "{alpha}");
    assert!(wire.sender.snapshot().ecn_reductions > 100);
}

/// RFC 8511: a mark leaves 0.8 of an AIMD window where a loss leaves half, 0.85 of CUBIC's.
#[test]
fn a_mark_may_leave_more_than_a_loss() {
    for (spec, left) in [
        (r#"{"kind": "aimd"}"#, 20.0),
        (r#"{"kind": "aimd", "beta_ecn": 0.8}"#, 32.0),
        (r#"{"kind": "cubic"}"#, 28.0),
        (r#"{"kind": "cubic", "beta_ecn": 0.85}"#, 34.0),
    ] {
        let env = CcEnv {
            mss: 1000,
            wire_size: 1040,
            line_rate: crate::units::BitRate(10_000_000_000),
            round_trip: crate::units::Span::from_micros(20),
            era: Era::Rfc,
        };
        let spec: Spec = serde_json::from_str(spec).unwrap();
        let mut control = cc::build(&spec, &env, "cc").unwrap();
        let mut window = Window { cwnd: 40.0, ssthresh: 40.0 };
        let event = Congestion::at(at(0), cc::Signal::EcnEcho, 40);
        control.on_congestion(&mut window, &event);
        assert!((window.cwnd - left).abs() < 1e-9, "{spec:?}: {}", window.cwnd);
    }
}

/// RFC 9331: data of a scalable control is ECT(1), that of others ECT(0).
#[test]
fn data_of_prague_is_ect_1() {
    let env = CcEnv {
        mss: 1000,
        wire_size: 1040,
        line_rate: crate::units::BitRate(10_000_000_000),
        round_trip: crate::units::Span::from_micros(20),
        era: Era::Rfc,
    };
    for (name, expected) in [("prague", true), ("dctcp", false)] {
        let ect_flags = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&ect_flags);
        let mut setup = accurate(1).segments(40).script(move |packet, _| {
            if !packet.is_ack() && !packet.flags.has(Flags::SYN) {
                let mut ect_flags = log.lock().unwrap();
                ect_flags.push((packet.flags.has(Flags::ECT), packet.flags.has(Flags::ECT_1)));
            }
            Fate::Deliver
        });
        setup.cc = Some(cc::build(&Spec::from(name), &env, "cc").unwrap());
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        let ect_flags = ect_flags.lock().unwrap();
        assert!(
            ect_flags.len() == 40 && ect_flags.iter().all(|&of| of == (true, expected)),
            "{name}"
        );
    }
}

/// RFC 3168, section 6.1.5: no retransmission is ECN-capable. Ultra Ethernet's are, and Linux's where the control needs ECN
/// (`tcp_ca_needs_ecn`, as DCTCP does) or has AccECN.
#[test]
fn retransmissions_are_ecn_capable_where_their_source_says_so() {
    let cases = [
        (Era::Rfc, "dctcp", true, false, false),
        (Era::Rfc, "cubic", false, false, false),
        (Era::Rfc, "dctcp", true, true, true),
        (Era::Linux, "dctcp", true, false, true),
        (Era::Linux, "cubic", true, false, true),
        (Era::Linux, "cubic", false, false, false),
    ];
    for (era, name, accecn, trimming, expected) in cases {
        let env = CcEnv {
            mss: 1000,
            wire_size: 1040,
            line_rate: crate::units::BitRate(10_000_000_000),
            round_trip: crate::units::Span::from_micros(20),
            era,
        };
        let mut setup = accurate(1).segments(60).script(|packet, _| {
            let is_first = !packet.is_ack() && !packet.flags.has(Flags::RETX);
            if is_first && packet.seq == 30 { Fate::Drop } else { Fate::Deliver }
        });
        (setup.config.era, setup.config.accecn, setup.config.trimming) = (era, accecn, trimming);
        setup.cc = Some(cc::build(&Spec::from(name), &env, "cc").unwrap());
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        let (new, resent): (Vec<&Left>, Vec<&Left>) =
            wire.left.iter().partition(|packet| !packet.flags.has(Flags::RETX));
        assert!(new.iter().all(|packet| packet.flags.has(Flags::ECT)), "{era:?} {name}");
        assert_eq!(resent.iter().map(|packet| packet.seq).collect::<Vec<_>>(), [30]);
        assert!(
            resent.iter().all(|packet| packet.flags.has(Flags::ECT) == expected),
            "{era:?} {name}"
        );
    }
}

/// Ultra Ethernet: of segments that may be trimmed, each that is marked is acknowledged at once; AccECN alone does so where marks
/// begin and end.
#[test]
fn marked_segments_that_may_be_trimmed_are_acknowledged_at_once() {
    for (trimming, acks) in [(true, 40), (false, 11)] {
        let mut setup = accurate(4)
            .segments(40)
            .script(|packet, _| if packet.is_ack() { Fate::Deliver } else { Fate::Mark });
        setup.config.trimming = trimming;
        setup.cc = Some(Box::new(Counting::default()));
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        let answers = wire.acks.iter().filter(|(_, _, flags)| !flags.has(Flags::SYN)).count();
        assert_eq!(answers, acks, "{trimming}");
    }
}

/// One packet in fifty is marked: alpha tends to 0.02, and the fluid window to 2 / p = 100 segments.
#[test]
fn prague_keeps_two_marks_a_round_trip() {
    let env = CcEnv {
        mss: 1000,
        wire_size: 1040,
        line_rate: crate::units::BitRate(10_000_000_000),
        round_trip: crate::units::Span::from_micros(20),
        era: Era::Rfc,
    };
    let mut setup = accurate(1).script(|packet, _| {
        if !packet.is_ack() && packet.seq % 50 == 7 { Fate::Mark } else { Fate::Deliver }
    });
    let spec: Spec = serde_json::from_str(r#"{"kind": "prague", "rtt_virt_min": "0 ms"}"#).unwrap();
    setup.cc = Some(cc::build(&spec, &env, "cc").unwrap());
    setup.config.initial_ssthresh = 60.0;
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let snapshot = wire.sender.snapshot();
    let alpha = snapshot.probes.iter().find(|(name, _)| *name == "alpha").unwrap().1;
    assert!((alpha - 0.02).abs() < 0.005, "{alpha}");
    assert!((snapshot.cwnd - 100.0).abs() < 10.0, "{}", snapshot.cwnd);
}
