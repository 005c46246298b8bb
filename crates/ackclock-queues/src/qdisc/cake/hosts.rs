//! Fairness between hosts: a flow's turn is shorter the more busy flows its hosts have.
//!
//! **Source**: CAKE paper, section III.B; tc-cake(8), "Flow isolation parameters".

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::qdisc::{FlowFacts, QdiscCtx};
use crate::wire::Packet;

/// What has a queue, and between whom the link is shared first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// One queue for all.
    Flowblind,
    /// A queue for each source.
    Srchost,
    /// A queue for each destination.
    Dsthost,
    /// A queue for each pair of hosts.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// Shared between sources, then between the flows of each.
    DualSrchost,
    /// Shared between destinations, then between the flows of each.
    DualDsthost,
    /// Shared between sources and between destinations, then between flows.
    #[default]
    TripleIsolate,
}

/// Source and destination of a packet, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) src: u32,
    pub(super) dst: u32,
}

/// The hosts of all flows, and how many busy flows each has in each tin.
#[derive(Debug)]
pub(super) struct Hosts {
    isolation: Isolation,
    /// By flow: the hosts of its data.
    pairs: Box<[Pair]>,
    count: u32,
    /// By tin and host.
    from: Vec<u32>,
    to: Vec<u32>,
}

impl Hosts {
    /// The hosts that `facts` name; where nothing is known, a flow's class key is its host.
    pub(super) fn new(isolation: Isolation, facts: &[FlowFacts], keys: u32, tins: u32) -> Self {
        let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
        let mut number = |name| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        };
        let pairs = facts.iter().map(|f| Pair { src: number(&f.src), dst: number(&f.dst) });
        let pairs: Box<[Pair]> = pairs.collect();
        let count = if pairs.is_empty() { keys.max(1) } else { numbers.len() as u32 };
        let empty = vec![0; (count * tins) as usize];
        Self { isolation, pairs, count, from: empty.clone(), to: empty }
    }

    /// The hosts of a packet.
    pub(super) fn pair(&self, packet: &Packet, ctx: &QdiscCtx<'_>) -> Pair {
        let Some(&pair) = self.pairs.get(packet.flow.index()) else {
            let host = ctx.key(packet) % self.count;
            return Pair { src: host, dst: host };
        };
        if packet.is_ack() { Pair { src: pair.dst, dst: pair.src } } else { pair }
    }

    /// What shares a queue with others of the same number.
    pub(super) fn flow(&self, packet: &Packet, pair: Pair, ctx: &QdiscCtx<'_>) -> u32 {
        match self.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => pair.src,
            Isolation::Dsthost => pair.dst,
            Isolation::Hosts => pair.src.wrapping_mul(self.count).wrapping_add(pair.dst),
            _ => ctx.key(packet),
        }
    }

    fn places(&self, tin: u32, pair: Pair) -> [usize; 2] {
        [pair.src, pair.dst].map(|host| (tin * self.count + host) as usize)
    }

    /// A flow of these hosts has become busy.
    pub(super) fn begin(&mut self, tin: u32, pair: Pair) {
        let [src, dst] = self.places(tin, pair);
        self.from[src] += 1;
        self.to[dst] += 1;
    }

    /// A busy flow of these hosts has ended.
    pub(super) fn end(&mut self, tin: u32, pair: Pair) {
        let [src, dst] = self.places(tin, pair);
        self.from[src] -= 1;
        self.to[dst] -= 1;
    }

    /// Among how many flows a turn of these hosts is divided, at least 1.
    pub(super) fn load(&self, tin: u32, pair: Pair) -> u32 {
        let [src, dst] = self.places(tin, pair);
        let (from, to) = (self.from[src], self.to[dst]);
        let load = match self.isolation {
            Isolation::DualSrchost => from,
            Isolation::DualDsthost => to,
            Isolation::TripleIsolate => from.max(to),
            _ => 1,
        };
        load.max(1)
    }

    /// Bytes that this keeps.
    pub(super) fn state_bytes(&self) -> usize {
        (self.from.len() + self.to.len()) * size_of::<u32>()
    }
}
