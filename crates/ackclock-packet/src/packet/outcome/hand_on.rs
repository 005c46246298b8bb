//! Takes rows that are final from the observer, sorts them, and hands them on.

use crate::packet::outcome::observe::Observer;
use crate::packet::outcome::piece::{Piece, Samples, Take};
use crate::packet::process::clock::Clock;
use crate::record::FlowSamples;
use crate::units::Time;

impl<C: Clock> Observer<C> {
    /// Whether rows are to be handed on now.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.pieces.hold != usize::MAX && self.held() >= self.pieces.hold
    }

    /// Rows that are held.
    fn held(&self) -> usize {
        self.recorder.tables.rows()
            + self.flow_samples.as_ref().map_or(0, FlowSamples::held)
            + self.link_samples.as_ref().map_or(0, Vec::len)
    }

    /// Hands on all rows before `end`, a word of the clock, before which everything has happened and all samples
    /// were taken. Returns false if the run is to stop.
    pub(crate) fn hand_on(&mut self, end: u64, take: Take<'_>) -> bool {
        self.pieces.most_held = self.pieces.most_held.max(self.held());
        let events = self.recorder.tables.take_before(Time(C::ps(end)));
        let mut piece = Piece { events, ..Piece::default() };
        self.check_order(&piece);
        self.pieces.until = self.pieces.until.max(Time(C::ps(end)));
        loop {
            let more = self.take_samples(end, &mut piece);
            if !take(std::mem::take(&mut piece)) {
                return false;
            }
            if !more {
                break;
            }
        }
        // If most rows have to wait, they are not looked at again and again.
        self.pieces.hold = self.pieces.rows.max(self.held().saturating_mul(2));
        true
    }

    /// Adds samples before `end` to a piece, not many more than it may have rows; returns whether there are more.
    fn take_samples(&mut self, end: u64, piece: &mut Piece) -> bool {
        let mut more = false;
        if let Some(samples) = &mut self.flow_samples {
            let all = self.end_marks.count_before(end).min(samples.per_flow());
            let width = samples.len() / samples.per_flow().max(1);
            let first = samples.taken();
            let until = all.min(first + (self.pieces.rows / width.max(1)).max(1));
            let rows = samples.take_until(until.max(first));
            piece.flow_samples = Samples { first, rows };
            more |= until < all;
        }
        if let Some(samples) = &mut self.link_samples {
            let first = self.pieces.link_samples;
            let width = self.link_marks.count().max(1);
            let all = self.link_marks.count_before(end).min(first + samples.len() / width);
            let until = all.min(first + (self.pieces.rows / width).max(1));
            let rows = samples.drain(..(until - first) * width).collect();
            piece.link_samples = Samples { first, rows };
            self.pieces.link_samples = until;
            more |= until < all;
        }
        more
    }

    /// Notes a row that belongs into an earlier piece.
    fn check_order(&mut self, piece: &Piece) {
        let until = self.pieces.until;
        for (table, time) in piece.events.first_times() {
            if time < until && self.pieces.fault.is_none() {
                let [time, until] = [time, until].map(Time::seconds);
                let fault =
                    format!("table {table}: a row at {time} s after those before {until} s");
                self.pieces.fault = Some(fault.into());
            }
        }
    }
}
