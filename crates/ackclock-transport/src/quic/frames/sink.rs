//! The receiving side: which frames are complete, and how late.

use std::collections::VecDeque;

use super::{FrameStreams, STOP_BYTES, made_at};
use crate::endpoint::EndpointCtx;
use crate::ids::FlowId;
use crate::quic::config::BELOW;
use crate::ranges::Ranges;
use crate::record::FrameRow;
use crate::units::Time;
use crate::wire::{Flags, FramePart, Options};

/// Groups of a stream that are remembered while they are incomplete.
const REMEMBERED: usize = 64;

/// A frame of which something has arrived.
#[derive(Debug)]
struct Frame {
    number: u32,
    /// Segments that have arrived.
    arrived: Ranges,
    /// Segments of the whole.
    segments: u32,
    size: u32,
}

impl Frame {
    fn is_complete(&self) -> bool {
        self.arrived.as_slice() == [(0, self.segments)]
    }
}

/// A group of frames, delivered in order.
#[derive(Debug)]
struct Group {
    number: u32,
    /// The frame that is delivered next.
    next: u32,
    /// Frames from `next` on of which something has arrived, in the order of their numbers.
    frames: VecDeque<Frame>,
}

/// A stream.
#[derive(Debug, Default)]
struct Inbox {
    /// In the order of their numbers.
    groups: VecDeque<Group>,
    /// What arrives of groups below is ignored.
    floor: u32,
}

/// What a receiver of frames has got.
#[derive(Debug)]
pub(crate) struct FrameSink {
    streams: FrameStreams,
    inboxes: Vec<Inbox>,
    segment: u32,
    start: Time,
    /// Payload and packets of the frames delivered.
    pub(crate) delivered: (u64, u64),
    /// Payload that has arrived, each byte once.
    pub(crate) arrived: u64,
}

impl FrameSink {
    /// Of a flow that starts at `start`, in segments of `segment` bytes.
    pub(crate) fn new(streams: FrameStreams, segment: u32, start: Time) -> Self {
        let inboxes = streams.iter().map(|_| Inbox::default()).collect();
        Self { streams, inboxes, segment, start, delivered: (0, 0), arrived: 0 }
    }

    /// Takes a packet's data; false if it was here before.
    pub(crate) fn take(
        &mut self,
        frame_part: Option<FramePart>,
        flow: FlowId,
        ctx: &mut EndpointCtx<'_>,
    ) -> bool {
        let Some(FramePart { stream, frame: number, offset, size }) = frame_part else {
            return true;
        };
        let Some(settings) = self.streams.get(stream as usize) else { return true };
        let (is_datagram, per_group) = (settings.datagrams, settings.group);
        let length = u64::from(self.segment.min(size - offset));
        if is_datagram {
            self.arrived += length;
            self.deliver(stream, number, (size, 1), flow, ctx);
            return true;
        }
        let group = number / per_group;
        let first = group * per_group;
        let Some(inbox) = self.inboxes.get_mut(stream as usize) else { return true };
        if group < inbox.floor {
            return false;
        }
        let group_index = inbox.groups.partition_point(|other| other.number < group);
        if inbox.groups.get(group_index).is_none_or(|other| other.number != group) {
            let begun = Group { number: group, next: first, frames: VecDeque::new() };
            inbox.groups.insert(group_index, begun);
        }
        let Some(entry) = inbox.groups.get_mut(group_index) else { return true };
        if number < entry.next {
            return false;
        }
        let index = entry.frames.partition_point(|other| other.number < number);
        if entry.frames.get(index).is_none_or(|other| other.number != number) {
            let segments = size.div_ceil(self.segment);
            let begun = Frame { number, arrived: Ranges::default(), segments, size };
            entry.frames.insert(index, begun);
        }
        let segment = offset / self.segment;
        let mut fresh = false;
        entry.frames[index].arrived.insert((segment, segment + 1), |_, _| fresh = true);
        if !fresh {
            return false;
        }
        self.arrived += length;
        while let Some(complete) = self.pop_complete(stream, group) {
            self.deliver(stream, complete.number, (complete.size, complete.segments), flow, ctx);
        }
        self.tidy(stream);
        true
    }

    /// Takes out the next frame of a group if it is complete.
    fn pop_complete(&mut self, stream: u32, group: u32) -> Option<Frame> {
        let groups = &mut self.inboxes[stream as usize].groups;
        let entry = groups.iter_mut().find(|entry| entry.number == group)?;
        let next = entry.next;
        entry.frames.front().filter(|frame| frame.number == next && frame.is_complete())?;
        entry.next += 1;
        entry.frames.pop_front()
    }

    /// Forgets groups that are delivered, and the oldest of too many.
    fn tidy(&mut self, stream: u32) {
        let size = self.streams[stream as usize].group;
        let inbox = &mut self.inboxes[stream as usize];
        while let Some(oldest) = inbox.groups.front()
            && (oldest.next == (oldest.number + 1) * size || inbox.groups.len() > REMEMBERED)
        {
            inbox.floor = oldest.number + 1;
            inbox.groups.pop_front();
        }
    }

    /// A frame of so many bytes and packets is delivered. One that is late ends its group.
    fn deliver(
        &mut self,
        stream: u32,
        number: u32,
        (size, packets): (u32, u32),
        flow: FlowId,
        ctx: &mut EndpointCtx<'_>,
    ) {
        let settings = &self.streams[stream as usize];
        let made_time = made_at(settings, number, self.start);
        self.delivered.0 += u64::from(size);
        self.delivered.1 += u64::from(packets);
        ctx.record.note(|| FrameRow {
            at: ctx.now,
            flow,
            stream,
            frame: number,
            made: made_time,
            size,
        });
        if settings.cancel_after.is_some_and(|most| ctx.now.since(made_time) > most) {
            let stop = Flags::ACK | Flags::FIN;
            let packet = ctx.out.send(flow, stream, (STOP_BYTES + BELOW) as u16, stop);
            packet.options = Options::StopSending { group: number / settings.group };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::outbox::Outbox;
    use crate::record::Recorder;
    use crate::rng::{Purpose, Stream};
    use crate::scenario::FrameStream;
    use crate::units::{Bytes, Span};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    struct Bench {
        sink: FrameSink,
        record: Recorder,
        stops: Vec<(u32, u32)>,
    }

    /// 10 frames/s of 2000 bytes in groups of three, segments of 1000 bytes, from 100 ms on.
    fn bench(cancel_after: Option<Span>) -> Bench {
        let stream = FrameStream {
            id: None,
            priority: 0,
            fps: 10.0,
            size: Bytes(2000),
            first: None,
            group: 3,
            datagrams: false,
            cancel_after,
        };
        let mut record = Recorder::default();
        record.requested.frames = true;
        let sink = FrameSink::new(Arc::from(vec![stream]), 1000, at(100));
        Bench { sink, record, stops: Vec::new() }
    }

    impl Bench {
        /// Half of a frame arrives.
        fn half(&mut self, ms: u64, frame: u32, second: bool) -> bool {
            let offset = if second { 1000 } else { 0 };
            let frame_part = FramePart { stream: 0, frame, offset, size: 2000 };
            let mut out = Outbox::default();
            let rng = &mut Stream::new(1, Purpose::Receiver, 0);
            let mut ctx = EndpointCtx::new(at(ms), &mut out, rng, &mut self.record);
            let fresh = self.sink.take(Some(frame_part), FlowId(0), &mut ctx);
            self.stops.extend(out.take().iter().map(|stop| match stop.options {
                Options::StopSending { group } => (stop.seq, group),
                other => panic!("{other:?}"),
            }));
            fresh
        }

        /// Frame and delay in milliseconds.
        fn delivered_frames(&self) -> Vec<(u32, u64)> {
            let delay = |row: &FrameRow| row.at.since(row.made).0 / 1_000_000_000;
            self.record.tables.frames.iter().map(|row| (row.frame, delay(row))).collect()
        }
    }

    /// Frame 1 is whole at 250 ms, but frame 0, made at 100 ms, only at 260; frame 3 is of the next group.
    #[test]
    fn frames_of_a_group_are_delivered_in_order_and_groups_do_not_wait_for_each_other() {
        let mut bench = bench(None);
        assert!(bench.half(150, 0, false));
        assert!(bench.half(240, 1, true) && bench.half(250, 1, false));
        assert!(bench.half(405, 3, false) && bench.half(410, 3, true));
        assert_eq!(bench.delivered_frames(), [(3, 10)]);
        assert!(bench.half(460, 0, true));
        assert_eq!(bench.delivered_frames(), [(3, 10), (0, 360), (1, 260)]);
        assert_eq!((bench.sink.delivered, bench.sink.arrived), ((6000, 6), 6000));
        // What was here before is no news, delivered or not.
        assert!(
            bench.half(470, 2, false) && !bench.half(471, 2, false) && !bench.half(472, 0, true)
        );
        assert_eq!(bench.sink.arrived, 7000);
    }

    /// Frame 0 is made at 100 ms: at 350 ms it is not late yet.
    #[test]
    fn a_frame_beyond_the_bound_cancels_its_group() {
        let mut bench = bench(Some(Span::from_millis(250)));
        bench.half(300, 0, false);
        bench.half(350, 0, true);
        assert_eq!(bench.stops, []);
        bench.half(350, 1, false);
        bench.half(451, 1, true);
        assert_eq!(bench.stops, [(0, 0)]);
        bench.half(500, 3, false);
        bench.half(651, 3, true);
        assert_eq!(bench.stops, [(0, 0), (0, 1)]);
    }

    #[test]
    fn groups_that_never_become_complete_are_forgotten() {
        let mut bench = bench(None);
        for group in 0..200 {
            assert!(bench.half(100 + 300 * group, 3 * group as u32, false));
        }
        assert_eq!(bench.sink.inboxes[0].groups.len(), REMEMBERED);
        assert!(!bench.half(90_000, 0, true));
        assert_eq!(bench.delivered_frames(), []);
    }
}
