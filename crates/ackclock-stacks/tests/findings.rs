//! What differs in shipped code, each in the smallest case that shows it: the evidence of `docs/explanation/what-differed.md`.
//! A release that differs no more fails here, and the page follows.

use std::time::Duration;

use ackclock_core::packet;
use ackclock_core::{compile, scenario::Scenario};
use ackclock_stacks::controls::Libraries;
use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::recovery::bandwidth::{Bandwidth, Estimator, RateSample};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use serde_json::json;

struct Nobody;

impl Publisher for Nobody {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}
    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

fn at(ms: u64) -> Timestamp {
    NoopClock.get_time() + Duration::from_millis(ms)
}

/// draft-cheng-iccrg-delivery-rate-estimation-02, section 3.3, begins a sample with each ACK. s2n keeps it from ACK to ACK
/// and takes its interval anew only from a packet that left with more delivered than the one before it.
///
/// Three packets leave together 12 ms after the last delivery's packet, and arrive 1 ms apart, 11 ms after that. The last
/// one's sample is 3 packets in max(12, 24 - 12 + 1) = 13 ms; s2n divides by the 12 ms of the first.
#[test]
fn s2n_divides_what_a_burst_delivers_by_the_interval_of_its_first_packet() {
    const SIZE: usize = 1200;
    let mut estimator = Estimator::default();
    let first: Vec<_> = (0..2u32)
        .map(|i| estimator.on_packet_sent(i * SIZE as u32, SIZE, Some(false), at(0)))
        .collect();
    estimator.on_ack(SIZE, at(0), first[0], at(11), &mut Nobody);
    estimator.on_ack(SIZE, at(0), first[1], at(12), &mut Nobody);
    let burst: Vec<_> = (0..3u32)
        .map(|i| estimator.on_packet_sent(i * SIZE as u32 + 1, SIZE, Some(false), at(12)))
        .collect();
    for (info, ms) in burst.into_iter().zip([23, 24, 25]) {
        estimator.on_ack(SIZE, at(12), info, at(ms), &mut Nobody);
    }
    let sample = estimator.rate_sample();
    assert_eq!(sample.delivered_bytes, 3 * SIZE as u64);
    assert_eq!(sample.interval, Duration::from_millis(12));
}

/// What comes of it: its BBR paces above the bottleneck's rate and keeps a queue, where the draft's keeps next to none.
#[test]
fn s2n_s_bbr_keeps_a_queue_where_ours_keeps_none() {
    let [ours, theirs] = ["bbr2", "s2n/bbr2"].map(|cc| {
        let scenario = json!({
            "net": { "kind": "dumbbell", "pairs": 1, "rate": "20 Mbps", "rtt": "40 ms",
                     "buffer": "1 bdp" },
            "flows": [{ "pair": 0, "transport": "quic", "cc": cc }],
            "duration": 30, "warmup": 5,
        });
        let scenario: Scenario = serde_json::from_value(scenario).unwrap();
        let plan = compile::compile(&scenario).unwrap();
        let results = packet::run_with(&plan, &Libraries, &mut |_| true).unwrap();
        let sender = &results.flows[0].sender;
        let warm = &results.flows[0].sender_at_warmup;
        (sender.rtt_sum_s - warm.rtt_sum_s) / (sender.rtt_count - warm.rtt_count) as f64
    });
    println!("mean round trip: {:.1} ms here, {:.1} ms there", 1e3 * ours, 1e3 * theirs);
    assert!(ours < 0.042 && theirs > 0.055, "{ours} {theirs}");
}

#[cfg(feature = "connections")]
fn alone(cc: &str, buffer: usize) -> ackclock_stacks::Trace {
    let path = ackclock_stacks::Path { rate_bps: 20e6, delay: Duration::from_millis(20), buffer };
    let (warmup, end) = (Duration::from_secs(7), Duration::from_secs(30));
    ackclock_stacks::run_single(cc, path, warmup, end).unwrap()
}

/// draft-cardwell-iccrg-bbr-congestion-control-00, section 4.2.1: BBR paces at `pacing_gain` times its estimate. quinn paces
/// every control at 1.25 windows a round trip, so that its BBR fills the network up to a window of two BDP.
#[cfg(all(feature = "connections", getrandom_backend = "custom"))]
#[test]
fn quinn_s_bbr_loses_a_third_where_a_window_of_two_bdp_does_not_fit_and_ours_next_to_nothing() {
    let [ours, theirs] = ["bbr", "quinn/bbr"].map(|cc| {
        let trace = alone(cc, 41);
        let arrived = trace.delivered[1] as f64 / ackclock_stacks::DATAGRAM;
        trace.dropped as f64 / (trace.dropped as f64 + arrived)
    });
    println!("lost: {:.2} % here, {:.2} % there", 100.0 * ours, 100.0 * theirs);
    assert!(ours < 0.01 && theirs > 0.25, "{ours} {theirs}");
}

/// draft-ietf-ccwg-bbr-06, section 5.3.3.9, `AdaptLongTermModel`: the round in which feedback of a probe ends sets
/// `ACKS_INIT`, so that the filter of `max_bw` advances once a cycle. noq has no such state: it advances every round, and
/// the filter has forgotten the probe after two. Pacing at 0.99 of the rate, it sees 0.99 of it, and so on.
#[cfg(all(feature = "connections", getrandom_backend = "custom"))]
#[test]
fn noq_s_bbr3_forgets_the_rate_that_it_probed_and_slows_down_from_round_to_round() {
    let [ours, theirs] = ["bbr3", "noq/bbr3"].map(|cc| alone(cc, 81));
    let goodput = |trace: &ackclock_stacks::Trace| {
        trace.goodput_bps(Duration::from_secs(7), Duration::from_secs(30)) / 1e6
    };
    println!("goodput: {:.2} Mbit/s here, {:.2} there", goodput(&ours), goodput(&theirs));
    assert!(goodput(&ours) > 18.0 && goodput(&theirs) < 17.5);
    // In the first cycle after start-up, whose queue is still there: a round trip takes 80 ms.
    let window = |trace: &ackclock_stacks::Trace, ms| {
        let start = Duration::from_millis(ms);
        trace.window(start, start + Duration::from_millis(40))[1] / ackclock_stacks::DATAGRAM
    };
    let fall = |trace| window(trace, 2800) / window(trace, 1200);
    println!("window after 20 round trips: {:.3} here, {:.3} there", fall(&ours), fall(&theirs));
    assert!((fall(&ours) - 1.0).abs() < 0.01, "{}", fall(&ours));
    // 0.99^20 = 0.82, and the window holds more than the bandwidth-delay product.
    assert!((0.80..0.95).contains(&fall(&theirs)), "{}", fall(&theirs));
}
