//! ns-2's senders and sinks against what ns-2.35 did, event by event, in a small network of this
//! test's own.

use ackclock_core::endpoint::Endpoint as _;
use ackclock_core::era::Era;
use ackclock_core::ids::FlowId;
use ackclock_core::tcp::TcpConfig;
use ackclock_core::tcp_ns2::{Ns2Options, Ns2Parts, Ns2Sender, Ns2Sink};
use ackclock_core::units::{BitRate, Span, Time};

use crate::cases;
use crate::cases::net::{self, Clock, Flow, Link, Net, What};
use crate::cases::{Aimd, DropRow, Observed, SingleCase, micros};

/// Link 1 is the bottleneck.
fn run(case: &SingleCase, clock: Clock) -> Observed {
    let access = || Link::new(case.access_rate, case.access_delay, case.access_limit);
    let mut bottleneck = Link::new(case.rate, case.delay, case.limit);
    bottleneck.listed.clone_from(&case.listed_drops);
    let back = Link::new(case.rate, case.delay, case.reverse_limit);
    let flow = FlowId(0);
    let sender = Ns2Sender::new(Ns2Parts {
        flow,
        config: case.config.clone(),
        options: case.options.clone(),
        variant: case.variant,
        size: None,
        stop: None,
        cc: Box::new(case.aimd),
    });
    let flow = Flow {
        sender,
        sink: Ns2Sink::new(flow, case.config.clone(), case.sack),
        start: case.start,
        data_path: vec![0, 1],
        ack_path: vec![2, 3],
    };
    let mut net = Net::new(clock, vec![access(), bottleneck, back, access()], vec![flow]);
    net.run(case.end);
    let drops = net
        .log
        .iter()
        .filter(|r| r.what == What::Drop && !r.ack)
        .map(|r| DropRow { us: micros(r.at), seq: r.seq })
        .collect();
    Observed {
        sends: net.sends.into_iter().map(|(_, r)| r).collect(),
        drops,
        states: net.states.into_iter().map(|(_, r)| r).collect(),
    }
}

/// Four flows through one bottleneck: link 0 forward, link 1 back, then per flow four access links.
fn run_multi(folder: &std::path::Path) -> (Vec<net::LinkRow>, Vec<[u64; 7]>) {
    let case = cases::json(&folder.join("case.json"));
    let number = |v: &serde_json::Value| v.as_f64().expect("a number");
    let bottleneck = &case["bottleneck"];
    let rate = BitRate(number(&bottleneck["bw_bps"]) as u64);
    let delay = Span::from_seconds(number(&bottleneck["delay_s"]));
    let access_rate = BitRate(number(&case["access_bw_bps"]) as u64);
    let mut links = vec![
        Link::new(rate, delay, number(&bottleneck["queue"]["limit_"]) as usize),
        Link::new(rate, delay, 1000),
    ];
    let mut flows = Vec::new();
    for (i, f) in case["flows"].as_array().expect("flows").iter().enumerate() {
        let mut config = TcpConfig::of_era(Era::Ns2);
        config.receiver_window = number(&case["window"]) as u32;
        config.initial_ssthresh = number(&case["window"]);
        config.boot = Span::from_seconds(number(&f["boot_time_s"]));
        let sink = f["sink"].as_str().expect("a sink");
        if sink.ends_with("DelAck") {
            config.delayed_ack = 2;
        }
        let first = links.len();
        let source = Span::from_seconds(number(&f["src_access_delay_s"]));
        let destination = Span::from_seconds(number(&f["dst_access_delay_s"]));
        for delay in [source, destination, destination, source] {
            links.push(Link::new(access_rate, delay, 1000));
        }
        let flow = FlowId(i as u32);
        flows.push(Flow {
            sink: Ns2Sink::new(flow, config.clone(), sink.starts_with("Sack")),
            sender: Ns2Sender::new(Ns2Parts {
                flow,
                config,
                options: Ns2Options::default(),
                variant: cases::variant(f["tcp"].as_str().expect("a sender")),
                size: None,
                stop: None,
                cc: Box::new(Aimd { a: 1.0, b: 0.5 }),
            }),
            start: Time(Span::from_seconds(number(&f["start_s"])).0),
            data_path: vec![first, 0, first + 1],
            ack_path: vec![first + 2, 1, first + 3],
        });
    }
    let mut net = Net::new(Clock::Seconds, links, flows);
    net.run(Time(Span::from_seconds(number(&case["T"])).0));
    let totals = net.flows.iter().enumerate().map(|(i, f)| {
        let (s, r) = (f.sender.snapshot(), f.sink.snapshot());
        // ns-2's sink counts the 40 bytes of the request; its sender counts requests as packets.
        let requests = net.sends.iter().filter(|(flow, r)| *flow == i && r.seq == 0).count() as u64;
        [
            r.delivered_bytes + 40,
            s.sent_packets + requests,
            s.retransmits + requests - 1,
            s.timeouts,
            s.recoveries + s.timeouts + s.ecn_reductions,
            s.ecn_reductions,
            f.sender.variables().maxseq as u64 - u64::from(s.in_flight),
        ]
    });
    let totals = totals.collect();
    net.log.retain(|r| r.link == 0);
    (net.log, totals)
}

#[derive(Clone, Debug, PartialEq)]
struct Row {
    us: u64,
    what: String,
    flow: u32,
    seq: u32,
}

mod needs_data {
    use super::*;

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn every_send_drop_and_state_of_a_lone_flow_agrees_with_ns2() {
        let folder = cases::folder();
        let cases = cases::single_cases(&folder);
        assert!(!cases.is_empty(), "no case in {}", folder.display());
        let mut failures = Vec::new();
        for case in &cases {
            for clock in [Clock::Picoseconds, Clock::Seconds] {
                let seen = run(case, clock);
                failures.extend(case.compare(&seen).err().map(|text| format!("{clock:?}: {text}")));
            }
        }
        assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    }

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn every_packet_at_a_bottleneck_of_four_flows_agrees_with_ns2() {
        let folder = cases::folder();
        let folder = folder.join("multi_droptail");
        let (seen, totals) = run_multi(&folder);
        let expected = cases::rows(&folder.join("bottleneck_events.csv.gz"));
        let expected = expected.iter().map(|r| {
            let number = |i: usize| r[i].parse::<u32>().expect("a number");
            Row { us: cases::parse_us(&r[0]), what: r[1].clone(), flow: number(2), seq: number(3) }
        });
        let expected: Vec<Row> = expected.collect();
        let seen = seen.iter().map(|r| {
            let what = match r.what {
                What::Arrival => "arr",
                What::Departure => "dep",
                What::Delivery => "rx",
                What::Drop => "drop",
            };
            Row { us: micros(r.at), what: what.to_owned(), flow: r.flow, seq: r.seq }
        });
        let seen: Vec<Row> = seen.collect();
        let same = |a: &Row, b: &Row| {
            a.us.abs_diff(b.us) <= 1 && Row { us: 0, ..a.clone() } == Row { us: 0, ..b.clone() }
        };
        if let Some((row, us, text)) = cases::difference(&expected, &seen, |r| r.us, same) {
            panic!("row {row} at {us} us: {text}");
        }
        for (flow, row) in cases::rows(&folder.join("flows_out.csv")).iter().enumerate() {
            let want: Vec<u64> = row[1..].iter().map(|n| n.parse().expect("a count")).collect();
            assert_eq!(want, totals[flow], "flow {flow}");
        }
    }
}
