//! A template: your own controller of s2n-quic's trait, in a scenario beside a control of ours.
//!
//! ```text
//! cargo run --example own_controller
//! ```
//!
//! The controller here keeps a fixed window. Replace it by your own; what the trait's methods are called with is that of
//! s2n-quic, and [`Driven`] calls them.

use ackclock_core::cc::{CcEnv, CongestionControl};
use ackclock_core::packet::{self, Custom, Made, Place};
use ackclock_core::registry::Spec;
use ackclock_core::{compile, scenario::Scenario};
use ackclock_stacks::controls::Driven;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, RttEstimator};
use s2n_quic_core::time::Timestamp;

/// Keeps a window of so many bytes, whatever happens.
#[derive(Clone, Debug)]
struct FixedWindow {
    window: u32,
    datagram: u32,
    in_flight: u32,
}

impl CongestionController for FixedWindow {
    type PacketInfo = ();

    fn congestion_window(&self) -> u32 {
        self.window
    }

    fn bytes_in_flight(&self) -> u32 {
        self.in_flight
    }

    fn is_congestion_limited(&self) -> bool {
        self.window.saturating_sub(self.in_flight) < self.datagram
    }

    fn requires_fast_retransmission(&self) -> bool {
        false
    }

    fn on_packet_sent<P: Publisher>(
        &mut self,
        _time_sent: Timestamp,
        sent_bytes: usize,
        _app_limited: Option<bool>,
        _rtt: &RttEstimator,
        _publisher: &mut P,
    ) {
        self.in_flight += sent_bytes as u32;
    }

    fn on_rtt_update<P: Publisher>(
        &mut self,
        _time_sent: Timestamp,
        _now: Timestamp,
        _rtt: &RttEstimator,
        _publisher: &mut P,
    ) {
    }

    fn on_ack<P: Publisher>(
        &mut self,
        _newest_acked_time_sent: Timestamp,
        bytes_acknowledged: usize,
        (): (),
        _rtt: &RttEstimator,
        _random: &mut dyn Generator,
        _now: Timestamp,
        _publisher: &mut P,
    ) {
        self.in_flight -= bytes_acknowledged as u32;
    }

    fn on_packet_lost<P: Publisher>(
        &mut self,
        lost_bytes: u32,
        (): (),
        _persistent_congestion: bool,
        _new_loss_burst: bool,
        _random: &mut dyn Generator,
        _now: Timestamp,
        _publisher: &mut P,
    ) {
        self.in_flight -= lost_bytes;
    }

    fn on_explicit_congestion<P: Publisher>(&mut self, _: u64, _: Timestamp, _: &mut P) {}

    fn on_mtu_update<P: Publisher>(&mut self, max_data_size: u16, _publisher: &mut P) {
        self.datagram = u32::from(max_data_size);
    }

    fn on_packet_discarded<P: Publisher>(&mut self, bytes_sent: usize, _publisher: &mut P) {
        self.in_flight -= bytes_sent as u32;
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        None
    }
}

/// Gives flows with `cc = "mine"` the controller; all other names are left to the registry.
struct Mine {
    packets: u32,
}

impl Custom for Mine {
    fn cc(&self, spec: &Spec, env: &CcEnv, _: Place<'_>) -> Made<dyn CongestionControl> {
        let make = |datagram: u16| FixedWindow {
            window: self.packets * u32::from(datagram),
            datagram: u32::from(datagram),
            in_flight: 0,
        };
        (spec.kind() == "mine")
            .then(|| Ok(Box::new(Driven::of(make, env, "fixed")) as Box<dyn CongestionControl>))
    }
}

/// Bits per second of a flow with `cc = "mine"` and of another with `beside`, on a FIFO of 20 Mbit/s and 40 ms.
fn rates(packets: u32, beside: &str) -> [f64; 2] {
    let scenario = serde_json::json!({
        "net": { "kind": "dumbbell", "pairs": 2, "rate": "20 Mbps", "rtt": "40 ms", "buffer": "1 bdp" },
        "flows": [{ "pair": 0, "transport": "quic", "cc": "mine" },
                  { "pair": 1, "transport": "quic", "cc": beside }],
        "duration": 20, "warmup": 5,
    });
    let scenario: Scenario = serde_json::from_value(scenario).expect("it is a scenario");
    let plan = compile::compile(&scenario).expect("it compiles");
    let results = packet::run_with(&plan, &Mine { packets }, &mut |_| true).expect("it runs");
    [0, 1].map(|flow| results.flows[flow].window_bytes() as f64 * 8.0 / results.window_s)
}

fn main() {
    for packets in [10, 40] {
        let [mine, other] = rates(packets, "cubic").map(|bps| bps / 1e6);
        println!(
            "a fixed window of {packets} packets: {mine:.2} Mbit/s beside {other:.2} of cubic"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside a flow of the same kind, ten packets of 1161 B a round trip each: the link is idle most of the time, so
    /// that a round trip is 40 ms, ten transmissions and the sender's wait for them. 10 x 1161 x 8 / 0.0405 = 2.29
    /// Mbit/s, less what an ACK for every second packet delays.
    #[test]
    fn a_fixed_window_gives_the_window_in_each_round_trip() {
        for rate in rates(10, "mine") {
            assert!((2.1e6..2.33e6).contains(&rate), "{rate}");
        }
    }
}
