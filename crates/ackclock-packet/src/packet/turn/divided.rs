//! A run that several threads share: each runs the processes of its part of the network, as [`Sim::run`] does, and
//! sends packets for other parts to their threads.
//!
//! Every thread has the whole network, in which processes, links and channels have the same numbers, and uses its part
//! of it. A process runs up to a time before which no further packet can reach it, and the order of events within a
//! process depends on nothing else. So the results are the same bits (`docs/explanation/parallel.md`). Which processes run
//! first, and how long turns are, depends on how fast the other threads are. A process that exchanges packets with other
//! threads has short turns ([`Border::limit_turns`](crate::packet::turn::border::Border::limit_turns)), so that those
//! can go on meanwhile.

use crate::agenda::{Agenda, Entry};
use crate::packet::network::wires::Channel;
use crate::packet::process::clock::Divided;
use crate::packet::process::exchange::Woken;
use crate::packet::process::stubs::Stubs;
use crate::packet::storage::ticket::Parcel;
use crate::packet::turn::member::Member;
use crate::packet::turn::simulator::{REPORT_INTERVAL, RunEnd, Sim};
use crate::units::Time;

/// Turns between two looks at what the others have published.
const TURNS: u32 = if cfg!(test) { 2 } else { 4 };

/// Processes that may wait for others while later ones run.
const WAITING: usize = 8;

/// What a thread does next.
enum Next {
    /// A process can run up to a horizon.
    Run { p: usize, horizon: u64, soonest: u64 },
    /// All processes that have events wait for other threads.
    Wait,
    /// Nothing is left to do before the end.
    Finish,
}

/// Processes that wait for other threads.
#[derive(Default)]
struct Waiting {
    list: Vec<u32>,
    /// The earliest effect of any of them.
    first: Option<u64>,
}

impl Sim<Divided> {
    /// Runs the processes of this thread to the end. `progress` is as of [`Sim::run`]; only the thread that has one
    /// reports.
    pub(crate) fn run_divided(
        &mut self,
        member: &mut Member<'_>,
        mut progress: Option<&mut dyn FnMut(Time) -> bool>,
    ) -> RunEnd {
        let exchange = member.exchange();
        exchange.join(member.number());
        let (homes, me) = (std::mem::take(&mut self.border.homes), self.border.me);
        self.schedule.start_own(|p| homes[p] == me);
        self.border.homes = homes;
        let mut waiting = Waiting::default();
        let (mut turns, mut reported) = (0, 0);
        // Whether a turn may have let go on what waits.
        let (mut has_run, mut is_finished) = (false, false);
        loop {
            if exchange.is_stopped() {
                return RunEnd::Interrupted;
            }
            if turns == 0 {
                // Clocks first, then packets: those that were sent before a clock was published are there.
                let have_clocks = member.read_news(&mut self.schedule);
                if member.receive(|parcels| self.import(parcels)) || have_clocks {
                    self.resume(&mut waiting);
                    let next = self.next_effect(&waiting);
                    let have_grown =
                        member.publish_clocks(&self.schedule, next.min(member.others()));
                    member.publish_news(next, have_grown);
                }
            }
            match self.choose(member, &mut waiting) {
                Next::Run { p, horizon, soonest } => {
                    self.run_process(p, horizon, soonest);
                    if self.failure.is_some() || self.schedule.fault.is_some() {
                        exchange.stop();
                        return RunEnd::Ended;
                    }
                    self.export(member);
                    let next = self.next_effect(&waiting);
                    member.publish_clock(&self.schedule, p, next.min(member.others()));
                    member.publish_turn(next);
                    (turns, has_run) = ((turns + 1) % TURNS, true);
                    self.tally.turns += 1;
                    if self.tally.turns - reported >= REPORT_INTERVAL
                        && let Some(progress) = &mut progress
                    {
                        reported = self.tally.turns;
                        if !progress(Time(soonest.min(self.schedule.end))) {
                            exchange.stop();
                        }
                    }
                    continue;
                }
                Next::Wait if has_run => {
                    (turns, has_run) = (0, false);
                    self.resume(&mut waiting);
                    continue;
                }
                Next::Finish if !is_finished => {
                    is_finished = true;
                    member.publish_clocks(&self.schedule, u64::MAX);
                    member.publish_turn(u64::MAX);
                    exchange.finish();
                }
                Next::Wait | Next::Finish => {}
            }
            turns = 0;
            if exchange.is_finished() {
                member.receive(|parcels| self.import(parcels));
                return RunEnd::Ended;
            }
            let next = self.next_effect(&waiting);
            let woken = member.wait(next, progress.is_some());
            if woken == Woken::ByTime
                && let Some(progress) = &mut progress
                && !progress(Time(next.min(member.others()).min(self.schedule.end)))
            {
                exchange.stop();
            }
        }
    }

    /// The earliest effect that any event of this thread can have on another process.
    #[inline]
    fn next_effect(&self, waiting: &Waiting) -> u64 {
        self.schedule.agenda.first().time.min(waiting.first.unwrap_or(Agenda::NEVER))
    }

    /// Chooses the first process that can run to where it is due, or as long as its turns are; those before it wait.
    fn choose(&mut self, member: &Member<'_>, waiting: &mut Waiting) -> Next {
        let end = self.schedule.end.saturating_add(1);
        while let Some(Entry { time: key, who }) = self.schedule.next() {
            let soonest = self.next_effect(waiting).min(member.others());
            let p = who as usize;
            let horizon = self.schedule.horizon(p, soonest);
            let last = self.border.last_end::<Divided>(p, self.schedule.progress[p].next);
            if horizon >= key.min(end).min(last) {
                return Next::Run { p, horizon: horizon.min(last), soonest };
            }
            let key = self.schedule.suspend(who);
            waiting.list.push(who);
            waiting.first = Some(waiting.first.map_or(key, |first| first.min(key)));
            if waiting.list.len() >= WAITING {
                return Next::Wait;
            }
        }
        if waiting.list.is_empty() && member.others() > self.schedule.end {
            Next::Finish
        } else {
            Next::Wait
        }
    }

    /// Enters the processes that wait into the agenda again.
    fn resume(&mut self, waiting: &mut Waiting) {
        for p in waiting.list.drain(..) {
            self.schedule.schedule(p as usize);
        }
        waiting.first = None;
    }

    /// Runs a process and the stubs before it.
    fn run_process(&mut self, p: usize, horizon: u64, soonest: u64) {
        self.schedule.note_soonest(soonest);
        let outlet = self.schedule.stubs.number(p);
        if outlet != Stubs::NONE {
            self.run_stubs(outlet, horizon, soonest, &|| None);
            if self.failure.is_some() {
                return;
            }
        }
        let turn_end = self.run_turn(p, horizon);
        self.schedule.set_done(p, turn_end);
        self.schedule.schedule(p);
        self.prefetch_next_process(p as u32);
    }

    /// Sends the packets that the last turn has put into channels to other threads.
    #[inline]
    fn export(&mut self, member: &mut Member<'_>) {
        if self.border.leaving.is_empty() {
            return;
        }
        let mut leaving = std::mem::take(&mut self.border.leaving);
        for (index, &channel) in leaving.iter().enumerate() {
            self.prefetch_leaving(&leaving, index);
            let to = self.wires.channels[channel as usize].to;
            let to = usize::from(self.border.homes[to as usize]);
            while let Some((ticket, _)) = {
                let Channel { queue, .. } = &mut self.wires.channels[channel as usize];
                queue.pop(&mut self.wires.store)
            } {
                let mut parcel = Parcel::pack(channel, ticket, &mut self.wires.options);
                while let Err(refused) = member.send(to, parcel) {
                    // Two threads may wait for room in the queues to each other.
                    member.receive(|parcels| self.import(parcels));
                    if member.exchange().is_stopped() {
                        return;
                    }
                    std::thread::yield_now();
                    parcel = refused;
                }
            }
        }
        leaving.clear();
        self.border.leaving = leaving;
    }

    /// Puts packets from other threads into their channels.
    fn import(&mut self, parcels: &[Parcel]) {
        for (index, parcel) in parcels.iter().enumerate() {
            self.prefetch_arrivals(parcels, index);
            let id = parcel.channel as usize;
            let ticket = parcel.unpack(&mut self.wires.options);
            let Channel { queue, to, stage, entrant, .. } = &mut self.wires.channels[id];
            let is_first = queue.is_empty();
            queue.push(&mut self.wires.store, ticket);
            let (to, stage, entrant) = (*to, *stage, *entrant);
            self.schedule.check_arrival(to, ticket.at);
            if is_first {
                self.schedule.wake_from_outside(to, stage, entrant, ticket.at);
            }
        }
    }
}
