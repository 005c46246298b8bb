//! Endpoints of flows: TCP senders and receivers. Unresponsive senders live in `traffic`.

mod application;
mod config;
mod media;
mod misbehaving;
mod rate;
mod receiver;
mod rto;
mod sampler;
#[cfg(test)]
pub(crate) mod scripted;
mod sender;
#[cfg(test)]
mod tests;
mod transfer;

/// Most segments that a flow may have in flight, whatever its control sets: 1 Tbit/s for 0.1 s, ten times what the
/// windows of TCP can announce (2^30 bytes, RFC 7323 section 2.3). A burst has room in memory.
pub const MOST_IN_FLIGHT: u32 = 1 << 23;

pub use application::Supply;
pub use config::TcpConfig;
pub use misbehaving::receiver;
pub(crate) use rate::Deliveries;
pub(crate) use receiver::segments_of;
pub use receiver::{Receiver, ReceiverParts, TIMESTAMP_BYTES};
pub use rto::Rto;
pub(crate) use sampler::Sampler;
pub use sender::{Sender, SenderParts};
pub(crate) use transfer::{Stage, Transfer, Watch, earliest, is_window, next_departure, tick};

/// What a control reports of its inner state: names and values.
pub(crate) fn probes(cc: &dyn crate::cc::CongestionControl) -> Vec<(&'static str, f64)> {
    let mut probes = Vec::new();
    cc.probes(&mut |name, value| probes.push((name, value)));
    probes
}
