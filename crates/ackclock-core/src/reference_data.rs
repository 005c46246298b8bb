//! For tests: files of the ns-2 reference cases. Tests that need them are in modules `needs_data` and ignored by
//! default; `make test` runs them where the data are.

use std::io::Read;
use std::path::PathBuf;

use flate2::read::GzDecoder;

/// The text of a compressed file of a case: in `oracles/ns2` of `ACKCLOCK_DATA`, else of `shared` beside the
/// checkout.
pub(crate) fn ns2(case: &str, name: &str) -> String {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("ACKCLOCK_DATA").map_or(beside, PathBuf::from);
    let file = root.join("oracles/ns2").join(case).join(name);
    let packed = std::fs::read(&file).unwrap_or_else(|error| {
        panic!("no ns-2 reference case (set ACKCLOCK_DATA): {}: {error}", file.display())
    });
    let mut text = String::new();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    text
}
