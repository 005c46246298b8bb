//! Leaf and spine: a data centre in two levels, every leaf switch linked to every spine switch.
//!
//! **Source**: M. Alizadeh, T. Edsall, "On the Data Path Performance of Leaf-Spine Datacenter Fabrics",
//! IEEE Hot Interconnects 2013, doi:10.1109/HOTI.2013.23.
//!
//! **Rule**
//! ```text
//! leaves * spines links between switches, leaves * hosts hosts
//! as many shortest paths between hosts of different leaves as there are spines
//! ```

use std::sync::LazyLock;

use super::data_centre::{Rates, add_hosts, check};
use super::{Layout, Topology, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Ranges;
use crate::scenario::LeafSpine;

/// Most links between switches.
const MAX_LINKS: u64 = 10_000_000;

static RANGES: LazyLock<Ranges<7>> = LazyLock::new(|| {
    Ranges::of::<LeafSpine>([
        "leaves",
        "spines",
        "hosts",
        "rate",
        "switch_rate",
        "delay",
        "switch_delay",
    ])
});

impl Topology for LeafSpine {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        let rates = Rates::new(self.rate, self.switch_rate, self.delay, self.switch_delay);
        let counts = [self.leaves, self.spines, self.hosts].map(f64::from);
        let [leaves, spines, hosts] = counts;
        let [rate, switch_rate, delay, switch_delay] = rates.values();
        RANGES.check(path, [leaves, spines, hosts, rate, switch_rate, delay, switch_delay])?;
        let between = u64::from(self.leaves) * u64::from(self.spines);
        if between > MAX_LINKS {
            let message = format!(
                "is {}, which makes {between} links to the leaves, expected at most {MAX_LINKS}",
                self.spines
            );
            return Err(vec![Problem::new(format!("{path}.spines"), message)]);
        }
        check(path, self.leaves, self.hosts, u64::from(self.leaves + self.spines))?;
        let mut layout = Layout { has_equal_paths: true, ..Layout::default() };
        let mut nodes = |letter, count| -> Vec<NodeId> {
            (0..count).map(|i| layout.node(format!("{letter}{i}"))).collect()
        };
        let (leaves, spines) = (nodes('l', self.leaves), nodes('s', self.spines));
        let between = layout.kind(path, links(self.buffer, &self.qdisc));
        for &leaf in &leaves {
            for &spine in &spines {
                layout.link(between, [leaf, spine], rates.switch, rates.switch_delay);
            }
        }
        let ports = (self.buffer, &self.qdisc);
        add_hosts(&mut layout, path, ports, &leaves, self.hosts, &rates);
        Ok(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Net;

    fn net(extra: &str) -> Result<Layout, Vec<Problem>> {
        let json = format!(
            r#"{{"kind":"leaf-spine","leaves":4,"spines":3,"hosts":5,"rate":1e10,"delay":1e-6{extra}}}"#
        );
        serde_json::from_str::<Net>(&json).unwrap().layout("net")
    }

    #[test]
    fn every_leaf_is_linked_to_every_spine_and_pairs_cross_a_spine() {
        let layout = net(r#","switch_rate":4e10,"switch_delay":2e-6"#).unwrap();
        assert_eq!(layout.nodes.len(), 4 + 3 + 4 * 5);
        assert_eq!(layout.links.len(), 4 * 3 + 4 * 5);
        assert_eq!(layout.links[0].rate.0, 40_000_000_000);
        assert_eq!(layout.links[0].delay.0, 2_000_000);
        assert_eq!(layout.links[12].rate.0, 10_000_000_000);
        assert_eq!(layout.hosts().len(), 20);
        let (src, dst) = layout.pairs[6];
        assert_eq!((layout.name(src), layout.name(dst)), ("h6", "h16"));
    }

    #[test]
    fn too_many_nodes_and_bad_rates_are_reported_at_their_keys() {
        let path_of = |extra: &str| net(extra).unwrap_err()[0].path.clone();
        assert_eq!(path_of(r#","switch_rate":0"#), "net.switch_rate");
        let many =
            r#"{"kind":"leaf-spine","leaves":100000,"spines":1,"hosts":41,"rate":1e9,"delay":0}"#;
        let problems = serde_json::from_str::<Net>(many).unwrap().layout("net").unwrap_err();
        assert_eq!(
            problems[0].to_string(),
            "net.hosts: is 41, which makes 4200001 nodes in all, expected at most 4000000"
        );
    }
}
