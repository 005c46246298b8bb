//! Predicts the memory of a run: what it keeps for each flow, and the tables that it records.

use super::plan::Plan;
use super::work::Passages;
use super::work::timers::under_way;
use crate::record::Estimate;
use crate::units::Span;

/// State of a flow's two ends, its packets under way and its share of the results [bytes].
const FLOW_BYTES: f64 = 9216.0;

/// A packet under way [bytes]: on a wire or in a queue, in its sender's and its receiver's records, and room for as many
/// more as a table that grows by doubling has.
const PACKET_BYTES: f64 = 160.0;

/// A row of a recorded table [bytes]: in the core, in the table, and once more while it is written.
const ROW_BYTES: f64 = 96.0;

/// Interval of sampled tables where none is given [s].
const INTERVAL_S: f64 = 0.1;

/// Predicts rows of recorded tables, their bytes in memory, and those of the whole run.
pub(super) fn predict(plan: &Plan, packet_hops: f64, passages: &Passages) -> [f64; 3] {
    let interval = plan.record.interval.map_or(INTERVAL_S, Span::seconds);
    let samples = plan.duration.seconds() / interval;
    let flows = plan.record.flows.as_ref().map_or(plan.flows.len(), Vec::len) as f64;
    let links = plan.record.links.as_ref().map_or(plan.links.len(), Vec::len) as f64;
    let hops_per_packet = plan.flows.iter().map(|flow| flow.route.len()).max().unwrap_or(1).max(1);
    let rows = plan.record.tables.iter().map(|table| match table.estimate() {
        Estimate::PerFlowSample => flows * samples,
        Estimate::PerLinkSample => links * samples,
        Estimate::PerPacket(rows) => rows * packet_hops / hops_per_packet as f64,
        Estimate::PerHop(rows) => rows * packet_hops,
        Estimate::Few => 0.0,
    });
    let rows: f64 = rows.sum();
    let tables = rows * ROW_BYTES;
    let packets = under_way(plan, &passages.sent);
    let flows = plan.flows.len() as f64 * FLOW_BYTES;
    [rows, tables, tables + flows + packets * PACKET_BYTES]
}
