//! Disciplines with a queue for each flow or class.

pub mod classes;
pub mod drr;
pub mod fq;
pub mod fq_codel;
pub(in crate::qdisc) mod gps;
pub(in crate::qdisc) mod longest;
pub mod sfq;
pub(in crate::qdisc) mod tournament;
