//! What is written alike for quinn and noq, which have a common ancestor: names and most signatures are the same.
//!
//! The module that invokes [`library`] has the rest: `handle`, `poll_transmit`, `write_zeros`, `state`, `tune`, and a
//! `Watched` controller.

/// Defines `Library`, a [`Peer`](super::peer::Peer) over the crate `$proto`, and `make`, which makes the two of a flow.
macro_rules! library {
    ($proto:ident) => {
        use std::sync::Arc;
        use std::time::{Duration, Instant};

        use ackclock_core::packet::EndsEnv;
        use ackclock_core::quic::QuicConfig;
        use ackclock_core::rng::{Purpose, Stream};
        use bytes::BytesMut;
        use $proto::congestion::{Controller, ControllerFactory};
        use $proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
        use $proto::{
            ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
            EndpointConfig, Event, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
        };

        use super::peer::{Happened, Mark, Peer, State, TO_CLIENT, TO_SERVER, address};
        use super::seen::Seen;

        /// Makes controllers.
        pub(super) type Controls = Arc<dyn ControllerFactory + Send + Sync>;

        /// Makes watched controllers, whose random numbers are those of a stream.
        struct Factory {
            inner: Controls,
            seen: Arc<Seen>,
            stream: Stream,
        }

        impl ControllerFactory for Factory {
            fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
                let make = || Arc::clone(&self.inner).build(now, mtu);
                #[cfg(getrandom_backend = "custom")]
                let inner = super::randomness::seeded(self.stream.clone(), make);
                #[cfg(not(getrandom_backend = "custom"))]
                let inner = make();
                Box::new(Watched { inner, seen: Arc::clone(&self.seen) })
            }
        }

        /// An endpoint with its only connection.
        struct Library {
            /// The direction in which it sends.
            way: usize,
            endpoint: Endpoint,
            client: Option<ClientConfig>,
            connection: Option<(ConnectionHandle, Connection)>,
            stream: Option<StreamId>,
            seen: Arc<Seen>,
        }

        impl Peer for Library {
            fn connect(&mut self, now: Instant) -> Result<(), String> {
                let Some(client) = self.client.clone() else { return Ok(()) };
                let made = self.endpoint.connect(now, client, address(TO_CLIENT), "localhost");
                self.connection = Some(made.map_err(|error| error.to_string())?);
                Ok(())
            }

            fn arrive(
                &mut self,
                now: Instant,
                mark: Option<Mark>,
                datagram: &[u8],
            ) -> Result<(), String> {
                let ecn = mark.map(|mark| match mark {
                    Mark::Capable => EcnCodepoint::Ect0,
                    Mark::Experienced => EcnCodepoint::Ce,
                });
                let (from, data) = (address(1 - self.way), BytesMut::from(datagram));
                let mut answer = Vec::new();
                match handle(&mut self.endpoint, now, from, ecn, data, &mut answer) {
                    Some(DatagramEvent::NewConnection(incoming)) => {
                        let made = self.endpoint.accept(incoming, now, &mut answer, None);
                        self.connection = Some(made.map_err(|error| error.cause.to_string())?);
                    }
                    Some(DatagramEvent::ConnectionEvent(_, event)) => {
                        if let Some((_, connection)) = &mut self.connection {
                            connection.handle_event(event);
                        }
                    }
                    Some(DatagramEvent::Response(_)) | None => {}
                }
                Ok(())
            }

            fn timeout(&mut self) -> Option<Instant> {
                self.connection.as_mut()?.1.poll_timeout()
            }

            fn run_timers(&mut self, now: Instant) {
                if self.timeout().is_some_and(|at| at <= now)
                    && let Some((_, connection)) = &mut self.connection
                {
                    connection.handle_timeout(now);
                }
            }

            fn poll(&mut self) -> Option<Happened> {
                let (handle, connection) = self.connection.as_mut()?;
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                        connection.handle_event(answer);
                    }
                }
                Some(match connection.poll()? {
                    Event::Connected => Happened::Connected,
                    Event::ConnectionLost { reason } => Happened::Lost(reason.to_string()),
                    Event::Stream(StreamEvent::Finished { .. }) => Happened::Finished,
                    _ => Happened::Other,
                })
            }

            fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<bool> {
                let (_, connection) = self.connection.as_mut()?;
                Some(poll_transmit(connection, now, buffer)?.ecn.is_some())
            }

            fn open(&mut self) {
                if let Some((_, connection)) = &mut self.connection {
                    self.stream = connection.streams().open(Dir::Uni);
                }
            }

            fn write(&mut self, most: usize) -> Result<usize, String> {
                let (Some(id), Some((_, connection))) = (self.stream, &mut self.connection) else {
                    return Ok(0);
                };
                match write_zeros(&mut connection.send_stream(id), most) {
                    Ok(taken) => Ok(taken),
                    Err($proto::WriteError::Blocked) => Ok(0),
                    Err(error) => Err(error.to_string()),
                }
            }

            fn finish(&mut self) {
                if let (Some(id), Some((_, connection))) = (self.stream, &mut self.connection) {
                    let _ = connection.send_stream(id).finish();
                }
            }

            fn read(&mut self) -> u64 {
                let Some((_, connection)) = &mut self.connection else { return 0 };
                if self.stream.is_none() {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                let Some(id) = self.stream else { return 0 };
                let mut receive = connection.recv_stream(id);
                let Ok(mut chunks) = receive.read(true) else { return 0 };
                let mut bytes = 0;
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    bytes += chunk.bytes.len() as u64;
                }
                // Flow control never needs an update: its windows are without bound.
                let _ = chunks.finalize();
                bytes
            }

            fn state(&self) -> Option<State> {
                Some(state(&self.connection.as_ref()?.1, &self.seen))
            }
        }

        fn transport(
            config: &QuicConfig,
            controls: Controls,
        ) -> Result<Arc<TransportConfig>, String> {
            let mut transport = TransportConfig::default();
            let mtu = u16::try_from(config.max_datagram).map_err(|error| error.to_string())?;
            transport
                .initial_mtu(mtu)
                .mtu_discovery_config(None)
                .max_idle_timeout(None)
                .enable_segmentation_offload(false)
                .send_window(super::READY)
                .receive_window(VarInt::MAX)
                .stream_receive_window(VarInt::MAX)
                .packet_threshold(config.packet_threshold)
                .time_threshold(config.time_threshold as f32)
                .initial_rtt(Duration::from_secs_f64(config.initial_rtt.seconds()))
                .persistent_congestion_threshold(
                    config.persistent_congestion_threshold.round() as u32
                )
                .congestion_controller_factory(controls);
            tune(&mut transport);
            Ok(Arc::new(transport))
        }

        /// The client and the server of a flow, and what the client's controller sees.
        pub(super) fn make(
            env: &EndsEnv<'_>,
            controls: Controls,
        ) -> Result<([Box<dyn Peer>; 2], Arc<Seen>), String> {
            let mut stream = Stream::new(env.seed, Purpose::Control, u64::from(env.flow.0));
            let mut end = |way, client, server| -> Result<(Library, Arc<Seen>), String> {
                let mut seed = [0; 32];
                for chunk in seed.chunks_mut(8) {
                    chunk.copy_from_slice(&stream.bits().to_le_bytes());
                }
                let mut config = EndpointConfig::default();
                config.rng_seed(Some(seed));
                let most = u16::try_from(env.config.max_datagram).unwrap_or(u16::MAX);
                if u64::from(most) > config.get_max_udp_payload_size() {
                    config.max_udp_payload_size(most).map_err(|error| error.to_string())?;
                }
                let seen = Arc::new(Seen::default());
                let watched = Factory {
                    inner: Arc::clone(&controls),
                    seen: Arc::clone(&seen),
                    stream: stream.clone(),
                };
                let transport = transport(env.config, Arc::new(watched))?;
                let client = match client {
                    None => None,
                    Some(tls) => {
                        let tls: QuicClientConfig =
                            QuicClientConfig::try_from(tls).map_err(|error| format!("{error}"))?;
                        let mut client = ClientConfig::new(Arc::new(tls));
                        client.transport_config(Arc::clone(&transport));
                        Some(client)
                    }
                };
                let server = match server {
                    None => None,
                    Some(tls) => {
                        let tls: QuicServerConfig =
                            QuicServerConfig::try_from(tls).map_err(|error| format!("{error}"))?;
                        let mut server = ServerConfig::with_crypto(Arc::new(tls));
                        server.transport_config(transport);
                        Some(Arc::new(server))
                    }
                };
                let endpoint = endpoint(config, server);
                let kept = Arc::clone(&seen);
                let (connection, stream) = (None, None);
                Ok((Library { way, endpoint, client, connection, stream, seen }, kept))
            };
            let (sender, seen) = end(TO_SERVER, Some(super::tls::client()?), None)?;
            let (receiver, _) = end(TO_CLIENT, None, Some(super::tls::server()?))?;
            Ok(([Box::new(sender), Box::new(receiver)], seen))
        }
    };
}

pub(super) use library;
