//! A token-bucket policer: drops arrivals beyond a rate and a burst, and queues nothing itself.
//!
//! **Source**: RFC 2697, section 3, with one colour only (doi:10.17487/RFC2697); what such a bucket lets pass:
//! RFC 2212, section "TSpec" (doi:10.17487/RFC2212); policers on the Internet: T. Flach et al., "An
//! Internet-Wide Analysis of Traffic Policing", ACM SIGCOMM 2016, doi:10.1145/2934872.2934873.
//!
//! **Rule**: a bucket of `burst` bytes, full at first, gains `rate`;
//! - an arrival of s bytes that finds s bytes in it takes them and goes on to the link's queue, `qdisc`;
//! - any other arrival is dropped and takes none.
//! - So at most r t + b bytes pass in any time t. Where the link is faster than `rate`, hardly anything waits.
//!
//! **Deviations**: of the colours of RFC 2697 only green goes on.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::shape::bucket::Bucket;
use crate::qdisc::shape::gated::{Gate, Gated, Parts};
use crate::qdisc::{QdiscCtx, QdiscEnv};
use crate::registry::{About, Info, Spec, Status};
use crate::units::{BitRate, Bytes};
use crate::wire::{DropReason, Packet};

/// Parameters of [`Policer`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Rate at which tokens come; left out: the link's at the start of the run.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rate: Option<BitRate>,
    /// Size of the bucket: must be given with a `rate`. With neither it is what the link sends in 100 ms.
    #[schemars(range(min = 1))]
    pub burst: Option<Bytes>,
    /// Queue discipline of what passes; left out: plain FIFO.
    #[schemars(extend("x-room" = "qdisc"))]
    pub qdisc: Option<Spec>,
}

/// A token-bucket policer before a link's queue.
pub type Policer = Gated<Police>;

/// Drops what arrives beyond the bucket.
pub struct Police;

impl About<QdiscEnv> for Policer {
    type Params = Params;
    const INFO: Info = Info {
        name: "policer",
        title: "Token-bucket policer",
        source: "RFC 2697, section 3, doi:10.17487/RFC2697",
        status: Status::Variant,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let burst = match (params.burst, params.rate) {
            (Some(burst), _) => burst,
            (None, None) => {
                Bytes((env.rate.bps() / 80.0).max(f64::from(env.mean_packet)).ceil() as u64)
            }
            (None, Some(_)) => {
                let message = "is left out; a policer drops what its bucket cannot hold, so give \
                               the bucket's size, for instance what the rate sends in 100 ms";
                return Err(Problem::new("burst", message).into());
            }
        };
        let rate = params.rate.unwrap_or(env.rate);
        let bucket = Bucket::for_packets(rate, burst, env.mean_packet)?;
        Self::build(Police, bucket, params.qdisc, env)
    }
}

impl Gate for Police {
    fn enqueue(&mut self, state: &mut Parts, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        if state.bucket.take(packet.size, ctx.now) {
            state.queue.enqueue(packet, ctx);
        } else {
            ctx.drop(packet, DropReason::Policed);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::qdisc::testing::{Bench, env};
    use crate::registry::refusal;
    use crate::units::{Span, Time};

    fn bench(json: serde_json::Value) -> Bench<Policer> {
        Bench::new(Policer::new(serde_json::from_value(json).unwrap(), &env()).unwrap())
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        // 1 kB a millisecond, three packets of burst. Arrivals two a millisecond: 0 to 3 find the burst and
        // what came since (3, 2, 2, 1 packets of tokens), then every second one passes.
        let mut bench = bench(json!({ "rate": "8 Mbps", "burst": "3 kB" }));
        let mut passed = Vec::new();
        for _ in 0..6 {
            for _ in 0..2 {
                let before = bench.dropped.len();
                bench.arrive(0, 1000);
                passed.push(bench.dropped.len() == before);
            }
            bench.after(Span::from_millis(1));
        }
        let expected = [1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 1, 0].map(|n| n == 1);
        assert_eq!(passed, expected);
        assert!(bench.dropped.iter().all(|&(_, reason)| reason == DropReason::Policed));
    }

    /// 10 Mbit/s for 100 ms are 125 kB; of 6400 bit/s 80 bytes would be less than a packet.
    #[test]
    fn the_bucket_left_out_is_what_the_link_sends_in_a_tenth_of_a_second_and_a_packet_at_least() {
        for (rate, expected) in [(10_000_000, 125), (6400, 1)] {
            let env = QdiscEnv { rate: crate::units::BitRate(rate), ..env() };
            let policer = Policer::new(serde_json::from_value(json!({})).unwrap(), &env).unwrap();
            let mut bench = Bench::new(policer);
            for _ in 0..expected + 5 {
                bench.arrive(0, 1000);
            }
            assert_eq!(bench.qdisc_len(), expected, "{rate}");
        }
    }

    #[test]
    fn what_passes_waits_in_the_queue_discipline_that_is_named() {
        let table = json!({ "rate": "8 Mbps", "burst": "9 kB",
            "qdisc": { "kind": "priority", "classes": [{ "takes": { "acks": true } }, {}] } });
        let mut bench = bench(table);
        bench.arrive(0, 1000);
        bench.arrive_with(0, 40, crate::wire::Flags::ACK);
        assert_eq!(bench.depart().unwrap().packet.seq, 0); // without facts all is of the last class
        assert_eq!(bench.qdisc_len(), 1);
    }

    proptest! {
        /// RFC 2212: over any interval at most r t + b.
        #[test]
        fn no_interval_passes_more_than_rate_and_burst(
            arrivals in prop::collection::vec((0u64..3000, 40u16..1500), 1..200),
            kbps in 1u64..50_000,
            burst in 1000u64..10_000,
        ) {
            let mut bench = bench(json!({ "rate": kbps * 1000, "burst": burst }));
            let mut passed: Vec<(Time, u64)> = Vec::new();
            for &(us, size) in &arrivals {
                bench.after(Span::from_micros(us));
                let before = bench.dropped.len();
                bench.arrive(0, size);
                if bench.dropped.len() == before {
                    passed.push((bench.now, u64::from(size)));
                }
            }
            for (i, &(start, _)) in passed.iter().enumerate() {
                let mut bytes = 0;
                for &(end, size) in &passed[i..] {
                    bytes += size;
                    // In bits times 10^12: exact.
                    let allowed = u128::from(kbps * 1000) * u128::from(end.since(start).0)
                        + u128::from(burst) * 8_000_000_000_000;
                    prop_assert!(u128::from(bytes) * 8_000_000_000_000 <= allowed);
                }
            }
        }
    }

    #[test]
    fn a_rate_without_a_burst_and_a_burst_below_a_packet_are_refused() {
        let refused = |table| refusal::<QdiscEnv, Policer>(table, &env());
        assert_eq!(
            refused(json!({ "rate": "8 Mbps" })),
            "burst: is left out; a policer drops what its bucket cannot hold, so give the bucket's \
             size, for instance what the rate sends in 100 ms"
        );
        assert_eq!(
            refused(json!({ "rate": "8 Mbps", "burst": 999 })),
            "burst: 999 B is out of range; expected at least a packet of this link, 1000 B"
        );
        assert_eq!(
            refused(json!({ "rate": "8 Mbps", "burst": 0 })),
            "burst: 0 B is out of range; expected at least 1 B"
        );
        assert!(
            refused(json!({ "burst": 5000, "qdisc": { "kind": "fq", "x": 1 } }))
                .starts_with("qdisc.x: \"x\" is not a key here")
        );
    }
}
