//! What the tests of sources share: an environment, and an endpoint that is called by hand.

use super::{Bundles, SourceEnv};
use crate::endpoint::{Endpoint, EndpointCtx};
use crate::era::Era;
use crate::ids::{FlowId, LinkId};
use crate::outbox::Outbox;
use crate::record::Recorder;
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};
use crate::wire::Packet;

/// Flow 0 from time 0 on, alone on a link of 10 Mbit/s.
pub(super) fn env() -> SourceEnv {
    SourceEnv {
        flow: FlowId(0),
        start: Span::ZERO,
        stop: None,
        era: Era::Rfc,
        first_link: Some(LinkId(0)),
        access: Some(BitRate(10_000_000)),
        peak: Some(BitRate(10_000_000)),
        bundles: Bundles::default(),
    }
}

/// An endpoint, the time, and the packets that it sent with their times.
pub(super) struct Hand<E> {
    pub(super) end: E,
    pub(super) now: Time,
    pub(super) sent: Vec<(Time, Packet)>,
}

impl<E: Endpoint> Hand<E> {
    pub(super) fn new(end: E) -> Self {
        Self { end, now: Time::ZERO, sent: Vec::new() }
    }

    fn call(&mut self, f: impl FnOnce(&mut E, &mut EndpointCtx<'_>)) {
        let mut out = Outbox::default();
        let mut ctx = EndpointCtx {
            now: self.now,
            out: &mut out,
            rng: &mut Stream::new(1, Purpose::Sender, 0),
            record: &mut Recorder::default(),
            ports: &crate::wire::NO_RECORDS,
        };
        f(&mut self.end, &mut ctx);
        let now = self.now;
        self.sent.extend(out.take().into_iter().map(|packet| (now, packet)));
    }

    pub(super) fn start(&mut self) {
        self.call(Endpoint::start);
    }

    /// Runs timers before `until`.
    pub(super) fn run(&mut self, until: Time) {
        while self.end.deadline().at < until {
            self.now = self.end.deadline().at;
            self.call(Endpoint::on_timer);
        }
        self.now = until;
    }

    /// A packet arrives at `time`, after the timers until then.
    pub(super) fn arrive(&mut self, time: Time, packet: Packet) {
        self.run(time);
        self.call(|end, ctx| end.on_packet(packet, ctx));
    }

    /// Times of what was sent, in milliseconds.
    pub(super) fn times_ms(&self) -> Vec<f64> {
        self.sent.iter().map(|(time, _)| time.0 as f64 / 1e9).collect()
    }
}

pub(super) fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}
