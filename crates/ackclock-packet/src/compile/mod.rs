//! STAGE 2: from the scenario to the plan. Names become ids, routes are found, buffers sized,
//! defaults filled in, and every problem is collected.

mod backlog;
mod changes;
mod doubts;
mod explain;
mod flows;
mod groups;
mod links;
mod memory;
mod plan;
mod routes;
mod spelled_out;
mod switches;
mod waits;
mod work;

pub use explain::{Explained, Predicted, explain, predict};
pub(crate) use flows::MAX_FLOWS;
pub use plan::{
    Direction, Failures, FurtherPaths, GUEST, LinkSettings, PYTHON, PathChoice, Plan, PlanBranch,
    PlanConnection, PlanFlow, PlanGroup, PlanJob, PlanLink, PlanPfc, PlanSender, PlanSwitches,
    PlanWait, Schedule,
};
pub(crate) use plan::{OPPORTUNITY_BYTES, find_connection};
pub use spelled_out::{SpelledOut, spell_out};
pub(crate) use switches::MOST_CLASSES;
pub use work::{Passages, passages};

use std::collections::HashSet;

use rustc_hash::FxHashMap;

use crate::error::Problem;
use crate::ids::NodeId;
use crate::record::Table;
use crate::registry::Range;
use crate::scenario::{Classes, Record, Routing, Scenario};
use crate::topology::Topology;
use crate::units::{Span, Time};
use flows::FlowPlan;
use routes::{FAILED, Routes};

/// Interval of sampled tables where none is given.
const SAMPLING: Span = Span(100_000_000_000);

/// Longest run: half of what the clock can count, so that no sum overflows.
const MAX_SECONDS: f64 = 9_000_000.0;

/// What can be said before the run about a network that is hardly intended as it is.
pub fn warnings(plan: &Plan) -> Vec<String> {
    [backlog::warnings(plan), doubts::warnings(plan)].concat()
}

/// Compiles a scenario, or reports everything that is wrong with it but for parameters of algorithms.
pub fn compile(scenario: &Scenario) -> Result<Plan, Vec<Problem>> {
    let (plan, problems) = attempt(scenario)?;
    if problems.is_empty() { Ok(plan) } else { Err(problems) }
}

/// Compiles a scenario as far as that goes, and reports what is wrong with it. A plan with problems is good
/// for finding those of its algorithms, and for nothing else: wrong values are left out of it.
///
/// # Errors
/// The problems of a network that cannot be laid out.
pub fn attempt(scenario: &Scenario) -> Result<(Plan, Vec<Problem>), Vec<Problem>> {
    let mut problems = Vec::new();
    times(scenario, &mut problems);

    let layout = match scenario.net.layout("net") {
        Ok(layout) => layout,
        Err(mut more) => {
            problems.append(&mut more);
            return Err(problems);
        }
    };
    let mut directed = links::make_directed(&layout, &mut problems);
    changes::apply(&scenario.links, &layout.nodes, &mut directed, &mut problems);
    let metric = |i: usize| match scenario.routing {
        Routing::Hops => 1,
        // One picosecond a hop keeps zero delays from making loops.
        Routing::Delay => directed[i].plan.delay.0.saturating_add(1),
        // A millionth is the finest difference of weights that counts.
        Routing::Weight => ((directed[i].weight * 1e6).round() as u64).max(1),
    };
    let edges = directed.iter().enumerate().map(|(i, d)| (d.plan.from.0, d.plan.to.0, metric(i)));
    let mut routes = Routes::new(layout.nodes.len(), edges.clone());
    let mut later = later_routes(scenario, layout.nodes.len(), &directed, &edges, &mut problems);
    let FlowPlan { mut flows, mut all, waits, jobs, connections } =
        flows::flows(scenario, &layout, &mut routes, &mut later, &mut problems);
    let before = problems.len();
    let groups = groups::add(scenario, &layout, &mut routes, &mut flows, &mut problems);
    all &= problems.len() == before;
    let mut plan = Plan {
        links: links::resolve_buffers(directed, &flows, scenario.era, &mut problems),
        flows,
        nodes: layout.nodes,
        keys: Vec::new(),
        waits,
        held: Vec::new(),
        jobs,
        connections,
        groups,
        key_count: 0,
        duration: Time(scenario.duration.0),
        warmup: Time(scenario.warmup.0),
        seed: scenario.seed,
        era: scenario.era.of_algorithms(),
        era_name: scenario.era.name(),
        record: scenario.record.clone(),
        switches: None,
        reads_ports: false,
    };
    (plan.keys, plan.key_count) = keys(scenario.classes, &plan);
    plan.reads_ports = switches::reads_ports(&plan);
    check_sprayed_network(&plan, &mut problems);
    plan.switches = switches::settle(scenario, &plan, &mut problems);
    record(scenario, &mut plan, all, &mut problems);
    // One mistake in a shape shows at every link that it makes.
    let mut reported = HashSet::new();
    problems.retain(|p| reported.insert((p.path.clone(), p.message.clone())));
    if !problems.is_empty() {
        plan.links.iter_mut().for_each(links::mend);
    }
    waits::predict_starts(&mut plan);
    Ok((plan, problems))
}

/// Most changes of the network that routing follows.
const MOST_CHANGES: usize = 10_000;

/// Routing from each time on at which it notices that links have failed or come back.
fn later_routes(
    scenario: &Scenario,
    nodes: usize,
    directed: &[links::Directed],
    edges: &(impl Iterator<Item = (u32, u32, u64)> + Clone),
    problems: &mut Vec<Problem>,
) -> Vec<(Time, Routes)> {
    let Some(late) = scenario.reroute_after else { return Vec::new() };
    let range = Range::of::<Scenario>("reroute_after");
    problems.extend(range.problem(late.seconds(), || "reroute_after".to_owned()));
    if let Some(choice) = scenario.equal_paths.filter(|choice| choice.is_per_packet()) {
        let message = format!(
            "moves flows to one path after another, and equal_paths = \"{choice}\" sends packets over several at \
             once; expected equal_paths = \"hash\" or \"first\""
        );
        problems.push(Problem::new("reroute_after", message));
        return Vec::new();
    }
    let times = directed.iter().flat_map(|link| &link.plan.settings.failures.times);
    let changes = times.flat_map(|&(from, until)| [from, until]);
    let mut changes: Vec<Time> =
        changes.filter(|&time| time <= Time(scenario.duration.0)).collect();
    changes.sort_unstable();
    changes.dedup();
    if changes.len() > MOST_CHANGES {
        let message = format!(
            "would follow {} changes of the network, at most {MOST_CHANGES}",
            changes.len()
        );
        problems.push(Problem::new("reroute_after", message));
        return Vec::new();
    }
    let routes = |time: Time| {
        let edges = edges.clone().zip(directed).map(|((from, to, metric), link)| {
            let has_failed = link.plan.settings.failures.is_down(time);
            (from, to, if has_failed { FAILED } else { metric })
        });
        (Time(time.0.saturating_add(late.0)), Routes::new(nodes, edges))
    };
    changes.into_iter().map(routes).collect()
}

fn times(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let seconds = scenario.duration.seconds();
    if seconds <= 0.0 || seconds > MAX_SECONDS {
        // The whole schema is made only for the message.
        let range = Range::of::<Scenario>("duration");
        problems.extend(range.problem(seconds, || "duration".to_owned()));
    }
    if scenario.warmup >= scenario.duration && scenario.duration.0 > 0 {
        let message = format!(
            "is {} s, expected less than the duration of {seconds} s",
            scenario.warmup.seconds()
        );
        problems.push(Problem::new("warmup", message));
    }
    if scenario.flows.is_empty() && scenario.traffic.is_empty() && scenario.groups.is_empty() {
        problems.push(Problem::new(
            "flows",
            "is empty, expected at least one flow here or in traffic, or a group in groups",
        ));
    }
}

/// Refuses what compares packets that followed each other over one path, where packets are sprayed over several.
fn check_sprayed_network(plan: &Plan, problems: &mut Vec<Problem>) {
    let Some(flow) = plan.flows.iter().find(|flow| flow.is_sprayed()) else { return };
    if plan.reads_ports {
        let message = format!(
            "reads what switches note (hpcc), which compares packets that follow each other over one path: those of {} \
             take several at a time; expected equal_paths = \"hash\" or \"first\"",
            flow.name
        );
        problems.push(Problem::new("equal_paths", message));
    }
    let has_labels = |link: &PlanLink| {
        let text = serde_json::to_string(&link.settings.qdisc).unwrap_or_default();
        ["core-stateless", "csfq"].iter().any(|name| text.contains(&format!("\"{name}\"")))
    };
    if flow.recycles_paths() && plan.links.iter().any(has_labels) {
        let message = "is \"reps\", whose acknowledgements name a path where core-stateless queues write a rate; expected \
                       \"spray\", or other queues";
        problems.push(Problem::new("equal_paths", message));
    }
}

/// Settles what is recorded. Numbers of flows are checked where `all` flows are known.
fn record(scenario: &Scenario, plan: &mut Plan, all: bool, problems: &mut Vec<Problem>) {
    let record = &scenario.record;
    let sampled =
        record.tables.iter().any(|t| matches!(t, Table::FlowSamples | Table::LinkSamples));
    if sampled {
        match *plan.record.interval.get_or_insert(SAMPLING) {
            Span(0) => {
                let range = Range::of::<Record>("interval");
                problems.extend(range.problem(0.0, || "record.interval".to_owned()));
            }
            interval => {
                let rows = (plan.duration.0 / interval.0 + 1)
                    .saturating_mul((plan.flows.len() + plan.links.len()) as u64);
                if rows > 200_000_000 {
                    problems.push(Problem::new("record.interval", format!("would give {rows} rows, expected at most 200000000: take a longer interval")));
                }
            }
        }
    }
    if let Some(i) = record.tables.iter().position(|table| *table == Table::Ledger) {
        let mut refuse = |why: &str| {
            let message = format!("is \"ledger\", which {why}");
            problems.push(Problem::new(format!("record.tables[{i}]"), message));
        };
        if record.flows.is_some() || record.links.is_some() {
            refuse("follows all packets over all links: leave out record.flows and record.links");
        }
        if plan.flows.iter().any(|flow| flow.further.is_some()) {
            refuse(
                "follows packets over one path: expected equal_paths = \"hash\" or \"first\", and routes that stay",
            );
        }
        if !plan.groups.is_empty() {
            refuse("needs one receiver for each packet: it is not kept of multicast groups");
        }
    }
    for (i, flow) in record.flows.iter().flatten().enumerate() {
        if all && *flow as usize >= plan.flows.len() {
            problems.push(Problem::new(
                format!("record.flows[{i}]"),
                format!(
                    "is {flow}, expected the number of a flow, 0 to {}",
                    plan.flows.len().saturating_sub(1)
                ),
            ));
        }
    }
    for (i, name) in record.links.iter().flatten().enumerate() {
        if plan.link(name).is_none() {
            let names = plan.links.iter().map(|l| l.name(&plan.nodes));
            problems.push(Problem::new(format!("record.links[{i}]"), links::unknown(name, names)));
        }
    }
}

/// The classification keys of each flow's data and acknowledgements, dense from 0.
fn keys(classes: Classes, plan: &Plan) -> (Vec<[u32; 2]>, u32) {
    let mut ids: FxHashMap<(NodeId, NodeId), u32> = FxHashMap::default();
    let mut id = |a: NodeId, b: NodeId| {
        let next = ids.len() as u32;
        *ids.entry((a, b)).or_insert(next)
    };
    let mut keys: Vec<[u32; 2]> = plan
        .flows
        .iter()
        .enumerate()
        .map(|(i, flow)| match classes {
            Classes::Stream => [2 * i as u32, 2 * i as u32 + 1],
            Classes::Flow => [i as u32; 2],
            Classes::Source => [id(flow.src, flow.src), id(flow.dst, flow.dst)],
            Classes::Pair => [id(flow.src.min(flow.dst), flow.src.max(flow.dst)); 2],
        })
        .collect();
    // All layers and branches of a group are one class.
    for group in &plan.groups {
        let flows = || group.branches.iter().flat_map(|branch| &branch.children);
        if let Some(&first) = flows().next() {
            let key = keys[first as usize];
            flows().for_each(|&flow| keys[flow as usize] = key);
        }
    }
    let count = keys.iter().flatten().max().map_or(0, |k| k + 1);
    (keys, count)
}
