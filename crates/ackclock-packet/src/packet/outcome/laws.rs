//! What no run can bring about: checked at the end of every run, in release builds too.
//!
//! Packets are conserved at each link (`ledger.rs`) and for each flow (`conservation.rs`), and no clock goes
//! back (`process/schedule.rs`). Of the results, with W the measurement window:
//!
//! ```text
//! link   0 <= utilisation <= 1;  queue and waiting time are finite and not negative
//! flow   cwnd and ssthresh are numbers
//!        arrived and delivered in W, of each flow and of all flows of a link
//!            <= sent by each of the links that all its packets pass in W + under way when W began
//!        each RTT, and start to completion >= propagation there and back
//!        delivered <= size of the transfer, and = size once all is acknowledged; sources without TCP and ns-2's agents
//!        send whole packets, of which the last may go beyond the size
//!        of a connection over several paths the same of its subflows together
//!        it starts no earlier than what it waits for is complete, and the pause after it
//! ```
//!
//! A result that breaks one of these is a fault of the engine, and the run ends with an error.

use crate::compile::{Plan, PlanFlow, PlanLink, PlanSender};
use crate::era::Era;
use crate::ids::LinkId;
use crate::packet::outcome::ledger::rounding_share;
use crate::packet::outcome::results::{FlowResult, LinkResult, Results, connection_completed_s};
use crate::units::{Span, Time};
use crate::wire::TIMESTAMP_TICK;

/// Checks the results of a run.
///
/// # Errors
/// The first law that is broken: the link or flow, and the numbers.
pub(crate) fn check(results: &Results, plan: &Plan) -> Result<(), String> {
    for (link, link_result) in plan.links.iter().zip(&results.links) {
        check_link(link_result, plan.duration)
            .map_err(|broken| format!("link {}: {broken}", link.name(&plan.nodes)))?;
    }
    let round_trips = plan.round_trips();
    let largest = plan.flows.iter().flat_map(PlanFlow::packet_sizes).max().unwrap_or_default();
    for ((flow, flow_result), round_trip) in plan.flows.iter().zip(&results.flows).zip(round_trips)
    {
        check_size(flow, flow_result, plan.era)
            .and_then(|()| check_flow(flow_result))
            .and_then(|()| {
                let least = least_sample(results, plan, flow, round_trip, largest);
                check_delays(flow, flow_result, round_trip, least, plan.duration)
            })
            .map_err(|broken| format!("flow {}: {broken}", flow.name))?;
    }
    check_connections(results, plan)?;
    check_waits(results, plan)?;
    check_capacities(results, plan)
}

/// Checks that connections over several paths have delivered each byte once.
fn check_connections(results: &Results, plan: &Plan) -> Result<(), String> {
    for connection in &plan.connections {
        let Some(size) = connection.size else { continue };
        let range = connection.flows.start as usize..connection.flows.end as usize;
        let subflows = &results.flows[range];
        let delivered: u64 = subflows.iter().map(|flow| flow.receiver.delivered_bytes).sum();
        let completed_s = connection_completed_s(subflows);
        if delivered > size.0 || (completed_s > 0.0 && delivered != size.0) {
            return Err(format!(
                "connection {}: {delivered} B of {} B were delivered, and all was acknowledged at {completed_s} s (0: not \
                 yet)",
                connection.name, size.0
            ));
        }
    }
    Ok(())
}

/// Checks that no flow has started before what it waits for was complete.
fn check_waits(results: &Results, plan: &Plan) -> Result<(), String> {
    for wait in &plan.waits {
        let [flow, other] = [wait.flow, wait.end / 2].map(|flow| flow as usize);
        let start_s = results.flows[flow].start_s;
        let other_result = &results.flows[other];
        let is_sender = wait.end.is_multiple_of(2);
        let complete_s =
            if is_sender { other_result.sender.completed_s } else { other_result.arrived_s };
        let earliest_s = complete_s + wait.pause.seconds();
        // A flow that has not started has no start, which is no number.
        let is_early = start_s < earliest_s * (1.0 - ROUNDING) - ROUNDING;
        let is_complete = complete_s > 0.0;
        if is_early || (!start_s.is_nan() && !is_complete) {
            let [flow, other] = [flow, other].map(|flow| &plan.flows[flow].name);
            return Err(format!(
                "flow {flow} started at {start_s} s and waits for flow {other}, complete at {complete_s} s, and {} s more",
                wait.pause.seconds()
            ));
        }
    }
    Ok(())
}

fn check_link(link_result: &LinkResult, duration: Time) -> Result<(), String> {
    let LinkResult { utilisation, queue_mean, queue_p99, delay_mean_s, .. } = *link_result;
    if !(0.0..=1.0).contains(&utilisation) {
        return Err(format!("utilisation is {utilisation}, outside of [0, 1]"));
    }
    for (statistic, value) in [("mean", queue_mean), ("99th percentile", queue_p99)] {
        if !(0.0..=f64::from(u32::MAX)).contains(&value) {
            return Err(format!("the {statistic} of the packets waiting is {value}"));
        }
    }
    if !(0.0..=duration.seconds() * (1.0 + ROUNDING)).contains(&delay_mean_s) {
        return Err(format!(
            "the mean waiting time is {delay_mean_s} s in a run of {} s",
            duration.seconds()
        ));
    }
    Ok(())
}

/// Sums of times in doubles, relative.
const ROUNDING: f64 = 1e-9;

fn check_flow(flow_result: &FlowResult) -> Result<(), String> {
    let (cwnd, ssthresh) = (flow_result.sender.cwnd, flow_result.sender.ssthresh);
    if !cwnd.is_finite() || ssthresh.is_nan() {
        return Err(format!("cwnd is {cwnd} and ssthresh {ssthresh} at the end"));
    }
    Ok(())
}

/// Checks that the flows of each link, one by one and together, got no more through it than it can send.
fn check_capacities(results: &Results, plan: &Plan) -> Result<(), String> {
    // Of all flows of a link: bits delivered, and bits that had passed it before the window.
    let mut sums = vec![(0.0, 0.0, 0u32); plan.links.len()];
    for (flow, flow_result) in plan.flows.iter().zip(&results.flows) {
        let [size, _] = flow.packet_sizes();
        let bits = flow_result.window_bytes() as f64 * 8.0;
        let before = packets_from_before(flow, flow_result);
        let earlier = before as f64 * f64::from(size) * 8.0;
        for id in certain_links(flow) {
            let sum = &mut sums[id.index()];
            *sum = (sum.0 + bits, sum.1 + earlier, sum.2.max(size));
            let (capacity, rounding) = capacity(results, plan, id);
            // At each edge of the window a packet may be sent in part.
            let most = capacity + rounding + earlier + 2.0 * f64::from(size) * 8.0;
            if bits > most {
                return Err(format!(
                    "flow {}: {bits} bit were delivered in the window of {} s, in which link {} can send {capacity} \
                     bit and into which came {before} packets of at most {size} B that had passed it before",
                    flow.name,
                    results.window_s,
                    plan.links[id.index()].name(&plan.nodes),
                ));
            }
        }
    }
    for (l, &(bits, earlier, size)) in sums.iter().enumerate() {
        let id = LinkId(l as u32);
        let (capacity, rounding) = capacity(results, plan, id);
        if bits > capacity + rounding + earlier + 2.0 * f64::from(size) * 8.0 {
            return Err(format!(
                "link {}: {bits} bit of its flows were delivered in the window of {} s, in which it can send \
                 {capacity} bit and into which came {earlier} bit that had passed it before",
                plan.links[l].name(&plan.nodes),
                results.window_s,
            ));
        }
    }
    Ok(())
}

/// The links that all data of a flow passes: those of its route or, where packets are sprayed, of every path.
fn certain_links(flow: &PlanFlow) -> impl Iterator<Item = LinkId> {
    let others = flow.further.as_deref().map(|further| &*further.data).unwrap_or_default();
    let is_on_all = move |id: &LinkId| others.iter().all(|path| path.contains(id));
    flow.route.iter().copied().filter(is_on_all)
}

/// What is acknowledged has been delivered, unless the receiver acknowledges what it has not got.
fn check_size(flow: &PlanFlow, flow_result: &FlowResult, era: Era) -> Result<(), String> {
    let Some(size) = flow.size else { return Ok(()) };
    let delivered = flow_result.receiver.delivered_bytes;
    // Sources without TCP and ns-2's agents send whole packets, the last beyond the size.
    let is_source = matches!(*flow.sender, PlanSender::Source { .. });
    // ns-2's Vegas takes the packet behind the last, which it never sent, for a late one, and may send it.
    let is_vegas =
        matches!(&*flow.sender, PlanSender::Tcp { control, .. } if &**control == "vegas");
    let packets = if era.is_ns2() { 1 + u64::from(is_vegas) } else { u64::from(is_source) };
    let beyond = packets * u64::from(flow.packet_sizes()[0]);
    if delivered > size.0.saturating_add(beyond) {
        return Err(format!("{delivered} B of a transfer of {} B were delivered", size.0));
    }
    let is_honest = flow.tcp.optimistic_acks.is_none();
    let is_part = if beyond > 0 { delivered < size.0 } else { delivered != size.0 };
    if is_honest && !is_source && flow_result.sender.completed_s > 0.0 && is_part {
        return Err(format!(
            "a transfer of {} B was complete at {} s, of which {delivered} B were delivered",
            size.0, flow_result.sender.completed_s
        ));
    }
    Ok(())
}

/// What a link can send in the window, and how far its rounded transmissions may exceed that [bit].
fn capacity(results: &Results, plan: &Plan, id: LinkId) -> (f64, f64) {
    let passed = &results.links[id.index()];
    let capacity = passed.capacity_bits;
    let share = rounding_share(passed.departed, &plan.links[id.index()], capacity);
    (capacity, capacity * share)
}

/// Data packets that can arrive and be delivered in the window without passing a link in it: those that were under
/// way when it began, those that waited at a receiver that does not report their bytes, and copies made on wires.
fn packets_from_before(flow: &PlanFlow, flow_result: &FlowResult) -> u64 {
    let (sender, receiver) = (&flow_result.sender_at_warmup, &flow_result.receiver_at_warmup);
    let lost = flow_result.lost_data - flow_result.window_lost_data;
    let gone = receiver.received_packets + receiver.trimmed_packets + lost;
    let under_way = sender.sent_packets.saturating_sub(gone);
    let accounted = receiver.duplicate_packets + receiver.delivered_packets;
    let reported = receiver.held_bytes.div_ceil(u64::from(flow.tcp.mss.max(1)));
    let waiting = receiver.received_packets.saturating_sub(accounted + reported);
    under_way + waiting + flow_result.copies[0]
}

fn check_delays(
    flow: &PlanFlow,
    flow_result: &FlowResult,
    round_trip: Span,
    least: f64,
    duration: Time,
) -> Result<(), String> {
    let sender = &flow_result.sender;
    if flow.tcp.optimistic_acks.is_some_and(|ahead| ahead > 0) {
        // What is acknowledged may have been sent a moment ago, and need never arrive.
        return Ok(());
    }
    let propagation = round_trip.seconds();
    if sender.rtt_count > 0 {
        let mean = sender.rtt_sum_s / sender.rtt_count as f64;
        for (statistic, rtt) in [("smallest", sender.rtt_min_s), ("mean", mean)] {
            // Written so that NaN fails.
            if !(least..=duration.seconds() * (1.0 + ROUNDING)).contains(&rtt) {
                return Err(format!(
                    "the {statistic} of {} RTT samples is {rtt} s in a run of {} s; propagation takes \
                     {propagation} s",
                    sender.rtt_count,
                    duration.seconds()
                ));
            }
        }
    }
    let transfer_s = sender.completed_s - flow_result.start_s;
    let is_late_enough = transfer_s >= propagation * (1.0 - ROUNDING) - ROUNDING;
    let has_sent = sender.completed_s > 0.0 && flow_result.receiver.delivered_packets > 0;
    if has_sent && (!is_late_enough || sender.completed_s > duration.seconds() * (1.0 + ROUNDING)) {
        return Err(format!(
            "all data, which began at {} s, was acknowledged by {} s in a run of {} s; propagation takes \
             {propagation} s",
            flow_result.start_s,
            sender.completed_s,
            duration.seconds()
        ));
    }
    Ok(())
}

/// The least RTT sample in seconds that a flow can take in a network whose packets have at most `largest` bytes.
fn least_sample(
    results: &Results,
    plan: &Plan,
    flow: &PlanFlow,
    round_trip: Span,
    largest: u32,
) -> f64 {
    let ticks = if flow.tcp.timestamps {
        // Both the timestamp and the time at which its echo arrives are rounded down; so is the time spent in
        // queues. A timestamp of 0 would be none, so that a packet of the first tick has that of the next. The clock
        // wraps: half a turn of it is the longest sample that it can take.
        if round_trip.0 >= HALF_TURN.0 || may_take_half_a_turn(results, plan, flow, largest) {
            return 0.0;
        }
        2
    } else {
        0
    };
    let least = round_trip.0.saturating_sub(ticks * TIMESTAMP_TICK.0);
    Span(least).seconds() * (1.0 - ROUNDING) - ROUNDING
}

/// Half a turn of the clock of timestamps.
const HALF_TURN: Span = Span(TIMESTAMP_TICK.0 << 31);

/// How many times longer than in a full queue that is served by itself a packet may wait, where others go first.
const OTHERS: f64 = 20.0;

/// How many times longer than on average, where no limit of the queue or no rate is known.
const RARE: f64 = 1e4;

/// Whether a packet may take so long there and back that the clock of timestamps has made half a turn.
fn may_take_half_a_turn(results: &Results, plan: &Plan, flow: &PlanFlow, largest: u32) -> bool {
    if plan.duration.0 < HALF_TURN.0 {
        return false;
    }
    let longest = |link: &LinkId| {
        let PlanLink { rate, delay, limit, settings, .. } = &plan.links[link.index()];
        if settings.is_impaired() {
            return f64::INFINITY;
        }
        let transmission = f64::from(largest) * 8.0 / rate.bps();
        let shapes = settings.schedule.is_some() || settings.qdisc.params().contains_key("rate");
        let in_queue = match limit.in_packets(largest).filter(|_| !shapes) {
            Some(packets) => OTHERS * (packets + 1.0) * transmission,
            None => RARE * (results.links[link.index()].delay_mean_s + transmission),
        };
        delay.seconds() + in_queue
    };
    let links = flow.all_paths().flatten();
    links.map(longest).sum::<f64>() >= HALF_TURN.seconds()
}

#[cfg(test)]
mod tests;
