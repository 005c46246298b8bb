//! Runs a plan on several threads: divides the network, builds the run in each thread, and joins what they leave.

use std::cell::RefCell;
use std::thread;

use rtrb::RingBuffer;

use crate::compile::{Plan, PlanFlow};
use crate::era::Era;
use crate::error::Problem;
use crate::memory::until_it_ends;
use crate::packet::network::link::Link;
use crate::packet::outcome::join::Share;
use crate::packet::outcome::piece::{HandedOn, Pieces};
use crate::packet::outcome::results::Results;
use crate::packet::process::clock::Divided;
use crate::packet::process::exchange::Exchange;
use crate::packet::process::schedule::Schedule;
use crate::packet::setup::build::{build_with, shortest_times, use_large_tables};
use crate::packet::setup::custom::{Custom, RegistryOnly};
use crate::packet::setup::division::{Division, Load, divide};
use crate::packet::setup::partition::{Partition, find_followers, split_into_stretches};
use crate::packet::turn::member::{Incoming, Member};
use crate::packet::turn::simulator::{RunEnd, Sim};
use crate::packet::{RunError, run_on_clock};
use crate::units::Time;

/// How many threads a run is to use. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// One.
    #[default]
    One,
    /// So many, as far as the network has parts for them; one where they might take more than twice as long.
    Exactly(usize),
    /// So many, however long they take: to compare what they compute.
    Always(usize),
    /// As many as are predicted to be fastest, so many at most.
    Auto(usize),
}

/// Why a network with all work at one node is run by one thread.
const NO_PARTS: &str = "the network cannot be divided";

/// The threads that a run used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// How many.
    pub threads: usize,
    /// Why fewer than were requested, if so.
    pub reason: Option<String>,
}

/// Packets of all queues between threads at most; each takes some 80 bytes.
const ROOM: usize = 1 << 19;

/// Packets of one queue, as far as all have room.
const ROOM_OF_ONE: usize = 1 << 12;

/// Clocks of different threads are so far apart: two cache lines.
const APART: usize = 16;

/// Predicted work below which starting threads does not pay [s].
const SHORT_S: f64 = 0.2;

/// Predicted speed-up below which it does not.
const WORTH: f64 = 1.25;

/// What dividing a network and building it in each thread takes, a node [s]: 4 to 5.4 us were measured with 20,000 and
/// 100,000 flows.
const DIVIDING_S: f64 = 5e-6;

/// What threads that wait for one another take on a machine that does much else, where they may share a core: each time
/// that one waits for the other, and to start, in seconds a thread. Stars and data centres with delays of 1 us to 10 ms took
/// 3 to 25 us a delay of two threads, more where there is more work in it.
const SWITCH_S: f64 = 10e-6;
const START_S: f64 = 1e-3;
/// And to divide and build a node, of which each thread has all.
const BUSY_NODE_S: f64 = 20e-6;

/// Runs a plan to its end on several threads, with user-defined algorithms, and in pieces where they are given: those
/// of a run on several threads are handed on at its end.
///
/// # Errors
/// As of [`run_in_pieces`](crate::packet::run_in_pieces).
pub fn run_on(
    plan: &Plan,
    custom: &dyn Custom,
    threads: Threads,
    progress: &mut dyn FnMut(Time) -> bool,
    pieces: Option<Pieces<'_>>,
) -> Result<(Results, Used), RunError> {
    until_it_ends(|| run_while_memory_lasts(plan, custom, threads, progress, pieces))
        .unwrap_or_else(|problem| Err(RunError::Input(problem.into())))
}

fn run_while_memory_lasts(
    plan: &Plan,
    custom: &dyn Custom,
    threads: Threads,
    progress: &mut dyn FnMut(Time) -> bool,
    mut pieces: Option<Pieces<'_>>,
) -> Result<(Results, Used), RunError> {
    let reason = match choose(plan, custom, threads) {
        Ok(division) => match run_divided(plan, &division, progress, &mut pieces)? {
            Some(results) => {
                let used = Used { threads: division.threads, reason: too_few(&division, threads) };
                return Ok((results, used));
            }
            // The failure that is first in the order of one thread is reported.
            None => None,
        },
        Err(reason) => reason,
    };
    let results = run_on_clock(plan, custom, progress, pieces)?;
    Ok((results, Used { threads: 1, reason }))
}

/// What a run takes from its plan to its results up to each of some times, by `clock` [s], on so many threads. `Err` in
/// the result: why not on so many.
///
/// # Errors
/// As of [`run_on`].
pub fn time_runs<const N: usize>(
    plan: &Plan,
    ends: [Time; N],
    threads: usize,
    clock: &dyn Fn() -> f64,
) -> Result<Result<[f64; N], String>, RunError> {
    let begin = clock();
    // Divided by the work of the whole run.
    let division = match choose(plan, &RegistryOnly, Threads::Always(threads)) {
        Ok(division) => Some(division),
        Err(None) => None,
        Err(Some(reason)) => return Ok(Err(reason)),
    };
    let dividing_s = clock() - begin;
    let mut run_times = [0.0; N];
    for (end, run_time) in ends.into_iter().zip(&mut run_times) {
        let plan = Plan { duration: end, warmup: Time(0), ..plan.clone() };
        let begin = clock();
        if let Some(division) = &division {
            run_divided(&plan, division, &mut |_| true, &mut None)?;
        } else {
            run_on_clock(&plan, &RegistryOnly, &mut |_| true, None)?;
        }
        *run_time = dividing_s + clock() - begin;
    }
    Ok(Ok(run_times))
}

/// Why fewer threads are used than were requested.
fn too_few(division: &Division, threads: Threads) -> Option<String> {
    let used = division.threads;
    let (Threads::Exactly(requested) | Threads::Always(requested)) = threads else { return None };
    (used < requested).then(|| format!("the network has work for {used} threads"))
}

/// Divides the network among threads; otherwise, why the run is to use one.
fn choose(plan: &Plan, custom: &dyn Custom, threads: Threads) -> Result<Division, Option<String>> {
    let most = match threads {
        Threads::One => 1,
        Threads::Exactly(most) | Threads::Always(most) | Threads::Auto(most) => most,
    };
    if most <= 1 {
        return Err(None);
    }
    let single = |why: &str| Err(Some(why.to_owned()));
    if custom.is_used() {
        return single("user-defined algorithms are called by one thread");
    }
    if !plan.groups.is_empty() {
        return single("multicast groups are run by one thread");
    }
    if plan.reads_ports {
        return single("what switches note of packets is kept by one thread");
    }
    if plan.era == Era::Ns2 {
        return single("era ns2 keeps seconds in doubles, as ns-2 does, on one thread");
    }
    let most = most.min(usize::from(u16::MAX));
    let load = Load::of(plan);
    let division = match threads {
        Threads::Auto(_) => choose_count(plan, &load, most)?,
        _ => divide(plan, &load, &shortest_times(plan), most),
    };
    if division.threads <= 1 {
        return single(NO_PARTS);
    }
    match too_close(&division, plan.nodes.len()) {
        Some(why) if !matches!(threads, Threads::Always(_)) => Err(Some(why)),
        _ => Ok(division),
    }
}

/// Why threads might take more than twice as long as one on a busy machine: there is less to do than they take to wait for
/// one another. It depends on the plan alone, so that a run uses the same threads wherever it runs.
fn too_close(division: &Division, nodes: usize) -> Option<String> {
    let &Division { threads, work_s, rounds, lookahead_s, .. } = division;
    let starting_s = threads as f64 * START_S + nodes as f64 * BUSY_NODE_S;
    let waiting_s = rounds * threads as f64 * SWITCH_S;
    (starting_s + waiting_s > work_s).then(|| {
        if waiting_s < starting_s {
            return format!("{threads} threads would take longer to start than the run, {work_s:.4} s");
        }
        format!(
            "{threads} threads would wait for each other after every {:.1} us of work, as they are {:.4} ms apart",
            1e6 * work_s / rounds,
            1e3 * lookahead_s
        )
    })
}

/// Divides the network among the number of threads that is predicted to be fastest; otherwise, why the run is to use
/// one. A router with its hosts and those that it gets packets from take turns, so half of these parts, on average, can
/// run at a time.
fn choose_count(plan: &Plan, load: &Load, most: usize) -> Result<Division, Option<String>> {
    let (work_s, mean_parallelism) = load.among_routers(plan);
    if work_s < SHORT_S {
        return Err(Some("the run is predicted to be short".to_owned()));
    }
    let dividing_s = DIVIDING_S * plan.nodes.len() as f64;
    let gain = |speedup: f64| {
        work_s / (work_s / speedup.min((mean_parallelism / 2.0).max(1.0)) + dividing_s)
    };
    if gain(most as f64) < WORTH {
        return Err(Some(format!(
            "the work is in about {mean_parallelism:.1} parts that take turns, and dividing takes {dividing_s:.1} of {work_s:.1} s"
        )));
    }
    let shortest = shortest_times(plan);
    let mut best: Option<Division> = None;
    let mut count = 2;
    while count <= most {
        let division = divide(plan, load, &shortest, count);
        if best.as_ref().is_none_or(|best| division.speedup > best.speedup) {
            best = Some(division);
        }
        count = if count < most { (2 * count).min(most) } else { count + 1 };
    }
    match best {
        Some(division) if division.threads > 1 && gain(division.speedup) >= WORTH => Ok(division),
        Some(division) if division.threads > 1 => Err(Some(format!(
            "the predicted speed-up is {:.2}, as a thread has {:.0} % of the work and threads are {:.3} ms apart",
            gain(division.speedup),
            100.0 * division.largest,
            1e3 * division.lookahead_s
        ))),
        _ => Err(Some(NO_PARTS.to_owned())),
    }
}

/// A thread's run, and what it runs of the network.
type Part = (Sim<Divided>, Share);

/// Builds the run of thread `me`.
fn build_part(plan: &Plan, homes: &[u16], me: u16) -> Result<Part, Vec<Problem>> {
    let link_process = RefCell::new(Vec::new());
    let partition = |plan: &Plan, links: &[Link<Divided>], shortest: &[u64], follows: &[bool]| {
        let partition = Partition::on_threads(plan, links, shortest, follows, homes);
        link_process.borrow_mut().clone_from(&partition.link_process);
        partition
    };
    let mut sim = build_with(plan, &RegistryOnly, partition, |node| homes[node.index()] == me)?;
    use_large_tables(&mut sim, plan.flows.len());
    sim.border.me = me;
    sim.border.limit_turns(&sim.schedule);
    let mut runs_in = link_process.into_inner();
    // A link that packets enter at once after another is run with that one.
    let follows = find_followers(plan, &sim.links.list);
    for route in plan.flows.iter().flat_map(PlanFlow::all_paths) {
        for (stretch, _) in split_into_stretches(route, &follows) {
            let process = runs_in[stretch[0].index()];
            for link in stretch {
                runs_in[link.index()] = process;
            }
        }
    }
    let is_own = |p: u32| sim.border.homes[p as usize] == me;
    let share = Share {
        processes: (0..sim.border.homes.len() as u32).filter(|&p| is_own(p)).collect(),
        links: (0..).zip(&runs_in).filter(|of| is_own(*of.1)).map(|of| of.0).collect(),
    };
    Ok((sim, share))
}

/// Builds the runs of all threads, each in its thread.
fn build_parts(plan: &Plan, division: &Division) -> Result<Vec<Part>, Vec<Problem>> {
    let homes = &division.homes;
    thread::scope(|scope| {
        let spawn = |me| scope.spawn(move || build_part(plan, homes, me));
        let spawned: Vec<_> = (1..division.threads as u16).map(spawn).collect();
        let first = build_part(plan, homes, 0);
        let mut sims = vec![first?];
        for other in spawned {
            sims.push(join_thread(other)?);
        }
        Ok(sims)
    })
}

/// What a thread returns; its panic goes on in this one.
fn join_thread<T>(handle: thread::ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Who reads which clocks: by thread, its border with the numbers of clocks; and by reader, what it reads of others.
struct Clocks {
    border: Vec<Vec<(u32, u32)>>,
    /// By reader and writer.
    read: Vec<Vec<Vec<(u32, u32)>>>,
    count: usize,
}

/// Numbers the clocks of processes that packets of other threads come from.
fn number_clocks(schedule: &Schedule<Divided>, homes: &[u16], threads: usize) -> Clocks {
    let home = |p: u32| usize::from(homes[p as usize]);
    let mut read = vec![vec![Vec::new(); threads]; threads];
    for (p, process) in (0..).zip(&schedule.processes) {
        for &(source, _) in process.sources.iter().filter(|source| home(source.0) != home(p)) {
            read[home(p)][home(source)].push((source, 0));
        }
    }
    let mut border: Vec<Vec<(u32, u32)>> = vec![Vec::new(); threads];
    for readers in &mut read {
        for (sources, border) in readers.iter_mut().zip(&mut border) {
            sources.sort_unstable();
            sources.dedup();
            border.extend(&*sources);
        }
    }
    let mut numbers = vec![u32::MAX; homes.len()];
    let mut count = 0usize;
    for border in &mut border {
        border.sort_unstable();
        border.dedup();
        for (process, clock) in border {
            *clock = count as u32;
            numbers[*process as usize] = *clock;
            count += 1;
        }
        count = count.next_multiple_of(APART) + APART;
    }
    for (process, clock) in read.iter_mut().flatten().flatten() {
        *clock = numbers[*process as usize];
    }
    Clocks { border, read, count }
}

/// Least time from an arrival from another thread to its effect outside the process that it reaches, in thread `me`.
fn least_lookahead(schedule: &Schedule<Divided>, homes: &[u16], me: usize) -> u64 {
    let is_reached = |p: usize| {
        let home = usize::from(homes[p]);
        let sources = &schedule.processes[p].sources;
        home == me && sources.iter().any(|source| homes[source.0 as usize] != homes[p])
    };
    let reached = (0..homes.len()).filter(|&p| is_reached(p));
    let lookaheads = reached.flat_map(|p| schedule.processes[p].stages.iter().map(|s| s.lookahead));
    lookaheads.min().unwrap_or(u64::MAX)
}

/// The threads of a run, joined by queues.
fn members<'a>(
    exchange: &'a Exchange,
    clocks: Clocks,
    first: &Sim<Divided>,
    in_a_delay: f64,
) -> Vec<Member<'a>> {
    let homes = &first.border.homes;
    let Clocks { border, read, .. } = clocks;
    let member = |(me, border)| {
        let lookahead = least_lookahead(&first.schedule, homes, me);
        Member::new(exchange, me, homes.len(), border, lookahead)
    };
    let mut members: Vec<_> = border.into_iter().enumerate().map(member).collect();
    let pairs = read.iter().flatten().filter(|sources| !sources.is_empty()).count();
    // A thread that finds a queue full has to wait for the other's turn to end.
    let room_of_pair = ROOM_OF_ONE.max((in_a_delay / pairs.max(1) as f64) as usize);
    let room = if cfg!(test) { 16 } else { room_of_pair.min(ROOM / pairs.max(1)).max(64) };
    for (to, of) in read.into_iter().enumerate() {
        for (from, sources) in of.into_iter().enumerate().filter(|of| !of.1.is_empty()) {
            let (producer, consumer) = RingBuffer::new(room);
            members[from].add_outgoing(to, producer);
            members[to].add_incoming(Incoming::new(from, consumer, sources));
        }
    }
    members
}

/// Stops the other threads if this one panics.
struct StopOnPanic<'a>(&'a Exchange);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs a plan whose network is divided. `None`: an algorithm failed.
fn run_divided(
    plan: &Plan,
    division: &Division,
    progress: &mut dyn FnMut(Time) -> bool,
    pieces: &mut Option<Pieces<'_>>,
) -> Result<Option<Results>, RunError> {
    let sims = build_parts(plan, division).map_err(RunError::Input)?;
    run_parts(plan, division, sims, progress, pieces)
}

/// Runs what each thread has of a network, and joins what they leave. `None`: an algorithm failed.
fn run_parts(
    plan: &Plan,
    division: &Division,
    sims: Vec<Part>,
    progress: &mut dyn FnMut(Time) -> bool,
    pieces: &mut Option<Pieces<'_>>,
) -> Result<Option<Results>, RunError> {
    let first = &sims[0].0;
    let clocks = number_clocks(&first.schedule, &first.border.homes, division.threads);
    let exchange = Exchange::new(division.threads, clocks.count);
    let members = members(&exchange, clocks, first, division.in_a_delay);
    let exchange = &exchange;
    let ended_sims: Vec<(Part, RunEnd)> = thread::scope(|scope| {
        let mut all = sims.into_iter().zip(members);
        let first = all.next();
        let spawn = |((mut sim, share), mut member): (Part, Member<'_>)| {
            let _guard = StopOnPanic(exchange);
            let end = sim.run_divided(&mut member, None);
            ((sim, share), end)
        };
        let spawned: Vec<_> = all.map(|of| scope.spawn(move || spawn(of))).collect();
        let first = first.map(|((mut sim, share), mut member)| {
            let _guard = StopOnPanic(exchange);
            let end = sim.run_divided(&mut member, Some(progress));
            ((sim, share), end)
        });
        first.into_iter().chain(spawned.into_iter().map(join_thread)).collect()
    });
    let fault = ended_sims.iter().find_map(|((sim, _), _)| sim.schedule.fault.clone());
    if let Some(fault) = fault {
        return Err(RunError::Fault(fault.into()));
    }
    if ended_sims.iter().any(|((sim, _), _)| sim.failure.is_some()) {
        return Ok(None);
    }
    if ended_sims.iter().any(|of| of.1 == RunEnd::Interrupted) {
        return Err(RunError::Interrupted);
    }
    let mut ended = ended_sims.into_iter().map(|((sim, share), _)| (sim.into_ended(), share));
    let Some((mut all, _)) = ended.next() else { return Ok(None) };
    for (other, share) in ended {
        all.join(other, &share);
    }
    if let Some(pieces) = &pieces {
        all.observer.pieces = HandedOn::from(pieces.rows);
    }
    let take = pieces.take().map(|pieces| pieces.take);
    all.finish(plan, take).map(Some).map_err(RunError::Fault)
}

#[cfg(test)]
mod small_packets;
#[cfg(test)]
mod tests;
