//! PIE from the text of RFC 8033, sections 4 and 5, with the deviations that its file states.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::{Span, Time};

const TARGET_S: f64 = 0.015;

pub(super) struct Pie {
    pub(super) limit: Limit,
    pub(super) ecn: bool,
    pub(super) derandomise: bool,
    pub(super) cap: bool,
    /// Delays are sojourn times of departures; else backlog over the departure rate.
    pub(super) by_timestamp: bool,
    pub(super) threshold: u64,
    pub(super) line: Line,
    pub(super) draws: Stream,
    pub(super) drop_prob: f64,
    pub(super) accu_prob: f64,
    pub(super) burst_allowance_us: i64,
    pub(super) qdelay_old: f64,
    pub(super) sojourn: f64,
    /// Departures of the measurement under way: times and bytes; the first starts it.
    pub(super) cycle: Vec<(Time, u64)>,
    pub(super) avg_dq_time: Option<f64>,
}

impl Pie {
    /// In its first state, with the defaults of the RFC and delays by timestamps.
    pub(super) fn new(ecn: bool) -> Self {
        Self {
            limit: Limit::NONE,
            ecn,
            derandomise: true,
            cap: true,
            by_timestamp: true,
            threshold: 16_384,
            line: Line::default(),
            draws: draws(),
            drop_prob: 0.0,
            accu_prob: 0.0,
            burst_allowance_us: 150_000,
            qdelay_old: 0.0,
            sojourn: 0.0,
            cycle: Vec::new(),
            avg_dq_time: None,
        }
    }

    pub(super) fn drop_early(&mut self) -> bool {
        if self.burst_allowance_us > 0
            || (self.qdelay_old < TARGET_S / 2.0 && self.drop_prob < 0.2)
            || self.line.bytes() <= 2000
        {
            return false;
        }
        if !self.derandomise {
            return self.draws.uniform() < self.drop_prob;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.accu_prob < 0.85 {
            return false;
        }
        let drops = self.accu_prob >= 8.5 || self.draws.uniform() < self.drop_prob;
        if drops {
            self.accu_prob = 0.0;
        }
        drops
    }

    /// Section 5.2: the time in which `threshold` bytes left, averaged.
    fn measure(&mut self, now: Time, size: u64) {
        let left = self.line.bytes();
        if self.cycle.is_empty() {
            if left + size >= self.threshold {
                self.cycle.push((now, 0));
            }
            return;
        }
        self.cycle.push((now, size));
        let sent: u64 = self.cycle.iter().map(|c| c.1).sum();
        if sent >= self.threshold {
            let time = now.since(self.cycle[0].0).seconds() / sent as f64 * self.threshold as f64;
            let weight = self.threshold as f64 / 65_536.0;
            let mean = self.avg_dq_time.map_or(time, |old| weight * time + (1.0 - weight) * old);
            self.avg_dq_time = Some(mean);
            self.cycle.clear();
            if left >= self.threshold {
                self.cycle.push((now, 0));
            }
        }
    }
}

impl Reference for Pie {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        if !self.line.admits(self.limit, packet.size) {
            self.accu_prob = 0.0;
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        if self.drop_early() {
            if !(self.ecn && packet.ect && self.drop_prob < 0.1) {
                return fates.push(Fate::Dropped { seq: packet.seq });
            }
            packet.ce = true;
        }
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let Some(packet) = self.line.0.pop_front() else {
            self.sojourn = 0.0;
            return;
        };
        self.sojourn = now.since(packet.at).seconds();
        self.measure(now, u64::from(packet.size));
        fates.push(Fate::Sent { seq: packet.seq, ce: packet.ce });
    }

    /// Section 4.2, with the scaling of the auto-tuning table.
    fn tick(&mut self, _now: Time) {
        let by_rate = self
            .avg_dq_time
            .map_or(0.0, |time| time * self.line.bytes() as f64 / self.threshold as f64);
        let qdelay = if self.by_timestamp { self.sojourn } else { by_rate };
        let mut p = 0.125 * (qdelay - TARGET_S) + 1.25 * (qdelay - self.qdelay_old);
        p *= match self.drop_prob {
            x if x < 0.000_001 => 1.0 / 2048.0,
            x if x < 0.000_01 => 1.0 / 512.0,
            x if x < 0.000_1 => 1.0 / 128.0,
            x if x < 0.001 => 1.0 / 32.0,
            x if x < 0.01 => 1.0 / 8.0,
            x if x < 0.1 => 1.0 / 2.0,
            _ => 1.0,
        };
        if self.cap && self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance_us = (self.burst_allowance_us - 15_000).max(0);
        if self.drop_prob == 0.0 && qdelay < TARGET_S / 2.0 && self.qdelay_old < TARGET_S / 2.0 {
            self.burst_allowance_us = 150_000;
        }
        self.qdelay_old = qdelay;
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        let burst = Span::from_micros(self.burst_allowance_us as u64).seconds();
        vec![("p", self.drop_prob), ("delay_s", self.qdelay_old), ("burst_s", burst)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn pie_drops_and_marks_as_the_rfc_says(
        // Long waits with packets queued make delays and probabilities rise.
        events in prop_oneof![events(), busy()],
        more in events(),
        limit in limits(),
        (ecn, derandomise, cap, by_timestamp) in any::<(bool, bool, bool, bool)>(),
        threshold in prop_oneof![Just(16_384u64), 1000u64..8000],
    ) {
        let delay = if by_timestamp { "timestamp" } else { "departure-rate" };
        let given = json!({ "kind": "pie", "ecn": ecn, "derandomise": derandomise, "cap": cap,
            "delay": delay, "dq_threshold": threshold });
        let mut reference =
            Pie { limit, derandomise, cap, by_timestamp, threshold, ..Pie::new(ecn) };
        let events: Vec<_> = events.into_iter().chain(more).collect();
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
