//! Tins: classes of traffic by code point, each with a rate up to which it has priority.
//!
//! **Source**: tc-cake(8), "Priority queue parameters"; for `precedence` and `diffserv8`, which it names only, the
//! tables of Linux's `sch_cake` (6.12), whose comment has CS1 in the lowest of eight, and whose table in the second.

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
    /// Background, high throughput, best effort, streaming, low-latency data, management, minimal latency, network
    /// control.
    Diffserv8,
    /// One for each value of the three bits that were IP precedence.
    Precedence,
}

/// A tin: a part of the whole rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Numerator and denominator.
    part: (u64, u64),
}

const BEST_EFFORT: Share = Share { part: (1, 1) };
const BULK: Share = Share { part: (1, 16) };
const VIDEO: Share = Share { part: (1, 2) };
const VOICE: Share = Share { part: (1, 4) };
/// Each seven eighths of the one before.
const EIGHT: [Share; 8] = {
    let mut all = [BEST_EFFORT; 8];
    let mut i = 1;
    while i < 8 {
        all[i].part = (all[i - 1].part.0 * 7, all[i - 1].part.1 * 8);
        i += 1;
    }
    all
};

impl Share {
    /// This part of a whole, rounded down.
    pub(super) fn of(self, total: u64) -> u64 {
        let (numerator, denominator) = self.part;
        (u128::from(total) * u128::from(numerator) / u128::from(denominator)) as u64
    }
}

impl Tins {
    /// The tins, the one that goes first within its rate last.
    pub(super) fn shares(self) -> &'static [Share] {
        match self {
            Self::Besteffort => &[BEST_EFFORT],
            Self::Diffserv3 => &[BEST_EFFORT, BULK, VOICE],
            Self::Diffserv4 => &[BEST_EFFORT, BULK, VIDEO, VOICE],
            Self::Diffserv8 | Self::Precedence => &EIGHT,
        }
    }

    /// Their names, in the order of [`Self::shares`].
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Besteffort => &["best effort"],
            Self::Diffserv3 => &["best effort", "bulk", "voice"],
            Self::Diffserv4 => &["best effort", "bulk", "video", "voice"],
            Self::Diffserv8 => &[
                "background",
                "high throughput",
                "best effort",
                "streaming",
                "low-latency data",
                "management",
                "minimal latency",
                "network control",
            ],
            Self::Precedence => &["0", "1", "2", "3", "4", "5", "6", "7"],
        }
    }

    /// The tin of a code point.
    pub(super) fn of(self, dscp: Dscp) -> u32 {
        let (video, voice) = match self {
            Self::Besteffort => return 0,
            Self::Precedence => return u32::from(dscp.value() >> 3),
            Self::Diffserv8 => return of_eight(dscp),
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

/// The tin of a code point in `diffserv8`.
fn of_eight(dscp: Dscp) -> u32 {
    match dscp.value() {
        // LE
        1 => 0,
        // CS1, AF1x, the old "maximise throughput"
        8 | 10 | 12 | 14 | 2 => 1,
        // AF4x, AF3x, CS3
        34 | 36 | 38 | 26 | 28 | 30 | 24 => 3,
        // AF2x, the old "minimise delay"
        18 | 20 | 22 | 4 => 4,
        // CS2
        16 => 5,
        // EF, VA, CS5, CS4
        46 | 44 | 40 | 32 => 6,
        // CS7, CS6
        56 | 48 => 7,
        _ => 2,
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
        assert_eq!(names(Tins::Diffserv8, &all), [2, 0, 1, 1, 5, 4, 3, 3, 3, 6, 6, 6, 6, 7, 7]);
        assert_eq!(names(Tins::Precedence, &all), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 7]);
        assert!(names(Tins::Besteffort, &all).iter().all(|&tin| tin == 0));
        for tins in
            [Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv4, Tins::Diffserv8, Tins::Precedence]
        {
            let count = tins.shares().len() as u32;
            assert!((0..64).all(|value| tins.of(Dscp::new(value).unwrap()) < count));
        }
    }

    /// `diffserv8` of `sch_cake.c`, eight code points a row.
    #[test]
    fn diffserv8_is_the_kernels_table() {
        let table = [
            [2, 0, 1, 2, 4, 2, 2, 2],
            [1, 2, 1, 2, 1, 2, 1, 2],
            [5, 2, 4, 2, 4, 2, 4, 2],
            [3, 2, 3, 2, 3, 2, 3, 2],
            [6, 2, 3, 2, 3, 2, 3, 2],
            [6, 2, 2, 2, 6, 2, 6, 2],
            [7, 2, 2, 2, 2, 2, 2, 2],
            [7, 2, 2, 2, 2, 2, 2, 2],
        ];
        for (value, tin) in (0..).zip(table.into_iter().flatten()) {
            assert_eq!(Tins::Diffserv8.of(Dscp::new(value).unwrap()), tin, "{value}");
        }
    }

    /// (7/8)^7 = 0.3927.
    #[test]
    fn each_of_eight_tins_has_seven_eighths_of_the_one_before() {
        let rates = Tins::Diffserv8.shares().iter().map(|share| share.of(1_000_000));
        assert_eq!(
            rates.collect::<Vec<_>>(),
            [1_000_000, 875_000, 765_625, 669_921, 586_181, 512_908, 448_795, 392_695]
        );
        assert_eq!(BULK.of(16_000_000), 1_000_000);
    }
}
