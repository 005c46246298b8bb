//! Samples of flows. An end of a flow comes by seldom, and then has several to note at a time: these
//! lie together. So do those of all flows at about the same time, for what lies on many pages is slow
//! to reach.

use std::ops::Range;

use super::FlowSample;

/// Samples of one end that lie together.
const TOGETHER: usize = 8;

/// What the sender's end tells of a [`FlowSample`], as plain numbers: a table of zeros needs no writing,
/// the system's pages are so.
type SenderSample = [u32; 7];

/// The table `flow_samples`: so many samples of each flow, one an interval.
#[derive(Clone, Debug, Default)]
pub struct FlowSamples {
    flows: usize,
    per_flow: usize,
    senders: Vec<[SenderSample; TOGETHER]>,
    /// Bytes delivered.
    receivers: Vec<[u64; TOGETHER]>,
}

impl FlowSamples {
    /// Room for so many samples of each flow. Memory is touched first when it is used.
    pub(crate) fn new(flows: usize, per_flow: usize) -> Self {
        let blocks = per_flow.div_ceil(TOGETHER) * flows;
        Self {
            flows,
            per_flow,
            senders: vec![[[0; 7]; TOGETHER]; blocks],
            receivers: vec![[0; TOGETHER]; blocks],
        }
    }

    /// Notes the state of an end after so many intervals, in which it has not changed; 2 flow: sender,
    /// 2 flow + 1: receiver.
    #[inline]
    pub(crate) fn note(&mut self, end: usize, intervals: Range<usize>, state: &FlowSample) {
        let mut begin = intervals.start;
        while begin < intervals.end {
            let (block, place) = self.place(begin, end / 2);
            let places = place..(place + intervals.end - begin).min(TOGETHER);
            begin += places.len();
            if end.is_multiple_of(2) {
                self.senders[block][places].fill(numbers(state));
            } else {
                self.receivers[block][places].fill(state.delivered_bytes);
            }
        }
    }

    #[inline(always)]
    fn place(&self, interval: usize, flow: usize) -> (usize, usize) {
        (interval / TOGETHER * self.flows + flow, interval % TOGETHER)
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

    /// The sample of a flow after so many intervals.
    ///
    /// # Panics
    ///
    /// If there is no such sample.
    pub fn get(&self, interval: usize, flow: usize) -> FlowSample {
        assert!(flow < self.flows, "flow {flow} of {}", self.flows);
        let (block, place) = self.place(interval, flow);
        let [cwnd, ssthresh, in_flight, srtt, low, high, retransmits] = self.senders[block][place];
        FlowSample {
            cwnd: f32::from_bits(cwnd),
            ssthresh: f32::from_bits(ssthresh),
            in_flight,
            srtt_s: f32::from_bits(srtt),
            delivered_bytes: self.receivers[block][place],
            sent_packets: u64::from(high) << 32 | u64::from(low),
            retransmits,
        }
    }
}

fn numbers(state: &FlowSample) -> SenderSample {
    [
        state.cwnd.to_bits(),
        state.ssthresh.to_bits(),
        state.in_flight,
        state.srtt_s.to_bits(),
        state.sent_packets as u32,
        (state.sent_packets >> 32) as u32,
        state.retransmits,
    ]
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
        fn a_sample_is_what_both_ends_have_noted_last(visits in visits()) {
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
                    sent_packets: u64::from(number) << 31,
                    retransmits: number,
                };
                let begin = noted[end].len();
                let until = (begin + times).min(SAMPLES);
                samples.note(end, begin..until, &state);
                noted[end].resize(until, state);
            }
            prop_assert_eq!(samples.len(), 3 * SAMPLES);
            for flow in 0..3 {
                let (sender, receiver) = (&noted[2 * flow], &noted[2 * flow + 1]);
                for (interval, (sent, received)) in sender.iter().zip(receiver).enumerate() {
                    let delivered_bytes = received.delivered_bytes;
                    let expected = FlowSample { delivered_bytes, ..*sent };
                    prop_assert_eq!(samples.get(interval, flow), expected);
                }
            }
        }
    }
}
