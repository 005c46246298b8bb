//! RLM: receiver-driven layered multicast.
//!
//! A receiver finds its bandwidth by join experiments: it adds a layer from time to time and drops it again
//! if packets are lost within the detection time. Layers that failed are tried less often. Receivers announce
//! their experiments to the group, and learn from those of others that fail.
//!
//! **Source**: McCanne, Jacobson & Vetterli, "Receiver-driven layered multicast", SIGCOMM 1996, section 3,
//! doi:10.1145/248156.248168. Reconstructed from descriptions of it; names of states and timers are the
//! paper's.
//!
//! **Rule** (TJ(k) join timer of layer k, TD detection time, states S, H, M, D)
//! ```text
//! S, join timer:                add the next layer k: an experiment until now + TD, the only one meanwhile
//! S, loss in an experiment:     drop k; TJ(k) = min(alpha TJ(k), max); TD learns the time to the loss; -> D
//! S, other loss:                -> H
//! S, each TD without loss:      TJ(k) = max(beta TJ(k), min), k the top layer
//! H, after TD:                  -> M
//! M, after TD:                  loss ratio > `loss`: drop a layer, -> D; else -> S
//! D, after TD:                  -> S
//! S, H, M, loss while another's experiment with layer k is in progress: TJ(k) = min(alpha TJ(k), max)
//! join timer of layer k while another's experiment with a layer < k is in progress: drawn anew
//! TD = mean + 2 deviation, both exponentially weighted with gain 1/4
//! join timers are drawn from [0.5, 1.5) TJ(k), so that receivers do not try at once
//! ```
//! Another's experiment is in progress for TD from its announcement on, or up to the first loss. Nothing is
//! learned from experiments that succeed: they do on the way of the receiver that makes them.
//!
//! Deviations: the distribution of join timers and which experiments suppress others are ours. The base layer
//! is never dropped. With `shared = false` each receiver learns from its own experiments only.
//!
//! Defaults by era: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ControlEnv, LayerControl, Seen};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Parameters of RLM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RlmParams {
    /// Least join timer and its first value.
    #[schemars(range(min = 0.000_001))]
    pub join_min: Span,
    /// Largest join timer, at least `join_min`.
    pub join_max: Span,
    /// Factor of a join timer after a failed experiment.
    #[schemars(range(min = 1))]
    pub alpha: f64,
    /// Factor of a join timer after a detection time without loss.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub beta: f64,
    /// First mean of the detection time.
    #[schemars(range(min = 0.000_001))]
    pub detection: Span,
    /// Loss ratio above which the measurement drops a layer.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub loss: f64,
    /// Shared learning: announce experiments, and learn from those of others.
    pub shared: bool,
}

impl Default for RlmParams {
    fn default() -> Self {
        Self {
            join_min: Span::from_millis(5000),
            join_max: Span::from_millis(600_000),
            alpha: 2.0,
            beta: 2.0 / 3.0,
            detection: Span::from_millis(2000),
            loss: 0.25,
            shared: true,
        }
    }
}

/// The states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Steady,
    Hysteresis,
    Measurement,
    Drop,
}

/// Gain of the detection time's mean and deviation.
const GAIN: f64 = 0.25;

/// RLM.
pub struct Rlm {
    params: RlmParams,
    held: u32,
    /// TJ of each layer in seconds.
    join_s: Vec<f64>,
    join_at: Time,
    state: State,
    /// When TD has passed since the state was entered or last checked.
    detect_at: Time,
    /// When the experiment in progress began.
    experiment: Option<Time>,
    /// By layer, until when an experiment of another receiver is in progress.
    others_until: Vec<Time>,
    /// Layer of an experiment that is to be announced.
    announce: Option<u32>,
    mean_s: f64,
    deviation_s: f64,
    lost: u64,
    received: u64,
}

impl About<ControlEnv> for Rlm {
    type Params = RlmParams;
    const INFO: Info = Info {
        name: "rlm",
        title: "RLM",
        source: "McCanne, Jacobson & Vetterli, SIGCOMM 1996, doi:10.1145/248156.248168",
        status: Status::Reconstructed,
    };

    fn new(params: RlmParams, env: &ControlEnv) -> Result<Self, Vec<Problem>> {
        if params.join_max < params.join_min {
            let least = params.join_min.seconds();
            let message = format!("at least join_min, {least} s");
            let join_max = params.join_max.seconds();
            return Err(vec![Problem::out_of_range("join_max", join_max, &message)]);
        }
        Ok(Self {
            join_s: vec![params.join_min.seconds(); env.layers.len()],
            others_until: vec![Time::ZERO; env.layers.len()],
            announce: None,
            mean_s: params.detection.seconds(),
            params,
            held: 1,
            join_at: Time::MAX,
            state: State::Steady,
            detect_at: Time::MAX,
            experiment: None,
            deviation_s: 0.0,
            lost: 0,
            received: 0,
        })
    }
}

impl Rlm {
    fn detection(&self) -> Span {
        Span::from_seconds(self.mean_s + 2.0 * self.deviation_s).max(Span(1))
    }

    /// Enters a state until the detection time has passed.
    fn enter(&mut self, state: State, now: Time, rng: &mut Stream) {
        self.state = state;
        self.experiment = None;
        self.detect_at = now + self.detection();
        (self.lost, self.received) = (0, 0);
        if state == State::Steady {
            self.draw_join_timer(now, rng);
        } else {
            self.join_at = Time::MAX;
        }
    }

    /// Draws the time of the next experiment.
    fn draw_join_timer(&mut self, now: Time, rng: &mut Stream) {
        // The layer after the top one has index `held`.
        self.join_at = match self.join_s.get(self.held as usize) {
            Some(&join_s) => now + Span::from_seconds(join_s * (0.5 + rng.uniform())),
            None => Time::MAX,
        };
    }

    fn drop_layer(&mut self) {
        self.held = (self.held - 1).max(1);
    }

    /// Backs the join timer of the layer of this index off.
    fn back_off(&mut self, index: usize) {
        let join_s = &mut self.join_s[index];
        *join_s = (*join_s * self.params.alpha).min(self.params.join_max.seconds());
        self.others_until[index] = Time::ZERO;
    }

    /// Packets are lost: experiments of others with layers that this receiver does not hold have failed.
    fn learn(&mut self, now: Time) {
        for index in self.held as usize..self.join_s.len() {
            if now < self.others_until[index] {
                self.back_off(index);
            }
        }
    }

    /// Whether an experiment of another with a lower layer than the next is in progress. Those with the same
    /// layer do no harm, and a group whose receivers waited for one another would take long to join it.
    fn is_suppressed(&self, now: Time) -> bool {
        self.others_until[..self.held as usize].iter().any(|&until| now < until)
    }

    /// The experiment that began at `from` has failed.
    fn fail(&mut self, from: Time, now: Time, rng: &mut Stream) {
        let sample_s = now.since(from).seconds();
        self.deviation_s += GAIN * ((sample_s - self.mean_s).abs() - self.deviation_s);
        self.mean_s += GAIN * (sample_s - self.mean_s);
        self.back_off(self.held as usize - 1);
        self.drop_layer();
        self.enter(State::Drop, now, rng);
    }

    /// A detection time has passed.
    fn on_detection(&mut self, now: Time, rng: &mut Stream) {
        match self.state {
            State::Steady => {
                let join_s = &mut self.join_s[self.held as usize - 1];
                *join_s = (*join_s * self.params.beta).max(self.params.join_min.seconds());
                if self.experiment.take().is_some() {
                    self.draw_join_timer(now, rng);
                }
                self.detect_at = now + self.detection();
            }
            State::Hysteresis => self.enter(State::Measurement, now, rng),
            State::Measurement => {
                let all = (self.lost + self.received) as f64;
                if self.lost as f64 > self.params.loss * all {
                    self.drop_layer();
                    self.enter(State::Drop, now, rng);
                } else {
                    self.enter(State::Steady, now, rng);
                }
            }
            State::Drop => self.enter(State::Steady, now, rng),
        }
    }
}

impl LayerControl for Rlm {
    fn start(&mut self, now: Time, rng: &mut Stream) -> u32 {
        self.enter(State::Steady, now, rng);
        self.held
    }

    fn on_packet(&mut self, arrival: &Seen, rng: &mut Stream) -> u32 {
        self.lost += u64::from(arrival.lost);
        self.received += 1;
        if arrival.lost > 0 && self.experiment.is_none() && self.state != State::Drop {
            self.learn(arrival.now);
        }
        if arrival.lost > 0 && self.state == State::Steady {
            match self.experiment {
                Some(from) => self.fail(from, arrival.now, rng),
                None => self.enter(State::Hysteresis, arrival.now, rng),
            }
        }
        self.held
    }

    fn on_timer(&mut self, now: Time, rng: &mut Stream) -> u32 {
        if self.detect_at <= now {
            self.on_detection(now, rng);
        }
        if self.join_at <= now && self.is_suppressed(now) {
            self.draw_join_timer(now, rng);
        } else if self.join_at <= now {
            self.held += 1;
            self.announce = self.params.shared.then_some(self.held);
            self.experiment = Some(now);
            self.detect_at = now + self.detection();
            self.join_at = Time::MAX;
        }
        self.held
    }

    fn on_announcement(&mut self, layer: u32, now: Time) {
        let until = now + self.detection();
        let deadline = self.others_until.get_mut((layer as usize).wrapping_sub(1));
        if let Some(deadline) = deadline.filter(|_| self.params.shared) {
            *deadline = until;
        }
    }

    fn take_announcement(&mut self) -> Option<u32> {
        self.announce.take()
    }

    fn deadline(&self) -> Time {
        self.join_at.min(self.detect_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;
    use crate::units::BitRate;

    fn packet_arrival(now: Time, lost: u32) -> Seen {
        Seen { now, size: 1000, lost, pair_gap: None }
    }

    /// Runs the timers up to `until`; returns the layers held.
    fn run(rlm: &mut Rlm, until: Time, rng: &mut Stream) -> u32 {
        while rlm.deadline() <= until {
            rlm.on_timer(rlm.deadline(), rng);
        }
        rlm.held
    }

    fn start(layers: usize) -> (Rlm, Stream) {
        let env = ControlEnv { layers: vec![BitRate(100_000); layers] };
        let mut rng = Stream::new(1, Purpose::Receiver, 0);
        let mut rlm = Rlm::new(RlmParams::default(), &env).unwrap();
        assert_eq!(rlm.start(Time::ZERO, &mut rng), 1);
        (rlm, rng)
    }

    /// By hand: TJ doubles from 5 s to 10 s; a loss 0.5 s after the join moves the mean from 2 to 1.625 s and
    /// the deviation from 0 to 0.375 s, so TD = 2.375 s.
    #[test]
    fn a_failed_experiment_drops_the_layer_and_backs_its_timer_off() {
        let (mut rlm, mut rng) = start(3);
        let joined = rlm.join_at;
        assert!((2.5..7.5).contains(&joined.seconds()), "{joined:?}");
        assert_eq!(run(&mut rlm, joined, &mut rng), 2);
        let lost = joined + Span::from_millis(500);
        assert_eq!(rlm.on_packet(&packet_arrival(lost, 1), &mut rng), 1);
        assert_eq!((rlm.state, rlm.join_s[1]), (State::Drop, 10.0));
        assert_eq!(rlm.detection(), Span::from_millis(2375));
        // Losses in D are those of the layer that was dropped.
        assert_eq!(rlm.on_packet(&packet_arrival(lost + Span::from_millis(100), 9), &mut rng), 1);
        assert_eq!(rlm.state, State::Drop);
        run(&mut rlm, lost + Span::from_millis(2375), &mut rng);
        assert_eq!(rlm.state, State::Steady);
        let wait = rlm.join_at.since(lost).seconds() - 2.375;
        assert!((5.0..15.0).contains(&wait), "{wait}");
    }

    /// By hand: TJ(2) doubles from 5 s to 10 s, once an experiment; TD is 2 s.
    #[test]
    fn a_loss_in_the_experiment_of_another_backs_the_timer_of_its_layer_off() {
        let time = |ms| Time::ZERO + Span::from_millis(ms);
        for shared in [true, false] {
            let (mut rlm, mut rng) = start(4);
            rlm.params.shared = shared;
            rlm.on_announcement(2, time(100));
            rlm.on_announcement(3, time(100));
            rlm.on_packet(&packet_arrival(time(600), 1), &mut rng);
            rlm.on_packet(&packet_arrival(time(700), 1), &mut rng);
            let learned = if shared { [5.0, 10.0, 10.0, 5.0] } else { [5.0; 4] };
            assert_eq!(rlm.join_s, learned);
            // A loss teaches nothing when the experiment has ended, nor without one.
            rlm.on_announcement(4, time(1000));
            rlm.on_packet(&packet_arrival(time(3000), 1), &mut rng);
            assert_eq!(rlm.join_s, learned);
            // There are no such layers.
            for layer in [0, 5] {
                rlm.on_announcement(layer, time(3100));
            }
        }
    }

    #[test]
    fn an_experiment_waits_for_those_of_others_with_a_lower_layer() {
        for (layer, waits) in [(1, true), (2, false), (3, false)] {
            let (mut rlm, mut rng) = start(4);
            let joins = rlm.join_at;
            rlm.on_announcement(layer, joins - Span::from_millis(1900));
            let layers_held = run(&mut rlm, joins, &mut rng);
            assert_eq!(layers_held, if waits { 1 } else { 2 }, "layer {layer}");
            assert_eq!(rlm.take_announcement(), (!waits).then_some(2));
            assert_eq!(rlm.take_announcement(), None);
        }
    }

    #[test]
    fn every_layer_is_joined_where_nothing_is_lost() {
        let (mut rlm, mut rng) = start(3);
        assert_eq!(run(&mut rlm, Time::ZERO + Span::from_millis(20_000), &mut rng), 3);
        assert!(rlm.join_at == Time::MAX && rlm.join_s == [5.0; 3]);
    }

    #[test]
    fn only_lasting_loss_outside_of_experiments_drops_a_layer() {
        for (lost, expected) in [(1, 1), (0, 2)] {
            let (mut rlm, mut rng) = start(2);
            let joined = rlm.join_at;
            run(&mut rlm, joined + Span::from_millis(2000), &mut rng);
            let mut now = joined + Span::from_millis(2500);
            assert_eq!(rlm.on_packet(&packet_arrival(now, 1), &mut rng), 2);
            assert_eq!(rlm.state, State::Hysteresis);
            // One of two is lost, or none, in the measurement.
            now += Span::from_millis(2000);
            run(&mut rlm, now, &mut rng);
            assert_eq!(rlm.state, State::Measurement);
            rlm.on_packet(&packet_arrival(now, lost), &mut rng);
            assert_eq!(run(&mut rlm, now + Span::from_millis(2000), &mut rng), expected);
        }
    }
}
