//! What of a scenario can be emulated, and what its hosts have to do.
//!
//! One bottleneck: the slowest link that data crosses, which all flows cross, and no other is as slow. So only there can a
//! queue last, and the kernel's sender is the only thing that differs from a run of the engine.

use ackclock_core::compile::{Plan, PlanFlow, PlanSender};
use ackclock_core::error::Problem;
use ackclock_core::ids::LinkId;
use ackclock_core::packet::LIVE_IMPAIRMENTS;
use serde_json::{Value, json};

/// Most packets a second through the bottleneck: above it, the system calls of both ways fill a core.
pub const MOST_PACKETS_PER_S: f64 = 50_000.0;
/// Most flows: each is two sockets of a process that looks at all of them at every sample.
pub const MOST_FLOWS: usize = 256;
/// Payload of a full segment: the kernel lets sockets set no less and no more.
pub const MSS: [u32; 2] = [88, 32_000];

/// A scenario that can be emulated.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The bottleneck, in the direction of the data.
    pub bottleneck: LinkId,
    plan: Plan,
}

impl Scope {
    /// Finds out whether a plan can be emulated.
    ///
    /// # Errors
    /// Everything that speaks against it.
    pub fn of(plan: &Plan) -> Result<Self, Vec<Problem>> {
        let mut problems: Vec<Problem> = plan.flows.iter().filter_map(flow_problem).collect();
        if !plan.groups.is_empty() {
            problems.push(Problem::new(
                "groups",
                "are multicast, which emulation does not have; expected flows over TCP",
            ));
        }
        if plan.flows.len() > MOST_FLOWS {
            let message = format!(
                "make {} flows, more than the {MOST_FLOWS} that can be emulated",
                plan.flows.len()
            );
            problems.push(Problem::new("flows", message));
        }
        // Copies and generated flows share a path.
        problems.dedup();
        problems.extend(used_links(plan).into_iter().filter_map(|link| link_problem(plan, link)));
        if !plan.groups.is_empty() {
            return Err(problems);
        }
        if plan.switches.is_some() {
            let message = "cannot be emulated; leave it out";
            problems.push(Problem::new("switches", message));
        }
        if !plan.waits.is_empty() {
            let message = "wait for others, which cannot be emulated; leave out after and collective operations";
            problems.push(Problem::new("flows", message));
        }
        if !plan.connections.is_empty() {
            let message =
                "are connections over several paths, which cannot be emulated; leave out multipath";
            problems.push(Problem::new("flows", message));
        }
        match bottleneck(plan) {
            Ok(bottleneck) if problems.is_empty() => Ok(Self { bottleneck, plan: plan.clone() }),
            Ok(_) => Err(problems),
            Err(problem) => {
                problems.push(problem);
                Err(problems)
            }
        }
    }

    /// What the hosts have to do, as plain data.
    pub fn describe(&self) -> Value {
        let Plan { flows, duration, warmup, record, .. } = &self.plan;
        let link = &self.plan.links[self.bottleneck.index()];
        json!({
            "bottleneck": link.name(&self.plan.nodes),
            "duration_s": duration.seconds(),
            "warmup_s": warmup.seconds(),
            "interval_s": record.interval.map(ackclock_core::units::Span::seconds),
            "rate_bps": rate(&self.plan, self.bottleneck),
            "flows": flows.iter().map(|flow| json!({
                "id": &*flow.name,
                "path": &*flow.path,
                "src": self.plan.nodes[flow.src.index()],
                "dst": self.plan.nodes[flow.dst.index()],
                "start_s": flow.start.seconds(),
                "stop_s": flow.stop.map(ackclock_core::units::Time::seconds),
                "size_bytes": flow.size.map(|size| size.0),
                "cc": control(flow),
                "mss_bytes": flow.tcp.mss,
                "timestamps": flow.tcp.timestamps,
                "ecn": flow.tcp.ecn,
                "dscp": flow.dscp.value(),
            })).collect::<Vec<_>>(),
        })
    }
}

/// The congestion control of a flow: its name and parameters.
fn control(flow: &PlanFlow) -> Value {
    match &*flow.sender {
        PlanSender::Tcp { cc, .. } => json!({ "kind": cc.kind(), "params": cc.params() }),
        _ => Value::Null,
    }
}

/// Why a flow cannot be emulated, if it cannot.
fn flow_problem(flow: &PlanFlow) -> Option<Problem> {
    let problem_at =
        |key: &str, message: String| Some(Problem::new(format!("{}{key}", flow.path), message));
    match &*flow.sender {
        PlanSender::Tcp { credits: Some(rule), .. } => {
            let message = format!(
                "is {}, and the kernel's receivers give no credit; expected none",
                rule.kind()
            );
            return problem_at(".credits", message);
        }
        PlanSender::Tcp { ns2: None, .. } => {}
        PlanSender::Tcp { .. } => {
            return problem_at(
                ".tcp.ns2",
                "are variables of ns-2, which the kernel does not have".to_owned(),
            );
        }
        PlanSender::Quic { .. } => {
            return problem_at(
                ".transport",
                "is quic, expected tcp: the kernel sends nothing else".to_owned(),
            );
        }
        PlanSender::Source { source: spec, .. } => {
            return problem_at(
                ".source",
                format!("is {}, which is no TCP; only flows over TCP can be emulated", spec.kind()),
            );
        }
        PlanSender::Branch { .. } => return None,
    }
    if flow.supply.is_some() {
        let message = "has data bit by bit (every, app, media); only flows that have all at once can be emulated";
        return problem_at("", message.to_owned());
    }
    if flow.tcp.accecn {
        return problem_at(".tcp.accecn", "cannot be emulated; expected false".to_owned());
    }
    let [least, most] = MSS;
    if !(least..=most).contains(&flow.tcp.mss) {
        let message = format!("is {} B, expected {least} to {most} B for emulation", flow.tcp.mss);
        return problem_at(".tcp.mss", message);
    }
    None
}

/// The links that flows use, either way, each once.
fn used_links(plan: &Plan) -> Vec<LinkId> {
    let mut used: Vec<LinkId> =
        plan.flows.iter().flat_map(|f| f.route.iter().chain(&f.ack_route).copied()).collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Why a link cannot be emulated, if it cannot.
fn link_problem(plan: &Plan, id: LinkId) -> Option<Problem> {
    let link = &plan.links[id.index()];
    let settings = &link.settings;
    let is_carried = |kind: &str| LIVE_IMPAIRMENTS.contains(&kind);
    if let Some(other) = settings.impairments.iter().find(|spec| !is_carried(spec.kind())) {
        let message = format!(
            "{} on link {} cannot be emulated, only {}; leave it out",
            other.kind(),
            link.name(&plan.nodes),
            LIVE_IMPAIRMENTS.join(", ")
        );
        return Some(Problem::new(&*settings.impairments_path, message));
    }
    if settings.failures.lose_in_flight() {
        let message = format!(
            "are lost on the wire of link {} when it fails, which cannot be emulated; expected in_flight = \"delivered\"",
            link.name(&plan.nodes)
        );
        return Some(Problem::new("links", message));
    }
    let params = settings.qdisc.params();
    if params.get("ack_filter").is_some_and(|filter| filter != &json!("off")) {
        let path = format!("{}.ack_filter", settings.qdisc_path);
        return Some(Problem::new(
            path,
            "looks at SACK blocks, which emulation does not read; leave it out",
        ));
    }
    let packets = rate(plan, id) / (8.0 * f64::from(link.mean_packet.max(1)));
    let carries_data = plan.flows.iter().any(|flow| flow.route.contains(&id));
    let is_slowest = || bottleneck(plan).is_ok_and(|slowest| slowest == id);
    if carries_data && packets > MOST_PACKETS_PER_S && is_slowest() {
        let most = MOST_PACKETS_PER_S * 8.0 * f64::from(link.mean_packet.max(1));
        let message = format!(
            "has {} on link {}, more than can be emulated: {}, which are {MOST_PACKETS_PER_S} packets of {} B a second",
            text(rate(plan, id)),
            link.name(&plan.nodes),
            text(most),
            link.mean_packet
        );
        return Some(Problem::new("net", message));
    }
    None
}

/// The mean rate of a link [bit/s].
fn rate(plan: &Plan, link: LinkId) -> f64 {
    let link = &plan.links[link.index()];
    let nominal = link.rate.bps();
    link.settings
        .schedule
        .as_ref()
        .map_or(nominal, |schedule| schedule.mean_bps(nominal, plan.duration))
}

/// A rate in messages.
fn text(bps: f64) -> String {
    format!("{} Mbit/s", (bps / 1e3).round() / 1e3)
}

/// The slowest link that a flow's data crosses, the first of several.
fn slowest_of(plan: &Plan, flow: &PlanFlow) -> Option<LinkId> {
    flow.route.iter().copied().min_by(|a, b| rate(plan, *a).total_cmp(&rate(plan, *b)))
}

/// The bottleneck of all flows.
///
/// # Errors
/// There is more than one.
fn bottleneck(plan: &Plan) -> Result<LinkId, Problem> {
    let slowest = plan.flows.iter().filter_map(|flow| slowest_of(plan, flow));
    let Some(first) = slowest.min_by(|a, b| rate(plan, *a).total_cmp(&rate(plan, *b))) else {
        return Err(Problem::new(
            "flows",
            "cross no link, so that there is no bottleneck to emulate",
        ));
    };
    let name = |link: LinkId| plan.links[link.index()].name(&plan.nodes);
    let two = |other: LinkId, why: &str| {
        let message = format!(
            "has two bottlenecks, {} ({}) and {} ({}{why}); emulation has one, that all flows cross and that is slower than \
             every other link of theirs",
            name(first),
            text(rate(plan, first)),
            name(other),
            text(rate(plan, other))
        );
        Problem::new("net", message)
    };
    for flow in &plan.flows {
        if !flow.route.contains(&first)
            && let Some(other) = slowest_of(plan, flow)
        {
            return Err(two(other, &format!(", of flow {}", flow.name)));
        }
        let as_slow = |link: &&LinkId| **link != first && rate(plan, **link) <= rate(plan, first);
        if let Some(other) = flow.route.iter().find(as_slow) {
            return Err(two(*other, ""));
        }
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackclock_core::api::planned;

    fn scope(net: &Value, flows: &Value) -> Result<Scope, String> {
        let text = json!({ "duration": 5, "net": net, "flows": flows, "era": "linux" }).to_string();
        let scope = Scope::of(&planned(&text).unwrap());
        scope.map_err(|problems| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        })
    }

    fn dumbbell(rate: &str) -> Value {
        json!({ "kind": "dumbbell", "pairs": 2, "rate": rate, "rtt": "40 ms" })
    }

    #[test]
    fn the_bottleneck_is_the_slowest_link_of_all_flows() {
        let flows = json!([{ "pair": 0, "start": "1 s", "size": "10 kB" }, { "pair": 1, "tcp": { "mss": 1000 } }]);
        let scope = scope(&dumbbell("10 Mbps"), &flows).unwrap();
        let description = scope.describe();
        assert_eq!(
            (&description["bottleneck"], &description["rate_bps"]),
            (&json!("r0->r1"), &json!(1e7))
        );
        let first = &description["flows"][0];
        assert_eq!((&first["start_s"], &first["size_bytes"]), (&json!(1.0), &json!(10_000)));
        assert_eq!(
            (&first["mss_bytes"], &description["flows"][1]["mss_bytes"]),
            (&json!(1448), &json!(1000))
        );
    }

    #[test]
    fn what_cannot_be_emulated_is_named_with_its_place() {
        let refused =
            |net: &Value, flow: Value| scope(net, &json!([{ "pair": 0 }, flow])).unwrap_err();
        let net = dumbbell("10 Mbps");
        let cases = [
            (
                json!({ "pair": 1, "transport": "quic" }),
                "flows[1].transport: is quic, expected tcp",
            ),
            (
                json!({ "pair": 1, "source": { "kind": "cbr", "rate": "1 Mbps" } }),
                "flows[1].source: is cbr, which is no TCP",
            ),
            (
                json!({ "pair": 1, "tcp": { "mss": 60 } }),
                "flows[1].tcp.mss: is 60 B, expected 88 to 32000 B",
            ),
            (
                json!({ "pair": 1, "app": [{ "at": 1, "rate": "1 Mbps" }] }),
                "flows[1]: has data bit by bit",
            ),
            (
                json!({ "src": "d1", "dst": "s1" }),
                "net: has two bottlenecks, r0->r1 (10 Mbit/s) and r1->r0 (10 Mbit/s, of flow f1)",
            ),
        ];
        for (flow, begin) in cases {
            let text = refused(&net, flow);
            assert!(text.starts_with(begin), "{text}");
        }
        // Packets of the kernel's senders have timestamps: 1500 B.
        let text = refused(&dumbbell("2 Gbps"), json!({ "pair": 1 }));
        assert!(
            text.starts_with(
                "net: has 2000 Mbit/s on link r0->r1, more than can be emulated: 600 Mbit/s"
            ),
            "{text}"
        );
        let mut jitter = net;
        jitter["impairments"] = json!([{ "kind": "jitter", "mean": "1 ms" }]);
        let text = refused(&jitter, json!({ "pair": 1 }));
        assert!(
            text.contains("jitter on link r0->r1 cannot be emulated, only delay-steps"),
            "{text}"
        );
    }
}
