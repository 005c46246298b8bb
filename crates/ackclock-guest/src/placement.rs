//! One processor for a run and its guests. They take turns, so that a second one gains nothing, and a turn that passes to
//! another processor has to wake it, which costs more than the rest of an exchange (`benchmarks/README.md` has figures).
//!
//! The thread of the run is kept on the processor where it is when the first guest starts, and guests inherit that. Each
//! [`TURNS`] exchanges the scheduler may choose again, so that two runs that happened to begin on the same processor
//! do not stay there. No result depends on any of this. A guest that has chosen its processors itself is left alone.
//! Elsewhere than on Linux the scheduler alone decides.

#[cfg(target_os = "linux")]
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

/// Exchanges after which the scheduler may choose another processor: some tens of milliseconds.
#[cfg(target_os = "linux")]
const TURNS: u32 = 4096;

/// Where the guests of one run are. The last copy that is dropped gives the thread back what it had.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    #[cfg(target_os = "linux")]
    seat: Arc<Mutex<Seat>>,
}

#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
struct Seat {
    taken: Option<Taken>,
    guests: Vec<Pid>,
    turns: u32,
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Taken {
    thread: Pid,
    /// What the thread might use before.
    allowed: rustix::thread::CpuSet,
    processor: usize,
}

#[cfg(target_os = "linux")]
impl Placement {
    fn seat(&self) -> MutexGuard<'_, Seat> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a guest is started, on the thread of the run.
    pub(crate) fn take(&self) {
        let mut seat = self.seat();
        if seat.taken.is_some() {
            return;
        }
        // Where processors may not be chosen, as under some sandboxes, the scheduler goes on to decide.
        let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return };
        let processor = rustix::thread::sched_getcpu();
        if allowed.count() > 1 && keep(None, processor) {
            seat.taken = Some(Taken { thread: rustix::thread::gettid(), allowed, processor });
        }
    }

    /// A guest runs from now on.
    pub(crate) fn join(&self, guest: Pid) {
        self.seat().guests.push(guest);
    }

    /// A guest has ended.
    pub(crate) fn leave(&self, guest: Pid) {
        self.seat().guests.retain(|&other| other != guest);
    }

    /// Before an exchange, on the thread of the run: whether the scheduler may choose during this one.
    pub(crate) fn loosen(&self) -> bool {
        let mut seat = self.seat();
        seat.turns += 1;
        if seat.turns < TURNS {
            return false;
        }
        seat.turns = 0;
        let allowed = seat.taken.as_ref().map(|taken| taken.allowed);
        allowed.is_some_and(|allowed| rustix::thread::sched_setaffinity(None, &allowed).is_ok())
    }

    /// After an exchange during which the scheduler might choose.
    pub(crate) fn settle(&self) {
        let mut seat = self.seat();
        let Seat { taken: Some(taken), guests, .. } = &mut *seat else { return };
        let before = taken.processor;
        taken.processor = rustix::thread::sched_getcpu();
        keep(None, taken.processor);
        if taken.processor != before {
            for &guest in guests.iter() {
                bring(guest, before, taken.processor);
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(taken) = &self.taken {
            // The thread may be gone.
            let _ = rustix::thread::sched_setaffinity(Some(taken.thread), &taken.allowed);
        }
    }
}

/// Keeps a thread on one processor.
#[cfg(target_os = "linux")]
fn keep(thread: Option<Pid>, processor: usize) -> bool {
    rustix::thread::sched_setaffinity(thread, &only(processor)).is_ok()
}

#[cfg(target_os = "linux")]
fn only(processor: usize) -> rustix::thread::CpuSet {
    let mut set = rustix::thread::CpuSet::new();
    if processor < rustix::thread::CpuSet::MAX_CPU {
        set.set(processor);
    }
    set
}

/// Brings those threads of a guest along that are where they were put.
#[cfg(target_os = "linux")]
fn bring(guest: Pid, before: usize, processor: usize) {
    let folder = format!("/proc/{}/task", guest.as_raw_nonzero());
    let Ok(threads) = std::fs::read_dir(folder) else { return };
    let numbers = threads.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for thread in numbers.filter_map(Pid::from_raw) {
        if rustix::thread::sched_getaffinity(Some(thread)).is_ok_and(|set| set == only(before)) {
            keep(Some(thread), processor);
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_self, reason = "has something to do on Linux alone")]
impl Placement {
    pub(crate) fn take(&self) {}

    pub(crate) fn join(&self, _: Pid) {}

    pub(crate) fn leave(&self, _: Pid) {}

    pub(crate) fn loosen(&self) -> bool {
        false
    }

    pub(crate) fn settle(&self) {}
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu};

    use super::*;

    #[test]
    fn a_thread_has_one_processor_for_a_run_and_all_of_its_own_afterwards() {
        let before = sched_getaffinity(None).unwrap();
        let placement = Placement::default();
        placement.take();
        placement.take();
        assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
        let copy = placement.clone();
        drop(placement);
        assert_eq!(sched_getaffinity(None).unwrap().count(), 1, "another guest is there");
        drop(copy);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }

    #[test]
    fn the_scheduler_may_choose_at_each_interval_and_guests_follow() {
        let before = sched_getaffinity(None).unwrap();
        let placement = Placement::default();
        placement.take();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let guest = Pid::from_child(&child);
        placement.join(guest);
        assert_eq!(sched_getaffinity(Some(guest)).unwrap().count(), 1, "as its parent");

        let loose = (1..=2 * TURNS).filter(|_| placement.loosen()).count();
        assert_eq!(loose, if before.count() > 1 { 2 } else { 0 });
        assert_eq!(sched_getaffinity(None).unwrap(), before);
        // As the scheduler might: to a processor that it did not have.
        let other = (0..CpuSet::MAX_CPU).rfind(|&processor| before.is_set(processor));
        keep(None, other.unwrap());
        placement.settle();
        assert_eq!(sched_getaffinity(None).unwrap(), only(sched_getcpu()));
        assert_eq!(sched_getaffinity(Some(guest)).unwrap(), only(sched_getcpu()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
