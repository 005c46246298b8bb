//! Input and output of an s2n-quic endpoint: datagrams that the simulator hands over and takes.

use std::cell::RefCell;
use std::task::{Context, Poll};
use std::time::Duration;

use s2n_quic::provider::io::Provider;
use s2n_quic_core::endpoint::Endpoint;
use s2n_quic_core::inet::datagram::Header;
use s2n_quic_core::inet::{ExplicitCongestionNotification, SocketAddress, SocketAddressV4};
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::{self, Tuple, mtu};
use s2n_quic_core::time::{Clock, StdClock};

/// Bytes of IPv4 and UDP headers, which s2n-quic counts in an MTU.
const BELOW: u16 = 28;
const LONGEST: usize = 1 << 16;
const HOSTS: [[u8; 4]; 2] = [[192, 0, 2, 1], [192, 0, 2, 2]];
const PORT: u16 = 4433;

thread_local! {
    static ENGINE: RefCell<Option<Box<dyn Engine>>> = const { RefCell::new(None) };
}

/// The endpoint that was started last.
pub fn take_engine() -> Option<Box<dyn Engine>> {
    ENGINE.with(|engine| engine.borrow_mut().take())
}

fn address(is_client: bool) -> SocketAddress {
    SocketAddressV4::new(HOSTS[usize::from(!is_client)], PORT).into()
}

/// Where the server is.
pub fn server_address() -> std::net::SocketAddr {
    (HOSTS[1], PORT).into()
}

/// An endpoint, whatever its type.
pub trait Engine {
    /// Hands over a datagram.
    fn receive(&mut self, mark: u8, datagram: &[u8]);
    /// Lets it do what the application has woken it for.
    fn wake(&mut self, context: &mut Context<'_>) -> Result<(), &'static str>;
    /// Lets timers expire, and takes what it sends.
    fn transmit(&mut self, sent: &mut Datagrams);
    /// Until it must be called again; nothing: until a datagram arrives.
    fn wait(&self) -> Option<Duration>;
}

/// Keeps the endpoint that s2n-quic starts.
pub struct Io {
    pub is_client: bool,
    pub max_datagram: u16,
}

impl Provider for Io {
    type PathHandle = Tuple;
    type Error = mtu::MtuError;

    fn start<E: Endpoint<PathHandle = Tuple>>(
        self,
        mut endpoint: E,
    ) -> Result<SocketAddress, Self::Error> {
        let mtu = self.max_datagram + BELOW;
        let config = mtu::Config::builder()
            .with_max_mtu(mtu)?
            .with_initial_mtu(mtu)?
            .with_base_mtu(mtu)?
            .build()?;
        endpoint.set_mtu_config(config);
        let path = Tuple {
            remote_address: address(!self.is_client).into(),
            local_address: address(self.is_client).into(),
        };
        let engine = Box::new(Held { endpoint, clock: StdClock::default(), path });
        ENGINE.with(|slot| *slot.borrow_mut() = Some(engine));
        Ok(address(self.is_client))
    }
}

struct Held<E> {
    endpoint: E,
    clock: StdClock,
    path: Tuple,
}

impl<E: Endpoint<PathHandle = Tuple>> Engine for Held<E> {
    fn receive(&mut self, mark: u8, datagram: &[u8]) {
        let header = Header { path: self.path, ecn: ExplicitCongestionNotification::new(mark) };
        let mut arrived = Arrived(Some((header, datagram.to_vec())));
        self.endpoint.receive(&mut arrived, &self.clock);
    }

    fn wake(&mut self, context: &mut Context<'_>) -> Result<(), &'static str> {
        match self.endpoint.poll_wakeups(context, &self.clock) {
            Poll::Ready(Err(_)) => Err("the endpoint was closed"),
            Poll::Ready(Ok(_)) => {
                // It is polled until it has nothing more, so that it keeps the waker.
                context.waker().wake_by_ref();
                Ok(())
            }
            Poll::Pending => Ok(()),
        }
    }

    fn transmit(&mut self, sent: &mut Datagrams) {
        self.endpoint.transmit(sent, &self.clock);
    }

    fn wait(&self) -> Option<Duration> {
        let now = self.clock.get_time();
        self.endpoint.timeout().map(|due| due.saturating_duration_since(now))
    }
}

/// One datagram on its way in.
struct Arrived(Option<(Header<Tuple>, Vec<u8>)>);

impl rx::Queue for Arrived {
    type Handle = Tuple;

    fn for_each<F: FnMut(Header<Tuple>, &mut [u8])>(&mut self, mut on_packet: F) {
        if let Some((header, mut content)) = self.0.take() {
            on_packet(header, &mut content);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// What is sent: marks and contents.
#[derive(Default)]
pub struct Datagrams(pub Vec<(u8, Vec<u8>)>);

impl tx::Queue for Datagrams {
    type Handle = Tuple;
    const SUPPORTS_ECN: bool = true;

    fn push<M: tx::Message<Handle = Tuple>>(
        &mut self,
        mut message: M,
    ) -> Result<tx::Outcome, tx::Error> {
        let mark = message.ecn() as u8;
        let mut content = vec![0; LONGEST];
        let len = message.write_payload(tx::PayloadBuffer::new(&mut content), 0)?;
        content.truncate(len);
        self.0.push((mark, content));
        Ok(tx::Outcome { len, index: 0 })
    }

    fn capacity(&self) -> usize {
        // The protocol's most of an answer.
        8192_usize.saturating_sub(self.0.len())
    }
}

// A handle of another type would not be that of the socket.
const _: fn() = || {
    fn is_handle<T: path::Handle>() {}
    is_handle::<Tuple>();
};
