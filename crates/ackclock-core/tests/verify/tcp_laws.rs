//! Long TCP flows against the published laws of AIMD.

use serde_json::{Value, json};

use crate::common::{Run, extend, run, wire};

/// The mean window in segments: data packets sent in the window of measurement per round trip.
fn mean_window(outcome: &Run, rtt: f64) -> f64 {
    let flow = outcome.flow(0);
    let sent = flow.sender.sent_packets - flow.sender_at_warmup.sent_packets;
    sent as f64 * rtt / outcome.results.window_s
}

/// Round-trip time of the lossy path: 2 x 50 ms and 12 us + 0.3 us of transmission at 1 Gb/s.
const RTT: f64 = 0.100_012_3;

fn lossy(loss: Value, flow: Value, duration: f64) -> Run {
    let mut link = json!({"rate": "1 Gbps", "delay": "50 ms", "buffer": "unlimited"});
    extend(&mut link, loss);
    let mut all = json!({"src": "a", "dst": "b", "recovery": "sack"});
    extend(&mut all, flow);
    run(json!({
        "net": wire(link), "flows": [all], "duration": duration + 20.0, "warmup": 20,
        "tcp": {"delayed_ack": 1, "initial_ssthresh": 10},
    }))
}

#[test]
fn the_square_root_law_of_random_loss() {
    // Mathis, Semke, Mahdavi & Ott, CCR 27(3), 1997, table 1: under independent losses the mean
    // window is 1.31 / sqrt(p) with an acknowledgement per packet (from Ott, Kemperman & Mathis 1996);
    // sqrt(3/2p) = 1.22 / sqrt(p) is the law of periodic losses.
    // Above it: losses within one round trip share a reduction, so the rate of reductions is lower by
    // the factor 1 - W p, the window higher by half of that, 0.65 sqrt(p). Below it: a window is sent
    // in whole segments (half a segment on average), and the round of each recovery does not grow;
    // one segment missed per cycle, halved every cycle, adds up to 2: 2.5 segments in all. For 0.01,
    // one loss event in a hundred loses its retransmission: 1 s of silence in 100 x 8 round trips of
    // 0.1 s and the climb back: 3 %.
    // Chance: with n losses the relative deviation is at most that of n exponential cycles averaged
    // over the square root: 1 / (2 sqrt(n)); four of them.
    for (p, losses) in [(0.0003, 1000.0), (0.001, 2500.0), (0.003, 4000.0), (0.01, 4000.0)] {
        let law = 1.3098 / f64::sqrt(p);
        let duration = losses / p / law * RTT;
        let outcome = lossy(json!({"loss": p}), json!({"cc": "aimd"}), duration);
        let window = mean_window(&outcome, RTT);
        let chance = 4.0 * 0.5 / f64::sqrt(losses);
        let timeouts = if p == 0.01 { 0.03 } else { 0.0 };
        println!("p {p}: window {window:.2}, law {law:.2}, ratio {:.4}", window / law);
        assert!(window < law * (1.0 + 0.65 * f64::sqrt(p)) * (1.0 + chance), "{p}: {window} {law}");
        assert!(window > (law - 2.5) * (1.0 - chance - timeouts), "{p}: {window} {law}");
    }
}

#[test]
fn the_square_root_law_of_periodic_loss() {
    // Mathis et al., section 2: every (1/p)-th packet lost gives sqrt(3/2p), and with growth per
    // acknowledgement and one acknowledgement for two packets sqrt(3/4p). The same 2.5 segments below
    // (a recovery's round, whole segments); above by one segment: the lost packet is counted in the
    // cycle and the window of the last round before the cut is one larger than the fluid's mean. With
    // delayed acknowledgements the odd packet of a round waits for the next round's: one segment more.
    for (p, delayed, law) in [
        (0.0005, 1, f64::sqrt(3.0 / 2.0 / 0.0005)),
        (0.002, 1, f64::sqrt(3.0 / 2.0 / 0.002)),
        (0.0005, 2, f64::sqrt(3.0 / 4.0 / 0.0005)),
        (0.002, 2, f64::sqrt(3.0 / 4.0 / 0.002)),
    ] {
        let every = (1.0 / p) as u64;
        let drop: Vec<u64> = (1..200).map(|k| k * every).collect();
        let duration = 150.0 / p / law * RTT;
        let flow = json!({"cc": {"kind": "aimd", "count": if delayed == 1 { "segments" } else { "acks" }},
            "tcp": {"delayed_ack": delayed}});
        let outcome = lossy(json!({"drop": drop}), flow, duration);
        let window = mean_window(&outcome, RTT);
        println!(
            "p {p}, {delayed} per ACK: window {window:.2}, law {law:.2}, ratio {:.4}",
            window / law
        );
        assert_eq!(outcome.flow(0).sender.timeouts, 0);
        let below = if delayed == 1 { 2.5 } else { 3.5 };
        assert!(window > law - below && window < law + 1.0, "{p} {delayed}: {window} {law}");
    }
}

#[test]
fn heavy_loss_lies_between_pftk_and_the_square_root() {
    // Padhye, Firoiu, Towsley & Kurose, SIGCOMM 1998, equation 30 (no limit of the window, b = 1):
    //   B = 1 / (RTT sqrt(2bp/3) + T0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2)).
    // Their model takes all later packets of a round for lost once one is; independent losses spare
    // most of them, so B is a lower bound here, and the square root of random loss an upper one.
    // The rate is that of packets sent, as theirs. T0 is the smallest RTO, 1 s. Chance: some 3000
    // losses, 1/sqrt(3000) x 4 = 7 %.
    for p in [0.02, 0.05, 0.1] {
        let outcome =
            lossy(json!({"loss": p}), json!({"cc": "aimd", "recovery": "reno"}), 20_000.0);
        let flow = outcome.flow(0);
        let sent = flow.sender.sent_packets - flow.sender_at_warmup.sent_packets;
        let rate = sent as f64 / outcome.results.window_s;
        let pftk = 1.0
            / (RTT * f64::sqrt(2.0 * p / 3.0)
                + f64::min(1.0, 3.0 * f64::sqrt(3.0 * p / 8.0)) * p * (1.0 + 32.0 * p * p));
        let root = 1.3098 / f64::sqrt(p) / RTT;
        println!("p {p}: {rate:.2}/s, PFTK {pftk:.2}, square root {root:.2}");
        assert!(rate > pftk * 0.93 && rate < root, "{p}: {pftk} {rate} {root}");
    }
}

/// The fluid sawtooth of one AIMD(a, b) flow over a pipe of `pipe` packets with `buffer` more: rounds
/// and seconds (in base round trips) per cycle, utilisation, time average of the window.
fn sawtooth(pipe: f64, buffer: f64, a: f64, b: f64) -> [f64; 4] {
    let top = pipe + buffer;
    let bottom = b * top;
    let rounds = (top - bottom) / a;
    // dw/dt = a per round; a round lasts max(1, w / pipe).
    let integral = |power: i32, from: f64, to: f64| {
        (to.powi(power + 1) - from.powi(power + 1)) / f64::from(power + 1)
    };
    let (mut time, mut sent, mut area) = (0.0, 0.0, 0.0);
    let knee = pipe.clamp(bottom, top);
    time += (knee - bottom) / a;
    sent += integral(1, bottom, knee) / a;
    area += integral(1, bottom, knee) / a;
    time += integral(1, knee, top) / pipe / a;
    sent += integral(1, knee, top) / a;
    area += integral(2, knee, top) / pipe / a;
    [rounds, time, sent / (time * pipe), area / time]
}

#[test]
fn the_closed_form_itself_knows_the_textbook_numbers() {
    let [_, _, none, _] = sawtooth(100.0, 0.0, 1.0, 0.5);
    assert!((none - 0.75).abs() < 1e-12);
    let [_, _, full, mean] = sawtooth(100.0, 100.0, 1.0, 0.5);
    assert!((full - 1.0).abs() < 1e-12 && (mean - 1400.0 / 9.0).abs() < 1e-9);
}

#[test]
fn one_flow_at_a_drop_tail_queue_draws_the_sawtooth() {
    // 12 Mb/s = 1000 packets of 1500 B per second; base round trip 2 x 49.5 ms + 1 ms of data +
    // 0.027 ms of acknowledgement: a pipe of 100.03 packets, of which one is in transmission.
    // Deviations of the fluid, in rounds per cycle of N: the recovery does not grow (1), the overflow
    // is noticed a round after it (1), which cuts a window larger by that round's growth and by whole
    // segments (1): 3 for the period. For means 3/N of the swing of the window, plus 1/W.
    for (buffer, a, b) in [
        (1u32, 1.0, 0.5),
        (25, 1.0, 0.5),
        (50, 1.0, 0.5),
        (100, 1.0, 0.5),
        (50, 1.0, 0.8),
        (100, 2.0, 0.5),
    ] {
        let pipe = 100.027;
        let [rounds, period, utilisation, mean] = sawtooth(pipe, f64::from(buffer), a, b);
        let outcome = run(json!({
            "net": wire(json!({"rate": "12 Mbps", "delay": "49.5 ms", "buffer": format!("{buffer} pkt"), "back_buffer": "unlimited"})),
            "flows": [{"src": "a", "dst": "b", "cc": {"kind": "aimd", "a": a, "b": b}, "recovery": "sack"}],
            "tcp": {"delayed_ack": 1, "initial_ssthresh": 60}, "duration": 400, "warmup": 100,
            "record": {"tables": ["states", "windows"]},
        }));
        let link = outcome.link("a->b");
        let top = pipe + f64::from(buffer);
        let swing = (1.0 - b) * top / (0.5 * (1.0 + b) * top);
        let slack = 3.0 / rounds * swing + 1.0 / top;
        let cuts: Vec<f64> = outcome
            .results
            .tables
            .states
            .iter()
            .filter(|s| s.state == "recovery" && s.at.seconds() > 100.0)
            .map(|s| s.at.seconds())
            .collect();
        let seen_period =
            (cuts.last().unwrap() - cuts[0]) / (cuts.len() - 1) as f64 / (pipe / 1000.0);
        let drops = link.window_drops as f64 / cuts.len() as f64;
        // Time average of cwnd from the table of windows.
        let windows: Vec<_> =
            outcome.results.tables.windows.iter().filter(|w| w.at.seconds() >= 100.0).collect();
        let (mut area, mut time) = (0.0, 0.0);
        for pair in windows.windows(2) {
            let dt = pair[1].at.since(pair[0].at).seconds();
            area += pair[0].cwnd * dt;
            time += dt;
        }
        let seen_mean = area / time;
        println!(
            "B {buffer} a {a} b {b}: period {seen_period:.2}/{period:.2} RTT, drops {drops:.3}, mean window {seen_mean:.2}/{mean:.2}, utilisation {:.4}/{utilisation:.4}, slack {slack:.3}",
            link.utilisation
        );
        // A round of a full queue lasts top / pipe base round trips.
        assert!((seen_period - period).abs() < 3.0 * (top / pipe), "{seen_period} {period}");
        // Per round the window overshoots by a: so many packets, and one more if the cut comes late.
        assert!(drops >= a - 0.01 && drops <= a + 1.0, "{drops}");
        assert!((seen_mean / mean - 1.0).abs() < slack, "{seen_mean} {mean} {slack}");
        assert!(
            (link.utilisation - utilisation).abs() < slack,
            "{} {utilisation}",
            link.utilisation
        );
        assert_eq!(outcome.flow(0).sender.timeouts, outcome.flow(0).sender_at_warmup.timeouts);
    }
}

#[test]
fn a_short_transfer_takes_the_rounds_of_slow_start() {
    // RFC 6928, 5681: 10, 20, 40, 80 segments in rounds; no delayed ACKs; rate 1 Gb/s, so a round
    // trip of 100 ms is never filled. Request and answer take 40 B x 8 / 1 Gb/s each and 100 ms.
    // n segments of 1460 B: the round that carries the last one begins after k round trips; within it
    // segment number i (from 0) of the round follows i x 12 us behind the first; ACKs return after
    // 12 us (the data's transmission) + 100 ms + 0.32 us.
    let tx = 12e-6;
    let ack = 0.32e-6;
    for (segments, rounds, last) in
        [(1u64, 0.0, 0u64), (10, 0.0, 9), (11, 1.0, 0), (30, 1.0, 19), (70, 2.0, 39), (71, 3.0, 0)]
    {
        let outcome = run(json!({
            "net": wire(json!({"rate": "1 Gbps", "delay": "50 ms", "buffer": "unlimited"})),
            "flows": [{"src": "a", "dst": "b", "cc": "aimd", "start": "0.25 s", "size": segments * 1460}],
            "tcp": {"delayed_ack": 1}, "duration": 2,
        }));
        let flow = outcome.flow(0);
        let duration_s = flow.sender.completed_s - 0.25;
        // Each ACK of the first round releases two segments back to back; the transmissions of a round
        // follow each other without a gap, since its ACKs come as fast as the data went.
        let expected = 0.1 + 2.0 * ack + (rounds + 1.0) * (0.1 + tx + ack) + last as f64 * tx;
        assert!((duration_s - expected).abs() < 1e-9, "{segments}: {duration_s} {expected}");
        assert_eq!(flow.receiver.delivered_bytes, segments * 1460);
        assert_eq!((flow.sender.sent_packets, flow.sender.retransmits), (segments, 0));
        assert_eq!(flow.under_way, [0, 0]);
    }
}

/// What SACK blocks have reported is not news when the hole before it is filled after a timeout: no
/// acknowledgement opens the window by more than the segments that it brings news of, and for these
/// controls that is about one each.
#[test]
fn a_hole_that_is_filled_after_a_timeout_does_not_open_the_window() {
    for cc in ["aimd", "vegas", "ledbat", "compound", "cubic"] {
        let mut scenario = json!({
            "net": wire(json!({"rate": "5 Mbps", "delay": "20 ms", "buffer": "20 pkt", "loss": 0.05})),
            "flows": [{"src": "a", "dst": "b", "cc": cc, "recovery": "sack"}],
            "record": {"tables": ["windows"]}, "duration": 100,
        });
        scenario["seed"] = json!(5);
        let outcome = run(scenario);
        let windows: Vec<f64> = outcome.results.tables.windows.iter().map(|row| row.cwnd).collect();
        let most = windows.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        assert!(outcome.flow(0).sender.timeouts > 5, "{cc}: too few timeouts");
        assert!(most <= 2.0, "{cc}: an acknowledgement adds {most}");
    }
}
