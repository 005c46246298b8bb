//! Tables in pieces are those in memory, and hold few rows however long a run is.

use serde_json::{Value, json};

use crate::compile::{Plan, compile};
use crate::packet::{self, Piece, Pieces, RegistryOnly, Results, RunError};
use crate::record::Table;

fn plan(scenario: &Value) -> Plan {
    let mut scenario = scenario.clone();
    let in_pieces: Vec<Table> =
        Table::ALL.iter().copied().filter(|table| !table.is_of_end()).collect();
    scenario["record"] = json!({
        "tables": in_pieces,
        "interval": "30 ms",
    });
    compile(&serde_json::from_value(scenario).unwrap()).unwrap()
}

/// Adds a piece to those before it. Each begins where they ended.
fn join(joined: &mut Piece, mut piece: Piece, plan: &Plan) {
    joined.events.append(&mut piece.events);
    assert_eq!(piece.flow_samples.first * plan.flows.len(), joined.flow_samples.rows.len());
    joined.flow_samples.rows.append(&mut piece.flow_samples.rows);
    assert_eq!(piece.link_samples.first * plan.links.len(), joined.link_samples.rows.len());
    joined.link_samples.rows.append(&mut piece.link_samples.rows);
}

fn in_pieces(plan: &Plan, rows: usize) -> (Results, Piece, usize) {
    let (mut joined, mut count) = (Piece::default(), 0);
    let mut take = |piece: Piece| {
        join(&mut joined, piece, plan);
        count += 1;
        true
    };
    let pieces = Pieces { rows, take: &mut take };
    let results = packet::run_in_pieces(plan, &RegistryOnly, &mut |_| true, pieces).unwrap();
    (results, joined, count)
}

fn assert_same(scenario: &Value, rows: usize) {
    let plan = plan(scenario);
    let all = packet::run(&plan, &mut |_| true).unwrap();
    let (results, joined, count) = in_pieces(&plan, rows);
    assert!(count > 2, "{count} pieces");
    assert_eq!(results.digest, all.digest);
    // A probe without a value is not a number, which is not equal to itself.
    assert_eq!(format!("{:?}", joined.events), format!("{:?}", all.tables));
    assert_eq!(joined.flow_samples.rows, all.flow_samples.rows());
    assert_eq!(joined.link_samples.rows, all.link_samples);
    assert_eq!(results.tables.rows(), 0);
    assert!(results.flow_samples.rows().is_empty() && results.link_samples.is_empty());
}

fn dumbbell(qdisc: &str, duration_s: f64) -> Value {
    json!({
        "net": { "kind": "dumbbell", "pairs": 3, "rate": "4 Mbps", "rtt": "40 ms", "buffer": "15 pkt", "qdisc": qdisc },
        "flows": [
            { "pair": 0 },
            { "pair": 1, "cc": "bbr3", "start": 0.5 },
            { "pair": 2, "source": { "kind": "exponential-on-off", "rate": "1 Mbps" } },
        ],
        "duration": duration_s, "warmup": 0.7,
    })
}

#[test]
fn tables_in_pieces_are_those_in_memory() {
    for qdisc in ["fifo", "drr", "codel"] {
        assert_same(&dumbbell(qdisc, 3.0), 400);
    }
    let mut old = dumbbell("red", 3.0);
    old["era"] = json!("ns2");
    old["flows"][1]["cc"] = json!("cubic"); // ns-2's agents take no rate samples, which BBR needs
    assert_same(&old, 400);
    // Most rows have to wait for the slowest process, or none.
    assert_same(&dumbbell("fifo", 3.0), 1);
    assert_same(&dumbbell("fifo", 3.0), 5000);
}

#[test]
fn tables_of_other_networks_in_pieces_are_those_in_memory() {
    assert_same(
        &json!({
            "net": { "kind": "parking-lot", "hops": 3, "rate": "3 Mbps", "delay": "7 ms", "buffer": "20 pkt" },
            "flows": [{ "pair": 0 }, { "pair": 1, "size": "200 kB" }, { "pair": 2, "start": 1 }, { "pair": 3 }],
            "links": [{ "link": "*", "impairments": [{ "kind": "jitter" }] }],
            "duration": 3,
        }),
        300,
    );
    // Near nodes are one process, and flows come and go.
    assert_same(
        &json!({
            "net": { "kind": "star", "hosts": 5, "rate": "2 Mbps", "delay": "10 us", "buffer": "20 pkt" },
            "traffic": [{
                "generator": { "kind": "poisson", "rate": 20, "sizes": { "kind": "fixed", "mean": "20 kB" } },
                "flow": { "src": "h0", "dst": "h1" },
            }],
            "flows": [{ "src": "h2", "dst": "h1" }, { "src": "h3", "dst": "h4", "start": 2.9 }],
            "duration": 3,
        }),
        300,
    );
}

/// Rows held, not memory of a machine: four times as long a run holds no more.
#[test]
fn rows_in_memory_do_not_grow_with_the_run() {
    const HOLD: usize = 1000;
    for duration_s in [5.0, 20.0] {
        let (results, joined, _) = in_pieces(&plan(&dumbbell("fifo", duration_s)), HOLD);
        let Piece { events, .. } = joined;
        let rows = events.packets.len() + events.windows.len() + events.rtts.len();
        assert!(rows as f64 > 2000.0 * duration_s, "{rows} rows in {duration_s} s");
        // What processes record ahead of others within a turn or two comes on top.
        let most_rows = results.most_held_rows;
        assert!((HOLD..2 * HOLD).contains(&most_rows), "{most_rows} rows held of {rows}");
    }
}

#[test]
fn a_taker_that_refuses_stops_the_run() {
    let mut count = 0;
    let mut take = |_: Piece| {
        count += 1;
        count < 3
    };
    let pieces = Pieces { rows: 100, take: &mut take };
    let plan = plan(&dumbbell("fifo", 10.0));
    let stopped = packet::run_in_pieces(&plan, &RegistryOnly, &mut |_| true, pieces);
    assert!(matches!(stopped, Err(RunError::Interrupted)));
    assert_eq!(count, 3);
}
