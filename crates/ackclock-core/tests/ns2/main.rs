//! Era `ns2` against what ns-2.35 did: single senders event by event, whole networks by counts or by statistics.
//!
//! One program, since each links the whole core.

mod agreement;
mod cases;
mod exact;
mod failure;
mod large;
mod networks;
mod single_flow;
