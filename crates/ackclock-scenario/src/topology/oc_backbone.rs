//! OC backbone: a synthetic map of points of presence with SONET speeds.
//!
//! **Source**: the shape is the Gabriel graph (K. R. Gabriel, R. R. Sokal, Systematic Zoology 18(3), 1969,
//! doi:10.2307/2412323), which resembles physical backbones (E. K. Çetinkaya et al., RNDM 2013); the number of
//! places and the speeds are those named in McCullough et al. 2010, section 8, for Level 3's map of 2006.
//!
//! **Rule**
//! ```text
//! places uniform in a rectangle w by w/2; a and b are linked if no place lies in the circle over the segment ab
//! links in order of betweenness: the first `oc192` share OC-192, the next `oc48` share OC-48, the others OC-12
//! delay = distance / 2e8 m/s
//! ```
//! Deviations: this is no operator's network. The defaults' shares are those of NTT's backbone of March 2011
//! (170 OC-192, 20 OC-48, 18 OC-12) in the Internet Topology Zoo.
//!
//! Defaults by era: the same in all.

use std::sync::LazyLock;

use super::adjacency::Adjacency;
use super::{Layout, Topology, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Ranges;
use crate::rng::{Purpose, Stream};
use crate::scenario::OcBackbone;
use crate::units::{BitRate, Span};

const OC192: BitRate = BitRate(9_953_280_000);
const OC48: BitRate = BitRate(2_488_320_000);
const OC12: BitRate = BitRate(622_080_000);

/// Speed of light in fibre [m/s].
const SIGNAL_SPEED: f64 = 2e8;

static RANGES: LazyLock<Ranges<4>> =
    LazyLock::new(|| Ranges::of::<OcBackbone>(["pops", "oc192", "oc48", "width_km"]));

impl Topology for OcBackbone {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        let mut problems =
            RANGES.problems(path, [self.pops.into(), self.oc192, self.oc48, self.width_km]);
        // Of both shares together: no attribute of one field.
        if problems.is_empty() && self.oc192 + self.oc48 > 1.0 {
            let sum = self.oc192 + self.oc48;
            let message = format!("and oc192 make {sum} of all links, expected at most 1");
            problems.push(Problem::new(format!("{path}.oc48"), message));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut rng = Stream::new(self.seed, Purpose::Topology, 0);
        let positions: Vec<(f64, f64)> = (0..self.pops)
            .map(|_| {
                let x = self.width_km * rng.uniform();
                (x, self.width_km / 2.0 * rng.uniform())
            })
            .collect();
        let graph = gabriel(&positions);
        let rates = rates(&graph, self.oc192, self.oc48);
        let nodes = (0..self.pops).map(|i| format!("p{i}")).collect();
        let mut layout = Layout { nodes, is_map: true, ..Layout::default() };
        let kind = layout.kind(path, links(self.buffer, &self.qdisc));
        for (&(a, b), rate) in graph.links().iter().zip(rates) {
            let km = square(positions[a as usize], positions[b as usize]).sqrt();
            let delay = Span::from_seconds(km * 1000.0 / SIGNAL_SPEED);
            layout.link(kind, [a, b].map(NodeId), rate, delay);
        }
        Ok(layout)
    }
}

fn square(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)
}

fn gabriel(positions: &[(f64, f64)]) -> Adjacency {
    let mut graph = Adjacency::new(positions.len());
    for a in 0..positions.len() {
        for b in a + 1..positions.len() {
            // Thales: c lies in the circle over ab where the angle at c is more than a right one.
            let between = (0..positions.len()).any(|c| {
                c != a
                    && c != b
                    && square(positions[a], positions[c]) + square(positions[c], positions[b])
                        < square(positions[a], positions[b])
            });
            if !between {
                graph.add_link(a as u32, b as u32);
            }
        }
    }
    graph
}

fn rates(graph: &Adjacency, oc192: f64, oc48: f64) -> Vec<BitRate> {
    let busy = graph.link_betweenness();
    let mut order: Vec<usize> = (0..busy.len()).collect();
    order.sort_by(|&a, &b| busy[b].total_cmp(&busy[a]));
    let n = busy.len() as f64;
    let (first, second) = ((oc192 * n).round() as usize, ((oc192 + oc48) * n).round() as usize);
    let mut rates = vec![OC12; busy.len()];
    for (rank, &link) in order.iter().enumerate() {
        if rank < first {
            rates[link] = OC192;
        } else if rank < second {
            rates[link] = OC48;
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Net;

    #[test]
    fn a_place_between_two_others_parts_them() {
        // (1, 0.5) lies in the circle over (0, 0)-(2, 0); (5, 9) in none.
        let graph = gabriel(&[(0.0, 0.0), (2.0, 0.0), (1.0, 0.5), (5.0, 9.0)]);
        assert!(!graph.links().contains(&(0, 1)));
        assert!(graph.links().contains(&(0, 2)) && graph.links().contains(&(1, 2)));
    }

    #[test]
    fn the_default_has_66_places_in_one_piece_and_three_speeds() {
        let net: Net = serde_json::from_str(r#"{"kind":"oc-backbone"}"#).unwrap();
        let layout = net.layout("net").unwrap();
        assert_eq!(layout.nodes.len(), 66);
        let of = |rate| layout.links.iter().filter(|l| l.rate == rate).count() as f64;
        let all = layout.links.len() as f64;
        assert!((of(OC192) / all - 0.82).abs() < 0.01);
        assert!((of(OC12) / all - 0.08).abs() < 0.02);
        // A Gabriel graph contains the minimum spanning tree and is planar.
        let mut graph = Adjacency::new(66);
        for l in &layout.links {
            graph.add_link(l.a.0, l.b.0);
        }
        assert_eq!(graph.largest_component().nodes(), 66);
        assert!(layout.links.len() <= 3 * 66 - 8);
    }
}
