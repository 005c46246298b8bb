//! The packet: what travels over links and waits in queues.

mod options;
mod telemetry;

pub use options::{
    AckFrame, CREDIT_UNIT, CreditOption, FramePart, MAX_SACK_BLOCKS, MarkCounts, Options,
    SackBlock, TcpOptions, Timestamps,
};

pub use telemetry::{NO_RECORDS, PathRecords, PortRecord};

use crate::ids::FlowId;
use crate::units::{Span, Time};

/// Header bits and ground-truth marks of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// Acknowledgement (travels from receiver to sender).
    pub const ACK: Self = Self(1);
    /// Connection request; with [`Self::ACK`] its answer.
    pub const SYN: Self = Self(1 << 1);
    /// ECN-capable transport (RFC 3168 ECT).
    pub const ECT: Self = Self(1 << 2);
    /// Congestion experienced (RFC 3168 CE).
    pub const CE: Self = Self(1 << 3);
    /// ECN-Echo, set by a receiver.
    pub const ECE: Self = Self(1 << 4);
    /// Congestion window reduced, set by a sender.
    pub const CWR: Self = Self(1 << 5);
    /// With [`Self::DATAGRAM`], whose packets have no CWR: announces a join experiment to the receivers of
    /// a multicast group.
    pub const ANNOUNCEMENT: Self = Self::CWR;
    /// A retransmission. For statistics and ECT rules; no queue may look at it.
    pub const RETX: Self = Self(1 << 6);
    /// "Out" of profile for RIO (Clark & Fang 1998); absent means "In".
    pub const OUT: Self = Self(1 << 7);
    /// The last segment of a finite transfer.
    pub const FIN: Self = Self(1 << 8);
    /// Sent by an unresponsive source: no transport acknowledges it.
    pub const DATAGRAM: Self = Self(1 << 9);
    /// Among the first packets of its connection, for which its sender requests priority.
    pub const FIRST: Self = Self(1 << 10);
    /// Carries the option that accumulates the time spent in queues ([`Packet::queued`]).
    pub const AQT: Self = Self(1 << 11);
    /// Carries a label of core-stateless routers ([`Packet::label`]).
    pub const LABEL: Self = Self(1 << 12);

    /// On data beside [`Self::ECT`]: ECT(1), the identifier of L4S (RFC 9331); without it ECT(0). Acknowledgements
    /// have ACE in this place.
    pub const ECT_1: Self = Self(1 << 13);

    /// On data: PSH, on the last segment of a burst of several as segmentation offload makes it. Acknowledgements have
    /// ACE in this place.
    pub const PUSH: Self = Self(1 << 14);

    /// On data: a switch may cut the payload off where its queue is full; the receiver knows what to do with the rest.
    /// Acknowledgements have ACE in this place.
    pub const TRIMMABLE: Self = Self(1 << 15);
    /// On data, which has no echo: the payload has been cut off.
    pub const TRIMMED: Self = Self::ECE;
    /// On an acknowledgement of TCP, which ends nothing: [`Packet::seq`] is the segment whose payload was cut off, and
    /// nothing is acknowledged.
    pub const NACK: Self = Self::FIN;

    /// On an acknowledgement, which reduces nothing: it only gives credit, and acknowledges nothing new.
    pub const GRANT: Self = Self::CWR;

    const ACE_SHIFT: u32 = 13;

    /// The ACE field of an acknowledgement (RFC 9768): a count of CE marks modulo 8.
    #[inline]
    pub fn ace(self) -> u32 {
        u32::from(self.0 >> Self::ACE_SHIFT) & 7
    }

    /// Sets the ACE field, which is empty, to a count modulo 8.
    #[inline]
    pub fn set_ace(&mut self, marks: u32) {
        self.0 |= ((marks & 7) as u16) << Self::ACE_SHIFT;
    }

    /// Whether all bits of `other` are set.
    #[inline]
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other`.
    #[inline]
    pub fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Clears the bits of `other`.
    #[inline]
    pub fn clear(&mut self, other: Self) {
        self.0 &= !other.0;
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One tick of the clock in the timestamp options of era `rfc`, and of every receiver's: a sixteenth
/// of a microsecond. 32 bits of it wrap after 268 s.
pub const TIMESTAMP_TICK: Span = Span(62_500);

/// The timestamp of `now` in that clock; never 0, which echoes nothing.
#[inline]
pub fn timestamp(now: Time) -> u32 {
    ((now.0 / TIMESTAMP_TICK.0) as u32).max(1)
}

/// A packet. Not `Clone`: it is stored, forwarded, delivered, or given to a drop call, so that
/// every packet is accounted for.
///
/// Sequence numbers count segments of one MSS; a byte sequence number is `seq * mss`.
#[derive(Debug, PartialEq)]
#[repr(C)]
pub struct Packet {
    /// Data: number of the segment. ACK: the next segment expected (cumulative).
    pub seq: u32,
    /// Owner.
    pub flow: FlowId,
    /// Position in the plan's route table; owned by the engine.
    pub route: u32,
    /// Bytes on the wire, all headers included.
    pub size: u16,
    /// Header bits.
    pub flags: Flags,
    /// The rate label of core-stateless routers, if [`Flags::LABEL`] is set: bytes per second and unit of
    /// weight. Dynamic packet state, in the IP header. On an acknowledgement of REPS what it says of a path
    /// ([`Self::echoed_path`]).
    pub label: f32,
    /// What it carries for the other end.
    pub options: Options,
}

impl Packet {
    /// A packet with the given identity and no options.
    #[inline]
    pub fn new(flow: FlowId, seq: u32, size: u16, flags: Flags) -> Self {
        Self { seq, flow, route: 0, size, flags, label: 0.0, options: Options::None }
    }

    /// Whether this packet travels from receiver to sender.
    #[inline]
    pub fn is_ack(&self) -> bool {
        self.flags.has(Flags::ACK)
    }

    /// Whether this only says what has arrived, so that a newer one of its kind makes it needless: no answer to a connection
    /// request, no report of a payload that was cut off, no grant of credit.
    pub fn is_pure_ack(&self) -> bool {
        let says_more = |flag| self.flags.has(flag);
        self.is_ack() && ![Flags::SYN, Flags::NACK, Flags::GRANT].into_iter().any(says_more)
    }

    /// Time spent in queues that the option has accumulated, to a [`TIMESTAMP_TICK`]: of the packet itself, or,
    /// in an acknowledgement, of the data packet that it echoes. `None` without the option.
    #[inline]
    pub fn queued(&self) -> Option<Span> {
        if !self.flags.has(Flags::AQT) {
            return None;
        }
        self.options.queued().map(|ticks| TIMESTAMP_TICK * u64::from(ticks))
    }

    /// Puts the option on the packet, with this time.
    pub fn set_queued(&mut self, queued: Span) {
        self.flags.set(Flags::AQT);
        let ticks = u32::try_from(queued.0 / TIMESTAMP_TICK.0).unwrap_or(u32::MAX);
        self.options.tcp_mut().set_queued(ticks);
    }

    /// The packet has waited in a queue: the option is brought up to date. An acknowledgement only echoes.
    pub fn add_queued(&mut self, waited: Span) {
        if let Some(queued) = self.queued()
            && !self.is_ack()
        {
            self.set_queued(queued + waited);
        }
    }

    /// Names in an acknowledgement which of its sender's paths what it acknowledges took, a number below 2^24, and whether that
    /// came whole and without a mark.
    pub fn set_echoed_path(&mut self, path: u32, is_clear: bool) {
        self.flags.set(Flags::LABEL);
        let number = (path + 1) as f32;
        self.label = if is_clear { number } else { -number };
    }

    /// What an acknowledgement says of a path, if it names one: the path, and whether what took it came whole and without a mark.
    pub fn echoed_path(&self) -> Option<(u32, bool)> {
        let names_one = self.is_ack() && self.flags.has(Flags::LABEL) && self.label.abs() >= 1.0;
        names_one.then(|| (self.label.abs() as u32 - 1, self.label > 0.0))
    }

    /// Notes in a datagram when it is sent.
    #[inline]
    pub fn set_sent(&mut self, now: Time) {
        self.options = Options::Sent([(now.0 >> 32) as u32, now.0 as u32]);
    }

    /// When it was sent, if that was noted.
    #[inline]
    pub fn sent(&self) -> Option<Time> {
        match self.options {
            Options::Sent([upper, lower]) => Some(Time(u64::from(upper) << 32 | u64::from(lower))),
            _ => None,
        }
    }

    /// TCP's timestamps, if it has the option.
    #[inline]
    pub fn timestamps(&self) -> Option<Timestamps> {
        match &self.options {
            Options::Tcp(options) => options.timestamps,
            _ => None,
        }
    }

    /// What it says of credit, if it does.
    pub fn credit(&self) -> Option<CreditOption> {
        match &self.options {
            Options::Tcp(options) => options.credit(),
            _ => None,
        }
    }

    /// TCP's SACK blocks, most recent first.
    #[inline]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        match &self.options {
            Options::Tcp(options) => options.blocks(),
            _ => &[],
        }
    }
}

/// A packet and the time that matters where it is: arrival time in flight, enqueue time in a queue.
#[derive(Debug, PartialEq)]
pub struct Timed {
    /// Arrival or enqueue time.
    pub at: Time,
    /// The packet.
    pub packet: Packet,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum DropReason {
    /// No room in the buffer.
    Overflow = 0,
    /// Pushed out by longest-queue drop.
    PushedOut = 1,
    /// An AQM's probabilistic early drop.
    Early = 2,
    /// An AQM's certain drop (average above the maximum threshold, CoDel's control law, ...).
    Forced = 3,
    /// Random loss on the link.
    Random = 4,
    /// On the scenario's list of packets to drop.
    Listed = 5,
    /// An AQM would have marked it, but the packet is not ECN-capable.
    Unmarkable = 6,
    /// Larger than the link's MTU.
    TooBig = 7,
    /// Lost on the wire, after its transmission (an impairment).
    Wire = 8,
    /// An acknowledgement that a newer one made needless (an impairment, CAKE's ACK filter).
    Thinned = 9,
    /// Beyond the rate and burst of a policer.
    Policed = 10,
    /// It reached a link that has failed.
    Down = 11,
    /// Its payload was cut off and its header goes on: no packet is dropped.
    Trimmed = 12,
}

impl DropReason {
    /// Number of reasons for which packets are dropped.
    pub const COUNT: usize = 12;
    /// All of them in order of their numbers; a packet that is trimmed is not dropped.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Overflow,
        Self::PushedOut,
        Self::Early,
        Self::Forced,
        Self::Random,
        Self::Listed,
        Self::Unmarkable,
        Self::TooBig,
        Self::Wire,
        Self::Thinned,
        Self::Policed,
        Self::Down,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::PushedOut => "pushed-out",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Random => "random",
            Self::Listed => "listed",
            Self::Unmarkable => "unmarkable",
            Self::TooBig => "too-big",
            Self::Wire => "wire",
            Self::Thinned => "thinned",
            Self::Policed => "policed",
            Self::Down => "down",
            Self::Trimmed => "trimmed",
        }
    }
}
