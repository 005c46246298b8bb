//! Connections over several paths: their subflows are flows of the plan, one after another.

use std::sync::Arc;

use super::{Context, Definition, Instance, MAX_FLOWS};
use crate::cc::coupled::MOST_SUBFLOWS;
use crate::compile::plan::{PlanConnection, PlanSender};
use crate::scenario::{EqualPaths, Flow, Multipath, SubflowPath};
use crate::units::Span;

impl Context<'_> {
    /// Adds the subflows of a connection.
    pub(super) fn add_connection(
        &mut self,
        definition: &Definition<'_>,
        multipath: &Multipath,
        instance: &Instance,
    ) {
        let Definition { flow, path, tcp, .. } = definition;
        let before = self.problems.len();
        self.check_multipath(definition, multipath, instance);
        let name = instance.id.clone().unwrap_or_else(|| format!("f{}", self.ids.len()));
        let first = self.flows.len() as u32;
        if self.flows.len() + multipath.paths.len() > MAX_FLOWS {
            let message = format!("makes too many subflows, expected at most {MAX_FLOWS} in all");
            self.wrong(format!("{path}.multipath.paths"), message);
            return;
        }
        let is_wrong = self.problems.len() > before;
        for (k, subflow) in multipath.paths.iter().take(MOST_SUBFLOWS).enumerate() {
            let place = format!("{path}.multipath.paths[{k}]");
            let own = flow_of(flow, subflow);
            let sender = match &subflow.cc {
                Some(_) => Arc::new(self.sender(&own)),
                None => Arc::clone(&definition.sender),
            };
            // What is wrong with the route or the control of a path is reported there.
            let has_own = subflow.cc.is_some();
            let common = Definition {
                flow: &own,
                path: if has_own { place.as_str().into() } else { Arc::clone(path) },
                tcp: Arc::clone(tcp),
                sender,
            };
            let way_path = if subflow.route.is_some() || subflow.ack_route.is_some() {
                place
            } else {
                path.to_string()
            };
            let part = Instance {
                id: Some(format!("{name}.{k}")),
                ends: instance.ends,
                start: instance.start + subflow.after.unwrap_or(Span::ZERO),
                size: instance.size,
                turns: Vec::new(),
            };
            self.add_over(&common, part, &way_path, true);
            if is_wrong {
                return; // one of them stands for all, so that its other faults are reported
            }
        }
        let connection = PlanConnection {
            name: name.into(),
            flows: first..self.flows.len() as u32,
            scheduler: multipath.scheduler,
            size: instance.size,
        };
        self.connections.push(connection);
    }

    /// Checks what a connection has beside its paths.
    fn check_multipath(
        &mut self,
        definition: &Definition<'_>,
        multipath: &Multipath,
        instance: &Instance,
    ) {
        let Definition { flow, path, tcp, sender } = definition;
        let paths = multipath.paths.len();
        if !(2..=MOST_SUBFLOWS).contains(&paths) {
            let message = match paths {
                1 => "has one path, which is what a flow without multipath has; expected two to eight".to_owned(),
                _ => format!("has {paths} paths, expected two to eight"),
            };
            self.wrong(format!("{path}.multipath.paths"), message);
        }
        match &**sender {
            PlanSender::Tcp { .. } if !self.scenario.era.is_ns2() => {}
            PlanSender::Tcp { .. } => {
                let era = self.scenario.era.name();
                let message =
                    format!("is of MPTCP, which era {era} has not; expected era rfc or linux");
                self.wrong(format!("{path}.multipath"), message);
            }
            PlanSender::Quic { .. } if flow.guest.is_none() => {
                let message = "is of MPTCP and not of QUIC; expected transport = \"tcp\"";
                self.wrong(format!("{path}.multipath"), message);
            }
            _ => {}
        }
        let is_sprayed = self.scenario.equal_paths.is_some_and(EqualPaths::is_per_packet);
        for (key, is_set) in [
            ("source", flow.source.is_some()),
            ("guest", flow.guest.is_some()),
            ("streams", flow.streams.is_some()),
            ("moves", !flow.moves.is_empty()),
            ("every", flow.every.is_some()),
            ("app", flow.app.is_some()),
            ("media", flow.media.is_some()),
            ("credits", flow.credits.is_some()),
            ("tcp.optimistic_acks", tcp.optimistic_acks.is_some()),
            ("tcp.ecn_echo", !tcp.ecn_echo),
            ("tcp.trimming", tcp.trimming),
            ("tcp.aqt", tcp.aqt),
        ] {
            if is_set {
                let message = "does not go together with multipath, whose subflows send all data at once over TCP; expected \
                               one of them";
                self.wrong(format!("{path}.{key}"), message);
            }
        }
        if instance.turns.len() > 1 {
            let message = "does not go together with a generator whose connections have turns; expected one of them";
            self.wrong(format!("{path}.multipath"), message);
        }
        if is_sprayed {
            let message = "does not go together with equal_paths = \"spray\" or \"reps\", where every packet takes another \
                           path; expected \"hash\" or \"first\"";
            self.wrong(format!("{path}.multipath"), message);
        }
    }
}

/// The flow that a subflow would be by itself.
fn flow_of(flow: &Flow, subflow: &SubflowPath) -> Flow {
    let mut own = flow.clone();
    own.multipath = None;
    own.route = subflow.route.clone().or(own.route);
    own.ack_route = subflow.ack_route.clone().or(own.ack_route);
    own.cc = subflow.cc.clone().or(own.cc);
    own
}
