//! Ring: routers in a circle, a host at each; every pair crosses the same number of ring links.
//!
//! **Source**: Akella, Seshan, Shenker & Stoica 2002, footnote 6 (two bottlenecks on each path).

use std::sync::LazyLock;

use super::{Layout, Topology, access_rate, check_nodes, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Ranges;
use crate::scenario::Ring;
use crate::units::BufferSize;

static RANGES: LazyLock<Ranges<2>> = LazyLock::new(|| Ranges::of::<Ring>(["routers", "span"]));

impl Topology for Ring {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        RANGES.check(path, [self.routers.into(), self.span.into()])?;
        check_nodes(path, "routers", self.routers, 2 * u64::from(self.routers))?;
        let n = self.routers;
        // The most depends on the number of routers: no attribute of one field.
        if self.span > (n - 1) / 2 {
            let message = format!(
                "is {}, expected at most {} with {n} routers, so that the shorter way round is unique",
                self.span,
                (n - 1) / 2
            );
            return Err(vec![Problem::new(format!("{path}.span"), message)]);
        }
        let access = access_rate(path, self.access_rate, self.rate).map_err(|p| vec![p])?;
        let mut layout = Layout::default();
        let mut nodes = |letter| -> Vec<NodeId> {
            (0..n).map(|i| layout.node(format!("{letter}{i}"))).collect()
        };
        let (routers, hosts) = (nodes('r'), nodes('h'));
        let hop = layout.kind(path, links(self.buffer, &self.qdisc));
        let spoke = layout.access_kind(path, BufferSize::Unlimited);
        let on = |nodes: &[NodeId], i: u32| nodes[(i % n) as usize];
        for i in 0..n {
            layout.link(hop, [on(&routers, i), on(&routers, i + 1)], self.rate, self.delay);
        }
        for i in 0..n {
            layout.link(spoke, [on(&hosts, i), on(&routers, i)], access, self.access_delay);
            layout.pairs.push((on(&hosts, i), on(&hosts, i + self.span)));
        }
        Ok(layout)
    }
}
