//! The frames of the protocol. All numbers are little-endian; a frame is its length, of what follows, in 32 bits, a type
//! in 8 bits and its body.
//!
//! **Source**: `docs/reference/guest-protocol.md`, which says what each field means.

use std::ops::Range;

/// The version of this file.
pub const VERSION: u16 = 1;
/// Most bytes of a frame after its length.
pub const LONGEST_FRAME: usize = 1 << 24;
/// Most datagrams of an answer.
pub const MOST_DATAGRAMS: u16 = 8192;
/// No deadline, no end of the data, no threshold.
pub const NONE: u64 = u64::MAX;

/// Types of frames.
pub mod kinds {
    /// Which versions the simulator knows.
    pub const HELLO: u8 = 0x01;
    /// The flow begins.
    pub const START: u8 = 0x02;
    /// A datagram arrives.
    pub const PACKET: u8 = 0x03;
    /// A deadline has come.
    pub const TIME: u8 = 0x04;
    /// The application hands over data.
    pub const DATA: u8 = 0x05;
    /// The run is over.
    pub const END: u8 = 0x06;
    /// The version that the guest uses, and its name.
    pub const READY: u8 = 0x81;
    /// What the guest does.
    pub const ANSWER: u8 = 0x82;
    /// The guest cannot go on, with a sentence.
    pub const FAILED: u8 = 0x83;
}

/// What guests may be able to do, as bits.
pub mod abilities {
    /// Takes data that the application hands over after the start, or no more.
    pub const LATER_DATA: u32 = 1;
}

/// Flags of a start.
pub mod start_flags {
    /// ECN may be used.
    pub const ECN: u8 = 1;
    /// DATA frames may follow.
    pub const MORE_DATA: u8 = 2;
}

/// Flags of an answer.
pub mod answer_flags {
    /// The state follows the datagrams.
    pub const STATE: u8 = 1;
    /// A client: all data is acknowledged.
    pub const COMPLETE: u8 = 2;
}

/// Marks of a datagram, as in the header of IP (RFC 3168).
pub mod marks {
    /// Not capable of ECN.
    pub const NOT_CAPABLE: u8 = 0;
    /// Capable of ECN, of L4S (RFC 9331).
    pub const ECT_1: u8 = 1;
    /// Capable of ECN.
    pub const ECT_0: u8 = 2;
    /// Congestion experienced.
    pub const CE: u8 = 3;
}

/// Which end a guest is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It connects and sends the data.
    Client,
    /// It accepts and reads the data.
    Server,
}

/// What a guest learns of its flow at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Which end it is.
    pub role: Role,
    /// Bits of [`start_flags`].
    pub flags: u8,
    /// Number of the flow.
    pub flow: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Most bytes of a datagram.
    pub max_datagram: u32,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Bytes that the application has; [`NONE`]: without end.
    pub bytes: u64,
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The flow begins.
    Start(&'a Start),
    /// A datagram arrives.
    Packet {
        /// One of [`marks`].
        mark: u8,
        /// What it contains.
        datagram: &'a [u8],
    },
    /// The guest's deadline has come.
    Time,
    /// The application hands over so many bytes more.
    Data {
        /// So many.
        bytes: u64,
        /// There will be no more, and what was handed over and has not left is withdrawn.
        is_last: bool,
    },
}

/// Writes a frame in the place of what is in `frame`.
fn write(frame: &mut Vec<u8>, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
    frame.clear();
    frame.extend([0; 4]);
    frame.push(kind);
    body(frame);
    let length = (frame.len() - 4) as u32;
    frame[..4].copy_from_slice(&length.to_le_bytes());
}

/// Writes a HELLO of a range of versions.
pub fn write_hello(frame: &mut Vec<u8>, [least, most]: [u16; 2]) {
    write(frame, kinds::HELLO, |frame| {
        frame.extend(least.to_le_bytes());
        frame.extend(most.to_le_bytes());
    });
}

/// Writes an END.
pub fn write_end(frame: &mut Vec<u8>) {
    write(frame, kinds::END, |_| ());
}

/// Writes what happens.
pub fn write_event(frame: &mut Vec<u8>, event: &Event<'_>, sequence: u32, now_ns: u64) {
    let kind = match event {
        Event::Start(_) => kinds::START,
        Event::Packet { .. } => kinds::PACKET,
        Event::Time => kinds::TIME,
        Event::Data { .. } => kinds::DATA,
    };
    write(frame, kind, |frame| {
        frame.extend(sequence.to_le_bytes());
        frame.extend(now_ns.to_le_bytes());
        match event {
            Event::Start(start) => {
                frame.push(u8::from(start.role == Role::Server));
                frame.push(start.flags);
                frame.extend(start.flow.to_le_bytes());
                frame.extend(start.seed.to_le_bytes());
                frame.extend(start.max_datagram.to_le_bytes());
                frame.extend(start.initial_window.to_le_bytes());
                frame.extend(start.bytes.to_le_bytes());
            }
            Event::Packet { mark, datagram } => {
                frame.push(*mark);
                frame.extend_from_slice(datagram);
            }
            Event::Time => {}
            Event::Data { bytes, is_last } => {
                frame.extend(bytes.to_le_bytes());
                frame.push(u8::from(*is_last));
            }
        }
    });
}

/// What a guest says of itself before the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The version that it uses.
    pub version: u16,
    /// Bits of [`abilities`].
    pub abilities: u32,
    /// Its name and version.
    pub name: String,
}

/// State of a sender, as the guest has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes; [`NONE`]: none.
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round trip [ns].
    pub srtt_ns: u64,
    /// Shortest round trip [ns]; 0: unknown.
    pub min_rtt_ns: u64,
    /// Pacing rate [bit/s]; 0: unknown, or it does not pace.
    pub pacing_bps: u64,
    /// Packets declared lost so far.
    pub lost: u64,
    /// Reductions of the window so far.
    pub reductions: u64,
    /// State of its control in a word; may be empty.
    pub phase: String,
}

/// What a guest answers. Its memory is used again.
#[derive(Debug, Default)]
pub struct Answer {
    /// The event that it answers.
    pub sequence: u32,
    /// When it is to be called at the latest [ns]; [`NONE`]: when a datagram arrives.
    pub deadline_ns: u64,
    /// A server: bytes delivered in order so far. A client: bytes acknowledged so far.
    pub delivered: u64,
    /// A client: all data is acknowledged.
    pub is_complete: bool,
    /// State of its sender, if it gives one.
    pub state: Option<State>,
    body: Vec<u8>,
    datagrams: Vec<(u8, Range<usize>)>,
}

impl Answer {
    /// The datagrams that it sends, in order, with their marks.
    pub fn datagrams(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.datagrams.iter().map(|(mark, range)| (*mark, &self.body[range.clone()]))
    }
}

/// Reads fields one after another.
struct Fields<'a> {
    bytes: &'a [u8],
    next: usize,
}

impl<'a> Fields<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0 }
    }

    fn take(&mut self, count: usize, field: &str) -> Result<&'a [u8], String> {
        let end = self.next.saturating_add(count);
        let Some(bytes) = self.bytes.get(self.next..end) else {
            let left = self.bytes.len() - self.next;
            return Err(format!(
                "wrote a frame that ends within its {field}: {left} bytes are left, expected {count}"
            ));
        };
        self.next = end;
        Ok(bytes)
    }

    fn number<const N: usize>(&mut self, field: &str) -> Result<u64, String> {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(self.take(N, field)?);
        Ok(u64::from_le_bytes(bytes))
    }

    fn text(&mut self, field: &str) -> Result<String, String> {
        let count = self.number::<1>(field)? as usize;
        Ok(readable(self.take(count, field)?))
    }

    fn finish(self) -> Result<(), String> {
        match self.bytes.len() - self.next {
            0 => Ok(()),
            left => Err(format!("wrote a frame with {left} bytes after its last field")),
        }
    }
}

/// Text of a guest; what is no text, or commands a terminal, is replaced.
pub fn readable(bytes: &[u8]) -> String {
    let keep =
        |letter: char| if letter.is_control() && letter != '\t' { '\u{fffd}' } else { letter };
    String::from_utf8_lossy(bytes).chars().map(keep).collect()
}

/// Reads what follows the length of a frame in the place of a READY.
///
/// # Errors
/// What the guest did instead.
pub fn read_ready(frame: &[u8]) -> Result<Ready, String> {
    let mut fields = body(frame, kinds::READY, "READY")?;
    let ready = Ready {
        version: fields.number::<2>("version")? as u16,
        abilities: fields.number::<4>("abilities")? as u32,
        name: fields.text("name")?,
    };
    fields.finish()?;
    Ok(ready)
}

/// The fields of a frame of one type; its sentence, if it is a FAILED.
fn body<'a>(frame: &'a [u8], kind: u8, name: &str) -> Result<Fields<'a>, String> {
    match frame.split_first() {
        Some((&frame_kind, body)) if frame_kind == kind => Ok(Fields::new(body)),
        Some((&kinds::FAILED, sentence)) => Err(format!("failed: {}", readable(sentence))),
        Some((&frame_kind, _)) => {
            Err(format!("wrote a frame of type {frame_kind:#04x}, expected {name}"))
        }
        None => Err(format!("wrote a frame without a type, expected {name}")),
    }
}

/// Reads what follows the length of a frame as an answer; `frame` gets the memory of the last one in exchange.
///
/// # Errors
/// What the guest did instead.
pub fn read_answer(frame: &mut Vec<u8>, answer: &mut Answer) -> Result<(), String> {
    answer.datagrams.clear();
    std::mem::swap(frame, &mut answer.body);
    let Answer { body: bytes, datagrams, .. } = answer;
    let mut fields = body(bytes, kinds::ANSWER, "ANSWER")?;
    answer.sequence = fields.number::<4>("sequence")? as u32;
    answer.deadline_ns = fields.number::<8>("deadline")?;
    answer.delivered = fields.number::<8>("delivered bytes")?;
    let flags = fields.number::<1>("flags")? as u8;
    let count = fields.number::<2>("number of datagrams")? as u16;
    if count > MOST_DATAGRAMS {
        return Err(format!("sent {count} datagrams at once, expected {MOST_DATAGRAMS} at most"));
    }
    for _ in 0..count {
        let mark = fields.number::<1>("mark")? as u8;
        if mark > marks::CE {
            return Err(format!("sent a datagram with mark {mark}, expected 0 to 3"));
        }
        let length = fields.number::<2>("length of a datagram")? as usize;
        fields.take(length, "datagram")?;
        // The type, which `body` has removed, is before the fields.
        datagrams.push((mark, fields.next + 1 - length..fields.next + 1));
    }
    if flags > answer_flags::STATE | answer_flags::COMPLETE {
        return Err(format!("wrote an answer with flags {flags:#04x}, expected 0 to 3"));
    }
    answer.is_complete = flags & answer_flags::COMPLETE != 0;
    answer.state = if flags & answer_flags::STATE == 0 { None } else { Some(state(&mut fields)?) };
    fields.finish()
}

fn state(fields: &mut Fields<'_>) -> Result<State, String> {
    let mut next = || fields.number::<8>("state");
    Ok(State {
        cwnd: next()?,
        ssthresh: next()?,
        in_flight: next()?,
        srtt_ns: next()?,
        min_rtt_ns: next()?,
        pacing_bps: next()?,
        lost: next()?,
        reductions: next()?,
        phase: fields.text("phase")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_frame() -> Vec<u8> {
        let mut frame = vec![kinds::ANSWER];
        frame.extend(7u32.to_le_bytes());
        frame.extend(NONE.to_le_bytes());
        frame.extend(12u64.to_le_bytes());
        frame.push(answer_flags::STATE | answer_flags::COMPLETE);
        frame.extend(2u16.to_le_bytes());
        for (mark, datagram) in [(2u8, b"one".as_slice()), (0, b"two!")] {
            frame.push(mark);
            frame.extend((datagram.len() as u16).to_le_bytes());
            frame.extend(datagram);
        }
        for number in 1..=8u64 {
            frame.extend(number.to_le_bytes());
        }
        frame.extend(b"\x05probe");
        frame
    }

    #[test]
    fn an_answer_is_read_field_by_field() {
        let mut answer = Answer::default();
        read_answer(&mut answer_frame(), &mut answer).unwrap();
        assert_eq!((answer.sequence, answer.deadline_ns, answer.delivered), (7, NONE, 12));
        let datagrams: Vec<_> = answer.datagrams().collect();
        assert_eq!(datagrams, [(2, b"one".as_slice()), (0, b"two!".as_slice())]);
        let state = answer.state.unwrap();
        assert_eq!((state.cwnd, state.reductions, &*state.phase), (1, 8, "probe"));
        assert!(answer.is_complete);
    }

    #[test]
    fn every_frame_that_is_cut_or_too_long_is_refused() {
        let frame = answer_frame();
        let mut answer = Answer::default();
        for length in 0..frame.len() {
            let cut = &mut frame[..length].to_vec();
            assert!(read_answer(cut, &mut answer).is_err(), "{length} bytes");
        }
        let mut long = frame.clone();
        long.push(0);
        let refused = read_answer(&mut long, &mut answer).unwrap_err();
        assert_eq!(refused, "wrote a frame with 1 bytes after its last field");
    }

    #[test]
    fn a_frame_of_another_type_and_a_failure_are_told_apart() {
        assert_eq!(read_ready(&[0x82]).unwrap_err(), "wrote a frame of type 0x82, expected READY");
        assert_eq!(read_ready(b"\x83no key\x1b[2J").unwrap_err(), "failed: no key\u{fffd}[2J");
    }

    #[test]
    fn an_event_has_its_length_sequence_and_time_before_its_fields() {
        let mut frame = Vec::new();
        write_event(&mut frame, &Event::Packet { mark: marks::CE, datagram: b"ab" }, 9, 3);
        let body = [kinds::PACKET, 9, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 3, b'a', b'b'];
        assert_eq!(frame[..4], (body.len() as u32).to_le_bytes());
        assert_eq!(frame[4..], body);
    }
}
