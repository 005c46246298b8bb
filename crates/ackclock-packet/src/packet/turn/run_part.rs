//! Runs the beginning of a run, to see how much work it is.

use crate::agenda::Entry;
use crate::error::Problem;
use crate::memory::{end_with, until_it_ends};
use crate::packet::network::end::End;
use crate::packet::network::link::Link;
use crate::packet::process::clock::Clock;
use crate::packet::process::logical_process::Process;
use crate::packet::process::stubs::Stubs;
use crate::packet::turn::simulator::Sim;
use crate::record::FlowSample;
use crate::units::Time;

/// Turns between two counts of what was done, for a network of few links.
const TURNS: usize = 16;

/// Local events of a turn, besides so many times the steps, that no turn of a run that is predicted well has. Horizons
/// may be as far away as the end, and then a turn is the whole of what is done at a node.
const LONG_TURN: u64 = 10_000;
const LONG_TURN_STEPS: u64 = 4;

/// The beginning of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// Until when it ran; none: to the end.
    pub(crate) until: Option<Time>,
    /// Whether it ended within a turn, of far more events than it had steps.
    pub(crate) is_cut: bool,
    /// Packets that links received.
    pub(crate) hops: u64,
    /// Local events.
    pub(crate) events: u64,
    /// The largest share of what it sent that a flow lost.
    pub(crate) lost: f64,
    /// The widest window that a sender was seen to have [segments].
    pub(crate) widest: f64,
}

/// Packets of a flow that lost by chance.
const CHANCE: f64 = 20.0;

impl<C: Clock> Sim<C> {
    /// Runs as [`Sim::run`] does until about so many steps, packets at links and local events, are done, or to the end;
    /// or within a turn until there are far more events, or no memory, after which it must be dropped.
    pub(crate) fn run_part(&mut self, steps: u64) -> Beginning {
        self.tally.most_events = LONG_TURN + LONG_TURN_STEPS * steps;
        let mut widest = 0.0;
        let ended = until_it_ends(|| self.run_turns(steps, &mut widest));
        let is_cut = ended.is_err();
        let until = match ended {
            Ok(until) => until,
            Err(_) => Some(
                self.tally.cut_at.map_or_else(|| self.time_reached(), |cut_at| Time(C::ps(cut_at))),
            ),
        };
        let (hops, events, lost) = (self.passed_links(), self.tally.events, self.largest_loss());
        Beginning { until, is_cut, hops, events, lost, widest }
    }

    fn largest_loss(&self) -> f64 {
        let ends = self.flows.ends.chunks_exact(2).zip(&self.flows.losses);
        let share = ends.map(|(ends, lost)| lost.data as f64 / (ends[0].sent as f64 + CHANCE));
        share.fold(0.0, f64::max)
    }

    fn widest_window(&self) -> f64 {
        let mut row = FlowSample::default();
        let senders = self.flows.ends.iter().step_by(2);
        let window = |end: &End| {
            row.cwnd = 0.0;
            if let Some(endpoint) = &end.endpoint {
                endpoint.sample(&mut row);
            }
            f64::from(row.cwnd)
        };
        senders.map(window).filter(|cwnd| cwnd.is_finite()).fold(0.0, f64::max)
    }

    /// Returns until when; `None`: to the end. `widest` becomes the widest window that was seen.
    fn run_turns(&mut self, steps: u64, widest: &mut f64) -> Option<Time> {
        self.schedule.start();
        let (mut turns, between) = (0, TURNS + self.links.list.len() / 8);
        // A few windows are looked at in a turn, on average.
        let looks = 1 + self.flows.ends.len() / 8;
        while let Some(Entry { time: soonest, who }) = self.schedule.next() {
            let p = who as usize;
            self.schedule.note_soonest(soonest);
            let horizon = self.schedule.horizon(p, soonest);
            let outlet = self.schedule.stubs.number(p);
            if outlet != Stubs::NONE {
                self.run_stubs(outlet, horizon, soonest, &|| None);
            }
            let turn_end = self.run_turn(p, horizon);
            self.schedule.set_done(p, turn_end);
            if self.failure.is_some() {
                break;
            }
            self.schedule.schedule(p);
            turns += 1;
            if turns % looks == 0 {
                *widest = widest.max(self.widest_window());
            }
            if turns % between == 0 && self.passed_links() + self.tally.events >= steps {
                return Some(self.time_reached());
            }
        }
        None
    }

    /// Until when everything is done: the earliest pending event. What it has an effect on may be much later.
    fn time_reached(&self) -> Time {
        let earliest = |process: &Process| process.due::<C>(Stubs::NEVER).0;
        let earliest = self.schedule.processes.iter().map(earliest).min();
        Time(C::ps(earliest.unwrap_or(u64::MAX).min(self.schedule.end)))
    }

    /// Ends a trial within a turn, at an event at `time`.
    #[cold]
    #[inline(never)]
    pub(crate) fn cut_turn(&mut self, time: u64) {
        self.tally.cut_at = Some(time);
        end_with(Problem::new("", "a turn of a trial has too many events"))
    }

    fn passed_links(&self) -> u64 {
        self.links.list.iter().map(Link::arrived).sum()
    }
}
