//! Flows that wait for ends of others, which are at the node where they begin: a process knows all that they wait for.

use crate::compile::{Plan, PlanWait};
use crate::packet::network::end::End;
use crate::packet::process::clock::Clock;

/// What flows wait for, by the ends whose completion is noted.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// By place of such an end, where its flows begin in `flows`.
    first: Vec<u32>,
    /// Flows that wait, each with the time from the completion of the end to its start.
    flows: Vec<(u32, u64)>,
    /// By flow: how many ends it still waits for, and the start that those that are complete allow. Empty where none waits.
    open: Vec<(u32, u64)>,
}

impl Waits {
    /// Those of a plan; notes in the ends which are waited for, and those that receive what belongs to a job.
    pub(crate) fn new<C: Clock>(plan: &Plan, ends: &mut [End]) -> Self {
        let Plan { waits, jobs, .. } = plan;
        if waits.is_empty() && jobs.is_empty() {
            return Self::default();
        }
        let received = jobs.iter().flat_map(|job| job.flows.clone()).map(|flow| 2 * flow + 1);
        let mut noted: Vec<u32> = waits.iter().map(|wait| wait.end).chain(received).collect();
        noted.sort_unstable();
        noted.dedup();
        let mut open = vec![(0, 0); plan.flows.len()];
        plan.held.iter().for_each(|&(flow, time)| open[flow as usize].1 = C::word(time.0));
        let mut first = Vec::with_capacity(noted.len() + 1);
        // The waits of a plan are in the order of these ends.
        let mut index = 0;
        for (place, &end) in (0..).zip(&noted) {
            ends[end as usize].noted = place;
            first.push(index as u32);
            index += waits[index..].iter().take_while(|wait| wait.end == end).count();
        }
        first.push(index as u32);
        for wait in waits {
            open[wait.flow as usize].0 += 1;
        }
        let flow = |wait: &PlanWait| (wait.flow, C::word(wait.pause.0));
        Self { first, flows: waits.iter().map(flow).collect(), open }
    }

    /// Notes that the end of this place is complete; hands each flow that waits for nothing more to `start` with the time at
    /// which it may start.
    pub(crate) fn complete<C: Clock>(
        &mut self,
        place: u32,
        now: u64,
        mut start: impl FnMut(u32, u64),
    ) {
        let [begin, end] = [place, place + 1].map(|place| self.first[place as usize] as usize);
        for &(flow, pause) in &self.flows[begin..end] {
            let (count, due) = &mut self.open[flow as usize];
            *count -= 1;
            *due = C::after(now, pause).max(*due);
            if *count == 0 {
                start(flow, *due);
            }
        }
    }
}
