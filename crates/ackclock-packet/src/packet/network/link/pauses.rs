//! Pauses of a link's transmitter, and the pause frames that it sends.

use super::{Link, Service};
use crate::packet::network::fabric::Pauses;
use crate::packet::network::pausable::Pausable;
use crate::packet::process::clock::Clock;

impl<C: Clock> Link<C> {
    /// Pauses of its transmitter.
    pub(crate) fn pauses_mut(&mut self) -> &mut Pauses {
        self.rare.get_or_insert_default().pauses.get_or_insert_default()
    }

    /// Pauses of its transmitter, if there were any.
    pub(crate) fn pauses(&self) -> Option<&Pauses> {
        self.rare.as_ref()?.pauses.as_deref()
    }

    /// Whether a pause frame is to be sent before its next packet.
    pub(crate) fn has_frame_due(&self) -> bool {
        self.pauses().is_some_and(|pauses| pauses.has_frame_due)
    }

    /// Begins the transmission of a pause frame, which no count of packets includes; returns when it arrives at the far end.
    pub(crate) fn send_frame(&mut self, now: u64, size: u16) -> u64 {
        let (end, arrival) = self.send(now, size);
        self.service = Service { start: now, end };
        self.serving = 0;
        arrival
    }

    /// Holds its packets back until a pause frame has been sent, or no longer.
    pub(crate) fn hold_for_frame(&mut self, has_frame_due: bool) {
        self.pauses_mut().has_frame_due = has_frame_due;
        self.hold();
    }

    /// Holds back what is paused.
    pub(crate) fn hold(&mut self) {
        let pauses = self.pauses_mut();
        let held_classes = if pauses.has_frame_due { Pausable::ALL } else { pauses.paused };
        if let Some(managed) = &mut self.disc {
            managed.disc.hold(held_classes);
        }
    }
}
