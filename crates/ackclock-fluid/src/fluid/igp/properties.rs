//! Failures by repair against failures by a network without the links, on random networks.

use proptest::prelude::*;

use super::*;
use crate::rng::mix;

/// A random network with ties, its matrix, capacities, and failures of links and nodes.
#[derive(Clone, Debug)]
struct Drawn {
    igp: Igp,
    matrix: Matrix,
    capacity: Vec<f64>,
    failures: Vec<Failure>,
    hashed: Option<Hashed>,
}

fn any_case() -> impl Strategy<Value = Drawn> {
    (3usize..12).prop_flat_map(|n| {
        let node = 0..n as u32;
        let link = (node.clone(), node.clone(), 1u32..4, 1u32..4, 1u32..50);
        let pair = (node.clone(), node.clone(), 1u32..20, 1u32..6);
        let hash = prop::option::of((any::<u64>(), any::<bool>()));
        let links = prop::collection::vec(link, 2..3 * n);
        let pairs = prop::collection::vec(pair, 1..3 * n);
        let failed = prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), node),
            1..8,
        );
        let path_seed = prop::option::of(any::<u64>());
        (links, pairs, failed, hash, path_seed).prop_map(
            move |(links, pairs, failed, hash, path_seed)| {
                let (mut src, mut dst, mut cost, mut capacity) = (vec![], vec![], vec![], vec![]);
                for (a, b, there, back, size) in links.into_iter().filter(|l| l.0 != l.1) {
                    for (u, v, c) in [(a, b, there), (b, a, back)] {
                        src.push(u);
                        dst.push(v);
                        cost.push(f64::from(c));
                        capacity.push(f64::from(size));
                    }
                }
                let pairs: Vec<_> = pairs.into_iter().filter(|p| p.0 != p.1).collect();
                let matrix = Matrix::new(
                    n,
                    pairs.iter().map(|p| p.0).collect(),
                    pairs.iter().map(|p| p.1).collect(),
                    pairs.iter().map(|p| f64::from(p.2)).collect(),
                );
                let igp = Igp::new(n, src.clone(), dst.clone(), cost);
                let matrix = match path_seed {
                    Some(seed) => {
                        let paths = drawn_paths(&igp, &matrix, seed);
                        matrix.with_given(&igp, paths).unwrap()
                    }
                    None => matrix,
                };
                let mut failures = Vec::new();
                let m = src.len() / 2;
                for (first, other, node) in failed {
                    if m > 0 {
                        let (i, j) = (first.index(m) as u32, other.index(m) as u32);
                        failures.push(Failure { links: vec![2 * i, 2 * i + 1], nodes: vec![] });
                        let both = vec![2 * i, 2 * i + 1, 2 * j, 2 * j + 1];
                        failures.push(Failure { links: both, nodes: vec![] });
                    }
                    let links_of_node = (0..src.len() as u32)
                        .filter(|&l| src[l as usize] == node || dst[l as usize] == node)
                        .collect();
                    failures.push(Failure { links: links_of_node, nodes: vec![node] });
                }
                let flows = pairs.iter().map(|p| p.3).collect();
                let hashed = hash.map(|(seed, same)| Hashed { flows, first: vec![], seed, same });
                Drawn { igp, matrix, capacity, failures, hashed }
            },
        )
    })
}

/// Simple paths, drawn by a seed, for half of the pairs that have one.
fn drawn_paths(igp: &Igp, matrix: &Matrix, seed: u64) -> Given {
    let mut paths: Vec<(u32, Vec<u32>)> = Vec::new();
    for pair in 0..matrix.pairs() {
        let hash = mix(seed ^ pair as u64);
        let mut path = Vec::new();
        let mut visited = vec![false; igp.nodes()];
        let ends = [matrix.from[pair], matrix.to[pair]];
        if hash.is_multiple_of(2) && walk(igp, ends, hash, &mut visited, &mut path) {
            paths.push((pair as u32, path));
        }
    }
    Given::new(paths.iter().map(|(pair, path)| (*pair, &path[..])))
}

/// Looks for a path in depth, links in an order that the seed draws.
fn walk(
    igp: &Igp,
    [node_now, to]: [u32; 2],
    seed: u64,
    visited: &mut [bool],
    path: &mut Vec<u32>,
) -> bool {
    if node_now == to {
        return true;
    }
    visited[node_now as usize] = true;
    let mut next = igp.out.of(node_now).to_vec();
    next.sort_by_key(|&link| mix(seed ^ u64::from(link)));
    next.into_iter().any(|link| {
        let node = igp.dst[link as usize];
        path.push(link);
        let reaches = !visited[node as usize] && walk(igp, [node, to], seed, visited, path);
        if !reaches {
            path.pop();
        }
        reaches
    })
}

/// The matrix without what begins or ends at a node that is down, and the volume of that which has a path.
fn without(case: &Drawn, failure: &Failure) -> (Matrix, f64) {
    let (mut left, mut of_failed_nodes) = (case.matrix.clone(), case.matrix.clone());
    for pair in 0..case.matrix.pairs() {
        let ends = [case.matrix.from[pair], case.matrix.to[pair]];
        let down = failure.nodes.iter().any(|node| ends.contains(node));
        let none = if down { &mut left } else { &mut of_failed_nodes };
        none.volume[pair] = 0.0;
    }
    let all: f64 = of_failed_nodes.volume.iter().sum();
    let lost = loads(&case.igp, &of_failed_nodes, None, &[], &mut |_, _| true).unwrap().unreachable;
    (left, all - lost)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_enters_a_node_leaves_it(drawn in any_case()) {
        let hashed = drawn.hashed.as_ref();
        let found = loads(&drawn.igp, &drawn.matrix, hashed, &[], &mut |_, _| true).unwrap();
        let mut balance = vec![0.0; drawn.igp.nodes()];
        for link in 0..drawn.igp.links() {
            balance[drawn.igp.src[link] as usize] += found.link[link];
            balance[drawn.igp.dst[link] as usize] -= found.link[link];
        }
        let mut net = vec![0.0; drawn.igp.nodes()];
        let mut all = 0.0;
        for pair in 0..drawn.matrix.pairs() {
            let (a, b) = (drawn.matrix.from[pair], drawn.matrix.to[pair]);
            let one = Matrix::new(drawn.igp.nodes(), vec![a], vec![b], vec![drawn.matrix.volume[pair]]);
            let alone = loads(&drawn.igp, &one, None, &[], &mut |_, _| true).unwrap();
            all += alone.unreachable;
            if alone.unreachable == 0.0 {
                net[a as usize] += drawn.matrix.volume[pair];
                net[b as usize] -= drawn.matrix.volume[pair];
            }
        }
        prop_assert!(close(all, found.unreachable));
        for (got, expected) in balance.iter().zip(&net) {
            prop_assert!(close(*got, *expected), "{balance:?} {net:?}");
        }
    }

    #[test]
    fn loads_are_those_of_the_paths_of_flows(drawn in any_case()) {
        let Some(hashed) = &drawn.hashed else { return Ok(()) };
        let found = loads(&drawn.igp, &drawn.matrix, Some(hashed), &[], &mut |_, _| true).unwrap();
        let paths = hashed_paths(&drawn.igp, &drawn.matrix, hashed, false);
        let mut load = vec![0.0; drawn.igp.links()];
        let mut flows = vec![0; drawn.matrix.pairs()];
        for (i, &pair) in paths.pair.iter().enumerate() {
            let of = f64::from(paths.flows[i]) / f64::from(hashed.flows[pair as usize]);
            flows[pair as usize] += paths.flows[i];
            for &link in &paths.hops[paths.offsets[i] as usize..paths.offsets[i + 1] as usize] {
                load[link as usize] += of * drawn.matrix.volume[pair as usize];
            }
        }
        for (got, expected) in found.link.iter().zip(&load) {
            prop_assert!(close(*got, *expected));
        }
        for (pair, &count) in flows.iter().enumerate() {
            let is_lost = paths.unreachable.contains(&(pair as u32));
            prop_assert_eq!(count, if is_lost { 0 } else { hashed.flows[pair] });
        }
    }

    #[test]
    fn a_failure_is_the_network_without_the_links(
        drawn in any_case(), memory in prop_oneof![Just(1usize), Just(1 << 20)],
    ) {
        let watch = Watch { across: true, memory };
        let found = failures(
            &drawn.igp, &drawn.matrix, drawn.hashed.as_ref(), &drawn.capacity, &drawn.failures, watch,
            &mut |_, _| true,
        ).unwrap();
        let mut worst = vec![0.0f64; drawn.igp.links()];
        for (i, failure) in drawn.failures.iter().enumerate() {
            let mut up = vec![true; drawn.igp.links()];
            for &link in &failure.links {
                up[link as usize] = false;
            }
            let (matrix, own) = without(&drawn, failure);
            let hashed = drawn.hashed.as_ref();
            let before = loads(&drawn.igp, &matrix, hashed, &[], &mut |_, _| true).unwrap();
            let after = loads(&drawn.igp, &matrix, hashed, &up, &mut |_, _| true).unwrap();
            let impact = &found.impact[i];
            prop_assert!(close(impact.disconnected, after.unreachable - before.unreachable), "{failure:?}");
            prop_assert!(close(impact.own_volume, own), "{failure:?} {} {own}", impact.own_volume);
            let used = after.link.iter().zip(&drawn.capacity).map(|(l, c)| l / c).fold(0.0, f64::max);
            prop_assert!(close(impact.utilisation, used), "{failure:?} {} {used}", impact.utilisation);
            let of_busiest = after.link.get(impact.busiest as usize).map_or(0.0, |load| {
                load / drawn.capacity[impact.busiest as usize]
            });
            prop_assert!(close(of_busiest, used), "{failure:?}: {of_busiest}, not {used}");
            let over = |slack: f64| {
                let links = after.link.iter().zip(&drawn.capacity);
                links.filter(|&(load, capacity)| *load > capacity * (1.0 + slack)).count() as u32
            };
            prop_assert!((over(1e-8)..=over(0.0)).contains(&impact.overloaded), "{failure:?}");
            let excess = after.link.iter().zip(&drawn.capacity).map(|(l, c)| l - c).fold(0.0, f64::max);
            prop_assert!((impact.excess - excess).abs() < 1e-6, "{failure:?} {excess}");
            for (most, load) in worst.iter_mut().zip(&after.link) {
                *most = most.max(*load);
            }
            for (j, other) in drawn.failures.iter().enumerate() {
                let load: f64 = other.links.iter().map(|&l| after.link[l as usize]).sum();
                let got = found.across[i * drawn.failures.len() + j];
                prop_assert!(close(got, load), "{failure:?} {other:?}: {got}, expected {load}");
            }
        }
        for (link, (got, expected)) in found.worst.iter().zip(&worst).enumerate() {
            prop_assert!(close(*got, *expected), "{:?} {worst:?}", found.worst);
            if *got > 0.0 {
                let named = &drawn.failures[found.worst_failure[link] as usize];
                let mut up = vec![true; drawn.igp.links()];
                named.links.iter().for_each(|&link| up[link as usize] = false);
                let matrix = without(&drawn, named).0;
                let hashed = drawn.hashed.as_ref();
                let under = loads(&drawn.igp, &matrix, hashed, &up, &mut |_, _| true).unwrap();
                prop_assert!(close(*got, under.link[link]), "{link}: {named:?}");
            }
        }
    }

    #[test]
    fn nothing_is_dropped_where_no_link_is_overloaded(drawn in any_case()) {
        let hashed = drawn.hashed.as_ref();
        let found = loads(&drawn.igp, &drawn.matrix, hashed, &[], &mut |_, _| true).unwrap();
        let enough: Vec<f64> = found.link.iter().map(|l| l.max(1.0)).collect();
        let all = kept(&drawn.igp, &drawn.matrix, hashed, &enough, &[], 50, &mut |_, _| true).unwrap();
        prop_assert!(all.settled);
        prop_assert!(all.fraction.iter().all(|&p| p == 0.0 || close(p, 1.0)));
        // What is delivered is what the last links of all paths let through.
        let some = kept(&drawn.igp, &drawn.matrix, hashed, &drawn.capacity, &[], 200, &mut |_, _| true).unwrap();
        for (pair, &part) in some.fraction.iter().enumerate() {
            prop_assert!((0.0..=1.0 + 1e-12).contains(&part), "{pair}: {part}");
        }
    }
}

/// Three equal links share 6. Without any of them the two others have 3 each: of equal failures and of equal links the
/// first is named, also where each failure is a block.
#[test]
fn of_equal_failures_and_links_the_first_is_named() {
    let igp = Igp::new(2, vec![0, 0, 0], vec![1, 1, 1], vec![1.0; 3]);
    let matrix = Matrix::new(2, vec![0], vec![1], vec![6.0]);
    let of: Vec<_> = (0..3).map(|link| Failure { links: vec![link], nodes: vec![] }).collect();
    for memory in [1, 1 << 20] {
        let watch = Watch { across: false, memory };
        let report =
            failures(&igp, &matrix, None, &[4.0; 3], &of, watch, &mut |_, _| true).unwrap();
        assert_eq!(report.worst, [3.0; 3]);
        assert_eq!(report.worst_failure, [1, 0, 0]);
        let busiest: Vec<_> = report.impact.iter().map(|impact| impact.busiest).collect();
        assert_eq!(busiest, [1, 0, 0]);
        assert!(report.impact.iter().all(|impact| impact.overloaded == 0 && impact.excess == 0.0));
    }
    // 3 on links of 2: an excess of 1 on two links.
    let watch = Watch { across: false, memory: 1 };
    let report = failures(&igp, &matrix, None, &[2.0; 3], &of, watch, &mut |_, _| true).unwrap();
    assert!(report.impact.iter().all(|impact| impact.overloaded == 2 && impact.excess == 1.0));
}

#[test]
fn one_overloaded_link_drops_in_proportion() {
    // 0 -> 1 -> 2 with 10, offered 8 from 0 and 12 from 1: half gets through.
    let igp = Igp::new(3, vec![0, 1], vec![1, 2], vec![1.0, 1.0]);
    let matrix = Matrix::new(3, vec![0, 1], vec![2, 2], vec![8.0, 12.0]);
    let throughput = kept(&igp, &matrix, None, &[4.0, 8.0], &[], 50, &mut |_, _| true).unwrap();
    // The first link passes 4 of 8; the second is then offered 16 and passes half.
    assert_eq!(throughput.offered, [8.0, 16.0]);
    assert_eq!(throughput.fraction, [0.25, 0.5]);
    assert!(throughput.settled);
}

#[test]
fn equal_paths_share_equally_hop_by_hop() {
    // 0 splits to 1 and 2; 1 reaches 4 by itself, 2 by 3a and 3b: quarters, as routers do it.
    let src = vec![0, 0, 1, 2, 2, 3, 5];
    let dst = vec![1, 2, 4, 3, 5, 4, 4];
    let cost = vec![1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0];
    let igp = Igp::new(6, src, dst, cost);
    let matrix = Matrix::new(6, vec![0], vec![4], vec![4.0]);
    let link_loads = loads(&igp, &matrix, None, &[], &mut |_, _| true).unwrap();
    assert_eq!(link_loads.link, [2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn a_given_path_is_left_when_a_link_of_it_fails() {
    // A square, 0 to 2 by 1 (links 0 and 1) at cost 2 and by 3 (links 2 and 3) at cost 20; 3 of 5 are given the long way.
    let igp = Igp::new(4, vec![0, 1, 0, 3], vec![1, 2, 3, 2], vec![1.0, 1.0, 10.0, 10.0]);
    let matrix = Matrix::new(4, vec![0, 0], vec![2, 2], vec![3.0, 2.0])
        .with_given(&igp, Given::new([(0, &[2, 3][..])]))
        .unwrap();
    for wrong in [&[2, 1][..], &[2], &[]] {
        assert!(matrix.clone().with_given(&igp, Given::new([(0, wrong)])).is_none());
    }
    let loads_with = |up: &[bool]| loads(&igp, &matrix, None, up, &mut |_, _| true).unwrap();
    assert_eq!(loads_with(&[]).link, [2.0, 2.0, 3.0, 3.0]);
    assert_eq!(loads_with(&[true, true, true, false]).link, [5.0, 5.0, 0.0, 0.0]);
    assert_eq!(loads_with(&[true, false, true, true]).link, [0.0, 0.0, 5.0, 5.0]);
    assert_eq!(loads_with(&[true, false, false, true]).unreachable, 5.0);
    // A link that passes a half of what comes: the given path loses that, the other nothing.
    let throughput =
        kept(&igp, &matrix, None, &[9.0, 9.0, 1.5, 9.0], &[], 9, &mut |_, _| true).unwrap();
    assert_eq!((throughput.fraction, throughput.offered[3]), (vec![0.5, 1.0], 1.5));
    // Between two pairs of the same ends flows are numbered on, so that all of them choose as one pair's would.
    let split = Matrix::new(4, vec![0, 0], vec![2, 2], vec![3.0, 2.0]);
    let unsplit = Matrix::new(4, vec![0], vec![2], vec![5.0]);
    let equal = Igp::new(4, vec![0, 1, 0, 3], vec![1, 2, 3, 2], vec![1.0; 4]);
    let hash = |flows, first| Hashed { flows, first, seed: 7, same: false };
    let load = |m, h: Hashed| loads(&equal, m, Some(&h), &[], &mut |_, _| true).unwrap().link;
    assert_eq!(
        load(&split, hash(vec![30, 20], vec![0, 30])),
        load(&unsplit, hash(vec![50], vec![]))
    );
}
