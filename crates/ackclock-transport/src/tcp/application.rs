//! How the application hands over its data: in bursts at regular times, at a rate that changes, as the frames of
//! an encoder, or in turns with pauses between them.
//!
//! **Rule**
//! ```text
//! bursts:  so many segments at the start and each time that the interval has passed
//! steps:   before the first step everything; from a step on one segment each (mss / rate), the first at once,
//!          and of what had been handed over before only what has left; a rate of 0: nothing; no rate: everything
//! media:   the frames of [`media`](super::media)
//! turns:   the first at the start, each other one a pause after the one before has been acknowledged
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use super::media::Encoder;
use super::receiver::segments_of;
use crate::cc::Frame;
use crate::endpoint::Deadline;
use crate::rng::{Purpose, Stream};
use crate::scenario::Media;
use crate::units::{BitRate, Bytes, PS_PER_S, Span, Time};

/// How an application hands over its data.
#[derive(Clone, Debug, PartialEq)]
pub enum Supply {
    /// So much each time that this has passed.
    Bursts(Bytes, Span),
    /// A rate of payload from each time on; `None`: all that there is.
    Steps(Vec<(Time, Option<BitRate>)>),
    /// The frames of an encoder; seed of the run and number of the flow.
    Media(Media, u64, u64),
    /// So much, then a pause after it has been acknowledged, and the next.
    Turns(Vec<(Bytes, Span)>),
}

impl Supply {
    /// Whether it hands over nothing before it is called for the first time.
    pub(crate) fn is_paced_from_start(&self) -> bool {
        !matches!(self, Self::Steps(..))
    }
}

/// The application of a flow.
#[derive(Debug)]
pub(crate) struct Application {
    supply: Arc<Supply>,
    mss: u32,
    /// Steps or turns that have begun.
    passed: usize,
    /// Of media: its state, and what its frames had beyond whole segments [bytes].
    encoder: Option<(Encoder, f64)>,
    /// Of media: up to which segment each frame goes that waits, and since when.
    queue: VecDeque<(u32, Time)>,
    /// The frame that was handed over last, until it is taken.
    pub(crate) frame: Option<Frame>,
    /// When it hands over data again.
    pub(crate) next: Deadline,
}

impl Application {
    pub(crate) fn new(supply: Arc<Supply>, mss: u32) -> Self {
        let encoder = match &*supply {
            Supply::Media(_, seed, flow) => {
                Some((Encoder::new(Stream::new(*seed, Purpose::Media, *flow)), 0.0))
            }
            _ => None,
        };
        let queue = VecDeque::new();
        Self { supply, mss, passed: 0, encoder, queue, frame: None, next: Deadline::NEVER }
    }

    /// The media that it hands over.
    pub(crate) fn media(&self) -> Option<&Media> {
        match &*self.supply {
            Supply::Media(media, ..) => Some(media),
            _ => None,
        }
    }

    /// Whether a frame of media that has waited since the last one was made ends with this segment.
    pub(crate) fn ends_frame(&self, segment: u32) -> bool {
        self.queue.iter().any(|(end, _)| *end == segment + 1)
    }

    /// All that was handed over is acknowledged.
    #[cold]
    pub(crate) fn rest(&mut self, now: Time) {
        if let Supply::Turns(turns) = &*self.supply
            && self.next.at == Time::MAX
            && self.passed < turns.len()
        {
            let pause = self.passed.checked_sub(1).map_or(Span::ZERO, |last| turns[last].1);
            self.next = Deadline { at: now + pause, armed: now };
        }
    }

    /// Hands over what is due and returns the segments handed over so far, of `total`; `available` were,
    /// and `sent` have left. The control would send at `rate` [bit/s]; 0: not known yet.
    pub(crate) fn hand_over(
        &mut self,
        now: Time,
        mut available: u32,
        sent: u32,
        total: u32,
        rate: f64,
    ) -> u32 {
        let next_time = match &*self.supply {
            Supply::Bursts(size, every) => {
                available = available.saturating_add(segments_of(*size, self.mss));
                now + *every
            }
            Supply::Media(media, ..) => match (media.pause(now), &mut self.encoder) {
                (Some(end), _) => end,
                (None, None) => Time::MAX,
                (None, Some((encoder, beyond))) => {
                    let waiting = f64::from(available - sent) * f64::from(self.mss) * 8.0;
                    let (bytes, gap) = encoder.frame(media, now, rate, waiting);
                    *beyond += bytes;
                    let segments = (*beyond / f64::from(self.mss)).floor();
                    *beyond -= segments * f64::from(self.mss);
                    available = available.saturating_add(segments as u32).min(total);
                    if bytes > 0.0 {
                        self.frame = Some(note_frame(&mut self.queue, now, available, sent, bytes));
                    }
                    now + gap
                }
            },
            Supply::Turns(turns) => {
                if let Some((size, _)) = turns.get(self.passed) {
                    self.passed += 1;
                    available = available.saturating_add(segments_of(*size, self.mss)).min(total);
                    if self.passed == turns.len() {
                        available = total;
                    }
                }
                Time::MAX
            }
            Supply::Steps(steps) => {
                let begun = self.passed;
                while steps.get(self.passed).is_some_and(|step| step.0 <= now) {
                    self.passed += 1;
                }
                let then = steps.get(self.passed).map_or(Time::MAX, |step| step.0);
                match self.passed.checked_sub(1).map(|step| steps[step].1) {
                    None => then,
                    Some(None) => {
                        available = total;
                        then
                    }
                    Some(Some(rate)) => {
                        if self.passed > begun {
                            available = sent;
                        }
                        if rate.0 == 0 {
                            then
                        } else {
                            available = available.saturating_add(1).min(total);
                            let gap = f64::from(self.mss) * 8.0 * PS_PER_S as f64 / rate.bps();
                            let more =
                                if available < total { now + Span(gap as u64) } else { Time::MAX };
                            then.min(more)
                        }
                    }
                }
            }
        };
        self.next = if next_time == Time::MAX {
            Deadline::NEVER
        } else {
            Deadline { at: next_time, armed: now }
        };
        available
    }
}

/// Notes a frame of so many bytes, up to segment `end`, in the queue of those that wait; `sent` segments have left.
fn note_frame(
    queue: &mut VecDeque<(u32, Time)>,
    now: Time,
    end: u32,
    sent: u32,
    bytes: f64,
) -> Frame {
    queue.push_back((end, now));
    while queue.front().is_some_and(|(end, _)| *end <= sent) {
        queue.pop_front();
    }
    let waited = queue.front().map_or(Span::ZERO, |(_, since)| now.since(*since));
    Frame { bytes, waited }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 1000-byte segments: all until 100 ms, then 80 kbit/s, one each 100 ms; a pause from 350 ms to 1 s; all
    /// again. 7 of those handed over first have left by 100 ms.
    #[test]
    fn a_rate_replaces_what_was_there_and_a_pause_hands_over_nothing() {
        let steps =
            vec![(at(100), Some(BitRate(80_000))), (at(350), Some(BitRate(0))), (at(1000), None)];
        let mut app = Application::new(Arc::new(Supply::Steps(steps)), 1000);
        let total = 5000;
        let mut available = app.hand_over(at(0), total, 0, total, 0.0);
        assert_eq!((available, app.next.at), (total, at(100)));
        let mut supplies = Vec::new();
        while app.next.at < at(1000) {
            let now = app.next.at;
            available =
                app.hand_over(now, available, available.min(7 + supplies.len() as u32), total, 0.0);
            supplies.push((now.0 / 1_000_000_000, available));
        }
        assert_eq!(supplies, [(100, 8), (200, 9), (300, 10), (350, 10)]);
        available = app.hand_over(app.next.at, available, 10, total, 0.0);
        assert_eq!((available, app.next.at), (total, Time::MAX));
    }

    #[test]
    fn the_whole_transfer_is_handed_over_and_then_nothing_is_due() {
        let steps = vec![(at(0), Some(BitRate(8_000_000)))];
        let mut app = Application::new(Arc::new(Supply::Steps(steps)), 1000);
        let mut available = app.hand_over(at(0), 3, 0, 3, 0.0);
        assert_eq!((available, app.next.at), (1, at(1)));
        available = app.hand_over(at(1), available, 1, 3, 0.0);
        available = app.hand_over(at(2), available, 1, 3, 0.0);
        assert_eq!((available, app.next.at), (3, Time::MAX));
    }
    /// Turns of 2500 B and 1000 B: three segments and one; the second 200 ms after the first is acknowledged.
    #[test]
    fn a_turn_begins_a_pause_after_the_one_before_it_was_acknowledged() {
        let turns =
            vec![(Bytes(2500), Span::from_millis(200)), (Bytes(1000), Span::from_millis(500))];
        let mut app = Application::new(Arc::new(Supply::Turns(turns)), 1000);
        let mut available = app.hand_over(at(0), 0, 0, 4, 0.0);
        assert_eq!((available, app.next.at), (3, Time::MAX));
        app.rest(at(70));
        assert_eq!(app.next.at, at(270));
        // Nothing else moves it.
        app.rest(at(100));
        assert_eq!(app.next.at, at(270));
        available = app.hand_over(at(270), available, 3, 4, 0.0);
        assert_eq!((available, app.next.at), (4, Time::MAX));
        app.rest(at(400));
        assert_eq!(app.next.at, Time::MAX);
    }

    /// 1 Mbit/s in segments of 1000 B: 125 segments a second, and what waits is at most 100 ms of it.
    #[test]
    fn media_is_handed_over_at_the_rate_of_the_control() {
        let media = Media { scale_b: 0.0, scale_t: 0.0, ..Media::default() };
        let mut app = Application::new(Arc::new(Supply::Media(media, 1, 0)), 1000);
        let mut available = 0;
        while app.next.at < at(10_000) || available == 0 {
            let now = if app.next.at == Time::MAX { at(0) } else { app.next.at };
            available = app.hand_over(now, available, available, u32::MAX, 1e6);
        }
        assert!((1245..=1255).contains(&available), "{available}");
        let sent = available;
        while app.next.at < at(12_000) {
            available = app.hand_over(app.next.at, available, sent, u32::MAX, 1e6);
        }
        // 12.5 segments take 100 ms; a frame is 4.2 more.
        assert!((12..=17).contains(&(available - sent)), "{}", available - sent);
    }

    /// Frames of 2.5 segments of 1000 B each 20 ms: 2, 5, 7, 10. The first has left but for a segment at 20 ms, the second
    /// but for two at 40 ms, and at 60 ms all.
    #[test]
    fn a_frame_waits_from_when_it_was_made_until_its_last_segment_leaves() {
        let media = Media {
            min: BitRate(1_000_000),
            max: BitRate(1_000_000),
            fps: 50.0,
            scale_b: 0.0,
            scale_t: 0.0,
            ..Media::default()
        };
        let mut app = Application::new(Arc::new(Supply::Media(media, 1, 0)), 1000);
        let mut available = 0;
        for (ms, sent, end, waited) in
            [(0, 0, 2, 0), (20, 1, 5, 20), (40, 3, 7, 20), (60, 7, 10, 0)]
        {
            available = app.hand_over(at(ms), available, sent, u32::MAX, 1e6);
            let frame = app.frame.take().unwrap();
            assert!(app.ends_frame(end - 1) && !app.ends_frame(end));
            assert_eq!((available, frame.waited), (end, Span::from_millis(waited)));
            assert!((frame.bytes - 2500.0).abs() < 1e-9);
        }
    }
}
