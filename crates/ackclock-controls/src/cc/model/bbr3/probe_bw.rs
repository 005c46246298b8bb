//! `ProbeBW`: the cycle of deceleration, cruising, refilling and probing.

use super::{AckPhase, Bbr3, State, Version};
use crate::units::Span;

/// Rounds at most between probes, where flows of Reno or CUBIC would take as long.
const RENO_ROUNDS: f64 = 63.0;
const MOST_UP_ROUNDS: u32 = 30;

impl Bbr3 {
    pub(super) fn start_probe_bw_down(&mut self) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = f64::INFINITY;
        self.pick_probe_wait();
        self.cycle_stamp = self.now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(self.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_probe_bw_refill(&mut self) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.restart(self.delivered);
        self.state = State::Refill;
    }

    fn start_probe_bw_up(&mut self) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(self.delivered);
        self.reset_full_bw();
        self.full_bw = self.rs.delivery_rate;
        if self.version == Version::Two {
            self.cycle_stamp = self.now;
        }
        self.state = State::Up;
        self.raise_inflight_longterm_slope();
    }

    fn pick_probe_wait(&mut self) {
        self.rounds_since_probe_up = self.stream.below(2);
        self.bw_probe_wait = Span::from_seconds(2.0 + self.stream.uniform());
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self) {
        if !self.full_bw_reached || self.adapt_long_term_model() {
            return;
        }
        match self.state {
            State::Down => {
                if !self.probe_if_it_is_time() && self.is_time_to_cruise() {
                    self.state = State::Cruise;
                }
            }
            State::Cruise => {
                self.probe_if_it_is_time();
            }
            State::Refill => {
                if self.rounds.started {
                    self.is_bw_probe_sample = true;
                    self.start_probe_bw_up();
                }
            }
            State::Up => {
                if self.is_time_to_go_down() {
                    self.prev_probe_too_high = false;
                    self.start_probe_bw_down();
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// `IsTimeToProbeBW`.
    fn probe_if_it_is_time(&mut self) -> bool {
        let waited = self.now > self.cycle_stamp + self.bw_probe_wait;
        let rounds = self.target_inflight().min(RENO_ROUNDS);
        let due = waited || self.rounds_since_probe_up as f64 >= rounds;
        if due {
            self.start_probe_bw_refill();
        }
        due
    }

    fn is_time_to_cruise(&self) -> bool {
        let estimated = self.quantize(self.bdp_multiple_at(self.max_bw, 1.0));
        self.inflight <= self.inflight_with_headroom() && self.inflight <= estimated
    }

    fn is_time_to_go_down(&mut self) -> bool {
        if self.version == Version::Two {
            return self.has_probed_long_enough();
        }
        if self.prev_probe_too_high && self.inflight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.rs.is_cwnd_limited && self.cwnd >= self.inflight_longterm {
            // The bound, not the path, is what limits the rate.
            self.reset_full_bw();
            self.full_bw = self.rs.delivery_rate;
            return false;
        }
        self.full_bw_now
    }

    fn raise_inflight_longterm_slope(&mut self) {
        let growth_this_round = f64::from(1u32 << self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(MOST_UP_ROUNDS);
        self.probe_up_acked_per_inc = (self.cwnd / growth_this_round).max(1.0);
    }

    fn probe_inflight_longterm_upward(&mut self) {
        if !self.rs.is_cwnd_limited || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += f64::from(self.rs.newly_acked);
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta;
        }
        if self.rounds.started {
            self.raise_inflight_longterm_slope();
        }
    }

    /// True if it has decided on a state.
    fn adapt_long_term_model(&mut self) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.rounds.started {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.rounds.started {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_a_probe_bw_state() {
                if !self.rs.is_app_limited {
                    self.cycle_count += 1;
                }
                let careful = self.prev_probe_precautionary && self.version == Version::Three;
                if careful && !self.prev_probe_too_high {
                    self.start_probe_bw_refill();
                    return true;
                }
            }
        }
        let too_high = self.is_inflight_too_high(&self.rs);
        if too_high && self.version == Version::Two && self.is_bw_probe_sample {
            // Version 3 leaves it to the packets that are lost.
            let (flight, limited) = (self.rs.tx_in_flight, self.rs.is_app_limited);
            self.handle_inflight_too_high(f64::from(flight), limited);
        }
        if !too_high && self.inflight_longterm.is_finite() {
            let tx_in_flight = f64::from(self.rs.tx_in_flight);
            self.inflight_longterm = self.inflight_longterm.max(tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward();
            }
        }
        false
    }
}
