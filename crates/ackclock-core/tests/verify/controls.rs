//! Controls on a path that the engine simulates, against the equilibria that their papers derive.

use ackclock_core::cc;
use serde_json::{Value, json};

use crate::common::{Run, extend, problems, run, wire};

/// Segments per second of the bottleneck: 20 Mbit/s of 1000 + 40 bytes.
const RATE: f64 = 20e6 / (1040.0 * 8.0);

/// Flows through 20 Mbit/s and 2 x 20 ms, measured from 20 s on for 40 s.
fn bottleneck(link: Value, flows: &[Value]) -> Run {
    let mut all = json!({"rate": "20 Mbps", "delay": "20 ms", "buffer": "4 bdp"});
    extend(&mut all, link);
    let flows: Vec<Value> = flows
        .iter()
        .map(|flow| {
            let mut all = json!({"src": "a", "dst": "b", "recovery": "sack"});
            extend(&mut all, flow.clone());
            all
        })
        .collect();
    run(json!({
        "net": wire(all), "flows": flows, "duration": 60, "warmup": 20,
        "tcp": {"delayed_ack": 1, "mss": 1000},
    }))
}

/// Mean of the segments that wait at the bottleneck.
fn mean_queue(outcome: &Run) -> f64 {
    outcome.link("a->b").queue_mean
}

/// Copa, section 2: rate = 1 / (delta dq), so that each flow keeps rate x dq = 1/delta segments queued on average of
/// its target; the queue swings between empty and 2.5/delta (section 2.3), so that its mean is within a factor of 2.
#[test]
fn copa_keeps_one_over_delta_segments_queued_and_fills_the_link() {
    // Several flows that are not in step keep the queue from emptying for some round trips, and take each other for
    // flows that fill it: the equilibrium is that of default mode.
    for (count, delta) in [(1u32, 0.5), (1, 0.1), (3, 0.5)] {
        let flow = json!({"cc": {"kind": "copa", "delta": delta, "mode_switching": count == 1}});
        let flows: Vec<Value> = (0..count).map(|_| flow.clone()).collect();
        let outcome = bottleneck(json!({}), &flows);
        let expected = f64::from(count) / delta;
        let (queue, total) =
            (mean_queue(&outcome), (0..count as usize).map(|i| outcome.goodput(i)).sum::<f64>());
        println!(
            "copa x {count}, delta {delta}: {queue:.2} of {expected} segments, {total:.3e} bit/s"
        );
        assert!(queue > 0.5 * expected && queue < 2.0 * expected, "{queue} of {expected}");
        assert!(total > 0.93 * RATE * 8000.0, "{total}");
    }
}

/// Beside a control that fills the queue Copa notices that it never empties, and competes.
#[test]
fn copa_competes_with_a_flow_that_fills_the_queue() {
    let aimd = json!({"cc": "aimd"});
    let goodput = |copa: Value| {
        bottleneck(json!({"buffer": "1 bdp"}), &[aimd.clone(), json!({"cc": copa})]).goodput(1)
    };
    let competing = goodput(json!("copa"));
    let default = goodput(json!({"kind": "copa", "mode_switching": false}));
    println!("copa beside aimd: {competing:.3e} bit/s, {default:.3e} without its competitive mode");
    assert!(competing > 0.25 * RATE * 8000.0, "{competing}");
    assert!(competing > 2.0 * default, "{competing} and {default}");
}

/// Receivers delay acknowledgements, round trips are short and the buffer holds what is in flight: a control that has such
/// a path alone uses most of it, or an era without what the control needs refuses it.
#[test]
fn every_control_alone_uses_its_link_in_every_era_or_is_refused() {
    // DCQCN starts at the rate of its network card and slows down only where switches mark; TIMELY's thresholds are
    // round trips of a data centre; nothing holds a flow back that has no control but credit.
    const OF_OTHER_PATHS: [&str; 3] = ["dcqcn", "timely", "none"];
    for name in cc::names().into_iter().filter(|name| !OF_OTHER_PATHS.contains(name)) {
        for era in ["rfc", "linux", "quic", "ns2", "2007", "2002", "1999"] {
            let is_ns2 = !["rfc", "linux", "quic"].contains(&era);
            // 20 segments are the widest window of ns-2's agents.
            let net = wire(json!({"rate": "5 Mbps", "delay": "10 ms", "buffer": "30 pkt"}));
            let mut scenario = json!({
                "era": era, "net": net, "duration": 12, "warmup": 6,
                "flows": [{"src": "a", "dst": "b", "cc": name}],
            });
            if !is_ns2 {
                let key = if era == "quic" { "quic" } else { "tcp" };
                let accurate = if era == "quic" {
                    json!({"ecn": true})
                } else {
                    json!({"ecn": true, "accecn": true})
                };
                extend(&mut scenario, json!({ key: accurate }));
            }
            let mistakes = problems(&scenario);
            if is_ns2 && !mistakes.is_empty() {
                let (key, message) = &mistakes[0];
                assert!(key == "flows[0].cc" && message.contains("ns-2's"), "{mistakes:?}");
                continue;
            }
            // TCP-LP gives way at 15 % of the buffer: three round trips of one segment, each with the receiver's wait of
            // 200 ms, then some 90 segments while its window grows again, which is 95 of 433 segments a second.
            let least = if name == "lp" { 0.2 } else { 0.4 };
            let share = run(scenario).goodput(0) / 5e6;
            assert!(share > least, "{name} in era {era}: {share:.3} of its link");
        }
    }
}

#[test]
fn prague_without_accurate_ecn_is_refused_in_one_sentence() {
    let mut flow = json!({"src": "a", "dst": "b", "recovery": "sack"});
    extend(&mut flow, json!({"cc": "prague"}));
    let net = wire(json!({"rate": "20 Mbps", "delay": "20 ms", "buffer": "1 bdp"}));
    let mistakes = problems(&json!({"net": net, "flows": [flow], "duration": 1}));
    let expected = "prague needs counts of ECN marks, expected accecn = true";
    assert_eq!(mistakes.iter().map(|(_, message)| &**message).collect::<Vec<_>>(), [expected]);
}

/// LEDBAT++ alone: q stays at its target of 60 ms, 144 segments of 20 Mbit/s, but for its slowdowns, which take a tenth of the
/// time. At a base of 40 ms the gain is a third; the decrease at the target is proportional, so that the queue swings
/// little.
#[test]
fn ledbat_plus_plus_keeps_its_target_delay_between_slowdowns() {
    let outcome = bottleneck(json!({}), &[json!({"cc": "ledbat++"})]);
    let target = 0.06 * RATE;
    let (queue, rate) = (mean_queue(&outcome), outcome.goodput(0) / (RATE * 8000.0));
    println!("ledbat++: {queue:.1} of {target:.1} segments queued, {rate:.3} of the link");
    assert!(queue < 1.05 * target && queue > 0.6 * target, "{queue} of {target}");
    assert!(rate > 0.88, "{rate}");
}

/// Background transports leave the link to a standard flow: it gets nearly all, and alone they fill it.
#[test]
fn background_controls_yield_to_a_standard_flow() {
    for name in ["ledbat++", "lp"] {
        let alone = bottleneck(json!({"buffer": "2 bdp"}), &[json!({"cc": name})]).goodput(0);
        let flows = [json!({"cc": "aimd"}), json!({"cc": name})];
        let beside = bottleneck(json!({"buffer": "2 bdp"}), &flows);
        let (standard, background) = (beside.goodput(0), beside.goodput(1));
        println!("{name}: {alone:.3e} alone; {background:.3e} beside {standard:.3e} bit/s");
        assert!(alone > 0.8 * RATE * 8000.0, "{name}: {alone}");
        assert!(background < 0.2 * standard, "{name}: {background} beside {standard}");
    }
}

/// C4 alone fills the link and keeps its queue within its delay threshold of M: 25 ms at most, 60 segments.
#[test]
fn c4_fills_the_link_with_a_short_queue() {
    let outcome = bottleneck(json!({}), &[json!({"cc": "c4"})]);
    let (queue, rate) = (mean_queue(&outcome), outcome.goodput(0) / (RATE * 8000.0));
    println!("c4: {queue:.1} segments queued, {rate:.3} of the link");
    assert!(rate > 0.9, "{rate}");
    assert!(queue < 0.025 * RATE, "{queue}");
}

/// A random loss leaves Westwood+ what its measured rate fills: the link stays full where Reno halves.
#[test]
fn westwood_keeps_the_link_full_where_losses_are_random() {
    let lossy = json!({"loss": 0.002});
    let rate = |cc: &str| bottleneck(lossy.clone(), &[json!({"cc": cc})]).goodput(0);
    let (westwood, reno) = (rate("westwood"), rate("aimd"));
    println!("losses of 0.2 %: westwood {westwood:.3e}, aimd {reno:.3e} bit/s");
    assert!(westwood > 1.5 * reno, "{westwood} and {reno}");
}

/// Behind a buffer of 4 BDP the standard slow start overshoots and loses; those that watch the delay, the train or the
/// deliveries leave before. (SEARCH needs one to two round trips beyond the bottleneck's rate, thus the buffer.)
#[test]
fn slow_starts_that_watch_the_path_lose_less() {
    let lost = |slow_start: &str| {
        let net = wire(json!({"rate": "20 Mbps", "delay": "50 ms", "buffer": "4 bdp"}));
        let mut flow = json!({"src": "a", "dst": "b", "recovery": "sack", "cc": "cubic"});
        extend(&mut flow, json!({"slow_start": slow_start}));
        let outcome = run(json!({
            "net": net, "flows": [flow], "duration": 6,
            "tcp": {"delayed_ack": 1, "mss": 1000},
        }));
        let drops = outcome.link("a->b").drops;
        println!("{slow_start}: {drops} drops, {:.3e} bit/s", outcome.goodput(0));
        (drops, outcome.goodput(0))
    };
    let (standard, _) = lost("standard");
    assert!(standard > 50, "{standard}");
    for name in ["hystart", "search"] {
        let (drops, rate) = lost(name);
        assert!(drops * 4 < standard, "{name}: {drops} of {standard}");
        assert!(rate > 0.5 * RATE * 8000.0, "{name}: {rate}");
    }
}

/// DCTCP, Alizadeh et al., SIGCOMM 2010, section 3.3: N flows in step over C with a threshold of K have W* = (C RTT + K) / N,
/// alpha = sqrt(2 / W*), and a queue that swings below K + N by A = sqrt(2 N (C RTT + K)) / 2. 1 Gbit/s of 1040 B and 1 ms
/// are 120.2 segments, K = 40: of one flow alpha = 0.112, A = 8.95 and a mean queue of 41 - 4.5; of two alpha = 0.158,
/// A = 12.66, at most 42 and a mean of 35.7. Two that are not in step swing less: the mean is between that and K + N.
#[test]
fn dctcp_keeps_the_queue_and_the_estimate_that_its_paper_derives() {
    // Every arrival that finds 40 waiting is marked; beyond twice that RED drops, which slow start alone reaches.
    let mark = json!({"kind": "red", "min_th": 40, "max_th": 40.001, "max_p": 1, "w_q": 1, "gentle": true,
        "wait": false, "bytes": false, "ecn": true});
    for (count, alpha, queue) in [(1usize, 0.112, 36.5), (2, 0.158, 35.7)] {
        let flow = json!({"src": "a", "dst": "b", "cc": "dctcp", "recovery": "sack"});
        let flows: Vec<Value> = (0..count).map(|_| flow.clone()).collect();
        let link =
            json!({"rate": "1 Gbps", "delay": "0.5 ms", "buffer": "1000 pkt", "qdisc": mark});
        let outcome = run(json!({
            "net": wire(link), "flows": flows, "duration": 1, "warmup": 0.3,
            "tcp": {"delayed_ack": 1, "mss": 1000, "accecn": true},
        }));
        let mean = mean_queue(&outcome);
        let estimates = (0..count).map(|i| outcome.flow(i).sender.probes[0].1);
        let estimate = estimates.sum::<f64>() / count as f64;
        println!(
            "dctcp x {count}: alpha {estimate:.4} of {alpha}, queue {mean:.2} of {queue} segments"
        );
        assert!((estimate / alpha - 1.0).abs() < 0.25, "{estimate} of {alpha}");
        let most = 40.0 + count as f64;
        assert!(mean > 0.95 * queue && mean < most, "{mean} of {queue} to {most}");
        assert_eq!(outcome.link("a->b").window_drops, 0);
    }
}

/// 8 MB over 100 Mbit/s and 200 ms, a BDP of 1667 segments: slow start takes 7 to 8 round trips to fill the path, a resumed
/// window of 1600 is half of it after one. Rapid Start triples: 10 to 1667 in 4.7 round trips in place of 7.4.
#[test]
fn a_resumed_and_a_tripled_window_save_round_trips_over_tcp_and_quic() {
    for transport in ["tcp", "quic"] {
        let run_with = |slow_start: Value| {
            let net = wire(json!({"rate": "100 Mbps", "delay": "100 ms", "buffer": "1 bdp"}));
            let flow = json!({"src": "a", "dst": "b", "cc": "cubic", "size": 8_000_000,
                "transport": transport, "slow_start": slow_start});
            let outcome = run(json!({"net": net, "flows": [flow], "duration": 20}));
            let (completed_s, drops) =
                (outcome.flow(0).sender.completed_s, outcome.link("a->b").drops);
            println!("{transport} {slow_start}: {completed_s:.3} s, {drops} drops");
            assert!(completed_s > 0.0, "{slow_start}");
            (completed_s, drops)
        };
        let (standard, _) = run_with(json!("standard"));
        let saved = json!({"kind": "careful-resume", "saved_cwnd": 1600, "saved_rtt": "200 ms"});
        let (resumed, drops) = run_with(saved);
        // The jump spares the doublings from 20 to 800: five of them, one of which it takes itself.
        assert!(resumed < standard - 3.5 * 0.2 && drops == 0, "{resumed} of {standard}");
        let (rapid, _) = run_with(json!("rapid-start"));
        assert!(rapid < standard, "{rapid} of {standard}");
    }
}
