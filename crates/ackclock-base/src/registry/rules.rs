//! The ranges, units and names that a schema gives for each value, and their checks.
//!
//! The schema is that of the algorithm's `Params`, or of a whole document: what `schemars` writes for types and
//! attributes. Messages, reference pages and stubs take ranges from the same schema.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::place::{self, Step};
use super::rooms::{self, Rooms};
use super::sentences::{Bounds, bare, outside, quantity, show_value, wrong_type};
use crate::error::{self, Problem};

/// Checks of the values that a schema describes.
#[derive(Debug)]
pub struct Rules {
    schema: Value,
    /// The algorithms that the values may name; none where those who build them check them.
    rooms: Option<Arc<Rooms>>,
    form: Form,
}

/// What else a document may hold, by who wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// What people and programs write.
    #[default]
    Written,
    /// As `Written`; algorithms may be classes of a file, `file.py:Class`.
    WithClasses,
    /// What a program made of it for the engine: tables as rows of their values, algorithms that others build.
    Made,
}

/// Values of a document that JSON cannot have, by their place, where it has null.
pub type Odd = BTreeMap<String, OddValue>;

/// A value that JSON cannot have.
#[derive(Clone, Debug)]
pub struct OddValue {
    /// How it looks.
    pub text: String,
    /// What is wrong with it, if that needs no rule: `is not a finite number`.
    pub fault: Option<&'static str>,
}

/// What is wrong with the form of a value.
#[derive(Debug, Default)]
pub struct Mistakes {
    /// Every problem.
    pub problems: Vec<Problem>,
    /// Keys that tables lack: the table's place, the key, what it is.
    pub(super) missing: Vec<(String, String, Value)>,
    /// Quantities without unit: place and quantity.
    pub bare: Vec<(String, String)>,
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
        Self { schema, rooms: None, form: Form::Made }
    }

    /// The rules of documents that a schema describes, which may name the algorithms of rooms.
    pub fn of_schema(schema: Value, rooms: Arc<Rooms>, form: Form) -> Self {
        Self { schema, rooms: Some(rooms), form }
    }

    /// The name of an algorithm of a room, by its number.
    pub(super) fn algorithm_name(&self, room: &str, number: usize) -> Option<Value> {
        self.rooms.as_ref()?.names(room).get(number).map(|name| Value::from(*name))
    }

    /// The JSON Schema.
    pub fn into_schema(self) -> Value {
        self.schema
    }

    /// Every problem of the form and range of the parameters in `given`, with paths relative to it. Its `kind` is
    /// none of them.
    pub fn problems(&self, params: &Map<String, Value>) -> Vec<Problem> {
        let mut check = Found::new(None);
        self.parameters(&self.schema, params, &mut check);
        check.mistakes.problems
    }

    /// Every mistake in the form of a document, with the values that JSON cannot have. Quantities in `typed` places, which a
    /// person wrote, need their units.
    pub fn mistakes(&self, document: &Value, odd: &Odd, typed: &[String]) -> Mistakes {
        let mut check = Found::new(Some(odd));
        check.typed = typed.iter().map(|path| place::steps(path)).collect();
        self.value(Within { rules: &self.schema, root: &self.schema }, document, &mut check);
        check.mistakes
    }

    fn parameters(&self, root: &Value, params: &Map<String, Value>, check: &mut Found<'_>) {
        let Some(Value::Object(properties)) = root.get("properties") else { return };
        for (key, value) in params.iter().filter(|(key, _)| *key != "kind") {
            self.entry(Within { rules: root, root }, properties, params, (key, value), check);
        }
    }

    fn table(&self, schema: Within<'_>, table: &Map<String, Value>, check: &mut Found<'_>) {
        let nothing = Map::new();
        let properties =
            schema.rules.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
        for entry in table {
            self.entry(schema, properties, table, entry, check);
        }
        for key in schema.rules.get("required").and_then(Value::as_array).into_iter().flatten() {
            let Some(key) = key.as_str() else { continue };
            let is_out = |value: &Value| {
                self.form != Form::Made
                    && value.is_null()
                    && !check.is_odd(key)
                    && !schema.with(properties.get(key).unwrap_or(&Value::Null)).takes_null()
            };
            if table.get(key).is_none_or(is_out) {
                let rules = properties.get(key).unwrap_or(&Value::Null);
                let about = rules.get("description").and_then(Value::as_str).unwrap_or_default();
                let about = about.split(". ").next().unwrap_or_default().trim_end_matches('.');
                let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
                check.report(format!("\"{key}\" is missing{about}"));
                let rules = if rules.get("x-room").is_some() {
                    rules.clone()
                } else {
                    schema.with(rules).resolve().rules.clone()
                };
                check.mistakes.missing.push((check.path.clone(), key.to_owned(), rules));
            }
        }
        let least = schema.rules.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
        if (table.len() as u64) < least {
            check.report(format!("has {} entries; expected at least {least}", table.len()));
        }
    }

    /// An entry of a table.
    fn entry(
        &self,
        schema: Within<'_>,
        properties: &Map<String, Value>,
        table: &Map<String, Value>,
        (key, value): (&String, &Value),
        check: &mut Found<'_>,
    ) {
        let here = check.enter(key);
        let more = schema.rules.get("additionalProperties");
        match properties.get(key) {
            Some(rules) => match (rules.get("x-room").and_then(Value::as_str), &self.rooms) {
                (Some(room), Some(all)) if schema.with(rules).names_algorithm() => {
                    self.algorithm(all, room, value, check);
                }
                (Some(room), Some(all))
                    if value.is_array() && schema.with(rules).items().names_algorithm() =>
                {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        let here = check.enter_entry(i);
                        self.algorithm(all, room, item, check);
                        check.path.truncate(here);
                    }
                }
                _ => self.value(schema.with(rules), value, check),
            },
            None if more == Some(&Value::Bool(false)) && key != "kind" => {
                check.mistakes.problems.push(self.unknown_key(
                    schema,
                    properties,
                    table,
                    key,
                    &check.path,
                ));
            }
            None => {
                if schema.rules.get("propertyNames").is_some() && !is_name(key) {
                    check.report(format!(
                        "\"{key}\" is no name here; expected lower-case letters, digits and _, beginning with a letter"
                    ));
                }
                if let Some(rules) = more.filter(|rules| rules.is_object()) {
                    self.value(schema.with(rules), value, check);
                }
            }
        }
        check.path.truncate(here);
    }

    /// The problem of a key that a table does not have.
    fn unknown_key(
        &self,
        schema: Within<'_>,
        properties: &Map<String, Value>,
        table: &Map<String, Value>,
        key: &str,
        path: &str,
    ) -> Problem {
        let names: Vec<&str> =
            properties.keys().map(String::as_str).filter(|key| *key != "kind").collect();
        let sentence = format!("\"{key}\" is not a key here");
        if error::nearest(key, names.iter().copied()).is_none() {
            // The one key left out whose description has the word: `extra`, "How much longer the path is than the link's own
            // delay", for `delay`.
            let mut meant = properties.iter().filter(|(name, rules)| {
                let about = rules.get("description").and_then(Value::as_str).unwrap_or_default();
                !table.contains_key(*name) && has_word(about, key)
            });
            if let (Some((name, _)), None) = (meant.next(), meant.next()) {
                let message = format!("{sentence}; did you mean \"{name}\"?");
                let nearest = Some(name.clone());
                return Problem { nearest, ..Problem::new(path, message).with_value(key) };
            }
            let inside: Vec<String> = properties
                .iter()
                .filter_map(|(name, rules)| {
                    let is_list = rules.get("items").is_some();
                    let inner = schema.with(rules.get("items").unwrap_or(rules));
                    let has = inner.branches().any(|b| {
                        b.rules.pointer("/properties").is_some_and(|p| p.get(key).is_some())
                    });
                    has.then(|| if is_list { format!("{name}[]") } else { name.clone() })
                })
                .collect();
            if self.rooms.is_some() && !inside.is_empty() {
                return Problem::new(path, format!("{sentence}, but of {}", inside.join(" and ")));
            }
        }
        Problem::unknown(path, &sentence, key, &names)
    }

    /// A table written as a list of its values.
    fn row(
        &self,
        schema: Within<'_>,
        rules: &Map<String, Value>,
        values: &[Value],
        check: &mut Found<'_>,
    ) {
        for ((key, rules), value) in rules.iter().zip(values) {
            let here = check.enter(key);
            self.value(schema.with(rules), value, check);
            check.path.truncate(here);
        }
    }

    fn value(&self, schema: Within<'_>, value: &Value, check: &mut Found<'_>) {
        let schema = schema.resolve();
        if value.is_null() {
            check.odd_value(schema.rules); // whether it may be left out is for the table to say
            return;
        }
        for choice in ["oneOf", "anyOf"] {
            let Some(Value::Array(branches)) = schema.rules.get(choice) else { continue };
            return self.choice(schema, branches, value, check);
        }
        let names = names(schema.rules);
        if !names.is_empty() {
            return check.name(value, &names);
        }
        if let Some(quantity_kind) = schema.rules.get("x-quantity").and_then(Value::as_str) {
            if let Some(problem) = bare(quantity_kind, schema.rules, value, &check.path) {
                check.mistakes.bare.push((check.path.clone(), quantity_kind.to_owned()));
                if check.is_typed() {
                    // Without its unit nobody knows whether a number is in its range.
                    return check.mistakes.problems.push(problem);
                }
            }
            let problem = quantity(quantity_kind, schema.rules, value, &check.path);
            return check.mistakes.problems.extend(problem);
        }
        if let (Some(Value::Object(rules)), Value::Array(row)) =
            (schema.rules.get("properties"), value)
            && self.form == Form::Made
        {
            return self.row(schema, rules, row, check);
        }
        if let Some(expected) = wrong_type(schema.rules, value) {
            return check.wrong_type(schema.rules, value, &expected);
        }
        match value {
            Value::Number(number) => {
                let problem = number.as_f64().and_then(|real| {
                    outside(schema.rules, real, || number.to_string(), &check.path)
                });
                check.mistakes.problems.extend(problem);
            }
            Value::Array(items) => self.items(schema, items, check),
            Value::Object(table) => self.table(schema, table, check),
            _ => {}
        }
    }

    fn items(&self, schema: Within<'_>, items: &[Value], check: &mut Found<'_>) {
        let count = |key: &str| schema.rules.get(key).and_then(Value::as_u64);
        let has = items.len() as u64;
        match (count("minItems"), count("maxItems")) {
            (Some(least), _) if has < least => {
                check.report(format!("has {has} entries; expected at least {least}"));
            }
            (_, Some(most)) if has > most => {
                check.report(format!("has {has} entries; expected at most {most}"));
            }
            _ => {}
        }
        if schema.rules.get("items").is_none() || self.are_plain_rows(schema.items(), items) {
            return;
        }
        let rules = schema.items().resolve();
        // Of a long list of numbers each rule is looked up once.
        if let Some(bounds) = self.bounds(rules)
            && items.iter().all(|item| !item.is_null() && bounds.hold(item))
        {
            return;
        }
        for (i, item) in items.iter().enumerate() {
            let here = check.enter_entry(i);
            self.value(rules, item, check);
            check.path.truncate(here);
        }
    }

    /// Whether all items are lists of numbers in their ranges: of a trace's million lines each rule is looked up once.
    fn are_plain_rows(&self, schema: Within<'_>, items: &[Value]) -> bool {
        let [first @ Value::Array(_), ..] = items else { return false };
        let schema = schema.resolve();
        let Some(Value::Object(columns)) = schema.rules.get("properties") else { return false };
        if self.form != Form::Made {
            return false;
        }
        let width = first.as_array().map_or(0, Vec::len).min(columns.len());
        let bounds: Option<Vec<_>> =
            columns.values().take(width).map(|rules| self.bounds(schema.with(rules))).collect();
        let Some(bounds) = bounds else { return false };
        let fits = |(value, bounds): (&Value, &Bounds)| bounds.hold(value);
        items.iter().all(|item| match item {
            Value::Array(row) => row.len() <= width && row.iter().zip(&bounds).all(fits),
            _ => false,
        })
    }

    /// The bounds of a value that may be a plain number; `None` if it may not, or if there is more to check.
    fn bounds(&self, schema: Within<'_>) -> Option<Bounds> {
        let schema = schema.resolve();
        if let Some(Value::Array(branches)) = schema.rules.get("anyOf") {
            let mut branches = branches.iter().filter(|b| b.get("type") != Some(&"null".into()));
            let branch = branches.next()?;
            return if branches.next().is_none() { self.bounds(schema.with(branch)) } else { None };
        }
        let is_whole = match schema.rules.get("type").and_then(Value::as_str) {
            // A person's needs its unit.
            _ if schema.rules.get("x-quantity").is_some() && self.form != Form::Made => {
                return None;
            }
            _ if schema.rules.get("x-quantity").is_some() => false,
            Some("number") => false,
            Some("integer") => true,
            _ => return None,
        };
        if schema.rules.get("oneOf").is_some() || !names(schema.rules).is_empty() {
            return None;
        }
        Some(Bounds::of(schema.rules, is_whole))
    }

    /// A value that may be one of several things, reported as one problem of the branch that was meant.
    fn choice(&self, schema: Within<'_>, branches: &[Value], value: &Value, check: &mut Found<'_>) {
        let branches = branches.iter().filter(|b| b.get("type") != Some(&"null".into()));
        let branches: Vec<Within<'_>> =
            branches.map(|branch| schema.with(branch).resolve()).collect();
        if let [branch] = branches[..] {
            return self.value(branch, value, check);
        }
        let all: Vec<&Value> = branches.iter().flat_map(|branch| names(branch.rules)).collect();
        if all.len() >= branches.len() {
            return check.name(value, &all);
        }
        let kinds: Option<Vec<&str>> = branches
            .iter()
            .map(|branch| branch.rules.pointer("/properties/kind/const").and_then(Value::as_str))
            .collect();
        if let Some(kinds) = kinds {
            return self.check_tagged(&branches, &kinds, value, check);
        }
        let keys: Option<Vec<&str>> = branches
            .iter()
            .map(|branch| branch.rules.pointer("/required/0").and_then(Value::as_str))
            .collect();
        if let Some(keys) = keys {
            return self.check_keyed(&branches, &keys, value, check);
        }
        let fits = |branch: &&Within<'_>| wrong_type(branch.rules, value).is_none();
        if let Some(meant) = branches.iter().find(fits) {
            return self.value(*meant, value, check);
        }
        let expected = branches.iter().filter_map(|b| wrong_type(b.rules, value));
        let expected = expected.collect::<Vec<_>>().join(" or ");
        check.report_value(value, &format!("{} is not {expected}", show_value(value)));
    }

    /// A table whose `kind` says what it is.
    fn check_tagged(
        &self,
        branches: &[Within<'_>],
        kinds: &[&str],
        value: &Value,
        check: &mut Found<'_>,
    ) {
        let Value::Object(table) = value else {
            return check.report_value(
                value,
                &format!("{} is not a table with a key kind", show_value(value)),
            );
        };
        let Some(kind) = table.get("kind").filter(|kind| !kind.is_null()) else {
            check.mistakes.missing.push((check.path.clone(), "kind".to_owned(), Value::Null));
            return check
                .report(format!("\"kind\" is missing; expected one of: {}", kinds.join(", ")));
        };
        if let Some(number) = kinds.iter().position(|name| kind.as_str() == Some(name)) {
            return self.table(branches[number], table, check);
        }
        let here = check.enter("kind");
        let names: Vec<Value> = kinds.iter().map(|kind| Value::from(*kind)).collect();
        check.name(kind, &names.iter().collect::<Vec<_>>());
        check.path.truncate(here);
    }

    /// A table with one key, which says what it is.
    fn check_keyed(
        &self,
        branches: &[Within<'_>],
        keys: &[&str],
        value: &Value,
        check: &mut Found<'_>,
    ) {
        let entry = value.as_object().filter(|table| table.len() == 1);
        let Some((key, inner)) = entry.and_then(|table| table.iter().next()) else {
            let message =
                format!("{} is not a table with one of: {}", show_value(value), keys.join(", "));
            return check.report_value(value, &message);
        };
        let file = format!("{key}_file");
        match keys.iter().position(|name| name == key) {
            _ if inner.is_string() && keys.contains(&file.as_str()) => {
                let here = check.enter(key);
                let message = format!(
                    "{} is not a list; a file is given by {file} = {inner}",
                    show_value(inner)
                );
                check.report_value(inner, &message);
                check.path.truncate(here);
            }
            Some(number) => self.value(branches[number], value, check),
            None => {
                let here = check.enter(key);
                let sentence = format!("\"{key}\" is not a key here");
                check.mistakes.problems.push(Problem::unknown(&check.path, &sentence, key, keys));
                check.path.truncate(here);
            }
        }
    }

    /// An algorithm of a room: its name, or a table with `kind` and parameters.
    fn algorithm(&self, all: &Rooms, room: &str, value: &Value, check: &mut Found<'_>) {
        let word = rooms::word(room);
        if self.form == Form::WithClasses
            && (room == "cc" || room == "qdisc")
            && let Some(checked) = class_problem(value)
        {
            if let Err(message) = checked {
                check.report(message);
            }
            return;
        }
        let nothing = Map::new();
        let (name, values) = match value {
            Value::Null if !check.is_odd("") => return,
            Value::String(name) => (name.as_str(), &nothing),
            Value::Object(table) if table.get("kind").is_some_and(Value::is_string) => {
                (table["kind"].as_str().unwrap_or_default(), table)
            }
            _ => {
                let text = check.show(value);
                let message =
                    format!("{text} is not a {word}; expected a name or a table with kind");
                return check.report_value(value, &message);
            }
        };
        if let Some(params) = all.params(room, name) {
            return self.parameters(params, values, check);
        }
        if self.form == Form::Made && (name.starts_with("python:") || name.contains('/')) {
            return; // others build it
        }
        if room == "cc"
            && let Some(message) = rooms::missing_library(all, name)
        {
            return check.report(message);
        }
        let other_rooms = all.with_name(name);
        if !other_rooms.is_empty() {
            return check.report_value(value, &rooms::of_other_room(all, room, name, &other_rooms));
        }
        if is_python_file(name) {
            return check.report(format!(
                "\"{name}\" names a file without its class; expected \"{name}:CLASS\""
            ));
        }
        let sentence = format!("there is no {word} \"{name}\"");
        let names = all.names(room);
        check.mistakes.problems.push(Problem::unknown(&check.path, &sentence, name, &names));
    }
}

/// Rules, and the schema that their references are relative to.
#[derive(Clone, Copy)]
struct Within<'a> {
    rules: &'a Value,
    root: &'a Value,
}

impl<'a> Within<'a> {
    fn with(self, rules: &'a Value) -> Self {
        Self { rules, ..self }
    }

    fn resolve(self) -> Self {
        let Some(name) = self.rules.get("$ref").and_then(Value::as_str) else { return self };
        self.with(self.root.pointer(name.trim_start_matches('#')).unwrap_or(self.rules))
    }

    /// Whether a value may be null.
    fn takes_null(self) -> bool {
        let rules = self.resolve().rules;
        let null = Value::from("null");
        let is_null = |kind: Option<&Value>| match kind {
            Some(Value::Array(kinds)) => kinds.contains(&null),
            kind => kind == Some(&null),
        };
        let mut branches = rules.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        let mut names = rules.get("enum").and_then(Value::as_array).into_iter().flatten();
        is_null(rules.get("type"))
            || branches.any(|branch| is_null(branch.get("type")))
            || names.any(Value::is_null)
    }

    fn items(self) -> Self {
        self.with(self.rules.get("items").unwrap_or(&Value::Null))
    }

    /// The rules, and those between which they leave a choice.
    fn branches(self) -> impl Iterator<Item = Self> {
        let several = self.rules.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        std::iter::once(self.rules).chain(several).map(move |rules| self.with(rules).resolve())
    }

    /// Whether a value is an algorithm of the room that the rules name.
    fn names_algorithm(self) -> bool {
        let several = self.rules.get("anyOf").and_then(Value::as_array).into_iter().flatten();
        let mut all = std::iter::once(self.rules).chain(several);
        all.any(|rules| {
            rules.get("$ref").and_then(Value::as_str).is_some_and(|name| name.ends_with("/Spec"))
        })
    }
}

/// Where in the value the checks are, and what they have found.
struct Found<'a> {
    path: String,
    typed: Vec<Vec<Step>>,
    odd: Option<&'a Odd>,
    mistakes: Mistakes,
}

impl<'a> Found<'a> {
    fn new(odd: Option<&'a Odd>) -> Self {
        Self { path: String::new(), typed: Vec::new(), odd, mistakes: Mistakes::default() }
    }

    /// Goes to a key of a table; the length to which the path is cut afterwards.
    fn enter(&mut self, key: &str) -> usize {
        let here = self.path.len();
        let dot = if here == 0 { "" } else { "." };
        let _ = write!(self.path, "{dot}{key}");
        here
    }

    /// Goes to an entry of a list.
    fn enter_entry(&mut self, index: usize) -> usize {
        let here = self.path.len();
        let _ = write!(self.path, "[{index}]");
        here
    }

    /// Whether a person wrote the value.
    fn is_typed(&self) -> bool {
        if self.typed.is_empty() {
            return false;
        }
        let steps = place::steps(&self.path);
        self.typed.iter().any(|path| place::is_within(&steps, path))
    }

    /// Whether the value here, or at a key of it, is one that JSON cannot have.
    fn is_odd(&self, key: &str) -> bool {
        let Some(odd) = self.odd.filter(|odd| !odd.is_empty()) else { return false };
        let dot = if self.path.is_empty() || key.is_empty() { "" } else { "." };
        odd.contains_key(&format!("{}{dot}{key}", self.path))
    }

    fn show(&self, value: &Value) -> String {
        match self.odd.and_then(|odd| odd.get(&self.path)) {
            Some(odd) => odd.text.clone(),
            None => show_value(value),
        }
    }

    /// Reports a value that JSON cannot have.
    fn odd_value(&mut self, rules: &Value) {
        let Some(odd) = self.odd.and_then(|odd| odd.get(&self.path)) else { return };
        let quantity = rules.get("x-quantity").and_then(Value::as_str);
        let fault = match (odd.fault, quantity) {
            (Some(fault), _) => fault.to_owned(),
            (None, Some(quantity)) => format!("is not a {quantity}"),
            (None, None) => {
                let expected = wrong_type(rules, &Value::Null);
                format!("is not {}", expected.as_deref().unwrap_or("plain data"))
            }
        };
        let message = format!("{} {fault}", odd.text);
        self.mistakes.problems.push(Problem::new(&self.path, message).with_value(&odd.text));
    }

    fn wrong_type(&mut self, rules: &Value, value: &Value, expected: &str) {
        // A number of more digits than a whole number has.
        if let (Some(real), "a whole number") = (value.as_f64(), expected)
            && real.fract() == 0.0
            && real.abs() >= 9e15
        {
            let text = self.show(value);
            let problem = outside(rules, real, || text, &self.path);
            return self.mistakes.problems.extend(problem);
        }
        self.report_value(value, &format!("{} is not {expected}", show_value(value)));
    }

    fn report(&mut self, message: String) {
        self.mistakes.problems.push(Problem::new(&self.path, message));
    }

    fn report_value(&mut self, value: &Value, message: &str) {
        let problem = Problem::new(&self.path, message).with_value(show_value(value));
        self.mistakes.problems.push(problem);
    }

    fn name(&mut self, value: &Value, names: &[&Value]) {
        if names.contains(&value) {
            return;
        }
        let text = value.as_str().unwrap_or_default();
        let texts: Vec<String> = names
            .iter()
            .map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let sentence = format!("{} is not known here", show_value(value));
        self.mistakes.problems.push(Problem::unknown(&self.path, &sentence, text, &texts));
    }
}

/// Whether a path names a file of Python, whose ending is in small letters for Python too.
fn is_python_file(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "py")
}

/// What is wrong with the form of an algorithm that is a class of a file; `None` if it is none.
fn class_problem(value: &Value) -> Option<Result<(), String>> {
    let expected = "expected class = \"file.py:Class\"";
    let class = match value {
        Value::String(text) if text.contains(".py:") || text.starts_with("session:") => value,
        Value::Object(table) if table.get("kind").and_then(Value::as_str) == Some("python") => {
            match table.get("class") {
                Some(class) if !class.is_null() => class,
                _ => return Some(Err(format!("\"class\" is missing; {expected}"))),
            }
        }
        _ => return None,
    };
    let (file, name) = class.as_str().and_then(|text| text.rsplit_once(':')).unwrap_or_default();
    let is_valid = !name.is_empty() && (is_python_file(file) || file == "session");
    if is_valid {
        return Some(Ok(()));
    }
    Some(Err(format!("{} names no class of a file; {expected}", show_value(class))))
}

/// The values that a value may be, if it is one of a few.
fn names(rules: &Value) -> Vec<&Value> {
    let several = rules.get("enum").and_then(Value::as_array).into_iter().flatten();
    several.chain(rules.get("const")).filter(|name| !name.is_null()).collect()
}

/// Whether a key may be a name that queries use.
fn is_name(key: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    key.starts_with(|c: char| c.is_ascii_lowercase()) && key.chars().all(plain)
}

/// Whether a text has a word, in letters of any size.
fn has_word(text: &str, word: &str) -> bool {
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(&word).any(|(start, _)| {
        !text[..start].ends_with(is_part) && !text[start + word.len()..].starts_with(is_part)
    }) && !word.is_empty()
}

#[cfg(test)]
mod tests;
