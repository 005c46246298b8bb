//! Rate samples, for controls that model the path; other senders never come here.

use super::Sender;
use crate::cc::{Ack, EcnCounts, PathReport};
use crate::era::Era;
use crate::recovery::{AckIn, Digest, Phase};
use crate::tcp::Stage;
use crate::units::{Span, Time};
use crate::wire::{Flags, MAX_SACK_BLOCKS, Packet, PathRecords, SackBlock};

impl Sender {
    /// The draft's `CheckIfApplicationLimited`.
    #[inline(never)]
    pub(super) fn check_application_limit(&mut self, now: Time) {
        let unsent = self.transfer.has_more(self.board.nxt(), now);
        let pipe = self.recovery.pipe(&self.board);
        if let Some(sampler) = &mut self.sampler
            && self.stage == Stage::Open
            && !unsent
            && f64::from(pipe) < self.window.cwnd
            && sampler.is_repaired()
        {
            sampler.limit_by_application(pipe);
        }
    }

    /// The application, not the window, holds the flow back.
    #[inline(never)]
    pub(super) fn report_application_limit(&mut self) {
        if self.sampler.is_some() {
            self.cc.on_application_limit();
        }
    }

    /// Before the acknowledgement goes onto the scoreboard.
    #[inline(never)]
    pub(super) fn begin_tracking(&mut self, packet: &Packet, now: Time) {
        if self.sampler.is_some() {
            self.check_application_limit(now);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.begin();
        }
        for seq in self.board.una()..packet.seq {
            if !self.board.is_sacked(seq) {
                self.track_delivery(seq, now);
            }
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.advance(packet.seq);
        }
    }

    /// A segment, new or not, was sent.
    #[inline(never)]
    pub(super) fn track_sent(&mut self, seq: u32, in_flight: u32, again: bool, now: Time) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_sent(seq, now, in_flight, again);
        }
        if self.marks.is_some() {
            self.recovery.on_sent(&self.board, seq, now);
        }
        self.count_reduced();
        if again && let Some(undo) = &mut self.undo {
            undo.on_resent(now);
        }
    }

    fn track_delivery(&mut self, seq: u32, now: Time) {
        if let Some(undo) = &mut self.undo {
            undo.on_delivered(&self.board, seq);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.on_delivered(seq, now);
        }
        if self.marks.is_some() {
            self.recovery.on_delivered(&self.board, seq, now);
        }
    }

    /// Takes the SACK blocks of an acknowledgement in ascending order, as one report; returns how many outstanding
    /// segments they newly report, and when the first of these left that was sent once, if the sender measures each
    /// segment. The latest comes first in the packet (RFC 2018): what an older block reports beside it has not been
    /// overtaken.
    #[inline(never)]
    pub(super) fn track_sacks(&mut self, packet: &Packet, now: Time) -> (u32, Option<Time>) {
        let mut blocks = [(0, 0); MAX_SACK_BLOCKS];
        let count = packet.sack_blocks().len();
        blocks[..count].copy_from_slice(packet.sack_blocks());
        blocks[..count].sort_unstable();
        let (mut sacked, mut first_sent_at) = (0, None);
        for &block in &blocks[..count] {
            let (newly_sacked, sent_at) = self.track_sack(block, now);
            sacked += newly_sacked;
            first_sent_at = first_sent_at.or(sent_at);
        }
        (sacked, first_sent_at)
    }

    /// Takes a SACK block; as [`Self::track_sacks`].
    fn track_sack(&mut self, block: SackBlock, now: Time) -> (u32, Option<Time>) {
        let mut fresh = self.marks.take().unwrap_or_default();
        fresh.clear();
        let count = self.board.sack_each(block, |seq| fresh.push(seq));
        let marks = self.recovery.marks_losses();
        let measures = marks || self.sampler.is_some();
        let sent_once = fresh.iter().find(|&&seq| measures && !self.board.is_retransmitted(seq));
        let sent_at = sent_once.map(|&seq| self.board.sent_at(seq));
        for &seq in &fresh {
            if let Some(sampler) = &mut self.sampler {
                sampler.on_delivered(seq, now);
            }
            if marks {
                self.recovery.on_delivered(&self.board, seq, now);
            }
            if let Some(undo) = &mut self.undo {
                undo.on_delivered(&self.board, seq);
            }
        }
        self.marks = marks.then_some(fresh);
        (count, sent_at)
    }

    /// Takes the measurement of a segment that left once, at `sent_at`, and is newly SACKed: in era linux where the
    /// acknowledgement has no other (`is_clean`), else to end a timeout's backoff. True if it did in era linux.
    pub(super) fn measure_sacked(&mut self, sent_at: Time, is_clean: bool, now: Time) -> bool {
        // @src Linux 6.12, tcp_input.c: `tcp_ack_update_rtt` prefers what is acknowledged, then SACKs, then timestamps.
        let is_linux = self.config.era == Era::Linux;
        let measures = if is_linux { !is_clean } else { self.rto.is_backed_off(&self.config) };
        if measures {
            self.rto.sample(now.since(sent_at), &self.config);
        }
        measures && is_linux
    }

    /// Reports losses and the sample to the control; `before`: what the recovery did until now.
    #[inline(never)]
    pub(super) fn give_sample(
        &mut self,
        packet: &Packet,
        digest: &Digest,
        heard: &AckIn,
        before: Phase,
    ) {
        let now = heard.now;
        let phase = self.recovery.phase();
        self.declare_new_losses(now);
        // Without SACK the scoreboard knows of none: the first outstanding segment of a fast recovery is.
        let repairs = digest.entered.is_some() || heard.acked > 0;
        if !self.uses_sack && repairs && phase == Phase::Recovery && self.board.outstanding() > 0 {
            self.declare_lost(self.board.una(), now);
        }
        if before == Phase::Loss && phase == Phase::Open {
            self.cc.on_recovery_end(&mut self.window, now);
        }
        let flow_min_rtt = self.min_rtt;
        let Some(sampler) = &mut self.sampler else { return };
        let Some(mut sample) = sampler.finish(now, flow_min_rtt) else { return };
        sample.in_recovery = phase != Phase::Open || digest.entered.is_some();
        sample.has_selective_acks = self.uses_sack;
        let pipe = self.recovery.pipe(&self.board);
        let ack = Ack {
            in_flight: pipe,
            min_rtt: if flow_min_rtt == Span::MAX { Span::ZERO } else { flow_min_rtt },
            srtt: self.rto.srtt(),
            round: self.deliveries.round,
            ecn_echo: self.config.ecn && packet.flags.has(Flags::ECE),
            ..Ack::sampled(now, sampler.delivered(), sample)
        };
        self.cc.on_ack(&mut self.window, &ack);
        if self.cc.holds_back()
            && let Some(sampler) = &mut self.sampler
        {
            sampler.limit_by_application(pipe);
        }
        self.check_window(now);
    }

    /// Reports each segment that the recovery has given up since the last call.
    pub(super) fn declare_new_losses(&mut self, now: Time) {
        if self.marks.is_some() {
            let mut i = 0;
            while let Some(&seq) = self.recovery.losses().get(i) {
                self.declare_lost(seq, now);
                i += 1;
            }
            return;
        }
        let noted = self.sampler.as_ref().map_or(0, |sampler| sampler.losses_noted);
        self.declare_losses(noted, now);
    }

    /// Reports each segment at or above `from` that the recovery has given up.
    pub(super) fn declare_losses(&mut self, from: u32, now: Time) {
        let below = self.board.lost_below();
        for seq in from.max(self.board.una())..below {
            if !self.board.is_sacked(seq) {
                self.declare_lost(seq, now);
            }
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.losses_noted = below;
        }
    }

    fn declare_lost(&mut self, seq: u32, now: Time) {
        let selective = self.uses_sack;
        if let Some(sampler) = &mut self.sampler
            && let Some(lost) = sampler.lose(seq, now, selective)
        {
            self.cc.on_lost(&mut self.window, &lost);
        }
    }

    /// Takes AccECN's count of an acknowledgement; new marks are to the rest of the sender what ECE is.
    ///
    /// An ACK that reports nothing new may be an older one that was overtaken, and is not counted.
    #[inline(never)]
    pub(super) fn count_marks(&mut self, packet: &mut Packet, now: Time) {
        let (una, nxt) = (self.board.una(), self.board.nxt());
        let news = packet.seq > una || !packet.sack_blocks().is_empty();
        if self.stage != Stage::Open || packet.flags.has(Flags::SYN) || !news || packet.seq > nxt {
            return;
        }
        let acked = packet.seq.saturating_sub(una);
        let delta = packet.flags.ace().wrapping_sub(self.marks_reported) & 7;
        // @src rfc9768#A.2.1: with more packets than the field can count, as many turns as could be. Those that a
        // SACK block has reported before are not newly acknowledged.
        let fresh = if acked > 7 {
            (una..packet.seq).filter(|&seq| !self.board.is_sacked(seq)).count() as u32
        } else {
            acked
        };
        let marked = if fresh > 7 { delta + (fresh - delta) / 8 * 8 } else { delta };
        self.marks_reported = self.marks_reported.wrapping_add(marked);
        if marked > 0 {
            packet.flags.set(Flags::ECE);
        }
        let counts = EcnCounts { acked, marked, una: packet.seq, nxt, ..EcnCounts::at(now) };
        self.cc.on_ecn_counts(&mut self.window, &counts);
        self.check_window(now);
    }

    /// Reports what switches noted of the segment that an ACK answers: with SACK blocks the last of the first block, which is
    /// the newest (RFC 2018, section 4), else the last in order; or of the one before it that is recorded. A control knows by
    /// the time of a record whether it has read it.
    #[inline(never)]
    pub(super) fn report_path(&mut self, packet: &Packet, ports: &PathRecords, now: Time) {
        let (first, end) = packet.sack_blocks().first().map_or((0, packet.seq), |block| *block);
        let Some(last) = end.checked_sub(1) else { return };
        if let Some(ports) = ports.newest(self.flow, first, last) {
            let report = PathReport { una: self.board.una(), nxt: self.board.nxt(), ports };
            self.cc.on_path_report(&mut self.window, &report);
            self.check_window(now);
        }
    }

    /// Data is about to leave: the control learns of it if the application had none and nothing is in flight.
    #[inline(never)]
    pub(super) fn restart_samples(&mut self, now: Time) {
        let idle = self.sampler.as_ref().is_some_and(|sampler| sampler.is_app_limited());
        if idle && self.may_send_new(now) && self.recovery.pipe(&self.board) == 0 {
            self.cc.on_restart(&mut self.window, now);
        }
    }
}
