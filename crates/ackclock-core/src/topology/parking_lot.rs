//! Parking lot: a chain of bottlenecks, one long path, a cross path over each.

use super::{Layout, Topology, access_path, access_rate, count, link};
use crate::error::Problem;
use crate::scenario::ParkingLot;

impl Topology for ParkingLot {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        count(path, "hops", u64::from(self.hops), 1)?;
        let access = access_rate(path, self.access_rate, self.rate).map_err(|p| vec![p])?;
        let mut layout = Layout {
            nodes: (0..=self.hops).map(|i| format!("r{i}")).collect(),
            ..Layout::default()
        };
        let mut links = Vec::new();
        for i in 0..self.hops {
            let mut hop = link(format!("r{i}"), format!("r{}", i + 1), self.rate, self.delay);
            hop.buffer = self.buffer;
            hop.qdisc = self.qdisc.clone();
            links.push((path.to_owned(), hop));
        }
        // Pair 0 goes all the way, pair i over hop i.
        let ends = std::iter::once((0, self.hops)).chain((0..self.hops).map(|i| (i, i + 1)));
        for (i, (from, to)) in ends.enumerate() {
            let (s, d) = (format!("s{i}"), format!("d{i}"));
            let left = link(s.as_str(), format!("r{from}"), access, self.access_delay);
            let right = link(format!("r{to}"), d.as_str(), access, self.access_delay);
            links.extend([left, right].map(|link| (access_path(path), link)));
            layout.nodes.extend([s.clone(), d.clone()]);
            layout.pairs.push((s, d));
        }
        layout.links = links;
        Ok(layout)
    }
}
