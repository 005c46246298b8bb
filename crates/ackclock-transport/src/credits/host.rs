//! A host that gives credit, and the receivers there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Allowance, Arrival, CreditRule};
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::ids::FlowId;
use crate::record::FlowSample;
use crate::tcp::{Receiver, segments_of};
use crate::units::Bytes;
use crate::wire::{CreditOption, Flags, Packet};

/// The rule of a host and the flows that end there, by the numbers that the rule gives them.
struct Serving {
    rule: Box<dyn CreditRule>,
    flows: Vec<FlowId>,
}

/// A host that gives credit to the flows that reach it over one link.
#[derive(Clone)]
pub struct Host(Arc<Mutex<Serving>>);

impl Host {
    /// A host with this rule, to which no flow goes yet.
    pub fn new(rule: Box<dyn CreditRule>) -> Self {
        Self(Arc::new(Mutex::new(Serving { rule, flows: Vec::new() })))
    }

    /// All receivers of a host are on the thread that runs the host: the lock is always free.
    fn serving(&self) -> MutexGuard<'_, Serving> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The receiving end of a flow whose sender needs credit: a TCP receiver that sends grants as well.
pub struct CreditedReceiver {
    receiver: Receiver,
    host: Host,
    flow: FlowId,
    number: usize,
    wire_size: u64,
    ack_size: u16,
    /// Up to where the sender has had use for credit.
    wanted: u64,
    grants: u64,
}

impl CreditedReceiver {
    /// A receiver that has got nothing, of a transfer of this size in segments of `mss`, each of `wire_size` on the wire.
    pub fn new(
        receiver: Receiver,
        host: &Host,
        flow: FlowId,
        size: Option<Bytes>,
        [mss, wire_size, ack_size]: [u32; 3],
        allowance: &Allowance,
    ) -> Self {
        let mut serving = host.serving();
        let number = serving.flows.len();
        serving.flows.push(flow);
        let wire_size = u64::from(wire_size);
        let total = size.map_or(u64::MAX, |size| u64::from(segments_of(size, mss)) * wire_size);
        serving.rule.join(total, allowance);
        drop(serving);
        Self {
            receiver,
            host: host.clone(),
            flow,
            number,
            wire_size,
            ack_size: ack_size as u16,
            wanted: 0,
            grants: 0,
        }
    }

    /// Gives the credit that is due to this flow, and wakes the flow to which some is due next.
    fn give(&mut self, ctx: &mut EndpointCtx<'_>) {
        let mut serving = self.host.serving();
        while let Some((number, at)) = serving.rule.due() {
            if number != self.number {
                ctx.out.wake(serving.flows[number]);
                return;
            }
            if at > ctx.now {
                return;
            }
            let total = serving.rule.give(ctx.now) as u32;
            let next = self.receiver.next_expected();
            let grant = ctx.out.send(self.flow, next, self.ack_size, Flags::ACK | Flags::GRANT);
            grant.options.tcp_mut().set_credit(CreditOption { total, is_without: false });
            self.grants += 1;
        }
    }
}

impl Endpoint for CreditedReceiver {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.receiver.start(ctx);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        let credit = packet.credit();
        let is_trimmed = packet.flags.has(Flags::TRIMMED);
        self.receiver.on_packet(packet, ctx);
        if let Some(CreditOption { total, is_without }) = credit {
            // What a packet said that others have overtaken is behind.
            let more = total.wrapping_sub(self.wanted as u32).cast_signed();
            self.wanted += u64::try_from(more).unwrap_or(0);
            let arrival = Arrival {
                now: ctx.now,
                wanted: self.wanted,
                is_urgent: is_trimmed || is_without,
                received: u64::from(self.receiver.arrived_segments()) * self.wire_size,
                is_complete: self.receiver.is_complete(),
            };
            self.host.serving().rule.on_arrival(self.number, &arrival);
            self.give(ctx);
        }
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.receiver.on_timer(ctx);
        self.give(ctx);
    }

    fn deadline(&self) -> Deadline {
        let own = self.receiver.deadline();
        match self.host.serving().rule.due() {
            Some((number, at)) if number == self.number && at <= own.at => {
                Deadline { at, armed: at }
            }
            _ => own,
        }
    }

    fn prefetch(&self) {
        Endpoint::prefetch(&self.receiver);
    }

    fn is_complete(&self) -> bool {
        Endpoint::is_complete(&self.receiver)
    }

    fn snapshot(&self) -> Snapshot {
        let mut state = self.receiver.snapshot();
        state.acks_sent += self.grants;
        state
    }

    fn sample(&self, row: &mut FlowSample) {
        self.receiver.sample(row);
    }
}
