//! Link-layer retransmission: losses become delay, up to a number of attempts.
//!
//! **Source**: RFC 3366 ("Advice to link designers on link Automatic Repeat reQuest"), sections 1.2 and 2
//! (stop after a number of attempts: "low-persistence" and "high-persistence" ARQ; in-order delivery).
//!
//! **Rule** (per packet; q = loss ratio of one attempt, T = turnaround, n = attempts)
//! ```text
//! failures k ~ geometric: P(k = j) = q^j (1 - q);  k >= n: lost, after n - 1 turnarounds
//! hold = k T;  in_order: a packet is not released before the one ahead of it
//! loss seen above the link: q^n
//! ```
//! Deviations: attempts after the first take no time of the transmitter: the link's rate is what is left
//! after them, and T includes their transmission.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::order::Order;
use super::{Fate, Impairment, ImpairmentEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Span;
use crate::wire::Packet;

/// Parameters of link-layer retransmission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArqParams {
    /// Loss ratio q of one attempt.
    #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
    pub loss: f64,
    /// Time T from one attempt to the next. Left out: twice the link's propagation delay.
    pub turnaround: Option<Span>,
    /// Attempts n before a packet is given up.
    #[schemars(range(min = 1))]
    pub attempts: u32,
    /// Whether the link delivers in order.
    pub in_order: bool,
}

impl Default for ArqParams {
    fn default() -> Self {
        Self { loss: 0.1, turnaround: None, attempts: 8, in_order: true }
    }
}

/// Link-layer retransmission.
pub struct Arq {
    loss: f64,
    turnaround: Span,
    attempts: u32,
    order: Option<Order>,
}

impl About<ImpairmentEnv> for Arq {
    type Params = ArqParams;
    const INFO: Info = Info {
        name: "arq",
        title: "Link-layer retransmission",
        source: "RFC 3366, sections 1.2 and 2",
        status: Status::Specified,
    };

    fn new(params: ArqParams, env: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            loss: params.loss,
            turnaround: params.turnaround.unwrap_or(env.delay * 2),
            attempts: params.attempts,
            order: params.in_order.then(Order::default),
        })
    }
}

impl Impairment for Arq {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, rng: &mut Stream) {
        let mut failures = 0;
        while failures < self.attempts && rng.uniform() < self.loss {
            failures += 1;
        }
        fate.is_lost |= failures == self.attempts;
        fate.hold(self.turnaround * u64::from(failures.min(self.attempts - 1)));
        if let Some(order) = &mut self.order {
            order.keep(fate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fates, rng};
    use super::*;

    fn arq(in_order: bool) -> Arq {
        let params = ArqParams { loss: 0.3, attempts: 3, in_order, ..ArqParams::default() };
        Arq::new(params, &ImpairmentEnv { delay: Span::from_seconds(0.002) }).unwrap()
    }

    #[test]
    fn failures_are_geometric_and_the_rest_is_lost() {
        let n = 100_000;
        let packet_fates = fates(&mut arq(false), n, Span::from_seconds(1.0), &mut rng(1));
        let share = |held_s: f64, lost: bool| {
            let of = |(sent, fate): &&(crate::units::Time, Fate)| {
                fate.is_lost == lost && fate.release.since(*sent).seconds() == held_s
            };
            packet_fates.iter().filter(of).count() as f64 / f64::from(n)
        };
        // 0.7, 0.3 * 0.7, 0.09 * 0.7 after 0, 1, 2 turnarounds of 4 ms; 0.027 lost.
        let expected =
            [(0.0, false, 0.7), (0.004, false, 0.21), (0.008, false, 0.063), (0.008, true, 0.027)];
        for (is_held, lost, p) in expected {
            let error = f64::sqrt(p * (1.0 - p) / f64::from(n));
            assert!((share(is_held, lost) - p).abs() < 5.0 * error, "{is_held} {lost}");
        }
    }

    #[test]
    fn packets_wait_for_the_one_that_is_sent_again() {
        let packet_fates = fates(&mut arq(true), 5000, Span::from_seconds(0.001), &mut rng(2));
        assert!(packet_fates.windows(2).all(|w| w[0].1.release <= w[1].1.release));
        let waited =
            packet_fates.iter().filter(|(s, f)| f.release.since(*s).0 % 4_000_000_000 != 0);
        assert!(waited.count() > 100, "packets wait for others");
    }
}
