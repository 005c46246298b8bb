//! What tests of this room share.

use super::{Ack, CcEnv, Congestion, CongestionControl, RateSample, Signal, Window};
use crate::era::Era;
use crate::units::{BitRate, Span, Time};

/// All eras.
pub const ERAS: [Era; 6] = [Era::Rfc, Era::Linux, Era::Y1999, Era::Y2002, Era::Y2007, Era::Ns2];

/// Surroundings of a flow with 1000-byte segments.
pub fn env(era: Era) -> CcEnv {
    CcEnv {
        mss: 1000,
        wire_size: 1040,
        line_rate: BitRate(10_000_000_000),
        round_trip: Span::from_micros(20),
        era,
    }
}

/// An acknowledgement of `acked` segments in 100 ms on a path of 100 ms, with a rate sample, of which `change` may
/// make another; `delivered` counts on.
pub fn round_ack(
    now: Time,
    delivered: &mut u64,
    acked: u32,
    in_flight: u32,
    change: impl FnOnce(&mut RateSample),
) -> Ack {
    let mut sample = RateSample {
        has_data: true,
        newly_acked: acked,
        delivered: u64::from(acked),
        delivery_rate: f64::from(acked) * 10.0,
        prior_delivered: *delivered,
        tx_in_flight: in_flight,
        rtt: Some(Span::from_millis(100)),
        has_selective_acks: true,
        ..RateSample::default()
    };
    change(&mut sample);
    *delivered += u64::from(acked);
    Ack { in_flight, delivered: *delivered, sample: Some(sample), ..Ack::at(now, acked) }
}

/// Mean window in segments, as segments per round trip, where one segment in `1 / p` is lost, periodically, on a
/// path of constant round-trip time. It begins at `start` segments and forgets the first forty of sixty cycles.
pub fn mean_window(control: &mut dyn CongestionControl, p: f64, rtt: Span, start: f64) -> f64 {
    let cycle = (1.0 / p).round() as u64;
    let mut window = Window { cwnd: start, ssthresh: 2.0 };
    let (mut all_rounds, mut rounds, mut delivered) = (0.0, 0.0, 0);
    for number in 0..60 {
        let mut left = cycle;
        while left > 0 {
            let acked = ((window.cwnd / 64.0) as u64).clamp(1, left);
            all_rounds += acked as f64 / window.cwnd;
            if number >= 40 {
                rounds += acked as f64 / window.cwnd;
            }
            left -= acked;
            delivered += acked;
            let ack = Ack {
                rtt: Some(rtt),
                min_rtt: rtt,
                srtt: rtt,
                round: all_rounds as u64,
                in_flight: window.cwnd as u32,
                delivered,
                delivery_rate: window.cwnd / rtt.seconds(),
                ..Ack::at(at_round(all_rounds, rtt), acked as u32)
            };
            control.on_ack(&mut window, &ack);
        }
        let lost = Signal::FastRetransmit { lost: 1 };
        let now = at_round(all_rounds, rtt);
        let event = Congestion {
            min_rtt: rtt,
            srtt: rtt,
            ..Congestion::at(now, lost, window.cwnd.ceil() as u32)
        };
        control.on_congestion(&mut window, &event);
    }
    20.0 * cycle as f64 / rounds
}

fn at_round(rounds: f64, rtt: Span) -> Time {
    Time::ZERO + Span::from_seconds(rounds * rtt.seconds())
}
