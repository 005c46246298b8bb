//! A call: frames of several streams over one connection.

use std::sync::Arc;

use super::at;
use super::wire::{Fate, Setup};
use crate::endpoint::Endpoint;
use crate::record::FrameRow;
use crate::scenario::FrameStream;
use crate::units::{Bytes, Span, Time};
use crate::wire::Flags;

/// 50 datagrams of 80 bytes a second, and 10 frames of 2500 bytes in groups of 5, whose first has 5000.
fn call() -> Vec<FrameStream> {
    let audio = FrameStream {
        id: None,
        priority: 2,
        fps: 50.0,
        size: Bytes(80),
        first: None,
        group: 1,
        datagrams: true,
        cancel_after: None,
    };
    let video = FrameStream {
        priority: 4,
        fps: 10.0,
        size: Bytes(2500),
        first: Some(Bytes(5000)),
        group: 5,
        datagrams: false,
        ..audio.clone()
    };
    vec![audio, video]
}

fn numbers(rows: &[FrameRow], stream: u32) -> Vec<u32> {
    rows.iter().filter(|row| row.stream == stream).map(|row| row.frame).collect()
}

/// The round trip is 200 ms: what was made by 2.7 s is delivered by 3 s.
#[test]
fn lost_data_of_a_stream_is_sent_again_and_a_lost_datagram_is_not() {
    let (mut small, mut large) = (0, 0);
    // 76 packets a second are 15 a round trip; the window stays above that when it is halved.
    let wide = Setup::new().config(|config| config.initial_window = 40);
    let setup = wide.streams(call()).script(move |packet, _| {
        if packet.is_ack() || packet.flags.has(Flags::SYN) {
            return Fate::Deliver;
        }
        // 80 bytes with 39 of QUIC and 28 below; the twentieth datagram and the thirtieth full packet.
        let count = if packet.size == 147 { &mut small } else { &mut large };
        *count += 1;
        let is_lost = if packet.size == 147 { *count == 20 } else { *count == 30 };
        if is_lost { Fate::Drop } else { Fate::Deliver }
    });
    let mut wire = setup.start();
    wire.run(at(3000));
    let audio = numbers(&wire.record.tables.frames, 0);
    let missing: Vec<u32> = (0..130).filter(|frame| !audio.contains(frame)).collect();
    assert_eq!(missing.len(), 1, "{missing:?}");
    let video = numbers(&wire.record.tables.frames, 1);
    let mut sorted = video.clone();
    sorted.sort_unstable();
    assert!(video.len() >= 26 && sorted.into_iter().eq(0..video.len() as u32), "{video:?}");
    // What is lost is of frame 8: it and 9 wait for it, 10 is of the next group and does not.
    assert_eq!(video[7..11], [7, 10, 8, 9]);
    assert_eq!(wire.again().len(), 1);
}

/// A packet takes a millisecond: 20 frames of 24,000 bytes a second, 21 packets each, and 50 of audio are half of the
/// capacity. Every fifth audio frame is made together with one of video, and leaves before it.
#[test]
fn what_has_priority_leaves_first() {
    let mut streams = call();
    streams[1].fps = 20.0;
    streams[1].size = Bytes(24_000);
    streams[1].first = None;
    let mut wire = Setup::new().streams(streams).start();
    wire.run(at(4000));
    let delay = |stream| {
        let rows = wire.record.tables.frames.iter().filter(|row| row.stream == stream);
        let late = rows.filter(|row| row.made >= at(2000)).map(|row| row.at.since(row.made));
        late.max().unwrap()
    };
    // Half a round trip, its own packet, and at most one frame of the video that left before.
    assert!(delay(0) <= Span::from_millis(100 + 1 + 21 + 1), "{:?}", delay(0));
    assert!(delay(1) >= Span::from_millis(100 + 21), "{:?}", delay(1));
}

/// 60 frames of 24,000 bytes a second are 1260 packets, more than leave: delays grow by a quarter of the time, until the
/// rest of a group of 120 is cancelled, a round trip after a frame was late.
#[test]
fn a_late_group_is_cancelled_and_the_next_one_is_sent() {
    let mut streams = call();
    streams[1] = FrameStream {
        fps: 60.0,
        size: Bytes(24_000),
        first: None,
        group: 120,
        cancel_after: Some(Span::from_millis(250)),
        ..streams[1].clone()
    };
    let mut wire = Setup::new().streams(streams).start();
    wire.run(at(10_000));
    let video = numbers(&wire.record.tables.frames, 1);
    let of_group = |group: u32| video.iter().filter(|&&frame| frame / 120 == group).count();
    assert!((0..5).any(|group| (1..120).contains(&of_group(group))), "{video:?}");
    assert!((0..5).all(|group| of_group(group) > 0), "{video:?}");
    // What is not made leaves the link time to catch up, so delays stay bounded.
    let late = wire.record.tables.frames.iter().filter(|row| row.made >= at(3000));
    let worst = late.map(|row| row.at.since(row.made)).max().unwrap();
    assert!(worst < Span::from_millis(500), "{worst:?}");
}

#[test]
fn a_call_ends_when_all_that_was_made_has_arrived() {
    let mut wire = Setup::new().streams(call()).stop(at(1000)).start();
    wire.run(at(60_000));
    assert_eq!(numbers(&wire.record.tables.frames, 0).len(), 50);
    assert_eq!(numbers(&wire.record.tables.frames, 1), (0..10).collect::<Vec<_>>());
    assert!(wire.left.last().unwrap().at < at(2000));
    assert_eq!(wire.sender.deadline().at, Time::MAX);
}

#[test]
fn sizes_and_times_of_frames_follow_from_their_numbers() {
    let streams: Arc<[FrameStream]> = Arc::from(call());
    assert_eq!(streams[1].rate(), (5000.0 + 4.0 * 2500.0) / 5.0 * 10.0);
    assert_eq!((streams[1].frame_size(5), streams[1].frame_size(6)), (5000, 2500));
    assert_eq!(streams[0].due(75), Span::from_millis(1500));
}
