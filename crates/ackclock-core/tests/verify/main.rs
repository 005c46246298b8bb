//! The engine against theory: published formulas, closed forms, and its own books.
//!
//! Each test names its source and derives its tolerance where it is used.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

#[path = "../common/mod.rs"]
mod common;

use ackclock_base::reference_data;

mod aqm;
mod bad_input;
mod controls;
mod determinism;
mod fairness;
mod impairments;
mod links;
mod networks;
mod overload;
mod queueing;
mod random;
mod rate_senders;
mod rates;
mod recording;
mod routes;
mod schedulers;
mod senders;
mod short_flows;
mod tcp_laws;
mod trimming;
