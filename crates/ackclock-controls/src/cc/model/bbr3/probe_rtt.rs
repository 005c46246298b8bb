//! `ProbeRTT`: lets the queue drain, so that the path's round-trip time can be seen.

use super::{AckPhase, Bbr3, MIN_PIPE_CWND, State};

impl Bbr3 {
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.params.probe_rtt_cwnd_gain).max(MIN_PIPE_CWND)
    }

    pub(super) fn update_min_rtt(&mut self) {
        self.probe_rtt_expired =
            self.now > self.probe_rtt_min_stamp + self.params.probe_rtt_interval;
        if let Some(rtt) = self.rs.rtt.map(crate::units::Span::seconds)
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = self.now;
        }
        let expired = self.now > self.min_rtt_stamp + self.params.min_rtt_filter_len;
        if self.probe_rtt_min_delay < self.min_rtt || expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    pub(super) fn check_probe_rtt(&mut self) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart(self.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt();
        }
        if self.rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self) {
        // Low rates here say nothing of the path.
        self.holds_back = true;
        match self.probe_rtt_done_stamp {
            None if self.inflight <= self.probe_rtt_cwnd() => {
                self.probe_rtt_done_stamp = Some(self.now + self.params.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.rounds.restart(self.delivered);
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.rounds.started;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done();
                }
            }
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self) {
        if self.probe_rtt_done_stamp.is_some_and(|end| self.now > end) {
            self.probe_rtt_min_stamp = self.now;
            self.restore_cwnd();
            self.reset_short_term_model();
            if self.full_bw_reached {
                self.start_probe_bw_down();
                self.state = State::Cruise;
            } else {
                self.state = State::Startup;
            }
        }
    }
}
