//! Sequences that ns-2.35 gives, worked out by hand.

use super::*;
use crate::cc::{Ack, Congestion, Window};
use crate::era::Era;
use crate::record::Recorder;
use crate::rng::{Purpose, Stream};
use crate::wire::Timestamps;

/// Leaves 4/5 of the window, and grows in slow start only.
struct FourFifths;

impl CongestionControl for FourFifths {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, window: &mut Window, _event: &Congestion) {
        window.cwnd *= 0.8;
        window.ssthresh = window.cwnd;
    }
}

/// No packet leaves.
const NOTHING: [u32; 0] = [];

/// A sender under test. Each call gives the numbers of the packets that leave.
struct Flow {
    sender: Ns2Sender,
    now: Time,
    out: Vec<Packet>,
}

impl Flow {
    fn new(variant: Variant, change: impl FnOnce(&mut TcpConfig), size: Option<Bytes>) -> Self {
        let mut config = TcpConfig { receiver_window: 100, ..TcpConfig::of_era(Era::Ns2) };
        change(&mut config);
        let sender = Ns2Sender::new(Ns2Parts {
            flow: FlowId(0),
            config,
            options: Ns2Options::default(),
            variant,
            size,
            stop: None,
            cc: Box::new(FourFifths),
        });
        let mut flow = Self { sender, now: Time(1), out: Vec::new() };
        assert_eq!(flow.call(crate::endpoint::Endpoint::start), [0]);
        flow
    }

    fn ecn(variant: Variant) -> Self {
        Self::new(variant, |config| config.ecn = true, None)
    }

    fn call(&mut self, act: impl FnOnce(&mut Ns2Sender, &mut EndpointCtx<'_>)) -> Vec<u32> {
        let mut out = crate::outbox::Outbox::default();
        let (mut rng, mut record) = (Stream::new(1, Purpose::Sender, 0), Recorder::default());
        let mut ctx = EndpointCtx::new(self.now, &mut out, &mut rng, &mut record);
        act(&mut self.sender, &mut ctx);
        self.out = out.take().into_iter().collect();
        self.out.iter().map(|p| p.seq).collect()
    }

    /// An acknowledgement of packet `number`, 1 ms later.
    fn acknowledge(&mut self, number: u32, flags: Flags, sacked: &[u32]) -> Vec<u32> {
        self.now.0 += 1_000_000_000;
        let mut packet = Packet::new(FlowId(0), number + 1, 40, Flags::ACK | flags);
        let blocks: Vec<_> = sacked.iter().map(|&number| (number, number + 1)).collect();
        if !blocks.is_empty() {
            packet.options.tcp_mut().set_blocks(&blocks);
        }
        self.call(|sender, ctx| sender.on_packet(packet, ctx))
    }

    fn ack(&mut self, number: u32) -> Vec<u32> {
        self.acknowledge(number, Flags::default(), &[])
    }

    fn echo(&mut self, number: u32) -> Vec<u32> {
        self.acknowledge(number, Flags::ECE, &[])
    }

    fn sack(&mut self, number: u32, sacked: u32) -> Vec<u32> {
        self.acknowledge(number, Flags::default(), &[sacked])
    }

    /// The timer expires.
    fn expire(&mut self) -> Vec<u32> {
        self.now = self.sender.deadline().at;
        assert!(self.now < Time::MAX, "no timer is running");
        self.call(crate::endpoint::Endpoint::on_timer)
    }

    fn window(&self) -> (f64, f64) {
        let now = self.sender.snapshot();
        (now.cwnd, now.ssthresh)
    }
}

#[test]
fn ecn_reduces_once_per_window_first_by_half_then_by_the_control() {
    let mut flow = Flow::ecn(Variant::Reno);
    assert!(!flow.out[0].flags.has(Flags::ECT));
    // cwnd 2 after the request, 3 and 4 after packets 1 and 2, 2 after the echo.
    assert_eq!(flow.ack(0), [1, 2]);
    assert!(flow.out.iter().all(|p| p.flags.has(Flags::ECT)));
    assert_eq!((flow.ack(1), flow.ack(2)), (vec![3, 4], vec![5, 6]));
    assert_eq!(flow.echo(3), NOTHING);
    assert_eq!(flow.window(), (2.0, 2.0));
    // Packets up to 6 left before the reduction: an echo for 6 is of the same window; that of
    // 8 reduces again, now to 4/5. The first packet after the reduction carries CWR.
    assert_eq!((flow.ack(4), flow.ack(5)), (vec![], vec![7]));
    assert!(flow.out[0].flags.has(Flags::CWR));
    assert_eq!(flow.echo(6), [8]);
    assert_eq!(flow.ack(7), [9]);
    assert!(!flow.out[0].flags.has(Flags::CWR));
    assert_eq!(flow.sender.snapshot().ecn_reductions, 1);
    flow.echo(8);
    assert_eq!((flow.sender.snapshot().ecn_reductions, flow.window().0), (2, 1.6));
}

#[test]
fn an_ecn_echo_at_one_packet_waits_for_the_timer_and_then_sends_on() {
    let mut flow = Flow::ecn(Variant::Reno);
    assert_eq!(flow.ack(0), [1, 2]);
    assert_eq!(flow.echo(1), NOTHING);
    assert_eq!(flow.window(), (1.0, 2.0));
    // Of the same window, so no reduction; growth waits for an acknowledgement without an echo.
    assert_eq!(flow.echo(2), [3]);
    // Half a packet, and nothing outstanding.
    assert_eq!(flow.echo(3), NOTHING);
    assert_eq!((flow.window(), flow.sender.snapshot().in_flight), ((0.5, 2.0), 0));
    assert_eq!(flow.expire(), [4]);
    // With nothing outstanding it is no loss: ssthresh and backoff stay.
    assert_eq!((flow.window(), flow.sender.snapshot().timeouts), ((1.0, 2.0), 0));
    assert_eq!(flow.sender.variables().backoff, 1);
    // The second echo in a row at one packet backs the timer off (RFC 3168, section 6.1.2).
    assert_eq!(flow.echo(4), NOTHING);
    assert_eq!((flow.window().0, flow.sender.variables().backoff), (0.5, 2));
    assert_eq!(flow.expire(), [5]);
    // An acknowledgement without an echo ends both.
    assert_eq!(flow.ack(5), [6, 7]);
    assert_eq!((flow.window().0, flow.sender.variables().backoff), (2.0, 1));
}

#[test]
fn a_timeout_after_an_ecn_reduction_keeps_ssthresh_and_is_not_counted() {
    let mut flow = Flow::ecn(Variant::Reno);
    assert_eq!((flow.ack(0), flow.ack(1)), (vec![1, 2], vec![3, 4]));
    assert_eq!(flow.ack(2), [5, 6]);
    assert_eq!(flow.ack(3), [7, 8]);
    assert_eq!(flow.ack(4), [9, 10]);
    assert_eq!(flow.echo(5), NOTHING); // 6 packets to 3
    assert_eq!(flow.window(), (3.0, 3.0));
    assert_eq!(flow.expire(), [6]);
    assert_eq!((flow.window(), flow.sender.snapshot().timeouts), ((1.0, 3.0), 0));
    assert_eq!(flow.expire(), [6]);
    assert_eq!((flow.window(), flow.sender.snapshot().timeouts), ((1.0, 2.0), 1));
}

#[test]
fn tahoe_closes_the_window_at_a_third_duplicate_after_an_ecn_reduction() {
    let mut flow = Flow::ecn(Variant::Tahoe);
    assert_eq!((flow.ack(0), flow.ack(1), flow.ack(2)), (vec![1, 2], vec![3, 4], vec![5, 6]));
    assert_eq!(flow.echo(3), NOTHING);
    assert_eq!(flow.window(), (2.0, 2.0));
    // Packet 4 is lost: duplicates 1 and 2 may send one packet each, the third starts again with it.
    assert_eq!((flow.ack(3), flow.ack(3), flow.ack(3)), (vec![], vec![7], vec![4]));
    assert_eq!((flow.window(), flow.sender.snapshot().recoveries), ((1.0, 2.0), 0));
    // Tahoe carries CWR again, since it reduced the window again.
    assert!(flow.out[0].flags.has(Flags::CWR));
}

#[test]
fn the_loss_of_the_first_data_packet_is_repaired_by_fast_retransmit() {
    let duplicates = |variant| {
        let mut flow = Flow::new(variant, |_| (), None);
        assert_eq!(flow.ack(0), [1, 2]);
        let sent = [flow.sack(0, 2), flow.sack(0, 3), flow.sack(0, 4)];
        assert_eq!(flow.sender.snapshot().timeouts, 0);
        sent
    };
    for variant in [Variant::Tahoe, Variant::Reno, Variant::NewReno, Variant::Sack1] {
        let [first, second, third] = duplicates(variant);
        assert_eq!((first, second), (vec![3], vec![4]), "{variant:?}");
        assert_eq!(third, [1], "{variant:?}");
    }
}

#[test]
fn sack1_sends_the_retransmission_alone_at_the_third_duplicate() {
    let mut flow = Flow::new(Variant::Sack1, |config| config.limited_transmit = false, None);
    assert_eq!((flow.ack(0), flow.ack(1), flow.ack(2)), (vec![1, 2], vec![3, 4], vec![5, 6]));
    // Packets 3 to 6 are outstanding and 3 is lost: pipe 1 is below the new window of 2, but only
    // the next acknowledgement sends into it.
    assert_eq!((flow.sack(2, 4), flow.sack(2, 5), flow.sack(2, 6)), (vec![], vec![], vec![3]));
    assert_eq!(flow.window(), (2.0, 2.0));
    assert_eq!(flow.ack(6), [7, 8]);
}

#[test]
fn sack1_repairs_a_loss_right_after_recovery() {
    let mut flow = Flow::new(Variant::Sack1, |_| (), None);
    assert_eq!((flow.ack(0), flow.ack(1), flow.ack(2)), (vec![1, 2], vec![3, 4], vec![5, 6]));
    assert_eq!((flow.sack(2, 4), flow.sack(2, 5), flow.sack(2, 6)), (vec![7], vec![8], vec![3]));
    // Pipe 3, 2, 1: the last is below the window of 2.
    assert_eq!((flow.sack(2, 7), flow.sack(2, 8)), (vec![], vec![9]));
    assert_eq!(flow.ack(8), [10]);
    // Packet 9 is lost.
    assert_eq!((flow.sack(8, 10), flow.sack(8, 11)), (vec![11], vec![12]));
    assert_eq!(flow.sack(8, 12), [9]);
    assert_eq!(flow.sender.snapshot().recoveries, 2);
}

#[test]
fn a_finite_transfer_ends_with_fin_and_stops_its_timer() {
    let mut flow = Flow::new(Variant::Reno, |_| (), Some(Bytes(2500)));
    assert_eq!((flow.ack(0), flow.ack(1)), (vec![1, 2], vec![3]));
    assert!(flow.out[0].flags.has(Flags::FIN));
    assert_eq!(flow.ack(2), NOTHING);
    assert_eq!(flow.sender.snapshot().completed_s, 0.0);
    flow.ack(3);
    assert!(flow.sender.snapshot().completed_s > 0.0);
    assert_eq!(flow.sender.deadline(), Deadline::NEVER);
}

/// A partial acknowledgement leaves the RTT estimate and the echo of its timestamp alone; the one that ends recovery
/// takes a sample, of the packet whose timestamp it echoes, rounded to ticks of 10 ms: 60 ms are 6.
#[test]
fn a_partial_acknowledgement_in_sack_recovery_takes_no_rtt_sample() {
    let timestamps = |config: &mut TcpConfig| {
        config.timestamps = true;
        config.initial_window = 10;
    };
    let mut flow = Flow::new(Variant::Sack1, timestamps, None);
    let echoing = |flow: &mut Flow, ms: u64, number: u32, echoed: u32, sacked: Option<u32>| {
        flow.now.0 += ms * 1_000_000_000;
        let mut packet = Packet::new(FlowId(0), number + 1, 40, Flags::ACK);
        let options = packet.options.tcp_mut();
        options.timestamps = Some(Timestamps { sender: echoed, receiver: 0 });
        if let Some(sacked) = sacked {
            options.set_blocks(&[(sacked, sacked + 1)]);
        }
        flow.call(|sender, ctx| sender.on_packet(packet, ctx))
    };
    let stamp = |packet: &Packet| packet.timestamps().map_or(0, |clocks| clocks.sender);
    let request = stamp(&flow.out[0]);
    assert_eq!(echoing(&mut flow, 20, 0, request, None), (1..=10).collect::<Vec<u32>>());
    assert_eq!(flow.sender.variables().rtt_ticks, 2);
    // Packets 1 and 2 are lost.
    for sacked in [3, 4] {
        echoing(&mut flow, 1, 0, request, Some(sacked));
    }
    assert_eq!(echoing(&mut flow, 1, 0, request, Some(5)), [1]);
    let again = stamp(&flow.out[0]);
    echoing(&mut flow, 57, 1, again, Some(5));
    assert_eq!(flow.sender.variables().rtt_ticks, 2);
    let mut newest = 0;
    for sacked in [6, 7, 8, 9, 10] {
        echoing(&mut flow, 1, 1, again, Some(sacked));
        newest = flow.out.last().map_or(newest, stamp);
    }
    // All that was sent before recovery is acknowledged.
    echoing(&mut flow, 60, 12, newest, None);
    assert_eq!(flow.sender.variables().rtt_ticks, 6);
}

#[test]
fn a_duplicate_without_news_sends_what_the_burst_limit_held_back() {
    for variant in [Variant::Sack1, Variant::Tahoe] {
        let limited = |config: &mut TcpConfig| {
            config.max_burst = 1;
            config.initial_window = 4;
            config.limited_transmit = false;
        };
        let mut flow = Flow::new(variant, limited, None);
        assert_eq!(flow.ack(0), [1]);
        assert_eq!(flow.ack(0), [2], "{variant:?}");
        assert_eq!(flow.ack(0), [3], "{variant:?}");
    }
}

#[test]
fn the_largest_window_is_compared_in_whole_packets() {
    let mut flow = Flow::new(Variant::Reno, |_| {}, None);
    flow.sender.machine.options.maxcwnd = 4.0;
    flow.ack(0);
    flow.sender.machine.window = Window { cwnd: 3.8, ssthresh: 50.0 };
    flow.ack(1);
    assert_eq!(flow.window().0, 4.8);
    flow.ack(2);
    assert_eq!(flow.window().0, 4.0);
}

#[test]
fn the_first_packet_without_a_request_has_no_header() {
    let change = |config: &mut TcpConfig| {
        config.initial_window = 1;
        (config.syn, config.mss, config.header, config.ack_size) = (false, 1000, 50, 44);
    };
    let sizes = |flow: &Flow| flow.out.iter().map(|packet| packet.size).collect::<Vec<_>>();
    let mut flow = Flow::new(Variant::Reno, change, None);
    assert_eq!(sizes(&flow), [1000]);
    flow.ack(0);
    assert_eq!(sizes(&flow)[0], 1050);
    let with_request = Flow::new(
        Variant::Reno,
        |config| {
            change(config);
            config.syn = true;
        },
        None,
    );
    assert_eq!(sizes(&with_request), [44]);
}

#[test]
fn vegas_alone_has_neither_request_nor_headers_nor_ecn() {
    let config = TcpConfig { syn: true, header: 50, ecn: true, ..TcpConfig::of_era(Era::Ns2) };
    let settled = |variant: Variant| {
        let TcpConfig { syn, header, ecn, mss, .. } = variant.settle(config.clone());
        (syn, header, ecn, mss)
    };
    let thresholds = crate::tcp_ns2::Thresholds { alpha: 1, beta: 3, gamma: 1 };
    assert_eq!(settled(Variant::Vegas(thresholds)), (false, 0, false, config.mss));
    assert_eq!(settled(Variant::Sack1), (true, 50, true, config.mss));
}
