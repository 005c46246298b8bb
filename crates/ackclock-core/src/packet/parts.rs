//! Puts packets that go on in one go into an order in which they meet memory that is near.
//!
//! In order of time each of them is of another flow, and in a network larger than the caches every link
//! and channel that it comes to has to be fetched from far away. Nothing but these packets reaches the
//! links that they go on to, so links do not know of each other: only the order of packets of one link
//! matters. Put into parts by the numbers of these links, packets touch memory nearly as it lies.

use super::sim::Hop;
use super::ticket::Ticket;
use crate::memory::soon;

/// Links of a part, as a power of two.
const LINKS: u32 = if cfg!(test) { 1 } else { 7 };

/// With fewer packets a part it does not pay.
const FEW: usize = if cfg!(test) { 1 } else { 8 };

/// Packets between one that is looked at and the one whose step is called up.
const AHEAD: usize = 16;

/// Memory for it.
#[derive(Debug, Default)]
pub(super) struct Parts {
    ends: Vec<u32>,
    /// By packet.
    part: Vec<u32>,
    tickets: Vec<Ticket>,
}

impl Parts {
    /// Puts packets, each about to enter one of so many links, into parts. Those of one part keep their
    /// order.
    pub(super) fn sort(&mut self, tickets: &mut Vec<Ticket>, hops: &[Hop], links: usize) {
        let parts = (links >> LINKS) + 1;
        if tickets.len() < parts * FEW {
            return;
        }
        let Self { ends, part, tickets: sorted } = self;
        ends.clear();
        ends.resize(parts, 0);
        part.clear();
        for (place, ticket) in tickets.iter().enumerate() {
            tickets.get(place + AHEAD).inspect(|next| soon(&hops[next.route()]));
            let of = hops[ticket.route()].link >> LINKS;
            ends[of as usize] += 1;
            part.push(of);
        }
        let mut begin = 0;
        for end in &mut *ends {
            begin += std::mem::replace(end, begin);
        }
        sorted.resize(tickets.len(), Ticket::default());
        for (&ticket, &of) in tickets.iter().zip(&*part) {
            let place = &mut ends[of as usize];
            sorted[*place as usize] = ticket;
            *place += 1;
        }
        std::mem::swap(tickets, sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_lost_and_packets_of_a_link_keep_their_order(
            links in prop::collection::vec(0u32..20, 40),
            routes in prop::collection::vec(0u64..40, 0..200),
        ) {
            let hops: Vec<Hop> = links.iter().map(|&link| Hop { link, channel: 0 }).collect();
            let link = |ticket: &Ticket| hops[ticket.route()].link;
            let mut tickets: Vec<Ticket> = routes
                .iter()
                .enumerate()
                .map(|(at, &route)| Ticket::from_parts(at as u64, route, 0))
                .collect();
            let is_worth_it = tickets.len() >= 11 * FEW;
            Parts::default().sort(&mut tickets, &hops, 20);
            if is_worth_it {
                prop_assert!(tickets.is_sorted_by_key(|ticket| link(ticket) >> LINKS));
            }
            for l in 0..20 {
                let of_link = tickets.iter().filter(|ticket| link(ticket) == l);
                prop_assert!(of_link.is_sorted_by_key(|ticket| ticket.at));
            }
            prop_assert!(tickets.iter().all(|t| routes[t.at as usize] == t.route() as u64));
            let mut times: Vec<u64> = tickets.iter().map(|ticket| ticket.at).collect();
            times.sort_unstable();
            prop_assert!(times.into_iter().eq(0..routes.len() as u64));
        }
    }
}
