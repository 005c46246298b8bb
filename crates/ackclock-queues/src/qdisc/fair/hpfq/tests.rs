use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::qdisc::Limit;
use crate::qdisc::fair::reference::{Arrival, serve};
use crate::qdisc::fair::wf2q_plus::Wf2qPlus;
use crate::qdisc::testing::{Bench, env, marked};
use crate::registry::refusal;
use crate::wire::{DropReason, Flags};

const NAMES: [(&str, u64); 6] = [("f0", 0), ("f1", 0), ("f2", 0), ("f3", 0), ("f4", 0), ("f5", 0)];

fn with_flows() -> QdiscEnv {
    QdiscEnv { facts: marked(&NAMES), ..env() }
}

fn build_hpfq(classes: &Value, env: &QdiscEnv) -> Result<Hpfq, Vec<Problem>> {
    Hpfq::new(serde_json::from_value(json!({ "classes": classes })).unwrap(), env)
}

fn leaf(flow: u32, weight: f64) -> Value {
    json!({ "weight": weight, "takes": { "flows": [format!("f{flow}")] } })
}

/// Two agencies of 3 to 1. The first divides its part among flows 0 and 1 by 2 to 1, the second has flow 2
/// and, one level lower, 3 and 4.
fn agencies() -> Value {
    json!([
        { "name": "one", "weight": 3, "classes": [leaf(0, 2.0), leaf(1, 1.0)] },
        { "name": "two", "classes": [
            leaf(2, 1.0),
            { "weight": 2, "classes": [leaf(3, 1.0), leaf(4, 4.0)] },
        ] },
    ])
}

fn flows(bench: &mut Bench<Hpfq>) -> Vec<u32> {
    std::iter::from_fn(|| bench.depart()).map(|t| t.packet.flow.0).collect()
}

/// Packets of 1000 B; agencies A and B of equal weights, A with flows 0 and 1, B with flow 2. By hand, tags
/// (S, F) as each server sets them, V in brackets, shares of 1/2 at each server:
/// at first 0 comes alone and is sent [link 500, A 500]. Then come 0 (behind it), 1, 1, 2, 2.
/// 1 at A: S = 500, F = 1500; 2 at the link: S = 500, F = 1500.
/// End of 0: at A its next has (1000, 2000), not eligible; 1 is chosen [A 1000]; A at the link (1000, 2000), not
/// eligible: 2 is sent [link 1000]. End: 2 has (1500, 2500), A is eligible: 1 is sent [link 1500].
/// End: at A 1 has (1500, 2500), 0 is eligible and chosen [A 1500]; A has (2000, 3000), 2 is sent [2000].
/// End: A's 0 is sent, then A's 1.
#[test]
fn packets_leave_by_hand_computed_tags() {
    let classes = json!([{ "classes": [leaf(0, 1.0), leaf(1, 1.0)] }, leaf(2, 1.0)]);
    let mut bench = Bench::new(build_hpfq(&classes, &with_flows()).unwrap());
    bench.arrive(0, 1000);
    assert_eq!(bench.depart().unwrap().packet.flow.0, 0);
    for flow in [0, 1, 1, 2, 2] {
        bench.arrive(flow, 1000);
    }
    assert_eq!(flows(&mut bench), [2, 1, 2, 0, 1]);
}

/// Rates of fluid sharing in the tree, as parts of the link: at each node its rate goes to the children that
/// have something to send, by weight.
fn fluid(classes: &Value, share: f64, active: &[bool], rates: &mut [f64]) {
    let list = classes.as_array().unwrap();
    let weight = |class: &Value| class["weight"].as_f64().unwrap_or(1.0);
    let sum: f64 = list.iter().filter(|c| is_active(c, active)).map(weight).sum();
    for class in list.iter().filter(|c| is_active(c, active)) {
        let share = share * weight(class) / sum;
        match flow(class) {
            Some(flow) => rates[flow] = share,
            None => fluid(&class["classes"], share, active, rates),
        }
    }
}

fn flow(class: &Value) -> Option<usize> {
    class["takes"]["flows"][0].as_str().map(|name| name[1..].parse().unwrap())
}

fn is_active(class: &Value, active: &[bool]) -> bool {
    match flow(class) {
        Some(flow) => active[flow],
        None => class["classes"].as_array().unwrap().iter().any(|class| is_active(class, active)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The goal of link-sharing: while a set of classes has packets, each gets what fluid hierarchical sharing
    /// gives it, to within two packets a level; what the others leave goes to the nearest relatives.
    #[test]
    fn every_class_gets_what_fluid_sharing_in_the_tree_gives_it(
        phases in prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 1..5),
        sizes in prop::collection::vec(200u16..1500, 5),
        weights in prop::collection::vec(0.3f64..4.0, 7),
    ) {
        let w = &weights;
        let classes = json!([
            { "weight": w[0], "classes": [leaf(0, w[1]), leaf(1, w[2])] },
            { "weight": 1.0, "classes": [
                leaf(2, w[3]),
                { "weight": w[4], "classes": [leaf(3, w[5]), leaf(4, w[6])] },
            ] },
        ]);
        let mut bench = Bench::new(build_hpfq(&classes, &with_flows()).unwrap());
        let mut waiting = [0i32; 5];
        for active in phases {
            if !active.contains(&true) {
                continue;
            }
            let mut rates = [0.0; 5];
            fluid(&classes, 1.0, &active, &mut rates);
            let mut sent = [0.0; 5];
            // What waits of the others goes first, before anything is counted.
            let mut settled = 0;
            for _ in 0..1500 {
                for flow in 0..5u32 {
                    while active[flow as usize] && waiting[flow as usize] < 3 {
                        bench.arrive(flow, sizes[flow as usize]);
                        waiting[flow as usize] += 1;
                    }
                }
                let packet = bench.depart().unwrap().packet;
                waiting[packet.flow.index()] -= 1;
                let others = (0..5).any(|flow| !active[flow] && waiting[flow] > 0);
                settled = if others { 0 } else { settled + 1 };
                if settled > 200 {
                    sent[packet.flow.index()] += f64::from(packet.size);
                }
            }
            let total: f64 = sent.iter().sum();
            for flow in 0..5 {
                let due = rates[flow] * total;
                prop_assert!((sent[flow] - due).abs() <= 6.0 * 1500.0, "{sent:?} {rates:?}");
            }
        }
    }

    /// Bennett & Zhang 1997, theorem on H-WF2Q+: a packet waits beyond its own class's backlog, served at the
    /// class's rate, at most one largest packet at the rate of each node on its way.
    #[test]
    fn no_packet_waits_longer_than_the_bound(
        steps in prop::collection::vec((0u64..20, 0u32..5, 40u16..1500), 1..120),
    ) {
        let arrivals = Arrival::list(&steps);
        let done = serve(&mut Bench::new(build_hpfq(&agencies(), &with_flows()).unwrap()), &arrivals);
        // Rates of the nodes on the way of each flow, as parts of the link of 1.25 MB/s.
        let ways: [&[f64]; 5] = [
            &[0.5, 0.75],
            &[0.25, 0.75],
            &[0.25 / 3.0, 0.25],
            &[0.5 / 15.0, 0.5 / 3.0, 0.25],
            &[2.0 / 15.0, 0.5 / 3.0, 0.25],
        ];
        let largest = arrivals.iter().map(|a| f64::from(a.size)).fold(0.0, f64::max);
        for (i, arrival) in arrivals.iter().enumerate() {
            let way = ways[arrival.class as usize];
            let ahead: f64 = (0..=i)
                .filter(|&j| arrivals[j].class == arrival.class && done[j] > arrival.at)
                .map(|j| f64::from(arrivals[j].size))
                .sum();
            let slack: f64 = way.iter().map(|rate| largest / (rate * 1.25e6)).sum();
            let bound = arrival.at + ahead / (way[0] * 1.25e6) + slack;
            prop_assert!(done[i] <= bound + 1e-8, "{i}: {} is later than {bound}", done[i]);
        }
    }

    /// A tree of one level is WF2Q+.
    #[test]
    fn one_level_is_wf2q_plus(
        operations in prop::collection::vec((0u32..6, 40u16..1500, any::<bool>()), 1..200),
        weights in prop::collection::vec(0.3f64..4.0, 6),
        packets in 1u32..30,
    ) {
        let limit = Limit { packets, bytes: u64::MAX };
        let env = QdiscEnv { limit, passing: [0, 1, 2, 3, 4, 5].into(), ..with_flows() };
        let classes: Vec<Value> = (0..6).map(|i| leaf(i, weights[i as usize])).collect();
        let mut tree = Bench::new(build_hpfq(&json!(classes), &env).unwrap());
        let flat = serde_json::from_value(json!({ "weights": weights })).unwrap();
        let mut flat = Bench::new(Wf2qPlus::new(flat, &env).unwrap());
        for (flow, size, departs) in operations {
            tree.arrive(flow, size);
            flat.arrive(flow, size);
            prop_assert_eq!(tree.drops(), flat.drops());
            if departs {
                let seq = |t: Timed| t.packet.seq;
                prop_assert_eq!(tree.depart().map(seq), flat.depart().map(seq));
            }
        }
    }
}

#[test]
fn the_longest_part_of_the_tree_loses_not_the_longest_queue() {
    // Agency one has flows 0 and 1 with three packets each, agency two flow 2 with four; equal weights.
    let classes = json!([{ "classes": [leaf(0, 1.0), leaf(1, 1.0)] }, leaf(2, 1.0)]);
    let limit = Limit { packets: 10, bytes: u64::MAX };
    let mut bench = Bench::new(build_hpfq(&classes, &QdiscEnv { limit, ..with_flows() }).unwrap());
    for flow in [2, 2, 2, 2, 0, 0, 0, 1, 1, 1] {
        bench.arrive(flow, 1000);
    }
    bench.arrive(2, 1000);
    // Six beside five: from agency one, whose queues are equally long, the first.
    assert_eq!(bench.drops(), [(6, DropReason::PushedOut)]);
}

#[test]
fn a_class_may_be_split_by_flow() {
    let classes = json!([
        { "weight": 1, "split": true, "takes": { "flows": ["f0", "f1", "f2"] } },
        { "weight": 1 },
    ]);
    let mut bench = Bench::new(build_hpfq(&classes, &with_flows()).unwrap());
    for flow in 0..4 {
        for _ in 0..60 {
            bench.arrive(flow, 1000);
        }
    }
    let mut sent = [0; 4];
    for _ in 0..60 {
        sent[bench.depart().unwrap().packet.flow.index()] += 1;
    }
    assert_eq!(sent[3], 30);
    assert!(sent[..3].iter().all(|n| (9..=11).contains(n)), "{sent:?}");
    assert_eq!(bench.qdisc.state().flows, 4);
}

#[test]
fn each_class_has_its_own_aqm() {
    let classes = json!([
        { "takes": { "flows": ["f0"] },
          "aqm": { "kind": "red", "min_th": 1, "max_th": 2, "w_q": 1, "max_p": 1, "ecn": true } },
        {},
    ]);
    let mut bench = Bench::new(build_hpfq(&classes, &with_flows()).unwrap());
    for flow in [0, 1] {
        for _ in 0..20 {
            bench.arrive_with(flow, 1000, Flags::ECT);
        }
    }
    let left = std::iter::from_fn(|| bench.depart()).fold([0; 2], |mut sums, sent| {
        sums[sent.packet.flow.index()] += u32::from(sent.packet.flags.has(Flags::CE));
        sums
    });
    assert!(left[0] > 0 && left[1] == 0, "{left:?}");
}

#[test]
fn what_is_wrong_is_reported_with_its_path() {
    let error = |classes| refusal::<QdiscEnv, Hpfq>(json!({ "classes": classes }), &with_flows());
    assert_eq!(
        error(json!([{ "classes": [{}, { "weight": 0 }] }])),
        "classes[0].classes[1].weight: 0 is out of range; expected more than 0"
    );
    assert_eq!(
        error(json!([{ "split": true, "classes": [{}] }])),
        "classes[0].split: is given beside classes[0].classes; expected it in those classes"
    );
    assert_eq!(
        error(json!([{ "takes": { "flows": ["f9x"] } }])),
        "classes[0].takes.flows[0]: is \"f9x\" but no flow has this id; expected one of: f0, f1, f2, f3, f4, f5"
    );
    assert!(error(json!([{ "aqm": "rde" }])).starts_with("classes[0].aqm: there is no AQM"));
}
