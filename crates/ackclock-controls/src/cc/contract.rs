//! The contract of the room, checked for every control of the registry.

use proptest::prelude::*;
use serde_json::Value;

use super::test_support::{ERAS, env};
use super::*;
use crate::registry::Spec;

#[derive(Clone, Debug)]
enum Operation {
    Ack { acked: u32, rtt_ms: u64, limited: bool, echo: bool },
    NewRound,
    Loss,
    Echo,
    Timeout,
    Timer,
    Idle { ms: u64 },
    Recovered,
    LostPacket { tx_in_flight: u32, lost: u32 },
    Spurious,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        20 => (1u32..100, 1u64..2000, any::<bool>(), any::<bool>()).prop_map(
            |(acked, rtt_ms, limited, echo)| Operation::Ack { acked, rtt_ms, limited, echo }
        ),
        6 => Just(Operation::NewRound),
        3 => Just(Operation::Loss),
        2 => Just(Operation::Echo),
        2 => Just(Operation::Timeout),
        2 => Just(Operation::Timer),
        2 => (0u64..100_000).prop_map(|ms| Operation::Idle { ms }),
        2 => Just(Operation::Recovered),
        3 => (1u32..200, 1u32..20).prop_map(
            |(tx_in_flight, lost)| Operation::LostPacket { tx_in_flight, lost }
        ),
        1 => Just(Operation::Spurious),
    ]
}

/// Runs a control through the operations, checking the contract after each; returns all windows.
fn drive(name: &str, era: Era, operations: &[Operation]) -> Vec<(u64, u64)> {
    let mut control = build(&Spec::from(name), &env(era), "cc").unwrap();
    let mut window = Window { cwnd: 2.0, ssthresh: f64::INFINITY };
    let (mut now, mut round, mut consecutive) = (Time::ZERO, 0, 0);
    let mut min_rtt = Span::MAX;
    let (mut delivered, mut recovering) = (0, false);
    let samples = control.wants_samples();
    control.on_start(&window, now, Span::ZERO);
    let mut windows = Vec::new();
    for operation in operations {
        now += Span::from_millis(7);
        let before = window.cwnd;
        let flight = before.min(1e6) as u32;
        let congestion = |signal| Congestion {
            min_rtt: Span::from_millis(1),
            srtt: Span::from_millis(10),
            ..Congestion::at(now, signal, flight)
        };
        match *operation {
            Operation::Ack { acked, rtt_ms, limited, echo } => {
                let rtt = Span::from_millis(rtt_ms);
                min_rtt = min_rtt.min(rtt);
                consecutive = 0;
                let ack = Ack {
                    rtt: Some(rtt),
                    min_rtt,
                    srtt: rtt,
                    round,
                    in_flight: flight,
                    app_limited: limited,
                    ecn_echo: echo,
                    delivered: delivered + u64::from(acked),
                    sample: samples.then(|| {
                        let mut sample = RateSample {
                            has_data: true,
                            newly_acked: acked,
                            delivered: u64::from(acked) + delivered % 50,
                            prior_delivered: delivered - delivered % 50,
                            send_elapsed: rtt,
                            ack_elapsed: rtt,
                            is_app_limited: limited,
                            tx_in_flight: flight,
                            lost: round % 7,
                            rtt: Some(rtt),
                            is_cwnd_limited: !limited,
                            in_recovery: recovering,
                            has_selective_acks: true,
                            ..RateSample::default()
                        };
                        sample.complete(min_rtt);
                        sample
                    }),
                    ..Ack::at(now, acked)
                };
                delivered += u64::from(acked);
                let counts = EcnCounts {
                    acked,
                    marked: if echo { acked } else { 0 },
                    una: delivered as u32,
                    nxt: delivered as u32 + flight,
                    ..EcnCounts::at(now)
                };
                control.on_ecn_counts(&mut window, &counts);
                control.on_ack(&mut window, &ack);
                control.on_sent(now, flight);
            }
            Operation::NewRound => round += 1,
            Operation::Loss => {
                let signal = Signal::FastRetransmit { lost: 1 };
                control.on_congestion(&mut window, &congestion(signal));
                recovering = true;
                assert!(window.cwnd <= before, "{name}: {before} to {}", window.cwnd);
                // A control without slow start has no use for ssthresh.
                assert!(window.ssthresh.is_finite() || samples, "{name}");
            }
            Operation::Echo => {
                control.on_congestion(&mut window, &congestion(Signal::EcnEcho));
                assert!(window.cwnd <= before, "{name}: {before} to {}", window.cwnd);
            }
            Operation::Timeout => {
                consecutive += 1;
                control.on_congestion(&mut window, &congestion(Signal::Rto { consecutive }));
                assert!(window.cwnd <= before, "{name}: {before} to {}", window.cwnd);
            }
            Operation::Timer => {
                if control.timer_interval().is_some() {
                    control.on_timer(&mut window, now);
                }
            }
            Operation::Idle { ms } => {
                now += Span::from_millis(ms);
                if samples {
                    control.on_restart(&mut window, now);
                } else {
                    window.cwnd = window.cwnd.min(2.0); // restart after idle
                }
            }
            Operation::Recovered => {
                recovering = false;
                control.on_recovery_end(&mut window, now);
            }
            Operation::LostPacket { tx_in_flight, lost } => {
                let lost = u64::from(lost.min(tx_in_flight));
                let packet = Lost { tx_in_flight, lost, delivered, ..Lost::at(now, flight) };
                control.on_lost(&mut window, &packet);
            }
            Operation::Spurious => {
                let event = congestion(Signal::Spurious);
                let restored = window;
                control.on_spurious(&mut window, &event, &restored);
                assert!(window.cwnd >= before, "{name}: {before} to {}", window.cwnd);
            }
        }
        assert!(window.cwnd.is_finite() && window.cwnd >= 1.0, "{name}: cwnd {}", window.cwnd);
        assert!(window.ssthresh >= 2.0, "{name}: ssthresh {}", window.ssthresh);
        control.probes(&mut |probe, value| assert!(value.is_finite(), "{name}.{probe}"));
        assert!(!control.phase().is_empty() && control.failure().is_none());
        assert!(control.send_quantum() >= 1, "{name}");
        assert!(control.pacing_rate().is_none_or(|rate| rate.0 > 0) || !samples, "{name}");
        windows.push((window.cwnd.to_bits(), window.ssthresh.to_bits()));
    }
    windows
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    })]
    #[test]
    fn any_order_of_events_keeps_the_window_sound_and_replays_equal(
        operations in prop::collection::vec(operation(), 1..200)
    ) {
        for entry in catalogue() {
            for era in ERAS {
                let once = drive(entry.info.name, era, &operations);
                prop_assert_eq!(once, drive(entry.info.name, era, &operations));
            }
        }
    }
}

#[test]
fn parameters_survive_a_round_trip_and_names_are_unique() {
    let mut names = Vec::new();
    for entry in catalogue() {
        let name = entry.info.name;
        assert!(!names.contains(&name), "{name} twice");
        names.push(name);
        assert!(!entry.info.source.is_empty() && !entry.info.title.is_empty());
        // The defaults, written out in full, build the same control as the bare name.
        let properties = entry.params.get("properties").and_then(Value::as_object);
        let mut table = serde_json::Map::new();
        table.insert("kind".into(), name.into());
        // Some have no parameters.
        for (field, schema) in properties.into_iter().flatten() {
            assert!(schema.get("description").is_some(), "{name}.{field} is not documented");
            table.insert(field.clone(), schema.get("default").cloned().unwrap_or(Value::Null));
        }
        let text = serde_json::to_string(&Spec::Table(table)).unwrap();
        let spec: Spec = serde_json::from_str(&text).unwrap();
        for era in ERAS {
            build(&spec, &env(era), "cc").unwrap();
        }
    }
}

#[test]
fn an_unknown_name_and_an_unknown_parameter_are_reported_with_the_nearest() {
    let unknown = build(&Spec::from("cubik"), &env(Era::Rfc), "flows[0].cc").err().unwrap();
    assert!(unknown[0].message.contains("\"cubic\""), "{unknown:?}");
    let spec: Spec = serde_json::from_str(r#"{"kind": "vegas", "alfa": 1}"#).unwrap();
    let unknown = build(&spec, &env(Era::Rfc), "cc").err().unwrap();
    assert_eq!((&*unknown[0].path, unknown[0].nearest.as_deref()), ("cc.alfa", Some("alpha")));
}
