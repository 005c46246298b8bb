//! Segments of a connection that are to be sent again after timeouts.
//!
//! They are sent in the order in which they were added, by any subflow but the one whose timeout added them. A window may
//! be a million segments wide and time out as a whole, so nothing here looks through all that wait: a segment costs a search
//! in an ordered map when it is added, and one when it is taken or acknowledged.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// The segments that wait.
#[derive(Debug)]
pub(super) struct Repeats {
    /// Those that wait, each once, and whose timeout it was.
    waiting: BTreeMap<u32, usize>,
    /// By the subflow whose timeout it was.
    after: Vec<After>,
    /// How many were added.
    added: u64,
}

/// What the timeouts of a subflow added.
#[derive(Clone, Debug, Default)]
struct After {
    /// The place in the order of all, and the segment. Some may have been acknowledged since.
    queue: VecDeque<(u64, u32)>,
    /// Those that wait.
    count: u32,
}

impl Repeats {
    pub(super) fn new(subflows: usize) -> Self {
        Self { waiting: BTreeMap::new(), after: vec![After::default(); subflows], added: 0 }
    }

    /// Adds a segment after a timeout of a subflow, unless it waits.
    pub(super) fn add(&mut self, subflow: usize, segment: u32) {
        if let Entry::Vacant(place) = self.waiting.entry(segment) {
            place.insert(subflow);
            let after = &mut self.after[subflow];
            after.queue.push_back((self.added, segment));
            after.count += 1;
            self.added += 1;
        }
    }

    /// None before `una` is sent again.
    pub(super) fn acknowledge(&mut self, una: u32) {
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() < una) {
            self.after[first.remove()].count -= 1;
        }
        for after in &mut self.after {
            while after.queue.front().is_some_and(|&(_, segment)| segment < una) {
                after.queue.pop_front();
            }
        }
    }

    /// Segments that wait for this subflow.
    pub(super) fn count_for(&self, subflow: usize) -> u32 {
        let others = self.after.iter().enumerate().filter(|&(other, _)| other != subflow);
        others.map(|(_, after)| after.count).sum()
    }

    /// Takes the first that waits for this subflow.
    pub(super) fn take(&mut self, subflow: usize) -> Option<u32> {
        let others = self.after.iter_mut().enumerate().filter(|&(other, _)| other != subflow);
        let fronts = others.filter_map(|(_, after)| Some((*after.queue.front()?, after)));
        let ((_, segment), after) = fronts.min_by_key(|&((order, _), _)| order)?;
        after.queue.pop_front();
        after.count -= 1;
        self.waiting.remove(&segment);
        // Behind the first there may be some that were acknowledged before it was taken.
        while after.queue.front().is_some_and(|(_, next)| !self.waiting.contains_key(next)) {
            after.queue.pop_front();
        }
        Some(segment)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SUBFLOWS: usize = 3;

    #[derive(Clone, Debug)]
    enum Operation {
        Add(usize, u32),
        Acknowledge(u32),
        Take(usize),
    }

    fn operations() -> impl Strategy<Value = Vec<Operation>> {
        let subflow = 0..SUBFLOWS;
        let operation = prop_oneof![
            4 => (subflow.clone(), 0..12u32).prop_map(|(who, ahead)| Operation::Add(who, ahead)),
            1 => (0..5u32).prop_map(Operation::Acknowledge),
            2 => subflow.prop_map(Operation::Take),
        ];
        prop::collection::vec(operation, 0..80)
    }

    proptest! {
        /// A plain list of all that wait, looked through for every question.
        #[test]
        fn the_same_segments_wait_and_are_taken_as_in_a_plain_list(operations in operations()) {
            let mut repeats = Repeats::new(SUBFLOWS);
            let (mut list, mut una) = (Vec::<(u32, usize)>::new(), 0);
            for operation in operations {
                match operation {
                    Operation::Add(subflow, ahead) => {
                        let segment = una + ahead;
                        repeats.add(subflow, segment);
                        if !list.iter().any(|&(waiting, _)| waiting == segment) {
                            list.push((segment, subflow));
                        }
                    }
                    Operation::Acknowledge(more) => {
                        una += more;
                        repeats.acknowledge(una);
                        list.retain(|&(segment, _)| segment >= una);
                    }
                    Operation::Take(subflow) => {
                        let place = list.iter().position(|&(_, after)| after != subflow);
                        let expected = place.map(|place| list.remove(place).0);
                        prop_assert_eq!(repeats.take(subflow), expected);
                    }
                }
                for subflow in 0..SUBFLOWS {
                    let expected = list.iter().filter(|&&(_, after)| after != subflow).count();
                    prop_assert_eq!(repeats.count_for(subflow), expected as u32);
                }
            }
        }
    }
}
