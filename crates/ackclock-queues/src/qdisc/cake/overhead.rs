//! How many bytes a packet takes on the line behind a shaper.
//!
//! **Source**: tc-cake(8), "Overhead compensation"; ITU-T G.992.3, annex N; IEEE 802.3, section 61.3.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the line frames packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// As they are.
    #[default]
    None,
    /// ATM: cells of 53 bytes with 48 of payload (ADSL).
    Atm,
    /// PTM: a byte more for each 64 (VDSL2).
    Ptm,
}

/// What is added to each packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overhead {
    /// Bytes, which may be negative.
    pub(super) bytes: i32,
    /// Least size with them.
    pub(super) least: u32,
    pub(super) framing: Framing,
}

impl Overhead {
    /// Bytes of a packet on the line.
    #[inline]
    pub(super) fn on_line(self, size: u16) -> u32 {
        let framed = u32::from(size).saturating_add_signed(self.bytes).max(self.least).max(1);
        match self.framing {
            Framing::None => framed,
            Framing::Atm => framed.div_ceil(48) * 53,
            Framing::Ptm => framed + framed.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_headers_and_least_sizes_are_counted() {
        let line = |bytes, least, framing, size| Overhead { bytes, least, framing }.on_line(size);
        assert_eq!(line(0, 0, Framing::None, 1500), 1500);
        // "ethernet": overhead 38, mpu 84.
        assert_eq!(
            [40, 46, 47, 1500].map(|size| line(38, 84, Framing::None, size)),
            [84, 84, 85, 1538]
        );
        // "pppoa-vcmux": overhead 10 atm. 1010 B need 22 cells (21 hold 1008), 38 + 10 B one.
        assert_eq!(
            [1000, 998, 38].map(|size| line(10, 0, Framing::Atm, size)),
            [22 * 53, 21 * 53, 53]
        );
        // "bridged-ptm": overhead 22 ptm. 1022 B are 16 blocks of 64.
        assert_eq!(
            [1000, 1002, 1003].map(|size| line(22, 0, Framing::Ptm, size)),
            [1038, 1040, 1042]
        );
        assert_eq!(line(-64, 0, Framing::None, 40), 1);
    }
}
