//! The controllers of s2n-quic: CUBIC and BBR version 2.
//!
//! **Source**: crate `s2n-quic-core`, module `recovery`. Its CUBIC follows RFC 8312 with hybrid slow start; its BBR
//! follows draft-cardwell-iccrg-bbr-congestion-control-02.
//!
//! What applications of s2n-quic can set is left at its defaults. The environment variable
//! `S2N_UNSTABLE_USE_HYSTART_PP`, which s2n reads, changes the slow start of `s2n/cubic`.

use ackclock_core::cc::CcEnv;
use ackclock_core::error::Problem;
use ackclock_core::registry::{About, Info, Status};
use s2n_quic_core::recovery::bbr::{ApplicationSettings as BbrSettings, BbrCongestionController};
use s2n_quic_core::recovery::cubic::{ApplicationSettings, CubicCongestionController};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Driven, Release};

/// The crate.
pub const RELEASE: Release = Release { name: "s2n-quic-core", version: "0.91.0" };

/// s2n's CUBIC.
pub type Cubic = Driven<CubicCongestionController>;

/// s2n's BBR version 2.
pub type Bbr2 = Driven<BbrCongestionController>;

/// No parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoParams {}

impl About<CcEnv> for Cubic {
    type Params = NoParams;
    const INFO: Info = Info {
        name: "s2n/cubic",
        title: "CUBIC of s2n-quic",
        source: "crate s2n-quic-core, recovery/cubic.rs; RFC 8312",
        status: Status::Shipped,
    };

    fn new(_: NoParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let make =
            |datagram| CubicCongestionController::new(datagram, ApplicationSettings::default());
        Ok(Self::of(make, env, "slow-start"))
    }
}

impl About<CcEnv> for Bbr2 {
    type Params = NoParams;
    const INFO: Info = Info {
        name: "s2n/bbr2",
        title: "BBR version 2 of s2n-quic",
        source: "crate s2n-quic-core, recovery/bbr.rs; draft-cardwell-iccrg-bbr-congestion-control-02",
        status: Status::Shipped,
    };

    fn new(_: NoParams, env: &CcEnv) -> Result<Self, Vec<Problem>> {
        let make = |datagram| BbrCongestionController::new(datagram, BbrSettings::default());
        Ok(Self::of(make, env, "startup"))
    }
}
