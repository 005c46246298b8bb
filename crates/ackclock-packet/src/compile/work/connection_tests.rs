//! Predictions of connections over several paths beside what their runs do.

use serde_json::{Value, json};

use crate::api;
use crate::compile::predict;
use crate::packet;
use crate::rng::{Purpose, Stream};

/// Connections over two to six paths, which may share links, and TCPs on some of them: all schedulers, sizes and windows.
fn draw(rng: &mut Stream) -> Value {
    let mut among = |choices: &[Value]| choices[rng.below(choices.len() as u64) as usize].clone();
    let middles = ["r0", "r1", "r2"];
    let mut links = Vec::new();
    for middle in middles {
        let access = json!({ "a": "a", "b": middle, "rate": "1 Gbps", "delay": "1 ms" });
        let other =
            json!({ "a": format!("h{middle}"), "b": middle, "rate": "1 Gbps", "delay": "1 ms" });
        let way = json!({
            "a": middle, "b": "z", "buffer": "1 bdp",
            "rate": among(&[json!(1e6), json!(5e6), json!(2e7)]),
            "delay": among(&[json!(0.002), json!(0.01), json!(0.05)]),
            "qdisc": among(&[json!("fifo"), json!("codel")]),
        });
        links.extend([access, other, way]);
    }
    let count = among(&[json!(2), json!(3), json!(6)]).as_u64().unwrap();
    let paths: Vec<_> = (0..count)
        .map(|_| {
            let middle = among(&middles.map(Value::from));
            json!({ "route": ["a", middle, "z"], "ack_route": ["z", middle, "a"] })
        })
        .collect();
    let scheduler = among(&[json!("lowest-rtt"), json!("round-robin"), json!("redundant")]);
    let control = among(&[json!("lia"), json!("balia"), json!("cubic")]);
    let mut connection = json!({
        "src": "a", "dst": "z", "cc": control, "count": among(&[json!(1), json!(4)]), "start_jitter": 0.2,
        "multipath": { "paths": paths, "scheduler": scheduler },
    });
    let size = among(&[Value::Null, json!(3e4), json!(1e6), json!(5e6)]);
    if !size.is_null() {
        connection["size"] = size;
    }
    let mut flows = vec![connection];
    if among(&[json!(true), json!(false)]) == json!(true) {
        flows.push(json!({ "src": "hr0", "dst": "z", "cc": "reno" }));
    }
    json!({
        "net": { "kind": "graph", "links": links }, "flows": flows,
        "duration": among(&[json!(2), json!(10)]),
        "tcp": { "receiver_window": among(&[json!(3), json!(20), json!(100_000)]) },
    })
}

/// Before the window of the receiver was one for all subflows, 4.8 times as many events were predicted where it is three
/// segments. A run of many flows has no trial, which corrects what the formulas say. Below 1,000 events there is nothing to
/// predict.
#[test]
fn the_work_of_connections_is_predicted() {
    let mut rng = Stream::new(7, Purpose::Traffic, 0);
    let mut wrong = Vec::new();
    for _ in 0..48 {
        let scenario = draw(&mut rng).to_string();
        let plan = api::planned(&scenario).unwrap();
        let predicted = predict(&plan);
        let corrected = packet::correct(&plan, predicted.clone(), packet::Patience::LONG);
        let real = packet::run(&plan, &mut |_| true).unwrap().events as f64;
        let ratio = |events: f64| events.max(1000.0) / real.max(1000.0);
        let [by_formulas, checked] = [predicted.events, corrected.events].map(ratio);
        if !(0.25..=4.0).contains(&by_formulas) || !(1.0 / 3.0..=3.0).contains(&checked) {
            wrong.push((by_formulas, checked, scenario));
        }
    }
    assert!(wrong.is_empty(), "{wrong:.2?}");
}
