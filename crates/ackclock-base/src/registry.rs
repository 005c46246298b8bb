//! The registry: every algorithm of a room by name, with its parameters' schema and its source.
//!
//! A new algorithm is one file that implements [`About`] and one line in the room's `registry!`.

mod hidden;
mod place;
mod ranges;
mod rooms;
mod rules;
mod sentences;

pub use hidden::join;
pub use ranges::{Range, Ranges};
pub use rooms::Rooms;
pub use rules::{Form, Mistakes, Odd, OddValue, Rules};
pub use sentences::range;

use std::fmt;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::de::{self, DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::error::{Problem, inside};

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
    /// The code of a released library, not ours.
    Shipped,
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

/// What the rest of the program may rely on of an algorithm, beyond its room's trait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// A queue discipline that gives each flow its share of the link, whatever others send, without a list
    /// of classes. Those that share between classes (WRR, H-PFQ, priorities) do not, nor do AQMs that
    /// only drop more of large flows.
    Fair,
    /// A sender policy that may offer more than its own link carries.
    Overdrives,
    /// A congestion control that couples the windows of a connection's subflows.
    Coupled,
}

/// Implemented by every algorithm: its parameters, its identity, its constructor.
///
/// `Env` is what a new instance knows about its surroundings.
pub trait About<Env>: Sized {
    /// Parameters with documented fields. Each range and unit is in an attribute of the field, each
    /// default in `Default`, and nowhere else.
    type Params: Default + Serialize + DeserializeOwned + JsonSchema;
    /// Identity and source.
    const INFO: Info;
    /// Other names under which the field knows it; a scenario may have any of them.
    const ALSO: &'static [&'static str] = &[];
    /// What others may rely on; most have nothing to say here.
    const FACTS: &'static [Fact] = &[];
    /// Builds an instance from parameters that are in range.
    ///
    /// # Errors
    /// Parameters that contradict each other or the surroundings; paths are relative to the algorithm.
    fn new(params: Self::Params, env: &Env) -> Result<Self, Vec<Problem>>;
}

/// An algorithm as a scenario names it: a bare name, or a table with `kind` and parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

    /// The same algorithm by its name in the registry, where it was named otherwise; a name that `registry_name`
    /// does not know stays.
    #[must_use]
    pub fn by_registry_name(&self, registry_name: impl Fn(&str) -> Option<&'static str>) -> Self {
        match (registry_name(self.kind()), self) {
            (Some(name), Self::Name(_)) => Self::from(name),
            (Some(name), Self::Table(table)) if name != self.kind() => {
                let mut table = table.clone();
                table.insert("kind".to_owned(), name.into());
                Self::Table(table)
            }
            _ => self.clone(),
        }
    }

    /// The parameters without `kind`.
    pub fn params(&self) -> Map<String, Value> {
        match self {
            Self::Name(_) => Map::new(),
            Self::Table(table) => table
                .iter()
                .filter(|(k, _)| *k != "kind")
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect(),
        }
    }
}

/// Without the copy that a derived choice makes of its input: a table may hold a trace of a million entries.
impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Form;

        impl<'de> Visitor<'de> for Form {
            type Value = Spec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an algorithm, or a table with its kind")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Spec, E> {
                Ok(Spec::from(name))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<Spec, A::Error> {
                Map::deserialize(MapAccessDeserializer::new(table)).map(Spec::Table)
            }
        }

        from.deserialize_any(Form)
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
    /// Other names.
    pub also: &'static [&'static str],
    /// What others may rely on.
    pub facts: &'static [Fact],
    /// Rust file of the algorithm, from which its page of the reference is made.
    pub file: &'static str,
    /// JSON Schema of the parameters, defaults included.
    pub params: Value,
}

/// Parses parameters and builds an algorithm; used by the macro below.
///
/// # Errors
/// Every parameter that is unknown, has the wrong form or is out of its range; where there is none, what
/// [`About::new`] refuses.
pub fn build<Env, A: About<Env>>(
    spec: &Spec,
    env: &Env,
    path: &str,
    rules: &LazyLock<Rules>,
) -> Result<A, Vec<Problem>> {
    // Most have no parameters, and every flow and link of a network comes by here.
    let params = match spec {
        Spec::Table(table) if table.keys().any(|key| key != "kind") => {
            let problems = rules.problems(table);
            if !problems.is_empty() {
                return Err(inside(path, problems));
            }
            // By reference: a copy of a long trace would take as long as all else.
            let params = table.iter().filter(|(key, _)| *key != "kind");
            let params = params.map(|(key, value)| (key.as_str(), value));
            A::Params::deserialize(MapDeserializer::new(params)).map_err(
                |e: serde_json::Error| {
                    Problem::new(path, format!("parameters of {}: {e}", A::INFO.name))
                },
            )?
        }
        Spec::Name(_) | Spec::Table(_) => A::Params::default(),
    };
    A::new(params, env).map_err(|problems| inside(path, problems))
}

/// Whether an algorithm has a name, in the registry or besides.
pub fn is_called<Env, A: About<Env>>(name: &str) -> bool {
    name == A::INFO.name || A::ALSO.contains(&name)
}

/// An algorithm in the one form that all spellings of it share: the registry's name, and the parameters that are
/// not their defaults, as the core writes them. One that cannot be read stays.
pub fn canonical<Env, A: About<Env>>(spec: &Spec) -> Spec {
    let name = Spec::from(A::INFO.name);
    let params = spec.params();
    if params.is_empty() {
        return name;
    }
    let read = A::Params::deserialize(Value::Object(params)).ok();
    let written = read.and_then(|params| serde_json::to_value(params).ok());
    let (Some(Value::Object(mut table)), Ok(defaults)) =
        (written, serde_json::to_value(A::Params::default()))
    else {
        return spec.clone();
    };
    table.retain(|key, value| defaults.get(key) != Some(value) && !value.is_null());
    if table.is_empty() {
        return name;
    }
    table.insert("kind".to_owned(), A::INFO.name.into());
    Spec::Table(table)
}

/// The catalogue entry of one algorithm.
pub fn entry<Env, A: About<Env>>(file: &'static str) -> Entry {
    let params = Rules::of::<A::Params>().into_schema();
    Entry { info: A::INFO, also: A::ALSO, facts: A::FACTS, file, params }
}

/// Declares a room's registry: `build(spec, env, path)`, `names()`, `registry_name(name)`, `canonical(spec)` and
/// `catalogue()`.
#[macro_export]
macro_rules! registry {
    ($(#[$doc:meta])* $room:literal: $object:ty, $env:ty { $($file:literal => $algorithm:ty),+ $(,)? }) => {
        $(#[$doc])*
        pub fn build(
            spec: &$crate::registry::Spec,
            env: &$env,
            path: &str,
        ) -> Result<Box<$object>, Vec<$crate::error::Problem>> {
            $(
                if $crate::registry::is_called::<$env, $algorithm>(spec.kind()) {
                    static RULES: std::sync::LazyLock<$crate::registry::Rules> =
                        std::sync::LazyLock::new(
                            $crate::registry::Rules::of::<<$algorithm as $crate::registry::About<$env>>::Params>,
                        );
                    return $crate::registry::build::<$env, $algorithm>(spec, env, path, &RULES)
                        .map(|a| Box::new(a) as Box<$object>);
                }
            )+
            let names = [
                names(),
                $(<$algorithm as $crate::registry::About<$env>>::ALSO.to_vec()),+
            ]
            .concat();
            let what = format!("there is no {} \"{}\"", $room, spec.kind());
            Err($crate::error::Problem::unknown(path, &what, spec.kind(), &names).into())
        }

        /// Names of the algorithms of this room.
        pub fn names() -> Vec<&'static str> {
            vec![$(<$algorithm as $crate::registry::About<$env>>::INFO.name),+]
        }

        /// The registry's name of the algorithm that is called so, by that or another of its names.
        pub fn registry_name(name: &str) -> Option<&'static str> {
            $(
                if $crate::registry::is_called::<$env, $algorithm>(name) {
                    return Some(<$algorithm as $crate::registry::About<$env>>::INFO.name);
                }
            )+
            None
        }

        /// The algorithm in the one form that all spellings of it share; what this room does not know stays.
        pub fn canonical(spec: &$crate::registry::Spec) -> $crate::registry::Spec {
            $(
                if $crate::registry::is_called::<$env, $algorithm>(spec.kind()) {
                    return $crate::registry::canonical::<$env, $algorithm>(spec);
                }
            )+
            spec.clone()
        }

        /// Every algorithm of this room.
        pub fn catalogue() -> Vec<$crate::registry::Entry> {
            vec![$($crate::registry::entry::<$env, $algorithm>($file)),+]
        }
    };
}

/// What is said of parameters that cannot be, for tests: `path: message`, one a line.
#[cfg(any(test, feature = "testing"))]
pub fn refusal<Env, A: About<Env>>(params: impl Serialize, env: &Env) -> String {
    let Ok(Value::Object(mut table)) = serde_json::to_value(params) else { return String::new() };
    table.insert("kind".to_owned(), A::INFO.name.into());
    let rules = LazyLock::new(Rules::of::<A::Params> as fn() -> Rules);
    let built = build::<Env, A>(&Spec::Table(table), env, "", &rules);
    let lines = built.err().unwrap_or_default();
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
