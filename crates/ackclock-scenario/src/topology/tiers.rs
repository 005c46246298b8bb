//! Tiers: a WAN, MANs on it, LANs on each MAN, from the eleven arguments of Doar's generator.
//!
//! **Source**: M. B. Doar, "A better model for generating test networks", GLOBECOM 1996,
//! doi:10.1109/GLOCOM.1996.586131; K. Calvert, M. Doar, E. Zegura, IEEE Communications 35(6), 1997,
//! doi:10.1109/35.587723; the call `tiers 1 20 9 5 2 1 3 1 1 1 1` of Legout & Biersack 1999, appendix A.
//!
//! **Rule**
//! ```text
//! WAN nodes uniform in a square; each MAN's square has a uniform place in the WAN's, each LAN's in its MAN's
//! WAN, MAN: minimum spanning tree by distance (Prim), then the (R - 1) shortest missing links
//! LAN: a star around its first node, then the (R - 1) shortest missing links
//! a MAN's first node is linked to the RMW nearest WAN nodes, a LAN's first node to the RLM nearest of its MAN
//! delay = distance / signal speed; a link between tiers has the rate of the lower one, unless one is given
//! traffic patterns draw from the nodes of LANs, without the first where a LAN has several
//! ```
//! Deviations: the program's source was not to be had. That R counts links beyond a tree, plus one, follows from
//! the 5 nodes and 6 links of the paper's WAN (R = 3). The original places nodes on grids and may reject near
//! ones; here places are uniform. Sides of squares and rates between tiers are parameters: the paper states neither.
//!
//! Defaults by era: the same in all.

use std::sync::LazyLock;

use super::{Layout, MAX_NODES, Topology, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Ranges;
use crate::rng::{Purpose, Stream};
use crate::scenario::Tiers;
use crate::units::{BitRate, Span};

/// A place in the plane [km].
type Place = (f64, f64);

impl Topology for Tiers {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        self.check(path)?;
        let mut rng = Stream::new(self.seed, Purpose::Topology, 0);
        let mut layout = Layout::default();
        let kind = layout.kind(path, links(self.buffer, &self.qdisc));
        let mut maker = Maker { kind, signal_speed: self.signal_speed, layout };
        let wan = places((0.0, 0.0), self.wan_km, self.wan_nodes, &mut rng);
        let wan_nodes = maker.nodes("w", &wan);
        maker.network(&wan_nodes, &wan, &spanning_tree(&wan), self.wan_redundancy, self.wan_rate);
        for m in 0..self.mans {
            let man = places(
                spot((0.0, 0.0), self.wan_km, &mut rng),
                self.man_km,
                self.man_nodes,
                &mut rng,
            );
            let man_nodes = maker.nodes(&format!("m{m}."), &man);
            maker.network(
                &man_nodes,
                &man,
                &spanning_tree(&man),
                self.man_redundancy,
                self.man_rate,
            );
            let rate = self.man_wan_rate.unwrap_or(self.man_rate);
            maker.up(man_nodes[0], man[0], &wan_nodes, &wan, self.man_wan_redundancy, rate);
            for l in 0..self.lans {
                let corner = (man[0].0, man[0].1);
                let lan = places(
                    spot(corner, self.man_km, &mut rng),
                    self.lan_km,
                    self.lan_nodes,
                    &mut rng,
                );
                let nodes = maker.nodes(&format!("l{m}.{l}."), &lan);
                let star: Vec<(usize, usize)> = (1..lan.len()).map(|i| (0, i)).collect();
                maker.network(&nodes, &lan, &star, self.lan_redundancy, self.lan_rate);
                // The first node of a LAN is its router, and its host where it has no other. A MAN's
                // node without LANs has one link too, and is no host.
                let hosts = if nodes.len() > 1 { &nodes[1..] } else { &nodes[..] };
                maker.layout.ends.extend(hosts);
                let rate = self.lan_man_rate.unwrap_or(self.lan_rate);
                maker.up(nodes[0], lan[0], &man_nodes, &man, self.lan_man_redundancy, rate);
            }
        }
        Ok(maker.layout)
    }
}

/// Numbers that have a range each.
const FIELDS: [&str; 13] = [
    "wans",
    "wan_nodes",
    "man_nodes",
    "lan_nodes",
    "wan_redundancy",
    "man_redundancy",
    "lan_redundancy",
    "man_wan_redundancy",
    "lan_man_redundancy",
    "wan_km",
    "man_km",
    "lan_km",
    "signal_speed",
];
static RANGES: LazyLock<Ranges<13>> = LazyLock::new(|| Ranges::of::<Tiers>(FIELDS));

impl Tiers {
    fn check(&self, path: &str) -> Result<(), Vec<Problem>> {
        let mut problems = RANGES.problems(
            path,
            [
                self.wans.into(),
                self.wan_nodes.into(),
                self.man_nodes.into(),
                self.lan_nodes.into(),
                self.wan_redundancy.into(),
                self.man_redundancy.into(),
                self.lan_redundancy.into(),
                self.man_wan_redundancy.into(),
                self.lan_man_redundancy.into(),
                self.wan_km,
                self.man_km,
                self.lan_km,
                self.signal_speed,
            ],
        );
        // How many links there may be depends on the nodes: no attribute of one field.
        let mut most = |key: &str, links: u32, most: u64, nodes: u32| {
            if u64::from(links) > most {
                let message = format!("is {links}, expected at most {most} with {nodes} nodes");
                problems.push(Problem::new(format!("{path}.{key}"), message));
            }
        };
        for (key, redundancy, nodes) in [
            ("wan_redundancy", self.wan_redundancy, self.wan_nodes),
            ("man_redundancy", self.man_redundancy, self.man_nodes),
            ("lan_redundancy", self.lan_redundancy, self.lan_nodes),
        ] {
            // A complete graph has n (n - 1) / 2 links, n - 1 of which are the tree.
            let n = u64::from(nodes.max(1));
            most(key, redundancy, (n - 1) * n.saturating_sub(2) / 2 + 1, nodes);
        }
        for (key, links, nodes) in [
            ("man_wan_redundancy", self.man_wan_redundancy, self.wan_nodes),
            ("lan_man_redundancy", self.lan_man_redundancy, self.man_nodes),
        ] {
            most(key, links, nodes.max(1).into(), nodes);
        }
        let lans = u64::from(self.lans) * u64::from(self.lan_nodes);
        let all = (u64::from(self.man_nodes) + lans)
            .saturating_mul(u64::from(self.mans))
            .saturating_add(u64::from(self.wan_nodes));
        if !(2..=MAX_NODES).contains(&all) {
            let message =
                format!("and the other counts make {all} nodes, expected 2 to {MAX_NODES}");
            problems.push(Problem::new(format!("{path}.mans"), message));
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

struct Maker {
    /// Of all links.
    kind: u32,
    signal_speed: f64,
    layout: Layout,
}

impl Maker {
    /// The nodes at some places.
    fn nodes(&mut self, prefix: &str, positions: &[Place]) -> Vec<NodeId> {
        (0..positions.len()).map(|i| self.layout.node(format!("{prefix}{i}"))).collect()
    }

    /// The links of a network's tree and of its redundancy.
    fn network(
        &mut self,
        nodes: &[NodeId],
        positions: &[Place],
        tree: &[(usize, usize)],
        redundancy: u32,
        rate: BitRate,
    ) {
        let extra = shortest_missing(positions, tree, redundancy as usize - 1);
        for &(a, b) in tree.iter().chain(&extra) {
            self.link([nodes[a], nodes[b]], distance(positions[a], positions[b]), rate);
        }
    }

    /// Links from a network's first node to the nearest nodes of the one above it.
    fn up(
        &mut self,
        from: NodeId,
        position: Place,
        nodes: &[NodeId],
        positions: &[Place],
        links: u32,
        rate: BitRate,
    ) {
        let mut nearest: Vec<usize> = (0..positions.len()).collect();
        nearest.sort_by(|&a, &b| {
            distance(position, positions[a]).total_cmp(&distance(position, positions[b]))
        });
        for &node in nearest.iter().take(links as usize) {
            self.link([from, nodes[node]], distance(position, positions[node]), rate);
        }
    }

    fn link(&mut self, ends: [NodeId; 2], km: f64, rate: BitRate) {
        let delay = Span::from_seconds(km * 1000.0 / self.signal_speed);
        self.layout.link(self.kind, ends, rate, delay);
    }
}

fn spot(corner: Place, side: f64, rng: &mut Stream) -> Place {
    let x = corner.0 + side * rng.uniform();
    (x, corner.1 + side * rng.uniform())
}

fn places(corner: Place, side: f64, nodes: u32, rng: &mut Stream) -> Vec<Place> {
    (0..nodes).map(|_| spot(corner, side, rng)).collect()
}

fn distance(a: Place, b: Place) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Prim's minimum spanning tree, from the first node on.
fn spanning_tree(positions: &[Place]) -> Vec<(usize, usize)> {
    let mut nearest: Vec<(f64, usize)> =
        positions.iter().map(|p| (distance(positions[0], *p), 0)).collect();
    let mut outside: Vec<usize> = (1..positions.len()).collect();
    let mut tree = Vec::new();
    while let Some(index) =
        (0..outside.len()).min_by(|&a, &b| nearest[outside[a]].0.total_cmp(&nearest[outside[b]].0))
    {
        let node = outside.remove(index);
        tree.push((nearest[node].1, node));
        for &other in &outside {
            let d = distance(positions[node], positions[other]);
            if d < nearest[other].0 {
                nearest[other] = (d, node);
            }
        }
    }
    tree
}

/// The shortest links that are not in the tree.
fn shortest_missing(
    positions: &[Place],
    tree: &[(usize, usize)],
    most: usize,
) -> Vec<(usize, usize)> {
    if most == 0 {
        return Vec::new();
    }
    let has = |a, b| tree.contains(&(a, b)) || tree.contains(&(b, a));
    let mut missing: Vec<(usize, usize)> = (0..positions.len())
        .flat_map(|a| (a + 1..positions.len()).map(move |b| (a, b)))
        .filter(|&(a, b)| !has(a, b))
        .collect();
    missing.sort_by(|&(a, b), &(c, d)| {
        distance(positions[a], positions[b]).total_cmp(&distance(positions[c], positions[d]))
    });
    missing.truncate(most);
    missing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Net;

    fn layout(json: &str) -> Result<Layout, Vec<Problem>> {
        serde_json::from_str::<Net>(json).unwrap().layout("net")
    }

    #[test]
    fn the_call_of_legout_and_biersack_gives_their_counts_and_rates() {
        let tiers = layout(r#"{"kind":"tiers","seed":7}"#).unwrap();
        // 5 + 20 x 2 + 20 x 9 x 1 nodes; 6 WAN links, 20 inside MANs, 20 up, 180 up.
        assert_eq!((tiers.nodes.len(), tiers.links.len()), (225, 226));
        let in_wan = |node| tiers.name(node).starts_with('w');
        assert_eq!(tiers.links.iter().filter(|l| in_wan(l.a) && in_wan(l.b)).count(), 6);
        let of = |rate| tiers.links.iter().filter(|l| l.rate == BitRate(rate)).count();
        assert_eq!((of(155_000_000), of(55_000_000), of(10_000_000)), (6, 40, 180));
        // Hosts of a LAN are its leaf; routers of MANs without LANs are none.
        assert_eq!(tiers.hosts().len(), 180);
        assert!(tiers.hosts().iter().all(|&host| tiers.name(host).starts_with('l')));
        // The WAN's square has a diagonal of 1414 km: 7.07 ms, a MAN's reaches 14.1 km beyond it.
        assert!(tiers.links.iter().all(|l| l.delay <= Span::from_seconds(0.007_15)));
    }

    #[test]
    fn the_tree_of_four_corners_and_the_next_links_are_known() {
        // Corners of a rectangle 3 by 4 and the point (0, 1).
        let positions = [(0.0, 0.0), (3.0, 0.0), (3.0, 4.0), (0.0, 4.0), (0.0, 1.0)];
        let mut tree = spanning_tree(&positions);
        tree.sort_unstable();
        // 0-4 (1), then of length 3: 0-1, 4-3, 3-2 or ... each joins one new node; 1-2 has length 4.
        assert_eq!(tree, [(0, 1), (0, 4), (3, 2), (4, 3)]);
        // Missing, by length: 1-4 (sqrt 10), then 0-3 and 1-2 (4), 2-4 (sqrt 18).
        assert_eq!(shortest_missing(&positions, &tree, 2), [(1, 4), (0, 3)]);
    }

    #[test]
    fn links_between_tiers_may_have_rates_apart_from_theirs() {
        let text = r#"{"kind":"tiers","man_wan_rate":"155 Mbps","lan_man_rate":"20 Mbps"}"#;
        let tiers = layout(text).unwrap();
        let rates = |a: char, b: char| -> Vec<f64> {
            let begins = |node, c| tiers.name(node).starts_with(c);
            let between = tiers.links.iter().filter(|l| begins(l.a, a) && begins(l.b, b));
            between.map(|l| l.rate.0 as f64 / 1e6).collect()
        };
        // 20 MANs on the WAN, 180 LANs on MANs; inside the tiers nothing changes.
        assert_eq!(rates('m', 'w'), [155.0; 20]);
        assert_eq!(rates('l', 'm'), [20.0; 180]);
        assert_eq!(rates('m', 'm'), [55.0; 20]);
    }

    #[test]
    fn arguments_out_of_range_are_all_reported() {
        let problems = layout(
            r#"{"kind":"tiers","wans":2,"wan_redundancy":8,"man_wan_redundancy":6,"lan_km":0}"#,
        )
        .unwrap_err();
        let paths: Vec<&str> = problems.iter().map(|p| p.path.as_str()).collect();
        assert_eq!(
            paths,
            ["net.wans", "net.lan_km", "net.wan_redundancy", "net.man_wan_redundancy"]
        );
        // 5 nodes: 10 links at most, 4 in the tree, so 6 beyond it: redundancy 7.
        assert_eq!(problems[2].message, "is 8, expected at most 7 with 5 nodes");
    }
}
