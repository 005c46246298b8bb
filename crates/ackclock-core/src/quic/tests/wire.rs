//! A wire with a script: each packet is delivered, delayed, doubled, marked or dropped as the script says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Doubling, Halving, Shared};
use crate::cc::CongestionControl;
use crate::ids::FlowId;
use crate::quic::{QuicConfig, QuicReceiver, QuicReceiverParts, QuicSender, QuicSenderParts};
use crate::record::Recorder;
use crate::rng::{Purpose, Stream};
use crate::scenario::QuicOptions;
use crate::slow_start::SlowStart;
use crate::tcp::{Endpoint, EndpointCtx};
use crate::units::{Bytes, Span, Time};
use crate::wire::{Flags, Packet};

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Deliver,
    Drop,
    Late(Span),
    Twice,
    Mark,
}

/// A data packet as it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) at: Time,
    pub(super) number: u32,
    pub(super) segment: u32,
    pub(super) again: bool,
}

pub(super) type Script = Box<dyn FnMut(&Packet, Time) -> Fate>;

pub(super) struct Setup {
    pub(super) config: QuicConfig,
    pub(super) size: Option<Bytes>,
    pub(super) samples: bool,
    pub(super) cc: Option<Box<dyn CongestionControl>>,
    pub(super) slow_start: Box<dyn SlowStart>,
    pub(super) script: Script,
}

impl Setup {
    /// Round trip 200 ms, bottleneck of a packet each millisecond, no pacing.
    pub(super) fn new() -> Self {
        let options = QuicOptions { pacing_factor: Some(0.0), ..QuicOptions::default() };
        Self {
            config: QuicConfig::of(&options),
            size: None,
            samples: false,
            cc: None,
            slow_start: Box::new(Doubling),
            script: Box::new(|_, _| Fate::Deliver),
        }
    }

    pub(super) fn segments(mut self, n: u32) -> Self {
        self.size = Some(Bytes(u64::from(n * self.config.segment())));
        self
    }

    pub(super) fn config(mut self, change: impl FnOnce(&mut QuicConfig)) -> Self {
        change(&mut self.config);
        self
    }

    pub(super) fn script(mut self, script: impl FnMut(&Packet, Time) -> Fate + 'static) -> Self {
        self.script = Box::new(script);
        self
    }

    /// Drops the packets with these numbers.
    pub(super) fn dropping(self, numbers: &'static [u32]) -> Self {
        self.script(move |packet, _| {
            let is_data = !packet.is_ack() && !packet.flags.has(Flags::SYN);
            if is_data && numbers.contains(&packet.seq) { Fate::Drop } else { Fate::Deliver }
        })
    }

    pub(super) fn start(self) -> Wire {
        let log = Shared::default();
        let samples = self.samples;
        let made = || Box::new(Halving { log: Arc::clone(&log), samples });
        let cc = self.cc.unwrap_or_else(|| made());
        let parts =
            QuicReceiverParts { flow: FlowId(0), config: self.config.clone(), size: self.size };
        let sender = QuicSender::new(QuicSenderParts {
            flow: FlowId(0),
            config: Arc::new(self.config),
            size: self.size,
            supply: None,
            stop: None,
            control: Arc::from("test"),
            cc,
            slow_start: self.slow_start,
        });
        let mut record = Recorder::default();
        record.wanted.rtts = true;
        record.wanted.windows = true;
        let mut wire = Wire {
            sender,
            receiver: QuicReceiver::new(&parts),
            now: Time::ZERO,
            log,
            left: Vec::new(),
            acks: Vec::new(),
            record,
            script: self.script,
            busy_until: Time::ZERO,
            flying: BTreeMap::new(),
            order: 0,
        };
        wire.call(true, |sender, _, ctx| sender.start(ctx));
        wire
    }
}

pub(super) struct Wire {
    pub(super) sender: QuicSender,
    pub(super) receiver: QuicReceiver,
    pub(super) now: Time,
    pub(super) log: Shared,
    pub(super) left: Vec<Left>,
    /// When each ACK left, and its largest number.
    pub(super) acks: Vec<(Time, u32)>,
    pub(super) record: Recorder,
    script: Script,
    busy_until: Time,
    flying: BTreeMap<(Time, u64), Packet>,
    order: u64,
}

impl Wire {
    /// Runs to the end of all events, or until `limit`.
    pub(super) fn run(&mut self, limit: Time) -> &mut Self {
        loop {
            let arrival = self.flying.keys().next().map_or(Time::MAX, |&(at, _)| at);
            let sender = self.sender.deadline().at;
            let receiver = self.receiver.deadline().at;
            let next = arrival.min(sender).min(receiver);
            if next > limit || next == Time::MAX {
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

    fn call(
        &mut self,
        from_sender: bool,
        f: impl FnOnce(&mut QuicSender, &mut QuicReceiver, &mut EndpointCtx<'_>),
    ) {
        let mut out = crate::outbox::Outbox::default();
        let mut ctx = EndpointCtx {
            now: self.now,
            out: &mut out,
            rng: &mut Stream::new(1, Purpose::Sender, 0),
            record: &mut self.record,
        };
        f(&mut self.sender, &mut self.receiver, &mut ctx);
        for packet in out.take() {
            assert_eq!(from_sender, !packet.is_ack());
            if packet.is_ack() {
                self.acks.push((self.now, packet.seq));
            } else if !packet.flags.has(Flags::SYN) {
                self.left.push(Left {
                    at: self.now,
                    number: packet.seq,
                    segment: packet.ts,
                    again: packet.flags.has(Flags::RETX),
                });
            }
            self.carry(packet);
        }
    }

    fn carry(&mut self, mut packet: Packet) {
        let mut arrival = self.now + Span::from_millis(100);
        if !packet.is_ack() {
            self.busy_until = self.busy_until.max(self.now) + Span::from_millis(1);
            arrival = self.busy_until + Span::from_millis(100);
        }
        match (self.script)(&packet, self.now) {
            Fate::Drop => return,
            Fate::Late(by) => arrival += by,
            Fate::Mark if packet.flags.has(Flags::ECT) => packet.flags.set(Flags::CE),
            Fate::Twice => {
                let mut copy = Packet::new(packet.flow, packet.seq, packet.size, packet.flags);
                (copy.ts, copy.ts_peer) = (packet.ts, packet.ts_peer);
                (copy.sack, copy.sack_count) = (packet.sack, packet.sack_count);
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

    /// Packets with data that had been sent before: number and segment.
    pub(super) fn resent(&self) -> Vec<(u32, u32)> {
        self.left.iter().filter(|p| p.again).map(|p| (p.number, p.segment)).collect()
    }
}
