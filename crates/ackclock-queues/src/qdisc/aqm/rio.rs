//! RIO, RED with In and Out: packets out of profile are dropped earlier and harder than those in.
//!
//! **Source**: Clark & Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM
//! Trans. Networking 6(4), 1998, section III (doi:10.1109/90.720870).
//! Compared line by line with `rio.cc` and `ns-default.tcl` of ns-2.35. The paper's text could not be had.
//!
//! **Rule**: RED (see `red`) twice over one FIFO. An In packet is judged by the average number of
//! In packets and the In curve, an Out packet by the average of all packets and the Out curve; each
//! kind counts its own arrivals since its last drop. Out packets carry the flag `OUT`.
//!
//! **Deviations**: in the ns-2 eras as in ns-2: Out arrivals do not update the total average, and
//! RED's habits of those eras hold for both curves; idle time counts by the link's first rate.
//! In era `rfc` it counts by the rate that the link has at the time. Idle time of the In average lasts until the
//! next In packet, as in ns-2.
//!
//! **Defaults by era**: thresholds, `in_max_p` and weight are ns-2's in every era. `out_max_p` is 0.2 in `rfc`, which
//! `ns-default.tcl` sets (`out_linterm_` 5), and 0.1 in the ns-2 eras, which ns-2 uses: `rio.cc` reads RED's `linterm_` (10) for
//! Out, and nothing reads `out_linterm_`. `wait` is off in `rfc` and on in the ns-2 eras; `mean_packet` is the link's in
//! `rfc` and 500 B in the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::curve::{Average, Curve, Spacing, Spread};
use crate::qdisc::aqm::red::full;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{BitRate, Time};
use crate::wire::{DropReason, Flags, Packet};

/// Parameters of [`Rio`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Average of In packets from which In packets are dropped.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "packets"))]
    pub in_min_th: f64,
    /// Average of In packets at which their probability is `in_max_p`; more than `in_min_th`.
    #[schemars(extend("x-unit" = "packets"))]
    pub in_max_th: f64,
    /// Drop probability of In packets at `in_max_th`.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub in_max_p: f64,
    /// Average of all packets from which Out packets are dropped.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "packets"))]
    pub out_min_th: f64,
    /// Average of all packets at which Out's probability is `out_max_p`; more than `out_min_th`.
    #[schemars(extend("x-unit" = "packets"))]
    pub out_max_th: f64,
    /// Drop probability of Out packets at `out_max_th`. Left out: by era.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub out_max_p: Option<f64>,
    /// Weight of an arrival in both averages.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub w_q: f64,
    /// Above the maximum thresholds the probability rises on a line to 1 at twice their value.
    pub gentle: bool,
    /// No drop before 1/p arrivals have passed since the last. Left out: by era.
    pub wait: Option<bool>,
    /// ECN-capable packets are marked instead of dropped while the average is below the maximum threshold.
    pub ecn: bool,
    /// Mean packet size for idle time. Left out: by era.
    #[schemars(range(min = 1), extend("x-unit" = "B"))]
    pub mean_packet: Option<u32>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            in_min_th: 15.0,
            in_max_th: 30.0,
            in_max_p: 0.02,
            out_min_th: 5.0,
            out_max_th: 15.0,
            out_max_p: None,
            w_q: 0.002,
            gentle: false,
            wait: None,
            ecn: false,
            mean_packet: None,
        }
    }
}

/// What one kind of packet is judged by.
#[derive(Clone, Debug)]
struct Kind {
    average: Average,
    curve: Curve,
    spacing: Spacing,
    p: f64,
}

/// RED with In and Out.
#[derive(Clone, Debug)]
pub struct Rio {
    inside: Kind,
    /// Its average is of all packets.
    outside: Kind,
    in_waiting: usize,
    spread: Spread,
    ecn: bool,
    ns2: bool,
    /// Mean packet size in bytes.
    mean: u32,
    limit: Limit,
}

fn packet_rate(rate: BitRate, mean: u32) -> f64 {
    rate.bps() / (8.0 * f64::from(mean))
}

impl About<QdiscEnv> for Rio {
    type Params = Params;
    const INFO: Info = Info {
        name: "rio",
        title: "RIO: RED with In and Out",
        source: "Clark & Fang, IEEE/ACM ToN 6(4), 1998, section III, doi:10.1109/90.720870",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let ns2 = env.era.is_ns2();
        let mean = params.mean_packet.unwrap_or(if ns2 { 500 } else { env.mean_packet });
        let out_max_p = params.out_max_p.unwrap_or(if ns2 { 0.1 } else { 0.2 });
        let kind = |name: &str, min: f64, max: f64, p: f64| {
            if max <= min {
                let range = format!("more than {name}_min_th, {min} packets");
                return Err(Problem::out_of_range(format!("{name}_max_th"), max, &range));
            }
            Ok(Kind {
                average: Average::new(params.w_q, packet_rate(env.rate, mean)),
                curve: Curve::new(min, max, p, params.gentle),
                spacing: Spacing::default(),
                p: 0.0,
            })
        };
        Ok(Self {
            inside: kind("in", params.in_min_th, params.in_max_th, params.in_max_p)?,
            outside: kind("out", params.out_min_th, params.out_max_th, out_max_p)?,
            in_waiting: 0,
            spread: Spread { wait: params.wait.unwrap_or(ns2), by_bytes: None },
            ecn: params.ecn,
            ns2,
            mean,
            limit: env.limit,
        })
    }
}

impl Plain for Rio {
    /// RIO's own: an arrival that finds the buffer full still enters the averages.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Kind {
    fn judge(
        &mut self,
        packet: &Packet,
        waiting: usize,
        spread: Spread,
        ns2: bool,
        rng: &mut Stream,
    ) -> Verdict {
        let avg = self.average.value;
        self.spacing.arrival(packet.size);
        if avg < self.curve.min_th || (ns2 && waiting <= 1) {
            self.spacing.above = false;
            self.p = 0.0;
            return Verdict::Pass;
        }
        self.p = self.curve.p(avg);
        if avg >= self.curve.ceiling() {
            // Arrivals after a certain drop count, as in RED of 1993; ns-2 begins only below the ceiling.
            self.spacing.above |= !ns2;
            return Verdict::Drop(DropReason::Forced);
        }
        if !self.spacing.above {
            self.spacing.cross(ns2, packet.size);
            if ns2 {
                return Verdict::Pass;
            }
        }
        if rng.uniform() >= self.spacing.p(self.p, packet.size, spread) {
            return Verdict::Pass;
        }
        self.spacing.reset();
        if avg < self.curve.max_th {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }
}

impl Aqm for Rio {
    fn on_clock(&mut self, seconds: f64) {
        self.inside.average.set_clock(seconds);
        self.outside.average.set_clock(seconds);
    }

    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        let out = packet.flags.has(Flags::OUT);
        if !(out && self.ns2) {
            self.outside.average.arrival(queue.now, queue.packets as f64);
        }
        let (kind, waiting) = if out {
            (&mut self.outside, queue.packets)
        } else {
            self.inside.average.arrival(queue.now, self.in_waiting as f64);
            (&mut self.inside, self.in_waiting)
        };
        let mut verdict = kind.judge(packet, waiting, self.spread, self.ns2, rng);
        if full(self.limit, false, queue, packet.size) {
            verdict = Verdict::Drop(DropReason::Overflow);
        }
        // ns-2 counts on after the certain drop of an Out packet.
        if matches!(verdict, Verdict::Drop(DropReason::Overflow | DropReason::Forced))
            && !(out && self.ns2)
        {
            kind.spacing.reset();
        }
        let capable = packet.flags.has(Flags::ECT);
        if let Verdict::MarkElseDrop(_) = verdict {
            if !self.ecn {
                verdict = Verdict::Drop(DropReason::Early);
            } else if !capable {
                verdict = Verdict::Drop(DropReason::Unmarkable);
            }
        }
        if !out && !matches!(verdict, Verdict::Drop(_)) {
            self.in_waiting += 1;
        }
        verdict
    }

    fn on_dequeue(
        &mut self,
        packet: &Packet,
        _since: Time,
        _queue: &QueueState,
        _rng: &mut Stream,
    ) -> Verdict {
        self.outside.average.busy();
        if !packet.flags.has(Flags::OUT) {
            self.inside.average.busy();
            self.in_waiting -= 1;
        }
        Verdict::Pass
    }

    fn on_idle(&mut self, now: Time) {
        self.inside.average.idle(now);
        self.outside.average.idle(now);
    }

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        if !self.ns2 {
            for kind in [&mut self.inside, &mut self.outside] {
                let w_q = kind.average.w_q();
                kind.average.set_rate(now, packet_rate(rate, self.mean), w_q);
            }
        }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("in_avg", self.inside.average.value);
        out("avg", self.outside.average.value);
        out("in_p", self.inside.p);
        out("out_p", self.outside.p);
        out("in_packets", self.in_waiting as f64);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::era::Era;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};
    use crate::registry::refusal;

    /// Averages equal the queues seen; Out is sure to go from 3 waiting, In from 3 In waiting.
    fn sharp() -> Params {
        Params {
            in_min_th: 2.5,
            in_max_th: 3.0,
            out_min_th: 2.5,
            out_max_th: 3.0,
            w_q: 1.0,
            ..Params::default()
        }
    }

    #[test]
    fn out_is_judged_by_all_and_in_by_in_alone() {
        let mut bench = Bench::new(Managed::<Rio>::new(sharp(), &env()).unwrap());
        for _ in 0..3 {
            bench.arrive_with(0, 1000, Flags::OUT); // see 0, 1, 2 waiting
        }
        assert_eq!(bench.arrive_with(0, 1000, Flags::OUT), 3); // sees 3: dropped
        for _ in 4..7 {
            bench.arrive(0, 1000); // see 0, 1, 2 In waiting: kept
        }
        bench.arrive(0, 1000); // sees 3 In: dropped
        assert_eq!(bench.drops(), [(3, DropReason::Forced), (7, DropReason::Forced)]);
        assert_eq!(bench.probe("in_packets"), 3.0);
        while bench.depart().is_some() {}
        assert_eq!(bench.probe("in_packets"), 0.0);
    }

    #[test]
    fn in_ns2_out_arrivals_leave_the_total_average_alone() {
        for (era, expected) in [(Era::Rfc, 1.0), (Era::Ns2, 0.0)] {
            let env = QdiscEnv { era, ..env() };
            let mut bench = Bench::new(Managed::<Rio>::new(sharp(), &env).unwrap());
            bench.arrive(0, 1000);
            bench.arrive_with(0, 1000, Flags::OUT);
            assert_eq!(bench.probe("avg"), expected);
        }
    }

    /// Ten packets wait, half way from 5 to 15. `rio.cc` of ns-2.35 has Out's probability of 1 / `linterm_`, 10, and not of
    /// 1 / `out_linterm_`, 5: half of 0.1.
    #[test]
    fn in_ns2_out_has_the_probability_that_ns2_reads() {
        for (era, expected) in [(Era::Rfc, 0.1), (Era::Y2002, 0.05), (Era::Ns2, 0.05)] {
            let env = QdiscEnv { era, ..env() };
            let params = Params { w_q: 1.0, ..Params::default() };
            let mut rio = Rio::new(params, &env).unwrap();
            let mut rng = Stream::new(1, crate::rng::Purpose::Qdisc, 0);
            let packet = |flags| Packet::new(crate::ids::FlowId(0), 0, 1000, flags);
            let bytes = crate::units::Bytes(10_000);
            let queue = QueueState { now: Time::ZERO, packets: 10, bytes, key: 0 };
            // In updates the average of all, in every era. The second Out comes above the threshold.
            for flags in [Flags::default(), Flags::OUT, Flags::OUT] {
                rio.on_enqueue(&packet(flags), &queue, &mut rng);
            }
            assert!((rio.outside.p - expected).abs() < 1e-12, "{era:?} {}", rio.outside.p);
        }
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let text = refusal::<QdiscEnv, Rio>(json!({ "in_max_th": 15 }), &env());
        assert_eq!(text, "in_max_th: 15 is out of range; expected more than in_min_th, 15 packets");
    }
}
