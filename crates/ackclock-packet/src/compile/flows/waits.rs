//! Which flows wait for which.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Context, Definition};
use crate::compile::plan::{GUEST, PlanFlow, PlanJob, PlanSender, PlanWait};
use crate::error::suggestion;
use crate::ids::NodeId;
use crate::traffic::pattern::Transfer;

/// Most ends that all flows together wait for.
const MOST_WAITS: usize = 20_000_000;

/// What a flow may wait for by name: all flows of an entry.
pub(super) struct Named {
    flows: Range<u32>,
    /// Whether they end.
    is_finite: bool,
}

impl Context<'_> {
    /// Notes what the flows of an entry wait for, the first of which has the number `first`: each other, as `transfers` say,
    /// and those that the entry names.
    pub(super) fn wait(&mut self, definition: &Definition<'_>, first: u32, transfers: &[Transfer]) {
        let flow = definition.flow;
        let flows = first..self.flows.len() as u32;
        if !transfers.is_empty() {
            if !self.can_wait(definition, "between") {
                return;
            }
            for (key, is_set) in
                [("count", flow.count.is_some()), ("stagger", flow.stagger.is_some())]
            {
                if is_set {
                    let message = "has no meaning beside a pattern that decides on its transfers; expected none";
                    self.wrong(format!("{}.{key}", definition.path), message);
                }
            }
            self.wait_within(first, transfers);
            let name = match &flow.id {
                Some(id) => id.as_str().into(),
                None => format!("j{}", self.jobs.len()).into(),
            };
            self.jobs.push(PlanJob { name, flows: flows.clone() });
        }
        if let Some(names) = &flow.after
            && self.can_wait(definition, "after")
        {
            if flow.start_jitter.is_some() {
                let message = "has no meaning beside after; expected start, the time after these";
                self.wrong(format!("{}.start_jitter", definition.path), message);
            }
            self.wait_for_named(definition, flows.clone(), names);
        }
        self.note_names(definition, flows);
    }

    /// Notes by what names others may wait for these flows, where any does.
    fn note_names(&mut self, definition: &Definition<'_>, flows: Range<u32>) {
        if !self.scenario.flows.iter().any(|flow| flow.after.is_some()) {
            return;
        }
        let is_transfer =
            matches!(*definition.sender, PlanSender::Tcp { .. } | PlanSender::Quic { .. });
        let has_end = |flow: &PlanFlow| flow.size.is_some() && !flow.has_guest();
        let of_connection = self.connections.last().filter(|last| last.flows.end == flows.end);
        let is_finite = is_transfer
            && match of_connection {
                Some(connection) => connection.size.is_some(),
                None => self.flows.get(flows.start as usize).is_some_and(has_end),
            };
        for number in flows.clone() {
            let name = Arc::clone(&self.flows[number as usize].name);
            self.named.insert(name, Named { flows: number..number + 1, is_finite });
        }
        if let Some(id) = &definition.flow.id {
            self.named.insert(id.as_str().into(), Named { flows, is_finite });
        }
    }

    /// Whether flows of this kind can wait for others; reports why not.
    fn can_wait(&mut self, definition: &Definition<'_>, key: &str) -> bool {
        let Definition { flow, path, sender, .. } = definition;
        let is_guest = matches!(&**sender, PlanSender::Quic { cc, .. } if cc.kind() == GUEST);
        let other = if flow.source.is_some() {
            Some("source")
        } else if is_guest {
            Some("guest")
        } else if flow.streams.is_some() {
            Some("streams")
        } else if key == "between" && flow.every.is_some() {
            Some("every")
        } else {
            None
        };
        let message = match other {
            Some(other) => format!(
                "makes transfers that wait for others, which a flow with {other} cannot; expected none of it"
            ),
            None if self.scenario.era.is_ns2() => {
                format!(
                    "makes transfers that wait for others, which era {} has not; expected era rfc",
                    self.scenario.era.name()
                )
            }
            None => return true,
        };
        self.wrong(format!("{path}.{key}"), message);
        false
    }

    /// The transfers of a pattern wait for each other.
    fn wait_within(&mut self, first: u32, transfers: &[Transfer]) {
        for (flow, transfer) in (first..).zip(transfers) {
            for wait in &transfer.after {
                let is_own = transfers[wait.transfer as usize].from == transfer.from;
                let end = 2 * (first + wait.transfer) + u32::from(!is_own);
                self.waits.push(PlanWait { end, flow, pause: wait.pause });
            }
        }
    }

    /// Flows wait for those of the entries `names` that begin or end where they begin.
    fn wait_for_named(&mut self, definition: &Definition<'_>, flows: Range<u32>, names: &[String]) {
        let pause = definition.flow.start;
        for (i, name) in names.iter().enumerate() {
            let path = || format!("{}.after[{i}]", definition.path);
            let Some(Named { flows: before, is_finite }) = self.named.get(name.as_str()) else {
                let known: Vec<&str> = self.named.keys().map(|name| &**name).collect();
                let hint = if known.is_empty() {
                    "expected the id of an entry before this one".to_owned()
                } else {
                    suggestion(name, &sorted(known))
                };
                let message = format!("there is no flow \"{name}\" before this one; {hint}");
                self.wrong(path(), message);
                return;
            };
            if !is_finite {
                let message =
                    format!("names \"{name}\", which has no end; expected a transfer with size");
                self.wrong(path(), message);
                return;
            }
            let ends = last_ends(&self.flows, &self.waits, before.clone());
            for flow in flows.clone() {
                let src = self.flows[flow as usize].src;
                let Some(ends) = ends.get(&src) else {
                    let node = self.layout.name(src);
                    let message = format!(
                        "names \"{name}\", of which nothing begins or ends at {node}, where this flow begins; expected \
                         what it could know of there"
                    );
                    self.wrong(path(), message);
                    return;
                };
                if self.waits.len() + ends.len() > MOST_WAITS {
                    let message = format!(
                        "makes flows wait for more than {MOST_WAITS} others in all; expected less"
                    );
                    self.wrong(path(), message);
                    return;
                }
                self.waits.extend(ends.iter().map(|&end| PlanWait { end, flow, pause }));
            }
        }
    }
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

/// By node, the ends of flows there, but for those that others of the same flows wait for.
fn last_ends(
    all: &[PlanFlow],
    waits: &[PlanWait],
    flows: Range<u32>,
) -> FxHashMap<NodeId, Vec<u32>> {
    let inner = |wait: &&PlanWait| flows.contains(&(wait.end / 2)) && flows.contains(&wait.flow);
    let awaited: FxHashSet<u32> = waits.iter().filter(inner).map(|wait| wait.end).collect();
    let mut ends: FxHashMap<NodeId, Vec<u32>> = FxHashMap::default();
    for flow in flows {
        let PlanFlow { src, dst, .. } = all[flow as usize];
        for (end, node) in [(2 * flow, src), (2 * flow + 1, dst)] {
            if !awaited.contains(&end) {
                ends.entry(node).or_default().push(end);
            }
        }
    }
    ends
}
