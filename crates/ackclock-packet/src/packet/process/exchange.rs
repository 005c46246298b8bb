//! What the threads of a divided run publish to one another: clocks, and who has nothing to do.
//!
//! Each thread has processes that others get packets from (its *border*). Of these it publishes how far they have run,
//! and of all of its processes together a *promise*: no packet that is not in a queue yet reaches another thread before
//! that time. Both only grow, and each is valid by itself from when it is published, so a thread may read them in any
//! order and at any later time; it reads them before it empties the queues, and so has every packet that was sent
//! before. Promises replace the null messages of Chandy and Misra.
//!
//! Where all threads have nothing to do, each with a later event, they would only raise promises by one lookahead after
//! another. So a thread that is about to sleep notes its next effect and how many packets it has sent and received; if
//! all do so and every packet has been received, the least of these effects is the earliest of the whole run, the
//! *floor*, and its thread goes on (Chandy & Misra 1981, CACM 24(4), doi:10.1145/358598.358613: detection of deadlock
//! and recovery). Only this takes a lock.
//!
//! ```text
//! a thread        publishes                     reads
//! after a turn    packets, clock, promise, +1
//! now and then                                  number, promise, clocks, packets
//! asleep          its next effect, counts       (others wake it when their number grows)
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

/// One thread as others see it. Two cache lines: processors load pairs of them.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Seen {
    /// Grows whenever something was published.
    number: AtomicU64,
    /// Turns of its processes.
    turns: AtomicU64,
    /// No further packet from here reaches another thread before this.
    promise: AtomicU64,
    is_asleep: AtomicBool,
    handle: OnceLock<Thread>,
}

/// A thread that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// The earliest effect of its events.
    pub(crate) next: u64,
    /// Packets to and from other threads.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

/// Why a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// Something was published.
    ByNews,
    /// Time has passed, for those that look after something else.
    ByTime,
}

/// Looks for something new before a thread sleeps: first in a loop, some microseconds in all, then letting others run.
const LOOPS: u32 = 200;
const YIELDS: u32 = 20;

/// How long a thread sleeps that reports progress.
const NAP: std::time::Duration = std::time::Duration::from_millis(20);

/// All threads of a run.
#[derive(Debug)]
pub(crate) struct Exchange {
    seen: Vec<Seen>,
    /// Clocks of the border; those of different threads share no cache line.
    clocks: Vec<AtomicU64>,
    /// No process has anything to do before this; see above.
    floor: AtomicU64,
    is_stopped: AtomicBool,
    finished: AtomicUsize,
    resting: Mutex<Vec<Option<Rest>>>,
}

impl Exchange {
    /// For so many threads and clocks.
    pub(crate) fn new(threads: usize, clocks: usize) -> Self {
        Self {
            seen: (0..threads).map(|_| Seen::default()).collect(),
            clocks: (0..clocks).map(|_| AtomicU64::new(0)).collect(),
            floor: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            finished: AtomicUsize::new(0),
            resting: Mutex::new(vec![None; threads]),
        }
    }

    /// Notes the present thread as thread `me`.
    pub(crate) fn join(&self, me: usize) {
        let _ = self.seen[me].handle.set(std::thread::current());
    }

    /// Publishes a clock, which grows. Packets sent before are in their queues.
    #[inline]
    pub(crate) fn set_clock(&self, clock: u32, time: u64) {
        self.clocks[clock as usize].store(time, Ordering::Release);
    }

    /// A clock.
    #[inline]
    pub(crate) fn clock(&self, clock: u32) -> u64 {
        self.clocks[clock as usize].load(Ordering::Acquire)
    }

    /// The promise of a thread.
    #[inline]
    pub(crate) fn promise(&self, who: usize) -> u64 {
        self.seen[who].promise.load(Ordering::Acquire)
    }

    /// Turns of the processes of a thread.
    #[inline]
    pub(crate) fn turns(&self, who: usize) -> u64 {
        self.seen[who].turns.load(Ordering::Acquire)
    }

    /// The number of what a thread has published; what belongs to it is read afterwards.
    #[inline]
    pub(crate) fn number(&self, who: usize) -> u64 {
        self.seen[who].number.load(Ordering::SeqCst)
    }

    /// No process of the run has anything to do before this.
    #[inline]
    pub(crate) fn floor(&self) -> u64 {
        self.floor.load(Ordering::SeqCst)
    }

    /// Publishes the promise of thread `me` and its `turns`, and wakes `readers` that sleep.
    #[inline]
    pub(crate) fn publish(&self, me: usize, promise: u64, turns: u64, readers: &[usize]) {
        self.seen[me].turns.store(turns, Ordering::Release);
        self.store_promise(me, promise);
        self.count_news(me);
        for &reader in readers {
            self.wake(reader);
        }
    }

    #[inline]
    fn store_promise(&self, me: usize, promise: u64) {
        self.seen[me].promise.store(promise, Ordering::Release);
    }

    /// In one order with who sleeps: either the sleeper sees the number, or this thread sees that it sleeps.
    #[inline]
    fn count_news(&self, me: usize) {
        self.seen[me].number.fetch_add(1, Ordering::SeqCst);
    }

    #[inline]
    fn wake(&self, who: usize) {
        if self.seen[who].is_asleep.load(Ordering::SeqCst) {
            self.wake_sleeper(who);
        }
    }

    #[cold]
    fn wake_sleeper(&self, who: usize) {
        if self.seen[who].is_asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = self.seen[who].handle.get()
        {
            thread.unpark();
        }
    }

    fn wake_all(&self) {
        (0..self.seen.len()).for_each(|who| self.wake(who));
    }

    /// Stops all threads.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    /// Whether all are to stop.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// A thread has done all it had to do before the end of the run.
    pub(crate) fn finish(&self) {
        self.count_finished();
        self.wake_all();
    }

    fn count_finished(&self) {
        self.finished.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether all threads have, so that no more packets come.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.load(Ordering::SeqCst) == self.seen.len()
    }

    /// Waits until `is_new`, which is about what this exchange publishes, or all is over. `waiting` is what thread `me`
    /// has left to do; with `naps` it wakes now and then.
    pub(crate) fn wait(
        &self,
        me: usize,
        waiting: Rest,
        naps: bool,
        is_new: impl Fn() -> bool,
    ) -> Woken {
        let is_new = || is_new() || self.is_finished() || self.is_stopped();
        for turn in 0..LOOPS + YIELDS {
            if is_new() {
                return Woken::ByNews;
            }
            if turn < LOOPS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        let asleep = &self.seen[me].is_asleep;
        asleep.store(true, Ordering::SeqCst);
        let mut woken = Woken::ByNews;
        if !is_new() && !self.note_rest(me, waiting) {
            while asleep.load(Ordering::SeqCst) {
                if !naps {
                    std::thread::park();
                    continue;
                }
                std::thread::park_timeout(NAP);
                if asleep.load(Ordering::SeqCst) {
                    woken = Woken::ByTime;
                    break;
                }
            }
            self.resting()[me] = None;
        }
        asleep.store(false, Ordering::SeqCst);
        woken
    }

    /// Notes that a thread rests. If all do and no packet is under way, raises the floor, wakes all and returns true.
    fn note_rest(&self, me: usize, waiting: Rest) -> bool {
        let mut resting = self.resting();
        resting[me] = Some(waiting);
        let Some(all) = resting.iter().copied().collect::<Option<Vec<Rest>>>() else {
            return false;
        };
        let sent: u64 = all.iter().map(|thread| thread.sent).sum();
        let received: u64 = all.iter().map(|thread| thread.received).sum();
        if sent != received {
            return false;
        }
        let floor = all.iter().map(|thread| thread.next).min().unwrap_or(u64::MAX);
        self.floor.fetch_max(floor, Ordering::SeqCst);
        resting[me] = None;
        drop(resting);
        self.seen[me].is_asleep.store(false, Ordering::SeqCst);
        self.wake_all();
        true
    }

    /// Nothing is left half done by a panic, so a poisoned lock holds valid values.
    fn resting(&self) -> MutexGuard<'_, Vec<Option<Rest>>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod model;
