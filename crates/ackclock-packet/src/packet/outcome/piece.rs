//! Recorded tables in pieces: rows that are final are handed on during a run, so that memory is bounded however
//! long it lasts.
//!
//! Processes do not run in order of time. A row is final when every process has run past its time
//! (`turn/hand_on.rs`); the others wait. So pieces one after another are the tables of a run in memory, in the same
//! order.

use crate::packet::outcome::link_sample::LinkSample;
use crate::record::{EventTables, FlowSample};
use crate::units::Time;

/// Rows of the recorded tables, each in order of time, later than those of earlier pieces.
#[derive(Debug, Default)]
pub struct Piece {
    /// Tables of events.
    pub events: EventTables,
    /// Samples of flows.
    pub flow_samples: Samples<FlowSample>,
    /// Samples of links.
    pub link_samples: Samples<LinkSample>,
}

/// Samples of several intervals, interval by interval.
#[derive(Debug, Default)]
pub struct Samples<T> {
    /// The number of the first interval.
    pub first: usize,
    /// Of each flow or link in every interval.
    pub rows: Vec<T>,
}

/// Takes the pieces of a run, in order; returns false to stop it.
pub type Take<'a> = &'a mut dyn FnMut(Piece) -> bool;

/// Where the tables of a run go while it lasts.
#[expect(missing_debug_implementations, reason = "holds a closure")]
pub struct Pieces<'a> {
    /// Rows in memory from which on those that are final are handed on.
    pub rows: usize,
    /// Gets the pieces; at least one, at the end of the run.
    pub take: Take<'a>,
}

/// What of the tables has been handed on.
#[derive(Debug)]
pub(crate) struct HandedOn {
    /// Rows that may be held before some are handed on; `usize::MAX`: all stay in memory.
    pub(crate) hold: usize,
    /// Rows of a piece of samples, and `hold` at first.
    pub(crate) rows: usize,
    /// The most rows that were held when some were handed on.
    pub(crate) most_held: usize,
    /// No row may come before this.
    pub(crate) until: Time,
    /// Intervals of `link_samples`.
    pub(crate) link_samples: usize,
    /// A row that came too late.
    pub(crate) fault: Option<Box<str>>,
}

impl Default for HandedOn {
    fn default() -> Self {
        Self {
            hold: usize::MAX,
            rows: usize::MAX,
            most_held: 0,
            until: Time::ZERO,
            link_samples: 0,
            fault: None,
        }
    }
}

impl HandedOn {
    /// Rows are handed on when so many are held.
    pub(crate) fn from(rows: usize) -> Self {
        Self { hold: rows.max(1), rows: rows.max(1), ..Self::default() }
    }
}
