//! ROOM: congestion controls. How the window answers acknowledgements and congestion.
//!
//! A control never schedules and never reads a clock: the sender reports what happened and when.
//! Loss recovery (which segments are lost), the window rule (here) and slow start are three axes
//! that a scenario chooses separately.
//!
//! A new control: one file here that implements [`About`](crate::registry::About) and
//! [`CongestionControl`], and one line in the registry at the end of this file.

pub mod coupled;
pub(crate) mod credit;
pub mod delay;
pub mod linear;
pub mod loss;
pub mod mark;
pub mod mixed;
pub mod model;
pub mod none;
pub(crate) mod rounds;
pub mod sample;
pub mod usage;

#[cfg(test)]
mod contract;
#[cfg(any(test, feature = "testing"))]
pub mod test_support;

pub use sample::{Lost, RateSample};

use crate::era::Era;
use crate::rng::Stream;
use crate::units::{BitRate, Span, Time};
use crate::wire::PortRecord;

/// The congestion window, owned by the sender, changed by the control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// cwnd in segments.
    pub cwnd: f64,
    /// ssthresh in segments; infinite until the first congestion.
    pub ssthresh: f64,
}

/// Largest window that a control may set, in segments.
pub const MAX_WINDOW: f64 = 2_147_483_648.0;

/// What a new control knows about its flow.
#[derive(Clone, Copy, Debug)]
pub struct CcEnv {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Bytes on the wire of a full segment.
    pub wire_size: u32,
    /// Rate of the first link of its path.
    pub line_rate: BitRate,
    /// Round trip of a full segment and its acknowledgement over the idle path.
    pub round_trip: Span,
    /// Defaults of this era apply where a parameter is left out.
    pub era: Era,
}

/// What was known when a segment left, returned when it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentRecord {
    /// When it was (last) sent.
    pub sent_at: Time,
    /// Segments delivered so far when it was sent.
    pub delivered: u64,
    /// When the count in `delivered` was last raised.
    pub delivered_at: Time,
    /// Segments in flight just after it was sent.
    pub in_flight: u32,
}

/// An acknowledgement that acknowledges something new outside recovery or advances it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The present.
    pub now: Time,
    /// Segments newly acknowledged (cumulatively) that no SACK block had reported before: when the hole is
    /// filled after a timeout, what waited behind it has long left the network and is no reason to grow.
    pub acked: u32,
    /// Segments in flight after this acknowledgement.
    pub in_flight: u32,
    /// Round-trip sample of this acknowledgement (Karn's rule applied).
    pub rtt: Option<Span>,
    /// Smallest sample so far.
    pub min_rtt: Span,
    /// The sample without the time that the data waited in queues, where packets accumulate that (AQT).
    pub propagation: Option<Span>,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Span,
    /// Count of round trips: rises once per window of data.
    pub round: u64,
    /// The window was not what limited the sender when this data left.
    pub app_limited: bool,
    /// Carries ECN-Echo.
    pub ecn_echo: bool,
    /// Segments delivered in total.
    pub delivered: u64,
    /// Delivery rate over the last round trip in segments per second; 0 before the first sample.
    pub delivery_rate: f64,
    /// Record of the newest segment acknowledged.
    pub newest: SentRecord,
    /// The rate sample, for controls that want it ([`CongestionControl::wants_samples`]).
    pub sample: Option<RateSample>,
}

/// AccECN feedback of one acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnCounts {
    /// The present.
    pub now: Time,
    /// Segments newly acknowledged, cumulatively.
    pub acked: u32,
    /// Packets newly reported as marked CE.
    pub marked: u32,
    /// First segment not acknowledged.
    pub una: u32,
    /// First segment never sent.
    pub nxt: u32,
}

impl EcnCounts {
    /// Feedback of no mark, for controls that are driven by hand.
    pub fn at(now: Time) -> Self {
        Self { now, acked: 0, marked: 0, una: 0, nxt: 0 }
    }
}

/// What the switches of the path noted of a packet that is acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct PathReport<'a> {
    /// First segment not acknowledged.
    pub una: u32,
    /// First segment never sent.
    pub nxt: u32,
    /// The records of the ports that it left, first to last.
    pub ports: &'a [PortRecord],
}

/// The media that a flow carries, as far as a control needs to know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediaSource {
    /// Smallest and largest rate of the encoder, of payload.
    pub min: BitRate,
    /// See `min`.
    pub max: BitRate,
    /// Mean time from a frame to the next, seconds.
    pub period: f64,
}

/// A frame of media that was just put into the sender's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Payload bytes.
    pub bytes: f64,
    /// How long the oldest data in the sender's queue has waited, this frame's included.
    pub waited: Span,
}

/// Why the window must be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signal {
    /// Loss recovery began; `lost` segments are known lost.
    FastRetransmit {
        /// Segments known lost.
        lost: u32,
    },
    /// The retransmission timer expired for the `consecutive`-th time in a row (from 1).
    Rto {
        /// Timeouts in a row.
        consecutive: u32,
    },
    /// ECN-Echo arrived; at most once per window.
    EcnEcho,
    /// The reductions since the last acknowledged loss answered no loss: what was taken for lost has arrived.
    Spurious,
}

/// A congestion event: at most one per window of data, except timeouts.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// The present.
    pub now: Time,
    /// What happened.
    pub signal: Signal,
    /// `FlightSize` in segments when it happened (RFC 5681).
    pub in_flight: u32,
    /// Segments in flight now, without those that are known lost.
    pub pipe: u32,
    /// Smallest round-trip sample so far.
    pub min_rtt: Span,
    /// Smoothed round-trip time.
    pub srtt: Span,
}

impl Ack {
    /// An acknowledgement of `acked` segments at `now` with everything else neutral; for tests and
    /// for controls that are driven by hand.
    pub fn at(now: Time, acked: u32) -> Self {
        let newest = SentRecord {
            sent_at: Time::ZERO,
            delivered: 0,
            delivered_at: Time::ZERO,
            in_flight: 0,
        };
        Self {
            now,
            acked,
            in_flight: 0,
            rtt: None,
            min_rtt: Span::ZERO,
            propagation: None,
            srtt: Span::ZERO,
            round: 0,
            app_limited: false,
            ecn_echo: false,
            delivered: 0,
            delivery_rate: 0.0,
            newest,
            sample: None,
        }
    }

    /// An acknowledgement at `now`, by which `delivered` segments have arrived, with what a rate sample says of
    /// it; the rest is neutral.
    pub fn sampled(now: Time, delivered: u64, sample: RateSample) -> Self {
        Self {
            rtt: sample.rtt,
            app_limited: sample.is_app_limited,
            delivered,
            delivery_rate: sample.delivery_rate,
            newest: SentRecord {
                sent_at: now,
                delivered: sample.prior_delivered,
                delivered_at: sample.prior_time,
                in_flight: sample.tx_in_flight,
            },
            sample: Some(sample),
            ..Self::at(now, sample.newly_acked)
        }
    }
}

impl Congestion {
    /// A congestion event with everything but its signal and flight size neutral.
    pub fn at(now: Time, signal: Signal, in_flight: u32) -> Self {
        Self { now, signal, in_flight, pipe: in_flight, min_rtt: Span::ZERO, srtt: Span::ZERO }
    }
}

/// The pacing rate of a control that computes it in segments a second; none before it has one.
pub(crate) fn pace(segments_per_s: f64, wire_bits: f64) -> Option<BitRate> {
    // Zero would stop the flow for ever.
    (segments_per_s > 0.0).then(|| BitRate(((segments_per_s * wire_bits) as u64).max(1)))
}

/// A window rule.
pub trait CongestionControl: Send {
    /// New data was acknowledged and slow start (if used) did not handle it.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// An acknowledgement that slow start has handled: what a control measures, it measures here too. It may lower
    /// ssthresh to end slow start.
    fn on_slow_start(&mut self, _window: &mut Window, _ack: &Ack) {}
    /// Congestion: sets `cwnd` and `ssthresh`. After a timeout `cwnd` must be the loss window,
    /// 1 segment (RFC 5681 section 3.1) unless the control's source says otherwise.
    fn on_congestion(&mut self, window: &mut Window, event: &Congestion);
    /// Whether the sender takes a rate sample of each packet for this control. Then `on_ack` gets every
    /// acknowledgement that reports a delivery or a loss, also in recovery, with [`Ack::sample`]; `on_lost`
    /// gets every loss; `on_recovery_end` is also called when what a timeout wrote off is repaired; and no
    /// restart window applies after idleness (RFC 5681 section 4.1), as `on_restart` is called instead.
    fn wants_samples(&self) -> bool {
        false
    }
    /// A segment was declared lost.
    fn on_lost(&mut self, _window: &mut Window, _lost: &Lost) {}
    /// Data is about to leave after the application had none and nothing was in flight.
    fn on_restart(&mut self, _window: &mut Window, _now: Time) {}
    /// The control keeps the flow below what the path carries, so samples are to be marked as limited by the
    /// application.
    fn holds_back(&self) -> bool {
        false
    }
    /// Random numbers of this flow's control, before anything else is called.
    fn take_stream(&mut self, _stream: Stream) {}
    /// The subflows of its connection, before anything else is called; only where the flow is one of several.
    fn take_siblings(&mut self, _siblings: coupled::Siblings) {}
    /// Data may flow from now on; `srtt` is that of the handshake, zero without one.
    fn on_start(&mut self, _window: &Window, _now: Time, _srtt: Span) {}
    /// Whether it needs the counts of [`Self::on_ecn_counts`], which AccECN provides.
    fn needs_ecn_counts(&self) -> bool {
        self.counts_marks()
    }
    /// How many packets were acknowledged and how many of them marked; with every ACK of an AccECN flow, before
    /// any other call.
    fn on_ecn_counts(&mut self, _window: &mut Window, _counts: &EcnCounts) {}
    /// Packets in flight, at most, of which it needs what switches note; 0: it reads none of it.
    fn reported_packets(&self) -> u32 {
        0
    }
    /// What switches noted of the packet that an acknowledgement answers, before `on_ack`; only with
    /// [`Self::reported_packets`].
    fn on_path_report(&mut self, _window: &mut Window, _report: &PathReport<'_>) {}
    /// A segment was sent (`in_flight` includes it).
    fn on_sent(&mut self, _now: Time, _in_flight: u32) {}
    /// After the segment sent last the window has room, but nothing is there to send; only with
    /// [`Self::wants_samples`].
    fn on_application_limit(&mut self) {}
    /// The flow carries such media; before anything else is called, and only then.
    fn take_media(&mut self, _media: MediaSource) {}
    /// The encoder has put a frame into the sender's queue.
    fn on_frame(&mut self, _now: Time, _frame: &Frame) {}
    /// Rate of payload that an encoder is to have; `None`: what window and pacing rate carry.
    fn media_rate(&self) -> Option<BitRate> {
        None
    }
    /// Segments of the window that the control begins with, in place of the initial window of its flow.
    fn initial_window(&self) -> Option<f64> {
        None
    }
    /// A loss that was answered turns out to be none ([`Signal::Spurious`]); `before` is the window before the
    /// answer. Unless the control knows better, it gets back what it had (RFC 4015 section 3).
    fn on_spurious(&mut self, window: &mut Window, _event: &Congestion, before: &Window) {
        window.ssthresh = window.ssthresh.max(before.ssthresh);
        window.cwnd = window.cwnd.max(before.cwnd);
    }
    /// Recovery ended; the window is deflated to what `on_congestion` set.
    fn on_recovery_end(&mut self, _window: &mut Window, _now: Time) {}
    /// Interval of [`Self::on_timer`], if wanted.
    fn timer_interval(&self) -> Option<Span> {
        None
    }
    /// The same when a round trip of so long has been measured, for predictions.
    fn interval_after(&self, _round_trip: Span) -> Option<Span> {
        self.timer_interval()
    }
    /// Called every [`Self::timer_interval`] while the flow runs.
    fn on_timer(&mut self, _window: &mut Window, _now: Time) {}
    /// Whether the flow's slow start rule runs while `cwnd < ssthresh`. False: `on_ack` gets all. A control that
    /// [takes samples](Self::wants_samples) has its way to begin, unless it says otherwise.
    fn uses_slow_start(&self) -> bool {
        !self.wants_samples()
    }
    /// Whether data leaves as ECT(1), the identifier of L4S (RFC 9331), where the flow uses ECN.
    fn sends_ect_1(&self) -> bool {
        false
    }
    /// Whether the control answers the counts of [`Self::on_ecn_counts`] itself: [`Self::on_congestion`] reports
    /// no ECN-Echo, and the flow has AccECN whatever `tcp.ecn` and `tcp.accecn` say.
    fn counts_marks(&self) -> bool {
        false
    }
    /// Whether nothing but credit of the receiver holds the flow back: it is refused without.
    fn needs_credit(&self) -> bool {
        false
    }
    /// Rate at which segments may leave; `None`: clocked by acknowledgements.
    fn pacing_rate(&self) -> Option<BitRate> {
        None
    }
    /// Segments that leave together when the pacing rate lets one leave, at least 1.
    fn send_quantum(&self) -> u32 {
        1
    }
    /// Segments by which the flow may catch up at once with its pacing rate, after the window held it back.
    fn burst_budget(&self) -> u32 {
        0
    }
    /// Segments that the control means to keep in queues, if it has such an aim: a buffer that holds
    /// less is reported to the user.
    fn keeps_queued(&self) -> Option<f64> {
        None
    }
    /// What the control is doing, for recording.
    fn phase(&self) -> &'static str {
        "avoidance"
    }
    /// Internal state by name, for recording.
    fn probes(&self, _out: &mut dyn FnMut(&'static str, f64)) {}
    /// Stops the run with this message if the control has failed (used by controls written by users).
    fn failure(&self) -> Option<String> {
        None
    }
}

crate::registry! {
    /// Builds a congestion control by name.
    "congestion control": dyn CongestionControl, CcEnv {
        "cc/linear.rs" => linear::Aimd,
        "cc/linear.rs" => linear::Aiad,
        "cc/linear.rs" => linear::Mimd,
        "cc/linear.rs" => linear::Miad,
        "cc/linear.rs" => linear::Aimad,
        "cc/linear.rs" => linear::Maimd,
        "cc/linear.rs" => linear::General,
        "cc/loss/cubic.rs" => loss::cubic::Cubic,
        "cc/loss/binomial.rs" => loss::binomial::Binomial,
        "cc/loss/binomial.rs" => loss::binomial::Iiad,
        "cc/loss/binomial.rs" => loss::binomial::Sqrt,
        "cc/loss/aild.rs" => loss::aild::Aild,
        "cc/loss/highspeed.rs" => loss::highspeed::HighSpeed,
        "cc/loss/scalable.rs" => loss::scalable::Scalable,
        "cc/loss/htcp.rs" => loss::htcp::Htcp,
        "cc/loss/hybla.rs" => loss::hybla::Hybla,
        "cc/loss/bic.rs" => loss::bic::Bic,
        "cc/loss/rtt_squared.rs" => loss::rtt_squared::RttSquared,
        "cc/mark/decbit.rs" => mark::decbit::Decbit,
        "cc/mark/dctcp.rs" => mark::dctcp::Dctcp,
        "cc/mark/prague.rs" => mark::prague::Prague,
        "cc/mark/dcqcn.rs" => mark::dcqcn::Dcqcn,
        "cc/mark/hpcc.rs" => mark::hpcc::Hpcc,
        "cc/coupled/lia.rs" => coupled::lia::Lia,
        "cc/coupled/olia.rs" => coupled::olia::Olia,
        "cc/coupled/balia.rs" => coupled::balia::Balia,
        "cc/delay/vegas.rs" => delay::vegas::Vegas,
        "cc/delay/fast.rs" => delay::fast::Fast,
        "cc/delay/fast_rate_reduction.rs" => delay::fast_rate_reduction::FastRateReduction,
        "cc/delay/fast_self_tuning.rs" => delay::fast_self_tuning::FastSelfTuning,
        "cc/delay/fast_corrected.rs" => delay::fast_corrected::FastCorrected,
        "cc/delay/ledbat.rs" => delay::ledbat::Ledbat,
        "cc/delay/ledbat_pp.rs" => delay::ledbat_pp::LedbatPlusPlus,
        "cc/delay/lp.rs" => delay::lp::Lp,
        "cc/delay/cdg.rs" => delay::cdg::Cdg,
        "cc/delay/copa.rs" => delay::copa::Copa,
        "cc/delay/nv.rs" => delay::nv::Nv,
        "cc/delay/swift.rs" => delay::swift::Swift,
        "cc/delay/timely.rs" => delay::timely::Timely,
        "cc/mixed/compound.rs" => mixed::compound::Compound,
        "cc/mixed/westwood.rs" => mixed::westwood::Westwood,
        "cc/mixed/illinois.rs" => mixed::illinois::Illinois,
        "cc/mixed/veno.rs" => mixed::veno::Veno,
        "cc/mixed/scream.rs" => mixed::scream::Scream,
        "cc/mixed/nscc.rs" => mixed::nscc::Nscc,
        "cc/mixed/yeah.rs" => mixed::yeah::Yeah,
        "cc/model/bbr.rs" => model::bbr::Bbr,
        "cc/model/bbr3/bbr2.rs" => model::bbr3::bbr2::Bbr2,
        "cc/model/bbr3.rs" => model::bbr3::Bbr3,
        "cc/model/c4.rs" => model::c4::C4,
        "cc/model/c4_02.rs" => model::c4_02::C402,
        "cc/model/vivace.rs" => model::vivace::Vivace,
        "cc/none.rs" => none::NoControl,
    }
}
