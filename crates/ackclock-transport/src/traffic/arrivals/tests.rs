use super::*;
use crate::registry::Spec;
use crate::rng::Purpose;

const ERAS: [Era; 6] = [Era::Rfc, Era::Linux, Era::Y1999, Era::Y2002, Era::Y2007, Era::Ns2];

fn take(json: serde_json::Value, most: usize) -> Vec<Arrival> {
    let spec: Spec = serde_json::from_value(json).unwrap();
    let mut generator = build(&spec, &ArrivalsEnv { era: Era::Rfc }, "traffic").unwrap();
    let mut rng = Stream::new(11, Purpose::Traffic, 0);
    let all: Vec<Arrival> = std::iter::from_fn(|| generator.next(&mut rng)).take(most).collect();
    assert!(all.is_sorted_by_key(|a| a.at));
    all
}

fn in_window(all: &[Arrival], from: f64, to: f64) -> f64 {
    all.iter().filter(|a| (from..to).contains(&a.at.seconds())).count() as f64
}

#[test]
fn poisson_counts_have_the_mean_and_the_variance_of_poisson() {
    // 200,000 arrivals at 100 per second: the mean rate is known to 1 / sqrt(200000) = 0.22 %.
    let all = take(serde_json::json!({"kind": "poisson", "rate": 100}), 200_000);
    let rate = all.len() as f64 / all[all.len() - 1].at.seconds();
    assert!((rate - 100.0).abs() < 0.9, "{rate}");
    // Counts per second over 1900 s: variance / mean is 1 with deviation sqrt(2 / 1900) = 0.032.
    let mut counts = vec![0.0; 1900];
    for arrival in &all {
        if let Some(count) = counts.get_mut(arrival.at.seconds() as usize) {
            *count += 1.0;
        }
    }
    let mean = counts.iter().sum::<f64>() / 1900.0;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 1899.0;
    assert!((variance / mean - 1.0).abs() < 0.13, "{}", variance / mean);
}

#[test]
fn pareto_sizes_have_the_tail_index_of_their_shape() {
    let json = serde_json::json!({
        "kind": "poisson", "sizes": {"kind": "pareto", "mean": "3 MB", "shape": 1.5}
    });
    let mut sizes: Vec<f64> =
        take(json, 100_000).iter().map(|a| a.size.unwrap().0 as f64).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    // Hill's estimator over the 2000 largest: deviation 1.5 / sqrt(2000) = 0.034.
    let k = 2000;
    let hill = k as f64 / sizes[..k].iter().map(|x| (x / sizes[k]).ln()).sum::<f64>();
    assert!((hill - 1.5).abs() < 0.13, "{hill}");
    // The smallest is mean / 3, the median 2^(2/3) of it: 1,587,401 B.
    assert!(sizes[99_999] >= 999_999.0);
    assert!((sizes[50_000] / 1_587_401.0 - 1.0).abs() < 0.02, "{}", sizes[50_000]);
}

#[test]
fn an_offered_load_is_met_by_every_distribution_of_sizes() {
    // 8 Mb/s of 10 kB is 100 transfers a second. Pareto 2.5 has a relative deviation of 0.89, so
    // over 100,000 transfers the load is known to about 0.4 %. The capped one: with shape 2,
    // s = 5 kB and c = 10 kB, the mean is 10 - 5 (5/10) = 7.5 kB: 133.3 transfers a second.
    for (sizes, rate) in [
        (serde_json::json!({"kind": "fixed", "mean": "10 kB"}), 100.0),
        (serde_json::json!({"kind": "exponential", "mean": "10 kB"}), 100.0),
        (serde_json::json!({"kind": "pareto", "mean": "10 kB", "shape": 2.5}), 100.0),
        (
            serde_json::json!({"kind": "pareto", "mean": "10 kB", "shape": 2, "cap": "10 kB"}),
            133.333,
        ),
    ] {
        let text = sizes.to_string();
        let json = serde_json::json!({"kind": "poisson", "load": "8 Mb/s", "sizes": sizes});
        let all = take(json, 100_000);
        let seconds = all[all.len() - 1].at.seconds();
        let load = all.iter().map(|a| 8.0 * a.size.unwrap().0 as f64).sum::<f64>() / seconds;
        assert!((load / 8e6 - 1.0).abs() < 0.02, "{text}: {load}");
        assert!((all.len() as f64 / seconds / rate - 1.0).abs() < 0.015, "{text}");
    }
}

#[test]
fn a_schedule_changes_the_intensity_and_repeats() {
    // 100 per second, three times that in the second half of every 10 s: the changing mean
    // interval of the paper. 100 turns: 50,000 and 150,000 expected; deviations 224 and 387.
    let json = serde_json::json!({
        "kind": "poisson", "rate": 100, "start": 2, "until": 1002, "period": 10,
        "schedule": [{"at": 0, "factor": 1}, {"at": 5, "factor": 3}],
    });
    let all = take(json, usize::MAX);
    let slow =
        (0..100).map(|i| in_window(&all, 2.0 + 10.0 * f64::from(i), 7.0 + 10.0 * f64::from(i)));
    let slow: f64 = slow.sum();
    let fast = all.len() as f64 - slow;
    assert!((slow - 50_000.0).abs() < 900.0, "{slow}");
    assert!((fast - 150_000.0).abs() < 1550.0, "{fast}");
    assert!(all[0].at.seconds() >= 2.0 && all[all.len() - 1].at.seconds() < 1002.0);
    // A schedule that ends in silence ends the arrivals.
    let json = serde_json::json!({
        "kind": "poisson", "rate": 100, "schedule": [{"at": 1, "factor": 0}]
    });
    let all = take(json, usize::MAX);
    assert!((60..140).contains(&all.len()) && all[all.len() - 1].at.seconds() < 1.0);
}

#[test]
fn count_and_until_end_it_and_pairs_are_uniform() {
    let json = serde_json::json!({"kind": "poisson", "count": 4000, "pairs": 4});
    let all = take(json, usize::MAX);
    assert_eq!(all.len(), 4000);
    for pair in 0..4 {
        // 1000 expected, deviation sqrt(4000 x 1/4 x 3/4) = 27.
        let n = all.iter().filter(|a| a.pair == Some(pair)).count();
        assert!((890..1110).contains(&n), "{n}");
    }
    let json = serde_json::json!({"kind": "poisson", "rate": 100, "until": "10 s"});
    let all = take(json, usize::MAX);
    assert!((850..1150).contains(&all.len()) && all[0].pair.is_none());
}

#[test]
fn a_trace_is_replayed_up_to_its_limits() {
    let list = serde_json::json!([{"at": 1, "size": "10 kB"}, {"at": 1, "pair": 2}, {"at": 3}]);
    let second = |s| Time(s * crate::units::PS_PER_S);
    let all = take(serde_json::json!({"kind": "trace", "arrivals": list}), 9);
    let expected = [
        Arrival::at_once(second(1), Some(Bytes(10_000)), None),
        Arrival::at_once(second(1), None, Some(2)),
        Arrival::at_once(second(3), None, None),
    ];
    assert_eq!(all, expected);
    assert_eq!(
        take(serde_json::json!({"kind": "trace", "arrivals": list, "until": 3}), 9).len(),
        2
    );
    assert_eq!(
        take(serde_json::json!({"kind": "trace", "arrivals": list, "count": 1}), 9).len(),
        1
    );
}

#[test]
fn every_generator_works_with_its_defaults_and_replays_equal() {
    for entry in catalogue() {
        for era in ERAS {
            let run = || {
                let spec = Spec::from(entry.info.name);
                let mut generator = build(&spec, &ArrivalsEnv { era }, "traffic").unwrap();
                let mut rng = Stream::new(5, Purpose::Traffic, 1);
                (0..1000).map_while(|_| generator.next(&mut rng)).collect::<Vec<_>>()
            };
            assert_eq!(run(), run(), "{}", entry.info.name);
        }
    }
}

fn poisson_with(sizes: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({"kind": "poisson", "sizes": sizes})
}

#[test]
fn a_bad_parameter_is_named_in_one_sentence() {
    for (json, phrase) in [
        (serde_json::json!({"kind": "poisson", "rate": 0}), "rate: 0 is out of range"),
        (serde_json::json!({"kind": "poisson", "load": 0}), "load: 0 bit/s is out of range"),
        (serde_json::json!({"kind": "poisson", "rate": 1, "load": 1}), "excludes load"),
        (serde_json::json!({"kind": "poisson", "pairs": 0}), "pairs: 0 is out of range"),
        (
            poisson_with(&serde_json::json!({"kind": "pareto", "mean": 9, "shape": 1})),
            "sizes.shape: 1 is out of range",
        ),
        (
            serde_json::json!({"kind": "poisson", "sizes": {"kind": "fixed", "mean": 0}}),
            "sizes.mean",
        ),
        (
            poisson_with(
                &serde_json::json!({"kind": "pareto", "mean": 300, "shape": 1.5, "cap": 50}),
            ),
            "sizes.cap: 50 B is out of range; expected at least 100 B",
        ),
        (
            serde_json::json!({"kind": "poisson", "schedule": [{"at": 0, "factor": 0}]}),
            "nothing would ever arrive",
        ),
        (
            serde_json::json!({
                "kind": "poisson", "schedule": [{"at": 5, "factor": 2}], "period": 5
            }),
            "before it",
        ),
        (serde_json::json!({"kind": "trace", "arrivals": [{"at": 2}, {"at": 1}]}), "in order"),
        (
            serde_json::json!({"kind": "trace", "arrivals": [{"at": 2, "size": 0}]}),
            "arrivals[0].size",
        ),
    ] {
        let text = json.to_string();
        let spec: Spec = serde_json::from_value(json).unwrap();
        let env = ArrivalsEnv { era: Era::Rfc };
        let message = build(&spec, &env, "traffic").err().expect(&text)[0].to_string();
        assert!(message.contains(phrase), "{text}: {message}");
    }
}

/// A transfer each 10^14 s, and factors that repeat each millisecond: 10^17 periods without one pass at once, and at
/// the end of the clock nothing comes any more.
#[test]
fn periods_without_an_arrival_pass_at_once() {
    let rare = |rate: f64, schedule: serde_json::Value| {
        take(
            serde_json::json!({"kind": "poisson", "rate": rate, "period": "1 ms", "schedule": schedule}),
            5,
        )
    };
    assert!(rare(1e-300, serde_json::json!([])).iter().all(|arrival| arrival.at == Time::MAX));
    // Half of each millisecond at factor 3, half at 1: 2 on average. 20,000 intervals of 10 s are known to 0.7 %, and
    // three quarters of the arrivals come in the first half.
    let json = serde_json::json!({
        "kind": "poisson", "rate": 0.05, "period": "1 ms",
        "schedule": [{"at": 0, "factor": 3}, {"at": 0.0005, "factor": 1}],
    });
    let all = take(json, 20_000);
    let mean = all[all.len() - 1].at.seconds() / 20_000.0;
    assert!((mean / 10.0 - 1.0).abs() < 0.03, "{mean}");
    let first = all.iter().filter(|arrival| arrival.at.0 % 1_000_000_000 < 500_000_000).count();
    assert!((first as f64 / 20_000.0 - 0.75).abs() < 0.012, "{first}");
}

/// So that far too many are refused before they are drawn.
#[test]
fn the_expected_number_of_transfers_is_that_which_comes() {
    let end = Span::from_seconds(500.0);
    for json in [
        serde_json::json!({"kind": "poisson", "rate": 40}),
        serde_json::json!({"kind": "poisson", "load": "8 Mbps", "start": "100 s", "until": "400 s"}),
        serde_json::json!({"kind": "poisson", "rate": 40, "count": 7000}),
        serde_json::json!({"kind": "poisson", "rate": 40, "schedule": [{"at": 100, "factor": 0.5}, {"at": 200, "factor": 3}]}),
        serde_json::json!({"kind": "poisson", "rate": 40, "period": "7 s", "schedule": [{"at": 1, "factor": 4}]}),
        serde_json::json!({"kind": "connection-vectors", "rate": 40}),
        serde_json::json!({"kind": "connection-vectors", "load": "8 Mbps", "start": "100 s", "until": "300 s"}),
    ] {
        let spec: Spec = serde_json::from_value(json.clone()).unwrap();
        let mut generator = build(&spec, &ArrivalsEnv { era: Era::Rfc }, "traffic").unwrap();
        let (expected, turns) = (generator.expected(end), generator.expected_turns(end));
        let mut rng = Stream::new(11, Purpose::Traffic, 0);
        let all = std::iter::from_fn(|| generator.next(&mut rng));
        let all: Vec<_> = all.take_while(|arrival| arrival.at <= Time::ZERO + end).collect();
        let count = all.len() as f64;
        // The number of turns of a connection is geometric, with a deviation below its mean.
        let of_requests = all.iter().filter(|arrival| arrival.back);
        let drawn = of_requests.map(|arrival| arrival.turns.len()).sum::<usize>() as f64;
        assert!(
            (drawn - turns).abs() <= 4.0 * turns * (4.0 / expected).sqrt(),
            "{drawn} turns of {turns}: {json}"
        );
        // Connections are two transfers each: deviation sqrt(2 count). The least is 4,000 of them.
        assert!(
            (count / expected - 1.0).abs() < 4.0 * (2.0 / expected).sqrt(),
            "{count} of {expected}: {json}"
        );
    }
}
