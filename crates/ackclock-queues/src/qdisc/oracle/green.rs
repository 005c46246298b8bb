//! GREEN from the rule in its file: p = (N S c / (L R))^2 computed anew at every arrival, N counted in a list of
//! all arrivals, R found anew from all headers of the flow where the router measures it.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::sred::Zombies;
use super::{Fate, Line, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::qdisc::Limit;
use crate::rng::Stream;
use crate::units::{BitRate, Span, Time};

/// Keys of the bench's links, and its flows.
const KEYS: f64 = 8.0;

#[derive(Clone, Copy, Debug)]
enum Count {
    Window,
    Hits,
    Known(Option<f64>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rtt {
    Ideal,
    Table,
    /// Drawn once, at every packet, or again after so long.
    Once,
    Packet,
    Lookup(Span),
    /// Measured from connection requests; with `Timestamps` from the echoes of the receiver's clock too.
    Handshake,
    Timestamps,
}

/// What a packet's header says of its flow's connection.
#[derive(Clone, Copy, Debug)]
enum Header {
    Request,
    /// The receiver's clock in ticks; none: no timestamp option.
    Data(Option<u64>),
}

/// The receivers' clock at time 0: 16 ticks to a microsecond, so that its 32 bits wrap after 0.2 s.
const CLOCK: u64 = (1 << 32) - 3_200_000;
const TICK: u64 = 62_500;

/// How old the echo of a packet is \[ms\], by its number; now and then one is overtaken, or has no echo.
const AGES: [Option<u64>; 5] = [Some(30), Some(31), None, Some(25), Some(60)];

struct Green {
    limit: Limit,
    c: f64,
    count: Count,
    window: Span,
    rtt: Rtt,
    low: f64,
    high: f64,
    scale: f64,
    mss: Option<u32>,
    ecn: bool,
    line: Line,
    draws: Stream,
    rate: f64,
    arrivals: Vec<(u32, Time)>,
    zombies: Zombies,
    /// By flow, the factor of its estimate and when it was drawn.
    drawn: BTreeMap<u32, (f64, Time)>,
    /// By flow, all headers that passed, with their times.
    headers: BTreeMap<u32, Vec<(Header, Time)>>,
    number: u64,
    p: f64,
}

impl Green {
    fn flows(&mut self, packet: &Waiting) -> f64 {
        self.arrivals.push((packet.key, packet.at));
        match self.count {
            Count::Known(n) => n.unwrap_or(KEYS),
            Count::Window => {
                let recent = self
                    .arrivals
                    .iter()
                    .filter(|(_, arrived_at)| packet.at.since(*arrived_at) < self.window);
                recent.map(|(key, _)| key).collect::<BTreeSet<_>>().len() as f64
            }
            Count::Hits => {
                self.zombies.arrive(packet.key, &mut self.draws);
                let p = self.zombies.frequency;
                if p > 0.0 { (1.0 / p).clamp(1.0, KEYS) } else { KEYS }
            }
        }
    }

    /// The round-trip time \[s\] that the headers of a flow show, found anew from all of them; 0: not known.
    fn measure_rtt(&self, key: u32) -> f64 {
        let mut request = None;
        // R, when what the receiver had at its first clock had passed, and that clock.
        let mut estimate: Option<(f64, Time, Option<u64>)> = None;
        let mut newest = 0;
        for &(header, arrived_at) in self.headers.get(&key).into_iter().flatten() {
            match (header, estimate) {
                (Header::Request, _) => request = Some(arrived_at),
                (Header::Data(echo), None) => {
                    let Some(began) = request.filter(|&began| arrived_at > began) else { continue };
                    estimate = Some((arrived_at.since(began).seconds(), began, echo));
                    newest = echo.unwrap_or_default();
                }
                (Header::Data(Some(echo)), Some((r, began, Some(first))))
                    if self.rtt == Rtt::Timestamps && echo > newest =>
                {
                    newest = echo;
                    let passed = began + Span(TICK * (echo - first));
                    let sample = arrived_at.since(passed).seconds();
                    estimate = Some((r + (sample - r) / 8.0, began, Some(first)));
                }
                _ => {}
            }
        }
        estimate.map_or(0.0, |estimate| estimate.0)
    }

    /// The round-trip time that the router believes in \[s\]; the bench's flow i has 50 (i + 1) ms.
    fn round_trip(&mut self, packet: &Waiting) -> f64 {
        let real = 0.05 * f64::from(packet.key + 1);
        let is_old = |&(_, drawn_at): &(f64, Time)| match self.rtt {
            Rtt::Packet => true,
            Rtt::Lookup(lifetime) => packet.at.since(drawn_at) >= lifetime,
            Rtt::Ideal | Rtt::Table | Rtt::Once | Rtt::Handshake | Rtt::Timestamps => false,
        };
        match self.rtt {
            Rtt::Ideal => real * self.scale,
            // As listed below.
            Rtt::Table => 0.02 * f64::from(packet.key + 1),
            Rtt::Handshake | Rtt::Timestamps => self.measure_rtt(packet.key),
            Rtt::Once | Rtt::Packet | Rtt::Lookup(_) => {
                let estimate = self.drawn.get(&packet.key);
                if estimate.is_none_or(is_old) {
                    let factor = self.low + (self.high - self.low) * self.draws.uniform();
                    self.drawn.insert(packet.key, (factor, packet.at));
                }
                real * self.scale * self.drawn[&packet.key].0
            }
        }
    }
}

impl Reference for Green {
    fn arrive(&mut self, mut packet: Waiting, fates: &mut Vec<Fate>) {
        let n = self.flows(&packet);
        let r = self.round_trip(&packet);
        let s = self.mss.map_or(f64::from(packet.size), f64::from);
        let is_known = r > 0.0;
        self.p =
            if is_known { (n * s * self.c / (self.rate / 8.0 * r)).powi(2).min(1.0) } else { 0.0 };
        if !self.line.admits(self.limit, packet.size) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        if self.draws.uniform() < self.p && !packet.mark(self.ecn) {
            return fates.push(Fate::Dropped { seq: packet.seq });
        }
        self.line.0.push_back(packet);
    }

    fn header(&mut self, key: u32, now: Time) -> (bool, u32) {
        self.number += 1;
        let header = if self.number.is_multiple_of(6) {
            Header::Request
        } else {
            let age = AGES[(self.number % 5) as usize];
            let clock = |ms| CLOCK + now.since(Time::ZERO).0 / TICK - ms * 16_000;
            Header::Data(age.map(clock))
        };
        self.headers.entry(key).or_default().push((header, now));
        match header {
            Header::Request => (true, 0),
            Header::Data(clock) => (false, clock.map_or(0, |clock| clock as u32)),
        }
    }

    fn depart(&mut self, _now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        self.line.send(fates);
    }

    fn rate(&mut self, _now: Time, rate: BitRate) {
        self.rate = rate.0 as f64;
    }

    fn probes(&self) -> Vec<(&'static str, f64)> {
        vec![("p", self.p)]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn green_drops_and_marks_as_its_rule_says(
        events in prop_oneof![events(), busy()],
        limit in limits(),
        c in 0.3f64..6.0,
        count in prop_oneof![
            2 => Just(Count::Window),
            1 => Just(Count::Hits),
            1 => prop::option::of(0.5f64..9.0).prop_map(Count::Known),
        ],
        window_ms in 1u64..300,
        rtt in prop_oneof![
            Just(Rtt::Ideal),
            Just(Rtt::Table),
            Just(Rtt::Once),
            Just(Rtt::Packet),
            (0u64..100).prop_map(|ms| Rtt::Lookup(Span::from_millis(ms))),
            Just(Rtt::Handshake),
            Just(Rtt::Timestamps),
        ],
        (low, more, scale) in (0.5f64..1.5, 0.0f64..2.0, 0.3f64..2.0),
        mss in prop::option::of(100u32..2000),
        ecn in any::<bool>(),
    ) {
        let mut given = json!({ "kind": "green", "c": c, "window": format!("{window_ms} ms"), "low": low,
            "high": low + more, "scale": scale, "mss": mss, "ecn": ecn });
        match count {
            Count::Window => given["count"] = json!("window"),
            Count::Hits => given["count"] = json!("hits"),
            Count::Known(n) => {
                given["count"] = json!("known");
                given["n"] = json!(n);
            }
        }
        given["rtt"] = json!(match rtt {
            Rtt::Ideal => "ideal",
            Rtt::Table => "table",
            Rtt::Once | Rtt::Packet | Rtt::Lookup(_) => "estimate",
            Rtt::Handshake => "handshake",
            Rtt::Timestamps => "timestamps",
        });
        match rtt {
            Rtt::Ideal | Rtt::Handshake | Rtt::Timestamps => {}
            Rtt::Table => {
                given["table"] = (1..=5).map(|i| json!(format!("{} ms", 20 * i))).collect();
            }
            Rtt::Once => given["draw"] = json!("flow"),
            Rtt::Packet => given["draw"] = json!("packet"),
            Rtt::Lookup(lifetime) => {
                given["draw"] = json!("lookup");
                given["lifetime"] = json!(lifetime.seconds());
            }
        }
        let mut reference = Green {
            limit, c, count, rtt, low, scale, mss, ecn,
            window: Span::from_millis(window_ms),
            high: low + more,
            line: Line::default(),
            draws: draws(),
            rate: 10e6,
            arrivals: Vec::new(),
            zombies: Zombies::new(1000, 0.25),
            drawn: BTreeMap::new(),
            headers: BTreeMap::new(),
            number: 0,
            p: 0.0,
        };
        agree(&spec(given), &bounded(limit), &mut reference, &events)?;
    }
}
