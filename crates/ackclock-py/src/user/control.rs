//! A congestion control written in Python.

use std::collections::BTreeMap;

use ackclock_core::cc::{self, CcEnv, CongestionControl, Signal, usage};
use ackclock_core::units::{BitRate, Span, Time};
use pyo3::PyClass;
use pyo3::prelude::*;

use super::views::{Ack, Congestion, Lost, Window, is_rate, is_threshold, is_window};
use super::{Cadence, Method, Owner, names};

/// Least ssthresh after congestion (RFC 5681).
const LEAST_SSTHRESH: f64 = 2.0;

/// What came since the method was last called.
#[derive(Default)]
struct Gathered {
    acked: u64,
    acks: u64,
    rtt_sum_s: f64,
    rtts: u64,
    rtt_low: Option<Span>,
    limited: u64,
    ecn_echo: bool,
}

impl Gathered {
    fn add(&mut self, ack: &cc::Ack) {
        self.acked += u64::from(ack.acked);
        self.acks += 1;
        if let Some(rtt) = ack.rtt {
            self.rtt_sum_s += rtt.seconds();
            self.rtts += 1;
            self.rtt_low = Some(self.rtt_low.map_or(rtt, |low| low.min(rtt)));
        }
        self.limited += u64::from(ack.app_limited);
        self.ecn_echo |= ack.ecn_echo;
    }

    fn summarise(&self, now: Time, last: &cc::Ack) -> Ack {
        let low = self.rtt_low.map(Span::seconds);
        Ack {
            now_s: now.seconds(),
            acked: self.acked,
            acks: self.acks,
            in_flight: last.in_flight,
            // Rounding must not take the mean below the smallest.
            rtt_s: low.map(|low| (self.rtt_sum_s / self.rtts as f64).max(low)),
            rtt_low_s: low,
            min_rtt_s: known_seconds(last.min_rtt),
            srtt_s: known_seconds(last.srtt),
            round: last.round,
            app_limited: self.acks > 0 && self.limited == self.acks,
            ecn_echo: self.ecn_echo,
            delivered: last.delivered,
            delivery_rate: last.delivery_rate,
        }
    }
}

fn known_seconds(span: Span) -> Option<f64> {
    (span > Span::ZERO).then(|| span.seconds())
}

pub(super) struct PyControl {
    on_ack: Method,
    on_congestion: Method,
    on_timeout: Option<Method>,
    on_lost: Option<Method>,
    phase: Option<Method>,
    probes: Option<Method>,
    window: Py<Window>,
    cadence: Cadence,
    uses_slow_start: bool,
    env: CcEnv,
    owner: Owner,
    gathered: Gathered,
    /// The last acknowledgement, for calls by the clock.
    last: cc::Ack,
    round: Option<u64>,
    recovering: bool,
    pacing: Option<BitRate>,
    /// When it was last called.
    now: Time,
}

pub(super) fn build(algorithm: &Bound<'_, PyAny>, env: CcEnv, owner: Owner) -> PyResult<PyControl> {
    let instance = algorithm.getattr("instance")?;
    Ok(PyControl {
        on_ack: Method::require(&instance, "on_ack")?,
        on_congestion: Method::require(&instance, "on_congestion")?,
        on_timeout: Method::of(&instance, "on_timeout")?,
        on_lost: Method::of(&instance, "on_lost")?,
        phase: Method::of(&instance, "phase")?,
        probes: Method::of(&instance, "probes")?,
        window: Py::new(algorithm.py(), Window::new())?,
        cadence: Cadence::of(&algorithm.getattr("cadence")?)?,
        uses_slow_start: algorithm.getattr("slow_start")?.extract()?,
        env,
        owner,
        gathered: Gathered::default(),
        last: cc::Ack::at(Time::ZERO, 0),
        round: None,
        recovering: false,
        pacing: None,
        now: Time::ZERO,
    })
}

/// What a method left in the window.
struct Left {
    cwnd: f64,
    ssthresh: f64,
    pacing_bps: Option<f64>,
    answered: bool,
}

/// Calls a method on the window and checks what it leaves; `None` if it failed.
fn call<T>(
    (owner, method, shared): (&Owner, &Method, &Py<Window>),
    window: &cc::Window,
    now: Time,
    fact: T,
) -> Option<Left>
where
    T: Into<PyClassInitializer<T>> + PyClass,
{
    Python::attach(|py| {
        let called = (|| {
            {
                let mut w = shared.try_borrow_mut(py)?;
                (w.cwnd, w.ssthresh) = (window.cwnd, window.ssthresh);
                w.answered = false;
            }
            let returned = method.call.call1(py, (shared, Py::new(py, fact)?))?;
            if !returned.is_none(py) {
                return Ok::<_, PyErr>(Err(returned.bind(py).repr()?.to_string()));
            }
            let w = shared.try_borrow(py)?;
            let left = Left {
                cwnd: w.cwnd,
                ssthresh: w.ssthresh,
                pacing_bps: w.pacing_bps,
                answered: w.answered,
            };
            Ok(Ok((left, w.doubt.clone())))
        })();
        match called {
            Err(error) => {
                owner.note_exception(py, error, now);
                None
            }
            Ok(Err(returned)) => {
                let did = format!("returned {returned}");
                let expected = "expected it to set cwnd of the window it is given";
                owner.broke(method.name, &did, method.line, now, expected);
                None
            }
            Ok(Ok((left, doubt))) => check(owner, method, now, left, doubt),
        }
    })
}

fn check(
    owner: &Owner,
    method: &Method,
    now: Time,
    left: Left,
    doubt: Option<(String, u32)>,
) -> Option<Left> {
    let (did, expected) = if !is_window(left.cwnd) {
        let expected = "cwnd must be a number from 0 (kept at 1) to 2^31".to_owned();
        (format!("set cwnd to {} segments", left.cwnd), expected)
    } else if !is_threshold(left.ssthresh) {
        let expected = "ssthresh must be a number and not negative".to_owned();
        (format!("set ssthresh to {} segments", left.ssthresh), expected)
    } else if let Some(bps) = left.pacing_bps.filter(|bps| !is_rate(*bps)) {
        let expected = "pacing_bps must be None or a number from 1 to 1e18".to_owned();
        (format!("set pacing_bps to {bps}"), expected)
    } else {
        return Some(left);
    };
    let mut owner = owner.clone();
    let mut line = method.line;
    if let Some((file, code_line)) = doubt {
        (owner.file, line) = (file, code_line);
    }
    owner.broke(method.name, &did, line, now, &expected);
    None
}

impl PyControl {
    /// Calls a method that only reports; nothing if it failed.
    fn call_report<T>(
        &self,
        method: &Method,
        expected: &str,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if self.owner.slot.has_failed() {
            return None; // the run is about to stop
        }
        Python::attach(|py| match method.call.call0(py) {
            Ok(returned) => {
                let returned = returned.bind(py);
                let value = read(returned).ok();
                if value.is_none() {
                    let did = format!("returned {returned:?}");
                    let expected = format!("expected {expected}");
                    self.owner.broke(method.name, &did, method.line, self.now, &expected);
                }
                value
            }
            Err(error) => {
                self.owner.note_exception(py, error, self.now);
                None
            }
        })
    }

    /// Takes over what a method left; a failure becomes a window at which the sender stops.
    fn settle(&mut self, window: &mut cc::Window, left: Option<&Left>) {
        match left {
            Some(left) => {
                window.cwnd = left.cwnd.max(1.0);
                window.ssthresh = left.ssthresh;
                self.pacing = left.pacing_bps.map(|bps| BitRate(bps as u64));
            }
            None => window.cwnd = f64::NAN,
        }
    }

    fn call_on_ack(&mut self, window: &mut cc::Window, now: Time) {
        self.now = now;
        let fact = std::mem::take(&mut self.gathered).summarise(now, &self.last);
        let left = call((&self.owner, &self.on_ack, &self.window), window, now, fact);
        self.settle(window, left.as_ref());
        // Slow start would at once give back what the control has taken away.
        if left.is_some_and(|left| !left.answered) && window.cwnd < window.ssthresh {
            window.ssthresh = window.cwnd.max(LEAST_SSTHRESH);
        }
    }
}

impl CongestionControl for PyControl {
    fn on_ack(&mut self, window: &mut cc::Window, ack: &cc::Ack) {
        self.gathered.add(ack);
        self.last = *ack;
        let due = match self.cadence {
            Cadence::Each => true,
            Cadence::Round => {
                let before = self.round.replace(ack.round);
                before.is_some_and(|round| round != ack.round)
            }
            Cadence::Every(_) => false,
        };
        if due {
            self.call_on_ack(window, ack.now);
        }
    }

    fn on_congestion(&mut self, window: &mut cc::Window, event: &cc::Congestion) {
        self.now = event.now;
        // Earlier acknowledgements describe a window that no longer applies.
        self.gathered = Gathered::default();
        let (kind, lost, consecutive) = match event.signal {
            Signal::FastRetransmit { lost } => ("loss", lost, 0),
            Signal::EcnEcho => ("ecn", 0, 0),
            Signal::Rto { consecutive } => ("timeout", 0, consecutive),
            _ => ("congestion", 0, 0),
        };
        let timeout = consecutive > 0;
        self.recovering = kind == "loss";
        let fact = Congestion {
            now_s: event.now.seconds(),
            kind,
            lost,
            consecutive,
            in_flight: event.in_flight,
            in_use: usage::in_use(window, event, self.env.era),
            min_rtt_s: known_seconds(event.min_rtt),
            srtt_s: known_seconds(event.srtt),
        };
        let timeout_method = self.on_timeout.as_ref().filter(|_| timeout);
        let method = timeout_method.unwrap_or(&self.on_congestion);
        let by_default = timeout && timeout_method.is_none();
        let left = call((&self.owner, method, &self.window), window, event.now, fact);
        self.settle(window, left.as_ref());
        if let Some(left) = left {
            if !left.answered {
                window.ssthresh = window.cwnd.max(LEAST_SSTHRESH);
            }
            if by_default {
                window.cwnd = 1.0; // the loss window, RFC 5681 section 3.1
            }
        }
    }

    fn wants_samples(&self) -> bool {
        self.on_lost.is_some()
    }

    fn on_lost(&mut self, window: &mut cc::Window, lost: &cc::Lost) {
        let Some(method) = self.on_lost.as_ref().filter(|_| !self.owner.slot.has_failed()) else {
            return;
        };
        self.now = lost.now;
        let fact = Lost {
            now_s: lost.now.seconds(),
            seq: lost.seq,
            sent_s: lost.sent_at.seconds(),
            sent_in_flight: lost.tx_in_flight,
            lost_since: lost.lost,
            app_limited: lost.is_app_limited,
        };
        let left = call((&self.owner, method, &self.window), window, lost.now, fact);
        self.settle(window, left.as_ref());
    }

    fn on_recovery_end(&mut self, _window: &mut cc::Window, _now: Time) {
        self.recovering = false;
    }

    fn timer_interval(&self) -> Option<Span> {
        match self.cadence {
            Cadence::Every(interval) => Some(interval),
            Cadence::Each | Cadence::Round => None,
        }
    }

    fn on_timer(&mut self, window: &mut cc::Window, now: Time) {
        // As with acknowledgements: slow start and recovery are not this control's.
        let slow_start = self.uses_slow_start && window.cwnd < window.ssthresh;
        if !slow_start && !self.recovering {
            self.call_on_ack(window, now);
        }
    }

    fn uses_slow_start(&self) -> bool {
        self.uses_slow_start
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing
    }

    fn phase(&self) -> &'static str {
        let Some(phase) = &self.phase else { return "avoidance" };
        let state =
            self.call_report(phase, "the name of a state", |state| state.extract::<String>());
        state.and_then(|name| names::keep(&name)).unwrap_or("avoidance")
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let Some(probes) = &self.probes else { return };
        let all = self.call_report(probes, "a dict of numbers by name", |values| {
            values.extract::<BTreeMap<String, f64>>()
        });
        for (name, value) in all.unwrap_or_default() {
            if let Some(name) = names::keep(&name) {
                out(name, value);
            }
        }
    }
}
