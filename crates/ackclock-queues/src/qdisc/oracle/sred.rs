//! SRED from the rule in its file, and its zombie list.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::Time;

/// Flows of earlier arrivals, and how often an arrival is of the flow of one drawn from them.
pub(super) struct Zombies {
    pub(super) list: Vec<u32>,
    pub(super) size: usize,
    pub(super) overwrite: f64,
    /// P of the source; 0 until the list is full.
    pub(super) frequency: f64,
}

impl Zombies {
    pub(super) fn new(size: usize, overwrite: f64) -> Self {
        Self { list: Vec::new(), size, overwrite, frequency: 0.0 }
    }

    pub(super) fn arrive(&mut self, key: u32, draws: &mut Stream) -> bool {
        if self.list.len() < self.size {
            self.list.push(key);
            return false;
        }
        let zombie = &mut self.list[draws.below(self.size as u64) as usize];
        let is_hit = *zombie == key;
        if !is_hit && draws.uniform() < self.overwrite {
            *zombie = key;
        }
        let a = self.overwrite / self.size as f64;
        self.frequency = (1.0 - a) * self.frequency + if is_hit { a } else { 0.0 };
        is_hit
    }
}

struct Sred {
    limit: Limit,
    max_p: f64,
    full: bool,
    ecn: bool,
    line: Line,
    draws: Stream,
    zombies: Zombies,
    p: f64,
}

impl Sred {
    /// Whether the part of the buffer that is taken is at least 1 / `n`.
    fn has_taken(&self, n: u64) -> bool {
        let Limit { packets, bytes } = self.limit;
        packets != u32::MAX && self.line.0.len() as u64 * n >= u64::from(packets)
            || bytes != u64::MAX && self.line.bytes() * n >= bytes
    }

    fn p_zap(&self, is_hit: bool) -> f64 {
        let p_sred = match (self.has_taken(3), self.has_taken(6)) {
            (true, _) => self.max_p,
            (false, true) => self.max_p / 4.0,
            (false, false) => 0.0,
        };
        let p = self.zombies.frequency;
        if p == 0.0 {
            return p_sred;
        }
        let simple = p_sred * (1.0 / (256.0 * p).powi(2)).min(1.0);
        let factor = if self.full && is_hit { 1.0 + 1.0 / p } else { 1.0 };
        (simple * factor).min(1.0)
    }
}

impl Reference for Sred {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        let is_hit = self.zombies.arrive(packet.key, &mut self.draws);
        if !self.line.admits(self.limit, packet.size) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.p = self.p_zap(is_hit);
        if self.draws.uniform() < self.p && !packet.mark(self.ecn) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, _now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        self.line.send(fates);
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("p", self.p), ("hit_frequency", self.zombies.frequency)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sred_drops_and_marks_as_its_rule_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        size in 1usize..40,
        (overwrite, max_p) in (0.05f64..1.0, 0.05f64..1.0),
        (full, ecn) in any::<(bool, bool)>(),
    ) {
        let given = json!({ "kind": "sred", "zombies": size, "overwrite": overwrite, "max_p": max_p,
            "full": full, "ecn": ecn });
        let mut reference = Sred {
            limit, max_p, full, ecn,
            line: Line::default(),
            draws: draws(),
            zombies: Zombies::new(size, overwrite),
            p: 0.0,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
