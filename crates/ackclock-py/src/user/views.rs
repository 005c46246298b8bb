//! What a user's methods are given: the window to change, and facts to read.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Largest window that a control may set, in segments.
const MAX_WINDOW: f64 = 2_147_483_648.0;

/// The congestion window of a flow. Set ``cwnd`` and ``ssthresh`` [segments]; with ``pacing_bps``
/// [bit/s] segments leave at that rate, without (``None``) they are clocked by acknowledgements.
#[pyclass(module = "ackclock")]
pub(crate) struct Window {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) pacing_bps: Option<f64>,
    /// ssthresh was set during this call.
    pub(super) answered: bool,
    /// The file and line that set a value which no window can have.
    pub(super) doubt: Option<(String, u32)>,
}

pub(super) fn is_window(cwnd: f64) -> bool {
    (0.0..=MAX_WINDOW).contains(&cwnd)
}

pub(super) fn is_threshold(ssthresh: f64) -> bool {
    ssthresh >= 0.0
}

pub(super) fn is_rate(bps: f64) -> bool {
    (1.0..=1e18).contains(&bps)
}

impl Window {
    pub(super) fn new() -> Self {
        Self { cwnd: 1.0, ssthresh: f64::INFINITY, pacing_bps: None, answered: false, doubt: None }
    }

    /// Notes who set an invalid value; it may be corrected before the method ends.
    #[cold]
    fn note(&mut self, py: Python<'_>) -> PyResult<()> {
        let frame = py.import("sys")?.call_method1("_getframe", (0,))?;
        let file = frame.getattr("f_code")?.getattr("co_filename")?;
        let file = file.cast::<PyString>()?.to_string_lossy().into_owned();
        self.doubt = Some((file, frame.getattr("f_lineno")?.extract()?));
        Ok(())
    }
}

#[pymethods]
impl Window {
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, py: Python<'_>, value: f64) -> PyResult<()> {
        self.cwnd = value;
        if is_window(value) { Ok(()) } else { self.note(py) }
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, py: Python<'_>, value: f64) -> PyResult<()> {
        self.ssthresh = value;
        self.answered = true;
        if is_threshold(value) { Ok(()) } else { self.note(py) }
    }

    #[getter]
    fn pacing_bps(&self) -> Option<f64> {
        self.pacing_bps
    }

    #[setter]
    fn set_pacing_bps(&mut self, py: Python<'_>, value: Option<f64>) -> PyResult<()> {
        self.pacing_bps = value;
        if value.is_none_or(is_rate) { Ok(()) } else { self.note(py) }
    }

    fn __repr__(&self) -> String {
        format!("Window(cwnd={}, ssthresh={})", self.cwnd, self.ssthresh)
    }
}

/// What was acknowledged since the last call.
#[pyclass(module = "ackclock", frozen, get_all)]
pub(crate) struct Ack {
    /// The present [s].
    pub(super) now_s: f64,
    /// Segments newly acknowledged.
    pub(super) acked: u64,
    /// Acknowledgements that did so.
    pub(super) acks: u64,
    /// Segments in flight.
    pub(super) in_flight: u32,
    /// Mean of the round-trip samples since the last call [s]; None if there was none.
    pub(super) rtt_s: Option<f64>,
    /// The smallest of them [s].
    pub(super) rtt_low_s: Option<f64>,
    /// Smallest sample of the flow [s].
    pub(super) min_rtt_s: Option<f64>,
    /// Smoothed round-trip time (RFC 6298) [s].
    pub(super) srtt_s: Option<f64>,
    /// Count of round trips.
    pub(super) round: u64,
    /// The window was not what limited the sender when this data left.
    pub(super) app_limited: bool,
    /// An acknowledgement carried ECN-Echo.
    pub(super) ecn_echo: bool,
    /// Segments delivered in total.
    pub(super) delivered: u64,
    /// Delivery rate over the last round trip [segments/s].
    pub(super) delivery_rate: f64,
}

/// Why the window must be reduced.
#[pyclass(module = "ackclock", frozen, get_all)]
pub(crate) struct Congestion {
    /// The present [s].
    pub(super) now_s: f64,
    /// "loss", "ecn" or "timeout".
    pub(super) kind: &'static str,
    /// Segments known lost (loss).
    pub(super) lost: u32,
    /// Timeouts in a row (timeout).
    pub(super) consecutive: u32,
    /// Segments in flight when it happened.
    pub(super) in_flight: u32,
    /// The window that a decrease starts from (RFC 5681): cwnd, or what was in flight of a window
    /// that was not full.
    pub(super) in_use: f64,
    /// Smallest sample of the flow [s].
    pub(super) min_rtt_s: Option<f64>,
    /// Smoothed round-trip time [s].
    pub(super) srtt_s: Option<f64>,
}

/// A segment that was declared lost.
#[pyclass(module = "ackclock", frozen, get_all)]
pub(crate) struct Lost {
    /// The present [s].
    pub(super) now_s: f64,
    /// Its number.
    pub(super) seq: u32,
    /// When it left [s].
    pub(super) sent_s: f64,
    /// Segments in flight just after it left, itself included.
    pub(super) sent_in_flight: u32,
    /// Segments declared lost since it left, itself included.
    pub(super) lost_since: u64,
    /// The application limited the sender when it left.
    pub(super) app_limited: bool,
}

/// What an AQM decides.
#[pyclass(module = "ackclock", frozen, eq, hash, from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// Let the packet pass.
    Pass,
    /// Mark it CE, or drop it if it is not ECN-capable.
    Mark,
    /// Drop it.
    Drop,
}

/// A packet in question.
#[pyclass(module = "ackclock", frozen, get_all)]
pub(crate) struct Packet {
    /// Number of its flow.
    pub(super) flow: u32,
    /// Segment number, or the next one expected (acknowledgements).
    pub(super) seq: u32,
    /// Size on the wire.
    pub(super) size_bytes: u16,
    /// An acknowledgement.
    pub(super) is_ack: bool,
    /// It can be marked.
    pub(super) ecn_capable: bool,
    /// Time in this queue [s]; 0 on arrival.
    pub(super) waited_s: f64,
}

/// The queue in question, without the packet.
#[pyclass(module = "ackclock", frozen, get_all)]
pub(crate) struct Queue {
    /// The present [s].
    pub(super) now_s: f64,
    /// Packets waiting.
    pub(super) packets: usize,
    /// Bytes waiting.
    pub(super) bytes: u64,
    /// Rate of the link at the start [bit/s].
    pub(super) rate_bps: f64,
}
