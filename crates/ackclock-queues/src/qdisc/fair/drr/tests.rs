use serde_json::json;

use super::*;
use crate::qdisc::Limit;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::wire::DropReason;

fn bench(quantum: u64, limit: Limit, era: Era, params: Params) -> Bench<Drr> {
    let env = QdiscEnv { limit, era, ..env() };
    let params = Params { quantum: Some(Bytes(quantum)), ..params };
    Bench::new(Drr::new(params, &env).unwrap())
}

fn bytes(bytes: u64) -> Limit {
    Limit { packets: u32::MAX, bytes }
}

fn order(bench: &mut Bench<Drr>) -> Vec<u32> {
    std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect()
}

#[test]
fn the_example_of_the_paper() {
    // Shreedhar & Varghese, figures 2 and 3: quantum 500; the first queue holds 200, 750, 20 and
    // sends 200 (300 left), then with 800 sends 750 and 20; the second holds 500, 500; the third
    // 200, 600, 100; the fourth 50, 700, 180.
    let mut bench = bench(500, Limit::NONE, Era::Rfc, Params::default());
    for (key, sizes) in
        [(0, [20, 750, 200]), (1, [500, 500, 0]), (2, [100, 600, 200]), (3, [180, 700, 50])]
    {
        for size in sizes.into_iter().rev().filter(|&s| s > 0) {
            bench.arrive(key, size);
        }
    }
    // Numbers: 0..2 first, 3..4 second, 5..7 third, 8..10 fourth.
    // Round 1: 200 | 500 | 200 | 50. Round 2 (800, 500, 800, 950): 750, 20 | 500 | 600, 100 | 700, 180.
    assert_eq!(order(&mut bench), [0, 3, 5, 8, 1, 2, 4, 6, 7, 9, 10]);
}

#[test]
fn a_new_class_waits_for_the_end_of_the_round_and_an_empty_one_loses_its_deficit() {
    let mut bench = bench(1000, Limit::NONE, Era::Rfc, Params::default());
    bench.arrive(0, 400); // 0
    bench.arrive(1, 600); // 1
    bench.arrive(1, 600); // 2
    assert_eq!(bench.depart().unwrap().packet.seq, 0); // class 0 runs empty with 600 left
    assert_eq!(bench.depart().unwrap().packet.seq, 1); // class 1 has 400 left
    bench.arrive(0, 1200); // 3: needs two quanta as the 600 are gone
    bench.arrive(2, 900); // 4
    // Class 1 cannot send (400 < 600); class 0 gets 1000 < 1200; class 2 sends; class 1 with 1400.
    assert_eq!(order(&mut bench), [4, 2, 3]);
}

#[test]
fn the_longest_queue_in_bytes_loses_its_head_or_tail() {
    for (victim, expected) in [(Victim::Head, 1), (Victim::Tail, 3)] {
        let params = Params { victim: Some(victim), ..Params::default() };
        let mut bench = bench(1000, bytes(3000), Era::Rfc, params);
        bench.arrive(0, 800); // 0
        for _ in 0..3 {
            bench.arrive(1, 500); // 1 2 3: 1500 B in class 1
        }
        for _ in 0..8 {
            bench.arrive(2, 100); // 800 B in more packets; the last exceeds 3000 B
        }
        assert_eq!(bench.drops(), [(expected, DropReason::PushedOut)]);
    }
}

#[test]
fn the_longest_may_be_measured_in_packets() {
    let params = Params { longest: Measure::Packets, ..Params::default() };
    let mut bench = bench(1000, bytes(1000), Era::Rfc, params);
    bench.arrive(0, 700);
    for _ in 0..4 {
        bench.arrive(1, 100);
    }
    // 1100 B: class 1 has more packets; its last is the arrival itself.
    assert_eq!(bench.drops(), [(4, DropReason::Overflow)]);
}

#[test]
fn ties_go_to_the_smallest_class_or_in_ns2_to_the_first_in_the_round() {
    for (era, expected) in [(Era::Rfc, 1), (Era::Ns2, 0)] {
        let params = Params { victim: Some(Victim::Head), ..Params::default() };
        let mut bench = bench(1000, bytes(2000), era, params);
        bench.arrive(5, 1000);
        bench.arrive(4, 1000);
        bench.arrive(6, 1000);
        assert_eq!(bench.drops(), [(expected, DropReason::PushedOut)]);
    }
}

#[test]
fn backlogged_classes_share_to_within_a_packet_and_a_quantum() {
    // Four classes with packets of 1500, 40, 700 and 999 B, always backlogged.
    let sizes = [1500u16, 40, 700, 999];
    let mut bench = bench(1500, Limit::NONE, Era::Rfc, Params::default());
    for (key, &size) in sizes.iter().enumerate() {
        for _ in 0..60_000 / u32::from(size) * 10 {
            bench.arrive(key as u32, size);
        }
    }
    let mut sent = [0u64; 4];
    while bench.qdisc_len() > 0 && sent.iter().all(|&s| s < 400_000) {
        let packet = bench.depart().unwrap().packet;
        sent[packet.flow.index()] += u64::from(packet.size);
        let (low, high) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        // Shreedhar & Varghese, theorem 2 with equal quanta: at most quantum + 2 largest packets.
        assert!(high - low <= 1500 + 2 * 1500, "{sent:?}");
    }
    assert!(sent.iter().all(|&s| s > 390_000), "{sent:?}");
}

#[test]
fn every_class_has_its_own_aqm() {
    let codel = serde_json::json!({ "kind": "codel", "target": "5 ms" });
    let params: Params = serde_json::from_value(serde_json::json!({ "aqm": codel })).unwrap();
    let mut bench = bench(1000, Limit::NONE, Era::Rfc, params);
    // Class 0 alone under a CoDel of the same parameters, served when class 0 is served.
    let lone = crate::qdisc::build(&serde_json::from_value(codel).unwrap(), &env(), "q").unwrap();
    let mut lone = Bench::new(lone);
    let (mut dropped, mut expected) = (Vec::new(), Vec::new());
    for ms in 0..1000u64 {
        while bench.qdisc_len() < 40 {
            bench.arrive(0, 1000);
            lone.arrive(0, 1000);
        }
        if ms % 10 == 0 {
            bench.arrive(1, 500);
        }
        if bench.depart().unwrap().packet.flow.0 == 0 {
            lone.depart();
        }
        dropped.extend(bench.dropped.drain(..).map(|(p, _)| (ms, p.flow.0)));
        expected.extend(lone.drops().iter().map(|_| (ms, 0)));
        bench.after(Span::from_millis(1));
        lone.after(Span::from_millis(1));
    }
    // The first at 105 ms, then 1000 ms hold some 20 intervals over square roots.
    assert_eq!(dropped[0], (105, 0));
    assert!(dropped.len() > 15, "{}", dropped.len());
    assert_eq!(dropped, expected);
}

/// A class holds its queue, a deficit of 8 B and whether its turn has begun, padded to 8 B.
#[test]
fn the_state_of_a_class_is_its_queue_and_its_turn() {
    let mut bench = bench(1000, Limit::NONE, Era::Rfc, Params::default());
    for class in 0..3 {
        bench.arrive(class, 1000);
    }
    let queues = bench.qdisc.classes.state_bytes() as u64;
    assert!(queues >= 3 * (4 + 8), "{queues}");
    assert_eq!(bench.qdisc.state(), State { flows: 3, bytes: queues + 3 * (8 + 8) });
}

#[test]
fn bad_parameters_are_reported() {
    let error = |params| refusal::<QdiscEnv, Drr>(params, &env());
    assert_eq!(
        error(json!({ "quantum": 0 })),
        "quantum: 0 B is out of range; expected at least 1 B"
    );
    assert_eq!(
        error(json!({ "aqm": "codl" })),
        "aqm: there is no AQM \"codl\"; did you mean \"codel\"?"
    );
    let wrong = json!({ "aqm": { "kind": "red", "w_q": 2 } });
    assert_eq!(error(wrong), "aqm.w_q: 2 is out of range; expected more than 0 and at most 1");
}

#[test]
fn a_class_pushed_empty_loses_its_deficit() {
    let mut bench = bench(500, bytes(2000), Era::Rfc, Params::default());
    bench.arrive(0, 1200); // 0
    bench.arrive(1, 400); // 1
    bench.arrive(1, 400); // 2
    // Class 0 collects 500 and 1000, which are not enough; class 1 sends both of its packets.
    assert_eq!(bench.depart().unwrap().packet.seq, 1);
    assert_eq!(bench.depart().unwrap().packet.seq, 2);
    bench.arrive(1, 500); // 3
    bench.arrive(1, 500); // 4: 2200 B, and class 0 is the longest
    assert_eq!(bench.drops(), [(0, DropReason::PushedOut)]);
    bench.arrive(0, 900); // 5: needs two turns, as the 1000 B are gone
    assert_eq!(order(&mut bench), [3, 4, 5]);
}

/// CoDel drops class 0's second packet at 20 ms, when it has been late for an interval; the deficit of
/// 1000 B then serves the third.
#[test]
fn what_the_inner_aqm_drops_costs_no_deficit() {
    let codel = json!({ "kind": "codel", "target": "1 ms", "interval": "1 ms" });
    let params: Params = serde_json::from_value(json!({ "aqm": codel })).unwrap();
    let mut bench = bench(1000, Limit::NONE, Era::Rfc, params);
    for _ in 0..6 {
        bench.arrive(0, 1000); // 0 to 5
    }
    for _ in 0..2 {
        bench.arrive(1, 1000); // 6 7
    }
    bench.after(Span::from_millis(10));
    assert_eq!(bench.depart().unwrap().packet.seq, 0);
    assert_eq!(bench.depart().unwrap().packet.seq, 6);
    bench.after(Span::from_millis(10));
    assert_eq!(bench.depart().unwrap().packet.seq, 2);
    assert_eq!(bench.drops(), [(1, DropReason::Forced)]);
    assert_eq!(bench.depart().unwrap().packet.seq, 7);
}
