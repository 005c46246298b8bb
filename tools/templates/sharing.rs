//! <Title>: <what it does, in a sentence>.
//!
//! What: <what it is good for, and what it assumes>.
//!
//! **Source**: <authors, "title", venue year, section, doi>.
//!
//! **Rule**
//! ```text
//! <at most ten lines of formulas>
//! ```
//! Deviations: <none, or what and why>.
//!
//! Defaults by era: <the same in all, or which>.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Arrivals, Sharing, SharingEnv};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of {{Name}}.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// <What it does, in a phrase>.
pub struct {{Name}};

impl About<SharingEnv> for {{Name}} {
    type Params = Params;
    const INFO: Info = Info {
        name: "{{name}}",
        title: "<Title>",
        source: "<authors year, section, doi>",
        status: Status::Variant,
    };

    fn new(_: Params, _env: &SharingEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl Sharing for {{Name}} {
    fn share(&self, arrivals: &Arrivals<'_>, leaving: &mut [f64]) {
        // Who comes first in the list gets its full demand.
        let mut left = arrivals.capacity;
        for (out, arrived) in leaving.iter_mut().zip(arrivals.rate) {
            *out = arrived.min(left);
            left -= *out;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_divided_as_worked_out_by_hand() {
        let mut leaving = [0.0; 3];
        let arrivals = Arrivals { capacity: 20.0, rate: &[10.0, 30.0, 5.0], weight: &[] };
        {{Name}}.share(&arrivals, &mut leaving);
        assert_eq!(leaving, [10.0, 10.0, 0.0]);
    }
}
