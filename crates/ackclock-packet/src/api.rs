//! The whole core as text in, text and columns out: what a front needs.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::compile::{self, Plan, PlanSender};
use crate::error::Problem;
pub use crate::packet::{Custom, RegistryOnly, RunError, Threads, Used};
pub use crate::record::{Column, Columns};
use crate::registry::join;

use crate::memory::until_it_ends;
use crate::packet::{self, LedgerCount, LedgerRows, Patience, Piece, Pieces, QueueCount, Results};
use crate::record::Table;
use crate::rng::{Purpose, Stream};
use crate::scenario::Scenario;
use crate::traffic::pattern::{self, Demand};
use crate::units::Time;

mod canonical;
mod fluid;
mod form;
mod parallelism;
pub mod pcapng;
mod recorded;
mod tables;

pub use canonical::canonical;
pub use fluid::{layout, sender_policy, sharing_rule};
pub use parallelism::parallelism;

/// Version of the engine; results of different versions may differ.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a run returns.
#[derive(Debug)]
pub struct Output {
    /// The summary as JSON. Its `flows` and `links` are null: they are the rows of these tables.
    pub summary: String,
    /// Tables by name.
    pub tables: Vec<(&'static str, Columns)>,
    /// The threads that the run used, on which nothing else depends.
    pub used: Used,
}

/// JSON Schema of scenarios.
pub fn schema() -> String {
    schemars::schema_for!(Scenario).to_value().to_string()
}

/// Every algorithm of every room, as JSON.
pub fn catalogue() -> String {
    list_algorithms().to_string()
}

/// As [`catalogue`], as a value: each room's algorithms as a list.
pub fn list_algorithms() -> Value {
    json!({
        "cc": crate::cc::catalogue(),
        "recovery": crate::recovery::catalogue(),
        "slow_start": crate::slow_start::catalogue(),
        "credits": crate::credits::catalogue(),
        "qdisc": crate::qdisc::catalogue(),
        "source": crate::traffic::source::catalogue(),
        "arrivals": crate::traffic::arrivals::catalogue(),
        "pattern": pattern::catalogue(),
        "multicast": crate::multicast::catalogue(),
        "impairment": crate::impairment::catalogue(),
        "sharing": crate::sharing::catalogue(),
        "policy": crate::policy::catalogue(),
    })
}

/// Every table that can be recorded, with its columns, as JSON.
pub fn recorded_tables() -> String {
    let tables = Table::ALL.iter().map(|&table| {
        let columns = recorded::column_docs(table)
            .iter()
            .map(|&(name, doc)| json!({ "name": name, "description": doc.trim_ascii() }));
        json!({
            "name": table.name(),
            "description": table.doc(),
            "columns": columns.collect::<Vec<_>>(),
        })
    });
    json!(tables.collect::<Vec<_>>()).to_string()
}

/// The flows that a traffic pattern draws among so many hosts.
///
/// # Errors
/// There is no such pattern, a parameter is wrong, or there are fewer than two hosts.
pub fn pattern(
    spec: &str,
    hosts: u32,
    flows: Option<u32>,
    seed: u64,
) -> Result<Vec<Demand>, Vec<Problem>> {
    let spec = read(spec, "between")?;
    let pattern = pattern::build(&spec, &pattern::PatternEnv, "between")?;
    if hosts < 2 {
        let message = format!("needs two hosts and has {hosts}; expected more nodes");
        return Err(Problem::new("between", message).into());
    }
    if pattern.transfer_count(hosts) > compile::MAX_FLOWS as u64 {
        let most = compile::MAX_FLOWS;
        let message = format!("makes more than {most} flows between {hosts} hosts; expected fewer");
        return Err(Problem::new("between", message).into());
    }
    Ok(pattern.draw(hosts, flows, &mut Stream::new(seed, Purpose::Pattern, 0)))
}

fn parse(text: &str) -> Result<Scenario, Vec<Problem>> {
    read(text, "")
        .map_err(|problem| form::explain_refusal(text, vec![problem], &mut |_| Vec::new()))
}

/// Reads the document at `root`; what has the wrong form is reported with the path of its key.
/// Inside a table whose `kind` selects its form, that is the path of the table.
fn read<T: DeserializeOwned>(text: &str, root: &str) -> Result<T, Problem> {
    let mut text = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut text).map_err(|error| {
        let below = error.path().to_string();
        let path = match (root, below.as_str()) {
            (root, ".") => root.to_owned(),
            ("", below) => below.to_owned(),
            (root, below) => format!("{root}.{below}"),
        };
        Problem::new(path, error.into_inner().to_string())
    })?;
    text.end().map_err(|error| Problem::new(root, error.to_string()))?;
    Ok(read)
}

/// A scenario and its plan; everything that is wrong with it, its form first.
fn plan(text: &str, custom: &dyn Custom) -> Result<(Scenario, Plan), Vec<Problem>> {
    let scenario = read(text, "").map_err(|problem| vec![problem]);
    scenario.and_then(|scenario| plan_of(scenario, custom)).map_err(|problems| {
        form::explain_refusal(text, problems, &mut |document| at_first_sight(document, custom))
    })
}

/// What is wrong with a scenario of valid form at first sight.
fn at_first_sight(document: &Value, custom: &dyn Custom) -> Vec<Problem> {
    let scenario = serde_json::from_value(document.clone());
    scenario.map_or_else(
        |_| Vec::new(),
        |scenario| match plan_of(scenario, custom) {
            Ok((_, plan)) => packet::check(&plan, custom),
            Err(problems) => problems,
        },
    )
}

/// A scenario and its plan; what is wrong with it at first sight.
fn plan_of(scenario: Scenario, custom: &dyn Custom) -> Result<(Scenario, Plan), Vec<Problem>> {
    let (plan, mut problems) =
        until_it_ends(|| compile::attempt(&scenario)).map_err(Vec::from)??;
    if problems.is_empty() {
        return Ok((scenario, plan));
    }
    for problem in packet::check(&plan, custom) {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    Err(problems)
}

/// Every problem of a scenario at first sight: others may hide behind them.
pub fn first_problems(text: &str, custom: &dyn Custom) -> Vec<Problem> {
    let scenario = read(text, "").map_err(|problem| vec![problem]);
    match scenario.and_then(|scenario| plan_of(scenario, custom)) {
        Err(problems) => problems,
        Ok((_, plan)) => packet::check(&plan, custom),
    }
}

/// Every problem of a scenario.
pub fn check(text: &str) -> Vec<Problem> {
    check_with(text, &RegistryOnly)
}

/// Every problem of a scenario with user-defined algorithms.
pub fn check_with(text: &str, custom: &dyn Custom) -> Vec<Problem> {
    check_form_and_meaning(text, form::problems(text), custom)
}

/// Every problem of a scenario that a person typed: its rates, sizes and delays need their units.
pub fn check_typed(text: &str) -> Vec<Problem> {
    check_form_and_meaning(text, form::typed_problems(text), &RegistryOnly)
}

fn check_form_and_meaning(text: &str, form: Vec<Problem>, custom: &dyn Custom) -> Vec<Problem> {
    if !form.is_empty() {
        return form::with_hidden(text, form, &mut |document| at_first_sight(document, custom));
    }
    check_plan(text, custom).err().unwrap_or_default()
}

/// The work that a scenario is predicted to be, as JSON; every problem if it cannot be run.
///
/// It is a check and a part of [`explain`] at the price of one compilation and a trial of a fiftieth of the run, at most
/// some milliseconds, for grids of many thousand scenarios.
///
/// # Errors
/// Every problem of the scenario and of its algorithms; more than `most_cpu_s` CPU seconds.
pub fn predict_with(
    text: &str,
    custom: &dyn Custom,
    most_cpu_s: f64,
) -> Result<String, Vec<Problem>> {
    let (_, predicted) = predict_patiently(text, custom, most_cpu_s, Patience::LONG)?;
    to_json(&predicted)
}

/// As [`predict_with`], about ten times as fast and less exact: for sums over many runs.
///
/// # Errors
/// As [`predict_with`].
pub fn estimate_with(
    text: &str,
    custom: &dyn Custom,
    most_cpu_s: f64,
) -> Result<String, Vec<Problem>> {
    let (_, predicted) = predict_patiently(text, custom, most_cpu_s, Patience::SHORT)?;
    to_json(&predicted)
}

fn predict_patiently(
    text: &str,
    custom: &dyn Custom,
    most_cpu_s: f64,
    patience: Patience,
) -> Result<(Plan, compile::Predicted), Vec<Problem>> {
    let plan = check_plan(text, custom)?;
    let predicted = predicted(&plan, custom, patience);
    refuse(&predicted, most_cpu_s)?;
    Ok((plan, predicted))
}

fn to_json(value: &impl serde::Serialize) -> Result<String, Vec<Problem>> {
    serde_json::to_string(value).map_err(|e| vec![Problem::new("", e.to_string())])
}

/// The predicted work and what can be said against the scenario before it runs, as JSON: a pair.
///
/// # Errors
/// As [`predict_with`].
pub fn review_with(
    text: &str,
    custom: &dyn Custom,
    most_cpu_s: f64,
) -> Result<String, Vec<Problem>> {
    let (plan, predicted) = predict_patiently(text, custom, most_cpu_s, Patience::LONG)?;
    to_json(&(predicted, compile::warnings(&plan)))
}

/// The work that a plan is predicted to be; user-defined algorithms are not tried.
fn predicted(plan: &Plan, custom: &dyn Custom, patience: Patience) -> compile::Predicted {
    let predicted = compile::predict(plan);
    if custom.is_used() { predicted } else { packet::correct(plan, predicted, patience) }
}

/// The plan of a scenario in which nothing is wrong.
///
/// # Errors
/// Every problem of the scenario and of its algorithms.
pub fn planned(text: &str) -> Result<Plan, Vec<Problem>> {
    check_plan(text, &RegistryOnly)
}

/// The tables of links whose ends ran elsewhere: `links`, and those of them that are recorded.
pub fn live_tables(plan: &Plan, results: &Results) -> Vec<(&'static str, Columns)> {
    let rows = recorded::Rows::of_run(plan, results, LedgerRows::new());
    let recorded = plan.record.tables.iter().map(|table| recorded::fill(plan, &rows, *table));
    [("links", tables::links(plan, results))].into_iter().chain(recorded).collect()
}

/// A plan in which nothing is wrong.
fn check_plan(text: &str, custom: &dyn Custom) -> Result<Plan, Vec<Problem>> {
    let (_, plan) = plan(text, custom)?;
    let problems = packet::check(&plan, custom);
    if problems.is_empty() { Ok(plan) } else { Err(join(problems)) }
}

/// What a scenario amounts to, as JSON.
///
/// # Errors
/// Every problem of the scenario.
pub fn explain(text: &str) -> Result<String, Vec<Problem>> {
    explain_with(text, &RegistryOnly)
}

/// As [`explain`], of a scenario with algorithms that are not in the registry.
///
/// # Errors
/// Every problem of the scenario.
pub fn explain_with(text: &str, custom: &dyn Custom) -> Result<String, Vec<Problem>> {
    let (scenario, plan) = plan(text, custom)?;
    let mut explained = compile::explain(&scenario, &plan);
    explained.predicted = predicted(&plan, custom, Patience::LONG);
    to_json(&explained)
}

/// The compiled scenario, names resolved and defaults filled in, as JSON.
///
/// # Errors
/// Every problem of the scenario.
pub fn plan_with(text: &str, custom: &dyn Custom) -> Result<String, Vec<Problem>> {
    let (scenario, plan) = plan(text, custom)?;
    to_json(&compile::spell_out(&plan, scenario.classes))
}

/// The scenario as the core understood it, as JSON.
///
/// # Errors
/// What is wrong with its form.
pub fn normalise(text: &str) -> Result<String, Vec<Problem>> {
    to_json(&parse(text)?)
}

/// What a run may take.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Threads.
    pub threads: Threads,
    /// CPU seconds that it may be predicted to take; infinite: it is not predicted.
    pub most_cpu_s: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { threads: Threads::One, most_cpu_s: f64::INFINITY }
    }
}

impl Effort {
    /// Refuses a plan that is predicted to take more.
    fn refuse_dear(&self, plan: &Plan, custom: &dyn Custom) -> Result<(), Vec<Problem>> {
        if self.most_cpu_s.is_infinite() || compile::predict(plan).cpu_s <= self.most_cpu_s {
            return Ok(());
        }
        refuse(&predicted(plan, custom, Patience::LONG), self.most_cpu_s)
    }
}

/// Refuses what is predicted to take more than so many CPU seconds.
fn refuse(predicted: &compile::Predicted, most_cpu_s: f64) -> Result<(), Vec<Problem>> {
    predicted.excess(most_cpu_s).map_or(Ok(()), |problem| Err(problem.into()))
}

/// Runs a scenario. `progress` gets the fraction done and the simulated time in seconds, and stops
/// the run by returning false.
///
/// # Errors
/// Problems of the scenario, a failed algorithm, a stop.
pub fn run(text: &str, progress: &mut dyn FnMut(f64, f64) -> bool) -> Result<Output, RunError> {
    run_with(text, &RegistryOnly, Effort::default(), progress)
}

/// Runs a scenario with user-defined algorithms, on so many threads.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    text: &str,
    custom: &dyn Custom,
    effort: Effort,
    progress: &mut dyn FnMut(f64, f64) -> bool,
) -> Result<Output, RunError> {
    let (_, plan) = plan(text, custom).map_err(RunError::Input)?;
    effort.refuse_dear(&plan, custom).map_err(RunError::Input)?;
    let end = plan.duration.seconds();
    let progress = &mut |now: Time| progress(now.seconds() / end, now.seconds());
    let (results, used) = packet::run_on(&plan, custom, effort.threads, progress, None)?;
    let ledger = keep_ledger(&plan, &results);
    Ok(output(&plan, &results, ledger, used))
}

/// A part of the recorded tables, later than all before it.
#[derive(Debug)]
pub struct Part {
    /// In the first part, what the numbers of the columns `flow` and `link` stand for.
    pub names: Option<[Vec<String>; 2]>,
    /// Every recorded table but `probes` and `ledger`, which are known at the end; also those that have no rows in this part.
    pub tables: Vec<(&'static str, Columns)>,
}

/// Takes the recorded tables of a run in parts.
#[expect(missing_debug_implementations, reason = "holds a closure")]
pub struct Parts<'a> {
    /// Rows in memory from which on those that are final are handed on.
    pub rows: usize,
    /// Gets each part; returns false to stop the run. It is called once at least.
    pub take: &'a mut dyn FnMut(Part) -> bool,
}

/// Runs a scenario and hands its recorded tables on while it lasts, so that memory does not grow with its length.
/// The tables of the output are those that are not recorded, `probes` and `ledger`.
///
/// # Errors
/// As [`run`]; a run that `sink` stops is [`RunError::Interrupted`].
pub fn run_in_parts(
    text: &str,
    custom: &dyn Custom,
    effort: Effort,
    progress: &mut dyn FnMut(f64, f64) -> bool,
    sink: Parts<'_>,
) -> Result<Output, RunError> {
    let Parts { rows: hold, take: hand_over } = sink;
    let (_, mut plan) = plan(text, custom).map_err(RunError::Input)?;
    effort.refuse_dear(&plan, custom).map_err(RunError::Input)?;
    let end = plan.duration.seconds();
    let recorded = |table: &Table| !table.is_of_end();
    let in_parts: Vec<Table> = plan.record.tables.iter().copied().filter(recorded).collect();
    let mut queues = in_parts.contains(&Table::Queues).then(|| QueueCount::new(plan.links.len()));
    let mut names = Some([
        plan.flows.iter().map(|flow| flow.name.to_string()).collect(),
        plan.links.iter().map(|link| link.name(&plan.nodes)).collect(),
    ]);
    let mut ledger = has_ledger(&plan).then(|| LedgerCount::new(&plan));
    let take = &mut |mut piece: Piece| {
        if let Some(ledger) = &mut ledger {
            ledger.count(&piece.events.packets);
        }
        let rows = recorded::Rows::of_piece(&mut piece, queues.as_mut());
        let tables = in_parts.iter().map(|table| recorded::fill(&plan, &rows, *table)).collect();
        hand_over(Part { names: names.take(), tables })
    };
    let progress = &mut |now: Time| progress(now.seconds() / end, now.seconds());
    let pieces = Pieces { rows: hold, take };
    let (results, used) = packet::run_on(&plan, custom, effort.threads, progress, Some(pieces))?;
    let ledger = ledger.map_or_else(LedgerRows::new, LedgerCount::finish);
    plan.record.tables.retain(|table| table.is_of_end());
    Ok(output(&plan, &results, ledger, used))
}

fn has_ledger(plan: &Plan) -> bool {
    plan.record.tables.contains(&Table::Ledger)
}

/// The ledger of a run whose rows are in its results, if it is recorded.
fn keep_ledger(plan: &Plan, results: &Results) -> LedgerRows {
    let mut ledger = LedgerCount::new(plan);
    if has_ledger(plan) {
        ledger.count(&results.tables.packets);
    }
    ledger.finish()
}

fn output(plan: &Plan, results: &Results, ledger: LedgerRows, used: Used) -> Output {
    let summary = summary(plan, results).to_string();
    let mut all =
        vec![("flows", tables::flows(plan, results)), ("links", tables::links(plan, results))];
    if !plan.groups.is_empty() {
        all.push(("receivers", tables::receivers(plan, results)));
    }
    if !plan.jobs.is_empty() {
        all.push(("jobs", tables::jobs(plan, results)));
    }
    if !plan.connections.is_empty() {
        all.push(("connections", tables::connections(plan, results)));
    }
    if results.links.iter().any(|link| !link.queues.is_empty()) {
        all.push(("link_queues", tables::link_queues(results)));
    }
    let rows = recorded::Rows::of_run(plan, results, ledger);
    for table in &plan.record.tables {
        all.push(recorded::fill(plan, &rows, *table));
    }
    Output { summary, tables: all, used }
}

fn names(sender: &PlanSender) -> (String, String) {
    match sender {
        PlanSender::Tcp { control, recovery, .. } => {
            (control.to_string(), recovery.kind().to_owned())
        }
        // Its loss recovery has no other name.
        PlanSender::Quic { control, .. } => (control.to_string(), "quic".to_owned()),
        PlanSender::Source { source: spec, .. } | PlanSender::Branch { control: spec, .. } => {
            (spec.kind().to_owned(), String::new())
        }
    }
}

/// The summary; what it says of each flow and each link is in the tables of that name.
fn summary(plan: &Plan, results: &Results) -> Value {
    let mut warnings = compile::warnings(plan);
    warnings.extend_from_slice(&results.warnings);
    json!({
        "seed": plan.seed,
        "version": VERSION,
        "engine": "packet",
        "era": plan.era_name,
        "duration_s": plan.duration.seconds(),
        "window_s": results.window_s,
        "flows": null,
        "links": null,
        "totals": { "packet_hops": results.packet_hops, "events": results.events },
        "digest": format!("{:016x}", results.digest),
        "warnings": warnings,
        "warm_ups": results.warm_ups.iter().map(|found| warm_up(plan, found)).collect::<Vec<_>>(),
    })
}

/// A warm-up that was measured: of `goodput` of all flows that have no end, or of the queue of a link.
fn warm_up(plan: &Plan, warm_up: &packet::FoundWarmUp) -> Value {
    let (link, unit) = match warm_up.series {
        packet::Series::Goodput => (None, "bit/s"),
        packet::Series::Queue { link } => (Some(plan.links[link].name(&plan.nodes)), "packets"),
    };
    json!({
        "link": link,
        "unit": unit,
        "end_s": warm_up.end_s,
        "mean": warm_up.of.mean,
        "mean_after": warm_up.of.mean_after,
        "is_longer": warm_up.of.is_longer,
    })
}

fn goodput(results: &Results, flow_result: &packet::FlowResult) -> f64 {
    flow_result.window_bytes() as f64 * 8.0 / results.window_s
}
