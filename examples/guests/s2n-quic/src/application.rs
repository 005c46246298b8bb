//! The applications of both ends, as programs of s2n-quic are written: a client that sends a stream, a server that reads
//! it.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use s2n_quic::client::Connect;
use s2n_quic::{Client, Server};

use crate::frames::NONE;
use crate::say;

static PIECE: [u8; 1 << 14] = [0; 1 << 14];

/// What the application has to send, and has done.
#[derive(Default)]
struct Progress {
    /// Of a client: bytes that it may still hand over, whether no more will come, and what it has handed over.
    left: u64,
    is_last: bool,
    handed_over: u64,
    /// Of a server, what it has read; of a client, all of it when the server has closed its side.
    delivered: u64,
    is_complete: bool,
}

/// The same, for the application and who drives it.
#[derive(Clone, Default)]
pub struct Shared(Rc<RefCell<Progress>>);

impl Shared {
    /// What the application has at the start.
    pub fn begin(&self, bytes: u64, is_last: bool) {
        let mut progress = self.0.borrow_mut();
        (progress.left, progress.is_last) = (bytes, is_last);
    }

    /// More data, or no more, and what has not been handed over is withdrawn.
    pub fn add(&self, bytes: u64, is_last: bool) {
        let mut progress = self.0.borrow_mut();
        if is_last {
            (progress.left, progress.is_last) = (0, true);
        } else if progress.left != NONE {
            progress.left = progress.left.saturating_add(bytes);
        }
    }

    /// Bytes delivered, and whether all is acknowledged.
    pub fn progress(&self) -> (u64, bool) {
        let progress = self.0.borrow();
        (progress.delivered, progress.is_complete)
    }

    /// The next piece to hand over, once there is one; nothing: there will be no more.
    fn next_piece(&self) -> Poll<Option<Bytes>> {
        let mut progress = self.0.borrow_mut();
        let count = progress.left.min(PIECE.len() as u64);
        if count == 0 {
            return if progress.is_last { Poll::Ready(None) } else { Poll::Pending };
        }
        if progress.left != NONE {
            progress.left -= count;
        }
        progress.handed_over += count;
        Poll::Ready(Some(Bytes::from_static(&PIECE[..count as usize])))
    }
}

/// An application; it is polled after each event of the simulation.
pub struct Application(Pin<Box<dyn Future<Output = Result<(), String>>>>);

impl Application {
    /// Connects, sends, and waits until the server has closed its side.
    pub fn of_client(client: Client, shared: Shared) -> Self {
        Self(Box::pin(async move {
            let connect = Connect::new(crate::io::server_address()).with_server_name("localhost");
            let mut connection = client.connect(connect).await.map_err(say)?;
            let stream = connection.open_bidirectional_stream().await.map_err(say)?;
            let (mut receiver, mut sender) = stream.split();
            while let Some(piece) = poll_fn(|_| shared.next_piece()).await {
                sender.send(piece).await.map_err(say)?;
            }
            sender.finish().map_err(say)?;
            while receiver.receive().await.map_err(say)?.is_some() {}
            {
                let mut progress = shared.0.borrow_mut();
                (progress.delivered, progress.is_complete) = (progress.handed_over, true);
            }
            std::future::pending().await
        }))
    }

    /// Accepts, reads to the end, and closes its side.
    pub fn of_server(mut server: Server, shared: Shared) -> Self {
        Self(Box::pin(async move {
            let mut connection = server.accept().await.ok_or_else(|| say("no connection"))?;
            let stream = connection.accept_bidirectional_stream().await.map_err(say)?;
            let (mut receiver, mut sender) = stream.ok_or_else(|| say("no stream"))?.split();
            while let Some(piece) = receiver.receive().await.map_err(say)? {
                shared.0.borrow_mut().delivered += piece.len() as u64;
            }
            sender.finish().map_err(say)?;
            std::future::pending().await
        }))
    }

    /// Goes on as far as it can.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        self.0.as_mut().poll(context)
    }
}
