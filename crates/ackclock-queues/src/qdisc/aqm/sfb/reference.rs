//! SFB with bins that are counted in the queue itself: a slow reference for random events.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::{Rule, Table};
use crate::qdisc::Limit;
use crate::qdisc::oracle::{
    Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec,
};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// A filter: where it puts keys, and what its bins have learnt.
struct Filter {
    /// For its hash functions alone.
    hash: Table,
    /// Packets from this one on are counted, and these of before.
    first: u32,
    learnt: BTreeSet<u32>,
    p: BTreeMap<u32, f64>,
    changed: BTreeMap<u32, Time>,
}

struct Counted {
    limit: Limit,
    rule: Rule,
    max: usize,
    ecn: bool,
    rehash: Span,
    warmup: Span,
    penalty_rate: f64,
    penalty_burst: f64,
    line: Line,
    draws: Stream,
    now: Option<Filter>,
    next: Option<Filter>,
    until: Time,
    tokens: f64,
    filled: Time,
    p_min: f64,
}

impl Filter {
    fn bins(&self, rule: Rule, key: u32) -> Vec<u32> {
        self.hash.slots(rule, key)[..rule.levels].to_vec()
    }

    /// Packets in a bin.
    fn waiting(&self, rule: Rule, line: &Line, bin: u32) -> usize {
        let counts = |packet: &&Waiting| {
            let counts = packet.seq >= self.first || self.learnt.contains(&packet.seq);
            counts && self.bins(rule, packet.key).contains(&bin)
        };
        line.0.iter().filter(counts).count()
    }

    /// An arrival changes probabilities; the least probability and the fewest packets.
    fn arrival(&mut self, rule: Rule, line: &Line, key: u32, now: Time) -> (f64, usize) {
        let (mut p_min, mut fewest) = (1.0f64, usize::MAX);
        for bin in self.bins(rule, key) {
            let waiting = self.waiting(rule, line, bin);
            let old = self.p.get(&bin).copied().unwrap_or(0.0);
            let new = if waiting == 0 {
                (old - rule.d2).max(0.0)
            } else if waiting >= rule.target as usize {
                (old + rule.d1).min(1.0)
            } else {
                old
            };
            let may =
                self.changed.get(&bin).is_none_or(|&changed_at| now >= changed_at + rule.freeze);
            if new.to_bits() != old.to_bits() && may {
                self.p.insert(bin, new);
                self.changed.insert(bin, now);
            }
            p_min = p_min.min(self.p.get(&bin).copied().unwrap_or(0.0));
            fewest = fewest.min(waiting);
        }
        (p_min, fewest)
    }
}

impl Counted {
    fn fresh(&mut self, first: u32) -> Filter {
        let hash = Table::new(self.rule, self.draws.bits(), 0, 1);
        let (p, changed) = (BTreeMap::new(), BTreeMap::new());
        Filter { hash, first, learnt: BTreeSet::new(), p, changed }
    }

    /// New hash functions come into use every `rehash`, counted from the first arrival or from the one
    /// that was late for it; the table to come learns for the last `warmup`.
    fn turn(&mut self, now: Time, seq: u32) {
        if self.now.is_none() {
            self.now = Some(self.fresh(seq));
            self.until = now + self.rehash;
        } else if now >= self.until {
            let next = self.next.take().map(|next| Filter { first: seq, ..next });
            self.now = Some(next.unwrap_or_else(|| self.fresh(seq)));
            self.until = now + self.rehash;
            return;
        }
        if now + self.warmup >= self.until && self.next.is_none() {
            // Until it is in use it counts what it learns from alone.
            self.next = Some(self.fresh(u32::MAX));
        }
    }

    /// What becomes of the arrival: whether it is dropped, whether it may be marked in place of that.
    fn decide(&mut self, p_min: f64, fewest: usize, now: Time) -> Option<bool> {
        if fewest >= self.max {
            return Some(false);
        }
        if p_min >= 1.0 {
            let gained = now.since(self.filled).seconds() * self.penalty_rate;
            self.filled = now;
            self.tokens = (self.tokens + gained).min(self.penalty_burst);
            if self.tokens < 1.0 {
                return Some(false);
            }
            self.tokens -= 1.0;
            return None;
        }
        let uniform = self.draws.uniform();
        // Of arrivals above one half, 2 p - 1 are dropped whatever they can.
        (uniform < p_min).then_some(self.ecn && uniform >= 2.0 * p_min - 1.0)
    }
}

impl Reference for Counted {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        let (now, rule) = (packet.at, self.rule);
        self.turn(now, packet.seq);
        let (p_min, fewest) = self.now.as_mut().unwrap().arrival(rule, &self.line, packet.key, now);
        self.p_min = p_min;
        let hit = self.decide(p_min, fewest, now);
        let unresponsive = p_min >= 1.0 && fewest < self.max;
        if let Some(next) = self.next.as_mut().filter(|_| unresponsive) {
            next.arrival(rule, &self.line, packet.key, now);
        }
        let marks = hit == Some(true) && packet.ect;
        if (hit.is_some() && !marks) || !self.line.admits(self.limit, packet.size) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        if let Some(next) = self.next.as_mut().filter(|_| unresponsive) {
            next.learnt.insert(packet.seq);
        }
        packet.ce = marks;
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, _now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let sent = self.line.0.pop_front();
        fates.extend(sent.map(|packet| Fate::Sent { seq: packet.seq, ce: packet.ce }));
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("p_min", self.p_min)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn sfb_drops_and_marks_as_its_rule_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        (levels, bins) in (1u32..4, 1u32..5),
        (d1, d2) in (0.01f64..0.6, 0.01f64..0.3),
        freeze_us in prop_oneof![Just(0u64), 100u64..5000],
        (target, over) in (1u32..6, 0u32..5),
        (rehash_ms, part) in (1u64..200, 0u64..=10),
        (rate, burst) in (0.0f64..1000.0, 1.0f64..5.0),
        ecn in any::<bool>(),
    ) {
        let (rehash, warmup) =
            (Span::from_millis(rehash_ms), Span::from_micros(rehash_ms * 100 * part));
        let given = json!({ "kind": "sfb", "levels": levels, "bins": bins, "d1": d1, "d2": d2,
            "freeze": format!("{freeze_us} us"), "target": target, "max": target + over,
            "rehash": format!("{rehash_ms} ms"), "warmup": format!("{} us", rehash_ms * 100 * part),
            "penalty_rate": rate, "penalty_burst": burst, "ecn": ecn });
        let freeze = Span::from_micros(freeze_us);
        let rule = Rule { levels: levels as usize, width: bins, d1, d2, freeze, target, any: false };
        let mut reference = Counted {
            limit, rule, ecn, rehash, warmup,
            max: (target + over) as usize,
            penalty_rate: rate,
            penalty_burst: burst,
            line: Line::default(),
            draws: draws(),
            now: None,
            next: None,
            until: Time::ZERO,
            tokens: burst,
            filled: Time::ZERO,
            p_min: 0.0,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
