//! Defaults that networks have in common.

use crate::registry::Spec;
use crate::units::BufferSize;

pub(super) fn one_bdp() -> BufferSize {
    BufferSize::Bdp(1.0)
}

pub(super) fn fifo() -> Spec {
    Spec::from("fifo")
}
