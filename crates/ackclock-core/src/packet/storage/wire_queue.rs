//! The queues in which packets on the wire wait to arrive, in chunks of a common store.
//!
//! A ring of its own for each queue would walk through all of its memory before it comes back to what
//! is still near the processor. A queue hands a chunk back as soon as it is read, and whoever writes
//! next gets the one that was handed back last: no more memory is in use than packets are under way.

use crate::packet::storage::ticket::Ticket;
use std::ops::Range;

use crate::memory::{in_large_pages, soon};

/// Packets of a chunk, which is six cache lines. A power of two: a place tells its chunk at once.
const ROOM: u32 = 16;

/// In place of a chunk or of a place: none.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Chunk([Ticket; ROOM as usize]);

impl Chunk {
    #[inline(always)]
    fn at(&self, place: u32) -> &Ticket {
        &self.0[(place % ROOM) as usize]
    }
}

/// All chunks of a run. Their places count on from chunk to chunk.
#[derive(Debug)]
pub(in crate::packet) struct Store {
    chunks: Vec<Chunk>,
    /// By chunk, the next of its queue.
    next: Vec<u32>,
    /// Chunks that no queue has, in a list of their own: which is next is known without a look at them.
    free: Vec<u32>,
}

impl Store {
    /// Chunks between one that is taken and one that is called up.
    const AHEAD: usize = 4;

    pub(in crate::packet) fn new() -> Self {
        Self { chunks: Vec::new(), next: Vec::new(), free: Vec::new() }
    }

    /// Makes room for so many chunks, in large pages.
    pub(in crate::packet) fn reserve(&mut self, chunks: usize) {
        self.chunks.reserve(chunks);
        in_large_pages(&self.chunks);
    }

    #[inline(always)]
    fn take(&mut self) -> u32 {
        let Some(chunk) = self.free.pop() else { return self.make() };
        // Those that are taken soon come nearer.
        let soon_taken = self.free.len().checked_sub(Self::AHEAD).map(|at| self.free[at]);
        soon_taken.inspect(|&chunk| soon(&self.chunks[chunk as usize].0[0]));
        chunk
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self) -> u32 {
        self.chunks.push(Chunk::default());
        self.next.push(NONE);
        // Giving a chunk back never has to wait for memory.
        self.free.reserve(self.chunks.len());
        self.chunks.len() as u32 - 1
    }

    #[inline(always)]
    fn hand_back(&mut self, chunk: u32) {
        self.free.push(chunk);
    }

    #[inline(always)]
    fn get(&self, place: u32) -> Option<&Ticket> {
        Some(self.chunks.get((place / ROOM) as usize)?.at(place))
    }

    #[inline(always)]
    fn set(&mut self, place: u32, ticket: Ticket) {
        self.chunks[(place / ROOM) as usize].0[(place % ROOM) as usize] = ticket;
    }
}

/// Whether a place is the last of its chunk; so is [`NONE`].
#[inline(always)]
fn is_last(place: u32) -> bool {
    place % ROOM == ROOM - 1
}

/// Packets, first in first out.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Queue {
    /// The place of the first packet.
    head: u32,
    /// The place of the last packet.
    tail: u32,
}

impl Queue {
    /// An empty one has no chunk; the next packet takes one.
    pub(in crate::packet) const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline(always)]
    pub(in crate::packet) fn is_empty(self) -> bool {
        self.head == NONE
    }

    /// The first packet.
    #[inline(always)]
    pub(in crate::packet) fn front(self, store: &Store) -> Option<&Ticket> {
        store.get(self.head)
    }

    /// Calls up the first packets, of which mostly some arrive together.
    #[inline(always)]
    pub(in crate::packet) fn call_up_first(self, store: &Store) {
        const LINE: usize = 64 / size_of::<Ticket>() + 1;
        if let Some(Chunk(tickets)) = store.chunks.get((self.head / ROOM) as usize) {
            let here = &tickets[self.in_first_chunk()];
            here.iter().step_by(LINE).take(3).for_each(soon);
        }
    }

    /// The places in the first chunk that are in use.
    #[inline(always)]
    fn in_first_chunk(self) -> Range<usize> {
        let is_last = self.head / ROOM == self.tail / ROOM;
        let end = if is_last { self.tail % ROOM + 1 } else { ROOM };
        (self.head % ROOM) as usize..end as usize
    }

    /// Calls up a packet that comes some time after the first, if it stands in the same chunk: then the
    /// line that it is in is there when those before it have gone.
    #[inline(always)]
    pub(in crate::packet) fn call_up_ahead(self, store: &Store) {
        const AHEAD: u32 = 5;
        if let Some(Chunk(tickets)) = store.chunks.get((self.head / ROOM) as usize) {
            soon(&tickets[(self.head % ROOM + AHEAD).min(ROOM - 1) as usize]);
        }
    }

    /// Calls up the first packet and the place of the next.
    #[inline(always)]
    pub(in crate::packet) fn call_up(self, store: &Store) {
        self.front(store).inspect(|first| soon(*first));
        if !is_last(self.tail) {
            store.get(self.tail + 1).inspect(|next| soon(*next));
        }
    }

    #[inline(always)]
    pub(in crate::packet) fn push(&mut self, store: &mut Store, ticket: Ticket) {
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

    /// Takes the first packet, and tells when the next arrives.
    #[inline(always)]
    pub(in crate::packet) fn pop(&mut self, store: &mut Store) -> Option<(Ticket, u64)> {
        let chunk = store.chunks.get((self.head / ROOM) as usize)?;
        let first = *chunk.at(self.head);
        if self.head != self.tail && !is_last(self.head) {
            self.head += 1;
            return Some((first, chunk.at(self.head).at));
        }
        self.leave(store);
        Some((first, self.front(store).map_or(u64::MAX, |next| next.at)))
    }

    /// The last packet of the first chunk has been read.
    #[inline(always)]
    fn leave(&mut self, store: &mut Store) {
        let chunk = self.head / ROOM;
        store.hand_back(chunk);
        if chunk == self.tail / ROOM {
            *self = Self::EMPTY;
        } else {
            self.head = store.next[chunk as usize] * ROOM;
        }
    }

    /// Puts a packet that was popped just now back to the front.
    #[cold]
    #[inline(never)]
    pub(in crate::packet) fn put_back(&mut self, store: &mut Store, ticket: Ticket) {
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

    /// Takes the packets that arrive before `until`, some at a time; the arrival of the first that is
    /// left.
    #[inline(always)]
    pub(in crate::packet) fn take_before(
        &mut self,
        store: &mut Store,
        until: u64,
        mut take: impl FnMut(&[Ticket]),
    ) -> u64 {
        while let Some(Chunk(tickets)) = store.chunks.get((self.head / ROOM) as usize) {
            let here = &tickets[self.in_first_chunk()];
            let taken = here.iter().take_while(|ticket| ticket.at < until).count();
            take(&here[..taken]);
            if let Some(later) = here.get(taken) {
                self.head += taken as u32;
                return later.at;
            }
            self.leave(store);
        }
        u64::MAX
    }

    /// All packets, first to last.
    pub(in crate::packet) fn iter(self, store: &Store) -> impl Iterator<Item = &Ticket> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let first = rest.front(store)?;
            rest.head = if rest.head == rest.tail {
                NONE
            } else if is_last(rest.head) {
                store.next[(rest.head / ROOM) as usize] * ROOM
            } else {
                rest.head + 1
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

    fn ticket(at: u64) -> Ticket {
        Ticket::from_parts(at, 0, 0)
    }

    /// What is done to one of three queues.
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
            store.free.sort_unstable();
            prop_assert!(store.free.into_iter().eq(0..store.chunks.len() as u32), "a chunk is lost");
        }
    }

    /// A queue that always holds a few packets, however many pass, uses a few chunks.
    #[test]
    fn memory_is_used_again() {
        let (mut store, mut queue) = (Store::new(), Queue::EMPTY);
        for at in 0..25 {
            queue.push(&mut store, ticket(at));
        }
        for at in 25..10_000 {
            queue.push(&mut store, ticket(at));
            let first = queue.pop(&mut store).map(|(ticket, next)| (ticket.at, next));
            assert_eq!(first, Some((at - 25, at - 24)));
        }
        assert!(store.chunks.len() <= 4, "{} chunks", store.chunks.len());
        assert_eq!(size_of::<Chunk>(), 384);
    }
}
