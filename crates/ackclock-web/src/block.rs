//! One answer as one run of bytes: a JSON head, then columns as little-endian arrays.
//!
//! Layout: length of the head in bytes as a `u32`, four bytes of padding, the head, padding to a
//! multiple of 8, the columns. Each column begins at a multiple of 8, so that the host can view it
//! without copying. The head of a run is
//! `{"summary": .., "tables": {table: {column: {"type", "at", "rows", "words"?}}}}`, where `at`
//! counts from the first byte behind the head's padding. A column of few distinct words is sent as
//! `u32` indices into `words`.

use std::collections::HashMap;

use ackclock_core::api::{Column, Columns};
use serde_json::{Map, Value, json};

/// Every array begins at a multiple of this.
const ALIGNMENT: usize = 8;
/// So many words are looked for one after another.
const FEW: usize = 8;

/// A block with a head and no columns.
pub fn of_text(head: &str) -> Vec<u8> {
    of_parts(head, &[])
}

/// A block with the summary of a run and its tables.
pub fn of_run(summary: &str, tables: Vec<(&'static str, Columns)>) -> Vec<u8> {
    let mut body = Vec::new();
    let tables = append_tables(&mut body, tables);
    let summary: Value = serde_json::from_str(summary).unwrap_or(Value::Null);
    of_parts(&json!({ "summary": summary, "tables": tables }).to_string(), &body)
}

/// A block with tables.
pub fn of_tables(tables: Vec<(&'static str, Columns)>) -> Vec<u8> {
    let mut body = Vec::new();
    let tables = append_tables(&mut body, tables);
    of_parts(&json!({ "tables": tables }).to_string(), &body)
}

/// Appends tables to the body and describes them for the head.
fn append_tables(body: &mut Vec<u8>, tables: Vec<(&'static str, Columns)>) -> Value {
    let mut described = Map::new();
    for (name, columns) in tables {
        let mut table = Map::new();
        for (title, column) in columns {
            table.insert(title.to_owned(), append(body, column));
        }
        described.insert(name.to_owned(), Value::Object(table));
    }
    Value::Object(described)
}

fn of_parts(head: &str, body: &[u8]) -> Vec<u8> {
    let mut block = Vec::with_capacity(ALIGNMENT + head.len() + ALIGNMENT + body.len());
    block.extend_from_slice(&(head.len() as u32).to_le_bytes());
    block.resize(ALIGNMENT, 0);
    block.extend_from_slice(head.as_bytes());
    pad(&mut block);
    block.extend_from_slice(body);
    block
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

/// Appends a column to the body and describes it for the head.
fn append(body: &mut Vec<u8>, column: Column) -> Value {
    let offset = body.len();
    let described = match column {
        Column::F64(values) => {
            extend(body, values.iter().map(|v| v.to_le_bytes()));
            json!({ "type": "f64", "at": offset, "rows": values.len() })
        }
        // Counts below 2^53 are exact as JavaScript's numbers; larger ones do not occur.
        Column::U64(values) => {
            extend(body, values.iter().map(|&v| (v as f64).to_le_bytes()));
            json!({ "type": "f64", "at": offset, "rows": values.len() })
        }
        Column::U32(values) => {
            extend(body, values.iter().map(|v| v.to_le_bytes()));
            json!({ "type": "u32", "at": offset, "rows": values.len() })
        }
        Column::Bool(values) => {
            extend(body, values.iter().map(|&v| [u8::from(v)]));
            json!({ "type": "u8", "at": offset, "rows": values.len() })
        }
        Column::Text(values) => words(body, offset, &values),
        Column::Names(values) => words(body, offset, &values),
    };
    pad(body);
    described
}

/// Room first, then the values: a browser runs this before it has optimised it, so each step counts.
fn extend<const WIDTH: usize>(
    body: &mut Vec<u8>,
    values: impl ExactSizeIterator<Item = [u8; WIDTH]>,
) {
    let offset = body.len();
    body.resize(offset + WIDTH * values.len(), 0);
    let (room, _) = body[offset..].as_chunks_mut::<WIDTH>();
    for (slot, value) in room.iter_mut().zip(values) {
        *slot = value;
    }
}

/// Distinct words once, in the order in which they first occur, and an index for each row.
fn words<Word: AsRef<str>>(body: &mut Vec<u8>, offset: usize, values: &[Word]) -> Value {
    let mut index = HashMap::new();
    let mut distinct: Vec<&str> = Vec::new();
    let mut number_of = |word| {
        // Most tables have a few words, which comparing finds sooner than hashing.
        let earlier = distinct.iter().take(FEW).position(|&other| other == word);
        earlier.map_or_else(
            || {
                *index.entry(word).or_insert_with(|| {
                    distinct.push(word);
                    distinct.len() as u32 - 1
                })
            },
            |number| number as u32,
        )
    };
    extend(body, values.iter().map(|value| number_of(value.as_ref()).to_le_bytes()));
    json!({ "type": "u32", "at": offset, "rows": values.len(), "words": distinct })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &[u8]) -> (Value, Vec<u8>) {
        let length = u32::from_le_bytes(block[..4].try_into().expect("four bytes")) as usize;
        let head = serde_json::from_slice(&block[8..8 + length]).expect("a JSON head");
        (head, block[(8 + length).next_multiple_of(8)..].to_vec())
    }

    #[test]
    fn more_words_than_a_few_keep_their_numbers() {
        let names: Vec<String> = (0..20).chain(0..20).rev().map(|n| format!("n{n}")).collect();
        let mut body = Vec::new();
        let described = append(&mut body, Column::Names(names.clone()));
        let list = described["words"].as_array().expect("a list of words");
        assert_eq!(list.len(), 20);
        for (row, name) in names.iter().enumerate() {
            let number = u32::from_le_bytes(body[4 * row..4 * row + 4].try_into().expect("four"));
            assert_eq!(list[number as usize], json!(name));
        }
    }

    #[test]
    fn every_column_is_found_where_the_head_says() {
        let tables = vec![(
            "flows",
            vec![
                ("yes", Column::Bool(vec![true, false, true])),
                ("cwnd", Column::F64(vec![1.5, -2.0, 1e300])),
                ("count", Column::U64(vec![1, 2, 1 << 40])),
                ("flow", Column::U32(vec![7, 8, 9])),
                ("state", Column::Text(vec!["loss", "idle", "loss"])),
            ],
        )];
        let (head, body) = read(&of_run(r#"{"seed": 3}"#, tables));
        let flows = &head["tables"]["flows"];
        let offset = |name: &str| flows[name]["at"].as_u64().expect("an offset") as usize;
        let f64_of = |name: &str, row: usize| {
            let from = offset(name) + 8 * row;
            f64::from_le_bytes(body[from..from + 8].try_into().expect("eight bytes"))
        };
        assert_eq!(head["summary"]["seed"], 3);
        assert_eq!(&body[offset("yes")..offset("yes") + 3], &[1, 0, 1]);
        assert_eq!((f64_of("cwnd", 0), f64_of("cwnd", 2)), (1.5, 1e300));
        assert_eq!(f64_of("count", 2), 1_099_511_627_776.0);
        assert_eq!(body[offset("flow") + 4], 8);
        assert_eq!(flows["state"]["words"], json!(["loss", "idle"]));
        assert_eq!((body[offset("state") + 4], body[offset("state") + 8]), (1, 0));
        assert!(
            flows
                .as_object()
                .expect("a table")
                .values()
                .all(|c| c["at"].as_u64().expect("at") % 8 == 0)
        );
    }
}
