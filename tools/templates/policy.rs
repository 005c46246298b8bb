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

use super::{DemandPolicy, PolicyEnv, Sender};
use crate::error::Problem;
use crate::registry::{About, Info, Status};

/// Parameters of {{Name}}.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// <What it does, in a phrase>.
pub struct {{Name}};

impl About<PolicyEnv> for {{Name}} {
    type Params = Params;
    const INFO: Info = Info {
        name: "{{name}}",
        title: "<Title>",
        source: "<authors year, section, doi>",
        status: Status::Variant,
    };

    fn new(_: Params, _env: &PolicyEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self)
    }
}

impl DemandPolicy for {{Name}} {
    fn demand(&self, sender: &Sender<'_>, next: &mut [f64]) {
        // A tenth more than what gets through, at most the link.
        let most = sender.capacity / next.len() as f64;
        for (rate, got) in next.iter_mut().zip(sender.goodput) {
            *rate = (1.1 * got).min(most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_as_worked_out_by_hand() {
        let mut next = [0.0; 2];
        let sender = Sender { capacity: 12.0, demand: &[6.0; 2], goodput: &[1.0, 6.0], paths: &[] };
        {{Name}}.demand(&sender, &mut next);
        assert_eq!(next, [1.1, 6.0]);
    }
}
