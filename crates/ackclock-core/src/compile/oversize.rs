//! Whether the packets of TCP flows fit their links: one that does not is dropped at each of its tries.

use super::plan::{Plan, PlanSender};

/// One sentence for every flow whose full packets, or acknowledgements, are larger than a link's MTU.
pub(super) fn warnings(plan: &Plan) -> Vec<String> {
    let mut warnings = Vec::new();
    for flow in plan.flows.iter().filter(|f| matches!(*f.sender, PlanSender::Tcp { .. })) {
        let whole = u64::from(flow.tcp.mss);
        let data = flow.size.map_or(whole, |size| whole.min(size.0)) as u32;
        let extra = if flow.tcp.timestamps { 12 } else { 0 };
        let sizes = [(&flow.route, data + flow.tcp.header), (&flow.ack_route, flow.tcp.ack_size)];
        for (route, size) in sizes {
            let size = size + extra;
            let narrow = route.iter().map(|link| &plan.links[link.index()]);
            let Some(link) = narrow.min_by_key(|link| link.settings.mtu) else { continue };
            let mtu = link.settings.mtu;
            if size > u32::from(mtu) {
                warnings.push(format!(
                    "flow {}: its packets of {size} B are larger than the MTU of {mtu} B of link {} and \
                     are all dropped there",
                    flow.name,
                    link.name(&plan.nodes),
                ));
            }
        }
    }
    warnings
}
