//! RED from the papers that its file names: the average step by step, one packet of zero length after the
//! other over idle time, at the rate that the link had.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::{BitRate, Span, Time};

const MEAN: u64 = 1000;

struct Red {
    limit: Limit,
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    gentle: bool,
    wait: bool,
    bytes: bool,
    ecn: bool,
    mark_p: f64,
    adaptive: bool,
    line: Line,
    draws: Stream,
    avg: f64,
    p: f64,
    /// Since when the link has been idle, in parts of constant rate: start, rate \[bit/s\].
    idle: Vec<(Time, u64)>,
    is_idle: bool,
    rate: u64,
    /// Arrivals, and their sizes, since the last drop or since the average rose to `min_th`; none below.
    since_drop: Option<Vec<u16>>,
    adapted: Time,
}

impl Red {
    fn update_average(&mut self, now: Time, q: f64) {
        if self.is_idle {
            let mut idle_intervals = self.idle.clone();
            idle_intervals.push((now, 0));
            let packets: f64 = idle_intervals
                .windows(2)
                .map(|w| w[1].0.since(w[0].0).seconds() * w[0].1 as f64 / (8 * MEAN) as f64)
                .sum();
            for _ in 0..packets.floor() as u64 {
                self.avg *= 1.0 - self.w_q;
            }
            self.is_idle = false;
        }
        self.avg = (1.0 - self.w_q) * self.avg + self.w_q * q;
    }

    fn adapt(&mut self, now: Time) {
        if !self.adaptive || now.since(self.adapted) <= Span::from_millis(50) {
            return;
        }
        let band = 0.4 * (self.max_th - self.min_th);
        if self.avg > self.max_th - band && self.max_p < 0.5 && self.avg >= self.min_th + band {
            self.max_p += (self.max_p / 4.0).min(0.01);
            self.adapted = now;
        } else if self.avg < self.min_th + band && self.max_p > 0.01 {
            self.max_p *= 0.9;
            self.adapted = now;
        }
    }

    fn p_b(&self) -> f64 {
        if self.avg < self.max_th {
            self.max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.gentle {
            let over = (self.avg - self.max_th) / self.max_th;
            (self.max_p + (1.0 - self.max_p) * over).min(1.0)
        } else {
            1.0
        }
    }

    /// Whether the arrival is hit, and if so whether it may be marked.
    fn test(&mut self, size: u16) -> Option<bool> {
        let sure = if self.gentle { 2.0 * self.max_th } else { self.max_th };
        if self.mark_p >= 1.0 && self.avg >= sure {
            self.p = 1.0;
            self.since_drop.get_or_insert_default().clear();
            return Some(false);
        }
        let p_b = self.p_b();
        self.p = p_b;
        let sizes = self.since_drop.as_ref().map_or(&[][..], |sizes| sizes);
        let count = if self.bytes {
            (sizes.iter().map(|&s| u64::from(s)).sum::<u64>() / MEAN) as f64
        } else {
            sizes.len() as f64
        };
        let mut p_a = if self.wait {
            if count * p_b < 1.0 {
                0.0
            } else if count * p_b < 2.0 {
                p_b / (2.0 - count * p_b)
            } else {
                1.0
            }
        } else if count * p_b < 1.0 {
            p_b / (1.0 - count * p_b)
        } else {
            1.0
        };
        if self.bytes && p_a < 1.0 {
            p_a = (p_a * f64::from(size) / MEAN as f64).min(1.0);
        }
        if self.draws.uniform() >= p_a {
            return None;
        }
        self.since_drop.get_or_insert_default().clear();
        Some(self.ecn && p_b <= self.mark_p)
    }
}

impl Reference for Red {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        let q = if self.bytes { self.line.bytes() as f64 } else { self.line.0.len() as f64 };
        self.update_average(packet.at, q);
        self.adapt(packet.at);
        let mut hit = None;
        if self.avg >= self.min_th {
            // The arrival at which the average rises to min_th is not counted yet.
            match &mut self.since_drop {
                None => self.since_drop = Some(Vec::new()),
                Some(sizes) => sizes.push(packet.size),
            }
            hit = self.test(packet.size);
        } else {
            self.p = 0.0;
            self.since_drop = None;
        }
        if !self.line.admits(self.limit, packet.size) {
            if let Some(sizes) = &mut self.since_drop {
                sizes.clear();
            }
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        match hit {
            Some(true) if packet.ect => packet.ce = true,
            Some(_) => return fates.push(Fate::Dropped { seq: packet.seq }),
            None => {}
        }
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let Some(packet) = self.line.0.pop_front() else {
            self.is_idle = true;
            self.idle = vec![(now, self.rate)];
            return;
        };
        fates.push(Fate::Sent { seq: packet.seq, ce: packet.ce });
    }

    fn rate(&mut self, now: Time, rate: BitRate) {
        self.rate = rate.0;
        if self.is_idle {
            self.idle.push((now, rate.0));
        }
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("avg", self.avg), ("p", self.p), ("max_p", self.max_p)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn red_drops_and_marks_as_the_papers_say(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        (min_th, span) in (1u32..6, 1u32..10),
        (max_p, w_q) in (0.02f64..1.0, prop::sample::select(vec![1.0, 0.5, 0.1, 0.002])),
        (gentle, wait, bytes, ecn, adaptive) in any::<(bool, bool, bool, bool, bool)>(),
        mark_p in prop::sample::select(vec![1.0, 0.3]),
    ) {
        let max_th = min_th + span;
        let given = json!({ "kind": "red", "min_th": min_th, "max_th": max_th, "max_p": max_p, "w_q": w_q,
            "gentle": gentle, "wait": wait, "bytes": bytes, "ecn": ecn, "mark_p": mark_p,
            "adaptive": adaptive, "interval": "50 ms", "bottom": 0.01, "top": 0.5 });
        let unit = if bytes { MEAN as f64 } else { 1.0 };
        let mut reference = Red {
            limit,
            min_th: f64::from(min_th) * unit,
            max_th: f64::from(max_th) * unit,
            max_p, w_q, gentle, wait, bytes, ecn, mark_p, adaptive,
            line: Line::default(),
            draws: draws(),
            avg: 0.0,
            p: 0.0,
            idle: vec![(Time::ZERO, 10_000_000)],
            is_idle: true,
            rate: 10_000_000,
            since_drop: None,
            adapted: Time::ZERO,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
