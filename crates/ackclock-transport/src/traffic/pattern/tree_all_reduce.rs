//! An all-reduce over a tree: sums go to one host, which spreads the result.
//!
//! **Source**: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", Int. J.
//! High Perform. Comput. Appl. 19(1), 2005, doi:10.1177/1094342005051521, sections 4.4 and 4.2 (binomial trees).
//!
//! **Rule**
//! ```text
//! reduce:    in round k a host of which bit k is the lowest that is set sends all data to the host without that bit, once
//!            all that it gets has arrived
//! broadcast: the same ways back once the result has arrived, the farthest first, and each once the one before it is
//!            acknowledged
//! ```
//! Where nothing collides p hosts, a power of two, take 2 log2(p) n / B, and the latency of each round, with the way of an
//! acknowledgement between two rounds of the broadcast.
//!
//! Deviations: the data is not cut, as in MPICH for short messages. Adding takes no time.
//!
//! Defaults by era: the same in all.

use super::collective::{CollectiveParams, Operation, pairs_of, size_of};
use super::{Demand, Pattern, PatternEnv, Transfer};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Bytes;

/// An all-reduce over a binomial tree.
pub struct TreeAllReduce {
    params: CollectiveParams,
}

impl About<PatternEnv> for TreeAllReduce {
    type Params = CollectiveParams;
    const INFO: Info = Info {
        name: "tree-all-reduce",
        title: "All-reduce over a binomial tree",
        source: "Thakur, Rabenseifner and Gropp 2005",
        status: Status::Specified,
    };

    fn new(params: CollectiveParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl TreeAllReduce {
    fn operation(hosts: u32, size: Bytes) -> Operation {
        let mut operation = Operation::new(hosts);
        let rounds = u32::BITS - (hosts - 1).leading_zeros();
        // What has arrived at each host.
        let mut arrived: Vec<Vec<u32>> = vec![Vec::new(); hosts as usize];
        for bit in (0..rounds).map(|round| 1 << round) {
            for from in (bit..hosts).step_by(2 * bit as usize) {
                let sent = operation.send(from, from - bit, size, &arrived[from as usize]);
                arrived[(from - bit) as usize].push(sent);
            }
        }
        operation.last.clone_from(&arrived);
        // What the next send of each host waits for.
        let mut before = arrived;
        for bit in (0..rounds).rev().map(|round| 1 << round) {
            for to in (bit..hosts).step_by(2 * bit as usize) {
                let from = (to - bit) as usize;
                let sent = operation.send(to - bit, to, size, &before[from]);
                before[from] = vec![sent];
                before[to as usize] = vec![sent];
                // It has the result.
                operation.last[to as usize] = vec![sent];
            }
        }
        operation
    }
}

impl Pattern for TreeAllReduce {
    fn draw(&self, hosts: u32, flows: Option<u32>, _rng: &mut Stream) -> Vec<Demand> {
        pairs_of(&Self::operation(hosts, Bytes(1)), flows)
    }

    fn transfers(&self, hosts: u32, size: Option<Bytes>) -> Result<Option<Vec<Transfer>>, String> {
        Ok(Some(Self::operation(hosts, size_of(size)?).repeat(&self.params)))
    }

    fn transfer_count(&self, hosts: u32) -> u64 {
        2 * u64::from(hosts - 1) * u64::from(self.params.operations)
    }
}
