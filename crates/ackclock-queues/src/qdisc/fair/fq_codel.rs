//! FQ-CoDel: fair queueing by deficit round robin that serves new flows first, CoDel on every queue.
//!
//! **Source**: RFC 8290, sections 4 and 5 (doi:10.17487/RFC8290); CoDel: RFC 8289.
//!
//! **Rule**:
//! - an arrival joins the queue of its class's hash; a queue on neither list goes to the end of the
//!   list of new queues with `quantum` bytes of credit;
//! - the first new queue, else the first old one, is served: without credit it gets `quantum` and
//!   goes to the end of the old list; else its CoDel yields a packet, whose size is debited;
//! - a queue that yields none goes to the end of the old list if it was new, else off the lists;
//! - when the buffer is exceeded, the queue with the most bytes loses half its packets from the
//!   head, at most `drop_batch`;
//! - with `ce_threshold`, capable packets that waited longer are marked CE, whatever CoDel says: all of them,
//!   or only ECT(1), which makes it a queue for L4S (tc-fq_codel(8), `ce_threshold_selector 0x1/0x3`).
//!
//! **Deviations**: the hash is fixed for a run; `salt` selects another.
//!
//! **Defaults by era**: the same in all (FQ-CoDel is younger than ns-2's eras).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::codel::{self, CeSelector, Codel};
use crate::qdisc::fair::flow_queues::{FlowQueues, Settings};
use crate::qdisc::{Limit, QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Status};
use crate::units::{Bytes, Span};
use crate::wire::{Packet, Timed};

/// Parameters of [`FqCodel`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Number of queues.
    #[schemars(range(min = 1, max = 65536))]
    pub queues: u32,
    /// Bytes that a queue may send in a turn.
    #[schemars(range(min = 1))]
    pub quantum: Bytes,
    /// CoDel's target.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub target: Span,
    /// CoDel's interval.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub interval: Span,
    /// ECN-capable packets are marked instead of dropped by CoDel.
    pub ecn: bool,
    /// Waiting time above which a selected packet is marked CE, whatever CoDel says; left out: never.
    pub ce_threshold: Option<Span>,
    /// Which capable packets `ce_threshold` marks.
    pub ce_selector: CeSelector,
    /// Most packets dropped at once when the buffer is exceeded.
    #[schemars(range(min = 1))]
    pub drop_batch: u32,
    /// Selects the hash function.
    pub salt: u32,
}

impl Default for Params {
    fn default() -> Self {
        let codel = codel::Params::default();
        Self {
            queues: 1024,
            quantum: Bytes(1514),
            target: codel.target,
            interval: codel.interval,
            ecn: true,
            ce_threshold: None,
            ce_selector: CeSelector::All,
            drop_batch: 64,
            salt: 0,
        }
    }
}

/// FQ-CoDel.
pub struct FqCodel(FlowQueues);

impl About<QdiscEnv> for FqCodel {
    type Params = Params;
    const INFO: Info = Info {
        name: "fq-codel",
        title: "FQ-CoDel: flow queueing with controlled delay",
        source: "RFC 8290, sections 4 and 5, doi:10.17487/RFC8290",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["fq_codel", "fqcodel"];

    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let codel = Codel::new(
            codel::Params {
                target: params.target,
                interval: params.interval,
                ecn: params.ecn,
                ce_threshold: params.ce_threshold,
                ce_selector: params.ce_selector,
                ..codel::Params::default()
            },
            &QdiscEnv { limit: Limit::NONE, ..env.clone() },
        )?;
        let Params { queues, quantum, drop_batch, salt, .. } = params;
        let settings = Settings { queues, quantum, drop_batch, salt };
        Ok(Self(FlowQueues::new(settings, env.limit, Box::new(codel))))
    }
}

impl QueueDisc for FqCodel {
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
    use crate::wire::{DropReason, Flags};

    fn bench(params: Params, packets: u32) -> Bench<FqCodel> {
        let env = QdiscEnv { limit: Limit { packets, bytes: u64::MAX }, ..env() };
        Bench::new(FqCodel::new(params, &env).unwrap())
    }

    /// Keys in different queues.
    fn apart(params: &Params) -> [u32; 2] {
        let home = bucket(0, 0, params.queues);
        [0, (1..100).find(|&k| bucket(k, 0, params.queues) != home).unwrap()]
    }

    fn serve_all(bench: &mut Bench<FqCodel>, n: usize) -> Vec<u32> {
        (0..n).map(|_| bench.depart().unwrap().packet.seq).collect()
    }

    #[test]
    fn new_queues_go_first_until_their_quantum_is_spent() {
        let params = Params { quantum: Bytes(2000), ..Params::default() };
        let [a, b] = apart(&params);
        let mut bench = bench(params, 1000);
        for _ in 0..6 {
            bench.arrive(a, 1000);
        }
        // Two packets spend a's first quantum; it turns old, and its third leaves it 1000 B.
        assert_eq!(serve_all(&mut bench, 3), [0, 1, 2]);
        // b comes with four packets: two go at once as new, the others wait behind a's turn.
        for _ in 0..4 {
            bench.arrive(b, 1000);
        }
        assert_eq!(serve_all(&mut bench, 7), [6, 7, 3, 8, 9, 4, 5]);
    }

    #[test]
    fn the_longest_queue_is_recorded_in_bytes() {
        let params = Params::default();
        let [a, b] = apart(&params);
        let mut bench = bench(params, 1000);
        assert_eq!(bench.probe("longest"), 0.0);
        for (key, size) in [(a, 1000), (b, 40), (a, 1000), (b, 40), (b, 40)] {
            bench.arrive(key, size);
        }
        assert_eq!(bench.probe("longest"), 2000.0);
    }

    #[test]
    fn a_queue_may_overdraw_its_credit_by_less_than_a_packet() {
        let params = Params { quantum: Bytes(1500), ..Params::default() };
        let [a, b] = apart(&params);
        let mut bench = bench(params, 1000);
        for key in [a, a, a, b, b, b] {
            bench.arrive(key, 1000);
        }
        // a: 1500 - 1000 - 1000 = -500 after two; b the same; a: 1000 left for its third.
        assert_eq!(serve_all(&mut bench, 6), [0, 1, 3, 4, 2, 5]);
    }

    #[test]
    fn overflow_takes_half_of_the_fattest_queue_from_its_head() {
        let params = Params::default();
        let [a, b] = apart(&params);
        let mut bench = bench(params, 10);
        bench.arrive(b, 1000);
        for _ in 0..10 {
            bench.arrive(a, 1000);
        }
        let expected: Vec<_> = (1..=5).map(|seq| (seq, DropReason::PushedOut)).collect();
        assert_eq!(bench.drops(), expected);
        assert_eq!(bench.qdisc_len(), 6);
    }

    #[test]
    fn the_batch_is_bounded() {
        let mut bench = bench(Params { drop_batch: 3, ..Params::default() }, 100);
        for _ in 0..101 {
            bench.arrive(0, 1000);
        }
        assert_eq!(bench.drops().len(), 3);
    }

    #[test]
    fn every_queue_has_its_own_codel() {
        let params = Params::default();
        let [a, b] = apart(&params);
        let mut bench = bench(params, 10_000);
        // a keeps a standing queue; b sends a packet now and then and never loses one.
        for ms in 0..2000u64 {
            while bench.qdisc_len() < 50 {
                bench.arrive(a, 1000);
            }
            if ms % 20 == 0 {
                bench.arrive(b, 1000);
            }
            bench.depart();
            bench.after(Span::from_millis(1));
        }
        assert!(bench.dropped.len() > 10, "{}", bench.dropped.len());
        assert!(bench.dropped.iter().all(|(p, _)| p.flow.0 == a));
    }

    /// RFC 9331: a packet of L4S that waits over a millisecond is marked, one of another kind is not.
    #[test]
    fn the_selector_picks_ect_1() {
        let params = Params {
            ce_threshold: Some(Span::from_millis(1)),
            ce_selector: CeSelector::Ect1,
            ..Params::default()
        };
        let mut bench = bench(params, 100);
        let kinds = [Flags::ECT | Flags::ECT_1, Flags::ECT, Flags::default()];
        for wait in [1000, 1001] {
            for flags in kinds {
                bench.arrive_with(0, 1000, flags);
            }
            bench.after(Span::from_micros(wait));
            let marked = kinds.map(|_| bench.depart().unwrap().packet.flags.has(Flags::CE));
            assert_eq!(marked, [wait > 1000, false, false]);
        }
        assert!(bench.dropped.is_empty());
    }

    #[test]
    fn zero_counts_are_refused() {
        let text = refusal::<QdiscEnv, FqCodel>(json!({ "quantum": 0 }), &env());
        assert_eq!(text, "quantum: 0 B is out of range; expected at least 1 B");
    }
}
