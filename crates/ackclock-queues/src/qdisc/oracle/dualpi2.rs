//! DualPI2 as appendix A of RFC 9332 describes it: two lists, and a loop that takes from one of them.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, events, is_ect_1, limits, spec};
use crate::qdisc::Limit;
use crate::units::{Span, Time};

struct DualPi2 {
    limit: Limit,
    ecn: bool,
    drop_on_overload: bool,
    is_shifted: bool,
    k: f64,
    /// The ramp, in seconds.
    min_th: f64,
    range: f64,
    lq: Line,
    cq: Line,
    base: f64,
    prevq: f64,
    lq_count: f64,
    lq_drops: f64,
    cq_count: f64,
    /// Bytes sent while both had packets, of either.
    shared: (i64, i64),
}

fn recur(count: &mut f64, likelihood: f64) -> bool {
    *count += if likelihood > 1.0 { 1.0 } else { likelihood };
    if *count > 1.0 {
        *count -= 1.0;
        return true;
    }
    false
}

fn time(line: &Line, now: Time) -> f64 {
    line.0.front().map_or(0.0, |packet| now.since(packet.at).seconds())
}

impl DualPi2 {
    fn is_lows_turn(&self) -> bool {
        match (self.lq.0.front(), self.cq.0.front()) {
            (Some(low), Some(classic)) if self.is_shifted => {
                low.at <= classic.at + Span::from_millis(30)
            }
            // A tenth of the link for C; L begins with 8000 bytes before C's first turn.
            (Some(_), Some(_)) => self.shared.0 - 9 * self.shared.1 <= 8000,
            (low, _) => low.is_some(),
        }
    }
}

impl Reference for DualPi2 {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        let (len, bytes) = (self.lq.0.len() + self.cq.0.len(), self.lq.bytes() + self.cq.bytes());
        let fits = (len as u64) < u64::from(self.limit.packets)
            && bytes + u64::from(packet.size) <= self.limit.bytes;
        if !fits {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        let line = if is_ect_1(packet.ect, packet.key) { &mut self.lq } else { &mut self.cq };
        line.0.push_back(packet);
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let p_c = self.base * self.base;
        let p_cl = self.k * self.base;
        let saturated = self.base >= 1.0 / self.k;
        while !self.lq.0.is_empty() || !self.cq.0.is_empty() {
            let both = !self.lq.0.is_empty() && !self.cq.0.is_empty();
            if self.is_lows_turn() {
                let mut packet = self.lq.0.pop_front().unwrap();
                if saturated {
                    if self.drop_on_overload && recur(&mut self.lq_drops, p_c) {
                        fates.push(Fate::Dropped { seq: packet.seq });
                        continue;
                    }
                    packet.ce = true;
                } else {
                    let late = now.since(packet.at).seconds() - self.min_th;
                    let native = match late {
                        _ if self.lq.0.len() <= 1 || late <= 0.0 => 0.0,
                        _ if late >= self.range => 1.0,
                        _ => late / self.range,
                    };
                    packet.ce =
                        recur(&mut self.lq_count, if native > p_cl { native } else { p_cl });
                }
                if both {
                    self.shared.0 += i64::from(packet.size);
                }
                return fates.push(Fate::Sent { seq: packet.seq, ce: packet.ce });
            }
            let mut packet = self.cq.0.pop_front().unwrap();
            if recur(&mut self.cq_count, p_c) {
                if saturated || !self.ecn || !packet.ect {
                    fates.push(Fate::Dropped { seq: packet.seq });
                    continue;
                }
                packet.ce = true;
            }
            if both {
                self.shared.1 += i64::from(packet.size);
            }
            return fates.push(Fate::Sent { seq: packet.seq, ce: packet.ce });
        }
        self.shared = (0, 0);
    }

    fn tick(&mut self, now: Time) {
        let curq = f64::max(time(&self.cq, now), time(&self.lq, now));
        self.base += 0.15 * (curq - 0.015) + 3.0 * (curq - self.prevq);
        self.base = self.base.max(0.0).min(if self.drop_on_overload { 1.0 } else { 1.0 / self.k });
        self.prevq = curq;
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("p", self.base), ("delay_s", self.prevq)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn dualpi2_serves_drops_and_marks_as_the_rfc_says(
        events in prop_oneof![events(), busy()],
        more in events(),
        limit in limits(),
        (ecn, drop_on_overload, is_shifted) in any::<(bool, bool, bool)>(),
        k in prop_oneof![Just(2.0), 1.0..4.0],
        threshold_us in prop_oneof![Just(1000u64), 100u64..5000],
        is_step in any::<bool>(),
    ) {
        let width_us = if is_step { 0 } else { threshold_us / 2 };
        let scheduler = if is_shifted { "time-shifted" } else { "wrr" };
        let given = json!({ "kind": "dualpi2", "ecn": ecn, "drop_on_overload": drop_on_overload,
            "scheduler": scheduler, "k": k, "threshold": format!("{threshold_us} us"),
            "ramp": format!("{width_us} us") });
        let range = width_us as f64 / 1e6;
        let mut reference = DualPi2 {
            limit, ecn, drop_on_overload, is_shifted, k, range,
            min_th: threshold_us as f64 / 1e6 - range / 2.0,
            lq: Line::default(),
            cq: Line::default(),
            base: 0.0,
            prevq: 0.0,
            lq_count: 0.0,
            lq_drops: 0.0,
            cq_count: 0.0,
            shared: (0, 0),
        };
        let events: Vec<_> = events.into_iter().chain(more).collect();
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
