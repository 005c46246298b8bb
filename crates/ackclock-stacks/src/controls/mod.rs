//! ROOM: congestion controllers of released libraries in the place of our own controls.
//!
//! The code that ships decides; the sender, TCP's or QUIC's, is ours, and so are links, queues and clock. A controller
//! of another crate is one file here that implements [`About`](ackclock_core::registry::About), and one line in the
//! registry at the end of this file. For s2n's trait, [`Driven`] does the rest.

mod driven;
pub mod s2n;

pub use driven::Driven;

use ackclock_core::cc::{CcEnv, CongestionControl};
#[cfg(feature = "connections")]
use ackclock_core::error::Problem;
use ackclock_core::packet::{Custom, Made, Place};
#[cfg(feature = "connections")]
use ackclock_core::packet::{Ends, EndsEnv};
use ackclock_core::registry::{Entry, Spec};

/// Where the code comes from: crate and version, as Cargo.toml requires it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// Name on crates.io.
    pub name: &'static str,
    /// Exact version.
    pub version: &'static str,
}

/// The release that a control is part of, by the first part of its name.
pub fn release(name: &str) -> Option<Release> {
    match name.split_once('/')?.0 {
        "s2n" => Some(s2n::RELEASE),
        #[cfg(feature = "connections")]
        stack => crate::connections::release(stack),
        #[cfg(not(feature = "connections"))]
        _ => None,
    }
}

/// Whether the name, known or not, is one of a library of whole connections.
#[cfg(feature = "connections")]
fn is_connection(name: &str) -> bool {
    name.split_once('/').is_some_and(|(stack, _)| crate::connections::release(stack).is_some())
}

/// Everything that a flow may name: controllers, and connections where they are built.
pub fn offered() -> Vec<Entry> {
    #[cfg_attr(not(feature = "connections"), expect(unused_mut, reason = "nothing is added"))]
    let mut entries = catalogue();
    #[cfg(feature = "connections")]
    entries.extend(crate::connections::catalogue());
    entries
}

/// Gives flows what the libraries offer; all other names are left to the core's registry.
#[derive(Clone, Copy, Debug, Default)]
pub struct Libraries;

impl Custom for Libraries {
    fn cc(&self, spec: &Spec, env: &CcEnv, location: Place<'_>) -> Made<dyn CongestionControl> {
        release(spec.kind())?;
        #[cfg(feature = "connections")]
        if is_connection(spec.kind()) {
            let name = spec.kind();
            let message = format!(
                "{name} is a whole connection of QUIC; expected transport = \"quic\" beside it"
            );
            return Some(Err(Problem::new(location.path, message)));
        }
        Some(build(spec, env, location.path).map_err(|mut problems| problems.remove(0)))
    }

    #[cfg(feature = "connections")]
    fn quic_ends(
        &self,
        cc: &Spec,
        env: &EndsEnv<'_>,
        location: Place<'_>,
    ) -> Option<Result<Ends, Problem>> {
        is_connection(cc.kind()).then(|| crate::connections::build(cc, env, location))
    }
}

ackclock_core::registry! {
    /// Builds a controller of a released library by name.
    "congestion control": dyn CongestionControl, CcEnv {
        "controls/s2n.rs" => s2n::Cubic,
        "controls/s2n.rs" => s2n::Bbr2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lock file says what is compiled; the catalogue must not say anything else.
    #[test]
    fn the_stated_versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../Cargo.lock");
        for entry in offered() {
            let Release { name, version } = release(entry.info.name).unwrap();
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&entry), "{name} {version}");
        }
    }
}
