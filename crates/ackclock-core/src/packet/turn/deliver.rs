//! Local events, and the calls to endpoints.

use crate::ids::FlowId;
use crate::packet::process::event::{Key, Kind, Stage, What};
use crate::packet::storage::ticket::Ticket;
use crate::packet::turn::simulator::Sim;
use crate::tcp::{Deadline, Endpoint, EndpointCtx};
use crate::units::Time;

impl Sim {
    /// Hands a packet to its endpoint.
    #[inline(always)]
    pub(in crate::packet) fn deliver(&mut self, p: usize, index: usize, ticket: Ticket) {
        let now = ticket.at;
        let end = &mut self.ends[index];
        end.received += 1;
        let Some(endpoint) = end.endpoint.as_deref_mut() else { return };
        let (rng, record) = (&mut self.rngs[index], &mut self.observer.recorder);
        let present = Time(self.scale.ps(now));
        let mut ctx = EndpointCtx { now: present, out: &mut self.out, rng, record };
        let flow = FlowId(index as u32 / 2);
        // Each packet is made where it is handed over: one that is moved stalls the move.
        if ticket.is_bare() {
            endpoint.on_packet(ticket.header(flow), &mut ctx);
        } else {
            endpoint.on_packet(ticket.into_packet(flow, &mut self.options), &mut ctx);
        }
        self.called(p, index, now);
    }

    pub(in crate::packet) fn on_local(&mut self, p: usize, now: u64, what: What) {
        let index = what.index();
        match what.kind() {
            Kind::Free => {
                self.mark_link(index, now);
                self.transmit(p, index as u32, now);
            }
            Kind::Release => self.release(p, index as u32, now),
            Kind::Disc => {
                self.mark_link(index, now);
                let link = &mut self.links[index];
                link.on_timer(now, &self.keys, &mut self.dropped);
                if let Some(managed) = &link.disc
                    && let Some(interval) = managed.disc.timer_interval()
                {
                    let interval = interval.0.max(1);
                    let stage = link.stage;
                    let at = self.scale.after(now, self.scale.word(interval));
                    self.add_local(p, stage, Key::new(at, interval, what.0));
                }
                self.lose_all(index as u32, now);
            }
            Kind::Endpoint => {
                // An entry that is not the pending one was overtaken by an earlier deadline.
                if self.ends[index].pending != now {
                    return;
                }
                self.ends[index].pending = u64::MAX;
                let Some(endpoint) = self.ends[index].endpoint.as_deref() else { return };
                let deadline = endpoint.deadline();
                if self.timers.word(self.scale, index, deadline, now) <= now {
                    self.call(p, index, now, |endpoint, ctx| {
                        // Its own clock must have come to its deadline, however words round.
                        ctx.now = ctx.now.max(deadline.at);
                        endpoint.on_timer(ctx);
                    });
                } else {
                    self.arm(p, index, now);
                }
            }
            Kind::Start => self.call(p, index, now, |endpoint, ctx| endpoint.start(ctx)),
        }
    }

    /// Calls an endpoint, sends what it sends, and notes its next deadline.
    fn call(
        &mut self,
        p: usize,
        index: usize,
        now: u64,
        f: impl FnOnce(&mut dyn Endpoint, &mut EndpointCtx<'_>),
    ) {
        let end = &mut self.ends[index];
        let Some(endpoint) = end.endpoint.as_deref_mut() else { return };
        let (rng, record) = (&mut self.rngs[index], &mut self.observer.recorder);
        let present = Time(self.scale.ps(now));
        let mut ctx = EndpointCtx { now: present, out: &mut self.out, rng, record };
        f(endpoint, &mut ctx);
        self.called(p, index, now);
    }

    /// Sends what an endpoint sent during a call, and notes its next deadline.
    #[inline(always)]
    fn called(&mut self, p: usize, index: usize, now: u64) {
        let end = &mut self.ends[index];
        if !self.out.sent().is_empty() {
            let route = end.route;
            end.sent += self.out.sent().len() as u64;
            let hop = self.hops[route as usize];
            for i in 0..self.out.sent().len() {
                let ticket = Ticket::of(&self.out.sent()[i], route, now, &mut self.options);
                self.enter::<false>(p, hop, ticket, true);
            }
            self.out.clear();
        }
        self.arm(p, index, now);
    }

    /// Makes sure that the endpoint's deadline is among the local events.
    #[inline(always)]
    fn arm(&mut self, p: usize, index: usize, now: u64) {
        let end = &mut self.ends[index];
        let Some(endpoint) = end.endpoint.as_deref() else { return };
        let deadline = endpoint.deadline();
        let at = self.timers.word(self.scale, index, deadline, now);
        if at < end.pending {
            end.pending = at;
            let what = What::new(Kind::Endpoint, index as u32);
            let ahead = deadline.at.0.saturating_sub(deadline.armed.0);
            let key = Key::new(at, ahead, what.0);
            self.add_local(p, Stage::Node, key);
        } else if deadline == Deadline::FAILED {
            self.failure = endpoint.failure();
        }
    }
}
