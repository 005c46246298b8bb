//! Any order of events keeps the window of every congestion control and slow start rule a number, and the same
//! events give the same windows.

use std::sync::LazyLock;

use ackclock_core::cc::{
    self, Ack, CcEnv, Congestion, EcnCounts, Lost, RateSample, Signal, Window,
};
use ackclock_core::era::Era;
use ackclock_core::registry::{Entry, Spec};
use ackclock_core::slow_start;
use ackclock_core::units::{BitRate, Span, Time};

use crate::input::Input;
use crate::schema::spec;

pub(crate) const ERAS: [Era; 6] =
    [Era::Rfc, Era::Linux, Era::Y1999, Era::Y2002, Era::Y2007, Era::Ns2];

static CONTROLS: LazyLock<Vec<Entry>> = LazyLock::new(cc::catalogue);
static RULES: LazyLock<Vec<Entry>> = LazyLock::new(slow_start::catalogue);

/// Events of one input at most.
const MOST: usize = 300;

pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let era = *input.pick(&ERAS);
    let env = CcEnv {
        mss: 1 + input.word() % 9000,
        wire_size: 1 + input.word() % 9000,
        line_rate: BitRate(10_000_000_000),
        round_trip: Span::from_micros(20),
        era,
    };
    if input.one_in(8) {
        let rule = spec(&mut input, &RULES);
        let events: Vec<u8> =
            std::iter::from_fn(|| (!input.is_used_up()).then(|| input.byte())).take(MOST).collect();
        assert_eq!(grow(&rule, &env, &events), grow(&rule, &env, &events), "{rule:?}");
        return;
    }
    let control = spec(&mut input, &CONTROLS);
    let events: Vec<[u8; 4]> = std::iter::from_fn(|| {
        (!input.is_used_up()).then(|| [input.byte(), input.byte(), input.byte(), input.byte()])
    })
    .take(MOST)
    .collect();
    assert_eq!(drive(&control, &env, &events), drive(&control, &env, &events), "{control:?}");
}

fn grow(rule: &Spec, env: &CcEnv, events: &[u8]) -> Vec<(u64, u64)> {
    let Ok(mut rule) = slow_start::build(rule, env, "slow_start") else { return Vec::new() };
    let mut window = Window { cwnd: 1.0, ssthresh: f64::INFINITY };
    let mut windows = Vec::new();
    let mut now = Time::ZERO;
    for (round, &event) in events.iter().enumerate() {
        let before = window;
        now += Span::from_micros(u64::from(event) * 1000);
        let mut ack = Ack::at(now, 1 + u32::from(event % 60));
        ack.rtt = (event % 3 > 0).then(|| Span::from_micros(1 + u64::from(event) * 700));
        ack.round = round as u64 / 4;
        ack.ecn_echo = event % 7 == 0;
        rule.on_ack(&mut window, &ack);
        assert!(window.cwnd.is_finite() && window.cwnd >= before.cwnd, "{before:?} to {window:?}");
        assert!(
            window.ssthresh >= 2.0 && window.ssthresh <= before.ssthresh,
            "{before:?} to {window:?}"
        );
        windows.push((window.cwnd.to_bits(), window.ssthresh.to_bits()));
        if window.cwnd >= window.ssthresh {
            break;
        }
    }
    windows
}

fn drive(spec: &Spec, env: &CcEnv, events: &[[u8; 4]]) -> Vec<(u64, u64)> {
    let Ok(mut control) = cc::build(spec, env, "cc") else { return Vec::new() };
    let mut window = Window { cwnd: 2.0, ssthresh: f64::INFINITY };
    let (mut now, mut round, mut consecutive) = (Time::ZERO, 0u64, 0);
    let (mut min_rtt, mut delivered, mut recovering) = (Span::MAX, 0u64, false);
    let samples = control.wants_samples();
    control.on_start(&window, now, Span::ZERO);
    let mut windows = Vec::new();
    for &[operation, a, b, c] in events {
        now += Span::from_micros(1 + u64::from(c) * 100);
        let flight = window.cwnd.min(1e6) as u32;
        let rtt = Span::from_micros(1 + u64::from(b) * u64::from(b) * 50);
        let congestion = |signal| {
            let mut event = Congestion::at(now, signal, flight);
            (event.min_rtt, event.srtt) =
                (if min_rtt == Span::MAX { Span::ZERO } else { min_rtt }, rtt);
            event
        };
        match operation % 16 {
            0..6 => {
                min_rtt = min_rtt.min(rtt);
                consecutive = 0;
                let (acked, limited) = (1 + u32::from(a % 100), c & 1 == 1);
                let mut ack = Ack::at(now, acked);
                (ack.rtt, ack.min_rtt, ack.srtt, ack.round) = (Some(rtt), min_rtt, rtt, round);
                (ack.in_flight, ack.app_limited, ack.ecn_echo) = (flight, limited, c & 2 == 2);
                ack.delivered = delivered + u64::from(acked);
                ack.propagation = (c & 4 == 4).then_some(min_rtt);
                if samples {
                    let mut sample = RateSample {
                        has_data: true,
                        newly_acked: acked,
                        delivered: u64::from(acked) + delivered % 50,
                        prior_delivered: delivered - delivered % 50,
                        send_elapsed: rtt,
                        ack_elapsed: rtt,
                        is_app_limited: limited,
                        tx_in_flight: flight,
                        lost: u64::from(a % 5),
                        rtt: Some(rtt),
                        is_cwnd_limited: !limited,
                        in_recovery: recovering,
                        has_selective_acks: c & 8 == 8,
                        ..RateSample::default()
                    };
                    sample.complete(min_rtt);
                    ack.sample = Some(sample);
                }
                delivered += u64::from(acked);
                let mut counts = EcnCounts::at(now);
                (counts.acked, counts.marked) = (acked, if ack.ecn_echo { acked } else { 0 });
                (counts.una, counts.nxt) =
                    (delivered as u32, (delivered as u32).saturating_add(flight));
                control.on_ecn_counts(&mut window, &counts);
                control.on_ack(&mut window, &ack);
                control.on_sent(now, flight);
            }
            6 | 7 => round += 1,
            8 => {
                control.on_congestion(
                    &mut window,
                    &congestion(Signal::FastRetransmit { lost: 1 + u32::from(a) }),
                );
                recovering = true;
            }
            9 => control.on_congestion(&mut window, &congestion(Signal::EcnEcho)),
            10 => {
                consecutive += 1;
                control.on_congestion(&mut window, &congestion(Signal::Rto { consecutive }));
            }
            11 if control.timer_interval().is_some() => control.on_timer(&mut window, now),
            12 => {
                now += Span::from_millis(u64::from(a) * u64::from(b));
                if samples {
                    control.on_restart(&mut window, now);
                } else {
                    window.cwnd = window.cwnd.min(2.0);
                }
            }
            13 => {
                recovering = false;
                control.on_recovery_end(&mut window, now);
            }
            14 => {
                let mut lost = Lost::at(now, flight);
                (lost.tx_in_flight, lost.delivered) = (1 + u32::from(a), delivered);
                lost.lost = u64::from(b).min(u64::from(lost.tx_in_flight));
                control.on_lost(&mut window, &lost);
            }
            15 => {
                let before = window;
                control.on_spurious(&mut window, &congestion(Signal::Spurious), &before);
            }
            _ => {}
        }
        // The sender's demands; it bounds the window by that of the receiver.
        assert!(window.cwnd.is_finite() && window.cwnd >= 1.0, "{spec:?}: {window:?}");
        assert!(window.ssthresh >= 0.0, "{spec:?}: {window:?}");
        window.cwnd = window.cwnd.min(1e6);
        control
            .probes(&mut |probe, value| assert!(value.is_finite(), "{spec:?}: {probe} is {value}"));
        assert!(!control.phase().is_empty() && control.send_quantum() >= 1, "{spec:?}");
        assert!(control.failure().is_none(), "{spec:?}");
        windows.push((window.cwnd.to_bits(), window.ssthresh.to_bits()));
    }
    windows
}
