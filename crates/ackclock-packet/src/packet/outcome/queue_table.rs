//! The table `queues`: the packets that wait at each link, after each time at which their number changes.
//!
//! It is computed from the rows of `packets` after the run, so the engine records one table only.

use crate::record::{Event, PacketRow};
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

/// Counts queues from packet rows in order of time.
#[derive(Debug)]
pub struct QueueCount {
    /// By link, packets and bytes.
    now: Vec<(u32, u64)>,
    reported: Vec<(u32, u64)>,
}

impl QueueCount {
    /// Of so many links, which are empty.
    pub fn new(links: usize) -> Self {
        Self { now: vec![(0, 0); links], reported: vec![(0, 0); links] }
    }

    /// The queues after more rows, which begin at a later time than any before. All events at one link at one time
    /// make one row.
    pub fn count(&mut self, rows: &[PacketRow]) -> Vec<QueueRow> {
        let Self { now, reported } = self;
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
                    // The header stays.
                    Event::Trim => *bytes -= size,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(time: u64, link: u32, event: Event, size: u16) -> PacketRow {
        PacketRow {
            at: Time(time),
            link,
            event,
            flow: 0,
            seq: 0,
            segment: 0,
            flags: 0,
            size,
            reason: None,
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
        let columns = |rows: &[QueueRow]| -> Vec<_> {
            rows.iter().map(|r| (r.at.0, r.link, r.packets, r.bytes)).collect()
        };
        let expected = [(2, 0, 1, 100), (2, 1, 1, 7), (4, 0, 2, 160), (9, 0, 1, 60)];
        assert_eq!(columns(&QueueCount::new(2).count(&rows)), expected);
        let mut count = QueueCount::new(2);
        let in_pieces = [&rows[..4], &rows[4..6], &rows[6..]].map(|rows| count.count(rows));
        assert_eq!(columns(&in_pieces.concat()), expected);
    }
}
