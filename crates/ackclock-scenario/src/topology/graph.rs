//! Graph: any network, as given.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::{Layout, MAX_NODES, Topology};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::scenario::Graph;

impl Topology for Graph {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut node_ids: FxHashMap<&str, NodeId> = FxHashMap::default();
        let mut layout = Layout { is_map: true, ..Layout::default() };
        for (i, node) in self.nodes.iter().enumerate() {
            if node.id.is_empty() {
                problems.push(Problem::new(
                    format!("{path}.nodes[{i}].id"),
                    "is empty, expected a name",
                ));
            }
            if let Entry::Vacant(entry) = node_ids.entry(&node.id) {
                entry.insert(layout.node(node.id.clone()));
            } else {
                let message = format!(
                    "\"{}\" is the name of an earlier node; expected an unused name",
                    node.id
                );
                problems.push(Problem::new(format!("{path}.nodes[{i}].id"), message));
            }
        }
        for (i, link) in self.links.iter().enumerate() {
            if link.a == link.b {
                let message =
                    format!("goes from \"{}\" to itself; expected two different nodes", link.a);
                problems.push(Problem::new(format!("{path}.links[{i}]"), message));
            }
            let ends = [&link.a, &link.b]
                .map(|name| *node_ids.entry(name).or_insert_with(|| layout.node(name.clone())));
            let kind = layout.kind(format!("{path}.links[{i}]"), link.clone());
            layout.link(kind, ends, link.rate, link.delay);
        }
        if self.links.is_empty() {
            problems.push(Problem::new(
                format!("{path}.links"),
                "is empty, expected at least one link",
            ));
        }
        if layout.nodes.len() as u64 > MAX_NODES {
            problems.push(Problem::new(
                format!("{path}.nodes"),
                format!("has more than {MAX_NODES} nodes"),
            ));
        }
        if problems.is_empty() { Ok(layout) } else { Err(problems) }
    }
}
