//! s2n-quic, whole, as a guest of ackclock: `s2n-quic-guest [cubic|bbr]`. A client sends one stream, a server reads it and
//! then closes its side, by which the client knows that all has arrived.
//!
//! s2n-quic is what its package is. Its endpoint is driven by a provider of input and output (io.rs), as its own
//! simulations do; the clock that it reads is the simulator's (clock.rs of the guest of quiche), and its random numbers
//! follow the seed. What its TLS draws for keys changes neither size nor time of a packet: the certificate's signatures
//! are of Ed25519, whose length is always the same.
//!
//! It has ECN, reports its window and, with BBR, its states. Left out: what is acknowledged of the stream, which it does
//! not report: a client's bytes are known when all have arrived. What a stop finds in its buffer is still sent.

#[path = "../../rust/src/frames.rs"]
mod frames;

#[path = "../../quiche/src/clock.rs"]
mod clock;

#[path = "../../quiche/src/seeded.rs"]
mod seeded;

mod application;
mod io;
mod observed;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use application::{Application, Shared};
use frames::{Answer, NONE, Stack, Start, serve};
use io::{Datagrams, Engine, Io};
use observed::Observed;
use s2n_quic::provider::congestion_controller::{bbr, cubic};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::random::Generator;
use s2n_quic::provider::tls::rustls;
use s2n_quic::{Client, Server};

const CERTIFICATE: &[u8] = include_bytes!("../certificate.der");
const KEY: &[u8] = include_bytes!("../key.der");
/// Windows of flow control: the most that s2n-quic takes [bytes].
const UNBOUND: u64 = u32::MAX as u64;
/// What the client's application may hand over ahead [bytes].
const AHEAD: u32 = 1 << 24;
const LONG: Duration = Duration::from_secs(36_000);
/// Times that the application and the endpoint may wake each other at one time.
const MOST_TURNS: usize = 10_000;

/// What s2n-quic reports.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn say(error: impl std::fmt::Display) -> String {
    format!("s2n-quic: {error}")
}

/// Random numbers of the seed.
struct Seeded;

impl Generator for Seeded {
    fn public_random_fill(&mut self, bytes: &mut [u8]) {
        seeded::fill(bytes);
    }
    fn private_random_fill(&mut self, bytes: &mut [u8]) {
        seeded::fill(bytes);
    }
}

impl s2n_quic::provider::random::Provider for Seeded {
    type Generator = Self;
    type Error = std::convert::Infallible;

    fn start(self) -> Result<Self, Self::Error> {
        Ok(self)
    }
}

/// Whether the application or the endpoint has something to do.
#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

fn limits() -> Result<Limits, Failure> {
    Ok(Limits::new()
        .with_data_window(UNBOUND)?
        .with_bidirectional_local_data_window(UNBOUND)?
        .with_bidirectional_remote_data_window(UNBOUND)?
        .with_max_send_buffer_size(AHEAD)?
        .with_max_idle_timeout(LONG)?
        .with_max_handshake_duration(LONG)?)
}

/// Either end.
struct Peer {
    control: String,
    engine: Option<Box<dyn Engine>>,
    application: Option<Application>,
    shared: Shared,
    observed: Observed,
    bell: Arc<Bell>,
    is_client: bool,
}

impl Peer {
    fn open(&mut self, start: &Start) -> Result<(), Failure> {
        let window = start.initial_window * start.max_datagram;
        match self.control.as_str() {
            "cubic" => {
                let control = cubic::Builder::default().with_initial_congestion_window(window);
                self.open_with(control.build(), start)
            }
            "bbr" => {
                let control = bbr::Builder::default().with_initial_congestion_window(window);
                self.open_with(control.build(), start)
            }
            other => Err(format!("there is no control {other}, expected cubic or bbr").into()),
        }
    }

    fn open_with<C: s2n_quic::provider::congestion_controller::Endpoint>(
        &mut self,
        control: C,
        start: &Start,
    ) -> Result<(), Failure> {
        let io = Io { is_client: start.is_client, max_datagram: start.max_datagram as u16 };
        self.application = Some(if start.is_client {
            let tls = rustls::Client::builder()
                .with_certificate(CERTIFICATE)?
                .with_application_protocols([b"guest"].iter())?
                .build()?;
            let client = Client::builder()
                .with_io(io)?
                .with_tls(tls)?
                .with_congestion_controller(control)?
                .with_random(Seeded)?
                .with_limits(limits()?)?
                .with_event(self.observed.clone())?
                .start()?;
            Application::of_client(client, self.shared.clone())
        } else {
            let tls = rustls::Server::builder()
                .with_certificate(CERTIFICATE, KEY)?
                .with_application_protocols([b"guest"].iter())?
                .build()?;
            let server = Server::builder()
                .with_io(io)?
                .with_tls(tls)?
                .with_congestion_controller(control)?
                .with_random(Seeded)?
                .with_limits(limits()?)?
                .with_event(self.observed.clone())?
                .start()?;
            Application::of_server(server, self.shared.clone())
        });
        self.engine = io::take_engine();
        Ok(())
    }

    /// Lets the application and the endpoint work until neither has woken the other.
    fn drive(&mut self, now: u64) -> Result<Answer, String> {
        let (Some(engine), Some(application)) = (&mut self.engine, &mut self.application) else {
            return Ok(Answer::default());
        };
        let waker = Waker::from(Arc::clone(&self.bell));
        let mut context = Context::from_waker(&waker);
        let mut sent = Datagrams::default();
        for turn in 0.. {
            self.bell.0.store(false, Relaxed);
            if let Poll::Ready(Err(error)) = application.poll(&mut context) {
                return Err(error);
            }
            engine.wake(&mut context).map_err(say)?;
            engine.transmit(&mut sent);
            if !self.bell.0.load(Relaxed) {
                break;
            }
            if turn == MOST_TURNS {
                return Err(say("application and endpoint wake each other without end"));
            }
        }
        let (delivered, is_complete) = self.shared.progress();
        Ok(Answer {
            datagrams: sent.0,
            deadline: engine.wait().map_or(NONE, |wait| now + wait.as_nanos() as u64),
            delivered,
            is_complete,
            state: if self.is_client { self.observed.state() } else { None },
        })
    }
}

impl Stack for Peer {
    fn start(&mut self, now: u64, start: &Start) -> Result<Answer, String> {
        if start.max_datagram < 1200 {
            let size = start.max_datagram;
            return Err(format!("s2n-quic sends datagrams of 1200 bytes or more, not of {size}"));
        }
        clock::set(now);
        seeded::seed(start.seed_of_end());
        self.is_client = start.is_client;
        if start.is_client {
            self.shared.begin(start.bytes, !start.more_data);
        }
        self.open(start).map_err(say)?;
        self.drive(now)
    }

    fn packet(&mut self, now: u64, mark: u8, datagram: &[u8]) -> Result<Answer, String> {
        clock::set(now);
        if let Some(engine) = &mut self.engine {
            engine.receive(mark, datagram);
        }
        self.drive(now)
    }

    fn time(&mut self, now: u64) -> Result<Answer, String> {
        clock::set(now);
        self.drive(now)
    }

    fn data(&mut self, now: u64, bytes: u64, is_last: bool) -> Result<Answer, String> {
        clock::set(now);
        self.shared.add(bytes, is_last);
        self.drive(now)
    }
}

fn main() -> std::io::Result<()> {
    let control = std::env::args().nth(1).unwrap_or_else(|| "cubic".to_owned());
    let title = format!("s2n-quic 1.91.0 {control}");
    let mut peer = Peer {
        control,
        engine: None,
        application: None,
        shared: Shared::default(),
        observed: Observed::default(),
        bell: Arc::default(),
        is_client: false,
    };
    serve(&mut peer, &title, true)
}
