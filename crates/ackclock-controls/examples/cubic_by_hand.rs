//! Drives CUBIC by hand: a loop in place of a transport, which reports acknowledgements and losses.
//!
//! `cargo run -p ackclock-controls --example cubic_by_hand` prints the window after a loss at 100 segments.

use ackclock_base::era::Era;
use ackclock_base::error::Problem;
use ackclock_base::registry::Spec;
use ackclock_base::units::{BitRate, Span, Time};
use ackclock_controls::cc::{self, Ack, CcEnv, Congestion, CongestionControl, Signal, Window};

const ROUND_TRIP: Span = Span::from_millis(100);

/// The time after so many round trips.
fn after(round_trips: u64) -> Time {
    Time::ZERO + Span(ROUND_TRIP.0 * round_trips)
}

/// The window, after a loss with `at_loss` segments in flight and after each of so many round trips without one.
fn window_after_a_loss(
    control: &mut dyn CongestionControl,
    at_loss: u32,
    round_trips: u64,
) -> Vec<f64> {
    let mut window = Window { cwnd: f64::from(at_loss), ssthresh: f64::INFINITY };
    let loss = Signal::FastRetransmit { lost: 1 };
    control.on_congestion(&mut window, &Congestion::at(Time::ZERO, loss, at_loss));
    let mut windows = vec![window.cwnd];
    for round in 1..=round_trips {
        // One acknowledgement of all that was in flight; a transport reports each as it arrives.
        let in_flight = window.cwnd as u32;
        let ack = Ack {
            in_flight,
            rtt: Some(ROUND_TRIP),
            min_rtt: ROUND_TRIP,
            srtt: ROUND_TRIP,
            round,
            ..Ack::at(after(round), in_flight)
        };
        control.on_ack(&mut window, &ack);
        windows.push(window.cwnd);
    }
    windows
}

/// A control by its name, or with parameters by a table: `{ "kind": "cubic", "beta": 0.5 }`.
fn control(spec: &Spec) -> Result<Box<dyn CongestionControl>, Vec<Problem>> {
    let env = CcEnv {
        mss: 1200,
        wire_size: 1228,
        line_rate: BitRate(10_000_000_000),
        round_trip: Span::from_micros(20),
        era: Era::Rfc,
    };
    cc::build(spec, &env, "cc")
}

fn main() {
    match control(&Spec::from("cubic")) {
        Ok(mut cubic) => {
            for (round, cwnd) in window_after_a_loss(&mut *cubic, 100, 60).iter().enumerate() {
                println!("{:4.1} s {cwnd:6.2} segments", after(round as u64).seconds());
            }
        }
        Err(problems) => problems.iter().for_each(|problem| println!("{problem}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9438 section 4.2: `W(t) = C (t - K)^3 + W_max`, `K = cbrt(W_max (1 - beta) / C)` = cbrt(75) = 4.217 s.
    #[test]
    fn the_window_follows_the_cubic_of_rfc_9438() {
        let mut cubic = control(&Spec::from("cubic")).unwrap();
        let windows = window_after_a_loss(&mut *cubic, 100, 60);
        assert!((windows[0] - 70.0).abs() < 1e-9);
        for (round, &cwnd) in windows.iter().enumerate().skip(2) {
            // The time since the first acknowledgement after the loss, and a round trip ahead.
            let t = after(round as u64).seconds();
            let expected = 0.4 * (t - 75_f64.cbrt()).powi(3) + 100.0;
            assert!((cwnd / expected - 1.0).abs() < 0.02, "{t} s: {cwnd}, expected {expected}");
        }
    }

    #[test]
    fn a_parameter_out_of_range_is_a_sentence() {
        let spec = serde_json::from_str(r#"{ "kind": "cubic", "beta": 2 }"#).unwrap();
        let problems = control(&spec).err().unwrap();
        assert_eq!(problems[0].path, "cc.beta");
        assert!(problems[0].message.contains("less than 1"), "{}", problems[0].message);
    }
}
