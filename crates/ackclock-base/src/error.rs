//! Problems in the user's input. All problems of a scenario are collected and reported together.

use std::fmt;

use serde::Serialize;

/// One problem: where, what was found, what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Path of the value in the scenario, as in `net.links[3].rate`.
    pub path: String,
    /// One sentence: what is wrong, what was expected, the nearest valid name where there is one.
    pub message: String,
    /// The value found, as it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What was expected, where that is a range: `more than 0 and at most 1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// The valid name nearest to the one found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl Problem {
    /// A problem at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        let (path, message) = (path.into(), message.into());
        Self { path, message, value: None, range: None, nearest: None }
    }

    /// A value outside its range. `range` is in words: `more than min_th, 5 packets`.
    pub fn out_of_range(path: impl Into<String>, value: impl fmt::Display, range: &str) -> Self {
        let message = format!("{value} is out of range; expected {range}");
        let (value, range) = (Some(value.to_string()), Some(range.to_owned()));
        Self { value, range, ..Self::new(path, message) }
    }

    /// A name that does not exist. `what` says so; the nearest of the valid `names` follows.
    pub fn unknown(path: impl Into<String>, sentence: &str, unknown: &str, names: &[&str]) -> Self {
        let message = format!("{sentence}; {}", suggestion(unknown, names));
        let nearest = nearest(unknown, names.iter().copied()).map(str::to_owned);
        Self { value: Some(unknown.to_owned()), nearest, ..Self::new(path, message) }
    }

    /// The problem with the value found.
    #[must_use]
    pub fn with_value(self, value: impl fmt::Display) -> Self {
        Self { value: Some(value.to_string()), ..self }
    }

    /// The problem of a part of the value at `path`.
    #[must_use]
    pub fn inside(mut self, path: &str) -> Self {
        self.path = match (path, self.path.as_str()) {
            ("", _) => self.path,
            (path, "") => path.to_owned(),
            (path, below) if below.starts_with('[') => format!("{path}{below}"),
            (path, below) => format!("{path}.{below}"),
        };
        self
    }
}

/// The problems of a part of the value at `path`.
pub fn inside(path: &str, problems: Vec<Problem>) -> Vec<Problem> {
    problems.into_iter().map(|problem| problem.inside(path)).collect()
}

impl From<Problem> for Vec<Problem> {
    fn from(problem: Problem) -> Self {
        vec![problem]
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl std::error::Error for Problem {}

/// The name among `names` nearest to `given`, if one is near enough to be meant: the one with which it has the most
/// letters in common, in their order and in any size, as a share of the letters of both.
pub fn nearest<'a>(unknown: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut best = (LEAST_LIKENESS, None);
    for name in names {
        let likeness = likeness(unknown, name);
        if likeness > best.0 {
            best = (likeness, Some(name));
        }
    }
    best.1
}

/// Likeness from which on a name may be meant: three of five letters are common.
const LEAST_LIKENESS: f64 = 0.6 - 1e-9;

/// Most names that a list of valid ones spells out.
const SHOWN: usize = 30;

/// `", did you mean \"x\"?"` or the list of valid names.
pub fn suggestion(unknown: &str, names: &[&str]) -> String {
    match nearest(unknown, names.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None if names.len() > SHOWN => {
            let (some, more) = (names[..SHOWN].join(", "), names.len() - SHOWN);
            format!("expected one of: {some} and {more} more")
        }
        None if names.is_empty() => "none is allowed here".to_owned(),
        None => format!("expected one of: {}", names.join(", ")),
    }
}

/// Letters in common, in their order, as a share of the mean length: 1 for equal names, whatever the size of letters.
fn likeness(a: &str, b: &str) -> f64 {
    let letters = |text: &str| -> Vec<char> { text.to_lowercase().chars().collect() };
    let (a, b) = (letters(a), letters(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    // The longest common subsequence, row by row.
    let mut row = vec![0_usize; b.len() + 1];
    for x in &a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    2.0 * row[b.len()] as f64 / (a.len() + b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_far_ones_are_not() {
        assert_eq!(nearest("cubik", ["aimd", "cubic", "vegas"]), Some("cubic"));
        assert_eq!(nearest("zzzzzz", ["aimd", "cubic"]), None);
        assert_eq!(nearest("cod", ["afd", "codel"]), Some("codel"));
        assert_eq!(nearest("wred", ["fred", "red"]), Some("red"));
        assert_eq!(nearest("duraton", ["routing", "duration"]), Some("duration"));
        assert_eq!(nearest("q", ["a", "b"]), None);
        assert_eq!(nearest("BBR", ["cubic", "bbr"]), Some("bbr"));
    }
}
