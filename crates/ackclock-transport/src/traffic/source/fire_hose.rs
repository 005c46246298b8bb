//! Fire-hose: sends at the rate that a sender policy computes from what arrives, whatever is lost.
//!
//! The packet version of the senders of the fluid engine: the same policies (`naive`, `full-balanced`,
//! `full-share`, `naive-ratio`, `limited-ratio`), with the goodput that the receiver reports. The flows that leave
//! one host on one link are one sender: each of their policies knows the goodputs of all. Nothing is
//! retransmitted; `coded` counts what an erasure code makes of the packets that arrive.
//!
//! **Source**: J. McCullough, B. Raghavan, A. C. Snoeren, "The Role of End-to-End Congestion Control in Networks
//! with Fairness-Enforcing Routers", 2010, section 4.2, Eq. (1), and section 5, Eqs. (2) to (5).
//!
//! **Rule** (c: capacity of the sender's link, n: its flows that have started and not stopped)
//! ```text
//! receiver: every `interval` in which packets arrived, and once after them, a report of
//!           g = bytes after the last packet of the report before / time from that packet to the newest
//! sender:   at its start d = c / n;  at a report d <- policy(goodputs of the n flows), at least a packet per interval
//!           packets leave packet / d apart; a flow that has not yet been reported counts with its demand
//! ```
//! Deviations: the source's senders know their goodputs at once and answer together; here reports take a way
//! back, and flows answer one by one. A rate of 0 would end all reports, hence the least rate. `loss-load` needs
//! reports of routers, which packets do not carry.
//!
//! Defaults by era: the same in all; `limited-ratio`, whose alpha is 0.2 as in the source's results.

pub(super) mod bundle;
mod receiver;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::bundle::Place;
use self::receiver::{GoodputReporter, read_goodput};
use super::{Offer, Outlet, PacketSizes, Source, SourceEnv};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::error::Problem;
use crate::policy::{self, DemandPolicy, PolicyEnv};
use crate::record::FlowSample;
use crate::registry::{About, Info, Spec, Status};
use crate::traffic::packet_size;
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::Packet;

/// Parameters of the fire-hose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FireHoseParams {
    /// Sender policy of the fluid engine, by name or as a table with its parameters; not `loss-load`.
    #[schemars(extend("x-room" = "policy"))]
    pub policy: Spec,
    /// Packet size on the wire.
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
    /// Time between two reports of the receiver.
    #[schemars(range(min = 0.000_001))]
    pub interval: Span,
    /// Rate that the flows of the sender may fill together. Left out: that of the link on which they leave.
    #[schemars(range(max = 1_000_000_000_000_000_u64), extend("exclusiveMinimum" = 0))]
    pub capacity: Option<BitRate>,
}

impl Default for FireHoseParams {
    fn default() -> Self {
        Self {
            policy: Spec::from("limited-ratio"),
            packet: Bytes(1000),
            interval: Span::from_millis(100),
            capacity: None,
        }
    }
}

/// The sender of a fire-hose.
pub struct FireHose {
    outlet: Outlet,
    size: u16,
    interval: Span,
    policy: Box<dyn DemandPolicy>,
    place: Place,
    capacity: f64,
    /// Rate [bit/s], and the goodput last reported.
    rate: f64,
    goodput: f64,
    /// When the last packet left.
    last: Time,
    reports: u64,
}

impl About<SourceEnv> for FireHose {
    type Params = FireHoseParams;
    const INFO: Info = Info {
        name: "fire-hose",
        title: "Fire-hose with a sender policy",
        source: "McCullough et al. 2010, sections 4.2 and 5, Eqs. (1) to (5)",
        status: Status::Specified,
    };

    fn new(params: FireHoseParams, env: &SourceEnv) -> Result<Self, Vec<Problem>> {
        let size = packet_size(params.packet);
        let policy = policy::build(&params.policy, &PolicyEnv, "policy")?;
        if policy.needs_reports() {
            let message = format!(
                "{} needs reports of routers, which packets do not carry; expected a policy that knows goodputs only",
                params.policy.kind()
            );
            return Err(Problem::new("policy", message).into());
        }
        let Some(capacity) = params.capacity.or(env.access) else {
            let message = "is missing: the flow leaves its host on no link";
            return Err(Problem::new("capacity", message).into());
        };
        Ok(Self {
            outlet: Outlet::new(env),
            size,
            interval: params.interval,
            policy,
            place: env.bundles.join(env),
            capacity: capacity.bps(),
            rate: 0.0,
            goodput: 0.0,
            last: Time::ZERO,
            reports: 0,
        })
    }
}

impl FireHose {
    fn bits(&self) -> f64 {
        8.0 * f64::from(self.size)
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.max(self.bits() / self.interval.seconds());
        self.place.set_demand(self.rate);
    }

    fn arm_next(&mut self, now: Time) {
        // At rates of a packet in less than a picosecond its clock must go on too.
        let due = self.last + Span::from_seconds(self.bits() / self.rate).max(Span(1));
        self.outlet.arm(Some(due.max(now)), now);
    }

    fn send(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.outlet.send(self.size, ctx);
        self.arm_next(ctx.now);
    }
}

impl Source for FireHose {
    fn packet_sizes(&self) -> PacketSizes {
        PacketSizes::equal(self.size, receiver::REPORT_SIZE)
    }

    fn offers(&self, active: Span) -> Offer {
        let packet_bytes = f64::from(self.size);
        let least = self.bits() / self.interval.seconds();
        let rate = (self.capacity / self.place.count() as f64).max(least);
        Offer { packets: rate * active.seconds() / self.bits(), packet_bytes, answers: 0.0 }
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(GoodputReporter::new(self.outlet.flow, self.interval))
    }
}

impl Endpoint for FireHose {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        if ctx.now >= self.outlet.stop {
            return;
        }
        let share = self.capacity / self.place.count_active(ctx.now) as f64;
        self.place.set_goodput(share);
        self.set_rate(share);
        self.last = ctx.now;
        self.send(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if !packet.is_ack() || ctx.now >= self.outlet.stop {
            return;
        }
        self.reports += 1;
        self.goodput = read_goodput(&packet);
        self.place.set_goodput(self.goodput);
        let rate = self.place.answer(&*self.policy, self.capacity, ctx.now);
        self.set_rate(rate);
        // A packet may be due earlier, or later, than it was.
        self.arm_next(ctx.now);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.outlet.deadline.at <= ctx.now {
            // Places follow each other without the rounding of the clock; a late one is not made up for.
            self.last = self.outlet.deadline.at;
            self.send(ctx);
        }
    }

    fn deadline(&self) -> Deadline {
        self.outlet.deadline
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            acks_received: self.reports,
            probes: vec![("rate_bps", self.rate), ("goodput_bps", self.goodput)],
            ..self.outlet.snapshot()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        self.snapshot().sample_sender(row);
    }
}

#[cfg(test)]
mod tests;
