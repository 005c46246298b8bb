//! Controls whose windows the subflows of a multipath connection couple, and what their subflows know of each other.
//!
//! A subflow's sender publishes its window and round trip after each of its calls; the controls read those of all. A
//! flow of one path has no siblings, and a coupled control is Reno there.

pub mod balia;
pub mod lia;
pub mod olia;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::linear::{Aimd, AimdParams};
use super::usage::{growth, in_use};
use super::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::About;

/// What a subflow shows of itself to its siblings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Subflow {
    /// cwnd in segments; while it repairs losses at most ssthresh.
    pub cwnd: f64,
    /// Smoothed round trip in seconds.
    pub srtt_s: f64,
    /// It sends, and has measured a round trip.
    pub is_open: bool,
    /// Segments delivered since the last loss (l2), and between the last two (l1), where its control counts them.
    pub delivered: [f64; 2],
}

impl Subflow {
    /// Segments a second that its window lets leave.
    pub fn rate(&self) -> f64 {
        self.cwnd / self.srtt_s
    }
}

/// The subflows of a connection, as one of them sees them.
#[derive(Clone, Debug)]
pub struct Siblings {
    own: usize,
    all: Arc<Mutex<Vec<Subflow>>>,
}

impl Siblings {
    /// Those of a connection of so many subflows, by subflow.
    pub fn of(count: usize) -> Vec<Self> {
        let all = Arc::new(Mutex::new(vec![Subflow::default(); count]));
        (0..count).map(|own| Self { own, all: Arc::clone(&all) }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Subflow>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the window and the round trip of this subflow.
    pub fn publish(&self, cwnd: f64, srtt_s: f64, is_open: bool) {
        let own = &mut self.lock()[self.own];
        (own.cwnd, own.srtt_s, own.is_open) = (cwnd, srtt_s, is_open && srtt_s > 0.0);
    }

    /// Shows what this subflow has delivered since its last loss, and between the last two.
    fn publish_delivered(&self, delivered: [f64; 2]) {
        self.lock()[self.own].delivered = delivered;
    }

    /// Shows this subflow as it is now, and hands all that are open to `read`, if it is among several: first the number
    /// of this one among them.
    fn read<R>(
        &self,
        cwnd: f64,
        srtt_s: f64,
        read: impl FnOnce(usize, &[Subflow]) -> R,
    ) -> Option<R> {
        if srtt_s <= 0.0 {
            return None;
        }
        let mut all = self.lock();
        let own = &mut all[self.own];
        (own.cwnd, own.srtt_s, own.is_open) = (cwnd, srtt_s, true);
        let mut open = [Subflow::default(); MOST_SUBFLOWS];
        let (mut count, mut place) = (0, 0);
        for (i, subflow) in all.iter().enumerate() {
            if i == self.own {
                place = count;
            }
            if subflow.is_open && count < MOST_SUBFLOWS {
                open[count] = *subflow;
                count += 1;
            }
        }
        (count > 1).then(|| read(place, &open[..count]))
    }
}

/// Most subflows of a connection.
pub const MOST_SUBFLOWS: usize = 8;

/// What coupled controls have in common: Reno where there are no siblings, and how a window is cut.
struct Base {
    reno: Aimd,
    siblings: Option<Siblings>,
    era: Era,
}

impl Base {
    fn new(env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let reno = Aimd::new(AimdParams::default(), env)?;
        Ok(Self { reno, siblings: None, era: env.era })
    }

    /// Adds to the window what `step` says for each segment acknowledged, of this subflow among all; Reno's growth where it
    /// is alone. Returns what was added for a segment, if it was not Reno's.
    fn grow(
        &mut self,
        window: &mut Window,
        ack: &Ack,
        step: impl FnOnce(usize, &[Subflow]) -> f64,
    ) -> Option<f64> {
        let srtt_s = ack.srtt.seconds();
        let siblings = self.siblings.as_ref();
        let step = siblings.and_then(|siblings| siblings.read(window.cwnd, srtt_s, step));
        match step {
            None => self.reno.on_ack(window, ack),
            Some(step) => window.cwnd = (window.cwnd + step * growth(ack, self.era)).max(1.0),
        }
        step
    }

    /// Answers congestion by leaving a share of the window that was in use; `share` is of this subflow among all. Where it is
    /// alone, Reno's answer. The least window is one segment, as others carry on (both drafts, ssthresh).
    fn cut(
        &mut self,
        window: &mut Window,
        event: &Congestion,
        share: impl FnOnce(usize, &[Subflow]) -> f64,
    ) {
        let srtt_s = event.srtt.seconds();
        let siblings = self.siblings.as_ref();
        let share = siblings.and_then(|siblings| siblings.read(window.cwnd, srtt_s, share));
        let (Some(share), false) = (share, event.signal == Signal::Spurious) else {
            return self.reno.on_congestion(window, event);
        };
        let remaining = (share * in_use(window, event, self.era)).max(1.0);
        if let Signal::Rto { consecutive } = event.signal {
            if consecutive <= 1 {
                window.ssthresh = remaining;
            }
            window.cwnd = 1.0;
        } else {
            window.ssthresh = remaining;
            window.cwnd = remaining.min(window.cwnd);
        }
    }
}

#[cfg(test)]
pub(crate) mod test_support {
    use super::*;
    use crate::units::{Span, Time};

    /// Two subflows with these windows [segments] and round trips \[s\]; the first is the one of the control.
    pub(crate) fn pair(windows: [f64; 2], round_trips_s: [f64; 2]) -> Siblings {
        let mut siblings = Siblings::of(2);
        for (subflow, (cwnd, srtt_s)) in siblings.iter().zip(windows.into_iter().zip(round_trips_s))
        {
            subflow.publish(cwnd, srtt_s, true);
        }
        siblings.swap_remove(0)
    }

    /// An acknowledgement of one segment of a subflow with this round trip.
    pub(crate) fn ack(srtt_ms: u64, delivered: u64) -> Ack {
        Ack { srtt: Span::from_millis(srtt_ms), delivered, ..Ack::at(Time::ZERO, 1) }
    }

    /// A loss of a subflow with this round trip and so many segments in flight.
    pub(crate) fn loss(srtt_ms: u64, in_flight: u32) -> Congestion {
        let lost = Signal::FastRetransmit { lost: 1 };
        Congestion {
            srtt: Span::from_millis(srtt_ms),
            ..Congestion::at(Time::ZERO, lost, in_flight)
        }
    }

    /// Whether a control does exactly what Reno does in a random history of acknowledgements and losses.
    pub(crate) fn is_reno(mut control: impl CongestionControl, env: &CcEnv) -> bool {
        let mut reno = Aimd::new(AimdParams::default(), env).unwrap();
        let mut windows = [Window { cwnd: 10.0, ssthresh: 10.0 }; 2];
        let mut rng = crate::rng::Stream::new(7, crate::rng::Purpose::Control, 0);
        for step in 0..2000u64 {
            let [own, other] = &mut windows;
            match rng.below(100) {
                0 => {
                    let event = loss(100, own.cwnd as u32);
                    control.on_congestion(own, &event);
                    reno.on_congestion(other, &event);
                }
                1 => {
                    let signal = Signal::Rto { consecutive: 1 };
                    let event = Congestion { signal, ..loss(100, own.cwnd as u32) };
                    control.on_congestion(own, &event);
                    reno.on_congestion(other, &event);
                }
                _ => {
                    let ack = Ack { acked: 1 + rng.below(3) as u32, ..ack(100, step) };
                    control.on_ack(own, &ack);
                    reno.on_ack(other, &ack);
                }
            }
            if windows[0] != windows[1] {
                return false;
            }
        }
        windows[0].cwnd > 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subflow_without_a_round_trip_is_no_sibling_yet() {
        let siblings = Siblings::of(3);
        siblings[1].publish(10.0, 0.0, true);
        assert_eq!(siblings[0].read(4.0, 0.1, |_, all| all.len()), None);
        siblings[2].publish(8.0, 0.2, true);
        assert_eq!(siblings[0].read(4.0, 0.1, |own, all| (own, all.len())), Some((0, 2)));
        assert_eq!(siblings[2].read(8.0, 0.2, |own, all| (own, all.len())), Some((1, 2)));
        siblings[0].publish(4.0, 0.1, false);
        assert_eq!(siblings[2].read(8.0, 0.2, |_, all| all.len()), None);
    }

    #[test]
    fn a_window_of_a_coupled_subflow_falls_to_one_segment() {
        let env = crate::cc::test_support::env(Era::Rfc);
        let mut base = Base::new(&env).unwrap();
        base.siblings = Some(test_support::pair([2.0, 50.0], [0.1, 0.1]));
        let mut window = Window { cwnd: 2.0, ssthresh: 2.0 };
        base.cut(&mut window, &test_support::loss(100, 2), |_, _| 0.25);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 1.0));
        base.siblings = None;
        let mut window = Window { cwnd: 2.0, ssthresh: 2.0 };
        base.cut(&mut window, &test_support::loss(100, 2), |_, _| 0.25);
        assert_eq!((window.cwnd, window.ssthresh), (2.0, 2.0));
    }
}
