//! An exhaustive model of the synchronisation: every interleaving of small runs, step by step.
//!
//! A step is one access to what threads share, in the order in which `turn/divided.rs`, `turn/member.rs` and
//! `process/exchange.rs` make them. What an access to an exchange does is done by [`Exchange`] itself, made from the
//! state of the model each time. Each thread has one process, whose packets go to the next thread of a ring. Instead of
//! the number of publications the model has whether there was one since the last look; a thread that has news publishes
//! or not, as if it had counted them or not. In all reachable states, packets arrive in time, some thread can go on,
//! and the end can be reached; at all ends the events are the same.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;

use super::{Exchange, Rest};

const NEVER: u8 = u8::MAX;

/// An event: its time, and how many more times it is sent on.
type Event = (u8, u8);

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    ReadNumber,
    ReadPromise,
    ReadClock,
    ReadFloor,
    Receive,
    Choose,
    Push,
    /// No room: wakes the reader, takes what has come.
    PublishFull,
    ReceiveWhileFull,
    StoreClock,
    StorePromise,
    StoreNumber,
    Wake,
    Finish,
    WakeAll,
    FallAsleep,
    LookAgain,
    NoteRest,
    Park,
    NoteAwake,
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    step: Step,
    is_finished: bool,
    // The process.
    events: Vec<Event>,
    done: u8,
    handled: Vec<Event>,
    leaving: Vec<Event>,
    // What the thread knows of the one before it, and its own promise.
    promise_before: u8,
    clock_before: u8,
    floor_seen: u8,
    promise: u8,
    is_new: bool,
    sent: u8,
    received: u8,
    // Shared.
    shown_promise: u8,
    shown_clock: u8,
    /// Whether the thread before has published since this one has looked.
    has_news: bool,
    is_asleep: bool,
    token: bool,
    /// Packets to this thread.
    queue: Vec<Event>,
    /// Its next effect, packets sent and received.
    resting: Option<(u8, u8, u8)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<Thread>,
    floor: u8,
    finished: u8,
}

impl State {
    /// Lets thread `me` act on an exchange that is in this state, and takes over what has become of it.
    fn act<T>(&mut self, me: usize, act: impl FnOnce(&Exchange) -> T) -> T {
        let count = self.threads.len();
        let exchange = Exchange::new(count, count);
        exchange.floor.store(self.floor.into(), Ordering::SeqCst);
        exchange.finished.store(self.finished.into(), Ordering::SeqCst);
        for (who, thread) in self.threads.iter().enumerate() {
            let published = &exchange.seen[who];
            published.promise.store(thread.shown_promise.into(), Ordering::SeqCst);
            published.is_asleep.store(thread.is_asleep, Ordering::SeqCst);
            exchange.set_clock(who as u32, thread.shown_clock.into());
            exchange.resting()[who] = thread.resting.map(|(next, sent, received)| Rest {
                next: next.into(),
                sent: sent.into(),
                received: received.into(),
            });
        }
        let result = act(&exchange);
        self.floor = exchange.floor() as u8;
        self.finished = exchange.finished.load(Ordering::SeqCst) as u8;
        for who in 0..count {
            let is_asleep = exchange.seen[who].is_asleep.load(Ordering::SeqCst);
            let resting = exchange.resting()[who];
            let thread = &mut self.threads[who];
            thread.shown_promise = exchange.promise(who) as u8;
            thread.shown_clock = exchange.clock(who as u32) as u8;
            thread.resting = resting.map(|r| (r.next as u8, r.sent as u8, r.received as u8));
            // Who wakes another unparks it.
            thread.token |= who != me && thread.is_asleep && !is_asleep;
            thread.is_asleep = is_asleep;
            if exchange.number(who) > 0 {
                self.threads[(who + 1) % count].has_news = true;
            }
        }
        result
    }
}

struct Model {
    /// From an event of a process to its arrival at the next.
    delays: Vec<u8>,
    end: u8,
    /// Room of a queue.
    room: usize,
}

impl Model {
    fn start(events: &[&[Event]]) -> State {
        let thread = |events: &&[Event]| Thread {
            step: Step::ReadNumber,
            is_finished: false,
            events: events.to_vec(),
            done: 0,
            handled: Vec::new(),
            leaving: Vec::new(),
            promise_before: 0,
            clock_before: 0,
            floor_seen: 0,
            promise: 0,
            is_new: false,
            sent: 0,
            received: 0,
            shown_promise: 0,
            shown_clock: 0,
            has_news: false,
            is_asleep: false,
            token: false,
            queue: Vec::new(),
            resting: None,
        };
        State { threads: events.iter().map(thread).collect(), floor: 0, finished: 0 }
    }

    /// The earliest effect of the events of a thread.
    fn next_effect(&self, of: &Thread, me: usize) -> u8 {
        let first = of.events.iter().map(|event| event.0).min().filter(|&time| time <= self.end);
        first.map_or(NEVER, |time| time + self.delays[me])
    }

    fn others(of: &Thread) -> u8 {
        of.promise_before.max(of.floor_seen)
    }

    /// Times after the end are all the same.
    fn bound(&self, time: u8) -> u8 {
        if time > self.end { NEVER } else { time }
    }

    fn clock(&self, of: &Thread, me: usize) -> u8 {
        let soonest = self.next_effect(of, me).min(Self::others(of));
        let next = of.events.iter().map(|event| event.0).min().unwrap_or(NEVER);
        self.bound(of.done.max(next.min(soonest)))
    }

    fn find_promise(&self, of: &Thread, me: usize) -> u8 {
        let of_others = Self::others(of).saturating_add(self.delays[me]);
        self.bound(of.promise.max(self.next_effect(of, me).min(of_others)))
    }

    /// All states that a step of a thread leads to; none if it cannot go on.
    fn next(&self, state: &State, me: usize) -> Vec<State> {
        let count = state.threads.len();
        let (before, after) = ((me + count - 1) % count, (me + 1) % count);
        let mut next = state.clone();
        let published_before =
            (state.threads[before].shown_promise, state.threads[before].shown_clock);
        let finished = usize::from(state.finished) == count;
        let mut other = Vec::new();
        let thread = &mut next.threads[me];
        let step = match thread.step {
            Step::ReadNumber => {
                thread.is_new = std::mem::take(&mut thread.has_news);
                if thread.is_new { Step::ReadPromise } else { Step::ReadFloor }
            }
            Step::ReadPromise => {
                thread.promise_before = published_before.0;
                Step::ReadClock
            }
            Step::ReadClock => {
                thread.clock_before = published_before.1;
                Step::ReadFloor
            }
            Step::ReadFloor => {
                thread.is_new |= thread.floor_seen != state.floor;
                thread.floor_seen = state.floor;
                Step::Receive
            }
            Step::Receive => {
                Self::receive(thread);
                let has_grown = self.clock(thread, me) > thread.shown_clock
                    || self.find_promise(thread, me) > thread.promise;
                if thread.is_new && has_grown && !thread.is_finished {
                    // Or it has had news too often without a turn.
                    let mut silent = state.clone();
                    silent.threads[me] = Thread { step: Step::Choose, ..thread.clone() };
                    other.push(silent);
                    Step::StoreClock
                } else {
                    Step::Choose
                }
            }
            Step::Choose => self.choose(thread, me, finished),
            Step::Push => match thread.leaving.first().copied() {
                None => Step::StoreClock,
                Some(packet) => {
                    if next.threads[after].queue.len() < self.room {
                        next.threads[after].queue.push(packet);
                        let thread = &mut next.threads[me];
                        thread.leaving.remove(0);
                        thread.sent += 1;
                        Step::Push
                    } else {
                        Step::PublishFull
                    }
                }
            },
            Step::PublishFull => {
                next.act(me, |exchange| {
                    exchange.count_news(me);
                    exchange.wake(after);
                });
                Step::ReceiveWhileFull
            }
            Step::ReceiveWhileFull => {
                Self::receive(thread);
                Step::Push
            }
            Step::StoreClock => {
                let clock = if thread.is_finished { NEVER } else { self.clock(thread, me) };
                next.act(me, |exchange| exchange.set_clock(me as u32, clock.into()));
                Step::StorePromise
            }
            Step::StorePromise => {
                thread.promise = self.find_promise(thread, me);
                let promise = thread.promise;
                next.act(me, |exchange| exchange.store_promise(me, promise.into()));
                Step::StoreNumber
            }
            Step::StoreNumber => {
                next.act(me, |exchange| exchange.count_news(me));
                Step::Wake
            }
            Step::Wake => {
                let is_finished = thread.is_finished;
                next.act(me, |exchange| exchange.wake(after));
                if is_finished { Step::Finish } else { Step::Choose }
            }
            Step::Finish => {
                next.act(me, Exchange::count_finished);
                Step::WakeAll
            }
            Step::WakeAll => {
                next.act(me, Exchange::wake_all);
                Step::FallAsleep
            }
            Step::FallAsleep => {
                thread.is_asleep = true;
                Step::LookAgain
            }
            Step::LookAgain => {
                if finished || thread.has_news || thread.floor_seen != state.floor {
                    thread.is_asleep = false;
                    Step::ReadNumber
                } else {
                    Step::NoteRest
                }
            }
            Step::NoteRest => {
                let waiting = Rest {
                    next: self.next_effect(thread, me).into(),
                    sent: thread.sent.into(),
                    received: thread.received.into(),
                };
                let has_raised = next.act(me, |exchange| exchange.note_rest(me, waiting));
                next.floor = self.bound(next.floor);
                if has_raised { Step::ReadNumber } else { Step::Park }
            }
            Step::Park => {
                if !thread.is_asleep {
                    Step::NoteAwake
                } else if std::mem::take(&mut thread.token) {
                    Step::Park
                } else {
                    return Vec::new();
                }
            }
            Step::NoteAwake => {
                thread.resting = None;
                Step::ReadNumber
            }
            Step::Ended => return Vec::new(),
        };
        next.threads[me].step = step;
        other.push(next);
        other
    }

    fn receive(thread: &mut Thread) {
        thread.received += thread.queue.len() as u8;
        let late = thread.queue.iter().find(|event| event.0 < thread.done);
        assert!(late.is_none(), "the packet {late:?} is late for {thread:?}");
        let queue = std::mem::take(&mut thread.queue);
        thread.events.extend(queue);
        thread.events.sort_unstable();
    }

    fn choose(&self, thread: &mut Thread, me: usize, finished: bool) -> Step {
        let key = self.next_effect(thread, me);
        let before = (me + self.delays.len() - 1) % self.delays.len();
        if key == NEVER {
            if Self::others(thread) > self.end {
                if !std::mem::replace(&mut thread.is_finished, true) {
                    return Step::StoreClock;
                }
                if finished {
                    Self::receive(thread);
                    return Step::Ended;
                }
            }
            return Step::FallAsleep;
        }
        let soonest = key.min(Self::others(thread));
        let horizon = thread.clock_before.saturating_add(self.delays[before]).max(soonest);
        let horizon = horizon.min(self.end + 1);
        if horizon < key.min(self.end + 1) {
            return Step::FallAsleep;
        }
        assert!(horizon >= thread.done);
        thread.done = horizon;
        while let Some(&(time, hops)) = thread.events.first().filter(|event| event.0 < horizon) {
            thread.events.remove(0);
            thread.handled.push((time, hops));
            if hops > 0 {
                thread.leaving.push((time + self.delays[me], hops - 1));
            }
        }
        Step::Push
    }

    /// Goes through all states; returns how many there are, and what was handled at the end.
    fn explore(&self, events: &[&[Event]]) -> (usize, Vec<Vec<Event>>) {
        let first = Self::start(events);
        let mut numbers = HashMap::from([(fingerprint(&first), 0usize)]);
        let mut open = vec![first];
        let mut ends: Vec<usize> = Vec::new();
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        let mut outcome: Option<Vec<Vec<Event>>> = None;
        while let Some(state) = open.pop() {
            let number = numbers[&fingerprint(&state)];
            if state.threads.iter().all(|thread| thread.step == Step::Ended) {
                let handled: Vec<_> = state.threads.iter().map(|t| t.handled.clone()).collect();
                assert!(state.threads.iter().all(|t| t.queue.is_empty()), "a packet is left");
                assert_eq!(*outcome.get_or_insert(handled.clone()), handled);
                ends.push(number);
                continue;
            }
            let all: Vec<State> =
                (0..state.threads.len()).flat_map(|me| self.next(&state, me)).collect();
            assert!(!all.is_empty(), "no thread can go on: {state:?}");
            for next in all {
                let count = numbers.len();
                let number_of_state = *numbers.entry(fingerprint(&next)).or_insert(count);
                if number_of_state == count {
                    before.push(Vec::new());
                    open.push(next);
                }
                before[number_of_state].push(number);
            }
        }
        // From every state an end can be reached.
        let mut reaches = vec![false; before.len()];
        while let Some(state) = ends.pop() {
            if !std::mem::replace(&mut reaches[state], true) {
                ends.extend(&before[state]);
            }
        }
        assert!(reaches.iter().all(|&reaches| reaches), "an end cannot be reached from everywhere");
        (before.len(), outcome.unwrap_or_default())
    }
}

/// What a run on one thread handles: all events in order of time.
fn in_order(model: &Model, events: &[&[Event]]) -> Vec<Vec<Event>> {
    let mut open: Vec<(u8, usize, u8)> = Vec::new();
    for (who, events) in events.iter().enumerate() {
        open.extend(events.iter().map(|&(time, hops)| (time, who, hops)));
    }
    let mut handled = vec![Vec::new(); events.len()];
    while let Some(&first) = open.iter().filter(|event| event.0 <= model.end).min() {
        open.retain(|event| *event != first);
        let (time, who, hops) = first;
        handled[who].push((time, hops));
        if hops > 0 {
            open.push((time + model.delays[who], (who + 1) % events.len(), hops - 1));
        }
    }
    handled
}

/// States are distinguished by 128 bits: of some millions, two are hardly ever alike in them.
fn fingerprint(state: &State) -> [u64; 2] {
    [0u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, state).hash(&mut hasher);
        hasher.finish()
    })
}

fn check(model: &Model, events: &[&[Event]], least: usize) {
    let (states, handled) = model.explore(events);
    assert_eq!(handled, in_order(model, events));
    assert!(states > least, "{states} states");
}

/// With a packet under way the earliest effect of all who rest is not the earliest of the run.
#[test]
fn the_floor_rises_only_when_all_rest_and_every_packet_has_been_received() {
    let waiting = |next, sent, received| Rest { next, sent, received };
    let exchange = Exchange::new(3, 0);
    exchange.seen[0].is_asleep.store(true, Ordering::SeqCst);
    assert!(!exchange.note_rest(0, waiting(30, 2, 0)));
    assert!(!exchange.note_rest(1, waiting(20, 0, 1)));
    // All rest, one of two packets is in no queue's thread yet.
    assert!(!exchange.note_rest(2, waiting(40, 0, 0)));
    assert_eq!(exchange.floor(), 0);
    assert!(exchange.seen[0].is_asleep.load(Ordering::SeqCst));
    assert!(exchange.note_rest(2, waiting(40, 0, 1)));
    assert_eq!(exchange.floor(), 20);
    // The one that raised it goes on, the others are woken and rest until they note that they do not.
    assert!(!exchange.seen[0].is_asleep.load(Ordering::SeqCst));
    assert_eq!(exchange.resting()[..], [Some(waiting(30, 2, 0)), Some(waiting(20, 0, 1)), None]);
    // It never falls.
    assert!(exchange.note_rest(2, waiting(10, 0, 1)));
    assert_eq!(exchange.floor(), 20);
}

#[test]
fn two_threads_end_alike_however_their_steps_interleave() {
    // A packet to and fro, with room for one.
    check(&Model { delays: vec![2, 3], end: 5, room: 1 }, &[&[(0, 2)], &[(1, 1)]], 1000);
    // Two at a time, more than there is room for.
    check(&Model { delays: vec![1, 2], end: 3, room: 1 }, &[&[(0, 1), (0, 0), (1, 1)], &[]], 1000);
    // Nothing happens for long, then at one of them.
    check(&Model { delays: vec![1, 1], end: 12, room: 1 }, &[&[(10, 1)], &[]], 1000);
    // Nothing at all.
    check(&Model { delays: vec![1, 2], end: 2, room: 1 }, &[&[], &[]], 100);
}
