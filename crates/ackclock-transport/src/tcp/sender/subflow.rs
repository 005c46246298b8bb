//! What a connection over several paths needs of the sender of a subflow.

use super::Sender;
use crate::endpoint::EndpointCtx;
use crate::recovery::Phase;
use crate::tcp::Stage;
use crate::units::Time;

impl Sender {
    /// The number of the next new segment.
    pub(crate) fn next_segment(&self) -> u32 {
        self.board.nxt()
    }

    /// The first segment that is not acknowledged.
    pub(crate) fn first_outstanding(&self) -> u32 {
        self.board.una()
    }

    /// So many new segments are there to be sent.
    pub(crate) fn offer(&mut self, segments: u32) {
        let available = self.board.nxt().saturating_add(segments);
        self.transfer.available = available.min(self.transfer.total);
    }

    /// There was nothing to send until now.
    pub(crate) fn note_idle(&mut self, now: Time) {
        if self.sampler.is_some() {
            self.check_application_limit(now);
        }
    }

    /// Sends of what is offered as much as may leave.
    pub(crate) fn send_offered(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.stage == Stage::Open {
            self.send(ctx, u32::MAX);
        }
        self.finish_call(ctx);
    }

    /// Nothing more is offered: the flow ends when what it has sent is acknowledged.
    pub(crate) fn close(&mut self, ctx: &mut EndpointCtx<'_>) {
        if self.stage == Stage::Done || self.transfer.total == self.board.nxt() {
            return;
        }
        self.transfer.close(self.board.nxt());
        if self.stage == Stage::Open && self.board.outstanding() == 0 {
            self.finish(ctx.now);
        }
        self.finish_call(ctx);
    }

    /// New segments that its window has room for.
    pub(crate) fn room(&self, now: Time) -> u32 {
        if self.stage != Stage::Open || self.held_by_ecn || self.nothing_left(now) {
            return 0;
        }
        let pipe = self.recovery.pipe(&self.board);
        let room = (self.window.cwnd as u32).saturating_sub(pipe);
        room.min(self.receive_window().saturating_sub(self.board.outstanding()))
    }

    /// Timeouts so far.
    pub(crate) fn timeouts(&self) -> u64 {
        self.rare_count.timeouts
    }

    /// Smoothed round trip in seconds; 0 before the first sample.
    pub(crate) fn srtt_s(&self) -> f64 {
        self.rto.srtt().seconds()
    }

    /// The window that siblings see, which a repair under way does not inflate, and whether it sends.
    pub(crate) fn shown_window(&self) -> (f64, bool) {
        let cwnd = match self.recovery.phase() {
            Phase::Open => self.window.cwnd,
            _ => self.window.cwnd.min(self.window.ssthresh),
        };
        (cwnd.max(1.0), self.stage == Stage::Open)
    }
}
