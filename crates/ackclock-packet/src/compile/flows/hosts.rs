//! Which nodes the flows of a traffic pattern connect.

use super::Context;
use crate::ids::NodeId;
use crate::scenario::Names;

impl Context<'_> {
    /// The chosen nodes in order; all problems of the choice are reported.
    pub(super) fn hosts_of_pattern(
        &mut self,
        selection: Option<&Names>,
        path: &str,
    ) -> Option<Vec<NodeId>> {
        match selection {
            None => Some(self.layout.hosts()),
            Some(Names::One(group)) => self.group(group, path),
            Some(Names::Several(names)) => {
                let ids: Vec<Option<NodeId>> = names
                    .iter()
                    .enumerate()
                    .map(|(i, name)| self.node(name, || format!("{path}[{i}]")))
                    .collect();
                let nodes: Vec<NodeId> = ids.into_iter().collect::<Option<_>>()?;
                let mut before = nodes.clone();
                before.sort_unstable();
                if let Some(pair) = before.windows(2).find(|pair| pair[0] == pair[1]) {
                    let name = self.layout.name(pair[0]).to_owned();
                    self.wrong(path, format!("names \"{name}\" twice; expected different nodes"));
                    return None;
                }
                Some(nodes)
            }
        }
    }

    fn group(&mut self, group: &str, path: &str) -> Option<Vec<NodeId>> {
        if group == "all" {
            return Some((0..self.layout.nodes.len() as u32).map(NodeId).collect());
        }
        if group != "leaves" {
            let message =
                format!("is \"{group}\"; expected \"all\", \"leaves\" or a list of nodes");
            self.wrong(path, message);
            return None;
        }
        let leaves = self.layout.leaves();
        if leaves.len() < 2 {
            let (hosts, of) = (leaves.len(), self.layout.nodes.len());
            let message =
                format!("is \"leaves\", but {hosts} of {of} nodes have one neighbour; expected 2");
            self.wrong(path, message);
            return None;
        }
        Some(leaves)
    }
}
