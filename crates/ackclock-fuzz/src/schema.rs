//! Instances of JSON Schemas, and algorithms with parameters, from bytes.

use std::sync::LazyLock;

use ackclock_core::registry::{Entry, Spec};
use serde_json::{Map, Value, json};

use crate::input::Input;

/// Nesting below which only what is required is generated.
const DEEP: usize = 7;

/// Quantities of every unit, names, and what is none of these.
const TEXTS: [&str; 28] = [
    "10 Mbps",
    "1 Mbps",
    "200 kbps",
    "1 Gbps",
    "0 bps",
    "10 ms",
    "1 ms",
    "0 s",
    "50 us",
    "0.1 s",
    "20 pkt",
    "3 pkt",
    "1 pkt",
    "1500 B",
    "60 kB",
    "1 bdp",
    "0.5 bdp",
    "unlimited",
    "*",
    "f0",
    "n0",
    "n1",
    "a",
    "l0",
    "r->s",
    "ef",
    "",
    "-1 ms",
];

/// Builds an instance of `schema`; references are looked up in `root`.
pub(crate) fn instance(input: &mut Input<'_>, schema: &Value, root: &Value, depth: usize) -> Value {
    if let Some(path) = schema["$ref"].as_str() {
        let referred = root.pointer(path.trim_start_matches('#')).unwrap_or(&Value::Null);
        return instance(input, referred, root, depth + 1);
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(names) = schema["enum"].as_array() {
        return input.pick(names).clone();
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(forms) = schema[choice].as_array().filter(|forms| !forms.is_empty()) {
            let form = input.pick(forms);
            let mut value = instance(input, form, root, depth + 1);
            if let (Value::Object(table), Some(shared)) =
                (&mut value, schema["properties"].as_object())
            {
                fill(input, table, shared, schema, root, depth);
            }
            return value;
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) if !kinds.is_empty() => input.pick(kinds).as_str().unwrap_or(""),
        Value::String(kind) => kind,
        _ => "",
    };
    match kind {
        "object" => {
            let mut table = Map::new();
            if let Some(properties) = schema["properties"].as_object() {
                fill(input, &mut table, properties, schema, root, depth);
            }
            Value::Object(table)
        }
        "array" => {
            let count = if depth > DEEP { 0 } else { input.below(4) };
            let none = json!({});
            let items = schema.get("items").unwrap_or(&none);
            (0..count).map(|_| instance(input, items, root, depth + 1)).collect()
        }
        "integer" => json!(number(input, schema) as i64),
        "number" => json!(number(input, schema)),
        "boolean" => json!(input.flag()),
        "null" => Value::Null,
        "string" => json!(*input.pick(&TEXTS)),
        _ => match input.below(4) {
            0 => json!(*input.pick(&TEXTS)),
            1 => json!(number(input, schema)),
            2 => json!([]),
            _ => json!({}),
        },
    }
}

fn fill(
    input: &mut Input<'_>,
    table: &mut Map<String, Value>,
    properties: &Map<String, Value>,
    schema: &Value,
    root: &Value,
    depth: usize,
) {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|n| n == name))
    };
    for (name, property) in properties {
        if required(name) || (depth <= DEEP && input.one_in(5)) {
            table.insert(name.clone(), instance(input, property, root, depth + 1));
        }
    }
}

/// A number: mostly in range and often at its ends, rarely outside.
fn number(input: &mut Input<'_>, schema: &Value) -> f64 {
    let bound = |name: &str| schema[name].as_f64();
    let low = bound("minimum").or(bound("exclusiveMinimum"));
    let high = bound("maximum").or(bound("exclusiveMaximum"));
    match input.below(12) {
        0 => schema["default"].as_f64().or(low).unwrap_or(0.0),
        1 => low.unwrap_or(0.0),
        2 => high.unwrap_or(1.0),
        3 => low.unwrap_or(0.0) + 1.0,
        4 => f64::from(input.word()),
        5 => -1.0,
        6 => 1e-9,
        7 | 8 => f64::from(input.byte()),
        _ => {
            let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(10.0).min(1e6));
            low + (high - low) * input.share()
        }
    }
}

/// An algorithm of a catalogue: its bare name or with parameters.
pub(crate) fn spec(input: &mut Input<'_>, catalogue: &[Entry]) -> Spec {
    let entry = input.pick(catalogue);
    let name = entry.info.name;
    if input.flag() {
        return Spec::from(name);
    }
    let mut table = Map::new();
    table.insert("kind".to_owned(), name.into());
    if let Some(properties) = entry.params["properties"].as_object() {
        for (key, property) in properties {
            if input.one_in(3) {
                table.insert(key.clone(), instance(input, property, &entry.params, 3));
            }
        }
    }
    Spec::Table(table)
}

/// The rooms of the core by their names in `ackclock list`.
pub(crate) static ROOMS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&ackclock_core::api::catalogue()).unwrap_or_default());

/// An algorithm of a room as a document names it, with parameters or without.
pub(crate) fn algorithm(input: &mut Input<'_>, room: &str) -> Value {
    let Some(entries) = ROOMS[room].as_array() else { return Value::Null };
    let entry = input.pick(entries);
    if input.flag() {
        return entry["name"].clone();
    }
    let mut table = json!({ "kind": entry["name"] });
    if let Some(properties) = entry["params"]["properties"].as_object() {
        for (key, property) in properties {
            if input.one_in(4) {
                table[key] = instance(input, property, &entry["params"], 3);
            }
        }
    }
    table
}
