//! What tests of this room share.

use super::{Fate, Impairment};
use crate::ids::FlowId;
use crate::rng::{Purpose, Stream};
use crate::units::{Span, Time};
use crate::wire::{Flags, Packet};

/// The random numbers of a link.
pub(super) fn rng(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Impairment, 0)
}

/// A data packet.
pub(super) fn data(seq: u32) -> Packet {
    Packet::new(FlowId(0), seq, 1500, Flags::default())
}

/// What becomes of `count` packets that come every `gap`, in order.
pub(super) fn fates(
    impairment: &mut dyn Impairment,
    count: u32,
    gap: Span,
    rng: &mut Stream,
) -> Vec<(Time, Fate)> {
    let fate_of = |i: u32| {
        let sent = Time(u64::from(i) * gap.0);
        let mut fate = Fate::at(sent);
        impairment.pass(&data(i), &mut fate, rng);
        (sent, fate)
    };
    (0..count).map(fate_of).collect()
}

/// The mean of how long packets are held, in seconds.
pub(super) fn mean_hold(fates: &[(Time, Fate)]) -> f64 {
    let sum: f64 = fates.iter().map(|(sent, fate)| fate.release.seconds() - sent.seconds()).sum();
    sum / fates.len() as f64
}
