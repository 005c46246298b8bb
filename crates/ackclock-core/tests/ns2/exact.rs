//! Whole networks in which the engine, in era `ns2`, gives every flow's counts as ns-2.35 gave them.
//!
//! Times are the same doubles as ns-2's. In the other networks of the reference two events come
//! sooner or later at the same double that were scheduled within a nanosecond of each other, where
//! the engine does not keep ns-2's order of insertion; from there on they are compared by
//! statistics (`large`).

use crate::cases::{engine, folder, rows};

fn check(name: &str) {
    let folder = folder();
    let folder = folder.join(name);
    let (_, results) = engine::run(engine::network(&folder, &mut |_| 0.0));
    let expected = rows(&folder.join("flows_out.csv"));
    assert!(!expected.is_empty());
    for (i, row) in expected.iter().enumerate() {
        // Bytes delivered, timeouts, cuts, acknowledgements; ns-2's sink counts the 40 bytes of the
        // request.
        let want = [2, 7, 8, 10].map(|c: usize| row[c].parse::<f64>().expect("a count") as u64);
        let (s, r) = (&results.flows[i].sender, &results.flows[i].receiver);
        let cuts = s.recoveries + s.timeouts + s.ecn_reductions;
        assert_eq!(want, [r.delivered_bytes + 40, s.timeouts, cuts, s.acks_received], "flow {i}");
    }
    println!("{name}: {} flows agree", expected.len());
}

mod needs_data {
    use super::*;

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn ten_sack1_flows_through_drop_tail() {
        check("akella_droptail_sack1_aimd_1_0.5_ch");
    }

    #[test]
    #[ignore = "needs the ns-2 reference cases (ACKCLOCK_DATA)"]
    fn a_parking_lot_of_sack1_flows() {
        check("parkinglot_droptail_sack1");
    }
}
