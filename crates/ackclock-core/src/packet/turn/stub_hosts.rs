//! Stubs: hosts whose only way out leads to one link between routers, their outlet.
//!
//! A stub takes no turns of its own. What it sends matters to nobody before its outlet's turn comes, so
//! that turn begins with the stubs: those that could still send something for it go on as far as they can.
//! Of what is on its way to an outlet none then waits for a host, so the outlet's turns last about twice as
//! long as if hosts took turns by themselves, and hosts go on less often, with more packets. They follow one
//! another as they lie in memory, and a packet on its way to a stub changes two numbers where else a place
//! in the agenda would change. What they send that comes to the outlet within its turn goes straight into
//! the batch of that turn ([`Batch::fill`](crate::packet::turn::batch::Batch::fill)).
//!
//! Horizons stay what they are elsewhere (`process/logical_process.rs`): the soonest that a stub can have an effect on its outlet
//! counts as an event of the outlet's own, and in place of its stubs an outlet has the processes that
//! packets come to these from as sources, both ways' times added (`setup/partition.rs`).

use crate::packet::process::logical_process::Process;
use crate::packet::setup::custom::Custom;
use crate::packet::turn::simulator::Sim;

/// Stubs between one that goes on and the one that is called up.
const AHEAD: usize = 10;

/// A link between routers that stubs send to.
#[derive(Debug)]
struct Outlet {
    process: u32,
    /// Its stubs.
    stubs: Vec<u32>,
    /// The soonest that anything that its stubs have yet to do can reach it; not after the end of the run,
    /// if they have to do anything until then.
    effect: u64,
}

/// All stubs of a run, and where they lead.
#[derive(Debug)]
pub(in crate::packet) struct Stubs {
    outlets: Vec<Outlet>,
    /// By process: as [`Outlet::effect`], for each stub.
    effects: Vec<u64>,
    /// By process, which outlet it is.
    numbers: Vec<u32>,
    /// Stubs that are to go on.
    due: Vec<u32>,
}

impl Stubs {
    /// In place of an outlet: none.
    pub(in crate::packet) const NONE: u32 = u32::MAX;

    /// In place of an effect: there will be none.
    const NEVER: u64 = u64::MAX;

    /// `outlet_of` has for each process the one that it leads to, or [`Self::NONE`].
    pub(in crate::packet) fn new(outlet_of: &[u32], processes: &mut [Process]) -> Self {
        let mut numbers = vec![Self::NONE; outlet_of.len()];
        let mut outlets: Vec<Outlet> = Vec::new();
        for (stub, &process) in outlet_of.iter().enumerate().filter(|o| *o.1 != Self::NONE) {
            let number = &mut numbers[process as usize];
            if *number == Self::NONE {
                *number = outlets.len() as u32;
                outlets.push(Outlet { process, stubs: Vec::new(), effect: Self::NEVER });
            }
            outlets[*number as usize].stubs.push(stub as u32);
            for stage in &mut processes[stub].stages {
                stage.outlet = *number;
            }
        }
        let effects = if outlets.is_empty() { 0 } else { outlet_of.len() };
        Self { outlets, effects: vec![Self::NEVER; effects], numbers, due: Vec::new() }
    }

    /// How many there are.
    #[cfg(test)]
    pub(in crate::packet) fn count(&self) -> usize {
        self.outlets.iter().map(|outlet| outlet.stubs.len()).sum()
    }

    /// Which outlet a process is, or [`Self::NONE`].
    pub(in crate::packet) fn number(&self, p: usize) -> u32 {
        self.numbers[p]
    }

    /// When something may reach an outlet from its stubs; never, for any other process.
    #[inline]
    pub(in crate::packet) fn expected(&self, p: usize) -> u64 {
        self.outlets.get(self.numbers[p] as usize).map_or(Self::NEVER, |outlet| outlet.effect)
    }

    /// Where the effect of a process would stand if it is a stub; nowhere, if there are no stubs at all.
    #[inline]
    pub(in crate::packet) fn place(&self, stub: u32) -> Option<&u64> {
        self.effects.get(stub as usize)
    }

    /// Notes that something that a stub has to do can reach its outlet at `effect`.
    #[inline]
    fn lower(&mut self, outlet: u32, stub: u32, effect: u64) {
        let known = &mut self.effects[stub as usize];
        *known = effect.min(*known);
        let known = &mut self.outlets[outlet as usize].effect;
        *known = effect.min(*known);
    }

    /// Lists the stubs that can have an effect on an outlet before `until`, and forgets theirs.
    fn list_due(&mut self, outlet: u32, until: u64) {
        let Self { outlets, effects, due, .. } = self;
        let outlet = &mut outlets[outlet as usize];
        due.clear();
        outlet.effect = Self::NEVER;
        for &stub in &outlet.stubs {
            let effect = &mut effects[stub as usize];
            if *effect < until {
                *effect = Self::NEVER;
                due.push(stub);
            } else {
                outlet.effect = outlet.effect.min(*effect);
            }
        }
    }
}

impl Sim {
    /// Notes what a process has to do, if it is a stub; whether it is.
    pub(in crate::packet) fn note_stub(&mut self, p: usize) -> bool {
        let process = &self.processes[p];
        let outlet = process.stages[0].outlet;
        if outlet == Stubs::NONE {
            return false;
        }
        let (earliest, effect) = process.due(self.scale, Stubs::NEVER);
        if earliest <= self.end {
            self.stubs.lower(outlet, p as u32, effect.min(self.end));
        }
        true
    }

    /// A packet that stands first in a channel will reach a stub at `at`, and what it does there the
    /// stub's outlet at `effect` at the soonest.
    #[inline]
    pub(in crate::packet) fn wake_stub(&mut self, outlet: u32, stub: u32, at: u64, effect: u64) {
        if at > self.end {
            return;
        }
        let effect = effect.min(self.end);
        self.stubs.lower(outlet, stub, effect);
        let process = self.stubs.outlets[outlet as usize].process;
        let lookahead = self.processes[process as usize].stages[0].lookahead;
        self.bring_forward(process, effect, self.scale.bound(effect, lookahead));
    }

    /// Lets the stubs of an outlet go on that can have an effect on it before `until`. Nothing that is
    /// not on its way to any process by now can have an effect on another before `soonest`. Ends early
    /// if an algorithm fails.
    pub(in crate::packet) fn let_stubs_go_on(
        &mut self,
        outlet: u32,
        until: u64,
        soonest: u64,
        custom: &dyn Custom,
    ) {
        self.stubs.list_due(outlet, until);
        let process = self.stubs.outlets[outlet as usize].process;
        self.batch.fill(process, self.clocks[process as usize].next, until);
        let due = std::mem::take(&mut self.stubs.due);
        for (place, &stub) in due.iter().enumerate() {
            if self.scout.processes
                && let Some(&next) = due.get(place + AHEAD)
            {
                self.call_up_process(next);
            }
            let p = stub as usize;
            let horizon = self.horizon(p, soonest).min(self.end.saturating_add(1));
            self.clocks[p].done = self.activate(p, horizon);
            self.note_stub(p);
            self.activations += 1;
            if self.has_failed(custom) {
                break;
            }
        }
        self.stubs.due = due;
        self.batch.close();
    }
}
