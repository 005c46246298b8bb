use serde_json::json;

use super::*;
use crate::qdisc::managed::Managed;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;

/// FRED whose average is the present queue, with thresholds 4 and 8.
fn bench(params: &Params) -> Bench<Managed<Fred>> {
    let params = Params { min_th: Some(4.0), max_th: Some(8.0), w_q: 1.0, ..params.clone() };
    Bench::new(Managed::<Fred>::new(params, &env()).unwrap())
}

fn forced_drops(bench: &mut Bench<Managed<Fred>>) -> Vec<u32> {
    bench.drops().iter().filter(|d| d.1 == DropReason::Forced).map(|d| d.0).collect()
}

#[test]
fn one_flow_may_have_min_th_packets_waiting_and_each_more_is_a_strike() {
    let mut bench = bench(&Params::default());
    for _ in 0..4 {
        bench.arrive(0, 1000);
    }
    // avg 0..3 is below min_th: accepted. The fifth finds q_0 = 4 = max_q.
    for n in 4..7 {
        bench.arrive(0, 1000);
        assert_eq!(forced_drops(&mut bench), [n]);
        assert_eq!(bench.qdisc.aqm.flows[0].strikes, n - 3);
    }
    // Two strikes: now a flow is held to the average share. Flow 1 comes in with a packet, flow 0
    // has 2 left of 3: avgcq = 3/2, so 2 >= 1.5 and the arrival is dropped although avg < min_th.
    bench.depart();
    bench.depart();
    bench.arrive(1, 1000);
    bench.drops();
    bench.arrive(0, 1000);
    assert_eq!(forced_drops(&mut bench), [8]);
    // With its last packet the strikes are forgotten.
    bench.depart();
    bench.depart();
    bench.arrive(0, 1000);
    assert_eq!(bench.drops(), []);
    assert_eq!(bench.qdisc.aqm.flows[0].strikes, 0);
}

#[test]
fn with_many_flows_each_may_have_two_packets_waiting() {
    for many_flows in [true, false] {
        let mut bench = bench(&Params { many_flows, ..Params::default() });
        // Ten flows with one packet each: the ninth and tenth find avg >= max_th = 8.
        for key in 0..10 {
            bench.arrive(key, 1000);
        }
        assert_eq!(forced_drops(&mut bench).len(), if many_flows { 0 } else { 2 });
        if many_flows {
            for key in 0..10 {
                bench.arrive(key, 1000); // the second packets
            }
            assert_eq!(bench.drops(), []);
            bench.arrive(3, 1000); // a third
            assert_eq!(forced_drops(&mut bench), [20]);
            assert_eq!(bench.qdisc.aqm.flows[3].strikes, 1);
        }
    }
}

#[test]
fn between_the_thresholds_only_flows_with_more_than_their_share_are_dropped_at_random() {
    // p_b = max_p (avg - 4) / 4 with max_p = 1.
    let mut bench = bench(&Params { max_p: 1.0, ..Params::default() });
    for key in [0, 0, 0, 1, 2, 3] {
        bench.arrive(key, 1000);
        assert_eq!(bench.drops(), []);
    }
    // avg = 6, four flows: avgcq = 1.5. Flow 1 has 1 < max(2, 1.5): accepted without a draw.
    bench.arrive(1, 1000);
    assert_eq!(bench.probe("p").to_bits(), 0f64.to_bits());
    // avg = 7: flow 0 has 3: p_b = 3/4, and 1 / (1 - count p_b) with one arrival counted is over 1.
    bench.arrive(0, 1000);
    assert!((bench.probe("p") - 0.75).abs() < 1e-12);
    assert_eq!(bench.drops(), [(7, DropReason::Early)]);
    assert_eq!(bench.qdisc.aqm.flows[0].strikes, 0, "a random drop is no strike");
}

#[test]
fn the_average_takes_a_step_at_departures() {
    let params = Params { min_th: Some(4.0), w_q: 0.5, ..Params::default() };
    let mut bench = Bench::new(Managed::<Fred>::new(params, &env()).unwrap());
    bench.arrive(0, 1000); // finds 0
    bench.arrive(1, 1000); // finds 1: avg 0.5
    assert!((bench.probe("avg") - 0.5).abs() < 1e-12);
    bench.depart(); // leaves 1: avg 0.75
    assert!((bench.probe("avg") - 0.75).abs() < 1e-12);
    assert!((bench.probe("flows") - 1.0).abs() < 1e-12);
}

#[test]
fn thresholds_come_from_the_buffer() {
    let limit = Limit { packets: 200, bytes: u64::MAX };
    let fred = Fred::new(Params::default(), &QdiscEnv { limit, ..env() }).unwrap();
    assert_eq!((fred.curve.min_th as u32, fred.curve.max_th as u32), (50, 100));
    let error = refusal::<QdiscEnv, Fred>(json!({ "max_th": 1 }), &env());
    assert_eq!(error, "max_th: 1 is out of range; expected more than min_th, 5 packets");
}

/// Above `max_th`, without `many_flows`, every arrival is dropped; only a flow with more than twice the
/// average share is to blame.
#[test]
fn more_than_twice_the_share_is_a_strike() {
    // Eight packets: avg = max_th = 8. Seven flows share 8/7 = 1.14 each, six 8/6 = 1.33.
    for (own_packets, other_packets, strikes) in [(2, 6, 0), (3, 5, 1)] {
        let mut bench = bench(&Params { many_flows: false, max_p: 1e-9, ..Params::default() });
        for _ in 0..own_packets {
            bench.arrive(0, 1000);
        }
        for key in 1..=other_packets {
            bench.arrive(key, 1000);
        }
        assert_eq!(bench.drops(), []);
        bench.arrive(0, 1000);
        assert_eq!(forced_drops(&mut bench), [8]);
        assert_eq!(bench.qdisc.aqm.flows[0].strikes, strikes, "{own_packets} packets");
    }
}

#[test]
fn one_strike_does_not_hold_a_flow_to_its_share() {
    let mut bench = bench(&Params::default());
    for _ in 0..5 {
        bench.arrive(0, 1000); // the fifth finds four: the first strike
    }
    assert_eq!(forced_drops(&mut bench), [4]);
    bench.depart();
    bench.depart();
    bench.arrive(1, 1000);
    // Flow 0 has 2, the share is 3/2; avg = 3 is below min_th.
    bench.arrive(0, 1000);
    assert_eq!(bench.drops(), []);
    assert_eq!(bench.qdisc.aqm.flows[0].strikes, 1);
}
