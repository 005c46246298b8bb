//! The links of a plan under a clock that is not ours: packets enter when others send them.
//!
//! [`Live`] has the links of a run, built as those of a run are, without its ends. The caller, who has the ends, lets packets
//! enter at the times at which they were sent, advances the clock, and takes what has arrived at the other end or was
//! dropped. Everything in between happens at the time at which it is due, not at the time of the call that finds it
//! due: a caller who is late is late with what it takes, and changes nothing else.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use crate::compile::Plan;
use crate::error::Problem;
use crate::packet::network::link::{Link, Service};
use crate::packet::network::links::Links;
use crate::packet::outcome::ledger::Ledger;
use crate::packet::outcome::observe::Observer;
use crate::packet::outcome::results::Results;
use crate::packet::process::clock::Picoseconds;
use crate::packet::setup::custom::RegistryOnly;
use crate::packet::setup::links::build_links;
use crate::packet::setup::observer::build_observer;
use crate::record::{Event, Table};
use crate::units::{Span, Time};
use crate::wire::{DropReason, Packet, Timed};

/// Tables that [`Live`] records; the others are of the ends.
pub const LIVE_TABLES: [Table; 4] =
    [Table::Drops, Table::Queues, Table::Packets, Table::LinkSamples];

/// Impairments of wires that [`Live`] carries out: those that hold packets, by a schedule, and do nothing else.
pub const LIVE_IMPAIRMENTS: [&str; 1] = ["delay-steps"];

/// A packet that has left the network.
#[derive(Debug, PartialEq)]
pub struct Left {
    /// When.
    pub time: Time,
    /// The packet, with the marks that it got.
    pub packet: Packet,
    /// Why it was dropped; none: it arrived.
    pub dropped: Option<DropReason>,
}

/// What passed of one flow: of its data, of its acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveFlow {
    /// Packets that entered.
    pub entered: [u64; 2],
    /// Packets that arrived.
    pub arrived: [u64; 2],
    /// Packets that were dropped.
    pub lost: [u64; 2],
    /// Data packets that entered after the warm-up.
    pub window_entered: u64,
    /// Data packets that were dropped after the warm-up.
    pub window_lost: u64,
}

/// What happens next.
#[derive(Debug)]
enum What {
    /// A packet arrives at the next link of its route, or at its end.
    Arrive(Packet),
    /// The transmitter of a link is free.
    Free(u32),
    /// The timer of the discipline of a link.
    Timer(u32),
}

/// An event; of those at one time the one that was entered first comes first.
#[derive(Debug)]
struct Due {
    time: u64,
    number: u64,
    event: What,
}

impl Ord for Due {
    /// The first event is the greatest, as the heap has the greatest on top.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.number).cmp(&(self.time, self.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Due {}

/// The links of a plan, without the ends of its flows.
#[expect(missing_debug_implementations, reason = "holds disciplines")]
pub struct Live {
    plan: Plan,
    links: Links<Picoseconds>,
    observer: Observer<Picoseconds>,
    /// By flow, the links of its data and of its acknowledgements.
    routes: Vec<[Box<[u32]>; 2]>,
    flows: Vec<LiveFlow>,
    due: BinaryHeap<Due>,
    number: u64,
    left: VecDeque<Left>,
    /// Packets on wires.
    on_wires: u64,
    /// Events handled.
    events: u64,
}

impl Live {
    /// Builds the links of a plan.
    ///
    /// Of impairments of wires only how long they hold a packet is carried out: `plan` must have none that lose or
    /// copy packets, such as those beside [`LIVE_IMPAIRMENTS`].
    ///
    /// # Errors
    /// Bad parameters of disciplines.
    pub fn new(plan: &Plan) -> Result<Self, Vec<Problem>> {
        let mut plan = plan.clone();
        plan.record.tables.retain(|table| LIVE_TABLES.contains(table));
        let mut problems = Vec::new();
        if plan.flows.iter().any(|flow| flow.further.is_some()) {
            let message = "sends packets of a flow over several paths, which real packets do not take; expected \
                           equal_paths = \"hash\" or \"first\", and routes that stay";
            problems.push(Problem::new("equal_paths", message));
        }
        let mut links = build_links::<Picoseconds>(&plan, &RegistryOnly, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let observer = build_observer(&plan, 0);
        for link in &mut links {
            link.set_mark(observer.link_marks.first());
        }
        let route = |links: &[crate::ids::LinkId]| links.iter().map(|link| link.0).collect();
        let routes = plan.flows.iter().map(|f| [route(&f.route), route(&f.ack_route)]).collect();
        let timers: Vec<_> = links.iter().map(timer_of).collect();
        let mut live = Self {
            flows: vec![LiveFlow::default(); plan.flows.len()],
            links: Links::new(links, plan.keys.clone()),
            observer,
            routes,
            due: BinaryHeap::new(),
            number: 0,
            left: VecDeque::new(),
            on_wires: 0,
            events: 0,
            plan,
        };
        for (l, interval) in timers.into_iter().enumerate() {
            if let Some(interval) = interval {
                live.add(interval, What::Timer(l as u32));
            }
        }
        Ok(live)
    }

    /// When something happens next, if nothing enters before.
    pub fn next(&self) -> Option<Time> {
        self.due.peek().map(|due| Time(due.time))
    }

    /// Lets everything happen that is due up to `now`.
    pub fn advance(&mut self, now: Time) {
        while self.due.peek().is_some_and(|due| due.time <= now.0) {
            let Some(Due { time, event, .. }) = self.due.pop() else { return };
            self.events += 1;
            match event {
                What::Arrive(packet) => {
                    self.on_wires -= 1;
                    self.step(packet, time);
                }
                What::Free(link) => {
                    self.sample(link, time);
                    self.transmit(link, time);
                }
                What::Timer(link) => {
                    self.sample(link, time);
                    self.links.run_timer(link, time);
                    if let Some(interval) = timer_of(&self.links.list[link as usize]) {
                        self.add(time.saturating_add(interval), What::Timer(link));
                    }
                    self.lose_dropped(link, time);
                }
            }
        }
    }

    /// A packet of a flow enters at `now`, after all that is due up to then.
    pub fn enter(&mut self, mut packet: Packet, now: Time) {
        self.advance(now);
        packet.route = 0;
        let way = usize::from(packet.is_ack());
        let flow = &mut self.flows[packet.flow.index()];
        flow.entered[way] += 1;
        flow.window_entered += u64::from(way == 0 && now.0 >= self.observer.warmup);
        self.step(packet, now.0);
    }

    /// The next packet that has left the network, in the order of time.
    pub fn take(&mut self) -> Option<Left> {
        self.left.pop_front()
    }

    /// Packets in the network: those that wait, and those on wires.
    pub fn under_way(&self) -> u64 {
        self.on_wires + self.links.list.iter().map(|link| link.held() as u64).sum::<u64>()
    }

    /// What passed of each flow so far.
    pub fn flows(&self) -> &[LiveFlow] {
        &self.flows
    }

    /// Ends at the end of the plan, and returns plan and results, which are of the links only.
    ///
    /// # Errors
    /// If packets were not conserved: a fault of ours, with its numbers.
    pub fn finish(mut self) -> Result<(Plan, Results), String> {
        let end = self.plan.duration.0;
        self.advance(Time(end));
        let sum = |counters: fn(&LiveFlow) -> [u64; 2]| -> u64 {
            self.flows.iter().flat_map(counters).sum()
        };
        let (entered, arrived, lost) = (sum(|f| f.entered), sum(|f| f.arrived), sum(|f| f.lost));
        let under_way = self.under_way();
        if entered != arrived + lost + under_way {
            return Err(format!(
                "{entered} packets entered, {arrived} arrived, {lost} were dropped, {under_way} are under way"
            ));
        }
        let Self { plan, links, mut observer, .. } = self;
        let mut list = links.list;
        let mut ledger = Ledger::new(self.on_wires);
        let mut results = Vec::with_capacity(list.len());
        for l in 0..list.len() {
            observer.sample_link(l, &mut list, end);
            list[l].settle(end + 1);
            results.push(ledger.add_link(&list[l], l, end, &observer.base, &plan)?);
        }
        let hops = list.iter().map(Link::arrived).sum();
        let tables = observer.recorder.tables.take_before(Time(end.saturating_add(1)));
        let results = Results {
            pfc: Vec::new(),
            window_s: Span(plan.duration.0 - plan.warmup.0).seconds(),
            packet_hops: hops,
            events: hops + self.events,
            activations: 0,
            flows: Vec::new(),
            links: results,
            warnings: Vec::new(),
            warm_ups: Vec::new(),
            digest: ledger.digest,
            most_held_rows: 0,
            tables,
            delays: Vec::new(),
            flow_samples: crate::record::FlowSamples::default(),
            link_samples: observer.link_samples.unwrap_or_default(),
        };
        Ok((plan, results))
    }

    fn add(&mut self, time: u64, event: What) {
        self.number += 1;
        self.due.push(Due { time, number: self.number, event });
    }

    fn sample(&mut self, link: u32, now: u64) {
        self.observer.sample_link(link as usize, &mut self.links.list, now);
    }

    /// A packet is at the next place of its route.
    fn step(&mut self, mut packet: Packet, now: u64) {
        let way = usize::from(packet.is_ack());
        let route = &self.routes[packet.flow.index()][way];
        let Some(&link) = route.get(packet.route as usize) else {
            self.flows[packet.flow.index()].arrived[way] += 1;
            self.left.push_back(Left { time: Time(now), packet, dropped: None });
            return;
        };
        packet.route += 1;
        self.sample(link, now);
        let state = &mut self.links.list[link as usize];
        if state.watched {
            self.observer.record_packet(now, link, &packet, Event::Arrival);
            let hazard = state.check_hazards(now, &packet);
            if let Some(reason) = hazard {
                state.count_arrival();
                return self.lose(link, packet, reason, now);
            }
        }
        state.count_arrival();
        if state.disc.is_some() {
            self.links.enqueue(link, packet, now);
            let is_idle = self.links.list[link as usize].service.end == Service::IDLE;
            self.lose_dropped(link, now);
            if is_idle {
                self.transmit(link, now);
            }
            return;
        }
        if state.settle(now) {
            state.settle_tie(now, 0);
        }
        let Some(arrival) = state.admit(now, packet.size) else {
            return self.lose(link, packet, DropReason::Overflow, now);
        };
        if state.watched {
            self.observer.record_computed_departure(state, link, &packet);
        }
        self.launch(packet, arrival);
    }

    /// A packet is on a wire, and arrives at its end at `arrival`.
    fn launch(&mut self, packet: Packet, arrival: u64) {
        self.on_wires += 1;
        self.add(arrival, What::Arrive(packet));
    }

    /// Begins the next transmission of a link with a discipline whose transmitter is free.
    fn transmit(&mut self, link_id: u32, now: u64) {
        let (link, next) = self.links.transmit(link_id, now);
        match next {
            Some(Timed { at: arrived_at, packet }) => {
                let end = link.service.end;
                self.observer.record_packet(now, link_id, &packet, Event::Departure);
                let hold = link.impaired_mut().map_or(0, |impaired| {
                    impaired.decide(&packet, Time(end)).release.since(Time(end)).0
                });
                self.launch(packet, arrived_at.0.saturating_add(hold));
                self.add(end, What::Free(link_id));
            }
            None => match link.held_until(now) {
                None => link.become_idle(now),
                Some(rest_end) => {
                    link.rest_until(rest_end);
                    self.add(rest_end, What::Free(link_id));
                }
            },
        }
        self.lose_dropped(link_id, now);
    }

    fn lose_dropped(&mut self, link: u32, now: u64) {
        if self.links.dropped.is_empty() {
            return;
        }
        let mut dropped = std::mem::take(&mut self.links.dropped);
        for (packet, reason) in dropped.drain(..) {
            if reason == DropReason::Trimmed {
                self.links.list[link as usize].count_trim();
                self.observer.record_trim(now, link, &packet);
            } else {
                self.lose(link, packet, reason, now);
            }
        }
        self.links.dropped = dropped;
    }

    fn lose(&mut self, link: u32, packet: Packet, reason: DropReason, now: u64) {
        self.links.list[link as usize].count_drop(&packet, reason);
        let way = usize::from(packet.is_ack());
        let flow = &mut self.flows[packet.flow.index()];
        flow.lost[way] += 1;
        flow.window_lost += u64::from(way == 0 && now >= self.observer.warmup);
        self.observer.record_drop(now, link, &packet, reason);
        self.left.push_back(Left { time: Time(now), packet, dropped: Some(reason) });
    }
}

/// The interval of the timer of a link's discipline, if it has one.
fn timer_of(link: &Link<Picoseconds>) -> Option<u64> {
    Some(link.disc.as_ref()?.disc.timer_interval()?.0.max(1))
}

#[cfg(test)]
mod tests;
