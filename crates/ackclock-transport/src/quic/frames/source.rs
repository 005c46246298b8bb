//! The sending side: frames that wait, and what each segment of the connection holds.

use std::collections::VecDeque;

use super::{FrameStreams, made_at};
use crate::endpoint::Deadline;
use crate::units::Time;
use crate::wire::FramePart;

/// What a segment holds: data of one frame.
#[derive(Clone, Copy, Debug)]
struct Part {
    stream: usize,
    frame: u32,
    /// Place in the frame, and bytes.
    offset: u32,
    length: u32,
    /// Bytes of the whole frame.
    size: u32,
}

/// A frame of which something has not left.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    frame: u32,
    offset: u32,
    size: u32,
}

/// A stream's frames.
#[derive(Debug, Default)]
struct Queue {
    /// The next frame to be made.
    next: u32,
    /// Oldest first.
    waiting: VecDeque<Waiting>,
    /// The newest group that the receiver has cancelled.
    cancelled: Option<u32>,
}

/// The application that makes frames.
#[derive(Debug)]
pub(crate) struct FrameSource {
    streams: FrameStreams,
    /// Streams in the order of their priorities.
    order: Vec<usize>,
    queues: Vec<Queue>,
    /// Bytes of a full segment.
    segment: u32,
    start: Time,
    /// No frame is made from this time on.
    stop: Time,
    /// What the segments from `first` on hold.
    parts: VecDeque<Part>,
    first: u32,
    /// Segments that the waiting frames fill.
    waiting: u32,
    /// When the next frame is made.
    pub(crate) next: Deadline,
}

impl FrameSource {
    /// Of a flow that starts at `start`, in segments of `segment` bytes.
    pub(crate) fn new(
        streams: FrameStreams,
        segment: u32,
        start: Time,
        stop: Option<Time>,
    ) -> Self {
        let mut order: Vec<usize> = (0..streams.len()).collect();
        order.sort_by_key(|&stream| streams[stream].priority);
        Self {
            order,
            queues: streams.iter().map(|_| Queue::default()).collect(),
            streams,
            segment,
            start,
            stop: stop.unwrap_or(Time::MAX),
            parts: VecDeque::new(),
            first: 0,
            waiting: 0,
            next: Deadline::NEVER,
        }
    }

    /// Makes the frames that are due; segments that wait.
    pub(crate) fn make(&mut self, now: Time) -> u32 {
        let mut earliest = Time::MAX;
        for (stream, queue) in self.streams.iter().zip(&mut self.queues) {
            loop {
                let due = made_at(stream, queue.next, self.start);
                if due >= self.stop {
                    break;
                }
                if due > now {
                    earliest = earliest.min(due);
                    break;
                }
                let (frame, size) = (queue.next, stream.frame_size(queue.next));
                queue.next += 1;
                if queue.cancelled.is_none_or(|group| frame / stream.group > group) {
                    queue.waiting.push_back(Waiting { frame, offset: 0, size });
                    self.waiting += size.div_ceil(self.segment);
                }
            }
        }
        self.next = match earliest {
            Time::MAX => Deadline::NEVER,
            due => Deadline { at: due, armed: now },
        };
        self.waiting
    }

    /// Segments that wait.
    pub(crate) fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Whether all frames were made and have left.
    pub(crate) fn is_over(&self) -> bool {
        self.waiting == 0 && self.next == Deadline::NEVER
    }

    /// Fills the next new segment; the caller knows that something waits.
    pub(crate) fn fill(&mut self) {
        let waits = |&&stream: &&usize| !self.queues[stream].waiting.is_empty();
        let Some(&stream) = self.order.iter().find(waits) else { return };
        let queue = &mut self.queues[stream];
        let Some(Waiting { frame, offset, size }) = queue.waiting.front().copied() else { return };
        let length = self.segment.min(size - offset);
        self.parts.push_back(Part { stream, frame, offset, length, size });
        self.waiting -= 1;
        if offset + length < size {
            queue.waiting[0].offset += length;
        } else {
            queue.waiting.pop_front();
        }
    }

    fn part(&self, segment: u32) -> Option<&Part> {
        self.parts.get(segment.checked_sub(self.first)? as usize)
    }

    /// Bytes that a packet with this segment has of it: none where it would repeat what is not sent again.
    pub(crate) fn payload(&self, segment: u32, again: bool) -> u32 {
        if again && self.is_given_up(segment) {
            return 0;
        }
        self.part(segment).map_or(0, |frame_part| frame_part.length)
    }

    /// What a packet with this segment holds; nothing of one without data, which is a PING.
    pub(crate) fn describe(&self, segment: u32, again: bool) -> Option<FramePart> {
        let Part { stream, frame, offset, size, .. } =
            *self.part(segment).filter(|_| self.payload(segment, again) > 0)?;
        Some(FramePart { stream: stream as u32, frame, offset, size })
    }

    /// Whether a segment is not to be sent again.
    pub(crate) fn is_given_up(&self, segment: u32) -> bool {
        self.part(segment).is_none_or(|frame_part| {
            let (stream, queue) =
                (&self.streams[frame_part.stream], &self.queues[frame_part.stream]);
            stream.datagrams
                || queue
                    .cancelled
                    .is_some_and(|last_cancelled| frame_part.frame / stream.group <= last_cancelled)
        })
    }

    /// Of lost segments the one that leaves first, unless what has never left has priority.
    pub(crate) fn first_lost(&self, lost: impl Iterator<Item = u32>) -> Option<u32> {
        let priority = |stream: usize| (self.streams[stream].priority, stream);
        let of = |segment: u32| Some((priority(self.part(segment)?.stream), segment));
        let (best, segment) = lost.filter_map(of).min_by_key(|&(priority, _)| priority)?;
        let new = self.order.iter().find(|&&stream| !self.queues[stream].waiting.is_empty());
        new.is_none_or(|&stream| best <= priority(stream)).then_some(segment)
    }

    /// The receiver cancels a group of a stream: nothing more of it, or of those before it, is sent.
    pub(crate) fn cancel(&mut self, stream: u32, group: u32) {
        let (Some(settings), Some(queue)) =
            (self.streams.get(stream as usize), self.queues.get_mut(stream as usize))
        else {
            return;
        };
        queue.cancelled = queue.cancelled.max(Some(group));
        let (segment, waiting) = (self.segment, &mut self.waiting);
        queue.waiting.retain(|frame| {
            let is_kept = frame.frame / settings.group > group;
            if !is_kept {
                *waiting -= (frame.size - frame.offset).div_ceil(segment);
            }
            is_kept
        });
    }

    /// All segments below are acknowledged or given up.
    pub(crate) fn forget_below(&mut self, una: u32) {
        while self.first < una && self.parts.pop_front().is_some() {
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::scenario::FrameStream;
    use crate::units::{Bytes, Span};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn video(priority: u32, size: u64) -> FrameStream {
        FrameStream {
            id: None,
            priority,
            fps: 10.0,
            size: Bytes(size),
            first: Some(Bytes(2 * size)),
            group: 3,
            datagrams: false,
            cancel_after: None,
        }
    }

    fn source(streams: Vec<FrameStream>) -> FrameSource {
        FrameSource::new(Arc::from(streams), 1000, at(50), Some(at(650)))
    }

    /// Stream, frame, place and size of what the next segments hold.
    fn filled(source: &mut FrameSource, from: u32, count: u32) -> Vec<(u32, u32, u32, u32)> {
        (from..from + count)
            .map(|segment| {
                source.fill();
                let frame_part = source.describe(segment, false).unwrap();
                (frame_part.stream, frame_part.frame, frame_part.offset, frame_part.size)
            })
            .collect()
    }

    /// 10 frames/s from 50 ms to 650 ms: six, at 50, 150, ..., 550; 2500 and twice 1250 bytes by threes.
    #[test]
    fn frames_are_made_at_regular_times_until_the_stop() {
        let mut source = source(vec![video(0, 1250)]);
        assert_eq!(source.make(at(50)), 3);
        assert_eq!(source.next.at, at(150));
        assert_eq!(source.make(at(400)), 3 + 2 + 2 + 3);
        assert_eq!(source.make(at(10_000)), 3 + 2 + 2 + 3 + 2 + 2);
        assert_eq!(source.next, Deadline::NEVER);
        let first = filled(&mut source, 0, 4);
        assert_eq!(
            first,
            [(0, 0, 0, 2500), (0, 0, 1000, 2500), (0, 0, 2000, 2500), (0, 1, 0, 1250)]
        );
        assert_eq!((source.payload(0, false), source.payload(2, true)), (1000, 500));
        assert!(!source.is_over());
        filled(&mut source, 4, 10);
        assert!(source.is_over());
    }

    /// Listed first, but with the larger number: it leaves last, and its lost data after new data of the other.
    #[test]
    fn the_stream_of_the_smallest_number_leaves_first_and_its_lost_data_before_new() {
        let mut source = source(vec![video(6, 1000), video(4, 1000)]);
        source.make(at(50));
        let order: Vec<u32> =
            filled(&mut source, 0, 4).iter().map(|frame_part| frame_part.0).collect();
        assert_eq!(order, [1, 1, 0, 0]);
        assert_eq!(source.first_lost([3, 2, 0, 1].into_iter()), Some(0));
        source.make(at(150));
        // Segments 2 and 3 are of the stream with number 6; a frame of number 4 waits.
        assert_eq!(source.first_lost([2, 3].into_iter()), None);
        assert_eq!(source.first_lost([2, 1].into_iter()), Some(1));
    }

    #[test]
    fn a_cancelled_group_is_given_up_and_the_next_one_is_made() {
        let mut source = source(vec![video(0, 1000)]);
        source.make(at(150));
        // The first of two segments of the I-frame has left.
        filled(&mut source, 0, 1);
        source.cancel(0, 0);
        assert_eq!((source.waiting(), source.is_given_up(0)), (0, true));
        assert_eq!((source.payload(0, true), source.payload(0, false)), (0, 1000));
        // Frame 2 is of the same group; frame 3 begins the next one.
        assert_eq!(source.make(at(250)), 0);
        assert_eq!(source.make(at(350)), 2);
        assert_eq!(filled(&mut source, 1, 1), [(0, 3, 0, 2000)]);
        source.forget_below(1);
        assert!(!source.is_given_up(1) && source.is_given_up(0));
        // A stream that there is not.
        source.cancel(7, 0);
    }

    #[test]
    fn a_datagram_is_not_sent_again() {
        let audio = FrameStream { datagrams: true, first: None, group: 1, ..video(2, 80) };
        let mut source = source(vec![audio]);
        source.make(at(50));
        filled(&mut source, 0, 1);
        assert_eq!((source.payload(0, false), source.payload(0, true)), (80, 0));
        assert!(source.is_given_up(0));
    }
}
