use proptest::prelude::*;

use super::*;
use crate::registry::Spec;
use crate::rng::Purpose;

fn draw(spec: &str, hosts: u32, flows: Option<u32>, seed: u64) -> Vec<Demand> {
    let spec: Spec = serde_json::from_str(spec).unwrap();
    let mut rng = Stream::new(seed, Purpose::Pattern, 0);
    build(&spec, &PatternEnv, "between").unwrap().draw(hosts, flows, &mut rng)
}

fn times(hosts: u32, of: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut times = vec![0; hosts as usize];
    for host in of {
        times[host as usize] += 1;
    }
    times
}

proptest! {
    #[test]
    fn every_pattern_gives_the_requested_flows_between_different_hosts(
        hosts in 2u32..60, flows in 1u32..300, seed in 0u64..1000,
    ) {
        for entry in catalogue() {
            let name = format!("\"{}\"", entry.info.name);
            if entry.info.name == "listed" {
                continue; // has no flows by itself
            }
            let made = draw(&name, hosts, Some(flows), seed);
            let matrix = entry.info.name == "log-normal";
            let expected = if matrix { flows.min(hosts * (hosts - 1)) } else { flows };
            prop_assert_eq!(made.len() as u32, expected);
            for d in &made {
                prop_assert!(d.from != d.to && d.from < hosts && d.to < hosts);
                prop_assert!(d.weight > 0.0 && d.weight.is_finite());
            }
            prop_assert_eq!(&made, &draw(&name, hosts, Some(flows), seed));
        }
    }

    #[test]
    fn uniform_pairs_use_up_every_host_before_any_comes_again(
        hosts in 2u32..80, flows in 1u32..400, seed in 0u64..1000,
    ) {
        let made = draw("\"uniform-pairs\"", hosts, Some(flows), seed);
        for counts in [times(hosts, made.iter().map(|d| d.from)), times(hosts, made.iter().map(|d| d.to))] {
            let (least, most) = (flows / hosts, flows.div_ceil(hosts));
            prop_assert!(counts.iter().all(|c| (least..=most).contains(c)), "{counts:?}");
        }
    }
}

/// 60 of 319 hosts, all different, send to one; receivers of many incasts are as often each host, within chance.
#[test]
fn a_random_incast_draws_its_receiver_and_its_senders() {
    let spec = "{\"kind\": \"incast\", \"random\": true}";
    let mut received = vec![0u32; 320];
    for seed in 0..3200 {
        let drawn = draw(spec, 320, Some(60), seed);
        let to = drawn[0].to;
        assert!(drawn.iter().all(|d| d.to == to && d.from != to));
        assert!(times(320, drawn.iter().map(|d| d.from)).iter().all(|&sent| sent <= 1));
        received[to as usize] += 1;
    }
    // Poisson of mean 10: 320 hosts have none at 0 by 1.5 %, none above 27 by 0.1 %.
    assert!(received.iter().all(|count| (1..=27).contains(count)), "{received:?}");
    let both =
        serde_json::from_str(r#"{"kind": "incast", "random": true, "receiver": 0}"#).unwrap();
    assert!(build(&both, &PatternEnv, "between").is_err());
}

#[test]
fn an_incast_is_every_other_host_once() {
    let pairs = |made: Vec<Demand>| made.iter().map(|d| (d.from, d.to)).collect::<Vec<_>>();
    assert_eq!(pairs(draw("\"incast\"", 4, None, 1)), [(0, 3), (1, 3), (2, 3)]);
    let spec = "{\"kind\": \"incast\", \"receiver\": 1}";
    assert_eq!(pairs(draw(spec, 4, Some(4), 1)), [(0, 1), (2, 1), (3, 1), (0, 1)]);
}

#[test]
fn a_uniform_round_prefers_no_pair() {
    // 5 hosts, 20 ordered pairs, 5 flows a round: each pair is in a quarter of the rounds.
    let rounds = 20_000;
    let mut counts = [[0u32; 5]; 5];
    for seed in 0..rounds {
        for d in draw("\"uniform-pairs\"", 5, None, seed) {
            counts[d.from as usize][d.to as usize] += 1;
        }
    }
    for (from, row) in counts.iter().enumerate() {
        for (to, &count) in row.iter().enumerate() {
            let expected = if from == to { 0.0 } else { 5000.0 };
            // Four standard deviations of a binomial(20000, 1/4): 245.
            assert!((f64::from(count) - expected).abs() < 245.0, "{from} {to} {count}");
        }
    }
}

#[test]
fn exponential_sources_fall_by_a_constant_factor_from_rank_to_rank() {
    let mut times = times(
        10,
        draw(r#"{"kind":"exponential-pairs","exponent":0.7}"#, 10, Some(200_000), 3)
            .iter()
            .map(|d| d.from),
    );
    times.sort_unstable_by(|a, b| b.cmp(a));
    // exp(-0.7) = 0.496585; the first rank has (1 - 0.496585) / (1 - 0.496585^10) = 0.503873 of all.
    assert!((f64::from(times[0]) / 200_000.0 - 0.503_873).abs() < 0.0045);
    for rank in 0..4 {
        let ratio = f64::from(times[rank + 1]) / f64::from(times[rank]);
        assert!((ratio - 0.496_585).abs() < 0.02, "{rank}: {ratio}");
    }
}

#[test]
fn fractions_of_ranks_make_the_same_exponent_weaker_by_the_number_of_hosts() {
    let index = draw(r#"{"kind":"exponential-pairs","exponent":0.05}"#, 20, Some(500), 9);
    let fraction =
        draw(r#"{"kind":"exponential-pairs","exponent":1.0,"ranks":"fraction"}"#, 20, Some(500), 9);
    assert_eq!(index, fraction);
}

#[test]
fn zipf_sources_follow_the_harmonic_law() {
    let mut times = times(
        4,
        draw(r#"{"kind":"zipf-pairs","exponent":1.0}"#, 4, Some(100_000), 3).iter().map(|d| d.from),
    );
    times.sort_unstable_by(|a, b| b.cmp(a));
    // 1 + 1/2 + 1/3 + 1/4 = 25/12: shares 12/25, 6/25, 4/25, 3/25.
    for (count, share) in times.iter().zip([0.48, 0.24, 0.16, 0.12]) {
        assert!((f64::from(*count) / 100_000.0 - share).abs() < 0.005, "{times:?}");
    }
}

#[test]
fn a_log_normal_matrix_names_every_pair_once_and_has_the_stated_moments() {
    let demands = draw(r#"{"kind":"log-normal","sigma":0.5}"#, 200, None, 4);
    let mut pairs: Vec<(u32, u32)> = demands.iter().map(|d| (d.from, d.to)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), 200 * 199);
    let n = demands.len() as f64;
    let logs: Vec<f64> = demands.iter().map(|d| d.weight.ln()).collect();
    let mean = logs.iter().sum::<f64>() / n;
    let sd = (logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / n).sqrt();
    // Mean weight 1 requires a mean logarithm of -0.125; its standard error is 0.0025.
    assert!((mean + 0.125).abs() < 0.0075 && (sd - 0.5).abs() < 0.006, "{mean} {sd}");
    assert!((demands.iter().map(|d| d.weight).sum::<f64>() / n - 1.0).abs() < 0.01);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for spec in [
        r#"{"kind":"exponential-pairs","exponent":-1}"#,
        r#"{"kind":"zipf-pairs","exponent":-0.5}"#,
        r#"{"kind":"log-normal","sigma":-1}"#,
    ] {
        let spec: Spec = serde_json::from_str(spec).unwrap();
        assert!(build(&spec, &PatternEnv, "between").is_err());
    }
}

/// The transfers of a collective on so many bytes.
fn transfers(spec: &str, hosts: u32, size: u64) -> Vec<Transfer> {
    let spec: Spec = serde_json::from_str(spec).unwrap();
    let pattern = build(&spec, &PatternEnv, "between").unwrap();
    let transfers = pattern.transfers(hosts, Some(Bytes(size))).unwrap().unwrap();
    assert_eq!(transfers.len() as u64, pattern.transfer_count(hosts));
    transfers
}

/// Runs transfers one after another as their order allows: what a host sends has what had arrived there.
fn final_holdings(transfers: &[Transfer], hosts: u32) -> Vec<u128> {
    let mut holds: Vec<u128> = (0..hosts).map(|host| 1 << host).collect();
    // What it waits for has arrived at its host, or left there before.
    let carries = |transfer: &Transfer, carried: &[u128]| {
        let waits = transfer.after.iter().map(|wait| carried[wait.transfer as usize]);
        waits.fold(1u128 << transfer.from, |all, sent| all | sent)
    };
    let mut carried: Vec<u128> = Vec::new();
    for transfer in transfers {
        let sent = carries(transfer, &carried);
        carried.push(sent);
        holds[transfer.to as usize] |= sent;
    }
    holds
}

proptest! {
    /// What a host sends contains only what has arrived there before, and in the end each host has got a share of every other.
    #[test]
    fn a_collective_waits_for_what_arrives_at_its_host_and_reaches_all(
        hosts in 2u32..40, size in 1u64..1_000_000, operations in 1u32..4,
    ) {
        for name in ["ring-all-reduce", "tree-all-reduce", "halving-doubling", "all-to-all"] {
            let spec = format!(r#"{{"kind":"{name}","operations":{operations},"compute":"3 us"}}"#);
            let all = transfers(&spec, hosts, size);
            for (i, t) in all.iter().enumerate() {
                prop_assert!(t.from != t.to && t.from < hosts && t.to < hosts && t.size.0 > 0);
                for wait in &t.after {
                    let other = &all[wait.transfer as usize];
                    prop_assert!((wait.transfer as usize) < i);
                    prop_assert!(other.to == t.from || other.from == t.from);
                }
            }
            let everyone = (1u128 << hosts) - 1;
            if name == "all-to-all" {
                let mut senders = vec![0u128; hosts as usize];
                for t in &all {
                    senders[t.to as usize] |= 1 << t.from;
                }
                for (host, from) in senders.iter().enumerate() {
                    prop_assert_eq!(*from | (1 << host), everyone);
                }
            } else {
                let holds = final_holdings(&all, hosts);
                prop_assert!(holds.iter().all(|has| *has == everyone), "{} {:?}", name, holds);
            }
        }
    }
}

/// Of 1 MB between 4 hosts each sends 2 (4 - 1) / 4 of it in a ring and by halving and doubling, 3 / 4 in an all-to-all.
#[test]
fn a_collective_sends_what_its_law_says() {
    let sent = |name: &str, hosts: u32| {
        let all = transfers(&format!("\"{name}\""), hosts, 1_000_000);
        let mut bytes = vec![0; hosts as usize];
        for t in all {
            bytes[t.from as usize] += t.size.0;
        }
        bytes
    };
    assert_eq!(sent("ring-all-reduce", 4), [1_500_000; 4]);
    assert_eq!(sent("halving-doubling", 4), [1_500_000; 4]);
    assert_eq!(sent("all-to-all", 4), [750_000; 4]);
    assert_eq!(sent("tree-all-reduce", 4), [2_000_000, 1_000_000, 2_000_000, 1_000_000]);
    // The fifth host gives its data to the second place of four, and gets the result.
    assert_eq!(
        sent("halving-doubling", 5),
        [1_000_000, 2_500_000, 1_500_000, 1_500_000, 1_500_000]
    );
}

#[test]
fn the_next_operation_waits_for_the_last_arrival_and_computes() {
    let spec = r#"{"kind":"ring-all-reduce","operations":2,"compute":"5 us"}"#;
    let all = transfers(spec, 3, 3000);
    // Two steps that add and two that spread, of three transfers each.
    assert_eq!(all.len(), 24);
    let waits = |i: usize| all[i].after.iter().map(|w| (w.transfer, w.pause)).collect::<Vec<_>>();
    assert_eq!(waits(0), []);
    assert_eq!(waits(4), [(0, Span::ZERO)]);
    assert_eq!(waits(12), [(11, Span::from_micros(5))]);
    assert_eq!(waits(16), [(9, Span::from_micros(5)), (12, Span::ZERO)]);
}

#[test]
fn a_collective_needs_what_it_is_on() {
    let spec: Spec = serde_json::from_str("\"ring-all-reduce\"").unwrap();
    let problem = build(&spec, &PatternEnv, "between").unwrap().transfers(4, None).unwrap_err();
    assert_eq!(problem, "is a collective operation; expected size beside it, what it is on");
}

#[test]
fn a_list_says_what_waits_for_what_and_names_what_no_host_could_know() {
    let spec = r#"{"kind":"listed","transfers":[
        {"from":0,"to":1,"size":"1 kB"},
        {"from":1,"to":2,"size":500,"at":"2 us","after":[{"transfer":0,"pause":"1 us"}]}]}"#;
    let pattern = build(&serde_json::from_str(spec).unwrap(), &PatternEnv, "between").unwrap();
    let all = pattern.transfers(3, None).unwrap().unwrap();
    let wait = Wait { transfer: 0, pause: Span::from_micros(1) };
    assert_eq!((all[1].start, &all[1].after[..]), (Span::from_micros(2), &[wait][..]));
    let few = pattern.transfers(2, None).unwrap_err();
    assert_eq!(few, "names host 2 and there are 2 hosts; expected 0 to 1");
    assert!(pattern.transfers(3, Some(Bytes(1))).unwrap_err().contains("no size beside it"));
    let foreign = r#"{"kind":"listed","transfers":[
        {"from":0,"to":1,"size":1},{"from":2,"to":0,"size":1,"after":[{"transfer":0}]},
        {"from":1,"to":1,"size":1,"after":[{"transfer":2}]}]}"#;
    let problems =
        build(&serde_json::from_str(foreign).unwrap(), &PatternEnv, "between").err().unwrap();
    let paths: Vec<&str> = problems.iter().map(|problem| &*problem.path).collect();
    let expected = ["[1].after[0].transfer", "[2].to", "[2].after[0].transfer"];
    assert_eq!(paths, expected.map(|path| format!("between.transfers{path}")));
}
