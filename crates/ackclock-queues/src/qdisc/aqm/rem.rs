//! REM, random exponential marking: a price of the link that grows with unmatched rate and backlog.
//!
//! **Source**: Athuraliya, Low, Li & Yin, "REM: Active Queue Management", IEEE Network 15(3), 2001
//! (doi:10.1109/65.923940). The text could not be had: rebuilt from its retellings; defaults are
//! those that ns-2.35 sets for its REM, whose code is by one of the authors.
//!
//! **Rule**: every `update`, with b packets waiting, x arrivals in the interval, c packets that the
//! link could send in it: `price = max(0, price + gamma (alpha (b - target) + x - c))`;
//! an arrival is marked or dropped with probability `1 - phi^-price`.
//!
//! **Deviations**: links whose rate changes keep the c of their first rate. Arrivals are counted in
//! packets of the link's typical size, by their bytes.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::Prototype;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Span;
use crate::wire::{DropReason, Packet};

/// Parameters of [`Rem`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Time between two updates of the price.
    #[schemars(range(min = 0.000_001))]
    pub update: Span,
    /// Gain of the price.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub gamma: f64,
    /// Weight of the backlog against the rate.
    #[schemars(range(min = 0))]
    pub alpha: f64,
    /// Base of the marking probability.
    #[schemars(extend("exclusiveMinimum" = 1))]
    pub phi: f64,
    /// Backlog aimed at.
    #[schemars(range(min = 0), extend("x-unit" = "packets"))]
    pub target: f64,
    /// ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            update: Span::from_millis(2),
            gamma: 0.001,
            alpha: 0.1,
            phi: 1.001,
            target: 20.0,
            ecn: false,
        }
    }
}

/// Random exponential marking.
#[derive(Clone, Debug)]
pub struct Rem {
    params: Params,
    mean_packet: f64,
    /// Packets that the link sends between two updates.
    capacity: f64,
    arrived_bytes: u64,
    price: f64,
    p: f64,
}

impl About<QdiscEnv> for Rem {
    type Params = Params;
    const INFO: Info = Info {
        name: "rem",
        title: "REM: random exponential marking",
        source: "Athuraliya, Low, Li & Yin, IEEE Network 15(3), 2001, doi:10.1109/65.923940",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let mean_packet = f64::from(env.mean_packet.max(1));
        let capacity = env.rate.bps() * params.update.seconds() / (8.0 * mean_packet);
        Ok(Self { params, mean_packet, capacity, arrived_bytes: 0, price: 0.0, p: 0.0 })
    }
}

impl Plain for Rem {}

impl Aqm for Rem {
    fn into_prototype(self) -> Option<Box<dyn Prototype>> {
        Some(Box::new(self))
    }

    fn on_enqueue(&mut self, packet: &Packet, _queue: &QueueState, rng: &mut Stream) -> Verdict {
        self.arrived_bytes += u64::from(packet.size);
        if rng.uniform() >= self.p {
            Verdict::Pass
        } else if self.params.ecn {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn timer_interval(&self) -> Option<Span> {
        Some(self.params.update)
    }

    fn on_timer(&mut self, queue: &QueueState) {
        let arrived = self.arrived_bytes as f64 / self.mean_packet;
        self.arrived_bytes = 0;
        let backlog = queue.bytes.0 as f64 / self.mean_packet - self.params.target;
        let excess = self.params.alpha * backlog + arrived - self.capacity;
        self.price = (self.price + self.params.gamma * excess).max(0.0);
        self.p = 1.0 - self.params.phi.powf(-self.price);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("price", self.price);
        out("p", self.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};

    #[test]
    fn the_price_moves_as_computed_by_hand() {
        // 10 Mbit/s for 10 ms are 12.5 packets of 1000 B.
        let update = Span::from_millis(10);
        let params = Params { gamma: 0.5, phi: 2.0, update, ..Params::default() };
        let mut bench = Bench::new(Managed::<Rem>::new(params, &env()).unwrap());
        for _ in 0..40 {
            bench.arrive(0, 1000);
        }
        bench.tick();
        // 0.5 (0.1 (40 - 20) + 40 - 12.5) = 14.75.
        near::<12>(bench.probe("price"), 14.75);
        near::<12>(bench.probe("p"), 1.0 - 2f64.powf(-14.75));
        bench.tick();
        // 0.5 (2 + 0 - 12.5) = -5.25.
        near::<12>(bench.probe("price"), 9.5);
        for _ in 0..40 {
            bench.depart();
        }
        bench.tick();
        // 0.5 (-2 - 12.5) = -7.25.
        near::<12>(bench.probe("price"), 2.25);
        bench.tick();
        near::<12>(bench.probe("price"), 0.0);
        near::<12>(bench.probe("p"), 0.0);
    }

    #[test]
    fn the_printed_parameters_need_693_units_of_price_for_one_half() {
        // ln 2 / ln 1.001 = 693.49.
        let mut rem = Rem::new(Params::default(), &env()).unwrap();
        let queue = QueueState {
            now: crate::units::Time::ZERO,
            packets: 20,
            bytes: crate::units::Bytes(20_000),
            key: QueueState::NOBODY,
        };
        rem.price = 693.49 + 0.0025; // the tick takes off gamma * 2.5
        rem.on_timer(&queue);
        assert!((rem.p - 0.5).abs() < 1e-5, "{}", rem.p);
    }
}
