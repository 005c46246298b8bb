//! CoDel as the pseudocode of RFC 8289 section 5 describes it: a dequeue routine with a loop.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, is_ect_1, limits, spec};
use crate::qdisc::Limit;
use crate::units::{Span, Time};

/// The variables of section 5.3; times of 0 mean "not set", as there.
pub(super) struct Controller {
    pub(super) target: Span,
    pub(super) interval: Span,
    pub(super) ecn: bool,
    /// Waiting time above which ECT(1), or any capable packet, is marked.
    pub(super) ce_threshold: Option<(Span, bool)>,
    /// The largest packet.
    pub(super) mtu: u64,
    first_above_time: Time,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

impl Controller {
    pub(super) fn new(target: Span, interval: Span, ecn: bool) -> Self {
        let (first_above_time, drop_next) = (Time::ZERO, Time::ZERO);
        let (count, lastcount, dropping) = (0, 0, false);
        Self {
            target,
            interval,
            ecn,
            ce_threshold: None,
            mtu: 1000,
            first_above_time,
            drop_next,
            count,
            lastcount,
            dropping,
        }
    }

    /// Section 5.6: the next packet, and whether it may be dropped.
    fn do_dequeue(&mut self, now: Time, line: &mut Line) -> (Option<Waiting>, bool) {
        let Some(packet) = line.0.pop_front() else {
            self.first_above_time = Time::ZERO;
            return (None, false);
        };
        let sojourn = now.since(packet.at);
        if sojourn < self.target || line.bytes() <= self.mtu {
            self.first_above_time = Time::ZERO;
            return (Some(packet), false);
        }
        if self.first_above_time == Time::ZERO {
            self.first_above_time = now + self.interval;
            return (Some(packet), false);
        }
        (Some(packet), now >= self.first_above_time)
    }

    fn control_law(&self, t: Time) -> Time {
        t + Span((self.interval.0 as f64 / f64::from(self.count).sqrt()).round() as u64)
    }

    /// What [`Self::control`] sends, marked if it has waited too long.
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        line: &mut Line,
        fates: &mut Vec<Fate>,
    ) -> Option<Waiting> {
        let mut sent = self.control(now, line, fates)?;
        if let Some((threshold, only_ect_1)) = self.ce_threshold {
            let is_selected = if only_ect_1 { is_ect_1(sent.ect, sent.key) } else { sent.ect };
            sent.ce |= is_selected && now.since(sent.at) > threshold;
        }
        Some(sent)
    }

    /// Section 5.5; with ECN a packet is marked and sent in place of a drop.
    fn control(&mut self, now: Time, line: &mut Line, fates: &mut Vec<Fate>) -> Option<Waiting> {
        let (mut r, mut ok_to_drop) = self.do_dequeue(now, line);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                let packet = r.as_mut()?;
                self.count += 1;
                if self.ecn && packet.ect {
                    packet.ce = true;
                    self.drop_next = self.control_law(self.drop_next);
                    return r;
                }
                fates.push(Fate::Dropped { seq: packet.seq });
                (r, ok_to_drop) = self.do_dequeue(now, line);
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            let packet = r.as_mut()?;
            let delta = self.count - self.lastcount;
            let recent = now.since(self.drop_next) < self.interval * 16;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.lastcount = self.count;
            self.drop_next = self.control_law(now);
            self.dropping = true;
            if self.ecn && packet.ect {
                packet.ce = true;
                return r;
            }
            fates.push(Fate::Dropped { seq: packet.seq });
            (r, _) = self.do_dequeue(now, line);
        }
        r
    }
}

struct Codel {
    controller: Controller,
    line: Line,
    limit: Limit,
}

impl Reference for Codel {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        if self.line.admits(self.limit, packet.size) {
            self.line.0.push_back(packet);
        } else {
            fates.push(Fate::Dropped { seq: packet.seq });
        }
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let sent = self.controller.dequeue(now, &mut self.line, fates);
        fates.extend(sent.map(|packet| Fate::Sent { seq: packet.seq, ce: packet.ce }));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn codel_drops_and_marks_as_the_pseudocode_does(
        events in busy(),
        limit in limits(),
        ecn in any::<bool>(),
        (target_us, interval_us) in prop_oneof![Just((5000u64, 100_000u64)), (100u64..2000, 500u64..5000)],
        threshold in prop::option::of((100u64..5000, any::<bool>())),
    ) {
        let mut given = json!({ "kind": "codel", "ecn": ecn, "target": format!("{target_us} us"),
            "interval": format!("{interval_us} us") });
        let (target, interval) = (Span::from_micros(target_us), Span::from_micros(interval_us));
        let mut controller = Controller::new(target, interval, ecn);
        if let Some((us, only_ect_1)) = threshold {
            given["ce_threshold"] = json!(format!("{us} us"));
            given["ce_selector"] = json!(if only_ect_1 { "ect1" } else { "all" });
            controller.ce_threshold = Some((Span::from_micros(us), only_ect_1));
        }
        let mut reference = Codel { controller, line: Line::default(), limit };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
