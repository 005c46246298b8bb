//! Failures by repair against failures by a network without the links, on random networks.

use proptest::prelude::*;

use super::*;

/// A random network with ties, its matrix, capacities, and failures of links and nodes.
#[derive(Clone, Debug)]
struct Drawn {
    igp: Igp,
    matrix: Matrix,
    to: Vec<u32>,
    capacity: Vec<f64>,
    failures: Vec<Failure>,
    hashed: Option<Hashed>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
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
        (links, pairs, failed, hash).prop_map(move |(links, pairs, failed, hash)| {
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
            let to: Vec<u32> = pairs.iter().map(|p| p.1).collect();
            let matrix = Matrix::new(
                n,
                pairs.iter().map(|p| p.0).collect(),
                &to,
                pairs.iter().map(|p| f64::from(p.2)).collect(),
            );
            let mut failures = Vec::new();
            let m = src.len() / 2;
            for (one, other, node) in failed {
                if m > 0 {
                    let (i, j) = (one.index(m) as u32, other.index(m) as u32);
                    failures.push(Failure { links: vec![2 * i, 2 * i + 1], nodes: vec![] });
                    let both = vec![2 * i, 2 * i + 1, 2 * j, 2 * j + 1];
                    failures.push(Failure { links: both, nodes: vec![] });
                }
                let at = (0..src.len() as u32)
                    .filter(|&l| src[l as usize] == node || dst[l as usize] == node)
                    .collect();
                failures.push(Failure { links: at, nodes: vec![node] });
            }
            let flows = pairs.iter().map(|p| p.3).collect();
            let hashed = hash.map(|(seed, same)| Hashed { flows, seed, same });
            Drawn { igp: Igp::new(n, src, dst, cost), matrix, to, capacity, failures, hashed }
        })
    })
}

/// The matrix without what begins or ends at a node that is down, and the volume of that which has a path.
fn without(drawn: &Drawn, failure: &Failure) -> (Matrix, Option<Hashed>, f64) {
    let mut flows = Vec::new();
    let mut lists = [(vec![], vec![], vec![]), (vec![], vec![], vec![])];
    for pair in 0..drawn.matrix.pairs() {
        let (a, b) = (drawn.matrix.from[pair], drawn.to[pair]);
        let down = failure.nodes.contains(&a) || failure.nodes.contains(&b);
        let list = &mut lists[usize::from(down)];
        if !down {
            flows.extend(drawn.hashed.as_ref().map(|hashed| hashed.flows[pair]));
        }
        list.0.push(a);
        list.1.push(b);
        list.2.push(drawn.matrix.volume[pair]);
    }
    let [(from, to, volume), own] = lists;
    let n = drawn.igp.nodes();
    let all: f64 = own.2.iter().sum();
    let lost =
        loads(&drawn.igp, &Matrix::new(n, own.0, &own.1, own.2), None, &[], &mut |_, _| true);
    let hashed = drawn.hashed.as_ref().map(|hashed| Hashed { flows, ..hashed.clone() });
    (Matrix::new(n, from, &to, volume), hashed, all - lost.unwrap().unreachable)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn what_enters_a_node_leaves_it(drawn in drawn()) {
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
            let (a, b) = (drawn.matrix.from[pair], drawn.to[pair]);
            let one = Matrix::new(drawn.igp.nodes(), vec![a], &[b], vec![drawn.matrix.volume[pair]]);
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
    fn loads_are_those_of_the_paths_of_flows(drawn in drawn()) {
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
    fn a_failure_is_the_network_without_the_links(drawn in drawn(), memory in prop_oneof![Just(1usize), Just(1 << 20)]) {
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
            let (matrix, hashed, own) = without(&drawn, failure);
            let hashed = hashed.as_ref();
            let before = loads(&drawn.igp, &matrix, hashed, &[], &mut |_, _| true).unwrap();
            let after = loads(&drawn.igp, &matrix, hashed, &up, &mut |_, _| true).unwrap();
            let impact = &found.impact[i];
            prop_assert!(close(impact.disconnected, after.unreachable - before.unreachable), "{failure:?}");
            prop_assert!(close(impact.own, own), "{failure:?} {} {own}", impact.own);
            let used = after.link.iter().zip(&drawn.capacity).map(|(l, c)| l / c).fold(0.0, f64::max);
            prop_assert!(close(impact.utilisation, used), "{failure:?} {} {used}", impact.utilisation);
            for (most, load) in worst.iter_mut().zip(&after.link) {
                *most = most.max(*load);
            }
            for (j, other) in drawn.failures.iter().enumerate() {
                let load: f64 = other.links.iter().map(|&l| after.link[l as usize]).sum();
                let got = found.across[i * drawn.failures.len() + j];
                prop_assert!(close(got, load), "{failure:?} {other:?}: {got}, expected {load}");
            }
        }
        for (got, expected) in found.worst.iter().zip(&worst) {
            prop_assert!(close(*got, *expected), "{:?} {worst:?}", found.worst);
        }
    }

    #[test]
    fn nothing_is_dropped_where_no_link_is_overloaded(drawn in drawn()) {
        let hashed = drawn.hashed.as_ref();
        let found = loads(&drawn.igp, &drawn.matrix, hashed, &[], &mut |_, _| true).unwrap();
        let enough: Vec<f64> = found.link.iter().map(|l| l.max(1.0)).collect();
        let all = kept(&drawn.igp, &drawn.matrix, hashed, &enough, &[], 50, &mut |_, _| true).unwrap();
        prop_assert!(all.settled);
        prop_assert!(all.part.iter().all(|&p| p == 0.0 || close(p, 1.0)));
        // What is delivered is what the last links of all paths let through.
        let some = kept(&drawn.igp, &drawn.matrix, hashed, &drawn.capacity, &[], 200, &mut |_, _| true).unwrap();
        for (pair, &part) in some.part.iter().enumerate() {
            prop_assert!((0.0..=1.0 + 1e-12).contains(&part), "{pair}: {part}");
        }
    }
}

#[test]
fn one_overloaded_link_drops_in_proportion() {
    // 0 -> 1 -> 2 with 10, offered 8 from 0 and 12 from 1: half gets through.
    let igp = Igp::new(3, vec![0, 1], vec![1, 2], vec![1.0, 1.0]);
    let matrix = Matrix::new(3, vec![0, 1], &[2, 2], vec![8.0, 12.0]);
    let found = kept(&igp, &matrix, None, &[4.0, 8.0], &[], 50, &mut |_, _| true).unwrap();
    // The first link passes 4 of 8; the second is then offered 16 and passes half.
    assert_eq!(found.offered, [8.0, 16.0]);
    assert_eq!(found.part, [0.25, 0.5]);
    assert!(found.settled);
}

#[test]
fn equal_paths_share_equally_hop_by_hop() {
    // 0 splits to 1 and 2; 1 reaches 4 by itself, 2 by 3a and 3b: quarters, as routers do it.
    let src = vec![0, 0, 1, 2, 2, 3, 5];
    let dst = vec![1, 2, 4, 3, 5, 4, 4];
    let cost = vec![1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0];
    let igp = Igp::new(6, src, dst, cost);
    let matrix = Matrix::new(6, vec![0], &[4], vec![4.0]);
    let found = loads(&igp, &matrix, None, &[], &mut |_, _| true).unwrap();
    assert_eq!(found.link, [2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
}
