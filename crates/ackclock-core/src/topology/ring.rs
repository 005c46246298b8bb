//! Ring: routers in a circle, a host at each; every pair crosses the same number of ring links.
//!
//! **Source**: Akella, Seshan, Shenker & Stoica 2002, footnote 6 (two bottlenecks on each path).

use super::{Layout, Topology, access_path, access_rate, count, link};
use crate::error::Problem;
use crate::scenario::Ring;

impl Topology for Ring {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        count(path, "routers", u64::from(self.routers), 3)?;
        let n = self.routers;
        if self.span == 0 || self.span > (n - 1) / 2 {
            let message = format!(
                "is {}, expected 1 to {} so that the shorter way round is unique",
                self.span,
                (n - 1) / 2
            );
            return Err(vec![Problem::new(format!("{path}.span"), message)]);
        }
        let access = access_rate(path, self.access_rate, self.rate).map_err(|p| vec![p])?;
        let mut layout =
            Layout { nodes: (0..n).map(|i| format!("r{i}")).collect(), ..Layout::default() };
        let mut links = Vec::new();
        for i in 0..n {
            let mut hop = link(format!("r{i}"), format!("r{}", (i + 1) % n), self.rate, self.delay);
            hop.buffer = self.buffer;
            hop.qdisc = self.qdisc.clone();
            links.push((path.to_owned(), hop));
        }
        for i in 0..n {
            let access = link(format!("h{i}"), format!("r{i}"), access, self.access_delay);
            links.push((access_path(path), access));
            layout.nodes.push(format!("h{i}"));
            layout.pairs.push((format!("h{i}"), format!("h{}", (i + self.span) % n)));
        }
        layout.links = links;
        Ok(layout)
    }
}
