//! BLUE: one drop probability, raised by overflow and lowered by an idle link.
//!
//! **Source**: Feng, Kandlur, Saha & Shin, "BLUE: A New Class of Active Queue Management
//! Algorithms", University of Michigan CSE-TR-387-99, 1999; IEEE/ACM Trans. Networking 10(4), 2002
//! (doi:10.1109/TNET.2002.801399). The texts could not be had: the rule is that of its many
//! retellings, defaults are those of the authors' ns-1.1 code as ported to ns-3.
//! Compared line by line with that port (`blue-queue-disc.cc`) and with what an unfinished port has of the authors' code.
//!
//! **Rule**: arrivals are dropped or marked with probability p;
//! - an arrival finds no room, more than `freeze` after the last change: `p = min(1, p + d1)`;
//! - the link is idle, more than `freeze` after the last change: `p = max(0, p - d2)`, and once
//!   more for every further `freeze` that it stays idle.
//!
//! **Deviations**: what an idle time is worth is taken off when the next packet arrives. The port counts whole times of `freeze`
//! from the beginning of the idle time, and lets them put off the next change even where there is none; here they count from the
//! last change, as the rule says of a single event. The authors' code has a `freeze` for rises and one for falls, each with
//! its own last change.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::Prototype;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Span, Time};
use crate::wire::{DropReason, Packet};

/// Parameters of [`Blue`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// What an overflow adds to the probability.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub d1: f64,
    /// What an idle link takes off.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub d2: f64,
    /// Least time between two changes.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub freeze: Span,
    /// Overflow is already signalled when this many packets wait. Left out: when there is no room.
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub threshold: Option<u32>,
    /// ECN-capable packets are marked instead of dropped early.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            d1: 0.0025,
            d2: 0.00025,
            freeze: Span::from_millis(100),
            threshold: None,
            ecn: false,
        }
    }
}

/// One probability from overflow and idleness.
#[derive(Clone, Debug)]
pub struct Blue {
    params: Params,
    limit: Limit,
    p: f64,
    /// When p changed last.
    changed: Time,
    idle: bool,
}

impl About<QdiscEnv> for Blue {
    type Params = Params;
    const INFO: Info = Info {
        name: "blue",
        title: "BLUE: drop probability from overflow and idle link",
        source: "Feng, Kandlur, Saha & Shin, CSE-TR-387-99, 1999; IEEE/ACM ToN 10(4), 2002, doi:10.1109/TNET.2002.801399",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self { params, limit: env.limit, p: 0.0, changed: Time::ZERO, idle: false })
    }
}

impl Plain for Blue {
    /// BLUE's own: overflow is what it learns from.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Blue {
    fn overflow(&mut self, now: Time) {
        if now.since(self.changed) > self.params.freeze {
            self.p = (self.p + self.params.d1).min(1.0);
            self.changed = now;
        }
    }

    fn decrease(&mut self, times: u64, now: Time) {
        self.p = (self.p - self.params.d2 * times as f64).max(0.0);
        self.changed = now;
    }
}

impl Aqm for Blue {
    fn into_prototype(self) -> Option<Box<dyn Prototype>> {
        Some(Box::new(self))
    }

    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        if std::mem::take(&mut self.idle) {
            let times = queue.now.since(self.changed).0 / self.params.freeze.0;
            if times > 0 {
                self.decrease(times, self.changed + self.params.freeze * times);
            }
        }
        let room = self.limit.admits(queue.packets, queue.bytes, packet.size);
        if !room || self.params.threshold.is_some_and(|most| queue.packets >= most as usize) {
            self.overflow(queue.now);
        }
        if !room {
            Verdict::Drop(DropReason::Overflow)
        } else if rng.uniform() >= self.p {
            Verdict::Pass
        } else if self.params.ecn {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn on_idle(&mut self, now: Time) {
        self.idle = true;
        if now.since(self.changed) > self.params.freeze {
            self.decrease(1, now);
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};
    use crate::wire::Flags;

    fn bench(params: Params, packets: u32) -> Bench<Managed<Blue>> {
        let limit = Limit { packets, bytes: u64::MAX };
        Bench::new(Managed::<Blue>::new(params, &QdiscEnv { limit, ..env() }).unwrap())
    }

    #[test]
    fn the_probability_moves_as_computed_by_hand() {
        let params = Params { d1: 0.25, d2: 0.125, ..Params::default() };
        let mut bench = bench(params, 1);
        bench.after(Span::from_millis(150));
        bench.arrive(0, 1000);
        // Overflow after 150 ms: up. Another within 100 ms: nothing. After 101 ms: up again.
        bench.arrive(0, 1000);
        near::<12>(bench.probe("p"), 0.25);
        bench.after(Span::from_millis(100));
        bench.arrive(0, 1000);
        near::<12>(bench.probe("p"), 0.25);
        bench.after(Span::from_millis(1));
        bench.arrive(0, 1000);
        near::<12>(bench.probe("p"), 0.5);
        assert_eq!(bench.drops().iter().filter(|d| d.1 == DropReason::Overflow).count(), 3);
        // Idle 50 ms after the change: too soon. Idle again after 101 ms: down.
        assert!(bench.depart().is_some());
        bench.after(Span::from_millis(50));
        assert!(bench.depart().is_none());
        near::<12>(bench.probe("p"), 0.5);
        bench.after(Span::from_millis(51));
        assert!(bench.depart().is_none());
        near::<12>(bench.probe("p"), 0.375);
        // Idle for 250 ms more: two whole freeze times, taken off when a packet arrives.
        bench.after(Span::from_millis(250));
        bench.arrive(0, 1000);
        near::<12>(bench.probe("p"), 0.125);
    }

    #[test]
    fn the_probability_stays_within_0_and_1() {
        let mut bench = bench(Params { d1: 0.7, d2: 0.9, ..Params::default() }, 1);
        bench.arrive(0, 1000);
        for _ in 0..3 {
            bench.after(Span::from_millis(101));
            bench.arrive(0, 1000);
        }
        near::<12>(bench.probe("p"), 1.0);
        bench.depart();
        for _ in 0..3 {
            bench.after(Span::from_millis(101));
            bench.depart();
        }
        near::<12>(bench.probe("p"), 0.0);
    }

    #[test]
    fn at_probability_one_capable_packets_are_marked() {
        let params = Params { d1: 1.0, ecn: true, threshold: Some(1), ..Params::default() };
        let mut bench = bench(params, 10);
        bench.arrive(0, 1000);
        bench.after(Span::from_millis(101));
        bench.arrive_with(0, 1000, Flags::ECT);
        assert_eq!((bench.marks, bench.drops()), (1, vec![]));
        bench.arrive(0, 1000);
        assert_eq!(bench.drops(), [(2, DropReason::Unmarkable)]);
    }
}
