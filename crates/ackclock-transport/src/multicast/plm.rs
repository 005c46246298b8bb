//! PLM: packet pair receiver-driven layered multicast.
//!
//! The source sends each layer in pairs of packets, back to back. Behind a fair scheduler the spacing of a
//! pair at the receiver gives the bandwidth that is available to the group, so a receiver need not provoke
//! losses to find it.
//!
//! **Source**: Legout & Biersack, "PLM: fast convergence for cumulative layered multicast transmission
//! schemes", SIGMETRICS 2000, doi:10.1145/339331.339340. Reconstructed from Legout's thesis (2000),
//! appendix C.3.3, and the ns manual, section 38.3, which describes the authors' implementation.
//!
//! **Rule** (PP = size / spacing of a pair, n layers held, Tc check time)
//! ```text
//! first pair:                 Tc = now + C
//! PP < B(n):                  drop layers until B(n) <= PP; Tc = now + C
//! PP >= B(n) and now >= Tc:   add layers while B(n + 1) <= least PP since Tc was set; Tc = now + C
//! no packet for `timeout`:    drop a layer
//! loss ratio above `loss`:    drop a layer, then none for this reason during `blind`
//! ```
//! Deviations: the loss ratio is measured over consecutive intervals of `blind`. The base layer is never
//! left.
//!
//! Defaults by era: none. C = 1 s, blind 500 ms and 10 % loss are the authors'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlEnv, LayerControl, Seen};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of PLM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlmParams {
    /// Check interval C: layers are added at most once in this time.
    #[schemars(range(min = 0.000_001))]
    pub check: Span,
    /// A layer is dropped when no packet arrives for this time.
    #[schemars(range(min = 0.000_001))]
    pub timeout: Span,
    /// Loss ratio above which a layer is dropped.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub loss: f64,
    /// Interval of the loss measurement.
    #[schemars(range(min = 0.000_001))]
    pub blind: Span,
}

impl Default for PlmParams {
    fn default() -> Self {
        let half_a_second = Span::from_millis(500);
        Self {
            check: Span::from_millis(1000),
            timeout: half_a_second,
            loss: 0.1,
            blind: half_a_second,
        }
    }
}

/// PLM.
pub struct Plm {
    params: PlmParams,
    /// B(1), B(2), ... in bit/s.
    cumulative_bps: Vec<f64>,
    held: u32,
    /// The check time Tc, once a pair has arrived.
    check_at: Option<Time>,
    /// Least estimate since Tc was set, in bit/s.
    least_bps: f64,
    /// When the absence of packets makes a layer be dropped.
    silent_at: Time,
    /// Beginning of the loss measurement, and packets lost and received since.
    measured_from: Time,
    lost: u64,
    received: u64,
}

impl About<ControlEnv> for Plm {
    type Params = PlmParams;
    const INFO: Info = Info {
        name: "plm",
        title: "PLM",
        source: "Legout & Biersack, SIGMETRICS 2000, doi:10.1145/339331.339340",
        status: Status::Reconstructed,
    };

    fn new(params: PlmParams, env: &ControlEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            params,
            cumulative_bps: (1..=env.count()).map(|n| env.cumulative_bps(n)).collect(),
            held: 1,
            check_at: None,
            least_bps: f64::INFINITY,
            silent_at: Time::MAX,
            measured_from: Time::ZERO,
            lost: 0,
            received: 0,
        })
    }
}

impl Plm {
    /// B(n).
    fn bps(&self, n: u32) -> f64 {
        self.cumulative_bps[n as usize - 1]
    }

    fn drop_layer(&mut self) {
        self.held = (self.held - 1).max(1);
    }

    fn set_check(&mut self, now: Time) {
        self.check_at = Some(now + self.params.check);
        self.least_bps = f64::INFINITY;
    }

    /// A pair gives the estimate `bps`.
    fn on_estimate(&mut self, bps: f64, now: Time) {
        let Some(check_at) = self.check_at else {
            self.set_check(now);
            self.least_bps = bps;
            return;
        };
        if bps < self.bps(self.held) {
            while self.held > 1 && bps < self.bps(self.held) {
                self.held -= 1;
            }
            return self.set_check(now);
        }
        self.least_bps = self.least_bps.min(bps);
        if now >= check_at {
            while (self.held as usize) < self.cumulative_bps.len()
                && self.bps(self.held + 1) <= self.least_bps
            {
                self.held += 1;
            }
            self.set_check(now);
        }
    }

    fn measure_loss(&mut self, arrival: &Seen) {
        self.lost += u64::from(arrival.lost);
        self.received += 1;
        if arrival.now < self.measured_from + self.params.blind {
            return;
        }
        if self.lost as f64 > self.params.loss * (self.lost + self.received) as f64 {
            self.drop_layer();
        }
        (self.measured_from, self.lost, self.received) = (arrival.now, 0, 0);
    }
}

impl LayerControl for Plm {
    fn start(&mut self, now: Time, _: &mut Stream) -> u32 {
        self.measured_from = now;
        self.held
    }

    fn on_packet(&mut self, arrival: &Seen, _: &mut Stream) -> u32 {
        self.silent_at = arrival.now + self.params.timeout;
        self.measure_loss(arrival);
        if let Some(gap) = arrival.pair_gap.filter(|gap| *gap > Span::ZERO) {
            self.on_estimate(f64::from(arrival.size) * 8.0 / gap.seconds(), arrival.now);
        }
        self.held
    }

    fn on_timer(&mut self, now: Time, _: &mut Stream) -> u32 {
        self.drop_layer();
        self.silent_at = now + self.params.timeout;
        self.held
    }

    fn deadline(&self) -> Time {
        if self.held > 1 { self.silent_at } else { Time::MAX }
    }

    fn burst(&self) -> u32 {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::units::BitRate;

    /// Layers of 100, 100, 200, 400 kbit/s: B = 100, 200, 400, 800 kbit/s.
    fn plm() -> (Plm, Stream) {
        let layers = [100_000, 100_000, 200_000, 400_000].map(BitRate).to_vec();
        let plm = Plm::new(PlmParams::default(), &ControlEnv { layers }).unwrap();
        (plm, Stream::new(1, Purpose::Receiver, 0))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// The second of a pair of 1000 B that arrives `gap_ms` after the first: 8 Mbit/s a millisecond.
    fn pair(ms: u64, gap_ms: u64) -> Seen {
        let pair_gap = Some(Span::from_millis(gap_ms));
        Seen { now: at(ms), size: 1000, lost: 0, pair_gap }
    }

    /// Worked by hand: 8000 bit in 16 ms are 500 kbit/s, in 10 ms 800, in 32 ms 250, in 100 ms 80 kbit/s.
    #[test]
    fn layers_follow_the_least_estimate_once_a_check_interval() {
        let (mut plm, mut rng) = plm();
        assert_eq!(plm.start(at(0), &mut rng), 1);
        assert_eq!(plm.on_packet(&pair(100, 10), &mut rng), 1);
        assert_eq!(plm.on_packet(&pair(600, 16), &mut rng), 1);
        assert_eq!(plm.on_packet(&pair(1099, 10), &mut rng), 1);
        // 1 s after the first pair, to the least estimate, 500: B(3) = 400.
        assert_eq!(plm.on_packet(&pair(1100, 10), &mut rng), 3);
        // Nothing is added before the next check.
        assert_eq!(plm.on_packet(&pair(1500, 10), &mut rng), 3);
        // 250 < B(3): at once down to B(2) = 200, and the check is put off.
        assert_eq!(plm.on_packet(&pair(1600, 32), &mut rng), 2);
        assert_eq!(plm.on_packet(&pair(2599, 10), &mut rng), 2);
        assert_eq!(plm.on_packet(&pair(2600, 10), &mut rng), 4);
        // 80 is below every layer: the base layer stays.
        assert_eq!(plm.on_packet(&pair(2700, 100), &mut rng), 1);
    }

    #[test]
    fn silence_and_loss_drop_one_layer_at_a_time() {
        let (mut plm, mut rng) = plm();
        plm.start(at(0), &mut rng);
        plm.on_packet(&pair(100, 10), &mut rng);
        assert_eq!(plm.deadline(), Time::MAX);
        assert_eq!(plm.on_packet(&pair(1100, 10), &mut rng), 4);
        assert_eq!(plm.deadline(), at(1600));
        assert_eq!(plm.on_timer(at(1600), &mut rng), 3);
        assert_eq!(plm.deadline(), at(2100));
        // The measurement ended at 1100; a packet lost of two is above a tenth, 500 ms later at the earliest.
        let lossy = Seen { lost: 1, pair_gap: None, ..pair(1601, 1) };
        assert_eq!(plm.on_packet(&lossy, &mut rng), 2);
        let lossy = Seen { now: at(1700), ..lossy };
        assert_eq!(plm.on_packet(&lossy, &mut rng), 2);
    }
}
