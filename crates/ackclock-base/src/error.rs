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
    pub fn unknown(path: impl Into<String>, what: &str, given: &str, names: &[&str]) -> Self {
        let message = format!("{what}; {}", suggestion(given, names));
        let nearest = nearest(given, names.iter().copied()).map(str::to_owned);
        Self { value: Some(given.to_owned()), nearest, ..Self::new(path, message) }
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

/// The name among `names` nearest to `given`, if one is near enough to be meant.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (edit_distance(given, name), name))
        .filter(|&(d, name)| d <= 1 + name.len().max(given.len()) / 3)
        .min()
        .map(|(_, name)| name)
}

/// Most names that a list of valid ones spells out.
const SHOWN: usize = 30;

/// `", did you mean \"x\"?"` or the list of valid names.
pub fn suggestion(given: &str, names: &[&str]) -> String {
    match nearest(given, names.iter().copied()) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None if names.len() > SHOWN => {
            let (some, more) = (names[..SHOWN].join(", "), names.len() - SHOWN);
            format!("expected one of: {some} and {more} more")
        }
        None => format!("expected one of: {}", names.join(", ")),
    }
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(!ca.eq_ignore_ascii_case(&cb));
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_far_ones_are_not() {
        assert_eq!(nearest("cubik", ["aimd", "cubic", "vegas"]), Some("cubic"));
        assert_eq!(nearest("zzzzzz", ["aimd", "cubic"]), None);
    }
}
