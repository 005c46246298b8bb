//! How the application hands over its data: in bursts at regular times, or at a rate that changes.
//!
//! **Rule**
//! ```text
//! bursts:  so many segments at the start and each time that the interval has passed
//! steps:   before the first step everything; from a step on one segment each (mss / rate), the first at once,
//!          and of what had been handed over before only what has left; a rate of 0: nothing; no rate: everything
//! ```

use std::sync::Arc;

use super::Deadline;
use super::receiver::segments_of;
use crate::units::{BitRate, Bytes, PS_PER_S, Span, Time};

/// How an application hands over its data.
#[derive(Clone, Debug, PartialEq)]
pub enum Supply {
    /// So much each time that this has passed.
    Bursts(Bytes, Span),
    /// A rate of payload from each time on; `None`: all that there is.
    Steps(Vec<(Time, Option<BitRate>)>),
}

impl Supply {
    /// Whether it hands over nothing before it is called for the first time.
    pub(crate) fn is_paced_from_start(&self) -> bool {
        matches!(self, Self::Bursts(..))
    }
}

/// The application of a flow.
#[derive(Debug)]
pub(crate) struct Application {
    supply: Arc<Supply>,
    mss: u32,
    /// Steps that have begun.
    passed: usize,
    /// When it hands over data again.
    pub(crate) next: Deadline,
}

impl Application {
    pub(crate) fn new(supply: Arc<Supply>, mss: u32) -> Self {
        Self { supply, mss, passed: 0, next: Deadline::NEVER }
    }

    /// Hands over what is due and returns the segments handed over so far, of `total`; `available` were,
    /// and `sent` have left.
    pub(crate) fn hand_over(
        &mut self,
        now: Time,
        mut available: u32,
        sent: u32,
        total: u32,
    ) -> u32 {
        let at = match &*self.supply {
            Supply::Bursts(size, every) => {
                available = available.saturating_add(segments_of(*size, self.mss));
                now + *every
            }
            Supply::Steps(steps) => {
                let begun = self.passed;
                while steps.get(self.passed).is_some_and(|step| step.0 <= now) {
                    self.passed += 1;
                }
                let then = steps.get(self.passed).map_or(Time::MAX, |step| step.0);
                match self.passed.checked_sub(1).map(|step| steps[step].1) {
                    None => then,
                    Some(None) => {
                        available = total;
                        then
                    }
                    Some(Some(rate)) => {
                        if self.passed > begun {
                            available = sent;
                        }
                        if rate.0 == 0 {
                            then
                        } else {
                            available = available.saturating_add(1).min(total);
                            let gap = f64::from(self.mss) * 8.0 * PS_PER_S as f64 / rate.bps();
                            let more =
                                if available < total { now + Span(gap as u64) } else { Time::MAX };
                            then.min(more)
                        }
                    }
                }
            }
        };
        self.next = if at == Time::MAX { Deadline::NEVER } else { Deadline { at, armed: now } };
        available
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 1000-byte segments: all until 100 ms, then 80 kbit/s, one each 100 ms; a pause from 350 ms to 1 s; all
    /// again. 7 of those handed over first have left by 100 ms.
    #[test]
    fn a_rate_replaces_what_was_there_and_a_pause_hands_over_nothing() {
        let steps =
            vec![(at(100), Some(BitRate(80_000))), (at(350), Some(BitRate(0))), (at(1000), None)];
        let mut app = Application::new(Arc::new(Supply::Steps(steps)), 1000);
        let total = 5000;
        let mut available = app.hand_over(at(0), total, 0, total);
        assert_eq!((available, app.next.at), (total, at(100)));
        let mut seen = Vec::new();
        while app.next.at < at(1000) {
            let now = app.next.at;
            available = app.hand_over(now, available, available.min(7 + seen.len() as u32), total);
            seen.push((now.0 / 1_000_000_000, available));
        }
        assert_eq!(seen, [(100, 8), (200, 9), (300, 10), (350, 10)]);
        available = app.hand_over(app.next.at, available, 10, total);
        assert_eq!((available, app.next.at), (total, Time::MAX));
    }

    #[test]
    fn the_whole_transfer_is_handed_over_and_then_nothing_is_due() {
        let steps = vec![(at(0), Some(BitRate(8_000_000)))];
        let mut app = Application::new(Arc::new(Supply::Steps(steps)), 1000);
        let mut available = app.hand_over(at(0), 3, 0, 3);
        assert_eq!((available, app.next.at), (1, at(1)));
        available = app.hand_over(at(1), available, 1, 3);
        available = app.hand_over(at(2), available, 1, 3);
        assert_eq!((available, app.next.at), (3, Time::MAX));
    }
}
