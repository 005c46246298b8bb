//! ROOM: slow start rules. How the window grows below ssthresh.

use crate::cc::{Ack, CcEnv, Window};

/// A slow start rule.
pub trait SlowStart: Send {
    /// New data was acknowledged while `cwnd < ssthresh`. May lower `ssthresh` to end slow start.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
}

/// What a new rule is told: the same as a control.
pub type SlowStartEnv = CcEnv;
