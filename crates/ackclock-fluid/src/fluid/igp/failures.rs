//! What failures of links and nodes do to the loads of all others.

use super::given::Crossed;
use super::hashed::Paths;
use super::repair::Repair;
use super::{Hashed, Igp, Matrix, Progress, Stopped, Tree};

/// Links and nodes that fail together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// Directed links, those at the nodes included.
    pub links: Vec<u32>,
    /// Nodes.
    pub nodes: Vec<u32>,
}

/// What one failure does, at the loads offered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impact {
    /// Load of the busiest link that is left, over its capacity.
    pub utilisation: f64,
    /// That link.
    pub busiest: u32,
    /// Links whose load exceeds their capacity.
    pub overloaded: u32,
    /// The most by which a link's load exceeds its capacity.
    pub excess: f64,
    /// Volume between working nodes that loses its last path.
    pub disconnected: f64,
    /// Volume from and to the nodes that fail.
    pub own_volume: f64,
}

/// What to find beside the impacts, and how much memory to take for it.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// Also the load on the links of each failure under each other one.
    pub across: bool,
    /// Bytes for loads under failures; failures are done in as many blocks as that needs.
    pub memory: usize,
}

/// The network without and with each failure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// Loads while all is well.
    pub base: Vec<f64>,
    /// Volume without a path while all is well.
    pub unreachable: f64,
    /// What each failure does.
    pub impact: Vec<Impact>,
    /// The largest load of each link under any of the failures that leave it up.
    pub worst: Vec<f64>,
    /// The first failure under which it is so.
    pub worst_failure: Vec<u32>,
    /// Where requested: under failure i, the load on the links of failure j, at i times their number + j.
    pub across: Vec<f64>,
}

/// Fails each of `failures` alone. Equal next hops get equal parts, or with `hashed` the flows that are hashed to them.
///
/// # Errors
/// `progress` returned false.
pub fn failures(
    igp: &Igp,
    matrix: &Matrix,
    hashed: Option<&Hashed>,
    capacity: &[f64],
    failures: &[Failure],
    watch: Watch,
    progress: Progress,
) -> Result<Failures, Stopped> {
    let m = igp.links();
    let block = (watch.memory / (8 * m.max(1))).clamp(1, failures.len().max(1));
    let mut tree = Tree::new(igp.nodes);
    let mut repair = Repair::new(igp);
    let mut paths = hashed.map(Paths::new);
    let mut volume = vec![0.0; igp.nodes];
    let mut report = Failures {
        base: vec![0.0; m],
        worst: vec![0.0; m],
        worst_failure: vec![0; m],
        ..Failures::default()
    };
    let mut rows = vec![0.0; block * m];
    let destinations = matrix.all_destinations();
    let crossed = Crossed::new(igp, &matrix.fixed_paths);
    matrix.send_given(|link, load| {
        report.base[link as usize] += load;
        1.0
    });
    let blocks = failures.len().div_ceil(block).max(1);
    let (mut steps, all) = (0, blocks * destinations.len());
    for number in 0..blocks {
        let some = &failures
            [(number * block).min(failures.len())..((number + 1) * block).min(failures.len())];
        rows[..some.len() * m].fill(0.0);
        let mut impact = vec![Impact::default(); some.len()];
        // Pairs that each failure puts off their given paths, by destination.
        let mut detours: Vec<Vec<u32>> = vec![Vec::new(); some.len()];
        for (i, failure) in some.iter().enumerate() {
            for (pair, links) in crossed.broken_by(failure) {
                let volume = matrix.volume[pair as usize];
                for &link in links {
                    rows[i * m + link as usize] -= volume;
                }
                let [from, to] = [matrix.from[pair as usize], matrix.to[pair as usize]];
                if failure.nodes.contains(&from) || failure.nodes.contains(&to) {
                    impact[i].own_volume += volume;
                } else {
                    detours[i].push(pair);
                }
            }
            detours[i].sort_unstable_by_key(|&pair| (matrix.to[pair as usize], pair));
        }
        let mut passed = vec![0; some.len()];
        for &destination in &destinations {
            matrix.gather(destination, &mut volume);
            tree.grow(igp, destination, |_| true);
            let base = &mut report.base;
            let first = number == 0;
            let mut add = |link: u32, load: f64| {
                if first {
                    base[link as usize] += load;
                }
            };
            let missing = match &mut paths {
                Some(paths) => paths.lay(igp, &tree, matrix, add),
                None => tree.send(
                    igp,
                    &volume,
                    |_| true,
                    |link, load| {
                        add(link, load);
                        1.0
                    },
                ),
            };
            if first {
                report.unreachable += missing;
            }
            for (i, failure) in some.iter().enumerate() {
                let row = &mut rows[i * m..(i + 1) * m];
                let add = |link: u32, by: f64| row[link as usize] += by;
                let left = &detours[i][passed[i]..];
                let more = &left[..left.partition_point(|&p| matrix.to[p as usize] == destination)];
                passed[i] += more.len();
                let is_gone = failure.nodes.contains(&destination);
                let lost = match &mut paths {
                    _ if is_gone => {
                        impact[i].own_volume += withdraw(igp, &tree, &volume, paths.as_ref(), add);
                        continue;
                    }
                    Some(paths) => {
                        paths.fail(igp, &tree, &mut repair, matrix, more, &failure.links, add)
                    }
                    None => repair.fail(igp, &tree, &volume, matrix, more, &failure.links, add),
                };
                let own_volume = own(&tree, &volume, &failure.nodes);
                impact[i].own_volume += own_volume;
                impact[i].disconnected += (lost - own_volume).max(0.0);
            }
            matrix.clear(destination, &mut volume);
            steps += 1;
            if !progress(steps, all) {
                return Err(Stopped);
            }
        }
        for (i, failure) in some.iter().enumerate() {
            let row = &mut rows[i * m..(i + 1) * m];
            for (load, base) in row.iter_mut().zip(&report.base) {
                *load += base;
            }
            for &link in &failure.links {
                row[link as usize] = 0.0;
            }
            judge(row, capacity, &mut impact[i]);
            for (link, &load) in row.iter().enumerate() {
                if load > report.worst[link] {
                    report.worst[link] = load;
                    report.worst_failure[link] = (number * block + i) as u32;
                }
            }
            if watch.across {
                report.across.extend(
                    failures.iter().map(|f| f.links.iter().map(|&l| row[l as usize]).sum::<f64>()),
                );
            }
        }
        report.impact.extend(impact);
    }
    Ok(report)
}

/// Takes off what is sent to a node that is down; returns it.
fn withdraw(
    igp: &Igp,
    tree: &Tree,
    volume: &[f64],
    paths: Option<&Paths>,
    mut add: impl FnMut(u32, f64),
) -> f64 {
    if let Some(paths) = paths {
        return paths.withdraw(add);
    }
    let mut withdrawn = 0.0;
    for &node in &tree.order {
        let traffic = tree.traffic[node as usize];
        if node == tree.destination || traffic == 0.0 {
            continue;
        }
        withdrawn += volume[node as usize];
        let share = traffic / f64::from(tree.hops[node as usize]);
        for &link in igp.out.of(node) {
            if tree.on_path(igp, link) {
                add(link, -share);
            }
        }
    }
    withdrawn
}

/// What nodes that are down themselves send.
fn own(tree: &Tree, volume: &[f64], nodes: &[u32]) -> f64 {
    let sends = |&&n: &&u32| tree.distance[n as usize].is_finite();
    nodes.iter().filter(sends).map(|&n| volume[n as usize]).sum()
}

fn judge(row: &[f64], capacity: &[f64], impact: &mut Impact) {
    for (link, (&load, &capacity)) in row.iter().zip(capacity).enumerate() {
        let utilisation = load / capacity;
        if utilisation > impact.utilisation {
            impact.utilisation = utilisation;
            impact.busiest = link as u32;
        }
        // The last bits of a sum are no overload.
        if utilisation > 1.0 + 1e-9 {
            impact.overloaded += 1;
            impact.excess = impact.excess.max(load - capacity);
        }
    }
}
