//! Local events of a process: their order, their kinds, and the stage that handles them.

/// The position of an event in the order of its process, packed into one integer: the time, then how long
/// before that time the event was scheduled (longer goes first), then its identity.
///
/// The second part counts nanoseconds and saturates at 4.29 s; events scheduled within the same
/// nanosecond for the same time run in the order of identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub(crate) u128);

impl Key {
    /// Later than every event.
    pub(crate) const NEVER: Self = Self(u128::MAX);

    #[inline]
    pub(crate) fn new(time: u64, ahead: u64, event: u32) -> Self {
        Self(u128::from(time) << 64 | u128::from(!nanoseconds(ahead)) << 32 | u128::from(event))
    }

    /// The time of the event.
    #[inline]
    pub(crate) fn at(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The identity: the link over which a packet arrived, or a [`What`].
    #[inline]
    pub(crate) fn what(self) -> u32 {
        self.0 as u32
    }
}

/// Whole nanoseconds of a span in picoseconds, 4.29 s at most.
#[inline]
fn nanoseconds(span: u64) -> u32 {
    (span / 1000).min(u64::from(u32::MAX)) as u32
}

/// The identity of a local event: three bits of kind, twenty-nine bits of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct What(pub(crate) u32);

/// The kinds of local event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A transmission on this link ends.
    Free,
    /// A queue discipline's timer.
    Disc,
    /// An endpoint's timer; index = 2 flow (sender) or 2 flow + 1 (receiver).
    Endpoint,
    /// A flow starts.
    Start,
    /// A packet that an impairment of this link has held is released.
    Release,
    /// The source of a multicast group sends; index = group.
    Emit,
    /// A pause frame takes effect on the transmitter of this link.
    Pause,
}

impl What {
    const INDEX: u32 = (1 << 29) - 1;

    pub(crate) fn new(kind: Kind, index: u32) -> Self {
        debug_assert!(index <= Self::INDEX);
        Self(((kind as u32) << 29) | index)
    }

    pub(crate) fn kind(self) -> Kind {
        match self.0 >> 29 {
            0 => Kind::Free,
            1 => Kind::Disc,
            2 => Kind::Endpoint,
            3 => Kind::Start,
            4 => Kind::Release,
            5 => Kind::Emit,
            _ => Kind::Pause,
        }
    }

    pub(crate) fn index(self) -> usize {
        (self.0 & Self::INDEX) as usize
    }
}

/// The two stages of a process. Links that lead into a node feed the node; nothing leads back, so the
/// first stage may run ahead of the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Links that lead to the node, or the one link between routers.
    Entry = 0,
    /// The node: its endpoints and outgoing links.
    Node = 1,
}
