//! Senders and receivers of QUIC over a wire with a script.

use std::sync::Arc;

use super::{Doubling, Halving, Shared};
use crate::cc::CongestionControl;
use crate::ids::FlowId;
use crate::quic::{
    FrameStreams, QuicConfig, QuicReceiver, QuicReceiverParts, QuicSender, QuicSenderParts,
};
use crate::record::Recorder;
use crate::scenario::{FrameStream, QuicOptions};
use crate::slow_start::SlowStart;
pub(super) use crate::tcp::scripted::Fate;
use crate::tcp::scripted::{Left, Script, Scripted};
use crate::units::{Bytes, Span, Time};
use crate::wire::{Flags, Packet};

/// The two ends of QUIC with the wire between them.
pub(super) type Wire = Scripted<QuicSender, QuicReceiver, Shared>;

pub(super) struct Setup {
    pub(super) config: QuicConfig,
    pub(super) size: Option<Bytes>,
    pub(super) samples: bool,
    pub(super) cc: Option<Box<dyn CongestionControl>>,
    pub(super) slow_start: Box<dyn SlowStart>,
    pub(super) streams: Option<(FrameStreams, Time)>,
    pub(super) stop: Option<Time>,
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
            streams: None,
            stop: None,
            script: Box::new(|_, _, _| Fate::Deliver),
        }
    }

    pub(super) fn segments(mut self, n: u32) -> Self {
        self.size = Some(Bytes(u64::from(n * self.config.segment())));
        self
    }

    /// A call that begins at 0.
    pub(super) fn streams(mut self, streams: Vec<FrameStream>) -> Self {
        self.streams = Some((Arc::from(streams), Time::ZERO));
        self
    }

    pub(super) fn stop(mut self, time: Time) -> Self {
        self.stop = Some(time);
        self
    }

    pub(super) fn config(mut self, change: impl FnOnce(&mut QuicConfig)) -> Self {
        change(&mut self.config);
        self
    }

    pub(super) fn script(
        mut self,
        mut script: impl FnMut(&Packet, Time) -> Fate + 'static,
    ) -> Self {
        self.script = Box::new(move |packet, _, now| script(packet, now));
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
        let default_control = || Box::new(Halving { log: Arc::clone(&log), samples });
        let cc = self.cc.unwrap_or_else(|| default_control());
        let receiver_setup = QuicReceiverParts {
            flow: FlowId(0),
            config: self.config.clone(),
            size: self.size,
            streams: self.streams.clone(),
        };
        let sender = QuicSender::new(QuicSenderParts {
            flow: FlowId(0),
            config: Arc::new(self.config),
            size: self.size,
            supply: None,
            streams: self.streams,
            stop: self.stop,
            control: Arc::from("test"),
            cc,
            slow_start: self.slow_start,
        });
        let mut record = Recorder::default();
        record.requested.rtts = true;
        record.requested.frames = true;
        record.requested.windows = true;
        let ends = (sender, QuicReceiver::new(&receiver_setup));
        let times = (Span::from_millis(100), Span::from_millis(1));
        Wire::new(ends, log, record, self.script, times).started()
    }
}

impl Wire {
    /// Packets with data: their numbers are `seq`, their segments `segment`.
    pub(super) fn data(&self) -> impl Iterator<Item = &Left> {
        self.left.iter().filter(|packet| !packet.flags.has(Flags::SYN))
    }

    /// Packets with data that had been sent before: number and segment.
    pub(super) fn again(&self) -> Vec<(u32, u32)> {
        self.resent().iter().map(|packet| (packet.seq, packet.segment)).collect()
    }
}
