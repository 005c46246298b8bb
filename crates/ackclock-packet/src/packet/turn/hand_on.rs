//! Hands on recorded rows that are final, between two turns.

use crate::packet::outcome::piece::Take;
use crate::packet::process::clock::Clock;
use crate::packet::process::stubs::Stubs;
use crate::packet::turn::simulator::Sim;

impl<C: Clock> Sim<C> {
    /// Hands on the rows before which nothing can happen any more. Returns false if the run is to stop.
    #[cold]
    #[inline(never)]
    pub(crate) fn hand_on(&mut self, take: Take<'_>) -> bool {
        let end = self.find_end_of_past();
        // What has not changed is not sampled before something happens there.
        if let Some(last) = end.checked_sub(1) {
            if self.observer.flow_samples.is_some() {
                for p in 0..self.schedule.processes.len() {
                    if self.schedule.processes[p].next_mark <= last {
                        self.sample_ends(p, last);
                    }
                }
            }
            if self.observer.link_samples.is_some() {
                for l in 0..self.links.list.len() {
                    self.sample_link(l, last);
                }
            }
        }
        self.observer.hand_on(end, take)
    }

    /// The time before which every process has handled all its events: what has not been sent to it yet arrives at
    /// the earliest pending effect or later.
    fn find_end_of_past(&self) -> u64 {
        let schedule = &self.schedule;
        let soonest = schedule.next().map_or(u64::MAX, |first| first.time);
        let of = |p: usize| {
            let process = &schedule.processes[p];
            let is_stub = process.stages[0].outlet != Stubs::NONE;
            let expected = if is_stub { Stubs::NEVER } else { schedule.stubs.expected(p) };
            let (next, _) = process.due::<C>(expected);
            schedule.progress[p].done.max(next.min(soonest))
        };
        let past = (0..schedule.processes.len()).map(of).min();
        past.unwrap_or(u64::MAX).min(schedule.end.saturating_add(1))
    }
}

#[cfg(test)]
mod tests;
