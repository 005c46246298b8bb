//! Puts together what the threads of a divided run have at its end.

use std::mem::swap;

use crate::packet::outcome::link_sample::LinkSample;
use crate::packet::outcome::marks::Marks;
use crate::packet::outcome::observe::Observer;
use crate::packet::outcome::run_end::EndedRun;
use crate::packet::process::clock::Clock;

/// What a thread ran, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Share {
    pub(crate) processes: Vec<u32>,
    pub(crate) links: Vec<u32>,
}

impl<C: Clock> EndedRun<C> {
    /// Takes over what another thread ran. Links, ends and processes are in the thread that ran them as they are after
    /// a run on one thread; counts of both are added.
    pub(crate) fn join(&mut self, mut other: Self, share: &Share) {
        for &l in &share.links {
            swap(&mut self.links.list[l as usize], &mut other.links.list[l as usize]);
        }
        for &p in &share.processes {
            swap(&mut self.processes[p as usize], &mut other.processes[p as usize]);
            for &e in &self.processes[p as usize].endpoints {
                swap(&mut self.flows.ends[e as usize], &mut other.flows.ends[e as usize]);
            }
        }
        for (memory, more) in self.fabric.switches.iter_mut().zip(&mut other.fabric.switches) {
            if share.processes.binary_search(&memory.process).is_ok() {
                swap(memory, more);
            }
        }
        for (losses, more) in self.flows.losses.iter_mut().zip(&other.flows.losses) {
            losses.add(more);
        }
        for (id, channel) in other.wires.channels.iter().enumerate() {
            for ticket in channel.queue.iter(&other.wires.store) {
                // Only where they are going counts: their options are left behind.
                self.wires.channels[id].queue.push(&mut self.wires.store, *ticket);
            }
        }
        self.wires.beyond.append(&mut other.wires.beyond);
        self.observer.join(other.observer, share, &self.processes);
        self.turns += other.turns;
        self.events += other.events;
        if self.clock_fault.is_none() {
            self.clock_fault = other.clock_fault;
        }
    }
}

impl<C: Clock> Observer<C> {
    /// Takes over what another thread recorded.
    fn join(
        &mut self,
        mut other: Self,
        share: &Share,
        processes: &[crate::packet::process::logical_process::Process],
    ) {
        self.recorder.append(&mut other.recorder);
        if let (Some(samples), Some(more)) = (&mut self.flow_samples, other.flow_samples.take()) {
            samples.append(more);
        }
        if let (Some(beginning), Some(more)) = (&mut self.beginning, &other.beginning) {
            beginning.add(more);
        }
        self.join_link_samples(&other.link_samples.take().unwrap_or_default(), share);
        for &l in &share.links {
            let l = l as usize;
            if let Some(counts) = self.base.links.get_mut(l) {
                *counts = other.base.links[l];
                self.base.bits_in_service[l] = other.base.bits_in_service[l];
            }
        }
        for &p in &share.processes {
            for &e in &processes[p as usize].endpoints {
                if let Some(state) = self.base.ends.get_mut(e as usize) {
                    swap(state, &mut other.base.ends[e as usize]);
                }
            }
        }
        join_marks(&mut self.end_marks, &other.end_marks, &share.processes);
        join_marks(&mut self.link_marks, &other.link_marks, &share.links);
    }

    fn join_link_samples(&mut self, more: &[LinkSample], share: &Share) {
        let (Some(samples), width) = (&mut self.link_samples, self.link_marks.count()) else {
            return;
        };
        if samples.len() < more.len() {
            samples.resize(more.len(), LinkSample::default());
        }
        for (row, more) in samples.chunks_mut(width.max(1)).zip(more.chunks(width.max(1))) {
            for &l in &share.links {
                row[l as usize] = more[l as usize];
            }
        }
    }
}

fn join_marks<C: Clock>(marks: &mut Marks<C>, other: &Marks<C>, of: &[u32]) {
    for &who in of {
        marks.copy(who as usize, other);
    }
}
