//! What switches note of packets, for controls that read it (in-band network telemetry, INT).
//!
//! The source of HPCC (SIGCOMM 2019) carries the records in packets and returns them in acknowledgements. Here they are kept
//! by flow and segment until the sender reads them, so packets of other flows carry nothing.

use crate::ids::FlowId;
use crate::units::{BitRate, Time};

/// What a port notes when a packet leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortRecord {
    /// When its transmission begins.
    pub at: Time,
    /// Bytes that the port has sent before it.
    pub sent: u64,
    /// Bytes that wait behind it.
    pub queued: u64,
    /// Rate of the port.
    pub rate: BitRate,
}

/// Packets of a flow, at most, whose records are kept: of more, evenly spaced ones are.
const MOST: usize = 256;

/// The records of one flow: those of the last packet of each place.
#[derive(Clone, Debug)]
struct Ring {
    /// Every so many packets one is recorded.
    stride: u32,
    /// Ports on the path.
    ports: usize,
    /// By place, the number of its packet plus 1; 0: none yet.
    numbers: Vec<u64>,
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
    /// Room for the records of a flow's last `packets`, at so many ports; of more than 256 packets, of every second, third, ...
    pub fn add(&mut self, flow: FlowId, packets: u32, ports: usize) {
        let places = (packets.max(1) as usize).min(MOST).next_power_of_two();
        let stride = packets.div_ceil(places as u32).max(1);
        if self.rings.len() <= flow.index() {
            self.rings.resize(flow.index() + 1, None);
        }
        let records = vec![PortRecord::default(); places * ports];
        self.rings[flow.index()] =
            Some(Box::new(Ring { stride, ports, numbers: vec![0; places], records }));
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
        ring.numbers[place] = u64::from(number) + 1;
        if port < ring.ports {
            ring.records[place * ring.ports + port] = record;
        }
    }

    /// The records of a packet, first port first; none if another has their place.
    pub fn of(&self, flow: FlowId, number: u32) -> &[PortRecord] {
        let Some(Some(ring)) = self.rings.get(flow.index()) else { return &[] };
        let is_recorded = |place: &usize| ring.numbers[*place] == u64::from(number) + 1;
        let Some(place) = ring.place(number).filter(is_recorded) else { return &[] };
        &ring.records[place * ring.ports..][..ring.ports]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(sent: u64) -> PortRecord {
        PortRecord { sent, ..PortRecord::default() }
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
        assert_eq!(records.of(FlowId(2), 1), [record(10), record(11)]);
        records.note(FlowId(2), 5, 0, record(50));
        assert_eq!(records.of(FlowId(2), 1), []);
        assert_eq!(records.of(FlowId(2), 5)[0], record(50));
        // Of 1000 packets every fourth is recorded.
        records.add(FlowId(3), 1000, 1);
        for number in 0..1000 {
            records.note(FlowId(3), number, 0, record(u64::from(number)));
        }
        let recorded = (0..1000).filter(|&number| !records.of(FlowId(3), number).is_empty());
        assert!(recorded.eq((0..1000).step_by(4)));
        // Flows without records.
        records.note(FlowId(0), 1, 0, record(1));
        assert!(records.of(FlowId(0), 1).is_empty() && records.of(FlowId(7), 1).is_empty());
    }
}
