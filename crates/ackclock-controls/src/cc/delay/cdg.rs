//! CDG: backs off by chance when the delay rises, and tolerates losses that no full queue explains.
//!
//! The gradient of the delay needs no threshold that depends on the path. Beside controls that fill the queue, in vain,
//! it stops backing off for delay, and it keeps a shadow window.
//!
//! **Source**: D. A. Hayes, G. Armitage, "Revisiting TCP Congestion Control Using Delay Gradients", IFIP Networking 2011,
//! section 3, doi:10.1007/978-3-642-20798-3_25; what the paper leaves open as in Hayes's module for FreeBSD (`cc_cdg.c`,
//! version 0.1).
//!
//! **Rule** (per round trip: gmin, gmax = change of the least and largest sample, each a mean of the last 8)
//! ```text
//! g = gmin if that is > 0, else gmax; in slow start the last change of each precedes its mean
//! g > 0, with probability 1 - exp(-g / G):   w <- beta_delay w;  the change over the next round trip is not measured
//!   after 5 such in a row without gmin or gmax < 0, the next 5 have no effect
//! else w += 1 per round trip
//! queue: full    gmin > 0 and gmax <= 0;      empty    gmin >= 0 and gmax < 0
//!        rising  both > 0;                    falling  both < 0;                    else as it was
//! loss, queue full or unknown, and not in the round trip of a back-off:
//!                    s <- s / 2,  w <- max(s, beta_loss w);          else w stays
//! shadow window s: begins as w and grows with it;  s <- max(s, w) at g's back-offs, forgotten when the queue empties
//! timeout: ssthresh <- w / 2, w <- 1;   in slow start a delay back-off ends it
//! ```
//! Deviations: after a tolerated loss ssthresh is w. s is raised to w before a back-off, as Linux does; the module raises it to
//! what is left, which differs after an empty queue only. ECN counts as a loss with a full queue.
//!
//! Defaults by era: G = 3 ms, `beta_delay` 0.7, `beta_loss` 0.5, 5 back-offs, losses tolerated. In era `linux`, as in Linux 6.12 (`tcp_cdg.c`),
//! `beta_delay` is 724/1024, no loss is tolerated, s is at most the window, and windows are whole segments. What Linux has
//! otherwise is not here: its `HyStart` (slow start rule `hystart` is that of CUBIC), a filter for delayed acknowledgements,
//! means extrapolated from the first samples, and ineffectual back-offs that count on until one has an effect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cc::credit::Growth;
use crate::cc::rounds::{RoundRtt, RoundSamples};
use crate::cc::usage::{growth, in_use};
use crate::cc::{Ack, CcEnv, Congestion, CongestionControl, Signal, Window};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::rng::{Purpose, Stream};
use crate::units::Span;

/// Gradients in the moving average.
const SMOOTHING: usize = 8;

/// Parameters of CDG.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CdgParams {
    /// Rise of the delay for a round trip at which the probability of backing off is 1 - 1/e (G).
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: Span,
    /// Factor kept when the delay rises. Left out: 0.7; in era `linux` 724/1024.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_delay: Option<f64>,
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    pub beta_loss: f64,
    /// Back-offs in a row that show that they are in vain, and how many are then left out; 0: none.
    #[schemars(range(min = 0))]
    pub ineffective: u32,
    /// Do not answer losses while the queue is not full. Left out: true; in era `linux` false.
    pub tolerate_losses: Option<bool>,
}

impl Default for CdgParams {
    fn default() -> Self {
        Self {
            scale: Span::from_millis(3),
            beta_delay: None,
            beta_loss: 0.5,
            ineffective: 5,
            tolerate_losses: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Unknown,
    Empty,
    Rising,
    Full,
    Falling,
}

/// Mean of the last gradients of a quantity. In whole nanoseconds, as samples are: a rise and a fall of the same size cancel,
/// where fractions of a second would leave their rounding, whose sign then says that a queue fills or empties.
#[derive(Clone, Copy, Debug, Default)]
struct Gradient {
    last: Option<i64>,
    recent: [i64; SMOOTHING],
    next: usize,
}

impl Gradient {
    /// Takes a new value [s]; returns the change since the last one and the mean of the last changes, if there is one.
    fn update(&mut self, value: f64) -> Option<[f64; 2]> {
        let value = (value * 1e9).round() as i64;
        let change = value - self.last.replace(value)?;
        self.recent[self.next] = change;
        self.next = (self.next + 1) % SMOOTHING;
        let mean = self.recent.iter().sum::<i64>() as f64 / SMOOTHING as f64;
        Some([change as f64 / 1e9, mean / 1e9])
    }
}

/// CDG.
pub struct Cdg {
    params: CdgParams,
    era: Era,
    growth: Growth,
    beta_delay: f64,
    tolerates_losses: bool,
    stream: Stream,
    samples: RoundSamples,
    least: Gradient,
    most: Gradient,
    g_min: f64,
    g_max: f64,
    queue: Queue,
    /// The last round trip backed off.
    backed_off: bool,
    /// Back-offs in a row, and those yet to be left out.
    in_row: u32,
    left_out: u32,
    /// 0 before the first acknowledgement, and while the queue is empty.
    shadow: f64,
    /// The window at the last acknowledgement.
    cwnd: Option<f64>,
}

impl About<CcEnv> for Cdg {
    type Params = CdgParams;
    const INFO: Info = Info {
        name: "cdg",
        title: "CAIA delay gradient (CDG)",
        source: "Hayes, Armitage, IFIP Networking 2011, section 3, \
                 doi:10.1007/978-3-642-20798-3_25",
        status: Status::Variant,
    };

    fn new(params: CdgParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let linux = env.era == Era::Linux;
        let usual = if linux { 724.0 / 1024.0 } else { 0.7 };
        Ok(Self {
            beta_delay: params.beta_delay.unwrap_or(usual),
            tolerates_losses: params.tolerate_losses.unwrap_or(!linux),
            params,
            era: env.era,
            growth: Growth::of(env.era),
            stream: Stream::new(0, Purpose::Control, 0),
            samples: RoundSamples::default(),
            least: Gradient::default(),
            most: Gradient::default(),
            g_min: 0.0,
            g_max: 0.0,
            queue: Queue::Unknown,
            backed_off: false,
            in_row: 0,
            left_out: 0,
            shadow: 0.0,
            cwnd: None,
        })
    }
}

impl Cdg {
    /// What a round trip's samples say; true if the window is to back off.
    fn on_round(&mut self, round: RoundRtt, window: &Window) -> bool {
        self.backed_off = false;
        let (least, most) = (self.least.update(round.least), self.most.update(round.most));
        let (Some([least, g_min]), Some([most, g_max])) = (least, most) else { return false };
        (self.g_min, self.g_max) = (g_min, g_max);
        let slow_start = window.cwnd <= window.ssthresh;
        let order = if slow_start { [least, g_min, most, g_max] } else { [0.0, g_min, 0.0, g_max] };
        let rise = order.into_iter().find(|&g| g > 0.0);
        let is_congested = rise.is_some_and(|g| {
            self.stream.uniform() < 1.0 - (-g / self.params.scale.seconds()).exp()
        });
        self.infer_queue();
        if g_min < 0.0 || g_max < 0.0 {
            (self.in_row, self.left_out) = (0, 0);
        }
        if !is_congested {
            return false;
        }
        // What is done now shows in the second round trip only.
        (self.least.last, self.most.last) = (None, None);
        self.shadow = self.shadow.max(window.cwnd);
        if self.left_out > 0 {
            self.left_out -= 1;
            return false;
        }
        if self.params.ineffective > 0 {
            self.in_row += 1;
            if self.in_row >= self.params.ineffective {
                (self.in_row, self.left_out) = (0, self.params.ineffective);
            }
        }
        true
    }

    fn infer_queue(&mut self) {
        self.queue = match (self.g_min, self.g_max) {
            (min, max) if min > 0.0 && max <= 0.0 => Queue::Full,
            (min, max) if min > 0.0 && max > 0.0 => Queue::Rising,
            (min, max) if min < 0.0 && max < 0.0 => Queue::Falling,
            (min, max) if min >= 0.0 && max < 0.0 => {
                self.shadow = 0.0;
                Queue::Empty
            }
            _ => self.queue,
        };
    }

    /// The shadow window grows by what the window has grown.
    fn follow(&mut self, window: &Window) {
        match self.cwnd {
            None => self.shadow = window.cwnd,
            Some(before) if self.shadow > 0.0 => self.shadow += (window.cwnd - before).max(0.0),
            Some(_) => {}
        }
    }

    /// Linux's growth: none with the acknowledgement that backs off; the shadow window grows with the window only.
    fn grow_whole(&mut self, window: &mut Window, ack: &Ack) {
        let before = window.cwnd;
        if !self.backed_off {
            self.growth.add(window, ack, 1.0);
        }
        if self.shadow > 0.0 {
            self.shadow += window.cwnd - before;
        }
        self.cwnd = Some(window.cwnd);
    }

    fn back_off(&mut self, window: &mut Window) {
        self.backed_off = true;
        let reduced = self.beta_delay * window.cwnd;
        let reduced = if self.era == Era::Linux { reduced.floor() } else { reduced }.max(2.0);
        window.cwnd = reduced.min(window.cwnd);
        window.ssthresh = reduced;
    }
}

impl CongestionControl for Cdg {
    fn on_slow_start(&mut self, window: &mut Window, ack: &Ack) {
        self.follow(window);
        if let Some(round) = self.samples.on_ack(ack)
            && self.on_round(round, window)
        {
            self.back_off(window);
        }
        self.cwnd = Some(window.cwnd);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.follow(window);
        if let Some(round) = self.samples.on_ack(ack)
            && self.on_round(round, window)
        {
            self.back_off(window);
        }
        if self.era == Era::Linux {
            return self.grow_whole(window, ack);
        }
        let step = growth(ack, self.era) / window.cwnd;
        if self.shadow > 0.0 {
            self.shadow += step;
        }
        if !self.backed_off {
            window.cwnd += step;
        }
        self.cwnd = Some(window.cwnd);
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        let used = in_use(window, event, self.era);
        let lost = matches!(event.signal, Signal::FastRetransmit { .. });
        let has_room = !matches!(self.queue, Queue::Full | Queue::Unknown) || self.backed_off;
        if self.tolerates_losses && lost && has_room {
            window.ssthresh = window.cwnd.max(2.0);
            return;
        }
        self.samples.forget();
        let remaining = if matches!(event.signal, Signal::Rto { .. }) {
            used / 2.0
        } else {
            self.shadow /= 2.0;
            if self.era == Era::Linux {
                self.shadow = self.shadow.min(used);
            }
            self.shadow.max(self.params.beta_loss * used)
        };
        self.growth.reduce_to(window, event, remaining);
        self.cwnd = Some(window.cwnd);
    }

    fn take_stream(&mut self, stream: Stream) {
        self.stream = stream;
    }

    fn phase(&self) -> &'static str {
        match self.queue {
            Queue::Unknown => "unknown",
            Queue::Empty => "empty",
            Queue::Rising => "rising",
            Queue::Full => "full",
            Queue::Falling => "falling",
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("gradient_min_s", self.g_min);
        out("gradient_max_s", self.g_max);
        out("shadow_window", self.shadow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::test_support::env;
    use crate::units::Time;

    const LOSS: Signal = Signal::FastRetransmit { lost: 1 };

    fn cdg(seed: u64) -> Cdg {
        let mut control = Cdg::new(CdgParams::default(), &env(Era::Rfc)).unwrap();
        control.take_stream(Stream::new(seed, Purpose::Control, 0));
        control
    }

    fn round(least_ms: f64, most_ms: f64) -> RoundRtt {
        let (least, most) = (least_ms / 1e3, most_ms / 1e3);
        RoundRtt { mean: f64::midpoint(least, most), least, most, count: 8 }
    }

    /// A window in congestion avoidance.
    fn avoidance() -> Window {
        Window { cwnd: 100.0, ssthresh: 2.0 }
    }

    /// 100, 108, 108 ms: changes of 8 and 0 ms; an eighth of their sum is 1 ms, until eight more rounds have passed.
    #[test]
    fn the_gradient_is_a_mean_of_eight() {
        let mut gradient = Gradient::default();
        assert_eq!(gradient.update(0.1), None);
        for expected in [[0.008, 0.001], [0.0, 0.001]] {
            let got = gradient.update(0.108).unwrap();
            assert!((got[0] - expected[0]).abs() < 1e-12 && (got[1] - expected[1]).abs() < 1e-12);
        }
        for _ in 0..6 {
            gradient.update(0.108);
        }
        assert!(gradient.update(0.108).unwrap()[1].abs() < 1e-12);
    }

    /// Up by 8 ms, and, after a change that is not measured, down by 8 ms: in fractions of a second the sum is 6.9e-18.
    #[test]
    fn changes_that_cancel_leave_a_gradient_of_zero() {
        let mut gradient = Gradient::default();
        gradient.update(0.050);
        assert_eq!(gradient.update(0.058), Some([0.008, 0.001]));
        gradient.last = None;
        gradient.update(0.071);
        assert_eq!(gradient.update(0.063), Some([-0.008, 0.0]));
    }

    /// A gradient of 3 ms = G backs off with probability 1 - 1/e = 0.632: within 4 standard deviations of 400 trials.
    #[test]
    fn the_probability_of_backing_off_is_exponential_in_the_gradient() {
        let count = (0..400)
            .filter(|&seed| {
                let mut control = cdg(seed);
                control.on_round(round(100.0, 100.0), &avoidance());
                control.on_round(round(124.0, 124.0), &avoidance()) // an eighth of 24 ms
            })
            .count();
        let share = count as f64 / 400.0;
        assert!((share - 0.632).abs() < 4.0 * 0.0241, "{share}");
    }

    /// In slow start the change itself counts: 3 ms = G, with 1 - 1/e; its mean of 0.375 ms would give 0.118.
    #[test]
    fn in_slow_start_the_last_change_decides() {
        let count = (0..400)
            .filter(|&seed| {
                let mut control = cdg(seed);
                let window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
                control.on_round(round(100.0, 100.0), &window);
                control.on_round(round(103.0, 100.0), &window)
            })
            .count();
        let share = count as f64 / 400.0;
        assert!((share - 0.632).abs() < 4.0 * 0.0241, "{share}");
    }

    #[test]
    fn a_delay_back_off_keeps_seven_tenths_and_the_shadow_goes_on() {
        let mut control = cdg(1);
        let mut window = avoidance();
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 0));
        assert_eq!(control.shadow, 100.0);
        control.back_off(&mut window);
        assert_eq!((window.cwnd, window.ssthresh, control.shadow), (70.0, 70.0, 100.0));
        // No growth in the round trip that follows, but of the shadow.
        control.on_ack(&mut window, &Ack::at(Time::ZERO, 70));
        assert_eq!((window.cwnd, control.shadow), (70.0, 101.0));
        // A loss in it has been answered.
        control.queue = Queue::Full;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 70));
        assert_eq!((window.cwnd, control.shadow), (70.0, 101.0));
        // Later, with a full queue: half of the shadow window, which stays.
        control.backed_off = false;
        control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 70));
        assert_eq!((window.cwnd, control.shadow), (50.5, 50.5));
    }

    /// 500 ms after 100 ms backs off for certain. The change that follows is not measured: 100 ms after 500 ms would be
    /// a fall.
    #[test]
    fn the_change_after_a_back_off_is_not_measured() {
        let mut control = cdg(1);
        control.on_round(round(100.0, 100.0), &avoidance());
        assert!(control.on_round(round(500.0, 500.0), &avoidance()));
        assert_eq!(control.shadow, 100.0);
        assert!(!control.on_round(round(100.0, 100.0), &avoidance()));
        assert_eq!(control.phase(), "rising");
    }

    #[test]
    fn a_loss_without_a_full_queue_is_tolerated_and_one_with_it_halves() {
        for (queue, left) in [
            (Queue::Empty, 100.0),
            (Queue::Rising, 100.0),
            (Queue::Falling, 100.0),
            (Queue::Full, 50.0),
            (Queue::Unknown, 50.0),
        ] {
            let mut control = cdg(1);
            control.queue = queue;
            let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
            control.on_congestion(&mut window, &Congestion::at(Time::ZERO, LOSS, 100));
            assert_eq!((window.cwnd, window.ssthresh), (left, left), "{queue:?}");
        }
    }

    #[test]
    fn the_queue_is_full_when_the_largest_delay_stops_rising() {
        let mut control = cdg(1);
        let mut states = Vec::new();
        control.params.scale = Span::from_millis(1_000_000_000); // never backs off
        // Eighths of a second, which are exact.
        let delays = [(8, 9), (9, 10), (10, 9), (6, 10), (6, 6), (8, 6)];
        for (least, most) in delays {
            let [least, most] = [least, most].map(|eighths| 125.0 * f64::from(eighths));
            control.on_round(round(least, most), &avoidance());
            states.push(control.phase());
        }
        // Sums of changes: 1 and 1; 2 and 0; -2 and 1, the least alone falls; -2 and -3; 0 and -3.
        assert_eq!(states, ["unknown", "rising", "full", "full", "falling", "empty"]);
        assert_eq!(control.shadow, 0.0);
    }

    /// Five back-offs in a row, then five that have no effect, as long as the delay does not fall.
    #[test]
    fn back_offs_that_are_in_vain_cease() {
        let mut control = cdg(1);
        let mut decisions = Vec::new();
        for i in 0..40 {
            // Every other round trip is not measured.
            let ms = 100.0 + 400.0 * f64::from(i);
            control.on_round(round(ms, ms), &avoidance());
            decisions.push(control.on_round(round(ms + 400.0, ms + 400.0), &avoidance())); // all but certain
        }
        let pattern: Vec<bool> = (0..40).map(|i| i % 10 < 5).collect();
        assert_eq!(decisions, pattern);
    }
}
