//! Takes rows that are final from the observer, sorts them, and hands them on.

use crate::packet::outcome::observe::Observer;
use crate::packet::outcome::piece::{Piece, Samples, Take};
use crate::packet::outcome::rows::Event;
use crate::packet::process::clock::Clock;
use crate::record::FlowSamples;
use crate::units::Time;

/// Takes the rows at times that `is_final`, and keeps the others, each in order.
fn split<T>(rows: &mut Vec<T>, is_final: impl Fn(&T) -> bool) -> Vec<T> {
    // At the end of a run, all are: none is copied.
    if rows.iter().all(&is_final) {
        return std::mem::take(rows);
    }
    let (final_rows, later_rows) = std::mem::take(rows).into_iter().partition(is_final);
    *rows = later_rows;
    final_rows
}

impl<C: Clock> Observer<C> {
    /// Whether rows are to be handed on now.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.pieces.hold != usize::MAX && self.held() >= self.pieces.hold
    }

    /// Rows that are held.
    fn held(&self) -> usize {
        let recorder = &self.recorder;
        recorder.windows.len()
            + recorder.rtts.len()
            + recorder.states.len()
            + recorder.layers.len()
            + recorder.frames.len()
            + recorder.probe_series.len()
            + self.packets.len()
            + self.drops.len()
            + self.flow_samples.as_ref().map_or(0, FlowSamples::held)
            + self.link_samples.as_ref().map_or(0, Vec::len)
    }

    /// Takes the events before `end`, in order of time.
    pub(crate) fn take_events(&mut self, end: Time) -> Piece {
        let recorder = &mut self.recorder;
        let mut piece = Piece {
            windows: split(&mut recorder.windows, |r| r.at < end),
            rtts: split(&mut recorder.rtts, |r| r.at < end),
            states: split(&mut recorder.states, |r| r.at < end),
            layers: split(&mut recorder.layers, |r| r.at < end),
            frames: split(&mut recorder.frames, |r| r.at < end),
            probe_series: split(&mut recorder.probe_series, |r| r.at < end),
            packets: split(&mut self.packets, |r| r.at < end),
            drops: split(&mut self.drops, |r| r.at < end),
            ..Piece::default()
        };
        piece.packets.sort_by_key(|r| (r.at, r.event == Event::Departure, r.link));
        piece.drops.sort_by_key(|r| (r.at, r.link));
        piece.windows.sort_by_key(|r| (r.at, r.flow));
        piece.rtts.sort_by_key(|r| (r.at, r.flow));
        piece.states.sort_by_key(|r| (r.at, r.flow));
        piece.layers.sort_by_key(|r| (r.at, r.flow));
        piece.frames.sort_by_key(|r| (r.at, r.flow));
        piece.probe_series.sort_by_key(|r| (r.at, r.flow));
        piece
    }

    /// Hands on all rows before `end`, a word of the clock, before which everything has happened and all samples
    /// were taken. Returns false if the run is to stop.
    pub(crate) fn hand_on(&mut self, end: u64, take: Take<'_>) -> bool {
        self.pieces.most_held = self.pieces.most_held.max(self.held());
        let mut piece = self.take_events(Time(C::ps(end)));
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
        let first = [
            piece.windows.first().map(|r| ("windows", r.at)),
            piece.rtts.first().map(|r| ("rtts", r.at)),
            piece.states.first().map(|r| ("states", r.at)),
            piece.layers.first().map(|r| ("layers", r.at)),
            piece.frames.first().map(|r| ("frames", r.at)),
            piece.probe_series.first().map(|r| ("probe_series", r.at)),
            piece.packets.first().map(|r| ("packets", r.at)),
            piece.drops.first().map(|r| ("drops", r.at)),
        ];
        let until = self.pieces.until;
        for (table, time) in first.into_iter().flatten() {
            if time < until && self.pieces.fault.is_none() {
                let [time, until] = [time, until].map(Time::seconds);
                let fault =
                    format!("table {table}: a row at {time} s after those before {until} s");
                self.pieces.fault = Some(fault.into());
            }
        }
    }
}
