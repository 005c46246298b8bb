use serde_json::json;

use super::*;
use crate::ids::FlowId;
use crate::near::near;
use crate::registry::refusal;
use crate::traffic::source::testing::{Hand, env, ms};
use crate::wire::Flags;

fn sender(gain: f64) -> Hand<PacketPair> {
    let params = PacketPairParams { set_point: 5.0, gain, ..PacketPairParams::default() };
    let mut sender = Hand::new(PacketPair::new(params, &env()).unwrap());
    sender.start();
    sender
}

fn acknowledge(sender: &mut Hand<PacketPair>, at_ms: u64, number: u32) {
    sender.arrive(ms(at_ms), Packet::new(FlowId(0), number, 40, Flags::ACK | Flags::DATAGRAM));
}

#[test]
fn the_law_by_hand() {
    let mut sender = sender(0.5);
    // One pair until there is an estimate.
    acknowledge(&mut sender, 100, 0);
    assert_eq!((sender.end.service, sender.sent.len()), (None, 2));
    // 10 ms apart: 100 packets/s. R = 0.1 s, F = 0.1 + (0.11 - 0.1)/8 = 0.10125 s. Nothing is under way and 10
    // fit into R: a queue of -10, 15 below the set point. 100 + 15 / 0.10125 = 248.148 packets/s.
    acknowledge(&mut sender, 110, 1);
    near::<9>(sender.end.service.unwrap(), 100.0);
    near::<9>(sender.end.queue, -10.0);
    near::<9>(sender.end.rate, 100.0 + 15.0 / 0.10125);
    // The next pair was due 8.06 ms after the first, and leaves at once. S = 2: queue -8; 228.395 packets/s,
    // a pair every 8.757 ms.
    sender.run(ms(119));
    near::<9>(sender.end.rate, 100.0 + 13.0 / 0.10125 - 2.0 / 0.10125);
    let times = sender.times_ms();
    assert_eq!(times[..4], [0.0, 0.0, 110.0, 110.0]);
    near::<9>(times[4], 110.0 + 2000.0 / (100.0 + 13.0 / 0.10125));
    assert_eq!(sender.sent.len(), 6);
    // The spacing of the second pair, 20 ms, is 50 packets/s: an estimate of 75.
    acknowledge(&mut sender, 210, 2);
    acknowledge(&mut sender, 230, 3);
    near::<9>(sender.end.service.unwrap(), 75.0);
}

#[test]
fn with_the_pipe_and_the_set_point_filled_the_rate_is_the_share() {
    let mut sender = sender(1.0);
    acknowledge(&mut sender, 100, 0);
    acknowledge(&mut sender, 110, 1);
    // 15 packets are under way: 10 in R, 5 in the queue.
    sender.end.outstanding = 15;
    sender.end.control(sender.now);
    near::<9>(sender.end.queue, 5.0);
    near::<9>(sender.end.rate, 100.0);
    // 40 more: the rate falls to the least, a pair in F.
    sender.end.outstanding = 55;
    sender.end.control(sender.now);
    near::<9>(sender.end.rate, 2.0 / 0.10125);
}

#[test]
fn a_packet_is_lost_when_one_three_later_is_acknowledged_and_all_are_after_a_silence() {
    let mut sender = sender(1.0);
    acknowledge(&mut sender, 100, 0);
    acknowledge(&mut sender, 110, 1);
    sender.run(ms(150));
    let sent = sender.sent.len() as u32;
    assert!(sent > 8 && sender.end.outstanding == sent - 2, "{sent}");
    // 2 and 3 are missing: 4 says nothing, 5 that 2 is lost, 6 that 3 is.
    for (number, lost) in [(4, 0), (5, 1), (6, 2)] {
        acknowledge(&mut sender, 210, number);
        assert_eq!(sender.end.lost, lost);
    }
    // A pair of which one packet is lost gives no spacing, nor do acknowledgements at one time.
    near::<9>(sender.end.service.unwrap(), 100.0);
    // A second acknowledgement, and one of a packet that was taken for lost, change nothing.
    let (acks, under_way) = (sender.end.acks, sender.end.outstanding);
    acknowledge(&mut sender, 210, 4);
    acknowledge(&mut sender, 210, 2);
    assert_eq!((sender.end.acks, sender.end.outstanding), (acks, under_way));
    // Four mean round trips of 0.097 s after 210 ms.
    sender.run(ms(590));
    assert_eq!(sender.end.timeouts, 0);
    sender.run(ms(610));
    assert_eq!((sender.end.timeouts, sender.end.outstanding), (1, 2));
    assert_eq!(sender.end.outlet.packets, sender.end.acks + sender.end.lost + 2);
}

/// 1000 B take 0.8 ms on the first link, of 10 Mbit/s: 1250 packets/s at most. Wi-Fi acknowledges several packets at
/// one time, and a spacing of a picosecond filled the memory with packets.
#[test]
fn a_spacing_is_not_below_that_of_packets_on_the_first_link() {
    let mut sender = sender(1.0);
    acknowledge(&mut sender, 100, 0);
    let answer = Packet::new(FlowId(0), 1, 40, Flags::ACK | Flags::DATAGRAM);
    sender.arrive(ms(100) + Span(1), answer);
    near::<9>(sender.end.service.unwrap(), 1250.0);
}

/// A set point of 10^9 would have as many pairs leave at one time.
#[test]
fn no_pair_leaves_while_as_many_packets_as_may_be_are_under_way() {
    let mut sender = sender(1.0);
    acknowledge(&mut sender, 100, 0);
    acknowledge(&mut sender, 110, 1);
    sender.end.set_point = 1e9;
    sender.end.outstanding = MOST_UNDER_WAY - 1;
    sender.end.control(ms(120));
    assert_ne!(sender.end.next, Deadline::NEVER);
    sender.end.outstanding = MOST_UNDER_WAY;
    sender.end.control(ms(120));
    assert_eq!(sender.end.next, Deadline::NEVER);
    assert_ne!(sender.end.silence, Deadline::NEVER);
}

#[test]
fn before_the_first_acknowledgement_a_pair_leaves_each_second() {
    let mut sender = sender(1.0);
    sender.run(ms(2500));
    assert_eq!(sender.times_ms(), [0.0, 0.0, 1000.0, 1000.0, 2000.0, 2000.0]);
}

#[test]
fn the_receiver_answers_each_packet_with_its_number() {
    let mut echo = Hand::new(Echo::new(FlowId(0)));
    for number in [3, 5] {
        echo.arrive(ms(7), Packet::new(FlowId(0), number, 1000, Flags::DATAGRAM));
    }
    let numbers: Vec<u32> = echo.sent.iter().map(|(_, packet)| packet.seq).collect();
    assert_eq!(numbers, [3, 5]);
    assert!(echo.sent.iter().all(|(_, packet)| packet.is_ack() && packet.size == 40));
    assert_eq!(echo.end.snapshot().delivered_bytes, 2000);
}

#[test]
fn a_bad_parameter_is_named() {
    for (params, expected) in [
        (json!({ "packet": 0 }), "packet: 0 B is out of range"),
        (json!({ "set_point": 0 }), "set_point: 0 is out of range; expected more than 0"),
        (json!({ "gain": 1.5 }), "gain: 1.5 is out of range"),
    ] {
        let message = refusal::<SourceEnv, PacketPair>(params, &env());
        assert!(message.starts_with(expected), "{message}");
    }
}
