//! Disciplines with a queue for each flow or class.

pub mod classes;
pub mod drr;
pub(crate) mod flow_queues;
pub mod fq;
pub mod fq_codel;
pub mod fq_pie;
pub(crate) mod gps;
pub(crate) mod hierarchy;
pub mod hpfq;
pub(crate) mod longest;
pub(crate) mod numbering;
pub mod priority;
#[cfg(test)]
pub(crate) mod reference;
pub mod sfq;
pub(crate) mod tournament;
pub mod wf2q_plus;
pub mod wrr;
