//! RACK-TLP: losses by time instead of by count, and a probe where nothing would reveal them.
//!
//! What: a segment is lost when one that was sent later has been delivered and it is a reordering window late;
//! if acknowledgements stay away, a probe is sent well before the retransmission timer.
//!
//! **Source**: RFC 8985 sections 6 and 7; RFC 9937 (PRR).
//!
//! **Rule** (newest: the segment sent last of all delivered; rtt: its round trip)
//! ```text
//! lost:    sent before newest and now >= sent + rtt + reo_wnd;  else a timer for that time
//! reo_wnd: min(mult min_rtt/4, SRTT); 0 without reordering seen, in recovery or with 3 SACKed; at least that of the option
//! mult:    1; one more per round trip with a DSACK; back to 1 after 16 recoveries without
//! enter:   anything lost has not arrived, sent again or not: recovery until una >= nxt of now; PRR meters it
//! probe:   after 2 SRTT (+ 200 ms with one segment in flight; 1 s without SRTT) outside recovery, with
//!          nothing SACKed: new data, else the highest segment again; one at a time
//! probe acknowledged beyond its end, without DSACK: it repaired a loss, the control is to answer
//! NACK:    its segment is lost, unless it is SACKed or known to be
//! timeout: the first segment is lost, and all for which sent + rtt + reo_wnd has passed, without the option: what it leaves to
//!          the timer is lost when that runs out; the first leaves again whatever the window
//! ```
//! Deviations: the timer of the reordering window is for the earliest segment, not for the latest, so each is
//! declared lost at its own time. The receiver's greatest delay of an ACK is not negotiated, as in the RFC.
//! A recovery may end with segments lost that were sent since it began and whose repairs are under way: the next
//! begins at once, since these are losses of the next window (RFC 5681 section 4.3).
//! Era linux: after a timeout a lost retransmission begins a recovery (Linux 6.12, `tcp_fastretrans_alert`).
//!
//! Defaults by era: the same in all.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prr::Prr;
use super::{AckIn, Digest, Entry, LossRecovery, Next, Offer, Phase, RecoveryEnv};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::scoreboard::{DUP_THRESH, Scoreboard};
use crate::units::{Span, Time};

/// `TLP.max_ack_delay`.
const MAX_ACK_DELAY: Span = Span::from_millis(200);
/// Probe timeout without a round-trip sample.
const FIRST_PROBE: Span = Span::from_millis(1000);
/// `RACK.reo_wnd_persist`: recoveries after which a wider window is given up.
const PERSIST: u32 = 16;

/// Parameters of RACK-TLP.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Tail loss probe (RFC 8985 section 7).
    pub tlp: bool,
    /// Proportional rate reduction (RFC 9937) meters what leaves during recovery; never with a control that
    /// models the path.
    pub prr: bool,
    /// Least reordering window, on paths on which packets always overtake each other; 0: only that of the RFC. A longer one
    /// than the retransmission timer leaves losses to NACKs and the timer.
    pub reo_wnd: Span,
}

impl Default for Params {
    fn default() -> Self {
        Self { tlp: true, prr: true, reo_wnd: Span::ZERO }
    }
}

/// RFC 8985 recovery.
#[derive(Clone, Debug)]
pub struct Rack {
    tlp: bool,
    prr: Option<Box<Prr>>,
    least_reo_wnd: Span,
    phase: Phase,
    recovery_point: u32,
    /// Transmissions in the order of time; those delivered, lost or sent again since are stale.
    sent: VecDeque<(Time, u32)>,
    /// Lost segments in the order in which they were declared, not sent again yet; those after a timeout, of all that is lost
    /// then, in the order of segments.
    repairs: VecDeque<u32>,
    /// The repairs are in the order of segments.
    is_ascending: bool,
    /// Declared lost by the last call.
    lost: Vec<u32>,
    /// The segment sent last of all delivered: when, and its end.
    newest: (Time, u32),
    /// When the segment sent last of those that the acknowledgement in hand reports had left.
    reported: Time,
    rtt: Span,
    /// `RACK.fack`: end of the highest segment delivered.
    fack: u32,
    reordering_seen: bool,
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
    dsack_round: Option<u32>,
    reo_wnd: Span,
    reo_timer: Time,
    probe_timer: Time,
    probe_end: Option<u32>,
    probe_is_retransmission: bool,
    /// The probe leaves with the next call, whatever the window says.
    probe_due: bool,
    /// The first retransmission of a recovery leaves whatever the window says.
    first: bool,
    /// Of those declared lost by the last call one had been sent again.
    lost_again: bool,
    is_linux: bool,
    srtt: Span,
    min_rtt: Span,
}

impl About<RecoveryEnv> for Rack {
    type Params = Params;
    const INFO: Info = Info {
        name: "rack",
        title: "RACK-TLP",
        source: "RFC 8985; RFC 9937",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["rack-tlp"];

    fn new(params: Params, env: &RecoveryEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            tlp: params.tlp,
            prr: params.prr.then(Box::default),
            least_reo_wnd: params.reo_wnd,
            phase: Phase::Open,
            recovery_point: 0,
            sent: VecDeque::new(),
            repairs: VecDeque::new(),
            is_ascending: true,
            lost: Vec::new(),
            newest: (Time::ZERO, 0),
            reported: Time::ZERO,
            rtt: Span::ZERO,
            fack: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
            dsack_round: None,
            reo_wnd: params.reo_wnd,
            reo_timer: Time::MAX,
            probe_timer: Time::MAX,
            probe_end: None,
            probe_is_retransmission: false,
            probe_due: false,
            first: false,
            lost_again: false,
            is_linux: env.era == Era::Linux,
            srtt: Span::ZERO,
            min_rtt: Span::ZERO,
        })
    }
}

impl Rack {
    fn update_reo_wnd(&mut self, board: &Scoreboard, ack: &AckIn, ended: bool) {
        let new_round = self.dsack_round.is_none_or(|end| board.una() >= end);
        if ack.dsack.is_some() && new_round {
            self.dsack_round = Some(board.nxt());
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = PERSIST;
        } else if ended {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
        let eager = self.phase != Phase::Open || board.sacked_count() >= DUP_THRESH;
        self.reo_wnd = if !self.reordering_seen && eager { Span::ZERO } else { self.wide_window() };
        self.reo_wnd = self.reo_wnd.max(self.least_reo_wnd);
    }

    /// The window that reordering makes wider.
    fn wide_window(&self) -> Span {
        Span(self.min_rtt.0 / 4 * u64::from(self.reo_wnd_mult)).min(self.srtt)
    }

    /// `RACK_detect_loss`.
    fn detect_loss(&mut self, board: &mut Scoreboard, now: Time) {
        self.reo_timer = Time::MAX;
        while let Some(&(sent_at, seq)) = self.sent.front() {
            if !is_stale(board, sent_at, seq) {
                if (sent_at, seq + 1) >= self.newest {
                    return;
                }
                let due = sent_at + self.rtt + self.reo_wnd;
                if due > now {
                    self.reo_timer = due;
                    return;
                }
                self.lose(board, seq);
            }
            self.sent.pop_front();
        }
    }

    /// Gathers in `lost`, ascending, what a timeout at `now` shows to be lost; costs no more than it finds.
    fn find_late(&mut self, board: &Scoreboard, now: Time) {
        let wait = self.rtt
            + if self.least_reo_wnd == Span::ZERO { self.reo_wnd } else { self.wide_window() };
        let una = board.una();
        if una < board.nxt() && !board.is_sacked(una) && !board.is_marked_lost(una) {
            self.lost.push(una);
        }
        while let Some(&(sent_at, seq)) = self.sent.front() {
            if !is_stale(board, sent_at, seq) {
                if sent_at + wait > now {
                    break;
                }
                if seq != una {
                    self.lost.push(seq);
                }
            }
            self.sent.pop_front();
        }
        self.lost.sort_unstable();
        // A segment may have been sent twice at one instant.
        self.lost.dedup();
    }

    /// Adds what `lost` has to the repairs, which are then in the order of segments.
    fn add_repairs(&mut self, board: &mut Scoreboard) {
        let first = self.next_repair(board);
        let (is_ascending, highest) = (self.is_ascending, self.lost.last().copied());
        for &seq in &self.lost {
            self.lost_again |= board.is_repaired(seq);
            board.mark_lost(seq);
        }
        if is_ascending && first.is_none_or(|first| highest.is_none_or(|seq| seq < first)) {
            for &seq in self.lost.iter().rev() {
                self.repairs.push_front(seq);
            }
        } else {
            self.repairs.extend(&self.lost);
            self.repairs.make_contiguous().sort_unstable();
            let mut last = None;
            self.repairs.retain(|&seq| {
                last.replace(seq) != Some(seq) && seq >= board.una() && board.is_marked_lost(seq)
            });
        }
        self.is_ascending = true;
    }

    fn forget_losses(&mut self) {
        self.lost.clear();
        self.lost_again = false;
    }

    fn lose(&mut self, board: &mut Scoreboard, seq: u32) {
        self.lost_again |= board.is_repaired(seq);
        board.mark_lost(seq);
        self.lost.push(seq);
        self.is_ascending &= self.repairs.back().is_none_or(|&last| last < seq);
        self.repairs.push_back(seq);
    }

    /// Fast recovery begins if something is lost.
    fn enter_if_lost(&mut self, board: &Scoreboard, ack: &AckIn) -> Digest {
        let enters = match self.phase {
            Phase::Open => board.lost_out() > 0,
            Phase::Recovery => false,
            Phase::Loss => self.is_linux && self.lost_again,
        };
        if !enters {
            return Digest::default();
        }
        self.phase = Phase::Recovery;
        self.recovery_point = board.nxt();
        self.first = true;
        self.probe_timer = Time::MAX;
        if let Some(prr) = &mut self.prr {
            prr.start(board, ack);
        }
        let lost = self.lost.len().max(1) as u32;
        let entry = Entry { lost, flight: board.flight().max(1) };
        Digest { entered: Some(entry), hold_window: true, ..Digest::default() }
    }

    /// `TLP_process_ack`; true if the probe repaired a loss.
    fn process_probe(&mut self, board: &Scoreboard, ack: &AckIn) -> bool {
        let Some(end) = self.probe_end else { return false };
        if board.una() < end {
            return false;
        }
        let over = !self.probe_is_retransmission
            || ack.dsack.is_some()
            || board.una() > end
            || (ack.acked == 0 && ack.sacked == 0);
        if !over {
            return false;
        }
        self.probe_end = None;
        self.probe_is_retransmission && ack.dsack.is_none() && board.una() > end
    }

    fn arm_probe(&mut self, board: &Scoreboard, now: Time) {
        let flight = board.outstanding();
        if !self.tlp || self.phase != Phase::Open || flight == 0 || board.sacked_count() > 0 {
            self.probe_timer = Time::MAX;
            return;
        }
        let wait = if self.srtt == Span::ZERO {
            FIRST_PROBE
        } else if flight == 1 {
            self.srtt * 2 + MAX_ACK_DELAY
        } else {
            self.srtt * 2
        };
        self.probe_timer = now + wait;
    }

    fn next_repair(&mut self, board: &Scoreboard) -> Option<u32> {
        while let Some(&seq) = self.repairs.front() {
            if seq >= board.una() && board.is_marked_lost(seq) {
                return Some(seq);
            }
            self.repairs.pop_front();
        }
        None
    }
}

/// Whether a transmission at `sent_at` is not the last one of its segment, or the segment is known to be delivered or lost.
fn is_stale(board: &Scoreboard, sent_at: Time, seq: u32) -> bool {
    seq < board.una()
        || board.is_sacked(seq)
        || board.is_marked_lost(seq)
        || board.sent_at(seq) != sent_at
}

impl LossRecovery for Rack {
    fn on_delivered(&mut self, board: &Scoreboard, seq: u32, now: Time) {
        let sent_at = board.sent_at(seq);
        let rtt = now.since(sent_at);
        let again = board.is_retransmitted(seq);
        if seq + 1 > self.fack {
            self.fack = seq + 1;
        } else if !again {
            self.reordering_seen = true;
        }
        // A retransmission acknowledged so soon was not needed: it is the original that arrived.
        if again && rtt < self.min_rtt {
            return;
        }
        // Of all that one acknowledgement reports, that sent last.
        if sent_at >= self.reported {
            (self.reported, self.rtt) = (sent_at, rtt);
        }
        self.newest = self.newest.max((sent_at, seq + 1));
    }

    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest {
        self.forget_losses();
        self.reported = Time::ZERO;
        (self.srtt, self.min_rtt) = (ack.srtt, ack.min_rtt);
        let mut digest = Digest::default();
        let over = self.phase != Phase::Open && board.una() >= self.recovery_point;
        if over {
            digest.ended = self.phase == Phase::Recovery;
            digest.hold_window = digest.ended;
            self.phase = Phase::Open;
            self.first = false;
        } else if self.phase == Phase::Recovery {
            digest.hold_window = true;
        }
        self.update_reo_wnd(board, ack, over);
        let repaired = self.process_probe(board, ack);
        self.detect_loss(board, ack.now);
        if self.phase == Phase::Recovery
            && let Some(prr) = &mut self.prr
        {
            prr.on_ack(board, ack);
        }
        let entry = self.enter_if_lost(board, ack);
        if entry.entered.is_some() {
            return Digest { ended: digest.ended, ..entry };
        }
        if repaired && self.phase == Phase::Open {
            digest.entered = Some(Entry { lost: 1, flight: board.flight().max(1) });
        }
        if ack.acked > 0 || ack.sacked > 0 {
            self.arm_probe(board, ack.now);
        }
        digest
    }

    fn on_nack(&mut self, board: &mut Scoreboard, seq: u32, now: Time) -> Digest {
        self.forget_losses();
        if board.is_sacked(seq) || board.is_marked_lost(seq) {
            return Digest::default();
        }
        self.lose(board, seq);
        self.enter_if_lost(board, &AckIn::at(now))
    }

    fn on_rto(&mut self, board: &mut Scoreboard, now: Time) {
        self.forget_losses();
        // Whatever was lost before stays so, and is repaired in order.
        self.find_late(board, now);
        self.add_repairs(board);
        self.phase = Phase::Loss;
        self.recovery_point = board.nxt();
        // @src rfc6298#5 (5.4): the earliest segment is sent again, though others may be in flight still.
        self.first = true;
        self.probe_due = false;
        self.probe_end = None;
        self.probe_timer = Time::MAX;
        self.reo_timer = Time::MAX;
    }

    fn on_timer(&mut self, board: &mut Scoreboard, now: Time) -> Digest {
        self.forget_losses();
        if self.reo_timer <= now {
            self.detect_loss(board, now);
            // @src Linux 6.12, tcp_recovery.c: `tcp_rack_reo_timeout` enters from any state.
            self.lost_again |= self.is_linux && !self.lost.is_empty();
            return self.enter_if_lost(board, &AckIn::at(now));
        }
        // Due, or the retransmission timer is, before which a probe comes.
        if self.probe_timer != Time::MAX {
            self.probe_timer = Time::MAX;
            self.probe_due = self.probe_end.is_none() && board.outstanding() > 0;
        }
        Digest::default()
    }

    fn next(&mut self, board: &mut Scoreboard, offer: &Offer) -> Next {
        if std::mem::take(&mut self.probe_due) {
            self.probe_is_retransmission = !offer.new_data;
            if offer.new_data {
                self.probe_end = Some(board.nxt() + 1);
                return Next::New;
            }
            self.probe_end = Some(board.nxt());
            return board.highest_hole().map_or(Next::Nothing, Next::Retransmit);
        }
        let pipe = board.pipe();
        let repair = self.next_repair(board);
        if std::mem::take(&mut self.first)
            && let Some(seq) = repair
        {
            if self.phase == Phase::Recovery
                && let Some(prr) = &mut self.prr
            {
                prr.meter(pipe, offer.cwnd);
                prr.spend();
            }
            return Next::Retransmit(seq);
        }
        let metered = self.phase == Phase::Recovery && !offer.window_meters;
        let open = match &mut self.prr {
            Some(prr) if metered => prr.meter(pipe, offer.cwnd),
            _ => f64::from(pipe) + 1.0 <= offer.cwnd.max(1.0),
        };
        let next = match repair {
            _ if !open => Next::Nothing,
            Some(seq) => Next::Retransmit(seq),
            None if offer.new_data => Next::New,
            None => Next::Nothing,
        };
        if metered
            && next != Next::Nothing
            && let Some(prr) = &mut self.prr
        {
            prr.spend();
        }
        next
    }

    fn on_sent(&mut self, board: &Scoreboard, seq: u32, now: Time) {
        self.sent.push_back((now, seq));
        // @src rfc8985#7.2: new data, outside recovery and without a probe under way.
        if seq + 1 == board.nxt() && self.probe_end.is_none() {
            self.arm_probe(board, now);
        }
    }

    fn on_spurious(&mut self, board: &mut Scoreboard) {
        board.unmark_lost();
        self.repairs.clear();
        self.is_ascending = true;
        self.phase = Phase::Open;
        self.first = false;
        // What was taken for lost is in flight again.
        self.sent.clear();
        let mut again: Vec<(Time, u32)> = (board.una()..board.nxt())
            .filter(|&seq| !board.is_sacked(seq))
            .map(|seq| (board.sent_at(seq), seq))
            .collect();
        again.sort_unstable();
        self.sent.extend(again);
    }

    fn deadline(&self) -> Time {
        self.reo_timer.min(self.probe_timer)
    }

    fn losses(&self) -> &[u32] {
        &self.lost
    }

    fn marks_losses(&self) -> bool {
        true
    }

    fn pipe(&self, board: &Scoreboard) -> u32 {
        board.pipe()
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn uses_sack(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
