//! Copa: steers towards the rate 1 / (delta dq), dq the queueing delay, and competes when others fill the queue.
//!
//! Each flow keeps 1/delta segments queued on average; the queue empties about once in five round trips, so that the
//! smallest round trip stays known. If it does not empty, some other flow fills it, and delta adapts by AIMD.
//!
//! **Source**: V. Arun, H. Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018,
//! sections 2 and 3, <https://www.usenix.org/conference/nsdi18/presentation/arun>.
//! The text could not be had. Compared with its paragraph on v as mvfst and TQUIC quote it, with xquic, which has both modes
//! (commit 58cfb16: `RTTmax` of 4 round trips, a tenth, 5 round trips, 1/delta), and with the authors' code, below.
//!
//! **Rule** (per ACK; dq = `RTTstanding` - `RTTmin`; `RTTstanding` = least sample of SRTT/2, `RTTmin` of 10 s)
//! ```text
//! w / RTTstanding <= 1 / (delta dq):  w += v acked / (delta w)       else: w -= v acked / (delta w)
//! slow start: w doubles each round trip until it is above the target
//! v: each round trip, doubles once the direction has been the same in three; 1 when it changes
//! default mode: delta = 1/2; competitive if dq was never below (RTTmax - RTTmin) / 10 in 5 round trips,
//!   RTTmax of the last 4: 1/delta += 1 per round trip without loss, halves with loss, at least 2
//! paced at 2 w / RTTstanding;   loss: nothing but delta;   timeout: w <- 1, slow start
//! ```
//! Deviations: w is at least 2 segments. A velocity above 1 ends with the first step in the other direction
//! (`turn_at_once`), as in the implementation in mvfst, and not only at the end of the round trip: otherwise a window
//! that rose by 32 segments in a round trip falls by as many. An ACK adds no more than slow start would, and takes no
//! more than half. A timeout reduces the window, which the source leaves open.
//!
//! The authors' sender (`genericCC`, `markoviancc.cc`, commit 18299d6) was compared: the target window `RTTstanding` / (delta dq),
//! the step v / (delta w) per acknowledgement, pacing at 2 w / `RTTstanding`, the least window of 2, delta halved in 1/delta on loss
//! and 1 added per round trip are as here. It differs so: v doubles from the second round trip in one direction on, not the
//! fourth; v is at most w delta, that is w / 2 in default mode; more than 30 % of losses in two round trips take 30 % of the
//! window; a timeout takes nothing. In xquic v doubles from the fifth round trip on, is at most w delta too, and an empty queue
//! ends competitive mode at once, not at the end of the round trip. mvfst has no competitive mode, takes the last sample for
//! `RTTstanding` in dq, paces at 2 w / SRTT, and doubles w once a round trip in slow start, where this adds what is acknowledged.
//!
//! Several flows: the test for an empty queue supposes that flows move in step, so that the queue empties once in five
//! round trips. Flows that are not in step keep it from emptying and take each other for flows that fill it. On 20 Mbit/s,
//! 40 ms and 4 BDP two, three and five flows are in competitive mode for 0, 49 and 76 % of the time, and with
//! `turn_at_once = false`, the rule as published, for 41, 59 and 60 %: it is the published rule that does so. "Improvement
//! of Copa", IEEE/ACM Transactions on Networking 2023, doi:10.1109/TNET.2023.3278677, derives that Copa does not clear the
//! buffer as it expects to. `mode_switching = false` shows the equilibrium of default mode.
//!
//! Defaults by era: the same in all.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window, pace};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{BitRate, Span, Time};

/// Least window in segments.
const LEAST: f64 = 2.0;
/// The queue counts as empty below this part of its oscillation.
const EMPTY: f64 = 0.1;
/// Round trips in which the queue must have been empty once.
const EMPTY_ROUNDS: u64 = 5;
/// Round trips over which the oscillation is measured.
const OSCILLATION_ROUNDS: usize = 4;
/// Round trips in one direction before the velocity doubles.
const STEADY_ROUNDS: u32 = 3;

/// Parameters of Copa.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CopaParams {
    /// Weight of delay in default mode: 1/delta segments are kept queued.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0, "x-unit" = "1/segments"))]
    pub delta: f64,
    /// Detect flows that fill the queue and compete with them.
    pub mode_switching: bool,
    /// A velocity above 1 ends with the first step in the other direction, as in mvfst; false: at the end of the round
    /// trip, as in the paper and its authors' code.
    pub turn_at_once: bool,
    /// How long the smallest round trip is remembered.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub min_rtt_window: Span,
}

impl Default for CopaParams {
    fn default() -> Self {
        Self {
            delta: 0.5,
            mode_switching: true,
            turn_at_once: true,
            min_rtt_window: Span::from_millis(10_000),
        }
    }
}

/// The least of the samples of a sliding window of time.
#[derive(Clone, Debug, Default)]
struct RecentMin {
    /// Candidates, rising in time and value.
    samples: VecDeque<(Time, f64)>,
}

impl RecentMin {
    fn add(&mut self, now: Time, value: f64, window: Span) {
        while self.samples.back().is_some_and(|&(_, last)| last >= value) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, value));
        while self.samples.len() > 1
            && self.samples.front().is_some_and(|&(time, _)| time + window < now)
        {
            self.samples.pop_front();
        }
    }

    fn least(&self) -> Option<f64> {
        self.samples.front().map(|&(_, value)| value)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// Copa.
pub struct Copa {
    params: CopaParams,
    wire_bits: f64,
    min_rtt: RecentMin,
    standing: RecentMin,
    slow: bool,
    delta: f64,
    competitive: bool,
    velocity: f64,
    direction: Direction,
    /// Round trips in this direction.
    steady: u32,
    round: Option<u64>,
    /// Window at the beginning of the round.
    round_cwnd: f64,
    /// Largest sample of each of the last rounds, the present one last.
    largest: VecDeque<f64>,
    /// Round in which the queue was last empty.
    emptied: u64,
    lost_in_round: bool,
    queueing: f64,
    pacing: f64,
}

impl About<CcEnv> for Copa {
    type Params = CopaParams;
    const INFO: Info = Info {
        name: "copa",
        title: "Copa",
        source: "Arun, Balakrishnan, NSDI 2018, sections 2 and 3 (compared with the authors' code and quotations)",
        status: Status::Specified,
    };

    fn new(params: CopaParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            delta: params.delta,
            params,
            wire_bits: f64::from(env.wire_size) * 8.0,
            min_rtt: RecentMin::default(),
            standing: RecentMin::default(),
            slow: true,
            competitive: false,
            velocity: 1.0,
            direction: Direction::Up,
            steady: 0,
            round: None,
            round_cwnd: 0.0,
            largest: VecDeque::new(),
            emptied: 0,
            lost_in_round: false,
            queueing: 0.0,
            pacing: 0.0,
        })
    }
}

impl Copa {
    fn begin_round(&mut self, round: u64, cwnd: f64) {
        self.round = Some(round);
        let direction = if cwnd > self.round_cwnd { Direction::Up } else { Direction::Down };
        if direction == self.direction {
            self.steady += 1;
            if self.steady >= STEADY_ROUNDS {
                self.velocity *= 2.0;
            }
        } else {
            (self.steady, self.velocity) = (0, 1.0);
        }
        (self.direction, self.round_cwnd) = (direction, cwnd);
        if self.largest.len() == OSCILLATION_ROUNDS {
            self.largest.pop_front();
        }
        self.largest.push_back(0.0);
        self.set_mode(round);
        self.lost_in_round = false;
    }

    /// A step against the present direction is not taken at a velocity that belongs to it.
    fn turn(&mut self, direction: Direction, cwnd: f64) {
        if self.params.turn_at_once && self.velocity > 1.0 && direction != self.direction {
            (self.direction, self.velocity, self.steady) = (direction, 1.0, 0);
            self.round_cwnd = cwnd;
        }
    }

    fn set_mode(&mut self, round: u64) {
        let filled = round.saturating_sub(self.emptied) > EMPTY_ROUNDS;
        let competes = self.params.mode_switching && !self.slow && filled;
        let most = self.params.delta;
        if !competes {
            self.delta = most;
        } else if self.competitive {
            let inverse = 1.0 / self.delta;
            let inverse = if self.lost_in_round { inverse / 2.0 } else { inverse + 1.0 };
            self.delta = (1.0 / inverse).min(most);
        }
        self.competitive = competes;
    }

    /// Takes a sample; returns (`RTTstanding`, target rate).
    fn measure(&mut self, ack: &Ack, round: u64) -> Option<(f64, f64)> {
        if let Some(rtt) = ack.rtt.map(Span::seconds) {
            self.min_rtt.add(ack.now, rtt, self.params.min_rtt_window);
            let half = Span(ack.srtt.0 / 2);
            self.standing.add(ack.now, rtt, half);
            if let Some(last) = self.largest.back_mut() {
                *last = last.max(rtt);
            }
        }
        let (least, standing) = (self.min_rtt.least()?, self.standing.least()?);
        self.queueing = (standing - least).max(0.0);
        let largest = self.largest.iter().copied().fold(0.0, f64::max);
        if self.queueing <= EMPTY * (largest - least) {
            self.emptied = round;
        }
        Some((standing, 1.0 / (self.delta * self.queueing)))
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if self.round != Some(ack.round) {
            self.begin_round(ack.round, window.cwnd);
        }
        let Some((standing, target)) = self.measure(ack, ack.round) else { return };
        if standing <= 0.0 {
            return;
        }
        let acked = f64::from(ack.acked);
        let below = window.cwnd / standing <= target;
        if self.slow {
            if below {
                if !ack.app_limited {
                    window.cwnd += acked;
                }
            } else {
                self.slow = false;
                self.emptied = ack.round;
                (self.velocity, self.steady) = (1.0, 0);
                self.direction = Direction::Down;
            }
        }
        if !self.slow {
            self.turn(if below { Direction::Up } else { Direction::Down }, window.cwnd);
            let step = self.velocity * acked / (self.delta * window.cwnd);
            let step = step.min(window.cwnd / 2.0).min(acked.max(1.0));
            if !below {
                window.cwnd = (window.cwnd - step).max(LEAST.min(window.cwnd));
            } else if !ack.app_limited {
                window.cwnd += step;
            }
        }
        self.pacing = 2.0 * window.cwnd / standing;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        self.lost_in_round = true;
        if let Signal::Rto { .. } = event.signal {
            window.cwnd = 1.0;
            self.slow = true;
            (self.velocity, self.steady) = (1.0, 0);
        }
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        pace(self.pacing, self.wire_bits)
    }

    fn keeps_queued(&self) -> Option<f64> {
        Some(1.0 / self.params.delta)
    }

    fn phase(&self) -> &'static str {
        match (self.slow, self.competitive) {
            (true, _) => "slow-start",
            (_, true) => "competitive",
            _ => "default",
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("delta", self.delta);
        out("velocity", self.velocity);
        out("queueing_delay_s", self.queueing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::era::Era;
    use crate::near::near;

    fn copa() -> Copa {
        Copa::new(CopaParams::default(), &env(Era::Rfc)).unwrap()
    }

    /// A path of 100 ms; the samples of a round are `rtt_ms`.
    fn round(control: &mut Copa, window: &mut Window, round: u64, rtt_ms: u64) {
        let rtt = Span::from_millis(rtt_ms);
        let now = Time::ZERO + Span::from_millis(200 * round);
        let acked = window.cwnd as u32;
        let ack = Ack { rtt: Some(rtt), srtt: rtt, round, ..Ack::at(now, 0) };
        control.on_ack(window, &ack);
        control.on_ack(window, &Ack { acked, ..ack });
    }

    #[test]
    fn slow_start_doubles_until_the_rate_is_above_the_target() {
        let mut control = copa();
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        for (round_number, cwnd) in [(0, 20.0), (1, 40.0), (2, 80.0)] {
            round(&mut control, &mut window, round_number, 100);
            near::<9>(window.cwnd, cwnd);
            assert_eq!(control.phase(), "slow-start");
        }
        // 10 ms of queue: the target is 1 / (0.5 x 0.01) = 200 segments/s, the rate 80 / 0.11 = 727. The round takes
        // 1 / (0.5 x 80) for each of 80 segments: 2.
        round(&mut control, &mut window, 3, 110);
        near::<9>(window.cwnd, 78.0);
        assert_eq!(control.phase(), "default");
        // Paced at twice the rate: 2 x 78 / 0.11 segments/s of 8320 bits.
        let rate = control.pacing_rate().unwrap().bps();
        assert!((rate - 2.0 * 78.0 / 0.11 * 8320.0).abs() < 1.0, "{rate}");
    }

    #[test]
    fn the_velocity_doubles_after_three_round_trips_in_one_direction_and_is_one_after_a_turn() {
        let mut control = copa();
        control.params.mode_switching = false;
        let mut window = Window { cwnd: 400.0, ssthresh: f64::INFINITY };
        round(&mut control, &mut window, 0, 100);
        (control.slow, window.cwnd, control.round_cwnd) = (false, 400.0, 401.0);
        control.direction = Direction::Up;
        let mut steps = Vec::new();
        for round_number in 1..8 {
            let before = window.cwnd;
            round(&mut control, &mut window, round_number, 110);
            steps.push((before - window.cwnd).round());
        }
        // Down by v / delta = 2 v a round trip: the turn, two more, then 2, 4, 8, 16 times that.
        assert_eq!(steps, [2.0, 2.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        let before = window.cwnd;
        round(&mut control, &mut window, 8, 100);
        assert!(window.cwnd > before);
        let before = window.cwnd;
        round(&mut control, &mut window, 9, 100);
        assert_eq!((window.cwnd - before).round(), 2.0);
    }

    /// A queue that never empties in five round trips is somebody else's: 1/delta rises by 1 a round trip, a loss
    /// halves it, and an empty queue ends the mode.
    #[test]
    fn a_queue_that_stays_full_leads_to_aimd_of_delta() {
        let mut control = copa();
        let mut window = Window { cwnd: 50.0, ssthresh: f64::INFINITY };
        round(&mut control, &mut window, 0, 100);
        let mut round_number = 1;
        while control.phase() != "competitive" {
            round(&mut control, &mut window, round_number, 150);
            round_number += 1;
        }
        assert_eq!(round_number, 8); // slow start left in round 1, so that round 7 is the first beyond five
        near::<9>(control.delta, 0.5);
        for inverse in [3.0, 4.0, 5.0, 6.0] {
            round(&mut control, &mut window, round_number, 150);
            near::<9>(1.0 / control.delta, inverse);
            round_number += 1;
        }
        let lost = Signal::FastRetransmit { lost: 1 };
        let before = window.cwnd;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, lost, 50));
        near::<9>(window.cwnd, before);
        round(&mut control, &mut window, round_number, 150);
        near::<9>(1.0 / control.delta, 3.0);
        round(&mut control, &mut window, round_number + 1, 100);
        round(&mut control, &mut window, round_number + 2, 100);
        assert_eq!(control.phase(), "default");
        near::<9>(control.delta, 0.5);
    }

    #[test]
    fn the_least_sample_of_a_sliding_window() {
        let mut filter = RecentMin::default();
        let ms = |t| Time::ZERO + Span::from_millis(t);
        for (t, value, least) in [(0, 5.0, 5.0), (10, 3.0, 3.0), (20, 4.0, 3.0), (35, 6.0, 4.0)] {
            filter.add(ms(t), value, Span::from_millis(20));
            near::<9>(filter.least().unwrap(), least);
        }
    }

    /// A velocity above 1 belongs to its direction and ends with it; at 1 the direction is the last round trip's.
    #[test]
    fn a_step_against_the_direction_ends_what_made_it_fast() {
        for (velocity, after) in [(1.0, (Direction::Down, 2)), (2.0, (Direction::Up, 0))] {
            let mut control = copa();
            control.params.turn_at_once = true;
            (control.velocity, control.direction, control.steady) = (velocity, Direction::Down, 2);
            control.turn(Direction::Up, 50.0);
            assert_eq!((control.direction, control.steady), after, "{velocity}");
            near::<9>(control.velocity, 1.0);
        }
    }

    /// A round begins with 100, the window falls to 50 and turns. At the next round 60 are more than 50 where it turned: one
    /// round trip in the new direction, though it is less than what the round began with.
    #[test]
    fn after_a_turn_the_direction_of_a_round_trip_is_counted_from_there() {
        let mut control = copa();
        control.params.turn_at_once = true;
        (control.velocity, control.direction, control.steady) = (4.0, Direction::Down, 3);
        control.round_cwnd = 100.0;
        control.turn(Direction::Up, 50.0);
        control.begin_round(1, 60.0);
        assert_eq!((control.direction, control.steady), (Direction::Up, 1));
    }
}
