//! When flows start that wait for others.

use super::plan::{Plan, PlanWait};
use crate::units::{Span, Time};

/// Predicts when flows start that wait for others: as soon as each of these could be complete alone on its path. They cannot
/// start earlier.
pub(super) fn predict_starts(plan: &mut Plan) {
    let mut waits: Vec<PlanWait> = plan.waits.clone();
    // All that a flow waits for has a smaller number.
    waits.sort_unstable_by_key(|wait| wait.flow);
    for of_flow in waits.chunk_by(|a, b| a.flow == b.flow) {
        let ready = of_flow.iter().map(|wait| {
            let other = &plan.flows[wait.end as usize / 2];
            let arrival = plan.ideal_arrival(other).unwrap_or(Span::ZERO);
            let is_sender = wait.end.is_multiple_of(2);
            let back = if is_sender { plan.ideal_way_back(other) } else { Span::ZERO };
            let spans = [arrival, back, wait.pause];
            spans.iter().fold(other.start.0, |sum, span| sum.saturating_add(span.0))
        });
        let ready = ready.max().unwrap_or(0);
        let number = of_flow[0].flow;
        let start = &mut plan.flows[number as usize].start;
        plan.held.push((number, *start));
        *start = Time(ready).max(*start);
    }
}
