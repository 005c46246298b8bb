//! What of a run belongs to other threads, if several share it (`turn/divided.rs`).

use crate::packet::process::clock::Clock;
use crate::packet::process::schedule::Schedule;

/// Turns between which a time between two threads is divided. A process that used all of it would run while the thread
/// that its packets go to waits, and then wait itself.
const TURNS_A_DELAY: u64 = 4;

/// Which processes are those of other threads, and what is to be sent there.
#[derive(Debug, Default)]
pub(crate) struct Border {
    /// By process, its thread; empty if there is one thread.
    pub(crate) homes: Vec<u16>,
    /// This thread.
    pub(crate) me: u16,
    /// Channels to other threads with packets that have not been sent.
    pub(crate) leaving: Vec<u32>,
    /// By process, how far from its next event a turn goes at most; empty if there is one thread.
    pub(crate) spans: Vec<u64>,
}

impl Border {
    /// Limits the turns of processes that packets reach from other threads, or whose packets go there, to a part of the
    /// shortest time between the two.
    pub(crate) fn limit_turns<C: Clock>(&mut self, schedule: &Schedule<C>) {
        if !C::IS_EXACT {
            return;
        }
        self.spans = vec![u64::MAX; self.homes.len()];
        for (to, process) in schedule.processes.iter().enumerate().take(self.homes.len()) {
            for &(from, time) in &process.sources {
                let from = from as usize;
                if self.homes[from] != self.homes[to] {
                    let span = (time / TURNS_A_DELAY).max(1);
                    self.spans[from] = self.spans[from].min(span);
                    self.spans[to] = self.spans[to].min(span);
                }
            }
        }
    }

    /// Where a turn of process `p` ends at the latest, if its next event is at `next`.
    #[inline]
    pub(crate) fn last_end<C: Clock>(&self, p: usize, next: u64) -> u64 {
        self.spans.get(p).map_or(u64::MAX, |&span| C::bound(next, span))
    }

    /// Whether a process belongs to another thread.
    #[inline(always)]
    pub(crate) fn is_foreign(&self, p: u32) -> bool {
        self.homes[p as usize] != self.me
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::process::clock::Picoseconds;
    use crate::packet::process::logical_process::Process;
    use crate::packet::process::stubs::Stubs;

    /// Three processes in a row, 1000 and 8 ps apart, the first on another thread than the others. A thread hears of a turn
    /// when it is over: one as long as the way to the other would let both wait by turns, so it is at most half of that.
    #[test]
    fn a_turn_at_a_border_is_a_part_of_the_way_to_the_other_thread() {
        let mut processes: Vec<Process> = (0..3).map(|_| Process::new()).collect();
        processes[0].sources.push((1, 1000));
        processes[1].sources.extend([(0, 1000), (2, 8)]);
        processes[2].sources.push((1, 8));
        let stubs = Stubs::new(&[u32::MAX; 3], &mut processes);
        let schedule = Schedule::<Picoseconds>::new(processes, stubs, 1_000_000);
        let mut border = Border { homes: vec![0, 1, 1], ..Border::default() };
        border.limit_turns(&schedule);
        let ends = [0, 1, 2].map(|p| border.last_end::<Picoseconds>(p, 5000));
        assert!(ends[..2].iter().all(|end| (5001..=5500).contains(end)), "{ends:?}");
        assert_eq!(ends[2], u64::MAX);
        // One thread has no border.
        assert_eq!(Border::default().last_end::<Picoseconds>(0, 5000), u64::MAX);
    }
}
