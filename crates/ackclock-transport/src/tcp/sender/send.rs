//! What leaves the sender, and when.

use super::offload::Bursts;
use super::{Request, Sender};
use crate::cc::{SentRecord, Window};
use crate::endpoint::{Deadline, EndpointCtx};
use crate::era::Era;
use crate::recovery::{Next, Offer};
use crate::scoreboard::Stamp;
use crate::tcp::receiver::TIMESTAMP_BYTES;
use crate::tcp::{Stage, next_departure};
use crate::units::{BitRate, Bytes, PS_PER_S, Span, Time};
use crate::wire::{Flags, Timestamps, timestamp};

/// Bytes of the first window of a receiver that autotunes (Linux: 65535 less what a SYN's room takes).
const FIRST_WINDOW: u32 = 64_240;
/// Packets of a connection that Linux does not pace.
const UNPACED_PACKETS: u64 = 10;

/// Time that `size` takes at `rate`; the nearest picosecond matters to no pacer.
#[inline]
fn gap(rate: BitRate, size: Bytes) -> Span {
    Span((size.0 as f64 * 8.0 * PS_PER_S as f64 / rate.bps()) as u64)
}

impl Sender {
    /// Sends all that may leave, new segments at most `burst`.
    #[inline]
    pub(super) fn send(&mut self, ctx: &mut EndpointCtx<'_>, mut burst: u32) {
        if self.stage != Stage::Open {
            return;
        }
        self.pacing = Deadline::NEVER;
        if self.held_by_ecn {
            return;
        }
        let now = ctx.now;
        let (rate, offloads) = if self.tracks {
            if self.must_not_send(ctx) {
                return;
            }
            self.tracked_rate()
        } else {
            (self.cc.pacing_rate(), false)
        };
        let mut bursts = Bursts::new(burst);
        // Segments that leave together, without waiting for one another.
        let quantum = if rate.is_some() { self.cc.send_quantum().max(1) } else { 1 };
        let mut together = 0;
        loop {
            if let Some(rate) = rate
                && ((now < self.next_paced && together == 0 && !self.unpaced) || rate.0 == 0)
            {
                // At rate 0 only the control itself can start the flow again.
                if rate.0 > 0 {
                    self.pacing = Deadline { at: self.next_paced, armed: now };
                }
                return;
            }
            let mut new_data = burst > 0 && self.may_send_new(now);
            if self.tracks && self.credit.is_some() {
                if self.waits_for_credit(now) {
                    return;
                }
                new_data &= self.has_credit(false);
            }
            if new_data && self.board.outstanding() == 0 {
                self.restart_after_idle(now);
            }
            let mut offer = Offer { cwnd: self.window.cwnd, new_data, window_meters: false };
            if self.tracks {
                offer.window_meters =
                    self.sampler.is_some() || self.is_reducing() || self.credit.is_some();
                if offloads {
                    bursts.note(burst, ctx.out);
                    if new_data && burst == bursts.end {
                        bursts.close(burst, ctx.out);
                        bursts.end = burst.saturating_sub(self.burst_now(now));
                    }
                    offer.new_data = new_data && burst > bursts.end;
                }
            }
            let size = match self.recovery.next(&mut self.board, &offer) {
                Next::Retransmit(seq) => self.send_again(seq, ctx),
                Next::New => {
                    burst -= 1;
                    self.send_new(ctx)
                }
                Next::Nothing => {
                    if offloads {
                        bursts.close(burst, ctx.out);
                    }
                    if self.board.outstanding() == 0 && self.nothing_left(now) {
                        self.finish(now);
                    } else if !new_data && burst > 0 {
                        self.note_application_limit(now);
                    } else if self.tracks
                        && new_data
                        && let Some(sampler) = &mut self.sampler
                    {
                        sampler.note_full_window();
                    }
                    return;
                }
            };
            if let Some(rate) = rate {
                let gap = gap(rate, Bytes(u64::from(size)));
                let burst = self.cc.burst_budget();
                self.next_paced = if self.config.era == Era::Linux && burst == 0 {
                    self.paced_as_linux(now, gap, together == 0)
                } else {
                    next_departure(self.next_paced, now, gap, burst)
                };
                let is_exempt = std::mem::take(&mut self.unpaced);
                together = if is_exempt { 0 } else { (together + 1) % quantum };
            }
        }
    }

    /// When the next segment may leave after one that takes `gap`: one that leaves late, as the window or a timer held it
    /// back, catches up with half of its time at most; the first ten are not paced.
    fn paced_as_linux(&mut self, now: Time, gap: Span, is_first: bool) -> Time {
        // @src Linux 6.12, tcp_output.c: `tcp_update_skb_after_send`.
        if self.count.sent_packets < UNPACED_PACKETS {
            return self.next_paced.max(now);
        }
        if is_first {
            self.pacing_credit = now.since(self.next_paced.min(now));
        }
        let caught_up = self.pacing_credit.min(Span(gap.0 / 2));
        self.pacing_credit = Span(self.pacing_credit.0 - caught_up.0);
        self.next_paced.max(now) + Span(gap.0 - caught_up.0)
    }

    /// What only some senders do before they send; true if nothing more leaves now.
    #[inline(never)]
    fn must_not_send(&mut self, ctx: &mut EndpointCtx<'_>) -> bool {
        if self.sampler.is_some() {
            self.restart_samples(ctx.now);
        }
        self.tests_timeout(ctx)
    }

    /// The rate of the control or of a slow start rule that paces; without either, whether segments leave in bursts.
    fn tracked_rate(&self) -> (Option<BitRate>, bool) {
        let rate = self.cc.pacing_rate().or_else(|| self.slow_start_rate());
        (rate, self.config.offload && rate.is_none())
    }

    /// The rate of a slow start rule that paces.
    #[inline(never)]
    fn slow_start_rate(&self) -> Option<BitRate> {
        if !self.follows_slow_start {
            return None;
        }
        let rate = self.slow_start.pacing_rate(&self.window, self.rto.srtt())?;
        let bits = f64::from(self.config.wire_size()) * 8.0;
        Some(BitRate(((rate * bits) as u64).max(1)))
    }

    #[inline]
    pub(super) fn may_send_new(&self, now: Time) -> bool {
        self.transfer.has_more(self.board.nxt(), now)
            && self.board.outstanding() < self.receive_window()
    }

    /// The receiver's window in segments. One that autotunes is what the receiver would announce: its application
    /// reads at once, so the window follows from what has arrived.
    #[inline]
    pub(super) fn receive_window(&self) -> u32 {
        let most = self.config.receiver_window;
        if self.tracks && self.config.window_autotuning {
            let first = FIRST_WINDOW / self.config.mss.max(1);
            most.min(first.max(1).saturating_add(self.board.una().saturating_mul(2)))
        } else {
            most
        }
    }

    /// The window had room, but there was nothing to put into it.
    #[inline]
    fn note_application_limit(&mut self, now: Time) {
        let pipe = self.board.pipe();
        if self.board.outstanding() == 0 {
            self.transfer.rest(now);
        }
        if f64::from(pipe) + 1.0 <= self.window.cwnd {
            self.deliveries.limit_by_application(pipe);
            if self.tracks {
                self.report_application_limit();
            }
        }
    }

    /// RFC 5681 section 4.1.
    fn restart_after_idle(&mut self, now: Time) {
        if self.config.idle_restart
            && self.sampler.is_none()
            && self.count.sent_packets > 0
            && now.since(self.last_sent_at) > self.rto.timeout()
        {
            let least = self.window.cwnd.min(f64::from(self.initial_window));
            if self.config.era == Era::Linux {
                // @src Linux 6.12, tcp_output.c: tcp_cwnd_restart; `ip-sysctl.rst`, tcp_slow_start_after_idle.
                let halvings = now.since(self.last_sent_at).0 / self.rto.timeout().0.max(1);
                let Window { cwnd, ssthresh } = self.window;
                self.window.ssthresh = ssthresh.max((0.75 * cwnd).floor());
                let halved = cwnd * 0.5f64.powi(halvings.min(64) as i32);
                self.window.cwnd = halved.floor().max(least);
            } else {
                self.window.cwnd = least;
            }
        }
    }

    #[inline]
    fn stamp(&self, now: Time, in_flight: u32) -> Stamp {
        Stamp {
            record: SentRecord {
                sent_at: now,
                delivered: self.deliveries.delivered,
                delivered_at: self.deliveries.delivered_at,
                in_flight,
            },
            app_limited: self.deliveries.is_app_limited(),
        }
    }

    #[inline(always)]
    pub(super) fn send_new(&mut self, ctx: &mut EndpointCtx<'_>) -> u16 {
        if self.board.outstanding() == 0 {
            self.deliveries.restart(ctx.now);
        }
        let in_flight = self.board.pipe() + 1;
        let stamp = self.stamp(ctx.now, in_flight);
        let seq = self.board.send_new(&stamp);
        if self.tracks {
            self.track_sent(seq, in_flight, false, ctx.now);
        }
        let mut flags = Flags::default();
        if self.config.ecn {
            flags = self.ect();
            if self.cwr_pending {
                flags.set(Flags::CWR);
                self.cwr_pending = false;
            }
        }
        self.put(seq, flags, in_flight, ctx)
    }

    fn send_again(&mut self, seq: u32, ctx: &mut EndpointCtx<'_>) -> u16 {
        let in_flight = self.board.pipe();
        let stamp = self.stamp(ctx.now, in_flight);
        self.board.send_again(seq, &stamp);
        if self.tracks {
            self.track_sent(seq, in_flight, true, ctx.now);
        }
        self.count.retransmits += 1;
        let ecn = if self.resends_ect() { self.ect() } else { Flags::default() };
        self.put(seq, Flags::RETX | ecn, in_flight, ctx)
    }

    /// Whether retransmissions are ECN-capable too.
    // @src rfc3168#6.1.5; packets of Ultra Ethernet all are; Linux 6.12, tcp_output.c: `tcp_ecn_send` leaves ECT on where
    // the control needs it, and with AccECN.
    fn resends_ect(&self) -> bool {
        let as_linux =
            self.config.era == Era::Linux && (self.config.accecn || self.cc.needs_ecn_counts());
        self.config.ecn && (self.config.trimming || as_linux)
    }

    /// How a packet says that it is ECN-capable.
    fn ect(&self) -> Flags {
        if self.sends_ect_1 { Flags::ECT | Flags::ECT_1 } else { Flags::ECT }
    }

    #[inline]
    fn put(
        &mut self,
        seq: u32,
        mut flags: Flags,
        in_flight: u32,
        ctx: &mut EndpointCtx<'_>,
    ) -> u16 {
        let (payload, last) = self.transfer.payload(seq, self.config.mss);
        if last {
            flags.set(Flags::FIN);
        }
        if self.config.out_of_profile {
            flags.set(Flags::OUT);
        }
        if seq < self.config.first_priority {
            flags.set(Flags::FIRST);
        }
        if self.config.frame_acks && self.transfer.ends_frame(seq) {
            flags.set(Flags::PUSH);
        }
        let mut size = (payload + self.config.header) as u16;
        let mut clocks = None;
        if self.config.timestamps {
            size += TIMESTAMP_BYTES as u16;
            clocks = Some(Timestamps { sender: timestamp(ctx.now), receiver: self.peer_clock });
        }
        let packet = ctx.out.send(self.flow, seq, size, flags);
        if clocks.is_some() {
            packet.options.tcp_mut().timestamps = clocks;
        }
        if self.config.aqt {
            packet.set_queued(Span::ZERO);
        }
        if self.tracks
            && let Some(credit) = &mut self.credit
        {
            let board = &self.board;
            let here = board.pipe().saturating_add(board.sacked_count());
            let left = [self.transfer.left(board.nxt()), board.outstanding().saturating_sub(here)];
            packet.options.tcp_mut().set_credit(credit.spend(flags.has(Flags::RETX), left));
        }
        if self.config.trimming {
            packet.flags.set(Flags::TRIMMABLE);
        }
        self.count.sent_packets += 1;
        self.count.sent_bytes += u64::from(size);
        self.last_sent_at = ctx.now;
        if self.retransmission.at == Time::MAX {
            self.arm_retransmission_timer(ctx.now);
        }
        self.cc.on_sent(ctx.now, in_flight);
        size
    }

    fn has_credit(&self, is_repeat: bool) -> bool {
        self.credit.as_ref().is_none_or(|credit| credit.allows(is_repeat))
    }

    /// Whether nothing at all leaves before there is credit. The timer runs meanwhile, so that the loss of a grant ends nothing.
    #[inline(never)]
    fn waits_for_credit(&mut self, now: Time) -> bool {
        let (is_idle, is_over) = (self.board.outstanding() == 0, self.nothing_left(now));
        if self.has_credit(false) || is_idle && (is_over || !self.may_send_new(now)) {
            return false;
        }
        if self.board.pipe() == 0 {
            // Others may be before this flow, for longer than a round trip.
            let wait = self.config.initial_rto.max(self.rto.timeout());
            self.retransmission = Deadline { at: now + wait, armed: now };
        }
        !self.has_credit(true)
    }

    /// The receiver has given credit.
    pub(super) fn on_grant(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.board.pipe() == 0 {
            self.retransmission = Deadline::NEVER;
        }
        self.send(ctx, u32::MAX);
    }

    /// With credit the timer is for the silence of the receiver: a segment that is known to be lost may wait long for its turn.
    pub(super) fn note_answer(&mut self, now: Time) {
        if self.credit.is_some() && self.stage == Stage::Open && self.board.pipe() > 0 {
            self.arm_retransmission_timer(now);
        }
    }

    /// Sends the connection request, the first time or `again`.
    pub(super) fn send_request(&mut self, again: bool, ctx: &mut EndpointCtx<'_>) {
        self.request = Request { at: ctx.now, again };
        let mut size = self.config.ack_size as u16;
        if self.config.timestamps {
            size += TIMESTAMP_BYTES as u16;
        }
        let mut flags = Flags::SYN;
        if self.config.first_priority > 0 {
            flags.set(Flags::FIRST);
        }
        let packet = ctx.out.send(self.flow, 0, size, flags);
        if self.config.timestamps {
            let clocks = Timestamps { sender: timestamp(ctx.now), receiver: 0 };
            packet.options.tcp_mut().timestamps = Some(clocks);
        }
        self.arm_retransmission_timer(ctx.now);
    }

    /// The answer to the request has come.
    pub(super) fn on_request_answered(&mut self, ctx: &mut EndpointCtx<'_>) {
        let Request { at: sent_at, again } = self.request;
        self.retransmission = Deadline::NEVER;
        if again {
            // @src rfc5681#3.1, rfc6298#5 (5.7)
            self.initial_window = 1;
            self.window.cwnd = 1.0;
            self.rto.restart_after_lost_request(&self.config);
        } else {
            self.take_sample(ctx.now.since(sent_at), ctx);
        }
        self.consecutive = 0;
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
        self.cc.on_start(&self.window, ctx.now, self.rto.srtt());
        self.send(ctx, u32::MAX);
        self.record_window(ctx);
    }

    /// Whether no new segment will ever be sent.
    #[inline]
    pub(super) fn nothing_left(&self, now: Time) -> bool {
        self.transfer.nothing_left(self.board.nxt(), now)
    }

    /// All that was to be sent is acknowledged.
    pub(super) fn finish(&mut self, now: Time) {
        self.stage = Stage::Done;
        if self.board.nxt() == self.transfer.total {
            self.rare_count.completed_s = now.seconds();
        }
        self.rest();
        self.board.release();
        if let Some(sampler) = &mut self.sampler {
            sampler.release();
        }
    }
}
