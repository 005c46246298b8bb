//! Local events, and the calls to endpoints.

use crate::endpoint::{Deadline, Endpoint, EndpointCtx};
use crate::ids::FlowId;
use crate::packet::network::end::{Choice, End};
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Kind, Stage, What};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::simulator::{Cause, Sim};
use crate::units::Time;
use crate::wire::Flags;

impl<C: Clock> Sim<C> {
    /// Delivers a packet to its endpoint.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, p: usize, index: usize, ticket: Ticket) {
        let now = ticket.at;
        self.cause = Cause::Packet(ticket);
        let flows = &mut self.flows;
        let end = &mut flows.ends[index];
        end.received += 1;
        let Some(endpoint) = end.endpoint.as_deref_mut() else {
            return self.reach_branch(p, index, ticket);
        };
        let (rng, record) = (&mut flows.rngs[index], &mut self.observer.recorder);
        let present = Time(C::ps(now));
        let mut ctx =
            EndpointCtx { now: present, out: &mut flows.outbox, rng, record, ports: &self.ports };
        let flow = FlowId(index as u32 / 2);
        // The packet is built in the argument: moving it right after it was written stalls.
        if ticket.is_bare() {
            endpoint.on_packet(ticket.header(flow), &mut ctx);
        } else {
            if let Some(paths) = flows.paths.get_mut(index) {
                paths.learn(ticket, &self.wires.options, C::ps(now));
            }
            endpoint.on_packet(ticket.into_packet(flow, &mut self.wires.options), &mut ctx);
        }
        self.finish_call(p, index, now);
    }

    pub(crate) fn handle_local(&mut self, p: usize, now: u64, event: What) {
        let index = event.index();
        match event.kind() {
            Kind::Free => {
                self.sample_link(index, now);
                self.transmit(p, index as u32, now);
            }
            Kind::Release => self.release(p, index as u32, now),
            Kind::Emit => self.emit(p, index, now),
            Kind::Pause => self.obey_pause(p, index as u32, now),
            Kind::Disc => {
                self.sample_link(index, now);
                self.links.run_timer(index as u32, now);
                let link = &self.links.list[index];
                if let Some(managed) = &link.disc
                    && let Some(interval) = managed.disc.timer_interval()
                {
                    let interval = interval.0.max(1);
                    let due = C::after(now, C::word(interval));
                    let key = Key::new(due, interval, event.0);
                    self.schedule.add_local(p, link.stage, key);
                }
                self.lose_dropped(index as u32, now);
            }
            Kind::Endpoint => {
                // Any other entry was replaced by one with an earlier deadline.
                if self.flows.ends[index].pending != now {
                    return;
                }
                self.flows.ends[index].pending = u64::MAX;
                let Some(endpoint) = self.flows.ends[index].endpoint.as_deref() else { return };
                let deadline = endpoint.deadline();
                if self.flows.timers.word(index, deadline, now) <= now {
                    self.call(p, index, now, |endpoint, ctx| {
                        // The endpoint's time must not be before its deadline, however words round.
                        ctx.now = ctx.now.max(deadline.at);
                        endpoint.on_timer(ctx);
                    });
                } else {
                    self.arm_timer(p, index, now);
                }
            }
            Kind::Start => {
                self.flows.ends[index].moment = now;
                self.call(p, index, now, |endpoint, ctx| endpoint.start(ctx));
            }
        }
    }

    /// Calls an endpoint, sends the packets that it sends, and enters its next deadline.
    fn call(
        &mut self,
        p: usize,
        index: usize,
        now: u64,
        f: impl FnOnce(&mut dyn Endpoint, &mut EndpointCtx<'_>),
    ) {
        let flows = &mut self.flows;
        let Some(endpoint) = flows.ends[index].endpoint.as_deref_mut() else { return };
        let (rng, record) = (&mut flows.rngs[index], &mut self.observer.recorder);
        let present = Time(C::ps(now));
        let mut ctx =
            EndpointCtx { now: present, out: &mut flows.outbox, rng, record, ports: &self.ports };
        f(endpoint, &mut ctx);
        self.finish_call(p, index, now);
    }

    /// Sends the packets that an endpoint sent during a call, and enters its next deadline.
    #[inline(always)]
    fn finish_call(&mut self, p: usize, index: usize, now: u64) {
        let end = &mut self.flows.ends[index];
        let sent = self.flows.outbox.sent().len();
        if sent > 0 {
            let route = end.route;
            end.sent += sent as u64;
            if self.flows.paths.is_empty() {
                let hop = *self.routes.at(route as usize);
                for i in 0..sent {
                    let packet = &self.flows.outbox.sent()[i];
                    let ticket = Ticket::of(packet, route, now, &mut self.wires.options);
                    self.enter::<false>(p, hop, ticket, true);
                }
            } else {
                self.send_over_paths(p, index, now);
            }
            self.flows.outbox.clear();
            if let Some(flow) = self.flows.outbox.take_woken() {
                self.arm_timer(p, 2 * flow.index() + index % 2, now);
            }
        }
        self.arm_timer(p, index, now);
        if self.flows.ends[index].noted != End::UNNOTED {
            self.note_completions(p, index, now);
        }
    }

    /// Notes completions after the call of an end whose completion is noted, or of one with siblings, which may have
    /// something to do now and may be complete by what it did.
    #[cold]
    #[inline(never)]
    fn note_completions(&mut self, p: usize, index: usize, now: u64) {
        if self.flows.ends[index].noted & End::SUBFLOW == 0 {
            return self.note_completion(p, index, now);
        }
        for end in self.flows.ends_beside(index) {
            if end != index {
                self.arm_timer(p, end, now);
            }
            if self.flows.ends[end].noted != End::SUBFLOW_UNNOTED {
                self.note_completion(p, end, now);
            }
        }
    }

    /// Sends each packet of the endpoint that was called over one of its paths.
    #[inline(never)]
    fn send_over_paths(&mut self, p: usize, index: usize, now: u64) {
        let flows = &mut self.flows;
        let sent = flows.outbox.sent_mut();
        match (self.cause, &mut flows.paths[index].choice) {
            (Cause::Packet(arrived), _) => flows.paths[index].echo(arrived, sent),
            // What a timer sends again may have met a path that has failed.
            (Cause::Local(_), Choice::Recycled(recycling)) => {
                let is_repeated = sent.iter().any(|packet| packet.flags.has(Flags::RETX));
                if is_repeated && let Some(endpoint) = &flows.ends[index].endpoint {
                    recycling.count_timeouts(endpoint.snapshot().timeouts, C::ps(now));
                }
            }
            _ => {}
        }
        for i in 0..self.flows.outbox.sent().len() {
            let route = self.flows.paths[index].choose(C::ps(now));
            let packet = &self.flows.outbox.sent()[i];
            let ticket = Ticket::of(packet, route, now, &mut self.wires.options);
            let hop = *self.routes.at(route as usize);
            self.enter::<false>(p, hop, ticket, true);
            // The next packet is written in its place, without what this one says of a path.
            self.flows.outbox.sent_mut()[i].label = 0.0;
        }
    }

    /// Notes when an end is complete, and lets the flows start that waited for it last.
    fn note_completion(&mut self, p: usize, index: usize, now: u64) {
        let Self { flows, schedule, .. } = self;
        let end = &mut flows.ends[index];
        if !end.endpoint.as_deref().is_some_and(Endpoint::is_complete) {
            return;
        }
        let is_subflow = end.noted & End::SUBFLOW != 0;
        let after = if is_subflow { End::SUBFLOW_UNNOTED } else { End::UNNOTED };
        let place = std::mem::replace(&mut end.noted, after) & !End::SUBFLOW;
        let is_receiver = index % 2 == 1;
        if is_receiver {
            end.moment = now;
        }
        flows.waits.complete::<C>(place, now, |flow, start| {
            let event = What::new(Kind::Start, 2 * flow);
            let ahead = C::ps(start).saturating_sub(C::ps(now));
            schedule.add_local(p, Stage::Node, Key::new(start, ahead, event.0));
        });
    }

    /// Enters the endpoint's deadline into the local events, if it is earlier than its pending entry.
    #[inline(always)]
    fn arm_timer(&mut self, p: usize, index: usize, now: u64) {
        let end = &mut self.flows.ends[index];
        let Some(endpoint) = end.endpoint.as_deref() else { return };
        let deadline = endpoint.deadline();
        let due = self.flows.timers.word(index, deadline, now);
        if due < end.pending {
            end.pending = due;
            let event = What::new(Kind::Endpoint, index as u32);
            let ahead = deadline.at.0.saturating_sub(deadline.armed.0);
            self.schedule.add_local(p, Stage::Node, Key::new(due, ahead, event.0));
        } else if deadline == Deadline::FAILED {
            self.failure = endpoint.failure();
        }
    }
}
