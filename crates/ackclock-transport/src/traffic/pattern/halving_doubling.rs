//! An all-reduce by recursive halving and doubling.
//!
//! **Source**: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", Int. J.
//! High Perform. Comput. Appl. 19(1), 2005, doi:10.1177/1094342005051521, section 4.5 (Rabenseifner's algorithm).
//!
//! **Rule**
//! ```text
//! halving:  in round k each of 2^m hosts exchanges with that of which bit m - 1 - k differs half of what it is left with
//! doubling: the same rounds backwards; each sends all that it has summed
//! each round once what the rounds before send has arrived
//! other numbers of hosts: before, each even one of the first 2 (p - 2^m) sends all its data to the next, which takes its
//!           place among 2^m; afterwards that one sends it the result
//! ```
//! Where nothing collides p hosts, a power of two, take 2 (p - 1) / p n / B, and the latency of 2 log2(p) rounds.
//!
//! Deviations: the halves go to the farthest host first, and so are the longest ways' transfers the largest; MPICH begins
//! with the nearest. Adding takes no time. Parts are equal to a byte, and have one byte at least.
//!
//! Defaults by era: the same in all.

use super::collective::{CollectiveParams, Operation, pairs_of, size_of};
use super::{Demand, Pattern, PatternEnv, Transfer};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Bytes;

/// An all-reduce by recursive halving and doubling.
pub struct HalvingDoubling {
    params: CollectiveParams,
}

impl About<PatternEnv> for HalvingDoubling {
    type Params = CollectiveParams;
    const INFO: Info = Info {
        name: "halving-doubling",
        title: "All-reduce by halving and doubling",
        source: "Thakur, Rabenseifner and Gropp 2005",
        status: Status::Variant,
    };

    fn new(params: CollectiveParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

/// The first and the second half of a part of the data, which begins and ends at these bytes.
fn halves([begin, end]: [u64; 2]) -> [[u64; 2]; 2] {
    let middle = begin + (end - begin) / 2;
    [[begin, middle], [middle, end]]
}

fn length([begin, end]: [u64; 2]) -> Bytes {
    Bytes((end - begin).max(1))
}

impl HalvingDoubling {
    fn operation(hosts: u32, size: Bytes) -> Operation {
        let mut operation = Operation::new(hosts);
        let rounds = hosts.ilog2();
        let beyond = hosts - (1 << rounds);
        // What has arrived at each host.
        let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); hosts as usize];
        for even in (0..2 * beyond).step_by(2) {
            let sent = operation.send(even, even + 1, size, &[]);
            arrived[even as usize + 1].push(sent);
        }
        let host_of = |rank: u32| if rank < beyond { 2 * rank + 1 } else { rank + beyond };
        let mut left: Vec<[u64; 2]> = vec![[0, size.0]; 1 << rounds];
        let bits: Vec<u32> = (0..rounds).rev().map(|round| 1 << round).collect();
        let exchange =
            |operation: &mut Operation, arrived: &mut Vec<Vec<u32>>, bit, sizes: &[Bytes]| {
                let before = arrived.clone();
                for (rank, &size) in (0u32..).zip(sizes) {
                    let [from, to] = [rank, rank ^ bit].map(host_of);
                    let sent = operation.send(from, to, size, &before[from as usize]);
                    arrived[to as usize].push(sent);
                }
            };
        for &bit in &bits {
            let half = |rank: usize, own: bool| {
                halves(left[rank])[usize::from((rank as u32 & bit != 0) == own)]
            };
            let sizes: Vec<Bytes> = (0..left.len()).map(|rank| length(half(rank, false))).collect();
            let kept = (0..left.len()).map(|rank| half(rank, true)).collect();
            exchange(&mut operation, &mut arrived, bit, &sizes);
            left = kept;
        }
        for &bit in bits.iter().rev() {
            let sizes: Vec<Bytes> = left.iter().map(|&part| length(part)).collect();
            exchange(&mut operation, &mut arrived, bit, &sizes);
            left = (0..left.len())
                .map(|rank| {
                    let other = left[rank ^ bit as usize];
                    [left[rank][0].min(other[0]), left[rank][1].max(other[1])]
                })
                .collect();
        }
        for even in (0..2 * beyond).step_by(2) {
            let sent = operation.send(even + 1, even, size, &arrived[even as usize + 1]);
            arrived[even as usize].push(sent);
        }
        operation.last = arrived;
        operation
    }
}

impl Pattern for HalvingDoubling {
    fn draw(&self, hosts: u32, flows: Option<u32>, _rng: &mut Stream) -> Vec<Demand> {
        pairs_of(&Self::operation(hosts, Bytes(1)), flows)
    }

    fn transfers(&self, hosts: u32, size: Option<Bytes>) -> Result<Option<Vec<Transfer>>, String> {
        Ok(Some(Self::operation(hosts, size_of(size)?).repeat(&self.params)))
    }

    fn transfer_count(&self, hosts: u32) -> u64 {
        let rounds = hosts.ilog2();
        let beyond = u64::from(hosts - (1 << rounds));
        let exchanged = 2 * u64::from(rounds) * (1 << rounds);
        (exchanged + 2 * beyond).saturating_mul(u64::from(self.params.operations))
    }
}
