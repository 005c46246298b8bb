//! The sending end of a QUIC flow.
//!
//! What: joins a congestion control and a slow start rule to RFC 9002's loss detection. The rules are in [`super`].

mod ack;
mod send;
mod timers;

use std::sync::Arc;

use super::QuicConfig;
use super::config::MIN_WINDOW;
use super::frames::{FrameSource, FrameStreams};
use super::rtt::Rtt;
use super::sent::{Outage, SentPackets};
use super::stream::SendStream;
use crate::cc::{Congestion, CongestionControl, Signal, Window};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::{FlowSample, WindowRow};
use crate::slow_start::SlowStart;
use crate::tcp::{
    Deliveries, MOST_IN_FLIGHT, Sampler, Stage, Supply, Transfer, Watch, earliest, is_window,
    probes,
};
use crate::units::{Bytes, Span, Time};
use crate::wire::{Flags, MarkCounts, Options, Packet};

/// Requests of a handshake that may be under way.
const REQUESTS: usize = 16;

/// What a sender is made of.
pub struct QuicSenderParts {
    /// Owner.
    pub flow: FlowId,
    /// Settings.
    pub config: Arc<QuicConfig>,
    /// Payload to transfer; `None`: endless.
    pub size: Option<Bytes>,
    /// How the application hands over its data; `None`: all at once.
    pub supply: Option<Arc<Supply>>,
    /// The frames that it makes in place of other data, and when the flow starts.
    pub streams: Option<(FrameStreams, Time)>,
    /// Nothing new is sent after this time.
    pub stop: Option<Time>,
    /// Name of the congestion control, for messages.
    pub control: Arc<str>,
    /// Congestion control.
    pub cc: Box<dyn CongestionControl>,
    /// Slow start rule.
    pub slow_start: Box<dyn SlowStart>,
}

/// What a sender counts; the rest of a snapshot follows from its state.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent_packets: u64,
    sent_bytes: u64,
    retransmits: u64,
    acks_received: u64,
    rtt_sum_s: f64,
    rtt_count: u64,
    rtt_min_s: f64,
    probe_timeouts: u64,
    recoveries: u64,
    ecn_reductions: u64,
    /// Times at which the validation of ECN failed.
    ecn_failures: u64,
    completed_s: f64,
    /// Packets that were acknowledged after they had been declared lost.
    late: u64,
    /// Times at which congestion was persistent.
    outages: u64,
}

/// The sending end.
pub struct QuicSender {
    flow: FlowId,
    stage: Stage,
    config: Arc<QuicConfig>,
    window: Window,
    cc: Box<dyn CongestionControl>,
    slow_start: Box<dyn SlowStart>,
    stream: SendStream,
    sent: SentPackets,
    outage: Outage,
    rtt: Rtt,
    deliveries: Deliveries,
    /// For controls that need rate samples.
    sampler: Option<Box<Sampler>>,
    /// The slow start rule does more than grow the window.
    follows_slow_start: bool,
    sends_ect_1: bool,
    ecn: bool,
    /// Counts of ECN in the newest ACK.
    ecn_counts: MarkCounts,
    /// What was sent up to this time belongs to the present or last recovery period.
    recovery_start: Option<Time>,
    in_recovery: bool,
    /// One packet may leave whatever the window says (RFC 9002 section 7.3.2).
    may_send_one: bool,
    /// Probe timeouts in a row.
    probe_count: u32,
    /// When the probe timer was set last.
    last_sent_at: Time,
    /// When a packet is to be declared lost.
    loss_time: Option<Time>,
    /// The loss or the probe timer.
    recovery_timer: Deadline,
    pacing: Deadline,
    next_paced: Time,
    tick: Deadline,
    earliest: Deadline,
    transfer: Transfer,
    /// The application of a call.
    frames: Option<Box<FrameSource>>,
    /// When each request of the handshake left.
    requests: [Time; REQUESTS],
    requests_sent: u32,
    count: Counts,
    watch: Watch,
}

impl QuicSender {
    /// A sender that has not started.
    pub fn new(setup: QuicSenderParts) -> Self {
        let QuicSenderParts {
            flow,
            config,
            size,
            supply,
            streams,
            stop,
            control,
            mut cc,
            slow_start,
        } = setup;
        let segment = config.segment();
        // What a call has made leaves after its stop, too.
        let until = stop.filter(|_| streams.is_none());
        let frames = streams
            .map(|(streams, start)| Box::new(FrameSource::new(streams, segment, start, stop)));
        let transfer = Transfer::new(size, segment, supply, until);
        if let Some(media) = transfer.media() {
            cc.take_media(media);
        }
        let initial = config.initial_window.max(1).min(config.receiver_window.max(1));
        let cwnd = cc.initial_window().unwrap_or(f64::from(initial)).max(MIN_WINDOW);
        Self {
            flow,
            stage: Stage::Idle,
            window: Window { cwnd, ssthresh: f64::INFINITY },
            sends_ect_1: cc.sends_ect_1(),
            follows_slow_start: slow_start.acts_beyond_growth(),
            sampler: cc.wants_samples().then(Box::default),
            ecn: config.ecn,
            cc,
            slow_start,
            stream: SendStream::default(),
            sent: SentPackets::default(),
            outage: Outage::default(),
            rtt: Rtt::new(&config),
            deliveries: Deliveries::default(),
            ecn_counts: MarkCounts::default(),
            recovery_start: None,
            in_recovery: false,
            may_send_one: false,
            probe_count: 0,
            last_sent_at: Time::ZERO,
            loss_time: None,
            recovery_timer: Deadline::NEVER,
            pacing: Deadline::NEVER,
            next_paced: Time::ZERO,
            tick: Deadline::NEVER,
            earliest: Deadline::NEVER,
            transfer,
            frames,
            requests: [Time::ZERO; REQUESTS],
            requests_sent: 0,
            count: Counts::default(),
            config,
            watch: Watch::new(control),
        }
    }

    /// Packets that were acknowledged after they had been declared lost.
    pub fn late(&self) -> u64 {
        self.count.late
    }

    /// Times at which congestion was found to be persistent.
    pub fn outages(&self) -> u64 {
        self.count.outages
    }

    /// Gets the control's answer to `signal`.
    fn reduce(&mut self, signal: Signal, flight: u32, now: Time) {
        let event = Congestion {
            min_rtt: self.rtt.min(),
            srtt: self.rtt.srtt(),
            pipe: self.sent.in_flight(),
            ..Congestion::at(now, signal, flight)
        };
        let before = self.window;
        self.cc.on_congestion(&mut self.window, &event);
        if self.follows_slow_start {
            self.slow_start.on_congestion(&mut self.window, &event, &before);
        }
        self.check_window(now);
    }

    /// Keeps cwnd in bounds and stops a flow whose control has set what is no window.
    #[inline]
    fn check_window(&mut self, now: Time) {
        if !is_window(&self.window) {
            self.fail(now);
            return;
        }
        // @src rfc9002#7.2: the minimum window is two packets.
        let most = f64::from(self.config.receiver_window.min(MOST_IN_FLIGHT)).max(MIN_WINDOW);
        self.window.cwnd = self.window.cwnd.clamp(MIN_WINDOW, most);
    }

    #[cold]
    fn fail(&mut self, now: Time) {
        self.watch.fail(&self.window, "packets", self.flow, now);
        self.window = Window { cwnd: MIN_WINDOW, ssthresh: MIN_WINDOW };
        self.stage = Stage::Done;
        self.rest();
    }

    /// Nothing more is due.
    fn rest(&mut self) {
        self.recovery_timer = Deadline::NEVER;
        self.loss_time = None;
        self.pacing = Deadline::NEVER;
        self.tick = Deadline::NEVER;
        self.transfer.end();
        self.frames = None;
    }

    /// Whether no new segment will ever be sent.
    fn nothing_left(&self, now: Time) -> bool {
        match &self.frames {
            None => self.transfer.nothing_left(self.stream.nxt(), now),
            Some(frames) => frames.is_over(),
        }
    }

    /// All that was to be sent is acknowledged.
    fn finish(&mut self, now: Time) {
        self.stage = Stage::Done;
        if self.stream.nxt() == self.transfer.total {
            self.count.completed_s = now.seconds();
        }
        self.rest();
        self.stream.release();
        self.sent.release();
        if let Some(sampler) = &mut self.sampler {
            sampler.release();
        }
    }

    fn in_slow_start(&self) -> bool {
        self.window.cwnd < self.window.ssthresh && self.cc.uses_slow_start()
    }

    /// Completes what every call must leave behind: the earliest timer and the state's name.
    fn finish_call(&mut self, ctx: &mut EndpointCtx<'_>) {
        let other_deadlines = [self.pacing, self.tick, self.next_supply()];
        let failed = self.stage == Stage::Done && self.watch.has_failed();
        let first = earliest(self.recovery_timer, other_deadlines);
        self.earliest = if failed { Deadline::FAILED } else { first };
        if ctx.record.requested.controls() {
            self.record_state(ctx);
        }
    }

    #[cold]
    fn record_state(&mut self, ctx: &mut EndpointCtx<'_>) {
        // A control that models the path goes through its own states also in recovery.
        let repair = match self.sampler {
            Some(_) => None,
            None if self.probe_count > 0 => Some("loss"),
            None => self.in_recovery.then_some("recovery"),
        };
        let state = self.stage.state(repair, self.in_slow_start(), &*self.cc);
        self.watch.record(self.stage, state, self.flow, &*self.cc, ctx);
    }

    fn record_window(&self, ctx: &mut EndpointCtx<'_>) {
        ctx.record.note(|| WindowRow {
            at: ctx.now,
            flow: self.flow,
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight: self.sent.in_flight(),
            acked: self.stream.una(),
        });
    }

    /// Takes a round-trip sample; returns it without the receiver's delay.
    fn take_sample(&mut self, latest: Span, delay: Span, ctx: &mut EndpointCtx<'_>) -> Span {
        let rtt = self.rtt.sample(latest, delay, ctx.now);
        let seconds = rtt.seconds();
        self.count.rtt_sum_s += seconds;
        let is_least = self.count.rtt_count == 0 || seconds < self.count.rtt_min_s;
        if is_least {
            self.count.rtt_min_s = seconds;
        }
        self.count.rtt_count += 1;
        ctx.record.rtt(ctx.now, self.flow, rtt);
        rtt
    }
}

impl Endpoint for QuicSender {
    fn is_complete(&self) -> bool {
        self.count.completed_s > 0.0
    }

    fn reported_packets(&self) -> u32 {
        self.cc.reported_packets()
    }

    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.stage != Stage::Idle {
            return;
        }
        self.hand_over(ctx.now);
        if self.config.handshake && self.transfer.total > 0 {
            self.stage = Stage::Opening;
            self.send_request(ctx);
        } else {
            self.open(ctx);
        }
        self.finish_call(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if !packet.is_ack() {
            return;
        }
        let is_answer = packet.flags.has(Flags::SYN);
        match self.stage {
            Stage::Open if packet.flags.has(Flags::FIN) => self.on_stop_sending(&packet, ctx.now),
            Stage::Open => {
                if let Options::QuicAck(frame) = &packet.options {
                    self.on_ack(packet.seq, frame, ctx);
                }
            }
            Stage::Opening if is_answer => self.on_request_answered(&packet, ctx),
            _ => {}
        }
        self.finish_call(ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.run_timers(ctx);
        self.finish_call(ctx);
    }

    fn deadline(&self) -> Deadline {
        self.earliest
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight: self.sent.in_flight(),
            srtt_s: self.rtt.srtt().seconds(),
            rto_s: self.probe_period().seconds(),
            rtt_min_s: self.count.rtt_min_s,
            probes: probes(self.cc.as_ref()),
            sent_packets: self.count.sent_packets,
            sent_bytes: self.count.sent_bytes,
            retransmits: self.count.retransmits,
            timeouts: self.count.probe_timeouts,
            recoveries: self.count.recoveries,
            ecn_reductions: self.count.ecn_reductions,
            ecn_failures: self.count.ecn_failures,
            acks_received: self.count.acks_received,
            rtt_sum_s: self.count.rtt_sum_s,
            rtt_count: self.count.rtt_count,
            completed_s: self.count.completed_s,
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        row.cwnd = self.window.cwnd as f32;
        row.ssthresh = self.window.ssthresh as f32;
        row.in_flight = self.sent.in_flight();
        row.srtt_s = self.rtt.srtt().seconds() as f32;
        row.sent_packets = self.count.sent_packets;
        row.retransmits = self.count.retransmits as u32;
    }

    fn failure(&self) -> Option<String> {
        self.watch.failure(&*self.cc)
    }
}
