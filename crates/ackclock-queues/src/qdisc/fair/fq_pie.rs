//! FQ-PIE: fair queueing by deficit round robin that serves new flows first, PIE on every queue.
//!
//! **Source**: PIE: RFC 8033; the queues: RFC 8290, sections 4 and 5; the two together: Linux's tc-fq_pie(8), and
//! R. Al-Saadi, G. Armitage, "Dummynet AQM v0.2: CoDel, FQ-CoDel, PIE and FQ-PIE for FreeBSD's ipfw/dummynet
//! framework", CAIA Technical Report 160418A, 2016.
//!
//! **Rule**:
//! - an arrival joins the queue of its class's hash, if that queue's PIE lets it: probability, burst allowance and
//!   delay are those of the queue;
//! - queues are served as FQ-CoDel serves them (new ones first, `quantum` bytes a turn);
//! - when the buffer is exceeded, the queue with the most bytes loses its oldest packet.
//!
//! **Deviations**: Linux drops the arrival when the buffer is full; here, as in FreeBSD, the longest queue pays.
//! The hash is fixed for a run; `salt` selects another. PIE is that of RFC 8033. Linux's (6.12, `sch_pie.c`) adds 0.02 to the
//! probability at each update with a delay above 250 ms, takes the time between departures off the burst allowance in place of
//! `update` at each update, takes 1/64 off the probability of an idle queue in place of 2 %, and compares the
//! delay of the last departure with half the target, where RFC 8033 has that of the last update.
//!
//! **Defaults by era**: the same in all: those of tc-fq_pie, delays by timestamps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::pie::{self, Pie};
use crate::qdisc::fair::flow_queues::{FlowQueues, Settings};
use crate::qdisc::{Limit, QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Status};
use crate::units::{Bytes, Span};
use crate::wire::{Packet, Timed};

/// Parameters of [`FqPie`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Number of queues.
    #[schemars(range(min = 1, max = 65536))]
    pub queues: u32,
    /// Bytes that a queue may send in a turn.
    #[schemars(range(min = 1))]
    pub quantum: Bytes,
    /// Delay that PIE's controller aims at.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub target: Span,
    /// Time between two updates of the probabilities.
    #[schemars(range(min = 0.000_001))]
    pub update: Span,
    /// Length of a burst that passes untouched.
    pub max_burst: Span,
    /// Weight of the distance from the target.
    #[schemars(range(min = 0), extend("x-unit" = "1/s"))]
    pub alpha: f64,
    /// Weight of the change of the delay.
    #[schemars(range(min = 0), extend("x-unit" = "1/s"))]
    pub beta: f64,
    /// How the delay is estimated.
    pub delay: pie::Delay,
    /// ECN-capable packets are marked instead of dropped while the probability is below `mark_ecnth`.
    pub ecn: bool,
    /// Probability from which capable packets are dropped too.
    #[schemars(range(min = 0, max = 1))]
    pub mark_ecnth: f64,
    /// Selects the hash function.
    pub salt: u32,
}

impl Default for Params {
    fn default() -> Self {
        let pie = pie::Params::default();
        Self {
            queues: 1024,
            quantum: Bytes(1514),
            target: pie.target,
            update: pie.update,
            max_burst: pie.max_burst,
            alpha: pie.alpha,
            beta: pie.beta,
            delay: pie::Delay::Timestamp,
            ecn: false,
            mark_ecnth: pie.mark_ecnth,
            salt: 0,
        }
    }
}

/// FQ-PIE.
pub struct FqPie(FlowQueues);

impl About<QdiscEnv> for FqPie {
    type Params = Params;
    const INFO: Info = Info {
        name: "fq-pie",
        title: "FQ-PIE: flow queueing with PIE",
        source: "RFC 8033, doi:10.17487/RFC8033; tc-fq_pie(8); CAIA Technical Report 160418A",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["fq_pie"];

    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let pie = Pie::new(
            pie::Params {
                target: params.target,
                update: params.update,
                max_burst: params.max_burst,
                alpha: params.alpha,
                beta: params.beta,
                delay: params.delay,
                ecn: params.ecn,
                mark_ecnth: params.mark_ecnth,
                ..pie::Params::default()
            },
            &QdiscEnv { limit: Limit::NONE, ..env.clone() },
        )?;
        let Params { queues, quantum, salt, .. } = params;
        let settings = Settings { queues, quantum, drop_batch: 1, salt };
        Ok(Self(FlowQueues::new(settings, env.limit, Box::new(pie))))
    }
}

impl QueueDisc for FqPie {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        self.0.enqueue(packet, ctx);
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.0.dequeue(ctx)
    }

    packets_are_in!(0);

    fn state(&self) -> State {
        self.0.state()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("longest", self.0.greatest_length() as f64);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::qdisc::fair::classes::bucket;
    use crate::qdisc::testing::{Bench, env};
    use crate::registry::refusal;
    use crate::wire::DropReason;

    fn bench(params: Params, packets: u32) -> Bench<FqPie> {
        let env = QdiscEnv { limit: Limit { packets, bytes: u64::MAX }, ..env() };
        Bench::new(FqPie::new(params, &env).unwrap())
    }

    /// Keys in different queues.
    fn apart() -> [u32; 2] {
        let home = bucket(0, 0, 1024);
        [0, (1..100).find(|&k| bucket(k, 0, 1024) != home).unwrap()]
    }

    /// A sends twice what the link carries, b a packet now and then: only a loses, and b does not wait for it.
    #[test]
    fn every_queue_has_its_own_probability() {
        let [a, b] = apart();
        let mut bench = bench(Params::default(), 10_000);
        let mut longest = Span::ZERO;
        for ms in 0..3000u64 {
            for _ in 0..2 {
                bench.arrive(a, 1000);
            }
            if ms % 20 == 0 {
                bench.arrive(b, 1000);
            }
            if ms % 15 == 14 {
                bench.tick();
            }
            let sent = bench.depart().unwrap();
            if sent.packet.flow.0 == b {
                longest = longest.max(bench.now.since(sent.at));
            }
            bench.after(Span::from_millis(1));
        }
        // Half of a's packets are too many; PIE has found that out within three seconds.
        assert!(bench.dropped.len() > 1000, "{}", bench.dropped.len());
        assert!(bench.dropped.iter().all(|(packet, _)| packet.flow.0 == a));
        assert!(longest <= Span::from_millis(2), "{longest:?}");
    }

    #[test]
    fn an_exceeded_buffer_takes_the_oldest_packet_of_the_longest_queue() {
        let [a, b] = apart();
        let mut bench = bench(Params::default(), 10);
        bench.arrive(b, 1000);
        for _ in 0..11 {
            bench.arrive(a, 1000);
        }
        assert_eq!(bench.drops(), [(1, DropReason::PushedOut), (2, DropReason::PushedOut)]);
    }

    #[test]
    fn ranges_are_those_of_its_parts() {
        let refused = |table| refusal::<QdiscEnv, FqPie>(table, &env());
        assert_eq!(
            refused(json!({ "quantum": 0 })),
            "quantum: 0 B is out of range; expected at least 1 B"
        );
        assert_eq!(
            refused(json!({ "target": "0 ms" })),
            "target: 0 ms is out of range; expected more than 0 s"
        );
    }
}
