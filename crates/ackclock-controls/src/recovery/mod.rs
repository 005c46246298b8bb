//! ROOM: loss recoveries. Which segments are lost, what leaves next, how much is in the pipe.
//!
//! A recovery reads acknowledgements off the sender's [`Scoreboard`] and answers with a [`Digest`];
//! the sender then informs the congestion control and calls [`LossRecovery::next`] until it returns
//! [`Next::Nothing`]. The window belongs to the control. What Reno calls inflation of cwnd is a term
//! of the recovery, added when it compares; so a recorded cwnd is never inflated.
//!
//! Whole segments leave while `in flight + 1 <= cwnd`, that is up to floor(cwnd).
//!
//! A new recovery: one file here that implements [`About`](crate::registry::About) and
//! [`LossRecovery`], and one line in the registry at the end of this file.

/// Answers what a recovery answers that counts duplicate acknowledgements in a field, [`dupacks::DupAcks`].
macro_rules! counts_duplicates {
    ($field:ident) => {
        fn next(&mut self, board: &mut Scoreboard, offer: &Offer) -> Next {
            self.$field.next(board, offer)
        }

        fn on_spurious(&mut self, board: &mut Scoreboard) {
            self.$field.resume(board);
        }

        fn pipe(&self, board: &Scoreboard) -> u32 {
            board.flight()
        }

        fn phase(&self) -> Phase {
            self.$field.phase
        }
    };
}

mod dupacks;
pub mod newreno;
mod prr;
pub mod rack;
pub mod reno;
pub mod sack;
pub mod tahoe;
#[cfg(test)]
mod testing;

use crate::era::Era;
use crate::scoreboard::Scoreboard;
use crate::units::{Span, Time};
use crate::wire::SackBlock;

/// What a new recovery knows about its flow.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryEnv {
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Defaults of this era apply.
    pub era: Era,
}

/// An acknowledgement, already entered on the scoreboard.
#[derive(Clone, Copy, Debug)]
pub struct AckIn {
    /// The present.
    pub now: Time,
    /// Segments newly acknowledged cumulatively.
    pub acked: u32,
    /// Segments newly reported by SACK blocks.
    pub sacked: u32,
    /// Segments that the receiver has got by this acknowledgement: `sacked` and those of `acked` that no
    /// block had reported before.
    pub delivered: u32,
    /// A duplicate acknowledgement (RFC 5681 section 2): acknowledges nothing new while data is
    /// outstanding.
    pub duplicate: bool,
    /// Smoothed round-trip time, this acknowledgement's sample included; zero before the first.
    pub srtt: Span,
    /// Smallest round-trip sample so far; zero before the first.
    pub min_rtt: Span,
    /// Segments that the receiver reports as received twice (RFC 2883).
    pub dsack: Option<SackBlock>,
}

impl AckIn {
    /// An acknowledgement of nothing, for recoveries that are driven by hand.
    pub fn at(now: Time) -> Self {
        Self {
            now,
            acked: 0,
            sacked: 0,
            delivered: 0,
            duplicate: false,
            srtt: Span::ZERO,
            min_rtt: Span::ZERO,
            dsack: None,
        }
    }
}

/// Loss recovery began: the control is to reduce the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Segments known lost, at least 1.
    pub lost: u32,
    /// FlightSize for the reduction: without the segments of limited transmit (RFC 5681 section 3.2).
    pub flight: u32,
}

/// What an acknowledgement meant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Digest {
    /// Recovery began.
    pub entered: Option<Entry>,
    /// Fast recovery ended.
    pub ended: bool,
    /// Set cwnd to this when the control has answered, or at the end of recovery if it is smaller.
    pub cwnd: Option<f64>,
    /// The window is held: the control must not grow it with this acknowledgement.
    pub hold_window: bool,
    /// The retransmission timer must not be restarted by this acknowledgement.
    pub hold_timer: bool,
}

/// What the sender has to offer.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// cwnd in segments.
    pub cwnd: f64,
    /// There is new data, and the receiver's window has room for it.
    pub new_data: bool,
    /// cwnd itself meters what leaves in recovery: the control models the path, or the sender does as Linux does.
    pub window_meters: bool,
}

/// What leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This segment, again.
    Retransmit(u32),
    /// The next new segment.
    New,
    /// Nothing until the next acknowledgement or timeout.
    Nothing,
}

/// What a recovery is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is being repaired.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged.
    Loss,
}

/// A loss recovery.
pub trait LossRecovery: Send {
    /// An acknowledgement arrived and is on the scoreboard.
    fn on_ack(&mut self, board: &mut Scoreboard, ack: &AckIn) -> Digest;
    /// The retransmission timer expired: all that is outstanding and not SACKed is lost.
    fn on_rto(&mut self, board: &mut Scoreboard, now: Time);
    /// What leaves next. The caller always does so, and the answer is already accounted for, except
    /// that a new segment enters the scoreboard when the sender puts it there.
    fn next(&mut self, board: &mut Scoreboard, offer: &Offer) -> Next;
    /// Segments in flight, as this recovery counts them against cwnd.
    fn pipe(&self, board: &Scoreboard) -> u32;
    /// What it is doing.
    fn phase(&self) -> Phase;
    /// Whether the receiver is to send SACK blocks.
    fn uses_sack(&self) -> bool {
        false
    }
    /// The loss that was being repaired is none: what was given up is in flight.
    fn on_spurious(&mut self, board: &mut Scoreboard);
    /// Whether it marks losses on the scoreboard segment by segment. Only then the calls below are made.
    fn marks_losses(&self) -> bool {
        false
    }
    /// An acknowledgement newly reports an outstanding segment as delivered; `on_ack` follows.
    fn on_delivered(&mut self, _board: &Scoreboard, _seq: u32, _now: Time) {}
    /// A segment, new or not, was sent and is on the scoreboard.
    fn on_sent(&mut self, _board: &Scoreboard, _seq: u32, _now: Time) {}
    /// The receiver has got the header of an outstanding segment, whose payload was cut off on the way.
    fn on_nack(&mut self, _board: &mut Scoreboard, _seq: u32, _now: Time) -> Digest {
        Digest::default()
    }
    /// When [`Self::on_timer`] is due; [`Time::MAX`]: never.
    fn deadline(&self) -> Time {
        Time::MAX
    }
    /// The time of [`Self::deadline`] has come.
    fn on_timer(&mut self, _board: &mut Scoreboard, _now: Time) -> Digest {
        Digest::default()
    }
    /// Segments that the last call of `on_ack`, `on_timer` or `on_rto` marked lost.
    fn losses(&self) -> &[u32] {
        &[]
    }
}

/// Recoveries that do not take a segment for lost because others have overtaken it: where packets take several paths.
pub const TAKES_REORDERING: [&str; 1] = ["rack"];

/// Recoveries that answer [`LossRecovery::on_nack`].
pub const READS_NACKS: [&str; 1] = ["rack"];

crate::registry! {
    /// Builds the loss recovery that `spec` names.
    "loss recovery": dyn LossRecovery, RecoveryEnv {
        "recovery/tahoe.rs" => tahoe::Tahoe,
        "recovery/reno.rs" => reno::Reno,
        "recovery/newreno.rs" => newreno::NewReno,
        "recovery/sack.rs" => sack::Sack,
        "recovery/rack.rs" => rack::Rack,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Era, RecoveryEnv, build, catalogue};
    use crate::registry::Spec;

    #[test]
    fn every_recovery_builds_from_its_catalogue_entry() {
        let env = RecoveryEnv { limited_transmit: true, era: Era::Rfc };
        let names: Vec<&str> = catalogue().iter().map(|entry| entry.info.name).collect();
        // Those of RFC 5681, 6582 and 6675 come first and in this order; a new one follows them.
        assert_eq!(names[..4], ["tahoe", "reno", "newreno", "sack"]);
        for entry in catalogue() {
            let mut table = json!({ "kind": entry.info.name });
            for (name, property) in entry.params["properties"].as_object().unwrap() {
                table[name] = property["default"].clone();
            }
            let spec: Spec = serde_json::from_value(table).unwrap();
            let recovery = build(&spec, &env, "recovery").unwrap();
            assert_eq!(recovery.uses_sack(), ["sack", "rack"].contains(&entry.info.name));
        }
        let problem = build(&Spec::from("newrenno"), &env, "recovery").err().unwrap();
        assert_eq!(problem[0].nearest.as_deref(), Some("newreno"));
    }
}
