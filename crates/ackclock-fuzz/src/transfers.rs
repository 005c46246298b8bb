//! A sender and receiver of TCP or QUIC over a wire that loses, delays, doubles and marks packets as the bytes say. When the
//! script is over the wire is perfect, and every transfer ends with exactly its data delivered.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use ackclock_core::cc::{self, CcEnv, CongestionControl};
use ackclock_core::endpoint::{Endpoint, EndpointCtx};
use ackclock_core::era::Era;
use ackclock_core::ids::FlowId;
use ackclock_core::outbox::Outbox;
use ackclock_core::quic::{
    QuicConfig, QuicReceiver, QuicReceiverParts, QuicSender, QuicSenderParts,
};
use ackclock_core::record::Recorder;
use ackclock_core::recovery::{self, RecoveryEnv};
use ackclock_core::registry::Entry;
use ackclock_core::rng::{Purpose, Stream};
use ackclock_core::scenario::QuicOptions;
use ackclock_core::slow_start;
use ackclock_core::tcp::{Receiver, ReceiverParts, Sender, SenderParts, TcpConfig};
use ackclock_core::tcp_ns2::{Ns2Options, Ns2Parts, Ns2Sender, Ns2Sink, Variant};
use ackclock_core::units::{BitRate, Bytes, PS_PER_S, Span, Time};
use ackclock_core::wire::{Flags, Packet};

use crate::controls::ERAS;
use crate::input::Input;
use crate::schema::spec;
use crate::show;

static CONTROLS: LazyLock<Vec<Entry>> = LazyLock::new(cc::catalogue);
static RECOVERIES: LazyLock<Vec<Entry>> = LazyLock::new(recovery::catalogue);
static RULES: LazyLock<Vec<Entry>> = LazyLock::new(slow_start::catalogue);

/// Events of a run at most; a run that needs more is not judged by its end.
const MOST: usize = 4000;

/// Longest run of a scenario.
const LONGEST: Time = Time(9_000_000 * PS_PER_S);

type Pair = [Box<dyn Endpoint>; 2];

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let segments = 1 + u64::from(input.byte() % 60);
    let Some((mut ends, size)) = build(&mut input, segments) else { return };
    let script: Vec<u8> =
        std::iter::from_fn(|| (!input.is_used_up()).then(|| input.byte())).take(MOST).collect();
    let mut wire = Wire::new(script);
    wire.call(&mut ends, 0, |end, ctx| end.start(ctx));
    for _ in 0..MOST {
        if !wire.step(&mut ends) {
            break;
        }
        // Timers double until they are beyond every run; a wire that loses for so long proves nothing.
        if wire.now > LONGEST {
            return;
        }
        let [sender, receiver] = [ends[0].snapshot(), ends[1].snapshot()];
        assert!(sender.cwnd.is_finite() && !sender.ssthresh.is_nan());
        assert!(sender.retransmits <= sender.sent_packets);
        assert!(receiver.delivered_packets <= receiver.received_packets);
        assert!(
            receiver.delivered_bytes <= size,
            "{} of {size} B delivered",
            receiver.delivered_bytes
        );
        if let Some(failure) = ends[0].failure() {
            // Parameters in range may lead beyond all windows; that is reported to the user.
            assert!(!failure.contains("NaN"), "{failure}");
            return;
        }
        if sender.completed_s > 0.0 {
            assert_eq!(receiver.delivered_bytes, size, "completed, with data missing");
            return;
        }
    }
    // Nothing is scheduled and nothing flies: the transfer must not be given up.
    assert!(
        wire.next(&ends).is_some(),
        "stalled with {} of {size} B delivered",
        ends[1].snapshot().delivered_bytes
    );
}

fn build(input: &mut Input<'_>, segments: u64) -> Option<(Pair, u64)> {
    let era = *input.pick(&ERAS);
    let mut config = TcpConfig::of_era(era);
    let [a, b] = [input.byte(), input.byte()];
    config.mss = [1000, 1460, 1, 536][usize::from(a % 4)];
    config.delayed_ack = 1 + u32::from(a / 4 % 4);
    config.initial_window = 1 + u32::from(a / 16);
    config.receiver_window = if b & 1 == 0 { 10_000 } else { 1 + u32::from(b / 2 % 16) };
    let cc = spec(input, &CONTROLS);
    show(format_args!("{cc:?}, {config:?}"));
    let env = CcEnv {
        mss: config.mss,
        wire_size: config.wire_size(),
        line_rate: BitRate(10_000_000_000),
        round_trip: Span::from_micros(20),
        era,
    };
    let cc = cc::build(&cc, &env, "cc").ok()?;
    let recovery = spec(input, &RECOVERIES);
    let flow = FlowId(0);
    if era == Era::Rfc && b & 128 == 128 {
        return quic(input, segments, cc);
    }
    let mut size = segments * u64::from(config.mss);
    if era.is_ns2() {
        let variant = Variant::of_recovery(recovery.kind())?;
        if cc.needs_ecn_counts() {
            return None;
        }
        config.ecn = b & 32 == 32;
        let options = Ns2Options::of_era(era);
        let sink = Ns2Sink::new(flow, config.clone(), variant == Variant::Sack1);
        let sender = Ns2Sender::new(Ns2Parts {
            flow,
            config,
            options,
            variant,
            size: Some(Bytes(size)),
            stop: None,
            cc,
        });
        return Some(([Box::new(sender), Box::new(sink)], size));
    }
    size = size.saturating_sub(u64::from(input.byte()) % u64::from(config.mss));
    let flags = input.byte();
    config.syn = flags & 1 == 1;
    config.timestamps = flags & 2 == 2;
    config.ecn = flags & 4 == 4 || cc.counts_marks();
    config.limited_transmit = flags & 8 == 8;
    config.dsack = flags & 16 == 16;
    config.frto = flags & 32 == 32;
    config.idle_restart = flags & 64 == 64;
    config.eifel = flags & 128 == 128 && config.timestamps;
    config.accecn = cc.needs_ecn_counts();
    if b & 64 == 64 {
        config.min_rto = Span::from_millis(10);
    }
    let rule = slow_start::build(&spec(input, &RULES), &env, "slow_start").ok()?;
    let env = RecoveryEnv { limited_transmit: config.limited_transmit, era: config.era };
    let recovery = recovery::build(&recovery, &env, "recovery").ok()?;
    let receiver = Receiver::new(&ReceiverParts {
        flow,
        config: config.clone(),
        sack: recovery.uses_sack(),
        size: Some(Bytes(size)),
    });
    let sender = Sender::new(SenderParts {
        flow,
        config: Arc::new(config),
        size: Some(Bytes(size)),
        supply: None,
        stop: None,
        control: Arc::from("fuzzed"),
        cc,
        recovery,
        slow_start: rule,
    });
    Some(([Box::new(sender), Box::new(receiver)], size))
}

/// A transfer over QUIC.
fn quic(
    input: &mut Input<'_>,
    segments: u64,
    cc: Box<dyn CongestionControl>,
) -> Option<(Pair, u64)> {
    let [a, b] = [input.byte(), input.byte()];
    let options = QuicOptions {
        initial_window: Some(2 + u32::from(a % 16)),
        receiver_window: (a & 16 == 16).then(|| 2 + u32::from(a / 32)),
        handshake: Some(b & 1 == 1),
        ecn: Some(b & 2 == 2 || cc.counts_marks() || cc.needs_ecn_counts()),
        pacing_factor: (b & 4 == 4).then_some(0.0),
        ack_eliciting_threshold: Some(u32::from(b / 8 % 4)),
        reordering_threshold: (b & 32 == 32).then(|| u32::from(b / 64)),
        ..QuicOptions::default()
    };
    let config = QuicConfig::of(&options);
    show(format_args!("QUIC: {config:?}"));
    let env = CcEnv {
        mss: config.segment(),
        wire_size: config.segment() + 67,
        line_rate: BitRate(10_000_000_000),
        round_trip: Span::from_micros(20),
        era: Era::Rfc,
    };
    let rule = slow_start::build(&spec(input, &RULES), &env, "slow_start").ok()?;
    let segment_size = u64::from(config.segment());
    let size = (segments * segment_size).saturating_sub(u64::from(input.byte()) % segment_size);
    let (flow, bytes) = (FlowId(0), Some(Bytes(size)));
    let receiver_parts =
        QuicReceiverParts { flow, config: config.clone(), size: bytes, streams: None };
    let receiver = QuicReceiver::new(&receiver_parts);
    let sender = QuicSender::new(QuicSenderParts {
        flow,
        config: Arc::new(config),
        size: bytes,
        supply: None,
        streams: None,
        stop: None,
        control: Arc::from("fuzzed"),
        cc,
        slow_start: rule,
    });
    Some(([Box::new(sender), Box::new(receiver)], size))
}

/// Two ways, each of which takes 10 ms, and 1 ms for each packet.
struct Wire {
    now: Time,
    script: std::vec::IntoIter<u8>,
    busy_until: [Time; 2],
    flying: BTreeMap<(Time, u64), (usize, Packet)>,
    order: u64,
    rngs: [Stream; 2],
    record: Recorder,
}

impl Wire {
    fn new(script: Vec<u8>) -> Self {
        Self {
            now: Time::ZERO,
            script: script.into_iter(),
            busy_until: [Time::ZERO; 2],
            flying: BTreeMap::new(),
            order: 0,
            rngs: [Stream::new(1, Purpose::Sender, 0), Stream::new(1, Purpose::Receiver, 0)],
            record: Recorder::default(),
        }
    }

    /// When something happens next.
    fn next(&self, ends: &Pair) -> Option<Time> {
        let arrival = self.flying.keys().next().map_or(Time::MAX, |&(arrives, _)| arrives);
        let first = ends.iter().map(|end| end.deadline().at).fold(arrival, Time::min);
        (first != Time::MAX).then_some(first)
    }

    /// Handles the next event; false if there is none.
    fn step(&mut self, ends: &mut Pair) -> bool {
        let Some(next) = self.next(ends) else { return false };
        // A deadline that has passed is due now.
        self.now = self.now.max(next);
        if self.flying.keys().next().is_some_and(|&(arrives, _)| arrives == next) {
            if let Some((_, (to, packet))) = self.flying.pop_first() {
                self.call(ends, to, |end, ctx| end.on_packet(packet, ctx));
            }
        } else {
            let which = usize::from(ends[0].deadline().at != next);
            self.call(ends, which, |end, ctx| end.on_timer(ctx));
        }
        true
    }

    fn call(
        &mut self,
        ends: &mut Pair,
        which: usize,
        f: impl FnOnce(&mut dyn Endpoint, &mut EndpointCtx<'_>),
    ) {
        let mut out = Outbox::default();
        let mut ctx = EndpointCtx::new(self.now, &mut out, &mut self.rngs[which], &mut self.record);
        f(&mut *ends[which], &mut ctx);
        for packet in out.take() {
            self.carry(which, packet);
        }
    }

    fn carry(&mut self, from: usize, mut packet: Packet) {
        self.busy_until[from] = self.busy_until[from].max(self.now) + Span::from_millis(1);
        let mut arrival = self.busy_until[from] + Span::from_millis(10);
        let fate = self.script.next().unwrap_or(0);
        show(format_args!(
            "{:.6} s: {} sends {}, {:?} {:?}, fate {}",
            self.now.since(Time::ZERO).seconds(),
            ["sender", "receiver"][from],
            packet.seq,
            packet.flags,
            packet.options,
            fate % 8
        ));
        match fate % 8 {
            4 => return,
            5 => arrival += Span::from_millis(u64::from(fate)),
            6 => {
                let mut copy = Packet::new(packet.flow, packet.seq, packet.size, packet.flags);
                copy.options = packet.options;
                self.fly(arrival, from, copy);
            }
            7 if packet.flags.has(Flags::ECT) => packet.flags.set(Flags::CE),
            _ => {}
        }
        self.fly(arrival, from, packet);
    }

    fn fly(&mut self, arrival: Time, from: usize, packet: Packet) {
        self.order += 1;
        self.flying.insert((arrival, self.order), (1 - from, packet));
    }
}
