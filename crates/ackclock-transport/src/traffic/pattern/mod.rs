//! ROOM: patterns. Between which of a network's hosts flows go, and what share of the demand each has.
//!
//! A new pattern: one file here that implements [`About`](crate::registry::About) and [`Pattern`], and one
//! line in the registry at the end of this file.

pub mod all_to_all;
pub mod collective;
pub mod exponential_pairs;
pub mod halving_doubling;
pub mod incast;
pub mod listed;
pub mod log_normal;
pub mod ring_all_reduce;
pub mod tree_all_reduce;
pub mod uniform_pairs;
pub mod zipf_pairs;

use crate::rng::Stream;
use crate::units::{Bytes, Span};

/// A flow's place in a pattern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Sending host, by its place in the list of hosts.
    pub from: u32,
    /// Receiving host, another one.
    pub to: u32,
    /// What the flow demands in proportion to the others: 1 where all are equal.
    pub weight: f64,
}

/// A transfer of a pattern whose transfers wait for each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Sending host, by its place in the list of hosts.
    pub from: u32,
    /// Receiving host, another one.
    pub to: u32,
    /// Payload.
    pub size: Bytes,
    /// Start, counted from that of the pattern; of a transfer that waits for others, the earliest.
    pub start: Span,
    /// What it waits for.
    pub after: Vec<Wait>,
}

/// What a transfer waits for: another one that begins or ends at the host that sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Place of the other in the pattern, before its own.
    pub transfer: u32,
    /// Time that passes at the host from the completion of the other.
    pub pause: Span,
}

/// A rule by which flows find their ends.
pub trait Pattern: Send {
    /// Draws `flows` flows between `hosts` hosts, at least 2; `flows` left out: as many as the pattern has
    /// by itself, one for each host and direction unless it says otherwise.
    fn draw(&self, hosts: u32, flows: Option<u32>, rng: &mut Stream) -> Vec<Demand>;

    /// The transfers between `hosts` hosts of a pattern that says itself what each carries and what it waits for; of a
    /// collective operation on `size` bytes. `None`: the pattern only draws flows.
    ///
    /// # Errors
    /// What is wrong with the hosts or the size, as it follows the path of the pattern.
    fn transfers(
        &self,
        _hosts: u32,
        _size: Option<Bytes>,
    ) -> Result<Option<Vec<Transfer>>, String> {
        Ok(None)
    }

    /// How many these are, before they are made; 0 for a pattern that only draws flows.
    fn transfer_count(&self, _hosts: u32) -> u64 {
        0
    }
}

/// What a new pattern knows: nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatternEnv;

/// Any host but one, each with equal chances.
fn another(host: u32, hosts: u32, rng: &mut Stream) -> u32 {
    let index = rng.below(u64::from(hosts) - 1) as u32;
    index + u32::from(index >= host)
}

/// Numbers from 0 in random order (Fisher and Yates).
fn shuffle(count: u32, rng: &mut Stream) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last as u64 + 1) as usize);
    }
    order
}

/// Sources by the weight of their rank, ranks dealt to hosts at random; destinations any other host.
fn by_rank(hosts: u32, flows: u32, weight: impl Fn(f64) -> f64, rng: &mut Stream) -> Vec<Demand> {
    let host_of_rank = shuffle(hosts, rng);
    let mut sums = Vec::with_capacity(hosts as usize);
    let mut sum = 0.0;
    for rank in 0..hosts {
        sum += weight(f64::from(rank));
        sums.push(sum);
    }
    (0..flows)
        .map(|_| {
            let drawn_weight = rng.uniform() * sum;
            let rank = sums.partition_point(|s| *s <= drawn_weight).min(sums.len() - 1);
            let from = host_of_rank[rank];
            Demand { from, to: another(from, hosts, rng), weight: 1.0 }
        })
        .collect()
}

crate::registry! {
    /// Builds a traffic pattern by name.
    "traffic pattern": dyn Pattern, PatternEnv {
        "traffic/pattern/uniform_pairs.rs" => uniform_pairs::UniformPairs,
        "traffic/pattern/exponential_pairs.rs" => exponential_pairs::ExponentialPairs,
        "traffic/pattern/zipf_pairs.rs" => zipf_pairs::ZipfPairs,
        "traffic/pattern/incast.rs" => incast::Incast,
        "traffic/pattern/log_normal.rs" => log_normal::LogNormal,
        "traffic/pattern/ring_all_reduce.rs" => ring_all_reduce::RingAllReduce,
        "traffic/pattern/tree_all_reduce.rs" => tree_all_reduce::TreeAllReduce,
        "traffic/pattern/halving_doubling.rs" => halving_doubling::HalvingDoubling,
        "traffic/pattern/all_to_all.rs" => all_to_all::AllToAll,
        "traffic/pattern/listed.rs" => listed::Listed,
    }
}

#[cfg(test)]
mod tests;
