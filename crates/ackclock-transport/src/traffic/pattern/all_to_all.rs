//! An all-to-all: every host has a part of its data for every other one.
//!
//! **Source**: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in MPICH", Int. J.
//! High Perform. Comput. Appl. 19(1), 2005, doi:10.1177/1094342005051521, section 4.3 (pairwise exchange).
//!
//! **Rule**
//! ```text
//! p hosts, the data of each in p parts, p - 1 rounds
//! round r = 1 to p - 1: host i sends part (i + r) mod p to host (i + r) mod p, after the first once what host
//!                       (i - r + 1) mod p sends it in round r - 1 has arrived
//! ```
//! Where nothing collides it takes (p - 1) / p n / B, and the latency of each round.
//!
//! Deviations: a host does not wait for the acknowledgement of what it sent itself. Parts are equal to a byte, and have
//! one byte at least.
//!
//! Defaults by era: the same in all.

use super::collective::{CollectiveParams, Operation, pairs_of, part_of, size_of};
use super::{Demand, Pattern, PatternEnv, Transfer};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Bytes;

/// An all-to-all.
pub struct AllToAll {
    params: CollectiveParams,
}

impl About<PatternEnv> for AllToAll {
    type Params = CollectiveParams;
    const INFO: Info = Info {
        name: "all-to-all",
        title: "All-to-all in rounds",
        source: "Thakur, Rabenseifner and Gropp 2005",
        status: Status::Specified,
    };

    fn new(params: CollectiveParams, _: &PatternEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params })
    }
}

impl AllToAll {
    fn operation(hosts: u32, size: Bytes) -> Operation {
        let mut operation = Operation::new(hosts);
        for round in 1..hosts {
            for host in 0..hosts {
                let to = (host + round) % hosts;
                // The host from which the round before brought something.
                let from_before = (host + hosts + 1 - round) % hosts;
                let arrived = (round > 1).then(|| (round - 2) * hosts + from_before);
                operation.send(host, to, part_of(size, to, hosts), arrived.as_slice());
            }
        }
        let last_round = (hosts - 2) * hosts;
        for (host, last) in (0..hosts).zip(&mut operation.last) {
            last.push(last_round + (host + 1) % hosts);
        }
        operation
    }
}

impl Pattern for AllToAll {
    fn draw(&self, hosts: u32, flows: Option<u32>, _rng: &mut Stream) -> Vec<Demand> {
        pairs_of(&Self::operation(hosts, Bytes(1)), flows)
    }

    fn transfers(&self, hosts: u32, size: Option<Bytes>) -> Result<Option<Vec<Transfer>>, String> {
        Ok(Some(Self::operation(hosts, size_of(size)?).repeat(&self.params)))
    }

    fn transfer_count(&self, hosts: u32) -> u64 {
        let each = u64::from(hosts - 1) * u64::from(hosts);
        each.saturating_mul(u64::from(self.params.operations))
    }
}
