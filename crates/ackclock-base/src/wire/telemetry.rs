//! What switches note of packets, for controls that read it (in-band network telemetry, INT).
//!
//! The source of HPCC (SIGCOMM 2019) carries the records in packets and returns them in acknowledgements. Here they are kept
//! by flow and segment until the sender reads them, so packets of other flows carry nothing.

use crate::ids::{FlowId, LinkId};
use crate::units::{BitRate, Time};

/// What a port notes when a packet leaves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortRecord {
    /// The link that the port feeds.
    pub link: LinkId,
    /// When its transmission begins.
    pub at: Time,
    /// Bytes that the port has sent before it.
    pub sent: u64,
    /// Bytes that wait behind it.
    pub queued: u64,
    /// Rate of the port.
    pub rate: BitRate,
}

impl PortRecord {
    /// Of a port that notes nothing: at time 0, so that none is later than another.
    const NONE: Self =
        Self { link: LinkId(0), at: Time::ZERO, sent: 0, queued: 0, rate: BitRate(0) };
}

/// Packets of a flow, at most, whose records are kept: of more, evenly spaced ones are.
const MOST: usize = 256;

/// The records of one flow: those of the last packet of each place.
#[derive(Clone, Debug)]
struct Ring {
    /// Every so many packets one is recorded.
    stride: u32,
    /// Ports on the longest path.
    ports: usize,
    /// By place, the number of its packet plus 1; 0: none yet.
    numbers: Vec<u64>,
    /// By place, how many ports its packet has passed.
    counts: Vec<u32>,
    /// By place and port.
    records: Vec<PortRecord>,
}

impl Ring {
    /// The place of a packet that is recorded.
    fn place(&self, number: u32) -> Option<usize> {
        let is_recorded = number.is_multiple_of(self.stride);
        is_recorded.then(|| (number / self.stride) as usize & (self.numbers.len() - 1))
    }
}

/// The records of all flows that read them.
#[derive(Clone, Debug, Default)]
pub struct PathRecords {
    /// By flow.
    rings: Vec<Option<Box<Ring>>>,
}

/// Those of no flow.
pub static NO_RECORDS: PathRecords = PathRecords { rings: Vec::new() };

impl PathRecords {
    /// Room for the records of a flow's last `packets`, at so many ports at most; of more than 256 packets, of every second, third, ...
    pub fn add(&mut self, flow: FlowId, packets: u32, ports: usize) {
        let places = (packets.max(1) as usize).min(MOST).next_power_of_two();
        let stride = packets.div_ceil(places as u32).max(1);
        if self.rings.len() <= flow.index() {
            self.rings.resize(flow.index() + 1, None);
        }
        let records = vec![PortRecord::NONE; places * ports];
        self.rings[flow.index()] = Some(Box::new(Ring {
            stride,
            ports,
            numbers: vec![0; places],
            counts: vec![0; places],
            records,
        }));
    }

    /// Whether any flow reads records.
    #[inline]
    pub fn is_used(&self) -> bool {
        !self.rings.is_empty()
    }

    /// Notes what the port, by its number on the path, says of a packet.
    pub fn note(&mut self, flow: FlowId, number: u32, port: usize, record: PortRecord) {
        let Some(Some(ring)) = self.rings.get_mut(flow.index()) else { return };
        let Some(place) = ring.place(number) else { return };
        if port < ring.ports {
            ring.numbers[place] = u64::from(number) + 1;
            ring.counts[place] = port as u32 + 1;
            ring.records[place * ring.ports + port] = record;
        }
    }

    /// The records of the newest packet from `first` to `last` that has some, at least one, first port first; `None` if there
    /// is no such packet, or another has its place.
    pub fn newest(&self, flow: FlowId, first: u32, last: u32) -> Option<&[PortRecord]> {
        let ring = self.rings.get(flow.index())?.as_ref()?;
        let number = last - last % ring.stride;
        let place = ring.place(number)?;
        let is_recorded = number >= first && ring.numbers[place] == u64::from(number) + 1;
        let records = &ring.records[place * ring.ports..][..ring.counts[place] as usize];
        is_recorded.then_some(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(sent: u64) -> PortRecord {
        PortRecord { sent, ..PortRecord::NONE }
    }

    #[test]
    fn a_packet_has_its_records_until_another_takes_their_place() {
        let mut records = PathRecords::default();
        assert!(!records.is_used());
        records.add(FlowId(2), 3, 2);
        for number in 0..4 {
            for port in 0..2 {
                let sent = 10 * u64::from(number) + port as u64;
                records.note(FlowId(2), number, port, record(sent));
            }
        }
        assert_eq!(records.newest(FlowId(2), 0, 1), Some(&[record(10), record(11)][..]));
        records.note(FlowId(2), 5, 0, record(50));
        assert_eq!(records.newest(FlowId(2), 0, 1), None);
        assert_eq!(records.newest(FlowId(2), 0, 5), Some(&[record(50)][..]));
        // Sent again over a shorter path.
        records.note(FlowId(2), 4, 0, record(40));
        records.note(FlowId(2), 4, 1, record(41));
        records.note(FlowId(2), 4, 0, record(42));
        assert_eq!(records.newest(FlowId(2), 0, 4), Some(&[record(42)][..]));
        // Of 1000 packets every fourth is recorded.
        records.add(FlowId(3), 1000, 1);
        for number in 0..1000 {
            records.note(FlowId(3), number, 0, record(u64::from(number)));
        }
        let is_recorded = |&number: &u32| records.newest(FlowId(3), number, number).is_some();
        assert!((0..1000).filter(is_recorded).eq((0..1000).step_by(4)));
        // An acknowledgement of 990 and 991 reads that of 988, unless its block begins later.
        assert_eq!(records.newest(FlowId(3), 0, 991), Some(&[record(988)][..]));
        assert_eq!(records.newest(FlowId(3), 988, 988), Some(&[record(988)][..]));
        assert_eq!(records.newest(FlowId(3), 989, 991), None);
        // Flows without records.
        records.note(FlowId(0), 1, 0, record(1));
        assert_eq!(records.newest(FlowId(0), 0, 1), None);
        assert_eq!(records.newest(FlowId(7), 0, 1), None);
    }
}
