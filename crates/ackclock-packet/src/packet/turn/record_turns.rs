//! Runs a stretch and records whose turn it was and what it did, for `explain --parallel`.

use smallvec::SmallVec;

use crate::agenda::Entry;
use crate::packet::process::clock::Clock;
use crate::packet::process::stubs::Stubs;
use crate::packet::turn::simulator::{Failure, Sim};

/// The parts of a run whose turns are recorded: processes, with their stubs. Each has the number of its process.
pub(crate) struct Units {
    /// By unit, the links that packets enter in its turns.
    pub(crate) links: Vec<Vec<u32>>,
    /// By unit, its endpoints.
    pub(crate) ends: Vec<Vec<u32>>,
}

/// A recorded turn.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) unit: u32,
    /// Packets that its links and endpoints received, and its local events.
    pub(crate) steps: u32,
    /// A time that the run had reached.
    pub(crate) at: u64,
    /// The turns of other units after which it could begin.
    pub(crate) needs: SmallVec<[u32; 4]>,
}

impl<C: Clock> Sim<C> {
    /// Runs as [`Sim::run`] does until `steps` steps are done, or to the end, and returns the turns.
    pub(crate) fn record_turns(&mut self, units: &Units, steps: u64) -> Vec<Turn> {
        let failure: Failure<'_> = &|| None;
        let mut turns = Vec::new();
        let mut steps_before = vec![0u64; units.links.len()];
        // By process, its turns, each with the time before which it had done everything.
        let mut ends: Vec<Vec<(u64, u32)>> = vec![Vec::new(); units.links.len()];
        let mut all = 0;
        self.schedule.start();
        while all < steps
            && let Some(Entry { time: soonest, who }) = self.schedule.next()
        {
            let (p, events) = (who as usize, self.tally.events);
            self.schedule.note_soonest(soonest);
            let last = self.border.last_end::<C>(p, self.schedule.progress[p].next);
            let horizon = self.schedule.horizon(p, soonest).min(last);
            let needs = self.schedule.processes[p].sources.iter();
            let needs = needs.filter_map(|&(source, time)| {
                // The first that reached far enough; where there is none, nothing more was sent after the last.
                let ends = &ends[source as usize];
                let enough =
                    ends.partition_point(|&(turn_end, _)| C::bound(turn_end, time) < horizon);
                ends.get(enough).or(ends.last()).map(|of| of.1)
            });
            let needs = needs.collect();
            let outlet = self.schedule.stubs.number(p);
            if outlet != Stubs::NONE {
                self.run_stubs(outlet, horizon, soonest, failure);
            }
            let turn_end = self.run_turn(p, horizon);
            self.schedule.set_done(p, turn_end);
            self.schedule.schedule(p);
            let passed = self.count_passed(units, p);
            let steps = passed - std::mem::replace(&mut steps_before[p], passed)
                + self.tally.events
                - events;
            all += steps;
            // A process that has no way out is never due.
            let turn_time = soonest.min(turn_end).min(self.schedule.end);
            ends[p].push((turn_end, turns.len() as u32));
            turns.push(Turn { unit: who, steps: steps as u32, at: turn_time, needs });
        }
        turns
    }

    /// Packets that links and endpoints of a unit have received so far.
    fn count_passed(&self, units: &Units, unit: usize) -> u64 {
        let links = units.links[unit].iter().map(|&l| self.links.list[l as usize].arrived());
        let ends = units.ends[unit].iter().map(|&end| self.flows.ends[end as usize].received);
        links.sum::<u64>() + ends.sum::<u64>()
    }
}
