//! One end of a connection without the engine: for a guest by the protocol of `docs/reference/guest-protocol.md`.
//!
//! It calls the same [`Peer`] as [`super::ends`] does, in the same order.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ackclock_core::ids::FlowId;
use ackclock_core::packet::EndsEnv;
use ackclock_core::quic::QuicConfig;
use ackclock_core::scenario::QuicOptions;
use ackclock_core::units::{Bytes, Span};

use super::peer::{Happened, Mark, Peer};
use super::seen::Seen;
use super::{ZEROS, list_offered};

/// What an end has to know of its flow.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Whether it connects and sends.
    pub is_client: bool,
    /// ECN may be used.
    pub ecn: bool,
    /// Number of the flow.
    pub flow: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Bytes of a full datagram.
    pub max_datagram: u32,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Bytes to transfer; `None`: without end.
    pub bytes: Option<u64>,
}

/// State of a sender.
#[derive(Clone, Debug)]
pub struct SenderState {
    /// Window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes.
    pub ssthresh: Option<u64>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Smoothed round trip [ns].
    pub srtt_ns: u64,
    /// Shortest round trip [ns].
    pub min_rtt_ns: u64,
    /// Packets declared lost.
    pub lost: u64,
    /// Reductions of the window.
    pub reductions: u64,
}

/// What an end does now.
#[derive(Clone, Debug)]
pub struct Connected {
    /// Whether each is capable of ECN, and its bytes.
    pub datagrams: Vec<(bool, Vec<u8>)>,
    /// Its next timer [ns].
    pub deadline_ns: Option<u64>,
    /// Bytes read by a server, or acknowledged to a client.
    pub delivered: u64,
    /// All is acknowledged.
    pub is_complete: bool,
    /// State of a client with a connection.
    pub state: Option<SenderState>,
}

/// One end.
#[expect(missing_debug_implementations, reason = "holds a library's connection")]
pub struct Driven {
    peer: Box<dyn Peer>,
    seen: Arc<Seen>,
    base: Instant,
    is_client: bool,
    left: Option<u64>,
    delivered: u64,
    is_complete: bool,
}

/// Name and release of a connection.
pub fn title(name: &str) -> String {
    let stack = name.split_once('/').map_or(name, |(stack, _)| stack);
    super::release(stack)
        .map_or_else(|| name.to_owned(), |r| format!("{name} of {} {}", r.name, r.version))
}

impl Driven {
    /// An end of the connection of this name.
    ///
    /// # Errors
    /// There is none, or it cannot be made.
    pub fn new(name: &str, flow: &Flow) -> Result<Self, String> {
        let Some((_, _, maker)) = list_offered().find(|(_, info, _)| info.name == name) else {
            let names = super::names().join(", ");
            return Err(format!("there is no connection \"{name}\"; expected one of {names}"));
        };
        let config = QuicConfig::of(&QuicOptions {
            max_datagram: Some(flow.max_datagram),
            initial_window: Some(flow.initial_window),
            ecn: Some(flow.ecn),
            ..QuicOptions::default()
        });
        let env = EndsEnv {
            flow: FlowId(flow.flow),
            config: &config,
            size: flow.bytes.map(Bytes),
            stop: None,
            is_paced: false,
            supply: None,
            round_trip: Span::ZERO,
            seed: flow.seed,
        };
        let first = u64::from(flow.max_datagram) * u64::from(flow.initial_window);
        // Both are made, so that each draws what it would beside the other.
        let ([client, server], observed) = maker(&env, first)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the instants of the libraries begin somewhere"
        )]
        let base = Instant::now();
        Ok(Self {
            peer: if flow.is_client { client } else { server },
            seen: observed,
            base,
            is_client: flow.is_client,
            left: flow.bytes,
            delivered: 0,
            is_complete: false,
        })
    }

    fn instant(&self, now_ns: u64) -> Instant {
        self.base + Duration::from_nanos(now_ns)
    }

    /// The flow begins.
    ///
    /// # Errors
    /// What the library says.
    pub fn start(&mut self, now_ns: u64) -> Result<Connected, String> {
        if self.is_client {
            self.peer.connect(self.instant(now_ns))?;
        }
        self.drive(now_ns)
    }

    /// A datagram arrives.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn packet(&mut self, now_ns: u64, mark: u8, datagram: &[u8]) -> Result<Connected, String> {
        let mark = match mark {
            0 => None,
            3 => Some(Mark::Experienced),
            _ => Some(Mark::Capable),
        };
        self.peer.arrive(self.instant(now_ns), mark, datagram)?;
        self.drive(now_ns)
    }

    /// A timer is due.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn time(&mut self, now_ns: u64) -> Result<Connected, String> {
        self.peer.run_timers(self.instant(now_ns));
        self.drive(now_ns)
    }

    fn drive(&mut self, now_ns: u64) -> Result<Connected, String> {
        while let Some(happened) = self.peer.poll() {
            match happened {
                Happened::Connected if self.is_client => self.peer.open(),
                Happened::Finished => self.is_complete = true,
                Happened::Lost(reason) => return Err(format!("the connection was lost: {reason}")),
                _ => {}
            }
        }
        if self.is_client {
            self.write()?;
            self.delivered = self.seen.acked();
        } else {
            self.delivered += self.peer.read();
        }
        let (mut datagrams, mut buffer) = (Vec::new(), Vec::new());
        while let Some(capable) = self.peer.transmit(self.instant(now_ns), &mut buffer) {
            datagrams.push((capable, std::mem::take(&mut buffer)));
        }
        let since =
            |instant: Instant| instant.saturating_duration_since(self.base).as_nanos() as u64;
        let deadline_ns = self.peer.timeout().map(since);
        let state = self.peer.state().filter(|_| self.is_client).map(|state| SenderState {
            cwnd: state.window,
            ssthresh: state.ssthresh.filter(|&bytes| bytes < u64::MAX),
            in_flight: self.seen.in_flight(),
            srtt_ns: state.srtt.as_nanos() as u64,
            min_rtt_ns: state.rtt_min.as_nanos() as u64,
            lost: state.lost,
            reductions: self.seen.reductions(),
        });
        let (delivered, is_complete) = (self.delivered, self.is_complete);
        Ok(Connected { datagrams, deadline_ns, delivered, is_complete, state })
    }

    /// Fills the stream as far as the send buffer lets.
    fn write(&mut self) -> Result<(), String> {
        loop {
            let most =
                self.left.map_or(ZEROS.len(), |left| (ZEROS.len() as u64).min(left) as usize);
            if most == 0 {
                self.peer.finish();
                return Ok(());
            }
            let written = self.peer.write(most)?;
            if written == 0 {
                return Ok(());
            }
            if let Some(left) = &mut self.left {
                *left -= written as u64;
            }
        }
    }
}
