//! Controllers of released libraries in the place of our own: repeatable, accountable, fair beside ours.

use ackclock_core::cc::{CcEnv, Lost, Window};
use ackclock_core::compile;
use ackclock_core::era::Era;
use ackclock_core::packet::{self, FlowResult, Results};
use ackclock_core::scenario::Scenario;
use ackclock_core::units::{BitRate, Span, Time};
use ackclock_stacks::controls::{self, Libraries};
use serde_json::{Value, json};

const DATAGRAM: f64 = 1200.0;

fn run(scenario: &Value) -> Results {
    let scenario: Scenario = serde_json::from_value(scenario.clone()).unwrap();
    let plan = compile::compile(&scenario).unwrap_or_else(|problems| panic!("{problems:?}"));
    packet::run_with(&plan, &Libraries, &mut |_| true).unwrap_or_else(|e| panic!("{e:?}"))
}

/// One bottleneck for flows of these controls, each begun a tenth of a second after the one before it.
fn dumbbell(controls: &[&str], mbps: f64, bdps: f64, seconds: f64) -> Value {
    let flows: Vec<Value> = (controls.iter().enumerate())
        .map(|(i, cc)| json!({ "pair": i, "transport": "quic", "cc": cc, "start": 0.1 * i as f64 }))
        .collect();
    json!({
        "net": { "kind": "dumbbell", "pairs": controls.len(), "rate": mbps * 1e6, "rtt": "40 ms",
                 "buffer": format!("{bdps} bdp") },
        "flows": flows, "duration": seconds, "warmup": seconds / 4.0, "seed": 7,
    })
}

/// Bits per second of a flow after the warm-up.
fn goodput(results: &Results, flow: &FlowResult) -> f64 {
    flow.window_bytes() as f64 * 8.0 / results.window_s
}

#[test]
fn a_run_repeats_to_the_bit_and_draws_from_the_seed_of_the_scenario() {
    for cc in controls::names() {
        let scenario = dumbbell(&[cc, "cubic"], 10.0, 1.0, 20.0);
        let first = run(&scenario).digest;
        assert_eq!(first, run(&scenario).digest, "{cc}");
        let mut other = scenario.clone();
        other["seed"] = 8.into();
        // BBR draws the time of its next probe, CUBIC nothing.
        assert_eq!(first == run(&other).digest, cc == "s2n/cubic", "{cc}");
    }
}

/// What a connection draws, BBR's phases among it, is of the flow's stream.
#[cfg(feature = "connections")]
#[test]
fn a_run_of_connections_repeats_to_the_bit() {
    for cc in ackclock_stacks::connections::names() {
        let scenario = dumbbell(&[cc, "cubic"], 10.0, 1.0, 20.0);
        let first = run(&scenario).digest;
        assert_eq!(first, run(&scenario).digest, "{cc}");
        if cc.contains("bbr") {
            let mut other = scenario.clone();
            other["seed"] = 8.into();
            assert_ne!(first, run(&other).digest, "{cc}");
        }
    }
}

#[test]
fn transports_and_queues_carry_every_controller() {
    for cc in controls::names() {
        for (transport, qdisc, ecn) in
            [("tcp", "fifo", false), ("tcp", "fq-codel", true), ("quic", "codel", true)]
        {
            let mut scenario = dumbbell(&[cc], 20.0, 1.0, 20.0);
            scenario["flows"][0]["transport"] = transport.into();
            scenario["net"]["qdisc"] = qdisc.into();
            if transport == "tcp" {
                // As QUIC does, it finds what is lost when it is sent again.
                scenario["flows"][0]["recovery"] = "rack".into();
            }
            scenario[transport] = json!({ "ecn": ecn });
            let results = run(&scenario);
            let rate = goodput(&results, &results.flows[0]);
            // 20 Mbit/s less headers of 3 to 6 %.
            assert!((15e6..19.6e6).contains(&rate), "{cc} {transport} {qdisc}: {rate}");
        }
    }
}

/// What is lost, sent again or reported late counts once: the controller has in flight what the sender has.
#[test]
fn the_controller_s_flight_is_that_of_the_sender() {
    for cc in controls::names() {
        for transport in ["quic", "tcp"] {
            for loss in [0.0, 0.001, 0.03] {
                let mut scenario = dumbbell(&[cc], 10.0, 0.5, 30.0);
                scenario["flows"][0]["transport"] = transport.into();
                scenario["net"]["loss"] = loss.into();
                let results = run(&scenario);
                let sender = &results.flows[0].sender;
                let probe = sender.probes.iter().find(|(name, _)| *name == "packets_in_flight");
                let theirs = probe.unwrap().1;
                let ours = f64::from(sender.in_flight);
                assert!(sender.sent_packets > 1000, "{cc} {transport} {loss}");
                // Between two acknowledgements TCP may have sent again what was not declared lost.
                let slack = if transport == "tcp" { 2.0 } else { 0.0 };
                assert!((theirs - ours).abs() <= slack, "{cc} {transport} {loss}: {theirs} {ours}");
            }
        }
    }
}

/// The initial window of RFC 9002 section 7.2; of ten packets in flight the first is lost: 0.7 of ten (RFC 8312 section
/// 4.5), once in a recovery period; persistent congestion (section 7.6.2) leaves two packets.
#[test]
fn s2n_s_cubic_keeps_seven_tenths_of_a_loss_and_two_packets_of_persistent_congestion() {
    let env = CcEnv {
        mss: 1161,
        wire_size: 1228,
        line_rate: BitRate(10_000_000_000),
        round_trip: Span::from_micros(20),
        era: Era::Rfc,
    };
    let ms = |n: u64| Time::ZERO + Span::from_millis(n);
    let mut control = controls::build(&"s2n/cubic".into(), &env, "cc").unwrap();
    assert_eq!(control.initial_window(), Some(10.0));
    let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
    for in_flight in 1..=10 {
        control.on_sent(ms(0), in_flight);
    }
    let lost = |seq: u32, sent_ms: u64| {
        let mut lost = Lost::at(ms(sent_ms), seq);
        (lost.sent_at, lost.tx_in_flight) = (ms(0), seq + 1);
        lost
    };
    for seq in 0..2 {
        control.on_lost(&mut window, &lost(seq, 50));
        assert!((window.cwnd - 7.0).abs() < 1.0 / DATAGRAM, "{}", window.cwnd);
    }
    let mut persistent = lost(2, 900);
    persistent.persistent = true;
    control.on_lost(&mut window, &persistent);
    assert_eq!(window.cwnd, 2.0);
}

/// Shares of two groups of two flows each on one FIFO queue, as the share of the first group.
fn share_of_first(first: &str, second: &str, seed: u64) -> f64 {
    let mut scenario = dumbbell(&[first, second, first, second], 40.0, 1.0, 60.0);
    scenario["seed"] = seed.into();
    // No flow is in step with another from the start.
    for flow in 0..4 {
        scenario["flows"][flow]["start"] = (0.37 * f64::from(flow as u32 + 1) * seed as f64).into();
    }
    let results = run(&scenario);
    let rates: Vec<f64> = results.flows.iter().map(|flow| goodput(&results, flow)).collect();
    (rates[0] + rates[2]) / rates.iter().sum::<f64>()
}

/// The least and the largest share of the first group over five seeds.
fn band(first: &str) -> (f64, f64) {
    let shares: Vec<f64> = (1..=5).map(|seed| share_of_first(first, "cubic", seed)).collect();
    println!("two of {first} beside two of cubic: {shares:.3?}");
    shares.iter().fold((1.0, 0.0), |(least, most), &x| (x.min(least), x.max(most)))
}

#[test]
fn two_shipped_cubics_beside_two_of_ours_share_as_four_of_ours() {
    let (least, most) = band("cubic");
    let mut shipped = vec!["s2n/cubic"];
    if cfg!(feature = "connections") {
        shipped.extend(["quinn/cubic", "noq/cubic"]);
    }
    for cc in shipped {
        let (low, high) = band(cc);
        assert!(low <= most && high >= least, "the bands of {cc} and ours are apart");
    }
}
