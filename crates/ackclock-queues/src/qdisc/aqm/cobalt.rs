//! COBALT, CoDel and BLUE alternate: marks or drops late packets, and drops at random when the buffer overflows.
//!
//! **Source**: T. Hoiland-Jorgensen, D. Taht, J. Morton, "Piece of CAKE: A Comprehensive Queue Management Solution
//! for Home Gateways", IEEE LANMAN 2018, section III (doi:10.1109/LANMAN.2018.8475045); J. Palmei et al., "Design
//! and Evaluation of COBALT Queue Discipline", IEEE LANMAN 2019; details as in Linux's `sch_cake`.
//!
//! **Rule**, for every packet at departure, with sojourn time s and T = max(`target`, 4 packet times):
//! - s > T: on the way down from the first such packet; a signal is due each `interval` / sqrt(n), and n += 1;
//! - s <= T: whenever one would have been due, n -= 1: n decays as it grew;
//! - a signal is a mark if the packet is capable, else a drop; the last packet of a queue is not dropped;
//! - BLUE: p += `p_increase` when the buffer overflows, p -= `p_decrease` when the queue is found empty, each at
//!   most once per `target`; every packet, capable or not, is dropped with p.
//!
//! **Deviations**: the first signal of a fresh queue comes an `interval` after the first late packet, as the comment in the source
//! has it. In the code of Linux 6.12 it comes with the packet after the first late one: the inverse root of the count is 0 until
//! the count first changes. Under a discipline with a shared buffer, overflows are that discipline's, and p
//! stays 0 unless it reports them, as CAKE does.
//!
//! **Defaults by era**: the same in all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::Prototype;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Bytes, Span, Time};
use crate::wire::{DropReason, Flags, Packet};

/// Parameters of [`Cobalt`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Acceptable standing sojourn time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub target: Span,
    /// Time from the first late packet to the first signal.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub interval: Span,
    /// By how much BLUE's probability rises.
    #[schemars(range(min = 0, max = 1))]
    pub p_increase: f64,
    /// By how much it falls.
    #[schemars(range(min = 0, max = 1))]
    pub p_decrease: f64,
    /// ECN-capable packets are marked instead of dropped, but for BLUE.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            p_increase: 1.0 / 256.0,
            p_decrease: 1.0 / 4096.0,
            ecn: true,
        }
    }
}

/// CoDel and BLUE alternate.
#[derive(Clone, Debug)]
pub struct Cobalt {
    /// Sojourn time from which packets are late.
    late: Span,
    params: Params,
    limit: Limit,
    count: u32,
    dropping: bool,
    /// When the next signal is due; with none counted, when the queue counts as at rest.
    next: Time,
    p: f64,
    /// When p changed last.
    changed: Option<Time>,
}

impl About<QdiscEnv> for Cobalt {
    type Params = Params;
    const INFO: Info = Info {
        name: "cobalt",
        title: "COBALT: CoDel and BLUE alternate",
        source: "Hoiland-Jorgensen, Taht & Morton, LANMAN 2018, section III, \
                 doi:10.1109/LANMAN.2018.8475045",
        status: Status::Reconstructed,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let packet = env.rate.transmission(Bytes(u64::from(env.mean_packet)));
        Ok(Self::with(params, packet, env.limit))
    }
}

impl Plain for Cobalt {
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Cobalt {
    /// For a link on which a large packet takes `packet_time`.
    pub(crate) fn with(params: Params, packet_time: Span, limit: Limit) -> Self {
        let late = params.target.max(Span(packet_time.0.saturating_mul(4)));
        Self {
            late,
            params,
            limit,
            count: 0,
            dropping: false,
            next: Time::ZERO,
            p: 0.0,
            changed: None,
        }
    }

    fn step(&self) -> Span {
        let root = f64::from(self.count.max(1)).sqrt();
        Span((self.params.interval.0 as f64 / root).round() as u64)
    }

    /// Whether BLUE may change its probability.
    fn may_change(&self, now: Time) -> bool {
        self.changed.is_none_or(|changed_at| now.since(changed_at) > self.params.target)
    }

    /// The buffer overflowed, and this queue lost a packet.
    pub(crate) fn note_overflow(&mut self, now: Time) {
        if self.may_change(now) {
            self.p = (self.p + self.params.p_increase).min(1.0);
            self.changed = Some(now);
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The queue was found empty.
    pub(crate) fn note_empty(&mut self, now: Time) {
        if self.p > 0.0 && self.may_change(now) {
            self.p = (self.p - self.params.p_decrease).max(0.0);
            self.changed = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next {
            self.count -= 1;
            self.next += self.step();
        }
    }

    /// Whether it remembers anything of its queue's past.
    pub(crate) fn is_active(&self, now: Time) -> bool {
        self.p > 0.0 || self.count > 0 || now < self.next
    }

    /// What becomes of a packet that would leave after `sojourn`, with others behind it or not.
    pub(crate) fn judge(
        &mut self,
        packet: &Packet,
        now: Time,
        sojourn: Span,
        is_last: bool,
        rng: &mut Stream,
    ) -> Verdict {
        let mut is_due = self.count > 0 && now >= self.next;
        if sojourn > self.late {
            if !self.dropping {
                self.dropping = true;
                self.next = now + self.step();
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let is_hit = is_due && self.dropping;
        if is_hit {
            self.count = self.count.saturating_add(1);
            self.next += self.step();
        } else {
            while is_due {
                self.count -= 1;
                self.next += self.step();
                is_due = self.count > 0 && now >= self.next;
            }
        }
        let is_marked = self.params.ecn && packet.flags.has(Flags::ECT);
        let is_unlucky = self.p > 0.0 && rng.uniform() < self.p;
        if self.count == 0 {
            self.next = now + self.params.interval;
        } else if now > self.next && !(is_unlucky || is_hit && !is_marked) {
            self.next = now;
        }
        match (is_hit, is_unlucky) {
            (_, true) if !is_last => Verdict::Drop(DropReason::Early),
            (true, _) if is_marked => Verdict::MarkElseDrop(DropReason::Unmarkable),
            (true, false) if !is_last && self.params.ecn => Verdict::Drop(DropReason::Unmarkable),
            (true, false) if !is_last => Verdict::Drop(DropReason::Forced),
            _ => Verdict::Pass,
        }
    }
}

impl Aqm for Cobalt {
    fn into_prototype(self) -> Option<Box<dyn Prototype>> {
        Some(Box::new(self))
    }

    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, _rng: &mut Stream) -> Verdict {
        if self.limit.admits(queue.packets, queue.bytes, packet.size) {
            return Verdict::Pass;
        }
        self.note_overflow(queue.now);
        Verdict::Drop(DropReason::Overflow)
    }

    fn on_dequeue(
        &mut self,
        packet: &Packet,
        since: Time,
        queue: &QueueState,
        rng: &mut Stream,
    ) -> Verdict {
        self.judge(packet, queue.now, queue.now.since(since), queue.packets == 0, rng)
    }

    fn on_idle(&mut self, now: Time) {
        self.note_empty(now);
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.p);
        out("count", f64::from(self.count));
        out("dropping", f64::from(u8::from(self.dropping)));
        out("next_s", self.next.seconds());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};
    use crate::registry::refusal;

    fn bench(params: Params, packets: u32) -> Bench<Managed<Cobalt>> {
        let env = QdiscEnv { limit: Limit { packets, bytes: u64::MAX }, ..env() };
        Bench::new(Managed::<Cobalt>::new(params, &env).unwrap())
    }

    /// One departure a millisecond from a queue that is kept at `length` packets; the milliseconds of drops.
    fn run(bench: &mut Bench<Managed<Cobalt>>, length: usize, from: u64, to: u64) -> Vec<u64> {
        let mut drops = Vec::new();
        for ms in from..to {
            bench.now = Time::ZERO + Span::from_millis(ms);
            while bench.qdisc_len() < length {
                bench.arrive(0, 1000);
            }
            bench.depart();
            drops.extend(bench.drops().iter().map(|_| ms));
        }
        drops
    }

    #[test]
    fn signals_follow_the_interval_over_the_square_root() {
        // The sojourn time first exceeds 5 ms at 6 ms (n = 1); the first signal an interval later, at 106. Then
        // n = 2: + 70.71, 57.74, 50, 44.72: 176.71, 234.45, 284.45, 329.17.
        let mut bench = bench(Params::default(), 1000);
        assert_eq!(run(&mut bench, 50, 0, 330), [106, 177, 235, 285]);
        assert_eq!(bench.probe("count"), 5.0);
    }

    #[test]
    fn the_count_decays_at_the_pace_at_which_it_grew() {
        let mut bench = bench(Params::default(), 1000);
        run(&mut bench, 50, 0, 300);
        assert_eq!(bench.probe("count"), 5.0);
        // The next one would be due at 329.17. From there on the queue is short: at 330 n = 4, the next in 50 ms
        // (379.17), then n = 3 in 57.74 (436.91), n = 2 in 70.71 (507.62), n = 1 in 100.
        while bench.qdisc_len() > 3 {
            bench.depart();
        }
        bench.drops();
        let count = |bench: &mut Bench<Managed<Cobalt>>, to: u64| {
            let from = bench.now.since(Time::ZERO).0 / 1_000_000_000 + 1;
            assert!(run(bench, 2, from, to).is_empty());
            bench.probe("count")
        };
        assert_eq!([329, 331, 379, 381].map(|to| count(&mut bench, to)), [5.0, 4.0, 4.0, 3.0]);
    }

    #[test]
    fn capable_packets_are_marked_and_the_last_one_is_never_dropped() {
        let mut bench = bench(Params::default(), 1000);
        for _ in 0..3 {
            bench.arrive_with(0, 1000, Flags::ECT);
        }
        bench.after(Span::from_millis(6));
        bench.depart();
        bench.after(Span::from_millis(100));
        assert!(bench.depart().unwrap().packet.flags.has(Flags::CE));
        bench.after(Span::from_millis(300));
        assert!(bench.depart().unwrap().packet.flags.has(Flags::CE));
        bench.arrive(0, 1000);
        bench.after(Span::from_millis(500));
        assert!(bench.depart().is_some());
        assert_eq!((bench.marks, bench.dropped.len()), (2, 0));
    }

    #[test]
    fn blue_rises_with_overflows_and_falls_when_the_queue_is_empty() {
        let mut bench =
            bench(Params { p_increase: 0.25, p_decrease: 0.125, ..Params::default() }, 2);
        for _ in 0..4 {
            bench.arrive(0, 1000);
        }
        assert_eq!(bench.probe("p"), 0.25); // once per target
        bench.after(Span::from_millis(5));
        bench.arrive(0, 1000);
        assert_eq!(bench.probe("p"), 0.25);
        bench.after(Span(1));
        bench.arrive(0, 1000);
        assert_eq!(bench.probe("p"), 0.5);
        for expected in [0.375, 0.25, 0.125, 0.0, 0.0] {
            while bench.depart().is_some() {}
            bench.after(Span::from_millis(6));
            assert_eq!(bench.depart(), None);
            assert_eq!(bench.probe("p"), expected);
        }
    }

    #[test]
    fn blue_drops_capable_packets_too() {
        let mut bench = bench(Params { p_increase: 1.0, ..Params::default() }, 2);
        for _ in 0..3 {
            bench.arrive_with(0, 1000, Flags::ECT);
        }
        bench.drops();
        // All but the last are dropped.
        assert_eq!(bench.depart().unwrap().packet.seq, 1);
        assert_eq!(bench.drops(), [(0, DropReason::Early)]);
    }

    #[test]
    fn a_packet_is_not_late_before_four_packet_times() {
        // 1000 B at 1 Mbit/s take 8 ms.
        let env = QdiscEnv { rate: crate::units::BitRate(1_000_000), ..env() };
        let cobalt = Cobalt::new(Params::default(), &env).unwrap();
        assert_eq!(cobalt.late, Span::from_millis(32));
    }

    #[test]
    fn zero_times_are_refused() {
        let text = refusal::<QdiscEnv, Cobalt>(json!({ "interval": "0 s" }), &env());
        assert_eq!(text, "interval: 0 s is out of range; expected more than 0 s");
    }
}
