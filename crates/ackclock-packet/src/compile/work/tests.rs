//! Predictions beside what runs do.

use serde_json::{Value, json};

use crate::compile::{compile, predict};
use crate::packet;

/// A dumbbell of 10 Mbit/s and 40 ms with so many pairs, for 10 s.
fn dumbbell(pairs: u32, changes: &Value) -> Value {
    let mut scenario = json!({
        "net": { "kind": "dumbbell", "pairs": pairs, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "1 bdp" },
        "duration": 10,
    });
    for (key, value) in changes.as_object().into_iter().flatten() {
        scenario[key] = value.clone();
    }
    scenario
}

/// Packet hops and events, each predicted over real.
fn ratios(scenario: &Value) -> [f64; 2] {
    let plan = compile(&serde_json::from_value(scenario.clone()).unwrap()).unwrap();
    let predicted = predict(&plan);
    let results = packet::run(&plan, &mut |_| true).unwrap();
    [predicted.packet_hops / results.packet_hops as f64, predicted.events / results.events as f64]
}

fn assert_within_a_factor_of_two(scenarios: &[(&str, Value)]) {
    let ratios_by_name: Vec<_> = scenarios.iter().map(|(name, s)| (name, ratios(s))).collect();
    let far = |r: &f64| !(0.5..=2.0).contains(r);
    let wrong: Vec<_> =
        ratios_by_name.iter().filter(|(_, ratios)| ratios.iter().any(far)).collect();
    assert!(wrong.is_empty(), "{wrong:.2?}, of {ratios_by_name:.2?}");
}

fn poisson(mean: &str, load: &str) -> Value {
    json!([{
        "generator": { "kind": "poisson", "load": load, "sizes": { "kind": "exponential", "mean": mean } },
        "flow": { "pair": 0 },
    }])
}

/// With equal shares of a link for all transfers of a run, a fifth of their packets and less were predicted.
#[test]
fn the_work_of_transfers_is_predicted() {
    let transfers = |size: &str, more: &Value| {
        let mut flow = json!({ "pair": 0, "size": size });
        more.as_object().into_iter().flatten().for_each(|(key, value)| flow[key] = value.clone());
        json!([flow])
    };
    assert_within_a_factor_of_two(&[
        ("short transfers", dumbbell(1, &json!({ "traffic": poisson("15 kB", "5 Mbps") }))),
        ("long transfers", dumbbell(1, &json!({ "traffic": poisson("1 MB", "8 Mbps") }))),
        ("more than the link", dumbbell(1, &json!({ "traffic": poisson("100 kB", "20 Mbps") }))),
        (
            "one segment",
            dumbbell(
                200,
                &json!({ "flows": transfers("1 kB", &json!({ "count": 200, "stagger": "40 ms" })) }),
            ),
        ),
        ("one transfer", dumbbell(1, &json!({ "flows": transfers("200 kB", &json!({})) }))),
        (
            "beside an endless flow",
            dumbbell(
                2,
                &json!({ "traffic": poisson("15 kB", "3 Mbps"), "flows": [{ "pair": 1 }] }),
            ),
        ),
        (
            "bursts",
            dumbbell(1, &json!({ "flows": transfers("30 kB", &json!({ "every": "500 ms" })) })),
        ),
        (
            "bursts above the link",
            dumbbell(1, &json!({ "flows": transfers("3 MB", &json!({ "every": "1 s" })) })),
        ),
        (
            "a frame of hours",
            dumbbell(1, &json!({ "flows": [{ "pair": 0, "media": { "fps": 1e-5 } }] })),
        ),
    ]);
}

#[test]
fn the_work_of_endless_flows_is_predicted() {
    let lot = json!({ "kind": "parking-lot", "hops": 3, "rate": "10 Mbps", "delay": "10 ms", "buffer": "1 bdp" });
    let lot_flows = json!([{ "pair": 0 }, { "pair": 1 }, { "pair": 2 }, { "pair": 3 }]);
    let endless = |count: u32| json!([{ "pair": 0, "count": count, "stagger": "10 ms" }]);
    let fast = json!({ "kind": "dumbbell", "pairs": 1, "rate": "1 Gbps", "rtt": "100 ms", "buffer": "1 bdp" });
    let queue = |qdisc: &str| json!({ "kind": "dumbbell", "pairs": 3, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "1 bdp", "qdisc": qdisc });
    assert_within_a_factor_of_two(&[
        ("one flow", dumbbell(1, &json!({ "flows": endless(1) }))),
        ("many flows", dumbbell(200, &json!({ "flows": endless(200) }))),
        (
            "late flows",
            dumbbell(4, &json!({ "flows": [{ "pair": 0 }, { "pair": 1, "start": 9 }] })),
        ),
        ("a window", dumbbell(1, &json!({ "flows": endless(1), "tcp": { "receiver_window": 8 } }))),
        ("slow start", json!({ "net": fast, "flows": endless(1), "duration": 0.45 })),
        ("parking lot", json!({ "net": lot, "flows": lot_flows, "duration": 10 })),
        (
            "quic",
            dumbbell(
                2,
                &json!({ "flows": [{ "pair": 0, "transport": "quic" }, { "pair": 1, "size": "2 MB", "transport": "quic" }] }),
            ),
        ),
        ("era", dumbbell(2, &json!({ "flows": endless(2), "era": "ns2" }))),
        ("drr", json!({ "net": queue("drr"), "flows": endless(3), "duration": 10 })),
        ("codel", json!({ "net": queue("codel"), "flows": endless(3), "duration": 10 })),
    ]);
}

#[test]
fn the_work_of_sources_without_tcp_is_predicted() {
    let with = |source: Value| dumbbell(1, &json!({ "flows": [{ "pair": 0, "source": source }] }));
    assert_within_a_factor_of_two(&[
        ("slow", with(json!({ "kind": "cbr", "rate": "100 kbps" }))),
        ("above the link", with(json!({ "kind": "cbr", "rate": "60 Mbps" }))),
        (
            "periods",
            with(
                json!({ "kind": "cbr", "rate": "8 Mbps", "periods": [{ "on": 1, "off": 2 }, { "on": 8, "off": 20 }] }),
            ),
        ),
        (
            "bursts",
            with(
                json!({ "kind": "exponential-on-off", "rate": "4 Mbps", "burst": "50 ms", "idle": "100 ms" }),
            ),
        ),
        (
            "trace",
            with(
                json!({ "kind": "trace", "packets": [{ "at": 1, "size": "90 kB" }, { "at": 11, "size": "90 MB" }] }),
            ),
        ),
        ("tfrc", with(json!("tfrc"))),
        ("packet pair", with(json!("packet-pair"))),
        (
            "packet pair beyond the queues",
            with(json!({ "kind": "packet-pair", "set_point": 5000 })),
        ),
        ("fire-hose", with(json!({ "kind": "fire-hose", "policy": "naive" }))),
        ("coded", with(json!({ "kind": "coded", "source": { "kind": "cbr", "rate": "2 Mbps" } }))),
    ]);
}

/// Layers that nobody can hold are sent to no link, at the cost of their timers.
#[test]
fn the_timers_of_multicast_sources_are_work() {
    let star = json!({ "kind": "star", "hosts": 3, "rate": "1 Mbps", "delay": "5 ms" });
    let group = json!({
        "src": "h0", "receivers": ["h1", "h2"], "layers": ["100 kbps", "200 Mbps"], "control": "plm",
    });
    let [_, events] = ratios(&json!({ "net": star, "groups": [group], "duration": 2 }));
    assert!((0.5..=2.5).contains(&events), "{events}");
}

/// A segment of 1500 B takes 20 minutes at 10 bit/s, and the timer a minute at most: it is sent again each time.
#[test]
fn segments_that_are_sent_again_before_they_can_be_acknowledged_are_predicted() {
    let net =
        json!({ "kind": "dumbbell", "pairs": 1, "rate": 10, "rtt": "40 ms", "buffer": "1 pkt" });
    let more = json!({ "net": net, "duration": 3e5, "flows": [{ "pair": 0 }] });
    assert_within_a_factor_of_two(&[("slow", dumbbell(1, &more))]);
}
