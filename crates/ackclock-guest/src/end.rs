//! An end of a flow whose packets a guest sends: what happens goes to the guest, its answers become packets.
//!
//! The engine carries a packet for each datagram, of its size with the headers of IPv4 and UDP; what a datagram contains
//! is kept beside. The guest's word is checked where it could not be true: deadlines, bytes, round trips, the end of the
//! transfer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ackclock_core::datagrams::Datagrams;
use ackclock_core::endpoint::{Deadline, Endpoint, EndpointCtx, Snapshot};
use ackclock_core::packet::{Ends, EndsEnv};
use ackclock_core::record::{FlowSample, StateRow, WindowRow};
use ackclock_core::tcp::Supply;
use ackclock_core::units::{Span, Time};
use ackclock_core::wire::{Flags, Packet};

use crate::protocol::{Answer, Event, NONE, Role, Start, State, abilities, marks, start_flags};
use crate::{Failure, Guest};

/// Bytes of IPv4 and UDP headers.
const BELOW: usize = 28;
/// The directions in which client and server send.
const WAYS: [usize; 2] = [0, 1];
/// Calls in a row at one time, none of which an arrival causes, after which time does not go on.
const MOST_CALLS: u32 = 10_000;
/// Clocks of stacks count whole microseconds: so much shorter a round trip may be reported.
const CLOCK_NS: u64 = 1000;

/// Starts a guest.
pub type Starter = Box<dyn FnMut() -> Result<Box<dyn Guest>, Failure> + Send>;
/// The one copy of a text for the whole life of the process; nothing if there are too many.
pub type Keep = fn(&str) -> Option<&'static str>;

/// Who a guest is, and what it and its ends need besides a flow.
pub struct Surroundings<'a> {
    /// The command, as in messages.
    pub command: &'a str,
    /// Name of the flow.
    pub flow: &'a str,
    /// Start the client and the server.
    pub starters: [Starter; 2],
    /// Keeps the names of phases.
    pub keep: Keep,
}

/// What both ends know.
struct Shared {
    datagrams: Datagrams,
    /// Number of the first datagram that the server sent with all data delivered; [`NONE`] before.
    complete_from: AtomicU64,
}

/// Hands over a transfer bit by bit.
struct Hands {
    /// Bytes each time, at this interval; `None`: all at the start.
    bursts: Option<(u64, Span)>,
    stop: Option<Time>,
    next: Time,
    is_over: bool,
}

impl Hands {
    fn of(env: &EndsEnv<'_>) -> Self {
        let bursts = match env.supply {
            Some(Supply::Bursts(size, every)) => Some((size.0, *every)),
            _ => None,
        };
        Self { bursts, stop: env.stop, next: Time::MAX, is_over: false }
    }

    fn starts(&mut self, now: Time) {
        let burst = self.bursts.map_or(Time::MAX, |(_, every)| now + every);
        self.next = burst.min(self.stop.unwrap_or(Time::MAX));
    }

    /// What is handed over now, if something is: bytes, and whether they are the last.
    fn due(&mut self, now: Time) -> Option<(u64, bool)> {
        if self.is_over || now < self.next {
            return None;
        }
        if self.stop.is_some_and(|stop| now >= stop) {
            (self.is_over, self.next) = (true, Time::MAX);
            return Some((0, true));
        }
        let (bytes, every) = self.bursts?;
        self.next = (self.next + every).min(self.stop.unwrap_or(Time::MAX));
        Some((bytes, false))
    }
}

/// The end of a flow that a guest is.
pub struct GuestEnd {
    role: Role,
    start: Start,
    shared: Arc<Shared>,
    starter: Starter,
    guest: Option<Box<dyn Guest>>,
    answer: Answer,
    sequence: u32,
    label: String,
    keep: Keep,
    least_rtt_ns: u64,
    datagram: f64,
    hands: Hands,
    began: Time,
    guest_deadline: Time,
    deadline: Deadline,
    last_call: Time,
    calls: u32,
    failure: Option<String>,
    state: State,
    has_state: bool,
    /// Shortest round trip that it ever reported [ns]: after persistent congestion a stack forgets (RFC 9002, 5.2).
    shortest_rtt_ns: u64,
    arrived: u64,
    arrived_bytes: u64,
    /// A datagram has arrived that the server sent with all data delivered.
    knows_of_end: bool,
    sent: u64,
    sent_bytes: u64,
    sent_payload: u64,
    delivered: u64,
    completed: Time,
    rtt_sum_s: f64,
    rtts: u64,
}

/// The two ends of a flow of guests; no program is started before the run.
///
/// # Errors
/// Why guests cannot have such a flow, with the key below it that says so.
pub fn ends(
    env: &EndsEnv<'_>,
    surroundings: Surroundings<'_>,
) -> Result<Ends, (&'static str, String)> {
    match env.supply {
        None | Some(Supply::Bursts(..)) => {}
        Some(_) => {
            let message = "hands over data in a way that guests are not told of; expected size, every or nothing";
            return Err(("app", message.to_owned()));
        }
    }
    if !env.config.handshake {
        let message = "is false, and guests begin with their handshakes; expected true";
        return Err(("quic.handshake", message.to_owned()));
    }
    let shared =
        Arc::new(Shared { datagrams: Datagrams::default(), complete_from: AtomicU64::new(NONE) });
    let Surroundings { command, flow, starters: [client, server], keep } = surroundings;
    let end = |role, starter, name: &str| {
        let label = format!("flow {flow}: its guest ({command}, the {name})");
        GuestEnd::new(env, role, Arc::clone(&shared), starter, label, keep)
    };
    let sender = end(Role::Client, client, "client");
    let receiver = end(Role::Server, server, "server");
    Ok((Box::new(sender), Box::new(receiver)))
}

impl GuestEnd {
    fn new(
        env: &EndsEnv<'_>,
        role: Role,
        shared: Arc<Shared>,
        starter: Starter,
        label: String,
        keep: Keep,
    ) -> Self {
        let hands = Hands::of(env);
        let has_more = hands.bursts.is_some() || hands.stop.is_some();
        let mut flags = if env.config.ecn { start_flags::ECN } else { 0 };
        if has_more && role == Role::Client {
            flags |= start_flags::MORE_DATA;
        }
        let first = hands.bursts.map(|(bytes, _)| bytes).or(env.size.map(|size| size.0));
        let start = Start {
            role,
            flags,
            flow: env.flow.0,
            seed: env.seed,
            max_datagram: env.config.max_datagram,
            initial_window: env.config.initial_window,
            bytes: if role == Role::Client {
                first.unwrap_or(NONE)
            } else {
                env.size.map_or(NONE, |s| s.0)
            },
        };
        Self {
            role,
            start,
            shared,
            starter,
            guest: None,
            answer: Answer::default(),
            sequence: 0,
            label,
            keep,
            least_rtt_ns: env.round_trip.0.div_ceil(1000),
            datagram: f64::from(env.config.max_datagram),
            hands,
            began: Time::ZERO,
            guest_deadline: Time::MAX,
            deadline: Deadline::NEVER,
            last_call: Time::MAX,
            calls: 0,
            failure: None,
            state: State::default(),
            has_state: false,
            shortest_rtt_ns: 0,
            arrived: 0,
            arrived_bytes: 0,
            knows_of_end: false,
            sent: 0,
            sent_bytes: 0,
            sent_payload: 0,
            delivered: 0,
            completed: Time::ZERO,
            rtt_sum_s: 0.0,
            rtts: 0,
        }
    }

    fn is_client(&self) -> bool {
        self.role == Role::Client
    }

    /// Whether the flow is one transfer, which can be complete.
    fn has_end(&self) -> bool {
        self.start.bytes != NONE && self.start.flags & start_flags::MORE_DATA == 0
    }

    fn way(&self) -> usize {
        WAYS[usize::from(!self.is_client())]
    }

    /// The run must stop.
    fn fail(&mut self, failure: &Failure, now: Time) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some(match failure {
            Failure::Interrupted => "the run was interrupted".to_owned(),
            Failure::Broke { breach, last_lines } => {
                let tail = if last_lines.is_empty() {
                    String::new()
                } else {
                    format!("; its last lines:{last_lines}")
                };
                format!("{} {breach} at {} s of simulated time{tail}", self.label, now.seconds())
            }
        });
    }

    fn broke(&mut self, breach: String, now: Time) {
        let last_lines = self.guest.as_mut().map_or(String::new(), |guest| guest.last_lines());
        self.fail(&Failure::Broke { breach, last_lines }, now);
    }

    /// Hands over an event and does what the guest answers.
    fn exchange(&mut self, event: &Event<'_>, ctx: &mut EndpointCtx<'_>) {
        let Some(guest) = self.guest.as_mut().filter(|_| self.failure.is_none()) else { return };
        let now_ns = ctx.now.0 / 1000;
        self.sequence = self.sequence.wrapping_add(1);
        if let Err(failure) = guest.exchange(event, self.sequence, now_ns, &mut self.answer) {
            self.fail(&failure, ctx.now);
        } else if let Err(breach) = self.check(now_ns) {
            self.broke(breach, ctx.now);
        } else {
            self.apply(ctx);
        }
    }

    /// What the guest says that cannot be true.
    fn check(&self, now_ns: u64) -> Result<(), String> {
        let Answer { sequence, deadline_ns, delivered, is_complete, state, .. } = &self.answer;
        if *sequence != self.sequence {
            return Err(format!("answered event {sequence}, expected {}", self.sequence));
        }
        if *deadline_ns < now_ns {
            return Err(format!(
                "set a deadline of {deadline_ns} ns, which is before the present, {now_ns} ns"
            ));
        }
        if *delivered < self.delivered {
            let before = self.delivered;
            return Err(format!("reports {delivered} bytes after {before}, expected no fewer"));
        }
        self.check_bytes(*delivered, *is_complete && self.has_end())?;
        for (_, datagram) in self.answer.datagrams() {
            let (bytes, most) = (datagram.len(), self.start.max_datagram);
            if bytes == 0 || bytes > most as usize {
                return Err(format!("sent a datagram of {bytes} bytes, expected 1 to {most}"));
            }
        }
        if self.role == Role::Server
            && self.arrived == 0
            && self.answer.datagrams().next().is_some()
        {
            return Err("sent a datagram before any had arrived from its client".to_owned());
        }
        let Some(state) = state else { return Ok(()) };
        for (kind, rtt) in [("smoothed", state.srtt_ns), ("shortest", state.min_rtt_ns)] {
            if rtt > 0 && rtt.saturating_add(CLOCK_NS) < self.least_rtt_ns {
                let least = self.least_rtt_ns;
                return Err(format!(
                    "reports a {kind} round trip of {rtt} ns, and propagation alone takes {least} ns"
                ));
            }
        }
        Ok(())
    }

    fn check_bytes(&self, delivered: u64, is_complete: bool) -> Result<(), String> {
        if self.is_client() {
            let most = self.sent_payload;
            if delivered > most {
                return Err(format!(
                    "reports that {delivered} bytes are acknowledged, and has sent only {most}"
                ));
            }
            if is_complete && self.completed == Time::ZERO && !self.knows_of_end {
                return Err(
                    "reports that all is acknowledged, and nothing has arrived that its server sent after all was \
                     delivered"
                        .to_owned(),
                );
            }
            return Ok(());
        }
        let (most, size) = (self.arrived_bytes, self.start.bytes);
        if delivered > most {
            return Err(format!(
                "reports {delivered} delivered bytes, and only {most} have arrived"
            ));
        }
        if delivered > size {
            return Err(format!("reports {delivered} delivered bytes of a transfer of {size}"));
        }
        Ok(())
    }

    fn apply(&mut self, ctx: &mut EndpointCtx<'_>) {
        let way = self.way();
        self.delivered = self.answer.delivered;
        if !self.is_client() {
            if self.delivered == self.start.bytes
                && self.shared.complete_from.load(Ordering::Relaxed) == NONE
            {
                self.shared.complete_from.store(self.sent, Ordering::Relaxed);
            }
        } else if self.answer.is_complete && self.has_end() && self.completed == Time::ZERO {
            self.completed = ctx.now;
        }
        for (mark, datagram) in self.answer.datagrams() {
            let number = self.shared.datagrams.put(way, datagram);
            let mut flags = if way == WAYS[1] { Flags::ACK } else { Flags::default() };
            if self.start.flags & start_flags::ECN != 0 && mark != marks::NOT_CAPABLE {
                flags.set(Flags::ECT);
                if mark == marks::CE {
                    flags.set(Flags::CE);
                }
                if mark == marks::ECT_1 && way == WAYS[0] {
                    flags.set(Flags::ECT_1);
                }
            }
            let size = (datagram.len() + BELOW) as u16;
            ctx.out.send(ackclock_core::ids::FlowId(self.start.flow), number, size, flags);
            self.sent += 1;
            self.sent_bytes += u64::from(size);
            self.sent_payload += datagram.len() as u64;
        }
        let deadline_ns = self.answer.deadline_ns;
        self.guest_deadline = if deadline_ns == NONE {
            Time::MAX
        } else {
            Time(deadline_ns.saturating_mul(1000)).max(ctx.now)
        };
        if let Some(state) = self.answer.state.take() {
            self.take_state(state, ctx);
        }
    }

    fn take_state(&mut self, state: State, ctx: &mut EndpointCtx<'_>) {
        let flow = ackclock_core::ids::FlowId(self.start.flow);
        if state.phase != self.state.phase
            && let Some(phase) = (self.keep)(&state.phase)
        {
            ctx.record.note(|| StateRow { at: ctx.now, flow, state: phase });
        }
        if state.min_rtt_ns > 0
            && (self.shortest_rtt_ns == 0 || state.min_rtt_ns < self.shortest_rtt_ns)
        {
            self.shortest_rtt_ns = state.min_rtt_ns;
        }
        (self.state, self.has_state) = (state, true);
        if self.is_client() {
            ctx.record.note(|| WindowRow {
                at: ctx.now,
                flow,
                cwnd: self.in_datagrams(self.state.cwnd),
                ssthresh: self.ssthresh(),
                in_flight: self.in_datagrams(self.state.in_flight).round() as u32,
                acked: self.in_datagrams(self.delivered) as u32,
            });
        }
    }

    /// Starts the guest: a client when its flow begins, a server when its first datagram comes.
    fn begin(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.began = ctx.now;
        match (self.starter)() {
            Ok(guest) => {
                let can_more = guest.abilities() & abilities::LATER_DATA != 0;
                self.guest = Some(guest);
                if self.start.flags & start_flags::MORE_DATA != 0 && !can_more {
                    let breach = "takes no data after the start, which stop and every need";
                    self.broke(breach.to_owned(), ctx.now);
                }
            }
            Err(failure) => self.fail(&failure, ctx.now),
        }
        if self.is_client() {
            self.hands.starts(ctx.now);
        }
        let start = self.start.clone();
        self.exchange(&Event::Start(&start), ctx);
    }

    /// Sets the deadline of guest and application, whichever is first.
    fn set_deadline(&mut self, now: Time) {
        let next_deadline = self.guest_deadline.min(self.hands.next.max(now));
        if self.failure.is_some() {
            self.deadline = Deadline::FAILED;
        } else if next_deadline != self.deadline.at {
            self.deadline = Deadline { at: next_deadline, armed: now };
        }
    }

    fn in_datagrams(&self, bytes: u64) -> f64 {
        bytes as f64 / self.datagram
    }

    fn ssthresh(&self) -> f64 {
        match self.state.ssthresh {
            NONE => f64::INFINITY,
            bytes => self.in_datagrams(bytes),
        }
    }

    /// A round trip that the guest reports, never below propagation by the roughness of its clock.
    fn rtt_s(&self, rtt_ns: u64) -> f64 {
        if rtt_ns == 0 {
            0.0
        } else {
            Duration::from_nanos(rtt_ns.max(self.least_rtt_ns)).as_secs_f64()
        }
    }

    /// Counts the smoothed round trip, once for each datagram that arrives.
    fn count_rtt(&mut self, now: Time) {
        let rtt_ns = self.state.srtt_ns;
        // Before its first sample a stack has a guess, mostly more than has passed.
        let is_known = self.has_state && self.shortest_rtt_ns > 0;
        if is_known && rtt_ns > 0 && rtt_ns <= now.since(self.began).0 / 1000 {
            self.rtt_sum_s += self.rtt_s(rtt_ns);
            self.rtts += 1;
        }
    }
}

impl Endpoint for GuestEnd {
    fn start(&mut self, ctx: &mut EndpointCtx<'_>) {
        self.begin(ctx);
        self.set_deadline(ctx.now);
    }

    fn on_packet(&mut self, packet: Packet, ctx: &mut EndpointCtx<'_>) {
        if self.guest.is_none() && self.failure.is_none() {
            self.begin(ctx);
        }
        if let Some(datagram) = self.shared.datagrams.take(1 - self.way(), packet.seq) {
            let mark = match (packet.flags.has(Flags::CE), packet.flags.has(Flags::ECT)) {
                (true, _) => marks::CE,
                (false, true) if packet.flags.has(Flags::ECT_1) && !self.is_client() => {
                    marks::ECT_1
                }
                (false, true) => marks::ECT_0,
                (false, false) => marks::NOT_CAPABLE,
            };
            self.arrived += 1;
            self.arrived_bytes += datagram.len() as u64;
            self.knows_of_end |=
                u64::from(packet.seq) >= self.shared.complete_from.load(Ordering::Relaxed);
            self.exchange(&Event::Packet { mark, datagram: &datagram }, ctx);
        }
        self.count_rtt(ctx.now);
        self.set_deadline(ctx.now);
    }

    fn on_timer(&mut self, ctx: &mut EndpointCtx<'_>) {
        if ctx.now == self.last_call {
            self.calls += 1;
        } else {
            (self.last_call, self.calls) = (ctx.now, 0);
        }
        if self.calls >= MOST_CALLS {
            let breach = format!("set its deadline to the present {MOST_CALLS} times in a row");
            self.broke(breach, ctx.now);
        }
        if let Some((bytes, is_last)) = self.hands.due(ctx.now) {
            self.exchange(&Event::Data { bytes, is_last }, ctx);
        }
        if self.guest_deadline <= ctx.now {
            self.exchange(&Event::Time, ctx);
        }
        self.set_deadline(ctx.now);
    }

    fn deadline(&self) -> Deadline {
        self.deadline
    }

    fn snapshot(&self) -> Snapshot {
        if !self.is_client() {
            return Snapshot {
                delivered_bytes: self.delivered,
                // Of full datagrams: what has arrived beyond waits for others.
                delivered_packets: self.arrived.min((self.in_datagrams(self.delivered)) as u64),
                received_packets: self.arrived,
                acks_sent: self.sent,
                ..Snapshot::default()
            };
        }
        let pacing = (self.state.pacing_bps > 0)
            .then_some(("pacing_bps", self.state.pacing_bps as f64))
            .into_iter()
            .collect();
        Snapshot {
            cwnd: self.in_datagrams(self.state.cwnd),
            ssthresh: if self.has_state { self.ssthresh() } else { f64::INFINITY },
            in_flight: self.in_datagrams(self.state.in_flight).round() as u32,
            srtt_s: self.rtt_s(self.state.srtt_ns),
            sent_packets: self.sent,
            sent_bytes: self.sent_bytes,
            retransmits: self.state.lost,
            recoveries: self.state.reductions,
            acks_received: self.arrived,
            rtt_sum_s: self.rtt_sum_s,
            rtt_count: self.rtts,
            rtt_min_s: self.rtt_s(self.shortest_rtt_ns),
            probes: pacing,
            completed_s: self.completed.seconds(),
            ..Snapshot::default()
        }
    }

    fn sample(&self, row: &mut FlowSample) {
        if self.is_client() {
            self.snapshot().sample_sender(row);
        } else {
            row.delivered_bytes = self.delivered;
            row.received_bytes = self.delivered;
        }
    }

    fn failure(&self) -> Option<String> {
        self.failure.clone()
    }
}
