//! What is possible, but hardly meant: packets that no link of their way takes, flows that never start,
//! weights of acknowledgements, slow start rules that never act, counts of marks that wrap.

use std::collections::BTreeMap;

use serde_json::Value;

use super::plan::{Direction, Plan, PlanFlow, PlanSender};
use crate::cc;

/// One sentence for each kind of doubt and place of it.
pub(super) fn warnings(plan: &Plan) -> Vec<String> {
    let mut warnings = oversize(plan);
    warnings.extend(weights(plan));
    warnings.extend(idle_slow_start(plan));
    warnings.extend(counts_that_wrap(plan));
    let late: Vec<&PlanFlow> = plan.flows.iter().filter(|f| f.start >= plan.duration).collect();
    if let Some(first) = late.first() {
        warnings.push(format!(
            "{} at {} s, when the run of {} s is over",
            some(first, late.len(), "starts", "start"),
            first.start.seconds(),
            plan.duration.seconds(),
        ));
    }
    warnings
}

/// Flows whose full packets, or acknowledgements, are larger than a link's MTU: they are dropped there, however
/// often they are sent.
fn oversize(plan: &Plan) -> Vec<String> {
    let mut oversized: BTreeMap<(usize, u32), (&PlanFlow, usize)> = BTreeMap::new();
    for flow in &plan.flows {
        let [data, answer] = flow.packet_sizes();
        for (way, size) in [(Direction::Data, data), (Direction::Acks, answer)] {
            let mtu = |link: usize| plan.links[link].settings.mtu;
            let narrow =
                flow.paths(way).flatten().map(|link| link.index()).min_by_key(|&link| mtu(link));
            if let Some(link) = narrow
                && size > u32::from(mtu(link))
            {
                oversized.entry((link, size)).or_insert((flow, 0)).1 += 1;
            }
        }
    }
    let sentence = |((link, size), (flow, count)): (&(usize, u32), &(&PlanFlow, usize))| {
        let link = &plan.links[*link];
        format!(
            "{} packets of {size} B, more than the MTU of {} B of link {}: all are dropped there",
            some(flow, *count, "sends", "send"),
            link.settings.mtu,
            link.name(&plan.nodes),
        )
    };
    oversized.iter().map(sentence).collect()
}

/// Rules that act in the first slow start only, which they know by an infinite ssthresh.
const FIRST_SLOW_START: [&str; 2] = ["hystart++", "search"];

/// Flows whose first ssthresh switches their slow start rule off.
fn idle_slow_start(plan: &Plan) -> Option<String> {
    let rule = |flow: &PlanFlow| match &*flow.sender {
        PlanSender::Tcp { slow_start, .. } | PlanSender::Quic { slow_start, .. } => {
            FIRST_SLOW_START.into_iter().find(|&name| slow_start.kind() == name)
        }
        _ => None,
    };
    let idle = |flow: &&PlanFlow| rule(flow).is_some() && flow.tcp.initial_ssthresh.is_finite();
    let flows: Vec<&PlanFlow> = plan.flows.iter().filter(idle).collect();
    let first = flows.first()?;
    Some(format!(
        "{} a first ssthresh of {} segments, with which slow_start = \"{}\" never acts: it is for a slow start without one",
        some(first, flows.len(), "has", "have"),
        first.tcp.initial_ssthresh,
        rule(first)?,
    ))
}

/// Most packets of which one acknowledgement's field of three bits says how many were marked (RFC 9768 section 3.2.2.5.1).
const MOST_COUNTED: u32 = 7;

/// Flows over TCP whose acknowledgements may cover more packets than AccECN's field counts: the sender takes all that may have been
/// marked for marked.
fn counts_that_wrap(plan: &Plan) -> Option<String> {
    let wraps = |flow: &&PlanFlow| {
        let PlanSender::Tcp { cc, .. } = &*flow.sender else { return false };
        let counts = || {
            let env = plan.control_env(flow, flow.tcp.wire_size(), plan.era);
            cc::build(cc, &env, &flow.path).is_ok_and(|control| control.counts_marks())
        };
        flow.tcp.delayed_ack > MOST_COUNTED && (flow.tcp.accecn || counts())
    };
    let flows: Vec<&PlanFlow> = plan.flows.iter().filter(wraps).collect();
    let first = flows.first()?;
    Some(format!(
        "{} one acknowledgement for {} packets, and accurate ECN, whose counter says up to {MOST_COUNTED} marks: more packets \
         count as marked though none was; expected delayed_ack of at most {MOST_COUNTED}",
        some(first, flows.len(), "has", "have"),
        first.tcp.delayed_ack
    ))
}

/// Weights as one for each flow would be written, where data and acknowledgements are separate classes.
fn weights(plan: &Plan) -> Option<String> {
    if plan.keys.first() != Some(&[0, 1]) {
        return None;
    }
    // Every other weight is of acknowledgements; if all of these are 1, that is intended.
    let (link, list) = plan.links.iter().find_map(|link| {
        let params = link.settings.qdisc.params();
        let Some(Value::Array(weights)) = params.get("weights") else { return None };
        let is_one = |weight: &Value| weight.as_f64() == Some(1.0);
        let plain = weights.iter().skip(1).step_by(2).all(is_one);
        (!plain && weights.len() <= plan.flows.len()).then(|| (link, weights.clone()))
    })?;
    let streams = ["data", "acknowledgements"];
    let examples: Vec<String> = (list.iter().enumerate().take(4))
        .map(|(i, w)| format!("{w} to the {} of {}", streams[i % 2], plan.flows[i / 2].name))
        .collect();
    Some(format!(
        "the weights of link {} go to classes, of which each flow has two: {}{}; with classes = \"flow\" \
         they go to flows",
        link.name(&plan.nodes),
        examples.join(", "),
        if list.len() > examples.len() { ", and so on" } else { "" },
    ))
}

/// The flows of which this is the first, and what they do.
fn some(first: &PlanFlow, count: usize, singular: &str, many: &str) -> String {
    match count {
        1 => format!("flow {} {singular}", first.name),
        _ => format!("{count} flows, the first of them {}, {many}", first.name),
    }
}
