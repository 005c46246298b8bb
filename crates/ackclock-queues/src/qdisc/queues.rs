//! What passed each of the queues that a discipline distinguishes by what they are for: the two of `DualPI2`, classes, tins.

use crate::percentiles::Percentiles;
use crate::units::Span;

/// Counts of one queue since the end of the warm-up.
#[derive(Clone, Debug, Default)]
pub struct QueueCounts {
    /// Its name.
    pub name: Box<str>,
    /// Packets that arrived for it.
    pub arrived: u64,
    /// Packets that left it for the link.
    pub departed: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Packets of it that were dropped.
    pub drops: u64,
    /// Packets of it that were marked.
    pub marks: u64,
    /// How long those that departed had waited.
    pub waits: Percentiles,
}

impl QueueCounts {
    /// Nothing has passed the queue of this name.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// A packet of so many bytes leaves for the link after a wait.
    #[inline]
    pub fn depart(&mut self, size: u16, waited: Span) {
        self.departed += 1;
        self.departed_bytes += u64::from(size);
        self.waits.note(waited);
    }

    /// Forgets what has passed.
    pub fn clear(&mut self) {
        let mut waits = std::mem::take(&mut self.waits);
        waits.clear();
        *self = Self { name: std::mem::take(&mut self.name), waits, ..Self::default() };
    }
}

/// Names of classes: those that were given, and the numbers of the others.
pub(crate) fn name_classes<'a>(explicit: impl Iterator<Item = &'a str>) -> Vec<String> {
    let name = |(i, name): (usize, &str)| {
        if name.is_empty() { format!("class {i}") } else { name.to_owned() }
    };
    explicit.enumerate().map(name).collect()
}
