//! How Linux spreads a reduction of the window over the acknowledgements of a round trip, after a loss and after a mark.
//!
//! **Source**: Linux 6.12, `net/ipv4/tcp_input.c` (behaviour of `tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`,
//! `tcp_end_cwnd_reduction`, `tcp_enter_cwr`, `tcp_enter_recovery`, `tcp_enter_loss`); RFC 9937, of which it is an early
//! form.
//!
//! **Rule** (D: newly delivered; W: cwnd before; ssthresh: what the control chose)
//! ```text
//! prr_delivered += D
//! pipe > ssthresh:  n = ceil(ssthresh prr_delivered / W) - prr_out
//! otherwise:        n = min(ssthresh - pipe, max(prr_delivered - prr_out, D) + 1 if una advanced without further loss)
//! cwnd = pipe + n, with n >= 1 while nothing has left
//! over:             after a loss with the recovery; after a mark when what was sent after it is acknowledged: cwnd = ssthresh
//! mark:             no reduction while another lasts, nor in what follows a timeout; at least two segments are left
//! timeout:          ssthresh is that of the reduction that lasts; cwnd = pipe + 1
//! ```
//! A control that does not set cwnd to ssthresh sets it as it likes.

use super::Sender;
use crate::cc::{Signal, Window};
use crate::recovery::{AckIn, Phase};

/// Fewest segments that a control of Linux leaves.
pub(super) const FLOOR: f64 = 2.0;

/// A reduction in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    active: bool,
    /// For a mark: over when this has been acknowledged and more.
    mark: Option<u32>,
    before: f64,
    ssthresh: f64,
    delivered: u32,
    out: u32,
}

impl Reduction {
    fn begin(&mut self, before: f64, ssthresh: f64, mark: Option<u32>) {
        *self = Self { active: true, mark, before, ssthresh, ..Self::default() };
    }

    /// Segments beyond those in flight that the window has room for.
    fn room(&mut self, pipe: u32, delivered: u32, advanced_clean: bool) -> u32 {
        self.delivered += delivered;
        let ssthresh = self.ssthresh as u32;
        let room = if pipe > ssthresh {
            let share =
                (self.ssthresh.floor() * f64::from(self.delivered)) / self.before.floor().max(1.0);
            (share.ceil() as u32).saturating_sub(self.out)
        } else {
            let limit = self.delivered.saturating_sub(self.out).max(delivered);
            (limit + u32::from(advanced_clean)).min(ssthresh - pipe)
        };
        room.max(u32::from(self.out == 0))
    }
}

impl Sender {
    /// Whether the window is being reduced, so that it does not grow.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        self.reduction.as_ref().is_some_and(|reduction| reduction.active)
    }

    /// Whether a mark may reduce the window now.
    pub(super) fn takes_mark(&self) -> bool {
        !self.is_reducing() && self.recovery.phase() == Phase::Open
    }

    /// The control has answered `signal`; the window was `before`.
    pub(super) fn spread_reduction(&mut self, signal: Signal, before: &Window) {
        let Some(reduction) = &mut self.reduction else { return };
        let Window { cwnd, ssthresh } = self.window;
        let mark = match signal {
            Signal::EcnEcho => Some(self.board.nxt()),
            Signal::FastRetransmit { .. } if self.recovery.phase() == Phase::Recovery => None,
            _ => {
                reduction.active = false;
                return;
            }
        };
        let follows = cwnd.to_bits() == ssthresh.min(before.cwnd).to_bits();
        reduction.active = false;
        if follows && before.cwnd > 0.0 {
            reduction.begin(before.cwnd, ssthresh, mark);
            self.window.cwnd = before.cwnd;
        }
    }

    /// An acknowledgement, or the timer of a recovery, while the window is being reduced.
    pub(super) fn follow_reduction(&mut self, heard: &AckIn) {
        let Some(reduction) = &mut self.reduction else { return };
        if !reduction.active {
            return;
        }
        if heard.delivered == 0 {
            return;
        }
        let pipe = self.recovery.pipe(&self.board);
        let clean = heard.acked > 0 && self.recovery.losses().is_empty();
        self.window.cwnd = f64::from(pipe + reduction.room(pipe, heard.delivered, clean));
    }

    /// Ends the reduction for a mark when what was sent after it is acknowledged; the same acknowledgement may begin another.
    #[inline]
    pub(super) fn end_marked_reduction(&mut self) {
        let una = self.board.una();
        if let Some(reduction) = &mut self.reduction
            && reduction.active
            && reduction.mark.is_some_and(|end| una > end)
        {
            reduction.active = false;
            self.window.cwnd = reduction.ssthresh;
        }
    }

    /// The recovery that the window was reduced for is over.
    pub(super) fn end_reduction(&mut self) {
        if let Some(reduction) = &mut self.reduction
            && reduction.active
            && reduction.mark.is_none()
        {
            reduction.active = false;
            self.window.cwnd = reduction.ssthresh;
        }
    }

    /// A segment leaves.
    #[inline]
    pub(super) fn count_reduced(&mut self) {
        if let Some(reduction) = &mut self.reduction {
            reduction.out += 1;
        }
    }

    /// The reduction is over, whatever has become of it.
    pub(super) fn drop_reduction(&mut self) {
        if let Some(reduction) = &mut self.reduction {
            reduction.active = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty to ten: of those delivered every other lets one leave, the first at once.
    #[test]
    fn halving_lets_one_leave_for_two_delivered() {
        let mut reduction = Reduction::default();
        reduction.begin(20.0, 10.0, None);
        let mut left = Vec::new();
        for pipe in [19, 18, 18, 17, 17, 16] {
            let room = reduction.room(pipe, 1, false);
            reduction.out += room;
            left.push(room);
        }
        assert_eq!(left, [1, 0, 1, 0, 1, 0]);
    }

    /// Below ssthresh as many leave as were delivered, one more if the acknowledgement advanced without a loss, never beyond.
    #[test]
    fn below_ssthresh_it_grows_to_it() {
        let mut reduction = Reduction::default();
        reduction.begin(20.0, 10.0, None);
        assert_eq!(reduction.room(4, 2, true), 3);
        reduction.out += 3;
        assert_eq!(reduction.room(6, 1, false), 1);
        reduction.out += 1;
        assert_eq!(reduction.room(9, 4, true), 1);
    }
}
