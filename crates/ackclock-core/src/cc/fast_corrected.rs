//! FAST with a corrected propagation delay: a flow measures once how many share its bottleneck.
//!
//! When a flow has come to rest it changes its rate for about a round trip. How much the round trip
//! changes tells which part of the link it has; from that follow the number of flows before it, the
//! capacity, and the queue that it took for propagation.
//!
//! **Source**: M. Rodriguez-Perez, S. Herreria-Alonso, M. Fernandez-Veiga, C. Lopez-Garcia, "The persistent
//! congestion problem of FAST-TCP: Analysis and solutions", section 6, equations (21) to (25).
//!
//! **Rule** (w, r: window and mean round trip at rest; D: smallest round trip; t = t_epsilon r)
//! ```text
//! probe:    each acknowledgement lets 1 - theta segments leave, for a time t; then w again
//! measure:  dr = (round trip of the last segment that left within t) - r,  f = flight with it
//! R = |f - w| r / (w |dr|),  n = max(R (R - 1), 0),  C = R w / r
//! D <- D - n alpha / C                       w <- alpha + D C / (n + 1)
//! dr = 0, of the wrong sign, or D <= 0: the measurement is discarded and repeated after the next rest
//! ```
//! Deviations: equation (22) as printed has the wrong sign (a smaller window drains the queue), and (23)
//! with it gives a wrong n; the magnitudes above are what the derivation means. (1 + sqrt(1 + 4 n))/2 in
//! (24) is R. |f - w| r / w is the source's |theta| t_epsilon, but as it came about: a flow that sends its
//! window in one lump has sent all of the excess before t is over. The number of measurements is bounded, which the source leaves open.
//!
//! Defaults by era: as `fast`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calm::{Calm, CalmParams};
use super::fast::{Fast, FastParams};
use super::{Ack, CcEnv, Congestion, CongestionControl, Window};
use crate::registry::{About, Info, Status};
use crate::units::{Span, Time};

/// Parameters of FAST with correction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FastCorrectedParams {
    /// Those of FAST.
    #[serde(flatten)]
    pub fast: FastParams,
    /// Those of the detection of rest.
    #[serde(flatten)]
    pub calm: CalmParams,
    /// Part by which the window is lowered, from -1 to less than 1, not 0; negative: raised. Positive
    /// values may empty the queue; below 0.1 in magnitude the measurement is poor.
    pub theta: f64,
    /// Length of the probe in round trips, more than 0, at most 1: other flows must not react within.
    pub t_epsilon: f64,
    /// Valid measurements that a flow makes, 1 or more.
    pub measurements: u32,
}

impl Default for FastCorrectedParams {
    fn default() -> Self {
        Self {
            fast: FastParams::default(),
            calm: CalmParams::default(),
            theta: -0.5,
            t_epsilon: 1.0,
            measurements: 1,
        }
    }
}

/// A probe that is under way.
#[derive(Clone, Copy, Debug)]
struct Probe {
    began: Time,
    /// Segments that leave later do not count.
    ends: Time,
    /// Window and round trip [s] at rest.
    window: f64,
    rtt: f64,
    /// The last segment that counts so far: segments in flight with it, and its round trip [s].
    last: Option<(f64, f64)>,
}

/// What a probe found.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    flows: f64,
    capacity: f64,
    base: f64,
    window: f64,
}

/// FAST with correction.
pub struct FastCorrected {
    fast: Fast,
    calm: Calm,
    theta: f64,
    t_epsilon: f64,
    left: u32,
    probe: Option<Probe>,
    found: Option<Found>,
    discarded: u32,
}

impl About<CcEnv> for FastCorrected {
    type Params = FastCorrectedParams;
    const INFO: Info = Info {
        name: "fast-corrected",
        title: "FAST TCP with corrected propagation delay",
        source: "Rodriguez-Perez et al., The persistent congestion problem of FAST-TCP, section 6",
        status: Status::Specified,
    };

    fn new(params: FastCorrectedParams, env: &CcEnv) -> Result<Self, String> {
        let FastCorrectedParams { fast, calm, theta, t_epsilon, measurements } = params;
        if theta == 0.0 {
            return Err(
                "theta is 0, but it must not be: only a change of the window shows how many \
                        flows there are (-0.5 is usual)"
                    .to_owned(),
            );
        }
        if !(-1.0..1.0).contains(&theta) {
            return Err(format!("theta is {theta}, but it must be from -1 to less than 1, not 0"));
        }
        if !(t_epsilon > 0.0 && t_epsilon <= 1.0) {
            return Err(format!(
                "t_epsilon is {t_epsilon}, but it must be more than 0 and at most 1 (round trips)"
            ));
        }
        if measurements == 0 {
            return Err(
                "measurements is 0, but it must be 1 or more; without any, use fast".to_owned()
            );
        }
        calm.check()?;
        Ok(Self {
            fast: Fast::new(fast, env)?,
            calm: Calm::new(calm),
            theta,
            t_epsilon,
            left: measurements,
            probe: None,
            found: None,
            discarded: 0,
        })
    }
}

impl FastCorrected {
    /// Equations (21) to (25); none if what was measured cannot be.
    fn solve(&self, probe: &Probe) -> Option<Found> {
        let (flight, rtt) = probe.last?;
        let (excess, change) = (flight - probe.window, rtt - probe.rtt);
        if change * self.theta >= 0.0 || excess * self.theta >= 0.0 {
            return None;
        }
        let ratio = excess * probe.rtt / (probe.window * change);
        let flows = (ratio * (ratio - 1.0)).max(0.0);
        let capacity = ratio.max(1.0) * probe.window / probe.rtt;
        let base = self.fast.base() - flows * self.fast.alpha / capacity;
        let window = self.fast.alpha + base * capacity / (flows + 1.0);
        (base > 0.0).then_some(Found { flows, capacity, base, window })
    }

    /// One acknowledgement during a probe.
    fn go_on(&mut self, mut probe: Probe, window: &mut Window, ack: &Ack) {
        let late = ack.newest.sent_at > probe.ends;
        if let Some(rtt) = ack.rtt
            && !late
            && ack.newest.sent_at > probe.began
        {
            probe.last = Some((f64::from(ack.newest.in_flight), rtt.seconds()));
        }
        if ack.now <= probe.ends {
            let bound = (1.0 - self.theta) * probe.window;
            let moved = window.cwnd - self.theta * f64::from(ack.acked);
            let moved = if self.theta < 0.0 { moved.min(bound) } else { moved.max(bound) };
            window.cwnd = moved.max(2.0);
        } else {
            window.cwnd = probe.window;
        }
        self.probe = Some(probe);
        if late {
            self.end(&probe, window, ack);
        }
    }

    fn end(&mut self, probe: &Probe, window: &mut Window, ack: &Ack) {
        self.probe = None;
        self.calm.restart();
        window.cwnd = probe.window;
        if let Some(found) = self.solve(probe) {
            self.left -= 1;
            self.found = Some(found);
            window.cwnd = found.window.max(2.0);
            self.fast.correct(found.base, ack.round);
        } else {
            self.discarded += 1;
        }
    }
}

impl CongestionControl for FastCorrected {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(probe) = self.probe {
            self.go_on(probe, window, ack);
            return;
        }
        self.fast.on_ack(window, ack);
        if self.left > 0
            && let Some(rtt) = self.calm.watch(&self.fast, window.cwnd, ack)
        {
            window.cwnd = window.cwnd.floor().max(2.0);
            let ends = ack.now + Span::from_seconds(self.t_epsilon * rtt);
            let window = window.cwnd;
            self.probe = Some(Probe { began: ack.now, ends, window, rtt, last: None });
        }
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let before = window.cwnd;
        if let Some(probe) = self.probe.take() {
            window.cwnd = probe.window.min(before);
            self.discarded += 1;
        }
        self.calm.restart();
        self.fast.on_congestion(window, event);
    }

    fn uses_slow_start(&self) -> bool {
        false
    }

    fn keeps_queued(&self) -> Option<f64> {
        self.fast.keeps_queued()
    }

    fn phase(&self) -> &'static str {
        if self.probe.is_some() { "probe" } else { self.fast.phase() }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        self.fast.probes(out);
        out("estimated_flows", self.found.map_or(0.0, |f| f.flows));
        out("estimated_capacity_segments_per_s", self.found.map_or(0.0, |f| f.capacity));
        out("measured", f64::from(u8::from(self.found.is_some())));
        out("discarded", f64::from(self.discarded));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::scenario::Era;

    fn control(theta: f64) -> FastCorrected {
        let fast = FastParams { alpha: 50.0, ..FastParams::default() };
        let params = FastCorrectedParams { fast, theta, ..FastCorrectedParams::default() };
        FastCorrected::new(params, &env(Era::Rfc)).unwrap()
    }

    /// At rest with `n` fair flows, C = 12500 segments/s, alpha = 50, true propagation 30 ms: what a
    /// probe of one round trip would see if the others kept their rates.
    fn probe(n: f64, theta: f64) -> (Probe, f64) {
        let (capacity, alpha, true_base) = (12_500.0, 50.0, 0.030);
        let a = f64::midpoint((1.0 + 4.0 * n).sqrt(), -1.0);
        let rtt = true_base + alpha * (n + 1.0 + a) / capacity;
        let rate = capacity / (1.0 + a);
        let change = -theta * rate * rtt / capacity;
        let probe = Probe {
            began: Time::ZERO,
            ends: Time::ZERO + Span::from_seconds(rtt),
            window: rate * rtt,
            rtt,
            last: Some(((1.0 - theta) * rate * rtt, rtt + change)),
        };
        (probe, true_base)
    }

    #[test]
    fn number_of_flows_capacity_and_propagation_come_out_exactly() {
        for n in [1.0, 4.0, 8.0, 40.0] {
            for theta in [-0.9, -0.5, -0.1, 0.1] {
                let mut control = control(theta);
                let (probe, true_base) = probe(n, theta);
                // It took the queue of the others for propagation.
                control.fast.correct(true_base + n * 50.0 / 12_500.0, 0);
                let found = control.solve(&probe).unwrap();
                assert!((found.flows - n).abs() < 1e-6, "{n} {theta}: {found:?}");
                assert!((found.capacity - 12_500.0).abs() < 1e-4, "{found:?}");
                assert!((found.base - true_base).abs() < 1e-9, "{found:?}");
                // w = x r with x = C / (n + 1) and r = D + (n + 1) alpha / C.
                let fair = 12_500.0 / (n + 1.0) * (true_base + (n + 1.0) * 50.0 / 12_500.0);
                assert!((found.window - fair).abs() < 1e-4, "{found:?} {fair}");
            }
        }
    }

    #[test]
    fn alone_nothing_is_corrected() {
        let mut control = control(-0.5);
        control.fast.correct(0.030, 0);
        let found = control.solve(&probe(0.0, -0.5).0).unwrap();
        assert!(found.flows.abs() < 1e-9 && (found.base - 0.030).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn a_measurement_that_cannot_be_is_discarded() {
        let mut control = control(-0.5);
        control.fast.correct(0.030, 0);
        let (good, _) = probe(4.0, -0.5);
        let flight = 1.5 * good.window;
        for last in [None, Some((flight, good.rtt)), Some((flight, good.rtt - 0.001))] {
            assert_eq!(control.solve(&Probe { last, ..good }), None);
        }
        // So small a change would mean more flows than the delay has room for.
        assert_eq!(control.solve(&Probe { last: Some((flight, good.rtt + 1e-4)), ..good }), None);
    }

    #[test]
    fn the_probe_lets_half_a_segment_more_leave_per_acknowledgement_and_then_takes_it_back() {
        let mut control = control(-0.5);
        control.fast.correct(0.040, 0);
        let mut window = Window { cwnd: 100.0, ssthresh: f64::INFINITY };
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let probe = Probe { began: at(0), ends: at(50), window: 100.0, rtt: 0.050, last: None };
        control.probe = Some(probe);
        let ack = |now, sent: u64, rtt: u64| {
            let none = Ack::at(at(0), 1).newest;
            let newest = crate::cc::SentRecord { sent_at: at(sent), in_flight: 140, ..none };
            Ack { rtt: Some(Span::from_millis(rtt)), newest, ..Ack::at(at(now), 10) }
        };
        control.on_ack(&mut window, &ack(10, 0, 50));
        assert_eq!(window.cwnd, 105.0);
        control.on_ack(&mut window, &ack(20, 0, 50));
        assert_eq!((window.cwnd, control.phase()), (110.0, "probe"));
        // Past its end: the old window again. A segment of 40 ms counts, one of 60 ms ends it.
        control.on_ack(&mut window, &ack(95, 40, 55));
        assert_eq!(window.cwnd, 100.0);
        control.on_ack(&mut window, &ack(130, 60, 70));
        // R = 40 x 50 / (100 x 5) = 4, n = 12, C = 4 x 100 / 0.05 = 8000, D = 40 - 75 ms < 0: discarded.
        assert_eq!((window.cwnd, control.discarded, control.left), (100.0, 1, 1));
        control.probe = Some(probe);
        control.on_ack(&mut window, &ack(95, 40, 60));
        control.on_ack(&mut window, &ack(130, 60, 70));
        // R = 2, n = 2, C = 4000, D = 40 - 25 = 15 ms, w = 50 + 0.015 x 4000 / 3 = 70.
        assert!((window.cwnd - 70.0).abs() < 1e-9 && control.left == 0, "{}", window.cwnd);
        assert!((control.fast.base() - 0.015).abs() < 1e-12);
    }

    #[test]
    fn values_out_of_range_are_named() {
        type Change = fn(&mut FastCorrectedParams);
        let wrong: [(&str, Change); 8] = [
            ("theta is 0,", |p| p.theta = 0.0),
            ("theta is 1,", |p| p.theta = 1.0),
            ("theta is NaN", |p| p.theta = f64::NAN),
            ("t_epsilon is 2", |p| p.t_epsilon = 2.0),
            ("measurements", |p| p.measurements = 0),
            ("stable_rounds", |p| p.calm.stable_rounds = 0),
            ("stable_tolerance", |p| p.calm.stable_tolerance = 1.0),
            ("gamma is 2", |p| p.fast.gamma = 2.0),
        ];
        for (expected, change) in wrong {
            let mut params = FastCorrectedParams::default();
            change(&mut params);
            let message = FastCorrected::new(params, &env(Era::Rfc)).err().unwrap();
            assert!(message.contains(expected), "{message}");
        }
    }
}
