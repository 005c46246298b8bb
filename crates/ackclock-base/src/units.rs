//! Quantities with their units: picosecond clock, rates, byte counts, buffer sizes.
//!
//! A scenario may give a bare number (SI: s, bit/s, B) or text with a unit ("30 ms", "10 Mbps",
//! "1500 B"). Prefixes are decimal. Inside the core a quantity is one of these types, never a
//! bare number.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// A point of simulated time: picoseconds since the start of the run (213 days fit).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A length of simulated time in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

/// A count of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// Bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(pub u64);

/// One step of a rate schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// From this time on.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// This rate (0 = outage).
    pub rate: BitRate,
}

impl Time {
    /// Later than any event.
    pub const MAX: Self = Self(u64::MAX);
    /// The start of a run.
    pub const ZERO: Self = Self(0);

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// The span from `earlier` to `self`, zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// From seconds, rounded to the nearest picosecond. Negative and NaN give zero.
    pub fn from_seconds(seconds: f64) -> Self {
        Self((seconds * PS_PER_S as f64).round() as u64)
    }

    /// From milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000_000)
    }

    /// From microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000_000)
    }

    /// Seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Self;
    #[inline]
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl BitRate {
    /// Time to transmit `size` bytes, rounded to the nearest picosecond.
    pub fn transmission(self, size: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        // A packet's size and a rate of any link fit into one word, which divides much faster.
        if let Some(work) = size.0.checked_mul(8 * PS_PER_S)
            && let Some(numerator) = work.checked_add(self.0 / 2)
        {
            return Span(numerator / self.0);
        }
        let numerator = u128::from(size.0) * 8 * u128::from(PS_PER_S);
        let rate = u128::from(self.0);
        Span(u64::try_from((numerator + rate / 2) / rate).unwrap_or(u64::MAX))
    }

    /// Bits per second as a real number.
    pub fn bps(self) -> f64 {
        self.0 as f64
    }
}

/// A buffer's size, which must name its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferSize {
    /// Packets of any size.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
    /// Seconds of transmission at the link's rate.
    Seconds(f64),
    /// Multiples of the bandwidth-delay product of the flows through the link.
    Bdp(f64),
    /// No limit.
    Unlimited,
}

const TIME_UNITS: &[(&str, f64)] = &[
    ("ps", 1e-12),
    ("ns", 1e-9),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];
const RATE_UNITS: &[(&str, f64)] = &[
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("Tbps", 1e12),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("Tbit/s", 1e12),
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("Mb/s", 1e6),
    ("Gb/s", 1e9),
    ("Tb/s", 1e12),
];
const BYTE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// Units of a quantity ("duration", "rate", "size") with their factors to s, bit/s, B; empty for
/// any other word.
pub fn units(kind: &str) -> &'static [(&'static str, f64)] {
    match kind {
        "duration" => TIME_UNITS,
        "rate" => RATE_UNITS,
        "size" => BYTE_UNITS,
        _ => &[],
    }
}

/// A quantity given as text, in s, bit/s or B, not rounded to what the core counts in.
///
/// # Errors
/// The text is no such quantity; one sentence.
pub fn quantity(text: &str, kind: &str) -> Result<f64, String> {
    parse(text, units(kind), kind).and_then(|value| in_range(value, text, kind))
}

/// The least quantity above 0: the core counts in whole ones.
pub fn least(kind: &str) -> f64 {
    if kind == "duration" { 1.0 / PS_PER_S as f64 } else { 1.0 }
}

fn in_range(value: f64, value_text: impl fmt::Display, kind: &str) -> Result<f64, String> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(format!("{value_text} is not a {kind}: it must be finite and not negative"))
    }
}

/// Splits "10 Mbps" into 10 and the factor of its unit.
fn parse(text: &str, units: &[(&str, f64)], kind: &str) -> Result<f64, String> {
    let text = text.trim();
    let split =
        text.find(|c: char| !(c.is_ascii_digit() || "+-.eE_".contains(c))).unwrap_or(text.len());
    // "1e3" has no unit, "1 e" has a bad one: give letters back to the unit where the number fails.
    let (number, unit) = text.split_at(split);
    let list = || units.iter().map(|(u, _)| *u).collect::<Vec<_>>().join(", ");
    let value: f64 = number.replace('_', "").parse().map_err(|_| {
        format!("\"{text}\" is not a {kind}; expected a number and one of: {}", list())
    })?;
    let unit = unit.trim();
    if unit.is_empty() {
        return Ok(value);
    }
    units
        .iter()
        .find(|(name, _)| *name == unit)
        .or_else(|| units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)))
        .map(|(_, factor)| value * factor)
        .ok_or_else(|| {
            let meant = crate::error::nearest(unit, units.iter().map(|(name, _)| *name));
            let meant =
                meant.map_or_else(String::new, |name| format!(" (did you mean \"{name}\"?)"));
            format!(
                "\"{unit}\" in \"{text}\" is not a unit of {kind}; expected one of: {}{meant}",
                list()
            )
        })
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Raw {
    Number(f64),
    Text(String),
}

fn read<'de, D: Deserializer<'de>>(
    d: D,
    units: &[(&str, f64)],
    kind: &str,
) -> Result<f64, D::Error> {
    let raw = Raw::deserialize(d).map_err(|_| {
        D::Error::custom(format!("expected a {kind} as a number or text with a unit"))
    })?;
    let value = match raw {
        Raw::Number(n) => n,
        Raw::Text(t) => parse(&t, units, kind).map_err(D::Error::custom)?,
    };
    in_range(value, value, kind).map_err(D::Error::custom)
}

/// Whole numbers are written without a fraction, so that a file read back is the same.
fn write<S: Serializer>(s: S, value: f64) -> Result<S::Ok, S::Error> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        s.serialize_u64(value as u64)
    } else {
        s.serialize_f64(value)
    }
}

macro_rules! quantity {
    ($type:ident, $what:literal, $unit:literal, $units:ident, $from:expr, $to:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                read(d, $units, $what).map($from)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                write(s, $to(*self))
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": ["number", "string"], "minimum": 0, "x-unit": $unit, "x-quantity": $what })
            }
        }
        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse(text, $units, $what).map($from)
            }
        }
    };
}

quantity!(Span, "duration", "s", TIME_UNITS, Span::from_seconds, Span::seconds);
quantity!(BitRate, "rate", "bit/s", RATE_UNITS, |v: f64| BitRate(v.round() as u64), BitRate::bps);
quantity!(Bytes, "size", "B", BYTE_UNITS, |v: f64| Bytes(v.round() as u64), |b: Bytes| b.0 as f64);

impl std::str::FromStr for BufferSize {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        const HELP: &str =
            "a buffer must name its unit: pkt, B, kB, MB, ms, s, or bdp (or be \"unlimited\")";
        let text = text.trim();
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        // From the end: a number may have an exponent.
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = &text[number.len()..];
        if unit.is_empty() {
            return Err(format!("\"{text}\" is not a buffer size; {HELP}"));
        }
        let value: f64 = number
            .trim()
            .parse()
            .map_err(|_| format!("\"{text}\" is not a buffer size; {HELP}"))?;
        if !value.is_finite() || value <= 0.0 {
            return Err(format!("\"{text}\" is not a buffer size: it must be more than zero"));
        }
        match unit.trim() {
            "pkt" | "pkts" | "packet" | "packets" | "p"
                if value.fract() == 0.0 && value <= f64::from(u32::MAX) =>
            {
                Ok(Self::Packets(value as u32))
            }
            "pkt" | "pkts" | "packet" | "packets" | "p" => Err(format!(
                "\"{text}\" is not a buffer size: packets are counted whole, {} at most",
                u32::MAX
            )),
            "bdp" | "BDP" => Ok(Self::Bdp(value)),
            unit => {
                if let Some((_, f)) = BYTE_UNITS.iter().find(|(u, _)| *u == unit) {
                    Ok(Self::Bytes((value * f).round() as u64))
                } else if let Some((_, f)) = TIME_UNITS.iter().find(|(u, _)| *u == unit) {
                    Ok(Self::Seconds(value * f))
                } else {
                    Err(format!("\"{text}\" is not a buffer size; {HELP}"))
                }
            }
        }
    }
}

impl fmt::Display for BufferSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n} pkt"),
            Self::Bytes(n) => write!(f, "{n} B"),
            Self::Seconds(s) => write!(f, "{s} s"),
            Self::Bdp(n) => write!(f, "{n} bdp"),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for BufferSize {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match Raw::deserialize(d) {
            Ok(Raw::Text(text)) => text.parse().map_err(D::Error::custom),
            _ => Err(D::Error::custom(
                "a buffer must name its unit, as in \"100 pkt\", \"64 kB\", \"20 ms\" or \"1 bdp\"",
            )),
        }
    }
}

impl Serialize for BufferSize {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl JsonSchema for BufferSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BufferSize".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "x-quantity": "buffer size" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_numbers_mean_the_same() {
        let span: Span = serde_json::from_str("\"30 ms\"").unwrap();
        assert_eq!(span, Span::from_millis(30));
        assert_eq!(serde_json::from_str::<Span>("0.03").unwrap(), span);
        assert_eq!("155 Mb/s".parse::<BitRate>().unwrap(), BitRate(155_000_000));
        assert_eq!("10 mbps".parse::<BitRate>().unwrap(), BitRate(10_000_000));
        assert_eq!("1.5 kB".parse::<Bytes>().unwrap(), Bytes(1500));
        assert_eq!("1e3".parse::<Span>().unwrap().seconds(), 1000.0);
    }

    #[test]
    fn wrong_units_say_what_was_expected() {
        let error = serde_json::from_str::<BitRate>("\"10 ms\"").unwrap_err().to_string();
        assert!(
            error.contains("\"ms\" in \"10 ms\" is not a unit of rate") && error.contains("Mbps"),
            "{error}"
        );
        assert!(
            serde_json::from_str::<BitRate>("-1").unwrap_err().to_string().contains("negative")
        );
        assert!(
            serde_json::from_str::<BufferSize>("100")
                .unwrap_err()
                .to_string()
                .contains("name its unit")
        );
        assert!("0 pkt".parse::<BufferSize>().unwrap_err().contains("more than zero"));
    }

    #[test]
    fn a_quantity_is_not_rounded_and_not_negative() {
        assert_eq!(quantity("0.5 bps", "rate"), Ok(0.5));
        assert_eq!(quantity("1_500 ns", "duration"), Ok(1500.0 * 1e-9));
        assert!(quantity("-1 kB", "size").unwrap_err().starts_with("-1 kB is not a size"));
        assert!(quantity("1e999", "rate").unwrap_err().contains("finite"));
    }

    #[test]
    fn an_ack_at_oc48_takes_128_6_nanoseconds() {
        // 40 B x 8 / 2.48832 Gb/s = 128.601 ns
        assert_eq!(BitRate(2_488_320_000).transmission(Bytes(40)), Span(128_601));
    }

    #[test]
    fn buffers_survive_a_round_trip() {
        for text in ["100 pkt", "64000 B", "0.02 s", "1.5 bdp", "unlimited"] {
            assert_eq!(text.parse::<BufferSize>().unwrap().to_string(), text);
        }
    }
}
