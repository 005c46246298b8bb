//! Parking lot: a chain of bottlenecks, one long path, a cross path over each.

use std::sync::LazyLock;

use super::{Layout, Topology, access_rate, check_nodes, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Ranges;
use crate::scenario::ParkingLot;
use crate::units::BufferSize;

static RANGES: LazyLock<Ranges<1>> = LazyLock::new(|| Ranges::of::<ParkingLot>(["hops"]));

impl Topology for ParkingLot {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        RANGES.check(path, [self.hops.into()])?;
        check_nodes(path, "hops", self.hops, 3 * u64::from(self.hops) + 3)?;
        let access = access_rate(path, self.access_rate, self.rate).map_err(|p| vec![p])?;
        let mut layout = Layout::default();
        let routers: Vec<NodeId> = (0..=self.hops).map(|i| layout.node(format!("r{i}"))).collect();
        let hop = layout.kind(path, links(self.buffer, &self.qdisc));
        let spoke = layout.access_kind(path, BufferSize::Unlimited);
        for ends in routers.windows(2) {
            layout.link(hop, [ends[0], ends[1]], self.rate, self.delay);
        }
        // Pair 0 goes all the way, pair i over hop i.
        let ends = [(routers[0], routers[self.hops as usize])];
        let ends = ends.into_iter().chain(routers.windows(2).map(|ends| (ends[0], ends[1])));
        for (i, (from, to)) in ends.enumerate() {
            let (s, d) = (layout.node(format!("s{i}")), layout.node(format!("d{i}")));
            layout.link(spoke, [s, from], access, self.access_delay);
            layout.link(spoke, [to, d], access, self.access_delay);
            layout.pairs.push((s, d));
        }
        Ok(layout)
    }
}
