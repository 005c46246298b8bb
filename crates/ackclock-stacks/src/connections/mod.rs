//! Whole connections of shipped stacks as the two ends of a flow: real packets, real ACK frames, TLS.
//!
//! What: a client sends a stream to a server. The engine carries a packet for each of their datagrams, of the same size,
//! through links and queues; what a datagram contains is kept beside ([`ackclock_core::datagrams`]). Neither reads a clock.
//!
//! **Source**: crates [`quinn`] and [`noq`], a file each. A further one implements [`peer::Peer`].
//!
//! Of a flow's settings they follow its size, `max_datagram`, `initial_window`, `packet_threshold`, `time_threshold`,
//! `initial_rtt`, `persistent_congestion_threshold` and `ecn`. Datagrams do not grow by discovery, connections never
//! expire, and flow control is no limit. `retransmits` counts packets declared lost; timeouts are not counted; a window
//! row reports packets acknowledged.
//!
//! Connection IDs, numbers of packets that are skipped and the like are drawn from the flow's stream, and what a BBR
//! draws from the system is, too ([`randomness`]). Keys are random; what is sent when does not depend on them.

mod end;
mod ends;
pub mod guest;
mod library;
mod noq;
mod peer;
mod quinn;
#[cfg(getrandom_backend = "custom")]
mod randomness;
mod seen;
mod tls;

use std::sync::Arc;
use std::time::Instant;

use ackclock_core::datagrams::Datagrams;
use ackclock_core::error::Problem;
use ackclock_core::packet::{Ends, EndsEnv, Place};
use ackclock_core::quic::QuicConfig;
use ackclock_core::registry::{Entry, Info, Spec, Status};

use crate::controls::Release;
use end::End;
use ends::{Client, Server};
use peer::{Peer, TO_CLIENT, TO_SERVER};
use seen::Seen;

/// Bytes that the client keeps ready to send.
const READY: u64 = 8 << 20;
/// Smallest datagram of QUIC (RFC 9000 section 14).
const LEAST_DATAGRAM: u32 = 1200;
/// What a stream contains.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// Client and server of a flow, and what the client's controller sees.
type Pair = ([Box<dyn Peer>; 2], Arc<Seen>);
/// Makes them, with an initial window in bytes.
type Maker = fn(&EndsEnv<'_>, u64) -> Result<Pair, String>;
/// What a library offers.
type Names = &'static [(Info, Maker)];

/// The libraries.
const LIBRARIES: [(Release, Names); 2] =
    [(quinn::RELEASE, quinn::NAMES), (noq::RELEASE, noq::NAMES)];

const fn shipped_info(name: &'static str, title: &'static str, source: &'static str) -> Info {
    Info { name, title, source, status: Status::Shipped }
}

fn list_offered() -> impl Iterator<Item = (Release, Info, Maker)> {
    let names = |(release, names): (Release, Names)| {
        names.iter().map(move |(info, make)| (release, *info, *make))
    };
    LIBRARIES.into_iter().flat_map(names)
}

/// Names of the connections.
pub fn names() -> Vec<&'static str> {
    list_offered().map(|(_, info, _)| info.name).collect()
}

/// The release that a name's first part stands for.
pub(crate) fn release(stack: &str) -> Option<Release> {
    let of = |name: &str| name.split_once('/').is_some_and(|(first, _)| first == stack);
    list_offered().find(|(_, info, _)| of(info.name)).map(|(release, ..)| release)
}

/// Every connection, as entries of the catalogue.
pub fn catalogue() -> Vec<Entry> {
    let entry = |(_, info, _)| Entry {
        info,
        also: &[],
        facts: &[],
        file: "connections/mod.rs",
        params: ackclock_core::registry::Rules::of::<super::controls::s2n::NoParams>()
            .into_schema(),
    };
    list_offered().map(entry).collect()
}

/// The two ends of a flow.
///
/// # Errors
/// There is no such connection, or the flow has settings that it cannot follow.
pub fn build(spec: &Spec, env: &EndsEnv<'_>, location: Place<'_>) -> Result<Ends, Problem> {
    let name = spec.kind();
    let wrong = |complaint: &str| {
        Problem::new(location.path, format!("{name} is a whole connection, {complaint}"))
    };
    let QuicConfig { max_datagram, initial_window, .. } = *env.config;
    let first = u64::from(max_datagram) * u64::from(initial_window);
    let Some((_, _, maker)) = list_offered().find(|(_, info, _)| info.name == name) else {
        let sentence = format!("there is no connection \"{name}\"");
        return Err(Problem::unknown(location.path, &sentence, name, &names()));
    };
    if let Some(key) = spec.params().keys().next() {
        return Err(wrong(&format!("which has no parameters; expected no \"{key}\"")));
    }
    if max_datagram < LEAST_DATAGRAM {
        return Err(wrong(
            "whose datagrams have 1200 bytes at least; expected a larger max_datagram",
        ));
    }
    if env.is_paced || env.stop.is_some() {
        return Err(wrong(
            "whose application hands over all at once; expected neither app nor stop",
        ));
    }
    if !env.config.handshake {
        return Err(wrong("which begins with its handshake; expected handshake = true"));
    }
    let pair =
        maker(env, first).map_err(|error| wrong(&format!("which could not be made: {error}")))?;
    Ok(ends(env, pair))
}

fn ends(env: &EndsEnv<'_>, ([client, server], observed): Pair) -> Ends {
    // The libraries measure differences of instants only; which one the first is does not matter.
    #[expect(clippy::disallowed_methods, reason = "the instants of the libraries begin somewhere")]
    let base = Instant::now();
    let wire = Datagrams::default();
    let end = |way, peer| End::new(env, way, base, wire.clone(), peer);
    let datagram = f64::from(env.config.max_datagram);
    let sender = Client::new(end(TO_SERVER, client), observed, env.size, datagram);
    let receiver = Server::new(end(TO_CLIENT, server));
    (Box::new(sender), Box::new(receiver))
}
