//! The schedule: which process runs next, and up to what time.
//!
//! The process whose pending events can first have an effect on another runs next. It runs up to its
//! horizon, before which no further packet can reach it.

use std::marker::PhantomData;

use crate::agenda::{Agenda, Entry};
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Stage};
use crate::packet::process::logical_process::{Process, Progress};
use crate::packet::process::stubs::Stubs;
use crate::units::Time;

/// All processes of a run and their order.
pub(crate) struct Schedule<C> {
    pub(crate) processes: Vec<Process>,
    /// Processes by the earliest effect of their pending events. Stubs have no entry.
    pub(crate) agenda: Agenda,
    /// By process.
    pub(crate) progress: Vec<Progress>,
    pub(crate) stubs: Stubs,
    /// The end of simulated time.
    pub(crate) end: u64,
    /// The process whose turn it is.
    pub(crate) running: u32,
    /// Not later than the next local event or sample of the stage that runs.
    pub(crate) next_local: u64,
    /// The earliest pending effect when the latest turn began.
    soonest: u64,
    /// How a clock went back, if one did.
    pub(crate) fault: Option<Box<str>>,
    clock: PhantomData<C>,
}

impl<C: Clock> Schedule<C> {
    pub(crate) fn new(processes: Vec<Process>, stubs: Stubs, end: u64) -> Self {
        let count = processes.len();
        Self {
            processes,
            agenda: Agenda::new(count),
            progress: vec![Progress::default(); count],
            stubs,
            end,
            running: u32::MAX,
            next_local: u64::MAX,
            soonest: 0,
            fault: None,
            clock: PhantomData,
        }
    }

    /// Enters all processes into the agenda.
    pub(crate) fn start(&mut self) {
        // The key of an outlet depends on its stubs.
        let mut without_stubs: Vec<usize> = (0..self.processes.len()).collect();
        without_stubs.retain(|&p| !self.schedule_stub(p));
        for p in without_stubs {
            self.schedule(p);
        }
    }

    /// Enters those of the processes that `is_own` into the agenda: the others are those of other threads.
    pub(crate) fn start_own(&mut self, is_own: impl Fn(usize) -> bool) {
        let local: Vec<usize> = (0..self.processes.len()).filter(|&p| is_own(p)).collect();
        let without_stubs: Vec<usize> =
            local.into_iter().filter(|&p| !self.schedule_stub(p)).collect();
        for p in without_stubs {
            self.schedule(p);
        }
    }

    /// The next process and the earliest effect that any pending event can have on another process; `None` at
    /// the end of the run.
    #[inline]
    pub(crate) fn next(&self) -> Option<Entry> {
        Some(self.agenda.first()).filter(|first| first.time != Agenda::NEVER)
    }

    /// Notes that a turn begins when the earliest pending effect is `soonest`, which never goes back.
    #[inline(always)]
    pub(crate) fn note_soonest(&mut self, soonest: u64) {
        if soonest < self.soonest {
            self.note_fault("the clock of the schedule", self.soonest, soonest);
        }
        self.soonest = soonest;
    }

    /// Notes that nothing is left to do in process `p` before `end`, which never goes back.
    #[inline(always)]
    pub(crate) fn set_done(&mut self, p: usize, end: u64) {
        let before = std::mem::replace(&mut self.progress[p].done, end);
        if end < before {
            self.note_fault(&format!("process {p}: its clock"), before, end);
        }
    }

    /// Notes how far a process of another thread has run: it handles nothing before `clock` any more.
    pub(crate) fn note_clock(&mut self, p: u32, clock: u64) {
        self.progress[p as usize] = Progress { done: clock, next: clock };
    }

    /// Takes a process out of the agenda until it is scheduled again; returns the key that it had.
    pub(crate) fn suspend(&mut self, p: u32) -> u64 {
        let key = self.agenda.get(p);
        self.agenda.set(p, Agenda::NEVER);
        key
    }

    #[cold]
    #[inline(never)]
    fn note_fault(&mut self, clock_name: &str, before: u64, after: u64) {
        let [before, after] = [before, after].map(|word| Time(C::ps(word)).seconds());
        let fault = || format!("{clock_name} went back from {before} s to {after} s").into();
        self.fault.get_or_insert_with(fault);
    }

    /// The time up to which process `p` can run: no packet that has not been sent to it yet can arrive before
    /// then. `soonest` is the earliest effect that any pending event can have on another process.
    #[inline]
    pub(crate) fn horizon(&self, p: usize, soonest: u64) -> u64 {
        let bound = |&(source, time): &(u32, u64)| {
            // What has not been sent to the source yet arrives there at `soonest` or later.
            C::bound(self.progress[source as usize].clock(soonest), time)
        };
        let bounds = self.processes[p].sources.iter().map(bound);
        bounds.min().unwrap_or(u64::MAX).max(soonest).min(self.end.saturating_add(1))
    }

    /// Enters a process into the agenda by its next event.
    #[inline]
    pub(crate) fn schedule(&mut self, p: usize) {
        let (earliest, effect) = self.processes[p].due::<C>(self.stubs.expected(p));
        self.progress[p].next = earliest;
        let key = if earliest <= self.end { effect.min(u64::MAX - 1) } else { Agenda::NEVER };
        self.agenda.set(p as u32, key);
    }

    /// Notes the next event of a process, if it is a stub; returns whether it is.
    pub(crate) fn schedule_stub(&mut self, p: usize) -> bool {
        let process = &self.processes[p];
        let outlet = process.stages[0].outlet;
        if outlet == Stubs::NONE {
            return false;
        }
        let (earliest, effect) = process.due::<C>(Stubs::NEVER);
        if earliest <= self.end {
            self.stubs.lower(outlet, p as u32, effect.min(self.end));
        }
        true
    }

    /// A channel has a new first packet, which arrives at stage `stage` of process `to` at `arrival`.
    #[inline(always)]
    pub(crate) fn wake(&mut self, to: u32, stage: Stage, entrant: u32, arrival: u64) {
        let pending = &mut self.processes[to as usize].stages[stage as usize];
        pending.heads.set(entrant, arrival);
        // A process is scheduled by all of its events when its turn ends.
        if to == self.running {
            return;
        }
        let effect = C::bound(arrival, pending.lookahead);
        let outlet = pending.outlet;
        debug_assert!(
            arrival >= self.progress[to as usize].done,
            "a packet reaches a process that has run past it"
        );
        if outlet == Stubs::NONE {
            self.bring_forward(to, arrival, effect);
        } else {
            self.wake_stub(outlet, to, arrival, effect);
        }
    }

    /// A process has a new event at `time`, which can have an effect on others at `effect`.
    #[inline]
    fn bring_forward(&mut self, p: u32, time: u64, effect: u64) {
        let progress = &mut self.progress[p as usize];
        progress.next = progress.next.min(time);
        // An outlet whose stubs run has the least key of all; it is scheduled anew when its turn ends.
        if time <= self.end && effect < self.agenda.get(p) {
            self.agenda.set(p, effect);
        }
    }

    /// A packet arrives at a stub at `arrival`; the resulting events can reach the stub's outlet at `effect`.
    #[inline]
    fn wake_stub(&mut self, outlet: u32, stub: u32, arrival: u64, effect: u64) {
        if arrival > self.end {
            return;
        }
        let effect = effect.min(self.end);
        self.stubs.lower(outlet, stub, effect);
        let process = self.stubs.process(outlet);
        let lookahead = self.processes[process as usize].stages[0].lookahead;
        self.bring_forward(process, effect, C::bound(effect, lookahead));
    }

    /// A packet from another thread is the first in its channel, as of [`Self::wake`], between two turns.
    pub(crate) fn wake_from_outside(&mut self, to: u32, stage: Stage, entrant: u32, arrival: u64) {
        self.running = u32::MAX;
        self.wake(to, stage, entrant, arrival);
    }

    /// Checks that a packet from another thread, which arrives at `arrival`, does not reach a process
    /// that has run past it.
    pub(crate) fn check_arrival(&mut self, to: u32, arrival: u64) {
        let finished = self.progress[to as usize].done;
        if arrival < finished {
            self.note_fault(
                &format!("process {to}: an arrival from another thread"),
                finished,
                arrival,
            );
        }
    }

    /// Adds a local event to the stage that runs.
    #[inline(always)]
    pub(crate) fn add_local(&mut self, p: usize, stage: Stage, key: Key) {
        self.next_local = self.next_local.min(key.at());
        self.processes[p].stages[stage as usize].locals.push(key);
    }
}
