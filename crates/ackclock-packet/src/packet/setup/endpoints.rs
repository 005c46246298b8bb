//! Builds the two endpoints of a planned flow.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::cc::coupled::Siblings;
use crate::cc::delay::vegas::{Vegas, VegasParams};
use crate::cc::{self, CcEnv, CongestionControl};
use crate::compile::{Plan, PlanConnection, PlanFlow, PlanSender};
use crate::credits::{self, Allowance, CreditedReceiver, Host, Spending};
use crate::endpoint::Endpoint;
use crate::era::Era;
use crate::error::{Problem, suggestion};
use crate::ids::{FlowId, LinkId};
use crate::multicast::{self, ControlEnv};
use crate::multipath::{ReceivingSide, SendingSide, SubflowReceiver, SubflowSender};
use crate::packet::setup::custom::{Custom, EndsEnv, Place};
use crate::quic::{
    FrameStreams, QuicConfig, QuicReceiver, QuicReceiverParts, QuicSender, QuicSenderParts,
};
use crate::recovery::{self, RecoveryEnv};
use crate::registry::{About, Spec};
use crate::rng::{Purpose, Stream};
use crate::slow_start;
use crate::tcp::{self, ReceiverParts, Sender, SenderParts, TIMESTAMP_BYTES, TcpConfig};
use crate::tcp_ns2::{Ns2Options, Ns2Parts, Ns2Sender, Ns2Sink, Thresholds, Variant};
use crate::traffic::source::{self, Bundles, SourceEnv};
use crate::units::{Bytes, Span};

/// Sender and receiver of one flow; none where a multicast branch is in their place.
pub(crate) type Pair = (Option<Box<dyn Endpoint>>, Option<Box<dyn Endpoint>>);

/// Builds the endpoints of flows one after another, of each those that are wanted.
pub(crate) struct Builder<'a> {
    plan: &'a Plan,
    custom: &'a dyn Custom,
    bundles: Bundles,
    hosts: Hosts,
    /// The number of the connection whose subflows are being built, and the places of those that are left.
    connection: Option<(usize, Vec<SendingSide>, Vec<ReceivingSide>)>,
    /// The last TCP flow whose sender was built, and what its receiver needed to know.
    last: Option<(&'a PlanFlow, Receives)>,
}

/// What a TCP receiver needs to know of its sender.
struct Receives {
    config: Arc<TcpConfig>,
    sack: bool,
    credit: Option<Allowance>,
}

/// The hosts that give credit: the link over which flows reach each, and the rule.
#[derive(Default)]
struct Hosts(HashMap<LinkId, Vec<(Spec, Host)>>);

impl Hosts {
    /// Builds the receiver of a flow whose sender needs credit. Flows that reach a host over one link and have the same rule share it.
    fn build(
        &mut self,
        plan: &Plan,
        index: u32,
        receives: &Receives,
        allowance: &Allowance,
    ) -> Option<Box<dyn Endpoint>> {
        let flow = &plan.flows[index as usize];
        let PlanSender::Tcp { credits: Some(spec), .. } = &*flow.sender else { return None };
        let hosts = self.0.entry(flow.route.last().copied()?).or_default();
        let shared = hosts.iter().find(|(rule, _)| rule == spec).map(|(_, host)| host.clone());
        let host = if let Some(host) = shared {
            host
        } else {
            // It was built for the sender without a problem.
            let env = plan.credit_env(flow, full_packet(flow));
            let host = Host::new(credits::build(spec, &env, "").ok()?);
            hosts.push((spec.clone(), host.clone()));
            host
        };
        let receiver = tcp::Receiver::new(&receives.parts(FlowId(index), flow.size));
        let sizes = [flow.tcp.mss, full_packet(flow), flow.tcp.ack_size];
        let id = FlowId(index);
        let credited = CreditedReceiver::new(receiver, &host, id, flow.size, sizes, allowance);
        Some(Box::new(credited))
    }
}

/// Bytes on the wire of a full segment, with its options.
fn full_packet(flow: &PlanFlow) -> u32 {
    flow.tcp.wire_size() + if flow.tcp.timestamps { TIMESTAMP_BYTES } else { 0 }
}

impl Receives {
    fn parts(&self, flow: FlowId, size: Option<Bytes>) -> ReceiverParts {
        ReceiverParts { flow, config: TcpConfig::clone(&self.config), sack: self.sack, size }
    }

    fn build(&self, flow: FlowId, size: Option<Bytes>) -> Box<dyn Endpoint> {
        tcp::receiver(&self.parts(flow, size))
    }
}

impl<'a> Builder<'a> {
    /// For the flows of a plan.
    pub(crate) fn new(plan: &'a Plan, custom: &'a dyn Custom) -> Self {
        Self {
            plan,
            custom,
            bundles: Bundles::default(),
            hosts: Hosts::default(),
            connection: None,
            last: None,
        }
    }

    /// The receiver of flow `index`.
    fn build_receiver(&mut self, index: u32, receives: &Receives) -> Box<dyn Endpoint> {
        let credited = match &receives.credit {
            Some(allowance) => self.hosts.build(self.plan, index, receives, allowance),
            None => None,
        };
        let size = self.plan.flows[index as usize].size;
        credited.unwrap_or_else(|| receives.build(FlowId(index), size))
    }

    /// Builds the sender and the receiver of flow `index`, if they are wanted. Where a sender is not, and the last one had
    /// the same settings, none is built.
    pub(crate) fn build(
        &mut self,
        index: u32,
        [sends, receives]: [bool; 2],
    ) -> Result<Pair, Vec<Problem>> {
        let flow = &self.plan.flows[index as usize];
        if let Some((number, connection)) = self.plan.connection_of(index) {
            let (sender, receiver) = self.build_subflow(index, number, connection)?;
            return Ok((sender.filter(|_| sends), receiver.filter(|_| receives)));
        }
        if !sends
            && let Some((last, receiver_setup)) = &self.last
            && Arc::ptr_eq(&last.sender, &flow.sender)
            && Arc::ptr_eq(&last.tcp, &flow.tcp)
            && receiver_setup.credit.is_none()
        {
            let receiver = receives.then(|| receiver_setup.build(FlowId(index), flow.size));
            return Ok((None, receiver));
        }
        self.last = None;
        let (sender, receiver): Pair = match &*flow.sender {
            PlanSender::Tcp { cc, recovery, slow_start, ns2: None, control, .. }
                if !self.plan.era.is_ns2() =>
            {
                let id = FlowId(index);
                let algorithms = [cc, recovery, slow_start];
                let (sender, receiver_setup) =
                    build_rfc_sender(self.plan, flow, id, algorithms, control, self.custom, None)?;
                let receiver = receives.then(|| self.build_receiver(index, &receiver_setup));
                self.last = Some((flow, receiver_setup));
                (Some(Box::new(sender)), receiver)
            }
            _ => build(self.plan, index, self.custom, &self.bundles)?,
        };
        Ok((sender.filter(|_| sends), receiver.filter(|_| receives)))
    }

    /// Builds both ends of a subflow of the connection of this number. Flows are built in order.
    fn build_subflow(
        &mut self,
        index: u32,
        number: usize,
        connection: &PlanConnection,
    ) -> Result<Pair, Vec<Problem>> {
        let flow = &self.plan.flows[index as usize];
        let id = FlowId(index);
        let PlanSender::Tcp { cc, recovery, slow_start, control, .. } = &*flow.sender else {
            return build(self.plan, index, self.custom, &self.bundles);
        };
        if self.connection.as_ref().is_none_or(|begun| begun.0 != number) {
            let parts = connection.parts(flow);
            let (mut sending, mut receiving) = (SendingSide::of(&parts), ReceivingSide::of(&parts));
            sending.reverse();
            receiving.reverse();
            self.connection = Some((number, sending, receiving));
        }
        let places = self.connection.as_mut();
        let places = places.and_then(|(_, sending, receiving)| sending.pop().zip(receiving.pop()));
        let Some((sending, receiving)) = places else {
            return build(self.plan, index, self.custom, &self.bundles);
        };
        let siblings = Some(sending.siblings.clone());
        let algorithms = [cc, recovery, slow_start];
        let (sender, receiver_setup) =
            build_rfc_sender(self.plan, flow, id, algorithms, control, self.custom, siblings)?;
        let receiver = tcp::Receiver::new(&receiver_setup.parts(id, None));
        Ok((
            Some(Box::new(SubflowSender::new(sender, sending))),
            Some(Box::new(SubflowReceiver::new(receiver, receiving))),
        ))
    }
}

/// Builds the endpoints of flow `index`.
pub(crate) fn build(
    plan: &Plan,
    index: u32,
    custom: &dyn Custom,
    bundles: &Bundles,
) -> Result<Pair, Vec<Problem>> {
    let flow = &plan.flows[index as usize];
    let id = FlowId(index);
    match &*flow.sender {
        PlanSender::Source { source: spec, .. } => {
            let first_link = flow.route.first().copied();
            let env = SourceEnv {
                flow: id,
                start: Span(flow.start.0),
                stop: flow.stop.map(|t| Span(t.0)),
                era: plan.era,
                first_link,
                access: first_link.map(|link| plan.links[link.index()].rate),
                peak: first_link.and_then(|link| plan.links[link.index()].peak()),
                bundles: bundles.clone(),
            };
            let path = format!("{}.source", flow.path);
            let sender = source::build(spec, &env, &path)?;
            let receiver = sender.receiver();
            Ok((Some(sender), Some(receiver)))
        }
        PlanSender::Branch { has_receiver: false, .. } => Ok((None, None)),
        PlanSender::Branch { control, layers, .. } => {
            let env = ControlEnv { layers: layers.clone() };
            let path = format!("{}.control", flow.path);
            let control = multicast::build(control, &env, &path)?;
            let setup = multicast::ReceiverParts { flow: id, layers: layers.len() as u32, control };
            Ok((None, Some(Box::new(multicast::Receiver::new(setup)))))
        }
        PlanSender::Quic { cc, slow_start, config, control, streams } => {
            let settings = (config, control, streams.as_ref());
            build_quic_pair(plan, flow, id, [cc, slow_start], settings, custom)
        }
        PlanSender::Tcp { cc, recovery, slow_start, ns2, control, .. } if !plan.era.is_ns2() => {
            if ns2.is_some() {
                let message = "sets variables of ns-2's agents; expected an ns-2 era beside it";
                return Err(vec![Problem::new(format!("{}.tcp.ns2", flow.path), message)]);
            }
            let algorithms = [cc, recovery, slow_start];
            let (sender, receiver_setup) =
                build_rfc_sender(plan, flow, id, algorithms, control, custom, None)?;
            Ok((Some(Box::new(sender)), Some(receiver_setup.build(id, flow.size))))
        }
        PlanSender::Tcp { cc, recovery, slow_start, ns2, .. } => {
            build_ns2_pair(plan, flow, id, [cc, recovery, slow_start], ns2.as_ref(), custom)
        }
    }
}

/// Builds a sender by the RFCs, with the subflows beside it if it is one, and finds what its receiver needs to know.
fn build_rfc_sender(
    plan: &Plan,
    flow: &PlanFlow,
    id: FlowId,
    [cc, recovery, slow_start]: [&Spec; 3],
    control: &Arc<str>,
    custom: &dyn Custom,
    siblings: Option<Siblings>,
) -> Result<(Sender, Receives), Vec<Problem>> {
    let wire_size = full_packet(flow);
    let env = plan.control_env(flow, wire_size, plan.era);
    let recovery_env = RecoveryEnv { limited_transmit: flow.tcp.limited_transmit, era: plan.era };
    let path = |key: &str| format!("{}.{key}", flow.path);
    let built_control = build_control(flow, id, cc, &env, custom).map(|mut control| {
        control.take_stream(Stream::new(plan.seed, Purpose::Control, u64::from(id.0)));
        if let Some(siblings) = siblings {
            control.take_siblings(siblings);
        }
        control
    });
    let made_recovery = recovery::build(recovery, &recovery_env, &path("recovery"));
    let made_slow_start = slow_start::build(slow_start, &env, &path("slow_start"));
    let (built_control, made_recovery, made_slow_start) =
        match (built_control, made_recovery, made_slow_start) {
            (Ok(cc), Ok(recovery), Ok(slow_start)) => (cc, recovery, slow_start),
            (cc, recovery, slow_start) => {
                let problems = [cc.err(), recovery.err(), slow_start.err()];
                return Err(problems.into_iter().flatten().flatten().collect());
            }
        };
    let sack = made_recovery.uses_sack();
    let has_counts = flow.tcp.accecn || built_control.counts_marks();
    if built_control.needs_ecn_counts() && !has_counts {
        let message = format!("{control} needs counts of ECN marks, expected accecn = true");
        return Err(vec![Problem::new(path("tcp.accecn"), message)]);
    }
    let config = if built_control.counts_marks() && !flow.tcp.accecn {
        Arc::new(TcpConfig { ecn: true, accecn: true, ..TcpConfig::clone(&flow.tcp) })
    } else {
        Arc::clone(&flow.tcp)
    };
    let credit = match &*flow.sender {
        PlanSender::Tcp { credits: Some(spec), .. } => {
            let rule = credits::build(spec, &plan.credit_env(flow, wire_size), &path("credits"))?;
            Some(rule.allowance())
        }
        _ if built_control.needs_credit() => {
            let message =
                format!("{control} holds nothing back by itself; expected credits beside it");
            return Err(vec![Problem::new(path("cc"), message)]);
        }
        _ => None,
    };
    let mut sender = Sender::new(SenderParts {
        flow: id,
        config: Arc::clone(&config),
        size: flow.size,
        supply: flow.supply.clone(),
        stop: flow.stop,
        control: Arc::clone(control),
        cc: built_control,
        recovery: made_recovery,
        slow_start: made_slow_start,
    });
    if let Some(allowance) = credit {
        sender.use_credit(Spending::new(allowance, wire_size));
    }
    Ok((sender, Receives { config, sack, credit }))
}

/// Builds a QUIC sender and receiver.
fn build_quic_pair(
    plan: &Plan,
    flow: &PlanFlow,
    id: FlowId,
    [cc, slow_start]: [&Spec; 2],
    (config, control, streams): (&Arc<QuicConfig>, &Arc<str>, Option<&FrameStreams>),
    custom: &dyn Custom,
) -> Result<Pair, Vec<Problem>> {
    let ends = EndsEnv {
        flow: id,
        config,
        size: flow.size,
        stop: flow.stop,
        is_paced: flow.supply.is_some() || streams.is_some(),
        supply: flow.supply.as_deref(),
        round_trip: plan.round_trip(flow),
        seed: plan.seed,
    };
    let key = if flow.has_guest() { "guest" } else { "cc" };
    let path = format!("{}.{key}", flow.path);
    let location = Place { index: id.0, name: &flow.name, path: &path };
    if let Some(built_ends) = custom.quic_ends(cc, &ends, location) {
        let (sender, receiver) = built_ends.map_err(|problem| vec![problem])?;
        return Ok((Some(sender), Some(receiver)));
    }
    if flow.has_guest() {
        let message = "is a program, and none can be started here; expected a flow without guest";
        return Err(vec![Problem::new(format!("{}.guest", flow.path), message)]);
    }
    let env = plan.control_env(flow, flow.tcp.wire_size(), Era::Rfc);
    let built_control = build_control(flow, id, cc, &env, custom).map(|mut control| {
        control.take_stream(Stream::new(plan.seed, Purpose::Control, u64::from(id.0)));
        control
    });
    let slow_start = slow_start::build(slow_start, &env, &format!("{}.slow_start", flow.path));
    let (built_control, slow_start) = match (built_control, slow_start) {
        (Ok(built_control), Ok(slow_start)) => (built_control, slow_start),
        (built_control, slow_start) => {
            return Err([built_control.err(), slow_start.err()]
                .into_iter()
                .flatten()
                .flatten()
                .collect());
        }
    };
    let config = if built_control.counts_marks() && !config.ecn {
        Arc::new(QuicConfig { ecn: true, ..QuicConfig::clone(config) })
    } else {
        Arc::clone(config)
    };
    if built_control.needs_credit() {
        let message = format!(
            "{control} needs credit, which receivers of QUIC do not give; expected transport = \"tcp\""
        );
        return Err(vec![Problem::new(path, message)]);
    }
    if built_control.needs_ecn_counts() && !config.ecn {
        let message = format!("{control} needs counts of ECN marks, expected ecn = true");
        return Err(vec![Problem::new(format!("{}.quic.ecn", flow.path), message)]);
    }
    let streams = streams.map(|streams| (Arc::clone(streams), flow.start));
    let setup = QuicReceiverParts {
        flow: id,
        config: QuicConfig::clone(&config),
        size: flow.size,
        streams: streams.clone(),
    };
    let sender = QuicSender::new(QuicSenderParts {
        flow: id,
        config,
        size: flow.size,
        supply: flow.supply.clone(),
        streams,
        stop: flow.stop,
        control: Arc::clone(control),
        cc: built_control,
        slow_start,
    });
    Ok((Some(Box::new(sender)), Some(Box::new(QuicReceiver::new(&setup)))))
}

/// Builds the congestion control of a flow. A user-defined one is built once, whatever is wrong with it.
fn build_control(
    flow: &PlanFlow,
    id: FlowId,
    cc: &Spec,
    env: &CcEnv,
    custom: &dyn Custom,
) -> Result<Box<dyn CongestionControl>, Vec<Problem>> {
    let path = format!("{}.cc", flow.path);
    match custom.cc(cc, env, Place { index: id.0, name: &flow.name, path: &path }) {
        Some(control) => control.map_err(|problem| vec![problem]),
        None => cc::build(cc, env, &path),
    }
}

/// Builds ns-2's sender and sink: recovery and slow start are parts of its agents.
fn build_ns2_pair(
    plan: &Plan,
    flow: &PlanFlow,
    id: FlowId,
    [cc, recovery, slow_start]: [&Spec; 3],
    variables: Option<&Map<String, Value>>,
    custom: &dyn Custom,
) -> Result<Pair, Vec<Problem>> {
    let path = |key: &str| format!("{}.{key}", flow.path);
    let Some(mut variant) = Variant::of_recovery(recovery.kind()) else {
        let hint = suggestion(recovery.kind(), &Variant::RECOVERIES.map(|(name, _)| name));
        let message = format!("there is no loss recovery \"{}\"; {hint}", recovery.kind());
        return Err(vec![Problem::new(path("recovery"), message)]);
    };
    // Parameters that ns-2's agents would ignore are refused.
    for (key, spec, name) in
        [("recovery", recovery, recovery.kind()), ("slow_start", slow_start, "standard")]
    {
        if spec.kind() != name || !spec.params().is_empty() {
            let message = format!(
                "is part of ns-2's agent in an ns-2 era; expected plain \"{name}\" (further \
                 variables go to tcp.ns2)"
            );
            return Err(vec![Problem::new(path(key), message)]);
        }
    }
    if flow.tcp.optimistic_acks.is_some() || !flow.tcp.ecn_echo {
        let key = if flow.tcp.ecn_echo { "tcp.optimistic_acks" } else { "tcp.ecn_echo" };
        let message = "is of the receiver by the RFCs; expected era rfc beside it";
        return Err(vec![Problem::new(path(key), message)]);
    }
    let options = match variables {
        Some(map) => Ns2Options::from_map(map, plan.era)
            .map_err(|e| vec![Problem::new(path("tcp.ns2"), e)])?,
        None => Ns2Options::of_era(plan.era),
    };
    let env = plan.control_env(flow, flow.tcp.wire_size(), plan.era);
    let control = build_control(flow, id, cc, &env, custom)?;
    if control.needs_ecn_counts() {
        let message = format!(
            "{} needs counts of ECN marks, which ns-2's sinks do not report; expected era rfc",
            cc.kind()
        );
        return Err(vec![Problem::new(path("cc"), message)]);
    }
    if control.needs_credit() {
        let message =
            format!("{} needs credit, which ns-2's sinks do not give; expected era rfc", cc.kind());
        return Err(vec![Problem::new(path("cc"), message)]);
    }
    if control.wants_samples() {
        let message = format!(
            "{} follows each packet (rate samples, losses), which ns-2's agents do not; expected era rfc, linux or quic",
            cc.kind()
        );
        return Err(vec![Problem::new(path("cc"), message)]);
    }
    if control.reported_packets() > 0 {
        let message = format!(
            "{} reads what switches note of packets, which ns-2's agents do not; expected era rfc",
            cc.kind()
        );
        return Err(vec![Problem::new(path("cc"), message)]);
    }
    if cc.kind() == Vegas::INFO.name {
        variant = Variant::Vegas(vegas_thresholds(cc, plan.era, &path("cc"))?);
    }
    let sender = Ns2Sender::new(Ns2Parts {
        flow: id,
        config: TcpConfig::clone(&flow.tcp),
        options,
        variant,
        size: flow.size,
        stop: flow.stop,
        cc: control,
    });
    let config = variant.settle(TcpConfig::clone(&flow.tcp));
    let sink = Ns2Sink::new(id, config, variant == Variant::Sack1);
    Ok((Some(Box::new(sender)), Some(Box::new(sink))))
}

/// The thresholds of ns-2's Vegas, which are whole numbers there.
fn vegas_thresholds(cc: &Spec, era: Era, path: &str) -> Result<Thresholds, Vec<Problem>> {
    let params: VegasParams = serde_json::from_value(Value::Object(cc.params().clone()))
        .map_err(|e| vec![Problem::new(path, e.to_string())])?;
    let integer = |key: &str, value: f64| {
        if value.fract() == 0.0 && value <= 1e9 {
            Ok(value as i64)
        } else {
            let message = format!("is {value}; expected a whole number, as ns-2's Vegas has");
            Err(vec![Problem::new(format!("{path}.{key}"), message)])
        }
    };
    if params.loss_factor != VegasParams::default().loss_factor {
        let message = "is part of ns-2's Vegas in an ns-2 era, which keeps 3/4; leave it out";
        return Err(vec![Problem::new(format!("{path}.loss_factor"), message)]);
    }
    let (alpha, beta) = params.alpha_and_beta(era);
    Ok(Thresholds {
        alpha: integer("alpha", alpha)?,
        beta: integer("beta", beta)?,
        gamma: integer("gamma", params.gamma)?,
    })
}
