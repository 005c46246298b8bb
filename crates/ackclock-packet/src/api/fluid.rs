//! What a front needs of the fluid engine besides the engine itself.

use serde_json::{Value, json};

use crate::error::Problem;
use crate::policy::{DemandPolicy, PolicyEnv};
use crate::registry::Spec;
use crate::scenario::Net;
use crate::sharing::{Sharing, SharingEnv};
use crate::topology::Topology;

/// A scenario's network spelled out, as JSON: names of nodes, names of its hosts (null for a map of routers,
/// which has none), and of each full-duplex link its ends, its rate there and back in bit/s, its routing weight and
/// its name, if it has one.
///
/// # Errors
/// Every problem of the network.
pub fn layout(net: &str) -> Result<String, Vec<Problem>> {
    let net: Net = super::read(net, "net").map_err(|problem| vec![problem])?;
    let layout = net.layout("net")?;
    let links: Vec<Value> = layout
        .links
        .iter()
        .map(|l| {
            let spec = &layout.kinds[l.kind as usize].spec;
            let (a, b) = (layout.name(l.a), layout.name(l.b));
            let back = spec.back_rate.unwrap_or(l.rate);
            json!([a, b, l.rate.bps(), back.bps(), spec.weight, spec.id])
        })
        .collect();
    let hosts: Option<Vec<&str>> = (!layout.is_map)
        .then(|| layout.hosts().into_iter().map(|host| layout.name(host)).collect());
    Ok(json!({ "nodes": layout.nodes, "hosts": hosts, "links": links }).to_string())
}

/// Builds a fluid link's sharing rule from its name, or a table with `kind` and parameters.
///
/// # Errors
/// There is no such rule, or a parameter is wrong.
pub fn sharing_rule(spec: &Value, path: &str) -> Result<Box<dyn Sharing>, Vec<Problem>> {
    crate::sharing::build(&algorithm(spec, path)?, &SharingEnv, path)
}

/// Builds a fluid sender's policy from its name, or a table with `kind` and parameters.
///
/// # Errors
/// There is no such policy, or a parameter is wrong.
pub fn sender_policy(spec: &Value, path: &str) -> Result<Box<dyn DemandPolicy>, Vec<Problem>> {
    crate::policy::build(&algorithm(spec, path)?, &PolicyEnv, path)
}

fn algorithm(spec: &Value, path: &str) -> Result<Spec, Problem> {
    serde_json::from_value(spec.clone())
        .map_err(|_| Problem::new(path, "expected a name, or a table with kind and parameters"))
}
