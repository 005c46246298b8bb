//! The table `queues`: the packets that wait at each link, after each time at which their number changes.
//!
//! It is computed from the rows of `packets` after the run, so the engine records one table only.

use crate::packet::outcome::rows::{Event, PacketRow};
use crate::units::Time;

/// A row of the `queues` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// Packets waiting, without the one being transmitted.
    pub packets: u32,
    /// Bytes waiting, likewise.
    pub bytes: u64,
}

/// Counts the queues of `links` links from packet rows in order of time. All events at one link at one
/// time make one row.
pub fn queues(rows: &[PacketRow], links: usize) -> Vec<QueueRow> {
    let mut now = vec![(0u32, 0u64); links];
    let mut reported = now.clone();
    let mut out = Vec::new();
    for moment in rows.chunk_by(|a, b| a.at == b.at) {
        for row in moment {
            let (packets, bytes) = &mut now[row.link as usize];
            let size = u64::from(row.size);
            // A packet that is dropped has arrived before, so it leaves like any other.
            match row.event {
                Event::Arrival => (*packets, *bytes) = (*packets + 1, *bytes + size),
                Event::Departure | Event::Drop => {
                    (*packets, *bytes) = (*packets - 1, *bytes - size);
                }
                // It has departed before.
                Event::Loss => {}
            }
        }
        for row in moment {
            let link = row.link as usize;
            if reported[link] != now[link] {
                reported[link] = now[link];
                let (packets, bytes) = now[link];
                out.push(QueueRow { at: row.at, link: row.link, packets, bytes });
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at: u64, link: u32, event: Event, size: u16) -> PacketRow {
        PacketRow {
            at: Time(at),
            link,
            event,
            flow: 0,
            seq: 0,
            flags: 0,
            size,
            sack_count: 0,
            sack: [(0, 0); 3],
        }
    }

    /// Worked by hand: one packet goes straight through, two wait, one of three is refused.
    #[test]
    fn a_queue_is_counted_from_its_packets() {
        use Event::{Arrival, Departure, Drop};
        let rows = [
            row(1, 0, Arrival, 100),
            row(1, 0, Departure, 100),
            row(2, 0, Arrival, 100),
            row(2, 1, Arrival, 7),
            row(3, 0, Arrival, 50),
            row(3, 0, Drop, 50),
            row(4, 0, Arrival, 60),
            row(9, 0, Departure, 100),
        ];
        let seen: Vec<_> =
            queues(&rows, 2).iter().map(|r| (r.at.0, r.link, r.packets, r.bytes)).collect();
        assert_eq!(seen, [(2, 0, 1, 100), (2, 1, 1, 7), (4, 0, 2, 160), (9, 0, 1, 60)]);
    }
}
