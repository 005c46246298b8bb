//! DRR, deficit round robin: fair queueing at constant cost, with longest-queue drop.
//!
//! **Source**: Shreedhar & Varghese, "Efficient Fair Queueing Using Deficit Round-Robin", IEEE/ACM
//! Trans. Networking 4(3), 1996, section III (doi:10.1109/90.502236); dropping from the longest queue: `McKenney`,
//! INFOCOM 1990, as there cited.
//! The papers' texts could not be had. Compared line by line with `drr.cc` and `ns-default.tcl` of ns-2.35 and with `sch_drr.c` of
//! Linux 6.12.
//!
//! **Rule**:
//! - classes with packets take turns; at the start of its turn a class's deficit grows by `quantum`;
//! - it sends while its first packet is not larger than the deficit, which shrinks by each packet;
//! - what is left stays for the next turn, but a class that runs empty loses it;
//! - a class that becomes active goes to the end of the round with a deficit of 0;
//! - while the shared buffer is exceeded, the longest queue loses its `victim`.
//!
//! **Deviations**: with `aqm`, every class queue has a separate AQM; what it drops does not use
//! up the deficit. Flows are not hashed onto classes, as in ns-2 onto ten. Linux's `sch_drr` gives a class its quantum as it
//! becomes active, for its first turn, and at the end of each turn for the next: the same packets leave. It has no shared buffer.
//!
//! **Defaults by era**: `quantum` is the link's typical packet in `rfc` and 250 B in the ns-2 eras;
//! `victim` is `tail` in `rfc` and `head` in the ns-2 eras. In era `ns2`, of equally long queues the
//! first in the round is the longest (else the smallest class), and a class pushed empty in the
//! middle of its turn gets no quantum for the first turn after its return.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::era::Era;
use crate::error::Problem;
use crate::qdisc::aqm::inner;
use crate::qdisc::fair::classes::{Classes, Measure, Victim};
use crate::qdisc::fair::numbering::Numbering;
use crate::qdisc::links::{Chain, Links};
use crate::qdisc::{QdiscCtx, QdiscEnv, QueueDisc, State};
use crate::registry::{About, Fact, Info, Spec, Status};
use crate::units::{BitRate, Bytes, Span, Time};
use crate::wire::{Packet, Timed};

/// Parameters of [`Drr`].
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Bytes that a class may send in a turn. Left out: by era. Below the packet size the discipline is
    /// fairer in the short term and slower to compute.
    #[schemars(range(min = 1))]
    pub quantum: Option<Bytes>,
    /// Which packet of the longest queue is pushed out. Left out: by era.
    pub victim: Option<Victim>,
    /// What makes a queue the longest.
    pub longest: Measure,
    /// AQM of every class queue; none if left out.
    pub aqm: Option<Spec>,
}

/// State of a class within its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    deficit: u64,
    begun: bool,
}

/// Deficit round robin.
pub struct Drr {
    classes: Classes,
    numbering: Numbering,
    turns: Vec<Turn>,
    links: Links,
    /// Active classes; the first has its turn.
    round: Chain,
    quantum: u64,
    victim: Victim,
    ns2: bool,
}

impl About<QdiscEnv> for Drr {
    type Params = Params;
    const INFO: Info = Info {
        name: "drr",
        title: "DRR: deficit round robin with longest-queue drop",
        source: "Shreedhar & Varghese, IEEE/ACM ToN 4(3), 1996, section III, doi:10.1109/90.502236",
        status: Status::Specified,
    };

    const FACTS: &'static [Fact] = &[Fact::Fair];

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let old = env.era.is_ns2();
        let typical = if old { 250 } else { u64::from(env.mean_packet) };
        let quantum = params.quantum.map_or(typical, |q| q.0);
        let aqm = inner(params.aqm.as_ref(), env)?;
        Ok(Self {
            classes: Classes::new(env.limit, params.longest, aqm),
            numbering: Numbering::new(&env.passing),
            turns: Vec::new(),
            links: Links::default(),
            round: Chain::default(),
            quantum,
            victim: params.victim.unwrap_or(if old { Victim::Head } else { Victim::Tail }),
            ns2: env.era == Era::Ns2,
        })
    }
}

impl Drr {
    /// The class that loses a packet.
    fn longest(&mut self) -> u32 {
        let (length, class) =
            self.classes.longest().expect("invariant: an exceeded buffer is not empty");
        if !self.ns2 {
            return class;
        }
        let mut next_class = self.round.head();
        while let Some(class) = next_class {
            if self.classes.length(class) == length {
                return class;
            }
            next_class = self.links.next(class);
        }
        class
    }
}

impl QueueDisc for Drr {
    fn enqueue(&mut self, packet: Packet, ctx: &mut QdiscCtx<'_>) {
        let class = self.numbering.of(ctx.key(&packet));
        let was_idle = self.classes.packets(class) == 0;
        let Some(slot) = self.classes.offer(class, packet, 0.0, ctx) else { return };
        if was_idle {
            if self.turns.len() <= class as usize {
                self.turns.resize(class as usize + 1, Turn::default());
                self.links.reserve(class as usize + 1);
            }
            let turn = &mut self.turns[class as usize];
            turn.deficit = 0;
            turn.begun &= self.ns2;
            self.links.push_back(&mut self.round, class);
        }
        while self.classes.over() {
            let longest = self.longest();
            self.classes.push_out(longest, self.victim, slot, ctx);
            if self.classes.packets(longest) == 0 {
                self.links.remove(&mut self.round, longest);
                self.classes.idle(longest, ctx.now);
            }
        }
    }

    fn dequeue(&mut self, ctx: &mut QdiscCtx<'_>) -> Option<Timed> {
        loop {
            let class = self.round.head()?;
            let size = u64::from(self.classes.head(class)?.size);
            let turn = &mut self.turns[class as usize];
            if !turn.begun {
                turn.begun = true;
                turn.deficit += self.quantum;
            }
            if turn.deficit < size {
                turn.begun = false;
                self.links.rotate(&mut self.round);
                continue;
            }
            if !self.classes.managed() {
                turn.deficit -= size;
                if self.classes.packets(class) == 1 {
                    *turn = Turn::default();
                    self.links.remove(&mut self.round, class);
                }
                // Last, so that the packet goes straight to where it is wanted.
                return self.classes.serve(class, ctx);
            }
            let served = self.classes.serve(class, ctx);
            if served.is_some() {
                turn.deficit -= size;
            }
            if self.classes.packets(class) == 0 {
                *turn = Turn::default();
                self.links.remove(&mut self.round, class);
                self.classes.idle(class, ctx.now);
            }
            if served.is_some() {
                return served;
            }
        }
    }

    packets_are_in!(classes);

    fn on_rate(&mut self, now: Time, rate: BitRate) {
        self.classes.on_rate(now, rate);
    }

    fn state(&self) -> State {
        let bytes = self.classes.state_bytes() + self.turns.len() * size_of::<Turn>();
        State { flows: self.turns.len() as u64, bytes: bytes as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("longest", self.classes.greatest_length() as f64);
    }
}

#[cfg(test)]
mod tests;
