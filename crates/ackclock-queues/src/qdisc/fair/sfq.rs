//! SFQ, stochastic fairness queueing: classes hashed onto a few queues that send packet by packet.
//!
//! **Source**: `McKenney`, "Stochastic Fairness Queueing", INFOCOM 1990 (doi:10.1109/INFCOM.1990.91316).
//! The paper's text could not be had. Compared line by line with `sfq.cc` and `ns-default.tcl` of ns-2.35, with `sch_sfq.c` of
//! Linux 6.12 and tc-sfq(8).
//!
//! **Rule**: an arrival joins the queue of its class's hash; queues with packets send one packet
//! each in turn, a newly active queue at the end of the round. When the buffer is full:
//! - `longest`: the longest queue loses its last packet;
//! - `share`: with u packets in the arrival's queue and f places free of N, the arrival is dropped
//!   if u >= floor(f / 2), or if f < `buckets` and u > floor(N / `buckets`), or if f = 0.
//!
//! **Deviations**: the hash is fixed for a run (`salt` selects another); `McKenney` changes it from
//! time to time, Linux if so set. N is the link's buffer; ns-2's SFQ has a limit of 40 packets that no `queue-limit` changes.
//! In Linux a queue sends while its allotment, the MTU each round, is above 0, and may overdraw it by its last packet; the hash has
//! 1024 values, of which 128 are in use at most, and 127 packets wait at most.
//!
//! **Defaults by era**: `buckets` 128 and `longest` in `rfc`; 16 and `share`, ns-2's rule, in the
//! others. ns-2 hashes addresses, so which classes collide differs from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::fair::classes::{Classes, Measure, Victim, bucket};
use crate::qdisc::links::{Chain, Links};
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Status};
use crate::units::Bytes;
use crate::wire::{DropReason, Packet, Timed};

/// Who loses a packet when the buffer runs full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The longest queue.
    Longest,
    /// An arrival whose queue has its share of the room that is left (ns-2).
    Share,
}

/// Parameters of [`Sfq`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Number of queues. Left out: by era.
    #[schemars(range(min = 1, max = 65536))]
    pub buckets: Option<u32>,
    /// Who loses a packet when the buffer runs full. Left out: by era.
    pub rule: Option<Rule>,
    /// Selects the hash function.
    pub salt: u32,
}

/// Stochastic fairness queueing.
pub struct Sfq {
    classes: Classes,
    links: Links,
    round: Chain,
    buckets: u32,
    rule: Rule,
    salt: u32,
    /// Packets that the share rule divides.
    room: u64,
}

impl About<QdiscEnv> for Sfq {
    type Params = Params;
    const INFO: Info = Info {
        name: "sfq",
        title: "SFQ: stochastic fairness queueing",
        source: "McKenney, INFOCOM 1990, doi:10.1109/INFCOM.1990.91316",
        status: Status::Reconstructed,
    };

    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let old = env.era.is_ns2();
        let buckets = params.buckets.unwrap_or(if old { 16 } else { 128 });
        let room = if env.limit.packets == u32::MAX && env.limit.bytes != u64::MAX {
            env.limit.bytes / u64::from(env.mean_packet.max(1))
        } else {
            u64::from(env.limit.packets)
        };
        let mut links = Links::default();
        links.reserve(buckets as usize);
        Ok(Self {
            classes: Classes::new(env.limit, Measure::Packets, None),
            links,
            round: Chain::default(),
            buckets,
            rule: params.rule.unwrap_or(if old { Rule::Share } else { Rule::Longest }),
            salt: params.salt,
            room,
        })
    }
}

impl Sfq {
    fn refuses(&self, used: u32) -> bool {
        let free = self.room.saturating_sub(self.classes.total() as u64);
        let used = u64::from(used);
        let share = self.room / u64::from(self.buckets);
        used >= free / 2 || (free < u64::from(self.buckets) && used > share) || free == 0
    }
}

impl QueueDisc for Sfq {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let queue = bucket(ctx.key(&packet), self.salt, self.buckets);
        let used = self.classes.packets(queue);
        if self.rule == Rule::Share && self.refuses(used) {
            ctx.drop(packet, DropReason::Overflow);
            return;
        }
        let Some(slot) = self.classes.offer(queue, packet, 0.0, ctx) else { return };
        if used == 0 {
            self.links.push_back(&mut self.round, queue);
        }
        while self.classes.over() {
            let (_, longest) =
                self.classes.longest().expect("invariant: an exceeded buffer is not empty");
            self.classes.push_out(longest, Victim::Tail, slot, ctx);
            if self.classes.packets(longest) == 0 {
                self.links.remove(&mut self.round, longest);
            }
        }
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        let queue = self.round.head()?;
        let served = self.classes.serve(queue, ctx);
        if self.classes.packets(queue) == 0 {
            self.links.remove(&mut self.round, queue);
        } else {
            self.links.rotate(&mut self.round);
        }
        served
    }

    fn len(&self) -> usize {
        self.classes.total()
    }

    fn state(&self) -> State {
        State { flows: 0, bytes: self.classes.state_bytes() as u64 }
    }

    fn backlog(&self) -> Bytes {
        self.classes.backlog()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::era::Era;
    use crate::qdisc::Limit;
    use crate::qdisc::testing::{Bench, env};
    use crate::registry::refusal;

    fn bench(packets: u32, era: Era, params: Params) -> Bench<Sfq> {
        let env = QdiscEnv { limit: Limit { packets, bytes: u64::MAX }, era, ..env() };
        Bench::new(Sfq::new(params, &env).unwrap())
    }

    /// Two keys in different buckets of four, and a third in the bucket of the first.
    fn keys() -> (u32, u32, u32) {
        let other = (1..100).find(|&k| bucket(k, 0, 4) != bucket(0, 0, 4)).unwrap();
        let same = (1..100).find(|&k| bucket(k, 0, 4) == bucket(0, 0, 4)).unwrap();
        (0, other, same)
    }

    fn four() -> Params {
        Params { buckets: Some(4), ..Params::default() }
    }

    #[test]
    fn queues_send_in_turn_and_colliding_classes_share_one() {
        let (a, b, c) = keys();
        let mut bench = bench(100, Era::Rfc, four());
        for key in [a, a, c, b, b, b] {
            bench.arrive(key, 1000);
        }
        let order: Vec<u32> = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect();
        // Bucket of a and c: 0 1 2; of b: 3 4 5.
        assert_eq!(order, [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn the_longest_queue_loses_its_last_packet() {
        let (a, b, _) = keys();
        let mut bench = bench(4, Era::Rfc, four());
        for key in [a, a, a, b, b] {
            bench.arrive(key, 1000); // the fifth pushes out the third of a
        }
        assert_eq!(bench.drops(), [(2, DropReason::PushedOut)]);
    }

    #[test]
    fn the_share_rule_of_ns2_stops_a_queue_at_half_the_free_room() {
        let (a, b, _) = keys();
        let mut bench = bench(20, Era::Ns2, four());
        // One queue: its u packets leave 20 - u free; refused when u >= floor((20 - u)/2).
        for _ in 0..12 {
            bench.arrive(a, 1000);
        }
        assert_eq!(bench.qdisc_len(), 7); // 6 < 14/2, 7 >= floor(13/2)
        // Another: with v more, v < floor((13 - v)/2) holds up to v = 3.
        for _ in 0..12 {
            bench.arrive(b, 1000);
        }
        assert_eq!(bench.qdisc_len(), 7 + 4);
    }

    #[test]
    fn no_buckets_are_refused() {
        let text = refusal::<QdiscEnv, Sfq>(json!({ "buckets": 0 }), &env());
        assert_eq!(text, "buckets: 0 is out of range; expected from 1 to 65536");
    }
}
