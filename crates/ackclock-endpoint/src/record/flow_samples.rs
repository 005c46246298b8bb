//! Samples of flows, logged per endpoint visit and tabulated on demand. Between two visits of an endpoint its
//! state holds for several samples: it is logged once, at the end of the log, which is in the cache; a table
//! would be written at places all over memory.

use std::fmt;

use super::FlowSample;

/// The fields of a [`FlowSample`] that the sender knows, as plain numbers.
type SenderSample = [u32; 7];

/// The state of an end since its previous visit.
#[derive(Clone, Copy, Debug)]
struct Visit<T> {
    flow: u32,
    /// The number of its samples up to this visit.
    until: u32,
    state: T,
}

/// The table `flow_samples`: so many samples of each flow, one an interval.
#[derive(Clone, Default)]
pub struct FlowSamples {
    flows: usize,
    per_flow: usize,
    /// Samples of each flow that were taken away.
    removed: usize,
    senders: Vec<Visit<SenderSample>>,
    /// Bytes delivered and bytes received, in halves: a visit has no gaps.
    receivers: Vec<Visit<[[u32; 2]; 2]>>,
}

impl FlowSamples {
    /// For so many samples of each flow.
    pub fn new(flows: usize, per_flow: usize) -> Self {
        Self { flows, per_flow, ..Self::default() }
    }

    /// Notes the state of an end in all its samples up to `until` that are not noted yet; 2 flow: sender,
    /// 2 flow + 1: receiver.
    #[inline]
    pub fn note(&mut self, end: usize, until: usize, state: &FlowSample) {
        let (flow, until) = (end as u32 / 2, until as u32);
        if end.is_multiple_of(2) {
            self.senders.push(Visit { flow, until, state: to_numbers(state) });
        } else {
            let received = state.received_bytes.max(state.delivered_bytes);
            let state = [state.delivered_bytes, received].map(split_halves);
            self.receivers.push(Visit { flow, until, state });
        }
    }

    /// Takes over what was noted elsewhere, of other ends.
    pub fn append(&mut self, mut other: Self) {
        self.senders.append(&mut other.senders);
        self.receivers.append(&mut other.receivers);
    }

    /// The number of samples, all flows counted.
    pub fn len(&self) -> usize {
        self.per_flow * self.flows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Samples of each flow.
    pub fn per_flow(&self) -> usize {
        self.per_flow
    }

    /// All samples, interval by interval: that of a flow after so many intervals is at
    /// `interval * flows + flow`.
    pub fn rows(&self) -> Vec<FlowSample> {
        self.rows_until(self.per_flow)
    }

    /// What the log holds: visits of ends, not samples.
    pub fn held(&self) -> usize {
        self.senders.len() + self.receivers.len()
    }

    /// Samples of each flow that were taken away.
    pub fn taken(&self) -> usize {
        self.removed
    }

    /// Takes the samples of each flow before number `until` away; all ends have noted them.
    pub fn take_until(&mut self, until: usize) -> Vec<FlowSample> {
        let rows = self.rows_until(until);
        self.removed = until;
        self.senders.retain(|visit| visit.until as usize > until);
        self.receivers.retain(|visit| visit.until as usize > until);
        rows
    }

    fn rows_until(&self, until: usize) -> Vec<FlowSample> {
        let mut rows = vec![FlowSample::default(); (until - self.removed) * self.flows];
        self.fill(&mut rows, until, &self.senders, |row, state| {
            let [cwnd, ssthresh, in_flight, srtt, low, high, retransmits] = *state;
            row.cwnd = f32::from_bits(cwnd);
            row.ssthresh = f32::from_bits(ssthresh);
            row.in_flight = in_flight;
            row.srtt_s = f32::from_bits(srtt);
            row.sent_packets = join_halves([low, high]);
            row.retransmits = retransmits;
        });
        self.fill(&mut rows, until, &self.receivers, |row, state| {
            [row.delivered_bytes, row.received_bytes] = state.map(join_halves);
        });
        rows
    }

    fn fill<T>(
        &self,
        rows: &mut [FlowSample],
        end: usize,
        visits: &[Visit<T>],
        set: impl Fn(&mut FlowSample, &T),
    ) {
        let mut noted = vec![self.removed; self.flows];
        for Visit { flow, until, state } in visits {
            let (flow, until) = (*flow as usize, (*until as usize).min(end));
            for interval in std::mem::replace(&mut noted[flow], until)..until {
                set(&mut rows[(interval - self.removed) * self.flows + flow], state);
            }
        }
    }
}

/// Prints the table: the order of the log depends on the order in which processes ran.
impl fmt::Debug for FlowSamples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}

fn to_numbers(state: &FlowSample) -> SenderSample {
    let [low, high] = split_halves(state.sent_packets);
    [
        state.cwnd.to_bits(),
        state.ssthresh.to_bits(),
        state.in_flight,
        state.srtt_s.to_bits(),
        low,
        high,
        state.retransmits,
    ]
}

fn split_halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn join_halves([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each end notes its state at the ends of intervals of any length, some of them long.
    fn visits() -> impl Strategy<Value = Vec<(usize, usize)>> {
        prop::collection::vec((0usize..6, prop_oneof![9 => 1usize..5, 1 => 1usize..90]), 1..200)
    }

    proptest! {
        #[test]
        fn a_sample_is_what_both_ends_have_noted_last(
            visits in visits(),
            pieces in (0usize..=100, 0usize..=100),
        ) {
            const SAMPLES: usize = 100;
            let mut samples = FlowSamples::new(3, SAMPLES);
            let mut noted = [const { Vec::new() }; 6];
            let rest = (0..6).map(|end| (end, SAMPLES));
            for (number, (end, times)) in visits.into_iter().chain(rest).enumerate() {
                let number = number as u32 + 1;
                let state = FlowSample {
                    cwnd: number as f32,
                    ssthresh: f32::INFINITY,
                    in_flight: number,
                    srtt_s: 0.25,
                    delivered_bytes: u64::from(number) << 30,
                    received_bytes: u64::from(number) << if number.is_multiple_of(3) { 0 } else { 31 },
                    sent_packets: u64::from(number) << 31,
                    retransmits: number,
                };
                let begin = noted[end].len();
                let until = (begin + times).min(SAMPLES);
                samples.note(end, until, &state);
                noted[end].resize(until, state);
            }
            prop_assert_eq!(samples.len(), 3 * SAMPLES);
            let rows = samples.rows();
            let mut in_pieces = Vec::new();
            let mut rest = samples.clone();
            for until in [0, pieces.0.min(pieces.1), pieces.0.max(pieces.1), SAMPLES] {
                in_pieces.append(&mut rest.take_until(until));
                prop_assert_eq!(rest.taken(), until);
            }
            prop_assert_eq!(&in_pieces, &rows);
            prop_assert_eq!(rest.held(), 0);
            for flow in 0..3 {
                let (sender, receiver) = (&noted[2 * flow], &noted[2 * flow + 1]);
                for (interval, (sent, received)) in sender.iter().zip(receiver).enumerate() {
                    let delivered_bytes = received.delivered_bytes;
                    // Never less than what was delivered, also where an end leaves it out.
                    let received_bytes = received.received_bytes.max(delivered_bytes);
                    let expected = FlowSample { delivered_bytes, received_bytes, ..*sent };
                    prop_assert_eq!(rows[interval * 3 + flow], expected);
                }
            }
        }
    }
}
