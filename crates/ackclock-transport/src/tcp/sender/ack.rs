//! What the sender does with an acknowledgement.

use super::{NEVER_REDUCED, Sender};
use crate::cc::{Ack, Signal, Window};
use crate::endpoint::EndpointCtx;
use crate::era::Era;
use crate::memory::{address, prefetch_at};
use crate::recovery::{AckIn, Digest, Phase};
use crate::scoreboard::Advance;
use crate::tcp::Stage;
use crate::units::{Span, Time};
use crate::wire::{Flags, Packet, TIMESTAMP_TICK, timestamp};

/// Time since the timestamp `echo` was sent.
#[inline]
fn since_timestamp(now: Time, echo: u32) -> Option<Span> {
    let ticks = timestamp(now).wrapping_sub(echo);
    (echo != 0 && ticks < 1 << 31).then(|| TIMESTAMP_TICK * u64::from(ticks))
}

/// A round-trip sample without the time that the packet acknowledged waited in queues, if that is known.
fn propagation(packet: &Packet, rtt: Span) -> Option<Span> {
    packet.queued().map(|queued| Span(rtt.0.saturating_sub(queued.0)))
}

/// Whether an acknowledgement advances over segments of which it measures the round trip without doubt.
fn is_clean(advance: Option<&Advance>) -> bool {
    advance.is_some_and(|advance| !advance.ambiguous && advance.clean_sent_at.is_some())
}

impl Sender {
    pub(super) fn on_ack(&mut self, packet: &Packet, ctx: &mut EndpointCtx<'_>) {
        self.prefetch_parts();
        self.count.acks_received += 1;
        let ack = packet.seq;
        // RFC 9293: what was acknowledged before, and what was never sent, says nothing.
        if ack < self.board.una() || ack > self.board.nxt() {
            return;
        }
        let now = ctx.now;
        if self.tracks {
            self.begin_tracking(packet, now);
        }
        let advance = (ack > self.board.una()).then(|| self.board.advance(ack));
        let mut heard = AckIn::at(now);
        let mut is_measured = false;
        if self.uses_sack && !packet.sack_blocks().is_empty() {
            if self.tracks {
                let (sacked, first_sent_at) = self.track_sacks(packet, now);
                heard.sacked = sacked;
                if let Some(sent_at) = first_sent_at {
                    is_measured = self.measure_sacked(sent_at, is_clean(advance.as_ref()), now);
                }
            } else {
                for &block in packet.sack_blocks() {
                    heard.sacked += self.board.sack(block);
                }
            }
            if heard.sacked > 0 {
                self.deliveries.on_sacked(now, heard.sacked);
            }
        }
        heard.delivered = heard.sacked;
        let mut rtt = None;
        if let Some(advance) = &advance {
            heard.acked = advance.acked;
            heard.delivered += advance.delivered;
            if !is_measured {
                rtt = self.sample(packet, advance, ctx);
            }
            let min_rtt = self.min_rtt();
            self.deliveries.on_delivery(now, advance.delivered, &advance.newest, min_rtt);
            self.consecutive = 0;
        } else {
            heard.duplicate = self.board.outstanding() > 0;
        }

        let mut phase = Phase::Open;
        if self.tracks {
            phase = self.note_tracked(packet, &mut heard);
            if let Some(advance) = &advance
                && self.config.era == Era::Linux
            {
                // @src Linux 6.12, tcp_input.c: `tcp_ack_update_rtt` has two samples.
                rtt = advance
                    .clean_sent_at
                    .filter(|_| !advance.ambiguous)
                    .map(|sent_at| now.since(sent_at));
            }
        }
        let digest = self.recovery.on_ack(&mut self.board, &heard);
        let answered_ecn = self.react(packet, &digest, now);
        if self.reads_ports {
            self.report_path(packet, ctx.ports, now);
        }
        let mut holds_window = digest.hold_window || digest.entered.is_some() || answered_ecn;
        let mut gave_sample = false;
        if self.tracks {
            gave_sample = self.give_tracked(packet, &digest, &heard, phase);
            holds_window = self.is_held(holds_window, &digest);
        }
        if let Some(advance) = &advance
            && !gave_sample
            && !holds_window
        {
            self.grow(packet, advance, rtt, now);
        }
        if self.stage == Stage::Open {
            self.restart_retransmission_timer(heard.acked > 0, &digest, now);
            if self.board.outstanding() == 0 && self.nothing_left(now) {
                self.finish(now);
            } else {
                let burst =
                    if self.config.max_burst == 0 { u32::MAX } else { self.config.max_burst };
                self.send(ctx, burst);
            }
        }
        self.record_window(ctx);
    }

    /// What only senders that track each segment notice of an acknowledgement; what the recovery did until now.
    #[inline(never)]
    fn note_tracked(&mut self, packet: &Packet, heard: &mut AckIn) -> Phase {
        let phase = self.recovery.phase();
        (heard.srtt, heard.min_rtt) = (self.rto.srtt(), self.min_rtt());
        heard.dsack = self.duplicate_block(packet);
        self.find_spurious(packet, heard, heard.now);
        phase
    }

    /// What only senders that track each segment report; true if the control had a rate sample.
    #[inline(never)]
    fn give_tracked(
        &mut self,
        packet: &Packet,
        digest: &Digest,
        heard: &AckIn,
        before: Phase,
    ) -> bool {
        if self.follows_slow_start {
            self.follow_recovery(heard);
        }
        self.follow_reduction(heard);
        let gives = self.sampler.is_some();
        if gives {
            self.give_sample(packet, digest, heard, before);
        }
        gives
    }

    /// Whether the window must not grow; Linux's may with the ACK that ends a recovery, and not while it is reduced.
    fn is_held(&self, holds_window: bool, digest: &Digest) -> bool {
        if self.reduction.is_none() {
            return holds_window;
        }
        self.is_reducing() || (holds_window && !(digest.ended && digest.entered.is_none()))
    }

    /// Reports to the slow start rule what an acknowledgement in fast recovery says.
    #[inline(never)]
    fn follow_recovery(&mut self, heard: &AckIn) {
        if self.recovery.phase() != Phase::Recovery {
            return;
        }
        let from = self.losses_followed.max(self.board.una());
        let to = self.board.lost_below().max(from);
        let lost = (from..to).filter(|&seq| self.board.is_lost(seq)).count() as u32;
        self.losses_followed = to;
        self.slow_start.on_repair(&mut self.window, heard.delivered, lost);
        self.check_window(heard.now);
    }

    /// Prefetches the parts that are stored elsewhere, all at once: their loads would wait one after the other.
    #[inline(always)]
    fn prefetch_parts(&self) {
        // What they touch of themselves lies in their first line or two.
        const HOT: usize = 80;
        self.board.prefetch();
        prefetch_at(address(&*self.recovery), HOT);
        prefetch_at(address(&*self.cc), HOT);
    }

    /// Takes the round-trip sample of an acknowledgement of new data, if it is one.
    #[inline]
    fn sample(
        &mut self,
        packet: &Packet,
        advance: &Advance,
        ctx: &mut EndpointCtx<'_>,
    ) -> Option<Span> {
        let rtt = if self.config.timestamps {
            packet.timestamps().and_then(|clocks| since_timestamp(ctx.now, clocks.sender))
        } else if advance.ambiguous {
            None // @src rfc6298#3 Karn's algorithm
        } else {
            advance.clean_sent_at.map(|sent_at| ctx.now.since(sent_at))
        }?;
        self.take_sample(rtt, ctx);
        if let Some(propagation) = propagation(packet, rtt) {
            self.min_rtt = self.min_rtt.min(propagation);
        }
        Some(rtt)
    }

    #[inline]
    pub(super) fn take_sample(&mut self, rtt: Span, ctx: &mut EndpointCtx<'_>) {
        self.rto.sample(rtt, &self.config);
        self.min_rtt = self.min_rtt.min(rtt);
        self.count.rtt_sum_s += rtt.seconds();
        self.count.rtt_count += 1;
        ctx.record.rtt(ctx.now, self.flow, rtt);
    }

    /// Reductions and the end of recovery; true if ECN reduced the window.
    #[inline]
    fn react(&mut self, packet: &Packet, digest: &Digest, now: Time) -> bool {
        if self.tracks {
            self.end_marked_reduction();
        }
        // @src Linux 6.12, tcp_bbr.c: a control that models the path sees the state after the acknowledgement, and so does
        // not leave a recovery that another follows at once.
        let goes_on = self.config.era == Era::Linux && self.sampler.is_some();
        if digest.ended && !(goes_on && digest.entered.is_some()) {
            self.end_reduction();
            self.cc.on_recovery_end(&mut self.window, now);
            if self.follows_slow_start {
                self.slow_start.on_recovery_end(&mut self.window);
            }
            if let Some(cap) = digest.cwnd
                && digest.entered.is_none()
            {
                self.window.cwnd = self.window.cwnd.min(cap);
            }
            self.check_window(now);
        }
        if let Some(entry) = digest.entered {
            // @src rfc3168#6.1.2: one reduction for the marks and losses of one window.
            if self.board.una() >= self.ecn_reduced_at {
                self.rare_count.recoveries += 1;
                self.reduce(Signal::FastRetransmit { lost: entry.lost }, entry.flight, now);
            }
            if let Some(cwnd) = digest.cwnd {
                self.window.cwnd = cwnd;
            }
            return false;
        }
        let new_window = if self.reduction.is_some() {
            self.takes_mark()
        } else {
            self.reduced_at == NEVER_REDUCED || self.board.una() > self.reduced_at
        };
        if self.config.ecn && packet.flags.has(Flags::ECE) && new_window && !self.cc.counts_marks()
        {
            self.rare_count.ecn_reductions += 1;
            // @src rfc3168#6.1.2: whole segments leave, so below two the window is one.
            self.held_by_ecn |= self.window.cwnd < 2.0 && self.config.era != Era::Linux;
            self.reduce(Signal::EcnEcho, self.board.flight(), now);
            self.ecn_reduced_at = self.board.nxt();
            return true;
        }
        false
    }

    #[inline]
    fn grow(&mut self, packet: &Packet, advance: &Advance, rtt: Option<Span>, now: Time) {
        let ecn_echo = self.config.ecn && packet.flags.has(Flags::ECE);
        let ack = Ack {
            now,
            // The segment that was missing had not been reported.
            acked: advance.delivered.max(1),
            in_flight: self.board.pipe(),
            rtt,
            min_rtt: self.min_rtt(),
            propagation: rtt.and_then(|rtt| propagation(packet, rtt)),
            srtt: self.rto.srtt(),
            round: self.deliveries.round,
            app_limited: advance.newest.app_limited,
            ecn_echo,
            delivered: self.deliveries.delivered,
            delivery_rate: self.deliveries.rate,
            newest: advance.newest.record,
            sample: None,
        };
        if self.in_slow_start() {
            let before = self.window.cwnd;
            self.slow_start.on_ack(&mut self.window, &ack);
            let grown = self.window.cwnd;
            self.cc.on_slow_start(&mut self.window, &ack);
            // What the control has cut it keeps.
            if self.tracks && self.config.era == Era::Linux && self.window.cwnd >= grown {
                self.leave_slow_start(before, &ack);
            }
        } else {
            self.cc.on_ack(&mut self.window, &ack);
        }
        self.check_window(now);
    }

    /// Linux's slow start stops at ssthresh, and what is left of the acknowledgement is the control's.
    fn leave_slow_start(&mut self, before: f64, ack: &Ack) {
        let Window { cwnd, ssthresh } = self.window;
        if cwnd < ssthresh {
            return;
        }
        self.window.cwnd = ssthresh.max(before);
        let used = (self.window.cwnd - before) as u32;
        if used < ack.acked && !ack.app_limited {
            self.cc.on_ack(&mut self.window, &Ack { acked: ack.acked - used, ..*ack });
        }
    }
}
