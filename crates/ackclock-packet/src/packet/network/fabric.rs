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
    /// Length of the spells of which the worst is kept [ps].
    pub(crate) spell: u64,
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
    /// The spell of time in which it was paused longest.
    pub(crate) spells: Spells,
}

/// How long a transmitter was paused in each of equal spells of time, one after the other from the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spells {
    /// Length of a spell [ps]; 0: none is looked at.
    pub(crate) length: u64,
    /// Number of the last spell with a pause, and the time of pauses in it.
    last: (u64, u64),
    /// The first of those with the longest time of pauses, and that time.
    worst: (u64, u64),
}

impl Spells {
    /// Adds a pause from `begin` to `end` [ps], not before what was added last.
    pub(crate) fn add(&mut self, begin: u64, end: u64) {
        if self.length == 0 || end <= begin {
            return;
        }
        let (first, last) = (begin / self.length, (end - 1) / self.length);
        if first != self.last.0 {
            self.last = (first, 0);
        }
        self.count(end.min((first + 1).saturating_mul(self.length)) - begin);
        if last > first + 1 {
            // Whole spells are all alike.
            self.last = (first + 1, 0);
            self.count(self.length);
        }
        if last > first {
            self.last = (last, 0);
            self.count(end - last * self.length);
        }
    }

    /// Adds a time of pauses to the last spell.
    fn count(&mut self, time: u64) {
        self.last.1 += time;
        if self.last.1 > self.worst.1 {
            self.worst = self.last;
        }
    }

    /// When the worst spell begins [ps], and the time of pauses in it [ps].
    pub(crate) fn worst(&self) -> (u64, u64) {
        (self.worst.0.saturating_mul(self.length), self.worst.1)
    }
}

impl Pauses {
    /// Sets the classes that are paused from `now` on, in picoseconds.
    pub(crate) fn set(&mut self, paused: u32, now: u64) {
        if self.paused != 0 {
            self.total_ps += now - self.since;
            self.spells.add(self.since, now);
        }
        self.begun += u64::from(paused & !self.paused != 0);
        (self.paused, self.since) = (paused, now);
    }

    /// The worst spell up to `now` in picoseconds: when it begins, and the time of pauses in it.
    pub(crate) fn worst_spell(&self, now: u64) -> (u64, u64) {
        let mut spells = self.spells;
        if self.paused != 0 {
            spells.add(self.since, now.max(self.since));
        }
        spells.worst()
    }

    /// Time during which any class was paused, up to `now` in picoseconds.
    pub(crate) fn time(&self, now: u64) -> u64 {
        self.total_ps + if self.paused == 0 { 0 } else { now.saturating_sub(self.since) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worst(pauses: &[(u64, u64)]) -> (u64, u64) {
        let mut spells = Spells { length: 100, ..Spells::default() };
        for &(begin, end) in pauses {
            spells.add(begin, end);
        }
        spells.worst()
    }

    /// Frames at 10, 30, 40, 60 and 90 ps: of two classes each begins to be paused once. A frame that repeats what is so, or
    /// resumes one of both, begins nothing.
    #[test]
    fn a_pause_begins_with_a_class_that_was_not_paused() {
        let mut pauses = Pauses::default();
        for (paused, at, begun, time) in [
            (0b01, 10, 1, 0),
            (0b01, 30, 1, 20),
            (0b11, 40, 2, 30),
            (0b10, 60, 2, 50),
            (0, 90, 2, 80),
        ] {
            pauses.set(paused, at);
            assert_eq!((pauses.begun, pauses.time(at)), (begun, time), "at {at} ps");
        }
        assert_eq!(pauses.time(1000), 80);
    }

    #[test]
    fn the_worst_spell_has_the_longest_time_of_pauses() {
        assert_eq!(worst(&[]), (0, 0));
        assert_eq!(worst(&[(10, 20), (30, 60), (210, 245)]), (0, 40));
        // One that reaches into the next spell counts in both.
        assert_eq!(worst(&[(10, 20), (90, 130), (140, 150)]), (100, 40));
        assert_eq!(worst(&[(90, 450)]), (100, 100));
        assert_eq!(worst(&[(150, 390), (395, 399)]), (200, 100));
        assert_eq!(worst(&[(100, 200), (200, 260)]), (100, 100));
    }
}
