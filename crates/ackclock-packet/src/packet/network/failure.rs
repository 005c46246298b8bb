//! The wire of a link that fails: what is on it meanwhile is lost.

use crate::compile::Failures;
use crate::impairment::{Fate, Impairment};
use crate::rng::Stream;
use crate::units::Span;
use crate::wire::Packet;

/// Loses packets that are on a wire while its link has failed. It is the last of the link's impairments, so that their
/// release is that to the wire.
pub(crate) struct Failure {
    /// From and until when the link has failed [ps], ascending and apart.
    times: Box<[(u64, u64)]>,
    /// Propagation delay.
    delay: Span,
}

impl Failure {
    /// Of a link with these failures and this propagation delay.
    pub(crate) fn new(failures: &Failures, delay: Span) -> Self {
        let times = failures.times.iter().map(|&(from, until)| (from.0, until.0)).collect();
        Self { times, delay }
    }
}

impl Impairment for Failure {
    fn pass(&mut self, _: &Packet, fate: &mut Fate, _: &mut Stream) {
        let (enters, leaves) = (fate.release.0, fate.release.0.saturating_add(self.delay.0));
        let next = self.times.partition_point(|&(_, until)| until <= enters);
        fate.is_lost |= self.times.get(next).is_some_and(|&(from, _)| from < leaves);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::FlowId;
    use crate::rng::Purpose;
    use crate::scenario::InFlight;
    use crate::units::Time;
    use crate::wire::Flags;

    /// Failed from 100 to 200 and from 300 on, with 10 on the wire: a packet is lost that enters it from 91 to 199 or from 291
    /// on.
    #[test]
    fn a_packet_is_lost_that_is_on_the_wire_at_any_time_of_a_failure() {
        let failures = Failures {
            times: vec![(Time(100), Time(200)), (Time(300), Time(u64::MAX))],
            in_flight: InFlight::Lost,
        };
        let mut wire = Failure::new(&failures, Span(10));
        let mut rng = Stream::new(1, Purpose::Impairment, 0);
        let packet = Packet::new(FlowId(0), 0, 1500, Flags::default());
        let mut is_lost = |release| {
            let mut fate = Fate::at(Time(release));
            wire.pass(&packet, &mut fate, &mut rng);
            fate.is_lost
        };
        let kept = [0, 90, 200, 290];
        let lost = [91, 100, 199, 291, 300, 1_000_000];
        assert!(!kept.into_iter().any(&mut is_lost));
        assert!(lost.into_iter().all(is_lost));
    }
}
