//! Strict priority: the first class that has a packet sends; the others wait.
//!
//! **Source**: RFC 2475 and RFC 3246, appendix A.3 (a priority queue implements expedited forwarding,
//! doi:10.17487/RFC3246); priority for the first packets of a connection, so that a delay-based sender
//! measures propagation without queueing: L. Tan, C. Yuan, M. Zukerman, "FAST TCP: fairness and queuing
//! issues", IEEE Communications Letters 9(8), 2005, pages 762 to 764, as described by M. Rodriguez-Perez et al.,
//! "The persistent congestion problem of FAST-TCP: Analysis and solutions", section 2.
//!
//! **Rule**: classes have the order of the list;
//! - the first class with a packet sends its oldest; a transmission that has begun is not interrupted;
//! - an arrival that exceeds the shared buffer pushes out the newest packet of the last class that has one.
//!
//! **Deviations**: the sources leave open what is dropped.
//!
//! **Defaults by era**: without `classes` there are two in all eras: the packets that senders mark as the
//! first of their connection (`first_priority` of a flow's TCP settings), and all others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Problem, inside};
use crate::qdisc::aqm::inner;
use crate::qdisc::classifier::{Classifier, Takes};
use crate::qdisc::fair::classes::{Classes, Measure, Victim, is_held};
use crate::qdisc::queues::name_classes;
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Info, Spec, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// A class of one priority.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Class {
    /// Name, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Packets that it takes; left out: all. A packet belongs to the first class that takes it, and to the
    /// last one if none does.
    pub takes: Takes,
    /// AQM of its queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<Spec>,
}

/// Parameters of [`Priority`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Classes, the highest priority first. Left out: first packets of connections, and all others.
    pub classes: Vec<Class>,
}

/// Strict priority.
pub struct Priority {
    classes: Classes,
    classifier: Classifier,
    count: u32,
    names: Vec<String>,
    /// Bits of the classes that are held back.
    held: u32,
}

impl About<QdiscEnv> for Priority {
    type Params = Params;
    const INFO: Info = Info {
        name: "priority",
        title: "Strict priority between classes",
        source: "RFC 3246, appendix A.3, doi:10.17487/RFC3246",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["prio"];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let mut classes_in_order = params.classes;
        if classes_in_order.is_empty() {
            let takes = Takes { first: Some(true), ..Takes::default() };
            let name = |name: &str| name.to_owned();
            classes_in_order = vec![
                Class { takes, name: name("first packets"), ..Class::default() },
                Class { name: name("others"), ..Class::default() },
            ];
        }
        let path = |i: usize| format!("classes[{i}]");
        let takes: Vec<(String, &Takes)> = classes_in_order
            .iter()
            .enumerate()
            .map(|(i, c)| (path(i) + ".takes", &c.takes))
            .collect();
        let classifier = Classifier::new(&takes, &env.facts)?;
        let mut classes = Classes::new(env.limit, Measure::Packets, None);
        for (i, class) in classes_in_order.iter().enumerate() {
            let aqm =
                inner(class.aqm.as_ref(), env).map_err(|problems| inside(&path(i), problems))?;
            if let Some(aqm) = aqm {
                classes.set_aqm(i as u32, aqm.fresh());
            }
        }
        classes.list(0..classes_in_order.len() as u32);
        let names = name_classes(classes_in_order.iter().map(|class| &*class.name));
        Ok(Self { classes, classifier, count: classes_in_order.len() as u32, names, held: 0 })
    }
}

impl QueueDisc for Priority {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let class = self.classifier.of(&packet);
        let Some(slot) = self.classes.offer(class, packet, 0.0, ctx) else { return };
        while self.classes.over() {
            let last = (0..self.count).rev().find(|&class| self.classes.packets(class) > 0);
            let last = last.expect("invariant: an exceeded buffer is not empty");
            self.classes.push_out(last, Victim::Tail, slot, ctx);
            if self.classes.packets(last) == 0 {
                self.classes.idle(last, ctx.now);
            }
        }
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        for class in 0..self.count {
            if is_held(self.held, class) {
                continue;
            }
            while self.classes.packets(class) > 0 {
                let served = self.classes.serve(class, ctx);
                if self.classes.packets(class) == 0 {
                    self.classes.idle(class, ctx.now);
                }
                if served.is_some() {
                    return served;
                }
            }
        }
        None
    }

    packets_are_in!(classes);

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.classes.on_rate(now, rate);
    }

    fn state(&self) -> State {
        State { flows: u64::from(self.count), bytes: self.classes.state_bytes() as u64 }
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
    use super::*;
    use crate::qdisc::Limit;
    use crate::qdisc::testing::{Bench, env, marked};
    use crate::wire::{DropReason, Flags};

    fn params(json: serde_json::Value) -> Params {
        serde_json::from_value(json).unwrap()
    }

    /// Class 0: code point EF; class 1: flows by name; class 2: the rest.
    fn three(limit: Limit) -> Bench<Priority> {
        let facts = marked(&[("bulk", 0), ("voice", 46), ("video", 34)]);
        let env = QdiscEnv { limit, facts, ..env() };
        let table = serde_json::json!({ "classes": [
            { "name": "low latency", "takes": { "dscp": ["ef"] } },
            { "takes": { "flows": ["vid*"] } },
            {},
        ] });
        Bench::new(Priority::new(params(table), &env).unwrap())
    }

    #[test]
    fn the_highest_class_goes_first_and_each_in_order() {
        let mut bench = three(Limit::NONE);
        for flow in [0, 2, 1, 0, 1, 2] {
            bench.arrive(flow, 100);
        }
        let sent: Vec<u32> = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect();
        assert_eq!(sent, [2, 4, 1, 5, 0, 3]);
    }

    #[test]
    fn a_class_that_is_held_back_lets_the_others_pass() {
        let mut bench = three(Limit::NONE);
        for flow in [0, 1, 2, 1] {
            bench.arrive(flow, 100);
        }
        assert!(bench.qdisc.hold(0b001));
        let sent: Vec<u32> = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect();
        assert_eq!(sent, [2, 0]);
        bench.qdisc.hold(0);
        let sent: Vec<u32> = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect();
        assert_eq!(sent, [1, 3]);
    }

    #[test]
    fn the_lowest_class_loses_its_newest() {
        let mut bench = three(Limit { packets: 3, bytes: u64::MAX });
        for flow in [0, 0, 2] {
            bench.arrive(flow, 100);
        }
        bench.arrive(1, 100);
        assert_eq!(bench.drops(), [(1, DropReason::PushedOut)]);
        bench.arrive(0, 100);
        assert_eq!(bench.drops(), [(4, DropReason::Overflow)]);
    }

    /// RED's average of two packets that wait falls over idle time, which begins where the class loses its last one, and
    /// not before. An arrival that finds none waiting halves it to 1 otherwise, and is dropped.
    #[test]
    fn a_class_is_idle_once_its_last_packet_is_pushed_out() {
        for (urgent, is_idle) in [(1, false), (2, true)] {
            let facts = marked(&[("bulk", 0), ("voice", 46)]);
            let limit = Limit { packets: 2, bytes: u64::MAX };
            let red = serde_json::json!({ "kind": "red", "min_th": 0.8, "max_th": 0.9, "w_q": 0.5,
                "gentle": false });
            let table =
                serde_json::json!({ "classes": [{ "takes": { "dscp": ["ef"] } }, { "aqm": red }] });
            let env = QdiscEnv { limit, facts, ..env() };
            let mut bench = Bench::new(Priority::new(params(table), &env).unwrap());
            for _ in 0..20 {
                bench.arrive(0, 1000);
            }
            assert_eq!(bench.qdisc_len(), 2);
            for _ in 0..urgent {
                bench.arrive(1, 1000);
            }
            bench.after(Span::from_millis(1000));
            for _ in 0..urgent {
                assert_eq!(bench.depart().unwrap().packet.flow.0, 1);
            }
            bench.drops();
            bench.arrive(0, 1000);
            assert_eq!(bench.drops().is_empty(), is_idle, "{urgent}");
        }
    }

    #[test]
    fn first_packets_overtake_by_default() {
        let mut bench = Bench::new(Priority::new(Params::default(), &env_with_flows()).unwrap());
        for flags in [Flags::default(), Flags::default(), Flags::FIRST] {
            bench.arrive_with(0, 100, flags);
        }
        assert_eq!(bench.depart().unwrap().packet.seq, 2);
    }

    fn env_with_flows() -> QdiscEnv {
        QdiscEnv { facts: marked(&[("one", 0)]), ..env() }
    }

    #[test]
    fn each_class_has_its_own_aqm() {
        let table = serde_json::json!({ "classes": [
            { "takes": { "flows": ["one"] }, "aqm": { "kind": "pie", "update": "15 ms" } },
            { "aqm": { "kind": "pie", "update": "25 ms" } },
        ] });
        let disc = Priority::new(params(table), &env_with_flows()).unwrap();
        // Both intervals are multiples of the timer's.
        assert_eq!(disc.timer_interval(), Some(Span::from_millis(5)));
        let bad = serde_json::json!({ "classes": [{}, { "aqm": "pei" }] });
        let text = Priority::new(params(bad), &env()).map(|_| ()).unwrap_err()[0].to_string();
        assert!(text.starts_with("classes[1].aqm: there is no AQM \"pei\""), "{text}");
    }
}
