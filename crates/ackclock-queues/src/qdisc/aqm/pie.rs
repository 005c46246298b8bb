//! PIE, proportional integral controller enhanced: drops arrivals with a probability that a
//! controller steers towards a target delay.
//!
//! **Source**: RFC 8033, sections 4 and 5 (doi:10.17487/RFC8033).
//!
//! **Rule**: every `update`, with d the delay estimate and d' the one before:
//! - p += k (alpha (d - target) + beta (d - d')), k = 1/2048, 1/512, 1/128, 1/32, 1/8, 1/2, 1 as p is
//!   below 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, or not; p *= 0.98 if d = d' = 0;
//! - d = backlog x the mean time to send `dq_threshold` bytes / `dq_threshold`, or the sojourn time
//!   of the last departure;
//! - an arrival is dropped with p, unless the burst allowance lasts, or p < 0.2 and d' < target / 2,
//!   or at most two mean packets wait; never while the sum of p since the last drop is below 0.85,
//!   always from 8.5 on (`derandomise`); marked instead if p is below `mark_ecnth`. A drop for want of room ends the
//!   sum too.
//!
//! **Deviations**: the optional switching off of section 5.3 is left out. The measured time is for
//! exactly `dq_threshold` bytes: the packet that starts a measurement is not counted, and what the
//! last one overshoots is divided out, so that a constant rate is measured without bias.
//!
//! **Defaults by era**: the same in all (PIE is younger than ns-2's eras).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::Prototype;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Bytes, Span, Time};
use crate::wire::{DropReason, Packet};

/// How the queueing delay is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// Backlog over the measured departure rate (section 5.2).
    #[default]
    DepartureRate,
    /// Sojourn time of the last departure.
    Timestamp,
}

/// Parameters of [`Pie`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Delay that the controller aims at.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub target: Span,
    /// Time between two updates of the probability.
    #[schemars(range(min = 0.000_001))]
    pub update: Span,
    /// Length of a burst that passes untouched.
    pub max_burst: Span,
    /// Weight of the distance from the target.
    #[schemars(range(min = 0), extend("x-unit" = "1/s"))]
    pub alpha: f64,
    /// Weight of the change of the delay.
    #[schemars(range(min = 0), extend("x-unit" = "1/s"))]
    pub beta: f64,
    /// How the delay is estimated.
    pub delay: Delay,
    /// Bytes over which the departure rate is measured.
    #[schemars(range(min = 1, max = 65536))]
    pub dq_threshold: Bytes,
    /// Drops are kept from clustering and from staying away (section 5.4).
    pub derandomise: bool,
    /// From a probability of 0.1 on, one update raises it by at most 0.02 (section 5.5).
    pub cap: bool,
    /// ECN-capable packets are marked instead of dropped while the probability is below `mark_ecnth`.
    pub ecn: bool,
    /// Probability from which capable packets are dropped too.
    #[schemars(range(min = 0, max = 1))]
    pub mark_ecnth: f64,
    /// Mean packet size; left out: the link's.
    #[schemars(extend("x-unit" = "B"))]
    pub mean_packet: Option<u32>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            max_burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            delay: Delay::DepartureRate,
            dq_threshold: Bytes(16_384),
            derandomise: true,
            cap: true,
            ecn: false,
            mark_ecnth: 0.1,
            mean_packet: None,
        }
    }
}

/// Measures how long `threshold` bytes take to leave while at least that many wait.
#[derive(Clone, Debug)]
struct Departures {
    threshold: u64,
    /// Start of the measurement under way and bytes sent since.
    measuring: Option<(Time, u64)>,
    /// Mean time for `threshold` bytes \[s\].
    mean: Option<f64>,
}

impl Departures {
    fn departure(&mut self, now: Time, size: u16, left: u64) {
        if self.measuring.is_none() && left + u64::from(size) >= self.threshold {
            self.measuring = Some((now, 0));
            return;
        }
        let Some((start, sent)) = &mut self.measuring else { return };
        *sent += u64::from(size);
        if *sent < self.threshold {
            return;
        }
        // Scaled to the threshold, which the last packet overshoots.
        let time = now.since(*start).seconds() * self.threshold as f64 / *sent as f64;
        let weight = self.threshold as f64 / 65_536.0;
        self.mean = Some(self.mean.map_or(time, |mean| (1.0 - weight) * mean + weight * time));
        self.measuring = (left >= self.threshold).then_some((now, 0));
    }

    fn delay(&self, backlog: u64) -> f64 {
        self.mean.map_or(0.0, |mean| backlog as f64 * mean / self.threshold as f64)
    }
}

/// Proportional integral controller enhanced.
#[derive(Clone, Debug)]
pub struct Pie {
    params: Params,
    mean_packet: u64,
    p: f64,
    /// Sum of the probabilities since the last drop.
    sum_p: f64,
    burst: Span,
    /// Delay at the last update \[s\].
    delay_old: f64,
    /// Sojourn time of the last departure \[s\].
    sojourn: f64,
    departures: Departures,
}

impl About<QdiscEnv> for Pie {
    type Params = Params;
    const INFO: Info = Info {
        name: "pie",
        title: "PIE: proportional integral controller enhanced",
        source: "RFC 8033, sections 4 and 5, doi:10.17487/RFC8033",
        status: Status::Specified,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let threshold = params.dq_threshold.0;
        Ok(Self {
            mean_packet: u64::from(params.mean_packet.unwrap_or(env.mean_packet)),
            p: 0.0,
            sum_p: 0.0,
            burst: params.max_burst,
            delay_old: 0.0,
            sojourn: 0.0,
            departures: Departures { threshold, measuring: None, mean: None },
            params,
        })
    }
}

impl Plain for Pie {}

/// How much an update counts at probability p (RFC 8033, section 4.2).
fn gain(p: f64) -> f64 {
    const TABLE: [(f64, f64); 6] =
        [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
    TABLE.iter().find(|(below, _)| p < *below).map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

impl Pie {
    /// The update of the probability with the present delay estimate \[s\].
    fn update(&mut self, delay: f64) {
        let target = self.params.target.seconds();
        let mut step = gain(self.p)
            * (self.params.alpha * (delay - target) + self.params.beta * (delay - self.delay_old));
        if self.params.cap && self.p >= 0.1 {
            step = step.min(0.02);
        }
        self.p += step;
        if delay <= 0.0 && self.delay_old <= 0.0 {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst = self.burst - self.params.update;
        if self.p <= 0.0 && delay < target / 2.0 && self.delay_old < target / 2.0 {
            self.burst = self.params.max_burst;
        }
        self.delay_old = delay;
    }

    fn hits(&mut self, rng: &mut Stream) -> bool {
        if !self.params.derandomise {
            return rng.uniform() < self.p;
        }
        if self.p <= 0.0 {
            self.sum_p = 0.0;
        }
        self.sum_p += self.p;
        let hit = self.sum_p >= 0.85 && (self.sum_p >= 8.5 || rng.uniform() < self.p);
        if hit {
            self.sum_p = 0.0;
        }
        hit
    }
}

impl Aqm for Pie {
    fn into_prototype(self) -> Option<Box<dyn Prototype>> {
        Some(Box::new(self))
    }

    fn on_enqueue(&mut self, _packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        let calm = self.p < 0.2 && self.delay_old < self.params.target.seconds() / 2.0;
        if self.burst > Span::ZERO || calm || queue.bytes.0 <= 2 * self.mean_packet {
            return Verdict::Pass;
        }
        if !self.hits(rng) {
            Verdict::Pass
        } else if self.params.ecn && self.p < self.params.mark_ecnth {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn on_dequeue(
        &mut self,
        packet: &Packet,
        since: Time,
        queue: &QueueState,
        _rng: &mut Stream,
    ) -> Verdict {
        match self.params.delay {
            Delay::DepartureRate => {
                self.departures.departure(queue.now, packet.size, queue.bytes.0);
            }
            Delay::Timestamp => self.sojourn = queue.now.since(since).seconds(),
        }
        Verdict::Pass
    }

    fn on_idle(&mut self, _now: Time) {
        self.sojourn = 0.0;
    }

    fn on_overflow(&mut self) {
        self.sum_p = 0.0;
    }

    fn timer_interval(&self) -> Option<Span> {
        Some(self.params.update)
    }

    fn on_timer(&mut self, queue: &QueueState) {
        let delay = match self.params.delay {
            Delay::DepartureRate => self.departures.delay(queue.bytes.0),
            Delay::Timestamp => self.sojourn,
        };
        self.update(delay);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.p);
        out("delay_s", self.delay_old);
        out("burst_s", self.burst.seconds());
    }
}

#[cfg(test)]
mod tests;
