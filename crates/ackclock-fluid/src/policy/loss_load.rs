//! Loss-load sender: the rate that gets most through, by the loss-load curves that routers report.
//!
//! **Source**: C. L. Williamson, D. R. Cheriton, SIGCOMM 1991, doi:10.1145/115992.115996;
//! McCullough, Raghavan, Snoeren, section 9: the degree-k polynomial is solved by Newton's method,
//! feedback is instantaneous.
//!
//! **Rule** (own rate r; capacity m; A and B are sums over the others at a link)
//! ```text
//! A = sum r_j,  B = sum r_j^(k+1)
//! p(r) = (A + r - m) r^k / (B + r^(k+1)),  delivered r (1 - p(r)) is largest where
//! k r^(k+1) + (k + 1)(A - m) r^k - B = 0    one positive root
//! the least of these roots over the links of the path is sent
//! ```
//! Deviations: the original's formula was not to be had; see the sharing rule of the same name. The
//! paper is silent on paths with several bottlenecks but for "their bottleneck links", hence the
//! least rate.
//!
//! Defaults by era: k = 10, the value that the paper names.

use super::{DemandPolicy, Hop, PolicyEnv, Sender};
use crate::error::Problem;
use crate::registry::{About, Fact, Info, Status};

/// The penalty k is that of the routers, which announce it to all.
pub use crate::sharing::loss_load::LossLoadParams;

/// Loss-load sender.
pub struct LossLoad {
    k: f64,
}

impl About<PolicyEnv> for LossLoad {
    type Params = LossLoadParams;
    const INFO: Info = Info {
        name: "loss-load",
        title: "Loss-load sender",
        source: "Williamson and Cheriton, SIGCOMM 1991, doi:10.1145/115992.115996",
        status: Status::Reconstructed,
    };

    const FACTS: &'static [Fact] = &[Fact::Overdrives];

    fn new(params: LossLoadParams, _env: &PolicyEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { k: params.k })
    }
}

/// Newton's steps before bisection alone goes on; quadratic convergence needs about six.
const STEPS: usize = 100;

/// Capacities that a sender offers at most: beyond it, in doubles, a link loses all but nothing of what it is
/// offered. With a penalty other than the routers' the best rate may be without bound.
const MOST: f64 = 1e15;

impl LossLoad {
    /// The rate that gets most through one link, others as they are. In units of its capacity.
    fn best(&self, hop: &Hop) -> f64 {
        let k = self.k;
        let own_share = hop.own_rate / hop.capacity;
        let gap = hop.offered / hop.capacity - own_share - 1.0;
        let power = (hop.aggregate - own_share.powf(k + 1.0)).max(0.0);
        // F(r) / r^k = k r + (k + 1) gap - B r^-k rises from minus infinity; one root.
        let value = |r: f64| k * r + (k + 1.0) * gap - power * r.powf(-k);
        let slope = |r: f64| k + k * power * r.powf(-k - 1.0);
        let above = (-(k + 1.0) * gap / k).max(0.0) + power.powf(1.0 / (k + 1.0)) + 1.0;
        let (mut low, mut high) = (0.0, above.min(MOST));
        while value(high) < 0.0 {
            if high >= MOST {
                return MOST;
            }
            high = (2.0 * high).min(MOST);
        }
        let mut rate = if own_share > 0.0 && own_share < high { own_share } else { high };
        for _ in 0..STEPS {
            let f = value(rate);
            if f < 0.0 {
                low = rate;
            } else {
                high = rate;
            }
            let newton = rate - f / slope(rate);
            // Newton's step is kept inside what is known of the root; else the interval is halved.
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - rate).abs() <= 1e-14 * rate {
                return next;
            }
            rate = next;
        }
        rate
    }
}

impl DemandPolicy for LossLoad {
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
        for (rate, path) in next.iter_mut().zip(sender.paths) {
            *rate =
                path.iter().map(|hop| hop.capacity * self.best(hop)).fold(f64::INFINITY, f64::min);
        }
    }

    fn needs_reports(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_on_a_link_the_load_is_1_plus_1_over_k_of_it() {
        for k in [1.0, 2.0, 5.0, 10.0] {
            let hop = Hop {
                capacity: 4.0,
                offered: 1.0,
                aggregate: 0.25f64.powf(k + 1.0),
                own_rate: 1.0,
            };
            let best = LossLoad { k }.best(&hop);
            assert!((best - (1.0 + 1.0 / k)).abs() < 1e-12, "{k}: {best}");
            // The same before it has sent anything.
            let idle = Hop { capacity: 4.0, offered: 0.0, aggregate: 0.0, own_rate: 0.0 };
            let best = LossLoad { k }.best(&idle);
            assert!((best - (1.0 + 1.0 / k)).abs() < 1e-12, "{k}: {best}");
        }
    }

    /// k = 1 and one other that offers A: r^2 + 2 (A - 1) r - A^2 = 0, also where A is 10^10 times the link.
    #[test]
    fn against_one_other_the_rate_is_the_root_of_a_square() {
        for other in [1.5f64, 40.0, 1e10] {
            let own_rate = 0.5 * other;
            let aggregate = other.powi(2) + own_rate.powi(2);
            let hop = Hop { capacity: 1.0, offered: other + own_rate, aggregate, own_rate };
            let half = other - 1.0;
            let root = -half + half.hypot(other);
            let best = LossLoad { k: 1.0 }.best(&hop);
            assert!((best - root).abs() <= 1e-9 * root, "{other}: {best} in place of {root}");
        }
    }

    #[test]
    fn the_answer_to_other_penalties_is_bounded() {
        // Routers of a large penalty announce as much as there is; the sender believes in none.
        for aggregate in [1e70, f64::MAX] {
            let hop = Hop { capacity: 2.0, offered: 1e9, aggregate, own_rate: 1e3 };
            assert_eq!(LossLoad { k: 1e-9 }.best(&hop), MOST);
        }
    }

    #[test]
    fn the_rate_found_gets_more_through_than_its_neighbours() {
        // k = 3; delivered by the curve itself. Two others at 0.5 and 0.9 of the link, and a thousand that offer
        // twice what it carries, against which little gets through.
        let k = 3.0f64;
        for (other_rates, step) in [(vec![0.5f64, 0.9], 1e-2f64), (vec![0.002; 1000], 1e-5)] {
            let (a, b) = (
                other_rates.iter().sum::<f64>(),
                other_rates.iter().map(|r| r.powf(k + 1.0)).sum::<f64>(),
            );
            let through =
                |r: f64| r * (1.0 - (a + r - 1.0).max(0.0) * r.powf(k) / (b + r.powf(k + 1.0)));
            let own_rate = 30.0 * step;
            let aggregate = b + own_rate.powf(k + 1.0);
            let best = LossLoad { k }.best(&Hop {
                capacity: 1.0,
                offered: a + own_rate,
                aggregate,
                own_rate,
            });
            assert!(through(best) > 0.0, "{best}");
            for r in (1..400).map(|n| f64::from(n) * step) {
                assert!(through(best) >= through(r) - 1e-12, "{best} against {r}");
            }
        }
    }
}
