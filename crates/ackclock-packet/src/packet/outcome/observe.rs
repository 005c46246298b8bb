//! Observation of a run: event tables, samples, and the state at the end of the warm-up.

use std::sync::Arc;

use crate::endpoint::Snapshot;
use crate::packet::network::counts::Counts;
use crate::packet::network::end::End;
use crate::packet::network::link::Link;
use crate::packet::outcome::beginning::Beginning;
use crate::packet::outcome::link_sample::LinkSample;
use crate::packet::outcome::marks::Marks;
use crate::packet::outcome::piece::HandedOn;
use crate::packet::process::clock::Clock;
use crate::packet::process::logical_process::Process;
use crate::record::{DropRow, Event, FlowSample, FlowSamples, PacketRow, Recorder};
use crate::units::Time;
use crate::wire::{DropReason, Packet};

/// State at the end of the warm-up, from which rates are measured.
#[derive(Default)]
pub(crate) struct Baseline {
    /// Empty without a warm-up: all counts begin at zero.
    pub(crate) ends: Vec<Arc<Snapshot>>,
    pub(crate) links: Vec<Counts>,
    /// Bits of packets in transmission that were not yet sent.
    pub(crate) bits_in_service: Vec<f64>,
    zero: Arc<Snapshot>,
}

impl Baseline {
    /// For so many flows and links.
    pub(crate) fn of(flows: usize, links: usize) -> Self {
        let zero = Arc::default();
        Self {
            ends: vec![Arc::clone(&zero); 2 * flows],
            links: vec![Counts::default(); links],
            bits_in_service: vec![0.0; links],
            zero,
        }
    }

    /// State of an endpoint.
    pub(crate) fn end(&self, e: usize) -> Arc<Snapshot> {
        Arc::clone(self.ends.get(e).unwrap_or(&self.zero))
    }
}

/// Collects everything that is recorded.
pub(crate) struct Observer<C> {
    pub(crate) recorder: Recorder,
    /// Queues are counted from packets, of all flows.
    pub(crate) want_queues: bool,
    /// Flows and links whose rows are kept; empty = all.
    pub(crate) flow_filter: Vec<bool>,
    pub(crate) link_filter: Vec<bool>,
    pub(crate) flow_samples: Option<FlowSamples>,
    pub(crate) link_samples: Option<Vec<LinkSample>>,
    /// Where measurement begins at 0 s.
    pub(crate) beginning: Option<Beginning>,
    /// What of the tables is handed on during the run, if it is.
    pub(crate) pieces: HandedOn,
    pub(crate) base: Baseline,
    /// The end of the warm-up, a word of the clock.
    pub(crate) warmup: u64,
    /// Sampling times of processes, for their endpoints, and of links.
    pub(crate) end_marks: Marks<C>,
    pub(crate) link_marks: Marks<C>,
}

impl<C: Clock> Observer<C> {
    fn keeps(filter: &[bool], index: u32) -> bool {
        filter.get(index as usize).copied().unwrap_or(true)
    }

    /// Records an event of a packet, if wanted.
    #[inline]
    pub(crate) fn record_packet(&mut self, now: u64, link: u32, packet: &Packet, event: Event) {
        if self.recorder.requested.packets {
            self.push_packet(now, link, packet, event, None);
        }
    }

    /// Records the departure of the packet that a computed FIFO has just admitted.
    #[inline]
    pub(crate) fn record_computed_departure(&mut self, link: &Link<C>, id: u32, packet: &Packet) {
        if self.recorder.requested.packets {
            self.push_packet(link.latest_start(), id, packet, Event::Departure, None);
        }
    }

    #[cold]
    fn push_packet(
        &mut self,
        now: u64,
        link: u32,
        packet: &Packet,
        event: Event,
        reason: Option<DropReason>,
    ) {
        if Self::keeps(&self.link_filter, link)
            && (self.want_queues || Self::keeps(&self.flow_filter, packet.flow.0))
        {
            let (sack_count, sack) = packet.options.recorded_blocks();
            let segment = packet.options.segment().unwrap_or(packet.seq);
            self.recorder.push(PacketRow {
                at: Time(C::ps(now)),
                link,
                event,
                flow: packet.flow.0,
                seq: packet.seq,
                segment,
                flags: packet.flags.0,
                size: packet.size,
                reason,
                sack_count,
                sack,
            });
        }
    }

    /// Records a drop, if wanted.
    #[inline]
    pub(crate) fn record_drop(&mut self, now: u64, link: u32, packet: &Packet, reason: DropReason) {
        let on_wire = matches!(reason, DropReason::Wire | DropReason::Thinned);
        if self.recorder.requested.packets {
            let event = if on_wire { Event::Loss } else { Event::Drop };
            self.push_packet(now, link, packet, event, Some(reason));
        }
        if self.recorder.requested.drops && Self::keeps(&self.flow_filter, packet.flow.0) {
            self.recorder.push(DropRow {
                at: Time(C::ps(now)),
                link,
                flow: packet.flow.0,
                seq: packet.seq,
                is_ack: packet.is_ack(),
                size: packet.size,
                reason,
            });
        }
    }

    /// Records that a payload was cut off.
    pub(crate) fn record_trim(&mut self, now: u64, link: u32, payload: &Packet) {
        if self.recorder.requested.packets {
            self.push_packet(now, link, payload, Event::Trim, Some(DropReason::Trimmed));
        }
    }

    /// Samples the endpoints of process `p` at every mark up to `now`, between which nothing happens.
    #[inline(never)]
    pub(crate) fn sample_ends(&mut self, p: usize, process: &mut Process, ends: &[End], now: u64) {
        if (process.next_mark..=now).contains(&self.warmup) {
            self.note_ends_at_warmup(process, ends);
        }
        let (samples, next) = self.end_marks.advance(p, now);
        process.next_mark = next;
        if let Some(beginning) = &mut self.beginning
            && !samples.is_empty()
        {
            for &e in &process.endpoints {
                if beginning.counts(e as usize)
                    && let Some(endpoint) = &ends[e as usize].endpoint
                {
                    let mut state = FlowSample::default();
                    endpoint.sample(&mut state);
                    beginning.add_delivered(samples.clone(), state.delivered_bytes);
                }
            }
        }
        if let Some(table) = &mut self.flow_samples
            && !samples.is_empty()
        {
            for &e in &process.endpoints {
                if let Some(endpoint) = &ends[e as usize].endpoint {
                    let mut state = FlowSample::default();
                    endpoint.sample(&mut state);
                    table.note(e as usize, samples.end, &state);
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn note_ends_at_warmup(&mut self, process: &Process, ends: &[End]) {
        for &e in &process.endpoints {
            if let Some(base) = self.base.ends.get_mut(e as usize) {
                *base = Arc::new(ends[e as usize].snapshot(e.is_multiple_of(2)));
            }
        }
    }

    /// Samples link `l` at every mark up to `now`.
    #[inline(always)]
    pub(crate) fn sample_link(&mut self, l: usize, links: &mut [Link<C>], now: u64) {
        if links[l].next_mark() <= now {
            self.sample_link_at_marks(l, links, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn sample_link_at_marks(&mut self, l: usize, links: &mut [Link<C>], now: u64) {
        let count = links.len();
        let link = &mut links[l];
        while link.next_mark() <= now {
            let mark = link.next_mark();
            let (rows, next) = self.link_marks.advance(l, mark);
            link.set_mark(next);
            if mark == self.warmup {
                self.note_link_at_warmup(mark, l, link);
            }
            if let Some(beginning) = &mut self.beginning
                && !rows.is_empty()
            {
                link.settle(mark);
                let (packets, _) = link.waiting();
                rows.clone().for_each(|row| beginning.note_queue(row, l, packets));
            }
            for row in rows {
                self.add_link_sample(mark, row * count + l, count, link);
            }
        }
    }

    fn note_link_at_warmup(&mut self, now: u64, l: usize, link: &mut Link<C>) {
        link.settle(now);
        link.reset_occupancy(now);
        if let Some(base) = self.base.links.get_mut(l) {
            *base = link.counts();
            self.base.bits_in_service[l] = link.bits_in_service(now);
        }
    }

    /// Adds the sample of a link at `row` of the table, which has `count` rows an interval.
    fn add_link_sample(&mut self, now: u64, row: usize, count: usize, link: &mut Link<C>) {
        let Some(samples) = &mut self.link_samples else { return };
        let row = row - self.pieces.link_samples * count;
        link.settle(now);
        let (packets, bytes) = link.waiting();
        let counts = link.counts();
        let end = (row / count + 1) * count;
        if samples.len() < end {
            samples.resize(end, LinkSample::default());
        }
        samples[row] = LinkSample {
            queue_packets: packets as u32,
            queue_bytes: bytes,
            departed_bytes: counts.departed_bytes,
            dropped_packets: counts.dropped_packets,
            marks: link.marks(),
        };
    }
}
