//! The zombie list of SRED: a hit frequency whose inverse estimates the number of active flows.
//!
//! **Source**: Ott, Lakshman & Wong, "SRED: Stabilized RED", INFOCOM 1999, section II
//! (doi:10.1109/INFCOM.1999.752153).
//!
//! **Rule**: the list is first filled with arrivals. Then each arrival is compared with a zombie
//! drawn at random: of the same flow, it is a hit; else it takes the zombie's place with probability
//! r. `P = (1 - a) P + a hit`, a = r / size of the list. P estimates the sum of the squared shares,
//! which is 1 / N for N equal flows.

use crate::rng::Stream;

/// The list and its hit frequency.
#[derive(Clone, Debug)]
pub(crate) struct Zombies {
    list: Vec<u32>,
    size: usize,
    overwrite: f64,
    gain: f64,
    /// P: how often an arrival hits.
    pub(crate) frequency: f64,
}

impl Zombies {
    pub(crate) fn new(size: u32, overwrite: f64) -> Self {
        let gain = overwrite / f64::from(size);
        Self { list: Vec::new(), size: size as usize, overwrite, gain, frequency: 0.0 }
    }

    /// An arrival of the flow `key`; whether it hits.
    #[inline]
    pub(crate) fn arrival(&mut self, key: u32, rng: &mut Stream) -> bool {
        if self.list.len() < self.size {
            self.list.push(key);
            return false;
        }
        let zombie = rng.below(self.size as u64) as usize;
        let hit = self.list[zombie] == key;
        if !hit && rng.uniform() < self.overwrite {
            self.list[zombie] = key;
        }
        self.frequency += self.gain * (f64::from(u8::from(hit)) - self.frequency);
        hit
    }

    /// Bytes of the list.
    pub(crate) fn state_bytes(&self) -> usize {
        self.size * size_of::<u32>()
    }

    /// The estimated number of active flows, at least 1 and at most `most`.
    #[inline]
    pub(crate) fn flows(&self, most: f64) -> f64 {
        // The frequency of a list that has just been filled says nothing yet.
        if self.frequency <= 0.0 { most } else { (1.0 / self.frequency).clamp(1.0, most.max(1.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    #[test]
    fn one_flow_alone_hits_always_and_the_frequency_climbs_by_the_gain() {
        let mut rng = Stream::new(3, Purpose::Qdisc, 0);
        let mut zombies = Zombies::new(4, 0.25);
        for _ in 0..4 {
            assert!(!zombies.arrival(7, &mut rng), "filling the list");
        }
        assert!(zombies.arrival(7, &mut rng));
        // a = 0.25 / 4 = 1/16.
        assert!((zombies.frequency - 0.0625).abs() < 1e-15);
        assert!(zombies.arrival(7, &mut rng));
        assert!((zombies.frequency - (0.0625 + 0.0625 * 0.9375)).abs() < 1e-15);
    }

    #[test]
    fn of_equal_flows_the_inverse_frequency_is_their_number() {
        for flows in [5u32, 50, 200] {
            let mut rng = Stream::new(9, Purpose::Qdisc, 1);
            let mut zombies = Zombies::new(1000, 0.25);
            let mut sum = 0.0;
            for i in 0..120_000u32 {
                zombies.arrival(rng.below(u64::from(flows)) as u32, &mut rng);
                if i >= 40_000 {
                    sum += zombies.frequency;
                }
            }
            let estimate = 80_000.0 / sum;
            // The average has a memory of 4000 arrivals: about 20 independent windows, each with a
            // relative deviation of sqrt(flows / 8000); 4 deviations of their mean, and a list
            // that is a sample of 1000 itself.
            let deviation = (f64::from(flows) / 8000.0 / 20.0 + 1.0 / 20_000.0).sqrt();
            let error = (estimate / f64::from(flows) - 1.0).abs();
            assert!(error < 4.0 * deviation, "{flows}: {estimate}");
        }
    }
}
