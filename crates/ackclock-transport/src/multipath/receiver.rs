//! The receiving end of a subflow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::{ConnectionParts, lock};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::record::FlowSample;
use crate::tcp::Receiver;
use crate::units::Time;
use crate::wire::{Flags, Options, Packet};

/// What a subflow has brought.
#[derive(Clone, Copy, Debug, Default)]
struct Brought {
    /// Segments that came first by it.
    first: u64,
    /// Those of them that have been delivered.
    delivered: u64,
    /// Segments that had come before.
    duplicates: u64,
    /// Bytes by which the last segment of the connection, which it delivered, is shorter.
    missing: u64,
}

/// The receiving side of a connection.
#[derive(Debug)]
struct Receiving {
    /// The next segment expected.
    next: u32,
    /// Segments of the whole; `u32::MAX` if endless.
    total: u32,
    missing: u32,
    /// From the next segment on, which subflow brought it.
    early: VecDeque<Option<u8>>,
    brought: Vec<Brought>,
}

impl Receiving {
    /// A subflow has the segment in order.
    fn take(&mut self, subflow: usize, segment: u32) {
        let place = segment.wrapping_sub(self.next) as usize;
        let is_old = segment < self.next || self.early.get(place).is_some_and(Option::is_some);
        if is_old {
            self.brought[subflow].duplicates += 1;
            return;
        }
        if self.early.len() <= place {
            self.early.resize(place + 1, None);
        }
        self.early[place] = Some(subflow as u8);
        self.brought[subflow].first += 1;
        while let Some(&Some(by)) = self.early.front() {
            self.early.pop_front();
            let brought = &mut self.brought[usize::from(by)];
            brought.delivered += 1;
            self.next += 1;
            if self.next == self.total {
                brought.missing = u64::from(self.missing);
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.next == self.total
    }
}

/// The place of a subflow at the receiving side of its connection.
#[derive(Debug)]
pub struct ReceivingSide {
    number: usize,
    mss: u64,
    connection: Arc<Mutex<Receiving>>,
}

impl ReceivingSide {
    /// Those of a connection, by subflow.
    pub fn of(parts: &ConnectionParts) -> Vec<Self> {
        let connection = Arc::new(Mutex::new(Receiving {
            next: 0,
            total: parts.total(),
            missing: parts.missing_bytes(),
            early: VecDeque::new(),
            brought: vec![Brought::default(); parts.subflows],
        }));
        let side = |number| Self {
            number,
            mss: u64::from(parts.mss),
            connection: Arc::clone(&connection),
        };
        (0..parts.subflows).map(side).collect()
    }
}

/// The receiving end: a TCP receiver that hands what it has in order to its connection.
#[derive(Debug)]
pub struct SubflowReceiver {
    receiver: Receiver,
    side: ReceivingSide,
    /// From the next segment of the subflow on, those of the connection that have come.
    arrived: VecDeque<Option<u32>>,
}

impl SubflowReceiver {
    /// One that has got nothing; `receiver` has no size.
    pub fn new(receiver: Receiver, side: ReceivingSide) -> Self {
        Self { receiver, side, arrived: VecDeque::new() }
    }

    /// Puts on each acknowledgement which segment the connection expects next. It takes the room of a SACK block.
    fn number_acknowledgements(&self, ctx: &mut EndpointCtx<'_>) {
        let next = lock(&self.side.connection).next;
        for packet in ctx.out.sent_mut() {
            if packet.is_ack() && !packet.flags.has(Flags::SYN) {
                let before = packet.sack_blocks().len();
                packet.options.tcp_mut().set_segment_of_connection(next);
                packet.size -= 8 * (before - packet.sack_blocks().len()) as u16;
            }
        }
    }

    /// Counts of this subflow, and the sums of bytes that follow: delivered, and waiting in its connection.
    fn brought(&self) -> (Brought, u64, u64) {
        let brought = lock(&self.side.connection).brought[self.side.number];
        let delivered = brought.delivered * self.side.mss - brought.missing;
        (brought, delivered, (brought.first - brought.delivered) * self.side.mss)
    }
}

impl Endpoint for SubflowReceiver {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.receiver.start(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        let carried = match &packet.options {
            Options::Tcp(options) => options.segment_of_connection(),
            _ => None,
        };
        let next = self.receiver.next_expected();
        if let Some(segment) = carried
            && let Some(place) = packet.seq.checked_sub(next)
        {
            let place = place as usize;
            if self.arrived.len() <= place {
                self.arrived.resize(place + 1, None);
            }
            self.arrived[place] = Some(segment);
        }
        self.receiver.on_packet(packet, ctx);
        let mut connection = lock(&self.side.connection);
        for _ in next..self.receiver.next_expected() {
            if let Some(Some(segment)) = self.arrived.pop_front() {
                connection.take(self.side.number, segment);
            }
        }
        let is_complete = connection.is_complete();
        drop(connection);
        if is_complete && self.receiver.ack_due() != Time::MAX {
            self.receiver.acknowledge_now(ctx);
        }
        self.number_acknowledgements(ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.receiver.on_timer(ctx);
        self.number_acknowledgements(ctx);
    }

    fn deadline(&self) -> Deadline {
        self.receiver.deadline()
    }

    fn prefetch(&self) {
        Endpoint::prefetch(&self.receiver);
    }

    fn is_complete(&self) -> bool {
        lock(&self.side.connection).is_complete()
    }

    fn snapshot(&self) -> Snapshot {
        let mut state = self.receiver.snapshot();
        let (brought, delivered, waiting) = self.brought();
        state.delivered_bytes = delivered;
        state.held_bytes += waiting;
        state.delivered_packets = brought.delivered;
        state.duplicate_packets += brought.duplicates;
        state
    }

    fn sample(&self, row: &mut FlowSample) {
        self.receiver.sample(row);
        let (_, delivered, waiting) = self.brought();
        let held = row.received_bytes - row.delivered_bytes;
        row.delivered_bytes = delivered;
        row.received_bytes = delivered + waiting + held;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::era::Era;
    use crate::ids::FlowId;
    use crate::outbox::Outbox;
    use crate::record::Recorder;
    use crate::rng::{Purpose, Stream};
    use crate::scenario::Scheduler;
    use crate::tcp::{ReceiverParts, TcpConfig};
    use crate::units::Bytes;

    /// Two subflows of a connection of 3500 B in segments of 1000 B.
    fn pair() -> Vec<SubflowReceiver> {
        let mut config = TcpConfig::of_era(Era::Rfc);
        (config.delayed_ack, config.mss) = (2, 1000);
        let parts = ConnectionParts {
            scheduler: Scheduler::LowestRtt,
            subflows: 2,
            size: Some(Bytes(3500)),
            mss: 1000,
            receiver_window: 100,
        };
        let receiver = |(i, side)| {
            let parts =
                ReceiverParts { flow: FlowId(i), config: config.clone(), sack: true, size: None };
            SubflowReceiver::new(Receiver::new(&parts), side)
        };
        (0..).zip(ReceivingSide::of(&parts)).map(receiver).collect()
    }

    /// Segment `seq` of a subflow brings `segment` of the connection; what the acknowledgements that leave say: the next
    /// segment of the subflow, and of the connection.
    fn bring(receiver: &mut SubflowReceiver, seq: u32, segment: u32) -> Vec<(u32, u32, u16)> {
        let mut out = Outbox::default();
        let mut rng = Stream::new(1, Purpose::Receiver, 0);
        let mut record = Recorder::default();
        let mut ctx = EndpointCtx::new(Time::ZERO, &mut out, &mut rng, &mut record);
        let mut packet = Packet::new(FlowId(0), seq, 1040, Flags::default());
        packet.options.tcp_mut().set_segment_of_connection(segment);
        receiver.on_packet(packet, &mut ctx);
        let says = |ack: Packet| match &ack.options {
            Options::Tcp(options) => (ack.seq, options.segment_of_connection().unwrap(), ack.size),
            _ => unreachable!("each acknowledgement has the option"),
        };
        out.take().into_iter().map(says).collect()
    }

    #[test]
    fn data_waits_for_what_another_subflow_brings_and_counts_once() {
        let mut both = pair();
        let delivered = |both: &[SubflowReceiver]| {
            let bytes = |one: &SubflowReceiver| {
                let state = one.snapshot();
                (state.delivered_bytes, state.held_bytes, state.duplicate_packets)
            };
            (bytes(&both[0]), bytes(&both[1]))
        };
        assert_eq!(bring(&mut both[0], 0, 1), []);
        assert_eq!(delivered(&both), ((0, 1000, 0), (0, 0, 0)));
        assert_eq!(bring(&mut both[1], 0, 0), []);
        assert_eq!(delivered(&both), ((1000, 0, 0), (1000, 0, 0)));
        // The same again over the other path is no second delivery, and the acknowledgement says what is expected.
        assert_eq!(bring(&mut both[1], 1, 1), [(2, 2, 40)]);
        assert_eq!(delivered(&both), ((1000, 0, 0), (1000, 0, 1)));
    }

    #[test]
    fn what_is_missing_on_its_subflow_is_not_handed_over_before() {
        let mut both = pair();
        // 8 n + 4 bytes of n SACK blocks.
        assert_eq!(bring(&mut both[0], 1, 0), [(0, 0, 52)]);
        assert_eq!(bring(&mut both[0], 0, 1), [(2, 2, 40)]);
        assert!(!both[1].is_complete());
        // The last segment ends it, and is acknowledged at once; half of it is there.
        assert_eq!(bring(&mut both[1], 0, 3), []);
        assert_eq!(bring(&mut both[0], 2, 2), [(3, 4, 40)]);
        assert!(both.iter().all(Endpoint::is_complete));
        let bytes = both.iter().map(|one| one.snapshot().delivered_bytes).collect::<Vec<_>>();
        assert_eq!(bytes, [3000, 500]);
    }

    #[test]
    fn of_three_sack_blocks_two_find_room_beside_the_number() {
        let mut both = pair();
        let mut acks = Vec::new();
        for seq in [1, 3, 5, 7] {
            acks = bring(&mut both[0], seq, 10 + seq);
        }
        assert_eq!(acks, [(0, 0, 40 + 8 * 2 + 4)]);
    }
}
