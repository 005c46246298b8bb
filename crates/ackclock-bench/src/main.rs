//! Runs scenarios and reports their cost. The scripts in `benchmarks/` write the scenarios and
//! read the one line of JSON that each command prints.
//!
//! ```text
//! ackclock-bench run SCENARIO.json [--flows OUT.csv] [--repeat R] [--threads N|auto]
//! ackclock-bench setup SCENARIO.json [--repeat R]
//! ackclock-bench pair SCENARIO.json [--repeat R]
//! ackclock-bench check SCENARIO.json
//! ackclock-bench fluid-net NODES FLOWS SEED OUT
//! ackclock-bench fluid NET REPEAT [USAGE.csv]
//! ackclock-bench fluid-hot FLOWS SEED REPEAT
//! ackclock-bench fluid-dynamics NET ARRIVALS PERCENT SEED
//! ```
//!
//! `run` simulates, R times over, and gives the CPU time of each. `setup` compiles the scenario and
//! builds everything a run needs, without running it. `pair` runs the scenario with two seeds, one
//! after the other and on two threads, and gives wall times. `check` does what `ackclock check` does in the core.
//! The commands of the fluid engine are in
//! `fluid.rs`.

#![allow(clippy::disallowed_methods, reason = "the one program here whose subject is elapsed time")]

mod cost;
mod fluid;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use ackclock_core::api;
use ackclock_core::compile::{self, Plan};
use ackclock_core::packet::{self, RegistryOnly, Results, Threads, Used};
use ackclock_core::scenario::Scenario;
use serde_json::{Value, json};

use cost::{Cpu, peak_kib, resident_kib};

type Outcome<T> = Result<T, String>;

/// What the command line says.
struct Order {
    command: String,
    scenario: String,
    flows: Option<String>,
    repeat: usize,
    threads: Threads,
}

const USAGE: &str = "usage: ackclock-bench run|setup|pair|check SCENARIO.json [--repeat R] [--flows OUT.csv] [--threads N|auto]";

fn order() -> Outcome<Order> {
    let mut arguments = env::args().skip(1);
    let mut next =
        |name: &str| arguments.next().ok_or_else(|| format!("{name} is missing\n{USAGE}"));
    let mut order = Order {
        command: next("a command")?,
        scenario: next("a file")?,
        flows: None,
        repeat: 1,
        threads: Threads::One,
    };
    while let Ok(option) = next("") {
        match option.as_str() {
            "--flows" => order.flows = Some(next("the file after --flows")?),
            "--repeat" => {
                let text = next("the number after --repeat")?;
                order.repeat =
                    text.parse().ok().filter(|r| *r > 0).ok_or_else(|| {
                        format!("--repeat is \"{text}\", expected a number above 0")
                    })?;
            }
            "--threads" => {
                let text = next("the number after --threads")?;
                order.threads = match text.as_str() {
                    "auto" => Threads::Auto(thread::available_parallelism().map_or(1, Into::into)),
                    text => text.parse().map(Threads::Always).map_err(|_| {
                        format!("--threads is \"{text}\", expected a number or \"auto\"")
                    })?,
                };
            }
            other => return Err(format!("there is no option \"{other}\"\n{USAGE}")),
        }
    }
    Ok(order)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("fluid-net") => fluid::generate(&arguments[1..]),
        Some("fluid") => fluid::solve(&arguments[1..]),
        Some("fluid-hot") => fluid::hot(&arguments[1..]),
        Some("fluid-dynamics") => fluid::dynamics(&arguments[1..]),
        _ => order().and_then(|order| match order.command.as_str() {
            "run" => run(&order),
            "setup" => setup(&order),
            "pair" => pair(&order),
            "check" => check(&order),
            other => Err(format!("there is no command \"{other}\"\n{USAGE}")),
        }),
    };
    match outcome {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("ackclock-bench: {message}");
            ExitCode::from(2)
        }
    }
}

fn read(path: &str) -> Outcome<Scenario> {
    let text = fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    serde_json::from_str(&text).map_err(|e| format!("{path}: {e}"))
}

fn plan_scenario(scenario: &Scenario) -> Outcome<Plan> {
    compile::compile(scenario).map_err(|problems| format!("{problems:?}"))
}

fn simulate(plan: &Plan) -> Outcome<Results> {
    packet::run(plan, &mut |_| true).map_err(|e| format!("{e:?}"))
}

fn simulate_on(plan: &Plan, threads: Threads) -> Outcome<(Results, Used)> {
    packet::run_on(plan, &RegistryOnly, threads, &mut |_| true, None).map_err(|e| format!("{e:?}"))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Simulates; the CPU time of a run includes the building of its engine, some milliseconds.
fn run(order: &Order) -> Outcome<Value> {
    let clock = Cpu::start();
    let plan = plan_scenario(&read(&order.scenario)?)?;
    let setup = clock.seconds();
    let before = resident_kib();
    let (mut cpu, mut wall) = (Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..order.repeat {
        drop(last.take());
        let (clock, begin) = (Cpu::start(), Instant::now());
        let results = simulate_on(&plan, order.threads)?;
        cpu.push(clock.seconds());
        wall.push(begin.elapsed().as_secs_f64());
        last = Some(results);
    }
    let (results, used) = last.expect("invariant: repeat is above 0");
    if let Some(path) = &order.flows {
        fs::write(path, flow_table(&results)).map_err(|e| format!("{path}: {e}"))?;
    }
    let of = |f: fn(&packet::FlowResult) -> u64| results.flows.iter().map(f).sum::<u64>();
    Ok(json!({
        "setup_cpu_s": setup,
        "run_cpu_s": cpu,
        "run_cpu_median_s": median(cpu.clone()),
        "run_wall_s": wall,
        "threads": used.threads,
        "reason": used.reason,
        "packet_hops": results.packet_hops,
        "events": results.events,
        "activations": results.activations,
        "delivered_packets": of(|f| f.receiver.delivered_packets),
        "sent_packets": of(|f| f.sender.sent_packets),
        "retransmits": of(|f| f.sender.retransmits),
        "drops": results.links.iter().map(|l| l.drops).sum::<u64>(),
        "marks": results.links.iter().map(|l| l.marks).sum::<u64>(),
        "samples": results.flow_samples.len(),
        "digest": format!("{:016x}", results.digest),
        "resident_before_kib": before,
        "peak_kib": peak_kib(),
    }))
}

fn flow_table(results: &Results) -> String {
    let mut table = String::from("flow,delivered_packets,sent_packets,retransmitted_packets\n");
    for (i, flow) in results.flows.iter().enumerate() {
        let (sender, receiver) = (&flow.sender, &flow.receiver);
        writeln!(
            table,
            "{i},{},{},{}",
            receiver.delivered_packets, sender.sent_packets, sender.retransmits
        )
        .expect("invariant: writing to a String cannot fail");
    }
    table
}

/// Builds everything a run needs, and reports its memory: `plan` is what the compiled scenario holds,
/// `engine` what is added when every flow is ready and none has started.
fn setup(order: &Order) -> Outcome<Value> {
    let text = fs::read_to_string(&order.scenario).map_err(|e| e.to_string())?;
    let (mut parse, mut compiling, mut building) = (Vec::new(), Vec::new(), Vec::new());
    let (mut flows, mut plan_kib, mut engine_kib) = (0, 0, 0);
    for turn in 0..order.repeat {
        let empty = resident_kib();
        let clock = Cpu::start();
        let scenario: Scenario = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        parse.push(clock.seconds());
        let clock = Cpu::start();
        let plan = plan_scenario(&scenario)?;
        compiling.push(clock.seconds());
        let ready = resident_kib();
        let clock = Cpu::start();
        let engine = packet::ready(&plan).map_err(|problems| format!("{problems:?}"))?;
        building.push(clock.seconds());
        // The first turn only: later ones reuse memory that the allocator kept.
        if turn == 0 {
            flows = plan.flows.len();
            plan_kib = ready - empty;
            engine_kib = resident_kib() - ready;
        }
        drop(engine);
    }
    let total: Vec<f64> =
        parse.iter().zip(&compiling).zip(&building).map(|((a, b), c)| a + b + c).collect();
    Ok(json!({
        "flows": flows,
        "parse_s": median(parse),
        "compile_s": median(compiling),
        "build_s": median(building),
        "setup_s": median(total),
        "plan_kib": plan_kib,
        "engine_kib": engine_kib,
    }))
}

/// Checks and predicts.
fn check(order: &Order) -> Outcome<Value> {
    let text = fs::read_to_string(&order.scenario).map_err(|e| e.to_string())?;
    let clock = Cpu::start();
    let predicted = api::predict_with(&text, &api::RegistryOnly, f64::INFINITY);
    let check_s = clock.seconds();
    let predicted = predicted.map_err(|problems| format!("{problems:?}"))?;
    Ok(json!({ "check_s": check_s, "predicted": predicted }))
}

/// Two replications one after the other against two at a time, in turns.
fn pair(order: &Order) -> Outcome<Value> {
    let mut scenario = read(&order.scenario)?;
    let first = plan_scenario(&scenario)?;
    scenario.seed += 1;
    let second = plan_scenario(&scenario)?;
    let (mut serial, mut parallel) = (Vec::new(), Vec::new());
    let mut same = true;
    for _ in 0..order.repeat {
        let clock = Instant::now();
        let alone = [simulate(&first)?.digest, simulate(&second)?.digest];
        serial.push(clock.elapsed().as_secs_f64());
        let clock = Instant::now();
        let together = thread::scope(|scope| {
            let other = scope.spawn(|| simulate(&second).map(|r| r.digest));
            let first_digest = simulate(&first).map(|r| r.digest);
            let other =
                other.join().unwrap_or_else(|_| Err("the other thread panicked".to_owned()));
            Ok::<_, String>([first_digest?, other?])
        })?;
        parallel.push(clock.elapsed().as_secs_f64());
        same &= alone == together;
    }
    Ok(json!({
        "serial_s": serial,
        "parallel_s": parallel,
        "same_digests": same,
    }))
}
