//! Queues of packets on wires, in chunks of a common store.
//!
//! A ring buffer per queue would cycle through all of its memory before it returns to what is still in
//! the cache. Here a queue returns a chunk as soon as it has been read, and the next writer gets the chunk
//! that was returned last: no more memory is in use than packets are on wires.

use std::ops::Range;

use crate::memory::{make_room, prefetch, use_large_pages};
use crate::packet::storage::ticket::Ticket;

/// Packets of a chunk, which is six cache lines. A power of two: a place determines its chunk by a shift.
const ROOM: u32 = 16;

/// In place of a chunk or of a place: none.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Chunk([Ticket; ROOM as usize]);

impl Chunk {
    #[inline(always)]
    fn at(&self, slot: u32) -> &Ticket {
        &self.0[(slot % ROOM) as usize]
    }
}

/// All chunks of a run. Places are numbered from chunk to chunk.
#[derive(Debug)]
pub(crate) struct Store {
    chunks: Vec<Chunk>,
    /// By chunk, the next one of its queue, or of the free list.
    next: Vec<u32>,
    /// The first free chunk.
    free: u32,
}

impl Store {
    pub(crate) fn new() -> Self {
        Self { chunks: Vec::new(), next: Vec::new(), free: NONE }
    }

    /// Reserves memory for so many chunks, in large pages.
    pub(crate) fn reserve(&mut self, chunks: usize) {
        self.chunks.reserve(chunks);
        use_large_pages(&self.chunks);
    }

    #[inline(always)]
    fn take(&mut self) -> u32 {
        let chunk = self.free;
        let Some(&next) = self.next.get(chunk as usize) else { return self.make() };
        self.free = next;
        chunk
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self) -> u32 {
        make_room(&mut self.chunks);
        make_room(&mut self.next);
        self.chunks.push(Chunk::default());
        self.next.push(NONE);
        self.chunks.len() as u32 - 1
    }

    #[inline(always)]
    fn give_back(&mut self, chunk: u32) {
        self.next[chunk as usize] = self.free;
        self.free = chunk;
    }

    #[inline(always)]
    fn get(&self, slot: u32) -> Option<&Ticket> {
        Some(self.chunks.get((slot / ROOM) as usize)?.at(slot))
    }

    #[inline(always)]
    fn set(&mut self, slot: u32, ticket: Ticket) {
        self.chunks[(slot / ROOM) as usize].0[(slot % ROOM) as usize] = ticket;
    }
}

/// Whether a place is the last of its chunk; so is [`NONE`].
#[inline(always)]
fn is_last(slot: u32) -> bool {
    slot % ROOM == ROOM - 1
}

/// Packets, first in first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// The place of the first packet.
    head: u32,
    /// The place of the last packet.
    tail: u32,
}

impl Queue {
    /// An empty queue has no chunk; the next packet takes one.
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// The first packet.
    #[inline(always)]
    pub(crate) fn front(self, store: &Store) -> Option<&Ticket> {
        store.get(self.head)
    }

    /// Prefetches the first packets, of which several often arrive together.
    #[inline(always)]
    pub(crate) fn prefetch_first(self, store: &Store) {
        const LINE: usize = 64 / size_of::<Ticket>() + 1;
        if let Some(Chunk(tickets)) = store.chunks.get((self.head / ROOM) as usize) {
            let here = &tickets[self.in_first_chunk()];
            here.iter().step_by(LINE).take(3).for_each(prefetch);
        }
    }

    /// The places in the first chunk that are in use.
    #[inline(always)]
    fn in_first_chunk(self) -> Range<usize> {
        let is_last = self.head / ROOM == self.tail / ROOM;
        let end = if is_last { self.tail % ROOM + 1 } else { ROOM };
        (self.head % ROOM) as usize..end as usize
    }

    /// Prefetches a packet some places after the first, if it is in the same chunk: its cache line is then
    /// loaded when those before it have left.
    #[inline(always)]
    pub(crate) fn prefetch_ahead(self, store: &Store) {
        const AHEAD: u32 = 5;
        if let Some(Chunk(tickets)) = store.chunks.get((self.head / ROOM) as usize) {
            prefetch(&tickets[(self.head % ROOM + AHEAD).min(ROOM - 1) as usize]);
        }
    }

    /// Prefetches the first packet and the place of the next push.
    #[inline(always)]
    pub(crate) fn prefetch(self, store: &Store) {
        self.front(store).inspect(|first| prefetch(*first));
        if !is_last(self.tail) {
            store.get(self.tail + 1).inspect(|next| prefetch(*next));
        }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, store: &mut Store, ticket: Ticket) {
        if is_last(self.tail) {
            self.extend(store);
        } else {
            self.tail += 1;
        }
        store.set(self.tail, ticket);
    }

    #[inline(always)]
    fn extend(&mut self, store: &mut Store) {
        let chunk = store.take();
        if self.is_empty() {
            self.head = chunk * ROOM;
        } else {
            store.next[(self.tail / ROOM) as usize] = chunk;
        }
        self.tail = chunk * ROOM;
    }

    /// Removes the first packet; returns it with the arrival time of the next.
    #[inline(always)]
    pub(crate) fn pop(&mut self, store: &mut Store) -> Option<(Ticket, u64)> {
        let chunk = store.chunks.get((self.head / ROOM) as usize)?;
        let first = *chunk.at(self.head);
        if self.head != self.tail && !is_last(self.head) {
            self.head += 1;
            return Some((first, chunk.at(self.head).at));
        }
        self.leave_chunk(store);
        Some((first, self.front(store).map_or(u64::MAX, |next| next.at)))
    }

    /// The last packet of the first chunk has been read.
    #[inline(always)]
    fn leave_chunk(&mut self, store: &mut Store) {
        let chunk = self.head / ROOM;
        if chunk == self.tail / ROOM {
            *self = Self::EMPTY;
        } else {
            self.head = store.next[chunk as usize] * ROOM;
        }
        store.give_back(chunk);
    }

    /// Puts the packet that was popped last back to the front.
    #[cold]
    #[inline(never)]
    pub(crate) fn put_back(&mut self, store: &mut Store, ticket: Ticket) {
        if self.is_empty() {
            return self.push(store, ticket);
        }
        if self.head.is_multiple_of(ROOM) {
            let chunk = store.take();
            store.next[chunk as usize] = self.head / ROOM;
            self.head = (chunk + 1) * ROOM;
        }
        self.head -= 1;
        store.set(self.head, ticket);
    }

    /// Removes the packets that arrive before `until` and passes them to `take` in runs; returns the arrival
    /// time of the first that is left.
    #[inline(always)]
    pub(crate) fn take_before(
        &mut self,
        store: &mut Store,
        until: u64,
        mut take: impl FnMut(&[Ticket]),
    ) -> u64 {
        while let Some(Chunk(tickets)) = store.chunks.get((self.head / ROOM) as usize) {
            let here = &tickets[self.in_first_chunk()];
            let count = here.iter().take_while(|ticket| ticket.at < until).count();
            take(&here[..count]);
            if let Some(later) = here.get(count) {
                self.head += count as u32;
                return later.at;
            }
            self.leave_chunk(store);
        }
        u64::MAX
    }

    /// All packets, first to last.
    pub(crate) fn iter(self, store: &Store) -> impl Iterator<Item = &Ticket> {
        let mut remaining = self;
        std::iter::from_fn(move || {
            let first = remaining.front(store)?;
            remaining.head = if remaining.head == remaining.tail {
                NONE
            } else if is_last(remaining.head) {
                store.next[(remaining.head / ROOM) as usize] * ROOM
            } else {
                remaining.head + 1
            };
            Some(first)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn ticket(arrival: u64) -> Ticket {
        Ticket::from_parts(arrival, 0, 0)
    }

    /// An operation on one of three queues.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u64),
        Pop,
        PutBack,
        TakeBefore(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => (0u64..4).prop_map(Step::Push),
            3 => Just(Step::Pop),
            1 => Just(Step::PutBack),
            1 => (0u64..40).prop_map(Step::TakeBefore),
        ]
    }

    proptest! {
        #[test]
        fn queues_of_one_store_are_queues(
            steps in prop::collection::vec((0usize..3, step()), 0..600),
        ) {
            let mut store = Store::new();
            let mut queues = [Queue::EMPTY; 3];
            let mut expected = [const { VecDeque::new() }; 3];
            let mut now = 0;
            for (q, step) in steps {
                let (queue, expected) = (&mut queues[q], &mut expected[q]);
                match step {
                    Step::Push(gap) => {
                        now += gap;
                        queue.push(&mut store, ticket(now));
                        expected.push_back(now);
                    }
                    Step::Pop => {
                        let first = expected.pop_front();
                        let next = expected.front().copied().unwrap_or(u64::MAX);
                        let popped = queue.pop(&mut store).map(|(ticket, next)| (ticket.at, next));
                        prop_assert_eq!(popped, first.map(|at| (at, next)));
                    }
                    Step::PutBack => {
                        if let Some((first, _)) = queue.pop(&mut store) {
                            queue.put_back(&mut store, first);
                        }
                    }
                    Step::TakeBefore(ago) => {
                        let until = now.saturating_sub(ago);
                        let mut taken = Vec::new();
                        let next = queue
                            .take_before(&mut store, until, |run| taken.extend_from_slice(run));
                        for ticket in taken {
                            prop_assert_eq!(Some(ticket.at), expected.pop_front());
                        }
                        prop_assert!(expected.iter().all(|&at| at >= until));
                        prop_assert_eq!(next, expected.front().copied().unwrap_or(u64::MAX));
                    }
                }
                prop_assert_eq!(queue.is_empty(), expected.is_empty());
                prop_assert_eq!(queue.front(&store).map(|t| t.at), expected.front().copied());
                prop_assert!(queue.iter(&store).map(|t| t.at).eq(expected.iter().copied()));
            }
            for queue in &mut queues {
                prop_assert_eq!(queue.take_before(&mut store, u64::MAX, |_| {}), u64::MAX);
            }
            // Every chunk is in the free list, once.
            let next = |&chunk: &u32| Some(store.next[chunk as usize]).filter(|&next| next != NONE);
            let first = Some(store.free).filter(|&first| first != NONE);
            let limit = store.chunks.len() + 1;
            let mut free: Vec<u32> = std::iter::successors(first, next).take(limit).collect();
            free.sort_unstable();
            prop_assert!(free.into_iter().eq(0..store.chunks.len() as u32), "a chunk is lost");
        }
    }

    /// A queue that always holds few packets uses few chunks, however many packets pass.
    #[test]
    fn memory_is_used_again() {
        let (mut store, mut queue) = (Store::new(), Queue::EMPTY);
        for arrival in 0..25 {
            queue.push(&mut store, ticket(arrival));
        }
        for arrival in 25..10_000 {
            queue.push(&mut store, ticket(arrival));
            let first = queue.pop(&mut store).map(|(ticket, next)| (ticket.at, next));
            assert_eq!(first, Some((arrival - 25, arrival - 24)));
        }
        assert!(store.chunks.len() <= 4, "{} chunks", store.chunks.len());
        assert_eq!(size_of::<Chunk>(), 384);
    }
}
