use serde_json::json;

use super::*;
use crate::near::near;
use crate::qdisc::QueueDisc;
use crate::qdisc::managed::Managed;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::wire::Flags;

fn bench(params: Params) -> Bench<Managed<Sfb>> {
    Bench::new(Managed::<Sfb>::new(params, &env()).unwrap())
}

#[test]
fn a_bin_learns_as_computed_by_hand() {
    let params = Params {
        levels: 2,
        bins: 1,
        d1: 0.25,
        d2: 0.125,
        target: Some(2),
        max: Some(100),
        ..Params::default()
    };
    let mut bench = bench(params);
    // Finds 0 (already 0), 1 (below the target): p stays 0. Finds 2: up.
    for _ in 0..3 {
        bench.arrive(0, 1000);
    }
    near::<12>(bench.probe("p_min"), 0.25);
    while bench.depart().is_some() {}
    bench.arrive(0, 1000);
    near::<12>(bench.probe("p_min"), 0.125);
}

#[test]
fn a_frozen_bin_changes_once_in_its_time() {
    let freeze = Span::from_millis(100);
    let params =
        Params { levels: 1, bins: 1, d1: 0.0625, target: Some(1), freeze, ..Params::default() };
    let mut bench = bench(Params { max: Some(1000), ..params });
    while bench.qdisc_len() == 0 {
        bench.arrive(0, 1000);
    }
    for _ in 0..5 {
        bench.arrive(0, 1000);
    }
    near::<12>(bench.probe("p_min"), 0.0625);
    bench.after(Span::from_millis(100));
    bench.arrive(0, 1000);
    near::<12>(bench.probe("p_min"), 0.125);
}

#[test]
fn a_flow_never_has_more_than_max_in_its_emptiest_bin() {
    let mut bench = bench(Params { target: Some(4), max: Some(6), ..Params::default() });
    for _ in 0..50 {
        bench.arrive(0, 1000);
    }
    assert!(bench.qdisc_len() <= 6);
    assert!(bench.drops().iter().any(|d| d.1 == DropReason::Forced));
    // Another flow that shares not all of its bins is let in.
    let before = bench.qdisc_len();
    bench.arrive(1, 1000);
    assert_eq!(bench.qdisc_len(), before + 1);
}

#[test]
fn by_the_printed_rule_any_full_bin_drops() {
    // Of one flow all bins hold the same: it never has more than the target and one.
    let printed = Params { target: Some(4), full: Full::Any, d1: 1e-9, ..Params::default() };
    let mut printed_rule = bench(printed.clone());
    for _ in 0..50 {
        printed_rule.arrive(0, 1000);
    }
    assert_eq!(printed_rule.qdisc_len(), 5);
    // 64 flows over 2 bins of each of 8 levels share 256 bin vectors: the emptiest bin of a flow holds
    // less than its fullest, so the least bins let more wait than any.
    let many = |full| {
        let params = Params {
            levels: 8,
            bins: 2,
            target: Some(40),
            max: Some(41),
            d1: 1e-9,
            full,
            ..Params::default()
        };
        let mut bench = bench(params);
        for turn in 0..40 {
            for flow in 0..(64 - turn) {
                bench.arrive(flow, 1000);
            }
        }
        bench.qdisc_len()
    };
    assert!(many(Full::Any) < many(Full::Least));
    // In each level both bins hold at most 41: 82 in all.
    assert!(many(Full::Any) <= 82);
}

#[test]
fn an_unresponsive_flow_gets_the_burst_and_then_the_rate() {
    let params = Params {
        levels: 1,
        bins: 1,
        d1: 1.0,
        d2: 1e-9,
        target: Some(1),
        max: Some(100_000),
        ..Params::default()
    };
    let mut bench = bench(params);
    bench.arrive(0, 1000); // finds an empty bin
    for _ in 0..1000 {
        bench.arrive(0, 1000);
    }
    // 20 at once; the thousand came at the same moment.
    assert_eq!(bench.qdisc_len(), 21);
    near::<12>(bench.probe("penalised"), 980.0);
    bench.after(Span::from_millis(500));
    for _ in 0..1000 {
        bench.arrive(0, 1000);
    }
    // Half a second at 10 packets/s.
    assert_eq!(bench.qdisc_len(), 26);
}

#[test]
fn the_share_of_innocent_flows_in_the_box_is_that_of_the_manual() {
    // tc-sfb(8): with M unresponsive flows a flow shares all its 8 bins of 16 with them with
    // probability (1 - (15/16)^M)^8; for M = 16 that is 0.0293, for M = 32 0.3222.
    let rule = Sfb::new(Params::default(), &env()).unwrap().rule;
    for (flows, expected) in [(16u32, 0.0293f64), (32, 0.3222)] {
        let mut hit = 0u32;
        let (tables, innocents) = (200u32, 200);
        for seed in 0..tables {
            let mut table = Table::new(rule, mix(u64::from(seed)), 0, 1);
            for key in 0..flows {
                for slot in &table.slots(rule, key)[..8] {
                    table.bins[*slot as usize].p = 1.0;
                }
            }
            for key in 1000..1000 + innocents {
                let slots = table.slots(rule, key);
                let all = slots[..8].iter().all(|slot| table.bins[*slot as usize].p >= 1.0);
                hit += u32::from(all);
            }
        }
        let share = f64::from(hit) / f64::from(tables * innocents);
        // Tables vary: their share of full bins differs by a few in a hundred.
        assert!((share / expected - 1.0).abs() < 0.12, "{flows}: {share}, not {expected}");
    }
}

/// With d1 = 1/64 the bin is at 1 after 64 arrivals at a full bin, 640 ms; from then on, and while the second table learns (from
/// 700 ms), the flow is unresponsive. A flow below 1 is forgotten at the change.
#[test]
fn a_rehash_takes_over_what_the_second_table_has_learnt_of_unresponsive_flows() {
    for (warmup_ms, d1, least, most) in [
        (300, 1.0 / 64.0, 25.0 / 64.0, 31.0 / 64.0),
        (0, 1.0 / 64.0, 0.0, 1.0 / 64.0),
        (300, 1.0 / 256.0, 0.0, 1.0 / 256.0),
    ] {
        let mut bench = bench(Params {
            levels: 1,
            bins: 1,
            d1,
            target: Some(1),
            max: Some(100_000),
            rehash: Span::from_millis(1000),
            warmup: Span::from_millis(warmup_ms),
            penalty_burst: 1000.0,
            ..Params::default()
        });
        for _ in 0..99 {
            bench.arrive(0, 1000);
            bench.after(Span::from_millis(10));
        }
        assert!(bench.probe("p_min") > 0.3);
        bench.after(Span::from_millis(10));
        bench.arrive(0, 1000);
        let fresh = bench.probe("p_min");
        assert!((least..=most).contains(&fresh), "{warmup_ms} {d1}: {fresh}");
        // Packets stored before the new table's time leave without trace in it.
        while bench.depart().is_some() {}
        assert_eq!(bench.qdisc.aqm.table.bins[0].waiting, 0);
    }
}

#[test]
fn half_of_the_marks_become_drops_at_three_quarters() {
    let mut sfb = Sfb::new(Params { ecn: true, ..Params::default() }, &env()).unwrap();
    let mut rng = Stream::new(1, crate::rng::Purpose::Qdisc, 0);
    let (mut marked, mut dropped) = (0, 0);
    let n = 40_000;
    for _ in 0..n {
        match sfb.decide(Least { p: 0.75, waiting: 0 }, Time::ZERO, &mut rng) {
            Verdict::MarkElseDrop(_) => marked += 1,
            Verdict::Drop(_) => dropped += 1,
            Verdict::Pass => {}
        }
    }
    // p = 3/4: 2 p - 1 = 1/2 dropped, 1/4 marked; 4 standard deviations of 40000 draws.
    assert!((f64::from(dropped) / f64::from(n) - 0.5).abs() < 0.01, "{dropped}");
    assert!((f64::from(marked) / f64::from(n) - 0.25).abs() < 0.009, "{marked}");
}

#[test]
fn capable_packets_are_marked_below_one_half() {
    let params =
        Params { ecn: true, levels: 1, bins: 1, d1: 0.4, target: Some(1), ..Params::default() };
    let mut bench = bench(Params { max: Some(100_000), ..params });
    bench.arrive_with(0, 1000, Flags::ECT);
    bench.arrive_with(0, 1000, Flags::ECT);
    assert_eq!(bench.drops(), []);
}

#[test]
fn sizes_come_from_the_buffer_and_wrong_ones_are_reported() {
    // 200 packets over 23 bins: 1.5 x 8.7 = 13.
    let limit = Limit { packets: 200, bytes: u64::MAX };
    let params = Params { levels: 2, bins: 23, ..Params::default() };
    let sfb = Sfb::new(params, &QdiscEnv { limit, ..env() }).unwrap();
    assert_eq!((sfb.rule.target, sfb.max), (13, 17));
    let error = |params| refusal::<QdiscEnv, Sfb>(params, &env());
    let text = error(json!({ "levels": 0 }));
    assert_eq!(text, "levels: 0 is out of range; expected from 1 to 16");
    let text = error(json!({ "bins": 300 }));
    let expected =
        "bins: 300 is out of range; expected 300^8, to the power of the levels, of at most 2^60";
    assert_eq!(text, expected);
    let text = error(json!({ "warmup": "700 s" }));
    assert_eq!(text, "warmup: 700 s is out of range; expected at most rehash, 600 s");
}

/// With one bin, what it counts is the queue itself: for the table in use all along; the one that learns counts what is
/// stored of unresponsive flows.
#[test]
fn bins_count_what_waits_before_and_after_a_rehash() {
    for (d1, learnt) in [(1e-6, 0), (1.0, 2)] {
        let mut bench = bench(Params {
            levels: 1,
            bins: 1,
            d1,
            d2: 1e-6,
            target: Some(3),
            max: Some(100_000),
            rehash: Span::from_millis(1000),
            warmup: Span::from_millis(400),
            penalty_burst: 1000.0,
            ..Params::default()
        });
        let waiting = |bench: &Bench<Managed<Sfb>>| {
            let next = bench.qdisc.aqm.next.as_ref().map(|table| table.bins[0].waiting);
            (bench.qdisc.aqm.table.bins[0].waiting, next)
        };
        for _ in 0..3 {
            bench.arrive(0, 1000);
        }
        assert_eq!(waiting(&bench), (3, None));
        bench.after(Span::from_millis(600));
        // The bin is full, and with d1 = 1 the flow unresponsive.
        for _ in 0..2 {
            bench.arrive(0, 1000);
        }
        // The three of before are not in the second table, and leave without trace in it.
        assert_eq!(waiting(&bench), (5, Some(learnt)));
        for left in [4, 3, 2, 1, 0] {
            bench.depart();
            assert_eq!(waiting(&bench), (left, Some(learnt.min(left))));
        }
        for _ in 0..2 {
            bench.arrive(0, 1000);
        }
        let second = waiting(&bench).1.unwrap();
        bench.after(Span::from_millis(400));
        bench.arrive(0, 1000);
        assert_eq!(waiting(&bench), (second + 1, None));
        for left in (0..=second).rev() {
            while bench.qdisc.aqm.departed + u64::from(left) < bench.qdisc.aqm.stored {
                bench.depart();
            }
            assert_eq!(waiting(&bench), (left, None));
        }
    }
}

/// Tokens come once for the time that has passed: 10 a second.
#[test]
fn the_penalty_box_fills_at_its_rate() {
    let mut sfb = Sfb::new(Params::default(), &env()).unwrap();
    let time = |ms| Time::ZERO + Span::from_millis(ms);
    let burst = (0..30).filter(|_| sfb.pardon(time(1000))).count();
    assert_eq!(burst, 20);
    // 100 ms bring one token each, however often it is looked into.
    let pardoned: Vec<bool> =
        [1050, 1100, 1100, 1150, 1199, 1200, 1200].map(|ms| sfb.pardon(time(ms))).into();
    assert_eq!(pardoned, [false, true, false, false, false, true, false]);
}

/// Eight levels of 16 bins, each of 16 B here; twice that while a second table learns.
#[test]
fn state_is_that_of_the_tables() {
    let mut bench = bench(Params::default());
    let before = bench.qdisc.state();
    assert_eq!(before.flows, 0);
    bench.arrive(0, 1000);
    assert_eq!(bench.qdisc.state().bytes, before.bytes + 8 * 16 * 16);
    bench.after(Span::from_millis(590_000));
    bench.arrive(0, 1000);
    assert_eq!(bench.qdisc.state().bytes, before.bytes + 2 * 8 * 16 * 16);
}

/// The first outputs of `SplitMix64` from the seed 1234567, as its authors' program prints them.
#[test]
fn flows_are_hashed_by_splitmix64() {
    let seed = 1_234_567u64;
    assert_eq!(mix(seed), 6_457_827_717_110_365_317);
    assert_eq!(mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)), 3_203_168_211_198_807_973);
}
