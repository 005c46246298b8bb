//! ROOM: patterns. Between which of a network's hosts flows go, and what share of the demand each has.
//!
//! A new pattern: one file here that implements [`About`](crate::registry::About) and [`Pattern`], and one
//! line in the registry at the end of this file.

pub mod exponential_pairs;
pub mod incast;
pub mod log_normal;
pub mod uniform_pairs;
pub mod zipf_pairs;

use crate::rng::Stream;

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

/// A rule by which flows find their ends.
pub trait Pattern: Send {
    /// Draws `flows` flows between `hosts` hosts, at least 2; `flows` left out: as many as the pattern has
    /// by itself, one for each host and direction unless it says otherwise.
    fn draw(&self, hosts: u32, flows: Option<u32>, rng: &mut Stream) -> Vec<Demand>;
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
    }
}

#[cfg(test)]
mod tests;
