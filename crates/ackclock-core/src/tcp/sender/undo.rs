//! Spurious retransmissions: how they are detected, and what follows.
//!
//! **Source**: RFC 3522 (Eifel detection by timestamps), RFC 3708 (by DSACK), RFC 5682 section 2 (F-RTO), RFC 4015
//! (response).
//!
//! **Rule** (an episode begins with the first reduction for loss; each way is a separate option)
//! ```text
//! Eifel:  the first ACK of new data echoes a timestamp older than the first retransmission
//! DSACK:  every retransmission of the episode has been reported as a duplicate
//! F-RTO:  the first ACK after a timeout advances, short of what was outstanding: two new segments leave in
//!         place of retransmissions; the next ACK advances too: the timeout was needless
//! then:   the control gets its window back, what was given up counts as in flight
//! ```
//! An episode is forgotten a window after what was outstanding at its beginning has been acknowledged.

use super::Sender;
use crate::cc::{Congestion, Signal, Window};
use crate::recovery::AckIn;
use crate::tcp::{EndpointCtx, Scoreboard, TcpConfig};
use crate::units::Time;
use crate::wire::{Packet, SackBlock, timestamp};

/// F-RTO's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Test {
    #[default]
    None,
    /// The first outstanding segment has been sent again.
    Resent,
    /// Two new segments are to leave, no retransmission.
    SendNew,
    /// They have left.
    Waiting,
}

/// The present episode.
#[derive(Debug, Default)]
pub(super) struct Undo {
    /// The window before the first reduction; `None`: no episode.
    before: Option<Window>,
    /// `nxt` at its beginning, and at the time when all below that was acknowledged.
    end: u32,
    forget_at: Option<u32>,
    /// Retransmissions of the episode, and those not reported as duplicates.
    resent: u32,
    unproven: u32,
    /// The clock at the first retransmission; 0: none, or an ACK of new data has come since.
    resent_ts: u32,
    test: Test,
}

impl Undo {
    /// Whether any way is enabled.
    pub(super) fn is_wanted(config: &TcpConfig) -> bool {
        config.dsack || config.eifel || config.frto
    }

    /// The window is about to be reduced.
    pub(super) fn on_reduction(
        &mut self,
        signal: Signal,
        window: &Window,
        board: &Scoreboard,
        config: &TcpConfig,
    ) {
        let timeout = match signal {
            Signal::FastRetransmit { .. } => false,
            Signal::Rto { consecutive } => consecutive == 1,
            // The reduction is kept, whatever becomes of the repairs.
            _ => {
                *self = Self::default();
                return;
            }
        };
        if self.before.is_none() {
            *self = Self { before: Some(*window), end: board.nxt(), ..Self::default() };
        }
        self.end = board.nxt();
        self.test = if timeout && config.frto { Test::Resent } else { Test::None };
    }

    pub(super) fn on_resent(&mut self, now: Time) {
        if self.before.is_some() {
            if self.resent == 0 {
                self.resent_ts = timestamp(now);
            }
            self.resent += 1;
            self.unproven += 1;
        }
    }

    /// Whether this acknowledgement shows that the episode was needless.
    fn is_spurious(
        &mut self,
        packet: &Packet,
        heard: &AckIn,
        board: &Scoreboard,
        config: &TcpConfig,
    ) -> bool {
        let mut found = false;
        if heard.acked > 0 {
            let echo = packet.timestamps().map_or(0, |clocks| clocks.sender);
            let older = echo.wrapping_sub(self.resent_ts) >= 1 << 31;
            found = config.eifel && echo != 0 && self.resent_ts != 0 && older;
            self.resent_ts = 0;
        }
        if let Some((from, to)) = heard.dsack
            && self.resent > 0
        {
            self.unproven = self.unproven.saturating_sub(to - from);
            found |= self.unproven == 0;
        }
        self.test = match self.test {
            Test::Resent if heard.acked > 0 && board.una() < self.end => Test::SendNew,
            Test::Waiting if heard.acked > 0 => {
                found = true;
                Test::None
            }
            _ => Test::None,
        };
        found
    }
}

impl Sender {
    /// The block that reports a duplicate, if the first one does (RFC 2883 section 4).
    pub(super) fn duplicate_block(&self, packet: &Packet) -> Option<SackBlock> {
        let blocks = packet.sack_blocks();
        let &(from, to) = blocks.first()?;
        let inside = blocks.get(1).is_some_and(|&(start, end)| start <= from && to <= end);
        (self.config.dsack && (to <= packet.seq || inside)).then_some((from, to))
    }

    /// Takes back a reduction that this acknowledgement shows to have been needless.
    pub(super) fn find_spurious(&mut self, packet: &Packet, heard: &AckIn, now: Time) {
        let Some(undo) = &mut self.undo else { return };
        let Some(before) = undo.before else { return };
        let una = self.board.una();
        if undo.is_spurious(packet, heard, &self.board, &self.config) {
            **undo = Undo::default();
            self.recovery.on_spurious(&mut self.board);
            let event = Congestion {
                min_rtt: self.min_rtt(),
                srtt: self.rto.srtt(),
                pipe: self.recovery.pipe(&self.board),
                ..Congestion::at(now, Signal::Spurious, self.board.flight())
            };
            self.cc.on_spurious(&mut self.window, &event, &before);
            self.rare_count.spurious += 1;
            self.check_window(now);
        } else if undo.forget_at.is_some_and(|at| una >= at) {
            **undo = Undo::default();
        } else if undo.forget_at.is_none() && una >= undo.end {
            undo.forget_at = Some(self.board.nxt());
        }
    }

    /// F-RTO's second step: new segments in place of retransmissions. True if they have left.
    pub(super) fn tests_timeout(&mut self, ctx: &mut EndpointCtx<'_>) -> bool {
        let Some(undo) = &mut self.undo else { return false };
        if undo.test != Test::SendNew {
            return undo.test == Test::Waiting;
        }
        if !self.may_send_new(ctx.now) {
            // @src rfc5682#2.1: without new data the timeout is taken for genuine.
            if let Some(undo) = &mut self.undo {
                undo.test = Test::None;
            }
            return false;
        }
        for _ in 0..2 {
            if self.may_send_new(ctx.now) {
                self.send_new(ctx);
            }
        }
        if let Some(undo) = &mut self.undo {
            undo.test = Test::Waiting;
        }
        true
    }
}
