//! WRR, weighted round robin between classes: weighted priority, in which no class starves.
//!
//! **Source**: Shreedhar & Varghese, "Efficient Fair Queueing Using Deficit Round-Robin", IEEE/ACM Trans.
//! Networking 4(3), 1996, section III (doi:10.1109/90.502236), with a quantum in proportion to the weight as its
//! section V has it; classes by code point: RFC 2475 (doi:10.17487/RFC2475).
//!
//! **Rule**:
//! - classes with packets take turns; at the start of its turn the deficit of class i grows by
//!   `quantum` weight(i) / (smallest weight);
//! - it sends while its first packet is not larger than the deficit, which shrinks by each packet;
//! - what is left stays for the next turn, but a class that runs empty loses it;
//! - while the shared buffer is exceeded, the queue that is longest beside its weight loses its newest.
//!
//! **Deviations**: what a class's AQM drops does not use up its deficit.
//!
//! **Defaults by era**: `quantum` is the link's typical packet in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Problem, inside};
use crate::qdisc::aqm::inner;
use crate::qdisc::classifier::{Classifier, Takes};
use crate::qdisc::fair::classes::{Classes, Measure, Victim, is_held};
use crate::qdisc::links::{Chain, Links};
use crate::qdisc::queues::name_classes;
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Info, Spec, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// A class with a weight.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Class {
    /// Name, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Share beside the other classes'.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
    /// Packets that it takes; left out: all. A packet belongs to the first class that takes it, and to the
    /// last one if none does.
    pub takes: Takes,
    /// AQM of its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<Spec>,
}

impl Default for Class {
    fn default() -> Self {
        Self { name: String::new(), weight: 1.0, takes: Takes::default(), aqm: None }
    }
}

/// Parameters of [`Wrr`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Classes. Left out: one that takes all.
    pub classes: Vec<Class>,
    /// Bytes that the class of the smallest weight may send in a turn. Left out: the link's typical
    /// packet.
    #[schemars(range(min = 1))]
    pub quantum: Option<Bytes>,
}

/// State of a class within its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    weight: f64,
    quantum: f64,
    deficit: f64,
    begun: bool,
}

/// Weighted round robin.
pub struct Wrr {
    classes: Classes,
    classifier: Classifier,
    turns: Vec<Turn>,
    links: Links,
    /// Active classes; the first has its turn.
    round: Chain,
    names: Vec<String>,
    /// Bits of the classes that are held back.
    held: u32,
}

impl About<QdiscEnv> for Wrr {
    type Params = Params;
    const INFO: Info = Info {
        name: "wrr",
        title: "WRR: weighted round robin between classes (weighted priority)",
        source: "Shreedhar & Varghese, IEEE/ACM ToN 4(3), 1996, sections III and V, doi:10.1109/90.502236",
        status: Status::Specified,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let quantum = params.quantum.map_or(u64::from(env.mean_packet), |quantum| quantum.0);
        let mut classes_in_order = params.classes;
        if classes_in_order.is_empty() {
            classes_in_order.push(Class::default());
        }
        let mut classes = Classes::new(env.limit, Measure::Bytes, None);
        let mut turns = Vec::new();
        let mut takes = Vec::new();
        let least = classes_in_order.iter().map(|class| class.weight).fold(f64::INFINITY, f64::min);
        for (i, class) in classes_in_order.iter().enumerate() {
            let (path, weight) = (format!("classes[{i}]"), class.weight);
            let quantum = quantum as f64 * weight / least;
            turns.push(Turn { weight, quantum, ..Turn::default() });
            let aqm = inner(class.aqm.as_ref(), env).map_err(|problems| inside(&path, problems))?;
            if let Some(aqm) = aqm {
                classes.set_aqm(i as u32, aqm.fresh());
            }
            takes.push((path + ".takes", &class.takes));
        }
        let classifier = Classifier::new(&takes, &env.facts)?;
        let mut links = Links::default();
        links.reserve(turns.len());
        classes.list(0..turns.len() as u32);
        let names = name_classes(classes_in_order.iter().map(|class| &*class.name));
        Ok(Self { classes, classifier, turns, links, round: Chain::default(), names, held: 0 })
    }
}

impl Wrr {
    /// The class that is longest beside its weight; of equals the first.
    fn longest(&self) -> u32 {
        let length =
            |&class: &u32| self.classes.length(class) as f64 / self.turns[class as usize].weight;
        let active = std::iter::successors(self.round.head(), |&class| self.links.next(class));
        active
            .max_by(|a, b| length(a).total_cmp(&length(b)).then(b.cmp(a)))
            .expect("invariant: an exceeded buffer is not empty")
    }

    /// A class has run empty.
    fn leave(&mut self, class: u32, now: Time) {
        let turn = &mut self.turns[class as usize];
        (turn.deficit, turn.begun) = (0.0, false);
        self.links.remove(&mut self.round, class);
        self.classes.idle(class, now);
    }
}

impl QueueDisc for Wrr {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let class = self.classifier.of(&packet);
        let was_idle = self.classes.packets(class) == 0;
        let Some(slot) = self.classes.offer(class, packet, 0.0, ctx) else { return };
        if was_idle {
            self.links.push_back(&mut self.round, class);
        }
        while self.classes.over() {
            let longest = self.longest();
            self.classes.push_out(longest, Victim::Tail, slot, ctx);
            if self.classes.packets(longest) == 0 {
                self.leave(longest, ctx.now);
            }
        }
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        let mut first_held = None;
        loop {
            let class = self.round.head()?;
            if is_held(self.held, class) {
                // After a round of classes that are all held back.
                if first_held == Some(class) {
                    return None;
                }
                first_held = first_held.or(Some(class));
                self.links.rotate(&mut self.round);
                continue;
            }
            first_held = None;
            let size = f64::from(self.classes.head(class)?.size);
            let turn = &mut self.turns[class as usize];
            if !turn.begun {
                turn.begun = true;
                turn.deficit += turn.quantum;
            }
            if turn.deficit < size {
                turn.begun = false;
                self.links.rotate(&mut self.round);
                continue;
            }
            let served = self.classes.serve(class, ctx);
            if served.is_some() {
                turn.deficit -= size;
            }
            if self.classes.packets(class) == 0 {
                self.leave(class, ctx.now);
            }
            if served.is_some() {
                return served;
            }
        }
    }

    packets_are_in!(classes);

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.classes.on_rate(now, rate);
    }

    fn state(&self) -> State {
        let bytes = self.classes.state_bytes() + self.turns.len() * size_of::<Turn>();
        State { flows: self.turns.len() as u64, bytes: bytes as u64 }
    }

    fn queues(&self) -> Vec<String> {
        self.names.clone()
    }

    fn queue_of(&self, packet: &Packet) -> usize {
        self.classifier.of(packet) as usize
    }

    fn hold(&mut self, queues: u32) -> bool {
        self.held = queues;
        true
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("longest", self.classes.greatest_length() as f64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::qdisc::Limit;
    use crate::qdisc::testing::{Bench, env, marked};
    use crate::wire::DropReason;

    fn two(weights: [f64; 2], limit: Limit) -> Bench<Wrr> {
        let env = QdiscEnv { limit, facts: marked(&[("gold", 10), ("bronze", 0)]), ..env() };
        let table = serde_json::json!({ "classes": [
            { "weight": weights[0], "takes": { "dscp": ["af11"] } },
            { "weight": weights[1] },
        ] });
        Bench::new(Wrr::new(serde_json::from_value(table).unwrap(), &env).unwrap())
    }

    /// Quanta 2500 and 1000, packets of 1000 B. Gold sends 2 and keeps 500; bronze 1; gold has 3000 and
    /// sends 3; bronze 1.
    #[test]
    fn turns_by_hand() {
        let mut bench = two([2.5, 1.0], Limit::NONE);
        for flow in [0, 0, 0, 0, 0, 1, 1] {
            bench.arrive(flow, 1000);
        }
        let sent = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.flow.0);
        assert_eq!(sent.collect::<Vec<_>>(), [0, 0, 1, 0, 0, 0, 1]);
    }

    /// Of a quantum of 2500 B 500 are left as gold has no more: they are lost, by its service or by what is pushed out. With
    /// them its next turn would have three packets, not two.
    #[test]
    fn what_is_left_of_a_quantum_ends_with_what_waits() {
        let mut bench = two([2.5, 1.0], Limit::NONE);
        bench.arrive(0, 1000);
        bench.arrive(0, 1000);
        assert!(bench.depart().is_some() && bench.depart().is_some());
        for flow in [0, 0, 0, 0, 1] {
            bench.arrive(flow, 1000);
        }
        let sent = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.flow.0);
        assert_eq!(sent.collect::<Vec<_>>(), [0, 0, 1, 0, 0]);
    }

    #[test]
    fn a_class_that_is_held_back_lets_the_others_pass() {
        let mut bench = two([2.0, 1.0], Limit::NONE);
        for flow in [0, 0, 1, 1] {
            bench.arrive(flow, 1000);
        }
        let sent = |bench: &mut Bench<Wrr>| -> Vec<u32> {
            std::iter::from_fn(|| bench.depart()).map(|t| t.packet.flow.0).collect()
        };
        assert!(bench.qdisc.hold(0b11));
        assert!(sent(&mut bench).is_empty());
        bench.qdisc.hold(0b01);
        assert_eq!(sent(&mut bench), [1, 1]);
        bench.qdisc.hold(0);
        assert_eq!(sent(&mut bench), [0, 0]);
    }

    #[test]
    fn the_longest_beside_its_weight_loses_its_newest() {
        let mut bench = two([3.0, 1.0], Limit { packets: 5, bytes: u64::MAX });
        for flow in [0, 0, 0, 1, 1] {
            bench.arrive(flow, 1000);
        }
        bench.arrive(0, 1000);
        assert_eq!(bench.drops(), [(4, DropReason::PushedOut)]);
    }

    proptest! {
        /// Backlogged classes get service in proportion to their weights, to within a turn.
        #[test]
        fn backlogged_classes_share_by_weight(
            weight in 0.2f64..5.0,
            sizes in prop::collection::vec(40u16..1000, 2),
        ) {
            let mut bench = two([weight, 1.0], Limit::NONE);
            for flow in [0, 1] {
                for _ in 0..400 {
                    bench.arrive(flow, sizes[flow as usize]);
                }
            }
            let mut sent = [0.0; 2];
            let mut counts = [0; 2];
            while counts.iter().all(|&n| n < 400) {
                let packet = bench.depart().unwrap().packet;
                sent[packet.flow.index()] += f64::from(packet.size);
                counts[packet.flow.index()] += 1;
                // One turn of each, and one packet that was not sent, beside the smaller weight.
                let slack = (1000.0 + 1000.0) / weight.min(1.0);
                prop_assert!((sent[0] / weight - sent[1]).abs() <= 2.0 * slack);
            }
        }
    }
}
