//! RIO from its source and RED's, for In and Out packets each; in the ns-2 eras with the habits that its file
//! names. Packets of odd keys are Out.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::era::Era;
use crate::qdisc::{Limit, QdiscEnv};
use crate::rng::Stream;
use crate::units::{BitRate, Time};

/// RED for one kind of packet.
struct Kind {
    min_th: f64,
    max_th: f64,
    max_p: f64,
    avg: f64,
    p: f64,
    /// Arrivals since the last drop, or since the average came above `min_th`; none below.
    count: Option<u64>,
    /// Start and rate \[bit/s\] of each part of an idle time, which lasts until a packet that counts here.
    idle: Option<Vec<(Time, f64)>>,
}

enum Test {
    Accept,
    /// Certain, at the ceiling.
    Force,
    Hit {
        may_mark: bool,
    },
}

struct Rio {
    limit: Limit,
    w_q: f64,
    gentle: bool,
    wait: bool,
    ecn: bool,
    ns2: bool,
    line: Line,
    draws: Stream,
    rate: f64,
    inside: Kind,
    outside: Kind,
}

fn is_out(packet: &Waiting) -> bool {
    packet.key % 2 == 1
}

impl Kind {
    fn step(&mut self, now: Time, w_q: f64, mean: f64, q: f64) {
        if let Some(mut idle_intervals) = self.idle.take() {
            idle_intervals.push((now, 0.0));
            let packets: f64 = idle_intervals
                .windows(2)
                .map(|w| w[1].0.since(w[0].0).seconds() * w[0].1 / (8.0 * mean))
                .sum();
            for _ in 0..packets.floor() as u64 {
                self.avg *= 1.0 - w_q;
            }
        }
        self.avg = (1.0 - w_q) * self.avg + w_q * q;
    }
}

impl Rio {
    fn waiting(&self, out: bool) -> usize {
        // All packets are before Out ones.
        self.line.0.iter().filter(|packet| out || !is_out(packet)).count()
    }

    fn test(&mut self, out: bool) -> Test {
        let waiting = self.waiting(out);
        let kind = if out { &mut self.outside } else { &mut self.inside };
        if kind.avg < kind.min_th || self.ns2 && waiting <= 1 {
            kind.count = None;
            kind.p = 0.0;
            return Test::Accept;
        }
        let over = (kind.avg - kind.max_th) / kind.max_th;
        kind.p = if kind.avg < kind.max_th {
            kind.max_p * (kind.avg - kind.min_th) / (kind.max_th - kind.min_th)
        } else if self.gentle {
            (kind.max_p + (1.0 - kind.max_p) * over).min(1.0)
        } else {
            1.0
        };
        let ceiling = if self.gentle { 2.0 } else { 1.0 } * kind.max_th;
        if self.ns2 {
            // ns-2 looks at the count only below the ceiling, and begins it with 1.
            if kind.avg >= ceiling {
                kind.count = kind.count.map(|count| count + 1);
                return Test::Force;
            }
            let Some(count) = &mut kind.count else {
                kind.count = Some(1);
                return Test::Accept;
            };
            *count += 1;
        } else {
            kind.count = Some(kind.count.map_or(0, |count| count + 1));
            if kind.avg >= ceiling {
                return Test::Force;
            }
        }
        let (p_b, spent) = (kind.p, kind.count.unwrap() as f64 * kind.p);
        let p_a = match (self.wait, spent) {
            (true, spent) if spent < 1.0 => 0.0,
            (true, spent) if spent < 2.0 => p_b / (2.0 - spent),
            (false, spent) if spent < 1.0 => p_b / (1.0 - spent),
            _ => 1.0,
        };
        if self.draws.uniform() >= p_a.min(1.0) {
            return Test::Accept;
        }
        kind.count = Some(0);
        Test::Hit { may_mark: kind.avg < kind.max_th }
    }
}

impl Reference for Rio {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        let (out, now) = (is_out(&packet), packet.at);
        let mean = if self.ns2 { 500.0 } else { 1000.0 };
        let [all, inside] = [self.waiting(true) as f64, self.waiting(false) as f64];
        if !(out && self.ns2) {
            self.outside.step(now, self.w_q, mean, all);
        }
        if !out {
            self.inside.step(now, self.w_q, mean, inside);
        }
        let test = self.test(out);
        let fits = self.line.admits(self.limit, packet.size);
        if (!fits || matches!(test, Test::Force)) && !(out && self.ns2) {
            let kind = if out { &mut self.outside } else { &mut self.inside };
            kind.count = kind.count.map(|_| 0);
        }
        let is_accepted = fits
            && match test {
                Test::Accept => true,
                Test::Force => false,
                Test::Hit { may_mark } => {
                    packet.ce = may_mark && self.ecn && packet.ect;
                    packet.ce
                }
            };
        if is_accepted {
            self.line.0.push_back(packet);
        } else {
            fates.push(Fate::Dropped { seq: packet.seq });
        }
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let Some(packet) = self.line.0.pop_front() else {
            self.inside.idle = Some(vec![(now, self.rate)]);
            self.outside.idle = Some(vec![(now, self.rate)]);
            return;
        };
        self.outside.idle = None;
        if !is_out(&packet) {
            self.inside.idle = None;
        }
        fates.push(Fate::Sent { seq: packet.seq, ce: packet.ce });
    }

    fn rate(&mut self, now: Time, rate: BitRate) {
        if self.ns2 {
            return;
        }
        self.rate = rate.0 as f64;
        for kind in [&mut self.inside, &mut self.outside] {
            if let Some(idle_intervals) = &mut kind.idle {
                idle_intervals.push((now, self.rate));
            }
        }
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("in_avg", self.inside.avg),
            ("avg", self.outside.avg),
            ("in_p", self.inside.p),
            ("out_p", self.outside.p),
            ("in_packets", self.waiting(false) as f64),
        ]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rio_drops_and_marks_as_two_reds(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        (in_min, in_span, out_min, out_span) in (1u32..6, 1u32..8, 1u32..5, 1u32..8),
        (in_max_p, out_max_p) in (0.02f64..1.0, 0.02f64..1.0),
        w_q in prop::sample::select(vec![1.0, 0.5, 0.1, 0.02]),
        (gentle, wait, ecn, ns2) in any::<(bool, bool, bool, bool)>(),
    ) {
        let given = json!({ "kind": "rio", "in_min_th": in_min, "in_max_th": in_min + in_span,
            "in_max_p": in_max_p, "out_min_th": out_min, "out_max_th": out_min + out_span,
            "out_max_p": out_max_p, "w_q": w_q, "gentle": gentle, "wait": wait, "ecn": ecn });
        let kind = |min_th: u32, span: u32, max_p: f64| Kind {
            min_th: f64::from(min_th),
            max_th: f64::from(min_th + span),
            max_p,
            avg: 0.0,
            p: 0.0,
            count: None,
            idle: Some(vec![(Time::ZERO, 10e6)]),
        };
        let mut reference = Rio {
            limit, w_q, gentle, wait, ecn, ns2,
            line: Line::default(),
            draws: draws(),
            rate: 10e6,
            inside: kind(in_min, in_span, in_max_p),
            outside: kind(out_min, out_span, out_max_p),
        };
        let era = if ns2 { Era::Ns2 } else { Era::Rfc };
        let env = QdiscEnv { era, ..bounded(limit) };
        agree(&spec(given), &env, &mut reference, &events)?;
    }
}
