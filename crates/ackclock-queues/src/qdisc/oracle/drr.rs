//! DRR from Shreedhar & Varghese, section III: queues, a list of active ones, deficits; and SFQ, which
//! sends a packet where DRR sends a quantum.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, events, limits, spec};
use crate::qdisc::Limit;
use crate::qdisc::fair::classes::bucket;
use crate::units::Time;

/// Queues by class, of which the longest is pushed out of.
#[derive(Default)]
pub(super) struct Queues(pub(super) BTreeMap<u32, Line>);

impl Queues {
    pub(super) fn is_over(&self, limit: Limit) -> bool {
        let packets: usize = self.0.values().map(|line| line.0.len()).sum();
        let bytes: u64 = self.0.values().map(Line::bytes).sum();
        packets as u64 > u64::from(limit.packets) || bytes > limit.bytes
    }

    /// The longest class, of equals the smallest.
    pub(super) fn longest(&self, by_packets: bool) -> u32 {
        let length = |line: &Line| if by_packets { line.0.len() as u64 } else { line.bytes() };
        let most = self.0.values().map(length).max().unwrap();
        *self.0.iter().find(|(_, line)| length(line) == most).unwrap().0
    }

    pub(super) fn push_out(&mut self, class: u32, head: bool) -> Waiting {
        let line = &mut self.0.get_mut(&class).unwrap().0;
        if head { line.pop_front() } else { line.pop_back() }.unwrap()
    }
}

struct Drr {
    limit: Limit,
    quantum: u64,
    head: bool,
    by_packets: bool,
    queues: Queues,
    /// Active classes in the order of the round, with their deficits.
    round: VecDeque<(u32, u64)>,
    /// The first of the round has got the quantum of its turn.
    has_begun: bool,
}

impl Reference for Drr {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        self.queues.0.entry(packet.key).or_default().0.push_back(packet);
        if self.round.iter().all(|&(class, _)| class != packet.key) {
            self.round.push_back((packet.key, 0));
        }
        while self.queues.is_over(self.limit) {
            let class = self.queues.longest(self.by_packets);
            let lost = self.queues.push_out(class, self.head);
            fates.push(Fate::Dropped { seq: lost.seq });
            if self.queues.0[&class].0.is_empty() {
                // The turn of a class that is gone is over.
                self.has_begun &= self.round[0].0 != class;
                self.round.retain(|&(other, _)| other != class);
            }
        }
    }

    fn depart(&mut self, _now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        while let Some((class, deficit)) = self.round.front_mut() {
            let line = self.queues.0.get_mut(class).unwrap();
            if !self.has_begun {
                *deficit += self.quantum;
                self.has_begun = true;
            }
            let size = u64::from(line.0[0].size);
            if size <= *deficit {
                *deficit -= size;
                let sent = line.0.pop_front().unwrap();
                if line.0.is_empty() {
                    self.round.pop_front();
                    self.has_begun = false;
                }
                return fates.push(Fate::Sent { seq: sent.seq, ce: false });
            }
            self.round.rotate_left(1);
            self.has_begun = false;
        }
    }
}

/// `McKenney`'s SFQ with the longest queue's last packet pushed out, or with ns-2's rule of the share.
struct Sfq {
    limit: Limit,
    share: bool,
    buckets: u32,
    queues: Queues,
    round: VecDeque<u32>,
}

impl Reference for Sfq {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        let queue = bucket(packet.key, 0, self.buckets);
        let (room, buckets) = (self.limit.packets as usize, self.buckets as usize);
        let waiting: usize = self.queues.0.values().map(|line| line.0.len()).sum();
        let used = self.queues.0.get(&queue).map_or(0, |line| line.0.len());
        let free = room.saturating_sub(waiting);
        let exceeds = used >= free / 2 || (free < buckets && used > room / buckets) || free == 0;
        if self.share && exceeds {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.queues.0.entry(queue).or_default().0.push_back(packet);
        if !self.round.contains(&queue) {
            self.round.push_back(queue);
        }
        while self.queues.is_over(self.limit) {
            let longest = self.queues.longest(true);
            let lost = self.queues.push_out(longest, false);
            fates.push(Fate::Dropped { seq: lost.seq });
            if self.queues.0[&longest].0.is_empty() {
                self.round.retain(|&queue| queue != longest);
            }
        }
    }

    fn depart(&mut self, _now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let Some(queue) = self.round.pop_front() else { return };
        let line = &mut self.queues.0.get_mut(&queue).unwrap().0;
        fates.extend(line.pop_front().map(|sent| Fate::Sent { seq: sent.seq, ce: false }));
        if !line.is_empty() {
            self.round.push_back(queue);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn drr_serves_and_pushes_out_as_the_paper_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        quantum in prop_oneof![Just(500u64), Just(1000), 1u64..3000],
        (head, by_packets) in any::<(bool, bool)>(),
    ) {
        let given = json!({ "kind": "drr", "quantum": quantum,
            "victim": if head { "head" } else { "tail" },
            "longest": if by_packets { "packets" } else { "bytes" } });
        let mut reference = Drr {
            limit, quantum, head, by_packets,
            queues: Queues::default(),
            round: VecDeque::new(),
            has_begun: false,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }

    #[test]
    fn sfq_serves_and_pushes_out_as_the_paper_says(
        events in prop_oneof![events(), busy()],
        packets in 1u32..30,
        buckets in 1u32..6,
        share in any::<bool>(),
    ) {
        let limit = Limit { packets, bytes: u64::MAX };
        let mut reference =
            Sfq { limit, share, buckets, queues: Queues::default(), round: VecDeque::new() };
        let given = json!({ "kind": "sfq", "buckets": buckets,
            "rule": if share { "share" } else { "longest" } });
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
