//! Packet trimming: where there is no room for a packet, its payload is cut off and its header goes on, ahead of all data.
//!
//! What: the receiver learns of every packet that found no room after half a round trip, and says so. Queues can be a few
//! packets long, and packets may be sprayed over many paths, since nobody has to guess from their order what is lost.
//!
//! **Source**: M. Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance",
//! SIGCOMM 2017, section 3.1, doi:10.1145/3098822.3098825 (NDP; after P. Cheng et al., "Catch the Whole Lot in an Action",
//! NSDI 2014). The marks, and the place of acknowledgements, are those of the queue of htsim (ultraethernet/uet-htsim,
//! commit 40ccb05, `compositequeue.cpp`).
//!
//! **Rule** (D: bytes of data that wait; Q = `data` buffer; s: bytes of the arrival)
//! ```text
//! D + s <= Q, data:      it waits behind other data
//! else:                  a coin decides whether it is trimmed, or the last data packet in its favour
//! trimmed:               `header` bytes are left, which wait with acknowledgements
//! served:                acknowledgements and headers first; of 1 + `ratio` packets one is data, if any waits
//! leaves, data:          marked with probability (D - mark_min) / (mark_max - mark_min), within [0, 1]; D without it
//! ```
//! What may not be trimmed (a flow without `tcp.trimming`), and what finds no room for its header in the buffer, is dropped.
//!
//! **Deviations**: in the sources headers have a separate buffer; here that of the link is for both.
//!
//! **Defaults by era**: the same in all. `data` is the paper's, who gives data and headers the same room; `ratio` is htsim's
//! (the paper's is 10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::store::Store;
use crate::qdisc::{Limit, QdiscCtx, QdiscEnv, QueueDisc};
use crate::registry::{About, Info, Status};
use crate::units::Bytes;
use crate::wire::{DropReason, Flags, Packet, Timed};

/// Parameters of [`Trim`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Bytes that are left of a packet whose payload is cut off.
    #[schemars(range(min = 1, max = 9000), extend("x-unit" = "B"))]
    pub header: u16,
    /// Share of the buffer that data may take; the rest is for headers and acknowledgements.
    #[schemars(range(min = 0.001, max = 1.0))]
    pub data: f64,
    /// Packets of headers and acknowledgements that leave for one of data, where both wait.
    #[schemars(range(min = 1))]
    pub ratio: u32,
    /// Data that waits, above which ECN-capable packets are marked as they leave, the more often the more; left out: none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_min: Option<Bytes>,
    /// Data that waits, above which all are; left out: `mark_min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_max: Option<Bytes>,
}

impl Default for Params {
    fn default() -> Self {
        Self { header: 64, data: 0.5, ratio: 100_000, mark_min: None, mark_max: None }
    }
}

/// Data, and ahead of it headers and acknowledgements.
#[derive(Debug)]
pub struct Trim {
    header: u16,
    ratio: u32,
    /// Bytes between which marks become certain.
    marks: Option<(u64, u64)>,
    /// Of all that waits.
    limit: Limit,
    /// Of data.
    data_limit: Limit,
    data: Store,
    urgent: Store,
    /// Urgent packets that have left since data last did while both waited.
    turns: u32,
    trimmed: u64,
}

impl About<QdiscEnv> for Trim {
    type Params = Params;
    const INFO: Info = Info {
        name: "trim",
        title: "Packet trimming",
        source: "Handley et al. 2017, section 3.1, doi:10.1145/3098822.3098825",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["trimming", "composite", "ndp"];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let marks = match (params.mark_min, params.mark_max) {
            (None, None) => None,
            (Some(min), max) => Some((min.0, max.unwrap_or(min).0)),
            (None, Some(_)) => {
                let message = "has no meaning without mark_min, from which on marks are possible; expected both";
                return Err(vec![Problem::new("mark_max", message)]);
            }
        };
        if let Some((min, max)) = marks
            && max < min
        {
            let message = format!("is {max} B, expected at least mark_min, {min} B");
            return Err(vec![Problem::new("mark_max", message)]);
        }
        let share = |whole: u64| ((whole as f64 * params.data).round() as u64).max(1);
        let Limit { packets, bytes } = env.limit;
        let data_limit = Limit {
            packets: if packets == u32::MAX { packets } else { share(packets.into()) as u32 },
            bytes: if bytes == u64::MAX { bytes } else { share(bytes) },
        };
        Ok(Self {
            header: params.header,
            ratio: params.ratio,
            marks,
            limit: env.limit,
            data_limit,
            data: Store::default(),
            urgent: Store::default(),
            turns: 0,
            trimmed: 0,
        })
    }
}

impl Trim {
    /// An acknowledgement or a header waits, if there is room.
    fn hurry(&mut self, timed: Timed, ctx: &mut QdiscCtx<'_>) {
        if self.limit.admits(self.len(), self.backlog(), timed.packet.size) {
            self.urgent.push(timed.at, timed.packet);
        } else {
            ctx.drop(timed.packet, DropReason::Overflow);
        }
    }

    /// Cuts the payload off a packet, which then waits among those ahead of data.
    fn cut(&mut self, mut timed: Timed, ctx: &mut QdiscCtx<'_>) {
        ctx.trim(&mut timed.packet, self.header);
        self.trimmed += 1;
        self.hurry(timed, ctx);
    }

    fn fits(&self, size: u16) -> bool {
        self.data_limit.admits(self.data.len(), self.data.backlog(), size)
            && self.limit.admits(self.len(), self.backlog(), size)
    }

    fn can_cut(&self, packet: &Packet) -> bool {
        packet.flags.has(Flags::TRIMMABLE) && packet.size > self.header
    }
}

impl QueueDisc for Trim {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let timed = Timed { at: ctx.now, packet };
        if timed.packet.is_ack() || timed.packet.flags.has(Flags::TRIMMED) {
            return self.hurry(timed, ctx);
        }
        let size = timed.packet.size;
        if self.fits(size) {
            return self.data.push(timed.at, timed.packet);
        }
        if !self.can_cut(&timed.packet) {
            return ctx.drop(timed.packet, DropReason::Overflow);
        }
        if self.data.newest().is_some_and(|last| self.can_cut(last) && last.size >= size)
            && ctx.rng.uniform() < 0.5
            && let Some(last) = self.data.pop_newest()
        {
            self.cut(last, ctx);
            if self.fits(size) {
                return self.data.push(timed.at, timed.packet);
            }
        }
        self.cut(timed, ctx);
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        let both_wait = self.urgent.len() > 0 && self.data.len() > 0;
        if self.urgent.len() > 0 && !(both_wait && self.turns >= self.ratio) {
            self.turns = if both_wait { self.turns + 1 } else { 0 };
            return self.urgent.pop();
        }
        self.turns = 0;
        let mut next = self.data.pop()?;
        if let Some((min, max)) = self.marks {
            let waiting = self.data.backlog().0;
            let is_certain = waiting > max;
            let is_possible = waiting > min;
            if is_certain
                || is_possible && ctx.rng.uniform() < (waiting - min) as f64 / (max - min) as f64
            {
                ctx.mark(&mut next.packet);
            }
        }
        Some(next)
    }

    fn len(&self) -> usize {
        self.data.len() + self.urgent.len()
    }

    fn backlog(&self) -> Bytes {
        Bytes(self.data.backlog().0 + self.urgent.backlog().0)
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("trimmed", self.trimmed as f64);
        out("headers", self.urgent.len() as f64);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::qdisc::testing::{Bench, env};

    const DATA: Flags = Flags::TRIMMABLE;

    fn bench(bytes: u64, params: serde_json::Value) -> Bench<Trim> {
        let params: Params = serde_json::from_value(params).unwrap();
        let env = QdiscEnv { limit: Limit { packets: u32::MAX, bytes }, ..env() };
        Bench::new(Trim::new(params, &env).unwrap())
    }

    fn sent(bench: &mut Bench<Trim>) -> Vec<(u32, u16)> {
        std::iter::from_fn(|| bench.depart()).map(|t| (t.packet.seq, t.packet.size)).collect()
    }

    /// Room for three of 1000 bytes and for headers: of five one is cut each time, the arrival or the last that waits, and
    /// headers go first.
    #[test]
    fn what_finds_no_room_goes_on_as_a_header_ahead_of_data() {
        for seed in 0..20 {
            let mut bench = bench(6000, serde_json::json!({}));
            bench.rng = crate::rng::Stream::new(seed, crate::rng::Purpose::Qdisc, 0);
            for _ in 0..5 {
                bench.arrive_with(0, 1000, DATA);
            }
            assert_eq!(bench.qdisc.backlog().0, 3000 + 2 * 64);
            let cut: Vec<_> = bench.drops();
            assert_eq!(cut.len(), 2);
            assert!(cut.iter().all(|&(_, reason)| reason == DropReason::Trimmed));
            let order = sent(&mut bench);
            assert_eq!(order[0], (cut[0].0, 64));
            assert_eq!(order[1], (cut[1].0, 64));
            assert_eq!((order[2], order[3]), ((0, 1000), (1, 1000)));
            assert!(order[4].0 >= 2 && order[4].1 == 1000);
            assert!(cut[0].0 == 3 || cut[0].0 == 2);
        }
    }

    #[test]
    fn the_coin_is_fair() {
        let mut bench = bench(4000, serde_json::json!({}));
        let mut arrivals = 0;
        for _ in 0..2000 {
            for _ in 0..3 {
                bench.arrive_with(0, 1000, DATA);
            }
            let cut = bench.drops()[0].0;
            arrivals += u32::from(cut % 3 == 2);
            sent(&mut bench);
        }
        // Six standard errors of 2000 throws.
        assert!(arrivals.abs_diff(1000) < 135, "{arrivals}");
    }

    #[test]
    fn what_may_not_be_cut_is_dropped_and_acknowledgements_go_first() {
        let mut bench = bench(4000, serde_json::json!({}));
        for flags in [Flags::default(), Flags::default(), Flags::default(), Flags::ACK] {
            bench.arrive_with(0, 1000, flags);
        }
        assert_eq!(bench.drops(), [(2, DropReason::Overflow)]);
        assert_eq!(sent(&mut bench), [(3, 1000), (0, 1000), (1, 1000)]);
    }

    #[test]
    fn data_has_its_turn_among_headers() {
        let mut bench = bench(100_000, serde_json::json!({ "ratio": 2 }));
        bench.arrive_with(0, 1000, DATA);
        bench.arrive_with(0, 1000, DATA);
        for _ in 0..6 {
            bench.arrive_with(0, 64, Flags::ACK);
        }
        let order: Vec<u32> = sent(&mut bench).into_iter().map(|s| s.0).collect();
        assert_eq!(order, [2, 3, 0, 4, 5, 1, 6, 7]);
    }

    /// Of two turns of headers one was had while data waited. The packet then becomes a header as another arrives, by a coin,
    /// and a header leaves with no data behind it: data that comes later waits for two again.
    #[test]
    fn turns_of_headers_count_while_data_waits() {
        let mut emptied = 0;
        for seed in 0..20 {
            let mut bench = bench(2000, serde_json::json!({ "ratio": 2 }));
            bench.rng = crate::rng::Stream::new(seed, crate::rng::Purpose::Qdisc, 0);
            bench.arrive_with(0, 1000, DATA);
            bench.arrive_with(0, 40, Flags::ACK);
            bench.arrive_with(0, 950, Flags::ACK);
            assert_eq!(bench.depart().unwrap().packet.seq, 1);
            bench.arrive_with(0, 1000, DATA);
            if bench.qdisc.data.len() > 0 {
                continue;
            }
            emptied += 1;
            assert_eq!(bench.depart().unwrap().packet.seq, 2);
            bench.arrive_with(0, 1000, DATA);
            let sizes: Vec<u16> = sent(&mut bench).into_iter().map(|packet| packet.1).collect();
            assert_eq!(sizes, [64, 64, 1000]);
        }
        assert!(emptied > 0);
    }

    /// Behind the packet that leaves wait 0 to 9 of 1000 bytes: none is marked up to 2000, half at 4500 of [2000, 7000], all
    /// above.
    #[test]
    fn marks_grow_from_one_threshold_to_the_other() {
        let table = serde_json::json!({ "mark_min": 2000, "mark_max": 7000, "data": 1.0 });
        let marked = |behind: u32| -> u32 {
            let mut bench = bench(1_000_000, table.clone());
            let mut count = 0;
            for _ in 0..1000 {
                for _ in 0..=behind {
                    bench.arrive_with(0, 1000, DATA | Flags::ECT);
                }
                let first = bench.depart().unwrap();
                count += u32::from(first.packet.flags.has(Flags::CE));
                while bench.depart().is_some() {}
            }
            count
        };
        assert_eq!(marked(2), 0);
        assert_eq!(marked(8), 1000);
        // A fifth of 1000 at 3000 bytes, within six standard errors.
        assert!(marked(3).abs_diff(200) < 76);
    }

    proptest! {
        /// Every packet leaves or is dropped; what is cut off and what is left are what arrived; nothing waits beyond the
        /// buffer.
        #[test]
        fn bytes_are_conserved(
            arrivals in prop::collection::vec((1u16..2000, any::<bool>(), any::<bool>(), any::<bool>()), 1..200),
            bytes in 2000u64..20_000, data in 0.05f64..1.0, header in 1u16..200,
        ) {
            let mut bench = bench(bytes, serde_json::json!({ "data": data, "header": header }));
            let (mut arrived, mut left) = (0u64, 0u64);
            for (size, may_cut, is_ack, departs) in arrivals {
                let mut flags = if may_cut { DATA } else { Flags::default() };
                if is_ack {
                    flags = Flags::ACK;
                }
                bench.arrive_with(0, size, flags);
                arrived += u64::from(size);
                prop_assert!(bench.qdisc.backlog().0 <= bytes);
                if departs {
                    left += bench.depart().map_or(0, |t| u64::from(t.packet.size));
                }
            }
            let waits = bench.qdisc.backlog().0;
            let gone: u64 = bench.dropped.iter().map(|(packet, _)| u64::from(packet.size)).sum();
            prop_assert_eq!(arrived, left + waits + gone);
            let rest: u64 = sent(&mut bench).iter().map(|s| u64::from(s.1)).sum();
            prop_assert_eq!(rest, waits);
            prop_assert_eq!(bench.qdisc.len(), 0);
        }
    }
}
