//! For tests: two ends over a wire with a script, by which each packet is delivered, delayed, doubled, marked or dropped.

use std::collections::BTreeMap;

use crate::endpoint::{Endpoint, EndpointCtx};
use crate::outbox::Outbox;
use crate::record::Recorder;
use crate::rng::{Purpose, Stream};
use crate::units::{Span, Time};
use crate::wire::{Flags, Packet};

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Deliver,
    Drop,
    Late(Span),
    Twice,
    Mark,
}

/// Decides by packet, its number among the packets of its direction, and the time at which it left.
pub(crate) type Script = Box<dyn FnMut(&Packet, u64, Time) -> Fate>;

/// A packet of the sender as it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) at: Time,
    pub(crate) seq: u32,
    /// The segment of the stream: in QUIC another number than that of the packet.
    pub(crate) segment: u32,
    pub(crate) size: u16,
    pub(crate) flags: Flags,
}

/// Sender `S` and receiver `R` with the wire between them; `L` is what their control was called with.
pub(crate) struct Scripted<S, R, L> {
    pub(crate) sender: S,
    pub(crate) receiver: R,
    pub(crate) log: L,
    pub(crate) now: Time,
    /// Packets of the sender in the order in which they left.
    pub(crate) left: Vec<Left>,
    /// Acknowledgements in the order in which they left.
    pub(crate) acks: Vec<(Time, u32, Flags)>,
    pub(crate) record: Recorder,
    script: Script,
    /// One-way delay.
    delay: Span,
    /// Time that the bottleneck takes per data packet.
    service: Span,
    busy_until: Time,
    flying: BTreeMap<(Time, u64), Packet>,
    order: u64,
    /// Packets that entered the wire, data and acknowledgements.
    pub(crate) counts: [u64; 2],
    pub(crate) dropped: [u64; 2],
    /// Runs after every event with the packets that it sent.
    pub(crate) check: fn(&S, &[Left]),
}

impl<S: Endpoint, R: Endpoint, L> Scripted<S, R, L> {
    pub(crate) fn new(
        (sender, receiver): (S, R),
        log: L,
        record: Recorder,
        script: Script,
        (delay, service): (Span, Span),
    ) -> Self {
        Self {
            sender,
            receiver,
            log,
            now: Time::ZERO,
            left: Vec::new(),
            acks: Vec::new(),
            record,
            script,
            delay,
            service,
            busy_until: Time::ZERO,
            flying: BTreeMap::new(),
            order: 0,
            counts: [0; 2],
            dropped: [0; 2],
            check: |_, _| {},
        }
    }

    pub(crate) fn started(mut self) -> Self {
        self.call(true, |sender, _, ctx| sender.start(ctx));
        self
    }

    /// Runs to the end of all events, or until `limit`.
    pub(crate) fn run(&mut self, limit: Time) -> &mut Self {
        loop {
            let arrival = self.flying.keys().next().map_or(Time::MAX, |&(time, _)| time);
            let sender = self.sender.deadline().at;
            let receiver = self.receiver.deadline().at;
            let next = arrival.min(sender).min(receiver);
            if next > limit || next == Time::MAX {
                self.now = limit.min(next).max(self.now);
                return self;
            }
            assert!(next >= self.now, "time runs backwards");
            self.now = next;
            if arrival == next {
                let (_, packet) = self.flying.pop_first().unwrap();
                let to_sender = packet.is_ack();
                self.call(to_sender, |sender, receiver, ctx| {
                    if to_sender {
                        sender.on_packet(packet, ctx);
                    } else {
                        receiver.on_packet(packet, ctx);
                    }
                });
            } else if sender == next {
                self.call(true, |sender, _, ctx| sender.on_timer(ctx));
            } else {
                self.call(false, |_, receiver, ctx| receiver.on_timer(ctx));
            }
        }
    }

    pub(crate) fn call(
        &mut self,
        from_sender: bool,
        f: impl FnOnce(&mut S, &mut R, &mut EndpointCtx<'_>),
    ) {
        let mut out = Outbox::default();
        let mut ctx = EndpointCtx {
            now: self.now,
            out: &mut out,
            rng: &mut Stream::new(1, Purpose::Sender, 0),
            record: &mut self.record,
            ports: &crate::wire::NO_RECORDS,
        };
        f(&mut self.sender, &mut self.receiver, &mut ctx);
        let before = self.left.len();
        for packet in out.take() {
            assert_eq!(from_sender, !packet.is_ack());
            let Packet { seq, size, flags, .. } = packet;
            let segment = packet.options.segment().unwrap_or(seq);
            if from_sender {
                self.left.push(Left { at: self.now, seq, segment, size, flags });
            } else {
                self.acks.push((self.now, seq, flags));
            }
            self.carry(packet);
        }
        (self.check)(&self.sender, &self.left[before..]);
    }

    fn carry(&mut self, mut packet: Packet) {
        let direction = usize::from(packet.is_ack());
        let number = self.counts[direction];
        self.counts[direction] += 1;
        let mut arrival = self.now + self.delay;
        if direction == 0 {
            self.busy_until = self.busy_until.max(self.now) + self.service;
            arrival = self.busy_until + self.delay;
        }
        match (self.script)(&packet, number, self.now) {
            Fate::Drop => {
                self.dropped[direction] += 1;
                return;
            }
            Fate::Late(by) => arrival += by,
            Fate::Mark if packet.flags.has(Flags::ECT) => packet.flags.set(Flags::CE),
            Fate::Twice => {
                let mut copy = Packet::new(packet.flow, packet.seq, packet.size, packet.flags);
                copy.options = packet.options;
                self.fly(arrival, copy);
            }
            Fate::Deliver | Fate::Mark => {}
        }
        self.fly(arrival, packet);
    }

    fn fly(&mut self, arrival: Time, packet: Packet) {
        self.order += 1;
        self.flying.insert((arrival, self.order), packet);
    }

    /// Retransmissions in the order in which they left.
    pub(crate) fn resent(&self) -> Vec<Left> {
        self.left.iter().filter(|p| p.flags.has(Flags::RETX)).copied().collect()
    }

    pub(crate) fn resent_seqs(&self) -> Vec<u32> {
        self.resent().iter().map(|p| p.seq).collect()
    }

    pub(crate) fn states(&self) -> Vec<&'static str> {
        self.record.tables.states.iter().map(|row| row.state).collect()
    }
}
