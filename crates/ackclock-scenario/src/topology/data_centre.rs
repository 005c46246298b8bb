//! What networks of data centres have in common: rates, and hosts at the lowest level of switches.

use super::{Layout, check_nodes, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Spec;
use crate::scenario::LinkSpec;
use crate::units::{BitRate, BufferSize, Span};

/// Rates and one-way delays of the hosts' links, and of those between switches.
pub(super) struct Rates {
    given: [Option<f64>; 2],
    pub(super) host: BitRate,
    pub(super) switch: BitRate,
    pub(super) host_delay: Span,
    pub(super) switch_delay: Span,
}

impl Rates {
    /// What is left out for links between switches is that of the hosts' links.
    pub(super) fn new(
        host: BitRate,
        switch: Option<BitRate>,
        host_delay: Span,
        switch_delay: Option<Span>,
    ) -> Self {
        Self {
            given: [switch.map(BitRate::bps), switch_delay.map(Span::seconds)],
            host,
            switch: switch.unwrap_or(host),
            host_delay,
            switch_delay: switch_delay.unwrap_or(host_delay),
        }
    }

    /// Both rates [bit/s], then both delays [s], for a check of ranges: what is left out has no problem.
    pub(super) fn values(&self) -> [f64; 4] {
        let [switch, switch_delay] = self.given.map(|rate_or_delay| rate_or_delay.unwrap_or(1.0));
        [self.host.bps(), switch, self.host_delay.seconds(), switch_delay]
    }
}

/// Checks that the hosts at each of so many `switches` of the lowest level, with `all` switches, are no more
/// nodes than a network may have.
pub(super) fn check(path: &str, switches: u32, hosts: u32, all: u64) -> Result<(), Vec<Problem>> {
    check_nodes(path, "hosts", hosts, u64::from(switches) * u64::from(hosts) + all)
}

/// The hosts' links: towards a host like every port of a switch, from it plain FIFO without a limit.
fn host_links(buffer: BufferSize, qdisc: &Spec) -> LinkSpec {
    LinkSpec {
        back_buffer: Some(BufferSize::Unlimited),
        back_qdisc: Some("fifo".into()),
        ..links(buffer, qdisc)
    }
}

/// Adds `hosts` hosts at each of the `switches`, and pairs of hosts at the same place half the switches on.
pub(super) fn add_hosts(
    layout: &mut Layout,
    path: &str,
    (buffer, qdisc): (BufferSize, &Spec),
    switches: &[NodeId],
    hosts: u32,
    rates: &Rates,
) {
    let kind = layout.kind(path, host_links(buffer, qdisc));
    let mut all = Vec::with_capacity(switches.len() * hosts as usize);
    for &switch in switches {
        for _ in 0..hosts {
            let host = layout.node(format!("h{}", all.len()));
            layout.link(kind, [switch, host], rates.host, rates.host_delay);
            all.push(host);
        }
    }
    let shift = switches.len() / 2 * hosts as usize;
    let opposite = all.iter().cycle().skip(shift);
    layout.pairs.extend(all.iter().copied().zip(opposite.copied()));
}
