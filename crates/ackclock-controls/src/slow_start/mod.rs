//! ROOM: slow start rules. How the window grows below ssthresh.
//!
//! A new rule: one file here that implements [`About`](crate::registry::About) and [`SlowStart`],
//! and one line in the registry at the end of this file.

pub mod careful_resume;
pub mod hystart;
pub mod hystart_pp;
pub mod limited;
pub mod none;
pub mod rapid_start;
pub mod search;
pub mod standard;

use crate::cc::{Ack, CcEnv, Congestion, Window};
use crate::units::Span;

/// A slow start rule.
pub trait SlowStart: Send {
    /// New data was acknowledged while `cwnd < ssthresh`. May lower `ssthresh` to end slow start.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);
    /// Whether the rule does more than grow the window. Only then the calls below are made.
    fn acts_beyond_growth(&self) -> bool {
        false
    }
    /// Segments per second at which data may leave where the control does not pace; `None`: as the ACKs come.
    fn pacing_rate(&self, _window: &Window, _srtt: Span) -> Option<f64> {
        None
    }
    /// Congestion, which the control has answered; `before`: the window before that.
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion, _before: &Window) {}
    /// An acknowledgement in recovery: segments that it newly reports as delivered and as lost.
    fn on_repair(&mut self, _window: &mut Window, _delivered: u32, _lost: u32) {}
    /// Recovery has ended.
    fn on_recovery_end(&mut self, _window: &mut Window) {}
}

/// What a new rule knows: the same as a control.
pub type SlowStartEnv = CcEnv;

crate::registry! {
    /// Builds a slow start rule by name.
    "slow start rule": dyn SlowStart, SlowStartEnv {
        "slow_start/standard.rs" => standard::Standard,
        "slow_start/limited.rs" => limited::Limited,
        "slow_start/hystart_pp.rs" => hystart_pp::HystartPlusPlus,
        "slow_start/hystart.rs" => hystart::LinuxHystart,
        "slow_start/search.rs" => search::Search,
        "slow_start/careful_resume.rs" => careful_resume::CarefulResume,
        "slow_start/rapid_start.rs" => rapid_start::RapidStart,
        "slow_start/none.rs" => none::NoSlowStart,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::{ERAS, env};
    use crate::registry::Spec;
    use crate::units::{Span, Time};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(64)
        })]
        #[test]
        fn every_rule_keeps_the_window_sound_never_shrinks_it_and_replays_equal(
            acks in prop::collection::vec(
                (1u32..50, 1u64..500, any::<bool>(), any::<bool>()),
                1..200,
            )
        ) {
            let run = |name, era| {
                let mut rule = build(&Spec::from(name), &env(era), "slow_start").unwrap();
                let mut window = Window { cwnd: 1.0, ssthresh: f64::INFINITY };
                let mut round = 0;
                for &(acked, ms, turn, echo) in &acks {
                    round += u64::from(turn);
                    let before = window;
                    let rtt = Some(Span::from_millis(ms));
                    let ack = Ack { rtt, round, ecn_echo: echo, ..Ack::at(Time::ZERO, acked) };
                    rule.on_ack(&mut window, &ack);
                    assert!(window.cwnd.is_finite() && window.cwnd >= 1.0, "{name}");
                    if !rule.acts_beyond_growth() {
                        assert!(window.cwnd >= before.cwnd, "{name}");
                        assert!(window.cwnd <= before.cwnd + f64::from(acked), "{name}");
                    }
                    assert!(window.ssthresh >= 2.0 && window.ssthresh <= before.ssthresh, "{name}");
                    if window.cwnd >= window.ssthresh {
                        break;
                    }
                }
                (window.cwnd.to_bits(), window.ssthresh.to_bits())
            };
            for entry in catalogue() {
                for era in ERAS {
                    prop_assert_eq!(run(entry.info.name, era), run(entry.info.name, era));
                }
            }
        }
    }
}
