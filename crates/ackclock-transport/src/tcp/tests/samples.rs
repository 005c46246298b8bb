//! Rate samples as a control gets them, and what its pacer is allowed.

use std::sync::{Arc, Mutex};

use super::wire::{Fate, Setup};
use super::{at, ms};
use crate::cc::{Ack, Congestion, CongestionControl, Lost, RateSample, Window};
use crate::endpoint::Endpoint;
use crate::units::{BitRate, Time};

#[derive(Default)]
struct Heard {
    acks: Vec<Ack>,
    lost: Vec<Lost>,
    restarts: Vec<Time>,
    ended: Vec<Time>,
}

/// Needs samples, holds the window, paces at a given rate.
#[derive(Default)]
struct Model {
    heard: Arc<Mutex<Heard>>,
    pacing: Option<BitRate>,
    quantum: u32,
    budget: u32,
}

impl CongestionControl for Model {
    fn on_ack(&mut self, _window: &mut Window, ack: &Ack) {
        self.heard.lock().unwrap().acks.push(*ack);
    }
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn uses_slow_start(&self) -> bool {
        false
    }
    fn wants_samples(&self) -> bool {
        true
    }
    fn on_lost(&mut self, _window: &mut Window, lost: &Lost) {
        self.heard.lock().unwrap().lost.push(*lost);
    }
    fn on_restart(&mut self, _window: &mut Window, now: Time) {
        self.heard.lock().unwrap().restarts.push(now);
    }
    fn on_recovery_end(&mut self, _window: &mut Window, now: Time) {
        self.heard.lock().unwrap().ended.push(now);
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing
    }
    fn send_quantum(&self) -> u32 {
        self.quantum
    }
    fn burst_budget(&self) -> u32 {
        self.budget
    }
}

fn with(setup: Setup, model: Model) -> (Setup, Arc<Mutex<Heard>>) {
    let heard = Arc::clone(&model.heard);
    (Setup { cc: Some(Box::new(model)), ..setup }, heard)
}

fn samples(heard: &Mutex<Heard>) -> Vec<RateSample> {
    heard.lock().unwrap().acks.iter().map(|ack| ack.sample.unwrap()).collect()
}

/// Four in flight over 201 ms: the first flight is delivered by 201, .. 204 ms, from then on four segments
/// arrive each 201 ms.
#[test]
fn a_window_of_four_is_delivered_four_segments_a_round_trip() {
    let (setup, heard) =
        with(Setup::new("sack").config(|c| c.initial_window = 4), Model::default());
    let mut wire = setup.build().started();
    wire.run(at(1000));
    let samples = samples(&heard);
    let first: Vec<(u64, u64)> =
        samples[..4].iter().map(|s| (s.delivered, s.interval.0 / ms(1).0)).collect();
    assert_eq!(first, [(1, 201), (2, 202), (3, 203), (4, 204)]);
    // The first flight left at once, so the second took as long to send as the first to be delivered.
    let second: Vec<u64> = samples[4..8].iter().map(|s| s.interval.0 / ms(1).0).collect();
    assert_eq!(second, [201, 202, 203, 204]);
    for sample in &samples[8..] {
        assert_eq!((sample.delivered, sample.interval, sample.newly_acked), (4, ms(201), 1));
        assert!((sample.delivery_rate - 4.0 / 0.201).abs() < 1e-9);
        assert_eq!((sample.tx_in_flight, sample.rtt), (4, Some(ms(201))));
        assert!(sample.is_cwnd_limited && !sample.is_app_limited && sample.has_selective_acks);
    }
}

#[test]
fn each_loss_is_reported_once_with_what_was_in_flight() {
    let setup = Setup::new("sack").config(|c| c.initial_window = 10).dropping(&[2, 3]).segments(40);
    let (setup, heard) = with(setup, Model::default());
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let heard = heard.lock().unwrap();
    let lost: Vec<(u32, u32, u64)> =
        heard.lost.iter().map(|lost| (lost.seq, lost.tx_in_flight, lost.lost)).collect();
    // Segment 2 when 4, 5 and 6 are reported, 3 with it.
    assert_eq!(lost, [(2, 3, 1), (3, 4, 2)]);
    let reported: u32 = heard.acks.iter().map(|ack| ack.sample.unwrap().newly_lost).sum();
    let delivered: u32 = heard.acks.iter().map(|ack| ack.acked).sum();
    assert_eq!((reported, delivered, wire.resent().len()), (2, 40, 2));
    let repaired: Vec<bool> =
        heard.acks.iter().map(|ack| ack.sample.unwrap().in_recovery).collect();
    assert!(repaired.contains(&true) && !repaired.last().unwrap());
    assert_eq!(heard.ended.len(), 1);
}

#[test]
fn without_sack_a_fast_recovery_reports_the_segment_that_it_repairs() {
    for recovery in ["reno", "newreno"] {
        let setup =
            Setup::new(recovery).config(|c| c.initial_window = 10).dropping(&[2]).segments(40);
        let (setup, heard) = with(setup, Model::default());
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        let heard = heard.lock().unwrap();
        let lost: Vec<u32> = heard.lost.iter().map(|lost| lost.seq).collect();
        assert_eq!((lost, wire.resent().len()), (vec![2], 1), "{recovery}");
        let delivered: u32 = heard.acks.iter().map(|ack| ack.acked).sum();
        assert_eq!(delivered, 40);
    }
}

/// All that was in flight at a timeout is lost, and the recovery from it ends when it has been repaired.
#[test]
fn a_timeout_reports_all_that_was_in_flight() {
    let setup = Setup::new("sack")
        .config(|c| c.initial_window = 4)
        .segments(8)
        .script(|packet, n| if !packet.is_ack() && n < 4 { Fate::Drop } else { Fate::Deliver });
    let (setup, heard) = with(setup, Model::default());
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let heard = heard.lock().unwrap();
    let lost: Vec<(u32, Time)> = heard.lost.iter().map(|lost| (lost.seq, lost.now)).collect();
    assert_eq!(lost, [(0, at(1000)), (1, at(1000)), (2, at(1000)), (3, at(1000))]);
    assert_eq!(heard.ended, [at(1204)]);
    assert_eq!(wire.sender.snapshot().timeouts, 1);
}

/// Segment 0 is lost thrice while others are reported by SACK only: one sent once ends the backoff of a sender that
/// measures each segment, as RFC 8985 and rate samples do; another keeps it until the hole is filled.
#[test]
fn a_segment_sent_once_and_sacked_ends_the_backoff_of_a_sender_that_measures_it() {
    for (measures, expected_s) in [(true, 1.0), (false, 2.0)] {
        let setup = Setup::new("sack").config(|c| c.initial_window = 8).script(|packet, _| {
            if !packet.is_ack() && packet.seq == 0 { Fate::Drop } else { Fate::Deliver }
        });
        let setup = if measures {
            with(setup, Model::default()).0
        } else {
            Setup { cc: Some(Box::new(super::Fixed)), ..setup }
        };
        let mut wire = setup.build().started();
        let timeout = (0..9000).find(|&n| {
            wire.run(at(n));
            wire.sender.snapshot().timeouts > 0
        });
        assert!((wire.sender.snapshot().rto_s - 2.0).abs() < 1e-9);
        wire.run(at(timeout.unwrap() + 900));
        let snapshot = wire.sender.snapshot();
        assert_eq!((snapshot.timeouts, snapshot.rto_s), (1, expected_s), "{measures}");
    }
}

/// Three segments, a pause, two more: the control hears of the restart, and the samples of what left
/// after the pause are marked.
#[test]
fn a_restart_after_idleness_is_reported_and_its_samples_are_marked() {
    let setup = Setup::new("sack").segments(100).config(|c| c.initial_window = 10);
    let (setup, heard) = with(setup, Model::default());
    let mut wire = setup.build();
    wire.call(true, |sender, _, ctx| {
        sender.supply_until(3, ctx);
        sender.start(ctx);
    });
    wire.run(at(5000));
    wire.call(true, |sender, _, ctx| sender.supply_until(5, ctx));
    wire.run(at(9000));
    let limited: Vec<bool> = samples(&heard).iter().map(|sample| sample.is_app_limited).collect();
    assert_eq!(limited, [false, false, false, true, true]);
    assert_eq!(heard.lock().unwrap().restarts, [at(5000)]);
}

/// Four of eight segments fill the window when the others come, so that the window held them back.
#[test]
fn a_full_window_is_not_limited_by_an_application_that_has_no_more() {
    let setup = Setup::new("sack").segments(100).config(|c| c.initial_window = 4);
    let (setup, heard) = with(setup, Model::default());
    let mut wire = setup.build();
    wire.call(true, |sender, _, ctx| {
        sender.supply_until(4, ctx);
        sender.start(ctx);
    });
    wire.run(at(50));
    wire.call(true, |sender, _, ctx| sender.supply_until(8, ctx));
    wire.run(at(1000));
    let limited: Vec<bool> = samples(&heard).iter().map(|sample| sample.is_app_limited).collect();
    assert_eq!(limited, [false; 8]);
}

/// 1040 bytes at 1.04 Mbit/s take 8 ms; three leave together and are followed 24 ms later.
#[test]
fn a_quantum_leaves_together_and_the_rate_is_kept() {
    let model = Model { pacing: Some(BitRate(1_040_000)), quantum: 3, ..Model::default() };
    let setup = Setup::new("sack").segments(10).config(|c| c.initial_window = 100);
    let mut wire = with(setup, model).0.build().started();
    wire.run(at(100));
    let times: Vec<Time> = wire.left.iter().map(|p| p.at).collect();
    let expected: Vec<Time> = (0..10).map(|i| at(24 * (i / 3))).collect();
    assert_eq!(times, expected);
}

/// Two acknowledgements are lost, so the third, at 217 ms, lets three segments leave; a budget of 1 lets
/// one of them catch up with the pace.
#[test]
fn a_burst_budget_is_what_the_pacer_may_catch_up_with() {
    for (budget, expected) in [(0, [0, 8, 16, 217, 225, 233]), (1, [0, 8, 16, 217, 217, 225])] {
        let model =
            Model { pacing: Some(BitRate(1_040_000)), budget, quantum: 1, ..Model::default() };
        let setup = Setup::new("sack")
            .segments(6)
            .config(|c| c.initial_window = 3)
            .script(|packet, n| if packet.is_ack() && n < 2 { Fate::Drop } else { Fate::Deliver });
        let mut wire = with(setup, model).0.build().started();
        wire.run(at(1000));
        let times: Vec<Time> = wire.left.iter().map(|p| p.at).collect();
        assert_eq!(times, expected.map(at), "budget {budget}");
    }
}

/// 10 Gbit/s: 832 ns for 1040 bytes, to the picosecond, over a thousand segments.
#[test]
fn deadlines_are_exact() {
    let model = Model { pacing: Some(BitRate(10_000_000_000)), ..Model::default() };
    let setup = Setup::new("sack").segments(1000).config(|c| c.initial_window = 1000);
    let mut wire = with(setup, model).0.build().started();
    wire.run(at(10));
    assert_eq!(wire.left.len(), 1000);
    assert!(wire.left.iter().enumerate().all(|(i, p)| p.at == Time(832_000 * i as u64)));
}
