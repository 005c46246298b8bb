//! The same connections compiled in and as guests, which are processes behind the protocol: the same bits.

#![cfg(unix)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ackclock_core::api::{Effort, run_with};
use ackclock_core::compile::GUEST;
use ackclock_core::error::Problem;
use ackclock_core::packet::{Custom, Ends, EndsEnv, Place};
use ackclock_core::registry::Spec;
use ackclock_guest::Guest;
use ackclock_guest::end::{Starter, Surroundings, ends};
use ackclock_guest::placement::Placement;
use ackclock_guest::process::{Process, Program};
use ackclock_stacks::controls::Libraries;
use serde_json::{Value, json};

/// The guests of this crate.
struct Guests;

impl Custom for Guests {
    fn quic_ends(
        &self,
        cc: &Spec,
        env: &EndsEnv<'_>,
        location: Place<'_>,
    ) -> Option<Result<Ends, Problem>> {
        if cc.kind() != GUEST {
            return None;
        }
        let params = cc.params();
        let arguments = params["command"].as_array()?.iter();
        let program = Program {
            command: arguments.map(|word| word.as_str().unwrap_or_default().to_owned()).collect(),
            folder: PathBuf::from("."),
            environment: Vec::new(),
            patience: Duration::from_secs(60),
            placement: Placement::default(),
        };
        let starter = || -> Starter {
            let program = program.clone();
            Box::new(move || {
                Ok(Box::new(Process::start(&program, Arc::new(|| false))?) as Box<dyn Guest>)
            })
        };
        let flow = location.name.to_string();
        let surroundings = Surroundings {
            command: "guest",
            flow: &flow,
            starters: [starter(), starter()],
            keep: |_| None,
        };
        Some(ends(env, surroundings).map_err(|(key, message)| Problem::new(key, message)))
    }
}

fn run(custom: &dyn Custom, flow: &Value, extra: &Value) -> Value {
    let mut flow = flow.clone();
    flow.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let scenario = json!({
        "duration": "8 s",
        "seed": 5,
        "net": { "kind": "dumbbell", "pairs": 2, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "30 pkt" },
        "links": [{ "link": "r0->r1", "loss": 0.002 }],
        "flows": [flow, { "pair": 1, "cc": "cubic", "start": "1 s" }],
    });
    let output =
        run_with(&scenario.to_string(), custom, Effort::default(), &mut |_, _| true).unwrap();
    serde_json::from_str::<Value>(&output.summary).unwrap()["digest"].clone()
}

#[test]
fn a_connection_is_the_same_compiled_in_and_as_a_guest() {
    let program = env!("CARGO_BIN_EXE_connection-guest");
    let flows = [
        json!({ "pair": 0 }),
        json!({ "pair": 0, "size": "500 kB", "start": "0.3 s" }),
        json!({ "pair": 0, "quic": { "ecn": true, "max_datagram": 1400, "initial_window": 20 } }),
    ];
    for name in ["quinn/cubic", "quinn/newreno", "quinn/bbr", "noq/cubic", "noq/bbr3"] {
        for flow in &flows {
            let compiled = run(&Libraries, flow, &json!({ "transport": "quic", "cc": name }));
            let guest = json!({ "guest": { "command": [program, name] } });
            assert_eq!(run(&Guests, flow, &guest), compiled, "{name} {flow}");
            assert_eq!(run(&Guests, flow, &guest), compiled, "{name} {flow}, again");
        }
    }
}
