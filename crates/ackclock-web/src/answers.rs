//! What the module answers: each function takes text and gives a block.

use ackclock_core::api::{self, Effort, Output, Part, Parts, RegistryOnly, RunError};
use ackclock_core::error::Problem;
use serde_json::{Value, json};

use crate::{block, toml_text};

/// The JSON Schema of scenarios and the catalogue of algorithms.
pub fn describe() -> Vec<u8> {
    let parsed = |text: String| serde_json::from_str::<Value>(&text).unwrap_or(Value::Null);
    let head = json!({
        "version": api::VERSION,
        "schema": parsed(api::schema()),
        "catalogue": parsed(api::catalogue()),
    });
    block::of_text(&head.to_string())
}

/// A TOML text as JSON; see [`toml_text::read`].
pub fn read_toml(text: &str) -> Vec<u8> {
    block::of_text(&toml_text::read(text).to_string())
}

/// A TOML text with one value changed; see [`toml_text::edit`]. `request` is
/// `{"text": .., "path": [..], "value": ..}`.
pub fn edit_toml(request: &str) -> Vec<u8> {
    let request: Value = serde_json::from_str(request).unwrap_or(Value::Null);
    let text = request["text"].as_str().unwrap_or_default();
    let path = request["path"].as_array().map_or(&[][..], Vec::as_slice);
    block::of_text(&toml_text::edit(text, path, &request["value"]).to_string())
}

/// What a scenario that a person typed amounts to: `{"explained": .., "layout": ..}`, or `{"problems": [..]}`.
pub fn explain(text: &str) -> Vec<u8> {
    let problems = api::check_typed(text);
    if !problems.is_empty() {
        return encode_problems(&problems);
    }
    let net = serde_json::from_str::<Value>(text).map(|s| s["net"].to_string());
    let layout = net.map_or_else(|_| Ok(String::from("null")), |net| api::layout(&net));
    let head = match (api::explain(text), layout) {
        (Ok(explained), Ok(layout)) => {
            format!(r#"{{"explained": {explained}, "layout": {layout}}}"#)
        }
        (Err(problems), _) | (_, Err(problems)) => return encode_problems(&problems),
    };
    block::of_text(&head)
}

/// Runs a scenario: the summary and the tables `flows`, `links` and `receivers`, or `{"problems": [..]}`.
///
/// `progress` gets the fraction done and the simulated time in seconds. `give` gets what is recorded while the run lasts,
/// each time as a block `{"tables": ..}` with later rows: whenever so many `rows` are held, and at the end.
pub fn run(
    text: &str,
    rows: usize,
    progress: &mut dyn FnMut(f64, f64),
    give: &mut dyn FnMut(Vec<u8>),
) -> Vec<u8> {
    let mut progress = |fraction, seconds| {
        progress(fraction, seconds);
        true
    };
    let mut take = |chunk: Part| {
        give(block::of_tables(chunk.tables));
        true
    };
    let chunks = Parts { rows, take: &mut take };
    match api::run_in_parts(text, &RegistryOnly, Effort::default(), &mut progress, chunks) {
        Ok(Output { summary, tables, .. }) => block::of_run(&summary, tables),
        Err(RunError::Input(problems)) => encode_problems(&problems),
        Err(RunError::Algorithm(message)) => encode_problems(&[Problem::new("", message)]),
        Err(RunError::Fault(broken)) => encode_problems(&[Problem::new(
            "",
            format!("a fault of the engine, please report it: {broken}"),
        )]),
        Err(RunError::Interrupted) => encode_problems(&[Problem::new("", "the run was stopped")]),
    }
}

fn encode_problems(problems: &[Problem]) -> Vec<u8> {
    block::of_text(&json!({ "problems": problems }).to_string())
}
