//! Goodput of a measurement window: what arrived in it and was delivered in it.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::common::{run, wire};

/// The slow start overshoots by the whole buffer; a hole of the warm-up is filled after it.
#[test]
fn what_waited_for_a_lost_packet_since_before_the_window_does_not_count_in_it() {
    for (flow, era) in [
        (json!({"cc": "aimd"}), "rfc"),
        (json!({"cc": "aimd", "transport": "quic"}), "rfc"),
        (json!({"cc": "aimd", "recovery": "sack", "tcp": {"receiver_window": 5000}}), "ns2"),
    ] {
        let net = wire(json!({"rate": "10 Mbps", "delay": "20 ms", "buffer": "1000 pkt"}));
        let mut flow = flow;
        crate::common::extend(&mut flow, json!({"src": "a", "dst": "b"}));
        let of = |warmup: f64| {
            run(json!({"net": net, "flows": [flow], "era": era, "warmup": warmup, "duration": 7}))
        };
        let mut held_bytes = 0;
        for warmup in [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] {
            let outcome = of(warmup);
            assert!(outcome.goodput(0) <= 10e6, "{flow} {warmup}: {}", outcome.goodput(0));
            held_bytes = held_bytes.max(outcome.flow(0).receiver_at_warmup.held_bytes);
        }
        assert!(held_bytes > 500_000, "{flow}: {held_bytes}");
        // Without a warm-up all that was delivered counts.
        let outcome = of(0.0).results.flows.remove(0);
        assert_eq!(outcome.window_bytes(), outcome.receiver.delivered_bytes);
    }
}

prop_compose! {
    fn sender()(
        kind in 0..5usize,
        cc in select(vec!["aimd", "cubic", "vegas"]), recovery in select(vec!["sack", "newreno"]),
        start in 0..1000u32, size in prop::option::of(1_000..3_000_000u64),
    ) -> Value {
        let mut flow = json!({"src": "a", "dst": "b", "start": f64::from(start) / 1e3});
        let mut set = |key: &str, value: Value| flow[key] = value;
        match kind {
            0 => set("source", json!({"kind": "coded", "source": {"kind": "cbr", "rate": "3 Mbps"}})),
            1 => set("source", json!({"kind": "tfrc"})),
            2 => {
                set("transport", json!("quic"));
                set("cc", json!(cc));
            }
            _ => {
                set("cc", json!(cc));
                set("recovery", json!(recovery));
                if let Some(size) = size {
                    set("size", json!(size));
                }
            }
        }
        flow
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, rng_seed: crate::common::seed(), max_shrink_iters: 100, ..ProptestConfig::default() })]

    /// In any window, of any senders, with any losses: at each edge a packet may count in part.
    #[test]
    fn the_flows_of_a_link_never_get_more_than_its_capacity(
        flows in prop::collection::vec(sender(), 1..5),
        era in select(vec!["rfc", "linux", "2002", "ns2"]),
        buffer in 2..200u32, loss in select(vec![0.0, 0.0, 0.003, 0.05]),
        qdisc in select(vec!["fifo", "red", "codel", "fq"]),
        warmup in 0.1..3.5f64, window in 0.2..3.0f64, seed in any::<u32>(),
    ) {
        let link = json!({"rate": "8 Mbps", "delay": "15 ms", "buffer": format!("{buffer} pkt"),
            "qdisc": qdisc, "loss": loss});
        let scenario = json!({"net": wire(link), "flows": flows, "era": era, "seed": seed,
            "warmup": warmup, "duration": warmup + window});
        let found = crate::common::problems(&scenario);
        prop_assume!(found.is_empty());
        let seen = run(scenario);
        let sum: f64 = (0..seen.results.flows.len()).map(|i| seen.goodput(i)).sum();
        let edges = 2.0 * 8.0 * 1500.0 / seen.results.window_s;
        prop_assert!(sum <= 8e6 + edges, "{sum}");
    }
}
