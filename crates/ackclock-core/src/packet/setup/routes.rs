//! Lays the routes of all flows into one flat table, and opens the channels between processes that they need.

use std::mem;

use rustc_hash::FxHashMap;

use crate::ids::LinkId;
use crate::memory::in_large_pages;
use crate::packet::network::route::Hop;
use crate::packet::network::wires::Channel;
use crate::packet::process::event::Stage;
use crate::packet::process::logical_process::Process;
use crate::packet::setup::partition::{Cut, Stretch, stretches, time_of};
use crate::packet::storage::wire_queue::Queue;

/// What is known of links before routes are laid.
#[derive(Clone, Copy)]
pub(in crate::packet) struct Ground<'a> {
    pub(in crate::packet) cut: &'a Cut,
    /// By link, its shortest time.
    pub(in crate::packet) shortest: &'a [u64],
    /// By link, its stage.
    pub(in crate::packet) stages: &'a [Stage],
    /// Which links follow at once after another.
    pub(in crate::packet) follows: &'a [bool],
}

/// Routes that are being laid.
pub(in crate::packet) struct Router<'a> {
    ground: Ground<'a>,
    hops: Vec<Hop>,
    channels: Vec<Channel>,
    /// By link, the channel that was opened first, from it to a process and stage. Most have no other.
    opened: Vec<(u32, Stage, u32)>,
    /// The others.
    known: FxHashMap<(u32, u32, u32), u32>,
    /// By stage of a process, its channels.
    entrants: Vec<u32>,
    stretches: Vec<Stretch>,
}

/// Routes that are laid.
pub(in crate::packet) struct Laid {
    /// The steps of all routes.
    pub(in crate::packet) hops: Vec<Hop>,
    /// Those of a stage follow one another.
    pub(in crate::packet) channels: Vec<Channel>,
    /// From links that something enters from a channel or an endpoint, to processes that are reached
    /// next: the shortest time. One for each step of each route.
    pub(in crate::packet) stretches: Vec<Stretch>,
}

/// In place of a link's first channel: none.
const NOT_OPENED: (u32, Stage, u32) = (u32::MAX, Stage::Entry, u32::MAX);

impl<'a> Router<'a> {
    /// For routes of so many steps in all, their ends counted.
    pub(in crate::packet) fn new(ground: Ground<'a>, steps: usize) -> Self {
        let router = Self {
            ground,
            hops: Vec::with_capacity(steps),
            // Memory that is asked for and not used is none.
            channels: Vec::with_capacity(steps),
            opened: vec![NOT_OPENED; ground.stages.len()],
            known: FxHashMap::default(),
            entrants: vec![0; 2 * ground.cut.is_cluster.len()],
            stretches: Vec::with_capacity(steps),
        };
        in_large_pages(&router.hops);
        in_large_pages(&router.channels);
        router
    }

    /// Appends a route that ends at endpoint `end` in process `last`; its first position.
    pub(in crate::packet) fn lay(&mut self, route: &[LinkId], last: u32, end: u32) -> u32 {
        let Ground { cut, shortest, stages, follows } = self.ground;
        let first = self.hops.len() as u32;
        for (stretch, next) in stretches(route, follows) {
            let [before @ .., end] = stretch else { continue };
            self.hops.extend(before.iter().map(|link| Hop { link: link.0, channel: Hop::ON }));
            let (to, stage) = match next {
                Some(next) => (cut.link_process[next], stages[next]),
                None => (last, Stage::Node),
            };
            self.stretches.push((stretch[0].0, to, time_of(stretch, shortest)));
            let channel = self.channel(end.0, to, stage);
            self.hops.push(Hop { link: end.0, channel });
        }
        self.hops.push(Hop { link: Hop::DELIVER, channel: end });
        first
    }

    /// The channel from a link to a stage of a process, opened when it is needed first.
    fn channel(&mut self, from: u32, to: u32, stage: Stage) -> u32 {
        let Self { channels, opened, known, entrants, .. } = self;
        let mut open = || {
            let count = &mut entrants[nth(to, stage)];
            let entrant = mem::replace(count, *count + 1);
            channels.push(Channel { queue: Queue::EMPTY, to, stage, entrant });
            channels.len() as u32 - 1
        };
        let first = &mut opened[from as usize];
        if *first == NOT_OPENED {
            *first = (to, stage, open());
        }
        if (first.0, first.1) == (to, stage) {
            return first.2;
        }
        *known.entry((from, to, stage as u32)).or_insert_with(open)
    }

    /// Ends the work: numbers the channels anew, so that those of a stage follow one another, and tells
    /// the stages.
    pub(in crate::packet) fn finish(self, processes: &mut [Process]) -> Laid {
        let Self { mut hops, mut channels, entrants, stretches, .. } = self;
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
        let number = |channel: &Channel| begins[nth(channel.to, channel.stage)] + channel.entrant;
        let mut numbers: Vec<u32> = channels.iter().map(number).collect();
        for hop in hops.iter_mut().filter(|hop| hop.link != Hop::DELIVER && hop.channel != Hop::ON)
        {
            hop.channel = numbers[hop.channel as usize];
        }
        // Each goes to its place, and the one that was there on to its own.
        for place in 0..channels.len() {
            while numbers[place] as usize != place {
                let its = numbers[place] as usize;
                channels.swap(place, its);
                numbers.swap(place, its);
            }
        }
        Laid { hops, channels, stretches }
    }
}

/// The place of a stage of a process among all stages.
fn nth(process: u32, stage: Stage) -> usize {
    2 * process as usize + stage as usize
}
