//! Flows of the plan: copies made, hosts found, routes laid, TCP settings completed.

mod hosts;
mod multipath;
mod settings;
mod waits;
mod ways;

use std::cell::OnceCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::{PlanConnection, PlanFlow, PlanJob, PlanSender, PlanWait};
use super::routes::Routes;
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Spec;
use crate::rng::{Purpose, Stream};
use crate::scenario::{Flow, Scenario, Traffic};
use crate::tcp::{Supply, TcpConfig};
use crate::topology::Layout;
use crate::traffic::pattern::Transfer;
use crate::traffic::{arrivals, pattern};
use crate::units::{Bytes, Span, Time};
use settings::tcp_problems;
use waits::Named;
use ways::{Ends, Way};

/// A flow as it is described, and what all its copies have in common.
struct Definition<'a> {
    flow: &'a Flow,
    path: Arc<str>,
    tcp: Arc<TcpConfig>,
    sender: Arc<PlanSender>,
}

/// What distinguishes a copy of a flow.
struct Instance {
    id: Option<String>,
    ends: Ends,
    start: Span,
    size: Option<Bytes>,
    /// What its application hands over turn by turn; empty: all at once.
    turns: Vec<(Bytes, Span)>,
}

/// What a pattern has drawn: the ends of its flows and, where it decides on them, their transfers.
#[derive(Default)]
struct Drawn {
    pairs: Vec<(NodeId, NodeId)>,
    transfers: Vec<Transfer>,
}

/// Most flows of a scenario.
pub(crate) const MAX_FLOWS: usize = 2_000_000;

struct Context<'a> {
    scenario: &'a Scenario,
    layout: &'a Layout,
    /// Nodes by name, built at the first look-up.
    names: OnceCell<FxHashMap<&'a str, NodeId>>,
    routes: &'a mut Routes,
    /// Routing from each time on at which it notices a change of the network.
    later: &'a mut [(Time, Routes)],
    problems: &'a mut Vec<Problem>,
    base: TcpConfig,
    /// What is wrong with it: reported once, not for every flow.
    base_problems: Vec<(&'static str, String)>,
    ids: FxHashSet<Arc<str>>,
    flows: Vec<PlanFlow>,
    waits: Vec<PlanWait>,
    jobs: Vec<PlanJob>,
    connections: Vec<PlanConnection>,
    /// By name, what others may wait for.
    named: FxHashMap<Arc<str>, Named>,
    /// Whether all flows are among these: where one is wrong its copies are not made.
    all: bool,
}

/// Flows, and what they wait for.
pub(super) struct FlowPlan {
    pub(super) flows: Vec<PlanFlow>,
    /// Whether there are no more.
    pub(super) all: bool,
    pub(super) waits: Vec<PlanWait>,
    pub(super) jobs: Vec<PlanJob>,
    pub(super) connections: Vec<PlanConnection>,
}

/// All flows, and whether there are no more. One with a problem is among them, for what else may be wrong
/// with it, but without its values that are wrong: without routes, mostly.
pub(super) fn flows(
    scenario: &Scenario,
    layout: &Layout,
    routes: &mut Routes,
    later: &mut [(Time, Routes)],
    problems: &mut Vec<Problem>,
) -> FlowPlan {
    let base = TcpConfig::of_era(scenario.era).with(&scenario.tcp);
    let base_problems = tcp_problems(&base);
    for (key, message) in &base_problems {
        problems.push(Problem::new(format!("tcp.{key}"), message));
    }
    let mut context = Context {
        scenario,
        layout,
        names: OnceCell::new(),
        routes,
        later,
        problems,
        base,
        base_problems,
        ids: FxHashSet::default(),
        flows: Vec::new(),
        waits: Vec::new(),
        jobs: Vec::new(),
        connections: Vec::new(),
        named: FxHashMap::default(),
        all: true,
    };
    for (i, flow) in scenario.flows.iter().enumerate() {
        let (before, count_before) = (context.problems.len(), context.flows.len());
        context.add_listed(flow, i);
        let alone = flow.count.is_none() && context.flows.len() == count_before + 1;
        context.all &= alone || context.problems.len() == before;
    }
    for (i, traffic) in scenario.traffic.iter().enumerate() {
        let before = context.problems.len();
        context.add_generated(traffic, i);
        context.all &= context.problems.len() == before;
    }
    context.flows.shrink_to_fit();
    context.waits.sort_unstable_by_key(|wait| (wait.end, wait.flow));
    let Context { flows, all, waits, jobs, connections, .. } = context;
    FlowPlan { flows, all, waits, jobs, connections }
}

impl Context<'_> {
    fn wrong(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    /// A flow of the list, with its copies.
    fn add_listed(&mut self, flow: &Flow, index: usize) {
        let path = &format!("flows[{index}]");
        let definition = self.definition(flow, path);
        let count = flow.count.unwrap_or(1);
        if count as usize > MAX_FLOWS || self.flows.len() + count as usize > MAX_FLOWS {
            self.wrong(
                format!("{path}.count"),
                format!("is {count}, expected at most {MAX_FLOWS} flows in all"),
            );
            return self.without_route(&definition);
        }
        // A sweep over numbers of flows may begin without any.
        if count == 0 {
            return;
        }
        if flow.hosts.is_some() && flow.between.is_none() {
            self.wrong(format!("{path}.hosts"), "has no effect without between; expected both");
            return self.without_route(&definition);
        }
        if count > 1 && flow.pair.is_none() && flow.src.is_none() && flow.between.is_none() {
            self.wrong(path, "has count but neither pair, between, nor src and dst");
            return self.without_route(&definition);
        }
        let Drawn { pairs, transfers } = match &flow.between {
            Some(pattern) => match self.draw_ends(pattern, flow, index) {
                Some(drawn) => drawn,
                None => return self.without_route(&definition),
            },
            None => Drawn::default(),
        };
        let count = if flow.between.is_some() { pairs.len() as u32 } else { count };
        let first = self.flows.len() as u32;
        for copy in 0..count {
            let described = Ends::Described { pair: flow.pair.map(|p| p.saturating_add(copy)) };
            let id = |id: &String| if count > 1 { format!("{id}{copy}") } else { id.clone() };
            let before = self.problems.len();
            let instance = Instance {
                id: flow.id.as_ref().map(id),
                ends: pairs
                    .get(copy as usize)
                    .map_or(described, |&(src, dst)| Ends::Drawn(src, dst)),
                start: flow.start + flow.stagger.unwrap_or_default() * u64::from(copy),
                size: flow.size,
                turns: Vec::new(),
            };
            let instance = match transfers.get(copy as usize) {
                Some(Transfer { size, start, .. }) => {
                    Instance { size: Some(*size), start: instance.start + *start, ..instance }
                }
                None => instance,
            };
            self.add(&definition, instance);
            if self.problems.len() > before {
                return; // the other copies would say the same
            }
        }
        self.wait(&definition, first, &transfers);
    }

    /// A traffic pattern, and the hosts that it draws from: those of a flow at `path`.
    fn pattern(
        &mut self,
        spec: &Spec,
        flow: &Flow,
        path: &str,
    ) -> Option<(Box<dyn pattern::Pattern>, Vec<NodeId>)> {
        let pattern_path = format!("{path}.between");
        if flow.pair.is_some() || flow.src.is_some() || flow.dst.is_some() {
            self.wrong(
                pattern_path,
                "draws both ends; expected neither pair, src nor dst beside it",
            );
            return None;
        }
        let pattern = match pattern::build(spec, &pattern::PatternEnv, &pattern_path) {
            Ok(pattern) => pattern,
            Err(problems) => {
                self.problems.extend(problems);
                return None;
            }
        };
        let hosts = self.hosts_of_pattern(flow.hosts.as_ref(), &format!("{path}.hosts"))?;
        if hosts.len() < 2 {
            self.wrong(pattern_path, "needs two hosts; expected a network of two nodes at least");
            return None;
        }
        Some((pattern, hosts))
    }

    /// The flows of a traffic pattern.
    fn draw_ends(&mut self, spec: &Spec, flow: &Flow, index: usize) -> Option<Drawn> {
        let pattern_path = format!("flows[{index}].between");
        let (pattern, hosts) = self.pattern(spec, flow, &format!("flows[{index}]"))?;
        let host_count = hosts.len() as u32;
        let too_many =
            |count: u64| format!("makes {count} flows, expected {MAX_FLOWS} flows in all");
        let count = pattern.transfer_count(host_count);
        if self.flows.len() as u64 + count > MAX_FLOWS as u64 {
            self.wrong(pattern_path, too_many(count));
            return None;
        }
        let ends = |from: u32, to: u32| (hosts[from as usize], hosts[to as usize]);
        match pattern.transfers(host_count, flow.size) {
            Err(message) => {
                self.wrong(pattern_path, message);
                return None;
            }
            Ok(Some(transfers)) => {
                let pairs = transfers.iter().map(|t| ends(t.from, t.to)).collect();
                return Some(Drawn { pairs, transfers });
            }
            Ok(None) => {}
        }
        let mut rng = Stream::new(self.scenario.seed, Purpose::Pattern, index as u64);
        let demands = pattern.draw(host_count, flow.count, &mut rng);
        if self.flows.len() + demands.len() > MAX_FLOWS {
            self.wrong(pattern_path, too_many(demands.len() as u64));
            return None;
        }
        let pairs = demands.iter().map(|d| ends(d.from, d.to)).collect();
        Some(Drawn { pairs, transfers: Vec::new() })
    }

    /// The flows that a generator makes up to the end of the run.
    fn add_generated(&mut self, traffic: &Traffic, index: usize) {
        let Traffic { generator, flow: template, stream } = traffic;
        let path = format!("traffic[{index}]");
        let of_flow = &format!("{path}.flow");
        let definition = self.definition(template, of_flow);
        if template.after.is_some() {
            self.wrong(
                format!("{of_flow}.after"),
                "is not for the flows of a generator; expected it in flows",
            );
            return self.without_route(&definition);
        }
        if template.hosts.is_some() && template.between.is_none() {
            self.wrong(format!("{of_flow}.hosts"), "has no effect without between; expected both");
            return self.without_route(&definition);
        }
        let drawn_from = match &template.between {
            Some(spec) => match self.pattern_of_arrivals(spec, template, of_flow) {
                Some(drawn_from) => Some(drawn_from),
                None => return self.without_route(&definition),
            },
            None => None,
        };
        let (env, generator_path) = (
            arrivals::ArrivalsEnv { era: self.scenario.era.of_algorithms() },
            format!("{path}.generator"),
        );
        let mut arrivals = match arrivals::build(generator, &env, &generator_path) {
            Ok(arrivals) => arrivals,
            Err(problems) => {
                self.problems.extend(problems);
                return self.without_route(&definition);
            }
        };
        let stream = stream.map_or(index as u64, u64::from);
        let mut rng = Stream::new(self.scenario.seed, Purpose::Traffic, stream);
        let pairs = self.layout.pairs.len() as u32;
        let has_source = template.source.is_some();
        // A generator may draw sizes without a parameter for them.
        let params = generator.params();
        let requires_sizes = ["sizes", "load", "arrivals"].iter().any(|&k| params.get(k).is_some());
        let too_many = || {
            format!("makes more than {MAX_FLOWS} flows; expected fewer arrivals or a shorter run")
        };
        // Not a thousandth of the expected number is chance.
        if arrivals.expected(Span(self.scenario.duration.0)) > 1.01 * MAX_FLOWS as f64 {
            self.wrong(generator_path, too_many());
            return self.without_route(&definition);
        }
        // All turns of a connection are drawn when it arrives.
        let turns = arrivals.expected_turns(Span(self.scenario.duration.0));
        if turns > 1.01 * arrivals::MOST_TURNS {
            let message = format!(
                "makes connections of {turns:.2e} turns in all, expected at most {:.0e}: fewer turns, fewer connections \
                 or a shorter run",
                arrivals::MOST_TURNS
            );
            self.wrong(format!("{generator_path}.turns"), message);
            return self.without_route(&definition);
        }
        let mut generated = 0u32;
        while let Some(arrival) = arrivals.next(&mut rng) {
            if arrival.at.0 > self.scenario.duration.0 {
                break;
            }
            if self.flows.len() >= MAX_FLOWS {
                self.wrong(generator_path, too_many());
                return;
            }
            if has_source && arrival.size.is_some() && requires_sizes {
                return self.wrong(generator_path, "draws sizes, which have no meaning beside flow.source: an unresponsive sender sends until its stop");
            }
            if let Some(pair) = arrival.pair
                && pair >= pairs
            {
                let most = pairs.checked_sub(1).map_or_else(
                    || "a standard shape, with pairs".to_owned(),
                    |last| format!("0 to {last}"),
                );
                return self.wrong(generator_path, format!("names pair {pair}, expected {most}"));
            }
            // Arrivals that name no pair take the pairs in turn.
            let in_turn = || arrival.pair.or((pairs > 0).then(|| generated % pairs));
            let is_open = template.src.is_none() && template.pair.is_none();
            let all_ends = if let Some((pattern, hosts)) = &drawn_from {
                let demands = pattern.draw(hosts.len() as u32, template.count, &mut rng);
                let ends = |d: &pattern::Demand| {
                    let (from, to) = if arrival.back { (d.to, d.from) } else { (d.from, d.to) };
                    Ends::Drawn(hosts[from as usize], hosts[to as usize])
                };
                demands.iter().map(ends).collect()
            } else {
                let pair = if is_open { in_turn() } else { template.pair };
                vec![if arrival.back { Ends::Back { pair } } else { Ends::Described { pair } }]
            };
            if self.flows.len() + all_ends.len() > MAX_FLOWS {
                self.wrong(generator_path, too_many());
                return;
            }
            for ends in all_ends {
                let instance = Instance {
                    id: template.id.as_ref().map(|id| format!("{id}{generated}")),
                    ends,
                    start: template.start + Span(arrival.at.0),
                    size: arrival.size.filter(|_| !has_source).or(template.size),
                    turns: arrival.turns.clone(),
                };
                generated += 1;
                let before = self.problems.len();
                self.add(&definition, instance);
                if self.problems.len() > before {
                    return;
                }
            }
        }
    }

    /// The pattern by which each arrival of a generator draws its flows.
    fn pattern_of_arrivals(
        &mut self,
        spec: &Spec,
        template: &Flow,
        path: &str,
    ) -> Option<(Box<dyn pattern::Pattern>, Vec<NodeId>)> {
        let (pattern, hosts) = self.pattern(spec, template, path)?;
        if let Ok(None) = pattern.transfers(hosts.len() as u32, template.size) {
            return Some((pattern, hosts));
        }
        let message = "has transfers that wait for each other, which no generator makes; expected it in flows";
        self.wrong(format!("{path}.between"), message);
        None
    }

    /// What all copies of a flow have in common.
    fn definition<'f>(&self, flow: &'f Flow, path: &str) -> Definition<'f> {
        let sender = self.sender(flow);
        let tcp = self.config(flow, &sender);
        // Mostly that of the flow described before it.
        let last = self.flows.last();
        Definition {
            flow,
            path: path.into(),
            tcp: last.filter(|f| *f.tcp == tcp).map_or_else(|| Arc::new(tcp), |f| f.tcp.clone()),
            sender: last
                .filter(|f| *f.sender == sender)
                .map_or_else(|| Arc::new(sender), |f| f.sender.clone()),
        }
    }

    /// Adds a flow of which it is not known where it goes.
    fn without_route(&mut self, definition: &Definition<'_>) {
        let Flow { id, start, size, .. } = definition.flow;
        let instance = Instance {
            id: id.clone(),
            ends: Ends::Nowhere,
            start: *start,
            size: *size,
            turns: Vec::new(),
        };
        self.add(definition, instance);
    }

    /// Adds a flow, or the subflows of a connection.
    fn add(&mut self, definition: &Definition<'_>, instance: Instance) {
        match &definition.flow.multipath {
            Some(multipath) => self.add_connection(definition, multipath, &instance),
            None => self.add_over(definition, instance, &definition.path, false),
        }
    }

    /// Adds a flow, whose route is at `way_path` of the scenario. That of a connection has no size by itself.
    fn add_over(
        &mut self,
        definition: &Definition<'_>,
        instance: Instance,
        way_path: &str,
        is_subflow: bool,
    ) {
        let Definition { flow, path, tcp, sender } = definition;
        let Instance { id, ends, start, size, turns } = instance;
        let before = self.problems.len();
        // Flows that were wrong count too, so that those after them keep their names.
        let number = self.ids.len();
        let name: Arc<str> = id.unwrap_or_else(|| format!("f{number}")).into();
        if !self.ids.insert(Arc::clone(&name)) {
            self.wrong(
                format!("{path}.id"),
                format!("\"{name}\" is the name of an earlier flow; expected an unused name"),
            );
        }
        self.settings(definition, start, size);
        let way = self.way(flow, number, ends, way_path);
        if way.as_ref().is_some_and(Way::is_sprayed) {
            self.check_sprayed_flow(definition);
        }
        let sound = self.problems.len() == before && way.is_some();
        let Way { src, dst, route, ack_route, further } = way.unwrap_or_default();
        let tcp =
            if sound { Arc::clone(tcp) } else { Arc::new(TcpConfig::of_era(self.scenario.era)) };
        let late = flow.start_jitter.map_or(Span::ZERO, |jitter| {
            let mut rng = Stream::new(self.scenario.seed, Purpose::Start, number as u64);
            Span((jitter.0 as f64 * rng.uniform()) as u64)
        });
        self.flows.push(PlanFlow {
            name,
            path: Arc::clone(path),
            src,
            dst,
            pair: match ends {
                Ends::Described { pair } | Ends::Back { pair } => pair,
                Ends::Drawn(..) | Ends::Nowhere => None,
            },
            dscp: flow.dscp.unwrap_or_default(),
            start: Time(start.0) + late,
            stop: flow.stop.filter(|_| sound).map(|s| Time(s.0)),
            size: if flow.every.is_some() || is_subflow { None } else { size },
            supply: self.supply(flow, size, turns, number).filter(|_| sound),
            sender: Arc::clone(sender),
            tcp,
            route,
            ack_route,
            further,
        });
    }
    /// How the application of a flow hands over its data, if not at once.
    fn supply(
        &self,
        flow: &Flow,
        size: Option<Bytes>,
        turns: Vec<(Bytes, Span)>,
        number: usize,
    ) -> Option<Arc<Supply>> {
        let steps = || {
            let steps = flow.app.as_ref()?;
            Some(Supply::Steps(steps.iter().map(|step| (Time(step.at.0), step.rate)).collect()))
        };
        let media = || {
            let media = flow.media.clone()?;
            Some(Supply::Media(media, self.scenario.seed, number as u64))
        };
        let bursts = size.zip(flow.every).map(|(size, every)| Supply::Bursts(size, every));
        let turns = (turns.len() > 1).then_some(Supply::Turns(turns));
        bursts.or_else(steps).or_else(media).or(turns).map(Arc::new)
    }
}
