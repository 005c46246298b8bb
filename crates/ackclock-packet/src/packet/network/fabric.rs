//! Flow control between switches: their memories, and what pauses transmitters.

use std::collections::VecDeque;

use crate::packet::network::memory::Memory;

/// Bytes of a pause frame (IEEE 802.1Qbb: the least of Ethernet).
pub(crate) const FRAME: u16 = 64;

/// What a link is in the flow control of a network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Port {
    /// The switch that it leaves, and its number among the links that do.
    pub(crate) leaves: Option<(u32, u32)>,
    /// The switch that it leads to, and its number among the links that do.
    pub(crate) reaches: Option<(u32, u32)>,
    /// The number, among the links that lead to the switch that it leaves, of its other direction.
    pub(crate) back_of: Option<u32>,
}

/// All switches of a run; nothing where the scenario has no `switches`.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    pub(crate) switches: Vec<Memory>,
    /// By link.
    pub(crate) ports: Vec<Port>,
    /// By way of pause frames, the link that they pause.
    pub(crate) pausers: Vec<u32>,
    /// Time from a frame's arrival to its effect [ps].
    pub(crate) response: u64,
}

impl Fabric {
    /// Whether there is any switch.
    pub(crate) fn is_used(&self) -> bool {
        !self.switches.is_empty()
    }
}

/// Pauses of a link's transmitter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pauses {
    /// Bits of the classes that are paused.
    pub(crate) paused: u32,
    /// Since when, in picoseconds.
    pub(crate) since: u64,
    /// Time during which any class was paused, up to `since`.
    pub(crate) total_ps: u64,
    /// Frames that paused a class more.
    pub(crate) begun: u64,
    /// Frames that arrived.
    pub(crate) frames: u64,
    /// Classes of frames that take effect later.
    pub(crate) due: VecDeque<u32>,
    /// Whether this transmitter has a pause frame to send before its next packet.
    pub(crate) has_frame_due: bool,
}

impl Pauses {
    /// Sets the classes that are paused from `now` on, in picoseconds.
    pub(crate) fn set(&mut self, paused: u32, now: u64) {
        if self.paused != 0 {
            self.total_ps += now - self.since;
        }
        self.begun += u64::from(paused & !self.paused != 0);
        (self.paused, self.since) = (paused, now);
    }

    /// Time during which any class was paused, up to `now` in picoseconds.
    pub(crate) fn time(&self, now: u64) -> u64 {
        self.total_ps + if self.paused == 0 { 0 } else { now.saturating_sub(self.since) }
    }
}
