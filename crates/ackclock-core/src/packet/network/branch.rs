//! Multicast groups: their sources, and the nodes where their trees branch.
//!
//! Each edge of a tree is a flow with a route between two branches, or from a branch to a receiver. A branch
//! is in the place of the endpoints of these flows: it copies a packet to each flow that begins there and
//! holds the packet's layer, and passes the membership of the tree below it to the branch above.

use crate::multicast::Source;
use crate::units::Time;

/// The sources and branches of a run.
#[derive(Debug, Default)]
pub(in crate::packet) struct Groups {
    /// By group.
    pub(in crate::packet) sources: Vec<Emitter>,
    pub(in crate::packet) branches: Vec<Branch>,
    /// By end, the branch in its place; empty without groups.
    pub(in crate::packet) of_end: Vec<u32>,
    /// Sequence numbers of the packets that a source sends now.
    pub(in crate::packet) numbers: Vec<u32>,
}

/// The source of a group.
#[derive(Debug)]
pub(in crate::packet) struct Emitter {
    pub(in crate::packet) source: Source,
    /// When its next packets leave.
    pub(in crate::packet) due: Time,
    /// The branch at its node.
    pub(in crate::packet) root: u32,
}

/// A node where a tree branches.
#[derive(Debug)]
pub(in crate::packet) struct Branch {
    /// The end from which membership messages leave; none at the source.
    pub(in crate::packet) parent: Option<u32>,
    pub(in crate::packet) children: Vec<Child>,
    /// Layers that it last reported.
    pub(in crate::packet) reported: u32,
    /// When it last did, in picoseconds.
    pub(in crate::packet) reported_at: u64,
    /// Copies made.
    pub(in crate::packet) copies: u64,
}

/// A flow that begins at a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::packet) struct Child {
    /// Its sender's end.
    pub(in crate::packet) end: u32,
    /// Layers that the tree below it holds.
    pub(in crate::packet) layers: u32,
}

impl Branch {
    /// Layers that the tree below it holds.
    pub(in crate::packet) fn layers(&self) -> u32 {
        self.children.iter().map(|child| child.layers).max().unwrap_or(0)
    }
}
