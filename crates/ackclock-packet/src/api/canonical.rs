//! A scenario in the one form that all spellings of it share, from which runs get their keys.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::{catalogue, parse, schema};
use crate::error::Problem;
use crate::registry::Spec;
use crate::{
    cc, credits, impairment, multicast, policy, qdisc, recovery, sharing, slow_start, traffic,
};

/// The scenario as the core understood it, as JSON, each algorithm by its registry's name and without parameters that are
/// at their defaults: `"reno"`, `"aimd"` and `{"kind": "aimd", "a": 1}` are the same.
///
/// # Errors
/// What is wrong with its form.
pub fn canonical(text: &str) -> Result<String, Vec<Problem>> {
    let failed = |error: serde_json::Error| vec![Problem::new("", error.to_string())];
    let mut scenario = serde_json::to_value(parse(text)?).map_err(failed)?;
    settle(&SCENARIO, &SCENARIO, &mut scenario);
    Ok(scenario.to_string())
}

static SCENARIO: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&schema()).unwrap_or_default());

/// Schemas of the parameters that are algorithms, by room and registry name.
static PARAMETERS: LazyLock<HashMap<(String, String), Value>> = LazyLock::new(|| {
    let rooms: Value = serde_json::from_str(&catalogue()).unwrap_or_default();
    let rooms = rooms.as_object().into_iter().flatten();
    rooms
        .flat_map(|(room, entries)| {
            let entries = entries.as_array().into_iter().flatten();
            entries.map(move |entry| {
                let name = entry["name"].as_str().unwrap_or_default();
                ((room.clone(), name.to_owned()), entry["params"].clone())
            })
        })
        .filter(|(_, params)| params.to_string().contains("x-room"))
        .collect()
});

/// Puts every algorithm in a value that has these rules into its one form.
fn settle(rules: &Value, root: &Value, value: &mut Value) {
    let rules = rules
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|name| root.pointer(name.trim_start_matches('#')))
        .unwrap_or(rules);
    for branch in ["oneOf", "anyOf"] {
        for rules in rules.get(branch).and_then(Value::as_array).into_iter().flatten() {
            let kind = rules.pointer("/properties/kind/const");
            if kind.is_none() || kind == value.get("kind") {
                settle(rules, root, value);
            }
        }
    }
    match value {
        Value::Object(table) => {
            let Some(properties) = rules.get("properties") else { return };
            for (key, inner) in table {
                let Some(rules) = properties.get(key) else { continue };
                match (rules.get("x-room").and_then(Value::as_str), inner) {
                    (Some(room), Value::Array(list)) => {
                        for entry in list {
                            settle_algorithm(room, entry);
                        }
                    }
                    (Some(room), algorithm) => settle_algorithm(room, algorithm),
                    (None, inner) => settle(rules, root, inner),
                }
            }
        }
        Value::Array(list) => {
            let Some(rules) = rules.get("items") else { return };
            // Numbers, of which a trace may have millions, hold no algorithm.
            if list.iter().any(|item| item.is_object() || item.is_array()) {
                for item in list {
                    settle(rules, root, item);
                }
            }
        }
        _ => {}
    }
}

fn settle_algorithm(room: &str, value: &mut Value) {
    let Ok(spec) = Spec::deserialize(&*value) else { return };
    let spec = match room {
        "cc" => cc::canonical(&spec),
        "recovery" => recovery::canonical(&spec),
        "slow_start" => slow_start::canonical(&spec),
        "credits" => credits::canonical(&spec),
        "qdisc" => qdisc::canonical(&spec),
        "source" => traffic::source::canonical(&spec),
        "arrivals" => traffic::arrivals::canonical(&spec),
        "pattern" => traffic::pattern::canonical(&spec),
        "multicast" => multicast::canonical(&spec),
        "impairment" => impairment::canonical(&spec),
        "sharing" => sharing::canonical(&spec),
        "policy" => policy::canonical(&spec),
        _ => return,
    };
    let key = (room.to_owned(), spec.kind().to_owned());
    *value = match spec {
        Spec::Name(name) => Value::String(name),
        Spec::Table(table) => Value::Object(table),
    };
    if let Some(rules) = PARAMETERS.get(&key)
        && value.is_object()
    {
        settle(rules, rules, value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(flow: &Value, net: &Value) -> String {
        let mut scenario = json!({
            "net": {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms"},
            "flows": [{"pair": 0}],
            "duration": 5,
        });
        for (pointer, more) in [("/flows/0", flow), ("/net", net)] {
            let table = scenario.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
            table.extend(more.as_object().unwrap().clone());
        }
        canonical(&scenario.to_string()).unwrap()
    }

    #[test]
    fn spellings_of_one_algorithm_are_one_and_others_are_not() {
        let cc = |cc: Value| with(&json!({ "cc": cc }), &json!({}));
        for same in [
            json!("reno"),
            json!({"kind": "reno"}),
            json!({"kind": "aimd"}),
            json!({"kind": "aimd", "a": 1}),
            json!({"kind": "reno", "a": 1.0, "b": 0.5, "count": null}),
        ] {
            assert_eq!(cc(same), cc(json!("aimd")));
        }
        assert!(cc(json!("reno")).contains(r#""cc":"aimd""#));
        for other in [json!({"kind": "aimd", "b": 0.7}), json!("cubic"), json!("binomial")] {
            assert_ne!(cc(other), cc(json!("aimd")));
        }
        let qdisc = |qdisc: Value| with(&json!({}), &json!({ "qdisc": qdisc }));
        assert_eq!(qdisc(json!("droptail")), qdisc(json!("fifo")));
        let codel = |target: Value| qdisc(json!({"kind": "codel", "target": target}));
        assert_eq!(codel(json!("7 ms")), codel(json!(0.007)));
        assert_eq!(codel(json!("5 ms")), qdisc(json!("codel")));
        let inside =
            |inner: Value| qdisc(json!({"kind": "shaper", "rate": "5 Mbps", "qdisc": inner}));
        assert_eq!(inside(json!("pfifo")), inside(json!("fifo")));
        assert_ne!(inside(json!("codel")), inside(json!("fifo")));
        let wire = |spread: Value| {
            with(&json!({}), &json!({"impairments": [{"kind": "jitter", "spread": spread}]}))
        };
        assert_eq!(wire(json!("1 ms")), wire(json!(0.001)));
        assert_ne!(wire(json!("1 ms")), wire(json!("2 ms")));
    }
}
