use serde_json::json;

use super::*;
use crate::qdisc::managed::Managed;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::units::BitRate;
use crate::wire::Flags;

fn bench(params: Params, env: &QdiscEnv) -> Bench<Managed<Red>> {
    Bench::new(Managed::<Red>::new(params, env).unwrap())
}

fn ns2() -> QdiscEnv {
    QdiscEnv { era: Era::Ns2, ..env() }
}

/// Packet mode, average equal to the queue seen at the arrival before (`w_q` = 1).
fn follow(min_th: f64, max_th: f64) -> Params {
    Params {
        min_th: Some(min_th),
        max_th: Some(max_th),
        w_q: Some(1.0),
        bytes: Some(false),
        mean_packet: Some(1000),
        ..Params::default()
    }
}

#[test]
fn bad_parameters_are_reported_in_one_sentence() {
    for (params, expected) in [
        (
            json!({ "min_th": 20, "max_th": 20 }),
            "max_th: 20 is out of range; expected more than min_th, 20 packets",
        ),
        (json!({ "w_q": 0 }), "w_q: 0 is out of range; expected more than 0 and at most 1"),
        (json!({ "w_q": 1.5 }), "w_q: 1.5 is out of range; expected more than 0 and at most 1"),
        (json!({ "max_p": 0 }), "max_p: 0 is out of range; expected more than 0 and at most 1"),
        (json!({ "mark_p": 2 }), "mark_p: 2 is out of range; expected from 0 to 1"),
        (json!({ "mean_packet": 0 }), "mean_packet: 0 is out of range; expected at least 1 (B)"),
        (json!({ "min_th": 0 }), "min_th: 0 is out of range; expected more than 0 (packets)"),
    ] {
        assert_eq!(refusal::<QdiscEnv, Red>(params, &env()), expected);
    }
}

#[test]
fn automatic_parameters_follow_the_link() {
    // 80 Mbit/s of 1000 B packets: C = 10,000 packets/s; half of 5 ms is 25 packets.
    let link = QdiscEnv { rate: BitRate(80_000_000), delay: Span::from_millis(60), ..env() };
    let red = Red::new(Params::default(), &link).unwrap();
    assert!((red.curve.min_th - 25.0).abs() < 1e-9 && (red.curve.max_th - 75.0).abs() < 1e-9);
    // R = 3 (60 ms + 0.1 ms) = 180.3 ms; 1 / (10 x 0.1803 x 10,000) = 5.5463e-5, w_q 2.8e-5 of that less.
    let mut average = red.average.clone();
    average.busy();
    average.arrival(Time::ZERO, 1.0);
    assert!((average.value - 5.5461e-5).abs() < 1e-9, "{}", average.value);
    // In era ns2 packets are 500 B and the queue is in bytes: C = 20,000, 50 packets, 25,000 B.
    let red = Red::new(Params::default(), &QdiscEnv { era: Era::Ns2, ..link }).unwrap();
    assert!((red.curve.min_th - 25_000.0).abs() < 1e-6, "{}", red.curve.min_th);
    // At 10 Mbit/s half the target is 3.1 packets: not below 5 and 15.
    let red = Red::new(Params::default(), &env()).unwrap();
    assert_eq!((red.curve.min_th, red.curve.max_th), (5.0, 15.0));
}

#[test]
fn ns2_packet_mode_holds_the_whole_limit_and_byte_mode_counts_mean_packets() {
    let limit = Limit { packets: 8, bytes: u64::MAX };
    let link = QdiscEnv { limit, ..ns2() };
    let params = Params { min_th: Some(1e3), max_th: Some(3e3), ..Params::default() };
    let mut packets = bench(Params { bytes: Some(false), ..params.clone() }, &link);
    // ns-2 measured with 1000 B packets and a limit of 8 in bytes mode: 5 of 10 get through,
    // one of them straight into transmission.
    let mut bytes = bench(params, &link);
    for _ in 0..10 {
        packets.arrive(0, 1000);
        bytes.arrive(0, 1000);
    }
    assert_eq!(packets.qdisc_len(), 8);
    assert_eq!(bytes.qdisc_len(), 4);
    assert!(bytes.drops().iter().all(|&(_, r)| r == DropReason::Overflow));
}

#[test]
fn ns2_spares_the_crossing_arrival_and_short_queues() {
    // min_th 1, every arrival above is sure to be dropped (max_p 1 at 1.001, no waiting).
    let params = Params {
        max_p: 1.0,
        gentle: Some(false),
        wait: Some(false),
        mark_p: Some(0.5),
        ..follow(1.0, 1.001)
    };
    let mut bench = bench(params, &ns2());
    // Arrivals see 0, 1 (average 1 but only one waits), 2 (crosses), 3 (dropped), 3 (dropped).
    for _ in 0..5 {
        bench.arrive(0, 1000);
    }
    assert_eq!(bench.drops(), [(3, DropReason::Forced), (4, DropReason::Forced)]);
}

#[test]
fn the_1993_algorithm_may_drop_the_crossing_arrival() {
    let params = Params { max_p: 1.0, gentle: Some(false), ..follow(1.0, 1.001) };
    let mut bench = bench(params, &env());
    bench.arrive(0, 1000);
    bench.arrive(0, 1000); // average 1 = min_th: p is 0
    bench.arrive(0, 1000); // average 2 >= max_th
    assert_eq!(bench.drops(), [(2, DropReason::Forced)]);
}

/// 1993: a certain drop sets the count to 0, and the next arrival between the thresholds makes it 1: `p_a` is
/// `p_b / (1 - p_b)`, 1 for a `p_b` of one half, also where the average rose past both thresholds at once.
#[test]
fn the_arrival_after_a_certain_drop_counts() {
    let params = Params { max_p: 1.0, gentle: Some(false), ..follow(4.0, 8.0) };
    let mut red = Red::new(params, &env()).unwrap();
    let mut rng = Stream::new(1, crate::rng::Purpose::Qdisc, 0);
    let packet = Packet::new(crate::ids::FlowId(0), 0, 1000, Flags::default());
    let mut arrive = |packets: usize| {
        let bytes = Bytes(1000 * packets as u64);
        red.on_enqueue(&packet, &QueueState { now: Time::ZERO, packets, bytes, key: 0 }, &mut rng)
    };
    assert!(matches!(arrive(1), Verdict::Pass));
    for _ in 0..20 {
        assert!(matches!(arrive(9), Verdict::Drop(DropReason::Forced)));
        assert!(matches!(arrive(6), Verdict::Drop(DropReason::Early)));
        assert!(matches!(arrive(1), Verdict::Pass));
    }
}

/// Mean gap between drops at an average that stays at `p_b` = 0.05.
fn mean_gap(wait: bool) -> f64 {
    let params = Params { wait: Some(wait), ..follow(5.0, 15.0) };
    let mut bench = bench(params, &env());
    for _ in 0..10 {
        bench.arrive(0, 1000);
    }
    let mut gaps = Vec::new();
    let mut last = None;
    for i in 0..200_000u32 {
        let before = bench.dropped.len();
        bench.arrive(0, 1000); // sees 10 waiting: half way from 5 to 15
        if bench.dropped.len() == before {
            bench.depart();
        } else if let Some(previous) = last.replace(i) {
            gaps.push(f64::from(i - previous));
        }
    }
    gaps.iter().sum::<f64>() / gaps.len() as f64
}

#[test]
fn drops_at_a_constant_average_are_half_a_mean_gap_apart_or_one_and_a_half_with_wait() {
    // Uniform on 1..19 has mean 10, uniform on 20..39 has mean 29.5; the standard deviation of the
    // mean of over 6000 gaps is below 0.08.
    assert!((mean_gap(false) - 10.0).abs() < 0.3, "{}", mean_gap(false));
    assert!((mean_gap(true) - 29.5).abs() < 0.3, "{}", mean_gap(true));
}

#[test]
fn capable_packets_are_marked_up_to_mark_p() {
    let certain = Params { max_p: 1.0, ecn: true, ..follow(1.0, 2.0) };
    // Average 2 = max_th: p_b is 1, which the classic rule marks (gentle line begins at 1).
    let marked = Params { mark_p: Some(1.0), ..certain.clone() };
    let mut bench1 = bench(marked, &env());
    for flags in [Flags::ECT, Flags::ECT, Flags::ECT, Flags::default()] {
        bench1.arrive_with(0, 1000, flags);
        if bench1.qdisc_len() > 2 {
            bench1.depart();
        }
    }
    assert_eq!(bench1.marks, 1);
    assert_eq!(bench1.drops(), [(3, DropReason::Unmarkable)]);
    let mut bench2 = bench(Params { mark_p: Some(0.5), ..certain }, &env());
    for _ in 0..3 {
        bench2.arrive_with(0, 1000, Flags::ECT);
    }
    assert_eq!((bench2.marks, bench2.drops()), (0, vec![(2, DropReason::Forced)]));
}

#[test]
fn ns2_until_2005_marks_below_max_th_and_drops_above() {
    let params = Params { max_p: 1.0, ecn: true, wait: Some(true), ..follow(1.0, 3.0) };
    let fill = |era| {
        let mut bench = bench(params.clone(), &QdiscEnv { era, ..env() });
        // The third arrival finds two packets: p_b is 1/2, so one of the next three is marked.
        for _ in 0..2 {
            bench.arrive_with(0, 1000, Flags::ECT);
        }
        for _ in 0..3 {
            bench.arrive_with(0, 1000, Flags::ECT);
            bench.depart();
        }
        let below = (bench.marks, bench.drops().len());
        bench.arrive_with(0, 1000, Flags::ECT);
        let marks = bench.marks;
        // At max_th, 3 packets, p_b is 1.
        for _ in 0..3 {
            bench.arrive_with(0, 1000, Flags::ECT);
        }
        (below, bench.marks - marks, bench.drops().len())
    };
    for era in [Era::Y1999, Era::Y2002] {
        let (below, marks, drops) = fill(era);
        assert_eq!((below, marks), ((1, 0), 0), "{era:?}");
        assert!(drops > 0, "{era:?}");
    }
    let (below, marks, _) = fill(Era::Rfc);
    assert_eq!(below.1, 0);
    assert!(marks > 0);
}

#[test]
fn max_p_adapts_towards_the_middle() {
    let params = Params { adaptive: true, ..follow(10.0, 20.0) };
    let mut bench = bench(params, &env());
    // Queue 0 is below 14: 0.1 x 0.9 once per interval, not before it has passed.
    for (step, expected) in [(500, 0.1), (1, 0.09), (400, 0.09), (101, 0.081)] {
        bench.after(Span::from_millis(step));
        bench.arrive(0, 1000);
        bench.depart();
        assert!((bench.probe("max_p") - expected).abs() < 1e-12, "{expected}");
    }
    // Above 16: plus min(0.01, max_p / 4).
    for _ in 0..40 {
        bench.arrive(0, 1000);
    }
    bench.after(Span::from_millis(501));
    bench.arrive(0, 1000);
    assert!((bench.probe("max_p") - 0.091).abs() < 1e-12, "{}", bench.probe("max_p"));
}

#[test]
fn the_average_decays_while_the_link_is_idle() {
    let params = Params { w_q: Some(0.5), ..follow(100.0, 300.0) };
    let mut bench = bench(params, &env());
    bench.arrive(0, 1000);
    bench.arrive(0, 1000); // sees 1: average 0.5
    while bench.depart().is_some() {}
    // 10 Mbit/s sends a 1000 B packet in 0.8 ms: 2 ms miss two; then one more step: 0.5 / 8.
    bench.after(Span::from_millis(2));
    bench.arrive(0, 1000);
    assert!((bench.probe("avg") - 0.0625).abs() < 1e-12, "{}", bench.probe("avg"));
}

#[test]
fn automatic_parameters_follow_a_scheduled_rate() {
    let (before, after) = (BitRate(80_000_000), BitRate(8_000_000));
    let env_at = |rate, era| QdiscEnv { rate, era, ..env() };
    let params = Params { adaptive: true, ..Params::default() };
    let mut red = Red::new(params.clone(), &env_at(before, Era::Rfc)).unwrap();
    let slow = Red::new(params.clone(), &env_at(after, Era::Rfc)).unwrap();
    assert!((red.curve.min_th - 25.0).abs() < 1e-9);
    red.on_rate(Time::ZERO, after);
    // 1000 packets/s; half of 5 ms is 2.5 packets, and 5 is the least; 80 kbit/s of 8 Mbit/s is 0.01.
    assert!((red.curve.min_th - 5.0).abs() < 1e-9 && (red.curve.max_th - 15.0).abs() < 1e-9);
    assert!((red.average.w_q() - slow.average.w_q()).abs() < 1e-15);
    assert!((red.adaptation.unwrap().bottom - 0.01).abs() < 1e-12);
    // What was given stays; ns-2 reads the rate once.
    let explicit = Params { min_th: Some(7.0), w_q: Some(0.002), ..params.clone() };
    let mut red = Red::new(explicit, &env_at(before, Era::Rfc)).unwrap();
    red.on_rate(Time::ZERO, after);
    assert!((red.curve.min_th - 7.0).abs() < 1e-12 && (red.average.w_q() - 0.002).abs() < 1e-15);
    let mut red = Red::new(params, &env_at(before, Era::Ns2)).unwrap();
    let min_th = red.curve.min_th;
    red.on_rate(Time::ZERO, after);
    assert!((red.curve.min_th - min_th).abs() < 1e-12);
}

/// 10 packets of 1000 B at 1 Mbit/s take 0.08 s. From 0.3 s on, ns-2's doubles give 0.38 - 0.3 = 0.08 and 125 x 0.08 = 10
/// or a little less, by the last digit of the sum: whole packets are counted of that product, and of none that
/// picoseconds would give.
#[test]
fn on_ns2s_clock_idle_time_is_counted_in_its_doubles() {
    let params = Params { w_q: Some(0.5), ..follow(5.0, 15.0) };
    let link = QdiscEnv { rate: BitRate(1_000_000), era: Era::Ns2, ..env() };
    let mut counts = std::collections::BTreeSet::new();
    for step in 0..40 {
        let begun = 0.1 * f64::from(step) / 3.0;
        let ended = begun + 0.08;
        let mut red = Red::new(params.clone(), &link).unwrap();
        red.average.busy();
        red.average.value = 4096.0;
        red.on_clock(begun);
        red.on_idle(Time::ZERO);
        red.on_clock(ended);
        // What picoseconds say does not count.
        red.average.arrival(Time::ZERO + Span::from_millis(80), 0.0);
        let slots = (125.0 * (ended - begun)) as i32;
        assert_eq!(red.average.value, 4096.0 * 0.5f64.powi(slots + 1), "{begun}");
        counts.insert(slots);
    }
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [9, 10]);
}

/// With `use_mark_p_` ns-2 makes its random test where the probability is 1, too, and then drops what could be marked; each
/// arrival takes one of its numbers.
#[test]
fn at_a_probability_of_1_ns2_draws_and_drops_with_mark_p_1() {
    let params = Params {
        ecn: true,
        mark_p: Some(1.0),
        ns2_seed: Some(7),
        gentle: Some(false),
        ..follow(1.0, 2.0)
    };
    let mut red = Red::new(params, &ns2()).unwrap();
    let mut numbers = Mrg32k3a::new(7);
    let mut rng = Stream::new(1, crate::rng::Purpose::Qdisc, 0);
    red.average.value = 50.0;
    red.spacing.above = true;
    for _ in 0..5 {
        red.spacing.arrival(1000);
        assert!(matches!(red.test(1000, &mut rng), Verdict::Drop(DropReason::Forced)));
        numbers.uniform();
    }
    let next = red.replayed.as_mut().unwrap().uniform();
    assert_eq!(next, numbers.uniform());
}

#[test]
fn numbers_of_ns2_may_be_skipped() {
    let draws = |skip: u32, take: usize| -> Vec<f64> {
        let params = Params { ns2_seed: Some(7), ns2_skip: skip, ..follow(5.0, 15.0) };
        let mut red = Red::new(params, &ns2()).unwrap();
        let numbers = red.replayed.as_mut().unwrap();
        (0..take).map(|_| numbers.uniform()).collect()
    };
    assert_eq!(draws(3, 4), draws(0, 7)[3..]);
}

#[test]
fn idle_time_counts_at_the_rates_of_its_parts() {
    // w_q 1/2. Idle for 1 ms at 8 Mbit/s and 20 ms at 0.8 Mbit/s: 1 + 2 packets of 1000 B.
    let params = Params { w_q: Some(0.5), ..follow(5.0, 15.0) };
    let link = QdiscEnv { rate: BitRate(8_000_000), ..env() };
    let mut red = Red::new(params, &link).unwrap();
    red.average.busy();
    red.average.value = 16.0;
    red.on_idle(Time::ZERO);
    let ms = |ms| Time::ZERO + Span::from_millis(ms);
    red.on_rate(ms(1), BitRate(800_000));
    // Three steps of zero and the arrival's own.
    red.average.arrival(ms(21), 0.0);
    assert!((red.average.value - 1.0).abs() < 1e-12, "{}", red.average.value);
}

/// With `wait` no packet is dropped before 1/p arrivals have passed since the last drop, and one is after
/// 2/p: an overflow is a drop.
#[test]
fn an_overflow_counts_as_the_last_drop() {
    let limit = Limit { packets: 10, bytes: u64::MAX };
    let params = Params { max_p: 0.2, wait: Some(true), ..follow(5.0, 15.0) };
    for seed in 0..30 {
        let mut bench = bench(params.clone(), &QdiscEnv { limit, ..env() });
        bench.rng = Stream::new(seed, crate::rng::Purpose::Qdisc, 0);
        for _ in 0..10 {
            bench.arrive(0, 1000);
        }
        // Finds 9 waiting: p = 0.2 (9 - 5) / 10 = 0.08, so none of 12 arrivals is dropped.
        let cycle = |bench: &mut Bench<Managed<Red>>| {
            bench.depart();
            bench.arrive(0, 1000);
            bench.drops().len()
        };
        for _ in 0..4 {
            assert_eq!(cycle(&mut bench), 0);
        }
        bench.arrive(0, 1000);
        assert_eq!(bench.drops(), [(14, DropReason::Overflow)]);
        let gap = (1..100).find(|_| cycle(&mut bench) > 0).unwrap();
        assert!((13..=25).contains(&gap), "{gap} arrivals after the overflow");
    }
}

#[test]
fn max_p_adapts_as_soon_as_the_average_leaves_the_middle() {
    let params = Params { adaptive: true, ..follow(10.0, 20.0) };
    let mut bench = bench(params, &env());
    for _ in 0..16 {
        bench.arrive(0, 1000);
    }
    // At 600 ms the average is 15, within 14 to 16: nothing changes.
    bench.after(Span::from_millis(600));
    bench.depart();
    bench.arrive(0, 1000);
    assert!((bench.probe("max_p") - 0.1).abs() < 1e-12);
    // 10 ms later it is 12. The last change lies more than an interval back, as there was none.
    bench.after(Span::from_millis(10));
    for _ in 0..4 {
        bench.depart();
    }
    bench.arrive(0, 1000);
    assert!((bench.probe("max_p") - 0.09).abs() < 1e-12, "{}", bench.probe("max_p"));
}
