//! What the senders of TCP and QUIC share: the transfer, its stages, and the watch over the control.

use std::sync::Arc;

use super::application::{Application, Supply};
use super::receiver::segments_of;
use crate::cc::{CongestionControl, Frame, MAX_WINDOW, MediaSource, Window};
use crate::endpoint::{Deadline, EndpointCtx};
use crate::ids::FlowId;
use crate::record::StateRow;
use crate::units::{Bytes, Span, Time};

/// How far a sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Not started.
    Idle,
    /// A connection request is on its way.
    Opening,
    /// Data flows.
    Open,
    /// Nothing more will be sent.
    Done,
}

impl Stage {
    /// The name of a sender's state in records: that of a `repair` under way, the control's own where it just sends.
    pub(crate) fn state(
        self,
        repair: Option<&'static str>,
        in_slow_start: bool,
        cc: &dyn CongestionControl,
    ) -> &'static str {
        match (self, repair) {
            (Self::Done, _) => "done",
            (Self::Idle | Self::Opening, _) => "idle",
            (Self::Open, Some(repair)) => repair,
            (Self::Open, None) if in_slow_start => "slow-start",
            (Self::Open, None) => cc.phase(),
        }
    }
}

/// How much there is to send, how much of it the application has handed over, and until when it may leave.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Transfer {
    /// Segments of the whole; `u32::MAX` if endless.
    pub(crate) total: u32,
    /// Segments that the application has handed over so far.
    pub(crate) available: u32,
    last_payload: u32,
    stop: Time,
    application: Option<Box<Application>>,
}

impl Transfer {
    /// Of `size` bytes, or endless, in segments of `segment` bytes; nothing new is sent after `stop`.
    pub(crate) fn new(
        size: Option<Bytes>,
        segment: u32,
        supply: Option<Arc<Supply>>,
        stop: Option<Time>,
    ) -> Self {
        let (total, last_payload) = match size {
            Some(bytes) => {
                let total = segments_of(bytes, segment);
                let before = u64::from(total.saturating_sub(1)) * u64::from(segment);
                (total, bytes.0.saturating_sub(before) as u32)
            }
            None => (u32::MAX, segment),
        };
        let is_paced = supply.as_ref().is_some_and(|supply| supply.is_paced_from_start());
        Self {
            total,
            available: if is_paced { 0 } else { total },
            last_payload,
            stop: stop.unwrap_or(Time::MAX),
            application: supply.map(|supply| Box::new(Application::new(supply, segment))),
        }
    }

    /// Whether a segment beyond `nxt` may leave now.
    #[inline]
    pub(crate) fn has_more(&self, nxt: u32, now: Time) -> bool {
        nxt < self.available && now <= self.stop
    }

    /// Segments beyond `nxt` that the application has handed over.
    pub(crate) fn left(&self, nxt: u32) -> u32 {
        self.available.saturating_sub(nxt)
    }

    /// Whether no segment beyond `nxt` will ever leave.
    #[inline]
    pub(crate) fn nothing_left(&self, nxt: u32, now: Time) -> bool {
        nxt == self.total || now > self.stop
    }

    /// Payload of a segment, and whether it is the last; `full_payload` is that of all others.
    #[inline]
    pub(crate) fn payload(&self, segment: u32, full_payload: u32) -> (u32, bool) {
        let last = segment + 1 == self.total;
        (if last { self.last_payload } else { full_payload }, last)
    }

    /// The application hands over what is due, if it does not do so at once; `nxt` segments have left, and the
    /// control would send at `rate` [bit/s]. A frame of media is returned.
    pub(crate) fn hand_over(&mut self, now: Time, nxt: u32, rate: f64) -> Option<Frame> {
        let application = self.application.as_mut()?;
        self.available = application.hand_over(now, self.available, nxt, self.total, rate);
        application.frame.take()
    }

    /// Whether the last frame of media that was made, or one before it that waits, ends with this segment.
    pub(crate) fn ends_frame(&self, segment: u32) -> bool {
        self.application.as_ref().is_some_and(|application| application.ends_frame(segment))
    }

    /// The media that a control may have to know of.
    pub(crate) fn media(&self) -> Option<MediaSource> {
        let media = self.application.as_ref()?.media()?;
        Some(MediaSource { min: media.min, max: media.max, period: 1.0 / media.fps })
    }

    /// All that was handed over is acknowledged.
    #[inline]
    pub(crate) fn rest(&mut self, now: Time) {
        if let Some(application) = &mut self.application {
            application.rest(now);
        }
    }

    /// When the application hands over data again.
    #[inline]
    pub(crate) fn next(&self) -> Deadline {
        self.application.as_ref().map_or(Deadline::NEVER, |application| application.next)
    }

    /// What has left, so many segments, was the whole; all of them full.
    pub(crate) fn close(&mut self, nxt: u32) {
        (self.total, self.available) = (nxt, nxt);
    }

    /// Nothing more is handed over.
    pub(crate) fn end(&mut self) {
        self.application = None;
    }
}

/// When a control's timer runs next.
pub(crate) fn tick(cc: &dyn CongestionControl, now: Time) -> Deadline {
    match cc.timer_interval() {
        Some(interval) => Deadline { at: now + interval, armed: now },
        None => Deadline::NEVER,
    }
}

/// When the next packet may leave after one that takes `gap` at the pacing rate: so many more may leave at once
/// after a pause.
#[inline]
pub(crate) fn next_departure(next: Time, now: Time, gap: Span, burst: u32) -> Time {
    let earliest = Time(now.0.saturating_sub((gap * u64::from(burst)).0));
    earliest.max(next) + gap
}

/// The earlier of a deadline and three others.
#[inline(always)]
pub(crate) fn earliest(first: Deadline, other_deadlines: [Deadline; 3]) -> Deadline {
    let mut earliest = first;
    for other in other_deadlines {
        if (other.at, other.armed) < (earliest.at, earliest.armed) {
            earliest = other;
        }
    }
    earliest
}

/// Whether a control has set what may be a window. Written so that NaN fails.
#[inline]
pub(crate) fn is_window(window: &Window) -> bool {
    let Window { cwnd, ssthresh } = *window;
    (1.0..=MAX_WINDOW).contains(&cwnd) && ssthresh >= 0.0
}

/// The control's name, the state that was recorded last, and why the run must stop if it must.
#[derive(Debug)]
pub(crate) struct Watch {
    control: Arc<str>,
    state: &'static str,
    failure: Option<Box<str>>,
}

impl Watch {
    pub(crate) fn new(control: Arc<str>) -> Self {
        Self { control, state: "idle", failure: None }
    }

    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The control has set what is no window, counted in `unit`.
    #[cold]
    pub(crate) fn fail(&mut self, window: &Window, unit: &str, flow: FlowId, now: Time) {
        let Window { cwnd, ssthresh } = window;
        self.failure.get_or_insert_with(|| {
            format!(
                "congestion control {} set cwnd to {cwnd} and ssthresh to {ssthresh} {unit} at \
                 {} s in flow {}; cwnd must be a number from 1 to 2^31",
                self.control,
                now.seconds(),
                flow.0
            )
            .into()
        });
    }

    /// Why the run must stop. A control that knows why says it better.
    pub(crate) fn failure(&self, cc: &dyn CongestionControl) -> Option<String> {
        cc.failure().or_else(|| self.failure.as_deref().map(str::to_owned))
    }

    /// Records the control's variables and, if it is another one, the sender's state.
    #[cold]
    #[inline(never)]
    pub(crate) fn record(
        &mut self,
        stage: Stage,
        state: &'static str,
        flow: FlowId,
        cc: &dyn CongestionControl,
        ctx: &mut EndpointCtx<'_>,
    ) {
        if stage != Stage::Idle {
            ctx.record.probes(ctx.now, flow, |out| cc.probes(out));
        }
        if state != self.state {
            self.state = state;
            ctx.record.note(|| StateRow { at: ctx.now, flow, state });
        }
    }
}
