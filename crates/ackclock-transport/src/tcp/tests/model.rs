//! Controls that model the path, over a wire whose rate (1000 segments/s) and round trip (201 ms) are known.

use super::at;
use super::wire::{Fate, Setup, Wire};
use crate::cc::{self, CcEnv};
use crate::endpoint::Endpoint;
use crate::era::Era;
use crate::registry::Spec;
use crate::units::{BitRate, Time};
use crate::wire::Flags;

fn setup(name: &str, recovery: &str) -> Setup {
    let env = CcEnv {
        mss: 1000,
        wire_size: 1040,
        line_rate: BitRate(10_000_000_000),
        round_trip: crate::units::Span::from_micros(20),
        era: Era::Rfc,
    };
    let control = cc::build(&Spec::from(name), &env, "cc").unwrap();
    let setup = Setup::new(recovery).config(|c| {
        c.initial_window = 10;
        c.syn = true;
        c.delayed_ack = 2;
    });
    Setup { cc: Some(control), ..setup }
}

fn probe(wire: &Wire, name: &str) -> f64 {
    let probes = wire.sender.snapshot().probes;
    probes.iter().find(|(probe, _)| *probe == name).unwrap().1
}

fn sent_between(wire: &Wire, from: u64, to: u64) -> usize {
    wire.left.iter().filter(|p| p.at >= at(from) && p.at < at(to)).count()
}

#[test]
fn the_rate_and_the_round_trip_of_the_path_are_found() {
    for name in ["bbr", "bbr3"] {
        let mut wire = setup(name, "sack").build().started();
        wire.run(at(4000));
        let rate = probe(&wire, "bw_bps") / 8000.0;
        assert!((rate - 1000.0).abs() < 20.0, "{name}: {rate} segments/s");
        let rtt = probe(&wire, "min_rtt_s");
        assert!((0.2..0.203).contains(&rtt), "{name}: {rtt} s");
        wire.run(at(60_000));
        // ProbeRTT and probes included, it keeps the bottleneck busy.
        let rate = sent_between(&wire, 5000, 60_000) as f64 / 55.0;
        assert!((930.0..1005.0).contains(&rate), "{name}: {rate} segments/s");
        // The window, about twice the BDP of 201, bounds the queue.
        let most = wire.record.tables.windows.iter().map(|row| row.in_flight).max().unwrap();
        assert!(most < 2 * 201 * 3 / 2, "{name}: {most} in flight");
        assert_eq!(wire.sender.snapshot().retransmits, 0, "{name}");
    }
}

#[test]
fn version_3_goes_through_its_states_in_order() {
    let mut wire = setup("bbr3", "sack").build().started();
    wire.run(at(40_000));
    let states = wire.states();
    let begin = states.iter().position(|state| *state == "startup").unwrap();
    for pair in states[begin..].windows(2) {
        let allowed = match pair[0] {
            "startup" => ["drain", "probe-rtt"].as_slice(),
            "drain" => &["probe-bw-down", "probe-bw-cruise", "probe-rtt"],
            "probe-bw-down" => &["probe-bw-cruise", "probe-bw-refill", "probe-rtt"],
            "probe-bw-cruise" => &["probe-bw-refill", "probe-rtt"],
            "probe-bw-refill" => &["probe-bw-up", "probe-rtt"],
            "probe-bw-up" => &["probe-bw-down", "probe-rtt"],
            "probe-rtt" => &["probe-bw-cruise"],
            other => panic!("there is no state {other}"),
        };
        assert!(allowed.contains(&pair[1]), "{pair:?} in {states:?}");
    }
    assert!(states.contains(&"probe-bw-up"), "{states:?}");
    // ProbeRTT: its beginnings are five seconds apart, and a little.
    let begins: Vec<Time> = wire
        .record
        .tables
        .states
        .iter()
        .filter(|row| row.state == "probe-rtt")
        .map(|row| row.at)
        .collect();
    assert!(begins.len() >= 4, "{begins:?}");
    for pair in begins.windows(2) {
        let apart = pair[1].since(pair[0]).seconds();
        assert!((5.0..6.5).contains(&apart), "{apart} s in {begins:?}");
    }
}

/// One per cent of random loss, where AIMD would get 1.2 sqrt(1/0.01)/0.2 = 60 segments/s.
#[test]
fn one_per_cent_of_loss_leaves_most_of_the_rate() {
    for name in ["bbr", "bbr3"] {
        let lossy = setup(name, "sack").script(|packet, n| {
            let data = !packet.is_ack() && !packet.flags.has(Flags::SYN);
            if data && n % 100 == 57 { Fate::Drop } else { Fate::Deliver }
        });
        let mut wire = lossy.build().started();
        wire.run(at(30_000));
        let rate = f64::from(wire.sender.scoreboard().una()) / 30.0;
        assert!(rate > 700.0, "{name}: {rate} segments/s");
        assert!(wire.resent().len() > 100, "{name}");
    }
}

#[test]
fn every_transfer_ends_whatever_the_recovery() {
    for name in ["bbr", "bbr3"] {
        for recovery in ["tahoe", "reno", "newreno", "sack"] {
            let lossy = setup(name, recovery).segments(500).script(|packet, n| {
                if n % 17 == 5 && !packet.flags.has(Flags::SYN) {
                    Fate::Drop
                } else {
                    Fate::Deliver
                }
            });
            let mut wire = lossy.build().started();
            wire.run(at(600_000));
            assert!(wire.sender.snapshot().completed_s > 0.0, "{name} over {recovery}");
            assert!(wire.receiver.is_complete());
        }
    }
}
