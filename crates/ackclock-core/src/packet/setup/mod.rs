//! Setting up: a plan becomes links, processes and endpoints.

pub(in crate::packet) mod build;
pub(in crate::packet) mod custom;
pub(in crate::packet) mod endpoints;
pub(in crate::packet) mod partition;
pub(in crate::packet) mod routes;
