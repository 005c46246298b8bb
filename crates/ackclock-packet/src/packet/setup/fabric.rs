//! Builds the memories of switches and the ways of pause frames.

use crate::compile::{MOST_CLASSES, Plan, PlanFlow, PlanSwitches};
use crate::error::Problem;
use crate::packet::network::fabric::{Fabric, Port};
use crate::packet::network::link::Link;
use crate::packet::network::memory::{Held, Ingress, Memory};
use crate::packet::process::clock::Clock;

/// What flow control has to know of a link's discipline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    /// The names of its queues, where it can hold back single ones.
    names: Vec<String>,
}

impl Queues {
    /// Those of a link.
    pub(crate) fn of<C: Clock>(link: &mut Link<C>) -> Self {
        let Some(managed) = &mut link.disc else { return Self::default() };
        let names = if managed.disc.hold(0) { managed.disc.queues() } else { Vec::new() };
        Self { names }
    }

    fn count(&self) -> usize {
        self.names.len().max(1)
    }
}

/// Builds the switches of a plan, given by link its queues; nothing where it has none.
///
/// # Errors
/// Classes that are not there, and memories that headrooms do not leave anything of.
pub(crate) fn build_fabric(plan: &Plan, queues: &[Queues]) -> Result<Fabric, Vec<Problem>> {
    let Some(switches) = &plan.switches else { return Ok(Fabric::default()) };
    let mut fabric = Fabric {
        ports: vec![Port::default(); plan.links.len()],
        response: switches.pfc.as_ref().map_or(0, |pfc| pfc.response.0),
        spell: switches.pfc.as_ref().map_or(0, |pfc| pfc.storm.1.0),
        ..Fabric::default()
    };
    let is_used = find_used(plan);
    let mut links: Vec<[Vec<u32>; 2]> = vec![Default::default(); plan.nodes.len()];
    for (l, link) in plan.links.iter().enumerate().filter(|of| is_used[of.0]) {
        links[link.to.index()][0].push(l as u32);
        links[link.from.index()][1].push(l as u32);
    }
    for (node, [incoming, outgoing]) in links.into_iter().enumerate() {
        if switches.is_switch[node] {
            add_switch(plan, switches, queues, &mut fabric, node as u32, (incoming, outgoing))
                .map_err(|problem| vec![problem])?;
        }
    }
    Ok(fabric)
}

/// By link, whether any packets of flows pass it.
fn find_used(plan: &Plan) -> Vec<bool> {
    let mut is_used = vec![false; plan.links.len()];
    for link in plan.flows.iter().flat_map(PlanFlow::all_paths).flatten() {
        is_used[link.index()] = true;
    }
    is_used
}

fn add_switch(
    plan: &Plan,
    switches: &PlanSwitches,
    queues: &[Queues],
    fabric: &mut Fabric,
    node: u32,
    (incoming, outgoing): (Vec<u32>, Vec<u32>),
) -> Result<(), Problem> {
    let name = |l: u32| plan.links[l as usize].name(&plan.nodes);
    let count = |&l: &u32| queues[l as usize].count();
    let classes = outgoing.iter().map(count).max().unwrap_or(1);
    if classes > MOST_CLASSES {
        let widest =
            outgoing.iter().find(|&l| count(l) == classes).map_or_else(String::new, |&l| name(l));
        let message = format!("knows {MOST_CLASSES} classes, but link {widest} has {classes}");
        return Err(Problem::new("switches.pfc", message));
    }
    let mut lossless = 0;
    if let Some(pfc) = &switches.pfc {
        match &pfc.lossless {
            None => lossless = (1u32 << classes) - 1,
            Some(names) => {
                for (i, class_name) in names.iter().enumerate() {
                    let class =
                        find_class(plan, queues, &outgoing, class_name).map_err(|message| {
                            Problem::new(format!("switches.pfc.lossless[{i}]"), message)
                        })?;
                    lossless |= 1 << class;
                }
            }
        }
    }
    let lossless_count = u64::from(lossless.count_ones());
    let headrooms =
        incoming.iter().fold(0u64, |sum, &l| sum.saturating_add(switches.headroom[l as usize]));
    let headrooms = headrooms.saturating_mul(lossless_count);
    let shared = match switches.memory {
        None => u64::MAX,
        Some(memory) => memory.checked_sub(headrooms).filter(|&free| free > 0).ok_or_else(|| {
            let message = format!(
                "is {memory} B, expected more than {headrooms} B, the headroom of the {} links to switch {} \
                 ({lossless_count} lossless of {classes} classes)",
                incoming.len(),
                plan.nodes[node as usize]
            );
            Problem::new("switches.memory", message)
        })?,
    };
    let switch = fabric.switches.len() as u32;
    let mut memory = Memory::new(switches, node, shared, lossless);
    let mut ingress = Vec::with_capacity(incoming.len());
    for (number, &link) in (0..).zip(&incoming) {
        let back = link ^ 1;
        fabric.ports[link as usize].reaches = Some((switch, number));
        let port = &mut fabric.ports[back as usize];
        port.back_of = Some(number);
        // A link that only pause frames pass.
        if port.leaves.is_none() {
            port.leaves = Some((switch, u32::MAX));
        }
        ingress.push(Ingress {
            link,
            back,
            route: u32::MAX,
            headroom: switches.headroom[link as usize],
            held: vec![Held::default(); classes],
            paused: 0,
            announced: 0,
            frames: 0,
        });
    }
    for (number, &link) in (0..).zip(&outgoing) {
        fabric.ports[link as usize].leaves = Some((switch, number));
    }
    memory.set_ports(ingress, outgoing, classes);
    fabric.switches.push(memory);
    Ok(())
}

/// The number of a class, which is the same at all links that leave a switch.
fn find_class(
    plan: &Plan,
    queues: &[Queues],
    outgoing: &[u32],
    class_name: &str,
) -> Result<usize, String> {
    let mut class = None;
    for &l in outgoing {
        let names = &queues[l as usize].names;
        let link = || plan.links[l as usize].name(&plan.nodes);
        let Some(index) = names.iter().position(|name| name == class_name) else {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(if names.is_empty() {
                format!(
                    "is \"{class_name}\", but the discipline of link {} has no classes that can be paused one by one",
                    link()
                )
            } else {
                let hint = crate::error::suggestion(class_name, &names);
                format!("is \"{class_name}\", but link {} has no such class; {hint}", link())
            });
        };
        if *class.get_or_insert(index) != index {
            return Err(format!(
                "is \"{class_name}\", which is not of the same rank at all ports of the switch that link {} leaves",
                link()
            ));
        }
    }
    Ok(class.unwrap_or(0))
}
