//! Queues of flows served by DRR++: deficit round robin that serves new queues first, an AQM on each.
//!
//! **Source**: RFC 8290, sections 4 and 5, of which FQ-CoDel and FQ-PIE are made.

use crate::qdisc::aqm::Prototype;
use crate::qdisc::fair::classes::{Classes, Measure, Victim, bucket};
use crate::qdisc::links::{Chain, Links};
use crate::qdisc::{Limit, QdiscCtx, State};
use crate::units::{Bytes, Span, Time};
use crate::wire::{Packet, Timed};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum List {
    #[default]
    Off,
    New,
    Old,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    credit: i64,
    list: List,
}

/// How queues are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Number of queues, at least 1.
    pub(crate) queues: u32,
    /// Bytes that a queue may send in a turn.
    pub(crate) quantum: Bytes,
    /// Most packets dropped at once when the buffer is exceeded.
    pub(crate) drop_batch: u32,
    /// Selects the hash function.
    pub(crate) salt: u32,
}

/// The queues, their order, their AQMs.
pub(crate) struct FlowQueues {
    classes: Classes,
    accounts: Vec<Account>,
    links: Links,
    new_queues: Chain,
    old_queues: Chain,
    quantum: i64,
    drop_batch: u32,
    salt: u32,
}

impl FlowQueues {
    /// Empty queues in a buffer of `limit`, with an AQM each.
    pub(crate) fn new(settings: Settings, limit: Limit, aqm: Box<dyn Prototype>) -> Self {
        let mut links = Links::default();
        links.reserve(settings.queues as usize);
        Self {
            classes: Classes::new(limit, Measure::Bytes, Some(aqm)),
            accounts: vec![Account::default(); settings.queues as usize],
            links,
            new_queues: Chain::default(),
            old_queues: Chain::default(),
            quantum: i64::try_from(settings.quantum.0).unwrap_or(i64::MAX),
            drop_batch: settings.drop_batch,
            salt: settings.salt,
        }
    }

    /// Takes a queue, the first of its list, off that list and puts it at the end of the old one.
    fn retire(&mut self, queue: u32) {
        self.unlist(queue);
        self.links.push_back(&mut self.old_queues, queue);
        self.accounts[queue as usize].list = List::Old;
    }

    fn unlist(&mut self, queue: u32) {
        match std::mem::take(&mut self.accounts[queue as usize].list) {
            List::New => self.links.remove(&mut self.new_queues, queue),
            List::Old => self.links.remove(&mut self.old_queues, queue),
            List::Off => {}
        }
    }

    /// An arrival; the fattest queue loses packets from its head if the buffer is exceeded.
    #[inline(always)]
    pub(crate) fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let queue = bucket(ctx.key(&packet), self.salt, self.accounts.len() as u32);
        let Some(slot) = self.classes.offer(queue, packet, 0.0, ctx) else { return };
        let account = &mut self.accounts[queue as usize];
        if account.list == List::Off {
            *account = Account { credit: self.quantum, list: List::New };
            self.links.push_back(&mut self.new_queues, queue);
        }
        while self.classes.over() {
            let (_, fattest) =
                self.classes.longest().expect("invariant: an exceeded buffer is not empty");
            let batch = self.classes.packets(fattest).div_ceil(2).min(self.drop_batch);
            for _ in 0..batch {
                self.classes.push_out(fattest, Victim::Head, slot, ctx);
            }
        }
    }

    /// The next packet.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        loop {
            let queue = self.new_queues.head().or(self.old_queues.head())?;
            let account = &mut self.accounts[queue as usize];
            if account.credit <= 0 {
                account.credit += self.quantum;
                self.retire(queue);
                continue;
            }
            while self.classes.packets(queue) > 0 {
                if let Some(served) = self.classes.serve(queue, ctx) {
                    account.credit -= i64::from(served.packet.size);
                    return Some(served);
                }
            }
            self.classes.idle(queue, ctx.now);
            if account.list == List::New {
                self.retire(queue);
            } else {
                self.unlist(queue);
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

    /// What is kept besides packets.
    pub(crate) fn state(&self) -> State {
        let bytes = self.classes.state_bytes() + self.accounts.len() * size_of::<Account>();
        State { flows: 0, bytes: bytes as u64 }
    }

    /// Length of the longest queue; for recording.
    pub(crate) fn greatest_length(&self) -> u64 {
        self.classes.greatest_length()
    }
}
