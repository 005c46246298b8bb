//! For tests: where reference data are, and files of the ns-2 cases. Tests that need them are in modules `needs_data` and
//! ignored by default; `make test` runs them where the data are.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The folder `inside`, as `oracles/ns2`, of the reference data: in `ACKCLOCK_DATA`, which may also be its folder
/// `oracles` or `data`, else in `shared` beside the checkout.
pub fn folder(inside: &str) -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let roots = match std::env::var_os("ACKCLOCK_DATA") {
        // A relative path is one of the checkout, where `make` runs, before it is one of the test program.
        Some(set) => vec![crate_folder.join("../..").join(&set), PathBuf::from(set)],
        None => crate_folder.ancestors().map(|up| up.join("../shared")).collect(),
    };
    find(&roots, inside).unwrap_or_else(|message| panic!("{message}"))
}

/// The first folder `inside` of `roots`; otherwise, what was tried.
fn find(roots: &[PathBuf], inside: &str) -> Result<PathBuf, String> {
    let below = inside.split_once('/').map_or(inside, |(_, below)| below);
    let of = |root: &PathBuf| [root.join(inside), root.join(below), root.join("..").join(inside)];
    let tried: Vec<PathBuf> = roots.iter().flat_map(of).collect();
    tried.iter().find(|folder| folder.is_dir()).cloned().ok_or_else(|| {
        let tried: Vec<_> = tried.iter().map(|folder| folder.display().to_string()).collect();
        format!(
            "no reference data: set ACKCLOCK_DATA to the folder with {inside}; tried {}",
            tried.join(", ")
        )
    })
}

/// The text of a compressed file of an ns-2 case.
pub fn ns2(case: &str, name: &str) -> String {
    let file = folder("oracles/ns2").join(case).join(name);
    let packed = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut text = String::new();
    let read = GzDecoder::new(packed.as_slice()).read_to_string(&mut text);
    read.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the data are: the folder of crates in place of `shared`, this crate in place of `oracles`, another beside it.
    #[test]
    fn data_are_found_from_their_folder_and_from_those_inside() {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        for root in [here.join(".."), here.clone(), here.join("../ackclock-core")] {
            let folder = find(&[root], "ackclock-base/src/registry").unwrap();
            let expected = here.join("src/registry").canonicalize().unwrap();
            assert_eq!(folder.canonicalize().unwrap(), expected);
        }
    }

    #[test]
    fn a_folder_without_the_data_is_reported_with_all_paths() {
        let message = find(&[PathBuf::from("/nowhere")], "oracles/ns2").unwrap_err();
        for path in ["/nowhere/oracles/ns2", "/nowhere/ns2", "/nowhere/../oracles/ns2"] {
            assert!(message.contains(path), "{message}");
        }
    }
}
