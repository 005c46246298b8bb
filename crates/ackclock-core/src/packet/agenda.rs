//! The agenda: which process is due next. The one structure that orders the whole run, behind four calls.
//!
//! An indexed 4-ary heap: one entry a process, moved in place when its key changes, so that nothing
//! stale is ever met.

/// Processes by key, smallest first. Equal keys may come in any order: no result depends on it.
#[derive(Debug)]
pub(super) struct Agenda {
    /// (key, process), a 4-ary heap.
    heap: Vec<(u64, u32)>,
    /// Place of each process in `heap`.
    place: Vec<u32>,
}

impl Agenda {
    /// All of `processes`, each with the key `u64::MAX` (never due).
    pub(super) fn new(processes: usize) -> Self {
        let ids = 0..processes as u32;
        Self { heap: ids.clone().map(|p| (u64::MAX, p)).collect(), place: ids.collect() }
    }

    /// The process that is due first, and its key.
    #[inline]
    pub(super) fn first(&self) -> Option<(u64, u32)> {
        self.heap.first().copied()
    }

    /// The smallest key of all others than the first.
    #[inline]
    pub(super) fn second_key(&self) -> u64 {
        self.heap.iter().skip(1).take(4).map(|e| e.0).min().unwrap_or(u64::MAX)
    }

    /// The key of a process.
    #[inline]
    pub(super) fn key(&self, process: u32) -> u64 {
        self.heap[self.place[process as usize] as usize].0
    }

    /// Changes the key of a process.
    #[inline]
    pub(super) fn set(&mut self, process: u32, key: u64) {
        let at = self.place[process as usize] as usize;
        if key < self.heap[at].0 {
            self.rise(at, (key, process));
        } else {
            self.sink(at, (key, process));
        }
    }

    fn rise(&mut self, mut hole: usize, entry: (u64, u32)) {
        while hole > 0 {
            let parent = (hole - 1) / 4;
            let above = self.heap[parent];
            if above.0 <= entry.0 {
                break;
            }
            self.fill(hole, above);
            hole = parent;
        }
        self.fill(hole, entry);
    }

    fn sink(&mut self, mut hole: usize, entry: (u64, u32)) {
        loop {
            let first = 4 * hole + 1;
            let end = (first + 4).min(self.heap.len());
            let Some(children) = self.heap.get(first..end) else { break };
            let mut least = entry.0;
            let mut child = usize::MAX;
            for (offset, c) in children.iter().enumerate() {
                if c.0 < least {
                    least = c.0;
                    child = first + offset;
                }
            }
            if child == usize::MAX {
                break;
            }
            self.fill(hole, self.heap[child]);
            hole = child;
        }
        self.fill(hole, entry);
    }

    #[inline]
    fn fill(&mut self, hole: usize, entry: (u64, u32)) {
        self.heap[hole] = entry;
        self.place[entry.1 as usize] = hole as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_and_second_are_those_of_a_sorted_list(changes in prop::collection::vec((0u32..40, 0u64..100), 0..300)) {
            let mut agenda = Agenda::new(40);
            let mut keys = vec![u64::MAX; 40];
            for (process, key) in changes {
                agenda.set(process, key);
                keys[process as usize] = key;
                let mut sorted: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
                sorted.sort_unstable();
                prop_assert_eq!(agenda.first().map(|f| f.0), Some(sorted[0].0));
                prop_assert_eq!(agenda.first().map(|f| keys[f.1 as usize]), Some(sorted[0].0));
                prop_assert_eq!(agenda.second_key(), sorted[1].0);
                prop_assert_eq!(agenda.key(process), key);
            }
        }
    }
}
