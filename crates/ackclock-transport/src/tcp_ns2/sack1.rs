//! ns-2's Sack1: the pipe algorithm over a scoreboard.
//!
//! **Source**: Fall & Floyd 1996, section 5, doi:10.1145/235160.235162; ns-2 reference cases.
//!
//! **Rule**: the third duplicate halves the window, retransmits the first missing packet and sets
//! `pipe = outstanding - 3`. In recovery every acknowledgement takes 1 off the pipe, one that
//! acknowledges something new 2; while `pipe < cwnd` the lowest packet that is missing below the
//! highest `SACKed` one and was not retransmitted in this recovery leaves, else a new one, and the
//! pipe grows by 1. The acknowledgement of all that was sent before ends recovery and does not open
//! cwnd and ends the RTT measurement that was under way, which partial acknowledgements leave alone. Outside of recovery a
//! duplicate counts only if its blocks are news for the scoreboard, which
//! every new acknowledgement clears. After a timeout duplicates are ignored until something new is
//! acknowledged.

use super::machine::{AckIn, Action, Machine, Reaction};
use super::ring::Ring;
use crate::endpoint::EndpointCtx;

pub(super) struct Sack1 {
    recovering: bool,
    after_timeout: bool,
    pipe: i64,
    /// Per packet: it was `SACKed` or retransmitted, and is not to be retransmitted (again).
    settled: Ring<bool>,
    /// One past the highest `SACKed` packet.
    sacked_end: i64,
    /// No packet below this is missing and unsent.
    hint: i64,
}

impl Sack1 {
    pub(super) fn new() -> Self {
        Self {
            recovering: false,
            after_timeout: false,
            pipe: 0,
            settled: Ring::new(),
            sacked_end: 0,
            hint: 0,
        }
    }

    fn clear(&mut self, m: &Machine) {
        let first = m.highest_ack + 1;
        self.settled.clear(first);
        self.sacked_end = first;
        self.hint = first;
    }

    /// Enters the blocks; false if they report nothing new.
    fn note(&mut self, m: &Machine, ack: &AckIn<'_>) -> bool {
        let mut news = false;
        let first = m.highest_ack + 1;
        self.settled.advance(first);
        self.hint = self.hint.max(first);
        self.sacked_end = self.sacked_end.max(first);
        for &(left, right) in ack.sack {
            let right = i64::from(right).min(m.maxseq + 1);
            for number in i64::from(left).max(first)..right {
                if !self.is_settled(number) {
                    news = true;
                    self.settled.set(number, true);
                }
            }
            self.sacked_end = self.sacked_end.max(right);
        }
        news
    }

    fn is_settled(&self, number: i64) -> bool {
        self.settled.at(number).unwrap_or(false)
    }

    /// The lowest packet to retransmit.
    fn next_hole(&mut self) -> Option<i64> {
        while self.hint < self.sacked_end && self.is_settled(self.hint) {
            self.hint += 1;
        }
        (self.hint < self.sacked_end).then_some(self.hint)
    }

    fn third_duplicate(&mut self, m: &mut Machine, ctx: &mut EndpointCtx<'_>) {
        if m.may_reduce() {
            m.reduce_for_loss(ctx.now);
        } else if m.may_retransmit_after_ecn() {
            m.action = Action::FastRetransmit;
        } else {
            return;
        }
        self.pipe = i64::from(m.outstanding()) - i64::from(m.options.numdupacks);
        self.recovering = true;
        m.restart_timer_untimed(ctx.now);
        m.transmit(m.highest_ack + 1, ctx);
        self.settled.set(m.highest_ack + 1, true);
    }

    fn fill_pipe(&mut self, m: &mut Machine, ctx: &mut EndpointCtx<'_>) {
        let mut count = 0;
        while self.pipe < m.window.cwnd as i64 {
            if let Some(hole) = self.next_hole() {
                m.transmit(hole, ctx);
                self.settled.set(hole, true);
                m.t_seqno = m.t_seqno.max(hole + 1);
            } else if m.t_seqno <= m.highest_ack + i64::from(m.config.receiver_window)
                && m.has_more(ctx.now)
            {
                m.send_next(ctx);
            } else {
                break;
            }
            self.pipe += 1;
            count += 1;
            if count == m.config.max_burst {
                break;
            }
        }
    }

    fn on_ack_recovering(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        self.pipe -= 1;
        if ack.number >= m.recover {
            m.accept(ack, ctx);
            m.end_recovery(ctx.now);
            // A loss among what was sent in this recovery is a new congestion event.
            m.recover = 0;
            self.recovering = false;
            self.after_timeout = false;
            self.clear(m);
            m.send_much(m.config.max_burst, ctx);
            return;
        }
        if ack.number > m.highest_ack {
            self.pipe -= 1;
            m.accept_in_recovery(ack, ctx);
            m.clock.backoff = 1;
        } else if ack.number == m.highest_ack {
            m.dupacks += 1;
        }
        self.note(m, ack);
        self.fill_pipe(m, ctx);
    }
}

impl Reaction for Sack1 {
    fn on_ack(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        if self.recovering {
            self.on_ack_recovering(m, ack, ctx);
            return;
        }
        if ack.number > m.highest_ack {
            m.accept_and_open(ack, ctx);
            self.after_timeout = false;
            self.clear(m);
            m.send_much(m.config.max_burst, ctx);
        } else if ack.number == m.highest_ack {
            if !self.after_timeout && self.note(m, ack) {
                m.dupacks += 1;
                if m.dupacks == m.options.numdupacks {
                    self.third_duplicate(m, ctx);
                } else if m.dupacks < m.options.numdupacks && m.config.limited_transmit {
                    m.send_one(ctx);
                }
            }
            // What the burst limit held back may leave with any acknowledgement.
            if m.dupacks == 0 {
                m.send_much(m.config.max_burst, ctx);
            }
        }
    }

    fn forget(&mut self, m: &mut Machine) {
        m.dupacks = 0;
        self.recovering = false;
        self.after_timeout = true;
        self.clear(m);
    }
}
