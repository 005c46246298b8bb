//! The sending end of a subflow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::scheduler::Sending;
use super::{ConnectionParts, lock};
use crate::cc::coupled::Siblings;
use crate::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use crate::record::FlowSample;
use crate::tcp::Sender;
use crate::units::Time;
use crate::wire::{Flags, Options, Packet};

/// The place of a subflow at the sending side of its connection.
#[derive(Debug)]
pub struct SendingSide {
    number: usize,
    connection: Arc<Mutex<Sending>>,
    /// What its control knows of the others.
    pub siblings: Siblings,
    /// The last segment of the connection, and by how many bytes it is shorter.
    last: u32,
    missing: u32,
}

impl SendingSide {
    /// Those of a connection, by subflow.
    pub fn of(parts: &ConnectionParts) -> Vec<Self> {
        let connection = Arc::new(Mutex::new(Sending::new(parts)));
        let total = parts.total();
        let last = if total == u32::MAX { u32::MAX } else { total.saturating_sub(1) };
        let side = |(number, siblings)| Self {
            number,
            connection: Arc::clone(&connection),
            siblings,
            last,
            missing: parts.missing_bytes(),
        };
        Siblings::of(parts.subflows).into_iter().enumerate().map(side).collect()
    }
}

/// The sending end: a TCP sender whose segments carry those of a connection.
pub struct SubflowSender {
    sender: Sender,
    side: SendingSide,
    /// The segments of the connection that those of the subflow carry which are not acknowledged, from `first` on.
    carried: VecDeque<u32>,
    first: u32,
    timeouts: u64,
    /// Bytes by which its packets were shorter than the sender counts.
    missing_bytes: u64,
}

impl SubflowSender {
    /// A subflow that has not started; `sender` has no size.
    pub fn new(sender: Sender, side: SendingSide) -> Self {
        Self { sender, side, carried: VecDeque::new(), first: 0, timeouts: 0, missing_bytes: 0 }
    }

    /// Calls the sender, which may send what the connection has for it. `is_event`: not only because siblings left it
    /// something.
    fn call(
        &mut self,
        heard: Option<u32>,
        is_event: bool,
        ctx: &mut EndpointCtx<'_>,
        run: impl FnOnce(&mut Sender, &mut EndpointCtx<'_>),
    ) {
        let number = self.side.number;
        let offered = {
            let mut connection = lock(&self.side.connection);
            if let Some(segment) = heard {
                connection.acknowledge(segment, ctx.now);
            }
            let share = &mut connection.shares[number];
            share.refuses &= !is_event;
            share.wake = None;
            connection.offer(number)
        };
        let before = self.sender.next_segment();
        if !is_event {
            self.sender.note_idle(ctx.now);
        }
        self.sender.offer(offered);
        run(&mut self.sender, ctx);
        self.sender.offer(0);
        self.settle(before, offered, ctx);
    }

    /// What every call leaves behind: numbers on the packets, the state that siblings see, and who of them is woken.
    fn settle(&mut self, before: u32, offered: u32, ctx: &mut EndpointCtx<'_>) {
        let number = self.side.number;
        let mut connection = lock(&self.side.connection);
        let next = self.sender.next_segment();
        for _ in before..next {
            self.carried.push_back(connection.take(number));
        }
        let acknowledged = self.sender.first_outstanding();
        while self.first < acknowledged && self.carried.pop_front().is_some() {
            self.first += 1;
        }
        let timeouts = self.sender.timeouts();
        if timeouts > self.timeouts {
            self.timeouts = timeouts;
            connection.repeat(number, self.carried.iter().copied());
        }
        if connection.completed.is_some() {
            connection.shares[number].is_closed = true;
            self.sender.close(ctx);
        }
        let share = &mut connection.shares[number];
        share.room = self.sender.room(ctx.now);
        share.srtt_s = self.sender.srtt_s();
        share.refuses |= offered > 0 && next == before;
        connection.wake_others(number, ctx.now);
        drop(connection);
        let (cwnd, is_open) = self.sender.shown_window();
        self.side.siblings.publish(cwnd, self.sender.srtt_s(), is_open);
        self.number_packets(ctx);
    }

    /// Puts on each packet which segment of the connection it carries.
    fn number_packets(&mut self, ctx: &mut EndpointCtx<'_>) {
        for packet in ctx.out.sent_mut() {
            if packet.is_ack() || packet.flags.has(Flags::SYN) {
                continue;
            }
            let place = packet.seq.wrapping_sub(self.first) as usize;
            let Some(&segment) = self.carried.get(place) else { continue };
            packet.options.tcp_mut().set_segment_of_connection(segment);
            if segment == self.side.last {
                packet.size -= self.side.missing as u16;
                self.missing_bytes += u64::from(self.side.missing);
            }
        }
    }
}

/// The next segment that the connection expects, as an acknowledgement says.
fn expected(packet: &Packet) -> Option<u32> {
    match &packet.options {
        Options::Tcp(options) => options.segment_of_connection(),
        _ => None,
    }
}

impl Endpoint for SubflowSender {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.call(None, true, ctx, Sender::start);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        self.call(expected(&packet), true, ctx, |sender, ctx| sender.on_packet(packet, ctx));
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.sender.deadline().at <= ctx.now {
            self.call(None, true, ctx, Sender::on_timer);
        } else {
            self.call(None, false, ctx, Sender::send_offered);
        }
    }

    fn deadline(&self) -> Deadline {
        let own = self.sender.deadline();
        match lock(&self.side.connection).shares[self.side.number].wake {
            Some(at) if own != Deadline::FAILED && at <= own.at => Deadline { at, armed: at },
            _ => own,
        }
    }

    fn is_complete(&self) -> bool {
        self.sender.is_complete()
    }

    fn prefetch(&self) {
        self.sender.prefetch();
    }

    fn snapshot(&self) -> Snapshot {
        let mut state = self.sender.snapshot();
        state.sent_bytes -= self.missing_bytes;
        let completed = lock(&self.side.connection).completed;
        state.connection_completed_s = completed.map_or(0.0, Time::seconds);
        state
    }

    fn sample(&self, row: &mut FlowSample) {
        self.sender.sample(row);
    }

    fn failure(&self) -> Option<String> {
        self.sender.failure()
    }
}
