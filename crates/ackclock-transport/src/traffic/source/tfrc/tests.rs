use super::*;
use crate::ids::FlowId;
use crate::record::Recorder;
use crate::rng::{Purpose, Stream};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// A sender with what it sent, and when.
struct Bench {
    sender: Tfrc,
    sent: Vec<(Time, Packet)>,
    now: Time,
}

impl Bench {
    fn new() -> Self {
        let env = crate::traffic::source::testing::env();
        let params = TfrcParams { packet: Bytes(1000), ecn: false };
        let mut bench =
            Self { sender: Tfrc::new(params, &env).unwrap(), sent: Vec::new(), now: Time::ZERO };
        bench.call(Endpoint::start);
        bench
    }

    fn call(&mut self, f: impl FnOnce(&mut Tfrc, &mut EndpointCtx<'_>)) {
        let mut out = crate::outbox::Outbox::default();
        let mut ctx = EndpointCtx {
            now: self.now,
            out: &mut out,
            rng: &mut Stream::new(1, Purpose::Sender, 0),
            record: &mut Recorder::default(),
            ports: &crate::wire::NO_RECORDS,
        };
        f(&mut self.sender, &mut ctx);
        let now = self.now;
        self.sent.extend(out.take().into_iter().map(|packet| (now, packet)));
    }

    /// Runs timers up to and including `until`.
    fn run(&mut self, until: Time) {
        while self.sender.deadline().at <= until {
            self.now = self.sender.deadline().at;
            self.call(Endpoint::on_timer);
        }
        self.now = until;
    }

    /// A report arrives at `time` of the packet sent 100 ms before.
    fn report(&mut self, time: Time, rate: f64, p: f64) {
        self.run(time);
        let echo = timestamp(Time(time.0 - Span::from_millis(100).0));
        let mut packet = Packet::new(FlowId(0), 0, 40, Flags::ACK | Flags::DATAGRAM);
        Report { echo, delay: Span::ZERO, rate, p }.write(&mut packet);
        self.call(|sender, ctx| sender.on_packet(packet, ctx));
    }

    /// Rate in packets per second.
    fn rate(&self) -> f64 {
        self.sender.rate / 1000.0
    }
}

/// p = 0.01: sqrt(2p/3) = 0.081650, 12 sqrt(3p/8) p (1 + 32 p^2) = 0.0073720; together 0.0890217.
/// p = 1: 0.816497 + 12 x 0.612372 x 33 = 243.3160.
#[test]
fn the_equation_has_the_values_computed_by_hand() {
    for (p, denominator) in [(0.01, 0.089_021_7), (1.0, 243.316)] {
        let rate = equation(1000.0, 0.1, p);
        assert!((rate * 0.1 * denominator / 1000.0 - 1.0).abs() < 1e-5, "{p}: {rate}");
    }
}

#[test]
fn a_packet_a_second_leaves_until_a_report_comes_and_then_the_rate_doubles_per_round_trip() {
    let mut bench = Bench::new();
    // W_init = min(4 s, max(2 s, 4380 B)) = 4000 B in 100 ms: 40 packets a second.
    bench.report(ms(100), 0.0, 0.0);
    assert!((bench.rate() - 40.0).abs() < 1e-3, "{}", bench.rate());
    // No more than twice what was received; twice a round trip it is not doubled.
    for (report_ms, received, rate) in [(200, 40.0, 80.0), (250, 60.0, 80.0), (300, 70.0, 140.0)] {
        bench.report(ms(report_ms), received * 1000.0, 0.0);
        assert!((bench.rate() - rate).abs() < 1e-3, "{report_ms}: {}", bench.rate());
    }
    assert_eq!(bench.sent[0].0, Time::ZERO);
    // 25 ms apart from the report on, for the first waited for 1 s and is late at once.
    let times: Vec<u64> =
        bench.sent.iter().map(|(time, _)| (time.seconds() * 1000.0).round() as u64).collect();
    assert_eq!(times[..5], [0, 100, 125, 150, 175]);
}

#[test]
fn with_losses_the_rate_is_the_equations_and_no_more_than_twice_the_rate_received() {
    let mut bench = Bench::new();
    bench.report(ms(100), 0.0, 0.0);
    // 1 / (0.1 x 0.0890217) = 112.33 packets a second.
    bench.report(ms(200), 1e6, 0.01);
    assert!((bench.rate() - 112.332).abs() < 0.01, "{}", bench.rate());
    // The 1000 packets a second of the report before count for two round trips.
    bench.report(ms(300), 30e3, 0.01);
    assert!((bench.rate() - 112.332).abs() < 0.01, "{}", bench.rate());
    bench.report(ms(450), 30e3, 0.01);
    assert!((bench.rate() - 60.0).abs() < 1e-3, "{}", bench.rate());
}

#[test]
fn silence_halves_the_rate_after_four_round_trips() {
    let mut bench = Bench::new();
    bench.report(ms(100), 0.0, 0.0);
    bench.report(ms(200), 1e6, 0.01);
    bench.run(ms(599));
    assert_eq!(bench.sender.expirations, 0);
    bench.run(ms(601));
    // X_recv <- X_eq / 2 / 2, of which twice may be sent: half of 112.33.
    assert!((bench.rate() - 56.166).abs() < 0.01, "{}", bench.rate());
    // Then the rate is bounded by what was received: a quarter, and so on, never below a packet in 64 s.
    bench.run(ms(1001));
    assert!((bench.rate() - 28.083).abs() < 0.01, "{}", bench.rate());
    bench.run(ms(2_000_000));
    assert!((bench.rate() - 1.0 / 64.0).abs() < 1e-9, "{}", bench.rate());
    // Without any report, from a packet a second, every 2 s.
    let mut bench = Bench::new();
    bench.run(ms(2001));
    assert_eq!(bench.rate(), 0.5);
}

#[test]
fn a_report_survives_its_packet() {
    let report = Report { echo: 77, delay: Span::from_millis(3), rate: 123_456.0, p: 0.015_625 };
    let mut packet = Packet::new(FlowId(0), 0, 40, Flags::ACK);
    report.write(&mut packet);
    assert_eq!(Report::read(&packet), Some(report));
}
