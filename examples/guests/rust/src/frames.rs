//! The frames of ackclock's guest protocol, version 1, for stacks in Rust. Needs the standard library alone.
//!
//! A stack implements [`Stack`], whose methods say what the guest does now by returning an [`Answer`], and [`serve`] is
//! the rest of the program. Times are whole nanoseconds of the simulation. The page `docs/reference/guest-protocol.md`
//! says what each field means.

#![allow(dead_code, reason = "no stack needs all of it")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

/// The version of this file.
pub const VERSION: u16 = 1;
/// No deadline, no end of the data, no threshold.
pub const NONE: u64 = u64::MAX;

const HELLO: u8 = 0x01;
const START: u8 = 0x02;
const PACKET: u8 = 0x03;
const TIME: u8 = 0x04;
const DATA: u8 = 0x05;
const END: u8 = 0x06;
const READY: u8 = 0x81;
const ANSWER: u8 = 0x82;
const FAILED: u8 = 0x83;

/// What a guest learns of its flow.
#[derive(Clone, Debug)]
pub struct Start {
    /// Whether it connects and sends the data.
    pub is_client: bool,
    /// Datagrams may be marked as capable of ECN.
    pub ecn: bool,
    /// Calls of [`Stack::data`] may follow.
    pub more_data: bool,
    /// Number of the flow.
    pub flow: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Most bytes of a datagram.
    pub max_datagram: u32,
    /// Initial window in datagrams.
    pub initial_window: u32,
    /// Bytes to transfer.
    pub bytes: u64,
}

impl Start {
    /// A seed for the random numbers of this end alone.
    #[must_use]
    pub fn seed_of_end(&self) -> u64 {
        self.seed ^ u64::from(self.flow) << 33 ^ u64::from(!self.is_client) << 32
    }
}

/// State of a sender, for tables and figures.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes, or [`NONE`].
    pub ssthresh: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round trip [ns].
    pub srtt: u64,
    /// Shortest round trip [ns].
    pub min_rtt: u64,
    /// Pacing rate [bit/s]; 0 without.
    pub pacing_bps: u64,
    /// Packets declared lost so far.
    pub lost: u64,
    /// Reductions of the window so far.
    pub reductions: u64,
    /// State of the control in a word.
    pub phase: &'static str,
}

/// What a guest does now.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Marks (0 not capable of ECN, 1 ECT(1), 2 ECT(0)) and contents, in order.
    pub datagrams: Vec<(u8, Vec<u8>)>,
    /// When it must be called at the latest [ns].
    pub deadline: u64,
    /// A server: bytes delivered in order so far. A client: bytes acknowledged so far.
    pub delivered: u64,
    /// A client: all is acknowledged.
    pub is_complete: bool,
    /// State of its sender.
    pub state: Option<State>,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            datagrams: Vec::new(),
            deadline: NONE,
            delivered: 0,
            is_complete: false,
            state: None,
        }
    }
}

/// What a guest has to have. An error ends the run with its sentence.
pub trait Stack {
    /// The flow begins.
    fn start(&mut self, now: u64, start: &Start) -> Result<Answer, String>;
    /// A datagram arrives; mark 3 is congestion experienced.
    fn packet(&mut self, now: u64, mark: u8, datagram: &[u8]) -> Result<Answer, String>;
    /// The deadline has come.
    fn time(&mut self, now: u64) -> Result<Answer, String>;
    /// The application hands over so many bytes more, or no more.
    fn data(&mut self, _now: u64, _bytes: u64, _is_last: bool) -> Result<Answer, String> {
        Err("takes no data after the start".to_owned())
    }
}

/// Uses the protocol over standard input and output until the run is over.
///
/// # Errors
/// The other side is gone.
pub fn serve(stack: &mut dyn Stack, name: &str, later_data: bool) -> io::Result<()> {
    let mut input = io::stdin().lock();
    // Standard output of the library would cut a frame at what looks like the end of a line.
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let mut frame = Vec::new();
    loop {
        let mut length = [0; 4];
        match input.read_exact(&mut length) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        frame.resize(u32::from_le_bytes(length) as usize, 0);
        input.read_exact(&mut frame)?;
        let Some((&kind, body)) = frame.split_first() else { return Ok(()) };
        if kind == END {
            return Ok(());
        }
        let mut fields = Fields(body);
        if kind == HELLO {
            let (least, most) = (fields.number::<2>(), fields.number::<2>());
            if !(least..=most).contains(&u64::from(VERSION)) {
                let sentence = format!("uses version {VERSION} alone");
                return write(&mut output, FAILED, sentence.as_bytes());
            }
            let mut ready = VERSION.to_le_bytes().to_vec();
            ready.extend(u32::from(later_data).to_le_bytes());
            ready.push(name.len() as u8);
            ready.extend(name.as_bytes());
            write(&mut output, READY, &ready)?;
            continue;
        }
        let (sequence, now) = (fields.number::<4>(), fields.number::<8>());
        let answer = match kind {
            START => {
                let role = fields.number::<1>();
                let flags = fields.number::<1>();
                let start = Start {
                    is_client: role == 0,
                    ecn: flags & 1 > 0,
                    more_data: flags & 2 > 0,
                    flow: fields.number::<4>() as u32,
                    seed: fields.number::<8>(),
                    max_datagram: fields.number::<4>() as u32,
                    initial_window: fields.number::<4>() as u32,
                    bytes: fields.number::<8>(),
                };
                stack.start(now, &start)
            }
            PACKET => {
                let mark = fields.number::<1>() as u8;
                stack.packet(now, mark, fields.0)
            }
            TIME => stack.time(now),
            DATA => {
                let bytes = fields.number::<8>();
                let is_last = fields.number::<1>() > 0;
                stack.data(now, bytes, is_last)
            }
            _ => Err(format!("got a frame of unknown type {kind}")),
        };
        match answer {
            Ok(answer) => write(&mut output, ANSWER, &pack(sequence as u32, &answer))?,
            Err(sentence) => return write(&mut output, FAILED, sentence.as_bytes()),
        }
    }
}

/// Numbers one after another; those that are missing are 0, and the simulator leaves none out.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn number<const N: usize>(&mut self) -> u64 {
        let (head, rest) = self.0.split_at(N.min(self.0.len()));
        self.0 = rest;
        head.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }
}

fn write(output: &mut impl Write, kind: u8, body: &[u8]) -> io::Result<()> {
    // In one piece: each write may wake the simulator.
    let mut frame = (body.len() as u32 + 1).to_le_bytes().to_vec();
    frame.push(kind);
    frame.extend_from_slice(body);
    output.write_all(&frame)
}

fn pack(sequence: u32, answer: &Answer) -> Vec<u8> {
    let mut body = sequence.to_le_bytes().to_vec();
    body.extend(answer.deadline.to_le_bytes());
    body.extend(answer.delivered.to_le_bytes());
    body.push(u8::from(answer.state.is_some()) | u8::from(answer.is_complete) << 1);
    body.extend((answer.datagrams.len() as u16).to_le_bytes());
    for (mark, datagram) in &answer.datagrams {
        body.push(*mark);
        body.extend((datagram.len() as u16).to_le_bytes());
        body.extend(datagram);
    }
    if let Some(s) = &answer.state {
        let numbers = [
            s.cwnd,
            s.ssthresh,
            s.in_flight,
            s.srtt,
            s.min_rtt,
            s.pacing_bps,
            s.lost,
            s.reductions,
        ];
        numbers.iter().for_each(|number| body.extend(number.to_le_bytes()));
        body.push(s.phase.len() as u8);
        body.extend(s.phase.as_bytes());
    }
    body
}
