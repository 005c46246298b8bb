//! Switches of the plan: which nodes they are, their memory, thresholds and headrooms.

use super::plan::{Plan, PlanFlow, PlanPfc, PlanSender, PlanSwitches};
use crate::cc;
use crate::era::Era;
use crate::error::Problem;
use crate::ids::LinkId;
use crate::packet::FRAME;
use crate::registry::{Range, Spec};
use crate::scenario::{Pfc, Scenario, Switches};
use crate::units::{Bytes, PS_PER_S, Span};

/// Most classes that a pause frame distinguishes (IEEE 802.1Qbb).
pub(crate) const MOST_CLASSES: usize = 8;

/// Settles the switches of a plan whose links and flows are known.
pub(super) fn settle(
    scenario: &Scenario,
    plan: &Plan,
    problems: &mut Vec<Problem>,
) -> Option<Box<PlanSwitches>> {
    let switches = scenario.switches.as_ref()?;
    let before = problems.len();
    check(switches, scenario.era, problems);
    let is_switch = find_switches(plan);
    if switches.pfc.is_some() {
        check_links(plan, problems);
    }
    if !plan.groups.is_empty() {
        let message = "do not carry multicast groups; leave out switches or groups";
        problems.push(Problem::new("switches", message));
    }
    if problems.len() > before {
        return None;
    }
    let largest = plan.flows.iter().flat_map(PlanFlow::packet_sizes).max().unwrap_or(0);
    let pfc = switches.pfc.as_ref().map(|pfc| PlanPfc {
        lossless: pfc.lossless.clone(),
        xoff: pfc.xoff.map(|bytes| bytes.0),
        xon: match (pfc.xon, pfc.xoff) {
            (Some(xon), _) => Some(xon.0),
            (None, Some(xoff)) => Some(xoff.0.saturating_sub(2 * u64::from(largest))),
            (None, None) => None,
        },
        headroom: pfc.headroom.map(|bytes| bytes.0),
        response: pfc.response,
        storm: pfc.storm(),
    });
    let needed = (0..plan.links.len()).map(|l| match &pfc {
        Some(pfc) if is_switch[plan.links[l].to.index()] => {
            headroom(plan, LinkId(l as u32), largest, pfc.response)
        }
        _ => 0,
    });
    let needed: Vec<u64> = needed.collect();
    let given_headroom = pfc.as_ref().and_then(|pfc| pfc.headroom);
    let headroom = |&needed: &u64| if needed == 0 { 0 } else { given_headroom.unwrap_or(needed) };
    Some(Box::new(PlanSwitches {
        memory: switches.memory.map(|bytes| bytes.0),
        alpha: switches.alpha.unwrap_or(1.0),
        pfc,
        is_switch,
        largest,
        headroom: needed.iter().map(headroom).collect(),
        needed,
    }))
}

/// Whether a control reads what switches note of its packets.
pub(super) fn reads_ports(plan: &Plan) -> bool {
    let mut known: Vec<&Spec> = Vec::new();
    plan.flows.iter().any(|flow| {
        let (PlanSender::Tcp { cc, .. } | PlanSender::Quic { cc, .. }) = &*flow.sender else {
            return false;
        };
        if known.contains(&cc) {
            return false;
        }
        known.push(cc);
        let env = plan.control_env(flow, flow.tcp.wire_size(), plan.era);
        cc::build(cc, &env, "").is_ok_and(|control| control.reported_packets() > 0)
    })
}

fn check(switches: &Switches, era: Era, problems: &mut Vec<Problem>) {
    let mut wrong = |path: &str, message: String| problems.push(Problem::new(path, message));
    let Switches { memory, alpha, pfc } = switches;
    if memory.is_none() && pfc.is_none() {
        wrong("switches", "sets nothing, expected memory, pfc or both".into());
    }
    if era == Era::Ns2 {
        wrong(
            "switches",
            "has no counterpart in era ns2; leave it out, or take another era".into(),
        );
    }
    if memory.is_none() && alpha.is_some() {
        wrong("switches.alpha", "is a share of a memory, expected switches.memory".into());
    }
    if let Some(pfc) = pfc {
        let Pfc { lossless, xoff, xon, .. } = pfc;
        match (xoff, xon) {
            (None, _) if memory.is_none() => wrong(
                "switches.pfc.xoff",
                "is missing, expected it where switches.memory is left out".into(),
            ),
            (None, Some(_)) => {
                wrong(
                    "switches.pfc.xon",
                    "has no X-OFF beside it, expected switches.pfc.xoff".into(),
                );
            }
            (Some(xoff), Some(xon)) if xon > xoff => {
                let message = format!("is {} B, expected at most X-OFF, {} B", xon.0, xoff.0);
                wrong("switches.pfc.xon", message);
            }
            _ => {}
        }
        if lossless.is_some() && memory.is_none() {
            wrong(
                "switches.pfc.lossless",
                "leaves classes without a limit, expected switches.memory".into(),
            );
        }
        if lossless.as_ref().is_some_and(Vec::is_empty) {
            wrong("switches.pfc.lossless", "is empty, expected the name of a queue".into());
        }
    }
    // Ranges that the schema states.
    let mut range = |path: &str, range: Range, value: Option<f64>| {
        problems.extend(value.and_then(|value| range.problem(value, || path.to_owned())));
    };
    let bytes = |bytes: Option<Bytes>| bytes.map(|bytes| bytes.0 as f64);
    range("switches.memory", Range::of::<Switches>("memory"), bytes(*memory));
    range("switches.alpha", Range::of::<Switches>("alpha"), *alpha);
    if let Some(pfc) = pfc {
        range("switches.pfc.xoff", Range::of::<Pfc>("xoff"), bytes(pfc.xoff));
        let response = Some(pfc.response.seconds());
        range("switches.pfc.response", Range::of::<Pfc>("response"), response);
        range("switches.pfc.storm_share", Range::of::<Pfc>("storm_share"), pfc.storm_share);
        let time = pfc.storm_time.map(Span::seconds);
        range("switches.pfc.storm_time", Range::of::<Pfc>("storm_time"), time);
    }
}

/// Links on which a pause does not stop what is under way within a known time.
fn check_links(plan: &Plan, problems: &mut Vec<Problem>) {
    for link in &plan.links {
        let obstacle = if link.settings.schedule.is_some() {
            "a rate that changes"
        } else if !link.settings.failures.times.is_empty() {
            "times at which it is down"
        } else if link.settings.is_impaired() {
            "impairments"
        } else {
            continue;
        };
        let message = format!(
            "cannot pause link {}, which has {obstacle}: leave one of the two out",
            link.name(&plan.nodes)
        );
        problems.push(Problem::new("switches.pfc", message));
        return;
    }
}

/// By node, whether some packets pass it on their way.
fn find_switches(plan: &Plan) -> Vec<bool> {
    let mut is_switch = vec![false; plan.nodes.len()];
    for route in plan.flows.iter().flat_map(PlanFlow::all_paths) {
        for link in route.iter().skip(1) {
            is_switch[plan.links[link.index()].from.index()] = true;
        }
    }
    is_switch
}

/// What can arrive over a link at most once a packet has exceeded X-OFF: the packet itself; what is sent while the pause
/// frame waits for a packet of the other direction, is sent, travels, and takes effect; the packet that is then being
/// sent; and what is on the wire.
///
/// ```text
/// rate (2 delay + response) + frame + 2 MTU    IEEE 802.1Qbb, annex O
/// + 1 MTU                                      packets are counted whole, when their last bit has arrived
/// ```
fn headroom(plan: &Plan, link: LinkId, largest: u32, response: Span) -> u64 {
    let (there, back) = (&plan.links[link.index()], &plan.links[link.index() ^ 1]);
    let largest = u64::from(largest);
    let waits = back.rate.transmission(Bytes(largest + u64::from(FRAME)));
    let time = there.delay + back.delay + response + waits;
    // Bytes, rounded up.
    let bytes = (u128::from(there.rate.0) * u128::from(time.0)).div_ceil(8 * u128::from(PS_PER_S));
    u64::try_from(bytes).unwrap_or(u64::MAX).saturating_add(2 * largest)
}
