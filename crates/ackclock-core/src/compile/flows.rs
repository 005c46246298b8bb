//! Flows of the plan: copies made, hosts found, routes laid, TCP settings completed.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::{PlanFlow, PlanSender};
use super::routes::Routes;
use crate::error::{Problem, suggestion};
use crate::ids::{LinkId, NodeId};
use crate::registry::{Spec, build_or_tell_all};
use crate::rng::{Purpose, Stream};
use crate::scenario::{Era, Flow, Scenario};
use crate::tcp::TcpConfig;
use crate::topology::Layout;
use crate::traffic::{arrivals, pattern};
use crate::units::{Bytes, Span, Time};

/// Where a flow goes: its ends, and its ways there and back.
#[derive(Default)]
struct Way {
    src: NodeId,
    dst: NodeId,
    route: Vec<LinkId>,
    ack_route: Vec<LinkId>,
}

/// Most flows of a scenario.
const MAX_FLOWS: usize = 2_000_000;

struct Context<'a> {
    scenario: &'a Scenario,
    layout: &'a Layout,
    names: &'a FxHashMap<&'a str, u32>,
    routes: &'a mut Routes,
    problems: &'a mut Vec<Problem>,
    base: TcpConfig,
    /// What is wrong with it: told once, and not of every flow again.
    base_problems: Vec<(&'static str, String)>,
    ids: FxHashSet<Arc<str>>,
    flows: Vec<PlanFlow>,
    /// Whether all flows are among these: where one is wrong its copies are not made.
    all: bool,
}

/// All flows, and whether there are no more. One with a problem is among them, for what else may be wrong
/// with it, but without its values that are wrong: without routes, mostly.
pub(super) fn flows(
    scenario: &Scenario,
    layout: &Layout,
    names: &FxHashMap<&str, u32>,
    routes: &mut Routes,
    problems: &mut Vec<Problem>,
) -> (Vec<PlanFlow>, bool) {
    let base = TcpConfig::of_era(scenario.era).with(&scenario.tcp);
    let base_problems = tcp_problems(&base);
    for (key, message) in &base_problems {
        problems.push(Problem::new(format!("tcp.{key}"), message));
    }
    let mut context = Context {
        scenario,
        layout,
        names,
        routes,
        problems,
        base,
        base_problems,
        ids: FxHashSet::default(),
        flows: Vec::new(),
        all: true,
    };
    for (i, flow) in scenario.flows.iter().enumerate() {
        let (before, made) = (context.problems.len(), context.flows.len());
        context.listed(flow, i);
        let alone = flow.count.is_none() && context.flows.len() == made + 1;
        context.all &= alone || context.problems.len() == before;
    }
    for (i, traffic) in scenario.traffic.iter().enumerate() {
        let before = context.problems.len();
        context.generated(&traffic.generator, &traffic.flow, i);
        context.all &= context.problems.len() == before;
    }
    context.flows.shrink_to_fit();
    (context.flows, context.all)
}

impl Context<'_> {
    fn wrong(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    /// A flow of the list, with its copies.
    fn listed(&mut self, flow: &Flow, place: usize) {
        let path = &format!("flows[{place}]");
        let count = flow.count.unwrap_or(1);
        if count == 0 || count as usize > MAX_FLOWS || self.flows.len() + count as usize > MAX_FLOWS
        {
            self.wrong(
                format!("{path}.count"),
                format!("is {count}, expected 1 to {MAX_FLOWS} flows in all"),
            );
            return self.without_route(flow, path);
        }
        if count > 1 && flow.pair.is_none() && flow.src.is_none() && flow.between.is_none() {
            self.wrong(path, "has count but neither pair, between, nor src and dst");
            return self.without_route(flow, path);
        }
        let drawn = match &flow.between {
            Some(pattern) => match self.drawn(pattern, flow, place) {
                Some(drawn) => drawn,
                None => return self.without_route(flow, path),
            },
            None => Vec::new(),
        };
        let count = if flow.between.is_some() { drawn.len() as u32 } else { count };
        for copy in 0..count {
            let mut one = flow.clone();
            one.pair = flow.pair.map(|p| p.saturating_add(copy));
            one.start = flow.start + flow.stagger.unwrap_or_default() * u64::from(copy);
            if let Some((src, dst)) = drawn.get(copy as usize) {
                (one.src, one.dst) = (Some(src.clone()), Some(dst.clone()));
            }
            if count > 1 {
                one.id = flow.id.as_ref().map(|id| format!("{id}{copy}"));
            }
            let before = self.problems.len();
            self.add(&one, path);
            if self.problems.len() > before {
                return; // the other copies would say the same
            }
        }
    }

    /// The ends of the flows of a traffic pattern.
    fn drawn(&mut self, spec: &Spec, flow: &Flow, place: usize) -> Option<Vec<(String, String)>> {
        let at = format!("flows[{place}].between");
        if flow.pair.is_some() || flow.src.is_some() || flow.dst.is_some() {
            self.wrong(at, "draws both ends; expected neither pair, src nor dst beside it");
            return None;
        }
        let build = |spec: &Spec| pattern::build(spec, &pattern::PatternEnv, &at);
        let pattern = match build_or_tell_all(spec, build) {
            Ok(pattern) => pattern,
            Err(problems) => {
                self.problems.extend(problems);
                return None;
            }
        };
        let hosts = self.layout.hosts();
        if hosts.len() < 2 {
            self.wrong(at, "needs two hosts; expected a network of two nodes at least");
            return None;
        }
        let mut rng = Stream::new(self.scenario.seed, Purpose::Pattern, place as u64);
        let demands = pattern.draw(hosts.len() as u32, flow.count, &mut rng);
        if self.flows.len() + demands.len() > MAX_FLOWS {
            self.wrong(
                at,
                format!("makes {} flows, expected {MAX_FLOWS} flows in all", demands.len()),
            );
            return None;
        }
        let name = |host: u32| hosts[host as usize].to_owned();
        Some(demands.iter().map(|d| (name(d.from), name(d.to))).collect())
    }

    /// The flows that a generator makes up to the end of the run.
    fn generated(&mut self, generator: &Spec, template: &Flow, index: usize) {
        let path = format!("traffic[{index}]");
        let of_flow = &format!("{path}.flow");
        if template.between.is_some() {
            self.wrong(
                format!("{of_flow}.between"),
                "is not for the flows of a generator; expected it in flows",
            );
            return self.without_route(template, of_flow);
        }
        let (env, at) =
            (arrivals::ArrivalsEnv { era: self.scenario.era }, format!("{path}.generator"));
        let build = |spec: &Spec| arrivals::build(spec, &env, &at);
        let mut arrivals = match build_or_tell_all(generator, build) {
            Ok(arrivals) => arrivals,
            Err(problems) => {
                self.problems.extend(problems);
                return self.without_route(template, of_flow);
            }
        };
        let mut rng = Stream::new(self.scenario.seed, Purpose::Traffic, index as u64);
        let pairs = self.layout.pairs.len() as u32;
        let has_source = template.source.is_some();
        // A generator may draw sizes unasked.
        let params = generator.params();
        let asks_for_sizes = ["sizes", "load", "arrivals"].iter().any(|&k| params.get(k).is_some());
        let mut made = 0u32;
        while let Some(arrival) = arrivals.next(&mut rng) {
            if arrival.at.0 > self.scenario.duration.0 {
                break;
            }
            if self.flows.len() >= MAX_FLOWS {
                self.wrong(format!("{path}.generator"), format!("makes more than {MAX_FLOWS} flows; expected fewer arrivals or a shorter run"));
                return;
            }
            if has_source && arrival.size.is_some() && asks_for_sizes {
                return self.wrong(at, "draws sizes, which have no meaning beside flow.source: an unresponsive sender sends until its stop");
            }
            if let Some(pair) = arrival.pair
                && pair >= pairs
            {
                let most = pairs.checked_sub(1).map_or_else(
                    || "a standard shape, with pairs".to_owned(),
                    |last| format!("0 to {last}"),
                );
                return self.wrong(at, format!("names pair {pair}, expected {most}"));
            }
            let mut one = template.clone();
            one.start = template.start + Span(arrival.at.0);
            one.size = arrival.size.filter(|_| !has_source).or(template.size);
            if template.src.is_none() && template.pair.is_none() {
                // Arrivals that name no pair take the pairs in turn.
                one.pair = arrival.pair.or((pairs > 0).then(|| made % pairs));
            }
            one.id = template.id.as_ref().map(|id| format!("{id}{made}"));
            made += 1;
            let before = self.problems.len();
            self.add(&one, of_flow);
            if self.problems.len() > before {
                return;
            }
        }
    }

    /// Adds a flow.
    fn add(&mut self, flow: &Flow, path: &str) {
        self.push(flow, path, |context| context.way(flow, path));
    }

    /// Adds a flow of which it is not known where it goes.
    fn without_route(&mut self, flow: &Flow, path: &str) {
        self.push(flow, path, |_| None);
    }

    /// Where a flow goes.
    fn way(&mut self, flow: &Flow, path: &str) -> Option<Way> {
        let (src, dst) = self.hosts(flow, path)?;
        let route = self.route(flow.route.as_ref(), src, dst, &format!("{path}.route"));
        // Links go both ways: where there is no way out, there is none back.
        if route.is_none() && flow.route.is_none() && flow.ack_route.is_none() {
            return None;
        }
        let ack_route = self.route(flow.ack_route.as_ref(), dst, src, &format!("{path}.ack_route"));
        Some(Way { src, dst, route: route?, ack_route: ack_route? })
    }

    fn push(&mut self, flow: &Flow, path: &str, way: impl FnOnce(&mut Self) -> Option<Way>) {
        let before = self.problems.len();
        // Flows that were wrong count too, so that those after them keep their names.
        let number = self.ids.len();
        let name: Arc<str> =
            flow.id.as_deref().map_or_else(|| format!("f{number}").into(), Into::into);
        if !self.ids.insert(Arc::clone(&name)) {
            self.wrong(
                format!("{path}.id"),
                format!("\"{name}\" is the name of an earlier flow; expected a name of its own"),
            );
        }
        let tcp = self.base.clone().with(&flow.tcp);
        self.settings(flow, &tcp, path);
        let way = way(self);
        let sound = self.problems.len() == before && way.is_some();
        let Way { src, dst, route, ack_route } = way.unwrap_or_default();
        let tcp = Arc::new(if sound { tcp } else { TcpConfig::of_era(self.scenario.era) });
        let sender = Arc::new(self.sender(flow));
        let last = self.flows.last();
        let tcp = last.filter(|f| f.tcp == tcp).map_or(tcp, |f| Arc::clone(&f.tcp));
        let sender = last.filter(|f| f.sender == sender).map_or(sender, |f| Arc::clone(&f.sender));
        let path =
            last.filter(|f| *f.path == *path).map_or_else(|| path.into(), |f| Arc::clone(&f.path));
        let late = flow.start_jitter.map_or(Span::ZERO, |jitter| {
            let mut rng = Stream::new(self.scenario.seed, Purpose::Start, number as u64);
            Span((jitter.0 as f64 * rng.uniform()) as u64)
        });
        self.flows.push(PlanFlow {
            name,
            path,
            src,
            dst,
            start: Time(flow.start.0) + late,
            stop: flow.stop.filter(|_| sound).map(|s| Time(s.0)),
            size: if flow.every.is_some() { None } else { flow.size },
            bursts: flow.size.zip(flow.every).filter(|_| sound),
            sender,
            tcp,
            route: route.into(),
            ack_route: ack_route.into(),
        });
    }

    fn hosts(&mut self, flow: &Flow, path: &str) -> Option<(NodeId, NodeId)> {
        match (&flow.pair, &flow.src, &flow.dst) {
            (Some(pair), None, None) => {
                let Some((src, dst)) = self.layout.pairs.get(*pair as usize) else {
                    let message = match self.layout.pairs.len() {
                        0 => "needs a standard shape, expected src and dst on this network"
                            .to_owned(),
                        n => format!("is {pair}, expected 0 to {}", n - 1),
                    };
                    self.wrong(format!("{path}.pair"), message);
                    return None;
                };
                Some((NodeId(self.names[src.as_str()]), NodeId(self.names[dst.as_str()])))
            }
            (None, Some(src), Some(dst)) => {
                let src = self.node(src, &format!("{path}.src"));
                let dst = self.node(dst, &format!("{path}.dst"));
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

    fn node(&mut self, name: &str, path: &str) -> Option<NodeId> {
        if let Some(&id) = self.names.get(name) {
            return Some(NodeId(id));
        }
        let names: Vec<&str> = self.layout.nodes.iter().map(String::as_str).collect();
        let hint = if names.len() <= 12 { suggestion(name, &names) } else { near(name, &names) };
        self.wrong(path, format!("there is no node \"{name}\"; {hint}"));
        None
    }

    fn route(
        &mut self,
        given: Option<&Vec<String>>,
        src: NodeId,
        dst: NodeId,
        path: &str,
    ) -> Option<Vec<LinkId>> {
        let Some(given) = given else {
            let found = self.routes.route(src, dst);
            if found.is_none() {
                let (a, b) = (&self.layout.nodes[src.index()], &self.layout.nodes[dst.index()]);
                self.problems.push(Problem::new(
                    path.rsplit_once('.').map_or(path, |p| p.0),
                    format!(
                        "there is no way from \"{a}\" to \"{b}\"; expected a connected network"
                    ),
                ));
            }
            return found;
        };
        let nodes: Vec<NodeId> = given
            .iter()
            .enumerate()
            .map_while(|(i, n)| self.node(n, &format!("{path}[{i}]")))
            .collect();
        if nodes.len() < given.len() {
            return None;
        }
        if nodes.first() != Some(&src) || nodes.last() != Some(&dst) {
            let (a, b) = (&self.layout.nodes[src.index()], &self.layout.nodes[dst.index()]);
            let message = format!("must begin at \"{a}\" and end at \"{b}\"");
            self.wrong(path, message);
            return None;
        }
        let mut links = Vec::with_capacity(nodes.len());
        for (i, pair) in nodes.windows(2).enumerate() {
            let Some(link) = self.routes.link(pair[0].0, pair[1].0) else {
                self.wrong(
                    format!("{path}[{}]", i + 1),
                    format!("there is no link from \"{}\" to \"{}\"", given[i], given[i + 1]),
                );
                return None;
            };
            links.push(link);
        }
        Some(links)
    }

    fn settings(&mut self, flow: &Flow, tcp: &TcpConfig, path: &str) {
        for problem in tcp_problems(tcp) {
            if !self.base_problems.contains(&problem) {
                self.wrong(format!("{path}.tcp.{}", problem.0), problem.1);
            }
        }
        if flow.size == Some(Bytes(0)) {
            self.wrong(format!("{path}.size"), "is zero, expected at least one byte");
        }
        if let Some(stop) = flow.stop
            && stop <= flow.start + flow.start_jitter.unwrap_or_default()
        {
            self.wrong(format!("{path}.stop"), "is not later than start");
        }
        if let Some(every) = flow.every {
            if every == Span::ZERO {
                self.wrong(format!("{path}.every"), "is zero, expected some time");
            }
            if flow.size.is_none() {
                self.wrong(format!("{path}.every"), "needs size beside it, what is handed over");
            }
            if self.scenario.era != Era::Rfc {
                self.wrong(
                    format!("{path}.every"),
                    "is for era rfc; flows of the other eras, ns-2's, never pause",
                );
            }
        }
        if flow.source.is_some() {
            for (key, given) in [
                ("every", flow.every.is_some()),
                ("cc", flow.cc.is_some()),
                ("recovery", flow.recovery.is_some()),
                ("slow_start", flow.slow_start.is_some()),
                ("size", flow.size.is_some()),
            ] {
                if given {
                    self.wrong(
                        format!("{path}.{key}"),
                        "has no meaning beside source: an unresponsive sender has no TCP and \
                         sends until its stop",
                    );
                }
            }
        }
    }

    fn sender(&self, flow: &Flow) -> PlanSender {
        if let Some(source) = &flow.source {
            return PlanSender::Source(source.clone());
        }
        let rfc = self.scenario.era == Era::Rfc;
        // Today's hosts run CUBIC over SACK; ns-2's Agent/TCP users of the time AIMD over Reno.
        let cc = flow.cc.clone().unwrap_or_else(|| if rfc { "cubic" } else { "aimd" }.into());
        let recovery =
            flow.recovery.clone().unwrap_or_else(|| if rfc { "sack" } else { "reno" }.into());
        let slow_start = flow.slow_start.clone().unwrap_or_else(|| "standard".into());
        let mut ns2 = self.scenario.tcp.ns2.clone();
        if let Some(own) = &flow.tcp.ns2 {
            ns2.get_or_insert_default().extend(own.clone());
        }
        let control = Arc::from(cc.kind());
        PlanSender::Tcp { cc, recovery, slow_start, ns2, control }
    }
}

/// What is wrong with TCP settings: keys and sentences.
fn tcp_problems(tcp: &TcpConfig) -> Vec<(&'static str, String)> {
    let mut problems = Vec::new();
    let mut wrong = |key, message: String| problems.push((key, message));
    if tcp.mss == 0 || tcp.wire_size() > u32::from(u16::MAX) - 12 {
        let (mss, header) = (tcp.mss, tcp.header);
        wrong(
            "mss",
            format!("is {mss} B with {header} B of headers, expected 1 to 65523 together"),
        );
    }
    if tcp.ack_size == 0 || tcp.ack_size > 65_000 {
        wrong("ack_size", format!("is {} B, expected 1 to 65000", tcp.ack_size));
    }
    for (key, value) in [
        ("initial_window", tcp.initial_window),
        ("receiver_window", tcp.receiver_window),
        ("delayed_ack", tcp.delayed_ack),
    ] {
        if value == 0 {
            wrong(key, "is zero, expected at least 1".to_owned());
        }
    }
    if tcp.min_rto > tcp.max_rto {
        wrong("min_rto", "is more than max_rto".to_owned());
    }
    if tcp.tick.0 == 0 {
        wrong("tick", "is zero, expected a clock granularity such as \"1 ms\"".to_owned());
    }
    problems
}

fn near(name: &str, names: &[&str]) -> String {
    match crate::error::nearest(name, names.iter().copied()) {
        Some(n) => format!("did you mean \"{n}\"?"),
        None => format!("the network has {} nodes, among them \"{}\"", names.len(), names[0]),
    }
}
