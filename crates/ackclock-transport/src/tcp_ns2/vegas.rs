//! ns-2's Vegas: a sender with a separate recovery, beside the rule by which its window moves.
//!
//! **Source**: the agent of ns-2.35, observed and read; after L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion
//! Avoidance on a Global Internet", IEEE JSAC 13(8), 1995, doi:10.1109/49.464716.
//!
//! **Rule** (t: seconds since the first packet; W = packets in flight; R = mean of a round's samples)
//! ```text
//! a round ends with the acknowledgement of the packet that was next when it began:
//!     base = R if R is smaller, or at most one packet left in the round
//!     diff = trunc((W / base - left / R) base + 1/2)
//!     slow start, every other round: diff > gamma: ssthresh = 2, cwnd -= cwnd/8, at least 2; else cwnd + 1 for an ACK
//!     avoidance: diff > beta: cwnd - 1, at least 2;  diff < alpha: cwnd + 1/cwnd for an ACK;  else hold
//! cwnd grows while it is at most 2 above W
//! fine timeout: T = (srtt + 4 rttvar) 17/16, of every packet sent once
//! duplicate: the third, or any when the first missing packet is older than T: send it again,
//!     T += T/8, or 2 T if it was a retransmission, and double the coarse timeout;
//!     if cwnd did not change since it left: cwnd = w - w/4 (w/2 if a retransmission, 2 if w <= 3), inflated by duplicates
//! new ACK: takes the inflation away; the two after a retransmission send the next packet again if it is older than T
//! timeout: ssthresh = w/2, cwnd = 2
//! ```
//! Packets have no headers and no ECN, and there is no connection request; the window begins with one packet, as if there
//! were one. Times and counts are kept by packet number modulo the receiver's window, and an acknowledgement
//! clears them only up to the end of that table, so that some packets later give no sample. A packet that was
//! never sent counts as old: two acknowledgements after a retransmission may send one ahead of its turn.

use super::machine::{AckIn, Action, Machine, Reaction};
use super::reno::sends_after;
use crate::cc::{Ack, Congestion, CongestionControl, Window};
use crate::endpoint::{Deadline, EndpointCtx};

/// Queued packets between which the window rests, and that end slow start: whole numbers in ns-2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Fewest.
    pub alpha: i64,
    /// Most.
    pub beta: i64,
    /// Most in slow start.
    pub gamma: i64,
}

/// The control of an agent that moves its window itself.
pub(super) struct Within;

impl CongestionControl for Within {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Ack) {}
    fn on_congestion(&mut self, _window: &mut Window, _event: &Congestion) {}
}

pub(super) struct Vegas {
    thresholds: Thresholds,
    /// The window opens to this with the second acknowledgement.
    opens_to: Option<f64>,
    heard: bool,
    base: f64,
    srtt8: f64,
    rttvar4: f64,
    /// Age at which a missing packet is sent again.
    patience: f64,
    /// Packet whose acknowledgement ends the round, and when the round began.
    round: (i64, f64),
    samples: (f64, u32),
    /// Growth per acknowledgement in this round.
    step: f64,
    /// Slow start grows in this round and not in the next.
    growing: bool,
    /// The window that was inflated by duplicates.
    deflated: f64,
    changed: f64,
    /// Acknowledgements after a retransmission that are still looked at.
    wary: i64,
}

impl Vegas {
    pub(super) fn new(thresholds: Thresholds, opens_to: Option<f64>) -> Self {
        Self {
            thresholds,
            opens_to,
            heard: false,
            base: f64::INFINITY,
            srtt8: 0.0,
            rttvar4: 0.0,
            patience: 1000.0,
            round: (0, 0.0),
            samples: (0.0, 0),
            step: 0.0,
            growing: true,
            deflated: 0.0,
            changed: 0.0,
            wary: 0,
        }
    }

    fn progress(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        if let (0, Some(window)) = (m.highest_ack, self.opens_to) {
            m.window.cwnd = window;
        }
        if m.dupacks > m.options.numdupacks && m.window.cwnd > self.deflated {
            m.window = Window { cwnd: self.deflated, ssthresh: 2.0 };
        }
        let before = m.highest_ack;
        m.accept(ack, ctx);
        let now = m.departures.seconds(ctx.now);
        if ack.number >= self.round.0 {
            self.end_round(m, now);
        }
        if self.step == 1.0 && m.window.cwnd >= m.window.ssthresh {
            self.step = 0.0;
        }
        let flight = (m.t_seqno - m.highest_ack) as f64;
        if self.step > 0.0 && m.window.cwnd - flight <= 2.0 {
            m.window.cwnd += self.step;
        }
        if m.options.maxcwnd > 0.0 && m.window.cwnd.trunc() > m.options.maxcwnd {
            m.window.cwnd = m.options.maxcwnd;
        }
        let (left, times) = m.departures.at(ack.number);
        m.departures.free(before + 1, ack.number);
        if left != 0.0 && times == 1 {
            self.sample(now - left);
        }
        if self.wary > 0 {
            self.wary -= 1;
            if self.is_late(m, ack.number + 1, now) {
                m.dupacks = m.options.numdupacks;
                m.transmit(ack.number + 1, ctx);
                if m.completed.is_some() {
                    m.timer = Deadline::NEVER;
                }
            } else {
                self.wary = 0;
            }
        }
    }

    /// The decision of a round.
    fn end_round(&mut self, m: &mut Machine, now: f64) {
        let (first, began) = self.round;
        let (sum, count) = std::mem::take(&mut self.samples);
        let rtt = if count > 0 { sum / f64::from(count) } else { now - began };
        let left = m.t_seqno - first;
        self.round = (m.t_seqno, now);
        if rtt <= 0.0 {
            return;
        }
        if rtt < self.base || left <= 1 {
            self.base = rtt;
        }
        let expected = (m.t_seqno - m.highest_ack) as f64 / self.base;
        let actual = left as f64 / rtt;
        let queued = ((expected - actual) * self.base + 0.5) as i64;
        let Thresholds { alpha, beta, gamma } = self.thresholds;
        let window = &mut m.window;
        self.step = 0.0;
        if window.cwnd < window.ssthresh {
            self.growing = !self.growing;
            if self.growing && queued > gamma {
                window.ssthresh = 2.0;
                window.cwnd = (window.cwnd - window.cwnd / 8.0).max(2.0);
            } else if self.growing {
                self.step = 1.0;
            }
        } else if queued > beta {
            window.cwnd = (window.cwnd - 1.0).max(2.0);
        } else if queued < alpha {
            self.step = 1.0 / window.cwnd;
        }
    }

    /// A sample of the round-trip time.
    fn sample(&mut self, rtt: f64) {
        self.samples.0 += rtt;
        self.samples.1 += 1;
        if rtt > 0.0 {
            self.base = self.base.min(rtt);
            let error = rtt - self.srtt8 / 8.0;
            self.srtt8 += error;
            self.rttvar4 += error.abs() - self.rttvar4 / 4.0;
            self.patience = f64::midpoint(self.srtt8 / 4.0, self.rttvar4);
            self.patience += self.patience / 16.0;
        }
    }

    fn is_late(&self, m: &Machine, number: i64, now: f64) -> bool {
        now - m.departures.at(number).0 >= self.patience
    }

    fn duplicate(&mut self, m: &mut Machine, ctx: &mut EndpointCtx<'_>) {
        m.dupacks += 1;
        let now = m.departures.seconds(ctx.now);
        let missing = m.highest_ack + 1;
        if self.is_late(m, missing, now) || m.dupacks == m.options.numdupacks {
            if m.options.bug_fix && m.highest_ack <= m.recover && m.action == Action::Timeout {
                return;
            }
            let (left, times) = m.departures.at(missing);
            m.action = Action::FastRetransmit;
            m.recover = m.maxseq;
            m.counters.recoveries += 1;
            self.wary = (m.t_seqno - m.highest_ack).min(2);
            self.patience += if times > 1 { self.patience } else { self.patience / 8.0 };
            if self.changed < left {
                let window = m.usable() as i64;
                self.deflated = match window {
                    ..=3 => 2.0,
                    _ if times > 1 => (window >> 1) as f64,
                    _ => (window - (window >> 2)) as f64,
                };
                m.window.cwnd = self.deflated + f64::from(m.dupacks);
                self.changed = now;
            }
            m.clock.back_off();
            m.restart_timer_untimed(ctx.now);
            m.transmit(missing, ctx);
            if times == 1 {
                m.dupacks = m.options.numdupacks;
            }
        } else if m.dupacks > m.options.numdupacks {
            m.window.cwnd += 1.0;
        }
    }
}

impl Reaction for Vegas {
    fn on_ack(&mut self, m: &mut Machine, ack: &AckIn<'_>, ctx: &mut EndpointCtx<'_>) {
        if !self.heard {
            self.heard = true;
            let rtt = m.departures.seconds(ctx.now);
            self.base = rtt;
            (self.srtt8, self.rttvar4) = (8.0 * rtt, rtt);
            self.patience = f64::midpoint(self.srtt8 / 4.0, self.rttvar4);
        }
        if ack.number > m.highest_ack {
            self.progress(m, ack, ctx);
        } else if ack.number == m.highest_ack {
            self.duplicate(m, ctx);
        }
        if sends_after(m) {
            m.send_much(m.config.max_burst, ctx);
        }
    }

    fn time_out(&mut self, m: &mut Machine, ctx: &mut EndpointCtx<'_>) {
        if m.highest_ack == m.maxseq {
            m.timer = Deadline::NEVER;
            return;
        }
        m.counters.timeouts += 1;
        m.dupacks = 0;
        m.recover = m.maxseq;
        m.action = Action::Timeout;
        m.clock.back_off();
        m.t_seqno = m.highest_ack + 1;
        m.restart_timer_untimed(ctx.now);
        m.window = Window { cwnd: 2.0, ssthresh: (m.usable() / 2.0).trunc().max(2.0) };
        self.deflated = 0.0;
        self.changed = m.departures.seconds(ctx.now);
        m.send_much(0, ctx);
    }
}
