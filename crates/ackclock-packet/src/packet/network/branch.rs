//! Multicast groups: their sources, and the nodes where their trees branch.
//!
//! Each edge of a tree is a flow with a route between two branches, or from a branch to a receiver. A branch
//! is in the place of the endpoints of these flows: it copies a packet to each flow that begins there and
//! holds the packet's layer, and passes the membership of the tree below it to the branch above.

use crate::multicast::Source;
use crate::units::Time;

/// The sources and branches of a run.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By group.
    pub(crate) sources: Vec<Emitter>,
    pub(crate) branches: Vec<Branch>,
    /// By end, the branch in its place; empty without groups.
    pub(crate) of_end: Vec<u32>,
    /// Sequence numbers of the packets that a source sends now.
    pub(crate) numbers: Vec<u32>,
}

/// The source of a group.
#[derive(Debug)]
pub(crate) struct Emitter {
    pub(crate) source: Source,
    /// When its next packets leave.
    pub(crate) due: Time,
    /// The branch at its node.
    pub(crate) root: u32,
}

/// A node where a tree branches.
#[derive(Debug)]
pub(crate) struct Branch {
    /// The end from which membership messages leave; none at the source.
    pub(crate) parent: Option<u32>,
    pub(crate) children: Vec<Child>,
    /// Layers that it last reported.
    pub(crate) reported: u32,
    /// When it last did, in picoseconds.
    pub(crate) reported_at: u64,
    /// Copies made.
    pub(crate) copies: u64,
}

/// A flow that begins at a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Child {
    /// Its sender's end.
    pub(crate) end: u32,
    /// Layers that the tree below it holds.
    pub(crate) layers: u32,
}

impl Branch {
    /// Layers that the tree below it holds.
    pub(crate) fn layers(&self) -> u32 {
        self.children.iter().map(|child| child.layers).max().unwrap_or(0)
    }
}
