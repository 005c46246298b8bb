//! FQ-PIE: the lists of RFC 8290, a PIE of RFC 8033 for each queue.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use serde_json::json;

use super::drr::Queues;
use super::pie::Pie;
use super::{Fate, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::qdisc::fair::classes::bucket;
use crate::rng::Stream;
use crate::units::Time;

struct FqPie {
    limit: Limit,
    hashed: u32,
    quantum: i64,
    ecn: bool,
    draws: Stream,
    queues: Queues,
    pies: BTreeMap<u32, Pie>,
    credits: BTreeMap<u32, i64>,
    new_queues: VecDeque<u32>,
    old_queues: VecDeque<u32>,
}

impl FqPie {
    /// Calls the PIE of a queue, which has the queue's packets and the draws of all meanwhile.
    fn with<R>(&mut self, queue: u32, call: impl FnOnce(&mut Pie) -> R) -> R {
        let pie = self.pies.entry(queue).or_insert_with(|| Pie::new(self.ecn));
        let line = self.queues.0.entry(queue).or_default();
        std::mem::swap(&mut pie.line, line);
        std::mem::swap(&mut pie.draws, &mut self.draws);
        let result = call(pie);
        std::mem::swap(&mut pie.line, line);
        std::mem::swap(&mut pie.draws, &mut self.draws);
        result
    }
}

impl Reference for FqPie {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        let queue = bucket(packet.key, 0, self.hashed);
        let mut dropped = Vec::new();
        self.with(queue, |pie| pie.arrive(packet, &mut dropped));
        if !dropped.is_empty() {
            return fates.extend(dropped);
        }
        if !self.new_queues.contains(&queue) && !self.old_queues.contains(&queue) {
            self.new_queues.push_back(queue);
            self.credits.insert(queue, self.quantum);
        }
        while self.queues.is_over(self.limit) {
            let fattest = self.queues.longest(false);
            let lost = self.queues.push_out(fattest, true);
            fates.push(Fate::Dropped { seq: lost.seq });
        }
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        loop {
            let is_new = !self.new_queues.is_empty();
            let list = if is_new { &mut self.new_queues } else { &mut self.old_queues };
            let Some(&queue) = list.front() else { return };
            let credit = self.credits.get_mut(&queue).unwrap();
            if *credit <= 0 {
                *credit += self.quantum;
                list.pop_front();
                self.old_queues.push_back(queue);
                continue;
            }
            let size = self.queues.0[&queue].0.front().map(|packet| i64::from(packet.size));
            if let Some(size) = size {
                *credit -= size;
                return self.with(queue, |pie| pie.depart(now, None, fates));
            }
            list.pop_front();
            if is_new {
                self.old_queues.push_back(queue);
            }
            self.with(queue, |pie| pie.depart(now, None, fates));
        }
    }

    fn tick(&mut self, now: Time) {
        let queues: Vec<u32> = self.pies.keys().copied().collect();
        for queue in queues {
            self.with(queue, |pie| pie.tick(now));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn fq_pie_serves_drops_and_marks_as_the_rfcs_say(
        events in prop_oneof![events(), busy()],
        more in busy(),
        limit in limits(),
        hashed in 1u32..8,
        quantum in prop_oneof![Just(1514i64), 100i64..3000],
        ecn in any::<bool>(),
    ) {
        let given = json!({ "kind": "fq-pie", "queues": hashed, "quantum": quantum, "ecn": ecn });
        let mut reference = FqPie {
            limit, hashed, quantum, ecn,
            draws: draws(),
            queues: Queues::default(),
            pies: BTreeMap::new(),
            credits: BTreeMap::new(),
            new_queues: VecDeque::new(),
            old_queues: VecDeque::new(),
        };
        let events: Vec<_> = events.into_iter().chain(more).collect();
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
