//! TFRC: sends at the rate that TCP would have at the loss event rate that the receiver measures.
//!
//! The rate follows from the average of the last eight loss intervals, so that it changes less than TCP's.
//! The receiver reports once per round trip, and at once when it sees a new loss event.
//!
//! **Source**: S. Floyd, M. Handley, J. Padhye, J. Widmer, "TCP Friendly Rate Control (TFRC): Protocol
//! Specification", RFC 5348, sections 3.1, 4.2 to 4.4, 5, 6.
//!
//! **Rule** (s = packet, R = mean round trip, p = loss event rate; X, `X_recv`: rates sent and received)
//! ```text
//! equation:  X_eq = s / (R sqrt(2p/3) + 4R 3 sqrt(3p/8) p (1 + 32 p^2))
//! report:    R <- 0.9 R + 0.1 sample;  limit = 2 max(X_recv of the last two round trips)
//!            p > 0: X <- max(min(X_eq, limit), s/64 s);   else once per R: X <- max(min(2X, limit), W_init/R)
//! no report for max(4R, 2s/X):  p = 0: X <- X/2;  else X_recv <- min(X_recv, X_eq/2)/2 and X as above
//! p = 1 / I:  I = larger of the weighted means of I_0..I_7 and I_1..I_8, weights 1 1 1 1 0.8 0.6 0.4 0.2
//! loss:       three later packets have arrived, or CE; a new event if later than R after the last one's begin
//! first interval: that of the equation at the rate received
//! ```
//! Deviations: without the options of sections 4.5 (oscillation prevention) and 5.5 (history discounting); the
//! sender always has data. A packet after a silent round trip is reported at once.
//!
//! Defaults by era: the same in all. Sizes and rates are those on the wire.

mod loss_events;
mod receiver;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::receiver::TfrcReceiver;
use super::{Offer, Outlet, PacketSizes, Source, SourceEnv};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::error::Problem;
use crate::record::FlowSample;
use crate::registry::{About, Info, Status};
use crate::traffic::packet_size;
use crate::units::{Bytes, Span, Time};
use crate::wire::{Flags, Options, Packet, TIMESTAMP_TICK, timestamp};

/// Longest interval between packets [s] (`t_mbi`).
const LONGEST: f64 = 64.0;
/// Time without a report before the first round trip is known [s].
const FIRST_PATIENCE: f64 = 2.0;
/// Rate before that, in packets per second.
const FIRST_RATE: f64 = 1.0;
/// Weight of the old mean round trip.
const KEEP: f64 = 0.9;

/// The throughput equation (section 3.1) with one acknowledgement per packet: bytes per second.
fn equation(size: f64, rtt: f64, p: f64) -> f64 {
    let root = (2.0 * p / 3.0).sqrt();
    let timeouts = 4.0 * 3.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
    size / (rtt * (root + timeouts))
}

/// Parameters of TFRC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TfrcParams {
    /// Packet size on the wire.
    #[schemars(range(min = 1, max = 65535))]
    pub packet: Bytes,
    /// Packets are ECN-capable; a mark counts as a loss (section 5.2).
    pub ecn: bool,
}

impl Default for TfrcParams {
    fn default() -> Self {
        Self { packet: Bytes(1500), ecn: false }
    }
}

/// What a report says; in a packet's options.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Report {
    /// Timestamp of the last data packet, and time since its arrival.
    echo: u32,
    delay: Span,
    /// Rate received [B/s].
    rate: f64,
    /// Loss event rate.
    p: f64,
}

impl Report {
    fn write(&self, packet: &mut Packet) {
        packet.options = Options::TfrcReport {
            echo: self.echo,
            delay: u32::try_from(self.delay.0 / TIMESTAMP_TICK.0).unwrap_or(u32::MAX),
            rate: self.rate as f32,
            p: self.p as f32,
        };
    }

    /// The report that a packet carries, if it is one.
    fn read(packet: &Packet) -> Option<Self> {
        let Options::TfrcReport { echo, delay, rate, p } = packet.options else { return None };
        Some(Self {
            echo,
            delay: TIMESTAMP_TICK * u64::from(delay),
            rate: f64::from(rate),
            p: f64::from(p),
        })
    }
}

/// TFRC's sender.
pub struct Tfrc {
    outlet: Outlet,
    size: u16,
    flags: Flags,
    /// Rate [B/s].
    rate: f64,
    /// Mean round trip [s].
    rtt: Option<f64>,
    p: f64,
    /// Rates received [B/s] with the times of their reports, of the last two round trips.
    received: VecDeque<(Time, f64)>,
    /// When the rate was doubled last.
    doubled: Time,
    /// When the last packet left, and the place of the next one.
    next: Deadline,
    last: Time,
    no_report: Deadline,
    reports: u64,
    expirations: u64,
}

impl About<SourceEnv> for Tfrc {
    type Params = TfrcParams;
    const INFO: Info = Info {
        name: "tfrc",
        title: "TCP Friendly Rate Control",
        source: "RFC 5348, sections 3.1, 4.2 to 4.4, 5, 6",
        status: Status::Specified,
    };

    fn new(params: TfrcParams, env: &SourceEnv) -> Result<Self, Vec<Problem>> {
        let size = packet_size(params.packet);
        Ok(Self {
            outlet: Outlet::new(env),
            size,
            flags: if params.ecn { Flags::DATAGRAM | Flags::ECT } else { Flags::DATAGRAM },
            rate: FIRST_RATE * f64::from(size),
            rtt: None,
            p: 0.0,
            received: VecDeque::with_capacity(8),
            doubled: Time::ZERO,
            next: Deadline::NEVER,
            last: Time::ZERO,
            no_report: Deadline::NEVER,
            reports: 0,
            expirations: 0,
        })
    }
}

impl Tfrc {
    fn size(&self) -> f64 {
        f64::from(self.size)
    }

    /// Section 4.2: two to four packets per round trip.
    fn initial_rate(&self, rtt: f64) -> f64 {
        (4.0 * self.size()).min((2.0 * self.size()).max(4380.0)) / rtt
    }

    /// The largest rate received of the last two round trips; infinite before there was a report.
    fn most_received(&self) -> f64 {
        self.received.iter().map(|&(_, rate)| rate).reduce(f64::max).unwrap_or(f64::INFINITY)
    }

    /// Section 4.3, step 4: the rate from loss event rate, round trip and rates received.
    fn set_rate(&mut self, rtt: f64, now: Time) {
        let limit = 2.0 * self.most_received();
        let least = self.size() / LONGEST;
        if self.p > 0.0 {
            self.rate = equation(self.size(), rtt, self.p).min(limit).max(least);
        } else if now.since(self.doubled).seconds() >= rtt {
            self.rate = (2.0 * self.rate).min(limit).max(self.initial_rate(rtt));
            self.doubled = now;
        }
    }

    /// Section 4.3.
    fn on_report(&mut self, report: &Report, now: Time) {
        self.reports += 1;
        let ticks = timestamp(now).wrapping_sub(report.echo);
        let sample = (TIMESTAMP_TICK * u64::from(ticks)).seconds() - report.delay.seconds();
        let sample = sample.max(TIMESTAMP_TICK.seconds());
        let first = self.rtt.is_none();
        let rtt = self.rtt.map_or(sample, |old| KEEP * old + (1.0 - KEEP) * sample);
        self.rtt = Some(rtt);
        self.p = report.p;
        if first {
            // @src rfc5348#4.2: the first report says only how long the round trip is.
            self.rate = self.initial_rate(rtt);
            self.doubled = now;
        } else {
            self.received.push_back((now, report.rate));
            while self.received.len() > 1 && now.since(self.received[0].0).seconds() > 2.0 * rtt {
                self.received.pop_front();
            }
            self.set_rate(rtt, now);
        }
        self.await_report(now);
        // A packet may be due earlier, or later, than it was.
        self.arm_next(now);
    }

    fn await_report(&mut self, now: Time) {
        let patience =
            self.rtt.map_or(FIRST_PATIENCE, |rtt| (4.0 * rtt).max(2.0 * self.size() / self.rate));
        self.no_report = Deadline { at: now + Span::from_seconds(patience), armed: now };
    }

    /// Section 4.4.
    fn on_no_report(&mut self, now: Time) {
        self.expirations += 1;
        let least = self.size() / LONGEST;
        match self.rtt {
            Some(rtt) if self.p > 0.0 => {
                let received = self.most_received();
                let by_equation = equation(self.size(), rtt, self.p);
                let limit = received.min(by_equation / 2.0).max(least);
                self.received.clear();
                self.received.push_back((now, limit / 2.0));
                self.set_rate(rtt, now);
            }
            _ => self.rate = (self.rate / 2.0).max(least),
        }
        self.await_report(now);
        self.arm_next(now);
    }

    fn arm_next(&mut self, now: Time) {
        let due = self.last + Span::from_seconds(self.size() / self.rate).max(Span(1));
        self.next = Deadline { at: due.max(now), armed: now };
    }

    fn send(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        let packet = self.outlet.send_with(self.size, self.flags, ctx);
        // The receiver needs the round trip for the length of loss events and of its reports.
        let ticks = self.rtt.map_or(0.0, |rtt| rtt / TIMESTAMP_TICK.seconds());
        packet.options = Options::TfrcData { clock: timestamp(now), round_trip: ticks as u32 };
    }
}

impl Source for Tfrc {
    fn packet_sizes(&self) -> PacketSizes {
        PacketSizes::equal(self.size, receiver::REPORT_SIZE)
    }

    fn offers(&self, _active: Span) -> Offer {
        Offer { packets: f64::INFINITY, packet_bytes: f64::from(self.size), answers: 0.0 }
    }

    fn receiver(&self) -> Box<dyn Endpoint> {
        Box::new(TfrcReceiver::new(self.outlet.flow))
    }
}

impl Endpoint for Tfrc {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.next = Deadline { at: ctx.now, armed: ctx.now };
        self.await_report(ctx.now);
        self.on_timer(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if let Some(report) = Report::read(&packet)
            && ctx.now < self.outlet.stop
        {
            self.on_report(&report, ctx.now);
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.no_report.at <= ctx.now {
            self.on_no_report(ctx.now);
        }
        if self.next.at <= ctx.now {
            // Places follow each other without the rounding of the clock; a late one is not made up for.
            self.last = self.next.at;
            self.send(ctx);
            self.arm_next(ctx.now);
        }
    }

    fn deadline(&self) -> Deadline {
        let first = if self.no_report.at < self.next.at { self.no_report } else { self.next };
        if first.at < self.outlet.stop { first } else { Deadline::NEVER }
    }

    fn snapshot(&self) -> Snapshot {
        let rtt = self.rtt.unwrap_or(0.0);
        Snapshot {
            cwnd: self.rate * rtt / self.size(),
            srtt_s: rtt,
            timeouts: self.expirations,
            acks_received: self.reports,
            probes: vec![("loss_event_rate", self.p), ("rate_bps", 8.0 * self.rate)],
            ..self.outlet.snapshot()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        self.snapshot().sample_sender(row);
    }
}

#[cfg(test)]
mod tests;
