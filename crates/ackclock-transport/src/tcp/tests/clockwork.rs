//! Timers, samples, handshake, ends of transfers.

use super::wire::{Fate, Setup};
use super::{Fixed, at, ms};
use crate::cc::{Ack, Congestion, CongestionControl, Signal, Window};
use crate::endpoint::Endpoint;
use crate::tcp::{Receiver, Sender};
use crate::units::{BitRate, Bytes, Time};
use crate::wire::{Flags, Packet};

fn is_first(packet: &Packet, seq: u32) -> bool {
    let again = packet.flags.has(Flags::RETX) || packet.flags.has(Flags::SYN);
    !packet.is_ack() && !again && packet.seq == seq
}

/// Twenty segments by a window of one, no queue: every segment takes 201 ms. Segment 7 is lost and
/// repaired by the timer; its acknowledgement arrives 201 ms after the retransmission and 1.2 s after
/// the first transmission, and must give no sample.
#[test]
fn karn_no_sample_from_a_retransmitted_segment_unless_timestamps_show_which() {
    for timestamps in [false, true] {
        let mut setup = Setup::new("reno").dropping(&[7]).segments(20);
        setup.cc = Some(Box::new(Fixed));
        setup.config.timestamps = timestamps;
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        assert_eq!(wire.sender.snapshot().timeouts, 1);
        let samples = wire.record.tables.rtts.len();
        assert_eq!(samples, if timestamps { 20 } else { 19 });
        assert!(wire.record.tables.rtts.iter().all(|row| (row.rtt.seconds() - 0.201).abs() < 1e-6));
    }
}

/// An initial window of ten, of which segment 7 is lost twice: the timer repairs it, and its acknowledgement
/// also covers 8 to 58, which were sent once, the last of them 0.382 s earlier. Karn's rule allows no sample
/// of it.
#[test]
fn karn_no_sample_if_any_segment_acknowledged_was_sent_again() {
    for timestamps in [false, true] {
        let mut tries = 0;
        let mut setup = Setup::new("reno").segments(200).script(move |packet, _| {
            tries += u32::from(!packet.is_ack() && packet.seq == 7);
            let lost = !packet.is_ack() && packet.seq == 7 && tries <= 2;
            if lost { Fate::Drop } else { Fate::Deliver }
        });
        setup.config.timestamps = timestamps;
        setup.config.initial_window = 10;
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        assert_eq!(wire.sender.snapshot().timeouts, 1);
        assert!(wire.sender.snapshot().completed_s > 0.0);
        assert!(wire.record.tables.rtts.len() > 20, "{}", wire.record.tables.rtts.len());
        let longest =
            wire.record.tables.rtts.iter().map(|row| row.rtt.seconds()).fold(0.0, f64::max);
        // 200 ms of propagation, and a queue of at most 34 segments at 1 ms each.
        assert!(longest <= 0.235, "{timestamps}: {longest}");
    }
}

/// Lets nothing out between the first timeout and the second.
#[derive(Default)]
struct Stalls {
    timeouts: u32,
}

impl CongestionControl for Stalls {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, event: &Congestion) {
        self.timeouts += u32::from(matches!(event.signal, Signal::Rto { .. }));
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        (self.timeouts == 1).then_some(BitRate(0))
    }
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// RTO 1 s, then 2 s: RFC 6298 (5.6) sets the timer after each timeout, whatever left.
#[test]
fn the_timer_runs_again_after_a_timeout_at_which_nothing_left() {
    let mut setup = Setup::new("sack").dropping(&[3]).segments(5);
    setup.cc = Some(Box::new(Stalls::default()));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let end = wire.sender.snapshot();
    assert_eq!((end.timeouts, end.retransmits), (2, 1));
    let sent = wire.left.iter().find(|p| p.seq == 3).unwrap().at;
    assert_eq!(wire.resent()[0].at, sent + ms(3000));
    assert!(end.completed_s > 0.0);
}

/// A window of one: each segment leaves as the acknowledgement before it arrives, 100 ms after the
/// receiver sent that.
#[test]
fn data_echo_the_receiver_s_clock_of_the_newest_acknowledgement() {
    let stamps = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let log = std::rc::Rc::clone(&stamps);
    let mut setup =
        Setup::new("reno").segments(5).config(|c| c.timestamps = true).script(move |packet, _| {
            let clocks = packet.timestamps().unwrap();
            log.borrow_mut().push((packet.is_ack(), clocks.sender, clocks.receiver));
            Fate::Deliver
        });
    setup.cc = Some(Box::new(Fixed));
    setup.build().started().run(at(60_000));
    let stamps = stamps.borrow();
    let (mut clock, mut data) = (0, 0);
    for &(is_ack, ts, ts_peer) in stamps.iter() {
        if is_ack {
            clock = ts_peer;
        } else {
            assert_eq!(ts_peer, clock, "the first has none, later data the newest");
            if clock != 0 {
                data += 1;
                // 16 ticks to a microsecond.
                assert_eq!(ts - clock, 100_000 * 16);
            }
        }
    }
    assert_eq!(data, 4, "all but the first, before which nothing was heard");
}

/// One segment arrives, then the path is dead. RTT 201 ms: RTO is 1 s, doubled to 60 s.
#[test]
fn a_dead_path_is_probed_at_doubling_intervals_and_ssthresh_is_held() {
    let mut wire = Setup::new("newreno")
        .config(|c| c.initial_window = 8)
        .script(
            |packet, number| {
                if !packet.is_ack() && number >= 8 { Fate::Drop } else { Fate::Deliver }
            },
        )
        .build()
        .started();
    wire.run(at(200_000));
    let times: Vec<f64> = wire.resent().iter().map(|p| p.at.seconds()).collect();
    let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]).round()).collect();
    assert_eq!(gaps, [2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
    let log = wire.log.lock().unwrap();
    let consecutive: Vec<Signal> = log.iter().map(|e| e.signal).collect();
    let expected: Vec<Signal> = (1..=8).map(|consecutive| Signal::Rto { consecutive }).collect();
    assert_eq!(consecutive, expected);
    // The first window doubled cwnd to 16; the first timeout halves what was in flight.
    assert_eq!(log[0].in_flight, 16);
    let now = wire.sender.snapshot();
    assert_eq!((now.cwnd, now.ssthresh, now.in_flight), (1.0, 8.0, 1));
}

/// A window of three with one lost leaves two duplicates.
#[test]
fn limited_transmit_makes_two_duplicates_enough() {
    for recovery in ["reno", "newreno", "sack"] {
        for limited in [false, true] {
            let mut setup = Setup::new(recovery).dropping(&[9]).segments(30);
            setup.cc = Some(Box::new(Fixed));
            setup.config.initial_window = 3;
            setup.config.limited_transmit = limited;
            let mut wire = setup.build().started();
            wire.run(at(60_000));
            let end = wire.sender.snapshot();
            assert_eq!(end.timeouts, u64::from(!limited), "{recovery} {limited}");
            assert!(end.completed_s > 0.0);
        }
    }
}

#[test]
fn flight_size_of_a_reduction_leaves_out_limited_transmit() {
    for recovery in ["reno", "newreno", "sack"] {
        let mut setup = Setup::new(recovery).dropping(&[20]).segments(60);
        setup.config.initial_window = 10;
        setup.config.initial_ssthresh = 10.0;
        let mut wire = setup.build().started();
        wire.run(at(60_000));
        let log = wire.log.lock().unwrap();
        assert_eq!(log.len(), 1);
        assert_eq!((log[0].signal, log[0].in_flight), (Signal::FastRetransmit { lost: 1 }, 11));
    }
}

#[test]
fn after_idling_longer_than_the_timeout_the_window_restarts() {
    for (pause, expected) in [(500, 32.0), (5000, 4.0)] {
        let mut wire = Setup::new("sack").segments(1000).config(|c| c.initial_window = 4).build();
        wire.call(true, |sender, _, ctx| {
            sender.supply_until(28, ctx);
            sender.start(ctx);
        });
        wire.run(at(900));
        assert_eq!(wire.sender.snapshot().in_flight, 0);
        let last = wire.left.last().unwrap().at;
        wire.run(last + ms(pause));
        let before = wire.left.len();
        wire.call(true, |sender, _, ctx| sender.supply_until(1000, ctx));
        assert_eq!(wire.sender.snapshot().cwnd, expected);
        assert_eq!((wire.left.len() - before) as f64, expected);
    }
}

#[test]
fn a_finite_transfer_ends_with_its_short_segment() {
    let mut setup = Setup::new("sack");
    setup.size = Some(Bytes(3 * 1000 + 7));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let sizes: Vec<u16> = wire.left.iter().map(|p| p.size).collect();
    assert_eq!(sizes, [1040, 1040, 1040, 47]);
    let fins: Vec<bool> = wire.left.iter().map(|p| p.flags.has(Flags::FIN)).collect();
    assert_eq!(fins, [false, false, false, true]);
    assert_eq!(wire.receiver.snapshot().delivered_bytes, 3007);
    let end = wire.sender.snapshot();
    // Rounds 0, 1 2, 3: three round trips of 201 ms and 1 ms for the second of two.
    assert!((end.completed_s - 0.604).abs() < 0.002, "{}", end.completed_s);
    assert_eq!(wire.sender.deadline().at, Time::MAX);
    assert_eq!(wire.states().last(), Some(&"done"));
}

#[test]
fn nothing_to_send_is_done_at_once() {
    let mut setup = Setup::new("sack").config(|c| c.syn = true);
    setup.size = Some(Bytes(0));
    let wire = setup.build().started();
    assert!(wire.left.is_empty());
    assert_eq!(wire.states(), ["done"]);
}

#[test]
fn a_lost_last_segment_waits_for_the_timer() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let mut wire = Setup::new(recovery).dropping(&[19]).segments(20).build().started();
        wire.run(at(60_000));
        let end = wire.sender.snapshot();
        assert_eq!((end.timeouts, end.retransmits), (1, 1), "{recovery}");
        assert_eq!(wire.receiver.snapshot().delivered_packets, 20);
    }
}

#[test]
fn a_handshake_takes_one_round_trip_and_gives_the_first_sample() {
    let mut wire = Setup::new("sack")
        .segments(4)
        .config(|c| {
            c.syn = true;
            c.initial_window = 10;
        })
        .build()
        .started();
    wire.run(at(60_000));
    assert!(wire.left[0].flags.has(Flags::SYN));
    assert_eq!(wire.left[0].size, 40);
    let first_data = wire.left[1..].iter().map(|p| (p.at, p.seq)).collect::<Vec<_>>();
    assert_eq!(first_data, (0..4).map(|seq| (at(201), seq)).collect::<Vec<_>>());
    assert_eq!(wire.record.tables.rtts[0].rtt, ms(201));
}

/// The first two requests are lost: sent at 0, 1 and 3 s. Then cwnd is 1 and the RTO 3 s, by which the
/// lost first segment is repaired.
#[test]
fn a_lost_request_means_a_window_of_one_and_three_seconds() {
    let mut wire = Setup::new("sack")
        .segments(4)
        .config(|c| {
            c.syn = true;
            c.initial_window = 10;
        })
        .script(|packet, number| {
            let lost = !packet.is_ack() && number < 2 || is_first(packet, 0);
            if lost { Fate::Drop } else { Fate::Deliver }
        })
        .build()
        .started();
    wire.run(at(60_000));
    let times: Vec<Time> = wire.left.iter().take(5).map(|p| p.at).collect();
    assert_eq!(times[..3], [at(0), at(1000), at(3000)]);
    assert_eq!((wire.left[3].seq, wire.left[3].flags), (0, Flags::default()));
    assert!(times[4] == times[3] + ms(3000), "{times:?}");
    assert!(wire.sender.snapshot().completed_s > 0.0);
}

/// Window 10 with every packet of one window marked: one reduction, one CWR, then silence.
/// The mark of 20 halves the window before the loss of 24, sent in the same window, is known.
/// 1040 bytes at 1.04 Mbit/s take 8 ms.
#[test]
fn the_receiver_window_bounds_what_is_outstanding_and_cwnd() {
    let mut wire = Setup::new("sack").config(|c| c.receiver_window = 12).build().started();
    wire.check = |sender, _| assert!(sender.scoreboard().outstanding() <= 12);
    wire.run(at(5000));
    assert_eq!(wire.sender.snapshot().cwnd, 12.0);
}

#[test]
fn nothing_new_leaves_after_the_stop_but_losses_are_repaired() {
    let mut setup = Setup::new("newreno")
        .script(|packet, _| if is_first(packet, 17) { Fate::Drop } else { Fate::Deliver });
    setup.stop = Some(at(900));
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let last_new = wire.left.iter().filter(|p| !p.flags.has(Flags::RETX)).map(|p| p.at).max();
    assert!(last_new <= Some(at(900)));
    let (got, sent) = (wire.receiver.snapshot(), wire.sender.snapshot());
    assert_eq!(got.delivered_packets, sent.sent_packets - sent.retransmits);
    assert_eq!(sent.completed_s, 0.0);
    assert_eq!(wire.states().last(), Some(&"done"));
}

#[test]
fn lost_acknowledgements_cost_nothing_when_later_ones_arrive() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let mut wire = Setup::new(recovery)
            .segments(300)
            .config(|c| c.initial_window = 10)
            .script(
                |packet, number| {
                    if packet.is_ack() && number % 2 == 0 { Fate::Drop } else { Fate::Deliver }
                },
            )
            .build()
            .started();
        wire.run(at(60_000));
        let end = wire.sender.snapshot();
        assert_eq!((end.retransmits, end.timeouts), (0, 0), "{recovery}");
        assert!(end.completed_s > 0.0);
    }
}

/// Remembers what is reported to it, holds the window and sets a timer.
/// Window 100 over a path of 200 ms and 1000 segments per second: 100 per round of 201 ms, and within a
/// round never more than the bottleneck gives.
#[test]
fn acknowledgements_of_what_was_never_sent_or_long_since_acknowledged_are_ignored() {
    let mut wire = Setup::new("sack").config(|c| c.initial_window = 4).build().started();
    wire.run(at(250));
    let before = wire.sender.snapshot();
    for seq in [1, 1_000_000] {
        wire.call(true, |sender, _, ctx| {
            let ack = Packet::new(crate::ids::FlowId(0), seq, 40, Flags::ACK);
            sender.on_packet(ack, ctx);
        });
    }
    let after = wire.sender.snapshot();
    assert_eq!(after.acks_received, before.acks_received + 2);
    assert_eq!((after.cwnd, after.in_flight), (before.cwnd, before.in_flight));
}

#[test]
fn timeouts_are_in_a_row_only_without_progress_between_them() {
    let mut wire = Setup::new("sack")
        .segments(200)
        .script(|packet, number| {
            let outage = (1..3).contains(&number) || (40..80).contains(&number);
            if !packet.is_ack() && outage { Fate::Drop } else { Fate::Deliver }
        })
        .build()
        .started();
    wire.run(at(600_000));
    let log = wire.log.lock().unwrap();
    let timeouts: Vec<Signal> =
        log.iter().map(|e| e.signal).filter(|s| matches!(s, Signal::Rto { .. })).collect();
    assert_eq!(timeouts[..2], [Signal::Rto { consecutive: 1 }; 2]);
    assert!(timeouts.contains(&Signal::Rto { consecutive: 2 }));
}

#[test]
fn a_fast_retransmission_restarts_the_timer() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let mut wire = Setup::new(recovery).dropping(&[15]).segments(60).build().started();
        wire.check = |sender, left| {
            if let Some(resent) = left.iter().find(|p| p.flags.has(Flags::RETX)) {
                assert_eq!(sender.deadline().armed, resent.at);
            }
        };
        wire.run(at(60_000));
        assert_eq!(wire.resent().len(), 1, "{recovery}");
    }
}

/// Eight holes take eight round trips of 200 ms; the RTO is 1 s.
#[test]
fn an_impatient_newreno_times_out_in_a_long_recovery_and_a_patient_one_does_not() {
    for impatient in [true, false] {
        let mut setup = Setup::new("newreno").dropping(&[15, 17, 19, 21, 23, 25, 27, 29]);
        let spec = serde_json::json!({"kind": "newreno", "impatient": impatient});
        setup.recovery = serde_json::from_value(spec).unwrap();
        let mut wire = setup.segments(100).build().started();
        wire.run(at(60_000));
        assert_eq!(wire.sender.snapshot().timeouts, u64::from(impatient));
    }
}

#[test]
fn after_a_lost_request_the_restart_window_is_one_too() {
    let mut wire = Setup::new("sack")
        .segments(100)
        .config(|c| {
            c.syn = true;
            c.initial_window = 10;
        })
        .script(
            |packet, number| {
                if !packet.is_ack() && number == 0 { Fate::Drop } else { Fate::Deliver }
            },
        )
        .build();
    wire.call(true, |sender, _, ctx| {
        sender.supply_until(20, ctx);
        sender.start(ctx);
    });
    wire.run(at(30_000));
    wire.call(true, |sender, _, ctx| sender.supply_until(100, ctx));
    assert_eq!(wire.sender.snapshot().cwnd, 1.0);
}

/// Between two packets of a flow come those of a thousand others.
#[test]
fn what_every_packet_touches_fits_in_few_cache_lines() {
    assert_eq!((Sender::BUSY_BYTES, Receiver::BUSY_BYTES), (448, 128));
}
