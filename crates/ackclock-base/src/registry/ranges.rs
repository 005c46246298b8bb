//! The ranges that a schema gives for fields, looked up once, for values that are numbers already.

use schemars::JsonSchema;
use serde_json::Value;

use super::sentences::range;
use crate::error::Problem;

/// The range that a schema gives for one field, looked up once: for values that many tables have, and that
/// are numbers already.
#[derive(Debug)]
pub struct Range {
    rules: Value,
    least: f64,
    above: f64,
    most: f64,
}

impl Range {
    /// The range of a field of a structure.
    pub fn of<P: JsonSchema>(field: &str) -> Self {
        let [range] = Self::all::<P, 1>([field]);
        range
    }

    /// The ranges of several fields of a structure, whose schema is made once.
    pub fn all<P: JsonSchema, const N: usize>(fields: [&str; N]) -> [Self; N] {
        let schema = schemars::schema_for!(P).to_value();
        fields.map(|field| Self::from_schema(&schema, field))
    }

    fn from_schema(schema: &Value, field: &str) -> Self {
        let rules = schema.pointer(&format!("/properties/{field}")).cloned().unwrap_or_default();
        let bound = |key: &str| rules.get(key).and_then(Value::as_f64);
        let least = bound("minimum").unwrap_or(f64::NEG_INFINITY);
        let above = bound("exclusiveMinimum").unwrap_or(f64::NEG_INFINITY);
        let most = bound("maximum").unwrap_or(f64::INFINITY);
        Self { rules, least, above, most }
    }

    /// Whether a value is in the range.
    #[inline]
    pub fn holds(&self, value: f64) -> bool {
        value >= self.least && value > self.above && value <= self.most
    }

    /// The problem of a value at `path`, if it is outside.
    pub fn problem(&self, value: f64, path: impl FnOnce() -> String) -> Option<Problem> {
        if self.holds(value) {
            return None;
        }
        let unit = self.rules.get("x-unit").and_then(Value::as_str).unwrap_or_default();
        let with_unit = format!("{value} {unit}");
        let expected = range(&self.rules).unwrap_or_default();
        Some(Problem::out_of_range(path(), with_unit.trim_end(), &expected))
    }
}

/// The ranges of several fields of a structure, checked together.
#[derive(Debug)]
pub struct Ranges<const N: usize> {
    fields: [&'static str; N],
    ranges: [Range; N],
}

impl<const N: usize> Ranges<N> {
    /// The ranges of fields of a structure.
    pub fn of<P: JsonSchema>(fields: [&'static str; N]) -> Self {
        Self { fields, ranges: Range::all::<P, N>(fields) }
    }

    /// The problems of values of the fields, in their order, in the structure at `path`.
    pub fn problems(&self, path: &str, values: [f64; N]) -> Vec<Problem> {
        let ranges = self.fields.iter().zip(&self.ranges).zip(values);
        ranges
            .filter_map(|((field, range), value)| {
                range.problem(value, || format!("{path}.{field}"))
            })
            .collect()
    }

    /// Checks values of the fields, in their order, in the structure at `path`.
    ///
    /// # Errors
    /// All values that are outside.
    pub fn check(&self, path: &str, values: [f64; N]) -> Result<(), Vec<Problem>> {
        let problems = self.problems(path, values);
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}
