//! From a drawn graph to a layout: names, rates, and what all links share.

use super::adjacency::Adjacency;
use super::edge_nodes::{attach, leaves, rates};
use super::{Layout, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Spec;
use crate::rng::Stream;
use crate::scenario::{Capacities, Radius};
use crate::units::{BitRate, BufferSize, Span};

/// Most nodes for which the centre is sought: betweenness takes nodes times links.
const MAX_CENTRED: usize = 20_000;

/// What all links of a drawn network share.
pub(super) struct Links<'a> {
    /// Rate of a leaf link.
    pub(super) rate: BitRate,
    /// One-way delay.
    pub(super) delay: Span,
    /// Buffer.
    pub(super) buffer: BufferSize,
    /// Queue discipline.
    pub(super) qdisc: &'a Spec,
}

/// Checks that so many nodes may have the requested number of links: no attribute of one field.
pub(super) fn check_edges(
    path: &str,
    edges: u32,
    most: u64,
    nodes: u32,
) -> Result<(), Vec<Problem>> {
    if u64::from(edges) > most {
        let message = format!("is {edges}, expected at most {most} with {nodes} nodes");
        return Err(vec![Problem::new(format!("{path}.edges"), message)]);
    }
    Ok(())
}

/// A network of what was drawn: with edge nodes, their number and radius, or its largest component.
pub(super) fn network(
    path: &str,
    base: &Adjacency,
    edge_nodes: Option<(u32, Radius)>,
    capacities: Capacities,
    common: &Links<'_>,
    rng: &mut Stream,
) -> Result<Layout, Vec<Problem>> {
    let graph = match edge_nodes {
        Some((count, radius)) => with_edge_nodes(path, base, count, radius, rng)?,
        None => base.largest_component(),
    };
    let mut network = layout(path, &graph, capacities, common)?;
    network.is_map = edge_nodes.is_none();
    Ok(network)
}

/// Attaches edge nodes where there may be so many.
fn with_edge_nodes(
    path: &str,
    base: &Adjacency,
    count: u32,
    radius: Radius,
    rng: &mut Stream,
) -> Result<Adjacency, Vec<Problem>> {
    let wrong = |key: &str, message| Err(vec![Problem::new(format!("{path}.{key}"), message)]);
    let nodes = base.nodes();
    if nodes > MAX_CENTRED {
        return wrong(
            "nodes",
            format!("is {nodes}, expected at most {MAX_CENTRED} with edge_nodes"),
        );
    }
    attach(base, count, radius, rng).or_else(|message| wrong("edge_nodes", message))
}

/// Names the routers `c0..` and the leaves `e0..`, and rates the links by their depth.
fn layout(
    path: &str,
    graph: &Adjacency,
    capacities: Capacities,
    common: &Links<'_>,
) -> Result<Layout, Vec<Problem>> {
    if graph.links().is_empty() {
        let message = "is too small for a link; expected another seed, or more edges";
        return Err(vec![Problem::new(format!("{path}.edges"), message)]);
    }
    let leaf = leaves(graph);
    let (mut routers, mut edges) = (0, 0);
    let names: Vec<String> = leaf
        .iter()
        .map(|&leaf| {
            let (letter, number) = if leaf { ('e', &mut edges) } else { ('c', &mut routers) };
            *number += 1;
            format!("{letter}{}", *number - 1)
        })
        .collect();
    layout_named(path, graph, names, capacities, common)
}

/// A layout with the names given.
pub(super) fn layout_named(
    path: &str,
    graph: &Adjacency,
    nodes: Vec<String>,
    capacities: Capacities,
    common: &Links<'_>,
) -> Result<Layout, Vec<Problem>> {
    let rates = rates(graph, capacities, common.rate)
        .map_err(|message| vec![Problem::new(format!("{path}.capacities"), message)])?;
    let mut layout = Layout { nodes, ..Layout::default() };
    let kind = layout.kind(path, links(common.buffer, common.qdisc));
    for (&(a, b), rate) in graph.links().iter().zip(rates) {
        layout.link(kind, [a, b].map(NodeId), rate, common.delay);
    }
    Ok(layout)
}
