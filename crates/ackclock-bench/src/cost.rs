//! CPU time and memory of this process, as the operating system counts them.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the process from a moment on, user and system together.
pub(crate) struct Cpu(f64);

impl Cpu {
    pub(crate) fn start() -> Self {
        Self(now())
    }

    pub(crate) fn seconds(&self) -> f64 {
        now() - self.0
    }
}

fn now() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// A field of Linux's `/proc/self/status` in KiB; 0 on other systems.
fn status(field: &str) -> i64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with(field))?;
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or(0)
}

/// Memory now.
pub(crate) fn resident_kib() -> i64 {
    status("VmRSS:")
}

/// Most memory since the start or [`reset_peak`].
pub(crate) fn peak_kib() -> i64 {
    status("VmHWM:")
}

/// Lets the peak count from now on. Where the system refuses, the peak stays that of the whole run,
/// which can only make us look worse.
pub(crate) fn reset_peak() {
    drop(fs::write("/proc/self/clear_refs", "5"));
}
