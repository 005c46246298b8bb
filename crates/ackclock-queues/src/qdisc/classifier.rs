//! Classes that a scenario describes: which packets belong to which.
//!
//! A class names what it takes, by flows, nodes, code points; a packet belongs to the first class all of
//! whose conditions it meets, and to the last one if it meets those of none.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wildmatch::WildMatch;

use crate::dscp::Dscp;
use crate::error::Problem;
use crate::wire::{Flags, Packet};

/// What is known of a flow by which a router may classify.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowFacts {
    /// Name.
    pub id: Arc<str>,
    /// Sending node.
    pub src: Arc<str>,
    /// Receiving node.
    pub dst: Arc<str>,
    /// Host pair, if it was given by one.
    pub pair: Option<u32>,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// `tcp`, or the kind of its source.
    pub sender: Arc<str>,
    /// Its congestion control; that of a source is none.
    pub control: Option<Arc<str>>,
}

/// Which packets a class takes. Of each list one entry must hold, of several lists all; without any it
/// takes every packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Takes {
    /// Ids of flows; `*` stands for any characters, `?` for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<String>>,
    /// Code points, 0 to 63 or names as `ef`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Vec<Dscp>>,
    /// Host pairs of a standard shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Vec<u32>>,
    /// Nodes that the packet comes from; `*` and `?` as in `flows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src: Option<Vec<String>>,
    /// Nodes that the packet goes to; `*` and `?` as in `flows`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst: Option<Vec<String>>,
    /// What sends: `tcp`, a congestion control, or a kind of source as `cbr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub senders: Option<Vec<String>>,
    /// Only acknowledgements, or only data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks: Option<bool>,
    /// Only packets that their sender marks as the first of its connection, or only the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<bool>,
}

/// A packet as conditions see it.
#[derive(Clone, Copy)]
struct Seen<'a> {
    flow: &'a FlowFacts,
    is_ack: bool,
    is_first: bool,
}

/// The key of a list of names, the list, what it may name, and the names that there are.
type List<'l, 'a> =
    (&'static str, &'a Option<Vec<String>>, &'static str, &'l dyn Fn() -> Vec<&'a str>);

fn any(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|pattern| WildMatch::new(pattern).matches(text))
}

impl Takes {
    fn holds(&self, header: Seen<'_>) -> bool {
        let Seen { flow, is_ack, is_first } = header;
        let (src, dst) = if is_ack { (&flow.dst, &flow.src) } else { (&flow.src, &flow.dst) };
        let of = |list: &Option<Vec<String>>, text: &str| {
            list.as_ref().is_none_or(|patterns| any(patterns, text))
        };
        of(&self.flows, &flow.id)
            && of(&self.src, src)
            && of(&self.dst, dst)
            && self.dscp.as_ref().is_none_or(|points| points.contains(&flow.dscp))
            && self.pairs.as_ref().is_none_or(|p| flow.pair.is_some_and(|pair| p.contains(&pair)))
            && self.senders.as_ref().is_none_or(|names| {
                let control = flow.control.as_deref();
                names.iter().any(|name| **name == *flow.sender || Some(&**name) == control)
            })
            && self.acks.is_none_or(|acks| acks == is_ack)
            && self.first.is_none_or(|first| first == is_first)
    }

    /// What of the lists no flow of the scenario has: a mistake, mostly of spelling.
    fn check<'a>(&'a self, path: &str, facts: &'a [FlowFacts]) -> Result<(), Problem> {
        let ids = || facts.iter().map(|f| &*f.id).collect::<Vec<_>>();
        let nodes = || facts.iter().flat_map(|f| [&*f.src, &*f.dst]).collect::<Vec<_>>();
        let senders = || {
            let controls = facts.iter().filter_map(|f| f.control.as_deref());
            controls.chain(facts.iter().map(|f| &*f.sender)).collect::<Vec<_>>()
        };
        let lists: [List<'_, 'a>; 4] = [
            ("flows", &self.flows, "flow has this id", &ids),
            ("src", &self.src, "flow begins or ends at such a node", &nodes),
            ("dst", &self.dst, "flow begins or ends at such a node", &nodes),
            ("senders", &self.senders, "flow has such a sender", &senders),
        ];
        for (key, list, thing, names) in lists {
            for (i, text) in list.iter().flatten().enumerate() {
                let mut names = names();
                if names.iter().any(|name| WildMatch::new(text).matches(name)) {
                    continue;
                }
                names.sort_unstable();
                names.dedup();
                names.truncate(1000);
                let sentence = format!("is \"{text}\" but no {thing}");
                return Err(Problem::unknown(
                    format!("{path}.{key}[{i}]"),
                    &sentence,
                    text,
                    &names,
                ));
            }
        }
        for (i, pair) in self.pairs.iter().flatten().enumerate() {
            if !facts.iter().any(|f| f.pair == Some(*pair)) {
                let message = format!("is {pair} but no flow has this pair");
                return Err(Problem::new(format!("{path}.pairs[{i}]"), message));
            }
        }
        Ok(())
    }
}

/// Finds the class of a packet by its flow.
#[derive(Debug)]
pub(super) struct Classifier {
    /// By flow: data, acknowledgements, and both of the first packets of a connection.
    table: Box<[[u32; 4]]>,
    /// Where flows are not known: all packets.
    last: u32,
}

impl Classifier {
    /// Of classes in the order in which they are tried, each with its path for messages.
    pub(super) fn new(classes: &[(String, &Takes)], facts: &[FlowFacts]) -> Result<Self, Problem> {
        if !facts.is_empty() {
            classes.iter().try_for_each(|(path, takes)| takes.check(path, facts))?;
        }
        let last = classes.len().saturating_sub(1) as u32;
        let class = |header: Seen<'_>| {
            let position = classes.iter().position(|(_, takes)| takes.holds(header));
            position.map_or(last, |class| class as u32)
        };
        let row = |flow: &FlowFacts| {
            [0, 1, 2, 3].map(|i| class(Seen { flow, is_ack: i & 1 != 0, is_first: i & 2 != 0 }))
        };
        Ok(Self { table: facts.iter().map(row).collect(), last })
    }

    /// Where the packets of a flow are in a row of a table: data, acknowledgements, and both of the first.
    pub(super) fn column(packet: &Packet) -> usize {
        usize::from(packet.is_ack()) + 2 * usize::from(packet.flags.has(Flags::FIRST))
    }

    /// The class of a packet.
    #[inline]
    pub(super) fn of(&self, packet: &Packet) -> u32 {
        let row = self.table.get(packet.flow.index());
        row.map_or(self.last, |row| row[Self::column(packet)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use serde_json::json;

    fn facts() -> Vec<FlowFacts> {
        let flow =
            |id: &str, src: &str, pair, dscp, sender: &str, control: Option<&str>| FlowFacts {
                id: id.into(),
                src: src.into(),
                dst: "r".into(),
                pair,
                dscp: Dscp::new(dscp).unwrap(),
                sender: sender.into(),
                control: control.map(Into::into),
            };
        vec![
            flow("web0", "a", Some(0), 0, "tcp", Some("cubic")),
            flow("web1", "b", None, 10, "tcp", Some("fast")),
            flow("voice", "a", None, 46, "cbr", None),
        ]
    }

    fn takes(json: serde_json::Value) -> Takes {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_first_class_that_takes_a_packet_has_it_and_the_last_the_rest() {
        let class = |json: serde_json::Value| {
            let (first_class, all_other) = (takes(json), Takes::default());
            let classes = [("c[0]".to_owned(), &first_class), ("c[1]".to_owned(), &all_other)];
            let classifier = Classifier::new(&classes, &facts()).unwrap();
            let packet = |flow, flags| Packet::new(FlowId(flow), 0, 1000, flags);
            let data = [0, 1, 2].map(|flow| classifier.of(&packet(flow, Flags::default())));
            (data, classifier.of(&packet(0, Flags::ACK)), classifier.of(&packet(0, Flags::FIRST)))
        };
        assert_eq!(class(json!({ "flows": ["web*"] })), ([0, 0, 1], 0, 0));
        assert_eq!(class(json!({ "dscp": ["ef", 10] })), ([1, 0, 0], 1, 1));
        assert_eq!(class(json!({ "pairs": [0] })), ([0, 1, 1], 0, 0));
        assert_eq!(class(json!({ "src": ["a"], "senders": ["tcp"] })), ([0, 1, 1], 1, 0));
        assert_eq!(class(json!({ "senders": ["fast", "cbr"] })), ([1, 0, 0], 1, 1));
        assert_eq!(class(json!({ "acks": true })), ([1, 1, 1], 0, 1));
        assert_eq!(class(json!({ "first": true })), ([1, 1, 1], 1, 0));
    }

    #[test]
    fn a_name_that_no_flow_has_is_refused() {
        let refusal = |json: serde_json::Value| {
            let class = takes(json);
            Classifier::new(&[("classes[0]".to_owned(), &class)], &facts()).unwrap_err().to_string()
        };
        let text = refusal(serde_json::json!({ "flows": ["wbe0"] }));
        let start =
            "classes[0].flows[0]: is \"wbe0\" but no flow has this id; did you mean \"web0\"?";
        assert_eq!(text, start);
        assert!(refusal(serde_json::json!({ "pairs": [7] })).contains("no flow has this pair"));
    }
}
