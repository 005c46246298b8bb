//! DualPI2: two queues for one link, one of very low delay for L4S and one for all others, with coupled AQMs.
//!
//! **Source**: RFC 9332, sections 2.4 and 2.5, appendix A (doi:10.17487/RFC9332); which packets are L4S: RFC 9331;
//! PI2: K. De Schepper et al., "PI2: A Linearized AQM for both Classic and Scalable TCP", CoNEXT 2016.
//! Compared line by line with appendix A of draft-ietf-tsvwg-aqm-dualq-coupled-19 (November 2021), as the RFC's text could not be
//! had, and the controller, its order of steps, limits and defaults, and the first credit of the round robin with `sch_dualpi2.c` of
//! Linux, by authors of the RFC: the same but for what is below.
//!
//! **Rule**: ECT(1) and CE go to queue L, all others to queue C; an arrival that finds the buffer full is dropped.
//! ```text
//! every update:  q = longest of the two waiting times of the first packets
//!                p' += alpha (q - target) + beta (q - q_before);  p_C = p'^2;  p_CL = k p'
//! C packet:      with p_C marked if capable and p_C < 1 / k^2, else dropped
//! L packet:      p_L = max(p_CL, ramp);  marked with p_L;  ramp: 0 to 1 as its wait goes from threshold - width / 2
//!                to threshold + width / 2, if more than one other is in L;  so p_C = (p_CL / k)^2
//! overload:      where p_CL reaches 1 an L packet is dropped with p_C, as one of C is, and else marked
//! whose turn:    weighted round robin, or L unless C's first packet waits by `time_shift` longer
//! ```
//! "With p" adds p to a sum, and takes 1 from it and does so when the sum exceeds 1 (`recur` of appendix A). The defaults
//! are appendix A's for a largest round trip R of 100 ms: update = min(target, R / 3), alpha = 0.1 update / R^2,
//! beta = 0.3 / R.
//!
//! **Deviations**: weights, and the step of width 0 (`ramp = 0`), are those of Linux's `sch_dualpi2` (which rounds update to
//! 16 ms, alpha to 0.16 and beta to 3.2); the time shift is twice the target where it is left out. The ramp is that of the
//! packet that leaves. An arrival is dropped if it does not fit itself; appendix A leaves room for a largest packet. q
//! is as in Linux; in draft -19 it is C's wait, and L's only where C is empty. Drops and marks of L packets have a sum each, in
//! that draft one for both.
//!
//! **Defaults by era**: the same in all (DualPI2 is younger than ns-2's eras).

mod scheduler;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::scheduler::{Scheduler, Turn};
use crate::error::Problem;
use crate::qdisc::store::Store;
use crate::qdisc::{Limit, QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Info, Status};
use crate::units::{Bytes, Span, Time};
use crate::wire::{DropReason, Flags, Packet, Timed};

/// Which packets the L queue takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Identifier {
    /// ECT(1) and CE (RFC 9331).
    #[default]
    Ect1,
    /// All that are ECN-capable: for DCTCP in a data centre.
    AnyEct,
}

/// Parameters of [`DualPi2`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Waiting time at which the controller aims.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub target: Span,
    /// Time between two updates of the probability.
    #[schemars(range(min = 0.000_001))]
    pub update: Span,
    /// Weight of the distance from the target.
    #[schemars(range(min = 0), extend("x-unit" = "1/s"))]
    pub alpha: f64,
    /// Weight of the change of the waiting time.
    #[schemars(range(min = 0), extend("x-unit" = "1/s"))]
    pub beta: f64,
    /// Coupling factor.
    #[schemars(range(min = 1, max = 100))]
    pub k: f64,
    /// Waiting time in the L queue about which its packets are marked.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub threshold: Span,
    /// Width of the ramp from never to always, at most twice the threshold; 0: a step.
    pub ramp: Span,
    /// Which packets the L queue takes.
    pub identifier: Identifier,
    /// Whose turn it is where packets wait in both queues.
    pub scheduler: Scheduler,
    /// Least share of the link for the classic queue under `wrr`; 0: the L queue has priority.
    #[schemars(range(min = 0, max = 1))]
    pub classic_weight: f64,
    /// How much longer a classic packet must have waited to go first under `time-shifted`; left out: twice
    /// the target.
    pub time_shift: Option<Span>,
    /// ECN-capable packets of the classic queue are marked instead of dropped, but on overload.
    pub ecn: bool,
    /// On overload L packets are dropped with the probability of classic ones. Otherwise p' stays at 1/k at
    /// most, and the buffer fills.
    pub drop_on_overload: bool,
    /// Most that may wait in the classic queue; left out: the link's buffer limits both together.
    #[schemars(range(min = 1))]
    pub classic_buffer: Option<Bytes>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            alpha: 0.15,
            beta: 3.0,
            k: 2.0,
            threshold: Span::from_millis(1),
            ramp: Span::from_micros(400),
            identifier: Identifier::Ect1,
            scheduler: Scheduler::Wrr,
            classic_weight: 0.1,
            time_shift: None,
            ecn: true,
            drop_on_overload: true,
            classic_buffer: None,
        }
    }
}

/// Packets in the L queue beyond which its ramp acts (`Th_len`): a queue of one is none.
const TH_LEN: usize = 1;

/// Does something to one packet in 1 / p, as evenly as can be.
#[derive(Clone, Copy, Debug, Default)]
struct Recurrence(f64);

impl Recurrence {
    fn recur(&mut self, p: f64) -> bool {
        self.0 += p.min(1.0);
        let hit = self.0 > 1.0;
        if hit {
            self.0 -= 1.0;
        }
        hit
    }
}

/// Two coupled queues.
pub struct DualPi2 {
    params: Params,
    limit: Limit,
    low: Store,
    classic: Store,
    turn: Turn,
    /// p'.
    p: f64,
    /// Longest waiting time at the last update \[s\].
    delay: f64,
    low_marks: Recurrence,
    low_drops: Recurrence,
    classic_hits: Recurrence,
}

impl About<QdiscEnv> for DualPi2 {
    type Params = Params;
    const INFO: Info = Info {
        name: "dualpi2",
        title: "DualPI2: dual-queue coupled AQM for L4S",
        source: "RFC 9332, sections 2.4 and 2.5, appendix A, doi:10.17487/RFC9332",
        status: Status::Specified,
    };
    const ALSO: &'static [&'static str] = &["dual-pi2"];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        if env.limit.packets == 0 || env.limit.bytes == 0 {
            let message = "is dualpi2, whose classic queue needs room, but the link's buffer is 0; expected a \
                           buffer of at least one packet";
            return Err(Problem::new("", message).into());
        }
        if params.ramp > params.threshold * 2 {
            let expected =
                format!("at most twice the threshold, {} s", (params.threshold * 2).seconds());
            let value = format!("{} s", params.ramp.seconds());
            return Err(Problem::out_of_range("ramp", value, &expected).into());
        }
        let shift = params.time_shift.unwrap_or(params.target * 2);
        let turn = Turn::new(params.scheduler, params.classic_weight, shift, env.mean_packet);
        Ok(Self {
            params,
            limit: env.limit,
            low: Store::default(),
            classic: Store::default(),
            turn,
            p: 0.0,
            delay: 0.0,
            low_marks: Recurrence::default(),
            low_drops: Recurrence::default(),
            classic_hits: Recurrence::default(),
        })
    }
}

impl DualPi2 {
    /// Probability of the classic queue.
    fn classic_p(&self) -> f64 {
        self.p * self.p
    }

    /// Probability that the classic queue lends to the L queue.
    fn coupled_p(&self) -> f64 {
        self.params.k * self.p
    }

    /// Whether the L queue's probability has reached 1, the classic one 1 / k^2.
    fn is_overloaded(&self) -> bool {
        self.p >= 1.0 / self.params.k
    }

    /// Whether a packet belongs to the L queue. The bits of acknowledgements mean something else.
    fn is_low(&self, packet: &Packet) -> bool {
        let flags = packet.flags;
        let id = match self.params.identifier {
            Identifier::Ect1 => Flags::ECT_1,
            Identifier::AnyEct => Flags::ECT,
        };
        !packet.is_ack() && flags.has(Flags::ECT) && (flags.has(id) || flags.has(Flags::CE))
    }

    /// The L queue's own probability for a packet that has waited.
    fn ramp(&self, waited: Span) -> f64 {
        let (waited, width) = (waited.seconds(), self.params.ramp.seconds());
        let begin = self.params.threshold.seconds() - width / 2.0;
        if waited <= begin {
            0.0
        } else if width > 0.0 {
            ((waited - begin) / width).min(1.0)
        } else {
            1.0
        }
    }

    /// What becomes of a packet that would leave the L queue.
    fn judge_low(
        &mut self,
        mut packet: Packet,
        waited: Span,
        ctx: &mut QdiscCtx<'_>,
    ) -> Option<Packet> {
        if self.is_overloaded() {
            if self.params.drop_on_overload && self.low_drops.recur(self.classic_p()) {
                ctx.drop(packet, DropReason::Early);
                return None;
            }
            ctx.mark(&mut packet);
            return Some(packet);
        }
        let native = if self.low.len() > TH_LEN { self.ramp(waited) } else { 0.0 };
        if self.low_marks.recur(native.max(self.coupled_p())) {
            ctx.mark(&mut packet);
        }
        Some(packet)
    }

    /// What becomes of a packet that would leave the classic queue.
    fn judge_classic(&mut self, mut packet: Packet, ctx: &mut QdiscCtx<'_>) -> Option<Packet> {
        if !self.classic_hits.recur(self.classic_p()) {
            return Some(packet);
        }
        if self.is_overloaded() || !self.params.ecn {
            ctx.drop(packet, DropReason::Early);
        } else if ctx.mark(&mut packet) {
            return Some(packet);
        } else {
            ctx.drop(packet, DropReason::Unmarkable);
        }
        None
    }
}

impl QueueDisc for DualPi2 {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let is_low = self.is_low(&packet);
        ctx.enter(usize::from(!is_low));
        let room = self.params.classic_buffer.map_or(u64::MAX, |buffer| buffer.0);
        let fits = is_low || self.classic.backlog().0 + u64::from(packet.size) <= room;
        if !fits || !self.limit.admits(self.len(), self.backlog(), packet.size) {
            ctx.drop(packet, DropReason::Overflow);
        } else if is_low {
            self.low.push(ctx.now, packet);
        } else {
            self.classic.push(ctx.now, packet);
        }
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        loop {
            let serves_low = match (self.low.oldest(), self.classic.oldest()) {
                (None, None) => {
                    self.turn.restart();
                    return None;
                }
                (low, None) => low.is_some(),
                (None, Some(_)) => false,
                (Some(low), Some(classic)) => self.turn.is_lows(low, classic),
            };
            let is_contended = self.low.len() > 0 && self.classic.len() > 0;
            ctx.queue = usize::from(!serves_low);
            let from = if serves_low { &mut self.low } else { &mut self.classic };
            let Timed { at: arrived_at, packet } = from.pop()?;
            let size = packet.size;
            let survivor = if serves_low {
                self.judge_low(packet, ctx.now.since(arrived_at), ctx)
            } else {
                self.judge_classic(packet, ctx)
            };
            if let Some(packet) = survivor {
                if is_contended {
                    self.turn.count(serves_low, size);
                }
                return Some(Timed { at: arrived_at, packet });
            }
        }
    }

    fn len(&self) -> usize {
        self.low.len() + self.classic.len()
    }

    fn backlog(&self) -> Bytes {
        Bytes(self.low.backlog().0 + self.classic.backlog().0)
    }

    fn timer_interval(&self) -> Option<Span> {
        Some(self.params.update)
    }

    fn on_timer(&mut self, ctx: &mut QdiscCtx<'_>) {
        let waited =
            |arrival: Option<Time>| arrival.map_or(0.0, |arrival| ctx.now.since(arrival).seconds());
        let delay = waited(self.low.oldest()).max(waited(self.classic.oldest()));
        let Params { alpha, beta, target, k, .. } = self.params;
        let step = alpha * (delay - target.seconds()) + beta * (delay - self.delay);
        let most = if self.params.drop_on_overload { 1.0 } else { 1.0 / k };
        self.p = (self.p + step).clamp(0.0, most);
        self.delay = delay;
    }

    fn state(&self) -> State {
        State { flows: 0, bytes: size_of::<Self>() as u64 }
    }

    fn queues(&self) -> Vec<String> {
        ["L", "C"].map(str::to_owned).into()
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.p);
        out("p_classic", self.classic_p());
        out("p_coupled", self.coupled_p().min(1.0));
        out("delay_s", self.delay);
        out("low_packets", self.low.len() as f64);
        out("classic_packets", self.classic.len() as f64);
    }
}

#[cfg(test)]
mod tests;
