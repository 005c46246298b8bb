//! CAKE as its paper (arXiv 1804.07617, sections III and IV) and tc-cake(8) describe it: lists of queues, a table of who
//! has which, counts of busy flows made anew each time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::cobalt::Cobalt;
use super::{Fate, Reference, Waiting, agree, bounded, busy, draws, events, limits, spec};
use crate::dscp::Dscp;
use crate::qdisc::fair::classes::bucket;
use crate::qdisc::{FlowFacts, Limit, QdiscEnv};
use crate::rng::Stream;
use crate::units::{Span, Time};

/// Source, destination and code point of the eight flows: default, CS1, AF41, EF, CS6, AF11, CS2, AF21.
const FLOWS: [(u32, u32, u64); 8] =
    [(0, 9, 0), (0, 8, 8), (1, 9, 34), (1, 8, 46), (1, 7, 48), (2, 9, 10), (2, 9, 16), (3, 9, 18)];

/// Tins of the presets: the part of the rate of each in 1/8^7.
fn presets(name: &str) -> Vec<u64> {
    const WHOLE: u64 = 8u64.pow(7);
    match name {
        "besteffort" => vec![WHOLE],
        "diffserv3" => vec![WHOLE, WHOLE / 16, WHOLE / 4],
        "diffserv4" => vec![WHOLE, WHOLE / 16, WHOLE / 2, WHOLE / 4],
        _ => (0..8).map(|i| 7u64.pow(i) * 8u64.pow(7 - i)).collect(),
    }
}

/// The tin of each of the eight flows.
fn tins_of(name: &str) -> [usize; 8] {
    match name {
        "besteffort" => [0; 8],
        "diffserv3" => [0, 1, 0, 2, 2, 0, 0, 0],
        "diffserv4" => [0, 1, 2, 3, 3, 0, 2, 2],
        "diffserv8" => [2, 1, 3, 6, 7, 1, 5, 4],
        _ => [0, 1, 4, 5, 6, 1, 2, 2],
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Free,
    /// In the list of new queues.
    Sparse,
    /// In the list of old queues, with nothing since it was sparse.
    Waiting,
    /// In the list of old queues, counted for its hosts.
    Busy,
    Decaying,
}

/// A queue, by tin and number.
type Name = (usize, u32);

struct Queue {
    cobalt: Cobalt,
    set: Set,
    hosts: (u32, u32),
    /// In units of 2^-16 B.
    deficit: i64,
}

struct Tin {
    rate: Option<u64>,
    due: Time,
    quantum: i64,
    weight: i64,
    deficit: i64,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    decaying: VecDeque<u32>,
    /// Target and interval.
    times: (Span, Span),
    four_packets: Span,
}

impl Tin {
    /// Linux looks into a tin while any of its queues is listed as new or old, though nothing waits.
    fn is_listed(&self) -> bool {
        !self.new.is_empty() || !self.old.is_empty()
    }
}

struct Cake {
    limit: Limit,
    rate: Option<u64>,
    isolation: &'static str,
    per_tin: u32,
    overhead: i64,
    is_atm: bool,
    tins: Vec<Tin>,
    tin_of: [usize; 8],
    queues: BTreeMap<Name, Queue>,
    owners: BTreeMap<Name, u32>,
    due: Time,
    turn: usize,
    draws: Stream,
}

/// Time of so many bytes at a rate, as the clock of whole picoseconds has it.
fn time(bytes: u64, rate: u64) -> Span {
    crate::units::BitRate(rate).transmission(crate::units::Bytes(bytes))
}

impl Cake {
    fn packets(&self, tin: usize) -> usize {
        self.queues
            .iter()
            .filter(|(name, _)| name.0 == tin)
            .map(|(_, q)| q.cobalt.line.0.len())
            .sum()
    }

    fn total(&self) -> usize {
        (0..self.tins.len()).map(|tin| self.packets(tin)).sum()
    }

    fn bytes(&self) -> u64 {
        self.queues.values().map(|queue| queue.cobalt.line.bytes()).sum()
    }

    /// What shares a queue.
    fn flow(&self, key: u32) -> u32 {
        let (src, dst, _) = FLOWS[key as usize];
        // Hosts are numbered as they first appear: 0, 9, 8, 1, 7, 2, 3; there are seven.
        let number =
            |host: u32| [0, 9, 8, 1, 7, 2, 3].iter().position(|&h| h == host).unwrap() as u32;
        match self.isolation {
            "flowblind" => 0,
            "srchost" => number(src),
            "dsthost" => number(dst),
            "hosts" => number(src) * 7 + number(dst),
            _ => key,
        }
    }

    /// A turn: the quantum over the busy flows of the host that has more of them.
    fn turn_of(&self, (tin, number): Name) -> i64 {
        let hosts = self.queues[&(tin, number)].hosts;
        let of = |is_same: &dyn Fn((u32, u32)) -> bool| {
            let queues = self.queues.iter().filter(|(name, queue)| {
                name.0 == tin && queue.set == Set::Busy && is_same(queue.hosts)
            });
            queues.count().cast_signed() as i64
        };
        let (from, to) = (of(&|other| other.0 == hosts.0), of(&|other| other.1 == hosts.1));
        let load = match self.isolation {
            "dual-srchost" => from,
            "dual-dsthost" => to,
            "triple-isolate" => from.max(to),
            _ => 1,
        };
        (self.tins[tin].quantum * 65_536) / load.max(1)
    }

    /// The queue of a flow: the one that it had, else a free one of its eight, else the one of its hash.
    fn queue_of(&mut self, tin: usize, flow: u32) -> u32 {
        let home = bucket(flow, 0, self.per_tin);
        let first = home / 8 * 8;
        let set: Vec<u32> = (first..(first + 8).min(self.per_tin)).collect();
        let from_home = || set.iter().cycle().skip_while(|&&q| q != home).take(set.len()).copied();
        if let Some(owned) = from_home().find(|&q| self.owners.get(&(tin, q)) == Some(&flow)) {
            return owned;
        }
        let is_free =
            |q: &u32| self.queues.get(&(tin, *q)).is_none_or(|queue| queue.set == Set::Free);
        let queue = from_home().find(is_free).unwrap_or(home);
        self.owners.insert((tin, queue), flow);
        queue
    }

    fn line_bytes(&self, size: u16) -> u64 {
        let size = (i64::from(size) + self.overhead).max(1) as u64;
        if self.is_atm { size.div_ceil(48) * 53 } else { size }
    }

    fn choose(&mut self, now: Time) -> usize {
        if self.rate.is_none() {
            loop {
                let tin = &mut self.tins[self.turn];
                if tin.is_listed() && tin.deficit >= 0 {
                    return self.turn;
                }
                if tin.deficit <= 0 {
                    tin.deficit += tin.weight;
                }
                self.turn = (self.turn + 1) % self.tins.len();
            }
        }
        let waiting: Vec<usize> =
            (0..self.tins.len()).filter(|&t| self.tins[t].is_listed()).collect();
        // The last that is within its rate; else of those due first the last.
        let within = waiting.iter().rev().find(|&&t| self.tins[t].due <= now);
        let first = waiting.iter().rev().min_by_key(|&&t| self.tins[t].due);
        *within.or(first).unwrap()
    }

    /// One decaying queue of the tin that is looked at first.
    fn decay(&mut self, tin: usize, now: Time) {
        if let Some(number) = self.tins[tin].decaying.pop_front() {
            let queue = self.queues.get_mut(&(tin, number)).unwrap();
            queue.cobalt.on_empty(now);
            if queue.cobalt.is_active(now) {
                self.tins[tin].decaying.push_back(number);
            } else {
                queue.set = Set::Free;
            }
        }
    }

    fn serve(&mut self, tin: usize, now: Time, fates: &mut Vec<Fate>) -> bool {
        loop {
            let Tin { new, old, .. } = &mut self.tins[tin];
            let is_new = !new.is_empty();
            let list = if is_new { new } else { old };
            let Some(number) = list.pop_front() else { return false };
            let name = (tin, number);
            if self.queues[&name].deficit <= 0 {
                let queue = self.queues.get_mut(&name).unwrap();
                if is_new {
                    queue.set =
                        if queue.cobalt.line.0.is_empty() { Set::Waiting } else { Set::Busy };
                }
                self.tins[tin].old.push_back(number);
                let turn = self.turn_of(name);
                self.queues.get_mut(&name).unwrap().deficit += turn;
                continue;
            }
            let queue = self.queues.get_mut(&name).unwrap();
            let sizes: BTreeMap<u32, u16> =
                queue.cobalt.line.0.iter().map(|packet| (packet.seq, packet.size)).collect();
            std::mem::swap(&mut queue.cobalt.draws, &mut self.draws);
            queue.cobalt.depart(now, None, fates);
            std::mem::swap(&mut queue.cobalt.draws, &mut self.draws);
            if let Some(&Fate::Sent { seq, .. }) = fates.last() {
                let bytes = self.line_bytes(sizes[&seq]);
                self.queues.get_mut(&name).unwrap().deficit -= bytes.cast_signed() * 65_536;
                let Tin { new, old, .. } = &mut self.tins[tin];
                let list = if is_new { new } else { old };
                list.push_front(number);
                self.advance(tin, bytes, now);
                return true;
            }
            if queue.cobalt.is_active(now) {
                queue.set = Set::Decaying;
                self.tins[tin].decaying.push_back(number);
            } else {
                queue.set = Set::Free;
            }
        }
    }

    fn advance(&mut self, tin: usize, bytes: u64, now: Time) {
        let tin = &mut self.tins[tin];
        tin.deficit -= bytes.cast_signed();
        let (Some(rate), Some(share)) = (self.rate, tin.rate) else { return };
        let service_time = time(bytes, share);
        if tin.due < now {
            tin.due += service_time;
        } else if tin.due < now + service_time {
            tin.due = now + service_time;
        }
        self.due += time(bytes, rate);
    }
}

impl Reference for Cake {
    fn arrive(&mut self, packet: Waiting, fates: &mut Vec<Fate>) {
        let now = packet.at;
        let tin = self.tin_of[packet.key as usize];
        if self.total() == 0 {
            self.due = self.due.max(now);
        }
        if self.packets(tin) == 0 {
            self.tins[tin].due = self.tins[tin].due.max(now);
        }
        let (src, dst, _) = FLOWS[packet.key as usize];
        let number = self.queue_of(tin, self.flow(packet.key));
        let name = (tin, number);
        let Tin { times, four_packets, .. } = self.tins[tin];
        let queue = self.queues.entry(name).or_insert_with(|| Queue {
            cobalt: Cobalt::new(times.0, times.1, four_packets),
            set: Set::Free,
            hosts: (src, dst),
            deficit: 0,
        });
        queue.cobalt.line.0.push_back(packet);
        queue.hosts = (src, dst);
        match queue.set {
            Set::Sparse | Set::Busy => {}
            Set::Waiting => queue.set = Set::Busy,
            Set::Free | Set::Decaying => {
                self.tins[tin].decaying.retain(|&other| other != number);
                self.tins[tin].new.push_back(number);
                let turn = self.turn_of(name);
                let queue = self.queues.get_mut(&name).unwrap();
                (queue.set, queue.deficit) = (Set::Sparse, turn);
            }
        }
        while self.total() as u64 > u64::from(self.limit.packets) || self.bytes() > self.limit.bytes
        {
            // Of equals the first.
            let length = |queue: &Queue| queue.cobalt.line.bytes();
            let most = self.queues.values().map(length).max().unwrap();
            let longest = self.queues.values_mut().find(|queue| length(queue) == most).unwrap();
            let lost = longest.cobalt.line.0.pop_front().unwrap();
            longest.cobalt.on_overflow(now);
            fates.push(Fate::Dropped { seq: lost.seq });
        }
    }

    fn depart(&mut self, now: Time, _sent: Option<u32>, fates: &mut Vec<Fate>) {
        let mut is_first = true;
        while self.total() > 0 {
            if self.rate.is_some() && self.due > now {
                return;
            }
            let tin = self.choose(now);
            if std::mem::take(&mut is_first) {
                self.decay(tin, now);
            }
            if self.serve(tin, now, fates) {
                return;
            }
        }
    }
}

fn facts() -> Arc<[FlowFacts]> {
    let fact = |&(src, dst, dscp): &(u32, u32, u64)| FlowFacts {
        id: "f".into(),
        src: src.to_string().into(),
        dst: dst.to_string().into(),
        pair: None,
        dscp: Dscp::new(dscp).unwrap(),
        sender: "tcp".into(),
        control: None,
    };
    FLOWS.iter().map(fact).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cake_shapes_shares_and_signals_as_the_paper_and_the_manual_say(
        events in prop_oneof![events(), busy()],
        more in busy(),
        limit in limits(),
        rate in prop_oneof![Just(None), Just(Some(2_000_000u64)), (3_000_000u64..80_000_000).prop_map(Some)],
        tins in prop::sample::select(vec!["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"]),
        isolation in prop::sample::select(vec!["flowblind", "srchost", "dsthost", "hosts", "flows",
            "dual-srchost", "dual-dsthost", "triple-isolate"]),
        per_tin in 1u32..20,
        quantum in prop_oneof![Just(None), (100i64..3000).prop_map(Some)],
        rtt_ms in prop_oneof![Just(100u64), 2u64..50],
        (overhead, is_atm) in prop_oneof![Just((0i64, false)), (-30i64..100, any::<bool>())],
    ) {
        let mut given = json!({ "kind": "cake", "tins": tins, "isolation": isolation, "queues": per_tin,
            "rtt": format!("{rtt_ms} ms"), "overhead": overhead,
            "framing": if is_atm { "atm" } else { "none" } });
        if let Some(rate) = rate {
            given["rate"] = json!(rate);
        }
        if let Some(quantum) = quantum {
            given["quantum"] = json!(quantum);
        }
        let tin = |part: u64| {
            let own = rate.map(|rate| (u128::from(rate) * u128::from(part) / 8u128.pow(7)) as u64);
            // tc-cake(8): the target is a twentieth of the round trip and 1.5 packets of 1000 B at least, the interval
            // longer by what the target is beyond that, and twice the target at least.
            let packet = own.map_or(Span::ZERO, |rate| time(1000, rate));
            let twentieth = Span::from_millis(rtt_ms).0 / 20;
            let target = twentieth.max(packet.0 * 3 / 2);
            let interval = (Span::from_millis(rtt_ms).0 + (target - twentieth)).max(2 * target);
            let adapted = own.map_or(1514, |rate| (rate / 8 / 4096).cast_signed().clamp(300, 1514));
            Tin {
                rate: own,
                due: Time::ZERO,
                quantum: quantum.unwrap_or(adapted),
                weight: (1024 * part / 8u64.pow(7)).cast_signed(),
                deficit: 0,
                new: VecDeque::new(),
                old: VecDeque::new(),
                decaying: VecDeque::new(),
                times: (Span(target), Span(interval)),
                four_packets: packet * 4,
            }
        };
        let mut reference = Cake {
            limit, rate, isolation, per_tin, overhead, is_atm,
            tins: presets(tins).into_iter().map(tin).collect(),
            tin_of: tins_of(tins),
            queues: BTreeMap::new(),
            owners: BTreeMap::new(),
            due: Time::ZERO,
            turn: 0,
            draws: draws(),
        };
        let env = QdiscEnv { facts: facts(), ..bounded(limit) };
        let events: Vec<_> = events.into_iter().chain(more).collect();
        agree(&spec(given), &env, &mut reference, &events)?;
    }
}
