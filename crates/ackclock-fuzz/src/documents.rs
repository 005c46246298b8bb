//! Scenario documents: any text is refused with problems, or runs to an end with possible results.

use std::sync::LazyLock;

use ackclock_core::api::{self, RunError};
use serde_json::{Value, json};

use crate::input::Input;
use crate::schema::{algorithm, instance};
use crate::show;

static SCHEMA: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&api::schema()).unwrap_or_default());

/// Events of a run at most.
pub(crate) const MOST_EVENTS: f64 = 5500.0;
/// Elements of a network at most, by any whole number of the document.
const MOST_OF_ANY: u64 = 40;
/// Simulated time at most.
const DURATION_S: f64 = 0.1;

/// The bytes are the text of a document.
pub(crate) fn run_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(mut document) = serde_json::from_str::<Value>(text) else {
        assert!(!api::check(text).is_empty(), "no JSON, and nothing is wrong with it");
        return;
    };
    bound(&mut document);
    try_document(&document);
}

/// The bytes choose a document from the schema.
pub(crate) fn run_generated(data: &[u8]) {
    let mut input = Input::new(data);
    let mut document = instance(&mut input, &SCHEMA, &SCHEMA, 0);
    if let Some(document) = document.as_object_mut() {
        document.insert("duration".to_owned(), json!(DURATION_S));
        if input.flag() {
            document.insert("net".to_owned(), small_net(&mut input));
        }
        if input.flag() {
            let flows = (0..=input.below(4)).map(|_| small_flow(&mut input));
            document.insert("flows".to_owned(), flows.collect());
        }
        if input.flag() {
            for key in ["links", "traffic", "groups", "record", "tcp"] {
                document.remove(key);
            }
        }
    }
    bound(&mut document);
    try_document(&document);
}

/// A network that compiles more often than not: the discipline and the impairments are of any kind.
pub(crate) fn small_net(input: &mut Input<'_>) -> Value {
    let rates = ["1 Mbps", "10 Mbps", "300 kbps", "100 Mbps"];
    let buffers = ["20 pkt", "3 pkt", "1 bdp", "60 kB", "unlimited"];
    let mut net = json!({
        "kind": *input.pick(&["dumbbell", "parking-lot", "star", "ring"]),
        "rate": *input.pick(&rates),
        "delay": *input.pick(&["1 ms", "5 ms", "100 us", "10 us"]),
        "buffer": *input.pick(&buffers),
        "qdisc": algorithm(input, "qdisc"),
    });
    match net["kind"].as_str() {
        Some("dumbbell") => net["pairs"] = json!(4),
        Some("parking-lot") => net["hops"] = json!(3),
        Some("star") => net["hosts"] = json!(5),
        _ => net["routers"] = json!(5),
    }
    net
}

/// A flow of any control, recovery, slow start rule or source between hosts that most small networks have.
pub(crate) fn small_flow(input: &mut Input<'_>) -> Value {
    let mut flow = json!({ "pair": input.below(3), "start": f64::from(input.byte()) * 1e-4 });
    if input.below(4) == 0 {
        let mut source = algorithm(input, "source");
        // Tiny packets at a huge rate are many within the shortest run.
        if let Some(parameters) = source.as_object_mut() {
            parameters.remove("rate");
            parameters.remove("packet");
        }
        flow["source"] = source;
        return flow;
    }
    flow["cc"] = algorithm(input, "cc");
    if input.flag() {
        flow["recovery"] = algorithm(input, "recovery");
    }
    if input.one_in(3) {
        flow["slow_start"] = algorithm(input, "slow_start");
    }
    if input.flag() {
        flow["size"] = json!(1 + u64::from(input.byte()) * 400);
    }
    flow
}

/// Bounds what makes a run long: the simulated time, and every whole number.
fn bound(document: &mut Value) {
    match document {
        Value::Object(members) => {
            for (key, value) in members {
                if key == "duration" || key == "warmup" {
                    if value.as_f64().is_none_or(|s| s > DURATION_S) {
                        *value = json!(if key == "duration" { DURATION_S } else { 0.0 });
                    }
                } else if !matches!(
                    key.as_str(),
                    "rate" | "access_rate" | "back_rate" | "seed" | "size" | "packet"
                ) {
                    bound(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(bound),
        Value::Number(number) if number.as_u64().is_some_and(|n| n > MOST_OF_ANY) => {
            *document = json!(MOST_OF_ANY);
        }
        _ => {}
    }
}

fn try_document(document: &Value) {
    let text = document.to_string();
    show(&text);
    let problems = api::check(&text);
    if !problems.is_empty() {
        for problem in &problems {
            assert!(!problem.message.is_empty(), "{problems:?} of {text}");
        }
        return;
    }
    let predicted = api::predict_with(&text, &api::RegistryOnly, f64::INFINITY);
    let Ok(predicted) = predicted else {
        panic!("checked, and not predicted: {predicted:?} of {text}")
    };
    let predicted: Value = serde_json::from_str(&predicted).unwrap_or_default();
    if predicted["events"].as_f64().is_none_or(|events| events > MOST_EVENTS) {
        return;
    }
    match api::run(&text, &mut |_, _| true) {
        Ok(output) => {
            let again = api::run(&text, &mut |_, _| true);
            assert!(
                again.is_ok_and(|again| again.summary == output.summary),
                "two runs differ: {text}"
            );
        }
        Err(RunError::Input(problems)) => panic!("checked, and refused: {problems:?} of {text}"),
        Err(RunError::Fault(broken)) => panic!("{broken} of {text}"),
        // A control with parameters in range may still leave the range of windows; the run says so.
        Err(RunError::Algorithm(_)) => {}
        Err(RunError::Interrupted) => panic!("nobody interrupted {text}"),
    }
}
