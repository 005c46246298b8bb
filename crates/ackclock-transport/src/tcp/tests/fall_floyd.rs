//! The behaviours compared in K. Fall and S. Floyd, "Simulation-based Comparisons of Tahoe, Reno, and
//! SACK TCP", ACM CCR 26(3), 1996: one to four drops in a window.
//!
//! Slow start sends segments 15 to 30 in one round trip of about 200 ms; drops are among these.
//! Limited transmit is off, as it was then.

use super::at;
use super::wire::{Setup, Wire};
use crate::endpoint::Endpoint;

const DROPS: [&[u32]; 4] = [&[15], &[15, 18], &[15, 18, 21], &[15, 18, 21, 24]];

fn run(recovery: &str, drops: &'static [u32]) -> Wire {
    let mut wire = Setup::new(recovery)
        .dropping(drops)
        .segments(200)
        .config(|c| c.limited_transmit = false)
        .build()
        .started();
    wire.run(at(60_000));
    let end = wire.receiver.snapshot();
    assert_eq!(
        (end.delivered_packets, end.delivered_bytes),
        (200, 200_000),
        "{recovery} {drops:?}"
    );
    wire
}

/// Time from the first to the last retransmission in milliseconds.
fn repair_ms(wire: &Wire) -> f64 {
    let resent = wire.resent();
    let span = resent.last().unwrap().at.since(resent[0].at);
    span.seconds() * 1e3
}

#[test]
fn one_drop_is_repaired_by_one_retransmission_in_all() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let wire = run(recovery, DROPS[0]);
        assert_eq!(wire.resent_seqs(), [15], "{recovery}");
        let end = wire.sender.snapshot();
        assert_eq!((end.timeouts, end.recoveries), (0, 1), "{recovery}");
    }
}

#[test]
fn tahoe_needs_no_timeout_but_slow_starts_and_sends_again_what_had_arrived() {
    for drops in &DROPS[1..] {
        let wire = run("tahoe", drops);
        let end = wire.sender.snapshot();
        assert_eq!(end.timeouts, 0);
        let resent = wire.resent_seqs();
        assert!(drops.iter().all(|seq| resent.contains(seq)));
        assert!(resent.len() > drops.len(), "{resent:?}");
        assert_eq!(wire.receiver.snapshot().duplicate_packets as usize, resent.len() - drops.len());
        assert!(wire.states().contains(&"loss"));
    }
}

/// Two drops halve Reno twice. Three leave it without duplicates: after the second fast retransmit
/// 9.5 + 6 duplicates do not exceed the 19 in flight, so nothing new leaves and the timer must expire.
#[test]
fn reno_halves_twice_for_two_drops_and_waits_for_the_timer_with_three() {
    let two = run("reno", DROPS[1]).sender.snapshot();
    assert_eq!((two.timeouts, two.recoveries, two.retransmits), (0, 2, 2));
    for drops in &DROPS[2..] {
        let wire = run("reno", drops);
        assert!(wire.sender.snapshot().timeouts >= 1, "{drops:?}");
        assert!(repair_ms(&wire) > 1000.0, "a timeout takes at least the minimum RTO");
    }
}

#[test]
fn newreno_retransmits_one_segment_per_round_trip() {
    for drops in &DROPS {
        let wire = run("newreno", drops);
        let end = wire.sender.snapshot();
        assert_eq!((end.timeouts, end.recoveries), (0, 1));
        assert_eq!(wire.resent_seqs(), *drops);
        let trips = (drops.len() - 1) as f64;
        // Each retransmission waits for the answer to the one before: 200 ms and its queueing.
        assert!((200.0 * trips..240.0 * trips + 1.0).contains(&repair_ms(&wire)));
    }
}

#[test]
fn sack_repairs_all_within_one_round_trip() {
    for drops in &DROPS {
        let wire = run("sack", drops);
        let end = wire.sender.snapshot();
        assert_eq!((end.timeouts, end.recoveries), (0, 1));
        assert_eq!(wire.resent_seqs(), *drops);
        assert!(repair_ms(&wire) < 200.0, "{drops:?}: {} ms", repair_ms(&wire));
    }
}

#[test]
fn the_states_of_a_recovery_are_recorded_in_order() {
    let wire = run("sack", DROPS[1]);
    assert_eq!(wire.states(), ["slow-start", "recovery", "avoidance", "done"]);
    // A row at the start and one per acknowledgement.
    assert_eq!(wire.record.tables.windows.len() as u64, 1 + wire.sender.snapshot().acks_received);
}
