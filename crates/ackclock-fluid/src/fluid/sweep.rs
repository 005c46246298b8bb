//! What any mixture of links makes of given demands: sweeps over the links until nothing changes.
//!
//! Links are taken in the order in which flows cross them. Where routes lead in no circle, one sweep
//! is the exact answer. Links that feed each other in a circle (the strongly connected components of
//! the graph of links) are swept together until no rate changes by more than the tolerance; after
//! that the links behind them are taken once. Where sweeps do not settle, changes are taken in part
//! (damped), and if that does not help either, the result is an error that names the links.
//!
//! **Source**: McCullough, Raghavan, Snoeren, sections 4.2 and 4.3 ("iterate until flow utilization
//! has been calculated for each edge"); the order is R. Tarjan, "Depth-first search and linear graph
//! algorithms", SIAM J. Computing 1 (1972), doi:10.1137/0201010.

use crate::sharing::Arrivals;

use super::{FluidError, FluidNet, Outcome, Routers};

/// When sweeps end.
#[derive(Clone, Copy, Debug)]
pub struct SweepOptions {
    /// Change of a rate, relative to the link's capacity, below which a component has settled.
    pub tolerance: f64,
    /// Most sweeps over one component.
    pub limit: usize,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self { tolerance: 1e-12, limit: 2000 }
    }
}

/// Sweeps before changes are halved, and again after each as many.
const PATIENCE: usize = 250;

/// Links named in an error.
const NAMED: usize = 10;

/// Rates of all flows where links share as `routers` says. Demands must be finite.
///
/// # Errors
/// Links that feed each other in a circle did not settle.
pub fn sweep(
    net: &FluidNet,
    demand: &[f64],
    routers: &Routers,
    options: &SweepOptions,
) -> Result<Outcome, FluidError> {
    Sweeper::new(net).run(demand, routers, options)
}

/// The order of the links, kept for many sweeps of one network.
pub(super) struct Sweeper<'a> {
    net: &'a FluidNet,
    /// Links by component, in the order in which flows cross them.
    order: Vec<u32>,
    /// Where each component ends in `order`.
    ends: Vec<u32>,
    /// Per link and crossing flow, as in [`FluidNet::crossing`], the place of the hop.
    link_hops: Vec<u32>,
}

impl<'a> Sweeper<'a> {
    pub(super) fn new(net: &'a FluidNet) -> Self {
        let mut next = net.link_offsets.clone();
        let mut link_hops = vec![0; net.total_hops()];
        for (hop, &link) in net.hops.iter().enumerate() {
            link_hops[next[link as usize] as usize] = hop as u32;
            next[link as usize] += 1;
        }
        let (order, ends) = components(net, &link_hops);
        Self { net, order, ends, link_hops }
    }

    pub(super) fn run(
        &self,
        demand: &[f64],
        routers: &Routers,
        options: &SweepOptions,
    ) -> Result<Outcome, FluidError> {
        let (outcome, restless) = self.run_on(demand, routers, options);
        restless.map_or(Ok(outcome), Err)
    }

    /// As `run`, but where links did not settle their last rates are given beside the error.
    pub(super) fn run_on(
        &self,
        demand: &[f64],
        routers: &Routers,
        options: &SweepOptions,
    ) -> (Outcome, Option<FluidError>) {
        let net = self.net;
        let mut leaving = vec![0.0; net.total_hops()];
        for flow in 0..net.flows() {
            leaving[net.range(flow)].fill(demand[flow]);
        }
        let mut work = Work { demand, routers, leaving, scratch: Scratch::default() };
        let (mut begin, mut most) = (0, 1);
        let mut restless = None;
        for &end in &self.ends {
            let members = &self.order[begin as usize..end as usize];
            begin = end;
            if let [link] = members {
                work.share(self, *link, 1.0);
                continue;
            }
            match self.settle(members, &mut work, options) {
                Ok(sweeps) => most = most.max(sweeps),
                Err(error) => {
                    most = most.max(options.limit);
                    restless = restless.or(Some(error));
                }
            }
        }
        (Outcome { demand: demand.to_vec(), leaving: work.leaving, sweeps: most }, restless)
    }

    /// Sweeps over links that feed each other until they settle; gives the number of sweeps.
    fn settle(
        &self,
        members: &[u32],
        work: &mut Work<'_>,
        options: &SweepOptions,
    ) -> Result<usize, FluidError> {
        let mut step = 1.0;
        let mut change = f64::INFINITY;
        for sweep in 1..=options.limit {
            change = 0.0;
            for &link in members {
                change = f64::max(change, work.share(self, link, step));
            }
            if change <= options.tolerance {
                return Ok(sweep);
            }
            if sweep % PATIENCE == 0 {
                step *= 0.5;
            }
        }
        let mut restless: Vec<(f64, u32)> = members
            .iter()
            .map(|&link| (work.share(self, link, 0.0), link))
            .filter(|(c, _)| *c > options.tolerance)
            .collect();
        restless.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let links = restless.iter().take(NAMED).map(|r| r.1).collect();
        Err(FluidError::NotConverged { links, change, sweeps: options.limit })
    }
}

#[derive(Default)]
struct Scratch {
    arriving: Vec<f64>,
    weight: Vec<f64>,
    sharing: Vec<f64>,
}

struct Work<'a> {
    demand: &'a [f64],
    routers: &'a Routers,
    leaving: Vec<f64>,
    scratch: Scratch,
}

impl Work<'_> {
    /// Lets one link share anew and takes over `step` of the change; gives the change in full.
    fn share(&mut self, sweeper: &Sweeper<'_>, link: u32, step: f64) -> f64 {
        let net = sweeper.net;
        let link = link as usize;
        let flows = net.crossing(link);
        let hops = &sweeper.link_hops[net.link_offsets[link] as usize..][..flows.len()];
        let scratch = &mut self.scratch;
        scratch.arriving.clear();
        scratch.weight.clear();
        for (&flow, &hop) in flows.iter().zip(hops) {
            let first = hop == net.offsets[flow as usize];
            scratch.arriving.push(if first {
                self.demand[flow as usize]
            } else {
                self.leaving[hop as usize - 1]
            });
            if !net.weight.is_empty() {
                scratch.weight.push(net.weight[flow as usize]);
            }
        }
        scratch.sharing.resize(flows.len(), 0.0);
        let arrivals = Arrivals {
            capacity: net.capacity[link],
            rate: &scratch.arriving,
            weight: &scratch.weight,
        };
        self.routers.rule(link).share(&arrivals, &mut scratch.sharing);
        let mut change = 0.0f64;
        for (&hop, &new) in hops.iter().zip(&scratch.sharing) {
            let old = &mut self.leaving[hop as usize];
            change = change.max((new - *old).abs());
            *old = if step == 1.0 { new } else { *old + step * (new - *old) };
        }
        change / net.capacity[link]
    }
}

/// The strongly connected components of the graph "a flow crosses a, then b", in the order of that
/// graph: all links, and where each component ends.
fn components(net: &FluidNet, link_hops: &[u32]) -> (Vec<u32>, Vec<u32>) {
    const NEW: u32 = u32::MAX;
    let links = net.links();
    // The link after the i-th crossing of the transposed arrays, if its flow goes on.
    let after = |i: usize| {
        let (flow, hop) = (net.link_flows[i] as usize, link_hops[i] + 1);
        (hop < net.offsets[flow + 1]).then(|| net.hops[hop as usize])
    };
    let (mut index, mut low) = (vec![NEW; links], vec![0u32; links]);
    let mut on_stack = vec![false; links];
    let mut stack: Vec<u32> = Vec::new();
    let mut calls: Vec<(u32, u32)> = Vec::new();
    let (mut order, mut sizes) = (Vec::with_capacity(links), Vec::new());
    let mut count = 0;
    for root in 0..links as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        calls.push((root, net.link_offsets[root as usize]));
        while let Some((link, position)) = calls.pop() {
            let v = link as usize;
            if index[v] == NEW {
                (index[v], low[v]) = (count, count);
                count += 1;
                stack.push(link);
                on_stack[v] = true;
            }
            let end = net.link_offsets[v + 1];
            let mut i = position;
            let mut descended = false;
            while i < end {
                if let Some(next) = after(i as usize) {
                    let w = next as usize;
                    if index[w] == NEW {
                        // Come back to this crossing: by then the other is finished.
                        calls.push((link, i));
                        calls.push((next, net.link_offsets[w]));
                        descended = true;
                        break;
                    }
                    if on_stack[w] {
                        low[v] = low[v].min(low[w]);
                    }
                }
                i += 1;
            }
            if descended || low[v] != index[v] {
                continue;
            }
            let size = order.len();
            while let Some(member) = stack.pop() {
                on_stack[member as usize] = false;
                order.push(member);
                if member == link {
                    break;
                }
            }
            sizes.push(order.len() - size);
        }
    }
    // Tarjan finds the last component first.
    order.reverse();
    let mut ends = Vec::with_capacity(sizes.len());
    let mut end = 0;
    for size in sizes.iter().rev() {
        end += *size as u32;
        ends.push(end);
    }
    (order, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fluid::brick_wall;
    use crate::sharing::max_min::MaxMin;
    use crate::sharing::proportional::Proportional;

    #[test]
    fn links_come_in_the_order_in_which_flows_cross_them() {
        // 3 -> 1 -> 0, and 2 -> 3: no circle, so the order is forced but for nothing.
        let net = FluidNet::new(vec![1.0; 4], vec![0, 3, 5], vec![3, 1, 0, 2, 3], vec![]).unwrap();
        let sweeper = Sweeper::new(&net);
        assert_eq!(sweeper.order, [2, 3, 1, 0]);
        assert_eq!(sweeper.ends, [1, 2, 3, 4]);
    }

    #[test]
    fn a_circle_is_one_component() {
        let net = FluidNet::new(vec![1.0; 4], vec![0, 2, 4, 7], vec![0, 1, 1, 2, 2, 0, 3], vec![])
            .unwrap();
        let sweeper = Sweeper::new(&net);
        assert_eq!(sweeper.ends, [3, 4]);
        assert_eq!(sweeper.order[3], 3);
    }

    #[test]
    fn proportional_links_in_a_circle_have_the_symmetric_answer() {
        // Three links of 1 in a circle, three flows over two links, each sends 1. A flow passes its
        // first link with x and its second with y: x = 1 / (1 + x), the golden ratio; y = x * x.
        let net =
            FluidNet::new(vec![1.0; 3], vec![0, 2, 4, 6], vec![0, 1, 1, 2, 2, 0], vec![]).unwrap();
        let routers = Routers::all(Box::new(Proportional));
        let outcome = sweep(&net, &[1.0; 3], &routers, &SweepOptions::default()).unwrap();
        let golden = (5f64.sqrt() - 1.0) / 2.0;
        for pair in outcome.leaving.chunks(2) {
            assert!(
                (pair[0] - golden).abs() < 1e-11 && (pair[1] - golden * golden).abs() < 1e-11,
                "{pair:?}"
            );
        }
    }

    #[test]
    fn links_that_do_not_settle_are_named() {
        let net =
            FluidNet::new(vec![1.0; 3], vec![0, 2, 4, 6], vec![0, 1, 1, 2, 2, 0], vec![]).unwrap();
        let routers = Routers::all(Box::new(Proportional));
        let hurried = SweepOptions { limit: 3, ..SweepOptions::default() };
        let Err(FluidError::NotConverged { links, change, sweeps }) =
            sweep(&net, &[1.0; 3], &routers, &hurried)
        else {
            panic!("settled in three sweeps");
        };
        assert!(!links.is_empty() && change > 1e-12 && sweeps == 3);
    }

    #[test]
    fn max_min_links_swept_agree_with_the_exact_pass() {
        let net =
            FluidNet::new(vec![1.0, 0.7, 1.3], vec![0, 2, 4, 6], vec![0, 1, 1, 2, 2, 0], vec![])
                .unwrap();
        let routers = Routers::all(Box::new(MaxMin));
        let swept = sweep(&net, &[1.0, 0.2, 1.0], &routers, &SweepOptions::default()).unwrap();
        let exact = brick_wall(&net, &[1.0, 0.2, 1.0]);
        for (a, b) in swept.leaving.iter().zip(&exact.leaving) {
            assert!((a - b).abs() < 1e-11, "{swept:?} {exact:?}");
        }
    }
}
