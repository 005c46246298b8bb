//! AFD from the rule in its file: all samples are kept, and those of a flow counted among the last.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::Time;

struct Afd {
    limit: Limit,
    shadow: usize,
    sample: f64,
    target: f64,
    alpha: f64,
    beta: f64,
    ecn: bool,
    line: Line,
    draws: Stream,
    samples: Vec<u32>,
    m_fair: f64,
    /// Packets that waited at the update before.
    before: f64,
}

impl Reference for Afd {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        if self.draws.uniform() < 1.0 / self.sample {
            self.samples.push(packet.key);
        }
        if !self.line.admits(self.limit, packet.size) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        let last = self.samples.iter().rev().take(self.shadow);
        let m = last.filter(|&&key| key == packet.key).count() as f64;
        // A probability of 0 needs no random number.
        let p = if m > self.m_fair { 1.0 - self.m_fair / m } else { 0.0 };
        if p > 0.0 && self.draws.uniform() < p && !packet.mark(self.ecn) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, _now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        self.line.send(fates);
    }

    fn tick(&mut self, _now: Time) {
        let q = self.line.0.len() as f64;
        self.m_fair += self.alpha * (self.before - self.target);
        self.m_fair -= self.beta * (q - self.target);
        self.m_fair = self.m_fair.max(0.0).min(self.shadow as f64);
        self.before = q;
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("m_fair", self.m_fair)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn afd_drops_and_marks_as_its_rule_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        (shadow, sample) in (1usize..60, 1.0f64..4.0),
        target in prop::option::of(0.0f64..12.0),
        (alpha, beta) in (0.0f64..3.0, 0.0f64..3.0),
        update_us in 300u64..20_000,
        ecn in any::<bool>(),
    ) {
        let given = json!({ "kind": "afd", "shadow": shadow, "sample": sample, "target": target,
            "alpha": alpha, "beta": beta, "update": format!("{update_us} us"), "ecn": ecn });
        // A quarter of the buffer in packets of the mean size.
        let quarter = match limit {
            Limit { packets: u32::MAX, bytes: u64::MAX } => 100.0,
            Limit { packets: u32::MAX, bytes } => bytes as f64 / 1000.0 / 4.0,
            Limit { packets, .. } => f64::from(packets) / 4.0,
        };
        let mut reference = Afd {
            limit, shadow, sample, alpha, beta, ecn,
            target: target.unwrap_or(quarter),
            line: Line::default(),
            draws: draws(),
            samples: Vec::new(),
            m_fair: shadow as f64,
            before: 0.0,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
