//! What the datagrams of a connection contain, for ends that are not ours, while the engine carries packets of their sizes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Datagrams of one direction that are remembered after later ones have left: a packet that is overtaken by more of
/// them arrives empty.
const MOST: usize = 1 << 16;

#[derive(Debug, Default)]
struct Way {
    first: u32,
    datagrams: VecDeque<Option<Vec<u8>>>,
}

/// Datagrams on their way, by direction and number.
#[derive(Clone, Debug, Default)]
pub struct Datagrams(Arc<Mutex<[Way; 2]>>);

impl Datagrams {
    fn ways(&self) -> MutexGuard<'_, [Way; 2]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a datagram in direction `way`, 0 or 1; its number, which its packet carries.
    pub fn put(&self, way: usize, datagram: &[u8]) -> u32 {
        let way = &mut self.ways()[way];
        let number = way.first + way.datagrams.len() as u32;
        way.datagrams.push_back(Some(datagram.to_vec()));
        if way.datagrams.len() > MOST {
            way.datagrams.pop_front();
            way.first += 1;
        }
        number
    }

    /// Takes a datagram that arrived; `None` if it has arrived before.
    pub fn take(&self, way: usize, number: u32) -> Option<Vec<u8>> {
        let way = &mut self.ways()[way];
        let index = number.checked_sub(way.first)? as usize;
        let datagram = way.datagrams.get_mut(index)?.take();
        while way.datagrams.front().is_some_and(Option::is_none) {
            way.datagrams.pop_front();
            way.first += 1;
        }
        datagram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_arrives_once_in_any_order_and_directions_are_apart() {
        let datagrams = Datagrams::default();
        let numbers: Vec<u32> = (0..3u8).map(|i| datagrams.put(0, &[i])).collect();
        assert_eq!((numbers.as_slice(), datagrams.put(1, &[9])), ([0, 1, 2].as_slice(), 0));
        assert_eq!(datagrams.take(0, 2), Some(vec![2]));
        assert_eq!((datagrams.take(0, 2), datagrams.take(0, 3)), (None, None));
        assert_eq!((datagrams.take(0, 0), datagrams.take(0, 1)), (Some(vec![0]), Some(vec![1])));
        assert_eq!((datagrams.put(0, &[3]), datagrams.take(0, 3)), (3, Some(vec![3])));
    }
}
