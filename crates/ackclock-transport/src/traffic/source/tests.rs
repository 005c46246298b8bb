use super::*;
use crate::record::Recorder;
use crate::registry::Spec;
use crate::rng::{Purpose, Stream};
use crate::wire::Packet;

const ERAS: [Era; 6] = [Era::Rfc, Era::Linux, Era::Y1999, Era::Y2002, Era::Y2007, Era::Ns2];

fn spec(json: serde_json::Value) -> Spec {
    serde_json::from_value(json).unwrap()
}

fn env(stop: Option<Span>) -> SourceEnv {
    SourceEnv { flow: FlowId(3), stop, ..super::testing::env() }
}

/// Runs a source from `start` on until `until` or it is silent; calls `on_packet` for each packet.
fn drive(
    source: &mut dyn Endpoint,
    seed: u64,
    start: Time,
    until: Time,
    mut on_packet: impl FnMut(Time, &Packet),
) {
    let mut out = crate::outbox::Outbox::default();
    let mut rng = Stream::new(seed, Purpose::Sender, 3);
    let mut record = Recorder::default();
    let mut now = start;
    source.start(&mut EndpointCtx::new(now, &mut out, &mut rng, &mut record));
    loop {
        for packet in out.take() {
            assert!(packet.flags == Flags::DATAGRAM && packet.flow == FlowId(3));
            on_packet(now, &packet);
        }
        let deadline = source.deadline();
        assert!(deadline.at >= now, "a deadline in the past");
        if deadline.at >= until {
            return;
        }
        assert_eq!(deadline.armed, now);
        now = deadline.at;
        source.on_timer(&mut EndpointCtx::new(now, &mut out, &mut rng, &mut record));
    }
}

/// Times (in microseconds from the run's start) and sizes of all packets.
fn list(json: serde_json::Value, start_us: u64, stop: Option<Span>) -> Vec<(f64, u16)> {
    let mut source = build(&spec(json), &env(stop), "source").unwrap();
    let mut packets = Vec::new();
    let start = Time::ZERO + Span::from_micros(start_us);
    drive(&mut *source, 1, start, Time(10 * crate::units::PS_PER_S), |time, p| {
        assert_eq!(p.seq as usize, packets.len());
        packets.push((time.0 as f64 / 1e6, p.size));
    });
    let snapshot = source.snapshot();
    assert_eq!(snapshot.sent_packets, packets.len() as u64);
    assert_eq!(snapshot.sent_bytes, packets.iter().map(|&(_, size)| u64::from(size)).sum::<u64>());
    packets
}

fn times(list: &[(f64, u16)]) -> Vec<f64> {
    list.iter().map(|&(time, _)| time).collect()
}

#[test]
fn cbr_keeps_exact_time_over_a_million_packets_at_155_megabits() {
    // 1000 B at 155 Mb/s take 51.612903.. us, no whole number of picoseconds; but 31 packets take
    // 248000 b / 155 Mb/s = 1.6 ms exactly, and no interval is off by a picosecond.
    // A million packets take 8e9 b / 155 Mb/s = 51.612903225806 s; packet 10^6 leaves just then.
    let json = serde_json::json!({"kind": "cbr", "rate": "155 Mb/s", "packet": 1000});
    let mut source = build(&spec(json), &env(None), "source").unwrap();
    let (mut count, mut last) = (0u64, None);
    drive(&mut *source, 1, Time::ZERO, Time(51_612_903_225_806), |time, p| {
        assert_eq!(u64::from(p.seq), count);
        if count % 31 == 0 {
            assert_eq!(time, Time::ZERO + Span::from_micros(1600) * (count / 31));
        }
        if let Some(last) = last {
            let gap = time.since(last).0;
            assert!(gap == 51_612_903 || gap == 51_612_904, "{gap}");
        }
        last = Some(time);
        count += 1;
    });
    assert_eq!(count, 1_000_000);
}

#[test]
fn cbr_starts_with_a_packet_and_stops_before_its_stop() {
    // 1000 B at 8 Mb/s: 1 ms apart. At 3 ms after the start, the stop, nothing leaves.
    let json = serde_json::json!({"kind": "cbr", "rate": 8e6});
    let stop = Some(Span::from_micros(3500));
    assert_eq!(times(&list(json, 500, stop)), [500.0, 1500.0, 2500.0]);
}

#[test]
fn cbr_periods_begin_with_a_packet_each() {
    let json = serde_json::json!({
        "kind": "cbr", "rate": 8e6,
        "periods": [{"on": "0.4 ms", "off": "2.4 ms"}, {"on": "5 ms", "off": "6.5 ms"}],
    });
    assert_eq!(times(&list(json, 0, None)), [400.0, 1400.0, 5000.0, 6000.0]);
}

#[test]
fn a_change_of_rate_keeps_what_has_accrued_and_silence_does_not() {
    // 8 Mb/s: packets at 0 and 1 ms. At 1.5 ms, with half a packet accrued, the rate halves: the
    // other half takes 1 ms, so 2.5 ms, then every 2 ms. Silence from 5 ms; 8 Mb/s from 6.2 ms.
    let json = serde_json::json!({
        "kind": "cbr", "rate": 8e6,
        "schedule": [
            {"at": "1.5 ms", "rate": "4 Mb/s"}, {"at": "5 ms", "rate": 0},
            {"at": "6.2 ms", "rate": "8 Mb/s"}, {"at": "8 ms", "rate": 0},
        ],
    });
    assert_eq!(times(&list(json, 0, None)), [0.0, 1000.0, 2500.0, 4500.0, 6200.0, 7200.0]);
}

#[test]
fn jitter_delays_by_a_part_of_the_interval_and_keeps_the_rate() {
    let json = serde_json::json!({"kind": "cbr", "rate": 8e6, "jitter": 0.5});
    let sent_times = times(&list(json, 0, Some(Span::from_millis(1000))));
    assert!(sent_times.len() >= 999, "{}", sent_times.len());
    let late: Vec<f64> =
        sent_times.iter().enumerate().map(|(k, time)| time - 1000.0 * k as f64).collect();
    assert!(late.iter().all(|late| (0.0..500.0).contains(late)));
    // Uniform on [0, 500) us: mean 250, standard deviation of the mean 500 / sqrt(12 x 1000) = 4.6.
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!((mean - 250.0).abs() < 18.0, "{mean}");
}

#[test]
fn on_off_sources_have_the_mean_rate_of_their_peak_and_periods() {
    // Mean rate = 8 Mb/s x 0.1 / (0.1 + 0.3) = 2 Mb/s. A run of 4000 s has 10,000 cycles. For the
    // exponential the relative error of the rate is about sqrt(2 / 10^4) x 3/4 = 1.1 %; for Pareto
    // with shape 2.5 (standard deviation 0.89 of the mean) it is less. Four of them are allowed.
    for (name, extra) in [("exponential-on-off", None), ("pareto-on-off", Some(2.5))] {
        let mut json = serde_json::json!({
            "kind": name, "rate": "8 Mb/s", "packet": 1000, "burst": "100 ms", "idle": "300 ms"
        });
        if let Some(shape) = extra {
            json["shape"] = shape.into();
        }
        let mut source = build(&spec(json), &env(None), "source").unwrap();
        let (mut bits, mut shortest, mut last) = (0.0, Span::MAX, None);
        drive(&mut *source, 5, Time::ZERO, Time::ZERO + Span::from_millis(4_000_000), |time, p| {
            bits += 8.0 * f64::from(p.size);
            if let Some(last) = last {
                shortest = shortest.min(time.since(last));
            }
            last = Some(time);
        });
        let rate = bits / 4000.0;
        assert!((rate / 2e6 - 1.0).abs() < 0.044, "{name}: {rate}");
        assert_eq!(shortest, Span::from_millis(1), "{name}: never above the peak rate");
    }
}

#[test]
fn a_trace_is_replayed_in_packets_no_larger_than_allowed() {
    let json = serde_json::json!({
        "kind": "trace", "packets": [[0.001, 100], {"at": "3 ms", "size": "3.2 kB"}]
    });
    let expected = [(1100.0, 100), (3100.0, 1500), (3100.0, 1500), (3100.0, 200)];
    assert_eq!(list(json, 100, None), expected);
}

#[test]
fn a_sink_counts_packets_and_bytes() {
    let mut sink = DatagramSink::default();
    let mut out = crate::outbox::Outbox::default();
    let mut rng = Stream::new(1, Purpose::Receiver, 0);
    let mut record = Recorder::default();
    let now = Time::ZERO;
    let mut ctx = EndpointCtx::new(now, &mut out, &mut rng, &mut record);
    for (seq, size) in [(0, 1000), (2, 500)] {
        sink.on_packet(Packet::new(FlowId(0), seq, size, Flags::DATAGRAM), &mut ctx);
    }
    let snapshot = sink.snapshot();
    assert_eq!((snapshot.delivered_packets, snapshot.delivered_bytes), (2, 1500));
    assert!(out.take().is_empty() && sink.deadline() == Deadline::NEVER);
}

#[test]
fn every_source_works_with_its_defaults_replays_equal_and_obeys_its_stop() {
    for entry in catalogue() {
        let name = entry.info.name;
        for era in ERAS {
            let run = || {
                let stop = Some(Span::from_millis(1500));
                let env = SourceEnv { era, ..env(stop) };
                let mut source = build(&Spec::from(name), &env, "source").unwrap();
                let mut sent_times = Vec::new();
                let sizes = source.packet_sizes();
                drive(&mut *source, 9, Time::ZERO, Time::MAX, |time, packet| {
                    assert!((sizes.smallest..=sizes.largest).contains(&packet.size), "{name}");
                    sent_times.push(time);
                });
                sent_times
            };
            let sent_times = run();
            assert_eq!(sent_times, run(), "{name}");
            assert!(sent_times.iter().all(|&at| at.seconds() < 1.5), "{name}");
            assert!(sent_times.is_sorted() && (name == "trace") == sent_times.is_empty(), "{name}");
        }
    }
}

#[test]
fn a_bad_parameter_is_named_in_one_sentence() {
    for (json, phrase) in [
        (serde_json::json!({"kind": "cbr", "rate": 0}), "rate: 0 bit/s is out of range"),
        (serde_json::json!({"kind": "cbr", "packet": 0}), "packet: 0 B is out of range"),
        (serde_json::json!({"kind": "cbr", "packet": 65_536}), "from 1 to 65535 B"),
        (serde_json::json!({"kind": "cbr", "jitter": 1.5}), "jitter: 1.5 is out of range"),
        (serde_json::json!({"kind": "cbr", "periods": [{"on": 2, "off": 1}]}), "off before on"),
        (
            serde_json::json!({
                "kind": "cbr", "periods": [{"on": 0, "off": 2}, {"on": 1, "off": 3}]
            }),
            "overlap",
        ),
        (
            serde_json::json!({
                "kind": "cbr", "schedule": [{"at": 2, "rate": 1}, {"at": 1, "rate": 1}]
            }),
            "in order",
        ),
        (serde_json::json!({"kind": "pareto-on-off", "shape": 1.0}), "shape: 1.0 is out of range"),
        (serde_json::json!({"kind": "pareto-on-off", "packet": 70_000}), "65535"),
        (
            serde_json::json!({"kind": "exponential-on-off", "rate": 0}),
            "rate: 0 bit/s is out of range",
        ),
        (
            serde_json::json!({"kind": "exponential-on-off", "burst": 0}),
            "burst: 0 s is out of range",
        ),
        (serde_json::json!({"kind": "trace", "packets": [[2, 1], [1, 1]]}), "in order"),
        (serde_json::json!({"kind": "trace", "packets": [[2, 0]]}), "packets[0].size"),
    ] {
        let text = json.to_string();
        let message = build(&spec(json), &env(None), "source").err().expect(&text)[0].to_string();
        assert!(message.contains(phrase), "{text}: {message}");
    }
}
