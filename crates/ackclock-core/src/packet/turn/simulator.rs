//! The run: processes take turns by their deadlines until the end of simulated time.

use std::hint::black_box;

use crate::agenda::{Agenda, Entry};
use crate::outbox::Outbox;
use crate::packet::network::end::{End, Losses};
use crate::packet::network::impaired::Impaired;
use crate::packet::network::link::Link;
use crate::packet::network::route::Hop;
use crate::packet::network::wires::Channel;
use crate::packet::outcome::observe::{Marks, Observer};
use crate::packet::process::clock::{Timers, Timescale};
use crate::packet::process::event::Stage;
use crate::packet::process::logical_process::{Clock, Process};
use crate::packet::setup::custom::Custom;
use crate::packet::storage::ticket::{Options, Ticket};
use crate::packet::storage::wire_queue::Store;
use crate::packet::turn::batch::Batch;
use crate::packet::turn::prefetch::Scout;
use crate::packet::turn::stub_hosts::Stubs;
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Packet};

/// State of a run.
pub(in crate::packet) struct Sim {
    pub(in crate::packet) processes: Vec<Process>,
    pub(in crate::packet) links: Vec<Link>,
    pub(in crate::packet) channels: Vec<Channel>,
    /// The packets of all channels.
    pub(in crate::packet) wires: Store,
    pub(in crate::packet) hops: Vec<Hop>,
    /// 2 flow: sender, 2 flow + 1: receiver.
    pub(in crate::packet) ends: Vec<End>,
    /// Random numbers of each end.
    pub(in crate::packet) rngs: Vec<Stream>,
    pub(in crate::packet) losses: Vec<Losses>,
    pub(in crate::packet) keys: Vec<[u32; 2]>,
    pub(in crate::packet) observer: Observer,
    /// Processes by the soonest effect of what they have to do.
    pub(in crate::packet) agenda: Agenda,
    /// By process.
    pub(in crate::packet) clocks: Vec<Clock>,
    /// What `u64` words of time mean, here and in all that follows.
    pub(in crate::packet) scale: Timescale,
    pub(in crate::packet) timers: Timers,
    pub(in crate::packet) end: u64,
    /// The end of the warm-up.
    pub(in crate::packet) warmup: u64,
    /// Of endpoints.
    pub(in crate::packet) marks: Marks,
    pub(in crate::packet) link_marks: Marks,
    /// Packets that arrive somewhere only after the end.
    pub(in crate::packet) beyond: Vec<Ticket>,
    /// What an endpoint is sending.
    pub(in crate::packet) out: Outbox,
    /// Options of packets on wires.
    pub(in crate::packet) options: Options,
    pub(in crate::packet) dropped: Vec<(Packet, DropReason)>,
    /// Not later than the next local event or mark of the stage that is under way.
    pub(in crate::packet) next_local: u64,
    /// Packets that a process handles in one go.
    pub(in crate::packet) batch: Box<Batch>,
    /// Processes activated; local events handled.
    pub(in crate::packet) activations: u64,
    pub(in crate::packet) events: u64,
    pub(in crate::packet) failure: Option<String>,
    pub(in crate::packet) scout: Scout,
    pub(in crate::packet) stubs: Stubs,
    /// The process whose turn it is.
    pub(in crate::packet) running: u32,
}

impl Sim {
    /// Runs to the end. `progress` gets the simulated time now and then and may stop the run by
    /// returning false; then the result is false.
    pub(in crate::packet) fn run(
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
    pub(in crate::packet) fn has_failed(&mut self, custom: &dyn Custom) -> bool {
        if self.failure.is_none() {
            self.failure = custom.failure();
        }
        self.failure.is_some()
    }

    /// The time before which nothing can reach process `p` that has not reached it yet, when `soonest`
    /// is the soonest effect that anything that any process has yet to do can have on another.
    #[inline]
    pub(in crate::packet) fn horizon(&self, p: usize, soonest: u64) -> u64 {
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
    pub(in crate::packet) fn wake(&mut self, channel: u32, at: u64) {
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
    pub(in crate::packet) fn bring_forward(&mut self, p: u32, at: u64, effect: u64) {
        let clock = &mut self.clocks[p as usize];
        clock.next = clock.next.min(at);
        // An outlet whose stubs go on has the smallest key of all; it is put back when its turn ends.
        if at <= self.end && effect < self.agenda.get(p) {
            self.agenda.set(p, effect);
        }
    }

    /// Handles the events of a process before `horizon`. The time before which nothing is left to do:
    /// `horizon`, or earlier if it is a cluster.
    pub(in crate::packet) fn activate(&mut self, p: usize, horizon: u64) -> u64 {
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
    pub(in crate::packet) fn mark_ends(&mut self, p: usize, now: u64) {
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
    pub(in crate::packet) fn mark_link(&mut self, l: usize, now: u64) {
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
    pub(in crate::packet) fn on_wires(&self) -> u64 {
        let on_wires = self.channels.iter().map(|c| c.queue.iter(&self.wires).count());
        let held = self.links.iter().filter_map(Link::impaired).map(Impaired::len);
        (on_wires.sum::<usize>() + held.sum::<usize>() + self.beyond.len()) as u64
    }
}

/// Turns of processes between two calls that tell how far the run is.
const LOOK: u64 = 8192;
