//! A bench for recoveries: a scoreboard and a recovery driven by hand.

use serde_json::{Value, json};

use super::{AckIn, Digest, LossRecovery, Next, Offer, Phase, RecoveryEnv, build};
use crate::cc::SentRecord;
use crate::era::Era;
use crate::registry::Spec;
use crate::scoreboard::{Scoreboard, Stamp};
use crate::units::Time;

pub(super) struct Bench {
    board: Scoreboard,
    recovery: Box<dyn LossRecovery>,
    clock: u64,
}

impl Bench {
    pub(super) fn new(kind: &str) -> Self {
        Self::spec(&json!({ "kind": kind }))
    }

    pub(super) fn with(kind: &str, env: RecoveryEnv) -> Self {
        Self::build(&json!({ "kind": kind }), env)
    }

    pub(super) fn spec(spec: &Value) -> Self {
        Self::build(spec, RecoveryEnv { limited_transmit: true, era: Era::Rfc })
    }

    fn build(spec: &Value, env: RecoveryEnv) -> Self {
        let spec: Spec = serde_json::from_value(spec.clone()).unwrap();
        let recovery = build(&spec, &env, "recovery").unwrap();
        Self { board: Scoreboard::default(), recovery, clock: 0 }
    }

    fn stamp(&mut self) -> Stamp {
        self.clock += 1;
        Stamp {
            record: SentRecord {
                sent_at: Time(self.clock),
                delivered: 0,
                delivered_at: Time::ZERO,
                in_flight: 0,
            },
            app_limited: false,
        }
    }

    /// Sends new segments whatever the window.
    pub(super) fn send(&mut self, n: u32) {
        for _ in 0..n {
            let stamp = self.stamp();
            self.board.send_new(&stamp);
        }
    }

    pub(super) fn duplicate(&mut self) -> Digest {
        let ack = AckIn { duplicate: true, ..AckIn::at(Time::ZERO) };
        self.recovery.on_ack(&mut self.board, &ack)
    }

    pub(super) fn duplicates(&mut self, n: u32) {
        for _ in 0..n {
            self.duplicate();
        }
    }

    pub(super) fn ack(&mut self, ack: u32) -> Digest {
        let advance = self.board.advance(ack);
        let ack =
            AckIn { acked: advance.acked, delivered: advance.delivered, ..AckIn::at(Time::ZERO) };
        self.recovery.on_ack(&mut self.board, &ack)
    }

    pub(super) fn sack(&mut self, start: u32, end: u32) -> Digest {
        let sacked = self.board.sack((start, end));
        let ack = AckIn { sacked, delivered: sacked, duplicate: true, ..AckIn::at(Time::ZERO) };
        self.recovery.on_ack(&mut self.board, &ack)
    }

    pub(super) fn rto(&mut self) {
        self.recovery.on_rto(&mut self.board, Time(self.clock));
    }

    pub(super) fn pipe(&self) -> u32 {
        self.recovery.pipe(&self.board)
    }

    pub(super) fn phase(&self) -> Phase {
        self.recovery.phase()
    }

    pub(super) fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// All that may leave now, with new data at hand; it is sent.
    pub(super) fn send_allowed(&mut self, cwnd: f64) -> Vec<Next> {
        self.drain(Offer { cwnd, new_data: true, window_meters: false })
    }

    pub(super) fn allowed_without_data(&mut self, cwnd: f64) -> Vec<Next> {
        self.drain(Offer { cwnd, new_data: false, window_meters: false })
    }

    fn drain(&mut self, offer: Offer) -> Vec<Next> {
        let mut all = Vec::new();
        loop {
            let next = self.recovery.next(&mut self.board, &offer);
            let stamp = self.stamp();
            match next {
                Next::Retransmit(seq) => self.board.send_again(seq, &stamp),
                Next::New => drop(self.board.send_new(&stamp)),
                Next::Nothing => return all,
            }
            all.push(next);
        }
    }
}
