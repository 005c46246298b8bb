//! Dense identifiers. Each is an index into one table of the compiled plan.

/// A node of the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A flow: one sender, one receiver, data one way and acknowledgements the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

impl NodeId {
    /// The table index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// The table index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FlowId {
    /// The table index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
