//! Edge nodes: leaves cut off and put on, and capacities by depth, as in McCullough et al. 2010, section 6.1.
//!
//! **Rule**
//! ```text
//! 1. the largest connected component
//! 2. without the leaves whose neighbour has more than one link to non-leaves
//! 3. centre = the node of greatest betweenness (of equals, the first)
//! 4. new leaves at nodes that are no leaves and at least radius / 2 away from the centre, each drawn
//!    anew with equal chances, until there are as many as requested
//! depth(u, v) = 1 + min(hops from u, hops from v to the nearest leaf)
//! ```

use super::adjacency::Adjacency;
use crate::rng::Stream;
use crate::scenario::{Capacities, Radius};
use crate::units::BitRate;

/// Steps 1 to 4, or one sentence on why they cannot be done.
pub(super) fn attach(
    random: &Adjacency,
    count: u32,
    radius: Radius,
    rng: &mut Stream,
) -> Result<Adjacency, String> {
    let core = random.largest_component();
    let mut graph = core.keep(&find_unpruned(&core));
    let leaf = leaves(&graph);
    let have = leaf.iter().filter(|l| **l).count() as u32;
    if have > count {
        return Err(format!(
            "is {count}, but the random graph keeps {have} nodes of degree one; expected at least {have}, or more edges"
        ));
    }
    let betweenness = graph.betweenness();
    let centre = (0..graph.nodes())
        .reduce(|best, n| if betweenness[n] > betweenness[best] { n } else { best })
        .unwrap_or(0) as u32;
    let away = match radius {
        Radius::Graph => graph.radius(),
        Radius::Centre => graph.eccentricity(centre),
    };
    let hops = graph.hops_from([centre]);
    let attachable: Vec<u32> = (0..graph.nodes() as u32)
        .filter(|&n| !leaf[n as usize] && 2 * hops[n as usize] >= away)
        .collect();
    if attachable.is_empty() && have < count {
        return Err(format!(
            "is {count}, but no node of the random graph that is not a leaf lies half the radius ({away}) from the centre; expected more nodes or edges"
        ));
    }
    for _ in have..count {
        let inner = attachable[rng.below(attachable.len() as u64) as usize];
        let new = graph.add_node();
        graph.add_link(inner, new);
    }
    Ok(graph)
}

/// Nodes that step 2 keeps.
fn find_unpruned(graph: &Adjacency) -> Vec<bool> {
    let leaf = leaves(graph);
    let inner = |node: u32| graph.neighbours(node).iter().filter(|n| !leaf[**n as usize]).count();
    (0..graph.nodes() as u32)
        .map(|n| !leaf[n as usize] || inner(graph.neighbours(n)[0]) <= 1)
        .collect()
}

/// Which nodes have one link only.
pub(super) fn leaves(graph: &Adjacency) -> Vec<bool> {
    (0..graph.nodes() as u32).map(|n| graph.degree(n) == 1).collect()
}

/// The depth of every link, in the order of links; none if there is no leaf to count from.
pub(super) fn depths(graph: &Adjacency) -> Option<Vec<u32>> {
    let leaf = leaves(graph);
    if !leaf.contains(&true) {
        return None;
    }
    let hops = graph.hops_from((0..graph.nodes() as u32).filter(|n| leaf[*n as usize]));
    Some(
        graph
            .links()
            .iter()
            .map(|&(a, b)| hops[a as usize].min(hops[b as usize]).saturating_add(1))
            .collect(),
    )
}

/// The rate of every link, in the order of links, or one sentence on why there is none.
pub(super) fn rates(
    graph: &Adjacency,
    capacities: Capacities,
    unit: BitRate,
) -> Result<Vec<BitRate>, String> {
    let factor = |depth: u32| match capacities {
        Capacities::Arithmetic => Some(u64::from(depth)),
        Capacities::Geometric => 10u64.checked_pow(depth - 1),
        Capacities::Uniform => Some(1),
    };
    let depths = match capacities {
        Capacities::Uniform => vec![1; graph.links().len()],
        _ => depths(graph).ok_or(
            "need nodes of degree one to count depth from, and there is none; expected edge_nodes, or capacities = \"uniform\"",
        )?,
    };
    depths
        .into_iter()
        .map(|depth| {
            factor(depth).and_then(|f| unit.0.checked_mul(f)).map(BitRate).ok_or_else(|| {
                format!("give a link of depth {depth} more than can be counted; expected a lower rate, or capacities = \"arithmetic\"")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn graph(nodes: usize, links: &[(u32, u32)]) -> Adjacency {
        let mut graph = Adjacency::new(nodes);
        for &(a, b) in links {
            graph.add_link(a, b);
        }
        graph
    }

    /// Path 0-1-2-3-4-5-6 with a leaf 7 at its middle and one, 8, at node 1.
    fn caterpillar() -> Adjacency {
        graph(9, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (3, 7), (1, 8)])
    }

    #[test]
    fn leaves_go_where_their_neighbour_has_two_inner_links_and_stay_elsewhere() {
        // Node 3 has inner neighbours 2 and 4: its leaf 7 goes. Node 1 has only 2: 0 and 8 stay.
        let stays = find_unpruned(&caterpillar());
        assert_eq!(stays, [true, true, true, true, true, true, true, false, true]);
    }

    #[test]
    fn new_leaves_keep_half_the_radius_from_the_centre() {
        let mut rng = Stream::new(3, Purpose::Topology, 0);
        let graph = attach(&caterpillar(), 40, Radius::Graph, &mut rng).unwrap();
        assert_eq!(leaves(&graph).iter().filter(|l| **l).count(), 40);
        // Without leaf 7: 0-1-2-3-4-5-6 and 8 (now 7) at 1. Betweenness: 3 parts {0,1,2,8} from {4,5,6},
        // 4 x 3 = 12; 2 parts {0,1,8} from {3,4,5,6}, 3 x 4 = 12; so 2 comes first. Radius 3 (of 3),
        // eccentricity of 2 is 4. At least 1.5 away from 2 and no leaf: 4 and 5.
        let degrees: Vec<usize> = (0..8).map(|n| graph.degree(n)).collect();
        assert_eq!(&degrees[..4], [1, 3, 2, 2]);
        assert!(degrees[4] > 2 && degrees[5] > 2);
        assert_eq!(degrees[4] + degrees[5], 4 + 37);
    }

    #[test]
    fn depth_counts_from_the_nearest_leaf_and_gives_both_progressions() {
        let path = graph(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)]);
        assert_eq!(depths(&path).unwrap(), [1, 2, 3, 3, 2, 1]);
        let units =
            |c| -> Vec<u64> { rates(&path, c, BitRate(5)).unwrap().iter().map(|r| r.0).collect() };
        assert_eq!(units(Capacities::Arithmetic), [5, 10, 15, 15, 10, 5]);
        assert_eq!(units(Capacities::Geometric), [5, 50, 500, 500, 50, 5]);
        assert_eq!(units(Capacities::Uniform), [5; 6]);
    }

    #[test]
    fn what_is_impossible_is_reported() {
        let triangle = graph(3, &[(0, 1), (1, 2), (2, 0)]);
        assert!(
            rates(&triangle, Capacities::Geometric, BitRate(1)).unwrap_err().contains("uniform")
        );
        let mut rng = Stream::new(3, Purpose::Topology, 0);
        let few = attach(&caterpillar(), 1, Radius::Graph, &mut rng).unwrap_err();
        assert!(few.contains("keeps 3 nodes of degree one"), "{few}");
    }
}
