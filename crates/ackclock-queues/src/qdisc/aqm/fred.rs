//! FRED, flow random early drop: RED that counts each flow's packets in the buffer.
//!
//! **Source**: Lin & Morris, "Dynamics of Random Early Detection", SIGCOMM 1997
//! (doi:10.1145/263105.263154). The text could not be had: the rule is that of two programs that
//! follow its pseudocode line by line, J-Sim's and, with its known mistakes left out, an ns-3 port.
//! They agree on `min_q` 2, not on thresholds and `max_p`, whose defaults here are from retellings.
//!
//! **Rule**: for an arrival of flow i with `q_i` packets waiting, `avgcq = max(1, avg / flows that
//! have packets waiting)`, `max_q = min_th`, but 2 with `many_flows` and `avg >= max_th`:
//! 1. `q_i >= max_q`, or `avg >= max_th` and `q_i > 2 avgcq`, or `q_i >= avgcq` and `strike_i > 1`:
//!    `strike_i += 1`, drop;
//! 2. `min_th <= avg < max_th`: if `q_i >= max(min_q, avgcq)`, drop as RED does;
//! 3. `avg >= max_th`: drop, but with `many_flows` accept;
//! 4. else accept. `avg` takes a step at departures too; strikes are forgotten with the last packet.
//!
//! **Deviations**: none known.
//!
//! **Defaults by era**: the same in all. `min_th` is a quarter of the buffer, `max_th` twice that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::curve::{Average, Curve, Spacing, Spread};
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, State, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{BitRate, Time};
use crate::wire::{DropReason, Packet};

/// Parameters of [`Fred`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Average queue from which packets are dropped. Left out: a quarter of the buffer, 5 if that has
    /// no limit.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "packets"))]
    pub min_th: Option<f64>,
    /// Average queue from which all are dropped, or with `many_flows` all but two a flow; more than `min_th`.
    /// Left out: twice `min_th`.
    #[schemars(extend("x-unit" = "packets"))]
    pub max_th: Option<f64>,
    /// Drop probability at `max_th`.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub max_p: f64,
    /// Weight of a step in the average.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    pub w_q: f64,
    /// Packets that a flow may have waiting without being dropped at random.
    #[schemars(range(min = 1), extend("x-unit" = "packets"))]
    pub min_q: u32,
    /// Above `max_th` every flow may have two packets waiting.
    pub many_flows: bool,
    /// ECN-capable packets are marked instead of dropped at random.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            min_th: None,
            max_th: None,
            max_p: 0.02,
            w_q: 0.002,
            min_q: 2,
            many_flows: true,
            ecn: false,
        }
    }
}

/// A flow with packets waiting.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    waiting: u32,
    strikes: u32,
}

/// Flow random early drop.
#[derive(Debug)]
pub struct Fred {
    limit: Limit,
    average: Average,
    curve: Curve,
    spacing: Spacing,
    /// Mean packet size in bytes.
    mean: u32,
    min_q: f64,
    many_flows: bool,
    ecn: bool,
    flows: Vec<Flow>,
    /// Flows with packets waiting.
    active: u32,
    p: f64,
}

const SPREAD: Spread = Spread { wait: false, by_bytes: None };

impl About<QdiscEnv> for Fred {
    type Params = Params;
    const INFO: Info = Info {
        name: "fred",
        title: "FRED: flow random early drop",
        source: "Lin & Morris, SIGCOMM 1997, doi:10.1145/263105.263154",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let quarter = || env.limit.in_packets(env.mean_packet).map_or(5.0, |most| most / 4.0);
        // A buffer of no packets at all still needs thresholds in order.
        let min_th = params.min_th.unwrap_or_else(|| quarter().max(0.25));
        let max_th = params.max_th.unwrap_or(2.0 * min_th);
        if max_th <= min_th {
            let range = format!("more than min_th, {min_th} packets");
            return Err(Problem::out_of_range("max_th", max_th, &range).into());
        }
        Ok(Self {
            limit: env.limit,
            average: Average::new(params.w_q, packet_rate(env.rate, env.mean_packet)),
            curve: Curve::new(min_th, max_th, params.max_p, false),
            spacing: Spacing::default(),
            mean: env.mean_packet,
            min_q: f64::from(params.min_q),
            many_flows: params.many_flows,
            ecn: params.ecn,
            flows: vec![Flow::default(); env.keys as usize],
            active: 0,
            p: 0.0,
        })
    }
}

/// Packets of mean size that the link sends in a second.
fn packet_rate(rate: BitRate, mean: u32) -> f64 {
    rate.bps().max(1.0) / (8.0 * f64::from(mean.max(1)))
}

impl Fred {
    fn decide(&mut self, key: usize, rng: &mut Stream) -> Verdict {
        let avg = self.average.value;
        let (low, high) = (self.curve.min_th, self.curve.max_th);
        // The average backlog of a flow that has one.
        let avgcq = (avg / f64::from(self.active.max(1))).max(1.0);
        let max_q = if self.many_flows && avg >= high { 2.0 } else { low };
        let flow = &mut self.flows[key];
        let waiting = f64::from(flow.waiting);
        self.p = 0.0;
        if waiting >= max_q
            || (avg >= high && waiting > 2.0 * avgcq)
            || (waiting >= avgcq && flow.strikes > 1)
        {
            flow.strikes += 1;
            return Verdict::Drop(DropReason::Forced);
        }
        if avg < low {
            self.spacing.above = false;
            return Verdict::Pass;
        }
        if avg >= high {
            self.spacing.reset();
            let drop = Verdict::Drop(DropReason::Forced);
            return if self.many_flows { Verdict::Pass } else { drop };
        }
        self.spacing.arrival(0);
        if !self.spacing.above {
            self.spacing.cross(false, 0);
        }
        if waiting < self.min_q.max(avgcq) {
            return Verdict::Pass;
        }
        self.p = self.curve.p(avg);
        if rng.uniform() >= self.spacing.p(self.p, 0, SPREAD) {
            return Verdict::Pass;
        }
        self.spacing.reset();
        if self.ecn {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }
}

impl Plain for Fred {
    /// FRED's own: arrivals that find no room count too.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Aqm for Fred {
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        let key = queue.key as usize;
        if key >= self.flows.len() {
            self.flows.resize(key + 1, Flow::default());
        }
        self.average.arrival(queue.now, queue.packets as f64);
        let mut verdict = self.decide(key, rng);
        if !self.limit.admits(queue.packets, queue.bytes, packet.size) {
            verdict = Verdict::Drop(DropReason::Overflow);
        }
        let flow = &mut self.flows[key];
        if verdict.keeps(packet) {
            self.active += u32::from(flow.waiting == 0);
            flow.waiting += 1;
        } else if flow.waiting == 0 {
            flow.strikes = 0;
        }
        verdict
    }

    fn on_dequeue(
        &mut self,
        _packet: &Packet,
        _since: Time,
        queue: &QueueState,
        _rng: &mut Stream,
    ) -> Verdict {
        let flow = &mut self.flows[queue.key as usize];
        flow.waiting -= 1;
        if flow.waiting == 0 {
            flow.strikes = 0;
            self.active -= 1;
        }
        self.average.arrival(queue.now, queue.packets as f64);
        Verdict::Pass
    }

    fn on_idle(&mut self, now: Time) {
        self.average.idle(now);
    }

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        let w_q = self.average.w_q();
        self.average.set_rate(now, packet_rate(rate, self.mean), w_q);
    }

    fn state(&self) -> State {
        // Of flows without packets here nothing would have to be kept.
        let bytes = size_of::<Self>() + self.active as usize * size_of::<Flow>();
        State { flows: u64::from(self.active), bytes: bytes as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("avg", self.average.value);
        out("p", self.p);
        out("flows", f64::from(self.active));
    }
}

#[cfg(test)]
mod tests;
