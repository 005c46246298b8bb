//! FAST with a corrected propagation delay: a flow measures once how many share its bottleneck.
//!
//! When a flow has come to rest it changes its rate for about a round trip. How much the round trip
//! changes shows which part of the link it has; from that follow the number of flows before it, the
//! capacity, and the queue that it took for propagation.
//!
//! **Source**: M. Rodriguez-Perez, S. Herreria-Alonso, M. Fernandez-Veiga, C. Lopez-Garcia, "The persistent
//! congestion problem of FAST-TCP: Analysis and solutions", section 6, equations (21) to (25).
//!
//! **Rule** (w, r: mean window and round trip at rest; D: smallest round trip; t = `t_epsilon` r)
//! ```text
//! probe:    each acknowledgement lets 1 - theta segments leave, for a time t; then w again
//! measure:  f = flight with the last segment that left within t
//!   line:   dr = s (f - w), s = slope of round trips over flights, segments that left within t
//!   last:   dr = (round trip of the last of them) - r
//! R = |f - w| r / (w |dr|),  n = max(R (R - 1), 0),  C = R w / r
//! D <- D - n alpha / C                       w <- alpha + D C / (n + 1)
//! dr = 0, of the wrong sign, or D <= 0: the measurement is discarded and repeated after the next rest
//! a segment lost during the probe: discarded too; theta <- `theta_backoff` theta for those after (footnote 5)
//! ```
//! Deviations: equation (22) as printed has the wrong sign (a smaller window drains the queue), and (23)
//! with it gives a wrong n; the magnitudes above are what the derivation means. (1 + sqrt(1 + 4 n))/2 in
//! (24) is R. |f - w| r / w is the source's |theta| `t_epsilon`, but as it came about: a flow that sends its
//! window in one lump has sent all of the excess before t is over. How the changed round trip is read is
//! not said there: one sample against r errs by what others add or take in a round, a segment each at
//! once if they are alike; a line through all samples does not. The numbers of measurements and of
//! attempts are bounded, which the source leaves open. The derivation holds for one late-comer among
//! flows that share fairly: flows that start together take each other for flows that were there before.
//!
//! Defaults by era: as `fast`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::delay::calm::{Calm, CalmParams, Rest};
use crate::cc::delay::fast::{Fast, FastParams};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// How the change of the round trip is read off a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// From a straight line through all of its segments.
    Line,
    /// From its last segment and the round trip at rest.
    Last,
}

/// Parameters of FAST with correction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FastCorrectedParams {
    /// Those of FAST.
    #[serde(flatten)]
    pub fast: FastParams,
    /// Those of the detection of rest.
    #[serde(flatten)]
    pub calm: CalmParams,
    /// Part by which the window is lowered, not 0; negative: raised. Positive values may empty the queue;
    /// below 0.1 in magnitude the measurement is poor.
    #[schemars(range(min = -1), extend("exclusiveMaximum" = 1))]
    pub theta: f64,
    /// Length of the probe in round trips: other flows must not react within.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0, "x-unit" = "round trips"))]
    pub t_epsilon: f64,
    /// `line` or `last`; with `line` and a single sample, as `last`.
    pub reading: Reading,
    /// Valid measurements that a flow makes.
    #[schemars(range(min = 1))]
    pub measurements: u32,
    /// Measurements that are discarded before the flow gives up: every one disturbs others.
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// Theta is multiplied by this after a probe that lost segments (1: it stays).
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub theta_backoff: f64,
}

impl Default for FastCorrectedParams {
    fn default() -> Self {
        Self {
            fast: FastParams::default(),
            calm: CalmParams::default(),
            theta: -0.5,
            t_epsilon: 1.0,
            reading: Reading::Line,
            measurements: 1,
            attempts: 5,
            theta_backoff: 1.0,
        }
    }
}

/// A probe that is under way.
#[derive(Clone, Copy, Debug)]
struct Probe {
    began: Time,
    /// Segments that leave later do not count.
    ends: Time,
    /// Window and round trip [s] at rest.
    window: f64,
    rtt: f64,
    samples: Samples,
}

/// Flights and round trips of the segments that count, summed up from the first of them.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    count: f64,
    first: (f64, f64),
    last: (f64, f64),
    sum: (f64, f64),
    squares: f64,
    products: f64,
}

impl Samples {
    fn push(&mut self, flight: f64, rtt: f64) {
        if self.count == 0.0 {
            self.first = (flight, rtt);
        }
        self.last = (flight, rtt);
        let (x, y) = (flight - self.first.0, rtt - self.first.1);
        self.count += 1.0;
        self.sum.0 += x;
        self.sum.1 += y;
        self.squares += x * x;
        self.products += x * y;
    }

    /// Slope of the least-squares line of round trips over flights [s]; none if all flights are equal.
    fn slope(&self) -> Option<f64> {
        let spread = self.squares - self.sum.0 * self.sum.0 / self.count;
        let common = self.products - self.sum.0 * self.sum.1 / self.count;
        (self.count > 1.0 && spread > 0.0).then_some(common / spread)
    }
}

/// What a probe found.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    flows: f64,
    capacity: f64,
    base: f64,
    window: f64,
}

/// FAST with correction.
pub struct FastCorrected {
    fast: Fast,
    calm: Calm,
    theta: f64,
    t_epsilon: f64,
    reading: Reading,
    left: u32,
    attempts: u32,
    theta_backoff: f64,
    probe: Option<Probe>,
    solution: Option<Found>,
    discarded: u32,
}

impl About<CcEnv> for FastCorrected {
    type Params = FastCorrectedParams;
    const INFO: Info = Info {
        name: "fast-corrected",
        title: "FAST TCP with corrected propagation delay",
        source: "Rodriguez-Perez et al., The persistent congestion problem of FAST-TCP, section 6",
        status: Status::Specified,
    };

    fn new(params: FastCorrectedParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let FastCorrectedParams {
            fast,
            calm,
            theta,
            t_epsilon,
            reading,
            measurements,
            attempts,
            theta_backoff,
        } = params;
        if theta == 0.0 {
            let range = "a value other than 0: only a change of the window shows how many flows there are \
                         (-0.5 is usual)";
            return Err(Problem::out_of_range("theta", theta, range).into());
        }
        Ok(Self {
            fast: Fast::new(fast, env)?,
            calm: Calm::new(calm),
            theta_backoff,
            theta,
            t_epsilon,
            reading,
            left: measurements,
            attempts,
            probe: None,
            solution: None,
            discarded: 0,
        })
    }
}

impl FastCorrected {
    /// Equations (21) to (25); none if what was measured cannot be.
    fn solve(&self, probe: &Probe) -> Option<Found> {
        if probe.samples.count == 0.0 {
            return None;
        }
        let (flight, rtt) = probe.samples.last;
        let excess = flight - probe.window;
        let change = match (self.reading, probe.samples.slope()) {
            (Reading::Line, Some(slope)) => slope * excess,
            _ => rtt - probe.rtt,
        };
        if change * self.theta >= 0.0 || excess * self.theta >= 0.0 {
            return None;
        }
        let ratio = excess * probe.rtt / (probe.window * change);
        let flows = (ratio * (ratio - 1.0)).max(0.0);
        let capacity = ratio.max(1.0) * probe.window / probe.rtt;
        let base = self.fast.base() - flows * self.fast.alpha / capacity;
        let window = self.fast.alpha + base * capacity / (flows + 1.0);
        (base > 0.0).then_some(Found { flows, capacity, base, window })
    }

    /// One acknowledgement during a probe.
    fn go_on(&mut self, mut probe: Probe, window: &mut Window, ack: &Ack) {
        let late = ack.newest.sent_at > probe.ends;
        if let Some(rtt) = ack.rtt
            && !late
            && ack.newest.sent_at > probe.began
        {
            probe.samples.push(f64::from(ack.newest.in_flight), rtt.seconds());
        }
        if ack.now <= probe.ends {
            let bound = (1.0 - self.theta) * probe.window;
            let moved = window.cwnd - self.theta * f64::from(ack.acked);
            let moved = if self.theta < 0.0 { moved.min(bound) } else { moved.max(bound) };
            window.cwnd = moved.max(2.0);
        } else {
            window.cwnd = probe.window;
        }
        self.probe = Some(probe);
        if late {
            self.end(&probe, window, ack);
        }
    }

    fn end(&mut self, probe: &Probe, window: &mut Window, ack: &Ack) {
        self.probe = None;
        self.calm.restart();
        window.cwnd = probe.window;
        if let Some(solution) = self.solve(probe) {
            self.left -= 1;
            self.solution = Some(solution);
            window.cwnd = solution.window.max(2.0);
            self.fast.correct(solution.base, ack.round);
        } else {
            self.discarded += 1;
        }
    }
}

impl CongestionControl for FastCorrected {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(probe) = self.probe {
            self.go_on(probe, window, ack);
            return;
        }
        self.fast.on_ack(window, ack);
        if self.left > 0
            && self.discarded < self.attempts
            && let Some(Rest { rtt, window: mean }) = self.calm.watch(&self.fast, window.cwnd, ack)
        {
            window.cwnd = window.cwnd.floor().max(2.0);
            let ends = ack.now + Span::from_seconds(self.t_epsilon * rtt);
            let samples = Samples::default();
            self.probe = Some(Probe { began: ack.now, ends, window: mean, rtt, samples });
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        if let Some(probe) = self.probe.take() {
            window.cwnd = probe.window.min(before);
            self.discarded += 1;
            self.theta *= self.theta_backoff;
        }
        self.calm.restart();
        self.fast.on_congestion(window, event);
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn keeps_queued(&self) -> Option<f64> {
        self.fast.keeps_queued()
    }

    fn phase(&self) -> &'static str {
        if self.probe.is_some() { "probe" } else { self.fast.phase() }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.fast.probes(out);
        out("estimated_flows", self.solution.map_or(0.0, |f| f.flows));
        out("estimated_capacity_segments_per_s", self.solution.map_or(0.0, |f| f.capacity));
        out("measured", f64::from(u8::from(self.solution.is_some())));
        out("discarded", f64::from(self.discarded));
        out("theta", self.theta);
    }
}

#[cfg(test)]
mod tests;
