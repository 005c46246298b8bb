//! Two whole quinn connections and the network between them.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, ServerConfig, StreamId, TransportConfig, VarInt, WriteError,
};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};

use crate::path::Bottleneck;
use crate::{Control, Path, Trace};

const CERTIFICATE: &[u8] = include_bytes!("../certificate/cert.der");
const KEY: &[u8] = include_bytes!("../certificate/key.der");
/// Bytes that the client keeps ready to send.
const READY: u64 = 8 << 20;
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// Accepts the fixed certificate, whoever asks: nothing leaves this process.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &rustls::DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        vec![rustls::SignatureScheme::ED25519]
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// RFC 9002's datagrams of 1200 bytes without discovery of larger ones; flow control is no limit.
fn transport(control: Control) -> Arc<TransportConfig> {
    let factory: Arc<dyn ControllerFactory + Send + Sync> = match control {
        Control::Reno => Arc::new(NewRenoConfig::default()),
        Control::Cubic => Arc::new(CubicConfig::default()),
    };
    let mut config = TransportConfig::default();
    config
        .initial_mtu(1200)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .enable_segmentation_offload(false)
        .send_window(READY)
        .receive_window(VarInt::MAX)
        .stream_receive_window(VarInt::MAX)
        .congestion_controller_factory(factory);
    Arc::new(config)
}

fn server_config(control: Control) -> Result<ServerConfig, String> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY.to_vec()));
    let tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|b| {
            b.with_no_client_auth()
                .with_single_cert(vec![CertificateDer::from(CERTIFICATE.to_vec())], key)
        })
        .map_err(|e| e.to_string())?;
    let crypto = QuicServerConfig::try_from(tls).map_err(|e| e.to_string())?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(transport(control));
    Ok(config)
}

fn client_config(control: Control) -> Result<ClientConfig, String> {
    let tls = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|e| e.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let crypto = QuicClientConfig::try_from(tls).map_err(|e| e.to_string())?;
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(transport(control));
    Ok(config)
}

/// One end: an endpoint and its only connection.
struct End {
    endpoint: Endpoint,
    address: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
}

struct World {
    base: Instant,
    now: Duration,
    ends: [End; 2],
    bottleneck: Bottleneck,
    delay: Duration,
    flying: BTreeMap<(Duration, u64), (usize, Vec<u8>)>,
    order: u64,
    stream: Option<StreamId>,
    delivered: u64,
}

/// Runs one endless flow from a quinn client to a quinn server.
///
/// # Errors
/// A sentence, if the connection cannot be made or is lost.
pub fn run_quinn(
    control: Control,
    path: Path,
    warmup: Duration,
    end: Duration,
) -> Result<Trace, String> {
    let mut world = World::new(control, path)?;
    let mut trace = Trace::default();
    let mut is_warm = false;
    while let Some(next) = world.next().filter(|&next| next <= end) {
        if next >= warmup && !is_warm {
            is_warm = true;
            trace.delivered[0] = world.delivered;
        }
        world.step(next)?;
        if let Some((_, connection)) = &world.ends[CLIENT].connection {
            trace.note(world.now, connection.congestion_state().window() as f64);
        }
    }
    trace.delivered[1] = world.delivered;
    trace.dropped = world.bottleneck.dropped;
    Ok(trace)
}

impl World {
    #[expect(clippy::disallowed_methods, reason = "quinn's instants begin somewhere")]
    fn new(control: Control, path: Path) -> Result<Self, String> {
        // quinn measures differences of instants only; which one the first is does not matter.
        let base = Instant::now();
        let mut settings = EndpointConfig::default();
        settings.rng_seed(Some([7; 32]));
        let settings = Arc::new(settings);
        let server = Some(Arc::new(server_config(control)?));
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut client = Endpoint::new(Arc::clone(&settings), None, false, None);
        let connection = client
            .connect(base, client_config(control)?, address(2), "localhost")
            .map_err(|e| e.to_string())?;
        let ends = [
            End { endpoint: client, address: address(1), connection: Some(connection) },
            End {
                endpoint: Endpoint::new(settings, server, false, None),
                address: address(2),
                connection: None,
            },
        ];
        let mut world = Self {
            base,
            now: Duration::ZERO,
            ends,
            bottleneck: Bottleneck::new(path),
            delay: path.delay,
            flying: BTreeMap::new(),
            order: 0,
            stream: None,
            delivered: 0,
        };
        world.drive(CLIENT)?;
        Ok(world)
    }

    /// When something happens next.
    fn next(&mut self) -> Option<Duration> {
        let base = self.base;
        let timeouts = self.ends.iter_mut().filter_map(|end| {
            let (_, connection) = end.connection.as_mut()?;
            Some(connection.poll_timeout()?.saturating_duration_since(base))
        });
        let arrival = self.flying.keys().next().map(|&(at, _)| at);
        timeouts.chain(arrival).min().map(|at| at.max(self.now))
    }

    /// Handles what is due at `next`.
    fn step(&mut self, next: Duration) -> Result<(), String> {
        self.now = next;
        if self.flying.keys().next().is_some_and(|&(at, _)| at <= next)
            && let Some((_, (to, datagram))) = self.flying.pop_first()
        {
            self.arrive(to, &datagram)?;
            return self.drive(to);
        }
        for end in [CLIENT, SERVER] {
            let instant = self.base + self.now;
            if let Some((_, connection)) = &mut self.ends[end].connection
                && connection.poll_timeout().is_some_and(|at| at <= instant)
            {
                connection.handle_timeout(instant);
                self.drive(end)?;
            }
        }
        Ok(())
    }

    fn arrive(&mut self, to: usize, datagram: &[u8]) -> Result<(), String> {
        let instant = self.base + self.now;
        let from = self.ends[1 - to].address;
        let mut answer = Vec::new();
        let end = &mut self.ends[to];
        let data = BytesMut::from(datagram);
        match end.endpoint.handle(instant, from, None, None, data, &mut answer) {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let made = end.endpoint.accept(incoming, instant, &mut answer, None);
                end.connection = Some(made.map_err(|error| error.cause.to_string())?);
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut end.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        Ok(())
    }

    /// Lets one end do all that it can do now.
    fn drive(&mut self, which: usize) -> Result<(), String> {
        let instant = self.base + self.now;
        let Some((handle, mut connection)) = self.ends[which].connection.take() else {
            return Ok(());
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.ends[which].endpoint.handle_event(handle, event) {
                connection.handle_event(answer);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if which == CLIENT => {
                    self.stream = connection.streams().open(Dir::Uni);
                }
                Event::ConnectionLost { reason } => return Err(reason.to_string()),
                _ => {}
            }
        }
        if which == SERVER {
            self.read(&mut connection);
        } else if let Some(stream) = self.stream {
            write(&mut connection, stream)?;
        }
        let mut buffer = Vec::new();
        while let Some(transmit) = connection.poll_transmit(instant, 1, &mut buffer) {
            self.send(which, &buffer[..transmit.size]);
            buffer.clear();
        }
        self.ends[which].connection = Some((handle, connection));
        Ok(())
    }

    fn send(&mut self, from: usize, datagram: &[u8]) {
        let arrival = if from == CLIENT {
            self.bottleneck.carry(self.now, datagram.len())
        } else {
            Some(self.now + self.delay)
        };
        if let Some(at) = arrival {
            self.order += 1;
            self.flying.insert((at, self.order), (1 - from, datagram.to_vec()));
        }
    }

    /// Takes what has arrived in order.
    fn read(&mut self, connection: &mut Connection) {
        let Some(stream) = self.stream else { return };
        let _ = connection.streams().accept(Dir::Uni);
        let mut receive = connection.recv_stream(stream);
        let Ok(mut chunks) = receive.read(true) else { return };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.delivered += chunk.bytes.len() as u64;
        }
        // Flow control never needs an update: its windows are without bound.
        let _ = chunks.finalize();
    }
}

/// Fills the stream as far as the send buffer lets.
fn write(connection: &mut Connection, stream: StreamId) -> Result<(), String> {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    let mut sender = connection.send_stream(stream);
    loop {
        match sender.write_chunks(&mut [Bytes::from_static(&ZEROS)]) {
            Ok(_) => {}
            Err(WriteError::Blocked) => return Ok(()),
            Err(error) => return Err(error.to_string()),
        }
    }
}
