//! The sending endpoint: ns-2's one-way TCP agent.

use super::departures::Departures;
use super::machine::{AckIn, Machine, Reaction};
use super::newreno::NewReno;
use super::reno::Reno;
use super::sack1::Sack1;
use super::tahoe::Tahoe;
use super::vegas::{Vegas, Within};
use super::{Ns2Options, Variant};
use crate::cc::{CongestionControl, MAX_WINDOW, Window};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::{FlowSample, StateRow, WindowRow};
use crate::tcp::TcpConfig;
use crate::units::{Bytes, Time};
use crate::wire::{Flags, Packet};

/// What a sender is made of.
pub struct Ns2Parts {
    /// Owner.
    pub flow: FlowId,
    /// Settings.
    pub config: TcpConfig,
    /// Further variables of ns-2.
    pub options: Ns2Options,
    /// Which sender.
    pub variant: Variant,
    /// Payload to transfer, in whole packets of one MSS (the last is full too); `None`: endless.
    pub size: Option<Bytes>,
    /// Nothing new is sent after this time.
    pub stop: Option<Time>,
    /// The window rule in congestion avoidance.
    pub cc: Box<dyn CongestionControl>,
}

/// Variables of the agent as ns-2 would trace them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ns2Variables {
    /// Next packet to send.
    pub t_seqno: i64,
    /// Highest packet sent.
    pub maxseq: i64,
    /// Duplicate acknowledgements in a row.
    pub dupacks: u32,
    /// SRTT in eighths of a tick.
    pub srtt_ticks_x8: i32,
    /// RTTVAR in quarters of a tick.
    pub rttvar_ticks_x4: i32,
    /// Last RTT sample in ticks.
    pub rtt_ticks: i32,
    /// Factor of the RTO.
    pub backoff: u32,
}

/// ns-2's sender. A control's pacing rate is ignored: ns-2's senders are clocked by
/// acknowledgements.
pub struct Ns2Sender {
    machine: Machine,
    reaction: Box<dyn Reaction>,
    control_timer: Deadline,
    state: &'static str,
    failure: Option<String>,
}

impl Ns2Sender {
    /// A sender that waits for its start.
    pub fn new(setup: Ns2Parts) -> Self {
        let Ns2Parts { flow, config, options, variant, size, stop, cc } = setup;
        let opens_to = (config.syn && options.delay_growth).then_some(config.initial_window);
        let config = variant.settle(config);
        let receiver_window = config.receiver_window;
        let packets = size.map(|s| s.0.div_ceil(u64::from(config.mss.max(1))).max(1));
        let mut machine = Machine::new(flow, config, options, cc, packets, stop);
        let reaction: Box<dyn Reaction> = match variant {
            Variant::Tahoe => Box::new(Tahoe),
            Variant::Reno => Box::new(Reno),
            Variant::NewReno => Box::new(NewReno::default()),
            Variant::Sack1 => Box::new(Sack1::new()),
            Variant::Vegas(thresholds) => {
                machine.cc = Box::new(Within);
                machine.departures = Departures::new(receiver_window);
                if opens_to.is_some() {
                    machine.window.cwnd = 1.0;
                }
                Box::new(Vegas::new(thresholds, opens_to.map(f64::from)))
            }
        };
        Self { machine, reaction, control_timer: Deadline::NEVER, state: "", failure: None }
    }

    /// The variables as ns-2 names them.
    pub fn variables(&self) -> Ns2Variables {
        let m = &self.machine;
        Ns2Variables {
            t_seqno: m.t_seqno,
            maxseq: m.maxseq,
            dupacks: m.dupacks,
            srtt_ticks_x8: m.clock.srtt8,
            rttvar_ticks_x4: m.clock.rttvar4,
            rtt_ticks: m.clock.sample,
            backoff: m.clock.backoff,
        }
    }

    fn arm_control(&mut self, now: Time) {
        self.control_timer = match self.machine.cc.timer_interval() {
            Some(interval) if self.machine.completed.is_none() => {
                Deadline { at: now + interval, armed: now }
            }
            _ => Deadline::NEVER,
        };
    }

    /// Stops the flow if its control has lost its mind. A window below one packet is ns-2's habit and
    /// no failure.
    #[inline]
    fn check_window(&mut self, now: Time) {
        let Window { cwnd, ssthresh } = self.machine.window;
        // Written so that NaN fails.
        if !(-MAX_WINDOW..=MAX_WINDOW).contains(&cwnd) || ssthresh.is_nan() || ssthresh < 0.0 {
            self.fail(now);
        }
    }

    #[cold]
    fn fail(&mut self, now: Time) {
        let Window { cwnd, ssthresh } = self.machine.window;
        self.failure.get_or_insert_with(|| {
            format!(
                "the congestion control of flow {} set cwnd to {cwnd} and ssthresh to {ssthresh} \
                 packets at {} s; cwnd must be a number up to 2^31 and ssthresh not negative",
                self.machine.flow.0,
                now.seconds()
            )
        });
    }

    fn record(&mut self, ctx: &mut EndpointCtx<'_>) {
        let m = &self.machine;
        ctx.record.note(|| WindowRow {
            at: ctx.now,
            flow: m.flow,
            cwnd: m.window.cwnd,
            ssthresh: m.window.ssthresh,
            in_flight: m.outstanding(),
            acked: (m.highest_ack + 1) as u32,
        });
        self.record_state(ctx);
    }

    fn record_state(&mut self, ctx: &mut EndpointCtx<'_>) {
        if ctx.record.requested.controls() {
            let m = &self.machine;
            ctx.record.probes(ctx.now, m.flow, |out| m.cc.probes(out));
            let state = self.machine.state();
            if state != self.state {
                self.state = state;
                ctx.record.note(|| StateRow { at: ctx.now, flow: self.machine.flow, state });
            }
        }
    }
}

impl Endpoint for Ns2Sender {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.arm_control(ctx.now);
        self.machine.send_much(self.machine.config.max_burst, ctx);
        self.record_state(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        let m = &mut self.machine;
        m.counters.acks_received += 1;
        let clocks = packet.timestamps();
        if let Some(clocks) = clocks {
            m.peer_clock = clocks.receiver;
        }
        let number = i64::from(packet.seq) - 1;
        if m.completed.is_some() || number > m.maxseq {
            return;
        }
        let echo = m.config.ecn && packet.flags.has(Flags::ECE);
        if echo {
            m.on_ecn_echo(number, ctx.now);
        }
        let ts = clocks.map_or(0, |clocks| clocks.sender);
        let ack = AckIn { number, echo, ts, sack: packet.sack_blocks() };
        self.reaction.on_ack(m, &ack, ctx);
        if m.completed.is_some() {
            self.control_timer = Deadline::NEVER;
        }
        self.check_window(ctx.now);
        self.record(ctx);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.control_timer.at <= ctx.now {
            self.machine.cc.on_timer(&mut self.machine.window, ctx.now);
            self.arm_control(ctx.now);
        }
        if self.machine.timer.at <= ctx.now {
            self.reaction.time_out(&mut self.machine, ctx);
            self.record(ctx);
        }
        self.check_window(ctx.now);
    }

    fn deadline(&self) -> Deadline {
        if self.failure.is_some() {
            return Deadline::FAILED;
        }
        let (a, b) = (self.machine.timer, self.control_timer);
        if (b.at, b.armed) < (a.at, a.armed) { b } else { a }
    }

    fn snapshot(&self) -> Snapshot {
        let m = &self.machine;
        let c = &m.counters;
        Snapshot {
            cwnd: m.window.cwnd,
            ssthresh: m.window.ssthresh,
            in_flight: m.outstanding(),
            srtt_s: m.clock.srtt().seconds(),
            rto_s: m.clock.rto().seconds(),
            sent_packets: c.sent_packets,
            sent_bytes: c.sent_bytes,
            retransmits: c.retransmits,
            timeouts: c.timeouts,
            recoveries: c.recoveries,
            ecn_reductions: c.ecn_reductions,
            acks_received: c.acks_received,
            rtt_sum_s: c.rtt_sum.seconds(),
            rtt_count: c.rtt_count,
            rtt_min_s: c.rtt_min.seconds(),
            completed_s: m.completed.map_or(0.0, Time::seconds),
            probes: crate::tcp::probes(m.cc.as_ref()),
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        self.snapshot().sample_sender(row);
    }

    fn failure(&self) -> Option<String> {
        // A control that knows why says it better.
        self.machine.cc.failure().or_else(|| self.failure.clone())
    }
}

#[cfg(test)]
mod tests;
