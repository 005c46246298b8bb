//! TOML as a person writes it: read with places of what is wrong, edited with comments kept.

use serde::Serialize;
use serde_json::{Value, json};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TableLike};

/// The text as JSON: `{"data": ..}`, or `{"problems": [{path, message, from, to}]}` with the place
/// in the text, in bytes.
pub fn read(text: &str) -> Value {
    match toml_edit::de::from_str::<Value>(text) {
        Ok(data) => json!({ "data": data }),
        Err(error) => {
            let (from, to) = error.span().map_or((0, 0), |span| (span.start, span.end));
            json!({ "problems": [{ "path": "", "message": error.message(), "from": from, "to": to }] })
        }
    }
}

/// The text with one value changed, or taken out if it is null: `{"text": ..}` or `{"error": ..}`.
///
/// `path` holds names of keys and indices of lists; tables on the way are made as needed.
pub fn edit(text: &str, path: &[Value], value: &Value) -> Value {
    let edited = || -> Result<String, String> {
        let mut document: DocumentMut =
            text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
        set(document.as_table_mut(), path, value)?;
        Ok(document.to_string())
    };
    match edited() {
        Ok(text) => json!({ "text": text }),
        Err(error) => json!({ "error": error }),
    }
}

fn set(table: &mut dyn TableLike, path: &[Value], value: &Value) -> Result<(), String> {
    let [Value::String(key), tail @ ..] = path else {
        return Err(String::from("expected the name of a key"));
    };
    match tail {
        [] if value.is_null() => {
            table.remove(key);
        }
        [] => put(table, key, value)?,
        [Value::Number(index), tail @ ..] => {
            let index = index.as_u64().unwrap_or(u64::MAX) as usize;
            let list = table
                .entry(key)
                .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()))
                .as_array_of_tables_mut()
                .ok_or_else(|| format!("`{key}` is no list of tables"))?;
            set_in_list(list, index, tail, value)?;
        }
        tail => {
            let below = table.entry(key).or_insert_with(toml_edit::table);
            if below.is_value() && !below.is_inline_table() {
                *below = to_table(below);
            }
            let below = below.as_table_like_mut().ok_or_else(|| format!("`{key}` is no table"))?;
            set(below, tail, value)?;
        }
    }
    Ok(())
}

/// `cc = "aimd"` as `cc = { kind = "aimd" }`, so that parameters have a place.
fn to_table(name: &Item) -> Item {
    let mut table = toml_edit::InlineTable::new();
    if let Some(name) = name.as_value() {
        table.insert("kind", name.clone().decorated("", ""));
    }
    toml_edit::value(table)
}

fn set_in_list(
    list: &mut ArrayOfTables,
    index: usize,
    tail: &[Value],
    value: &Value,
) -> Result<(), String> {
    if tail.is_empty() && value.is_null() {
        if index < list.len() {
            list.remove(index);
        }
        return Ok(());
    }
    if index == list.len() {
        list.push(Table::new());
    }
    let table = list.get_mut(index).ok_or_else(|| format!("there is no item {index}"))?;
    match (tail, value) {
        ([], Value::Object(all)) => {
            table.clear();
            all.iter().try_for_each(|(key, value)| put(table, key, value))
        }
        ([], _) => Err(String::from("an item is a table")),
        _ => set(table, tail, value),
    }
}

/// Writes a value under a key; a comment behind the old value stays.
fn put(table: &mut dyn TableLike, key: &str, value: &Value) -> Result<(), String> {
    let mut new = value
        .serialize(toml_edit::ser::ValueSerializer::new())
        .map_err(|error| error.to_string())?;
    if let Some(item) = table.get_mut(key) {
        if let Some(old) = item.as_value() {
            *new.decor_mut() = old.decor().clone();
        }
        *item = Item::Value(new);
    } else {
        table.insert(key, Item::Value(new));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A question.\nduration = \"60 s\" # one minute\n\n[net]\nrate = \"20 Mbps\"\n\n[[flows]]\nid = \"a\"\ncc = \"aimd\"\n";

    fn edit_example(path: &Value, value: &Value) -> String {
        let path = path.as_array().expect("a path");
        edit(TEXT, path, value)["text"].as_str().expect("an edited text").to_owned()
    }

    #[test]
    fn an_edit_changes_its_line_only() {
        let text = edit_example(&json!(["duration"]), &json!("5 s"));
        assert_eq!(text, TEXT.replace("60 s", "5 s"));
        let text = edit_example(&json!(["net", "rate"]), &json!("1 Mbps"));
        assert_eq!(text, TEXT.replace("20 Mbps", "1 Mbps"));
    }

    #[test]
    fn a_parameter_turns_a_name_into_a_table() {
        let text = edit_example(&json!(["flows", 0, "cc", "b"]), &json!(0.7));
        let data = &read(&text)["data"];
        assert_eq!(data["flows"][0]["cc"], json!({ "kind": "aimd", "b": 0.7 }));
        assert!(text.starts_with("# A question."));
    }

    #[test]
    fn items_are_added_and_taken_out() {
        let text = edit_example(&json!(["flows", 1]), &json!({ "id": "b", "cc": "cubic" }));
        assert_eq!(read(&text)["data"]["flows"][1], json!({ "id": "b", "cc": "cubic" }));
        let text = edit_example(&json!(["flows", 0]), &Value::Null);
        assert_eq!(
            read(&text)["data"].get("flows").map_or(0, |f| f.as_array().map_or(0, Vec::len)),
            0
        );
        let text = edit_example(&json!(["flows", 0, "id"]), &Value::Null);
        assert_eq!(read(&text)["data"]["flows"][0], json!({ "cc": "aimd" }));
    }

    #[test]
    fn a_fault_has_its_place() {
        let problem = &read("duration = \"60 s\"\nseed = = 3\n")["problems"][0];
        assert_eq!(problem["from"], 25);
        assert!(edit("a = = 1", &[json!("a")], &json!(2))["error"].is_string());
        assert!(
            edit(TEXT, &[json!("flows"), json!(7), json!("id")], &json!("x"))["error"].is_string()
        );
    }
}
