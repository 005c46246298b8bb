//! Users who download one file after another, with idle times between.
//!
//! **Source**: V. Singh, J. Ott, S. Holmer, "Evaluating Congestion Control for Interactive Real-Time Media", RFC 8868,
//! January 2021 (the model of short TCP flows); Z. Sarker, V. Singh, X. Zhu, M. Ramalho, RFC 8867, January 2021,
//! section 5.7 (ten users of whom two begin with a download).
//!
//! **Rule**
//! ```text
//! each user is one TCP connection: a download, then an idle time ~ Exp(`idle`) after it has been acknowledged, ...
//! the first `active` users begin at once, the others after an idle time
//! ```
//! A user goes on until the flow stops. Deviations: none. Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::Sizes;
use super::{Arrival, Arrivals, ArrivalsEnv, MOST_AHEAD};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Bytes, Span, Time};

/// Parameters of users who download files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UsersParams {
    /// How many.
    #[schemars(range(min = 1, max = 100_000), extend("x-unit" = "users"))]
    pub users: u32,
    /// How many of them begin with a download; the others begin with an idle time.
    #[schemars(extend("x-unit" = "users"))]
    pub active: u32,
    /// Sizes of files.
    pub sizes: Sizes,
    /// Mean idle time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub idle: Span,
    /// Downloads of a user, at most.
    #[schemars(range(min = 1, max = 100_000))]
    pub downloads: u32,
}

impl Default for UsersParams {
    fn default() -> Self {
        Self {
            users: 10,
            active: 2,
            sizes: Sizes::Uniform { least: Bytes(30_000), most: Bytes(50_000) },
            idle: Span::from_seconds(10.0),
            downloads: 200,
        }
    }
}

/// Users who download files.
pub struct Users {
    params: UsersParams,
    /// Users in order of their beginnings, the first one last; none before they are drawn.
    drawn: Option<Vec<Arrival>>,
}

impl About<ArrivalsEnv> for Users {
    type Params = UsersParams;
    const INFO: Info = Info {
        name: "users",
        title: "Users who download files, with idle times",
        source: "RFC 8868; RFC 8867, section 5.7",
        status: Status::Specified,
    };

    fn new(params: UsersParams, _: &ArrivalsEnv) -> Result<Self, Vec<Problem>> {
        params.sizes.check().map_err(|problem| problem.inside("sizes"))?;
        if params.active > params.users {
            let range = format!("at most {}, the number of users", params.users);
            return Err(Problem::out_of_range("active", params.active.to_string(), &range).into());
        }
        let downloads = f64::from(params.users) * f64::from(params.downloads);
        if downloads > MOST_AHEAD {
            let range = format!("at most {MOST_AHEAD:e} downloads of all {} users", params.users);
            let text = params.downloads.to_string();
            return Err(Problem::out_of_range("downloads", text, &range).into());
        }
        Ok(Self { params, drawn: None })
    }
}

impl Users {
    fn draw(&self, rng: &mut Stream) -> Vec<Arrival> {
        let idle =
            |rng: &mut Stream| Span::from_seconds(rng.exponential(self.params.idle.seconds()));
        let mut all: Vec<Arrival> = (0..self.params.users)
            .map(|user| {
                let first = if user < self.params.active { Span::ZERO } else { idle(rng) };
                let turns: Vec<(Bytes, Span)> = (0..self.params.downloads)
                    .map(|_| (self.params.sizes.draw(rng), idle(rng)))
                    .collect();
                let size = Some(Bytes(turns.iter().map(|turn| turn.0.0).sum()));
                Arrival { at: Time::ZERO + first, size, pair: None, back: false, turns }
            })
            .collect();
        all.sort_by_key(|arrival| std::cmp::Reverse(arrival.at));
        all
    }
}

impl Arrivals for Users {
    fn next(&mut self, rng: &mut Stream) -> Option<Arrival> {
        let mut queue = match self.drawn.take() {
            Some(queue) => queue,
            None => self.draw(rng),
        };
        let next = queue.pop();
        self.drawn = Some(queue);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::Era;
    use crate::registry::Spec;
    use crate::rng::Purpose;
    use crate::traffic::arrivals::build;

    fn take(json: serde_json::Value) -> Result<Vec<Arrival>, Vec<Problem>> {
        let spec: Spec = serde_json::from_value(json).unwrap();
        let mut generator = build(&spec, &ArrivalsEnv { era: Era::Rfc }, "traffic")?;
        let mut rng = Stream::new(9, Purpose::Traffic, 0);
        Ok(std::iter::from_fn(|| generator.next(&mut rng)).collect())
    }

    /// Of ten users two begin at once. 2000 sizes between 30 and 50 kB: mean 40 kB, known to 0.13 kB (deviation
    /// 20 / sqrt(12) kB); idle times of 10 s known to 0.22 s; 1 / e of them longer than 10 s, known to 1.1 %.
    #[test]
    fn users_are_those_of_the_rfc() {
        let all = take(serde_json::json!({"kind": "users"})).unwrap();
        assert_eq!(all.len(), 10);
        assert_eq!(all.iter().filter(|a| a.at == Time::ZERO).count(), 2);
        assert!(all.is_sorted_by_key(|a| a.at));
        let turns: Vec<(Bytes, Span)> = all.iter().flat_map(|a| a.turns.clone()).collect();
        let count = turns.len() as f64;
        let sizes: Vec<f64> = turns.iter().map(|turn| turn.0.0 as f64).collect();
        assert!(sizes.iter().all(|size| (30_000.0..=50_000.0).contains(size)));
        assert!((sizes.iter().sum::<f64>() / count - 40_000.0).abs() < 400.0);
        let idle: Vec<f64> = turns.iter().map(|turn| turn.1.seconds()).collect();
        assert!((idle.iter().sum::<f64>() / count - 10.0).abs() < 0.7);
        let long = idle.iter().filter(|s| **s > 10.0).count() as f64 / count;
        assert!((long - (-1f64).exp()).abs() < 0.035, "{long}");
    }

    #[test]
    fn more_active_users_than_users_are_refused() {
        let problems = take(serde_json::json!({"kind": "users", "users": 3, "active": 4}));
        let text = problems.unwrap_err()[0].to_string();
        assert!(text.contains("active") && text.contains("at most 3"), "{text}");
    }
}
