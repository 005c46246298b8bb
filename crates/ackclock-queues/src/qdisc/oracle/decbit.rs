//! DECbit from its paper: the number of packets at the link as a list of all its changes, integrated anew at
//! every arrival.

use proptest::prelude::*;
use serde_json::json;

use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, events, limits, spec};
use crate::qdisc::Limit;
use crate::units::Time;

struct Decbit {
    limit: Limit,
    threshold: f64,
    line: Line,
    is_sending: bool,
    /// From when on there are so many packets at the link.
    changes: Vec<(Time, u64)>,
    /// Beginnings of busy periods, after that of the run.
    begun: Vec<Time>,
    average: f64,
}

impl Decbit {
    fn average(&self, now: Time) -> f64 {
        let begin = self.begun[self.begun.len() - 2];
        let ends = self.changes.iter().skip(1).map(|change| change.0).chain([now]);
        let area: u128 = self
            .changes
            .iter()
            .zip(ends)
            .map(|(&(from, count), to)| u128::from(to.since(from.max(begin)).0) * u128::from(count))
            .sum();
        let length = now.since(begin).0;
        if length == 0 { 0.0 } else { area as f64 / length as f64 }
    }
}

impl Reference for Decbit {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        if !self.line.admits(self.limit, packet.size) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        let mut there = self.line.0.len() as u64 + 1;
        if self.is_sending {
            there += 1;
        } else {
            self.begun.push(packet.at);
        }
        self.changes.push((packet.at, there));
        self.average = self.average(packet.at);
        packet.ce = packet.ect && self.average >= self.threshold;
        self.line.0.push_back(packet);
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        self.is_sending = self.line.send(fates);
        let there = self.line.0.len() as u64 + u64::from(self.is_sending);
        self.changes.push((now, there));
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("avg", self.average)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn decbit_marks_by_the_average_of_its_cycles(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        threshold in 0.2f64..4.0,
    ) {
        let mut reference = Decbit {
            limit,
            threshold,
            line: Line::default(),
            is_sending: false,
            changes: vec![(Time::ZERO, 0)],
            begun: vec![Time::ZERO],
            average: 0.0,
        };
        let given = json!({ "kind": "decbit", "threshold": threshold });
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
