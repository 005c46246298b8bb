//! Runs the beginning of a run, to see how much work it is.

use crate::agenda::Entry;
use crate::packet::network::link::Link;
use crate::packet::process::clock::Clock;
use crate::packet::process::stubs::Stubs;
use crate::packet::turn::simulator::Sim;
use crate::units::Time;

/// Turns between two counts of what was done, for a network of few links.
const TURNS: usize = 16;

/// The beginning of a run.
#[derive(Clone, Copy, Debug)]
pub(in crate::packet) struct Beginning {
    /// Until when it ran; none: to the end.
    pub(in crate::packet) until: Option<Time>,
    /// Packets that links received.
    pub(in crate::packet) hops: u64,
    /// Local events.
    pub(in crate::packet) events: u64,
}

impl<C: Clock> Sim<C> {
    /// Runs as [`Sim::run`] does until about so many steps, packets at links and local events, are done, or to the end.
    pub(in crate::packet) fn run_part(&mut self, steps: u64) -> Beginning {
        self.schedule.start();
        let (mut turns, between) = (0, TURNS + self.links.list.len() / 8);
        while let Some(Entry { time: soonest, who }) = self.schedule.next() {
            let p = who as usize;
            self.schedule.note_soonest(soonest);
            let horizon = self.schedule.horizon(p, soonest);
            let outlet = self.schedule.stubs.number(p);
            if outlet != Stubs::NONE {
                self.run_stubs(outlet, horizon, soonest, &|| None);
            }
            let done = self.run_turn(p, horizon);
            self.schedule.set_done(p, done);
            if self.failure.is_some() {
                break;
            }
            self.schedule.schedule(p);
            turns += 1;
            if turns % between == 0 && self.passed_links() + self.tally.events >= steps {
                let until = Some(Time(C::ps(soonest.min(self.schedule.end))));
                return Beginning { until, hops: self.passed_links(), events: self.tally.events };
            }
        }
        Beginning { until: None, hops: self.passed_links(), events: self.tally.events }
    }

    fn passed_links(&self) -> u64 {
        self.links.list.iter().map(Link::arrived).sum()
    }
}
