//! SACK: conservative loss recovery by selective acknowledgements.
//!
//! What: the scoreboard records which segments have arrived; whatever is lost is sent again while the
//! estimate of what is in flight, `pipe`, leaves room in cwnd.
//!
//! **Source**: RFC 6675 sections 4 and 5 (and 5.1 for what follows a timeout); RFC 2018.
//!
//! **Rule** (`pipe`, IsLost, HighRxt: see `tcp/scoreboard.rs`)
//! ```text
//! enter:   third duplicate with new SACK information, or IsLost(una): RecoveryPoint = nxt, resend una
//! before:  new data while pipe + 1 <= cwnd (limited transmit)
//! within:  while pipe + 1 <= cwnd, NextSeg: (1) lowest lost hole above HighRxt, (2) new data,
//!          (3) lowest hole below the highest SACKed, (4) once, the highest hole if una > RescueRxt + 1
//! leave:   una >= RecoveryPoint
//! timeout: everything unSACKed is lost; holes in order, then new data, while pipe + 1 <= cwnd;
//!          no fast recovery until una >= nxt of that time
//! ```
//! The rescue of rule (4) adds to pipe until the next acknowledgement recomputes it (step C.4).
//!
//! Deviations: none known. RFC 6675 leaves the order after a timeout open; here it is ascending.
//!
//! Defaults by era: the same in all; `prr` is off, as RFC 6675 knows nothing of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prr::Prr;
use super::{AckIn, Digest, Entry, LossRecovery, Next, Offer, Phase, RecoveryEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::scoreboard::{DUP_THRESH, Scoreboard};
use crate::units::Time;

/// Parameters of SACK recovery.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Proportional rate reduction (RFC 9937) meters what leaves during recovery.
    pub prr: bool,
}

/// RFC 6675 recovery.
#[derive(Clone, Debug)]
pub struct Sack {
    phase: Phase,
    dupacks: u32,
    /// Recovery, or what follows a timeout, ends here; no new recovery begins before.
    recovery_point: u32,
    /// The segment of RescueRxt.
    rescue_rxt: u32,
    /// Retransmissions by rule (4) since the last acknowledgement.
    rescued: u32,
    /// New segments sent for duplicates before recovery.
    limited_sent: u32,
    limited_transmit: bool,
    /// The first retransmission of a recovery leaves whatever the window says.
    first: Option<u32>,
    /// Few have one: elsewhere it keeps the rest close together.
    prr: Option<Box<Prr>>,
}

impl About<RecoveryEnv> for Sack {
    type Params = Params;
    const INFO: Info = Info {
        name: "sack",
        title: "SACK",
        source: "RFC 6675; RFC 2018; optional RFC 9937",
        status: Status::Specified,
    };

    fn new(params: Params, env: &RecoveryEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            phase: Phase::Open,
            dupacks: 0,
            recovery_point: 0,
            rescue_rxt: 0,
            rescued: 0,
            limited_sent: 0,
            limited_transmit: env.limited_transmit,
            first: None,
            prr: params.prr.then(Box::default),
        })
    }
}

impl Sack {
    fn enter(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest {
        let flight = board.flight().saturating_sub(self.limited_sent).max(1);
        let una = board.una();
        self.phase = Phase::Recovery;
        self.recovery_point = board.nxt();
        self.rescue_rxt = una;
        // @src rfc6675#5 step 4.3: HighRxt and RescueRxt are the segment retransmitted.
        board.restart_retransmission();
        board.retransmit_hole(una);
        self.first = Some(una);
        if let Some(prr) = &mut self.prr {
            prr.start(board, ack);
        }
        let lost = board.lost().max(1);
        Digest { entered: Some(Entry { lost, flight }), hold_window: true, ..Digest::default() }
    }

    /// RFC 6675's NextSeg.
    fn next_seg(&mut self, board: &mut Scoreboard, new_data: bool) -> Next {
        let sacked_end = board.sacked_end();
        if let Some(seq) = board.next_hole(board.lost_below().min(sacked_end)) {
            board.retransmit_hole(seq);
            return Next::Retransmit(seq);
        }
        if new_data {
            return Next::New;
        }
        if let Some(seq) = board.next_hole(sacked_end) {
            board.retransmit_hole(seq);
            return Next::Retransmit(seq);
        }
        if board.una() > self.rescue_rxt + 1
            && let Some(seq) = board.highest_hole()
        {
            self.rescue_rxt = self.recovery_point - 1;
            self.rescued += 1;
            return Next::Retransmit(seq);
        }
        Next::Nothing
    }
}

impl LossRecovery for Sack {
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest {
        self.rescued = 0;
        if ack.acked > 0 {
            self.dupacks = 0;
            self.limited_sent = 0;
        }
        let mut digest = Digest::default();
        if self.phase != Phase::Open {
            if board.una() < self.recovery_point {
                if self.phase == Phase::Recovery {
                    digest.hold_window = true;
                    if let Some(prr) = &mut self.prr {
                        prr.on_ack(board, ack);
                    }
                }
                return digest;
            }
            digest.ended = self.phase == Phase::Recovery;
            digest.hold_window = digest.ended;
            self.phase = Phase::Open;
            self.first = None;
        }
        if ack.sacked == 0 {
            return digest;
        }
        self.dupacks += 1;
        if self.dupacks >= DUP_THRESH || board.is_lost(board.una()) {
            return Digest { ended: digest.ended, ..self.enter(board, ack) };
        }
        // @src rfc6675#5 step 3.1
        board.restart_retransmission();
        digest
    }

    fn on_rto(&mut self, board: &mut Scoreboard, _now: Time) {
        board.lose_all();
        self.phase = Phase::Loss;
        self.recovery_point = board.nxt();
        self.dupacks = 0;
        self.limited_sent = 0;
        self.rescued = 0;
        self.first = None;
    }

    fn next(&mut self, board: &mut Scoreboard, offer: &Offer) -> Next {
        // The pacer may have held it until it was acknowledged.
        if let Some(seq) = self.first.take().filter(|&seq| seq == board.una()) {
            if let Some(prr) = &mut self.prr {
                // SetPipe counts the segment already; the meter works from what was there before.
                prr.meter(board.pipe() - 1, offer.cwnd);
                prr.spend();
            }
            return Next::Retransmit(seq);
        }
        let pipe = self.pipe(board);
        match self.phase {
            Phase::Recovery => {
                let open = match &mut self.prr {
                    Some(prr) => prr.meter(pipe, offer.cwnd),
                    None => f64::from(pipe) + 1.0 <= offer.cwnd,
                };
                if !open {
                    return Next::Nothing;
                }
                let next = self.next_seg(board, offer.new_data);
                if next != Next::Nothing
                    && let Some(prr) = &mut self.prr
                {
                    prr.spend();
                }
                next
            }
            Phase::Loss => {
                if f64::from(pipe) + 1.0 > offer.cwnd.max(1.0) {
                    return Next::Nothing;
                }
                if let Some(seq) = board.next_hole(board.lost_below()) {
                    board.retransmit_hole(seq);
                    return Next::Retransmit(seq);
                }
                if offer.new_data { Next::New } else { Next::Nothing }
            }
            Phase::Open => {
                let counted = if self.limited_transmit { pipe } else { board.outstanding() };
                if !offer.new_data || f64::from(counted) + 1.0 > offer.cwnd {
                    return Next::Nothing;
                }
                self.limited_sent += u32::from(self.dupacks > 0);
                Next::New
            }
        }
    }

    fn on_spurious(&mut self, board: &mut Scoreboard) {
        board.resume();
        self.phase = Phase::Open;
        self.dupacks = 0;
        self.rescued = 0;
        self.first = None;
    }

    fn pipe(&self, board: &Scoreboard) -> u32 {
        board.pipe() + self.rescued
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn uses_sack(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;
    use crate::era::Era;

    /// Ten sent (0..10), 0 and 3 lost, cwnd 10 -> 5.
    #[test]
    fn the_rules_of_next_seg_one_by_one() {
        let mut bench = Bench::new("sack");
        bench.send(10);
        bench.sack(1, 2);
        assert_eq!(bench.send_allowed(10.0), [Next::New]); // limited transmit: 10
        bench.sack(2, 3);
        assert_eq!(bench.send_allowed(10.0), [Next::New]); // 11
        let digest = bench.sack(4, 5);
        assert!(digest.hold_window);
        let entry = digest.entered.unwrap();
        // Twelve outstanding, two of them limited transmit. 0 is lost: three SACKed above it.
        assert_eq!((entry.lost, entry.flight), (1, 10));
        // Step 4.3: 0 leaves at once. pipe = {3, 5..12} + the retransmission = 9.
        assert_eq!(bench.send_allowed(5.0), [Next::Retransmit(0)]);
        assert_eq!(bench.pipe(), 9);
        // 5, 6: now 3 has three above it and leaves the pipe: {7..12} + 1 = 6.
        bench.sack(5, 7);
        assert_eq!(bench.pipe(), 6);
        assert_eq!(bench.send_allowed(5.0), []);
        bench.sack(7, 9);
        // {9, 10, 11} + 1 = 4: rule (1) sends 3, the lost hole above HighRxt.
        assert_eq!(bench.pipe(), 4);
        assert_eq!(bench.send_allowed(5.0), [Next::Retransmit(3)]);
        // 9 arrives: pipe 4, no lost hole left: rule (2), new data (12).
        bench.sack(9, 10);
        assert_eq!(bench.send_allowed(5.0), [Next::New]);
        // 11 arrives without 10; without new data rule (3) takes 10 though it is not lost.
        bench.sack(11, 12);
        assert!(!bench.board().is_lost(10));
        assert_eq!(bench.allowed_without_data(5.0), [Next::Retransmit(10)]);
    }

    /// Rule (4): 0..6 sent, 0 and the last two lost. 0 is repaired; nothing reports 4 and 5.
    #[test]
    fn the_rescue_sends_the_highest_hole_once() {
        let mut bench = Bench::new("sack");
        bench.send(6);
        bench.sack(1, 2);
        bench.sack(2, 3);
        assert!(bench.sack(3, 4).entered.is_some());
        assert_eq!(bench.allowed_without_data(3.0), [Next::Retransmit(0)]);
        // HighACK = 0 = RescueRxt after the retransmission would not do; here it is 3.
        bench.ack(4);
        assert_eq!(bench.pipe(), 2);
        assert_eq!(bench.allowed_without_data(3.0), [Next::Retransmit(5)]);
        assert_eq!(bench.pipe(), 3);
        // One rescue per recovery, even with room.
        bench.ack(5);
        // SetPipe forgets the rescue: only the first transmission of 5 is counted.
        assert_eq!(bench.pipe(), 1);
        assert_eq!(bench.allowed_without_data(3.0), []);
    }

    /// 0 and 1 lost, and the last: an acknowledgement of 0 alone is no more than RescueRxt.
    #[test]
    fn no_rescue_before_more_than_the_first_retransmission_is_acknowledged() {
        let mut bench = Bench::new("sack");
        bench.send(6);
        assert!(bench.sack(2, 5).entered.is_some());
        assert_eq!(bench.allowed_without_data(1.0), [Next::Retransmit(0)]);
        bench.ack(1);
        assert_eq!(bench.allowed_without_data(9.0), [Next::Retransmit(1)]);
        bench.ack(5);
        assert_eq!(bench.allowed_without_data(9.0), [Next::Retransmit(5)]);
    }

    /// Rule (1.b): a lost segment with nothing SACKed above it is not yet retransmitted by rule (1). What a
    /// timeout gave up, but was not below the highest SACKed segment, leaves by rule (3) at most.
    #[test]
    fn rule_1_takes_no_hole_above_the_highest_sacked_segment() {
        let mut board = Scoreboard::default();
        let mut sack =
            Sack::new(Params::default(), &RecoveryEnv { limited_transmit: true, era: Era::Rfc })
                .unwrap();
        let stamp = crate::scoreboard::Stamp {
            record: crate::cc::SentRecord {
                sent_at: Time::ZERO,
                delivered: 0,
                delivered_at: Time::ZERO,
                in_flight: 0,
            },
            app_limited: false,
        };
        for _ in 0..6 {
            board.send_new(&stamp);
        }
        board.lose_all();
        board.sack((1, 2));
        // Lost: 0 and 2 to 5. Below the highest SACKed segment lies 0 alone; then new data.
        assert_eq!(sack.next_seg(&mut board, true), Next::Retransmit(0));
        assert_eq!(sack.next_seg(&mut board, true), Next::New);
    }

    #[test]
    fn one_block_of_three_segments_enters_without_three_duplicates() {
        let mut bench = Bench::new("sack");
        bench.send(6);
        assert!(bench.sack(1, 4).entered.is_some());
    }

    /// RFC 6675 section 5: a cumulative acknowledgement sets `DupAcks` to 0.
    #[test]
    fn new_data_begins_the_count_of_duplicates_anew() {
        let mut bench = Bench::new("sack");
        bench.send(10);
        bench.sack(1, 2);
        bench.sack(2, 3);
        bench.ack(3);
        assert!(bench.sack(4, 5).entered.is_none());
        assert!(bench.sack(5, 6).entered.is_none());
        assert!(bench.sack(6, 7).entered.is_some());
    }

    #[test]
    fn duplicates_without_new_information_do_not_count() {
        let mut bench = Bench::new("sack");
        bench.send(6);
        bench.sack(1, 2);
        for _ in 0..4 {
            assert_eq!(bench.sack(1, 2).entered, None);
        }
    }

    #[test]
    fn after_a_timeout_holes_are_filled_and_sacked_segments_are_not_sent_again() {
        let mut bench = Bench::new("sack");
        bench.send(6);
        bench.sack(1, 2);
        bench.sack(3, 4);
        bench.rto();
        assert_eq!(bench.phase(), Phase::Loss);
        assert_eq!(bench.send_allowed(1.0), [Next::Retransmit(0)]);
        bench.ack(2);
        assert_eq!(bench.send_allowed(2.0), [Next::Retransmit(2), Next::Retransmit(4)]);
        bench.ack(5);
        assert_eq!(bench.send_allowed(3.0), [Next::Retransmit(5), Next::New, Next::New]);
        // RecoveryPoint is 6: until then no fast recovery.
        assert_eq!(bench.sack(6, 8).entered, None);
        bench.ack(8);
        assert_eq!(bench.phase(), Phase::Open);
    }
}
