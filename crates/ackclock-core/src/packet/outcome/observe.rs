//! What a run sees of itself: event tables, samples, and the mark at the end of the warm-up.

use crate::packet::network::counts::Counts;
use crate::packet::network::end::End;
use crate::packet::network::link::Link;
use crate::packet::process::clock::Timescale;
use crate::packet::process::logical_process::Process;
use std::ops::Range;
use std::sync::Arc;

use crate::record::{FlowSample, FlowSamples, Recorder};
use crate::tcp::Snapshot;
use crate::units::Time;
use crate::wire::{DropReason, MAX_SACK_BLOCKS, Packet, SackBlock};

/// What happened to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Event {
    /// It arrived at the queue.
    Arrival,
    /// Its transmission began.
    Departure,
    /// It was dropped before its transmission.
    Drop,
    /// It was lost on the wire, after its transmission.
    Loss,
}

impl Event {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Departure => "departure",
            Self::Drop => "drop",
            Self::Loss => "loss",
        }
    }
}

/// A row of the `packets` table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRow {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// What happened.
    pub event: Event,
    /// Index of the flow.
    pub flow: u32,
    /// Segment number, or next segment expected.
    pub seq: u32,
    /// Header bits.
    pub flags: u16,
    /// Bytes on the wire.
    pub size: u16,
    /// SACK blocks in use.
    pub sack_count: u8,
    /// SACK blocks.
    pub sack: [SackBlock; 3],
}

/// A row of the `drops` table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRow {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: u32,
    /// Index of the flow.
    pub flow: u32,
    /// Segment number, or next segment expected.
    pub seq: u32,
    /// Whether it was an acknowledgement.
    pub is_ack: bool,
    /// Bytes on the wire.
    pub size: u16,
    /// Why.
    pub reason: DropReason,
}

/// A link at a sampling time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkSample {
    /// Packets waiting.
    pub queue_packets: u32,
    /// Bytes waiting.
    pub queue_bytes: u64,
    /// Bytes whose transmission has begun.
    pub departed_bytes: u64,
    /// Packets dropped.
    pub dropped_packets: u64,
    /// Packets marked.
    pub marks: u64,
}

/// When the state of many is sampled: of each at every interval and at the end of the warm-up.
#[derive(Clone, Debug)]
pub(in crate::packet) struct Marks {
    scale: Timescale,
    /// In picoseconds.
    interval: u64,
    /// Intervals in a picosecond.
    frequency: f64,
    /// A word of time.
    warmup: u64,
    /// By whom is sampled, intervals that have passed; empty: no interval.
    passed: Vec<u32>,
}

impl Marks {
    /// Of so many; times in picoseconds.
    pub(in crate::packet) fn new(
        scale: Timescale,
        interval: Option<u64>,
        warmup: u64,
        count: usize,
    ) -> Self {
        let passed = vec![0; interval.map_or(0, |_| count)];
        let interval = interval.unwrap_or(0).max(1);
        let frequency = 1.0 / interval as f64;
        Self { scale, interval, frequency, warmup: scale.word(warmup), passed }
    }

    /// The first mark of each.
    pub(in crate::packet) fn first(&self) -> u64 {
        if self.passed.is_empty() { self.warmup } else { 0 }
    }

    /// The samples of `who` that are due by `now`, and its mark after them.
    #[inline]
    pub(in crate::packet) fn pass(&mut self, who: usize, now: u64) -> (Range<usize>, u64) {
        let (mut rows, mut next) = (0..0, u64::MAX);
        if let Some(passed) = self.passed.get(who).copied() {
            let number = self.first_after(u64::from(passed), now);
            next = self.word_of(number);
            rows = passed as usize..number as usize;
            self.passed[who] = number as u32;
        }
        (rows, if self.warmup > now { next.min(self.warmup) } else { next })
    }

    /// The number of the first mark after `now`, not before `number`.
    #[inline(always)]
    fn first_after(&self, mut number: u64, now: u64) -> u64 {
        if self.scale == Timescale::Picoseconds {
            // How many have passed since the last visit is hard to guess. So they are not counted one by
            // one: this is the last that has, or, seldom, its neighbour.
            number = number.max((now as f64 * self.frequency) as u64);
        }
        while self.word_of(number) <= now {
            number += 1;
        }
        number
    }

    #[inline(always)]
    fn word_of(&self, number: u64) -> u64 {
        self.scale.word(self.interval.saturating_mul(number))
    }
}

/// State at the end of the warm-up, from which rates are measured.
#[derive(Default)]
pub(in crate::packet) struct Baseline {
    /// Nothing without a warm-up: all counts begin at zero.
    pub(in crate::packet) ends: Vec<Arc<Snapshot>>,
    pub(in crate::packet) links: Vec<Counts>,
    /// Bits that were being transmitted and not yet sent.
    pub(in crate::packet) bits_in_service: Vec<f64>,
    zero: Arc<Snapshot>,
}

impl Baseline {
    /// For so many flows and links.
    pub(in crate::packet) fn of(flows: usize, links: usize) -> Self {
        let zero = Arc::default();
        Self {
            ends: vec![Arc::clone(&zero); 2 * flows],
            links: vec![Counts::default(); links],
            bits_in_service: vec![0.0; links],
            zero,
        }
    }

    /// State of an endpoint.
    pub(in crate::packet) fn end(&self, e: usize) -> Arc<Snapshot> {
        Arc::clone(self.ends.get(e).unwrap_or(&self.zero))
    }
}

/// Collects everything recorded.
#[derive(Default)]
pub(in crate::packet) struct Observer {
    pub(in crate::packet) scale: Timescale,
    pub(in crate::packet) recorder: Recorder,
    pub(in crate::packet) want_packets: bool,
    /// Queues are counted from packets, and so need those of every flow.
    pub(in crate::packet) want_queues: bool,
    pub(in crate::packet) want_drops: bool,
    /// Flows and links whose rows are kept; empty = all.
    pub(in crate::packet) flow_filter: Vec<bool>,
    pub(in crate::packet) link_filter: Vec<bool>,
    pub(in crate::packet) packets: Vec<PacketRow>,
    pub(in crate::packet) drops: Vec<DropRow>,
    pub(in crate::packet) flow_samples: Option<FlowSamples>,
    pub(in crate::packet) link_samples: Option<Vec<LinkSample>>,
    pub(in crate::packet) base: Baseline,
}

impl Observer {
    fn keeps(filter: &[bool], index: u32) -> bool {
        filter.get(index as usize).copied().unwrap_or(true)
    }

    #[inline]
    pub(in crate::packet) fn packet(&mut self, at: u64, link: u32, packet: &Packet, event: Event) {
        if self.want_packets {
            self.push_packet(at, link, packet, event);
        }
    }

    /// A FIFO link has computed the departure of the packet that it has just admitted.
    #[inline]
    pub(in crate::packet) fn departure_ahead(&mut self, link: &Link, id: u32, packet: &Packet) {
        if self.want_packets {
            self.push_packet(link.latest_start(), id, packet, Event::Departure);
        }
    }

    #[cold]
    fn push_packet(&mut self, at: u64, link: u32, packet: &Packet, event: Event) {
        if Self::keeps(&self.link_filter, link)
            && (self.want_queues || Self::keeps(&self.flow_filter, packet.flow.0))
        {
            // Places beyond the count hold what an earlier packet left in the pool.
            let mut sack = [(0, 0); MAX_SACK_BLOCKS];
            let blocks = packet.sack_blocks();
            sack[..blocks.len()].copy_from_slice(blocks);
            self.packets.push(PacketRow {
                at: Time(self.scale.ps(at)),
                link,
                event,
                flow: packet.flow.0,
                seq: packet.seq,
                flags: packet.flags.0,
                size: packet.size,
                sack_count: packet.sack_count,
                sack,
            });
        }
    }

    #[inline]
    pub(in crate::packet) fn drop(
        &mut self,
        at: u64,
        link: u32,
        packet: &Packet,
        reason: DropReason,
    ) {
        let on_wire = matches!(reason, DropReason::Wire | DropReason::Thinned);
        self.packet(at, link, packet, if on_wire { Event::Loss } else { Event::Drop });
        if self.want_drops && Self::keeps(&self.flow_filter, packet.flow.0) {
            self.drops.push(DropRow {
                at: Time(self.scale.ps(at)),
                link,
                flow: packet.flow.0,
                seq: packet.seq,
                is_ack: packet.is_ack(),
                size: packet.size,
                reason,
            });
        }
    }

    /// Notes the state of a link at the end of the warm-up.
    pub(in crate::packet) fn baseline_link(&mut self, at: u64, l: usize, link: &mut Link) {
        link.settle_any(at);
        link.reset_occupancy(at);
        if let Some(base) = self.base.links.get_mut(l) {
            *base = link.counts();
            self.base.bits_in_service[l] = link.bits_in_service(at);
        }
    }

    /// Notes the state of endpoints at the end of the warm-up.
    #[cold]
    #[inline(never)]
    pub(in crate::packet) fn baseline_ends(&mut self, process: &Process, ends: &[End]) {
        for &e in &process.endpoints {
            if let Some(base) = self.base.ends.get_mut(e as usize)
                && let Some(endpoint) = &ends[e as usize].endpoint
            {
                *base = Arc::new(endpoint.snapshot());
            }
        }
    }

    /// Samples endpoints at all marks up to the one of this number that have not been passed: nothing has
    /// changed between them.
    pub(in crate::packet) fn sample_ends(&mut self, until: usize, process: &Process, ends: &[End]) {
        let Some(samples) = &mut self.flow_samples else { return };
        for &e in &process.endpoints {
            if let Some(endpoint) = &ends[e as usize].endpoint {
                let mut state = FlowSample::default();
                endpoint.sample(&mut state);
                samples.note(e as usize, until, &state);
            }
        }
    }

    /// Samples link `l` of `count`; `row` counts the intervals since the start.
    pub(in crate::packet) fn sample_link(
        &mut self,
        at: u64,
        row: usize,
        l: usize,
        count: usize,
        link: &mut Link,
    ) {
        let Some(samples) = &mut self.link_samples else { return };
        link.settle_any(at);
        let (packets, bytes) = link.waiting();
        let counts = link.counts();
        let begin = row * count;
        if samples.len() < begin + count {
            samples.resize(begin + count, LinkSample::default());
        }
        samples[begin + l] = LinkSample {
            queue_packets: packets as u32,
            queue_bytes: bytes,
            departed_bytes: counts.departed_bytes,
            dropped_packets: counts.dropped_packets,
            marks: link.marks(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_mark_is_passed_once_and_not_before_its_time(
            interval in prop_oneof![1u64..20, 1u64..1 << 45],
            // Visits on marks, beside them and far from them, some hours into a run.
            visits in prop::collection::vec((0u64..1 << 10, 0u64..5, 0u64..1 << 40), 1..60),
            warmup in 0u64..1 << 50,
            in_seconds in any::<bool>(),
        ) {
            let scale = if in_seconds { Timescale::Seconds } else { Timescale::Picoseconds };
            let mut marks = Marks::new(scale, Some(interval), warmup, 3);
            let (mut ps, mut expected) = (0, 0);
            for (intervals, beside, more) in visits {
                let more = if interval < 20 { more % 1000 } else { more };
                ps = (ps + more) / interval * interval + intervals * interval / 7;
                ps = (ps + beside).saturating_sub(2);
                let now = scale.word(ps);
                let begin = expected;
                while scale.word(expected as u64 * interval) <= now {
                    expected += 1;
                }
                let next = scale.word(expected as u64 * interval);
                let warmup = Some(scale.word(warmup)).filter(|&warmup| warmup > now);
                let next = warmup.map_or(next, |warmup| warmup.min(next));
                prop_assert_eq!(marks.pass(1, now), (begin..expected, next));
            }
        }
    }
}
