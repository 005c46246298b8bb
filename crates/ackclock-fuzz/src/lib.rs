//! Fuzz targets: what any sequence of bytes must not bring about.
//!
//! Each target turns bytes into an input (a list of operations, a document) and asserts what holds for every
//! input. Algorithms are taken from the registries, parameters and documents are generated from their JSON
//! Schemas, so that new ones are included. `tools/fuzz.py` runs the targets under libFuzzer; the tests of this
//! crate replay the inputs that are kept in `corpus/` (seeds) and `regressions/` (former failures).

mod controls;
mod documents;
mod engines;
mod fluids;
mod input;
mod limits;
mod queues;
mod schema;
mod transfers;

use std::fmt::Display;
use std::sync::LazyLock;

/// Prints what an input stands for, if `ACKCLOCK_FUZZ_SHOW` is set: what ends by a signal has no message.
fn show(input: impl Display) {
    static SHOWS: LazyLock<bool> =
        LazyLock::new(|| std::env::var_os("ACKCLOCK_FUZZ_SHOW").is_some());
    if *SHOWS {
        eprintln!("{input}");
    }
}

/// A target takes bytes and panics if something is wrong.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 8] = [
    ("controls", controls::run),
    ("queues", queues::run),
    ("transfers", transfers::run),
    ("fluids", fluids::run),
    ("documents", documents::run_text),
    ("scenarios", documents::run_generated),
    ("engines", engines::run),
    ("limits", limits::run),
];

/// The target of this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|target| target.0 == name).map(|target| target.1)
}
