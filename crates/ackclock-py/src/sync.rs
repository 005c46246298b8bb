//! What it costs two threads to wait for each other.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Exchanges of a batch: their mean is one measurement. Few of them are disturbed less often.
const BATCH: u64 = 8;

/// How long is measured, and the batch at its end. On a busy machine an exchange can take milliseconds.
const LONG: Duration = Duration::from_millis(100);

/// On the clock of the thread that leads: the other one is to end.
const END: u64 = u64::MAX;

/// The time from when a thread publishes its clock until another has read it [s]: half of an exchange, of which the
/// least mean of a batch counts, as others were disturbed.
#[expect(clippy::disallowed_methods, reason = "it measures time")]
pub(crate) fn measure() -> f64 {
    let clocks = [AtomicU64::new(0), AtomicU64::new(0)];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut time = 1;
            while wait(&clocks[0], time) != END {
                clocks[1].store(time, Ordering::Release);
                time += 1;
            }
        });
        let all = Instant::now();
        let (mut least, mut time) = (Duration::MAX, 0);
        while all.elapsed() < LONG {
            let begin = Instant::now();
            for _ in 0..BATCH {
                time += 1;
                clocks[0].store(time, Ordering::Release);
                wait(&clocks[1], time);
            }
            least = least.min(begin.elapsed());
        }
        clocks[0].store(END, Ordering::Release);
        least.as_secs_f64() / (2 * BATCH) as f64
    })
}

/// Waits until a clock shows `time` or later, and lets other threads run where that takes longer; returns what it shows.
fn wait(clock: &AtomicU64, time: u64) -> u64 {
    let mut turns = 0u32;
    loop {
        let clock_time = clock.load(Ordering::Acquire);
        if clock_time >= time {
            return clock_time;
        }
        turns += 1;
        if turns < 1000 {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}
