//! A result that is changed by hand so that it breaks a law is refused, by name and with its numbers.

use serde_json::json;

use super::*;
use crate::compile::compile;
use crate::packet::process::clock::Picoseconds;
use crate::packet::setup::build::build;
use crate::packet::setup::custom::RegistryOnly;
use crate::packet::turn::simulator::{RunEnd, Sim};

/// Two flows over 1 Mbit/s and 10 ms each way, of which one has an end; the queue is of the given discipline.
fn plan(qdisc: &str) -> Plan {
    plan_with(qdisc, &json!({}))
}

fn plan_with(qdisc: &str, tcp: &serde_json::Value) -> Plan {
    let scenario = json!({
        "net": { "kind": "graph", "links": [
            { "id": "access", "a": "a", "b": "r", "rate": "100 Mbps", "delay": "0 s", "buffer": "20 pkt" },
            { "id": "narrow", "a": "r", "b": "b", "rate": "1 Mbps", "delay": "10 ms", "buffer": "20 pkt",
              "qdisc": qdisc },
        ] },
        "flows": [{ "src": "a", "dst": "b" }, { "src": "a", "dst": "b", "size": "100 kB" }],
        "duration": 10, "warmup": 5, "tcp": tcp,
    });
    compile(&serde_json::from_value(scenario).unwrap()).unwrap()
}

fn run_to_end(plan: &Plan) -> Sim<Picoseconds> {
    let mut sim = build::<Picoseconds>(plan, &RegistryOnly).unwrap();
    assert_eq!(sim.run(&|| None, &mut |_| true, None), RunEnd::Ended);
    sim
}

/// Why the results of the run are refused once `change` was made to them.
fn refusal_of(change: impl FnOnce(&mut Results)) -> String {
    let plan = plan("fifo");
    let mut results = run_to_end(&plan).into_ended().finish(&plan, None).unwrap();
    assert_eq!(check(&results, &plan), Ok(()));
    change(&mut results);
    check(&results, &plan).unwrap_err()
}

#[test]
fn a_utilisation_above_1_or_below_0_is_refused() {
    let fault = refusal_of(|r| r.links[2].utilisation = 1.000_001);
    assert_eq!(fault, "link narrow: utilisation is 1.000001, outside of [0, 1]");
    assert!(refusal_of(|r| r.links[2].utilisation = -1e-12).contains("utilisation is -0.00"));
    assert!(refusal_of(|r| r.links[2].utilisation = f64::NAN).contains("utilisation is NaN"));
}

#[test]
fn queues_and_waiting_times_that_cannot_be_are_refused() {
    assert!(refusal_of(|r| r.links[0].queue_mean = -0.5).starts_with("link access: the mean of"));
    assert!(refusal_of(|r| r.links[0].queue_p99 = f64::NAN).contains("99th percentile"));
    // The run lasts 10 s.
    let fault = refusal_of(|r| r.links[0].delay_mean_s = 10.1);
    assert_eq!(fault, "link access: the mean waiting time is 10.1 s in a run of 10 s");
}

#[test]
fn a_window_that_is_no_number_is_refused() {
    let fault = refusal_of(|r| r.flows[1].sender.cwnd = f64::INFINITY);
    assert!(fault.starts_with("flow f1: cwnd is inf and ssthresh "), "{fault}");
    assert!(refusal_of(|r| r.flows[0].sender.ssthresh = f64::NAN).starts_with("flow f0: cwnd is"));
}

/// 1 Mbit/s for 5 s is 625 kB on the wire. The flow has 21 packets of 1500 B in the queue and on the wire at
/// most, and two more count for the edges of the window.
#[test]
fn goodput_above_the_narrowest_link_is_refused() {
    let of = |bytes: u64| {
        let plan = plan("fifo");
        let mut results = run_to_end(&plan).into_ended().finish(&plan, None).unwrap();
        let flow = &mut results.flows[0];
        flow.receiver.delivered_bytes = flow.receiver_at_warmup.delivered_bytes + bytes;
        check(&results, &plan)
    };
    assert_eq!(of(625_000), Ok(()));
    let fault = of(625_000 + 25 * 1500).unwrap_err();
    assert!(
        fault.starts_with("flow f0: 5300000 bit were delivered in the window of 5 s"),
        "{fault}"
    );
    assert!(fault.contains("in which link narrow can send 5000000 bit"), "{fault}");
}

/// Neither flow alone has more than the link can send, both together have.
#[test]
fn goodputs_that_together_are_above_a_link_are_refused() {
    let mut plan = plan("fifo");
    plan.flows.iter_mut().for_each(|flow| flow.size = None);
    let mut results = run_to_end(&plan).into_ended().finish(&plan, None).unwrap();
    for flow in &mut results.flows {
        flow.receiver.delivered_bytes = flow.receiver_at_warmup.delivered_bytes + 400_000;
    }
    let fault = check(&results, &plan).unwrap_err();
    assert!(
        fault.starts_with(
            "link narrow: 6400000 bit of its flows were delivered in the window of 5 s"
        ),
        "{fault}"
    );
}

/// What waited at the receiver when the window began counts for the time before.
#[test]
fn what_was_held_at_the_end_of_the_warm_up_is_not_of_the_window() {
    let plan = plan("fifo");
    let mut results = run_to_end(&plan).into_ended().finish(&plan, None).unwrap();
    let flow = &mut results.flows[0];
    let before = std::sync::Arc::make_mut(&mut flow.receiver_at_warmup);
    before.held_bytes = 30_000;
    flow.receiver.delivered_bytes = before.delivered_bytes + 100_000;
    assert_eq!(flow.window_bytes(), 70_000);
    flow.receiver.delivered_bytes -= 90_000;
    assert_eq!(flow.window_bytes(), 0);
}

#[test]
fn an_rtt_below_propagation_or_longer_than_the_run_is_refused() {
    let fault = refusal_of(|r| r.flows[0].sender.rtt_min_s = 0.0199);
    assert!(fault.starts_with("flow f0: the smallest of "), "{fault}");
    assert!(fault.ends_with("RTT samples is 0.0199 s in a run of 10 s; propagation takes 0.02 s"));
    let sum = |r: &mut Results, mean: f64| {
        let sender = &mut r.flows[0].sender;
        sender.rtt_sum_s = mean * sender.rtt_count as f64;
    };
    assert!(refusal_of(|r| sum(r, 0.0199)).starts_with("flow f0: the mean of "));
    assert!(refusal_of(|r| sum(r, 11.0)).starts_with("flow f0: the mean of "));
}

#[test]
fn a_transfer_faster_than_propagation_is_refused() {
    let fault = refusal_of(|r| r.flows[1].sender.completed_s = 0.0199);
    assert!(
        fault.starts_with("flow f1: all data, which began at 0 s, was acknowledged by 0.0199 s")
    );
    assert!(
        refusal_of(|r| r.flows[1].sender.completed_s = 10.1).contains("by 10.1 s in a run of 10 s")
    );
}

/// The second flow transfers 100 kB, all of which arrives.
#[test]
fn a_completed_transfer_that_has_not_delivered_its_size_is_refused() {
    let fault = refusal_of(|r| r.flows[1].receiver.delivered_bytes = 0);
    assert!(fault.starts_with("flow f1: a transfer of 100000 B was complete at "), "{fault}");
    assert!(fault.ends_with(" s, of which 0 B were delivered"), "{fault}");
    assert!(refusal_of(|r| r.flows[1].receiver.delivered_bytes -= 1).contains("99999 B"));
    let fault = refusal_of(|r| r.flows[1].receiver.delivered_bytes += 1);
    assert_eq!(fault, "flow f1: 100001 B of a transfer of 100000 B were delivered");
}

/// 20,266 bytes are 21 packets of ns-2. After a retransmission Vegas sends what is behind the last of them; Reno does not.
#[test]
fn the_packet_behind_the_last_that_vegas_of_ns2_sends_is_no_fault() {
    let delivered = |control: &str, size: u32| {
        let scenario = json!({
            "era": "2002", "duration": 50,
            "net": { "kind": "dumbbell", "pairs": 1, "rate": "2 Mbps", "delay": "1 ms", "buffer": "1 bdp" },
            "flows": [{ "pair": 0, "cc": control, "size": size }],
        });
        let plan = compile(&serde_json::from_value(scenario).unwrap()).unwrap();
        crate::packet::run(&plan, &mut |_| true).unwrap().flows[0].receiver.delivered_bytes
    };
    assert_eq!(delivered("vegas", 20_266), 22_000);
    assert_eq!(delivered("vegas", 100_266), 102_000);
    assert_eq!(delivered("aimd", 20_266), 21_000);
}

/// Its acknowledgements hide losses, whether they are of segments ahead or not.
#[test]
fn a_transfer_to_a_receiver_that_hides_losses_may_be_complete_before_it_is_delivered() {
    for ahead in [0, 3] {
        let plan = plan_with("fifo", &json!({ "optimistic_acks": ahead }));
        let results = run_to_end(&plan).into_ended().finish(&plan, None).unwrap();
        assert!(results.flows[1].sender.completed_s > 0.0);
        assert!(results.flows[1].receiver.delivered_bytes < 100_000);
        assert_eq!(check(&results, &plan), Ok(()), "{ahead}");
    }
}

/// Two errors that cancel in the sums over all flows, at packets on wires and in queues.
#[test]
fn a_packet_that_changes_its_flow_is_noticed() {
    for qdisc in ["fifo", "codel", "drr"] {
        let plan = plan(qdisc);
        let mut sim = run_to_end(&plan);
        sim.flows.ends[1].received += 1;
        sim.flows.ends[3].received -= 1;
        let fault = sim.into_ended().finish(&plan, None).unwrap_err();
        assert!(
            fault.starts_with("flow f0: ") && fault.contains(" data packets sent, but "),
            "{fault}"
        );
    }
}

#[test]
fn a_packet_that_vanishes_at_a_link_or_on_a_wire_is_noticed() {
    let plan = plan("codel");
    let mut sim = run_to_end(&plan);
    sim.links.list[2].count_arrival();
    let fault = sim.into_ended().finish(&plan, None).unwrap_err();
    assert!(fault.starts_with("link narrow: "), "{fault}");
    let mut sim = run_to_end(&plan);
    sim.flows.ends[0].sent += 1;
    let fault = sim.into_ended().finish(&plan, None).unwrap_err();
    assert!(fault.contains("packets sent and 0 copied, but"), "{fault}");
}

#[test]
fn a_clock_that_goes_back_is_noticed() {
    let plan = plan("fifo");
    let mut sim = run_to_end(&plan);
    let progress = sim.schedule.progress[0].done;
    assert!(progress > 0);
    sim.schedule.set_done(0, progress - 1);
    let fault = sim.into_ended().finish(&plan, None).unwrap_err();
    let [before, after] = [progress, progress - 1].map(|ps| Time(ps).seconds());
    let expected = format!("process 0: its clock went back from {before} s to {after} s");
    assert_eq!(fault, expected);
    // The order of turns.
    let mut sim = run_to_end(&plan);
    sim.schedule.note_soonest(5);
    sim.schedule.note_soonest(4);
    let fault = sim.into_ended().finish(&plan, None).unwrap_err();
    assert!(fault.starts_with("the clock of the schedule went back from "), "{fault}");
}

/// A packet of 1500 B takes 20 minutes at 10 bit/s, in which the clock of timestamps makes four turns and a half: samples
/// are what is left of them. At 1 Mbit/s no packet takes a turn, and the law holds.
#[test]
fn samples_of_more_than_a_turn_of_the_clock_of_timestamps_are_no_fault() {
    let plan = |rate: f64| {
        let scenario = json!({
            "net": { "kind": "dumbbell", "pairs": 1, "rate": rate, "rtt": "40 s", "buffer": "1 pkt" },
            "flows": [{ "pair": 0 }], "duration": 1e5, "era": "linux",
        });
        compile(&serde_json::from_value(scenario).unwrap()).unwrap()
    };
    let slow = plan(10.0);
    let results = run_to_end(&slow).into_ended().finish(&slow, None).unwrap();
    assert!(results.flows[0].sender.rtt_count > 0);
    assert!(results.flows[0].sender.rtt_min_s < 135.0);
    let fast = plan(1e6);
    let mut results = run_to_end(&fast).into_ended().finish(&fast, None).unwrap();
    results.flows[0].sender.rtt_min_s = 39.9;
    assert!(check(&results, &fast).unwrap_err().starts_with("flow f0: the smallest of "));
}
