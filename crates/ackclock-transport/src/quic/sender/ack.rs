//! What the sender does with an ACK frame.
//!
//! **Source**: RFC 9002 appendices A.7 to A.10, B.5 to B.8; RFC 9000 section 13.4.2 (validation of ECN).

use super::QuicSender;
use crate::cc::{Ack, EcnCounts, Lost, PathReport, Signal};
use crate::endpoint::EndpointCtx;
use crate::quic::rtt::Rtt;
use crate::quic::sent::Gone;
use crate::quic::{ACK_DELAY_UNIT, QuicConfig};
use crate::scoreboard::Stamp;
use crate::tcp::Stage;
use crate::units::{Span, Time};
use crate::wire::AckFrame;

/// What an ACK frame newly acknowledges.
#[derive(Clone, Copy, Debug, Default)]
struct News {
    count: u32,
    /// Those of them that were sent after the last reduction.
    after_reduction: u32,
    /// The packet with the largest number.
    newest: Option<(u32, Stamp)>,
}

/// Packets that were declared lost together.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    count: u32,
    /// When the last of them had left.
    last_sent_at: Time,
    /// The longest time that nothing sent arrived.
    outage: Span,
}

/// RFC 9002 section 7.6.1: the duration of persistent congestion.
fn persistent_congestion(rtt: &Rtt, config: &QuicConfig) -> Span {
    let period = rtt.probe_timeout(config.granularity, config.max_ack_delay);
    Span((period.0 as f64 * config.persistent_congestion_threshold) as u64)
}

impl QuicSender {
    /// An ACK frame has arrived that ends with the number `largest`.
    pub(super) fn on_ack(&mut self, largest: u32, frame: &AckFrame, ctx: &mut EndpointCtx<'_>) {
        self.count.acks_received += 1;
        if largest >= self.sent.next() {
            return;
        }
        let now = ctx.now;
        let flight = self.sent.in_flight();
        if self.sampler.is_some() {
            self.check_application_limit(now);
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.begin();
        }
        let before = self.sent.largest_acked();
        let is_newer = before.is_none_or(|before| largest > before);
        let news = self.enter(largest, frame, now);
        let mut rtt = None;
        if let Some((number, stamp)) = news.newest {
            if number == largest {
                // @src rfc9002#5.1, #5.3: the peer's delay counts up to its maximum.
                let delay =
                    (ACK_DELAY_UNIT * u64::from(frame.delay)).min(self.config.max_ack_delay);
                rtt = Some(self.take_sample(now.since(stamp.record.sent_at), delay, ctx));
            }
            let min_rtt = self.rtt.min();
            self.deliveries.on_delivery(now, news.count, &stamp, min_rtt);
            self.probe_count = 0;
        }
        let marked =
            if self.ecn && is_newer { self.count_marks(largest, frame, &news, now) } else { 0 };
        let first = before.map_or(frame.first, |before| frame.first.max(before + 1));
        if let Some(ports) = ctx.ports.newest(self.flow, first, largest) {
            let report = PathReport { una: largest + 1, nxt: self.sent.next(), ports };
            self.cc.on_path_report(&mut self.window, &report);
            self.check_window(now);
        }
        let losses = self.detect_losses(now);
        self.react(losses, marked, &news, flight, now);
        if self.in_recovery && self.follows_slow_start {
            self.slow_start.on_repair(&mut self.window, news.count, losses.count);
            self.check_window(now);
        }
        if self.sampler.is_some() {
            self.give_sample(rtt, marked > 0, now);
        } else if let Some((_, stamp)) = news.newest {
            // @src rfc9002#B.5: what was sent before the last reduction does not grow the window.
            let count = match self.recovery_start {
                Some(start) if start == now => 0,
                Some(_) => news.after_reduction,
                None => news.count,
            };
            if count > 0 {
                self.grow(count, &stamp, rtt, marked > 0, now);
            }
        }
        if let Some(frames) = &mut self.frames {
            frames.forget_below(self.stream.una());
        }
        if self.stage == Stage::Open {
            if self.stream.outstanding() == 0 && self.nothing_left(now) {
                self.finish(now);
            } else {
                self.send(ctx);
                self.arm_recovery_timer(now);
            }
        }
        self.record_window(ctx);
    }

    /// Takes the frame's ranges.
    fn enter(&mut self, largest: u32, frame: &AckFrame, now: Time) -> News {
        let Self { sent, stream, sampler, outage, count, recovery_start, .. } = self;
        let mut news = News::default();
        let first = (frame.first, largest + 1);
        // Oldest first, as the packets left.
        for &range in frame.older().iter().rev().chain([&first]) {
            sent.acknowledge(range, |gone: Gone| {
                stream.acknowledge(gone.segment);
                if let Some(sampler) = sampler {
                    sampler.on_delivered(gone.number, now);
                }
                news.count += 1;
                let sent_at = gone.stamp.record.sent_at;
                news.after_reduction +=
                    u32::from(recovery_start.is_none_or(|started| sent_at > started));
                news.newest = Some((gone.number, gone.stamp));
            });
            sent.find_late(range, |segment| {
                stream.acknowledge(segment);
                outage.forget();
                count.late += 1;
            });
        }
        news
    }

    /// Compares the counts of ECN with those of the ACK before: packets newly marked CE, if they can be true.
    ///
    /// A path that erases the codepoint, or a peer that does not count or counts wrongly, ends ECN.
    fn validate_marks(&mut self, frame: &AckFrame, news: &News) -> Option<u32> {
        // @src rfc9000#13.4.2.1: no counts; fewer than the packets they are for; more than were sent.
        let counts = frame.counts().filter(|counts| counts.capable <= self.sent.next())?;
        let before = std::mem::replace(&mut self.ecn_counts, counts);
        let fresh = counts.capable.checked_sub(before.capable)?;
        let fresh_marked = counts.marked.checked_sub(before.marked)?;
        (fresh >= news.count && fresh_marked <= fresh).then_some(fresh_marked)
    }

    /// Takes the counts of ECN of a newer ACK; packets newly marked CE.
    fn count_marks(&mut self, largest: u32, frame: &AckFrame, news: &News, now: Time) -> u32 {
        let Some(fresh_marked) = self.validate_marks(frame, news) else {
            self.ecn = false;
            self.count.ecn_failures += 1;
            return 0;
        };
        let counts = EcnCounts {
            acked: news.count,
            marked: fresh_marked,
            una: largest + 1,
            nxt: self.sent.next(),
            ..EcnCounts::at(now)
        };
        self.cc.on_ecn_counts(&mut self.window, &counts);
        self.check_window(now);
        fresh_marked
    }

    /// Declares losses; their data is to be sent again.
    fn detect_losses(&mut self, now: Time) -> Losses {
        let delay = self.rtt.loss_delay(&self.config);
        let first_sample = self.rtt.first_sample();
        let mut losses = Losses::default();
        let Self { sent, stream, sampler, cc, outage, window, config, frames, rtt, .. } = self;
        self.loss_time = sent.detect_lost(config, delay, now, |gone| {
            match frames {
                Some(frames) if frames.is_given_up(gone.segment) => {
                    stream.acknowledge(gone.segment);
                }
                _ => stream.lose(gone.segment),
            }
            losses.count += 1;
            losses.last_sent_at = gone.stamp.record.sent_at;
            losses.outage = losses.outage.max(outage.on_lost(&gone, first_sample));
            if let Some(sampler) = sampler
                && let Some(lost) = sampler.lose(gone.number, now, true)
            {
                let persistent = losses.outage > persistent_congestion(rtt, config);
                cc.on_lost(window, &Lost { persistent, ..lost });
            }
        });
        if let Some(sampler) = sampler {
            sampler.advance(sent.first());
        }
        self.check_window(now);
        let retention =
            self.rtt.probe_timeout(self.config.granularity, self.config.max_ack_delay) * 3;
        self.sent.forget_lost(Time(now.0.saturating_sub(retention.0)));
        losses
    }

    /// Losses that the timer finds.
    pub(super) fn on_loss_time(&mut self, ctx: &mut EndpointCtx<'_>) {
        let now = ctx.now;
        let flight = self.sent.in_flight();
        let losses = self.detect_losses(now);
        self.react(losses, 0, &News::default(), flight, now);
        if self.stage == Stage::Open {
            self.send(ctx);
            self.arm_recovery_timer(now);
        }
        self.record_window(ctx);
    }

    /// Reductions, and the end of recovery.
    fn react(&mut self, losses: Losses, marked: u32, news: &News, flight: u32, now: Time) {
        // A control that samples knows what is in flight; of others RFC 9002 reduces cwnd, whatever its use.
        let flight =
            if self.sampler.is_some() { flight } else { flight.max(self.window.cwnd as u32) };
        if losses.count > 0 && self.begins_recovery(losses.last_sent_at, now) {
            self.count.recoveries += 1;
            self.reduce(Signal::FastRetransmit { lost: losses.count }, flight, now);
        }
        if let Some((_, stamp)) = news.newest
            && marked > 0
            && !self.cc.counts_marks()
            && self.begins_recovery(stamp.record.sent_at, now)
        {
            self.count.ecn_reductions += 1;
            self.reduce(Signal::EcnEcho, flight, now);
        }
        if losses.count > 0 && losses.outage > persistent_congestion(&self.rtt, &self.config) {
            self.count.outages += 1;
            self.outage.forget();
            self.rtt.forget_min();
            // @src rfc9002#B.8: only the window is cut; ssthresh is what the reduction set.
            let ssthresh = self.window.ssthresh;
            self.reduce(Signal::Rto { consecutive: 1 }, flight, now);
            self.window.ssthresh = ssthresh;
            (self.recovery_start, self.in_recovery) = (None, false);
        }
        let is_over = news.newest.is_some_and(|(_, stamp)| {
            self.recovery_start.is_some_and(|start| stamp.record.sent_at > start)
        });
        if self.in_recovery && is_over {
            self.in_recovery = false;
            self.cc.on_recovery_end(&mut self.window, now);
            if self.follows_slow_start {
                self.slow_start.on_recovery_end(&mut self.window);
            }
            self.check_window(now);
        }
    }

    /// Whether congestion that met a packet sent then begins a recovery period.
    fn begins_recovery(&mut self, sent_at: Time, now: Time) -> bool {
        if self.recovery_start.is_some_and(|start| sent_at <= start) {
            return false;
        }
        (self.recovery_start, self.in_recovery, self.may_send_one) = (Some(now), true, true);
        true
    }

    /// Grows the window by packets that were sent after the last reduction.
    fn grow(&mut self, count: u32, newest: &Stamp, rtt: Option<Span>, ecn_echo: bool, now: Time) {
        let mut left = count;
        let mut ack = Ack {
            in_flight: self.sent.in_flight(),
            min_rtt: self.rtt.min(),
            srtt: self.rtt.srtt(),
            round: self.deliveries.round,
            app_limited: newest.app_limited,
            ecn_echo,
            delivered: self.deliveries.delivered,
            delivery_rate: self.deliveries.rate,
            newest: newest.record,
            ..Ack::at(now, 1)
        };
        // @src rfc9002#B.5: each packet counts by itself in slow start, so delayed ACKs do not slow it.
        while left > 0 && self.in_slow_start() {
            left -= 1;
            ack.rtt = rtt.filter(|_| left == 0);
            self.slow_start.on_ack(&mut self.window, &ack);
            self.cc.on_slow_start(&mut self.window, &ack);
        }
        if left > 0 {
            (ack.acked, ack.rtt) = (left, rtt);
            self.cc.on_ack(&mut self.window, &ack);
        }
        self.check_window(now);
    }

    /// Completes the rate sample and gives it to the control; `rtt`: without the delay that the peer reports.
    fn give_sample(&mut self, rtt: Option<Span>, ecn_echo: bool, now: Time) {
        let least = self.rtt.min();
        let Some(sampler) = &mut self.sampler else { return };
        let flow_least = if least == Span::ZERO { Span::MAX } else { least };
        let Some(mut sample) = sampler.finish(now, flow_least) else { return };
        // A lone packet waits for the peer's timer, which is no queue.
        sample.rtt = sample.rtt.map(|raw| rtt.unwrap_or(raw));
        sample.in_recovery = self.in_recovery;
        sample.has_selective_acks = true;
        let pipe = self.sent.in_flight();
        let ack = Ack {
            in_flight: pipe,
            min_rtt: least,
            srtt: self.rtt.srtt(),
            round: self.deliveries.round,
            ecn_echo,
            ..Ack::sampled(now, sampler.delivered(), sample)
        };
        self.cc.on_ack(&mut self.window, &ack);
        if self.cc.holds_back()
            && let Some(sampler) = &mut self.sampler
        {
            sampler.limit_by_application(pipe);
        }
        self.check_window(now);
    }
}
