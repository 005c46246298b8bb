//! Homa: the receiver grants to the messages with the least left, as many at a time as fill the link when some senders do not send.
//!
//! Short messages are over before the receiver is heard, and are not held up by long ones: of those under way it grants to a few,
//! with the least left first.
//!
//! **Source**: B. Montazeri, Y. Li, M. Alizadeh, J. Ousterhout, "Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network
//! Priorities", SIGCOMM 2018, doi:10.1145/3230543.3230564 (from memory); compared with draft-ousterhout-tsvwg-homa-00, "Policy
//! Considerations for Grants" (overcommitment of 4 to 8, at least what the path holds granted and not received).
//!
//! **Rule** (R: what the path holds at line rate; K: overcommitment; bytes are those on the wire)
//! ```text
//! sender:    R of a message may leave unheard; of the rest what was granted; what is lost leaves again without credit
//! receiver:  each time data come, the K messages with the least left, of those of which something has come and not all,
//!            are granted up to R beyond what has come of them, if that is more than before
//! ```
//! **Deviations**: a flow is a message. Packets have no priorities: what Homa puts into eight classes of the network's queues waits in one
//! here, so of its two means this is the grants alone. Losses are found by TCP's receiver and sender and not by requests to send
//! again; after a timeout one packet leaves without grant. An endless flow is a message with most left. Several messages of one sender are
//! each granted to. The draft's share for the oldest message (5 %) is left out.
//!
//! **Defaults by era**: the same in all.

use std::collections::{BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Allowance, Arrival, CreditEnv, CreditRule};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Bytes, Time};
use crate::wire::CREDIT_UNIT;

/// Parameters of Homa.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HomaParams {
    /// Bytes that leave unheard, and that are granted beyond what has come (R). Left out: line rate times round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub unscheduled: Option<Bytes>,
    /// Messages that are granted to at a time (K).
    #[schemars(range(min = 1, max = 1024), extend("x-unit" = "messages"))]
    pub overcommitment: u32,
}

impl Default for HomaParams {
    fn default() -> Self {
        Self { unscheduled: None, overcommitment: 7 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Message {
    /// Bytes of the whole, those that have come, and those that may leave.
    size: u64,
    received: u64,
    granted: u64,
    /// Bytes of it that may leave unheard.
    unscheduled: u64,
    /// Something of it has come, and not all.
    is_under_way: bool,
    /// A grant is due.
    is_due: bool,
    /// Its sender sent without grant.
    is_urgent: bool,
}

impl Message {
    fn left(&self) -> u64 {
        self.size - self.received.min(self.size)
    }
}

/// Homa's receiver.
pub struct Homa {
    unscheduled: u64,
    overcommitment: usize,
    messages: Vec<Message>,
    /// Those under way: what is left, and which.
    under_way: BTreeSet<(u64, u32)>,
    due: VecDeque<u32>,
    now: Time,
}

impl About<CreditEnv> for Homa {
    type Params = HomaParams;
    const INFO: Info = Info {
        name: "homa",
        title: "Homa's grants",
        source: "Montazeri et al., Homa: A Receiver-Driven Low-Latency Transport Protocol Using Network Priorities, SIGCOMM 2018; \
                 draft-ousterhout-tsvwg-homa-00",
        status: Status::Reconstructed,
    };

    fn new(params: HomaParams, env: &CreditEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            unscheduled: params.unscheduled.map_or(env.product() as u64, |bytes| bytes.0),
            overcommitment: params.overcommitment as usize,
            messages: Vec::new(),
            under_way: BTreeSet::new(),
            due: VecDeque::new(),
            now: Time::ZERO,
        })
    }
}

impl CreditRule for Homa {
    fn allowance(&self) -> Allowance {
        let first = self.unscheduled;
        Allowance { first, first_expires: false, most: u64::MAX, for_repeats: false }
    }

    fn grants_per_packet(&self) -> f64 {
        1.0
    }

    fn join(&mut self, size: u64, allowance: &Allowance) {
        self.messages.push(Message {
            size,
            received: 0,
            granted: allowance.first,
            unscheduled: allowance.first,
            is_under_way: false,
            is_due: false,
            is_urgent: false,
        });
    }

    fn on_arrival(&mut self, flow: usize, arrival: &Arrival) {
        self.now = arrival.now;
        let message = &mut self.messages[flow];
        if message.is_under_way {
            self.under_way.remove(&(message.left(), flow as u32));
        }
        message.received = arrival.received;
        message.is_under_way = !arrival.is_complete;
        message.is_urgent |= arrival.is_urgent;
        if message.is_under_way {
            self.under_way.insert((message.left(), flow as u32));
        }
        for &(_, number) in self.under_way.iter().take(self.overcommitment) {
            let message = &mut self.messages[number as usize];
            let until = message.received.saturating_add(message.unscheduled).min(message.size);
            let has_more = until > message.granted;
            message.granted = message.granted.max(until);
            if (has_more || message.is_urgent) && !message.is_due {
                message.is_due = true;
                self.due.push_back(number);
            }
        }
    }

    fn due(&self) -> Option<(usize, Time)> {
        self.due.front().map(|&number| (number as usize, self.now))
    }

    fn give(&mut self, _now: Time) -> u64 {
        let Some(number) = self.due.pop_front() else { return 0 };
        let message = &mut self.messages[number as usize];
        (message.is_due, message.is_urgent) = (false, false);
        (message.granted - message.unscheduled).div_ceil(CREDIT_UNIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BitRate, Span};

    /// A rule for messages of these sizes, with R = 10,000 B and K = 2.
    fn rule(sizes: &[u64]) -> Homa {
        let rate = BitRate(8_000_000_000);
        let env = CreditEnv {
            wire_size: 1000,
            line_rate: rate,
            last_rate: rate,
            round_trip: Span::from_micros(10),
        };
        let params = HomaParams { overcommitment: 2, ..HomaParams::default() };
        let mut rule = Homa::new(params, &env).unwrap();
        let allowance = rule.allowance();
        assert_eq!(allowance.first, 10_000);
        for &size in sizes {
            rule.join(size, &allowance);
        }
        rule
    }

    /// So many bytes of a message have come; who is granted how many units then.
    fn bring(rule: &mut Homa, flow: usize, received: u64) -> Vec<(usize, u64)> {
        let is_complete = rule.messages[flow].size == received;
        let arrival =
            Arrival { now: Time::ZERO, wanted: 0, is_urgent: false, received, is_complete };
        rule.on_arrival(flow, &arrival);
        let mut grants = Vec::new();
        while let Some((flow, at)) = rule.due() {
            grants.push((flow, rule.give(at)));
        }
        grants
    }

    #[test]
    fn the_messages_with_the_least_left_are_granted_to() {
        let mut rule = rule(&[50_000, 30_000, 40_000]);
        // Each packet is answered by a grant that keeps R under way: 1000 B are 4 units, as they are rounded up.
        assert_eq!(bring(&mut rule, 0, 1000), [(0, 4)]);
        assert_eq!(bring(&mut rule, 2, 1000), [(2, 4)]);
        // The third has less left than the first, and two are granted to at a time.
        assert_eq!(bring(&mut rule, 1, 1000), [(1, 4)]);
        assert_eq!(bring(&mut rule, 0, 2000), []);
        assert_eq!(bring(&mut rule, 2, 2000), [(2, 8)]);
        // When the second is complete the first is granted what it was not.
        assert_eq!(bring(&mut rule, 1, 30_000), [(0, 8)]);
    }

    #[test]
    fn no_more_is_granted_than_a_message_has() {
        let mut rule = rule(&[12_000, 9000]);
        assert_eq!(bring(&mut rule, 0, 5000), [(0, 8)]);
        assert_eq!(bring(&mut rule, 0, 6000), []);
        assert_eq!(bring(&mut rule, 1, 1000), []);
    }
}
