//! Delivery-rate samples by packet, for controls that model the path.
//!
//! What: notes with each packet that leaves what was known then, and makes of it a [`RateSample`] when
//! the packet is reported delivered, a [`Lost`] when it is declared lost.
//!
//! **Source**: draft-ietf-ccwg-bbr-06, "Delivery Rate Samples": `OnPacketSent`, `UpdateRateSample`,
//! `GenerateRateSample`, `CheckIfApplicationLimited`.
//!
//! **Rule** (P: the packet sent last among those newly delivered)
//! ```text
//! send_elapsed  = P.send_time - P.first_send_time     (send time of the packet delivered last before P left)
//! ack_elapsed   = now - P.delivered_time
//! delivery_rate = (C.delivered - P.delivered) / max(send_elapsed, ack_elapsed), none below min_rtt
//! app-limited   = nothing to send, pipe < cwnd, all losses sent again: until C.delivered passes
//!                 C.delivered + pipe of that time
//! ```
//! Only senders whose control wants samples have a sampler.
//!
//! Deviations: data is counted in segments. The smallest round trip is that of the flow so far.

use crate::cc::{Lost, RateSample};
use crate::memory::filled;
use crate::units::{Span, Time};

const APP_LIMITED: u8 = 1;
const RETRANSMITTED: u8 = 1 << 1;
const LOST: u8 = 1 << 2;
const FIRST_RING: usize = 8;

/// What is noted of a packet that leaves.
#[derive(Clone, Copy, Debug, Default)]
struct Noted {
    sent_at: Time,
    first_sent_at: Time,
    delivered_at: Time,
    delivered: u64,
    lost: u64,
    tx_in_flight: u32,
    bits: u8,
}

/// State of the estimator, the draft's `C`, and the sample under construction, its `RS`.
#[derive(Debug, Default)]
pub(crate) struct Sampler {
    /// By segment number; as many places as a power of two.
    ring: Box<[Noted]>,
    /// Segments `una..nxt` are in the ring.
    una: u32,
    nxt: u32,
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    /// Segments declared lost and neither sent again nor delivered since.
    lost_out: u32,
    /// Samples are application-limited until this many segments are delivered; 0: they are not.
    app_limited: u64,
    /// Losses below this segment have been noted.
    pub(crate) losses_noted: u32,
    min_rtt: Option<Span>,
    sample: RateSample,
    last_acked: u32,
    /// When the newest segment of this acknowledgement that was sent once had left.
    clean_sent_at: Option<Time>,
    next_round: u64,
    /// The window was full in this round trip, in the one before.
    window_full: [bool; 2],
}

impl Sampler {
    #[inline]
    fn place(&self, seq: u32) -> usize {
        seq as usize & (self.ring.len() - 1)
    }

    /// Segments delivered in total.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether packets sent now are marked as limited by the application.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }

    /// Whether all that was declared lost has been sent again or delivered.
    pub(crate) fn is_repaired(&self) -> bool {
        self.lost_out == 0
    }

    /// Samples of what is in flight are application-limited.
    pub(crate) fn limit_by_application(&mut self, pipe: u32) {
        self.app_limited = (self.delivered + u64::from(pipe)).max(1);
    }

    /// The window, not the pacer or the application, holds packets back.
    pub(crate) fn note_full_window(&mut self) {
        self.window_full[0] = true;
    }

    /// A packet leaves; `pipe` counts it. `again`: it was sent before.
    pub(crate) fn on_sent(&mut self, seq: u32, now: Time, pipe: u32, again: bool) {
        if pipe <= 1 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        if seq >= self.nxt {
            self.nxt = seq + 1;
            if (self.nxt - self.una) as usize > self.ring.len() {
                self.grow();
            }
        }
        let index = self.place(seq);
        if again && self.ring[index].bits & LOST != 0 {
            self.lost_out -= 1;
        }
        let limited = if self.app_limited != 0 { APP_LIMITED } else { 0 };
        self.ring[index] = Noted {
            sent_at: now,
            first_sent_at: self.first_sent_at,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            tx_in_flight: pipe,
            bits: limited | if again { RETRANSMITTED } else { 0 },
        };
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.ring.len() * 2).max(FIRST_RING);
        let mut ring = filled(Noted::default(), size);
        for seq in self.una..self.nxt - 1 {
            ring[seq as usize & (size - 1)] = self.ring[self.place(seq)];
        }
        self.ring = ring.into();
    }

    /// What a timer has declared lost is in no sample, as in Linux.
    pub(crate) fn leave_out_losses(&mut self) {
        self.sample.newly_lost = 0;
    }

    /// Begins the sample of an acknowledgement.
    pub(crate) fn begin(&mut self) {
        // Losses that a timer found count with the next acknowledgement.
        self.sample = RateSample { newly_lost: self.sample.newly_lost, ..RateSample::default() };
        self.clean_sent_at = None;
    }

    /// The acknowledgement in hand newly reports this segment as delivered.
    pub(crate) fn on_delivered(&mut self, seq: u32, now: Time) {
        self.delivered += 1;
        self.delivered_at = now;
        self.sample.newly_acked += 1;
        let index = self.place(seq);
        let sent = self.ring[index];
        if sent.bits & LOST != 0 {
            self.lost_out -= 1;
            self.ring[index].bits &= !LOST;
        }
        if sent.bits & RETRANSMITTED == 0 {
            self.clean_sent_at = self.clean_sent_at.max(Some(sent.sent_at));
        }
        let newest = (sent.sent_at, seq) > (self.first_sent_at, self.last_acked);
        if self.sample.has_data && !newest {
            return;
        }
        let sample = &mut self.sample;
        sample.has_data = true;
        sample.prior_delivered = sent.delivered;
        sample.prior_time = sent.delivered_at;
        sample.is_app_limited = sent.bits & APP_LIMITED != 0;
        sample.send_elapsed = sent.sent_at.since(sent.first_sent_at);
        sample.ack_elapsed = now.since(sent.delivered_at);
        sample.tx_in_flight = sent.tx_in_flight;
        // Losses before P left; those since follow when the acknowledgement is complete.
        sample.lost = sent.lost;
        self.first_sent_at = sent.sent_at;
        self.last_acked = seq;
    }

    /// All below `una` has been delivered.
    pub(crate) fn advance(&mut self, una: u32) {
        self.una = una;
    }

    /// Declares a segment lost; nothing if it is already.
    pub(crate) fn lose(&mut self, seq: u32, now: Time, selective: bool) -> Option<Lost> {
        let index = self.place(seq);
        let sent = self.ring[index];
        if sent.bits & LOST != 0 {
            return None;
        }
        self.ring[index].bits |= LOST;
        self.lost += 1;
        self.lost_out += 1;
        self.sample.newly_lost += 1;
        Some(Lost {
            now,
            seq,
            sent_at: sent.sent_at,
            tx_in_flight: sent.tx_in_flight,
            lost: self.lost - sent.lost,
            is_app_limited: sent.bits & APP_LIMITED != 0,
            delivered: self.delivered,
            has_selective_acks: selective,
            persistent: false,
        })
    }

    /// Completes the sample; nothing if the acknowledgement reported neither deliveries nor losses.
    pub(crate) fn finish(&mut self, now: Time, flow_min_rtt: Span) -> Option<RateSample> {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if !self.sample.has_data && self.sample.newly_lost == 0 {
            return None;
        }
        let mut sample = self.sample;
        self.sample.newly_lost = 0;
        sample.total_lost = self.lost;
        if let Some(rtt) = self.clean_sent_at.map(|sent_at| now.since(sent_at)) {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
            sample.rtt = Some(rtt);
        }
        if sample.has_data {
            sample.sent_at = self.first_sent_at;
            sample.lost = self.lost - sample.lost;
            sample.delivered = self.delivered - sample.prior_delivered;
            // The flow's own minimum also knows the handshake.
            let least = self.min_rtt.unwrap_or(Span::MAX).min(flow_min_rtt);
            sample.complete(if least == Span::MAX { Span::ZERO } else { least });
            if sample.prior_delivered >= self.next_round {
                self.next_round = self.delivered;
                self.window_full = [false, self.window_full[0]];
            }
        }
        sample.is_cwnd_limited = self.window_full[0] || self.window_full[1];
        Some(sample)
    }

    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        self.ring = Box::default();
        self.una = self.nxt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn acknowledge(sampler: &mut Sampler, seqs: &[u32], ms: u64) -> RateSample {
        sampler.begin();
        for &seq in seqs {
            sampler.on_delivered(seq, at(ms));
        }
        sampler.finish(at(ms), Span::MAX).unwrap()
    }

    /// One segment by 100 ms; ten more leave every 20 ms from then on; all ten are acknowledged at 300 ms.
    /// The acknowledgements say 10 in 200 ms, but they were sent within 280 ms of the first: 10 / 0.28 s.
    #[test]
    fn the_send_rate_caps_what_compressed_acknowledgements_pretend() {
        let mut sampler = Sampler::default();
        sampler.on_sent(0, at(0), 1, false);
        let first = acknowledge(&mut sampler, &[0], 100);
        assert_eq!((first.delivered, first.interval), (1, Span::from_millis(100)));
        sampler.on_sent(1, at(100), 2, false);
        for i in 1..10u32 {
            sampler.on_sent(1 + i, at(100 + 20 * u64::from(i)), 1 + i, false);
        }
        let all: Vec<u32> = (1..11).collect();
        let sample = acknowledge(&mut sampler, &all, 300);
        assert_eq!((sample.delivered, sample.newly_acked, sample.tx_in_flight), (10, 10, 10));
        assert_eq!(sample.ack_elapsed, Span::from_millis(200));
        assert_eq!(sample.send_elapsed, Span::from_millis(280));
        assert!((sample.delivery_rate - 10.0 / 0.28).abs() < 1e-9, "{}", sample.delivery_rate);
        assert_eq!(sample.rtt, Some(Span::from_millis(20)));
    }

    /// Nothing in flight: the interval begins when the next packet leaves, not with the last delivery.
    #[test]
    fn idle_time_is_in_no_sample() {
        let mut sampler = Sampler::default();
        sampler.on_sent(0, at(0), 1, false);
        acknowledge(&mut sampler, &[0], 100);
        sampler.on_sent(1, at(5000), 1, false);
        sampler.on_sent(2, at(5000), 2, false);
        let sample = acknowledge(&mut sampler, &[1, 2], 5100);
        assert_eq!(sample.interval, Span::from_millis(100));
        assert!((sample.delivery_rate - 20.0).abs() < 1e-9, "{}", sample.delivery_rate);
    }

    /// The application runs dry with two in flight after two deliveries: samples of what leaves next are
    /// marked until a fifth segment is delivered.
    #[test]
    fn the_mark_lasts_until_the_bubble_has_left_the_pipe() {
        let mut sampler = Sampler::default();
        for seq in 0..4 {
            sampler.on_sent(seq, at(0), seq + 1, false);
        }
        assert!(!acknowledge(&mut sampler, &[0, 1], 100).is_app_limited);
        sampler.limit_by_application(2);
        sampler.on_sent(4, at(110), 3, false);
        assert!(!acknowledge(&mut sampler, &[2, 3], 120).is_app_limited);
        assert!(sampler.is_app_limited());
        assert!(acknowledge(&mut sampler, &[4], 210).is_app_limited);
        assert!(!sampler.is_app_limited());
        sampler.on_sent(5, at(210), 1, false);
        assert!(!acknowledge(&mut sampler, &[5], 310).is_app_limited);
    }

    /// Twenty leave at once; 3 and 4 are lost before 7 is acknowledged. Of the second flight none is lost.
    #[test]
    fn losses_count_from_the_transmission_of_the_packet() {
        let mut sampler = Sampler::default();
        for seq in 0..20 {
            sampler.on_sent(seq, at(0), seq + 1, false);
        }
        acknowledge(&mut sampler, &[0, 1, 2], 100);
        sampler.begin();
        sampler.on_delivered(7, at(101));
        let third = sampler.lose(3, at(101), true).unwrap();
        let fourth = sampler.lose(4, at(101), true).unwrap();
        assert_eq!((third.tx_in_flight, third.lost), (4, 1));
        assert_eq!((fourth.tx_in_flight, fourth.lost), (5, 2));
        assert!(sampler.lose(4, at(101), true).is_none());
        let sample = sampler.finish(at(101), Span::MAX).unwrap();
        assert_eq!((sample.lost, sample.newly_lost, sample.tx_in_flight), (2, 2, 8));
        assert!(!sampler.is_repaired());
        sampler.on_sent(3, at(101), 16, true);
        sampler.on_sent(4, at(101), 17, true);
        assert!(sampler.is_repaired());
        let sample = acknowledge(&mut sampler, &[3], 205);
        assert_eq!((sample.lost, sample.total_lost), (0, 2));
        // Noted again: whose acknowledgement it is nobody knows.
        assert_eq!(sample.rtt, None);
    }

    /// A segment sent again at 90 ms, acknowledged at 100 ms by its first transmission, with 100 ms the
    /// smallest round trip: an interval of 10 ms cannot be.
    #[test]
    fn an_interval_below_the_smallest_round_trip_gives_no_rate() {
        let mut sampler = Sampler::default();
        sampler.on_sent(0, at(0), 1, false);
        acknowledge(&mut sampler, &[0], 100);
        sampler.on_sent(1, at(100), 1, false);
        sampler.lose(1, at(190), true);
        sampler.on_sent(1, at(190), 1, true);
        let sample = acknowledge(&mut sampler, &[1], 200);
        assert_eq!((sample.interval, sample.delivery_rate), (Span::from_millis(10), 0.0));
    }

    #[test]
    fn an_acknowledgement_without_news_gives_no_sample() {
        let mut sampler = Sampler::default();
        sampler.on_sent(0, at(0), 1, false);
        sampler.begin();
        assert!(sampler.finish(at(100), Span::MAX).is_none());
    }
}
