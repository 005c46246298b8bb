use proptest::prelude::*;

use serde_json::json;

use super::*;
use crate::qdisc::Limit;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::units::{BitRate, PS_PER_S};
use crate::wire::DropReason;

fn bench(params: Params, env: &QdiscEnv) -> Bench<Fq> {
    Bench::new(Fq::new(params, env).unwrap())
}

fn order(bench: &mut Bench<Fq>) -> Vec<u32> {
    std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect()
}

#[test]
fn packets_leave_by_finish_tag() {
    let params = Params { weights: vec![1.0, 2.0], ..Params::default() };
    let mut bench = bench(params, &env());
    for _ in 0..3 {
        bench.arrive(0, 1000); // 0 1 2: finish 1000, 2000, 3000
    }
    for _ in 0..4 {
        bench.arrive(1, 1000); // 3 4 5 6: finish 500, 1000, 1500, 2000
    }
    bench.arrive(2, 300); // 7: finish 300
    assert_eq!(order(&mut bench), [7, 3, 0, 4, 5, 1, 6, 2]);
}

#[test]
fn the_longest_queue_loses_its_victim() {
    let limit = Limit { packets: 5, bytes: u64::MAX };
    let env = QdiscEnv { limit, ..env() };
    for (victim, longest, expected) in [
        (Victim::Tail, Measure::Bytes, 0),
        (Victim::Tail, Measure::Packets, 4),
        (Victim::Head, Measure::Packets, 1),
    ] {
        let mut bench = bench(Params { victim, longest, ..Params::default() }, &env);
        bench.arrive(0, 1500); // the most bytes
        for _ in 0..4 {
            bench.arrive(1, 300); // the most packets: 1 2 3 4
        }
        bench.arrive(2, 300);
        assert_eq!(bench.drops(), [(expected, DropReason::PushedOut)]);
    }
}

#[test]
fn drops_from_the_head_do_not_cost_the_class_its_share() {
    // Class 0 overloads the buffer and loses heads all the time; class 1 keeps just backlogged.
    for victim in [Victim::Head, Victim::Tail] {
        let limit = Limit { packets: 20, bytes: u64::MAX };
        let mut bench = bench(Params { victim, ..Params::default() }, &QdiscEnv { limit, ..env() });
        let mut sent = [0u32; 2];
        let mut waiting = [0u32; 2];
        for _ in 0..4000 {
            bench.arrive(0, 1000);
            bench.arrive(0, 1000);
            if waiting[1] < 3 {
                bench.arrive(1, 1000);
                waiting[1] += 1;
            }
            let packet = bench.depart().unwrap().packet;
            sent[packet.flow.index()] += 1;
            if packet.flow.0 == 1 {
                waiting[1] -= 1;
            }
            bench.after(Span::from_micros(800));
        }
        assert!(sent[0].abs_diff(sent[1]) <= 4, "{victim:?}: {sent:?}");
        assert!(bench.dropped.iter().all(|(p, _)| p.flow.0 == 0));
    }
}

#[test]
fn bad_weights_are_refused() {
    let text = refusal::<QdiscEnv, Fq>(json!({ "weights": [1, 0] }), &env());
    assert_eq!(text, "weights[1]: 0 is out of range; expected more than 0");
}

/// An arrival: time in units of 0.1 ms after the one before, class, size.
type Arrival = (u64, u32, u16);

/// Finish times under fluid sharing, by walking from event to event with plain lists: at any time
/// the first packet of each class is served at a rate in proportion to its weight.
fn fluid(arrivals: &[(f64, u32, f64)], weights: &[f64], rate: f64) -> Vec<f64> {
    let mut left: Vec<f64> = arrivals.iter().map(|a| a.2).collect();
    let mut finish_times = vec![f64::NAN; arrivals.len()];
    let (mut now, mut next) = (0.0, 0);
    loop {
        let heads: Vec<usize> = (0..weights.len())
            .filter_map(|k| {
                (0..next).find(|&i| arrivals[i].1 as usize == k && finish_times[i].is_nan())
            })
            .collect();
        let total: f64 = heads.iter().map(|&i| weights[arrivals[i].1 as usize]).sum();
        let speed = |i: usize| rate * weights[arrivals[i].1 as usize] / total;
        let finish = heads.iter().map(|&i| now + left[i] / speed(i)).fold(f64::INFINITY, f64::min);
        let arrival = arrivals.get(next).map_or(f64::INFINITY, |a| a.0);
        let until = finish.min(arrival);
        if until.is_infinite() {
            return finish_times;
        }
        for &i in &heads {
            left[i] -= speed(i) * (until - now);
            if left[i] < 1e-6 {
                finish_times[i] = until;
            }
        }
        now = until;
        if arrival <= until {
            next += 1;
        }
    }
}

/// Finish times on a link under the discipline.
fn link(arrivals: &[(u64, u32, u16)], params: Params, rate: BitRate) -> Vec<f64> {
    let env = QdiscEnv { rate, ..env() };
    let mut bench = bench(params, &env);
    let mut finish_times = vec![f64::NAN; arrivals.len()];
    let mut free_at = Time::ZERO;
    let mut next = 0;
    loop {
        let arrival = arrivals.get(next).map(|a| Time(a.0));
        if bench.qdisc_len() > 0 && arrival.is_none_or(|arrived_at| free_at < arrived_at) {
            bench.now = free_at.max(bench.now);
            let packet = bench.depart().unwrap().packet;
            free_at = bench.now + rate.transmission(Bytes(u64::from(packet.size)));
            finish_times[packet.seq as usize] = free_at.seconds();
        } else if let Some(arrived_at) = arrival {
            bench.now = arrived_at;
            bench.arrive(arrivals[next].1, arrivals[next].2);
            next += 1;
            free_at = free_at.max(arrived_at);
        } else {
            return finish_times;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Parekh & Gallager, theorem 1: no packet leaves later than under fluid sharing by more than
    /// the transmission time of the largest packet.
    #[test]
    fn no_packet_is_later_than_in_fluid_sharing_by_more_than_one(
        steps in prop::collection::vec((0u64..25, 0u32..4, 40u16..1500), 1..80),
        weights in prop::collection::vec(0.2f64..5.0, 4),
    ) {
        let rate = BitRate(8_000_000);
        let mut at = 0;
        let arrivals: Vec<Arrival> = steps
            .into_iter()
            .map(|(gap, class, size)| {
                at += gap * PS_PER_S / 10_000;
                (at, class, size)
            })
            .collect();
        let plain: Vec<_> = arrivals
            .iter()
            .map(|&(at, class, size)| (Time(at).seconds(), class, f64::from(size)))
            .collect();
        let bound = f64::from(arrivals.iter().map(|a| a.2).max().unwrap()) / 1e6;
        let ideal = fluid(&plain, &weights, 1e6);
        let params = Params { weights, ..Params::default() };
        for (real, ideal) in link(&arrivals, params, rate).into_iter().zip(ideal) {
            prop_assert!(real <= ideal + bound + 1e-8, "{real} is later than {ideal} + {bound}");
        }
    }

    /// Backlogged classes get service in proportion to their weights, to within one packet each,
    /// whichever virtual time is used.
    #[test]
    fn backlogged_classes_share_by_weight(
        weights in prop::collection::vec(0.2f64..5.0, 3),
        sizes in prop::collection::vec(40u16..1500, 3),
        scfq in any::<bool>(),
    ) {
        let virtual_time = if scfq { VirtualTime::Scfq } else { VirtualTime::Gps };
        let params = Params { weights: weights.clone(), virtual_time, ..Params::default() };
        let mut bench = bench(params, &env());
        for (class, &size) in sizes.iter().enumerate() {
            for _ in 0..200 {
                bench.arrive(class as u32, size);
            }
        }
        let mut sent = [0u32; 3];
        while sent.iter().all(|&n| n < 200) {
            let class = bench.depart().unwrap().packet.flow.index();
            sent[class] += 1;
            let service = |k: usize| f64::from(sent[k]) * f64::from(sizes[k]) / weights[k];
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                let slack = f64::from(sizes[i]) / weights[i] + f64::from(sizes[j]) / weights[j];
                prop_assert!((service(i) - service(j)).abs() <= slack + 1e-6);
            }
        }
    }
}

proptest! {
    /// Knowing which keys can come changes where a class lies in memory and nothing else.
    #[test]
    fn the_keys_that_pass_change_nothing(
        operations in prop::collection::vec((0usize..5, 1u16..1500, any::<bool>()), 1..300),
        packets in 1u32..20,
        longest in prop_oneof![Just(Measure::Bytes), Just(Measure::Packets)],
    ) {
        let keys = [1u32, 3, 4, 6, 7];
        let limit = Limit { packets, bytes: u64::MAX };
        let params = || Params { weights: vec![1.0, 2.0, 1.0, 0.5], longest, ..Params::default() };
        let informed = QdiscEnv { limit, passing: keys.into(), ..env() };
        let mut benches = [informed, QdiscEnv { limit, ..env() }].map(|env| bench(params(), &env));
        for (flow, size, departs) in operations {
            let mut seen = benches.iter_mut().map(|bench| {
                bench.arrive(keys[flow], size);
                let left = if departs { bench.depart().map(|t| t.packet.seq) } else { None };
                bench.after(Span::from_micros(500));
                (left, bench.drops(), bench.qdisc.len())
            });
            prop_assert_eq!(seen.next(), seen.next());
        }
    }
}

#[test]
fn virtual_time_runs_at_the_scheduled_rate() {
    // 8 Mbit/s is 1000 B/ms; from 0.5 ms on it is 10 B/ms. At 1 ms V is 505, not 1000.
    let link = QdiscEnv { rate: BitRate(8_000_000), ..env() };
    let run = |is_informed: bool, first: u16, second: u16| {
        let mut bench = bench(Params::default(), &link);
        bench.arrive(0, 1000); // 0: finish 1000
        assert!(bench.depart().is_some());
        if is_informed {
            bench.qdisc.on_rate(Time(PS_PER_S / 2000), BitRate(80_000));
        }
        bench.after(Span::from_millis(1));
        bench.arrive(1, first); // 1: finish V + first
        bench.arrive(0, second); // 2: finish 1000 + second
        order(&mut bench)
    };
    // 1705 or 2200 against 2000: V is less than 800.
    assert_eq!(run(true, 1200, 1000), [1, 2]);
    assert_eq!(run(false, 1200, 1000), [2, 1]);
    // 1205 against 1200, then 1204 against 1205: V is 505, and not the 10 of the new rate alone.
    assert_eq!(run(true, 700, 200), [2, 1]);
    assert_eq!(run(true, 699, 205), [1, 2]);
}

/// Golestani 1994: V is the finish tag of the packet in service. Start-time fair queueing (Goyal, Vin &
/// Cheng 1996), with its start tag, would put the newcomer first.
#[test]
fn self_clocked_virtual_time_is_the_finish_and_not_the_start_tag() {
    let params = Params { virtual_time: VirtualTime::Scfq, ..Params::default() };
    let mut bench = bench(params, &env());
    bench.arrive(0, 1000); // 0: start 0, finish 1000
    bench.arrive(0, 200); // 1: finish 1200
    assert_eq!(bench.depart().unwrap().packet.seq, 0);
    bench.arrive(1, 300); // 2: finish 1000 + 300; by the start tag 300
    bench.arrive(2, 150); // 3: finish 1150; by the start tag 150
    assert_eq!(order(&mut bench), [3, 1, 2]);
}
