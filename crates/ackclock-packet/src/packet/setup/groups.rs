//! Builds the sources and branches of multicast groups.

use crate::compile::Plan;
use crate::error::Problem;
use crate::multicast::{self, ControlEnv, Source};
use crate::packet::network::branch::{Branch, Child, Emitter, Groups};
use crate::packet::process::clock::Clock;
use crate::packet::process::event::{Key, Kind, Stage, What};
use crate::packet::process::logical_process::Process;
use crate::packet::setup::partition::Partition;

/// Builds the groups, and enters the starts of their sources into the processes.
///
/// # Errors
/// A layer control cannot be built.
pub(crate) fn build_groups<C: Clock>(
    plan: &Plan,
    partition: &Partition,
    processes: &mut [Process],
) -> Result<Groups, Vec<Problem>> {
    let mut groups = Groups::default();
    if plan.groups.is_empty() {
        return Ok(groups);
    }
    groups.of_end = vec![u32::MAX; 2 * plan.flows.len()];
    for (g, group) in plan.groups.iter().enumerate() {
        let env = ControlEnv { layers: group.layers.clone() };
        let control = multicast::build(&group.control, &env, &format!("groups[{g}].control"))?;
        let (layers, burst) = (&group.layers, control.burst());
        let source = Source::new(layers, group.packet, burst, group.start, group.stop);
        if let Some(first) = source.next() {
            let event = What::new(Kind::Emit, g as u32);
            let process = partition.node_process[group.src.index()] as usize;
            let key = Key::new(C::word(first.0), first.0, event.0);
            processes[process].stages[Stage::Node as usize].locals.push(key);
        }
        let due = source.next().unwrap_or_default();
        groups.sources.push(Emitter { source, due, root: groups.branches.len() as u32 });
        for branch in &group.branches {
            let number = groups.branches.len() as u32;
            let parent = branch.parent.map(|flow| 2 * flow + 1);
            let child = |&flow: &u32| Child { end: 2 * flow, layers: 0 };
            let children: Vec<Child> = branch.children.iter().map(child).collect();
            for end in children.iter().map(|child| child.end).chain(parent) {
                groups.of_end[end as usize] = number;
            }
            groups.branches.push(Branch {
                parent,
                children,
                reported: 0,
                reported_at: 0,
                copies: 0,
            });
        }
    }
    Ok(groups)
}
