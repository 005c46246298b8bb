//! User-defined algorithms: those that are not in the registry.

use std::fmt;

use crate::cc::{CcEnv, CongestionControl};
use crate::endpoint::Endpoint;
use crate::error::Problem;
use crate::ids::FlowId;
use crate::qdisc::{QdiscEnv, QueueDisc};
use crate::quic::QuicConfig;
use crate::registry::Spec;
use crate::tcp::Supply;
use crate::units::{Bytes, Span, Time};

/// A user-defined algorithm, or why it cannot be built; `None` leaves the spec to the registry.
pub type Made<A> = Option<Result<Box<A>, Problem>>;

/// Sender and receiver of a flow.
pub type Ends = (Box<dyn Endpoint>, Box<dyn Endpoint>);

/// What the ends of a flow over QUIC know of it.
#[derive(Clone, Copy, Debug)]
pub struct EndsEnv<'a> {
    /// The flow.
    pub flow: FlowId,
    /// Its settings.
    pub config: &'a QuicConfig,
    /// Payload to transfer; `None`: endless.
    pub size: Option<Bytes>,
    /// Nothing new is sent after this time.
    pub stop: Option<Time>,
    /// The application hands over its data bit by bit.
    pub is_paced: bool,
    /// How it hands over its data, if so.
    pub supply: Option<&'a Supply>,
    /// Propagation there and back.
    pub round_trip: Span,
    /// Seed of the run.
    pub seed: u64,
}

/// The flow or link that an algorithm is built for.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Number of the flow or link.
    pub index: u32,
    /// Its name, formatted on demand: there may be very many links.
    pub name: &'a dyn fmt::Display,
    /// Path of the algorithm in the scenario.
    pub path: &'a str,
}

/// A source of algorithms that precedes the registry. One instance is built for every flow and every link
/// of every run.
pub trait Custom: Sync {
    /// The congestion control that `spec` names.
    fn cc(&self, _spec: &Spec, _env: &CcEnv, _place: Place<'_>) -> Made<dyn CongestionControl> {
        None
    }
    /// The queue discipline that `spec` names.
    fn qdisc(&self, _spec: &Spec, _env: &QdiscEnv, _place: Place<'_>) -> Made<dyn QueueDisc> {
        None
    }
    /// Both ends of a flow over QUIC whose `cc` is this, where a whole connection is in the place of ours.
    fn quic_ends(
        &self,
        _cc: &Spec,
        _env: &EndsEnv<'_>,
        _place: Place<'_>,
    ) -> Option<Result<Ends, Problem>> {
        None
    }
    /// Whether it may have algorithms, which then are called by one thread.
    fn is_used(&self) -> bool {
        true
    }
    /// Why the run must stop, if one of its algorithms has failed.
    fn failure(&self) -> Option<String> {
        None
    }
}

/// How the engine goes about a run. Results do not depend on it, and tests compare them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tactics {
    /// Near nodes are one process.
    pub clusters: bool,
    /// Hosts with one way out run just before the link that it leads to.
    pub stubs: bool,
    /// Upcoming state is prefetched, also in small networks.
    pub prefetch: bool,
}

/// The registry only.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegistryOnly;

impl Custom for RegistryOnly {
    fn is_used(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::api::{Effort, RunError, run, run_with};
    use crate::cc::{Ack, Congestion, Window};
    use crate::qdisc::managed::Managed;
    use crate::qdisc::{Aqm, QueueState, Verdict};
    use crate::rng::Stream;
    use crate::wire::Packet;

    const AFTER: u32 = 100;

    fn scenario(cc: &str, qdisc: &str) -> String {
        serde_json::json!({
            "duration": "5 s",
            "net": { "kind": "dumbbell", "pairs": 2, "rate": "5 Mbps", "rtt": "40 ms",
                     "buffer": "20 pkt", "qdisc": qdisc },
            "flows": [{ "pair": 0, "cc": cc }, { "pair": 1, "cc": "vegas" }],
        })
        .to_string()
    }

    /// Sets a window that is not a number at its hundredth acknowledgement.
    #[derive(Default)]
    struct Lost(u32);

    impl CongestionControl for Lost {
        fn on_ack(&mut self, window: &mut Window, _: &Ack) {
            self.0 += 1;
            window.cwnd = if self.0 < AFTER { 4.0 } else { f64::NAN };
        }
        fn on_congestion(&mut self, _: &mut Window, _: &Congestion) {}
        fn uses_slow_start(&self) -> bool {
            false
        }
    }

    /// An AQM that lets everything pass and counts.
    struct Counting(Arc<AtomicU32>);

    impl Aqm for Counting {
        fn on_enqueue(&mut self, _: &Packet, _: &QueueState, _: &mut Stream) -> Verdict {
            self.0.fetch_add(1, Ordering::Relaxed);
            Verdict::Pass
        }
    }

    /// Has "mine" (the registry's aimd), "lost" and, for links, "counting"; it reports a failure after
    /// `AFTER` packets of the last.
    #[derive(Default)]
    struct Mine(Arc<AtomicU32>);

    impl Custom for Mine {
        fn cc(&self, spec: &Spec, env: &CcEnv, location: Place<'_>) -> Made<dyn CongestionControl> {
            assert!(
                (location.index, &*location.name.to_string(), location.path)
                    == (0, "f0", "flows[0].cc")
                    || location.index == 1
            );
            match spec.kind() {
                "mine" => Some(
                    crate::cc::build(&"aimd".into(), env, location.path)
                        .map_err(|mut problems| problems.remove(0)),
                ),
                "lost" => Some(Ok(Box::new(Lost::default()))),
                _ => None,
            }
        }
        fn qdisc(&self, spec: &Spec, env: &QdiscEnv, _: Place<'_>) -> Made<dyn QueueDisc> {
            (spec.kind() == "counting").then(|| {
                let disc = Managed::over(Counting(Arc::clone(&self.0)), env.limit);
                Ok(Box::new(disc) as Box<dyn QueueDisc>)
            })
        }
        fn failure(&self) -> Option<String> {
            (self.0.load(Ordering::Relaxed) >= AFTER).then(|| "counted enough".to_owned())
        }
    }

    fn digest(summary: &str) -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(summary).unwrap()["digest"].clone()
    }

    #[test]
    fn a_user_defined_control_precedes_the_registry() {
        let user_defined = run_with(
            &scenario("mine", "fifo"),
            &Mine::default(),
            Effort::default(),
            &mut |_, _| true,
        )
        .unwrap();
        let theirs = run(&scenario("aimd", "fifo"), &mut |_, _| true).unwrap();
        assert_eq!(digest(&user_defined.summary), digest(&theirs.summary));
        let unknown = run(&scenario("mine", "fifo"), &mut |_, _| true).unwrap_err();
        assert!(matches!(unknown, RunError::Input(problems) if problems[0].path == "flows[0].cc"));
    }

    #[test]
    fn a_control_that_fails_stops_the_run() {
        let stopped = run_with(
            &scenario("lost", "fifo"),
            &Mine::default(),
            Effort::default(),
            &mut |_, _| true,
        );
        let Err(RunError::Algorithm(reason)) = stopped else { panic!("{stopped:?}") };
        assert!(reason.starts_with("congestion control lost set cwnd to NaN"), "{reason}");
    }

    #[test]
    fn a_discipline_that_fails_stops_the_run_soon() {
        let mine = Mine::default();
        let stopped =
            run_with(&scenario("aimd", "counting"), &mine, Effort::default(), &mut |_, _| true);
        assert!(matches!(stopped, Err(RunError::Algorithm(reason)) if reason == "counted enough"));
        // Not later than the packets of one turn.
        assert!((AFTER..2 * AFTER).contains(&mine.0.load(Ordering::Relaxed)));
    }
}
