//! How much of the window was in use: shared by controls and slow start rules.
//!
//! **Source**: RFC 5681 equation (4) (decrease from `FlightSize`, not from cwnd); RFC 3168 section
//! 6.1.2 (ECN-Echo: decrease from cwnd, no growth); RFC 7661 section 4.3 (no growth of a window
//! that is not used). ns-2 knows neither the first nor the third.

use super::{Ack, Congestion, Signal, Window};
use crate::era::Era;

/// The window that a decrease starts from.
///
/// RFC era: cwnd if it was full, else `FlightSize`. A full window counts with its fraction, because
/// `FlightSize`, a whole number, would take up to one segment more than the rule says.
/// ECN-Echo: cwnd, since the acknowledgement that carries the echo has just emptied a part of it.
/// Era linux: cwnd, as every `ssthresh` function of the kernel. ns-2 eras: cwnd (a sender that is bounded by the
/// receiver passes the bounded window).
pub fn in_use(window: &Window, event: &Congestion, era: Era) -> f64 {
    let flight = f64::from(event.in_flight);
    let unused = flight + 1.0 <= window.cwnd && event.signal != Signal::EcnEcho;
    if era == Era::Rfc && unused { flight } else { window.cwnd }
}

/// Whether this acknowledgement may make the window grow.
pub fn may_grow(ack: &Ack, era: Era) -> bool {
    !(ack.ecn_echo || (ack.app_limited && !era.is_ns2()))
}

/// Units of growth that an acknowledgement is worth: segments in the RFC era, acknowledgements as in ns-2 in the
/// others, none where the window may not grow.
pub fn growth(ack: &Ack, era: Era) -> f64 {
    if !may_grow(ack, era) {
        0.0
    } else if era.is_ns2() {
        1.0
    } else {
        f64::from(ack.acked)
    }
}

/// Answers congestion as RFC 5681 does, with `remaining` segments in place of half of what was in use.
pub fn reduce_to(window: &mut Window, event: &Congestion, era: Era, remaining: f64) {
    let before = window.cwnd;
    match event.signal {
        Signal::Rto { consecutive } => {
            if era.is_ns2() || consecutive <= 1 {
                window.ssthresh = remaining.max(2.0);
            }
            window.cwnd = 1.0;
        }
        Signal::FastRetransmit { .. } => {
            window.ssthresh = remaining.max(2.0);
            window.cwnd = window.ssthresh.min(before);
        }
        Signal::EcnEcho => {
            window.ssthresh = remaining.max(2.0);
            window.cwnd = remaining.max(1.0).min(before);
        }
        Signal::Spurious => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    #[test]
    fn a_full_window_counts_with_its_fraction_and_an_unused_one_does_not_count() {
        let window = Window { cwnd: 10.9, ssthresh: 5.0 };
        let lost = Signal::FastRetransmit { lost: 1 };
        let used = |flight, era| in_use(&window, &Congestion::at(Time::ZERO, lost, flight), era);
        assert_eq!(used(10, Era::Rfc), 10.9);
        assert_eq!(used(13, Era::Rfc), 10.9); // limited transmit sent beyond cwnd
        assert_eq!(used(9, Era::Rfc), 9.0);
        assert_eq!(used(9, Era::Ns2), 10.9);
        let echo = Congestion::at(Time::ZERO, Signal::EcnEcho, 8);
        assert_eq!(in_use(&window, &echo, Era::Rfc), 10.9);
    }

    #[test]
    fn a_reduction_keeps_two_segments_after_a_loss_and_one_after_a_mark_or_a_timeout() {
        let answer = |signal, remaining| {
            let mut window = Window { cwnd: 10.0, ssthresh: 50.0 };
            reduce_to(&mut window, &Congestion::at(Time::ZERO, signal, 10), Era::Rfc, remaining);
            (window.cwnd, window.ssthresh)
        };
        let lost = Signal::FastRetransmit { lost: 1 };
        assert_eq!(answer(lost, 7.0), (7.0, 7.0));
        assert_eq!(answer(lost, 1.5), (2.0, 2.0));
        assert_eq!(answer(lost, 12.0), (10.0, 12.0)); // never grows
        assert_eq!(answer(Signal::EcnEcho, 1.5), (1.5, 2.0));
        assert_eq!(answer(Signal::Rto { consecutive: 1 }, 7.0), (1.0, 7.0));
        assert_eq!(answer(Signal::Rto { consecutive: 2 }, 7.0), (1.0, 50.0));
    }
}
