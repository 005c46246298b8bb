//! ROOM: arrivals. When TCP transfers begin, how much they carry, and between which hosts.
//!
//! The compiler calls a generator until the scenario's end and makes one flow of each arrival.
//!
//! A new generator: one file here that implements [`About`](crate::registry::About) and
//! [`Arrivals`], and one line in the registry at the end of this file.

pub mod poisson;
pub mod sizes;
pub mod trace;
pub mod users;
pub mod vectors;

use crate::era::Era;
use crate::rng::Stream;
use crate::units::{Bytes, Span, Time};

/// A transfer that begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// When.
    pub at: Time,
    /// Payload; absent: endless.
    pub size: Option<Bytes>,
    /// Host pair; absent: the flow template's.
    pub pair: Option<u32>,
    /// From the pair's receiving host to its sending one.
    pub back: bool,
    /// Parts of the size that the application hands over, each a pause after the one before it has been
    /// acknowledged; empty: all at once.
    pub turns: Vec<(Bytes, Span)>,
}

impl Arrival {
    /// A transfer that is handed over at once.
    pub fn at_once(time: Time, size: Option<Bytes>, pair: Option<u32>) -> Self {
        Self { at: time, size, pair, back: false, turns: Vec::new() }
    }
}

/// Most turns of connections, or downloads, that a generator draws before the first arrival.
const MOST_AHEAD: f64 = 2e7;

/// Most turns of all connections of a generator.
pub const MOST_TURNS: f64 = MOST_AHEAD;

/// A generator of transfers.
pub trait Arrivals: Send {
    /// The next transfer, never earlier than the one before; none when there are no more.
    fn next(&mut self, rng: &mut Stream) -> Option<Arrival>;

    /// How many transfers are expected up to a time of the run, or a lower bound of it, before the first is drawn.
    fn expected(&self, _end: Span) -> f64 {
        0.0
    }

    /// How many turns their connections have together.
    fn expected_turns(&self, _end: Span) -> f64 {
        0.0
    }
}

/// What a new generator knows.
#[derive(Clone, Copy, Debug)]
pub struct ArrivalsEnv {
    /// Defaults of this era apply where a parameter is left out.
    pub era: Era,
}

crate::registry! {
    /// Builds a generator of transfers by name.
    "traffic generator": dyn Arrivals, ArrivalsEnv {
        "traffic/arrivals/poisson.rs" => poisson::Poisson,
        "traffic/arrivals/trace.rs" => trace::TraceArrivals,
        "traffic/arrivals/users.rs" => users::Users,
        "traffic/arrivals/vectors.rs" => vectors::ConnectionVectors,
    }
}

#[cfg(test)]
mod tests;
