//! Whose turn it is between the two queues of DualPI2.
//!
//! **Source**: RFC 9332, section 4.2.2 and appendix A.1: neither queue may starve the other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Span, Time};

/// How two queues share a link while packets wait in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Weighted round robin: the classic queue has at least its weight.
    #[default]
    Wrr,
    /// First in, first out, where classic packets count as arrived later.
    TimeShifted,
}

/// Whose turn it is.
#[derive(Debug)]
pub(super) struct Turn {
    scheduler: Scheduler,
    /// Weight of the classic queue, in millionths; that of the other is the rest.
    weight: i64,
    shift: Span,
    /// Weighted bytes by which the L queue is ahead.
    credit: i64,
    first: i64,
}

const WHOLE: i64 = 1_000_000;

impl Turn {
    /// `packet`: size in bytes of a large packet.
    pub(super) fn new(scheduler: Scheduler, weight: f64, shift: Span, packet: u32) -> Self {
        let weight = (weight * WHOLE as f64).round() as i64;
        // The L queue begins, unless C's weight exceeds its own.
        let first = i64::from(packet) * (2 * weight - WHOLE);
        Self { scheduler, weight, shift, credit: first, first }
    }

    /// Whether the L queue has its turn, by the arrivals of the two first packets.
    pub(super) fn is_lows(&self, low: Time, classic: Time) -> bool {
        match self.scheduler {
            Scheduler::Wrr => self.credit <= 0,
            Scheduler::TimeShifted => low <= classic + self.shift,
        }
    }

    /// A packet was sent while packets waited in both.
    pub(super) fn count(&mut self, was_low: bool, size: u16) {
        let weight = if was_low { self.weight } else { self.weight - WHOLE };
        self.credit += weight * i64::from(size);
    }

    /// Both are empty.
    pub(super) fn restart(&mut self) {
        self.credit = self.first;
    }
}
