//! Legal scenarios with values at the ends of their ranges: each is refused with a sentence, predicted to be too dear, or
//! runs to its end with as much work as was predicted, within a factor of ten.

use std::sync::LazyLock;

use ackclock_core::api::{self, Effort, RegistryOnly, RunError};
use serde_json::{Map, Value, json};

use crate::input::Input;
use crate::schema::ROOMS;
use crate::show;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&api::schema()).unwrap_or_default());

/// What a run may be predicted to take [s of CPU, bytes]: dearer ones must be refused.
const MOST_CPU_S: f64 = 0.05;
const MOST_BYTES: f64 = 3e8;

/// Events below which there is nothing to predict.
const FEW: f64 = 2000.0;

/// Predicted over real, or real over predicted, at most.
const FACTOR: f64 = 10.0;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let document = document(&mut input);
    let text = document.to_string();
    show(&text);
    let problems = api::check(&text);
    if !problems.is_empty() {
        for problem in &problems {
            assert!(!problem.message.is_empty(), "{problems:?} of {text}");
        }
        return;
    }
    let dear = match api::predict_with(&text, &RegistryOnly, MOST_CPU_S) {
        Ok(predicted) => serde_json::from_str::<Value>(&predicted).unwrap_or_default(),
        Err(problems) => {
            let all_predicted =
                problems.iter().all(|problem| problem.message.contains("predicted"));
            assert!(all_predicted, "checked, and not predicted: {problems:?} of {text}");
            return;
        }
    };
    let number = |key: &str| dear[key].as_f64().unwrap_or(f64::NAN);
    let predicted = number("events");
    assert!(predicted.is_finite() && number("cpu_s").is_finite(), "{dear} of {text}");
    if number("memory_bytes") > MOST_BYTES {
        return;
    }
    let effort = Effort { most_cpu_s: MOST_CPU_S, ..Effort::default() };
    match api::run_with(&text, &RegistryOnly, effort, &mut |_, _| true) {
        Ok(output) => {
            let summary: Value = serde_json::from_str(&output.summary).unwrap_or_default();
            let real = summary["totals"]["events"].as_f64().unwrap_or(f64::NAN);
            let ratio = predicted.max(FEW) / real.max(FEW);
            let is_near = (1.0 / FACTOR..=FACTOR).contains(&ratio);
            assert!(is_near, "{predicted} events predicted, {real} real, of {text}");
        }
        // More packets at one instant than any window holds, or no memory: a sentence.
        Err(RunError::Input(problems)) => {
            let all_predicted = problems.iter().all(|problem| {
                problem.message.contains("at one instant") || problem.message.contains("no memory")
            });
            assert!(all_predicted, "checked, and refused: {problems:?} of {text}");
        }
        // A control with parameters in range may still leave the range of windows; the run says so.
        Err(RunError::Algorithm(_)) => {}
        Err(other) => panic!("{other:?} of {text}"),
    }
}

fn document(input: &mut Input<'_>) -> Value {
    let era = *input.pick(&["rfc", "linux", "quic", "ns2", "2007", "2002", "1999"]);
    let duration = *input.pick(&[0.1, 1e-12, 1e-6, 1e-3, 1.0, 10.0, 1000.0, 9e6]);
    let mut document = json!({
        "era": era, "duration": duration, "seed": input.byte(), "net": net(input),
        "flows": (0..=input.below(3)).map(|_| flow(input, era)).collect::<Vec<_>>(),
    });
    if input.one_in(4) {
        let generator = ends(input, "arrivals");
        document["traffic"] = json!([{ "generator": generator, "flow": { "pair": 0 } }]);
    }
    for (key, options) in [("tcp", "TcpOptions"), ("quic", "QuicOptions")] {
        if input.one_in(3) {
            document[key] = Value::Object(fields(input, &SCHEMA["$defs"][options], &SCHEMA, 6));
        }
    }
    if let Some(tcp) = document["tcp"].as_object_mut() {
        tcp.remove("ns2");
    }
    if input.one_in(4) {
        document["links"] =
            json!([{ "link": "*", "loss": *input.pick(&[0.0, 1e-9, 0.01, 0.5, 1.0]) }]);
    }
    if input.one_in(5) {
        document["links"] = json!([{ "link": "*", "impairments": [ends(input, "impairment")] }]);
    }
    if input.one_in(6) {
        document["record"] = json!({ "tables": ["flow_samples", "drops"], "interval": *input.pick(&[0.1, 1e-6, 1e3]) });
    }
    document
}

fn net(input: &mut Input<'_>) -> Value {
    let mut net = json!({
        "kind": *input.pick(&["dumbbell", "parking-lot", "star", "ring"]),
        "rate": *input.pick(&[1e6, 1.0, 1e4, 1e8, 1e10, 1e15]),
        "delay": *input.pick(&[1e-3, 0.0, 1e-12, 1e-6, 0.1, 10.0, 9e6]),
        "buffer": *input.pick(&["20 pkt", "1 pkt", "1 bdp", "60 kB", "unlimited", "1000000 pkt"]),
        "qdisc": if input.flag() { ends(input, "qdisc") } else { json!("fifo") },
    });
    match net["kind"].as_str() {
        Some("dumbbell") => net["pairs"] = json!(4),
        Some("parking-lot") => net["hops"] = json!(3),
        Some("star") => net["hosts"] = json!(5),
        _ => net["routers"] = json!(5),
    }
    net
}

fn flow(input: &mut Input<'_>, era: &str) -> Value {
    let mut flow = json!({ "pair": input.below(3) });
    if input.one_in(5) {
        flow["source"] = ends(input, "source");
        return flow;
    }
    flow["cc"] = ends(input, "cc");
    if input.one_in(4) {
        flow["slow_start"] = ends(input, "slow_start");
    }
    if input.one_in(4) && era != "quic" {
        flow["recovery"] = ends(input, "recovery");
    }
    match input.below(6) {
        0 => flow["size"] = json!(*input.pick(&[1.0, 1e3, 1e6, 1e12])),
        1 => {
            flow["size"] = json!(*input.pick(&[1.0, 1e3, 1e6]));
            flow["every"] = json!(*input.pick(&[1e-6, 1e-3, 1.0, 1e6]));
        }
        2 => flow["media"] = Value::Object(fields(input, &SCHEMA["$defs"]["Media"], &SCHEMA, 3)),
        _ => {}
    }
    flow
}

/// An algorithm of a room, with some parameters at the ends of their ranges.
fn ends(input: &mut Input<'_>, room: &str) -> Value {
    let Some(entries) = ROOMS[room].as_array() else { return Value::Null };
    let entry = input.pick(entries);
    if input.flag() {
        return entry["name"].clone();
    }
    let mut table = fields(input, &entry["params"], &entry["params"], 4);
    table.insert("kind".to_owned(), entry["name"].clone());
    Value::Object(table)
}

/// Some fields of a structure, one of so many, at the ends of their ranges.
fn fields(input: &mut Input<'_>, schema: &Value, root: &Value, one_of: u8) -> Map<String, Value> {
    let mut object = Map::new();
    for (key, property) in schema["properties"].as_object().into_iter().flatten() {
        if input.one_in(one_of)
            && let Some(value) = value(input, property, root)
        {
            object.insert(key.clone(), value);
        }
    }
    object
}

/// A value at an end of its range; none for structures.
fn value(input: &mut Input<'_>, property: &Value, root: &Value) -> Option<Value> {
    if let Some(path) = property["$ref"].as_str() {
        return value(input, root.pointer(path.trim_start_matches('#'))?, root);
    }
    if let Some(names) = property["enum"].as_array() {
        return Some(input.pick(names).clone());
    }
    if let Some(forms) = property["oneOf"].as_array() {
        let names: Vec<_> = forms.iter().filter_map(|form| form.get("const").cloned()).collect();
        return if names.is_empty() { None } else { Some(input.pick(&names).clone()) };
    }
    let is = |kind: &str| match &property["type"] {
        Value::String(name) => name == kind,
        Value::Array(kinds) => kinds.iter().any(|name| name == kind),
        _ => false,
    };
    if is("boolean") {
        return Some(json!(input.flag()));
    }
    let bound = |key: &str| property[key].as_f64();
    let low = match (bound("minimum"), bound("exclusiveMinimum")) {
        (Some(least), Some(below)) if below >= least => below + 1e-9,
        (None, Some(below)) => below + 1e-9,
        (least, _) => least.unwrap_or(0.0),
    };
    if is("integer") {
        let high = bound("maximum").unwrap_or(match property["format"].as_str() {
            Some("uint32") => f64::from(u32::MAX),
            _ => 1e9,
        });
        let picked = *input.pick(&[low.ceil(), high.floor(), low.ceil() + 1.0]);
        return Some(json!(picked.min(high) as i64));
    }
    if is("number") {
        let high = match (bound("maximum"), bound("exclusiveMaximum")) {
            (_, Some(above)) => above - 1e-9,
            (Some(most), None) => most,
            (None, None) => 1e6,
        };
        return Some(json!(*input.pick(&[low, high, low.max(1e-3).min(high)])));
    }
    None
}
