//! Problems that others hide, and equal ones joined, so that all are reported at once.
//!
//! A dumbbell whose round trip is wrong cannot be laid out, so nothing is known yet of its loss. The document is checked
//! again twice: without the values that are wrong, and with others in place of numbers. Values that it must have are
//! filled in, differently. A problem that is reported both times in the same form does not depend on them.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::place::{self, Step};
use super::rules::{Mistakes, Odd, Rules};
use crate::error::Problem;

/// Most problems that may hide one another in a row.
const ROUNDS: usize = 8;

/// What stands for a wrong number: as a time, a rate, a size or a count nothing out of the way.
const OTHER: u64 = 7;

/// From so many equal problems on, they are reported as one.
const MANY: usize = 4;

impl Rules {
    /// Every problem of a document: those `known`, which `probe` reports or which are of form, and those that they hide.
    /// `probe` reports the problems at first sight of a document of valid form.
    pub fn with_hidden(
        &self,
        document: &Value,
        problems: Vec<Problem>,
        probe: &mut dyn FnMut(&Value) -> Vec<Problem>,
    ) -> Vec<Problem> {
        if problems.is_empty() {
            return problems;
        }
        let mut hidden_paths = places(&self.mistakes(document, &Odd::new(), &[]));
        let is_only = hidden_paths.is_empty();
        // A value that JSON cannot have is null here.
        let odd = problems
            .iter()
            .map(|problem| place::steps(&problem.path))
            .filter(|steps| is_only || place::value(document, steps).is_some_and(Value::is_null));
        hidden_paths.extend(odd);
        let mut all = problems;
        for _ in 0..ROUNDS {
            let tries = [0, 1].map(|which| self.mend(document, &hidden_paths, which));
            let first = self.at_first_sight(&tries[0], probe);
            let second = if tries[0] == tries[1] {
                first.clone()
            } else {
                self.at_first_sight(&tries[1], probe)
            };
            let is_new = |problem: &Problem| {
                let steps = place::steps(&problem.path);
                !steps.is_empty()
                    && !hidden_paths
                        .iter()
                        .any(|problems| !problems.is_empty() && place::touches(&steps, problems))
            };
            let new: Vec<Problem> = first
                .into_iter()
                .filter(|problem| second.contains(problem) && is_new(problem))
                .collect();
            if new.is_empty() {
                break;
            }
            hidden_paths.extend(new.iter().map(|problem| place::steps(&problem.path)));
            all.extend(new);
        }
        all
    }

    fn at_first_sight(
        &self,
        document: &Value,
        probe: &mut dyn FnMut(&Value) -> Vec<Problem>,
    ) -> Vec<Problem> {
        if self.mistakes(document, &Odd::new(), &[]).problems.is_empty() {
            probe(document)
        } else {
            Vec::new()
        }
    }

    /// The document without the values at these places, or with others; what must be there filled in.
    fn mend(&self, document: &Value, wrong: &[Vec<Step>], which: usize) -> Value {
        let mut mended = document.clone();
        for steps in wrong {
            take_out(&mut mended, steps, which);
        }
        if which == 1 {
            // A number may not be what is expected there, or nothing at all.
            for steps in places(&self.mistakes(&mended, &Odd::new(), &[])) {
                take_out(&mut mended, &steps, 0);
            }
        }
        let missing = self.mistakes(&mended, &Odd::new(), &[]).missing;
        for (path, key, rules) in missing {
            let steps = place::steps(&path);
            let algorithm = rules.get("x-room").and_then(Value::as_str);
            let value = match algorithm {
                Some(room) => self.algorithm_name(room, which),
                None => make_replacement(&rules, which),
            };
            match value {
                Some(value) => {
                    let table = steps.iter().try_fold(&mut mended, place::inner);
                    if let Some(Value::Object(table)) = table {
                        table.insert(key, value);
                    }
                }
                // Nothing hangs on changes of links.
                None if steps.first() == Some(&Step::Key("links".to_owned())) => {
                    if let Value::Object(table) = &mut mended {
                        table.remove("links");
                    }
                }
                None => {}
            }
        }
        mended
    }
}

/// Where values of wrong form are, and missing ones.
fn places(mistakes: &Mistakes) -> Vec<Vec<Step>> {
    let is_missing = |path: &str, message: &str| {
        mistakes
            .missing
            .iter()
            .any(|(of, key, _)| of == path && message.starts_with(&format!("\"{key}\" is missing")))
    };
    let wrong =
        mistakes.problems.iter().filter(|problem| !is_missing(&problem.path, &problem.message));
    let missing = mistakes.missing.iter().map(|(path, key, _)| {
        let mut steps = place::steps(path);
        steps.push(Step::Key(key.clone()));
        steps
    });
    wrong.map(|problem| place::steps(&problem.path)).chain(missing).collect()
}

/// Takes out a value, or the list of values that it is one of; the second time a number becomes another.
fn take_out(document: &mut Value, steps: &[Step], which: usize) {
    let mut value = document;
    for (i, step) in steps.iter().enumerate() {
        let is_entry = i + 2 == steps.len()
            && matches!(steps[i + 1], Step::Index(_))
            && !holds_tables(value, step);
        if i + 1 == steps.len() || is_entry {
            if let (Value::Object(table), Step::Key(key)) = (value, step) {
                let old = table.shift_remove(key);
                if which == 1 && old.is_some_and(|old| is_number(&old)) {
                    table.insert(key.clone(), OTHER.into());
                }
            }
            return;
        }
        let Some(inner) = place::inner(value, step) else { return };
        value = inner;
    }
}

/// Whether it is a number, or the text of a quantity.
fn is_number(value: &Value) -> bool {
    value.is_number()
        || value.as_str().is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
}

fn holds_tables(value: &Value, step: &Step) -> bool {
    let Step::Key(key) = step else { return false };
    let list = value.get(key).and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(Value::is_object))
}

/// What stands for a value that must be there.
fn make_replacement(rules: &Value, which: usize) -> Option<Value> {
    let kind = rules.get("x-quantity").or_else(|| rules.get("type")).and_then(Value::as_str)?;
    let values = match kind {
        "rate" => [json!(1e6), json!(1e9)],
        "duration" => [json!(0.05), json!(600.0)],
        "integer" => [json!(4), json!(1000)],
        _ => return None,
    };
    values.into_iter().nth(which)
}

/// Problems of which those that say the same of entries of one list, four or more, are one with their count.
pub fn join(problems: Vec<Problem>) -> Vec<Problem> {
    let alike = |problem: &Problem| {
        let message = match &problem.value {
            Some(value) if !value.is_empty() => problem.message.replace(value.as_str(), "_"),
            _ => problem.message.clone(),
        };
        (place::drop_numbers(&problem.path), message)
    };
    let mut counts: HashMap<_, usize> = HashMap::new();
    for problem in &problems {
        *counts.entry(alike(problem)).or_default() += 1;
    }
    let mut joined = Vec::new();
    for mut problem in problems {
        let key = alike(&problem);
        match counts.get(&key).copied() {
            Some(count) if count >= MANY && key.0 != problem.path => {
                let _ = write!(problem.message, " (and {} more at {})", count - 1, key.0);
                counts.insert(key, 0);
                joined.push(problem);
            }
            Some(0) => {}
            _ => joined.push(problem),
        }
    }
    joined
}
