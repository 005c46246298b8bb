//! One flow on a path with one bottleneck, whoever is at its ends.

use std::time::Duration;

use ackclock_core::scenario::Scenario;
use ackclock_core::{compile, packet};
use serde_json::json;

use crate::Trace;
use crate::controls::Libraries;

/// Bytes of a datagram.
pub const DATAGRAM: f64 = 1200.0;

/// A path with one bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// Rate of the bottleneck in bit/s.
    pub rate_bps: f64,
    /// Propagation delay of each direction.
    pub delay: Duration,
    /// Packets that may wait at the bottleneck, besides the one in transmission.
    pub buffer: usize,
}

/// Runs one endless flow over QUIC with this control.
///
/// # Errors
/// A sentence, if the scenario does not compile or the run fails.
pub fn run_single(cc: &str, path: Path, warmup: Duration, end: Duration) -> Result<Trace, String> {
    let link = json!({ "a": "a", "b": "b", "rate": path.rate_bps, "delay": path.delay.as_secs_f64(),
        "buffer": format!("{} pkt", path.buffer) });
    // Acknowledgements wait nowhere.
    let back = json!({ "link": "b->a", "rate": 1e12, "buffer": "unlimited" });
    let scenario = json!({
        "net": { "kind": "graph", "links": [link] }, "links": [back],
        "flows": [{ "src": "a", "dst": "b", "transport": "quic", "cc": cc }],
        "duration": end.as_secs_f64(), "warmup": warmup.as_secs_f64(),
        "record": { "tables": ["windows"] },
    });
    let scenario: Scenario = serde_json::from_value(scenario).map_err(|e| e.to_string())?;
    let plan = compile::compile(&scenario).map_err(|problems| format!("{problems:?}"))?;
    let results = packet::run_with(&plan, &Libraries, &mut |_| true);
    let results = results.map_err(|error| format!("{error:?}"))?;
    let mut trace = Trace::default();
    for row in &results.tables.windows {
        trace.note(Duration::from_secs_f64(row.at.seconds()), row.cwnd * DATAGRAM);
    }
    let flow = &results.flows[0];
    trace.delivered = [flow.receiver_at_warmup.delivered_bytes, flow.receiver.delivered_bytes];
    trace.dropped = results.links[0].drops;
    Ok(trace)
}
