//! Spurious retransmissions: how they are detected, and what follows.
//!
//! **Source**: RFC 3522 (Eifel detection by timestamps), RFC 3708 (by DSACK), RFC 5682 section 2 (F-RTO), RFC 4015
//! (response).
//!
//! **Rule** (an episode begins with a reduction for loss; a timeout within it continues it; each way is a separate option)
//! ```text
//! Eifel:  an ACK of new data within the episode echoes a timestamp older than the first retransmission of all that
//!         have been in flight since
//! DSACK:  every retransmission of the episode, and those in flight when it began, has been reported as a duplicate
//! F-RTO:  the first ACK after a timeout advances, short of what was outstanding: two new segments leave in
//!         place of retransmissions; the next ACK advances too: the timeout was needless
//! then:   the control gets its window back, what was given up counts as in flight
//! ```
//! An episode is forgotten a window after what was outstanding at its beginning has been acknowledged.
//!
//! Era linux (Linux 6.12, `tcp_input.c`, behaviour of `tcp_packet_delayed`, `tcp_try_undo_partial`, `tcp_process_loss`):
//! Eifel also where nothing has been sent again yet, and for an ACK that does not end the episode only with no
//! retransmission in flight; F-RTO is that with SACK (RFC 5682 section 3.1): after a timeout anything that arrives of what was
//! outstanding and has never been sent again shows that it was needless; without SACK only if the ACK covers nothing that was
//! sent again, as it may have waited beyond the hole that was repaired (`tcp_clean_rtx_queue`).

use super::Sender;
use crate::cc::{Congestion, Signal, Window};
use crate::endpoint::EndpointCtx;
use crate::era::Era;
use crate::recovery::{AckIn, Phase};
use crate::scoreboard::Scoreboard;
use crate::tcp::TcpConfig;
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
    /// The window before the reduction; `None`: no episode.
    before: Option<Window>,
    /// `nxt` at its beginning.
    end: u32,
    forget_at: Option<u32>,
    /// Retransmissions of the episode and those in flight when it began; those not reported as duplicates.
    resent: u32,
    unproven: u32,
    /// The clock at the first retransmission since none was in flight; 0: none. It outlives an episode, since the ACK
    /// of a retransmission may come in the next.
    resent_ts: u32,
    test: Test,
    /// The acknowledgement in hand reports something that was outstanding and has never been sent again.
    original: bool,
    /// It reports a retransmission, too.
    repeated: bool,
}

impl Undo {
    /// Whether any way is enabled.
    pub(super) fn is_wanted(config: &TcpConfig) -> bool {
        config.dsack || config.eifel || config.frto
    }

    /// The window is about to be reduced; `may_test`: F-RTO may test this timeout.
    pub(super) fn on_reduction(
        &mut self,
        signal: Signal,
        window: &Window,
        board: &Scoreboard,
        may_test: bool,
    ) {
        let (timeout, continues) = match signal {
            Signal::FastRetransmit { .. } => (false, false),
            Signal::Rto { consecutive } => (true, consecutive > 1),
            // The reduction is kept, whatever becomes of the repairs.
            _ => return self.forget(),
        };
        if !(continues && self.before.is_some()) {
            self.forget();
            self.before = Some(*window);
            (self.resent, self.unproven) = (board.resent_out(), board.resent_out());
            if !board.has_resent() {
                self.resent_ts = 0;
            }
        }
        self.end = board.nxt();
        self.forget_at = None;
        self.test = if timeout && may_test { Test::Resent } else { Test::None };
    }

    fn forget(&mut self) {
        *self = Self { resent_ts: self.resent_ts, ..Self::default() };
    }

    pub(super) fn on_resent(&mut self, now: Time) {
        if self.resent_ts == 0 {
            self.resent_ts = timestamp(now);
        }
        if self.before.is_some() {
            self.resent += 1;
            self.unproven += 1;
        }
    }

    /// An acknowledgement newly reports this segment.
    pub(super) fn on_delivered(&mut self, board: &Scoreboard, seq: u32) {
        let was_repeated = board.is_retransmitted(seq);
        self.original |= self.test != Test::None && seq < self.end && !was_repeated;
        self.repeated |= was_repeated;
    }

    /// Whether this acknowledgement shows that the episode was needless; `phase`: what the recovery did until now;
    /// `selective`: the flow uses SACK.
    fn is_spurious(
        &mut self,
        packet: &Packet,
        heard: &AckIn,
        board: &Scoreboard,
        phase: Phase,
        config: &TcpConfig,
        selective: bool,
    ) -> bool {
        let is_linux = config.era == Era::Linux;
        let repeated = std::mem::take(&mut self.repeated);
        let original = std::mem::take(&mut self.original) && (selective || !repeated);
        let mut is_needless = false;
        let echo = packet.timestamps().map_or(0, |clocks| clocks.sender);
        if heard.acked > 0 && phase != Phase::Open && config.eifel && echo != 0 {
            let older = echo.wrapping_sub(self.resent_ts) >= 1 << 31;
            let is_delayed = if self.resent_ts == 0 { is_linux } else { older };
            let partial = phase == Phase::Recovery && board.una() < self.end;
            is_needless = is_delayed && !(is_linux && partial && board.resent_out() > 0);
        }
        if let Some((from, to)) = heard.dsack
            && self.resent > 0
        {
            self.unproven = self.unproven.saturating_sub(to - from);
            is_needless |= self.unproven == 0;
        }
        let advances = heard.acked > 0;
        self.test = match self.test {
            Test::None => Test::None,
            _ if is_linux && original => {
                is_needless = true;
                Test::None
            }
            Test::Resent if advances && board.una() < self.end => Test::SendNew,
            Test::Waiting if is_linux && heard.sacked == 0 && !heard.duplicate => Test::Waiting,
            Test::Resent if is_linux => Test::Resent,
            Test::Waiting if advances && !is_linux => {
                is_needless = true;
                Test::None
            }
            _ => Test::None,
        };
        is_needless
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
        let phase = self.recovery.phase();
        if undo.is_spurious(packet, heard, &self.board, phase, &self.config, self.uses_sack) {
            undo.forget();
            self.drop_reduction();
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
        } else if undo.forget_at.is_some_and(|limit| una >= limit) {
            undo.forget();
        } else if undo.forget_at.is_none() && una >= undo.end {
            undo.forget_at = Some(self.board.nxt());
        }
    }

    /// F-RTO's second step: new segments in place of retransmissions. True if they have left.
    pub(super) fn tests_timeout(&mut self, ctx: &mut EndpointCtx<'_>) -> bool {
        let Some(undo) = &mut self.undo else { return false };
        let is_linux = self.config.era == Era::Linux;
        if undo.test != Test::SendNew {
            return undo.test == Test::Waiting && !is_linux;
        }
        if !self.may_send_new(ctx.now) {
            // @src rfc5682#2.1: without new data the timeout is taken for genuine.
            if let Some(undo) = &mut self.undo {
                undo.test = Test::None;
            }
            return false;
        }
        let mut sent = 0;
        while sent < 2 && self.may_send_new(ctx.now) {
            // @src Linux 6.12, tcp_input.c: `tcp_xmit_recovery`: new data as the window lets it.
            let has_room = f64::from(self.recovery.pipe(&self.board) + 1) <= self.window.cwnd;
            if is_linux && !has_room {
                break;
            }
            self.send_new(ctx);
            sent += 1;
        }
        if let Some(undo) = &mut self.undo {
            undo.test = if sent > 0 { Test::Waiting } else { Test::None };
        }
        sent > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::SentRecord;
    use crate::ids::FlowId;
    use crate::scoreboard::Stamp;
    use crate::wire::{Flags, Timestamps};

    fn stamp(sent_ns: u64) -> Stamp {
        let record = SentRecord {
            sent_at: Time(sent_ns),
            delivered: 0,
            delivered_at: Time::ZERO,
            in_flight: 0,
        };
        Stamp { record, app_limited: false }
    }

    fn config(era: Era) -> TcpConfig {
        TcpConfig { dsack: true, eifel: true, ..TcpConfig::of_era(era) }
    }

    /// Ten sent, a loss answered, 0 and 1 sent again at 100 ms.
    fn episode() -> (Undo, Scoreboard) {
        let mut board = Scoreboard::with_marks();
        for sent_ns in 0..10 {
            board.send_new(&stamp(sent_ns));
        }
        let mut undo = Undo::default();
        let window = Window { cwnd: 10.0, ssthresh: 5.0 };
        board.mark_lost(0);
        board.mark_lost(1);
        undo.on_reduction(Signal::FastRetransmit { lost: 2 }, &window, &board, false);
        for seq in [0, 1] {
            board.send_again(seq, &stamp(100));
            undo.on_resent(Time(100_000_000_000));
        }
        (undo, board)
    }

    fn heard(acked: u32, dsack: Option<SackBlock>) -> AckIn {
        AckIn { acked, dsack, ..AckIn::at(Time::ZERO) }
    }

    fn judge(undo: &mut Undo, ts_ms: u64, heard: &AckIn, board: &Scoreboard, era: Era) -> bool {
        let mut packet = Packet::new(FlowId(0), 0, 52, Flags::ACK);
        let clock = timestamp(Time(ts_ms * 1_000_000_000));
        packet.options.tcp_mut().timestamps = Some(Timestamps { sender: clock, receiver: 0 });
        undo.is_spurious(&packet, heard, board, Phase::Recovery, &config(era), true)
    }

    #[test]
    fn a_block_of_two_reports_both_retransmissions() {
        let (mut undo, board) = episode();
        assert!(judge(&mut undo, 0, &heard(0, Some((0, 2))), &board, Era::Rfc));
        let (mut undo, board) = episode();
        assert!(!judge(&mut undo, 0, &heard(0, Some((0, 1))), &board, Era::Rfc));
    }

    /// The second episode begins with the retransmissions of the first in flight: an ACK of one of them echoes a time before
    /// any retransmission of the second, and proves nothing; nor does one duplicate of two.
    #[test]
    fn what_an_earlier_episode_sent_again_proves_nothing() {
        for era in [Era::Rfc, Era::Linux] {
            let (mut undo, mut board) = episode();
            let window = Window { cwnd: 5.0, ssthresh: 5.0 };
            undo.on_reduction(Signal::FastRetransmit { lost: 1 }, &window, &board, false);
            board.mark_lost(2);
            board.send_again(2, &stamp(150));
            undo.on_resent(Time(150_000_000_000));
            assert!(!judge(&mut undo, 100, &heard(1, None), &board, era), "{era:?}");
            assert!(!judge(&mut undo, 0, &heard(0, Some((2, 3))), &board, era), "{era:?}");
        }
    }

    /// Without one in flight the clock starts anew, and an older echo is a proof.
    #[test]
    fn an_echo_from_before_the_first_retransmission_is_a_proof() {
        let (mut undo, mut board) = episode();
        assert!(judge(&mut undo, 99, &heard(1, None), &board, Era::Rfc));
        let (mut again, _) = episode();
        board.advance(2);
        board.mark_lost(2);
        let window = Window { cwnd: 5.0, ssthresh: 5.0 };
        again.on_reduction(Signal::FastRetransmit { lost: 1 }, &window, &board, false);
        board.send_again(2, &stamp(150));
        again.on_resent(Time(150_000_000_000));
        assert!(judge(&mut again, 120, &heard(1, None), &board, Era::Rfc));
    }

    /// Segments 10 and 11 leave after the first timeout; all up to 12 was then outstanding at the second (RFC 5682, section 3.1,
    /// `recover`), so that the arrival of 11, which was never sent again, shows that it was needless. The episode lasts a
    /// window from there, whatever was noted before.
    #[test]
    fn a_further_timeout_extends_the_episode_to_what_was_outstanding_then() {
        let window = Window { cwnd: 10.0, ssthresh: 5.0 };
        for further in [true, false] {
            let (mut undo, mut board) = episode();
            undo.on_reduction(Signal::Rto { consecutive: 1 }, &window, &board, true);
            for sent_ns in 10..12 {
                board.send_new(&stamp(sent_ns));
            }
            undo.forget_at = Some(10);
            if further {
                undo.on_reduction(Signal::Rto { consecutive: 2 }, &window, &board, true);
            }
            assert_eq!(undo.forget_at, if further { None } else { Some(10) });
            undo.on_delivered(&board, 11);
            assert_eq!(judge(&mut undo, 0, &heard(0, None), &board, Era::Linux), further);
        }
    }

    /// Ten were outstanding at a timeout, and 0 is sent again. The ACK of 0 to 3 shows with SACK that 1 to 3 came by themselves;
    /// without, they may have waited beyond the hole (Linux 6.12, `tcp_clean_rtx_queue`). One of 4 and 5 alone shows it.
    #[test]
    fn without_sack_an_ack_that_covers_a_retransmission_shows_nothing_of_the_others() {
        for selective in [true, false] {
            let mut board = Scoreboard::with_marks();
            for sent_ns in 0..10 {
                board.send_new(&stamp(sent_ns));
            }
            let mut undo = Undo::default();
            let window = Window { cwnd: 10.0, ssthresh: 5.0 };
            undo.on_reduction(Signal::Rto { consecutive: 1 }, &window, &board, true);
            board.mark_lost(0);
            board.send_again(0, &stamp(100));
            undo.on_resent(Time(100_000_000_000));
            let packet = Packet::new(FlowId(0), 0, 52, Flags::ACK);
            let mut shows = |seqs: std::ops::Range<u32>| {
                let heard = heard(seqs.len() as u32, None);
                for seq in seqs {
                    undo.on_delivered(&board, seq);
                }
                let config = config(Era::Linux);
                undo.is_spurious(&packet, &heard, &board, Phase::Loss, &config, selective)
            };
            assert_eq!(shows(0..4), selective);
            assert!(selective || shows(4..6));
        }
    }

    /// Linux 6.12, `tcp_try_undo_partial`: within the episode only with no retransmission in flight.
    #[test]
    fn linux_waits_until_no_retransmission_is_in_flight() {
        let (mut undo, mut board) = episode();
        assert!(!judge(&mut undo, 99, &heard(1, None), &board, Era::Linux));
        board.advance(2);
        assert!(judge(&mut undo, 99, &heard(2, None), &board, Era::Linux));
    }
}
