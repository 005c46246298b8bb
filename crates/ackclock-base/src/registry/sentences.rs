//! What is said of a value: its range, its unit, its type, in one sentence.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::error::Problem;
use crate::units;

/// The range of a number.
pub(super) struct Bounds {
    least: f64,
    above: f64,
    most: f64,
    below: f64,
    is_whole: bool,
}

impl Bounds {
    pub(super) fn of(rules: &Value, is_whole: bool) -> Self {
        let bound = |key: &str, none: f64| rules.get(key).and_then(Value::as_f64).unwrap_or(none);
        let most = bound("maximum", f64::INFINITY).min(most_of_format(rules));
        let most = most.min(most_of_quantity(rules).map_or(f64::INFINITY, |(most, _)| most));
        Self {
            least: bound("minimum", f64::NEG_INFINITY),
            above: bound("exclusiveMinimum", f64::NEG_INFINITY),
            most,
            below: bound("exclusiveMaximum", f64::INFINITY),
            is_whole,
        }
    }

    /// Whether a value is a number within, or null: whether it may be left out is for the type to say.
    pub(super) fn hold(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) if !self.is_whole || number.is_u64() || number.is_i64() => {
                number.as_f64().is_some_and(|real| {
                    real >= self.least
                        && real > self.above
                        && real <= self.most
                        && real < self.below
                })
            }
            value => value.is_null(),
        }
    }
}

/// The largest value of an unsigned type of a schema.
fn most_of_format(rules: &Value) -> f64 {
    match rules.get("format").and_then(Value::as_str) {
        Some("uint8") => f64::from(u8::MAX),
        Some("uint16") => f64::from(u16::MAX),
        Some("uint32") => f64::from(u32::MAX),
        Some("uint64") => u64::MAX as f64,
        _ => f64::INFINITY,
    }
}

/// What the core's counters hold of a quantity, as a number and as text.
fn most_of_quantity(rules: &Value) -> Option<(f64, &'static str)> {
    match rules.get("x-quantity")?.as_str()? {
        "duration" => Some((9e6, "9000000 s")),
        "rate" => Some((1e15, "1000000000000000 bit/s")),
        "size" => Some((1e18, "1000000000000000000 B")),
        _ => None,
    }
}

/// The problem of a quantity, as a number or as text.
pub(super) fn quantity(kind: &str, rules: &Value, value: &Value, path: &str) -> Option<Problem> {
    let unit = rules.get("x-unit").and_then(Value::as_str).unwrap_or_default();
    let is_buffer = units::units(kind).is_empty();
    match value {
        // A buffer: only its own type reads it.
        Value::String(text) if is_buffer => {
            let error = text.parse::<units::BufferSize>().err()?;
            Some(Problem::new(path, error).with_value(value))
        }
        Value::String(text) => match units::quantity(text, kind) {
            Ok(real) => of_real(kind, rules, real, text, path),
            Err(message) => Some(Problem::new(path, message).with_value(value)),
        },
        Value::Number(number) if !is_buffer => {
            let real = number.as_f64()?;
            if real < 0.0 {
                let message =
                    format!("{number} is not a {kind}: it must be finite and not negative");
                return Some(Problem::new(path, message).with_value(value));
            }
            of_real(kind, rules, real, &format!("{number} {unit}"), path)
        }
        _ if is_buffer => {
            let message = format!(
                "{} is not a buffer size; a buffer must name its unit, as in \"100 pkt\", \"64 kB\", \"20 ms\" or \
                 \"1 bdp\"",
                show_value(value)
            );
            Some(Problem::new(path, message).with_value(show_value(value)))
        }
        _ => {
            let message = format!(
                "{} is not a {kind}; expected a number with a unit, such as \"{}\"",
                show_value(value),
                example(kind)
            );
            Some(Problem::new(path, message).with_value(show_value(value)))
        }
    }
}

fn of_real(kind: &str, rules: &Value, real: f64, text: &str, path: &str) -> Option<Problem> {
    too_small(kind, rules, real, text, path)
        .or_else(|| outside(rules, real, || text.to_owned(), path))
}

fn example(kind: &str) -> &'static str {
    match kind {
        "duration" => "30 ms",
        "rate" => "10 Mbps",
        _ => "1500 B",
    }
}

/// That a quantity which a person typed lacks its unit; `None` if it has one, is 0, or is no number.
pub(super) fn bare(kind: &str, rules: &Value, value: &Value, path: &str) -> Option<Problem> {
    if units::units(kind).is_empty() || rules.get("x-bare") == Some(&Value::Bool(true)) {
        return None;
    }
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().replace('_', "").parse().ok()?,
        _ => return None,
    };
    if number <= 0.0 || !number.is_finite() {
        return None;
    }
    let message = format!(
        "{} has no unit; expected a {kind} with unit, such as \"{}\"",
        show_value(value),
        example(kind)
    );
    Some(Problem::new(path, message).with_value(show_value(value)))
}

/// That a quantity, which is to be more than 0, is 0 in the whole units in which the core counts.
fn too_small(kind: &str, rules: &Value, real: f64, text: &str, path: &str) -> Option<Problem> {
    let is_positive = rules.get("exclusiveMinimum").and_then(Value::as_f64) == Some(0.0);
    let least = units::least(kind);
    (is_positive && 0.0 < real && real < least / 2.0).then(|| {
        let unit = rules.get("x-unit").and_then(Value::as_str).unwrap_or_default();
        let least = if least < 1.0 { format!("{least:e}") } else { least.to_string() };
        Problem::out_of_range(path, text, &format!("at least {least} {unit}"))
    })
}

/// What was expected where a value has the wrong type.
pub(super) fn wrong_type(rules: &Value, value: &Value) -> Option<String> {
    let kinds = match rules.get("type")? {
        Value::Array(kinds) => kinds,
        kind => std::slice::from_ref(kind),
    };
    let kinds = || kinds.iter().filter_map(Value::as_str);
    let fits = |kind: &str| match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    if kinds().any(fits) {
        return None;
    }
    let kind_names = kinds().filter_map(|kind| match kind {
        "string" => Some("text"),
        "integer" => Some("a whole number"),
        "number" => Some("a number"),
        "boolean" => Some("true or false"),
        "array" => Some("a list"),
        "object" => Some("a table"),
        _ => None,
    });
    Some(kind_names.collect::<Vec<_>>().join(" or "))
}

/// The problem of a number outside its range.
pub(super) fn outside(
    rules: &Value,
    value: f64,
    value_text: impl FnOnce() -> String,
    path: &str,
) -> Option<Problem> {
    let bound = |key: &str| rules.get(key).and_then(Value::as_f64);
    let most = Some(most_of_format(rules)).filter(|most| most.is_finite());
    let limit = most_of_quantity(rules).filter(|&(most, _)| value > most);
    let inside = bound("minimum").is_none_or(|least| value >= least)
        && bound("exclusiveMinimum").is_none_or(|below| value > below)
        && bound("maximum").is_none_or(|most| value <= most)
        && bound("exclusiveMaximum").is_none_or(|above| value < above);
    if inside && most.is_none_or(|most| value <= most) && limit.is_none() {
        return None;
    }
    let range = match (most, limit) {
        (_, Some((_, limit))) if inside => format!("at most {limit}"),
        (Some(most), _) if inside && most >= u64::MAX as f64 => format!("at most {}", u64::MAX),
        (Some(most), _) if inside => format!("at most {most}"),
        _ => range(rules).unwrap_or_default(),
    };
    Some(Problem::out_of_range(path, value_text(), &range))
}

/// The range of a value in words, with its unit, as in `more than 0 and at most 1 (segments)`; `None` if it
/// has no bound.
pub fn range(rules: &Value) -> Option<String> {
    let bound = |key: &str| match rules.get(key) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    };
    let real = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
    let mut text = String::new();
    match (bound("minimum"), bound("exclusiveMinimum"), bound("maximum")) {
        // The wider bound is that of the type.
        (least, Some(below), _) if least.is_none_or(|least| real(least) <= real(below)) => {
            text = format!("more than {below}");
        }
        (Some(least), _, Some(most)) if bound("exclusiveMaximum").is_none() => {
            return Some(with_unit(format!("from {least} to {most}"), rules));
        }
        (Some(least), ..) => text = format!("at least {least}"),
        _ => {}
    }
    let upper = match (bound("maximum"), bound("exclusiveMaximum")) {
        (_, Some(above)) => Some(format!("less than {above}")),
        (Some(most), None) => Some(format!("at most {most}")),
        (None, None) => None,
    };
    if let Some(upper) = upper {
        let and = if text.is_empty() { "" } else { " and " };
        let _ = write!(text, "{and}{upper}");
    }
    (!text.is_empty()).then(|| with_unit(text, rules))
}

fn with_unit(text: String, rules: &Value) -> String {
    match rules.get("x-unit").and_then(Value::as_str) {
        Some(unit) if rules.get("x-quantity").is_some() => format!("{text} {unit}"),
        Some(unit) => format!("{text} ({unit})"),
        None => text,
    }
}

/// A value as messages show it.
pub(super) fn show_value(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        Value::String(text) => match text.char_indices().nth(MOST_SHOWN) {
            Some((end, _)) => format!("\"{}...\"", &text[..end]),
            None => format!("\"{text}\""),
        },
        other => other.to_string(),
    }
}

/// Most letters of a text that are shown.
const MOST_SHOWN: usize = 120;
