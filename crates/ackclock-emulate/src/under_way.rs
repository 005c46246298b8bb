//! The bytes of packets under way. The engine's packet has the number of its place.

/// Largest packet of IPv4.
pub(crate) const LARGEST: usize = 65_535;

/// Places for packets, used again when they are free.
#[derive(Debug, Default)]
pub(crate) struct UnderWay {
    slots: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl UnderWay {
    /// Keeps the bytes of a packet; returns the number of its place.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Vec::new());
            self.slots.len() as u32 - 1
        });
        let buffer = &mut self.slots[slot as usize];
        buffer.clear();
        buffer.extend_from_slice(bytes);
        slot
    }

    /// The bytes at a place.
    pub(crate) fn at(&mut self, slot: u32) -> &mut [u8] {
        &mut self.slots[slot as usize]
    }

    /// Makes a place free again.
    pub(crate) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_place_is_used_again() {
        let mut under_way = UnderWay::default();
        let (a, b) = (under_way.keep(b"first"), under_way.keep(b"second"));
        under_way.release(a);
        let c = under_way.keep(b"third packet");
        assert_eq!((a, c), (0, a));
        assert_eq!(under_way.at(b), b"second");
        assert_eq!(under_way.at(c), b"third packet");
    }
}
