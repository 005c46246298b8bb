//! ns-2's NewReno: fast recovery until everything sent before it is acknowledged.
//!
//! **Source**: RFC 2582/6582 with the choices of ns-2.35; ns-2 reference cases.
//!
//! **Rule**: as Reno; an acknowledgement of `n` packets that leaves some of the window missing
//! retransmits the next missing packet and deflates the inflated window by `n - 1`. The first
//! such acknowledgement restarts the timer, later ones do not ("impatient"), also over a timeout. At most two packets
//! leave per acknowledgement during recovery.

use super::machine::{AckIn, Action, Machine, Reaction, Timing};
use super::reno;
use crate::endpoint::EndpointCtx;

#[derive(Default)]
pub(super) struct NewReno {
    /// A partial acknowledgement was seen since the last new one outside of a recovery.
    partial: bool,
}

/// Most packets per acknowledgement during recovery.
const RECOVERY_BURST: u32 = 2;

impl Reaction for NewReno {
    fn on_ack(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        if ack.number > m.highest_ack {
            if m.action == Action::FastRetransmit && ack.number < m.recover {
                self.partial(m, ack, ctx);
            } else {
                m.dupwnd = 0;
                self.partial = false;
                m.accept_and_open(ack, ctx);
            }
        } else if ack.number == m.highest_ack {
            reno::duplicate(m, ctx);
        }
        if reno::sends_after(m) {
            let max_burst = m.config.max_burst;
            let recovering = m.dupacks > 0;
            let burst = match (recovering, max_burst) {
                (true, 0) => RECOVERY_BURST,
                (true, n) => n.min(RECOVERY_BURST),
                (false, n) => n,
            };
            m.send_much(burst, ctx);
        }
    }

    fn forget(&mut self, m: &mut Machine) {
        // That a partial acknowledgement was seen is forgotten by a new acknowledgement outside of a recovery alone:
        // in one that duplicates begin right after a timeout the first of them does not restart the timer.
        m.dupacks = 0;
    }
}

impl NewReno {
    fn partial(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        if m.options.partial_window_deflation {
            let acked = ack.number - m.highest_ack;
            if m.dupwnd > acked {
                m.dupwnd -= acked - 1;
            } else {
                m.window.cwnd -= (acked - m.dupwnd) as f64;
                m.dupwnd = 1;
            }
            // Several reductions in one recovery, without `bugFix`, may have left less.
            m.window.cwnd = m.window.cwnd.max(1.0);
        } else {
            m.dupwnd = 0;
        }
        m.accept_partial(ack, Timing::End, ctx);
        if !self.partial || !m.options.newreno_changes1 {
            m.restart_timer(ctx.now);
        }
        self.partial = true;
        m.transmit(m.highest_ack + 1, ctx);
    }
}
