//! WF2Q+, worst-case fair weighted fair queueing: of the packets that fluid sharing would have begun,
//! the one that it would finish first.
//!
//! FQ may send a class's packets far ahead of fluid sharing and then none for as long; WF2Q+ is at most
//! about one packet ahead or behind.
//!
//! **Source**: Bennett & Zhang, "WF2Q: worst-case fair weighted fair queueing", INFOCOM 1996 (the
//! eligibility rule, doi:10.1109/INFCOM.1996.497885); the same, "Hierarchical packet fair queueing
//! algorithms", IEEE/ACM Trans. Networking 5(5), 1997, section 3 (WF2Q+, doi:10.1109/90.649568). Their
//! abstracts and later accounts were read, not their full texts. Longest-queue drop: Suter et al.,
//! INFOCOM 1998.
//! Compared line by line with `dn_sched_wf2q.c` of FreeBSD (4b40a16f).
//!
//! **Rule**: the first packet of class i, of L bytes, has
//! - start S = max(V, F) if it came to an idle class, S = F otherwise; finish F = S + L / weight(i);
//! - of the classes with S <= V, eligible in the virtual time V, the one with the smallest F is served;
//! - V = max(V + W, smallest S of all classes), W: the service given since, over the sum of the weights;
//! - while the shared buffer is exceeded, the queue that is longest beside its weight loses its `victim`.
//!
//! A packet of class i that finds Q bytes of its class waits at most Q / r + l / r + (L - l) / C, with
//! r the class's rate and l its largest packet, C the link's rate and L the largest of all: the worst-case fair index.
//!
//! **Deviations**: the sum of the weights is of all classes that are known; FreeBSD's is of those that wait, or whose last
//! finish V has not passed. V is brought up to date when a transmission ends, as in the source's form for servers in
//! a hierarchy; when the link has been idle, all tags start anew; a packet that is dropped gives its service
//! back.
//!
//! **Defaults by era**: none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::inner;
use crate::qdisc::fair::classes::{Measure, Victim};
use crate::qdisc::fair::hierarchy::{Tree, TreeParts};
use crate::qdisc::fair::numbering::Numbering;
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Spec, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// Parameters of [`Wf2qPlus`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Weights by class key; classes beyond the list have weight 1. What a class is, and its key,
    /// is as for `fq`.
    #[schemars(extend("items" = { "type": "number", "exclusiveMinimum": 0 }))]
    pub weights: Vec<f64>,
    /// Which packet of the longest queue is pushed out.
    pub victim: Victim,
    /// What makes a queue the longest; it is compared divided by the weight.
    pub longest: Measure,
    /// AQM of every class queue; none if left out.
    pub aqm: Option<Spec>,
}

impl Default for Params {
    fn default() -> Self {
        Self { weights: Vec::new(), victim: Victim::Tail, longest: Measure::Bytes, aqm: None }
    }
}

/// Worst-case fair weighted fair queueing: one server over the class queues.
pub struct Wf2qPlus {
    tree: Tree,
    numbering: Numbering,
    weights: Vec<f64>,
}

impl About<QdiscEnv> for Wf2qPlus {
    type Params = Params;
    const INFO: Info = Info {
        name: "wf2q-plus",
        title: "WF2Q+: worst-case fair weighted fair queueing with longest-queue drop",
        source: "Bennett & Zhang, IEEE/ACM ToN 5(5), 1997, section 3, doi:10.1109/90.649568",
        status: Status::Reconstructed,
    };
    const ALSO: &'static [&'static str] = &["wf2q+"];

    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let aqm = inner(params.aqm.as_ref(), env)?;
        let numbering = Numbering::new(&env.passing);
        let weights = numbering.renumber(params.weights, 1.0);
        let (measure, victim) = (params.longest, params.victim);
        let tree = Tree::new(TreeParts { limit: env.limit, measure, victim, aqm });
        let mut discipline = Self { tree, numbering, weights };
        // V runs by the weights of all classes, also of those that have not sent yet.
        if let Some(last) = env.passing.len().checked_sub(1) {
            discipline.grow(last as u32);
        }
        Ok(discipline)
    }
}

impl Wf2qPlus {
    /// Makes room for a class.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, class: u32) {
        for class in self.tree.queues()..=class as usize {
            let weight = self.weights.get(class).copied().unwrap_or(1.0);
            self.tree.add_queue(0, weight);
        }
    }
}

impl QueueDisc for Wf2qPlus {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let class = self.numbering.of(ctx.key(&packet));
        if self.tree.queues() <= class as usize {
            self.grow(class);
        }
        self.tree.enqueue(class, packet, ctx);
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.tree.dequeue(ctx)
    }

    packets_are_in!(tree);

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.tree.on_rate(now, rate);
    }

    fn state(&self) -> State {
        State { flows: self.tree.queues() as u64, bytes: self.tree.state_bytes() as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("longest", self.tree.greatest_length() as f64);
    }
}

#[cfg(test)]
mod tests;
