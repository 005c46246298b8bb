//! HPCC: a window from what every switch of the path reports of its port.
//!
//! For data centres: each packet collects, at each switch, the length of the queue that it leaves, the bytes that the port has
//! sent, the time and the rate (in-band network telemetry, INT), and acknowledgements return it. From two such records in a row
//! the sender knows how many bytes are in flight over each link, and sets its window so that the fullest link has a little
//! less than it carries in a round trip.
//!
//! **Source**: Y. Li, R. Miao, H. H. Liu, Y. Zhuang, F. Feng, L. Tang, Z. Cao, M. Zhang, F. Kelly, M. Alizadeh, M. Yu, "HPCC:
//! High Precision Congestion Control", SIGCOMM 2019, doi:10.1145/3341302.3342085, algorithm 1 and section 3.3.
//!
//! **Rule** (B: rate of a link; T: base round trip; L: its record now and before)
//! ```text
//! u_i = min(qlen, qlen before) / (B T) + (bytes sent between) / (time between) / B;   u = the largest u_i
//! U <- (1 - tau / T) U + (tau / T) u,   tau = min(time between, T)
//! U >= eta, or max_stage increases in a row:  W = Wc / (U / eta) + W_AI
//! else:                                       W = Wc + W_AI
//! Wc <- W once per round trip (with the ACK of what was sent after the last such time);   rate = W / T
//! ```
//! It begins with W = B T at line rate, which is also the most: a host sends no faster than its card. W counts bytes on the wire.
//! Deviations: U, of which the source states no first value, begins at 1, as the window does. The port of the sender's host makes no record, as the
//! sender itself paces it. Records are exact, where the source's header rounds (24 bits of nanoseconds, 80 bytes of queue), and take no
//! room on the wire, of which the source's takes 42 bytes. The source has a network without loss: a loss or a timeout halves the
//! window, once per round trip. What a lost packet had collected is lost with it. Where routes change, records of other links
//! begin anew; the source notices them by `pathID`, a hash of the switches.
//!
//! Defaults by era: the same in all, those of the source: eta 95 %, at most 5 increases in a row. Left out, T is the round trip of
//! a full packet and its acknowledgement over the idle path, where the source has the longest such time of its network, and
//! `W_AI` is B T (1 - eta) / 100, for a hundred flows: 81 bytes of the 162.5 kB that the source's 100 Gbit/s and 13 us hold, where it sets 80.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{
    Ack, CcEnv, Congestion, CongestionControl, Lost, MAX_WINDOW, PathReport, Signal, Window,
};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::PortRecord;

/// Flows on one link for which the step leaves the goal, if it is left out.
const FLOWS: f64 = 100.0;
/// Bounds of the utilisation that a division can bear.
const LEAST: f64 = 1e-6;

/// Which acknowledgements the window follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reaction {
    /// Each, from the window of the round trip before.
    #[default]
    Both,
    /// Each, from the window that the one before set.
    Ack,
    /// The first of a round trip.
    RoundTrip,
}

/// Parameters of HPCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HpccParams {
    /// Goal of the utilisation of the fullest link.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub eta: f64,
    /// Round trips in a row that only add, after which the window follows the utilisation.
    pub max_stage: u32,
    /// Base round trip (T). Left out: that of a full packet and its acknowledgement over the idle path.
    pub base_rtt: Option<Span>,
    /// Step of the window (`W_AI`). Left out: (1 - eta) / 100 of what the path holds at line rate.
    pub w_ai: Option<Bytes>,
    /// Which acknowledgements the window follows; the source compares the rule with the other two (section 5.4).
    pub reaction: Reaction,
}

impl Default for HpccParams {
    fn default() -> Self {
        Self { eta: 0.95, max_stage: 5, base_rtt: None, w_ai: None, reaction: Reaction::Both }
    }
}

/// HPCC.
pub struct Hpcc {
    eta: f64,
    max_stage: u32,
    reaction: Reaction,
    /// Bytes on the wire of a full packet.
    wire: f64,
    /// Base round trip [s].
    base: f64,
    /// Bytes: what the path holds at line rate, the step, the window, and that of the last round trip.
    most: f64,
    step: f64,
    w: f64,
    w_round: f64,
    utilisation: f64,
    /// Increases in a row.
    stage: u32,
    /// The round trip ends when this segment is acknowledged.
    round_end: Option<u32>,
    /// The record before.
    last: Vec<PortRecord>,
    srtt: Span,
    /// When a loss last halved the window.
    halved: Option<Time>,
}

impl About<CcEnv> for Hpcc {
    type Params = HpccParams;
    const INFO: Info = Info {
        name: "hpcc",
        title: "HPCC",
        source: "Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019, algorithm 1",
        status: Status::Variant,
    };

    fn new(params: HpccParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let base = params.base_rtt.unwrap_or(env.round_trip).seconds();
        if base <= 0.0 {
            return Err(Problem::out_of_range("base_rtt", base, "more than 0 s").into());
        }
        let wire = f64::from(env.wire_size.max(1));
        let most = (env.line_rate.bps().max(1.0) / 8.0 * base).clamp(wire, wire * MAX_WINDOW);
        let step = params.w_ai.map_or(most * (1.0 - params.eta) / FLOWS, |step| step.0 as f64);
        Ok(Self {
            eta: params.eta,
            max_stage: params.max_stage,
            reaction: params.reaction,
            wire,
            base,
            most,
            step,
            w: most,
            w_round: most,
            utilisation: 1.0,
            stage: 0,
            round_end: None,
            last: Vec::new(),
            srtt: Span::ZERO,
            halved: None,
        })
    }
}

impl Hpcc {
    /// Whether records are of the ports that the last ones are of. The paper compares a hash of the switches, `pathID`.
    fn is_same_path(&self, ports: &[PortRecord]) -> bool {
        ports.iter().map(|port| port.link).eq(self.last.iter().map(|port| port.link))
    }

    /// The utilisation of the fullest link, averaged over a base round trip; none where no link has a later record.
    fn measure(&mut self, ports: &[PortRecord]) -> Option<f64> {
        let (mut fullest, mut between) = (0.0f64, None);
        for (now, before) in ports.iter().zip(&self.last) {
            if now.at <= before.at {
                continue;
            }
            let time = now.at.since(before.at).seconds();
            let bytes_per_s = now.rate.bps().max(1.0) / 8.0;
            let queued = now.queued.min(before.queued) as f64 / (bytes_per_s * self.base);
            let sent = now.sent.saturating_sub(before.sent) as f64 / time / bytes_per_s;
            if between.is_none() || queued + sent > fullest {
                (fullest, between) = (queued + sent, Some(time));
            }
        }
        let weight = (between?.min(self.base)) / self.base;
        self.utilisation += weight * (fullest - self.utilisation);
        Some(self.utilisation)
    }

    /// The window that answers a utilisation; with the first of a round trip the next one begins.
    fn answer(&mut self, utilisation: f64, begins_round: bool) {
        let follows = utilisation >= self.eta || self.stage >= self.max_stage;
        let part = if follows { self.eta / utilisation.max(LEAST) } else { 1.0 };
        self.w = (self.w_round * part + self.step).min(self.most);
        if begins_round {
            self.stage = if follows { 0 } else { self.stage + 1 };
            self.w_round = self.w;
        }
    }

    fn segments(&self) -> f64 {
        (self.w / self.wire).clamp(1.0, MAX_WINDOW)
    }

    /// Halves the window for a loss, at most once a round trip.
    fn notice_loss(&mut self, window: &mut Window, now: Time) {
        if self.halved.is_none_or(|at| now.since(at) >= self.srtt) {
            self.halved = Some(now);
            self.w /= 2.0;
            self.w_round = self.w_round.min(self.w);
            window.cwnd = self.segments().min(window.cwnd);
        }
    }
}

impl CongestionControl for Hpcc {
    fn on_ack(&mut self, _window: &mut Window, ack: &Ack) {
        self.srtt = ack.srtt;
    }

    fn on_path_report(&mut self, window: &mut Window, report: &PathReport<'_>) {
        if !self.is_same_path(report.ports) {
            self.last.clear();
            self.last.extend_from_slice(report.ports);
            self.round_end = Some(report.nxt);
            return;
        }
        if let Some(utilisation) = self.measure(report.ports) {
            let begins_round = self.round_end.is_none_or(|end| report.una > end);
            match self.reaction {
                Reaction::Both => self.answer(utilisation, begins_round),
                Reaction::Ack => self.answer(utilisation, true),
                Reaction::RoundTrip if begins_round => self.answer(utilisation, true),
                Reaction::RoundTrip => {}
            }
            if begins_round {
                self.round_end = Some(report.nxt);
            }
            window.cwnd = self.segments();
        }
        for (before, now) in self.last.iter_mut().zip(report.ports) {
            if now.at > before.at {
                *before = *now;
            }
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        if let Signal::FastRetransmit { .. } | Signal::Rto { .. } = event.signal {
            self.notice_loss(window, event.now);
        }
    }

    fn on_lost(&mut self, window: &mut Window, lost: &Lost) {
        self.notice_loss(window, lost.now);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn reported_packets(&self) -> u32 {
        // Twice the most in flight: segments above a hole are in flight no more and still outstanding.
        (2.0 * self.most / self.wire).clamp(16.0, 1e9) as u32
    }

    fn initial_window(&self) -> Option<f64> {
        Some(self.segments())
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        Some(BitRate(((self.w * 8.0 / self.base) as u64).max(1)))
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("rate_bps", self.w * 8.0 / self.base);
        out("utilisation", self.utilisation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::near::near;
    use ackclock_base::ids::LinkId;

    /// 100 Gbit/s and 10 us: a path that holds 125,000 bytes; the step is 1000 bytes.
    fn control() -> Hpcc {
        let params = HpccParams {
            base_rtt: Some(Span::from_micros(10)),
            w_ai: Some(Bytes(1000)),
            ..HpccParams::default()
        };
        let env = CcEnv { line_rate: BitRate(100_000_000_000), ..env(Era::Rfc) };
        Hpcc::new(params, &env).unwrap()
    }

    fn port(us: u64, sent: u64, queued: u64) -> PortRecord {
        let at = Time::ZERO + Span::from_micros(us);
        PortRecord { link: LinkId(7), at, sent, queued, rate: BitRate(100_000_000_000) }
    }

    fn report(control: &mut Hpcc, una: u32, nxt: u32, ports: &[PortRecord]) -> f64 {
        let mut window = Window { cwnd: 1.0, ssthresh: f64::INFINITY };
        control.on_path_report(&mut window, &PathReport { una, nxt, ports });
        control.w
    }

    #[test]
    fn it_begins_with_what_the_path_holds_at_line_rate() {
        let control = control();
        near::<9>(control.initial_window().unwrap(), 125_000.0 / 1040.0);
        assert_eq!(control.pacing_rate(), Some(BitRate(100_000_000_000)));
    }

    /// In 5 us 62,500 bytes left, all that 100 Gbit/s carry, and 12,500 bytes waited at least: u = 0.1 + 1. Over half of T,
    /// U = 1.05, and W = 125,000 x 0.95 / 1.05 + 1000.
    #[test]
    fn a_full_link_with_a_queue_cuts_the_window_by_its_excess() {
        let mut control = control();
        near::<9>(report(&mut control, 1, 10, &[port(0, 0, 12_500)]), 125_000.0);
        near::<6>(report(&mut control, 2, 11, &[port(5, 62_500, 25_000)]), 114_095.238_095);
        near::<9>(control.utilisation, 1.05);
    }

    /// The same numbers over another link say nothing of what is in flight there.
    #[test]
    fn records_of_another_path_are_not_compared_with_those_before() {
        let mut control = control();
        report(&mut control, 1, 10, &[port(0, 0, 12_500)]);
        let elsewhere = |us, sent| PortRecord { link: LinkId(8), ..port(us, sent, 25_000) };
        near::<9>(report(&mut control, 2, 11, &[elsewhere(5, 62_500)]), 125_000.0);
        near::<9>(report(&mut control, 3, 12, &[elsewhere(6, 62_500), port(6, 0, 0)]), 125_000.0);
        near::<9>(control.utilisation, 1.0);
    }

    /// Within a round trip every answer is from the window with which it began, so that records of one queue do not add up.
    #[test]
    fn within_a_round_trip_a_window_is_not_cut_twice() {
        let mut control = control();
        report(&mut control, 1, 10, &[port(0, 0, 12_500)]);
        let first = report(&mut control, 2, 11, &[port(10, 125_000, 12_500)]);
        let second = report(&mut control, 3, 12, &[port(20, 250_000, 12_500)]);
        near::<6>(first, 125_000.0 * 0.95 / 1.1 + 1000.0);
        near::<9>(second, first);
        // All before segment 10 is acknowledged: that is still of it. The one after segment 10 begins the next.
        near::<9>(report(&mut control, 10, 19, &[port(30, 375_000, 12_500)]), first);
        let third = report(&mut control, 11, 20, &[port(40, 500_000, 12_500)]);
        let fourth = report(&mut control, 12, 21, &[port(50, 625_000, 12_500)]);
        near::<9>(third, first);
        near::<6>(fourth, third * 0.95 / 1.1 + 1000.0);
    }

    /// What the source calls overreaction: three records of one queue cut three times. Once per round trip, the first cuts.
    #[test]
    fn other_reactions_cut_with_each_record_or_with_the_first_of_a_round_trip() {
        let part = 0.95 / 1.1;
        let windows = |reaction| -> Vec<f64> {
            let mut control = control();
            control.reaction = reaction;
            report(&mut control, 1, 10, &[port(0, 0, 12_500)]);
            let mut next = |i: u32, una| {
                let ports = [port(10 * u64::from(i), 125_000 * u64::from(i), 12_500)];
                report(&mut control, una, una + 9, &ports)
            };
            vec![next(1, 2), next(2, 3), next(3, 11), next(4, 12)]
        };
        let once = |w: f64| w * part + 1000.0;
        let each = windows(Reaction::Ack);
        let mut expected = 125_000.0;
        for w in each {
            expected = once(expected);
            near::<6>(w, expected);
        }
        let round = windows(Reaction::RoundTrip);
        near::<9>(round[0], 125_000.0);
        near::<9>(round[1], 125_000.0);
        near::<6>(round[2], once(125_000.0));
        near::<9>(round[3], round[2]);
    }

    /// Half-used links: five round trips add 1000 bytes each, the sixth doubles (0.95 / 0.5 = 1.9).
    #[test]
    fn below_the_goal_five_round_trips_add_and_the_sixth_multiplies() {
        let mut control = control();
        (control.w, control.w_round, control.utilisation) = (20_000.0, 20_000.0, 0.5);
        report(&mut control, 1, 1, &[port(0, 0, 0)]);
        let mut seen = Vec::new();
        for i in 1..=7u32 {
            let ports = [port(10 * u64::from(i), 62_500 * u64::from(i), 0)];
            seen.push(report(&mut control, i + 1, i + 1, &ports));
        }
        near::<6>(seen[4], 25_000.0);
        near::<6>(seen[5], 25_000.0 * 1.9 + 1000.0);
        near::<6>(seen[6], 49_500.0);
    }

    #[test]
    fn the_fullest_link_decides() {
        let mut control = control();
        report(&mut control, 1, 10, &[port(0, 0, 0), port(1, 0, 12_500), port(2, 0, 0)]);
        let ports = [port(10, 50_000, 0), port(11, 125_000, 12_500), port(12, 100_000, 0)];
        near::<6>(report(&mut control, 2, 11, &ports), 125_000.0 * 0.95 / 1.1 + 1000.0);
    }

    /// The source's 100 Gbit/s and 13 us, for which it sets 80 bytes.
    #[test]
    fn the_step_left_out_is_near_that_of_the_source() {
        let params = HpccParams { base_rtt: Some(Span::from_micros(13)), ..HpccParams::default() };
        let env = CcEnv { line_rate: BitRate(100_000_000_000), ..env(Era::Rfc) };
        near::<6>(Hpcc::new(params, &env).unwrap().step, 81.25);
    }

    #[test]
    fn a_record_that_is_not_newer_says_nothing() {
        let mut control = control();
        report(&mut control, 1, 10, &[port(5, 62_500, 25_000)]);
        let before = control.w;
        near::<9>(report(&mut control, 2, 11, &[port(5, 62_500, 25_000)]), before);
        near::<9>(report(&mut control, 3, 12, &[port(4, 50_000, 90_000)]), before);
        assert_eq!(control.last[0], port(5, 62_500, 25_000));
    }

    #[test]
    fn losses_halve_the_window_once_a_round_trip() {
        let mut control = control();
        control.srtt = Span::from_micros(10);
        let mut window = Window { cwnd: 120.0, ssthresh: f64::INFINITY };
        let mut after = |us| {
            let now = Time::ZERO + Span::from_micros(us);
            control.on_lost(&mut window, &Lost::at(now, 1));
            control.w.round()
        };
        assert_eq!([0, 9, 10].map(&mut after), [62_500.0, 62_500.0, 31_250.0]);
    }
}
