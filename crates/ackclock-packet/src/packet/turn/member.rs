//! One thread of a divided run: whose packets it gets, who gets its own, and what it knows of the others.

use rtrb::{Consumer, Producer, PushError};

use crate::packet::process::clock::{Clock, Divided};
use crate::packet::process::exchange::{Exchange, Rest, Woken};
use crate::packet::process::schedule::Schedule;
use crate::packet::storage::ticket::Parcel;

/// In place of a number: none.
const NONE: u32 = u32::MAX;

/// What comes from another thread.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The thread.
    pub(crate) from: usize,
    pub(crate) queue: Consumer<Parcel>,
    /// Its processes that packets come from, each with the number of its clock.
    pub(crate) sources: Vec<(u32, u32)>,
    /// The number of what was read last, with the promise and the turns.
    seen: u64,
    promise: u64,
    turns: u64,
}

impl Incoming {
    pub(crate) fn new(from: usize, queue: Consumer<Parcel>, sources: Vec<(u32, u32)>) -> Self {
        Self { from, queue, sources, seen: 0, promise: 0, turns: 0 }
    }
}

/// One thread.
#[derive(Debug)]
pub(crate) struct Member<'a> {
    exchange: &'a Exchange,
    me: usize,
    incoming: Vec<Incoming>,
    /// By thread, the queue to it, if packets go there.
    outgoing: Vec<Option<Producer<Parcel>>>,
    /// Threads that packets go to.
    readers: Vec<usize>,
    /// Processes whose clocks it publishes, with their numbers; and by process, that number.
    border: Vec<(u32, u32)>,
    clock_of: Vec<u32>,
    /// Least time from an arrival from another thread to its effect outside the process that it reaches.
    lookahead: u64,
    /// Packets that have not been received arrive at this time or later.
    others: u64,
    promise: u64,
    floor: u64,
    sent: u64,
    received: u64,
    /// Turns of its processes.
    turns: u64,
    /// How often in succession it had news while no process of any thread near it had a turn.
    idle_news: u32,
}

/// News without any turn after which a thread publishes no more until there is a turn: all may be idle, with promises that
/// grow by one lookahead after another. When all sleep, the floor grows at once to the next event.
const IDLE_NEWS: u32 = 32;

impl<'a> Member<'a> {
    /// Thread `me`; `processes` is the number of all.
    pub(crate) fn new(
        exchange: &'a Exchange,
        me: usize,
        processes: usize,
        border: Vec<(u32, u32)>,
        lookahead: u64,
    ) -> Self {
        let mut clock_of = vec![NONE; processes];
        for &(process, clock) in &border {
            clock_of[process as usize] = clock;
        }
        Self {
            exchange,
            me,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            readers: Vec::new(),
            border,
            clock_of,
            lookahead,
            others: 0,
            promise: 0,
            floor: 0,
            sent: 0,
            received: 0,
            turns: 0,
            idle_news: 0,
        }
    }

    /// Adds what comes from another thread.
    pub(crate) fn add_incoming(&mut self, incoming: Incoming) {
        self.incoming.push(incoming);
    }

    /// Adds the queue to thread `to`.
    pub(crate) fn add_outgoing(&mut self, to: usize, queue: Producer<Parcel>) {
        if self.outgoing.len() <= to {
            self.outgoing.resize_with(to + 1, || None);
        }
        self.outgoing[to] = Some(queue);
        self.readers.push(to);
    }

    /// The number of this thread.
    pub(crate) fn number(&self) -> usize {
        self.me
    }

    /// What all threads publish.
    pub(crate) fn exchange(&self) -> &'a Exchange {
        self.exchange
    }

    /// Packets that were not received when news were read last arrive at this time or later.
    #[inline]
    pub(crate) fn others(&self) -> u64 {
        self.others
    }

    /// Reads what others have published since the last time; returns whether there is anything new. The packets that they
    /// sent before are there, and are to be received afterwards.
    pub(crate) fn read_news(&mut self, schedule: &mut Schedule<Divided>) -> bool {
        let Self { exchange, incoming, .. } = self;
        let mut is_new = false;
        for from in incoming.iter_mut() {
            let number = exchange.number(from.from);
            if number == from.seen {
                continue;
            }
            is_new = true;
            from.seen = number;
            from.promise = exchange.promise(from.from);
            let turns = exchange.turns(from.from);
            if std::mem::replace(&mut from.turns, turns) != turns {
                self.idle_news = 0;
            }
            for &(process, clock) in &from.sources {
                schedule.note_clock(process, exchange.clock(clock));
            }
        }
        let floor = exchange.floor();
        if std::mem::replace(&mut self.floor, floor) != floor {
            (is_new, self.idle_news) = (true, 0);
        }
        let promises = self.incoming.iter().map(|from| from.promise);
        self.others = promises.min().unwrap_or(u64::MAX).max(floor);
        is_new
    }

    /// Hands the packets that have come to `take`; returns whether there were any.
    pub(crate) fn receive(&mut self, mut take: impl FnMut(&[Parcel])) -> bool {
        let before = self.received;
        for from in &mut self.incoming {
            let count = from.queue.slots();
            if let Ok(chunk) = from.queue.read_chunk(count) {
                let (first, second) = chunk.as_slices();
                take(first);
                take(second);
                chunk.commit_all();
                self.received += count as u64;
            }
        }
        self.received > before
    }

    /// Sends a packet to thread `to`; gives it back if the queue is full, and wakes the other then.
    #[inline]
    pub(crate) fn send(&mut self, to: usize, parcel: Parcel) -> Result<(), Parcel> {
        let Some(Some(queue)) = self.outgoing.get_mut(to) else {
            unreachable!("packets go to threads that have been added")
        };
        match queue.push(parcel) {
            Ok(()) => {
                self.sent += 1;
                Ok(())
            }
            Err(PushError::Full(parcel)) => {
                self.exchange.publish(self.me, self.promise, self.turns, &[to]);
                Err(parcel)
            }
        }
    }

    /// Publishes the clock of process `p`, if others read it; nothing of its thread happens before `soonest` that it
    /// does not have yet.
    #[inline]
    pub(crate) fn publish_clock(&mut self, schedule: &Schedule<Divided>, p: usize, soonest: u64) {
        let clock = self.clock_of[p];
        if clock != NONE {
            self.exchange.set_clock(clock, schedule.progress[p].clock(soonest));
        }
    }

    /// Publishes the clocks of all processes that others read; returns whether any has grown.
    pub(crate) fn publish_clocks(&self, schedule: &Schedule<Divided>, soonest: u64) -> bool {
        let mut has_grown = false;
        for &(p, clock) in &self.border {
            let time = schedule.progress[p as usize].clock(soonest);
            // Only this thread writes it: a line that does not change stays in the readers' caches.
            if time > self.exchange.clock(clock) {
                self.exchange.set_clock(clock, time);
                has_grown = true;
            }
        }
        has_grown
    }

    /// The promise, when the earliest effect of its events is `next`.
    #[inline]
    fn promise(&self, next: u64) -> u64 {
        self.promise.max(next.min(Divided::bound(self.others, self.lookahead)))
    }

    /// Publishes that a process had a turn; `next` is the earliest effect of the events of this thread.
    #[inline]
    pub(crate) fn publish_turn(&mut self, next: u64) {
        self.turns += 1;
        self.idle_news = 0;
        self.promise = self.promise(next);
        self.exchange.publish(self.me, self.promise, self.turns, &self.readers);
    }

    /// Publishes what news have changed: clocks, if they `have_grown`, and the promise; `next` is as of
    /// [`Self::publish_turn`].
    pub(crate) fn publish_news(&mut self, next: u64, have_grown: bool) {
        let promise = self.promise(next);
        self.idle_news += 1;
        if (have_grown || promise > self.promise) && self.idle_news <= IDLE_NEWS {
            self.promise = promise;
            self.exchange.publish(self.me, self.promise, self.turns, &self.readers);
        }
    }

    /// Waits for news; `next` is as of [`Self::publish_turn`].
    pub(crate) fn wait(&self, next: u64, naps: bool) -> Woken {
        let waiting = Rest { next, sent: self.sent, received: self.received };
        let is_new = |from: &Incoming| self.exchange.number(from.from) != from.seen;
        self.exchange.wait(self.me, waiting, naps, || {
            self.exchange.floor() != self.floor || self.incoming.iter().any(is_new)
        })
    }
}
