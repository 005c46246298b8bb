//! Puts packets through CoDel: a loop in place of a link, which gives packets to a queue and takes them out.
//!
//! `cargo run -p ackclock-queues --example packets_through_codel` prints when packets are dropped from a queue that
//! gets a quarter more than its link carries.

use ackclock_base::era::Era;
use ackclock_base::error::Problem;
use ackclock_base::ids::FlowId;
use ackclock_base::registry::Spec;
use ackclock_base::rng::{Purpose, Stream};
use ackclock_base::units::{BitRate, Span, Time};
use ackclock_base::wire::{DropReason, Flags, Packet, Timed};
use ackclock_queues::qdisc::{self, Limit, QdiscCtx, QdiscEnv, QueueDisc};

/// A queue with what its calls need.
struct Queue {
    discipline: Box<dyn QueueDisc>,
    rng: Stream,
    dropped: Vec<(Packet, DropReason)>,
}

impl Queue {
    /// A queue by its name, or by a table with parameters, of a link of 10 Mbit/s.
    fn new(spec: &Spec) -> Result<Self, Vec<Problem>> {
        let env = QdiscEnv {
            rate: BitRate(10_000_000),
            delay: Span::from_millis(10),
            limit: Limit { packets: 1000, bytes: u64::MAX },
            mean_packet: 1000,
            keys: 1,
            passing: [].into(),
            flows: 1,
            round_trips: [Span::from_millis(20)].into(),
            facts: [].into(),
            era: Era::Rfc,
        };
        Ok(Self {
            discipline: qdisc::build(spec, &env, "qdisc")?,
            rng: Stream::new(1, Purpose::Qdisc, 0),
            dropped: Vec::new(),
        })
    }

    fn call<R>(
        &mut self,
        now: Time,
        call: impl FnOnce(&mut dyn QueueDisc, &mut QdiscCtx<'_>) -> R,
    ) -> R {
        let mut ctx =
            QdiscCtx::new(now, None, &mut self.rng, &[[0, 0]], &mut self.dropped, &mut []);
        call(&mut *self.discipline, &mut ctx)
    }

    /// A packet arrives.
    fn enqueue(&mut self, packet: Packet, now: Time) {
        self.call(now, |discipline, ctx| discipline.enqueue(packet, ctx));
    }

    /// The link is free.
    fn dequeue(&mut self, now: Time) -> Option<Timed> {
        self.call(now, |discipline, ctx| discipline.dequeue(ctx))
    }
}

/// When packets of 1000 bytes are dropped that come at 12.5 Mbit/s and leave at 10 Mbit/s, in the first `ms` [ms].
fn drops(queue: &mut Queue, ms: u64) -> Vec<f64> {
    let (arrival, transmission) = (Span(640_000_000), Span(800_000_000)); // in ps
    let (mut next, mut times) = (Time::ZERO, Vec::new());
    let mut free = Time::ZERO;
    let mut seq = 0;
    while free < Time::ZERO + Span::from_millis(ms) {
        while next <= free {
            queue.enqueue(Packet::new(FlowId(0), seq, 1000, Flags::default()), next);
            (next, seq) = (next + arrival, seq + 1);
        }
        // What leaves has waited since `Timed::at`; here only the drops matter.
        let _leaves = queue.dequeue(free);
        times.extend(queue.dropped.drain(..).map(|_| 1000.0 * free.seconds()));
        free += transmission;
    }
    times
}

fn main() {
    match Queue::new(&Spec::from("codel")) {
        Ok(mut codel) => {
            for time in drops(&mut codel, 500) {
                println!("{time:6.1} ms: a packet is dropped");
            }
        }
        Err(problems) => problems.iter().for_each(|problem| println!("{problem}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8289 sections 3.2 and 5: the packet that leaves at t has waited t / 5, so it waits for more than 5 ms from
    /// 25 ms on. After 100 ms above that CoDel drops, and from then on after 100 ms / sqrt(count).
    #[test]
    fn drops_follow_the_control_law_of_rfc_8289() {
        let times = drops(&mut Queue::new(&Spec::from("codel")).unwrap(), 450);
        let mut expected = 125.0;
        for (count, &time) in times.iter().enumerate() {
            assert!((time - expected).abs() < 2.0, "{time} ms, expected {expected} ms");
            expected += 100.0 / (count as f64 + 1.0).sqrt();
        }
        // 125, 225, 296, 353, 403 and 448 ms.
        assert_eq!(times.len(), 6);
    }

    #[test]
    fn a_name_that_does_not_exist_is_a_sentence() {
        let problems = Queue::new(&Spec::from("codell")).err().unwrap();
        assert_eq!(problems[0].nearest.as_deref(), Some("codel"));
    }
}
