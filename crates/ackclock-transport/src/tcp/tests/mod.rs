//! Sender against receiver over a scripted wire.

mod accurate_ecn;
mod clockwork;
mod control;
mod fall_floyd;
mod linux;
mod model;
mod random;
mod repair;
mod samples;
mod wire;

use std::sync::{Arc, Mutex};

use crate::cc::{Ack, Congestion, CongestionControl, Signal, Window};
use crate::slow_start::SlowStart;
use crate::units::{BitRate, Span, Time};

/// What was reported to a control, shared with the test.
type Log = Arc<Mutex<Vec<Congestion>>>;

/// Additive increase by one per round, halving of FlightSize.
#[derive(Default)]
struct Halving {
    log: Log,
    pacing: Option<BitRate>,
}

impl CongestionControl for Halving {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.cwnd += f64::from(ack.acked.min(1)) / window.cwnd;
    }
    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.log.lock().unwrap().push(*event);
        window.ssthresh = (f64::from(event.in_flight) / 2.0).max(2.0);
        window.cwnd = match event.signal {
            Signal::Rto { .. } => 1.0,
            _ => window.ssthresh,
        };
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing
    }
}

/// Holds the window, whatever happens.
struct Fixed;

impl CongestionControl for Fixed {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// Sets the window to a value that no window can have.
struct Mad(f64);

impl CongestionControl for Mad {
    fn on_ack(&mut self, window: &mut Window, _ack: &Ack) {
        window.cwnd = self.0;
    }
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// One segment per acknowledgement (RFC 5681 equation 2).
struct Doubling;

impl SlowStart for Doubling {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.cwnd += f64::from(ack.acked.min(1));
    }
}

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}
