//! For tests of schedulers: arrivals, and when they leave a link under a discipline.

use crate::qdisc::QueueDisc;
use crate::qdisc::testing::{Bench, env};
use crate::units::{Bytes, PS_PER_S, Time};

/// A packet that comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// Seconds.
    pub(crate) at: f64,
    pub(crate) class: u32,
    pub(crate) size: u16,
}

impl Arrival {
    /// From gaps in tenths of a millisecond, classes, sizes.
    pub(crate) fn list(steps: &[(u64, u32, u16)]) -> Vec<Self> {
        let mut now = 0;
        let mut arrival_of = |&(gap, class, size): &(u64, u32, u16)| {
            now += gap * PS_PER_S / 10_000;
            Self { at: Time(now).seconds(), class, size }
        };
        steps.iter().map(&mut arrival_of).collect()
    }
}

/// When each packet has been sent over a link with the rate of [`env`].
pub(crate) fn serve<Q: QueueDisc>(bench: &mut Bench<Q>, arrivals: &[Arrival]) -> Vec<f64> {
    let rate = env().rate;
    let mut finish_times = vec![f64::NAN; arrivals.len()];
    // When the transmission under way ends; none is if the link is idle.
    let mut free_at: Option<Time> = None;
    let mut next = arrivals.iter().map(|a| Time((a.at * PS_PER_S as f64).round() as u64));
    let mut coming = next.next();
    let mut next_arrival = 0;
    loop {
        let ends = free_at.filter(|&end| coming.is_none_or(|arrived_at| end < arrived_at));
        if let Some(end) = ends {
            bench.now = end;
        } else if let Some(arrived_at) = coming {
            bench.now = arrived_at;
            bench.arrive(arrivals[next_arrival].class, arrivals[next_arrival].size);
            next_arrival += 1;
            coming = next.next();
            if free_at.is_some() {
                continue;
            }
        } else {
            return finish_times;
        }
        free_at = bench.depart().map(|sent| {
            let end = bench.now + rate.transmission(Bytes(u64::from(sent.packet.size)));
            finish_times[sent.packet.seq as usize] = end.seconds();
            end
        });
    }
}
