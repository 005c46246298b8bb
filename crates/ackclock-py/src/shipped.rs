//! What released libraries have in the place of our controls. Only the build of `crates/ackclock-stacks/py` has any.

use ackclock_core::packet::Custom;

/// The libraries of this build.
#[cfg(feature = "stacks")]
pub(crate) const LIBRARIES: &dyn Custom = &ackclock_stacks::controls::Libraries;

/// No libraries.
#[cfg(not(feature = "stacks"))]
pub(crate) const LIBRARIES: &dyn Custom = &ackclock_core::packet::RegistryOnly;

/// Catalogue entries as those of the core, with the release that each is part of; JSON.
#[cfg(feature = "stacks")]
pub(crate) fn catalogue() -> String {
    use ackclock_stacks::controls;

    let entries = controls::offered().into_iter().map(|entry| {
        let release = controls::release(entry.info.name);
        let mut entry = serde_json::json!(entry);
        if let Some(release) = release {
            entry["crate"] = format!("{} {}", release.name, release.version).into();
        }
        entry
    });
    serde_json::Value::Array(entries.collect()).to_string()
}

/// No catalogue entries; JSON.
#[cfg(not(feature = "stacks"))]
pub(crate) fn catalogue() -> String {
    "[]".to_owned()
}
