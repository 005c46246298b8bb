//! RCCC: Ultra Ethernet's control at the receiver, which gives senders in turn the credit that fills its link.
//!
//! What meets at the last link is all that a receiver sees, and it sees all of it: it shares the link out, and what waits there after
//! the first round trip only falls. What meets inside the network it does not see; NSCC beside it does.
//!
//! **Source**: the receiver's congestion control of the Ultra Ethernet Specification 1.0 (2025), as the reference simulator of its
//! congestion group has it: ultraethernet/uet-htsim, commit 40ccb05, `htsim/sim/uec.cpp`.
//!
//! **Rule** (W: 1.5 times what the path holds at line rate; B: rate of the last link; bytes are those on the wire)
//! ```text
//! sender:    W may leave unheard; with the first answer what is left of it is forgotten
//!            a packet, new or not, leaves while credit > 0, and takes its bytes from it; credit is at most W
//!            each packet says up to where there is use for credit: given + min(what is left and lost, W) - credit,
//!            while unheard a packet at least
//! receiver:  flows that want more than they were given wait in a queue; one comes to its end, too, whose payload was cut off,
//!            or that sent without credit; the first is given min(16 kB, what it wants), and goes to the end, or to the idle ones
//!            idle:     while nobody is in the queue these get 16 kB each in turn, up to W beyond what they wanted
//!            pace:     after a grant of g bytes g / (0.99 B) pass, after an empty one 1 kB / (0.99 B)
//! timeout:   one packet leaves without credit, and says so
//! ```
//! **Deviations**: after a timeout the source sends a request of 64 bytes, here a packet. A host with several senders divides what each
//! says that it has use for by their number there, which our senders do not know of each other. A transfer that is complete is
//! given nothing more.
//!
//! **Defaults by era**: the same in all.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Allowance, Arrival, CreditEnv, CreditRule};
use crate::error::Problem;
use crate::registry::{About, Info, Status};
use crate::units::{Bytes, PS_PER_S, Span, Time};
use crate::wire::CREDIT_UNIT;

/// Bytes of time that a grant of nothing takes.
const EMPTY: u64 = 1024;
/// Largest credit in products of line rate and round trip.
const LARGEST: f64 = 1.5;

/// Parameters of RCCC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RcccParams {
    /// What leaves unheard, and the most credit that a sender keeps (W). Left out: 1.5 products of line rate and round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_048_576), extend("x-unit" = "segments"))]
    pub window: Option<u32>,
    /// Bytes of a grant.
    #[schemars(range(min = 256, max = 1_073_741_824))]
    pub grant: Bytes,
    /// Share of the last link's rate that is given.
    #[schemars(range(max = 10), extend("exclusiveMinimum" = 0))]
    pub share: f64,
}

impl Default for RcccParams {
    fn default() -> Self {
        Self { window: None, grant: Bytes(16_384), share: 0.99 }
    }
}

/// Where a flow waits for credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    None,
    Active,
    Idle,
}

#[derive(Clone, Copy, Debug)]
struct Served {
    /// Units that it wants, and was given.
    wanted: u64,
    given: u64,
    /// Units beyond what it wants that it is given at most.
    beyond: u64,
    queue: Queue,
    is_complete: bool,
}

/// RCCC.
pub struct Rccc {
    wire_size: u32,
    window: u64,
    /// Units of a grant.
    grant: u64,
    /// Picoseconds of a byte.
    pace: f64,
    flows: Vec<Served>,
    active: VecDeque<u32>,
    idle: VecDeque<u32>,
    next: Time,
}

impl About<CreditEnv> for Rccc {
    type Params = RcccParams;
    const INFO: Info = Info {
        name: "rccc",
        title: "RCCC (Ultra Ethernet)",
        source: "Ultra Ethernet Specification 1.0, as in ultraethernet/uet-htsim, commit 40ccb05",
        status: Status::Variant,
    };

    fn new(params: RcccParams, env: &CreditEnv) -> Result<Self, Vec<Problem>> {
        let packets = params.window.map(|packets| u64::from(packets) * u64::from(env.wire_size));
        let rate = params.share * env.last_rate.bps().max(1.0);
        Ok(Self {
            wire_size: env.wire_size,
            window: packets.unwrap_or((LARGEST * env.product()) as u64),
            grant: (params.grant.0 / CREDIT_UNIT).max(1),
            pace: 8.0 * PS_PER_S as f64 / rate,
            flows: Vec::new(),
            active: VecDeque::new(),
            idle: VecDeque::new(),
            next: Time::ZERO,
        })
    }
}

impl Rccc {
    fn activate(&mut self, flow: usize, now: Time) {
        if self.flows[flow].queue == Queue::Active || self.flows[flow].is_complete {
            return;
        }
        self.flows[flow].queue = Queue::Active;
        self.active.push_back(flow as u32);
        self.next = self.next.max(now);
    }

    /// Takes those away from the front of the queues that are complete or have gone to the other.
    fn settle(&mut self) {
        let flows = &self.flows;
        let is_in = |queue| {
            move |&flow: &u32| {
                let served = &flows[flow as usize];
                served.queue == queue && !served.is_complete
            }
        };
        while self.active.front().is_some_and(|flow| !is_in(Queue::Active)(flow)) {
            self.active.pop_front();
        }
        while self.idle.front().is_some_and(|flow| !is_in(Queue::Idle)(flow)) {
            self.idle.pop_front();
        }
    }
}

impl CreditRule for Rccc {
    fn allowance(&self) -> Allowance {
        Allowance { first: self.window, first_expires: true, most: self.window, for_repeats: true }
    }

    fn grants_per_packet(&self) -> f64 {
        f64::from(self.wire_size) / (self.grant * CREDIT_UNIT) as f64
    }

    fn join(&mut self, _size: u64, allowance: &Allowance) {
        self.flows.push(Served {
            wanted: 0,
            given: 0,
            beyond: allowance.most / CREDIT_UNIT,
            queue: Queue::None,
            is_complete: false,
        });
    }

    fn on_arrival(&mut self, flow: usize, arrival: &Arrival) {
        let served = &mut self.flows[flow];
        served.is_complete |= arrival.is_complete;
        let wants_more = arrival.wanted > served.wanted;
        served.wanted = served.wanted.max(arrival.wanted);
        if wants_more || arrival.is_urgent {
            self.activate(flow, arrival.now);
        }
        self.settle();
    }

    fn due(&self) -> Option<(usize, Time)> {
        let first = self.active.front().or(self.idle.front())?;
        Some((*first as usize, self.next))
    }

    fn give(&mut self, now: Time) -> u64 {
        let (flow, granted) = if let Some(flow) = self.active.pop_front() {
            let served = &mut self.flows[flow as usize];
            let granted = served.wanted.saturating_sub(served.given).min(self.grant);
            served.given += granted;
            served.queue = if served.wanted > served.given { Queue::Active } else { Queue::Idle };
            (flow, granted)
        } else {
            let Some(flow) = self.idle.pop_front() else { return 0 };
            let served = &mut self.flows[flow as usize];
            served.given += self.grant;
            let has_room = served.given.saturating_sub(served.wanted) < served.beyond;
            served.queue = if has_room { Queue::Idle } else { Queue::None };
            (flow, self.grant)
        };
        match self.flows[flow as usize].queue {
            Queue::Active => self.active.push_back(flow),
            Queue::Idle => self.idle.push_back(flow),
            Queue::None => {}
        }
        let bytes = if granted == 0 { EMPTY } else { granted * CREDIT_UNIT };
        self.next = now + Span((bytes as f64 * self.pace) as u64);
        self.settle();
        self.flows[flow as usize].given
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::BitRate;

    fn env() -> CreditEnv {
        let rate = BitRate(100_000_000_000);
        CreditEnv {
            wire_size: 4150,
            line_rate: rate,
            last_rate: rate,
            round_trip: Span::from_micros(12),
        }
    }

    fn rule(flows: usize) -> Rccc {
        let mut rule = Rccc::new(RcccParams::default(), &env()).unwrap();
        let allowance = rule.allowance();
        for _ in 0..flows {
            rule.join(u64::MAX, &allowance);
        }
        rule
    }

    fn arrival(now: Time, wanted: u64) -> Arrival {
        Arrival { now, wanted, is_urgent: false, received: 0, is_complete: false }
    }

    #[test]
    fn the_window_is_half_more_than_the_path_holds() {
        // 100 Gbit/s for 12 us are 150,000 B.
        assert_eq!(rule(1).allowance().first, 225_000);
        let params = RcccParams { window: Some(50), ..RcccParams::default() };
        assert_eq!(Rccc::new(params, &env()).unwrap().allowance().most, 207_500);
    }

    #[test]
    fn flows_take_turns_at_99_percent_of_the_link() {
        let mut rule = rule(2);
        let start = Time::ZERO + Span::from_micros(5);
        rule.on_arrival(0, &arrival(start, 200));
        rule.on_arrival(1, &arrival(start, 64));
        assert_eq!(rule.due(), Some((0, start)));
        assert_eq!(rule.give(start), 64);
        // 16,384 B at 99 Gbit/s take 1.3239 us.
        let second = rule.due().unwrap();
        assert_eq!((second.0, second.1.since(start).0 / 1000), (1, 1323));
        assert_eq!(rule.give(second.1), 64);
        // The second has what it wants; the first gets two grants more, the last of 8 units.
        for total in [128, 192, 200] {
            let (flow, at) = rule.due().unwrap();
            assert_eq!((flow, rule.give(at)), (0, total));
        }
        // Then both are idle, the second for longer.
        let (flow, at) = rule.due().unwrap();
        assert_eq!((flow, rule.give(at)), (1, 128));
        assert_eq!(rule.due().unwrap().0, 0);
    }

    #[test]
    fn idle_flows_get_one_window_beyond_what_they_want() {
        let mut rule = rule(1);
        rule.on_arrival(0, &arrival(Time::ZERO, 10));
        let mut totals = Vec::new();
        while let Some((_, at)) = rule.due() {
            totals.push(rule.give(at));
        }
        // 225,000 B are 878 units: grants of 64 go on until 896 more were given.
        assert_eq!((totals[0], *totals.last().unwrap(), totals.len()), (10, 906, 15));
        // A new wish brings it back, though it was given more; that grant is empty.
        rule.on_arrival(0, &arrival(Time::ZERO, 11));
        let (_, at) = rule.due().unwrap();
        assert_eq!(rule.give(at), 906);
    }

    #[test]
    fn who_is_complete_gets_nothing_and_who_lost_its_payload_is_heard() {
        let mut rule = rule(2);
        rule.on_arrival(0, &arrival(Time::ZERO, 64));
        rule.on_arrival(1, &arrival(Time::ZERO, 64));
        rule.on_arrival(0, &Arrival { is_complete: true, ..arrival(Time::ZERO, 64) });
        assert_eq!(rule.due().unwrap().0, 1);
        while let Some((flow, at)) = rule.due() {
            assert_eq!(flow, 1);
            rule.give(at);
        }
        rule.on_arrival(1, &Arrival { is_urgent: true, ..arrival(Time::ZERO, 0) });
        assert_eq!(rule.due().unwrap().0, 1);
    }
}
