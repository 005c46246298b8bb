//! FIFO with drop-tail: packets leave in order of arrival; an arrival that finds no room is dropped.
//!
//! **Source**: the default discipline of routers, as named in RFC 7567, section 2.1
//! (doi:10.17487/RFC7567).
//!
//! **Rule**: with n packets of b bytes waiting, an arrival of s bytes is stored if
//! n < `limit.packets` and b + s <= `limit.bytes`.
//!
//! **Deviations**: none.
//!
//! **Defaults by era**: `ns2` keeps the habit of ns-2.35's DropTail, which tests for room after
//! counting the arrival: a limit of N packets holds N - 1 (N = 1 drops everything), a limit of B
//! bytes is never quite reached. The packet in transmission does not count in any era.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::era::Era;
use crate::error::Problem;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::wire::Packet;

/// Parameters of [`Fifo`]: none; the link's buffer is its limit.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// Drop-tail: what fits is let in.
#[derive(Debug)]
pub struct Fifo;

impl About<QdiscEnv> for Fifo {
    type Params = Params;
    const INFO: Info = Info {
        name: "fifo",
        title: "FIFO with drop-tail",
        source: "RFC 7567, section 2.1, doi:10.17487/RFC7567",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] =
        &["droptail", "drop-tail", "taildrop", "tail-drop", "pfifo", "bfifo"];

    fn new(_: Params, _: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl Plain for Fifo {
    fn limit(env: &QdiscEnv) -> Limit {
        let mut limit = env.limit;
        if env.era == Era::Ns2 {
            if limit.packets != u32::MAX {
                limit.packets = limit.packets.saturating_sub(1);
            }
            if limit.bytes != u64::MAX {
                limit.bytes = limit.bytes.saturating_sub(1);
            }
        }
        limit
    }
}

impl Aqm for Fifo {
    fn on_enqueue(&mut self, _: &Packet, _: &QueueState, _: &mut Stream) -> Verdict {
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};

    fn count_held(packets: u32, bytes: u64, era: Era, size: u16) -> usize {
        let env = QdiscEnv { limit: Limit { packets, bytes }, era, ..env() };
        let mut bench = Bench::new(Managed::<Fifo>::new(Params {}, &env).unwrap());
        for _ in 0..10 {
            bench.arrive(0, size);
        }
        assert_eq!(bench.qdisc_len() + bench.dropped.len(), 10);
        bench.qdisc_len()
    }

    #[test]
    fn packets_and_bytes_limit_whichever_is_first() {
        assert_eq!(count_held(8, u64::MAX, Era::Rfc, 1000), 8);
        assert_eq!(count_held(8, 3500, Era::Rfc, 1000), 3);
        assert_eq!(count_held(8, 3000, Era::Rfc, 1000), 3);
    }

    #[test]
    fn ns2_holds_one_packet_less() {
        assert_eq!(count_held(8, u64::MAX, Era::Ns2, 1000), 7);
        assert_eq!(count_held(1, u64::MAX, Era::Ns2, 1000), 0);
        assert_eq!(count_held(u32::MAX, 3000, Era::Ns2, 1000), 2);
        assert_eq!(count_held(u32::MAX, u64::MAX, Era::Ns2, 1000), 10);
    }

    #[test]
    fn packets_leave_in_order_of_arrival() {
        let mut bench = Bench::new(Managed::<Fifo>::new(Params {}, &env()).unwrap());
        let sent: Vec<u32> = (0..4).map(|key| bench.arrive(key, 100)).collect();
        let got: Vec<u32> = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect();
        assert_eq!(got, sent);
    }
}
