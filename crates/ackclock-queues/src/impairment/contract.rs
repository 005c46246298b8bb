//! What every impairment of the registry must do.

use super::testing::{data, rng};
use super::{Fate, ImpairmentEnv, build, catalogue};
use crate::units::{Span, Time};

#[test]
fn nothing_is_released_early_and_runs_repeat() {
    let env = ImpairmentEnv { delay: Span::from_seconds(0.005) };
    let names: Vec<&str> = catalogue().iter().map(|entry| entry.info.name).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        let run = |seed| -> Vec<Fate> {
            let mut impairment = build(&name.into(), &env, "impairments[0]").unwrap();
            let mut rng = rng(seed);
            (0..2000)
                .map(|i| {
                    let mut fate = Fate::at(Time(u64::from(i) * 700_000_000));
                    impairment.pass(&data(i), &mut fate, &mut rng);
                    assert!(fate.release.0 >= u64::from(i) * 700_000_000, "{name}: {fate:?}");
                    assert!(fate.copies <= 1, "{name}: {fate:?}");
                    fate
                })
                .collect()
        };
        assert_eq!(run(1), run(1), "{name}");
    }
}
