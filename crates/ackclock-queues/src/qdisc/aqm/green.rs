//! GREEN: drops every arrival with the probability at which TCP's square-root law gives its flow a
//! fair share.
//!
//! **Source**: Feng, Kapadia & Thulasidasan, "GREEN: Proactive Queue Management over a Best-Effort
//! Network", GLOBECOM 2002 (doi:10.1109/GLOCOM.2002.1188495); Kapadia, Thulasidasan & Feng,
//! "GREEN + `IDMaps`: A Practical Solution for Ensuring Fairness in a Biased Internet", 2002,
//! sections II, IV, VI and VII. The second was read whole and compared line by line; the first could not be had.
//!
//! **Rule**, for every arriving packet of S bytes, L the link's rate in byte/s:
//! - `p = (N S c / (L R))^2`, at most 1; R is the flow's round-trip time as the router has it;
//! - N: flows with a packet within `window` (`window`), the inverse of SRED's hit frequency
//!   (`hits`), or a number that is known (`known`);
//! - R: the flow's round-trip propagation (`ideal`); that times a factor uniform on
//!   [`low`, `high`] (`estimate`), drawn once a flow, at every packet, or again at a packet
//!   `lifetime` after the last draw (`lookup`); listed (`table`); from the request to the first
//!   packet after it (`handshake`: the three-way handshake passes the router in full); or measured
//!   all along from the timestamp options of the data (`timestamps`, see `passive`).
//!
//! **Deviations**: the sources leave open the window, what S is (here the packet's size on the wire,
//! as L counts wire bytes; or `mss`), and how often an estimate is drawn: all are parameters. A flow
//! whose round-trip time is not known yet passes.
//!
//! **Defaults by era**: the same in all. Round-trip propagation does not hold queueing delay.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::qdisc::aqm::active::Active;
use crate::qdisc::aqm::passive::Passive;
use crate::qdisc::aqm::zombies::Zombies;
use crate::qdisc::managed::Plain;
use crate::qdisc::{Aqm, Limit, QdiscEnv, QueueState, State, Verdict};
use crate::registry::{About, Info, Status};
use crate::rng::Stream;
use crate::units::{BitRate, Span, Time};
use crate::wire::{DropReason, Flags, Packet};

/// Where the number of active flows comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Count {
    /// Flows with a packet within `window`.
    #[default]
    Window,
    /// SRED's hit statistics.
    Hits,
    /// `n`.
    Known,
}

/// Where a flow's round-trip time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rtt {
    /// The true round-trip propagation.
    #[default]
    Ideal,
    /// The true one times a random factor.
    Estimate,
    /// The list `table`.
    Table,
    /// Measured at the router between connection request and first packet.
    Handshake,
    /// As `handshake`, and then at the router from the timestamp options that data carry; until
    /// there are some, and for flows without them, what `handshake` gives.
    Timestamps,
}

/// How often the factor of an estimate is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Draw {
    /// Once for each flow.
    #[default]
    Flow,
    /// At every packet.
    Packet,
    /// At the first packet after `lifetime` has passed since the flow's last draw.
    Lookup,
}

/// Parameters of [`Green`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// The constant of the square-root law. 0.93: random losses, delayed acknowledgements.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub c: f64,
    /// Where the number of active flows comes from.
    pub count: Count,
    /// With `window`: a flow is active if it had a packet within this time.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub window: Span,
    /// With `known`: the number of flows. Left out: the flows of the scenario through the link.
    #[schemars(extend("exclusiveMinimum" = 0, "x-unit" = "flows"))]
    pub n: Option<f64>,
    /// Where a flow's round-trip time comes from.
    pub rtt: Rtt,
    /// With `estimate`: how often the factor is drawn.
    pub draw: Draw,
    /// With `estimate`: least factor.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub low: f64,
    /// With `estimate`: greatest factor; at least `low`.
    pub high: f64,
    /// With `lookup`: how long a drawn factor is used.
    pub lifetime: Span,
    /// With `table`: the round-trip time of each flow, by its number.
    pub table: Vec<Span>,
    /// Round-trip times of `ideal` and `estimate` are multiplied by this.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub scale: f64,
    /// Segment size. Left out: the size of each packet.
    #[schemars(range(min = 1), extend("x-unit" = "B"))]
    pub mss: Option<u32>,
    /// ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            c: 0.93,
            count: Count::Window,
            window: Span::from_millis(2000),
            n: None,
            rtt: Rtt::Ideal,
            draw: Draw::Flow,
            low: 1.0,
            high: 2.0,
            lifetime: Span::from_millis(60_000),
            table: Vec::new(),
            scale: 1.0,
            mss: None,
            ecn: false,
        }
    }
}

#[derive(Debug)]
enum Flows {
    Window(Box<Active>),
    Hits(Zombies),
    Known(f64),
}

/// What the router knows of one flow.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// c / (L R) with the true or listed R \[1/B\]; 0 if not known.
    base: f64,
    /// The same with the estimated R.
    used: f64,
    /// When `used` must be drawn again; with `handshake` when the latest request came, [`NEVER`] if
    /// none has.
    until: Time,
}

/// Proactive queue management by the square-root law.
#[derive(Debug)]
pub struct Green {
    limit: Limit,
    flows: Flows,
    known: Vec<Known>,
    /// With `timestamps`: measurements by flow.
    measured: Vec<Passive>,
    source: Rtt,
    draw: Draw,
    low: f64,
    span: f64,
    lifetime: Span,
    /// c / L \[s/B\].
    gain: f64,
    c: f64,
    mss: Option<f64>,
    keys: f64,
    verdict: Verdict,
    p: f64,
    n: f64,
}

/// No such time.
const NEVER: Time = Time(u64::MAX);

fn gain(c: f64, rate: BitRate) -> f64 {
    c / (rate.bps().max(1.0) / 8.0)
}

impl About<QdiscEnv> for Green {
    type Params = Params;
    const INFO: Info = Info {
        name: "green",
        title: "GREEN: drop probabilities from the square-root law",
        source: "Feng, Kapadia & Thulasidasan, GLOBECOM 2002, doi:10.1109/GLOCOM.2002.1188495; Kapadia, Thulasidasan & Feng, GREEN + IDMaps, 2002, section II",
        status: Status::Specified,
    };

    fn new(params: Params, env: &QdiscEnv) -> Result<Self, Vec<Problem>> {
        let (low, high) = (params.low, params.high);
        if high < low {
            return Err(Problem::out_of_range("high", high, &format!("at least low, {low}")).into());
        }
        if params.rtt == Rtt::Table && params.table.is_empty() {
            let message = "is empty; expected the round-trip time of each flow";
            return Err(Problem::new("table", message).into());
        }
        // A link may start at rate 0; then nothing that arrives can be within its share.
        let gain = gain(params.c, env.rate);
        let base = |rtt: f64| gain / rtt;
        let fresh = |base: f64| Known { base, used: base, until: Time::ZERO };
        let rtts = match params.rtt {
            Rtt::Ideal | Rtt::Estimate => env
                .round_trips
                .iter()
                .map(|rtt| fresh(base(rtt.seconds() * params.scale)))
                .collect(),
            Rtt::Table => params.table.iter().map(|rtt| fresh(base(rtt.seconds()))).collect(),
            Rtt::Handshake => {
                vec![Known { until: NEVER, ..fresh(0.0) }; env.round_trips.len()]
            }
            Rtt::Timestamps => Vec::new(),
        };
        let flows = if params.rtt == Rtt::Timestamps { env.round_trips.len() } else { 0 };
        Ok(Self {
            limit: env.limit,
            flows: match params.count {
                Count::Window => Flows::Window(Box::new(Active::new(params.window, env.keys))),
                Count::Hits => Flows::Hits(Zombies::new(1000, 0.25)),
                Count::Known => {
                    Flows::Known(params.n.unwrap_or_else(|| f64::from(env.flows.max(1))))
                }
            },
            known: rtts,
            measured: vec![Passive::default(); flows],
            source: params.rtt,
            draw: params.draw,
            low: params.low,
            span: params.high - params.low,
            lifetime: params.lifetime,
            gain,
            c: params.c,
            mss: params.mss.map(f64::from),
            keys: f64::from(env.keys.max(1)),
            verdict: if params.ecn {
                Verdict::MarkElseDrop(DropReason::Unmarkable)
            } else {
                Verdict::Drop(DropReason::Early)
            },
            p: 0.0,
            n: 0.0,
        })
    }
}

impl Green {
    /// c / (L R) of the packet's flow; 0 if R is not known.
    #[inline]
    fn ratio(&mut self, packet: &Packet, now: Time, rng: &mut Stream) -> f64 {
        let (low, span) = (self.low, self.span);
        let flow = packet.flow.index();
        if let Some(measured) = self.measured.get_mut(flow) {
            let rtt = measured.packet(packet, now);
            return if rtt > 0.0 { self.gain / rtt } else { 0.0 };
        }
        let Some(flow_rtt) = self.known.get_mut(flow) else { return 0.0 };
        match self.source {
            Rtt::Ideal | Rtt::Table => flow_rtt.base,
            Rtt::Estimate => {
                if now >= flow_rtt.until {
                    flow_rtt.used = flow_rtt.base / (low + span * rng.uniform());
                    flow_rtt.until = match self.draw {
                        Draw::Flow => NEVER,
                        Draw::Packet => Time::ZERO,
                        Draw::Lookup => now + self.lifetime,
                    };
                }
                flow_rtt.used
            }
            Rtt::Handshake => {
                if packet.flags.has(Flags::SYN) {
                    // The latest request: an earlier one may have been lost.
                    flow_rtt.until = now;
                } else if flow_rtt.base <= 0.0 && flow_rtt.until != NEVER {
                    let rtt = now.since(flow_rtt.until).seconds();
                    flow_rtt.base = if rtt > 0.0 { self.gain / rtt } else { 0.0 };
                }
                flow_rtt.base
            }
            Rtt::Timestamps => 0.0,
        }
    }
}

impl Plain for Green {
    /// GREEN's own: arrivals that find no room count too.
    fn limit(_env: &QdiscEnv) -> Limit {
        Limit::NONE
    }
}

impl Aqm for Green {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &Packet, queue: &QueueState, rng: &mut Stream) -> Verdict {
        self.n = match &mut self.flows {
            Flows::Window(active) => f64::from(active.packet(queue.key, queue.now)),
            Flows::Hits(zombies) => {
                zombies.arrival(queue.key, rng);
                zombies.flows(self.keys)
            }
            Flows::Known(n) => *n,
        };
        let size = self.mss.unwrap_or_else(|| f64::from(packet.size));
        let root = self.n * size * self.ratio(packet, queue.now, rng);
        // A round trip of no length makes the root infinite: dropped, as the rule says.
        self.p = (root * root).min(1.0);
        if !self.limit.admits(queue.packets, queue.bytes, packet.size) {
            return Verdict::Drop(DropReason::Overflow);
        }
        if rng.uniform() < self.p { self.verdict } else { Verdict::Pass }
    }

    fn on_rate(&mut self, _at: Time, rate: BitRate) {
        let before = std::mem::replace(&mut self.gain, gain(self.c, rate));
        let change = self.gain / before;
        if change != 1.0 {
            for rtt in &mut self.known {
                rtt.base *= change;
                rtt.used *= change;
            }
        }
    }

    fn state(&self) -> State {
        let (counted, of_count) = match &self.flows {
            Flows::Window(active) => active.state(),
            Flows::Hits(zombies) => (0, zombies.state_bytes()),
            Flows::Known(_) => (0, 0),
        };
        // Round-trip times given to the router stand for a service that knows them: no state in the router.
        let listed_flows = match self.source {
            Rtt::Ideal | Rtt::Estimate => 0,
            Rtt::Table | Rtt::Handshake | Rtt::Timestamps => self.known.len(),
        };
        let flows = listed_flows.max(self.measured.len()).max(counted);
        let tables = listed_flows * size_of::<Known>() + self.measured.len() * size_of::<Passive>();
        State { flows: flows as u64, bytes: (size_of::<Self>() + tables + of_count) as u64 }
    }

    fn probes(&self, out: &mut dyn FnMut(&'static str, f64)) {
        out("p", self.p);
        out("flows", self.n);
    }
}

#[cfg(test)]
mod tests;
