//! Bursts at a peak rate and silences between them, exponential or Pareto.
//!
//! Many Pareto sources with shape below 2 together are self-similar traffic.
//!
//! **Source**: W. Willinger, M. Taqqu, R. Sherman, D. Wilson, "Self-Similarity Through
//! High-Variability", IEEE/ACM Trans. Networking 5(1), 1997, doi:10.1109/90.554723 (Pareto);
//! ns-2's generators for the conversion of burst lengths to packets.
//!
//! **Rule** (I = packet / rate)
//! ```text
//! silence of a random length of mean `idle`, then a burst of a random length B of mean `burst`:
//! n = max(round(B / I), 1) packets, I apart; the silence counts from I after the last of them
//! mean rate = rate burst / (burst + idle), a little more where burst is not much longer than I
//! ```
//! Deviations: none. The source begins with a silence.
//!
//! Defaults by era: ns-2's in all (210-byte packets, 64 kb/s, burst and idle 0.5 s, shape 1.5).

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Offer, Outlet, PacketSizes, Source, SourceEnv};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::error::Problem;
use crate::record::FlowSample;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::traffic::packet_size;
use crate::units::{BitRate, Bytes, PS_PER_S, Span, Time};
use crate::wire::Packet;

/// Parameters of exponential bursts and silences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExponentialParams {
    /// Peak rate on the wire.
    #[schemars(range(max = 1_000_000_000_000_000_u64), extend("exclusiveMinimum" = 0))]
    pub rate: BitRate,
    /// Packet size on the wire.
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
    /// Mean length of a burst.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub burst: Span,
    /// Mean length of a silence.
    pub idle: Span,
}

/// Parameters of Pareto bursts and silences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ParetoParams {
    /// Peak rate on the wire.
    #[schemars(range(max = 1_000_000_000_000_000_u64), extend("exclusiveMinimum" = 0))]
    pub rate: BitRate,
    /// Packet size on the wire.
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
    /// Mean length of a burst.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub burst: Span,
    /// Mean length of a silence.
    pub idle: Span,
    /// Shape of both distributions (below 2 the variance is infinite).
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub shape: f64,
}

impl Default for ExponentialParams {
    fn default() -> Self {
        Self {
            rate: BitRate(64_000),
            packet: Bytes(210),
            burst: Span::from_millis(500),
            idle: Span::from_millis(500),
        }
    }
}

impl Default for ParetoParams {
    fn default() -> Self {
        let ExponentialParams { rate, packet, burst, idle } = ExponentialParams::default();
        Self { rate, packet, burst, idle, shape: 1.5 }
    }
}

/// What the two laws have in common.
pub trait Law: Default + Serialize + DeserializeOwned + JsonSchema + Send {
    /// Identity and source.
    const INFO: Info;
    /// Peak rate, packet size, mean burst, mean silence.
    fn common(&self) -> (BitRate, Bytes, Span, Span);
    /// A length of the given mean in seconds.
    fn draw(&self, mean: f64, rng: &mut Stream) -> f64;
}

const SOURCE: &str = "Willinger, Taqqu, Sherman, Wilson, IEEE/ACM Trans. Networking 5(1), 1997, \
                      doi:10.1109/90.554723; packets per burst as in ns-2";

impl Law for ExponentialParams {
    const INFO: Info = Info {
        name: "exponential-on-off",
        title: "Exponential bursts and silences",
        source: SOURCE,
        status: Status::Specified,
    };
    fn common(&self) -> (BitRate, Bytes, Span, Span) {
        (self.rate, self.packet, self.burst, self.idle)
    }
    fn draw(&self, mean: f64, rng: &mut Stream) -> f64 {
        rng.exponential(mean)
    }
}

impl Law for ParetoParams {
    const INFO: Info = Info {
        name: "pareto-on-off",
        title: "Pareto bursts and silences",
        source: SOURCE,
        status: Status::Specified,
    };
    fn common(&self) -> (BitRate, Bytes, Span, Span) {
        (self.rate, self.packet, self.burst, self.idle)
    }
    fn draw(&self, mean: f64, rng: &mut Stream) -> f64 {
        rng.pareto(mean, self.shape)
    }
}

/// A source of bursts.
pub struct OnOff<L> {
    law: L,
    outlet: Outlet,
    size: u16,
    rate: u64,
    burst: f64,
    idle: f64,
    /// Beginning of the burst.
    begin: Time,
    /// Packets of the burst: sent, and in all.
    sent: u64,
    total: u64,
}

/// Exponential bursts and silences.
pub type ExponentialOnOff = OnOff<ExponentialParams>;
/// Pareto bursts and silences.
pub type ParetoOnOff = OnOff<ParetoParams>;

impl<L: Law> About<SourceEnv> for OnOff<L> {
    type Params = L;
    const INFO: Info = L::INFO;

    fn new(law: L, env: &SourceEnv) -> Result<Self, Vec<Problem>> {
        let (rate, packet, burst, idle) = law.common();
        Ok(Self {
            law,
            outlet: Outlet::new(env),
            size: packet_size(packet),
            rate: rate.0,
            burst: burst.seconds(),
            idle: idle.seconds(),
            begin: Time::ZERO,
            sent: 0,
            total: 0,
        })
    }
}

impl<L: Law> OnOff<L> {
    /// The place of the burst's packet `k`, computed from its beginning so that rounding never
    /// accumulates.
    fn place(&self, k: u64) -> Time {
        let cost = u128::from(self.size) * 8 * u128::from(PS_PER_S);
        let rate = u128::from(self.rate);
        let after = (u128::from(k) * cost + rate / 2) / rate;
        self.begin + Span(u64::try_from(after).unwrap_or(u64::MAX))
    }

    /// Draws the silence from `since` and the burst after it.
    fn draw(&mut self, since: Time, ctx: &mut EndpointCtx<'_>) {
        let idle = if self.idle > 0.0 { self.law.draw(self.idle, ctx.rng) } else { 0.0 };
        let burst = self.law.draw(self.burst, ctx.rng);
        let packets = burst * self.rate as f64 / (8.0 * f64::from(self.size));
        self.begin = since + Span::from_seconds(idle);
        self.sent = 0;
        self.total = (packets.round() as u64).max(1);
    }
}

impl<L: Law> Source for OnOff<L> {
    fn packet_sizes(&self) -> PacketSizes {
        PacketSizes::equal(self.size, 0)
    }

    fn offers(&self, active: Span) -> Offer {
        let packet_bytes = f64::from(self.size);
        let apart = 8.0 * packet_bytes / self.rate as f64;
        let burst = (self.burst / apart).max(1.0);
        let packets = burst * active.seconds() / (self.idle + burst * apart);
        Offer { packets, packet_bytes, answers: 0.0 }
    }
}

impl<L: Law> Endpoint for OnOff<L> {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.draw(ctx.now, ctx);
        self.outlet.arm(Some(self.begin), ctx.now);
    }

    fn on_packet(&mut self, _packet: Packet, _ctx: &mut EndpointCtx<'_>) {}

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.outlet.send(self.size, ctx);
        self.sent += 1;
        let next = self.place(self.sent);
        if self.sent == self.total {
            self.draw(next, ctx);
            self.outlet.arm(Some(self.begin), ctx.now);
        } else {
            self.outlet.arm(Some(next), ctx.now);
        }
    }

    fn deadline(&self) -> Deadline {
        self.outlet.deadline
    }

    fn snapshot(&self) -> Snapshot {
        self.outlet.snapshot()
    }

    fn sample(&self, row: &mut FlowSample) {
        self.snapshot().sample_sender(row);
    }
}
