//! The model of the path: rate, volume in flight, aggregation, and what losses say of them.

use super::{
    Bbr3, EXTRA_ACKED_FILTER_LEN, FULL_BW_GROWTH, FULL_BW_ROUNDS, MAX_BW_FILTER_LEN, MIN_PIPE_CWND,
    State, Version,
};
use crate::cc::{Lost, RateSample};

impl Bbr3 {
    /// `BBR.bdp`; infinite before the first round-trip sample.
    pub(super) fn bdp(&self) -> f64 {
        if self.bw == 0.0 { 0.0 } else { self.bw * self.min_rtt }
    }

    pub(super) fn bdp_multiple(&self, gain: f64) -> f64 {
        self.bdp_multiple_at(self.bw, gain)
    }

    pub(super) fn bdp_multiple_at(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt.is_infinite() { self.initial_cwnd } else { gain * bw * self.min_rtt }
    }

    /// `QuantizationBudget`.
    pub(super) fn quantize(&self, inflight_cap: f64) -> f64 {
        let offload_budget = 3.0 * self.send_quantum;
        let probing = if self.state == State::Up { 2.0 } else { 0.0 };
        inflight_cap.max(offload_budget).max(MIN_PIPE_CWND) + probing
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm.is_infinite() {
            return f64::INFINITY;
        }
        let headroom = (self.params.headroom * self.inflight_longterm).max(1.0);
        (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
    }

    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.loss_round_start = false;
        if !self.rs.has_data {
            return;
        }
        self.bw_latest = self.bw_latest.max(self.rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered as f64);
        if self.rs.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = self.delivered;
            self.loss_round_start = true;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        if !self.loss_round_start {
            return;
        }
        if !self.is_probing_bw() && self.is_loss_in_round {
            self.lower_short_term_bounds();
        }
        self.is_loss_in_round = false;
    }

    /// `InitLowerBounds` and `LossLowerBounds`.
    fn lower_short_term_bounds(&mut self) {
        if self.bw_shortterm.is_infinite() {
            self.bw_shortterm = self.max_bw;
        }
        if self.inflight_shortterm.is_infinite() {
            self.inflight_shortterm = self.cwnd;
        }
        let beta = self.params.beta;
        self.bw_shortterm = self.bw_latest.max(beta * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(beta * self.inflight_shortterm);
    }

    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = f64::INFINITY;
    }

    fn update_max_bw(&mut self) {
        self.rounds.started = false;
        if !self.rs.has_data {
            return;
        }
        self.rounds.on_delivered(self.rs.prior_delivered, self.delivered);
        self.rounds_since_probe_up += u64::from(self.rounds.started);
        let rate = self.rs.delivery_rate;
        if rate > 0.0 && (rate >= self.max_bw || !self.rs.is_app_limited) {
            self.max_bw_filter.add(self.cycle_count, rate);
            self.max_bw = self.max_bw_filter.largest(self.cycle_count, MAX_BW_FILTER_LEN as u64);
        }
    }

    pub(super) fn update_ack_aggregation(&mut self) {
        let interval = self.now.since(self.extra_acked_interval_start).seconds();
        let mut expected = self.bw * interval;
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = self.now;
            expected = 0.0;
        }
        self.extra_acked_delivered += f64::from(self.rs.newly_acked);
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        let long = self.full_bw_reached || self.version == Version::Two;
        let len = if long { EXTRA_ACKED_FILTER_LEN as u64 } else { 1 };
        self.extra_acked_filter.add(self.rounds.count, extra);
        self.extra_acked = self.extra_acked_filter.largest(self.rounds.count, len);
    }

    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    pub(super) fn check_full_bw_reached(&mut self) {
        if self.full_bw_now || !self.rounds.started || self.rs.is_app_limited {
            return;
        }
        let rate = match self.version {
            // It looks for the end of Startup only.
            Version::Two if self.full_bw_reached => return,
            Version::Two => self.max_bw,
            Version::Three => self.rs.delivery_rate,
        };
        if rate >= self.full_bw * FULL_BW_GROWTH {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    pub(super) fn is_inflight_too_high(&self, rs: &RateSample) -> bool {
        rs.lost as f64 > f64::from(rs.tx_in_flight) * self.params.loss_thresh
            || (rs.lost > 0 && !rs.has_selective_acks)
    }

    /// `NoteLoss` and `HandleLostPacket`.
    pub(super) fn handle_lost_packet(&mut self, lost: &Lost) {
        if self.last_lost.is_none_or(|last| last + 1 != lost.seq) {
            self.loss_ranges += 1;
        }
        self.last_lost = Some(lost.seq);
        if !self.is_loss_in_round && self.version == Version::Three {
            self.loss_round_delivered = self.delivered;
            self.save_cwnd();
            if !self.in_recovery {
                self.save_state_upon_loss();
            }
        }
        self.is_loss_in_round = true;
        if !self.is_bw_probe_sample {
            return;
        }
        let rs = RateSample {
            tx_in_flight: lost.tx_in_flight,
            lost: lost.lost,
            is_app_limited: lost.is_app_limited,
            has_selective_acks: lost.has_selective_acks,
            ..self.rs
        };
        if self.is_inflight_too_high(&rs) {
            let at_loss = self.inflight_at_loss(lost);
            self.handle_inflight_too_high(at_loss, lost.is_app_limited);
        }
    }

    /// What was in flight when the losses passed the threshold, a fraction of the packet included.
    fn inflight_at_loss(&self, lost: &Lost) -> f64 {
        let thresh = self.params.loss_thresh;
        let inflight_prev = f64::from(lost.tx_in_flight) - 1.0;
        let lost_prev = lost.lost as f64 - 1.0;
        let lost_prefix = (thresh * inflight_prev - lost_prev) / (1.0 - thresh);
        inflight_prev + lost_prefix.clamp(0.0, 1.0)
    }

    pub(super) fn handle_inflight_too_high(&mut self, tx_in_flight: f64, is_app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !is_app_limited {
            self.inflight_longterm = tx_in_flight.max(self.target_inflight() * self.params.beta);
        }
        if self.state == State::Up {
            self.undo_state = Some(State::Up);
            self.start_probe_bw_down();
        }
    }

    pub(super) fn save_state_upon_loss(&mut self) {
        self.undo_state = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }

    pub(super) fn handle_spurious_loss_detection(&mut self) {
        self.restore_cwnd();
        if self.version == Version::Two {
            return;
        }
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo_inflight_longterm);
        match self.undo_state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_probe_bw_refill();
            }
            _ => {}
        }
    }
}
