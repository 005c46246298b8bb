use proptest::prelude::*;

use super::*;
use crate::cc::SentRecord;

fn stamp_at(ns: u64) -> Stamp {
    Stamp {
        record: SentRecord {
            sent_at: Time(ns),
            delivered: 0,
            delivered_at: Time::ZERO,
            in_flight: 0,
        },
        app_limited: false,
    }
}

fn with_sent(n: u32) -> Scoreboard {
    let mut board = Scoreboard::default();
    for i in 0..n {
        board.send_new(&stamp_at(u64::from(i) + 1));
    }
    board
}

/// Ten sent, 0 missing. SACKs of 1, 2, 3 arrive: only the third makes 0 lost.
#[test]
fn the_third_sacked_segment_above_makes_a_segment_lost() {
    let mut board = with_sent(10);
    assert_eq!(board.pipe(), 10);
    assert_eq!(board.sack((1, 2)), 1);
    assert_eq!(board.sack((1, 3)), 1);
    assert!(!board.is_lost(0));
    assert_eq!(board.pipe(), 8);
    assert_eq!(board.sack((1, 4)), 1);
    assert!(board.is_lost(0));
    assert!(!board.is_lost(4));
    // 4..10 may be in flight; 0 is lost, 1..4 have arrived.
    assert_eq!(board.pipe(), 6);
    assert_eq!(board.lost(), 1);
    let hole = board.next_hole(board.lost_below()).unwrap();
    board.retransmit_hole(hole);
    assert_eq!((hole, board.pipe()), (0, 7));
}

#[test]
fn a_timeout_loses_all_but_the_sacked_and_go_back_fills_holes_in_order() {
    let mut board = with_sent(6);
    board.sack((2, 4));
    board.lose_all();
    assert_eq!((board.pipe(), board.flight(), board.lost()), (0, 0, 4));
    let mut resent = Vec::new();
    while let Some(seq) = board.next_hole(board.lost_below()) {
        board.retransmit_hole(seq);
        resent.push(seq);
    }
    assert_eq!(resent, [0, 1, 4, 5]);
    assert_eq!(board.pipe(), 4);
    board.send_new(&stamp_at(9));
    assert_eq!(board.pipe(), 5);
}

#[test]
fn an_advance_distinguishes_ambiguous_from_clean() {
    let mut board = with_sent(4);
    board.send_again(0, &stamp_at(50));
    let first = board.advance(1);
    assert!(first.ambiguous);
    assert_eq!(first.clean_sent_at, None);
    let second = board.advance(3);
    assert!(!second.ambiguous);
    assert_eq!(second.clean_sent_at, Some(Time(3)));
    assert_eq!((second.acked, second.delivered), (2, 2));
}

#[test]
fn the_highest_hole_is_found_under_trailing_blocks() {
    let mut board = with_sent(10);
    assert_eq!(board.highest_hole(), Some(9));
    board.sack((8, 10));
    assert_eq!(board.highest_hole(), Some(7));
    board.sack((0, 8));
    assert_eq!(board.highest_hole(), None);
}

#[derive(Clone, Debug)]
enum Op {
    Send(u8),
    Ack(u8),
    Sack(u8, u8),
    Retransmit,
    Timeout,
    Restart,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1u8..20).prop_map(Op::Send),
        2 => (0u8..12).prop_map(Op::Ack),
        5 => (0u8..40, 1u8..6).prop_map(|(a, n)| Op::Sack(a, n)),
        4 => Just(Op::Retransmit),
        1 => Just(Op::Timeout),
        1 => Just(Op::Restart),
    ]
}

proptest! {
    #[test]
    fn pipe_is_set_pipe_of_the_rfc_after_every_operation(ops in prop::collection::vec(op(), 1..120)) {
        let mut board = Scoreboard::default();
        let mut written_off = 0;
        for op in ops {
            match op {
                Op::Send(n) => (0..n).for_each(|_| { board.send_new(&stamp_at(1)); }),
                Op::Ack(n) => {
                    let ack = (board.una() + u32::from(n)).min(board.nxt());
                    if ack > board.una() {
                        board.advance(ack);
                    }
                }
                Op::Sack(a, n) => {
                    let start = board.una() + 1 + u32::from(a);
                    if start < board.nxt() {
                        board.sack((start, start + u32::from(n)));
                    }
                }
                Op::Retransmit => {
                    if let Some(seq) = board.next_hole(board.sacked_end()) {
                        prop_assert!(!board.is_sacked(seq));
                        board.retransmit_hole(seq);
                        board.send_again(seq, &stamp_at(2));
                    }
                }
                Op::Timeout => {
                    board.lose_all();
                    written_off = board.nxt();
                }
                Op::Restart => board.restart_retransmission(),
            }
            prop_assert_eq!(board.pipe(), board.pipe_by_definition(written_off));
            let lost = (board.una()..board.nxt()).filter(|&s| board.is_lost(s)).count();
            prop_assert_eq!(board.lost() as usize, lost);
            let hole = (board.una()..board.nxt()).rev().find(|&s| !board.is_sacked(s));
            prop_assert_eq!(board.highest_hole(), hole);
        }
    }
}

#[test]
fn four_records_fit_into_a_cache_line() {
    assert_eq!(size_of::<Record>(), 16);
}

proptest! {
    /// What a segment left with comes back with its acknowledgement, whether or not the count of those
    /// delivered was raised at that moment, and however often the ring grew and shrank meanwhile.
    #[test]
    fn a_stamp_comes_back_as_it_was(
        steps in prop::collection::vec((prop::bool::weighted(0.8), 0u32..40, any::<bool>()), 1..60),
    ) {
        let mut board = Scoreboard::default();
        let mut sent = std::collections::VecDeque::new();
        let mut now = 0u64;
        for (at_once, count, limited) in steps {
            for _ in 0..count {
                now += 7;
                let record = SentRecord {
                    sent_at: Time(now),
                    delivered: now / 3,
                    delivered_at: Time(if at_once { now } else { now / 2 }),
                    in_flight: board.pipe() + 1,
                };
                let stamp = Stamp { record, app_limited: limited };
                board.send_new(&stamp);
                sent.push_back(stamp);
            }
            // Most of them leave again: the ring shrinks in the turns that follow.
            while sent.len() > 3 {
                let newest = board.advance(board.una() + 1).newest;
                prop_assert_eq!(Some(newest), sent.pop_front());
            }
            if let Some(&last) = sent.back() {
                let newest = board.advance(board.nxt()).newest;
                prop_assert_eq!(newest, last);
                sent.clear();
            }
        }
    }
}
