//! Unit tests of links.

use std::sync::{Arc, Mutex};

use super::*;
use crate::ids::FlowId;
use crate::packet::network::rate::Steps;
use crate::packet::process::clock::Picoseconds;
use crate::qdisc::QdiscCtx;
use crate::rng::Purpose;
use crate::units::{BitRate, Bytes, Time};
use crate::wire::{Flags, Timed};

/// Networks with a hundred thousand flows have several links a flow.
#[test]
fn a_link_takes_four_cache_lines() {
    assert_eq!(size_of::<Link<Picoseconds>>(), 256);
    // A packet that does not wait touches the first two.
    assert_eq!(offset_of!(Link<Picoseconds>, wait_ps), 128);
}

/// Records the changes of the link's rate that are reported to it.
struct RateLog(Arc<Mutex<Vec<(u64, u64)>>>);

impl QueueDisc for RateLog {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        ctx.drop(packet, DropReason::Early);
    }
    fn dequeue(&mut self, _ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        None
    }
    fn len(&self) -> usize {
        0
    }
    fn backlog(&self) -> Bytes {
        Bytes(0)
    }
    fn on_rate(&mut self, time: Time, rate: BitRate) {
        self.0.lock().unwrap().push((time.0, rate.0));
    }
}

#[test]
fn each_rate_is_reported_once_to_a_discipline_before_it_is_called() {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let disc = Box::new(RateLog(Arc::clone(&reported)));
    let steps = [(0, BitRate(5)), (20, BitRate(7)), (30, BitRate(8)), (90, BitRate(9))];
    let rate = Rate::Steps(Box::new(Steps::new(BitRate(1), &steps)));
    let rng = Stream::new(1, Purpose::Qdisc, 0);
    let mut link = Link::<Picoseconds>::new(rate, 0, Limit::NONE, Some(disc), rng);
    let mut dropped = Vec::new();
    let packet = || Packet::new(FlowId(0), 0, 1000, Flags::default());
    link.enqueue(packet(), 10, &[[0, 0]], &mut dropped);
    assert_eq!(*reported.lock().unwrap(), [(0, 5)]);
    assert!(link.transmit(30, &[[0, 0]], &mut dropped).is_none());
    assert_eq!(*reported.lock().unwrap(), [(0, 5), (20, 7), (30, 8)]);
    link.run_timer(89, &[[0, 0]], &mut dropped);
    assert_eq!(reported.lock().unwrap().len(), 3);
}

#[test]
fn counts_include_waiting_times_of_any_length() {
    // 1 bit/s: a packet of 100 B takes 800 s, so the second waits 800 s and the third 1600 s.
    let rate = Rate::Constant(BitRate(1));
    let rng = Stream::new(1, Purpose::Qdisc, 0);
    let mut link = Link::<Picoseconds>::new(rate, 0, Limit::NONE, None, rng);
    let second = 1_000_000_000_000;
    for _ in 0..3 {
        link.count_arrival();
        link.settle(0);
        assert!(link.admit(0, 100).is_some());
    }
    assert_eq!((link.counts().departed_packets, link.counts().wait_ps), (1, 0));
    link.settle(801 * second);
    let counts = link.counts();
    assert_eq!((counts.departed_packets, counts.wait_ps), (2, 800 * u128::from(second)));
    link.settle(1601 * second);
    let counts = link.counts();
    assert_eq!((counts.departed_packets, counts.wait_ps), (3, 2400 * u128::from(second)));
}
