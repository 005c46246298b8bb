//! Constant bit rate, with an optional schedule of rates, on periods and jitter.
//!
//! **Source**: the constant-rate generator common to network simulators; with `schedule` or
//! `periods` the rate-controlled cross traffic of Akella et al., CMU-CS-02-139 (2002), section 3.3.
//!
//! **Rule** (t from the flow's start, I = packet / rate)
//! ```text
//! packet k of a stretch of constant rate leaves at  begin + k I, rounded to a picosecond
//! a stretch that follows silence begins with a packet
//! a stretch that follows another rate keeps the part of a packet that has accrued
//! jitter j: each packet leaves later than its place by a uniform part of j I
//! ```
//! Places are computed from the stretch's beginning in integers, so rounding never accumulates
//! (I itself is rarely a whole number of picoseconds). With j <= 1 packets never overtake.
//! Deviations: none.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Offer, Outlet, PacketSizes, Source, SourceEnv};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::error::Problem;
use crate::record::FlowSample;
use crate::registry::{About, Info, Status};
use crate::traffic::packet_size;
use crate::units::{BitRate, Bytes, PS_PER_S, RateStep, Span, Time};
use crate::wire::Packet;

/// Parameters of the constant-rate source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CbrParams {
    /// Rate on the wire before the first step of `schedule`.
    #[schemars(range(max = 1_000_000_000_000_000_u64), extend("exclusiveMinimum" = 0))]
    pub rate: BitRate,
    /// Packet size on the wire.
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
    /// Largest delay of a packet after its place as a fraction of the interval.
    #[schemars(range(min = 0, max = 1))]
    pub jitter: f64,
    /// Rates from given times on (0 = silence), counted from the flow's start.
    pub schedule: Vec<RateStep>,
    /// On periods, in order, counted from the flow's start; left out: always on.
    pub periods: Vec<OnPeriod>,
}

/// An on period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnPeriod {
    /// Its beginning.
    pub on: Span,
    /// Its end; no packet leaves at this time.
    pub off: Span,
}

impl Default for CbrParams {
    fn default() -> Self {
        Self {
            rate: BitRate(1_000_000),
            packet: Bytes(1000),
            jitter: 0.0,
            schedule: Vec::new(),
            periods: Vec::new(),
        }
    }
}

/// A stretch of constant rate, which lasts until the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    begin: Span,
    rate: u64,
}

/// The constant-rate source.
pub struct Cbr {
    outlet: Outlet,
    size: u16,
    jitter: f64,
    stretches: Vec<Stretch>,
    /// The stretch in progress.
    current: usize,
    /// The flow's start.
    origin: Time,
    /// Packets placed in the current stretch.
    placed: u64,
    /// What had accrued at the stretch's beginning, in bits times picoseconds per second.
    credit: u128,
}

impl About<SourceEnv> for Cbr {
    type Params = CbrParams;
    const INFO: Info = Info {
        name: "cbr",
        title: "Constant bit rate",
        source: "Akella, Seshan, Shenker, Stoica, CMU-CS-02-139 (2002), section 3.3 \
                 (with a schedule)",
        status: Status::Specified,
    };

    fn new(params: CbrParams, env: &SourceEnv) -> Result<Self, Vec<Problem>> {
        let size = packet_size(params.packet);
        Ok(Self {
            outlet: Outlet::new(env),
            size,
            jitter: params.jitter,
            stretches: stretches(&params)?,
            current: 0,
            origin: Time::ZERO,
            placed: 0,
            credit: 0,
        })
    }
}

/// The schedule and the periods as one list without gaps, from time zero.
fn stretches(params: &CbrParams) -> Result<Vec<Stretch>, Problem> {
    if !params.schedule.is_sorted_by(|a, b| a.at < b.at) {
        return Err(Problem::new("schedule", "is not in order of time without repetition"));
    }
    if params.periods.iter().any(|p| p.on >= p.off) {
        return Err(Problem::new("periods", "has one with off before on"));
    }
    if !params.periods.is_sorted_by(|a, b| a.off <= b.on) {
        return Err(Problem::new("periods", "are not in order of time, or overlap"));
    }
    let mut times = vec![Span::ZERO];
    times.extend(params.schedule.iter().map(|s| s.at));
    times.extend(params.periods.iter().flat_map(|p| [p.on, p.off]));
    times.sort_unstable();
    times.dedup();
    let rate_at = |t: Span| {
        let begun = params.periods.partition_point(|p| p.on <= t);
        let on = params.periods.is_empty() || (begun > 0 && t < params.periods[begun - 1].off);
        let steps = params.schedule.partition_point(|s| s.at <= t);
        let rate = if steps == 0 { params.rate } else { params.schedule[steps - 1].rate };
        if on { rate.0 } else { 0 }
    };
    let mut list: Vec<Stretch> =
        times.into_iter().map(|begin| Stretch { begin, rate: rate_at(begin) }).collect();
    list.dedup_by_key(|s| s.rate);
    Ok(list)
}

impl Cbr {
    /// What one packet costs, in bits times picoseconds per second.
    fn cost(&self) -> u128 {
        u128::from(self.size) * 8 * u128::from(PS_PER_S)
    }

    /// The place of the next packet, counted from the flow's start. Moves on to the next stretch
    /// where the present one has no more.
    fn place(&mut self) -> Option<Span> {
        loop {
            let Stretch { begin, rate } = self.stretches[self.current];
            let next = self.stretches.get(self.current + 1).copied();
            let rate = u128::from(rate);
            let due = (u128::from(self.placed) + 1) * self.cost();
            let missing = due.saturating_sub(self.credit) + rate / 2;
            if let Some(after) = missing.checked_div(rate) {
                let offset = begin + Span(u64::try_from(after).unwrap_or(u64::MAX));
                if next.is_none_or(|next| offset < next.begin) {
                    self.placed += 1;
                    return Some(offset);
                }
            }
            let next = next?;
            let length = u128::from((next.begin - begin).0);
            self.credit = if rate == 0 {
                self.cost()
            } else {
                (self.credit + rate * length).saturating_sub(u128::from(self.placed) * self.cost())
            };
            self.current += 1;
            self.placed = 0;
        }
    }

    fn arm_next(&mut self, ctx: &mut EndpointCtx<'_>) {
        let due = self.place().map(|offset| {
            let mut time = self.origin + offset;
            if self.jitter > 0.0 {
                let interval = self.cost() as f64 / self.stretches[self.current].rate as f64;
                time += Span((self.jitter * interval * ctx.rng.uniform()) as u64);
            }
            // A faster stretch may place a packet before a delayed one of a slower stretch.
            time.max(ctx.now)
        });
        self.outlet.arm(due, ctx.now);
    }
}

impl Source for Cbr {
    fn packet_sizes(&self) -> PacketSizes {
        PacketSizes::equal(self.size, 0)
    }

    fn offers(&self, active: Span) -> Offer {
        let ends = self.stretches.iter().skip(1).map(|next| next.begin).chain([active]);
        let bits = self.stretches.iter().zip(ends).map(|(stretch, end)| {
            let length = end.min(active).0.saturating_sub(stretch.begin.0);
            Span(length).seconds() * stretch.rate as f64
        });
        let packet_bytes = f64::from(self.size);
        Offer { packets: bits.sum::<f64>() / 8.0 / packet_bytes, packet_bytes, answers: 0.0 }
    }
}

impl Endpoint for Cbr {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.origin = ctx.now;
        self.credit = self.cost();
        self.arm_next(ctx);
    }

    fn on_packet(&mut self, _packet: Packet, _ctx: &mut EndpointCtx<'_>) {}

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.outlet.send(self.size, ctx);
        self.arm_next(ctx);
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
