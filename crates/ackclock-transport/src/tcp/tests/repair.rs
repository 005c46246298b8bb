//! Repairs by time (RACK-TLP), reports of duplicates, and repairs that turn out to be needless.

use std::sync::{Arc, Mutex};

use super::wire::{Fate, Setup, Wire};
use super::{at, ms};
use crate::cc::{Ack, Congestion, CongestionControl, Signal, Window};
use crate::endpoint::Endpoint;
use crate::era::Era;
use crate::wire::{Flags, Packet};

fn first(packet: &Packet, seqs: &[u32]) -> bool {
    let again = packet.flags.has(Flags::RETX) || packet.flags.has(Flags::SYN);
    !packet.is_ack() && !again && seqs.contains(&packet.seq)
}

/// Halves at a loss, notes spurious ones.
#[derive(Default)]
struct Notes {
    log: Arc<Mutex<Vec<(Signal, f64)>>>,
}

impl CongestionControl for Notes {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.log.lock().unwrap().push((event.signal, window.cwnd));
        window.ssthresh = (window.cwnd / 2.0).max(2.0);
        window.cwnd =
            if matches!(event.signal, Signal::Rto { .. }) { 1.0 } else { window.ssthresh };
    }
    fn on_spurious(&mut self, window: &mut Window, event: &Congestion, before: &Window) {
        *window = *before;
        self.log.lock().unwrap().push((event.signal, window.cwnd));
    }
    fn uses_slow_start(&self) -> bool {
        false
    }
}

type Log = Arc<Mutex<Vec<(Signal, f64)>>>;

fn with_notes(setup: Setup) -> (Wire, Log) {
    let notes = Notes::default();
    let log = Arc::clone(&notes.log);
    let setup = Setup { cc: Some(Box::new(notes)), ..setup };
    (setup.build().started(), log)
}

fn of_twenty(recovery: &str) -> Setup {
    Setup::new(recovery).config(|c| c.initial_window = 20)
}

#[test]
fn the_last_segment_needs_no_timeout_where_a_probe_leaves() {
    for (recovery, timeouts) in [("sack", 1), ("rack", 0)] {
        let mut wire = of_twenty(recovery).segments(20).dropping(&[19]).build().started();
        wire.run(at(60_000));
        let end = wire.sender.snapshot();
        assert_eq!((end.timeouts, end.retransmits), (timeouts, 1), "{recovery}");
        assert!(end.completed_s > 0.0);
    }
}

/// Segment 5 is lost twice. By count nobody sees it; by time the data sent after the repair shows it.
#[test]
fn a_repair_that_is_lost_needs_no_timeout_either() {
    for (recovery, timeouts) in [("sack", 1), ("rack", 0)] {
        let mut lost = 0;
        let mut wire = of_twenty(recovery)
            .segments(200)
            .script(move |packet, _| {
                let hit = !packet.is_ack() && packet.seq == 5 && lost < 2;
                lost += u32::from(hit);
                if hit { Fate::Drop } else { Fate::Deliver }
            })
            .build()
            .started();
        wire.run(at(60_000));
        let end = wire.sender.snapshot();
        assert_eq!(end.timeouts, timeouts, "{recovery}");
        assert!(end.completed_s > 0.0);
    }
}

/// Segment 25 is 2 ms late and teaches the sender that there is reordering; 125 is 30 ms late, less than a quarter
/// of the round trip of 201 ms: by count it is lost, by time it is not.
#[test]
fn reordering_that_was_seen_is_no_loss_by_time() {
    for (recovery, repaired) in [("sack", vec![125]), ("rack", vec![])] {
        let setup = of_twenty(recovery).segments(300).script(|packet, _| {
            if first(packet, &[25]) {
                Fate::Late(ms(2))
            } else if first(packet, &[125]) {
                Fate::Late(ms(30))
            } else {
                Fate::Deliver
            }
        });
        let mut wire = with_notes(setup).0;
        wire.run(at(60_000));
        assert_eq!(wire.resent_seqs(), repaired, "{recovery}");
    }
}

#[test]
fn a_duplicate_is_reported_before_all_other_blocks() {
    let mut setup = of_twenty("sack")
        .segments(30)
        .script(|packet, _| if first(packet, &[3, 10]) { Fate::Twice } else { Fate::Deliver });
    setup.config.dsack = true;
    let mut wire = setup.build().started();
    wire.run(at(60_000));
    let got = wire.receiver.snapshot();
    assert_eq!(got.duplicate_packets, 2);
    let end = wire.sender.snapshot();
    assert_eq!((end.retransmits, end.recoveries), (0, 0));
}

/// Segment 25 is 40 ms late; its repair is a duplicate, and the window is 20 again.
#[test]
fn a_reported_duplicate_takes_the_reduction_back() {
    for recovery in ["sack", "rack"] {
        for dsack in [false, true] {
            let mut setup = of_twenty(recovery).segments(300).script(|packet, _| {
                if first(packet, &[25]) { Fate::Late(ms(40)) } else { Fate::Deliver }
            });
            setup.config.dsack = dsack;
            let (mut wire, log) = with_notes(setup);
            wire.run(at(60_000));
            let mut expected = vec![(Signal::FastRetransmit { lost: 1 }, 20.0)];
            if dsack {
                expected.push((Signal::Spurious, 20.0));
            }
            assert_eq!(*log.lock().unwrap(), expected, "{recovery}");
            assert_eq!(wire.sender.snapshot().spurious, u64::from(dsack));
        }
    }
}

#[test]
fn a_genuine_loss_is_not_taken_back() {
    for recovery in ["newreno", "sack", "rack"] {
        let mut setup = of_twenty(recovery).segments(300).dropping(&[25, 27, 200]);
        (setup.config.dsack, setup.config.eifel, setup.config.frto) = (true, true, true);
        setup.config.timestamps = true;
        let (mut wire, log) = with_notes(setup);
        wire.run(at(60_000));
        assert!(log.lock().unwrap().iter().all(|(signal, _)| *signal != Signal::Spurious));
        assert_eq!(wire.resent_seqs(), [25, 27, 200], "{recovery}");
    }
}

/// What leaves from 201 to 220 ms takes 900 ms more: the timer expires for nothing at 1220 ms, and the originals
/// arrive before the repair does. By timestamps the first ACK shows it, by F-RTO the second.
#[test]
fn a_sudden_delay_makes_a_timeout_that_is_taken_back() {
    for recovery in ["newreno", "sack", "rack"] {
        for (eifel, frto) in [(true, false), (false, true)] {
            let mut setup = of_twenty(recovery).segments(400).script(|packet, _| {
                let late: Vec<u32> = (20..40).collect();
                if first(packet, &late) { Fate::Late(ms(900)) } else { Fate::Deliver }
            });
            (setup.config.eifel, setup.config.frto, setup.config.timestamps) = (eifel, frto, eifel);
            if recovery == "rack" {
                setup.recovery = serde_json::from_str(r#"{"kind": "rack", "tlp": false}"#).unwrap();
            }
            let (mut wire, log) = with_notes(setup);
            wire.run(at(60_000));
            let log = log.lock().unwrap();
            let case = format!("{recovery} eifel {eifel} frto {frto}: {log:?}");
            assert_eq!(log[0], (Signal::Rto { consecutive: 1 }, 20.0), "{case}");
            assert_eq!(log[1], (Signal::Spurious, 20.0), "{case}");
            // The one segment that the timer sent again, and no more.
            assert_eq!(wire.resent_seqs(), [20], "{case}");
            assert!(wire.sender.snapshot().completed_s > 0.0);
        }
    }
}

/// A segment that overtakes nothing: an acknowledgement names the newest block first, and what older blocks report beside
/// it has not been overtaken. 25 and 60 are lost; with the ACKs between 49 and 63 lost too, one report has both news.
#[test]
fn blocks_of_one_report_show_no_reordering() {
    let acks_lost = |packet: &Packet| packet.is_ack() && !packet.sack_blocks().is_empty();
    let mut since = 0;
    let setup = Setup::new("rack").config(|c| c.initial_window = 80).segments(400).script(
        move |packet, _| {
            if first(packet, &[25, 60, 120]) {
                return Fate::Drop;
            }
            since += u32::from(acks_lost(packet));
            if acks_lost(packet) && (20..38).contains(&since) { Fate::Drop } else { Fate::Deliver }
        },
    );
    let mut wire = with_notes(setup).0;
    wire.run(at(60_000));
    assert_eq!(wire.resent_seqs(), [25, 60, 120]);
    // Without reordering the third later one reveals a loss: 120 is sent again as soon as 123 is reported, which
    // left 3 ms after it, or at the end of a recovery; not a quarter of the round trip of 200 ms later.
    let left = |seq: u32, again: bool| {
        let transmission =
            wire.left.iter().find(|p| p.seq == seq && p.flags.has(Flags::RETX) == again);
        transmission.map(|p| p.at).unwrap()
    };
    let waited = left(120, true).since(left(123, false));
    assert!(waited < ms(215), "{waited:?}");
}

/// Segment 25 is lost; its repair is in flight when the recovery that 100 began ends. That of 25 comes with a timestamp older
/// than the first retransmission of the episode in hand, and proves nothing: both were needed.
#[test]
fn the_acknowledgement_of_an_earlier_repair_is_no_proof() {
    for lost in [&[25, 44, 62, 80, 99][..], &[25, 40, 55, 70, 85, 100][..]] {
        let mut setup = of_twenty("rack")
            .segments(400)
            .script(|packet, _| if first(packet, lost) { Fate::Drop } else { Fate::Deliver });
        (setup.config.dsack, setup.config.eifel, setup.config.frto) = (true, true, true);
        setup.config.timestamps = true;
        let (mut wire, log) = with_notes(setup);
        wire.run(at(60_000));
        let log = log.lock().unwrap();
        assert!(
            log.len() > 1 && log.iter().all(|(signal, _)| *signal != Signal::Spurious),
            "{log:?}"
        );
        assert_eq!(wire.resent_seqs(), lost);
    }
}

/// What leaves from 201 to 220 ms takes 3.5 s more, and the first repair is lost: the timer expires twice. RFC 5682 section
/// 2.1 tests the first timeout alone; Linux also the second of the same segment (section 3.2).
#[test]
fn a_delay_over_two_timeouts_is_taken_back_in_era_linux_alone() {
    for era in [Era::Rfc, Era::Linux] {
        let mut lost = false;
        let setup = of_twenty("rack").segments(400).script(move |packet, _| {
            let late: Vec<u32> = (20..40).collect();
            if first(packet, &late) {
                return Fate::Late(ms(3500));
            }
            let drop = !packet.is_ack() && packet.seq == 20 && !std::mem::replace(&mut lost, true);
            if drop { Fate::Drop } else { Fate::Deliver }
        });
        let mut setup = setup;
        (setup.config.frto, setup.config.era) = (true, era);
        setup.recovery = serde_json::from_str(r#"{"kind": "rack", "tlp": false}"#).unwrap();
        let (mut wire, log) = with_notes(setup);
        wire.run(at(60_000));
        let log = log.lock().unwrap();
        assert!(wire.sender.snapshot().timeouts >= 2, "{era:?} {log:?}");
        let undone = log.iter().any(|(signal, _)| *signal == Signal::Spurious);
        assert_eq!(undone, era == Era::Linux, "{era:?} {log:?}");
    }
}
