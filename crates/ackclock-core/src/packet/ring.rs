//! Tickets: what moves over the links while the packet lies still in its pool.

/// What moves: when the packet arrives, where it goes next, which one it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket {
    /// Arrival at the far end.
    pub(super) at: u64,
    /// Position in the route table.
    pub(super) route: u32,
    /// Place in the pool.
    pub(super) slot: u32,
    /// Bytes on the wire.
    pub(super) size: u16,
}

/// A first-in first-out ring that grows by doubling.
#[derive(Debug)]
pub(super) struct Ring {
    buffer: Vec<Ticket>,
    /// Positions count up for ever; a mask makes places of them.
    head: usize,
    tail: usize,
}

impl Ring {
    pub(super) fn new() -> Self {
        Self { buffer: Vec::new(), head: 0, tail: 0 }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    #[inline(always)]
    pub(super) fn front(&self) -> Option<&Ticket> {
        if self.head == self.tail {
            return None;
        }
        self.buffer.get(self.head & (self.buffer.len() - 1))
    }

    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Ticket> {
        let ticket = *self.front()?;
        self.head += 1;
        Some(ticket)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, ticket: Ticket) {
        if self.tail - self.head == self.buffer.len() {
            self.grow();
        }
        let place = self.tail & (self.buffer.len() - 1);
        self.buffer[place] = ticket;
        self.tail += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = Vec::with_capacity((2 * self.buffer.len()).max(4));
        while let Some(ticket) = self.pop() {
            larger.push(ticket);
        }
        self.head = 0;
        self.tail = larger.len();
        larger.resize(larger.capacity().next_power_of_two(), Ticket::default());
        self.buffer = larger;
    }

    /// All tickets, first to last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Ticket> {
        (self.head..self.tail).filter_map(|i| self.buffer.get(i & (self.buffer.len() - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(ops in prop::collection::vec(prop::option::of(0u64..1000), 0..300)) {
            let mut ring = Ring::new();
            let mut queue = VecDeque::new();
            for op in ops {
                match op {
                    Some(at) => { ring.push(Ticket { at, ..Ticket::default() }); queue.push_back(at); }
                    None => { prop_assert_eq!(ring.pop().map(|t| t.at), queue.pop_front()); }
                }
                prop_assert_eq!(ring.front().map(|t| t.at), queue.front().copied());
                prop_assert!(ring.iter().map(|t| t.at).eq(queue.iter().copied()));
            }
        }
    }
}
