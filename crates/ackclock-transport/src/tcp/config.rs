//! A flow's TCP settings with nothing left open: what the user said over what the era says.
//!
//! **Source** of the eras: RFC 5681, 6298, 6582, 6675, 6928, 9293 for `rfc`; comments in ns-2's
//! `ns-default.tcl` and its `CHANGES.html` for the others (initial window 2 since 26 May 2001, SYN
//! since 17 May 2001, minimum RTO 1 s from spring 2001 and 0.2 s since 14 October 2004, 10 ms ticks
//! since 7 March 2002, limited transmit and 40-byte headers since 28 November 2001); for `linux`
//! `Documentation/networking/ip-sysctl.rst` and `include/net/tcp.h` of Linux 6.12.

use serde::Serialize;

use crate::era::Era;
use crate::scenario::TcpOptions;
use crate::units::Span;

/// TCP settings of one flow, complete.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TcpConfig {
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Header bytes on the wire of every data packet.
    pub header: u32,
    /// Bytes on the wire of an acknowledgement without SACK blocks, and of a SYN.
    pub ack_size: u32,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Initial ssthresh in segments.
    pub initial_ssthresh: f64,
    /// Receiver's window in segments.
    pub receiver_window: u32,
    /// The receiver's window begins at 64 kB and grows by two segments for each that arrives.
    pub window_autotuning: bool,
    /// Data packets per acknowledgement.
    pub delayed_ack: u32,
    /// Longest delay of an acknowledgement.
    pub delayed_ack_timeout: Span,
    /// Connection request before data.
    pub syn: bool,
    /// Timestamp option.
    pub timestamps: bool,
    /// ECN.
    pub ecn: bool,
    /// Accurate ECN.
    pub accecn: bool,
    /// The receiver reports duplicates (RFC 2883).
    pub dsack: bool,
    /// Needless repairs are found out by timestamps (RFC 3522).
    pub eifel: bool,
    /// Needless timeouts are found out by what leaves after them (RFC 5682).
    pub frto: bool,
    /// The receiver acknowledges so many segments beyond the highest that has arrived; none: it follows the rules.
    pub optimistic_acks: Option<u32>,
    /// The receiver reports CE marks.
    pub ecn_echo: bool,
    /// Data packets carry RIO's mark "Out".
    pub out_of_profile: bool,
    /// Data packets of a connection that are marked for priority.
    pub first_priority: u32,
    /// Packets accumulate the time that they wait in queues.
    pub aqt: bool,
    /// Switches may cut off the payload of data, and the receiver reports that.
    pub trimming: bool,
    /// Limited transmit.
    pub limited_transmit: bool,
    /// Restart window after idle.
    pub idle_restart: bool,
    /// Smallest RTO.
    pub min_rto: Span,
    /// Largest RTO.
    pub max_rto: Span,
    /// RTO before the first sample.
    pub initial_rto: Span,
    /// Clock granularity.
    pub tick: Span,
    /// Phase of ns-2's tick clock.
    pub boot: Span,
    /// Acknowledgements at once at the beginning, after idleness and after a duplicate.
    pub quick_acks: u32,
    /// Longest delay of acknowledgements of data out of order after the first three; 0 = none.
    pub sack_delay: Span,
    /// The last segment of a frame of media is acknowledged at once.
    pub frame_acks: bool,
    /// Bursts as segmentation offload makes them.
    pub offload: bool,
    /// Most new segments per acknowledgement; 0 = no bound.
    pub max_burst: u32,
    /// Era these came from.
    pub era: Era,
}

impl TcpConfig {
    /// Segments that a sender sends before anything is acknowledged.
    pub fn first_window(&self) -> u32 {
        self.initial_window.min(self.receiver_window)
    }

    /// The era's defaults.
    pub fn of_era(era: Era) -> Self {
        let rfc = Self {
            mss: 1460,
            header: 40,
            ack_size: 40,
            initial_window: 10,              // RFC 6928
            initial_ssthresh: f64::INFINITY, // RFC 5681 section 3.1: arbitrarily high
            receiver_window: u32::MAX / 2,
            window_autotuning: false,
            delayed_ack: 2, // RFC 9293 section 3.8.6.3
            delayed_ack_timeout: Span::from_millis(200),
            syn: true,
            timestamps: false,
            ecn: false,
            accecn: false,
            dsack: false,
            eifel: false,
            frto: false,
            optimistic_acks: None,
            ecn_echo: true,
            out_of_profile: false,
            first_priority: 0,
            aqt: false,
            trimming: false,
            limited_transmit: true,
            idle_restart: true,
            min_rto: Span::from_millis(1000), // RFC 6298 (2.4)
            max_rto: Span::from_millis(60_000),
            initial_rto: Span::from_millis(1000),
            tick: Span::from_millis(1),
            boot: Span::ZERO,
            quick_acks: 0,
            sack_delay: Span::ZERO,
            frame_acks: false,
            offload: false,
            max_burst: 0,
            era: Era::Rfc,
        };
        let linux = Self {
            mss: 1448,
            receiver_window: 11_586, // half of tcp_rmem[2], 32 MiB since Linux 6.16
            window_autotuning: true,
            delayed_ack_timeout: Span::from_millis(40), // TCP_DELACK_MIN
            timestamps: true,
            dsack: true,
            eifel: true,
            frto: true,
            min_rto: Span::from_millis(200),     // TCP_RTO_MIN
            max_rto: Span::from_millis(120_000), // TCP_RTO_MAX
            tick: Span::from_millis(4),
            quick_acks: 16,                   // TCP_MAX_QUICKACKS
            sack_delay: Span::from_millis(1), // tcp_comp_sack_delay_ns
            offload: true,
            era: Era::Linux,
            ..rfc.clone()
        };
        // ns-2 counts packets of 1000 bytes; its acknowledgements have 40; its sinks do not delay.
        let ns2 = Self {
            mss: 1000,
            header: 0,
            initial_window: 2,
            receiver_window: 20,
            initial_ssthresh: 20.0,
            delayed_ack: 1,
            delayed_ack_timeout: Span::from_millis(100),
            idle_restart: true,
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_millis(3000),
            tick: Span::from_millis(10),
            era: Era::Ns2,
            ..rfc.clone()
        };
        match era {
            Era::Rfc | Era::Quic => rfc,
            Era::Linux => linux,
            Era::Ns2 => ns2,
            Era::Y2007 => Self { header: 40, era, ..ns2 },
            Era::Y2002 => Self {
                header: 40,
                min_rto: Span::from_millis(1000),
                initial_rto: Span::from_millis(6000),
                era,
                ..ns2
            },
            Era::Y1999 => Self {
                initial_window: 1,
                syn: false,
                min_rto: Span::from_millis(200), // two ticks
                initial_rto: Span::from_millis(6000),
                tick: Span::from_millis(100),
                limited_transmit: false,
                era,
                ..ns2
            },
        }
    }

    /// What `options` says over these settings.
    #[must_use]
    pub fn with(mut self, options: &TcpOptions) -> Self {
        macro_rules! take {
            ($($field:ident),+) => { $( if let Some(value) = options.$field { self.$field = value; } )+ };
        }
        take!(
            mss,
            header,
            ack_size,
            initial_window,
            initial_ssthresh,
            receiver_window,
            window_autotuning,
            delayed_ack,
            delayed_ack_timeout,
            syn,
            timestamps,
            ecn,
            accecn,
            dsack,
            eifel,
            frto,
            ecn_echo,
            out_of_profile,
            first_priority,
            aqt,
            trimming,
            limited_transmit,
            idle_restart,
            min_rto,
            max_rto,
            initial_rto,
            tick,
            boot,
            quick_acks,
            sack_delay,
            frame_acks,
            offload,
            max_burst
        );
        self.optimistic_acks = options.optimistic_acks.or(self.optimistic_acks);
        self.ecn |= self.accecn && options.ecn.is_none();
        // ns-2 starts with ssthresh at the window; an explicit ssthresh is kept.
        if options.receiver_window.is_some()
            && options.initial_ssthresh.is_none()
            && self.era.is_ns2()
        {
            self.initial_ssthresh = f64::from(self.receiver_window);
        }
        self
    }

    /// Bytes on the wire of a full segment.
    pub fn wire_size(&self) -> u32 {
        self.mss.saturating_add(self.header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_the_eras_are_those_of_their_sources() {
        let table = [
            (Era::Rfc, 1, 1000, 1000),
            (Era::Linux, 4, 200, 1000),
            (Era::Ns2, 10, 200, 3000),
            (Era::Y2007, 10, 200, 3000),
            (Era::Y2002, 10, 1000, 6000),
            (Era::Y1999, 100, 200, 6000),
        ];
        for (era, tick, min_rto, initial_rto) in table {
            let config = TcpConfig::of_era(era);
            let expected = [tick, min_rto, initial_rto].map(Span::from_millis);
            assert_eq!([config.tick, config.min_rto, config.initial_rto], expected, "{era:?}");
        }
    }
}
