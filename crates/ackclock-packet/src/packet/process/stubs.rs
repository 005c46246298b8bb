//! Stub hosts: which processes are stubs, their outlets, and when each can next have an effect there.
//!
//! A stub is a host whose only way out leads to one link between routers, its outlet. `turn/stub_hosts.rs`
//! describes how stubs run.

use crate::packet::process::logical_process::{Pending, Process};

/// A link between routers that stubs send to.
#[derive(Debug)]
struct Outlet {
    process: u32,
    /// Its stubs.
    stubs: Vec<u32>,
    /// The earliest time at which any pending event of its stubs can reach it. It is not after the end of
    /// the run while a stub has an event until then.
    effect: u64,
}

/// All stubs of a run.
#[derive(Debug)]
pub(crate) struct Stubs {
    outlets: Vec<Outlet>,
    /// By process: as [`Outlet::effect`], for each stub.
    effects: Vec<u64>,
    /// By process, the number of the outlet that it is, or [`Self::NONE`].
    numbers: Vec<u32>,
}

impl Stubs {
    /// In place of the number of an outlet: none.
    pub(crate) const NONE: u32 = Pending::NO_OUTLET;

    /// The effect of a stub without events.
    pub(crate) const NEVER: u64 = u64::MAX;

    /// `outlet_of` has for each process the one that it is a stub of, or [`Self::NONE`].
    pub(crate) fn new(outlet_of: &[u32], processes: &mut [Process]) -> Self {
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
        Self { outlets, effects: vec![Self::NEVER; effects], numbers }
    }

    /// The number of stubs.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.outlets.iter().map(|outlet| outlet.stubs.len()).sum()
    }

    /// The number of the outlet that a process is, or [`Self::NONE`].
    pub(crate) fn number(&self, p: usize) -> u32 {
        self.numbers[p]
    }

    /// The process of an outlet.
    pub(crate) fn process(&self, outlet: u32) -> u32 {
        self.outlets[outlet as usize].process
    }

    /// The earliest time at which a pending event of a stub can reach process `p`; never, if it is no outlet.
    #[inline]
    pub(crate) fn expected(&self, p: usize) -> u64 {
        self.outlets.get(self.numbers[p] as usize).map_or(Self::NEVER, |outlet| outlet.effect)
    }

    /// Where the effect of a process is kept if it is a stub; `None` if the run has no stubs.
    #[inline]
    pub(crate) fn effect_of(&self, stub: u32) -> Option<&u64> {
        self.effects.get(stub as usize)
    }

    /// Notes that a pending event of a stub can reach its outlet at `effect`.
    #[inline]
    pub(crate) fn lower(&mut self, outlet: u32, stub: u32, effect: u64) {
        let earliest = &mut self.effects[stub as usize];
        *earliest = effect.min(*earliest);
        let earliest_of_outlet = &mut self.outlets[outlet as usize].effect;
        *earliest_of_outlet = effect.min(*earliest_of_outlet);
    }

    /// Appends to `due` the stubs whose events can reach an outlet before `until`, and resets their effects.
    pub(crate) fn take_due(&mut self, outlet: u32, until: u64, due: &mut Vec<u32>) {
        let Self { outlets, effects, .. } = self;
        let outlet = &mut outlets[outlet as usize];
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
