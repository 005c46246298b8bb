//! From a plan to a simulation that is ready to run.

pub(crate) mod build;
pub(crate) mod custom;
pub(crate) mod cut;
pub(crate) mod division;
pub(crate) mod endpoints;
pub(crate) mod fabric;
pub(crate) mod groups;
pub(crate) mod links;
pub(crate) mod observer;
pub(crate) mod parallelism;
pub(crate) mod partition;
pub(crate) mod routes;
pub(crate) mod trial;
