use proptest::prelude::*;

use super::*;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::units::PS_PER_S;

fn build_csfq(json: serde_json::Value, env: &QdiscEnv) -> CoreStateless {
    CoreStateless::new(serde_json::from_value(json).unwrap(), env).unwrap()
}

/// The link of the source's experiments: 10 Mbit/s, a buffer of 64 kB, of which 16 kB are the threshold.
fn link() -> QdiscEnv {
    QdiscEnv { limit: Limit { packets: u32::MAX, bytes: 64_000 }, ..env() }
}

/// Rates of a flow by hand, K = 100 ms, packets of 1000 B: the first counts as 1000 / K = 10 kB/s; the next
/// after 100 ms adds (1 - 1/e) of 10 kB/s and leaves 1/e of the rate: 10 kB/s again; the third at once
/// adds 10 kB/s; the fourth 200 ms later leaves e^-2 of 20 kB/s and adds (1 - e^-2) 5 kB/s.
#[test]
fn a_label_is_the_rate_by_hand() {
    let mut edge = build_csfq(serde_json::json!({ "weights": [1.0, 4.0] }), &link());
    let time = |ms: u64| Time::ZERO + Span::from_millis(ms);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 0.01, "{a} {b}");
    close(edge.measure(0, 1000, time(0)), 10_000.0);
    close(edge.measure(0, 1000, time(100)), 10_000.0);
    close(edge.measure(0, 1000, time(100)), 20_000.0);
    // e^-2 = 0.135335
    close(edge.measure(0, 1000, time(300)), 0.135_335 * 20_000.0 + 0.864_665 * 5_000.0);
    close(edge.measure(1, 1000, time(300)), 2_500.0);
}

#[test]
fn the_series_is_the_exponential() {
    for x in [0.0, 1e-9, 1e-4, 0.03, 0.0999, 0.1, 1.0, 30.0] {
        let (left, mean) = decay(x);
        assert!((left - (-x).exp()).abs() < 1e-7, "{x}");
        let exact = if x == 0.0 { 1.0 } else { -(-x).exp_m1() / x };
        assert!((mean - exact).abs() < 1e-7, "{x}");
    }
}

/// Fair share by hand: C = 1.25 MB/s; congested with F = 2.5 MB/s accepted at a share of 400 kB/s gives
/// 200 kB/s; overflows then lower it by 1 % each, to 150 kB/s at the lowest.
#[test]
fn the_share_follows_the_accepted_rate_and_overflows() {
    let mut fair = build_csfq(serde_json::json!({}), &link()).fair;
    (fair.accepted, fair.congested) = (2.5e6, true);
    fair.set(4e5);
    fair.estimate(Time(PS_PER_S));
    assert_eq!(fair.share, 2e5);
    fair.overflow();
    assert_eq!(fair.share, 1.98e5);
    (0..100).for_each(|_| fair.overflow());
    assert_eq!(fair.share, 1.5e5);
    // Uncongested: the largest label.
    (fair.congested, fair.largest) = (false, 7e4);
    fair.estimate(Time(2 * PS_PER_S));
    assert_eq!(fair.share, 7e4);
}

/// Packets of 1000 B with exponential gaps: what each flow, of this rate in bytes per second, gets through
/// the given routers in turn from 5 s to 25 s.
fn throughputs(rates: &[f64], routers: &mut [Bench<CoreStateless>]) -> Vec<f64> {
    let mut rng = crate::rng::Stream::new(7, crate::rng::Purpose::Traffic, 0);
    let mut gap = |rate: f64| -(1.0 - rng.uniform()).ln() * 1000.0 / rate;
    let mut due: Vec<f64> = rates.iter().map(|&rate| gap(rate)).collect();
    let mut through = vec![0.0; rates.len()];
    let service = 1000.0 / 1.25e6;
    let mut free_at = vec![0.0; routers.len()];
    // Time goes on in services: every router sends one packet in each, to the next.
    let mut now = 0.0;
    while now < 25.0 {
        for (flow, due) in due.iter_mut().enumerate() {
            while *due <= now {
                routers[0].arrive(flow as u32, 1000);
                *due += gap(rates[flow]);
            }
        }
        for i in 0..routers.len() {
            routers[i].now = Time::ZERO + Span::from_seconds(now);
            if free_at[i] > now {
                continue;
            }
            let Some(sent) = routers[i].depart() else { continue };
            free_at[i] = now + 0.999 * service;
            if let Some(next) = routers.get_mut(i + 1) {
                next.now = Time::ZERO + Span::from_seconds(now);
                next.pass(sent.packet);
            } else if now >= 5.0 {
                through[sent.packet.flow.index()] += 1000.0 / 20.0;
            }
        }
        now += service / 4.0;
    }
    through
}

/// The source's first experiment (section 4.1): 32 flows on one link of 10 Mbit/s, flow i sends i + 1 times
/// its fair share of 0.3125 Mbit/s. Each gets about that; drop-tail gives in proportion to what is sent.
#[test]
fn flows_of_increasing_rates_get_equal_shares() {
    let fair = 1.25e6 / 32.0;
    let rates: Vec<f64> = (1..=32).map(|i| fair * f64::from(i)).collect();
    let mut one_link = [Bench::new(build_csfq(serde_json::json!({}), &link()))];
    let through = throughputs(&rates, &mut one_link);
    for (flow, got) in through.iter().enumerate() {
        assert!((0.8..1.2).contains(&(got / fair)), "flow {flow}: {}", got / fair);
    }
    let total: f64 = through.iter().sum();
    assert!(total > 0.95 * 1.25e6, "{total}");
}

/// Weighted: flows of weights 1 to 4 that all send as much as the link carries.
#[test]
fn weights_divide_the_link() {
    let table = serde_json::json!({ "weights": [1.0, 2.0, 3.0, 4.0] });
    let mut one_link = [Bench::new(build_csfq(table, &link()))];
    for (flow, got) in throughputs(&[1.25e6; 4], &mut one_link).iter().enumerate() {
        let due = 1.25e5 * (flow as f64 + 1.0);
        assert!((0.85..1.15).contains(&(got / due)), "flow {flow}: {}", got / due);
    }
}

/// A core router knows no flow, and goes by the labels of the edge.
#[test]
fn the_core_keeps_nothing_of_flows() {
    let wide = QdiscEnv { rate: BitRate(40_000_000), ..link() };
    let mut way = [
        Bench::new(build_csfq(serde_json::json!({ "role": "edge" }), &wide)),
        Bench::new(build_csfq(serde_json::json!({}), &link())),
    ];
    // The edge has no part in it: nothing is scarce there.
    let through = throughputs(&[0.2e6, 0.4e6, 0.6e6], &mut way);
    let states = way.map(|bench| bench.qdisc.state().flows);
    assert_eq!(states, [3, 0]);
    // 1.2 MB/s fit.
    for (got, sent) in through.iter().zip([0.2e6, 0.4e6, 0.6e6]) {
        assert!(got / sent > 0.8, "{got} of {sent}");
    }
}

#[test]
fn what_is_out_of_range_is_refused() {
    let error = |json| refusal::<QdiscEnv, CoreStateless>(json, &link());
    let text = error(serde_json::json!({ "k_link": 0 }));
    assert_eq!(text, "k_link: 0 s is out of range; expected more than 0 s");
    let text = error(serde_json::json!({ "weights": [0] }));
    assert_eq!(text, "weights[0]: 0 is out of range; expected more than 0");
}

proptest! {
    /// Theorem 1: under a constant share s, a flow gets in no interval more than s times its length by more
    /// than s K (1 + ln(R / s)) and a packet. What is expected to pass is counted, not what chance lets by.
    #[test]
    fn the_excess_of_any_flow_is_bounded(
        gaps in prop::collection::vec(prop_oneof![6 => Just(0u64), 1 => 0u64..400_000], 2..400),
        size in 100u16..1500,
        ratio in 1.2f64..50.0,
    ) {
        let mut edge = build_csfq(serde_json::json!({}), &link());
        // No two packets are closer than at the peak rate R.
        let peak = 2e6;
        let share = peak / ratio;
        let closest = f64::from(size) / peak;
        let (mut now, mut passed) = (0.0, 0.0);
        // The smallest that passed - s t has been: the interval that begins there has had the most.
        let mut least = 0.0f64;
        let bound = share * 0.1 * (1.0 + ratio.ln()) + f64::from(size);
        for gap in gaps {
            let label = edge.measure(0, size, Time((now * PS_PER_S as f64) as u64));
            least = least.min(passed - share * now);
            passed += f64::from(size) * (share / label).min(1.0);
            prop_assert!(passed - share * now - least <= bound * (1.0 + 1e-6));
            now += closest + gap as f64 * 1e-6;
        }
    }
}
