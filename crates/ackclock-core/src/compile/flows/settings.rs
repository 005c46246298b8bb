//! What flows send by: their senders and TCP settings, completed and checked.

use std::sync::{Arc, LazyLock};

use super::{Context, Definition};
use crate::compile::plan::PlanSender;
use crate::registry::Range;
use crate::scenario::{Era, Flow, TcpOptions};
use crate::tcp::TcpConfig;
use crate::units::{Bytes, Span};

impl Context<'_> {
    /// Checks a flow's settings.
    pub(super) fn settings(
        &mut self,
        definition: &Definition<'_>,
        start: Span,
        size: Option<Bytes>,
    ) {
        let Definition { flow, path, tcp, .. } = definition;
        for problem in tcp_problems(tcp) {
            if !self.base_problems.contains(&problem) {
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
            if self.scenario.era != Era::Rfc {
                self.wrong(
                    format!("{path}.every"),
                    "is for era rfc; flows of the other eras, ns-2's, never pause",
                );
            }
        }
        if let Some(steps) = &flow.app {
            let at = format!("{path}.app");
            if self.scenario.era != Era::Rfc {
                self.wrong(
                    at.clone(),
                    "is for era rfc; flows of the other eras, ns-2's, never pause",
                );
            }
            if flow.every.is_some() {
                self.wrong(
                    at.clone(),
                    "says how data is handed over, and so does every; expected one",
                );
            }
            if steps.is_empty() {
                self.wrong(at.clone(), "is empty, expected at least one step");
            }
            if let Some(i) = steps.windows(2).position(|w| w[1].at <= w[0].at) {
                let message = "is not later than the step before, expected ascending times";
                self.wrong(format!("{at}[{}].at", i + 1), message);
            }
        }
        if flow.source.is_some() {
            for (key, given) in [
                ("every", flow.every.is_some()),
                ("app", flow.app.is_some()),
                ("cc", flow.cc.is_some()),
                ("recovery", flow.recovery.is_some()),
                ("slow_start", flow.slow_start.is_some()),
                ("size", size.is_some()),
            ] {
                if given {
                    self.wrong(
                        format!("{path}.{key}"),
                        "has no meaning beside source: an unresponsive sender has no TCP and \
                         sends until its stop",
                    );
                }
            }
        }
    }

    pub(super) fn sender(&self, flow: &Flow) -> PlanSender {
        if let Some(source) = &flow.source {
            return PlanSender::Source(source.clone());
        }
        let rfc = self.scenario.era == Era::Rfc;
        // Today's hosts run CUBIC over SACK; ns-2's Agent/TCP users of the time AIMD over Reno.
        let cc = flow.cc.clone().unwrap_or_else(|| if rfc { "cubic" } else { "aimd" }.into());
        let recovery =
            flow.recovery.clone().unwrap_or_else(|| if rfc { "sack" } else { "reno" }.into());
        let slow_start = flow.slow_start.clone().unwrap_or_else(|| "standard".into());
        let mut ns2 = self.scenario.tcp.ns2.clone();
        if let Some(own) = &flow.tcp.ns2 {
            ns2.get_or_insert_default().extend(own.clone());
        }
        let control = Arc::from(cc.kind());
        PlanSender::Tcp { cc, recovery, slow_start, ns2, control }
    }
}

static SIZE: LazyLock<Range> = LazyLock::new(|| Range::of::<Flow>("size"));
static EVERY: LazyLock<Range> = LazyLock::new(|| Range::of::<Flow>("every"));
const TCP_KEYS: [&str; 7] =
    ["mss", "header", "ack_size", "initial_window", "receiver_window", "delayed_ack", "tick"];
static TCP: LazyLock<[Range; 7]> = LazyLock::new(|| Range::all::<TcpOptions, 7>(TCP_KEYS));

/// Most bytes of payload and headers of a data packet: the wire counts 16 bits, 12 of which timestamps may take.
const MOST_TOGETHER: u32 = u16::MAX as u32 - 12;

/// What is wrong with TCP settings: keys and sentences.
pub(super) fn tcp_problems(tcp: &TcpConfig) -> Vec<(&'static str, String)> {
    let mut problems = Vec::new();
    let mut wrong = |key, message: String| problems.push((key, message));
    let values: [f64; 7] = [
        tcp.mss.into(),
        tcp.header.into(),
        tcp.ack_size.into(),
        tcp.initial_window.into(),
        tcp.receiver_window.into(),
        tcp.delayed_ack.into(),
        tcp.tick.seconds(),
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
    problems
}
