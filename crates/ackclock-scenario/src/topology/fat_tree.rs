//! Fat tree: a data centre of equal switches in three levels.
//!
//! **Source**: M. Al-Fares, A. Loukissas, A. Vahdat, "A Scalable, Commodity Data Center Network Architecture",
//! SIGCOMM 2008, section 2.2, doi:10.1145/1402958.1402967.
//!
//! **Rule**
//! ```text
//! k pods, each with k/2 edge and k/2 aggregation switches, every edge linked to every aggregation switch of its pod
//! (k/2)^2 core switches; core switch i k/2 + j is linked to the i-th aggregation switch of every pod
//! k/2 hosts at each edge switch
//! hence k^3/4 hosts, 5 k^2/4 switches, (k/2)^2 shortest paths between hosts of different pods
//! ```
//! Deviations: the number of hosts at an edge switch, the rates of hosts' and switches' links, and the number of pods may
//! differ; core switches have ports left if there are fewer than k pods.

use std::sync::LazyLock;

use super::data_centre::{Rates, add_hosts, check};
use super::{Layout, Topology, links};
use crate::error::Problem;
use crate::ids::NodeId;
use crate::registry::Ranges;
use crate::scenario::FatTree;

static RANGES: LazyLock<Ranges<7>> = LazyLock::new(|| {
    Ranges::of::<FatTree>(["k", "pods", "hosts", "rate", "switch_rate", "delay", "switch_delay"])
});

impl Topology for FatTree {
    fn layout(&self, path: &str) -> Result<Layout, Vec<Problem>> {
        let rates = Rates::new(self.rate, self.switch_rate, self.delay, self.switch_delay);
        let half = self.k / 2;
        let hosts = self.hosts.unwrap_or(half.max(1));
        let pods = self.pods.unwrap_or(self.k);
        let [rate, switch_rate, delay, switch_delay] = rates.values();
        let [k, pod_count, host_count] = [self.k, pods, hosts].map(f64::from);
        RANGES.check(path, [k, pod_count, host_count, rate, switch_rate, delay, switch_delay])?;
        // That a number is even is no range.
        if !self.k.is_multiple_of(2) {
            let message = format!(
                "is {}, expected an even number, such as {}: half of a switch's ports lead up",
                self.k,
                self.k - 1
            );
            return Err(vec![Problem::new(format!("{path}.k"), message)]);
        }
        if pods > self.k {
            let message = format!("is {pods}, expected at most {}, one for each port", self.k);
            return Err(vec![Problem::new(format!("{path}.pods"), message)]);
        }
        let in_pods = pods * half;
        check(path, in_pods, hosts, u64::from(2 * in_pods + half * half))?;
        let mut layout = Layout { has_equal_paths: true, ..Layout::default() };
        let mut nodes = |letter, count| -> Vec<NodeId> {
            (0..count).map(|i| layout.node(format!("{letter}{i}"))).collect()
        };
        let (edge, aggregation) = (nodes('e', in_pods), nodes('a', in_pods));
        let core = nodes('c', half * half);
        let between = layout.kind(path, links(self.buffer, &self.qdisc));
        let by_pod = edge.chunks(half as usize).zip(aggregation.chunks(half as usize));
        for (edge, aggregation) in by_pod {
            for &below in edge {
                for &above in aggregation {
                    layout.link(between, [below, above], rates.switch, rates.switch_delay);
                }
            }
            for (&below, group) in aggregation.iter().zip(core.chunks(half as usize)) {
                for &above in group {
                    layout.link(between, [below, above], rates.switch, rates.switch_delay);
                }
            }
        }
        add_hosts(&mut layout, path, (self.buffer, &self.qdisc), &edge, hosts, &rates);
        Ok(layout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Net;

    fn net(k: u32) -> Result<Layout, Vec<Problem>> {
        let json = format!(r#"{{"kind":"fat-tree","k":{k},"rate":1e10,"delay":1e-6}}"#);
        serde_json::from_str::<Net>(&json).unwrap().layout("net")
    }

    /// The number of shortest paths between two nodes, and their links: breadth first, by level.
    fn paths(layout: &Layout, from: NodeId, to: NodeId) -> (u64, u32) {
        let n = layout.nodes.len();
        let mut near = vec![Vec::new(); n];
        for link in &layout.links {
            near[link.a.index()].push(link.b.index());
            near[link.b.index()].push(link.a.index());
        }
        let mut count = vec![0u64; n];
        let mut level = vec![u32::MAX; n];
        (count[from.index()], level[from.index()]) = (1, 0);
        let mut now = vec![from.index()];
        while level[to.index()] == u32::MAX {
            let mut next = Vec::new();
            for &node in &now {
                for &other in &near[node] {
                    if level[other] == u32::MAX {
                        level[other] = level[node] + 1;
                        next.push(other);
                    }
                    if level[other] == level[node] + 1 {
                        count[other] += count[node];
                    }
                }
            }
            now = next;
        }
        (count[to.index()], level[to.index()])
    }

    #[test]
    fn hosts_switches_ports_and_paths_are_those_of_the_paper() {
        // The paper: switches of 48 ports serve 27,648 hosts.
        for (k, hosts) in [(2, 2), (4, 16), (8, 128), (48, 27_648)] {
            let layout = net(k).unwrap();
            let (k, half) = (u64::from(k), u64::from(k) / 2);
            let all = layout.hosts();
            assert_eq!(all.len() as u64, hosts);
            assert_eq!(all.len() as u64, k.pow(3) / 4);
            assert_eq!(layout.nodes.len() as u64 - hosts, 5 * k * k / 4);
            let mut ports = vec![0; layout.nodes.len()];
            for link in &layout.links {
                ports[link.a.index()] += 1;
                ports[link.b.index()] += 1;
            }
            let switches = (layout.nodes.len() as u64 - hosts) as usize;
            assert!(ports[..switches].iter().all(|&ports| ports == k));
            let first = all[0];
            assert_eq!(paths(&layout, first, all[all.len() - 1]), (half * half, 6));
            let (src, dst) = layout.pairs[0];
            assert_eq!(paths(&layout, src, dst), (half * half, 6));
            if k > 2 {
                assert_eq!(paths(&layout, first, all[1]), (1, 2));
                // The next edge switch of the pod.
                assert_eq!(paths(&layout, first, all[half as usize]), (half, 4));
            }
        }
    }

    /// The tree of HPCC's evaluation (SIGCOMM 2019, section 5.1): 16 core, 20 aggregation and 20 edge switches, 320 hosts,
    /// whose 160 links between switches carry as much as the hosts'.
    #[test]
    fn five_pods_of_eight_leave_ports_of_core_switches() {
        let json = r#"{"kind":"fat-tree","k":8,"pods":5,"hosts":16,"rate":1e11,"delay":1e-6}"#;
        let layout = serde_json::from_str::<Net>(json).unwrap().layout("net").unwrap();
        let count = |letter| layout.nodes.iter().filter(|name| name.starts_with(letter)).count();
        assert_eq!(['c', 'a', 'e', 'h'].map(count), [16, 20, 20, 320]);
        assert_eq!(layout.links.len(), 320 + 160);
        let hosts = layout.hosts();
        assert_eq!(paths(&layout, hosts[0], hosts[319]), (16, 6));
        let many = json.replace("\"pods\":5", "\"pods\":9");
        let problems = serde_json::from_str::<Net>(&many).unwrap().layout("net").unwrap_err();
        assert_eq!(
            problems[0].to_string(),
            "net.pods: is 9, expected at most 8, one for each port"
        );
    }

    #[test]
    fn an_odd_number_of_ports_is_refused() {
        assert_eq!(
            net(5).unwrap_err()[0].to_string(),
            "net.k: is 5, expected an even number, such as 4: half of a switch's ports lead up"
        );
        assert_eq!(net(252).unwrap_err()[0].path, "net.k");
    }
}
