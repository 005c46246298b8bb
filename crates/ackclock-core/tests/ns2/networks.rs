//! ns-2's endpoints in the larger drop-tail networks of the reference cases, where every flow's
//! totals after millions of packets must be ns-2's. These take minutes, hence `--ignored`.

use std::collections::{BTreeMap, VecDeque};

use ackclock_core::endpoint::Endpoint as _;
use ackclock_core::era::Era;
use ackclock_core::ids::FlowId;
use ackclock_core::tcp::TcpConfig;
use ackclock_core::tcp_ns2::{Ns2Options, Ns2Parts, Ns2Sender, Ns2Sink};
use ackclock_core::units::{BitRate, Span, Time};

use crate::cases;
use crate::cases::Aimd;
use crate::cases::net::{Clock, Flow, Link, Net};

/// Links of the path with the fewest hops.
fn route(ends: &[(u32, u32)], from: u32, to: u32) -> Vec<usize> {
    let mut leaving: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (link, &(a, _)) in ends.iter().enumerate() {
        leaving.entry(a).or_default().push(link);
    }
    let mut via: BTreeMap<u32, usize> = BTreeMap::new();
    let mut open = VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        for &link in leaving.get(&node).into_iter().flatten() {
            let next = ends[link].1;
            if next != from && !via.contains_key(&next) {
                via.insert(next, link);
                open.push_back(next);
            }
        }
    }
    let mut path = Vec::new();
    let mut node = to;
    while node != from {
        path.push(via[&node]);
        node = ends[via[&node]].0;
    }
    path.reverse();
    path
}

/// Links of a path that is given as "59-7-3-...".
fn listed_route(ends: &[(u32, u32)], nodes: &str) -> Vec<usize> {
    let nodes: Vec<u32> = nodes.split('-').map(|n| n.parse().expect("a node")).collect();
    nodes
        .windows(2)
        .map(|w| ends.iter().position(|&e| e == (w[0], w[1])).expect("a link"))
        .collect()
}

fn check(name: &str) {
    let folder = cases::folder();
    let folder = folder.join(name);
    let scenario = cases::json(&folder.join("scenario.json"));
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let links = cases::rows(&folder.join("links.csv"));
    let ends: Vec<(u32, u32)> =
        links.iter().map(|l| (number(&l[1]) as u32, number(&l[2]) as u32)).collect();
    let links = links.iter().map(|l| {
        let queue = &scenario["queues"][&l[5]];
        assert_eq!(queue["type"], "DropTail");
        let limit = queue["limit_"].as_u64().expect("a limit") as usize;
        Link::new(BitRate(number(&l[3]) as u64), Span::from_seconds(number(&l[4])), limit)
    });
    let links = links.collect();
    let window = scenario["tcp_params"]["p"]["window_"].as_f64().expect("a window");
    let boots = cases::rows(&folder.join("boot.csv"));
    let paths = folder.join("paths.csv");
    let paths = if paths.exists() { cases::rows(&paths) } else { Vec::new() };
    let flows = cases::rows(&folder.join("flows.csv"));
    let flows = flows.iter().enumerate().map(|(i, f)| {
        let mut config = TcpConfig::of_era(Era::Ns2);
        config.receiver_window = window as u32;
        config.initial_ssthresh = window;
        config.boot = Span::from_seconds(number(&boots[i][1]));
        if f[5].ends_with("DelAck") {
            config.delayed_ack = 2;
        }
        let (from, to) = (number(&f[1]) as u32, number(&f[2]) as u32);
        let flow = FlowId(i as u32);
        Flow {
            sink: Ns2Sink::new(flow, config.clone(), f[5].starts_with("Sack")),
            sender: Ns2Sender::new(Ns2Parts {
                flow,
                config,
                options: Ns2Options::default(),
                variant: cases::variant(&f[4]),
                size: None,
                stop: None,
                cc: Box::new(Aimd { a: 1.0, b: 0.5 }),
            }),
            start: Time(Span::from_seconds(number(&f[3])).0),
            data_path: paths
                .get(i)
                .map_or_else(|| route(&ends, from, to), |p| listed_route(&ends, &p[1])),
            ack_path: paths
                .get(i)
                .map_or_else(|| route(&ends, to, from), |p| listed_route(&ends, &p[2])),
        }
    });
    let flows = flows.collect();
    let mut net = Net::new(Clock::Seconds, links, flows);
    net.keep = false;
    let seconds = |key: &str| Span::from_seconds(scenario["sim"][key].as_f64().expect("a time"));
    let delivered = |net: &Net| -> Vec<u64> {
        net.flows.iter().map(|f| f.sink.snapshot().delivered_bytes + 40).collect()
    };
    for row in cases::rows(&folder.join("flows_ts.csv")) {
        let at = number(&row[0]);
        net.run(Time(Span::from_seconds(at).0));
        let want: Vec<u64> = row[1..].iter().map(|n| number(n) as u64).collect();
        let have = delivered(&net);
        // ns-2's sink counts the 40 bytes of the request once it has come.
        let have: Vec<u64> = have.iter().map(|&n| if n == 40 { 0 } else { n }).collect();
        assert_eq!(want, have, "{name}: bytes delivered in order by t = {at} s");
    }
    net.run(Time(seconds("t1").0));
    let mut differing = Vec::new();
    let expected = cases::rows(&folder.join("flows_out.csv"));
    for (i, row) in expected.iter().enumerate() {
        let f = &net.flows[i];
        let (s, r) = (f.sender.snapshot(), f.sink.snapshot());
        let cuts = s.recoveries + s.timeouts + s.ecn_reductions;
        // ns-2's sink counts the 40 bytes of the request.
        let have = [r.delivered_bytes + 40, s.timeouts, cuts, s.acks_received];
        let want = [2, 7, 8, 10].map(|c: usize| number(&row[c]) as u64);
        if have != want {
            differing.push(format!(
                "flow {i}: delivered, timeouts, cuts, ACKs: ns-2 {want:?}, here {have:?}"
            ));
        }
    }
    assert!(
        differing.is_empty(),
        "{} of {} flows differ:\n{}",
        differing.len(),
        expected.len(),
        differing.join("\n")
    );
    println!("{name}: {} flows agree", expected.len());
}

mod needs_data_slow {
    use super::*;

    #[test]
    #[ignore = "a minute, and needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn parking_lot_of_sack1_flows() {
        check("parkinglot_droptail_sack1");
    }

    #[test]
    #[ignore = "a minute, and needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn fifty_sack1_flows_with_delayed_acks() {
        check("green_droptail_sack1_n50");
    }

    #[test]
    #[ignore = "a minute, and needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn a_hundred_reno_flows_in_a_tiered_network() {
        check("legout_droptail_reno_k100");
    }
}
