//! What flows send by: their senders and TCP settings, completed and checked.

use std::sync::{Arc, LazyLock};

use super::{Context, Definition};
use crate::compile::plan::{GUEST, PlanSender};
use crate::era::Era;
use crate::ids::FlowId;
use crate::quic::{FrameStreams, QuicConfig};
use crate::registry::{Range, Spec};
use crate::scenario::{Flow, FrameStream, Guest, Media, QuicOptions, TcpOptions, Transport};
use crate::tcp::TcpConfig;
use crate::traffic::source::{self, Bundles, PacketSizes, SourceEnv};
use crate::units::{BitRate, Bytes, Span};
use crate::{cc, credits, recovery, slow_start};

/// Least packet threshold of QUIC where packets are sprayed.
const SPRAYED_THRESHOLD: u32 = 1000;

impl Context<'_> {
    /// Checks a flow's settings.
    pub(super) fn settings(
        &mut self,
        definition: &Definition<'_>,
        start: Span,
        size: Option<Bytes>,
    ) {
        let Definition { flow, path, tcp, sender } = definition;
        // What a flow over QUIC has in their place is checked with its transport.
        let is_quic = matches!(**sender, PlanSender::Quic { .. });
        for problem in tcp_problems(tcp) {
            if !is_quic && !self.base_problems.contains(&problem) {
                self.wrong(format!("{path}.tcp.{}", problem.0), problem.1);
            }
        }
        let bytes = size.and_then(|size| SIZE.problem(size.0 as f64, || format!("{path}.size")));
        let seconds = flow.every.map(Span::seconds);
        let every = seconds.and_then(|every| EVERY.problem(every, || format!("{path}.every")));
        self.problems.extend(bytes.into_iter().chain(every));
        if let Some(stop) = flow.stop
            && stop <= start + flow.start_jitter.unwrap_or_default()
        {
            self.wrong(format!("{path}.stop"), "is not later than start");
        }
        if flow.every.is_some() {
            if size.is_none() {
                self.wrong(format!("{path}.every"), "needs size beside it, what is handed over");
            }
            if self.scenario.era.is_ns2() {
                self.wrong(
                    format!("{path}.every"),
                    "is for era rfc; flows of the other eras, ns-2's, never pause",
                );
            }
        }
        if let Some(steps) = &flow.app {
            let app_path = format!("{path}.app");
            if self.scenario.era.is_ns2() {
                self.wrong(
                    app_path.clone(),
                    "is for era rfc; flows of the other eras, ns-2's, never pause",
                );
            }
            if flow.every.is_some() {
                self.wrong(
                    app_path.clone(),
                    "says how data is handed over, and so does every; expected one",
                );
            }
            if steps.is_empty() {
                self.wrong(app_path.clone(), "is empty, expected at least one step");
            }
            if let Some(i) = steps.windows(2).position(|w| w[1].at <= w[0].at) {
                let message = "is not later than the step before, expected ascending times";
                self.wrong(format!("{app_path}[{}].at", i + 1), message);
            }
        }
        if let Some(media) = &flow.media {
            let media_path = format!("{path}.media");
            if self.scenario.era.is_ns2() {
                self.wrong(
                    media_path.clone(),
                    "is for era rfc; flows of the other eras, ns-2's, never pause",
                );
            }
            if flow.every.is_some() || flow.app.is_some() {
                let other = if flow.app.is_some() { "app" } else { "every" };
                let message =
                    format!("says how data is handed over, and so does {other}; expected one");
                self.wrong(media_path.clone(), message);
            }
            if let Some((key, message)) = media_problem(media) {
                self.wrong(format!("{media_path}.{key}"), message);
            }
        }
        self.check_trimming(definition);
        self.check_credits(definition);
        self.streams(definition, size);
        self.transport(definition);
        self.guest(definition);
        if flow.source.is_some() {
            for (key, is_set) in [
                ("transport", flow.transport.is_some()),
                ("quic", flow.quic != QuicOptions::default()),
                ("every", flow.every.is_some()),
                ("app", flow.app.is_some()),
                ("media", flow.media.is_some()),
                ("streams", flow.streams.is_some()),
                ("cc", flow.cc.is_some()),
                ("recovery", flow.recovery.is_some()),
                ("slow_start", flow.slow_start.is_some()),
                ("credits", flow.credits.is_some()),
                ("size", size.is_some()),
                ("guest", flow.guest.is_some()),
            ] {
                if is_set {
                    self.wrong(
                        format!("{path}.{key}"),
                        "has no meaning beside source: an unresponsive sender has no TCP and \
                         sends until its stop",
                    );
                }
            }
        }
    }

    /// Checks that a flow of a guest has nothing else in the guest's place.
    fn guest(&mut self, definition: &Definition<'_>) {
        let Definition { flow, path, .. } = definition;
        let Some(guest) = flow.guest.as_ref().filter(|_| flow.source.is_none()) else { return };
        if let Some(problem) = guest
            .patience
            .and_then(|wait| PATIENCE.problem(wait.seconds(), || format!("{path}.guest.patience")))
        {
            self.problems.push(problem);
        }
        if guest.command.is_empty() {
            self.wrong(
                format!("{path}.guest.command"),
                "is empty, expected a program and its arguments",
            );
        }
        if guest.name.as_ref().is_some_and(|name| name.is_empty() || name.len() > LONGEST_NAME) {
            self.wrong(
                format!("{path}.guest.name"),
                format!("expected 1 to {LONGEST_NAME} bytes of text"),
            );
        }
        for (key, is_set) in [
            ("transport", flow.transport == Some(Transport::Tcp)),
            ("cc", flow.cc.is_some()),
            ("slow_start", flow.slow_start.is_some()),
            ("credits", flow.credits.is_some()),
            ("app", flow.app.is_some()),
            ("media", flow.media.is_some()),
            ("streams", flow.streams.is_some()),
        ] {
            if is_set {
                self.wrong(
                    format!("{path}.{key}"),
                    "has no meaning beside guest, a program that is both ends of the flow; expected none",
                );
            }
        }
    }

    /// Checks the streams of a call.
    fn streams(&mut self, definition: &Definition<'_>, size: Option<Bytes>) {
        let Definition { flow, path, tcp, sender, .. } = definition;
        let Some(streams) = flow.streams.as_ref().filter(|_| flow.source.is_none()) else { return };
        let streams_path = format!("{path}.streams");
        if !matches!(**sender, PlanSender::Quic { .. }) {
            let message =
                "has no meaning in a flow over TCP; expected transport = \"quic\" beside it";
            self.wrong(streams_path.clone(), message);
        }
        for (key, is_set) in [
            ("size", size.is_some()),
            ("every", flow.every.is_some()),
            ("app", flow.app.is_some()),
            ("media", flow.media.is_some()),
        ] {
            if is_set {
                self.wrong(
                    format!("{path}.{key}"),
                    "says what is sent, and so does streams; expected one",
                );
            }
        }
        if streams.is_empty() || streams.len() > MAX_STREAMS {
            let count = streams.len();
            self.wrong(
                streams_path.clone(),
                format!("has {count} streams, expected 1 to {MAX_STREAMS}"),
            );
        }
        let mut names = Vec::new();
        for (i, stream) in streams.iter().enumerate() {
            let stream_path = format!("{streams_path}[{i}]");
            let numbers = frame_numbers(stream).into_iter().zip(FRAME_KEYS);
            for ((value, key), range) in numbers.zip(FRAMES.iter()) {
                self.problems.extend(
                    value.and_then(|v| range.problem(v, || format!("{stream_path}.{key}"))),
                );
            }
            let name = stream.name(i as u32);
            if names.contains(&name) {
                let message =
                    format!("\"{name}\" is the name of an earlier stream; expected an unused name");
                self.wrong(format!("{stream_path}.id"), message);
            }
            names.push(name);
            if stream.datagrams && stream.size.0 > u64::from(tcp.mss) {
                let message = format!(
                    "is {} B, expected at most {} B, what a datagram holds",
                    stream.size.0, tcp.mss
                );
                self.wrong(format!("{stream_path}.size"), message);
            }
            if stream.datagrams && (stream.group != 1 || stream.first.is_some()) {
                let key = if stream.first.is_some() { "first" } else { "group" };
                let message =
                    "has no meaning beside datagrams, each a group by itself; expected none";
                self.wrong(format!("{stream_path}.{key}"), message);
            }
        }
    }

    /// Checks what a flow says of its transport.
    fn transport(&mut self, definition: &Definition<'_>) {
        let Definition { flow, path, sender, .. } = definition;
        let era = self.scenario.era;
        if !matches!(**sender, PlanSender::Quic { .. }) {
            if flow.source.is_none() && flow.quic != QuicOptions::default() {
                let message =
                    "has no meaning in a flow over TCP; expected transport = \"quic\" beside it";
                self.wrong(format!("{path}.quic"), message);
            }
            return;
        }
        if era.is_ns2() {
            let key = if flow.guest.is_some() { "guest" } else { "transport" };
            let message = format!("is \"quic\" in era {}; expected era quic or rfc", era.name());
            self.wrong(format!("{path}.{key}"), message);
        }
        if flow.recovery.is_some() {
            let message = "has no meaning in a flow over QUIC, whose loss recovery is that of RFC 9002; expected none";
            self.wrong(format!("{path}.recovery"), message);
        }
        if flow.tcp != TcpOptions::default() {
            let message = "has no meaning in a flow over QUIC; expected its settings in quic";
            self.wrong(format!("{path}.tcp"), message);
        }
        let options = flow.quic.over(&self.scenario.quic);
        for (key, value, range) in quic_values(&options) {
            // Once for the scenario, and for each flow that sets it.
            let quic_path = if is_given(&flow.quic, key) {
                format!("{path}.quic.{key}")
            } else {
                format!("quic.{key}")
            };
            self.problems.extend(range.problem(value, || quic_path));
        }
    }

    /// Refuses a recovery that knows no NACKs, where payloads may be cut off.
    fn check_trimming(&mut self, definition: &Definition<'_>) {
        let Definition { path, sender, tcp, .. } = definition;
        let PlanSender::Tcp { recovery, .. } = &**sender else { return };
        if tcp.trimming && !recovery::READS_NACKS.contains(&recovery.kind()) {
            let message = format!(
                "is \"{}\", which knows nothing of segments whose payload was cut off (tcp.trimming); expected {}",
                recovery.kind(),
                recovery::READS_NACKS.map(|name| format!("\"{name}\"")).join(" or ")
            );
            self.wrong(format!("{path}.recovery"), message);
        }
    }

    /// Refuses credit where the receiver is not one that gives some.
    fn check_credits(&mut self, definition: &Definition<'_>) {
        let Definition { flow, path, sender, tcp, .. } = definition;
        let has_credit = flow.credits.is_some() && flow.source.is_none() && flow.guest.is_none();
        let era = self.scenario.era;
        let message = match &**sender {
            PlanSender::Quic { .. } if has_credit => {
                "is of receivers of TCP; expected transport = \"tcp\" beside it".to_owned()
            }
            PlanSender::Tcp { .. } if has_credit && era.is_ns2() => {
                let name = era.name();
                format!("is what era {name} has not; expected era rfc or linux beside it")
            }
            _ => String::new(),
        };
        if !message.is_empty() {
            self.wrong(format!("{path}.credits"), message);
        }
        for (key, is_set) in [
            ("optimistic_acks", tcp.optimistic_acks.is_some()),
            ("ecn_echo", !tcp.ecn_echo),
            ("aqt", tcp.aqt),
        ] {
            if has_credit && is_set {
                let message = "does not go together with credits, whose receivers follow the rules and whose packets have no \
                               room for more; expected one of them";
                self.wrong(format!("{path}.tcp.{key}"), message);
            }
        }
    }

    /// Refuses what takes packets for lost that others have overtaken, or that reads the ports of one path, for a flow whose
    /// packets are sprayed.
    pub(super) fn check_sprayed_flow(&mut self, definition: &Definition<'_>) {
        let Definition { path, sender, .. } = definition;
        let known = recovery::TAKES_REORDERING;
        let choice = self.scenario.equal_paths.map_or(String::new(), |choice| choice.to_string());
        match &**sender {
            PlanSender::Tcp { recovery, .. } if !known.contains(&recovery.kind()) => {
                let message = format!(
                    "is \"{}\", which takes packets for lost that others have overtaken, as all are where \
                     equal_paths = \"{choice}\"; expected {}",
                    recovery.kind(),
                    known.map(|name| format!("\"{name}\"")).join(" or ")
                );
                self.wrong(format!("{path}.recovery"), message);
            }
            PlanSender::Quic { config, .. } if config.packet_threshold < SPRAYED_THRESHOLD => {
                let message = format!(
                    "is {}, and packets that are sprayed (equal_paths = \"{choice}\") are overtaken by more; expected at \
                     least {SPRAYED_THRESHOLD}, which leaves losses to the time threshold",
                    config.packet_threshold
                );
                self.wrong(format!("{path}.quic.packet_threshold"), message);
            }
            _ => {}
        }
    }

    /// The TCP settings of a flow, or what a flow over QUIC has in their place.
    pub(super) fn config(&self, flow: &Flow, sender: &PlanSender) -> TcpConfig {
        match sender {
            PlanSender::Quic { config, .. } => config.over(&self.base),
            _ => self.base.clone().with(&flow.tcp),
        }
    }

    pub(super) fn sender(&self, flow: &Flow) -> PlanSender {
        let era = self.scenario.era;
        if let Some(source) = &flow.source {
            let packets = source_packets(source, era.of_algorithms());
            return PlanSender::Source { source: source.clone(), packets };
        }
        let of_era = if era == Era::Quic { Transport::Quic } else { Transport::Tcp };
        if let Some(guest) = &flow.guest {
            return PlanSender::Quic {
                slow_start: "standard".into(),
                config: Arc::new(QuicConfig::of(&flow.quic.over(&self.scenario.quic))),
                control: Arc::from(guest.name.as_deref().unwrap_or(GUEST)),
                cc: guest_spec(guest),
                streams: None,
            };
        }
        if flow.transport.unwrap_or(of_era) == Transport::Quic {
            let cc = flow.cc.clone().unwrap_or_else(|| "cubic".into());
            let slow_start = flow.slow_start.clone().unwrap_or_else(|| "standard".into());
            return PlanSender::Quic {
                slow_start: slow_start.by_registry_name(slow_start::registry_name),
                config: Arc::new(QuicConfig::of(&flow.quic.over(&self.scenario.quic))),
                control: Arc::from(cc.kind()),
                cc: cc.by_registry_name(cc::registry_name),
                streams: flow.streams.as_deref().map(FrameStreams::from),
            };
        }
        // Today's hosts run CUBIC over SACK; ns-2's Agent/TCP users of the time AIMD over Reno.
        let usual = match &flow.credits {
            Some(_) => "none",
            None if era.is_ns2() => "aimd",
            None => "cubic",
        };
        let cc = flow.cc.clone().unwrap_or_else(|| usual.into());
        let usual = match era {
            Era::Rfc | Era::Quic => "sack",
            Era::Linux => "rack",
            _ => "reno",
        };
        let recovery = flow.recovery.clone().unwrap_or_else(|| usual.into());
        // HyStart is a part of the kernel's CUBIC.
        let hystart = era == Era::Linux && cc.kind() == "cubic";
        let usual = if hystart { "hystart" } else { "standard" };
        let slow_start = flow.slow_start.clone().unwrap_or_else(|| usual.into());
        let mut ns2 = self.scenario.tcp.ns2.clone();
        if let Some(flow_options) = &flow.tcp.ns2 {
            ns2.get_or_insert_default().extend(flow_options.clone());
        }
        PlanSender::Tcp {
            control: Arc::from(cc.kind()),
            cc: cc.by_registry_name(cc::registry_name),
            recovery: recovery.by_registry_name(recovery::registry_name),
            slow_start: slow_start.by_registry_name(slow_start::registry_name),
            credits: flow
                .credits
                .as_ref()
                .map(|credits| credits.by_registry_name(credits::registry_name)),
            ns2,
        }
    }
}

/// A guest in the place of a congestion control, which it has itself.
fn guest_spec(guest: &Guest) -> Spec {
    let mut table = serde_json::to_value(guest).unwrap_or_default();
    table["kind"] = GUEST.into();
    serde_json::from_value(table).unwrap_or_else(|_| GUEST.into())
}

/// How large the packets of a source are; full ones where its parameters are wrong, which the check reports.
fn source_packets(source: &Spec, era: Era) -> PacketSizes {
    // No size depends on where the flow goes.
    let env = SourceEnv {
        flow: FlowId(0),
        start: Span::ZERO,
        stop: None,
        era,
        first_link: None,
        access: Some(BitRate(1_000_000)),
        peak: None,
        bundles: Bundles::default(),
    };
    source::build(source, &env, "source").map_or(FULL_PACKETS, |source| source.packet_sizes())
}

const FULL_PACKETS: PacketSizes = PacketSizes { smallest: 1500, largest: 1500, answer: 40 };

/// Most streams of a call.
const MAX_STREAMS: usize = 64;
const FRAME_KEYS: [&str; 6] = ["priority", "fps", "size", "first", "group", "cancel_after"];
static FRAMES: LazyLock<[Range; 6]> = LazyLock::new(|| Range::all::<FrameStream, 6>(FRAME_KEYS));

/// The numbers of a stream, in the order of their keys; those left out have none.
fn frame_numbers(stream: &FrameStream) -> [Option<f64>; 6] {
    [
        Some(f64::from(stream.priority)),
        Some(stream.fps),
        Some(stream.size.0 as f64),
        stream.first.map(|first| first.0 as f64),
        Some(f64::from(stream.group)),
        stream.cancel_after.map(Span::seconds),
    ]
}

/// Most bytes of the name of a guest.
const LONGEST_NAME: usize = 64;
static PATIENCE: LazyLock<Range> = LazyLock::new(|| Range::of::<Guest>("patience"));
static SIZE: LazyLock<Range> = LazyLock::new(|| Range::of::<Flow>("size"));
static EVERY: LazyLock<Range> = LazyLock::new(|| Range::of::<Flow>("every"));
const TCP_KEYS: [&str; 9] = [
    "mss",
    "header",
    "ack_size",
    "initial_window",
    "receiver_window",
    "delayed_ack",
    "tick",
    "max_rto",
    "initial_rto",
];
static TCP: LazyLock<[Range; 9]> = LazyLock::new(|| Range::all::<TcpOptions, 9>(TCP_KEYS));

/// Most bytes of payload and headers of a data packet: the wire counts 16 bits, 12 of which timestamps may take.
const MOST_TOGETHER: u32 = u16::MAX as u32 - 12;

const QUIC_KEYS: [&str; 10] = [
    "max_datagram",
    "initial_window",
    "receiver_window",
    "packet_threshold",
    "time_threshold",
    "granularity",
    "initial_rtt",
    "persistent_congestion_threshold",
    "pacing_factor",
    "pacing_burst",
];
static QUIC: LazyLock<[Range; 10]> = LazyLock::new(|| Range::all::<QuicOptions, 10>(QUIC_KEYS));

/// The numbers that QUIC settings give, in the order of their keys; those left out have none.
fn quic_numbers(options: &QuicOptions) -> [Option<f64>; 10] {
    [
        options.max_datagram.map(f64::from),
        options.initial_window.map(f64::from),
        options.receiver_window.map(f64::from),
        options.packet_threshold.map(f64::from),
        options.time_threshold,
        options.granularity.map(Span::seconds),
        options.initial_rtt.map(Span::seconds),
        options.persistent_congestion_threshold,
        options.pacing_factor,
        options.pacing_burst.map(f64::from),
    ]
}

/// The numbers that QUIC settings give, with their keys and ranges.
fn quic_values(options: &QuicOptions) -> impl Iterator<Item = (&'static str, f64, &'static Range)> {
    let numbers = quic_numbers(options).into_iter();
    numbers.zip(QUIC_KEYS).zip(QUIC.iter()).filter_map(|((n, key), range)| Some((key, n?, range)))
}

/// Whether these settings give a number for `key`.
fn is_given(options: &QuicOptions, key: &str) -> bool {
    quic_numbers(options).iter().zip(QUIC_KEYS).any(|(n, other)| other == key && n.is_some())
}

/// What is wrong with TCP settings: keys and sentences.
pub(super) fn tcp_problems(tcp: &TcpConfig) -> Vec<(&'static str, String)> {
    let mut problems = Vec::new();
    let mut wrong = |key, message: String| problems.push((key, message));
    let values: [f64; 9] = [
        tcp.mss.into(),
        tcp.header.into(),
        tcp.ack_size.into(),
        tcp.initial_window.into(),
        tcp.receiver_window.into(),
        tcp.delayed_ack.into(),
        tcp.tick.seconds(),
        tcp.max_rto.seconds(),
        tcp.initial_rto.seconds(),
    ];
    for ((key, value), range) in TCP_KEYS.into_iter().zip(values).zip(TCP.iter()) {
        if let Some(problem) = range.problem(value, String::new) {
            wrong(key, problem.message);
        }
    }
    // Both together fill a packet with its timestamps, so the bound on one depends on the other, which may come
    // from the era: no attribute of one field.
    let alone = [tcp.mss, tcp.header].iter().all(|&bytes| bytes <= MOST_TOGETHER);
    if alone && tcp.wire_size() > MOST_TOGETHER {
        let (mss, header) = (tcp.mss, tcp.header);
        wrong(
            "mss",
            format!(
                "is {mss} B with {header} B of headers, expected at most {MOST_TOGETHER} B together"
            ),
        );
    }
    if tcp.accecn && !tcp.ecn {
        wrong("accecn", "is true beside ecn = false, expected ecn = true".to_owned());
    }
    if tcp.eifel && !tcp.timestamps {
        wrong(
            "eifel",
            "finds needless repairs by timestamps, expected timestamps = true".to_owned(),
        );
    }
    if tcp.min_rto > tcp.max_rto {
        wrong("min_rto", "is more than max_rto".to_owned());
    }
    // @src rfc6298#2: a timer of a clock of granularity G cannot run out sooner than G.
    for (key, rto) in [("max_rto", tcp.max_rto), ("initial_rto", tcp.initial_rto)] {
        if rto < tcp.tick && problems.iter().all(|problem| problem.0 != key) {
            let (rto, tick) = (rto.seconds(), tcp.tick.seconds());
            let message = format!(
                "is {rto} s, expected at least tick, {tick} s: no timer runs out within a tick of its clock"
            );
            problems.push((key, message));
        }
    }
    problems
}

/// What is wrong with a media source whose parameters are in their own ranges: key and message.
fn media_problem(media: &Media) -> Option<(String, &'static str)> {
    if media.max < media.min {
        return Some(("max".to_owned(), "is less than min, expected at least as much"));
    }
    if let Some(i) = media.pauses.iter().position(|pause| pause.until <= pause.at) {
        return Some((format!("pauses[{i}].until"), "is not later than at, expected a later time"));
    }
    let i = media.pauses.windows(2).position(|w| w[1].at < w[0].until)?;
    let message = "is before the end of the pause before it, expected ascending times";
    Some((format!("pauses[{}].at", i + 1), message))
}
