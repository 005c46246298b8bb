//! From a scenario to tables: [`compile`] turns what the user said into a plan, the [`packet`] engine runs the plan, and
//! [`api`] is the whole core as text in, text and columns out.

pub mod api;
pub mod compile;
pub mod packet;

use ackclock_base::{
    agenda, dscp, era, error, ids, memory, percentiles, registry, rng, units, warm_up, wire,
};
use ackclock_controls::{cc, recovery, slow_start};
use ackclock_endpoint::{columns, endpoint, outbox, record};
use ackclock_fluid::{policy, sharing};
use ackclock_queues::{impairment, qdisc};
use ackclock_scenario::{scenario, topology};
use ackclock_transport::{credits, multicast, multipath, quic, tcp, tcp_ns2, traffic};
