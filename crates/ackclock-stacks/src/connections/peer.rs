//! What an end of a flow needs of a library: an endpoint of QUIC with its only connection.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

/// Directions.
pub(super) const TO_SERVER: usize = 0;
pub(super) const TO_CLIENT: usize = 1;

/// The address of the end that receives in this direction.
pub(super) fn address(way: usize) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, way as u16 + 1))
}

/// What ECN says of a datagram (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Capable,
    Experienced,
}

/// What has happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    Connected,
    /// The peer has acknowledged all of the stream.
    Finished,
    Lost(String),
    Other,
}

/// What a connection knows of its path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// Bytes.
    pub(super) window: u64,
    /// Bytes; `None` where the control has none.
    pub(super) ssthresh: Option<u64>,
    pub(super) srtt: Duration,
    pub(super) rtt_min: Duration,
    /// Packets declared lost.
    pub(super) lost: u64,
}

/// An endpoint with at most one connection. All calls before there is one do nothing.
pub(super) trait Peer: Send {
    /// Connects to the server.
    fn connect(&mut self, now: Instant) -> Result<(), String>;
    /// Takes a datagram.
    fn arrive(&mut self, now: Instant, mark: Option<Mark>, datagram: &[u8]) -> Result<(), String>;
    /// When the next timer is due.
    fn timeout(&mut self) -> Option<Instant>;
    /// Runs the timers that are due.
    fn run_timers(&mut self, now: Instant);
    /// What has happened, one event at a time.
    fn poll(&mut self) -> Option<Happened>;
    /// Appends the next datagram that may leave now; whether it is capable of ECN.
    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<bool>;
    /// Opens the stream.
    fn open(&mut self);
    /// Hands over up to this many bytes of zeros; how many were taken.
    fn write(&mut self, most: usize) -> Result<usize, String>;
    /// Ends the stream; only the first time does something.
    fn finish(&mut self);
    /// Takes what has arrived in order; how many bytes.
    fn read(&mut self) -> u64;
    /// Window, round trip, losses; `None` before there is a connection.
    fn state(&self) -> Option<State>;
}
