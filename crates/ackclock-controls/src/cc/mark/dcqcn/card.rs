//! DCQCN as network cards of one vendor run it: notifications are counted by periods that begin with the first.

use super::{Dcqcn, MOST_AT_ONCE};
use crate::units::{Span, Time};

/// Where the periods are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Card {
    /// The first notification, from which all periods are counted.
    first: Option<Time>,
    /// Periods of alpha that are over.
    alpha_periods: u64,
    /// A notification came in the present period of alpha.
    is_noted: bool,
    /// A notification came since the last cut: the next is at the end of this period.
    cut_due: Option<Time>,
}

/// Whole periods from one time to another.
fn periods(from: Time, to: Time, period: Span) -> u64 {
    to.since(from).0 / period.0.max(1)
}

impl Dcqcn {
    /// Runs what is due, in order of time: at equal times alpha first, then the cut, then the timer.
    pub(super) fn advance_card(&mut self, now: Time) {
        let Some(first) = self.card.first else { return };
        for _ in 0..MOST_AT_ONCE {
            let cut = self.card.cut_due.unwrap_or(Time::MAX);
            let rise = if self.is_limited { self.rate_due } else { Time::MAX };
            let next = cut.min(rise);
            self.follow_alpha(first, next.min(now));
            if next > now {
                return;
            }
            if cut <= rise {
                self.cut(cut);
            } else {
                self.rate_due += self.params.rate_timer;
                self.rise();
            }
        }
        // A pause in which nothing called was so long that the rest does not matter.
        self.follow_alpha(first, now);
        self.rate_due = now + self.params.rate_timer;
    }

    /// Ends the periods of alpha up to a time.
    fn follow_alpha(&mut self, first: Time, until: Time) {
        let over = periods(first, until, self.params.alpha_timer);
        let mut left = over.saturating_sub(self.card.alpha_periods);
        self.card.alpha_periods = over.max(self.card.alpha_periods);
        let kept = 1.0 - self.params.g;
        if left > 0 && std::mem::take(&mut self.card.is_noted) {
            self.alpha = kept * self.alpha + self.params.g;
            left -= 1;
        }
        if left > 0 {
            // The same bits on every platform: that of the system differs in the last.
            self.alpha *= libm::pow(kept, left as f64);
        }
    }

    fn cut(&mut self, now: Time) {
        self.card.cut_due = None;
        if self.timer_events > 0 {
            self.target = self.current;
        }
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(self.least);
        self.timer_events = 0;
        self.is_limited = true;
        self.rate_due = now + self.params.rate_timer;
    }

    fn rise(&mut self) {
        let recovery = self.params.recovery_events;
        if self.timer_events >= recovery {
            let is_hyper = self.timer_events > recovery;
            self.target += if is_hyper { self.hyper } else { self.additive };
            self.target = self.target.min(self.line);
        }
        self.timer_events = self.timer_events.saturating_add(1);
        self.approach_target();
    }

    /// A notification, at the present time.
    pub(super) fn notify_card(&mut self, now: Time) {
        self.notified = Some(now);
        let interval = self.params.cnp_interval;
        if let Some(first) = self.card.first {
            self.card.is_noted = true;
            let next = first + interval * (periods(first, now, interval) + 1);
            self.card.cut_due.get_or_insert(next);
        } else {
            self.card.first = Some(now);
            self.card.cut_due = Some(now + interval);
            self.target = self.current;
        }
    }

    pub(super) fn phase_card(&self) -> &'static str {
        let recovery = self.params.recovery_events;
        if !self.is_limited {
            "line-rate"
        } else if self.timer_events <= recovery {
            "fast-recovery"
        } else if self.timer_events == recovery + 1 {
            "additive-increase"
        } else {
            "hyper-increase"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{at, mark};
    use super::super::{DcqcnParams, Rule};
    use super::*;
    use crate::cc::test_support::env;
    use crate::cc::{CcEnv, CongestionControl};
    use crate::era::Era;
    use crate::near::near;
    use crate::registry::About;
    use crate::units::BitRate;

    /// 100 Gbit/s with the settings of HPCC's simulator: 1, 4 and 300 us, steps of 20 and 200 Mbit/s.
    fn control() -> Dcqcn {
        let params = DcqcnParams {
            rule: Rule::Card,
            alpha_timer: Span::from_micros(1),
            cnp_interval: Span::from_micros(4),
            rate_timer: Span::from_micros(300),
            recovery_events: 1,
            additive: Some(BitRate(20_000_000)),
            hyper: Some(BitRate(200_000_000)),
            least: Some(BitRate(1_000_000_000)),
            ..DcqcnParams::default()
        };
        let env = CcEnv { line_rate: BitRate(100_000_000_000), ..env(Era::Rfc) };
        Dcqcn::new(params, &env).unwrap()
    }

    /// The first mark starts periods from its time on: at 104 us alpha has decayed four times, so 100 to 100 (1 - 0.98447 / 2).
    #[test]
    fn the_first_cut_comes_a_period_after_the_first_mark() {
        let mut control = control();
        near::<9>(mark(&mut control, 100), 100.0);
        control.advance(at(103));
        near::<9>(control.current / 1e9, 100.0);
        control.advance(at(104));
        let alpha = (255.0f64 / 256.0).powi(4);
        near::<12>(control.alpha, alpha);
        near::<9>(control.current / 1e9, 100.0 * (1.0 - alpha / 2.0));
        // No mark came since: nothing follows but the timer.
        control.advance(at(300));
        near::<9>(control.current / 1e9, 100.0 * (1.0 - alpha / 2.0));
    }

    /// Marks at 0, 5 and 6 us: periods of alpha without, without ..., with, with; cuts at 4 and at 8 us.
    #[test]
    fn marks_of_a_period_cut_once_and_raise_alpha_each() {
        let mut control = control();
        mark(&mut control, 0);
        mark(&mut control, 5);
        mark(&mut control, 6);
        let kept = 255.0 / 256.0;
        let first = f64::powi(kept, 4);
        let noted = kept * (kept * f64::powi(kept, 5) + 1.0 / 256.0) + 1.0 / 256.0;
        control.advance(at(8));
        near::<12>(control.alpha, noted * kept);
        let rate = 100.0 * (1.0 - first / 2.0) * (1.0 - noted * kept / 2.0);
        near::<9>(control.current / 1e9, rate);
        // The target is that before the first of them, as nothing has raised the rate between.
        near::<9>(control.target / 1e9, 100.0);
    }

    /// Half-way to 100 at 304 us; then the target, at the line rate, can only stay. A cut at 700 us, after two rises, takes the
    /// present rate for the target; rises after it recover, add 20 Mbit/s, add 200.
    #[test]
    fn the_timer_recovers_once_adds_once_and_then_adds_more() {
        let mut control = control();
        mark(&mut control, 0);
        control.advance(at(4));
        let cut = control.current;
        control.advance(at(304));
        near::<3>(control.current, f64::midpoint(cut, 100e9));
        assert_eq!(control.phase(), "fast-recovery");
        control.advance(at(604));
        let before = control.current;
        near::<3>(before, 100e9 - (100e9 - cut) / 4.0);
        mark(&mut control, 697);
        control.advance(at(700));
        near::<3>(control.target, before);
        let cut = control.current;
        control.advance(at(1000));
        near::<3>(control.current, f64::midpoint(cut, before));
        control.advance(at(1300));
        near::<3>(control.target, before + 20e6);
        control.advance(at(1600));
        near::<3>(control.target, before + 220e6);
        assert_eq!(control.phase(), "hyper-increase");
    }

    #[test]
    fn marks_for_long_leave_the_least_rate() {
        let mut control = control();
        (0..100).for_each(|us| {
            mark(&mut control, us);
        });
        near::<9>(control.current / 1e9, 1.0);
    }
}
