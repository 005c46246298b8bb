//! Places in a document: `net.links[3].rate` as steps, for values that are looked up, taken out or put in.

use serde_json::Value;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A key of a table.
    Key(String),
    /// An entry of a list.
    Index(usize),
    /// Entries that are not numbered: `[*]`, or one by its id.
    Entries,
}

/// The steps of a path; none of a text that is no path.
pub(super) fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut tail = path;
    while !tail.is_empty() {
        if let Some(inside) = tail.strip_prefix('[') {
            let Some((entry, after)) = inside.split_once(']') else { return Vec::new() };
            steps.push(entry.parse().map_or(Step::Entries, Step::Index));
            tail = after;
        } else {
            let text = tail.strip_prefix('.').unwrap_or(tail);
            let end = text.find(['.', '[']).unwrap_or(text.len());
            steps.push(Step::Key(text[..end].to_owned()));
            tail = &text[end..];
        }
    }
    steps
}

/// Whether a place is inside another, which may name entries of lists without their number.
pub(super) fn is_within(inner: &[Step], outer: &[Step]) -> bool {
    let fits =
        |(a, b): (&Step, &Step)| a == b || (matches!(a, Step::Index(_)) && *b == Step::Entries);
    inner.len() >= outer.len() && inner.iter().zip(outer).all(fits)
}

/// Whether one of two places holds, or is, the other.
pub(super) fn touches(a: &[Step], b: &[Step]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// The value at one step.
pub(super) fn inner<'a>(value: &'a mut Value, step: &Step) -> Option<&'a mut Value> {
    match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
        Step::Entries => None,
    }
}

/// The value at a place.
pub(super) fn value<'a>(document: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    steps.iter().try_fold(document, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
        Step::Entries => None,
    })
}

/// A path whose entries of lists are not numbered, as in `steps[*].rate`.
pub(super) fn drop_numbers(path: &str) -> String {
    let mut text = String::new();
    let mut tail = path;
    while let Some((before, after)) = tail.split_once('[') {
        let end = after.find(']').unwrap_or(after.len());
        let is_number = after[..end].bytes().all(|c| c.is_ascii_digit());
        text += before;
        text += if is_number { "[*" } else { "[" };
        tail = if is_number { &after[end..] } else { after };
    }
    text + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_steps() {
        let key = |name: &str| Step::Key(name.to_owned());
        assert_eq!(
            steps("net.links[3].rate"),
            [key("net"), key("links"), Step::Index(3), key("rate")]
        );
        assert_eq!(steps(r#"flows["7"].cc"#), [key("flows"), Step::Entries, key("cc")]);
        assert!(is_within(&steps("flows[2].cc.a"), &steps("flows[*].cc")));
        assert!(!is_within(&steps("flows[2]"), &steps("flows[2].cc")));
        assert!(touches(&steps("flows[2]"), &steps("flows[2].cc")));
        assert!(!touches(&steps("flows[2]"), &steps("flows[3].cc")));
        assert_eq!(drop_numbers("a.steps[119].rate"), "a.steps[*].rate");
    }
}
