//! The registry, by what the rooms have in it.

use serde_json::{Value, json};

use crate::cc::{self, CcEnv};
use crate::era::Era;
use crate::error::Problem;
use crate::registry::Spec;

fn find_problems(spec: Value) -> Vec<Problem> {
    let spec = serde_json::from_value(spec).unwrap();
    let env = CcEnv {
        mss: 1000,
        wire_size: 1000,
        line_rate: crate::units::BitRate(10_000_000_000),
        round_trip: crate::units::Span::from_micros(20),
        era: Era::Rfc,
    };
    cc::build(&spec, &env, "cc").err().unwrap_or_default()
}

fn places(spec: Value) -> Vec<String> {
    find_problems(spec).into_iter().map(|problem| problem.path).collect()
}

#[test]
fn all_parameters_at_fault_are_reported_by_path() {
    assert_eq!(places(json!({ "kind": "cubic", "beta": 2, "c": -1 })), ["cc.beta", "cc.c"]);
    assert_eq!(places(json!({ "kind": "cubic", "beta": 2, "gamma": 1 })), ["cc.beta", "cc.gamma"]);
    assert!(places(json!({ "kind": "cubic", "beta": 0.7 })).is_empty());
    assert_eq!(places(json!("cubik")), ["cc"]);
}

#[test]
fn a_problem_carries_value_range_and_nearest_name() {
    let problems = find_problems(json!({ "kind": "cubic", "beta": 2, "fast_convergance": true }));
    assert_eq!(problems[0].value.as_deref(), Some("2"));
    assert_eq!(problems[0].range.as_deref(), Some("more than 0 and less than 1"));
    assert_eq!(problems[1].nearest.as_deref(), Some("fast_convergence"));
    assert_eq!(find_problems(json!("cubik"))[0].nearest.as_deref(), Some("cubic"));
}

#[test]
fn other_names_are_of_one_algorithm_and_no_registry_name_of_their_room() {
    let rooms: Value = serde_json::from_str(&crate::api::catalogue()).unwrap();
    let mut count = 0;
    for (room, entries) in rooms.as_object().unwrap() {
        let entries = entries.as_array().unwrap();
        let mut names: Vec<&str> = entries
            .iter()
            .flat_map(|entry| {
                let also = entry["also"].as_array().unwrap();
                std::iter::once(&entry["name"]).chain(also).map(|name| name.as_str().unwrap())
            })
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "{room}");
        count += all - entries.len();
    }
    assert!(count > 20, "{count} other names");
}

#[test]
fn an_algorithm_is_built_by_each_of_its_names() {
    assert!(places(json!("reno")).is_empty());
    assert_eq!(places(json!({ "kind": "reno", "b": 2 })), ["cc.b"]);
    assert_eq!(cc::registry_name("reno"), Some("aimd"));
    assert_eq!(cc::registry_name("newreno"), None);
    let spec: Spec = serde_json::from_value(json!({ "kind": "reno", "b": 0.7 })).unwrap();
    let renamed = spec.by_registry_name(cc::registry_name);
    assert_eq!(renamed.kind(), "aimd");
    assert_eq!(renamed.params(), spec.params());
    assert_eq!(find_problems(json!("renoo"))[0].nearest.as_deref(), Some("reno"));
}

/// A bare name is built with the defaults, so there must be one for each parameter.
#[test]
fn no_parameter_must_be_given() {
    let rooms: Value = serde_json::from_str(&crate::api::catalogue()).unwrap();
    let entries = rooms.as_object().unwrap().values().flat_map(|room| room.as_array().unwrap());
    let mut count = 0;
    for entry in entries {
        let params = &entry["params"];
        assert!(params.is_object() && params.get("required").is_none(), "{}", entry["name"]);
        count += 1;
    }
    assert!(count > 50, "{count} algorithms");
}

#[test]
fn what_parameters_say_together_is_checked_when_each_is_in_range() {
    assert_eq!(places(json!({ "kind": "fast", "alpha": -1, "beta": 2 })), ["cc.alpha"]);
    assert_eq!(places(json!({ "kind": "fast", "alpha": 3, "beta": 2 })), ["cc.beta"]);
}
