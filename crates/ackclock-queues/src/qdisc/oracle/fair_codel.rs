//! FQ-CoDel from RFC 8290, sections 4 and 5: lists of new and old queues, credits, a CoDel for each queue.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use serde_json::json;

use super::codel::Controller;
use super::drr::Queues;
use super::{Fate, Reference, Waiting, agree, bounded, busy, events, limits, spec};
use crate::qdisc::Limit;
use crate::qdisc::fair::classes::bucket;
use crate::units::{Span, Time};

struct FqCodel {
    limit: Limit,
    hashed: u32,
    quantum: i64,
    drop_batch: usize,
    ecn: bool,
    queues: Queues,
    controllers: BTreeMap<u32, Controller>,
    credits: BTreeMap<u32, i64>,
    new_queues: VecDeque<u32>,
    old_queues: VecDeque<u32>,
}

impl Reference for FqCodel {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        let queue = bucket(packet.key, 0, self.hashed);
        self.queues.0.entry(queue).or_default().0.push_back(packet);
        if !self.new_queues.contains(&queue) && !self.old_queues.contains(&queue) {
            self.new_queues.push_back(queue);
            self.credits.insert(queue, self.quantum);
        }
        while self.queues.is_over(self.limit) {
            let fattest = self.queues.longest(false);
            let half = self.queues.0[&fattest].0.len().div_ceil(2);
            for _ in 0..half.min(self.drop_batch) {
                let lost = self.queues.push_out(fattest, true);
                fates.push(Fate::Dropped { seq: lost.seq });
            }
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
            let ecn = self.ecn;
            let controller = self.controllers.entry(queue).or_insert_with(|| {
                Controller::new(Span::from_micros(500), Span::from_micros(2000), ecn)
            });
            let line = self.queues.0.entry(queue).or_default();
            if let Some(sent) = controller.dequeue(now, line, fates) {
                *credit -= i64::from(sent.size);
                return fates.push(Fate::Sent { seq: sent.seq, ce: sent.ce });
            }
            list.pop_front();
            if is_new {
                self.old_queues.push_back(queue);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn fq_codel_serves_drops_and_marks_as_the_rfc_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        hashed in 1u32..8,
        quantum in prop_oneof![Just(1514i64), 100i64..3000],
        drop_batch in 1usize..20,
        ecn in any::<bool>(),
    ) {
        let given = json!({ "kind": "fq-codel", "queues": hashed, "quantum": quantum, "ecn": ecn,
            "drop_batch": drop_batch, "target": "500 us", "interval": "2 ms" });
        let mut reference = FqCodel {
            limit, hashed, quantum, drop_batch, ecn,
            queues: Queues::default(),
            controllers: BTreeMap::new(),
            credits: BTreeMap::new(),
            new_queues: VecDeque::new(),
            old_queues: VecDeque::new(),
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
