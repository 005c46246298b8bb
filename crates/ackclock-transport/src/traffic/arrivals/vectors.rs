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
//! prefill: connections come from `start` - `prefill` on; of those before `start` only the turns are made that begin at
//!          `start` or later if transfers take no time
//! ```
//! Turns of connections that are older than `prefill` are missing: of the load that is offered at `start`, the share
//! of turns that begin later than that after their connection.
//!
//! Deviations: the draft (section 3.3) has a trace, of which it starts the longer connections of `prefill` whole, over
//! a shorter time; here distributions are known, so what is left of each is drawn, and the load is that of the steady
//! state from the beginning. The draft shuffles bins of its trace to make the load stationary (section 2.3.2); Poisson
//! arrivals are. The two directions of a connection do not wait for one another. Mean size and number of turns, and the
//! distribution of requests, are ackclock's: the traces' are not public.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::Sizes;
use super::{Arrival, Arrivals, ArrivalsEnv, MOST_AHEAD};
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
    /// How long connections have come before `start`: those that are under way then go on.
    pub prefill: Span,
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
            prefill: Span::ZERO,
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
    /// The last connection's beginning, since `start` - `prefill`.
    last: Span,
    /// What is left of connections that began before `start`, the latest first; none before they are drawn.
    under_way: Option<Vec<Arrival>>,
    /// The last connection, its responses last.
    drawn: Vec<Arrival>,
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
        // All turns of connections that are under way are drawn before the first arrival.
        let turns = lambda * params.prefill.seconds() * params.turns;
        if turns > MOST_AHEAD {
            let text = format!("{} s", params.prefill.seconds());
            let most = MOST_AHEAD / (lambda * params.turns);
            let range = format!(
                "at most {most:.3} s at {lambda:.3} connections a second of {} turns: {MOST_AHEAD:e} turns in all",
                params.turns
            );
            return Err(Problem::out_of_range("prefill", text, &range).into());
        }
        Ok(Self { params, lambda, last: Span::ZERO, under_way: None, drawn: Vec::new() })
    }
}

impl ConnectionVectors {
    /// Draws the next connection and puts what it makes at `start` or later into `drawn`. Returns whether it began
    /// before `start`.
    fn draw(&mut self, rng: &mut Stream) -> bool {
        self.last = self.last + Span::from_seconds(rng.exponential(1.0 / self.lambda));
        let pair = self.params.pairs.map(|pairs| rng.below(u64::from(pairs)) as u32);
        // When the next turn begins, and when the first one that is made.
        let (mut begins, mut first) = (self.last, None);
        let (mut responses, mut requests) = (Vec::new(), Vec::new());
        loop {
            let think = rng.pareto(self.params.think.seconds(), self.params.think_shape);
            let think = Span::from_seconds(think);
            let turn = (self.params.requests.draw(rng), self.params.responses.draw(rng));
            if begins >= self.params.prefill {
                first = first.or(Some(begins));
                requests.push((turn.0, think));
                responses.push((turn.1, think));
            }
            begins = begins + think;
            if rng.uniform() * self.params.turns < 1.0 {
                break;
            }
        }
        if let Some(first) = first {
            let time = Time::ZERO + self.params.start + Span(first.0 - self.params.prefill.0);
            let transfer = |turns: Vec<(Bytes, Span)>, back| {
                let size = Some(Bytes(turns.iter().map(|turn| turn.0.0).sum()));
                Arrival { at: time, size, pair, back, turns }
            };
            self.drawn.push(transfer(requests, true));
            self.drawn.push(transfer(responses, false));
        }
        self.last < self.params.prefill
    }

    /// Draws all connections that began before `start`, and the first after it.
    fn fill(&mut self, rng: &mut Stream) -> Vec<Arrival> {
        let mut all = Vec::new();
        while self.draw(rng) {
            all.append(&mut self.drawn);
        }
        // The earliest is last, and responses after their requests, which begin with them.
        all.sort_by_key(|arrival| std::cmp::Reverse((arrival.at, arrival.back)));
        all
    }
}

impl Arrivals for ConnectionVectors {
    fn next(&mut self, rng: &mut Stream) -> Option<Arrival> {
        let mut under_way = match self.under_way.take() {
            Some(under_way) => under_way,
            None => self.fill(rng),
        };
        if self.drawn.is_empty() {
            self.draw(rng);
        }
        let waits = |list: &[Arrival]| list.last().map(|arrival| arrival.at);
        let is_older =
            waits(&under_way).is_some_and(|time| waits(&self.drawn).is_none_or(|t| time <= t));
        let next = if is_older { under_way.pop() } else { self.drawn.pop() };
        self.under_way = Some(under_way);
        next.filter(|next| self.params.until.is_none_or(|until| next.at < Time::ZERO + until))
    }

    /// Of connections that begin at `start` or later; each is two transfers.
    fn expected(&self, end: Span) -> f64 {
        let end = self.params.until.map_or(end, |until| until.min(end));
        2.0 * self.lambda * (end - self.params.start.min(end)).seconds()
    }

    fn expected_turns(&self, end: Span) -> f64 {
        self.expected(end) / 2.0 * self.params.turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::Era;
    use crate::registry::Spec;
    use crate::rng::Purpose;
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

    /// Payload of responses whose turn begins in each second, if transfers take no time [bit/s].
    fn offered_bps(all: &[Arrival], seconds: usize) -> Vec<f64> {
        let mut bits = vec![0.0; seconds];
        for arrival in all {
            let mut second_begins = arrival.at.seconds();
            for (size, think) in &arrival.turns {
                if let Some(second) = bits.get_mut(second_begins as usize) {
                    *second += size.0 as f64 * 8.0;
                }
                second_begins += think.seconds();
            }
        }
        bits
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// 400 Mbit/s of 10 kB in three turns: 1667 connections a second. Without connections that are under way the first
    /// second has their first turns only, a third of the load, for no think time is below 1 s; with them, it lacks just
    /// the turns that begin more than `prefill` after their connection, whose share the connections themselves show.
    #[test]
    fn a_prefilled_network_has_its_load_from_the_beginning() {
        let json = |prefill: &str| {
            serde_json::json!({
                "kind": "connection-vectors", "load": "400 Mbps", "prefill": prefill,
                "responses": {"kind": "fixed", "mean": "10 kB"},
            })
        };
        let empty = take(json("0 s"), 40.0, false);
        // 1667 first turns of a second are known to 2.5 %; 5 s of 5000 turns that come in connections to 1 %.
        let first = offered_bps(&empty, 1)[0] / 400e6;
        assert!((first - 1.0 / 3.0).abs() < 0.03, "{first}");
        let (mut turns, mut late) = (0.0, 0.0);
        for arrival in &empty {
            let mut since = 0.0;
            for (_, think) in &arrival.turns {
                turns += 1.0;
                late += f64::from(u8::from(since > 30.0));
                since += think.seconds();
            }
        }
        let filled = take(json("30 s"), 10.0, false);
        let load = mean(&offered_bps(&filled, 5)) / 400e6;
        assert!((load - (1.0 - late / turns)).abs() < 0.03, "{load}, {late} of {turns}");
        let long = take(json("300 s"), 10.0, false);
        let load = mean(&offered_bps(&long, 5)) / 400e6;
        assert!((load - 1.0).abs() < 0.03, "{load}");
        assert!(long.is_sorted_by_key(|arrival| arrival.at));
    }

    /// Section 3.2 of the draft: the load offered in the second third of a test is that of the last third within 5 %.
    /// 82.7 Mbit/s for 328 s, of sizes a tenth of the profile's: 630,000 turns in each third, whose deviation is
    /// 7 times their mean, so a third is known to 0.9 %.
    #[test]
    fn the_offered_load_is_the_same_in_the_last_two_thirds_of_a_test() {
        let json = serde_json::json!({
            "kind": "connection-vectors", "load": "82.7333 Mbps", "prefill": "100 s",
            "responses": {"kind": "pareto", "mean": "2 kB", "shape": 1.2, "cap": "1 MB"},
        });
        let all = take(json, 328.0, false);
        let bits = offered_bps(&all, 328);
        let ratio = mean(&bits[109..218]) / mean(&bits[219..328]);
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        assert!((mean(&bits) / 82.7333e6 - 1.0).abs() < 0.05, "{}", mean(&bits));
    }

    /// Requests of a connection that is under way are as many as its responses, and begin with them.
    #[test]
    fn both_directions_of_a_connection_under_way_go_on_together() {
        let json = serde_json::json!({"kind": "connection-vectors", "rate": 50, "prefill": "60 s", "pairs": 4});
        let (there, back) = (take(json.clone(), 30.0, false), take(json, 30.0, true));
        assert_eq!(there.len(), back.len());
        assert!(
            there
                .iter()
                .zip(&back)
                .all(|(a, b)| { (a.at, a.pair, a.turns.len()) == (b.at, b.pair, b.turns.len()) })
        );
    }
}
