//! Star: hosts around one router.

use super::{Layout, Topology, count, link};
use crate::error::Problem;
use crate::scenario::Star;

impl Topology for Star {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        count(path, "hosts", u64::from(self.hosts), 2)?;
        let mut layout = Layout { nodes: vec!["r".into()], ..Layout::default() };
        for i in 0..self.hosts {
            let mut spoke = link(format!("h{i}"), "r", self.rate, self.delay);
            spoke.buffer = self.buffer;
            spoke.qdisc = self.qdisc.clone();
            layout.links.push((path.to_owned(), spoke));
            layout.nodes.push(format!("h{i}"));
            layout.pairs.push((format!("h{i}"), format!("h{}", (i + 1) % self.hosts)));
        }
        Ok(layout)
    }
}
