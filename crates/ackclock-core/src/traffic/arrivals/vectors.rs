//! Connection vectors: connections with several requests and responses, and think times between them.
//!
//! Stands in for the traces of Tmix of which the evaluation suite for TCP has its traffic, by distributions.
//!
//! **Source**: M. Weigle, P. Adurthi, F. Hernandez-Campos, K. Jeffay, F. Smith, "Tmix: a tool for generating realistic
//! TCP application workloads in ns-2", ACM SIGCOMM CCR 36(3), 2006, doi:10.1145/1140086.1140094 (what a connection
//! vector is); D. Hayes, D. Ros, L. Andrew, S. Floyd, draft-irtf-iccrg-tcpeval-01, 2014, appendix A (Poisson arrivals,
//! heavy-tailed sizes and think times, chosen independently); P. Barford, M. Crovella, "Generating representative Web
//! workloads for network and server performance evaluation", ACM SIGMETRICS 1998, doi:10.1145/277851.277897 (think
//! times: Pareto from 1 s on with shape 1.5, of mean 3 s); Crovella, Bestavros 1997 (sizes: see
//! [`Sizes`](super::sizes::Sizes)).
//!
//! **Rule** (E[n] = `turns`)
//! ```text
//! connections come by a Poisson process of rate `rate`, or load / (8 E[n] E[response])
//! a connection has n turns, P(n = k) = (1 - 1/E[n])^(k - 1) / E[n]; turn i is (request_i, response_i, think_i)
//! responses go one way and requests the other, each direction as one TCP transfer that is handed over in turns: part
//! i + 1 leaves think_i after part i has been acknowledged
//! ```
//! Deviations: the two directions of a connection do not wait for one another. Mean size and number of turns, and the
//! distribution of requests, are ackclock's: the traces' are not public.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::Sizes;
use super::{Arrival, Arrivals, ArrivalsEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{BitRate, Bytes, Span, Time};

/// Connections per second where neither `rate` nor `load` is given.
const DEFAULT_RATE: f64 = 10.0;

/// Parameters of connection vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ConnectionVectorsParams {
    /// Mean rate of new connections; excludes `load`. Left out without `load`: 10.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "1/s"))]
    pub rate: Option<f64>,
    /// Payload of responses that is offered per second; excludes `rate`.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub load: Option<BitRate>,
    /// Sizes of responses.
    pub responses: Sizes,
    /// Sizes of requests.
    pub requests: Sizes,
    /// Mean number of turns of a connection.
    #[schemars(range(min = 1, max = 10_000), extend("x-unit" = "turns"))]
    pub turns: f64,
    /// Mean think time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub think: Span,
    /// Shape of the Pareto distribution of think times.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub think_shape: f64,
    /// Each connection goes between a pair drawn from 0 to this less one; left out: the template's.
    #[schemars(range(min = 1))]
    pub pairs: Option<u32>,
    /// No connection before this time of the run.
    #[schemars(extend("x-bare" = true))]
    pub start: Span,
    /// No connection at or after this time of the run.
    #[schemars(extend("x-bare" = true))]
    pub until: Option<Span>,
}

impl Default for ConnectionVectorsParams {
    fn default() -> Self {
        Self {
            rate: None,
            load: None,
            responses: Sizes::Pareto {
                mean: Bytes(20_000),
                shape: 1.2,
                cap: Some(Bytes(10_000_000)),
            },
            requests: Sizes::Exponential { mean: Bytes(1_000) },
            turns: 3.0,
            think: Span::from_seconds(3.0),
            think_shape: 1.5,
            pairs: None,
            start: Span::ZERO,
            until: None,
        }
    }
}

/// Connections with several requests and responses.
pub struct ConnectionVectors {
    params: ConnectionVectorsParams,
    /// Connections per second.
    lambda: f64,
    /// The last connection's beginning.
    last: Span,
    /// Its requests, which are still to be given out.
    requests: Option<Arrival>,
}

impl About<ArrivalsEnv> for ConnectionVectors {
    type Params = ConnectionVectorsParams;
    const INFO: Info = Info {
        name: "connection-vectors",
        title: "Connections with several requests, responses and think times",
        source: "Weigle et al., ACM SIGCOMM CCR 36(3), 2006, doi:10.1145/1140086.1140094; \
                 draft-irtf-iccrg-tcpeval-01, appendix A; Barford, Crovella, SIGMETRICS 1998",
        status: Status::Variant,
    };

    fn new(params: ConnectionVectorsParams, _: &ArrivalsEnv) -> Result<Self, Vec<Problem>> {
        params.responses.check().map_err(|problem| problem.inside("responses"))?;
        params.requests.check().map_err(|problem| problem.inside("requests"))?;
        let lambda = match (params.rate, params.load) {
            (Some(_), Some(_)) => {
                return Err(Problem::new("rate", "excludes load; expected one of them").into());
            }
            (None, Some(load)) => load.bps() / (8.0 * params.turns * params.responses.mean()),
            (rate, None) => rate.unwrap_or(DEFAULT_RATE),
        };
        let last = params.start;
        Ok(Self { params, lambda, last, requests: None })
    }
}

impl Arrivals for ConnectionVectors {
    fn next(&mut self, rng: &mut Stream) -> Option<Arrival> {
        if let Some(requests) = self.requests.take() {
            return Some(requests);
        }
        self.last = self.last + Span::from_seconds(rng.exponential(1.0 / self.lambda));
        if self.params.until.is_some_and(|until| self.last >= until) {
            return None;
        }
        let pair = self.params.pairs.map(|pairs| rng.below(u64::from(pairs)) as u32);
        let (mut responses, mut requests) = (Vec::new(), Vec::new());
        loop {
            let think = rng.pareto(self.params.think.seconds(), self.params.think_shape);
            let think = Span::from_seconds(think);
            requests.push((self.params.requests.draw(rng), think));
            responses.push((self.params.responses.draw(rng), think));
            if rng.uniform() * self.params.turns < 1.0 {
                break;
            }
        }
        let transfer = |turns: Vec<(Bytes, Span)>, back| Arrival {
            at: Time::ZERO + self.last,
            size: Some(Bytes(turns.iter().map(|turn| turn.0.0).sum())),
            pair,
            back,
            turns,
        };
        self.requests = Some(transfer(requests, true));
        Some(transfer(responses, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Spec;
    use crate::rng::Purpose;
    use crate::scenario::Era;
    use crate::traffic::arrivals::build;

    /// Until `until_s`, one direction.
    fn take(json: serde_json::Value, until_s: f64, back: bool) -> Vec<Arrival> {
        let spec: Spec = serde_json::from_value(json).unwrap();
        let mut generator = build(&spec, &ArrivalsEnv { era: Era::Rfc }, "traffic").unwrap();
        let mut rng = Stream::new(5, Purpose::Traffic, 0);
        std::iter::from_fn(|| generator.next(&mut rng))
            .take_while(|a| a.at.seconds() < until_s)
            .filter(|a| a.back == back)
            .collect()
    }

    /// The draft's load, A = E[f] / E[t] (section 3.1). 8 Mbit/s of responses of exactly 10 kB in 4 turns are 25
    /// connections a second: 50,000 of them in 2000 s, known to 0.45 %; turns have deviation sqrt(12).
    #[test]
    fn the_offered_load_is_mean_session_over_mean_interval() {
        let json = serde_json::json!({
            "kind": "connection-vectors", "load": "8 Mbps", "turns": 4,
            "responses": {"kind": "fixed", "mean": "10 kB"}, "requests": {"kind": "fixed", "mean": 500},
        });
        let all = take(json.clone(), 2000.0, false);
        assert!((all.len() as f64 / 50_000.0 - 1.0).abs() < 0.02, "{}", all.len());
        let bits: f64 = all.iter().map(|a| a.size.unwrap().0 as f64 * 8.0).sum();
        assert!((bits / 2000.0 / 8e6 - 1.0).abs() < 0.025, "{}", bits / 2000.0);
        let turns: f64 = all.iter().map(|a| a.turns.len() as f64).sum::<f64>() / all.len() as f64;
        assert!((turns / 4.0 - 1.0).abs() < 0.02, "{turns}");
        // A geometric number of turns: a quarter of the connections have one.
        let once = all.iter().filter(|a| a.turns.len() == 1).count() as f64 / all.len() as f64;
        assert!((once - 0.25).abs() < 0.01, "{once}");
        // The other direction has as many turns, of 500 bytes.
        let back = take(json, 2000.0, true);
        assert_eq!(back.len(), all.len());
        assert!(all.iter().zip(&back).all(|(a, b)| a.turns.len() == b.turns.len()));
        assert!(back.iter().all(|a| a.size.unwrap().0 == 500 * a.turns.len() as u64));
    }

    /// Pareto from 1 s on with shape 1.5: the median is 2^(1 / 1.5) = 1.587 s, and 1 / 4^1.5 = 12.5 % exceed 4 s.
    #[test]
    fn think_times_are_those_of_surge() {
        let all = take(serde_json::json!({"kind": "connection-vectors", "rate": 50}), 400.0, false);
        let mut thinks: Vec<f64> =
            all.iter().flat_map(|a| a.turns.iter().map(|turn| turn.1.seconds())).collect();
        thinks.sort_by(f64::total_cmp);
        assert!(thinks[0] >= 1.0);
        assert!((thinks[thinks.len() / 2] - 1.587).abs() < 0.03);
        let long = thinks.iter().filter(|t| **t > 4.0).count() as f64 / thinks.len() as f64;
        assert!((long - 0.125).abs() < 0.005, "{long}");
    }
}
