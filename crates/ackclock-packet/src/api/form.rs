//! The form of scenarios, checked before they are read.

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::{list_algorithms, schema};
use crate::error::Problem;
use crate::registry::{Form, Odd, Rooms, Rules, join};

/// The rules of what programs made for the engine.
static RULES: LazyLock<Rules> = LazyLock::new(|| rules(Form::Made));

/// The rules of what people write.
static WRITTEN: LazyLock<Rules> = LazyLock::new(|| rules(Form::Written));

fn rules(form: Form) -> Rules {
    let rooms = Rooms::of_catalogue(&list_algorithms());
    let schema = serde_json::from_str(&schema()).unwrap_or_default();
    Rules::of_schema(schema, Arc::new(rooms), form)
}

/// What is wrong with the form of a scenario; nothing of a text that is not JSON.
pub(super) fn problems(text: &str) -> Vec<Problem> {
    let document = serde_json::from_str::<Value>(text).ok();
    document.map_or_else(Vec::new, |document| RULES.mistakes(&document, &Odd::new(), &[]).problems)
}

/// As [`problems`], of what a person wrote: quantities need their units.
pub(super) fn typed_problems(text: &str) -> Vec<Problem> {
    let everywhere = [String::new()];
    let document = serde_json::from_str::<Value>(text).ok();
    document.map_or_else(Vec::new, |document| {
        WRITTEN.mistakes(&document, &Odd::new(), &everywhere).problems
    })
}

/// Everything that is wrong with a scenario that was refused: its form, else what was found, and what that hides.
/// `probe` finds the problems at first sight of a scenario of valid form.
pub(super) fn explain_refusal(
    text: &str,
    reported: Vec<Problem>,
    probe: &mut dyn FnMut(&Value) -> Vec<Problem>,
) -> Vec<Problem> {
    let form = problems(text);
    with_hidden(text, if form.is_empty() { reported } else { form }, probe)
}

/// The problems that are known of a scenario, and those that they hide; equal ones joined.
pub(super) fn with_hidden(
    text: &str,
    known_problems: Vec<Problem>,
    probe: &mut dyn FnMut(&Value) -> Vec<Problem>,
) -> Vec<Problem> {
    match serde_json::from_str::<Value>(text) {
        Ok(document) => join(RULES.with_hidden(&document, known_problems, probe)),
        Err(_) => known_problems,
    }
}
