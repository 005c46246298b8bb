//! How much of a run could happen at once, found from the turns of a run on one thread.
//!
//! A turn of a process can begin when its own last turn has ended, and of each process that packets come from that turn
//! after which no packet can arrive before the end of this one: conservative synchronisation (Chandy & Misra 1979,
//! doi:10.1145/358598.358613). The longest chain of such turns is the critical path of the schedule; work divided by it
//! is the average parallelism, a bound of the speed-up on any number of cores (Berry & Jefferson, "Critical path analysis
//! of distributed simulation", SCS Distributed Simulation 1985). A run on n cores is predicted by replaying the turns:
//! each core has the turns of its processes, in the order of the run on one thread, and waits for a synchronisation
//! wherever a turn depends on another core. What the steps of such a turn take longer, as packets are in another cache and
//! threads go to sleep, follows from what two threads took.

use smallvec::SmallVec;

use crate::units::Time;

/// A turn of a unit.
#[derive(Clone, Debug, Default)]
pub struct UnitTurn {
    /// The unit.
    pub unit: u32,
    /// Packets that a link or an endpoint received, and events.
    pub steps: u32,
    /// Turns of other units that it depends on.
    pub needs: SmallVec<[u32; 4]>,
}

/// The turns of a stretch of a run on one thread.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// By unit (a process with the stubs that run before it), its name.
    pub names: Vec<String>,
    /// In their order.
    pub list: Vec<UnitTurn>,
    /// The simulated time at which they begin.
    pub from: Time,
    /// The simulated time up to which they go.
    pub until: Time,
}

/// What a step and a synchronisation of two threads cost [s].
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// A packet at a link or an endpoint, or an event.
    pub step_s: f64,
    /// From when one thread has published its clock until another has read it.
    pub sync_s: f64,
    /// What a step takes longer in a turn that depends on another core.
    pub crossing_s: f64,
}

/// A prediction for a number of cores.
#[derive(Clone, Debug, PartialEq)]
pub struct OnCores {
    /// The cores.
    pub cores: u32,
    /// How many times as fast as on one.
    pub speedup: f64,
    /// By core, its share of the work.
    pub shares: Vec<f64>,
    /// Share of the dependencies that cross from core to core.
    pub cut: f64,
}

/// How much of a run could happen at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Parallelism {
    /// Steps in all.
    pub steps: u64,
    /// Steps on the critical path.
    pub critical_steps: u64,
    /// The unit with most of the work, and its share.
    pub busiest: (u32, f64),
    /// The unit with most of the critical path, and its share of it.
    pub critical: (u32, f64),
}

impl Turns {
    /// Finds the critical path. `None` without any work.
    pub fn parallelism(&self) -> Option<Parallelism> {
        let work = self.work();
        let steps: u64 = work.iter().sum();
        if steps == 0 {
            return None;
        }
        let (critical_steps, on_path) = self.critical_path();
        Some(Parallelism {
            steps,
            critical_steps,
            busiest: most(&work, steps),
            critical: most(&on_path, critical_steps),
        })
    }

    /// The steps of each unit.
    fn work(&self) -> Vec<u64> {
        let mut work = vec![0; self.names.len()];
        for turn in &self.list {
            work[turn.unit as usize] += u64::from(turn.steps);
        }
        work
    }

    /// The steps of the longest chain of turns, and how many of them each unit has.
    fn critical_path(&self) -> (u64, Vec<u64>) {
        const NONE: u32 = u32::MAX;
        let mut last = vec![NONE; self.names.len()];
        let mut ends: Vec<u64> = Vec::with_capacity(self.list.len());
        let mut before = Vec::with_capacity(self.list.len());
        for UnitTurn { unit, steps, needs } in &self.list {
            let turn_before = std::mem::replace(&mut last[*unit as usize], ends.len() as u32);
            let predecessors =
                [turn_before].into_iter().filter(|&turn| turn != NONE).chain(needs.iter().copied());
            let begin = predecessors.map(|turn| (ends[turn as usize], turn)).max_by_key(|of| of.0);
            let (begin, of) = begin.unwrap_or((0, NONE));
            ends.push(begin + u64::from(*steps));
            before.push(of);
        }
        let mut on_path = vec![0; self.names.len()];
        let longest = (0..ends.len()).max_by_key(|&turn| ends[turn]);
        let mut turn_index = longest.map_or(NONE, |turn| turn as u32);
        while turn_index != NONE {
            let UnitTurn { unit, steps, .. } = self.list[turn_index as usize];
            on_path[unit as usize] += u64::from(steps);
            turn_index = before[turn_index as usize];
        }
        (longest.map_or(0, |turn| ends[turn]), on_path)
    }

    /// The `crossing_s` with which the replay on two cores is as fast as two threads were, `speedup` times as fast as
    /// one; 0 if it is not faster without.
    pub fn crossing_cost(&self, core_of: &[usize], costs: Costs, speedup: f64) -> f64 {
        const HALVINGS: u32 = 40;
        let is_faster = |crossing_s: f64| {
            let on = self.predict(core_of, 2, Costs { crossing_s, ..costs });
            on.is_some_and(|on| on.cut > 0.0 && on.speedup > speedup)
        };
        if !is_faster(0.0) {
            return 0.0;
        }
        // A step that takes as long as the two threads is too much.
        let work_s = self.work().iter().sum::<u64>() as f64 * costs.step_s;
        let (mut less, mut more) = (0.0, work_s / speedup);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (less + more);
            if is_faster(middle) {
                less = middle;
            } else {
                more = middle;
            }
        }
        more
    }

    /// Replays the turns on so many cores, given by unit its core. `None` without any work.
    pub fn predict(&self, core_of: &[usize], cores: u32, costs: Costs) -> Option<OnCores> {
        let work = self.work();
        let mut free = vec![0.0f64; cores as usize];
        let mut ends = Vec::with_capacity(self.list.len());
        let (mut crossing, mut all) = (0u64, 0u64);
        for UnitTurn { unit, steps, needs } in &self.list {
            let core = core_of[*unit as usize];
            let (mut begin, mut crosses) = (free[core], 0);
            for &need in needs {
                if core_of[self.list[need as usize].unit as usize] != core {
                    crosses += 1;
                    begin = begin.max(ends[need as usize] + costs.sync_s);
                }
            }
            all += needs.len() as u64;
            crossing += crosses;
            let more_s = if crosses > 0 { costs.crossing_s } else { 0.0 };
            let end = begin + f64::from(*steps) * (costs.step_s + more_s);
            free[core] = end;
            ends.push(end);
        }
        let mut shares = vec![0u64; cores as usize];
        for (&core, &work) in core_of.iter().zip(&work) {
            shares[core] += work;
        }
        let steps = work.iter().sum::<u64>() as f64;
        let last = free.iter().fold(0.0f64, |last, &end| last.max(end));
        if steps == 0.0 {
            return None;
        }
        Some(OnCores {
            cores,
            speedup: steps * costs.step_s / last,
            shares: shares.iter().map(|&share| share as f64 / steps).collect(),
            cut: if all == 0 { 0.0 } else { crossing as f64 / all as f64 },
        })
    }
}

/// The unit that has most, and its share of `all`.
fn most(of_unit: &[u64], all: u64) -> (u32, f64) {
    let most = (0..of_unit.len()).max_by_key(|&unit| of_unit[unit]).unwrap_or(0);
    (most as u32, of_unit.get(most).map_or(0.0, |&steps| steps as f64 / all as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Costs = Costs { step_s: 1e-6, sync_s: 0.0, crossing_s: 0.0 };

    /// Turns of units that depend each on the turns of others that are so many places before, where there are any.
    fn turns(units: usize, list: &[(u32, u32)], before: &[u32]) -> Turns {
        let turn = |(turn_number, &(unit, steps)): (u32, &(u32, u32))| UnitTurn {
            unit,
            steps,
            needs: before.iter().filter_map(|back| turn_number.checked_sub(*back)).collect(),
        };
        Turns {
            names: vec![String::new(); units],
            list: (0..).zip(list).map(turn).collect(),
            from: Time(0),
            until: Time(0),
        }
    }

    fn speedup(turns: &Turns, core_of: &[usize], cores: u32, costs: Costs) -> f64 {
        turns.predict(core_of, cores, costs).unwrap().speedup
    }

    #[test]
    fn units_that_share_nothing_are_as_parallel_as_there_are_units() {
        let turns = turns(4, &[(0, 5), (1, 5), (2, 5), (3, 5)].repeat(10), &[]);
        let parallelism = turns.parallelism().unwrap();
        assert_eq!((parallelism.steps, parallelism.critical_steps), (200, 50));
        for (core_of, cores, expected) in
            [([0, 0, 0, 0], 1, 1.0), ([0, 1, 0, 1], 2, 2.0), ([0, 1, 2, 3], 64, 4.0)]
        {
            assert!((speedup(&turns, &core_of, cores, FREE) - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn two_units_that_wait_for_each_other_are_a_chain() {
        let turns = turns(2, &[(0, 3), (1, 7)].repeat(10), &[1]);
        let parallelism = turns.parallelism().unwrap();
        assert_eq!((parallelism.steps, parallelism.critical_steps), (100, 100));
        assert_eq!((parallelism.busiest, parallelism.critical), ((1, 0.7), (1, 0.7)));
        assert!((speedup(&turns, &[0, 1], 2, FREE) - 1.0).abs() < 1e-9);
    }

    /// Unit 0 feeds 1 and gets nothing back: a pipeline, in which the slower of the two decides.
    #[test]
    fn a_pipeline_is_as_fast_as_its_slower_part() {
        let mut turns = turns(2, &[(0, 4), (1, 6)].repeat(100), &[1]);
        turns.list.iter_mut().filter(|turn| turn.unit == 0).for_each(|turn| turn.needs.clear());
        // 4 for the first, then 600 of the second without a pause.
        assert_eq!(turns.parallelism().unwrap().critical_steps, 604);
        let on = turns.predict(&[0, 1], 2, FREE).unwrap();
        assert!((on.speedup - 1000.0 / 604.0).abs() < 1e-9);
        assert_eq!(on.shares, [0.4, 0.6]);
    }

    /// Turns of a fifth of what the other unit lets one do: each needs the other's turn before the last two.
    #[test]
    fn two_units_with_short_turns_overlap() {
        let turns = turns(2, &[(0, 5), (1, 5)].repeat(100), &[5]);
        assert_eq!(turns.parallelism().unwrap().critical_steps, 500);
        assert!((speedup(&turns, &[0, 1], 2, FREE) - 2.0).abs() < 1e-9);
        // Five turns in a row take 25 us on one core; two and a synchronisation are 15 us on the way to the other.
        let costs = Costs { sync_s: 5e-6, ..FREE };
        assert!(speedup(&turns, &[0, 1], 2, costs) > 1.95);
    }

    #[test]
    fn each_crossing_costs_a_synchronisation() {
        let turns = turns(2, &[(0, 5), (1, 5)].repeat(10), &[1]);
        let costs = Costs { sync_s: 5e-6, ..FREE };
        let on = turns.predict(&[0, 1], 2, costs).unwrap();
        // 20 turns of 5 us with 19 crossings of 5 us between them.
        assert!((on.speedup - 100.0 / 195.0).abs() < 1e-9);
        assert_eq!(on.cut, 1.0);
    }

    #[test]
    fn what_two_threads_took_gives_the_cost_of_a_step_that_crosses() {
        // Each needs the other's turn before the last, all but the first two: 100 turns of 5 us each, at once.
        let list = turns(2, &[(0, 5), (1, 5)].repeat(100), &[3]);
        let on_two = |costs| speedup(&list, &[0, 1], 2, costs);
        assert!((on_two(FREE) - 2.0).abs() < 1e-9);
        // 1000 us of work in 800 us: 300 us more for the 98 turns of 5 steps.
        let crossing_s = list.crossing_cost(&[0, 1], FREE, 1.25);
        assert!((crossing_s - 300e-6 / (98.0 * 5.0)).abs() < 1e-8, "{crossing_s}");
        assert!((on_two(Costs { crossing_s, ..FREE }) - 1.25).abs() < 1e-6);
        // Two threads that were faster than the replay, and what crosses nowhere.
        assert_eq!(list.crossing_cost(&[0, 1], FREE, 2.1), 0.0);
        assert_eq!(list.crossing_cost(&[0, 0], FREE, 0.5), 0.0);
    }

    #[test]
    fn nothing_is_said_of_a_run_without_work() {
        let none = turns(1, &[], &[]);
        assert_eq!((none.parallelism(), none.predict(&[0], 2, FREE)), (None, None));
    }
}
