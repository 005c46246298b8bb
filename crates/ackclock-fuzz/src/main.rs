//! libFuzzer over the target that `ACKCLOCK_FUZZ_TARGET` names.
#![no_main]

use std::sync::LazyLock;

use ackclock_fuzz::{Target, target};
use libfuzzer_sys::fuzz_target;

static CHOSEN: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ACKCLOCK_FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| {
        let names: Vec<&str> = ackclock_fuzz::TARGETS.iter().map(|target| target.0).collect();
        eprintln!(
            "there is no target \"{name}\"; expected ACKCLOCK_FUZZ_TARGET to be one of {}",
            names.join(", ")
        );
        std::process::exit(2)
    })
});

fuzz_target!(|data: &[u8]| CHOSEN(data));
