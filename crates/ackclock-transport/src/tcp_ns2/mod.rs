//! One-way TCP as ns-2.35 has it, event for event: senders Tahoe, Reno, NewReno, Sack1 and Vegas,
//! and their sinks.
//!
//! **Source**: the ns-2 reference cases (runs of ns-2.35) and the list of ns-2's habits that comes
//! with them. Where the habits are older than ns-2: Fall & Floyd, "Simulation-based Comparisons of
//! Tahoe, Reno, and SACK TCP", CCR 26(3), 1996, doi:10.1145/235160.235162.
//!
//! How it differs from a TCP of today: everything counts packets; packet 0 is the connection
//! request (40 B) and data begins with packet 1; there is no handshake the other way and no FIN;
//! ssthresh is a whole number; RTT is counted in clock ticks; the first reduction always halves.
//!
//! Parts: [`Ns2Sender`] is the endpoint; `machine` is what all variants share (sending, timer,
//! window); `clock` is the integer RTT estimator; `tahoe`, `reno`, `newreno`, `sack1` and `vegas` are
//! the reactions to acknowledgements, and `departures` what Vegas keeps of each packet; [`Ns2Sink`]
//! is the receiver.

mod clock;
mod departures;
mod machine;
mod newreno;
mod options;
mod reno;
mod ring;
mod sack1;
mod sender;
mod sink;
mod stamps;
mod tahoe;
mod vegas;

pub use options::Ns2Options;
pub use sender::{Ns2Parts, Ns2Sender, Ns2Variables};
pub use sink::Ns2Sink;
pub use vegas::Thresholds;

use crate::tcp::TcpConfig;

/// Which of ns-2's senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `Agent/TCP`: fast retransmit, then slow start from one packet.
    Tahoe,
    /// `Agent/TCP/Reno`: fast recovery that ends with the first new acknowledgement.
    Reno,
    /// `Agent/TCP/Newreno`: fast recovery that lasts until everything sent before it is acknowledged.
    NewReno,
    /// `Agent/TCP/Sack1`: the pipe algorithm over a scoreboard. Needs a sink that sends SACK blocks.
    Sack1,
    /// `Agent/TCP/Vegas`: its own window and retransmissions, by these thresholds.
    Vegas(Thresholds),
}

impl Variant {
    /// The variants by the registry name of the loss recovery that each has built in.
    pub const RECOVERIES: [(&str, Self); 4] = [
        ("tahoe", Self::Tahoe),
        ("reno", Self::Reno),
        ("newreno", Self::NewReno),
        ("sack", Self::Sack1),
    ];

    /// The variant of a loss recovery's registry name.
    pub fn of_recovery(name: &str) -> Option<Self> {
        Self::RECOVERIES.iter().find(|(recovery, _)| *recovery == name).map(|&(_, variant)| variant)
    }

    /// A flow's settings as this agent has them: Vegas has no connection request, headers or ECN.
    pub fn settle(self, config: TcpConfig) -> TcpConfig {
        if matches!(self, Self::Vegas(_)) {
            TcpConfig { syn: false, header: 0, ecn: false, ..config }
        } else {
            config
        }
    }
}
