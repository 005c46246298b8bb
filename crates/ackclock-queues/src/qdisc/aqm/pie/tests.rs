use serde_json::json;

use super::*;
use crate::near::near;
use crate::qdisc::Limit;
use crate::qdisc::managed::Managed;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::wire::Flags;

fn pie(params: Params) -> Pie {
    Pie::new(params, &env()).unwrap()
}

#[test]
fn the_probability_moves_as_computed_by_hand() {
    let mut pie = pie(Params::default());
    // d = 55 ms from 0: 0.125 x 0.04 + 1.25 x 0.055 = 0.07375, over 2048.
    pie.update(0.055);
    near::<12>(pie.p, 0.07375 / 2048.0);
    // Steady 55 ms: only 0.005 is left; p = 3.6e-5 is below 1e-4, so over 128.
    pie.update(0.055);
    near::<12>(pie.p, 0.07375 / 2048.0 + 0.005 / 128.0);
    pie.p = 0.5;
    // Falls from 55 to 15 ms: -1.25 x 0.04.
    pie.update(0.015);
    near::<12>(pie.p, 0.45);
    // A jump by 85 ms would add 0.125 x 0.085 + 1.25 x 0.085: capped.
    pie.update(0.1);
    near::<12>(pie.p, 0.47);
}

#[test]
fn without_delay_the_probability_decays_to_nothing() {
    let mut pie = pie(Params::default());
    pie.p = 0.5;
    pie.update(0.0);
    // 0.5 - 0.125 x 0.015 = 0.498125, times 0.98.
    near::<12>(pie.p, 0.488_162_5);
    for _ in 0..2000 {
        pie.update(0.0);
    }
    near::<12>(pie.p, 0.0);
    assert_eq!(pie.burst, Span::from_millis(150));
}

#[test]
fn a_burst_passes_for_ten_updates() {
    let mut pie = pie(Params::default());
    for left in (0..10).rev() {
        pie.update(0.1);
        assert_eq!(pie.burst, Span::from_millis(15 * left));
    }
}

#[test]
fn the_departure_rate_gives_the_delay() {
    let mut bench = Bench::new(Managed::<Pie>::new(Params::default(), &env()).unwrap());
    for _ in 0..100 {
        bench.arrive(0, 1000);
    }
    // One 1000 B packet per ms: 1 MB/s, so 60 waiting packets are 60 ms.
    for _ in 0..40 {
        bench.depart();
        bench.after(Span::from_millis(1));
    }
    bench.tick();
    assert!((bench.probe("delay_s") - 0.06).abs() < 1e-9, "{}", bench.probe("delay_s"));
}

#[test]
fn timestamps_give_the_sojourn_time() {
    let params = Params { delay: Delay::Timestamp, ..Params::default() };
    let mut bench = Bench::new(Managed::<Pie>::new(params, &env()).unwrap());
    bench.arrive(0, 1000);
    bench.after(Span::from_millis(7));
    bench.depart();
    bench.tick();
    near::<12>(bench.probe("delay_s"), 0.007);
    bench.depart();
    bench.tick();
    near::<12>(bench.probe("delay_s"), 0.0);
}

/// Arrivals out of `n` that are hit at probability p, with a long queue.
fn hits(p: f64, flags: Flags, ecn: bool) -> (usize, Vec<usize>, Pie) {
    let mut pie = pie(Params { ecn, ..Params::default() });
    pie.p = p;
    pie.delay_old = 0.05;
    pie.burst = Span::ZERO;
    let queue = QueueState { now: Time::ZERO, packets: 50, bytes: Bytes(50_000), key: 0 };
    let mut rng = Stream::new(3, crate::rng::Purpose::Qdisc, 0);
    let packet = Packet::new(crate::ids::FlowId(0), 0, 1000, flags);
    let mut gaps = Vec::new();
    let (mut marked, mut last) = (0, 0);
    for i in 0..20_000 {
        match pie.on_enqueue(&packet, &queue, &mut rng) {
            Verdict::Pass => continue,
            Verdict::MarkElseDrop(_) => marked += 1,
            Verdict::Drop(_) => {}
        }
        gaps.push(i - last);
        last = i;
    }
    (marked, gaps, pie)
}

#[test]
fn drops_neither_cluster_nor_stay_away() {
    let (_, gaps, _) = hits(0.05, Flags::default(), false);
    // The sum of p reaches 0.85 at the 17th arrival (18th if the sum falls short by rounding).
    assert!(gaps.iter().skip(1).all(|&g| (17..=171).contains(&g)), "{gaps:?}");
    // 16 spared, then geometric with mean 20.
    let mean = 20_000.0 / gaps.len() as f64;
    assert!((mean - 36.0).abs() < 3.0, "{mean}");
}

#[test]
fn capable_packets_are_marked_below_a_tenth_and_dropped_above() {
    let (marked, gaps, _) = hits(0.05, Flags::ECT, true);
    assert_eq!(marked, gaps.len());
    let (marked, gaps, _) = hits(0.2, Flags::ECT, true);
    assert!(marked == 0 && !gaps.is_empty());
}

#[test]
fn bad_parameters_are_reported() {
    let error = |params| refusal::<QdiscEnv, Pie>(params, &env());
    let text = error(json!({ "dq_threshold": 0 }));
    assert_eq!(text, "dq_threshold: 0 B is out of range; expected from 1 to 65536 B");
    let text = error(json!({ "alpha": -1 }));
    assert_eq!(text, "alpha: -1 is out of range; expected at least 0 (1/s)");
}

/// RFC 8033 section 4.4: both delays must be below half the target, 7.5 ms.
#[test]
fn a_burst_is_allowed_again_after_two_short_delays() {
    let mut pie = pie(Params::default());
    pie.burst = Span::ZERO;
    pie.delay_old = 0.010;
    pie.update(0.0);
    near::<12>(pie.p, 0.0);
    assert_eq!(pie.burst, Span::ZERO, "the delay before was 10 ms");
    pie.update(0.008);
    assert_eq!(pie.burst, Span::ZERO, "this one is 8 ms");
    pie.p = 0.0;
    pie.update(0.0);
    assert_eq!(pie.burst, Span::ZERO, "the one before was 8 ms");
    pie.update(0.0);
    assert_eq!(pie.burst, Span::from_millis(150));
}

/// RFC 8033 section 5.4: the sum starts anew when the probability has been 0.
#[test]
fn a_probability_of_zero_forgets_the_sum() {
    for seed in 0..40 {
        let mut rng = Stream::new(seed, crate::rng::Purpose::Qdisc, 0);
        let mut pie = pie(Params::default());
        pie.p = 0.8;
        assert!(!pie.hits(&mut rng), "0.8 is below 0.85");
        pie.p = 0.0;
        assert!(!pie.hits(&mut rng));
        pie.p = 0.8;
        assert!(!pie.hits(&mut rng), "again 0.8, not 1.6");
    }
}

/// RFC 8033's pseudocode and `sch_pie.c` (`out: accu_prob = 0`).
#[test]
fn a_drop_for_want_of_room_ends_the_sum_of_probabilities() {
    let mut pie = Pie::new(Params::default(), &env()).unwrap();
    pie.sum_p = 0.8;
    let mut bench = Bench::new(Managed::over(pie, Limit { packets: 1, bytes: u64::MAX }));
    bench.arrive(0, 1000);
    assert!(bench.qdisc.aqm.sum_p > 0.0);
    bench.arrive(0, 1000);
    assert_eq!(bench.qdisc.aqm.sum_p, 0.0);
}
