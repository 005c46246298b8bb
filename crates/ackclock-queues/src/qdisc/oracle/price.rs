//! BLUE and REM from the rules in their files: one probability for all arrivals.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::{Span, Time};

struct Blue {
    limit: Limit,
    d1: f64,
    d2: f64,
    freeze: Span,
    threshold: Option<usize>,
    ecn: bool,
    line: Line,
    draws: Stream,
    p: f64,
    last_update: Time,
    is_idle: bool,
}

impl Reference for Blue {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        let now = packet.at;
        if std::mem::take(&mut self.is_idle) {
            while self.last_update + self.freeze <= now {
                self.last_update += self.freeze;
                self.p = (self.p - self.d2).max(0.0);
            }
        }
        let has_room = self.line.admits(self.limit, packet.size);
        let is_long = self.threshold.is_some_and(|most| self.line.0.len() >= most);
        if (!has_room || is_long) && now.since(self.last_update) > self.freeze {
            self.p = (self.p + self.d1).min(1.0);
            self.last_update = now;
        }
        if !has_room {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        if self.draws.uniform() < self.p && !packet.mark(self.ecn) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        if self.line.send(fates) {
            return;
        }
        self.is_idle = true;
        if now.since(self.last_update) > self.freeze {
            self.p = (self.p - self.d2).max(0.0);
            self.last_update = now;
        }
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("p", self.p)]
    }
}

struct Rem {
    limit: Limit,
    gamma: f64,
    phi: f64,
    alpha: f64,
    target: f64,
    ecn: bool,
    line: Line,
    draws: Stream,
    arrived: f64,
    price: f64,
}

const UPDATE: Span = Span::from_millis(10);

impl Rem {
    fn p(&self) -> f64 {
        1.0 - (-self.price * self.phi.ln()).exp()
    }
}

impl Reference for Rem {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        if !self.line.admits(self.limit, packet.size) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.arrived += f64::from(packet.size) / 1000.0;
        if self.draws.uniform() < self.p() && !packet.mark(self.ecn) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, _now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        self.line.send(fates);
    }

    fn tick(&mut self, _now: Time) {
        // 10 Mbit/s send 12.5 packets of 1000 B in 10 ms.
        let backlog = self.line.bytes() as f64 / 1000.0;
        let unmatched = self.alpha * (backlog - self.target) + self.arrived - 12.5;
        self.price = (self.price + self.gamma * unmatched).max(0.0);
        self.arrived = 0.0;
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("price", self.price), ("p", self.p())]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn blue_drops_and_marks_as_its_rule_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        (d1, d2) in (0.01f64..0.5, 0.01f64..0.5),
        freeze_us in prop_oneof![Just(100_000u64), 100u64..5000],
        threshold in prop::option::of(1usize..20),
        ecn in any::<bool>(),
    ) {
        let given = json!({ "kind": "blue", "d1": d1, "d2": d2, "freeze": format!("{freeze_us} us"),
            "threshold": threshold, "ecn": ecn });
        let mut reference = Blue {
            limit, d1, d2, threshold, ecn,
            freeze: Span::from_micros(freeze_us),
            line: Line::default(),
            draws: draws(),
            p: 0.0,
            last_update: Time::ZERO,
            is_idle: false,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }

    #[test]
    fn rem_drops_and_marks_as_its_rule_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        (gamma, phi, alpha, target) in (0.001f64..0.1, 1.001f64..2.0, 0.01f64..1.0, 0.0f64..20.0),
        ecn in any::<bool>(),
    ) {
        let given = json!({ "kind": "rem", "gamma": gamma, "phi": phi, "alpha": alpha, "target": target,
            "update": format!("{} ms", UPDATE.seconds() * 1e3), "ecn": ecn });
        let mut reference = Rem {
            limit, gamma, phi, alpha, target, ecn,
            line: Line::default(),
            draws: draws(),
            arrived: 0.0,
            price: 0.0,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
