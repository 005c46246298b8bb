//! Poisson packets of one size at one server: M/D/1 and M/D/1/K.

use serde_json::{Value, json};

use crate::common::{Run, Uniform, mean_and_error, run, wire};

/// Packets of 1000 B at 8 Mb/s: a service takes 1 ms.
const SERVICE: f64 = 1e-3;

/// A run of `n` Poisson arrivals at load `rho`; the first tenth is warm-up.
fn poisson(rho: f64, n: usize, buffer: &str, seed: u64) -> Run {
    let mut uniform = Uniform(seed);
    let mut time = 0.0;
    let packets: Vec<Value> = (0..n)
        .map(|_| {
            time -= uniform.next().ln() * SERVICE / rho;
            json!([time, 1000])
        })
        .collect();
    run(json!({
        "net": wire(json!({"rate": "8 Mbps", "delay": "1 ms", "buffer": buffer})),
        "flows": [{"src": "a", "dst": "b", "source": {"kind": "trace", "packets": packets}}],
        "duration": time, "warmup": time / 10.0,
    }))
}

#[test]
fn m_d_1_waits_as_pollaczek_and_khinchine_say() {
    // Wq = rho / (2 (1 - rho)) services, Lq = rho Wq (Kleinrock, Queueing Systems I, section 5.6).
    // Twelve independent runs; four standard errors of their mean (11 degrees of freedom: a chance
    // of 0.2 %), and the error itself must be small enough to mean something.
    for rho in [0.5, 0.8] {
        let runs: Vec<Run> = (0..12).map(|s| poisson(rho, 20_000, "unlimited", 1000 + s)).collect();
        let waits: Vec<f64> = runs.iter().map(|r| r.link("a->b").delay_mean_s / SERVICE).collect();
        let lengths: Vec<f64> = runs.iter().map(|r| r.link("a->b").queue_mean).collect();
        let w = rho / (2.0 * (1.0 - rho));
        for (name, values, law) in [("wait", waits, w), ("length", lengths, rho * w)] {
            let (mean, error) = mean_and_error(&values);
            println!("rho {rho}: {name} {mean:.4} +- {error:.4}, law {law:.4}");
            assert!(error < 0.04 * law, "{name}: {error}");
            assert!(
                (mean - law).abs() < 4.0 * error,
                "rho {rho}, {name}: {mean} +- {error}, {law}"
            );
        }
        let used: Vec<f64> = runs.iter().map(|r| r.link("a->b").utilisation).collect();
        let (mean, error) = mean_and_error(&used);
        assert!((mean - rho).abs() < 4.0 * error, "{mean} +- {error}");
    }
}

/// Loss of M/D/1/K (K in the system) by its embedded chain: pi at departures from the recursion of
/// M/G/1, cut at K - 1; loss = `1 - 1 / (pi_0 + rho)` (Gross & Harris, section 5.1.8).
fn loss(rho: f64, k: usize) -> f64 {
    // a_j: j arrivals in one service.
    let mut a = vec![(-rho).exp()];
    for j in 1..=k {
        a.push(a[j - 1] * rho / j as f64);
    }
    let mut pi = vec![1.0];
    for j in 0..k - 1 {
        let sum_of_rest: f64 = (1..=j).map(|i| pi[i] * a[j - i + 1]).sum();
        pi.push((pi[j] - pi[0] * a[j] - sum_of_rest) / a[0]);
    }
    let total: f64 = pi.iter().sum();
    1.0 - 1.0 / (1.0 / total + rho)
}

#[test]
fn m_d_1_k_loses_as_its_embedded_chain_says() {
    // K = 1 is Erlang's B with one server: rho / (1 + rho).
    assert!((loss(0.7, 1) - 0.7 / 1.7).abs() < 1e-12);
    // A buffer of B packets and the one in service: K = B + 1.
    for (rho, buffer) in [(0.8, 1usize), (0.8, 4), (1.2, 5)] {
        let law = loss(rho, buffer + 1);
        let losses: Vec<f64> = (0..12)
            .map(|s| {
                let run = poisson(rho, 20_000, &format!("{buffer} pkt"), 2000 + s);
                let link = run.link("a->b");
                link.window_drops as f64 / link.window_arrived as f64
            })
            .collect();
        let (mean, error) = mean_and_error(&losses);
        println!("rho {rho}, buffer {buffer}: loss {mean:.5} +- {error:.5}, law {law:.5}");
        assert!(error < 0.05 * law, "{error}");
        assert!(
            (mean - law).abs() < 4.0 * error,
            "rho {rho}, B {buffer}: {mean} +- {error}, {law}"
        );
    }
}
