//! ackclock's QUIC sender on the path.

use std::time::Duration;

use ackclock_core::scenario::Scenario;
use ackclock_core::{compile, packet};
use serde_json::json;

use crate::{Control, Path, Trace};

/// Bytes of a datagram, as quinn is set to.
const DATAGRAM: f64 = 1200.0;

/// Runs one endless flow of our own sender.
///
/// # Errors
/// A sentence, if the scenario does not compile or the run fails.
pub fn run_ours(
    control: Control,
    path: Path,
    warmup: Duration,
    end: Duration,
) -> Result<Trace, String> {
    let cc = if control == Control::Reno { "aimd" } else { "cubic" };
    let delay = path.delay.as_secs_f64();
    let link = json!({ "a": "a", "b": "b", "rate": path.rate_bps, "delay": delay,
        "buffer": format!("{} pkt", path.buffer) });
    // What comes back has as much room as it needs: quinn's acknowledgements pass no bottleneck.
    let back = json!({ "link": "b->a", "rate": 1e12, "buffer": "unlimited" });
    let scenario = json!({
        "net": { "kind": "graph", "links": [link] }, "links": [back],
        "flows": [{ "src": "a", "dst": "b", "transport": "quic", "cc": cc }],
        "duration": end.as_secs_f64(), "warmup": warmup.as_secs_f64(),
        "record": { "tables": ["windows"] },
    });
    let scenario: Scenario = serde_json::from_value(scenario).map_err(|e| e.to_string())?;
    let plan = compile::compile(&scenario).map_err(|problems| format!("{problems:?}"))?;
    let results = packet::run(&plan, &mut |_| true).map_err(|error| format!("{error:?}"))?;
    let mut trace = Trace::default();
    for row in &results.recorder.windows {
        trace.note(Duration::from_secs_f64(row.at.seconds()), row.cwnd * DATAGRAM);
    }
    let flow = &results.flows[0];
    trace.delivered = [flow.receiver_at_warmup.delivered_bytes, flow.receiver.delivered_bytes];
    trace.dropped = results.links[0].drops;
    Ok(trace)
}
