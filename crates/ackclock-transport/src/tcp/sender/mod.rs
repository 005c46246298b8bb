//! The sending end of a TCP flow.
//!
//! What: joins a congestion control, a slow start rule and a loss recovery to the clockwork that they
//! share: handshake, acknowledgements, round-trip samples, timers, ECN, pacing.
//!
//! **Source**: RFC 5681, 6298, 6928 (initial window), 7323 (timestamps), 3168 section 6.1.2 (ECN),
//! 9293; the recoveries name their own.
//!
//! **Rule**
//! ```text
//! leaves:   whole segments, while the recovery finds room in cwnd (floor(cwnd) of them) and
//!           nxt - una < receiver window; cwnd is kept in [1, receiver window]
//! linux:    (era) slow start ends at ssthresh, and the control gets the rest of the ACK; samples of the control
//!           are of the newest segment; bursts by `offload`; reductions by `reduction`
//! growth:   slow start while cwnd < ssthresh, else the control; never in fast recovery, nor with the
//!           ACK that begins or ends it, nor with one that ECN answers
//! RTT:      timestamps: every ACK of new data; else an ACK that covers no segment ever retransmitted,
//!           by the newest segment that it covers and no SACK block reported before
//! RTO:      RFC 6298; restarted by new data acknowledged and by a fast retransmit; a second timeout of
//!           one segment holds ssthresh
//! ECN:      ECT on new data only (with `trimming`, and in era linux with a control that needs ECN or with AccECN, on
//!           retransmissions too); one reduction per window, CWR with the next new segment; a loss of
//!           data sent before an ECN reduction does not reduce again; a window of one segment cannot be
//!           reduced: then the retransmission timer is reset and the next segment waits for it; era linux:
//!           two segments are left, and nothing waits
//! idle:     nothing in flight and nothing sent for more than an RTO: cwnd = min(IW, cwnd); era linux: halved for
//!           each RTO, not below min(IW, cwnd), and ssthresh = max(ssthresh, 3/4 cwnd)
//! SYN lost: IW = 1, RTO = 3 s
//! ```
//! Segment i carries bytes `[i mss, (i + 1) mss)`; the last one of a finite transfer may be short.
//! The timestamp clock counts sixteenths of a microsecond and wraps after 268 s.
//!
//! Deviations: no handshake of closing, no zero window, no keep-alive. ECN needs no negotiation.
//!
//! Defaults by era: `TcpConfig`.

mod ack;
mod offload;
mod reduction;
mod samples;
mod send;
mod subflow;
mod timers;
mod undo;

use std::mem::offset_of;
use std::sync::Arc;

use crate::cc::{Congestion, CongestionControl, Signal, Window};
use crate::credits::Spending;
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::era::Era;
use crate::ids::FlowId;
use crate::memory::prefetch;
use crate::record::{FlowSample, WindowRow};
use crate::recovery::{LossRecovery, Phase};
use crate::scoreboard::Scoreboard;
use crate::slow_start::SlowStart;
use crate::tcp::rate::Deliveries;
use crate::tcp::receiver::FIRST_COUNT;
use crate::tcp::sampler::Sampler;
use crate::tcp::{
    MOST_IN_FLIGHT, Rto, Stage, Supply, TcpConfig, Transfer, Watch, earliest, is_window, probes,
};
use crate::units::{Bytes, Span, Time};
use crate::wire::{Flags, Packet};

use reduction::{FLOOR, Reduction};
use undo::Undo;

/// What a sender is made of.
pub struct SenderParts {
    /// Owner.
    pub flow: FlowId,
    /// Settings.
    pub config: Arc<TcpConfig>,
    /// Payload to transfer; `None`: endless.
    pub size: Option<Bytes>,
    /// How the application hands over its data; `None`: all at once.
    pub supply: Option<Arc<Supply>>,
    /// Nothing new is sent after this time.
    pub stop: Option<Time>,
    /// Name of the congestion control, for messages.
    pub control: Arc<str>,
    /// Congestion control.
    pub cc: Box<dyn CongestionControl>,
    /// Loss recovery.
    pub recovery: Box<dyn LossRecovery>,
    /// Slow start rule.
    pub slow_start: Box<dyn SlowStart>,
}

const NEVER_REDUCED: u32 = u32::MAX;

/// The connection request: when it was sent last, and whether that was not the first time.
#[derive(Clone, Copy, Debug)]
struct Request {
    at: Time,
    again: bool,
}

/// What a sender counts with every packet; the rest of a snapshot follows from its state.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent_packets: u64,
    sent_bytes: u64,
    /// Not every packet is one, but every sample reports them.
    retransmits: u64,
    acks_received: u64,
    rtt_sum_s: f64,
    rtt_count: u64,
}

/// What it counts now and then.
#[derive(Clone, Copy, Debug, Default)]
struct RareCounts {
    timeouts: u64,
    recoveries: u64,
    ecn_reductions: u64,
    spurious: u64,
    completed_s: f64,
}

/// The sending end. What no packet changes is shared by the flows that have it in common; what every
/// packet touches comes first, close together: between two packets of a flow come those of all others,
/// and each cache line must be fetched again.
#[repr(C)]
pub struct Sender {
    flow: FlowId,
    stage: Stage,
    uses_sack: bool,
    cwr_pending: bool,
    /// A mark came while the window was one segment: nothing leaves before the retransmission timer.
    held_by_ecn: bool,
    /// There is a sampler, marks, a search for needless repairs, a slow start rule that does more than grow, or what only
    /// Linux does: what most senders have none of is behind this one test.
    tracks: bool,
    /// There is such a rule.
    follows_slow_start: bool,
    sends_ect_1: bool,
    /// Whether its control reads what switches note.
    reads_ports: bool,
    /// Timeouts in a row without new data acknowledged.
    consecutive: u32,
    window: Window,
    board: Scoreboard,
    cc: Box<dyn CongestionControl>,
    recovery: Box<dyn LossRecovery>,
    rto: Rto,
    deliveries: Deliveries,
    /// [`Span::MAX`] before the first sample.
    min_rtt: Span,
    transfer: Transfer,
    /// `nxt` at the last reduction by ECN.
    ecn_reduced_at: u32,
    /// `nxt` at the last reduction of any kind, beyond which alone ECN answers; [`NEVER_REDUCED`] before the first.
    reduced_at: u32,
    last_sent_at: Time,
    config: Arc<TcpConfig>,
    retransmission: Deadline,
    pacing: Deadline,
    tick: Deadline,
    earliest: Deadline,
    count: Counts,
    // So far what every packet touches.
    slow_start: Box<dyn SlowStart>,
    // So far what those of slow start do.
    /// For controls that want rate samples.
    sampler: Option<Box<Sampler>>,
    /// For recoveries that mark losses: segments that the block in hand newly reports.
    marks: Option<Vec<u32>>,
    /// Where the receiver gives credit.
    credit: Option<Box<Spending>>,
    /// Where needless repairs are to be found out.
    undo: Option<Box<Undo>>,
    /// Era linux: how the window is reduced where the recovery marks losses and no model of the path sets it.
    reduction: Option<Box<Reduction>>,
    /// Marked packets reported so far (AccECN's `s.cep`).
    marks_reported: u32,
    /// Losses below this segment have been reported to the slow start rule.
    losses_followed: u32,
    /// The recovery's own timer.
    repair: Deadline,
    rare_count: RareCounts,
    request: Request,
    next_paced: Time,
    /// The next segment leaves whatever the pacer says.
    unpaced: bool,
    /// Era linux: by how much the burst in hand left late, as far as no segment of it has caught up.
    pacing_credit: Span,
    /// F-RTO may test the timeout in hand.
    tests_next_timeout: bool,
    /// The receiver's clock in the newest acknowledgement that had it.
    peer_clock: u32,
    initial_window: u32,
    watch: Watch,
}

impl Sender {
    /// The bytes at its beginning that most packets touch.
    pub const BUSY_BYTES: usize = offset_of!(Self, sampler);

    /// A sender that has not started.
    pub fn new(setup: SenderParts) -> Self {
        let SenderParts { flow, config, size, supply, stop, control, mut cc, recovery, slow_start } =
            setup;
        let transfer = Transfer::new(size, config.mss, supply, stop);
        if let Some(media) = transfer.media() {
            cc.take_media(media);
        }
        let initial_window = config.initial_window.max(1);
        let initial = initial_window.min(config.receiver_window.max(1));
        Self {
            flow,
            stage: Stage::Idle,
            window: Window {
                cwnd: cc.initial_window().unwrap_or(f64::from(initial)),
                ssthresh: config.initial_ssthresh,
            },
            board: if recovery.marks_losses() {
                Scoreboard::with_marks()
            } else {
                Scoreboard::default()
            },
            tracks: config.accecn
                || cc.wants_samples()
                || recovery.marks_losses()
                || slow_start.acts_beyond_growth()
                || config.era == Era::Linux
                || config.offload
                || config.window_autotuning
                || Undo::is_wanted(&config),
            follows_slow_start: slow_start.acts_beyond_growth(),
            losses_followed: 0,
            marks: recovery.marks_losses().then(Vec::new),
            credit: None,
            undo: Undo::is_wanted(&config).then(Box::default),
            reduction: (config.era == Era::Linux && recovery.marks_losses() && !cc.wants_samples())
                .then(Box::default),
            uses_sack: recovery.uses_sack(),
            sends_ect_1: cc.sends_ect_1(),
            reads_ports: cc.reported_packets() > 0,
            sampler: cc.wants_samples().then(Box::default),
            cc,
            recovery,
            slow_start,
            rto: Rto::new(&config),
            deliveries: Deliveries::default(),
            min_rtt: Span::MAX,
            transfer,
            initial_window,
            retransmission: Deadline::NEVER,
            pacing: Deadline::NEVER,
            tick: Deadline::NEVER,
            repair: Deadline::NEVER,
            marks_reported: FIRST_COUNT,
            earliest: Deadline::NEVER,
            consecutive: 0,
            next_paced: Time::ZERO,
            unpaced: false,
            tests_next_timeout: false,
            pacing_credit: Span::ZERO,
            last_sent_at: Time::ZERO,
            peer_clock: 0,
            reduced_at: NEVER_REDUCED,
            ecn_reduced_at: 0,
            cwr_pending: false,
            held_by_ecn: false,
            count: Counts::default(),
            rare_count: RareCounts::default(),
            request: Request { at: Time::ZERO, again: false },
            config,
            watch: Watch::new(control),
        }
    }

    /// The application hands over data up to this segment of the transfer and no more. Without a call
    /// all of it is there from the start.
    pub fn supply_until(&mut self, segment: u32, ctx: &mut EndpointCtx<'_>) {
        if self.sampler.is_some() {
            self.check_application_limit(ctx.now);
        }
        self.transfer.available = segment.min(self.transfer.total);
        if self.stage == Stage::Open {
            self.send(ctx, u32::MAX);
            self.finish_call(ctx);
        }
    }

    /// It sends what this lets it send, besides the window.
    pub fn use_credit(&mut self, credit: Spending) {
        self.credit = Some(Box::new(credit));
        self.tracks = true;
    }

    /// The scoreboard, for checks.
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.board
    }

    /// The smallest round-trip sample; zero before the first.
    #[inline]
    fn min_rtt(&self) -> Span {
        if self.min_rtt == Span::MAX { Span::ZERO } else { self.min_rtt }
    }

    /// Gets the control's answer to `signal`.
    fn reduce(&mut self, signal: Signal, flight: u32, now: Time) {
        let event = Congestion {
            min_rtt: self.min_rtt(),
            srtt: self.rto.srtt(),
            pipe: self.recovery.pipe(&self.board),
            ..Congestion::at(now, signal, flight)
        };
        if let Some(undo) = &mut self.undo {
            let may_test = self.tests_next_timeout && self.config.frto;
            undo.on_reduction(signal, &self.window, &self.board, may_test);
        }
        let before = self.window;
        self.cc.on_congestion(&mut self.window, &event);
        if self.follows_slow_start {
            self.losses_followed = self.board.una();
            self.slow_start.on_congestion(&mut self.window, &event, &before);
        }
        if self.tracks && self.config.era == Era::Linux {
            self.answer_as_linux(signal, &before);
        }
        self.reduced_at = self.board.nxt();
        self.cwr_pending = self.config.ecn;
        self.check_window(now);
    }

    /// What Linux's sender does with any control's answer.
    fn answer_as_linux(&mut self, signal: Signal, before: &Window) {
        match signal {
            // @src Linux 6.12: every `ssthresh` function leaves two segments.
            Signal::EcnEcho => {
                self.window.cwnd = self.window.cwnd.max(FLOOR.min(before.cwnd));
            }
            // @src Linux 6.12, tcp_input.c: `tcp_enter_loss`; what left lately is not taken for lost.
            Signal::Rto { .. } if self.window.cwnd <= 1.0 => {
                self.window.cwnd = f64::from(self.recovery.pipe(&self.board)) + 1.0;
            }
            _ => {}
        }
        self.spread_reduction(signal, before);
    }

    /// Keeps cwnd in bounds and stops a flow whose control has lost its mind.
    #[inline]
    fn check_window(&mut self, now: Time) {
        let cwnd = self.window.cwnd;
        if !is_window(&self.window) {
            self.fail(now);
        }
        self.window.cwnd =
            cwnd.min(f64::from(self.config.receiver_window.clamp(1, MOST_IN_FLIGHT)));
    }

    #[cold]
    fn fail(&mut self, now: Time) {
        self.watch.fail(&self.window, "segments", self.flow, now);
        self.window = Window { cwnd: 1.0, ssthresh: 2.0 };
        self.stage = Stage::Done;
        self.rest();
    }

    /// Nothing more is due.
    fn rest(&mut self) {
        self.retransmission = Deadline::NEVER;
        self.pacing = Deadline::NEVER;
        self.tick = Deadline::NEVER;
        self.repair = Deadline::NEVER;
        self.transfer.end();
    }

    /// Completes what every call must leave behind: the earliest timer and the state's name.
    #[inline(always)]
    fn finish_call(&mut self, ctx: &mut EndpointCtx<'_>) {
        let mut first = self.retransmission;
        // Most senders have none of the others.
        let supply = self.transfer.next();
        if self.tracks {
            first = self.earliest_with_repair(first, ctx.now);
        }
        if self.pacing.at.min(self.tick.at).min(supply.at) != Time::MAX {
            first = earliest(first, [self.pacing, self.tick, supply]);
        }
        // An engine need not query the failure at every call: the deadline shows it.
        // A flow that failed is done: others need not look for a reason, which lies far off.
        let failed = self.stage == Stage::Done && self.watch.has_failed();
        self.earliest = if failed { Deadline::FAILED } else { first };
        if ctx.record.requested.controls() {
            self.record_state(ctx);
        }
    }

    /// The earlier of a deadline and that of the repair timer, which is armed anew.
    #[cold]
    #[inline(never)]
    fn earliest_with_repair(&mut self, earliest: Deadline, now: Time) -> Deadline {
        self.arm_repair_timer(now);
        let repair = self.repair;
        if (repair.at, repair.armed) < (earliest.at, earliest.armed) { repair } else { earliest }
    }

    #[cold]
    #[inline(never)]
    fn record_state(&mut self, ctx: &mut EndpointCtx<'_>) {
        // A control that models the path goes through its own states also in recovery.
        let repair = match self.recovery.phase() {
            _ if self.sampler.is_some() => None,
            Phase::Open => None,
            Phase::Recovery => Some("recovery"),
            Phase::Loss => Some("loss"),
        };
        let state = self.stage.state(repair, self.in_slow_start(), &*self.cc);
        self.watch.record(self.stage, state, self.flow, &*self.cc, ctx);
    }

    #[inline]
    fn in_slow_start(&self) -> bool {
        self.window.cwnd < self.window.ssthresh && self.cc.uses_slow_start()
    }

    #[inline]
    fn record_window(&self, ctx: &mut EndpointCtx<'_>) {
        ctx.record.note(|| WindowRow {
            at: ctx.now,
            flow: self.flow,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight: self.recovery.pipe(&self.board),
            acked: self.board.una(),
        });
    }
}

impl Endpoint for Sender {
    fn is_complete(&self) -> bool {
        self.rare_count.completed_s > 0.0
    }

    fn reported_packets(&self) -> u32 {
        self.cc.reported_packets()
    }

    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.stage != Stage::Idle {
            return;
        }
        self.hand_over(ctx.now);
        if self.config.syn && self.transfer.total > 0 {
            self.stage = Stage::Opening;
            self.send_request(false, ctx);
        } else {
            self.open(ctx);
        }
        self.finish_call(ctx);
    }

    fn on_packet(&mut self, mut packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if !packet.is_ack() {
            return;
        }
        if let Some(clocks) = packet.timestamps() {
            self.peer_clock = clocks.receiver;
        }
        let is_grant = packet.flags.has(Flags::GRANT);
        if self.tracks && self.config.accecn && !packet.flags.has(Flags::NACK) && !is_grant {
            self.count_marks(&mut packet, ctx.now);
        }
        if self.stage == Stage::Open
            && self.tracks
            && let Some(credit) = &mut self.credit
        {
            credit.hear(packet.credit());
        }
        match self.stage {
            Stage::Open if is_grant => self.on_grant(ctx),
            Stage::Open if packet.flags.has(Flags::NACK) => self.on_nack(&packet, ctx),
            Stage::Open if !packet.flags.has(Flags::SYN) => self.on_ack(&packet, ctx),
            Stage::Opening if packet.flags.has(Flags::SYN) => self.on_request_answered(ctx),
            _ => {}
        }
        if self.tracks {
            self.note_answer(ctx.now);
        }
        self.finish_call(ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.run_timers(ctx);
        self.finish_call(ctx);
    }

    #[inline]
    fn deadline(&self) -> Deadline {
        self.earliest
    }

    fn prefetch(&self) {
        self.board.prefetch();
        prefetch(&*self.cc);
        prefetch(&*self.recovery);
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight: self.recovery.pipe(&self.board),
            srtt_s: self.rto.srtt().seconds(),
            rto_s: self.rto.timeout().seconds(),
            rtt_min_s: self.min_rtt().seconds(),
            probes: probes(self.cc.as_ref()),
            sent_packets: self.count.sent_packets,
            sent_bytes: self.count.sent_bytes,
            retransmits: self.count.retransmits,
            timeouts: self.rare_count.timeouts,
            recoveries: self.rare_count.recoveries,
            ecn_reductions: self.rare_count.ecn_reductions,
            spurious: self.rare_count.spurious,
            acks_received: self.count.acks_received,
            rtt_sum_s: self.count.rtt_sum_s,
            rtt_count: self.count.rtt_count,
            completed_s: self.rare_count.completed_s,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.cwnd = self.window.cwnd as f32;
        row.ssthresh = self.window.ssthresh as f32;
        row.in_flight = self.recovery.pipe(&self.board);
        row.srtt_s = self.rto.srtt().seconds() as f32;
        row.sent_packets = self.count.sent_packets;
        row.retransmits = self.count.retransmits as u32;
    }

    fn failure(&self) -> Option<String> {
        self.watch.failure(&*self.cc)
    }
}
