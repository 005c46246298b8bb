//! Finite transfers: how they end, and what is said of those that cannot.

use ackclock_core::packet::{Event, PacketRow};
use serde_json::{Value, json};

use crate::common::{Run, extend, run, wire};

fn transfer(link: Value, flow: Value, tcp: Value, duration: f64) -> Run {
    let mut all = json!({"rate": "100 Mbps", "delay": "20 ms", "buffer": "1000 pkt"});
    extend(&mut all, link);
    let mut base_flow = json!({"src": "a", "dst": "b", "cc": "aimd"});
    extend(&mut base_flow, flow);
    run(json!({"net": wire(all), "flows": [base_flow], "tcp": tcp, "duration": duration}))
}

#[test]
fn a_timeout_at_the_end_of_a_transfer_begins_a_slow_start() {
    // The last 35 of 70 segments are lost, and the application has no more. RFC 5681 section 3.1: 1, 2,
    // 4, 8, 16 and 4 segments are sent again in six round trips of 40 ms; one at a time they take 35.
    let lost: Vec<u32> = (35..70).collect();
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let outcome = transfer(
            json!({"drop": lost}),
            json!({"size": 70 * 1460, "recovery": recovery}),
            json!({"syn": false, "delayed_ack": 1}),
            10.0,
        );
        let sender = &outcome.flow(0).sender;
        println!("{recovery}: completed at {:.3} s", sender.completed_s);
        assert_eq!((sender.timeouts, sender.retransmits), (1, 35), "{recovery}");
        assert!((1.2..1.5).contains(&sender.completed_s), "{recovery}: {}", sender.completed_s);
    }
}

#[test]
fn a_lost_connection_request_is_no_lost_data() {
    let outcome = transfer(json!({"drop": [0, 1]}), json!({"size": 14600}), json!({}), 20.0);
    let flow = outcome.flow(0);
    assert_eq!((flow.lost_data, flow.lost_acks, flow.sender.timeouts), (0, 0, 2));
    assert_eq!((flow.sender.sent_packets, flow.receiver.delivered_packets), (10, 10));
    assert_eq!(flow.under_way, [0, 0]);
    assert_eq!(outcome.link("a->b").drops, 2);
}

#[test]
fn packets_that_fit_no_link_are_reported() {
    let outcome =
        transfer(json!({"mtu": 1500}), json!({"size": "1 MB"}), json!({"mss": 9000}), 10.0);
    assert_eq!(outcome.flow(0).receiver.delivered_packets, 0);
    let sentence = "flow f0 sends packets of 9040 B, more than the MTU of 1500 B of link a->b: all \
                    are dropped there";
    assert_eq!(ackclock_core::compile::warnings(&outcome.plan), [sentence]);
    assert_eq!(outcome.results.warnings, ["flow f0: nothing was delivered in 10.0 s"]);
}

#[test]
fn flows_that_begin_after_the_end_are_reported() {
    let late = json!({"start": "15 s", "count": 2, "stagger": "1 s"});
    let outcome = transfer(json!({}), late, json!({}), 2.0);
    let sentence = "2 flows, the first of them f0, start at 15 s, when the run of 2 s is over";
    assert_eq!(ackclock_core::compile::warnings(&outcome.plan), [sentence]);
}

#[test]
fn a_first_ssthresh_that_switches_the_slow_start_rule_off_is_reported() {
    let warnings = |rule: &str, ssthresh: Option<u32>| {
        let tcp = ssthresh.map_or(json!({}), |ssthresh| json!({"initial_ssthresh": ssthresh}));
        let flow = json!({"slow_start": rule, "tcp": tcp, "size": 146_000});
        ackclock_core::compile::warnings(&transfer(json!({}), flow, json!({}), 2.0).plan)
    };
    for rule in ["hystart++", "search"] {
        let sentence = format!(
            "flow f0 has a first ssthresh of 64 segments, with which slow_start = \"{rule}\" never acts: it is for a \
             slow start without one"
        );
        assert_eq!(warnings(rule, Some(64)), [sentence]);
        assert!(warnings(rule, None).is_empty());
    }
    for rule in ["standard", "limited", "hystart"] {
        assert!(warnings(rule, Some(64)).is_empty(), "{rule}");
    }
}

#[test]
fn acknowledgements_of_more_packets_than_their_counter_counts_are_reported() {
    let warnings = |cc: &str, accecn: bool, delayed_ack: u32| {
        let tcp = json!({"accecn": accecn, "delayed_ack": delayed_ack});
        let flow = json!({"cc": cc, "tcp": tcp, "size": 146_000});
        ackclock_core::compile::warnings(&transfer(json!({}), flow, json!({}), 2.0).plan)
    };
    let sentence = "flow f0 has one acknowledgement for 16 packets, and accurate ECN, whose counter says up to 7 marks: more \
                    packets count as marked though none was; expected delayed_ack of at most 7";
    assert_eq!(warnings("dctcp", true, 16), [sentence]);
    // SCReAM has accurate ECN whatever the settings say.
    assert_eq!(warnings("scream", false, 16), [sentence]);
    assert!(warnings("dctcp", true, 7).is_empty() && warnings("cubic", false, 16).is_empty());
}

#[test]
fn listed_acknowledgements_are_dropped_on_their_way_back() {
    let outcome = transfer(json!({"back_drop": [1, 3]}), json!({"size": 146_000}), json!({}), 5.0);
    assert_eq!((outcome.flow(0).lost_data, outcome.flow(0).lost_acks), (0, 2));
    assert_eq!((outcome.link("a->b").drops, outcome.link("b->a").drops), (0, 2));
}

/// RFC 5681 section 4.1: after more than an RTO without sending the window is the initial one again.
#[test]
fn an_application_that_pauses_restarts_from_the_initial_window_if_so_set() {
    // 100 segments every 5 s; a window at rest of more than 10 comes from the first burst's slow start.
    let flight = |restart: bool| {
        let net = wire(json!({"rate": "100 Mbps", "delay": "20 ms", "buffer": "1000 pkt"}));
        let flow =
            json!({"src": "a", "dst": "b", "size": 100 * 1460, "every": "5 s", "stop": "12 s"});
        let outcome = run(json!({
            "net": net, "flows": [flow], "duration": 20, "record": {"tables": ["packets"]},
            "tcp": {"syn": false, "delayed_ack": 1, "idle_restart": restart},
        }));
        assert_eq!(outcome.flow(0).receiver.delivered_packets, 300);
        assert_eq!((outcome.flow(0).sender.retransmits, outcome.results.warnings.len()), (0, 0));
        // What leaves before the first acknowledgement of the second burst comes back.
        let sent =
            outcome.packets("a->b").filter(|r| r.at.seconds() > 4.9 && r.at.seconds() < 5.03);
        sent.filter(|r| r.event == Event::Arrival).count()
    };
    assert_eq!(flight(true), 10);
    // 10 + one for each of the 100 acknowledgements but those of what the application ran dry with.
    assert!(flight(false) > 50, "{}", flight(false));
}

#[test]
fn bursts_need_a_size_and_an_era_that_knows_them() {
    let refused = |flow: Value, era: &str| {
        let mut base_flow = json!({"src": "a", "dst": "b"});
        extend(&mut base_flow, flow);
        let net = wire(json!({"rate": "1 Mbps", "delay": "1 ms", "buffer": "10 pkt"}));
        let scenario = json!({"net": net, "flows": [base_flow], "era": era, "duration": 1});
        crate::common::problems(&scenario).into_iter().map(|p| p.0).collect::<Vec<_>>()
    };
    assert_eq!(refused(json!({"every": "1 s", "size": 1000}), "rfc"), [""; 0]);
    assert_eq!(refused(json!({"every": "1 s"}), "rfc"), ["flows[0].every"]);
    assert_eq!(refused(json!({"every": 0, "size": 1000}), "rfc"), ["flows[0].every"]);
    assert_eq!(refused(json!({"every": "1 s", "size": 1000}), "2002"), ["flows[0].every"]);
}

/// 4 Mbit/s of payload from 1 s to 2 s, nothing until 3 s, then as much as the 10 Mbit/s link carries.
#[test]
fn an_application_sends_at_the_rates_of_its_steps() {
    let net = wire(json!({"rate": "10 Mbps", "delay": "10 ms", "buffer": "1000 pkt"}));
    let steps = json!([
        {"at": 1, "rate": "4 Mbps"}, {"at": 2, "rate": "0 bps"}, {"at": 3},
    ]);
    let flow = json!({"src": "a", "dst": "b", "cc": "bbr3", "app": steps});
    let outcome = run(json!({
        "net": net, "flows": [flow], "duration": 5, "record": {"tables": ["packets"]},
    }));
    let sent = |from: f64, to: f64| {
        let within = |row: &&PacketRow| (from..to).contains(&row.at.seconds());
        let arrivals = outcome.packets("a->b").filter(|row| row.event == Event::Arrival);
        arrivals.filter(within).count() as f64
    };
    // 1460 bytes of payload in 1500.
    let full = 10e6 / 8.0 / 1500.0;
    // Drain, and a round trip in which the rate is found.
    assert!(sent(0.5, 0.9) > 0.8 * 0.4 * full, "{}", sent(0.5, 0.9));
    let limited = 4e6 / 8.0 / 1460.0;
    assert!((sent(1.1, 1.9) - 0.8 * limited).abs() <= 1.0, "{} for {limited}/s", sent(1.1, 1.9));
    assert_eq!(sent(2.1, 3.0), 0.0);
    assert!(sent(3.1, 4.9) > 0.9 * 1.8 * full, "{}", sent(3.1, 4.9));
}

#[test]
fn steps_of_an_application_are_ascending_and_without_bursts_beside_them() {
    let refused = |flow: Value, era: &str| {
        let mut base_flow = json!({"src": "a", "dst": "b"});
        extend(&mut base_flow, flow);
        let net = wire(json!({"rate": "1 Mbps", "delay": "1 ms", "buffer": "10 pkt"}));
        let scenario = json!({"net": net, "flows": [base_flow], "era": era, "duration": 1});
        crate::common::problems(&scenario).into_iter().map(|p| p.0).collect::<Vec<_>>()
    };
    let step = |start: u32| json!({"at": start, "rate": "1 kbps"});
    assert_eq!(refused(json!({"app": [step(1), {"at": 2}]}), "rfc"), [""; 0]);
    assert_eq!(refused(json!({"app": [step(1), step(1)]}), "rfc"), ["flows[0].app[1].at"]);
    assert_eq!(refused(json!({"app": []}), "rfc"), ["flows[0].app"]);
    assert_eq!(refused(json!({"app": [step(1)]}), "2002"), ["flows[0].app"]);
    let both = json!({"app": [step(1)], "every": "1 s", "size": 1000});
    assert_eq!(refused(both, "rfc"), ["flows[0].app"]);
    assert_eq!(refused(json!({"app": [step(1)], "source": "cbr"}), "rfc"), ["flows[0].app"]);
}
