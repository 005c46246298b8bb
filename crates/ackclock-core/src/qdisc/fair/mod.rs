//! Disciplines with a queue for each flow or class.

pub mod classes;
pub mod drr;
pub(in crate::qdisc) mod flow_queues;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub(in crate::qdisc) mod gps;
pub(in crate::qdisc) mod hierarchy;
pub mod hpfq;
pub(in crate::qdisc) mod longest;
pub(in crate::qdisc) mod numbering;
pub mod priority;
#[cfg(test)]
pub(in crate::qdisc) mod reference;
pub mod sfq;
pub(in crate::qdisc) mod tournament;
pub mod wf2q_plus;
pub mod wrr;
