//! Aggregation: packets leave together at regular times, as frames of a slotted medium.
//!
//! **Source**: the behaviour of Wi-Fi, cellular and DOCSIS links that draft-ietf-ccwg-bbr, section "Extra
//! Acked Estimator", and RFC 3449 ("TCP Performance Implications of Network Path Asymmetry"), sections 2.3
//! and 5.2.1 (ACK filtering), describe.
//!
//! **Rule** (T = interval, t = time at which a packet comes)
//! ```text
//! release = the least multiple of T that is t or later: all packets of an interval leave at once
//! thin_acks:  of the acknowledgements of a flow that wait, only the newest is released
//! ```
//! Deviations: the packets of a frame reach the far end a picosecond apart.
//!
//! Defaults by era: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fate, Impairment, ImpairmentEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Span, Time};
use crate::wire::Packet;

/// Parameters of aggregation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AggregationParams {
    /// Time T between two releases.
    #[schemars(range(min = 0.000_001))]
    pub interval: Span,
    /// When it begins; before, packets leave as they come.
    #[schemars(extend("x-bare" = true))]
    pub start: Span,
    /// Whether an acknowledgement takes the place of an older one of its flow that waits.
    pub thin_acks: bool,
}

impl Default for AggregationParams {
    fn default() -> Self {
        Self { interval: Span::from_seconds(0.004), start: Span::ZERO, thin_acks: false }
    }
}

/// Aggregation.
pub struct Aggregation {
    interval: u64,
    start: u64,
    thin_acks: bool,
}

impl About<ImpairmentEnv> for Aggregation {
    type Params = AggregationParams;
    const INFO: Info = Info {
        name: "aggregation",
        title: "Packets that leave in frames",
        source: "draft-ietf-ccwg-bbr, \"Extra Acked Estimator\"; RFC 3449, sections 2.3 and 5.2.1",
        status: Status::Specified,
    };

    fn new(params: AggregationParams, _: &ImpairmentEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { interval: params.interval.0, start: params.start.0, thin_acks: params.thin_acks })
    }
}

impl Impairment for Aggregation {
    fn pass(&mut self, packet: &Packet, fate: &mut Fate, _: &mut Stream) {
        if fate.release.0 < self.start {
            return;
        }
        let frames = fate.release.0.div_ceil(self.interval);
        fate.release = Time(frames.saturating_mul(self.interval));
        fate.replaces_ack |= self.thin_acks && packet.is_pure_ack();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{data, fates, rng};
    use super::*;
    use crate::wire::Flags;

    #[test]
    fn packets_leave_at_multiples_of_the_interval() {
        let params = AggregationParams {
            interval: Span::from_seconds(0.004),
            start: Span::ZERO,
            thin_acks: true,
        };
        let mut frames = Aggregation::new(params, &ImpairmentEnv { delay: Span::ZERO }).unwrap();
        let packet_fates = fates(&mut frames, 9, Span::from_seconds(0.0015), &mut rng(1));
        let release_ms: Vec<u64> =
            packet_fates.iter().map(|(_, fate)| fate.release.0 / 1_000_000_000).collect();
        // Sent at 0, 1.5, 3, 4.5, 6, 7.5, 9, 10.5, 12 ms.
        assert_eq!(release_ms, [0, 4, 4, 8, 8, 8, 12, 12, 12]);
        assert!(packet_fates.iter().all(|(_, fate)| !fate.replaces_ack));
        let mut ack = data(3);
        ack.flags = Flags::ACK;
        let mut fate = Fate::at(Time(1));
        frames.pass(&ack, &mut fate, &mut rng(1));
        assert!(fate.replaces_ack);
        for flag in [Flags::SYN, Flags::NACK, Flags::GRANT] {
            ack.flags = Flags::ACK | flag;
            let mut fate = Fate::at(Time(1));
            frames.pass(&ack, &mut fate, &mut rng(1));
            assert!(!fate.replaces_ack);
        }
    }

    #[test]
    fn before_its_beginning_packets_leave_as_they_come() {
        let params = AggregationParams {
            interval: Span::from_seconds(0.004),
            start: Span::from_seconds(0.005),
            thin_acks: false,
        };
        let mut frames = Aggregation::new(params, &ImpairmentEnv { delay: Span::ZERO }).unwrap();
        let packet_fates = fates(&mut frames, 5, Span::from_seconds(0.0015), &mut rng(1));
        let release_tenths: Vec<u64> =
            packet_fates.iter().map(|(_, fate)| fate.release.0 / 100_000_000).collect();
        // Sent at 0, 1.5, 3, 4.5, 6 ms.
        assert_eq!(release_tenths, [0, 15, 30, 45, 80]);
    }
}
