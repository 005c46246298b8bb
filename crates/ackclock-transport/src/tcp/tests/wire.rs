//! Senders and receivers of TCP over a wire with a script.

use std::sync::Arc;

use super::{Doubling, Halving, Log};
use crate::cc::CongestionControl;
use crate::era::Era;
use crate::ids::FlowId;
use crate::record::Recorder;
use crate::recovery::{self, RecoveryEnv};
use crate::registry::Spec;
pub(super) use crate::tcp::scripted::{Fate, Left};
use crate::tcp::scripted::{Script, Scripted};
use crate::tcp::{Receiver, ReceiverParts, Sender, SenderParts, TcpConfig};
use crate::units::{Bytes, Span, Time};
use crate::wire::{Flags, Packet};

/// The two ends of TCP with the wire between them.
pub(super) type Wire = Scripted<Sender, Receiver, Log>;

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
            script: Box::new(|_, _, _| Fate::Deliver),
            delay: Span::from_millis(100),
            service: Span::from_millis(1),
            stop: None,
        }
    }

    /// Drops the first transmission of each of these segments.
    pub(super) fn dropping(mut self, seqs: &'static [u32]) -> Self {
        self.script = Box::new(move |packet, _, _| {
            let again = packet.flags.has(Flags::RETX) || packet.flags.has(Flags::SYN);
            let first = !packet.is_ack() && !again;
            if first && seqs.contains(&packet.seq) { Fate::Drop } else { Fate::Deliver }
        });
        self
    }

    pub(super) fn script(mut self, mut script: impl FnMut(&Packet, u64) -> Fate + 'static) -> Self {
        self.script = Box::new(move |packet, number, _| script(packet, number));
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
        let env =
            RecoveryEnv { limited_transmit: self.config.limited_transmit, era: self.config.era };
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
        recorder.requested.windows = true;
        recorder.requested.states = true;
        recorder.requested.rtts = true;
        let times = (self.delay, self.service);
        Wire::new((sender, receiver), log, recorder, self.script, times)
    }
}
