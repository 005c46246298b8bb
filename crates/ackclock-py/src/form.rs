//! Checks of documents by their schema: the core's rules on data of Python.

use std::fmt::Write as _;
use std::sync::Arc;

use ackclock_core::api;
use ackclock_core::error::{self, Problem};
use ackclock_core::registry::{self, Odd, OddValue, Rules, join};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value, json};

/// The algorithms that documents may name: a catalogue, as JSON.
#[pyclass(frozen, module = "ackclock._core")]
pub(crate) struct Rooms(Arc<registry::Rooms>);

#[pymethods]
impl Rooms {
    #[new]
    fn new(catalogue: &str) -> PyResult<Self> {
        Ok(Self(Arc::new(registry::Rooms::of_catalogue(&parse_json(catalogue)?))))
    }

    /// The algorithms that scenarios may name: the core's, and those of this build's libraries.
    #[staticmethod]
    fn offered() -> PyResult<Self> {
        let mut catalogue = list_algorithms();
        let bundled = parse_json(&super::shipped::catalogue())?;
        if let (Some(controls), Value::Array(bundled)) = (catalogue["cc"].as_array_mut(), bundled) {
            controls.extend(bundled);
        }
        Ok(Self(Arc::new(registry::Rooms::of_catalogue(&catalogue))))
    }
}

/// The core's catalogue, where the name of a file may take the place of a list that an algorithm replays.
pub(crate) fn list_algorithms() -> Value {
    let mut catalogue = api::list_algorithms();
    let rooms = catalogue.as_object_mut().into_iter().flat_map(Map::values_mut);
    for entry in rooms.filter_map(Value::as_array_mut).flatten() {
        let params = &mut entry["params"];
        let Some((key, file)) = replayed_parameter(params) else { continue };
        // Of a list that no CSV file holds the parameter says which file does.
        if let Some(description) = file {
            params["properties"]["file"] = json!({ "type": "string", "description": description });
            continue;
        }
        let definition = params["properties"][&key]["items"]["$ref"].as_str().unwrap_or_default();
        let name = definition.rsplit('/').next().unwrap_or_default();
        let columns = params["$defs"][name]["properties"].as_object();
        let columns: Vec<&str> =
            columns.into_iter().flat_map(Map::keys).map(String::as_str).collect();
        let description = format!(
            "CSV file with what {key} would list, columns {}; path relative to the scenario file.",
            columns.join(", ")
        );
        params["properties"]["file"] = json!({ "type": "string", "description": description });
    }
    catalogue
}

/// The parameter that is a list which may be in a file, and what that file is, if it is none of CSV.
fn replayed_parameter(params: &Value) -> Option<(String, Option<String>)> {
    let properties = params["properties"].as_object()?;
    properties.iter().find_map(|(key, rules)| match &rules["x-file"] {
        Value::Bool(true) => Some((key.clone(), None)),
        Value::String(file) => Some((key.clone(), Some(file.clone()))),
        _ => None,
    })
}

/// The form of a kind of documents: a JSON Schema and the algorithms that they may name.
#[pyclass(frozen, module = "ackclock._core")]
pub(crate) struct Form(Rules);

#[pymethods]
impl Form {
    #[new]
    fn new(schema: &str, rooms: &Rooms) -> PyResult<Self> {
        let rules = Rules::of_schema(
            parse_json(schema)?,
            Arc::clone(&rooms.0),
            registry::Form::WithClasses,
        );
        Ok(Self(rules))
    }

    /// Every problem of a document's form as JSON, equal ones joined. Quantities in `typed` places need their units.
    /// With `probe`, which gets a document of valid form as JSON and gives its problems at first sight as JSON, also those
    /// that are hidden by others.
    #[pyo3(signature = (document, typed, probe=None))]
    fn problems(
        &self,
        document: &Bound<'_, PyAny>,
        typed: Vec<String>,
        probe: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<String> {
        let (document, odd) = plain(document)?;
        let problems = self.0.mistakes(&document, &odd, &typed).problems;
        let all = match probe {
            Some(probe) if !problems.is_empty() => self.with_hidden(&document, problems, probe)?,
            _ => problems,
        };
        Ok(super::problems_json(&join(all)))
    }

    /// The problems of a document that those at other places hide, as JSON; `probe` is as that of `problems`.
    fn hidden(
        &self,
        document: &Bound<'_, PyAny>,
        places: Vec<String>,
        probe: &Bound<'_, PyAny>,
    ) -> PyResult<String> {
        let (document, _) = plain(document)?;
        let known_problems: Vec<Problem> =
            places.iter().map(|path| Problem::new(path, "")).collect();
        let count = known_problems.len();
        let all = self.with_hidden(&document, known_problems, probe)?;
        Ok(super::problems_json(&join(all[count..].to_vec())))
    }

    /// Where quantities without unit are, and which.
    fn bare(&self, document: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
        let (document, odd) = plain(document)?;
        Ok(self.0.mistakes(&document, &odd, &[]).bare)
    }
}

impl Form {
    fn with_hidden(
        &self,
        document: &Value,
        known_problems: Vec<Problem>,
        probe: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<Problem>> {
        let mut raised = None;
        let all = self.0.with_hidden(document, known_problems, &mut |mended| {
            let answer = probe
                .call1((mended.to_string(),))
                .and_then(|text| text.extract::<String>())
                .and_then(|text| problems(&text));
            answer.unwrap_or_else(|error| {
                raised.get_or_insert(error);
                Vec::new()
            })
        });
        raised.map_or(Ok(all), Err)
    }
}

fn parse_json(text: &str) -> PyResult<Value> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Problems from their JSON.
fn problems(text: &str) -> PyResult<Vec<Problem>> {
    let value = parse_json(text)?;
    let problem = |entry: &Value| {
        let text = |key: &str| entry[key].as_str().map(str::to_owned);
        Problem {
            value: text("value"),
            range: text("range"),
            nearest: text("nearest"),
            ..Problem::new(text("path").unwrap_or_default(), text("message").unwrap_or_default())
        }
    };
    Ok(value.as_array().into_iter().flatten().map(problem).collect())
}

/// Data of Python as JSON has them, and those that it cannot have.
fn plain(data: &Bound<'_, PyAny>) -> PyResult<(Value, Odd)> {
    let mut odd = Odd::new();
    let value = value_of(data, &mut String::new(), &mut odd)?;
    Ok((value, odd))
}

fn value_of(data: &Bound<'_, PyAny>, path: &mut String, odd: &mut Odd) -> PyResult<Value> {
    if data.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = data.cast::<PyString>() {
        return Ok(Value::String(text.to_string_lossy().into_owned()));
    }
    if let Ok(flag) = data.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    let here = path.len();
    if let Ok(table) = data.cast::<PyDict>() {
        let mut map = Map::with_capacity(table.len());
        for (key, inner) in table {
            let key = key.str()?.to_string_lossy().into_owned();
            if here > 0 {
                path.push('.');
            }
            path.push_str(&key);
            let inner = value_of(&inner, path, odd)?;
            path.truncate(here);
            map.insert(key, inner);
        }
        return Ok(Value::Object(map));
    }
    if data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>() {
        let mut list = Vec::with_capacity(data.len()?);
        for (i, inner) in data.try_iter()?.enumerate() {
            let _ = write!(path, "[{i}]");
            list.push(value_of(&inner?, path, odd)?);
            path.truncate(here);
        }
        return Ok(Value::Array(list));
    }
    if data.is_instance_of::<PyInt>() {
        if let Ok(integer) = data.extract::<i64>() {
            return Ok(integer.into());
        }
        if let Ok(integer) = data.extract::<u64>() {
            return Ok(integer.into());
        }
    }
    let is_number = data.is_instance_of::<PyInt>() || data.is_instance_of::<PyFloat>();
    let real = if is_number { data.extract::<f64>().ok() } else { None };
    let number = real.and_then(Number::from_f64);
    if data.is_instance_of::<PyInt>() || number.is_none() {
        let fault = match (is_number, real) {
            (true, Some(_)) => Some("is not a finite number"),
            (true, None) => Some("is too large for a number"),
            _ => None,
        };
        let text = if is_number && real.is_none() {
            // No more digits than anybody reads, and no work for millions of them.
            let digits = data.call_method0("bit_length")?.extract::<f64>()? * 2_f64.log10();
            let leading = data.call_method1("__floordiv__", (ten_to(data.py(), digits - 9.0)?,))?;
            format!("{}... ({} digits)", leading.str()?, digits.ceil())
        } else {
            shorten(&data.repr()?.to_string_lossy())
        };
        odd.insert(path.clone(), OddValue { text, fault });
    }
    Ok(number.map_or(Value::Null, Value::Number))
}

fn ten_to(py: Python<'_>, power: f64) -> PyResult<Bound<'_, PyAny>> {
    10_u64.into_pyobject(py)?.pow(power.max(0.0) as u64, py.None())
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// The valid name that was probably meant; None if none is near.
#[pyfunction]
pub(crate) fn nearest(given: &str, names: Vec<String>) -> Option<String> {
    error::nearest(given, names.iter().map(String::as_str)).map(str::to_owned)
}

/// Which name was probably meant, or the valid ones.
#[pyfunction]
pub(crate) fn suggestion(given: &str, names: Vec<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    error::suggestion(given, &names)
}
