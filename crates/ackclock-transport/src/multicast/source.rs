//! The source of a group: when each layer's packets leave.

use super::sequence_number;
use crate::units::{BitRate, PS_PER_S, Span, Time};

/// A layer of a source.
#[derive(Debug)]
struct Layer {
    rate: u64,
    /// Offset of its first burst from the start in picoseconds.
    offset: u128,
    /// Bursts that have left.
    bursts: u64,
}

/// A source that sends each layer at its constant rate, in bursts of one packet or two.
///
/// Burst k of layer i leaves at start + (i / layers + k) burst size / rate, rounded to a picosecond: layers
/// do not start at once.
#[derive(Debug)]
pub struct Source {
    layers: Vec<Layer>,
    size: u16,
    burst: u32,
    start: Time,
    stop: Time,
}

impl Source {
    /// A source of packets of `size` bytes that is silent before `start` and from `stop` on.
    pub fn new(rates: &[BitRate], size: u16, burst: u32, start: Time, stop: Option<Time>) -> Self {
        let bits = u128::from(size) * 8 * u128::from(burst) * u128::from(PS_PER_S);
        let layer = |(i, rate): (usize, &BitRate)| Layer {
            rate: rate.0.max(1),
            offset: bits * i as u128 / (u128::from(rate.0.max(1)) * rates.len() as u128),
            bursts: 0,
        };
        let layers = rates.iter().enumerate().map(layer).collect();
        Self { layers, size, burst, start, stop: stop.unwrap_or(Time::MAX) }
    }

    /// Bytes of a packet on the wire.
    pub fn size(&self) -> u16 {
        self.size
    }

    fn time(&self, layer: &Layer) -> Time {
        let rate = u128::from(layer.rate);
        let bits = u128::from(self.size) * 8 * u128::from(self.burst) * u128::from(PS_PER_S);
        let after = layer.offset + (bits * u128::from(layer.bursts) + rate / 2) / rate;
        self.start + Span(u64::try_from(after).unwrap_or(u64::MAX))
    }

    /// When the next burst leaves, if one does before the stop.
    pub fn next(&self) -> Option<Time> {
        let next = self.layers.iter().map(|layer| self.time(layer)).min()?;
        (next < self.stop).then_some(next)
    }

    /// Takes the sequence numbers of the packets that leave up to `now` into `out`, in order of layers.
    pub fn take(&mut self, now: Time, out: &mut Vec<u32>) {
        for i in 0..self.layers.len() {
            while self.time(&self.layers[i]).min(self.stop) <= now && now < self.stop {
                let first = self.layers[i].bursts * u64::from(self.burst);
                let numbers = first..first + u64::from(self.burst);
                out.extend(numbers.map(|number| sequence_number(i as u32, number as u32)));
                self.layers[i].bursts += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multicast::layer_of;

    /// By hand: pairs of 1000 B at 160 kbit/s leave every 100 ms; layer 1 at 80 kbit/s every 200 ms, half
    /// an interval late.
    #[test]
    fn layers_leave_in_bursts_at_their_rates() {
        let time = |ms| Time::ZERO + Span::from_millis(ms);
        let rates = [160_000, 80_000].map(BitRate);
        let mut source = Source::new(&rates, 1000, 2, time(50), Some(time(350)));
        let mut bursts = Vec::new();
        while let Some(now) = source.next() {
            let mut out = Vec::new();
            source.take(now, &mut out);
            let of = |seq: &u32| (layer_of(*seq), seq & 0xff);
            bursts.push(((now.0 / 1_000_000_000), out.iter().map(of).collect::<Vec<_>>()));
        }
        assert_eq!(
            bursts,
            [
                (50, vec![(0, 0), (0, 1)]),
                (150, vec![(0, 2), (0, 3), (1, 0), (1, 1)]),
                (250, vec![(0, 4), (0, 5)]),
            ]
        );
    }
}
