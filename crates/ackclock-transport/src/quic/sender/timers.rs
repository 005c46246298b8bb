//! The sender's timers: loss and probes, pacing, the control's, the application's.
//!
//! **Source**: RFC 9002 section 6.2 and appendices A.8 and A.9.

use super::QuicSender;
use crate::endpoint::{Deadline, EndpointCtx};
use crate::quic::config::MIN_WINDOW;
use crate::tcp::{Stage, tick};
use crate::units::{Span, Time};
use crate::wire::{Options, Packet};

/// Packets of one probe.
const PROBES: usize = MIN_WINDOW as usize;
/// The period doubles no further: with it even 1 ms lasts twelve days.
const MAX_DOUBLINGS: u32 = 30;

impl QuicSender {
    /// The period of the probe timer, its backoff included.
    pub(super) fn probe_period(&self) -> Span {
        let delay = if self.stage == Stage::Open { self.config.max_ack_delay } else { Span::ZERO };
        let once = self.rtt.probe_timeout(self.config.granularity, delay);
        Span(once.0.saturating_mul(1 << self.probe_count.min(MAX_DOUBLINGS)))
    }

    /// The loss timer if it runs, else the probe timer, if something is in flight.
    pub(super) fn arm_recovery_timer(&mut self, now: Time) {
        let in_flight = self.stage == Stage::Opening || self.sent.in_flight() > 0;
        let expiry = match self.loss_time {
            Some(loss_time) => loss_time,
            None if in_flight => {
                Time(self.last_sent_at.0.saturating_add(self.probe_period().0)).max(now)
            }
            None => Time::MAX,
        };
        if expiry != self.recovery_timer.at {
            self.recovery_timer = Deadline { at: expiry, armed: now };
        }
    }

    pub(super) fn arm_tick(&mut self, now: Time) {
        self.tick = tick(&*self.cc, now);
    }

    /// The application hands over what is due, if it does not do so at once.
    pub(super) fn hand_over(&mut self, now: Time) {
        if let Some(frames) = &mut self.frames {
            self.transfer.available = self.stream.nxt() + frames.make(now);
            return;
        }
        let rate = self.control_rate();
        if let Some(frame) = self.transfer.hand_over(now, self.stream.nxt(), rate) {
            self.cc.on_frame(now, &frame);
        }
    }

    /// When the application hands over data again.
    pub(super) fn next_supply(&self) -> Deadline {
        self.frames.as_ref().map_or_else(|| self.transfer.next(), |frames| frames.next)
    }

    /// The receiver cancels a group of frames.
    #[cold]
    pub(super) fn on_stop_sending(&mut self, packet: &Packet, now: Time) {
        let Options::StopSending { group } = packet.options else { return };
        let Self { frames: Some(frames), stream, transfer, .. } = self else { return };
        frames.cancel(packet.seq, group);
        stream.give_up(|segment| frames.is_given_up(segment));
        transfer.available = stream.nxt() + frames.waiting();
        if self.nothing_left(now) && self.stream.outstanding() == 0 {
            self.finish(now);
        }
    }

    /// The rate of payload that the control gives to media, or else its window and pacing [bit/s]; 0 before the
    /// first round trip.
    fn control_rate(&self) -> f64 {
        let srtt = self.rtt.srtt();
        if srtt == Span::ZERO {
            return 0.0;
        }
        if let Some(rate) = self.cc.media_rate() {
            return rate.bps();
        }
        let payload = f64::from(self.config.segment()) * 8.0;
        let share = f64::from(self.config.segment()) / f64::from(self.config.wire_size());
        let paced = self.cc.pacing_rate().map_or(f64::INFINITY, |rate| rate.bps() * share);
        paced.min(self.window.cwnd * payload / srtt.seconds())
    }

    /// Runs what is due.
    pub(super) fn run_timers(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        if self.sampler.is_some() {
            self.check_application_limit(now);
        }
        if self.recovery_timer.at <= now {
            if self.loss_time.is_some() {
                self.on_loss_time(ctx);
            } else {
                self.on_probe_timeout(ctx);
            }
        }
        if self.stage == Stage::Open && self.tick.at <= now {
            self.cc.on_timer(&mut self.window, now);
            self.check_window(now);
            if self.stage == Stage::Open {
                self.arm_tick(now);
                self.send(ctx);
                self.record_window(ctx);
            }
        }
        if self.next_supply().at <= now {
            self.hand_over(now);
            if self.stage == Stage::Open && self.nothing_left(now) && self.stream.outstanding() == 0
            {
                self.finish(now);
            }
            self.send(ctx);
            self.record_window(ctx);
        }
        if self.stage == Stage::Open && self.pacing.at <= now {
            self.send(ctx);
        }
    }

    /// Nothing is declared lost; probes leave without regard to window and pacer, new data first.
    fn on_probe_timeout(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.count.probe_timeouts += 1;
        self.probe_count += 1;
        if self.stage == Stage::Opening {
            self.send_request(ctx);
            return;
        }
        if self.stage != Stage::Open {
            return;
        }
        for probe in 0..PROBES {
            if let Some(segment) = self.stream.take_lost() {
                self.put(segment, true, ctx);
            } else if self.may_send_new(ctx.now) {
                self.send_new(ctx);
            } else {
                // The probes before this one are the newest in flight.
                let missing = self
                    .sent
                    .segments_in_flight()
                    .filter(|&segment| !self.stream.is_acknowledged(segment))
                    .nth(probe);
                // Where nothing is missing, what has arrived takes the place of a PING.
                let any = || self.sent.segments_in_flight().next().filter(|_| probe == 0);
                if let Some(segment) = missing.or_else(any) {
                    self.put(segment, true, ctx);
                }
            }
        }
        self.arm_recovery_timer(ctx.now);
        self.record_window(ctx);
    }
}
