//! Equal runs are equal, unequal seeds are not, and what is apart stays apart.

mod digests;
mod foreseen;

use ackclock_core::packet::PacketRow;
use serde_json::{Value, json};

use crate::common::{cbr, extend, run, wire};

/// A lossy dumbbell with RED and four TCPs: every random stream is in use.
fn noisy(seed: u64) -> Value {
    json!({
        "net": {"kind": "dumbbell", "pairs": 4, "rate": "10 Mbps", "rtts": ["20 ms", "30 ms", "50 ms", "80 ms"],
            "buffer": "60 pkt", "qdisc": "red", "loss": 0.001},
        "flows": [
            {"pair": 0, "count": 3, "stagger": "100 ms"},
            {"pair": 3, "source": {"kind": "exponential-on-off", "rate": "4 Mbps"}},
        ],
        "traffic": [{"generator": {"kind": "poisson", "rate": 5, "sizes": {"kind": "fixed", "mean": "30 kB"}}}],
        "duration": 5, "warmup": 1, "seed": seed,
        "record": {"tables": ["packets", "windows"]},
    })
}

fn generator_known(scenario: &Value) {
    let problems = crate::common::problems(scenario);
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn the_seed_alone_decides() {
    generator_known(&noisy(1));
    let (a, b, c) = (run(noisy(1)), run(noisy(1)), run(noisy(2)));
    assert_eq!(a.results.digest, b.results.digest);
    assert_eq!(a.results.tables.packets, b.results.tables.packets);
    assert_eq!(a.results.tables.windows, b.results.tables.windows);
    assert_ne!(a.results.digest, c.results.digest);
    assert_ne!(a.results.tables.packets, c.results.tables.packets);
}

#[test]
fn threads_do_not_disturb_each_other() {
    let alone = run(noisy(7)).results.digest;
    let together: Vec<u64> = std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..4).map(|_| scope.spawn(|| run(noisy(7)).results.digest)).collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    assert_eq!(together, [alone; 4]);
}

/// Rows of the flows below `flows` at the links below `links`.
fn part(rows: &[PacketRow], flows: u32, links: u32) -> Vec<PacketRow> {
    rows.iter().filter(|r| r.flow < flows && r.link < links).copied().collect()
}

#[test]
fn a_flow_elsewhere_changes_nothing_here() {
    let scenario = |elsewhere: bool| {
        let mut flows = vec![
            json!({"src": "a", "dst": "c"}),
            json!({"src": "b", "dst": "c", "source": {"kind": "exponential-on-off", "rate": "3 Mbps"}}),
        ];
        if elsewhere {
            flows.push(json!({"src": "x", "dst": "y"}));
        }
        json!({
            "net": {"kind": "graph", "links": [
                {"a": "a", "b": "r", "rate": "50 Mbps", "delay": "3 ms", "buffer": "100 pkt"},
                {"a": "b", "b": "r", "rate": "50 Mbps", "delay": "5 ms", "buffer": "100 pkt"},
                {"a": "r", "b": "c", "rate": "5 Mbps", "delay": "10 ms", "buffer": "20 pkt", "qdisc": "red", "loss": 0.01},
                {"a": "x", "b": "y", "rate": "5 Mbps", "delay": "1 ms", "buffer": "20 pkt", "qdisc": "red", "loss": 0.01},
            ]},
            "flows": flows, "duration": 10, "record": {"tables": ["packets", "windows"]},
        })
    };
    let (without, with) = (run(scenario(false)), run(scenario(true)));
    assert!(with.flow(2).receiver.delivered_packets > 100);
    assert_eq!(part(&with.results.tables.packets, 2, 6), without.results.tables.packets);
    let windows: Vec<_> =
        with.results.tables.windows.iter().filter(|r| r.flow.0 < 2).copied().collect();
    assert_eq!(windows, without.results.tables.windows);
    for i in 0..2 {
        assert_eq!(with.flow(i).sender, without.flow(i).sender);
    }
}

#[test]
fn recording_changes_nothing() {
    let mut silent = noisy(3);
    extend(&mut silent, json!({"record": {}}));
    let mut loud = noisy(3);
    extend(
        &mut loud,
        json!({"record": {"interval": "7 ms", "tables": ["windows", "rtts", "states", "drops", "packets", "flow_samples", "link_samples"]}}),
    );
    assert_eq!(run(silent).results.digest, run(loud).results.digest);
}

/// Disciplines that must do what FIFO does: one class, an average that never reaches a threshold.
fn like_fifo() -> [Value; 4] {
    [
        json!({"kind": "drr", "quantum": 65_535}),
        json!({"kind": "red", "min_th": 1e8, "max_th": 2e8}),
        json!({"kind": "codel", "target": "1000 s"}),
        json!({"kind": "fq"}),
    ]
}

/// Three sources and a TCP through a chain of two queues. Rates are odd numbers, so that no two
/// events fall on the same picosecond and the order of ties does not matter.
fn chain(qdisc: &Value, buffer: &str, seed: u64, schedule: Option<&Value>) -> Value {
    let mut second = json!({"a": "r", "b": "z", "rate": 7_654_321, "delay": "11 ms", "buffer": buffer, "qdisc": qdisc});
    if let Some(schedule) = schedule {
        extend(&mut second, json!({"schedule": schedule}));
    }
    json!({
        "net": {"kind": "graph", "links": [
            {"a": "a", "b": "q", "rate": 91_234_567, "delay": "1.000000017 ms", "buffer": "unlimited"},
            {"a": "b", "b": "q", "rate": 81_234_569, "delay": "2.000000031 ms", "buffer": "unlimited"},
            {"a": "q", "b": "r", "rate": 9_876_543, "delay": "5 ms", "buffer": buffer, "qdisc": qdisc},
            second,
        ]},
        "flows": [
            {"src": "a", "dst": "z", "cc": "aimd"},
            {"src": "b", "dst": "z", "source": {"kind": "exponential-on-off", "rate": 5_432_101, "packet": 777}},
            {"src": "b", "dst": "z", "start": "0.1 s", "source": {"kind": "pareto-on-off", "rate": 3_333_331, "packet": 201}},
            {"src": "b", "dst": "r", "start": "0.2 s", "cc": "cubic"},
        ],
        // One class, so that schedulers have nothing to schedule.
        "classes": "pair", "seed": seed, "duration": 5, "warmup": 1,
        "record": {"tables": ["packets", "drops", "windows"]},
    })
}

/// The chain with every flow between the same two nodes, as one class needs.
fn one_class(qdisc: &Value, buffer: &str, seed: u64, schedule: Option<&Value>) -> Value {
    let mut scenario = chain(qdisc, buffer, seed, schedule);
    for flow in scenario["flows"].as_array_mut().unwrap() {
        extend(flow, json!({"src": "a", "dst": "z"}));
    }
    scenario
}

fn compare(buffer: &str, qdiscs: &[Value], schedule: Option<&Value>) {
    for seed in 1..=3 {
        let fifo = run(one_class(&json!("fifo"), buffer, seed, schedule));
        for qdisc in qdiscs {
            let other = run(one_class(qdisc, buffer, seed, schedule));
            let first = fifo
                .results
                .tables
                .packets
                .iter()
                .zip(&other.results.tables.packets)
                .find(|(a, b)| a != b);
            assert!(first.is_none(), "{qdisc} {buffer} {seed}: {first:?}");
            assert_eq!(fifo.results.tables.packets.len(), other.results.tables.packets.len());
            assert_eq!(fifo.results.tables.windows, other.results.tables.windows);
            for (a, b) in fifo.results.links.iter().zip(&other.results.links) {
                assert_eq!(
                    (a.arrived, a.departed, a.drops, a.waiting),
                    (b.arrived, b.departed, b.drops, b.waiting)
                );
                assert_eq!((a.queue_mean, a.queue_p99), (b.queue_mean, b.queue_p99), "{qdisc}");
                assert_eq!(
                    (a.utilisation, a.delay_mean_s),
                    (b.utilisation, b.delay_mean_s),
                    "{qdisc}"
                );
            }
        }
    }
}

#[test]
fn fifo_computed_ahead_equals_fifo_packet_by_packet() {
    compare("unlimited", &like_fifo(), None);
}

#[test]
fn drop_tail_computed_ahead_equals_drop_tail_packet_by_packet() {
    // Without a second class the longest queue is the only one, and its tail is the arrival.
    let [_, red, codel, _] = like_fifo();
    compare(
        "12 pkt",
        &[red, codel, json!({"kind": "drr", "quantum": 65_535, "victim": "tail"})],
        None,
    );
    let [_, red, codel, _] = like_fifo();
    compare("9000 B", &[red, codel], None);
}

#[test]
fn the_two_ways_agree_under_changing_rates() {
    let steps = json!({"steps": [
        {"at": "1.234567 s", "rate": 2_345_677}, {"at": "2 s", "rate": 0},
        {"at": "2.5 s", "rate": 8_765_431},
    ]});
    compare("unlimited", &like_fifo(), Some(&steps));
    let opportunities = json!({"mahimahi": [1, 2, 2, 7, 11, 13, 13, 13, 19]});
    compare("unlimited", &like_fifo(), Some(&opportunities));
}

#[test]
fn tiny_packets_do_not_outrun_the_order_of_events() {
    // Packets of 1 B and 1500 B from two hosts meet in a queue over links without delay. Whatever
    // order processes run in, the queue must see its arrivals in order of time: by hand, packet k of
    // the small flow enters r->s at 100 us + k x 80 us + 8 us (1 B at 1 Mb/s). It starts late, so that
    // r has other packets to send meanwhile.
    let mut late = cbr("a", "z", 1e5, 1);
    extend(&mut late, json!({"start": "100 us"}));
    let scenario = json!({
        "net": {"kind": "graph", "links": [
            {"a": "a", "b": "r", "rate": "1 Mbps", "delay": 0, "buffer": "unlimited"},
            {"a": "b", "b": "r", "rate": "1 Mbps", "delay": 0, "buffer": "unlimited"},
            {"a": "r", "b": "s", "rate": "1 Mbps", "delay": 0, "buffer": "unlimited"},
            {"a": "s", "b": "z", "rate": "1 Mbps", "delay": 0, "buffer": "unlimited"},
        ]},
        "flows": [late, cbr("b", "z", 5e5, 1500), cbr("r", "z", 1e5, 2)],
        "duration": 1, "record": {"tables": ["packets"]},
    });
    let outcome = run(scenario);
    for link in ["r->s", "s->z"] {
        let mut last = 0;
        let mut departures = Vec::new();
        for row in &outcome.results.tables.packets {
            if row.link == outcome.link_id(link) && row.event.name() == "departure" {
                departures.push((row.at.0, row.size));
            }
        }
        for &(departed_at, size) in &departures {
            assert!(departed_at >= last, "{link}: {departed_at} before {last}");
            last = departed_at + u64::from(size) * 8_000_000; // 8 us a byte at 1 Mb/s
        }
        assert!(departures.len() > 10_000, "{}", departures.len());
    }
    for link in ["r->s", "s->z"] {
        let order = |event: &str| -> Vec<(u32, u32)> {
            outcome
                .packets(link)
                .filter(|r| r.event.name() == event)
                .map(|r| (r.flow, r.seq))
                .collect()
        };
        let (came, went) = (order("arrival"), order("departure"));
        assert_eq!(went[..], came[..went.len()], "{link} is first in, first out");
    }
    let arrivals: Vec<u64> = outcome
        .packets("r->s")
        .filter(|r| r.event.name() == "arrival" && r.flow == 0)
        .map(|r| r.at.0)
        .collect();
    for (k, arrival) in arrivals.iter().enumerate() {
        assert_eq!(*arrival, 100_000_000 + k as u64 * 80_000_000 + 8_000_000);
    }
}

#[test]
fn a_wire_delivers_in_order_and_on_time() {
    // 1000 B at 8 Mb/s take 1 ms; with 10 ms of propagation packet k sent at k ms arrives at k + 11 ms.
    let scenario = json!({
        "net": wire(json!({"rate": "8 Mbps", "delay": "10 ms", "buffer": "10 pkt"})),
        "flows": [cbr("a", "b", 8e6, 1000)], "duration": "1 s",
    });
    let outcome = run(scenario);
    // Sent at 0..=1000 ms; arrived by 1 s: 0..=989.
    assert_eq!(outcome.flow(0).sender.sent_packets, 1001);
    assert_eq!(outcome.flow(0).receiver.delivered_packets, 990);
    assert_eq!(outcome.flow(0).under_way, [11, 0]);
}
