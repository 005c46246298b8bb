//! A token-bucket shaper: lets packets leave at a rate and a burst, and holds back the others.
//!
//! **Source**: RFC 2475, section 2.3.3.3 (shapers, doi:10.17487/RFC2475); the bucket as in tc-tbf(8) of Linux.
//!
//! **Rule**: a bucket of `burst` bytes, full at first, gains `rate`;
//! - the packet that `qdisc` would send next leaves when the bucket has its s bytes, and takes them; until then
//!   the link stays idle, whatever arrives meanwhile;
//! - a packet larger than the bucket can never leave: it is dropped;
//! - with `latency`, at most `rate` x `latency` + `burst` bytes wait.
//!
//! **Deviations**: none in effect. The packet that waits for tokens is out of `qdisc`, as one in transmission
//! is; it is beside the buffer.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::shape::bucket::Bucket;
use crate::qdisc::shape::gated::{Gate, Gated, Parts};
use crate::qdisc::{Limit, QdiscCtx, QdiscEnv};
use crate::registry::{About, Info, Spec, Status};
use crate::units::{BitRate, Bytes, Span};
use crate::wire::{DropReason, Timed};

/// Parameters of [`Shaper`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Rate at which tokens come; left out: the link's at the start of the run.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rate: Option<BitRate>,
    /// Size of the bucket; left out: one large packet (1514 B, or the link's typical one if that is larger), so
    /// that packets leave evenly.
    #[schemars(range(min = 1))]
    pub burst: Option<Bytes>,
    /// Longest time that a packet may have to wait; left out: the link's buffer alone limits what waits.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub latency: Option<Span>,
    /// Queue discipline of what waits; left out: plain FIFO. It acts as on a link of the shaped rate.
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Option<Spec>,
}

/// Bytes of a large packet. On a link of acknowledgements the typical one is smaller than some.
const LARGE: u64 = 1514;

/// A token-bucket shaper behind a queue.
pub type Shaper = Gated<Shape>;

/// Holds back what is to leave before the bucket has its bytes.
pub struct Shape {
    rate: BitRate,
    /// The packet that leaves next, out of the queue.
    head: Option<Timed>,
    /// That of the discipline's queues from which it came.
    queue: usize,
}

impl About<QdiscEnv> for Shaper {
    type Params = Params;
    const INFO: Info = Info {
        name: "shaper",
        title: "Token-bucket shaper",
        source: "RFC 2475, section 2.3.3.3, doi:10.17487/RFC2475",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["tbf", "token-bucket"];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let rate = params.rate.unwrap_or(env.rate);
        let burst = params.burst.unwrap_or(Bytes(u64::from(env.mean_packet).max(LARGE)));
        let bucket = Bucket::for_packets(rate, burst, env.mean_packet)?;
        let mut limit = env.limit;
        if let Some(latency) = params.latency {
            let waiting = (rate.bps() * latency.seconds() / 8.0) as u64;
            limit = Limit { bytes: limit.bytes.min(waiting.saturating_add(burst.0)), ..limit };
        }
        let inner = QdiscEnv { limit, rate: BitRate(rate.0.min(env.rate.0)), ..env.clone() };
        Self::build(
            Shape { rate, head: None, queue: QdiscCtx::NO_QUEUE },
            bucket,
            params.qdisc,
            &inner,
        )
    }
}

impl Gate for Shape {
    fn dequeue(&mut self, state: &mut Parts, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        loop {
            let head = match self.head.take() {
                Some(head) => {
                    ctx.queue = self.queue;
                    head
                }
                None => state.queue.dequeue(ctx)?,
            };
            if !state.bucket.admits(head.packet.size) {
                ctx.drop(head.packet, DropReason::TooBig);
            } else if state.bucket.take(head.packet.size, ctx.now) {
                return Some(head);
            } else {
                (self.head, self.queue) = (Some(head), ctx.queue);
                return None;
            }
        }
    }

    fn head(&self) -> Option<&Timed> {
        self.head.as_ref()
    }

    fn passes(&self, rate: BitRate) -> BitRate {
        BitRate(rate.0.min(self.rate.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::qdisc::QueueDisc;
    use crate::qdisc::testing::{Bench, env};
    use crate::registry::refusal;
    use crate::units::Time;

    fn bench(json: serde_json::Value) -> Bench<Shaper> {
        Bench::new(Shaper::new(serde_json::from_value(json).unwrap(), &env()).unwrap())
    }

    /// Sends all that waits as a link without transmission times does; microseconds of the departures.
    fn drain(bench: &mut Bench<Shaper>) -> Vec<u64> {
        let mut departures = Vec::new();
        loop {
            if bench.depart().is_some() {
                departures.push(bench.now.since(Time::ZERO).0 / 1_000_000);
            } else if let Some(ready_at) = bench.qdisc.ready_at().filter(|_| bench.qdisc_len() > 0)
            {
                bench.now = ready_at;
            } else {
                return departures;
            }
        }
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        // 1 B/us and 2500 B of burst: two packets at once, the third when 500 B have come, then 1000 B each.
        let mut bench = bench(json!({ "rate": "8 Mbps", "burst": "2500 B" }));
        for _ in 0..5 {
            bench.arrive(0, 1000);
        }
        assert_eq!(drain(&mut bench), [0, 0, 500, 1500, 2500]);
    }

    #[test]
    fn with_a_burst_of_one_packet_they_leave_evenly_and_at_the_rate() {
        let mut bench = bench(json!({ "rate": "8 Mbps", "burst": 1000 }));
        for _ in 0..4 {
            bench.arrive(0, 1000);
        }
        assert_eq!(drain(&mut bench), [0, 1000, 2000, 3000]);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_is_dropped() {
        let mut bench = bench(json!({ "rate": "8 Mbps", "burst": 1000 }));
        bench.arrive(0, 1001);
        bench.arrive(0, 1000);
        assert_eq!(bench.depart().unwrap().packet.seq, 1);
        assert_eq!(bench.drops(), [(0, DropReason::TooBig)]);
    }

    #[test]
    fn latency_limits_what_waits() {
        // 8 Mbit/s x 4 ms + 1000 B = 5000 B: five packets.
        let mut bench = bench(json!({ "rate": "8 Mbps", "burst": 1000, "latency": "4 ms" }));
        for _ in 0..7 {
            bench.arrive(0, 1000);
        }
        assert_eq!(bench.drops(), [(5, DropReason::Overflow), (6, DropReason::Overflow)]);
        assert_eq!(drain(&mut bench).last(), Some(&4000));
    }

    proptest! {
        /// While packets wait, what has left is the burst and what came since, but for less than a packet.
        #[test]
        fn a_shaper_with_a_queue_sends_at_its_rate(
            sizes in prop::collection::vec(40u16..1500, 2..100),
            kbps in 1u64..50_000,
            burst in 1500u64..6000,
        ) {
            let mut bench = bench(json!({ "rate": kbps * 1000, "burst": burst }));
            for &size in &sizes {
                bench.arrive(0, size);
            }
            let mut bytes = 0u64;
            while bench.qdisc_len() > 0 {
                if let Some(sent) = bench.depart() {
                    bytes += u64::from(sent.packet.size);
                    let allowed = kbps as f64 * 1000.0 / 8.0 * bench.now.seconds() + burst as f64;
                    prop_assert!(bytes as f64 <= allowed + 1e-3, "{} of {}", bytes, allowed);
                    let more = bytes as f64 + 1500.0;
                    prop_assert!(bench.now == Time::ZERO || more > allowed, "{} of {}", bytes, allowed);
                } else {
                    bench.now = bench.qdisc.ready_at().unwrap();
                }
            }
        }
    }

    #[test]
    fn a_burst_below_a_packet_is_refused() {
        let text = refusal::<QdiscEnv, Shaper>(json!({ "rate": "8 Mbps", "burst": 40 }), &env());
        assert_eq!(
            text,
            "burst: 40 B is out of range; expected at least a packet of this link, 1000 B"
        );
    }
}
