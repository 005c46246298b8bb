//! Whatever is said, the answer is a list of problems: where, what, and what was expected.

use ackclock_core::api;
use ackclock_core::packet::RunError;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{extend, problems};

fn good() -> Value {
    json!({
        "net": {"kind": "graph", "links": [
            {"a": "a", "b": "r", "rate": "10 Mbps", "delay": "5 ms", "buffer": "50 pkt"},
            {"a": "r", "b": "c", "rate": "5 Mbps", "delay": "5 ms", "buffer": "50 pkt", "qdisc": "red"},
        ]},
        "flows": [
            {"id": "one", "src": "a", "dst": "c", "cc": "aimd", "recovery": "sack"},
            {"src": "a", "dst": "c", "source": {"kind": "cbr", "rate": "1 Mbps"}},
        ],
        "duration": "1 s",
    })
}

/// The good scenario with the value at a JSON pointer replaced or added.
fn with(pointer: &str, value: Value) -> Value {
    let mut scenario = good();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    extend(scenario.pointer_mut(parent).unwrap(), json!({key: value}));
    scenario
}

#[test]
fn mistakes_in_the_streams_of_a_call_are_reported_with_their_keys() {
    let stream = |change: Value| {
        let mut stream = json!({"fps": 30, "size": "1000 B"});
        extend(&mut stream, change);
        stream
    };
    let call = |streams: Value, more: Value| {
        let mut scenario = good();
        let mut flow = json!({"src": "a", "dst": "c", "transport": "quic", "streams": streams});
        extend(&mut flow, more);
        scenario["flows"] = json!([flow]);
        scenario
    };
    assert_eq!(problems(&call(json!([stream(json!({}))]), json!({}))), []);
    for (streams, more, path, phrase) in [
        (
            json!([stream(json!({}))]),
            json!({"transport": "tcp"}),
            "streams",
            "over TCP; expected transport",
        ),
        (
            json!([stream(json!({}))]),
            json!({"size": "1 MB"}),
            "size",
            "says what is sent, and so does streams",
        ),
        (json!([]), json!({}), "streams", "has 0 streams, expected 1 to 64"),
        (json!([stream(json!({"fps": 0}))]), json!({}), "streams[0].fps", "0 is out of range"),
        (json!([stream(json!({"group": 0}))]), json!({}), "streams[0].group", "0 is out of range"),
        (
            json!([stream(json!({"cancel_after": 0}))]),
            json!({}),
            "streams[0].cancel_after",
            "out of range",
        ),
        (
            json!([stream(json!({"datagrams": true, "size": "1162 B"}))]),
            json!({}),
            "streams[0].size",
            "1162 B, expected at most 1161 B",
        ),
        (
            json!([stream(json!({"datagrams": true, "group": 2}))]),
            json!({}),
            "streams[0].group",
            "beside datagrams",
        ),
        (
            json!([stream(json!({"id": "a"})), stream(json!({"id": "a"}))]),
            json!({}),
            "streams[1].id",
            "the name of an earlier stream",
        ),
    ] {
        let mistakes = problems(&call(streams, more));
        let [(key, message)] = &mistakes[..] else { panic!("{path}: {mistakes:?}") };
        assert_eq!(*key, format!("flows[0].{path}"));
        assert!(message.contains(phrase), "{message}");
    }
}

#[test]
fn a_link_that_takes_no_time_is_refused() {
    let with_links = |rate: &str, delay: &str| {
        let link = json!({"a": "r", "b": "c", "rate": rate, "delay": delay});
        with("/net/links", json!([link, {"a": "a", "b": "r", "rate": "10 Mbps", "delay": "5 ms"}]))
    };
    assert_eq!(problems(&with_links("16 Tbps", "0 s")), []);
    assert_eq!(problems(&with_links("17 Tbps", "1 ps")), []);
    let refused = problems(&with_links("17 Tbps", "0 s"));
    let [problem] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!(problem.0, "net.links[0].delay");
    assert!(problem.1.contains("a byte at 17000000000000 bit/s takes no time either"));
}

#[test]
fn a_link_that_takes_no_time_from_a_step_of_its_schedule_on_is_refused() {
    let with_steps = |key: &str, rate: &str, delay: &str| {
        let steps =
            json!({"steps": [{"at": "1 s", "rate": "1 Mbps"}, {"at": "2 s", "rate": rate}]});
        let link = json!({"a": "r", "b": "c", "rate": "1 Gbps", "delay": delay, key: steps});
        with("/net/links", json!([link, {"a": "a", "b": "r", "rate": "10 Mbps", "delay": "5 ms"}]))
    };
    for key in ["schedule", "back_schedule"] {
        assert_eq!(problems(&with_steps(key, "16 Tbps", "0 s")), []);
        assert_eq!(problems(&with_steps(key, "17 Tbps", "1 ps")), []);
        let refused = problems(&with_steps(key, "17 Tbps", "0 s"));
        let [problem] = &refused[..] else { panic!("{refused:?}") };
        assert_eq!(problem.0, "net.links[0].delay");
        assert!(problem.1.contains("a byte at 17000000000000 bit/s takes no time either"));
    }
    // A change of one direction, of what the other keys say.
    for change in [json!({"delay": "0 s"}), json!({"delay": "0 s", "rate": "18 Tbps"})] {
        let mut document = with_steps("schedule", "17 Tbps", "1 ms");
        document["links"] = json!([{"link": "r->c", "loss": 0.1}, change]);
        document["links"][1]["link"] = json!(["r->c", "c->r"]);
        let refused = problems(&document);
        let [problem] = &refused[..] else { panic!("{refused:?}") };
        assert_eq!(problem.0, "links[1]");
        assert!(problem.1.contains("leaves \"r->c\" no delay, and a byte at 1"), "{problem:?}");
    }
}

/// 4,000,000 of each are in the range of its field, and make two or three times as many nodes: 10 s and some GB to expand.
#[test]
fn shapes_of_too_many_nodes_are_refused_from_their_count() {
    for (net, nodes) in [
        (json!({"kind": "dumbbell", "pairs": 4_000_000, "rate": 1e6}), 8_000_002),
        (json!({"kind": "parking-lot", "hops": 4_000_000, "rate": 1e6, "delay": 0.01}), 12_000_003),
        (
            json!({"kind": "ring", "routers": 4_000_000, "span": 2, "rate": 1e6, "delay": 0.01}),
            8_000_000,
        ),
    ] {
        let refused = problems(&json!({"net": net, "flows": [{"pair": 0}], "duration": 1}));
        let of_net: Vec<_> = refused.iter().filter(|(key, _)| key.starts_with("net.")).collect();
        let [(_, message)] = &of_net[..] else { panic!("{refused:?}") };
        let expected = format!("which makes {nodes} nodes in all, expected at most 4000000");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn the_good_scenario_is_good() {
    assert_eq!(problems(&good()), []);
}

#[test]
fn each_mistake_is_reported_once_with_its_place_the_value_and_what_was_expected() {
    let huge: u64 = 1 << 63;
    for (pointer, value, path, phrases) in [
        ("/flows/0/cc", json!("aimdx"), "flows[0].cc", vec!["\"aimdx\"", "did you mean \"aimd\""]),
        ("/flows/0/cc", json!("zzz"), "flows[0].cc", vec!["\"zzz\"", "expected one of", "cubic"]),
        (
            "/flows/0/cc",
            json!({"kind": "aimd", "q": 1}),
            "flows[0].cc.q",
            vec!["\"q\"", "expected one of: a, b"],
        ),
        (
            "/flows/0/cc",
            json!({"kind": "aimd", "b": 1.5}),
            "flows[0].cc.b",
            vec!["1.5 is out of range", "more than 0 and less than 1"],
        ),
        ("/flows/0/recovery", json!("sak"), "flows[0].recovery", vec!["\"sak\"", "\"sack\""]),
        ("/flows/0/slow_start", json!("hystrat"), "flows[0].slow_start", vec!["\"hystrat\""]),
        ("/flows/1/source", json!("crb"), "flows[1].source", vec!["\"crb\"", "\"cbr\""]),
        (
            "/flows/1/source",
            json!({"kind": "cbr", "rate": 0}),
            "flows[1].source.rate",
            vec!["0 bit/s is out of range"],
        ),
        (
            "/flows/1/source",
            json!({"kind": "cbr", "rate": "1e6 Tbps"}),
            "flows[1].source.rate",
            vec!["1e6 Tbps", "at most 1000000000000000 bit/s"],
        ),
        ("/flows/1/cc", json!("aimd"), "flows[1].cc", vec!["beside source"]),
        ("/flows/0/src", json!("aa"), "flows[0].src", vec!["\"aa\"", "did you mean \"a\""]),
        ("/flows/0/dst", json!("a"), "flows[0].dst", vec!["same node"]),
        ("/flows/0/pair", json!(0), "flows[0]", vec!["either pair, or src and dst"]),
        (
            "/flows/0/route",
            json!(["a", "c"]),
            "flows[0].route[1]",
            vec!["no link from \"a\" to \"c\""],
        ),
        (
            "/flows/0/route",
            json!(["r", "c"]),
            "flows[0].route",
            vec!["begin at \"a\"", "end at \"c\""],
        ),
        ("/flows/0/route", json!([]), "flows[0].route", vec!["begin at \"a\""]),
        ("/flows/0/count", json!(3_000_000), "flows[0].count", vec!["3000000", "2000000"]),
        ("/flows/0/count", json!(0), "", vec![]),
        ("/flows/0/size", json!(0), "flows[0].size", vec!["0 B is out of range", "at least 1 B"]),
        ("/flows/0/stop", json!(0), "flows[0].stop", vec!["not later than start"]),
        ("/flows/1/id", json!("one"), "flows[1].id", vec!["\"one\"", "earlier flow"]),
        ("/flows/0/tcp", json!({"mss": 0}), "flows[0].tcp.mss", vec!["0 is out of range", "(B)"]),
        ("/flows/0/tcp", json!({"mss": 70_000}), "flows[0].tcp.mss", vec!["70000", "65523"]),
        (
            "/flows/0/tcp",
            json!({"delayed_ack": 0}),
            "flows[0].tcp.delayed_ack",
            vec!["0 is out of range", "at least 1 (packets)"],
        ),
        (
            "/flows/0/tcp",
            json!({"tick": 0}),
            "flows[0].tcp.tick",
            vec!["0 s is out of range", "at least 1e-6 s"],
        ),
        ("/flows/0/tcp", json!({"min_rto": "2 min"}), "flows[0].tcp.min_rto", vec!["max_rto"]),
        ("/net/links/0/rate", json!(0), "net.links[0].rate", vec!["0 bit/s", "more than 0"]),
        (
            "/net/links/0/rate",
            json!("2000 Tbps"),
            "net.links[0].rate",
            vec!["at most 1000000000000000 bit/s"],
        ),
        ("/net/links/0/back_rate", json!(0), "net.links[0].back_rate", vec!["0 bit/s"]),
        (
            "/net/links/0/loss",
            json!(1.5),
            "net.links[0].loss",
            vec!["1.5 is out of range", "from 0 to 1"],
        ),
        ("/net/links/0/weight", json!(-1), "net.links[0].weight", vec!["-1", "more than 0"]),
        ("/net/links/0/mtu", json!(0), "net.links[0].mtu", vec!["0 B", "from 1 to 65535"]),
        ("/net/links/0/buffer", json!("100 B"), "net.links[0].buffer", vec!["100 B", "1500 B"]),
        (
            "/net/links/0/back_buffer",
            json!("10 B"),
            "net.links[0].back_buffer",
            vec!["10 B", "40 B"],
        ),
        ("/net/links/0/delay", json!("1000 h"), "", vec![]),
        (
            "/net/links/0/delay",
            json!("3000 h"),
            "net.links[0].delay",
            vec!["3000 h", "to 9000000 s"],
        ),
        ("/net/links/0/b", json!("a"), "net.links[0]", vec!["\"a\" to itself"]),
        ("/net/links/1/id", json!("a->r"), "net.links[1]", vec!["\"a->r\"", "another id"]),
        ("/net/links/1/qdisc", json!("rad"), "net.links[1].qdisc", vec!["\"rad\"", "\"red\""]),
        (
            "/net/links/1/qdisc",
            json!({"kind": "red", "max_p": 2}),
            "net.links[1].qdisc.max_p",
            vec!["2 is out of range", "more than 0 and at most 1"],
        ),
        (
            "/net/links/1/qdisc",
            json!({"kind": "red", "min_thr": 2}),
            "net.links[1].qdisc.min_thr",
            vec!["\"min_thr\"", "min_th"],
        ),
        ("/net/links/1/qdisc", json!({}), "net.links[1].qdisc", vec!["expected a name"]),
        (
            "/net/links/1/qdisc",
            json!({"kind": "fq-codel", "queues": 4_000_000_000u32}),
            "net.links[1].qdisc.queues",
            vec!["4000000000"],
        ),
        (
            "/net/links/1/qdisc",
            json!({"kind": "sfq", "buckets": 4_000_000_000u32}),
            "net.links[1].qdisc.buckets",
            vec!["4000000000"],
        ),
        (
            "/net/links/0/schedule",
            json!({"steps": []}),
            "net.links[0].schedule.steps",
            vec!["empty", "at least one"],
        ),
        (
            "/net/links/0/schedule",
            json!({"steps": [{"at": 1, "rate": 1}, {"at": 1, "rate": 2}]}),
            "net.links[0].schedule.steps[1].at",
            vec!["ascending"],
        ),
        (
            "/net/links/0/schedule",
            json!({"steps": [{"at": 0, "rate": 0}]}),
            "net.links[0].schedule.steps",
            vec!["zero at every step"],
        ),
        (
            "/net/links/0/schedule",
            json!({"mahimahi": []}),
            "net.links[0].schedule.mahimahi",
            vec!["no opportunity"],
        ),
        (
            "/net/links/0/schedule",
            json!({"mahimahi": [0, 0]}),
            "net.links[0].schedule.mahimahi",
            vec!["after 0 ms"],
        ),
        (
            "/net/links/0/schedule",
            json!({"mahimahi": [5, 3]}),
            "net.links[0].schedule.mahimahi[1]",
            vec!["ascending"],
        ),
        (
            "/net/links/0/schedule",
            json!({"mahimahi": [5, huge]}),
            "net.links[0].schedule.mahimahi[1]",
            vec!["9223372036854775808", "at most"],
        ),
        ("/duration", json!(0), "duration", vec!["0 s is out of range", "more than 0"]),
        ("/duration", json!("1e9 s"), "duration", vec!["at most 9000000 s"]),
        ("/warmup", json!("1 s"), "warmup", vec!["1 s", "less than the duration of 1 s"]),
        ("/flows", json!([]), "flows", vec!["empty", "at least one flow"]),
        (
            "/record",
            json!({"tables": ["link_samples"], "interval": "0 s"}),
            "record.interval",
            vec!["at least 1e-6 s"],
        ),
        (
            "/record",
            json!({"tables": ["link_samples"], "interval": "1 ps"}),
            "record.interval",
            vec!["1 ps is out of range", "at least 1e-6 s"],
        ),
        ("/record", json!({"flows": [2]}), "record.flows[0]", vec!["is 2", "0 to 1"]),
        (
            "/record",
            json!({"links": ["a->c"]}),
            "record.links[0]",
            vec!["\"a->c\"", "did you mean"],
        ),
    ] {
        let scenario = with(pointer, value.clone());
        let mistakes = problems(&scenario);
        if phrases.is_empty() {
            assert_eq!(mistakes, [], "{pointer} = {value}");
            continue;
        }
        assert_eq!(mistakes.len(), 1, "{pointer} = {value}: {mistakes:?}");
        assert_eq!(mistakes[0].0, path, "{pointer} = {value}: {mistakes:?}");
        for phrase in phrases {
            assert!(
                mistakes[0].1.contains(phrase),
                "{pointer} = {value}: {mistakes:?} lacks {phrase}"
            );
        }
    }
}

#[test]
fn more_samples_than_anybody_reads_are_refused() {
    let mut scenario = with("/record", json!({"tables": ["link_samples"], "interval": "1 us"}));
    scenario["duration"] = json!("100 s");
    let mistakes = problems(&scenario);
    let [(path, message)] = &mistakes[..] else { panic!("{mistakes:?}") };
    assert_eq!(path, "record.interval");
    assert!(message.contains("expected at most 200000000"), "{message}");
}

#[test]
fn mistakes_of_form_say_what_was_found_and_what_was_expected() {
    for (pointer, value, phrases) in [
        ("/duration", json!("1 Mbps"), ["\"Mbps\"", "unit of duration"]),
        ("/net/links/0/rate", json!("10 ms"), ["\"ms\"", "unit of rate"]),
        ("/net/links/0/rate", json!(-1), ["-1", "not negative"]),
        ("/net/links/0/buffer", json!(100), ["name its unit", "pkt"]),
        ("/net/links/0/buffer", json!("0 pkt"), ["\"0 pkt\"", "more than zero"]),
        ("/net/links/0/bufer", json!("1 pkt"), ["bufer", "\"buffer\""]),
        ("/flows/0/ccc", json!("aimd"), ["ccc", "\"cc\""]),
        ("/era", json!("2003"), ["2003", "2002"]),
        ("/net/kind", json!("grapf"), ["grapf", "graph"]),
        ("/flows/0/tcp", json!({"mms": 1}), ["mms", "mss"]),
    ] {
        let mistakes = problems(&with(pointer, value.clone()));
        assert_eq!(mistakes.len(), 1, "{pointer} = {value}");
        let path = match pointer {
            "/flows/0/tcp" => "flows[0].tcp.mms".to_owned(),
            _ => pointer[1..].replace("/0", "[0]").replace('/', "."),
        };
        assert_eq!(mistakes[0].0, path, "{pointer} = {value}: {mistakes:?}");
        for phrase in phrases {
            assert!(
                mistakes[0].1.contains(phrase),
                "{pointer} = {value}: {mistakes:?} lacks {phrase}"
            );
        }
    }
}

#[test]
fn a_network_in_pieces_is_reported_with_its_ends() {
    let scenario = json!({
        "net": {"kind": "graph", "links": [
            {"a": "a", "b": "b", "rate": 1e6, "delay": "1 ms", "buffer": "9 pkt"},
            {"a": "c", "b": "d", "rate": 1e6, "delay": "1 ms", "buffer": "9 pkt"}]},
        "flows": [{"src": "a", "dst": "d"}], "duration": 1,
    });
    let mistakes = problems(&scenario);
    assert!(!mistakes.is_empty());
    assert_eq!(mistakes.len(), 1, "one mistake, one problem: {mistakes:?}");
    assert_eq!(mistakes[0].0, "flows[0]");
    assert!(mistakes[0].1.contains("\"a\" to \"d\""));
}

#[test]
fn one_mistake_in_a_shape_is_one_problem() {
    for (extra, path) in [
        (json!({"rate": 0}), "net.rate"),
        (json!({"access_rate": 0}), "net.access_rate"),
        (json!({"access_buffer": "100 B"}), "net.access_buffer"),
        (json!({"access_rate": "2000 Tbps"}), "net.access_rate"),
        (json!({"pairs": 0}), "net.pairs"),
        (json!({"loss": 2}), "net.loss"),
        (json!({"rtt": "1 ms"}), "net.rtt"),
    ] {
        let mut net = json!({"kind": "dumbbell", "pairs": 3, "rate": "10 Mbps", "rtt": "40 ms"});
        extend(&mut net, extra.clone());
        let scenario = json!({"net": net, "flows": [{"pair": 0, "count": 3}], "duration": 1});
        let mistakes = problems(&scenario);
        assert_eq!(mistakes.len(), 1, "{extra}: {mistakes:?}");
        assert_eq!(mistakes[0].0, path, "{extra}: {mistakes:?}");
    }
}

fn sorted_places(scenario: &Value) -> Vec<String> {
    let mut paths: Vec<String> = problems(scenario).into_iter().map(|(path, _)| path).collect();
    paths.sort();
    paths
}

#[test]
fn all_problems_are_reported_together() {
    let mut scenario = good();
    scenario["warmup"] = json!("2 s");
    scenario["net"]["links"][0]["rate"] = json!(0);
    scenario["net"]["links"][1]["loss"] = json!(-1);
    scenario["flows"][0]["dst"] = json!("x");
    scenario["flows"][1]["stop"] = json!(0);
    let paths = sorted_places(&scenario);
    assert_eq!(
        paths,
        ["flows[0].dst", "flows[1].stop", "net.links[0].rate", "net.links[1].loss", "warmup"]
    );
    // Algorithms' parameters are beside them, of flows that lead nowhere too.
    scenario["net"]["links"][1]["qdisc"] = json!({"kind": "red", "max_p": 3});
    scenario["flows"][0]["cc"] = json!({"kind": "aimd", "b": 2});
    scenario["flows"][1]["source"]["rate"] = json!(0);
    scenario["traffic"] = json!([{"generator": "x", "flow": {"cc": {"kind": "cubic", "beta": 2}}}]);
    let paths = sorted_places(&scenario);
    assert_eq!(
        paths,
        [
            "flows[0].cc.b",
            "flows[0].dst",
            "flows[1].source.rate",
            "flows[1].stop",
            "net.links[0].rate",
            "net.links[1].loss",
            "net.links[1].qdisc.max_p",
            "traffic[0].flow.cc.beta",
            "traffic[0].generator",
            "warmup",
        ]
    );
    // What only the rooms can judge is collected too.
    let mut scenario = good();
    scenario["net"]["links"][0]["qdisc"] = json!("x");
    scenario["net"]["links"][1]["back_qdisc"] = json!({"kind": "codel", "target": 0});
    scenario["flows"][0]["cc"] = json!("x");
    scenario["flows"][1]["source"]["rate"] = json!(0);
    let paths = sorted_places(&scenario);
    assert_eq!(
        paths,
        [
            "flows[0].cc",
            "flows[1].source.rate",
            "net.links[0].qdisc",
            "net.links[1].back_qdisc.target",
        ]
    );
}

#[test]
fn all_parameters_at_fault_are_reported_once_for_both_directions_of_a_link() {
    let mut scenario = good();
    scenario["net"] = json!({"kind": "dumbbell", "pairs": 1, "rate": "5 Mbps", "rtt": "20 ms",
        "buffer": "20 pkt", "qdisc": {"kind": "red", "max_p": 7, "w_q": -1}});
    scenario["flows"] = json!([{"pair": 0, "cc": {"kind": "cubic", "beta": 2, "c": -1},
        "slow_start": {"kind": "limited", "max_ssthresh": 0}}]);
    let mut paths: Vec<String> = problems(&scenario).into_iter().map(|p| p.0).collect();
    paths.sort();
    assert_eq!(
        paths,
        [
            "flows[0].cc.beta",
            "flows[0].cc.c",
            "flows[0].slow_start.max_ssthresh",
            "net.qdisc.max_p",
            "net.qdisc.w_q",
        ]
    );
}

/// Every place in a JSON value, as pointers.
fn places(value: &Value, pointer: &str, all: &mut Vec<String>) {
    all.push(pointer.to_owned());
    match value {
        Value::Array(list) => {
            for (i, v) in list.iter().enumerate() {
                places(v, &format!("{pointer}/{i}"), all);
            }
        }
        Value::Object(map) => {
            for (k, v) in map {
                places(v, &format!("{pointer}/{k}"), all);
            }
        }
        _ => {}
    }
}

/// A scenario that uses every part of the format.
fn rich() -> Value {
    json!({
        "name": "x", "seed": 1, "era": "2002", "routing": "delay", "classes": "pair",
        "tcp": {"mss": 1000, "delayed_ack": 2, "min_rto": "1 s", "ecn": true},
        "net": {"kind": "graph", "nodes": [{"id": "a"}, {"id": "r", "lat": 1.0}], "links": [
            {"a": "a", "b": "r", "rate": "10 Mbps", "delay": "5 ms", "buffer": "50 pkt", "loss": 0.1,
             "mtu": 1500, "qdisc": {"kind": "fq", "weights": [1, 2], "aqm": {"kind": "red", "min_th": 5, "max_th": 15}}},
            {"a": "r", "b": "c", "rate": "5 Mbps", "delay": "5 ms", "buffer": "1 bdp", "qdisc": {"kind": "sfq", "buckets": 16},
             "back_qdisc": {"kind": "drr", "quantum": 500}, "drop": [1, 2], "weight": 2.5,
             "schedule": {"steps": [{"at": 0, "rate": 1e6}, {"at": "100 ms", "rate": 2e6}]},
             "back_schedule": {"mahimahi": [1, 5, 9]}},
        ]},
        "links": [{"link": "a->*", "rate": "9 Mbps", "delay": "4 ms", "mtu": 1500, "buffer": "20 pkt", "weight": 2,
            "qdisc": {"kind": "codel", "target": "3 ms"}, "loss": 0.1, "drop": [3]},
            {"link": ["c->r"], "schedule": {"mahimahi": [1, 7]}}],
        "flows": [
            {"id": "x", "src": "a", "dst": "c", "cc": {"kind": "aimd", "a": 1, "b": 0.5}, "recovery": "newreno",
             "slow_start": "limited", "count": 2, "stagger": "10 ms", "size": "100 kB", "route": ["a", "r", "c"]},
            {"src": "c", "dst": "a", "start": 0.1, "stop": 0.3, "source": {"kind": "cbr", "rate": "1 Mbps", "packet": 500,
             "jitter": 0.5, "schedule": [{"at": 0.1, "rate": 5}], "periods": [{"on": 0, "off": 1}]}},
            {"src": "a", "dst": "r", "source": {"kind": "trace", "packets": [[0.1, 500]]}},
            {"src": "a", "dst": "r", "source": {"kind": "pareto-on-off", "shape": 1.5, "burst": "10 ms"}},
        ],
        "traffic": [{"generator": {"kind": "poisson", "rate": 5, "sizes": {"kind": "pareto", "mean": "10 kB", "shape": 1.2}},
            "flow": {"src": "a", "dst": "c"}}],
        "duration": "0.4 s", "warmup": "0.1 s",
        "record": {"tables": ["drops", "link_samples"], "interval": "10 ms", "flows": [0], "links": ["a->r"]},
    })
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!([])),
        Just(json!({})),
        Just(json!("")),
        Just(json!(0)),
        Just(json!(-1)),
        Just(json!(1)),
        Just(json!(2)),
        Just(json!(0.5)),
        Just(json!(1e-9)),
        Just(json!(1e300)),
        Just(json!(-1e300)),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(u32::MAX)),
        Just(json!(1e12)),
        Just(json!("1e999 s")),
        Just(json!("NaN")),
        Just(json!("1 Mbps")),
        Just(json!("1 ms")),
        Just(json!("3 pkt")),
        Just(json!("1e-30 bdp")),
        Just(json!("1e30 bdp")),
        Just(json!("1e18 B")),
        Just(json!("a")),
        Just(json!("r")),
        Just(json!("cubic")),
        Just(json!("red")),
        Just(json!({"kind": "cbr"})),
        Just(json!([1, 2, 3])),
        Just(json!([null])),
        Just(json!({"kind": "codel"})),
        Just(json!("é\u{0}𝄞")),
        Just(json!({"kind": 5})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, failure_persistence: None, rng_seed: crate::common::seed(), ..ProptestConfig::default() })]

    /// Some values of a rich scenario are replaced by odd ones or left out: never a panic, each
    /// problem has a sentence, and what `check` accepts runs with balanced books.
    #[test]
    fn no_scenario_makes_the_core_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::option::of(odd_value())), 1..4)
    ) {
        let mut scenario = rich();
        for (index, value) in changes {
            let mut all = Vec::new();
            places(&scenario, "", &mut all);
            let place = index.get(&all).clone();
            let Some((parent, key)) = place.rsplit_once('/') else { continue };
            match (value, scenario.pointer_mut(parent).unwrap()) {
                (Some(value), _) => *scenario.pointer_mut(&place).unwrap() = value,
                (None, Value::Object(map)) => { map.remove(key); }
                (None, Value::Array(list)) => { list.remove(key.parse().unwrap()); }
                _ => {}
            }
        }
        // A generator may make two million flows, which is no mistake but takes its time.
        if let Some(rate) = scenario.pointer_mut("/traffic/0/generator/rate")
            && rate.as_f64().is_some_and(|r| r > 1e4)
        {
            *rate = json!(1e4);
        }
        let text = scenario.to_string();
        let found = api::check(&text);
        for problem in &found {
            prop_assert!(problem.message.len() > 5 && !problem.message.contains('\n'), "{problem:?}");
        }
        if found.is_empty() {
            prop_assert!(api::explain(&text).is_ok());
            // Long runs and floods are not the point here.
            let short: f64 = serde_json::from_str::<Value>(&api::normalise(&text).unwrap()).unwrap()["duration"].as_f64().unwrap();
            if short <= 1.0 {
                let mut calls = 0;
                let outcome = api::run(&text, &mut |_, _| { calls += 1; calls < 2 });
                prop_assert!(
                    matches!(outcome, Ok(_) | Err(RunError::Interrupted)), "{text}: {outcome:?}"
                );
            }
        }
    }

    /// Text that is not even JSON, or JSON that is no scenario.
    #[test]
    fn no_text_makes_the_core_panic(text in ".{0,60}") {
        prop_assert_eq!(api::check(&text).len(), 1);
    }
}

#[test]
fn all_that_is_wrong_with_a_flow_is_reported_and_what_is_wrong_for_all_flows_once() {
    let mut scenario = good();
    scenario["flows"][1] = json!({
        "id": "one", "src": "a", "dst": "x", "size": 0, "start": "5 s", "stop": "1 s",
        "tcp": {"delayed_ack": 0},
    });
    let expected = ["dst", "id", "size", "stop", "tcp.delayed_ack"];
    assert_eq!(sorted_places(&scenario), expected.map(|key| format!("flows[1].{key}")));
    assert_eq!(sorted_places(&with("/tcp", json!({"mss": 0}))), ["tcp.mss"]);
}

#[test]
fn a_size_beside_a_source_is_refused() {
    let sized = with("/flows/1/size", json!("10 kB"));
    let [(path, message)] = &problems(&sized)[..] else { panic!("{:?}", problems(&sized)) };
    assert_eq!(path, "flows[1].size");
    assert!(message.contains("beside source"), "{message}");
    let generator = json!({"kind": "trace", "arrivals": [{"at": 0.1, "size": 1000}]});
    let flow = json!({"src": "a", "dst": "c", "source": "cbr"});
    let generated = with("/traffic", json!([{"generator": generator, "flow": flow}]));
    let [(path, _)] = &problems(&generated)[..] else { panic!("{:?}", problems(&generated)) };
    assert_eq!(path, "traffic[0].generator");
    let sizes = json!({"kind": "fixed", "mean": 1000});
    for (generator, is_right) in [
        (json!({"kind": "poisson", "rate": 5, "sizes": sizes}), false),
        (json!({"kind": "poisson", "rate": 5}), true),
        (json!({"kind": "trace", "arrivals": [{"at": 0.1}]}), true),
    ] {
        let generated = with("/traffic", json!([{"generator": generator, "flow": flow}]));
        assert_eq!(problems(&generated).is_empty(), is_right, "{:?}", problems(&generated));
    }
    let generator = json!({"kind": "trace", "arrivals": [{"at": 0.1, "pair": 7}]});
    let generated = with("/traffic", json!([{"generator": generator, "flow": {"cc": "aimd"}}]));
    let [(path, message)] = &problems(&generated)[..] else { panic!("{:?}", problems(&generated)) };
    assert_eq!(path, "traffic[0].generator");
    assert!(message.contains("pair 7"), "{message}");
}
