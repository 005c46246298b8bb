//! Links of the plan: two directions of each, named, checked, with buffers in packets and bytes.

use std::borrow::Borrow;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashSet;

use super::plan::{Direction, Failures, LinkSettings, PlanFlow, PlanLink, Schedule};
use crate::era::Era;
use crate::error::{Problem, suggestion};
use crate::qdisc::{self, Limit};
use crate::registry::{Range, Spec};
use crate::scenario::{LinkSpec, RateSpec};
use crate::topology::{DuplexLink, Layout, LinkKind, key_path};
use crate::units::{BitRate, BufferSize, Bytes, Span, Time};

/// One direction whose buffer is not yet resolved.
pub(super) struct Directed {
    pub(super) plan: PlanLink,
    pub(super) buffer: BufferSize,
    pub(super) weight: f64,
    /// Path of its buffer in the scenario.
    pub(super) buffer_path: Arc<str>,
}

/// What links of one kind have in common, by direction.
#[derive(Clone)]
struct Common {
    settings: [Arc<LinkSettings>; 2],
    buffer_paths: [Arc<str>; 2],
}

/// Both directions of every link, forward first.
pub(super) fn make_directed(layout: &Layout, problems: &mut Vec<Problem>) -> Vec<Directed> {
    let mut all = Vec::with_capacity(2 * layout.links.len());
    let mut common_of_kinds: Vec<Option<Common>> = vec![None; layout.kinds.len()];
    for &link in &layout.links {
        let kind = &layout.kinds[link.kind as usize];
        let spec = &kind.spec;
        let common_of_kind = &mut common_of_kinds[link.kind as usize];
        // A schedule is checked beside the link's delay.
        let is_scheduled = spec.schedule.is_some() || spec.back_schedule.is_some();
        check(kind, &link, common_of_kind.is_none(), problems);
        let common = match common_of_kind.take() {
            Some(common) if !is_scheduled => common,
            _ => common(kind, link.delay, problems),
        };
        let (id, back_id) = match &spec.id {
            Some(id) => (Some(id.as_str().into()), Some(format!("{id}:back").into())),
            None => (None, None),
        };
        let rates = [link.rate, spec.back_rate.unwrap_or(link.rate)];
        let buffers = [spec.buffer, spec.back_buffer.unwrap_or(spec.buffer)];
        for (way, id, [from, to]) in [(0, id, [link.a, link.b]), (1, back_id, [link.b, link.a])] {
            let plan = PlanLink {
                id,
                from,
                to,
                rate: rates[way],
                delay: link.delay,
                limit: Limit::NONE,
                mean_packet: 0,
                settings: Arc::clone(&common.settings[way]),
            };
            if let Some(rate) = timeless(&plan) {
                let message = format!(
                    "is zero, and a byte at {} bit/s takes no time either; expected a delay of 1 ps or more",
                    rate.bps()
                );
                add(problems, Problem::new(key_path(&kind.path, "delay"), message));
            }
            all.push(Directed {
                plan,
                buffer: buffers[way],
                weight: spec.weight,
                buffer_path: Arc::clone(&common.buffer_paths[way]),
            });
        }
        *common_of_kind = Some(common);
    }
    twice(layout, &all, problems);
    all
}

/// What links of a kind have in common.
fn common(kind: &LinkKind, delay: Span, problems: &mut Vec<Problem>) -> Common {
    let LinkKind { path, spec } = kind;
    let mut rates =
        |key, rates: &Option<RateSpec>| schedule(path, key, rates.as_ref(), delay, problems);
    let (over_time, losses) = rates("schedule", &spec.schedule);
    let (back_over_time, back_losses) = rates("back_schedule", &spec.back_schedule);
    let forward = LinkSettings {
        mtu: u16::try_from(spec.mtu.0).unwrap_or(u16::MAX),
        qdisc: spec.qdisc.by_registry_name(qdisc::registry_name),
        qdisc_path: key_path(path, "qdisc"),
        schedule: over_time,
        loss: spec.loss,
        losses,
        drop: sorted(&spec.drop),
        impairments_path: path_of(path, "impairments", &spec.impairments),
        impairments: spec.impairments.clone(),
        failures: Failures::default(),
    };
    let (back_qdisc, qdisc_key) = match &spec.back_qdisc {
        Some(qdisc) => (qdisc, "back_qdisc"),
        None => (&spec.qdisc, "qdisc"),
    };
    let back = LinkSettings {
        mtu: forward.mtu,
        qdisc: back_qdisc.by_registry_name(qdisc::registry_name),
        qdisc_path: key_path(path, qdisc_key),
        schedule: back_over_time,
        loss: spec.back_loss,
        losses: back_losses,
        drop: sorted(&spec.back_drop),
        impairments_path: path_of(path, "back_impairments", &spec.back_impairments),
        impairments: spec.back_impairments.clone(),
        failures: Failures::default(),
    };
    let back_buffer = if spec.back_buffer.is_some() { "back_buffer" } else { "buffer" };
    let forward = Arc::new(forward);
    let back = if back == *forward { Arc::clone(&forward) } else { Arc::new(back) };
    Common {
        settings: [forward, back],
        buffer_paths: ["buffer", back_buffer].map(|key| key_path(path, key).into()),
    }
}

/// The path of a list in the scenario; nothing where the list is empty, so that both directions are alike.
pub(super) fn path_of(path: &str, key: &str, list: &[Spec]) -> String {
    if list.is_empty() { String::new() } else { key_path(path, key) }
}

/// Reports names that several links have.
fn twice(layout: &Layout, all: &[Directed], problems: &mut Vec<Problem>) {
    // Links are named by their ends, which distinguishes them as well, but for names with an arrow in them.
    let by_ends = layout.kinds.iter().all(|kind| kind.spec.id.is_none())
        && !layout.nodes.iter().any(|name| name.contains("->"));
    let (mut ends, mut names) = (FxHashSet::default(), FxHashSet::default());
    for (i, Directed { plan, .. }) in all.iter().enumerate() {
        let is_new = if by_ends {
            ends.insert((plan.from, plan.to))
        } else {
            names.insert(plan.name(&layout.nodes))
        };
        if !is_new {
            let (kind, name) = (layout.links[i / 2].kind, plan.named(&layout.nodes));
            problems.push(Problem::new(
                &layout.kinds[kind as usize].path,
                format!("there is already a link \"{name}\"; give this one another id"),
            ));
        }
    }
}

/// Adds a problem, once: all access links of a shape are described by the same keys.
fn add(problems: &mut Vec<Problem>, problem: Problem) {
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

/// What links have in common, the same one again where it is that of the link before.
pub(super) fn shared<T: PartialEq + ?Sized>(
    latest: &mut Option<Arc<T>>,
    new: impl Borrow<T> + Into<Arc<T>>,
) -> Arc<T> {
    match latest {
        Some(last) if **last == *new.borrow() => Arc::clone(last),
        _ => Arc::clone(latest.insert(new.into())),
    }
}

/// Most names of links that a suggestion looks among.
const MANY: usize = 1000;

/// That there is no link of this name, and which one may be meant.
pub(super) fn unknown(name: &str, names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.take(MANY).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!("there is no link \"{name}\"; {}", suggestion(name, &names))
}

/// Checks a link; what it has in common with others of its kind only if it is the `first`.
fn check(kind: &LinkKind, link: &DuplexLink, first: bool, problems: &mut Vec<Problem>) {
    let LinkKind { path, spec } = kind;
    let mut values = Values { path, problems };
    values.rate("rate", Some(link.rate));
    values.delay("delay", Some(link.delay));
    if !first {
        return;
    }
    values.rate("back_rate", spec.back_rate);
    values.loss("loss", Some(spec.loss));
    values.loss("back_loss", Some(spec.back_loss));
    values.mtu("mtu", Some(spec.mtu));
    values.weight("weight", Some(spec.weight));
    values.buffer("buffer", Some(spec.buffer));
    values.buffer("back_buffer", spec.back_buffer);
}

/// The highest rate of a link on which packets take no time at some time: they would go round for ever at one instant.
pub(super) fn timeless(link: &PlanLink) -> Option<BitRate> {
    let is_instant = |rate: &BitRate| rate.transmission(Bytes(1)) == Span::ZERO;
    link.peak().filter(|rate| link.delay == Span::ZERO && is_instant(rate))
}

/// Of rate, delay, loss, MTU and weight.
static RANGES: LazyLock<[Range; 5]> =
    LazyLock::new(|| Range::all::<LinkSpec, 5>(["rate", "delay", "loss", "mtu", "weight"]));

/// The values of a link described at `path`, where they are given: each is checked by itself.
pub(super) struct Values<'a> {
    pub(super) path: &'a str,
    pub(super) problems: &'a mut Vec<Problem>,
}

impl Values<'_> {
    fn wrong(&mut self, key: &str, message: impl Into<String>) {
        add(self.problems, Problem::new(key_path(self.path, key), message));
    }

    fn in_range(&mut self, range: &Range, key: &str, value: Option<f64>) {
        let problem = value.and_then(|value| range.problem(value, || key_path(self.path, key)));
        if let Some(problem) = problem {
            add(self.problems, problem);
        }
    }

    pub(super) fn rate(&mut self, key: &str, rate: Option<BitRate>) {
        self.in_range(&RANGES[0], key, rate.map(BitRate::bps));
    }

    pub(super) fn delay(&mut self, key: &str, delay: Option<Span>) {
        self.in_range(&RANGES[1], key, delay.map(Span::seconds));
    }

    pub(super) fn loss(&mut self, key: &str, loss: Option<f64>) {
        self.in_range(&RANGES[2], key, loss);
    }

    pub(super) fn mtu(&mut self, key: &str, mtu: Option<Bytes>) {
        self.in_range(&RANGES[3], key, mtu.map(|mtu| mtu.0 as f64));
    }

    pub(super) fn weight(&mut self, key: &str, weight: Option<f64>) {
        self.in_range(&RANGES[4], key, weight);
    }

    pub(super) fn buffer(&mut self, key: &str, buffer: Option<BufferSize>) {
        if matches!(buffer, Some(BufferSize::Packets(0) | BufferSize::Bytes(0))) {
            self.wrong(key, "is zero, expected room for at least one packet");
        }
    }
}

/// The rate and the loss ratios that a schedule gives; no rate where it has none.
pub(super) fn schedule(
    path: &str,
    key: &str,
    spec: Option<&RateSpec>,
    delay: Span,
    problems: &mut Vec<Problem>,
) -> (Option<Schedule>, Vec<(Time, f64)>) {
    let mut wrong = |inner_path: String, message: String| {
        problems.push(Problem::new(key_path(path, key) + &inner_path, message));
    };
    match spec {
        None => (None, Vec::new()),
        Some(RateSpec::Steps(steps)) => {
            if steps.is_empty() {
                wrong(".steps".into(), "is empty, expected at least one step".into());
            }
            if let Some(i) = steps.windows(2).position(|w| w[1].at <= w[0].at) {
                wrong(
                    format!(".steps[{}].at", i + 1),
                    "is not later than the step before, expected ascending times".into(),
                );
            }
            for (i, step) in steps.iter().enumerate() {
                if step.rate.is_none() && step.loss.is_none() {
                    wrong(format!(".steps[{i}]"), "changes nothing, expected rate or loss".into());
                }
                let ratio = step.loss.and_then(|loss| RANGES[2].problem(loss, String::new));
                if let Some(problem) = ratio {
                    wrong(format!(".steps[{i}].loss"), problem.message);
                }
            }
            let rates: Vec<(Time, BitRate)> =
                steps.iter().filter_map(|s| Some((Time(s.at.0), s.rate?))).collect();
            // Before the first step the link has its own rate.
            if rates.first().is_some_and(|s| s.0.0 == 0) && rates.iter().all(|s| s.1.0 == 0) {
                let message = "is zero at every step, expected a rate at one at least";
                wrong(".steps".into(), message.into());
            }
            let losses = steps.iter().filter_map(|s| Some((Time(s.at.0), s.loss?))).collect();
            ((!rates.is_empty()).then_some(Schedule::Steps(rates)), losses)
        }
        Some(RateSpec::Mahimahi(times)) => {
            if times.last().is_none_or(|&t| t == 0) {
                wrong(
                    ".mahimahi".into(),
                    "has no opportunity after 0 ms, expected ascending milliseconds".into(),
                );
            }
            if let Some(i) = times.windows(2).position(|w| w[1] < w[0]) {
                wrong(
                    format!(".mahimahi[{}]", i + 1),
                    "is earlier than the one before, expected ascending milliseconds".into(),
                );
            }
            let most = super::MAX_SECONDS as u64 * 1000;
            if let Some(i) = times.iter().position(|&t| t > most) {
                wrong(
                    format!(".mahimahi[{i}]"),
                    format!("is {} ms, expected at most {most} ms", times[i]),
                );
            }
            if delay.0 == 0 {
                wrong(String::new(), "needs a link with a delay of more than zero".into());
            }
            (Some(Schedule::Mahimahi(times.clone())), Vec::new())
        }
    }
}

pub(super) fn sorted(numbers: &[u64]) -> Vec<u64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

/// A buffer that holds no packet.
struct Small {
    path: Arc<str>,
    buffer: BufferSize,
    /// The largest packet that comes there [bytes].
    packet: u32,
    /// Whether ns-2's drop-tail counts the arrival before it tests for room.
    is_old: bool,
}

impl Small {
    fn problem(&self) -> Problem {
        let Self { path, buffer, packet, is_old } = self;
        let expected = match buffer {
            BufferSize::Packets(_) if *is_old => {
                "2 packets: drop-tail of ns-2 holds one less than its limit".to_owned()
            }
            _ if *is_old => format!(
                "{} B: drop-tail of ns-2 holds less than its limit, and packets of {packet} B pass",
                packet + 1
            ),
            _ => format!("one packet of the flows through it ({packet} B)"),
        };
        Problem::new(&**path, format!("is {buffer}, expected at least {expected}"))
    }
}

/// Resolves every buffer, now that the flows through each link are known.
pub(super) fn resolve_buffers(
    directed: Vec<Directed>,
    flows: &[PlanFlow],
    era: Era,
    problems: &mut Vec<Problem>,
) -> Vec<PlanLink> {
    let delays: Vec<Span> = directed.iter().map(|d| d.plan.delay).collect();
    // Per link: number of flows and sum of their round-trip propagation times, data before acknowledgements.
    let mut data = vec![(0u64, 0.0f64); directed.len()];
    let mut acks = data.clone();
    let mut largest = vec![0u32; directed.len()];
    for flow in flows {
        let rtt: f64 =
            flow.route.iter().chain(&flow.ack_route).map(|l| delays[l.index()].seconds()).sum();
        let [data_size, answer] = flow.packet_sizes();
        for (route, sums, size) in
            [(Direction::Data, &mut data, data_size), (Direction::Acks, &mut acks, answer)]
        {
            for link in flow.links(route) {
                sums[link.index()].0 += 1;
                sums[link.index()].1 += rtt;
                largest[link.index()] = largest[link.index()].max(size);
            }
        }
    }
    // Buffers too small, and the largest packet that each would have to hold.
    let mut small: Vec<Small> = Vec::new();
    let mut links: Vec<PlanLink> = directed
        .into_iter()
        .enumerate()
        .map(|(i, d)| {
            let mut link = d.plan;
            link.mean_packet = if largest[i] == 0 { 1500 } else { largest[i] };
            let (count, sum) = if data[i].0 > 0 { data[i] } else { acks[i] };
            let rtt = if count > 0 { sum / count as f64 } else { 2.0 * link.delay.seconds() };
            let is_old = era == Era::Ns2 && link.settings.qdisc.kind() == "fifo";
            let least = u64::from(link.mean_packet) + u64::from(is_old);
            link.limit = limit(d.buffer, top_rate(&link), rtt, least);
            let holds_one = match d.buffer {
                BufferSize::Bytes(bytes) => bytes >= least,
                BufferSize::Packets(packets) => packets > u32::from(is_old),
                _ => true,
            };
            if !holds_one && largest[i] > 0 {
                match small.iter_mut().find(|small_buffer| small_buffer.path == d.buffer_path) {
                    Some(small_buffer) => small_buffer.packet = small_buffer.packet.max(largest[i]),
                    None => small.push(Small {
                        path: d.buffer_path,
                        buffer: d.buffer,
                        packet: largest[i],
                        is_old,
                    }),
                }
            }
            link
        })
        .collect();
    problems.extend(small.iter().map(Small::problem));
    // The vector still has the capacity of the longer one it was made from.
    links.shrink_to_fit();
    links
}

/// Makes a link whose description is wrong one that a queue discipline can be made for.
pub(super) fn mend(link: &mut PlanLink) {
    if link.rate.0 == 0 {
        link.rate = BitRate(1_000_000);
    }
    if link.limit.packets == 0 || link.limit.bytes < u64::from(link.mean_packet) {
        link.limit = Limit::NONE;
    }
    if link.settings.schedule.is_some() {
        link.settings =
            Arc::new(LinkSettings { schedule: None, ..LinkSettings::clone(&link.settings) });
    }
}

/// The highest rate the link ever has; for delivery opportunities their mean.
fn top_rate(link: &PlanLink) -> BitRate {
    match &link.settings.schedule {
        None => link.rate,
        Some(Schedule::Steps(steps)) => steps.iter().map(|s| s.1).max().unwrap_or(link.rate),
        Some(Schedule::Mahimahi(ms)) => {
            BitRate(ms.len() as u64 * 1500 * 8 * 1000 / ms.last().copied().unwrap_or(1).max(1))
        }
    }
}

fn limit(buffer: BufferSize, rate: BitRate, rtt_s: f64, least: u64) -> Limit {
    // A buffer given by time never holds less than one packet.
    let bytes = |seconds: f64| Bytes(((rate.bps() * seconds / 8.0).round() as u64).max(least)).0;
    match buffer {
        BufferSize::Packets(packets) => Limit { packets, ..Limit::NONE },
        BufferSize::Bytes(bytes) => Limit { bytes, ..Limit::NONE },
        BufferSize::Seconds(seconds) => Limit { bytes: bytes(seconds), ..Limit::NONE },
        BufferSize::Bdp(n) => Limit { bytes: bytes(n * rtt_s), ..Limit::NONE },
        BufferSize::Unlimited => Limit::NONE,
    }
}
