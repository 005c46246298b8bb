//! Recorded packets of a link as a capture: pcapng with the headers of TCP over IPv4, or of UDP.
//!
//! A segment of the simulation becomes one of TCP at byte `1 + number x MSS` (the SYN has 0); what acknowledges the last
//! one, which may be short, is one higher for its FIN (RFC 9293 section 3.4). A packet of QUIC, whose contents would be
//! encrypted, is a UDP datagram. Payload is zeros and is not stored; lengths and checksums are those of the whole packet.

/// Bits of the column `flags` of the table `packets`.
mod flag {
    pub(super) const SYN: u32 = 2;
    pub(super) const ECT: u32 = 4;
    pub(super) const CE: u32 = 8;
    pub(super) const ECE: u32 = 16;
    pub(super) const CWR: u32 = 32;
    pub(super) const FIN: u32 = 256;
    pub(super) const DATAGRAM: u32 = 512;
}

/// `LINKTYPE_RAW`: the packet begins with its IPv4 header.
const RAW_IP: u16 = 101;
/// Stamps count in units of 10 to the minus this.
const NANOSECONDS: u8 = 9;
/// Headers of IPv4 and of TCP without options.
const HEADERS: u32 = 40;
/// Bytes of the timestamp option (RFC 7323 appendix A), with padding.
const TIMESTAMPS: u32 = 12;

/// Columns of the table `packets`, all of the same length.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// When [s].
    pub time_s: Vec<f64>,
    /// Number of the link.
    pub link: Vec<u32>,
    /// Number of the flow.
    pub flow: Vec<u32>,
    /// Whether the packet left the link's queue.
    pub is_departure: Vec<bool>,
    /// Whether it is an acknowledgement.
    pub is_ack: Vec<bool>,
    /// Segment number, or the next one expected.
    pub seq: Vec<u32>,
    /// Header bits.
    pub flags: Vec<u32>,
    /// Bytes on the wire.
    pub size: Vec<u32>,
    /// SACK blocks in use.
    pub sack_count: Vec<u32>,
    /// Starts and ends of the blocks; empty columns are of tables without.
    pub sack: [[Vec<u32>; 2]; 3],
    /// Values and echoes of the timestamp option, where known.
    pub stamps: Option<[Vec<u32>; 2]>,
}

/// What the packets of one flow show of its sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the largest data packet.
    pub largest: u32,
    /// Bytes of an acknowledgement without SACK blocks.
    pub bare: u32,
    /// Number and bytes of the segment with the FIN.
    pub last: Option<(u32, u32)>,
    /// Whether there is a SYN.
    pub has_syn: bool,
}

impl Packets {
    /// The sizes of `flows` flows.
    pub fn sizes(&self, flows: usize) -> Vec<Sizes> {
        let mut sizes = vec![Sizes::default(); flows];
        for row in 0..self.time_s.len() {
            let Some(flow) = sizes.get_mut(self.flow[row] as usize) else { continue };
            let (flags, size) = (self.flags[row], self.size[row]);
            if self.is_ack[row] || flags & flag::SYN != 0 {
                flow.has_syn |= flags & flag::SYN != 0;
                let blocks = self.sack_count.get(row).copied().unwrap_or_default();
                flow.bare = size.saturating_sub(if blocks > 0 { 8 * blocks + 4 } else { 0 });
                continue;
            }
            flow.largest = flow.largest.max(size);
            if flags & flag::FIN != 0 {
                flow.last = Some((self.seq[row], size));
            }
        }
        sizes
    }

    /// How many packets left each of `links` links.
    pub fn departures(&self, links: usize) -> Vec<u64> {
        let mut counts = vec![0; links];
        for (link, is_departure) in self.link.iter().zip(&self.is_departure) {
            if let Some(count) = counts.get_mut(*link as usize) {
                *count += u64::from(*is_departure);
            }
        }
        counts
    }

    fn sack_block(&self, row: usize, block: usize) -> (u32, u32) {
        let [start, end] = &self.sack[block];
        let value = |column: &Vec<u32>| column.get(row).copied().unwrap_or_default();
        (value(start), value(end))
    }
}

/// Addresses and numbering of one flow.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFlow {
    /// Last 24 bits of the addresses of sender and receiver in 10.0.0.0/8.
    pub hosts: [u32; 2],
    /// The sender's port.
    pub port: u16,
    /// Whether its packets are datagrams of QUIC.
    pub is_quic: bool,
    /// Whether its segments have the timestamp option.
    pub has_timestamps: bool,
    /// Bytes of data of a full segment.
    pub mss: u32,
    /// Number of the first data segment.
    pub first: u32,
    /// Number and bytes on the wire of the segment with the FIN, if it is known.
    pub last: Option<(u32, u32)>,
}

impl CapturedFlow {
    /// Byte number of a segment.
    fn sequence(&self, segment: u32) -> u32 {
        let mss = i64::from(self.mss);
        let mut start = 1 + i64::from(segment.saturating_sub(self.first)) * mss;
        if let Some((last, size)) = self.last
            && segment > last
        {
            let headers = HEADERS + if self.has_timestamps { TIMESTAMPS } else { 0 };
            start += 1 - (mss - i64::from(size.saturating_sub(headers)));
        }
        start as u32
    }

    fn options(&self, packets: &Packets, row: usize, out: &mut Vec<u8>) {
        let times = |out: &mut Vec<u8>| {
            let [value, echo] = packets
                .stamps
                .as_ref()
                .map_or([0, 0], |[values, echoes]| [values[row], echoes[row]]);
            out.extend([8, 10]);
            out.extend(value.to_be_bytes());
            out.extend(echo.to_be_bytes());
        };
        if packets.flags[row] & flag::SYN != 0 {
            // MSS, SACK permitted, timestamps or padding, window scale 14.
            out.extend([2, 4]);
            out.extend((self.mss.min(0xFFFF) as u16).to_be_bytes());
            out.extend([4, 2]);
            if self.has_timestamps {
                times(out);
                out.push(1);
            } else {
                out.extend([1, 1, 1]);
            }
            out.extend([3, 3, 14]);
            return;
        }
        if self.has_timestamps {
            out.extend([1, 1]);
            times(out);
        }
        let blocks = (0..3).map(|block| packets.sack_block(row, block));
        let blocks: smallvec::SmallVec<[(u32, u32); 3]> =
            blocks.filter(|(start, end)| end > start).collect();
        if !blocks.is_empty() {
            out.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
            for (start, end) in blocks {
                out.extend(self.sequence(start).to_be_bytes());
                out.extend(self.sequence(end).to_be_bytes());
            }
        }
    }

    /// Headers of a packet, and its length on the wire.
    fn packet(&self, packets: &Packets, row: usize, number: u16, out: &mut Vec<u8>) -> u32 {
        let (flags, size, is_ack) = (packets.flags[row], packets.size[row], packets.is_ack[row]);
        let [sender, receiver] =
            self.hosts.map(|host| ((10 << 24) | (host & 0xFF_FFFF)).to_be_bytes());
        let (source, target) = if is_ack { (receiver, sender) } else { (sender, receiver) };
        let ports = if is_ack { [5001, self.port] } else { [self.port, 5001] };
        let begin = out.len();
        let ecn = if flags & flag::CE != 0 {
            3
        } else if flags & flag::ECT != 0 {
            2
        } else {
            0
        };
        // Lengths and checksums follow when the segment is there.
        out.extend([0x45, ecn, 0, 0]);
        out.extend(number.to_be_bytes());
        out.extend([0x40, 0, 64, 0, 0, 0]);
        out.extend(source);
        out.extend(target);
        let segment = out.len();
        out.extend(ports.into_iter().flat_map(u16::to_be_bytes));
        let is_datagram = flags & flag::DATAGRAM != 0 || self.is_quic;
        let (length, protocol, checksum_at) = if is_datagram {
            let length = size.max(28);
            out.extend(((length - 20) as u16).to_be_bytes());
            out.extend([0, 0]);
            (length, 17, 6)
        } else {
            let (sequence, acknowledged) = match (flags & flag::SYN != 0, is_ack) {
                (true, true) => (0, 1),
                (true, false) => (0, 0),
                (false, true) => (1, self.sequence(packets.seq[row])),
                (false, false) => (self.sequence(packets.seq[row]), 1),
            };
            out.extend(sequence.to_be_bytes());
            out.extend(acknowledged.to_be_bytes());
            out.extend([0, bits(flags, is_ack), 0xFF, 0xFF, 0, 0, 0, 0]);
            self.options(packets, row, out);
            let header = (out.len() - segment) as u32;
            out[segment + 12] = (header as u8 / 4) << 4;
            let has_data = !is_ack && flags & flag::SYN == 0;
            let bare = 20 + header;
            (if has_data { size.max(bare) } else { bare }, 6, 16)
        };
        out[begin + 2..begin + 4].copy_from_slice(&(length as u16).to_be_bytes());
        out[begin + 9] = protocol;
        let pseudo = u32::from(protocol) + u32::from((length - 20) as u16);
        let mut check = checksum(&out[begin + 12..], pseudo);
        if is_datagram && check == 0 {
            check = 0xFFFF;
        }
        let place = segment + checksum_at;
        out[place..place + 2].copy_from_slice(&check.to_be_bytes());
        let check = checksum(&out[begin..segment], 0);
        out[begin + 10..begin + 12].copy_from_slice(&check.to_be_bytes());
        length.max(size)
    }
}

/// The flags of the TCP header.
fn bits(flags: u32, is_ack: bool) -> u8 {
    let has = |bit: u32| flags & bit != 0;
    let is_first = has(flag::SYN) && !is_ack;
    let mut bits = if is_first { 0 } else { 0x10 };
    bits |= if has(flag::SYN) { 0x02 } else { 0 };
    bits |= u8::from(has(flag::FIN) && !is_ack);
    bits |= if has(flag::ECE) { 0x40 } else { 0 };
    bits | if has(flag::CWR) { 0x80 } else { 0 }
}

/// The checksum of the Internet (RFC 1071) of an even number of bytes and a sum before them.
fn checksum(bytes: &[u8], before: u32) -> u16 {
    let words = bytes.as_chunks().0.iter().map(|pair| u32::from(u16::from_be_bytes(*pair)));
    let mut total = before + words.sum::<u32>();
    while total > 0xFFFF {
        total = (total & 0xFFFF) + (total >> 16);
    }
    0xFFFF - total as u16
}

/// The packets that left some links, as a file; none if there is none.
///
/// `interfaces` are links with their names; `program` and `comment` say what wrote the file, and of what it is.
pub fn write(
    packets: &Packets,
    flows: &[CapturedFlow],
    interfaces: &[(u32, String)],
    program: &str,
    comment: &str,
) -> Vec<u8> {
    let mut out = Vec::new();
    section(&mut out, program, comment);
    for (_, name) in interfaces {
        interface(&mut out, name);
    }
    let interface_of = |link: u32| interfaces.iter().position(|(number, _)| *number == link);
    let mut rows: Vec<(u32, u32)> = (0..packets.time_s.len())
        .filter(|&row| packets.is_departure[row])
        .filter_map(|row| Some((row as u32, interface_of(packets.link[row])? as u32)))
        .collect();
    // A packet that arrives at an idle link leaves it at the same time, and its row may be the later one.
    rows.sort_by(|a, b| packets.time_s[a.0 as usize].total_cmp(&packets.time_s[b.0 as usize]));
    let mut numbers = vec![0_u16; flows.len()];
    for (row, interface) in rows {
        let row = row as usize;
        let flow = packets.flow[row] as usize;
        let (Some(captured), Some(number)) = (flows.get(flow), numbers.get_mut(flow)) else {
            continue;
        };
        *number = number.wrapping_add(1);
        let nanoseconds =
            (packets.time_s[row] * 10_f64.powi(i32::from(NANOSECONDS))).round_ties_even() as u64;
        block(&mut out, 6, |out| {
            out.extend(interface.to_le_bytes());
            out.extend(((nanoseconds >> 32) as u32).to_le_bytes());
            out.extend((nanoseconds as u32).to_le_bytes());
            let head = out.len();
            out.extend([0; 8]);
            let length = captured.packet(packets, row, *number, out);
            let kept = (out.len() - head - 8) as u32;
            out[head..head + 4].copy_from_slice(&kept.to_le_bytes());
            out[head + 4..head + 8].copy_from_slice(&length.to_le_bytes());
        });
    }
    out
}

/// A block of a pcapng file (draft-ietf-opsawg-pcapng section 3.1).
fn block(out: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = out.len();
    out.extend(kind.to_le_bytes());
    out.extend([0; 4]);
    body(out);
    pad(out, begin);
    let size = (out.len() - begin + 4) as u32;
    out[begin + 4..begin + 8].copy_from_slice(&size.to_le_bytes());
    out.extend(size.to_le_bytes());
}

fn pad(out: &mut Vec<u8>, begin: usize) {
    let length = out.len() - begin;
    out.resize(begin + length.next_multiple_of(4), 0);
}

fn option(out: &mut Vec<u8>, code: u16, value: &[u8]) {
    out.extend(code.to_le_bytes());
    out.extend((value.len() as u16).to_le_bytes());
    let begin = out.len();
    out.extend(value);
    pad(out, begin);
}

/// Begins a file.
fn section(out: &mut Vec<u8>, program: &str, comment: &str) {
    block(out, 0x0A0D_0D0A, |out| {
        // Byte-order magic, version 1.0, length of the section unspecified.
        out.extend(0x1A2B_3C4D_u32.to_le_bytes());
        out.extend([1, 0, 0, 0]);
        out.extend((-1_i64).to_le_bytes());
        option(out, 4, program.as_bytes());
        option(out, 1, comment.as_bytes());
        option(out, 0, &[]);
    });
}

/// Names an interface; they are numbered from 0.
fn interface(out: &mut Vec<u8>, name: &str) {
    block(out, 1, |out| {
        out.extend(RAW_IP.to_le_bytes());
        out.extend([0; 6]);
        option(out, 2, name.as_bytes());
        option(out, 9, &[NANOSECONDS]);
        option(out, 0, &[]);
    });
}
