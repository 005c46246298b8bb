//! What tests of this room share.

use super::CcEnv;
use crate::scenario::Era;

/// All eras.
pub(crate) const ERAS: [Era; 5] = [Era::Rfc, Era::Y1999, Era::Y2002, Era::Y2007, Era::Ns2];

/// Surroundings of a flow with 1000-byte segments.
pub(crate) fn env(era: Era) -> CcEnv {
    CcEnv { mss: 1000, wire_size: 1040, era }
}
