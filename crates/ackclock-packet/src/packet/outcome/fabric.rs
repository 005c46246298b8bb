//! What flow control did: results of links, the laws that hold of it, deadlocks.

use rustc_hash::FxHashMap;

use crate::compile::{Plan, PlanSwitches};
use crate::packet::network::fabric::Fabric;
use crate::packet::network::link::Link;
use crate::packet::network::memory::Memory;
use crate::packet::network::route::Routes;
use crate::packet::network::wires::Wires;
use crate::packet::process::clock::Clock;
use crate::units::Time;

/// What flow control did at a link. Counts and times are of the whole run.
#[derive(Clone, Copy, Debug, Default)]
pub struct PfcResult {
    /// Pause frames that paused its transmitter, for any class.
    pub pauses: u64,
    /// Frames that its transmitter got, those that let it resume included.
    pub frames: u64,
    /// Time during which a class of its transmitter was paused [s].
    pub paused_s: f64,
    /// The most bytes of it that waited in the switch that it leads to.
    pub most_bytes: u64,
    /// The most of them that were in its headroom.
    pub most_headroom: u64,
    /// Its headroom.
    pub headroom: u64,
    /// Packets that came over it and found no headroom.
    pub drops: u64,
}

/// What flow control did at each link; nothing where there are no switches.
pub(crate) fn results<C: Clock>(fabric: &Fabric, links: &[Link<C>], end: u64) -> Vec<PfcResult> {
    if !fabric.is_used() {
        return Vec::new();
    }
    let result = |link: &Link<C>| {
        let pauses = link.pauses();
        PfcResult {
            pauses: pauses.map_or(0, |of| of.begun),
            frames: pauses.map_or(0, |of| of.frames),
            paused_s: Time(pauses.map_or(0, |of| of.time(C::ps(end)))).seconds(),
            ..PfcResult::default()
        }
    };
    let mut results: Vec<PfcResult> = links.iter().map(result).collect();
    for ingress in fabric.switches.iter().flat_map(|memory| &memory.ingress) {
        let result = &mut results[ingress.link as usize];
        result.headroom = ingress.headroom;
        for occupancy in &ingress.held {
            result.most_bytes = result.most_bytes.max(occupancy.most);
            result.most_headroom = result.most_headroom.max(occupancy.most_headroom);
            result.drops += occupancy.drops;
        }
    }
    results
}

/// Pause frames on wires.
pub(crate) fn count_frames(wires: &Wires, routes: &Routes, ends: usize) -> u64 {
    let in_channels = wires.channels.iter().flat_map(|c| c.queue.iter(&wires.store));
    let is_frame = |end: Option<usize>| end.is_some_and(|end| end >= ends);
    in_channels.chain(&wires.beyond).filter(|ticket| is_frame(routes.destination(**ticket))).count()
        as u64
}

/// Checks the laws of flow control: every pause frame that was sent has arrived or is on a wire; what waits in a switch
/// is what its queues hold; no lossless class with enough headroom loses a packet.
///
/// # Errors
/// The law that is broken, with its numbers.
pub(crate) fn check<C: Clock>(
    fabric: &Fabric,
    links: &[Link<C>],
    plan: &Plan,
    frames_on_wires: u64,
) -> Result<(), String> {
    let Some(switches) = &plan.switches else { return Ok(()) };
    let sent: u64 = fabric.switches.iter().flat_map(|m| &m.ingress).map(|i| i.frames).sum();
    let arrived: u64 = links.iter().filter_map(Link::pauses).map(|of| of.frames).sum();
    if sent != arrived + frames_on_wires {
        return Err(format!(
            "{sent} pause frames sent, but {arrived} received and {frames_on_wires} on wires"
        ));
    }
    for memory in &fabric.switches {
        check_switch(memory, links, plan, switches)
            .map_err(|broken| format!("switch {}: {broken}", plan.nodes[memory.node as usize]))?;
    }
    Ok(())
}

fn check_switch<C: Clock>(
    memory: &Memory,
    links: &[Link<C>],
    plan: &Plan,
    switches: &PlanSwitches,
) -> Result<(), String> {
    memory.check()?;
    let queued: u64 = memory.egress.iter().map(|&l| links[l as usize].waiting().1).sum();
    if queued != memory.backlog() {
        return Err(format!(
            "{queued} B wait in its queues, but {} B are counted",
            memory.backlog()
        ));
    }
    for ingress in &memory.ingress {
        let l = ingress.link as usize;
        let lost: u64 = ingress.held.iter().map(|occupancy| occupancy.drops).sum();
        if lost > 0 && switches.headroom[l] >= switches.needed[l] {
            return Err(format!(
                "{lost} packets of link {} were lost in a lossless class, although its headroom of {} B is \
                 enough ({} B)",
                plan.links[l].name(&plan.nodes),
                switches.headroom[l],
                switches.needed[l]
            ));
        }
    }
    Ok(())
}

/// Names the links that were paused for more than a share of some spell of time, the worst first.
pub(crate) fn find_storms<C: Clock>(links: &[Link<C>], plan: &Plan, end: u64) -> Option<String> {
    let (share, time) = plan.switches.as_ref()?.pfc.as_ref()?.storm;
    let most_ps = share * time.0 as f64;
    let mut storms: Vec<(u64, u64, usize)> = Vec::new();
    for (l, link) in links.iter().enumerate() {
        let Some(pauses) = link.pauses() else { continue };
        let (begin, paused) = pauses.worst_spell(C::ps(end));
        if paused as f64 > most_ps {
            storms.push((paused, begin, l));
        }
    }
    storms.sort_by_key(|&(paused, begin, l)| (std::cmp::Reverse(paused), begin, l));
    let &(paused, begin, l) = storms.first()?;
    let others = match storms.len() {
        1 => String::new(),
        2 => "; so was 1 more link".to_owned(),
        count => format!("; so were {} more links", count - 1),
    };
    Some(format!(
        "pause storm: link {} was paused for {:.0} % of the {} ms from {:.9} s on, more than {:.0} %{others}",
        plan.links[l].name(&plan.nodes),
        100.0 * paused as f64 / time.0 as f64,
        time.seconds() * 1e3,
        Time(begin).seconds(),
        100.0 * share,
    ))
}

/// A link and a class of it.
type Stuck = (u32, usize);

/// Describes the deadlock at the end of a run, if there is one: links that are paused until packets leave that wait for
/// links of the same kind.
pub(crate) fn find_deadlock<C: Clock>(
    fabric: &Fabric,
    links: &[Link<C>],
    plan: &Plan,
) -> Option<String> {
    let stuck = find_stuck(fabric);
    let start = stuck.keys().min()?;
    // Each waits for another one, so following them ends in a circle.
    let mut way = vec![*start];
    let begin = loop {
        let last = way.last()?;
        let next = stuck.get(last)?;
        if let Some(begin) = way.iter().position(|earlier| earlier == next) {
            break begin;
        }
        way.push(*next);
    };
    let circle = &way[begin..];
    let name = |stuck: &Stuck| plan.links[stuck.0 as usize].name(&plan.nodes);
    let names: Vec<String> = circle.iter().take(8).map(name).collect();
    let more = if circle.len() > names.len() { ", ..." } else { "" };
    let since = |stuck: &Stuck| links[stuck.0 as usize].pauses().map_or(0, |of| of.since);
    let since = circle.iter().map(since).max().unwrap_or_default();
    Some(format!(
        "deadlock of flow control: the links {}{more} have been paused since {:.9} s and wait for each other, so none of \
         them sends again ({} of all links are stuck)",
        names.join(", "),
        Time(since).seconds(),
        stuck.len()
    ))
}

/// Finds the links and classes that stay paused whatever else leaves, each with one that it waits for.
fn find_stuck(fabric: &Fabric) -> FxHashMap<Stuck, Stuck> {
    let mut stuck = FxHashMap::default();
    for memory in &fabric.switches {
        for ingress in &memory.ingress {
            for class in (0..memory.classes).filter(|class| ingress.paused >> class & 1 != 0) {
                stuck.insert((ingress.link, class), (u32::MAX, class));
            }
        }
    }
    // What waits for links that are not stuck leaves; who may then resume is not stuck.
    loop {
        let mut freed = Vec::new();
        let mut still_stuck = Vec::new();
        for memory in &fabric.switches {
            let left = |i: usize, class: usize, waits_for: &mut Option<u32>| -> u64 {
                let egress = memory.egress.iter().enumerate();
                let stuck_egress = egress.filter(|&(_, &link)| stuck.contains_key(&(link, class)));
                stuck_egress
                    .map(|(number, &link)| {
                        let bytes = memory.waiting(i, number, class);
                        if bytes > 0 {
                            waits_for.get_or_insert(link);
                        }
                        bytes
                    })
                    .sum()
            };
            let all =
                (0..memory.ingress.len()).flat_map(|i| (0..memory.classes).map(move |c| (i, c)));
            let used: u64 = all.clone().map(|(i, class)| left(i, class, &mut None)).sum();
            for (i, class) in all {
                let key = (memory.ingress[i].link, class);
                if !stuck.contains_key(&key) {
                    continue;
                }
                let mut waits_for = None;
                let total = left(i, class, &mut waits_for);
                match waits_for {
                    Some(link) if total > memory.xon(used) => {
                        still_stuck.push((key, (link, class)));
                    }
                    _ => freed.push(key),
                }
            }
        }
        if freed.is_empty() {
            stuck.extend(still_stuck);
            return stuck;
        }
        for key in freed {
            stuck.remove(&key);
        }
    }
}
