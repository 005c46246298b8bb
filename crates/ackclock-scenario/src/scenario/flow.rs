//! Flows and traffic generators as the user describes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{FrameStream, Guest, Media, Multipath, Names, QuicOptions, Transport};
use crate::dscp::Dscp;
use crate::registry::Spec;
use crate::units::{BitRate, Bytes, Span};

/// One flow: TCP unless `source`, `transport` or the era says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Flow {
    /// Name; left out: `f0`, `f1`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Host pair of a standard shape; or give `src` and `dst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<u32>,
    /// Sending node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src: Option<String>,
    /// Receiving node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst: Option<String>,
    /// A traffic pattern that draws `src` and `dst` of each of `count` flows (`uniform-pairs`, ...) among
    /// `hosts`, or a collective operation (`ring-all-reduce`, ...) on `size` bytes of each of them, whose transfers wait for
    /// each other. Excludes `pair`, `src`, `dst`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "pattern"))]
    pub between: Option<Spec>,
    /// With `between`: the nodes that flows connect: names, `all`, or `leaves` for those with one neighbour. Left
    /// out: the network's hosts (of `tiers` those of its LANs, of other shapes the nodes with one link), or all
    /// nodes of a map without hosts (spelled out, imported, `oc-backbone`, random without `edge_nodes`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Names>,
    /// Nodes that the data passes, from `src` to `dst`. Left out: by `routing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Nodes that the acknowledgements pass, from `dst` to `src`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_route: Option<Vec<String>>,
    /// Other routes from given times on, ascending: a handover, or another choice among equal paths. A packet takes the
    /// route that holds when its end sends it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<RouteMove>,
    /// The flow is a connection over several paths at once (MPTCP), each with a subflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multipath: Option<Multipath>,
    /// Start time; with `after`, counted from the completion of the last of these.
    #[schemars(extend("x-bare" = true))]
    pub start: Span,
    /// Names of flows listed before this one, or of entries with `count` or `between` in place of all their flows. It starts
    /// when those of them that end where it begins have arrived, and those that begin there are acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    /// The flow starts at a random time, uniform from `start` to this much later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_jitter: Option<Span>,
    /// Nothing new is sent after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-bare" = true))]
    pub stop: Option<Span>,
    /// Payload to transfer; left out: endless.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub size: Option<Bytes>,
    /// With `size`: the application hands over so much each time that this has passed, over one connection
    /// that rests in between; whole segments, up to `stop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001))]
    pub every: Option<Span>,
    /// How fast the application hands over data: steps, each from its time on; all at once before the first.
    /// What has not left by a step with a rate is not there any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<Vec<AppStep>>,
    /// The flow carries the frames of a video encoder, whose rate follows the congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
    /// The flow is a call over QUIC: frames of several streams, made at regular times, over one connection in the order of
    /// their priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<Vec<FrameStream>>,
    /// What carries the data: `tcp` or `quic`. Left out: `quic` in era `quic`, else `tcp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// Congestion control.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "cc"))]
    pub cc: Option<Spec>,
    /// Loss recovery of TCP; QUIC has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "recovery"))]
    pub recovery: Option<Spec>,
    /// Slow start rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "slow_start"))]
    pub slow_start: Option<Spec>,
    /// The receiving host gives credit for what is sent, by this rule. Beside it `cc` may be left out: then nothing but credit holds
    /// the flow back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "credits"))]
    pub credits: Option<Spec>,
    /// An unresponsive source (`cbr`, `pareto-on-off`, ...) in place of TCP.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-room" = "source"))]
    pub source: Option<Spec>,
    /// A program that is both ends in place of ours: a shipped stack in virtual time. Settings come from `quic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
    /// Differentiated services code point of all its packets, either way: a number of 0 to 63, or a name as
    /// `ef`, `af41`, `cs1`. Left out: 0. Disciplines with `classes` may look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// TCP settings of this flow; what is left out comes from the scenario's `tcp`, then from the era.
    pub tcp: TcpOptions,
    /// QUIC settings of this flow; what is left out comes from the scenario's `quic`, then from the RFCs.
    pub quic: QuicOptions,
    /// This many copies of the flow (pairs count on from `pair`); 0 leaves the flow out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// With `count`: starts are spaced by this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stagger: Option<Span>,
}

/// Routes of a flow from a time on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteMove {
    /// From this time on.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// Nodes that the data passes, from `src` to `dst`. Left out: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Vec<String>>,
    /// Nodes that the acknowledgements pass, from `dst` to `src`. Left out: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_route: Option<Vec<String>>,
}

/// A rate at which an application hands over data, from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppStep {
    /// From this time on.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// This rate of payload (0: a pause); left out: all that there is, at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
}

/// A generator of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Which generator, with its parameters.
    #[schemars(extend("x-room" = "arrivals"))]
    pub generator: Spec,
    /// Template of each flow: everything but start, size and, for some generators, the hosts.
    #[serde(default)]
    pub flow: Flow,
    /// Number of its random stream; left out: its place in the list. Equal generators of one stream make the same
    /// transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
}

/// TCP settings; whatever is left out takes the era's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TcpOptions {
    /// Payload bytes of a full segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65523), extend("x-unit" = "B"))]
    pub mss: Option<u32>,
    /// Header bytes on the wire of every data packet; at most 65523 B together with `mss`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 65522), extend("x-unit" = "B"))]
    pub header: Option<u32>,
    /// Bytes on the wire of an acknowledgement without SACK blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65000), extend("x-unit" = "B"))]
    pub ack_size: Option<u32>,
    /// Initial window in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-unit" = "segments"))]
    pub initial_window: Option<u32>,
    /// Initial ssthresh in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<f64>,
    /// Receiver's window in segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-unit" = "segments"))]
    pub receiver_window: Option<u32>,
    /// The receiver's window begins at 64 kB and grows by two segments for each that has arrived, up to
    /// `receiver_window` (as Linux's does for an application that reads at once).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_autotuning: Option<bool>,
    /// Data packets per acknowledgement (1: no delayed ACKs).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub delayed_ack: Option<u32>,
    /// An acknowledgement is delayed no longer than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack_timeout: Option<Span>,
    /// Connection request before data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn: Option<bool>,
    /// Timestamp option (RFC 7323): every acknowledgement gives an RTT sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// ECN (RFC 3168).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Accurate ECN (RFC 9768): every acknowledgement carries a count of marked packets; implies `ecn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accecn: Option<bool>,
    /// The receiver reports duplicates by SACK blocks (DSACK, RFC 2883), and the sender takes back a reduction
    /// all of whose retransmissions were duplicates (RFC 3708).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// The sender takes back a reduction when a timestamp shows that the original has arrived (RFC 3522,
    /// 4015); needs `timestamps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eifel: Option<bool>,
    /// After a timeout the sender finds out by new data whether it was needless (F-RTO, RFC 5682).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frto: Option<bool>,
    /// A misbehaving receiver: every acknowledgement covers so many segments beyond the highest that has arrived,
    /// whatever is missing before it (optimistic ACKs); 0 hides losses only. Left out: the receiver follows the
    /// rules. A sender ignores acknowledgements of what it has not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "segments"))]
    pub optimistic_acks: Option<u32>,
    /// False: a misbehaving receiver, which never reports a CE mark to its sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_echo: Option<bool>,
    /// Data packets carry RIO's mark "Out" (of profile); acknowledgements do not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_of_profile: Option<bool>,
    /// So many of the first data packets of a connection, and its request, are marked for priority: routers
    /// with the `priority` discipline send them at once, so that a late-comer measures propagation. With delayed
    /// acknowledgements it takes as many as one acknowledgement waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_priority: Option<u32>,
    /// Packets carry an option to which every queue adds the time that they waited (AQT); the smallest round
    /// trip reported to the control then excludes queueing on the way of the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqt: Option<bool>,
    /// Switches with the discipline `trim` may cut the payload of data off instead of dropping it; the receiver answers the
    /// header at once (NACK), and the sender sends the segment again. Needs `recovery = "rack"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trimming: Option<bool>,
    /// Limited transmit (RFC 3042).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Restart from the restart window after an idle RTO (RFC 5681 section 4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// Smallest RTO.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Span>,
    /// Largest RTO.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001))]
    pub max_rto: Option<Span>,
    /// RTO before the first sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001))]
    pub initial_rto: Option<Span>,
    /// Clock granularity of RTT measurement (RFC 6298 G; ns-2's tcpTick_).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_001))]
    pub tick: Option<Span>,
    /// ns-2's boot time: phase of its tick clock, in [0, tick).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<Span>,
    /// So many acknowledgements leave at once at the beginning, after a pause longer than the smallest RTO and after
    /// a duplicate, before any is delayed (Linux: 16).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "packets"))]
    pub quick_acks: Option<u32>,
    /// After three acknowledgements at once, those of further data out of order wait so long, at most 5 % of the round
    /// trip, for one that reports all (Linux: 1 ms; 0: none waits).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack_delay: Option<Span>,
    /// The segment that ends a frame of `media` is acknowledged at once, as the feedback that SCReAM recommends is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_acks: Option<bool>,
    /// New data leaves in bursts as segmentation offload (TSO, GSO) makes them: up to a millisecond of data waits
    /// for its burst to be complete. Flows that pace have the bursts of their control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offload: Option<bool>,
    /// Most new segments sent per acknowledgement (0: no bound).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<u32>,
    /// ns-2 era only: further variables of ns-2's agent by their ns-2 names, without the underscore
    /// (`slow_start_restart`, `ssthresh_int`, ...); see the page on ns-2 agreement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns2: Option<serde_json::Map<String, Value>>,
}
