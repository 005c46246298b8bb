//! Lays the routes of all flows into one flat table, and opens the channels between processes that they need.

use rustc_hash::FxHashMap;

use crate::ids::LinkId;
use crate::memory::use_large_pages;
use crate::packet::network::route::Hop;
use crate::packet::network::wires::Channel;
use crate::packet::process::event::Stage;
use crate::packet::process::logical_process::Process;
use crate::packet::setup::partition::{Partition, Stretch, shortest_time_of, split_into_stretches};
use crate::packet::storage::wire_queue::Queue;

/// The partition of the network, and what routes need to know of its links.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'a> {
    pub(crate) partition: &'a Partition,
    /// By link, the shortest time from an arrival there to one at its far end.
    pub(crate) shortest: &'a [u64],
    /// By link, its stage.
    pub(crate) stages: &'a [Stage],
    /// By link, whether packets enter it at once after another link (`find_followers`).
    pub(crate) follows: &'a [bool],
}

/// Routes that are being laid.
pub(crate) struct Router<'a> {
    layout: Layout<'a>,
    hops: Vec<Hop>,
    channels: Vec<Channel>,
    /// By channel, its link.
    links: Vec<u32>,
    /// By link, the channel that was opened first, from it to a process and stage. Most links have no other.
    opened: Vec<(u32, Stage, u32)>,
    /// The other channels, by link, process and stage.
    known: FxHashMap<(u32, u32, u32), u32>,
    /// By stage of a process, the number of its channels.
    entrants: Vec<u32>,
    stretches: Vec<Stretch>,
}

/// Routes that are laid.
pub(crate) struct Laid {
    /// The steps of all routes.
    pub(crate) hops: Vec<Hop>,
    /// Those of one stage are consecutive.
    pub(crate) channels: Vec<Channel>,
    /// From links that packets enter from a channel or an endpoint, to the processes that they reach next:
    /// the shortest time. One for each step of each route.
    pub(crate) stretches: Vec<Stretch>,
}

/// In place of a link's first channel: none.
const NOT_OPENED: (u32, Stage, u32) = (u32::MAX, Stage::Entry, u32::MAX);

impl<'a> Router<'a> {
    /// For routes of so many steps in all, their ends counted.
    pub(crate) fn new(layout: Layout<'a>, steps: usize) -> Self {
        let router = Self {
            layout,
            hops: Vec::with_capacity(steps),
            // Memory that is reserved and never written takes no room.
            channels: Vec::with_capacity(steps),
            links: Vec::with_capacity(steps),
            opened: vec![NOT_OPENED; layout.stages.len()],
            known: FxHashMap::default(),
            entrants: vec![0; 2 * layout.partition.is_cluster.len()],
            stretches: Vec::with_capacity(steps),
        };
        use_large_pages(&router.hops);
        use_large_pages(&router.channels);
        router
    }

    /// Appends a route that ends at endpoint `end` in process `last`; returns its first position.
    pub(crate) fn lay(&mut self, route: &[LinkId], last: u32, end: u32) -> u32 {
        let Layout { partition, shortest, stages, follows } = self.layout;
        let first = self.hops.len() as u32;
        for (stretch, next) in split_into_stretches(route, follows) {
            let [before @ .., end] = stretch else { continue };
            self.hops.extend(before.iter().map(|link| Hop { link: link.0, channel: Hop::ON }));
            let (to, stage) = match next {
                Some(next) => (partition.link_process[next], stages[next]),
                None => (last, Stage::Node),
            };
            self.stretches.push((stretch[0].0, to, shortest_time_of(stretch, shortest)));
            let channel = self.find_channel(end.0, to, stage);
            self.hops.push(Hop { link: end.0, channel });
        }
        self.hops.push(Hop { link: Hop::DELIVER, channel: end });
        first
    }

    /// Finds the channel from a link to a stage of a process, or opens it.
    fn find_channel(&mut self, from: u32, to: u32, stage: Stage) -> u32 {
        let Self { channels, links, opened, known: known_channels, entrants, .. } = self;
        let mut open = || {
            entrants[stage_index(to, stage)] += 1;
            links.push(from);
            let (queue, alike) = (Queue::EMPTY, Channel::NOT_ALIKE);
            channels.push(Channel { queue, to, stage, entrant: 0, alike });
            channels.len() as u32 - 1
        };
        let first = &mut opened[from as usize];
        if *first == NOT_OPENED {
            *first = (to, stage, open());
        }
        if (first.0, first.1) == (to, stage) {
            return first.2;
        }
        *known_channels.entry((from, to, stage as u32)).or_insert_with(open)
    }

    /// Renumbers the channels so that those of a stage are consecutive, by their links, and assigns them to the stages.
    /// `are_alike` says whether packets of any one size take the same time over two links.
    pub(crate) fn finish(
        self,
        processes: &mut [Process],
        are_alike: impl Fn(usize, usize) -> bool,
    ) -> Laid {
        let Self { mut hops, mut channels, links, entrants, stretches, .. } = self;
        channels.shrink_to_fit();
        let mut next = 0;
        let begin = |count: &u32| {
            next += count;
            next - count
        };
        let begins: Vec<u32> = entrants.iter().map(begin).collect();
        let stages = processes.iter_mut().flat_map(|process| &mut process.stages);
        for ((pending, &begin), count) in stages.zip(&begins).zip(&entrants) {
            pending.channels = begin..begin + count;
        }
        let mut by_link: Vec<(u32, u32)> = links.into_iter().zip(0..).collect();
        by_link.sort_unstable();
        let mut numbers = vec![0; channels.len()];
        // By stage, how many of its channels have a number, and the link of the first, if the others are alike.
        let mut numbered = vec![(0, Channel::NOT_ALIKE); begins.len()];
        for (link, index) in by_link {
            let channel = &mut channels[index as usize];
            let stage = stage_index(channel.to, channel.stage);
            let (count, alike) = &mut numbered[stage];
            channel.entrant = *count;
            numbers[index as usize] = begins[stage] + *count;
            if *count == 0 {
                *alike = link;
            } else if *alike != Channel::NOT_ALIKE && !are_alike(*alike as usize, link as usize) {
                *alike = Channel::NOT_ALIKE;
            }
            *count += 1;
        }
        for channel in &mut channels {
            channel.alike = numbered[stage_index(channel.to, channel.stage)].1;
        }
        for hop in hops.iter_mut().filter(|hop| hop.link != Hop::DELIVER && hop.channel != Hop::ON)
        {
            hop.channel = numbers[hop.channel as usize];
        }
        // Each channel is swapped to its place, until all are there.
        for index in 0..channels.len() {
            while numbers[index] as usize != index {
                let its = numbers[index] as usize;
                channels.swap(index, its);
                numbers.swap(index, its);
            }
        }
        Laid { hops, channels, stretches }
    }
}

/// The index of a stage of a process among all stages.
fn stage_index(process: u32, stage: Stage) -> usize {
    2 * process as usize + stage as usize
}
