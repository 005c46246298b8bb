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

use super::store::Store;
use super::{Limit, QdiscCtx, QdiscEnv, QueueDisc};
use crate::registry::{About, Info, Status};
use crate::scenario::Era;
use crate::units::Bytes;
use crate::wire::{DropReason, Packet, Timed};

/// Parameters of [`Fifo`]: none; the link's buffer is its limit.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// FIFO with drop-tail.
#[derive(Debug)]
pub struct Fifo {
    store: Store,
    limit: Limit,
}

impl About<QdiscEnv> for Fifo {
    type Params = Params;
    const INFO: Info = Info {
        name: "fifo",
        title: "FIFO with drop-tail",
        source: "RFC 7567, section 2.1, doi:10.17487/RFC7567",
        status: Status::Specified,
    };

    fn new(_: Params, env: &QdiscEnv) -> Result<Self, String> {
        let mut limit = env.limit;
        if env.era == Era::Ns2 {
            if limit.packets != u32::MAX {
                limit.packets = limit.packets.saturating_sub(1);
            }
            if limit.bytes != u64::MAX {
                limit.bytes = limit.bytes.saturating_sub(1);
            }
        }
        Ok(Self { store: Store::default(), limit })
    }
}

impl QueueDisc for Fifo {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        if self.limit.admits(self.store.len(), self.store.backlog(), packet.size) {
            self.store.push(ctx.now, packet);
        } else {
            ctx.drop(packet, DropReason::Overflow);
        }
    }

    fn dequeue(&mut self, _ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.store.pop()
    }

    fn len(&self) -> usize {
        self.store.len()
    }

    fn backlog(&self) -> Bytes {
        self.store.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, env};
    use super::*;

    fn held(packets: u32, bytes: u64, era: Era, size: u16) -> usize {
        let env = QdiscEnv { limit: Limit { packets, bytes }, era, ..env() };
        let mut bench = Bench::new(Fifo::new(Params {}, &env).unwrap());
        for _ in 0..10 {
            bench.arrive(0, size);
        }
        assert_eq!(bench.qdisc.len() + bench.dropped.len(), 10);
        bench.qdisc.len()
    }

    #[test]
    fn packets_and_bytes_limit_whichever_is_first() {
        assert_eq!(held(8, u64::MAX, Era::Rfc, 1000), 8);
        assert_eq!(held(8, 3500, Era::Rfc, 1000), 3);
        assert_eq!(held(8, 3000, Era::Rfc, 1000), 3);
    }

    #[test]
    fn ns2_holds_one_packet_less() {
        assert_eq!(held(8, u64::MAX, Era::Ns2, 1000), 7);
        assert_eq!(held(1, u64::MAX, Era::Ns2, 1000), 0);
        assert_eq!(held(u32::MAX, 3000, Era::Ns2, 1000), 2);
        assert_eq!(held(u32::MAX, u64::MAX, Era::Ns2, 1000), 10);
    }

    #[test]
    fn packets_leave_in_order_of_arrival() {
        let mut bench = Bench::new(Fifo::new(Params {}, &env()).unwrap());
        let sent: Vec<u32> = (0..4).map(|key| bench.arrive(key, 100)).collect();
        let got: Vec<u32> = std::iter::from_fn(|| bench.depart()).map(|t| t.packet.seq).collect();
        assert_eq!(got, sent);
    }
}
