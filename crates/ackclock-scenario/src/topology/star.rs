//! Star: hosts around one router.

use std::sync::LazyLock;

use super::{Layout, Topology, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Ranges;
use crate::scenario::Star;

static RANGES: LazyLock<Ranges<1>> = LazyLock::new(|| Ranges::of::<Star>(["hosts"]));

impl Topology for Star {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        RANGES.check(path, [self.hosts.into()])?;
        let mut layout = Layout::default();
        let router = layout.node("r".to_owned());
        let spoke = layout.kind(path, links(self.buffer, &self.qdisc));
        let hosts: Vec<NodeId> = (0..self.hosts).map(|i| layout.node(format!("h{i}"))).collect();
        for (&host, &next) in hosts.iter().zip(hosts.iter().cycle().skip(1)) {
            layout.link(spoke, [host, router], self.rate, self.delay);
            layout.pairs.push((host, next));
        }
        Ok(layout)
    }
}
