//! Whether buffers hold what delay-based flows mean to keep in them.
//!
//! **Source**: M. Rodriguez-Perez et al., "The persistent congestion problem of FAST-TCP: Analysis and
//! solutions", section 4.2.1, equation (11).
//!
//! **Rule**: n flows that keep alpha segments each queue n alpha if all know the propagation delay, and
//! `alpha (n + a_2 + ... + a_n)` if they start one after another, where `a_j` solves
//! `sum over i <= j of 1 / (1 + j - i + a_i + ... + a_j) = 1`.

use std::collections::BTreeMap;

use super::plan::{Plan, PlanSender};
use crate::cc;

/// The sum is worked out for no more flows than these.
const MOST: usize = 1000;

/// What is known of the endless delay-based flows of a link.
#[derive(Default)]
struct Load {
    flows: usize,
    segments: f64,
    largest: u32,
}

/// One sentence for every link whose buffer is too small.
pub(super) fn warnings(plan: &Plan) -> Vec<String> {
    let mut kept_segments: Vec<(&crate::registry::Spec, Option<f64>)> = Vec::new();
    let mut loads: BTreeMap<usize, Load> = BTreeMap::new();
    for flow in plan.flows.iter().filter(|f| f.size.is_none() && f.stop.is_none()) {
        let (PlanSender::Tcp { cc, .. } | PlanSender::Quic { cc, .. }) = &*flow.sender else {
            continue;
        };
        let wire_size = flow.tcp.wire_size();
        let env = plan.control_env(flow, wire_size, plan.era);
        let keeps = if let Some((_, keeps)) = kept_segments.iter().find(|(spec, _)| *spec == cc) {
            *keeps
        } else {
            let keeps = cc::build(cc, &env, "").ok().and_then(|c| c.keeps_queued());
            kept_segments.push((cc, keeps));
            keeps
        };
        let narrowest = flow.route.iter().min_by_key(|link| plan.links[link.index()].rate.0);
        if let (Some(segments), Some(link)) = (keeps, narrowest) {
            let load = loads.entry(link.index()).or_default();
            load.flows += 1;
            load.segments += segments;
            load.largest = load.largest.max(wire_size);
        }
    }
    loads.iter().filter_map(|(&link, load)| warning(plan, link, load)).collect()
}

/// The sentence about a link, if its buffer is too small.
fn warning(plan: &Plan, link: usize, load: &Load) -> Option<String> {
    let link = &plan.links[link];
    let in_bytes = link.limit.bytes / u64::from(load.largest.max(1));
    let holds = u64::from(link.limit.packets).min(in_bytes);
    let extra: f64 = additional(load.flows.min(MOST)).iter().sum();
    let mean = load.segments / load.flows as f64;
    let needed = (load.segments + mean * extra).ceil() as u64;
    (holds < needed).then(|| {
        format!(
            "link {}: its buffer holds {holds} packets, but {} delay-based flow{} keep{} {:.0} \
             queued, {needed} if they start one after another; expected a buffer of {needed} \
             packets or more",
            link.name(&plan.nodes),
            load.flows,
            if load.flows == 1 { "" } else { "s" },
            if load.flows == 1 { "s" } else { "" },
            load.segments.ceil(),
        )
    })
}

/// What each of `n` flows adds to the queue beyond its own alpha, in units of alpha.
fn additional(n: usize) -> Vec<f64> {
    let mut additions = vec![0.0];
    // What flow i sees queued beyond its own estimate, the newest flow's part left out.
    let mut shares = vec![1.0_f64];
    while additions.len() < n {
        for s in &mut shares {
            *s += 1.0;
        }
        shares.push(1.0);
        // Newton from the left: the sum falls and is convex, so the steps never pass the root.
        let mut a = 0.0_f64;
        for _ in 0..60 {
            let (mut sum, mut slope) = (-1.0_f64, 0.0_f64);
            for s in &shares {
                let x = 1.0 / (s + a);
                sum += x;
                slope -= x * x;
            }
            let step: f64 = sum / slope;
            a -= step;
            if step.abs() < 1e-12 {
                break;
            }
        }
        for s in &mut shares {
            *s += a;
        }
        additions.push(a);
    }
    additions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_additions_are_those_of_the_published_model() {
        // a_2 is the golden section; the queue for nine flows of 50 is 1027.2 packets, and the
        // addition passes 2 with the tenth flow (2.094).
        let additions = additional(10);
        assert!((additions[1] - 0.618_034).abs() < 1e-6, "{additions:?}");
        let queue = 50.0 * (9.0 + additions[..9].iter().sum::<f64>());
        assert!((queue - 1027.2).abs() < 0.05, "{queue}");
        assert!(additions[8] < 2.0 && (additions[9] - 2.094).abs() < 5e-4, "{additions:?}");
    }
}
