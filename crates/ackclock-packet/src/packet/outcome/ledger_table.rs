//! The table `ledger`: what became of every byte that a link sent, and who held the buffer that made it vain.
//!
//! It is computed from the rows of `packets`, as `queues` is, so a run that does not record it does not pay for it.
//!
//! **Rule** (a transmission: a packet whose departure from a link is recorded)
//! ```text
//! useful      the packet reached its destination: an acknowledgement, a datagram, a request, or the first
//!             copy of a data segment
//! duplicate   it reached its destination after another copy of its segment
//! lost        it was dropped at a later link, or lost on this wire or a later one; of a packet that was trimmed at a
//!             later link what was cut off, while its header is followed apart
//! under-way   neither had happened by the end of the run
//! holder      of lost bytes: the flows whose packets waited in the queue that dropped the packet, each in
//!             proportion to its bytes there, rounded to whole bytes by largest remainder
//! ```
//! At each link the bytes of all rows are the bytes whose transmission began. Bytes lost for a reason that is no
//! buffer's (random loss, a wire, a policer, an MTU), or at a queue in which nothing else waits, have no holder. What
//! has left its last link is as good as arrived.
//!
//! Rows of `packets` do not name packets. Copies of one packet number that wait in one queue, or are on one wire, have
//! come the same way and can change places without effect; a copy made on a wire has no history before it.

use std::collections::BTreeMap;

use crate::compile::Plan;
use crate::ids::LinkId;
use crate::record::{Event, PacketRow};
use crate::wire::{DropReason, Flags};

/// What became of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It carried a packet that its destination needed.
    Useful,
    /// It carried a segment that its destination had already.
    Duplicate,
    /// Its packet was lost later.
    Lost,
    /// Its packet was under way at the end.
    UnderWay,
}

impl Fate {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Useful => "useful",
            Self::Duplicate => "duplicate",
            Self::Lost => "lost",
            Self::UnderWay => "under-way",
        }
    }
}

/// A row of the `ledger` table without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LedgerKey {
    /// Index of the link that sent the bytes.
    pub link: u32,
    /// Index of the flow whose packets they were.
    pub flow: u32,
    /// Whether they were acknowledgements.
    pub is_ack: bool,
    /// What became of them.
    pub fate: Fate,
    /// Index of the link that lost them, if they were lost.
    pub lost_at: Option<u32>,
    /// Index of the flow whose packets held the buffer there.
    pub holder: Option<u32>,
}

/// Rows of the `ledger` table in order, with their bytes.
pub type LedgerRows = BTreeMap<LedgerKey, u64>;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// The hops that have sent it: `first..sent`.
    first: u32,
    sent: u32,
    /// Whether it waits at hop `sent`; else it is on the wire to it.
    waits: bool,
    size: u16,
    segment: u32,
    /// Its payload was cut off.
    is_trimmed: bool,
}

/// Flow, header bits that distinguish kinds of packets, number.
type Id = (u32, u16, u32);

/// Keeps the ledger of a run from its packet rows in order of time.
#[derive(Debug)]
pub struct LedgerCount<'a> {
    plan: &'a Plan,
    copies: BTreeMap<Id, Vec<Copy>>,
    /// By link, bytes waiting of each flow.
    waiting: Vec<BTreeMap<u32, u64>>,
    /// By flow, the data segments that have arrived, a bit each.
    arrived: Vec<Vec<u64>>,
    rows: LedgerRows,
}

impl<'a> LedgerCount<'a> {
    /// Of a run that has not begun. The plan has no multicast groups.
    pub fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            copies: BTreeMap::new(),
            waiting: vec![BTreeMap::new(); plan.links.len()],
            arrived: vec![Vec::new(); plan.flows.len()],
            rows: BTreeMap::new(),
        }
    }

    /// Enters more rows, none of which is earlier than any before.
    pub fn count(&mut self, rows: &[PacketRow]) {
        for row in rows {
            match row.event {
                Event::Arrival => self.enter_arrival(row),
                Event::Departure => self.enter_departure(row),
                Event::Drop | Event::Loss => self.enter_loss(row),
                Event::Trim => self.enter_trim(row),
            }
        }
    }

    /// The rows at the end of the run.
    pub fn finish(mut self) -> LedgerRows {
        for (id, copies) in std::mem::take(&mut self.copies) {
            for copy in copies {
                let is_over = !copy.waits && copy.sent as usize == self.route(id).len();
                let fate = if is_over { self.deliver(id, copy) } else { Fate::UnderWay };
                self.book(id, copy, fate, None, &[(None, u64::from(copy.size))]);
            }
        }
        self.rows
    }

    fn enter_arrival(&mut self, row: &PacketRow) {
        let id = id_of(row);
        *self.waiting[row.link as usize].entry(row.flow).or_default() += u64::from(row.size);
        let hop = self.hop(id, row.link);
        let segment = row.segment;
        let copies = self.copies.entry(id).or_default();
        let on_wire = |copy: &&mut Copy| !copy.waits && copy.sent == hop && hop > 0;
        if let Some(copy) = copies.iter_mut().find(on_wire) {
            copy.waits = true;
        } else {
            let (size, is_trimmed) =
                (row.size, row.flags & Flags::TRIMMED.0 != 0 && row.flags & Flags::ACK.0 == 0);
            copies.push(Copy { first: hop, sent: hop, waits: true, size, segment, is_trimmed });
        }
    }

    fn enter_departure(&mut self, row: &PacketRow) {
        let id = id_of(row);
        self.leave_queue(row);
        let hop = self.hop(id, row.link);
        let index = self.find(id, true, hop);
        if let Some(copy) = self.copies.get_mut(&id).and_then(|copies| copies.get_mut(index)) {
            (copy.waits, copy.sent) = (false, hop + 1);
        }
        // An impaired wire may still lose it.
        let is_sure = !self.plan.links[row.link as usize].settings.is_impaired();
        if is_sure && hop as usize + 1 == self.route(id).len() {
            let copy = self.take(id, index);
            let fate = self.deliver(id, copy);
            self.book(id, copy, fate, None, &[(None, u64::from(copy.size))]);
        }
    }

    fn enter_loss(&mut self, row: &PacketRow) {
        let id = id_of(row);
        let waits = row.event == Event::Drop;
        if waits {
            self.leave_queue(row);
        }
        let hop = self.hop(id, row.link) + u32::from(!waits);
        let copy = self.take(id, self.find(id, waits, hop));
        let size = u64::from(copy.size);
        let shares_of_buffer = if row.reason.is_some_and(is_of_buffer) {
            apportion(size, &self.waiting[row.link as usize])
        } else {
            Vec::new()
        };
        let shares =
            if shares_of_buffer.is_empty() { vec![(None, size)] } else { shares_of_buffer };
        self.book(id, copy, Fate::Lost, Some(row.link), &shares);
    }

    /// What was cut off is lost to those that have sent it; the header goes on.
    fn enter_trim(&mut self, row: &PacketRow) {
        let id = id_of(row);
        self.leave_queue(row);
        let index = self.find(id, true, self.hop(id, row.link));
        let Some(copy) = self.copies.get_mut(&id).and_then(|copies| copies.get_mut(index)) else {
            return;
        };
        copy.size -= row.size;
        copy.is_trimmed = true;
        let payload = Copy { size: row.size, ..*copy };
        let shares = apportion(u64::from(row.size), &self.waiting[row.link as usize]);
        let shares = if shares.is_empty() { vec![(None, u64::from(row.size))] } else { shares };
        self.book(id, payload, Fate::Lost, Some(row.link), &shares);
    }

    fn leave_queue(&mut self, row: &PacketRow) {
        let waiting = &mut self.waiting[row.link as usize];
        let left = waiting.get(&row.flow).map_or(0, |bytes| bytes - u64::from(row.size));
        if left == 0 {
            waiting.remove(&row.flow);
        } else {
            waiting.insert(row.flow, left);
        }
    }

    /// Finds the oldest copy of a packet that waits at a hop, or is on the wire to it.
    fn find(&self, id: Id, waits: bool, hop: u32) -> usize {
        let is_there = |copy: &Copy| copy.waits == waits && copy.sent == hop;
        let index = self.copies.get(&id).and_then(|copies| copies.iter().position(is_there));
        index.unwrap_or_else(|| panic!("packet {id:?} is not at hop {hop}, waits: {waits}"))
    }

    /// Removes a copy of a packet.
    fn take(&mut self, id: Id, index: usize) -> Copy {
        let copies = self.copies.entry(id).or_default();
        let copy = copies.remove(index);
        if copies.is_empty() {
            self.copies.remove(&id);
        }
        copy
    }

    /// A copy arrives at its destination.
    fn deliver(&mut self, (flow, kind, _): Id, copy: Copy) -> Fate {
        // A header brings the news of what was cut off.
        if kind & (Flags::ACK.0 | Flags::SYN.0) != 0 || copy.is_trimmed {
            return Fate::Useful;
        }
        let arrived = &mut self.arrived[flow as usize];
        let (word, bit) = (copy.segment as usize / 64, 1 << (copy.segment % 64));
        if arrived.len() <= word {
            arrived.resize(word + 1, 0);
        }
        let fate = if arrived[word] & bit == 0 { Fate::Useful } else { Fate::Duplicate };
        arrived[word] |= bit;
        fate
    }

    /// Books a copy at every link that has sent it.
    fn book(
        &mut self,
        id: Id,
        copy: Copy,
        fate: Fate,
        lost_at: Option<u32>,
        shares: &[(Option<u32>, u64)],
    ) {
        let (flow, is_ack) = (id.0, id.1 & Flags::ACK.0 != 0);
        for hop in copy.first..copy.sent {
            let link = self.route(id)[hop as usize].0;
            for &(holder, bytes) in shares {
                let key = LedgerKey { link, flow, is_ack, fate, lost_at, holder };
                *self.rows.entry(key).or_default() += bytes;
            }
        }
    }

    fn route(&self, (flow, kind, _): Id) -> &'a [LinkId] {
        let flow = &self.plan.flows[flow as usize];
        if kind & Flags::ACK.0 == 0 { &flow.route } else { &flow.ack_route }
    }

    /// The place of a link on a packet's route, which passes each link once.
    fn hop(&self, id: Id, link: u32) -> u32 {
        let hop = self.route(id).iter().position(|on| on.0 == link);
        hop.unwrap_or_else(|| panic!("flow {} is not routed over link {link}", id.0)) as u32
    }
}

fn id_of(row: &PacketRow) -> Id {
    (row.flow, row.flags & (Flags::ACK.0 | Flags::SYN.0), row.seq)
}

/// Whether a packet was dropped because of those that wait.
fn is_of_buffer(reason: DropReason) -> bool {
    use DropReason::{
        Down, Early, Forced, Listed, Overflow, Policed, PushedOut, Random, Thinned, TooBig,
        Trimmed, Unmarkable, Wire,
    };
    match reason {
        Overflow | PushedOut | Early | Forced | Unmarkable | Trimmed => true,
        Random | Listed | TooBig | Wire | Thinned | Policed | Down => false,
    }
}

/// Divides `size` bytes among the flows that wait, in proportion to their bytes, by largest remainder; of equal
/// remainders the flow of the lower number is first.
fn apportion(size: u64, waiting: &BTreeMap<u32, u64>) -> Vec<(Option<u32>, u64)> {
    let all: u64 = waiting.values().sum();
    if all == 0 {
        return Vec::new();
    }
    let product = |bytes: u64| u128::from(size) * u128::from(bytes);
    let quotient = |bytes| (product(bytes) / u128::from(all)) as u64;
    let mut shares: Vec<_> =
        waiting.iter().map(|(&f, &bytes)| (Some(f), quotient(bytes))).collect();
    let left = size - shares.iter().map(|share| share.1).sum::<u64>();
    let mut order: Vec<usize> = (0..shares.len()).collect();
    let rests: Vec<u128> =
        waiting.values().map(|&bytes| product(bytes) % u128::from(all)).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(rests[i]));
    for &i in order.iter().take(left as usize) {
        shares[i].1 += 1;
    }
    shares.retain(|share| share.1 > 0);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 bytes over 1, 1 and 1: 33 each, and the one left to the first; over 5 and 2: 71.43 and 28.57.
    #[test]
    fn shares_are_whole_bytes_and_add_up() {
        let waiting = |bytes_waiting: &[u64]| {
            bytes_waiting.iter().enumerate().map(|(i, &b)| (i as u32, b)).collect()
        };
        let shares = |bytes_waiting: &[u64]| -> Vec<u64> {
            apportion(100, &waiting(bytes_waiting)).into_iter().map(|share| share.1).collect()
        };
        assert_eq!(shares(&[1, 1, 1]), [34, 33, 33]);
        assert_eq!(shares(&[5, 2]), [71, 29]);
        assert!(shares(&[]).is_empty());
    }
}
