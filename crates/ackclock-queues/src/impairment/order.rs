//! Packets leave in the order in which they came, however long each is held.

use super::Fate;
use crate::units::Time;

/// Remembers the latest release.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Order {
    last: Time,
}

impl Order {
    /// A packet is not released before the one ahead of it.
    pub(super) fn keep(&mut self, fate: &mut Fate) {
        fate.release = fate.release.max(self.last);
        self.last = fate.release;
    }
}
