//! A 4-ary min-heap of small `Copy` keys, for the few local events of a process.
//!
//! Keys are compared in full, so the order of equal times never depends on the heap's shape.

/// A min-heap with four children a node, which share cache lines.
#[derive(Debug)]
pub(crate) struct Heap<K> {
    keys: Vec<K>,
}

impl<K: Copy + Ord> Heap<K> {
    pub(crate) fn new() -> Self {
        Self { keys: Vec::new() }
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<&K> {
        self.keys.first()
    }

    #[inline]
    pub(crate) fn push(&mut self, key: K) {
        self.keys.push(key);
        let mut hole = self.keys.len() - 1;
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[hole] = self.keys[parent];
            hole = parent;
        }
        self.keys[hole] = key;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<K> {
        let top = *self.keys.first()?;
        let last = self.keys.pop()?;
        if !self.keys.is_empty() {
            self.sift_down(last);
        }
        Some(top)
    }

    #[inline(always)]
    fn sift_down(&mut self, key: K) {
        let keys = &mut self.keys[..];
        let n = keys.len();
        let mut hole = 0;
        loop {
            let first = 4 * hole + 1;
            if first >= n {
                break;
            }
            let mut least = first;
            let end = (first + 4).min(n);
            for child in first + 1..end {
                if keys[child] < keys[least] {
                    least = child;
                }
            }
            if key <= keys[least] {
                break;
            }
            keys[hole] = keys[least];
            hole = least;
        }
        keys[hole] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_leave_in_order_whatever_the_operations(ops in prop::collection::vec((0u8..2, 0u32..50), 0..400)) {
            let mut heap = Heap::new();
            let mut sorted: Vec<(u32, usize)> = Vec::new();
            for (i, (op, value)) in ops.into_iter().enumerate() {
                match op {
                    0 => { heap.push((value, i)); sorted.push((value, i)); }
                    _ => { prop_assert_eq!(heap.pop(), (!sorted.is_empty()).then(|| sorted.remove(0))); }

                }
                sorted.sort_unstable();
                prop_assert_eq!(heap.peek(), sorted.first());
            }
        }
    }
}
