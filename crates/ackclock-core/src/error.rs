//! Problems in what the user said. All of a scenario's problems are collected and told at once.

use std::fmt;

/// One problem: where, what was found, what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the value in the scenario, as in `net.links[3].rate`.
    pub path: String,
    /// One sentence: what is wrong, what was expected, the nearest valid name where there is one.
    pub message: String,
}

impl Problem {
    /// A problem at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
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
