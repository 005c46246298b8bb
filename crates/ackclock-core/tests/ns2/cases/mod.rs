//! The ns-2 reference cases: where they are, what they describe, what ns-2 did, and comparison.
//!
//! Anything that runs a case fills an [`Observed`] and calls [`SingleCase::compare`] for the first
//! event at which it differs from ns-2.

pub(crate) mod engine;
pub(crate) mod net;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ackclock_base::reference_data;
use ackclock_core::cc::{Ack, Congestion, CongestionControl, Signal, Window};
use ackclock_core::era::Era;
use ackclock_core::tcp::TcpConfig;
use ackclock_core::tcp_ns2::{Ns2Options, Ns2Variables, Variant};
use ackclock_core::units::{BitRate, Span, Time};
use serde_json::Value;

/// The folder of the reference cases: `ACKCLOCK_ORACLES`, else `oracles/ns2` of the reference data.
///
/// Tests that call it are in modules `needs_data`, or `needs_data_slow` if they take long, and ignored by
/// default: without the data they fail.
pub(crate) fn folder() -> PathBuf {
    match std::env::var_os("ACKCLOCK_ORACLES").map(PathBuf::from) {
        Some(set) if set.is_dir() => set,
        Some(set) => panic!("no folder {}, which ACKCLOCK_ORACLES names", set.display()),
        None => reference_data::folder("oracles/ns2"),
    }
}

/// ns-2's AIMD (`increase_num_`, `decrease_num_`) with growth `a` packets per window of data and decrease to `b` of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aimd {
    pub(crate) a: f64,
    pub(crate) b: f64,
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, window: &mut Window, _ack: &Ack) {
        window.cwnd += self.a / window.cwnd;
    }

    fn on_congestion(&mut self, window: &mut Window, event: &Congestion) {
        window.ssthresh = self.b * window.cwnd;
        window.cwnd =
            if matches!(event.signal, Signal::Rto { .. }) { 1.0 } else { window.ssthresh };
    }
}

/// A packet leaves the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SendRow {
    pub(crate) us: u64,
    pub(crate) seq: u32,
    pub(crate) size: u32,
    pub(crate) again: bool,
}

/// A packet is dropped at the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DropRow {
    pub(crate) us: u64,
    pub(crate) seq: u32,
}

/// An acknowledgement arrives: the sender's variables after it (and after what it made leave).
/// `ackno` is ns-2's: the last packet received in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StateRow {
    pub(crate) us: u64,
    pub(crate) ackno: i64,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// Not compared where unknown.
    pub(crate) variables: Option<Ns2Variables>,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    pub(crate) sends: Vec<SendRow>,
    pub(crate) drops: Vec<DropRow>,
    pub(crate) states: Vec<StateRow>,
}

/// Microseconds, rounded as ns-2's traces are.
pub(crate) fn micros(at: Time) -> u64 {
    (at.0 + 500_000) / 1_000_000
}

/// One flow over one bottleneck: `trace_*` and `ff*`.
pub(crate) struct SingleCase {
    pub(crate) name: String,
    pub(crate) variant: Variant,
    /// The sink sends SACK blocks.
    pub(crate) sack: bool,
    pub(crate) config: TcpConfig,
    pub(crate) options: Ns2Options,
    /// The window rule.
    pub(crate) aimd: Aimd,
    /// Packets to drop (once each) when they arrive at the bottleneck.
    pub(crate) listed_drops: Vec<u32>,
    pub(crate) start: Time,
    pub(crate) end: Time,
    pub(crate) access_rate: BitRate,
    pub(crate) access_delay: Span,
    /// ns-2's `limit_`: N - 1 waiting and one in service.
    pub(crate) access_limit: usize,
    pub(crate) rate: BitRate,
    pub(crate) delay: Span,
    pub(crate) limit: usize,
    pub(crate) reverse_limit: usize,
    pub(crate) expected: Observed,
}

/// All single-flow cases in order of their names.
pub(crate) fn single_cases(folder: &Path) -> Vec<SingleCase> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is readable")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("trace_") || name.starts_with("ff"))
        .collect();
    names.sort();
    // The boot time of a lone flow is the second number of ns-2's default stream.
    let draws = std::fs::read_to_string(folder.join("ns2_default_rng_u.txt")).expect("draws");
    let draw: f64 = draws.lines().nth(1).expect("a second draw").trim().parse().expect("a number");
    names.iter().map(|name| SingleCase::read(folder, name, draw)).collect()
}

impl SingleCase {
    fn read(folder: &Path, name: &str, boot_draw: f64) -> Self {
        let folder = folder.join(name);
        let case = json(&folder.join("case.json"));
        let text = |key: &str| case[key].as_str().expect("text").to_owned();
        let number = |key: &str| case[key].as_f64().expect("a number");
        let mut config = TcpConfig::of_era(Era::Ns2);
        let mut options = Ns2Options::default();
        let mut aimd = Aimd { a: 1.0, b: 0.5 };
        apply(&text("params"), &mut config, &mut options, &mut aimd);
        // "Agent/TCP {minrto_ 1} Agent/TCP/Newreno {newreno_changes1_ 0} ..."
        for part in text("legacy").split('{').skip(1) {
            apply(
                part.split('}').next().expect("a closing brace"),
                &mut config,
                &mut options,
                &mut aimd,
            );
        }
        config.boot = Span::from_seconds(boot_draw * config.tick.seconds());
        if text("sink").ends_with("DelAck") {
            config.delayed_ack = 2;
        }
        Self {
            name: name.to_owned(),
            variant: variant(&text("tcp")),
            sack: text("sink").starts_with("Sack"),
            listed_drops: text("drops")
                .split_whitespace()
                .map(|n| n.parse().expect("a packet number"))
                .collect(),
            start: Time(Span::from_seconds(number("start")).0),
            end: Time(Span::from_seconds(number("T")).0),
            access_rate: BitRate(number("abw") as u64),
            access_delay: Span::from_seconds(number("adly")),
            access_limit: number("alim") as usize,
            rate: BitRate(number("bbw") as u64),
            delay: Span::from_seconds(number("bdly")),
            limit: number("blim") as usize,
            reverse_limit: number("brevlim") as usize,
            expected: expected(&folder),
            config,
            options,
            aimd,
        }
    }

    /// The first difference from ns-2 in sends, drops and states, in words.
    ///
    /// Rows of states that ns-2 does not have because no acknowledgement arrived (after timeouts)
    /// must be left out by the caller.
    pub(crate) fn compare(&self, seen: &Observed) -> Result<(), String> {
        let ns2 = &self.expected;
        let mut first: Vec<(u64, String)> = Vec::new();
        let mut check = |what: &str, difference: Option<(usize, u64, String)>| {
            if let Some((row, us, text)) = difference {
                first.push((us, format!("{what} {row} at {us} us: {text}")));
            }
        };
        check("send", difference(&ns2.sends, &seen.sends, |r| r.us, same_send));
        check("drop", difference(&ns2.drops, &seen.drops, |r| r.us, same_drop));
        if !ns2.states.is_empty() {
            check("state", difference(&ns2.states, &seen.states, |r| r.us, same_state));
        }
        first.sort();
        match first.first() {
            None => Ok(()),
            Some((_, text)) => Err(format!("{}: {text}", self.name)),
        }
    }
}

/// The first row that differs, with its number, time and both forms.
pub(crate) fn difference<T: std::fmt::Debug>(
    expected: &[T],
    seen: &[T],
    at: impl Fn(&T) -> u64,
    same: impl Fn(&T, &T) -> bool,
) -> Option<(usize, u64, String)> {
    for (row, want) in expected.iter().enumerate() {
        match seen.get(row) {
            Some(have) if same(want, have) => {}
            Some(have) => {
                let us = at(want).min(at(have));
                return Some((row, us, format!("ns-2 {want:?}, here {have:?}")));
            }
            None => return Some((row, at(want), format!("ns-2 {want:?}, here nothing more"))),
        }
    }
    seen.get(expected.len())
        .map(|extra| (expected.len(), at(extra), format!("ns-2 nothing more, here {extra:?}")))
}

fn same_send(a: &SendRow, b: &SendRow) -> bool {
    a.us.abs_diff(b.us) <= 1 && SendRow { us: 0, ..*a } == SendRow { us: 0, ..*b }
}

fn same_drop(a: &DropRow, b: &DropRow) -> bool {
    a.us.abs_diff(b.us) <= 1 && a.seq == b.seq
}

fn same_state(want: &StateRow, have: &StateRow) -> bool {
    // ns-2 prints six digits.
    let near = |a: f64, b: f64| (a - b).abs() <= 6e-6 * a.abs().max(1e-3);
    want.us.abs_diff(have.us) <= 1
        && want.ackno == have.ackno
        && near(want.cwnd, have.cwnd)
        && near(want.ssthresh, have.ssthresh)
        && (have.variables.is_none() || want.variables == have.variables)
}

/// The sender's name in ns-2.
pub(crate) fn variant(name: &str) -> Variant {
    match name {
        "Tahoe" => Variant::Tahoe,
        "Reno" => Variant::Reno,
        "Newreno" => Variant::NewReno,
        "Sack1" => Variant::Sack1,
        other => panic!("unknown sender {other}"),
    }
}

/// Applies "name value name value ..." as in Tcl.
pub(crate) fn apply(text: &str, config: &mut TcpConfig, options: &mut Ns2Options, aimd: &mut Aimd) {
    let words: Vec<&str> = text.split_whitespace().collect();
    for pair in words.chunks(2) {
        let [name, value] = pair else { panic!("a variable without value in \"{text}\"") };
        let flag = matches!(*value, "true" | "1");
        let number = || -> f64 { value.parse().expect("a number") };
        match *name {
            "packetSize_" => config.mss = number() as u32,
            "useHeaders_" => config.header = if flag { 40 } else { 0 },
            "window_" => {
                config.receiver_window = number() as u32;
                config.initial_ssthresh = number();
            }
            "minrto_" => config.min_rto = Span::from_seconds(number()),
            "rtxcur_init_" => config.initial_rto = Span::from_seconds(number()),
            "singledup_" => config.limited_transmit = flag,
            "ecn_" => config.ecn = flag,
            "increase_num_" => aimd.a = number(),
            "decrease_num_" => aimd.b = number(),
            "precisionReduce_" => options.precision_reduce = flag,
            "newreno_changes1_" => options.newreno_changes1 = flag,
            "partial_window_deflation_" => options.partial_window_deflation = flag,
            // Initial RTTVAR only: no effect once there is a sample.
            "updated_rttvar_" => {}
            other => panic!("unknown variable {other}"),
        }
    }
}

/// Reads a JSON file.
pub(crate) fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// The rows of a CSV file (plain, or with `.gz`) without its header.
pub(crate) fn rows(path: &Path) -> Vec<Vec<String>> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    if path.extension().is_some_and(|e| e == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("gzip");
    } else {
        text = String::from_utf8(bytes).expect("UTF-8");
    }
    text.lines().skip(1).map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

/// A time in seconds as microseconds.
pub(crate) fn parse_us(text: &str) -> u64 {
    (text.parse::<f64>().expect("a time") * 1e6).round() as u64
}

fn expected(folder: &Path) -> Observed {
    fn parse<T: std::str::FromStr>(text: &str) -> T {
        text.parse().unwrap_or_else(|_| panic!("\"{text}\" is not a number"))
    }
    let sends = rows(&folder.join("send.csv.gz"))
        .iter()
        .map(|r| SendRow {
            us: parse_us(&r[0]),
            seq: parse(&r[1]),
            size: parse(&r[2]),
            again: r[3] == "1",
        })
        .collect();
    let drops = rows(&folder.join("drops.csv"))
        .iter()
        .map(|r| DropRow { us: parse_us(&r[0]), seq: parse(&r[1]) })
        .collect();
    let states = rows(&folder.join("state_after_ack.csv.gz"))
        .iter()
        .map(|r| StateRow {
            us: parse_us(&r[0]),
            ackno: parse(&r[1]),
            cwnd: parse(&r[2]),
            ssthresh: parse(&r[3]),
            variables: Some(Ns2Variables {
                t_seqno: parse(&r[4]),
                maxseq: parse(&r[5]),
                dupacks: parse(&r[6]),
                srtt_ticks_x8: parse(&r[7]),
                rttvar_ticks_x4: parse(&r[8]),
                rtt_ticks: parse(&r[9]),
                backoff: parse(&r[10]),
            }),
        })
        .collect();
    Observed { sends, drops, states }
}
