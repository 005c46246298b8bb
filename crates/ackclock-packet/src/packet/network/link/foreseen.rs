//! Disciplines that judge packets on arrival: departures are computed as in a plain FIFO, and no event is needed for each.
//!
//! One that no longer can ([`Judgement::Unknown`]) is given that packet and those that follow, behind the packets whose
//! departures are computed, until the link is idle.

use super::{Link, Service};
use crate::packet::network::computed_fifo::IS_MARKED;
use crate::packet::network::rare::Managed;
use crate::packet::process::clock::Clock;
use crate::qdisc::{Judgement, QdiscCtx};
use crate::units::{Bytes, Span, Time};
use crate::wire::{DropReason, Packet};

/// What a link does with a packet that its discipline judges.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    /// It arrives at the far end at this time, a word of the clock; with a mark, or without.
    Arrives {
        /// When.
        arrival: u64,
        /// Whether it is marked CE.
        is_marked: bool,
    },
    /// It is dropped.
    Dropped(DropReason),
    /// It is to be given to the discipline.
    Unknown,
}

impl<C: Clock> Link<C> {
    /// Computes departures, if there is a discipline that judges packets on arrival and nobody watches them.
    pub(crate) fn foresee(&mut self) {
        let can_judge = self.disc.as_ref().is_some_and(|managed| managed.disc.can_judge());
        if can_judge && !self.watched {
            (self.judges, self.foresees) = (true, true);
            self.service.end = 0;
        }
    }

    /// Whether departures are computed now although there is a discipline.
    #[inline(always)]
    pub(crate) fn foresees(&self) -> bool {
        self.foresees
    }

    /// Whether a transmission ends exactly at `now` and nothing waits for that.
    #[inline(always)]
    pub(crate) fn ends_at(&self, now: u64) -> bool {
        self.service.end == now && !self.is_known_idle
    }

    /// Begins the transmission that is to begin exactly at `now`, if there is one.
    pub(crate) fn begin_tied(&mut self, now: u64) {
        if self.waiting.next == now {
            self.begin_next();
        }
    }

    /// Offers a packet, of which `packet` is a copy, to the settled FIFO under the discipline. `is_before_end`: a
    /// transmission ends exactly at `now`, but after this.
    #[inline]
    pub(crate) fn judge(
        &mut self,
        now: u64,
        packet: &Packet,
        is_before_end: bool,
        keys: &[[u32; 2]],
    ) -> Fate {
        let (present, is_sending) = (C::ps(now), is_before_end || self.is_sending(now));
        let wait = if is_sending { C::ps(self.service.end) - present } else { 0 };
        if !is_sending && !self.is_known_idle {
            self.note_idle(self.service.end);
        }
        let Some(managed) = &mut self.disc else { return Fate::Unknown };
        if !self.pace.is_constant() {
            managed.report_rate(&self.rate, present);
        }
        let Managed { disc, rng, queues, .. } = &mut **managed;
        let (time, seconds) = (Time(present), C::seconds(now));
        // What is dropped is not given away here.
        let mut dropped = Vec::new();
        let mut ctx = QdiscCtx::new(time, seconds, rng, keys, &mut dropped, queues);
        ctx.before = (self.waiting.len(), Bytes(self.waiting.backlog()));
        let judgement = disc.judge(packet, Span(wait), &mut ctx);
        let note = match judgement {
            Judgement::Drop(reason) => {
                if !is_sending {
                    self.note_idle(now);
                }
                return Fate::Dropped(reason);
            }
            Judgement::Unknown => return Fate::Unknown,
            Judgement::MarkAtDeparture if is_sending => IS_MARKED,
            Judgement::MarkAtDeparture | Judgement::MarkNow => {
                self.count_marks(1);
                0
            }
            Judgement::Pass => 0,
        };
        self.is_known_idle = false;
        let arrival = self.place(now, packet.size, is_sending, note);
        Fate::Arrives { arrival, is_marked: judgement != Judgement::Pass }
    }

    /// Reports to the discipline that the link found nothing to send at `since`, a word of the clock.
    fn note_idle(&mut self, since: u64) {
        let Some(managed) = &mut self.disc else { return };
        managed.report_rate(&self.rate, C::ps(since));
        managed.disc.note_idle(Time(C::ps(since)), C::seconds(since));
        self.is_known_idle = true;
    }

    /// From now on the discipline holds what arrives. Returns when the packet before ends its transmission, and when
    /// this began, where something is being sent: words of the clock.
    pub(crate) fn stop_foreseeing(&mut self, now: u64) -> Option<Service> {
        self.foresees = false;
        if self.is_sending(now) || self.ends_at(now) {
            return Some(Service { start: self.latest_start(), end: self.service.end });
        }
        self.service = Service { start: now, end: Service::IDLE };
        None
    }

    /// The discipline, which held what arrived, found nothing to send at `now`.
    #[inline(always)]
    pub(crate) fn become_idle(&mut self, now: u64) {
        self.service = Service { start: now, end: Service::IDLE };
        if self.judges {
            (self.foresees, self.is_known_idle) = (true, true);
            self.service.end = now;
        }
    }
}
