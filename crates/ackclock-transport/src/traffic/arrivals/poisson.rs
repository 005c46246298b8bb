//! Transfers that begin by a Poisson process, at a constant or a scheduled intensity.
//!
//! **Source**: V. Paxson, S. Floyd, "Wide-Area Traffic: The Failure of Poisson Modeling",
//! IEEE/ACM Trans. Networking 3(3), 1995, doi:10.1109/90.392383 (users' arrivals are Poisson);
//! Akella et al., CMU-CS-02-139 (2002), section 3.1 (Pareto transfers, mean interval 0.03 s or
//! 0.01 s, or changing between the two every 5 s).
//!
//! **Rule** (lambda = `rate`, or `load` / (8 mean size))
//! ```text
//! intervals are exponential with mean 1 / lambda
//! with a schedule: an arrival when the integral of lambda factor(t) since the last one reaches
//! an exponential of mean 1; with `period` the schedule repeats
//! ```
//! Deviations: none. Sizes: see [`Sizes`].
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::Sizes;
use super::{Arrival, Arrivals, ArrivalsEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{BitRate, Span, Time};

/// Transfers per second where neither `rate` nor `load` is given.
const DEFAULT_RATE: f64 = 10.0;

/// Periods of a schedule without an arrival from which on they are not passed one by one.
const MANY_PERIODS: f64 = 1000.0;

/// Parameters of Poisson arrivals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PoissonParams {
    /// Mean rate of arrivals; excludes `load`. Left out without `load`: 10.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "1/s"))]
    pub rate: Option<f64>,
    /// Offered payload per second; excludes `rate`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub load: Option<BitRate>,
    /// Sizes of the transfers' payload.
    pub sizes: Sizes,
    /// No arrival before this time of the run.
    #[schemars(extend("x-bare" = true))]
    pub start: Span,
    /// No arrival at or after this time of the run.
    #[schemars(extend("x-bare" = true))]
    pub until: Option<Span>,
    /// Most arrivals.
    pub count: Option<u64>,
    /// Each transfer goes between a pair drawn from 0 to this less one; left out: the template's.
    #[schemars(range(min = 1))]
    pub pairs: Option<u32>,
    /// Factors of the intensity from given times on, counted from `start`; 1 before the first.
    pub schedule: Vec<FactorStep>,
    /// The schedule repeats after this; left out: its last factor holds for ever.
    #[schemars(range(min = 0.000_001))]
    pub period: Option<Span>,
}

/// A step of the intensity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorStep {
    /// From this time on, counted from `start`.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// The intensity is multiplied by this.
    #[schemars(range(min = 0))]
    pub factor: f64,
}

/// Poisson arrivals.
pub struct Poisson {
    params: PoissonParams,
    /// Arrivals per second at factor 1.
    lambda: f64,
    /// What a period adds to the intensity, in seconds of factor 1.
    of_period_s: f64,
    /// The last arrival, counted from `start`.
    last: Span,
    count: u64,
}

impl About<ArrivalsEnv> for Poisson {
    type Params = PoissonParams;
    const INFO: Info = Info {
        name: "poisson",
        title: "Poisson arrivals",
        source: "Paxson, Floyd, IEEE/ACM Trans. Networking 3(3), 1995, doi:10.1109/90.392383; \
                 Akella et al., CMU-CS-02-139 (2002), section 3.1",
        status: Status::Specified,
    };

    fn new(params: PoissonParams, _: &ArrivalsEnv) -> Result<Self, Vec<Problem>> {
        params.sizes.check().map_err(|problem| problem.inside("sizes"))?;
        let lambda = match (params.rate, params.load) {
            (Some(_), Some(_)) => {
                return Err(Problem::new("rate", "excludes load; expected one of them").into());
            }
            (None, Some(load)) => load.bps() / (8.0 * params.sizes.mean()),
            (rate, None) => rate.unwrap_or(DEFAULT_RATE),
        };
        check_schedule(&params.schedule, params.period)?;
        let of_period_s = params.period.map_or(0.0, |period| integral_s(&params.schedule, period));
        Ok(Self { params, lambda, of_period_s, last: Span::ZERO, count: 0 })
    }
}

fn check_schedule(schedule: &[FactorStep], period: Option<Span>) -> Result<(), Problem> {
    let wrong = |message: &str| Err(Problem::new("schedule", message));
    if !schedule.is_sorted_by(|a, b| a.at < b.at) {
        return wrong("is not in order of time without repetition");
    }
    let silent = |s: &FactorStep| s.factor <= 0.0;
    if schedule.first().is_some_and(|s| s.at == Span::ZERO) && schedule.iter().all(silent) {
        return wrong("has only factors of 0, so nothing would ever arrive; expected another one");
    }
    if let (Some(period), Some(last)) = (period, schedule.last())
        && last.at >= period
    {
        return wrong("has a step at or after period; expected all before it");
    }
    Ok(())
}

/// The integral of the factors of a schedule over a time from its beginning, in seconds of factor 1.
fn integral_s(schedule: &[FactorStep], time: Span) -> f64 {
    let first = FactorStep { at: Span::ZERO, factor: 1.0 };
    let begins = [first].into_iter().chain(schedule.iter().copied());
    let ends = schedule.iter().map(|step| step.at).chain([Span::MAX]);
    let integrals = begins
        .zip(ends)
        .map(|(step, end)| step.factor * (end.min(time) - step.at.min(time)).seconds());
    integrals.sum()
}

impl Poisson {
    /// The factor at `t` and the time at which the next one begins.
    fn factor(&self, t: Span) -> (f64, Span) {
        let schedule = &self.params.schedule;
        let (turn, phase) = match self.params.period {
            Some(period) => (t - Span(t.0 % period.0), Span(t.0 % period.0)),
            None => (Span::ZERO, t),
        };
        let begun = schedule.partition_point(|s| s.at <= phase);
        let factor = if begun == 0 { 1.0 } else { schedule[begun - 1].factor };
        let end = schedule.get(begun).map(|s| s.at).or(self.params.period);
        (factor, end.map_or(Span::MAX, |end| turn + end))
    }

    /// The time at which the intensity since `self.last` has added up to `amount`.
    fn advance(&self, mut amount: f64) -> Option<Span> {
        let mut t = self.last;
        loop {
            let (factor, end) = self.factor(t);
            let intensity = self.lambda * factor;
            let room = intensity * (end - t).seconds();
            if amount <= room && intensity > 0.0 {
                return Some(t + Span::from_seconds(amount / intensity));
            }
            if end == Span::MAX {
                return None;
            }
            amount -= room;
            t = end;
            if let Some(period) = self.params.period
                && t.0.is_multiple_of(period.0)
            {
                // Where nothing comes for very many periods, all of them but the last pass at once.
                let of_period = self.lambda * self.of_period_s;
                let periods = amount / of_period - 1.0;
                if periods > MANY_PERIODS {
                    let periods = periods.floor();
                    t = t + Span(period.0.saturating_mul(periods as u64));
                    amount -= periods * of_period;
                }
            }
        }
    }
}

impl Arrivals for Poisson {
    fn next(&mut self, rng: &mut Stream) -> Option<Arrival> {
        if self.params.count.is_some_and(|count| self.count >= count) {
            return None;
        }
        self.last = self.advance(rng.exponential(1.0))?;
        let arrival = self.params.start + self.last;
        if self.params.until.is_some_and(|until| arrival >= until) {
            self.params.count = Some(self.count); // there is nothing after it either
            return None;
        }
        self.count += 1;
        let size = Some(self.params.sizes.draw(rng));
        let pair = self.params.pairs.map(|pairs| rng.below(u64::from(pairs)) as u32);
        Some(Arrival::at_once(Time::ZERO + arrival, size, pair))
    }

    fn expected(&self, end: Span) -> f64 {
        let PoissonParams { start, until, count, ref schedule, period, .. } = self.params;
        let end = until.map_or(end, |until| until.min(end));
        let active = end - start.min(end);
        let integral_s = match period {
            Some(period) => {
                let partial_period = integral_s(schedule, Span(active.0 % period.0));
                (active.0 / period.0) as f64 * self.of_period_s + partial_period
            }
            None => integral_s(schedule, active),
        };
        (self.lambda * integral_s).min(count.map_or(f64::INFINITY, |count| count as f64))
    }
}
