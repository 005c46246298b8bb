//! The two ends over a wire with a script.

mod frames;
mod random;
mod receiver;
mod recovery;
mod reports;
mod wire;

use std::sync::{Arc, Mutex};

use crate::cc::{Ack, Congestion, CongestionControl, Lost, Signal, Window};
use crate::slow_start::SlowStart;
use crate::units::{Span, Time};

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

fn at(n: u64) -> Time {
    Time::ZERO + ms(n)
}

/// What a control was called with.
#[derive(Debug, Default)]
struct Log {
    events: Vec<Congestion>,
    lost: Vec<u32>,
    rtts: Vec<Option<Span>>,
}

type Shared = Arc<Mutex<Log>>;

/// Halves once per event, as RFC 9002 appendix B.6, and grows by one packet per window. At a timeout it cuts ssthresh too, as
/// those of RFC 5681 do, which persistent congestion does not require.
struct Halving {
    log: Shared,
    samples: bool,
}

impl CongestionControl for Halving {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.cwnd += f64::from(ack.acked) / window.cwnd;
        if let Some(sample) = &ack.sample {
            self.log.lock().unwrap().rtts.push(sample.rtt);
        }
    }
    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.log.lock().unwrap().events.push(*event);
        if matches!(event.signal, Signal::Rto { .. }) {
            (window.cwnd, window.ssthresh) = (1.0, 1.5);
        } else {
            window.ssthresh = (window.cwnd / 2.0).max(2.0);
            window.cwnd = window.ssthresh;
        }
    }
    fn wants_samples(&self) -> bool {
        self.samples
    }
    fn uses_slow_start(&self) -> bool {
        true
    }
    fn on_lost(&mut self, _window: &mut Window, lost: &Lost) {
        self.log.lock().unwrap().lost.push(lost.seq);
    }
}

/// Adds what is acknowledged.
struct Doubling;

impl SlowStart for Doubling {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        window.cwnd += f64::from(ack.acked);
    }
}
