//! What a run sees of itself: event tables, samples, and the mark at the end of the warm-up.

use super::link::{Counts, Link};
use super::lp::Process;
use super::sim::End;
use super::timescale::Timescale;
use crate::record::Recorder;
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
    /// It was dropped.
    Drop,
}

impl Event {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::Departure => "departure",
            Self::Drop => "drop",
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

/// A flow at a sampling time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowSample {
    /// cwnd in segments.
    pub cwnd: f32,
    /// ssthresh in segments.
    pub ssthresh: f32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Smoothed RTT in seconds.
    pub srtt_s: f32,
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Data packets sent.
    pub sent_packets: u64,
    /// Of them retransmissions.
    pub retransmits: u32,
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

/// When state is sampled: at every interval and at the end of the warm-up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) scale: Timescale,
    /// In picoseconds; `u64::MAX`: no interval.
    pub(super) interval: u64,
    /// In picoseconds.
    pub(super) warmup: u64,
}

impl Marks {
    /// The first mark.
    pub(super) fn first(self) -> u64 {
        if self.interval == u64::MAX { self.scale.word(self.warmup) } else { 0 }
    }

    /// Which sample is taken at mark `at`, if one is, and the mark after it.
    pub(super) fn step(self, at: u64) -> (Option<u64>, u64) {
        let (row, sample) = match self.interval {
            u64::MAX => (None, u64::MAX),
            interval => {
                let passed = self.passed(at);
                let row = (self.scale.word(passed * interval) == at).then_some(passed);
                (row, self.scale.word((passed + 1).saturating_mul(interval)))
            }
        };
        let warmup = self.scale.word(self.warmup);
        (row, if warmup > at { sample.min(warmup) } else { sample })
    }

    /// Whole intervals up to `at`.
    fn passed(self, at: u64) -> u64 {
        let whole = self.scale.ps(at) / self.interval;
        // A word may lie a picosecond before the moment that it stands for.
        if self.scale.word((whole + 1) * self.interval) <= at { whole + 1 } else { whole }
    }
}

/// State at the end of the warm-up, from which rates are measured.
#[derive(Default)]
pub(super) struct Baseline {
    pub(super) ends: Vec<Snapshot>,
    pub(super) links: Vec<Counts>,
    /// Bits that were being transmitted and not yet sent.
    pub(super) bits_in_service: Vec<f64>,
}

/// Collects everything recorded.
#[derive(Default)]
pub(super) struct Observer {
    pub(super) scale: Timescale,
    pub(super) recorder: Recorder,
    pub(super) want_packets: bool,
    /// Queues are counted from packets, and so need those of every flow.
    pub(super) want_queues: bool,
    pub(super) want_drops: bool,
    /// Flows and links whose rows are kept; empty = all.
    pub(super) flow_filter: Vec<bool>,
    pub(super) link_filter: Vec<bool>,
    pub(super) packets: Vec<PacketRow>,
    pub(super) drops: Vec<DropRow>,
    pub(super) flow_samples: Option<Vec<FlowSample>>,
    pub(super) link_samples: Option<Vec<LinkSample>>,
    pub(super) base: Baseline,
}

impl Observer {
    fn keeps(filter: &[bool], index: u32) -> bool {
        filter.get(index as usize).copied().unwrap_or(true)
    }

    #[inline]
    pub(super) fn packet(&mut self, at: u64, link: u32, packet: &Packet, event: Event) {
        if self.want_packets {
            self.push_packet(at, link, packet, event);
        }
    }

    /// A FIFO link has computed the departure of the packet that it has just admitted.
    #[inline]
    pub(super) fn departure_ahead(&mut self, link: &Link, id: u32, packet: &Packet) {
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
    pub(super) fn drop(&mut self, at: u64, link: u32, packet: &Packet, reason: DropReason) {
        self.packet(at, link, packet, Event::Drop);
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
    pub(super) fn baseline_link(&mut self, at: u64, l: usize, link: &mut Link) {
        link.settle_any(at);
        link.reset_occupancy(at);
        if let Some(base) = self.base.links.get_mut(l) {
            *base = link.counts();
            self.base.bits_in_service[l] = link.bits_in_service(at);
        }
    }

    /// Notes the state of endpoints at the end of the warm-up.
    pub(super) fn baseline_ends(&mut self, process: &Process, ends: &[End]) {
        for &e in &process.endpoints {
            if let Some(base) = self.base.ends.get_mut(e as usize)
                && let Some(endpoint) = &ends[e as usize].endpoint
            {
                *base = endpoint.snapshot();
            }
        }
    }

    /// Samples endpoints; `row` counts the intervals since the start.
    pub(super) fn sample_ends(&mut self, row: u64, process: &Process, ends: &[End]) {
        let Some(samples) = &mut self.flow_samples else { return };
        let flows = ends.len() / 2;
        begin_row(samples, row as usize, flows);
        for &e in &process.endpoints {
            let Some(endpoint) = &ends[e as usize].endpoint else { continue };
            let seen = endpoint.sample();
            let Some(sample) = samples.get_mut(row as usize * flows + e as usize / 2) else {
                continue;
            };
            if e % 2 == 0 {
                sample.cwnd = seen.cwnd as f32;
                sample.ssthresh = seen.ssthresh as f32;
                sample.in_flight = seen.in_flight;
                sample.srtt_s = seen.srtt_s as f32;
                sample.sent_packets = seen.sent_packets;
                sample.retransmits = seen.retransmits as u32;
            } else {
                sample.delivered_bytes = seen.delivered_bytes;
            }
        }
    }

    /// Samples link `l` of `count`; `row` counts the intervals since the start.
    pub(super) fn sample_link(
        &mut self,
        at: u64,
        row: u64,
        l: usize,
        count: usize,
        link: &mut Link,
    ) {
        let Some(samples) = &mut self.link_samples else { return };
        link.settle_any(at);
        let (packets, bytes) = link.waiting();
        begin_row(samples, row as usize, count);
        let Some(sample) = samples.get_mut(row as usize * count + l) else { return };
        let counts = link.counts();
        *sample = LinkSample {
            queue_packets: packets as u32,
            queue_bytes: bytes,
            departed_bytes: counts.departed_bytes,
            dropped_packets: counts.dropped_packets,
            marks: link.marks(),
        };
    }
}

/// Makes sure that a table, whose room is reserved, has a row: memory is touched first when it is used.
#[inline]
fn begin_row<T: Clone + Default>(samples: &mut Vec<T>, row: usize, width: usize) {
    if samples.len() < (row + 1) * width {
        samples.resize((row + 1) * width, T::default());
    }
}
