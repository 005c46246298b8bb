use serde_json::json;

use super::*;
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;

const L4S: Flags = Flags(Flags::ECT.0 | Flags::ECT_1.0);
const NONE: Flags = Flags(0);

fn bench(table: serde_json::Value) -> Bench<DualPi2> {
    Bench::new(DualPi2::new(serde_json::from_value(table).unwrap(), &env()).unwrap())
}

fn queues(bench: &Bench<DualPi2>) -> (f64, f64) {
    (bench.probe("low_packets"), bench.probe("classic_packets"))
}

#[test]
fn ect_1_and_ce_go_to_the_low_latency_queue() {
    let mut bench = bench(json!({}));
    for flags in [L4S, Flags::ECT | Flags::CE] {
        bench.arrive_with(0, 1000, flags);
    }
    assert_eq!(queues(&bench), (2.0, 0.0));
    let mut ack = Flags::ACK;
    ack.set_ace(7); // the bits of the count are those of ECT(1)
    for flags in [NONE, Flags::ECT, ack] {
        bench.arrive_with(0, 1000, flags);
    }
    assert_eq!(queues(&bench), (2.0, 3.0));
}

#[test]
fn any_ect_takes_every_capable_packet() {
    let mut bench = bench(json!({ "identifier": "any-ect" }));
    for flags in [L4S, Flags::ECT, NONE] {
        bench.arrive_with(0, 1000, flags);
    }
    assert_eq!(queues(&bench), (2.0, 1.0));
}

#[test]
fn the_controller_follows_the_longer_of_the_two_waits() {
    let mut bench = bench(json!({}));
    bench.arrive(0, 1000);
    bench.after(Span::from_millis(16));
    bench.arrive_with(0, 1000, L4S);
    bench.tick();
    // 0.15 (16 - 15) ms + 3 (16 - 0) ms = 0.00015 + 0.048
    assert!((bench.probe("p") - 0.04815).abs() < 1e-12);
    bench.after(Span::from_millis(16));
    bench.tick();
    // + 0.15 (32 - 15) ms + 3 (32 - 16) ms = 0.00255 + 0.048
    assert!((bench.probe("p") - 0.0987).abs() < 1e-12);
    assert!((bench.probe("p_coupled") - 0.1974).abs() < 1e-12);
    assert!((bench.probe("p_classic") - 0.009_741_69).abs() < 1e-12);
    // Empty: 0.15 (0 - 15) ms + 3 (0 - 32) ms = -0.09825.
    while bench.depart().is_some() {}
    bench.tick();
    assert!((bench.probe("p") - 0.00045).abs() < 1e-12);
    bench.tick();
    assert_eq!(bench.probe("p"), 0.0);
}

/// Packets that are never late pass both queues: shares marked of L, and marked or dropped of C.
fn measure(p: f64, k: f64, classic: Flags) -> [f64; 3] {
    let mut bench = bench(json!({ "k": k }));
    bench.qdisc.p = p;
    let (mut low, mut marked) = (0, 0);
    let n = 20_000;
    for _ in 0..n {
        bench.arrive_with(0, 1000, L4S);
        bench.arrive_with(1, 1000, classic);
        while let Some(sent) = bench.depart() {
            let is_marked = u32::from(sent.packet.flags.has(Flags::CE));
            if sent.packet.flow.0 == 0 {
                low += is_marked;
            } else {
                marked += is_marked;
            }
        }
    }
    let dropped = bench.dropped.iter().filter(|(packet, _)| packet.flow.0 == 1).count();
    [f64::from(low), f64::from(marked), dropped as f64].map(|count| count / f64::from(n))
}

/// RFC 9332, equation (1): `p_C = (p_CL / k)^2`, as it is measured at the two queues.
#[test]
fn the_queues_are_coupled_by_the_square() {
    for k in [1.0, 2.0, 3.0] {
        for p in [0.01, 0.05, 0.1, 0.3] {
            let [low, marked, dropped] = measure(p, k, Flags::ECT);
            let law = (low / k) * (low / k);
            assert!((marked - law).abs() < 1e-3, "k {k}, p {p}: {marked}, {law}");
            assert_eq!(dropped, 0.0);
            let [low, marked, dropped] = measure(p, k, NONE);
            let law = (low / k) * (low / k);
            assert!((dropped - law).abs() < 1e-3, "k {k}, p {p}: {dropped}, {law}");
            assert_eq!(marked, 0.0);
        }
    }
}

#[test]
fn overload_drops_in_both_queues_with_the_probability_of_the_classic_one() {
    // p' = 0.6: p_C = 0.36 is above 1 / k^2 = 0.25.
    let [low, marked, dropped] = measure(0.6, 2.0, Flags::ECT);
    assert!((dropped - 0.36).abs() < 1e-3 && marked == 0.0, "{dropped} {marked}");
    // What is left of L is marked.
    assert!((low - 0.64).abs() < 1e-3, "{low}");
}

#[test]
fn without_drops_on_overload_the_probability_stops_at_a_quarter() {
    let mut bench = bench(json!({ "drop_on_overload": false }));
    bench.arrive(0, 1000);
    bench.after(Span::from_millis(1000));
    bench.tick();
    assert_eq!(bench.probe("p_classic"), 0.25);
    assert_eq!(bench.probe("p_coupled"), 1.0);
}

/// Three L packets of which the first has waited: whether it is marked, for each of eight in turn.
fn count_marks(table: serde_json::Value, us: u64) -> u32 {
    let mut bench = bench(table);
    let mut marks = 0;
    for _ in 0..8 {
        for _ in 0..3 {
            bench.arrive_with(0, 1000, L4S);
        }
        bench.after(Span::from_micros(us));
        marks += u32::from(bench.depart().unwrap().packet.flags.has(Flags::CE));
        // The last two in the queue are not marked, however late.
        for _ in 0..2 {
            assert!(!bench.depart().unwrap().packet.flags.has(Flags::CE));
        }
    }
    marks
}

#[test]
fn late_packets_are_marked_along_a_ramp_or_at_a_step() {
    // From 0.8 to 1.2 ms; the sum must exceed 1, so the first of a whole share is left out.
    for (us, marks) in [(800, 0), (900, 1), (1000, 3), (1100, 5), (1200, 7), (5000, 7)] {
        assert_eq!(count_marks(json!({}), us), marks, "{us} us");
    }
    for (us, marks) in [(999, 0), (1000, 0), (1001, 7)] {
        assert_eq!(count_marks(json!({ "ramp": "0 s" }), us), marks, "{us} us");
    }
}

#[test]
fn the_classic_queue_has_its_weight_while_both_wait() {
    let mut bench = bench(json!({ "classic_weight": 0.25 }));
    for _ in 0..40 {
        bench.arrive_with(0, 1000, L4S);
        bench.arrive(1, 1000);
    }
    let sent: Vec<u32> = (0..40).map(|_| bench.depart().unwrap().packet.flow.0).collect();
    assert_eq!(sent.iter().filter(|&&flow| flow == 1).count(), 10);
    // Credit -500, then + 250 for each of L, - 750 for one of C: L at -500, -250, 0; C at 250; L again.
    assert_eq!(sent[..8], [0, 0, 0, 1, 0, 0, 0, 1]);
}

#[test]
fn a_classic_packet_goes_first_once_it_has_waited_longer_by_the_shift() {
    let mut bench = bench(json!({ "scheduler": "time-shifted" })); // twice 15 ms
    bench.arrive(1, 1000);
    bench.after(Span::from_millis(30));
    bench.arrive_with(0, 1000, L4S);
    bench.after(Span::from_millis(1));
    bench.arrive_with(0, 1000, L4S);
    let sent: Vec<u32> = (0..3).map(|_| bench.depart().unwrap().packet.seq).collect();
    assert_eq!(sent, [1, 0, 2]);
}

#[test]
fn buffers_without_room_and_a_ramp_that_begins_before_zero_are_refused() {
    let refused = |table| refusal::<QdiscEnv, DualPi2>(table, &env());
    assert_eq!(
        refused(json!({ "classic_buffer": 0 })),
        "classic_buffer: 0 B is out of range; expected at least 1 B"
    );
    assert_eq!(
        refused(json!({ "ramp": "3 ms" })),
        "ramp: 0.003 s is out of range; expected at most twice the threshold, 0.002 s"
    );
    let none = QdiscEnv { limit: Limit { packets: 0, bytes: u64::MAX }, ..env() };
    assert!(refusal::<QdiscEnv, DualPi2>(json!({}), &none).contains("classic queue needs room"));
}

#[test]
fn the_classic_queue_may_have_a_bound_of_its_own() {
    let mut bench = bench(json!({ "classic_buffer": "2500 B" }));
    for _ in 0..4 {
        bench.arrive(0, 1000);
        bench.arrive_with(0, 1000, L4S);
    }
    assert_eq!(queues(&bench), (4.0, 2.0));
    assert_eq!(bench.drops().len(), 2);
}

#[test]
fn a_packet_that_just_fits_into_the_classic_queue_is_taken() {
    for (bytes, fit) in [(2999, 2.0), (3000, 3.0), (3001, 3.0)] {
        let mut bench = bench(json!({ "classic_buffer": bytes }));
        for _ in 0..4 {
            bench.arrive(0, 1000);
        }
        assert_eq!(queues(&bench), (0.0, fit), "{bytes} B");
    }
}
