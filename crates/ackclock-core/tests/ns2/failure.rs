//! What ns-2's senders refuse: settings that they would ignore, and absurd windows.

use ackclock_core::cc::{Ack, Congestion, CongestionControl, Window};
use ackclock_core::compile;
use ackclock_core::endpoint::{Deadline, Endpoint as _, EndpointCtx};
use ackclock_core::era::Era;
use ackclock_core::ids::FlowId;
use ackclock_core::outbox::Outbox;
use ackclock_core::packet;
use ackclock_core::record::Recorder;
use ackclock_core::rng::{Purpose, Stream};
use ackclock_core::scenario::Scenario;
use ackclock_core::tcp::TcpConfig;
use ackclock_core::tcp_ns2::{Ns2Options, Ns2Parts, Ns2Sender, Variant};
use ackclock_core::units::Time;
use ackclock_core::wire::{Flags, Packet};

/// Sets cwnd to this at every acknowledgement.
struct Sets(f64);

impl CongestionControl for Sets {
    fn on_ack(&mut self, window: &mut Window, _ack: &Ack) {
        window.cwnd = self.0;
    }
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
    fn uses_slow_start(&self) -> bool {
        false
    }
}

/// The failure after the acknowledgements of packets 0 and 1.
fn failure(cwnd: f64) -> (Deadline, Option<String>) {
    let mut sender = Ns2Sender::new(Ns2Parts {
        flow: FlowId(7),
        config: TcpConfig::of_era(Era::Ns2),
        options: Ns2Options::default(),
        variant: Variant::Reno,
        size: None,
        stop: None,
        cc: Box::new(Sets(cwnd)),
    });
    let (mut out, mut record) = (Outbox::default(), Recorder::default());
    let mut rng = Stream::new(1, Purpose::Sender, 0);
    let now = Time::ZERO;
    let mut ctx = EndpointCtx::new(now, &mut out, &mut rng, &mut record);
    sender.start(&mut ctx);
    for number in 1..=2 {
        ctx.now.0 += 50_000_000_000;
        sender.on_packet(Packet::new(FlowId(7), number, 40, Flags::ACK), &mut ctx);
    }
    (sender.deadline(), sender.failure())
}

#[test]
fn nan_and_absurd_windows_stop_the_run() {
    for cwnd in [f64::NAN, f64::INFINITY, 1e12, -1e12] {
        let (deadline, message) = failure(cwnd);
        assert_eq!(deadline, Deadline::FAILED, "cwnd {cwnd}");
        let message = message.expect("a message");
        for part in [format!("cwnd to {cwnd}"), "flow 7".into(), "0.1 s".into()] {
            assert!(message.contains(&part), "{message:?} does not say {part}");
        }
    }
}

#[test]
fn a_window_below_one_packet_only_waits_for_the_timeout() {
    let (deadline, message) = failure(-3.0);
    assert_eq!(message, None);
    // 0.1 s and the smallest RTO of 0.2 s.
    assert_eq!(deadline.at, Time(300_000_000_000));
}

/// The paths of the problems of a flow with this setting.
fn problems(key: &str, value: serde_json::Value) -> Vec<String> {
    let mut flow = serde_json::json!({ "pair": 0 });
    flow[key] = value;
    let scenario: Scenario = serde_json::from_value(serde_json::json!({
        "era": "ns2",
        "duration": 1,
        "net": { "kind": "dumbbell", "pairs": 1, "rate": "1 Mbps", "rtt": "50 ms" },
        "flows": [flow],
    }))
    .expect("a scenario");
    let plan = compile::compile(&scenario).expect("a plan");
    packet::check(&plan, &packet::RegistryOnly).into_iter().map(|p| p.path).collect()
}

#[test]
fn settings_that_the_agents_would_ignore_are_refused() {
    use serde_json::json;
    assert!(problems("slow_start", json!("standard")).is_empty());
    assert_eq!(problems("slow_start", json!("limited")), ["flows[0].slow_start"]);
    let counting = json!({ "kind": "standard", "limit": 2 });
    assert_eq!(problems("slow_start", counting), ["flows[0].slow_start"]);
    assert!(problems("recovery", json!({ "kind": "sack" })).is_empty());
    let prr = json!({ "kind": "sack", "prr": true });
    assert_eq!(problems("recovery", prr), ["flows[0].recovery"]);
    assert_eq!(problems("recovery", json!("rack")), ["flows[0].recovery"]);
    assert_eq!(problems("tcp", json!({ "ns2": { "overhead": 1 } })), ["flows[0].tcp.ns2"]);
}
