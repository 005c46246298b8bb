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
