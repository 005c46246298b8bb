//! An end of a flow: a library's endpoint between the engine's packets and its datagrams.

use std::time::{Duration, Instant};

use ackclock_core::datagrams::Datagrams;
use ackclock_core::endpoint::{Deadline, EndpointCtx};
use ackclock_core::ids::FlowId;
use ackclock_core::packet::EndsEnv;
use ackclock_core::units::Time;
use ackclock_core::wire::{Flags, Packet};

use super::peer::{Happened, Mark, Peer, TO_CLIENT};

/// Bytes of IPv4 and UDP headers.
const BELOW: usize = 28;

/// A library's endpoint as an end of a flow.
pub(super) struct End {
    pub(super) flow: FlowId,
    /// The direction in which it sends.
    way: usize,
    base: Instant,
    wire: Datagrams,
    ecn: bool,
    pub(super) peer: Box<dyn Peer>,
    pub(super) deadline: Deadline,
    pub(super) failure: Option<String>,
    buffer: Vec<u8>,
    pub(super) sent_packets: u64,
    pub(super) sent_bytes: u64,
    pub(super) received: u64,
}

impl End {
    pub(super) fn new(
        env: &EndsEnv<'_>,
        way: usize,
        base: Instant,
        wire: Datagrams,
        peer: Box<dyn Peer>,
    ) -> Self {
        Self {
            flow: env.flow,
            way,
            base,
            wire,
            ecn: env.config.ecn,
            peer,
            deadline: Deadline::NEVER,
            failure: None,
            buffer: Vec::new(),
            sent_packets: 0,
            sent_bytes: 0,
            received: 0,
        }
    }

    fn instant(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.0 / 1000)
    }

    pub(super) fn connect(&mut self, now: Time) {
        if let Err(error) = self.peer.connect(self.instant(now)) {
            self.failure = Some(error);
        }
    }

    /// Takes the datagram that a packet stands for.
    pub(super) fn arrive(&mut self, packet: &Packet, now: Time) {
        let Some(datagram) = self.wire.take(1 - self.way, packet.seq) else { return };
        let mark = match (packet.flags.has(Flags::CE), packet.flags.has(Flags::ECT)) {
            (true, _) => Some(Mark::Experienced),
            (false, true) => Some(Mark::Capable),
            (false, false) => None,
        };
        self.received += 1;
        if let Err(error) = self.peer.arrive(self.instant(now), mark, &datagram) {
            self.failure = Some(error);
        }
    }

    /// Runs timers that are due.
    pub(super) fn run_timers(&mut self, now: Time) {
        self.peer.run_timers(self.instant(now));
    }

    /// What has happened, one event at a time.
    pub(super) fn poll(&mut self) -> Option<Happened> {
        let happened = self.peer.poll()?;
        if let Happened::Lost(reason) = &happened {
            self.failure = Some(format!("the connection was lost: {reason}"));
        }
        Some(happened)
    }

    /// Sends all that may leave now, and sets the deadline.
    pub(super) fn transmit(&mut self, ctx: &mut EndpointCtx<'_>) {
        let instant = self.instant(ctx.now);
        while let Some(capable) = self.peer.transmit(instant, &mut self.buffer) {
            let number = self.wire.put(self.way, &self.buffer);
            let mut flags = if self.way == TO_CLIENT { Flags::ACK } else { Flags::default() };
            if self.ecn && capable {
                flags.set(Flags::ECT);
            }
            let size = (self.buffer.len() + BELOW) as u16;
            ctx.out.send(self.flow, number, size, flags);
            self.sent_packets += 1;
            self.sent_bytes += u64::from(size);
            self.buffer.clear();
        }
        let next_deadline = self.peer.timeout().map_or(Time::MAX, |next_deadline| {
            let since = next_deadline.saturating_duration_since(self.base).as_nanos() as u64;
            Time(since.saturating_mul(1000)).max(ctx.now)
        });
        if self.failure.is_some() {
            self.deadline = Deadline::FAILED;
        } else if next_deadline != self.deadline.at {
            self.deadline = Deadline { at: next_deadline, armed: ctx.now };
        }
    }
}
