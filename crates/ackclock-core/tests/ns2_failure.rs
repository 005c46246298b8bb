//! A congestion control that sets an absurd window stops ns-2's sender with a sentence.

use ackclock_core::cc::{Ack, Congestion, CongestionControl, Window};
use ackclock_core::ids::FlowId;
use ackclock_core::outbox::Outbox;
use ackclock_core::record::Recorder;
use ackclock_core::rng::{Purpose, Stream};
use ackclock_core::scenario::Era;
use ackclock_core::tcp::ns2::{Ns2Options, Ns2Parts, Ns2Sender, Variant};
use ackclock_core::tcp::{Deadline, Endpoint as _, EndpointCtx, TcpConfig};
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
    let mut ctx = EndpointCtx { now, out: &mut out, rng: &mut rng, record: &mut record };
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
