//! The registry: every algorithm of a room by name, with its parameters' schema and its source.
//!
//! A new algorithm is one file that implements [`About`] and one line in the room's `registry!`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::error::{Problem, suggestion};

/// How far an implementation follows a published text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The published specification was followed.
    Specified,
    /// The original text was not to be had; rebuilt from the sources named.
    Reconstructed,
    /// Deviates on purpose, as described.
    Variant,
}

/// What an algorithm is and where it comes from.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Info {
    /// Registry name, kebab-case.
    pub name: &'static str,
    /// Title in words.
    pub title: &'static str,
    /// Citation with section and DOI or RFC number.
    pub source: &'static str,
    /// How far the source was followed.
    pub status: Status,
}

/// Implemented by every algorithm: its parameters, its identity, its constructor.
///
/// `Env` is what the room tells a new instance about its surroundings.
pub trait About<Env>: Sized {
    /// Parameters with documented fields; their `Default` is the only place defaults live.
    type Params: Default + Serialize + DeserializeOwned + JsonSchema;
    /// Identity and source.
    const INFO: Info;
    /// Builds an instance. An error is one sentence that names the parameter and what it may be.
    fn new(params: Self::Params, env: &Env) -> Result<Self, String>;
}

/// An algorithm as a scenario names it: a bare name, or a table with `kind` and parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Spec {
    /// Name only; all parameters at their defaults.
    Name(String),
    /// `{ kind = "name", parameter = value, .. }`.
    Table(Map<String, Value>),
}

impl Spec {
    /// The registry name, or "" where `kind` is missing or not a string.
    pub fn kind(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Table(table) => table.get("kind").and_then(Value::as_str).unwrap_or(""),
        }
    }

    /// The parameters without `kind`.
    pub fn params(&self) -> Value {
        match self {
            Self::Name(_) => Value::Object(Map::new()),
            Self::Table(table) => Value::Object(
                table
                    .iter()
                    .filter(|(k, _)| *k != "kind")
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect(),
            ),
        }
    }
}

impl From<&str> for Spec {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

/// One line of `ackclock list`.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// Identity and source.
    #[serde(flatten)]
    pub info: Info,
    /// Rust file of the algorithm, from which its page of the reference is made.
    pub file: &'static str,
    /// JSON Schema of the parameters, defaults included.
    pub params: Value,
}

/// Parses parameters and builds an algorithm; used by the macro below.
pub fn build<Env, A: About<Env>>(spec: &Spec, env: &Env, path: &str) -> Result<A, Problem> {
    A::new(params::<Env, A>(spec, path)?, env).map_err(|e| {
        let message = format!("{}: {e}", A::INFO.name);
        // The sentence begins with the parameter at fault; that may be one which was not given.
        match words(&e).next().filter(|word| params_of(spec).any(|key| key == *word)) {
            Some(key) => Problem::new(format!("{path}.{key}"), message),
            None => Problem::new(path, message),
        }
    })
}

fn params<Env, A: About<Env>>(spec: &Spec, path: &str) -> Result<A::Params, Problem> {
    // Most have none, and it is asked of every flow and link of a network.
    if params_of(spec).next().is_none() {
        return Ok(A::Params::default());
    }
    let params = spec.params();
    let known: Vec<String> = known_fields::<Env, A>();
    if let Value::Object(given) = &params {
        for key in given.keys() {
            if !known.iter().any(|k| k == key) {
                let names: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(Problem::new(
                    format!("{path}.{key}"),
                    format!(
                        "{} has no parameter \"{key}\"; {}",
                        A::INFO.name,
                        suggestion(key, &names)
                    ),
                ));
            }
        }
    }
    serde_json::from_value(params)
        .map_err(|e| Problem::new(path, format!("parameters of {}: {e}", A::INFO.name)))
}

/// The names of the parameters that are given.
fn params_of(spec: &Spec) -> impl Iterator<Item = &String> {
    let table = match spec {
        Spec::Name(_) => None,
        Spec::Table(table) => Some(table),
    };
    table.into_iter().flat_map(Map::keys).filter(|key| *key != "kind")
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Builds what `spec` names, or tells all that is wrong with its parameters: one that a sentence is about is
/// left out, and it is built again.
pub fn build_or_report_all<T>(
    spec: &Spec,
    build: impl Fn(&Spec) -> Result<T, Problem>,
) -> Result<T, Vec<Problem>> {
    let mut problem = match build(spec) {
        Ok(made) => return Ok(made),
        Err(problem) => problem,
    };
    let (mut rest, mut left_out, mut problems) = (spec.clone(), Vec::new(), Vec::new());
    loop {
        let about = |key: &String| words(&problem.message).any(|word| word == key);
        let blamed = |key: &&String| problem.path.rsplit('.').next() == Some(key);
        let named =
            params_of(&rest).find(blamed).or_else(|| params_of(&rest).find(|key| about(key)));
        let named = named.cloned();
        // What is said of one that was left out would hold of its default only.
        if !left_out.iter().any(about) {
            problems.push(problem);
        }
        match (&mut rest, named) {
            (Spec::Table(table), Some(key)) => {
                table.remove(&key);
                left_out.push(key);
            }
            _ => return Err(problems),
        }
        problem = match build(&rest) {
            Ok(_) => return Err(problems),
            Err(next) => next,
        };
    }
}

fn known_fields<Env, A: About<Env>>() -> Vec<String> {
    match serde_json::to_value(A::Params::default()) {
        Ok(Value::Object(map)) => map.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The catalogue entry of one algorithm.
pub fn entry<Env, A: About<Env>>(file: &'static str) -> Entry {
    let mut params = schemars::schema_for!(A::Params).to_value();
    // Defaults come from `Default` alone: written into the schema here, so they cannot disagree.
    if let Ok(Value::Object(defaults)) = serde_json::to_value(A::Params::default())
        && let Some(Value::Object(properties)) = params.get_mut("properties")
    {
        for (key, value) in defaults {
            if let Some(Value::Object(property)) = properties.get_mut(&key) {
                property.insert("default".to_owned(), value);
            }
        }
    }
    // Parameters that share a part by `flatten` do not say so themselves; `build` refuses all others.
    if let Value::Object(schema) = &mut params {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Entry { info: A::INFO, file, params }
}

/// Declares a room's registry: `build(spec, env, path)` and `catalogue()`.
#[macro_export]
macro_rules! registry {
    ($(#[$doc:meta])* $room:literal: $object:ty, $env:ty { $($file:literal => $algorithm:ty),+ $(,)? }) => {
        $(#[$doc])*
        pub fn build(
            spec: &$crate::registry::Spec,
            env: &$env,
            path: &str,
        ) -> Result<Box<$object>, $crate::error::Problem> {
            $(
                if spec.kind() == <$algorithm as $crate::registry::About<$env>>::INFO.name {
                    return $crate::registry::build::<$env, $algorithm>(spec, env, path)
                        .map(|a| Box::new(a) as Box<$object>);
                }
            )+
            let names = [$(<$algorithm as $crate::registry::About<$env>>::INFO.name),+];
            Err($crate::error::Problem::new(
                path,
                format!(
                    "there is no {} \"{}\"; {}",
                    $room,
                    spec.kind(),
                    $crate::error::suggestion(spec.kind(), &names)
                ),
            ))
        }

        /// Every algorithm of this room.
        pub fn catalogue() -> Vec<$crate::registry::Entry> {
            vec![$($crate::registry::entry::<$env, $algorithm>($file)),+]
        }
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::cc::{self, CcEnv};
    use crate::scenario::Era;

    fn told(spec: Value) -> Vec<String> {
        let spec = serde_json::from_value(spec).unwrap();
        let env = CcEnv { mss: 1000, wire_size: 1000, era: Era::Rfc };
        let made = build_or_report_all(&spec, |spec| cc::build(spec, &env, "cc"));
        made.err().unwrap_or_default().into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn all_parameters_at_fault_are_told_by_name() {
        assert_eq!(told(json!({ "kind": "cubic", "beta": 2, "c": -1 })), ["cc.c", "cc.beta"]);
        assert_eq!(
            told(json!({ "kind": "cubic", "beta": 2, "gamma": 1 })),
            ["cc.gamma", "cc.beta"]
        );
        assert!(told(json!({ "kind": "cubic", "beta": 0.7 })).is_empty());
        assert_eq!(told(json!("cubik")), ["cc"]);
    }

    /// A bare name is built with the defaults, so there must be one for each parameter.
    #[test]
    fn no_parameter_must_be_given() {
        let rooms: Value = serde_json::from_str(&crate::api::catalogue()).unwrap();
        let entries = rooms.as_object().unwrap().values().flat_map(|room| room.as_array().unwrap());
        let mut count = 0;
        for entry in entries {
            let params = &entry["params"];
            assert!(params.is_object() && params.get("required").is_none(), "{}", entry["name"]);
            count += 1;
        }
        assert!(count > 50, "{count} algorithms");
    }

    #[test]
    fn what_holds_of_a_default_only_is_not_told() {
        // Without its alpha, that beta is below the default of alpha.
        assert_eq!(told(json!({ "kind": "fast", "alpha": -1, "beta": 2 })), ["cc.alpha"]);
        assert_eq!(told(json!({ "kind": "fast", "alpha": 3, "beta": 2 })), ["cc.beta"]);
    }
}
