//! ns-2's Reno: fast recovery until the first new acknowledgement.
//!
//! **Source**: Fall & Floyd 1996, doi:10.1145/235160.235162; ns-2 reference cases.
//!
//! **Rule**: the third duplicate halves the window, retransmits the first missing packet and
//! inflates the window by 3; each further duplicate inflates it by 1; a new acknowledgement takes
//! the inflation away and opens cwnd as always. A third duplicate among packets sent before the
//! last reduction does nothing, so a second loss in a window mostly waits for the timeout.

use super::machine::{AckIn, Action, Machine, Reaction};
use crate::endpoint::EndpointCtx;

pub(super) struct Reno;

impl Reaction for Reno {
    fn on_ack(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        if ack.number > m.highest_ack {
            m.dupwnd = 0;
            m.accept_and_open(ack, ctx);
        } else if ack.number == m.highest_ack {
            duplicate(m, ctx);
        }
        if sends_after(m) {
            m.send_much(m.config.max_burst, ctx);
        }
    }

    fn forget(&mut self, m: &mut Machine) {
        m.dupacks = 0;
    }
}

/// Between the first duplicate and fast recovery only limited transmit sends.
pub(super) fn sends_after(m: &Machine) -> bool {
    m.dupacks == 0 || m.dupacks >= m.options.numdupacks
}

/// A duplicate acknowledgement.
pub(super) fn duplicate(m: &mut Machine, ctx: &mut EndpointCtx<'_>) {
    m.dupacks += 1;
    let threshold = m.options.numdupacks;
    if m.dupacks == threshold {
        if m.may_reduce() {
            m.reduce_for_loss(ctx.now);
        } else if m.may_retransmit_after_ecn() {
            m.action = Action::FastRetransmit;
        } else {
            return;
        }
        m.restart_timer_untimed(ctx.now);
        m.transmit(m.highest_ack + 1, ctx);
        m.dupwnd = i64::from(threshold);
    } else if m.dupacks > threshold {
        if m.action == Action::FastRetransmit {
            m.dupwnd += 1;
        }
    } else if m.config.limited_transmit {
        m.send_one(ctx);
    }
}
