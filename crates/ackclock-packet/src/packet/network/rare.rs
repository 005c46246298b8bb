//! Parts of a link that many links do not have: a discipline, hazards, drops, marks, long waits.

use std::collections::VecDeque;

use crate::packet::network::counts::Drops;
use crate::packet::network::fabric::Pauses;
use crate::packet::network::impaired::Impaired;
use crate::packet::network::rate::Rate;
use crate::qdisc::{QueueCounts, QueueDisc};
use crate::rng::Stream;
use crate::units::Time;
use crate::wire::{DropReason, Packet};

/// What many links never have.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    pub(crate) drops: Drops,
    pub(crate) marks: u64,
    pub(crate) trims: u64,
    pub(crate) hazards: Option<Hazards>,
    pub(crate) impaired: Option<Box<Impaired>>,
    pub(crate) pauses: Option<Box<Pauses>>,
    /// Waiting times of packets in the computed FIFO that their slots cannot hold, first to last.
    pub(crate) long_waits: VecDeque<u64>,
}

/// A queue discipline and its random numbers.
pub(crate) struct Managed {
    pub(crate) disc: Box<dyn QueueDisc>,
    pub(crate) rng: Stream,
    /// Counts of its queues, where it distinguishes several.
    pub(crate) queues: Vec<QueueCounts>,
    /// Changes of the link's rate that were reported to the discipline.
    reported: usize,
}

impl Managed {
    pub(crate) fn new(disc: Box<dyn QueueDisc>, rng: Stream) -> Self {
        let names = disc.queues();
        let queues = if names.len() > 1 {
            names.iter().map(|name| QueueCounts::new(name)).collect()
        } else {
            Vec::new()
        };
        Self { disc, rng, queues, reported: 0 }
    }

    /// Reports changes of the link's rate up to `now`, in picoseconds, to the discipline.
    #[inline]
    pub(crate) fn report_rate(&mut self, rate: &Rate, now: u64) {
        while let Some((changed_at, rate)) = rate.change(self.reported, now) {
            self.disc.on_rate(Time(changed_at), rate);
            self.reported += 1;
        }
    }
}

/// What can drop an arriving packet before it reaches the queue.
#[derive(Debug)]
pub(crate) struct Hazards {
    /// Random loss, if there ever is any.
    pub(crate) loss: Option<Loss>,
    /// Numbers of arrivals to drop, ascending; those that have passed are removed.
    pub(crate) listed: VecDeque<u64>,
    /// Largest packet.
    pub(crate) mtu: u16,
    /// From and until when the link has failed [ps], ascending; those that have passed are removed.
    pub(crate) down: VecDeque<(u64, u64)>,
}

impl Hazards {
    /// Why the packet that is arrival `number`, at `now` in picoseconds, is dropped, if it is.
    pub(crate) fn check(&mut self, number: u64, now: u64, packet: &Packet) -> Option<DropReason> {
        if packet.size > self.mtu {
            return Some(DropReason::TooBig);
        }
        if self.listed.front() == Some(&number) {
            self.listed.pop_front();
            return Some(DropReason::Listed);
        }
        while self.down.front().is_some_and(|&(_, until)| until <= now) {
            self.down.pop_front();
        }
        if self.down.front().is_some_and(|&(from, _)| from <= now) {
            return Some(DropReason::Down);
        }
        if self.loss.as_mut().is_some_and(|loss| loss.strikes(now)) {
            return Some(DropReason::Random);
        }
        None
    }
}

/// Random loss, whose ratio may change over time.
#[derive(Debug)]
pub(crate) struct Loss {
    ratio: f64,
    /// Later ratios and the picoseconds from which each holds, ascending.
    later: VecDeque<(u64, f64)>,
    rng: Stream,
}

impl Loss {
    /// `ratio` holds until the first of `later`; none if nothing can ever be lost.
    pub(crate) fn new(
        ratio: f64,
        later: &[(Time, f64)],
        rng: impl FnOnce() -> Stream,
    ) -> Option<Self> {
        let may_lose = ratio > 0.0 || later.iter().any(|step| step.1 > 0.0);
        may_lose.then(|| Self {
            ratio,
            later: later.iter().map(|&(time, ratio)| (time.0, ratio)).collect(),
            rng: rng(),
        })
    }

    /// Whether the packet that arrives at `now` is lost. Every arrival takes one random number, so that a change of
    /// the ratio changes no other draw.
    fn strikes(&mut self, now: u64) -> bool {
        while let Some(&(changed_at, ratio)) = self.later.front()
            && changed_at <= now
        {
            self.ratio = ratio;
            self.later.pop_front();
        }
        self.rng.uniform() < self.ratio
    }
}
