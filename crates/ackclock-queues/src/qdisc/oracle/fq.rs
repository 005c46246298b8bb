//! Weighted fair queueing from Parekh & Gallager, section III, and Golestani 1994: tags by their recursion,
//! virtual time by walking from one departure of fluid sharing to the next.

use proptest::prelude::*;
use serde_json::json;

use super::drr::Queues;
use super::{Fate, Reference, Waiting, agree, bounded, busy, events, limits, spec};
use crate::qdisc::Limit;
use crate::units::{BitRate, Time};

const CLASSES: usize = 5;

struct Fq {
    limit: Limit,
    weights: [f64; CLASSES],
    self_clocked: bool,
    head: bool,
    by_packets: bool,
    queues: Queues,
    /// V at the arrival of each packet, by its number.
    arrived: Vec<f64>,
    /// Finish tag of the packet of each class that left last.
    finish: [f64; CLASSES],
    /// Virtual time at which fluid sharing has sent all that each class was accepted.
    last: [f64; CLASSES],
    /// Whom fluid sharing serves: since an arrival, until V reaches `last`.
    served: [bool; CLASSES],
    v: f64,
    at: Time,
    /// B/s.
    rate: f64,
}

impl Fq {
    fn advance(&mut self, now: Time) {
        let mut left = now.since(self.at).seconds() * self.rate;
        self.at = now;
        if self.self_clocked {
            return;
        }
        loop {
            for class in 0..CLASSES {
                self.served[class] &= self.last[class] > self.v;
            }
            let served: Vec<usize> = (0..CLASSES).filter(|&c| self.served[c]).collect();
            let weight: f64 = served.iter().map(|&c| self.weights[c]).sum();
            let next = served.iter().map(|&c| self.last[c]).fold(f64::INFINITY, f64::min);
            // Bytes until the first of them is done; none is where nobody is served.
            if served.is_empty() {
                return;
            }
            let needed = (next - self.v) * weight;
            if needed > left {
                self.v += left / weight;
                return;
            }
            left -= needed;
            self.v = next;
        }
    }

    /// Finish tag of a class's first packet.
    fn tag(&self, class: u32) -> Option<f64> {
        let first = self.queues.0.get(&class)?.0.front()?;
        let class = class as usize;
        let start = self.arrived[first.seq as usize].max(self.finish[class]);
        Some(start + f64::from(first.size) / self.weights[class])
    }
}

impl Reference for Fq {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        self.advance(packet.at);
        let class = packet.key as usize;
        self.arrived.push(self.v);
        self.queues.0.entry(packet.key).or_default().0.push_back(packet);
        self.last[class] =
            self.last[class].max(self.v) + f64::from(packet.size) / self.weights[class];
        self.served[class] = true;
        while self.queues.is_over(self.limit) {
            let longest = self.queues.longest(self.by_packets);
            let lost = self.queues.push_out(longest, self.head);
            fates.push(Fate::Dropped { seq: lost.seq });
            // Its service is given back.
            let class = longest as usize;
            self.last[class] -= f64::from(lost.size) / self.weights[class];
            if self.queues.0[&longest].0.is_empty() {
                self.last[class] = self.finish[class];
            }
            self.served[class] &= self.last[class] > self.v;
        }
    }

    fn depart(&mut self, _now: Time, sent: Option<u32>, fates: &mut Vec<Fate>) {
        let heads: Vec<(f64, u32)> =
            (0..CLASSES as u32).filter_map(|class| Some((self.tag(class)?, class))).collect();
        let Some(&least) = heads.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        // Of tags that are equal but for rounding, the one that was sent.
        let near = |tag: f64| tag <= least.0 + 1e-6 * (1.0 + least.0.abs());
        let first = |class: u32| self.queues.0[&class].0[0].seq;
        let head = heads.iter().find(|&&(tag, class)| near(tag) && sent == Some(first(class)));
        let &(tag, class) = head.unwrap_or(&least);
        self.finish[class as usize] = tag;
        if self.self_clocked {
            // A tag that a drop has lowered turns no time back.
            self.v = self.v.max(tag);
        }
        let sent = self.queues.push_out(class, true);
        if self.queues.0[&class].0.is_empty() {
            self.last[class as usize] = tag;
        }
        fates.push(Fate::Sent { seq: sent.seq, ce: false });
    }

    fn rate(&mut self, now: Time, rate: BitRate) {
        self.advance(now);
        self.rate = rate.0 as f64 / 8.0;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn fq_serves_by_tags_and_pushes_out_as_the_papers_say(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        weights in prop::array::uniform5(prop::sample::select(vec![1.0, 2.0, 0.5, 3.7])),
        (self_clocked, head, by_packets) in any::<(bool, bool, bool)>(),
    ) {
        let given = json!({ "kind": "fq", "weights": weights,
            "virtual_time": if self_clocked { "scfq" } else { "gps" },
            "victim": if head { "head" } else { "tail" },
            "longest": if by_packets { "packets" } else { "bytes" } });
        let mut reference = Fq {
            limit, weights, self_clocked, head, by_packets,
            queues: Queues::default(),
            arrived: Vec::new(),
            finish: [0.0; CLASSES],
            last: [0.0; CLASSES],
            served: [false; CLASSES],
            v: 0.0,
            at: Time::ZERO,
            rate: 1_250_000.0,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
