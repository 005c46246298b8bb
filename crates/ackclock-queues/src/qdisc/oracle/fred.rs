//! FRED from the rule in its file: a flow's packets are counted in the queue itself.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::{BitRate, Time};

struct Fred {
    limit: Limit,
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    min_q: f64,
    many_flows: bool,
    ecn: bool,
    line: Line,
    draws: Stream,
    avg: f64,
    strikes: BTreeMap<u32, u32>,
    /// Arrivals since the last random drop, or since the average came between the thresholds.
    count: Option<u32>,
    /// Start and rate of each part of an idle time \[bit/s\].
    idle: Option<Vec<(Time, f64)>>,
    rate: f64,
}

enum Test {
    Accept,
    Drop,
    Mark,
}

impl Fred {
    fn step(&mut self, now: Time) {
        if let Some(mut idle_intervals) = self.idle.take() {
            idle_intervals.push((now, 0.0));
            let missed: f64 = idle_intervals
                .windows(2)
                .map(|w| w[1].0.since(w[0].0).seconds() * w[0].1 / 8000.0)
                .sum();
            for _ in 0..missed.floor() as u64 {
                self.avg -= self.w_q * self.avg;
            }
        }
        self.avg += self.w_q * (self.line.0.len() as f64 - self.avg);
    }

    fn of(&self, key: u32) -> f64 {
        self.line.0.iter().filter(|packet| packet.key == key).count() as f64
    }

    fn test(&mut self, key: u32) -> Test {
        let flows: BTreeSet<u32> = self.line.0.iter().map(|packet| packet.key).collect();
        let avgcq = (self.avg / flows.len().max(1) as f64).max(1.0);
        let is_full = self.avg >= self.max_th;
        let max_q = if self.many_flows && is_full { 2.0 } else { self.min_th };
        let qlen = self.of(key);
        let strikes = self.strikes.entry(key).or_default();
        if qlen >= max_q || (is_full && qlen > 2.0 * avgcq) || (qlen >= avgcq && *strikes > 1) {
            *strikes += 1;
            return Test::Drop;
        }
        if self.avg < self.min_th {
            self.count = None;
            return Test::Accept;
        }
        if is_full {
            // The count, if there is one, starts anew.
            self.count = self.count.map(|_| 0);
            return if self.many_flows { Test::Accept } else { Test::Drop };
        }
        self.count = Some(self.count.map_or(0, |count| count + 1));
        if qlen < self.min_q.max(avgcq) {
            return Test::Accept;
        }
        let p_b = self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th);
        let spent = f64::from(self.count.unwrap()) * p_b;
        let p_a = if spent < 1.0 { (p_b / (1.0 - spent)).min(1.0) } else { 1.0 };
        if self.draws.uniform() >= p_a {
            return Test::Accept;
        }
        self.count = Some(0);
        if self.ecn { Test::Mark } else { Test::Drop }
    }

    fn forget(&mut self, key: u32) {
        if self.of(key) == 0.0 {
            self.strikes.remove(&key);
        }
    }
}

impl Reference for Fred {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        self.step(packet.at);
        let is_dropped = match self.test(packet.key) {
            Test::Accept => false,
            Test::Drop => true,
            Test::Mark => {
                packet.ce = packet.ect;
                !packet.ect
            }
        };
        if is_dropped || !self.line.admits(self.limit, packet.size) {
            fates.push(Fate::Dropped { seq: packet.seq });
        } else {
            self.line.0.push_back(packet);
        }
        self.forget(packet.key);
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let Some(packet) = self.line.0.pop_front() else {
            self.idle = Some(vec![(now, self.rate)]);
            return;
        };
        self.forget(packet.key);
        self.step(now);
        fates.push(Fate::Sent { seq: packet.seq, ce: packet.ce });
    }

    fn rate(&mut self, now: Time, rate: BitRate) {
        self.rate = rate.0 as f64;
        if let Some(idle_intervals) = &mut self.idle {
            idle_intervals.push((now, self.rate));
        }
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("avg", self.avg)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn fred_drops_and_marks_as_its_rule_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        (min_th, span) in (1u32..6, 1u32..10),
        (max_p, w_q) in (0.02f64..1.0, prop::sample::select(vec![1.0, 0.5, 0.1])),
        min_q in 1u32..4,
        (many_flows, ecn) in any::<(bool, bool)>(),
    ) {
        let max_th = min_th + span;
        let given = json!({ "kind": "fred", "min_th": min_th, "max_th": max_th, "max_p": max_p,
            "w_q": w_q, "min_q": min_q, "many_flows": many_flows, "ecn": ecn });
        let mut reference = Fred {
            limit,
            min_th: f64::from(min_th),
            max_th: f64::from(max_th),
            max_p, w_q, many_flows, ecn,
            min_q: f64::from(min_q),
            line: Line::default(),
            draws: draws(),
            avg: 0.0,
            strikes: BTreeMap::new(),
            count: None,
            idle: Some(vec![(Time::ZERO, 10e6)]),
            rate: 10e6,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
