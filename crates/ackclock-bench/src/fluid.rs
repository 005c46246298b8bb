//! The fluid engine: networks for benchmarks, and what their solution costs.
//!
//! A network is a file of little-endian numbers that peers read too: `u32` links, flows, hops; `f64`
//! capacity of each link; `u32` where each route begins, and the end; `u32` links of all routes.

use std::fs;

use ackclock_core::api;
use ackclock_core::error::Problem;
use ackclock_core::fluid::{
    self, Demand, DrawOptions, FluidNet, Map, Options, Policies, Routers, Rule, Sizes, Window,
};
use ackclock_core::rng::{Purpose, Stream};
use serde_json::{Value, json};

use crate::cost::{Cpu, peak_kib, reset_peak, resident_kib};
use crate::{Outcome, median};

/// Links that each new node of a Barabasi-Albert graph brings.
const LINKS_PER_NODE: u64 = 2;

/// Arguments after the command, each as a number.
fn numbers<const N: usize>(arguments: &[String], usage: &str) -> Outcome<[u64; N]> {
    let mut values = [0; N];
    for (value, text) in values.iter_mut().zip(arguments) {
        *value = text.parse().map_err(|_| format!("{text} is not a number\n{usage}"))?;
    }
    Ok(values)
}

/// `fluid-net NODES FLOWS SEED OUT`: a Barabasi-Albert graph with capacities 1 to 10, and flows
/// between random ends on shortest paths.
pub(crate) fn generate(arguments: &[String]) -> Outcome<Value> {
    const USAGE: &str = "usage: ackclock-bench fluid-net NODES FLOWS SEED OUT";
    let [_, _, _, out] = arguments else { return Err(USAGE.to_owned()) };
    let [nodes, flows, seed] = numbers(arguments, USAGE)?;
    if nodes <= LINKS_PER_NODE || flows == 0 {
        return Err(format!("more than {LINKS_PER_NODE} nodes and a flow are needed\n{USAGE}"));
    }
    let (src, dst) = barabasi_albert(nodes, seed);
    let mut draw = Stream::new(seed, Purpose::Traffic, 0);
    let capacity: Vec<f64> = src.iter().map(|_| 1.0 + 9.0 * draw.uniform()).collect();
    let (mut from, mut to) = (Vec::new(), Vec::new());
    while (from.len() as u64) < flows {
        let (a, b) = (draw.below(nodes), draw.below(nodes));
        if a != b {
            from.push(a as u32);
            to.push(b as u32);
        }
    }
    let map = Map { nodes: nodes as usize, src: &src, dst: &dst, cost: &[] };
    let routes = fluid::shortest_paths(&map, &from, &to);
    let mut bytes = Vec::with_capacity(12 + 8 * capacity.len() + 4 * routes.hops.len());
    for count in [capacity.len(), from.len(), routes.hops.len()] {
        bytes.extend_from_slice(&(count as u32).to_le_bytes());
    }
    for value in &capacity {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    for value in routes.offsets.iter().chain(&routes.hops) {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    fs::write(out, bytes).map_err(|e| format!("{out}: {e}"))?;
    Ok(json!({ "links": capacity.len(), "flows": from.len(), "hops": routes.hops.len() }))
}

/// Both directions of the links of a Barabasi-Albert graph.
fn barabasi_albert(nodes: u64, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let mut draw = Stream::new(seed, Purpose::Topology, 0);
    let (mut src, mut dst) = (Vec::new(), Vec::new());
    // Every end of every link: a uniform draw is one in proportion to degree.
    let mut ends: Vec<u32> = (0..LINKS_PER_NODE as u32).collect();
    for node in LINKS_PER_NODE..nodes {
        let mut neighbours: Vec<u32> = Vec::new();
        while (neighbours.len() as u64) < LINKS_PER_NODE {
            let other = ends[draw.below(ends.len() as u64) as usize];
            if !neighbours.contains(&other) {
                neighbours.push(other);
            }
        }
        for other in neighbours {
            src.extend([node as u32, other]);
            dst.extend([other, node as u32]);
            ends.extend([node as u32, other]);
        }
    }
    (src, dst)
}

struct Arrays {
    capacity: Vec<f64>,
    offsets: Vec<u32>,
    hops: Vec<u32>,
}

fn read(path: &str) -> Outcome<Arrays> {
    let bytes = fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    let word = |i: usize| {
        let bytes_of_word = bytes.get(4 * i..4 * i + 4)?;
        Some(u32::from_le_bytes(bytes_of_word.try_into().ok()?))
    };
    let short = || format!("{path} is shorter than it says");
    let mut counts = (0..3).map(word);
    let mut count = || counts.next().flatten().map(|n| n as usize).ok_or_else(short);
    let (links, flows, hops) = (count()?, count()?, count()?);
    let word_list = |begin: usize, n: usize| {
        (begin..begin + n).map(word).collect::<Option<Vec<u32>>>().ok_or_else(short)
    };
    let halves = word_list(3, 2 * links)?;
    let capacity = halves
        .chunks(2)
        .map(|half| f64::from_bits(u64::from(half[0]) | u64::from(half[1]) << 32))
        .collect();
    let offsets = word_list(3 + 2 * links, flows + 1)?;
    Ok(Arrays { capacity, offsets, hops: word_list(4 + 2 * links + flows, hops)? })
}

/// `fluid NET REPEAT [USAGE.csv]`: the global max-min allocation, with what it costs from arrays to
/// rates; the load of every link for comparison with peers.
pub(crate) fn solve(arguments: &[String]) -> Outcome<Value> {
    const USAGE: &str = "usage: ackclock-bench fluid NET REPEAT [USAGE.csv]";
    let (path, out) = match arguments {
        [path, _] => (path, None),
        [path, _, out] => (path, Some(out)),
        _ => return Err(USAGE.to_owned()),
    };
    let [repeat] = numbers(&arguments[1..], USAGE)?;
    let arrays = read(path)?;
    let (mut build, mut solve) = (Vec::new(), Vec::new());
    let mut last_result = None;
    let (mut net_kib, mut added_kib) = (0, 0);
    for turn in 0..repeat.max(1) {
        drop(last_result.take());
        let (capacity, offsets, hops) =
            (arrays.capacity.clone(), arrays.offsets.clone(), arrays.hops.clone());
        let before = resident_kib();
        let clock = Cpu::start();
        let net = FluidNet::new(capacity, offsets, hops, vec![]).map_err(|e| format!("{e:?}"))?;
        build.push(clock.seconds());
        let built = resident_kib();
        reset_peak();
        let clock = Cpu::start();
        let rate = fluid::max_min(&net, &[]);
        solve.push(clock.seconds());
        if turn == 0 {
            net_kib = built - before;
            added_kib = peak_kib() - built;
        }
        last_result = Some((net, rate));
    }
    let (net, rate) = last_result.expect("invariant: one turn at least");
    let input = 8 * arrays.capacity.len() + 4 * (arrays.offsets.len() + arrays.hops.len());
    if let Some(out) = out {
        let mut load = vec![0.0; net.links()];
        for (flow, rate) in rate.iter().enumerate() {
            for &link in net.route(flow) {
                load[link as usize] += rate;
            }
        }
        let lines: Vec<String> = load.iter().map(|l| format!("{l:.12e}")).collect();
        fs::write(out, lines.join("\n") + "\n").map_err(|e| format!("{out}: {e}"))?;
    }
    let total: Vec<f64> = build.iter().zip(&solve).map(|(a, b)| a + b).collect();
    let bytes = input as f64 + 1024.0 * (net_kib + added_kib) as f64;
    Ok(json!({
        "links": net.links(),
        "flows": net.flows(),
        "hops": net.total_hops(),
        "build_s": median(build),
        "solve_s": median(solve),
        "total_s": median(total),
        "bytes_per_hop": bytes / net.total_hops() as f64,
        "goodput": rate.iter().sum::<f64>(),
    }))
}

fn sentences(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ")
}

/// `fluid-hot FLOWS SEED REPEAT`: one brick-wall evaluation and the fixed points of senders on the
/// HOT graph with arithmetic capacities, flows between random edge nodes.
pub(crate) fn hot(arguments: &[String]) -> Outcome<Value> {
    const USAGE: &str = "usage: ackclock-bench fluid-hot FLOWS SEED REPEAT";
    if arguments.len() != 3 {
        return Err(USAGE.to_owned());
    }
    let [flows, seed, repeat] = numbers(arguments, USAGE)?;
    let net = hot_net(flows, seed)?;
    let policy = |name: &str| {
        let built_policy = api::sender_policy(&json!(name), "sender");
        built_policy.map(Policies::all).map_err(|problems| sentences(&problems))
    };
    let rule =
        || api::sharing_rule(&json!("max-min"), "sharing").map_err(|problems| sentences(&problems));
    let routers = Routers::all(rule()?);
    let naive = fluid::fixed_point(&net, &policy("naive")?, &routers, &[], &Options::default())
        .map_err(|e| format!("{e:?}"))?;
    let mut evaluate = Vec::new();
    for _ in 0..repeat.max(1) {
        let clock = Cpu::start();
        let outcome = fluid::brick_wall(&net, &naive.outcome.demand);
        evaluate.push(clock.seconds());
        if outcome.leaving != naive.outcome.leaving {
            return Err("two evaluations of the same demands differ".to_owned());
        }
    }
    let mut senders = serde_json::Map::new();
    for name in ["full-balanced", "full-share", "naive-ratio", "limited-ratio"] {
        let policy = policy(name)?;
        let mut times = Vec::new();
        let mut settled = Value::Null;
        for _ in 0..repeat.max(1) {
            let clock = Cpu::start();
            let solution = fluid::fixed_point(&net, &policy, &routers, &[], &Options::default())
                .map_err(|e| format!("{e:?}"))?;
            times.push(clock.seconds());
            settled = json!({
                "rounds": solution.rounds,
                "converged": solution.converged,
                "goodput": solution.outcome.goodputs(&net).iter().sum::<f64>(),
            });
        }
        settled["cpu_s"] = json!(median(times));
        senders.insert(name.to_owned(), settled);
    }
    Ok(json!({
        "links": net.links(),
        "flows": net.flows(),
        "hops": net.total_hops(),
        "evaluate_s": median(evaluate),
        "naive_goodput": naive.outcome.goodputs(&net).iter().sum::<f64>(),
        "max_min_goodput": fluid::max_min(&net, &[]).iter().sum::<f64>(),
        "senders": senders,
    }))
}

fn hot_net(flows: u64, seed: u64) -> Outcome<FluidNet> {
    let text = api::layout(r#"{"kind": "hot", "capacities": "arithmetic", "rate": 1000000}"#)
        .map_err(|e| format!("{e:?}"))?;
    let layout: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let wrong = || "the layout of the HOT graph has another form".to_owned();
    let names: Vec<&str> = layout["nodes"]
        .as_array()
        .and_then(|nodes| nodes.iter().map(Value::as_str).collect())
        .ok_or_else(wrong)?;
    let number = |name: &Value| {
        let name = name.as_str()?;
        names.iter().position(|name_of_node| *name_of_node == name).map(|i| i as u32)
    };
    let (mut src, mut dst, mut capacity) = (Vec::new(), Vec::new(), Vec::new());
    for link in layout["links"].as_array().ok_or_else(wrong)? {
        let ends = number(&link[0]).zip(number(&link[1])).ok_or_else(wrong)?;
        let rate = link[2].as_f64().ok_or_else(wrong)? * 1e-6;
        src.extend([ends.0, ends.1]);
        dst.extend([ends.1, ends.0]);
        capacity.extend([rate, rate]);
    }
    let mut degree = vec![0; names.len()];
    for &node in &src {
        degree[node as usize] += 1;
    }
    let edge: Vec<u32> = (0..names.len() as u32).filter(|&n| degree[n as usize] == 1).collect();
    let mut draw = Stream::new(seed, Purpose::Traffic, 0);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    while (from.len() as u64) < flows {
        let mut pick = || edge[draw.below(edge.len() as u64) as usize];
        let (a, b) = (pick(), pick());
        if a != b {
            from.push(a);
            to.push(b);
        }
    }
    let map = Map { nodes: names.len(), src: &src, dst: &dst, cost: &[] };
    let routes = fluid::shortest_paths(&map, &from, &to);
    FluidNet::new(capacity, routes.offsets, routes.hops, vec![]).map_err(|e| format!("{e:?}"))
}

/// `fluid-dynamics NET ARRIVALS PERCENT SEED`: Poisson arrivals of flows with exponential sizes on
/// the routes of NET, at a load of PERCENT on the most loaded link, max-min rates after each event.
pub(crate) fn dynamics(arguments: &[String]) -> Outcome<Value> {
    const USAGE: &str = "usage: ackclock-bench fluid-dynamics NET ARRIVALS PERCENT SEED";
    let [path, _, _, _] = arguments else { return Err(USAGE.to_owned()) };
    let [arrivals, percent, seed] = numbers(&arguments[1..], USAGE)?;
    let Arrays { capacity, offsets, hops } = read(path)?;
    let net = FluidNet::new(capacity, offsets, hops, vec![]).map_err(|e| format!("{e:?}"))?;
    let share = vec![1.0 / net.flows() as f64; net.flows()];
    let load = (0..net.links())
        .map(|l| net.crossing(l).len() as f64 / (net.flows() as f64 * net.capacity()[l]))
        .fold(0.0, f64::max);
    let options = DrawOptions { seed, until: f64::INFINITY, count: arrivals };
    let demand = Demand::Load(percent as f64 / 100.0);
    let transfers = fluid::draw(&share, &Sizes::Exponential { mean: 1.0 }, demand, load, &options);
    let clock = Cpu::start();
    let window = Window { until: f64::INFINITY, drain: true, interval: None };
    let report = fluid::simulate(&net, &[], &transfers, &Rule::MaxMin, &window, &mut |_, _| true)
        .map_err(|e| format!("{e:?}"))?;
    let cpu = clock.seconds();
    Ok(json!({
        "cpu_s": cpu,
        "us_per_event": 1e6 * cpu / report.events as f64,
        "events": report.events,
        "mean_active": report.mean_active,
        "most_active": report.most_active,
        "solved_per_event": report.effort.solved as f64 / report.events as f64,
        "looked_at_per_event": report.effort.looked_at as f64 / report.events as f64,
        "whole": report.effort.full_solutions,
    }))
}
