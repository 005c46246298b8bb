//! Inputs that are kept: seeds, and inputs that once failed, each named by what it showed.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use ackclock_fuzz::TARGETS;

/// Runs every input of a folder, which may be missing, and returns their number.
fn replay(folder: &Path, target: ackclock_fuzz::Target) -> usize {
    let Ok(files) = fs::read_dir(folder) else { return 0 };
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in &files {
        eprintln!("{}", file.display());
        target(&fs::read(file).unwrap());
    }
    files.len()
}

#[test]
fn seeds_and_former_failures_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, target) in TARGETS {
        let seeds = replay(&root.join("corpus").join(name), target);
        assert!(seeds > 0, "{name} has no seeds in corpus/{name}");
        replay(&root.join("regressions").join(name), target);
    }
}
