//! Names that users' controls report, as the core has them: for the whole life of the process, each once.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// More are no names, but numbers or times made to text.
const MOST: usize = 4096;

static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The name; nothing if there are too many.
pub(super) fn keep(name: &str) -> Option<&'static str> {
    let mut names = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name_kept) = names.get(name) {
        return Some(name_kept);
    }
    (names.len() < MOST).then(|| {
        let leaked: &'static str = Box::leak(name.into());
        names.insert(leaked);
        leaked
    })
}
