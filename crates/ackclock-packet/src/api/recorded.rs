//! Recorded tables as columns. Those of events know theirs (`record/rows.rs`); here are those that are sampled or computed
//! from others.

use crate::columns;
use crate::compile::{Plan, PlanSender};
use crate::ids::FlowId;
use crate::packet::{
    LedgerKey, LedgerRows, LinkSample, Piece, QueueCount, QueueRow, Results, Samples,
};
use crate::record::{
    ColumnDoc, Columned, Columns, EventTables, FlowSample, Names, OtherTable, Table,
};
use crate::units::Time;

/// Recorded rows: those of a whole run, or of a piece of one.
pub(super) struct Rows<'a> {
    events: &'a EventTables,
    queues: Vec<QueueRow>,
    flow_samples: Samples<FlowSample>,
    link_samples: (usize, &'a [LinkSample]),
    /// By flow, what its control says at the end; none in a piece.
    probes: Vec<EndProbe>,
    /// None in a piece.
    ledger: LedgerRows,
}

impl<'a> Rows<'a> {
    /// All rows that are in the results.
    pub(super) fn of_run(plan: &Plan, results: &'a Results, ledger: LedgerRows) -> Self {
        let has = |table| plan.record.tables.contains(&table);
        let queues = if has(Table::Queues) { results.tables.packets.as_slice() } else { &[] };
        let rows = if has(Table::FlowSamples) { results.flow_samples.rows() } else { Vec::new() };
        let probes_of = |flow: u32| {
            let probes = results.flows[flow as usize].sender.probes.iter();
            probes.map(move |&(probe, value)| EndProbe { flow, probe, value })
        };
        let probes = if has(Table::Probes) { kept_flows(plan) } else { Vec::new() };
        Self {
            events: &results.tables,
            queues: QueueCount::new(plan.links.len()).count(queues),
            flow_samples: Samples { first: 0, rows },
            link_samples: (0, &results.link_samples),
            probes: probes.into_iter().flat_map(probes_of).collect(),
            ledger,
        }
    }

    /// The rows of a piece; `queues` are those of earlier pieces, or none if the table is not recorded.
    pub(super) fn of_piece(piece: &'a mut Piece, queues: Option<&mut QueueCount>) -> Self {
        Self {
            flow_samples: std::mem::take(&mut piece.flow_samples),
            events: &piece.events,
            queues: queues.map_or_else(Vec::new, |queues| queues.count(&piece.events.packets)),
            link_samples: (piece.link_samples.first, &piece.link_samples.rows),
            probes: Vec::new(),
            ledger: LedgerRows::new(),
        }
    }
}

/// Fills a table of the scenario's `record.tables`.
pub(super) fn fill(plan: &Plan, rows: &Rows<'_>, table: Table) -> (&'static str, Columns) {
    let columns = match table.other() {
        // Those of other flows were recorded if `queues`, which counts all, is.
        None if table == Table::Packets && plan.record.flows.is_some() => {
            let keep = plan.record.flows.as_deref().unwrap_or_default();
            let packets = rows.events.packets.iter().filter(|row| keep.contains(&row.flow));
            Columned::columns(packets, plan)
        }
        None => rows.events.columns(table, plan),
        Some(OtherTable::Queues) => QueueRow::columns(rows.queues.iter(), plan),
        Some(OtherTable::FlowSamples) => {
            let Samples { first, rows } = &rows.flow_samples;
            fill_samples(plan, (*first, rows), plan.flows.len(), &kept_flows(plan))
        }
        Some(OtherTable::LinkSamples) => {
            fill_samples(plan, rows.link_samples, plan.links.len(), &kept_links(plan))
        }
        Some(OtherTable::Probes) => EndProbe::columns(rows.probes.iter(), plan),
        Some(OtherTable::Ledger) => {
            let entries = rows.ledger.iter().map(|(&key, &bytes)| LedgerRow { key, bytes });
            LedgerRow::columns(entries.collect::<Vec<_>>().iter(), plan)
        }
    };
    (table.name(), columns)
}

/// What the columns of a table mean.
pub(super) fn column_docs(table: Table) -> &'static [ColumnDoc] {
    match table.other() {
        None => table.event_columns(),
        Some(OtherTable::Queues) => QueueRow::COLUMNS,
        Some(OtherTable::FlowSamples) => Sampled::<FlowSample>::COLUMNS,
        Some(OtherTable::LinkSamples) => Sampled::<LinkSample>::COLUMNS,
        Some(OtherTable::Probes) => EndProbe::COLUMNS,
        Some(OtherTable::Ledger) => LedgerRow::COLUMNS,
    }
}

impl Names for Plan {
    fn flow(&self, flow: u32) -> String {
        self.flows[flow as usize].name.to_string()
    }

    fn link(&self, link: u32) -> String {
        self.links[link as usize].name(&self.nodes)
    }

    fn stream(&self, flow: FlowId, stream: u32) -> String {
        match &*self.flows[flow.index()].sender {
            PlanSender::Quic { streams: Some(streams), .. } => {
                streams[stream as usize].name(stream)
            }
            _ => String::new(),
        }
    }
}

columns!(QueueRow, (_), {
    /// When what waits has changed.
    time_s: F64 = |r| r.at.seconds(),
    /// The link.
    link: U32 = |r| r.link,
    /// Packets waiting, without the one in transmission.
    queue_packets: U32 = |r| r.packets,
    /// Their size on the wire.
    queue_bytes: U64 = |r| r.bytes,
});

/// A flow or a link at a sampling time.
struct Sampled<T> {
    time_s: f64,
    index: u32,
    state: T,
}

columns!(Sampled<FlowSample>, (_), {
    /// When.
    time_s: F64 = |r| r.time_s,
    /// The flow.
    flow: U32 = |r| r.index,
    /// Congestion window.
    cwnd_segments: F64 = |r| f64::from(r.state.cwnd),
    /// Slow start threshold.
    ssthresh_segments: F64 = |r| f64::from(r.state.ssthresh),
    /// Sent and neither acknowledged nor declared lost.
    in_flight_segments: U32 = |r| r.state.in_flight,
    /// Smoothed round-trip time.
    srtt_s: F64 = |r| f64::from(r.state.srtt_s),
    /// Payload delivered in order since the start.
    delivered_bytes: U64 = |r| r.state.delivered_bytes,
    /// Payload received since the start, each byte once: delivered, or waiting for a lost packet.
    received_bytes: U64 = |r| r.state.received_bytes,
    /// Data packets sent since the start.
    sent_packets: U64 = |r| r.state.sent_packets,
    /// Retransmissions among them.
    retransmits: U32 = |r| r.state.retransmits,
});

columns!(Sampled<LinkSample>, (_), {
    /// When.
    time_s: F64 = |r| r.time_s,
    /// The link.
    link: U32 = |r| r.index,
    /// Packets waiting, without the one in transmission.
    queue_packets: U32 = |r| r.state.queue_packets,
    /// Their size on the wire.
    queue_bytes: U64 = |r| r.state.queue_bytes,
    /// Bytes whose transmission has begun since the start.
    departed_bytes: U64 = |r| r.state.departed_bytes,
    /// Packets dropped since the start.
    dropped_packets: U64 = |r| r.state.dropped_packets,
    /// Packets marked since the start.
    marks: U64 = |r| r.state.marks,
});

/// What a control says of itself at the end.
struct EndProbe {
    flow: u32,
    probe: &'static str,
    value: f64,
}

columns!(EndProbe, (_), {
    /// The flow.
    flow: U32 = |r| r.flow,
    /// Which of the control's variables; its name ends in its unit.
    probe: Text = |r| r.probe,
    /// Its value.
    value: F64 = |r| r.value,
});

struct LedgerRow {
    key: LedgerKey,
    bytes: u64,
}

columns!(LedgerRow, (names), {
    /// The link that sent the bytes.
    link: U32 = |r| r.key.link,
    /// The flow whose packets they were.
    flow: U32 = |r| r.key.flow,
    /// Whether they were acknowledgements.
    is_ack: Bool = |r| r.key.is_ack,
    /// What became of them: `useful`, `duplicate`, `lost`, `under-way`.
    fate: Text = |r| r.key.fate.name(),
    /// The link that lost them, if they were lost.
    lost_at: Names = |r| r.key.lost_at.map_or_else(String::new, |link| names.link(link)),
    /// The flow whose packets held the buffer there.
    holder: Names = |r| r.key.holder.map_or_else(String::new, |flow| names.flow(flow)),
    /// The bytes.
    sent_bytes: U64 = |r| r.bytes,
});

/// Indices of the flows that are kept.
fn kept_flows(plan: &Plan) -> Vec<u32> {
    let every = 0..plan.flows.len() as u32;
    match &plan.record.flows {
        None => every.collect(),
        Some(listed_flows) => every.filter(|flow| listed_flows.contains(flow)).collect(),
    }
}

/// Indices of the links that are kept.
fn kept_links(plan: &Plan) -> Vec<u32> {
    let every = 0..plan.links.len() as u32;
    match &plan.record.links {
        None => every.collect(),
        Some(link_names) => every
            .filter(|&l| link_names.contains(&plan.links[l as usize].name(&plan.nodes)))
            .collect(),
    }
}

/// The columns of samples of those kept: of whole intervals of so many rows, the first with its number.
fn fill_samples<T: Copy>(
    plan: &Plan,
    (first, samples): (usize, &[T]),
    width: usize,
    kept: &[u32],
) -> Columns
where
    Sampled<T>: Columned,
{
    let interval = plan.record.interval.map_or(0, |i| i.0);
    let mut rows = Vec::with_capacity(samples.len() / width.max(1) * kept.len());
    for (number, interval_samples) in samples.chunks_exact(width.max(1)).enumerate() {
        let time_s = Time(interval * (first + number) as u64).seconds();
        rows.extend(kept.iter().map(|&index| {
            let state = interval_samples[index as usize];
            Sampled { time_s, index, state }
        }));
    }
    Sampled::columns(rows.iter(), plan)
}
