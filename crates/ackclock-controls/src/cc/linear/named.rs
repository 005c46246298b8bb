//! The names of the linear rules and their parameters.
//!
//! Pure rules have the two numbers of LC(a, b) in the source's section 3.2, increase first;
//! hybrids have the names of its section 5.1. Defaults are the source's: its best pure rules were
//! AIMD(1, 0.8), AIAD(1, 3), MIMD(1.125, 0.8), MIAD(1.125, 3); AIMD defaults to TCP's (1, 0.5).

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Count, FirstCut, Linear, Rule};
use crate::error::Problem;
use crate::registry::{Info, Status};

/// Parameters of one named rule.
pub trait Named: Default + Serialize + DeserializeOwned + JsonSchema {
    /// Identity and source.
    const INFO: Info;
    /// Other names.
    const ALSO: &'static [&'static str] = &[];
    /// The four numbers.
    ///
    /// # Errors
    /// They contradict each other.
    fn rule(&self) -> Result<Rule, Vec<Problem>>;
    /// What growth counts, if said.
    fn count(&self) -> Option<Count>;
    /// How early cuts are made, if said.
    fn first_cut(&self) -> Option<FirstCut>;
    /// Factor kept after an ECN mark, if said.
    fn beta_ecn(&self) -> Option<f64>;
}

macro_rules! named {
    (
        $(#[$doc:meta])*
        $params:ident, $alias:ident, $name:literal $(also $also:literal)?, $title:literal, $section:literal;
        $( $(#[$field_doc:meta])* $field:ident = $default:literal; )+
        |$p:ident| $rule:expr
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $params {
            $( $(#[$field_doc])* pub $field: f64, )+
            /// What growth counts: `acks` or `segments`. Left out: `segments` in the RFC era, else
            /// `acks`.
            pub count: Option<Count>,
            /// First cut, cuts in slow start and at timeouts: by the `rule` or by `half`. Left out:
            /// `half` in the era `ns2`, else `rule`.
            pub first_cut: Option<FirstCut>,
            /// Factor kept after an ECN mark (RFC 8511 section 3.1: 0.8 for the rule of TCP). Left out: as after
            /// a loss.
            #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
            pub beta_ecn: Option<f64>,
        }

        impl Default for $params {
            fn default() -> Self {
                Self { $( $field: $default, )+ count: None, first_cut: None, beta_ecn: None }
            }
        }

        impl Named for $params {
            const INFO: Info = Info {
                name: $name,
                title: $title,
                source: concat!(
                    "Akella, Seshan, Shenker, Stoica, \"Exploring Congestion Control\", ",
                    "CMU-CS-02-139 (2002), section ", $section
                ),
                status: Status::Specified,
            };
            $(const ALSO: &'static [&'static str] = &[$also];)?
            fn rule(&self) -> Result<Rule, Vec<Problem>> {
                let $p = self;
                $rule
            }
            fn count(&self) -> Option<Count> {
                self.count
            }
            fn first_cut(&self) -> Option<FirstCut> {
                self.first_cut
            }
            fn beta_ecn(&self) -> Option<f64> {
                self.beta_ecn
            }
        }

        #[doc = concat!("The control `", $name, "`.")]
        pub type $alias = Linear<$params>;
    };
}

named! {
    /// Parameters of AIMD: `w <- w + a` per round trip, `w <- b w` on loss.
    AimdParams, Aimd, "aimd" also "reno", "Additive increase, multiplicative decrease", "3.2";
    /// Increase per round trip.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    a = 1.0;
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    b = 0.5;
    |p| Ok(Rule { a_i: p.a, b_i: 1.0, a_d: 0.0, b_d: p.b })
}

named! {
    /// Parameters of AIAD: `w <- w + a` per round trip, `w <- w - d` on loss.
    AiadParams, Aiad, "aiad", "Additive increase, additive decrease", "3.2";
    /// Increase per round trip.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    a = 1.0;
    /// Decrease on loss.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    d = 3.0;
    |p| Ok(Rule { a_i: p.a, b_i: 1.0, a_d: -p.d, b_d: 1.0 })
}

named! {
    /// Parameters of MIMD: `w <- a w` per round trip, `w <- b w` on loss.
    MimdParams, Mimd, "mimd", "Multiplicative increase, multiplicative decrease", "3.2";
    /// Factor of increase per round trip.
    #[schemars(extend("exclusiveMinimum" = 1))]
    a = 1.125;
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    b = 0.8;
    |p| Ok(Rule { a_i: 0.0, b_i: p.a, a_d: 0.0, b_d: p.b })
}

named! {
    /// Parameters of MIAD: `w <- a w` per round trip, `w <- w - d` on loss.
    MiadParams, Miad, "miad", "Multiplicative increase, additive decrease", "3.2";
    /// Factor of increase per round trip.
    #[schemars(extend("exclusiveMinimum" = 1))]
    a = 1.125;
    /// Decrease on loss.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    d = 3.0;
    |p| Ok(Rule { a_i: 0.0, b_i: p.a, a_d: -p.d, b_d: 1.0 })
}

named! {
    /// Parameters of AIMAD: `w <- w + a_i` per round trip, `w <- a_d + b_d w` on loss.
    AimadParams, Aimad, "aimad", "Additive increase, multiplicative and additive decrease", "5.2";
    /// Increase per round trip.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    a_i = 1.0;
    /// Added on loss.
    #[schemars(range(max = 0), extend("x-unit" = "segments"))]
    a_d = -1.0;
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    b_d = 0.9;
    |p| Ok(Rule { a_i: p.a_i, b_i: 1.0, a_d: p.a_d, b_d: p.b_d })
}

named! {
    /// Parameters of MAIMD: `w <- a_i + b_i w` per round trip, `w <- b_d w` on loss. The form is
    /// from S. Gorinsky, H. Vin, TR2000-18 (2000), with `b_d = 0.5`; 0.8 is the source's.
    MaimdParams, Maimd, "maimd",
    "Multiplicative and additive increase, multiplicative decrease", "5.2";
    /// Added per round trip.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "segments"))]
    a_i = 1.0;
    /// Factor of increase per round trip.
    #[schemars(extend("exclusiveMinimum" = 1))]
    b_i = 1.1;
    /// Factor kept after a loss.
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    b_d = 0.8;
    |p| Ok(Rule { a_i: p.a_i, b_i: p.b_i, a_d: 0.0, b_d: p.b_d })
}

named! {
    /// Parameters of the general rule: `w <- a_i + b_i w` per round trip, `w <- a_d + b_d w` on
    /// loss.
    GeneralParams, General, "linear", "General linear control", "5.1";
    /// Added per round trip.
    #[schemars(range(min = 0), extend("x-unit" = "segments"))]
    a_i = 1.0;
    /// Factor per round trip.
    #[schemars(range(min = 1))]
    b_i = 1.0;
    /// Added on loss.
    #[schemars(range(max = 0), extend("x-unit" = "segments"))]
    a_d = 0.0;
    /// Factor kept after a loss.
    #[schemars(range(max = 1), extend("exclusiveMinimum" = 0))]
    b_d = 0.5;
    |p| {
        if p.a_i + p.b_i <= 1.0 {
            let message = "a_i = 0 with b_i = 1 never grows; expected a larger value of one of them";
            return Err(Problem::new("a_i", message).into());
        }
        if p.b_d - p.a_d.abs() >= 1.0 {
            let message = "a_d = 0 with b_d = 1 never shrinks; expected a smaller value of one of them";
            return Err(Problem::new("a_d", message).into());
        }
        Ok(Rule { a_i: p.a_i, b_i: p.b_i, a_d: p.a_d, b_d: p.b_d })
    }
}
