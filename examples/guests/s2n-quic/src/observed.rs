//! What s2n-quic's events say of its sender.

use std::sync::{Arc, Mutex, PoisonError};

use s2n_quic::provider::event::events::{
    BbrState, BbrStateChanged, Congestion, PacketLost, RecoveryMetrics, SlowStartExited,
};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};

use crate::frames::{NONE, State};

/// The state of the sender as of its last event.
#[derive(Clone, Default)]
pub struct Observed(Arc<Mutex<Option<State>>>);

impl Observed {
    /// The state; nothing before the first event.
    pub fn state(&self) -> Option<State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || State { ssthresh: NONE, ..State::default() };
        change(state.get_or_insert_with(fresh));
    }
}

impl Subscriber for Observed {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _meta: &ConnectionMeta, _info: &ConnectionInfo) {}

    fn on_recovery_metrics(
        &mut self,
        _context: &mut (),
        _meta: &ConnectionMeta,
        event: &RecoveryMetrics<'_>,
    ) {
        self.change(|state| {
            let is_known = event.latest_rtt.as_nanos() > 0 && event.rtt_variance.as_nanos() > 0;
            state.cwnd = u64::from(event.congestion_window);
            state.in_flight = u64::from(event.bytes_in_flight);
            if is_known {
                state.srtt = event.smoothed_rtt.as_nanos() as u64;
                state.min_rtt = event.min_rtt.as_nanos() as u64;
            }
        });
    }

    fn on_packet_lost(
        &mut self,
        _context: &mut (),
        _meta: &ConnectionMeta,
        _event: &PacketLost<'_>,
    ) {
        self.change(|state| state.lost += 1);
    }

    fn on_congestion(
        &mut self,
        _context: &mut (),
        _meta: &ConnectionMeta,
        _event: &Congestion<'_>,
    ) {
        self.change(|state| state.reductions += 1);
    }

    fn on_slow_start_exited(
        &mut self,
        _context: &mut (),
        _meta: &ConnectionMeta,
        event: &SlowStartExited,
    ) {
        self.change(|state| {
            state.ssthresh = u64::from(event.congestion_window);
            state.phase = "avoidance";
        });
    }

    fn on_bbr_state_changed(
        &mut self,
        _context: &mut (),
        _meta: &ConnectionMeta,
        event: &BbrStateChanged,
    ) {
        self.change(|state| {
            state.phase = match event.state {
                BbrState::Startup { .. } => "startup",
                BbrState::Drain { .. } => "drain",
                BbrState::ProbeBwDown { .. } => "probe-bw-down",
                BbrState::ProbeBwCruise { .. } => "probe-bw-cruise",
                BbrState::ProbeBwRefill { .. } => "probe-bw-refill",
                BbrState::ProbeBwUp { .. } => "probe-bw-up",
                BbrState::ProbeRtt { .. } => "probe-rtt",
                _ => "unknown",
            };
        });
    }
}
