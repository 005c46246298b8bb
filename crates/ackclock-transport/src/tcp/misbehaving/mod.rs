//! Receivers that misbehave: each changes what the receiver of the RFCs hears or says.

mod optimistic;
mod unechoed;

use super::{Receiver, ReceiverParts};
use crate::endpoint::Endpoint;
use optimistic::Optimistic;
use unechoed::Unechoed;

/// A receiver as `setup` describes it, whether it follows the rules or not.
pub fn receiver(setup: &ReceiverParts) -> Box<dyn Endpoint> {
    let plain = Receiver::new(setup);
    match (setup.config.optimistic_acks, setup.config.ecn_echo) {
        (None, true) => Box::new(plain),
        (None, false) => Box::new(Unechoed::new(plain)),
        (Some(ahead), true) => Box::new(Optimistic::new(plain, ahead, setup)),
        (Some(ahead), false) => Box::new(Optimistic::new(Unechoed::new(plain), ahead, setup)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::EndpointCtx;
    use crate::era::Era;
    use crate::ids::FlowId;
    use crate::outbox::Outbox;
    use crate::record::Recorder;
    use crate::rng::{Purpose, Stream};
    use crate::tcp::TcpConfig;
    use crate::units::{Bytes, Time};
    use crate::wire::{Flags, Packet};

    fn build_receiver(change: impl FnOnce(&mut TcpConfig), size: Option<u64>) -> Box<dyn Endpoint> {
        let mut config = TcpConfig::of_era(Era::Rfc);
        (config.delayed_ack, config.mss) = (1, 1000);
        change(&mut config);
        receiver(&ReceiverParts { flow: FlowId(0), config, sack: true, size: size.map(Bytes) })
    }

    fn ack_of(receiver: &mut dyn Endpoint, seq: u32, flags: Flags) -> Packet {
        let mut out = Outbox::default();
        let mut ctx = EndpointCtx {
            now: Time::ZERO,
            out: &mut out,
            rng: &mut Stream::new(1, Purpose::Receiver, 0),
            record: &mut Recorder::default(),
            ports: &crate::wire::NO_RECORDS,
        };
        receiver.on_packet(Packet::new(FlowId(0), seq, 1040, flags), &mut ctx);
        out.take().pop().unwrap()
    }

    /// Segments 0 and 3 arrive, 1 and 2 are lost.
    #[test]
    fn an_optimistic_receiver_hides_what_is_missing() {
        let data = Flags::default();
        let mut honest = build_receiver(|_| {}, None);
        let mut liar = build_receiver(|c| c.optimistic_acks = Some(0), None);
        let mut ahead = build_receiver(|c| c.optimistic_acks = Some(5), None);
        let acks = [0, 3].map(|seq| {
            [&mut honest, &mut liar, &mut ahead].map(|endpoint| ack_of(&mut **endpoint, seq, data))
        });
        assert_eq!(acks[0].each_ref().map(|ack| ack.seq), [1, 1, 6]);
        assert_eq!(acks[1].each_ref().map(|ack| ack.seq), [1, 4, 9]);
        assert_eq!(acks[1].each_ref().map(|ack| ack.sack_blocks().len()), [1, 0, 0]);
        assert_eq!(acks[0].each_ref().map(|ack| ack.size), [40; 3]);
        // 40 bytes, and 12 for one SACK block.
        assert_eq!(acks[1].each_ref().map(|ack| ack.size), [52, 40, 40]);
        assert_eq!(liar.snapshot().delivered_packets, 1);
    }

    #[test]
    fn no_more_than_the_whole_transfer_is_acknowledged_and_no_connection_before_it_is_there() {
        let mut liar = build_receiver(|c| c.optimistic_acks = Some(50), Some(20_000));
        assert_eq!(ack_of(&mut *liar, 0, Flags::SYN).seq, 0);
        assert_eq!(ack_of(&mut *liar, 0, Flags::default()).seq, 20);
    }

    #[test]
    fn marks_are_not_reported_in_either_form() {
        let marked = Flags::ECT | Flags::CE;
        let mut honest = build_receiver(|c| c.ecn = true, None);
        assert!(ack_of(&mut *honest, 0, marked).flags.has(Flags::ECE));
        let mut silent = build_receiver(|c| (c.ecn, c.ecn_echo) = (true, false), None);
        assert!(!ack_of(&mut *silent, 0, marked).flags.has(Flags::ECE));
        // It counts what arrives as any receiver does.
        assert_eq!(silent.snapshot().received_packets, 1);
        assert_eq!(silent.snapshot().delivered_packets, 1);
        let counted = |echo: bool| {
            let mut endpoint =
                build_receiver(|c| (c.ecn, c.accecn, c.ecn_echo) = (true, true, echo), None);
            let first = ack_of(&mut *endpoint, 0, Flags::ECT).flags.ace();
            ack_of(&mut *endpoint, 1, marked).flags.ace() - first
        };
        assert_eq!([counted(true), counted(false)], [1, 0]);
    }
}
