//! quiche as a guest of ackclock: `quiche-guest [cubic|reno|bbr2_gcongestion]`. A client sends one stream, a server reads
//! it and then closes its side, by which the client knows that all has arrived.
//!
//! quiche is what its package is. The clock that it reads is the simulator's (clock.rs), and its random numbers follow the
//! seed (seeded.rs, random.rs). A packet is made when quiche says that it is to leave ([`Connection::get_next_release_time`]), since one
//! that is made and waits counts as in flight; of its controls only bbr2_gcongestion paces.
//!
//! Left out: ECN, which quiche 0.30 does not send. quiche does not report what is acknowledged of the stream, the slow
//! start threshold or reductions: a client's bytes are known when all have arrived, and a smaller window than at the last
//! event counts as a reduction. What a stop finds in quiche's buffer, a window of it at most, is still sent.

#[path = "../../rust/src/frames.rs"]
mod frames;

mod clock;
mod random;
mod seeded;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Instant;

use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod};
use boring::x509::X509;
use frames::{Answer, NONE, Stack, Start, State, serve};
use quiche::{Config, Connection, ConnectionId, RecvInfo};

const CERTIFICATE: &[u8] =
    include_bytes!("../../../../crates/ackclock-stacks/certificate/cert.der");
const KEY: &[u8] = include_bytes!("../../../../crates/ackclock-stacks/certificate/key.der");
const PROTOCOL: &[&[u8]] = &[b"guest"];
const STREAM: u64 = 0;
/// Windows of flow control that never limit [bytes].
const UNBOUND: u64 = 1 << 50;
static PIECE: [u8; LONGEST] = [0; LONGEST];
const LONGEST: usize = 1 << 16;

/// Either end.
struct Peer {
    control: String,
    connection: Option<Connection>,
    config: Option<Config>,
    name: [u8; 16],
    is_client: bool,
    /// Of a client: bytes that it may still hand over, whether no more will come, and what it has handed over.
    left: u64,
    is_last: bool,
    has_ended: bool,
    handed_over: u64,
    /// Of a server, what it has read; of a client, all of it when the server has closed its side.
    delivered: u64,
    is_complete: bool,
    window: u64,
    reductions: u64,
    buffer: Box<[u8]>,
}

fn say(error: impl std::fmt::Display) -> String {
    format!("quiche: {error}")
}

/// The time of the simulation [ns] at which this clock shows an instant; `now` for what has passed.
fn time_of(instant: Instant, now: u64) -> u64 {
    now + instant.saturating_duration_since(Instant::now()).as_nanos() as u64
}

const fn address(host: u8) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, host), 4433))
}

/// The certificate's signatures are of Ed25519, whose length is always the same.
fn configure(control: &str, start: &Start) -> Result<Config, String> {
    let mut security = SslContextBuilder::new(SslMethod::tls()).map_err(say)?;
    security.set_sigalgs_list("ed25519").map_err(say)?;
    if !start.is_client {
        let certificate = X509::from_der(CERTIFICATE).map_err(say)?;
        let key = PKey::private_key_from_der(KEY).map_err(say)?;
        security.set_certificate(&certificate).map_err(say)?;
        security.set_private_key(&key).map_err(say)?;
    }
    let version = quiche::PROTOCOL_VERSION;
    let mut config = Config::with_boring_ssl_ctx_builder(version, security).map_err(say)?;
    config.verify_peer(false);
    config.set_application_protos(PROTOCOL).map_err(say)?;
    config.set_cc_algorithm_name(control).map_err(|_| {
        format!("quiche has no control {control}, expected cubic, reno or bbr2_gcongestion")
    })?;
    config.set_initial_congestion_window_packets(start.initial_window as usize);
    config.set_max_send_udp_payload_size(start.max_datagram as usize);
    config.set_max_recv_udp_payload_size(LONGEST - 1);
    config.set_initial_max_data(UNBOUND);
    config.set_initial_max_stream_data_bidi_local(UNBOUND);
    config.set_initial_max_stream_data_bidi_remote(UNBOUND);
    config.set_initial_max_streams_bidi(1);
    config.set_max_connection_window(UNBOUND);
    config.set_max_stream_window(UNBOUND);
    config.set_disable_active_migration(true);
    Ok(config)
}

impl Peer {
    fn new(control: String) -> Self {
        Self {
            control,
            connection: None,
            config: None,
            name: [0; 16],
            is_client: false,
            left: 0,
            is_last: false,
            has_ended: false,
            handed_over: 0,
            delivered: 0,
            is_complete: false,
            window: 0,
            reductions: 0,
            buffer: vec![0; LONGEST].into(),
        }
    }

    /// A client's application: hands over as much as quiche takes.
    fn hand_over(&mut self) -> Result<(), String> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        if !self.is_client || !connection.is_established() || self.has_ended {
            return Ok(());
        }
        loop {
            let count = self.left.min(PIECE.len() as u64) as usize;
            let ends = self.is_last && count as u64 == self.left;
            if count == 0 && !ends {
                return Ok(());
            }
            match connection.stream_send(STREAM, &PIECE[..count], ends) {
                Ok(taken) => {
                    self.handed_over += taken as u64;
                    if self.left != NONE {
                        self.left -= taken as u64;
                    }
                    if taken == count && ends {
                        self.has_ended = true;
                        return Ok(());
                    }
                    if taken < count {
                        return Ok(());
                    }
                }
                Err(quiche::Error::Done) => return Ok(()),
                Err(error) => return Err(say(error)),
            }
        }
    }

    /// Either end's application: reads what has come.
    fn read(&mut self) -> Result<(), String> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        while connection.stream_readable(STREAM) {
            match connection.stream_recv(STREAM, &mut self.buffer) {
                Ok((count, ends)) => {
                    if !self.is_client {
                        self.delivered += count as u64;
                        if ends {
                            connection.stream_send(STREAM, &[], true).map_err(say)?;
                        }
                    } else if ends {
                        (self.delivered, self.is_complete) = (self.handed_over, true);
                    }
                }
                Err(quiche::Error::Done) => break,
                Err(error) => return Err(say(error)),
            }
        }
        Ok(())
    }

    fn drive(&mut self, now: u64) -> Result<Answer, String> {
        self.read()?;
        let mut datagrams = Vec::new();
        let release = loop {
            self.hand_over()?;
            let Some(connection) = &mut self.connection else { return Ok(Answer::default()) };
            if let Some(error) = connection.local_error().or(connection.peer_error()) {
                let reason = String::from_utf8_lossy(&error.reason);
                return Err(format!(
                    "quiche: the connection was lost: {} {reason}",
                    error.error_code
                ));
            }
            let decision = connection.get_next_release_time();
            let release = decision.and_then(|decision| decision.time(Instant::now()));
            if release.is_some() {
                break release;
            }
            match connection.send(&mut self.buffer) {
                Ok((count, _)) => datagrams.push((0, self.buffer[..count].to_vec())),
                Err(quiche::Error::Done) => break None,
                Err(error) => return Err(say(error)),
            }
        };
        let timer = self.connection.as_ref().and_then(Connection::timeout_instant);
        let due = timer.into_iter().chain(release).min();
        Ok(Answer {
            datagrams,
            deadline: due.map_or(NONE, |instant| time_of(instant, now)),
            delivered: self.delivered,
            is_complete: self.is_complete,
            state: self.state(),
        })
    }

    fn state(&mut self) -> Option<State> {
        let connection = self.connection.as_ref().filter(|_| self.is_client)?;
        let path = connection.path_stats().next()?;
        let all = connection.stats();
        let window = path.cwnd as u64;
        self.reductions += u64::from(window < self.window);
        self.window = window;
        // Before the first sample quiche has a guess, and no minimum.
        let is_known = path.min_rtt.is_some();
        Some(State {
            cwnd: window,
            ssthresh: NONE,
            in_flight: all.sent_bytes.saturating_sub(all.acked_bytes + all.lost_bytes),
            srtt: if is_known { path.rtt.as_nanos() as u64 } else { 0 },
            min_rtt: path.min_rtt.map_or(0, |least| least.as_nanos() as u64),
            lost: path.lost as u64,
            reductions: self.reductions,
            ..State::default()
        })
    }
}

impl Stack for Peer {
    fn start(&mut self, now: u64, start: &Start) -> Result<Answer, String> {
        if start.max_datagram < 1200 {
            let size = start.max_datagram;
            return Err(format!("quiche sends datagrams of 1200 bytes or more, not of {size}"));
        }
        clock::set(now);
        let seed = start.seed_of_end();
        seeded::seed(seed);
        self.name[..8].copy_from_slice(&seed.to_be_bytes());
        self.name[15] = u8::from(!start.is_client);
        let mut config = configure(&self.control, start)?;
        self.is_client = start.is_client;
        if self.is_client {
            (self.left, self.is_last) = (start.bytes, !start.more_data);
            let name = ConnectionId::from_ref(&self.name);
            let connection = quiche::connect(None, &name, address(1), address(2), &mut config);
            self.connection = Some(connection.map_err(say)?);
        }
        self.config = Some(config);
        self.drive(now)
    }

    fn packet(&mut self, now: u64, _mark: u8, datagram: &[u8]) -> Result<Answer, String> {
        clock::set(now);
        if self.connection.is_none()
            && let Some(config) = &mut self.config
        {
            let name = ConnectionId::from_ref(&self.name);
            let connection = quiche::accept(&name, None, address(2), address(1), config);
            self.connection = Some(connection.map_err(say)?);
        }
        let (here, there) = if self.is_client { (1, 2) } else { (2, 1) };
        if let Some(connection) = &mut self.connection {
            let info = RecvInfo { from: address(there), to: address(here) };
            // It is decrypted where it lies.
            match connection.recv(&mut datagram.to_vec(), info) {
                Ok(_) | Err(quiche::Error::Done) => {}
                Err(error) => return Err(say(error)),
            }
        }
        self.drive(now)
    }

    fn time(&mut self, now: u64) -> Result<Answer, String> {
        clock::set(now);
        if let Some(connection) = &mut self.connection
            && connection.timeout_instant().is_some_and(|due| time_of(due, now) <= now)
        {
            connection.on_timeout();
        }
        self.drive(now)
    }

    fn data(&mut self, now: u64, bytes: u64, is_last: bool) -> Result<Answer, String> {
        clock::set(now);
        if is_last {
            (self.left, self.is_last) = (0, true);
        } else if self.left != NONE {
            self.left = self.left.saturating_add(bytes);
        }
        self.drive(now)
    }
}

fn main() -> io::Result<()> {
    let control = std::env::args().nth(1).unwrap_or_else(|| "cubic".to_owned());
    let title = format!("quiche 0.30.0 {control}");
    serve(&mut Peer::new(control), &title, true)
}
