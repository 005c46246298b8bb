//! A ring all-reduce: every host has the sum of all hosts' data in the end.
//!
//! **Source**: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", J. Parallel
//! Distrib. Comput. 69(2), 2009, doi:10.1016/j.jpdc.2008.09.002.
//!
//! **Rule**
//! ```text
//! p hosts in a ring, the data in p parts, 2 (p - 1) steps (p - 1 that add, p - 1 that spread the sums)
//! step s: host i sends part (i - s) mod p to host i + 1, in steps after the first once that of step s - 1 has arrived
//! ```
//! Where nothing collides it takes 2 (p - 1) times a part of n / p: 2 (p - 1) / p n / B, and the latency of each step.
//!
//! Deviations: none. Adding takes no time. Parts are equal to a byte, and have one byte at least.
//!
//! Defaults by era: the same in all.

use super::collective::{CollectiveParams, Operation, pairs_of, part_of, size_of};
use super::{Demand, Pattern, PatternEnv, Transfer};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Bytes;

/// A ring all-reduce.
pub struct RingAllReduce {
    params: CollectiveParams,
}

impl About<PatternEnv> for RingAllReduce {
    type Params = CollectiveParams;
    const INFO: Info = Info {
        name: "ring-all-reduce",
        title: "All-reduce in a ring",
        source: "Patarasuk and Yuan 2009",
        status: Status::Specified,
    };

    fn new(params: CollectiveParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl RingAllReduce {
    fn operation(hosts: u32, size: Bytes) -> Operation {
        let mut operation = Operation::new(hosts);
        let before = |host: u32| (host + hosts - 1) % hosts;
        for step in 0..2 * (hosts - 1) {
            for host in 0..hosts {
                let part = (host + 2 * hosts - step) % hosts;
                let arrived = step.checked_sub(1).map(|last| last * hosts + before(host));
                let size = part_of(size, part, hosts);
                operation.send(host, (host + 1) % hosts, size, arrived.as_slice());
            }
        }
        let last_step = (2 * (hosts - 1) - 1) * hosts;
        for (host, last) in (0..).zip(&mut operation.last) {
            last.push(last_step + before(host));
        }
        operation
    }
}

impl Pattern for RingAllReduce {
    fn draw(&self, hosts: u32, flows: Option<u32>, _rng: &mut Stream) -> Vec<Demand> {
        pairs_of(&Self::operation(hosts, Bytes(1)), flows)
    }

    fn transfers(&self, hosts: u32, size: Option<Bytes>) -> Result<Option<Vec<Transfer>>, String> {
        Ok(Some(Self::operation(hosts, size_of(size)?).repeat(&self.params)))
    }

    fn transfer_count(&self, hosts: u32) -> u64 {
        let each = (2 * u64::from(hosts - 1)).saturating_mul(u64::from(hosts));
        each.saturating_mul(u64::from(self.params.operations))
    }
}
