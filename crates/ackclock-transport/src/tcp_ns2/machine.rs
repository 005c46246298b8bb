//! What ns-2's senders share: sequence numbers, window, timer, sending.
//!
//! **Rule**
//! ```text
//! usable window w = min(cwnd + dupwnd, receiver window);  packet t_seqno may leave while
//!     t_seqno <= highest_ack + int(w)
//! new ACK:   sample the RTT, restart the timer, then open cwnd, then send
//! reduction: ssthresh = int(b w), at least 2; cwnd = b w; b = 1/2 the first time and in slow start
//! timeout:   ssthresh = int(w / 2), cwnd = 1, go back to highest_ack + 1
//!            after an ECN reduction, or with nothing outstanding: ssthresh stays
//! ```
//! cwnd has no lower bound here: an ECN-Echo at a window of one packet, or a control that subtracts,
//! may leave less than one packet. The retransmission timer then runs although nothing is
//! outstanding, and its expiry sets cwnd to 1.

use super::Ns2Options;
use super::clock::Clock;
use super::departures::Departures;
use super::ring::Ring;
use super::stamps::Stamps;
use crate::cc::{Ack, Congestion, CongestionControl, SentRecord, Signal, Window};
use crate::endpoint::{Deadline, EndpointCtx};
use crate::ids::FlowId;
use crate::tcp::{MOST_IN_FLIGHT, TcpConfig};
use crate::units::{Span, Time};
use crate::wire::{Flags, SackBlock, Timestamps};

/// The last thing that happened to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing yet.
    None,
    /// Fast retransmit, and its window of data is not yet acknowledged.
    FastRetransmit,
    /// Fast retransmit, over.
    Recovered,
    /// Timeout.
    Timeout,
    /// ECN-Echo.
    Ecn,
}

/// An acknowledgement as a reaction sees it.
pub(super) struct AckIn<'a> {
    /// Highest packet received in order.
    pub(super) number: i64,
    /// Carries ECN-Echo.
    pub(super) echo: bool,
    /// Echoed timestamp, 0 if absent.
    pub(super) ts: u32,
    /// SACK blocks, most recent first.
    pub(super) sack: &'a [SackBlock],
}

/// How a variant answers acknowledgements and timeouts.
pub(super) trait Reaction: Send {
    /// An acknowledgement arrived; ECN has been dealt with.
    fn on_ack(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>);
    /// The timer expired.
    fn time_out(&mut self, m: &mut Machine, ctx: &mut EndpointCtx<'_>) {
        m.on_timeout(ctx.now);
        self.forget(m);
        m.send_much(m.config.max_burst, ctx);
    }
    /// After a timeout, before the machine sends from the beginning of the window.
    fn forget(&mut self, _m: &mut Machine) {}
}

/// What an acknowledgement does to the RTT estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    /// It updates it.
    Update,
    /// It ends the measurement under way, without a sample.
    End,
    /// It leaves the measurement under way as it is.
    Keep,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at: Time,
    delivered: u64,
    delivered_at: Time,
    in_flight: u32,
    again: bool,
}

/// Counters for the snapshot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) sent_packets: u64,
    pub(super) sent_bytes: u64,
    pub(super) retransmits: u64,
    pub(super) timeouts: u64,
    pub(super) recoveries: u64,
    pub(super) ecn_reductions: u64,
    pub(super) acks_received: u64,
    pub(super) rtt_sum: Span,
    pub(super) rtt_count: u64,
    pub(super) rtt_min: Span,
}

/// State that all variants share.
pub(super) struct Machine {
    pub(super) flow: FlowId,
    pub(super) config: TcpConfig,
    pub(super) options: Ns2Options,
    pub(super) cc: Box<dyn CongestionControl>,
    pub(super) window: Window,
    pub(super) clock: Clock,
    pub(super) timer: Deadline,
    /// Highest packet acknowledged; -1 before the first acknowledgement.
    pub(super) highest_ack: i64,
    /// Next packet to send.
    pub(super) t_seqno: i64,
    /// Highest packet sent.
    pub(super) maxseq: i64,
    /// Highest packet sent when the window was last reduced.
    pub(super) recover: i64,
    pub(super) dupacks: u32,
    /// Inflation of the window during fast recovery.
    pub(super) dupwnd: i64,
    pub(super) action: Action,
    pub(super) counters: Counters,
    pub(super) completed: Option<Time>,
    /// Last packet of the transfer.
    last: i64,
    finite: bool,
    stop: Option<Time>,
    /// The packet whose RTT is being measured, with its time of departure.
    timed: Option<(i64, Time)>,
    initial_window: u32,
    reduced: bool,
    announce_cwr: bool,
    /// The last ECN reduction found a window of at most one packet.
    ecn_at_one_packet: bool,
    /// The receiver's clock in the newest acknowledgement that had it.
    pub(super) peer_clock: u32,
    stamps: Stamps,
    sent: Ring<Sent>,
    /// Kept for Vegas, which times every packet.
    pub(super) departures: Departures,
    delivered_at: Time,
    round: u64,
    round_end: i64,
    timeouts_in_a_row: u32,
}

impl Machine {
    pub(super) fn new(
        flow: FlowId,
        config: TcpConfig,
        options: Ns2Options,
        cc: Box<dyn CongestionControl>,
        packets: Option<u64>,
        stop: Option<Time>,
    ) -> Self {
        let clock = Clock::new(&config, options.rfc2988);
        let delayed = config.syn && options.delay_growth;
        let cwnd = if delayed { 1.0 } else { f64::from(config.initial_window) };
        // Packet 0 is the connection request, if there is one.
        let last = packets.map_or(i64::from(u32::MAX) - 1, |n| {
            i64::try_from(n).unwrap_or(i64::MAX).min(i64::from(u32::MAX) - 2)
                - i64::from(!config.syn)
        });
        Self {
            flow,
            window: Window { cwnd, ssthresh: config.initial_ssthresh.trunc() },
            initial_window: config.initial_window,
            clock,
            config,
            options,
            cc,
            timer: Deadline::NEVER,
            highest_ack: -1,
            t_seqno: 0,
            maxseq: -1,
            recover: 0,
            dupacks: 0,
            dupwnd: 0,
            action: Action::None,
            counters: Counters::default(),
            completed: None,
            last,
            finite: packets.is_some(),
            stop,
            timed: None,
            reduced: false,
            announce_cwr: false,
            ecn_at_one_packet: false,
            peer_clock: 0,
            stamps: Stamps::default(),
            sent: Ring::new(),
            departures: Departures::default(),
            delivered_at: Time::ZERO,
            round: 0,
            round_end: -1,
            timeouts_in_a_row: 0,
        }
    }

    /// Packets sent and not acknowledged.
    pub(super) fn outstanding(&self) -> u32 {
        (self.maxseq - self.highest_ack).max(0) as u32
    }

    /// The usable window with its fraction.
    pub(super) fn usable(&self) -> f64 {
        let most = self.config.receiver_window.min(MOST_IN_FLIGHT);
        (self.window.cwnd + self.dupwnd as f64).min(f64::from(most))
    }

    /// Whether data (or the request) remains that may leave as packet `t_seqno`.
    pub(super) fn has_more(&self, now: Time) -> bool {
        self.t_seqno <= self.last
            && (self.t_seqno <= self.maxseq || self.stop.is_none_or(|stop| now <= stop))
    }

    /// Sends what the window allows, at most `burst` packets unless that is 0.
    pub(super) fn send_much(&mut self, burst: u32, ctx: &mut EndpointCtx<'_>) {
        let end = self.highest_ack + self.usable() as i64;
        let mut count = 0;
        while self.t_seqno <= end && self.has_more(ctx.now) {
            self.send_next(ctx);
            count += 1;
            if count == burst {
                break;
            }
        }
    }

    /// Limited transmit: one packet for a first or second duplicate.
    pub(super) fn send_one(&mut self, ctx: &mut EndpointCtx<'_>) {
        let reach = self.window.cwnd as i64 + i64::from(self.dupacks);
        let reach = reach.min(i64::from(self.config.receiver_window));
        if self.t_seqno <= self.highest_ack + reach && self.has_more(ctx.now) {
            self.send_next(ctx);
        }
    }

    /// Sends packet `t_seqno`.
    pub(super) fn send_next(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.transmit(self.t_seqno, ctx);
        self.t_seqno += 1;
    }

    /// Sends packet `number`.
    pub(super) fn transmit(&mut self, number: i64, ctx: &mut EndpointCtx<'_>) {
        let request = number == 0 && self.config.syn;
        let again = number <= self.maxseq;
        let mut flags = if request { Flags::SYN } else { Flags::default() };
        if again {
            flags.set(Flags::RETX);
        }
        if self.finite && number == self.last {
            flags.set(Flags::FIN);
        }
        if self.config.out_of_profile && !request {
            flags.set(Flags::OUT);
        }
        if self.config.ecn && !request {
            flags.set(Flags::ECT);
            if std::mem::take(&mut self.announce_cwr) {
                flags.set(Flags::CWR);
            }
        }
        let size = match number {
            0 if request => self.config.ack_size,
            // ns-2 adds no header to its first packet.
            0 => self.config.mss,
            _ => self.config.wire_size(),
        };
        let was_idle = self.highest_ack == self.maxseq;
        let packet = ctx.out.send(self.flow, number as u32, size as u16, flags);
        if self.config.timestamps {
            let clocks =
                Timestamps { sender: self.stamps.note(ctx.now), receiver: self.peer_clock };
            packet.options.tcp_mut().timestamps = Some(clocks);
        }
        if !again {
            self.maxseq = number;
            if self.timed.is_none() {
                self.timed = Some((number, ctx.now));
            }
        }
        if !request {
            self.counters.sent_packets += 1;
            self.counters.sent_bytes += u64::from(size);
            self.counters.retransmits += u64::from(again);
        }
        let in_flight = self.outstanding();
        let sent = Sent {
            at: ctx.now,
            delivered: (self.highest_ack + 1) as u64,
            delivered_at: self.delivered_at,
            in_flight,
            again,
        };
        self.sent.set(number, sent);
        self.departures.note(number, number == self.t_seqno, ctx.now);
        if was_idle || self.timer == Deadline::NEVER {
            self.restart_timer(ctx.now);
        }
        self.cc.on_sent(ctx.now, in_flight);
    }

    /// Sets the timer one RTO from now.
    pub(super) fn restart_timer(&mut self, now: Time) {
        self.timer = Deadline { at: now + self.clock.rto(), armed: now };
    }

    /// Restarts the timer if something is outstanding, or if the window is too small to send again
    /// without a timeout.
    fn restart_or_cancel_timer(&mut self, now: Time) {
        if self.highest_ack < self.maxseq || self.window.cwnd < 1.0 {
            self.restart_timer(now);
        } else {
            self.timer = Deadline::NEVER;
        }
    }

    /// Restarts the timer and gives up the measurement under way: its packet may be sent again.
    pub(super) fn restart_timer_untimed(&mut self, now: Time) {
        self.timed = None;
        self.restart_timer(now);
    }

    /// Everything up to the acknowledged packet has arrived: sequence numbers, RTT, timer.
    /// Returns the report for the control.
    pub(super) fn accept(&mut self, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) -> Ack {
        self.dupacks = 0;
        let report = self.accept_partial(ack, Timing::Update, ctx);
        self.restart_or_cancel_timer(ctx.now);
        if self.finite && self.highest_ack >= self.last && self.completed.is_none() {
            self.completed = Some(ctx.now);
        }
        report
    }

    /// As [`Self::accept`] for Sack1 in recovery: what is timed stays timed until recovery ends.
    pub(super) fn accept_in_recovery(&mut self, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        self.accept_partial(ack, Timing::Keep, ctx);
        self.restart_or_cancel_timer(ctx.now);
    }

    /// As [`Self::accept`] but without the timer and the count of duplicates.
    pub(super) fn accept_partial(
        &mut self,
        ack: &AckIn<'_>,
        timing: Timing,
        ctx: &mut EndpointCtx<'_>,
    ) -> Ack {
        let now = ctx.now;
        let acked = (ack.number - self.highest_ack) as u32;
        let sent = self.sent.at(ack.number).unwrap_or_default();
        self.highest_ack = ack.number;
        self.t_seqno = self.t_seqno.max(ack.number + 1);
        self.maxseq = self.maxseq.max(ack.number);
        self.sent.advance(ack.number + 1);
        self.delivered_at = now;
        self.timeouts_in_a_row = 0;
        if timing != Timing::Keep {
            self.sample(ack, timing == Timing::Update, ctx);
        }
        if ack.number > self.round_end {
            self.round += 1;
            self.round_end = self.maxseq;
        }
        let mut report = Ack::at(now, acked);
        report.in_flight = self.outstanding();
        report.rtt = (!sent.again).then(|| now.since(sent.at));
        report.min_rtt = self.counters.rtt_min;
        report.srtt = self.clock.srtt();
        report.round = self.round;
        report.ecn_echo = ack.echo;
        report.delivered = (self.highest_ack + 1) as u64;
        let span = now.since(sent.delivered_at).seconds();
        if span > 0.0 {
            report.delivery_rate = report.delivered.saturating_sub(sent.delivered) as f64 / span;
        }
        report.newest = SentRecord {
            sent_at: sent.at,
            delivered: sent.delivered,
            delivered_at: sent.delivered_at,
            in_flight: sent.in_flight,
        };
        report
    }

    fn sample(&mut self, ack: &AckIn<'_>, update: bool, ctx: &mut EndpointCtx<'_>) {
        let timed = self.timed.filter(|&(number, _)| ack.number >= number);
        if timed.is_some() {
            self.timed = None;
            self.end_backoff(ack);
        }
        let echoed = if self.config.timestamps { self.stamps.find_echoed(ack.ts) } else { None };
        if update {
            // A timestamp does not end the backoff (ns-2's `ts_resetRTO_` is false), and ns-2 goes by one kind of sample.
            if let Some(sent_at) = echoed {
                self.clock.measure_rounded(ctx.now.since(sent_at));
            } else if let Some((_, sent_at)) = timed
                && !self.config.timestamps
            {
                self.clock.measure(self.clock.ticks(sent_at), ctx.now);
            }
        }
        if let Some((_, sent_at)) = timed {
            let rtt = ctx.now.since(sent_at);
            let counters = &mut self.counters;
            counters.rtt_min =
                if counters.rtt_count == 0 { rtt } else { counters.rtt_min.min(rtt) };
            counters.rtt_sum = counters.rtt_sum + rtt;
            counters.rtt_count += 1;
            ctx.record.rtt(ctx.now, self.flow, rtt);
        }
    }

    /// A new RTT sample ends the backoff of the timer, unless ECN-Echo keeps the window at one packet.
    fn end_backoff(&mut self, ack: &AckIn<'_>) {
        if !ack.echo || !self.ecn_at_one_packet {
            self.clock.backoff = 1;
            self.ecn_at_one_packet = false;
        }
    }

    /// Lets the window grow by a new acknowledgement.
    pub(super) fn open(&mut self, report: &Ack) {
        if !report.ecn_echo {
            self.ecn_at_one_packet = false;
            if self.cc.uses_slow_start() && self.window.cwnd < self.window.ssthresh {
                self.window.cwnd += 1.0;
            } else {
                self.cc.on_ack(&mut self.window, report);
            }
            // ns-2 compares whole packets: a window with a fraction stays.
            if self.options.maxcwnd > 0.0 && self.window.cwnd.trunc() > self.options.maxcwnd {
                self.window.cwnd = self.options.maxcwnd;
            }
        }
        let request_acknowledged = self.highest_ack + 1 == i64::from(report.acked);
        if request_acknowledged && self.config.syn && self.options.delay_growth {
            self.window.cwnd = f64::from(self.initial_window);
        }
    }

    /// A new acknowledgement that ends recovery or comes outside of it.
    pub(super) fn accept_and_open(&mut self, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        let report = self.accept(ack, ctx);
        self.end_recovery(ctx.now);
        self.open(&report);
    }

    /// Marks a fast retransmit as over.
    pub(super) fn end_recovery(&mut self, now: Time) {
        if self.action == Action::FastRetransmit {
            self.action = Action::Recovered;
            self.cc.on_recovery_end(&mut self.window, now);
        }
    }

    fn congestion(&self, now: Time, signal: Signal) -> Congestion {
        let mut event = Congestion::at(now, signal, self.outstanding());
        event.min_rtt = self.counters.rtt_min;
        event.srtt = self.clock.srtt();
        event
    }

    /// Reduces the window by the control's rule, or by half where ns-2 requires that.
    fn reduce(&mut self, signal: Signal, now: Time) {
        let mut w = self.usable();
        if !self.options.precision_reduce {
            w = w.trunc();
        }
        let slow_start = self.window.cwnd < self.window.ssthresh;
        let first = self.options.first_decrease && !self.reduced;
        let mut next = Window { cwnd: w, ssthresh: self.window.ssthresh };
        let event = self.congestion(now, signal);
        self.cc.on_congestion(&mut next, &event);
        let timeout = matches!(signal, Signal::Rto { .. });
        if timeout || (self.cc.uses_slow_start() && (slow_start || first)) {
            next = Window { cwnd: w / 2.0, ssthresh: w / 2.0 };
        }
        if timeout {
            next.cwnd = 1.0;
        }
        if !self.options.precision_reduce {
            next.cwnd = next.cwnd.trunc();
        }
        self.window = Window { cwnd: next.cwnd, ssthresh: next.ssthresh.trunc().max(2.0) };
        self.mark_reduced();
    }

    fn mark_reduced(&mut self) {
        self.reduced = true;
        self.announce_cwr = self.config.ecn;
    }

    /// Sets cwnd to one packet and keeps ssthresh, as ns-2 does after an ECN reduction.
    pub(super) fn close_to_one(&mut self) {
        self.window = Window { cwnd: 1.0, ssthresh: self.window.ssthresh.max(2.0) };
        self.mark_reduced();
    }

    /// Whether a third duplicate may reduce the window: it is for a packet sent after the last
    /// reduction, or for the first data packet.
    pub(super) fn may_reduce(&self) -> bool {
        self.highest_ack > self.recover
            || (!self.options.bug_fix && !self.config.ecn)
            || (self.options.bugfix_ss && self.highest_ack == 0)
    }

    /// Whether a third duplicate that may not reduce the window may at least retransmit: it comes
    /// soon after a reduction by ECN.
    pub(super) fn may_retransmit_after_ecn(&self) -> bool {
        self.config.ecn && self.action == Action::Ecn
    }

    /// The reduction of a fast retransmit.
    pub(super) fn reduce_for_loss(&mut self, now: Time) {
        self.recover = self.maxseq;
        self.action = Action::FastRetransmit;
        self.counters.recoveries += 1;
        self.reduce(Signal::FastRetransmit { lost: 1 }, now);
    }

    /// ECN-Echo: at most one reduction per window.
    pub(super) fn on_ecn_echo(&mut self, number: i64, now: Time) {
        if number > self.recover || self.action == Action::Timeout {
            self.recover = self.maxseq;
            self.action = Action::Ecn;
            self.counters.ecn_reductions += 1;
            let at_one = self.window.cwnd <= 1.0;
            if at_one && self.ecn_at_one_packet {
                self.clock.back_off();
            }
            self.ecn_at_one_packet = at_one;
            self.reduce(Signal::EcnEcho, now);
        }
    }

    /// The timer expired. The caller sends afterwards.
    ///
    /// As in ns-2, what counts as a timeout is an expiry that halves ssthresh: not one that follows
    /// an ECN reduction, nor one with nothing outstanding.
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.window.cwnd = self.window.cwnd.max(1.0);
        self.recover = self.maxseq;
        if self.highest_ack < 0 && self.options.bugfix_ss {
            self.initial_window = 1;
        }
        self.dupwnd = 0;
        let is_idle = self.highest_ack == self.maxseq;
        self.timeouts_in_a_row += 1;
        let signal = Signal::Rto { consecutive: self.timeouts_in_a_row };
        if is_idle || self.action == Action::Ecn {
            let event = self.congestion(now, signal);
            self.cc.on_congestion(&mut self.window.clone(), &event);
            self.close_to_one();
        } else {
            self.counters.timeouts += 1;
            self.reduce(signal, now);
        }
        self.action = Action::Timeout;
        if !is_idle {
            self.clock.back_off();
        }
        self.t_seqno = self.highest_ack + 1;
        self.restart_timer_untimed(now);
    }

    /// What the sender is doing, by the names of the `states` table.
    pub(super) fn state(&self) -> &'static str {
        if self.completed.is_some() {
            "done"
        } else if self.action == Action::FastRetransmit && self.highest_ack < self.recover {
            "recovery"
        } else if self.action == Action::Timeout && self.highest_ack < self.recover {
            "loss"
        } else if self.cc.uses_slow_start() && self.window.cwnd < self.window.ssthresh {
            "slow-start"
        } else {
            self.cc.phase()
        }
    }
}
