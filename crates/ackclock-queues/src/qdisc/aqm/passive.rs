//! A flow's round-trip time as a router on the way of its data measures it.
//!
//! The router sees one direction only: connection request and data, no acknowledgements.
//!
//! **Source**: the request and the first data after it span a round trip (Jiang & Dovrolis, "Passive
//! estimation of TCP round-trip times", ACM CCR 32(3), 2002, the SYN method,
//! doi:10.1145/571697.571725). That timestamps (RFC 7323) show which acknowledgement made a sender
//! send is from Veal, Li & Lowenthal, "New methods for passive estimation of TCP round-trip times",
//! PAM 2005 (doi:10.1007/978-3-540-31966-5_10), who see both directions; abstracts were read.
//!
//! **Rule**: the request passes at `t0`, the first data at `t1` with the receiver's clock `e0`:
//! - R = t1 - t0; what had reached the receiver at clock e had passed here at `t0 + (e - e0)`;
//! - the first packet with a new e, at time t: sample `t - t0 - (e - e0)`; R moves by 1/8 of the
//!   difference, as SRTT does (RFC 6298). More packets with the same e waited for a window and say
//!   nothing.
//!
//! **Deviations**: the rate of the receiver's clock, which a router has to learn, is known. What
//! happens between router and receiver after the request is not seen; of this router's own queue R
//! has what the request waited.

use crate::units::Time;
use crate::wire::{Flags, Packet, TIMESTAMP_TICK};

/// Weight of a new sample.
const GAIN: f64 = 0.125;

/// What a router knows of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passive {
    /// When the latest connection request passed.
    request: Option<Time>,
    /// When that passed which the receiver had at its clock `echo`.
    passed: Time,
    /// Newest clock of the receiver that was seen; 0: none yet.
    echo: u32,
    /// Smoothed round-trip time \[s\]; 0: not known yet.
    rtt_s: f64,
}

impl Passive {
    /// A packet of the flow passes; the round-trip time \[s\], 0 if it is not known yet.
    #[inline]
    pub(crate) fn packet(&mut self, packet: &Packet, now: Time) -> f64 {
        if packet.flags.has(Flags::SYN) {
            // The latest request: an earlier one may have been lost.
            self.request = Some(now);
        } else if !packet.is_ack() {
            self.data(packet.timestamps().map_or(0, |clocks| clocks.receiver), now);
        }
        self.rtt_s
    }

    fn data(&mut self, echo: u32, now: Time) {
        let Some(request) = self.request else { return };
        if self.rtt_s <= 0.0 {
            self.rtt_s = now.since(request).seconds();
            (self.passed, self.echo) = (request, echo);
            return;
        }
        let ticks = echo.wrapping_sub(self.echo);
        // The same clock again, an older one that was overtaken, or none at all.
        if self.echo == 0 || echo == 0 || ticks == 0 || ticks >= 1 << 31 {
            return;
        }
        self.passed += TIMESTAMP_TICK * u64::from(ticks);
        self.echo = echo;
        self.rtt_s += GAIN * (now.since(self.passed).seconds() - self.rtt_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use crate::near::near;
    use crate::units::Span;
    use crate::wire::Timestamps;

    fn echo(packet: &mut Packet, receiver: u32) {
        packet.options.tcp_mut().timestamps = Some(Timestamps { sender: 0, receiver });
    }

    /// A packet at `ms` with the receiver's clock at `echo_ms`, which began at 5 s.
    fn see(flow: &mut Passive, ms: u64, flags: Flags, echo_ms: Option<u64>) -> f64 {
        let mut packet = Packet::new(FlowId(0), 0, 1000, flags);
        // 16 ticks to a microsecond.
        if let Some(ms) = echo_ms {
            echo(&mut packet, ((5000 + ms) * 16_000) as u32);
        }
        flow.packet(&packet, Time(Span::from_millis(ms).0))
    }

    #[test]
    fn the_round_trip_follows_the_echoes_as_computed_by_hand() {
        let mut flow = Passive::default();
        near::<12>(see(&mut flow, 900, Flags::default(), Some(0)), 0.0);
        // Request at 1 s; the receiver has it 30 ms later and answers; data pass 100 ms after it.
        near::<12>(see(&mut flow, 1000, Flags::SYN, None), 0.0);
        near::<12>(see(&mut flow, 1100, Flags::default(), Some(30)), 0.1);
        // What had passed at 1130 was at the receiver at 1160, its clock at 160: 70 ms.
        near::<12>(see(&mut flow, 1200, Flags::default(), Some(160)), 0.1 + (0.07 - 0.1) / 8.0);
    }

    #[test]
    fn only_the_first_packet_of_an_echo_counts() {
        let mut flow = Passive::default();
        see(&mut flow, 1000, Flags::SYN, None);
        see(&mut flow, 1100, Flags::default(), Some(30));
        // Passed at 1100, at the receiver at 1130: 100 ms. Then a burst, and one overtaken.
        near::<12>(see(&mut flow, 1200, Flags::default(), Some(130)), 0.1);
        near::<12>(see(&mut flow, 1900, Flags::default(), Some(130)), 0.1);
        near::<12>(see(&mut flow, 2000, Flags::default(), Some(120)), 0.1);
        near::<12>(see(&mut flow, 2100, Flags::default(), None), 0.1);
        // 260 ms for this one: 0.1 + 0.16 / 8.
        near::<12>(see(&mut flow, 2260, Flags::default(), Some(1030)), 0.12);
    }

    #[test]
    fn the_clock_may_wrap() {
        let mut flow = Passive::default();
        let mut packet = Packet::new(FlowId(0), 0, 1000, Flags::SYN);
        flow.packet(&packet, Time(0));
        packet.flags = Flags::default();
        echo(&mut packet, u32::MAX - 799);
        near::<12>(flow.packet(&packet, Time(Span::from_millis(100).0)), 0.1);
        // 1600 ticks later, 100 microseconds, and seen 100 microseconds later.
        echo(&mut packet, 800);
        near::<12>(flow.packet(&packet, Time(Span::from_micros(100_100).0)), 0.1);
    }

    #[test]
    fn without_timestamps_it_is_the_handshake_s() {
        let mut flow = Passive::default();
        see(&mut flow, 1000, Flags::SYN, None);
        see(&mut flow, 3000, Flags::SYN, None);
        near::<12>(see(&mut flow, 3050, Flags::default(), None), 0.05);
        near::<12>(see(&mut flow, 3500, Flags::default(), None), 0.05);
    }
}
