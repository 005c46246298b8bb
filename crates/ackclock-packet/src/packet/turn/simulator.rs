//! The run: processes take turns in the order of their earliest effects, until the end of simulated time.

use std::hint::black_box;

use crate::agenda::Entry;
use crate::packet::network::branch::Groups;
use crate::packet::network::end::Flows;
use crate::packet::network::fabric::Fabric;
use crate::packet::network::links::Links;
use crate::packet::network::route::Routes;
use crate::packet::network::wires::{Channel, Wires};
use crate::packet::outcome::observe::Observer;
use crate::packet::outcome::piece::Pieces;
use crate::packet::outcome::run_end::EndedRun;
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Stage};
use crate::packet::process::schedule::Schedule;
use crate::packet::process::stubs::Stubs;
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::batch::Batch;
use crate::packet::turn::border::Border;
use crate::packet::turn::prefetcher::Prefetcher;
use crate::units::Time;
use crate::wire::PathRecords;

/// State of a run, by what each part is responsible for.
pub(crate) struct Sim<C> {
    /// Queues and transmitters.
    pub(crate) links: Links<C>,
    /// The links that each packet passes.
    pub(crate) routes: Routes,
    /// Packets that have left a link and not yet arrived.
    pub(crate) wires: Wires,
    /// Endpoints.
    pub(crate) flows: Flows<C>,
    /// Sources and branches of multicast groups.
    pub(crate) groups: Box<Groups>,
    /// Memories of switches, and what they pause.
    pub(crate) fabric: Box<Fabric>,
    /// What ports noted of packets, for controls that read it.
    pub(crate) ports: Box<PathRecords>,
    /// Which process runs next, and up to what time.
    pub(crate) schedule: Schedule<C>,
    /// What is recorded.
    pub(crate) observer: Observer<C>,
    /// Packets that the process that runs handles in one turn.
    pub(crate) batch: Box<Batch>,
    pub(crate) prefetcher: Prefetcher,
    pub(crate) tally: Tally,
    /// What makes an endpoint, or a branch, send at present.
    pub(crate) cause: Cause,
    /// Why an algorithm failed.
    pub(crate) failure: Option<String>,
    /// What belongs to other threads, if there are others.
    pub(crate) border: Box<Border>,
}

/// An event of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    /// A packet arrived.
    Packet(Ticket),
    /// A local event.
    Local(Key),
}

/// Counts of the engine's work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// Turns of processes.
    pub(crate) turns: u64,
    /// Local events handled.
    pub(crate) events: u64,
    /// Those after which a trial ends within a turn.
    pub(crate) most_events: u64,
    /// When it ended so, on the clock.
    pub(crate) cut_at: Option<u64>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { turns: 0, events: 0, most_events: u64::MAX, cut_at: None }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// At the end of simulated time, or when an algorithm failed.
    Ended,
    /// `progress` stopped it.
    Interrupted,
}

/// Reports why an algorithm that the user defined has failed, if one has.
pub(crate) type Failure<'a> = &'a dyn Fn() -> Option<String>;

impl<C: Clock> Sim<C> {
    /// Runs to the end. `progress` is called from time to time with the simulated time, `pieces` gets rows that are
    /// final; either stops the run by returning false.
    pub(crate) fn run(
        &mut self,
        failure: Failure<'_>,
        progress: &mut dyn FnMut(Time) -> bool,
        mut pieces: Option<&mut Pieces<'_>>,
    ) -> RunEnd {
        self.schedule.start();
        let mut reported = 0;
        while let Some(Entry { time: soonest, who }) = self.schedule.next() {
            let p = who as usize;
            self.schedule.note_soonest(soonest);
            let horizon = self.schedule.horizon(p, soonest);
            let outlet = self.schedule.stubs.number(p);
            if outlet != Stubs::NONE {
                self.run_stubs(outlet, horizon, soonest, failure);
                if self.failure.is_some() {
                    break;
                }
            }
            let turn_end = self.run_turn(p, horizon);
            self.schedule.set_done(p, turn_end);
            if self.has_failed(failure) {
                break;
            }
            self.schedule.schedule(p);
            self.prefetch_next_process(who);
            self.tally.turns += 1;
            if self.observer.is_full()
                && let Some(pieces) = pieces.as_deref_mut()
                && !self.hand_on(&mut *pieces.take)
            {
                return RunEnd::Interrupted;
            }
            if self.tally.turns - reported >= REPORT_INTERVAL {
                reported = self.tally.turns;
                if !progress(Time(C::ps(soonest.min(turn_end).min(self.schedule.end)))) {
                    return RunEnd::Interrupted;
                }
            }
        }
        RunEnd::Ended
    }

    /// Whether an algorithm has failed. Disciplines cannot report a failure themselves.
    #[inline]
    pub(crate) fn has_failed(&mut self, failure: Failure<'_>) -> bool {
        if self.failure.is_none() {
            self.failure = failure();
        }
        self.failure.is_some()
    }

    /// Handles the events of a process before `horizon`. Returns the time before which nothing is left to
    /// do: `horizon`, or earlier for a cluster whose turn is over.
    pub(crate) fn run_turn(&mut self, p: usize, horizon: u64) -> u64 {
        self.schedule.running = p as u32;
        if self.schedule.processes[p].is_cluster() {
            return self.run_cluster(p, horizon);
        }
        self.load_endpoint(p);
        self.advance(p, Stage::Entry, horizon);
        self.advance(p, Stage::Node, horizon);
        horizon
    }

    /// Reads the only endpoint of a process, so that it is in the cache when packets have been gathered.
    #[inline(always)]
    fn load_endpoint(&self, p: usize) {
        if let [index] = self.schedule.processes[p].endpoints[..]
            && let Some(endpoint) = &self.flows.ends[index as usize].endpoint
        {
            black_box(endpoint.deadline());
        }
    }

    /// A channel has a new first packet, which arrives at `arrival`.
    #[inline(never)]
    pub(crate) fn wake(&mut self, channel: u32, arrival: u64) {
        let Channel { to, stage, entrant, .. } = self.wires.channels[channel as usize];
        if C::IS_DIVIDED && self.border.is_foreign(to) {
            self.border.leaving.push(channel);
            return;
        }
        self.schedule.wake(to, stage, entrant, arrival);
    }

    /// Samples the endpoints of a process at every mark up to `now`, between which nothing happens.
    #[inline(never)]
    pub(crate) fn sample_ends(&mut self, p: usize, now: u64) {
        let process = &mut self.schedule.processes[p];
        self.observer.sample_ends(p, process, &self.flows.ends, now);
    }

    /// Samples a link at every mark up to `now`.
    #[inline(always)]
    pub(crate) fn sample_link(&mut self, l: usize, now: u64) {
        self.observer.sample_link(l, &mut self.links.list, now);
    }

    /// The state at the end of the run.
    pub(crate) fn into_ended(self) -> EndedRun<C> {
        EndedRun {
            links: self.links,
            wires: self.wires,
            flows: self.flows,
            routes: self.routes,
            groups: self.groups,
            fabric: self.fabric,
            end: self.schedule.end,
            clock_fault: self.schedule.fault,
            processes: self.schedule.processes,
            observer: self.observer,
            turns: self.tally.turns,
            events: self.tally.events,
        }
    }
}

/// Turns of processes between two reports of progress.
pub(crate) const REPORT_INTERVAL: u64 = 8192;
