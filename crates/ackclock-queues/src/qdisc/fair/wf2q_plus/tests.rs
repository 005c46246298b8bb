use proptest::prelude::*;

use super::*;
use crate::qdisc::Limit;
use crate::qdisc::fair::fq::Fq;
use crate::qdisc::fair::reference::{Arrival, serve};
use crate::qdisc::testing::{Bench, env};
use crate::registry::refusal;
use crate::wire::DropReason;

fn params(weights: &[f64]) -> Params {
    Params { weights: weights.to_vec(), ..Params::default() }
}

fn bench(params: Params, env: &QdiscEnv) -> Bench<Wf2qPlus> {
    let passing: Vec<u32> = (0..params.weights.len() as u32).collect();
    let env = QdiscEnv { passing: passing.into(), ..env.clone() };
    Bench::new(Wf2qPlus::new(params, &env).unwrap())
}

fn classes<Q: QueueDisc>(bench: &mut Bench<Q>) -> Vec<u32> {
    std::iter::from_fn(|| bench.depart()).map(|t| t.packet.flow.0).collect()
}

/// The example by which the source introduces worst-case fairness (1996, section 2): a class of half the
/// link and ten of a twentieth each; the first sends eleven packets at once, the others one each. WFQ
/// sends ten of the first in a row, WF2Q every other packet.
#[test]
fn a_heavy_class_does_not_send_its_packets_in_a_row() {
    let weights: Vec<f64> = std::iter::once(0.5).chain([0.05; 10]).collect();
    let mut wf2q = bench(params(&weights), &env());
    let fq = serde_json::from_value(serde_json::json!({ "weights": weights })).unwrap();
    let mut fq = Bench::new(Fq::new(fq, &env()).unwrap());
    // All arrive while the first is on its way.
    for _ in 0..11 {
        wf2q.arrive(0, 1000);
        fq.arrive(0, 1000);
    }
    for class in 1..=10 {
        wf2q.arrive(class, 1000);
        fq.arrive(class, 1000);
    }
    let in_a_row: Vec<u32> = [0; 10].into_iter().chain(1..=10).chain([0]).collect();
    assert_eq!(classes(&mut fq), in_a_row);
    let alternating: Vec<u32> = (1..=10).flat_map(|class| [0, class]).chain([0]).collect();
    assert_eq!(classes(&mut wf2q), alternating);
}

/// Weights 1 and 3, packets of 1000 B, tags by hand. Class 0 has S, F = 0, 1000; 1000, 2000. Class 1 has
/// 0, 333; 333, 667; 667, 1000; 1000, 1333. A packet moves V by 250.
/// V = 0: F = 333 wins, V = 250. Class 1 (S = 333) is not eligible: class 0, V = 500.
/// Class 1 (F = 667), V = 750; class 1 (S = 667, F = 1000), V = 1000; both eligible: 2000 against 1333.
#[test]
fn packets_leave_by_hand_computed_tags() {
    let mut bench = bench(params(&[1.0, 3.0]), &env());
    for class in [1, 0, 0, 1, 1, 1] {
        bench.arrive(class, 1000);
    }
    assert_eq!(classes(&mut bench), [1, 0, 1, 1, 1, 0]);
}

#[test]
fn the_queue_that_is_longest_beside_its_weight_loses() {
    let limit = Limit { packets: 6, bytes: u64::MAX };
    let mut bench = bench(params(&[4.0, 1.0]), &QdiscEnv { limit, ..env() });
    // Four packets of weight 4 against two of weight 1, then a third: 1000 a unit against 3000.
    for class in [0, 0, 0, 0, 1, 1, 1] {
        bench.arrive(class, 1000);
    }
    assert_eq!(bench.drops(), [(6, DropReason::Overflow)]);
    bench.arrive(0, 1000);
    assert_eq!(bench.drops(), [(5, DropReason::PushedOut)]);
}

#[test]
fn after_an_idle_link_nobody_owes_anything() {
    let mut bench = bench(params(&[1.0, 1.0]), &env());
    for _ in 0..50 {
        bench.arrive(0, 1000);
    }
    assert_eq!(classes(&mut bench).len(), 50);
    for class in [0, 1, 0, 1] {
        bench.arrive(class, 1000);
    }
    assert_eq!(classes(&mut bench), [0, 1, 0, 1]);
}

#[test]
fn bad_weights_are_refused() {
    let text = refusal::<QdiscEnv, Wf2qPlus>(params(&[1.0, -1.0]), &env());
    assert_eq!(text, "weights[1]: -1.0 is out of range; expected more than 0");
}

/// The worst-case fair index of a class, in seconds: the longest that one of its packets waits beyond what
/// its class has before it takes at the class's own rate.
fn index(
    finish_times: &[f64],
    arrivals: &[Arrival],
    weights: &[f64],
    bytes_per_s: f64,
) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mut worst = vec![f64::NEG_INFINITY; weights.len()];
    for (i, arrival) in arrivals.iter().enumerate() {
        let class = arrival.class as usize;
        let rate = bytes_per_s * weights[class] / total;
        // What of the class is not yet sent when it comes, itself included; a packet in transmission is.
        let ahead: f64 = (0..=i)
            .filter(|&j| arrivals[j].class == arrival.class && finish_times[j] > arrival.at)
            .map(|j| f64::from(arrivals[j].size))
            .sum();
        worst[class] = worst[class].max(finish_times[i] - arrival.at - ahead / rate);
    }
    worst
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Bennett & Zhang 1997, theorem on WF2Q+: the worst-case fair index of class i is at most
    /// L_i / r_i + (L - L_i) / C, that of fluid sharing being 0.
    #[test]
    fn the_worst_case_fair_index_is_about_one_packet(
        steps in prop::collection::vec((0u64..25, 0u32..4, 40u16..1500), 1..100),
        weights in prop::collection::vec(0.2f64..5.0, 4),
    ) {
        let arrivals = Arrival::list(&steps);
        let done = serve(&mut bench(params(&weights), &env()), &arrivals);
        let total: f64 = weights.iter().sum();
        let largest = |class: Option<u32>| {
            let sizes = arrivals.iter().filter(|a| class.is_none_or(|c| a.class == c));
            sizes.map(|a| f64::from(a.size)).fold(0.0, f64::max)
        };
        for (class, &seen) in index(&done, &arrivals, &weights, 1.25e6).iter().enumerate() {
            let own = largest(Some(class as u32));
            let rate = 1.25e6 * weights[class] / total;
            let bound = own / rate + (largest(None) - own) / 1.25e6;
            prop_assert!(seen <= bound + 1e-8, "class {class}: {seen} is more than {bound}");
        }
    }

    /// Against a reference that keeps plain lists and looks at all of them for every packet.
    #[test]
    fn the_order_is_that_of_a_slow_reference(
        operations in prop::collection::vec((0u32..5, 40u16..1500, 0u8..3), 1..200),
        weights in prop::collection::vec(0.2f64..5.0, 5),
    ) {
        let mut bench = bench(params(&weights), &env());
        let mut slow = Slow::new(&weights);
        for (class, size, departures) in operations {
            bench.arrive(class, size);
            slow.arrive(class as usize, size);
            for _ in 0..departures {
                let sent = bench.depart().map(|t| (t.packet.flow.index(), t.packet.size));
                prop_assert_eq!(sent, slow.depart());
            }
        }
    }
}

/// The rule as the source has it, with a list for each class.
struct Slow {
    weights: Vec<f64>,
    queues: Vec<Vec<u16>>,
    tags: Vec<Option<(f64, f64)>>,
    finish: Vec<f64>,
    v: f64,
    chosen: Option<usize>,
    sending: Option<usize>,
}

impl Slow {
    fn new(weights: &[f64]) -> Self {
        let n = weights.len();
        Self {
            weights: weights.to_vec(),
            queues: vec![Vec::new(); n],
            tags: vec![None; n],
            finish: vec![0.0; n],
            v: 0.0,
            chosen: None,
            sending: None,
        }
    }

    fn begin(&mut self, class: usize, start: f64) {
        let end = start + f64::from(self.queues[class][0]) / self.weights[class];
        self.tags[class] = Some((start, end));
        self.finish[class] = end;
    }

    fn choose(&mut self) {
        let starts = self.tags.iter().flatten().map(|t| t.0);
        let Some(least) = starts.reduce(f64::min) else {
            self.chosen = None;
            return;
        };
        self.v = self.v.max(least);
        let eligible = (0..self.tags.len())
            .filter_map(|i| self.tags[i].filter(|t| t.0 <= self.v + 1e-6).map(|t| (t.1, i)));
        let (_, class) = eligible.min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
        self.v += f64::from(self.queues[class][0]) / self.weights.iter().sum::<f64>();
        self.chosen = Some(class);
    }

    fn arrive(&mut self, class: usize, size: u16) {
        self.queues[class].push(size);
        if self.tags[class].is_none() {
            self.begin(class, self.finish[class].max(self.v));
            if self.chosen.is_none() {
                self.choose();
            }
        }
    }

    fn depart(&mut self) -> Option<(usize, u16)> {
        if let Some(class) = self.sending.take() {
            self.queues[class].remove(0);
            if self.queues[class].is_empty() {
                self.tags[class] = None;
            } else {
                self.begin(class, self.finish[class]);
            }
            self.choose();
        }
        let Some(class) = self.chosen else {
            self.v = self.finish.iter().copied().fold(self.v, f64::max);
            return None;
        };
        self.sending = Some(class);
        Some((class, self.queues[class][0]))
    }
}
