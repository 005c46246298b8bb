//! What every layer control of the registry must do.

use super::{ControlEnv, Seen, build, catalogue};
use crate::rng::{Purpose, Stream};
use crate::units::{BitRate, Span, Time};

/// Layers held after each of many packets with random spacing and loss.
fn replay(name: &str, layers: usize, seed: u64) -> Vec<u32> {
    let env = ControlEnv { layers: vec![BitRate(64_000); layers] };
    let mut control = build(&name.into(), &env, "groups[0].control").unwrap();
    let mut rng = Stream::new(seed, Purpose::Receiver, 0);
    let mut world = Stream::new(seed, Purpose::Loss, 0);
    let mut now = Time::ZERO;
    let mut layers_held = vec![control.start(now, &mut rng)];
    for _ in 0..5000 {
        now += Span::from_seconds(world.exponential(0.02));
        while control.deadline() <= now {
            let due = control.deadline();
            layers_held.push(control.on_timer(due, &mut rng));
            assert!(control.deadline() > due, "{name}: its timer does not advance");
        }
        let pair_gap = (world.below(2) == 0).then(|| Span(world.below(40_000_000_000)));
        let lost = u32::from(world.below(20) == 0);
        layers_held.push(control.on_packet(&Seen { now, size: 500, lost, pair_gap }, &mut rng));
    }
    layers_held
}

#[test]
fn controls_hold_layers_that_exist_and_repeat() {
    let names: Vec<&str> = catalogue().iter().map(|entry| entry.info.name).collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        for layers in [1, 2, 7, 32] {
            let layers_held = replay(name, layers, 5);
            assert!(
                layers_held.iter().all(|&n| n >= 1 && n as usize <= layers),
                "{name} of {layers}"
            );
            assert_eq!(layers_held, replay(name, layers, 5), "{name} of {layers}");
        }
    }
}
