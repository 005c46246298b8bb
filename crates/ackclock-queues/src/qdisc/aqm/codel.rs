//! CoDel, controlled delay: drops at departure while the sojourn time stays above a target.
//!
//! **Source**: RFC 8289, section 5 (doi:10.17487/RFC8289).
//! Compared line by line with sections 4 and 5 of draft-ietf-aqm-codel-10, the RFC's last draft, and with `codel_impl.h` of
//! Linux 6.12.
//!
//! **Rule**, for every packet at departure, with sojourn time s and b bytes left behind:
//! - s < `target` or b <= `mtu`: leave the dropping state;
//! - s >= `target` for a whole `interval`: enter it, drop one, next drop at now + interval / sqrt(n);
//!   n starts at 1, or where it left off (n - n at the last entry, if more than 1) when the last
//!   dropping state ended less than 16 intervals ago;
//! - in it, whenever now has reached the next drop: n += 1, drop, next drop += interval / sqrt(n) if the
//!   packet behind keeps the state; after a mark in place of a drop always, as no packet behind is looked at;
//! - with `ce_threshold`, capable packets that are sent after a longer wait are marked CE in any state: all, or
//!   those of L4S only. This is not in the RFC but in Linux (tc-codel(8), tc-fq_codel(8)).
//!
//! **Deviations**: `mtu` is by default the link's typical packet; section 4.1 allows the interface's MTU, which Linux takes,
//! or the largest packet seen, which ns-2 takes. Linux compares with the end of the first interval strictly, in units of
//! 1024 ns, and takes the inverse root from one Newton step a signal, in 16 bits. The authors' model in ns-2.35 is an earlier
//! rule, and not here: after a recent state it waits less than an interval, and takes up the count less 2 within 8 intervals.
//!
//! **Defaults by era**: the same in all (CoDel is younger than ns-2's eras).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::Prototype;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, QdiscEnv, QueueState, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{Span, Time};
use crate::wire::{DropReason, Flags, Packet};

/// Which ECN-capable packets are marked above a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CeSelector {
    /// All.
    #[default]
    All,
    /// Those of L4S, ECT(1) (RFC 9331).
    Ect1,
}

/// Parameters of [`Codel`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Acceptable standing sojourn time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub target: Span,
    /// Time for which the sojourn time must exceed `target` before the first drop.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub interval: Span,
    /// Backlog that may always wait; left out: the link's typical packet.
    #[schemars(extend("x-unit" = "B"))]
    pub mtu: Option<u32>,
    /// ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Waiting time above which a selected packet is marked CE in any state; left out: never.
    pub ce_threshold: Option<Span>,
    /// Which capable packets `ce_threshold` marks.
    pub ce_selector: CeSelector,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            mtu: None,
            ecn: false,
            ce_threshold: None,
            ce_selector: CeSelector::All,
        }
    }
}

/// Controlled delay.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    mtu: u64,
    ecn: bool,
    /// Packets that waited longer are marked; `MAX`: none.
    ce_threshold: Span,
    ce_selector: CeSelector,
    /// When the sojourn time will have been above target for an interval.
    first_above: Option<Time>,
    dropping: bool,
    count: u32,
    /// `count` when the dropping state was last entered.
    last_count: u32,
    drop_next: Time,
    /// The next drop is put off once the packet behind the dropped one proves late too.
    owed: bool,
}

impl About<QdiscEnv> for Codel {
    type Params = Params;
    const INFO: Info = Info {
        name: "codel",
        title: "CoDel: controlled delay",
        source: "RFC 8289, section 5, doi:10.17487/RFC8289",
        status: Status::Specified,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        Ok(Self {
            target: params.target,
            interval: params.interval,
            mtu: u64::from(params.mtu.unwrap_or(env.mean_packet)),
            ecn: params.ecn,
            ce_threshold: params.ce_threshold.unwrap_or(Span::MAX),
            ce_selector: params.ce_selector,
            first_above: None,
            dropping: false,
            count: 0,
            last_count: 0,
            drop_next: Time::ZERO,
            owed: false,
        })
    }
}

impl Plain for Codel {}

impl Codel {
    /// Whether the sojourn time has been above target for an interval.
    fn late(&mut self, sojourn: Span, queue: &QueueState) -> bool {
        if sojourn < self.target || queue.bytes.0 <= self.mtu {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(queue.now + self.interval);
                false
            }
            Some(due) => queue.now >= due,
        }
    }

    fn control_law(&self, from: Time) -> Time {
        from + Span((self.interval.0 as f64 / f64::from(self.count).sqrt()).round() as u64)
    }

    /// Marks a packet that goes on after a longer wait than the threshold, if it is one of those that are marked.
    #[cold]
    #[inline(never)]
    fn mark_beyond_threshold(&self, packet: &Packet, verdict: Verdict) -> Verdict {
        let is_chosen = packet.flags.has(Flags::ECT)
            && (self.ce_selector == CeSelector::All || packet.flags.has(Flags::ECT_1));
        match verdict {
            Verdict::Pass if is_chosen => Verdict::MarkElseDrop(DropReason::Unmarkable),
            _ => verdict,
        }
    }

    /// Whether a hit marks this packet and does not drop it.
    fn marks(&self, packet: &Packet) -> bool {
        self.ecn && packet.flags.has(Flags::ECT)
    }

    fn hit(&self) -> Verdict {
        if self.ecn {
            Verdict::MarkElseDrop(DropReason::Unmarkable)
        } else {
            Verdict::Drop(DropReason::Forced)
        }
    }

    /// The verdict of the control law.
    #[inline]
    fn control(&mut self, packet: &Packet, sojourn: Span, queue: &QueueState) -> Verdict {
        let now = queue.now;
        let late = self.late(sojourn, queue);
        if std::mem::take(&mut self.owed) && late {
            self.drop_next = self.control_law(self.drop_next);
        }
        if !late {
            self.dropping = false;
            return Verdict::Pass;
        }
        if self.dropping {
            if now < self.drop_next {
                return Verdict::Pass;
            }
            self.count += 1;
            if self.marks(packet) {
                self.drop_next = self.control_law(self.drop_next);
            } else {
                self.owed = true;
            }
            return self.hit();
        }
        self.dropping = true;
        let since_entry = self.count - self.last_count;
        let recent = now.since(self.drop_next) < self.interval * 16;
        self.count = if since_entry > 1 && recent { since_entry } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        self.hit()
    }
}

impl Aqm for Codel {
    fn into_prototype(self) -> Option<Box<dyn Prototype>> {
        Some(Box::new(self))
    }

    fn on_enqueue(&mut self, _packet: &Packet, _queue: &QueueState, _rng: &mut Stream) -> Verdict {
        Verdict::Pass
    }

    fn can_foresee(&self) -> bool {
        true
    }

    /// Short waits change nothing outside the dropping state, and are only compared with the threshold of marks.
    #[inline]
    fn foresee(&self, packet: &Packet, wait: Span) -> Option<Verdict> {
        let is_quiet = self.first_above.is_none() && !self.dropping && !self.owed;
        if !is_quiet || wait >= self.target {
            return None;
        }
        if wait > self.ce_threshold {
            return Some(self.mark_beyond_threshold(packet, Verdict::Pass));
        }
        Some(Verdict::Pass)
    }

    fn on_dequeue(
        &mut self,
        packet: &Packet,
        since: Time,
        queue: &QueueState,
        _rng: &mut Stream,
    ) -> Verdict {
        let sojourn = queue.now.since(since);
        let verdict = self.control(packet, sojourn, queue);
        if sojourn > self.ce_threshold {
            return self.mark_beyond_threshold(packet, verdict);
        }
        verdict
    }

    fn on_idle(&mut self, _now: Time) {
        self.first_above = None;
        self.dropping = false;
        self.owed = false;
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("dropping", f64::from(u8::from(self.dropping)));
        out("count", f64::from(self.count));
        out("drop_next_s", self.drop_next.seconds());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::qdisc::managed::Managed;
    use crate::qdisc::testing::{Bench, env};
    use crate::registry::refusal;

    fn bench(params: Params) -> Bench<Managed<Codel>> {
        Bench::new(Managed::<Codel>::new(params, &env()).unwrap())
    }

    /// One departure per millisecond from a queue that is kept at 50 packets (sojourn 50 ms);
    /// returns the milliseconds at which packets were dropped.
    fn run(bench: &mut Bench<Managed<Codel>>, from: u64, to: u64) -> Vec<u64> {
        let mut drops = Vec::new();
        for ms in from..to {
            bench.now = Time::ZERO + Span::from_millis(ms);
            while bench.qdisc_len() < 50 {
                bench.arrive(0, 1000);
            }
            bench.depart();
            drops.extend(bench.drops().iter().map(|_| ms));
        }
        drops
    }

    #[test]
    fn drops_follow_the_interval_over_the_square_root() {
        // The sojourn time first reaches 5 ms at 5 ms; an interval later, at 105 ms, the first drop.
        // Then + 100 (n = 1), + 70.71 (2), + 57.74 (3), + 50 (4), + 44.72 (5): 205, 275.71, 333.45,
        // 383.45, 428.17; a drop happens at the first departure at or after its time.
        let mut bench = bench(Params::default());
        assert_eq!(run(&mut bench, 0, 430), [105, 205, 276, 334, 384, 429]);
        assert_eq!(bench.probe("count"), 6.0);
    }

    /// Section 5.5: entered at 110 ms, next drop at 210. At 400 ms: n = 2, next at 210 + 70.71; n = 3, + 57.74 = 338.45;
    /// n = 4, + 50 = 388.45; n = 5, + 44.72 = 433.17, which is to come: four packets go at one departure, and the fifth leaves.
    #[test]
    fn drops_that_have_become_due_follow_each_other_at_one_departure() {
        let mut bench = bench(Params::default());
        for _ in 0..50 {
            bench.arrive(0, 1000);
        }
        let departures = [10, 110, 400].map(|ms| {
            bench.now = Time::ZERO + Span::from_millis(ms);
            let packet = bench.depart().unwrap().packet;
            (packet.seq, bench.drops().len())
        });
        assert_eq!(departures, [(0, 0), (2, 1), (7, 4)]);
        assert_eq!((bench.probe("drop_next_s") * 1e5).round(), 43_317.0);
    }

    #[test]
    fn a_new_episode_soon_after_takes_up_the_count() {
        let mut bench = bench(Params::default());
        run(&mut bench, 0, 430);
        // The queue drains (dropping ends), then builds up anew.
        while bench.depart().is_some() {}
        assert_eq!(bench.probe("dropping"), 0.0);
        bench.drops();
        // Late again from 435 ms, first drop at 535 with count 6 - 1 = 5: next after 44.72 ms.
        assert_eq!(run(&mut bench, 430, 590), [535, 580]);
        assert_eq!(bench.probe("count"), 6.0);
    }

    #[test]
    fn a_new_episode_long_after_starts_at_one() {
        let mut bench = bench(Params::default());
        run(&mut bench, 0, 430);
        while bench.depart().is_some() {}
        bench.drops();
        // More than 16 intervals after the last drop time.
        assert_eq!(run(&mut bench, 3000, 3210), [3105, 3205]);
    }

    #[test]
    fn one_packet_may_always_wait() {
        let mut bench = bench(Params::default());
        bench.arrive(0, 1000);
        for _ in 0..100 {
            bench.arrive(0, 1000);
            bench.after(Span::from_millis(500));
            bench.depart();
        }
        assert!(bench.dropped.is_empty());
    }

    /// Of waits about the target and the threshold of marks: what is said of a packet on its arrival is what is said when it
    /// leaves, and leaves the state as it was, however much waits behind it.
    #[test]
    fn what_is_foreseen_of_a_packet_is_what_happens_and_changes_nothing() {
        let rng = &mut Stream::new(1, crate::rng::Purpose::Qdisc, 0);
        let target = Params::default().target;
        for threshold in [None, Some(Span::from_millis(2)), Some(target)] {
            let params = Params { ce_threshold: threshold, ..Params::default() };
            let codel = Codel::new(params, &env()).unwrap();
            let around = |span: Span| [Span(span.0 - 1), span, Span(span.0 + 1)];
            let waits = around(threshold.unwrap_or(target)).into_iter().chain(around(target));
            for wait in waits.chain([Span::ZERO, target * 10]) {
                for (flags, bytes) in [(0, 0), (0, 9000), (Flags::ECT.0, 0), (Flags::ECT.0, 9000)] {
                    let packet = Packet::new(crate::ids::FlowId(0), 0, 1000, Flags(flags));
                    let foreseen = codel.foresee(&packet, wait);
                    assert_eq!(foreseen.is_some(), wait < target, "{wait:?}");
                    let Some(verdict) = foreseen else { continue };
                    let now = Time::ZERO + wait;
                    let queue =
                        QueueState { now, packets: 9, bytes: crate::units::Bytes(bytes), key: 0 };
                    let mut after = codel.clone();
                    assert_eq!(after.on_dequeue(&packet, Time::ZERO, &queue, rng), verdict);
                    assert_eq!(
                        format!("{after:?}"),
                        format!("{codel:?}"),
                        "{wait:?} {threshold:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn capable_packets_are_marked() {
        let mut bench = bench(Params { ecn: true, ..Params::default() });
        for _ in 0..50 {
            bench.arrive_with(0, 1000, Flags::ECT);
        }
        bench.after(Span::from_millis(10));
        bench.depart();
        bench.after(Span::from_millis(100));
        let marked = bench.depart().unwrap();
        assert!(marked.packet.flags.has(Flags::CE));
        assert_eq!((bench.marks, bench.dropped.len()), (1, 0));
    }

    /// A drop looks at the packet behind, which puts the next drop off if it is late too; a mark does not.
    #[test]
    fn a_mark_puts_the_next_one_off_even_if_the_state_ends() {
        let end = |flags| {
            let mut codel = Codel::new(Params { ecn: true, ..Params::default() }, &env()).unwrap();
            let mut rng = Stream::new(1, crate::rng::Purpose::Qdisc, 0);
            let packet = Packet::new(crate::ids::FlowId(0), 0, 1000, flags);
            let time = |ms| Time::ZERO + Span::from_millis(ms);
            // Late from 10 ms, entered at 110; the next is due at 210, and the packet behind it is early.
            for (since, now) in [(0, 10), (0, 110), (100, 210), (210, 211)] {
                let bytes = crate::units::Bytes(5000);
                let queue = QueueState { now: time(now), packets: 5, bytes, key: 0 };
                codel.on_dequeue(&packet, time(since), &queue, &mut rng);
            }
            (codel.drop_next.since(Time::ZERO).seconds() * 1e3).round()
        };
        // 210 + 100 / sqrt(2) ms.
        assert_eq!((end(Flags::ECT), end(Flags::default())), (281.0, 210.0));
    }

    #[test]
    fn packets_beyond_the_threshold_are_marked_in_any_state() {
        let ce_threshold = Some(Span::from_millis(1));
        let mut bench = bench(Params { ce_threshold, ..Params::default() });
        for flags in [Flags::ECT, Flags::ECT | Flags::ECT_1, Flags::default(), Flags::ECT] {
            bench.arrive_with(0, 1000, flags);
        }
        bench.after(Span::from_millis(1));
        let depart =
            |bench: &mut Bench<Managed<Codel>>| bench.depart().unwrap().packet.flags.has(Flags::CE);
        assert!(!depart(&mut bench)); // not more than a millisecond
        bench.after(Span(1));
        assert_eq!(
            [depart(&mut bench), depart(&mut bench), depart(&mut bench)],
            [true, false, true]
        );
        assert!(bench.dropped.is_empty());
    }

    #[test]
    fn zero_times_are_refused() {
        let text = refusal::<QdiscEnv, Codel>(json!({ "target": "0 ms" }), &env());
        assert_eq!(text, "target: 0 ms is out of range; expected more than 0 s");
    }

    /// Departures every 10 ms, late from the second on (500 ms of sojourn): first drop at 110 ms. Drop
    /// times are counted from each other, not from the departures that they fall on: 110, 210, 280.71,
    /// 338.45, 388.45, 433.17, 473.99, 511.79, 547.15.
    #[test]
    fn drop_times_do_not_drift_with_departures() {
        let mut bench = bench(Params::default());
        let mut drops = Vec::new();
        for now_ms in (0..560).step_by(10) {
            drops.extend(run(&mut bench, now_ms, now_ms + 1));
        }
        assert_eq!(drops, [110, 210, 290, 340, 390, 440, 480, 520, 550]);
    }

    #[test]
    fn the_count_is_taken_up_for_16_intervals() {
        // The last drop time is 469 ms: 428.17 + 100 / sqrt(6). Sixteen intervals later it is 2069.
        for (from, first, second) in [(1500, 1605, 1650), (1960, 2065, 2110), (1970, 2075, 2175)] {
            let mut bench = bench(Params::default());
            run(&mut bench, 0, 430);
            while bench.depart().is_some() {}
            bench.drops();
            assert_eq!(run(&mut bench, from, second + 5), [first, second]);
        }
    }

    /// A queue that was pushed empty has not been late since: what comes next has a whole interval.
    #[test]
    fn idle_time_ends_lateness() {
        let mut codel = Codel::new(Params::default(), &env()).unwrap();
        let mut rng = Stream::new(1, crate::rng::Purpose::Qdisc, 0);
        let packet = Packet::new(crate::ids::FlowId(0), 0, 1000, Flags::default());
        let time = |ms| Time::ZERO + Span::from_millis(ms);
        let mut leave = |codel: &mut Codel, since, now| {
            let bytes = crate::units::Bytes(5000);
            let queue = QueueState { now: time(now), packets: 5, bytes, key: 0 };
            codel.on_dequeue(&packet, time(since), &queue, &mut rng)
        };
        assert_eq!(leave(&mut codel, 0, 10), Verdict::Pass); // late from here
        codel.on_idle(time(20));
        assert_eq!(leave(&mut codel, 100, 150), Verdict::Pass); // late anew
        assert_eq!(leave(&mut codel, 200, 249), Verdict::Pass);
        assert_eq!(leave(&mut codel, 200, 250), Verdict::Drop(DropReason::Forced));
        // Dropping ends with it too: the next drop is not due at 350 ms.
        codel.on_idle(time(260));
        assert_eq!(leave(&mut codel, 340, 350), Verdict::Pass);
    }
}
