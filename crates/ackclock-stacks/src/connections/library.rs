//! What is written alike for quinn and noq, which have a common ancestor: names and most signatures are the same.
//!
//! The module that invokes [`library`] has the rest: `handle`, `poll_transmit`, `write_zeros`, `state`, `tune`, and what a
//! `Watched` controller does in its own way.

/// Defines `Library`, a [`Peer`](super::peer::Peer) over the crate `$proto`, and `make`, which makes the two of a flow.
macro_rules! library {
    ($proto:ident) => {
        use std::sync::Arc;
        use std::time::{Duration, Instant};

        use ackclock_core::packet::EndsEnv;
        use ackclock_core::quic::QuicConfig;
        use ackclock_core::rng::{Purpose, Stream};
        use bytes::BytesMut;
        use $proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
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

        /// A controller that can be watched: it hands every call on, and notes what it was called with.
        struct Watched {
            inner: Box<dyn Controller>,
            seen: Arc<Seen>,
        }

        /// What an endpoint draws, from the flow's stream.
        fn drawn(env: &EndsEnv<'_>, stream: &mut Stream) -> Result<EndpointConfig, String> {
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
            Ok(config)
        }

        /// The client and the server of a flow, and what the client's controller sees.
        pub(super) fn make(
            env: &EndsEnv<'_>,
            controls: Controls,
        ) -> Result<([Box<dyn Peer>; 2], Arc<Seen>), String> {
            let mut stream = Stream::new(env.seed, Purpose::Control, u64::from(env.flow.0));
            let watched = |seen: &Arc<Seen>, stream: &Stream| {
                let (inner, seen) = (Arc::clone(&controls), Arc::clone(seen));
                transport(env.config, Arc::new(Factory { inner, seen, stream: stream.clone() }))
            };
            let library = |way, endpoint, client, seen| {
                Box::new(Library { way, endpoint, client, connection: None, stream: None, seen })
            };

            let (config, seen) = (drawn(env, &mut stream)?, Arc::new(Seen::default()));
            let tls = QuicClientConfig::try_from(super::tls::client()?);
            let mut client = ClientConfig::new(Arc::new(tls.map_err(|error| error.to_string())?));
            client.transport_config(watched(&seen, &stream)?);
            let kept = Arc::clone(&seen);
            let sender = library(TO_SERVER, endpoint(config, None), Some(client), seen);

            let (config, seen) = (drawn(env, &mut stream)?, Arc::new(Seen::default()));
            let tls = QuicServerConfig::try_from(super::tls::server()?);
            let crypto = Arc::new(tls.map_err(|error| error.to_string())?);
            let mut server = ServerConfig::with_crypto(crypto);
            server.transport_config(watched(&seen, &stream)?);
            let receiver = library(TO_CLIENT, endpoint(config, Some(Arc::new(server))), None, seen);
            Ok(([sender, receiver], kept))
        }
    };
}

/// Makes a flow whose control has this configuration, with an initial window.
macro_rules! maker {
    ($config:ident) => {
        |env, first| {
            let mut config = $config::default();
            make(env, Arc::new(config.initial_window(first).clone()))
        }
    };
}

/// The methods of a `Watched` controller that are the same in both.
macro_rules! hands_on {
    () => {
        fn on_end_acks(
            &mut self,
            now: Instant,
            in_flight: u64,
            app_limited: bool,
            largest_packet_num_acked: Option<u64>,
        ) {
            self.seen.ends_acks(in_flight);
            self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        }

        fn on_mtu_update(&mut self, new_mtu: u16) {
            self.inner.on_mtu_update(new_mtu);
        }

        fn window(&self) -> u64 {
            self.inner.window()
        }

        fn metrics(&self) -> ControllerMetrics {
            self.inner.metrics()
        }

        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(Self { inner: self.inner.clone_box(), seen: Arc::clone(&self.seen) })
        }

        fn initial_window(&self) -> u64 {
            self.inner.initial_window()
        }

        fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
            self.inner.into_any()
        }
    };
}

pub(super) use {hands_on, library, maker};
