//! Capacities and routes as flat arrays: what the fluid engine works on.
//!
//! Routes are one array of link numbers; `offsets` gives where each flow's begins. The transposed
//! arrays list which flows cross each link; they are built by counting, in the order of the flows.
//! One hop of one flow takes 8 bytes, and a flow 4 bytes more.

use crate::error::Problem;

use super::FluidError;

/// A network of links with capacities, and flows with routes.
#[derive(Clone, Debug, Default)]
pub struct FluidNet {
    pub(super) capacity: Vec<f64>,
    pub(super) offsets: Vec<u32>,
    pub(super) hops: Vec<u32>,
    pub(super) weight: Vec<f64>,
    pub(super) link_offsets: Vec<u32>,
    pub(super) link_flows: Vec<u32>,
}

/// Problems reported of one kind; the rest is counted.
const MOST_LISTED: usize = 20;

impl FluidNet {
    /// A network. `offsets` has one entry more than there are flows; `weight` may be empty.
    ///
    /// # Errors
    /// Every problem: capacities and weights that are not above 0, routes that are empty, visit a
    /// link twice or name one that is not there.
    pub fn new(
        capacity: Vec<f64>,
        offsets: Vec<u32>,
        hops: Vec<u32>,
        weight: Vec<f64>,
    ) -> Result<Self, FluidError> {
        let problems = problems(&capacity, &offsets, &hops, &weight);
        if !problems.is_empty() {
            return Err(FluidError::Input(problems));
        }
        let mut net = Self {
            capacity,
            offsets,
            hops,
            weight,
            link_offsets: Vec::new(),
            link_flows: Vec::new(),
        };
        net.transpose();
        Ok(net)
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.capacity.len()
    }

    /// Number of flows.
    pub fn flows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Total length of all routes.
    pub fn total_hops(&self) -> usize {
        self.hops.len()
    }

    /// Capacity of each link.
    pub fn capacity(&self) -> &[f64] {
        &self.capacity
    }

    /// Links of a flow in the order in which it crosses them.
    #[inline]
    pub fn route(&self, flow: usize) -> &[u32] {
        &self.hops[self.range(flow)]
    }

    /// Where the hops of a flow are in arrays with one entry per hop.
    #[inline]
    pub fn range(&self, flow: usize) -> std::ops::Range<usize> {
        self.offsets[flow] as usize..self.offsets[flow + 1] as usize
    }

    /// Flows that cross a link, in the order of their numbers.
    #[inline]
    pub fn crossing(&self, link: usize) -> &[u32] {
        &self.link_flows[self.link_offsets[link] as usize..self.link_offsets[link + 1] as usize]
    }

    /// Where the hops of a route begin, and one entry more.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All routes, one after the other.
    pub fn hops(&self) -> &[u32] {
        &self.hops
    }

    /// Weight of a flow.
    #[inline]
    pub fn weight(&self, flow: usize) -> f64 {
        super::or(&self.weight, flow, 1.0)
    }

    /// Weight of each flow; empty where all weigh 1.
    pub fn weights(&self) -> &[f64] {
        &self.weight
    }

    /// The link on which a flow begins: that of its sender.
    #[inline]
    pub fn first_link(&self, flow: usize) -> u32 {
        self.hops[self.offsets[flow] as usize]
    }

    /// The position of a link in a flow's route.
    #[inline]
    pub(super) fn position(&self, flow: usize, link: u32) -> usize {
        self.route(flow)
            .iter()
            .position(|&hop| hop == link)
            .expect("invariant: the transposed arrays name flows that cross the link")
    }

    /// Flows by sender: the flows that begin on each link, as offsets and flow numbers.
    pub(super) fn by_sender(&self) -> (Vec<u32>, Vec<u32>) {
        group(self.links(), (0..self.flows()).map(|flow| (self.first_link(flow), flow as u32)))
    }

    /// Writes the transposed arrays anew.
    pub(super) fn transpose(&mut self) {
        let pairs = (0..self.flows())
            .flat_map(|flow| self.route(flow).iter().map(move |&link| (link, flow as u32)));
        (self.link_offsets, self.link_flows) = group(self.links(), pairs);
    }

    /// A network with these links whose flows are the given ones of this network, each as often as
    /// it is named.
    #[must_use]
    pub fn of_flows(&self, flows: impl Iterator<Item = u32> + Clone) -> Self {
        let mut net = Self { capacity: self.capacity.clone(), offsets: vec![0], ..Self::default() };
        for flow in flows.clone() {
            net.hops.extend_from_slice(self.route(flow as usize));
            net.offsets.push(net.hops.len() as u32);
        }
        if !self.weight.is_empty() {
            net.weight = flows.map(|flow| self.weight[flow as usize]).collect();
        }
        net.transpose();
        net
    }
}

/// Sorts items by key by counting: offsets per key, then the items.
pub(super) fn group(
    keys: usize,
    pairs: impl Iterator<Item = (u32, u32)> + Clone,
) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0u32; keys + 1];
    for (key, _) in pairs.clone() {
        offsets[key as usize + 1] += 1;
    }
    for key in 0..keys {
        offsets[key + 1] += offsets[key];
    }
    let mut items = vec![0u32; offsets[keys] as usize];
    let mut next = offsets.clone();
    for (key, item) in pairs {
        let cursor = &mut next[key as usize];
        items[*cursor as usize] = item;
        *cursor += 1;
    }
    (offsets, items)
}

/// Collects problems, the first few of each kind in words.
struct Collected {
    problems: Vec<Problem>,
    kinds: Vec<(&'static str, usize)>,
}

impl Collected {
    fn add(
        &mut self,
        kind: &'static str,
        path: impl FnOnce() -> String,
        message: impl FnOnce() -> String,
    ) {
        let index = self.kinds.iter().position(|k| k.0 == kind).unwrap_or_else(|| {
            self.kinds.push((kind, 0));
            self.kinds.len() - 1
        });
        self.kinds[index].1 += 1;
        if self.kinds[index].1 <= MOST_LISTED {
            self.problems.push(Problem::new(path(), message()));
        }
    }

    fn finish(mut self) -> Vec<Problem> {
        for (kind, count) in self.kinds {
            if count > MOST_LISTED {
                self.problems
                    .push(Problem::new(kind, format!("{} more of this kind", count - MOST_LISTED)));
            }
        }
        self.problems
    }
}

fn problems(capacity: &[f64], offsets: &[u32], hops: &[u32], weight: &[f64]) -> Vec<Problem> {
    let mut collected = Collected { problems: Vec::new(), kinds: Vec::new() };
    for (i, c) in capacity.iter().enumerate() {
        if !(c.is_finite() && *c > 0.0) {
            collected.add(
                "capacity",
                || format!("capacity[{i}]"),
                || format!("is {c}, expected a number above 0"),
            );
        }
    }
    let in_order = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if offsets.first() != Some(&0)
        || offsets.last().map(|&end| end as usize) != Some(hops.len())
        || !in_order
    {
        collected.add(
            "offsets",
            || "offsets".to_owned(),
            || format!("must rise from 0 to the number of hops, {}", hops.len()),
        );
        return collected.finish();
    }
    let flows = offsets.len() - 1;
    if !weight.is_empty() && weight.len() != flows {
        collected.add(
            "weight",
            || "weight".to_owned(),
            || format!("has {} entries for {flows} flows", weight.len()),
        );
    }
    for (i, w) in weight.iter().enumerate() {
        if !(w.is_finite() && *w > 0.0) {
            collected.add(
                "weight",
                || format!("weight[{i}]"),
                || format!("is {w}, expected a number above 0"),
            );
        }
    }
    // The last flow that visited each link.
    let mut visited = vec![u32::MAX; capacity.len()];
    for flow in 0..flows {
        let route = &hops[offsets[flow] as usize..offsets[flow + 1] as usize];
        if route.is_empty() {
            collected.add(
                "routes[*]",
                || format!("routes[{flow}]"),
                || "has no links; a flow must cross one or more".to_owned(),
            );
        }
        for &link in route {
            match visited.get_mut(link as usize) {
                None => collected.add(
                    "routes",
                    || format!("routes[{flow}]"),
                    || format!("names link {link}; there are {}, numbered from 0", capacity.len()),
                ),
                Some(last) if *last == flow as u32 => {
                    collected.add(
                        "routes",
                        || format!("routes[{flow}]"),
                        || format!("crosses link {link} twice"),
                    );
                }
                Some(last) => *last = flow as u32,
            }
        }
    }
    collected.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_of_a_link_are_found_in_their_order() {
        let net =
            FluidNet::new(vec![1.0; 3], vec![0, 2, 3, 5], vec![0, 2, 2, 1, 2], vec![]).unwrap();
        assert_eq!(net.crossing(0), [0]);
        assert_eq!(net.crossing(1), [2]);
        assert_eq!(net.crossing(2), [0, 1, 2]);
        assert_eq!(net.by_sender(), (vec![0, 1, 2, 3], vec![0, 2, 1]));
    }

    #[test]
    fn every_problem_is_reported() {
        let bad = FluidNet::new(
            vec![1.0, f64::NAN, 0.0],
            vec![0, 0, 2, 3],
            vec![0, 0, 7],
            vec![1.0, -1.0, 1.0],
        );
        let Err(FluidError::Input(problems)) = bad else { panic!("accepted") };
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "capacity[1]: is NaN, expected a number above 0",
                "capacity[2]: is 0, expected a number above 0",
                "weight[1]: is -1, expected a number above 0",
                "routes[0]: has no links; a flow must cross one or more",
                "routes[1]: crosses link 0 twice",
                "routes[2]: names link 7; there are 3, numbered from 0",
            ]
        );
    }
}
