//! What was sent in vain, and what that cost: dead flow, zombies.
//!
//! **Source**: McCullough, Raghavan, Snoeren, sections 4.1, 4.1.1 (M-C7 here *edge*), 4.2 and 4.3
//! (M-C8 here *shortfall*).
//!
//! **Rule** (at a link: in, out of a flow; M its ideal, max-min rate)
//! ```text
//! dead            demand - goodput; per link what it drops beyond the access routers
//! Under           {i : out_i <= M_i}            D = sum of out_i - M_i over others not from here
//! zombies (edge)  Z = sum over Under of in_i - out_i
//! zombies (shortfall)  sum over all i of max(0, min(in_i, M_i) - out_i)
//! caused by i     (out_i - M_i) / D of either sum
//! ```
//! The two definitions of zombies differ: the first counts all that an under-served flow loses at
//! the link, also what it would have lost in the ideal; the second only what takes it below its
//! ideal. The paper's own examples (Fig. 2: "eight", Fig. 4) are counts of the second. Its sum over
//! a flow's path telescopes to min(d, M) - min(g, M), so that
//! ```text
//! sum M - sum g = zombies (shortfall) + unasked - above
//! unasked = sum max(0, M - d),   above = sum max(0, g - M)
//! ```
//! What no flow at the link caused (D = 0) is counted apart.

use super::{FluidNet, Outcome};

/// The books of one outcome.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accounts {
    /// Per link, what arrives.
    pub offered: Vec<f64>,
    /// Per link, what leaves.
    pub carried: Vec<f64>,
    /// Per link, what it drops beyond the flows' access routers.
    pub dead: Vec<f64>,
    /// Per link, zombies by M-C7.
    pub zombies_edge: Vec<f64>,
    /// Per link, zombies by M-C8.
    pub zombies: Vec<f64>,
    /// Per flow, what was dropped beyond its access router.
    pub flow_dead: Vec<f64>,
    /// Per flow, what took it below its ideal, by M-C8.
    pub suffered: Vec<f64>,
    /// Per flow, the zombies by M-C8 that it caused.
    pub caused: Vec<f64>,
    /// Per flow, the zombies by M-C7 that it caused: the paper's `Z_i`, over all links.
    pub caused_edge: Vec<f64>,
    /// Zombies by M-C8 at links where no flow was above its ideal.
    pub uncaused: f64,
    /// The same by M-C7.
    pub uncaused_edge: f64,
}

/// Rates nearer than this, relative to the larger, are the same.
const SAME: f64 = 1e-9;

/// Counts dead flow and zombies. A drop on one of the first `access` hops is at the sender or its
/// access router and is not dead: 1 where sources are routers, 2 where they are hosts.
pub fn account(net: &FluidNet, outcome: &Outcome, ideal: &[f64], access: usize) -> Accounts {
    let (links, flows) = (net.links(), net.flows());
    let mut books = Accounts {
        offered: vec![0.0; links],
        carried: vec![0.0; links],
        dead: vec![0.0; links],
        zombies_edge: vec![0.0; links],
        zombies: vec![0.0; links],
        flow_dead: vec![0.0; flows],
        suffered: vec![0.0; flows],
        caused: vec![0.0; flows],
        caused_edge: vec![0.0; flows],
        ..Accounts::default()
    };
    let mut above = vec![0.0; links];
    for (flow, &ideal) in ideal.iter().enumerate() {
        let mut arriving = outcome.demand[flow];
        for (position, hop) in net.range(flow).enumerate() {
            let (link, leaving) = (net.hops[hop] as usize, outcome.leaving[hop]);
            let lost = (arriving - leaving).max(0.0);
            books.offered[link] += arriving;
            books.carried[link] += leaving;
            if position >= access {
                books.dead[link] += lost;
                books.flow_dead[flow] += lost;
            }
            if is_above(leaving, ideal) {
                if position > 0 {
                    above[link] += leaving - ideal;
                }
            } else {
                books.zombies_edge[link] += lost;
                let short = (arriving.min(ideal) - leaving).max(0.0);
                books.zombies[link] += short;
                books.suffered[flow] += short;
            }
            arriving = leaving;
        }
    }
    for (flow, &ideal) in ideal.iter().enumerate() {
        for hop in net.range(flow).skip(1) {
            let (link, leaving) = (net.hops[hop] as usize, outcome.leaving[hop]);
            if is_above(leaving, ideal) {
                let share = (leaving - ideal) / above[link];
                books.caused[flow] += share * books.zombies[link];
                books.caused_edge[flow] += share * books.zombies_edge[link];
            }
        }
    }
    for link in (0..links).filter(|&link| above[link] == 0.0) {
        books.uncaused += books.zombies[link];
        books.uncaused_edge += books.zombies_edge[link];
    }
    books
}

fn is_above(rate: f64, ideal: f64) -> bool {
    rate > ideal * (1.0 + SAME)
}
