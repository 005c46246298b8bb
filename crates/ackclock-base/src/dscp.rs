//! Differentiated services code points: six bits by which routers choose a packet's class.
//!
//! Names are those of the standard per-hop behaviours: `default`, `cs0` to `cs7` (RFC 2474), `af11` to
//! `af43` (RFC 2597), `ef` (RFC 3246), `voice-admit` (RFC 5865), `le` (RFC 8622).

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::suggestion;

/// A code point, 0 to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

/// Names and their code points.
const NAMES: [(&str, u8); 24] = [
    ("default", 0),
    ("le", 1),
    ("cs0", 0),
    ("cs1", 8),
    ("cs2", 16),
    ("cs3", 24),
    ("cs4", 32),
    ("cs5", 40),
    ("cs6", 48),
    ("cs7", 56),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("voice-admit", 44),
    ("ef", 46),
];

impl Dscp {
    /// The code point of this number; `None` beyond six bits.
    pub fn new(value: u64) -> Option<Self> {
        u8::try_from(value).ok().filter(|&value| value < 64).map(Self)
    }

    /// Its number.
    pub fn value(self) -> u8 {
        self.0
    }
}

impl std::str::FromStr for Dscp {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.to_ascii_lowercase();
        if let Some(&(_, value)) = NAMES.iter().find(|(name, _)| *name == lower) {
            return Ok(Self(value));
        }
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        Err(format!(
            "\"{text}\" is not the name of a DSCP (a number is 0 to 63); {}",
            suggestion(&lower, &names)
        ))
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Raw {
    Number(i64),
    Text(String),
    Other(serde::de::IgnoredAny),
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match Raw::deserialize(d)? {
            Raw::Number(number) => {
                u64::try_from(number).ok().and_then(Self::new).ok_or_else(|| {
                    D::Error::custom(format!("is {number}, expected a DSCP of 0 to 63 or its name"))
                })
            }
            Raw::Text(text) => text.parse().map_err(D::Error::custom),
            Raw::Other(_) => {
                Err(D::Error::custom("expected a DSCP: a number of 0 to 63, or a name as \"ef\""))
            }
        }
    }
}

impl Serialize for Dscp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_u8(self.0)
    }
}

impl JsonSchema for Dscp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Dscp".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 0, "maximum": 63 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Dscp, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    #[test]
    fn names_and_numbers_are_those_of_the_rfcs() {
        // AFxy is 8 x + 2 y (RFC 2597), CSx is 8 x (RFC 2474), EF is 101110 (RFC 3246).
        for (name, value) in [("\"af23\"", 22), ("\"CS6\"", 48), ("\"ef\"", 46), ("63", 63)] {
            assert_eq!(read(name).unwrap().value(), value);
        }
    }

    #[test]
    fn what_is_no_code_point_is_refused() {
        assert!(read("64").unwrap_err().contains("is 64, expected a DSCP of 0 to 63"));
        assert!(read("-1").unwrap_err().contains("is -1"));
        assert!(read("\"eff\"").unwrap_err().contains("did you mean \"ef\"?"));
        assert!(read("true").unwrap_err().contains("expected a DSCP"));
    }
}
