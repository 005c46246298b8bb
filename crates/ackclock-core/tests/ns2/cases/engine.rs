//! The ns-2 reference cases as scenarios of era `ns2` for the packet engine.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use ackclock_core::compile::{self, Plan};
use ackclock_core::packet::{self, Event, Results};
use ackclock_core::scenario::Scenario;
use ackclock_core::tcp_ns2::Variant;
use ackclock_core::units::Bytes;
use ackclock_core::wire::Flags;
use serde_json::{Map, Value, json};

use super::{DropRow, Observed, SendRow, SingleCase, StateRow, json, micros, rows};

/// Compiles and runs; a scenario that is refused is a fault of the test.
pub(crate) fn run(scenario: Value) -> (Plan, Results) {
    let scenario: Scenario = serde_json::from_value(scenario).expect("a scenario");
    let plan = compile::compile(&scenario).unwrap_or_else(|p| panic!("{p:?}"));
    let results = packet::run(&plan, &mut |_| true).unwrap_or_else(|e| panic!("{e:?}"));
    (plan, results)
}

/// The loss recovery with the name that ns-2 gives it.
fn recovery(variant: Variant) -> &'static str {
    match variant {
        Variant::Tahoe => "tahoe",
        Variant::Reno => "reno",
        Variant::NewReno => "newreno",
        Variant::Sack1 => "sack",
        Variant::Vegas(_) => unreachable!("no case has it"),
    }
}

fn packets(limit: usize) -> String {
    format!("{limit} pkt")
}

/// A lone flow from `s` over `r` to `d`.
pub(crate) fn lone_flow(case: &SingleCase) -> Value {
    // Which arrivals at the bottleneck the listed packets are: until then the access link passes on
    // what the sender sends.
    let drop: Vec<usize> = case
        .listed_drops
        .iter()
        .map(|&seq| {
            case.expected.sends.iter().position(|s| s.seq == seq).expect("a listed packet is sent")
        })
        .collect();
    let c = &case.config;
    json!({
        "name": case.name,
        "era": "ns2",
        "duration": case.end.seconds(),
        "net": { "kind": "graph", "links": [
            { "a": "s", "b": "r", "rate": case.access_rate, "delay": case.access_delay,
              "buffer": packets(case.access_limit) },
            { "a": "r", "b": "d", "rate": case.rate, "delay": case.delay,
              "buffer": packets(case.limit), "back_buffer": packets(case.reverse_limit),
              "drop": drop },
        ]},
        "flows": [{
            "src": "s", "dst": "d", "start": case.start.seconds(),
            "cc": "aimd", "recovery": recovery(case.variant),
            "tcp": {
                "mss": c.mss, "header": c.header, "receiver_window": c.receiver_window,
                "initial_ssthresh": c.initial_ssthresh, "min_rto": c.min_rto,
                "initial_rto": c.initial_rto, "limited_transmit": c.limited_transmit,
                "ecn": c.ecn, "delayed_ack": c.delayed_ack, "boot": c.boot,
                "ns2": serde_json::to_value(&case.options).expect("a map"),
            },
        }],
        "record": { "tables": ["windows", "drops", "packets"], "links": ["s->r", "r->s"] },
    })
}

/// What the engine did in a scenario of [`lone_flow`].
pub(crate) fn observe(case: &SingleCase) -> Observed {
    let (plan, results) = run(lone_flow(case));
    let link = |name: &str| plan.link(name).expect("a link of the scenario").0;
    let (out, back) = (link("s->r"), link("r->s"));
    let sends =
        results.tables.packets.iter().filter(|p| p.link == out && p.event == Event::Arrival);
    let sends = sends.map(|p| SendRow {
        us: micros(p.at),
        seq: p.seq,
        size: u32::from(p.size),
        again: Flags(p.flags).has(Flags::RETX),
    });
    // Windows are recorded at timeouts too; ns-2's states only when an acknowledgement arrived.
    let departures =
        results.tables.packets.iter().filter(|p| p.link == back && p.event == Event::Departure);
    let arrivals: BTreeSet<u64> = departures
        .map(|p| p.at + case.access_rate.transmission(Bytes(u64::from(p.size))) + case.access_delay)
        .map(|at| at.0)
        .collect();
    // Times are rounded to picoseconds here and there.
    let arrived = |at: u64| arrivals.range(at.saturating_sub(5)..=at + 5).next().is_some();
    let states = results.tables.windows.iter().filter(|w| arrived(w.at.0));
    let states = states.map(|w| StateRow {
        us: micros(w.at),
        ackno: i64::from(w.acked) - 1,
        cwnd: w.cwnd,
        ssthresh: w.ssthresh,
        variables: None,
    });
    Observed {
        sends: sends.collect(),
        drops: results
            .tables
            .drops
            .iter()
            .map(|d| DropRow { us: micros(d.at), seq: d.seq })
            .collect(),
        states: states.collect(),
    }
}

/// A queue of ns-2 as (buffer, discipline).
fn queue(queue: &Value) -> (String, Value) {
    let number = |key: &str| queue[key].as_f64().unwrap_or_else(|| panic!("{key} in {queue}"));
    let flag = |key: &str| queue[key] == "true" || queue[key] == json!(1);
    match queue["type"].as_str().expect("a type") {
        "DropTail" => (packets(number("limit_") as usize), json!("fifo")),
        "DRR" => (
            format!("{} B", number("blimit_")),
            json!({ "kind": "drr", "quantum": number("quantum_") }),
        ),
        "RED" => (
            packets(number("limit_") as usize),
            json!({
                "kind": "red", "min_th": number("thresh_"), "max_th": number("maxthresh_"),
                "max_p": 1.0 / number("linterm_"), "w_q": number("q_weight_"),
                "gentle": flag("gentle_"), "wait": flag("wait_"), "bytes": flag("bytes_"),
                "ecn": flag("setbit_"), "mean_packet": number("mean_pktsize_") as u32,
            }),
        ),
        other => panic!("no queue {other}"),
    }
}

/// One direction of a link as ns-2 has it.
pub(crate) struct Direction {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) rate_bps: f64,
    pub(crate) delay_s: f64,
    pub(crate) queue: Value,
}

/// Pairs directions into full-duplex links; a direction without its opposite is a fault.
pub(crate) fn duplex(directions: &[Direction]) -> Vec<Value> {
    let by_ends: HashMap<(&str, &str), &Direction> =
        directions.iter().map(|d| ((d.from.as_str(), d.to.as_str()), d)).collect();
    let mut done = HashSet::new();
    let mut links = Vec::new();
    for d in directions {
        if !done.insert((d.from.as_str(), d.to.as_str())) {
            continue;
        }
        let back = by_ends[&(d.to.as_str(), d.from.as_str())];
        done.insert((back.from.as_str(), back.to.as_str()));
        assert!((back.delay_s - d.delay_s).abs() < 1e-12, "the two directions of a link differ");
        let ((buffer, qdisc), (back_buffer, back_qdisc)) = (queue(&d.queue), queue(&back.queue));
        links.push(json!({
            "a": d.from, "b": d.to, "rate": d.rate_bps, "back_rate": back.rate_bps,
            "delay": d.delay_s, "buffer": buffer, "back_buffer": back_buffer,
            "qdisc": qdisc, "back_qdisc": back_qdisc,
        }));
    }
    links
}

/// ns-2's sender and sink as fields of a flow.
pub(crate) fn agents(tcp: &str, sink: &str) -> Map<String, Value> {
    let delayed = if sink.ends_with("DelAck") { 2 } else { 1 };
    let flow = json!({
        "recovery": recovery(super::variant(tcp)),
        "tcp": { "delayed_ack": delayed },
    });
    let Value::Object(flow) = flow else { unreachable!("written as an object") };
    flow
}

/// Four flows through one bottleneck: `multi_*`. Links: `r0->r1` is the bottleneck.
pub(crate) fn four_flows(folder: &Path) -> Value {
    let case = json(&folder.join("case.json"));
    let wide = || json!({ "type": "DropTail", "limit_": 1000 });
    let direction = |from: &str, to: &str, rate: &Value, delay: &Value, queue: Value| Direction {
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps: rate.as_f64().expect("a rate"),
        delay_s: delay.as_f64().expect("a delay"),
        queue,
    };
    let bottleneck = &case["bottleneck"];
    let (rate, delay) = (&bottleneck["bw_bps"], &bottleneck["delay_s"]);
    let mut links = vec![
        direction("r0", "r1", rate, delay, bottleneck["queue"].clone()),
        direction("r1", "r0", rate, delay, wide()),
    ];
    let mut flows = Vec::new();
    for (i, f) in case["flows"].as_array().expect("flows").iter().enumerate() {
        let (s, d) = (format!("s{i}"), format!("d{i}"));
        let access = &case["access_bw_bps"];
        links.push(direction(&s, "r0", access, &f["src_access_delay_s"], wide()));
        links.push(direction("r0", &s, access, &f["src_access_delay_s"], wide()));
        links.push(direction("r1", &d, access, &f["dst_access_delay_s"], wide()));
        links.push(direction(&d, "r1", access, &f["dst_access_delay_s"], wide()));
        let text = |key: &str| f[key].as_str().expect("text");
        let mut flow = agents(text("tcp"), text("sink"));
        flow.insert("src".into(), json!(s));
        flow.insert("dst".into(), json!(d));
        flow.insert("start".into(), f["start_s"].clone());
        flow["tcp"]["boot"] = f["boot_time_s"].clone();
        flows.push(flow);
    }
    json!({
        "name": case["case"],
        "era": "ns2",
        "classes": "source",
        "duration": case["T"],
        "net": { "kind": "graph", "links": duplex(&links) },
        "tcp": { "receiver_window": case["window"], "mss": case["wire_bytes"] },
        "flows": flows,
        "record": { "tables": ["packets"], "links": ["r0->r1"] },
    })
}

/// A network case: `links.csv`, `flows.csv`, `cbr.csv`, `boot.csv`, `paths.csv`, `scenario.json`.
/// `shift` moves the start of every flow, by its number.
pub(crate) fn network(folder: &Path, shift: &mut dyn FnMut(usize) -> f64) -> Value {
    let scenario = json(&folder.join("scenario.json"));
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let links: Vec<Direction> = rows(&folder.join("links.csv"))
        .iter()
        .map(|l| Direction {
            from: l[1].clone(),
            to: l[2].clone(),
            rate_bps: number(&l[3]),
            delay_s: number(&l[4]),
            queue: scenario["queues"][&l[5]].clone(),
        })
        .collect();
    let optional = |name: &str| {
        let path = folder.join(name);
        if path.exists() { rows(&path) } else { Vec::new() }
    };
    let (boots, paths) = (rows(&folder.join("boot.csv")), optional("paths.csv"));
    let parameters = &scenario["tcp_params"]["p"];
    let mut flows = Vec::new();
    for (i, f) in rows(&folder.join("flows.csv")).iter().enumerate() {
        let mut flow = agents(&f[4], &f[5]);
        flow.insert("src".into(), json!(f[1]));
        flow.insert("dst".into(), json!(f[2]));
        flow.insert("start".into(), json!(number(&f[3]) + shift(i)));
        flow.insert(
            "cc".into(),
            match parameters["decrease_num_"].as_f64() {
                Some(b) => json!({ "kind": "aimd", "a": parameters["increase_num_"], "b": b }),
                None => json!("aimd"),
            },
        );
        flow["tcp"]["boot"] = json!(number(&boots[i][1]));
        if let Some(path) = paths.get(i) {
            let nodes = |text: &str| json!(text.split('-').collect::<Vec<_>>());
            flow.insert("route".into(), nodes(&path[1]));
            flow.insert("ack_route".into(), nodes(&path[2]));
        }
        flows.push(flow);
    }
    for c in optional("cbr.csv") {
        let flow = json!({
            "src": c[1], "dst": c[2], "start": number(&c[5]), "stop": number(&c[6]),
            "source": { "kind": "cbr", "rate": number(&c[3]), "packet": number(&c[4]) },
        });
        let Value::Object(flow) = flow else { unreachable!("written as an object") };
        flows.push(flow);
    }
    let sim = &scenario["sim"];
    json!({
        "name": scenario["scenario"],
        "era": "ns2",
        "classes": "source",
        "duration": sim["t1"],
        "warmup": sim["t0"],
        "net": { "kind": "graph", "links": duplex(&links) },
        "tcp": { "receiver_window": parameters["window_"], "mss": parameters["packetSize_"] },
        "flows": flows,
    })
}
