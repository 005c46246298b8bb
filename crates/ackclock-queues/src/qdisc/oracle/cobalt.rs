//! COBALT as section III of the paper on CAKE describes it: one list, CoDel's signals that also count back, and BLUE.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::{Span, Time};

pub(super) struct Cobalt {
    target: Span,
    interval: Span,
    /// Four packets of 1000 B at 10 Mbit/s.
    four_packets: Span,
    ecn: bool,
    increase: f64,
    decrease: f64,
    limit: Limit,
    pub(super) line: Line,
    /// Signals of the present episode, less those counted back.
    signals: u32,
    is_signalling: bool,
    due: Time,
    p: f64,
    p_changed: Option<Time>,
    pub(super) draws: Stream,
}

impl Cobalt {
    /// With the defaults of the paper, over a link on which four packets take so long.
    pub(super) fn new(target: Span, interval: Span, four_packets: Span) -> Self {
        Self {
            target,
            interval,
            four_packets,
            ecn: true,
            increase: 1.0 / 256.0,
            decrease: 1.0 / 4096.0,
            limit: Limit::NONE,
            line: Line::default(),
            signals: 0,
            is_signalling: false,
            due: Time::ZERO,
            p: 0.0,
            p_changed: None,
            draws: draws(),
        }
    }

    /// The buffer overflowed, and a packet of this queue was lost.
    pub(super) fn on_overflow(&mut self, now: Time) {
        self.step_blue(now, self.increase);
        (self.is_signalling, self.due) = (true, now);
        if self.signals == 0 {
            self.signals = 1;
        }
    }

    /// Whether it remembers anything of its queue's past.
    pub(super) fn is_active(&self, now: Time) -> bool {
        self.p > 0.0 || self.signals > 0 || now < self.due
    }

    /// An interval over the square root of the signals.
    fn gap(&self) -> Span {
        let signals = if self.signals == 0 { 1 } else { self.signals };
        Span((self.interval.0 as f64 / f64::from(signals).sqrt()).round() as u64)
    }

    /// BLUE steps at most once per target.
    fn step_blue(&mut self, now: Time, by: f64) {
        let is_early =
            self.p_changed.is_some_and(|changed_at| now.since(changed_at) <= self.target);
        let p = (self.p + by).clamp(0.0, 1.0);
        let is_needless = by < 0.0 && self.p == 0.0;
        if !is_early && !is_needless {
            (self.p, self.p_changed) = (p, Some(now));
        }
    }

    pub(super) fn on_empty(&mut self, now: Time) {
        self.step_blue(now, -self.decrease);
        self.is_signalling = false;
        if self.signals > 0 && self.due <= now {
            self.signals -= 1;
            self.due += self.gap();
        }
    }

    /// Whether a signal falls on a packet that has waited.
    fn signal(&mut self, now: Time, waited: Span) -> bool {
        let is_due = self.signals > 0 && self.due <= now;
        let is_late = waited > self.target && waited > self.four_packets;
        if !is_late {
            self.is_signalling = false;
            while self.signals > 0 && self.due <= now {
                self.signals -= 1;
                self.due += self.gap();
            }
            return false;
        }
        if !self.is_signalling {
            self.is_signalling = true;
            self.due = now + self.gap();
        }
        if self.signals == 0 {
            self.signals = 1;
        }
        if is_due {
            self.signals += 1;
            self.due += self.gap();
        }
        is_due
    }
}

impl Reference for Cobalt {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        if self.line.admits(self.limit, packet.size) {
            return self.line.0.push_back(packet);
        }
        fates.push(Fate::Dropped { seq: packet.seq });
        self.on_overflow(packet.at);
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        while let Some(mut packet) = self.line.0.pop_front() {
            let is_last = self.line.0.is_empty();
            let is_hit = self.signal(now, now.since(packet.at));
            let is_unlucky = self.p > 0.0 && self.draws.uniform() < self.p;
            let is_marked = is_hit && packet.mark(self.ecn);
            let is_to_be_dropped = is_unlucky || (is_hit && !is_marked);
            // With none counted, it is the time at which the queue is at rest.
            if self.signals == 0 {
                self.due = now + self.interval;
            } else if self.due < now && !is_to_be_dropped {
                self.due = now;
            }
            if is_to_be_dropped && !is_last {
                fates.push(Fate::Dropped { seq: packet.seq });
                continue;
            }
            return fates.push(Fate::Sent { seq: packet.seq, ce: packet.ce });
        }
        self.on_empty(now);
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("p", self.p), ("count", f64::from(self.signals)), ("next_s", self.due.seconds())]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn cobalt_drops_and_marks_as_the_paper_says(
        events in prop_oneof![events(), busy()],
        more in events(),
        limit in limits(),
        ecn in any::<bool>(),
        (target_us, interval_us) in prop_oneof![Just((5000u64, 100_000u64)), (100u64..8000, 500u64..5000)],
        (increase, decrease) in prop_oneof![Just((1.0 / 256.0, 1.0 / 4096.0)), (0.0..0.5f64, 0.0..0.3f64)],
    ) {
        let given = json!({ "kind": "cobalt", "ecn": ecn, "target": format!("{target_us} us"),
            "interval": format!("{interval_us} us"), "p_increase": increase, "p_decrease": decrease });
        let times = (Span::from_micros(target_us), Span::from_micros(interval_us));
        let mut reference = Cobalt {
            ecn,
            increase,
            decrease,
            limit,
            ..Cobalt::new(times.0, times.1, Span::from_micros(3200))
        };
        let events: Vec<_> = events.into_iter().chain(more).collect();
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
