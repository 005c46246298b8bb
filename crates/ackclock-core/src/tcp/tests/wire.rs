//! A wire with a script: each packet is delivered, delayed, doubled or dropped as the script says.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Doubling, Halving, Log};
use crate::cc::CongestionControl;
use crate::ids::FlowId;
use crate::record::Recorder;
use crate::recovery::{self, RecoveryEnv};
use crate::registry::Spec;
use crate::rng::{Purpose, Stream};
use crate::scenario::Era;
use crate::tcp::{Endpoint, EndpointCtx, Receiver, ReceiverParts, Sender, SenderParts, TcpConfig};
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

/// Decides by packet and its number among the packets of its direction.
pub(super) type Script = Box<dyn FnMut(&Packet, u64) -> Fate>;

/// A data packet as it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) at: Time,
    pub(super) seq: u32,
    pub(super) size: u16,
    pub(super) flags: Flags,
}

pub(super) struct Setup {
    pub(super) config: TcpConfig,
    pub(super) recovery: Spec,
    pub(super) segments: Option<u32>,
    pub(super) size: Option<Bytes>,
    pub(super) cc: Option<Box<dyn CongestionControl>>,
    pub(super) script: Script,
    /// One-way delay.
    pub(super) delay: Span,
    /// Time that the bottleneck takes per data packet.
    pub(super) service: Span,
    pub(super) stop: Option<Time>,
}

impl Setup {
    /// No SYN, an ACK per segment, round trip 200 ms, bottleneck 1000 segments per second.
    pub(super) fn new(recovery: &str) -> Self {
        let mut config = TcpConfig::of_era(Era::Rfc);
        config.syn = false;
        config.delayed_ack = 1;
        config.initial_window = 1;
        config.mss = 1000;
        Self {
            config,
            recovery: Spec::from(recovery),
            segments: None,
            size: None,
            cc: None,
            script: Box::new(|_, _| Fate::Deliver),
            delay: Span::from_millis(100),
            service: Span::from_millis(1),
            stop: None,
        }
    }

    /// Drops the first transmission of each of these segments.
    pub(super) fn dropping(mut self, seqs: &'static [u32]) -> Self {
        self.script = Box::new(move |packet, _| {
            let again = packet.flags.has(Flags::RETX) || packet.flags.has(Flags::SYN);
            let first = !packet.is_ack() && !again;
            if first && seqs.contains(&packet.seq) { Fate::Drop } else { Fate::Deliver }
        });
        self
    }

    pub(super) fn script(mut self, script: impl FnMut(&Packet, u64) -> Fate + 'static) -> Self {
        self.script = Box::new(script);
        self
    }

    pub(super) fn segments(mut self, n: u32) -> Self {
        self.segments = Some(n);
        self
    }

    pub(super) fn config(mut self, change: impl FnOnce(&mut TcpConfig)) -> Self {
        change(&mut self.config);
        self
    }

    pub(super) fn build(self) -> Wire {
        let size = self.size.or(self.segments.map(|n| Bytes(u64::from(n * self.config.mss))));
        let env = RecoveryEnv { limited_transmit: self.config.limited_transmit };
        let recovery = recovery::build(&self.recovery, &env, "recovery").unwrap();
        let log = Log::default();
        let cc =
            self.cc.unwrap_or_else(|| Box::new(Halving { log: Arc::clone(&log), pacing: None }));
        let receiver = Receiver::new(&ReceiverParts {
            flow: FlowId(0),
            config: self.config.clone(),
            sack: recovery.uses_sack(),
            size,
        });
        let sender = Sender::new(SenderParts {
            flow: FlowId(0),
            config: Arc::new(self.config),
            size,
            supply: None,
            stop: self.stop,
            control: Arc::from("test"),
            cc,
            recovery,
            slow_start: Box::new(Doubling),
        });
        let mut recorder = Recorder::default();
        recorder.wanted.windows = true;
        recorder.wanted.states = true;
        recorder.wanted.controls = true;
        recorder.wanted.rtts = true;
        Wire {
            sender,
            receiver,
            now: Time::ZERO,
            log,
            left: Vec::new(),
            acks: Vec::new(),
            record: recorder,
            script: self.script,
            delay: self.delay,
            service: self.service,
            busy_until: Time::ZERO,
            flying: BTreeMap::new(),
            order: 0,
            counts: [0; 2],
            dropped: [0; 2],
            check: |_, _| {},
        }
    }
}

pub(super) struct Wire {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) now: Time,
    pub(super) log: Log,
    /// Data packets in the order in which they left.
    pub(super) left: Vec<Left>,
    /// Acknowledgements in the order in which they left.
    pub(super) acks: Vec<(Time, u32, Flags)>,
    pub(super) record: Recorder,
    script: Script,
    delay: Span,
    service: Span,
    busy_until: Time,
    flying: BTreeMap<(Time, u64), Packet>,
    order: u64,
    /// Packets that entered the wire, data and acknowledgements.
    pub(super) counts: [u64; 2],
    pub(super) dropped: [u64; 2],
    /// Runs after every event with the packets that it sent.
    pub(super) check: fn(&Sender, &[Left]),
}

impl Wire {
    pub(super) fn started(mut self) -> Self {
        self.call(true, |sender, _, ctx| sender.start(ctx));
        self
    }

    /// Runs to the end of all events, or until `limit`.
    pub(super) fn run(&mut self, limit: Time) -> &mut Self {
        loop {
            let arrival = self.flying.keys().next().map_or(Time::MAX, |&(at, _)| at);
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

    pub(super) fn call(
        &mut self,
        from_sender: bool,
        f: impl FnOnce(&mut Sender, &mut Receiver, &mut EndpointCtx<'_>),
    ) {
        let mut out = crate::outbox::Outbox::default();
        let mut ctx = EndpointCtx {
            now: self.now,
            out: &mut out,
            rng: &mut Stream::new(1, Purpose::Sender, 0),
            record: &mut self.record,
        };
        f(&mut self.sender, &mut self.receiver, &mut ctx);
        let before = self.left.len();
        for packet in out.take() {
            assert_eq!(from_sender, !packet.flags.has(Flags::ACK));
            if from_sender {
                let Packet { seq, size, flags, .. } = packet;
                self.left.push(Left { at: self.now, seq, size, flags });
            } else {
                self.acks.push((self.now, packet.seq, packet.flags));
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
        match (self.script)(&packet, number) {
            Fate::Drop => {
                self.dropped[direction] += 1;
                return;
            }
            Fate::Late(by) => arrival += by,
            Fate::Mark if packet.flags.has(Flags::ECT) => packet.flags.set(Flags::CE),
            Fate::Twice => {
                let mut copy = Packet::new(packet.flow, packet.seq, packet.size, packet.flags);
                copy.ts = packet.ts;
                copy.ts_peer = packet.ts_peer;
                copy.sack = packet.sack;
                copy.sack_count = packet.sack_count;
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
    pub(super) fn resent(&self) -> Vec<Left> {
        self.left.iter().filter(|p| p.flags.has(Flags::RETX)).copied().collect()
    }

    pub(super) fn resent_seqs(&self) -> Vec<u32> {
        self.resent().iter().map(|p| p.seq).collect()
    }

    pub(super) fn states(&self) -> Vec<&'static str> {
        self.record.states.iter().map(|row| row.state).collect()
    }
}
