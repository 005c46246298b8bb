//! AFD, approximate fair dropping: drops from each flow what its arrivals exceed a fair number.
//!
//! **Source**: Pan, Breslau, Prabhakar & Shenker, "Approximate Fairness through Differential
//! Dropping", ACM CCR 33(2), 2003 (doi:10.1145/956981.956985). The text could not be had: rebuilt
//! from summaries. Gains of 1.7 and 1.8, 160 updates a second and 500 samples are also those of
//! programs by others that cite it; one sample in 5 could not be checked.
//! Compared line by line with two of them: `sch_afq.c` for Linux (L. Xue, 2012) and a program in P4 whose comments name the
//! paper's guidelines; the latter takes 50 of 256 arrivals, nearly one in 5.
//!
//! **Rule**: a shadow buffer holds the flows of the last `shadow` sampled arrivals, of which it
//! samples one in `sample` at random; m is a flow's number in it:
//! - an arrival is dropped with probability `max(0, 1 - m_fair / m)`;
//! - every `update`, with q packets waiting now and q' then:
//!   `m_fair += alpha (q' - target) - beta (q - target)`, from 0 to `shadow`.
//!
//! **Deviations**: the oldest sample is replaced, so that the shadow buffer is a window of arrivals, as in `sch_afq.c`; in P4 one
//! drawn at random. m counts packets, as there; in P4 bytes. `sch_afq.c` drops what finds no room
//! before it samples; here such an arrival is counted.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, State, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::Span;
use crate::wire::{DropReason, Packet};

/// Parameters of [`Afd`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Samples in the shadow buffer.
    #[schemars(range(min = 1))]
    pub shadow: u32,
    /// One arrival in this many is sampled.
    #[schemars(range(min = 1))]
    pub sample: f64,
    /// Queue aimed at. Left out: a quarter of the buffer, 100 if that has no limit.
    #[schemars(range(min = 0), extend("x-unit" = "packets"))]
    pub target: Option<f64>,
    /// Time between two updates of the fair number.
    #[schemars(range(min = 0.000_001))]
    pub update: Span,
    /// Gain on the queue at the update before.
    pub alpha: f64,
    /// Gain on the queue now.
    pub beta: f64,
    /// ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            shadow: 500,
            sample: 5.0,
            target: None,
            update: Span::from_micros(6250),
            alpha: 1.7,
            beta: 1.8,
            ecn: false,
        }
    }
}

/// Approximate fair dropping.
#[derive(Debug)]
pub struct Afd {
    limit: Limit,
    /// Keys of the samples, oldest at `next` once it is full.
    shadow: Vec<u32>,
    size: usize,
    next: usize,
    /// Samples of each key.
    counts: Vec<u32>,
    sample: f64,
    target: f64,
    update: Span,
    alpha: f64,
    beta: f64,
    verdict: Verdict,
    before: f64,
    m_fair: f64,
}

impl About<QdiscEnv> for Afd {
    type Params = Params;
    const INFO: Info = Info {
        name: "afd",
        title: "AFD: approximate fair dropping",
        source: "Pan, Breslau, Prabhakar & Shenker, ACM CCR 33(2), 2003, doi:10.1145/956981.956985",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let target = params.target.unwrap_or_else(|| {
            env.limit.in_packets(env.mean_packet).map_or(100.0, |most| most / 4.0)
        });
        Ok(Self {
            limit: env.limit,
            shadow: Vec::new(),
            size: params.shadow as usize,
            next: 0,
            counts: vec![0; env.keys as usize],
            sample: 1.0 / params.sample,
            target,
            update: params.update,
            alpha: params.alpha,
            beta: params.beta,
            verdict: if params.ecn {
                Verdict::MarkElseDrop(DropReason::Unmarkable)
            } else {
                Verdict::Drop(DropReason::Early)
            },
            before: 0.0,
            m_fair: f64::from(params.shadow),
        })
    }
}

impl Afd {
    fn remember(&mut self, key: u32) {
        self.counts[key as usize] += 1;
        if self.shadow.len() < self.size {
            self.shadow.push(key);
            return;
        }
        let oldest = std::mem::replace(&mut self.shadow[self.next], key);
        self.counts[oldest as usize] -= 1;
        self.next = (self.next + 1) % self.size;
    }
}

impl Plain for Afd {
    /// AFD's own: arrivals that find no room count too.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Aqm for Afd {
    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        let key = queue.key as usize;
        if key >= self.counts.len() {
            self.counts.resize(key + 1, 0);
        }
        if rng.uniform() < self.sample {
            self.remember(queue.key);
        }
        if !self.limit.admits(queue.packets, queue.bytes, packet.size) {
            return Verdict::Drop(DropReason::Overflow);
        }
        // Drop if u < 1 - m_fair / m, without the division.
        let m = f64::from(self.counts[key]);
        let over = m > self.m_fair && rng.uniform() * m < m - self.m_fair;
        if over { self.verdict } else { Verdict::Pass }
    }

    fn timer_interval(&self) -> Option<Span> {
        Some(self.update)
    }

    fn on_timer(&mut self, queue: &QueueState) {
        let queue = queue.packets as f64;
        let change = self.alpha * (self.before - self.target) - self.beta * (queue - self.target);
        self.m_fair = (self.m_fair + change).clamp(0.0, self.size as f64);
        self.before = queue;
    }

    fn state(&self) -> State {
        let counted = self.counts.iter().filter(|&&count| count > 0).count();
        let counters = self.shadow.len() + counted;
        let bytes = size_of::<Self>() + counters * size_of::<u32>();
        State { flows: counted as u64, bytes: bytes as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("m_fair", self.m_fair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::near::near;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};

    #[test]
    fn the_fair_number_moves_as_computed_by_hand() {
        let params = Params { target: Some(10.0), shadow: 100, ..Params::default() };
        let mut bench = Bench::new(Managed::<Afd>::new(params, &env()).unwrap());
        bench.tick();
        // 1.7 (0 - 10) - 1.8 (0 - 10) = 1 above 100: stays at 100.
        near::<12>(bench.probe("m_fair"), 100.0);
        for _ in 0..30 {
            bench.arrive(0, 1000);
        }
        bench.tick();
        // 1.7 (0 - 10) - 1.8 (30 - 10) = -53.
        near::<12>(bench.probe("m_fair"), 47.0);
        bench.tick();
        // 1.7 x 20 - 1.8 x 20 = -2.
        near::<12>(bench.probe("m_fair"), 45.0);
    }

    #[test]
    fn the_shadow_buffer_is_a_window_of_the_samples() {
        let params = Params { shadow: 3, sample: 1.0, ..Params::default() };
        let mut bench = Bench::new(Managed::<Afd>::new(params, &env()).unwrap());
        for key in [0, 1, 1, 2, 1] {
            bench.arrive(key, 1000);
        }
        // The last three: 1, 2, 1.
        assert_eq!(bench.qdisc.aqm.counts[..3], [0, 2, 1]);
        // A word for each sample and for each flow that has some.
        let state = bench.qdisc.aqm.state();
        assert_eq!((state.flows, state.bytes), (2, size_of::<Afd>() as u64 + 20));
    }

    #[test]
    fn a_flow_with_four_times_the_fair_number_loses_three_in_four() {
        let params = Params { shadow: 100, sample: 1.0, ..Params::default() };
        let mut bench = Bench::new(Managed::<Afd>::new(params, &env()).unwrap());
        // Flow 0 sends four fifths, flow 1 one fifth; 80 and 20 in the shadow buffer.
        let turn = |bench: &mut Bench<Managed<Afd>>| {
            for key in [0, 0, 1, 0, 0] {
                bench.arrive(key, 1000);
                bench.depart();
            }
        };
        for _ in 0..20 {
            turn(&mut bench);
        }
        bench.drops();
        bench.qdisc.aqm.m_fair = 20.0;
        let turns = 4000;
        for _ in 0..turns {
            turn(&mut bench);
        }
        let keys: Vec<u32> = bench.dropped.iter().map(|(p, _)| p.flow.0).collect();
        assert!(keys.iter().all(|&key| key == 0), "the flow within its share loses nothing");
        let share = keys.len() as f64 / f64::from(4 * turns);
        // 4 standard deviations of 16000 draws.
        assert!((share - 0.75).abs() < 4.0 * (0.75 * 0.25 / 16_000f64).sqrt(), "{share}");
    }
}
