//! The loop: reads what the hosts send, lets it through the links, hands it over when it is due.
//!
//! The thread sleeps until shortly before the next packet is due, and then polls. Packets get the time at which they are
//! read; everything after that happens at the time that follows from it ([`Live`]), so that being late does not add up.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use ackclock_core::packet::{Left, Live};
use ackclock_core::units::Time;
use ackclock_core::wire::{Flags, Options};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::ip::{self, FIRST_PORT, Numbering};
use crate::lateness::Lateness;
use crate::under_way::{LARGEST, UnderWay};

/// Polls instead of sleeping where the next packet is due within this time [ns]. Not longer: a thread with real-time priority
/// that never sleeps is stopped by the kernel for a twentieth of each second.
const SPIN: u64 = 15_000;
/// Longest sleep [ns], after which the order to stop is looked for.
const LONGEST_SLEEP: u64 = 20_000_000;
/// Packets read from a device at a time.
const AT_ONCE: usize = 32;
/// Bytes of each packet that are captured: all headers.
const CAPTURED: usize = 120;
const PS_PER_NS: u64 = 1000;

/// What the loop found beside the results of the links.
#[derive(Debug, Default)]
pub struct Carried {
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// Packets that were no segments of a flow of the scenario, by side: sender, receiver.
    pub strangers: [u64; 2],
    /// Packets that a device did not take.
    pub refused: u64,
    /// What entered and left the network, if it was captured.
    pub captured: Vec<Captured>,
}

/// A packet at the device of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Nanoseconds since the beginning.
    pub at_ns: u64,
    /// 0: at the sender, 1: at the receiver.
    pub side: u8,
    /// Whether the host sent it.
    pub is_sent: bool,
    /// Length of the packet.
    pub size: u16,
    /// Its first bytes.
    pub bytes: Box<[u8]>,
}

/// The clock of the machine [ns]; Python's `time.monotonic_ns` is the same.
fn clock() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A network between two devices.
pub(crate) struct Carrier<'a> {
    live: Live,
    /// Those of the senders and of the receivers.
    devices: &'a [OwnedFd; 2],
    flows: Vec<Numbering>,
    under_way: UnderWay,
    /// When the emulation begins on the machine's clock [ns].
    origin: u64,
    end: Time,
    room: Box<[u8]>,
    captures: bool,
    carried: Carried,
}

impl<'a> Carrier<'a> {
    pub(crate) fn new(
        live: Live,
        devices: &'a [OwnedFd; 2],
        flows: Vec<Numbering>,
        origin: u64,
        end: Time,
        captures: bool,
    ) -> Self {
        let (room, carried) = (vec![0; LARGEST].into(), Carried::default());
        Self {
            live,
            devices,
            flows,
            under_way: UnderWay::default(),
            origin,
            end,
            room,
            captures,
            carried,
        }
    }

    /// The present; packets before the beginning have the time 0.
    fn now(&self) -> Time {
        Time(clock().saturating_sub(self.origin) * PS_PER_NS)
    }

    /// Carries packets until the end, or until it is to stop.
    ///
    /// # Errors
    /// A device that cannot be polled.
    pub(crate) fn run(mut self, stops: &AtomicBool) -> Result<(Live, Carried), Errno> {
        let mut looked = 0;
        loop {
            let now = self.now();
            if now > self.end {
                break;
            }
            let ns = now.0 / PS_PER_NS;
            if ns >= looked + LONGEST_SLEEP {
                looked = ns;
                if stops.load(Ordering::Relaxed) {
                    break;
                }
            }
            self.live.advance(now);
            if let Some(left) = self.live.take() {
                self.leave(left);
                continue;
            }
            let until_next =
                self.live.next().map_or(u64::MAX, |next_time| next_time.since(now).0 / PS_PER_NS);
            let sleep = until_next.saturating_sub(SPIN).min(LONGEST_SLEEP);
            for side in self.ready(sleep)?.into_iter().flatten() {
                self.read(side);
            }
        }
        Ok((self.live, self.carried))
    }

    /// The sides that have packets, after a sleep of at most so many nanoseconds.
    fn ready(&self, sleep: u64) -> Result<[Option<usize>; 2], Errno> {
        let poll_read = |fd: BorrowedFd<'a>| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut polled = [poll_read(self.devices[0].as_fd()), poll_read(self.devices[1].as_fd())];
        let sleep = Timespec { tv_sec: 0, tv_nsec: sleep.min(999_999_999).cast_signed() };
        match poll(&mut polled, Some(&sleep)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let is_ready = |side: usize| polled[side].revents().contains(PollFlags::IN).then_some(side);
        Ok([is_ready(0), is_ready(1)])
    }

    /// Reads what a side has sent.
    fn read(&mut self, side: usize) {
        for _ in 0..AT_ONCE {
            // Nothing to read, or a host that has ended.
            let Ok(size) = rustix::io::read(&self.devices[side], &mut self.room[..]) else {
                return;
            };
            let now = self.now();
            if now > self.end {
                return;
            }
            self.enter(side, size, now);
        }
    }

    /// A packet that was read from a side enters the network.
    fn enter(&mut self, side: usize, size: usize, now: Time) {
        let Self { room, live, flows, under_way, carried, captures, .. } = self;
        let bytes = &room[..size];
        let headers = ip::read(bytes);
        let flow = headers.and_then(|headers| {
            // Data go to the port of their flow, acknowledgements come from it.
            let number = headers.ports[1 - side].checked_sub(FIRST_PORT)?;
            Some((headers, flows.get_mut(usize::from(number))?))
        });
        let Some((headers, numbering)) = flow else {
            carried.strangers[side] += 1;
            return;
        };
        if *captures {
            carried.captured.push(capture(now, side, true, bytes));
        }
        let mut packet = numbering.packet(&headers, side == 1);
        packet.options = Options::Place(under_way.keep(bytes));
        live.enter(packet, now);
    }

    /// A packet has left the network: it is handed over, or was dropped.
    fn leave(&mut self, left: Left) {
        let Left { time: left_at, packet, dropped } = left;
        let Options::Place(slot) = packet.options else { return };
        if dropped.is_none() {
            let side = usize::from(!packet.is_ack());
            let late = self.now().since(left_at).0 / PS_PER_NS;
            let bytes = self.under_way.at(slot);
            if packet.flags.has(Flags::CE) {
                ip::mark(bytes);
            }
            if self.captures {
                self.carried.captured.push(capture(left_at, side, false, bytes));
            }
            match rustix::io::write(&self.devices[side], bytes) {
                Ok(_) => self.carried.lateness.note(late),
                Err(_) => self.carried.refused += 1,
            }
            self.under_way.release(slot);
            // The host answers within the call.
            self.read(side);
        } else {
            self.under_way.release(slot);
        }
    }
}

fn capture(time: Time, side: usize, is_sent: bool, bytes: &[u8]) -> Captured {
    Captured {
        at_ns: time.0 / PS_PER_NS,
        side: side as u8,
        is_sent,
        size: bytes.len() as u16,
        bytes: bytes[..bytes.len().min(CAPTURED)].into(),
    }
}
