//! SRED, stabilised RED: drop probabilities from the queue's third and the number of active flows.
//!
//! **Source**: Ott, Lakshman & Wong, "SRED: Stabilized RED", INFOCOM 1999
//! (doi:10.1109/INFCOM.1999.752153). The text could not be had: rebuilt from lectures on it, from
//! comments in an ns-3 port that quote it, and from J-Sim's port of ns-2 code; these agree on the
//! levels, on 0.15 and on the factor of a hit. List length and overwriting are the ns-3 port's.
//! Compared line by line with J-Sim's port (`SRED.java`, 2002).
//!
//! **Rule**: P is the hit frequency of the zombie list. With the buffer's share f that is taken:
//! - `p_sred` is `max_p` for f >= 1/3, `max_p / 4` for 1/6 <= f < 1/3, else 0;
//! - simple: `p_zap = p_sred min(1, 1 / (256 P)^2)`;
//! - full: that times `1 + hit / P`, at most 1.
//!
//! **Deviations**: f is of packets or bytes, whichever is more; with no limit it is 0. P begins when the list is full; J-Sim's
//! falls from the first arrival on. J-Sim's factor is 1 / (b P / 3)^2, with a buffer of b packets, in place of 256, and its list has
//! 200 zombies that are overwritten with probability 0.8, with a gain of 0.001.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::zombies::Zombies;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, State, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::wire::{DropReason, Packet};

/// Parameters of [`Sred`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Length of the zombie list.
    #[schemars(range(min = 1))]
    pub zombies: u32,
    /// Probability that a zombie that was not hit is overwritten.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub overwrite: f64,
    /// Drop probability of a queue of a third of the buffer or more.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub max_p: f64,
    /// Flows that hit are dropped more often (full SRED).
    pub full: bool,
    /// ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { zombies: 1000, overwrite: 0.25, max_p: 0.15, full: true, ecn: false }
    }
}

/// Stabilised RED.
#[derive(Debug)]
pub struct Sred {
    limit: Limit,
    zombies: Zombies,
    max_p: f64,
    full: bool,
    verdict: Verdict,
    p: f64,
}

impl About<QdiscEnv> for Sred {
    type Params = Params;
    const INFO: Info = Info {
        name: "sred",
        title: "SRED: stabilised RED",
        source: "Ott, Lakshman & Wong, INFOCOM 1999, doi:10.1109/INFCOM.1999.752153",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            limit: env.limit,
            zombies: Zombies::new(params.zombies, params.overwrite),
            max_p: params.max_p,
            full: params.full,
            verdict: if params.ecn {
                Verdict::MarkElseDrop(DropReason::Unmarkable)
            } else {
                Verdict::Drop(DropReason::Early)
            },
            p: 0.0,
        })
    }
}

impl Sred {
    /// The share of the buffer that is taken.
    #[inline]
    fn buffer_share(&self, queue: &QueueState) -> f64 {
        let share = |fill: f64, most: f64, limited: bool| if limited { fill / most } else { 0.0 };
        let packets = share(
            queue.packets as f64,
            f64::from(self.limit.packets),
            self.limit.packets != u32::MAX,
        );
        let bytes =
            share(queue.bytes.0 as f64, self.limit.bytes as f64, self.limit.bytes != u64::MAX);
        packets.max(bytes)
    }

    #[inline]
    fn p_zap(&self, hit: bool, filled: f64) -> f64 {
        let p_sred = if filled >= 1.0 / 3.0 {
            self.max_p
        } else if filled >= 1.0 / 6.0 {
            self.max_p / 4.0
        } else {
            return 0.0;
        };
        let flows = 1.0 / (256.0 * self.zombies.frequency);
        let p = p_sred * (flows * flows).min(1.0);
        // A hit raises the frequency first, so it is more than 0 here.
        if hit && self.full { (p * (1.0 + 1.0 / self.zombies.frequency)).min(1.0) } else { p }
    }
}

impl Plain for Sred {
    /// SRED's own: arrivals that find no room count too.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Aqm for Sred {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        let hit = self.zombies.arrival(queue.key, rng);
        if !self.limit.admits(queue.packets, queue.bytes, packet.size) {
            return Verdict::Drop(DropReason::Overflow);
        }
        self.p = self.p_zap(hit, self.buffer_share(queue));
        if rng.uniform() < self.p { self.verdict } else { Verdict::Pass }
    }

    fn state(&self) -> State {
        let bytes = size_of::<Self>() + self.zombies.state_bytes();
        State { flows: 0, bytes: bytes as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.p);
        out("hit_frequency", self.zombies.frequency);
        out("flows", if self.zombies.frequency > 0.0 { 1.0 / self.zombies.frequency } else { 0.0 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};

    fn sred(params: Params) -> Sred {
        let limit = Limit { packets: 60, bytes: u64::MAX };
        Sred::new(params, &QdiscEnv { limit, ..env() }).unwrap()
    }

    #[test]
    fn the_three_levels_are_at_a_sixth_and_a_third_of_the_buffer() {
        // Frequency 0 stands for very many flows: the factor is 1.
        let params = Params { zombies: 1_000_000, ..Params::default() };
        let mut bench = Bench::new(Managed::over(sred(params), Limit::NONE));
        let mut p = Vec::new();
        while bench.qdisc_len() < 25 {
            bench.arrive(0, 1000);
            p.push((bench.probe("p"), bench.qdisc_len()));
        }
        for (p, len) in p {
            // `len` counts the arrival too if it was let in.
            match len {
                0..=9 => near::<12>(p, 0.0),
                12..=19 => near::<12>(p, 0.0375),
                22..=25 => near::<12>(p, 0.15),
                _ => {}
            }
        }
    }

    #[test]
    fn few_flows_are_dropped_by_the_square_of_their_number() {
        let mut sred = sred(Params::default());
        // Half of the buffer is taken.
        // 64 flows: (64 / 256)^2 = 1/16; a hit makes it 65 times that: 0.15 x 65 / 16 = 0.609375.
        sred.zombies.frequency = 1.0 / 64.0;
        near::<12>(sred.p_zap(false, 0.5), 0.15 / 16.0);
        near::<12>(sred.p_zap(true, 0.5), 0.609_375);
        // 512 flows: the factor is capped at 1, and 0.15 x 513 at 1.
        sred.zombies.frequency = 1.0 / 512.0;
        near::<12>(sred.p_zap(false, 0.5), 0.15);
        near::<12>(sred.p_zap(true, 0.5), 1.0);
        sred.full = false;
        near::<12>(sred.p_zap(true, 0.5), 0.15);
    }

    #[test]
    fn without_a_limit_nothing_is_dropped() {
        let mut bench = Bench::new(Managed::<Sred>::new(Params::default(), &env()).unwrap());
        for _ in 0..3000 {
            bench.arrive(0, 1000);
        }
        assert_eq!(bench.drops(), []);
    }
}
