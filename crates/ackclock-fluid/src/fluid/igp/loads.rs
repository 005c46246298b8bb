//! Loads of links, and what of each demand gets through where links are overloaded.

use super::hashed::Paths;
use super::{Hashed, Igp, Matrix, Progress, Stopped, Tree};

/// Loads offered to links.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    /// Load of each link.
    pub link: Vec<f64>,
    /// Volume without a path.
    pub unreachable: f64,
}

/// Loads of all links over those that are `up`; an empty list: all. Equal next hops get equal parts, or with `hashed`
/// the flows that are hashed to them.
///
/// # Errors
/// `progress` returned false.
pub fn loads(
    igp: &Igp,
    matrix: &Matrix,
    hashed: Option<&Hashed>,
    up: &[bool],
    progress: Progress,
) -> Result<Loads, Stopped> {
    let mut tree = Tree::new(igp.nodes);
    let mut paths = hashed.map(Paths::new);
    let mut volume = vec![0.0; igp.nodes];
    let mut loads = Loads { link: vec![0.0; igp.links()], unreachable: 0.0 };
    let is_up = |link: u32| up.is_empty() || up[link as usize];
    let matrix = &*matrix.under(up);
    matrix.send_given(|link, load| {
        loads.link[link as usize] += load;
        1.0
    });
    let many = matrix.destinations().count();
    for (index, destination) in matrix.destinations().enumerate() {
        matrix.gather(destination, &mut volume);
        tree.grow(igp, destination, is_up);
        let link = &mut loads.link;
        let add = |l: u32, load: f64| {
            link[l as usize] += load;
            1.0
        };
        loads.unreachable += match &mut paths {
            None => tree.send(igp, &volume, is_up, add),
            Some(paths) => paths.send(igp, &tree, matrix, is_up, add),
        };
        matrix.clear(destination, &mut volume);
        if !progress(index + 1, many) {
            return Err(Stopped);
        }
    }
    Ok(loads)
}

/// What arrives where overloaded links drop in proportion.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Part of each demand that arrives, 0 where there is no path.
    pub fraction: Vec<f64>,
    /// What each link is offered, after the drops before it.
    pub offered: Vec<f64>,
    /// Rounds that it took, and whether the last one changed nothing above the tolerance.
    pub rounds: usize,
    /// Whether the rates are at rest.
    pub settled: bool,
}

/// Largest change of a link's load, relative to its capacity, that counts as rest.
const TOLERANCE: f64 = 1e-9;

/// What of each demand gets through if each link passes what it can, in equal parts of all that
/// arrives, as FIFO queues do with traffic that does not react.
///
/// Drops at one link relieve those behind it, so rounds are made until nothing changes, at most `limit`.
///
/// # Errors
/// `progress` returned false.
pub fn kept(
    igp: &Igp,
    matrix: &Matrix,
    hashed: Option<&Hashed>,
    capacity: &[f64],
    up: &[bool],
    limit: usize,
    progress: Progress,
) -> Result<Kept, Stopped> {
    let is_up = |link: u32| up.is_empty() || up[link as usize];
    let matrix = &*matrix.under(up);
    let mut tree = Tree::new(igp.nodes);
    let mut paths = hashed.map(Paths::new);
    let mut volume = vec![0.0; igp.nodes];
    let mut passed = vec![1.0; igp.links()];
    let mut throughput = Kept {
        fraction: vec![0.0; matrix.pairs()],
        offered: vec![0.0; igp.links()],
        rounds: 0,
        settled: false,
    };
    let mut fraction = vec![0.0; igp.nodes];
    while throughput.rounds < limit && !throughput.settled {
        let before = std::mem::replace(&mut throughput.offered, vec![0.0; igp.links()]);
        matrix.send_given(|link, load| {
            throughput.offered[link as usize] += load;
            passed[link as usize]
        });
        for (pair, links) in matrix.fixed_paths.paths() {
            throughput.fraction[pair as usize] =
                links.iter().map(|&link| passed[link as usize]).product();
        }
        for destination in matrix.destinations() {
            matrix.gather(destination, &mut volume);
            tree.grow(igp, destination, is_up);
            let offered = &mut throughput.offered;
            let add = |link: u32, load: f64| {
                offered[link as usize] += load;
                passed[link as usize]
            };
            if let Some(paths) = &mut paths {
                paths.send(igp, &tree, matrix, is_up, add);
                paths.kept(igp, &tree, matrix, &passed, &mut throughput.fraction);
            } else {
                tree.send(igp, &volume, is_up, add);
                arriving(igp, &tree, is_up, &passed, &mut fraction);
                for &pair in matrix.routed.of(destination) {
                    throughput.fraction[pair as usize] =
                        fraction[matrix.from[pair as usize] as usize];
                }
            }
            matrix.clear(destination, &mut volume);
            if !progress(throughput.rounds, limit) {
                return Err(Stopped);
            }
        }
        for (link, passed) in passed.iter_mut().enumerate() {
            *passed = (capacity[link] / throughput.offered[link]).min(1.0);
        }
        throughput.rounds += 1;
        throughput.settled = throughput.rounds > 1
            && (0..igp.links())
                .all(|l| (throughput.offered[l] - before[l]).abs() <= TOLERANCE * capacity[l]);
    }
    Ok(throughput)
}

/// The part of each node's traffic that arrives, where `passed` is the part that each link passes on.
fn arriving(
    igp: &Igp,
    tree: &Tree,
    up: impl Fn(u32) -> bool,
    passed: &[f64],
    fraction: &mut [f64],
) {
    fraction.fill(0.0);
    fraction[tree.destination as usize] = 1.0;
    // Nearest first: what arrives of a node's traffic follows from its next hops.
    for &node in &tree.order {
        if node != tree.destination {
            let share = 1.0 / f64::from(tree.hops[node as usize]);
            fraction[node as usize] = igp
                .out
                .of(node)
                .iter()
                .filter(|&&link| tree.on_path(igp, link) && up(link))
                .map(|&l| share * passed[l as usize] * fraction[igp.dst[l as usize] as usize])
                .sum();
        }
    }
}
