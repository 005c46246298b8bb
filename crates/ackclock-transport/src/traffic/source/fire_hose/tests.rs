use serde_json::json;

use super::receiver::{GoodputReporter, write_goodput};
use super::*;
use crate::ids::FlowId;
use crate::registry::refusal;
use crate::traffic::source::testing::{Hand, env, ms};
use crate::wire::Flags;

/// Flows of one host on its link of 10 Mbit/s, with packets of 1000 bytes.
fn flows(policy: &str, count: usize) -> Vec<Hand<FireHose>> {
    let env = env();
    let params = FireHoseParams { policy: Spec::from(policy), ..FireHoseParams::default() };
    let hoses = (0..count).map(|_| Hand::new(FireHose::new(params.clone(), &env).unwrap()));
    let mut hoses: Vec<_> = hoses.collect();
    hoses.iter_mut().for_each(Hand::start);
    hoses
}

/// A report of so many Mbit/s arrives at `at_ms`.
fn report(flow: &mut Hand<FireHose>, at_ms: u64, mbps: f64) {
    let mut packet = Packet::new(FlowId(0), 0, 40, Flags::ACK | Flags::DATAGRAM);
    write_goodput(&mut packet, mbps * 1e6);
    flow.arrive(ms(at_ms), packet);
}

fn rate_is(flow: &Hand<FireHose>, mbps: f64) {
    assert!((flow.end.rate / 1e6 - mbps).abs() < 1e-5, "{} is not {mbps}", flow.end.rate);
}

#[test]
fn limited_ratio_by_hand() {
    let mut flows = flows("limited-ratio", 2);
    rate_is(&flows[0], 5.0);
    rate_is(&flows[1], 5.0);
    // 2 of flow 0, 5 of the other, which has not been reported: room for 1.2 times both.
    report(&mut flows[0], 100, 2.0);
    rate_is(&flows[0], 2.4);
    // 2 + 3 = 5.
    report(&mut flows[1], 100, 3.0);
    rate_is(&flows[1], 3.6);
    // 2 + 8 = 10 leave no room: the rate is the goodput.
    report(&mut flows[1], 200, 8.0);
    rate_is(&flows[1], 8.0);
    // 1 + 8 = 9: 10/9 of it.
    report(&mut flows[0], 200, 1.0);
    rate_is(&flows[0], 1.0 / 0.9);
}

#[test]
fn full_share_full_balanced_naive_ratio_and_naive_by_hand() {
    // Goodputs 2 and 5; reports of flow 0.
    for (policy, mbps) in [
        // A slack of 3, half of it for each.
        ("full-share", 3.5),
        // 10/7 of the goodput.
        ("full-balanced", 20.0 / 7.0),
        ("naive-ratio", 2.4),
        ("naive", 5.0),
    ] {
        let mut flows = flows(policy, 2);
        report(&mut flows[0], 100, 2.0);
        rate_is(&flows[0], mbps);
        rate_is(&flows[1], 5.0);
    }
}

#[test]
fn the_clock_goes_on_between_packets_closer_than_a_picosecond() {
    let params = FireHoseParams {
        policy: Spec::from("naive"),
        packet: Bytes(1),
        capacity: Some(BitRate(1_000_000_000_000_000)),
        ..FireHoseParams::default()
    };
    let mut flow = Hand::new(FireHose::new(params, &env()).unwrap());
    flow.start();
    flow.run(Time(8));
    let times: Vec<_> = flow.sent.iter().map(|(time, _)| time.0).collect();
    assert_eq!(times, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn packets_leave_at_the_rate_and_a_new_rate_counts_from_the_last_packet() {
    // 8000 bits at 10 Mbit/s: every 0.8 ms.
    let mut flow = flows("naive-ratio", 1).remove(0);
    flow.run(ms(3));
    assert_eq!(flow.times_ms(), [0.0, 0.8, 1.6, 2.4]);
    // 1.2 x 2 Mbit/s: 3.333 ms after the packet of 2.4 ms.
    report(&mut flow, 3, 2.0);
    flow.run(ms(6));
    assert!((flow.times_ms()[4] - (2.4 + 8.0 / 2.4)).abs() < 1e-6, "{:?}", flow.times_ms());
    // Nothing arrives: a packet per interval of 100 ms, so that there is something to report.
    report(&mut flow, 7, 0.0);
    assert!((flow.end.rate - 80_000.0).abs() < 1e-9, "{}", flow.end.rate);
}

#[test]
fn flows_that_have_stopped_or_not_started_do_not_count() {
    let env = env();
    let params = FireHoseParams { policy: Spec::from("full-share"), ..FireHoseParams::default() };
    let make = |start: u64, stop: Option<u64>| {
        let (start, stop) = (Span::from_millis(start), stop.map(Span::from_millis));
        let env = SourceEnv { start, stop, ..env.clone() };
        Hand::new(FireHose::new(params.clone(), &env).unwrap())
    };
    let (mut first, mut second, mut third) = (make(0, None), make(0, Some(500)), make(1000, None));
    first.start();
    second.start();
    rate_is(&first, 5.0);
    second.run(ms(2000));
    assert!(second.sent.iter().all(|&(at, _)| at < ms(500)));
    // Alone on the link: all of it.
    report(&mut first, 600, 5.0);
    rate_is(&first, 10.0);
    third.now = ms(1000);
    third.start();
    rate_is(&third, 5.0);
    // Others on another link are another sender.
    let elsewhere = SourceEnv { first_link: None, ..env.clone() };
    let mut other = Hand::new(FireHose::new(params.clone(), &elsewhere).unwrap());
    other.start();
    rate_is(&other, 10.0);
}

#[test]
fn the_receiver_reports_bytes_between_the_newest_arrivals_of_two_reports() {
    let mut receiver = Hand::new(GoodputReporter::new(FlowId(0), Span::from_millis(10)));
    let data = || Packet::new(FlowId(0), 0, 1000, Flags::DATAGRAM);
    // From 5 ms on every 2 ms, until 21 ms; then 40 ms.
    for arrival_ms in (5..=21).step_by(2).chain([40]) {
        receiver.arrive(ms(arrival_ms), data());
    }
    receiver.run(ms(100));
    let reports: Vec<(f64, f64)> = receiver
        .sent
        .iter()
        .map(|(time, packet)| (time.0 as f64 / 1e9, (read_goodput(packet) / 1e3).round()))
        .collect();
    // 15 ms: 4 packets (7 to 13) in 8 ms, for what arrives at 15 ms is counted later. 25 ms: 4 in 8 ms.
    // 35 ms: none. 50 ms: 1 packet in 19 ms, 421 kbit/s. 60 ms: none.
    let expected = [(15.0, 4000.0), (25.0, 4000.0), (35.0, 0.0), (50.0, 421.0), (60.0, 0.0)];
    assert_eq!(reports, expected);
    assert_eq!(receiver.end.snapshot().delivered_packets, 10);
}

#[test]
fn a_bad_parameter_is_named() {
    for (params, expected) in [
        (json!({ "policy": "loss-load" }), "policy: loss-load needs reports of routers"),
        (json!({ "policy": "limited" }), "policy: there is no sender policy \"limited\""),
        (
            json!({ "policy": { "kind": "limited-ratio", "alpha": -1 } }),
            "policy.alpha: -1 is out of range; expected at least 0",
        ),
        (json!({ "interval": 0 }), "interval: 0 s is out of range"),
        (json!({ "capacity": 0 }), "capacity: 0 bit/s is out of range"),
    ] {
        let message = refusal::<SourceEnv, FireHose>(params, &env());
        assert!(message.starts_with(expected), "{message}");
    }
    let nowhere = SourceEnv { first_link: None, access: None, ..env() };
    let message = refusal::<SourceEnv, FireHose>(json!({}), &nowhere);
    assert_eq!(message, "capacity: is missing: the flow leaves its host on no link");
}
