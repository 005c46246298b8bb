//! The ends of flows: endpoints, their random numbers and timers, and what was sent, received and lost.

use std::collections::VecDeque;
use std::ops::Range;

use crate::compile::find_connection;
use crate::endpoint::{Endpoint, Snapshot};
use crate::ids::FlowId;
use crate::outbox::Outbox;
use crate::packet::network::recycle::Recycling;
use crate::packet::network::waits::Waits;
use crate::packet::process::clock::{Clock, Timers};
use crate::packet::storage::ticket::{OptionStore, Ticket};
use crate::rng::Stream;
use crate::wire::{Flags, Packet};

/// One end of a flow: one cache line.
#[repr(align(64))]
pub(crate) struct End {
    pub(crate) endpoint: Option<Box<dyn Endpoint>>,
    /// Where its packets enter the route table.
    pub(crate) route: u32,
    /// Time of its pending entry among the local events.
    pub(crate) pending: u64,
    /// Packets handed to the network and received from it.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// When a sender has started, or a receiver that is [noted](Self::noted) has got all.
    pub(crate) moment: u64,
    /// Its place among the ends whose completion is noted, or [`Self::UNNOTED`].
    pub(crate) noted: u32,
    /// Bytes of a packet, where a multicast branch takes the place of an endpoint.
    pub(crate) branch_packet: u16,
}

impl End {
    /// In place of the place of an end whose completion is not noted, or no more.
    pub(crate) const UNNOTED: u32 = u32::MAX;

    /// Set in the place of an end of a subflow: its siblings are looked at after each of its calls.
    pub(crate) const SUBFLOW: u32 = 1 << 31;

    /// The place of such an end whose completion is not noted.
    pub(crate) const SUBFLOW_UNNOTED: u32 = u32::MAX - 1;

    /// In place of a moment that has not come.
    pub(crate) const NEVER: u64 = u64::MAX;

    /// An end that has done nothing, whose packets enter the route table at `route`.
    pub(crate) fn new(endpoint: Option<Box<dyn Endpoint>>, route: u32, branch_packet: u16) -> Self {
        Self {
            endpoint,
            route,
            pending: u64::MAX,
            sent: 0,
            received: 0,
            moment: Self::NEVER,
            noted: Self::UNNOTED,
            branch_packet,
        }
    }

    /// State now; `is_sender`: it is the sender's end of its flow.
    pub(crate) fn snapshot(&self, is_sender: bool) -> Snapshot {
        if let Some(endpoint) = &self.endpoint {
            return endpoint.snapshot();
        }
        let size = u64::from(self.branch_packet);
        let mut state = Snapshot::default();
        if is_sender {
            (state.sent_packets, state.sent_bytes) = (self.sent, self.sent * size);
        } else {
            (state.delivered_packets, state.received_packets) = (self.received, self.received);
            (state.delivered_bytes, state.acks_sent) = (self.received * size, self.sent);
        }
        state
    }
}

/// Losses of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    pub(crate) data: u64,
    pub(crate) acks: u64,
    /// Connection requests.
    pub(crate) requests: u64,
    /// Data lost after the warm-up.
    pub(crate) window_data: u64,
    /// Copies that impairments made: of data, of acknowledgements.
    pub(crate) copies: [u64; 2],
}

impl Losses {
    /// Adds those that another thread counted.
    pub(crate) fn add(&mut self, more: &Self) {
        self.data += more.data;
        self.acks += more.acks;
        self.requests += more.requests;
        self.window_data += more.window_data;
        self.copies[0] += more.copies[0];
        self.copies[1] += more.copies[1];
    }
}

/// The paths of an end that has several, or of one beside such.
#[derive(Debug)]
pub(crate) struct Paths {
    /// Where they begin in the route table; at least one.
    pub(crate) routes: Box<[u32]>,
    pub(crate) choice: Choice,
}

/// How an end chooses among its paths.
#[derive(Debug)]
pub(crate) enum Choice {
    /// Each packet takes one of them, each as likely.
    Drawn(Stream),
    /// The same of a receiver whose acknowledgements name the path of what they acknowledge; where the paths of the data begin in
    /// the route table, ascending.
    Echoing(Stream, Box<[u32]>),
    /// Paths that worked are taken again.
    Recycled(Box<Recycling>),
    /// All packets take the present one.
    Moved {
        /// The present one.
        present: u32,
        /// Picoseconds and the path that is the present one from then on, ascending; those that have passed are removed.
        moves: VecDeque<(u64, u32)>,
    },
}

impl Paths {
    /// Where the next packet, sent at `now` in picoseconds, enters the route table.
    pub(crate) fn choose(&mut self, now: u64) -> u32 {
        match (&*self.routes, &mut self.choice) {
            // No draw where there is no choice.
            (&[only], _) => only,
            (several, Choice::Drawn(rng) | Choice::Echoing(rng, _)) => {
                several[rng.below(several.len() as u64) as usize]
            }
            (several, Choice::Recycled(paths)) => {
                several[paths.choose(several.len() as u32) as usize]
            }
            (several, Choice::Moved { present, moves }) => {
                while let Some(&(time, path)) = moves.front()
                    && time <= now
                {
                    *present = path;
                    moves.pop_front();
                }
                several[*present as usize]
            }
        }
    }

    /// A packet with options has come at `now`, in picoseconds: a sender that takes paths again learns what it says of one.
    #[inline(never)]
    pub(crate) fn learn(&mut self, arrived: Ticket, options: &OptionStore, now: u64) {
        if let Choice::Recycled(recycling) = &mut self.choice
            && let Some((path, is_clear)) = arrived.inspect(FlowId(0), options).echoed_path()
            && (path as usize) < self.routes.len()
        {
            recycling.acknowledge(path, is_clear, now);
        }
    }

    /// What is sent in answer to a packet names the path that the packet took, if it is a receiver's that does so.
    pub(crate) fn echo(&self, arrived: Ticket, answers: &mut [Packet]) {
        if let Choice::Echoing(_, data) = &self.choice {
            let path = data.partition_point(|&begin| begin as usize <= arrived.route()) - 1;
            let flags = arrived.flags();
            let is_clear = !flags.has(Flags::CE) && !flags.has(Flags::TRIMMED);
            // A grant says nothing of what has just come.
            for answer in answers.iter_mut().filter(|answer| !answer.flags.has(Flags::GRANT)) {
                answer.set_echoed_path(path as u32, is_clear);
            }
        }
    }
}

/// The ends of all flows.
pub(crate) struct Flows<C> {
    /// 2 flow: sender, 2 flow + 1: receiver. Those of pause frames, without endpoints, are last.
    pub(crate) ends: Vec<End>,
    /// Random numbers of each end.
    pub(crate) rngs: Vec<Stream>,
    /// By flow.
    pub(crate) losses: Vec<Losses>,
    pub(crate) timers: Timers<C>,
    /// What flows wait for.
    pub(crate) waits: Waits,
    /// The paths of each end, where some end has several.
    pub(crate) paths: Vec<Paths>,
    /// The subflows of each connection over several paths, in order.
    pub(crate) connections: Vec<Range<u32>>,
    /// Packets that the endpoint that is being called sends.
    pub(crate) outbox: Outbox,
}

impl<C: Clock> Flows<C> {
    pub(crate) fn new(ends: Vec<End>, rngs: Vec<Stream>, waits: Waits, paths: Vec<Paths>) -> Self {
        // The ends of pause frames have no random numbers.
        let count = rngs.len();
        Self {
            ends,
            rngs,
            losses: vec![Losses::default(); count / 2],
            timers: Timers::new(count),
            waits,
            paths,
            connections: Vec::new(),
            outbox: Outbox::default(),
        }
    }

    /// The subflows of these connections are looked at together.
    pub(crate) fn connect(&mut self, connections: impl Iterator<Item = Range<u32>>) {
        self.connections = connections.collect();
        for flow in self.connections.iter().cloned().flatten() {
            for end in [2 * flow, 2 * flow + 1] {
                let noted = &mut self.ends[end as usize].noted;
                *noted = if *noted == End::UNNOTED {
                    End::SUBFLOW_UNNOTED
                } else {
                    *noted | End::SUBFLOW
                };
            }
        }
    }

    /// The ends of the connection of which this is one, of the same side.
    pub(crate) fn ends_beside(&self, index: usize) -> impl Iterator<Item = usize> + use<C> {
        let flow = index as u32 / 2;
        let place = find_connection(&self.connections, |flows| flows, flow);
        let flows = place.map_or(flow..flow + 1, |place| self.connections[place].clone());
        flows.map(move |flow| 2 * flow as usize + index % 2)
    }

    /// How many ports a packet of data has passed on its path; `None` if it is on no path of its sender.
    pub(crate) fn ports_passed(&self, packet: &Packet) -> Option<u32> {
        let sender = 2 * packet.flow.index();
        match self.paths.get(sender) {
            // Paths of one end follow each other in the route table.
            Some(paths) => {
                paths.routes.iter().filter_map(|&begin| packet.route.checked_sub(begin)).min()
            }
            None => packet.route.checked_sub(self.ends[sender].route),
        }
    }

    /// Counts a packet that the network lost, in the measurement window or before.
    pub(crate) fn count_loss(&mut self, packet: &Packet, is_in_window: bool) {
        let losses = &mut self.losses[packet.flow.index()];
        if packet.is_ack() {
            losses.acks += 1;
        } else if packet.flags.has(Flags::SYN) {
            losses.requests += 1;
        } else {
            losses.data += 1;
            losses.window_data += u64::from(is_in_window);
        }
    }

    /// Counts copies of a packet that an impairment made.
    pub(crate) fn count_copies(&mut self, packet: &Packet, copies: u64) {
        self.losses[packet.flow.index()].copies[usize::from(packet.is_ack())] += copies;
    }
}
