//! DECbit: marks packets that find an average of one packet or more at the link.
//!
//! The average is over the last regeneration cycle (a busy and an idle period) and the present one so far:
//! it follows the load, not single bursts. Nothing is dropped before the buffer is full.
//!
//! **Source**: K. K. Ramakrishnan, R. Jain, "A Binary Feedback Scheme for Congestion Avoidance in Computer
//! Networks", ACM Transactions on Computer Systems 8(2), 1990, section 4, doi:10.1145/78952.78955.
//!
//! **Rule** (n(t): packets at the link, with the one in transmission; t0, t1: beginnings of the last two busy
//! periods, t: the present)
//! ```text
//! average = integral of n from t0 to t / (t - t0)      average >= threshold: an arriving packet is marked
//! ```
//! Deviations: packets that are not ECN-capable pass unmarked. In the first cycle t0 is the start of the run.
//!
//! Defaults by era: the same in all: threshold 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Flags, Packet};

/// Parameters of [`Decbit`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Average number of packets at the link from which packets are marked.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "packets"))]
    pub threshold: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { threshold: 1.0 }
    }
}

/// A cycle: its length and the integral of the number of packets over it, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    length: f64,
    area: f64,
}

/// DECbit's queue.
#[derive(Clone, Debug)]
pub struct Decbit {
    threshold: f64,
    last: Cycle,
    present: Cycle,
    /// Packets at the link since `at`; 0 between busy periods.
    count: f64,
    at: Time,
    average: f64,
}

impl About<QdiscEnv> for Decbit {
    type Params = Params;
    const INFO: Info = Info {
        name: "decbit",
        title: "DECbit: average queue of one",
        source: "Ramakrishnan and Jain, ACM Transactions on Computer Systems 8(2), 1990, section 4, \
                 doi:10.1145/78952.78955",
        status: Status::Specified,
    };

    fn new(params: Params, _env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            threshold: params.threshold,
            last: Cycle::default(),
            present: Cycle::default(),
            count: 0.0,
            at: Time::ZERO,
            average: 0.0,
        })
    }
}

impl Decbit {
    /// From now on there are `count` packets at the link.
    fn set(&mut self, now: Time, count: f64) {
        let elapsed = now.since(self.at).seconds();
        self.present.length += elapsed;
        self.present.area += elapsed * self.count;
        (self.at, self.count) = (now, count);
    }
}

impl Plain for Decbit {}

impl Aqm for Decbit {
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, _rng: &mut Stream) -> Verdict {
        let was_idle = self.count <= 0.0;
        // Beside those that wait there is the one in transmission, unless the link is idle.
        let waiting = if was_idle { 0.0 } else { queue.packets as f64 + 1.0 };
        self.set(queue.now, waiting + 1.0);
        if was_idle {
            // A busy period begins, and with it a cycle.
            self.last = std::mem::take(&mut self.present);
        }
        let length = self.last.length + self.present.length;
        self.average =
            if length > 0.0 { (self.last.area + self.present.area) / length } else { 0.0 };
        if self.average >= self.threshold && packet.flags.has(Flags::ECT) {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Pass
        }
    }

    fn on_dequeue(
        &mut self,
        _packet: &Packet,
        _since: Time,
        queue: &QueueState,
        _rng: &mut Stream,
    ) -> Verdict {
        self.set(queue.now, queue.packets as f64 + 1.0);
        Verdict::Pass
    }

    fn on_idle(&mut self, now: Time) {
        self.set(now, 0.0);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.average);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};
    use crate::units::Span;

    fn bench() -> Bench<Managed<Decbit>> {
        Bench::new(Managed::<Decbit>::new(Params::default(), &env()).unwrap())
    }

    #[test]
    fn the_average_is_over_the_last_cycle_and_the_present_one() {
        let mut bench = bench();
        let ms = |n| Span::from_millis(n);
        let arrive = |bench: &mut Bench<Managed<Decbit>>| {
            bench.arrive_with(0, 1000, Flags::ECT);
            bench.probe("avg")
        };
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12, "{got}");
        // First busy period, from 0: one packet for 2 ms, two for 1 ms, one for 1 ms; then idle for 6 ms.
        near(arrive(&mut bench), 0.0);
        bench.depart();
        bench.after(ms(2));
        near(arrive(&mut bench), 1.0);
        bench.after(ms(1));
        bench.depart();
        bench.after(ms(1));
        assert!(bench.depart().is_none());
        bench.after(ms(6));
        // The cycle: 2 + 2 + 1 = 5 packet-ms in 10 ms.
        near(arrive(&mut bench), 0.5);
        bench.depart();
        bench.after(ms(5));
        // 5 more packet-ms in 5 ms: 10 / 15.
        near(arrive(&mut bench), 10.0 / 15.0);
        bench.after(ms(10));
        // Two for 10 ms: 30 / 25.
        near(arrive(&mut bench), 1.2);
        // Marked: the second packet of the first period, at an average of 1, and this one.
        assert_eq!(bench.marks, 2);
    }

    #[test]
    fn packets_that_cannot_be_marked_pass_and_an_empty_link_marks_nothing() {
        let mut bench = bench();
        for flags in [Flags::default(), Flags::ECT] {
            for _ in 0..20 {
                bench.arrive_with(0, 1000, flags);
                bench.after(Span::from_millis(1));
            }
        }
        assert_eq!((bench.drops().len(), bench.qdisc_len(), bench.marks), (0, 40, 20));
        // Alone each time, half of the time: an average of 1/2.
        let mut bench = self::bench();
        for _ in 0..100 {
            bench.arrive_with(0, 1000, Flags::ECT);
            bench.depart();
            bench.after(Span::from_millis(1));
            assert!(bench.depart().is_none());
            bench.after(Span::from_millis(1));
        }
        assert_eq!(bench.marks, 0);
    }
}
