//! Parts of a link that many links do not have: a discipline, hazards, drops, marks, long waits.

use std::collections::VecDeque;

use crate::packet::network::counts::Drops;
use crate::packet::network::impaired::Impaired;
use crate::packet::network::rate::Rate;
use crate::qdisc::QueueDisc;
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Packet};

/// What many links never have.
#[derive(Debug, Default)]
pub(in crate::packet) struct Rare {
    pub(in crate::packet) drops: Drops,
    pub(in crate::packet) marks: u64,
    pub(in crate::packet) hazards: Option<Hazards>,
    pub(in crate::packet) impaired: Option<Box<Impaired>>,
    /// Waiting times of packets in the computed FIFO that their slots cannot hold, first to last.
    pub(in crate::packet) long_waits: VecDeque<u64>,
}

/// A queue discipline and its random numbers.
pub(in crate::packet) struct Managed {
    pub(in crate::packet) disc: Box<dyn QueueDisc>,
    pub(in crate::packet) rng: Stream,
    /// Changes of the link's rate that were reported to the discipline.
    reported: usize,
}

impl Managed {
    pub(in crate::packet) fn new(disc: Box<dyn QueueDisc>, rng: Stream) -> Self {
        Self { disc, rng, reported: 0 }
    }

    /// Reports changes of the link's rate up to `now`, in picoseconds, to the discipline.
    #[inline]
    pub(in crate::packet) fn report_rate(&mut self, rate: &Rate, now: u64) {
        while let Some((at, rate)) = rate.change(self.reported, now) {
            self.disc.on_rate(Time(at), rate);
            self.reported += 1;
        }
    }
}

/// What can drop an arriving packet before it reaches the queue.
#[derive(Debug)]
pub(in crate::packet) struct Hazards {
    /// Random loss ratio and its random numbers.
    pub(in crate::packet) loss: Option<(f64, Stream)>,
    /// Numbers of arrivals to drop, ascending; those that have passed are removed.
    pub(in crate::packet) listed: VecDeque<u64>,
    /// Largest packet.
    pub(in crate::packet) mtu: u16,
}

impl Hazards {
    /// Why the packet that is arrival `number` is dropped, if it is.
    pub(in crate::packet) fn check(&mut self, number: u64, packet: &Packet) -> Option<DropReason> {
        if packet.size > self.mtu {
            return Some(DropReason::TooBig);
        }
        if self.listed.front() == Some(&number) {
            self.listed.pop_front();
            return Some(DropReason::Listed);
        }
        if let Some((ratio, rng)) = &mut self.loss
            && rng.uniform() < *ratio
        {
            return Some(DropReason::Random);
        }
        None
    }
}
