//! What of a run belongs to other threads, if several share it (`turn/divided.rs`).

/// Which processes are those of other threads, and what is to be sent there.
#[derive(Debug, Default)]
pub(in crate::packet) struct Border {
    /// By process, its thread; empty if there is one thread.
    pub(in crate::packet) homes: Vec<u16>,
    /// This thread.
    pub(in crate::packet) me: u16,
    /// Channels to other threads with packets that have not been sent.
    pub(in crate::packet) leaving: Vec<u32>,
}

impl Border {
    /// Whether a process belongs to another thread.
    #[inline(always)]
    pub(in crate::packet) fn is_foreign(&self, p: u32) -> bool {
        self.homes[p as usize] != self.me
    }
}
