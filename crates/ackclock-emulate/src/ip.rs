//! What a link has to know of an IPv4 packet with TCP in it, and the mark that it may write.
//!
//! **Source**: RFC 791 section 3.1, RFC 9293 section 3.1 (headers), RFC 3168 section 5 (ECN field), RFC 1624 (update of a
//! checksum).

use ackclock_core::ids::FlowId;
use ackclock_core::wire::{Flags, Packet};

/// The port of flow 0 at its receiver; flow n has the n-th after it.
pub const FIRST_PORT: u16 = 10_000;

const TCP: u8 = 6;
const ECN: u8 = 0b11;
const ECT_1: u8 = 0b01;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// The headers of a TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Ports of source and destination.
    pub ports: [u16; 2],
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// Bits of the TCP header.
    pub bits: u8,
    /// ECN field of the IP header.
    pub ecn: u8,
    /// Bytes of the packet.
    pub size: u16,
    /// Bytes of payload.
    pub payload: u16,
}

fn word(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(offset..offset + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(offset..offset + 4)?.try_into().ok()?))
}

/// Reads the headers of a whole IPv4 packet with TCP; `None` if it is anything else.
pub fn read(bytes: &[u8]) -> Option<Headers> {
    let first = *bytes.first()?;
    let header = usize::from(first & 15) * 4;
    let size = word(bytes, 2)?;
    let is_tcp = first >> 4 == 4 && header >= 20 && *bytes.get(9)? == TCP;
    if !is_tcp || usize::from(size) != bytes.len() {
        return None;
    }
    let offset = usize::from(*bytes.get(header + 12)? >> 4) * 4;
    let payload = usize::from(size).checked_sub(header + offset)?;
    Some(Headers {
        ports: [word(bytes, header)?, word(bytes, header + 2)?],
        seq: long(bytes, header + 4)?,
        ack: long(bytes, header + 8)?,
        bits: *bytes.get(header + 13)?,
        ecn: *bytes.get(1)? & ECN,
        size,
        payload: payload as u16,
    })
}

/// Marks an IPv4 packet "congestion experienced" and mends the checksum of its header. A packet that is not capable of
/// ECN stays as it is.
pub fn mark(bytes: &mut [u8]) {
    let [first, tos, ..] = *bytes else { return };
    if tos & ECN == 0 || tos & ECN == ECN || bytes.len() < 20 {
        return;
    }
    let (old, new) = (u16::from_be_bytes([first, tos]), u16::from_be_bytes([first, tos | ECN]));
    let check = u16::from_be_bytes([bytes[10], bytes[11]]);
    // RFC 1624, equation 3: ~(~check + ~old + new) in one's complement.
    let mut sum = u32::from(!check) + u32::from(!old) + u32::from(new);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    bytes[1] = tos | ECN;
    bytes[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// Makes packets of the engine of the segments of one flow: bytes become segments.
#[derive(Clone, Debug)]
pub struct Numbering {
    flow: FlowId,
    mss: u64,
    /// Sequence number of its SYN.
    isn: u32,
    /// One past the highest byte sent, counted from 0 over all of the flow.
    highest: u64,
}

impl Numbering {
    /// For a flow of segments of `mss` bytes.
    pub fn new(flow: FlowId, mss: u32) -> Self {
        Self { flow, mss: u64::from(mss.max(1)), isn: 0, highest: 0 }
    }

    /// The number of a byte, counted from 0 over all of the flow, by its sequence number. It is near those sent last.
    fn byte(&self, seq: u32) -> u64 {
        let number = seq.wrapping_sub(self.isn).wrapping_sub(1);
        let from = number.wrapping_sub(self.highest as u32).cast_signed();
        self.highest.saturating_add_signed(i64::from(from))
    }

    /// The packet from the sender, or to it (`is_ack`).
    pub fn packet(&mut self, headers: &Headers, is_ack: bool) -> Packet {
        let mut flags = if is_ack { Flags::ACK } else { Flags::default() };
        let mut set = |bit: u8, flag: Flags| {
            if headers.bits & bit != 0 {
                flags.set(flag);
            }
        };
        set(SYN, Flags::SYN);
        set(ECE, Flags::ECE);
        set(CWR, Flags::CWR);
        let seq = if is_ack {
            let is_plain = headers.bits & (SYN | ACK) == ACK;
            if is_plain { self.byte(headers.ack).div_ceil(self.mss) } else { 0 }
        } else {
            set(FIN, Flags::FIN);
            if headers.bits & SYN != 0 {
                (self.isn, self.highest) = (headers.seq, 0);
            }
            let first = self.byte(headers.seq.wrapping_add(u32::from(headers.bits & SYN != 0)));
            let end = first + u64::from(headers.payload);
            if headers.payload > 0 && end <= self.highest {
                flags.set(Flags::RETX);
            }
            self.highest = self.highest.max(end);
            first / self.mss
        };
        if headers.ecn != 0 {
            flags.set(Flags::ECT);
            if headers.ecn == ECN {
                flags.set(Flags::CE);
            }
            if headers.ecn == ECT_1 && !is_ack {
                flags.set(Flags::ECT_1);
            }
        }
        Packet::new(self.flow, seq as u32, headers.size, flags)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The checksum of an IPv4 header, as its receiver verifies it: 0 if it is valid.
    fn residue(header: &[u8]) -> u16 {
        let mut sum: u32 =
            header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    fn segment(tos: u8, seq: u32, ack: u32, bits: u8, payload: usize) -> Vec<u8> {
        let size = 40 + payload;
        let mut bytes = vec![0; size];
        bytes[..2].copy_from_slice(&[0x45, tos]);
        bytes[2..4].copy_from_slice(&(size as u16).to_be_bytes());
        bytes[8..10].copy_from_slice(&[64, TCP]);
        bytes[12..20].copy_from_slice(&[10, 99, 0, 1, 10, 99, 0, 2]);
        let check = residue(&bytes[..20]);
        bytes[10..12].copy_from_slice(&check.to_be_bytes());
        bytes[20..24].copy_from_slice(&[0x80, 0x01, 0x27, 0x10]);
        bytes[24..28].copy_from_slice(&seq.to_be_bytes());
        bytes[28..32].copy_from_slice(&ack.to_be_bytes());
        bytes[32..34].copy_from_slice(&[0x50, bits]);
        bytes
    }

    /// With a checksum of 0 or 1 the sum of RFC 1624 carries twice: 0xffff + ~old + new is 0x1ffff, and that 0x10000.
    #[test]
    fn a_mark_that_carries_twice_leaves_a_valid_checksum() {
        for (tos, check) in [(2, 0), (1, 1)] {
            let mut bytes = segment(tos, 7, 9, ACK, 100);
            let before = u16::from_be_bytes([bytes[10], bytes[11]]);
            // The identification, 0 so far, takes what the checksum gives up.
            bytes[4..6].copy_from_slice(&(before - check).to_be_bytes());
            bytes[10..12].copy_from_slice(&check.to_be_bytes());
            assert_eq!(residue(&bytes[..20]), 0);
            mark(&mut bytes);
            assert_eq!((bytes[1], residue(&bytes[..20])), (3, 0), "{check}");
        }
    }

    proptest! {
        #[test]
        fn a_mark_leaves_a_valid_checksum_and_changes_nothing_else(
            tos: u8, identification: u16, ttl: u8, addresses: [u8; 8],
        ) {
            let mut bytes = segment(tos, 7, 9, ACK, 100);
            bytes[4..6].copy_from_slice(&identification.to_be_bytes());
            bytes[8] = ttl;
            bytes[10..12].fill(0);
            bytes[12..20].copy_from_slice(&addresses);
            let check = residue(&bytes[..20]);
            bytes[10..12].copy_from_slice(&check.to_be_bytes());
            prop_assert_eq!(residue(&bytes[..20]), 0);
            let before = bytes.clone();
            mark(&mut bytes);
            prop_assert_eq!(residue(&bytes[..20]), 0);
            let capable = tos & ECN != 0;
            prop_assert_eq!(bytes[1], if capable { tos | ECN } else { tos });
            bytes[1] = before[1];
            bytes[10..12].copy_from_slice(&before[10..12]);
            prop_assert_eq!(bytes, before);
        }

        #[test]
        fn any_bytes_are_read_without_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = read(&bytes);
            mark(&mut bytes.clone());
        }
    }

    #[test]
    fn headers_are_those_of_the_segment() {
        let bytes = segment(2, 1000, 2000, ACK | ECE, 60);
        let headers = read(&bytes).unwrap();
        assert_eq!((headers.ports, headers.seq, headers.ack), ([0x8001, 10_000], 1000, 2000));
        assert_eq!((headers.size, headers.payload, headers.ecn), (100, 60, 2));
        assert_eq!(read(&bytes[..99]), None); // cut short
        let mut udp = bytes;
        udp[9] = 17;
        assert_eq!(read(&udp), None);
    }

    #[test]
    fn sequence_numbers_become_segments_and_wrap_around() {
        let mut numbering = Numbering::new(FlowId(3), 1000);
        let isn = u32::MAX - 1500;
        let mut send = |seq: u32, bits, payload| {
            let headers = read(&segment(2, seq, 0, bits, payload)).unwrap();
            numbering.packet(&headers, false)
        };
        let syn = send(isn, SYN, 0);
        assert!(syn.flags.has(Flags::SYN) && syn.seq == 0 && syn.flow == FlowId(3));
        let first = isn.wrapping_add(1);
        assert_eq!(send(first, ACK, 1000).seq, 0);
        assert_eq!(send(first.wrapping_add(1000), ACK, 1000).seq, 1); // crosses 2^32
        let third = send(first.wrapping_add(2000), ACK | FIN, 500);
        assert!(third.seq == 2 && third.flags.has(Flags::FIN) && third.flags.has(Flags::ECT));
        assert!(!third.flags.has(Flags::RETX));
        // The newest, and one before it.
        for (seq, payload) in [(2, 500), (1, 1000)] {
            let again = send(first.wrapping_add(seq * 1000), ACK, payload);
            assert!(again.seq == seq && again.flags.has(Flags::RETX));
        }
        let ack = read(&segment(0, 0, first.wrapping_add(2000), ACK, 0)).unwrap();
        let ack = numbering.packet(&ack, true);
        assert!(ack.seq == 2 && ack.is_ack() && !ack.flags.has(Flags::ECT));
    }
}
