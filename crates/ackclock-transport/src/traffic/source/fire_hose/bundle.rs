//! The flows that leave one host on one link: one sender of the policies.
//!
//! The endpoints of a host are called in the order of time, whatever the order in which hosts run, so what a flow
//! reads of another is the same in every run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::policy::{DemandPolicy, Sender};
use crate::traffic::source::SourceEnv;
use crate::units::Time;

/// The bundles of a run by their first link; made while endpoints are built.
#[derive(Clone, Debug, Default)]
pub struct Bundles(Rc<RefCell<BTreeMap<u32, Arc<Mutex<Bundle>>>>>);

#[derive(Debug)]
struct Member {
    start: Time,
    stop: Time,
    /// Rates in bit/s.
    demand: f64,
    goodput: f64,
}

impl Member {
    fn is_active(&self, now: Time) -> bool {
        self.start <= now && now < self.stop
    }
}

/// The flows of one sender in the order of their numbers.
#[derive(Debug, Default)]
struct Bundle {
    members: Vec<Member>,
    // Of the active ones, for the policy.
    demand: Vec<f64>,
    goodput: Vec<f64>,
    next: Vec<f64>,
}

/// One flow's place in its bundle.
pub(super) struct Place {
    bundle: Arc<Mutex<Bundle>>,
    index: usize,
}

impl Bundles {
    /// Adds a flow to the bundle of its first link; a flow without a link is alone.
    pub(super) fn join(&self, env: &SourceEnv) -> Place {
        let bundle = match env.first_link {
            Some(link) => Arc::clone(self.0.borrow_mut().entry(link.0).or_default()),
            None => Arc::default(),
        };
        let index = {
            let mut guard = lock(&bundle);
            guard.members.push(Member {
                start: Time::ZERO + env.start,
                stop: env.stop.map_or(Time::MAX, |stop| Time::ZERO + stop),
                demand: 0.0,
                goodput: 0.0,
            });
            guard.members.len() - 1
        };
        Place { bundle, index }
    }
}

/// Nothing is left half done by a panic, so a poisoned lock holds valid values.
fn lock(bundle: &Mutex<Bundle>) -> MutexGuard<'_, Bundle> {
    bundle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place {
    /// Flows of the bundle, active or not.
    pub(super) fn count(&self) -> usize {
        lock(&self.bundle).members.len()
    }

    pub(super) fn count_active(&self, now: Time) -> usize {
        lock(&self.bundle).members.iter().filter(|m| m.is_active(now)).count().max(1)
    }

    pub(super) fn set_demand(&self, rate: f64) {
        lock(&self.bundle).members[self.index].demand = rate;
    }

    pub(super) fn set_goodput(&self, rate: f64) {
        lock(&self.bundle).members[self.index].goodput = rate;
    }

    /// The rate that the policy gives this flow.
    pub(super) fn answer(&self, policy: &dyn DemandPolicy, capacity: f64, now: Time) -> f64 {
        let mut guard = lock(&self.bundle);
        let Bundle { members, demand, goodput, next } = &mut *guard;
        demand.clear();
        goodput.clear();
        let mut position = 0;
        for (i, member) in members.iter().enumerate() {
            if i == self.index || member.is_active(now) {
                if i == self.index {
                    position = demand.len();
                }
                demand.push(member.demand);
                goodput.push(member.goodput);
            }
        }
        next.clear();
        next.resize(demand.len(), 0.0);
        policy.demand(&Sender { capacity, demand, goodput, paths: &[] }, next);
        next[position]
    }
}
