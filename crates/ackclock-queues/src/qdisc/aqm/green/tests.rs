use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::qdisc::managed::Managed;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::units::BitRate;

/// The bottleneck of "GREEN + IDMaps": 155 Mbit/s, flow i with a round trip of `rtts[i]` ms.
fn paper(rtts: &[u64]) -> QdiscEnv {
    let round_trips: Arc<[Span]> = rtts.iter().map(|&ms| Span::from_millis(ms)).collect();
    QdiscEnv { rate: BitRate(155_000_000), round_trips, ..env() }
}

fn known_rtt(n: f64) -> Params {
    Params { count: Count::Known, n: Some(n), ..Params::default() }
}

fn bench(params: Params, env: &QdiscEnv) -> Bench<Managed<Green>> {
    Bench::new(Managed::<Green>::new(params, env).unwrap())
}

fn close(a: f64, b: f64) {
    assert!((a / b - 1.0).abs() < 1e-4, "{a} is not {b}");
}

#[test]
fn drop_probabilities_are_those_of_the_printed_equation() {
    // N = 500, MSS = 1000 B, c = 0.93, L = 19.375 MB/s:
    // R = 62 ms: 465000 / 1201250 = 0.387097, squared 0.149844; the shortest flow's 15 %.
    // R = 1060 ms: 465000 / 20537500 = 0.0226415, squared 5.12638e-4.
    let mut bench = bench(known_rtt(500.0), &paper(&[62, 1060]));
    bench.arrive(0, 1000);
    close(bench.probe("p"), 0.149_844);
    bench.arrive(1, 1000);
    close(bench.probe("p"), 5.126_38e-4);
    // Half the size is a quarter of the probability.
    bench.arrive(1, 500);
    close(bench.probe("p"), 5.126_38e-4 / 4.0);
}

#[test]
fn the_segment_size_may_be_fixed() {
    let params = Params { mss: Some(1000), ..known_rtt(500.0) };
    let mut bench = bench(params, &paper(&[62]));
    bench.arrive(0, 40);
    close(bench.probe("p"), 0.149_844);
}

#[test]
fn one_flow_in_seven_is_dropped_as_often_as_p_says() {
    let mut bench = bench(known_rtt(500.0), &paper(&[62]));
    let n = 40_000;
    for _ in 0..n {
        bench.arrive(0, 1000);
        bench.depart();
    }
    // 4 standard deviations of a binomial share.
    let share = bench.drops().len() as f64 / f64::from(n);
    let p: f64 = 0.149_844;
    assert!((share - p).abs() < 4.0 * (p * (1.0 - p) / f64::from(n)).sqrt(), "{share}");
}

#[test]
fn flows_are_counted_within_the_window() {
    let params = Params { window: Span::from_millis(100), ..Params::default() };
    let mut bench = bench(params, &paper(&[100; 3]));
    for key in 0..3 {
        bench.arrive(key, 1000);
        close(bench.probe("flows"), f64::from(key + 1));
    }
    bench.after(Span::from_millis(100));
    bench.arrive(0, 1000);
    close(bench.probe("flows"), 1.0);
}

#[test]
fn hits_find_the_number_of_equal_flows() {
    let params = Params { count: Count::Hits, ..Params::default() };
    let env = QdiscEnv { keys: 4096, ..paper(&[1000; 40]) };
    let mut bench = bench(params, &env);
    let mut order = Stream::new(5, crate::rng::Purpose::Traffic, 0);
    let mut inverse = 0.0;
    for i in 0..60_000 {
        bench.arrive(order.below(40) as u32, 1000);
        bench.depart();
        bench.drops();
        if i >= 40_000 {
            inverse += 1.0 / bench.probe("flows");
        }
    }
    let flows = 20_000.0 / inverse;
    assert!((flows / 40.0 - 1.0).abs() < 0.2, "{flows}");
}

#[test]
fn a_factor_is_drawn_once_a_flow_or_at_every_packet_or_after_a_lifetime() {
    let distinct = |draw, wait_ms| {
        let lifetime = Span::from_millis(1000);
        let params = Params { rtt: Rtt::Estimate, draw, lifetime, ..known_rtt(100.0) };
        let mut bench = bench(params, &paper(&[100]));
        let mut bits_seen = Vec::new();
        for _ in 0..50 {
            bench.arrive(0, 1000);
            bits_seen.push(bench.probe("p").to_bits());
            bench.after(Span::from_millis(wait_ms));
        }
        let true_p = (100.0 * 1000.0 * 0.93 / (19.375e6 * 0.1f64)).powi(2);
        for &bits in &bits_seen {
            // Factors from 1 to 2 divide the probability by 1 to 4.
            let p = f64::from_bits(bits);
            assert!(p <= true_p * (1.0 + 1e-12) && p >= true_p / 4.0 * (1.0 - 1e-12));
        }
        bits_seen.dedup();
        bits_seen.len()
    };
    assert_eq!(distinct(Draw::Flow, 100), 1);
    assert_eq!(distinct(Draw::Packet, 100), 50);
    // 50 packets 100 ms apart: 5 s hold five lifetimes.
    assert_eq!(distinct(Draw::Lookup, 100), 5);
}

#[test]
fn the_mean_probability_halves_if_factors_are_uniform_from_one_to_two() {
    // E[1 / u^2] on [1, 2] is 1/2; its standard deviation is sqrt(7/24 - 1/4) = 0.204.
    let params = Params { rtt: Rtt::Estimate, draw: Draw::Packet, ..known_rtt(100.0) };
    let mut bench = bench(params, &paper(&[100]));
    let true_p = (100.0 * 1000.0 * 0.93 / (19.375e6 * 0.1f64)).powi(2);
    let n = 20_000;
    let mut sum = 0.0;
    for _ in 0..n {
        bench.arrive(0, 1000);
        bench.depart();
        sum += bench.probe("p") / true_p;
    }
    let mean = sum / f64::from(n);
    assert!((mean - 0.5).abs() < 4.0 * 0.204 / f64::from(n).sqrt(), "{mean}");
}

#[test]
fn a_handshake_gives_the_round_trip_once_its_third_packet_passes() {
    let params = Params { rtt: Rtt::Handshake, ..known_rtt(500.0) };
    let mut bench = bench(params, &paper(&[1]));
    bench.after(Span::from_millis(100));
    bench.arrive_with(0, 40, Flags::SYN);
    assert_eq!(bench.probe("p").to_bits(), 0f64.to_bits(), "not known yet: it passes");
    bench.after(Span::from_millis(3000));
    bench.arrive_with(0, 40, Flags::SYN);
    bench.after(Span::from_millis(62));
    bench.arrive(0, 1000);
    close(bench.probe("p"), 0.149_844);
    // The measured time stays.
    bench.after(Span::from_millis(500));
    bench.arrive(0, 1000);
    close(bench.probe("p"), 0.149_844);
}

#[test]
fn a_table_overrides_what_the_network_is_and_who_is_not_in_it_passes() {
    let table = vec![Span::from_millis(62)];
    let params = Params { rtt: Rtt::Table, table, ..known_rtt(500.0) };
    let mut bench = bench(params, &paper(&[1060, 1060]));
    bench.arrive(0, 1000);
    close(bench.probe("p"), 0.149_844);
    bench.arrive(1, 1000);
    assert_eq!(bench.probe("p").to_bits(), 0f64.to_bits());
}

#[test]
fn ecn_capable_packets_are_marked_and_never_dropped_early() {
    let params = Params { ecn: true, ..known_rtt(5000.0) };
    let mut bench = bench(params, &paper(&[62]));
    for _ in 0..10 {
        bench.arrive_with(0, 1000, Flags::ECT);
    }
    // p = 14.98 before the cap: every packet is marked.
    assert_eq!((bench.marks, bench.drops()), (10, vec![]));
    bench.arrive(0, 1000);
    assert_eq!(bench.drops(), [(10, DropReason::Unmarkable)]);
}

#[test]
fn wrong_parameters_are_reported() {
    let error = |params| refusal::<QdiscEnv, Green>(params, &env());
    assert_eq!(error(json!({ "c": 0 })), "c: 0 is out of range; expected more than 0");
    assert_eq!(
        error(json!({ "low": 2.0, "high": 1.5 })),
        "high: 1.5 is out of range; expected at least low, 2"
    );
    assert_eq!(
        error(json!({ "rtt": "table" })),
        "table: is empty; expected the round-trip time of each flow"
    );
}

/// A flow's own first link may get the request at the very start of the run.
#[test]
fn a_request_at_time_0_is_one() {
    let params = Params { rtt: Rtt::Handshake, ..known_rtt(500.0) };
    let mut bench = bench(params, &paper(&[1]));
    bench.arrive_with(0, 40, Flags::SYN);
    bench.after(Span::from_millis(62));
    bench.arrive(0, 1000);
    close(bench.probe("p"), 0.149_844);
}

/// p goes with the inverse square of the rate, whatever factor was drawn.
#[test]
fn drop_probabilities_follow_a_scheduled_rate() {
    for rtt in [Rtt::Ideal, Rtt::Estimate] {
        let mut bench = bench(Params { rtt, ..known_rtt(100.0) }, &paper(&[62]));
        bench.arrive(0, 1000);
        let before = bench.probe("p");
        bench.qdisc.aqm.on_rate(Time::ZERO, BitRate(77_500_000));
        bench.arrive(0, 1000);
        close(bench.probe("p"), 4.0 * before);
    }
}
