//! The ranges, units and names that a schema gives for each value, and their checks.
//!
//! The schema is that of the algorithm's `Params`: what `schemars` writes for its types and attributes.
//! Messages, reference pages and stubs take ranges from the same schema.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::error::Problem;
use crate::units;

/// Checks of the values that a schema describes.
#[derive(Debug)]
pub struct Rules {
    schema: Value,
}

impl Rules {
    /// The rules of a parameter structure, with its defaults in the schema.
    pub fn of<P: Default + Serialize + JsonSchema>() -> Self {
        let mut schema = schemars::schema_for!(P).to_value();
        // Defaults come from `Default` alone: written into the schema here, so they cannot disagree.
        if let Ok(Value::Object(defaults)) = serde_json::to_value(P::default())
            && let Some(Value::Object(properties)) = schema.get_mut("properties")
        {
            for (key, value) in defaults {
                if let Some(Value::Object(property)) = properties.get_mut(&key) {
                    property.insert("default".to_owned(), value);
                }
            }
        }
        // Parameters that share a part by `flatten` do not say so themselves.
        if let Value::Object(schema) = &mut schema {
            schema.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        Self { schema }
    }

    /// The JSON Schema.
    pub fn into_schema(self) -> Value {
        self.schema
    }

    /// Every problem of the form and range of the parameters in `given`, with paths relative to it. Its `kind` is
    /// none of them.
    pub fn problems(&self, given: &Map<String, Value>) -> Vec<Problem> {
        let mut found = Found::default();
        if let Some(Value::Object(known)) = self.schema.get("properties") {
            for (key, value) in given.iter().filter(|(key, _)| *key != "kind") {
                self.entry(&self.schema, known, key, value, &mut found);
            }
        }
        found.problems
    }

    fn resolved<'a>(&'a self, rules: &'a Value) -> &'a Value {
        let Some(name) = rules.get("$ref").and_then(Value::as_str) else { return rules };
        self.schema.pointer(name.trim_start_matches('#')).unwrap_or(rules)
    }

    fn table(&self, rules: &Value, given: &Map<String, Value>, found: &mut Found) {
        let Some(Value::Object(known)) = rules.get("properties") else { return };
        for (key, value) in given {
            self.entry(rules, known, key, value, found);
        }
        for key in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
            if let Some(key) = key.as_str().filter(|key| !given.contains_key(*key)) {
                found.report(format!("\"{key}\" is missing"));
            }
        }
    }

    /// An entry of a table.
    fn entry(
        &self,
        rules: &Value,
        known: &Map<String, Value>,
        key: &str,
        value: &Value,
        found: &mut Found,
    ) {
        let here = found.enter(key);
        match known.get(key) {
            Some(rules) => self.value(rules, value, found),
            None if rules.get("additionalProperties") == Some(&Value::Bool(false)) => {
                let names: Vec<&str> = known.keys().map(String::as_str).collect();
                let what = format!("\"{key}\" is not a key here");
                found.problems.push(Problem::unknown(&found.path, &what, key, &names));
            }
            None => {}
        }
        found.path.truncate(here);
    }

    /// A table written as a list of its values.
    fn row(&self, rules: &Map<String, Value>, given: &[Value], found: &mut Found) {
        for ((key, rules), value) in rules.iter().zip(given) {
            let here = found.enter(key);
            self.value(rules, value, found);
            found.path.truncate(here);
        }
    }

    fn value(&self, rules: &Value, value: &Value, found: &mut Found) {
        if value.is_null() {
            return; // whether it may be left out is for the type to say
        }
        let rules = self.resolved(rules);
        for choice in ["oneOf", "anyOf"] {
            let Some(Value::Array(branches)) = rules.get(choice) else { continue };
            return self.choice(branches, value, found);
        }
        let names: Vec<&str> = names(rules).collect();
        if !names.is_empty() {
            return found.name(value, &names);
        }
        if let Some(what) = rules.get("x-quantity").and_then(Value::as_str) {
            let problem = quantity(what, rules, value, &found.path);
            return found.problems.extend(problem);
        }
        if let (Some(Value::Object(rules)), Value::Array(given)) = (rules.get("properties"), value)
        {
            return self.row(rules, given, found);
        }
        if let Some(expected) = wrong_type(rules, value) {
            return found.report_value(value, &format!("{} is not {expected}", shown(value)));
        }
        match value {
            Value::Number(number) => {
                let problem = number
                    .as_f64()
                    .and_then(|real| outside(rules, real, || number.to_string(), &found.path));
                found.problems.extend(problem);
            }
            Value::Array(items) => {
                let Some(rules) = rules.get("items") else { return };
                if self.are_plain_rows(rules, items) {
                    return;
                }
                for (i, item) in items.iter().enumerate() {
                    let here = found.path.len();
                    let _ = write!(found.path, "[{i}]");
                    self.value(rules, item, found);
                    found.path.truncate(here);
                }
            }
            Value::Object(table) => self.table(rules, table, found),
            _ => {}
        }
    }

    /// Whether all items are lists of numbers in their ranges: of a trace's million lines each rule is looked up once.
    fn are_plain_rows(&self, rules: &Value, items: &[Value]) -> bool {
        let [first @ Value::Array(_), ..] = items else { return false };
        let Some(Value::Object(columns)) = self.resolved(rules).get("properties") else {
            return false;
        };
        let width = first.as_array().map_or(0, Vec::len).min(columns.len());
        let bounds: Option<Vec<_>> =
            columns.values().take(width).map(|rules| self.bounds(rules)).collect();
        let Some(bounds) = bounds else { return false };
        let fits = |(value, bounds): (&Value, &Bounds)| bounds.hold(value);
        items.iter().all(|item| match item {
            Value::Array(row) => row.len() <= width && row.iter().zip(&bounds).all(fits),
            _ => false,
        })
    }

    /// The bounds of a value that may be a plain number; `None` if it may not, or if there is more to check.
    fn bounds(&self, rules: &Value) -> Option<Bounds> {
        let rules = self.resolved(rules);
        if let Some(Value::Array(branches)) = rules.get("anyOf") {
            let mut branches = branches.iter().filter(|b| b.get("type") != Some(&"null".into()));
            let one = branches.next()?;
            return if branches.next().is_none() { self.bounds(one) } else { None };
        }
        let is_whole = match rules.get("type").and_then(Value::as_str) {
            _ if rules.get("x-quantity").is_some() => false,
            Some("number") => false,
            Some("integer") => true,
            _ => return None,
        };
        if rules.get("oneOf").is_some() || names(rules).next().is_some() {
            return None;
        }
        Some(Bounds::of(rules, is_whole))
    }

    /// A value that may be one of several things: of a few names, or of tables that `kind` distinguishes.
    fn choice(&self, branches: &[Value], value: &Value, found: &mut Found) {
        let branches = branches.iter().filter(|b| b.get("type") != Some(&"null".into()));
        let branches: Vec<&Value> = branches.map(|branch| self.resolved(branch)).collect();
        if let [one] = branches[..] {
            return self.value(one, value, found);
        }
        let all: Vec<&str> = branches.iter().copied().flat_map(names).collect();
        if all.len() >= branches.len() {
            return found.name(value, &all);
        }
        let kind = value.get("kind").unwrap_or(&Value::Null);
        let kind_of = |branch: &&Value| branch.pointer("/properties/kind/const") == Some(kind);
        if let (Some(meant), Value::Object(table)) = (branches.into_iter().find(kind_of), value) {
            self.table(meant, table, found);
        }
        // Which other branch is meant, only the type knows.
    }
}

/// The range of a number.
struct Bounds {
    least: f64,
    above: f64,
    most: f64,
    below: f64,
    is_whole: bool,
}

impl Bounds {
    fn of(rules: &Value, is_whole: bool) -> Self {
        let bound = |key: &str, none: f64| rules.get(key).and_then(Value::as_f64).unwrap_or(none);
        let most = bound("maximum", f64::INFINITY).min(most_of_format(rules));
        Self {
            least: bound("minimum", f64::NEG_INFINITY),
            above: bound("exclusiveMinimum", f64::NEG_INFINITY),
            most,
            below: bound("exclusiveMaximum", f64::INFINITY),
            is_whole,
        }
    }

    /// Whether a value is a number within, or null: whether it may be left out is for the type to say.
    fn hold(&self, value: &Value) -> bool {
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
        _ => f64::INFINITY,
    }
}

/// Where in the value the checks are, and what they have found.
#[derive(Default)]
struct Found {
    path: String,
    problems: Vec<Problem>,
}

impl Found {
    /// Goes to a key of a table; the length to which the path is cut afterwards.
    fn enter(&mut self, key: &str) -> usize {
        let here = self.path.len();
        let dot = if here == 0 { "" } else { "." };
        let _ = write!(self.path, "{dot}{key}");
        here
    }

    fn report(&mut self, message: String) {
        self.problems.push(Problem::new(&self.path, message));
    }

    fn report_value(&mut self, value: &Value, message: &str) {
        self.problems.push(Problem::new(&self.path, message).with_value(value));
    }

    fn name(&mut self, value: &Value, names: &[&str]) {
        let given = value.as_str().unwrap_or_default();
        if !names.contains(&given) {
            let what = format!("{} is not known here", shown(value));
            self.problems.push(Problem::unknown(&self.path, &what, given, names));
        }
    }
}

/// The names that a value may be, if it is one of a few.
fn names(rules: &Value) -> impl Iterator<Item = &str> {
    let several = rules.get("enum").and_then(Value::as_array).into_iter().flatten();
    several.chain(rules.get("const")).filter_map(Value::as_str)
}

fn quantity(what: &str, rules: &Value, value: &Value, path: &str) -> Option<Problem> {
    let unit = rules.get("x-unit").and_then(Value::as_str).unwrap_or_default();
    match value {
        Value::String(text) if units::units(what).is_empty() => {
            // A buffer: only its own type reads it.
            let error = text.parse::<units::BufferSize>().err()?;
            Some(Problem::new(path, error).with_value(value))
        }
        Value::String(text) => match units::quantity(text, what) {
            Ok(real) => too_small(what, rules, real, text, path)
                .or_else(|| outside(rules, real, || text.clone(), path)),
            Err(message) => Some(Problem::new(path, message).with_value(value)),
        },
        Value::Number(number) => {
            let (real, text) = (number.as_f64()?, format!("{number} {unit}"));
            too_small(what, rules, real, &text, path)
                .or_else(|| outside(rules, real, || text.clone(), path))
        }
        _ => {
            let message =
                format!("{} is not a {what}; expected a number with a unit", shown(value));
            Some(Problem::new(path, message).with_value(value))
        }
    }
}

/// That a quantity, which is to be more than 0, is 0 in the whole units in which the core counts.
fn too_small(what: &str, rules: &Value, real: f64, text: &str, path: &str) -> Option<Problem> {
    let is_positive = rules.get("exclusiveMinimum").and_then(Value::as_f64) == Some(0.0);
    let least = units::least(what);
    (is_positive && 0.0 < real && real < least / 2.0).then(|| {
        let unit = rules.get("x-unit").and_then(Value::as_str).unwrap_or_default();
        let least = if least < 1.0 { format!("{least:e}") } else { least.to_string() };
        Problem::out_of_range(path, text, &format!("at least {least} {unit}"))
    })
}

/// What was expected where a value has the wrong type.
fn wrong_type(rules: &Value, value: &Value) -> Option<String> {
    let kinds = match rules.get("type")? {
        Value::Array(kinds) => kinds,
        one => std::slice::from_ref(one),
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
    let words = kinds().filter_map(|kind| match kind {
        "string" => Some("text"),
        "integer" => Some("a whole number"),
        "number" => Some("a number"),
        "boolean" => Some("true or false"),
        "array" => Some("a list"),
        "object" => Some("a table"),
        _ => None,
    });
    Some(words.collect::<Vec<_>>().join(" or "))
}

/// The problem of a number outside its range.
fn outside(
    rules: &Value,
    value: f64,
    shown: impl FnOnce() -> String,
    path: &str,
) -> Option<Problem> {
    let bound = |key: &str| rules.get(key).and_then(Value::as_f64);
    let most = Some(most_of_format(rules)).filter(|most| most.is_finite());
    let inside = bound("minimum").is_none_or(|least| value >= least)
        && bound("exclusiveMinimum").is_none_or(|below| value > below)
        && bound("maximum").is_none_or(|most| value <= most)
        && bound("exclusiveMaximum").is_none_or(|above| value < above);
    if inside && most.is_none_or(|most| value <= most) {
        return None;
    }
    let range = match most {
        Some(most) if inside => format!("at most {most}"),
        _ => range(rules).unwrap_or_default(),
    };
    Some(Problem::out_of_range(path, shown(), &range))
}

/// The range of a value in words, with its unit, as in `more than 0 and at most 1 (segments)`; `None` if it
/// has no bound.
pub fn range(rules: &Value) -> Option<String> {
    let bound = |key: &str| match rules.get(key) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    };
    let real = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
    let mut words = String::new();
    match (bound("minimum"), bound("exclusiveMinimum"), bound("maximum")) {
        // The wider bound is that of the type.
        (least, Some(below), _) if least.is_none_or(|least| real(least) <= real(below)) => {
            words = format!("more than {below}");
        }
        (Some(least), _, Some(most)) if bound("exclusiveMaximum").is_none() => {
            return Some(with_unit(format!("from {least} to {most}"), rules));
        }
        (Some(least), ..) => words = format!("at least {least}"),
        _ => {}
    }
    let upper = match (bound("maximum"), bound("exclusiveMaximum")) {
        (_, Some(above)) => Some(format!("less than {above}")),
        (Some(most), None) => Some(format!("at most {most}")),
        (None, None) => None,
    };
    if let Some(upper) = upper {
        let and = if words.is_empty() { "" } else { " and " };
        let _ = write!(words, "{and}{upper}");
    }
    (!words.is_empty()).then(|| with_unit(words, rules))
}

fn with_unit(words: String, rules: &Value) -> String {
    match rules.get("x-unit").and_then(Value::as_str) {
        Some(unit) if rules.get("x-quantity").is_some() => format!("{words} {unit}"),
        Some(unit) => format!("{words} ({unit})"),
        None => words,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::units::{BitRate, Span};

    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    enum Mode {
        #[default]
        Quick,
        /// With care.
        Thorough,
    }

    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    struct Step {
        #[schemars(range(min = 0))]
        factor: f64,
    }

    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Params {
        #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
        beta: f64,
        #[schemars(range(min = 1, max = 16), extend("x-unit" = "segments"))]
        count: Option<u32>,
        #[schemars(range(max = 0.1), extend("exclusiveMinimum" = 0))]
        target: Option<Span>,
        mode: Option<Mode>,
        small: u32,
        steps: Vec<Step>,
        #[schemars(extend("exclusiveMinimum" = 0))]
        peak: Option<BitRate>,
    }

    fn found(given: Value) -> Vec<String> {
        let Value::Object(given) = given else { return Vec::new() };
        Rules::of::<Params>().problems(&given).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_value_outside_its_range_is_reported_with_the_range() {
        let given =
            json!({ "beta": 1, "count": 17, "target": "200 ms", "steps": [{ "factor": -1 }] });
        assert_eq!(
            found(given),
            [
                "beta: 1 is out of range; expected more than 0 and less than 1",
                "count: 17 is out of range; expected from 1 to 16 (segments)",
                "target: 200 ms is out of range; expected more than 0 and at most 0.1 s",
                "steps[0].factor: -1 is out of range; expected at least 0",
            ]
        );
        assert_eq!(
            found(json!({ "target": 0 })),
            ["target: 0 s is out of range; expected more than 0 and at most 0.1 s"]
        );
        assert_eq!(
            found(json!({ "small": 4_294_967_296_u64 })),
            ["small: 4294967296 is out of range; expected at most 4294967295"]
        );
        let good =
            json!({ "beta": 0.5, "count": 16, "target": "100 ms", "steps": [{ "factor": 0 }] });
        assert!(found(good).is_empty());
        assert_eq!(
            found(json!({ "steps": [[0.5], [-2]] })),
            ["steps[1].factor: -2 is out of range; expected at least 0"]
        );
    }

    /// Rates are whole bits a second, times whole picoseconds: half of one and more is one.
    #[test]
    fn what_rounds_to_0_is_not_more_than_0() {
        assert_eq!(
            found(json!({ "peak": 0.49, "target": "0.4 ps" })),
            [
                "peak: 0.49 bit/s is out of range; expected at least 1 bit/s",
                "target: 0.4 ps is out of range; expected at least 1e-12 s",
            ]
        );
        assert!(found(json!({ "peak": 0.5, "target": "0.5 ps" })).is_empty());
        assert!(found(json!({ "peak": "0.0004 kbps" }))[0].contains("at least 1 bit/s"));
    }

    /// What rows of numbers are checked by at once says no more and no less than what goes row by row.
    #[test]
    fn rows_of_numbers_are_checked_as_tables_are() {
        #[derive(Default, Serialize, Deserialize, JsonSchema)]
        struct Row {
            at: Span,
            #[schemars(range(min = 1))]
            size: Option<u32>,
            #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
            part: Option<f64>,
        }
        #[derive(Default, Serialize, Deserialize, JsonSchema)]
        struct Rows {
            rows: Vec<Row>,
        }
        let rules = Rules::of::<Rows>();
        let problems = |rows: Value| {
            let Value::Object(given) = json!({ "rows": rows }) else { return Vec::new() };
            rules.problems(&given).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let values = [
            vec![json!(0), json!(0.5), json!(-1), json!("1 s"), json!("x"), json!(null), json!([])],
            vec![json!(1), json!(0), json!(1.5), json!(4_294_967_296_u64), json!(null), json!("2")],
            vec![json!(0.5), json!(0), json!(1), json!(null), json!(true), json!({})],
        ];
        let mut wrong = 0;
        for at in &values[0] {
            for size in &values[1] {
                for part in &values[2] {
                    let as_table = problems(json!([{ "at": at, "size": size, "part": part }]));
                    // With a good row before it, and with one that takes the long way.
                    let good = json!([0, 1, 0.5]);
                    let renumbered: Vec<String> =
                        as_table.iter().map(|text| text.replace("[0]", "[1]")).collect();
                    assert_eq!(problems(json!([good, [at, size, part]])), renumbered);
                    assert_eq!(problems(json!([["0 s"], [at, size, part]])), renumbered);
                    wrong += usize::from(!as_table.is_empty());
                }
            }
        }
        assert!(wrong > 100, "{wrong}");
        assert!(problems(json!([[0, 1, 0.5], [1], [2, null], []])).is_empty());
    }

    #[test]
    fn wrong_types_units_and_names_are_reported() {
        assert_eq!(
            found(json!({ "beta": "much", "count": 1.5, "mode": "thorogh", "small": -1 })),
            [
                "beta: \"much\" is not a number",
                "count: 1.5 is not a whole number",
                "mode: \"thorogh\" is not known here; did you mean \"thorough\"?",
                "small: -1 is out of range; expected at least 0",
            ]
        );
        assert_eq!(
            found(json!({ "bta": 0.5 })),
            ["bta: \"bta\" is not a key here; did you mean \"beta\"?"]
        );
        let unit = found(json!({ "target": "3 parsecs" }));
        assert!(
            unit[0].starts_with("target: \"parsecs\" in \"3 parsecs\" is not a unit"),
            "{unit:?}"
        );
    }
}
