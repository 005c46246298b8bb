//! Multicast groups of the plan: their trees, each edge a flow.
//!
//! The tree is the union of the routes from the source to the receivers, added in order: of each route, the
//! part after the last node that is in the tree already. A chain of links without a branch is one flow.

use std::sync::{Arc, LazyLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::{PlanBranch, PlanFlow, PlanGroup, PlanSender};
use super::routes::Routes;
use crate::dscp::Dscp;
use crate::error::{Problem, suggestion};
use crate::ids::{LinkId, NodeId};
use crate::multicast::{MAX_LAYERS, MEMBERSHIP_BYTES};
use crate::registry::Range;
use crate::scenario::{Group, LinkSpec, Scenario};
use crate::tcp::TcpConfig;
use crate::topology::Layout;
use crate::units::{Span, Time};

/// Appends the flows of all groups, and returns the groups. One with a problem has a flow without a route, for
/// what else may be wrong with its control.
pub(super) fn add(
    scenario: &Scenario,
    layout: &Layout,
    routes: &mut Routes,
    flows: &mut Vec<PlanFlow>,
    problems: &mut Vec<Problem>,
) -> Vec<PlanGroup> {
    if scenario.groups.is_empty() {
        return Vec::new();
    }
    let mut names: FxHashSet<Arc<str>> = flows.iter().map(|flow| Arc::clone(&flow.name)).collect();
    let mut groups = Vec::with_capacity(scenario.groups.len());
    for (i, group) in scenario.groups.iter().enumerate() {
        let path: Arc<str> = format!("groups[{i}]").into();
        let name: Arc<str> = group.id.clone().unwrap_or_else(|| format!("g{i}")).into();
        let before = problems.len();
        check(group, &path, problems);
        if !names.insert(Arc::clone(&name)) {
            let message =
                format!("\"{name}\" is the name of an earlier flow or group; expected another");
            problems.push(Problem::new(format!("{path}.id"), message));
        }
        let tree = Tree::new(group, &path, layout, routes, problems);
        let mut laid = Laid {
            name: &name,
            path: &path,
            group,
            // What the rest of the plan needs of its packets.
            tcp: Arc::new(TcpConfig {
                mss: group.packet.0.min(u64::from(u16::MAX)) as u32,
                header: 0,
                ack_size: u32::from(MEMBERSHIP_BYTES),
                ..TcpConfig::of_era(scenario.era)
            }),
            flows,
        };
        let Some(tree) = tree.filter(|_| problems.len() == before) else {
            laid.push("", [NodeId(0); 2], [Box::default(), Box::default()], Some(0));
            continue;
        };
        let (branches, receivers) = laid.edges(&tree, layout);
        for &flow in branches.iter().flat_map(|branch| &branch.children) {
            if !names.insert(Arc::clone(&flows[flow as usize].name)) {
                let message = format!(
                    "makes a flow \"{}\", the name of an earlier flow; expected another id",
                    flows[flow as usize].name
                );
                problems.push(Problem::new(format!("{path}.id"), message));
            }
        }
        groups.push(PlanGroup {
            name,
            src: tree.src,
            layers: group.layers.clone(),
            control: group.control.clone(),
            packet: group.packet.0 as u16,
            start: Time(group.start.0),
            stop: group.stop.map(|stop| Time(stop.0)),
            branches,
            receivers,
        });
    }
    groups
}

static RATE: LazyLock<Range> = LazyLock::new(|| Range::of::<LinkSpec>("rate"));
static PACKET: LazyLock<Range> = LazyLock::new(|| Range::of::<Group>("packet"));

/// Checks the values of a group.
fn check(group: &Group, path: &str, problems: &mut Vec<Problem>) {
    let mut wrong = |key: &str, message: String| {
        problems.push(Problem::new(format!("{path}.{key}"), message));
    };
    if group.layers.is_empty() || group.layers.len() > MAX_LAYERS {
        let count = group.layers.len();
        wrong("layers", format!("has {count} rates, expected 1 to {MAX_LAYERS}"));
    }
    for (i, &rate) in group.layers.iter().enumerate() {
        let problem = RATE.problem(rate.bps(), String::new);
        if let Some(problem_found) = problem {
            wrong(&format!("layers[{i}]"), problem_found.message);
        }
    }
    let packet = PACKET.problem(group.packet.0 as f64, String::new);
    if let Some(problem_found) = packet {
        wrong("packet", problem_found.message);
    }
    if group.stop.is_some_and(|stop| stop <= group.start) {
        wrong("stop", "is not later than start".to_owned());
    }
    if group.receivers.is_empty() {
        wrong("receivers", "is empty, expected at least one node".to_owned());
    }
}

/// A multicast tree.
struct Tree {
    src: NodeId,
    receivers: Vec<NodeId>,
    /// By node, the links and nodes below it.
    below: FxHashMap<NodeId, Vec<(LinkId, NodeId)>>,
}

impl Tree {
    fn new(
        group: &Group,
        path: &str,
        layout: &Layout,
        routes: &mut Routes,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let names: Vec<&str> = layout.nodes.iter().map(String::as_str).collect();
        let mut node = |name: &String, key: String| {
            let index = names.iter().position(|node_name| node_name == name);
            if index.is_none() {
                // Among very many names a suggestion would take long.
                let hint = suggestion(name, &names[..names.len().min(1000)]);
                let message = format!("there is no node \"{name}\"; {hint}");
                problems.push(Problem::new(format!("{path}.{key}"), message));
            }
            index.map(|node| NodeId(node as u32))
        };
        let src = node(&group.src, "src".to_owned());
        let all: Vec<Option<NodeId>> = (0..)
            .zip(&group.receivers)
            .map(|(i, name)| node(name, format!("receivers[{i}]")))
            .collect();
        let src = src?;
        let receivers: Vec<NodeId> = all.into_iter().collect::<Option<_>>()?;
        let mut tree = Self { src, receivers: Vec::new(), below: FxHashMap::default() };
        let mut in_tree: FxHashSet<NodeId> = FxHashSet::from_iter([src]);
        for (i, &to) in receivers.iter().enumerate() {
            let mut wrong = |message: String| {
                problems.push(Problem::new(format!("{path}.receivers[{i}]"), message));
            };
            let name = &group.receivers[i];
            if to == src || receivers[..i].contains(&to) {
                let role = if to == src { "the source" } else { "an earlier receiver" };
                wrong(format!("\"{name}\" is {role}; expected another node"));
                return None;
            }
            let Some(route) = routes.route(src, to, None) else {
                let src = &group.src;
                wrong(format!(
                    "there is no way from \"{src}\" to \"{name}\"; expected a connected network"
                ));
                return None;
            };
            tree.add(&route, to, &mut in_tree, layout);
            tree.receivers.push(to);
        }
        let through = tree.receivers.iter().position(|to| tree.below.contains_key(to));
        if let Some(i) = through {
            let message = format!(
                "\"{}\" is on the way to another receiver; expected receivers at the ends of the tree",
                group.receivers[i]
            );
            problems.push(Problem::new(format!("{path}.receivers[{i}]"), message));
            return None;
        }
        Some(tree)
    }

    /// Adds the part of a route that is not in the tree.
    fn add(
        &mut self,
        route: &[LinkId],
        to: NodeId,
        in_tree: &mut FxHashSet<NodeId>,
        layout: &Layout,
    ) {
        let mut below = to;
        for &link in route.iter().rev() {
            if !in_tree.insert(below) {
                return;
            }
            let both = layout.links[link.index() / 2];
            let above = if link.0.is_multiple_of(2) { both.a } else { both.b };
            self.below.entry(above).or_default().push((link, below));
            below = above;
        }
    }
}

/// A group whose flows are being made.
struct Laid<'a> {
    name: &'a str,
    path: &'a Arc<str>,
    group: &'a Group,
    tcp: Arc<TcpConfig>,
    flows: &'a mut Vec<PlanFlow>,
}

impl Laid<'_> {
    /// Makes the flows of a tree: its branches, and the flows to its receivers in their order.
    fn edges(&mut self, tree: &Tree, layout: &Layout) -> (Vec<PlanBranch>, Vec<u32>) {
        let mut branches = vec![PlanBranch::default()];
        let mut nodes = vec![tree.src];
        let mut flow_of = vec![0; tree.receivers.len()];
        // Branches are appended while the list is walked.
        let mut number = 0;
        while number < nodes.len() {
            for &(first, mut node) in &tree.below[&nodes[number]] {
                let mut route = vec![first];
                while let Some([(link, below)]) = tree.below.get(&node).map(Vec::as_slice) {
                    route.push(*link);
                    node = *below;
                }
                // The two directions of a link have consecutive numbers.
                let back = route.iter().rev().map(|link| LinkId(link.0 ^ 1)).collect();
                let receiver = tree.receivers.iter().position(|&to| to == node);
                let ends = [nodes[number], node];
                let name = &layout.nodes[node.index()];
                let flow = self.push(name, ends, [route.into(), back], receiver);
                branches[number].children.push(flow);
                if let Some(receiver) = receiver {
                    flow_of[receiver] = flow;
                } else {
                    branches.push(PlanBranch { parent: Some(flow), children: Vec::new() });
                    nodes.push(node);
                }
            }
            number += 1;
        }
        (branches, flow_of)
    }

    /// Appends a flow to node `to`, which is the place of a receiver or a branch; returns its number.
    fn push(
        &mut self,
        to: &str,
        [src, dst]: [NodeId; 2],
        [route, ack_route]: [Box<[LinkId]>; 2],
        receiver: Option<usize>,
    ) -> u32 {
        let group = self.group;
        let late = group.stagger.unwrap_or(Span::ZERO) * receiver.unwrap_or(0) as u64;
        self.flows.push(PlanFlow {
            name: format!("{}:{to}", self.name).into(),
            path: Arc::clone(self.path),
            src,
            dst,
            pair: None,
            dscp: Dscp::default(),
            start: Time(group.start.0) + late,
            stop: group.stop.map(|stop| Time(stop.0)),
            size: None,
            supply: None,
            sender: Arc::new(PlanSender::Branch {
                control: group.control.clone(),
                layers: group.layers.clone(),
                has_receiver: receiver.is_some(),
            }),
            tcp: Arc::clone(&self.tcp),
            route,
            ack_route,
            further: None,
        });
        self.flows.len() as u32 - 1
    }
}
