//! ROOM: credits of receivers. Who may send to a host, how much, and when, as the host says.
//!
//! A sender begins with what it may send unheard; from then on it sends what grants allow. One rule serves all flows whose data
//! reach a host over the same last link. Credit is one axis beside the window: with a control both limit, with `cc = "none"`
//! credit alone.
//!
//! A new rule: one file here that implements [`About`](crate::registry::About) and [`CreditRule`], and one line in the registry
//! at the end of this file.

pub mod homa;
mod host;
pub mod rccc;
mod spending;

pub use host::{CreditedReceiver, Host};
pub use spending::Spending;

use crate::units::{BitRate, Span, Time};

/// What a new rule knows: its flow, and the link that its host shares out.
#[derive(Clone, Copy, Debug)]
pub struct CreditEnv {
    /// Bytes on the wire of a full segment.
    pub wire_size: u32,
    /// Rate of the first link of the flow's path.
    pub line_rate: BitRate,
    /// Rate of the last one.
    pub last_rate: BitRate,
    /// Round trip of a full segment and its acknowledgement over the idle path.
    pub round_trip: Span,
}

impl CreditEnv {
    /// Bytes that the path holds at line rate, a full segment at least.
    pub fn product(&self) -> f64 {
        let bytes = self.line_rate.bps() / 8.0 * self.round_trip.seconds();
        bytes.max(f64::from(self.wire_size))
    }
}

/// What a sender does with credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes that may leave unheard.
    pub first: u64,
    /// What is left of them when the first answer comes is not for use any more.
    pub first_expires: bool,
    /// Most credit that a sender keeps, in bytes.
    pub most: u64,
    /// What is sent again needs credit, too.
    pub for_repeats: bool,
}

/// Data, or the header of data whose payload was cut off, that has come to a receiver.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The present.
    pub now: Time,
    /// Up to where the sender has use for credit, in units from the beginning of the flow.
    pub wanted: u64,
    /// It left without credit, or the payload was cut off: the sender needs credit, whatever it said before.
    pub is_urgent: bool,
    /// Bytes on the wire of all segments that have come, each counted once.
    pub received: u64,
    /// All has come.
    pub is_complete: bool,
}

/// A rule by which a host gives credit to the flows that end there. Credit is counted in units of
/// [`CREDIT_UNIT`](crate::wire::CREDIT_UNIT) from the beginning of a flow.
pub trait CreditRule: Send {
    /// What the sender of a flow does with its credit.
    fn allowance(&self) -> Allowance;
    /// Grants for each packet of data, about, for predictions.
    fn grants_per_packet(&self) -> f64;
    /// A flow ends at this host; flows are numbered in the order of these calls. `size`: bytes on the wire of all its segments,
    /// [`u64::MAX`] if it is endless; `allowance`: its sender's.
    fn join(&mut self, size: u64, allowance: &Allowance);
    /// Something has come to a flow.
    fn on_arrival(&mut self, flow: usize, arrival: &Arrival);
    /// The flow that is given credit next, and when; a time that has passed is now.
    fn due(&self) -> Option<(usize, Time)>;
    /// That flow is given credit: the total so far.
    fn give(&mut self, now: Time) -> u64;
}

crate::registry! {
    /// Builds a rule of credits by name.
    "rule of credits": dyn CreditRule, CreditEnv {
        "credits/rccc.rs" => rccc::Rccc,
        "credits/homa.rs" => homa::Homa,
    }
}
