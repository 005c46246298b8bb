//! Transfers as a list says.
//!
//! **Source**: none; a replay. Shuffling: D. Hayes, D. Ros, L. Andrew, S. Floyd, draft-irtf-iccrg-tcpeval-01, 2014,
//! section 2.3.2; R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7(7), 1964 (Fisher and Yates).
//!
//! **Rule**
//! ```text
//! one transfer per entry, until `count` are made or an entry is at or after `until`
//! shuffle: bins of this length change their places at random, each order being as probable; an entry keeps its
//!          time within its bin. The draft's bins have 500 Mbit / capacity
//! turns:   as of connection vectors: part i + 1 leaves `pause` after part i has been acknowledged
//! ```
//! Deviations: none. Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrival, Arrivals, ArrivalsEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Bytes, Span, Time};

/// Most bins of a shuffle.
const MAX_BINS: u64 = 10_000_000;

/// Parameters of the replay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceArrivalsParams {
    /// Transfers in order of time.
    #[schemars(extend("x-file" = true))]
    pub arrivals: Vec<TraceArrival>,
    /// No arrival at or after this time of the run.
    #[schemars(extend("x-bare" = true))]
    pub until: Option<Span>,
    /// Most arrivals.
    pub count: Option<u64>,
    /// Length of bins that are put in random order, by which a list that is not stationary becomes so; left out: none.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub shuffle: Option<Span>,
}

/// A transfer of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceArrival {
    /// When, counted from the start of the run.
    #[schemars(extend("x-bare" = true))]
    pub at: Span,
    /// Payload; left out: endless.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Host pair; left out: the template's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<u32>,
    /// From the pair's receiving host to its sending one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub back: bool,
    /// Parts in which the application hands it over, in place of `size`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TraceTurn>,
}

/// A part of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceTurn {
    /// Payload.
    #[schemars(range(min = 1))]
    pub size: Bytes,
    /// From its acknowledgement to the next part.
    #[serde(default)]
    pub pause: Span,
}

/// The replay.
pub struct TraceArrivals {
    entries: std::vec::IntoIter<TraceArrival>,
    /// Until it has been done.
    shuffle: Option<Span>,
    until: Option<Span>,
    /// How many are still to come.
    count: usize,
}

impl About<ArrivalsEnv> for TraceArrivals {
    type Params = TraceArrivalsParams;
    const INFO: Info = Info {
        name: "trace",
        title: "Replay of a list of transfers",
        source: "none; a replay",
        status: Status::Variant,
    };

    fn new(params: TraceArrivalsParams, _: &ArrivalsEnv) -> Result<Self, Vec<Problem>> {
        let entries = params.arrivals;
        if !entries.is_sorted_by_key(|e| e.at) {
            return Err(Problem::new("arrivals", "are not in order of time").into());
        }
        if let Some(i) = entries.iter().position(|e| e.size.is_some() && !e.turns.is_empty()) {
            let path = format!("arrivals[{i}].turns");
            return Err(Problem::new(path, "excludes size; expected one of them").into());
        }
        if let (Some(bin), Some(last)) = (params.shuffle, entries.last())
            && last.at.0 / bin.0.max(1) >= MAX_BINS
        {
            let message =
                format!("makes more than {MAX_BINS} bins of this list; expected longer ones");
            return Err(Problem::new("shuffle", message).into());
        }
        Ok(Self {
            count: params
                .count
                .map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX)),
            until: params.until,
            shuffle: params.shuffle,
            entries: entries.into_iter(),
        })
    }
}

/// Puts bins of a length in random order; entries keep their time within their bin.
fn shuffle(entries: &[TraceArrival], bin: Span, rng: &mut Stream) -> Vec<TraceArrival> {
    let bin = bin.0.max(1);
    let bins = entries.last().map_or(0, |last| last.at.0 / bin + 1);
    let mut order: Vec<u64> = (0..bins).collect();
    for i in (1..bins).rev() {
        order.swap(i as usize, rng.below(i + 1) as usize);
    }
    let mut shuffled = Vec::with_capacity(entries.len());
    for (bin_index, &from) in (0..).zip(&order) {
        let first = entries.partition_point(|e| e.at.0 / bin < from);
        let inside = entries[first..].iter().take_while(|e| e.at.0 / bin == from);
        let moved = |e: &TraceArrival| TraceArrival {
            at: Span(bin_index * bin + e.at.0 % bin),
            ..e.clone()
        };
        shuffled.extend(inside.map(moved));
    }
    shuffled
}

impl Arrivals for TraceArrivals {
    fn next(&mut self, rng: &mut Stream) -> Option<Arrival> {
        if let Some(bin) = self.shuffle.take() {
            self.entries = shuffle(self.entries.as_slice(), bin, rng).into_iter();
        }
        self.count = self.count.checked_sub(1)?;
        let entry = self.entries.next()?;
        let time = Time::ZERO + entry.at;
        if self.until.is_some_and(|until| entry.at >= until) {
            return None;
        }
        let turns: Vec<(Bytes, Span)> =
            entry.turns.iter().map(|turn| (turn.size, turn.pause)).collect();
        let turns_total =
            (!turns.is_empty()).then(|| Bytes(turns.iter().map(|turn| turn.0.0).sum()));
        Some(Arrival {
            at: time,
            size: turns_total.or(entry.size),
            pair: entry.pair,
            back: entry.back,
            turns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::Era;
    use crate::registry::Spec;
    use crate::rng::Purpose;
    use crate::traffic::arrivals::build;

    fn take(json: serde_json::Value) -> Vec<Arrival> {
        let spec: Spec = serde_json::from_value(json).unwrap();
        let mut generator = build(&spec, &ArrivalsEnv { era: Era::Rfc }, "traffic").unwrap();
        let mut rng = Stream::new(3, Purpose::Traffic, 0);
        std::iter::from_fn(|| generator.next(&mut rng)).collect()
    }

    /// A list of 40 s at one transfer a second and then one of 10 s at 9 a second; sizes name the entries.
    fn list() -> Vec<serde_json::Value> {
        let slow = (0..40).map(|i| f64::from(i) + 0.25);
        let fast = (0..90).map(|i| 40.0 + f64::from(i) / 9.0);
        let times = slow.chain(fast).enumerate();
        times.map(|(i, time)| serde_json::json!({"at": time, "size": i + 1})).collect()
    }

    #[test]
    fn bins_change_their_places_and_entries_keep_theirs_within_them() {
        let json = serde_json::json!({"kind": "trace", "arrivals": list(), "shuffle": "5 s"});
        let plain = take(serde_json::json!({"kind": "trace", "arrivals": list()}));
        let mixed = take(json);
        assert!(mixed.is_sorted_by_key(|a| a.at));
        let bin = |a: &Arrival| a.at.0 / Span::from_seconds(5.0).0;
        let within = |a: &Arrival| a.at.0 % Span::from_seconds(5.0).0;
        let mut sizes: Vec<u64> = mixed.iter().map(|a| a.size.unwrap().0).collect();
        assert_ne!(sizes, (1..=130).collect::<Vec<u64>>());
        for a in &mixed {
            let old = &plain[a.size.unwrap().0 as usize - 1];
            assert_eq!(within(a), within(old));
            // Who shared a bin shares one.
            for b in &mixed {
                let other = &plain[b.size.unwrap().0 as usize - 1];
                assert_eq!(bin(a) == bin(b), bin(old) == bin(other));
            }
        }
        sizes.sort_unstable();
        assert_eq!(sizes, (1..=130).collect::<Vec<u64>>());
    }

    /// What is left out by `until` is what comes late after the shuffle, not before it.
    #[test]
    fn until_counts_in_the_time_of_the_run() {
        let mut json = serde_json::json!({"kind": "trace", "arrivals": list(), "shuffle": "5 s"});
        let early: Vec<Arrival> =
            take(json.clone()).into_iter().filter(|a| a.at.seconds() < 25.0).collect();
        json["until"] = "25 s".into();
        assert_eq!(take(json.clone()), early);
        json["count"] = 3.into();
        assert_eq!(take(json), early[..3]);
    }

    #[test]
    fn a_connection_vector_is_handed_over_in_its_turns() {
        let entry = serde_json::json!({
            "at": 1, "back": true, "turns": [{"size": 500, "pause": "2 s"}, {"size": "1 kB"}],
        });
        let arrivals = take(serde_json::json!({"kind": "trace", "arrivals": [entry]}));
        let turns = vec![(Bytes(500), Span::from_seconds(2.0)), (Bytes(1000), Span::ZERO)];
        assert_eq!((arrivals[0].size, arrivals[0].back), (Some(Bytes(1500)), true));
        assert_eq!(arrivals[0].turns, turns);
    }

    #[test]
    fn a_size_beside_turns_is_refused() {
        let entry = serde_json::json!({"at": 1, "size": 10, "turns": [{"size": 500}]});
        let json = serde_json::json!({"kind": "trace", "arrivals": [entry]});
        let spec: Spec = serde_json::from_value(json).unwrap();
        let env = ArrivalsEnv { era: Era::Rfc };
        let Err(problems) = build(&spec, &env, "traffic") else { panic!("it was accepted") };
        assert!(problems[0].to_string().contains("arrivals[0].turns"), "{}", problems[0]);
    }
}
