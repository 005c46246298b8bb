//! Where flows go: their hosts, and the links between.

use super::Context;
use crate::compile::plan::{Direction, FurtherPaths, Moves, PathChoice};
use crate::error::suggestion;
use crate::ids::{LinkId, NodeId};
use crate::rng::{Purpose, Stream};
use crate::scenario::{EqualPaths, Flow};
use crate::units::Time;

/// Where a flow goes: its ends, and its ways there and back.
#[derive(Default)]
pub(super) struct Way {
    pub(super) src: NodeId,
    pub(super) dst: NodeId,
    pub(super) route: Box<[LinkId]>,
    pub(super) ack_route: Box<[LinkId]>,
    pub(super) further: Option<Box<FurtherPaths>>,
}

impl Way {
    /// Whether packets are sprayed over several paths.
    pub(super) fn is_sprayed(&self) -> bool {
        self.further.as_ref().is_some_and(|further| further.is_sprayed())
    }
}

/// Further paths of a direction, and when packets change over to which.
type Later = (Box<[Box<[LinkId]>]>, Moves);

/// Most paths over which the packets of a flow are sprayed.
const MOST_PATHS: usize = 1024;

/// Where a copy of a flow begins and ends.
#[derive(Clone, Copy)]
pub(super) enum Ends {
    /// As its description says, but for the pair.
    Described { pair: Option<u32> },
    /// The same, the other way round.
    Back { pair: Option<u32> },
    /// As a pattern drew.
    Drawn(NodeId, NodeId),
    /// It is not known.
    Nowhere,
}

impl Context<'_> {
    /// Where a flow of this number goes.
    pub(super) fn way(
        &mut self,
        flow: &Flow,
        number: usize,
        ends: Ends,
        path: &str,
    ) -> Option<Way> {
        let (src, dst) = self.hosts(flow, ends, path)?;
        let hash = |way| self.hash(2 * number as u64 + way);
        let [there, back] = [hash(0), hash(1)];
        let route = self.route(flow.route.as_ref(), [src, dst], there, path, "route");
        // Links go both ways: where there is no way out, there is none back.
        if route.is_none() && flow.route.is_none() && flow.ack_route.is_none() {
            return None;
        }
        let ack_route = self.route(flow.ack_route.as_ref(), [dst, src], back, path, "ack_route");
        let mut way = Way { src, dst, route: route?, ack_route: ack_route?, ..Way::default() };
        if let Some(choice) = self.scenario.equal_paths.filter(|choice| choice.is_per_packet()) {
            let data = self.spray(&mut way.route, flow.route.is_some(), [src, dst], path)?;
            let acks =
                self.spray(&mut way.ack_route, flow.ack_route.is_some(), [dst, src], path)?;
            let has_several = !(data.is_empty() && acks.is_empty());
            let recycles = choice == EqualPaths::Reps;
            let which = if recycles { PathChoice::Recycle } else { PathChoice::Spray };
            let further = FurtherPaths { data, acks, choice: which };
            way.further = has_several.then(|| Box::new(further));
            if !flow.moves.is_empty() {
                let message = format!(
                    "gives routes one after another, and equal_paths = \"{choice}\" sends packets over several at \
                     once; expected equal_paths = \"hash\" or \"first\""
                );
                self.wrong(format!("{path}.moves"), message);
            }
        } else if !(flow.moves.is_empty() && self.later.is_empty()) {
            let ends = [(src, dst), (dst, src)];
            let data = self.follow(flow, number, Direction::Data, ends[0], &way.route, path)?;
            let acks = self.follow(flow, number, Direction::Acks, ends[1], &way.ack_route, path)?;
            let has_moves = !(data.1.is_empty() && acks.1.is_empty());
            let choice = PathChoice::Moves([data.1, acks.1]);
            let further = FurtherPaths { data: data.0, acks: acks.0, choice };
            way.further = has_moves.then(|| Box::new(further));
        }
        Some(way)
    }

    /// The routes that a direction of a flow has one after another: those that it names or, where it names none, those of
    /// routing. While there is no way the last route stays.
    fn follow(
        &mut self,
        flow: &Flow,
        number: usize,
        direction: Direction,
        (src, dst): (NodeId, NodeId),
        first: &[LinkId],
        path: &str,
    ) -> Option<Later> {
        let is_data = direction == Direction::Data;
        let key = if is_data { "route" } else { "ack_route" };
        let mut routes: Vec<(Time, Box<[LinkId]>)> = Vec::new();
        for (i, next) in flow.moves.iter().enumerate() {
            if i > 0 && flow.moves[i - 1].at >= next.at {
                let message = "is not later than the one before, expected ascending times";
                self.wrong(format!("{path}.moves[{i}].at"), message);
            }
            if next.route.is_none() && next.ack_route.is_none() {
                let message = "changes nothing, expected route or ack_route";
                self.wrong(format!("{path}.moves[{i}]"), message);
            }
            let names = if is_data { &next.route } else { &next.ack_route };
            if names.is_some() {
                let place = format!("{path}.moves[{i}]");
                let route = self.route(names.as_ref(), [src, dst], None, &place, key)?;
                routes.push((Time(next.at.0), route));
            }
        }
        let is_named = if is_data { flow.route.is_some() } else { flow.ack_route.is_some() };
        if routes.is_empty() && !is_named {
            let hash = self.hash(2 * number as u64 + u64::from(!is_data));
            for (time, routing) in &mut *self.later {
                if let Some(route) = routing.route(src, dst, hash.clone()) {
                    routes.push((*time, route));
                }
            }
        }
        let mut further: Vec<Box<[LinkId]>> = Vec::new();
        let mut moves = Vec::new();
        let mut present = 0;
        for (time, route) in routes {
            let index = if *route == *first {
                0
            } else {
                let known = further.iter().position(|other| *other == route);
                known.unwrap_or_else(|| {
                    further.push(route);
                    further.len() - 1
                }) as u32
                    + 1
            };
            if index != present {
                moves.push((time, index));
                present = index;
            }
        }
        Some((further.into(), moves.into()))
    }

    /// All paths between two nodes but the first, which becomes the route; none where the route is given.
    fn spray(
        &mut self,
        route: &mut Box<[LinkId]>,
        is_given: bool,
        [src, dst]: [NodeId; 2],
        path: &str,
    ) -> Option<Box<[Box<[LinkId]>]>> {
        if is_given {
            return Some(Box::default());
        }
        let Ok(mut paths) = self.routes.all(src, dst, MOST_PATHS) else {
            let [a, b] = [src, dst].map(|node| &self.layout.nodes[node.index()]);
            let message = format!(
                "there are more than {MOST_PATHS} shortest paths from \"{a}\" to \"{b}\", too many to spray \
                 packets over; expected equal_paths = \"hash\" or a smaller network"
            );
            self.wrong(path, message);
            return None;
        };
        if !paths.is_empty() {
            *route = paths.remove(0);
        }
        Some(paths.into())
    }

    fn hosts(&mut self, flow: &Flow, ends: Ends, path: &str) -> Option<(NodeId, NodeId)> {
        let pair = match ends {
            Ends::Back { pair } => {
                let ends = self.hosts(flow, Ends::Described { pair }, path);
                return ends.map(|(src, dst)| (dst, src));
            }
            Ends::Nowhere => return None,
            Ends::Drawn(src, dst) => return Some((src, dst)),
            Ends::Described { pair } => pair,
        };
        match (pair, &flow.src, &flow.dst) {
            (Some(pair), None, None) => {
                let ends = self.layout.pairs.get(pair as usize);
                if ends.is_none() {
                    let message = match self.layout.pairs.len() {
                        0 => "needs a standard shape, expected src and dst on this network"
                            .to_owned(),
                        n => format!("is {pair}, expected 0 to {}", n - 1),
                    };
                    self.wrong(format!("{path}.pair"), message);
                }
                ends.copied()
            }
            (None, Some(src), Some(dst)) => {
                let src = self.node(src, || format!("{path}.src"));
                let dst = self.node(dst, || format!("{path}.dst"));
                let (src, dst) = (src?, dst?);
                if src == dst {
                    self.wrong(format!("{path}.dst"), "is the same node as src, expected another");
                    return None;
                }
                Some((src, dst))
            }
            _ => {
                self.wrong(path, "must say where it goes: expected either pair, or src and dst");
                None
            }
        }
    }

    pub(super) fn node(&mut self, name: &str, path: impl FnOnce() -> String) -> Option<NodeId> {
        let all = || self.layout.nodes.iter().map(String::as_str);
        let ids = || all().zip((0..).map(NodeId)).collect();
        if let Some(&id) = self.names.get_or_init(ids).get(name) {
            return Some(id);
        }
        let names: Vec<&str> = all().collect();
        let hint = if names.len() <= 12 { suggestion(name, &names) } else { near(name, &names) };
        self.wrong(path(), format!("there is no node \"{name}\"; {hint}"));
        None
    }

    /// What decides between equal paths for a direction of a flow, if they are not all the first.
    fn hash(&self, direction: u64) -> Option<Stream> {
        let is_hashed = match self.scenario.equal_paths {
            Some(choice) => choice == EqualPaths::Hash,
            None => self.layout.has_equal_paths,
        };
        is_hashed.then(|| Stream::new(self.scenario.seed, Purpose::Path, direction))
    }

    fn route(
        &mut self,
        names: Option<&Vec<String>>,
        [src, dst]: [NodeId; 2],
        hash: Option<Stream>,
        path: &str,
        key: &str,
    ) -> Option<Box<[LinkId]>> {
        let Some(names) = names else {
            let shortest = self.routes.route(src, dst, hash);
            if shortest.is_none() {
                let (a, b) = (&self.layout.nodes[src.index()], &self.layout.nodes[dst.index()]);
                let message = format!(
                    "there is no way from \"{a}\" to \"{b}\"; expected a connected network"
                );
                self.wrong(path, message);
            }
            return shortest;
        };
        let nodes: Vec<NodeId> = names
            .iter()
            .enumerate()
            .map_while(|(i, n)| self.node(n, || format!("{path}.{key}[{i}]")))
            .collect();
        if nodes.len() < names.len() {
            return None;
        }
        if nodes.first() != Some(&src) || nodes.last() != Some(&dst) {
            let (a, b) = (&self.layout.nodes[src.index()], &self.layout.nodes[dst.index()]);
            let message = format!("must begin at \"{a}\" and end at \"{b}\"");
            self.wrong(format!("{path}.{key}"), message);
            return None;
        }
        let mut links = Vec::with_capacity(nodes.len());
        for (i, pair) in nodes.windows(2).enumerate() {
            let Some(link) = self.routes.link(pair[0].0, pair[1].0) else {
                self.wrong(
                    format!("{path}.{key}[{}]", i + 1),
                    format!("there is no link from \"{}\" to \"{}\"", names[i], names[i + 1]),
                );
                return None;
            };
            links.push(link);
        }
        Some(links.into())
    }
}

fn near(name: &str, names: &[&str]) -> String {
    match crate::error::nearest(name, names.iter().copied()) {
        Some(n) => format!("did you mean \"{n}\"?"),
        None => format!("the network has {} nodes, among them \"{}\"", names.len(), names[0]),
    }
}
