//! A controller behind s2n-quic's trait, driven by a sender of ours.
//!
//! What: reports to the controller what s2n-quic's recovery manager would, in the same order as far as our sender
//! knows it, and gives the sender its window and its pacing.
//!
//! **Source**: crates `s2n-quic-core` (trait `recovery::CongestionController`) and `s2n-quic-transport`
//! (`recovery/manager.rs`: who calls it, when); RFC 9002.
//!
//! **Rule**
//! ```text
//! a packet counts as a datagram of its size on the wire less 28 bytes of IPv4 and UDP, a short one as a full one
//! sent        reported when it is known whether the application had more: with the next event of the flow
//! acknowledged   RTT sample, then the bytes, with what the controller noted of the newest packet
//! lost        each packet by itself; all that a TCP timeout gives up is persistent congestion
//! handshake   one datagram, sent and acknowledged before data flow
//! pacing      the rate and the burst that the controller publishes; none below a smoothed RTT of 2 ms, as in s2n
//! time        whole microseconds
//! ```
//! Deviations: the losses of an acknowledgement precede its RTT sample. The peer's delay of acknowledgements is not
//! taken out of the smoothed RTT. Bursts begin when the sender's pacer lets one leave, not at
//! `earliest_departure_time`. Of a TCP flow, what was sent again without having been declared lost is discarded as with
//! a packet number space, and without SACK so is what duplicate acknowledgements report.

use std::collections::VecDeque;
use std::time::Duration;

use ackclock_core::cc::{
    Ack, CcEnv, Congestion, CongestionControl, EcnCounts, Lost, RateSample, Signal, Window,
};
use ackclock_core::rng::{Purpose, Stream};
use ackclock_core::units::{BitRate, Span, Time};
use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample as TheirSample};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::{CongestionController, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};

/// Bytes of IPv4 and UDP headers.
const BELOW: u32 = 28;
/// Below this smoothed RTT s2n does not pace (`MINIMUM_PACING_RTT`).
const PACED_FROM: Duration = Duration::from_millis(2);
/// Packets of a burst before the controller publishes another (`MAX_BURST_PACKETS`).
const FIRST_BURST: u32 = 10;
/// No pacing.
const UNPACED: BitRate = BitRate(u64::MAX);
/// Packets that are remembered at least, and how many times those in flight.
const LEAST_REMEMBERED: usize = 64;
const REMEMBERED: usize = 4;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent<I> {
    at: Time,
    /// Packets in flight just after it left: tells packets apart that left together.
    in_flight: u32,
    info: I,
}

/// The controller's random numbers: those of the flow.
struct Bits(Stream);

impl Generator for Bits {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        for chunk in dest.chunks_mut(8) {
            let bits = self.0.bits().to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        self.public_random_fill(dest);
    }
}

/// What the controller publishes.
#[derive(Debug)]
struct Published {
    /// Bits on the wire for each byte that the controller counts.
    bits_per_byte: f64,
    datagram: u32,
    rate: BitRate,
    burst: u32,
    phase: &'static str,
}

impl Publisher for Published {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {
        if self.phase == "slow-start" {
            self.phase = "avoidance";
        }
    }

    fn on_delivery_rate_sampled(&mut self, _: TheirSample) {}

    fn on_pacing_rate_updated(&mut self, rate: Bandwidth, burst_size: u32, _: Ratio<u64>) {
        let bits = rate.as_bytes_per_second() as f64 * self.bits_per_byte;
        self.rate = BitRate((bits as u64).max(1));
        self.burst = (burst_size / self.datagram).max(1);
    }

    fn on_bbr_state_changed(&mut self, state: BbrState) {
        self.phase = match state {
            BbrState::Startup => "startup",
            BbrState::Drain => "drain",
            BbrState::ProbeBwDown => "probe-bw-down",
            BbrState::ProbeBwCruise => "probe-bw-cruise",
            BbrState::ProbeBwRefill => "probe-bw-refill",
            BbrState::ProbeBwUp => "probe-bw-up",
            BbrState::ProbeRtt => "probe-rtt",
        };
    }
}

/// A control of ours that is a controller of s2n's trait.
pub struct Driven<C: CongestionController> {
    controller: C,
    datagram: u32,
    rtt: RttEstimator,
    random: Bits,
    published: Published,
    /// Packets in the order in which they left, the newest last.
    sent: VecDeque<Sent<C::PacketInfo>>,
    /// Packets that left before the first of `sent`.
    forgotten: u64,
    most_in_flight: usize,
    /// The packet sent last, until it is known whether the application had more.
    held: Option<(Time, u32)>,
    /// Packets that the controller has in flight.
    outstanding: u32,
    /// The packet lost last, by its place among all that were sent, and when that was noticed.
    last_lost: Option<(Time, u64)>,
    /// What is declared lost now was given up by a timeout.
    after_timeout: bool,
    /// When a loss was persistent congestion.
    collapsed_at: Option<Time>,
    /// When marks were reported.
    marked_at: Option<Time>,
    in_recovery: bool,
}

fn stamp(time: Time) -> Timestamp {
    NoopClock.get_time() + Duration::from_micros(time.0 / 1_000_000)
}

impl<C: CongestionController> Driven<C> {
    /// A control with the controller that `make` gives for datagrams of so many bytes. `phase` is the name of its first
    /// state: "slow-start", or that of a controller that publishes states of its own.
    pub fn of(make: impl FnOnce(u16) -> C, env: &CcEnv, phase: &'static str) -> Self {
        let datagram = env.wire_size.saturating_sub(BELOW).clamp(1, u32::from(u16::MAX));
        Self {
            controller: make(datagram as u16),
            datagram,
            rtt: RttEstimator::default(),
            random: Bits(Stream::new(0, Purpose::Control, 0)),
            published: Published {
                bits_per_byte: 8.0 * f64::from(env.wire_size) / f64::from(datagram),
                datagram,
                rate: UNPACED,
                burst: FIRST_BURST,
                phase,
            },
            sent: VecDeque::new(),
            forgotten: 0,
            most_in_flight: 0,
            held: None,
            outstanding: 0,
            last_lost: None,
            after_timeout: false,
            collapsed_at: None,
            marked_at: None,
            in_recovery: false,
        }
    }

    /// The controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    fn bytes(&self, packets: u32) -> usize {
        packets as usize * self.datagram as usize
    }

    fn window(&self) -> f64 {
        f64::from(self.controller.congestion_window()) / f64::from(self.datagram)
    }

    /// Reports the packet sent last.
    fn report_sent(&mut self, is_app_limited: bool) {
        let Some((sent_at, in_flight)) = self.held.take() else { return };
        let info = self.controller.on_packet_sent(
            stamp(sent_at),
            self.datagram as usize,
            Some(is_app_limited),
            &self.rtt,
            &mut self.published,
        );
        self.sent.push_back(Sent { at: sent_at, in_flight, info });
        self.outstanding += 1;
        self.most_in_flight = self.most_in_flight.max(self.outstanding as usize);
        if self.sent.len() > (REMEMBERED * self.most_in_flight).max(LEAST_REMEMBERED) {
            self.sent.pop_front();
            self.forgotten += 1;
        }
    }

    /// The place of a packet among those remembered.
    fn find(&self, sent_at: Time, in_flight: u32) -> Option<usize> {
        let first = self.sent.partition_point(|sent| sent.at < sent_at);
        let together = self.sent.range(first..).take_while(|sent| sent.at == sent_at);
        together.enumerate().find(|(_, sent)| sent.in_flight == in_flight).map(|(i, _)| first + i)
    }

    /// Takes an RTT sample of a packet that left then.
    fn sample_rtt(&mut self, sent_at: Time, now: Time) {
        let (sent_at, now) = (stamp(sent_at), stamp(now));
        let space = PacketNumberSpace::ApplicationData;
        self.rtt.update_rtt(Duration::ZERO, now - sent_at, now, true, space);
        self.controller.on_rtt_update(sent_at, now, &self.rtt, &mut self.published);
    }

    /// Reports delivered packets of which the sender has `in_flight` left. Of a TCP flow, what arrives although it had
    /// been declared lost is reported, too; the controller has it in flight no more.
    fn deliver(&mut self, sample: &RateSample, in_flight: u32, now: Time) {
        let acked = sample.newly_acked.min(self.outstanding.saturating_sub(in_flight));
        if acked == 0 {
            return;
        }
        self.outstanding -= acked;
        let bytes = self.bytes(acked);
        let Some(newest) = self.find(sample.sent_at, sample.tx_in_flight) else {
            self.controller.on_packet_discarded(bytes, &mut self.published);
            return;
        };
        let Sent { at: sent_at, info, .. } = self.sent[newest];
        self.controller.on_ack(
            stamp(sent_at),
            bytes,
            info,
            &self.rtt,
            &mut self.random,
            stamp(now),
            &mut self.published,
        );
    }

    /// Discards what the sender no longer has in flight though nobody reported it.
    fn discard(&mut self, in_flight: u32) {
        let excess = self.outstanding.saturating_sub(in_flight);
        if excess > 0 {
            self.outstanding -= excess;
            self.controller.on_packet_discarded(self.bytes(excess), &mut self.published);
        }
    }
}

impl<C: CongestionController> CongestionControl for Driven<C> {
    fn on_start(&mut self, _: &Window, now: Time, srtt: Span) {
        if srtt == Span::ZERO {
            return;
        }
        let sent_at = now - srtt;
        let size = self.datagram as usize;
        let their = stamp(sent_at);
        let info =
            self.controller.on_packet_sent(their, size, None, &self.rtt, &mut self.published);
        self.sample_rtt(sent_at, now);
        self.controller.on_ack(
            their,
            size,
            info,
            &self.rtt,
            &mut self.random,
            stamp(now),
            &mut self.published,
        );
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.report_sent(false);
        self.after_timeout = false;
        let Some(sample) = &ack.sample else { return };
        self.in_recovery = sample.in_recovery;
        if let Some(rtt) = sample.rtt {
            self.sample_rtt(ack.now - rtt, ack.now);
        }
        if sample.has_data {
            self.deliver(sample, ack.in_flight, ack.now);
        }
        self.discard(ack.in_flight);
        window.cwnd = self.window();
    }

    fn on_lost(&mut self, window: &mut Window, lost: &Lost) {
        self.report_sent(false);
        if self.outstanding == 0 {
            return;
        }
        self.outstanding -= 1;
        let Some(index) = self.find(lost.sent_at, lost.tx_in_flight) else {
            self.controller.on_packet_discarded(self.datagram as usize, &mut self.published);
            return;
        };
        let number = self.forgotten + index as u64;
        let continues =
            self.last_lost.is_some_and(|last| last == (lost.now, number.wrapping_sub(1)));
        self.last_lost = Some((lost.now, number));
        let is_persistent = lost.persistent || self.after_timeout;
        self.controller.on_packet_lost(
            self.datagram,
            self.sent[index].info,
            is_persistent,
            !continues,
            &mut self.random,
            stamp(lost.now),
            &mut self.published,
        );
        if is_persistent {
            self.collapsed_at = Some(lost.now);
            self.rtt.on_persistent_congestion();
            if self.published.phase == "avoidance" {
                self.published.phase = "slow-start";
            }
        }
        window.cwnd = self.window();
        window.ssthresh = window.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.report_sent(false);
        match event.signal {
            // Losses are reported one by one; QUIC's persistent congestion was with them.
            Signal::Rto { .. } if self.collapsed_at != Some(event.now) => self.after_timeout = true,
            Signal::EcnEcho if self.marked_at != Some(event.now) => {
                self.controller.on_explicit_congestion(1, stamp(event.now), &mut self.published);
            }
            _ => {}
        }
        window.cwnd = self.window();
    }

    fn on_ecn_counts(&mut self, window: &mut Window, counts: &EcnCounts) {
        if counts.marked == 0 {
            return;
        }
        self.report_sent(false);
        self.marked_at = Some(counts.now);
        let marked = u64::from(counts.marked);
        self.controller.on_explicit_congestion(marked, stamp(counts.now), &mut self.published);
        window.cwnd = self.window();
    }

    fn on_spurious(&mut self, window: &mut Window, _: &Congestion, _: &Window) {
        window.cwnd = self.window();
    }

    fn on_sent(&mut self, now: Time, in_flight: u32) {
        self.report_sent(false);
        self.held = Some((now, in_flight));
    }

    fn on_application_limit(&mut self) {
        self.report_sent(true);
    }

    fn take_stream(&mut self, stream: Stream) {
        self.random = Bits(stream);
    }

    fn initial_window(&self) -> Option<f64> {
        Some(self.window())
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        let paces = self.rtt.smoothed_rtt() >= PACED_FROM;
        Some(if paces { self.published.rate } else { UNPACED })
    }

    fn send_quantum(&self) -> u32 {
        self.published.burst
    }

    fn phase(&self) -> &'static str {
        match self.published.phase {
            "avoidance" if self.in_recovery => "recovery",
            phase => phase,
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let unreported = u32::from(self.held.is_some());
        out("packets_in_flight", f64::from(self.outstanding + unreported));
        out("bytes_in_flight", f64::from(self.controller.bytes_in_flight()));
        if self.published.rate != UNPACED {
            out("pacing_rate_bps", self.published.rate.bps());
        }
        out("smoothed_rtt_s", self.rtt.smoothed_rtt().as_secs_f64());
        out("min_rtt_s", self.rtt.min_rtt().as_secs_f64());
    }
}
