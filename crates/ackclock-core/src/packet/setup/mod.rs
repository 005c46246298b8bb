//! From a plan to a simulation that is ready to run.

pub(in crate::packet) mod build;
pub(in crate::packet) mod custom;
pub(in crate::packet) mod cut;
pub(in crate::packet) mod division;
pub(in crate::packet) mod endpoints;
pub(in crate::packet) mod groups;
pub(in crate::packet) mod links;
pub(in crate::packet) mod observer;
pub(in crate::packet) mod parallelism;
pub(in crate::packet) mod partition;
pub(in crate::packet) mod routes;
pub(in crate::packet) mod trial;
