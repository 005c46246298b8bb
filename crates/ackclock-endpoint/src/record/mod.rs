//! Observations: tables that a run records beside its counters.
//!
//! A table that is not requested costs one predictable branch. `tables.rs` is the list of all, `rows.rs` has the rows of
//! those that are recorded event by event, with their columns.

mod column;
mod flow_samples;
mod rows;
mod tables;

use crate::ids::FlowId;
use crate::memory::make_room;
use crate::percentiles::Percentiles;
use crate::units::{Span, Time};

pub use column::{Column, ColumnDoc, Columned, Columns, Names};
pub use flow_samples::FlowSamples;
pub use rows::{
    DropRow, Event, FrameRow, LayersRow, PacketRow, ProbeRow, Row, RttRow, StateRow, WindowRow,
};
pub use tables::{Estimate, EventRow, EventTables, OtherTable, Requested, Table};

/// A flow at a sampling time. Each of its two ends fills in the fields that it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowSample {
    /// cwnd in segments.
    pub cwnd: f32,
    /// ssthresh in segments.
    pub ssthresh: f32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Smoothed RTT in seconds.
    pub srtt_s: f32,
    /// Payload bytes delivered in order.
    pub delivered_bytes: u64,
    /// Payload bytes received, each once: those delivered and those that wait for a lost packet. An end that
    /// leaves it out holds nothing back.
    pub received_bytes: u64,
    /// Data packets sent.
    pub sent_packets: u64,
    /// Of them retransmissions.
    pub retransmits: u32,
}

/// Collects the rows of one run.
#[derive(Debug, Default)]
pub struct Recorder {
    /// The requested tables.
    pub requested: Requested,
    /// By flow, whether its rows are kept; flows beyond the list are kept.
    pub keep: Vec<bool>,
    /// The recorded rows.
    pub tables: EventTables,
    /// By flow, its delays; empty where there are too many flows.
    pub delays: Vec<FlowDelays>,
    /// From when on delays count.
    pub measured_from: Time,
    /// By flow, the last row of each probe.
    probes: Vec<Vec<LastProbe>>,
}

/// Delays of a flow after the warm-up: its round trips or, without acknowledgements, its packets' ways.
#[derive(Clone, Debug, Default)]
pub struct FlowDelays {
    /// Propagation, which is in every delay and is not counted: percentiles are as fine as what comes on top.
    pub propagation: Span,
    /// What delays had beyond propagation.
    pub beyond: Percentiles,
}

/// What a control said last.
#[derive(Clone, Copy, Debug)]
struct LastProbe {
    name: &'static str,
    value: f64,
    is_fresh: bool,
}

impl Recorder {
    fn keeps(&self, flow: FlowId) -> bool {
        self.keep.get(flow.index()).copied().unwrap_or(true)
    }

    /// Records a row, if its table is requested and its flow is kept.
    #[inline]
    pub fn note<R: EventRow>(&mut self, row: impl FnOnce() -> R) {
        if R::is_requested(self.requested) {
            let row = row();
            if self.keeps(row.flow()) {
                self.push(row);
            }
        }
    }

    /// Records a row, whether or not its table is requested.
    #[inline]
    pub fn push<R: EventRow>(&mut self, row: R) {
        let rows = R::table(&mut self.tables);
        make_room(rows);
        rows.push(row);
    }

    /// Whether delays of a flow are counted.
    #[inline]
    pub fn measures(&self, flow: FlowId) -> bool {
        flow.index() < self.delays.len()
    }

    /// Counts a delay of a flow in the measured time.
    #[inline]
    pub fn delay(&mut self, time: Time, flow: FlowId, delay: Span) {
        if time >= self.measured_from
            && let Some(FlowDelays { propagation, beyond }) = self.delays.get_mut(flow.index())
        {
            beyond.note(Span(delay.0.saturating_sub(propagation.0)));
        }
    }

    /// Counts an RTT sample, and records it if wanted.
    #[inline]
    pub fn rtt(&mut self, time: Time, flow: FlowId, rtt: Span) {
        self.delay(time, flow, rtt);
        self.note(|| RttRow { at: time, flow, rtt });
    }

    /// Records what has changed of a control's inner state, if wanted. `report` gives all of it, or leaves out
    /// what has no value now.
    pub fn probes(
        &mut self,
        time: Time,
        flow: FlowId,
        report: impl FnOnce(&mut dyn FnMut(&'static str, f64)),
    ) {
        if !self.requested.probe_series || !self.keeps(flow) {
            return;
        }
        if self.probes.len() <= flow.index() {
            self.probes.resize_with(flow.index() + 1, Vec::new);
        }
        let (last, rows) = (&mut self.probes[flow.index()], &mut self.tables.probe_series);
        report(&mut |name, value| {
            let index = last.iter().position(|probe| probe.name == name).unwrap_or_else(|| {
                last.push(LastProbe { name, value: f64::NAN, is_fresh: false });
                last.len() - 1
            });
            let probe = &mut last[index];
            probe.is_fresh = true;
            if probe.value.to_bits() != value.to_bits() {
                probe.value = value;
                make_room(rows);
                rows.push(ProbeRow { at: time, flow, probe: name, value });
            }
        });
        for probe in last {
            if !std::mem::take(&mut probe.is_fresh) && !probe.value.is_nan() {
                probe.value = f64::NAN;
                rows.push(ProbeRow { at: time, flow, probe: probe.name, value: f64::NAN });
            }
        }
    }

    /// Appends what another recorder has of the same run; all tables are named, so that none is left behind.
    pub fn append(&mut self, other: &mut Self) {
        let Self { requested: _, keep: _, tables, delays, measured_from: _, probes } = self;
        tables.append(&mut other.tables);
        // A flow's delays are counted at one end, which is in one thread.
        for (ours, more) in delays.iter_mut().zip(&mut other.delays) {
            if more.beyond.count() > 0 {
                std::mem::swap(ours, more);
            }
        }
        // A flow's control is in one thread.
        probes.resize_with(probes.len().max(other.probes.len()), Vec::new);
        for (ours, last) in probes.iter_mut().zip(&mut other.probes) {
            ours.append(last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_of_probes_are_rows_and_a_probe_left_out_has_no_value() {
        let mut recorder = Recorder::default();
        let time = |ms| Time::ZERO + Span::from_millis(ms);
        recorder.probes(time(0), FlowId(1), |_| unreachable!("the table is not wanted"));
        recorder.requested.probe_series = true;
        recorder.keep = vec![false, true];
        recorder.probes(time(1), FlowId(0), |_| unreachable!("the flow is not kept"));
        for (ms, values) in [
            (1, vec![("bw", 1.0), ("bound", 7.0)]),
            (2, vec![("bw", 1.0), ("bound", 7.0)]),
            (3, vec![("bw", 2.0)]),
            (4, vec![("bw", 2.0)]),
            (5, vec![("bound", 7.0), ("bw", 2.0)]),
        ] {
            recorder.probes(time(ms), FlowId(1), |out| {
                for &(name, value) in &values {
                    out(name, value);
                }
            });
        }
        let rows: Vec<_> = recorder
            .tables
            .probe_series
            .iter()
            .map(|row| (row.at.0 / 1_000_000_000, row.probe, format!("{}", row.value)))
            .collect();
        let expected = [
            (1, "bw", "1"),
            (1, "bound", "7"),
            (3, "bw", "2"),
            (3, "bound", "NaN"),
            (5, "bound", "7"),
        ];
        assert_eq!(rows, expected.map(|(ms, probe, value)| (ms, probe, value.to_owned())));
    }
}
