//! H-PFQ, hierarchical packet fair queueing: a tree of classes with weights, each node a WF2Q+ server.
//!
//! What a class does not use goes to its siblings first, then to those of its parent, and so on.
//!
//! **Source**: Bennett & Zhang, "Hierarchical packet fair queueing algorithms", IEEE/ACM Trans. Networking
//! 5(5), 1997, sections 2 (H-GPS), 3 (WF2Q+) and 4 (H-PFQ), doi:10.1109/90.649568. The abstract and later
//! accounts were read, not the full text. Longest-queue drop: Suter et al., INFOCOM 1998.
//! Compared line by line with a transcript of the paper's procedures in Go (`pfqNode` and `pfqLeaf` of Strims, 2022): the same order
//! of choices, starts and finishes.
//!
//! **Rule**: at every node n with children of weights w:
//! - the head of child m, L bytes, has S = max(V(n), F) if m was idle, else S = F; F = S + L / w(m);
//! - of the heads with S <= V(n) the one with the smallest F becomes the head of n;
//! - V(n) = max(V(n) + W(n), smallest S), W(n): the service of n over the sum of the weights;
//! - the link sends its head, then the nodes on its way choose anew, from the queue upwards;
//! - while the shared buffer is exceeded, from the link down the child that holds most beside its weight is
//!   entered, and the queue that is reached loses its `victim`.
//!
//! A packet leaves no later than its class's queue would take at the class's rate and, for each level from the
//! queue to the link, one largest packet at that level's rate.
//!
//! **Deviations**: when the link has been idle, all tags start anew; a packet that is dropped gives its
//! service back at every node that had chosen it; a class may be split by flow.
//!
//! **Defaults by era**: none.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Problem, inside};
use crate::qdisc::aqm::{Prototype, inner};
use crate::qdisc::classifier::{Classifier, Takes};
use crate::qdisc::fair::classes::{Measure, Victim};
use crate::qdisc::fair::hierarchy::{Tree, TreeParts};
use crate::qdisc::queues::name_classes;
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Spec, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// A class of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Class {
    /// Name, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Share beside its siblings'.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub weight: f64,
    /// Classes into which it is divided; each takes packets as if it stood alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<Class>,
    /// Packets that it takes; left out: all. A packet belongs to the first class, in the order of the
    /// document, that takes it, and to the last one if none does. Only where there are no `classes`.
    pub takes: Takes,
    /// One queue for each classification key, with equal weights, in place of one queue. Only where there
    /// are no `classes`.
    pub split: bool,
    /// AQM of its queue or queues. Only where there are no `classes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<Spec>,
}

impl Default for Class {
    fn default() -> Self {
        Self {
            name: String::new(),
            weight: 1.0,
            classes: Vec::new(),
            takes: Takes::default(),
            split: false,
            aqm: None,
        }
    }
}

/// Parameters of [`Hpfq`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Classes among which the link is divided. Left out: one, split by classification key.
    pub classes: Vec<Class>,
    /// Which packet of the longest queue is pushed out.
    pub victim: Victim,
    /// What makes a queue the longest; it is compared divided by the weight.
    pub longest: Measure,
}

impl Default for Params {
    fn default() -> Self {
        Self { classes: Vec::new(), victim: Victim::Tail, longest: Measure::Bytes }
    }
}

/// Where the packets of a class wait.
enum Leaf {
    Queue(u32),
    /// Queues by classification key below a server, each with an AQM of this kind.
    Split {
        server: u32,
        queues: BTreeMap<u32, u32>,
        aqm: Option<Box<dyn Prototype>>,
    },
}

/// A queue of a flow that has not been looked up.
const UNKNOWN: u32 = u32::MAX;

/// Hierarchical packet fair queueing.
pub struct Hpfq {
    tree: Tree,
    classifier: Classifier,
    leaves: Vec<Leaf>,
    /// Queue by flow and column of the classifier.
    known: Vec<[u32; 4]>,
    /// Of the leaves.
    names: Vec<String>,
}

/// A class with its path, before the tree is made.
struct Listed<'a> {
    path: String,
    class: &'a Class,
}

fn plant<'a>(
    tree: &mut Tree,
    below: u32,
    path: &str,
    classes: &'a [Class],
    env: &QdiscEnv,
    leaves: &mut Vec<(Listed<'a>, Leaf)>,
) -> Result<(), Vec<Problem>> {
    for (i, class) in classes.iter().enumerate() {
        let path = format!("{path}[{i}]");
        let Class { weight, classes, takes, split, aqm, .. } = class;
        if !classes.is_empty() {
            let misplaced =
                [("takes", *takes != Takes::default()), ("split", *split), ("aqm", aqm.is_some())];
            if let Some((key, _)) = misplaced.iter().find(|(_, is_given)| *is_given) {
                let message =
                    format!("is given beside {path}.classes; expected it in those classes");
                return Err(Problem::new(format!("{path}.{key}"), message).into());
            }
            let server = tree.add_server(below, *weight);
            plant(tree, server, &format!("{path}.classes"), classes, env, leaves)?;
            continue;
        }
        let aqm = inner(aqm.as_ref(), env).map_err(|problems| inside(&path, problems))?;
        let leaf = if *split {
            let server = tree.add_server(below, *weight);
            // Queues that are yet to be made have a timer too.
            tree.expect_timer(aqm.as_ref().and_then(|aqm| aqm.timer_interval()));
            Leaf::Split { server, queues: BTreeMap::new(), aqm }
        } else {
            let queue = tree.add_queue(below, *weight);
            if let Some(aqm) = aqm {
                tree.set_aqm(queue, aqm.fresh());
            }
            Leaf::Queue(queue)
        };
        leaves.push((Listed { path, class }, leaf));
    }
    Ok(())
}

impl About<QdiscEnv> for Hpfq {
    type Params = Params;
    const INFO: Info = Info {
        name: "hpfq",
        title: "H-PFQ: hierarchical packet fair queueing (WF2Q+) with longest-queue drop",
        source: "Bennett & Zhang, IEEE/ACM ToN 5(5), 1997, section 4, doi:10.1109/90.649568",
        status: Status::Reconstructed,
    };

    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let Params { mut classes, victim, longest: measure } = params;
        if classes.is_empty() {
            classes.push(Class { split: true, ..Class::default() });
        }
        let mut tree = Tree::new(TreeParts { limit: env.limit, measure, victim, aqm: None });
        let mut leaves = Vec::new();
        plant(&mut tree, 0, "classes", &classes, env, &mut leaves)?;
        let leaf_classes: Vec<(String, &Takes)> = leaves
            .iter()
            .map(|(Listed { path, class }, _)| (format!("{path}.takes"), &class.takes))
            .collect();
        let classifier = Classifier::new(&leaf_classes, &env.facts)?;
        let names = name_classes(leaves.iter().map(|(Listed { class, .. }, _)| &*class.name));
        let leaves: Vec<Leaf> = leaves.into_iter().map(|(_, leaf)| leaf).collect();
        // Queues have the order of their leaves; those of split leaves come later.
        let is_queue = |leaf: &u32| matches!(leaves[*leaf as usize], Leaf::Queue(_));
        tree.list((0..leaves.len() as u32).filter(is_queue));
        Ok(Self { tree, classifier, leaves, known: Vec::new(), names })
    }
}

impl Hpfq {
    /// The queue of a packet.
    #[inline]
    fn queue(&mut self, packet: &Packet, ctx: &QdiscCtx<'_>) -> u32 {
        match self.known.get(packet.flow.index()) {
            Some(row) if row[Classifier::column(packet)] != UNKNOWN => {
                row[Classifier::column(packet)]
            }
            _ => self.look_up(packet, ctx.key(packet)),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&mut self, packet: &Packet, key: u32) -> u32 {
        let leaf = self.classifier.of(packet);
        let queue = match &mut self.leaves[leaf as usize] {
            Leaf::Queue(queue) => *queue,
            Leaf::Split { server, queues, aqm } => *queues.entry(key).or_insert_with(|| {
                let queue = self.tree.add_queue(*server, 1.0);
                self.tree.list(std::iter::once(leaf));
                if let Some(aqm) = aqm {
                    self.tree.set_aqm(queue, aqm.fresh());
                }
                queue
            }),
        };
        let flow = packet.flow.index();
        if self.known.len() <= flow {
            self.known.resize(flow + 1, [UNKNOWN; 4]);
        }
        self.known[flow][Classifier::column(packet)] = queue;
        queue
    }
}

impl QueueDisc for Hpfq {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let queue = self.queue(&packet, ctx);
        self.tree.enqueue(queue, packet, ctx);
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.tree.dequeue(ctx)
    }

    packets_are_in!(tree);

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.tree.on_rate(now, rate);
        for leaf in &mut self.leaves {
            if let Leaf::Split { aqm: Some(aqm), .. } = leaf {
                aqm.on_rate(now, rate);
            }
        }
    }

    fn state(&self) -> State {
        State { flows: self.tree.queues() as u64, bytes: self.tree.state_bytes() as u64 }
    }

    fn queues(&self) -> Vec<String> {
        self.names.clone()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("longest", self.tree.greatest_length() as f64);
    }
}

#[cfg(test)]
mod tests;
