//! Sequences computed by hand: a round trip of 100 ms, so a reordering window of 25 ms.

use proptest::prelude::*;

use super::*;
use crate::cc::SentRecord;
use crate::scoreboard::Stamp;

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

struct Bench {
    board: Scoreboard,
    rack: Rack,
}

impl Bench {
    fn new(params: Params) -> Self {
        let env = RecoveryEnv { limited_transmit: true, era: Era::Rfc };
        let mut rack = Rack::new(params, &env).unwrap();
        (rack.srtt, rack.min_rtt) = (ms(100), ms(100));
        Self { board: Scoreboard::with_marks(), rack }
    }

    fn plain() -> Self {
        Self::new(Params { prr: false, ..Params::default() })
    }

    /// Of five segments four are acknowledged; the last is sent again as a probe, and then a new one.
    fn after_probe() -> Self {
        let mut bench = Self::plain();
        bench.send(0..5);
        bench.acknowledge(110, 4, &[]);
        bench.rack.on_timer(&mut bench.board, at(510));
        assert_eq!(bench.leave(510, 1.0, false), [Next::Retransmit(4)]);
        bench.send([511]);
        bench
    }

    fn stamp(now: Time) -> Stamp {
        let record = SentRecord { sent_at: now, delivered: 0, delivered_at: now, in_flight: 1 };
        Stamp { record, app_limited: false }
    }

    /// Sends one new segment at each of these times, in ms.
    fn send(&mut self, times: impl IntoIterator<Item = u64>) {
        for time in times {
            let seq = self.board.send_new(&Self::stamp(at(time)));
            self.rack.on_sent(&self.board, seq, at(time));
        }
    }

    fn acknowledge(&mut self, now: u64, ack: u32, blocks: &[(u32, u32)]) -> Digest {
        self.acknowledge_with(now, ack, blocks, None)
    }

    fn acknowledge_with(
        &mut self,
        now: u64,
        ack: u32,
        blocks: &[(u32, u32)],
        dsack: Option<(u32, u32)>,
    ) -> Digest {
        let mut heard = AckIn { srtt: ms(100), min_rtt: ms(100), dsack, ..AckIn::at(at(now)) };
        for seq in self.board.una()..ack {
            if !self.board.is_sacked(seq) {
                self.rack.on_delivered(&self.board, seq, at(now));
            }
        }
        if ack > self.board.una() {
            let advance = self.board.advance(ack);
            (heard.acked, heard.delivered) = (advance.acked, advance.delivered);
        }
        for &block in blocks {
            let mut fresh = Vec::new();
            heard.sacked += self.board.sack_each(block, |seq| fresh.push(seq));
            for seq in fresh {
                self.rack.on_delivered(&self.board, seq, at(now));
            }
        }
        heard.delivered += heard.sacked;
        self.rack.on_ack(&mut self.board, &heard)
    }

    /// All that may leave at `now`, in ms.
    fn leave(&mut self, now: u64, cwnd: f64, new_data: bool) -> Vec<Next> {
        let mut all = Vec::new();
        loop {
            let offer = Offer { cwnd, new_data, window_meters: false };
            let next = self.rack.next(&mut self.board, &offer);
            let seq = match next {
                Next::Retransmit(seq) => {
                    self.board.send_again(seq, &Self::stamp(at(now)));
                    seq
                }
                Next::New => self.board.send_new(&Self::stamp(at(now))),
                Next::Nothing => return all,
            };
            self.rack.on_sent(&self.board, seq, at(now));
            all.push(next);
        }
    }
}

/// 1 left at 1 ms and arrives at 101: 0 is lost when it is a round trip and a quarter old, at 125 ms.
#[test]
fn a_segment_is_lost_a_quarter_of_a_round_trip_late() {
    let mut bench = Bench::plain();
    bench.send(0..5);
    assert!(bench.acknowledge(101, 0, &[(1, 2)]).entered.is_none());
    assert_eq!(bench.rack.deadline(), at(125));
    assert_eq!(bench.board.pipe(), 4);
    let entry = bench.rack.on_timer(&mut bench.board, at(125)).entered.unwrap();
    assert_eq!((entry.lost, entry.flight), (1, 5));
    assert_eq!(bench.rack.losses(), [0]);
    // 2, 3 and 4 are in flight; the first repair leaves whatever the window says.
    assert_eq!(bench.board.pipe(), 3);
    assert_eq!(bench.leave(125, 1.0, true), [Next::Retransmit(0)]);
    assert_eq!(bench.board.pipe(), 4);
}

/// Three SACKed and no reordering seen: at once, as with three duplicates.
#[test]
fn three_later_ones_reveal_a_loss_at_once() {
    let mut bench = Bench::plain();
    bench.send(0..6);
    assert!(bench.acknowledge(101, 0, &[(1, 2)]).entered.is_none());
    assert!(bench.acknowledge(102, 0, &[(1, 3)]).entered.is_none());
    assert!(bench.acknowledge(103, 0, &[(1, 4)]).entered.is_some());
    assert_eq!(bench.rack.losses(), [0]);
}

/// The retransmission left at 103, new data at 104: when that arrives at 204, the retransmission is lost.
#[test]
fn a_lost_retransmission_is_found_without_a_timeout() {
    let mut bench = Bench::plain();
    bench.send(0..4);
    assert!(bench.acknowledge(103, 0, &[(1, 4)]).entered.is_some());
    assert_eq!(bench.leave(103, 1.0, false), [Next::Retransmit(0)]);
    bench.send([104]);
    assert!(bench.acknowledge(204, 0, &[(4, 5)]).entered.is_none());
    assert_eq!(bench.rack.losses(), [0]);
    assert_eq!(bench.leave(204, 1.0, false), [Next::Retransmit(0)]);
    assert!(bench.acknowledge(304, 5, &[]).ended);
    assert_eq!((bench.board.pipe(), bench.rack.phase()), (0, Phase::Open));
}

/// 0 arrives after 1: from then on three later ones wait for the window of 25 ms.
#[test]
fn reordering_that_was_seen_is_waited_for() {
    let mut bench = Bench::plain();
    bench.send(0..8);
    bench.acknowledge(101, 0, &[(1, 2)]);
    bench.acknowledge(102, 2, &[]);
    assert!(bench.acknowledge(107, 2, &[(3, 8)]).entered.is_none());
    // Segment 2 left at 2 ms; the newest, 7, took 100.
    assert_eq!(bench.rack.deadline(), at(127));
}

/// A DSACK makes the window of 25 ms one of 50, once a round trip.
#[test]
fn a_duplicate_widens_the_window() {
    let mut bench = Bench::plain();
    bench.send(0..8);
    bench.acknowledge(101, 0, &[(1, 2)]);
    bench.acknowledge(102, 2, &[]);
    bench.acknowledge_with(103, 3, &[], Some((0, 1)));
    bench.acknowledge_with(104, 4, &[], Some((0, 1)));
    bench.acknowledge(106, 4, &[(5, 7)]);
    assert_eq!(bench.rack.deadline(), at(4 + 100 + 50));
}

/// Two round trips after the last segment left: it goes again, or new data if there is some.
#[test]
fn a_probe_leaves_after_two_round_trips() {
    for (new_data, probe) in [(false, Next::Retransmit(4)), (true, Next::New)] {
        let mut bench = Bench::plain();
        bench.send(0..5);
        assert_eq!(bench.rack.deadline(), at(204));
        assert!(bench.rack.on_timer(&mut bench.board, at(204)).entered.is_none());
        assert_eq!(bench.leave(204, 1.0, new_data), [probe]);
        // One probe at a time.
        assert_eq!(bench.rack.deadline(), Time::MAX);
    }
}

/// 1 arrives at 195 ms, six before the probe is due. It took 194 ms, so that 0 is late at 219.
#[test]
fn no_probe_leaves_while_a_segment_is_sacked() {
    let mut bench = Bench::plain();
    bench.send(0..2);
    assert_eq!(bench.rack.deadline(), at(201));
    bench.acknowledge(195, 0, &[(1, 2)]);
    assert_eq!(bench.rack.deadline(), at(219));
}

#[test]
fn one_segment_in_flight_waits_for_the_delayed_acknowledgement_too() {
    let mut bench = Bench::plain();
    bench.send([0]);
    assert_eq!(bench.rack.deadline(), at(400));
    let mut none = Bench::new(Params { tlp: false, prr: false, ..Params::default() });
    none.send([0]);
    assert_eq!(none.rack.deadline(), Time::MAX);
}

/// The last of five was lost and the probe repaired it: acknowledged beyond it, the control is to answer. With
/// a DSACK nothing was lost.
#[test]
fn a_loss_that_the_probe_repaired_is_answered() {
    for (dsack, answered) in [(None, true), (Some((4, 5)), false)] {
        let mut bench = Bench::after_probe();
        let digest = bench.acknowledge_with(611, 6, &[], dsack);
        assert_eq!(digest.entered.is_some(), answered);
        assert_eq!(bench.rack.phase(), Phase::Open);
    }
}

/// RFC 8985 section 7.4.2: an acknowledgement of just the probe may be of the original and leaves the episode open; the
/// next, beyond it and without DSACK, ends it and is answered.
#[test]
fn the_acknowledgement_of_just_the_probe_decides_nothing() {
    let mut bench = Bench::after_probe();
    assert!(bench.acknowledge(605, 5, &[]).entered.is_none());
    assert!(bench.acknowledge(611, 6, &[]).entered.is_some());
}

/// A duplicate of it, without blocks, ends the episode: original and probe have arrived (RFC 8985 section 7.4.2).
#[test]
fn a_duplicate_behind_the_probe_ends_the_episode_without_a_loss() {
    let mut bench = Bench::after_probe();
    for (now, ack) in [(605, 5), (606, 5), (611, 6)] {
        assert!(bench.acknowledge(now, ack, &[]).entered.is_none(), "{now} ms");
    }
}

/// At 150 ms 0 is lost as the first, 1 and 2 are more than a round trip and a window old, 3 is not.
#[test]
fn a_timeout_gives_up_only_what_is_late() {
    let mut bench = Bench::plain();
    bench.send([0, 1, 2, 3, 20, 60]);
    // The first sample: segment 4 took 100 ms.
    bench.acknowledge(120, 0, &[(4, 5)]);
    bench.rack.on_rto(&mut bench.board, at(127));
    assert_eq!(bench.rack.losses(), [0, 1, 2]);
    assert_eq!(bench.board.pipe(), 2);
    assert_eq!(bench.rack.phase(), Phase::Loss);
    assert_eq!(bench.leave(127, 3.0, true), [Next::Retransmit(0)]);
}

/// Segment 2 is sent twice at one instant, as a probe on a path without delay may be: it is lost once.
#[test]
fn a_segment_that_was_sent_twice_at_an_instant_is_lost_once() {
    let mut bench = Bench::plain();
    bench.send(0..3);
    bench.board.send_again(2, &Bench::stamp(at(2)));
    bench.rack.on_sent(&bench.board, 2, at(2));
    bench.rack.on_rto(&mut bench.board, at(1000));
    assert_eq!(bench.rack.losses(), [0, 1, 2]);
    assert_eq!((bench.board.lost_out(), bench.board.pipe()), (3, 0));
}

#[test]
fn what_was_no_loss_is_in_flight_again() {
    let mut bench = Bench::plain();
    bench.send(0..6);
    bench.acknowledge(104, 0, &[(2, 5)]);
    assert_eq!((bench.rack.losses().len(), bench.board.pipe()), (2, 1));
    bench.rack.on_spurious(&mut bench.board);
    assert_eq!((bench.board.pipe(), bench.rack.phase()), (3, Phase::Open));
    assert_eq!(bench.leave(104, 3.0, true), []);
}

/// 2 is lost in the recovery that 0 began, and sent again before it ends: the acknowledgement that ends it begins the
/// next, though it reveals no loss (RFC 5681 section 4.3: losses of two windows are two indications).
#[test]
fn a_loss_under_repair_when_a_recovery_ends_begins_the_next_at_once() {
    let mut bench = Bench::plain();
    bench.send(0..4);
    assert!(bench.acknowledge(103, 0, &[(1, 4)]).entered.is_some());
    assert_eq!(bench.leave(103, 1.0, false), [Next::Retransmit(0)]);
    // 4 is lost, 5 to 7 arrive: found within the recovery.
    bench.send(104..108);
    assert!(bench.acknowledge(207, 0, &[(1, 4), (5, 8)]).entered.is_none());
    assert_eq!(bench.rack.losses(), [0, 4]);
    assert_eq!(bench.leave(207, 9.0, false), [Next::Retransmit(0), Next::Retransmit(4)]);
    assert_eq!((bench.board.lost_out(), bench.board.resent_out()), (2, 2));
    let digest = bench.acknowledge(307, 4, &[]);
    assert!(digest.ended && digest.entered.is_some());
    assert!(bench.rack.losses().is_empty());
    assert!(bench.acknowledge(308, 8, &[]).ended);
    assert_eq!((bench.board.lost_out(), bench.board.resent_out()), (0, 0));
    assert_eq!(bench.rack.phase(), Phase::Open);
}

/// After a timeout a lost retransmission is one more loss to Linux, and none to RFC 8985.
#[test]
fn era_linux_begins_a_recovery_when_a_retransmission_is_lost_after_a_timeout() {
    for era in [Era::Rfc, Era::Linux] {
        let mut bench = Bench::plain();
        bench.rack.is_linux = era == Era::Linux;
        bench.send(0..4);
        bench.acknowledge(101, 1, &[]);
        bench.rack.on_rto(&mut bench.board, at(500));
        assert_eq!(bench.leave(500, 3.0, false).len(), 3);
        // 2 and 3 arrive, sent after 1 was sent again.
        bench.send([501]);
        let digest = bench.acknowledge(601, 1, &[(2, 5)]);
        assert_eq!(bench.rack.losses(), [1]);
        assert_eq!(digest.entered.is_some(), era == Era::Linux);
    }
}

/// Both the retransmission of 1 and 4, which was new, are lost: the first of them counts, whatever is found after it.
#[test]
fn era_linux_begins_a_recovery_when_a_new_segment_is_lost_behind_the_retransmission() {
    let mut bench = Bench::plain();
    bench.rack.is_linux = true;
    bench.send(0..4);
    bench.acknowledge(101, 1, &[]);
    bench.rack.on_rto(&mut bench.board, at(500));
    assert_eq!(bench.leave(500, 3.0, false).len(), 3);
    bench.send([501, 502, 503]);
    let digest = bench.acknowledge(603, 1, &[(2, 4), (5, 7)]);
    assert_eq!(bench.rack.losses(), [1, 4]);
    assert!(digest.entered.is_some());
}

/// Six were sent before it began: it ends when all six are acknowledged, not with five.
#[test]
fn a_recovery_lasts_until_all_that_was_sent_before_it_is_acknowledged() {
    let mut bench = Bench::plain();
    bench.send(0..6);
    assert!(bench.acknowledge(104, 0, &[(1, 5)]).entered.is_some());
    assert_eq!(bench.leave(104, 1.0, false), [Next::Retransmit(0)]);
    bench.send([105]);
    assert!(!bench.acknowledge(204, 5, &[]).ended);
    assert_eq!(bench.rack.phase(), Phase::Recovery);
    assert!(bench.acknowledge(205, 6, &[]).ended);
}

/// RFC 8985 section 6.2 step 1: what took less than the least round trip was the original; what took as long was not.
#[test]
fn a_retransmission_that_took_the_least_round_trip_is_the_newest_that_arrived() {
    for (heard, newest) in [(202, 4), (203, 103)] {
        let mut bench = Bench::plain();
        bench.send(0..5);
        bench.acknowledge(103, 0, &[(1, 5)]);
        assert_eq!(bench.leave(103, 1.0, false), [Next::Retransmit(0)]);
        bench.acknowledge(heard, 5, &[]);
        assert_eq!(bench.rack.newest.0, at(newest), "at {heard} ms");
    }
}

/// 4 left 50 ms before the timeout, which does not give it up, and 5 after it arrives. When the wait for reordering ends, at
/// 450 + 101 + 25 ms, 4 is lost for the first time: that begins a recovery in Linux (`tcp_rack_reo_timeout`), and none by
/// RFC 8985.
#[test]
fn era_linux_begins_a_recovery_when_the_wait_for_reordering_ends_after_a_timeout() {
    for era in [Era::Rfc, Era::Linux] {
        let mut bench = Bench::plain();
        bench.rack.is_linux = era == Era::Linux;
        bench.rack.reordering_seen = true;
        bench.send(0..4);
        bench.acknowledge(101, 1, &[]);
        bench.send([450, 460]);
        bench.rack.on_rto(&mut bench.board, at(500));
        assert_eq!(bench.rack.losses(), [1, 2, 3]);
        assert_eq!(bench.leave(500, 3.0, false), [Next::Retransmit(1)]);
        assert!(bench.acknowledge(561, 1, &[(5, 6)]).entered.is_none());
        assert_eq!(bench.rack.deadline(), at(576));
        let digest = bench.rack.on_timer(&mut bench.board, at(576));
        assert_eq!(bench.rack.losses(), [4]);
        assert_eq!(digest.entered.is_some(), era == Era::Linux);
    }
}

/// A DSACK widens the window; 16 recoveries without one make it what it was, 15 do not (RFC 8985 section 6.2 step 4).
#[test]
fn a_window_that_was_widened_is_given_up_after_sixteen_recoveries() {
    let mut bench = Bench::plain();
    bench.send(0..3);
    bench.acknowledge_with(103, 3, &[], Some((0, 1)));
    let mut now = 200;
    for recoveries in 1..=16u64 {
        let first = bench.board.nxt();
        bench.send(now..now + 5);
        assert!(bench.acknowledge(now + 104, first, &[(first + 1, first + 5)]).entered.is_some());
        bench.leave(now + 104, 1.0, false);
        assert!(bench.acknowledge(now + 210, first + 5, &[]).ended);
        assert_eq!(bench.rack.reo_wnd_mult, if recoveries < 16 { 2 } else { 1 }, "{recoveries}");
        now += 300;
    }
}

/// Ten recoveries after the first DSACK comes another: sixteen more are needed.
#[test]
fn another_duplicate_renews_the_window_that_was_widened() {
    let mut bench = Bench::plain();
    bench.send(0..3);
    bench.acknowledge_with(103, 3, &[], Some((0, 1)));
    let mut now = 200;
    for recoveries in 1..=26u64 {
        let first = bench.board.nxt();
        bench.send(now..now + 5);
        bench.acknowledge(now + 104, first, &[(first + 1, first + 5)]);
        bench.leave(now + 104, 1.0, false);
        assert!(bench.acknowledge(now + 210, first + 5, &[]).ended);
        let times = if recoveries <= 10 { 2 } else { 3 };
        assert_eq!(
            bench.rack.reo_wnd_mult,
            if recoveries < 26 { times } else { 1 },
            "{recoveries}"
        );
        if recoveries == 10 {
            bench.send([now + 220]);
            bench.acknowledge_with(now + 290, first + 6, &[], Some((first, first + 1)));
        }
        now += 300;
    }
}

/// A window of 2^20 segments that all are lost, and 100,000 timeouts of the first: each costs what it finds. A look at all that
/// is outstanding for each would be 10^11 steps.
#[test]
fn a_timeout_costs_no_more_than_it_finds() {
    let mut bench = Bench::plain();
    bench.send(std::iter::repeat_n(0, 1 << 20));
    for timeout in 1..=100_000 {
        bench.rack.on_rto(&mut bench.board, at(1000 * timeout));
        assert_eq!(bench.rack.losses().len(), if timeout == 1 { 1 << 20 } else { 1 });
        assert_eq!(bench.leave(1000 * timeout, 1.0, true), [Next::Retransmit(0)]);
    }
}

proptest! {
    /// RFC 8985, section 6.3: at a timeout the first segment is lost, and all that left a round trip and a reordering window
    /// ago. All that is lost is then sent again in the order of segments.
    #[test]
    fn a_timeout_finds_what_the_rfc_says_in_order(
        steps in prop::collection::vec((0u32..6, 1u64..60, 0u32..12, 1u32..5), 1..120),
    ) {
        let mut bench = Bench::plain();
        let mut now = 0;
        for (what, pause, place, count) in steps {
            now += pause;
            let (una, nxt) = (bench.board.una(), bench.board.nxt());
            let begin = (una + place).min(nxt);
            match what {
                0 => bench.send(std::iter::repeat_n(now, count as usize)),
                1 if begin > una => {
                    bench.acknowledge(now, begin, &[]);
                }
                2 if begin > una && begin + count <= nxt => {
                    let _ = bench.acknowledge(now, una, &[(begin, begin + count)]);
                }
                3 if bench.rack.deadline() <= at(now) => {
                    let _ = bench.rack.on_timer(&mut bench.board, at(now));
                }
                4 => drop(bench.leave(now, f64::from(place), place % 2 == 0)),
                5 => {
                    let Bench { board, rack } = &mut bench;
                    let open: Vec<u32> = (una..nxt).filter(|&seq| !board.is_sacked(seq)).collect();
                    let is_late = |seq: u32| board.sent_at(seq) + rack.rtt + rack.reo_wnd <= at(now);
                    let (mut before, mut lost) = (Vec::new(), Vec::new());
                    for &seq in &open {
                        if board.is_marked_lost(seq) {
                            before.push(seq);
                        } else if seq == una || is_late(seq) {
                            lost.push(seq);
                        }
                    }
                    rack.on_rto(board, at(now));
                    prop_assert_eq!(rack.losses(), &lost[..]);
                    let mut all = [before, lost].concat();
                    all.sort_unstable();
                    let expected: Vec<Next> = all.into_iter().map(Next::Retransmit).collect();
                    // Some of it is repaired now, the rest after what happens next.
                    let some = bench.leave(now, f64::from(place), false);
                    prop_assert_eq!(&some[..], &expected[..some.len()]);
                }
                _ => {}
            }
        }
    }
}

/// A NACK of the third of five: it is sent again at once, however small the window, and is not lost twice; one of a segment
/// that has arrived says nothing.
#[test]
fn a_nack_is_a_loss_at_once_and_once() {
    let mut bench = Bench::plain();
    bench.send(0..5);
    let digest = bench.rack.on_nack(&mut bench.board, 2, at(50));
    assert_eq!(digest.entered.map(|entry| entry.lost), Some(1));
    assert_eq!(bench.rack.losses(), [2]);
    let again = bench.rack.on_nack(&mut bench.board, 2, at(51));
    assert!(again.entered.is_none() && bench.rack.losses().is_empty());
    assert_eq!(bench.leave(52, 1.0, false), [Next::Retransmit(2)]);
    bench.acknowledge(110, 0, &[(3, 4)]);
    bench.rack.on_nack(&mut bench.board, 3, at(111));
    assert!(bench.rack.losses().is_empty());
    // What was sent again is cut off again.
    bench.rack.on_nack(&mut bench.board, 2, at(120));
    assert_eq!(bench.rack.losses(), [2]);
}

/// RFC 6298, 5.4: a timeout repeats the earliest segment, though the window is full of segments that left less than 125 ms ago and
/// are not lost; once, and what follows waits for room.
#[test]
fn a_timeout_repeats_the_earliest_segment_however_full_the_window() {
    for prr in [false, true] {
        let mut bench = Bench::new(Params { prr, ..Params::default() });
        bench.send(0..2);
        bench.acknowledge(100, 1, &[]);
        bench.send(150..158);
        for timeout in [200, 240, 274] {
            bench.rack.on_rto(&mut bench.board, at(timeout));
            assert_eq!(bench.board.pipe(), 8);
            assert_eq!(bench.leave(timeout, 1.0, false), [Next::Retransmit(1)]);
        }
    }
}

/// The option leaves losses to the timer: what left 125 ms before a timeout, and no less, is lost then.
#[test]
fn a_timeout_takes_for_lost_what_a_least_reordering_window_left_to_it() {
    for reo_wnd in [Span::ZERO, ms(1000)] {
        let mut bench = Bench::new(Params { prr: false, reo_wnd, ..Params::default() });
        bench.send(0..2);
        bench.acknowledge(100, 1, &[]);
        bench.send([110, 120, 130]);
        bench.rack.on_rto(&mut bench.board, at(245));
        assert_eq!(bench.rack.losses(), [1, 2, 3]);
        assert_eq!(bench.board.pipe(), 1);
    }
}

/// Ten are sent; the last nine arrive before the first. With a window of 25 ms it is lost then, with one of a second it is
/// not.
#[test]
fn a_least_reordering_window_waits_for_what_is_overtaken() {
    for (reo_wnd, lost) in [(Span::ZERO, true), (ms(1000), false)] {
        let mut bench = Bench::new(Params { prr: false, reo_wnd, ..Params::default() });
        bench.send(0..10);
        bench.acknowledge(120, 0, &[(1, 10)]);
        bench.acknowledge(150, 0, &[]);
        assert_eq!(bench.board.lost_out() > 0, lost);
    }
}
