//! What leaves the sender, and when.

use super::{QuicSender, REQUESTS};
use crate::cc::SentRecord;
use crate::endpoint::{Deadline, EndpointCtx};
use crate::quic::QuicConfig;
use crate::quic::config::{BELOW, HANDSHAKE_BYTES};
use crate::scoreboard::Stamp;
use crate::tcp::{Stage, next_departure};
use crate::units::{PS_PER_S, Span, Time};
use crate::wire::{Flags, Options, Packet};

/// The pacer's time between packets, and how many may leave at once.
struct Pace {
    /// Picoseconds per byte on the wire; infinite: nothing leaves.
    per_byte: f64,
    quantum: u32,
    burst: u32,
}

impl QuicSender {
    /// Sends all that may leave.
    pub(super) fn send(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.stage != Stage::Open {
            return;
        }
        self.pacing = Deadline::NEVER;
        let now = ctx.now;
        if self.sampler.is_some() {
            self.restart_samples(now);
        }
        let pace = self.pace();
        let mut together = 0;
        loop {
            let has_lost = self.stream.has_lost();
            let may_send_new = self.may_send_new(now);
            if !has_lost && !may_send_new {
                self.note_application_limit(now);
                return;
            }
            let has_room = f64::from(self.sent.in_flight()) + 1.0 <= self.window.cwnd;
            if !has_room && !self.may_send_one {
                if let Some(sampler) = &mut self.sampler {
                    sampler.note_full_window();
                }
                return;
            }
            if let Some(pace) = &pace
                && ((now < self.next_paced && together == 0) || pace.per_byte.is_infinite())
            {
                // At rate 0 only the control itself can start the flow again.
                if pace.per_byte.is_finite() {
                    self.pacing = Deadline { at: self.next_paced, armed: now };
                }
                return;
            }
            self.may_send_one &= has_room;
            let size =
                if has_lost { self.send_again(may_send_new, ctx) } else { self.send_new(ctx) };
            if let Some(pace) = &pace {
                let gap = Span((f64::from(size) * pace.per_byte) as u64);
                self.next_paced = next_departure(self.next_paced, now, gap, pace.burst);
                together = (together + 1) % pace.quantum;
            }
        }
    }

    /// The rate of the control, else that of RFC 9002 section 7.7.
    fn pace(&self) -> Option<Pace> {
        if let Some(rate) = self.cc.pacing_rate() {
            return Some(Pace {
                per_byte: 8.0 * PS_PER_S as f64 / rate.bps(),
                quantum: self.cc.send_quantum().max(1),
                burst: self.cc.burst_budget(),
            });
        }
        let srtt = self.rtt.srtt();
        if self.follows_slow_start
            && let Some(rate) = self.slow_start.pacing_rate(&self.window, srtt)
        {
            let bytes = f64::from(self.config.wire_size());
            return Some(Pace { per_byte: PS_PER_S as f64 / (rate * bytes), quantum: 1, burst: 0 });
        }
        let factor = self.config.pacing_factor;
        if factor <= 0.0 || srtt == Span::ZERO {
            return None;
        }
        let window = self.window.cwnd * f64::from(self.config.wire_size());
        Some(Pace {
            per_byte: srtt.0 as f64 / (factor * window),
            quantum: 1,
            burst: self.config.pacing_burst.saturating_sub(1),
        })
    }

    pub(super) fn may_send_new(&self, now: Time) -> bool {
        self.transfer.has_more(self.stream.nxt(), now)
            && self.stream.outstanding() < self.config.receiver_window
    }

    /// The window had room, but there was nothing to put into it.
    fn note_application_limit(&mut self, now: Time) {
        let flight = self.sent.in_flight();
        if self.stream.outstanding() == 0 {
            self.transfer.rest(now);
        }
        if f64::from(flight) + 1.0 <= self.window.cwnd {
            self.deliveries.limit_by_application(flight);
            if self.sampler.is_some() {
                self.cc.on_application_limit();
            }
        }
    }

    /// The draft's `CheckIfApplicationLimited`.
    pub(super) fn check_application_limit(&mut self, now: Time) {
        let unsent = self.transfer.has_more(self.stream.nxt(), now);
        let flight = self.sent.in_flight();
        let has_lost = self.stream.has_lost();
        if let Some(sampler) = &mut self.sampler
            && self.stage == Stage::Open
            && !unsent
            && !has_lost
            && f64::from(flight) < self.window.cwnd
        {
            sampler.limit_by_application(flight);
        }
    }

    /// Data is about to leave: the control learns of it if the application had none and nothing is in flight.
    fn restart_samples(&mut self, now: Time) {
        let idle = self.sampler.as_ref().is_some_and(|sampler| sampler.is_app_limited());
        if idle && self.may_send_new(now) && self.sent.in_flight() == 0 {
            self.cc.on_restart(&mut self.window, now);
        }
    }

    pub(super) fn send_new(&mut self, ctx: &mut EndpointCtx<'_>) -> u16 {
        if let Some(frames) = &mut self.frames {
            frames.fill();
        }
        let segment = self.stream.take_new();
        self.put(segment, false, ctx)
    }

    /// Sends what was lost first; the caller knows that there is something. New data of a higher priority leaves
    /// before it.
    fn send_again(&mut self, may_send_new: bool, ctx: &mut EndpointCtx<'_>) -> u16 {
        if let Some(frames) = &self.frames {
            match frames.first_lost(self.stream.lost()) {
                Some(segment) => {
                    self.stream.take_this_lost(segment);
                    return self.put(segment, true, ctx);
                }
                None if may_send_new => return self.send_new(ctx),
                None => {}
            }
        }
        match self.stream.take_lost() {
            Some(segment) => self.put(segment, true, ctx),
            None => 0,
        }
    }

    /// Sends a packet with this segment.
    pub(super) fn put(&mut self, segment: u32, again: bool, ctx: &mut EndpointCtx<'_>) -> u16 {
        let now = ctx.now;
        if self.sent.in_flight() == 0 {
            self.deliveries.restart(now);
        }
        let in_flight = self.sent.in_flight() + 1;
        let record = SentRecord {
            sent_at: now,
            delivered: self.deliveries.delivered,
            delivered_at: self.deliveries.delivered_at,
            in_flight,
        };
        let stamp = Stamp { record, app_limited: self.deliveries.is_app_limited() };
        let number = self.sent.send(segment, stamp);
        if let Some(sampler) = &mut self.sampler {
            sampler.on_sent(number, now, in_flight, false);
        }
        let mut flags = Flags::default();
        if self.ecn {
            flags.set(Flags::ECT);
            if self.sends_ect_1 {
                flags.set(Flags::ECT_1);
            }
        }
        if again {
            flags.set(Flags::RETX);
            self.count.retransmits += 1;
        }
        let (payload, last) = match &self.frames {
            None => self.transfer.payload(segment, self.config.segment()),
            Some(frames) => (frames.payload(segment, again), false),
        };
        if last {
            flags.set(Flags::FIN);
        }
        let size = QuicConfig::data_size(payload);
        let packet = ctx.out.send(self.flow, number, size, flags);
        let frame_part = self.frames.as_ref().and_then(|frames| frames.describe(segment, again));
        packet.options = Options::QuicData { segment, frame_part };
        self.count.sent_packets += 1;
        self.count.sent_bytes += u64::from(size);
        self.last_sent_at = now;
        self.arm_recovery_timer(now);
        self.cc.on_sent(now, in_flight);
        size
    }

    /// Sends the first datagram of the handshake, the first time or again.
    pub(super) fn send_request(&mut self, ctx: &mut EndpointCtx<'_>) {
        let number = self.requests_sent;
        self.requests[number as usize % REQUESTS] = ctx.now;
        self.requests_sent += 1;
        ctx.out.send(self.flow, number, (HANDSHAKE_BYTES + BELOW) as u16, Flags::SYN);
        self.last_sent_at = ctx.now;
        self.arm_recovery_timer(ctx.now);
    }

    /// The answer says which of the requests it answers, so its sample is never ambiguous.
    pub(super) fn on_request_answered(&mut self, packet: &Packet, ctx: &mut EndpointCtx<'_>) {
        let age = self.requests_sent.saturating_sub(packet.seq);
        if age >= 1 && age <= REQUESTS as u32 {
            let sent_at = self.requests[packet.seq as usize % REQUESTS];
            self.take_sample(ctx.now.since(sent_at), Span::ZERO, ctx);
        }
        self.recovery_timer = Deadline::NEVER;
        self.probe_count = 0;
        self.open(ctx);
    }

    /// Data may flow.
    pub(super) fn open(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.stage = Stage::Open;
        if self.nothing_left(ctx.now) {
            self.finish(ctx.now);
            return;
        }
        self.arm_tick(ctx.now);
        self.deliveries.restart(ctx.now);
        self.cc.on_start(&self.window, ctx.now, self.rtt.srtt());
        self.send(ctx);
        self.record_window(ctx);
    }
}
