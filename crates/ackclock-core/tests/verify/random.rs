//! Random networks with random traffic: whatever happens, nothing impossible happens.

use std::collections::HashMap;

use ackclock_core::compile::PlanSender;
use ackclock_core::packet::{Event, Fate, LedgerCount};
use ackclock_core::wire::DropReason;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::common::run;

fn names(catalogue: &[ackclock_core::registry::Entry]) -> Vec<&'static str> {
    catalogue.iter().map(|e| e.info.name).collect()
}

prop_compose! {
    fn link()(
        rate in 200_000u64..50_000_000, delay_us in 0u64..30_000, packets in 1u32..60,
        qdisc in select(names(&ackclock_core::qdisc::catalogue())),
        buffer in 0..4, loss in prop_oneof![3 => Just(0.0), 1 => 0.0..0.2f64], schedule in 0..8,
        impairments in prop_oneof![4 => Just(vec![]), 1 => prop::collection::vec(select(names(&ackclock_core::impairment::catalogue())), 1..3)],
        drop in prop::collection::vec(0u64..50, 0..3), mtu in prop_oneof![5 => Just(65_535), 1 => 500..1600u32],
    ) -> Value {
        let buffer = match buffer {
            0 => format!("{} B", u64::from(packets) * 1600),
            1 => "1 bdp".to_owned(),
            2 if packets % 7 == 0 => "unlimited".to_owned(),
            _ => format!("{packets} pkt"),
        };
        let mut link = json!({"rate": rate, "delay": delay_us as f64 * 1e-6, "buffer": buffer, "qdisc": qdisc,
            "loss": loss, "back_loss": loss / 3.0, "drop": drop, "mtu": mtu});
        match schedule {
            0 => link["schedule"] = json!({"steps": [{"at": 0.2, "rate": 0}, {"at": 0.4, "rate": rate / 3 + 1}, {"at": 0.7, "rate": rate}]}),
            1 if delay_us > 0 => link["schedule"] = json!({"mahimahi": [0, 3, 3, 4, 9, 17, 18, 18, 30]}),
            _ => {}
        }
        if delay_us > 0 {
            link["impairments"] = json!(impairments);
            link["back_impairments"] = json!(impairments.into_iter().take(1).collect::<Vec<_>>());
        }
        link
    }
}

prop_compose! {
    fn flow(nodes: usize)(
        src in 0..nodes, step in 1..nodes, start in 0.0..0.5f64, stop in prop::option::of(0.5..1.0f64),
        size in prop::option::of(1u64..300_000),
        cc in select(names(&ackclock_core::cc::catalogue())),
        recovery in select(names(&ackclock_core::recovery::catalogue())),
        slow_start in select(names(&ackclock_core::slow_start::catalogue())),
        source in 0..10, rate in 10_000u64..20_000_000, packet in 1u32..2000,
        mss in prop_oneof![3 => Just(1460u32), 1 => 1..1460u32], delayed_ack in 1u32..4, flags in any::<[bool; 5]>(),
        receiver_window in prop_oneof![1u32..30, Just(10_000u32)],
    ) -> Value {
        let (src, dst) = (format!("n{src}"), format!("n{}", (src + step) % nodes));
        let mut flow = json!({"src": src, "dst": dst, "start": start});
        if let Some(stop) = stop {
            flow["stop"] = json!(stop);
        }
        match source {
            0 => flow["source"] = json!({"kind": "cbr", "rate": rate, "packet": packet, "jitter": 0.3}),
            1 => flow["source"] = json!({"kind": "exponential-on-off", "rate": rate, "packet": packet, "burst": "20 ms", "idle": "30 ms"}),
            2 => flow["source"] = json!({"kind": "pareto-on-off", "rate": rate, "packet": packet, "burst": "20 ms", "idle": "30 ms"}),
            _ => {
                flow["cc"] = json!(cc);
                flow["recovery"] = json!(recovery);
                flow["slow_start"] = json!(slow_start);
                if let Some(size) = size {
                    flow["size"] = json!(size);
                }
                flow["tcp"] = json!({"mss": mss, "delayed_ack": delayed_ack, "syn": flags[0], "timestamps": flags[1],
                    "ecn": flags[2], "limited_transmit": flags[3], "min_rto": if flags[4] { 0.05 } else { 0.2 },
                    "receiver_window": receiver_window});
            }
        }
        flow
    }
}

prop_compose! {
    fn scenario()(nodes in 2usize..6)(
        nodes in Just(nodes),
        // A tree keeps the network connected; a few more links make ways around.
        tree in prop::collection::vec((link(), any::<prop::sample::Index>()), nodes - 1),
        extra in prop::collection::vec((link(), 0..nodes, 1..nodes), 0..3),
        flows in prop::collection::vec(flow(nodes), 1..6),
        era in select(vec!["rfc", "1999", "2002", "2007", "ns2"]),
        routing in select(vec!["hops", "delay", "weight"]), classes in select(vec!["stream", "flow", "source", "pair"]),
        seed in any::<u32>(), warmup in prop_oneof![Just(0.0), 0.0..0.9f64],
    ) -> Value {
        let mut links = Vec::new();
        let ends = tree.into_iter().enumerate().map(|(i, (link, parent))| (link, i + 1, parent.index(i + 1)))
            .chain(extra.into_iter().map(|(link, a, step)| (link, a, (a + step) % nodes)));
        for (i, (mut link, a, b)) in ends.enumerate() {
            link["a"] = json!(format!("n{a}"));
            link["b"] = json!(format!("n{b}"));
            link["id"] = json!(format!("l{i}"));
            links.push(link);
        }
        json!({"net": {"kind": "graph", "links": links}, "flows": flows, "era": era, "routing": routing, "classes": classes,
            "seed": seed, "duration": 1, "warmup": warmup, "record": {"tables": ["packets"]}})
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 300, ..ProptestConfig::default() })]

    /// Whatever the network, queues and controls: at each link the ledger's bytes are those that it sent, flow by flow
    /// too, lost bytes are those of packets that were dropped, and pieces make no difference.
    #[test]
    fn the_ledger_accounts_for_every_byte_that_a_link_sent(scenario in scenario()) {
        let found = crate::common::problems(&scenario);
        prop_assume!(found.is_empty());
        let seen = run(scenario);
        let rows = &seen.results.tables.packets;
        let keep = |pieces: &[&[ackclock_core::packet::PacketRow]]| {
            let mut ledger = LedgerCount::new(&seen.plan);
            for piece in pieces {
                ledger.count(piece);
            }
            ledger.finish()
        };
        let ledger = keep(&[rows]);
        let (head, tail) = rows.split_at(rows.len() / 2);
        prop_assert_eq!(&ledger, &keep(&[head, tail]));

        let mut sent: HashMap<(u32, u32, bool), u64> = HashMap::new();
        for row in rows.iter().filter(|row| row.event == Event::Departure) {
            *sent.entry((row.link, row.flow, row.flags & 1 == 1)).or_default() += u64::from(row.size);
        }
        let mut booked: HashMap<(u32, u32, bool), u64> = HashMap::new();
        let mut links = vec![0; seen.plan.links.len()];
        for (key, bytes) in &ledger {
            *booked.entry((key.link, key.flow, key.is_ack)).or_default() += bytes;
            links[key.link as usize] += bytes;
            prop_assert_eq!(key.fate == Fate::Lost, key.lost_at.is_some());
            prop_assert!(key.holder.is_none() || key.fate == Fate::Lost);
        }
        prop_assert_eq!(sent, booked);
        for (link, bytes) in seen.results.links.iter().zip(links) {
            prop_assert_eq!(link.departed_bytes, bytes);
        }
        for (f, (plan, flow)) in seen.plan.flows.iter().zip(&seen.results.flows).enumerate() {
            // At the first link: what was lost there before it was sent is not in the ledger.
            let Some(last) = plan.route.last() else { continue };
            let of = |fate| -> u64 {
                let mine = |key: &&ackclock_core::packet::LedgerKey| {
                    key.flow as usize == f && !key.is_ack && key.fate == fate && key.link == last.0
                };
                ledger.keys().filter(mine).map(|key| ledger[key]).sum()
            };
            let wire = seen.plan.links[last.index()].settings.impairments.is_empty();
            prop_assert!(!wire || of(Fate::Lost) == 0, "nothing is lost after the last link");
            // Copies that wires make are received and were never sent by the last link.
            if flow.copies[0] == 0 && flow.receiver.duplicate_packets == 0 && flow.under_way[0] == 0 {
                prop_assert_eq!(of(Fate::Duplicate), 0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_impossible_happens(scenario in scenario()) {
        let found = crate::common::problems(&scenario);
        // Bytes buffers smaller than a packet and the like are reported, not run.
        prop_assume!(found.is_empty());
        let seen = run(scenario.clone());
        let results = &seen.results;
        prop_assert!(results.warnings.is_empty(), "{:?}", results.warnings);
        for link in &results.links {
            // A transmission is rounded by half a picosecond; the shortest is 1 B at 50 Mb/s, 160 ns.
            prop_assert!((0.0..=1.0 + 3.2e-6).contains(&link.utilisation), "{link:?}");
            // What is lost on the wire has departed before.
            let wire: u64 = [DropReason::Wire, DropReason::Thinned]
                .iter()
                .map(|&reason| link.drops_by_reason[reason as usize])
                .sum();
            prop_assert_eq!(link.arrived + wire, link.departed + link.drops + link.waiting);
            prop_assert!(link.queue_mean >= 0.0 && link.delay_mean_s >= 0.0);
            prop_assert_eq!(link.drops_by_reason.iter().sum::<u64>(), link.drops);
        }
        for (plan, flow) in seen.plan.flows.iter().zip(&results.flows) {
            // A datagram that the wire copies is received twice; TCP delivers each segment once.
            let is_tcp = matches!(*plan.sender, PlanSender::Tcp { .. });
            prop_assert!(!is_tcp || flow.receiver.delivered_packets <= flow.sender.sent_packets);
            prop_assert!(flow.sender.retransmits <= flow.sender.sent_packets);
            if let Some(size) = plan.size {
                // ns-2's agents send whole packets: the last is full too.
                let whole = u64::from(plan.tcp.mss);
                let tcp = matches!(*plan.sender, PlanSender::Tcp { .. });
                let ns2 = tcp && seen.plan.era.is_ns2();
                let size = if ns2 { size.0.div_ceil(whole) * whole } else { size.0 };
                prop_assert!(flow.receiver.delivered_bytes <= size);
                if flow.sender.completed_s > 0.0 {
                    prop_assert_eq!(flow.receiver.delivered_bytes, size);
                }
            }
            prop_assert!(flow.sender.rtt_count == 0 || flow.sender.rtt_min_s > 0.0);
        }
        // No transmitter works on two packets at once: departures are a transmission apart.
        let mut busy = vec![0u64; seen.plan.links.len()];
        for row in results.tables.packets.iter().filter(|r| r.event.name() == "departure") {
            let link = &seen.plan.links[row.link as usize];
            if link.settings.schedule.is_none() {
                // Era ns2 counts in doubles; its times are rounded to picoseconds for the table.
                prop_assert!(row.at.0 + 2 >= busy[row.link as usize], "{}: {row:?}", link.name(&seen.plan.nodes));
                busy[row.link as usize] = row.at.0
                    + link.rate.transmission(ackclock_core::units::Bytes(u64::from(row.size))).0;
            }
        }
        // FIFO is first in, first out.
        for (l, link) in seen.plan.links.iter().enumerate().filter(|(_, l)| l.settings.qdisc.kind() == "fifo") {
            let rows = || results.tables.packets.iter().filter(|r| r.link as usize == l);
            let id = |r: &ackclock_core::packet::PacketRow| (r.flow, r.flags, r.seq, r.size, r.sack);
            let mut came = std::collections::VecDeque::new();
            for row in rows() {
                match row.event.name() {
                    "arrival" => came.push_back(id(row)),
                    "drop" => {
                        let last = came.pop_back();
                        prop_assert_eq!(last, Some(id(row)), "{}: the arrival is dropped", link.name(&seen.plan.nodes));
                    }
                    "loss" => {}
                    _ => {
                        let first = came.pop_front();
                        prop_assert_eq!(first, Some(id(row)), "{}: the first goes first", link.name(&seen.plan.nodes));
                    }
                }
            }
        }
        let again = run(scenario);
        prop_assert_eq!(again.results.digest, results.digest);
        prop_assert_eq!(&again.results.tables.packets, &results.tables.packets);
    }
}
