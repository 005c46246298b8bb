//! The series by which a run that is measured from its start is searched for a warm-up: what its lasting flows have
//! delivered together, and what waits at each link, at equal intervals.

use crate::compile::{Plan, PlanFlow};
use crate::warm_up::{WarmUp, find_warm_up};

/// Intervals of a run.
const MOST_INTERVALS: u64 = 400;

/// Intervals of a run of very many flows or links.
const FEWEST_INTERVALS: u64 = 80;

/// Visits of flows, or of links, that are made for it.
const VISITS: u64 = 40_000;

/// Links of a network whose queues are looked at.
const MOST_LINKS: usize = 4096;

/// What a warm-up is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Series {
    /// Payload delivered by all flows that have no end [bit/s].
    Goodput,
    /// Packets that wait at a link.
    Queue {
        /// The link.
        link: usize,
    },
}

/// A warm-up that was found in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundWarmUp {
    /// What it is of.
    pub series: Series,
    /// When it ends [s].
    pub end_s: f64,
    /// The means with it and without it.
    pub of: WarmUp,
}

/// The series of a run that is measured from its start.
#[derive(Clone, Debug)]
pub(crate) struct Beginning {
    /// By flow, whether it has no end.
    lasting: Vec<bool>,
    /// By mark, the bytes that lasting flows have delivered.
    delivered: Vec<u64>,
    /// By mark and link, the packets that wait; empty if queues are not looked at.
    queues: Vec<u32>,
    links: usize,
}

/// The interval between two marks of a run [ps]; `None` where it is measured after a warm-up.
pub(crate) fn interval(plan: &Plan) -> Option<u64> {
    let many = plan.flows.len().max(plan.links.len()).max(1) as u64;
    let intervals = (VISITS / many).clamp(FEWEST_INTERVALS, MOST_INTERVALS);
    (plan.warmup.0 == 0).then(|| plan.duration.0.div_ceil(intervals).max(1))
}

impl Beginning {
    /// For a run whose ends and links have marks at these intervals [ps].
    pub(crate) fn new(plan: &Plan, ends: u64, links: u64) -> Self {
        let marks = |interval| (plan.duration.0 / interval + 1) as usize;
        let queues =
            if plan.links.len() > MOST_LINKS { 0 } else { marks(links) * plan.links.len() };
        Self {
            lasting: plan.flows.iter().map(lasts).collect(),
            delivered: vec![0; marks(ends)],
            queues: vec![0; queues],
            links: plan.links.len(),
        }
    }

    /// Whether end `e` is a receiver whose deliveries are counted; 2 flow + 1: receiver.
    pub(crate) fn counts(&self, e: usize) -> bool {
        e % 2 == 1 && self.lasting[e / 2]
    }

    /// Adds what a flow has delivered by all marks of a range.
    pub(crate) fn add_delivered(&mut self, marks: std::ops::Range<usize>, bytes: u64) {
        let end = marks.end.min(self.delivered.len());
        for sum in self.delivered.get_mut(marks.start..end).unwrap_or_default() {
            *sum += bytes;
        }
    }

    /// Notes what waits at a link at a mark.
    pub(crate) fn note_queue(&mut self, mark: usize, link: usize, packets: usize) {
        if let Some(queue) = self.queues.get_mut(mark * self.links + link) {
            *queue = packets as u32;
        }
    }

    /// Takes over what another thread noted, of other ends and links.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, more) in self.delivered.iter_mut().zip(&other.delivered) {
            *sum += more;
        }
        for (queue, more) in self.queues.iter_mut().zip(&other.queues) {
            *queue += more;
        }
    }

    /// Finds the warm-ups of goodput and of the queue of the busiest link; intervals of marks in seconds.
    pub(crate) fn find(
        &self,
        ends_s: f64,
        links_s: f64,
        busiest: Option<usize>,
    ) -> Vec<FoundWarmUp> {
        let rates: Vec<f64> = self
            .delivered
            .windows(2)
            .map(|pair| 8.0 * (pair[1] - pair[0]) as f64 / ends_s)
            .collect();
        let goodput = (Series::Goodput, ends_s, rates);
        let queue = busiest.filter(|_| !self.queues.is_empty()).map(|link| {
            let rows = self.queues.chunks_exact(self.links).skip(1);
            (Series::Queue { link }, links_s, rows.map(|row| f64::from(row[link])).collect())
        });
        let series = std::iter::once(goodput).chain(queue);
        let warm_up_of = |(series, interval_s, values): (Series, f64, Vec<f64>)| {
            let of = find_warm_up(&values)?;
            Some(FoundWarmUp { series, end_s: of.length as f64 * interval_s, of })
        };
        series.filter_map(warm_up_of).collect()
    }
}

/// Whether a flow goes on to the end of the run: a transfer that ends leaves a lower rate behind, which is no end of a
/// warm-up.
fn lasts(flow: &PlanFlow) -> bool {
    flow.size.is_none() && flow.stop.is_none()
}
