use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::units::{BitRate, Span};

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    #[default]
    Quick,
    /// With care.
    Thorough,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
struct Step {
    #[schemars(range(min = 0))]
    factor: f64,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Params {
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    beta: f64,
    #[schemars(range(min = 1, max = 16), extend("x-unit" = "segments"))]
    count: Option<u32>,
    #[schemars(range(max = 0.1), extend("exclusiveMinimum" = 0))]
    target: Option<Span>,
    mode: Option<Mode>,
    small: u32,
    steps: Vec<Step>,
    #[schemars(extend("exclusiveMinimum" = 0))]
    peak: Option<BitRate>,
}

fn find_problems(params: Value) -> Vec<String> {
    let Value::Object(params) = params else { return Vec::new() };
    Rules::of::<Params>().problems(&params).iter().map(ToString::to_string).collect()
}

#[test]
fn every_value_outside_its_range_is_reported_with_the_range() {
    let params = json!({ "beta": 1, "count": 17, "target": "200 ms", "steps": [{ "factor": -1 }] });
    assert_eq!(
        find_problems(params),
        [
            "beta: 1 is out of range; expected more than 0 and less than 1",
            "count: 17 is out of range; expected from 1 to 16 (segments)",
            "target: 200 ms is out of range; expected more than 0 and at most 0.1 s",
            "steps[0].factor: -1 is out of range; expected at least 0",
        ]
    );
    assert_eq!(
        find_problems(json!({ "target": 0 })),
        ["target: 0 s is out of range; expected more than 0 and at most 0.1 s"]
    );
    assert_eq!(
        find_problems(json!({ "small": 4_294_967_296_u64 })),
        ["small: 4294967296 is out of range; expected at most 4294967295"]
    );
    let good = json!({ "beta": 0.5, "count": 16, "target": "100 ms", "steps": [{ "factor": 0 }] });
    assert!(find_problems(good).is_empty());
    assert_eq!(
        find_problems(json!({ "steps": [[0.5], [-2]] })),
        ["steps[1].factor: -2 is out of range; expected at least 0"]
    );
}

/// Rates are whole bits a second, times whole picoseconds: half of one and more is one.
#[test]
fn what_rounds_to_0_is_not_more_than_0() {
    assert_eq!(
        find_problems(json!({ "peak": 0.49, "target": "0.4 ps" })),
        [
            "peak: 0.49 bit/s is out of range; expected at least 1 bit/s",
            "target: 0.4 ps is out of range; expected at least 1e-12 s",
        ]
    );
    assert!(find_problems(json!({ "peak": 0.5, "target": "0.5 ps" })).is_empty());
    assert!(find_problems(json!({ "peak": "0.0004 kbps" }))[0].contains("at least 1 bit/s"));
}

/// What rows of numbers are checked by at once says no more and no less than what goes row by row.
#[test]
fn rows_of_numbers_are_checked_as_tables_are() {
    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    struct Row {
        at: Span,
        #[schemars(range(min = 1))]
        size: Option<u32>,
        #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
        part: Option<f64>,
    }
    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    struct Rows {
        rows: Vec<Row>,
    }
    let rules = Rules::of::<Rows>();
    let problems = |rows: Value| {
        let Value::Object(table) = json!({ "rows": rows }) else { return Vec::new() };
        rules.problems(&table).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let values = [
        vec![json!(0), json!(0.5), json!(-1), json!("1 s"), json!("x"), json!(null), json!([])],
        vec![json!(1), json!(0), json!(1.5), json!(4_294_967_296_u64), json!(null), json!("2")],
        vec![json!(0.5), json!(0), json!(1), json!(null), json!(true), json!({})],
    ];
    let mut wrong = 0;
    for start in &values[0] {
        for size in &values[1] {
            for share in &values[2] {
                let as_table = problems(json!([{ "at": start, "size": size, "part": share }]));
                // With a good row before it, and with one that takes the long way.
                let good = json!([0, 1, 0.5]);
                let renumbered: Vec<String> =
                    as_table.iter().map(|text| text.replace("[0]", "[1]")).collect();
                assert_eq!(problems(json!([good, [start, size, share]])), renumbered);
                assert_eq!(problems(json!([["0 s"], [start, size, share]])), renumbered);
                wrong += usize::from(!as_table.is_empty());
            }
        }
    }
    assert!(wrong > 100, "{wrong}");
    assert!(problems(json!([[0, 1, 0.5], [1], [2, null], []])).is_empty());
}

#[test]
fn wrong_types_units_and_names_are_reported() {
    assert_eq!(
        find_problems(json!({ "beta": "much", "count": 1.5, "mode": "thorogh", "small": -1 })),
        [
            "beta: \"much\" is not a number",
            "count: 1.5 is not a whole number",
            "mode: \"thorogh\" is not known here; did you mean \"thorough\"?",
            "small: -1 is out of range; expected at least 0",
        ]
    );
    assert_eq!(
        find_problems(json!({ "bta": 0.5 })),
        ["bta: \"bta\" is not a key here; did you mean \"beta\"?"]
    );
    let unit = find_problems(json!({ "target": "3 parsecs" }));
    assert!(unit[0].starts_with("target: \"parsecs\" in \"3 parsecs\" is not a unit"), "{unit:?}");
}
