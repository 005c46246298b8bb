//! The plan: a scenario with every name resolved and every default filled in.

use std::fmt;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use crate::cc::CcEnv;
use crate::credits::CreditEnv;
use crate::dscp::Dscp;
use crate::era::Era;
use crate::ids::{LinkId, NodeId};
use crate::multicast::MEMBERSHIP_BYTES;
use crate::multipath::ConnectionParts;
use crate::qdisc::{FlowFacts, Limit};
use crate::quic::{FrameStreams, QuicConfig};
use crate::registry::Spec;
use crate::scenario::{InFlight, Record, Scheduler};
use crate::tcp::{Supply, TIMESTAMP_BYTES, TcpConfig};
use crate::traffic::source::PacketSizes;
use crate::units::{BitRate, Bytes, Span, Time};

/// Bytes of one Mahimahi delivery opportunity (Netravali et al., USENIX ATC 2015, section 3).
pub(crate) const OPPORTUNITY_BYTES: u64 = 1500;

/// Everything an engine needs to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Node names.
    pub nodes: Vec<String>,
    /// Directed links.
    pub links: Vec<PlanLink>,
    /// Flows by start of definition; arrivals of generators after them.
    pub flows: Vec<PlanFlow>,
    /// Classification keys of each flow's data and acknowledgements.
    pub keys: Vec<[u32; 2]>,
    /// What flows wait for, in the order of the ends that they wait for.
    pub waits: Vec<PlanWait>,
    /// The flows that wait, in order, each with the earliest time at which it may start.
    pub held: Vec<(u32, Time)>,
    /// Jobs: flows of which some wait for others.
    pub jobs: Vec<PlanJob>,
    /// Connections over several paths, in the order of their subflows.
    pub connections: Vec<PlanConnection>,
    /// Multicast groups. Each edge of their trees is one of `flows`.
    pub groups: Vec<PlanGroup>,
    /// Number of distinct keys.
    pub key_count: u32,
    /// End of the run.
    pub duration: Time,
    /// Start of the measurement window.
    pub warmup: Time,
    /// Seed.
    pub seed: u64,
    /// Era whose defaults algorithms have.
    pub era: Era,
    /// Name of the scenario's era.
    pub era_name: &'static str,
    /// What to record.
    pub record: Record,
    /// Memory and flow control of switches.
    pub switches: Option<Box<PlanSwitches>>,
    /// Whether a control reads what switches note of its packets.
    pub reads_ports: bool,
}

impl Plan {
    /// Whether the packets of every link are looked at one by one: recorded, taken into a switch's memory, noted with their
    /// ports, or with an option to which queues add, which a computed FIFO does not look at otherwise.
    pub(crate) fn is_watched(&self) -> bool {
        let is_recorded = self.record.tables.iter().any(|table| table.is_of_packets());
        let adds = || self.flows.iter().any(|flow| flow.tcp.aqt);
        is_recorded || self.switches.is_some() || self.reads_ports || adds()
    }

    /// Whether a link has a queue of packets, in place of a FIFO whose departures are computed on arrival: what may be
    /// paused, is counted in the memory of a switch or noted by ports has one under any discipline.
    pub(crate) fn has_queue(&self, settings: &LinkSettings) -> bool {
        let is_plain = settings.qdisc.kind() == "fifo" && !settings.is_impaired();
        !is_plain || self.switches.is_some() || self.reads_ports
    }

    /// Rate of the first link of a flow's data, before any schedule.
    pub fn line_rate(&self, flow: &PlanFlow) -> BitRate {
        let first = flow.route.first().map(|link| self.links[link.index()].rate);
        first.unwrap_or(BitRate(10_000_000_000))
    }

    /// The least time from a finite flow's start to its completion, alone on its path: its bytes at the narrowest link, a full
    /// packet at each other one, and the propagation there and back with an acknowledgement. No handshake is in it.
    /// `None` where there is no size, or no transport.
    pub fn ideal_completion(&self, flow: &PlanFlow) -> Option<Span> {
        Some(self.ideal_arrival(flow)? + self.ideal_way_back(flow))
    }

    /// The least time from a finite flow's start to the arrival of its last byte.
    pub fn ideal_arrival(&self, flow: &PlanFlow) -> Option<Span> {
        let (PlanSender::Tcp { .. } | PlanSender::Quic { .. }) = &*flow.sender else { return None };
        let size = flow.size?.0;
        let mss = u64::from(flow.tcp.mss.max(1));
        let header = u64::from(flow.tcp.header);
        let bytes = size.saturating_add(size.div_ceil(mss).saturating_mul(header));
        let largest = u32::try_from(size.min(mss) + header).unwrap_or(u32::MAX);
        let at_narrowest = |path: &[LinkId]| {
            let rates = path.iter().filter_map(|link| self.links[link.index()].peak());
            rates.min_by_key(|rate| rate.0).map_or(0, |rate| {
                let of_a_packet = rate.transmission(Bytes(u64::from(largest))).0;
                rate.transmission(Bytes(bytes)).0.saturating_sub(of_a_packet)
            })
        };
        let on_way = |path: &[LinkId]| (self.delays(path) + self.transmissions(path, largest)).0;
        // Where the route changes, what is sent first may take the widest and what is sent last the shortest.
        let shortest = flow.paths(Direction::Data).map(on_way).min().unwrap_or(0);
        let widest = flow.paths(Direction::Data).map(at_narrowest).min().unwrap_or(0);
        Some(Span(shortest.saturating_add(widest)))
    }

    /// The least time that an acknowledgement takes back.
    pub fn ideal_way_back(&self, flow: &PlanFlow) -> Span {
        let on_way =
            |path: &[LinkId]| (self.delays(path) + self.transmissions(path, flow.tcp.ack_size)).0;
        Span(flow.paths(Direction::Acks).map(on_way).min().unwrap_or(0))
    }

    /// The propagation of a route.
    fn delays(&self, route: &[LinkId]) -> Span {
        let delay = |link: &LinkId| self.links[link.index()].delay.0;
        Span(route.iter().map(delay).fold(0, u64::saturating_add))
    }

    /// What a control of a flow knows of it.
    pub fn control_env(&self, flow: &PlanFlow, wire_size: u32, era: Era) -> CcEnv {
        let there = self.transmissions(&flow.route, wire_size);
        let back = self.transmissions(&flow.ack_route, flow.tcp.ack_size);
        CcEnv {
            mss: flow.tcp.mss,
            wire_size,
            line_rate: self.line_rate(flow),
            round_trip: self.round_trip(flow) + there + back,
            era,
        }
    }

    /// What a rule of credits knows of a flow.
    pub fn credit_env(&self, flow: &PlanFlow, wire_size: u32) -> CreditEnv {
        let CcEnv { line_rate, round_trip, .. } = self.control_env(flow, wire_size, self.era);
        let last_rate = flow.route.last().map_or(line_rate, |link| self.links[link.index()].rate);
        CreditEnv { wire_size, line_rate, last_rate, round_trip }
    }

    /// The connection of which flow `index` is a subflow, with its number.
    pub fn connection_of(&self, index: u32) -> Option<(usize, &PlanConnection)> {
        let place = find_connection(&self.connections, |connection| &connection.flows, index)?;
        Some((place, &self.connections[place]))
    }

    /// The link of this name.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        let index = self.links.iter().position(|link| link.name(&self.nodes) == name)?;
        Some(LinkId(index as u32))
    }

    /// Round-trip propagation of every flow: the delays of its data's and its acknowledgements' links.
    pub fn round_trips(&self) -> Vec<Span> {
        self.flows.iter().map(|flow| self.round_trip(flow)).collect()
    }

    /// Round-trip propagation of a flow.
    pub fn round_trip(&self, flow: &PlanFlow) -> Span {
        let least = |direction| flow.paths(direction).map(|path| self.delays(path).0).min();
        let [there, back] = [Direction::Data, Direction::Acks].map(|way| least(way).unwrap_or(0));
        Span(there.saturating_add(back))
    }

    /// What a packet of so many bytes takes at least to be sent by each of these links, without propagation.
    pub fn transmissions(&self, route: &[LinkId], size: u32) -> Span {
        let size = Bytes(u64::from(size));
        route.iter().fold(Span::ZERO, |sum, l| {
            let peak = self.links[l.index()].peak();
            sum + peak.map_or(Span::ZERO, |rate| rate.transmission(size))
        })
    }

    /// Every flow as disciplines with classes know it.
    pub fn facts(&self) -> Arc<[FlowFacts]> {
        let nodes: Vec<Arc<str>> = self.nodes.iter().map(|name| name.as_str().into()).collect();
        let facts = |flow: &PlanFlow| {
            let (sender, control): (Arc<str>, _) = match &*flow.sender {
                PlanSender::Tcp { control, .. } => ("tcp".into(), Some(Arc::clone(control))),
                PlanSender::Quic { control, .. } => ("quic".into(), Some(Arc::clone(control))),
                PlanSender::Source { source: spec, .. }
                | PlanSender::Branch { control: spec, .. } => (spec.kind().into(), None),
            };
            FlowFacts {
                id: Arc::clone(&flow.name),
                src: Arc::clone(&nodes[flow.src.index()]),
                dst: Arc::clone(&nodes[flow.dst.index()]),
                pair: flow.pair,
                dscp: flow.dscp,
                sender,
                control,
            }
        };
        self.flows.iter().map(facts).collect()
    }

    /// Flows through each link: those whose data passes or, where there is none, whose
    /// acknowledgements do.
    pub fn flows_through(&self) -> Vec<u32> {
        let mut data = vec![0u32; self.links.len()];
        let mut acks = data.clone();
        for flow in &self.flows {
            for (way, counts) in [(Direction::Data, &mut data), (Direction::Acks, &mut acks)] {
                for link in flow.links(way) {
                    counts[link.index()] += 1;
                }
            }
        }
        data.iter().zip(acks).map(|(&data, acks)| if data > 0 { data } else { acks }).collect()
    }

    /// Classification keys of all packets that can pass each link, ascending.
    pub fn keys_through(&self) -> Vec<Vec<u32>> {
        let mut through = vec![Vec::new(); self.links.len()];
        for (flow, keys) in self.flows.iter().zip(&self.keys) {
            for (way, key) in [(Direction::Data, keys[0]), (Direction::Acks, keys[1])] {
                for link in flow.paths(way).flatten() {
                    through[link.index()].push(key);
                }
            }
        }
        for keys in &mut through {
            keys.sort_unstable();
            keys.dedup();
        }
        through
    }
}

/// What a flow waits for: an end of another flow at the node where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanWait {
    /// Twice the number of the other flow for its sender, one more for its receiver.
    pub end: u32,
    /// The flow that waits.
    pub flow: u32,
    /// Time between the completion of that end and the start of the flow.
    pub pause: Span,
}

/// Flows that are one job, as a collective operation: it is over when all have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanJob {
    /// Name.
    pub name: Arc<str>,
    /// Its flows, by number.
    pub flows: Range<u32>,
}

/// One direction of a link. What links of one definition have in common they share.
#[derive(Clone, Debug)]
pub struct PlanLink {
    /// Its id, if one was given.
    pub id: Option<Box<str>>,
    /// Near end.
    pub from: NodeId,
    /// Far end.
    pub to: NodeId,
    /// Rate (before any schedule).
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Buffer.
    pub limit: Limit,
    /// Largest packet of the flows that use it, sources without TCP included; 1500 where none do.
    pub mean_packet: u32,
    /// The rest.
    pub settings: Arc<LinkSettings>,
}

impl PlanLink {
    /// The highest rate that it ever has; none where a trace gives the times of packets.
    pub fn peak(&self) -> Option<BitRate> {
        match &self.settings.schedule {
            None => Some(self.rate),
            Some(Schedule::Steps(steps)) => steps.iter().map(|s| s.1).chain([self.rate]).max(),
            Some(Schedule::Mahimahi(_)) => None,
        }
    }

    /// Its name: its own, or by its ends among `nodes`, `a->b`.
    pub fn name(&self, nodes: &[String]) -> String {
        self.named(nodes).to_string()
    }

    /// Its name, made when it is written.
    pub fn named<'a>(&'a self, nodes: &'a [String]) -> LinkName<'a> {
        LinkName { link: self, nodes }
    }
}

/// The name of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkName<'a> {
    link: &'a PlanLink,
    nodes: &'a [String],
}

impl fmt::Display for LinkName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { link, nodes } = self;
        match &link.id {
            Some(id) => f.write_str(id),
            None => write!(f, "{}->{}", nodes[link.from.index()], nodes[link.to.index()]),
        }
    }
}

/// Settings that many links share.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSettings {
    /// Largest packet.
    pub mtu: u16,
    /// Queue discipline.
    pub qdisc: Spec,
    /// Path of the discipline in the scenario, for messages.
    pub qdisc_path: String,
    /// Rate over time.
    pub schedule: Option<Schedule>,
    /// Random loss ratio.
    pub loss: f64,
    /// Random loss ratios from given times on, ascending; `loss` holds before the first.
    pub losses: Vec<(Time, f64)>,
    /// Numbers of arrivals to drop.
    pub drop: Vec<u64>,
    /// What the wire does to packets.
    pub impairments: Vec<Spec>,
    /// Path of that list in the scenario, for messages.
    pub impairments_path: String,
    /// When it has failed.
    pub failures: Failures,
}

impl LinkSettings {
    /// Whether packets on its wire are held, lost or copied.
    pub fn is_impaired(&self) -> bool {
        !self.impairments.is_empty() || self.failures.lose_in_flight()
    }

    /// Whether the discipline, or one inside it, has classes that look at more of a packet than its key.
    pub(crate) fn has_classes(&self) -> bool {
        has_classes(&self.qdisc)
    }
}

fn has_classes(spec: &Spec) -> bool {
    const ALWAYS: [&str; 2] = ["priority", "cake"];
    let Spec::Table(table) = spec else { return ALWAYS.contains(&spec.kind()) };
    let inner = table.get("qdisc").and_then(|inner| Spec::deserialize(inner).ok());
    ALWAYS.contains(&spec.kind())
        || table.contains_key("classes")
        || inner.is_some_and(|inner| has_classes(&inner))
}

/// When a link has failed, and what becomes of packets that it has accepted before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// From and until when, ascending and apart.
    pub times: Vec<(Time, Time)>,
    /// What becomes of packets in its queue and on its wire.
    pub in_flight: InFlight,
}

impl Failures {
    /// Whether packets on the wire are lost at times.
    pub fn lose_in_flight(&self) -> bool {
        !self.times.is_empty() && self.in_flight == InFlight::Lost
    }

    /// Whether the link has failed at `time`.
    pub fn is_down(&self, time: Time) -> bool {
        self.times.iter().any(|&(from, until)| from <= time && time < until)
    }
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Steps by time.
    Steps(Vec<(Time, BitRate)>),
    /// Mahimahi delivery opportunities in milliseconds.
    Mahimahi(Vec<u64>),
}

impl Schedule {
    /// Mean rate up to `until` in bit/s of a link whose rate before the first step is `initial_bps`. Of
    /// delivery opportunities it is that of whole periods.
    pub fn mean_bps(&self, initial_bps: f64, until: Time) -> f64 {
        match self {
            Self::Steps(steps) => {
                let ends = steps.iter().map(|step| step.0).chain([until]);
                let rates = [initial_bps].into_iter().chain(steps.iter().map(|step| step.1.bps()));
                let mut from = Time::ZERO;
                let mut bits = 0.0;
                for (end, rate) in ends.map(|end| end.min(until)).zip(rates) {
                    bits += end.since(from).seconds() * rate;
                    from = end;
                }
                bits / until.seconds()
            }
            Self::Mahimahi(times) => {
                let period_s = times.last().copied().unwrap_or_default() as f64 / 1e3;
                times.len() as f64 * OPPORTUNITY_BYTES as f64 * 8.0 / period_s
            }
        }
    }
}

/// One flow. What flows of one definition have in common they share.
#[derive(Clone, Debug)]
pub struct PlanFlow {
    /// Name.
    pub name: Arc<str>,
    /// Path in the scenario, for messages.
    pub path: Arc<str>,
    /// Sending node.
    pub src: NodeId,
    /// Receiving node.
    pub dst: NodeId,
    /// Host pair, if it was given by one.
    pub pair: Option<u32>,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// Start; of a flow that waits for others, the earliest that is possible.
    pub start: Time,
    /// Nothing new is sent after this.
    pub stop: Option<Time>,
    /// Payload; `None` is endless.
    pub size: Option<Bytes>,
    /// How its application hands over its data; `None`: all at once.
    pub supply: Option<Arc<Supply>>,
    /// What sends.
    pub sender: Arc<PlanSender>,
    /// TCP settings.
    pub tcp: Arc<TcpConfig>,
    /// Links of the data.
    pub route: Box<[LinkId]>,
    /// Links of the acknowledgements.
    pub ack_route: Box<[LinkId]>,
    /// The further paths, where packets are sprayed over several or its routes change.
    pub further: Option<Box<FurtherPaths>>,
}

/// Paths that packets of a flow take besides its route and that of its acknowledgements: each as likely, or one after
/// another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FurtherPaths {
    /// Of the data.
    pub data: Box<[Box<[LinkId]>]>,
    /// Of the acknowledgements.
    pub acks: Box<[Box<[LinkId]>]>,
    /// What decides between them.
    pub choice: PathChoice,
}

/// Which of its paths a packet takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PathChoice {
    /// Each at random.
    #[default]
    Spray,
    /// At random, or one that worked before (REPS).
    Recycle,
    /// One for all until the next move: when data, and acknowledgements, change over to which of their paths, ascending.
    Moves([Moves; 2]),
}

/// Times and the numbers of the paths that hold from then on; 0 is the first path.
pub(super) type Moves = Box<[(Time, u32)]>;

impl FurtherPaths {
    /// Whether packets that follow each other may take different paths.
    pub fn is_sprayed(&self) -> bool {
        !matches!(self.choice, PathChoice::Moves(_))
    }

    /// When packets in a direction change over to which path; `None` where they are sprayed.
    pub fn moves(&self, direction: Direction) -> Option<&[(Time, u32)]> {
        match &self.choice {
            PathChoice::Moves(moves) => Some(&moves[direction as usize]),
            PathChoice::Spray | PathChoice::Recycle => None,
        }
    }
}

/// A direction of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From its sender to its receiver.
    Data,
    /// Back.
    Acks,
}

impl PlanFlow {
    /// Its route, or that of its acknowledgements; the first of several.
    pub fn first_path(&self, direction: Direction) -> &[LinkId] {
        match direction {
            Direction::Data => &self.route,
            Direction::Acks => &self.ack_route,
        }
    }

    /// The paths that its packets in a direction may take; the first is that of flows with one.
    pub fn paths(&self, direction: Direction) -> impl Iterator<Item = &[LinkId]> + Clone {
        let further = self.further.as_deref();
        let others = further.map(|paths| match direction {
            Direction::Data => &paths.data,
            Direction::Acks => &paths.acks,
        });
        let others = others.into_iter().flatten().map(|path| &**path);
        iter::once(self.first_path(direction)).chain(others)
    }

    /// Whether its packets are sprayed over several paths.
    pub fn is_sprayed(&self) -> bool {
        self.further.as_ref().is_some_and(|further| further.is_sprayed())
    }

    /// Whether its sender takes paths again that worked (REPS).
    pub fn recycles_paths(&self) -> bool {
        self.further.as_ref().is_some_and(|further| further.choice == PathChoice::Recycle)
    }

    /// The paths of both directions.
    pub fn all_paths(&self) -> impl Iterator<Item = &[LinkId]> + Clone {
        self.paths(Direction::Data).chain(self.paths(Direction::Acks))
    }

    /// The links that packets in a direction may pass, each once.
    pub fn links(&self, direction: Direction) -> Vec<LinkId> {
        let mut links: Vec<LinkId> = self.paths(direction).flatten().copied().collect();
        if self.further.is_some() {
            links.sort_unstable();
            links.dedup();
        }
        links
    }
}

impl PlanFlow {
    /// Bytes on the wire of its largest data packet and of its acknowledgements, or what else comes back;
    /// 0 where nothing does. Blocks of SACK, and ranges of QUIC, are not counted.
    pub fn packet_sizes(&self) -> [u32; 2] {
        let full = self.tcp.wire_size();
        match &*self.sender {
            PlanSender::Source { packets, .. } => [packets.largest, packets.answer].map(u32::from),
            PlanSender::Branch { .. } => [full, u32::from(MEMBERSHIP_BYTES)],
            // The first packets of both ends are padded, whatever the size of the transfer (RFC 9000, section 14.1).
            PlanSender::Quic { config, .. } if config.handshake => [full, full],
            PlanSender::Quic { .. } => [full, self.tcp.ack_size],
            // ns-2 sends whole packets, and counts no bytes of its option.
            PlanSender::Tcp { .. } if self.tcp.era.is_ns2() => [full, self.tcp.ack_size],
            PlanSender::Tcp { .. } => {
                let short = self.size.map_or(full, |size| {
                    u32::try_from(size.0).unwrap_or(u32::MAX).saturating_add(self.tcp.header)
                });
                let option = if self.tcp.timestamps { TIMESTAMP_BYTES } else { 0 };
                [full.min(short), self.tcp.ack_size].map(|size| size.saturating_add(option))
            }
        }
    }
}

/// Name of what is in the place of a control where a program is both ends of a flow.
pub const GUEST: &str = "guest";

/// Begins the name of a control or a queue that is a class of Python.
pub const PYTHON: &str = "python:";

impl PlanFlow {
    /// Whether a program is both its ends.
    pub fn has_guest(&self) -> bool {
        matches!(&*self.sender, PlanSender::Quic { cc, .. } if cc.kind() == GUEST)
    }
}

/// Memory and flow control of switches.
#[derive(Clone, Debug)]
pub struct PlanSwitches {
    /// Bytes of each switch.
    pub memory: Option<u64>,
    /// What a queue may hold for each byte that is free.
    pub alpha: f64,
    /// Priority flow control.
    pub pfc: Option<PlanPfc>,
    /// By node, whether it is a switch.
    pub is_switch: Vec<bool>,
    /// Bytes of the largest packet of all flows.
    pub largest: u32,
    /// By link, the headroom of each of its lossless classes.
    pub headroom: Vec<u64>,
    /// By link, the headroom with which nothing is lost.
    pub needed: Vec<u64>,
}

/// Priority flow control.
#[derive(Clone, Debug)]
pub struct PlanPfc {
    /// Names of the lossless classes; `None`: all.
    pub lossless: Option<Vec<String>>,
    /// Bytes at which a link is paused; `None`: a share of the memory that is free.
    pub xoff: Option<u64>,
    /// Bytes at which it resumes.
    pub xon: Option<u64>,
    /// Bytes of headroom, if they are given.
    pub headroom: Option<u64>,
    /// Time from the arrival of a frame to its effect.
    pub response: Span,
    /// The share of time above which pauses are a storm, and of what time.
    pub storm: (f64, Span),
}

/// What sends a flow's data.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanSender {
    /// TCP.
    Tcp {
        /// Congestion control.
        cc: Spec,
        /// Loss recovery.
        recovery: Spec,
        /// Slow start rule.
        slow_start: Spec,
        /// How its receiver's host gives credit.
        credits: Option<Spec>,
        /// Variables of ns-2's agent.
        ns2: Option<serde_json::Map<String, serde_json::Value>>,
        /// Name of the congestion control.
        control: Arc<str>,
    },
    /// QUIC.
    Quic {
        /// Congestion control.
        cc: Spec,
        /// Slow start rule.
        slow_start: Spec,
        /// Settings.
        config: Arc<QuicConfig>,
        /// Name of the congestion control.
        control: Arc<str>,
        /// Frames of a call.
        streams: Option<FrameStreams>,
    },
    /// An unresponsive source.
    Source {
        /// Which.
        source: Spec,
        /// How large its packets are; those of a source whose parameters are wrong are full ones.
        packets: PacketSizes,
    },
    /// A branch of a multicast tree.
    Branch {
        /// Control of the receivers of its group.
        control: Spec,
        /// Layers of its group.
        layers: Vec<BitRate>,
        /// Whether the far end is a receiver, and not another branch.
        has_receiver: bool,
    },
}

/// A connection over several paths, whose subflows are flows of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanConnection {
    /// Name.
    pub name: Arc<str>,
    /// Its subflows.
    pub flows: Range<u32>,
    /// Which of them gets data.
    pub scheduler: Scheduler,
    /// Payload; `None` is endless.
    pub size: Option<Bytes>,
}

/// The place of the connection, of those in the order of their flows, of which a flow is a subflow.
pub(crate) fn find_connection<T>(
    connections: &[T],
    flows: impl Fn(&T) -> &Range<u32>,
    index: u32,
) -> Option<usize> {
    let place = connections.partition_point(|before| flows(before).end <= index);
    connections.get(place).is_some_and(|next| flows(next).contains(&index)).then_some(place)
}

impl PlanConnection {
    /// What its ends need to know, in segments as those of `flow`, one of its subflows.
    pub(crate) fn parts(&self, flow: &PlanFlow) -> ConnectionParts {
        ConnectionParts {
            scheduler: self.scheduler,
            subflows: self.flows.len(),
            size: self.size,
            mss: flow.tcp.mss,
            receiver_window: flow.tcp.receiver_window,
        }
    }
}

/// A multicast group: a tree whose edges are flows between its source, its branching nodes and its receivers.
#[derive(Clone, Debug)]
pub struct PlanGroup {
    /// Name.
    pub name: Arc<str>,
    /// Node of the source.
    pub src: NodeId,
    /// Rates of the layers.
    pub layers: Vec<BitRate>,
    /// Control of the receivers.
    pub control: Spec,
    /// Bytes of a packet on the wire.
    pub packet: u16,
    /// When the source begins.
    pub start: Time,
    /// When it is silent.
    pub stop: Option<Time>,
    /// Its branching nodes, the source's first.
    pub branches: Vec<PlanBranch>,
    /// The flows that end at its receivers.
    pub receivers: Vec<u32>,
}

/// A node where a multicast tree branches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanBranch {
    /// The flow that ends here; none at the source.
    pub parent: Option<u32>,
    /// The flows that begin here.
    pub children: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_has_a_mean_rate() {
        let time = |s: u64| Time::ZERO + Span::from_millis(1000 * s);
        let steps = Schedule::Steps(vec![(time(2), BitRate(4)), (time(6), BitRate(10))]);
        assert_eq!(steps.mean_bps(1.0, time(10)), (2.0 + 16.0 + 40.0) / 10.0);
        assert_eq!(steps.mean_bps(1.0, time(4)), (2.0 + 8.0) / 4.0);
        // Three packets of 1500 B in 20 ms.
        assert_eq!(Schedule::Mahimahi(vec![5, 5, 20]).mean_bps(1.0, time(4)), 1.8e6);
    }

    /// A network with many flows has several links a flow.
    #[test]
    fn a_link_of_the_plan_is_small() {
        assert!(size_of::<PlanLink>() <= 80);
    }
}
