//! Poisson arrivals of finite flows between the pairs of a network.
//!
//! Times, pairs and sizes come from separate random streams: another distribution of sizes leaves
//! the times and pairs as they were.
//!
//! **Source**: V. Paxson, S. Floyd, "Wide-Area Traffic: The Failure of Poisson Modeling", IEEE/ACM
//! Trans. Networking 3(3), 1995, doi:10.1109/90.392383 (sessions arrive as a Poisson process).

use super::Sizes;
use crate::rng::{Purpose, Stream};

/// Finite flows in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfers {
    /// When each begins [s].
    pub time: Vec<f64>,
    /// The flow of the network whose route and weight it has.
    pub class: Vec<u32>,
    /// What it carries, above 0.
    pub size: Vec<f64>,
}

/// How intense the arrivals are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Flows per second over the whole network.
    Rate(f64),
    /// Mean load of the link with the highest one: 1 is its capacity.
    Load(f64),
}

/// When arrivals end.
#[derive(Clone, Copy, Debug)]
pub struct DrawOptions {
    /// Seed of all streams.
    pub seed: u64,
    /// No arrival at or after this time.
    pub until: f64,
    /// Most arrivals.
    pub count: u64,
}

/// Draws Poisson arrivals. A flow is of class i with a probability in proportion to `share[i]`.
/// `load_per_rate` is the load of the most loaded link at one flow per second.
pub fn draw(
    share: &[f64],
    sizes: &Sizes,
    demand: Demand,
    load_per_rate: f64,
    options: &DrawOptions,
) -> Transfers {
    let rate = match demand {
        Demand::Rate(rate) => rate,
        Demand::Load(load) => load / load_per_rate,
    };
    let stream = |purpose| Stream::new(options.seed, purpose, 0);
    let mut times = stream(Purpose::FlowTime);
    let mut pairs = stream(Purpose::FlowPair);
    let mut amounts = stream(Purpose::FlowSize);
    // The sum of all shares before each class, and at the end.
    let mut sums = Vec::with_capacity(share.len());
    let mut total = 0.0;
    for class_share in share {
        total += class_share;
        sums.push(total);
    }
    let mut transfers = Transfers::default();
    let mut now = 0.0;
    while (transfers.time.len() as u64) < options.count {
        now += times.exponential(1.0 / rate);
        if now >= options.until {
            break;
        }
        let drawn_share = pairs.uniform() * total;
        let class = sums.partition_point(|&sum| sum <= drawn_share).min(share.len() - 1);
        transfers.time.push(now);
        transfers.class.push(class as u32);
        transfers.size.push(sizes.draw(&mut amounts));
    }
    transfers
}
