//! Helpers of the integration tests: scenarios from JSON, runs, simple statistics.

use ackclock_core::api::{self, Column, Columns};
use ackclock_core::compile::{self, Plan};
use ackclock_core::packet::{
    self, FlowResult, LinkResult, PacketRow, RegistryOnly, Results, Threads,
};
use ackclock_core::scenario::Scenario;
use serde_json::{Map, Value, json};

/// A finished run with its plan.
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) results: Results,
}

/// Runs a scenario that must be right.
pub(crate) fn run(scenario: Value) -> Run {
    let scenario: Scenario = serde_json::from_value(scenario).expect("scenario has the right form");
    let plan = compile::compile(&scenario).expect("scenario compiles");
    let results = packet::run(&plan, &mut |_| true).expect("run ends with balanced books");
    Run { plan, results }
}

/// On one thread, and on two, the run is the same to the last bit.
pub(crate) fn check_threads(run: &Run) {
    for threads in [1, 2] {
        let threads = Threads::Always(threads);
        let (mut results, _) =
            packet::run_on(&run.plan, &RegistryOnly, threads, &mut |_| true, None)
                .expect("run ends");
        results.activations = run.results.activations;
        assert!(format!("{results:?}") == format!("{:?}", run.results), "{threads:?}");
    }
}

impl Run {
    pub(crate) fn flow(&self, i: usize) -> &FlowResult {
        &self.results.flows[i]
    }

    pub(crate) fn link(&self, name: &str) -> &LinkResult {
        &self.results.links[self.link_id(name) as usize]
    }

    pub(crate) fn link_id(&self, name: &str) -> u32 {
        self.plan.link(name).expect("link exists").0
    }

    /// Payload bit/s over the window.
    pub(crate) fn goodput(&self, i: usize) -> f64 {
        self.flow(i).window_bytes() as f64 * 8.0 / self.results.window_s
    }

    /// Rows of the packets table at one link.
    pub(crate) fn packets(&self, link: &str) -> impl Iterator<Item = &PacketRow> {
        let id = self.link_id(link);
        self.results.tables.packets.iter().filter(move |r| r.link == id)
    }
}

/// Two nodes `a` and `b`; `link` gives what the link has besides its ends.
pub(crate) fn wire(link: Value) -> Value {
    let mut all = json!({"a": "a", "b": "b"});
    extend(&mut all, link);
    json!({"kind": "graph", "links": [all]})
}

/// Adds the members of one object to another.
pub(crate) fn extend(to: &mut Value, from: Value) {
    let from: Map<String, Value> = from.as_object().expect("an object").clone();
    to.as_object_mut().expect("an object").extend(from);
}

/// A constant-rate flow from `src` to `dst`.
pub(crate) fn cbr(src: &str, dst: &str, rate: f64, packet: u32) -> Value {
    json!({"src": src, "dst": dst, "source": {"kind": "cbr", "rate": rate, "packet": packet}})
}

/// A column of a table of `api::run`.
pub(crate) fn column<'a>(table: &'a Columns, name: &str) -> &'a Column {
    &table.iter().find(|(n, _)| *n == name).expect("column exists").1
}

/// Paths and messages of `api::check`.
pub(crate) fn problems(scenario: &Value) -> Vec<(String, String)> {
    api::check(&scenario.to_string()).into_iter().map(|p| (p.path, p.message)).collect()
}

/// Mean and standard error of the mean of independent values.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Uniform numbers in (0, 1) that owe nothing to the simulator's generator (Knuth's MMIX
/// constants, upper 53 bits).
pub(crate) struct Uniform(pub(crate) u64);

impl Uniform {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

/// Seed of the property tests: fixed, so that a run shows the code and not luck;
/// `ACKCLOCK_TEST_SEED` explores others.
pub(crate) fn seed() -> proptest::test_runner::RngSeed {
    let seed = std::env::var("ACKCLOCK_TEST_SEED").ok().and_then(|s| s.parse().ok());
    proptest::test_runner::RngSeed::Fixed(seed.unwrap_or(1))
}
