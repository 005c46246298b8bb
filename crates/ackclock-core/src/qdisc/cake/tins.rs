//! Tins: classes of traffic by code point, each with a rate up to which it has priority.
//!
//! **Source**: tc-cake(8), "Priority queue parameters", whose code points and shares these are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dscp::Dscp;

/// Which tins there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tins {
    /// One for all.
    Besteffort,
    /// Best effort, bulk, voice.
    #[default]
    Diffserv3,
    /// Best effort, bulk, video, voice.
    Diffserv4,
}

/// A tin: a part of the whole rate, and whether its AQM reacts at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Its rate is the whole one over this.
    pub(super) divisor: u32,
    /// The interval of its AQM is the target instead of the round trip.
    pub(super) is_quick: bool,
}

const BEST_EFFORT: Share = Share { divisor: 1, is_quick: false };
const BULK: Share = Share { divisor: 16, is_quick: false };
const VIDEO: Share = Share { divisor: 2, is_quick: false };
const VOICE: Share = Share { divisor: 4, is_quick: true };

impl Tins {
    /// The tins, the one that goes first within its rate last.
    pub(super) fn shares(self) -> &'static [Share] {
        match self {
            Self::Besteffort => &[BEST_EFFORT],
            Self::Diffserv3 => &[BEST_EFFORT, BULK, VOICE],
            Self::Diffserv4 => &[BEST_EFFORT, BULK, VIDEO, VOICE],
        }
    }

    /// The tin of a code point.
    pub(super) fn of(self, dscp: Dscp) -> u32 {
        let (video, voice) = match self {
            Self::Besteffort => return 0,
            Self::Diffserv3 => (0, 2),
            Self::Diffserv4 => (2, 3),
        };
        match dscp.value() {
            // LE, CS1
            1 | 8 => 1,
            // CS7, CS6, EF, VA
            56 | 48 | 46 | 44 => voice,
            // CS5, CS4
            40 | 32 if self == Self::Diffserv4 => voice,
            // The old "minimise delay"
            4 if self == Self::Diffserv3 => voice,
            // AF4x, AF3x, CS3, AF2x, CS2
            4 | 34 | 36 | 38 | 26 | 28 | 30 | 24 | 18 | 20 | 22 | 16 => video,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_go_to_the_tins_of_the_manual() {
        let names = |tins: Tins, names: &[&str]| -> Vec<u32> {
            names.iter().map(|name| tins.of(name.parse().unwrap())).collect()
        };
        let all = [
            "default",
            "le",
            "cs1",
            "af11",
            "cs2",
            "af23",
            "cs3",
            "af31",
            "af42",
            "cs4",
            "cs5",
            "voice-admit",
            "ef",
            "cs6",
            "cs7",
        ];
        assert_eq!(names(Tins::Diffserv3, &all), [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2]);
        assert_eq!(names(Tins::Diffserv4, &all), [0, 1, 1, 0, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3]);
        assert!(names(Tins::Besteffort, &all).iter().all(|&tin| tin == 0));
        for tins in [Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv4] {
            let count = tins.shares().len() as u32;
            assert!((0..64).all(|value| tins.of(Dscp::new(value).unwrap()) < count));
        }
    }
}
