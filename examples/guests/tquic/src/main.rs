//! TQUIC as a guest of ackclock: `tquic-guest [cubic|bbr|bbr3|copa]`. A client sends one stream, a server reads it and then
//! closes its side, by which the client knows that all has arrived.
//!
//! TQUIC is what its package is. The clock that it reads is the simulator's (clock.rs of the guest of quiche), and its
//! random numbers follow the seed (getrandom). What BoringSSL draws for keys changes neither size nor time of a packet:
//! the certificate is of RSA, whose signatures have one length. Timers are those of a program that waits by epoll: in
//! whole milliseconds. Without that its pacer is called each few microseconds while the window is full.
//!
//! Left out: ECN, which TQUIC 1.6 does not send. It does not report what is acknowledged of the stream: a client's bytes
//! are known when all have arrived. What a stop finds in its buffer, half a megabyte at most, is still sent.

#[path = "../../rust/src/frames.rs"]
mod frames;

#[path = "../../quiche/src/clock.rs"]
mod clock;

use std::cell::RefCell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use frames::{Answer, NONE, Stack, Start, State, serve};
use tquic::{
    Config, Connection, Endpoint, PacketInfo, PacketSendHandler, TlsConfig, TransportHandler,
};

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/certificate.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/key.pem");
const STREAM: u64 = 0;
/// Windows of flow control that never limit [bytes].
const UNBOUND: u64 = 1 << 50;
static PIECE: [u8; 1 << 16] = [0; 1 << 16];

/// What the application knows, and the endpoint's calls change.
#[derive(Default)]
struct Application {
    is_client: bool,
    is_open: bool,
    connection: Option<u64>,
    /// Of a client: bytes that it may still hand over, whether no more will come, and what it has handed over.
    left: u64,
    is_last: bool,
    has_ended: bool,
    handed_over: u64,
    /// Of a server, what it has read; of a client, all of it when the server has closed its side.
    delivered: u64,
    is_complete: bool,
    failure: Option<String>,
}

impl Application {
    /// A client: hands over as much as TQUIC takes.
    fn hand_over(&mut self, connection: &mut Connection) -> tquic::Result<()> {
        while self.is_client && self.is_open && !self.has_ended {
            let count = self.left.min(PIECE.len() as u64) as usize;
            let ends = self.is_last && count as u64 == self.left;
            if count == 0 && !ends {
                return connection.stream_want_write(STREAM, false);
            }
            let taken =
                match connection.stream_write(STREAM, Bytes::from_static(&PIECE[..count]), ends) {
                    Ok(taken) => taken,
                    Err(tquic::error::Error::Done) => 0,
                    Err(error) => return Err(error),
                };
            self.handed_over += taken as u64;
            if self.left != NONE {
                self.left -= taken as u64;
            }
            self.has_ended = ends && taken == count;
            if taken < count {
                return connection.stream_want_write(STREAM, true);
            }
        }
        Ok(())
    }

    fn read(&mut self, connection: &mut Connection, stream: u64) -> tquic::Result<()> {
        let mut content = vec![0; PIECE.len()];
        loop {
            match connection.stream_read(stream, &mut content) {
                Ok((count, ends)) => {
                    if !self.is_client {
                        self.delivered += count as u64;
                    }
                    if ends && self.is_client {
                        (self.delivered, self.is_complete) = (self.handed_over, true);
                    } else if ends {
                        connection.stream_write(stream, Bytes::new(), true)?;
                    }
                    if ends {
                        return Ok(());
                    }
                }
                Err(tquic::error::Error::Done) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn note(&mut self, result: tquic::Result<()>) {
        if let Err(error) = result {
            self.failure = Some(say(error));
        }
    }
}

/// The application as the endpoint calls it.
struct Handler(Rc<RefCell<Application>>);

impl TransportHandler for Handler {
    fn on_conn_created(&mut self, connection: &mut Connection) {
        self.0.borrow_mut().connection = connection.index();
    }
    fn on_conn_established(&mut self, connection: &mut Connection) {
        let mut application = self.0.borrow_mut();
        application.is_open = true;
        if application.is_client {
            let result = connection.stream_new(STREAM, 0, false);
            application.note(result);
            let result = application.hand_over(connection);
            application.note(result);
        }
    }
    fn on_conn_closed(&mut self, connection: &mut Connection) {
        let reason = connection.local_error().or(connection.peer_error());
        let reason = reason.map_or(String::new(), |error| format!(": {error:?}"));
        self.0.borrow_mut().failure = Some(format!("TQUIC: the connection was lost{reason}"));
    }
    fn on_stream_created(&mut self, _connection: &mut Connection, _stream: u64) {}
    fn on_stream_readable(&mut self, connection: &mut Connection, stream: u64) {
        let mut application = self.0.borrow_mut();
        let result = application.read(connection, stream);
        application.note(result);
    }
    fn on_stream_writable(&mut self, connection: &mut Connection, stream: u64) {
        let mut application = self.0.borrow_mut();
        let result = if application.is_client {
            application.hand_over(connection)
        } else {
            connection.stream_want_write(stream, false)
        };
        application.note(result);
    }
    fn on_stream_closed(&mut self, _connection: &mut Connection, _stream: u64) {}
    fn on_new_token(&mut self, _connection: &mut Connection, _token: Vec<u8>) {}
}

/// The socket.
#[derive(Default)]
struct Sent(RefCell<Vec<(u8, Vec<u8>)>>);

impl PacketSendHandler for Sent {
    fn on_packets_send(&self, packets: &[(Vec<u8>, PacketInfo)]) -> tquic::Result<usize> {
        self.0.borrow_mut().extend(packets.iter().map(|(content, _)| (0, content.clone())));
        Ok(packets.len())
    }
}

/// Either end.
struct Peer {
    control: String,
    endpoint: Option<Endpoint>,
    application: Rc<RefCell<Application>>,
    sent: Rc<Sent>,
}

fn say(error: impl std::fmt::Display) -> String {
    format!("TQUIC: {error}")
}

const fn address(host: u8) -> SocketAddr {
    SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, host), 4433))
}

fn configure(control: &str, start: &Start) -> tquic::Result<Config> {
    let mut config = Config::new()?;
    let protocols = vec![b"guest".to_vec()];
    config.set_tls_config(if start.is_client {
        TlsConfig::new_client_config(protocols, false)?
    } else {
        TlsConfig::new_server_config(CERTIFICATE, KEY, protocols, false)?
    });
    config.set_congestion_control_algorithm(control.parse()?);
    config.set_initial_congestion_window(u64::from(start.initial_window));
    config.enable_dplpmtud(false);
    config.set_send_udp_payload_size(start.max_datagram as usize);
    config.set_recv_udp_payload_size(u16::MAX);
    config.set_max_handshake_timeout(0);
    config.set_initial_max_data(UNBOUND);
    config.set_initial_max_stream_data_bidi_local(UNBOUND);
    config.set_initial_max_stream_data_bidi_remote(UNBOUND);
    config.set_max_connection_window(UNBOUND);
    config.set_max_stream_window(UNBOUND);
    Ok(config)
}

impl Peer {
    fn drive(&mut self, now: u64) -> Result<Answer, String> {
        let Some(endpoint) = &mut self.endpoint else { return Ok(Answer::default()) };
        endpoint.process_connections().map_err(say)?;
        let mut application = self.application.borrow_mut();
        if let Some(failure) = application.failure.take() {
            return Err(failure);
        }
        let connection =
            application.connection.filter(|_| application.is_client && application.is_open);
        let state = connection.and_then(|index| endpoint.conn_get_mut(index)).and_then(state);
        let wait = endpoint.timeout();
        Ok(Answer {
            datagrams: std::mem::take(&mut *self.sent.0.borrow_mut()),
            deadline: wait.map_or(NONE, |wait| now.saturating_add(wait_by_epoll(wait))),
            delivered: application.delivered,
            is_complete: application.is_complete,
            state,
        })
    }
}

/// TQUIC's own programs wait by epoll, whose timeouts are whole milliseconds, rounded up [ns].
fn wait_by_epoll(wait: Duration) -> u64 {
    const MILLISECOND: u64 = 1_000_000;
    (wait.as_nanos() as u64).div_ceil(MILLISECOND).saturating_mul(MILLISECOND)
}

fn state(connection: &mut Connection) -> Option<State> {
    let path = connection.get_path_stats(address(1), address(2)).ok()?;
    let is_known = path.acked_count > 0;
    let of_microseconds = |count: u64| if is_known { count * 1000 } else { 0 };
    Some(State {
        cwnd: path.final_cwnd,
        ssthresh: NONE,
        in_flight: path.sent_bytes.saturating_sub(path.acked_bytes + path.lost_bytes),
        srtt: of_microseconds(path.srtt),
        min_rtt: of_microseconds(path.min_rtt),
        pacing_bps: path.pacing_rate.saturating_mul(8),
        lost: path.lost_count,
        reductions: path.loss_event_count,
        phase: if path.in_slow_start { "slow-start" } else { "avoidance" },
    })
}

impl Stack for Peer {
    fn start(&mut self, now: u64, start: &Start) -> Result<Answer, String> {
        if start.max_datagram < 1200 {
            let size = start.max_datagram;
            return Err(format!("TQUIC sends datagrams of 1200 bytes or more, not of {size}"));
        }
        clock::set(now);
        getrandom::seed(start.seed_of_end());
        let config = Box::new(configure(&self.control, start).map_err(say)?);
        {
            let mut application = self.application.borrow_mut();
            application.is_client = start.is_client;
            (application.left, application.is_last) = (start.bytes, !start.more_data);
        }
        let handler = Box::new(Handler(Rc::clone(&self.application)));
        let socket: Rc<dyn PacketSendHandler> = Rc::<Sent>::clone(&self.sent);
        let mut endpoint = Endpoint::new(config, !start.is_client, handler, socket);
        if start.is_client {
            endpoint.connect(address(1), address(2), None, None, None, None).map_err(say)?;
        }
        self.endpoint = Some(endpoint);
        self.drive(now)
    }

    fn packet(&mut self, now: u64, _mark: u8, datagram: &[u8]) -> Result<Answer, String> {
        clock::set(now);
        let (here, there) = if self.application.borrow().is_client { (1, 2) } else { (2, 1) };
        let info = PacketInfo { src: address(there), dst: address(here), time: Instant::now() };
        if let Some(endpoint) = &mut self.endpoint {
            // It is decrypted where it lies.
            endpoint.recv(&mut datagram.to_vec(), &info).map_err(say)?;
        }
        self.drive(now)
    }

    fn time(&mut self, now: u64) -> Result<Answer, String> {
        clock::set(now);
        if let Some(endpoint) = &mut self.endpoint {
            endpoint.on_timeout(Instant::now());
        }
        self.drive(now)
    }

    fn data(&mut self, now: u64, bytes: u64, is_last: bool) -> Result<Answer, String> {
        clock::set(now);
        let index = {
            let mut application = self.application.borrow_mut();
            if is_last {
                (application.left, application.is_last) = (0, true);
            } else if application.left != NONE {
                application.left = application.left.saturating_add(bytes);
            }
            application.connection
        };
        if let Some(endpoint) = &mut self.endpoint
            && let Some(connection) = index.and_then(|index| endpoint.conn_get_mut(index))
        {
            self.application.borrow_mut().hand_over(connection).map_err(say)?;
        }
        self.drive(now)
    }
}

fn main() -> io::Result<()> {
    let control = std::env::args().nth(1).unwrap_or_else(|| "cubic".to_owned());
    let title = format!("TQUIC 1.6.0 {control}");
    let peer =
        &mut Peer { control, endpoint: None, application: Rc::default(), sent: Rc::default() };
    serve(peer, &title, true)
}
