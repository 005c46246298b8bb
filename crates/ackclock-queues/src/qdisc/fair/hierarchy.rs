//! A tree of WF2Q+ servers: what WF2Q+ (one server) and H-PFQ (any tree) have in common.
//!
//! **Source**: Bennett & Zhang, "Hierarchical packet fair queueing algorithms", IEEE/ACM Trans.
//! Networking 5(5), 1997, sections 3 and 4 (doi:10.1109/90.649568).
//!
//! **Rule**: a server n has children (servers or class queues) with weights w; of each child m that has a
//! packet, one is the head, of L bytes, with
//! - start S = max(V(n), F) where the child was idle, S = F where it goes on, and finish F = S + L / w(m);
//! - n chooses, of the heads with S <= V(n), the one with the smallest F, which becomes its own head;
//! - V(n) grows to max(V(n), smallest S) before it chooses, and by L / (sum of the weights) when it has chosen;
//! - when a transmission ends, the servers on the way of its packet choose anew, from the queue upwards.
//!
//! A choice is kept until its packet has been sent: a better one that comes later waits.

use crate::qdisc::aqm::Prototype;
use crate::qdisc::fair::classes::{Classes, Measure, Victim};
use crate::qdisc::fair::gps::greater;
use crate::qdisc::fair::longest::Longest;
use crate::qdisc::fair::tournament::Tournament;
use crate::qdisc::{Aqm, Limit, QdiscCtx};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// Nobody: no server, no child.
const NONE: u32 = u32::MAX;

/// A child of a server.
#[derive(Clone, Copy, Debug)]
struct Child {
    start: f64,
    finish: f64,
    /// Virtual time that a byte takes: one over the weight.
    unit: f64,
    /// What waits below it, in the measure by which the longest queue is found.
    backlog: u64,
    /// Bytes of its head.
    size: u16,
    /// Whether it is a server; else it is a queue.
    is_server: bool,
    /// Its number among servers or queues.
    number: u32,
}

impl Child {
    /// How long it is beside its weight, as a whole number of the same order; `None` if nothing waits.
    #[inline(always)]
    fn length(&self) -> Option<u64> {
        (self.backlog > 0).then(|| (self.backlog as f64 * self.unit).to_bits())
    }
}

/// One server.
#[derive(Debug)]
struct Server {
    v: f64,
    /// V before its last choice.
    v_before: f64,
    /// One over the sum of its children's weights.
    share: f64,
    weight: f64,
    /// The largest finish that it has given.
    latest: f64,
    /// The child whose head is its own.
    active: u32,
    /// Busy periods of the link that it knows of.
    period: u32,
    parent: Position,
    children: Vec<Child>,
    /// Children with a head: with S <= V by F, the others by S.
    eligible: Tournament,
    waiting: Tournament,
    longest: Longest,
}

/// A place in the tree: a child of a server.
#[derive(Clone, Copy, Debug)]
struct Position {
    server: u32,
    child: u32,
}

/// Whether a virtual time has come: sums of shares, which are rounded, often meet it exactly.
#[inline(always)]
fn has_come(start: f64, v: f64) -> bool {
    start <= v * (1.0 + 1e-12) + 1e-9
}

impl Server {
    fn new(parent: Position) -> Self {
        Self {
            v: 0.0,
            v_before: 0.0,
            share: 0.0,
            weight: 0.0,
            latest: 0.0,
            active: NONE,
            period: 0,
            parent,
            children: Vec::new(),
            eligible: Tournament::default(),
            waiting: Tournament::default(),
            longest: Longest::default(),
        }
    }

    /// A child's head has `size` bytes and starts at `start`.
    #[inline(always)]
    fn set_head(&mut self, child_index: u32, size: u16, start: f64) {
        let child = &mut self.children[child_index as usize];
        child.start = start;
        child.finish = start + f64::from(size) * child.unit;
        child.size = size;
        self.latest = greater(self.latest, child.finish);
        if has_come(start, self.v) {
            self.eligible.set(child_index, child.finish);
        } else {
            self.waiting.set(child_index, start);
        }
    }

    /// The head of a child, which was eligible, has been sent; the next has `size` bytes.
    #[inline(always)]
    fn go_on(&mut self, child_index: u32, size: Option<u16>) {
        let child = &mut self.children[child_index as usize];
        let mut key = None;
        if let Some(size) = size {
            child.start = child.finish;
            child.finish += f64::from(size) * child.unit;
            child.size = size;
            self.latest = greater(self.latest, child.finish);
            if has_come(child.start, self.v) {
                key = Some(child.finish);
            } else {
                self.waiting.set(child_index, child.start);
            }
        }
        if self.eligible.first().is_some_and(|(_, first)| first == child_index) {
            self.eligible.set_first(key);
        } else if let Some(key) = key {
            self.eligible.set(child_index, key);
        } else {
            self.eligible.remove(child_index);
        }
    }

    /// Chooses among the children's heads; the size of the one chosen, `None` where there is none.
    #[inline(always)]
    fn choose(&mut self) -> Option<u16> {
        self.v_before = self.v;
        if self.eligible.first().is_none() {
            let Some((start, _)) = self.waiting.first() else {
                self.active = NONE;
                return None;
            };
            self.v = greater(self.v, start);
        }
        while let Some((start, child_index)) = self.waiting.first() {
            if !has_come(start, self.v) {
                break;
            }
            self.waiting.set_first(None);
            self.eligible.set(child_index, self.children[child_index as usize].finish);
        }
        let (_, child_index) = self.eligible.first()?;
        self.active = child_index;
        let size = self.children[child_index as usize].size;
        self.v += f64::from(size) * self.share;
        Some(size)
    }

    /// A child's head was dropped; the next has `size` bytes and starts where that would have.
    fn replace_head(&mut self, child_index: u32, size: Option<u16>) {
        self.eligible.remove(child_index);
        self.waiting.remove(child_index);
        let child = &mut self.children[child_index as usize];
        match size {
            Some(size) => {
                let start = child.start;
                self.set_head(child_index, size, start);
            }
            None => child.finish = child.start,
        }
    }
}

/// What a tree is made of.
pub(crate) struct TreeParts {
    pub(crate) limit: Limit,
    pub(crate) measure: Measure,
    pub(crate) victim: Victim,
    /// AQM of every queue for which none was set.
    pub(crate) aqm: Option<Box<dyn Prototype>>,
}

/// A tree of servers over class queues in one shared buffer. Server 0 is the link.
pub(crate) struct Tree {
    servers: Vec<Server>,
    /// Of each queue.
    queues: Vec<Position>,
    classes: Classes,
    limit: Limit,
    measure: Measure,
    victim: Victim,
    /// The queue whose packet is in transmission, or [`NONE`].
    in_service: u32,
    /// Busy periods of the link so far.
    period: u32,
}

impl Tree {
    /// The link alone, without children.
    pub(crate) fn new(config: TreeParts) -> Self {
        let TreeParts { limit, measure, victim, aqm } = config;
        Self {
            servers: vec![Server::new(Position { server: NONE, child: NONE })],
            queues: Vec::new(),
            // What is the longest here is a question for each server.
            classes: Classes::new(Limit::NONE, measure, aqm),
            limit,
            measure,
            victim,
            in_service: NONE,
            period: 0,
        }
    }

    /// Adds a server of this weight below another; its number.
    pub(crate) fn add_server(&mut self, below: u32, weight: f64) -> u32 {
        let number = self.servers.len() as u32;
        let parent = self.add_child(below, weight, true, number);
        self.servers.push(Server::new(parent));
        number
    }

    /// Adds a queue of this weight below a server; its number.
    pub(crate) fn add_queue(&mut self, below: u32, weight: f64) -> u32 {
        let number = self.queues.len() as u32;
        let position = self.add_child(below, weight, false, number);
        self.queues.push(position);
        number
    }

    /// The next queues that are added belong to these queues of the discipline.
    pub(crate) fn list(&mut self, queues: impl Iterator<Item = u32>) {
        self.classes.list(queues);
    }

    /// Gives a queue a separate AQM.
    pub(crate) fn set_aqm(&mut self, queue: u32, aqm: Box<dyn Aqm>) {
        self.classes.set_aqm(queue, aqm);
    }

    /// AQMs that come later have a timer of this interval.
    pub(crate) fn expect_timer(&mut self, interval: Option<Span>) {
        self.classes.expect_timer(interval);
    }

    fn add_child(&mut self, below: u32, weight: f64, is_server: bool, number: u32) -> Position {
        let server = &mut self.servers[below as usize];
        let unit = 1.0 / weight;
        server.weight += weight;
        server.share = 1.0 / server.weight;
        server.children.push(Child {
            start: 0.0,
            finish: 0.0,
            unit,
            backlog: 0,
            size: 0,
            is_server,
            number,
        });
        Position { server: below, child: server.children.len() as u32 - 1 }
    }

    /// Queues.
    pub(crate) fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Bytes of the tree itself, without packets.
    pub(crate) fn state_bytes(&self) -> usize {
        let children: usize = self.servers.iter().map(|server| server.children.len()).sum();
        self.servers.len() * size_of::<Server>()
            // Each child with its ranks among the eligible and the waiting.
            + children * (size_of::<Child>() + 2 * size_of::<u64>())
            + self.queues.len() * size_of::<Position>()
            + self.classes.state_bytes()
    }

    /// Counts what has come to a queue, or has left it, up to the link.
    #[inline(always)]
    fn count<const ADD: bool>(&mut self, queue: u32, size: u16) {
        if self.limit == Limit::NONE {
            return;
        }
        let amount = match self.measure {
            Measure::Bytes => u64::from(size),
            Measure::Packets => 1,
        };
        let mut position = self.queues[queue as usize];
        while position.server != NONE {
            let server = &mut self.servers[position.server as usize];
            let child = &mut server.children[position.child as usize];
            if ADD {
                child.backlog += amount;
                if let Some(length) = child.length() {
                    server.longest.grown(position.child, length);
                }
            } else {
                child.backlog -= amount;
            }
            position = server.parent;
        }
    }

    /// A packet arrives for a queue.
    #[inline]
    pub(crate) fn enqueue(&mut self, queue: u32, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let was_idle = self.classes.packets(queue) == 0 && self.in_service != queue;
        let size = packet.size;
        let Some(slot) = self.classes.offer(queue, packet, 0.0, ctx) else { return };
        self.count::<true>(queue, size);
        if was_idle {
            self.wake(queue, size);
        }
        if self.over() {
            self.make_room(slot, ctx);
        }
    }

    /// An idle queue has got a packet of `size` bytes: servers that had none choose it.
    #[inline(always)]
    fn wake(&mut self, queue: u32, mut size: u16) {
        let mut position = self.queues[queue as usize];
        while position.server != NONE {
            let server = &mut self.servers[position.server as usize];
            if server.period != self.period {
                // All claims of the busy period before are gone.
                server.period = self.period;
                server.v = greater(server.v, server.latest);
            }
            let start = greater(server.children[position.child as usize].finish, server.v);
            server.set_head(position.child, size, start);
            if server.active != NONE {
                return;
            }
            match server.choose() {
                Some(chosen_size) => size = chosen_size,
                None => return,
            }
            position = server.parent;
        }
    }

    /// The transmission of the packet in service has ended: the servers on its way choose anew.
    #[inline(always)]
    fn complete(&mut self) {
        if self.in_service == NONE {
            return;
        }
        let queue = std::mem::replace(&mut self.in_service, NONE);
        let mut size = self.classes.head(queue).map(|head| head.size);
        let mut position = self.queues[queue as usize];
        while position.server != NONE {
            let server = &mut self.servers[position.server as usize];
            server.go_on(position.child, size);
            size = server.choose();
            position = server.parent;
        }
    }

    /// The queue of the link's head.
    #[inline(always)]
    fn chosen_queue(&self) -> Option<u32> {
        let mut server = &self.servers[0];
        loop {
            let child = server.children.get(server.active as usize)?;
            if !child.is_server {
                return Some(child.number);
            }
            server = &self.servers[child.number as usize];
        }
    }

    /// The next packet to send; the one sent before has left.
    #[inline]
    pub(crate) fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        self.complete();
        while let Some(queue) = self.chosen_queue() {
            let size = self.classes.head(queue)?.size;
            self.count::<false>(queue, size);
            if !self.classes.managed() {
                self.in_service = queue;
                // Last, so that the packet goes straight to where it is wanted.
                return self.classes.serve(queue, ctx);
            }
            let served = self.classes.serve(queue, ctx);
            if served.is_some() {
                self.in_service = queue;
            } else {
                self.head_dropped(queue);
            }
            if self.classes.packets(queue) == 0 {
                self.classes.idle(queue, ctx.now);
            }
            if served.is_some() {
                return served;
            }
        }
        // The link is idle: a busy period has ended.
        self.period = self.period.wrapping_add(1);
        None
    }

    /// The first packet of a queue was dropped, which gives its service back.
    fn head_dropped(&mut self, queue: u32) {
        let mut size = self.classes.head(queue).map(|head| head.size);
        let mut position = self.queues[queue as usize];
        while position.server != NONE {
            let server = &mut self.servers[position.server as usize];
            server.replace_head(position.child, size);
            if server.active != position.child {
                return;
            }
            server.v = server.v_before;
            size = server.choose();
            position = server.parent;
        }
    }

    #[inline(always)]
    fn over(&self) -> bool {
        self.classes.total() as u64 > u64::from(self.limit.packets)
            || self.classes.backlog().0 > self.limit.bytes
    }

    /// The queue that loses a packet: from the link down, the child that is longest beside its weight.
    fn longest(&mut self) -> u32 {
        let mut server = &mut self.servers[0];
        loop {
            let Server { longest, children, .. } = server;
            let length = |child_index: u32| children[child_index as usize].length();
            let (_, child_index) = longest
                .find(children.len() as u32, length)
                .expect("invariant: an exceeded buffer is not empty");
            let child = children[child_index as usize];
            if !child.is_server {
                return child.number;
            }
            server = &mut self.servers[child.number as usize];
        }
    }

    /// Drops packets while the buffer is exceeded; `arrived` is the place of the packet to blame.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, arrived: u32, ctx: &mut QdiscCtx<'_>) {
        while self.over() {
            let queue = self.longest();
            let size = self.classes.push_out(queue, self.victim, arrived, ctx);
            self.count::<false>(queue, size);
            let is_empty = self.classes.packets(queue) == 0;
            if self.in_service != queue && (is_empty || self.victim == Victim::Head) {
                self.head_dropped(queue);
            }
            if is_empty {
                self.classes.idle(queue, ctx.now);
            }
        }
    }

    /// Packets in all queues.
    pub(crate) fn total(&self) -> usize {
        self.classes.total()
    }

    /// Bytes in all queues.
    pub(crate) fn backlog(&self) -> Bytes {
        self.classes.backlog()
    }

    /// Interval of the AQMs' timer.
    pub(crate) fn timer_interval(&self) -> Option<Span> {
        self.classes.timer_interval()
    }

    /// The AQMs' timer.
    pub(crate) fn on_timer(&mut self, now: Time) {
        self.classes.on_timer(now);
    }

    /// The link's rate changed.
    pub(crate) fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.classes.on_rate(now, rate);
    }

    /// Length of the longest queue, 0 if nothing waits.
    pub(crate) fn greatest_length(&self) -> u64 {
        self.classes.greatest_length()
    }
}
