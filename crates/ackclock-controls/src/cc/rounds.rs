//! The round-trip samples of each round, for controls that decide once per round trip.

use super::Ack;

/// Samples of one round in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RoundRtt {
    pub(crate) mean: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) count: u32,
}

/// Gathers the samples of the present round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundSamples {
    round: Option<u64>,
    sum: f64,
    least: f64,
    most: f64,
    count: u32,
}

impl RoundSamples {
    /// Takes an acknowledgement. When it begins a round, returns the samples of the round before, if it had any.
    pub(crate) fn on_ack(&mut self, ack: &Ack) -> Option<RoundRtt> {
        let mut before = None;
        if *self.round.get_or_insert(ack.round) != ack.round {
            before = (self.count > 0 && self.sum > 0.0).then(|| RoundRtt {
                mean: self.sum / f64::from(self.count),
                least: self.least,
                most: self.most,
                count: self.count,
            });
            *self = Self { round: Some(ack.round), ..Self::default() };
        }
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.seconds();
            self.least = if self.count == 0 { rtt } else { self.least.min(rtt) };
            self.most = self.most.max(rtt);
            self.sum += rtt;
            self.count += 1;
        }
        before
    }

    /// Forgets the samples of the present round.
    pub(crate) fn forget(&mut self) {
        *self = Self { round: self.round, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Span, Time};

    #[test]
    fn a_round_is_reported_with_the_first_acknowledgement_of_the_next() {
        let mut samples = RoundSamples::default();
        let mut take = |round, ms| {
            let rtt = Some(Span::from_millis(ms));
            samples.on_ack(&Ack { rtt, round, ..Ack::at(Time::ZERO, 1) })
        };
        assert_eq!((take(4, 100), take(4, 130), take(4, 110)), (None, None, None));
        let before = take(5, 500).unwrap();
        assert!((before.mean - 0.34 / 3.0).abs() < 1e-12);
        assert_eq!((before.least, before.most, before.count), (0.1, 0.13, 3));
        assert_eq!(take(6, 1).unwrap().most, 0.5);
    }

    #[test]
    fn samples_that_were_forgotten_do_not_count_and_the_round_goes_on() {
        let mut samples = RoundSamples::default();
        let ack =
            |round, ms| Ack { rtt: Some(Span::from_millis(ms)), round, ..Ack::at(Time::ZERO, 1) };
        assert_eq!(samples.on_ack(&ack(4, 900)), None);
        samples.forget();
        assert_eq!(samples.on_ack(&ack(4, 100)), None);
        let before = samples.on_ack(&ack(5, 300)).unwrap();
        assert_eq!((before.least, before.most, before.count), (0.1, 0.1, 1));
        samples.forget();
        assert_eq!(samples.on_ack(&ack(6, 1)), None);
    }
}
