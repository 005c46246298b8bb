//! The sender's timers: retransmission, pacing, the control's own, the application's.

use super::Sender;
use crate::cc::Signal;
use crate::endpoint::{Deadline, EndpointCtx};
use crate::era::Era;
use crate::recovery::{AckIn, Digest, Phase};
use crate::tcp::{Stage, tick};
use crate::units::{Span, Time};
use crate::wire::Packet;

impl Sender {
    #[inline]
    pub(super) fn arm_retransmission_timer(&mut self, now: Time) {
        self.retransmission = Deadline { at: now + self.rto.timeout(), armed: now };
    }

    /// RFC 6298 (5.2) and (5.3).
    #[inline]
    pub(super) fn restart_retransmission_timer(
        &mut self,
        new_data: bool,
        digest: &Digest,
        now: Time,
    ) {
        if self.held_by_ecn {
            self.arm_retransmission_timer(now);
        } else if self.board.outstanding() == 0 {
            self.retransmission = Deadline::NEVER;
        } else if (new_data && !digest.hold_timer) || digest.entered.is_some() {
            self.arm_retransmission_timer(now);
        }
    }

    pub(super) fn arm_tick(&mut self, now: Time) {
        self.tick = tick(&*self.cc, now);
    }

    /// The application hands over what is due, if it does not do so at once.
    pub(super) fn hand_over(&mut self, now: Time) {
        let rate = self.control_rate();
        if let Some(frame) = self.transfer.hand_over(now, self.board.nxt(), rate) {
            self.cc.on_frame(now, &frame);
        }
    }

    /// The rate of payload that the control gives to media, or else its window and pacing [bit/s]; 0 before the
    /// first round trip.
    fn control_rate(&self) -> f64 {
        let srtt = self.rto.srtt();
        if srtt == Span::ZERO {
            return 0.0;
        }
        if let Some(rate) = self.cc.media_rate() {
            return rate.bps();
        }
        let payload = f64::from(self.config.mss) * 8.0;
        let share = f64::from(self.config.mss) / f64::from(self.config.wire_size());
        let paced = self.cc.pacing_rate().map_or(f64::INFINITY, |rate| rate.bps() * share);
        paced.min(self.window.cwnd * payload / srtt.seconds())
    }

    /// Runs what is due.
    pub(super) fn run_timers(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        if self.sampler.is_some() {
            self.check_application_limit(now);
        }
        if self.tracks && self.repair.at.min(self.retransmission.at) <= now {
            self.on_repair_timer(ctx);
        }
        if self.retransmission.at <= now {
            self.on_timeout(ctx);
        }
        if self.stage == Stage::Open && self.tick.at <= now {
            self.cc.on_timer(&mut self.window, now);
            self.check_window(now);
            if self.stage == Stage::Open {
                self.arm_tick(now);
                self.send(ctx, u32::MAX);
                self.record_window(ctx);
            }
        }
        if self.transfer.next().at <= now {
            self.hand_over(now);
            if self.stage == Stage::Open && self.nothing_left(now) && self.board.outstanding() == 0
            {
                self.finish(now);
            }
            self.send(ctx, u32::MAX);
            self.record_window(ctx);
        }
        if self.stage == Stage::Open && self.pacing.at <= now {
            self.send(ctx, u32::MAX);
        }
    }

    /// The recovery's timer; it runs at a timeout, too, because a probe comes before it (RFC 8985 section 7.2).
    #[cold]
    fn on_repair_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        if self.stage != Stage::Open || self.repair.at == Time::MAX {
            return;
        }
        let sent = self.count.sent_packets;
        let digest = self.recovery.on_timer(&mut self.board, now);
        self.repair(&digest, sent, ctx);
    }

    /// The receiver reports a segment whose payload a switch has cut off: it is sent again at once.
    #[cold]
    #[inline(never)]
    pub(super) fn on_nack(&mut self, packet: &Packet, ctx: &mut EndpointCtx<'_>) {
        let seq = packet.seq;
        if seq < self.board.una() || seq >= self.board.nxt() || self.marks.is_none() {
            return;
        }
        let sent = self.count.sent_packets;
        let digest = self.recovery.on_nack(&mut self.board, seq, ctx.now);
        self.repair(&digest, sent, ctx);
    }

    /// Answers losses that no acknowledgement has shown; `sent` packets had left before.
    fn repair(&mut self, digest: &Digest, sent: u64, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        if let Some(entry) = digest.entered {
            self.rare_count.recoveries += 1;
            self.reduce(Signal::FastRetransmit { lost: entry.lost }, entry.flight, now);
        }
        if self.sampler.is_some() {
            self.declare_new_losses(now);
            self.leave_out_losses();
        }
        // @src Linux 6.12, tcp_recovery.c: `tcp_rack_reo_timeout` lets the reduction begin as with one delivered.
        self.follow_reduction(&AckIn {
            delivered: u32::from(digest.entered.is_some()),
            ..AckIn::at(now)
        });
        // A probe need not wait for the pacer; what it owes stays.
        self.unpaced = self.recovery.phase() == Phase::Open;
        self.send(ctx, u32::MAX);
        self.unpaced = false;
        if self.stage == Stage::Open && self.count.sent_packets > sent {
            self.arm_retransmission_timer(now);
        }
        self.record_window(ctx);
    }

    /// Takes over the time at which the recovery is to be called.
    pub(super) fn arm_repair_timer(&mut self, now: Time) {
        let expiry = if self.stage == Stage::Open && self.marks.is_some() {
            self.recovery.deadline()
        } else {
            Time::MAX
        };
        if expiry != self.repair.at {
            self.repair = Deadline { at: expiry, armed: now };
        }
    }

    /// Linux's rate sample counts the losses that its acknowledgement reveals.
    fn leave_out_losses(&mut self) {
        if self.config.era == Era::Linux
            && let Some(sampler) = &mut self.sampler
        {
            sampler.leave_out_losses();
        }
    }

    /// Which timeout in a row this one is, for what it does to ssthresh: the first reduces it. Linux counts one that
    /// comes within another reduction as a later one, and the first after progress as a first.
    fn timeout_in_row(&self) -> u32 {
        if self.config.era != Era::Linux || self.marks.is_none() {
            return self.consecutive;
        }
        // @src Linux 6.12, tcp_input.c: `tcp_enter_loss`.
        let within = self.is_reducing() || self.recovery.phase() == Phase::Recovery;
        self.consecutive.max(if within { 2 } else { 1 })
    }

    /// Whether F-RTO may test the timeout that is due (RFC 5682 section 2.1 step 1; Linux also tests a later one of the
    /// same segment, section 3.2, and none within fast recovery).
    fn may_test_timeout(&self) -> bool {
        if self.config.era == Era::Linux {
            self.recovery.phase() == Phase::Open || self.consecutive > 1
        } else {
            self.consecutive == 1
        }
    }

    fn on_timeout(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        self.retransmission = Deadline::NEVER;
        if std::mem::take(&mut self.held_by_ecn) && self.board.outstanding() == 0 {
            // @src rfc3168#6.1.2: nothing is lost, it was only to wait.
            self.send(ctx, u32::MAX);
            self.record_window(ctx);
            return;
        }
        self.rare_count.timeouts += 1;
        self.rto.back_off(&self.config);
        if self.stage == Stage::Opening {
            self.send_request(true, ctx);
            return;
        }
        self.consecutive += 1;
        let consecutive = self.timeout_in_row();
        let ssthresh = self.window.ssthresh;
        let flight = self.board.flight();
        self.tests_next_timeout = self.may_test_timeout();
        self.recovery.on_rto(&mut self.board, now);
        self.deliveries.end_application_limit();
        self.reduce(Signal::Rto { consecutive }, flight, now);
        if self.sampler.is_some() {
            if self.marks.is_some() {
                self.declare_new_losses(now);
            } else {
                // Also what had been sent again.
                self.declare_losses(0, now);
            }
            self.leave_out_losses();
        }
        if self.stage != Stage::Open {
            return;
        }
        if consecutive > 1 {
            // @src rfc5681#3.1: a segment that times out again leaves ssthresh alone.
            self.window.ssthresh = ssthresh;
        }
        if let Some(credit) = &mut self.credit {
            credit.exempt_one();
        }
        // The first repair need not wait for the pacer; what it owes stays.
        self.unpaced = true;
        self.send(ctx, u32::MAX);
        self.unpaced = false;
        // Also where the pacing rate let nothing out.
        self.arm_retransmission_timer(now);
        self.record_window(ctx);
    }
}
