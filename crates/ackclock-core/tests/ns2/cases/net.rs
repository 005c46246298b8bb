//! A small packet network for checking endpoints without an engine: duplex paths of drop-tail
//! links, events at one time in the order of their insertion.
//!
//! The clock counts picoseconds, or seconds as ns-2 does. With several flows the difference
//! matters: events that coincide exactly are ordered in ns-2 by the rounding of its sums.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ackclock_core::endpoint::{Deadline, Endpoint, EndpointCtx};
use ackclock_core::ids::FlowId;
use ackclock_core::record::Recorder;
use ackclock_core::rng::{Purpose, Stream};
use ackclock_core::tcp_ns2::{Ns2Sender, Ns2Sink};
use ackclock_core::units::{BitRate, Bytes, Span, Time};
use ackclock_core::wire::{Flags, Packet};

use super::{SendRow, StateRow, micros};

/// A link with its queue.
pub(crate) struct Link {
    pub(crate) rate: BitRate,
    pub(crate) delay: Span,
    pub(crate) limit: usize,
    /// Data packets to drop on arrival, once each.
    pub(crate) listed: Vec<u32>,
    waiting: VecDeque<Packet>,
    flying: VecDeque<Packet>,
    busy: bool,
}

impl Link {
    pub(crate) fn new(rate: BitRate, delay: Span, limit: usize) -> Self {
        Self {
            rate,
            delay,
            limit,
            listed: Vec::new(),
            waiting: VecDeque::new(),
            flying: VecDeque::new(),
            busy: false,
        }
    }
}

/// What happened to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Arrival,
    Departure,
    Delivery,
    Drop,
}

/// An event at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkRow {
    pub(crate) at: Time,
    pub(crate) link: usize,
    pub(crate) what: What,
    pub(crate) flow: u32,
    pub(crate) seq: u32,
    pub(crate) size: u16,
    pub(crate) ack: bool,
}

/// A flow's two ends and the links between them.
pub(crate) struct Flow {
    pub(crate) sender: Ns2Sender,
    pub(crate) sink: Ns2Sink,
    pub(crate) start: Time,
    pub(crate) data_path: Vec<usize>,
    pub(crate) ack_path: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Start(usize),
    Free(usize),
    Deliver(usize),
    Timer { flow: usize, sink: bool },
}

/// What the network's clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    Picoseconds,
    /// Seconds in a double.
    Seconds,
}

enum Call {
    Start,
    Packet(Packet),
    Timer,
}

/// The network.
pub(crate) struct Net {
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    /// Whether `log`, `sends` and `states` are kept.
    pub(crate) keep: bool,
    pub(crate) log: Vec<LinkRow>,
    pub(crate) sends: Vec<(usize, SendRow)>,
    pub(crate) states: Vec<(usize, StateRow)>,
    armed: Vec<[(Deadline, u64); 2]>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    inserted: u64,
    clock: Clock,
    now: Time,
    now_s: f64,
    recorder: Recorder,
    rng: Stream,
}

impl Net {
    pub(crate) fn new(clock: Clock, links: Vec<Link>, flows: Vec<Flow>) -> Self {
        let mut net = Self {
            links,
            armed: vec![[(Deadline::NEVER, 0); 2]; flows.len()],
            flows,
            keep: true,
            log: Vec::new(),
            sends: Vec::new(),
            states: Vec::new(),
            events: BinaryHeap::new(),
            inserted: 0,
            clock,
            now: Time::ZERO,
            now_s: 0.0,
            recorder: Recorder::default(),
            rng: Stream::new(1, Purpose::Sender, 0),
        };
        for flow in 0..net.flows.len() {
            let start = net.flows[flow].start;
            net.schedule(start.since(Time::ZERO), start.seconds(), Event::Start(flow));
        }
        net
    }

    /// Schedules `event` after a delay, which is given both ways.
    fn schedule(&mut self, delay: Span, delay_s: f64, event: Event) {
        let key = match self.clock {
            Clock::Picoseconds => (self.now + delay).0,
            // Doubles that are not negative are in the order of their bits.
            Clock::Seconds => (self.now_s + delay_s).to_bits(),
        };
        self.inserted += 1;
        self.events.push(Reverse((key, self.inserted, event)));
    }

    /// Runs all events before `end`.
    pub(crate) fn run(&mut self, end: Time) {
        while let Some(Reverse((key, inserted, event))) = self.events.pop() {
            match self.clock {
                Clock::Picoseconds => self.now = Time(key),
                Clock::Seconds => {
                    self.now_s = f64::from_bits(key);
                    self.now = Time(Span::from_seconds(self.now_s).0);
                }
            }
            if self.now >= end {
                self.events.push(Reverse((key, inserted, event)));
                break;
            }
            match event {
                Event::Start(flow) => self.call(flow, false, Call::Start),
                Event::Free(link) => {
                    self.links[link].busy = false;
                    self.serve(link);
                }
                Event::Deliver(link) => self.deliver(link),
                Event::Timer { flow, sink } => {
                    // Of the timer events of an endpoint only the last one set counts.
                    let armed = &mut self.armed[flow][usize::from(sink)];
                    if armed.1 == inserted {
                        // The endpoint's own clock must have come to its deadline.
                        self.now = armed.0.at;
                        *armed = (Deadline::NEVER, 0);
                        self.call(flow, sink, Call::Timer);
                    }
                }
            }
        }
    }

    fn log(&mut self, link: usize, what: What, packet: &Packet) {
        if !self.keep {
            return;
        }
        self.log.push(LinkRow {
            at: self.now,
            link,
            what,
            flow: packet.flow.0,
            seq: packet.seq,
            size: packet.size,
            ack: packet.is_ack(),
        });
    }

    fn enter(&mut self, link: usize, packet: Packet) {
        self.log(link, What::Arrival, &packet);
        let l = &mut self.links[link];
        let listed = l.listed.iter().position(|&seq| seq == packet.seq && !packet.is_ack());
        if let Some(position) = listed {
            l.listed.swap_remove(position);
            self.log(link, What::Drop, &packet);
        } else if l.waiting.len() + 1 >= l.limit {
            self.log(link, What::Drop, &packet);
        } else {
            l.waiting.push_back(packet);
            if !l.busy {
                self.serve(link);
            }
        }
    }

    fn serve(&mut self, link: usize) {
        let Some(packet) = self.links[link].waiting.pop_front() else { return };
        self.log(link, What::Departure, &packet);
        let l = &mut self.links[link];
        let tx = l.rate.transmission(Bytes(u64::from(packet.size)));
        let (size, rate) = (f64::from(packet.size), l.rate.bps());
        let delay = l.delay;
        l.busy = true;
        l.flying.push_back(packet);
        let tx_s = size * 8.0 / rate;
        self.schedule(tx + delay, tx_s + delay.seconds(), Event::Deliver(link));
        self.schedule(tx, tx_s, Event::Free(link));
    }

    fn deliver(&mut self, link: usize) {
        let mut packet = self.links[link].flying.pop_front().expect("a packet is in flight");
        self.log(link, What::Delivery, &packet);
        packet.route += 1;
        let flow = packet.flow.0 as usize;
        let f = &self.flows[flow];
        let path = if packet.is_ack() { &f.ack_path } else { &f.data_path };
        match path.get(packet.route as usize).copied() {
            Some(next) => self.enter(next, packet),
            None => self.call(flow, !packet.is_ack(), Call::Packet(packet)),
        }
    }

    fn call(&mut self, flow: usize, sink: bool, call: Call) {
        let mut out = ackclock_core::outbox::Outbox::default();
        let mut ctx = EndpointCtx::new(self.now, &mut out, &mut self.rng, &mut self.recorder);
        let f = &mut self.flows[flow];
        let endpoint: &mut dyn Endpoint = if sink { &mut f.sink } else { &mut f.sender };
        let acked = match &call {
            Call::Packet(packet) if packet.is_ack() => Some(i64::from(packet.seq) - 1),
            _ => None,
        };
        match call {
            Call::Start => endpoint.start(&mut ctx),
            Call::Packet(packet) => endpoint.on_packet(packet, &mut ctx),
            Call::Timer => endpoint.on_timer(&mut ctx),
        }
        let deadline = endpoint.deadline();
        if let Some(ackno) = acked
            && self.keep
        {
            let seen = f.sender.snapshot();
            let row = StateRow {
                us: micros(self.now),
                ackno,
                cwnd: seen.cwnd,
                ssthresh: seen.ssthresh,
                variables: Some(f.sender.variables()),
            };
            self.states.push((flow, row));
        }
        if self.armed[flow][usize::from(sink)].0 != deadline {
            let mut number = 0;
            if deadline.at < Time::MAX {
                let delay = deadline.at.since(self.now);
                self.schedule(delay, delay.seconds(), Event::Timer { flow, sink });
                number = self.inserted;
            }
            self.armed[flow][usize::from(sink)] = (deadline, number);
        }
        for packet in out.take() {
            assert_eq!(packet.flow, FlowId(flow as u32), "an endpoint sends for its own flow");
            let first = if sink {
                self.flows[flow].ack_path[0]
            } else {
                let row = SendRow {
                    us: micros(self.now),
                    seq: packet.seq,
                    size: u32::from(packet.size),
                    again: packet.flags.has(Flags::RETX),
                };
                if self.keep {
                    self.sends.push((flow, row));
                }
                self.flows[flow].data_path[0]
            };
            self.enter(first, packet);
        }
    }
}
