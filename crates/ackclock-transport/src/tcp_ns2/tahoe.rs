//! ns-2's Tahoe (`Agent/TCP`): the third duplicate sends the window back to one packet.
//!
//! **Source**: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, appendix D; ns-2
//! reference cases.
//!
//! **Rule**: duplicates 1 and 2 send one new packet each (limited transmit); the third sets
//! ssthresh to half the window, cwnd to 1, and sending starts again after the last packet
//! acknowledged. No second time for losses among the packets sent before. A
//! timeout does not end the count of duplicates.

use super::machine::{AckIn, Machine, Reaction};
use crate::endpoint::EndpointCtx;

pub(super) struct Tahoe;

impl Reaction for Tahoe {
    fn on_ack(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        if ack.number > m.highest_ack {
            let report = m.accept(ack, ctx);
            m.open(&report);
        } else if ack.number == m.highest_ack {
            m.dupacks += 1;
            if m.dupacks == m.options.numdupacks {
                third_duplicate(m, ctx);
            } else if m.dupacks < m.options.numdupacks && m.config.limited_transmit {
                m.send_one(ctx);
            }
        }
        m.send_much(m.config.max_burst, ctx);
    }
}

fn third_duplicate(m: &mut Machine, ctx: &mut EndpointCtx<'_>) {
    if m.may_reduce() {
        m.reduce_for_loss(ctx.now);
    } else if m.may_retransmit_after_ecn() {
        m.action = super::machine::Action::FastRetransmit;
        m.close_to_one();
    } else {
        return;
    }
    m.window.cwnd = 1.0;
    m.t_seqno = m.highest_ack + 1;
    m.restart_timer_untimed(ctx.now);
}
