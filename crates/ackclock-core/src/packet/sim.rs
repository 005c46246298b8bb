//! The run: processes take turns by their deadlines until the end of simulated time.

use std::hint::black_box;

use super::batch::Batch;
use super::chunks::Store;
use super::custom::Custom;
use super::link::Link;
use super::lp::{Channel, Process, Stage};
use super::observe::{Marks, Observer};
use super::scout::Scout;
use super::stubs::Stubs;
use super::ticket::{Options, Ticket};
use super::timescale::{Timers, Timescale};
use crate::agenda::{Agenda, Entry};
use crate::outbox::Outbox;
use crate::rng::Stream;
use crate::tcp::Endpoint;
use crate::units::Time;
use crate::wire::{DropReason, Packet};

/// One step of a route: the link to enter and the channel that the link's output takes from there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) link: u32,
    pub(super) channel: u32,
}

impl Hop {
    /// In place of a link: the end of a route. The packet is handed to an endpoint, whose number
    /// stands in place of the channel.
    pub(super) const DELIVER: u32 = u32::MAX;
    /// In place of a channel: the next link of the route follows at once. All that reaches that
    /// link comes over this one, in order, and it is a plain FIFO: what it does with a packet is
    /// known as soon as the packet is sent to it.
    pub(super) const ON: u32 = u32::MAX;
}

/// One end of a flow: one cache line.
#[repr(align(64))]
pub(super) struct End {
    pub(super) endpoint: Option<Box<dyn Endpoint>>,
    /// Where its packets enter the route table.
    pub(super) route: u32,
    /// Time of its pending entry among the local events.
    pub(super) pending: u64,
    /// Packets handed to the network and got from it.
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// How far a process is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// Nothing before this is left to do.
    pub(super) done: u64,
    /// Its next event, as far as is known.
    pub(super) next: u64,
}

/// Losses of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Losses {
    pub(super) data: u64,
    pub(super) acks: u64,
    /// Connection requests.
    pub(super) requests: u64,
    /// Data lost after the warm-up.
    pub(super) window_data: u64,
}

/// State of a run.
pub(super) struct Sim {
    pub(super) processes: Vec<Process>,
    pub(super) links: Vec<Link>,
    pub(super) channels: Vec<Channel>,
    /// The packets of all channels.
    pub(super) wires: Store,
    pub(super) hops: Vec<Hop>,
    /// 2 flow: sender, 2 flow + 1: receiver.
    pub(super) ends: Vec<End>,
    /// Random numbers of each end.
    pub(super) rngs: Vec<Stream>,
    pub(super) losses: Vec<Losses>,
    pub(super) keys: Vec<[u32; 2]>,
    pub(super) observer: Observer,
    /// Processes by the soonest effect of what they have to do.
    pub(super) agenda: Agenda,
    /// By process.
    pub(super) clocks: Vec<Clock>,
    /// What `u64` words of time mean, here and in all that follows.
    pub(super) scale: Timescale,
    pub(super) timers: Timers,
    pub(super) end: u64,
    /// The end of the warm-up.
    pub(super) warmup: u64,
    /// Of endpoints.
    pub(super) marks: Marks,
    pub(super) link_marks: Marks,
    /// Packets that arrive somewhere only after the end.
    pub(super) beyond: Vec<Ticket>,
    /// What an endpoint is sending.
    pub(super) out: Outbox,
    /// Options of packets on wires.
    pub(super) options: Options,
    pub(super) dropped: Vec<(Packet, DropReason)>,
    /// Not later than the next local event or mark of the stage that is under way.
    pub(super) next_local: u64,
    /// Packets that a process handles in one go.
    pub(super) batch: Box<Batch>,
    /// Processes activated; local events handled.
    pub(super) activations: u64,
    pub(super) events: u64,
    pub(super) failure: Option<String>,
    pub(super) scout: Scout,
    pub(super) stubs: Stubs,
    /// The process whose turn it is.
    pub(super) running: u32,
}

impl Sim {
    /// Runs to the end. `progress` gets the simulated time now and then and may stop the run by
    /// returning false; then the result is false.
    pub(super) fn run(
        &mut self,
        custom: &dyn Custom,
        progress: &mut dyn FnMut(Time) -> bool,
    ) -> bool {
        // What outlets have to expect stands with them before they are scheduled.
        let mut others: Vec<usize> = (0..self.processes.len()).collect();
        others.retain(|&p| !self.note_stub(p));
        for p in others {
            self.schedule(p);
        }
        let mut looked = 0;
        loop {
            let Entry { time: key, who } = self.agenda.first();
            if key == Agenda::OUT {
                return true;
            }
            let p = who as usize;
            let horizon = self.horizon(p, key).min(self.end.saturating_add(1));
            let outlet = self.stubs.number(p);
            if outlet != Stubs::NONE {
                self.let_stubs_go_on(outlet, horizon, key, custom);
                if self.failure.is_some() {
                    return true;
                }
            }
            let done = self.activate(p, horizon);
            self.clocks[p].done = done;
            if self.has_failed(custom) {
                return true;
            }
            self.schedule(p);
            if self.scout.processes {
                self.call_up_process(self.agenda.next_beside(who));
            }
            self.activations += 1;
            if self.activations - looked >= LOOK {
                looked = self.activations;
                if !progress(Time(self.scale.ps(key.min(done).min(self.end)))) {
                    return false;
                }
            }
        }
    }

    /// Whether an algorithm has failed. A discipline has no way of its own to tell.
    #[inline]
    pub(super) fn has_failed(&mut self, custom: &dyn Custom) -> bool {
        if self.failure.is_none() {
            self.failure = custom.failure();
        }
        self.failure.is_some()
    }

    /// The time before which nothing can reach process `p` that has not reached it yet, when `soonest`
    /// is the soonest effect that anything that any process has yet to do can have on another.
    #[inline]
    pub(super) fn horizon(&self, p: usize, soonest: u64) -> u64 {
        let from = |&(source, time): &(u32, u64)| {
            let Clock { done, next } = self.clocks[source as usize];
            // What is not on its way to the source by now gets there at `soonest` or later.
            self.scale.bound(done.max(next.min(soonest)), time)
        };
        self.processes[p].sources.iter().map(from).min().unwrap_or(u64::MAX).max(soonest)
    }

    /// Puts a process into the agenda by its next event.
    #[inline]
    fn schedule(&mut self, p: usize) {
        let (earliest, effect) = self.processes[p].due(self.scale, self.stubs.expected(p));
        self.clocks[p].next = earliest;
        let key = if earliest <= self.end { effect.min(u64::MAX - 1) } else { Agenda::OUT };
        self.agenda.set(p as u32, key);
    }

    /// A packet stands first in a channel: the process that reads it has a new event.
    #[inline(never)]
    pub(super) fn wake(&mut self, channel: u32, at: u64) {
        let Channel { to, stage, entrant, .. } = self.channels[channel as usize];
        let pending = &mut self.processes[to as usize].stages[stage as usize];
        pending.heads.set(entrant, at);
        // When its turn ends, a process is asked for all that it has to do.
        if to == self.running {
            return;
        }
        let effect = self.scale.bound(at, pending.lookahead);
        let outlet = pending.outlet;
        debug_assert!(
            at >= self.clocks[to as usize].done,
            "a packet reaches a process that is past it"
        );
        if outlet == Stubs::NONE {
            self.bring_forward(to, at, effect);
        } else {
            self.wake_stub(outlet, to, at, effect);
        }
    }

    /// A process has a new event at `at`, which may have an effect on others at `effect`.
    #[inline]
    pub(super) fn bring_forward(&mut self, p: u32, at: u64, effect: u64) {
        let clock = &mut self.clocks[p as usize];
        clock.next = clock.next.min(at);
        // An outlet whose stubs go on has the smallest key of all; it is put back when its turn ends.
        if at <= self.end && effect < self.agenda.get(p) {
            self.agenda.set(p, effect);
        }
    }

    /// Handles the events of a process before `horizon`. The time before which nothing is left to do:
    /// `horizon`, or earlier if it is a cluster.
    pub(super) fn activate(&mut self, p: usize, horizon: u64) -> u64 {
        self.running = p as u32;
        if self.processes[p].is_cluster() {
            return self.take_turn(p, horizon);
        }
        self.call_up_end(p);
        self.advance(p, Stage::Entry, horizon);
        self.advance(p, Stage::Node, horizon);
        horizon
    }

    /// Reads what the only endpoint of a process will need, so that it is near when its packets have
    /// been gathered.
    #[inline(always)]
    fn call_up_end(&self, p: usize) {
        if let [index] = self.processes[p].endpoints[..]
            && let Some(endpoint) = &self.ends[index as usize].endpoint
        {
            black_box(endpoint.deadline());
        }
    }

    /// Samples the endpoints of a process at every mark up to `now`, between which nothing happens.
    #[inline(never)]
    pub(super) fn mark_ends(&mut self, p: usize, now: u64) {
        let Self { processes, marks, observer, ends, warmup, .. } = self;
        let process = &mut processes[p];
        if (process.next_mark..=now).contains(warmup) {
            observer.baseline_ends(process, ends);
        }
        let (samples, next) = marks.pass(p, now);
        process.next_mark = next;
        if !samples.is_empty() {
            observer.sample_ends(samples.end, process, ends);
        }
    }

    /// Samples a link at every mark up to `now`.
    #[inline(always)]
    pub(super) fn mark_link(&mut self, l: usize, now: u64) {
        if self.links[l].next_mark() <= now {
            self.sample_link(l, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn sample_link(&mut self, l: usize, now: u64) {
        while self.links[l].next_mark() <= now {
            let count = self.links.len();
            let link = &mut self.links[l];
            let at = link.next_mark();
            let (rows, next) = self.link_marks.pass(l, at);
            link.mark_at(next);
            if at == self.warmup {
                self.observer.baseline_link(at, l, link);
            }
            for row in rows {
                self.observer.sample_link(at, row, l, count, link);
            }
        }
    }

    /// Packets on wires.
    pub(super) fn on_wires(&self) -> u64 {
        let on_wires = self.channels.iter().map(|c| c.queue.iter(&self.wires).count());
        (on_wires.sum::<usize>() + self.beyond.len()) as u64
    }
}

/// Turns of processes between two calls that tell how far the run is.
const LOOK: u64 = 8192;

/// The end of service of a link that is idle and has a discipline of its own.
pub(super) const IDLE: u64 = u64::MAX;
